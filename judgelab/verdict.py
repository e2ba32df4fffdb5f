"""What a judge can say about two answers, and the same thing said in another order."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from judgelab.errors import ValidationError


class Verdict(IntEnum):
    """The five things that can come back when two answers are shown to a judge.

    `A` and `B` name the *slot* in which the preferred answer was shown until the
    verdict is un-swapped; then they name the answer. `TIE`, `INVALID` and `MISSING` are
    different things and no function merges them unless its named policy says so.

    Examples
    --------
    >>> Verdict.A, Verdict.TIE
    (A, TIE)
    >>> Verdict.parse("tie")
    TIE
    """

    A = 0
    """The answer in the first slot is better."""
    B = 1
    """The answer in the second slot is better."""
    TIE = 2
    """The judge said that neither is better."""
    INVALID = 3
    """The judge replied, and the reply could not be parsed into a verdict."""
    MISSING = 4
    """The judge was never asked, or the request failed: there is no reply."""

    def __repr__(self) -> str:
        return self.name

    @classmethod
    def parse(cls, word: str) -> Verdict:
        """Read one verdict word, in upper or lower case, with surrounding spaces.

        Raises
        ------
        ValidationError
            If the word is not one of the five names: nothing is guessed.
        """
        try:
            return cls[word.strip().upper()]
        except KeyError:
            names = ", ".join(cls.__members__)
            raise ValidationError(
                f"unknown verdict {word!r}; expected one of {names}"
            ) from None


_UNSWAPPED = np.array(
    [Verdict.B, Verdict.A, Verdict.TIE, Verdict.INVALID, Verdict.MISSING]
)


def unswap(verdicts: npt.ArrayLike, swapped: npt.ArrayLike = True) -> npt.NDArray[Any]:
    """Turn verdicts on *slots* into verdicts on *answers*.

    Parameters
    ----------
    verdicts : array_like of int
        `Verdict` codes as shown.
    swapped : array_like of bool, default True
        Whether the answers were shown in exchanged slots; broadcast against `verdicts`.

    Returns
    -------
    ndarray of int8
        `Verdict` codes: A and B exchanged where `swapped`, everything else unchanged.

    Raises
    ------
    ValidationError
        If a code is not one of the five verdicts.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    >>> unswap([Verdict.A, Verdict.TIE, Verdict.B], swapped=[True, True, False])
    array([1, 2, 1], dtype=int8)
    """
    codes = as_codes(verdicts)
    return np.where(swapped, _UNSWAPPED[codes], codes).astype(np.int8)


def as_codes(verdicts: npt.ArrayLike) -> npt.NDArray[np.int8]:
    """Check that every entry is a `Verdict` code and return them as small integers.

    Raises
    ------
    ValidationError
        Naming the first offending positions.

    Examples
    --------
    >>> as_codes([Verdict.A, Verdict.MISSING])
    array([0, 4], dtype=int8)
    """
    codes = np.asarray(verdicts)
    if codes.dtype.kind not in "iu":
        raise ValidationError(
            f"verdicts must be integer Verdict codes, got dtype {codes.dtype}; "
            "use Verdict.parse for words"
        )
    wrong = np.flatnonzero((codes < 0) | (codes > max(Verdict)))
    if wrong.size:
        raise ValidationError(
            f"codes outside 0..{int(max(Verdict))} at positions {wrong[:5].tolist()}: "
            f"{codes.ravel()[wrong[:5]].tolist()}"
        )
    return codes.astype(np.int8)
