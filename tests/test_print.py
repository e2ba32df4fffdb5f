"""The book on paper: footnotes, demos as pictures with captions, and no solutions."""

# ruff: noqa: F811 (a fixture from another module is named again as an argument)

from __future__ import annotations

from pathlib import Path
from unicodedata import normalize

import pytest
from playwright.sync_api import Browser, Page
from pypdf import PdfReader
from test_browser import all_demos, browser, caption  # noqa: F401
from test_editions import ROOT, WRITTEN, build, for_instructors, rows_of, words

from judgelab.teach import exercises, terms

A_BOOK = range(50, 320)
# A4 without the margins of `@page`, in the pixels of a style sheet.
TEXT_WIDTH = round((210 - 2 * 16) / 25.4 * 96)
# What begins inside the text and ends outside it.
CUT = """() => [...document.querySelectorAll('.bd-article *')].filter(part => {
    const out = e => e.getBoundingClientRect().right > innerWidth + 1;
    return out(part) && !out(part.parentElement) && part.checkVisibility()
        && !part.closest('mjx-assistive-mml, .jl-unseen, .jl-said');
}).map(part => part.outerHTML.slice(0, 120))"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the reader's book on one page, as `make pdf` does."""
    output = tmp_path_factory.mktemp("print")
    build("reader", output, "--builder", "singlehtml")
    return output


@pytest.fixture(scope="module")
def book(browser: Browser, folder: Path) -> Page:
    """Open the book that is one page."""
    page = browser.new_page(viewport={"width": TEXT_WIDTH, "height": 1000})
    page.goto((folder / "_build" / "singlehtml" / "index.html").as_uri())
    page.wait_for_function("() => MathJax.startup.promise.then(() => true)")
    return page


@pytest.fixture(scope="module")
def pages(book: Page, folder: Path) -> list[str]:
    """Print the book; return the text of its pages."""
    book.pdf(path=folder / "book.pdf", prefer_css_page_size=True)
    sheets = PdfReader(folder / "book.pdf").pages
    # Type has ligatures: “ﬁrst” is a word of four signs.
    return [normalize("NFKC", sheet.extract_text()) for sheet in sheets]


def test_it_is_a_book_with_numbered_pages(pages: list[str]) -> None:
    assert len(pages) in A_BOOK
    for number, text in enumerate(pages, 1):
        assert str(number) in (text.splitlines()[0], text.splitlines()[-1])
        assert len(text.split()) > 10, f"page {number} is all but empty"


def test_nothing_is_cut_at_the_margin(book: Page) -> None:
    book.emulate_media(media="print")
    assert book.evaluate(CUT) == []


def together(pages: list[str]) -> str:
    return " ".join(words(" ".join(pages)))


def test_tips_are_footnotes(pages: list[str]) -> None:
    text = together(pages)
    for key in ("judge", "verdict", "kappa"):
        entry = terms.glossary()[key]
        start = " ".join(words(f"{entry['term']} {entry['means']}")[:8])
        assert start in text


def test_demos_are_pictures_with_their_settings(pages: list[str]) -> None:
    text = together(pages)
    for name in WRITTEN:
        notebook = (ROOT / f"notebooks/{name}.ipynb").read_text("utf-8")
        for id_, demo in all_demos().items():
            if f'id=\\"{id_}\\"' in notebook:
                settings = caption(demo, [c.start for c in demo.controls])
                assert " ".join(words(settings)) in text, id_


def test_nothing_waits_for_a_click(pages: list[str]) -> None:
    text = "\n".join(pages)
    for label in ("Show code cell", "Symbols in this equation", "Done so far"):
        assert label not in text


def test_what_leads_to_the_api_stays_on_the_screen(pages: list[str]) -> None:
    assert "Functions of this chapter" not in "\n".join(pages)


def test_the_exercises_are_there_and_no_solution_is(pages: list[str]) -> None:
    printed = rows_of(" ".join(pages))
    for name in WRITTEN:
        asked = [rows_of(e["statement"]) & printed for e in exercises.exercises(name)]
        assert all(asked), name
    assert not printed & for_instructors()
