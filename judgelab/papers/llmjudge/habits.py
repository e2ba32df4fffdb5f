"""A judge's habits, label by label, and all submissions side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import clustered_proportion
from judgelab.papers.llmjudge.counts import square_tables, tables
from judgelab.papers.llmjudge.labels import SCALE, SUBMISSIONS
from judgelab.papers.llmjudge.measures import (
    MEASURES,
    evaluate,
    over_queries,
    tables_by_query,
)

if TYPE_CHECKING:
    import pandas as pd


def mean_label(table: npt.ArrayLike, side: str = "judge") -> float:
    """Which label does a judge, or a person, give on average?

    Parameters
    ----------
    table : array_like, shape (k, k)
        Human × judge.
    side : {"judge", "human"}, default "judge"
        Whose labels.

    Returns
    -------
    float
        From 0 to k − 1.

    Raises
    ------
    UndefinedStatistic
        If the table is empty.
    ValidationError
        If the side is unknown, or the table holds no counts.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> round(mean_label(tables("TREMA-4prompts").sum(axis=0)), 2)
    1.46
    """
    if side not in ("judge", "human"):
        raise ValidationError(f"side is {side!r}; choose 'judge' or 'human'")
    counts = square_tables(table)
    if counts.ndim != 2:
        raise ValidationError(
            f"table has shape {counts.shape}; give one table, such as the sum over "
            "queries"
        )
    if not counts.any():
        raise UndefinedStatistic("the table is empty, and nobody's mean label exists")
    shares = counts.sum(axis=0 if side == "judge" else 1) / counts.sum()
    return float(shares @ np.arange(len(shares)))


def label_shift(tables: npt.ArrayLike) -> Estimate:
    """By how much is the judge kinder than people, in labels?

    Parameters
    ----------
    tables : array_like, shape (queries, k, k)
        Human × judge.

    Returns
    -------
    Estimate
        Mean label of the judge minus mean label of the people; positive is kinder.

    Raises
    ------
    ValidationError
        If there are fewer than two queries.

    References
    ----------
    Rahmani et al. (2025), Table 6 has the counts.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> label_shift(tables("TREMA-4prompts"))
    0.564 [0.400, 0.727] (n = 4,423, jackknife over 25 queries)
    """
    return over_queries(
        tables, lambda table: mean_label(table) - mean_label(table, "human")
    )


def recalls(tables: npt.ArrayLike) -> list[Estimate]:
    """Of the passages with each human label, which share gets the same from the judge?

    Parameters
    ----------
    tables : array_like, shape (queries, k, k)
        Human × judge.

    Returns
    -------
    list of Estimate
        One share per label, with Wilson's interval for clusters.

    Raises
    ------
    UndefinedStatistic
        If people never gave one of the labels.
    ValidationError
        If there are fewer than two queries.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> [round(share.value, 2) for share in recalls(tables("willia-umbrela1"))]
    [0.76, 0.37, 0.33, 0.3]
    """
    counts = tables_by_query(tables)
    return [
        clustered_proportion(counts[:, label, label], counts[:, label].sum(axis=1))
        for label in range(counts.shape[-1])
    ]


def overview() -> pd.DataFrame:
    """How do the 33 submissions look side by side?

    Returns
    -------
    pandas.DataFrame
        By submission: every one of `MEASURES` on four labels, kappa at the three cuts,
        and ``mean label``.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> overview()["kappa"].idxmax()
    'willia-umbrela1'
    """
    import pandas as pd

    columns: dict[str, list[float]] = {
        name: [evaluate(submission, name).value for submission in SUBMISSIONS]
        for name in MEASURES
    }
    for cut in SCALE[1:]:
        columns[f"kappa, at least {cut}"] = [
            evaluate(submission, "kappa", cut).value for submission in SUBMISSIONS
        ]
    columns["mean label"] = [
        mean_label(tables(submission).sum(axis=0)) for submission in SUBMISSIONS
    ]
    return pd.DataFrame(columns, index=pd.Index(SUBMISSIONS, name="submission"))
