"""The repository itself: its layout, locked versions, style and import time."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOP_LEVEL = {
    *("book", "notebooks", "judgelab", "tests", "benchmarks", ".ci", ".gitignore"),
    *("_config.yml", "_toc.yml", "requirements.txt", "pyproject.toml", "Makefile"),
    *("README.md", "LICENSE", "CITATION.cff", "CHANGELOG.md", "CONTRIBUTING.md"),
}
SECONDS_TO_IMPORT = 0.25
HEAVY = {
    *("matplotlib", "ipywidgets", "IPython", "requests", "urllib3", "httpx"),
    *("http.client", "pandas", "scipy.stats", "yaml"),
}


def tracked() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("not a git checkout: the list of its files is unknown")
    return [Path(name) for name in listed.stdout.split("\0") if name]


def test_top_level() -> None:
    assert {path.parts[0] for path in tracked()} == TOP_LEVEL


def test_no_path_of_somebodys_machine() -> None:
    private = re.compile(r"(?<![\w.])/(?:home|root|tmp|work|mnt|Users)/\w")
    found = []
    for path in tracked():
        try:
            text = (ROOT / path).read_text(encoding="utf-8")
        except (UnicodeDecodeError, FileNotFoundError):
            continue
        found += [f"{path}: {match.group()}" for match in private.finditer(text)]
    assert not found


def test_import_is_quick_and_light() -> None:
    script = (
        "import sys, time; start = time.perf_counter(); import judgelab; "
        "seconds = time.perf_counter() - start; import json; "
        "print(json.dumps([seconds, sorted(sys.modules)]))"
    )
    times = []
    for _ in range(5):
        run = subprocess.run(
            [sys.executable, "-c", script], capture_output=True, check=True
        )
        seconds, modules = json.loads(run.stdout)
        times.append(seconds)
        assert not HEAVY & set(modules)
    assert min(times) <= SECONDS_TO_IMPORT


def locked() -> dict[str, str]:
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    pins = re.findall(r"^([\w.-]+)==([\w.]+)", text, re.MULTILINE)
    return {name.lower(): version for name, version in pins}


def test_lock_names_its_command_and_no_host() -> None:
    text = (ROOT / "requirements.txt").read_text(encoding="utf-8")
    assert "uv pip compile pyproject.toml --extra book --extra test" in text[:300]
    assert "://" not in text
    assert "index-url" not in text


def test_lock_is_complete_and_has_the_versions_that_work_together() -> None:
    pins = locked()
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    wanted = project["project"]["dependencies"] + extras["book"] + extras["test"]
    names = {re.match(r"[\w.-]+", line).group().lower() for line in wanted}
    assert names <= set(pins)
    # Other pairs of theme and base theme draw a second search bar or miss fonts.
    assert pins["sphinx-book-theme"] == "1.2.0"
    assert pins["pydata-sphinx-theme"] == "0.16.1"
    assert pins["jupyter-book"].startswith("1.0.")


@pytest.mark.parametrize(
    "command",
    [["ruff", "check"], ["ruff", "format", "--check"], ["mypy"]],
    ids=["lint", "format", "types"],
)
def test_style(command: list[str]) -> None:
    tool = Path(sys.executable).with_name(command[0])
    run = subprocess.run([tool, *command[1:]], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
