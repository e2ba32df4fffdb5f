"""Intervals that more than one statistic needs: proportions, and replicates of counts.

A bootstrap here never draws rows: it draws the counts that a statistic depends on, so its
cost depends on the number of distinct patterns and not on the number of verdicts.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.estimate import Estimate

Rng = np.random.Generator | int
"""A random generator, or the seed of one; there is no hidden global state."""


def proportion(
    successes: float,
    n: int,
    *,
    level: float = 0.95,
    method: Literal["wilson", "clopper-pearson", "jeffreys"] = "wilson",
) -> Estimate:
    """How large is a share, and how sure are we, when the units are independent?

    Parameters
    ----------
    successes : float
        How many of the `n` units have the property, 0 ≤ successes ≤ n. Half counts are
        allowed (ties split evenly) except for ``"clopper-pearson"``.
    n : int
        The number of independent units, at least 1.
    level : float, default 0.95
        Nominal coverage.
    method : {"wilson", "clopper-pearson", "jeffreys"}, default "wilson"
        Wilson's score interval (good average coverage at any n), the exact interval of
        Clopper and Pearson (never covers less than `level`), or the equal-tailed interval
        of Jeffreys' prior.

    Returns
    -------
    Estimate
        Value and bounds in [0, 1].

    Raises
    ------
    UndefinedStatistic
        If `n` is 0: no share exists of nothing.
    ValidationError
        If `successes` is not between 0 and `n`, or the method is unknown.

    References
    ----------
    Wilson (1927); Clopper & Pearson (1934); Brown, Cai & DasGupta (2001), *Statistical
    Science* 16(2), sections 3 and 4.

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> proportion(21, 23)
    0.913 [0.732, 0.976] (n = 23, Wilson)
    """
    if n == 0:
        raise UndefinedStatistic(
            "a share of 0 units does not exist; give at least one unit"
        )
    if n < 0 or not 0 <= successes <= n:
        raise ValidationError(
            f"{successes} of {n} is no share: need 0 <= successes <= n"
        )
    share = successes / n
    tail = (1 - level) / 2
    if method == "wilson":
        z = normal_quantile(1 - tail)
        centre = (share + z**2 / (2 * n)) / (1 + z**2 / n)
        half = (
            z * math.sqrt(share * (1 - share) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
        )
        # At 0 and n the bound is the share itself; rounding must not move it.
        low = 0.0 if successes == 0 else centre - half
        high = 1.0 if successes == n else centre + half
        return Estimate(share, low, high, n, "Wilson", level)
    if method == "clopper-pearson":
        if successes != int(successes):
            raise ValidationError("Clopper–Pearson needs a whole number of successes")
        low = (
            special.betaincinv(successes, n - successes + 1, tail) if successes else 0.0
        )
        high = (
            special.betaincinv(successes + 1, n - successes, 1 - tail)
            if successes < n
            else 1.0
        )
        return Estimate(share, float(low), float(high), n, "Clopper–Pearson", level)
    if method == "jeffreys":
        a, b = successes + 0.5, n - successes + 0.5
        low = special.betaincinv(a, b, tail) if successes else 0.0
        high = special.betaincinv(a, b, 1 - tail) if successes < n else 1.0
        return Estimate(share, float(low), float(high), n, "Jeffreys", level)
    raise ValidationError(
        f"unknown method {method!r}; choose 'wilson', 'clopper-pearson' or 'jeffreys'"
    )


def normal_quantile(probability: float) -> float:
    """Quantile of the standard normal distribution: 1.96 for .975."""
    return float(special.ndtri(probability))


def from_standard_error(
    value: float,
    standard_error: float,
    n: int,
    method: str,
    *,
    level: float = 0.95,
    bounds: tuple[float, float] = (-math.inf, math.inf),
) -> Estimate:
    """Make the symmetric normal interval value ± z·SE, cut at the statistic's range.

    Examples
    --------
    >>> from_standard_error(0.5, 0.086, 100, "delta method", bounds=(-1, 1))
    0.500 [0.331, 0.669] (n = 100, delta method)
    """
    half = normal_quantile((1 + level) / 2) * standard_error
    low, high = max(bounds[0], value - half), min(bounds[1], value + half)
    return Estimate(float(value), float(low), float(high), n, method, level)


def from_replicates(
    value: float,
    replicates: npt.NDArray[np.floating[Any]],
    n: int,
    method: str,
    *,
    level: float = 0.95,
) -> Estimate:
    """Make the percentile interval of bootstrap replicates.

    Replicates in which the statistic is undefined (`nan`) are left out, and `method` says
    how many; if more than a tenth of them are, there is no honest interval.

    Raises
    ------
    UndefinedStatistic
        If more than 10 % of the replicates are undefined.

    Examples
    --------
    >>> from_replicates(0.5, np.linspace(0.4, 0.6, 1001), 50, "bootstrap")
    0.500 [0.405, 0.595] (n = 50, bootstrap)
    """
    defined = replicates[np.isfinite(replicates)]
    lost = replicates.size - defined.size
    if lost > 0.1 * replicates.size:
        raise UndefinedStatistic(
            f"{lost} of {replicates.size} bootstrap replicates are undefined; "
            "the data are too few or too uniform for a bootstrap interval"
        )
    if lost:
        method += f", {lost} undefined replicates left out"
    tail = (1 - level) / 2
    low, high = np.quantile(defined, [tail, 1 - tail])
    return Estimate(float(value), float(low), float(high), n, method, level)
