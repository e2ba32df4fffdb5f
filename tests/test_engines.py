"""The same records in every engine, opened as a reader opens them: the same counts.

Dask runs on two worker processes, Spark in local mode on Java. Where they are not
installed these tests are skipped; in CI that is a failure.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow.dataset
import pytest

from judgelab.agreement import cohen_kappa
from judgelab.counts import (
    crossed_counts,
    joint_counts,
    two_order_tables,
    vote_patterns,
    win_matrix,
)
from judgelab.errors import ValidationError
from judgelab.position import average_orders, pair_orders
from judgelab.probes import diagnose
from judgelab.records import check_pairwise, check_ratings, scan
from judgelab.simulate import Judge, draw_pairs, simulate
from judgelab.verdict import Verdict, unswap

pytestmark = [
    # Says where Dask's part of narwhals will go; that package is not published yet.
    pytest.mark.filterwarnings("ignore:Dask support is moving out:FutureWarning"),
]

ENGINES = ("polars", "polars lazy", "pyarrow", "duckdb", "dask", "pyspark")


def lacking(what: str) -> None:
    """Skip on a reader's machine; unnoticed in CI that would be a failure."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(f"{what} is not installed")


@pytest.fixture(scope="module")
def dask_workers():
    for package in ("dask", "distributed"):
        if importlib.util.find_spec(package) is None:
            lacking(package)
    import dask
    from distributed import Client, LocalCluster

    with (
        # The default shuffle is for tables of many gigabytes; its start takes seconds.
        dask.config.set({"dataframe.shuffle.method": "tasks"}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def spark():
    if importlib.util.find_spec("pyspark") is None:
        lacking("pyspark")
    if shutil.which("java") is None:
        lacking("Java, which PySpark needs,")
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.sql.shuffle.partitions", "2")
        # Compiling takes longer than counting so few records.
        .config("spark.sql.codegen.wholeStage", "false")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
        .getOrCreate()
    )
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture(scope="module", params=ENGINES)
def opened(request, tmp_path_factory):
    """Write records to a folder of two Parquet files; open it with the engine."""
    if request.param == "dask":
        workers = request.getfixturevalue("dask_workers")
        assert len(workers.scheduler_info()["workers"]) == 2
        from dask.dataframe import read_parquet
    elif request.param == "pyspark":
        read_parquet = request.getfixturevalue("spark").read.parquet
    else:
        read_parquet = {
            "polars": pl.read_parquet,
            "polars lazy": pl.scan_parquet,
            "pyarrow": lambda folder: pyarrow.dataset.dataset(folder).to_table(),
            "duckdb": scan,
        }[request.param]

    def opened(records: pd.DataFrame):
        folder = tmp_path_factory.mktemp("records")
        half = len(records) // 2
        for number, part in enumerate((records[:half], records[half:])):
            part.to_parquet(folder / f"part-{number}.parquet", index=False)
        return read_parquet(str(folder))

    return opened


def pairwise() -> pd.DataFrame:
    """Verdicts of three judges on 200 items in both orders, some of them lost."""
    rng = np.random.default_rng(12)
    rows = [
        (j, i, s) for j in ("ann", "bob", "model") for i in range(200) for s in "no"
    ]
    records = pd.DataFrame(rows, columns=["judge", "item", "swapped"])
    records["swapped"] = records["swapped"] == "o"
    words = [v.name for v in Verdict]
    records["verdict"] = rng.choice(words, len(rows), p=[0.4, 0.3, 0.2, 0.05, 0.05])
    models = np.array(["p", "q", "r"])
    one, two = records["item"] % 3, (records["item"] + 1) % 3
    turned = records["swapped"]
    records["model_a"] = models[np.where(turned, two, one)]
    records["model_b"] = models[np.where(turned, one, two)]
    records["cluster"] = "topic " + (records["item"] // 20).astype(str)
    records["log_odds"] = rng.normal(size=len(rows)).round(3)
    return records.sample(frac=0.9, random_state=1).reset_index(drop=True)


def ratings(labels: list) -> pd.DataFrame:
    rng = np.random.default_rng(13)
    rows = [(j, f"q{i}") for j in ("ann", "bob", "model") for i in range(200)]
    records = pd.DataFrame(rows, columns=["judge", "item"])
    records["label"] = np.array(labels)[rng.integers(len(labels), size=len(rows))]
    return records.sample(frac=0.8, random_state=2).reset_index(drop=True)


PAIRWISE = pairwise()
ONE_ORDER = PAIRWISE.drop_duplicates(["judge", "item"])
CODES = ONE_ORDER.assign(verdict=[Verdict[w].value for w in ONE_ORDER["verdict"]])
TRIALS = pd.concat(
    [PAIRWISE.assign(trial=0), PAIRWISE[::3].assign(trial=1)], ignore_index=True
)
WORDS = ratings(["bad", "fair", "good"])
GRADES = ratings([1, 2, 3, 4])
SIMULATED = simulate(Judge(k=4, beta=1), draw_pairs(150, rng=1), rng=2)
PEOPLE = ["ann", "bob"]

COUNTS = {
    "joint counts of words": (ONE_ORDER, lambda r: joint_counts(r, "ann", "model")),
    "joint counts of codes": (CODES, lambda r: joint_counts(r, "bob", "ann")),
    "joint counts of labels": (
        WORDS,
        lambda r: joint_counts(r, "ann", "bob", scale=["bad", "fair", "good"]),
    ),
    "joint counts of grades": (
        GRADES,
        lambda r: joint_counts(r, "ann", "bob", scale=[0, 1, 2, 3, 4, 5]),
    ),
    "crossed votes": (
        PAIRWISE,
        lambda r: crossed_counts(r, ["model"], PEOPLE, cluster="cluster"),
    ),
    "crossed labels": (
        WORDS,
        lambda r: crossed_counts(r, PEOPLE, PEOPLE, scale=["good", "fair", "bad"]),
    ),
    "patterns of verdicts": (
        ONE_ORDER,
        lambda r: vote_patterns(r, scale=["A", "B", "TIE", "INVALID", "MISSING"]),
    ),
    "patterns of labels": (GRADES, lambda r: vote_patterns(r, scale=[1, 2, 3, 4])),
    "wins": (PAIRWISE, win_matrix),
    "two orders": (PAIRWISE, two_order_tables),
    "two orders by item": (PAIRWISE, lambda r: two_order_tables(r, by="item")),
    "two orders in trials": (TRIALS, two_order_tables),
    "diagnosis": (SIMULATED, lambda r: [f.found for f in diagnose(r)]),
}


def same(one, two) -> bool:
    if isinstance(one, tuple):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, np.ndarray):
        return one.dtype == two.dtype and np.array_equal(one, two)
    return one == two


@pytest.mark.parametrize("name", COUNTS)
def test_counts_are_those_of_pandas(opened, name):
    records, count = COUNTS[name]
    wanted, found = count(records), count(opened(records))
    assert type(found) is type(wanted)
    assert same(wanted, found)


@pytest.mark.parametrize("function", [pair_orders, average_orders])
def test_pairs_are_those_of_pandas(opened, function):
    """Some engines keep no order of rows, and each has its own type of words."""
    keys = ["judge", "item", "trial"]
    wanted, found = function(TRIALS), function(opened(TRIALS))
    assert [*found] == [*wanted]
    found, wanted = (
        f.sort_values(keys, ignore_index=True).astype({"judge": str, "cluster": str})
        for f in (found, wanted)
    )
    pd.testing.assert_frame_equal(found, wanted)


def test_records_are_checked_in_their_engine(opened):
    native = opened(PAIRWISE)
    checked = check_pairwise(native)
    assert type(checked) is type(native)
    assert same(two_order_tables(checked), two_order_tables(PAIRWISE))
    labels = opened(GRADES)
    assert type(check_ratings(labels, scale=[1, 2, 3, 4])) is type(labels)


def changed(records: pd.DataFrame, column: str, values) -> pd.DataFrame:
    """Put other values into the first rows of a column."""
    column_values = records[column].to_list()
    column_values[: len(values)] = values
    return records.assign(**{column: column_values})


BAD = {
    "words": (changed(PAIRWISE, "verdict", ["first", "C"]), two_order_tables),
    "codes": (changed(CODES, "verdict", [7, -1]), win_matrix),
    "repeats": (pd.concat([PAIRWISE, PAIRWISE[5:7]]), two_order_tables),
    "votes": (
        pd.concat([ONE_ORDER, ONE_ORDER[:1].assign(verdict="B")]),
        lambda r: vote_patterns(r),
    ),
    "ballots": (
        pd.concat([GRADES, GRADES[GRADES["judge"] == "ann"][:2]]),
        lambda r: joint_counts(r, "ann", "bob", scale=[1, 2, 3, 4]),
    ),
    "pairs": (pd.concat([PAIRWISE, PAIRWISE[:2]]), pair_orders),
    "no verdict": (changed(PAIRWISE, "verdict", [None, None]), win_matrix),
    "no first model": (changed(PAIRWISE, "model_a", [None, None]), win_matrix),
    "no second model": (changed(PAIRWISE, "model_b", [None]), win_matrix),
    "no number of a model": (
        CODES.assign(model_a=1, model_b=[np.nan, *[2.0] * (len(CODES) - 1)]),
        win_matrix,
    ),
    "no item": (changed(WORDS, "item", [None]), lambda r: vote_patterns(r, scale="ab")),
    "orders": (
        PAIRWISE.assign(swapped=PAIRWISE["swapped"].map({True: "yes", False: "no"})),
        two_order_tables,
    ),
    "numbers for orders": (
        changed(PAIRWISE.astype({"swapped": int}), "swapped", [2, 5]),
        two_order_tables,
    ),
    "labels": (
        changed(WORDS, "label", ["awful", "best"]),
        lambda r: vote_patterns(r, scale=["bad", "fair", "good"]),
    ),
    "grades": (GRADES, lambda r: joint_counts(r, "ann", "bob", scale=[1, 2, 3])),
    "crossed grades": (
        GRADES,
        lambda r: crossed_counts(r, ["ann"], ["bob"], scale=[2, 3]),
    ),
    "mirror": (changed(PAIRWISE, "model_a", PAIRWISE["model_b"][:2]), win_matrix),
    "strangers": (ONE_ORDER, lambda r: joint_counts(r, "ann", "eve")),
    "columns": (WORDS, win_matrix),
}


@pytest.mark.parametrize("name", BAD)
def test_errors_name_the_same_things(opened, name):
    records, count = BAD[name]
    with pytest.raises(ValidationError) as wanted:
        count(records)
    with pytest.raises(ValidationError) as found:
        count(opened(records))
    assert str(found.value) == str(wanted.value)


def test_a_folder_larger_than_the_memory_allowed(tmp_path):
    """What does not fit goes to disk, and the counts are right."""
    allowed = 64 * 1024**2
    rng = np.random.default_rng(14)
    folder = tmp_path / "verdicts"
    folder.mkdir()
    wanted = np.zeros((5, 5), np.int64)
    items = 200_000
    for number in range(6):
        name = rng.bytes(16 * items).hex()
        names = [name[32 * i : 32 * i + 32] for i in range(items)]
        first, second = codes = rng.integers(5, size=(2, items), dtype=np.int8)
        np.add.at(wanted, (first, unswap(second)), 1)
        frame = pl.DataFrame(
            {
                "judge": pl.repeat("x", 2 * items, eager=True),
                "item": names * 2,
                "swapped": np.repeat([False, True], items),
                "verdict": codes.ravel(),
            }
        )
        frame.write_parquet(
            folder / f"part-{number}.parquet", compression="uncompressed"
        )
    assert sum(file.stat().st_size for file in folder.iterdir()) > allowed
    records = scan(folder, memory=f"{allowed}B")
    np.testing.assert_array_equal(two_order_tables(records).tables, [wanted])
    # Without a place to put it, the same work does not fit.
    none = {"memory_limit": f"{allowed}B", "temp_directory": ""}
    with duckdb.connect(config=none) as database:
        records = database.read_parquet(f"{folder}/*.parquet")
        with pytest.raises(duckdb.OutOfMemoryException):
            two_order_tables(records)


def test_what_cannot_be_scanned_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="no Parquet file"):
        scan(tmp_path / "none.parquet")
    with pytest.raises(FileNotFoundError, match="no Parquet file"):
        scan(tmp_path)
    (tmp_path / "x.parquet").write_text("judge,item\n")
    with pytest.raises(ValidationError, match=r"x\.parquet cannot be opened"):
        scan(tmp_path / "x.parquet")
    PAIRWISE.to_parquet(tmp_path / "x.parquet")
    with pytest.raises(ValidationError, match=r"cannot be opened: .*Memory"):
        scan(tmp_path / "x.parquet", memory="much")
    assert len(scan(tmp_path / "x.parquet").df()) == len(PAIRWISE)
    (tmp_path / "in" / "here").mkdir(parents=True)
    PAIRWISE.to_parquet(tmp_path / "in" / "here" / "y.parquet")
    assert len(scan(tmp_path).df()) == 2 * len(PAIRWISE)
    GRADES.to_parquet(tmp_path / "z.parquet")
    with pytest.raises(ValidationError, match=r"z\.parquet has the columns item"):
        scan(tmp_path)


PAGE = Path(__file__).parents[1] / "book" / "outgrow-a-laptop.md"
CELLS = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("engine", ["scan", "dask", "pyspark"])
def test_the_page_on_many_machines(engine, request, tmp_path):
    """Each of its three snippets brings the counts of pandas, and the rest follows."""
    if engine == "pyspark":
        request.getfixturevalue("spark")
    if engine == "dask" and importlib.util.find_spec("distributed") is None:
        lacking("distributed")
    *snippets, rest = CELLS
    (tmp_path / "verdicts").mkdir()
    for number in range(2):
        part = PAIRWISE[number::2]
        part.to_parquet(tmp_path / "verdicts" / f"{number}.parquet", index=False)
    (snippet,) = [text for text in snippets if engine in text]
    found: dict = {}
    # Java stays in the folder in which it was started.
    exec(snippet.replace('"verdicts"', repr(str(tmp_path / "verdicts"))) + rest, found)
    first_shown = PAIRWISE[~PAIRWISE["swapped"]]
    table = joint_counts(first_shown, "ann", "model")
    assert found["kappa"] == cohen_kappa(table)
    assert same(found["orders"], two_order_tables(PAIRWISE))
    assert same(found["battles"], win_matrix(PAIRWISE))
    assert [*found["consistency"]] == ["ann", "bob", "model"]
    assert len(found["ranking"].ratings) == 3
