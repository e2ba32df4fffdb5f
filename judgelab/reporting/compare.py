"""Two judges on the same items, paired."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from judgelab.counts import crossed_counts
from judgelab.errors import ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import clustered_proportion
from judgelab.probes import excess_credit
from judgelab.reporting.measure import find_judges, kinds_of
from judgelab.reporting.prepare import kind_of, prepared
from judgelab.significance import Test, mcnemar, paired_difference
from judgelab.verdict import Verdict

if TYPE_CHECKING:
    import pandas as pd

_GOLD = "the right answers"


@dataclass(frozen=True)
class Comparison:
    """How two judges differ on the items that both have judged.

    Parameters
    ----------
    what : str
        What was compared, in words.
    items : int
        Shared items.
    first, second : Estimate
        Share of agreement of each.
    difference : Estimate
        First minus second; the judges stay paired.
    test : Test
        Whether the difference could be luck.

    Notes
    -----
    Chapter: *JudgeBench*.
    """

    what: str
    items: int
    first: Estimate
    second: Estimate
    difference: Estimate
    test: Test


def compare_judges(
    records: Any,
    first: str,
    second: str,
    *,
    against: str | Sequence[str],
    scale: Sequence[Any] | None = None,
    level: float = 0.95,
) -> Comparison:
    """Which of two judges agrees more with a reference, on the same items?

    Parameters
    ----------
    records : dataframe
        Checked records.
    first, second : str
        Two judges.
    against : str or sequence of str
        ``"gold"`` for the column of right answers; otherwise judges, patterns or kinds
        of judge, as in `judgelab.report`. A tie agrees with a tie; an unusable verdict
        agrees with nothing.
    scale : sequence, optional
        For ratings: every label that could be given.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Comparison
        With one verdict of each and one right answer per item, McNemar's exact test and
        the interval of Bonett and Price; otherwise shares per item, compared over
        items (or clusters).

    Raises
    ------
    ValidationError
        If a judge is unknown or the two share no item.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> import pandas as pd
    >>> votes = pd.DataFrame(
    ...     {
    ...         "judge": ["x"] * 4 + ["y"] * 4,
    ...         "item": [1, 2, 3, 4] * 2,
    ...         "verdict": ["A", "A", "B", "A", "A", "B", "A", "B"],
    ...         "gold": ["A", "A", "B", "B"] * 2,
    ...     }
    ... )
    >>> compare_judges(votes, "x", "y", against="gold").difference
    0.250 [-0.551, 0.885] (n = 4, Bonett–Price)
    """
    kind = kind_of(list(records.columns))
    frame = prepared(records, kind)
    names = sorted(frame["judge"].unique())
    for name in (first, second):
        find_judges(names, {}, name)
    if first == second:
        raise ValidationError(f"{first!r} is compared with itself; name two judges")
    wanted = [against] if isinstance(against, str) else list(against)
    if wanted == ["gold"] and "gold" in frame:
        frame, reference, label = _with_gold(frame), [_GOLD], _GOLD
    elif wanted == ["gold"]:
        raise ValidationError(
            "there is no column 'gold'; name the judges to compare with (against=…, "
            "--against …)"
        )
    else:
        reference = [
            name
            for name in find_judges(names, kinds_of(frame), wanted)
            if name not in (first, second)
        ]
        if not reference:
            raise ValidationError(f"{wanted} names nobody beside the two judges")
        label = ", ".join(wanted)
    rates = [_rates(frame, judge, reference, kind, scale) for judge in (first, second)]
    both = rates[0].add_suffix("_1").join(rates[1].add_suffix("_2"), how="inner")
    if both.empty:
        raise ValidationError(f"{first!r} and {second!r} share no item with {label}")
    return _compared(frame, both, label, level)


def _with_gold(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the right answers as one more judge, who saw every item unswapped."""
    import pandas as pd

    known = frame[frame["gold"] < Verdict.TIE].drop_duplicates("item")
    right = known.assign(judge=_GOLD, verdict=known["gold"])
    if "swapped" in right:
        right["swapped"] = False
    both = pd.concat([frame, right], ignore_index=True)
    return both.assign(judge=both["judge"].astype(str))


def _rates(
    frame: pd.DataFrame,
    judge: str,
    reference: Sequence[str],
    kind: str,
    scale: Sequence[Any] | None,
) -> pd.DataFrame:
    """Per item: the pairs of votes that agree, and all of them."""
    import pandas as pd

    labels = None if kind == "pairwise" else scale
    units, tables = crossed_counts(frame, [judge], reference, scale=labels)
    usable = tables if kind == "ratings" else tables[:, : Verdict.TIE + 1]
    same = np.trace(usable, axis1=1, axis2=2)
    return pd.DataFrame({"same": same, "met": tables.sum(axis=(1, 2))}, index=units)


def _compared(
    frame: pd.DataFrame, both: pd.DataFrame, label: str, level: float
) -> Comparison:
    same_1, met_1 = both["same_1"].to_numpy(), both["met_1"].to_numpy()
    same_2, met_2 = both["same_2"].to_numpy(), both["met_2"].to_numpy()
    clusters = None
    if "cluster" in frame:
        of_item = frame.drop_duplicates("item").set_index("item")["cluster"]
        clusters = of_item.loc[both.index].to_numpy()
    single = (met_1 == 1).all() and (met_2 == 1).all() and clusters is None
    if single:
        counts = [
            int(((same_1 == one) & (same_2 == two)).sum())
            for one, two in ((1, 1), (1, 0), (0, 1), (0, 0))
        ]
        difference = paired_difference(*counts, level=level)
        test = mcnemar(counts[1], counts[2])
    else:
        difference, test = excess_credit(
            same_1 / met_1,
            same_2 / met_2,
            clusters=clusters,
            null="both agree equally often",
            level=level,
        )
    return Comparison(
        f"Agreement with {label}",
        len(both),
        clustered_proportion(same_1, met_1, level=level),
        clustered_proportion(same_2, met_2, level=level),
        difference,
        test,
    )
