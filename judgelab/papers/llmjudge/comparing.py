"""Which submission agrees better, and on which queries?"""

from __future__ import annotations

import itertools
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from judgelab.agreement import agreement_values
from judgelab.estimate import Estimate
from judgelab.intervals import Rng, from_standard_error
from judgelab.papers.llmjudge.counts import tables
from judgelab.papers.llmjudge.labels import SUBMISSIONS
from judgelab.papers.llmjudge.measures import (
    VALUES,
    find_measure,
    over_queries,
    pseudo_values,
    tables_at_cut,
    with_student,
)
from judgelab.significance import Test, holm, swap_test

if TYPE_CHECKING:
    import pandas as pd


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
    difference = with_student(first - second, of_first - of_second, n, level)
    return Comparison(difference, _exchange(one, other, measure, cut, 10_000, rng))


@cache
def _pseudo(
    submission: str, measure: str, cut: int | None
) -> tuple[float, npt.NDArray[np.float64]]:
    """Return a measure and what each query contributes to it."""
    find_measure(measure)
    counts = tables_at_cut(submission, cut)
    total = counts.sum(axis=0)
    value = float(agreement_values(total, **VALUES[measure]))
    without = agreement_values(total - counts, **VALUES[measure])
    return value, pseudo_values(value, without)


def _exchange(
    one: str, other: str, measure: str, cut: int | None, draws: int, rng: Rng
) -> Test:
    return swap_test(
        tables_at_cut(one, cut),
        tables_at_cut(other, cut),
        lambda sums: agreement_values(sums, **VALUES[measure]),
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
    function = find_measure(measure)
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
    value = parts["synthetic"].value - parts["human"].value
    method = f"jackknife over {sizes[0]} and {sizes[1]} queries"
    n = parts["human"].n + parts["synthetic"].n
    return {
        **parts,
        "difference": from_standard_error(
            value, sum(errors) ** 0.5, n, method, freedom=freedom
        ),
    }
