"""Corrected win rates: published values, peers, brute force, edges, and coverage."""

import importlib.util
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from judgelab.correction import (
    correction_counts,
    n_labels_for_width,
    prediction_powered_mean,
    prediction_powered_share,
    rogan_gladen,
    sensitivity_and_specificity,
    settled_labels,
)
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.intervals import clustered_proportion, proportion
from judgelab.verdict import Verdict

TABLE, REST = [[54, 6], [12, 28]], [1320, 680]
ORACLE = json.loads(
    Path(__file__).with_name("oracles").joinpath("correction.json").read_text("utf-8")
)
Z = special.ndtri(0.975)

tables = st.lists(st.integers(1, 60), min_size=4, max_size=4).map(
    lambda cells: np.array(cells).reshape(2, 2)
)
rests = st.tuples(st.integers(1, 900), st.integers(1, 900))


def rows(table, rest):
    """Write counts as one score per item."""
    cells = np.asarray(table).ravel()
    return (
        np.repeat([1, 1, 0, 0], cells),
        np.repeat([1, 0, 1, 0], cells),
        np.repeat([1, 0], rest),
    )


# From records to counts


def votes(*rows):
    return pd.DataFrame(rows, columns=["judge", "item", "swapped", "verdict"])


RECORDS = votes(
    ("ann", "q1", False, "A"),
    ("bob", "q1", True, "B"),
    ("ann", "q2", False, "A"),
    ("bob", "q2", False, "B"),
    ("eve", "q2", True, "A"),
    ("ann", "q3", False, "TIE"),
    ("bob", "q3", False, "B"),
    ("ann", "q4", False, "INVALID"),
    ("bob", "q4", False, "A"),
    ("eve", "q4", False, "A"),
    ("ann", "q5", True, "TIE"),
    ("bob", "q5", False, "TIE"),
    ("ann", "q6", True, "A"),
    ("judge", "q9", False, "A"),
)


def test_settled_labels():
    found = settled_labels(RECORDS, people=["ann", "bob"], adjudicator="eve")
    assert found["item"].tolist() == ["q1", "q2", "q3", "q4", "q5", "q6"]
    assert [Verdict(code).name for code in found["label"]] == [
        *("A", "B", "MISSING", "MISSING", "TIE", "MISSING")
    ]
    assert found["how"].tolist() == [
        *("agreed", "adjudicated", "open", "open", "agreed", "open")
    ]
    assert found["bob"].tolist() == [0, 1, 1, 0, 2, Verdict.MISSING]


def test_without_an_adjudicator_differences_stay_open():
    found = settled_labels(RECORDS, people=["ann", "bob"])
    assert found.set_index("item").loc["q2", "how"] == "open"


def test_labels_do_not_depend_on_the_order_of_the_records():
    ways = [
        settled_labels(frame, people=["ann", "bob"], adjudicator="eve")
        for frame in (RECORDS, RECORDS.iloc[::-1])
    ]
    pd.testing.assert_frame_equal(*ways)


def test_labels_from_codes_and_other_engines():
    polars = pytest.importorskip("polars")
    wanted = {"people": ["ann", "bob"], "adjudicator": "eve"}
    expected = settled_labels(RECORDS, **wanted)
    coded = RECORDS.assign(verdict=[int(Verdict[v]) for v in RECORDS["verdict"]])
    for frame in (coded, polars.from_pandas(RECORDS)):
        pd.testing.assert_frame_equal(settled_labels(frame, **wanted), expected)


def test_people_are_checked():
    with pytest.raises(ValidationError, match="'zoe'"):
        settled_labels(RECORDS, people=["ann", "zoe"])
    for people in ([], ["ann", "ann"], ["ann", "eve"]):
        with pytest.raises(ValidationError, match="once"):
            settled_labels(RECORDS, people=people, adjudicator="eve")
    both = pd.concat([RECORDS, votes(("ann", "q1", True, "A"))])
    with pytest.raises(ValidationError, match="'ann' judged item 'q1' more than once"):
        settled_labels(both, people=["ann", "bob"])


def test_correction_counts():
    judged = pd.Series([True, True, False, False, True], list("abcde"))
    labels = pd.Series([False, True, True], list("cab"))
    table, rest = correction_counts(judged, labels)
    assert table.tolist() == [[2, 0], [0, 1]]
    assert rest == (1, 1)
    assert sum(rest) + table.sum() == judged.size


@pytest.mark.parametrize(
    ("judged", "labels", "message"),
    [
        (pd.Series([1.0], ["a"]), pd.Series([True], ["a"]), "judged are float64"),
        (pd.Series([True], ["a"]), pd.Series(["A"], ["a"]), "of true and false"),
        (pd.Series([True] * 2, ["a", "a"]), pd.Series([True], ["a"]), "several"),
        (pd.Series([True], ["a"]), pd.Series([True], ["b"]), r"1 labelled .*\['b'\]"),
    ],
)
def test_counts_refuse(judged, labels, message):
    with pytest.raises(ValidationError, match=message):
        correction_counts(judged, labels)


# Sensitivity, specificity, Rogan–Gladen


def test_error_rates():
    sensitivity, specificity = sensitivity_and_specificity(TABLE)
    assert sensitivity == proportion(54, 60)
    assert specificity == proportion(28, 40)


def test_rogan_gladen_by_hand():
    # .66 wins seen; (.66 + .70 − 1) / (.90 + .70 − 1) = .36 / .60
    assert rogan_gladen(TABLE, REST).value == pytest.approx(0.6)


def test_delta_is_the_textbook_formula():
    found = rogan_gladen(TABLE, REST, interval="delta")
    variance = 0.66 * 0.34 / 2000 + 0.6**2 * 0.9 * 0.1 / 60 + 0.4**2 * 0.7 * 0.3 / 40
    half = Z * math.sqrt(variance) / 0.6
    assert [found.low, found.high] == pytest.approx([0.6 - half, 0.6 + half])


def test_delta_is_the_numerical_gradient():
    def share(q, se, sp):
        return (q + sp - 1) / (se + sp - 1)

    at, sizes = np.array([0.66, 0.9, 0.7]), np.array([2000, 60, 40])
    slopes = [(share(*(at + h)) - share(*(at - h))) / 2e-6 for h in 1e-6 * np.eye(3)]
    error = math.sqrt(np.square(slopes) @ (at * (1 - at) / sizes))
    found = rogan_gladen(TABLE, REST, interval="delta")
    assert found.width == pytest.approx(2 * Z * error)


def test_lang_reiczigel_by_hand():
    q, n = (1320 + Z**2 / 2) / (2000 + Z**2), 2000 + Z**2
    se, sp = 55 / 62, 29 / 42
    p = (q + sp - 1) / (se + sp - 1)
    of_se, of_sp = se * (1 - se) / 62, sp * (1 - sp) / 42
    shift = 2 * Z**2 * (p * of_se - (1 - p) * of_sp)
    half = math.sqrt(q * (1 - q) / n + p**2 * of_se + (1 - p) ** 2 * of_sp)
    half *= Z / (se + sp - 1)
    found = rogan_gladen(TABLE, REST, interval="lang-reiczigel")
    assert [found.low, found.high] == pytest.approx(
        [p + shift - half, p + shift + half]
    )


@given(tables, rests)
def test_fieller_holds_the_shares_that_are_not_ruled_out(table, rest):
    """By brute force: try every share on a fine grid."""
    try:
        found = rogan_gladen(table, rest)
    except UndefinedStatistic:
        return
    q, n = (rest[0] + Z**2 / 2) / (sum(rest) + Z**2), sum(rest) + Z**2
    more = table + 1
    se, sp = more[0, 0] / more[0].sum(), more[1, 1] / more[1].sum()
    p = np.linspace(0, 1, 2001)
    variance = q * (1 - q) / n + p**2 * se * (1 - se) / more[0].sum()
    variance += (1 - p) ** 2 * sp * (1 - sp) / more[1].sum()
    kept = (q - p * se - (1 - p) * (1 - sp)) ** 2 <= Z**2 * variance
    assert ((p >= found.low - 1e-9) & (p <= found.high + 1e-9))[kept].all()
    outside = (p < found.low - 1e-9) | (p > found.high + 1e-9)
    assert not kept[outside].any()
    assert found.low <= found.value <= found.high


@pytest.mark.parametrize("n", [10**6, 10**9, 10**12, 10**15])
def test_fieller_nears_delta_with_many_counts(n):
    """Nothing cancels: both are asymptotically the same interval."""
    table = [[9 * n // 10, n // 10], [3 * n // 10, 7 * n // 10]]
    found, delta = (
        rogan_gladen(table, [2 * n // 3, n - 2 * n // 3], interval=way)
        for way in ("fieller", "delta")
    )
    assert found.width == pytest.approx(delta.width, rel=20 / math.sqrt(n) + 1e-6)


@given(tables, rests, st.sampled_from(["fieller", "lang-reiczigel", "delta"]))
def test_rogan_gladen_mirrors(table, rest, interval):
    """What is a win is a convention."""
    try:
        found = rogan_gladen(table, rest, interval=interval)
    except UndefinedStatistic:
        return
    other = rogan_gladen(np.flip(table), rest[::-1], interval=interval)
    assert found.value == pytest.approx(1 - other.value)
    assert found.low == pytest.approx(1 - other.high, abs=1e-9)
    assert found.high == pytest.approx(1 - other.low, abs=1e-9)
    assert 0 <= found.low <= found.value <= found.high <= 1


def test_a_perfect_judge_needs_no_correction():
    found = rogan_gladen([[5000, 0], [0, 5000]], [1200, 800], interval="delta")
    wald = 2 * Z * math.sqrt(0.6 * 0.4 / 2000)
    assert found.value == pytest.approx(0.6)
    assert found.width == pytest.approx(wald)


def test_rogan_gladen_is_cut_to_shares():
    # 25 % wins seen, and 30 % would be seen if there were none.
    found = rogan_gladen(TABLE, [25, 75])
    assert found.value == found.low == 0
    assert 0 < found.high < 0.3


@pytest.mark.parametrize("interval", ["fieller", "lang-reiczigel", "delta"])
def test_rogan_gladen_refuses_verdicts_that_no_share_explains(interval):
    for rest in ([10, 1990], [1999, 1]):
        with pytest.raises(UndefinedStatistic, match="errs otherwise"):
            rogan_gladen([[450, 50], [150, 350]], rest, interval=interval)


def test_the_interval_grows_as_the_judge_gets_useless():
    widths = [
        rogan_gladen([[50 + k, 50 - k], [50 - k, 50 + k]], [1000, 1000]).width
        for k in (45, 30, 15, 5, 1)
    ]
    assert widths == sorted(widths)
    assert widths[-1] == 1


@pytest.mark.parametrize("table", [[[30, 30], [20, 20]], [[10, 50], [30, 10]]])
def test_rogan_gladen_refuses_a_judge_that_tells_nothing(table):
    with pytest.raises(UndefinedStatistic, match="add up to at most 1"):
        rogan_gladen(table, REST)


@pytest.mark.parametrize(
    ("table", "word"), [([[0, 0], [12, 28]], "a win"), ([[54, 6], [0, 0]], "no win")]
)
def test_rogan_gladen_needs_both_labels(table, word):
    with pytest.raises(UndefinedStatistic, match=f"no item as {word}"):
        rogan_gladen(table, REST)


# Prediction-powered


@pytest.mark.parametrize("case", ORACLE["cases"])
def test_means_match_ppi_python(case):
    """The same estimate; its interval has n for n − 1 and z for t."""
    for weight, (value, low, high) in case["expected"].items():
        found = prediction_powered_mean(
            case["labels"],
            case["judged"],
            case["rest"],
            weight="tuned" if weight == "tuned" else float(weight),
        )
        assert found.value == pytest.approx(value, rel=1e-9)
        n = min(len(case["labels"]), len(case["rest"]))
        assert 1 < found.width / (high - low) < 1 + 2.5 / n


def test_mean_by_hand():
    people, judge, rest = (
        np.array([1, 0, 1, 1.0]),
        np.array([1, 0, 1, 0.5]),
        [1, 0, 0.5],
    )
    found = prediction_powered_mean(people, judge, rest, weight=1)
    assert found.value == pytest.approx(0.5 + 0.125)
    parts = np.var(people - judge, ddof=1) / 4, np.var(rest, ddof=1) / 3
    freedom = sum(parts) ** 2 / (parts[0] ** 2 / 3 + parts[1] ** 2 / 2)
    half = special.stdtrit(freedom, 0.975) * math.sqrt(sum(parts))
    assert found.width == pytest.approx(2 * half)


def test_labels_only_is_student():
    people = np.array([3, 5, 4, 2, 6.0])
    found = prediction_powered_mean(people, people + 1, [9, 9], weight=0)
    half = special.stdtrit(4, 0.975) * people.std(ddof=1) / math.sqrt(5)
    assert found.method == "labels only"
    assert [found.low, found.high] == pytest.approx([4 - half, 4 + half])


@given(tables, rests, st.sampled_from(["tuned", 0, 0.4, 1]))
def test_share_and_mean_are_one_estimate(table, rest, weight):
    share = prediction_powered_share(table, rest, weight=weight)
    mean = prediction_powered_mean(*rows(table, rest), weight=weight)
    assert share.value == pytest.approx(min(1, max(0, mean.value)))
    assert share.method == mean.method
    assert 0 <= share.low <= share.value <= share.high <= 1


@given(tables, rests)
def test_share_mirrors(table, rest):
    found = prediction_powered_share(table, rest)
    other = prediction_powered_share(np.flip(table), rest[::-1])
    assert found.value == pytest.approx(1 - other.value)
    assert found.low == pytest.approx(1 - other.high, abs=1e-9)


@given(tables, rests)
def test_tuning_finds_the_narrowest(table, rest):
    """By brute force over λ, with the covariance of PPI++ in the variance."""
    y, f, g = rows(table, rest)
    n, further = y.size, g.size
    spread = np.var(np.concatenate([f, g]), ddof=1)
    together = np.mean((y - y.mean()) * (f - f.mean()))
    grid = np.linspace(0, 1, 1001)
    variance = grid**2 * spread * (1 / n + 1 / further) - 2 * grid * together / n
    best = grid[variance.argmin()]
    found = prediction_powered_share(table, rest)
    same = prediction_powered_share(table, rest, weight=float(best))
    assert found.value == pytest.approx(same.value, abs=2e-3)


def test_agresti_min_when_the_rest_is_endless():
    """With λ = 1 the part of the labels is the paired interval of Agresti and Min."""
    found = prediction_powered_share(TABLE, [10**9, 10**9], weight=1)
    b, c, n = 6.5, 12.5, 102
    error = math.sqrt((b + c - (b - c) ** 2 / n) / (n * (n - 1)))
    assert found.width == pytest.approx(2 * Z * error, rel=1e-6)


def test_no_error_among_the_labels_is_no_certainty():
    table, rest = [[30, 0], [0, 20]], [1200, 800]
    plain = prediction_powered_mean(*rows(table, rest), weight=1)
    safe = prediction_powered_share(table, rest, weight=1)
    assert plain.width < 0.05 < 0.08 < safe.width


def test_a_judge_with_one_word_is_left_out():
    found = prediction_powered_share([[30, 0], [20, 0]], [2000, 0])
    assert (found.value, found.method) == (0.6, "labels only")


def test_a_judge_against_the_people_is_left_out():
    assert prediction_powered_share([[5, 45], [40, 10]], REST).method == "labels only"


def test_clusters_of_one_are_items():
    y, f, g = rows(TABLE, [132, 68])
    names = np.arange(100), np.arange(100, 300)
    found = prediction_powered_mean(y, f, g, weight=1, clusters=names)
    item = prediction_powered_mean(y, f, g, weight=1)
    assert found.value == item.value
    assert found.width == pytest.approx(item.width, rel=0.02)
    assert found.method.endswith("100 labelled clusters")


def test_clusters_of_copies_are_worth_one():
    y, f, g = rows(TABLE, [132, 68])
    names = np.arange(100), np.arange(100, 300)
    once = prediction_powered_mean(y, f, g, weight=0.5, clusters=names)
    thrice = [np.repeat(x, 3) for x in (y, f, g, *names)]
    copied = prediction_powered_mean(
        *thrice[:3], weight=0.5, clusters=(thrice[3], thrice[4])
    )
    assert copied.value == pytest.approx(once.value)
    assert copied.width == pytest.approx(once.width)


CLUSTERED = [prediction_powered_share, rogan_gladen]


@pytest.mark.parametrize("method", CLUSTERED)
def test_tables_of_one_item_each_are_items(method):
    """But for the quantile, which is Student's with many degrees of freedom."""
    tables = np.zeros((2100, 2, 2), int)
    cells = np.repeat([(0, 0), (0, 1), (1, 0), (1, 1)], np.ravel(TABLE), axis=0)
    tables[np.arange(100), cells[:, 0], cells[:, 1]] = 1
    verdicts = np.zeros((2100, 2), int)
    verdicts[100:1420, 0] = verdicts[1420:, 1] = 1
    found, item = method(tables, verdicts), method(TABLE, REST)
    assert found.value == pytest.approx(item.value)
    assert 1 < found.width / item.width < 1.03
    assert found.n == item.n
    assert found.method == f"{item.method}, 100 labelled clusters"


@pytest.mark.parametrize("method", CLUSTERED)
def test_tables_of_copies_are_worth_one(method):
    """Five times the same in every cluster tells as much as once."""
    rng = np.random.default_rng(1)
    cells = rng.choice(4, 200, p=[0.54, 0.06, 0.12, 0.28])
    tables = np.zeros((600, 2, 2), int)
    tables[:200] = np.eye(4, dtype=int)[cells].reshape(-1, 2, 2)
    verdicts = np.zeros((600, 2), int)
    verdicts[200:] = np.eye(2, dtype=int)[rng.choice(2, 400, p=[0.66, 0.34])]
    once, copied = method(tables, verdicts), method(5 * tables, 5 * verdicts)
    assert copied.value == pytest.approx(once.value, abs=1e-3)
    assert copied.width == pytest.approx(once.width, rel=0.02)


@pytest.mark.parametrize("method", CLUSTERED)
def test_tables_per_cluster_are_checked(method):
    tables, verdicts = np.array([TABLE] * 3), np.array([REST] * 3)
    for wrong in ((tables, REST), (TABLE, verdicts), (tables, verdicts[:2])):
        with pytest.raises(ValidationError, match="shape"):
            method(*wrong)
    tables[1:] = 0
    with pytest.raises(UndefinedStatistic, match="1 cluster has labels"):
        method(tables, verdicts)


@pytest.mark.parametrize("method", CLUSTERED)
def test_the_order_of_clusters_does_not_matter(method):
    rng = np.random.default_rng(2)
    tables = rng.multinomial(5, [0.5, 0.1, 0.1, 0.3], 12).reshape(-1, 2, 2)
    verdicts = rng.multinomial(9, [0.6, 0.4], 12)
    order = rng.permutation(12)
    one, other = method(tables, verdicts), method(tables[order], verdicts[order])
    assert one.low == pytest.approx(other.low)
    # Clusters of nothing are none.
    more = (
        np.concatenate([tables, tables[:2] * 0]),
        np.append(verdicts, [[0, 0]] * 2, 0),
    )
    assert method(*more).low == pytest.approx(one.low)


def test_shares_and_means_in_clusters_have_one_standard_error():
    """The same clusters, as counts and as rows; counts have half a pair more."""
    rng = np.random.default_rng(3)
    of = np.repeat(np.arange(60), 40)
    wins = rng.random(2400) < rng.beta(3, 2, 60)[of]
    said = wins ^ (rng.random(2400) < 0.15)
    has = rng.random(2400) < 0.5
    items = pd.RangeIndex(2400)
    judged, labels = pd.Series(said, items), pd.Series(wins, items)[has]
    clusters = pd.Series(of, items)
    counts = correction_counts(judged, labels, clusters=clusters)
    assert counts[0].shape == (60, 2, 2)
    summed = [part.sum(axis=0) for part in counts]
    plain = correction_counts(judged, labels)
    assert summed[0].tolist() == plain[0].tolist()
    assert tuple(summed[1]) == plain[1]
    share = prediction_powered_share(*counts, weight=0.6)
    mean = prediction_powered_mean(
        wins[has] * 1.0,
        said[has] * 1.0,
        said[~has] * 1.0,
        weight=0.6,
        clusters=(of[has], of[~has]),
    )
    assert share.value == pytest.approx(mean.value)
    assert share.width == pytest.approx(mean.width, rel=0.02)


def test_clusters_of_counts_are_checked():
    judged = pd.Series([True, False], ["a", "b"])
    labels = judged[["a"]]
    for clusters, message in (
        ([1, 2], "no pandas Series"),
        (pd.Series([1], ["a"]), r"1 judged items are in no cluster: \['b'\]"),
        (pd.Series([1, 2, 3], ["a", "b", "b"]), "one value per item"),
        (pd.Series([1, None], ["a", "b"]), "lacks 1 values"),
    ):
        with pytest.raises(ValidationError, match=message):
            correction_counts(judged, labels, clusters=clusters)


def test_clusters_may_have_items_of_both_kinds():
    """Labels only, the variance is the one of a clustered share."""
    y = np.array([1, 1, 0, 1, 0, 0])
    of = np.array(["a", "a", "b", "b", "c", "c"])
    found = prediction_powered_mean(y, y, [1, 0], weight=0, clusters=(of, ["a", "c"]))
    sums = np.array([2 * 0.5, 0, -2 * 0.5]) / 6
    half = special.stdtrit(2, 0.975) * math.sqrt(3 / 2 * sums @ sums)
    assert found.width == pytest.approx(2 * half)
    assert found.value == clustered_proportion([2, 1, 0], [2, 2, 2]).value


# Bad input


@pytest.mark.parametrize(
    ("table", "rest", "message"),
    [
        ([[1, 2, 3]], REST, "shape"),
        ([[54, 6], [12, -1]], REST, "whole counts"),
        ([[54, 6], [12, 0.5]], REST, "whole counts"),
        ([[54, 6], [12, math.nan]], REST, "whole counts"),
        ([[54, 6], [12, math.inf]], REST, "whole counts"),
        ([["a", 6], [12, 28]], REST, "table has dtype"),
        ([[54, 6], [12]], REST, "table .* rows of one length"),
        (TABLE, ["a", 1], "rest has dtype"),
        (TABLE, [1, 2, 3], "shape"),
        (TABLE, [1, -1], "whole counts"),
        (TABLE, [0, 0], "empty"),
    ],
)
@pytest.mark.parametrize("method", [rogan_gladen, prediction_powered_share])
def test_counts_are_checked(method, table, rest, message):
    with pytest.raises(ValidationError, match=message):
        method(table, rest)


@pytest.mark.parametrize(
    "weight", [-0.1, 1.1, math.nan, "best", None, np.array([0.1, 0.2])]
)
def test_weight_is_checked(weight):
    with pytest.raises(ValidationError, match="weight is"):
        prediction_powered_share(TABLE, REST, weight=weight)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ((["a", 0], [1, 0], [1, 0]), "labels has dtype"),
        (([1, 0], [1e200, 0], [1, 0]), r"judged are missing.* at \[0\]"),
        (([1, 0], [1, 0], [1]), "at least 2 of each"),
        (([1, 0], [1], [1]), "shapes"),
        (([1, math.nan], [1, 0], [1]), r"labels are missing or infinite at \[1\]"),
        (([1, 0], [math.inf, 0], [1]), r"judged are missing or infinite at \[0\]"),
        (([1, 0], [1, 0], [0, 1, math.nan]), r"rest are missing or infinite at \[2\]"),
        (([1], [1], [1, 0]), "at least 2 of each"),
        (([1, 0], [1, 0], []), "at least 2 of each"),
    ],
)
def test_scores_are_checked(arrays, message):
    with pytest.raises(ValidationError, match=message):
        prediction_powered_mean(*arrays)


@pytest.mark.parametrize("method", [rogan_gladen, prediction_powered_share])
def test_a_crosstab_that_starts_with_no_win_is_refused(method):
    """Silently it would be the share of the others."""
    people, judge, _ = rows(TABLE, REST)
    sorted_ = pd.crosstab(people == 1, judge == 1)
    with pytest.raises(ValidationError, match="no win before win"):
        method(sorted_, REST)
    turned = sorted_.iloc[::-1, ::-1]
    assert method(turned, REST) == method(TABLE, REST)
    assert method(pd.DataFrame(TABLE), REST) == method(TABLE, REST)


def test_series_in_different_orders_are_refused():
    people = pd.Series([1, 0, 1], list("abc"))
    judge = pd.Series([1, 0, 0], list("cba"))
    with pytest.raises(ValidationError, match="different indices"):
        prediction_powered_mean(people, judge, [1, 0])
    found = prediction_powered_mean(people, judge[people.index], [1, 0])
    assert found == prediction_powered_mean([1, 0, 1], [0, 0, 1], [1, 0])


@pytest.mark.parametrize("clusters", [None, ([1, 2, 3], [4, 5])])
def test_scores_without_spread_are_no_certainty(clusters):
    with pytest.raises(UndefinedStatistic, match="do not differ"):
        prediction_powered_mean([1, 1, 1], [1, 0, 1], [1, 0], clusters=clusters)


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        (([1, math.nan, math.nan], [3, 4]), r"no name at \[1, 2\]"),
        ((["a", "b", "b"], ["c", None]), r"no name at \[4\]"),
        (([1, 2, 3], ["1", "2"]), "numbers for one"),
    ],
)
def test_names_of_clusters_are_checked(clusters, message):
    with pytest.raises(ValidationError, match=message):
        prediction_powered_mean([1, 0, 1], [1, 0, 0], [1, 0], clusters=clusters)


def test_other_arguments_are_checked():
    with pytest.raises(ValidationError, match="level is 1"):
        rogan_gladen(TABLE, REST, level=1)
    with pytest.raises(ValidationError, match="judged are list"):
        correction_counts([True], pd.Series([True], ["a"]))
    with pytest.raises(ValidationError, match="interval is 'wald'"):
        rogan_gladen(TABLE, REST, interval="wald")
    with pytest.raises(ValidationError, match="level is 95"):
        rogan_gladen(TABLE, REST, level=95)
    with pytest.raises(ValidationError, match="1 items have labels"):
        prediction_powered_share([[1, 0], [0, 0]], REST)
    with pytest.raises(ValidationError, match="clusters have shapes"):
        prediction_powered_mean([1, 0], [1, 0], [1, 0], clusters=([1], [2]))
    with pytest.raises(UndefinedStatistic, match="one cluster"):
        prediction_powered_mean([1, 0], [1, 0], [1, 0], clusters=([1, 1], [2, 3]))


# Planning

JUDGE = {"share": 0.6, "sensitivity": 0.9, "specificity": 0.85}


@pytest.mark.parametrize("method", ["prediction-powered", "rogan-gladen"])
@pytest.mark.parametrize("rest", [1500, 20_000])
def test_the_plan_gives_the_width(method, rest):
    """Large counts that are exactly as expected have the planned interval."""
    width = 0.07
    n = n_labels_for_width(width, **JUDGE, rest=rest, method=method)
    table = np.rint(n * np.array([[0.54, 0.06], [0.06, 0.34]]))
    seen = round(rest * 0.6)
    if method == "rogan-gladen":
        found = rogan_gladen(table, [seen, rest - seen], interval="delta")
    else:
        found = prediction_powered_share(table, [seen, rest - seen])
    assert found.width == pytest.approx(width, rel=0.03)


def test_a_plan_for_labels_only_needs_no_judge():
    n = n_labels_for_width(0.1, **JUDGE, method="labels only")
    # Wald's 0.24·(2z/width)², less what a little of the prior knowledge saves.
    assert n == pytest.approx(0.24 * (2 * Z / 0.1) ** 2, abs=2)
    useless = n_labels_for_width(0.1, share=0.6, sensitivity=0.5, specificity=0.5)
    assert useless == n


def test_more_verdicts_save_labels_up_to_a_limit():
    needed = [
        n_labels_for_width(0.1, **JUDGE, rest=rest)
        for rest in (1, 100, 1000, 10_000, math.inf)
    ]
    assert needed == sorted(needed, reverse=True)
    assert needed[0] <= n_labels_for_width(0.1, **JUDGE, method="labels only")


def test_an_endless_rest_is_the_limit():
    """In the plain form of the root everything cancels, and 2 labels are enough."""
    endless = n_labels_for_width(0.1, **JUDGE)
    for rest in (1e12, 1e16, 1e20, 1e300):
        assert n_labels_for_width(0.1, **JUDGE, rest=rest) == endless


@pytest.mark.parametrize("method", ["prediction-powered", "labels only"])
@pytest.mark.parametrize("rates", [(1, 1), (0.98, 0.95), (0.7, 0.6)])
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_planned_labels_give_the_width_on_average(method, rates, share):
    """Also where hardly an error of the judge is to be expected."""
    rng = np.random.default_rng(1)
    (se, sp), width, rest = rates, 0.15, 1000
    plan = {"share": share, "sensitivity": se, "specificity": sp, "rest": rest}
    n = n_labels_for_width(width, **plan, method=method)
    cells = [share * se, share * (1 - se), (1 - share) * (1 - sp), (1 - share) * sp]
    weight = 0 if method == "labels only" else "tuned"
    widths = []
    for _ in range(200):
        table = rng.multinomial(n, cells).reshape(2, 2)
        seen = rng.binomial(rest, cells[0] + cells[2])
        counts = table, [seen, rest - seen]
        widths.append(prediction_powered_share(*counts, weight=weight).width)
    assert np.mean(widths) == pytest.approx(width, rel=0.08)


@pytest.mark.parametrize("rates", [(0.98, 0.95), (0.9, 0.8)])
def test_planned_labels_for_rogan_gladen_give_the_median_width(rates):
    rng = np.random.default_rng(2)
    (se, sp), share, width, rest = rates, 0.3, 0.15, 2000
    plan = {"share": share, "sensitivity": se, "specificity": sp, "rest": rest}
    n = n_labels_for_width(width, **plan, method="rogan-gladen")
    cells = [share * se, share * (1 - se), (1 - share) * (1 - sp), (1 - share) * sp]
    widths = []
    for _ in range(200):
        table = rng.multinomial(n, cells).reshape(2, 2)
        seen = rng.binomial(rest, cells[0] + cells[2])
        widths.append(rogan_gladen(table, [seen, rest - seen]).width)
    assert np.median(widths) == pytest.approx(width, rel=0.08)


def test_a_plan_for_rogan_gladen_holds_wins_and_others():
    rare = {"share": 0.01, "sensitivity": 1, "specificity": 1, "rest": 10_000}
    assert n_labels_for_width(0.5, **rare, method="rogan-gladen") == 300
    assert n_labels_for_width(0.5, **rare) < 300


def test_plans_that_nobody_can_carry_out():
    with pytest.raises(UndefinedStatistic, match="labels are needed"):
        n_labels_for_width(1e-300, **JUDGE)
    with pytest.raises(UndefinedStatistic, match="no number of labels"):
        n_labels_for_width(0.05, **JUDGE, rest=500, method="rogan-gladen")
    with pytest.raises(UndefinedStatistic, match="labels are needed"):
        n_labels_for_width(1e-6, **JUDGE)
    for wrong in ({"width": 0}, {"share": 1}, {"sensitivity": 1.1}, {"rest": 0}):
        with pytest.raises(ValidationError, match=next(iter(wrong))):
            n_labels_for_width(**{"width": 0.1, **JUDGE, **wrong})
    with pytest.raises(ValidationError, match="method is 'magic'"):
        n_labels_for_width(0.1, **JUDGE, method="magic")


# Coverage


@pytest.fixture(scope="module")
def benchmark():
    path = Path(__file__).parents[1] / "benchmarks" / "coverage_correction.py"
    spec = importlib.util.spec_from_file_location("coverage_correction", path)
    study = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(study)
    return study


def test_coverage(benchmark):
    """Short version of benchmarks/coverage_correction.py."""
    chosen = [
        case
        for case in benchmark.cases()
        if case["judge"] == "lenient" and case["labels"] == 100
        if case["case"] != "same" or case["share"] == 0.5
    ]
    found = {
        (row["case"], row["way"]): row["coverage"]
        for row in benchmark.study(400, chosen, seed=1)
    }
    # 400 runs: the standard error of a coverage of .95 is .011.
    for way in ("powered, tuned", "powered, λ = 1", "Rogan–Gladen, fieller"):
        assert 0.92 <= found["same", way] <= 0.99
    assert found["same", "judge only"] < 0.01
    # Another share of wins among the labelled items, the same judge.
    assert found["more wins", "Rogan–Gladen, fieller"] > 0.92
    assert found["more wins", "powered, tuned"] < 0.6
    # A judge that is worse where there are no labels.
    assert found["harder", "Rogan–Gladen, fieller"] < 0.9


def test_coverage_with_clusters(benchmark):
    """Items of one question resemble each other: only clusters know that."""
    found = benchmark.clustered(300, seed=2)
    # 300 runs: the standard error of .94 is .014, of the .92 of few clusters .016.
    least = {15: 0.87, 40: 0.9}
    assert all(least[row["labelled"]] <= row["clusters"] <= 0.99 for row in found)
    assert all(row["items"] < row["clusters"] for row in found)


def test_coverage_of_shares_with_clusters(benchmark):
    found = benchmark.shares_in_clusters(60, seed=4)
    for method in ("prediction_powered_share", "rogan_gladen"):
        kept, summed = (
            np.array([row[f"{method}, {unit}"] for row in found])
            for unit in ("clusters", "items")
        )
        # 60 runs: the standard error of a coverage of .95 is .03, of the mean .004.
        assert kept.min() > 0.85
        assert kept.mean() > 0.95
        assert summed.mean() < kept.mean() - 0.03
