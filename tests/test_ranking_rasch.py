"""Judges on items: joint and conditional likelihood, and intervals that cover."""

from __future__ import annotations

import importlib.util
import math
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

from judgelab.data import published
from judgelab.errors import (
    Disconnected,
    NotConverged,
    Separated,
    UndefinedStatistic,
    ValidationError,
)
from judgelab.ranking import Rasch, bradley_terry, item_difficulty, rasch
from judgelab.ranking import judge_by_item as code
from judgelab.ranking.result import ELO_PER_LOGIT


def simulate(judges: int, items: int, seed: int, spread: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    ability = rng.normal(0, spread, judges)
    difficulty = rng.normal(0, 1, items)
    chance = special.expit(ability[:, None] - difficulty)
    return (rng.random(chance.shape) < chance).astype(np.int8)


def by_enumeration(
    ratings: np.ndarray, mask: np.ndarray, total: int
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of the answers to one item given its total, one by one."""
    patterns = []
    for right in combinations(np.flatnonzero(mask), total):
        pattern = np.zeros(ratings.size)
        pattern[list(right)] = 1
        patterns.append(pattern)
    table = np.array(patterns)
    chance = special.softmax(table @ ratings)
    mean = chance @ table
    return mean, (table - mean).T @ (chance[:, None] * (table - mean))


# The conditional likelihood ----------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), judges=st.integers(2, 7))
def test_conditional_chances_and_information_are_exact(seed, judges):
    rng = np.random.default_rng(seed)
    ratings = rng.normal(0, rng.choice([0.1, 2.0, 8.0]), judges)
    if judges > 3:
        # Equal and nearly equal ratings, where a divided difference would fail.
        ratings[1], ratings[3] = ratings[0], ratings[2] + 10.0 ** -rng.integers(2, 12)
    masks, totals = [], []
    for _ in range(5):
        mask = rng.random(judges) < 0.8
        mask[:2] = True
        masks.append(mask)
        totals.append(rng.integers(1, mask.sum()) if mask.sum() > 1 else 1)
    weight = rng.integers(1, 5, 5).astype(float)
    rows = code._Rows(np.array(masks), np.array(totals, float), weight)
    found = code._expect_conditional(ratings, rows)
    information = np.zeros((judges, judges))
    for k in range(5):
        mean, covariance = by_enumeration(ratings, rows.mask[k], int(totals[k]))
        assert found.right[k] == pytest.approx(mean, abs=1e-12)
        information += weight[k] * covariance
    assert found.information == pytest.approx(information, abs=1e-8)


def test_extreme_ratings_of_many_judges_stay_exact():
    # With the difference algorithm these sums would have lost every digit.
    ratings = np.linspace(-15, 15, 120)
    rows = code._Rows(np.ones((119, 120), bool), np.arange(1.0, 120), np.ones(119))
    found = code._expect_conditional(ratings, rows)
    assert found.right.sum(axis=1) == pytest.approx(rows.total, abs=1e-9)
    assert (np.diff(found.right, axis=0) > -1e-12).all()
    assert (found.right >= 0).all()
    assert (found.right <= 1).all()


def test_two_judges_are_mcnemar():
    # Of the items that split them, 12 go to one and 5 to the other.
    scores = np.array([[1] * 12 + [0] * 5 + [1] * 30, [0] * 12 + [1] * 5 + [1] * 30])
    gap = rasch(scores, interval="model").difference(0, 1)
    assert gap.value == pytest.approx(math.log(12 / 5))
    assert gap.width == pytest.approx(2 * 1.959964 * math.sqrt(1 / 12 + 1 / 5))
    assert gap.n == 17
    # The joint fit doubles it: the classic inconsistency.
    assert rasch(scores, method="joint").difference(0, 1).value == pytest.approx(
        2 * math.log(12 / 5)
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_conditional_fit_agrees_with_conditional_logit(seed):
    models = pytest.importorskip("statsmodels.discrete.conditional_models")
    scores = simulate(4, 60, seed)
    long = scores.T.ravel()
    design = np.tile(np.eye(4)[:, 1:], (60, 1))
    groups = np.repeat(np.arange(60), 4)
    total = scores.sum(axis=0)
    keep = np.repeat((total > 0) & (total < 4), 4)
    theirs = models.ConditionalLogit(long[keep], design[keep], groups=groups[keep]).fit(
        disp=False
    )
    ours = rasch(scores, interval="model")
    assert [float(ours.estimates(anchor=0)[k]) for k in (1, 2, 3)] == pytest.approx(
        theirs.params, abs=1e-4
    )
    assert ours.standard_errors(anchor=0)[1:] == pytest.approx(theirs.bse, rel=1e-3)


# The joint likelihood, MM and RankJudge's conventions --------------------------------


def test_the_joint_fit_is_bradley_terry_between_judges_and_items():
    scores = simulate(5, 40, 3)
    total = scores.sum(axis=0)
    scores = scores[:, (total > 0) & (total < 5)]
    items = scores.shape[1]
    wins = np.zeros((5 + items, 5 + items))
    wins[:5, 5:], wins[5:, :5] = scores, (1 - scores).T
    players = bradley_terry(wins)
    fit = rasch(scores, method="joint", interval="model")
    shift = players.ratings[:5].mean()
    assert fit.ratings == pytest.approx(players.ratings[:5] - shift, abs=1e-8)
    assert fit.difficulty == pytest.approx(players.ratings[5:] - shift, abs=1e-8)
    # The errors of judges and items too, whatever the anchor.
    errors = players.standard_errors(anchor=0)
    assert fit.standard_errors(anchor=0) == pytest.approx(errors[:5], abs=1e-8)
    item = fit.difficulties(anchor=0)
    widths = [item[k].width / (2 * 1.959964) for k in range(items)]
    assert widths == pytest.approx(errors[5:], rel=1e-6)


def full_sandwich(scores: np.ndarray, fit: Rasch) -> np.ndarray:
    """I⁺BI⁺ over judges and items, as in the RankJudge code, one cluster per item."""
    judges, items = scores.shape
    size = judges + items
    chance = special.expit(fit.ratings[:, None] - fit.difficulty)
    information, meat = np.zeros((size, size)), np.zeros((size, size))
    for j in range(items):
        score = np.zeros(size)
        for i in range(judges):
            contrast = np.zeros(size)
            contrast[i], contrast[judges + j] = 1, -1
            w = chance[i, j] * (1 - chance[i, j])
            information += w * np.outer(contrast, contrast)
            score += (scores[i, j] - chance[i, j]) * contrast
        meat += np.outer(score, score)
    inverse = np.linalg.pinv(information, rcond=1e-10)
    return inverse @ meat @ inverse


def test_the_cheap_sandwich_is_the_full_one_and_so_is_the_published_error():
    scores = simulate(6, 50, 4)
    total = scores.sum(axis=0)
    scores = scores[:, (total > 0) & (total < 6)]
    fit = rasch(scores, method="joint")
    full = full_sandwich(scores, fit)
    contrast = np.eye(6) - 1 / 6
    centred = contrast @ full[:6, :6] @ contrast
    assert fit.covariance == pytest.approx(centred, abs=1e-9)
    printed = np.sqrt(np.diag(full))[:6]
    assert fit.standard_errors(anchor="rankjudge") == pytest.approx(printed, abs=1e-8)
    # The items' own printed errors are no errors at all: their scores cancel.
    honest = [e.width / 3.92 for e in fit.difficulties().values()]
    assert np.sqrt(np.diag(full))[6:].mean() < 0.5 * np.mean(honest)


def test_mm_follows_the_published_recipe():
    scores = simulate(4, 30, 5)
    total = scores.sum(axis=0)
    kept = scores[:, (total > 0) & (total < 4)].astype(float)
    # The recipe, item by item.
    judge, item = np.ones(4), np.ones(kept.shape[1])
    sweeps = 0
    while True:
        before = np.concatenate([judge, item])
        judge = kept.sum(axis=1) / (1 / (judge[:, None] + item)).sum(axis=1)
        item = (1 - kept).sum(axis=0) / (1 / (judge[:, None] + item)).sum(axis=0)
        mean = np.concatenate([judge, item]).mean()
        judge, item = judge / mean, item / mean
        sweeps += 1
        if np.abs(np.concatenate([judge, item]) - before).max() < 1e-6:
            break
    fit = rasch(scores, method="mm")
    assert fit.iterations == sweeps
    assert fit.trace[-1] == pytest.approx(judge)
    elo = fit.estimates(anchor="mean strength", scale="elo")
    published_way = 1500 + 400 * np.log10(judge)
    assert [float(e) for e in elo.values()] == pytest.approx(published_way, abs=1e-3)
    joint = rasch(scores, method="joint")
    assert fit.ratings == pytest.approx(joint.ratings, abs=1e-5)


def test_mm_that_runs_out_of_sweeps_gives_no_number():
    with pytest.raises(NotConverged, match="after 3 sweeps"):
        rasch(simulate(4, 30, 5, spread=2.0), method="mm", max_iterations=3)


def test_published_pair_difficulties_lie_on_the_grid_of_the_judge_table():
    # With a complete table an item's Elo is fixed by how many of 21 judges fail it.
    elo = published("rankjudge", "leaderboard")["elo_all"].to_numpy(float)
    failing = np.arange(1, 21)
    grid = item_difficulty(elo / ELO_PER_LOGIT, 21 - failing) * ELO_PER_LOGIT
    medians = published("rankjudge", "pair_difficulty")
    for _, row in medians.iterrows():
        place = np.abs(grid - row["median_pair_elo"]).argmin()
        assert abs(grid[place] - row["median_pair_elo"]) <= 1


def test_the_joint_fit_stretches_and_less_so_with_more_judges():
    slopes = []
    for judges in (3, 6, 12, 24):
        scores = simulate(judges, 3000, 6)
        joint, conditional = rasch(scores, method="joint"), rasch(scores)
        slopes.append(np.polyfit(conditional.ratings, joint.ratings, 1)[0])
        # Wright's correction (J − 1)/J takes back a part of it, never too much here.
        assert slopes[-1] > judges / (judges - 1)
    assert slopes == sorted(slopes, reverse=True)
    assert slopes[-1] < 1.1


# Only margins matter -----------------------------------------------------------------


def test_a_complete_table_needs_only_its_margins():
    scores = simulate(5, 80, 7)
    # Two judges, two items, crosswise right and wrong: turning it keeps the margins.
    turned = scores.copy()
    i, k = 0, 1
    up = np.flatnonzero((scores[i] == 1) & (scores[k] == 0))
    down = np.flatnonzero((scores[i] == 0) & (scores[k] == 1))
    a, b = up[0], down[0]
    turned[[i, k, i, k], [a, a, b, b]] = [0, 1, 1, 0]
    assert (turned.sum(axis=1) == scores.sum(axis=1)).all()
    for method in ("conditional", "joint"):
        one = rasch(scores, method=method, interval="model")
        two = rasch(turned, method=method, interval="model")
        assert two.ratings == pytest.approx(one.ratings, abs=1e-10)
        assert two.covariance == pytest.approx(one.covariance, abs=1e-10)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_order_of_judges_and_items_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    scores = simulate(4, 60, seed)
    rows, columns = rng.permutation(4), rng.permutation(60)
    try:
        one = rasch(scores)
    except Separated:
        return
    two = rasch(scores[np.ix_(rows, columns)])
    assert two.ratings == pytest.approx(one.ratings[rows], abs=1e-9)
    assert two.covariance == pytest.approx(one.covariance[np.ix_(rows, rows)], abs=1e-9)
    finite = np.isfinite(one.difficulty[columns])
    assert two.difficulty[finite] == pytest.approx(
        one.difficulty[columns][finite], abs=1e-9
    )


@pytest.mark.parametrize("method", ["conditional", "joint"])
def test_a_table_without_gaps_may_be_told_so_in_any_way(method):
    scores = simulate(5, 70, 8)
    want = rasch(scores, method=method)
    marked = np.column_stack([scores, np.full(5, -1)])
    for same in (
        rasch(scores.astype(bool), method=method),
        rasch(scores.astype(float), method=method),
        rasch(marked, method=method, missing_code=-1),
    ):
        assert same.ratings == pytest.approx(want.ratings, abs=1e-9)
        assert same.covariance == pytest.approx(want.covariance, abs=1e-9)
    assert math.isnan(rasch(marked, method=method, missing_code=-1).difficulty[-1])


def test_an_incomplete_table_is_rated_by_who_answered():
    scores = simulate(6, 3000, 9).astype(float)
    gaps = np.random.default_rng(1).random(scores.shape) < 0.3
    partial = rasch(np.where(gaps, np.nan, scores))
    whole = rasch(scores)
    assert partial.ratings == pytest.approx(whole.ratings, abs=0.2)
    assert (partial.standard_errors() > whole.standard_errors()).all()
    # Harder items for one judge alone would fool a count, not the model.
    rng = np.random.default_rng(2)
    hard = whole.difficulty > 0
    chosen = scores.copy()
    chosen[0, ~hard & (rng.random(3000) < 0.9)] = np.nan
    share = np.nanmean(chosen[0])
    assert share < np.nanmean(scores[0]) - 0.1
    assert rasch(chosen).ratings[0] == pytest.approx(
        whole.ratings[0], abs=4 * whole.standard_errors()[0]
    )


def test_clusters_of_one_item_are_the_default_and_copies_do_not_count():
    scores = simulate(5, 90, 10)
    default = rasch(scores)
    single = rasch(scores, clusters=np.arange(90))
    assert single.covariance == pytest.approx(default.covariance)
    copies = rasch(np.tile(scores, 3), clusters=np.tile(np.arange(90), 3))
    assert copies.ratings == pytest.approx(default.ratings, abs=1e-9)
    assert copies.covariance == pytest.approx(default.covariance, rel=1e-6)
    groups = int(default.interval.split()[1])
    corrected = rasch(scores, small_sample=True)
    assert corrected.covariance == pytest.approx(
        default.covariance * groups / (groups - 1)
    )
    partial = scores.astype(float)
    partial[0, ::7] = np.nan
    once = rasch(partial)
    thrice = rasch(np.tile(partial, 3), clusters=np.tile(np.arange(90), 3))
    assert thrice.covariance == pytest.approx(once.covariance, rel=1e-6)


def test_shares_are_allowed_in_the_joint_fit():
    scores = simulate(4, 50, 11).astype(float)
    scores[0, :10] = 0.5
    total = scores.sum(axis=0)
    kept = scores[:, (total > 0) & (total < 4)]
    items = kept.shape[1]
    wins = np.zeros((4 + items, 4 + items))
    wins[:4, 4:], wins[4:, :4] = kept, (1 - kept).T
    players = bradley_terry(wins, interval="model")
    fit = rasch(scores, method="joint")
    shift = players.ratings[:4].mean()
    assert fit.ratings == pytest.approx(players.ratings[:4] - shift, abs=1e-8)
    with pytest.raises(ValidationError, match="allowed are 0 and 1"):
        rasch(scores)


# When there is no number -------------------------------------------------------------


def test_a_judge_that_is_always_right_is_named():
    scores = simulate(4, 50, 12)
    scores[2] = 1
    for method in ("conditional", "joint", "mm"):
        with pytest.raises(Separated, match=r"\['c'\] never lost"):
            rasch(scores, judges="abcd", method=method)
    rest = rasch(scores, judges="abcd", unidentified="largest")
    assert rest.players == ("a", "b", "d")
    assert rest.left_out == {"c": "infinitely above: never lost to the rated group"}
    assert rest.ratings == pytest.approx(rasch(scores[[0, 1, 3]]).ratings)


def test_judges_without_a_common_item_are_named():
    scores = np.full((4, 60), np.nan)
    scores[:2, :30] = simulate(2, 30, 13)
    scores[2:, 30:] = simulate(2, 30, 14)
    with pytest.raises(Disconnected, match=r"\['a', 'b'\], \['c', 'd'\]"):
        rasch(scores, judges="abcd")


@pytest.mark.parametrize(
    ("scores", "arguments", "message"),
    [
        ([[0, 2], [1, 0]], {}, r"holds \[2\] at \[\[0, 1\]\]"),
        ([[0, -1], [1, 0]], {}, "missing_code"),
        ([[0, 0.5], [1, 0]], {}, "0 and 1"),
        ([0, 1], {}, "judges × items"),
        ([["x"]], {}, "table of numbers"),
        ([[0, 1], [1, 0]], {"judges": "aa"}, "1 of them different"),
        ([[0, 1], [1, 0]], {"clusters": [1]}, "one cluster per unit"),
        ([[0, 1], [1, 0]], {"clusters": [1, 1]}, "1 cluster cannot"),
        ([[0, 1], [1, 0]], {"method": "guess"}, "choose"),
        ([[0, 1], [1, 0]], {"interval": "guess"}, "choose"),
        ([[0, 1], [1, 0]], {"clusters": [1, math.nan]}, "clusters lacks 1"),
        ([[0, 1], [1, 0]], {"clusters": ["a", None]}, "clusters lacks 1"),
        ([[0, 1], [1, 0]], {"max_iterations": 0}, "at least 1"),
        ([[0, 1], [1, 0]], {"tolerance": math.inf}, "tolerance is inf"),
        ([[0, 1], [1, 0]], {"method": "mm", "max_iterations": 0}, "at least 1"),
        (
            [[0, 1], [1, 0]],
            {"small_sample": True, "interval": "model"},
            "small_sample corrects",
        ),
        ([[0, 1]], {}, "two or more"),
        (
            [[1, 0, 1, 0], [0, 1, 1, 0], [0, 1, 0, 1], [1, 0, 0, 1], [1, 1, 0, 0]],
            {},
            "4 clusters cannot show how 5 judges",
        ),
    ],
)
def test_bad_input_is_refused(scores, arguments, message):
    with pytest.raises(ValidationError, match=message):
        rasch(scores, **arguments)


def test_an_iteration_that_is_cut_short_gives_no_number():
    with pytest.raises(NotConverged, match="raise max_iterations"):
        rasch(simulate(4, 50, 15), max_iterations=1)


def test_items_that_all_or_none_solved_have_no_difficulty():
    scores = np.column_stack([simulate(4, 50, 16), np.ones(4, int), np.zeros(4, int)])
    fit = rasch(scores, items=[f"q{k}" for k in range(52)])
    shown = fit.difficulties(scale="elo")
    assert math.isnan(shown["q50"].value)
    assert shown["q50"].reason == "every judge was right: infinitely far away"
    assert shown["q51"].reason == "no judge was right: infinitely far away"
    assert fit.difficulty[50] == -np.inf
    assert fit.difficulty[51] == np.inf
    with pytest.raises(UndefinedStatistic, match="infinite"):
        item_difficulty([0.0, 1.0], [2])


# Coverage ----------------------------------------------------------------------------


def test_difficulties_cover_where_the_judges_are_known_well():
    rng = np.random.default_rng(17)
    ability = np.linspace(-2, 2, 40)
    difficulty = np.linspace(-1.5, 1.5, 300)
    chance = special.expit(ability[:, None] - difficulty)
    hits = []
    for _ in range(10):
        fit = rasch((rng.random(chance.shape) < chance).astype(np.int8))
        found = fit.difficulties()
        hits += [
            found[k].low <= difficulty[k] <= found[k].high
            for k in range(300)
            if not found[k].reason
        ]
    assert np.mean(hits) == pytest.approx(0.95, abs=0.015)


def test_published_intervals_do_not_cover_and_conditional_ones_do():
    """Short version of benchmarks/coverage_ranking.py."""
    path = Path(__file__).parents[1] / "benchmarks" / "coverage_ranking.py"
    spec = importlib.util.spec_from_file_location("coverage_ranking", path)
    study = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(study)
    rows = study.study(120, seed=1)
    coverage = {
        way: np.array([row["coverage"] for row in rows if row["way"] == way])
        for way in study.WAYS
    }
    assert coverage["published"].mean() < 0.75
    assert coverage["joint"].mean() < 0.9
    assert 0.93 <= coverage["conditional"].mean() <= 0.97
    # 120 runs: a judge at .95 falls below .88 once in a thousand.
    assert coverage["conditional"].min() >= 0.88
    assert rows[-1]["stretch"] == pytest.approx(1, abs=0.02)


def test_is_a_ranking_of_the_judges():
    fit = rasch(simulate(3, 80, 18), judges=["x", "y", "z"])
    assert fit.ranks()[fit.order[0]].value == 1
    assert 0.5 <= fit.probability_better(fit.order[0], fit.order[1]) <= 1
    assert "Rasch, conditional, cluster-robust" in fit._repr_html_()
    assert float(fit.estimates(anchor="x")["x"]) == 0
    assert fit.gauge("mean strength")[1].sum() == pytest.approx(1)
    assert fit.gauge("rankjudge")[1].sum() == pytest.approx(1)


@pytest.mark.parametrize("n", [10**3, 10**6])
def test_a_judge_that_is_almost_always_right_is_rated(n):
    # Two judges: only the items that split them count, n to 1.
    scores = np.zeros((2, n + 1), np.int8)
    scores[0, :n] = scores[1, n] = 1
    conditional = rasch(scores).difference(0, 1)
    assert conditional.value == pytest.approx(math.log(n), abs=1e-7)
    # Joint ML doubles it (Andersen 1980).
    joint = rasch(scores, method="joint", interval="model").difference(0, 1)
    assert joint.value == pytest.approx(2 * math.log(n), abs=1e-7)


def test_no_item_and_no_second_judge_are_refused_by_name():
    with pytest.raises(Disconnected, match="never met"):
        rasch(np.zeros((3, 0)))
    with pytest.raises(Separated, match="never lost"):
        rasch([[1, 1, 1], [0, 1, 1], [0, 0, 1]], unidentified="largest")


def test_difficulties_of_ratings_that_are_far_apart():
    # Where no curvature is left the bounds still close in.
    delta = item_difficulty([400.0, 0.0, -400.0], [0.5, 1.5])
    assert special.expit(400 - delta[0]) == pytest.approx(0.5)
    assert delta[1] == pytest.approx(0, abs=1e-6)
    assert np.isfinite(item_difficulty([800.0, -800.0], 1)).all()
    with pytest.raises(ValidationError, match="finite"):
        item_difficulty([math.nan, 0.0], [1])
    with pytest.raises(UndefinedStatistic, match="nan"):
        item_difficulty([1.0, 0.0], [math.nan])


def test_a_long_table_is_shown_in_a_line():
    scores = np.random.default_rng(1).integers(0, 2, (3, 2000))
    shown = repr(rasch(scores, items=[f"item {k}" for k in range(2000)]))
    assert shown.startswith("Rasch(Rasch, conditional, cluster-robust")
    assert len(shown) < 200


def test_names_come_with_the_table():
    import pandas as pd

    scores = np.random.default_rng(2).integers(0, 2, (3, 40))
    names = [f"q{k}" for k in range(40)]
    frame = pd.DataFrame(scores, ["a", "b", "c"], names)
    for table in (frame, frame.astype("Int64")):
        fit = rasch(table)
        assert fit.players == ("a", "b", "c")
        assert list(fit.difficulties(anchor="a"))[:2] == ["q0", "q1"]
        assert fit.ratings == pytest.approx(rasch(scores).ratings)
    assert rasch(frame, judges=["x", "y", "z"]).players == ("x", "y", "z")
