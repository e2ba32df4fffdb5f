"""A room imports from its own floor or from below, and no paper another paper."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "judgelab"

FLOORS = (
    {"_checks", "errors", "estimate", "verdict"},
    {"_kernel", "records", "counts", "intervals"},
    {
        *("agreement", "correction", "correlation", "planning", "position"),
        *("ranking", "significance"),
    },
    {"simulate", "probes", "data", "papertable", "papers", "models", "readers"},
    {"explore", "plots", "teach", "reporting", "cli"},
)
FLOOR = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}


def imports(path):
    """List the modules of this package that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module == "judgelab":
            yield from (f"judgelab.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def room(path):
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


FILES = [path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE]
FILES += [path for path in PACKAGE.glob("*.py") if not path.name.startswith("__")]


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_only_from_below(path):
    own = FLOOR[room(path)]
    names = [name for name in imports(path) if name.startswith("judgelab.")]
    assert [name for name in names if FLOOR[name.split(".")[1]] > own] == []


@pytest.mark.parametrize(
    "path",
    [*(PACKAGE / "papers").rglob("*.py")],
    ids=lambda p: str(p.relative_to(PACKAGE / "papers")),
)
def test_no_paper_knows_another(path):
    own = path.relative_to(PACKAGE / "papers").with_suffix("").parts[0]
    others = {
        name.split(".")[2]
        for name in imports(path)
        if name.startswith("judgelab.papers.")
    }
    assert others <= {own}
