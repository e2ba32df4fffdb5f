"""Wrong types and edge values: a named error or the right value, everywhere alike.

One walk over the public functions of the statistics. Each is called with arguments that
are right, and then with one of them made wrong; what comes back is one of judgelab's
own errors, whose message names what is wrong, and never a number or an error of NumPy.
"""

from __future__ import annotations

import contextlib
import datetime
import inspect
import math
import re
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judgelab import (
    agreement,
    correction,
    correlation,
    estimate,
    intervals,
    planning,
    position,
    probes,
    ranking,
    significance,
    simulate,
    verdict,
)
from judgelab.agreement import weights
from judgelab.counts import contingency_table
from judgelab.errors import JudgelabError, ValidationError

TABLE = np.array([[40, 10], [15, 35]])
VOTES = np.array([[3, 0], [2, 1], [0, 3], [1, 2]])
ORDERS = np.zeros((5, 5), int)
ORDERS[:2, :2] = [[20, 6], [3, 15]]
CORRECTED = {"table": np.array([[54, 6], [12, 28]]), "rest": np.array([1320, 680])}
X, Y = np.array([1.0, 2, 3, 4, 5, 6]), np.array([2.0, 1, 3, 4, 6, 5])
TOPICS = np.random.default_rng(1).normal(size=(9, 6)) + np.arange(9)[:, None]
LISTS = {"first": list("ABCD"), "second": list("BACD")}
WINS = np.array([[0, 60, 55], [40, 0, 50], [45, 50, 0]])
SCORES = np.array([[1, 1, 1, 0, 1, 0], [1, 0, 1, 1, 0, 0], [0, 1, 0, 0, 0, 1]])
GAMES = {
    "first": np.array([0, 1, 0]),
    "second": np.array([1, 0, 1]),
    "scores": np.array([1.0, 0.0, 0.5]),
    "players": 2,
    "k": 32.0,
    "initial": 1500.0,
}
GROUP = {"right": np.array([1, 1, 0, 1.0, 0, 0]), "level": 0.9}
LONGER = np.array([1, 1, 1, 0, 0, 0])
DRAWN = {"resamples": 20, "rng": 1}
JUDGED = {"judge": simulate.Judge(), "pairs": simulate.draw_pairs(5, rng=1), "rng": 1}
LEVEL = {"level": 0.9}


def tau(x: Any, y: Any) -> Any:
    return correlation.kendall_tau(x, y, interval=None)


def last(sums: Any) -> Any:
    return sums[:, -1]


CALLS: list[tuple[Any, dict[str, Any]]] = [
    (estimate.Estimate, {"value": 0.5, "low": 0.4, "high": 0.6, "n": 9, "level": 0.9}),
    (intervals.proportion, {"successes": 3, "n": 9, **LEVEL, "method": "wilson"}),
    (
        intervals.clustered_proportion,
        {"successes": X, "totals": X + 2, "weights": np.array([1, 2, 1, 1, 1, 1])},
    ),
    (
        intervals.clustered_difference,
        {
            "successes": X,
            "totals": X + 2,
            "other_successes": Y,
            "other_totals": Y + 1,
            **LEVEL,
        },
    ),
    (intervals.median, {"values": X, **LEVEL}),
    (
        intervals.effective_size,
        {"simple_variance": 0.1, "clustered_variance": 0.2, "n": 9.0, "clusters": 4.0},
    ),
    (intervals.upper_end, LEVEL),
    (
        intervals.from_standard_error,
        {"value": 0.5, "standard_error": 0.1, "n": 9, "freedom": 8.0},
    ),
    (intervals.from_replicates, {"value": 0.5, "replicates": X, "n": 9, **LEVEL}),
    (
        intervals.bootstrap,
        {"statistic": last, "patterns": np.eye(2), "repeats": X[:2], **DRAWN},
    ),
    *(
        (
            function,
            {"table": TABLE, "interval": "bootstrap", **DRAWN, **LEVEL, **more},
        )
        for function, more in (
            (agreement.percent_agreement, {"weights": np.eye(2)}),
            (agreement.cohen_kappa, {"weights": "linear", "symmetric": (1, 0)}),
            (agreement.scott_pi, {"undefined": "nan"}),
            (agreement.gwet_ac1, {}),
            (agreement.gwet_ac2, {"weights": "linear"}),
            (agreement.brennan_prediger, {}),
        )
    ),
    (agreement.fleiss_kappa, {"counts": VOTES, "repeats": np.array([1, 2, 1, 1])}),
    (agreement.randolph_kappa, {"counts": VOTES, **LEVEL, "interval": "score"}),
    (
        agreement.krippendorff_alpha,
        {
            "ratings": VOTES,
            "level": "nominal",
            "scale": [0, 1],
            "counted": True,
            "repeats": np.array([1, 2, 1, 1]),
            "symmetric": (1, 0),
            "coverage": 0.9,
            "interval": "bootstrap",
            **DRAWN,
        },
    ),
    (agreement.icc, {"ratings": VOTES, "form": "ICC2", **LEVEL}),
    (
        agreement.agreement_values,
        {"tables": TABLE, "coefficient": "cohen_kappa", "level": "nominal"},
    ),
    (weights.disagreement, {"weights": np.eye(2), "k": 2}),
    *(
        (getattr(position, name), {"table": ORDERS, **LEVEL, **more})
        for name, more in (
            ("position_consistency", {"kind": "strict", "denominator": "all"}),
            ("slot_share", {"slot": "first", "denominator": "decided"}),
            ("slot_lean", {"slot": "first", "kind": "strict", "denominator": "all"}),
            ("nudge", {}),
            ("preference_fairness", {"denominator": "all"}),
            ("pcon_at_ab", {"denominator": "either"}),
            ("verdict_rate", {"verdict": "TIE", "denominator": "all"}),
        )
    ),
    (position.lean_test, {"table": ORDERS, "kind": "strict", "method": "exact"}),
    (position.repetition_stability, {"counts": VOTES, "kind": "majority", **LEVEL}),
    (
        position.score_two_orders,
        {"tables": np.stack([ORDERS] * 2), "rule": "judgebench", **LEVEL},
    ),
    (significance.binomial_test, {"successes": 3, "n": 9, "probability": 0.4}),
    (significance.sign_flip_test, {"differences": np.array([1, -1, 2])}),
    (
        significance.swap_test,
        {
            "first": VOTES,
            "second": VOTES[::-1],
            "statistic": last,
            "draws": 50,
            "enough": 9,
            "rng": 1,
        },
    ),
    (significance.mcnemar, {"only_first": 9, "only_second": 4, "method": "exact"}),
    (
        significance.paired_difference,
        {
            "both": 9,
            "only_first": 4,
            "only_second": 3,
            "neither": 2,
            "interval": "bootstrap",
            **DRAWN,
            **LEVEL,
        },
    ),
    (
        significance.signed_share,
        {"plus": 5.0, "minus": 2.0, "n": 9, "effective": 8.0, **LEVEL},
    ),
    (significance.welch_test, {"one": X, "two": Y + 1, **LEVEL}),
    (significance.homogeneity_test, {"counts": TABLE, "method": "chi2"}),
    (significance.marginal_homogeneity, {"table": TABLE}),
    (significance.holm, {"p_values": {"x": 0.01, "y": 0.2}}),
    *(
        (getattr(correlation, name), {"x": X, "y": Y, **LEVEL, **DRAWN, **more})
        for name, more in (
            ("kendall_tau", {"variant": "b", "interval": "bootstrap"}),
            ("spearman_rho", {"interval": "bootstrap"}),
            ("pearson_r", {"interval": "bootstrap"}),
            ("weighted_tau", {"rank": "both", "interval": "bootstrap"}),
        )
    ),
    (correlation.kendall_tau_table, {"table": TABLE, "variant": "b", **LEVEL}),
    (
        correlation.tau_ap,
        {"truth": X, "estimate": Y, "direction": "truth", "interval": "jackknife"},
    ),
    (correlation.rank_biased_overlap, {**LISTS, "p": 0.9, "kind": "truncated"}),
    (correlation.average_overlap, {**LISTS, "k": 3}),
    (correlation.top_k_overlap, {**LISTS, "k": 3}),
    (correlation.best_first, {"scores": X}),
    (
        correlation.over_topics,
        {"first": TOPICS, "second": TOPICS + X, "statistic": tau, **LEVEL, **DRAWN},
    ),
    (
        correlation.correlation_difference,
        {"target": X, "first": Y, "second": Y[::-1], "statistic": tau, **LEVEL},
    ),
    (
        ranking.bradley_terry,
        {
            "wins": WINS,
            "ties": np.ones((3, 3)) - np.eye(3),
            "tie_policy": "half",
            "interval": "bootstrap",
            "prior": 2.0,
            "unidentified": "raise",
            "method": "newton",
            "resample_by": "poisson",
            "tolerance": 1e-9,
            "max_iterations": 99,
            **DRAWN,
        },
    ),
    (ranking.win_rate, {"wins": WINS, **LEVEL}),
    (ranking.average_win_rate, {"wins": WINS, **LEVEL}),
    (ranking.elo, GAMES),
    (ranking.elo_orders, {**GAMES, "orders": 3, "rng": 1}),
    (
        ranking.rasch,
        {
            "scores": SCORES,
            "method": "joint",
            "interval": "model",
            "unidentified": "raise",
            "tolerance": 1e-9,
            "max_iterations": 99,
        },
    ),
    (
        ranking.item_difficulty,
        {"ratings": X[:3] - 2, "right": np.array([1, 2]), "answered": np.ones((2, 3))},
    ),
    (
        ranking.walk,
        {"scores": SCORES, "damping": 0.8, "tolerance": 1e-9, "max_iterations": 9999},
    ),
    (ranking.pagerank, {"wins": WINS, "damping": 0.8}),
    (planning.items_for_proportion, {"width": 0.2, "share": 0.4, **LEVEL}),
    (
        planning.items_for_power,
        {"share": 0.6, "against": 0.5, "power": 0.8, **LEVEL},
    ),
    (
        planning.items_for_kappa,
        {"width": 0.3, "kappa": 0.5, "shares": np.array([0.5, 0.5]), **LEVEL},
    ),
    (
        planning.items_for_width,
        {"pilot": estimate.Estimate(0.5, 0.3, 0.7, 9, "made up"), "width": 0.1},
    ),
    (
        planning.battles_for_difference,
        {
            "ratings": X[:3],
            "first": 0,
            "second": 1,
            "width": 0.5,
            "scale": "logit",
            "design": 1 - np.eye(3),
            **LEVEL,
        },
    ),
    (
        planning.battles_for_difference,
        {"ratings": X[:3], "first": 0, "second": 1, "power": 0.8},
    ),
    (
        planning.ranking_stability,
        {
            "scores": np.tile(SCORES, 9),
            "fractions": np.array([0.5, 1]),
            "unit": "pairs",
            "method": "joint",
            "repeats": 3,
            "rng": 1,
        },
    ),
    (correction.sensitivity_and_specificity, {"table": CORRECTED["table"], **LEVEL}),
    (correction.rogan_gladen, {**CORRECTED, "interval": "delta", **LEVEL}),
    (correction.prediction_powered_share, {**CORRECTED, "weight": 0.5, **LEVEL}),
    (
        correction.prediction_powered_mean,
        {"labels": X, "judged": Y, "rest": X, "weight": 0.5, **LEVEL},
    ),
    (
        correction.n_labels_for_width,
        {
            "width": 0.2,
            "share": 0.5,
            "sensitivity": 0.9,
            "specificity": 0.8,
            "rest": 500.0,
            "method": "labels only",
            **LEVEL,
        },
    ),
    (probes.verbosity_gap, {**GROUP, "better_is_longer": LONGER}),
    (probes.self_preference_gap, {**GROUP, "better_is_own": LONGER}),
    (probes.excess_credit, {"credit": X / 6, "reference": Y / 6, **LEVEL}),
    (probes.unusable_rate, {"unusable": 3, "n": 9, "tolerance": 0.1, **LEVEL}),
    (
        simulate.draw_pairs,
        {
            "n": 5,
            "distribution": "normal",
            "spread": 0.5,
            "length_spread": 0.1,
            "own_share": 0.2,
            "rng": 1,
        },
    ),
    (
        simulate.Judge,
        {
            "k": 4.0,
            "beta": 0.1,
            "verbosity": 0.1,
            "self_preference": 0.1,
            "tie_width": 0.1,
            "invalid_rate": 0.1,
            "missing_rate": 0.1,
        },
    ),
    (
        simulate.Judge().probabilities,
        {"delta": X, "log_length": X, "own": np.array([1, 0, 1, -1, 0, 1])},
    ),
    (simulate.Pairs, {"delta": X, "log_length": X, "own": LONGER}),
    (simulate.judge_both_orders, {**JUDGED, "trials": 2}),
    (simulate.simulate, {**JUDGED, "trials": 2}),
    (simulate.tables_by_gold, JUDGED),
    (simulate.expected_rates, {"judge": simulate.Judge(), "spread": 0.5}),
    (verdict.unswap, {"verdicts": LONGER, "swapped": LONGER}),
    (verdict.as_codes, {"verdicts": LONGER}),
    (verdict.combine, {"first": LONGER, "second": LONGER, "rule": "judgebench"}),
    (verdict.find_rule, {"rule": "judgebench"}),
]
WITH_NULL = (significance.sign_flip_test, significance.swap_test)
WITH_NULL += (significance.welch_test, probes.excess_credit)

# Frames are checked by `judgelab.records`; these take frames, or nothing that can be
# wrong, or are shown by what they give to others.
OF_FRAMES = {
    *("pair_orders", "average_orders", "mean_lean", "at_threshold", "right_verdicts"),
    *("diagnose", "fit_judge", "settled_labels", "correction_counts"),
    *("rules_side_by_side", "normal_quantile", "give_up", "check_undefined"),
    "smallest",
}


def arguments(function: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Add what is there to be read by people only."""
    more: dict[str, Any] = {"null": "nothing"} if function in WITH_NULL else {}
    if function in (estimate.Estimate, intervals.from_standard_error):
        more["method"] = "made up"
    if function is intervals.from_replicates:
        more["method"] = "made up"
    return given | more


ONE_NUMBER = {
    "word": "a",
    "complex": 1j,
    "nan": math.nan,
    "NA": pd.NA,
    "date": datetime.date(2024, 1, 1),
    "list": [1, 2],
    "empty": [],
    "array": np.array([0.2, 0.3]),
    "truth": True,
    "dict": {},
}
NO_COUNT = ONE_NUMBER | {"fraction": 2.5, "infinity": math.inf, "below": -1}
ONE_WORD = {"word": "no such thing", "number": 3, "list": [], "nan": math.nan}


def wrong_array(values: Any) -> dict[str, Any]:
    values = np.asarray(values)
    first = (0,) * values.ndim
    objects = values.astype(object)
    missing, words, exact = objects.copy(), objects.copy(), objects.copy()
    missing[first], words[first], exact[first] = None, "a", Decimal("1.5")
    gap = values.astype(float)
    gap[first] = math.nan
    endless = values.astype(float)
    endless[first] = math.inf
    mask = np.zeros(values.shape, bool)
    mask[first] = True
    return {
        "word": "a",
        "none": None,
        "dict": {},
        "number": 5,
        "no axis": np.array(5.0),
        "words": values.astype(str),
        "missing": missing,
        "NA": pd.array([*values.ravel().tolist(), pd.NA]),
        "word inside": words,
        "decimal": exact,
        "nan": gap,
        "infinite": endless,
        "complex": values.astype(complex) + 1j,
        "dates": values.astype("datetime64[s]"),
        "masked": np.ma.array(values, mask=mask),
        "ragged": [[1, 2], [3]],
        "more axes": values[None, None, None],
    }


def wrong(function: Any, name: str, value: Any) -> dict[str, Any]:
    """Return what this argument must not be."""
    parameter = inspect.signature(function).parameters[name]
    if isinstance(value, str):
        choices = dict(ONE_WORD)
        if parameter.default is not None:
            choices["none"] = None
        return choices
    if isinstance(value, bool):
        return {}
    if isinstance(value, int | float):
        bad = dict(NO_COUNT if isinstance(value, int) else ONE_NUMBER)
        if parameter.default is not None:
            bad["none"] = None
        return bad
    if isinstance(value, np.ndarray):
        bad = wrong_array(value)
        if parameter.default is None:
            del bad["none"]
        return bad
    if isinstance(value, list | tuple):
        return {"number": 5, "nothing": []}
    return {}


# What is right after all, and why.
RIGHT = {
    # A number of units may be endless, a share of them a fraction.
    ("proportion", "successes", "fraction"),
    ("rasch", "scores", "nan"),
    ("ranking_stability", "scores", "nan"),
    # One more table of counts, or a stack of them.
    ("agreement_values", "tables", "more axes"),
    # None says that there is no interval, or that all differences weigh alike.
    *((name, "interval", "none") for name in ("kendall_tau", "spearman_rho")),
    ("pearson_r", "interval", "none"),
    ("gwet_ac2", "weights", "none"),
    ("disagreement", "weights", "none"),
    # The code of a verdict stands for it, and codes may stand in a table.
    ("verdict_rate", "verdict", "number"),
    ("as_codes", "verdicts", "more axes"),
    # One set of answers is laid beside every pair.
    ("probabilities", "log_length", "number"),
    ("probabilities", "log_length", "no axis"),
    ("probabilities", "own", "number"),
    ("probabilities", "own", "no axis"),
}


def title(function: Any) -> str:
    return getattr(function, "__name__", repr(function))


EACH_ARGUMENT = [
    pytest.param(function, given, name, id=f"{title(function)}-{name}")
    for function, given in CALLS
    for name in given
]


@pytest.mark.parametrize(("function", "given", "name"), EACH_ARGUMENT)
def test_what_is_wrong_is_named(function, given, name):
    taken = set()
    for kind, bad in wrong(function, name, given[name]).items():
        # Any other error than ours is one of this test.
        with contextlib.suppress(JudgelabError):
            function(**arguments(function, given) | {name: bad})
            taken.add(kind)
    right = {
        kind for who, what, kind in RIGHT if (who, what) == (title(function), name)
    }
    assert taken == right


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (
            lambda: agreement.krippendorff_alpha(
                VOTES, level="nominal", scale=[0, 1], counted=True, coverage=95
            ),
            "coverage is 95",
        ),
        (
            lambda: agreement.krippendorff_alpha(
                [["a", 1]], level="nominal", scale=[0, 1], counted=True
            ),
            "ratings has dtype",
        ),
        (lambda: significance.marginal_homogeneity([["a"]]), "table has dtype"),
        (lambda: significance.homogeneity_test([[1, -1]]), "counts has negative"),
        (
            lambda: intervals.from_standard_error(0.5, 0.1, 9, "t", freedom=0),
            "freedom is 0",
        ),
    ],
)
def test_the_name_is_that_of_the_argument(call, named):
    with pytest.raises(ValidationError, match=named):
        call()


def the_same_in_other_words(value: Any) -> list[Any]:
    """The same argument as other code might hold it."""
    if isinstance(value, bool | str):
        return []
    if isinstance(value, int):
        return [np.int16(value), np.uint64(value), float(value)]
    if isinstance(value, float):
        return [np.float64(value)]
    if not isinstance(value, np.ndarray):
        return []
    as_objects = value.astype(object)
    unmasked = np.ma.array(value, mask=False)
    same = [value.tolist(), as_objects, unmasked, np.asfortranarray(value)]
    if value.ndim < 3:
        frame = pd.DataFrame(value) if value.ndim == 2 else pd.Series(value)
        same += [frame, frame.convert_dtypes()]
    return same


@pytest.mark.parametrize(("function", "given", "name"), EACH_ARGUMENT)
def test_containers_do_not_matter(function, given, name):
    if function in (ranking.elo, ranking.elo_orders) and name in ("first", "second"):
        pytest.skip("positions are integers, names are anything")
    expected = function(**arguments(function, given))
    for same in the_same_in_other_words(given[name]):
        if name in ("rng", "players") and isinstance(same, float):
            continue
        found = function(**arguments(function, given) | {name: same})
        assert shown(found) == shown(expected), type(same)


def shown(result: Any) -> str:
    """Show a result in words, whichever type its numbers have."""
    return re.sub(r"np\.\w+\(([^()]*)\)", r"\1", repr(result))


def test_no_function_is_left_out():
    rooms = (agreement, correction, correlation, intervals, planning, position)
    rooms += (probes, ranking, significance, simulate, verdict)
    public = {
        name
        for room in rooms
        for name, value in vars(room).items()
        if inspect.isfunction(value)
        and value.__module__.startswith(room.__name__)
        and not name.startswith("_")
    }
    walked = {title(function) for function, _ in CALLS}
    assert public - walked - OF_FRAMES == set()
    assert not walked & OF_FRAMES


HIDDEN = np.ma.array([1, 2, 1], mask=[False, True, False])


@pytest.mark.parametrize(
    "call",
    [
        lambda: contingency_table([0, 1, 0], [0, 1, 0], scale=[0, 1], clusters=HIDDEN),
        lambda: agreement.krippendorff_alpha(
            VOTES[:3], level="nominal", scale=[0, 1], counted=True, clusters=HIDDEN
        ),
        lambda: probes.excess_credit(X[:3] / 3, Y[:3] / 3, clusters=HIDDEN, null="x"),
        lambda: correction.prediction_powered_mean(
            X[:3], Y[:3], X[3:], clusters=(HIDDEN, [4, 5, 6])
        ),
        lambda: ranking.rasch(SCORES[:, 3:], clusters=HIDDEN),
        lambda: ranking.elo(HIDDEN - 1, [1, 0, 1], [1, 1, 0], players=2),
    ],
)
def test_clusters_and_players_that_a_mask_hides_are_refused(call):
    with pytest.raises(ValidationError, match=r"masked in places|lacks 1 values"):
        call()


def test_rows_of_different_length_are_no_ratings():
    with pytest.raises(ValidationError, match="differ in length"):
        agreement.krippendorff_alpha([[0, 1], [1]], level="nominal", scale=[0, 1])


@pytest.mark.parametrize(
    "call",
    [
        lambda ranked: ranked.position([]),
        lambda ranked: ranked.difference(0, [1]),
        lambda ranked: ranked.difference(0, 1, level=95),
        lambda ranked: ranked.difference(0, 1, scale=["elo"]),
        lambda ranked: ranked.estimates(origin=math.nan),
        lambda ranked: ranked.estimates(origin="1500", scale="elo"),
        lambda ranked: ranked.estimates(anchor=[math.nan, 1, 0]),
        lambda ranked: ranked.estimates(anchor=["a", "b", "c"]),
        lambda ranked: ranked.ranks(level="a"),
        lambda ranked: ranked.ranks(adjust=[]),
        lambda ranked: ranked.probability_better(0, "nobody"),
    ],
)
def test_what_is_asked_of_a_ranking_is_checked(call):
    with pytest.raises(ValidationError):
        call(ranking.bradley_terry(WINS))


def test_names_that_cannot_be_told_apart_are_refused():
    with pytest.raises(ValidationError, match="list of names"):
        correlation.top_k_overlap(["A", ["B"]], ["A", "B"], k=1)
