"""What the experts and a judge said of the same items, in the benchmark's order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from judgelab.counts import contingency_table
from judgelab.errors import ValidationError
from judgelab.verdict import SideBySide, Verdict, as_codes, unswap

if TYPE_CHECKING:
    import pandas as pd

Codes = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float64]

# Both of its ties are ties to whoever asks about positions only.
_PLAIN = np.array([Verdict.A, Verdict.B, Verdict.TIE, Verdict.TIE])


@dataclass(frozen=True, eq=False)
class Benchmark:
    """What the experts and a judge said of the same items, in the benchmark's order.

    Parameters
    ----------
    expert : array_like of int, shape (n,)
        `SideBySide` codes on answers: A is the candidate's.
    first, second : array_like of int, shape (n,)
        The judge's, without and with swap; the second already un-swapped
        (``unswap(shown, scale=SideBySide)``).

    Raises
    ------
    ValidationError
        If a code is none of the four or the three are not aligned.

    Notes
    -----
    The order of the items is part of the data: MPCC depends on it. Chapter: *Side by
    side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> len(Benchmark([0, 1, 2], [0, 1, 3], [0, 2, 2]))
    3
    """

    expert: Codes
    first: Codes
    second: Codes

    def __post_init__(self) -> None:
        for name in ("expert", "first", "second"):
            codes = as_codes(getattr(self, name), scale=SideBySide)
            object.__setattr__(self, name, codes)
        shapes = [self.expert.shape, self.first.shape, self.second.shape]
        if len(set(shapes)) > 1 or self.expert.ndim != 1 or not self.expert.size:
            raise ValidationError(
                f"expert, first and second have shapes {shapes}; give one verdict of "
                "each per item, in the same order"
            )

    def __len__(self) -> int:
        return len(self.expert)

    @property
    def runs(self) -> tuple[Codes, Codes]:
        """The judge's two runs."""
        return self.first, self.second

    def take(self, items: npt.ArrayLike) -> Benchmark:
        """Return these items in this order: reordered, left out or repeated."""
        at = np.asarray(items)
        return Benchmark(self.expert[at], self.first[at], self.second[at])

    def two_orders(self) -> npt.NDArray[np.int64]:
        """Count the judge's pairs of verdicts for the functions of `position`.

        They know one tie, so both good and both bad are ties there.
        """
        return contingency_table(
            _PLAIN[self.first], _PLAIN[self.second], scale=list(Verdict)
        )


def from_records(
    records: pd.DataFrame, expert: Mapping[str, str] | pd.Series
) -> Benchmark:
    """Line up one judge's records with the experts' verdicts.

    Parameters
    ----------
    records : pandas.DataFrame
        One row per verdict: ``item``, ``swapped`` (whether the candidate was shown
        second) and ``verdict``, a word of `SideBySide` on the *slots*, as it was shown.
    expert : mapping or Series
        Item → the experts' word on the answers (A: the candidate's). Its order is the
        order of the benchmark.

    Raises
    ------
    ValidationError
        If a column is missing, a word is none of the four, a column ``judge`` names
        several judges, an item occurs twice in one run, or is missing in a run or on
        the side of the experts. Nothing is dropped: what a reply that cannot be read
        counts as, the leaderboard does not say.

    Notes
    -----
    Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> import pandas as pd
    >>> records = pd.DataFrame({
    ...     "item": ["p", "q", "q", "p"],
    ...     "swapped": [False, False, True, True],
    ...     "verdict": ["A", "both bad", "A", "B"],
    ... })
    >>> two = from_records(records, {"q": "B", "p": "A"})
    >>> two.first.tolist(), two.second.tolist()
    ([3, 0], [1, 0])
    """
    if lacking := sorted({"item", "swapped", "verdict"} - {*records.columns}):
        raise ValidationError(f"records lack the columns {lacking}")
    if "judge" in records and len(judges := records["judge"].unique()) > 1:
        raise ValidationError(
            f"records hold verdicts of {len(judges)} judges: {judges[:5].tolist()}; "
            "give one judge's"
        )
    truth = dict(expert.items())
    if len(truth) < len(expert):
        raise ValidationError("expert holds an item more than once; give one verdict")
    shown = np.array([SideBySide.parse(word) for word in records["verdict"]], np.int8)
    said = unswap(shown, records["swapped"].to_numpy(), scale=SideBySide)
    frame = records.assign(code=said, swapped=records["swapped"].astype(bool))
    if (twice := frame.duplicated(["item", "swapped"])).any():
        raise ValidationError(
            "items with two verdicts in one run: "
            f"{frame.loc[twice, 'item'].unique()[:5].tolist()}; give one judge's, and "
            "one trial"
        )
    wide = frame.pivot(index="item", columns="swapped", values="code")
    wide = wide.reindex(columns=[False, True])
    incomplete = wide.index[wide.isna().any(axis=1)].tolist()
    alone = [*(set(wide.index) ^ set(truth)), *incomplete]
    if alone:
        raise ValidationError(
            f"{len(alone)} items lack a verdict of the experts or of a run: "
            f"{sorted(map(str, alone))[:5]}; every item needs all three"
        )
    runs = wide.loc[list(truth)].to_numpy(np.int8)
    codes = np.array([SideBySide.parse(word) for word in truth.values()], np.int8)
    return Benchmark(codes, runs[:, 0], runs[:, 1])
