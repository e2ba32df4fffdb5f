"""Every built page in a real browser: no other host, no error, readable by everyone."""

from __future__ import annotations

import importlib
import os
import pkgutil
import random
import shutil
from collections.abc import Iterator
from inspect import isabstract
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

import judgelab.explore
from judgelab.explore.demo import Demo

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}
# `preload` would fetch the style sheets once more, which browsers refuse from file://.
WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], "preload": False}
TAP_TARGET = 44
MISSING = (
    "Chromium was not found. Install it (Debian, Ubuntu: apt-get install chromium) or "
    "name it: CHROMIUM=/path/to/chromium make test"
)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    names = ("chromium", "chromium-browser", "google-chrome")
    path = os.environ.get("CHROMIUM") or next(
        filter(None, map(shutil.which, names)), ""
    )
    if not path:
        # On a reader's machine this is no failure; unnoticed in CI it would be one.
        (pytest.fail if os.environ.get("CI") else pytest.skip)(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path)
        yield browser
        browser.close()


class Visit:
    """One page, open in a browser that can reach nothing but the book's own files."""

    def __init__(self, browser: Browser, scheme: str, size: dict[str, int]) -> None:
        self.problems: list[str] = []
        self.context = browser.new_context(color_scheme=scheme, viewport=size)
        self.context.route("**/*", self._refuse_other_hosts)
        self.page: Page = self.context.new_page()
        self.page.on("console", self._heard)
        self.page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        self.page.on(
            "requestfailed",
            lambda request: self.problems.append(f"not found: {request.url}"),
        )

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()

    def open(self, path: Path, fragment: str = "") -> Page:
        self.page.goto(path.as_uri() + fragment)
        self.page.wait_for_function(
            "() => !window.MathJax?.startup || MathJax.startup.promise.then(() => true)"
        )
        self.page.evaluate(
            "document.querySelectorAll('details').forEach(d => d.open = true)"
        )
        # What was hidden fades in, and is judged when it stands.
        self.page.evaluate(
            "() => Promise.all(document.getAnimations().map(a => a.finished))"
        )
        # What the page's scripts do once the formulas stand takes effect with a frame.
        self.page.evaluate(
            "() => new Promise(done => requestAnimationFrame("
            "() => requestAnimationFrame(done)))"
        )
        return self.page

    def _refuse_other_hosts(self, route: Any) -> None:
        if route.request.url.startswith(("file:", "data:", "blob:")):
            route.continue_()
        else:
            self.problems.append(f"asks another host: {route.request.url}")
            route.abort()

    def _heard(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"console: {message.text}")


def pages(book: Path) -> list[Path]:
    """All pages but the one at the top, which only leads to the first."""
    found = [
        page for page in sorted(book.rglob("*.html")) if "_static" not in page.parts
    ]
    return [page for page in found if page != book / "index.html"]


def overflow(page: Page) -> list[str]:
    wider = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    return [f"{wider} px wider than the window"] if wider > 0 else []


def twice(page: Page) -> list[str]:
    """Ids that stand twice, which links and labels cannot tell apart."""
    ids = page.evaluate(
        "[...document.querySelectorAll('.bd-article [id]')].map(e => e.id)"
        ".filter(id => !id.startsWith('MJX-'))"
    )
    return [f"id twice: {id_}" for id_ in sorted(set(ids)) if ids.count(id_) > 1]


def violations(page: Page) -> list[str]:
    found = Axe().run(page, options=WCAG).response["violations"]
    return [
        f"{rule['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for rule in found
        for node in rule["nodes"]
    ]


@pytest.mark.parametrize(
    ("scheme", "size"),
    [("light", DESKTOP), ("dark", PHONE)],
    ids=["light-desktop", "dark-phone"],
)
def test_every_page(
    browser: Browser, built_book: Path, scheme: str, size: dict[str, int]
) -> None:
    problems = {}
    for path in pages(built_book):
        with Visit(browser, scheme, size) as visit:
            page = visit.open(path)
            found = [*visit.problems, *overflow(page), *twice(page), *violations(page)]
        if found:
            problems[str(path.relative_to(built_book))] = found
    assert not problems, "\n".join(
        f"{name}\n  " + "\n  ".join(found) for name, found in problems.items()
    )


def all_demos() -> dict[str, Demo]:
    """Every demo of the package by the id that it has on a page."""
    for module in pkgutil.iter_modules(judgelab.explore.__path__, "judgelab.explore."):
        importlib.import_module(module.name)
    waiting, found = [Demo], {}
    while waiting:
        for kind in waiting.pop().__subclasses__():
            waiting.append(kind)
            if kind.__module__.startswith("judgelab.") and not isabstract(kind):
                found[f"demo-{kind.name}"] = kind()
    return found


def demos_of_the_book(book: Path) -> list[tuple[Path, Demo]]:
    known = all_demos()
    return [
        (path, demo)
        for path in pages(book)
        for id_, demo in known.items()
        if f'class="jl-demo" id="{id_}"' in path.read_text(encoding="utf-8")
    ]


def set_to(page: Page, demo: Demo, positions: list[int]) -> None:
    """Move the controls as a reader's browser does, and wait for the frame."""
    index = 0
    for control, position in zip(demo.controls, positions, strict=True):
        index = index * len(control.values) + position
        page.eval_on_selector(
            f"#demo-{demo.name}-{control.name}",
            "(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }",
            str(position),
        )
    page.wait_for_selector(f"#demo-{demo.name}[data-frame='{index}']")


def shows(page: Page, demo: Demo, positions: list[int]) -> bool:
    """Compare what the page shows with what Python computes for the same settings."""
    params = {
        control.name: control.values[position]
        for control, position in zip(demo.controls, positions, strict=True)
    }
    return page.eval_on_selector(
        f"#demo-{demo.name}",
        """(box, frame) => ['.jl-picture', '.jl-table'].every((part, i) => {
            const expected = document.createElement('div');
            expected.innerHTML = frame[i];
            return expected.innerHTML === box.querySelector(part).innerHTML;
        })""",
        list(demo.frame(**params)),
    )


def test_demos_show_what_python_computes(browser: Browser, built_book: Path) -> None:
    found = demos_of_the_book(built_book)
    assert found, "no page has a demo"
    draw = random.Random(20230609)
    for path, demo in found:
        with Visit(browser, "light", DESKTOP) as visit:
            page = visit.open(path)
            start = [control.start for control in demo.controls]
            assert shows(page, demo, start), f"{demo.name} at the start"
            for _ in range(12):
                positions = [draw.randrange(len(c.values)) for c in demo.controls]
                set_to(page, demo, positions)
                assert shows(page, demo, positions), (demo.name, positions)
            page.click(f"#demo-{demo.name} .jl-reset")
            page.wait_for_function(
                "([id, text]) => document.querySelector(id).textContent === text",
                arg=[f"#demo-{demo.name} .jl-caption", caption(demo, start)],
            )
            assert shows(page, demo, start), f"{demo.name} after reset"
            assert not visit.problems


def caption(demo: Demo, positions: list[int]) -> str:
    return ", ".join(
        f"{control.label}: {control.texts[position]}"
        for control, position in zip(demo.controls, positions, strict=True)
    )


def test_demos_answer_the_keyboard_and_say_so(
    browser: Browser, built_book: Path
) -> None:
    for path, demo in demos_of_the_book(built_book):
        with Visit(browser, "light", DESKTOP) as visit:
            page = visit.open(path)
            box = page.locator(f"#demo-{demo.name}")
            positions = [control.start for control in demo.controls]
            for i, control in enumerate(demo.controls):
                key = "ArrowRight" if control.kind == "slider" else "ArrowDown"
                page.focus(f"#demo-{demo.name}-{control.name}")
                page.keyboard.press(key)
                positions[i] = min(positions[i] + 1, len(control.values) - 1)
            page.wait_for_function(
                "id => document.querySelector(`${id} .jl-said`).textContent",
                arg=f"#demo-{demo.name}",
            )
            assert shows(page, demo, positions), demo.name
            said = box.locator(".jl-said").text_content()
            assert said == box.locator("[role=img]").get_attribute("aria-label")
            for i, control in enumerate(demo.controls):
                if control.kind == "slider":
                    field = page.locator(f"#demo-{demo.name}-{control.name}")
                    valuetext = field.get_attribute("aria-valuetext")
                    assert valuetext == control.texts[positions[i]]


def test_a_link_leads_to_its_settings(browser: Browser, built_book: Path) -> None:
    for path, demo in demos_of_the_book(built_book):
        last = [len(control.values) - 1 for control in demo.controls]
        with Visit(browser, "light", DESKTOP) as visit:
            page = visit.open(path)
            set_to(page, demo, last)
            page.click(f"#demo-{demo.name} .jl-link")
            fragment = page.evaluate("location.hash")
        with Visit(browser, "light", DESKTOP) as visit:
            page = visit.open(path, fragment)
            page.wait_for_selector(f"#demo-{demo.name}[data-frame]")
            assert shows(page, demo, last), demo.name


def test_demos_can_be_tapped(browser: Browser, built_book: Path) -> None:
    for path, demo in demos_of_the_book(built_book):
        with Visit(browser, "light", PHONE) as visit:
            heights = visit.open(path).eval_on_selector_all(
                f"#demo-{demo.name} :is(input, select, button, summary)",
                "all => all.map(e => e.getBoundingClientRect().height)",
            )
        assert min(heights) >= TAP_TARGET, demo.name


def test_print_shows_the_settings_as_a_caption(
    browser: Browser, built_book: Path
) -> None:
    for path, demo in demos_of_the_book(built_book):
        with Visit(browser, "light", DESKTOP) as visit:
            page = visit.open(path)
            page.emulate_media(media="print")
            box = page.locator(f"#demo-{demo.name}")
            assert box.locator(".jl-caption").is_visible()
            assert not box.locator(".jl-controls").is_visible()
            assert box.locator(".jl-caption").text_content() == caption(
                demo, [control.start for control in demo.controls]
            )
