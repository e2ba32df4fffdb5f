"""README.md says what the package says today."""

import runpy
from pathlib import Path

import pytest

from judgelab.errors import ValidationError
from judgelab.teach.readme import filled

TOP = Path(__file__).parent.parent
README = TOP / "README.md"


def test_tables_are_todays():
    text = README.read_text("utf-8")
    assert filled(text) == text, "run: python -m judgelab.teach.readme README.md"


def test_performance_is_that_of_the_stored_results():
    summary = runpy.run_path(str(TOP / "benchmarks" / "summary.py"))
    text = README.read_text("utf-8")
    assert summary["filled"](text) == text, (
        "run: python benchmarks/summary.py README.md"
    )


def test_checked_counts_cost_less_than_twice_the_bare_query():
    """DuckDB, the engine to begin with, beside its own GROUP BY without any check."""
    rows = runpy.run_path(str(TOP / "benchmarks" / "summary.py"))["rows"]("engines")
    seconds = {(r["task"], r["contender"]): float(r["seconds"] or "nan") for r in rows}
    tasks = {task for task, _ in seconds}
    assert len(tasks) == 3
    for task in tasks:
        bare = seconds[task, "SQL, without checks"]
        assert seconds[task, "DuckDB"] <= 2 * bare, task


def test_a_lost_mark_is_named():
    with pytest.raises(ValidationError, match="<!-- chapters -->"):
        filled("no marks here")
