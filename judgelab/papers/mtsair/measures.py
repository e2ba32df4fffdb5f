"""The leaderboard's correlations: APCC, MPCC, and what is made of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np
import numpy.typing as npt

from judgelab.correlation import pearson_r
from judgelab.errors import UndefinedStatistic
from judgelab.papers.mtsair.benchmark import Benchmark, Floats
from judgelab.papers.mtsair.windows import PUBLISHED, Windows, choose, window_values
from judgelab.verdict import SideBySide, as_codes

Average = Literal["coefficients", "values", "counts"]

_SCORES = np.array([1.0, -1.0, 0.0, 0.0])


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
    choose("average", average, ("coefficients", "counts"))
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
    >>> from judgelab.papers.mtsair import simulate
    >>> from judgelab.simulate import Judge
    >>> two = simulate(Judge(k=4, tie_width=1), n=500, rng=1)
    >>> print(f"{mpcc(two):.2f}, {mpcc(two, average='counts'):.2f}")
    0.66, 0.74
    """
    choose("average", average, ("coefficients", "values", "counts"))
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
    >>> from judgelab.papers.mtsair import simulate
    >>> from judgelab.simulate import Judge
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
    >>> from judgelab.papers.mtsair import simulate
    >>> from judgelab.simulate import Judge
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
    >>> from judgelab.papers.mtsair import simulate
    >>> from judgelab.simulate import Judge
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
    >>> from judgelab.papers.mtsair import simulate
    >>> from judgelab.simulate import Judge
    >>> two = simulate(Judge(k=4, beta=2), n=500, rng=1)
    >>> a, b = (mpcc_delta(two, sign=s) for s in ("swapped-first", "first-swapped"))
    >>> a == -b
    True
    """
    choose("sign", sign, ("swapped-first", "first-swapped"))
    expert = window_values(benchmark.expert, windows)
    first, second = (
        _r_windows(expert, window_values(run, windows), windows)
        for run in benchmark.runs
    )
    return second - first if sign == "swapped-first" else first - second


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
