"""Terms, symbols, exercises and quizzes as a reader meets them on the page."""

# ruff: noqa: F811 (a fixture from another module is named again as an argument)

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from test_browser import DESKTOP, PHONE, Visit, browser  # noqa: F401

from judgelab.teach import content, exercises

CHAPTERS = [chapter["name"] for chapter in content.load("chapters")]


@pytest.fixture(scope="module", params=CHAPTERS)
def chapter(request: pytest.FixtureRequest, built_book: Path) -> Path:
    return built_book / f"notebooks/{request.param}.html"


@pytest.fixture(scope="module")
def visit(browser: Browser, chapter: Path) -> Iterator[Visit]:
    """A chapter, opened once for all tests that leave it as they found it."""
    with Visit(browser, "light", DESKTOP) as visit:
        ready(visit.open(chapter))
        yield visit


def open_tips(page: Page) -> list[str]:
    return page.locator(".jl-tip:popover-open").all_inner_texts()


def ready(page: Page) -> Page:
    page.wait_for_selector(".jl-symbol[role=button]", state="attached")
    return page


def test_every_tip_and_every_link_to_the_glossary_exists(
    visit: Visit, built_book: Path
) -> None:
    glossary = (built_book / "book/glossary.html").read_text("utf-8")
    words = visit.page.eval_on_selector_all(
        "a.jl-term",
        "all => all.map(a => [a.hash.slice(1), !!document.getElementById("
        "a.getAttribute('aria-describedby'))])",
    )
    assert len(words) > 20
    for anchor, has_tip in words:
        assert has_tip
        assert f'id="{anchor}"' in glossary


def test_a_term_answers_the_keyboard_the_mouse_and_escape(visit: Visit) -> None:
    page = visit.page
    first, second = (page.locator("a.jl-term").nth(i) for i in (0, 1))
    first.focus()
    (said,) = open_tips(page)
    assert (
        said == page.locator(f"#{first.get_attribute('aria-describedby')}").inner_text()
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
    visit: Visit, chapter: Path
) -> None:
    marked = len(re.findall(r"\\class\{jl-symbol ", chapter.read_text("utf-8")))
    said = visit.page.eval_on_selector_all(
        ".jl-symbol[role=button][tabindex='0']",
        """all => all.map(symbol => {
            symbol.focus();
            const tips = [...document.querySelectorAll('.jl-tip:popover-open')];
            return [symbol.getAttribute('aria-label'), tips.map(t => t.innerText)];
        })""",
    )
    assert len(said) == marked > 0
    for label, tips in said:
        assert label
        (tip,) = tips
        assert len(tip) > 10
    visit.page.keyboard.press("Escape")


ASK = """async ([number, answer]) => {
    const form = document.querySelector(`.jl-check[data-number='${number}']`);
    const said = form.querySelector('output'), box = form.querySelector('[type=text]');
    if (box) box.value = answer;
    else form.querySelector(`input[value='${answer}']`).checked = true;
    said.textContent = '';
    form.querySelector('button').click();
    while (!said.textContent) await new Promise(done => setTimeout(done));
    return said.innerText;
}"""


def ask(page: Page, exercise: dict[str, Any], answer: str) -> str:
    return " ".join(page.evaluate(ASK, [exercise["id"], answer]).split())


def before_formula(markdown: str) -> str:
    """The words up to the first formula, code or emphasis, as the page shows them."""
    return re.split(r"[$`*]", " ".join(markdown.split()))[0].strip()[:60]


def test_an_exercise_says_on_the_page_what_python_says(
    visit: Visit, chapter: Path
) -> None:
    checked = 0
    for exercise in exercises.exercises(chapter.stem):
        if exercises.kind(exercise) not in ("number", "choice"):
            continue
        for answer, feedback in dict(exercises.known_answers(exercise)).items():
            said = ask(visit.page, exercise, answer)
            assert said.startswith(before_formula(feedback.sentence)), answer
            checked += 1
        if exercises.kind(exercise) == "number":
            said = ask(visit.page, exercise, "7919,5")
            assert said.startswith("✗ Not yet.")
            assert ask(visit.page, exercise, "many") == "Type a number."
    assert not visit.problems
    assert checked > 10


def test_print_has_footnotes_and_open_tables_and_nothing_to_press(
    visit: Visit,
) -> None:
    page = visit.page
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
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.emulate_media(media="screen")


@pytest.mark.parametrize("typed", [" 0,60 ", ".6", "60 %", "60%", "0.5999", "κ = .60"])
def test_numbers_are_read_as_people_write_them(
    browser: Browser, built_book: Path, typed: str
) -> None:
    with Visit(browser, "light", DESKTOP) as visit:
        page = visit.open(built_book / "notebooks/agreement.html")
        form = page.locator(".jl-check:has(input[data-decimals='2'])").first
        exercise = exercises.find(str(form.get_attribute("data-number")))
        plain = ask(page, exercise, "0.60")
        form.locator("output").evaluate("said => said.textContent = ''")
        # As a reader does it: type, and press the button.
        form.locator("input").fill(typed)
        form.locator("button").click()
        page.wait_for_function(
            "e => e.textContent", arg=form.locator("output").element_handle()
        )
        assert " ".join(form.locator("output").inner_text().split()) == plain


def test_progress_is_kept_shown_and_reset(browser: Browser, chapter: Path) -> None:
    with Visit(browser, "light", DESKTOP) as visit:
        page = visit.open(chapter)
        line, reset = page.locator(".jl-progress"), page.locator(".jl-progress button")
        # Opening every option, as `visit.open` does, counts as answering.
        page.wait_for_timeout(200)
        reset.click()
        assert line.inner_text().startswith("Done so far: 0 of ")
        for _ in range(3):
            page.locator(".jl-question [data-right='1'] summary").first.click()
            page.wait_for_function(
                "line => line.innerText.includes(': 1 of')", arg=line.element_handle()
            )
            page.reload()
            # Chromium itself loses what was stored at the very moment of a reload, on a
            # busy machine once in some seventy times: then even the key is not there.
            if page.evaluate("localStorage.getItem('judgelab-progress')") is not None:
                break
        assert line.inner_text().startswith("Done so far: 1 of ")
        box = page.locator(".jl-check input[type=text]").first
        box.fill("7919")
        page.keyboard.press("Enter")
        said = page.locator(".jl-check:has(input[type=text]) output").first
        page.wait_for_function("e => e.textContent", arg=said.element_handle())
        page.locator(".jl-question summary").first.click()
        reset.focus()
        page.keyboard.press("Enter")
        assert line.inner_text().startswith("Done so far: 0 of ")
        assert box.input_value() == said.inner_text() == ""
        assert page.locator(".jl-question details[open]").count() == 0
        # Who works with the keyboard goes on from where the button is.
        assert reset.evaluate("button => button === document.activeElement")


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
