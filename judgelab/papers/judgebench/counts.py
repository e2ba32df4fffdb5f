"""Records become counts: how often each pair of verdicts occurs, who is right on what.

Everything else is computed from these, by judge, category and right answer.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from judgelab import data
from judgelab._checks import array
from judgelab.data.registry import write_tables
from judgelab.errors import ValidationError
from judgelab.papers.judgebench.loading import load, load_others
from judgelab.position import pair_orders
from judgelab.verdict import Outcome, Rule, Verdict, combine, find_rule

if TYPE_CHECKING:
    import pandas as pd

_COUNTED = ["judge", "responses", "category", "gold", "first", "second", "pairs"]


def count_orders(records: pd.DataFrame) -> pd.DataFrame:
    """Turn records into the counts from which everything else is computed.

    Parameters
    ----------
    records : pandas.DataFrame
        Tidy pairwise records with ``judge``, ``responses``, ``category``, ``gold``,
        ``item``, ``swapped`` and ``verdict``, as `load` returns them.

    Returns
    -------
    pandas.DataFrame
        One row per combination that occurs: ``judge``, ``responses``, ``category``,
        ``gold``, ``first`` and ``second`` (verdicts, the second un-swapped), and
        ``pairs``, their number.

    Raises
    ------
    ValidationError
        If a column is missing or has gaps, the right answer is not A or B, what is
        known of a pair differs between its records, or a judge has several trials of a
        pair, which are not independent. The right answer and the category of
        JudgeBench's own pairs come from `pairs`.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> import pandas as pd
    >>> records = pd.DataFrame(
    ...     {
    ...         "judge": "me", "responses": "GPT-4o", "category": "Math", "gold": "A",
    ...         "item": ["q", "q"], "swapped": [False, True], "verdict": ["A", "B"],
    ...     }
    ... )
    >>> count_orders(records).iloc[0].to_dict()
    {'judge': 'me', 'responses': 'GPT-4o', 'category': 'Math', 'gold': 'A',
    'first': 'A', 'second': 'A', 'pairs': 1}
    """
    key = ["judge", "responses", "category", "gold"]
    paired = _paired(records, key)
    for column in ("first", "second"):
        paired[column] = [Verdict(code).name for code in paired[column]]
    cells = paired.groupby([*key, "first", "second"], sort=True, observed=True)
    return cells.size().rename("pairs").reset_index()


def _paired(records: pd.DataFrame, known: list[str]) -> pd.DataFrame:
    """Put both orders side by side, once what is known of the pairs has been checked.

    A table with a gap, or with two trials of a pair, would be counted without a word.
    """
    if lacking := [name for name in known if name not in records]:
        raise ValidationError(
            f"records lack {lacking}; merge them with judgebench.pairs() on 'item'"
        )
    if records.empty:
        raise ValidationError("there are no records")
    for name in known:
        gaps = records.loc[records[name].isna(), "item"].unique()
        if gaps.size:
            raise ValidationError(
                f"{name!r} is empty for {gaps.size} items ({gaps[:3].tolist()}); fill "
                "it in, or leave them out"
            )
    paired = pair_orders(records)
    if varying := [name for name in known if name not in paired]:
        raise ValidationError(
            f"{varying} differ between the records of one pair; give those of the pair "
            "as it is, whichever answer was shown first"
        )
    again = paired.duplicated(["judge", "responses", "item"])
    if again.any():
        raise ValidationError(
            f"{int(again.sum())} pairs have several trials by one judge "
            f"({paired.loc[again, 'item'].unique()[:3].tolist()}), which are not "
            "independent; keep one: records[records['trial'] == 1]"
        )
    strange = sorted({str(g) for g in paired["gold"]} - {"A", "B"})
    if strange:
        raise ValidationError(
            f"gold must be A or B, not {strange[:5]}: JudgeBench has no ties in truth"
        )
    return paired


def counts_of(records: pd.DataFrame | None) -> pd.DataFrame:
    """Take counts as they are, make them of records, or take those we carry."""
    if records is None:
        return data.counts("judgebench", "two_orders")
    if not {"pairs", "first", "second"} <= {*records.columns}:
        return count_orders(records)
    if lacking := [name for name in _COUNTED if name not in records]:
        raise ValidationError(f"counts lack {lacking}; count_orders gives them all")
    if records.empty:
        raise ValidationError("there are no counts")
    if gaps := [name for name in _COUNTED if records[name].isna().any()]:
        raise ValidationError(f"{gaps} have gaps among the counts; fill them in")
    pairs = array("pairs", records["pairs"])
    known = pairs.dtype.kind in "iuf" and (np.isfinite(pairs) & (pairs >= 0)).all()
    if not known or (pairs % 1).any():
        raise ValidationError("pairs must be whole numbers, none of them negative")
    return records


def tables_by_gold(
    judge: str, *, responses: str | None = None, records: pd.DataFrame | None = None
) -> npt.NDArray[np.int64]:
    """Count one judge's verdicts by the right answer.

    Parameters
    ----------
    judge : str
        Name of the judge.
    responses : str, optional
        Whose pairs; all that the judge has seen if not given.
    records : pandas.DataFrame, optional
        As `evaluate`.

    Returns
    -------
    ndarray of int64, shape (2, 5, 5)
        What `position.score_two_orders` takes; its sum over the first axis is what the
        other functions of `position` take.

    Raises
    ------
    ValidationError
        If there is no such judge.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> int(tables_by_gold("o1-mini").sum())
    350
    """
    counts = counts_of(records)
    mine = counts[counts["judge"] == judge]
    if responses is not None:
        mine = mine[mine["responses"] == responses]
    if mine.empty:
        have = ", ".join(sorted(set(counts["judge"])))
        raise ValidationError(
            f"no verdicts of {judge!r} on pairs of {responses or 'anyone'}; judges: "
            f"{have}"
        )
    return tables_of(mine)


def tables_of(counts: pd.DataFrame) -> npt.NDArray[np.int64]:
    """Lay counts out as one table of two verdicts per right answer."""
    tables = np.zeros((2, len(Verdict), len(Verdict)), np.int64)
    words = [
        [Verdict.parse(word) for word in counts[column]]
        for column in ("gold", "first", "second")
    ]
    if any(word > Verdict.B for word in words[0]):
        raise ValidationError("gold must be A or B: JudgeBench has no ties in truth")
    np.add.at(tables, tuple(words), counts["pairs"].to_numpy(np.int64))
    return tables


def marked_right(records: pd.DataFrame, rule: Rule | str) -> pd.DataFrame:
    """Mark each judge's pairs right (1) or wrong (0), one column per judge."""
    paired = _paired(records, ["judge", "responses", "gold"])
    outcome = combine(paired["first"], paired["second"], rule=rule)
    if silent := int((outcome == Outcome.UNDEFINED).sum()):
        raise ValidationError(
            f"the rule {find_rule(rule).name!r} is silent on {silent} pairs; choose "
            "another rule"
        )
    gold = np.array([Verdict[word] for word in paired["gold"]])
    marked = paired.assign(right=(outcome == gold).astype(int))
    kept = marked[outcome != Outcome.DROPPED]
    wide: pd.DataFrame = kept.pivot(
        index=["responses", "item"], columns="judge", values="right"
    )
    return wide


def joint_cells(
    right: pd.DataFrame, judge: str, other: str
) -> tuple[int, int, int, int]:
    """Count the pairs that both get right, only the one, only the other, neither."""
    if lacking := [name for name in (judge, other) if name not in right]:
        raise ValidationError(
            f"records hold no verdicts of {lacking}; judges: {', '.join(right.columns)}"
        )
    both = right[[judge, other]].dropna()
    if both.empty:
        raise ValidationError(f"{judge!r} and {other!r} have no pairs in common")
    one, two = both[judge] == 1, both[other] == 1
    return (
        int((one & two).sum()),
        int((one & ~two).sum()),
        int((~one & two).sum()),
        int((~one & ~two).sum()),
    )


def derive_counts(records: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Turn records into all counts that the package carries.

    Parameters
    ----------
    records : pandas.DataFrame
        `load` and `load_others`, together.

    Returns
    -------
    dict of pandas.DataFrame
        ``two_orders`` as `count_orders`; ``joint_right``: for every two judges of the
        same pairs, how many both, only one, or neither gets right by the repository's
        rule.

    Notes
    -----
    Chapter: *JudgeBench*.
    """
    import pandas as pd

    right = marked_right(records, "judgebench")
    rows = []
    for _, part in right.groupby(level="responses"):
        judges = sorted(part.columns[part.notna().any()])
        rows += [
            (one, two, *joint_cells(part, one, two))
            for i, one in enumerate(judges)
            for two in judges[i + 1 :]
        ]
    columns = ["judge", "other", "both", "only_judge", "only_other", "neither"]
    return {
        "two_orders": count_orders(records),
        "joint_right": pd.DataFrame(rows, columns=columns),
    }


def write_counts(folder: Path) -> None:
    """Write the shipped counts anew, as CSV files with their source and licence.

    Parameters
    ----------
    folder : pathlib.Path
        Where the files go.

    Notes
    -----
    Maintainers: ``python -m judgelab.papers.judgebench <folder>`` with JUDGELAB_DATA
    set. Chapter: *JudgeBench*.
    """
    import pandas as pd

    header = (
        "# source: counted by judgelab.papers.judgebench.derive_counts from the "
        "outputs in ScalerLab/JudgeBench at e2c52c284e735e139b3daa61c206ee208f36c461 "
        "(seven judges) and in devcomfort-research/JudgeBench (Mercury, Mercury-Coder, "
        "MiniMax-M2, MiniMax-M2.1, GLM-4.7); Tan et al. (2024), arXiv:2410.12784\n"
        "# licence: neither repository states one; counts only, no verdict on a pair "
        "can be recovered\n"
    )
    records = pd.concat([load(), load_others()], ignore_index=True)
    write_tables(folder, header, derive_counts(records))
