"""Many judges: against published values, peers, brute force, and simulated coverage."""

import json
from pathlib import Path

import krippendorff
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from statsmodels.stats.inter_rater import fleiss_kappa as peer_fleiss

from judgelab.agreement import (
    brennan_prediger,
    fleiss_kappa,
    krippendorff_alpha,
    randolph_kappa,
    scott_pi,
)
from judgelab.counts import category_counts, contingency_table, pairs_as_items
from judgelab.errors import UndefinedStatistic, ValidationError

ORACLES = {
    vector["id"]: vector
    for vector in json.loads(
        (Path(__file__).parent / "oracles" / "agreement.json").read_text()
    )["vectors"]
}
LEVELS = ("nominal", "ordinal", "interval", "ratio")
JURY = np.array(ORACLES["kripp_4x12_missing"]["ratings_rater_by_item"], dtype=float).T
SCALE = (1, 2, 3, 4, 5)


@st.composite
def ratings(draw, categories=4):
    """Items × raters on the scale 1..categories with gaps, at least two values used."""
    shape = draw(st.tuples(st.integers(2, 12), st.integers(2, 5)))
    labels = st.sampled_from([*map(float, range(1, categories + 1)), np.nan])
    matrix = draw(arrays(float, shape, elements=labels))
    pairable = matrix[(~np.isnan(matrix)).sum(1) >= 2]
    assume(np.unique(pairable[~np.isnan(pairable)]).size >= 2)
    return matrix


# Published worked examples


@pytest.mark.parametrize(
    ("level", "printed"),
    [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)],
)
def test_krippendorffs_own_example(level, printed):
    """Ordinal is .815 as Krippendorff prints it; some programs say .834."""
    alpha = krippendorff_alpha(JURY, level=level, scale=SCALE)
    assert alpha.value == pytest.approx(printed, abs=5e-4)
    exact = ORACLES["kripp_4x12_missing"]["expected"][level]
    assert alpha.value == pytest.approx(exact, abs=1e-11)
    # Item 12 has one rating: nothing to pair.
    assert alpha.n == 11


def test_fleiss_and_randolph_on_the_manuals_example():
    vector = ORACLES["fleiss_10x5_14raters"]
    counts, expected = vector["counts"], vector["expected"]
    assert fleiss_kappa(counts).value == pytest.approx(expected["fleiss_kappa"])
    assert randolph_kappa(counts).value == pytest.approx(expected["randolph_kappa"])
    alpha = krippendorff_alpha(counts, level="nominal", scale=range(5), counted=True)
    assert alpha.value == pytest.approx(expected["krippendorff_alpha_nominal"])


@pytest.mark.parametrize("name", ["willia-umbrela1", "RMITIR-llama70B"])
def test_llmjudge_submissions_from_their_tables(name):
    vector = ORACLES[f"llmjudge_{name}"]
    counts, repeats = pairs_as_items(vector["table"])
    for level in ("nominal", "ordinal", "interval"):
        alpha = krippendorff_alpha(
            counts, level=level, scale=range(4), counted=True, repeats=repeats
        )
        expected = vector["expected"][f"krippendorff_alpha_{level}"]
        assert alpha.value == pytest.approx(expected, abs=1e-11)
        assert alpha.n == 4423


def test_pair_of_raters_from_labels():
    vector = ORACLES["relevance_4point_pair"]
    pairs = np.array([vector["first"], vector["second"]]).T
    for level in LEVELS:
        alpha = krippendorff_alpha(pairs, level=level, scale=vector["scale"])
        expected = vector["expected"][f"krippendorff_alpha_{level}"]
        assert alpha.value == pytest.approx(expected, abs=1e-11)


# Peers on random inputs


@given(ratings(), st.sampled_from(LEVELS))
def test_alpha_against_krippendorff(matrix, level):
    ours = krippendorff_alpha(matrix, level=level, scale=(1, 2, 3, 4)).value
    peer = krippendorff.alpha(
        matrix.T, level_of_measurement=level, value_domain=[1, 2, 3, 4]
    )
    assert ours == pytest.approx(peer, abs=1e-9)


@given(
    st.integers(2, 6).flatmap(
        lambda raters: st.lists(
            st.lists(st.integers(0, 2), min_size=raters, max_size=raters),
            min_size=2,
            max_size=20,
        )
    )
)
def test_kappas_against_statsmodels(matrix):
    counts = category_counts(matrix, scale=range(3))
    assume(np.count_nonzero(counts.sum(0)) > 1)
    fleiss, randolph = (peer_fleiss(counts, how) for how in ("fleiss", "randolph"))
    assert fleiss_kappa(counts).value == pytest.approx(fleiss, abs=1e-10)
    assert randolph_kappa(counts).value == pytest.approx(randolph, abs=1e-10)


# Properties


@given(ratings(), st.sampled_from(LEVELS), st.randoms(use_true_random=False))
def test_order_of_items_and_raters_and_gaps_are_no_news(matrix, level, random):
    options = {"level": level, "scale": SCALE[:4]}
    ours = krippendorff_alpha(matrix, **options)
    rows, columns = list(range(matrix.shape[0])), list(range(matrix.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    gaps = np.full((matrix.shape[0], 1), np.nan)
    for other in (
        matrix[rows],
        matrix[:, columns],
        np.hstack([matrix, gaps]),
        np.vstack([matrix, np.full(matrix.shape[1], np.nan)]),
    ):
        twin = krippendorff_alpha(other, **options)
        assert twin.value == pytest.approx(ours.value, abs=1e-9)
        assert (twin.low, twin.high) == pytest.approx(
            (ours.low, ours.high), abs=1e-6, nan_ok=True
        )
        assert twin.n == ours.n


@given(ratings())
def test_alpha_follows_its_level_of_measurement(matrix):
    def alpha(values, level):
        table = np.array([np.nan, *values])
        codes = np.nan_to_num(matrix, nan=0).astype(int)
        return krippendorff_alpha(table[codes], level=level, scale=values).value

    plain = (1.0, 2.0, 3.0, 4.0)
    assert alpha((7, 1, 9, 3), "nominal") == pytest.approx(alpha(plain, "nominal"))
    assert alpha((1, 5, 6, 60), "ordinal") == pytest.approx(alpha(plain, "ordinal"))
    assert alpha((4, 3, 2, 1), "ordinal") == pytest.approx(alpha(plain, "ordinal"))
    assert alpha((7, 9, 11, 13), "interval") == pytest.approx(alpha(plain, "interval"))
    assert alpha((3, 6, 9, 12), "ratio") == pytest.approx(alpha(plain, "ratio"))


@given(ratings(), st.sampled_from(LEVELS), st.sampled_from(["score", "asymptotic"]))
def test_patterns_with_repeats_are_rows(matrix, level, interval):
    counts = category_counts(matrix, scale=SCALE[:4])
    repeats = np.arange(len(counts)) % 3
    rows = np.repeat(counts, repeats, axis=0)
    assume((rows.sum(1) >= 2).sum() >= 2)
    assume(np.count_nonzero(rows[rows.sum(1) >= 2].sum(0)) >= 2)
    options = {
        "level": level,
        "scale": SCALE[:4],
        "counted": True,
        "interval": interval,
    }
    short = krippendorff_alpha(counts, repeats=repeats, **options)
    long = krippendorff_alpha(rows, **options)
    assert short.value == pytest.approx(long.value, abs=1e-9)
    assert (short.low, short.high) == pytest.approx((long.low, long.high), abs=1e-6)


@given(ratings(), st.sampled_from(LEVELS))
def test_bounds_hold_the_value(matrix, level):
    alpha = krippendorff_alpha(matrix, level=level, scale=SCALE[:4])
    if alpha.n > 1:
        assert -1 - 1e-9 <= alpha.low <= alpha.value <= alpha.high <= 1 + 1e-9


@given(arrays(np.int64, (3, 3), elements=st.integers(0, 30)))
def test_two_raters_are_scott_and_brennan_prediger(table):
    assume(np.count_nonzero(table.sum(0) + table.sum(1)) > 1 and table.sum() > 1)
    counts, repeats = pairs_as_items(table)
    fleiss, randolph = (
        f(counts, repeats=repeats, interval="asymptotic")
        for f in (fleiss_kappa, randolph_kappa)
    )
    assert fleiss.value == pytest.approx(scott_pi(table).value, abs=1e-9)
    assert randolph.value == pytest.approx(brennan_prediger(table).value, abs=1e-9)


def test_standard_error_is_that_of_scott_for_two_raters():
    table = np.array([[400, 80, 20], [60, 300, 40], [10, 50, 240]])
    counts, repeats = pairs_as_items(table)
    ours = fleiss_kappa(counts, repeats=repeats, interval="asymptotic")
    pairs = scott_pi(table, interval="asymptotic")
    assert (ours.low, ours.high) == pytest.approx((pairs.low, pairs.high), abs=1e-3)


@pytest.mark.parametrize("level", LEVELS)
def test_standard_error_is_the_infinitesimal_jackknife(level):
    """Numeric derivatives in the weight of every item, squared and summed."""
    rng = np.random.default_rng(0)
    counts = rng.multinomial(4, [0.4, 0.3, 0.2, 0.1], size=30)
    counts[3], counts[7] = [1, 1, 0, 0], [0, 2, 1, 0]
    copies = 20_000

    def alpha(extra):
        repeats = np.full(30, copies)
        repeats[item] += extra
        return krippendorff_alpha(
            counts, level=level, scale=(1, 2, 4, 7), counted=True, repeats=repeats
        ).value

    influence = np.empty(30)
    for item in range(30):
        influence[item] = (alpha(1) - alpha(-1)) / 2
    error = np.sqrt((copies * influence**2).sum())
    estimate = krippendorff_alpha(
        counts,
        level=level,
        scale=(1, 2, 4, 7),
        counted=True,
        repeats=np.full(30, copies),
        interval="asymptotic",
    )
    half = estimate.value - estimate.low
    assert half == pytest.approx(1.959964 * error, rel=1e-4)


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_bootstrap_agrees_with_the_delta_method_where_both_hold(level):
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 5, 2000)
    own = rng.integers(1, 5, (2000, 3))
    matrix = np.where(rng.random((2000, 3)) < 0.7, truth[:, None], own).astype(float)
    matrix[rng.random(matrix.shape) < 0.2] = np.nan
    options = {"level": level, "scale": (1, 2, 3, 4)}
    drawn = krippendorff_alpha(
        matrix, interval="bootstrap", resamples=5000, rng=1, **options
    )
    delta = krippendorff_alpha(matrix, interval="asymptotic", **options)
    score = krippendorff_alpha(matrix, **options)
    assert (drawn.low, drawn.high) == pytest.approx((delta.low, delta.high), abs=4e-3)
    assert (score.low, score.high) == pytest.approx((delta.low, delta.high), abs=4e-3)


# Traps and edges


def test_uniform_random_ratings_are_near_zero():
    matrix = np.random.default_rng(2).integers(1, 6, (20_000, 5))
    for level in LEVELS:
        alpha = krippendorff_alpha(matrix, level=level, scale=SCALE)
        assert alpha.value == pytest.approx(0, abs=0.01)
        assert alpha.low < 0 < alpha.high


def test_ratings_all_alike_are_undefined():
    for statistic in (
        lambda **k: krippendorff_alpha(
            [[2, 2], [2, 2]], level="ordinal", scale=SCALE, **k
        ),
        lambda **k: fleiss_kappa([[3, 0], [3, 0]], **k),
    ):
        with pytest.raises(UndefinedStatistic, match="one category"):
            statistic()
        estimate = statistic(undefined="nan")
        assert np.isnan(estimate.value)
        assert "one category" in estimate.reason


def test_nothing_pairable_is_undefined():
    lonely = [[1, np.nan], [np.nan, 2], [np.nan, np.nan]]
    with pytest.raises(UndefinedStatistic, match="two ratings"):
        krippendorff_alpha(lonely, level="nominal", scale=(1, 2))
    estimate = krippendorff_alpha(
        lonely, level="nominal", scale=(1, 2), undefined="nan"
    )
    assert estimate.n == 0


def test_none_is_missing_and_no_category():
    with_none = [["a", "a", None], ["b", None, "b"], ["a", "b", "b"]]
    ours = krippendorff_alpha(with_none, level="nominal", scale=["a", "b"])
    codes = [[0, 0, -1], [1, -1, 1], [0, 1, 1]]
    coded = krippendorff_alpha(codes, level="nominal", scale=[0, 1], missing_code=-1)
    assert ours == coded


@pytest.mark.parametrize("interval", ["score", "asymptotic", "bootstrap"])
def test_one_item_has_a_value_and_no_interval(interval):
    """A bootstrap of one item would always draw the same and look certain."""
    alpha = krippendorff_alpha(
        [[1, 2, 2]], level="nominal", scale=(1, 2), interval=interval, rng=0
    )
    assert alpha.value == pytest.approx(0, abs=1e-15)
    assert np.isnan(alpha.low)


def test_full_agreement_of_few_items_has_an_interval():
    alpha = krippendorff_alpha(
        [[1, 1]] * 4 + [[2, 2]] * 4, level="nominal", scale=(1, 2)
    )
    assert alpha.value == alpha.high == 1
    assert alpha.low < 0.7


def test_unequal_numbers_of_ratings():
    with pytest.raises(ValidationError, match=r"items \[1\] have \[2\]"):
        fleiss_kappa([[3, 0], [1, 1], [0, 3]])


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"level": "cardinal", "scale": SCALE}, "level is 'cardinal'"),
        ({"level": 0.95, "scale": SCALE}, "coverage"),
        ({"level": "nominal", "scale": list("abcde")}, "not on the scale"),
        ({"level": "nominal", "scale": (1, 2, 3)}, r"not on the scale.* 4.0"),
        ({"level": "nominal", "scale": range(4), "counted": True}, "whole numbers"),
        ({"level": "nominal", "scale": SCALE, "interval": "exact"}, "interval is"),
        ({"level": "nominal", "scale": SCALE, "coverage": 95}, "coverage is 95"),
    ],
)
def test_bad_arguments(arguments, match):
    with pytest.raises(ValidationError, match=match):
        krippendorff_alpha(JURY, **arguments)


def test_scales_that_do_not_fit_their_level():
    with pytest.raises(ValidationError, match="scale of numbers"):
        krippendorff_alpha([["a", "b"]], level="interval", scale=["a", "b"])
    with pytest.raises(ValidationError, match="without negative"):
        krippendorff_alpha([[-1, 1]], level="ratio", scale=[-1, 1])
    with pytest.raises(ValidationError, match="3 columns, the scale 2"):
        krippendorff_alpha([[1, 1, 0]], level="nominal", scale=[0, 1], counted=True)


@pytest.mark.parametrize(
    ("counts", "repeats", "match"),
    [
        ([1, 2], None, "shape"),
        ([["a", "b"]], None, "dtype"),
        ([[1, -1]], None, r"rows \[0\]"),
        ([[1, 1]], [1, 2], "repeats"),
        ([[1, 1]], [0.5], "repeats"),
        ([[1, 1]], [np.inf], "repeats"),
        ([[np.inf, 1], [1, 1]], None, r"rows \[0\]"),
        ([[1, 1], [np.nan, 1]], None, r"rows \[1\]"),
        ([[9, 0], [1, 2], [2, 2]], [0, 1, 1], r"item 1 has 3 .*\[2\] have \[4\]"),
    ],
)
def test_bad_counts(counts, repeats, match):
    with pytest.raises(ValidationError, match=match):
        fleiss_kappa(counts, repeats=repeats)


def test_options_are_checked_also_where_they_play_no_part():
    for option in ({"interval": "exact"}, {"coverage": 95}, {"undefined": "zero"}):
        with pytest.raises(ValidationError, match=r"^(interval|coverage|undefined) "):
            krippendorff_alpha([[1, 2]], level="nominal", scale=[1, 2], **option)
    with pytest.raises(ValidationError, match="finite numbers"):
        krippendorff_alpha([[1, 2]], level="interval", scale=[1, 2, np.inf])


def test_the_usual_interval_stays_in_the_range_of_the_coefficient():
    counts = [[1, 1], [1, 1], [1, 1], [2, 0]]
    assert fleiss_kappa(counts, interval="asymptotic").low == -1


def test_huge_and_nullable_counts():
    counts = np.array([[2, 1], [1, 2], [3, 0]])
    # With very many raters, two of an item are as good as drawn with replacement.
    shares, items = counts.sum(0) / counts.sum(), counts / 3
    by_hand = 1 - (1 - (items**2).sum(1).mean()) / (1 - (shares**2).sum())
    assert fleiss_kappa(counts * 2**50).value == pytest.approx(by_hand, abs=1e-9)
    nullable = pd.DataFrame(counts, dtype="Int64")
    assert fleiss_kappa(nullable) == fleiss_kappa(counts)


# Coverage


def simulate(rng, items, raters, share_clear, shares):
    """Counts of raters who see the truth with some probability, and guess otherwise."""
    k = len(shares)
    truth = rng.choice(k, items, p=shares)
    guess = rng.choice(k, (items, raters), p=shares)
    sees = rng.random((items, raters)) < np.sqrt(share_clear)
    return category_counts(np.where(sees, truth[:, None], guess), scale=range(k))


def coverage(level, interval, items, raters, share_clear, shares, runs=200):
    """Share of simulated data sets whose 95 % interval holds the true alpha."""
    rng = np.random.default_rng(3)
    options = {"level": level, "scale": range(len(shares)), "counted": True}
    big = simulate(rng, 100_000, raters, share_clear, shares)
    truth = krippendorff_alpha(big, **options).value
    held = []
    for _ in range(runs):
        alpha = krippendorff_alpha(
            simulate(rng, items, raters, share_clear, shares),
            interval=interval,
            undefined="nan",
            **options,
        )
        if not np.isnan(alpha.value):
            held.append(alpha.low <= truth <= alpha.high)
    return np.mean(held)


@pytest.mark.parametrize("level", ["nominal", "ordinal"])
@pytest.mark.parametrize("share_clear", [0.0, 0.6, 0.9])
@pytest.mark.parametrize(("items", "raters"), [(20, 3), (60, 8)])
def test_score_interval_covers(level, items, raters, share_clear):
    # 200 runs: the standard error of a coverage of .95 is .015.
    assert (
        coverage(level, "score", items, raters, share_clear, [0.4, 0.3, 0.2, 0.1]) > 0.9
    )


def test_the_usual_interval_does_not_cover_with_few_items_and_a_rare_category():
    """Why it is not the default; the docstring says so."""
    arguments = (20, 3, 0.9, [0.9, 0.1])
    assert coverage("nominal", "asymptotic", *arguments) < 0.6
    assert coverage("nominal", "score", *arguments) > 0.9


def test_labels_to_table_to_alpha():
    rng = np.random.default_rng(4)
    first, second = rng.integers(0, 3, (2, 50))
    counts, repeats = pairs_as_items(contingency_table(first, second, scale=range(3)))
    by_table = krippendorff_alpha(
        counts, level="ordinal", scale=range(3), counted=True, repeats=repeats
    )
    by_rows = krippendorff_alpha(
        np.column_stack([first, second]), level="ordinal", scale=range(3)
    )
    assert by_table.value == pytest.approx(by_rows.value, abs=1e-12)
    assert by_table.low == pytest.approx(by_rows.low, abs=1e-9)


# Clusters


def in_clusters(rng, clusters=25, size=40, spread=1.5):
    """Two raters whose agreement differs from cluster to cluster."""
    group = np.repeat(np.arange(clusters), size)
    quality = 1 / (1 + np.exp(-rng.normal(0.5, spread, clusters)))
    truth = rng.choice(4, group.size, p=[0.45, 0.28, 0.18, 0.09])
    own = rng.integers(0, 4, group.size)
    second = np.where(rng.random(group.size) < quality[group], truth, own)
    return np.column_stack([truth, second]), group


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval"])
def test_clusters_give_the_interval_of_the_cluster_bootstrap(level):
    ratings, group = in_clusters(np.random.default_rng(0), clusters=200)
    options = {"level": level, "scale": range(4), "clusters": group}
    score = krippendorff_alpha(ratings, **options)
    delta = krippendorff_alpha(ratings, interval="asymptotic", **options)
    drawn = krippendorff_alpha(ratings, interval="bootstrap", rng=1, **options)
    alone = krippendorff_alpha(ratings, level=level, scale=range(4))
    assert score.value == alone.value
    assert score.method == "score interval over 200 clusters"
    for other in (delta, drawn):
        assert (score.low, score.high) == pytest.approx(
            (other.low, other.high), abs=6e-3
        )
    assert score.width > 1.5 * alone.width


def test_clusters_of_one_item_are_items():
    ratings, _ = in_clusters(np.random.default_rng(1), clusters=10)
    options = {"level": "ordinal", "scale": range(4)}
    alone = krippendorff_alpha(ratings, **options)
    single = krippendorff_alpha(ratings, clusters=np.arange(len(ratings)), **options)
    assert (single.low, single.high) == pytest.approx((alone.low, alone.high), abs=1e-3)


def test_patterns_in_clusters_are_rows_in_clusters():
    ratings, group = in_clusters(np.random.default_rng(2), clusters=6, size=30)
    options = {"level": "ordinal", "scale": range(4)}
    tables = contingency_table(*ratings.T, scale=range(4), clusters=group)
    items = np.concatenate([pairs_as_items(table)[0] for table in tables])
    repeats = np.concatenate([pairs_as_items(table)[1] for table in tables])
    short = krippendorff_alpha(
        items,
        counted=True,
        repeats=repeats,
        clusters=np.repeat(np.arange(6), len(items) // 6),
        **options,
    )
    long = krippendorff_alpha(ratings, clusters=group, **options)
    assert (short.value, short.low, short.high) == pytest.approx(
        (long.value, long.low, long.high), abs=1e-9
    )


def test_one_cluster_has_no_interval():
    ratings, _ = in_clusters(np.random.default_rng(3), clusters=2)
    with pytest.raises(ValidationError, match="one cluster"):
        krippendorff_alpha(
            ratings, level="ordinal", scale=range(4), clusters=np.zeros(len(ratings))
        )
    with pytest.raises(ValidationError, match="one cluster per unit"):
        krippendorff_alpha(ratings, level="ordinal", scale=range(4), clusters=[1, 2])


def test_the_clustered_interval_covers():
    rng = np.random.default_rng(4)
    truth, _ = in_clusters(rng, clusters=40_000, size=10)
    options = {"level": "ordinal", "scale": range(4)}
    goal = krippendorff_alpha(truth, interval="asymptotic", **options).value
    held = {"clustered": 0, "items": 0}
    for _ in range(300):
        ratings, group = in_clusters(rng)
        for name, clusters in (("clustered", group), ("items", None)):
            alpha = krippendorff_alpha(ratings, clusters=clusters, **options)
            held[name] += alpha.low <= goal <= alpha.high
    assert held["clustered"] >= 0.92 * 300
    assert held["items"] < 0.8 * 300


# Names without a meaning: which answer is A


@st.composite
def pairwise_votes(draw):
    """Items × judges: 0 (A), 1 (B), 2 (tie), or a gap; and some items to rename."""
    shape = draw(st.tuples(st.integers(2, 8), st.integers(2, 4)))
    votes = draw(arrays(float, shape, elements=st.sampled_from([0, 1, 2, np.nan])))
    pairable = votes[(~np.isnan(votes)).sum(1) >= 2]
    assume(np.isin(pairable, (0, 1)).any())
    return votes, draw(arrays(bool, shape[0]))


def renamed(votes, items, names=(1, 0, 2)):
    """Exchange the names of the categories on some of the items."""
    known = np.nan_to_num(votes).astype(int)
    other = np.where(np.isnan(votes), np.nan, np.array(names)[known])
    return np.where(items[:, None], other, votes)


@given(pairwise_votes(), st.sampled_from(["score", "asymptotic", "bootstrap"]))
def test_names_of_a_and_b_are_no_news(drawn, interval):
    votes, items = drawn
    options = {
        "level": "nominal",
        "scale": (0, 1, 2),
        "symmetric": True,
        "interval": interval,
        "resamples": 50,
        "undefined": "nan",
    }
    one = krippendorff_alpha(votes, rng=1, **options)
    other = krippendorff_alpha(renamed(votes, items), rng=1, **options)
    assert one.value == pytest.approx(other.value, nan_ok=True)
    if interval != "bootstrap":
        assert one.low == pytest.approx(other.low, nan_ok=True, abs=1e-7)
        assert one.high == pytest.approx(other.high, nan_ok=True, abs=1e-7)


def test_the_bootstrap_draws_renamed_items_alike():
    rng = np.random.default_rng(5)
    votes = rng.choice([0.0, 1, 2], (30, 3), p=[0.6, 0.3, 0.1])
    options = {
        "level": "nominal",
        "scale": (0, 1, 2),
        "symmetric": True,
        "interval": "bootstrap",
        "resamples": 4000,
        "rng": 1,
    }
    one = krippendorff_alpha(votes, **options)
    other = krippendorff_alpha(renamed(votes, rng.random(30) < 0.5), **options)
    assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=0.02)


@pytest.mark.parametrize(
    ("level", "scale", "names"),
    [
        ("ordinal", (0, 1, 2), (2, 1, 0)),
        ("interval", (-1, 0, 1), (2, 1, 0)),
        ("nominal", (0, 1, 2), (1, 0, 2)),
    ],
)
def test_reversed_scales_are_no_news(level, scale, names):
    rng = np.random.default_rng(6)
    places = rng.choice([0.0, 1, 2], (40, 3), p=[0.6, 0.3, 0.1])
    turned = renamed(places, rng.random(40) < 0.5, names)
    found = [
        krippendorff_alpha(
            np.array(scale)[votes.astype(int)],
            level=level,
            scale=scale,
            symmetric=names,
        )
        for votes in (places, turned)
    ]
    assert found[0].value == pytest.approx(found[1].value)
    assert found[0].low == pytest.approx(found[1].low)


@given(pairwise_votes())
def test_symmetric_alpha_by_brute_force(drawn):
    """Two ratings of one item, against two different ratings of items named anew."""
    votes, _ = drawn
    items = [row[~np.isnan(row)].astype(int) for row in votes]
    items = [row for row in items if row.size >= 2]
    observed = sum(
        sum(a != b for i, a in enumerate(row) for j, b in enumerate(row) if i != j)
        / (row.size - 1)
        for row in items
    )
    pool = np.concatenate(items).tolist()
    observed /= len(pool)
    other = (1, 0, 2)
    pairs = [(a, b) for i, a in enumerate(pool) for j, b in enumerate(pool) if i != j]
    expected = np.mean([((a != b) + (a != other[b])) / 2 for a, b in pairs])
    assume(expected > 0)
    found = krippendorff_alpha(votes, level="nominal", scale=(0, 1, 2), symmetric=True)
    assert found.value == pytest.approx(1 - observed / expected)


@given(arrays(np.int64, (3, 3), elements=st.integers(0, 30)))
def test_symmetric_fleiss_of_two_raters_is_symmetric_scott(table):
    assume(table[:2].sum() + table[:, :2].sum() > 0)
    assume(table.sum() > 1)
    counts, repeats = pairs_as_items(table)
    fleiss = fleiss_kappa(counts, repeats=repeats, symmetric=True)
    scott = scott_pi(table, symmetric=True)
    assert fleiss.value == pytest.approx(scott.value)
    same = fleiss_kappa(counts, repeats=repeats, symmetric=(0, 1, 2), undefined="nan")
    plain = fleiss_kappa(counts, repeats=repeats, undefined="nan")
    assert same.value == pytest.approx(plain.value, nan_ok=True)


def test_symmetric_standard_error_is_that_of_scott_for_two_raters():
    table = np.array([[800, 80, 20], [60, 100, 10], [10, 20, 240]])
    counts, repeats = pairs_as_items(table)
    options = {"symmetric": True, "interval": "asymptotic"}
    ours = fleiss_kappa(counts, repeats=repeats, **options)
    pairs = scott_pi(table, **options)
    assert (ours.low, ours.high) == pytest.approx((pairs.low, pairs.high), abs=1e-3)


def test_symmetric_alpha_of_random_votes_is_zero_on_average():
    """Unbiased also with few votes: a rating does not meet its own other name."""
    rng = np.random.default_rng(7)
    values = [
        krippendorff_alpha(
            rng.integers(0, 2, (4, 2)), level="nominal", scale=(0, 1), symmetric=True
        ).value
        for _ in range(3000)
    ]
    # The standard error of the mean is .009.
    assert np.mean(values) == pytest.approx(0, abs=0.03)


def test_categories_that_the_level_tells_apart_cannot_be_exchanged():
    votes = [[0, 1], [1, 1], [2, 2]]
    for level, scale, names in (
        ("ordinal", (0, 1, 2), True),
        ("interval", (0, 1, 2), (1, 0, 2)),
        ("ratio", (0, 1, 2), (2, 1, 0)),
    ):
        with pytest.raises(ValidationError, match="symmetric exchanges"):
            krippendorff_alpha(votes, level=level, scale=scale, symmetric=names)
    with pytest.raises(ValidationError, match="give the relabelling"):
        fleiss_kappa([[1, 1, 0, 0]], symmetric=True)


def test_the_symmetric_interval_covers_where_the_better_answer_is_named_first():
    rng = np.random.default_rng(8)
    held, truth = 0, 0.5
    for _ in range(200):
        better = rng.integers(0, 2, 25)[:, None]
        clear = rng.random((25, 3)) < np.sqrt(truth)
        votes = np.where(clear, better, rng.integers(0, 2, (25, 3)))
        first = (votes.sum(1) > 1.5)[:, None]
        named = np.where(first, 1 - votes, votes)
        alpha = krippendorff_alpha(
            named, level="nominal", scale=(0, 1), symmetric=True, undefined="nan"
        )
        held += alpha.low <= truth <= alpha.high
    # 200 runs: the standard error of a coverage of .95 is .015.
    assert held / 200 > 0.91
