"""Intraclass correlation: agreement of numeric ratings, from an ANOVA table."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from judgelab import intervals
from judgelab._checks import array
from judgelab.agreement.two_raters import Undefined
from judgelab.errors import ValidationError
from judgelab.estimate import Estimate

Form = Literal["ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k"]
_NOTHING = 1e-12
"""What rounding may leave of a difference that is 0."""

_FORMS = ("ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k")


def icc(
    ratings: npt.ArrayLike,
    *,
    form: Form = "ICC2",
    level: float = 0.95,
    undefined: Undefined = "raise",
) -> Estimate:
    """How much of the variance of numeric ratings is due to the items rated?

    Parameters
    ----------
    ratings : array_like of numbers, shape (items, raters)
        Complete: every rater rated every item.
    form : {"ICC1", "ICC2", "ICC3", "ICC1k", "ICC2k", "ICC3k"}, default "ICC2"
        Which raters, and what is to be relied on. 1: each item has raters of its own.
        2: the raters are a sample and their leniency counts as error (absolute
        agreement). 3: these raters are all there are and leniency does not count
        (consistency). With "k": the reliability of the mean of the raters, not of one.
    level : float, default 0.95
        Nominal coverage.
    undefined : {"raise", "nan"}, default "raise"
        What to do when the coefficient does not exist.

    Returns
    -------
    Estimate
        At most 1; negative when items differ less than their ratings. n counts the
        items.

    Raises
    ------
    UndefinedStatistic
        With fewer than two items or raters, or if all ratings are the same.
    ValidationError
        If a rating is missing or not a finite number.

    References
    ----------
    Shrout & Fleiss (1979), *Psychological Bulletin* 86(2); McGraw & Wong (1996),
    *Psychological Methods* 1(1), tables 4 and 7 (with the correction of 1(4)).

    Notes
    -----
    The intervals are F-based, exact for normal effects (forms 1 and 3) or by
    Satterthwaite's degrees of freedom (form 2), in which a negative value counts as 0:
    other packages keep it, and get intervals that cover more than they say.

    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> ratings = [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8],
    ...            [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
    >>> icc(ratings, form="ICC2")
    0.290 [0.019, 0.761] (n = 6, F interval)
    """
    if form not in _FORMS:
        raise ValidationError(f"form is {form!r}; choose one of {', '.join(_FORMS)}")
    intervals.upper_end(level)
    intervals.check_undefined(undefined)
    x = _checked_ratings(ratings)
    n, k = x.shape
    if n < 2 or k < 2:
        reason = f"{n} items and {k} raters; at least two of each are needed"
        return intervals.give_up(reason, n, undefined)
    if (x == x[0, 0]).all():
        return intervals.give_up("all ratings are the same", n, undefined)
    # Neither origin nor unit matters; this keeps squares from overflowing.
    x = (x - x[0, 0]) / np.abs(x - x[0, 0]).max()
    grand = x.mean()
    items = k * ((x.mean(1) - grand) ** 2).sum() / (n - 1)
    raters = n * ((x.mean(0) - grand) ** 2).sum() / (k - 1)
    residuals = x - x.mean(1, keepdims=True) - x.mean(0) + grand
    error = (residuals**2).sum() / ((n - 1) * (k - 1))
    within = ((x - x.mean(1, keepdims=True)) ** 2).sum() / (n * (k - 1))
    alone = form[3]
    if alone == "2":
        noise = (k - 1) * error + k / n * (raters - error)
    else:
        error, free = (
            (within, n * (k - 1)) if alone == "1" else (error, (n - 1) * (k - 1))
        )
        noise = (k - 1) * error
    nothing = _NOTHING * ((x - grand) ** 2).mean()
    if items + error <= nothing or abs(items + noise) <= nothing:
        return intervals.give_up("the items do not differ at all", n, undefined)
    value = (items - error) / (items + noise)
    if form.endswith("k") and 1 + (k - 1) * value <= _NOTHING:
        return intervals.give_up(
            "the items differ so little that the mean of the raters has no reliability",
            n,
            undefined,
        )
    if alone == "2":
        low, high = _absolute_interval(items, raters, error, value, n, k, level)
    else:
        low, high = _f_interval(items, error, n - 1, free, k, level)
    # Where items do not differ at all the ends meet; rounding must not cross them.
    low, high = min(low, value), max(high, value)
    if form.endswith("k"):
        # Spearman–Brown: the mean of k raters; a monotone map, so the ends follow.
        value, low, high = (_stepped_up(r, k) for r in (value, low, high))
    return Estimate(float(value), float(low), float(high), n, "F interval", level)


def _f_interval(
    items: float, error: float, df_items: int, df_error: int, k: int, level: float
) -> tuple[float, float]:
    """Invert the F test on the ratio of two mean squares (McGraw & Wong, table 7)."""
    upper = intervals.upper_end(level)
    shrunk = error * special.fdtri(df_items, df_error, upper)
    grown = items * special.fdtri(df_error, df_items, upper)
    low = (items - shrunk) / (items + (k - 1) * shrunk)
    high = (grown - error) / (grown + (k - 1) * error)
    return low, high


def _absolute_interval(
    items: float,
    raters: float,
    error: float,
    value: float,
    n: int,
    k: int,
    level: float,
) -> tuple[float, float]:
    """Approximate the interval of absolute agreement by Satterthwaite's degrees."""
    if value == 1:
        return 1.0, 1.0
    # A negative value would give the mean squares negative weights.
    odds = max(value, 0.0) / (1 - max(value, 0.0))
    of_raters = k / n * odds * raters
    of_error = (1 + k * (n - 1) / n * odds) * error
    degrees = (of_raters + of_error) ** 2 / (
        of_raters**2 / (k - 1) + of_error**2 / ((n - 1) * (k - 1))
    )
    upper = intervals.upper_end(level)
    noise = k * raters + (k * n - k - n) * error
    below = special.fdtri(n - 1, degrees, upper)
    above = special.fdtri(degrees, n - 1, upper)
    low = n * (items - below * error) / (below * noise + n * items)
    high = n * (above * items - error) / (noise + n * above * items)
    return low, high


def _stepped_up(reliability: float, k: int) -> float:
    """Reliability of the mean of k ratings from that of one."""
    denominator = 1 + (k - 1) * reliability
    return k * reliability / denominator if denominator > 0 else -np.inf


def _checked_ratings(ratings: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return the ratings as a complete matrix of finite numbers."""
    x = array("ratings", ratings)
    if x.ndim != 2 or x.dtype.kind not in "iuf":
        raise ValidationError(
            f"ratings has shape {x.shape} and dtype {x.dtype}; "
            "give a matrix of numbers, items × raters"
        )
    wrong = np.argwhere(~np.isfinite(x.astype(float)))
    if wrong.size:
        raise ValidationError(
            f"ratings are missing or not finite at (item, rater) "
            f"{[tuple(at) for at in wrong[:5].tolist()]}; drop those items, or use "
            "krippendorff_alpha, which takes missing ratings"
        )
    return x.astype(float)
