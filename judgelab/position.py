"""Does the order in which answers are shown change what the judge says?

Everything here rests on one small table: for each pair of answers, the verdict in the
first order against the verdict in the exchanged order, both over the five codes of
`Verdict`, the second *un-swapped* so that A is the same answer in both.
`counts.two_order_tables` makes it from records on any dataframe engine, and
`counts.contingency_table` from two aligned arrays; either makes one table per item too,
which is what repeated trials need.

A rate is a weighting of the table's 25 cells over another weighting of them. The
denominators have names, because published rates differ in them more than in anything
else.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy import special

from judgelab._checks import array, check_real
from judgelab.counts import checked_orders
from judgelab.errors import ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import (
    MOST_UNITS,
    clustered_proportion,
    effective_size,
    from_standard_error,
    proportion,
)
from judgelab.significance import Test, mcnemar, sign_flip_test, signed_share
from judgelab.verdict import Outcome, Rule, Verdict, as_codes, find_rule, unswap

if TYPE_CHECKING:
    import pandas as pd

Weights = npt.NDArray[np.float64]
Slot = Literal["first", "second"]
Kind = Literal["strict", "lenient"]

_ROW, _COLUMN = np.indices((len(Verdict), len(Verdict)))
_EQUAL = (_ROW == _COLUMN).astype(float)
_READABLE_FIRST = (_ROW <= Verdict.TIE).astype(float)
_READABLE_SECOND = (_COLUMN <= Verdict.TIE).astype(float)
_READABLE = _READABLE_FIRST * _READABLE_SECOND
_DECIDED_FIRST = (_ROW <= Verdict.B).astype(float)
_DECIDED_SECOND = (_COLUMN <= Verdict.B).astype(float)
_DECIDED = _DECIDED_FIRST * _DECIDED_SECOND
_ALL = np.ones((len(Verdict), len(Verdict)))

# The second verdict is un-swapped: B there was said of the first slot.
_PICKS: dict[str, tuple[Weights, Weights]] = {
    "first": (
        (_ROW == Verdict.A).astype(float),
        (_COLUMN == Verdict.B).astype(float),
    ),
    "second": (
        (_ROW == Verdict.B).astype(float),
        (_COLUMN == Verdict.A).astype(float),
    ),
}


def pair_orders(records: Any) -> pd.DataFrame:
    """Put the two verdicts on each pair of answers side by side.

    Parameters
    ----------
    records : dataframe
        Tidy pairwise records of any engine with ``judge``, ``item``, ``swapped`` (bool)
        and ``verdict`` (word or code, on *shown* slots); optionally ``trial``. Other
        columns are kept if they are the same for all records of an item.

    Returns
    -------
    pandas.DataFrame
        One row per judge, item and trial, in the order of the records: ``first`` and
        ``second`` hold `Verdict` codes, the second un-swapped. An order without a
        record is `Verdict.MISSING`.

    Raises
    ------
    ValidationError
        As `counts.two_order_tables`.

    Notes
    -----
    For the tables alone `counts.two_order_tables` is faster and leaves large frames
    where they are; this keeps the items, and what is known of them.

    Chapter: *Does the order matter?*

    Examples
    --------
    >>> import pandas as pd
    >>> records = pd.DataFrame(
    ...     {
    ...         "judge": "me",
    ...         "item": ["q1", "q1", "q2"],
    ...         "swapped": [False, True, False],
    ...         "verdict": ["A", "B", "TIE"],
    ...     }
    ... )
    >>> pair_orders(records)[["item", "first", "second"]]
      item  first  second
    0   q1      0       0
    1   q2      2       4
    """
    checked, key = checked_orders(records)
    if isinstance(checked, nw.LazyFrame):
        checked = checked.collect()
    frame: pd.DataFrame = checked.to_pandas()
    swapped = frame["swapped"].to_numpy(bool)
    codes = unswap(frame["_label"].to_numpy(), swapped)
    pairs = frame.drop(
        columns=["swapped", "verdict", "_label", "model_a", "model_b"], errors="ignore"
    )
    group = pairs.groupby(key, sort=False, observed=True).ngroup().to_numpy()
    both = np.full((group.max(initial=-1) + 1, 2), Verdict.MISSING, np.int8)
    both[group, swapped.astype(int)] = codes
    first_record = np.unique(group, return_index=True)[1]
    varying = [
        name
        for name in pairs
        if name not in key
        and not pairs[name].equals(
            pairs[name].iloc[first_record[group]].set_axis(pairs.index)
        )
    ]
    result: pd.DataFrame = (
        pairs.iloc[first_record].drop(columns=varying).reset_index(drop=True)
    )
    return result.assign(first=both[:, 0], second=both[:, 1])


def average_orders(records: Any) -> pd.DataFrame:
    """Which answer does a judge prefer once its lean to a slot is averaged out?

    Parameters
    ----------
    records : dataframe
        Tidy pairwise records as `pair_orders` takes them, with ``log_odds``: natural
        log of the odds that the judge gave the first slot against the second, as shown.
        Records without log-odds (nan) count as not asked.

    Returns
    -------
    pandas.DataFrame
        One row per judge, item and trial with log-odds in both orders; columns that
        are the same for all records of an item are kept. ``preference``: log-odds of
        answer A against B, averaged over the two orders; its sign is the debiased
        verdict. ``lean``: log-odds of the first slot against the second whatever stands
        in it, the other half of the same two numbers.

    Raises
    ------
    ValidationError
        If there is no column ``log_odds``, or as `pair_orders`.

    References
    ----------
    Wang et al. (2024), arXiv:2305.17926, who average grades over both orders.

    Notes
    -----
    If the judge prefers A by δ and the first slot by β, the two orders give δ + β and
    −δ + β. Half their difference is δ, half their sum β, whatever β is.

    Chapter: *Ask a real model*.

    Examples
    --------
    A lean of 2 towards the first slot hides a preference of 0.5 for A:

    >>> import pandas as pd
    >>> records = pd.DataFrame(
    ...     {
    ...         "judge": "me",
    ...         "item": "q1",
    ...         "swapped": [False, True],
    ...         "verdict": ["A", "A"],
    ...         "log_odds": [2.5, 1.5],
    ...     }
    ... )
    >>> average_orders(records)[["item", "preference", "lean"]]
      item  preference  lean
    0   q1         0.5   2.0
    """
    checked, key = _with_log_odds(records)
    shown = checked.select(*key, "swapped", "log_odds").to_pandas()
    odds = shown.set_index([*key, "swapped"])["log_odds"].astype(float)
    wide = odds.unstack("swapped").reindex(columns=[False, True])
    given, swapped = wide[False], wide[True]
    both = pair_orders(records).drop(
        columns=["first", "second", "log_odds"], errors="ignore"
    )
    halves = {"preference": (given - swapped) / 2, "lean": (given + swapped) / 2}
    result: pd.DataFrame = both.join(wide.assign(**halves)[[*halves]], on=key)
    return result.dropna(subset=[*halves]).reset_index(drop=True)


def mean_lean(records: Any, *, level: float = 0.95) -> Estimate:
    """How strongly does the first slot pull, in the judge's own log-odds?

    Parameters
    ----------
    records : dataframe
        Of one judge and one trial, as `average_orders` takes them.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate
        Mean of ``lean`` over the pairs, in logits, with Student's interval; `n` counts
        pairs. Undefined, with a reason, if there is none.

    Raises
    ------
    ValidationError
        As `average_orders`, or if a pair was judged more than once.

    Notes
    -----
    `nudge` estimates the same from verdicts that were drawn at random. A judge that
    always gives its likeliest label draws nothing: its flips may all go to one slot
    however small its lean is, and only its log-odds tell how strong it is.

    Chapter: *Ask a real model*.

    Examples
    --------
    >>> import pandas as pd
    >>> records = pd.DataFrame(
    ...     {
    ...         "judge": "me",
    ...         "item": ["q1", "q1", "q2", "q2"],
    ...         "swapped": [False, True, False, True],
    ...         "verdict": ["A", "A", "A", "B"],
    ...         "log_odds": [2.5, 1.5, 2.0, -0.2],
    ...     }
    ... )
    >>> mean_lean(records).value
    1.45
    """
    both = average_orders(records)
    if both["item"].duplicated().any():
        raise ValidationError(
            "records hold an item more than once (several judges, or trials, which are "
            "not independent); take one of them"
        )
    lean, n = both["lean"].to_numpy(), len(both)
    if n == 0:
        return Estimate.undefined("no pair has log-odds in both orders", n=0)
    value = float(lean.mean())
    if n == 1:
        return Estimate(value, np.nan, np.nan, 1, "one pair", level)
    error = float(lean.std(ddof=1) / np.sqrt(n))
    return from_standard_error(
        value, error, n, "Student t over pairs", level=level, freedom=n - 1
    )


def at_threshold(records: Any, threshold: float = 0.0) -> pd.DataFrame:
    """Which verdicts result if the first slot has to win by more than this?

    A lean to the first slot is a threshold in the wrong place. Moving it changes the
    verdicts, asks nobody, and needs one order only.

    Parameters
    ----------
    records : dataframe
        As `average_orders` takes them.
    threshold : float, default 0
        Log-odds of the first slot against the second above which the verdict is A, and
        below which it is B; exactly there it is a tie. A judge's mean ``lean`` in
        `average_orders` is the threshold at which neither slot gains on average.

    Returns
    -------
    pandas.DataFrame
        The records with other verdicts, as words. Records without log-odds (nan) keep
        theirs.

    Raises
    ------
    ValidationError
        If the threshold is not finite, or as `average_orders`.

    References
    ----------
    Zhao et al. (2021), arXiv:2102.09690, and Zheng et al. (2024), arXiv:2309.03882, who
    correct a model's preference for a label before it is compared.

    Notes
    -----
    Take the threshold from other pairs than those that are judged with it.

    Chapter: *Ask a real model*.

    Examples
    --------
    >>> import pandas as pd
    >>> records = pd.DataFrame(
    ...     {
    ...         "judge": "me",
    ...         "item": "q1",
    ...         "swapped": [False, True],
    ...         "verdict": ["A", "A"],
    ...         "log_odds": [2.5, 1.5],
    ...     }
    ... )
    >>> at_threshold(records, 2)["verdict"].tolist()
    ['A', 'B']
    """
    check_real(threshold=threshold)
    if not np.isfinite(threshold):
        raise ValidationError(f"threshold is {threshold!r}; give a finite number")
    checked, _ = _with_log_odds(records)
    frame: pd.DataFrame = checked.to_pandas()
    odds = frame["log_odds"].to_numpy(float)
    codes = np.select(
        [odds > threshold, odds < threshold, odds == threshold],
        [Verdict.A, Verdict.B, Verdict.TIE],
        frame["_label"].to_numpy(),
    )
    words = np.array(list(Verdict.__members__))
    return frame.drop(columns="_label").assign(verdict=words[codes])


def _with_log_odds(records: Any) -> tuple[Any, list[str]]:
    """Check records that carry log-odds; collect them if they are lazy."""
    checked, key = checked_orders(records)
    if "log_odds" not in checked.collect_schema().names():
        raise ValidationError(
            "records have no column 'log_odds'; ask for the log-probabilities of the "
            "first token and read them with from_first_token"
        )
    if isinstance(checked, nw.LazyFrame):
        checked = checked.collect()
    return checked, key


def right_verdicts(records: Any) -> pd.Series[int]:
    """How many of the verdicts on each item name the better answer?

    Parameters
    ----------
    records : dataframe
        Of one judge, as `pair_orders` takes them, with ``gold``: the better answer, A
        or B, the same for all records of an item.

    Returns
    -------
    pandas.Series
        Right verdicts by item: 0, 1 or 2, or up to twice the number of trials. A tie,
        an unreadable reply and a missing one are not right. For comparing judges or
        prompts pair by pair.

    Raises
    ------
    ValidationError
        If ``gold`` is lacking, differs between the records of an item or is neither A
        nor B; if there are several judges; or as `pair_orders`.

    Notes
    -----
    Chapter: *Ask a real model*.

    Examples
    --------
    >>> import pandas as pd
    >>> records = pd.DataFrame(
    ...     {
    ...         "judge": "me",
    ...         "item": ["q1", "q1", "q2", "q2"],
    ...         "swapped": [False, True, False, True],
    ...         "verdict": ["A", "B", "A", "A"],
    ...         "gold": ["A", "A", "B", "B"],
    ...     }
    ... )
    >>> right_verdicts(records).to_dict()
    {'q1': 2, 'q2': 1}
    """
    pairs = pair_orders(records)
    if "gold" not in pairs or not pairs["gold"].isin(["A", "B"]).all():
        raise ValidationError(
            "records need a column 'gold' with A or B, the better answer whichever was "
            "shown first, the same for all records of an item"
        )
    if pairs["judge"].nunique() > 1:
        raise ValidationError(
            f"records hold {pairs['judge'].nunique()} judges; take them one by one"
        )
    gold = np.where(pairs["gold"] == "A", int(Verdict.A), int(Verdict.B))
    right = (pairs["first"] == gold).astype(int) + (pairs["second"] == gold)
    return right.groupby(pairs["item"], sort=False).sum().rename("right")


def position_consistency(
    table: npt.ArrayLike,
    *,
    kind: Literal["strict", "opposite", "judgebench"] = "strict",
    denominator: Literal["all", "readable", "decided"] = "all",
    level: float = 0.95,
) -> Estimate:
    """How often does the judge say the same of two answers in both orders?

    Parameters
    ----------
    table : array_like of int, shape (5, 5) or (items, 5, 5)
        Two-order counts, the second verdict un-swapped; one table per item if items
        were judged several times.
    kind : {"strict", "opposite", "judgebench"}, default "strict"
        What counts as consistent. ``"strict"``: the same readable verdict twice (A, B
        or tie). ``"opposite"``: everything but two opposite winners. ``"judgebench"``:
        equal labels, so that two unreadable replies are consistent, as in the code of
        JudgeBench (and in its Table 6).
    denominator : {"all", "readable", "decided"}, default "all"
        Which pairs count: all; those with two readable verdicts; those with two winners
        (no tie).
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate
        In [0, 1]; `n` counts pairs. Undefined, with a reason, if no pair counts.

    Raises
    ------
    ValidationError
        If the table has another shape or holds something else than counts.

    References
    ----------
    Zheng et al. (2023), arXiv:2306.05685, Table 2 (strict, all pairs); Shi et al.
    (2024), arXiv:2406.07791 (strict, readable pairs); Tan et al. (2024),
    arXiv:2410.12784, Table 6.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    A judge that always takes the first slot contradicts itself on every pair:

    >>> table = np.zeros((5, 5), int)
    >>> table[Verdict.A, Verdict.B] = 50
    >>> position_consistency(table)
    0.000 [0.000, 0.071] (n = 50, Wilson)
    """
    opposite = _DECIDED * (_ROW != _COLUMN)
    consistent = _choose(
        "kind",
        kind,
        {
            "strict": _EQUAL * _READABLE,
            "opposite": _ALL - opposite,
            "judgebench": _EQUAL,
        },
    )
    pairs = _choose(
        "denominator",
        denominator,
        {"all": _ALL, "readable": _READABLE, "decided": _DECIDED},
    )
    return _share(table, consistent * pairs, pairs, f"{denominator} pairs", level)


def slot_share(
    table: npt.ArrayLike,
    slot: Slot = "first",
    *,
    denominator: Literal["all", "readable", "decided"] = "decided",
    level: float = 0.95,
) -> Estimate:
    """How large a share of the verdicts goes to the answer shown in this slot?

    Parameters
    ----------
    table : array_like of int, shape (5, 5) or (items, 5, 5)
        Two-order counts, the second verdict un-swapped.
    slot : {"first", "second"}, default "first"
        Where the preferred answer was shown.
    denominator : {"all", "readable", "decided"}, default "decided"
        Which verdicts count: all (two per pair), the readable ones, or those that name
        a winner; with the last, a judge without lean is at one half.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate
        In [0, 1]; `n` counts verdicts; the two verdicts on a pair form a cluster.

    Raises
    ------
    ValidationError
        As `position_consistency`.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    >>> table = np.zeros((5, 5), int)
    >>> table[Verdict.A, Verdict.A], table[Verdict.A, Verdict.B] = 30, 10
    >>> slot_share(table)
    0.625 [0.512, 0.726] (n = 80, Wilson, 40 clusters)
    """
    picks = sum(_choose("slot", slot, _PICKS))
    verdicts = _choose(
        "denominator",
        denominator,
        {
            "all": 2 * _ALL,
            "readable": _READABLE_FIRST + _READABLE_SECOND,
            "decided": _DECIDED_FIRST + _DECIDED_SECOND,
        },
    )
    return _share(table, picks, verdicts, f"{denominator} verdicts", level)


def slot_lean(
    table: npt.ArrayLike,
    slot: Slot = "first",
    *,
    kind: Kind = "strict",
    denominator: Literal["all", "readable", "decided", "inconsistent"] = "all",
    level: float = 0.95,
) -> Estimate:
    """On which share of the pairs did this slot, and not an answer, win?

    Parameters
    ----------
    table : array_like of int, shape (5, 5) or (items, 5, 5)
        Two-order counts, the second verdict un-swapped.
    slot : {"first", "second"}, default "first"
        The slot that gained.
    kind : {"strict", "lenient"}, default "strict"
        ``"strict"``: the slot won in both orders. ``"lenient"``: also if it won once
        and the other verdict was a tie, as Shi et al. count.
    denominator : {"all", "readable", "decided", "inconsistent"}, default "all"
        Which pairs count: all; those with two readable verdicts; those with two
        winners; those that lean to the one or the other slot.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate
        In [0, 1]; `n` counts pairs.

    Raises
    ------
    ValidationError
        As `position_consistency`.

    References
    ----------
    Zheng et al. (2023), arXiv:2306.05685, Table 2 ("biased toward first"); Shi et al.
    (2024), arXiv:2406.07791 (primacy and recency counts).

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    >>> table = np.zeros((5, 5), int)
    >>> table[Verdict.A, Verdict.A], table[Verdict.A, Verdict.B] = 20, 60
    >>> slot_lean(table)
    0.750 [0.645, 0.832] (n = 80, Wilson)
    """
    leans = {side: _leaning(side, kind) for side in _PICKS}
    pairs = _choose(
        "denominator",
        denominator,
        {
            "all": _ALL,
            "readable": _READABLE,
            "decided": _DECIDED,
            "inconsistent": leans["first"] + leans["second"],
        },
    )
    lean = _choose("slot", slot, leans)
    return _share(table, lean * pairs, pairs, f"{denominator} pairs", level)


def nudge(table: npt.ArrayLike, *, level: float = 0.95) -> Estimate:
    """How strongly does the first slot pull, on the scale of a logistic judge?

    Parameters
    ----------
    table : array_like of int, shape (5, 5) or (items, 5, 5)
        Two-order counts, the second verdict un-swapped.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate
        β in logits: positive if the first slot gains, infinite if one slot won every
        flip; `n` counts the pairs that a slot won in both orders. Undefined, with a
        reason, if there is none.

    Raises
    ------
    ValidationError
        As `position_consistency`.

    References
    ----------
    Davidson & Beaver (1977), *Biometrics* 33(4), for the order effect; Cox (1958),
    *JRSS B* 20(2), for conditioning on the discordant pairs.

    Notes
    -----
    If the first answer wins with probability σ(kδ + β), the first slot wins a pair
    twice exp(2β) times as often as the second, whatever kδ is. Among the f + s flips
    the first slot's share is therefore σ(2β). The estimate ½ ln(f/s) maximises that
    conditional likelihood, and the interval is that of the share, transformed. Replies
    that fail at random change nothing, nor do ties as Davidson models them; ties by a
    threshold (`simulate.Judge`, ``tie_width``) make the estimate too large.

    Chapter: *Does the order matter?*

    Examples
    --------
    GPT-4 in Table 2 of Zheng et al. (2023): 24 flips to the first slot, 4 to the
    second.

    >>> table = np.zeros((5, 5), int)
    >>> table[Verdict.A, Verdict.B], table[Verdict.B, Verdict.A] = 24, 4
    >>> nudge(table)
    0.896 [0.389, 1.403] (n = 28, Wilson on the share of flips)
    """
    share = slot_lean(table, "first", denominator="inconsistent", level=level)
    if np.isnan(share.value):
        return Estimate.undefined("no slot won a pair in both orders", n=0)
    value, low, high = special.logit([share.value, share.low, share.high]) / 2
    method = f"{share.method} on the share of flips"
    return Estimate(float(value), float(low), float(high), share.n, method, level)


def preference_fairness(
    table: npt.ArrayLike,
    *,
    denominator: Literal["all", "readable"] = "all",
    level: float = 0.95,
) -> Estimate:
    """Do the judge's inconsistencies favour one slot, and how much on the whole?

    Parameters
    ----------
    table : array_like of int, shape (5, 5) or (items, 5, 5)
        Two-order counts, the second verdict un-swapped.
    denominator : {"all", "readable"}, default "all"
        Pairs to divide by; the authors' code takes all, also those with a verdict that
        could not be read.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate
        In [−1, 1]: −1 if the first slot wins every pair, +1 if the second does, 0 if
        neither gains on the other.

    Raises
    ------
    ValidationError
        As `position_consistency`.

    References
    ----------
    Shi et al. (2024), arXiv:2406.07791, preference fairness; the formula as in the
    authors' code (Slimshilin/Position-Bias-Analyzer at 0eb0ce9).

    Notes
    -----
    With p pairs that lean to the first slot (primacy), r to the second (recency) and N
    pairs in all, the authors compute ``r · r/(p+r) − p · p/(p+r)`` and rescale it from
    its attainable range [−N, N] to [−1, 1]. The fraction cancels:
    (r² − p²)/(p + r) = r − p, so the score is simply **(r − p)/N**. A pair leans if a
    slot won twice, or once beside a tie. A judge can be fair and inconsistent: 0 also
    results from as many leans to the one slot as to the other.

    Chapter: *Does the order matter?*

    Examples
    --------
    >>> table = np.zeros((5, 5), int)
    >>> table[Verdict.A, Verdict.B], table[Verdict.B, Verdict.A] = 60, 10
    >>> table[Verdict.A, Verdict.A] = 30
    >>> preference_fairness(table)
    -0.500 [-0.623, -0.358] (n = 100, Bonett–Price)
    """
    primacy, recency = _leaning("first", "lenient"), _leaning("second", "lenient")
    pairs = _choose("denominator", denominator, {"all": _ALL, "readable": _READABLE})
    counts = _counts(table)
    n = int((counts * pairs).sum())
    if n == 0:
        what = f"{denominator} pairs".removeprefix("all ")
        return Estimate.undefined(f"the table holds no {what}", n=0)
    plus, minus = (counts * recency).sum(), (counts * primacy).sum()
    if np.ndim(table) == 2:
        return signed_share(plus, minus, n, level=level)
    net = (counts * (recency - primacy)).sum(axis=(1, 2))
    total = (counts * pairs).sum(axis=(1, 2))
    used = total > 0
    clusters = int(used.sum())
    value = (plus - minus) / n
    if clusters == 1:
        return Estimate(value, np.nan, np.nan, n, "one cluster", level)
    residual = (net - value * total)[used]
    clustered = clusters / (clusters - 1) * float(residual @ residual) / n**2
    simple = ((plus + minus) / n - value**2) / n
    size = effective_size(simple, clustered, n, clusters, level)
    method = f"Bonett–Price, {clusters} clusters"
    return signed_share(plus, minus, n, effective=size, method=method, level=level)


def lean_test(
    table: npt.ArrayLike,
    *,
    kind: Kind = "strict",
    method: Literal["exact", "chi2", "chi2-corrected"] = "exact",
) -> Test:
    """Could the lean towards a slot be chance?

    Only pairs on which a slot won can tell. If the order has no influence, either slot
    is as likely to have won such a pair.

    Parameters
    ----------
    table : array_like of int, shape (5, 5) or (items, 5, 5)
        Two-order counts, the second verdict un-swapped.
    kind : {"strict", "lenient"}, default "strict"
        Which pairs lean, as in `slot_lean`.
    method : {"exact", "chi2", "chi2-corrected"}, default "exact"
        Exact binomial on the leaning pairs, or McNemar's chi-squared without or with
        continuity correction. With one table per item the exact test flips the sign of
        whole items, because trials of one item are not independent.

    Returns
    -------
    Test
        Two-sided; with no leaning pair the data say nothing and p is 1.

    Raises
    ------
    ValidationError
        As `position_consistency`, or if a chi-squared method meets repeated trials.

    References
    ----------
    McNemar (1947), *Psychometrika* 12(2); Fisher (1935), *The Design of Experiments*,
    section 21.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    >>> table = np.zeros((5, 5), int)
    >>> table[Verdict.A, Verdict.B], table[Verdict.B, Verdict.A] = 24, 4
    >>> lean_test(table).p_value < 0.001
    True
    """
    null = "either slot is as likely to gain"
    counts = _counts(table)
    first = (counts * _leaning("first", kind)).sum(axis=(1, 2))
    second = (counts * _leaning("second", kind)).sum(axis=(1, 2))
    if np.ndim(table) == 2:
        return mcnemar(int(first[0]), int(second[0]), method=method, null=null)
    if method != "exact":
        raise ValidationError(
            f"method {method!r} takes trials of one item for independent; use 'exact' "
            "for tables per item"
        )
    return sign_flip_test(first - second, null=null)


def pcon_at_ab(
    table: npt.ArrayLike,
    *,
    denominator: Literal["either", "both", "first"] = "either",
    level: float = 0.95,
) -> Estimate:
    """Of the pairs with a winner, how many have the same winner in both orders?

    Parameters
    ----------
    table : array_like of int, shape (5, 5) or (items, 5, 5)
        Two-order counts, the second verdict un-swapped.
    denominator : {"either", "both", "first"}, default "either"
        Pairs with a winner in at least one order (the published formula), in both, or
        in the first order.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate
        In [0, 1]; `n` counts pairs.

    Raises
    ------
    ValidationError
        As `position_consistency`.

    References
    ----------
    MTSAIR side-by-side leaderboard, metric PCon@AB.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    >>> table = np.zeros((5, 5), int)
    >>> table[Verdict.A, Verdict.A], table[Verdict.A, Verdict.TIE] = 6, 2
    >>> f"{pcon_at_ab(table):.2f}", f"{pcon_at_ab(table, denominator='both'):.2f}"
    ('0.75 [0.41, 0.93]', '1.00 [0.61, 1.00]')
    """
    pairs = _choose(
        "denominator",
        denominator,
        {
            "either": np.maximum(_DECIDED_FIRST, _DECIDED_SECOND),
            "both": _DECIDED,
            "first": _DECIDED_FIRST,
        },
    )
    return _share(table, _EQUAL * _DECIDED, pairs, "pairs with a winner", level)


def verdict_rate(
    table: npt.ArrayLike,
    verdict: Verdict | str,
    *,
    denominator: Literal["all", "readable"] = "all",
    level: float = 0.95,
) -> Estimate:
    """How often does the judge say tie, give an unreadable reply, or none at all?

    Parameters
    ----------
    table : array_like of int, shape (5, 5) or (items, 5, 5)
        Two-order counts, the second verdict un-swapped.
    verdict : Verdict
        What to count, as code or word; `A` and `B` name answers here, not slots.
    denominator : {"all", "readable"}, default "all"
        All verdicts (two per pair), or the readable ones.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate
        In [0, 1]; `n` counts verdicts; the two verdicts on a pair form a cluster.

    Raises
    ------
    ValidationError
        As `position_consistency`.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    >>> table = np.zeros((5, 5), int)
    >>> table[Verdict.TIE, Verdict.TIE], table[Verdict.A, Verdict.A] = 5, 15
    >>> verdict_rate(table, Verdict.TIE)
    0.250 [0.104, 0.490] (n = 40, Wilson, 20 clusters)
    """
    first, second = _choose(
        "denominator",
        denominator,
        {"all": (_ALL, _ALL), "readable": (_READABLE_FIRST, _READABLE_SECOND)},
    )
    code = Verdict.parse(verdict) if isinstance(verdict, str) else as_codes(verdict)
    if np.ndim(code):
        raise ValidationError(f"verdict is {verdict!r}; name one")
    said = first * np.equal(_ROW, code) + second * np.equal(_COLUMN, code)
    return _share(table, said, first + second, f"{denominator} verdicts", level)


def repetition_stability(
    counts: npt.ArrayLike,
    *,
    kind: Literal["majority", "pairwise"] = "majority",
    level: float = 0.95,
) -> Estimate:
    """How steady is the judge when the very same question is asked again?

    Parameters
    ----------
    counts : array_like of int, shape (items, k)
        Per item, shown in one order: how often each verdict was given over its trials
        (`counts.category_counts`).
    kind : {"majority", "pairwise"}, default "majority"
        ``"majority"``: the share of an item's trials that gave its commonest verdict,
        as Shi et al. define it; it depends on the number of trials. ``"pairwise"``: the
        probability that two trials of an item agree; it does not.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    Estimate
        Mean over items, in [0, 1], with Wilson's interval for as many independent
        trials as would give the same standard error; `n` counts items.

    Raises
    ------
    ValidationError
        If an item has fewer than two trials, or counts are negative.

    References
    ----------
    Shi et al. (2024), arXiv:2406.07791, repetition stability.

    Notes
    -----
    In simulations with 5 to 50 items of 2 to 10 trials each a nominal 95 % covered 92
    to 100 %, also where hardly any item ever changes; Student's interval over items
    covered as little as 75 %, and is a point if none did.

    A coin asked three times has a majority stability of .75 and a pairwise one of .5:
    compare judges on the same number of trials, or pairwise.

    Chapter: *Does the order matter?*

    Examples
    --------
    >>> repetition_stability([[3, 0], [2, 1], [3, 0], [1, 2]])
    0.833 [0.386, 0.975] (n = 4, Wilson, 4 items)
    """
    table = array("counts", counts)
    if table.ndim != 2 or table.dtype.kind not in "iu" or (table < 0).any():
        raise ValidationError("counts must be whole numbers, one row per item")
    # Products of counts overflow small integers.
    table = table.astype(float)
    trials = table.sum(axis=1)
    if not trials.size:
        raise ValidationError("counts has no items; give one row per item")
    if (few := np.flatnonzero(trials < 2)).size:
        raise ValidationError(
            f"items {few[:5].tolist()} have fewer than two trials; a verdict given "
            "once says nothing about repetition"
        )
    if kind not in ("majority", "pairwise"):
        raise ValidationError(f"unknown kind {kind!r}; choose 'majority' or 'pairwise'")
    steady = (
        table.max(axis=1) / trials
        if kind == "majority"
        else (table * (table - 1)).sum(axis=1) / (trials * (trials - 1))
    )
    n = steady.size
    if n == 1:
        return Estimate(float(steady[0]), np.nan, np.nan, 1, "one item", level)
    # Every item weighs alike, and is worth its trials at most.
    share = clustered_proportion(
        steady * trials.mean(), np.full(n, trials.mean()), level=level
    )
    return replace(share, n=n, method=f"Wilson, {n:,} items")


def score_two_orders(
    tables: npt.ArrayLike, *, rule: Rule | str, level: float = 0.95
) -> dict[str, Estimate]:
    """How often is the judge right, and wrong, once a rule has folded the two orders?

    Parameters
    ----------
    tables : array_like of int, shape (2, 5, 5)
        Two-order counts of independent pairs, the second verdict un-swapped: first the
        pairs in which A is the better answer, then those in which B is.
    rule : Rule or str
        How two verdicts become one outcome; see `verdict.RULES`.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    dict of Estimate
        ``"right"`` is the accuracy; ``"wrong"`` (the worse answer wins), ``"tie"``
        (declared) and ``"neither"`` (no winner, no tie) are the rest: the four add up
        to 1 over the pairs that the rule does not drop. All undefined, with a reason,
        if pairs fall where the source of the rule is silent.

    Raises
    ------
    ValidationError
        If the tables have another shape or the rule is unknown.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    A judge that always prefers the right answer scores 100 % by the repository's rule
    and 0 % by the short recipe as it is written:

    >>> tables = np.zeros((2, 5, 5), int)
    >>> tables[0, Verdict.A, Verdict.A] = tables[1, Verdict.B, Verdict.B] = 50
    >>> score_two_orders(tables, rule="judgebench")["right"]
    1.000 [0.963, 1.000] (n = 100, Wilson)
    >>> score_two_orders(tables, rule="recipe-as-written")["right"]
    0.000 [0.000, 0.037] (n = 100, Wilson)
    """
    counts = _counts(tables)
    if counts.shape[0] != 2:
        raise ValidationError(
            f"tables has shape {np.shape(tables)}; give two tables: the pairs in which "
            "A is better, then those in which B is"
        )
    outcomes = find_rule(rule).table
    names = {"right": 0, "wrong": 0, "tie": Outcome.TIE, "neither": Outcome.NEITHER}
    n = int(counts[:, outcomes != Outcome.DROPPED].sum())
    silent = int(counts[:, outcomes == Outcome.UNDEFINED].sum())
    if silent or not n:
        reason = (
            f"the rule {find_rule(rule).name!r} is silent on {silent} of "
            f"{int(counts.sum())} pairs"
            if silent
            else "no pair is left to score"
        )
        return {name: Estimate.undefined(reason, n=n) for name in names}
    better = {"right": (Outcome.A, Outcome.B), "wrong": (Outcome.B, Outcome.A)}
    scores = {}
    for name, outcome in names.items():
        for_a, for_b = better.get(name, (outcome, outcome))
        hits = counts[0, outcomes == for_a].sum() + counts[1, outcomes == for_b].sum()
        scores[name] = proportion(int(hits), n, level=level)
    return scores


def _leaning(slot: str, kind: Kind) -> Weights:
    first, second = _PICKS[slot]
    strict = first * second
    lenient = strict + first * (_COLUMN == Verdict.TIE) + second * (_ROW == Verdict.TIE)
    weights: Weights = _choose("kind", kind, {"strict": strict, "lenient": lenient})
    return weights


def _choose(argument: str, choice: str, options: dict[str, Any]) -> Any:
    if not isinstance(choice, str) or choice not in options:
        raise ValidationError(
            f"{argument} is {choice!r}; choose from {', '.join(map(repr, options))}"
        )
    return options[choice]


def _counts(table: npt.ArrayLike) -> npt.NDArray[np.int64]:
    counts = array("table", table)
    side = len(Verdict)
    if counts.shape[-2:] != (side, side) or counts.ndim not in (2, 3):
        raise ValidationError(
            f"table has shape {counts.shape}; give two-order counts of shape (5, 5), "
            "or (items, 5, 5) for repeated trials (see counts.contingency_table)"
        )
    if counts.dtype.kind not in "iu" or ((counts < 0) | (counts > MOST_UNITS)).any():
        raise ValidationError(
            "table must hold whole numbers of pairs, none of them negative or beyond "
            "2⁵³"
        )
    return counts.reshape(-1, side, side).astype(np.int64)


def _share(
    table: npt.ArrayLike,
    numerator: Weights,
    denominator: Weights,
    what: str,
    level: float,
) -> Estimate:
    """Estimate a ratio of two weightings; the unit of sampling is the pair or item."""
    counts = _counts(table)
    if not (counts * denominator).any():
        return Estimate.undefined(
            f"the table holds no {what.removeprefix('all ')}", n=0
        )
    if np.ndim(table) == 2:
        return clustered_proportion(
            numerator.ravel(),
            denominator.ravel(),
            weights=counts.ravel(),
            level=level,
        )
    return clustered_proportion(
        (counts * numerator).sum(axis=(1, 2)),
        (counts * denominator).sum(axis=(1, 2)),
        level=level,
    )
