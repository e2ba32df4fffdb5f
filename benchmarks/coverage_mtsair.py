"""Do intervals for MTSAIR's correlations cover? Simulated benchmarks, a known law.

500 items, a judge of sensitivity 4 with the experts of `judgelab.papers.mtsair`. The
items stand in no particular order, or topic by topic (20 topics of 25 items, the
candidate's edge on them with a standard deviation of 0.7). The truth is the mean of the
statistic over 4,000 benchmarks of the same kind. Ways to a 95 % interval:

* windows: Fisher's interval for a correlation of as many independent pairs as there are
  windows (MPCC-Consistency and, around the mean of the two runs, MPCC);
* percentile: percentiles of resamples of items;
* items: value ± t·SE over resamples of items (`over_items`);
* blocks: the same with blocks of 25 items, here one topic.

Run: ``python benchmarks/coverage_mtsair.py [runs]`` (default 500, some minutes). It
writes ``judgelab/data/mtsair/counts/coverage.csv``, which the book shows.

Result of 500 runs. In no particular order *items* held the truth in .946 to .952 (APCC
.998), *percentile* in 1.000 but for APCC (.968), because resamples lie around the mean
over orders; *windows* in .940 (MPCC) and .898 (consistency). Topic by topic *blocks*
held it in .928 to .998, *items* in .994 and more by being up to three times too wide,
*percentile* in .000 (Avg, MPCC, consistency), *windows* in .794 and .738.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from judgelab.errors import UndefinedStatistic
from judgelab.papers.mtsair import (
    PUBLISHED,
    Benchmark,
    apcc,
    avg_correlation,
    mpcc,
    mpcc_consistency,
    mpcc_delta,
    simulate,
)
from judgelab.simulate import Judge

N, TOPIC, RESAMPLES, TRUTH = 500, 25, 200, 4000
ORDERS = {"no particular order": 0.0, "topic by topic": 0.7}
STATISTICS: dict[str, Callable[[Benchmark], float]] = {
    "Avg": avg_correlation,
    "APCC": apcc,
    "MPCC": mpcc,
    "MPCC-Consistency": mpcc_consistency,
    "MPCC-Δ": mpcc_delta,
}
WAYS = ("windows", "percentile", "items", "blocks")
RESULTS = (
    Path(__file__)
    .parents[1]
    .joinpath("judgelab", "data", "mtsair", "counts", "coverage.csv")
)
Z = 1.959964


def draw(topic_spread: float, seed: int) -> Benchmark:
    """One benchmark of this kind."""
    judge = Judge(k=4, tie_width=1)
    return simulate(judge, n=N, topic_size=TOPIC, topic_spread=topic_spread, rng=seed)


def all_of(benchmark: Benchmark) -> list[float]:
    """All statistics; nan where one is undefined."""
    values = []
    for statistic in STATISTICS.values():
        try:
            values.append(statistic(benchmark))
        except UndefinedStatistic:
            values.append(math.nan)
    return values


def resampled(benchmark: Benchmark, block: int, rng: np.random.Generator) -> np.ndarray:
    """All statistics of resamples of blocks, drawn as `over_items` draws them."""
    blocks = -(-N // block)
    starts = rng.integers(0, N - block + 1, (RESAMPLES, blocks))
    items = (starts[:, :, None] + np.arange(block)).reshape(RESAMPLES, -1)[:, :N]
    return np.array([all_of(benchmark.take(chosen)) for chosen in items])


def intervals(
    benchmark: Benchmark, rng: np.random.Generator
) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Lower and upper ends per way, one per statistic."""
    from scipy import stats

    values = np.array(all_of(benchmark))
    half = Z / math.sqrt(PUBLISHED.starts(N).size - 3)
    with np.errstate(all="ignore"):
        fisher = np.arctanh(values)
    fisher[[0, 1, 4]] = np.nan
    found = {"windows": (np.tanh(fisher - half), np.tanh(fisher + half))}
    for way, block in (("items", 1), ("blocks", TOPIC)):
        replicates = resampled(benchmark, block, rng)
        spread = np.nanstd(replicates, axis=0, ddof=1)
        reach = stats.t.ppf(0.975, -(-N // block) - 1) * spread
        ends = np.array([1, 1, 1, 1, 2])
        found[way] = np.maximum(-ends, values - reach), np.minimum(ends, values + reach)
        if block == 1:
            low, high = np.nanquantile(replicates, [0.025, 0.975], axis=0)
            found["percentile"] = low, high
    return found


def main(runs: int) -> None:
    """Simulate, count, write."""
    rows = []
    for order, spread in ORDERS.items():
        kind = partial(draw, spread)
        truth = np.nanmean([all_of(kind(10**6 + i)) for i in range(TRUTH)], axis=0)
        rng = np.random.default_rng(20261130)
        hits = {way: np.zeros(len(STATISTICS)) for way in WAYS}
        widths = {way: np.zeros(len(STATISTICS)) for way in WAYS}
        for seed in range(runs):
            for way, (low, high) in intervals(kind(seed), rng).items():
                hits[way] += (low <= truth) & (truth <= high)
                widths[way] += (high - low) / runs
        for i, name in enumerate(STATISTICS):
            for way in WAYS:
                if not np.isnan(widths[way][i]):
                    row = order, name, way, f"{truth[i]:.3f}"
                    share = f"{hits[way][i] / runs:.3f}"
                    rows.append((*row, share, f"{widths[way][i]:.3f}"))
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        file.write(
            "# source: simulated by benchmarks/coverage_mtsair.py, "
            f"{runs} benchmarks of {N} items per kind\n# licence: ours\n"
        )
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["items", "statistic", "way", "truth", "coverage", "width"])
        writer.writerows(rows)
    sys.stdout.write(RESULTS.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
