"""Tests: could chance alone have done it, and what when many questions are asked?

Every test here is exact unless its name says otherwise, and every result says which
chance it was compared with.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from judgelab._checks import (
    array,
    check_positive,
    check_real,
    floats,
    random_generator,
    whole,
)
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import (
    Rng,
    bootstrap,
    from_replicates,
    from_standard_error,
    normal_quantile,
    upper_end,
)


@dataclass(frozen=True, slots=True)
class Test:
    """How surprising the data are if nothing but chance is at work.

    Parameters
    ----------
    p_value : float
        Probability, under the null hypothesis, of data at least as extreme: in [0, 1].
    n : int
        How many units speak on the question.
    null : str
        The null hypothesis, in words.
    method : str
        The test, in words.

    Raises
    ------
    ValidationError
        If the p-value is not in [0, 1].

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    >>> Test(0.25, 3, "heads and tails are equally likely", "exact binomial")
    p = 0.25 (n = 3, exact binomial; null: heads and tails are equally likely)
    """

    p_value: float
    n: int
    null: str
    method: str

    # Not a test case, whatever the name suggests to pytest.
    __test__ = False

    def __post_init__(self) -> None:
        if not 0 <= self.p_value <= 1:
            raise ValidationError(f"p_value is {self.p_value!r}; need 0 <= p <= 1")

    def __repr__(self) -> str:
        p = self.p_value
        shown = f"p = {p:.3g}" if p >= 1e-4 else "p < 0.0001"
        return f"{shown} (n = {self.n:,}, {self.method}; null: {self.null})"


def binomial_test(successes: int, n: int, probability: float = 0.5) -> Test:
    """Could a share of `successes` in `n` come from this probability?

    Parameters
    ----------
    successes, n : int
        0 ≤ successes ≤ n, n at least 1; the units are independent.
    probability : float, default 0.5
        The chance level, in [0, 1].

    Returns
    -------
    Test
        Exact and two-sided: the probability of all counts that are no more likely than
        the one observed.

    Raises
    ------
    UndefinedStatistic
        If `n` is 0.
    ValidationError
        If the counts or the probability are out of range.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> binomial_test(21, 23)
    p < 0.0001 (n = 23, exact binomial; null: the probability is 0.5)
    """
    successes, n = whole("successes", successes), whole("n", n)
    check_real(probability=probability)
    if n == 0:
        raise UndefinedStatistic("nothing can be tested on 0 units")
    if not 0 <= successes <= n or not 0 <= probability <= 1:
        raise ValidationError(
            f"{successes} of {n} at probability {probability} cannot be tested; need "
            "0 <= successes <= n and a probability between 0 and 1"
        )
    from scipy.stats import binomtest

    p = float(binomtest(successes, n, probability).pvalue)
    return Test(p, n, f"the probability is {probability:g}", "exact binomial")


def _binomial_pmf(n: int, probability: float) -> npt.NDArray[np.float64]:
    k = np.arange(n + 1)
    log_choose = (
        special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    )
    log_pmf = (
        log_choose
        + special.xlogy(k, probability)
        + special.xlog1py(n - k, -probability)
    )
    return np.asarray(np.exp(log_pmf))


_MOST_FLIPPED = 10**7
"""Up to so many wins and losses the exact distribution is found: 80 MB."""


def sign_flip_test(differences: npt.ArrayLike, *, null: str) -> Test:
    """Do differences lean to one side, if each could as well have had the other sign?

    Parameters
    ----------
    differences : array_like of int, shape (m,)
        One per independent unit: wins of one side minus wins of the other.
    null : str
        The hypothesis of no lean, in words.

    Returns
    -------
    Test
        Exact and two-sided, `n` counting the differences that are not zero. If they are
        all ±1 this is the sign test, that is, the exact form of McNemar's test.

    Raises
    ------
    ValidationError
        If the differences are not an array of one dimension of whole numbers.

    References
    ----------
    Fisher (1935), *The Design of Experiments*, section 21.

    Notes
    -----
    The distribution of the sum is found by convolution, not by drawing signs. With no
    difference at all the data say nothing, and p is 1.

    Chapter: *Does the order matter?*

    Examples
    --------
    >>> sign_flip_test([1, 1, 1, -1, 1], null="no lean")
    p = 0.375 (n = 5, exact sign-flip test; null: no lean)
    """
    values = floats("differences", differences)
    if (
        values.ndim != 1
        or not (np.isfinite(values) & (values == np.rint(values))).all()
    ):
        raise ValidationError(
            "differences must be whole numbers, one per unit: wins minus losses"
        )
    if np.abs(values).sum() > _MOST_FLIPPED:
        raise ValidationError(
            f"differences add up to more than {_MOST_FLIPPED:,}; so many need no exact "
            "test: compare the sums by mcnemar"
        )
    signed = values.astype(np.int64)
    sizes, counts = np.unique(np.abs(signed[signed != 0]), return_counts=True)
    # Distribution of (total + sum of signed differences) / 2 = sum of positive ones.
    distribution = np.ones(1)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        positive = np.zeros(size * count + 1)
        positive[::size] = _binomial_pmf(count, 0.5)
        distribution = np.convolve(distribution, positive)
    total = int((sizes * counts).sum())
    sums = 2 * np.arange(distribution.size) - total
    p = distribution[np.abs(sums) >= abs(int(signed.sum()))].sum()
    return Test(min(1.0, float(p)), int(counts.sum()), null, "exact sign-flip test")


def swap_test(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    statistic: Callable[[npt.NDArray[np.float64]], npt.NDArray[np.float64]],
    *,
    null: str,
    draws: int = 10_000,
    enough: int = 20,
    rng: Rng = 0,
) -> Test:
    """Do two judges differ in any statistic, if each unit could exchange them?

    Parameters
    ----------
    first, second : array_like, shape (units, ...)
        What each judge did on every independent unit: the table of a query, say. The
        statistic is that of the sum over units.
    statistic : callable
        Takes sums, shape (b, ...), and returns b values.
    null : str
        The hypothesis of no difference, in words.
    draws : int, default 10000
        Random exchanges at most.
    enough : int, default 20
        Stop when so many of them differ as much as the judges do: p is then known well
        enough, and is `enough` over the number of draws.
    rng : numpy.random.Generator or int, default 0
        The source of randomness.

    Returns
    -------
    Test
        Two-sided, and right for any statistic and any number of units: under the null
        the two judges are exchangeable within each unit.

    Raises
    ------
    UndefinedStatistic
        If the statistic has no value for one of the judges.
    ValidationError
        If the two are not aligned, hold anything but finite numbers, there are fewer
        than two units, or `draws` or `enough` is no whole number above 0.

    References
    ----------
    Fisher (1935), *The Design of Experiments*, section 21; stopping early: Besag &
    Clifford (1991), *Biometrika* 78(2).

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> first, second = [[9, 1], [8, 2], [9, 1]] * 4, [[5, 5], [4, 6], [9, 1]] * 4
    >>> def share(sums):
    ...     return sums[:, 0] / sums.sum(axis=1)
    >>> swap_test(first, second, share, null="equal shares")
    p = 0.00704 (n = 12, random exchanges; null: equal shares)
    """
    one, two = floats("first", first), floats("second", second)
    for name, units_of in (("first", one), ("second", two)):
        if not np.isfinite(units_of).all():
            raise ValidationError(f"{name} holds what is no finite number; give counts")
    if one.shape != two.shape or one.ndim < 2 or len(one) < 2:
        raise ValidationError(
            f"first has shape {one.shape} and second {two.shape}; give the same units, "
            "at least two, in the same order"
        )
    draws, enough = whole("draws", draws, least=1), whole("enough", enough, least=1)
    units = len(one)
    total, half = one.sum(0) + two.sum(0), (one - two).reshape(units, -1) / 2

    def differences(signs: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        swapped = total / 2 + (signs @ half).reshape(-1, *total.shape)
        return np.asarray(statistic(swapped) - statistic(total - swapped))

    observed = abs(float(differences(np.ones((1, units)))[0]))
    if np.isnan(observed):
        raise UndefinedStatistic("the statistic has no value for one of the judges")
    generator = random_generator(rng)
    extreme, done = 0, 0
    while done < draws:
        size = min(1000, draws - done)
        signs = generator.integers(0, 2, (size, units)) * 2.0 - 1
        # What ties in exact arithmetic must not be told apart by rounding; exchanges
        # without a value count against a difference.
        found = ~(np.abs(differences(signs)) < observed * (1 - 1e-9))
        running = extreme + np.cumsum(found)
        if running[-1] >= enough:
            done += int(np.argmax(running >= enough)) + 1
            return Test(enough / done, units, null, "random exchanges")
        extreme, done = int(running[-1]), done + size
    return Test((extreme + 1) / (done + 1), units, null, "random exchanges")


def mcnemar(
    only_first: int,
    only_second: int,
    *,
    method: Literal["exact", "chi2", "chi2-corrected"] = "exact",
    null: str = "both are right equally often",
) -> Test:
    """Do two judges on the same items, or two slots, differ?

    Only the items on which exactly one of the two succeeds can tell.

    Parameters
    ----------
    only_first, only_second : int
        Discordant counts: items on which only the first, or only the second, succeeds.
    method : {"exact", "chi2", "chi2-corrected"}, default "exact"
        Exact binomial on the discordant items; McNemar's chi-squared without, or with
        Edwards' continuity correction.
    null : str
        The hypothesis of no difference, in words.

    Returns
    -------
    Test
        `n` counts the discordant items. Without any, the data say nothing and p is 1.

    Raises
    ------
    ValidationError
        If a count is no whole number ≥ 0 or the method is unknown.

    References
    ----------
    McNemar (1947), *Psychometrika* 12(2); Edwards (1948), *Psychometrika* 13(3).

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> mcnemar(24, 4)
    p = 0.00018 (n = 28, exact McNemar; null: both are right equally often)
    """
    only_first = whole("only_first", only_first)
    only_second = whole("only_second", only_second)
    n = only_first + only_second
    if method not in ("exact", "chi2", "chi2-corrected"):
        raise ValidationError(
            f"unknown method {method!r}; choose 'exact', 'chi2' or 'chi2-corrected'"
        )
    if n == 0:
        return Test(1.0, 0, null, f"{method} McNemar")
    if method == "exact":
        p = binomial_test(only_first, n).p_value
    else:
        correction = 1 if method == "chi2-corrected" else 0
        difference = max(0, abs(only_first - only_second) - correction)
        p = float(special.chdtrc(1, difference**2 / n))
    return Test(p, n, null, f"{method} McNemar")


def paired_difference(
    both: int,
    only_first: int,
    only_second: int,
    neither: int,
    *,
    interval: Literal["bootstrap", "bonett-price"] = "bonett-price",
    resamples: int = 10_000,
    rng: Rng = 0,
    level: float = 0.95,
) -> Estimate:
    """By how much is the first of two judges more often right on the same items?

    Parameters
    ----------
    both, only_first, only_second, neither : int
        How many items both, only one, or none of the two gets right.
    interval : {"bonett-price", "bootstrap"}, default "bonett-price"
        The adjusted Wald interval, or percentiles of a paired bootstrap: items are
        drawn again with both their verdicts, so the judges stay paired.
    resamples : int, default 10000
        Bootstrap samples.
    rng : Generator or int, default 0
        Randomness of the bootstrap.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate
        Share of the first minus share of the second, in [−1, 1].

    Raises
    ------
    UndefinedStatistic
        If there are no items.
    ValidationError
        If a count is no whole number ≥ 0 or the interval is unknown.

    References
    ----------
    Bonett & Price (2012), *Journal of Educational and Behavioral Statistics* 37(4), for
    the interval.

    Notes
    -----
    The bootstrap draws the four counts from a multinomial distribution, which is the
    same as drawing items. It is too narrow where few items tell the judges apart: with
    shares of .99 and .9 a nominal 95 % covered 58 % of simulated cases of ten items and
    84 % of 20, where Bonett and Price's interval covered 96 % or more.

    Chapter: *JudgeBench*.

    Examples
    --------
    >>> paired_difference(170, 55, 38, 87)
    0.049 [-0.006, 0.102] (n = 350, Bonett–Price)
    """
    table = np.array(
        [
            whole("both", both),
            whole("only_first", only_first),
            whole("only_second", only_second),
            whole("neither", neither),
        ],
        float,
    )
    n = int(table.sum())
    if n == 0:
        raise UndefinedStatistic("two judges cannot be compared on 0 items")
    if interval == "bonett-price":
        return signed_share(only_first, only_second, n, level=level)
    if interval != "bootstrap":
        raise ValidationError(
            f"unknown interval {interval!r}; choose 'bonett-price' or 'bootstrap'"
        )
    replicates = bootstrap(
        lambda draws: (draws[:, 1] - draws[:, 2]) / n, np.eye(4), table, resamples, rng
    )
    return from_replicates(
        (only_first - only_second) / n,
        replicates,
        n,
        f"paired bootstrap, {replicates.size} resamples of items",
        level=level,
    )


def signed_share(
    plus: float,
    minus: float,
    n: int,
    *,
    effective: float | None = None,
    method: str = "Bonett–Price",
    level: float = 0.95,
) -> Estimate:
    """How far do units that count +1 outweigh units that count −1?

    Parameters
    ----------
    plus, minus : float
        How many of the `n` units count +1 and −1; the rest count 0.
    n : int
        The number of units, at least 1.
    effective : float, optional
        The number of independent units that they are worth; `n` if not given.
    method : str
        How the interval was made, in words.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate
        (plus − minus) / n, in [−1, 1].

    Raises
    ------
    UndefinedStatistic
        If `n` is 0.
    ValidationError
        If the counts are negative or add up to more than `n`.

    References
    ----------
    Bonett & Price (2012), as in `paired_difference`.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    >>> signed_share(60, 0, 80)
    0.750 [0.630, 0.833] (n = 80, Bonett–Price)
    """
    check_real(plus=plus, minus=minus)
    n = whole("n", n)
    if n == 0:
        raise UndefinedStatistic("0 units lean nowhere; give at least one")
    if not (plus >= 0 and minus >= 0 and plus + minus <= n):
        raise ValidationError(
            f"{plus} and {minus} of {n} units: need plus >= 0, minus >= 0 and "
            "plus + minus <= n"
        )
    size = n if effective is None else effective
    check_positive(effective=size)
    up, down = plus * size / n, minus * size / n
    p, q = (up + 1) / (size + 2), (down + 1) / (size + 2)
    half = normal_quantile(upper_end(level)) * np.sqrt(
        (p + q - (p - q) ** 2) / (size + 2)
    )
    low, high = max(-1.0, float(p - q - half)), min(1.0, float(p - q + half))
    return Estimate((plus - minus) / n, low, high, n, method, level)


def welch_test(
    one: npt.ArrayLike, two: npt.ArrayLike, *, null: str, level: float = 0.95
) -> tuple[Estimate, Test]:
    """Do the means of two independent groups differ, and by how much?

    Parameters
    ----------
    one, two : array_like of float
        The values of the two groups, at least two each.
    null : str
        The hypothesis of no difference, in words.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate, Test
        Mean of the first group minus mean of the second, and Welch's t-test, which does
        not take the groups to spread equally.

    Raises
    ------
    UndefinedStatistic
        If a group has fewer than two values.
    ValidationError
        If a value is missing or not finite.

    References
    ----------
    Welch (1947), *Biometrika* 34(1–2).

    Notes
    -----
    Without any spread in either group there is no interval, and p is that of the exact
    permutation test: two groups of two values each can't show more than p = 1/3. On
    shares and half shares (.5 to .99, groups of 10 to 30) the interval, where there is
    one, covered 92 to 100 % of simulated cases.

    Chapter: *Does the order matter?*

    Examples
    --------
    >>> welch_test([1, 1, 0, 1], [0, 0, 1, 0], null="equal means")[0]
    0.500 [-0.365, 1.365] (n = 8, Welch)
    """
    groups = [floats("one", one), floats("two", two)]
    for name, group in zip(("one", "two"), groups, strict=True):
        if group.ndim != 1 or not np.isfinite(group).all():
            raise ValidationError(
                f"{name} has shape {group.shape} and "
                f"{np.count_nonzero(~np.isfinite(group))} values that are missing or "
                "infinite; give one finite number per unit"
            )
    if min(group.size for group in groups) < 2:
        raise UndefinedStatistic(
            f"groups of {groups[0].size} and {groups[1].size} values; each needs two"
        )
    n = groups[0].size + groups[1].size
    value = float(groups[0].mean() - groups[1].mean())
    parts = np.array([group.var(ddof=1) / group.size for group in groups])
    variance = float(parts.sum())
    if variance == 0:
        nothing = Estimate(value, np.nan, np.nan, n, "no interval: no spread", level)
        sizes = [group.size for group in groups]
        # Of all ways to deal the values out, only the one at hand separates them, and
        # its mirror image if the groups are equally large.
        ways = math.comb(n, sizes[0]) / (1 + (sizes[0] == sizes[1]))
        p = 1.0 if value == 0 else 1 / ways
        return nothing, Test(p, n, null, "exact permutations")
    # Shares, since the squares of small variances would vanish.
    shares = parts / variance
    freedom = 1 / float((shares**2 / [group.size - 1 for group in groups]).sum())
    error = float(np.sqrt(variance))
    p = 2 * float(special.stdtr(freedom, -abs(value) / error))
    estimate = from_standard_error(
        value, error, n, "Welch", level=level, freedom=freedom
    )
    return estimate, Test(p, n, null, "Welch t")


def homogeneity_test(
    counts: npt.ArrayLike, *, method: Literal["chi2", "g"] = "chi2"
) -> Test:
    """Do several independent samples give the categories in the same shares?

    Parameters
    ----------
    counts : array_like of int, shape (samples, categories)
        How often each sample gave each category.
    method : {"chi2", "g"}, default "chi2"
        Pearson's chi-squared, or the likelihood-ratio statistic G. Both are
        approximations, good if hardly any expected count is below 5.

    Returns
    -------
    Test
        `n` counts all units. If only one category occurs, the samples are alike and p
        is 1.

    Raises
    ------
    UndefinedStatistic
        If a sample is empty.
    ValidationError
        If the counts are no table of whole numbers, or the method is unknown.

    References
    ----------
    Pearson (1900), *Philosophical Magazine* 50; G: Wilks (1935), *Annals of
    Mathematical Statistics* 6(4).

    Notes
    -----
    Two judges of the *same* items are no independent samples: their habits are compared
    by `marginal_homogeneity`.

    Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> homogeneity_test([[50, 30, 20], [30, 40, 30]])
    p = 0.0148 (n = 200, chi2; null: all samples have the same shares)
    """
    if method not in ("chi2", "g"):
        raise ValidationError(f"unknown method {method!r}; choose 'chi2' or 'g'")
    table = _count_table("counts", counts)
    if table.shape[0] < 2 or (empty := np.flatnonzero(table.sum(axis=1) == 0)).size:
        raise UndefinedStatistic(
            "shares are compared between at least two samples, none of them empty; "
            f"got {table.shape[0]} samples"
            + (f", empty: {empty[:5].tolist()}" if table.shape[0] > 1 else "")
        )
    table = table[:, table.sum(axis=0) > 0]
    n = float(table.sum())
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    statistic = (
        ((table - expected) ** 2 / expected).sum()
        if method == "chi2"
        else 2 * special.xlogy(table, table / expected).sum()
    )
    freedom = (table.shape[0] - 1) * (table.shape[1] - 1)
    p = float(special.chdtrc(freedom, max(0.0, statistic))) if freedom else 1.0
    return Test(p, int(n), "all samples have the same shares", method)


def marginal_homogeneity(table: npt.ArrayLike) -> Test:
    """Do two judges of the same items use the categories equally often?

    Only the items on which they differ can tell, as in McNemar's test, to which this
    one comes down for two categories.

    Parameters
    ----------
    table : array_like of int, shape (k, k)
        Counts: entry (i, j) says on how many items the first judge said i and the
        second j.

    Returns
    -------
    Test
        Chi-squared, an approximation; `n` counts the items on which the judges differ.
        Without any, the data say nothing and p is 1.

    Raises
    ------
    ValidationError
        If the table is not square or holds no whole numbers.

    References
    ----------
    Stuart (1955), *Biometrika* 42(3/4); Maxwell (1970), *British Journal of Psychiatry*
    116.

    Notes
    -----
    Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> marginal_homogeneity([[20, 10, 5], [3, 30, 15], [0, 5, 40]])
    p = 0.00103 (n = 38, Stuart–Maxwell; null: both use the categories equally often)
    """
    counts = _count_table("table", table)
    if counts.shape[0] != counts.shape[1]:
        raise ValidationError(
            f"table has shape {counts.shape}; give one row and one column per category"
        )
    differ = counts + counts.T
    np.fill_diagonal(differ, 0)
    gap = counts.sum(axis=1) - counts.sum(axis=0)
    # Categories that are never exchanged leave the covariance singular.
    covariance = np.diag(differ.sum(axis=1)) - differ
    freedom = int(np.linalg.matrix_rank(covariance)) if differ.any() else 0
    statistic = float(gap @ np.linalg.pinv(covariance, hermitian=True) @ gap)
    p = float(special.chdtrc(freedom, max(0.0, statistic))) if freedom else 1.0
    n = int(differ.sum() / 2)
    return Test(p, n, "both use the categories equally often", "Stuart–Maxwell")


def _count_table(name: str, counts: npt.ArrayLike) -> npt.NDArray[np.float64]:
    table = array(name, counts)
    if table.ndim != 2 or not table.size or table.dtype.kind not in "iu":
        raise ValidationError(
            f"{name} has dtype {table.dtype} and shape {table.shape}; give a table of "
            "counts, whole numbers"
        )
    if (table < 0).any():
        raise ValidationError(
            f"{name} has negative counts; a category occurs 0 times or more"
        )
    return table.astype(float)


def holm(p_values: Mapping[Any, float]) -> dict[Any, float]:
    """Correct p-values for having asked many questions at once.

    Parameters
    ----------
    p_values : mapping
        Question → p-value.

    Returns
    -------
    dict
        The same questions in the same order → adjusted p-value. Calling "found"
        whatever is at most α here is wrong about even one true null with a probability
        of at most α, however the questions depend on each other.

    Raises
    ------
    ValidationError
        If a p-value is not in [0, 1].

    References
    ----------
    Holm (1979), *Scandinavian Journal of Statistics* 6(2).

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> holm({"x": 0.01, "y": 0.04, "z": 0.03})
    {'x': 0.03, 'y': 0.06, 'z': 0.06}
    """
    if not hasattr(p_values, "items"):
        raise ValidationError(f"p_values is {p_values!r}; give a mapping, name → p")
    check_real(**{f"p_values[{key!r}]": p for key, p in p_values.items()})
    wrong = {key: p for key, p in p_values.items() if not 0 <= p <= 1}
    if wrong:
        raise ValidationError(
            f"p-values outside [0, 1]: {dict(list(wrong.items())[:5])}"
        )
    adjusted: dict[Any, float] = {}
    highest = 0.0
    for rank, key in enumerate(sorted(p_values, key=lambda k: p_values[k])):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[key]))
        adjusted[key] = highest
    return {key: adjusted[key] for key in p_values}
