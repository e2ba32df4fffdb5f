from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no fault of the code: hypothesis must not fail a slow example.
settings.register_profile("judgelab", deadline=None)
settings.load_profile("judgelab")

ROOT = Path(__file__).resolve().parent.parent

# Run by hand, with a package that nothing else needs.
collect_ignore = ["fuzz"]


@pytest.fixture(scope="session")
def built_book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the reader's edition once, warnings as errors; return its HTML folder."""
    output = tmp_path_factory.mktemp("book")
    command = [
        *(Path(sys.executable).with_name("jupyter-book"), "build", ROOT),
        *("--path-output", output, "--warningiserror", "--keep-going", "--quiet"),
    ]
    built = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert built.returncode == 0, built.stdout[-5000:] + built.stderr[-5000:]
    return output / "_build" / "html"
