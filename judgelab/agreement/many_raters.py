"""Many judges, any of them missing: Fleiss, Randolph and Krippendorff by one formula.

All three are 1 − (observed disagreement) / (disagreement expected by chance), where the
observed one averages over the pairs of ratings within an item. So all are functions of
the *mean over items* of a few features (how many ratings of each category, how much
disagreement), and the items are the independent units of every interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from judgelab import intervals
from judgelab._checks import array, floats
from judgelab.agreement.two_raters import (
    FIRST_STEP,
    Floats,
    Interval,
    Symmetric,
    Undefined,
    check_options,
    relabelling,
)
from judgelab.counts import Scale, cluster_codes, count_by_category
from judgelab.errors import ValidationError
from judgelab.estimate import Estimate

Measurement = Literal["nominal", "ordinal", "interval", "ratio"]


def fleiss_kappa(
    counts: npt.ArrayLike,
    *,
    repeats: npt.ArrayLike | None = None,
    symmetric: Symmetric = False,
    interval: Interval = "score",
    level: float = 0.95,
    resamples: int = 2000,
    rng: intervals.Rng | None = None,
    undefined: Undefined = "raise",
) -> Estimate:
    """How far do several judges agree beyond chance, if chance is their common habit?

    Parameters
    ----------
    counts : array_like, shape (items, k)
        How many judges put each item into each category of a declared scale
        (`judgelab.counts.category_counts`); every item has the same number of ratings,
        not necessarily from the same judges.
    repeats : array_like of int, shape (items,), optional
        How many items have each row of `counts`, if rows are distinct patterns.
    symmetric, interval : optional
        As in `krippendorff_alpha`; the units are items.
    level : float, default 0.95
        Nominal coverage.
    resamples, rng
        For the bootstrap.
    undefined : {"raise", "nan"}, default "raise"
        What to do when the coefficient does not exist.

    Returns
    -------
    Estimate
        1 is perfect agreement, 0 that of chance; n counts the items.

    Raises
    ------
    UndefinedStatistic
        If no item has two ratings or all ratings are in one category.
    ValidationError
        If items differ in their number of ratings; `krippendorff_alpha` takes those.

    References
    ----------
    Fleiss (1971), *Psychological Bulletin* 76(5).

    Notes
    -----
    For two judges this is Scott's pi, symmetric or not. Chapter: *Do two judges agree?*

    Examples
    --------
    >>> fleiss_kappa([[3, 0], [2, 1], [0, 3], [3, 0], [0, 3]], interval="asymptotic")
    0.732 [-0.020, 1.000] (n = 5, delta method over items)
    """
    items = _checked_items(counts, repeats)
    _check_equal_ratings(items)
    coefficient = _Coefficient("nominal", None, relabelling(symmetric, items.k))
    return _estimate(items, coefficient, interval, level, resamples, rng, undefined)


def randolph_kappa(
    counts: npt.ArrayLike,
    *,
    repeats: npt.ArrayLike | None = None,
    interval: Interval = "score",
    level: float = 0.95,
    resamples: int = 2000,
    rng: intervals.Rng | None = None,
    undefined: Undefined = "raise",
) -> Estimate:
    """How far do several judges agree beyond uniform guessing on the declared scale?

    Parameters
    ----------
    counts, repeats, interval, level, resamples, rng, undefined
        As in `fleiss_kappa`.

    Returns
    -------
    Estimate
        1 is perfect agreement, 0 that of uniform guessing; n counts the items.

    Raises
    ------
    UndefinedStatistic
        If no item has two ratings.
    ValidationError
        If items differ in their number of ratings.

    References
    ----------
    Randolph (2005), *Free-marginal multirater kappa*.

    Notes
    -----
    For two judges this is the coefficient of Brennan and Prediger. How the categories
    are named plays no part in it. Chapter: *Do two judges agree?*

    Examples
    --------
    >>> randolph_kappa([[3, 0], [2, 1], [0, 3], [3, 0]], interval="asymptotic")
    0.667 [-0.394, 1.000] (n = 4, delta method over items)
    """
    items = _checked_items(counts, repeats)
    _check_equal_ratings(items)
    coefficient = _Coefficient("nominal", None, None, chance="uniform")
    return _estimate(items, coefficient, interval, level, resamples, rng, undefined)


def krippendorff_alpha(
    ratings: npt.ArrayLike,
    *,
    level: Measurement,
    scale: Scale,
    counted: bool = False,
    repeats: npt.ArrayLike | None = None,
    clusters: npt.ArrayLike | None = None,
    symmetric: Symmetric = False,
    missing_code: int | None = None,
    interval: Interval = "score",
    coverage: float = 0.95,
    resamples: int = 2000,
    rng: intervals.Rng | None = None,
    undefined: Undefined = "raise",
) -> Estimate:
    """How reliable are ratings by any number of judges, some of them missing?

    Parameters
    ----------
    ratings : array_like, shape (items, raters)
        One row per item, one column per rater (the transpose of what some packages
        take), nan or None where a rating is missing; or, if `counted`, shape
        (items, k): how many ratings of each category an item has. Items with fewer than
        two ratings hold no pair and are left out, as the coefficient is defined.
    level : {"nominal", "ordinal", "interval", "ratio"}
        The level of measurement, which says how much two labels differ: all the same;
        by the ratings that lie between them (Krippendorff's definition, with half of
        either end); by the square of their difference; by the square of difference over
        sum.
    scale : sequence of length k
        The categories that could be given, in order; numbers for "interval" and
        "ratio".
    counted : bool, default False
        Whether `ratings` are counts already (`judgelab.counts.category_counts`).
    repeats : array_like of int, shape (items,), optional
        How many items have each row, if rows are distinct patterns.
    clusters : array_like, shape (items,), optional
        What each row belongs to (a query, a question), if items of one cluster are not
        independent of each other. The value stays; the interval rests on whole
        clusters.
    symmetric : bool or sequence of int, default False
        Whether the naming of the categories is arbitrary, item by item, as in
        `cohen_kappa`. In pairwise votes "A" and "B" only name the order in which the
        two answers stand in the records; the plain coefficient changes if it is
        exchanged on some items. True takes either naming for equally likely on every
        item (categories 0 and 1 exchanged; for k = 2, or k = 3 with the tie last);
        other scales need a permutation that undoes itself, and at the ordinal level
        that is the reversed scale: (2, 1, 0) for A, tie, B.
    missing_code : int, optional
        The integer that stands for a missing rating in a matrix of integers.
    interval : {"score", "asymptotic", "bootstrap"}, default "score"
        See Notes.
    coverage : float, default 0.95
        Nominal coverage of the interval.
    resamples, rng
        For the bootstrap.
    undefined : {"raise", "nan"}, default "raise"
        What to do when the coefficient does not exist.

    Returns
    -------
    Estimate
        1 is perfect reliability, 0 that of ratings dealt out at random; n counts the
        items with at least two ratings.

    Raises
    ------
    UndefinedStatistic
        If no item has two ratings or all ratings are the same.
    ValidationError
        If a rating is not on the scale, the scale does not fit the level, categories
        that differ in their differences to others are exchanged, or there is
        one cluster only.

    References
    ----------
    Krippendorff (2011), *Computing Krippendorff's Alpha-Reliability*; (2019), *Content
    Analysis*, 4th edition, chapter 12.

    Notes
    -----
    Every interval takes the items as the independent units, unless clusters are given:
    then n is replaced by the number of independent items that would give the same
    standard error (`judgelab.intervals.effective_size`), and the bootstrap draws whole
    clusters. ``"asymptotic"`` is the
    delta method with Student's quantile, ``"bootstrap"`` the percentiles over resampled
    items. Both are far too short when few items disagree or a category is rare: at a
    nominal 95 % they covered α = .9 in 55 to 70 % of simulations of ten items with
    three raters, and in 20 % when nine ratings of ten were in one category.
    ``"score"`` keeps the values that a score test along a line does not reject: from
    the observed items towards items rated at random (same shares of the categories) on
    one side, towards full agreement on the other. It covered 93 % or more (10 to 200
    items, 3 and 10 raters, 2 and 4 categories, nominal and ordinal, α from 0 to .9) and
    is on the safe side for ten or twenty items. With clusters it covered 94 to 96 % of
    simulated cases (8 to 50 clusters of 20 to 170 items, two raters, ordinal), where
    the interval over items covered 57 to 82 %.

    If `symmetric`, chance draws two different ratings and names the categories of each
    item anew: the shares are averaged with those under the other names. The observed
    disagreement stays, for it compares ratings of one item. Renaming any of the items
    changes neither value nor interval. In simulated votes on A, B and tie, with the
    better answer always named A, the mean was within .02 of the true value and the
    interval covered 92 to 100 % (10 to 100 items, 2 to 6 raters, α from 0 to .9).

    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> ratings = [[1, 1, None], [2, 2, 3], [3, 3, 3], [3, 3, 3], [2, 2, 2], [1, 2, 1]]
    >>> krippendorff_alpha(ratings, level="ordinal", scale=[1, 2, 3])
    0.823 [0.110, 0.971] (n = 6, score interval over items)

    All agree that the answer called A is better, but for one vote of twelve:

    >>> votes = [["A", "A", "A"], ["A", "A", "B"], ["A", "A", "A"], ["A", "A", "A"]]
    >>> options = {"level": "nominal", "scale": ["A", "B", "tie"]}
    >>> round(krippendorff_alpha(votes, **options).value, 3)
    0.0
    >>> round(krippendorff_alpha(votes, symmetric=True, **options).value, 3)
    0.667
    """
    if not hasattr(scale, "__len__"):
        raise ValidationError(f"scale is {scale!r}; give a list of the categories")
    intervals.upper_end(coverage, "coverage")
    labels = np.asarray(list(scale), object)
    values = _scale_values(labels, level)
    if counted:
        items = _checked_items(ratings, repeats, len(labels), "ratings")
    else:
        counts = count_by_category(ratings, scale=scale, missing_code=missing_code)
        items = _as_items(counts, repeats)
    if clusters is not None:
        codes = cluster_codes(clusters, items.ratings.shape)[1]
        items = replace(items, clusters=codes)
    exchanged = relabelling(symmetric, len(labels))
    _check_exchange(level, values, exchanged)
    coefficient = _Coefficient(level, values, exchanged, without_replacement=True)
    return _estimate(items, coefficient, interval, coverage, resamples, rng, undefined)


def _check_exchange(
    level: Measurement, values: Floats | None, exchanged: npt.NDArray[np.intp] | None
) -> None:
    """Refuse to exchange categories that the level of measurement tells apart."""
    if exchanged is None or level == "nominal":
        return
    k = exchanged.size
    alike = (exchanged == np.arange(k)[::-1]).all()
    if values is not None:
        differences = _Coefficient(level, values, None).differences(np.full(k, 1 / k))
        alike = np.allclose(differences[exchanged[:, None], exchanged], differences)
    if not alike and (exchanged != np.arange(k)).any():
        raise ValidationError(
            f"symmetric exchanges categories as {tuple(exchanged.tolist())}, but at "
            f"the {level} level that changes how far they are from others; give the "
            f"reversed scale, {tuple(range(k))[::-1]}, if that changes no difference, "
            'or take level="nominal"'
        )


@dataclass(frozen=True, slots=True)
class _Items:
    """Distinct patterns of category counts and how many items have each."""

    counts: npt.NDArray[Any]
    """Shape (k, patterns): categories first, so that sums run along contiguous rows."""
    repeats: Floats
    ratings: Floats
    """How many ratings each pattern has."""
    clusters: npt.NDArray[np.intp] | None = None
    """To which cluster each pattern belongs, if items are not independent."""

    @property
    def k(self) -> int:
        """The number of categories."""
        return len(self.counts)

    def pairable(self) -> _Items:
        """Leave out the patterns without a pair of ratings."""
        kept = (self.ratings >= 2) & (self.repeats > 0)
        if kept.all():
            return self
        clusters = None if self.clusters is None else self.clusters[kept]
        return _Items(
            self.counts[:, kept], self.repeats[kept], self.ratings[kept], clusters
        )


@dataclass(frozen=True, slots=True)
class _Moments:
    """What a distribution over items tells: means and second moments of the features.

    The features of an item are its k category counts and its disagreement, the sum of
    the differences over its ordered pairs of ratings divided by (ratings − 1).
    """

    mean: Floats
    second: Floats
    coincidences: Floats
    """Mean over items of the coincidence matrix, whose product with the differences is
    the disagreement."""

    def towards(self, other: _Moments, step: float) -> _Moments:
        """Mix two distributions over items."""
        pairs = (
            (self.mean, other.mean),
            (self.second, other.second),
            (self.coincidences, other.coincidences),
        )
        return _Moments(*((1 - step) * mine + step * theirs for mine, theirs in pairs))


@dataclass(frozen=True, slots=True)
class _Coefficient:
    """One coefficient, as a function of the moments of the items."""

    level: Measurement
    values: Floats | None
    relabelling: npt.NDArray[np.intp] | None
    """The exchange of categories that changes nothing but names, if there is one."""
    chance: Literal["pooled", "uniform"] = "pooled"
    without_replacement: bool = False
    """Whether chance draws two *different* ratings, as in alpha, unbiased so."""
    met_itself: float = 0.0
    """How often one rating would be drawn twice otherwise: 1 in the number of them."""

    def folded(self, counts: Floats) -> Floats:
        """Average counts, or shares, with those under the other names."""
        if self.relabelling is None:
            return counts
        return (counts + counts[..., self.relabelling]) / 2

    def differences(self, shares: Floats) -> Floats:
        """Return the k × k matrix of squared differences between the categories."""
        if self.level == "nominal":
            return 1 - np.eye(shares.shape[-1])
        if self.level == "ordinal":
            # Krippendorff's ordinal metric is the interval metric on mid-ranks.
            ranks = np.cumsum(shares, -1) - shares / 2
            return (ranks[..., :, None] - ranks[..., None, :]) ** 2
        assert self.values is not None
        difference = np.subtract.outer(self.values, self.values)
        if self.level == "interval":
            return difference**2
        total = np.add.outer(self.values, self.values)
        relative: Floats = (difference / np.where(total == 0, 1, total)) ** 2
        return relative

    def expected(self, shares: Floats, differences: Floats) -> Floats:
        """Return the disagreement expected between two ratings."""
        if self.chance == "uniform":
            return np.full(shares.shape[:-1], 1 - 1 / shares.shape[-1])
        expected: Floats = np.einsum(
            "...i,...ij,...j->...", shares, differences, shares
        )
        if self.met_itself and self.relabelling is not None:
            # Under the other name a rating would differ from itself.
            own = np.arange(shares.shape[-1])
            other_name = (shares * differences[..., own, self.relabelling]).sum(-1)
            expected -= self.met_itself * other_name / 2
        return expected / (1 - self.met_itself)

    def value(self, mean: Floats) -> Floats:
        """1 − observed / expected disagreement, `nan` where none is expected.

        `mean` holds means of features along its last axis.
        """
        total = mean[..., :-1].sum(-1)
        shares = mean[..., :-1] / total[..., None]
        expected = self.expected(shares, self.differences(shares))
        observed = mean[..., -1] / total
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(expected > 0, 1 - observed / expected, np.nan)

    def gradient(self, moments: _Moments) -> Floats:
        """Differentiate the value in the means of the features."""
        counts, disagreement = moments.mean[:-1], moments.mean[-1]
        total = counts.sum()
        shares = counts / total
        differences = self.differences(shares)
        observed = disagreement / total
        expected = float(self.expected(shares, differences))
        by_counts = np.full(len(counts), -observed / total)
        if self.chance == "uniform":
            expected_by_counts = np.zeros(len(counts))
        else:
            # What a rating and its other name differ by does not move, but for 1 in N.
            pooled = differences @ shares
            expected_by_counts = 2 * (pooled - shares @ pooled) / total
        if self.level == "ordinal":
            # The ranks move with the shares too, and with them every difference.
            ranks = np.cumsum(shares) - shares / 2
            joint = moments.coincidences / total
            by_rank = 4 * (joint.sum(1) * ranks - joint @ ranks)
            expected_by_rank = 4 * shares * (ranks - shares @ ranks)
            by_counts += self._through_ranks(by_rank, shares) / total
            expected_by_counts += self._through_ranks(expected_by_rank, shares) / total
        expected_by_counts /= 1 - self.met_itself
        gradient = np.append(by_counts, 1 / total) / expected
        gradient[:-1] -= observed / expected**2 * expected_by_counts
        return gradient

    def variance(self, moments: _Moments) -> float:
        """Variance of the value over samples of items, times their number."""
        gradient = self.gradient(moments)
        covariance = moments.second - np.outer(moments.mean, moments.mean)
        return max(float(gradient @ covariance @ gradient), 0.0)

    @staticmethod
    def _through_ranks(by_rank: Floats, shares: Floats) -> Floats:
        """Differentiate in the counts what depends on them through the mid-ranks."""
        above = np.cumsum(by_rank[::-1])[::-1]
        by_share = above - by_rank / 2
        centred: Floats = by_share - shares @ by_share
        return centred


def _estimate(
    items: _Items,
    coefficient: _Coefficient,
    interval: Interval,
    level: float,
    resamples: int,
    rng: intervals.Rng | None,
    undefined: Undefined,
) -> Estimate:
    """Compute one coefficient with its interval."""
    check_options(interval, level, undefined)
    items = items.pairable()
    n = round(float(items.repeats.sum()))
    if n == 0:
        return intervals.give_up("no item has two ratings", 0, undefined)
    ratings = float(items.repeats @ items.ratings)
    if coefficient.without_replacement:
        coefficient = replace(coefficient, met_itself=1 / ratings)
    shares = np.array([row @ items.repeats for row in items.counts]) / ratings
    shares = coefficient.folded(shares)
    differences = coefficient.differences(shares)
    if coefficient.chance == "pooled" and np.count_nonzero(shares) == 1:
        return intervals.give_up(
            "all ratings are in one category, so no disagreement is expected by chance "
            "and the coefficient is 0/0",
            n,
            undefined,
        )
    observed = _observed(items, coefficient, differences)
    value = float(coefficient.value(observed.mean))
    if n < 2:
        return Estimate(value, np.nan, np.nan, n, "no interval from one item", level)
    units, size = "items", n - 1.0
    quantile = float(special.stdtrit(n - 1, intervals.upper_end(level)))
    if items.clusters is not None:
        clusters = np.unique(items.clusters).size
        if clusters == 1:
            raise ValidationError(
                "all items are in one cluster; an interval needs at least two"
            )
        units = f"{clusters} clusters"
        size = _effective_size(items, coefficient, observed, differences, level)
        quantile = intervals.normal_quantile(intervals.upper_end(level))
    if interval == "bootstrap":
        replicates = _replicates(items, coefficient, resamples, rng)
        return intervals.from_replicates(
            value,
            replicates,
            n,
            f"bootstrap, {replicates.size} resamples of {units}",
            level=level,
            undefined=undefined,
        )
    if interval == "asymptotic":
        half = quantile * math.sqrt(coefficient.variance(observed) / size)
        low, high = max(value - half, -1.0), min(value + half, 1.0)
        return Estimate(value, low, high, n, f"delta method over {units}", level)
    m, weight = _numbers_of_ratings(items)
    low, high = (
        _score_bound(coefficient, observed, target, size, quantile)
        for target in (
            _random_items(m, weight, shares, differences),
            _agreeing_items(m, weight, shares),
        )
    )
    method = f"score interval over {units}"
    return Estimate(value, min(low, value), max(high, value), n, method, level)


def _effective_size(
    items: _Items,
    coefficient: _Coefficient,
    observed: _Moments,
    differences: Floats,
    level: float,
) -> float:
    """How many independent items would give the same standard error?"""
    assert items.clusters is not None
    counts = items.counts.astype(float)
    disagreement = (differences @ counts * counts).sum(0) / (items.ratings - 1)
    deviations = np.vstack([counts, disagreement]) - observed.mean[:, None]
    influence = coefficient.gradient(observed) @ deviations * items.repeats
    sums = np.bincount(items.clusters, weights=influence)
    clusters, n = np.unique(items.clusters).size, float(items.repeats.sum())
    clustered = clusters / (clusters - 1) * float(sums @ sums) / n**2
    independent = coefficient.variance(observed) / n
    return intervals.effective_size(independent, clustered, n, clusters, level)


def _observed(
    items: _Items, coefficient: _Coefficient, differences: Floats
) -> _Moments:
    """Moments of the items as they are.

    The second moments are those under the names that the categories have: gradients are
    the same for a category and the one it is exchanged with, and so are the variances.
    """
    k = len(items.counts)
    mean, second, joint = np.zeros(k + 1), np.zeros((k + 1, k + 1)), np.zeros((k, k))
    for start in range(0, items.ratings.size, _CHUNK):
        chunk = slice(start, start + _CHUNK)
        counts = items.counts[:, chunk].astype(float)
        repeats, pairs = items.repeats[chunk], items.ratings[chunk] - 1
        disagreement = (differences @ counts * counts).sum(0) / pairs
        features = np.vstack([counts, disagreement])
        weighted = features * repeats
        mean += weighted.sum(1)
        second += weighted @ features.T
        joint += (counts * (repeats / pairs)) @ counts.T
        joint -= np.diag(counts @ (repeats / pairs))
    n = items.repeats.sum()
    mean[:-1] = coefficient.folded(mean[:-1])
    if (swap := coefficient.relabelling) is not None:
        joint = (joint + joint[swap[:, None], swap]) / 2
    return _Moments(mean / n, second / n, joint / n)


_CHUNK = 1 << 12
"""Items handled at a time: few enough for the temporaries to stay in the cache."""


def _random_items(
    m: Floats, weight: Floats, shares: Floats, differences: Floats
) -> _Moments:
    """Moments if every rating were an independent draw from the shares.

    A share `weight` of the items has `m` ratings. The disagreement of an item is then m
    times a U-statistic of order 2; its variance is Hoeffding's.
    """
    first, square = weight @ m, weight @ m**2
    to_others = differences @ shares
    mean = shares @ to_others
    one = shares @ to_others**2 - mean**2
    two = shares @ differences**2 @ shares - mean**2
    second = np.empty((len(shares) + 1, len(shares) + 1))
    second[:-1, :-1] = (square - first) * np.outer(shares, shares)
    second[:-1, :-1] += first * np.diag(shares)
    second[:-1, -1] = shares * (square * mean + 2 * first * (to_others - mean))
    second[-1, :-1] = second[:-1, -1]
    second[-1, -1] = square * mean**2
    second[-1, -1] += weight @ (2 * m / (m - 1) * (2 * (m - 2) * one + two))
    return _Moments(
        np.append(first * shares, first * mean),
        second,
        first * np.outer(shares, shares),
    )


def _agreeing_items(m: Floats, weight: Floats, shares: Floats) -> _Moments:
    """Moments if all ratings of an item agreed, with the same shares overall."""
    first, square = weight @ m, weight @ m**2
    second = np.zeros((len(shares) + 1, len(shares) + 1))
    second[:-1, :-1] = square * np.diag(shares)
    return _Moments(np.append(first * shares, 0), second, first * np.diag(shares))


def _numbers_of_ratings(items: _Items) -> tuple[Floats, Floats]:
    """Return the numbers of ratings that items have, and the share of each."""
    if items.ratings.max() > items.ratings.size:
        m, number = np.unique(items.ratings, return_inverse=True)
        weight = np.bincount(number, weights=items.repeats)
    else:
        # Few numbers, many items: a table of counts is faster than sorting.
        weight = np.bincount(items.ratings.astype(np.intp), weights=items.repeats)
        m = np.flatnonzero(weight).astype(float)
        weight = weight[weight > 0]
    return m, weight / weight.sum()


def _score_bound(
    coefficient: _Coefficient,
    observed: _Moments,
    target: _Moments,
    n: float,
    quantile: float,
) -> float:
    """Find where a score test on the line to a target begins to reject."""
    value = float(coefficient.value(observed.mean))
    end = float(coefficient.value(target.mean))

    def rejection(step: float) -> float:
        at = observed.towards(target, step)
        distance = float(coefficient.value(at.mean)) - value
        return distance**2 - quantile**2 * coefficient.variance(at) / n

    if end < 1 and (value <= end or rejection(1.0) <= 0):
        # Not even random items are rejected: beyond them the variance stays theirs.
        variance = max(coefficient.variance(target), coefficient.variance(observed))
        return max(value - quantile * float(np.sqrt(variance / n)), -1.0)
    if rejection(FIRST_STEP) >= 0:
        return value
    step = float(optimize.brentq(rejection, FIRST_STEP, 1.0, xtol=1e-12))
    return float(coefficient.value(observed.towards(target, step).mean))


def _replicates(
    items: _Items, coefficient: _Coefficient, resamples: int, rng: intervals.Rng | None
) -> Floats:
    """Draw items; sums of counts and coincidences are all the coefficient needs."""
    patterns, repeats = items.counts.T.astype(float), items.repeats
    if items.clusters is None:
        patterns, inverse = np.unique(patterns, axis=0, return_inverse=True)
        repeats = np.bincount(inverse.ravel(), weights=repeats).astype(float)
    k = patterns.shape[1]
    cells = patterns[:, :, None] * patterns[:, None, :]
    cells[:, np.arange(k), np.arange(k)] -= patterns
    cells /= (patterns.sum(1) - 1)[:, None, None]

    def statistic(sums: Floats) -> Floats:
        counts, coincidences = coefficient.folded(sums[:, :k]), sums[:, k:]
        differences = coefficient.differences(counts / counts.sum(1, keepdims=True))
        disagreement = (coincidences * differences.reshape(-1, k * k)).sum(1)
        return coefficient.value(np.column_stack([counts, disagreement]))

    features = np.concatenate([patterns, cells.reshape(-1, k * k)], axis=1)
    if items.clusters is not None:
        used, group = np.unique(items.clusters, return_inverse=True)
        of_clusters = np.zeros((used.size, features.shape[1]))
        np.add.at(of_clusters, group, features * repeats[:, None])
        features, repeats = of_clusters, np.ones(used.size)
    return intervals.bootstrap(statistic, features, repeats, resamples, rng)


def _checked_items(
    counts: npt.ArrayLike,
    repeats: npt.ArrayLike | None,
    k: int | None = None,
    name: str = "counts",
) -> _Items:
    """Return counts and repeats, checked."""
    table = array(name, counts)
    if table.dtype.kind not in "iuf" or table.ndim != 2 or table.shape[1] < 2:
        raise ValidationError(
            f"{name} has shape {table.shape} and dtype {table.dtype}; give a matrix of "
            "items × categories (k >= 2) with the number of ratings in each"
        )
    if k is not None and table.shape[1] != k:
        raise ValidationError(
            f"{name} has {table.shape[1]} columns, the scale {k} categories"
        )
    right = table >= 0
    if table.dtype.kind == "f":
        right &= np.isfinite(table) & (table == np.floor(table))
    if not right.all():
        wrong = np.flatnonzero(~right.all(1))[:5]
        raise ValidationError(
            f"{name} holds values that are no whole numbers >= 0 in rows "
            f"{wrong.tolist()}: {table[wrong].tolist()}"
        )
    return _as_items(table.T, repeats)


def _as_items(counts: npt.NDArray[Any], repeats: npt.ArrayLike | None) -> _Items:
    """Put counts, categories first, together with checked repeats."""
    ratings = counts.sum(0, dtype=float)
    if repeats is None:
        return _Items(counts, np.ones(ratings.size), ratings)
    times = floats("repeats", repeats)
    if (
        times.shape != ratings.shape
        or not (np.isfinite(times) & (times >= 0) & (times == np.floor(times))).all()
    ):
        raise ValidationError(
            f"repeats has shape {times.shape}; give one whole number >= 0 for each "
            f"of the {ratings.size} rows of counts"
        )
    return _Items(counts, times, ratings)


def _check_equal_ratings(items: _Items) -> None:
    """Refuse items with different numbers of ratings."""
    used = np.flatnonzero(items.repeats > 0)
    odd = used[items.ratings[used] != items.ratings[used[:1]]][:5]
    if odd.size:
        raise ValidationError(
            f"item {used[0]} has {items.ratings[used[0]]:.0f} ratings, items "
            f"{odd.tolist()} have {items.ratings[odd].astype(int).tolist()}; this "
            "kappa needs equal numbers, krippendorff_alpha does not"
        )


def _scale_values(labels: npt.NDArray[np.object_], level: Measurement) -> Floats | None:
    """Return the numbers that the categories stand for, where the level needs them."""
    if level in ("nominal", "ordinal"):
        return None
    if level not in ("interval", "ratio"):
        raise ValidationError(
            f"level is {level!r}; choose 'nominal', 'ordinal', 'interval' or 'ratio' "
            "(the interval's coverage is the argument coverage)"
        )
    try:
        values = labels.astype(float)
    except (TypeError, ValueError):
        raise ValidationError(
            f"the {level} level needs a scale of numbers, got {labels.tolist()}"
        ) from None
    if not np.isfinite(values).all():
        raise ValidationError(
            f"the {level} level needs a scale of finite numbers, got {values.tolist()}"
        )
    if level == "ratio" and (values < 0).any():
        raise ValidationError(
            "the ratio level needs a scale without negative values, got "
            f"{values.tolist()}"
        )
    return values
