"""Tests and comparisons against scipy, statsmodels and coverage simulations."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import SquareTable
from statsmodels.stats.contingency_tables import mcnemar as peer_mcnemar
from statsmodels.stats.multitest import multipletests

from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.intervals import clustered_proportion, proportion
from judgelab.significance import (
    Test,
    binomial_test,
    holm,
    homogeneity_test,
    marginal_homogeneity,
    mcnemar,
    paired_difference,
    sign_flip_test,
    signed_share,
    swap_test,
    welch_test,
)


@given(st.integers(1, 300), st.floats(0.01, 0.99), st.data())
def test_binomial_test_against_scipy(n, probability, data):
    k = data.draw(st.integers(0, n))
    ours = binomial_test(k, n, probability).p_value
    peer = stats.binomtest(k, n, probability).pvalue
    assert ours == pytest.approx(peer, rel=1e-6, abs=1e-300)


@pytest.mark.parametrize("probability", [0, 1])
def test_a_certain_outcome_is_never_surprising_and_another_impossible(probability):
    assert binomial_test(probability * 9, 9, probability).p_value == pytest.approx(1)
    assert binomial_test(4, 9, probability).p_value == 0


@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_against_statsmodels(b, c):
    table = [[5, b], [c, 7]]
    assert mcnemar(b, c).p_value == pytest.approx(
        peer_mcnemar(table, exact=True).pvalue if b + c else 1.0, rel=1e-6
    )
    if b + c:
        for method, correction in (("chi2", False), ("chi2-corrected", True)):
            peer = peer_mcnemar(table, exact=False, correction=correction)
            # With b = c the corrected statistic would be positive; ours stays at 0.
            if b != c:
                got = mcnemar(b, c, method=method).p_value
                assert got == pytest.approx(peer.pvalue)


@given(st.integers(0, 40), st.integers(0, 40))
def test_sign_flips_of_ones_are_the_sign_test(plus, minus):
    got = sign_flip_test([1] * plus + [-1] * minus + [0] * 3, null="no lean")
    assert got.p_value == pytest.approx(mcnemar(plus, minus).p_value)


@settings(max_examples=20)
@given(st.dictionaries(st.integers(), st.floats(0, 1), min_size=1, max_size=20))
def test_holm_against_statsmodels(p_values):
    peer = multipletests(list(p_values.values()), method="holm")[1]
    assert list(holm(p_values)) == list(p_values)
    assert list(holm(p_values).values()) == pytest.approx(peer.tolist())


def test_paired_intervals_cover():
    rng = np.random.default_rng(3)
    p = np.array([0.55, 0.17, 0.08, 0.20])
    truth, runs = p[1] - p[2], 600
    hits = {"bonett-price": 0, "bootstrap": 0}
    for table in rng.multinomial(120, p, size=runs):
        for interval in hits:
            e = paired_difference(*table, interval=interval, resamples=400, rng=rng)
            hits[interval] += e.low <= truth <= e.high
    for interval, count in hits.items():
        assert 0.925 < count / runs < 0.975, interval


@pytest.mark.parametrize("correlation", [0.05, 0.5])
def test_clustered_proportion_covers_where_wilson_does_not(correlation):
    rng = np.random.default_rng(5)
    runs, clusters, size, truth = 600, 40, 8, 0.8
    a = truth * (1 - correlation) / correlation
    b = (1 - truth) * (1 - correlation) / correlation
    hits = naive = 0
    for _ in range(runs):
        successes = rng.binomial(size, rng.beta(a, b, clusters))
        e = clustered_proportion(successes, np.full(clusters, size))
        hits += e.low <= truth <= e.high
        w = proportion(successes.sum(), clusters * size)
        naive += w.low <= truth <= w.high
    assert 0.925 < hits / runs < 0.985
    if correlation == 0.5:
        assert naive / runs < 0.75


def test_clusters_of_one_are_plain_wilson_and_weights_are_copies():
    s = np.array([1, 0, 1, 1])
    plain = clustered_proportion(s, np.ones(4))
    assert plain == proportion(3, 4)
    t = np.array([2, 3, 2, 4])
    repeated = clustered_proportion(np.repeat(s, 3), np.repeat(t, 3))
    weighted = clustered_proportion(s, t, weights=[3] * 4)
    assert weighted.value == repeated.value
    assert weighted.low == pytest.approx(repeated.low)
    assert weighted.high == pytest.approx(repeated.high)


def test_signed_share_stays_in_range_and_holds_its_value():
    for n in (1, 5, 80):
        for plus in range(n + 1):
            for minus in range(n + 1 - plus):
                e = signed_share(plus, minus, n)
                assert -1 <= e.low <= e.value <= e.high <= 1


def test_errors_name_the_way_out():
    with pytest.raises(UndefinedStatistic):
        binomial_test(0, 0)
    with pytest.raises(ValidationError, match="3 of 2"):
        binomial_test(3, 2)
    with pytest.raises(ValidationError, match="only_first is -1"):
        mcnemar(-1, 2)
    with pytest.raises(ValidationError, match="choose"):
        mcnemar(1, 2, method="exactly")
    with pytest.raises(ValidationError, match="whole number"):
        sign_flip_test([0.5], null="no lean")
    with pytest.raises(ValidationError, match=r"outside \[0, 1\]"):
        holm({"x": 1.2})
    with pytest.raises(UndefinedStatistic):
        paired_difference(0, 0, 0, 0)
    with pytest.raises(ValidationError, match="choose"):
        paired_difference(1, 1, 1, 1, interval="wald")
    with pytest.raises(ValidationError, match="0 <= p"):
        Test(1.5, 3, "null", "method")
    with pytest.raises(ValidationError, match="totals"):
        clustered_proportion([3], [2])
    with pytest.raises(UndefinedStatistic):
        clustered_proportion([0], [0])
    for method in ("exact", "chi2", "chi2-corrected"):
        assert mcnemar(0, 0, method=method).p_value == 1


@pytest.mark.parametrize("count", [1.5, float("nan"), float("inf"), -1])
def test_counts_are_whole_numbers(count):
    """A truncated 1.7 would be a plausible 1."""
    for function in (
        lambda: mcnemar(count, 3),
        lambda: mcnemar(3, count),
        lambda: binomial_test(count, 5),
        lambda: binomial_test(1, count),
        lambda: paired_difference(count, 1, 1, 4),
    ):
        with pytest.raises(ValidationError, match="whole number"):
            function()


def test_values_that_are_missing_or_impossible():
    for values in ([1, np.nan], [1, np.inf], [[1, 1], [1, -1]]):
        with pytest.raises(ValidationError, match="one per unit"):
            sign_flip_test(values, null="no lean")
    with pytest.raises(ValidationError, match="one has shape"):
        welch_test([1, np.nan, 2], [1, 2, 3], null="equal")
    with pytest.raises(ValidationError, match="two has shape"):
        welch_test([1, 2, 3], [[1, 2], [3, 4]], null="equal")
    with pytest.raises(ValidationError, match="10 and 5 of 8"):
        signed_share(10, 5, 8)
    with pytest.raises(UndefinedStatistic):
        signed_share(0, 0, 0)
    with pytest.raises(ValidationError, match="resamples is 0"):
        paired_difference(5, 1, 1, 4, interval="bootstrap", resamples=0)
    with pytest.raises(ValidationError, match=r"level is 1\.5"):
        paired_difference(5, 1, 1, 4, interval="bootstrap", level=1.5)
    with pytest.raises(ValidationError, match="rng"):
        paired_difference(5, 1, 1, 4, interval="bootstrap", rng=None)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=8))
def test_sign_flips_by_trying_all_of_them(differences):
    sizes = np.abs(differences)
    flips = np.array([*itertools.product([1, -1], repeat=len(differences))])
    p = np.mean(np.abs(flips @ sizes) >= abs(sum(differences)))
    assert sign_flip_test(differences, null="x").p_value == pytest.approx(p, abs=1e-12)


def test_holm_keeps_ties_tied():
    assert holm({"a": 0.02, "b": 0.5, "c": 0.02}) == {"a": 0.06, "b": 0.5, "c": 0.06}


tables = st.integers(2, 5).flatmap(
    lambda k: st.lists(
        st.lists(st.integers(1, 60), min_size=k, max_size=k), min_size=k, max_size=k
    )
)


@given(tables, st.sampled_from(["chi2", "g"]))
def test_homogeneity_against_scipy(table, method):
    peer = stats.chi2_contingency(
        table,
        correction=False,
        lambda_="pearson" if method == "chi2" else "log-likelihood",
    )
    assert homogeneity_test(table, method=method).p_value == pytest.approx(
        peer.pvalue, rel=1e-6, abs=1e-12
    )


@given(tables, st.randoms())
def test_homogeneity_knows_no_order_and_no_empty_category(table, random):
    p = homogeneity_test(table).p_value
    mixed = [[*row, 0] for row in table]
    random.shuffle(mixed)
    assert homogeneity_test(mixed).p_value == pytest.approx(p, rel=1e-6)
    same = [table[0], [2 * count for count in table[0]]]
    assert homogeneity_test(same).p_value == pytest.approx(1)


def test_one_category_alone_is_no_difference_and_no_sample_is_an_error():
    assert homogeneity_test([[4, 0], [9, 0]]).p_value == 1
    for nothing in ([[0, 0], [3, 4]], [[3, 4]]):
        with pytest.raises(UndefinedStatistic, match="samples"):
            homogeneity_test(nothing)
    for wrong in ([[0.5, 1], [2, 3]], [3, 4], [[-1, 2], [3, 4]]):
        with pytest.raises(ValidationError, match="count"):
            homogeneity_test(wrong)
    with pytest.raises(ValidationError, match="'G'"):
        homogeneity_test([[1, 2], [3, 4]], method="G")


@given(tables)
def test_marginal_homogeneity_against_statsmodels(table):
    peer = SquareTable(np.array(table), shift_zeros=False).homogeneity()
    ours = marginal_homogeneity(table)
    assert ours.p_value == pytest.approx(peer.pvalue, rel=1e-6, abs=1e-12)
    assert marginal_homogeneity(np.transpose(table)).p_value == pytest.approx(
        ours.p_value
    )


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
def test_marginal_homogeneity_of_two_categories_is_mcnemar(b, c, agree):
    ours = marginal_homogeneity([[agree, b], [c, 3]])
    peer = mcnemar(b, c, method="chi2")
    assert (ours.p_value, ours.n) == (pytest.approx(peer.p_value), peer.n)
    # A category that nobody exchanges changes nothing.
    wider = [[agree, b, 0], [c, 3, 0], [0, 0, 7]]
    assert marginal_homogeneity(wider).p_value == pytest.approx(ours.p_value)


def test_marginal_homogeneity_of_equal_judges_says_nothing():
    assert marginal_homogeneity(np.diag([3, 4, 5])).p_value == 1
    with pytest.raises(ValidationError, match="one column per category"):
        marginal_homogeneity([[1, 2, 3], [4, 5, 6]])


def test_both_tests_of_habits_reject_a_true_null_as_rarely_as_they_say():
    rng = np.random.default_rng(5)
    shares = [0.4, 0.3, 0.2, 0.1]
    # Two judges alike in habit: half of the items they see alike, half they guess.
    joint = 0.5 * np.diag(shares) + 0.5 * np.outer(shares, shares)
    paired = rng.multinomial(200, joint.ravel(), size=1000).reshape(-1, 4, 4)
    rejected = np.mean([marginal_homogeneity(t).p_value < 0.05 for t in paired])
    assert 0.03 < rejected < 0.07
    apart = rng.multinomial(200, shares, size=(1000, 2))
    rejected = np.mean([homogeneity_test(t).p_value < 0.05 for t in apart])
    assert 0.03 < rejected < 0.07
    # The test for independent samples is far too shy on the same items.
    margins = np.stack([paired.sum(axis=2), paired.sum(axis=1)], axis=1)
    rejected = np.mean([homogeneity_test(t).p_value < 0.05 for t in margins])
    assert rejected < 0.02


# Exchanges


def share_of(sums):
    return sums[:, 0] / sums.sum(axis=1)


def test_few_units_are_the_exact_exchange_test():
    rng = np.random.default_rng(0)
    one, two = rng.integers(1, 10, (2, 8, 2))
    gaps = []
    for turns in itertools.product([0, 1], repeat=8):
        turn = np.array(turns, bool)[:, None]
        sums = [np.where(turn, a, b).sum(0) for a, b in ((one, two), (two, one))]
        gaps.append(abs(sums[0][0] / sums[0].sum() - sums[1][0] / sums[1].sum()))
    exact = np.mean(np.array(gaps) >= gaps[0] - 1e-12)
    found = swap_test(one, two, share_of, null="x", draws=50_000, enough=50_000)
    assert found.p_value == pytest.approx(exact, abs=0.01)
    assert found.n == 8


def test_equal_units_weights_give_the_sign_flip_test():
    rng = np.random.default_rng(1)
    wins = rng.integers(0, 11, (2, 12))
    one, two = (np.column_stack([w, 10 - w]) for w in wins)
    flips = sign_flip_test(wins[0] - wins[1], null="x").p_value
    found = swap_test(one, two, share_of, null="x", draws=40_000, enough=40_000)
    assert found.p_value == pytest.approx(flips, abs=0.01)


def test_stopping_early_is_near_and_quick():
    rng = np.random.default_rng(2)
    one, two = rng.integers(1, 10, (2, 20, 2))
    slow = swap_test(one, two, share_of, null="x", draws=20_000, enough=20_000)
    quick = swap_test(one, two, share_of, null="x")
    assert quick.p_value == pytest.approx(slow.p_value, rel=0.7)
    assert swap_test(one, one, share_of, null="x").p_value == 1
    # Never 0: the judges as they are count as one of the exchanges.
    sure = np.array([[9, 0]] * 30), np.array([[0, 9]] * 30)
    assert swap_test(*sure, share_of, null="x", draws=99).p_value == 1 / 100


def test_exchanges_keep_their_level():
    rng = np.random.default_rng(3)
    runs, rejected = 600, 0
    for seed in range(runs):
        # Units of very different sizes, which a normal approximation does not like.
        sizes = rng.integers(2, 200, 9)
        rates = rng.beta(1, 2, (2, 9))
        one, two = (np.column_stack([w, sizes - w]) for w in rng.binomial(sizes, rates))
        found = swap_test(one, two, share_of, null="x", draws=400, rng=seed)
        rejected += found.p_value <= 0.05
    assert rejected / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5


@pytest.mark.parametrize(
    ("first", "second", "options"),
    [
        ([[1, 2], [3, 4]], [[1, 2]], {}),
        ([[1, 2]], [[1, 2]], {}),
        ([1, 2], [1, 2], {}),
        ([[1, 2], [3, 4]], [[1, 2], [3, 4]], {"draws": 0}),
        ([[1, 2], [3, 4]], [[1, 2], [3, 4]], {"enough": 0}),
    ],
)
def test_exchanges_of_what_does_not_fit_are_refused(first, second, options):
    with pytest.raises(ValidationError):
        swap_test(first, second, share_of, null="x", **options)


def test_a_statistic_without_value_can_not_be_exchanged():
    with (
        np.errstate(invalid="ignore"),
        pytest.raises(UndefinedStatistic, match="no value"),
    ):
        swap_test(np.zeros((3, 2)), np.ones((3, 2)), share_of, null="x")


@pytest.mark.parametrize("broken", [np.nan, np.inf, "one"])
def test_exchanges_need_numbers(broken):
    with pytest.raises(ValidationError, match=r"finite|dtype"):
        swap_test(
            [[1, 2], [broken, 3]], [[1, 2], [2, 3]], lambda sums: sums[:, 1], null=""
        )


@pytest.mark.parametrize("draws", [0, 2.5])
def test_exchanges_are_counted_in_whole_numbers(draws):
    with pytest.raises(ValidationError, match="whole"):
        swap_test([[1], [2]], [[2], [1]], lambda s: s[:, 0], null="", draws=draws)


def test_two_groups_without_spread_are_no_certainty():
    """Two verdicts against two others: any split of four values, one time in three."""
    for one, two, p in (([1, 1], [0, 0], 1 / 3), ([1, 1, 1], [0, 0], 1 / 10)):
        estimate, test = welch_test(one, two, null="x")
        assert estimate.value == 1
        assert np.isnan(estimate.low)
        assert test.p_value == pytest.approx(p)
        peer = stats.permutation_test(
            (np.array(one), np.array(two)),
            lambda a, b: np.mean(a) - np.mean(b),
            n_resamples=np.inf,
            alternative="greater",
        )
        # Both tails, if the mirror image is among the splits.
        tails = 1 + (len(one) == len(two))
        assert test.p_value == pytest.approx(tails * peer.pvalue)
    assert welch_test([1, 1], [1, 1, 1], null="x")[1].p_value == 1


@pytest.mark.parametrize("n", [10**9, 10**12])
def test_counts_beyond_memory_are_tested(n):
    """Against the normal approximation, which is right there."""
    k = n // 2 + round(0.9 * n**0.5)
    expected = 2 * stats.norm.sf((k - 0.5 - n / 2) / (n**0.5 / 2))
    assert binomial_test(k, n).p_value == pytest.approx(expected, rel=1e-3)
    assert mcnemar(k, n - k).p_value == pytest.approx(expected, rel=1e-3)
    assert binomial_test(n - k, n).p_value == pytest.approx(expected, rel=1e-3)


def test_too_many_flips_are_refused():
    with pytest.raises(ValidationError, match="mcnemar"):
        sign_flip_test([10**8, -1], null="x")


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
def test_exchanges_do_not_depend_on_the_unit(scale):
    """Ties are ties in any unit, and what is less extreme is so too."""
    rng = np.random.default_rng(1)
    first, second = rng.poisson(9, (2, 30, 1))

    def statistic(sums):
        return sums[:, 0] * scale

    found = swap_test(first, second, statistic, null="x", rng=2)
    plain = swap_test(first, second, lambda sums: sums[:, 0], null="x", rng=2)
    assert found.p_value == plain.p_value
