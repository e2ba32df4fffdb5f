"""Terms, symbols, exercises and quizzes as a reader meets them on the page."""

# ruff: noqa: F811 (a fixture from another module is named again as an argument)

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from test_browser import DESKTOP, PHONE, Visit, browser  # noqa: F401

from judgelab.teach import content, exercises

CHAPTERS = [chapter["name"] for chapter in content.load("chapters")]


@pytest.fixture(params=CHAPTERS)
def chapter(request: pytest.FixtureRequest, built_book: Path) -> Path:
    return built_book / f"notebooks/{request.param}.html"


def open_tips(page: Page) -> list[str]:
    return page.locator(".jl-tip:popover-open").all_inner_texts()


def ready(page: Page) -> Page:
    page.wait_for_selector(".jl-symbol[role=button]", state="attached")
    return page


def test_every_tip_and_every_link_to_the_glossary_exists(
    browser: Browser, built_book: Path, chapter: Path
) -> None:
    glossary = (built_book / "book/glossary.html").read_text("utf-8")
    with Visit(browser, "light", DESKTOP) as visit:
        page = visit.open(chapter)
        words = page.eval_on_selector_all(
            "a.jl-term",
            "all => all.map(a => [a.hash.slice(1), !!document.getElementById("
            "a.getAttribute('aria-describedby'))])",
        )
    assert len(words) > 20
    for anchor, has_tip in words:
        assert has_tip
        assert f'id="{anchor}"' in glossary


def test_a_term_answers_the_keyboard_the_mouse_and_escape(
    browser: Browser, chapter: Path
) -> None:
    with Visit(browser, "light", DESKTOP) as visit:
        page = visit.open(chapter)
        first, second = (page.locator("a.jl-term").nth(i) for i in (0, 1))
        first.focus()
        (said,) = open_tips(page)
        assert (
            said
            == page.locator(f"#{first.get_attribute('aria-describedby')}").inner_text()
        )
        page.keyboard.press("Escape")
        assert open_tips(page) == []
        second.hover()
        assert len(open_tips(page)) == 1
        page.mouse.move(0, 0)
        first.blur()
        page.wait_for_function("() => !document.querySelector('.jl-tip:popover-open')")
        assert not visit.problems


def test_a_finger_gets_the_explanation_and_stays(
    browser: Browser, chapter: Path
) -> None:
    context = browser.new_context(viewport=PHONE, has_touch=True)
    page = context.new_page()
    page.goto(chapter.as_uri())
    ready(page)
    for word in (page.locator("a.jl-term").first, page.locator(".jl-symbol").first):
        word.tap()
        page.wait_for_selector(".jl-tip:popover-open")
        page.wait_for_timeout(300)
        assert len(open_tips(page)) == 1
        box = page.locator(".jl-tip:popover-open").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= PHONE["width"]
    page.locator(".bd-article h1").tap()
    page.wait_for_function("() => !document.querySelector('.jl-tip:popover-open')")
    assert page.url == chapter.as_uri()
    context.close()


def test_every_symbol_can_be_reached_and_says_its_name(
    browser: Browser, chapter: Path
) -> None:
    marked = len(re.findall(r"\\class\{jl-symbol ", chapter.read_text("utf-8")))
    with Visit(browser, "light", DESKTOP) as visit:
        page = ready(visit.open(chapter))
        symbols = page.locator(".jl-symbol[role=button][tabindex='0']")
        assert symbols.count() == marked > 0
        for i in range(symbols.count()):
            symbol = symbols.nth(i)
            symbol.focus()
            (said,) = open_tips(page)
            assert len(said) > 10
            assert symbol.get_attribute("aria-label")


def ask(page: Page, exercise: dict[str, Any], answer: str) -> str:
    form = page.locator(f".jl-check[data-number='{exercise['id']}']")
    if exercises.kind(exercise) == "choice":
        form.locator(f"input[value='{answer}']").check()
    else:
        form.locator("input").fill(answer)
    form.locator("output").evaluate("said => said.textContent = ''")
    form.locator("button").click()
    page.wait_for_function(
        "e => e.textContent", arg=form.locator("output").element_handle()
    )
    return form.locator("output").inner_text()


def before_formula(markdown: str) -> str:
    """The words up to the first formula, code or emphasis, as the page shows them."""
    return re.split(r"[$`*]", " ".join(markdown.split()))[0].strip()[:60]


def test_an_exercise_says_on_the_page_what_python_says(
    browser: Browser, chapter: Path
) -> None:
    checked = 0
    with Visit(browser, "light", DESKTOP) as visit:
        page = visit.open(chapter)
        for exercise in exercises.exercises(chapter.stem):
            if exercises.kind(exercise) not in ("number", "choice"):
                continue
            for answer, feedback in dict(exercises.known_answers(exercise)).items():
                said = " ".join(ask(page, exercise, answer).split())
                assert said.startswith(before_formula(feedback.sentence)), answer
                checked += 1
            if exercises.kind(exercise) == "number":
                said = ask(page, exercise, "7919,5")
                assert said.startswith("✗ Not yet.")
                assert ask(page, exercise, "many") == "Type a number."
        assert not visit.problems
    assert checked > 10


@pytest.mark.parametrize("typed", [" 0,60 ", ".6", "60 %", "60%", "0.5999", "κ = .60"])
def test_numbers_are_read_as_people_write_them(
    browser: Browser, built_book: Path, typed: str
) -> None:
    with Visit(browser, "light", DESKTOP) as visit:
        page = visit.open(built_book / "notebooks/agreement.html")
        form = page.locator(".jl-check:has(input[data-decimals='2'])").first
        number = form.get_attribute("data-number")
        exercise = exercises.find(str(number))
        assert ask(page, exercise, typed) == ask(page, exercise, "0.60")


def test_progress_is_kept_shown_and_reset(browser: Browser, chapter: Path) -> None:
    with Visit(browser, "light", DESKTOP) as visit:
        page = visit.open(chapter)
        # Opening every option, as `visit.open` does, counts as answering.
        page.evaluate(
            "document.querySelectorAll('details').forEach(d => d.open = false)"
        )
        page.wait_for_timeout(200)
        line = page.locator(".jl-progress")
        if line.locator("button").is_visible():
            line.locator("button").click()
        assert line.inner_text().startswith("Done so far: 0 of ")
        page.locator(".jl-question [data-right='1'] summary").first.click()
        page.wait_for_function(
            "() => document.querySelector('.jl-progress').innerText.includes(': 1 of')"
        )
        page.reload()
        # A busy machine shows the page before its script has read what was kept.
        page.wait_for_function(
            "() => document.querySelector('.jl-progress').innerText.includes(': 1 of')"
        )
        page.locator(".jl-progress button").click()
        assert line.inner_text().startswith("Done so far: 0 of ")


def test_a_quiz_answers_without_any_script(browser: Browser, chapter: Path) -> None:
    context = browser.new_context(viewport=PHONE, java_script_enabled=False)
    page = context.new_page()
    page.goto(chapter.as_uri())
    for option in page.locator(".jl-question details").all():
        feedback = option.locator("p")
        assert not feedback.is_visible()
        option.locator("summary").click()
        assert feedback.is_visible()
        assert feedback.inner_text().startswith(("✓ Right.", "✗ Not quite."))
    context.close()


def test_print_has_footnotes_and_open_tables_and_nothing_to_press(
    browser: Browser, chapter: Path
) -> None:
    with Visit(browser, "light", DESKTOP) as visit:
        page = visit.open(chapter)
        page.emulate_media(media="print")
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        notes = page.locator(".jl-notes .jl-tip")
        assert all(note.is_visible() for note in notes.all())
        assert all(t.is_visible() for t in page.locator(".jl-symbols table").all())
        assert not any(f.is_visible() for f in page.locator(".jl-check").all())
        numbers = page.eval_on_selector_all(
            "a.jl-term", "all => all.map(a => a.dataset.note)"
        )
        assert {int(n) for n in numbers} == set(range(1, notes.count() + 1))
