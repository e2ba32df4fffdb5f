"""Every page by ear and by keyboard: what is announced, and where Tab goes."""

# ruff: noqa: F811 (a fixture from another module is named again as an argument)

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page
from test_browser import DESKTOP, PHONE, Visit, browser, pages  # noqa: F401

OPERATED = {
    *("button", "link", "slider", "textbox", "searchbox", "combobox", "radio"),
    *("DisclosureTriangle", "DisclosureTriangleGrouped"),
}
# Where the focus is: can it be seen, and is anything in front of it?
FOCUS = """() => {
    const at = document.activeElement;
    if (at === document.body) return null;
    const box = at.getClientRects()[0], style = getComputedStyle(at);
    const x = box.left + box.width / 2, y = box.top + box.height / 2;
    const front = document.elementFromPoint(x, y);
    const tip = front?.closest('.jl-tip');
    return {
        what: at.outerHTML.slice(0, 120),
        marked: style.outlineStyle !== 'none' || style.boxShadow !== 'none',
        seen: !!front && (at.contains(front) || front.contains(at) || !!tip),
        explained: !at.matches('[aria-describedby^=tip-]') ||
            document.querySelectorAll('.jl-tip:popover-open').length === 1,
    };
}"""


def announced(page: Page) -> list[dict[str, Any]]:
    """Return what a screen reader is given, in its order."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    by_id = {node["nodeId"]: node for node in nodes}
    found, waiting = [], [nodes[0]["nodeId"]]
    while waiting:
        node = by_id[waiting.pop()]
        waiting += reversed([i for i in node.get("childIds", ()) if i in by_id])
        if not node.get("ignored"):
            found.append(
                {
                    part: node.get(part, {}).get("value", "")
                    for part in ("role", "name", "description")
                }
            )
    return found


def test_everything_that_can_be_operated_has_a_name(
    browser: Browser, built_book: Path
) -> None:
    for path in pages(built_book):
        with Visit(browser, "light", DESKTOP) as visit:
            for node in announced(visit.open(path)):
                named = node["name"].strip() or node["role"] not in OPERATED
                assert named, (path.name, node)


def test_no_link_stands_in_a_link(browser: Browser, built_book: Path) -> None:
    for path in pages(built_book):
        with Visit(browser, "light", DESKTOP) as visit:
            empty = visit.open(path).eval_on_selector_all(
                ".bd-article a:not(.headerlink)",
                "all => all.filter(a => !a.textContent.trim()).map(a => a.href)",
            )
        assert not empty, path.name


@pytest.fixture
def chapter(built_book: Path) -> Path:
    return built_book / "notebooks/agreement.html"


def test_a_chapter_reads_in_order(browser: Browser, chapter: Path) -> None:
    with Visit(browser, "light", DESKTOP) as visit:
        page = visit.open(chapter)
        page.wait_for_selector(".jl-symbol[role=button]", state="attached")
        heard = announced(page)
    roles = [node["role"] for node in heard]
    names = [node["name"] for node in heard]
    tips = [node["description"] for node in heard if node["role"] == "link"]
    # The number of a footnote says nothing to somebody who hears the footnote.
    assert "judge Whoever says which answer is better" in " ".join(tips)
    assert not any(tip[:1].isdigit() for tip in tips if not tip.startswith("95 %"))
    # The equation first, then what its symbols mean.
    symbols = names.index("Symbols of the equation")
    assert "MathMLMath" in roles[symbols - 40 : symbols]
    assert {"Python", "Result"} <= set(names)
    assert ("rowheader", "judge: A") in zip(roles, names, strict=True)
    answers = [n for n in names if n.startswith("Your answer to exercise ")]
    assert len(set(answers)) == len(answers) > 4
    assert not any("▸" in name for name in names if name != "▸ ")


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("name", ["book/index", "notebooks/agreement"])
def test_the_tab_key_goes_everywhere_and_is_seen(
    browser: Browser, built_book: Path, name: str, size: dict[str, int]
) -> None:
    context = browser.new_context(viewport=size, reduced_motion="reduce")
    page = context.new_page()
    page.goto((built_book / f"{name}.html").as_uri())
    page.wait_for_function(
        "() => !window.MathJax?.startup || MathJax.startup.promise.then(() => true)"
    )
    stops = []
    while True:
        page.keyboard.press("Tab")
        stop = page.evaluate(FOCUS)
        if stop is None:
            break
        stops.append(stop)
    context.close()
    assert len(stops) > 15
    for stop in stops:
        assert stop["marked"], stop["what"]
        assert stop["seen"], stop["what"]
        assert stop["explained"], stop["what"]


def test_escape_leads_back_from_the_table_of_contents(
    browser: Browser, chapter: Path
) -> None:
    with Visit(browser, "light", PHONE) as visit:
        page = visit.open(chapter)
        button = page.locator(".primary-toggle").first
        button.focus()
        page.keyboard.press("Enter")
        page.wait_for_selector("#pst-primary-sidebar-modal[open]")
        page.keyboard.press("Escape")
        page.wait_for_selector("#pst-primary-sidebar-modal[open]", state="detached")
        page.wait_for_function(
            "() => document.activeElement.matches('.primary-toggle')"
        )


def test_a_switch_of_colours_is_announced(browser: Browser, chapter: Path) -> None:
    with Visit(browser, "light", DESKTOP) as visit:
        page = visit.open(chapter)
        button = page.locator(".theme-switch-button").first
        said = set()
        for _ in range(3):
            button.focus()
            page.keyboard.press("Enter")
            page.wait_for_timeout(50)
            said.add(button.get_attribute("aria-label"))
    assert said == {"Colours: light", "Colours: dark", "Colours: as on this device"}


def test_a_slider_says_its_value_once(browser: Browser, chapter: Path) -> None:
    with Visit(browser, "light", DESKTOP) as visit:
        heard = announced(visit.open(chapter))
    sliders = [i for i, node in enumerate(heard) if node["role"] == "slider"]
    assert sliders
    assert not any(heard[i + 1]["role"] == "status" for i in sliders)
