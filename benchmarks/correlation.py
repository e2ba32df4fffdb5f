"""How long do rank correlations take, ours and scipy's?

Contenders of a task run in turn in one process on the same data, drawn from one seed,
once to warm up and then several times; shown are the median of the processor time (a
busy machine does not count), the ratio to ours, and the value, which must be the same.
Run from the top level:

    OPENBLAS_NUM_THREADS=1 python benchmarks/correlation.py
"""

from __future__ import annotations

import csv
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import stats

from judgelab import (
    contingency_table,
    kendall_tau,
    kendall_tau_table,
    pearson_r,
    spearman_rho,
)

SEED = 20250219
RESULTS = Path(__file__).parent / "results" / "correlation.csv"
Data = tuple[np.ndarray, np.ndarray]


def scores(n: int) -> Data:
    """Scores without ties, tau about one half."""
    rng = np.random.default_rng(SEED)
    x = rng.normal(size=n)
    return x, x + rng.normal(size=n)


def rounded(n: int) -> Data:
    """Scores of some hundred different values."""
    x, y = scores(n)
    return np.round(20 * x), np.round(20 * y)


def labels(n: int) -> Data:
    """Labels 0 to 3."""
    x, y = scores(n)
    cuts = [-0.5, 0.5, 1.5]
    return np.digitize(x, cuts).astype(np.int8), np.digitize(y, cuts).astype(np.int8)


def table_tau(x: np.ndarray, y: np.ndarray) -> float:
    return kendall_tau_table(contingency_table(x, y, scale=range(4))).value


# The first contender of a task is what the others are compared with.
TASKS: dict[str, tuple[Data, dict[str, Callable[..., float]], int]] = {
    "Kendall's tau-b, 1 million scores without ties": (
        scores(10**6),
        {
            "judgelab": lambda x, y: kendall_tau(x, y, interval=None).value,
            "judgelab, with interval": lambda x, y: kendall_tau(x, y).value,
            "scipy": lambda x, y: stats.kendalltau(x, y).statistic,
        },
        5,
    ),
    "Kendall's tau-b, 1 million scores with ties": (
        rounded(10**6),
        {
            "judgelab": lambda x, y: kendall_tau(x, y, interval=None).value,
            "judgelab, with interval": lambda x, y: kendall_tau(x, y).value,
            "scipy": lambda x, y: stats.kendalltau(x, y).statistic,
        },
        5,
    ),
    "Kendall's tau-b, 1 million labels from 0 to 3": (
        labels(10**6),
        {
            "judgelab, table and interval": table_tau,
            "judgelab, labels": lambda x, y: kendall_tau(x, y, interval=None).value,
            "scipy": lambda x, y: stats.kendalltau(x, y).statistic,
        },
        5,
    ),
    "Kendall's tau-b, 33 systems": (
        scores(33),
        {
            "judgelab": lambda x, y: kendall_tau(x, y, interval=None).value,
            "judgelab, with interval": lambda x, y: kendall_tau(x, y).value,
            "scipy": lambda x, y: stats.kendalltau(x, y).statistic,
        },
        200,
    ),
    "Spearman's rho, 1 million scores": (
        scores(10**6),
        {
            "judgelab": lambda x, y: spearman_rho(x, y, interval=None).value,
            "scipy": lambda x, y: stats.spearmanr(x, y).statistic,
        },
        3,
    ),
    "Pearson's r, 1 million scores": (
        scores(10**6),
        {
            "judgelab": lambda x, y: pearson_r(x, y, interval=None).value,
            "scipy": lambda x, y: stats.pearsonr(x, y).statistic,
        },
        5,
    ),
}


def main() -> None:
    rows = []
    for task, (data, contenders, runs) in TASKS.items():
        print(f"\n{task}")
        values = {name: run(*data) for name, run in contenders.items()}
        if max(values.values()) - min(values.values()) > 1e-9:
            raise RuntimeError(f"the contenders do not agree: {values}")
        times: dict[str, list[float]] = {name: [] for name in contenders}
        for _ in range(runs):
            for name, run in contenders.items():
                start = time.process_time()
                run(*data)
                times[name].append(time.process_time() - start)
        medians = {name: statistics.median(spent) for name, spent in times.items()}
        first = next(iter(medians.values()))
        for name, median in medians.items():
            print(
                f"  {name:30} {1000 * median:9.3f} ms {median / first:7.2f} ×"
                f"   {values[name]:.6f}",
                flush=True,
            )
            rows.append(
                {
                    "task": task,
                    "contender": name,
                    "milliseconds": f"{1000 * median:.4g}",
                    "ratio": f"{median / first:.3g}",
                    "value": f"{values[name]:.6f}",
                }
            )
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
