"""How far a judge's labels agree with people's, and how sure 25 queries make us.

Passages of one query are labelled by one person and judged by one habit, so queries are
the independent units of every interval and test here.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from judgelab.agreement import (
    agreement_values,
    cohen_kappa,
    gwet_ac1,
    gwet_ac2,
    krippendorff_alpha,
    percent_agreement,
)
from judgelab.counts import pairs_as_items
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import Rng, clustered_proportion, upper_end
from judgelab.papers.llmjudge.labels import (
    SCALE,
    SUBMISSIONS,
    _square,
    binarise,
    tables,
)
from judgelab.significance import Test, holm, swap_test

if TYPE_CHECKING:
    import pandas as pd

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

_VALUES: dict[str, dict[str, Any]] = {
    "raw agreement": {"coefficient": "percent_agreement"},
    "kappa": {"coefficient": "cohen_kappa"},
    "linear kappa": {"coefficient": "cohen_kappa", "weights": "linear"},
    "quadratic kappa": {"coefficient": "cohen_kappa", "weights": "quadratic"},
    "alpha": {"coefficient": "krippendorff_alpha", "level": "ordinal"},
    "AC1": {"coefficient": "gwet_ac1"},
    "AC2": {"coefficient": "gwet_ac2", "weights": "quadratic"},
}
"""The same for many tables at once, without intervals."""


def _find(measure: str) -> Measure:
    if measure not in MEASURES:
        raise ValidationError(
            f"no measure {measure!r}; choose from {', '.join(MEASURES)}"
        )
    return MEASURES[measure]


def _counted(submission: str, cut: int | None) -> npt.NDArray[Any]:
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
    return _find(measure)(_counted(submission, cut))


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
    counts = _stack(tables)
    total = counts.sum(axis=0)
    value = float(statistic(total))
    pseudo = _pseudo_values(
        value, np.array([float(statistic(total - table)) for table in counts])
    )
    return _with_student(value, pseudo, round(float(counts.sum())), level)


def _stack(tables: npt.ArrayLike) -> npt.NDArray[Any]:
    counts = _square(tables)
    if counts.ndim != 3 or len(counts) < 2:
        raise ValidationError(
            f"tables has shape {counts.shape}; give one table for each of at least two "
            "queries"
        )
    return counts


def _pseudo_values(
    value: float, without: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Tell what each query contributes to a value, from the values without it."""
    if not np.isfinite([value, *without]).all():
        raise UndefinedStatistic(
            "the statistic has no value without one of the queries, or at all"
        )
    return without.size * value - (without.size - 1) * without


def _with_student(
    value: float, pseudo: npt.NDArray[np.float64], n: int, level: float
) -> Estimate:
    queries = pseudo.size
    quantile = float(special.stdtrit(queries - 1, upper_end(level)))
    half = quantile * float(pseudo.std(ddof=1)) / queries**0.5
    method = f"jackknife over {queries} queries"
    return Estimate(value, value - half, value + half, n, method, level)


class Comparison(NamedTuple):
    """Two submissions on the same pairs."""

    difference: Estimate
    """The first minus the second."""
    test: Test
    """Could the two as well have exchanged their labels, query by query?"""


def compare(
    one: str,
    other: str,
    measure: str = "kappa",
    *,
    cut: int | None = None,
    level: float = 0.95,
    rng: Rng = 0,
) -> Comparison:
    """Which of two submissions agrees better with people, on the same pairs?

    Parameters
    ----------
    one, other : str
        Two of `SUBMISSIONS`.
    measure, cut
        As in `evaluate`.
    level : float, default 0.95
        Nominal coverage of the interval.
    rng : numpy.random.Generator or int, default 0
        For the random exchanges of the test.

    Returns
    -------
    Comparison
        The difference with its interval (a jackknife), and a test (`swap_test`). Both
        take the 25 queries as the units.

    Raises
    ------
    ValidationError
        If a submission, the measure or the cut is unknown.

    Notes
    -----
    In simulations with these 25 queries the nominal 95 % interval of a difference
    covered 93 to 94 %, and the test at 5 % rejected a true null in 4.5 to 5.7 % of the
    cases. Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> compare("willia-umbrela1", "TREMA-nuggets").difference
    0.226 [0.074, 0.378] (n = 4,423, jackknife over 25 queries)
    >>> compare("willia-umbrela1", "h2oloo-zeroshot1").test
    p = 0.4 (n = 25, random exchanges; null: both agree equally well)
    """
    (first, of_first), (second, of_second) = (
        _pseudo(name, measure, cut) for name in (one, other)
    )
    n = int(tables(one).sum())
    difference = _with_student(first - second, of_first - of_second, n, level)
    return Comparison(difference, _exchange(one, other, measure, cut, 10_000, rng))


@cache
def _pseudo(
    submission: str, measure: str, cut: int | None
) -> tuple[float, npt.NDArray[np.float64]]:
    """Return a measure and what each query contributes to it."""
    _find(measure)
    counts = _counted(submission, cut)
    total = counts.sum(axis=0)
    value = float(agreement_values(total, **_VALUES[measure]))
    without = agreement_values(total - counts, **_VALUES[measure])
    return value, _pseudo_values(value, without)


def _exchange(
    one: str, other: str, measure: str, cut: int | None, draws: int, rng: Rng
) -> Test:
    return swap_test(
        _counted(one, cut),
        _counted(other, cut),
        lambda sums: agreement_values(sums, **_VALUES[measure]),
        null="both agree equally well",
        draws=draws,
        rng=rng,
    )


def distinguishable(
    measure: str = "kappa",
    *,
    cut: int | None = None,
    draws: int = 50_000,
    rng: int = 0,
) -> pd.DataFrame:
    """Which of the 33 submissions can be told apart on 25 queries?

    Parameters
    ----------
    measure, cut
        As in `evaluate`.
    draws : int, default 50000
        Random exchanges per pair at most. With 528 questions only p-values below .0001
        survive, so fewer than 20,000 could find nothing.
    rng : int, default 0
        Seed of the exchanges.

    Returns
    -------
    pandas.DataFrame
        528 rows, one per pair of submissions: ``one`` (the better), ``other``,
        ``difference``, ``p`` (`swap_test` over queries) and ``p_holm``, corrected for
        528 questions at once.

    Raises
    ------
    ValidationError
        If the measure or the cut is unknown.

    References
    ----------
    Holm (1979); on comparing systems over topics: Smucker, Allan & Carterette (2007),
    *CIKM*.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> pairs = distinguishable(draws=99)
    >>> len(pairs), int((pairs["p"] <= 0.05).sum())
    (528, 129)
    """
    import pandas as pd

    values = {name: _pseudo(name, measure, cut)[0] for name in SUBMISSIONS}
    rows = []
    for pair in itertools.combinations(SUBMISSIONS, 2):
        one, other = sorted(pair, key=lambda name: values[name], reverse=True)
        test = _exchange(one, other, measure, cut, draws, rng)
        rows.append((one, other, values[one] - values[other], test.p_value))
    frame = pd.DataFrame(rows, columns=["one", "other", "difference", "p"])
    corrected = holm(dict(enumerate(frame["p"])))
    frame["p_holm"] = [corrected[place] for place in range(len(frame))]
    return frame.sort_values("difference", ascending=False, ignore_index=True)


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
    counts = _square(table)
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
    counts = _stack(tables)
    return [
        clustered_proportion(counts[:, label, label], counts[:, label].sum(axis=1))
        for label in range(counts.shape[-1])
    ]


def by_kind(submission: str, measure: str = "kappa") -> dict[str, Estimate]:
    """Where does a submission agree better: on queries of people, or of a model?

    Parameters
    ----------
    submission, measure
        As in `evaluate`.

    Returns
    -------
    dict of str to Estimate
        "human" (15 queries), "synthetic" (10), and "difference", synthetic minus human.

    Raises
    ------
    ValidationError
        If the submission or the measure is unknown.

    References
    ----------
    Welch (1947) for two groups of unequal spread.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> by_kind("willia-umbrela1")["difference"]
    0.001 [-0.208, 0.211] (n = 4,423, jackknife over 15 and 10 queries)
    """
    function = _find(measure)
    parts = {}
    for kind in ("human", "synthetic"):
        parts[kind] = over_queries(
            tables(submission, queries=kind),
            lambda table: function(table, interval="asymptotic"),
        )
    sizes = [len(tables(submission, queries=kind)) for kind in ("human", "synthetic")]
    errors = [
        (part.width / 2 / float(special.stdtrit(size - 1, 0.975))) ** 2
        for part, size in zip(parts.values(), sizes, strict=True)
    ]
    freedom = sum(errors) ** 2 / sum(
        error**2 / (size - 1) for error, size in zip(errors, sizes, strict=True)
    )
    half = float(special.stdtrit(freedom, 0.975)) * sum(errors) ** 0.5
    value = parts["synthetic"].value - parts["human"].value
    method = f"jackknife over {sizes[0]} and {sizes[1]} queries"
    n = parts["human"].n + parts["synthetic"].n
    return {
        **parts,
        "difference": Estimate(value, value - half, value + half, n, method),
    }


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
