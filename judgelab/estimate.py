"""`Estimate`: a number with its interval, its sample size and its method."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass

from judgelab._checks import check_real
from judgelab.errors import ValidationError


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value that says how sure it is.

    Parameters
    ----------
    value : float
        The point estimate; `nan` when the statistic is undefined on these data.
    low, high : float
        The ends of the interval; `nan` when no interval was asked for.
    n : int
        How many units the estimate rests on (verdict pairs, items, systems, …).
    method : str
        How the interval was made, in words (``"Wilson"``, ``"delta method"``,
        ``"bootstrap, 2000 resamples of items"``).
    level : float, default 0.95
        The nominal coverage of the interval, strictly between 0 and 1.
    reason : str, default ""
        Why the value is `nan`; empty when there is a value.

    Raises
    ------
    ValidationError
        If the bounds are in the wrong order or only one of them is `nan`, the level is
        not in (0, 1), n is negative, or an undefined value comes without a reason.

    Notes
    -----
    `float(estimate)` is the value, so an estimate can stand where a number is expected.
    A format specification applies to the value and to both bounds. Chapter: *Do two
    judges agree?*

    Examples
    --------
    >>> kappa = Estimate(0.5, 0.331, 0.669, n=100, method="delta method")
    >>> kappa
    0.500 [0.331, 0.669] (n = 100, delta method)
    >>> f"{kappa:.2f}"
    '0.50 [0.33, 0.67]'
    >>> float(kappa)
    0.5
    """

    value: float
    low: float
    high: float
    n: int
    method: str
    level: float = 0.95
    reason: str = ""

    def __post_init__(self) -> None:
        check_real(value=self.value, low=self.low, high=self.high, level=self.level)
        check_real(n=self.n)
        if not 0 < self.level < 1:
            raise ValidationError(
                f"level is {self.level!r}; give a coverage between 0 and 1 (0.95)"
            )
        if self.low > self.high:
            raise ValidationError(
                f"the interval runs from {self.low!r} to {self.high!r}; "
                "low must not exceed high"
            )
        if math.isnan(self.low) != math.isnan(self.high):
            raise ValidationError(
                f"the interval runs from {self.low!r} to {self.high!r}; "
                "give both ends, or nan for both"
            )
        if not 0 <= self.n < math.inf or self.n % 1:
            raise ValidationError(
                f"n is {self.n!r}; a number of units is whole, and at least 0"
            )
        object.__setattr__(self, "n", int(self.n))
        if math.isnan(self.value) and not self.reason:
            raise ValidationError("an undefined value (nan) needs a reason")

    @classmethod
    def undefined(cls, reason: str, n: int, method: str = "undefined") -> Estimate:
        """Build the estimate of a statistic that has no value, with the reason why.

        Examples
        --------
        >>> Estimate.undefined("both judges always say A", n=12)
        undefined (n = 12): both judges always say A
        """
        nan = math.nan
        return cls(nan, nan, nan, n=n, method=method, reason=reason)

    @property
    def width(self) -> float:
        """Length of the interval."""
        return self.high - self.low

    def __float__(self) -> float:
        return float(self.value)

    def __format__(self, spec: str) -> str:
        if math.isnan(self.value):
            return "undefined"
        spec = spec or ".3f"
        value, low, high = (
            _written(x, spec) for x in (self.value, self.low, self.high)
        )
        return value if math.isnan(self.low) else f"{value} [{low}, {high}]"

    def __repr__(self) -> str:
        if math.isnan(self.value):
            return f"undefined (n = {self.n:,}): {self.reason}"
        level = "" if self.level == 0.95 else f", {100 * self.level:g}% interval"
        return f"{self} (n = {self.n:,}, {self.method}{level})"

    def __str__(self) -> str:
        return format(self, "")

    def _repr_html_(self) -> str:
        if math.isnan(self.value):
            return f"<span>undefined: {html.escape(self.reason)}</span>"
        details = html.escape(f"n = {self.n:,}, {self.method}, {100 * self.level:g}%")
        return f'<span title="{details}">{self}</span> <small>({details})</small>'


def _written(number: float, spec: str) -> str:
    """Format a number; one that rounds to zero has no sign."""
    text = format(number, spec)
    return text if text.strip("+-0.%") else format(0.0, spec)
