"""Intervals that several statistics share, and bootstraps that draw counts."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.intervals import (
    bootstrap,
    clustered_proportion,
    effective_size,
    from_replicates,
    from_standard_error,
    median,
    normal_quantile,
    proportion,
    upper_end,
)

shares = st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(shares, st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_proportions_against_statsmodels(share, level):
    peers = {"wilson": "wilson", "clopper-pearson": "beta", "jeffreys": "jeffreys"}
    for ours, peer in peers.items():
        estimate = proportion(*share, method=ours, level=level)
        low, high = proportion_confint(*share, alpha=1 - level, method=peer)
        if peer == "jeffreys":
            # At the ends ours is closed (Brown, Cai & DasGupta 2001, section 4.1.2).
            low = 0.0 if share[0] == 0 else low
            high = 1.0 if share[0] == share[1] else high
        assert estimate.low == pytest.approx(low, abs=1e-9)
        assert estimate.high == pytest.approx(high, abs=1e-9)


def test_proportions_that_are_none():
    with pytest.raises(UndefinedStatistic):
        proportion(0, 0)
    for successes, n in ((3, 2), (-1, 4), (1, -1)):
        with pytest.raises(ValidationError, match=r"no share|whole number"):
            proportion(successes, n)
    with pytest.raises(ValidationError, match="whole"):
        proportion(1.5, 4, method="clopper-pearson")
    with pytest.raises(ValidationError, match="unknown method"):
        proportion(1, 4, method="wald")


@pytest.mark.parametrize("method", ["wilson", "clopper-pearson", "jeffreys"])
def test_exact_coverage_of_proportions(method):
    """Averaged over true shares, every outcome weighed by its probability."""
    n, truths = 30, np.linspace(0.02, 0.98, 97)
    held = np.zeros(truths.size)
    for successes in range(n + 1):
        estimate = proportion(successes, n, method=method)
        inside = (estimate.low <= truths) & (truths <= estimate.high)
        held += inside * stats.binom.pmf(successes, n, truths)
    if method == "clopper-pearson":
        assert held.min() >= 0.95
    else:
        assert held.mean() == pytest.approx(0.95, abs=0.01)


def test_symmetric_interval_is_cut_at_the_range():
    estimate = from_standard_error(0.9, 0.1, 10, "x", bounds=(-1, 1))
    assert estimate.high == 1
    assert estimate.low == pytest.approx(0.9 - 0.1 * stats.norm.ppf(0.975))


def test_quantiles():
    assert normal_quantile(upper_end(0.95)) == pytest.approx(stats.norm.ppf(0.975))
    for level in (0, 1, 95):
        with pytest.raises(ValidationError, match="level"):
            upper_end(level)


# Replicates


def test_undefined_replicates_are_counted():
    replicates = np.append(np.linspace(0, 1, 95), np.full(5, np.nan))
    estimate = from_replicates(0.5, replicates, 9, "bootstrap")
    assert estimate.method == "bootstrap, 5 undefined replicates left out"
    assert (estimate.low, estimate.high) == pytest.approx((0.025, 0.975))
    replicates[:10] = np.nan
    with pytest.raises(UndefinedStatistic, match="15 of 100"):
        from_replicates(0.5, replicates, 9, "bootstrap")


# Bootstrap by counts


def mean(values):
    """Statistic: mean of the values whose counts are drawn."""
    return lambda sums: sums @ values / sums.sum(1)


def test_exact_bootstrap_of_three_values():
    """All 27 resamples of (1, 4, 7), equally likely: SE √2, quantiles 1 and 7."""
    values = np.array([1.0, 4.0, 7.0])
    exact = np.mean(list(itertools.product(values, repeat=3)), axis=1)
    drawn = bootstrap(mean(values), np.eye(3), np.ones(3), 200_000, rng=0)
    assert drawn.std() == pytest.approx(np.sqrt(2), rel=0.01)
    seen, how_often = np.unique(drawn.round(9), return_counts=True)
    expected, ways = np.unique(exact.round(9), return_counts=True)
    assert seen.tolist() == expected.tolist()
    assert how_often / 200_000 == pytest.approx(ways / 27, abs=4e-3)


@pytest.mark.parametrize("repeats", [(1, 1, 1, 1), (3, 2, 1, 2), (400, 300, 200, 100)])
def test_both_ways_of_drawing_have_multinomial_moments(repeats):
    repeats = np.array(repeats)
    n = repeats.sum()
    sums = []

    def keep(batch):
        sums.append(batch)
        return batch[:, 0]

    bootstrap(keep, np.eye(4), repeats, 60_000, rng=1)
    drawn = np.concatenate(sums)
    p = repeats / n
    assert (drawn.sum(1) == n).all()
    assert drawn.mean(0) / n == pytest.approx(p, abs=5e-3)
    covariance = n * (np.diag(p) - np.outer(p, p))
    assert np.cov(drawn.T) == pytest.approx(covariance, abs=0.03 * n)


def test_patterns_that_do_not_occur_are_never_drawn():
    drawn = bootstrap(
        lambda sums: sums[:, 2], np.eye(3), np.array([5, 5, 0]), 500, rng=2
    )
    assert (drawn == 0).all()


def test_same_seed_same_replicates_in_batches_too():
    many = np.ones(5000)
    patterns = np.random.default_rng(3).random((5000, 1))
    one, two = (
        bootstrap(lambda sums: sums[:, 0], patterns, many, 700, rng=4) for _ in "ab"
    )
    assert (one == two).all()
    assert one.shape == (700,)
    error = np.sqrt(5000) * patterns.std()
    assert one.std() == pytest.approx(error, rel=0.1)


@pytest.mark.parametrize(
    ("repeats", "resamples", "rng", "match"),
    [
        ([1, 2], 10, None, "rng"),
        ([1, 2], 0, 0, "resamples is 0"),
        ([0.5, 2], 10, 0, "whole numbers"),
        ([1, 0], 10, 0, "always drawn alike"),
        ([2**62, 2**62], 10, 0, "too many to draw"),
    ],
)
def test_bad_bootstraps(repeats, resamples, rng, match):
    with pytest.raises(ValidationError, match=match):
        bootstrap(mean(np.ones(2)), np.eye(2), np.array(repeats), resamples, rng)


# Clusters


def test_clusters_of_one_unit_are_a_plain_share():
    assert clustered_proportion([1, 0, 1], [1, 1, 1]) == proportion(2, 3)


def test_patterns_of_clusters_are_clusters():
    short = clustered_proportion([2, 0, 1], [2, 2, 3], weights=[4, 3, 5])
    s, t = np.repeat([2, 0, 1], [4, 3, 5]), np.repeat([2, 2, 3], [4, 3, 5])
    long = clustered_proportion(s, t)
    assert (short.low, short.high) == pytest.approx((long.low, long.high))
    assert short.n == long.n


def test_effective_size_is_never_more_than_the_units():
    assert effective_size(0.01, 0.001, n=50, clusters=1e9) == pytest.approx(50)
    assert effective_size(0.0, 0.0, n=50, clusters=10) < 10


def test_clustered_share_covers():
    rng = np.random.default_rng(5)
    held = naive = 0
    for _ in range(500):
        totals = rng.integers(1, 9, 25)
        successes = rng.binomial(totals, rng.beta(3, 1.5, 25))
        ours = clustered_proportion(successes, totals)
        plain = proportion(int(successes.sum()), int(totals.sum()))
        held += ours.low <= 2 / 3 <= ours.high
        naive += plain.low <= 2 / 3 <= plain.high
    # 500 runs: the standard error of a coverage of .95 is .01.
    assert held / 500 > 0.92
    assert naive / 500 < held / 500


@pytest.mark.parametrize(
    ("successes", "totals", "weights"),
    [
        ([1, np.nan], [2, 2], None),
        ([1, 1], [2, np.nan], None),
        ([1, 1], [2, np.inf], None),
        ([1, 1], [2, 2], [1, np.nan]),
        ([1, 1], [2, 2], [0.4, 0.4]),
        ([1], [2, 2], None),
        ([1, 1], [2, 2], [1, 1, 1]),
    ],
)
def test_bad_clusters(successes, totals, weights):
    with pytest.raises(ValidationError, match=r"every cluster needs|have shapes"):
        clustered_proportion(successes, totals, weights=weights)


def test_no_interval_from_nothing():
    with pytest.raises(ValidationError, match="standard_error is nan"):
        from_standard_error(0.5, np.nan, 10, "x", bounds=(-1, 1))
    with pytest.raises(ValidationError, match="no replicates"):
        from_replicates(0.5, np.array([]), 10, "x")
    with pytest.raises(ValidationError, match="level is 95"):
        from_replicates(0.5, np.linspace(0, 1, 11), 10, "x", level=95)
    with pytest.raises(ValidationError, match="whole number"):
        proportion(1, 10.5)


@pytest.mark.parametrize("level", [0, 1, 95, -0.5, float("nan")])
def test_a_level_that_is_none_is_named(level):
    for method in ("wilson", "clopper-pearson", "jeffreys"):
        with pytest.raises(ValidationError, match="level is"):
            proportion(3, 10, method=method, level=level)
    with pytest.raises(ValidationError, match="level is"):
        clustered_proportion([1, 2, 3], [4, 4, 4], level=level)


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=60))
def test_the_median_lies_in_its_interval(values):
    estimate = median(values)
    assert estimate.value == np.median(values)
    assert np.isnan(estimate.low) == (len(values) < 6)
    assert not estimate.low > estimate.value
    assert not estimate.high < estimate.value


@pytest.mark.parametrize("n", [6, 9, 30, 101])
def test_the_interval_of_the_median_covers(n):
    rng = np.random.default_rng(n)
    covered = 0
    for _ in range(2000):
        found = median(rng.exponential(size=n))
        covered += found.low <= np.log(2) <= found.high
    assert covered / 2000 > 0.94
    # The next inner order statistics would not do.
    k = int(np.searchsorted(np.sort(np.arange(n)), median(np.arange(n)).low)) + 1
    assert stats.binom.cdf(k - 1, n, 0.5) <= 0.025 < stats.binom.cdf(k, n, 0.5)


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
def test_the_order_statistics_are_those_of_the_binomial_distribution(level):
    for n in range(1, 80):
        rare = stats.binom.cdf(np.arange(n), n, 0.5) <= (1 - level) / 2
        found = median(np.arange(1, n + 1), level=level)
        assert found.low == rare.sum() if rare.any() else np.isnan(found.low)


def test_a_median_needs_finite_numbers():
    for wrong in ([1, np.nan], [1, np.inf], [[1, 2]], ["a"], [1, None]):
        with pytest.raises(ValidationError, match="values"):
            median(wrong)
    with pytest.raises(UndefinedStatistic, match="0 values"):
        median([])
