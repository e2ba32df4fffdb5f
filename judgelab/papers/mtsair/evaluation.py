"""What the leaderboard would say of a judge, how sure, and what other fields would."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Literal

import numpy as np

from judgelab._checks import random_generator
from judgelab.agreement import cohen_kappa, percent_agreement
from judgelab.counts import contingency_table
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import Rng, from_standard_error, upper_end
from judgelab.papers.mtsair.benchmark import Benchmark
from judgelab.papers.mtsair.measures import (
    apcc,
    avg_correlation,
    mpcc,
    mpcc_consistency,
    mpcc_delta,
)
from judgelab.papers.mtsair.windows import PUBLISHED, Windows, whole_numbers
from judgelab.position import lean_test, pcon_at_ab, slot_share
from judgelab.significance import Test, marginal_homogeneity
from judgelab.verdict import SideBySide

COLUMNS = {
    "Avg": "avg_correlation",
    "APCC": "apcc",
    "MPCC": "mpcc",
    "PCon@AB": "pcon_ab",
    "MPCC-Consistency": "mpcc_consistency",
    "MPCC-Δ": "mpcc_swap_delta",
}
"""The leaderboard's measures in its order, and their columns in our table of it."""

_CLASSES = range(len(SideBySide))


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
    >>> from judgelab.papers.mtsair import simulate
    >>> from judgelab.simulate import Judge
    >>> two = simulate(Judge(k=4, tie_width=1), n=500, rng=1)
    >>> over_items(two, mpcc, resamples=200, rng=1)
    0.660 [0.517, 0.802] (n = 500, bootstrap, 200 resamples of items)
    """
    n = len(benchmark)
    if not whole_numbers(block, resamples) or not 1 <= block <= n / 2 or resamples < 2:
        raise ValidationError(
            f"blocks of {block!r} of {n} items and {resamples!r} resamples: a block is "
            "at least 1 item and at most half of them, and there are at least 2 "
            "resamples, all whole numbers"
        )
    upper_end(level)  # before what takes long
    try:
        value = statistic(benchmark)
    except UndefinedStatistic as error:
        return Estimate.undefined(str(error), n)
    generator = random_generator(rng)
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
    return from_standard_error(
        value, spread, n, method, level=level, bounds=bounds, freedom=blocks - 1
    )


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
        The readings; see the package's description.
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
    >>> from judgelab.papers.mtsair import simulate
    >>> from judgelab.simulate import Judge
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
    generator = random_generator(rng)
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
    >>> from judgelab.papers.mtsair import simulate
    >>> from judgelab.simulate import Judge
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
