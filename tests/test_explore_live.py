"""Demos inside JupyterLab, which hears every key that a control lets through."""

# ruff: noqa: F811 (a fixture from another module is named again as an argument)

from __future__ import annotations

from collections.abc import Iterator

import ipywidgets
import pytest
from playwright.sync_api import Browser, Page
from test_browser import browser  # noqa: F401

from judgelab.explore.demo import alive_or_page
from judgelab.explore.mt_bench import JudgeKinds

VIEW = "application/vnd.jupyter.widget-view+json"
# As ipywidgets does it: filled first, put on the page then.
SHOW = """([name, html]) => {
  const [box, hidden] = [0, 1].map(() => document.createElement('div'));
  box.className = name;
  hidden.style.display = 'none';
  hidden.innerHTML = html;
  box.append(hidden, document.querySelector('main'));
  document.body.append(box);
}"""
# JupyterLab listens above the demo.
LISTEN = "document.addEventListener('keydown', event => window.heard.push(event.key))"
CONTROLS = """<main>
  <select><option>one<option>two<option>three</select>
  <input type=range max=5 value=2>
  <input type=radio name=r id=yes checked><input type=radio name=r id=no>
  <input type=checkbox><button onclick="window.pressed = 1">go</button>
</main>"""


class Anything:
    """Something that can be shown."""

    def widget(self) -> ipywidgets.Widget:
        return ipywidgets.Dropdown(options=["one", "two", "three"])

    def to_html(self) -> str:
        return "<p>a page</p>"


def shown() -> ipywidgets.VBox:
    """The widget that a notebook shows."""
    made: list[ipywidgets.Widget] = []
    ipywidgets.Widget.on_widget_constructed(made.append)
    live = alive_or_page(Anything())[VIEW]
    ipywidgets.Widget.on_widget_constructed(None)
    return next(each for each in made if each.model_id == live["model_id"])


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.set_content(CONTROLS)
    box = shown()
    page.evaluate(LISTEN)
    page.evaluate(SHOW, [" ".join(box._dom_classes), box.children[0].value])
    page.wait_for_function("!!document.querySelector('main').parentNode.onkeydown")
    yield page
    page.close()


def pressed(page: Page, control: str, *keys: str) -> list[str]:
    """What is heard above the demo when keys are pressed on one of its controls."""
    page.evaluate("window.heard = []")
    page.locator(control).focus()
    for key in keys:
        page.keyboard.press(key)
    return page.evaluate("window.heard")


def test_keys_move_the_control_and_do_not_reach_jupyterlab(page: Page) -> None:
    assert pressed(page, "select", "ArrowDown") == []
    assert page.locator("select").input_value() == "two"
    assert pressed(page, "select", "o") == []
    assert page.locator("select").input_value() == "one"
    assert pressed(page, "[type=range]", "ArrowRight", "d", "d") == []
    assert page.locator("[type=range]").input_value() == "3"
    assert pressed(page, "#yes", "ArrowDown") == []
    assert page.locator("#no").is_checked()
    assert pressed(page, "[type=checkbox]", "Space", "Shift+M") == []
    assert page.locator("[type=checkbox]").is_checked()
    assert pressed(page, "button", "Space") == []
    assert page.evaluate("window.pressed") == 1


def test_saving_and_running_are_still_jupyterlabs(page: Page) -> None:
    heard = pressed(page, "select", "Control+s", "Shift+Enter")
    assert heard == ["Control", "s", "Enter"]


def test_a_diagram_is_walked_with_the_arrows(browser: Browser) -> None:
    page = browser.new_page()
    page.set_content(JudgeKinds()._repr_html_())
    page.evaluate(LISTEN)
    assert pressed(page, "#jl-kind-0", "ArrowDown", "a") == []
    assert page.locator("#jl-kind-1").is_checked()
    assert page.locator("#jl-kind-1-note").is_visible()
    page.close()
