"""Rank agreement: against published values, scipy, plain definitions, and coverage."""

import bisect
import json
import math
import warnings
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from judgelab import correlation
from judgelab.correlation import (
    average_overlap,
    best_first,
    correlation_difference,
    kendall_tau,
    kendall_tau_table,
    over_topics,
    pearson_r,
    rank_biased_overlap,
    spearman_rho,
    tau_ap,
    top_k_overlap,
    weighted_tau,
)
from judgelab.counts import contingency_table
from judgelab.errors import UndefinedStatistic, ValidationError

ORACLES = {
    vector["id"]: vector
    for vector in json.loads(
        (Path(__file__).parent / "oracles" / "correlation.json").read_text()
    )["vectors"]
}
ON_SCORES = (kendall_tau, spearman_rho, pearson_r, weighted_tau, tau_ap)


def two_vectors(least=3, most=40, values=8):
    """Two aligned vectors with many ties, neither constant."""
    scores = st.integers(0, values)
    pairs = st.lists(st.tuples(scores, scores), min_size=least, max_size=most)
    vectors = pairs.map(lambda rows: tuple(np.array(rows).T))
    return vectors.filter(lambda both: all(np.ptp(vector) for vector in both))


def orders(least=2, most=30):
    """Two orders of the same names."""
    return st.integers(least, most).flatmap(
        lambda n: st.tuples(st.permutations(range(n)), st.permutations(range(n)))
    )


def pairwise_tau(x, y, variant):
    """Kendall's tau pair by pair, in exact arithmetic."""
    n = len(x)
    signs = [
        (np.sign(int(a) - int(c)), np.sign(int(b) - int(d)))
        for (a, b), (c, d) in combinations(zip(x, y, strict=True), 2)
    ]
    s = int(sum(a * b for a, b in signs))
    if variant == "a":
        return float(Fraction(s, n * (n - 1) // 2))
    if variant == "b":
        untied = [sum(bool(sign[side]) for sign in signs) for side in (0, 1)]
        return s / math.sqrt(untied[0] * untied[1])
    m = min(len(set(x)), len(set(y)))
    return float(Fraction(2 * m * s, n * n * (m - 1)))


# Oracles


@pytest.mark.parametrize("name", ["relevance_4point_pair", "rank_with_one_tie"])
def test_scores_against_the_oracle(name):
    x, y = ORACLES[name]["x"], ORACLES[name]["y"]
    ours = {
        "spearman_rho": spearman_rho(x, y),
        "pearson_r": pearson_r(x, y),
        "weighted_tau": weighted_tau(x, y),
    } | {f"kendall_tau_{v}": kendall_tau(x, y, variant=v) for v in "abc"}
    for statistic, expected in ORACLES[name]["expected"].items():
        assert ours[statistic].value == pytest.approx(expected, rel=1e-11), statistic


def test_lists_against_the_oracle():
    vector = ORACLES["toplists_tau_ap_rbo"]
    truth, estimate = vector["truth"], vector["estimate"]
    scores = [[-names.index(name) for name in truth] for names in (truth, estimate)]
    ours = {
        f"tau_ap_{direction}": tau_ap(*scores, direction=direction).value
        for direction in ("estimate", "truth", "symmetric")
    }
    for p in (0.8, 0.9, 0.95):
        for kind in ("truncated", "extrapolated"):
            ours[f"{kind}_{p}"] = rank_biased_overlap(
                truth, estimate, p=p, kind=kind
            ).value
    ours["average_overlap"] = average_overlap(truth, estimate, k=8).value
    assert ours == pytest.approx(vector["expected"], rel=1e-11)


# Peers and definitions


@given(two_vectors(), st.sampled_from("abc"))
def test_tau_is_what_a_count_of_pairs_gives(vectors, variant):
    expected = pairwise_tau(*vectors, variant)
    for interval in (None, "jackknife"):
        value = kendall_tau(*vectors, variant=variant, interval=interval).value
        assert value == pytest.approx(expected, abs=1e-14)


@given(two_vectors())
def test_scipy_agrees(vectors):
    x, y = vectors
    for variant in "bc":
        expected = stats.kendalltau(x, y, variant=variant).statistic
        ours = kendall_tau(x, y, variant=variant, interval=None).value
        assert ours == pytest.approx(expected, abs=1e-13)
    peers = ((spearman_rho, stats.spearmanr), (pearson_r, stats.pearsonr))
    for ours, peer in peers:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = peer(x, y).statistic
        assert ours(x, y, interval=None).value == pytest.approx(expected, abs=1e-12)
    assert weighted_tau(x, y).value == stats.weightedtau(x, y).statistic


@pytest.mark.parametrize("n", [2, 63, 64, 65, 128, 129, 1000, 5000])
@pytest.mark.parametrize("values", [2, 30, 10**9])
def test_many_systems_are_counted_as_few_are(n, values, monkeypatch):
    rng = np.random.default_rng(n)
    x = np.append([0, 1], rng.integers(0, values, n - 2))
    y = np.append([0, 1], np.where(rng.random(n - 2) < 0.5, x[2:], x[2:][::-1]))
    monkeypatch.setattr(correlation, "_ALL_PAIRS", 10**6)
    directly = correlation._per_system(x, y)
    monkeypatch.setattr(correlation, "_ALL_PAIRS", 0)
    merged = correlation._per_system(x, y)
    for one, other in zip(directly, merged, strict=True):
        np.testing.assert_array_equal(one, other)
    sums = tuple(int(part.sum()) // 2 for part in directly)
    assert correlation._pairs(x, y) == sums


@pytest.mark.parametrize("n", [16_384, 16_385, 40_000])
@pytest.mark.parametrize("noise", [0.0, 0.1, 100.0])
def test_long_permutations_are_counted_as_short_ones_are(n, noise):
    rng = np.random.default_rng(n)
    p = np.argsort(np.arange(n) / n + noise * rng.normal(size=n))
    # A count of its own: how many greater numbers have been met, by binary search.
    met, expected = [], 0
    for number in p.tolist():
        expected += len(met) - bisect.bisect(met, number)
        bisect.insort(met, number)
    assert correlation._inversions(p) == expected
    each = correlation._inversions_of_each(p)
    assert each.sum() == 2 * expected
    assert correlation._inversions(p[::-1]) == n * (n - 1) // 2 - expected


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_scores_that_differ_in_the_last_bit_are_different(sign):
    rng = np.random.default_rng(1)
    close = sign * (1 + rng.permutation(3000) * 2.0**-52)
    far = np.array([0.0, -0.0, 5e-324, -5e-324, 1e300, -1e300, 0.5])
    for scores in (close, far, np.append(close, far)):
        values, order = correlation._ordered(scores)
        np.testing.assert_array_equal(values, np.sort(scores))
        np.testing.assert_array_equal(scores[order], values)
        np.testing.assert_array_equal(np.sort(order), np.arange(scores.size))
    assert kendall_tau(close, np.argsort(np.argsort(close)), interval=None).value == 1


def test_stuarts_tau_is_full_with_a_finer_scale_on_one_side():
    full = kendall_tau([0, 0, 1, 1], [0, 0, 1, 2], variant="c")
    assert (full.value, full.high) == (1, 1)
    assert full.low < 0


def test_a_million_systems_in_opposite_order_overflow_nothing():
    n = 10**6
    x = np.arange(n)
    assert correlation._inversions(x[::-1]) == n * (n - 1) // 2
    assert kendall_tau(x, -x, interval=None).value == -1
    wide = x // 2
    expected = stats.kendalltau(wide, -wide).statistic
    assert kendall_tau(wide, -wide, interval=None).value == pytest.approx(expected)


@given(two_vectors(), st.sampled_from("abc"))
def test_a_table_gives_what_its_items_give(vectors, variant):
    table = contingency_table(*vectors, scale=range(9))
    items = kendall_tau(*vectors, variant=variant)
    cells = kendall_tau_table(table, variant=variant)
    for field in ("value", "low", "high"):
        expected = getattr(items, field)
        assert getattr(cells, field) == pytest.approx(expected, abs=1e-9, nan_ok=True)
    assert (cells.n, cells.method) == (items.n, items.method)


def test_a_table_of_very_many_items_is_exact():
    table = np.array([[40, 10], [15, 35]])
    small = kendall_tau_table(table).value
    assert kendall_tau_table(table * 10**12, variant="b").value == pytest.approx(
        small, abs=1e-15
    )


@given(two_vectors(least=4, most=15))
def test_leaving_out_is_leaving_out(vectors):
    x, y = (np.asarray(vector, float) for vector in vectors)
    n = len(x)
    found = correlation._rho_without_each(x, y)
    for i in range(n):
        u, v = np.delete(x, i), np.delete(y, i)
        if np.ptp(u) and np.ptp(v):
            assert found[i] == pytest.approx(correlation._rho_value(u, v), abs=1e-12)
        else:
            assert not np.isfinite(found[i])


@pytest.mark.parametrize("statistic", [kendall_tau, spearman_rho, pearson_r])
def test_the_jackknife_is_the_jackknife(statistic):
    rng = np.random.default_rng(3)
    x = rng.normal(size=15).round(1)
    y = (x + rng.normal(size=15)).round(1)
    n, estimate = 15, statistic(x, y)
    without = [
        math.atanh(statistic(np.delete(x, i), np.delete(y, i), interval=None).value)
        for i in range(n)
    ]
    half = stats.t.ppf(0.975, n - 2) * math.sqrt((n - 1) / n * n * np.var(without))
    centre = math.atanh(estimate.value)
    assert estimate.low == pytest.approx(math.tanh(centre - half), abs=1e-12)
    assert estimate.high == pytest.approx(math.tanh(centre + half), abs=1e-12)


@given(orders())
def test_tau_ap_is_its_definition(lists):
    truth, estimate = (np.array(order) for order in lists)
    n = len(truth)
    walked = sorted(range(n), key=lambda i: -estimate[i])
    total = sum(
        Fraction(sum(bool(truth[a] > truth[b]) for a in walked[:i]), i)
        for i, b in enumerate(walked)
        if i
    )
    expected = float(2 * total / (n - 1) - 1)
    assert tau_ap(truth, estimate).value == pytest.approx(expected, abs=1e-13)
    mirrored = tau_ap(estimate, truth, direction="truth").value
    assert mirrored == tau_ap(truth, estimate).value
    both = [tau_ap(truth, estimate, direction=d).value for d in ("estimate", "truth")]
    symmetric = tau_ap(truth, estimate, direction="symmetric").value
    assert symmetric == pytest.approx(sum(both) / 2)


@given(orders(), st.floats(0.05, 0.99), st.integers(1, 30), st.integers(1, 30))
def test_rank_biased_overlap_is_its_definition(lists, p, s, t):
    a, b = lists[0][:s], lists[1][:t]
    short, long = sorted((len(a), len(b)))
    shared = [len(set(a[:d]) & set(b[:d])) for d in range(1, long + 1)]
    truncated = (1 - p) * sum(
        p ** (d - 1) * shared[d - 1] / d for d in range(1, short + 1)
    )
    ours = rank_biased_overlap(a, b, p=p, kind="truncated").value
    assert ours == pytest.approx(truncated, abs=1e-12)
    at_short, at_long = shared[short - 1], shared[-1]
    extrapolated = (1 - p) / p * (
        sum(shared[d - 1] / d * p**d for d in range(1, long + 1))
        + sum(
            at_short * (d - short) / (short * d) * p**d
            for d in range(short + 1, long + 1)
        )
    ) + ((at_long - at_short) / long + at_short / short) * p**long
    ours = rank_biased_overlap(a, b, p=p).value
    assert ours == pytest.approx(extrapolated, abs=1e-12)
    assert truncated - 1e-12 <= ours <= 1
    assert rank_biased_overlap(b, a, p=p).value == pytest.approx(ours)


@given(orders(least=3))
def test_overlaps_count_names(lists):
    for k in range(1, len(lists[0]) + 1):
        common = len(set(lists[0][:k]) & set(lists[1][:k]))
        assert top_k_overlap(*lists, k=k).value == common / k
    assert average_overlap(lists[0], lists[0], k=3).value == 1


# Properties


@given(two_vectors(least=4), st.randoms(use_true_random=False))
def test_order_of_systems_and_scale_do_not_matter(vectors, random):
    x, y = vectors
    mixed = list(range(len(x)))
    random.shuffle(mixed)
    for statistic in (kendall_tau, spearman_rho, pearson_r):
        one = statistic(x, y)
        for other in (
            statistic(x[mixed], y[mixed]),
            statistic(y, x),
            statistic(1e150 * x, 1e-150 * y),
        ):
            assert other.value == pytest.approx(one.value, abs=1e-12)
        opposite = statistic(x, -y)
        assert opposite.value == pytest.approx(-one.value, abs=1e-12)
        assert -1 <= one.value <= 1
        if not math.isnan(one.low):
            assert one.low <= one.value <= one.high
            assert opposite.low == pytest.approx(-one.high, abs=1e-6)


def test_an_exchange_at_the_top_costs_more():
    order = [6, 5, 4, 3, 2, 1]
    top, bottom = [5, 6, 4, 3, 2, 1], [6, 5, 4, 3, 1, 2]
    for statistic in (weighted_tau, tau_ap):
        assert statistic(order, top).value < statistic(order, bottom).value
    assert kendall_tau(order, top).value == kendall_tau(order, bottom).value


# Bad input and edges


@pytest.mark.parametrize("statistic", ON_SCORES)
@pytest.mark.parametrize(
    ("x", "y", "words"),
    [
        ([1, 2, np.nan], [1, 2, 3], r"x lacks|truth lacks"),
        ([1, 2, 3], [1, np.inf, 3], r"positions \[1\]"),
        ([1, 2, 3], [1, 2], "3 systems and"),
        ([1], [2], "at least two"),
        ([], [], "at least two|dtype"),
        (["a", "b"], ["a", "b"], "one number per system"),
        ([[1, 2]], [[1, 2]], "one number per system"),
        ([None, 1, 2], [1, 2, 3], "one number per system"),
    ],
)
def test_bad_scores_are_refused(statistic, x, y, words):
    with pytest.raises(ValidationError, match=words):
        statistic(x, y)


@pytest.mark.parametrize("statistic", ON_SCORES[:4])
@pytest.mark.parametrize("interval", ["jackknife", "bootstrap", None])
def test_constant_scores_have_no_order(statistic, interval):
    for x, y in (([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [0, 0, 0]), ([1, 1], [1, 1])):
        with pytest.raises(UndefinedStatistic, match="equal"):
            statistic(x, y, interval=interval, rng=1)
    with pytest.raises(UndefinedStatistic, match="same label"):
        kendall_tau_table([[3, 4], [0, 0]])
    with pytest.raises(UndefinedStatistic, match="1 items"):
        kendall_tau_table([[1, 0], [0, 0]])


@pytest.mark.parametrize(
    "call",
    [
        lambda: kendall_tau([1, 2], [1, 2], variant="d"),
        lambda: kendall_tau([1, 2], [1, 2], interval="wald"),
        lambda: kendall_tau([1, 2], [1, 2], level=95),
        lambda: kendall_tau([1, 2, 3], [1, 2, 3], interval="bootstrap"),
        lambda: pearson_r(
            [1, 2, 3], [1, 2, 3], interval="bootstrap", resamples=0, rng=1
        ),
        lambda: kendall_tau_table([[0.5, 0.5], [0, 1]]),
        lambda: kendall_tau_table([[-1, 2], [3, 4]]),
        lambda: kendall_tau_table([1, 2]),
        lambda: weighted_tau([1, 2], [1, 2], rank="z"),
        lambda: tau_ap([1, 2, 2], [1, 2, 3]),
        lambda: tau_ap([1, 2, 3], [1, 3, 3]),
        lambda: tau_ap([1, 2], [1, 2], direction="both"),
        lambda: tau_ap([1, 2], [1, 2], interval="bootstrap"),
        lambda: rank_biased_overlap("AB", "BA", p=1),
        lambda: rank_biased_overlap("AB", "BA", p=0.9, kind="min"),
        lambda: rank_biased_overlap("", "BA", p=0.9),
        lambda: rank_biased_overlap("ABA", "BA", p=0.9),
        lambda: top_k_overlap("AB", "BA", k=3),
        lambda: top_k_overlap("AB", "BA", k=0),
        lambda: best_first([1, 1]),
        lambda: best_first([1, 2], ["A"]),
    ],
)
def test_bad_options_are_refused(call):
    with pytest.raises(ValidationError):
        call()


def test_full_agreement_of_few_systems_proves_little():
    for n, most in ((2, -0.9), (6, -0.4), (33, 0.6), (1000, 0.99)):
        tau = kendall_tau(range(n), range(n))
        assert (tau.value, tau.high) == (1, 1)
        assert tau.low < most
        rho = spearman_rho(range(n), range(n))
        assert (rho.value, rho.high) == (1, 1)
        assert rho.low < tau.low
        reverse = kendall_tau(range(n), range(n)[::-1])
        assert (reverse.low, reverse.high) == (-1, -tau.low)
    line = pearson_r([1, 2, 3], [2, 4, 6])
    assert line.value == 1
    assert math.isnan(line.low)


@pytest.mark.parametrize("size", [1e-300, 1e-3, 1e3, 1.7e308])
def test_very_small_and_very_large_scores_correlate_alike(size):
    x, y = np.array([1, -1, 0, 0.5, -0.3]), np.array([1, 2, 3, 4, 6])
    one, other = pearson_r(x, y), pearson_r(size * x, y)
    for field in ("value", "low", "high"):
        assert getattr(other, field) == pytest.approx(getattr(one, field), abs=1e-12)


def test_where_no_system_can_be_left_out_there_is_no_interval():
    only_one_differs = kendall_tau([0, 0, 0, 1], [1, 2, 3, 3])
    assert math.isfinite(only_one_differs.value)
    assert math.isnan(only_one_differs.low)
    assert "without one" in only_one_differs.method


# Resampling


def test_the_bootstrap_draws_systems():
    rng = np.random.default_rng(1)
    x = rng.normal(size=60)
    y = x + rng.normal(size=60)
    drawn = kendall_tau(x, y, interval="bootstrap", resamples=400, rng=2)
    again = kendall_tau(x, y, interval="bootstrap", resamples=400, rng=2)
    assert (drawn.low, drawn.high) == (again.low, again.high)
    assert drawn.width == pytest.approx(kendall_tau(x, y).width, rel=0.25)
    assert "systems" in drawn.method
    assert weighted_tau(x, y, interval="bootstrap", resamples=100, rng=2).width > 0
    assert tau_ap(x, y, interval="jackknife").width > 0


def test_topics_drawn_together_vary_less():
    rng = np.random.default_rng(4)
    quality = np.linspace(0, 1, 15)[:, None]
    people = quality + 2 * rng.normal(size=(15, 40))
    judge = people + 0.3 * rng.normal(size=(15, 40))

    def tau(x, y):
        return kendall_tau(x, y, interval=None)

    paired = over_topics(people, judge, tau, resamples=300, rng=1)
    apart = over_topics(people, judge, tau, paired=False, resamples=300, rng=1)
    assert paired.value == apart.value == tau(people.mean(1), judge.mean(1)).value
    assert paired.width < apart.width
    assert over_topics(people, people, tau, resamples=50, rng=1).low == 1
    other_topics = over_topics(
        people, judge[:, :30], tau, paired=False, resamples=50, rng=1
    )
    assert "40 and 30 topics" in other_topics.method


def test_topics_take_any_statistic_of_scores():
    rng = np.random.default_rng(4)
    people, judge = rng.normal(size=(2, 10, 20)) + np.arange(10)[:, None]

    def overlap(x, y):
        return rank_biased_overlap(best_first(x), best_first(y), p=0.8)

    found = over_topics(people, judge, overlap, resamples=50, rng=1)
    assert 0 <= found.low <= found.high <= 1


@pytest.mark.parametrize(
    ("first", "second", "paired"),
    [
        (np.ones((3, 4)), np.ones((2, 4)), True),
        (np.ones((3, 4)), np.ones((3, 5)), True),
        (np.ones((3, 4)), np.ones((2, 4)), False),
        (np.ones((3, 1)), np.ones((3, 1)), True),
        (np.full((3, 4), np.nan), np.ones((3, 4)), True),
        (np.ones(3), np.ones(3), True),
    ],
)
def test_topics_that_do_not_fit_are_refused(first, second, paired):
    with pytest.raises(ValidationError):
        over_topics(first, second, pearson_r, paired=paired, rng=1)


@pytest.mark.parametrize(
    ("statistic", "truth"),
    [
        # Under a normal distribution: (2/π) asin ρ, (6/π) asin(ρ/2), and ρ itself.
        (kendall_tau, lambda rho: 2 / math.pi * math.asin(rho)),
        (spearman_rho, lambda rho: 6 / math.pi * math.asin(rho / 2)),
        (pearson_r, lambda rho: rho),
    ],
)
@pytest.mark.parametrize("rho", [0.0, 0.7, 0.95])
@pytest.mark.parametrize("n", [6, 12, 30])
def test_the_intervals_cover(statistic, truth, rho, n):
    rng = np.random.default_rng(n)
    runs = 250
    covered = 0
    for _ in range(runs):
        x, noise = rng.normal(size=(2, n))
        found = statistic(x, rho * x + math.sqrt(1 - rho**2) * noise)
        covered += found.low <= truth(rho) <= found.high
    # Three standard errors of a simulation below what is said.
    assert covered / runs > 0.95 - 3 * math.sqrt(0.95 * 0.05 / runs)


# Two judges against one target


def two_judges(rng, n, first=0.3, second=0.8):
    people = rng.normal(size=n)
    shared = rng.normal(size=n) / 2
    return (
        people,
        people + first * (shared + rng.normal(size=n)),
        people + second * (shared + rng.normal(size=n)),
    )


def test_a_difference_of_correlations_is_one():
    people, one, other = two_judges(np.random.default_rng(0), 31)
    found = correlation_difference(people, one, other, tau_alone)
    assert found.value == pytest.approx(
        kendall_tau(people, one).value - kendall_tau(people, other).value
    )
    turned = correlation_difference(people, other, one, tau_alone)
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low))
    # What the two have in common cancels: shorter than from two separate intervals.
    separate = math.hypot(
        kendall_tau(people, one).width, kendall_tau(people, other).width
    )
    assert found.width < separate


def tau_alone(x, y):
    return kendall_tau(x, y, interval=None)


def test_equal_judges_have_no_interval():
    people, one, _ = two_judges(np.random.default_rng(1), 12)
    found = correlation_difference(people, one, one, tau_alone)
    assert found.value == 0
    assert math.isnan(found.low)
    assert "no interval" in found.method


@pytest.mark.parametrize("n", [3, 8])
def test_vectors_that_do_not_fit_are_refused(n):
    scores = np.arange(n, dtype=float)
    with pytest.raises(ValidationError):
        correlation_difference(scores, scores[::-1], scores[: min(n, 4)], tau_alone)
    with pytest.raises(UndefinedStatistic):
        correlation_difference(np.arange(8.0), np.ones(8), np.arange(8.0), tau_alone)


def test_the_interval_of_a_difference_covers():
    rng = np.random.default_rng(2)
    people, one, other = two_judges(rng, 100_000)
    truth = float(tau_alone(people, one)) - float(tau_alone(people, other))
    runs, covered = 400, 0
    for _ in range(runs):
        found = correlation_difference(*two_judges(rng, 31), tau_alone)
        covered += found.low <= truth <= found.high
    assert covered / runs > 0.95 - 3 * math.sqrt(0.95 * 0.05 / runs)


@pytest.mark.parametrize("statistic", [kendall_tau, spearman_rho, pearson_r])
def test_whole_numbers_that_floats_confuse_are_refused(statistic):
    # As floats the first two would tie, and tau would be .82.
    with pytest.raises(ValidationError, match=r"2\*\*53"):
        statistic([2**53, 2**53 + 1, 2**53 + 2], [1, 2, 3])
    assert statistic([2**53 - 3, 2**53 - 2, 2**53 - 1], [1, 2, 3]).value == 1


@pytest.mark.parametrize("unordered", [{"a", "b"}, {"a": 1, "b": 2}])
def test_what_has_no_order_is_no_ranking(unordered):
    with pytest.raises(ValidationError, match="order"):
        rank_biased_overlap(unordered, ["a", "b"], p=0.9)
    with pytest.raises(ValidationError, match="order"):
        top_k_overlap(["a", "b"], unordered, k=1)


@pytest.mark.parametrize("k", [0, 1.5, np.nan, "2", None])
def test_a_depth_is_a_whole_number(k):
    with pytest.raises(ValidationError, match="whole"):
        top_k_overlap("ab", "ab", k=k)


@given(st.data())
def test_labels_are_counted_as_they_would_be_sorted(data):
    """Whole numbers of a short range need no sorting; tenths of them are sorted."""
    size = data.draw(st.integers(65, 400))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    places, low = (
        data.draw(st.integers(2, 30)),
        data.draw(st.sampled_from([0, -7, 1e15])),
    )
    x, y = (rng.integers(0, places, size) for _ in range(2))
    for variant in ("a", "b", "c"):
        counted = kendall_tau(x + low, low - y, variant=variant, interval=None)
        sorted_ones = kendall_tau(x / 10, -y / 10, variant=variant, interval=None)
        assert counted == sorted_ones


def test_numbers_next_to_whole_ones_are_no_labels():
    x = np.tile([0.0, 1.0, np.nextafter(1, 2)], 50)
    assert kendall_tau(x, np.tile([0, 1, 2], 50), interval=None).value == 1
