"""Bradley–Terry: the numbers, when there is none, and how sure they are."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, special
from scipy.optimize import minimize

from judgelab.counts import tie_counts, win_counts, win_matrix
from judgelab.errors import (
    Disconnected,
    NotConverged,
    Separated,
    UndefinedStatistic,
    ValidationError,
)
from judgelab.ranking import Ranking, bradley_terry, paired, win_rate
from judgelab.ranking import likelihood as lk
from judgelab.ranking.result import ELO_PER_LOGIT


def chain(players: int = 60) -> np.ndarray:
    wins = np.zeros((players, players))
    step = np.arange(players - 1)
    wins[step, step + 1], wins[step + 1, step] = 6, 4
    return wins


def table(*pairs: tuple[int, int, int, int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Wins and ties from (i, j, wins of i, ties, wins of j)."""
    n = 1 + max(max(i, j) for i, j, *_ in pairs)
    wins, ties = np.zeros((n, n)), np.zeros((n, n))
    for i, j, won, tied, lost in pairs:
        wins[i, j], wins[j, i] = won, lost
        ties[i, j] = ties[j, i] = tied
    return wins, ties


TRIANGLE = table((0, 1, 60, 20, 20), (1, 2, 50, 0, 50), (0, 2, 55, 20, 25))
POLICIES = ("half", "drop", "davidson", "rao-kupper")


@st.composite
def tournaments(draw: st.DrawFn, ties: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Counts among 2–6 players in which everybody beat the next one round a circle."""
    n = draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    wins = rng.integers(0, 12, (n, n)).astype(float)
    np.fill_diagonal(wins, 0)
    circle = np.arange(n)
    wins[circle, (circle + 1) % n] += 1
    if n == 2:
        wins += [[0, 1], [1, 0]]
    half = np.triu(rng.integers(0, 6, (n, n)) * ties, 1).astype(float)
    return wins, half + half.T


def log_likelihood(theta, tie, wins, ties, policy):
    gap = theta[:, None] - theta
    if policy == "davidson":
        s = np.exp(theta)
        root = np.exp(tie) * np.sqrt(np.outer(s, s))
        total = s[:, None] + s + root
        win, tied = s[:, None] / total, root / total
    elif policy == "rao-kupper":
        win = special.expit(gap - tie)
        tied = 1 - win - win.T
    else:
        win, tied = special.expit(gap), np.ones_like(gap)
    with np.errstate(divide="ignore"):
        terms = special.xlogy(wins, win) + special.xlogy(np.triu(ties, 1), tied)
    np.fill_diagonal(terms, 0)
    return terms.sum()


# The numbers -------------------------------------------------------------------------


def test_a_chain_of_sixty_players_is_climbed_to_the_top():
    ranking = bradley_terry(chain())
    assert np.ptp(ranking.ratings) == pytest.approx(59 * math.log(1.5), abs=1e-9)
    assert np.ptp(ranking.ratings) == pytest.approx(23.922, abs=5e-4)


def test_a_long_chain_by_conjugate_gradients():
    wins = sparse.csr_array(chain(2 * lk.DENSE))
    ranking = bradley_terry(wins)
    gaps = -np.diff(ranking.ratings)
    assert gaps == pytest.approx(np.full(gaps.size, math.log(1.5)), abs=1e-7)


@pytest.mark.parametrize("n", [5, lk.DENSE + 1])
def test_a_table_in_any_layout_and_a_list_of_pairs_have_the_same_top(n):
    rng = np.random.default_rng(n)
    wins = rng.integers(1, 9, (n, n))
    np.fill_diagonal(wins, 0)
    want = lk.maximise(
        paired._games(paired._read(wins, None)),
        lk.BRADLEY_TERRY,
        precision=0,
        tolerance=1e-9,
        max_iterations=100,
    )
    wider = np.zeros((2 * n, 2 * n), int)
    wider[::2, ::2] = wins
    for table in (wins, np.asfortranarray(wins), wider[::2, ::2], wins.astype("u2")):
        found = bradley_terry(table)
        assert found.ratings == pytest.approx(want.ratings[:, 0], abs=1e-8)
        assert found.games == pytest.approx((wins + wins.T).sum(axis=1))
        turned = bradley_terry(table.T)
        assert turned.ratings == pytest.approx(-found.ratings, abs=1e-8)


def test_a_long_way_back_up_a_full_table_is_found():
    # All beat all below them, and lose to the next below: many steps lead to the top.
    n = 30
    wins = 9 * np.triu(np.ones((n, n), int), 1)
    below = np.arange(n - 1)
    wins[below + 1, below] = 1
    assert bradley_terry(wins).gradient < 1e-6
    wins[n // 2 + 1, n // 2] = 0
    with pytest.raises(Separated, match="never lost a game outside the group"):
        bradley_terry(wins)


def test_two_players_have_a_closed_form():
    ranking = bradley_terry([[0, 60], [40, 0]])
    gap = ranking.difference(0, 1)
    assert gap.value == pytest.approx(math.log(1.5))
    assert gap.width == pytest.approx(2 * 1.959964 * math.sqrt(1 / 60 + 1 / 40))


def test_ties_as_half_wins():
    wins, ties = TRIANGLE
    half = bradley_terry(wins, ties=ties, tie_policy="half")
    assert half.ratings[0] == pytest.approx(0.4874, abs=5e-5)
    same = bradley_terry(wins + ties / 2)
    assert half.ratings == pytest.approx(same.ratings)


def test_dropped_ties_are_no_games():
    wins, ties = TRIANGLE
    dropped = bradley_terry(wins, ties=ties, tie_policy="drop")
    assert dropped.ratings == pytest.approx(bradley_terry(wins).ratings)
    assert dropped.games.tolist() == [160, 180, 180]


@pytest.mark.parametrize("policy", ["davidson", "rao-kupper"])
@settings(max_examples=25, deadline=None)
@given(tournament=tournaments(ties=True))
def test_tie_models_reach_the_maximum_of_their_likelihood(policy, tournament):
    wins, ties = tournament
    try:
        ranking = bradley_terry(wins, ties=ties, tie_policy=policy)
    except Separated:
        # Then the likelihood must indeed still rise far out.
        assert "tie parameter is infinite" in _message(wins, ties, policy)
        return
    if not ties.any():
        assert ranking.tie is None
        return

    def loss(x):
        # Equal parametrisation, general optimiser.
        return -log_likelihood(np.append(x[:-1], 0.0), x[-1], wins, ties, policy)

    at = np.append(ranking.ratings[:-1] - ranking.ratings[-1], ranking.tie)
    bounds = [(None, None)] * (at.size - 1) + [
        (1e-6, None) if policy == "rao-kupper" else (None, None)
    ]
    found = minimize(loss, at + 0.1, bounds=bounds, method="L-BFGS-B", tol=1e-12)
    assert loss(at) <= found.fun + 1e-7
    assert at == pytest.approx(found.x, abs=2e-2)


def _message(wins, ties, policy) -> str:
    with pytest.raises(Separated) as caught:
        bradley_terry(wins, ties=ties, tie_policy=policy)
    return str(caught.value)


@settings(max_examples=30, deadline=None)
@given(tournament=tournaments())
def test_agrees_with_logistic_regression(tournament):
    statsmodels = pytest.importorskip("statsmodels.api")
    wins, _ = tournament
    n = len(wins)
    rows, weights = [], []
    for i, j in permutations(range(n), 2):
        if wins[i, j]:
            rows.append(np.eye(n)[i] - np.eye(n)[j])
            weights.append(wins[i, j])
    # One player at 0; a win is a 1 on (winner − loser), so mirror half of the rows.
    design = np.array(rows)[:, 1:]
    doubled = np.vstack([design, -design])
    outcome = np.repeat([1.0, 0.0], len(design))
    fit = statsmodels.GLM(
        outcome,
        doubled,
        family=statsmodels.families.Binomial(),
        freq_weights=np.tile(weights, 2) / 2,
    ).fit(tol=1e-12)
    ranking = bradley_terry(wins)
    ours = ranking.estimates(anchor=0)
    assert [float(ours[k]) for k in range(1, n)] == pytest.approx(fit.params, abs=1e-6)
    assert ranking.standard_errors(anchor=0)[1:] == pytest.approx(fit.bse, rel=1e-5)


@settings(max_examples=15, deadline=None)
@given(tournament=tournaments())
def test_agrees_with_choix(tournament):
    choix = pytest.importorskip("choix", reason="choix is not installed")
    wins, _ = tournament
    pairs = [
        (i, j)
        for i, j in permutations(range(len(wins)), 2)
        for _ in range(int(wins[i, j]))
    ]
    theirs = choix.opt_pairwise(len(wins), pairs, tol=1e-12)
    assert bradley_terry(wins).ratings == pytest.approx(
        theirs - theirs.mean(), abs=1e-4
    )


def test_agrees_with_evalica():
    evalica = pytest.importorskip("evalica", reason="evalica is not installed")
    rng = np.random.default_rng(3)
    wins = rng.integers(1, 30, (8, 8))
    np.fill_diagonal(wins, 0)
    winners, losers = np.nonzero(wins)
    theirs = evalica.bradley_terry(
        winners.tolist(),
        losers.tolist(),
        [evalica.Winner.X] * winners.size,
        weights=wins[winners, losers].astype(float).tolist(),
        tolerance=1e-12,
        limit=10_000,
    )
    logs = np.log(theirs.scores.sort_index().to_numpy())
    assert bradley_terry(wins).ratings == pytest.approx(logs - logs.mean(), abs=1e-6)


@pytest.mark.parametrize("policy", POLICIES)
def test_names_and_order_of_players_change_nothing(policy):
    wins, ties = TRIANGLE
    turn = np.array([2, 0, 1])
    one = bradley_terry(wins, ties=ties, tie_policy=policy, players="ABC")
    other = bradley_terry(
        wins[np.ix_(turn, turn)],
        ties=ties[np.ix_(turn, turn)],
        tie_policy=policy,
        players=["C", "A", "B"],
    )
    for name in "ABC":
        first, second = one.estimates()[name], other.estimates()[name]
        assert first.value == pytest.approx(second.value)
        assert first.low == pytest.approx(second.low)


@pytest.mark.parametrize("family", [lk.BRADLEY_TERRY, lk.DAVIDSON, lk.RAO_KUPPER])
def test_derivatives_are_derivatives(family):
    gap, tie = np.array([[-1.3], [0.2], [2.0]]), np.array([0.4])
    counts = (np.array([[3.0], [1], [0]]), np.array([[2.0], [5], [1]]))
    tied = np.array([[1.0], [2], [4]])
    d = family.derivatives(gap, tie, *counts, tied)
    scores = family.scores(gap, tie)
    by_game = sum(c * s for c, s in zip((*counts, tied), scores.gap, strict=True))
    assert d.gap == pytest.approx(by_game)
    h = 1e-6
    up = family.derivatives(gap + h, tie, *counts, tied)
    down = family.derivatives(gap - h, tie, *counts, tied)
    assert -(up.gap - down.gap) / (2 * h) == pytest.approx(d.curvature, rel=1e-6)
    if family.has_ties:
        assert d.tie == pytest.approx(
            sum(c * s for c, s in zip((*counts, tied), scores.tie, strict=True))
        )
        assert -(up.tie - down.tie) / (2 * h) == pytest.approx(d.cross, rel=1e-6)
        up = family.derivatives(gap, tie + h, *counts, tied)
        down = family.derivatives(gap, tie - h, *counts, tied)
        assert -(up.tie - down.tie) / (2 * h) == pytest.approx(
            d.tie_curvature, rel=1e-6
        )


def test_dense_sparse_and_clustered_counts_give_the_same_ratings():
    rng = np.random.default_rng(5)
    first, second = rng.integers(0, 5, 400), rng.integers(1, 5, 400)
    second = (first + second) % 5
    group = rng.integers(0, 20, 400)
    dense = win_counts(first, second, players=5)
    clustered = win_counts(first, second, players=5, clusters=group)
    assert clustered.shape == (20, 5, 5)
    stacked = np.stack(
        [
            win_counts(first[group == g], second[group == g], players=5)
            for g in range(20)
        ]
    )
    want = bradley_terry(dense).ratings
    for counts in (sparse.csr_array(dense), clustered, stacked):
        assert bradley_terry(counts).ratings == pytest.approx(want, abs=1e-9)
    one, other = bradley_terry(clustered), bradley_terry(stacked)
    assert one.covariance == pytest.approx(other.covariance)


def test_the_table_the_list_and_the_direct_solution_agree(monkeypatch):
    rng = np.random.default_rng(6)
    wins = rng.integers(0, 5, (40, 40))
    np.fill_diagonal(wins, 0)
    ties = np.triu(rng.integers(0, 3, (40, 40)), 1)
    ties = ties + ties.T
    for policy in POLICIES:
        direct = bradley_terry(wins, ties=ties, tie_policy=policy)
        alone = {"tie_policy": policy, "prior": 1.0}
        with_prior = bradley_terry(wins, ties=ties, **alone)
        # Above so many players systems are solved by conjugate gradients …
        monkeypatch.setattr(lk, "DENSE", 0)
        iterated = bradley_terry(wins, ties=ties, tie_policy=policy)
        assert iterated.ratings == pytest.approx(direct.ratings, abs=1e-7)
        if direct.tie is not None:
            assert iterated.tie == pytest.approx(direct.tie, abs=1e-7)
        again = bradley_terry(wins, ties=ties, **alone)
        assert again.ratings == pytest.approx(with_prior.ratings, abs=1e-7)
        monkeypatch.undo()
        # … and where few have met, pairs are listed.
        listed = lk.maximise(
            paired._games(paired._read(wins, None if policy == "drop" else ties)),
            paired._FAMILIES[policy],
            precision=0.0,
            tolerance=1e-9,
            max_iterations=50,
        )
        assert listed.ratings[:, 0] == pytest.approx(direct.ratings, abs=1e-7)


# When there is no number -------------------------------------------------------------


def test_an_undefeated_player_is_named():
    with pytest.raises(Separated, match=r"\['A'\] never lost.*\['C'\] never won"):
        bradley_terry([[0, 10, 10], [0, 0, 10], [0, 0, 0]], players="ABC")


def test_an_undefeated_group_is_named():
    wins = np.array([[0, 5, 3, 3], [5, 0, 2, 1], [0, 0, 0, 4], [0, 0, 4, 0]])
    with pytest.raises(Separated, match=r"\['A', 'B'\] never lost a game outside"):
        bradley_terry(wins, players="ABCD")


def test_groups_that_never_met_are_named():
    wins = np.array([[0, 6, 0, 0], [4, 0, 0, 0], [0, 0, 0, 7], [0, 0, 3, 0]])
    with pytest.raises(Disconnected, match=r"\['A', 'B'\], \['C', 'D'\]"):
        bradley_terry(wins, players="ABCD")


def test_a_player_without_games_is_disconnected():
    with pytest.raises(Disconnected, match=r"\['C'\]"):
        bradley_terry([[0, 6, 0], [4, 0, 0], [0, 0, 0]], players="ABC")


def test_the_largest_group_can_be_rated_and_the_others_named():
    wins = np.zeros((6, 6))
    wins[0, 1], wins[1, 0] = 6, 4
    wins[2, 0] = 3  # C never lost
    wins[1, 3] = 2  # D never won
    wins[4, 5] = wins[5, 4] = 1
    ranking = bradley_terry(wins, players="ABCDEF", unidentified="largest")
    assert set(ranking.players) | set(ranking.left_out) == set("ABCDEF")
    assert ranking.players in (("A", "B"), ("E", "F"))
    wins[0, 1] += 1
    wins[[4, 5], [5, 4]] = 0
    ranking = bradley_terry(wins, players="ABCDEF", unidentified="largest")
    assert ranking.players == ("A", "B")
    assert ranking.left_out["C"].startswith("infinitely above")
    assert ranking.left_out["D"].startswith("infinitely below")
    assert ranking.left_out["E"].startswith("never met")
    assert math.isnan(ranking.estimates()["C"].value)
    with pytest.raises(UndefinedStatistic, match="infinitely above"):
        ranking.difference("C", "A")
    assert "infinitely above" in ranking._repr_html_()


def test_a_prior_rates_everybody():
    ranking = bradley_terry([[0, 10, 10], [0, 0, 10], [0, 0, 0]], prior=1.0)
    assert np.isfinite(ranking.ratings).all()
    assert ranking.order == (0, 1, 2)
    assert ranking.ratings.mean() == pytest.approx(0)
    # Prior precision pulls as the wins push: gradient of log-likelihood = θ.
    share = special.expit(ranking.ratings[:, None] - ranking.ratings)
    games = 10 * (1 - np.eye(3))
    won = np.array([20, 10, 0])
    assert won - (games * share).sum(axis=1) == pytest.approx(ranking.ratings)


def test_a_player_with_only_ties_has_a_rating():
    wins, ties = table((0, 1, 6, 0, 4), (0, 2, 0, 10, 0), (1, 2, 0, 10, 0))
    half = bradley_terry(wins, ties=ties, tie_policy="half")
    assert half.ratings[2] == pytest.approx(0)
    davidson = bradley_terry(wins, ties=ties, tie_policy="davidson")
    assert davidson.ratings[2] == pytest.approx(0, abs=1e-9)
    with pytest.raises(Disconnected, match=r"\[2\]"):
        bradley_terry(wins, ties=ties, tie_policy="drop")


@pytest.mark.parametrize("policy", ["davidson", "rao-kupper"])
def test_a_tie_parameter_that_runs_away_is_refused(policy):
    # A never lost to B, but tied: gap and tie parameter can grow together for ever.
    wins, ties = table((0, 1, 3, 2, 0))
    with pytest.raises(Separated, match="tie parameter is infinite"):
        bradley_terry(wins, ties=ties, tie_policy=policy)
    far = [
        log_likelihood(np.array([t, -t]) / 2, t / (2 if policy == "davidson" else 1),
                       wins, ties, policy)
        for t in (2.0, 8.0, 20.0)
    ]  # fmt: skip
    assert far[0] < far[1] < far[2]
    assert bradley_terry(wins, ties=ties, tie_policy="half").order == (0, 1)
    assert bradley_terry(wins, ties=ties, tie_policy=policy, prior=2.0).order == (0, 1)


@pytest.mark.parametrize("policy", ["davidson", "rao-kupper"])
def test_all_ties_are_refused(policy):
    wins, ties = table((0, 1, 0, 5, 0))
    with pytest.raises(Separated, match="tie parameter"):
        bradley_terry(wins, ties=ties, tie_policy=policy)


def test_ties_need_a_policy():
    wins, ties = TRIANGLE
    with pytest.raises(ValidationError, match="40 ties and no tie_policy"):
        bradley_terry(wins, ties=ties)


def test_half_wins_and_wins_per_game_answer_different_questions():
    # Against the same opponent: 40 won, 60 lost; or 33 won, 34 tied, 33 lost.
    wins, ties = table((0, 2, 40, 0, 60), (1, 2, 33, 34, 33))
    for policy in POLICIES:
        ranking = bradley_terry(wins, ties=ties, tie_policy=policy)
        assert ranking.order.index(1) < ranking.order.index(0)
        assert ranking.difference(1, 2).value == pytest.approx(0, abs=1e-8)


@pytest.mark.parametrize(
    ("wins", "message"),
    [
        ([[0, -1], [2, 0]], "not negative"),
        ([[0, math.nan], [2, 0]], "not negative"),
        ([[1, 1], [2, 0]], r"against themselves, in the rows \[0\]"),
        ([[0, 1, 2]], "players × players"),
        ([["0", "1"], ["1", "0"]], "win_matrix"),
    ],
)
def test_bad_counts_are_refused(wins, message):
    with pytest.raises(ValidationError, match=message):
        bradley_terry(wins)


def test_bad_arguments_are_refused():
    good = [[0, 2], [1, 0]]
    for arguments, message in (
        ({"players": ["A"]}, "1 names, 1 of them different; wins has 2"),
        ({"players": ["A", "A"]}, "2 names, 1 of them different"),
        ({"players": 2}, "sequence of 2 names"),
        ({"prior": 0.0}, "standard deviation"),
        ({"prior": math.inf}, "leave it out"),
        ({"prior": math.nan}, "standard deviation"),
        ({"method": "nr"}, "choose 'newton' or 'mm'"),
        ({"unidentified": "all"}, "choose 'raise' or 'largest'"),
        ({"max_iterations": 0}, "at least 1"),
        ({"tolerance": math.inf}, "tolerance is inf; give a finite number above 0"),
        ({"tolerance": 0}, "tolerance is 0"),
        ({"method": "mm", "max_iterations": -1}, "at least 1"),
        ({"small_sample": True}, "small_sample corrects"),
        ({"interval": "bootstrap", "rng": 1, "resamples": 1}, "at least 2"),
        ({"interval": "cluster"}, "clusters"),
        ({"interval": "magic"}, "choose"),
        ({"interval": "bootstrap"}, "pass rng"),
        ({"ties": [[0, 1], [0, 0]], "tie_policy": "half"}, "not symmetric"),
        ({"ties": np.zeros((3, 3))}, "shape"),
        ({"tie_policy": "third"}, "choose one of"),
        ({"method": "mm", "prior": 1.0}, "mm"),
        ({"interval": "bootstrap", "rng": 1, "resample_by": "dice"}, "multinomial"),
    ):
        with pytest.raises(ValidationError, match=message):
            bradley_terry(good, **arguments)


def test_an_iteration_that_is_cut_short_gives_no_number():
    with pytest.raises(NotConverged, match="raise max_iterations"):
        bradley_terry(TRIANGLE[0], max_iterations=1)


# MM ----------------------------------------------------------------------------------


def test_mm_ends_where_newton_does_and_keeps_its_trace():
    wins = np.array([[0, 6, 7], [4, 0, 5], [3, 5, 0]])
    mm = bradley_terry(wins, method="mm")
    assert mm.ratings == pytest.approx(bradley_terry(wins).ratings, abs=1e-5)
    assert mm.trace.shape == (mm.iterations + 1, 3)
    assert mm.trace[0].tolist() == [1, 1, 1]
    assert mm.trace.mean(axis=1) == pytest.approx(1)
    # First sweep by hand: wins over games/2, divided by the mean.
    assert mm.trace[1] == pytest.approx(np.array([13, 9, 8]) / 10)
    ascent = [
        log_likelihood(np.log(s), 0, wins, np.zeros((3, 3)), "") for s in mm.trace
    ]
    assert (np.diff(ascent) > -1e-12).all()


def test_mm_that_stops_short_of_the_top_is_refused():
    # Its steps fall below the stopping rule of the RankJudge code long before the top.
    with pytest.raises(NotConverged, match="logits from the maximum"):
        bradley_terry(chain(), method="mm")


# How sure ----------------------------------------------------------------------------


def test_the_anchor_is_certain_and_differences_do_not_depend_on_it():
    ranking = bradley_terry(TRIANGLE[0], players="ABC")
    for anchor in ("mean", "A", "mean strength", np.array([0.5, 0.5, 0.0])):
        shown = ranking.estimates(anchor=anchor, scale="elo", origin=1000)
        gap = shown["A"].value - shown["B"].value
        assert gap == pytest.approx(ranking.difference("A", "B", scale="elo").value)
    fixed = ranking.estimates(anchor="A", scale="elo", origin=1000)
    assert fixed["A"].value == fixed["A"].low == fixed["A"].high == 1000
    versus = ranking.difference("B", "A", scale="elo")
    assert fixed["B"].low == pytest.approx(1000 + versus.low)
    assert ranking.estimates(anchor="mean strength")["A"].value == pytest.approx(
        math.log(ranking.strengths[0])
    )
    with pytest.raises(ValidationError, match="no player 'Z'"):
        ranking.estimates(anchor="Z")
    with pytest.raises(ValidationError, match="sum to 1"):
        ranking.estimates(anchor=np.ones(3))


def test_covariance_is_the_pseudoinverse_of_the_information():
    wins = TRIANGLE[0]
    ranking = bradley_terry(wins)
    p = special.expit(ranking.ratings[:, None] - ranking.ratings)
    weight = (wins + wins.T) * p * (1 - p)
    information = np.diag(weight.sum(axis=1)) - weight
    assert ranking.covariance == pytest.approx(np.linalg.pinv(information), rel=1e-8)
    assert ranking.covariance.sum(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)


def test_the_interval_of_half_wins_is_a_sandwich_and_narrower():
    wins, ties = TRIANGLE
    sandwich = bradley_terry(wins, ties=ties, tie_policy="half")
    model = bradley_terry(wins, ties=ties, tie_policy="half", interval="model")
    assert sandwich.interval == "sandwich"
    assert (sandwich.standard_errors() < model.standard_errors()).all()
    # Two players: the variance of a mean score over its slope, by hand.
    wins, ties = table((0, 1, 30, 40, 30))
    two = bradley_terry(wins, ties=ties, tie_policy="half").difference(0, 1)
    variance = (60 * 0.25) / 25**2
    assert two.width == pytest.approx(2 * 1.959964 * math.sqrt(variance))


def test_one_game_per_cluster_is_the_sandwich():
    rng = np.random.default_rng(8)
    first, shift = rng.integers(0, 4, 300), rng.integers(1, 4, 300)
    second = (first + shift) % 4
    plain = win_counts(first, second, players=4)
    single = win_counts(first, second, players=4, clusters=np.arange(300))
    sandwich = bradley_terry(plain, interval="sandwich")
    clustered = bradley_terry(single)
    assert clustered.interval == "cluster-robust, 300 clusters"
    assert clustered.covariance == pytest.approx(sandwich.covariance)
    corrected = bradley_terry(single, small_sample=True)
    assert corrected.covariance == pytest.approx(clustered.covariance * 300 / 299)


@pytest.mark.parametrize("policy", POLICIES)
def test_doubled_games_in_clusters_do_not_count_twice(policy):
    rng = np.random.default_rng(9)
    first, shift = rng.integers(0, 4, 400), rng.integers(1, 4, 400)
    second = (first + shift) % 4
    tied = rng.random(400) < 0.2
    group = np.arange(400)
    # Every cluster holds a game twice: same ratings, and the same interval.
    once, twice = [], []
    for copies, target in ((1, once), (2, twice)):
        a, b, g, t = (np.tile(x, copies) for x in (first, second, group, tied))
        wins = win_counts(a[~t], b[~t], players=4, clusters=g[~t])
        ties = tie_counts(a[t], b[t], players=4, clusters=g[t])
        target.append(bradley_terry(wins, ties=ties, tie_policy=policy))
    assert twice[0].ratings == pytest.approx(once[0].ratings, abs=1e-8)
    assert twice[0].covariance == pytest.approx(once[0].covariance, rel=1e-6)


def test_the_bootstrap_agrees_with_the_model_on_many_games():
    rng = np.random.default_rng(10)
    wins = rng.integers(80, 160, (5, 5))
    np.fill_diagonal(wins, 0)
    model = bradley_terry(wins)
    for how in ("multinomial", "poisson"):
        boot = bradley_terry(
            wins, interval="bootstrap", resamples=4000, rng=1, resample_by=how
        )
        assert boot.standard_errors() == pytest.approx(
            model.standard_errors(), rel=0.05
        )
        assert boot.probability_better(0, 1) == pytest.approx(
            model.probability_better(0, 1), abs=0.03
        )
        gap, same = boot.difference(0, 1), model.difference(0, 1)
        assert gap.low == pytest.approx(same.low, abs=0.02)
        assert boot.estimates(anchor=0)[0].width == 0
        assert boot.estimates(anchor="mean strength")[1].width > 0


@pytest.mark.parametrize("policy", POLICIES)
def test_a_batched_resample_is_the_fit_of_its_counts(policy):
    wins, ties = TRIANGLE
    fit = bradley_terry(
        wins, ties=ties, tie_policy=policy, interval="bootstrap", resamples=5, rng=3
    )
    counts = paired._read(wins, None if policy == "drop" else ties)
    games = paired._games(counts)
    observed = np.concatenate([games.first, games.second, games.tied])[:, 0]
    drawn = paired._draw(observed, None, 5, "multinomial", np.random.default_rng(3))
    for b in range(5):
        first, second, tied = np.split(drawn[:, b], 3)
        w, t = np.zeros((3, 3)), np.zeros((3, 3))
        w[games.i, games.j], w[games.j, games.i] = first, second
        t[games.i, games.j] = t[games.j, games.i] = tied
        single = bradley_terry(w, ties=t, tie_policy=policy)
        assert fit.replicates[b] == pytest.approx(single.ratings, abs=1e-6)


def test_the_clustered_bootstrap_agrees_with_the_clustered_sandwich():
    rng = np.random.default_rng(11)
    clusters, each = 150, 8
    group = np.repeat(np.arange(clusters), each)
    taste = np.repeat(rng.normal(0, 1.5, (clusters, 3)), each, axis=0)
    first = rng.integers(0, 3, group.size)
    second = (first + rng.integers(1, 3, group.size)) % 3
    row = np.arange(group.size)
    won = rng.random(row.size) < special.expit(taste[row, first] - taste[row, second])
    wins = win_counts(
        np.where(won, first, second),
        np.where(won, second, first),
        players=3,
        clusters=group,
    )
    robust = bradley_terry(wins)
    boot = bradley_terry(wins, interval="bootstrap", resamples=3000, rng=2)
    naive = bradley_terry(wins, interval="model")
    assert boot.standard_errors() == pytest.approx(robust.standard_errors(), rel=0.08)
    assert (robust.standard_errors() > 1.2 * naive.standard_errors()).all()


def test_a_winless_player_in_a_resample_does_not_poison_the_percentiles():
    # C won 3 of 40: in some resamples none.
    wins = np.array([[0, 20, 18], [20, 0, 19], [2, 1, 0]])
    boot = bradley_terry(wins, interval="bootstrap", resamples=2000, rng=4)
    lost = int(np.isnan(boot.replicates[:, 0]).sum())
    assert 0 < lost < 200
    rating = boot.estimates()[2]
    assert f"{lost} undefined replicates left out" in rating.method
    assert np.isfinite([rating.low, rating.high]).all()
    assert rating.low > -5


def test_too_many_resamples_without_a_rating_leave_no_interval():
    wins = np.array([[0, 20, 19], [20, 0, 19], [1, 1, 0]])
    boot = bradley_terry(wins, interval="bootstrap", resamples=500, rng=4)
    with pytest.raises(UndefinedStatistic, match="of 500 bootstrap replicates"):
        boot.estimates()
    with pytest.raises(UndefinedStatistic, match="of 500 resamples have no finite"):
        boot.ranks()
    assert "No intervals: " in boot._repr_html_()
    kept = bradley_terry(wins, interval="bootstrap", resamples=500, rng=4, prior=2.0)
    assert np.isfinite(kept.estimates()[2].low)


def test_the_same_seed_gives_the_same_interval():
    runs = [
        bradley_terry(TRIANGLE[0], interval="bootstrap", resamples=50, rng=7)
        for _ in range(2)
    ]
    assert runs[0].replicates.tobytes() == runs[1].replicates.tobytes()


def test_ranks_hold_every_place_that_is_not_excluded():
    wins = np.array([[0, 90, 95], [10, 0, 52], [5, 48, 0]])
    ranking = bradley_terry(wins, players="ABC")
    ranks = ranking.ranks()
    assert (ranks["A"].low, ranks["A"].high) == (1, 1)
    assert (ranks["B"].low, ranks["B"].high) == (2, 3)
    assert [ranks[p].value for p in "ABC"] == [1, 2, 3]
    few = bradley_terry([[0, 6, 6], [4, 0, 5], [4, 5, 0]])
    assert all((r.low, r.high) == (1, 3) for r in few.ranks(adjust="none").values())
    for adjust, wider in (("none", "player"), ("player", "all")):
        for player in "ABC":
            narrow = ranking.ranks(adjust=adjust)[player].width
            assert narrow <= ranking.ranks(adjust=wider)[player].width


def test_probability_better_is_the_normal_one():
    ranking = bradley_terry([[0, 60], [40, 0]])
    z = math.log(1.5) / math.sqrt(1 / 60 + 1 / 40)
    assert ranking.probability_better(0, 1) == pytest.approx(special.ndtr(z))
    assert ranking.probability_better(1, 0) == pytest.approx(1 - special.ndtr(z))
    assert ranking.probability_better(0, 0) == 0.5


def test_the_tie_parameter_of_equals_has_a_closed_form():
    wins, ties = table((0, 1, 40, 20, 40))
    davidson = bradley_terry(wins, ties=ties, tie_policy="davidson").tie_parameter
    assert davidson.value == pytest.approx(0.5)  # ν/(2 + ν) = .2
    kupper = bradley_terry(wins, ties=ties, tie_policy="rao-kupper").tie_parameter
    assert kupper.value == pytest.approx(1.5)  # (η − 1)/(η + 1) = .2
    assert davidson.low < 0.5 < davidson.high
    # Delta method on the share of ties: the model is saturated here.
    share = 1.959964 * math.sqrt(0.2 * 0.8 / 100)
    slope = 0.2 * 0.8  # d share / d log ν
    assert math.log(davidson.high / davidson.low) / 2 == pytest.approx(share / slope)
    with pytest.raises(UndefinedStatistic, match="no tie parameter"):
        _ = bradley_terry([[0, 2], [1, 0]]).tie_parameter


@pytest.mark.parametrize(
    ("policy", "interval"),
    [
        ("half", "sandwich"),
        ("davidson", "model"),
        ("rao-kupper", "model"),
        ("davidson", "sandwich"),
        ("rao-kupper", "sandwich"),
    ],
)
def test_intervals_cover_under_their_model(policy, interval):
    rng = np.random.default_rng(12)
    theta = np.array([0.6, 0.1, -0.7])
    tie = 0.4
    i, j = np.array([0, 0, 1]), np.array([1, 2, 2])
    gap = (theta[i] - theta[j])[:, None]
    if policy == "rao-kupper":
        win, lose = special.expit(gap - tie), special.expit(-gap - tie)
        chances = np.column_stack([win, lose, 1 - win - lose])
    else:
        chances = np.column_stack(lk._davidson_shares(gap, np.array([tie])))
    # Half wins estimate the ratings that give the same expected scores.
    score = chances[:, 0] + chances[:, 2] / 2
    target = theta
    if policy == "half":
        wins = np.zeros((3, 3))
        wins[i, j], wins[j, i] = score, 1 - score
        target = bradley_terry(wins).ratings
    hits, runs = np.zeros(3), 300
    for _ in range(runs):
        counts = rng.multinomial(150, chances)
        wins, ties = np.zeros((3, 3)), np.zeros((3, 3))
        wins[i, j], wins[j, i] = counts[:, 0], counts[:, 1]
        ties[i, j] = ties[j, i] = counts[:, 2]
        fit = bradley_terry(wins, ties=ties, tie_policy=policy, interval=interval)
        hits += np.abs(fit.ratings - target) <= 1.959964 * fit.standard_errors()
    # Three standard errors of a share of .95 in 900 (not independent) intervals.
    assert hits.mean() / runs == pytest.approx(0.95, abs=0.03)


def test_shows_itself():
    ranking = bradley_terry([[0, 60], [40, 0]], players=["<new>", "old"])
    page = ranking._repr_html_()
    assert "&lt;new&gt;" in page
    assert "<caption>Bradley–Terry, model-based; mean at 1500</caption>" in page
    assert page.index("&lt;new&gt;") < page.index("old")
    assert repr(ranking) == (
        "Ranking(Bradley–Terry, model-based: '<new>' +0.20, 'old' -0.20)"
    )
    assert isinstance(ranking, Ranking)
    assert pytest.approx(173.72, abs=0.005) == ELO_PER_LOGIT
    with pytest.raises(ValidationError, match="choose 'logit' or 'elo'"):
        ranking.estimates(scale="metre")


# Counts ------------------------------------------------------------------------------


def test_win_counts_from_names_positions_and_weights():
    names = np.array(["b", "a", "b"]), np.array(["a", "b", "a"])
    want = [[0, 1], [2, 0]]
    assert win_counts(*names, players=["a", "b"]).tolist() == want
    assert win_counts([1, 0, 1], [0, 1, 0], players=2).tolist() == want
    small = np.array([1, 0], np.uint8), np.array([0, 1], np.uint8)
    assert win_counts(*small, players=2, weights=[2, 1]).tolist() == want
    assert win_counts([], [], players=2).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize("dtype", ["u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_win_counts_of_positions_in_any_integer_type(dtype):
    rng = np.random.default_rng(2)
    winners = rng.integers(0, 200, 5000)
    losers = (winners + rng.integers(1, 200, 5000)) % 200
    want = np.zeros((200, 200), int)
    np.add.at(want, (winners, losers), 1)
    # Strided, as a column of a table is.
    games = np.column_stack([winners, losers]).astype(dtype)
    assert (win_counts(games[:, 0], games[:, 1], players=200) == want).all()
    weighed = win_counts(*games.T, players=200, weights=np.full(5000, 2))
    assert (weighed == 2 * want).all()


def test_win_counts_of_many_players_are_sparse():
    counts = win_counts([5000, 1], [1, 5000], players=5001)
    assert sparse.issparse(counts)
    assert counts[5000, 1] == counts[1, 5000] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(winners=[0, 2], losers=[1, 0], players=2), "positions run from 0 to 1"),
        (
            dict(winners=["c"], losers=["a"], players=["a", "b"]),
            "not among the players",
        ),
        (dict(winners=["a"], losers=["b"], players=2), "not positions"),
        (dict(winners=["a"], losers=["b"], players=["a", "a"]), "more than once"),
        (dict(winners=[0], losers=[0], players=2), "meets itself in the games \\[0\\]"),
        (dict(winners=[0, 1], losers=[1], players=2), "one of each per game"),
        (dict(winners=[0], losers=[1], players=2, weights=[1, 2]), "weights"),
        (dict(winners=[0], losers=[1], players=2, clusters=["x"]), "code 0, 1"),
    ],
)
def test_bad_games_are_refused(arguments, message):
    with pytest.raises(ValidationError, match=message):
        win_counts(**arguments)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.float16, np.uint64])
def test_sums_of_counts_of_a_small_type_do_not_wrap(dtype):
    # 60 + 68 does not fit into a signed byte, 120 + 136 into no byte at all.
    wins = np.array([[0, 60, 120], [68, 0, 50], [120, 100, 0]])
    expected = bradley_terry(wins)
    small = bradley_terry(wins.astype(dtype))
    assert small.ratings == pytest.approx(expected.ratings)
    assert (small.games == expected.games).all()
    stacked = bradley_terry(np.stack([wins] * 3).astype(dtype), interval="model")
    assert (stacked.games == 3 * expected.games).all()


def test_yes_and_no_are_counts_too():
    everyone = ~np.eye(3, dtype=bool)
    assert bradley_terry(everyone).games.tolist() == [4, 4, 4]
    games = np.zeros(300, int)
    for kind in (np.ones(300, bool), np.ones(300, np.uint8)):
        counts = win_counts(games, games + 1, players=2, weights=kind, clusters=games)
        assert counts.toarray()[0].tolist() == [[0, 300], [0, 0]]
        many = win_counts(games, games + 1, players=5000, weights=kind)
        assert many[0, 1] == 300


@pytest.mark.parametrize("odds", [1e3, 1e6, 1e9])
def test_almost_separated_players_are_rated(odds):
    # A beat B `odds` times and lost once; the maximum is known.
    gap = bradley_terry([[0, odds], [1, 0]]).difference(0, 1)
    assert gap.value == pytest.approx(math.log(odds), abs=1e-6)
    assert gap.width == pytest.approx(2 * 1.959964 * math.sqrt(1 + 1 / odds))
    wins, ties = (
        [[0, odds, 0], [1, 0, odds], [0, 1, 0]],
        [[0, 1, 0], [1, 0, 1], [0, 1, 0]],
    )
    for policy in ("davidson", "rao-kupper"):
        fit = bradley_terry(wins, ties=ties, tie_policy=policy)
        assert fit.ratings[0] == pytest.approx(-fit.ratings[2], abs=1e-6)
        assert fit.ratings[1] == pytest.approx(0, abs=1e-6)
    assert bradley_terry(wins, ties=ties, tie_policy="davidson").difference(
        0, 1
    ).value == pytest.approx(math.log(odds), abs=1e-6)


@pytest.mark.parametrize("unit", [1e-12, 1e-6, 1e9])
@pytest.mark.parametrize("policy", POLICIES)
def test_the_unit_of_weighted_games_does_not_move_the_ratings(policy, unit):
    wins, ties = TRIANGLE
    plain = bradley_terry(wins, ties=ties, tie_policy=policy)
    scaled = bradley_terry(
        unit * np.array(wins), ties=unit * np.array(ties), tie_policy=policy
    )
    assert scaled.ratings == pytest.approx(plain.ratings, abs=1e-7)
    assert scaled.covariance * unit == pytest.approx(plain.covariance, rel=1e-6)


@pytest.mark.parametrize("n", [3, 320])
def test_a_weak_prior_is_no_prior(n):
    # 320 players: solved by conjugate gradients.
    wins = np.random.default_rng(3).integers(1, 9, (n, n))
    np.fill_diagonal(wins, 0)
    without = bradley_terry(wins)
    weak = bradley_terry(wins, prior=1e6)
    assert weak.ratings == pytest.approx(without.ratings, abs=1e-9)
    assert weak.covariance == pytest.approx(without.covariance, rel=1e-6, abs=1e-10)
    # The gauge is mean 0 under any prior.
    strong = bradley_terry(wins, prior=0.5).covariance
    assert strong.sum(axis=0) == pytest.approx(np.zeros(n), abs=1e-12)


def test_clusters_too_few_to_show_a_spread_give_no_interval():
    rng = np.random.default_rng(4)
    counts = rng.integers(3, 9, (3, 4, 4)) * (1 - np.eye(4, dtype=int))
    for interval in (None, "cluster", "bootstrap"):
        with pytest.raises(ValidationError, match="3 clusters cannot show how 4"):
            bradley_terry(counts, interval=interval, rng=1)
    with pytest.raises(ValidationError, match="1 cluster cannot"):
        bradley_terry(counts[:1])
    # Clusters without a game are none.
    empty = np.concatenate([counts, np.zeros((5, 4, 4))])
    with pytest.raises(ValidationError, match="3 clusters cannot"):
        bradley_terry(empty)
    assert bradley_terry(empty, interval="model").games.sum() == 2 * counts.sum()


def test_clusters_without_games_do_not_count():
    rng = np.random.default_rng(5)
    counts = rng.integers(3, 9, (6, 3, 3)) * (1 - np.eye(3, dtype=int))
    gaps = np.zeros((12, 3, 3))
    gaps[::2] = counts
    plain = bradley_terry(counts, small_sample=True)
    assert bradley_terry(gaps, small_sample=True).covariance == pytest.approx(
        plain.covariance
    )
    assert bradley_terry(gaps).interval == "cluster-robust, 6 clusters"
    draws = [
        bradley_terry(c, interval="bootstrap", rng=1, resamples=50).replicates
        for c in (counts, gaps)
    ]
    assert draws[0] == pytest.approx(draws[1])


def test_results_without_spread_are_no_certainty():
    # All ties between equals; and clusters that are copies of each other.
    ties = bradley_terry(
        np.zeros((2, 2)), ties=[[0, 5], [5, 0]], tie_policy="half", players=["A", "B"]
    )
    assert ties.ratings == pytest.approx([0, 0])
    for call in (ties.estimates, ties.ranks, lambda: ties.difference("A", "B")):
        with pytest.raises(UndefinedStatistic, match=r"\['A', 'B'\].*no spread"):
            call()
    assert "No intervals: " in ties._repr_html_()
    copies = bradley_terry([[[0, 20], [10, 0]]] * 2)
    with pytest.raises(UndefinedStatistic, match="no spread"):
        copies.estimates()


def test_ties_are_symmetric_in_every_cluster():
    wins = np.ones((2, 2, 2)) - np.eye(2)
    ties = np.zeros((2, 2, 2))
    # Together they are symmetric.
    ties[0, 0, 1] = ties[1, 1, 0] = 2
    with pytest.raises(ValidationError, match=r"clusters \[0, 1\]"):
        bradley_terry(wins, ties=ties, tie_policy="half")


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("interval", ["model", "sandwich", "cluster"])
def test_the_order_of_players_changes_no_interval(policy, interval):
    rng = np.random.default_rng(6)
    a, shift, tied = (
        rng.integers(0, 5, 600),
        rng.integers(1, 5, 600),
        rng.random(600) < 0.2,
    )
    b, group, order = (a + shift) % 5, rng.integers(0, 40, 600), rng.permutation(5)
    fits = []
    for p in (np.arange(5), order):
        wins = win_counts(p[a[~tied]], p[b[~tied]], players=5, clusters=group[~tied])
        ties = tie_counts(p[a[tied]], p[b[tied]], players=5, clusters=group[tied])
        fits.append(
            bradley_terry(wins, ties=ties, tie_policy=policy, interval=interval)
        )
    assert fits[1].ratings[order] == pytest.approx(fits[0].ratings, abs=1e-9)
    shuffled = fits[1].covariance[np.ix_(order, order)]
    assert shuffled == pytest.approx(fits[0].covariance, abs=1e-10)


def test_clustered_errors_are_those_of_statsmodels():
    sm = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(7)
    a, shift, group = (rng.integers(low, 5, 600) for low in (0, 1, 0))
    b, group = (a + shift) % 5, group * 8 + rng.integers(0, 8, 600)
    fit = bradley_terry(win_counts(a, b, players=5, clusters=group))
    design = np.zeros((600, 5))
    design[np.arange(600), a], design[np.arange(600), b] = 1, -1
    flip = np.where(rng.random(600) < 0.5, -1, 1)
    # One column fewer: the first player is the zero.
    glm = sm.GLM(flip > 0, (flip[:, None] * design)[:, 1:], sm.families.Binomial()).fit(
        tol=1e-14,
        cov_type="cluster",
        cov_kwds={"groups": group, "use_correction": False},
    )
    assert fit.standard_errors(anchor=0)[1:] == pytest.approx(glm.bse, rel=1e-9)
    contrast = np.array([0, 1, 0, -1])
    error = math.sqrt(contrast @ glm.cov_params() @ contrast)
    assert fit.difference(2, 4).width == pytest.approx(2 * 1.959964 * error, rel=1e-6)
    assert fit.difference(2, 4).value == pytest.approx(contrast @ glm.params)


def test_equal_players_share_the_better_place():
    # The middle two have the same record; rounding must not part them.
    wins = np.array([[0, 7, 7, 9], [3, 0, 5, 7], [3, 5, 0, 7], [1, 3, 3, 0]])
    ranks = bradley_terry(wins).ranks()
    assert [ranks[k].value for k in range(4)] == [1, 2, 2, 4]
    assert bradley_terry(wins).order == (0, 1, 2, 3)


def test_one_player_is_no_ranking_and_no_group_of_one_is_rated():
    with pytest.raises(ValidationError, match="two or more"):
        bradley_terry([[0]])
    with pytest.raises(ValidationError, match="two or more"):
        bradley_terry([[0]], prior=1.0)
    with pytest.raises(Separated, match="never lost"):
        bradley_terry([[0, 9, 9], [0, 0, 9], [0, 0, 0]], unidentified="largest")


def test_players_left_out_have_no_rank():
    wins = [[0, 9, 9], [0, 0, 4], [0, 6, 0]]
    ranks = bradley_terry(wins, players=["A", "B", "C"], unidentified="largest").ranks()
    assert ranks["C"].value == 1
    assert "infinitely above" in ranks["A"].reason


def test_names_come_with_the_table():
    import pandas as pd

    records = pd.DataFrame(
        {
            "model_a": ["p", "q", "p", "q"],
            "model_b": ["q", "p", "q", "p"],
            "verdict": ["A", "A", "TIE", "B"],
        }
    )
    counted = win_matrix(records)
    fit = bradley_terry(counted, tie_policy="half")
    assert fit.order == ("p", "q")
    assert fit.difference("p", "q").value == pytest.approx(math.log(2.5 / 1.5))
    assert win_rate(counted, tie_policy="half")["p"].value == 2.5 / 4
    with pytest.raises(ValidationError, match="holds its ties already"):
        bradley_terry(counted, ties=counted.ties)
    with pytest.raises(ValidationError, match="leave out players"):
        bradley_terry(counted, players=["q", "p"], tie_policy="half")
    table = pd.DataFrame(counted.wins, counted.models, counted.models)
    assert bradley_terry(table).players == ("p", "q")
    assert bradley_terry(table, players=["p", "q"]).players == ("p", "q")
    # A table of losers × winners in another order is no table of wins.
    with pytest.raises(ValidationError, match="same players in the same order"):
        bradley_terry(table[["q", "p"]])
    with pytest.raises(ValidationError, match="the players are"):
        bradley_terry(table, players=["q", "p"])
    with pytest.raises(ValidationError, match="win_matrix"):
        bradley_terry(records)
    words = bradley_terry([[0, 2], [1, 0]], players=np.array(["p", "q"]))
    assert repr(words.order) == "('p', 'q')"


def test_the_threshold_of_rao_kupper_is_never_below_one():
    wins, ties = [[0, 10, 10], [10, 0, 10], [10, 10, 0]], np.zeros((3, 3))
    ties[0, 1] = ties[1, 0] = 1
    threshold = bradley_terry(wins, ties=ties, tie_policy="rao-kupper").tie_parameter
    assert threshold.low == 1
    # Of 61 games 1 is a tie: between equals (η − 1)/(η + 1).
    assert threshold.value == pytest.approx(62 / 60)


def test_the_table_tells_rows_from_columns_to_a_screen_reader():
    page = bradley_terry([[0, 3], [2, 0]], players=["A<", "B"])._repr_html_()
    assert '<th scope="row">A&lt;</th>' in page
    assert page.count('scope="col"') == 6
    assert "<caption>Bradley–Terry, model-based" in page


@pytest.mark.parametrize("policy", ["davidson", "rao-kupper"])
def test_ties_of_those_left_out_make_no_tie_parameter(policy):
    wins, ties = np.zeros((5, 5)), np.zeros((5, 5))
    wins[:3, :3] = [[0, 8, 2], [2, 0, 8], [8, 2, 0]]
    wins[3, 4] = wins[4, 3] = ties[3, 4] = ties[4, 3] = 4
    fit = bradley_terry(wins, ties=ties, tie_policy=policy, unidentified="largest")
    assert fit.ratings == pytest.approx(np.zeros(3), abs=1e-9)
    with pytest.raises(UndefinedStatistic, match="no tie parameter"):
        _ = fit.tie_parameter


@pytest.mark.parametrize("policy", POLICIES)
def test_wins_and_ties_may_be_dense_and_sparse(policy):
    wins, ties = TRIANGLE
    both = bradley_terry(wins, ties=ties, tie_policy=policy)
    for w, t in ((wins, sparse.csr_array(ties)), (sparse.csr_array(wins), ties)):
        mixed = bradley_terry(w, ties=t, tie_policy=policy)
        assert mixed.ratings == pytest.approx(both.ratings)
        assert mixed.covariance == pytest.approx(both.covariance)
    with pytest.raises(ValidationError, match="ties has shape"):
        bradley_terry(np.stack([wins] * 3), ties=ties, tie_policy=policy)


def test_counts_over_ten_orders_of_magnitude_give_the_maximum_or_say_so():
    rng = np.random.default_rng(11)
    rated = 0
    for _ in range(150):
        n = int(rng.integers(2, 8))
        wins = (rng.random((n, n)) < 0.6) * 10.0 ** rng.uniform(-3, 7, (n, n))
        np.fill_diagonal(wins, 0)
        try:
            theta = bradley_terry(wins).ratings
        except (Disconnected, Separated, NotConverged):
            continue
        rated += 1
        gap = theta[:, None] - theta
        pull = wins * special.expit(-gap)
        weight = (wins + wins.T) * special.expit(gap) * special.expit(-gap)
        information = np.diag(weight.sum(axis=1)) - weight
        pinned = information + np.trace(information) / n**2
        # What another Newton step would still move.
        step = np.linalg.solve(pinned, pull.sum(axis=1) - pull.sum(axis=0))
        assert np.abs(step).max() < 1e-6
    assert rated > 70
