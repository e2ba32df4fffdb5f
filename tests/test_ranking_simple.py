"""Elo, random walks and counted wins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgelab.data import published
from judgelab.errors import NotConverged, UndefinedStatistic, ValidationError
from judgelab.ranking import (
    average_win_rate,
    bradley_terry,
    elo,
    elo_orders,
    pagerank,
    walk,
    win_rate,
)

# Elo ---------------------------------------------------------------------------------


def test_one_game_between_equals_moves_half_of_k():
    assert elo([0], [1], [1], players=2).tolist() == [1516, 1484]
    assert elo([0], [1], [0.5], players=2).tolist() == [1500, 1500]
    assert elo([0], [1], [0], players=2, k=10, initial=1000).tolist() == [995, 1005]


def test_a_lead_of_400_means_ten_to_one():
    path = elo([0] * 100, [1] * 100, [1] * 100, players=2, history=True)
    before, after = path[50], path[51]
    expected = 1 / (1 + 10 ** ((before[1] - before[0]) / 400))
    assert after[0] - before[0] == pytest.approx(32 * (1 - expected))
    assert path.shape == (101, 2)
    assert path.sum(axis=1) == pytest.approx(3000)


def games(n: int = 4, each: int = 60, seed: int = 1):
    rng = np.random.default_rng(seed)
    theta = np.linspace(1, -1, n)
    first, second = (
        np.repeat(x, each) for x in np.nonzero(np.triu(np.ones((n, n)), 1))
    )
    won = rng.random(first.size) < 1 / (1 + np.exp(theta[second] - theta[first]))
    return first, second, won.astype(float)


def test_orders_are_elo_of_the_shuffled_games():
    first, second, score = games()
    final = elo_orders(first, second, score, players=4, orders=3, rng=5)
    rng = np.random.default_rng(5)
    order = rng.permuted(np.tile(np.arange(first.size), (3, 1)), axis=1)
    for row, turn in zip(final, order, strict=True):
        single = elo(first[turn], second[turn], score[turn], players=4)
        assert row == pytest.approx(single)
    assert (final.std(axis=0) > 5).all()


def test_small_steps_over_and_over_end_at_bradley_terry():
    first, second, score = games(each=100)
    wins = np.zeros((4, 4))
    np.add.at(wins, (first, second), score)
    np.add.at(wins, (second, first), 1 - score)
    want = bradley_terry(wins).estimates(scale="elo")
    rng = np.random.default_rng(2)
    turns = np.concatenate([rng.permutation(first.size) for _ in range(60)])
    path = elo(
        first[turns], second[turns], score[turns], players=4, k=0.5, history=True
    )
    settled = path[path.shape[0] // 2 :].mean(axis=0)
    assert settled == pytest.approx([float(e) for e in want.values()], abs=3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0], [0], [1]), "nobody plays against itself"),
        (([0], [1], [2]), "between 0 and 1"),
        (([0], [1], [math.nan]), "between 0 and 1"),
        (([0], [1, 0], [1]), "one of each per game"),
        (([0], [7], [1]), "positions run from 0 to 1"),
    ],
)
def test_bad_games_are_refused(arguments, message):
    with pytest.raises(ValidationError, match=message):
        elo(*arguments, players=2)


# Random walks ------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000), damping=st.floats(0, 0.95))
def test_the_walk_rests_where_its_equations_say(seed, damping):
    rng = np.random.default_rng(seed)
    scores = (rng.random((5, 12)) < 0.6).astype(float)
    scores[:, 0] = [1, 0, 1, 0, 1]
    found = walk(scores, damping=damping)
    inside = np.isfinite(found.items)
    solved = scores[:, inside]
    failed = 1 - solved
    # One matrix for judges and items, dead ends and restarts spread evenly.
    to_judge = solved / solved.sum(axis=0)
    sums = failed.sum(axis=1, keepdims=True)
    to_item = np.where(sums > 0, failed / np.where(sums, sums, 1), 1 / inside.sum())
    items = damping * (found.judges @ to_item) + (1 - damping) / inside.sum()
    judges = damping * (to_judge @ items) + (1 - damping) / 5
    assert found.items[inside] == pytest.approx(items, abs=1e-10)
    assert found.judges == pytest.approx(judges, abs=1e-10)
    assert found.judges.sum() == pytest.approx(1)
    assert found.scores.min() in (0, 50)


def test_equal_judges_all_score_fifty():
    assert walk([[1, 0], [0, 1]]).scores.tolist() == [50, 50]


def test_solving_hard_items_counts_more():
    # Judges 0 and 1 solve three items each; those of judge 0 are solved by few.
    scores = np.array(
        [[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 0], [1, 0, 0, 1, 1, 1]]
    )
    found = walk(scores).scores
    assert found[0] > found[1]


def test_a_walk_that_cannot_be_gone_is_refused():
    with pytest.raises(UndefinedStatistic, match="no way to walk"):
        walk([[1, 0], [1, 0]])
    with pytest.raises(NotConverged, match="still moves"):
        walk([[1, 0, 1], [0, 1, 1], [1, 1, 0], [1, 0, 0]], max_iterations=1)
    with pytest.raises(ValidationError, match="0 and 1"):
        walk([[1, 0.5], [0, 1]])
    with pytest.raises(ValidationError, match="damping"):
        walk([[1, 0], [0, 1]], damping=1)


def test_pagerank_is_the_stationary_walk():
    wins = np.array([[0, 8, 9.0], [2, 0, 7], [1, 3, 0]])
    shares = pagerank(wins)
    step = wins / wins.sum(axis=0)
    assert shares == pytest.approx(0.85 * step @ shares + 0.05)
    # A player that never lost sends the walker anywhere.
    shares = pagerank([[0, 8], [0, 0]], damping=0.5)
    assert shares.sum() == pytest.approx(1)
    assert shares[0] == pytest.approx(0.5 * (shares[0] / 2 + shares[1]) + 0.25)
    with pytest.raises(ValidationError, match="damping"):
        pagerank(wins, damping=1.0)
    with pytest.raises(ValidationError, match="square"):
        pagerank([[0, 1]])


def test_agrees_with_the_pagerank_of_scipy_eigenvectors():
    rng = np.random.default_rng(4)
    wins = rng.integers(0, 9, (7, 7)).astype(float)
    np.fill_diagonal(wins, 0)
    google = 0.85 * wins / wins.sum(axis=0) + 0.15 / 7
    values, vectors = np.linalg.eig(google)
    top = np.real(vectors[:, np.argmax(np.real(values))])
    assert pagerank(wins) == pytest.approx(top / top.sum())


# Counted wins ------------------------------------------------------------------------


def test_win_rates_by_tie_policy():
    wins = np.array([[0, 40, 0], [60, 0, 0], [0, 0, 0]])
    ties = np.zeros((3, 3))
    assert win_rate(wins)[0].value == pytest.approx(0.4)
    assert win_rate(wins)[2].reason == "no games"
    assert average_win_rate(wins)[2].reason == "no games"
    wins, ties = np.array([[0, 33], [33, 0]]), np.array([[0, 34], [34, 0]])
    for policy, share, n in (
        ("loss", 0.33, 100),
        ("half", 0.5, 100),
        ("drop", 0.5, 66),
    ):
        rate = win_rate(wins, ties=ties, tie_policy=policy)[0]
        assert (rate.value, rate.n) == (pytest.approx(share), n)


def test_the_question_of_40_0_60_against_33_34_33():
    # Wins per game put the first ahead, every model of strength the second.
    first = win_rate([[0, 40], [60, 0]])[0]
    second = win_rate([[0, 33], [33, 0]], ties=[[0, 34], [34, 0]], tie_policy="loss")[0]
    assert first.value > second.value


def test_the_average_weighs_opponents_alike():
    wins = [[0, 9, 30], [1, 0, 50], [70, 50, 0]]
    assert average_win_rate(wins)[0].value == pytest.approx((0.9 + 0.3) / 2)
    assert win_rate(wins)[0].value == pytest.approx(39 / 110)
    certain = average_win_rate([[0, 10, 10], [0, 0, 5], [0, 5, 0]])[0]
    assert certain.value == certain.high == 1
    assert certain.low < 0.95


@pytest.mark.parametrize("games_each", [5, 20])
@pytest.mark.parametrize("chance", [(0.95, 0.6, 0.3), (0.5,) * 5, (0.95,) * 5])
def test_average_win_rates_cover(chance, games_each):
    rng = np.random.default_rng(6)
    k = len(chance)
    hits = 0
    for _ in range(2000):
        won = rng.binomial(games_each, chance)
        wins = np.zeros((k + 1, k + 1))
        wins[0, 1:], wins[1:, 0] = won, games_each - won
        rate = average_win_rate(wins)[0]
        hits += rate.low <= np.mean(chance) <= rate.high
    # Few games make it cautious, never bold.
    assert hits / 2000 >= 0.93


def test_counts_that_are_none_are_refused():
    for arguments, message in (
        (([[0, 1]],), "square"),
        (([[1, 1], [0, 0]],), "against itself"),
        (([[0, -1], [0, 0]],), "finite and not negative"),
        (([[0, math.inf], [0, 0]],), "finite and not negative"),
        (([[0, math.nan], [0, 0]],), "finite and not negative"),
    ):
        with pytest.raises(ValidationError, match=message):
            win_rate(*arguments)
    with pytest.raises(ValidationError, match="symmetric"):
        win_rate([[0, 1], [1, 0]], ties=[[0, 1], [0, 0]], tie_policy="half")
    with pytest.raises(ValidationError, match="3 ties and tie_policy is None"):
        win_rate([[0, 1], [1, 0]], ties=[[0, 3], [3, 0]])
    with pytest.raises(ValidationError, match="1 of them different"):
        win_rate([[0, 1], [1, 0]], players="aa")


def test_the_published_scale_of_rankjudge_is_elo():
    # 1,197 points between first and last: odds of nearly a thousand to one.
    table = published("rankjudge", "leaderboard")["elo_all"]
    lead = float(table.max() - table.min())
    assert lead == 1197
    assert 10 ** (lead / 400) == pytest.approx(982, abs=1)


def test_a_share_of_part_of_a_game_is_refused():
    # 1.5 of 2.5 is .6; cut to 2 games it would be .75.
    with pytest.raises(ValidationError, match=r"2\.5 games"):
        win_rate([[0, 1.5], [1, 0]])
    assert average_win_rate([[0, 1.5], [1, 0]])[0].value == 0.6
    with pytest.raises(ValidationError, match="tie_policy is 'won'"):
        win_rate([[0, 1], [1, 0]], tie_policy="won")


def test_elo_with_no_points_or_far_too_many():
    games = (["x"] * 3, ["y"] * 3, [1, 0, 1])
    assert elo(*games, players=["x", "y"], k=0).tolist() == [1500, 1500]
    # Every loss of the favourite costs all that is at stake.
    expected = [1500 + 5e5, 1500 - 5e5]
    assert elo(["x"], ["y"], [1], players=["x", "y"], k=1e6).tolist() == expected
    final = elo(*games, players=["x", "y"], k=1e6)
    assert final.sum() == 3000
    again = elo_orders(*games, players=["x", "y"], k=1e6, orders=4, rng=1)
    assert (again.sum(axis=1) == 3000).all()
    for wrong in ({"k": -1.0}, {"k": math.nan}, {"initial": math.inf}):
        with pytest.raises(ValidationError, match="finite points"):
            elo(*games, players=["x", "y"], **wrong)
    with pytest.raises(ValidationError, match="at least 1"):
        elo_orders(*games, players=["x", "y"], orders=0, rng=1)
    with pytest.raises(ValidationError, match="dtype"):
        elo(["x"], ["y"], ["A"], players=["x", "y"])


def test_walks_refuse_what_they_cannot_end_or_begin():
    for tolerance in (0, math.nan):
        with pytest.raises(ValidationError, match="tolerance"):
            walk([[1, 0, 1], [0, 1, 1]], tolerance=tolerance)
    with pytest.raises(ValidationError, match="damping"):
        walk([[1, 0, 1], [0, 1, 1]], damping=1)
    for wins, message in (
        ([[5, 1], [2, 0]], "against itself"),
        ([[0, math.inf], [2, 0]], "finite"),
        (np.zeros((0, 0)), "no players"),
    ):
        with pytest.raises(ValidationError, match=message):
            pagerank(wins)
