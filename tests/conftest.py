from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no fault of the code: hypothesis must not fail a slow example.
settings.register_profile("judgelab", deadline=None)
settings.load_profile("judgelab")

ROOT = Path(__file__).resolve().parent.parent

# Run by hand, with a package that nothing else needs.
collect_ignore = ["fuzz"]


# Whole books and every notebook: started last, each would be the only one left running.
SLOWEST_FIRST = (
    *("test_browser", "test_notebooks", "test_print", "test_editions"),
    *("test_teach_browser",),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the modules that take longest (the order within each stays)."""
    place = {name: i for i, name in enumerate(SLOWEST_FIRST)}
    items.sort(key=lambda item: place.get(item.path.stem, len(place)))


@pytest.fixture(scope="session")
def built_book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the reader's edition, warnings as errors; return its HTML folder.

    All workers of a test run share one build: the first to come makes it.
    """
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    output, said = shared / "book", shared / "book.said"
    try:
        output.mkdir()
    except FileExistsError:
        while not said.exists():
            time.sleep(1)
    else:
        unfinished = shared / "book.building"
        unfinished.write_text(build_book(output), encoding="utf-8")
        unfinished.rename(said)
    errors = said.read_text(encoding="utf-8")
    assert not errors, errors
    return output / "_build" / "html"


def build_book(output: Path) -> str:
    """Build it; return what went wrong."""
    command = [
        *(Path(sys.executable).with_name("jupyter-book"), "build", ROOT),
        *("--path-output", output, "--warningiserror", "--keep-going", "--quiet"),
    ]
    built = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    if built.returncode:
        return f"The book was not built.\n{built.stdout[-5000:]}{built.stderr[-5000:]}"
    return ""
