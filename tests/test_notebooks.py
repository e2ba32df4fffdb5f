"""Every chapter runs, gives the stored outputs again, and reads like a chapter."""

from __future__ import annotations

import ast
import statistics
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
# In all chapters together; each carries its reason as metadata `ignored-because`.
MOST_IGNORED_CELLS = 3
IGNORING = ("NBVAL_IGNORE_OUTPUT", "NBVAL_SKIP", "nbval-ignore-output", "nbval-skip")
FROM_SCRATCH = "from-scratch"


def read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)


def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def tags(cell: nbformat.NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@each_notebook
def test_outputs_come_again(path: Path) -> None:
    # A process of its own: kernels warn and load what the package's own tests forbid.
    command = [
        *(sys.executable, "-m", "pytest", path, "--nbval", "--nbval-current-env"),
        *("--nbval-sanitize-with", ROOT / "tests" / "nbval_sanitize.cfg"),
        *("-o", "addopts=", "-o", "filterwarnings=default"),
        *("-p", "no:cacheprovider", "-p", "no:xdist", "--quiet", "--color=no"),
    ]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert run.returncode == 0, run.stdout[-8000:] + run.stderr[-2000:]


@each_notebook
def test_outputs_are_stored(path: Path) -> None:
    cells = code_cells(path)
    counts = [cell.execution_count for cell in cells]
    assert counts == list(range(1, len(cells) + 1)), "run: make notebooks"
    outputs = [output for cell in cells for output in cell.outputs]
    assert not [o for o in outputs if o.output_type == "error"]
    assert not [o for o in outputs if o.get("name") == "stderr"], "a cell warns"
    live = [o for o in outputs if any("widget" in kind for kind in o.get("data", ()))]
    assert not live, "a live widget's id is stored; run: make notebooks"


def test_few_cells_are_ignored_and_each_says_why() -> None:
    ignored = [
        cell
        for path in NOTEBOOKS
        for cell in code_cells(path)
        if any(word in cell.source or word in tags(cell) for word in IGNORING)
    ]
    assert len(ignored) <= MOST_IGNORED_CELLS
    assert all(cell.metadata.get("ignored-because") for cell in ignored)


def lines(cell: nbformat.NotebookNode) -> list[str]:
    return [line for line in cell.source.splitlines() if line.strip()]


@each_notebook
def test_cells_are_short(path: Path) -> None:
    cells = code_cells(path)
    lengths = [len(lines(cell)) for cell in cells]
    assert statistics.median(lengths) <= 4
    assert sum(length <= 10 for length in lengths) >= 0.9 * len(lengths)
    wide = [line for cell in cells for line in lines(cell) if len(line) > 88]
    assert not wide


@each_notebook
def test_imports_come_first_and_definitions_only_from_scratch(path: Path) -> None:
    first, *others = code_cells(path)
    for cell in others:
        kinds = {type(node) for node in ast.walk(ast.parse(cell.source))}
        assert not kinds & {ast.Import, ast.ImportFrom}, cell.source
        if FROM_SCRATCH not in tags(cell):
            assert not kinds & {ast.FunctionDef, ast.ClassDef, ast.Lambda}, cell.source
    assert any(
        isinstance(node, ast.Import | ast.ImportFrom)
        for node in ast.parse(first.source).body
    )


@each_notebook
def test_no_words_are_tagged_away(path: Path) -> None:
    """A tag such as remove-cell would drop a Markdown cell from the page, unseen."""
    words = [cell for cell in read(path).cells if cell.cell_type == "markdown"]
    assert not [cell.id for cell in words if tags(cell)]
