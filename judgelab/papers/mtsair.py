"""MTSAIR's side-by-side leaderboard: judges against experts, in four correlations.

A candidate's answer and a baseline's are judged twice, in both orders: the candidate is
better (A), the baseline is (B), both are good (C), both are bad (D). The leaderboard's
page defines its measures in a few sentences, which leave questions open. Each is a
named option here, its default the reading that stays closest to the text:

=================  ====================================================================
option             default, and why
=================  ====================================================================
``average``        "coefficients": "the scores are averaged after both runs" names the
                   scores, and the coefficients are what is scored
``partial``        "drop": a window "with a size of 10" holds 10 verdicts
``all_bad``        "undefined": the formula divides by 0 in a window of nothing but D
``denominator``    "either": it is the one that the formula spells out
                   (`judgelab.position.pcon_at_ab`)
``sign``           "swapped-first": "with and without swap", in the order of the words
=================  ====================================================================

The page's "median" is no median but a ratio; here it is called the window value.

Verdicts of the leaderboard are not public. What can be checked is whether its rows
agree with themselves (`reproduce`, `implied_runs`), and what the measures do to judges
whose faults are known (`simulate`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt
from scipy import special

from judgelab import data
from judgelab.agreement import cohen_kappa, percent_agreement
from judgelab.correlation import pearson_r
from judgelab.counts import contingency_table
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import Rng, upper_end
from judgelab.papertable import Cell, PaperTable
from judgelab.position import lean_test, pcon_at_ab, slot_share
from judgelab.significance import Test, marginal_homogeneity
from judgelab.simulate import Judge, Pairs, draw_pairs, judge_both_orders
from judgelab.verdict import SideBySide, Verdict, as_codes, unswap

if TYPE_CHECKING:
    import pandas as pd

Average = Literal["coefficients", "values", "counts"]
Codes = npt.NDArray[np.int8]
Floats = npt.NDArray[np.float64]

_SOURCE = "MTSAIR side-by-side leaderboard"
_CLASSES = range(len(SideBySide))

EXPERT = Judge(k=8, tie_width=1, name="expert")
"""The experts of a simulated benchmark: sharper than any judge in the chapter."""

# Both of its ties are ties to whoever asks about positions only.
_PLAIN = np.array([Verdict.A, Verdict.B, Verdict.TIE, Verdict.TIE])
_SCORES = np.array([1.0, -1.0, 0.0, 0.0])


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


def _choose(argument: str, choice: str, options: tuple[str, ...]) -> None:
    if choice not in options:
        raise ValidationError(
            f"{argument} is {choice!r}; choose from {', '.join(map(repr, options))}"
        )


def _whole(*values: object) -> bool:
    return all(isinstance(value, Integral) for value in values)


@dataclass(frozen=True)
class Windows:
    """How a sequence of verdicts is cut, and what a window without a value does.

    Parameters
    ----------
    size, stride : int, default 10 and 5
        Verdicts per window, and from one window's start to the next; stride ≤ size, or
        items would be skipped.
    partial : {"drop", "cover", "every-start"}, default "drop"
        Verdicts left over at the end. ``"drop"``: only full windows. ``"cover"``: one
        shorter window more if items would be left out. ``"every-start"``: what a loop
        over all starts gives, whose last windows hold little new.
    all_bad : {"undefined", "drop", "half"}, default "undefined"
        A window of nothing but "both bad" is 0 / 0. ``"undefined"``: then so is the
        coefficient. ``"drop"``: leave the window out on both sides. ``"half"``: .5, as
        for nothing but "both good".

    Raises
    ------
    ValidationError
        If a number or a name is none of these.

    Notes
    -----
    Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> [Windows(partial=p).starts(24).tolist() for p in ("drop", "cover")]
    [[0, 5, 10], [0, 5, 10, 15]]
    """

    size: int = 10
    stride: int = 5
    partial: Literal["drop", "cover", "every-start"] = "drop"
    all_bad: Literal["undefined", "drop", "half"] = "undefined"

    def __post_init__(self) -> None:
        if not _whole(self.size, self.stride) or not 1 <= self.stride <= self.size:
            raise ValidationError(
                f"size {self.size!r} and stride {self.stride!r}: need whole numbers "
                "with 1 <= stride <= size"
            )
        _choose("partial", self.partial, ("drop", "cover", "every-start"))
        _choose("all_bad", self.all_bad, ("undefined", "drop", "half"))

    def starts(self, n: int) -> npt.NDArray[np.int64]:
        """Return where the windows over n verdicts begin."""
        starts = np.arange(0, n, self.stride)
        if self.partial == "every-start":
            return starts
        full = starts[starts + self.size <= n]
        covered = full[-1] + self.size if full.size else 0
        if self.partial == "cover" and covered < n:
            return starts[: full.size + 1]
        return full


PUBLISHED = Windows()
"""Size 10, stride 5, and what is left open read as closely as possible."""


def window_values(verdicts: npt.ArrayLike, windows: Windows = PUBLISHED) -> Floats:
    """How far does each window lean to the candidate?

    Parameters
    ----------
    verdicts : array_like of int, shape (n,) or (runs, n)
        `SideBySide` codes on answers; the counts of several runs are pooled.
    windows : Windows
        How they are cut.

    Returns
    -------
    ndarray of float, shape (windows,)
        m = (ΣA + ΣC) / (ΣA + ΣB + 2ΣC), in [0, 1]: each verdict but "both bad" is one
        for the candidate, one for the baseline, or one for both. `nan` where there is
        nothing but "both bad", or .5 if `windows` says so.

    Raises
    ------
    ValidationError
        If a code is none of the four, or there are more than two axes.

    References
    ----------
    MTSAIR side-by-side leaderboard, where it is called a median.

    Notes
    -----
    Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> window_values([0, 0, 1, 2, 3, 3, 3], Windows(4, 2, partial="cover"))
    array([0.6       , 0.33333333,        nan])
    """
    codes = np.atleast_2d(as_codes(verdicts, scale=SideBySide))
    if codes.ndim > 2:
        raise ValidationError(
            f"verdicts has shape {codes.shape}; give one run, or one row per run"
        )
    n = codes.shape[1]
    starts = windows.starts(n)
    ends = np.minimum(starts + windows.size, n)
    said = codes[:, :, None] == np.arange(3)
    before = np.vstack([np.zeros((1, 3)), said.sum(axis=0).cumsum(axis=0)])
    a, b, c = (before[ends] - before[starts]).T
    nothing = a + b + c == 0
    values = (a + c) / np.where(nothing, 1, a + b + 2 * c)
    values[nothing] = 0.5 if windows.all_bad == "half" else np.nan
    return np.asarray(values)


def class_counts(*runs: npt.ArrayLike) -> Floats:
    """How often was each of the four verdicts given, in all runs together?

    Parameters
    ----------
    *runs : array_like of int, any shape
        `SideBySide` codes.

    Returns
    -------
    ndarray of float, shape (4,)

    Notes
    -----
    Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> class_counts([0, 0, 3], [0, 1, 3])
    array([3., 1., 0., 2.])
    """
    codes = np.concatenate([np.ravel(as_codes(v, scale=SideBySide)) for v in runs])
    return np.bincount(codes, minlength=len(SideBySide)).astype(float)


def apcc(
    benchmark: Benchmark, *, average: Literal["coefficients", "counts"] = "coefficients"
) -> float:
    """Are the four classes used alike often? (Aggregated Pearson correlation.)

    Parameters
    ----------
    benchmark : Benchmark
        Experts and judge.
    average : {"coefficients", "counts"}, default "coefficients"
        The mean of the two runs' coefficients, or the coefficient of their pooled
        counts (their mean gives the same).

    Returns
    -------
    float
        From −1 to 1: the correlation of *four* points, whatever the number of items.

    Raises
    ------
    UndefinedStatistic
        If the experts, or a run, use all four classes equally often.

    References
    ----------
    MTSAIR side-by-side leaderboard, APCC.

    Notes
    -----
    It does not see which item got which verdict. If two judges' four counts had nothing
    to do with each other (independent, normal), every value from −1 to 1 would be as
    likely as any other. Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    The same verdicts on other items:

    >>> apcc(Benchmark([0, 0, 0, 1, 1, 3], [1, 1, 3, 0, 0, 0], [3, 1, 1, 0, 0, 0]))
    1.0
    """
    _choose("average", average, ("coefficients", "counts"))
    expert, *runs = (class_counts(v) for v in (benchmark.expert, *benchmark.runs))
    if average == "counts":
        return _r(expert, runs[0] + runs[1])
    return _mean(_r(expert, run) for run in runs)


def mpcc(
    benchmark: Benchmark,
    *,
    windows: Windows = PUBLISHED,
    average: Average = "coefficients",
) -> float:
    """Do judge and experts lean alike, window by window? ("Median" correlation.)

    Parameters
    ----------
    benchmark : Benchmark
        Experts and judge, in the order of the benchmark.
    windows : Windows
        How it is cut.
    average : {"coefficients", "values", "counts"}, default "coefficients"
        The mean of the two runs' coefficients; the coefficient of the mean of their
        window values; or of the value of their pooled counts.

    Returns
    -------
    float
        From −1 to 1.

    Raises
    ------
    UndefinedStatistic
        If there are fewer than three windows, all values of one side are equal, or a
        window is all "both bad" and `windows` does not say what then.

    References
    ----------
    MTSAIR side-by-side leaderboard, MPCC.

    Notes
    -----
    Another order of the same items gives another value, and neighbouring windows share
    verdicts. Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> two = simulate(Judge(k=4, tie_width=1), n=500, rng=1)
    >>> print(f"{mpcc(two):.2f}, {mpcc(two, average='counts'):.2f}")
    0.66, 0.74
    """
    _choose("average", average, ("coefficients", "values", "counts"))
    expert = window_values(benchmark.expert, windows)
    if average == "counts":
        return _r_windows(expert, window_values(benchmark.runs, windows), windows)
    first, second = (window_values(run, windows) for run in benchmark.runs)
    if average == "values":
        return _r_windows(expert, (first + second) / 2, windows)
    return _mean(_r_windows(expert, run, windows) for run in (first, second))


def item_correlation(benchmark: Benchmark) -> float:
    """How well do judge and experts agree item by item, with no windows at all?

    Parameters
    ----------
    benchmark : Benchmark
        Experts and judge.

    Returns
    -------
    float
        Pearson's r of scores (A +1, B −1, both good and both bad 0), the mean of the
        two runs; from −1 to 1.

    Raises
    ------
    UndefinedStatistic
        If all scores of the experts, or of a run, are equal.

    Notes
    -----
    Where the order of the items means nothing, this is what MPCC estimates with its
    windows, and it does not depend on the order: sums over random groups correlate as
    their members do, and m is nearly a sum of these scores when neither side is far
    ahead. Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> two = simulate(Judge(k=4, tie_width=1), n=500, rng=1)
    >>> print(f"{item_correlation(two):.2f}")
    0.54
    """
    expert, *runs = (_SCORES[v] for v in (benchmark.expert, *benchmark.runs))
    return _mean(_r(expert, run) for run in runs)


def avg_correlation(
    benchmark: Benchmark,
    *,
    windows: Windows = PUBLISHED,
    average: Literal["coefficients", "counts"] = "coefficients",
) -> float:
    """By what does the leaderboard rank: the mean of APCC and MPCC.

    Parameters
    ----------
    benchmark, windows, average
        As in `apcc` and `mpcc`.

    References
    ----------
    MTSAIR side-by-side leaderboard; the identity holds in its rows (`reproduce`).

    Notes
    -----
    Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> two = simulate(Judge(k=4, tie_width=1), n=500, rng=1)
    >>> bool(avg_correlation(two) == (apcc(two) + mpcc(two)) / 2)
    True
    """
    return (
        apcc(benchmark, average=average)
        + mpcc(benchmark, windows=windows, average=average)
    ) / 2


def mpcc_consistency(benchmark: Benchmark, *, windows: Windows = PUBLISHED) -> float:
    """Do the judge's two runs lean alike, window by window?

    Parameters
    ----------
    benchmark, windows
        As in `mpcc`; the experts' verdicts are not used.

    Returns
    -------
    float
        From −1 to 1.

    Raises
    ------
    UndefinedStatistic
        As `mpcc`.

    References
    ----------
    MTSAIR side-by-side leaderboard, MPCC-Consistency.

    Notes
    -----
    A correlation does not see a shift: a judge that moves every window of the second
    run by the same amount is perfectly consistent. Chapter: *Side by side: the MTSAIR
    leaderboard*.

    Examples
    --------
    >>> two = simulate(Judge(k=4, beta=2), n=500, rng=1)
    >>> print(f"{mpcc_consistency(two):.2f}")
    0.16
    """
    first, second = (window_values(run, windows) for run in benchmark.runs)
    return _r_windows(first, second, windows)


def mpcc_delta(
    benchmark: Benchmark,
    *,
    windows: Windows = PUBLISHED,
    sign: Literal["swapped-first", "first-swapped"] = "swapped-first",
) -> float:
    """How much better does one order agree with the experts than the other?

    Parameters
    ----------
    benchmark, windows
        As in `mpcc`.
    sign : {"swapped-first", "first-swapped"}, default "swapped-first"
        Which run's MPCC is subtracted from which. It is no absolute difference: the
        leaderboard shows both signs.

    Returns
    -------
    float
        From −2 to 2.

    Raises
    ------
    UndefinedStatistic
        As `mpcc`.

    References
    ----------
    MTSAIR side-by-side leaderboard, MPCC-∆.

    Notes
    -----
    The page says that it does "not rely on manual annotation". Both terms of the
    difference do. A lean to one slot costs both runs about the same agreement, so Δ
    hardly shows it. Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> two = simulate(Judge(k=4, beta=2), n=500, rng=1)
    >>> a, b = (mpcc_delta(two, sign=s) for s in ("swapped-first", "first-swapped"))
    >>> a == -b
    True
    """
    _choose("sign", sign, ("swapped-first", "first-swapped"))
    expert = window_values(benchmark.expert, windows)
    first, second = (
        _r_windows(expert, window_values(run, windows), windows)
        for run in benchmark.runs
    )
    return second - first if sign == "swapped-first" else first - second


def over_items(
    benchmark: Benchmark,
    statistic: Callable[[Benchmark], float],
    *,
    block: int = 1,
    bounds: tuple[float, float] = (-1.0, 1.0),
    level: float = 0.95,
    resamples: int = 1000,
    rng: Rng,
) -> Estimate:
    """How far would the statistic move on other items of the same kind?

    Parameters
    ----------
    benchmark : Benchmark
        The items that were judged.
    statistic : callable
        Takes a `Benchmark` and returns a number, such as `mpcc`.
    block : int, default 1
        How many neighbouring items are drawn together, each with all its verdicts. 1 is
        right if the order of the items means nothing; if neighbours resemble each other
        (one topic after another), take blocks as long as the resemblance.
    bounds : (float, float), default (−1, 1)
        The range of the statistic, at which the interval is cut.
    level : float, default 0.95
        Nominal coverage.
    resamples : int, default 1000
        How many.
    rng : Generator or int
        Randomness.

    Returns
    -------
    Estimate
        Value ± t·SE, SE being the standard deviation over the resamples and t Student's
        quantile for the number of blocks; n counts items. Undefined, with the reason,
        if the statistic is; without an interval if it is in more than a tenth of the
        resamples, or the same in all.

    Raises
    ------
    ValidationError
        If a block does not fit twice into the items.

    References
    ----------
    Efron & Tibshirani (1993), *An Introduction to the Bootstrap*, chapter 6; blocks:
    Künsch (1989), *Annals of Statistics* 17(3).

    Notes
    -----
    Every resample has another order, so that resamples of MPCC lie around its mean over
    orders and not around its value; percentiles, the usual interval, would too.
    In simulations of 500 items (``benchmarks/coverage_mtsair.py``) the nominal 95 %
    interval held the truth in 95 % with items in no particular order (APCC: 100 %), and
    with blocks of one topic in 93 to 100 % where items came topic by topic. There the
    percentiles of single items held MPCC in none, and Fisher's interval for as many
    pairs as there are windows in 79 %.

    Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> two = simulate(Judge(k=4, tie_width=1), n=500, rng=1)
    >>> over_items(two, mpcc, resamples=200, rng=1)
    0.660 [0.517, 0.802] (n = 500, bootstrap, 200 resamples of items)
    """
    n = len(benchmark)
    if not _whole(block, resamples) or not 1 <= block <= n / 2 or resamples < 2:
        raise ValidationError(
            f"blocks of {block!r} of {n} items and {resamples!r} resamples: a block is "
            "at least 1 item and at most half of them, and there are at least 2 "
            "resamples, all whole numbers"
        )
    quantile = upper_end(level)
    try:
        value = statistic(benchmark)
    except UndefinedStatistic as error:
        return Estimate.undefined(str(error), n)
    generator = np.random.default_rng(rng)
    blocks = -(-n // block)

    def replicate() -> float:
        starts = generator.integers(0, n - block + 1, blocks)
        items = (starts[:, None] + np.arange(block)).ravel()[:n]
        try:
            return statistic(benchmark.take(items))
        except UndefinedStatistic:
            return math.nan

    replicates = np.array([replicate() for _ in range(resamples)])
    units = "items" if block == 1 else f"blocks of {block} items"
    method = f"bootstrap, {resamples} resamples of {units}"
    lost = int(np.isnan(replicates).sum())
    spread = 0.0 if lost > 0.1 * resamples else float(np.nanstd(replicates, ddof=1))
    if spread == 0:
        reason = f"{lost} undefined" if lost else "all the same"
        nothing = f"no interval: of {resamples} resamples, {reason}"
        return Estimate(value, math.nan, math.nan, n, nothing, level)
    half = float(special.stdtrit(blocks - 1, quantile)) * spread
    low, high = max(bounds[0], value - half), min(bounds[1], value + half)
    return Estimate(value, low, high, n, method, level)


def _r_windows(x: Floats, y: Floats, windows: Windows) -> float:
    defined = ~(np.isnan(x) | np.isnan(y))
    if windows.all_bad == "undefined" and not defined.all():
        raise UndefinedStatistic(
            f"windows {np.flatnonzero(~defined)[:5].tolist()} hold nothing but 'both "
            "bad', which has no value; choose all_bad='drop' or 'half'"
        )
    if defined.sum() < 3:
        raise UndefinedStatistic(
            f"{defined.sum()} windows have values; three are the fewest that need not "
            "lie on a line"
        )
    return _r(x[defined], y[defined])


def _r(x: Floats, y: Floats) -> float:
    return float(pearson_r(x, y, interval=None))


def _mean(values: Iterable[float]) -> float:
    return float(np.mean(list(values)))


def evaluate(
    benchmark: Benchmark,
    *,
    windows: Windows = PUBLISHED,
    average: Literal["coefficients", "counts"] = "coefficients",
    denominator: Literal["either", "both", "first"] = "either",
    sign: Literal["swapped-first", "first-swapped"] = "swapped-first",
    block: int = 1,
    resamples: int = 1000,
    rng: Rng,
) -> dict[str, Estimate]:
    """How would the leaderboard score this judge, and how sure is it?

    Parameters
    ----------
    benchmark : Benchmark
        Experts and judge.
    windows, average, denominator, sign
        The readings; see the module's description.
    block, resamples, rng
        As in `over_items`; PCon@AB has Wilson's interval over items.

    Returns
    -------
    dict of Estimate
        The six columns of the leaderboard, by its names and in its order, as shares of
        1. Undefined, with the reason, where there is no value.

    References
    ----------
    MTSAIR side-by-side leaderboard.

    Notes
    -----
    Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> two = simulate(Judge(k=4, tie_width=1), n=500, rng=1)
    >>> for name, value in evaluate(two, resamples=200, rng=1).items():
    ...     print(name, f"{value:.2f}")
    Avg 0.83 [0.76, 0.90]
    APCC 1.00 [0.98, 1.00]
    MPCC 0.66 [0.53, 0.79]
    PCon@AB 0.45 [0.40, 0.49]
    MPCC-Consistency 0.57 [0.37, 0.77]
    MPCC-Δ 0.01 [-0.21, 0.22]
    """
    statistics: dict[str, Callable[[Benchmark], float]] = {
        "Avg": partial(avg_correlation, windows=windows, average=average),
        "APCC": partial(apcc, average=average),
        "MPCC": partial(mpcc, windows=windows, average=average),
        "MPCC-Consistency": partial(mpcc_consistency, windows=windows),
        "MPCC-Δ": partial(mpcc_delta, windows=windows, sign=sign),
    }
    generator = np.random.default_rng(rng)
    found = {
        name: over_items(
            benchmark,
            statistic,
            block=block,
            bounds=(-2, 2) if name == "MPCC-Δ" else (-1, 1),
            resamples=resamples,
            rng=generator,
        )
        for name, statistic in statistics.items()
    }
    found["PCon@AB"] = pcon_at_ab(benchmark.two_orders(), denominator=denominator)
    return {name: found[name] for name in COLUMNS}


COLUMNS = {
    "Avg": "avg_correlation",
    "APCC": "apcc",
    "MPCC": "mpcc",
    "PCon@AB": "pcon_ab",
    "MPCC-Consistency": "mpcc_consistency",
    "MPCC-Δ": "mpcc_swap_delta",
}
"""The leaderboard's measures in its order, and their columns in our table of it."""


def beside(benchmark: Benchmark) -> dict[str, Estimate | Test]:
    """How would other fields describe the same verdicts?

    Parameters
    ----------
    benchmark : Benchmark
        Experts and judge.

    Returns
    -------
    dict of Estimate or Test
        ``"kappa"``: agreement with the experts beyond chance on the four classes, both
        runs, an item being a cluster. ``"same verdict twice"``: the share of items with
        one verdict in both runs, of four. ``"first slot"``: its share of the winners.
        ``"same habits, first run"`` and ``"…, second run"``: Stuart and Maxwell's test
        that experts and judge use the classes equally often. ``"lean"``: the test that
        either slot is as likely to gain.

    References
    ----------
    Cohen (1960); Stuart (1955); Maxwell (1970); McNemar (1947).

    Notes
    -----
    Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> beside(simulate(Judge(k=4, beta=1, tie_width=1), n=500, rng=1))["kappa"]
    0.309 [0.267, 0.352] (n = 1,000, score interval, 500 clusters)
    """
    items = np.arange(len(benchmark))
    by_run = [
        contingency_table(benchmark.expert, run, scale=_CLASSES, clusters=items)
        for run in benchmark.runs
    ]
    orders = benchmark.two_orders()
    twice = contingency_table(benchmark.first, benchmark.second, scale=_CLASSES)
    return {
        "kappa": cohen_kappa(by_run[0] + by_run[1], undefined="nan"),
        "same verdict twice": percent_agreement(twice),
        "first slot": slot_share(orders),
        "same habits, first run": marginal_homogeneity(by_run[0].sum(axis=0)),
        "same habits, second run": marginal_homogeneity(by_run[1].sum(axis=0)),
        "lean": lean_test(orders),
    }


def simulate(
    judge: Judge,
    *,
    n: int = 500,
    expert: Judge = EXPERT,
    edge: float = 0.0,
    spread: float = 0.5,
    length_spread: float = 1.0,
    topic_size: int = 25,
    topic_spread: float = 0.0,
    leniency: float = 0.0,
    rng: Rng,
) -> Benchmark:
    """Draw a benchmark of two runs with a judge whose faults are known.

    Parameters
    ----------
    judge : judgelab.simulate.Judge
        Who judges; its ties are "both good" with probability σ(k·ℓ + leniency), where
        ℓ is how good the two answers are together (normal, standard deviation 0.5).
    n : int, default 500
        Number of items.
    expert : judgelab.simulate.Judge
        Who is right by definition: sees every item once, without a slot.
    edge : float, default 0
        How much better the candidate is on average.
    spread, length_spread : float, default 0.5 and 1
        As in `judgelab.simulate.draw_pairs`.
    topic_size, topic_spread : int and float, default 25 and 0
        Items come topic by topic; on each topic the candidate's edge is another, normal
        with this standard deviation. At 0 the order of the items means nothing.
    leniency : float, default 0
        How readily the judge calls answers good, in logits; the experts' is 0.
    rng : Generator or int
        Randomness. The same seed gives the same items and experts to every judge.

    Returns
    -------
    Benchmark

    Raises
    ------
    ValidationError
        As `judgelab.simulate.draw_pairs`; if topics have no items or a spread below 0,
        or leniency is no number; or if judge or expert leave verdicts unreadable or
        missing, for which the leaderboard has no rule.

    Notes
    -----
    Nothing here stands for a real model. Chapter: *Side by side: the MTSAIR
    leaderboard*.

    Examples
    --------
    >>> fine = simulate(Judge(k=50), n=200, expert=Judge(k=50), rng=0)
    >>> bool((fine.first == fine.expert).mean() > 0.9)
    True
    """
    for who in (judge, expert):
        if who.invalid_rate or who.missing_rate:
            raise ValidationError(
                f"{who.name!r} leaves replies unreadable or missing; the leaderboard "
                "has four verdicts and no rule for these: set both rates to 0"
            )
    topics_fit = _whole(topic_size) and topic_size >= 1 and topic_spread >= 0
    if not topics_fit or math.isnan(leniency):
        raise ValidationError(
            f"topic_size = {topic_size!r}, topic_spread = {topic_spread}, leniency = "
            f"{leniency}: need a whole topic_size >= 1, a spread >= 0 and a number"
        )
    truth, of_expert, of_judge = np.random.default_rng(rng).spawn(3)
    drawn = draw_pairs(n, spread=spread, length_spread=length_spread, rng=truth)
    topics = topic_spread * truth.normal(size=-(-n // topic_size))
    delta = drawn.delta + edge + np.repeat(topics, topic_size)[:n]
    pairs = Pairs(delta, drawn.log_length, drawn.own)
    level = 0.5 * truth.normal(size=n)
    said, _ = _say(expert, pairs, level, 0.0, of_expert)
    return Benchmark(said, *_say(judge, pairs, level, leniency, of_judge))


def _say(
    judge: Judge,
    pairs: Pairs,
    level: Floats,
    leniency: float,
    generator: np.random.Generator,
) -> tuple[Codes, Codes]:
    """Return the verdicts of two runs, on answers, ties split into good and bad."""
    first, second = judge_both_orders(judge, pairs, rng=generator)
    good = special.expit(judge.k * level + leniency)
    codes = []
    for run in (first[:, 0], unswap(second[:, 0])):
        tie = np.where(
            generator.random(len(pairs)) < good,
            SideBySide.BOTH_GOOD,
            SideBySide.BOTH_BAD,
        )
        codes.append(np.where(run == Verdict.TIE, tie, run).astype(np.int8))
    return codes[0], codes[1]


def implied_runs() -> pd.DataFrame:
    """How do a judge's two runs hang together, by three printed correlations?

    Returns
    -------
    pandas.DataFrame
        One row per judge, under the default readings: ``first`` and ``swapped``, the
        MPCC of each run; ``consistency`` as printed; ``if independent``, the
        consistency of two runs that have nothing in common but what each shares with
        the experts; and ``residual``, the correlation of the runs given the experts'
        values (a partial correlation), which is 0 in that case.

    References
    ----------
    MTSAIR side-by-side leaderboard: MPCC, MPCC-Consistency, MPCC-∆.

    Notes
    -----
    A partial correlation outside −1 to 1 would mean that no verdicts at all can give
    the printed row. Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> for name, r in implied_runs().loc["deepseek-ai/DeepSeek-V3"].items():
    ...     print(f"{name}: {r:.2f}")
    first: 0.53
    swapped: 0.61
    consistency: 0.16
    if independent: 0.32
    residual: -0.24
    """
    import pandas as pd

    printed = data.published("mtsair", "leaderboard").set_index("model") / 100
    half = printed["mpcc_swap_delta"] / 2
    first, swapped = printed["mpcc"] - half, printed["mpcc"] + half
    shared = first * swapped
    consistency = printed["mpcc_consistency"]
    return pd.DataFrame(
        {
            "first": first,
            "swapped": swapped,
            "consistency": consistency,
            "if independent": shared,
            "residual": (consistency - shared)
            / np.sqrt((1 - first**2) * (1 - swapped**2)),
        }
    )


def reproduce() -> list[PaperTable]:
    """Do the leaderboard's rows agree with themselves?

    Returns
    -------
    list of PaperTable
        ``Avg`` beside the mean of the printed APCC and MPCC, for the five known rows;
        and the other columns, which need verdicts that are not public.

    References
    ----------
    MTSAIR side-by-side leaderboard, first five rows.

    Notes
    -----
    Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> reproduce()[0].counts["exact"]
    5
    """
    rows = data.published("mtsair", "leaderboard").to_dict("records")
    averages = [
        Cell(
            row["model"],
            row["avg_correlation"],
            (row["apcc"] + row["mpcc"]) / 2,
            decimals=2,
            # Half a unit of print in both terms, halved.
            tolerance=0.005,
        )
        for row in rows
    ]
    others = [
        Cell(
            f"{row['model']}, {name}",
            row[column],
            None,
            decimals=2,
            why="neither the judges' verdicts nor the experts' are public",
        )
        for row in rows
        for name, column in COLUMNS.items()
        if name != "Avg"
    ]
    return [
        PaperTable(_SOURCE, "Avg = mean of APCC and MPCC", averages, "from print", "%"),
        PaperTable(_SOURCE, "the other columns", others, unit="%"),
    ]
