"""How long do agreement statistics take, ours and those of other packages?

Every contender runs in a process of its own, on the input that it takes natively, in
turn; the data are drawn from the same seed. Printed are the median time, the peak of
memory on top of the data, the value, and the ratio to ours. Run from the top level:

    python benchmarks/agreement.py --peers benchmarks/.venv/bin/python

`--peers` names the interpreter for packages that do not share our environment (see
benchmarks/README.md); without it these are left out.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

SEED = 20230611
RESULTS = Path(__file__).parent / "results" / "agreement.csv"


class Contender(NamedTuple):
    """One program on one task: how it gets its data, and what is timed."""

    task: str
    name: str
    prepare: Callable[[], Any]
    run: Callable[[Any], float]
    runs: int = 5
    elsewhere: bool = False
    """Whether it runs under the interpreter of `--peers`."""


def codes(n: int, dtype: str = "int8") -> tuple[np.ndarray, np.ndarray]:
    """Two judges who share 60 % of their labels out of four."""
    rng = np.random.default_rng(SEED)
    first = rng.integers(0, 4, n, dtype=np.int8)
    second = np.where(rng.random(n) < 0.6, first, rng.integers(0, 4, n, dtype=np.int8))
    return first.astype(dtype), second.astype(dtype)


def words(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Give the same labels as words."""
    names = np.array(["A", "B", "TIE", "INVALID"])
    first, second = codes(n)
    return names[first], names[second]


def table() -> np.ndarray:
    """Give the labels of 10,000 pairs as a table."""
    first, second = codes(10_000)
    return np.bincount(first * 4 + second, minlength=16).reshape(4, 4)


def ratings(items: int, raters: int) -> np.ndarray:
    """Items × raters on a scale 1 to 5, 30 % missing."""
    rng = np.random.default_rng(SEED)
    truth = rng.integers(1, 6, (items, 1))
    noise = rng.integers(1, 6, (items, raters))
    matrix = np.where(rng.random((items, raters)) < 0.5, truth, noise).astype(float)
    matrix[rng.random((items, raters)) < 0.3] = np.nan
    return matrix


def small_ratings(items: int, raters: int) -> np.ndarray:
    """Give the same ratings as int8 from 0 to 4, −1 where missing."""
    return np.nan_to_num(ratings(items, raters) - 1, nan=-1).astype(np.int8)


def ours_kappa(data: Any, **options: Any) -> float:
    from judgelab import cohen_kappa, contingency_table

    scale = range(4) if data[0].dtype.kind in "iu" else ["A", "B", "TIE", "INVALID"]
    return cohen_kappa(contingency_table(*data, scale=scale), **options).value


def ours_table(data: np.ndarray) -> float:
    from judgelab import cohen_kappa

    return cohen_kappa(data, interval="asymptotic").value


def ours_bootstrap(data: Any) -> float:
    return ours_kappa(data, interval="bootstrap", resamples=10_000, rng=1)


def ours_alpha(data: np.ndarray, **options: Any) -> float:
    from judgelab import krippendorff_alpha

    if data.dtype.kind == "i":
        scale, missing_code = range(5), -1
    else:
        scale, missing_code = range(1, 6), None
    return krippendorff_alpha(
        data, level="ordinal", scale=scale, missing_code=missing_code, **options
    ).value


def ours_alpha_bootstrap(data: np.ndarray) -> float:
    return ours_alpha(data, interval="bootstrap", resamples=1000, rng=1)


def scikit_learn(data: Any) -> float:
    from sklearn.metrics import cohen_kappa_score

    return cohen_kappa_score(*data)


def statsmodels_table(data: np.ndarray) -> float:
    from statsmodels.stats.inter_rater import cohens_kappa

    return cohens_kappa(data).kappa


def irrcac_table(data: np.ndarray) -> float:
    import pandas as pd
    from irrCAC.table import CAC

    return CAC(pd.DataFrame(data)).cohen()["est"]["coefficient_value"]


def krippendorff_alpha(data: np.ndarray) -> float:
    import krippendorff

    return krippendorff.alpha(data, level_of_measurement="ordinal")


def evalica_alpha(data: Any) -> float:
    import evalica

    return evalica.alpha(data, distance="ordinal").alpha


def evalica_bootstrap(data: Any) -> float:
    import evalica

    return evalica.alpha_bootstrap(
        data, distance="ordinal", n_resamples=1000, random_state=1
    ).alpha


def irrcac_alpha(data: Any) -> float:
    from irrCAC.raw import CAC

    estimate = CAC(data, weights="ordinal", categories=[1, 2, 3, 4, 5])
    return estimate.krippendorff()["est"]["coefficient_value"]


def kappas(first: np.ndarray, second: np.ndarray, axis: int = -1) -> np.ndarray:
    """Kappa along an axis, as one would write it for `scipy.stats.bootstrap`."""
    observed = (first == second).mean(axis)
    expected = sum((first == c).mean(axis) * (second == c).mean(axis) for c in range(4))
    return (observed - expected) / (1 - expected)


def scipy_vectorised(data: Any) -> float:
    from scipy.stats import bootstrap

    bootstrap(
        data, kappas, n_resamples=10_000, paired=True, vectorized=True, batch=100,
        method="percentile", rng=np.random.default_rng(1),
    )  # fmt: skip
    return float(kappas(*data))


def scipy_scikit_learn(data: Any) -> float:
    from scipy.stats import bootstrap
    from sklearn.metrics import cohen_kappa_score

    bootstrap(
        data, cohen_kappa_score, n_resamples=10_000, paired=True, vectorized=False,
        method="percentile", rng=np.random.default_rng(1),
    )  # fmt: skip
    return cohen_kappa_score(*data)


def frame(matrix: np.ndarray) -> Any:
    import pandas as pd

    return pd.DataFrame(matrix)


KAPPA = "Cohen's kappa, 10 million pairs, 4 labels"
WORDS = "Cohen's kappa, 1 million pairs of words"
TABLE = "Cohen's kappa with its standard error, from a table"
ALPHA = "Krippendorff's alpha, ordinal, 50 raters, 100,000 items, 30 % missing"
SMALL = "Krippendorff's alpha, ordinal, 5 raters, 2,000 items, 30 % missing"
BOOT = "Cohen's kappa, n = 10,000, 10,000 bootstrap resamples"
ALPHA_BOOT = "Krippendorff's alpha, 5 raters, 2,000 items, 1,000 bootstrap resamples"

# The first contender of a task is what the others are compared with.
CONTENDERS = [
    Contender(KAPPA, "judgelab, int8", lambda: codes(10**7), ours_kappa, 15),
    Contender(KAPPA, "judgelab, int64", lambda: codes(10**7, "int64"), ours_kappa, 15),
    Contender(KAPPA, "scikit-learn, int8", lambda: codes(10**7), scikit_learn),
    Contender(
        KAPPA, "scikit-learn, int64", lambda: codes(10**7, "int64"), scikit_learn
    ),
    Contender(WORDS, "judgelab", lambda: words(10**6), ours_kappa, 9),
    Contender(WORDS, "scikit-learn", lambda: words(10**6), scikit_learn),
    Contender(TABLE, "judgelab", table, ours_table, 200),
    Contender(TABLE, "statsmodels", table, statsmodels_table, 200),
    Contender(TABLE, "irrCAC", table, irrcac_table, 50, elsewhere=True),
    Contender(
        ALPHA, "judgelab, int8", lambda: small_ratings(10**5, 50), ours_alpha, 15
    ),
    Contender(ALPHA, "judgelab, float64", lambda: ratings(10**5, 50), ours_alpha, 15),
    Contender(
        ALPHA,
        "krippendorff",
        lambda: np.ascontiguousarray(ratings(10**5, 50).T),
        krippendorff_alpha,
    ),
    Contender(
        ALPHA,
        "evalica",
        lambda: frame(np.ascontiguousarray(ratings(10**5, 50).T)),
        evalica_alpha,
        3,
        elsewhere=True,
    ),
    Contender(SMALL, "judgelab, float64", lambda: ratings(2000, 5), ours_alpha, 50),
    Contender(
        SMALL, "krippendorff", lambda: ratings(2000, 5).T, krippendorff_alpha, 50
    ),
    Contender(
        SMALL,
        "evalica",
        lambda: frame(ratings(2000, 5).T),
        evalica_alpha,
        elsewhere=True,
    ),
    Contender(
        SMALL,
        "irrCAC",
        lambda: frame(ratings(2000, 5)),
        irrcac_alpha,
        3,
        elsewhere=True,
    ),
    Contender(BOOT, "judgelab", lambda: codes(10_000), ours_bootstrap, 9),
    Contender(BOOT, "scipy, int8", lambda: codes(10_000), scipy_vectorised, 3),
    Contender(
        BOOT, "scipy, int64", lambda: codes(10_000, "int64"), scipy_vectorised, 3
    ),
    Contender(
        BOOT,
        "scipy with scikit-learn",
        lambda: codes(10_000, "int64"),
        scipy_scikit_learn,
        1,
    ),
    Contender(
        ALPHA_BOOT, "judgelab", lambda: ratings(2000, 5), ours_alpha_bootstrap, 9
    ),
    Contender(
        ALPHA_BOOT,
        "evalica",
        lambda: frame(ratings(2000, 5).T),
        evalica_bootstrap,
        1,
        elsewhere=True,
    ),
]


def peak_memory() -> int:
    """Return the highest memory of this process since the last reset, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("peak memory is read from /proc, which only Linux has")


def measure(contender: Contender) -> dict[str, float]:
    """Time one contender here: once to warm up, then the timed runs."""
    data = contender.prepare()
    times, value = [], contender.run(data) if contender.runs > 1 else 0.0
    for _ in range(contender.runs):
        start = time.perf_counter()
        value = contender.run(data)
        times.append(time.perf_counter() - start)
    return {"seconds": statistics.median(times), "value": float(value)}


def measure_memory(contender: Contender) -> dict[str, float]:
    """Run one contender here and see how far memory rises above what it is given."""
    data = contender.prepare()
    if contender.runs > 1:
        contender.run(data)
    Path("/proc/self/clear_refs").write_text("5")
    before = peak_memory()
    contender.run(data)
    return {"megabytes": (peak_memory() - before) / 2**20}


def in_own_process(number: int, python: str, what: str) -> dict[str, float]:
    """Measure one contender in a process of its own."""
    command = [python, str(Path(__file__).resolve()), "--measure", what, str(number)]
    # Freed blocks go back to the system at once, so that the next peak shows.
    environment = {"MALLOC_MMAP_THRESHOLD_": "65536"} if what == "memory" else {}
    done = subprocess.run(
        command, capture_output=True, text=True, env=os.environ | environment
    )
    if done.returncode:
        raise RuntimeError(f"{CONTENDERS[number].name} failed:\n{done.stderr[-2000:]}")
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", help="interpreter with evalica and irrCAC")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        what, number = arguments.measure
        measured = measure_memory if what == "memory" else measure
        print(json.dumps(measured(CONTENDERS[int(number)])))
        return
    rows, ours = [], {}
    for number, contender in enumerate(CONTENDERS):
        if contender.elsewhere and not arguments.peers:
            continue
        python = arguments.peers if contender.elsewhere else sys.executable
        result = in_own_process(number, python, "time")
        result |= in_own_process(number, python, "memory")
        if contender.task not in ours:
            ours[contender.task] = result["seconds"]
            print(f"\n{contender.task}")
        ratio = result["seconds"] / ours[contender.task]
        print(
            f"  {contender.name:26} {1000 * result['seconds']:10.2f} ms"
            f" {ratio:9.1f} × {result['megabytes']:8.1f} MB   {result['value']:.6f}",
            flush=True,
        )
        rows.append(
            {
                "task": contender.task,
                "contender": contender.name,
                "milliseconds": f"{1000 * result['seconds']:.4g}",
                "ratio": f"{ratio:.3g}",
                "megabytes": f"{result['megabytes']:.1f}",
                "value": f"{result['value']:.6f}",
            }
        )
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
