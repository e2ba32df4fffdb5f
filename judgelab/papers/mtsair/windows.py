"""How a sequence of verdicts is cut into windows, and what one window's value is."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Literal

import numpy as np
import numpy.typing as npt

from judgelab.errors import ValidationError
from judgelab.papers.mtsair.benchmark import Floats
from judgelab.verdict import SideBySide, as_codes


def choose(argument: str, choice: str, options: tuple[str, ...]) -> None:
    """Refuse a choice that is none of the options."""
    if choice not in options:
        raise ValidationError(
            f"{argument} is {choice!r}; choose from {', '.join(map(repr, options))}"
        )


def whole_numbers(*values: object) -> bool:
    """Tell whether all values are whole numbers."""
    return all(isinstance(value, Integral) for value in values)


@dataclass(frozen=True)
class Windows:
    """How a sequence of verdicts is cut, and what a window without a value does.

    Parameters
    ----------
    size, stride : int, default 10 and 5
        Verdicts per window, and from one window's start to the next; stride ≤ size, or
        items would be skipped.
    partial : {"drop", "cover", "every-start"}, default "drop"
        Verdicts left over at the end. ``"drop"``: only full windows. ``"cover"``: one
        shorter window more if items would be left out. ``"every-start"``: what a loop
        over all starts gives, whose last windows hold little new.
    all_bad : {"undefined", "drop", "half"}, default "undefined"
        A window of nothing but "both bad" is 0 / 0. ``"undefined"``: then so is the
        coefficient. ``"drop"``: leave the window out on both sides. ``"half"``: .5, as
        for nothing but "both good".

    Raises
    ------
    ValidationError
        If a number or a name is none of these.

    Notes
    -----
    Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> [Windows(partial=p).starts(24).tolist() for p in ("drop", "cover")]
    [[0, 5, 10], [0, 5, 10, 15]]
    """

    size: int = 10
    stride: int = 5
    partial: Literal["drop", "cover", "every-start"] = "drop"
    all_bad: Literal["undefined", "drop", "half"] = "undefined"

    def __post_init__(self) -> None:
        if (
            not whole_numbers(self.size, self.stride)
            or not 1 <= self.stride <= self.size
        ):
            raise ValidationError(
                f"size {self.size!r} and stride {self.stride!r}: need whole numbers "
                "with 1 <= stride <= size"
            )
        choose("partial", self.partial, ("drop", "cover", "every-start"))
        choose("all_bad", self.all_bad, ("undefined", "drop", "half"))

    def starts(self, n: int) -> npt.NDArray[np.int64]:
        """Return where the windows over n verdicts begin."""
        starts = np.arange(0, n, self.stride)
        if self.partial == "every-start":
            return starts
        full = starts[starts + self.size <= n]
        covered = full[-1] + self.size if full.size else 0
        if self.partial == "cover" and covered < n:
            return starts[: full.size + 1]
        return full


PUBLISHED = Windows()
"""Size 10, stride 5, and what is left open read as closely as possible."""


def window_values(verdicts: npt.ArrayLike, windows: Windows = PUBLISHED) -> Floats:
    """How far does each window lean to the candidate?

    Parameters
    ----------
    verdicts : array_like of int, shape (n,) or (runs, n)
        `SideBySide` codes on answers; the counts of several runs are pooled.
    windows : Windows
        How they are cut.

    Returns
    -------
    ndarray of float, shape (windows,)
        m = (ΣA + ΣC) / (ΣA + ΣB + 2ΣC), in [0, 1]: each verdict but "both bad" is one
        for the candidate, one for the baseline, or one for both. `nan` where there is
        nothing but "both bad", or .5 if `windows` says so.

    Raises
    ------
    ValidationError
        If a code is none of the four, or there are more than two axes.

    References
    ----------
    MTSAIR side-by-side leaderboard, where it is called a median.

    Notes
    -----
    Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> window_values([0, 0, 1, 2, 3, 3, 3], Windows(4, 2, partial="cover"))
    array([0.6       , 0.33333333,        nan])
    """
    codes = np.atleast_2d(as_codes(verdicts, scale=SideBySide))
    if codes.ndim > 2:
        raise ValidationError(
            f"verdicts has shape {codes.shape}; give one run, or one row per run"
        )
    n = codes.shape[1]
    starts = windows.starts(n)
    ends = np.minimum(starts + windows.size, n)
    said = codes[:, :, None] == np.arange(3)
    before = np.vstack([np.zeros((1, 3)), said.sum(axis=0).cumsum(axis=0)])
    a, b, c = (before[ends] - before[starts]).T
    nothing = a + b + c == 0
    values = (a + c) / np.where(nothing, 1, a + b + 2 * c)
    values[nothing] = 0.5 if windows.all_bad == "half" else np.nan
    return np.asarray(values)
