"""Solutions for instructors only, room for students, checks for readers."""

from __future__ import annotations

import html
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sphinx.search.en import SearchEnglish

from judgelab.teach import content, exercises

ROOT = Path(__file__).resolve().parent.parent
CHAPTERS = [chapter["name"] for chapter in content.load("chapters")]
WRITTEN = [name for name in CHAPTERS if (ROOT / f"notebooks/{name}.ipynb").exists()]
WORDS_IN_A_ROW = 8


def build(edition: str, output: Path, *options: str) -> Path:
    command = [
        *(Path(sys.executable).with_name("jupyter-book"), "build", ROOT),
        *("--path-output", output, "--warningiserror", "--keep-going", "--quiet"),
        *options,
    ]
    environment = os.environ | {"JUDGELAB_EDITION": edition}
    done = subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env=environment
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return output / "_build" / "html"


@pytest.fixture(scope="session")
def editions(
    built_book: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Path]:
    return {
        "reader": built_book,
        **{
            edition: build(edition, tmp_path_factory.mktemp(edition))
            for edition in ("student", "instructor")
        },
    }


def words(text: str) -> list[str]:
    """Bring HTML, Markdown, JSON and Python to plain words that can be compared."""
    text = html.unescape(re.sub(r"</?[a-zA-Z][^>]*>", " ", text)).replace("\\n", " ")
    return re.findall(r"\w+", text.lower())


def rows_of(text: str) -> set[tuple[str, ...]]:
    found = words(text)
    return set(zip(*(found[i:] for i in range(WORDS_IN_A_ROW)), strict=False))


def everything(book: Path) -> set[tuple[str, ...]]:
    rows: set[tuple[str, ...]] = set()
    for path in sorted(book.rglob("*")):
        third_party = "_static" in path.parts and not path.name.startswith("judgelab")
        if path.is_file() and not third_party:
            rows |= rows_of(path.read_bytes().decode("utf-8", "ignore"))
    return rows


def for_instructors() -> set[tuple[str, ...]]:
    """Rows of words of solutions, points, notes and guides that stand nowhere else."""
    hidden, shown = set(), set()
    for name in WRITTEN:
        hidden |= rows_of(content.load(f"exercises/{name}").get("notes", ""))
        for exercise in exercises.exercises(name):
            for text in (exercise["solution"], *exercise.get("points", ())):
                hidden |= rows_of(text)
            shown |= rows_of(exercise["statement"])
        for line in content.load(f"quizzes/{name}").get("takeaways", ()):
            shown |= rows_of(line)
        notebook = json.loads((ROOT / f"notebooks/{name}.ipynb").read_text("utf-8"))
        for cell in notebook["cells"]:
            shown |= rows_of("".join(cell["source"]))
    for question in content.load("exam"):
        hidden |= rows_of(question["guide"])
    return hidden - shown


@pytest.mark.parametrize("edition", ["reader", "student"])
def test_no_solution_is_anywhere(editions: dict[str, Path], edition: str) -> None:
    found = everything(editions[edition]) & for_instructors()
    assert not found, [" ".join(row) for row in sorted(found)[:5]]


def test_the_instructors_edition_has_them_all(editions: dict[str, Path]) -> None:
    missing = for_instructors() - everything(editions["instructor"])
    assert not missing, [" ".join(row) for row in sorted(missing)[:5]]


def downloads(book: Path) -> list[dict[str, Any]]:
    found = sorted(book.glob("_sources/**/*.ipynb"))
    assert len(found) >= len(WRITTEN) > 0
    return [json.loads(path.read_text(encoding="utf-8")) for path in found]


def test_every_edition_offers_its_notebooks(editions: dict[str, Path]) -> None:
    outputs = {
        edition: sum(
            len(cell.get("outputs", ()))
            for notebook in downloads(book)
            for cell in notebook["cells"]
        )
        for edition, book in editions.items()
    }
    assert outputs["student"] == 0
    assert outputs["reader"] == outputs["instructor"] > 0
    for name in WRITTEN:
        page = (editions["reader"] / f"notebooks/{name}.html").read_text("utf-8")
        assert f'href="../_sources/notebooks/{name}.ipynb"' in page


def test_the_instructors_notebooks_have_the_solutions(
    editions: dict[str, Path],
) -> None:
    cells = [
        "".join(cell["source"])
        for notebook in downloads(editions["instructor"])
        for cell in notebook["cells"]
    ]
    for name in WRITTEN:
        for exercise in exercises.exercises(name):
            assert f"**Solution**\n\n{exercise['solution']}" in cells


@pytest.mark.parametrize("name", WRITTEN)
def test_only_the_students_pages_leave_room(
    editions: dict[str, Path], name: str
) -> None:
    pages = {
        edition: (book / f"notebooks/{name}.html").read_text("utf-8")
        for edition, book in editions.items()
    }
    asked = len(exercises.exercises(name))
    assert pages["student"].count('class="jl-blank"') == asked
    assert "data-known" not in pages["student"]
    for edition in ("reader", "instructor"):
        assert 'class="jl-blank"' not in pages[edition]
        assert "data-known" in pages[edition]


def index(book: Path) -> set[str]:
    script = (book / "searchindex.js").read_text("utf-8")
    found = json.loads(script.removeprefix("Search.setIndex(").rstrip(";)\n"))
    return set(found["terms"]) | set(found["titleterms"])


@pytest.mark.parametrize("edition", ["reader", "student"])
def test_the_search_index_knows_no_word_of_a_solution(
    editions: dict[str, Path], edition: str
) -> None:
    stem = SearchEnglish({}).stem
    # Numbers are cut apart in other ways by the index, and say little.
    hidden = {stem(w) for row in for_instructors() for w in row if w.isalpha()}
    for page in editions[edition].rglob("*.html"):
        hidden -= {stem(word) for word in words(page.read_text("utf-8"))}
    assert hidden & index(editions["instructor"]), "no word to look for"
    assert not hidden & index(editions[edition])


def test_an_edition_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="teacher"):
        build("teacher", tmp_path)
