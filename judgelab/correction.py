"""From what a judge says to what people would say, with a few labels from people.

A judge is cheap and errs; people are dear and few. Its share of wins on many items says
how often *it* prefers a system, and an interval around it only says how sure we are of
that. Here the errors that show where people labelled as well correct the share, and
the interval pays for not knowing those errors exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw
import numpy as np
import numpy.typing as npt

from judgelab._checks import check_real, floats, is_real, refuse_mask
from judgelab.counts import cluster_codes
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import (
    effective_size,
    from_standard_error,
    normal_quantile,
    proportion,
    smallest,
    upper_end,
)
from judgelab.records import check_pairwise
from judgelab.verdict import Verdict, unswap

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]
Weight = Literal["tuned"] | float
RoganGladen = Literal["fieller", "lang-reiczigel", "delta"]

_MOST_LABELS = 10**7
"""Beyond so many labels a plan is a wish."""

_LEAST_SEEN = 3
"""With so many wins expected among the labels, there is none in 5 % of the samples."""

_LARGEST = 1e100
"""Squares and sums of scores below it are finite."""


def settled_labels(
    records: Any, *, people: Sequence[str], adjudicator: str | None = None
) -> pd.DataFrame:
    """Which label does each item have, once people who differ have been heard?

    Parameters
    ----------
    records : dataframe
        Tidy pairwise records of any engine with ``judge``, ``item``, ``verdict``, and
        ``swapped`` unless all answers were shown in one order.
    people : sequence of str
        The judges whose common verdict is the label.
    adjudicator : str, optional
        The judge whose verdict is the label where people differ.

    Returns
    -------
    pandas.DataFrame
        One row per item that one of them saw, sorted: ``item``; a column for each of
        the people with a `Verdict` code on *answers*; ``label``, such a code; ``how``:
        "agreed", "adjudicated", or "open" where there is no label (`Verdict.MISSING`):
        people differ and nobody decided, or one of them gave no usable verdict.

    Raises
    ------
    ValidationError
        If the records are not valid, one of them judged an item twice, or a name is not
        among the judges.

    Notes
    -----
    Nothing is outvoted and nobody's verdict counts more: whoever wants a majority has
    an adjudicator and says so. Chapter: *Your own judge*.

    Examples
    --------
    >>> import pandas as pd
    >>> records = pd.DataFrame(
    ...     {
    ...         "judge": ["ann", "ann", "bob", "bob", "eve"],
    ...         "item": ["q1", "q2", "q1", "q2", "q2"],
    ...         "swapped": [False, False, True, False, False],
    ...         "verdict": ["A", "A", "B", "B", "A"],
    ...     }
    ... )
    >>> settled_labels(records, people=["ann", "bob"], adjudicator="eve")
      item  ann  bob  label          how
    0   q1    0    0      0       agreed
    1   q2    0    1      0  adjudicated
    """
    import pandas as pd

    checked = nw.from_native(check_pairwise(records)).lazy()
    wanted = [*people, *([] if adjudicator is None else [adjudicator])]
    frame = checked.filter(nw.col("judge").is_in(wanted)).collect().to_pandas()
    if strange := sorted(set(wanted) - set(frame["judge"])):
        raise ValidationError(f"{strange} have no records; names are those in 'judge'")
    if len(people) != len(set(people)) or not people or adjudicator in people:
        raise ValidationError(
            f"people are {[*people]} and the adjudicator is {adjudicator!r}; name each "
            "once"
        )
    if (twice := frame.duplicated(["judge", "item"])).any():
        judge, item = frame.loc[twice, ["judge", "item"]].iloc[0]
        raise ValidationError(
            f"{judge!r} judged item {item!r} more than once; fold or choose first"
        )
    codes = [
        Verdict.parse(said) if isinstance(said, str) else Verdict(said)
        for said in frame["verdict"]
    ]
    turned = np.asarray(frame.get("swapped", False), bool)
    frame["verdict"] = unswap(np.array(codes, np.int8), turned)
    wide = frame.pivot(index="item", columns="judge", values="verdict")
    wide = wide.fillna(Verdict.MISSING).astype(np.int8)
    said = wide[[*people]]
    usable = (said <= Verdict.TIE).all(axis=1)
    agreed = usable & said.eq(said.iloc[:, 0], axis=0).all(axis=1)
    decided = (
        wide[adjudicator] if adjudicator else pd.Series(Verdict.MISSING, said.index)
    )
    settled = usable & ~agreed & (decided <= Verdict.TIE)
    label = said.iloc[:, 0].where(agreed, decided.where(settled, Verdict.MISSING))
    how = np.select([agreed, settled], ["agreed", "adjudicated"], "open")
    result: pd.DataFrame = said.assign(label=label.astype(np.int8), how=how)
    return result.rename_axis(columns=None).reset_index()


def correction_counts(
    judged: pd.Series[bool],
    labels: pd.Series[bool],
    *,
    clusters: pd.Series[Any] | None = None,
) -> tuple[npt.NDArray[np.int64], tuple[int, int] | npt.NDArray[np.int64]]:
    """Count wins of the judge on labelled items, by label, and on the rest.

    Parameters
    ----------
    judged : pandas.Series of bool
        Whether the judge calls an item a win; the index names the items.
    labels : pandas.Series of bool
        The same by people, for the items that have a label.
    clusters : pandas.Series, optional
        What each judged item belongs to (a question, a document), if items of one
        cluster are not independent of each other. The counts are then one table and one
        pair of verdicts per cluster.

    Returns
    -------
    table : ndarray of int, shape (2, 2) or (clusters, 2, 2)
        Rows: people say win, no win; columns: the judge says win, no win.
    rest : tuple of two int, or ndarray of int, shape (clusters, 2)
        How often the judge says win, and no win, on the items without a label; the same
        clusters in the same (sorted) order.

    Raises
    ------
    ValidationError
        If one of them is no pandas Series of true and false, an item occurs twice, a
        label belongs to no judged item, or a judged item to no cluster.

    Notes
    -----
    Chapter: *Your own judge*.

    Examples
    --------
    >>> import pandas as pd
    >>> judged = pd.Series([True, True, False, True], ["q1", "q2", "q3", "q4"])
    >>> table, rest = correction_counts(judged, pd.Series([True, False], ["q1", "q2"]))
    >>> table.tolist(), rest
    ([[1, 0], [1, 0]], (1, 1))
    """
    import pandas as pd

    for name, series in (("judged", judged), ("labels", labels)):
        if not isinstance(series, pd.Series) or series.dtype != bool:
            kind = getattr(series, "dtype", type(series).__name__)
            raise ValidationError(
                f"{name} are {kind}; give a pandas Series of true and false, without "
                "missing values, whose index names the items"
            )
        if not series.index.is_unique:
            twice = series.index[series.index.duplicated()][:5].tolist()
            raise ValidationError(f"{name} have several values for {twice}")
    if len(lost := labels.index.difference(judged.index)):
        raise ValidationError(
            f"{len(lost)} labelled items have no verdict of the judge: "
            f"{lost[:5].tolist()}; leave them out, and say how many there were"
        )
    number, cluster = 1, np.zeros(len(judged), np.intp)
    if clusters is not None:
        number, cluster = _cluster_of(judged, clusters)
    # Rows 0 and 1 are those of the table, row 2 is the rest.
    row = np.full(len(judged), 2)
    row[judged.index.get_indexer(labels.index)] = ~labels.to_numpy()
    cells = 6 * cluster + 2 * row + ~judged.to_numpy()
    counts = np.bincount(cells, minlength=6 * number).reshape(number, 3, 2)
    table, rest = counts[:, :2], counts[:, 2]
    if clusters is not None:
        return table, rest
    return table[0], (int(rest[0, 0]), int(rest[0, 1]))


def _cluster_of(
    judged: pd.Series[bool], clusters: pd.Series[Any]
) -> tuple[int, npt.NDArray[np.intp]]:
    """Say how many clusters there are, and which each judged item belongs to."""
    import pandas as pd

    if not isinstance(clusters, pd.Series) or not clusters.index.is_unique:
        raise ValidationError(
            "clusters are no pandas Series with one value per item; its index names "
            "the items, as that of judged"
        )
    if len(lost := judged.index.difference(clusters.index)):
        raise ValidationError(
            f"{len(lost)} judged items are in no cluster: {lost[:5].tolist()}; an item "
            "of no cluster is one of its own: name it"
        )
    return cluster_codes(clusters[judged.index].to_numpy(), (len(judged),))


def sensitivity_and_specificity(
    table: npt.ArrayLike, *, level: float = 0.95
) -> tuple[Estimate, Estimate]:
    """How often does the judge see a win that is there, and none where there is none?

    Parameters
    ----------
    table : array_like, shape (2, 2)
        Counts of the labelled items. Rows: people say win, no win; columns: the judge
        says win, no win.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    sensitivity, specificity : Estimate
        Share of the wins that the judge calls wins, and of the others that it calls no
        win, with Wilson's interval.

    Raises
    ------
    UndefinedStatistic
        If people labelled nothing as a win, or everything.
    ValidationError
        If the table is no 2 × 2 table of counts.

    Notes
    -----
    Chapter: *Your own judge*.

    Examples
    --------
    >>> sensitivity_and_specificity([[54, 6], [12, 28]])[0]
    0.900 [0.799, 0.953] (n = 60, Wilson)
    """
    counts = _checked_table(table)
    of_wins, of_others = (int(n) for n in counts.sum(axis=1))
    _refuse_unlabelled(of_wins, "a win")
    _refuse_unlabelled(of_others, "no win")
    return (
        proportion(counts[0, 0], of_wins, level=level),
        proportion(counts[1, 1], of_others, level=level),
    )


def _refuse_unlabelled(n: float, word: str) -> None:
    if n == 0:
        raise UndefinedStatistic(
            f"people labelled no item as {word}: how the judge treats such items "
            "is not known; label more items"
        )


def rogan_gladen(
    table: npt.ArrayLike,
    rest: npt.ArrayLike,
    *,
    interval: RoganGladen = "fieller",
    level: float = 0.95,
) -> Estimate:
    """How large is the true share of wins, if the judge errs as it does where we know?

    Parameters
    ----------
    table : array_like, shape (2, 2) or (clusters, 2, 2)
        Counts of the labelled items. Rows: people say win, no win; columns: the judge
        says win, no win. A stack of tables, one per cluster (question, document), says
        that only the clusters are independent of each other.
    rest : array_like, shape (2,) or (clusters, 2)
        How often the judge says win, and no win, on the items without labels, for the
        same clusters. A cluster may have items of one kind only.
    interval : {"fieller", "lang-reiczigel", "delta"}, default "fieller"
        All shares that the data do not rule out, found by inverting a test (it grows to
        the whole range as the judge gets useless); the adjusted interval of Lang and
        Reiczigel; or the plain delta method, which is too narrow with few labels.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate
        Share of wins among the items without labels, cut to [0, 1]; `n` counts labels.

    Raises
    ------
    UndefinedStatistic
        If one of the two labels does not occur; if sensitivity + specificity ≤ 1 on the
        labelled items: then the judge's verdicts say nothing about the true share; if
        no share from 0 to 1 explains the verdicts: then the judge errs otherwise on
        the rest; or if fewer than two clusters have labels.
    ValidationError
        If counts are no counts, there are no verdicts without labels, or the interval
        is unknown.

    References
    ----------
    Rogan & Gladen (1978), *American Journal of Epidemiology* 107(1); Lang & Reiczigel
    (2014), *Preventive Veterinary Medicine* 113(1); Fieller (1954), *JRSS B* 16(2).

    Notes
    -----
    With q the judge's share of wins, the true share is
    ``(q + specificity − 1) / (sensitivity + specificity − 1)``. The labelled items may
    hold more wins or fewer than the rest, as long as the judge treats a win like a win
    in both. It must not be worse, or better, on the rest.

    "fieller" counts as Lang and Reiczigel do: one hit and one miss are added to each
    error rate, and z²/2 to both verdicts of the rest.

    With clusters all counts are taken down to the number of independent items that are
    worth as much (`judgelab.intervals.effective_size`), and the interval is made of
    those. In simulations with 8, 15 and 40 labelled clusters of 1 to 5 or 1 to 20 items
    (good, lenient and weak judges, shares of .2 and .5) a nominal 95 % covered 92 to
    100 %, and the interval of independent items 76 to 100 %.

    Chapter: *Your own judge*.

    Examples
    --------
    The judge says win in 66 % of 2,000; it sees 90 % of the wins, and 30 % too many:

    >>> rogan_gladen([[54, 6], [12, 28]], [1320, 680])
    0.600 [0.456, 0.731] (n = 100, Rogan–Gladen, Fieller)
    """
    names = {
        "fieller": "Fieller",
        "lang-reiczigel": "Lang–Reiczigel",
        "delta": "delta method",
    }
    if interval not in tuple(names):
        raise ValidationError(
            f"interval is {interval!r}; choose from {', '.join(map(repr, names))}"
        )
    upper_end(level)
    tables, verdicts, clustered = _checked_counts(table, rest)
    counts, seen = tables.sum(axis=0), verdicts.sum(axis=0)
    for n, word in zip(counts.sum(axis=1), ("a win", "no win"), strict=True):
        _refuse_unlabelled(n, word)
    se, sp = _rates(counts)
    if se + sp <= 1:
        raise UndefinedStatistic(
            f"sensitivity {se:.3f} and specificity {sp:.3f} add up to at most 1: the "
            "judge says win no more often where there is one, so its verdicts cannot "
            "be corrected; use the labels alone"
        )
    q = float(seen[0] / seen.sum())
    share = _unbiased(q, se, sp)
    value = min(1.0, max(0.0, share))
    method = f"Rogan–Gladen, {names[interval]}"
    worth = 1.0
    if clustered:
        # What one item of each kind moves in q − (value·se + (1 − value)·(1 − sp)).
        of_wins, of_others = counts.sum(axis=1)
        by_cell = [
            np.array([se - 1, se]) * value / of_wins,
            np.array([-sp, 1 - sp]) * (1 - value) / of_others,
        ]
        by_verdict = np.array([1 - q, -q]) / seen.sum()
        worth, clusters = _worth(tables, verdicts, np.array(by_cell), by_verdict, level)
        method += f", {clusters} labelled clusters"
    low, high = _bounds(counts * worth, seen * worth, interval, level)
    low, high = min(low, share), max(high, share)
    if high < 0 or low > 1:
        raise UndefinedStatistic(
            f"the judge says win on {q:.1%} of the rest; with sensitivity {se:.3f} and "
            f"specificity {sp:.3f} no true share explains that: it errs otherwise "
            "there than on the labelled items; label a random part of the rest"
        )
    n_labels = int(counts.sum())
    return Estimate(value, max(0.0, low), min(1.0, high), n_labels, method, level)


def _bounds(
    counts: Floats, verdicts: Floats, interval: RoganGladen, level: float
) -> tuple[float, float]:
    """Find the shares that the counts of independent items do not rule out."""
    z = normal_quantile(upper_end(level))
    extra = 0.0 if interval == "delta" else 1.0
    adjusted = counts + extra
    n_seen = float(verdicts.sum()) + extra * z**2
    q, (se, sp) = float(verdicts[0] + extra * z**2 / 2) / n_seen, _rates(adjusted)
    of_wins, of_others = map(float, adjusted.sum(axis=1))
    v_q = q * (1 - q) / n_seen
    v_se, v_sp = se * (1 - se) / of_wins, sp * (1 - sp) / of_others
    if interval == "fieller":
        return _fieller(q, se, sp, v_q, v_se, v_sp, z)
    if se + sp <= 1:
        return 0.0, 1.0
    centre = _unbiased(q, se, sp)
    spread = v_q + centre**2 * v_se + (1 - centre) ** 2 * v_sp
    half = z * math.sqrt(spread) / (se + sp - 1)
    if interval == "lang-reiczigel":
        centre += 2 * z**2 * (centre * v_se - (1 - centre) * v_sp)
    return centre - half, centre + half


def prediction_powered_share(
    table: npt.ArrayLike,
    rest: npt.ArrayLike,
    *,
    weight: Weight = "tuned",
    level: float = 0.95,
) -> Estimate:
    """How large is the true share of wins, if a random part of the items has labels?

    Parameters
    ----------
    table : array_like, shape (2, 2) or (clusters, 2, 2)
        Counts of the labelled items. Rows: people say win, no win; columns: the judge
        says win, no win. A stack of tables, one per cluster (question, document), says
        that only the clusters are independent of each other.
    rest : array_like, shape (2,) or (clusters, 2)
        How often the judge says win, and no win, on the items without labels, for the
        same clusters. A cluster may have items of one kind only.
    weight : "tuned" or float, default "tuned"
        λ, how far the judge is trusted: 0 leaves it out (labels only), 1 is the
        original method, "tuned" takes the λ in [0, 1] that promises the narrowest
        interval.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate
        Share of wins in the population of all items, cut to [0, 1]; `n` counts labels.

    Raises
    ------
    UndefinedStatistic
        If fewer than two clusters have labels.
    ValidationError
        If counts are no counts, fewer than two items have labels, there are no verdicts
        without labels, or the weight is out of range.

    References
    ----------
    Angelopoulos et al. (2023), arXiv:2301.09633 (λ = 1), and Angelopoulos, Duchi &
    Zrnic (2023), arXiv:2311.01453 (tuned λ); Agresti & Min (2005), *Statistics in
    Medicine* 24(5), for half a pair in each cell.

    Notes
    -----
    The share that the judge sees, λ times, plus the mean of label − λ·verdict where
    both are known. The labelled items must be a random part of all items: with labels
    for the interesting ones only, the result is wrong and does not show it.

    With few errors among the labels the plain standard error is too small, and 0 if
    there is none. So the interval is made from half a pair more in each cell of the
    table, and one verdict more of each kind in the rest, as Agresti and Min do for
    paired shares. The papers' own interval is that of `prediction_powered_mean`.

    With clusters the counts become fewer as in `rogan_gladen`; in the same simulations
    the interval covered 92 to 100 %, and that of independent items 73 to 98 %. λ is
    tuned as if items were independent, which costs width and not validity.

    Chapter: *Your own judge*.

    Examples
    --------
    >>> prediction_powered_share([[54, 6], [12, 28]], [1320, 680])
    0.600 [0.523, 0.677] (n = 100, prediction-powered, λ = 0.61)
    >>> prediction_powered_share([[54, 6], [12, 28]], [1320, 680], weight=0)
    0.600 [0.502, 0.694] (n = 100, labels only)
    """
    upper_end(level)
    tables, verdicts, clustered = _checked_counts(table, rest)
    counts, seen = tables.sum(axis=0), verdicts.sum(axis=0)
    n = int(counts.sum())
    if n < 2:
        raise ValidationError(f"{n} items have labels; an interval needs at least 2")
    trust = _trust(weight, *_as_scores(counts, seen))
    value = _combined(trust, *_as_scores(counts, seen))[0]
    worth, method = 1.0, _named(trust)
    if clustered:
        # What one item of each kind moves in the estimate.
        gaps = _LABEL - trust * _SEEN
        by_cell = (gaps - counts.ravel() @ gaps / n).reshape(2, 2) / n
        q = float(seen[0] / seen.sum())
        by_verdict = trust * np.array([1 - q, -q]) / seen.sum()
        worth, clusters = _worth(tables, verdicts, by_cell, by_verdict, level)
        method += f", {clusters} labelled clusters"
    low, high = _powered_bounds(trust, counts * worth, seen * worth, level)
    value = min(1.0, max(0.0, value))
    return Estimate(value, min(low, value), max(high, value), n, method, level)


_LABEL, _SEEN = np.array([1.0, 1, 0, 0]), np.array([1.0, 0, 1, 0])
"""What people and the judge say in each cell of the table."""


def _as_scores(
    counts: Floats, verdicts: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Write counts as scores that occur so often."""
    return _LABEL, _SEEN, counts.ravel(), np.array([1.0, 0]), verdicts


def _powered_bounds(
    trust: float, counts: Floats, verdicts: Floats, level: float
) -> tuple[float, float]:
    """Make the interval from counts of independent items, cut to [0, 1]."""
    more = _as_scores(counts + 0.5, verdicts + 1.0)
    centre, from_labels, from_rest = _combined(trust, *more)
    half = normal_quantile(upper_end(level)) * math.sqrt(from_labels + from_rest)
    return max(0.0, centre - half), min(1.0, centre + half)


def _worth(
    tables: Floats, verdicts: Floats, by_cell: Floats, by_verdict: Floats, level: float
) -> tuple[float, int]:
    """How many independent items is an item in these clusters worth?

    Takes what one item of each kind moves in the estimate; returns also the number of
    clusters with labels, which are what is scarce: they say how well the spread is
    known.
    """
    labelled = int(np.count_nonzero(tables.any(axis=(1, 2))))
    if labelled < 2:
        raise UndefinedStatistic(
            f"{labelled} cluster has labels, which show no spread between clusters; "
            "give labels of at least two"
        )
    n = float(tables.sum())
    of_labels = float((tables * by_cell**2).sum())
    independent = of_labels + float((verdicts * by_verdict**2).sum())
    moved = (tables * by_cell).sum(axis=(1, 2)) + verdicts @ by_verdict
    clustered = labelled / (labelled - 1) * float(moved @ moved)
    size = effective_size(independent, clustered, n, labelled, level)
    return size / n, labelled


def prediction_powered_mean(
    labels: npt.ArrayLike,
    judged: npt.ArrayLike,
    rest: npt.ArrayLike,
    *,
    weight: Weight = "tuned",
    clusters: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    level: float = 0.95,
) -> Estimate:
    """How large is the mean that people would give, if a random part has their scores?

    For win rates with ties at one half, for grades, for any score that has a mean.

    Parameters
    ----------
    labels, judged : array_like of float, shape (n,)
        Scores of people and of the judge on the labelled items, in the same order.
    rest : array_like of float, shape (N,)
        The judge's scores on the items without labels.
    weight : "tuned" or float, default "tuned"
        λ, how far the judge is trusted: 0 leaves it out (labels only), 1 is the
        original method, "tuned" takes the λ in [0, 1] that promises the narrowest
        interval.
    clusters : pair of array_like, shapes (n,) and (N,), optional
        Which cluster (question, document) each labelled and each other item belongs to;
        whole clusters are then the independent units, and one may have items of both
        kinds.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate
        Mean in the population of all items; `n` counts labels.

    Raises
    ------
    UndefinedStatistic
        If fewer than two clusters have labels, or the scores have no spread.
    ValidationError
        If the arrays are not aligned, a score or the name of a cluster is missing, a
        score is infinite, fewer than two items have labels or fewer than two have none,
        or the weight is out of range.

    References
    ----------
    Angelopoulos et al. (2023), arXiv:2301.09633; Angelopoulos, Duchi & Zrnic (2023),
    arXiv:2311.01453, for λ.

    Notes
    -----
    The interval uses Student's quantile, with Welch's degrees of freedom (of clusters:
    the number of those with labels, less 1), where the papers use the normal one. λ is
    tuned as if items were independent, which costs width and not validity. With few
    clusters the interval is a little narrow: in simulations a nominal 95 % covered 92 %
    with 15 labelled clusters and 94 % with 40. For shares of wins
    `prediction_powered_share` is safer with few errors among the labels.

    Chapter: *Your own judge*.

    Examples
    --------
    Five graded answers, and what a generous judge says on them and on eight more:

    >>> people, judge = [3, 5, 4, 2, 6], [4, 6, 6, 3, 7]
    >>> prediction_powered_mean(people, judge, [7, 5, 6, 4, 5, 6, 7, 5])
    4.326 [3.522, 5.131] (n = 5, prediction-powered, λ = 0.77)
    """
    import pandas as pd

    series = [x for x in (labels, judged) if isinstance(x, pd.Series)]
    if len(series) == 2 and not series[0].index.equals(series[1].index):
        raise ValidationError(
            "labels and judged are Series with different indices; give both in the "
            "same order: `judged[labels.index]`"
        )
    named = {"labels": labels, "judged": judged, "rest": rest}
    y, f, g = (floats(name, values) for name, values in named.items())
    if y.ndim != 1 or y.shape != f.shape or g.ndim != 1:
        raise ValidationError(
            f"labels, judged and rest have shapes {y.shape}, {f.shape} and {g.shape}; "
            "give one score of each kind per labelled item, and a list for the rest"
        )
    for name, scores in (("labels", y), ("judged", f), ("rest", g)):
        if (odd := np.flatnonzero(~(np.abs(scores) < _LARGEST))).size:
            raise ValidationError(
                f"{name} are missing or infinite at {odd[:5].tolist()}; leave out "
                "items without a usable verdict, and say how many there were"
            )
    if y.size < 2 or g.size < 2:
        raise ValidationError(
            f"{y.size} items have labels and {g.size} have none; a spread needs at "
            "least 2 of each"
        )
    both, others = (y, f, np.ones_like(y)), (g, np.ones_like(g))
    trust = _trust(weight, *both, *others)
    value, from_labels, from_rest = _combined(trust, *both, *others)
    variance, method = from_labels + from_rest, _named(trust)
    freedom = math.inf
    if clusters is not None:
        off = (y - trust * f - (y - trust * f).mean()) / y.size
        off_rest = trust * (g - g.mean()) / g.size
        count, variance = _between(clusters, off, off_rest)
        freedom, method = count - 1, f"{method}, {count} labelled clusters"
    if variance == 0:
        raise UndefinedStatistic(
            "the scores do not differ, which is no proof that others would not; get "
            "more labels, or count wins and call `prediction_powered_share`"
        )
    if clusters is None:
        # Welch: the part that is small has little to say on the degrees of freedom.
        labelled, further = from_labels / variance, from_rest / variance
        freedom = 1 / (labelled**2 / (y.size - 1) + further**2 / (g.size - 1))
    error = math.sqrt(variance)
    return from_standard_error(
        value, error, y.size, method, level=level, freedom=freedom
    )


def n_labels_for_width(
    width: float,
    *,
    share: float,
    sensitivity: float,
    specificity: float,
    rest: float = math.inf,
    method: Literal[
        "prediction-powered", "rogan-gladen", "labels only"
    ] = "prediction-powered",
    level: float = 0.95,
) -> int:
    """How many items must people label until the corrected share is this sure?

    Parameters
    ----------
    width : float
        The wanted length of the interval, between 0 and 1.
    share : float
        The true share of wins that is expected, strictly between 0 and 1.
    sensitivity, specificity : float
        Of the judge, as expected, in [0, 1].
    rest : float, default infinity
        How many items without labels the judge judges.
    method : {"prediction-powered", "rogan-gladen", "labels only"}
        How the share will be corrected.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    int
        Labels, drawn at random from all items, in addition to the `rest`: the smallest
        number at which counts that are exactly as expected have such an interval.

    Raises
    ------
    UndefinedStatistic
        If no number of labels is enough: the judge has no information for
        "rogan-gladen", too few items without labels, or the width is out of reach.
    ValidationError
        If an argument is out of range.

    Notes
    -----
    The interval is the one that `prediction_powered_share` and `rogan_gladen` make
    unless they are told otherwise ("labels only" has a weight of 0). In simulations of
    300 plans (shares from .05 to .9, judges from perfect to poor, widths from .05 to
    .3) the prediction-powered intervals were on average at most 7 % wider than
    planned, and those of labels only at most 5 %. Rogan and Gladen's were so in the
    median (at most 15 % wider), but some samples with few wins, or of a poor judge, had
    much wider ones; the plan asks for as many labels as hold three wins, and three
    others, on average.

    A pilot of some fifty labels tells the rates roughly; plan with the worse end of
    their intervals. Chapter: *Your own judge*.

    Examples
    --------
    >>> judge = {"share": 0.6, "sensitivity": 0.9, "specificity": 0.85, "rest": 5000}
    >>> n_labels_for_width(0.1, **judge)
    173
    >>> n_labels_for_width(0.1, **judge, method="labels only")
    368
    """
    check_real(width=width, share=share, rest=rest)
    check_real(sensitivity=sensitivity, specificity=specificity)
    for name, number in (("width", width), ("share", share)):
        if not 0 < number < 1:
            raise ValidationError(
                f"{name} is {number!r}; give a number between 0 and 1"
            )
    for name, number in (("sensitivity", sensitivity), ("specificity", specificity)):
        if not 0 <= number <= 1:
            raise ValidationError(f"{name} is {number!r}; give a number from 0 to 1")
    if not rest >= 1:
        raise ValidationError(f"rest is {rest!r}; the judge judges at least 1 item")
    if method not in ("prediction-powered", "rogan-gladen", "labels only"):
        raise ValidationError(
            f"method is {method!r}; choose 'prediction-powered', 'rogan-gladen' or "
            "'labels only'"
        )
    of_wins = share * np.array([sensitivity, 1 - sensitivity])
    of_others = (1 - share) * np.array([1 - specificity, specificity])
    expected = np.array([of_wins, of_others])
    verdicts = min(rest, _ENDLESS) * expected.sum(axis=0)

    def enough(labels: float) -> bool:
        counts = labels * expected
        if method == "rogan-gladen":
            if (counts.sum(axis=1) < _LEAST_SEEN).any():
                return False
            low, high = _bounds(counts, verdicts, "fieller", level)
        else:
            weight: Weight = 0.0 if method == "labels only" else "tuned"
            trust = _trust(weight, *_as_scores(counts, verdicts))
            low, high = _powered_bounds(trust, counts, verdicts, level)
        return min(1.0, high) - max(0.0, low) <= width

    if method == "rogan-gladen" and not enough(_ENDLESS):
        raise UndefinedStatistic(
            f"no number of labels is enough for Rogan–Gladen: the verdicts on {rest:g} "
            f"items alone make the interval wider than {width}; let the judge judge "
            "more items, or take another method"
        )
    return smallest(enough, _MOST_LABELS, "labels")


_ENDLESS = 1e15
"""So many items are as good as endlessly many."""


def _checked_table(table: npt.ArrayLike) -> Floats:
    # A frame with true and false on its axes knows which of them is the win.
    for axis in getattr(table, "axes", ()):
        if axis.dtype == bool and not axis[0]:
            raise ValidationError(
                "table has no win before win, as `pandas.crosstab` sorts; turn it with "
                "`.iloc[::-1, ::-1]`"
            )
    counts = floats("table", table)
    if counts.shape != (2, 2):
        raise ValidationError(
            f"table has shape {counts.shape}; give 2 × 2 counts: rows people say win, "
            "no win; columns the judge says win, no win"
        )
    _check_counts("table", counts)
    return counts


def _checked_counts(
    table: npt.ArrayLike, rest: npt.ArrayLike
) -> tuple[Floats, Floats, bool]:
    """Return the counts per cluster, and whether there are clusters, or only one."""
    tables, verdicts = floats("table", table), floats("rest", rest)
    clustered = tables.ndim == 3
    if not clustered:
        tables = _checked_table(table)[None]
        if verdicts.shape != (2,):
            raise ValidationError(
                f"rest has shape {verdicts.shape}; give two counts: how often the "
                "judge says win, and no win, on items without labels"
            )
        verdicts = verdicts[None]
    elif tables.shape[1:] != (2, 2) or verdicts.shape != (len(tables), 2):
        raise ValidationError(
            f"table has shape {tables.shape} and rest {verdicts.shape}; give 2 × 2 "
            "counts and two verdicts for each of the same clusters, in one order"
        )
    _check_counts("table", tables)
    _check_counts("rest", verdicts)
    if not verdicts.any():
        raise ValidationError("rest is empty; the judge judges at least 1 further item")
    return tables, verdicts, clustered


def _check_counts(name: str, counts: Floats) -> None:
    # A nan fails the first comparison, infinity the second.
    right = (counts >= 0) & (counts < 2**53) & (counts == np.floor(counts))
    if not right.all():
        raise ValidationError(
            f"{name} holds {counts[~right][:5].tolist()}; give whole counts >= 0"
        )


def _rates(counts: Floats) -> tuple[float, float]:
    """Return sensitivity and specificity."""
    of = counts.sum(axis=1)
    return float(counts[0, 0] / of[0]), float(counts[1, 1] / of[1])


def _unbiased(seen: float, sensitivity: float, specificity: float) -> float:
    return (seen + specificity - 1) / (sensitivity + specificity - 1)


def _fieller(
    q: float, se: float, sp: float, v_q: float, v_se: float, v_sp: float, z: float
) -> tuple[float, float]:
    """Find the shares p whose q = p·se + (1 − p)(1 − sp) is not ruled out.

    (q + sp − 1 − p·(se + sp − 1))² ≤ z²·(v_q + p²·v_se + (1 − p)²·v_sp) is a quadratic
    inequality in p. Where it holds outside of the roots, se + sp may as well be 1, and
    the whole range is the interval. Written in the distance from the p at which the
    left side is 0, nothing cancels, however many counts there are.
    """
    youden = se + sp - 1
    a = youden**2 - z**2 * (v_se + v_sp)
    if youden <= 0 or a <= 0:
        return 0.0, 1.0
    centre = _unbiased(q, se, sp)
    shift = z**2 * (centre * v_se - (1 - centre) * v_sp)
    c = z**2 * (v_q + centre**2 * v_se + (1 - centre) ** 2 * v_sp)
    root = math.sqrt(shift**2 + a * c)
    return centre + (shift - root) / a, centre + (shift + root) / a


def _mean_and_spread(x: Floats, w: Floats) -> tuple[float, float]:
    """Return mean and variance (n − 1) of values that occur w times."""
    n = float(w.sum())
    mean = float(w @ x) / n
    return mean, float(w @ (x - mean) ** 2) / (n - 1) if n > 1 else 0.0


def _trust(
    weight: Weight, y: Floats, f: Floats, w: Floats, g: Floats, v: Floats
) -> float:
    """Find λ: given, or cov(y, f) / ((1 + n/N)·var(f)), cut to [0, 1]."""
    if not isinstance(weight, str) or weight != "tuned":
        if not is_real(weight) or not 0 <= weight <= 1:
            raise ValidationError(
                f"weight is {weight!r}; give 'tuned' or a number from 0 to 1"
            )
        return float(weight)
    n, further = float(w.sum()), float(v.sum())
    _, spread = _mean_and_spread(np.concatenate([f, g]), np.concatenate([w, v]))
    if spread == 0:
        return 0.0
    together = float(w @ ((y - w @ y / n) * (f - w @ f / n))) / n
    best = together / ((1 + n / further) * spread)
    # A rounding error is no information.
    return min(1.0, max(0.0, round(best, 12)))


def _combined(
    trust: float, y: Floats, f: Floats, w: Floats, g: Floats, v: Floats
) -> tuple[float, float, float]:
    """Return the estimate, and what labels and rest contribute to its variance."""
    mean, spread = _mean_and_spread(y - trust * f, w)
    mean_rest, spread_rest = _mean_and_spread(trust * g, v)
    return mean + mean_rest, spread / float(w.sum()), spread_rest / float(v.sum())


def _between(
    clusters: tuple[npt.ArrayLike, npt.ArrayLike], *influence: Floats
) -> tuple[int, float]:
    """Count the labelled clusters, and find the variance of a sum of influences."""
    try:
        of_labelled, of_rest = clusters
    except (TypeError, ValueError):
        raise ValidationError(
            f"clusters is {clusters!r}; give two lists: what each labelled item "
            "belongs to, and what each other item"
        ) from None
    refuse_mask("clusters of labelled items", of_labelled)
    refuse_mask("clusters of the rest", of_rest)
    names = [np.asarray(of_labelled), np.asarray(of_rest)]
    if [of.shape for of in names] != [part.shape for part in influence]:
        raise ValidationError(
            f"clusters have shapes {[of.shape for of in names]}; give one for each of "
            f"{influence[0].size} labelled and {influence[1].size} other items"
        )
    import pandas as pd

    if len({of.dtype.kind in "biuf" for of in names}) > 1:
        raise ValidationError(
            "clusters are numbers for one kind of items and text for the other; the "
            "same cluster needs the same name in both"
        )
    # A missing name is the code -1.
    code, _ = pd.factorize(np.concatenate(names))
    if (odd := np.flatnonzero(code < 0)).size:
        raise ValidationError(
            f"clusters have no name at {odd[:5].tolist()} (labelled items first); an "
            "item of no cluster is one of its own: name it"
        )
    sums = np.bincount(code, np.concatenate(influence))
    # Labels are what is scarce: their clusters decide how well the spread is known.
    labelled = np.unique(code[: names[0].size]).size
    if labelled < 2:
        raise UndefinedStatistic(
            "labels of one cluster have no spread; give labels of at least two"
        )
    return labelled, labelled / (labelled - 1) * float(sums @ sums)


def _named(trust: float) -> str:
    return f"prediction-powered, λ = {trust:.2f}" if trust else "labels only"
