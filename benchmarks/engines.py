"""How long do a hundred million verdicts take, and how much memory, engine by engine?

The verdicts of five simulated judges on ten million pairs of answers, each in both
orders, lie in a folder of Parquet files (about 0.6 GB, made first and removed at the
end). Three tasks, from opening the folder to the estimate:

* kappa: Cohen's kappa of two judges on the pairs as first shown;
* consistency: how often each judge says the same in both orders;
* Bradley–Terry: ratings of the models from all verdicts.

"SQL" is DuckDB's GROUP BY written by hand for the same table, with none of the checks:
no look for empty keys, unknown verdicts or repeated records. Every contender and task
has a process of its own; memory is the largest resident sum of this process and those
that it started. What needs more than ``--memory`` is stopped, and says so. The files
are in the operating system's cache, all engines get two processors, and must come to
the value of the first. The time is the median of three runs, each in a process of its
own, or the one time of what takes longer than a minute; a process begins its clock with
`judgelab` imported, and its engine not.

    python benchmarks/engines.py                        # writes results/engines.csv
    python benchmarks/engines.py --task kappa --only DuckDB    # one of its rows anew
    python benchmarks/engines.py --rows 1_000_000       # a try; stores nothing
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from judgelab.agreement import cohen_kappa
from judgelab.counts import joint_counts, two_order_tables, win_matrix
from judgelab.position import position_consistency
from judgelab.ranking import bradley_terry

SEED = 20240604
JUDGES, MODELS = 5, 20
ROWS = 100_000_000
RESULTS = Path(__file__).parent / "results" / "engines.csv"
FIRST = "DuckDB"
RUNS, LONG = 3, 60
"""How often a task is timed, and after how many seconds once is enough."""


def write_verdicts(folder: Path, rows: int, items_per_file: int = 500_000) -> None:
    """Write simulated verdicts, file by file; the rows of a file are in no order."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(SEED)
    rating = rng.normal(size=MODELS)
    care, lean = rng.uniform(0.5, 2, JUDGES), rng.normal(0, 0.5, JUDGES)
    items = rows // (2 * JUDGES)
    for start in range(0, items, items_per_file):
        item = np.arange(start, min(start + items_per_file, items), dtype=np.int32)
        one = rng.integers(MODELS, size=item.size)
        two = (one + rng.integers(1, MODELS, size=item.size)) % MODELS
        shape = JUDGES, 2, item.size
        gap = rating[one] - rating[two] + rng.normal(size=item.size)
        shown = care[:, None, None] * np.stack([gap, -gap]) + lean[:, None, None]
        shown += rng.logistic(size=shape)
        verdict = np.where(shown > 0.4, 0, np.where(shown < -0.4, 1, 2)).astype(np.int8)
        lost = rng.random(shape)
        verdict[lost < 0.01], verdict[lost < 0.005] = 3, 4
        columns = {
            "judge": np.arange(JUDGES, dtype=np.int8)[:, None, None],
            "item": item,
            "swapped": np.array([False, True])[:, None],
            "verdict": verdict,
            "model_a": np.stack([one, two]).astype(np.int8),
            "model_b": np.stack([two, one]).astype(np.int8),
        }
        order = rng.permutation(verdict.size)
        table = pa.table(
            {n: np.broadcast_to(c, shape).ravel()[order] for n, c in columns.items()}
        )
        pq.write_table(table, folder / f"part-{start // items_per_file:04d}.parquet")


# How each engine opens the folder, and how it takes the verdicts as first shown.


def pandas(folder: str) -> tuple[Any, Callable[[Any], Any]]:
    import pandas as pd

    return pd.read_parquet(folder), lambda frame: frame[~frame["swapped"]]


def polars(folder: str) -> tuple[Any, Callable[[Any], Any]]:
    import polars as pl

    return pl.scan_parquet(folder), lambda frame: frame.filter(~pl.col("swapped"))


def polars_eager(folder: str) -> tuple[Any, Callable[[Any], Any]]:
    import polars as pl

    return pl.read_parquet(folder), lambda frame: frame.filter(~pl.col("swapped"))


def pyarrow(folder: str) -> tuple[Any, Callable[[Any], Any]]:
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    return pq.read_table(folder), lambda t: t.filter(pc.invert(t["swapped"]))


def duckdb(folder: str) -> tuple[Any, Callable[[Any], Any]]:
    from judgelab import scan

    records = scan(folder, memory="4GB")
    return records, lambda relation: relation.filter("NOT swapped")


def dask(folder: str) -> tuple[Any, Callable[[Any], Any]]:
    import dask.dataframe as dd
    from distributed import Client

    Client(
        n_workers=2, threads_per_worker=1, memory_limit="4GiB", dashboard_address=":0"
    )
    # A count has one part for about ten of the records: there must be many of these.
    records = dd.read_parquet(folder, split_row_groups=True)
    return records, lambda frame: frame[~frame["swapped"]]


def pyspark(folder: str) -> tuple[Any, Callable[[Any], Any]]:
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "6g")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.local.dir", str(Path(folder).parent))
        .config("spark.sql.shuffle.partitions", "32")
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    return session.read.parquet(folder), lambda frame: frame.filter("NOT swapped")


Open = Callable[[str], tuple[Any, Callable[[Any], Any]]]
ENGINES: dict[str, Open] = {
    FIRST: duckdb,
    "Polars, lazy": polars,
    "Polars, eager": polars_eager,
    "PyArrow": pyarrow,
    "pandas": pandas,
    "Dask, two workers": dask,
    "PySpark, local": pyspark,
}


def kappa(records: Any) -> float:
    return cohen_kappa(joint_counts(records, 0, 1)).value


def consistency(records: Any) -> float:
    tables = two_order_tables(records).tables
    return float(np.mean([position_consistency(table).value for table in tables]))


def best(records: Any) -> float:
    found = win_matrix(records)
    ranking = bradley_terry(found.wins, ties=found.ties, tie_policy="half")
    return float(ranking.ratings.max())


TASKS: dict[str, Callable[[Any], float]] = {
    "kappa": kappa,
    "consistency": consistency,
    "Bradley–Terry": best,
}
BY_HAND = {
    "kappa": """
        SELECT x.verdict, y.verdict, count(*) FROM records x JOIN records y USING (item)
        WHERE x.judge = 0 AND y.judge = 1 AND NOT x.swapped AND NOT y.swapped
        GROUP BY ALL""",
    "consistency": """
        SELECT judge, first, second, count(*) FROM (
            SELECT judge, item, max(CASE WHEN NOT swapped THEN verdict END) AS first,
                   max(CASE WHEN swapped THEN verdict END) AS second
            FROM records GROUP BY judge, item)
        GROUP BY ALL""",
    "Bradley–Terry": """
        SELECT model_a, model_b, verdict, count(*) FROM records GROUP BY ALL""",
}
SQL = "SQL, without checks"


def one(contender: str, task: str, folder: str) -> None:
    """Do one task and print its time and value: the work of a child process."""
    import warnings

    warnings.simplefilter("ignore")
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
    start = time.perf_counter()
    value = None
    if contender == SQL:
        duckdb(folder)[0].query("records", BY_HAND[task]).fetchall()
    else:
        records, first_shown = ENGINES[contender](folder)
        value = TASKS[task](first_shown(records) if task == "kappa" else records)
    print(json.dumps([time.perf_counter() - start, value]), flush=True)


def resident(process: int) -> int:
    """Add up the resident memory of a process and of all that it started, in bytes."""
    try:
        page = int(Path(f"/proc/{process}/statm").read_text().split()[1])
        threads = [*Path(f"/proc/{process}/task").glob("*/children")]
        children = " ".join(file.read_text() for file in threads).split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    size = page * os.sysconf("SC_PAGE_SIZE")
    return size + sum(resident(int(child)) for child in children)


def measured(
    contender: str, task: str, folder: Path, memory: float, minutes: float
) -> dict[str, Any]:
    """Run one task in a process of its own, and watch its memory."""
    scratch = Path(tempfile.mkdtemp(dir=folder.parent))
    (scratch / "verdicts").symlink_to(folder)
    command = [sys.executable, __file__, "--one", contender, task]
    command += ["--folder", str(scratch / "verdicts")]
    end, peak, note = time.monotonic() + 60 * minutes, 0, ""
    with (
        (scratch / "errors").open("w+") as errors,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
            env=os.environ | {"POLARS_MAX_THREADS": "2", "TMPDIR": str(scratch)},
        ) as child,
    ):
        while child.poll() is None:
            peak = max(peak, resident(child.pid))
            if peak > memory * 1e9:
                note = f"needs more than {memory:g} GB"
            elif time.monotonic() > end:
                note = f"takes more than {minutes:g} minutes"
            if note:
                os.killpg(child.pid, signal.SIGKILL)
                break
            time.sleep(0.05)
        assert child.stdout
        printed = child.stdout.read().splitlines()
        errors.seek(0)
        said = errors.read().splitlines()
    shutil.rmtree(scratch)
    row = {"task": task, "contender": contender, "peak_mb": round(peak / 1e6)}
    if note or child.returncode:
        print(*said[-3:], sep="\n")
        note = note or "runs out of the memory it is given"
        return row | {"value": "", "note": note}
    seconds, value = json.loads(printed[-1])
    return row | {"seconds": seconds, "value": "" if value is None else value}


def median(
    contender: str, task: str, folder: Path, limits: argparse.Namespace
) -> dict[str, Any]:
    """Run a task three times, or once if it is long: the median, the highest peak."""
    for file in folder.iterdir():
        file.read_bytes()
    runs = list[dict[str, Any]]()
    while len(runs) < RUNS and all(0 < r.get("seconds", 0) < LONG for r in runs):
        runs.append(measured(contender, task, folder, limits.memory, limits.minutes))
    runs.sort(key=lambda run: run.get("seconds", np.inf))
    return runs[len(runs) // 2] | {"peak_mb": max(run["peak_mb"] for run in runs)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=ROWS, help="others are not stored")
    parser.add_argument("--memory", type=float, default=10, help="GB for a contender")
    parser.add_argument("--minutes", type=float, default=15, help="for a task of one")
    parser.add_argument("--task", nargs="*", choices=TASKS, default=[*TASKS])
    everyone = [FIRST, SQL, *[name for name in ENGINES if name != FIRST]]
    parser.add_argument("--only", nargs="*", choices=everyone, default=everyone)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        one(*arguments.one, str(arguments.folder))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "verdicts"
        folder.mkdir()
        write_verdicts(folder, arguments.rows)
        for task in arguments.task:
            for contender in arguments.only:
                row = median(contender, task, folder, arguments)
                print(row, flush=True)
                if arguments.rows == ROWS:
                    store(row, everyone)


def store(row: dict[str, Any], everyone: list[str]) -> None:
    """Put a row into the file of results, in place of an older one."""
    key = row["task"], row["contender"]
    lines = RESULTS.read_text("utf-8").splitlines(True)[1:] if RESULTS.exists() else []
    rows = [r for r in csv.DictReader(lines) if (r["task"], r["contender"]) != key]
    rows.append(row | {name: f"{row[name]:.4g}" for name in {"seconds"} & {*row}})
    rows.sort(key=lambda r: ([*TASKS].index(r["task"]), everyone.index(r["contender"])))
    ours = {r["task"]: r["seconds"] for r in rows if r["contender"] == FIRST}
    for r in rows:
        base = ours.get(r["task"])
        ended = base and r.get("seconds")
        r["times_ours"] = f"{float(r['seconds']) / float(base):.3g}" if ended else ""
    for task in TASKS:
        values = {float(r["value"]) for r in rows if r["task"] == task and r["value"]}
        assert len(values) <= 1, (task, values)
    with RESULTS.open("w", newline="", encoding="utf-8") as file:
        file.write(
            f"# benchmarks/engines.py, {ROWS:,} verdicts, seed {SEED}, two processors, "
            f"Python {sys.version.split()[0]}\n"
        )
        columns = ("task", "contender", "seconds", "times_ours", "peak_mb", "value")
        writer = csv.DictWriter(file, [*columns, "note"])
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
