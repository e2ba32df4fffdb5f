"""Two judges, one table: every chance-corrected coefficient by one formula.

Each coefficient is 1 − (observed disagreement) / (disagreement expected by chance), and
they differ only in what they call chance. So each brings a function that gives the
expected disagreement and its gradient in the cells of the table, and everything else
(standard error, intervals, bootstrap, clusters, relabelling) is written once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import optimize

from judgelab import intervals
from judgelab._checks import array
from judgelab.agreement.weights import Weights, disagreement
from judgelab.errors import ValidationError
from judgelab.estimate import Estimate

Floats = npt.NDArray[np.float64]
Interval = Literal["score", "asymptotic", "bootstrap"]
Undefined = Literal["raise", "nan"]
Symmetric = bool | Sequence[int]
Chance = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""(tables of shares, disagreement matrix) → expected disagreement and its gradient."""


def percent_agreement(
    table: npt.ArrayLike,
    *,
    weights: Weights = None,
    symmetric: Symmetric = False,
    interval: Interval = "score",
    level: float = 0.95,
    resamples: int = 2000,
    rng: intervals.Rng | None = None,
    undefined: Undefined = "raise",
) -> Estimate:
    """How often do two judges say the same, chance included?

    Parameters
    ----------
    table, weights, symmetric, interval, level, resamples, rng, undefined
        As in `cohen_kappa`. With no weights and independent pairs the score interval is
        Wilson's.

    Returns
    -------
    Estimate
        A share in [0, 1].

    Raises
    ------
    UndefinedStatistic
        If the table is empty.

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> percent_agreement([[40, 10], [15, 35]])
    0.750 [0.657, 0.825] (n = 100, score interval)
    """
    return _estimate(
        table,
        _no_chance,
        weights=weights,
        symmetric=symmetric,
        interval=interval,
        level=level,
        resamples=resamples,
        rng=rng,
        undefined=undefined,
    )


def cohen_kappa(
    table: npt.ArrayLike,
    *,
    weights: Weights = None,
    symmetric: Symmetric = False,
    interval: Interval = "score",
    level: float = 0.95,
    resamples: int = 2000,
    rng: intervals.Rng | None = None,
    undefined: Undefined = "raise",
) -> Estimate:
    """How far do two judges agree beyond what their own habits would give by luck?

    Parameters
    ----------
    table : array_like, shape (k, k) or (clusters, k, k)
        Counts on a declared scale of k categories: entry (i, j) says how often the
        first judge said i and the second j (`judgelab.counts.contingency_table`). A
        stack of tables, one per cluster (item, question), says that only the clusters
        are independent of each other; the coefficient is that of their sum.
    weights : {None, "linear", "quadratic"} or array_like of shape (k, k)
        How much a pair of categories counts as agreement: only equal ones, by their
        distance on the scale or its square, or any matrix of values from 0 to 1 with 1
        on the diagonal.
    symmetric : bool or sequence of int, default False
        Whether the naming of the categories is arbitrary. In pairwise votes "A" and "B"
        only name the order of showing: True averages the table with its relabelled twin
        (categories 0 and 1 exchanged; for k = 2, or k = 3 with the tie last). For other
        scales give the relabelling as a permutation that undoes itself, such as
        (4, 3, 2, 1, 0). The number of votes stays n: the twin is no new evidence.
    interval : {"score", "asymptotic", "bootstrap"}, default "score"
        See Notes.
    level : float, default 0.95
        Nominal coverage.
    resamples : int, default 2000
        Number of bootstrap resamples.
    rng : numpy.random.Generator or int, optional
        Needed by the bootstrap.
    undefined : {"raise", "nan"}, default "raise"
        What to do when the coefficient, or its interval, does not exist: raise, or give
        an estimate whose `nan` carries the reason.

    Returns
    -------
    Estimate
        1 is perfect agreement, 0 that of chance; n counts the pairs of labels.

    Raises
    ------
    UndefinedStatistic
        If the table is empty or both judges use one and the same category throughout.
    ValidationError
        If the table is not square, holds a negative or non-finite count, or shares in
        place of counts. (Fractions as such are allowed: a vote may be split.)

    References
    ----------
    Cohen (1960, 1968); standard error: Fleiss, Cohen & Everitt (1969), *Psychological
    Bulletin* 72(5).

    Notes
    -----
    ``"asymptotic"`` is value ± z·SE by the delta method, as most software prints it.
    Its coverage is poor for few pairs, rare categories or κ near 1: where every pair
    agrees its width is 0. The percentile bootstrap (of cells, or of whole clusters)
    shares that fault. In simulations with 2 and 4 categories, n = 20 to 200 and κ from
    0 to .9, the nominal 95 % interval covered as little as 30 % with either of them and
    92 to 98 % with ``"score"``; it fell to 85 % (the others to 13 %) only where less
    than one disagreement is to be expected, such as κ = .9 in 20 pairs of which 5 % are
    of the rare category. The score interval keeps every value that a score test along a
    line of tables does not reject: from the observed table towards the one with the
    same habits and no agreement on one side, full agreement on the other, the standard
    error recomputed on the way. For plain agreement this is Wilson's interval. With
    clusters, n is replaced by the number of independent pairs that would give the same
    standard error (`judgelab.intervals.effective_size`).

    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> cohen_kappa([[40, 10], [15, 35]], interval="asymptotic")
    0.500 [0.331, 0.669] (n = 100, delta method)

    The naming of A and B is arbitrary in these votes, and hides the agreement:

    >>> votes = [[90, 10], [8, 2]]
    >>> cohen_kappa(votes), cohen_kappa(votes, symmetric=True)
    (0.092 [-0.068, 0.369] (n = 110, score interval),
     0.673 [0.512, 0.788] (n = 110, score interval))
    """
    return _estimate(
        table,
        _cohen_chance,
        weights=weights,
        symmetric=symmetric,
        interval=interval,
        level=level,
        resamples=resamples,
        rng=rng,
        undefined=undefined,
    )


def scott_pi(
    table: npt.ArrayLike,
    *,
    weights: Weights = None,
    symmetric: Symmetric = False,
    interval: Interval = "score",
    level: float = 0.95,
    resamples: int = 2000,
    rng: intervals.Rng | None = None,
    undefined: Undefined = "raise",
) -> Estimate:
    """How far do two judges agree beyond chance, if chance is their common habit?

    Parameters
    ----------
    table, weights, symmetric, interval, level, resamples, rng, undefined
        As in `cohen_kappa`.

    Returns
    -------
    Estimate
        1 is perfect agreement, 0 that of chance.

    Raises
    ------
    UndefinedStatistic
        If the table is empty or both judges use one and the same category throughout.

    References
    ----------
    Scott (1955), *Public Opinion Quarterly* 19(3).

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> scott_pi([[40, 10], [15, 35]])
    0.499 [0.312, 0.648] (n = 100, score interval)
    """
    return _estimate(
        table,
        _scott_chance,
        weights=weights,
        symmetric=symmetric,
        interval=interval,
        level=level,
        resamples=resamples,
        rng=rng,
        undefined=undefined,
    )


def gwet_ac1(
    table: npt.ArrayLike,
    *,
    symmetric: Symmetric = False,
    interval: Interval = "score",
    level: float = 0.95,
    resamples: int = 2000,
    rng: intervals.Rng | None = None,
    undefined: Undefined = "raise",
) -> Estimate:
    """How far do two judges agree beyond chance, if only hard items are left to chance?

    Parameters
    ----------
    table, symmetric, interval, level, resamples, rng, undefined
        As in `cohen_kappa`.

    Returns
    -------
    Estimate
        1 is perfect agreement, 0 that of chance. Unlike kappa it stays high when one
        category dominates, and it exists when only one is used.

    Raises
    ------
    UndefinedStatistic
        If the table is empty.

    References
    ----------
    Gwet (2008), *British Journal of Mathematical and Statistical Psychology* 61(1).

    Notes
    -----
    The expected agreement depends on the number of categories of the declared scale.
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> gwet_ac1([[118, 5], [2, 0]])
    0.941 [0.871, 0.972] (n = 125, score interval)
    """
    return gwet_ac2(
        table,
        weights=None,
        symmetric=symmetric,
        interval=interval,
        level=level,
        resamples=resamples,
        rng=rng,
        undefined=undefined,
    )


def gwet_ac2(
    table: npt.ArrayLike,
    *,
    weights: Weights = "quadratic",
    symmetric: Symmetric = False,
    interval: Interval = "score",
    level: float = 0.95,
    resamples: int = 2000,
    rng: intervals.Rng | None = None,
    undefined: Undefined = "raise",
) -> Estimate:
    """How far do two judges agree by Gwet's chance when some labels are nearer?

    Parameters
    ----------
    table, weights, symmetric, interval, level, resamples, rng, undefined
        As in `cohen_kappa`; the weights are quadratic unless others are given.

    Returns
    -------
    Estimate
        1 is perfect agreement, 0 that of chance.

    Raises
    ------
    UndefinedStatistic
        If the table is empty.

    References
    ----------
    Gwet (2014), *Handbook of Inter-Rater Reliability*, 4th edition, chapter 4.

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> gwet_ac2([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    0.940 [0.860, 0.967] (n = 100, score interval)
    """
    return _estimate(
        table,
        _gwet_chance,
        weights=weights,
        symmetric=symmetric,
        interval=interval,
        level=level,
        resamples=resamples,
        rng=rng,
        undefined=undefined,
    )


def brennan_prediger(
    table: npt.ArrayLike,
    *,
    weights: Weights = None,
    symmetric: Symmetric = False,
    interval: Interval = "score",
    level: float = 0.95,
    resamples: int = 2000,
    rng: intervals.Rng | None = None,
    undefined: Undefined = "raise",
) -> Estimate:
    """How far do two judges agree beyond coins with one side per category?

    Parameters
    ----------
    table, weights, symmetric, interval, level, resamples, rng, undefined
        As in `cohen_kappa`.

    Returns
    -------
    Estimate
        1 is perfect agreement, 0 that of uniform guessing on the declared scale.

    Raises
    ------
    UndefinedStatistic
        If the table is empty.

    References
    ----------
    Brennan & Prediger (1981), *Educational and Psychological Measurement* 41(3).

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> brennan_prediger([[40, 10], [15, 35]])
    0.500 [0.314, 0.649] (n = 100, score interval)
    """
    return _estimate(
        table,
        _uniform_chance,
        weights=weights,
        symmetric=symmetric,
        interval=interval,
        level=level,
        resamples=resamples,
        rng=rng,
        undefined=undefined,
    )


# What each coefficient calls chance. The gradients treat the cells as free; tables may
# be stacked along leading axes (bootstrap replicates).


def _no_chance(p: Floats, D: Floats) -> tuple[Floats, Floats]:
    """Raw agreement: disagreement is measured against 1."""
    return np.ones(p.shape[:-2]), np.zeros_like(D)


def _cohen_chance(p: Floats, D: Floats) -> tuple[Floats, Floats]:
    """Each judge draws labels at random from that judge's own shares."""
    rows, columns = p.sum(-1), p.sum(-2)
    from_row, from_column = columns @ D.T, rows @ D
    gradient = from_row[..., :, None] + from_column[..., None, :]
    return (rows * from_row).sum(-1), gradient


def _scott_chance(p: Floats, D: Floats) -> tuple[Floats, Floats]:
    """Both judges draw labels at random from their average shares."""
    shares = (p.sum(-1) + p.sum(-2)) / 2
    half = shares @ (D + D.T) / 2
    return (shares * half).sum(-1), half[..., :, None] + half[..., None, :]


def _gwet_chance(p: Floats, D: Floats) -> tuple[Floats, Floats]:
    """Labels are random only on items that are hard, and there uniformly."""
    k = len(D)
    factor = (1 - D).sum() / (k * (k - 1))
    shares = (p.sum(-1) + p.sum(-2)) / 2
    gradient = factor * (shares[..., :, None] + shares[..., None, :] - 1)
    return 1 - factor * (shares * (1 - shares)).sum(-1), gradient


def _uniform_chance(p: Floats, D: Floats) -> tuple[Floats, Floats]:
    """Both judges draw every category equally often."""
    return np.full(p.shape[:-2], D.mean()), np.zeros_like(D)


@dataclass(frozen=True, slots=True)
class _Coefficient:
    """One coefficient on one scale, as a function of tables of shares."""

    chance: Chance
    disagreement: Floats
    relabelling: npt.NDArray[np.intp] | None

    def folded(self, p: Floats) -> Floats:
        """Average a table with its relabelled twin, if the labels are arbitrary."""
        if self.relabelling is None:
            return p
        twin = p[..., self.relabelling[:, None], self.relabelling]
        return (p + twin) / 2

    def value(self, p: Floats) -> Floats:
        """1 − observed / expected disagreement; `nan` where none is expected."""
        p = self.folded(p)
        observed = (p * self.disagreement).sum((-1, -2))
        expected = self.chance(p, self.disagreement)[0]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(expected > 0, 1 - observed / expected, np.nan)

    def gradient(self, p: Floats) -> Floats:
        """Differentiate the value in the cells; centred, so that its mean is 0."""
        p = self.folded(p)
        observed = (p * self.disagreement).sum()
        expected, slope = self.chance(p, self.disagreement)
        gradient = (observed / expected * slope - self.disagreement) / expected
        gradient = self.folded(gradient)
        centred: Floats = gradient - (p * gradient).sum()
        return centred

    def variance(self, p: Floats) -> float:
        """Variance of the value over multinomial tables, times their n."""
        return float((self.folded(p) * self.gradient(p) ** 2).sum())


def _estimate(
    table: npt.ArrayLike,
    chance: Chance,
    *,
    weights: Weights,
    symmetric: Symmetric,
    interval: Interval,
    level: float,
    resamples: int,
    rng: intervals.Rng | None,
    undefined: Undefined,
) -> Estimate:
    """Compute one coefficient with its interval."""
    check_options(interval, level, undefined)
    stack = _checked_table(table)
    if np.ndim(table) == 3:
        stack = stack[stack.any((1, 2))]
    k = stack.shape[-1]
    total = stack.sum(0)
    n = float(total.sum())
    coefficient = _Coefficient(
        chance, disagreement(weights, k), relabelling(symmetric, k)
    )
    if n == 0:
        return intervals.give_up("the table is empty: no pair of labels", 0, undefined)
    p = total / n
    value = float(coefficient.value(p))
    if np.isnan(value):
        return intervals.give_up(
            "both judges use one and the same category throughout, so no disagreement "
            "is expected by chance and the coefficient is 0/0",
            round(n),
            undefined,
        )
    clusters = len(stack) if np.ndim(table) == 3 else None
    if clusters == 1:
        raise ValidationError("table holds one cluster; an interval needs at least two")
    if interval == "bootstrap":
        return _bootstrap(
            stack, coefficient, value, level, resamples, rng, clusters, undefined
        )
    size, quantile, unit = n, intervals.normal_quantile(intervals.upper_end(level)), ""
    if clusters is not None:
        size = _effective_size(stack, coefficient, p, level)
        unit = f", {clusters} clusters"
    if interval == "asymptotic":
        half = quantile * math.sqrt(coefficient.variance(p) / size)
        method = "delta method" + unit
        lowest = min(value, 0.0 if chance is _no_chance else -1.0)
        low, high = max(value - half, lowest), min(value + half, 1.0)
    else:
        method = "score interval" + unit
        low, high = _score_interval(coefficient, p, size, quantile)
    return Estimate(value, low, high, round(n), method, level)


def check_options(interval: str, level: float, undefined: str) -> None:
    """Refuse unknown options also on data for which they play no part.

    Raises
    ------
    ValidationError
        If an option is unknown or the level is not in (0, 1).
    """
    if interval not in ("score", "asymptotic", "bootstrap"):
        raise ValidationError(
            f"interval is {interval!r}; choose 'score', 'asymptotic' or 'bootstrap'"
        )
    intervals.upper_end(level)
    intervals.check_undefined(undefined)


def _effective_size(
    stack: Floats, coefficient: _Coefficient, p: Floats, level: float
) -> float:
    """How many independent pairs would give the same standard error?"""
    clusters, n = len(stack), float(stack.sum())
    influence = (stack * coefficient.gradient(p)).sum((1, 2))
    clustered = clusters / (clusters - 1) * float(influence @ influence) / n**2
    independent = coefficient.variance(p) / n
    return intervals.effective_size(independent, clustered, n, clusters, level)


def _score_interval(
    coefficient: _Coefficient, p: Floats, n: float, quantile: float
) -> tuple[float, float]:
    """Keep the values on a line of tables that a score test does not reject.

    From the observed table the line runs towards tables with about the same margins:
    never agreeing below, always agreeing above.
    """
    p = coefficient.folded(p)
    k = len(p)
    value = float(coefficient.value(p))
    shares = (p.sum(0) + p.sum(1)) / 2
    always = np.diag(shares)
    # Half a count per category keeps disagreement possible if one has all ratings.
    smoothed = n * shares + 0.5
    never = np.outer(smoothed, smoothed) * (1 - np.eye(k))
    never /= never.sum()
    bounds = []
    for target in (never, always):

        def rejection(step: float, target: Floats = target) -> float:
            at = (1 - step) * p + step * target
            distance = float(coefficient.value(at)) - value
            return distance**2 - quantile**2 * coefficient.variance(at) / n

        if rejection(1.0) <= 0:
            step = 1.0
        elif rejection(FIRST_STEP) >= 0:
            step = 0.0
        else:
            step = float(optimize.brentq(rejection, FIRST_STEP, 1.0, xtol=1e-12))
        bounds.append(float(coefficient.value((1 - step) * p + step * target)))
    low, high = bounds
    return min(low, value), max(high, value)


FIRST_STEP = 1e-9
"""Where the search begins: at the table itself the variance may be 0."""


def _bootstrap(
    stack: Floats,
    coefficient: _Coefficient,
    value: float,
    level: float,
    resamples: int,
    rng: intervals.Rng | None,
    clusters: int | None,
    undefined: Undefined,
) -> Estimate:
    """Draw tables: cells from a multinomial, or whole clusters with their cells."""
    k = stack.shape[-1]
    if clusters is None:
        unit = "pairs"
        patterns, repeats = np.eye(k * k), stack[0].ravel()
    else:
        unit = f"{clusters} clusters"
        patterns, repeats = stack.reshape(clusters, -1), np.ones(clusters)

    def statistic(sums: Floats) -> Floats:
        tables = sums.reshape(-1, k, k)
        return coefficient.value(tables / tables.sum((1, 2), keepdims=True))

    replicates = intervals.bootstrap(statistic, patterns, repeats, resamples, rng)
    return intervals.from_replicates(
        value,
        replicates,
        round(float(stack.sum())),
        f"bootstrap, {replicates.size} resamples of {unit}",
        level=level,
        undefined=undefined,
    )


def _checked_table(table: npt.ArrayLike) -> Floats:
    """Return the table as a stack of at least one, checked."""
    counts = array("table", table)
    if counts.dtype.kind not in "iuf":
        raise ValidationError(f"table must hold counts, got dtype {counts.dtype}")
    if counts.ndim == 2:
        counts = counts[None]
    if counts.ndim != 3 or counts.shape[1] != counts.shape[2] or counts.shape[2] < 2:
        raise ValidationError(
            f"table has shape {np.shape(table)}; give k × k counts on a declared scale "
            "of k >= 2 categories, or a stack of such tables, one per cluster"
        )
    counts = counts.astype(float)
    wrong = np.argwhere(~(np.isfinite(counts) & (counts >= 0)))
    if wrong.size:
        cells = [tuple(cell[-np.ndim(table) :]) for cell in wrong[:5].tolist()]
        raise ValidationError(
            f"table holds negative or non-finite counts at {cells}; counts are >= 0"
        )
    # A vote may be split between cells, but a single one can't be all the votes.
    if (counts != np.floor(counts)).any() and counts.sum() < 1 + 1e-9:
        raise ValidationError(
            f"table holds shares that add up to {counts.sum():.3g}, and not counts; "
            "from shares nobody can tell how sure they are"
        )
    return counts


def relabelling(symmetric: Symmetric, k: int) -> npt.NDArray[np.intp] | None:
    """Return the permutation of the categories that changes nothing but names."""
    if isinstance(symmetric, bool | np.bool_):
        if not symmetric:
            return None
        if k > 3:
            raise ValidationError(
                "symmetric=True exchanges A and B on the scales (A, B) and (A, B, tie);"
                f" for {k} categories give the relabelling, such as "
                f"{tuple(range(k))[::-1]}"
            )
        symmetric = (1, 0, 2)[:k]
    permutation = array("symmetric", symmetric, "True, False or a permutation")
    if (
        permutation.dtype.kind not in "iu"
        or not np.array_equal(np.sort(permutation, axis=None), np.arange(k))
        or not np.array_equal(permutation[permutation], np.arange(k))
    ):
        raise ValidationError(
            f"symmetric is {symmetric!r}; give True, False or a permutation of "
            f"0..{k - 1} that undoes itself, such as (1, 0, 2)"
        )
    return permutation.astype(np.intp)
