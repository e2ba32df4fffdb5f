"""How far a judge's labels agree with people's, and how sure 25 queries make us.

Passages of one query are labelled by one person and judged by one habit, so queries are
the independent units of every interval and test here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from judgelab.agreement import (
    cohen_kappa,
    gwet_ac1,
    gwet_ac2,
    krippendorff_alpha,
    percent_agreement,
)
from judgelab.counts import pairs_as_items
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import from_standard_error
from judgelab.papers.llmjudge.counts import binarise, square_tables, tables

Measure = Callable[..., Estimate]
"""Takes tables of shape (queries, k, k), or one of shape (k, k)."""


def alpha(
    tables: npt.ArrayLike,
    *,
    level: float = 0.95,
    **options: Any,
) -> Estimate:
    """How reliable are two sets of labels, if a near miss counts less than a far one?

    Parameters
    ----------
    tables : array_like of int, shape (queries, k, k) or (k, k)
        Human × judge on the scale 0, …, k−1. With one table per query the interval
        rests on whole queries, with one table on single pairs.
    level : float, default 0.95
        Nominal coverage.
    **options
        ``interval``, ``resamples``, ``rng`` and ``undefined`` of `krippendorff_alpha`.

    Returns
    -------
    Estimate
        Krippendorff's ordinal alpha; n counts pairs.

    Raises
    ------
    UndefinedStatistic, ValidationError
        As `krippendorff_alpha`.

    References
    ----------
    Rahmani et al. (2025), Tables 3 and 5. That the level is ordinal follows from the
    figures: no other level gives them.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> alpha(tables("h2oloo-fewself"))
    0.496 [0.320, 0.633] (n = 4,423, score interval over 25 clusters)
    """
    counts = np.asarray(tables)
    stack = counts if counts.ndim == 3 else counts[None]
    k = stack.shape[-1]
    items, repeats = zip(*map(pairs_as_items, stack), strict=True)
    return krippendorff_alpha(
        np.concatenate(items),
        level="ordinal",
        scale=range(k),
        counted=True,
        repeats=np.concatenate(repeats),
        clusters=np.repeat(np.arange(len(stack)), k * k) if counts.ndim == 3 else None,
        coverage=level,
        **options,
    )


def _weighted(weights: str) -> Measure:
    def kappa(tables: npt.ArrayLike, **options: Any) -> Estimate:
        return cohen_kappa(tables, weights=weights, **options)

    return kappa


MEASURES: dict[str, Measure] = {
    "raw agreement": percent_agreement,
    "kappa": cohen_kappa,
    "linear kappa": _weighted("linear"),
    "quadratic kappa": _weighted("quadratic"),
    "alpha": alpha,
    "AC1": gwet_ac1,
    "AC2": gwet_ac2,
}
"""Seven answers to one question, by name; AC2 with quadratic weights."""

VALUES: dict[str, dict[str, Any]] = {
    "raw agreement": {"coefficient": "percent_agreement"},
    "kappa": {"coefficient": "cohen_kappa"},
    "linear kappa": {"coefficient": "cohen_kappa", "weights": "linear"},
    "quadratic kappa": {"coefficient": "cohen_kappa", "weights": "quadratic"},
    "alpha": {"coefficient": "krippendorff_alpha", "level": "ordinal"},
    "AC1": {"coefficient": "gwet_ac1"},
    "AC2": {"coefficient": "gwet_ac2", "weights": "quadratic"},
}
"""The same for many tables at once, without intervals."""


def find_measure(measure: str) -> Measure:
    """Return the measure of that name."""
    if measure not in MEASURES:
        raise ValidationError(
            f"no measure {measure!r}; choose from {', '.join(MEASURES)}"
        )
    return MEASURES[measure]


def tables_at_cut(submission: str, cut: int | None) -> npt.NDArray[Any]:
    """Count a submission with all four labels, or with two."""
    counts = tables(submission)
    return counts if cut is None else binarise(counts, cut)


@cache
def evaluate(
    submission: str, measure: str = "kappa", cut: int | None = None
) -> Estimate:
    """How far do a submission's labels agree with people's?

    Parameters
    ----------
    submission : str
        One of `SUBMISSIONS`.
    measure : str, default "kappa"
        One of `MEASURES`.
    cut : int, optional
        Least label that counts as relevant; all four labels if not given.

    Returns
    -------
    Estimate
        With an interval for other queries of the same kind.

    Raises
    ------
    ValidationError
        If the submission, the measure or the cut is unknown.

    References
    ----------
    Rahmani et al. (2025), Tables 3–5: kappa is unweighted, labels are clipped.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> evaluate("willia-umbrela1"), evaluate("willia-umbrela1", cut=2)
    (0.286 [0.166, 0.408] (n = 4,423, score interval, 25 clusters),
     0.399 [0.277, 0.514] (n = 4,423, score interval, 25 clusters))
    """
    return find_measure(measure)(tables_at_cut(submission, cut))


def over_queries(
    tables: npt.ArrayLike,
    statistic: Callable[[npt.NDArray[Any]], Estimate | float],
    *,
    level: float = 0.95,
) -> Estimate:
    """How sure is any statistic of a summed table, if queries are what could differ?

    Parameters
    ----------
    tables : array_like, shape (queries, k, k)
        At least two queries.
    statistic : callable
        Takes the sum of some tables, shape (k, k).
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate
        Value ± Student's quantile × the jackknife's standard error (leave out one query
        after the other); n counts pairs.

    Raises
    ------
    UndefinedStatistic
        If the statistic is undefined on all queries, or without one of them.
    ValidationError
        If there are fewer than two queries, or the tables hold no counts.

    References
    ----------
    Tukey (1958), *Annals of Mathematical Statistics* 29; Miller (1974), *Biometrika*
    61.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> def mean_label(table):
    ...     return table.sum(axis=0) @ range(4) / table.sum()
    >>> over_queries(tables("TREMA-rubric0"), mean_label)
    0.335 [0.203, 0.467] (n = 4,423, jackknife over 25 queries)
    """
    counts = tables_by_query(tables)
    total = counts.sum(axis=0)
    value = float(statistic(total))
    pseudo = pseudo_values(
        value, np.array([float(statistic(total - table)) for table in counts])
    )
    return with_student(value, pseudo, round(float(counts.sum())), level)


def tables_by_query(tables: npt.ArrayLike) -> npt.NDArray[Any]:
    """Return tables, if there is one for each of several queries."""
    counts = square_tables(tables)
    if counts.ndim != 3 or len(counts) < 2:
        raise ValidationError(
            f"tables has shape {counts.shape}; give one table for each of at least two "
            "queries"
        )
    return counts


def pseudo_values(
    value: float, without: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Tell what each query contributes to a value, from the values without it."""
    if not np.isfinite([value, *without]).all():
        raise UndefinedStatistic(
            "the statistic has no value without one of the queries, or at all"
        )
    return without.size * value - (without.size - 1) * without


def with_student(
    value: float, pseudo: npt.NDArray[np.float64], n: int, level: float
) -> Estimate:
    """Make a jackknife interval of what each query contributes."""
    queries = pseudo.size
    error = float(pseudo.std(ddof=1)) / queries**0.5
    method = f"jackknife over {queries} queries"
    return from_standard_error(
        value, error, n, method, level=level, freedom=queries - 1
    )
