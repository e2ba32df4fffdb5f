"""Every built page in a real browser: no other host, no error, readable by everyone."""

from __future__ import annotations

import importlib
import os
import pkgutil
import random
import shutil
from collections.abc import Iterator
from functools import cache
from inspect import isabstract
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import url2pathname

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

import judgelab.explore
from judgelab.explore.demo import Demo

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 900}
# `preload` would fetch the style sheets once more, which browsers refuse from file://.
# Of what holds, one example is enough: pages are large, and so are axe's reports.
WCAG = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"],
    "preload": False,
    "resultTypes": ["violations"],
}
TAP_TARGET = 44
FIRST_PAGE = 1_000_000  # bytes, with all that it loads
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


def skipped(page: Page) -> list[str]:
    """Headings that stand more than one level below the heading before them."""
    headings = page.eval_on_selector_all(
        ".bd-article :is(h1, h2, h3, h4, h5, h6)",
        "all => all.map(h => [Number(h.tagName[1]), h.textContent])",
    )
    steps = pairwise(headings)
    return [
        f"heading skips a level: {text}"
        for (above, _), (level, text) in steps
        if level > above + 1
    ]


# Most of a page is words of code and cells of tables in a few colours. Each combination
# of letters, size and ground is looked at once; what has a name or a role, always.
DROP_REPEATED = """() => {
    const seen = new Set(), clear = 'rgba(0, 0, 0, 0)', repeated = [];
    const parts = document.querySelectorAll('.bd-article :is(span, td, em, code)');
    for (const part of parts) {
        if (part.childElementCount || part.closest('svg, a, button, label')) continue;
        if ([...part.attributes].some(a => a.name !== 'class')) continue;
        const style = getComputedStyle(part);
        let ground = part;
        while (ground && getComputedStyle(ground).backgroundColor === clear)
            ground = ground.parentElement;
        const look = [
            style.color, style.fontSize, style.fontWeight, style.opacity,
            ground && getComputedStyle(ground).backgroundColor,
        ].join();
        if (seen.has(look)) repeated.push(part);
        seen.add(look);
    }
    for (const part of repeated)
        part.matches('td') ? part.replaceChildren() : part.remove();
}"""


def violations(page: Page) -> list[str]:
    """What axe finds; call it last, for it drops what has been seen before."""
    page.evaluate(DROP_REPEATED)
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
            found = [*visit.problems, *overflow(page), *twice(page), *skipped(page)]
            found += violations(page)
        if found:
            problems[str(path.relative_to(built_book))] = found
    assert not problems, "\n".join(
        f"{name}\n  " + "\n  ".join(found) for name, found in problems.items()
    )


@pytest.mark.parametrize("name", ["book/index", "notebooks/agreement"])
def test_the_keyboard_is_always_seen(
    browser: Browser, built_book: Path, name: str
) -> None:
    with Visit(browser, "light", DESKTOP) as visit:
        page = visit.open(built_book / f"{name}.html")
        for _ in range(60):
            page.keyboard.press("Tab")
            outline, width, what = page.evaluate(
                "() => { const e = document.activeElement; return ["
                "getComputedStyle(e).outlineStyle, e.getBoundingClientRect().width,"
                "e.outerHTML.slice(0, 200)]; }"
            )
            assert outline == "solid", what
            assert width > 0, what


def test_the_first_page_is_soon_there(browser: Browser, built_book: Path) -> None:
    with Visit(browser, "light", PHONE) as visit:
        asked: set[str] = set()
        visit.page.on("request", lambda request: asked.add(request.url))
        visit.open(built_book / "book" / "index.html")
    files = (Path(url2pathname(urlsplit(url).path)) for url in asked)
    assert sum(file.stat().st_size for file in files) < FIRST_PAGE


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


@cache
def demos_of_the_book(book: Path) -> dict[Path, list[Demo]]:
    """The demos of every page that has some."""
    known = all_demos()
    found = {}
    for path in pages(book):
        text = path.read_text(encoding="utf-8")
        here = [d for id_, d in known.items() if f'class="jl-demo" id="{id_}"' in text]
        if here:
            found[path] = here
    assert found, "no page has a demo"
    return found


def place_of(demo: Demo, positions: list[int]) -> int:
    """The number of the frame for one setting."""
    place = 0
    for control, position in zip(demo.controls, positions, strict=True):
        place = place * len(control.values) + position
    return place


def set_to(page: Page, demo: Demo, positions: list[int]) -> None:
    """Move the controls as a reader's browser does, and wait for the frame."""
    for control, position in zip(demo.controls, positions, strict=True):
        page.eval_on_selector(
            f"#demo-{demo.name}-{control.name}",
            "(e, v) => { e.value = v; e.dispatchEvent(new Event('input')); }",
            str(position),
        )
    place = place_of(demo, positions)
    page.wait_for_selector(f"#demo-{demo.name}[data-frame='{place}']")


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
    draw = random.Random(20230609)
    for path, demos in demos_of_the_book(built_book).items():
        with Visit(browser, "light", DESKTOP) as visit:
            page = visit.open(path)
            for demo in demos:
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
    for path, demos in demos_of_the_book(built_book).items():
        with Visit(browser, "light", DESKTOP) as visit:
            page = visit.open(path)
            for demo in demos:
                positions = [control.start for control in demo.controls]
                for i, control in enumerate(demo.controls):
                    key = "ArrowRight" if control.kind == "slider" else "ArrowDown"
                    page.focus(f"#demo-{demo.name}-{control.name}")
                    page.keyboard.press(key)
                    positions[i] = min(positions[i] + 1, len(control.values) - 1)
                # It speaks when the reader has stopped, and on a busy machine a
                # moment between two keys may be long enough for that.
                page.wait_for_selector(
                    f"#demo-{demo.name}[data-frame='{place_of(demo, positions)}']"
                )
                assert shows(page, demo, positions), demo.name
                page.wait_for_function(
                    "box => box.querySelector('.jl-said').textContent === "
                    "box.querySelector('[role=img]').getAttribute('aria-label')",
                    arg=page.query_selector(f"#demo-{demo.name}"),
                )
                for i, control in enumerate(demo.controls):
                    if control.kind == "slider":
                        field = page.locator(f"#demo-{demo.name}-{control.name}")
                        valuetext = field.get_attribute("aria-valuetext")
                        assert valuetext == control.texts[positions[i]]


def test_a_link_leads_to_its_settings(browser: Browser, built_book: Path) -> None:
    for path, demos in demos_of_the_book(built_book).items():
        with Visit(browser, "light", DESKTOP) as visit:
            page = visit.open(path)
            last = [[len(c.values) - 1 for c in demo.controls] for demo in demos]
            links = []
            for demo, positions in zip(demos, last, strict=True):
                set_to(page, demo, positions)
                page.click(f"#demo-{demo.name} .jl-link")
                links.append(page.evaluate("location.hash"))
            for demo, positions, fragment in zip(demos, last, links, strict=True):
                # Another fragment alone would not load the page anew.
                page.goto("about:blank")
                visit.open(path, fragment)
                page.wait_for_selector(f"#demo-{demo.name}[data-frame]")
                assert shows(page, demo, positions), demo.name


def test_demos_can_be_tapped(browser: Browser, built_book: Path) -> None:
    for path, demos in demos_of_the_book(built_book).items():
        with Visit(browser, "light", PHONE) as visit:
            page = visit.open(path)
            for demo in demos:
                heights = page.eval_on_selector_all(
                    f"#demo-{demo.name} :is(input, select, button, summary)",
                    "all => all.map(e => e.getBoundingClientRect().height)",
                )
                assert min(heights) >= TAP_TARGET, demo.name


def test_print_shows_the_settings_as_a_caption(
    browser: Browser, built_book: Path
) -> None:
    for path, demos in demos_of_the_book(built_book).items():
        with Visit(browser, "light", DESKTOP) as visit:
            page = visit.open(path)
            page.emulate_media(media="print")
            for demo in demos:
                box = page.locator(f"#demo-{demo.name}")
                assert box.locator(".jl-caption").is_visible()
                assert not box.locator(".jl-controls").is_visible()
                assert box.locator(".jl-caption").text_content() == caption(
                    demo, [control.start for control in demo.controls]
                )
