"""`Demo`: one declaration, alive in Jupyter and on the static page.

In Jupyter a demo is a widget: a control moves, Python computes, the picture changes. In
the built book there is no Python, so the demo carries **every frame, computed in
advance** by the same Python; the page's script (`book/_static/judgelab-demo.js`) only
looks the frame up. No formula and no drawing is written twice.

A new demo is one class::

    class PositionBias(Demo):
        name = "position-bias"  # the stable id on the page and in links
        title = "What one order hides"
        controls = (
            slider("k", "sharpness k", np.linspace(0, 5, 21), start=4, form=".2f"),
            slider("beta", "lean towards the first slot β", …),
            choice("rule", "verdict rule", {"one order": "single", …}, start="single"),
        )

        def compute(self, k, beta, rule):  # numbers, from the package
            return position_bias(k, beta, rule)

        def figures(self, numbers):  # the same numbers as texts: table, screen reader
            return [("consistent", f"{numbers.consistent:.0%}"), …]

        def view(self, numbers):  # the picture, from `judgelab.explore.svg`
            return svg.bars([Bar("consistent", numbers.consistent, …), …])

and a notebook cell that ends with ``PositionBias()``. Choose the grid with care: the
number of frames is the product over the controls, at most `MAX_FRAMES` (four sliders of
eleven values fit).
"""

from __future__ import annotations

import itertools
import json
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any, ClassVar

from judgelab.errors import ValidationError
from judgelab.estimate import Estimate
from judgelab.explore.frames import pack

MAX_FRAMES = 15_000
"""More would make a page slow to load and a cell slow to run."""

_BREAK = "\x1e"  # between the picture and the table of one frame

KEEP_KEYS = (
    "event.ctrlKey || event.altKey || event.metaKey || event.key === 'Enter' "
    "|| event.stopPropagation()"
)
"""The `onkeydown` of whatever has controls: JupyterLab takes keys for its commands
before a list can use them. An arrow leaves the cell, an "a" adds one, two "d" delete
it. Keys with Ctrl, Alt or Meta, and Enter, stay its own: saving and running go on."""


@dataclass(frozen=True)
class Control:
    """Something that the reader moves: a parameter, its values and how they read."""

    name: str
    label: str
    values: tuple[Any, ...]
    texts: tuple[str, ...]
    start: int
    kind: str


def slider(
    name: str, label: str, values: Iterable[float], *, start: float, form: str = "g"
) -> Control:
    """Declare a slider over a few values, shown in the format `form`.

    Examples
    --------
    >>> slider("beta", "bias β", [-1, 0, 1], start=0, form=".1f").texts
    ('−1.0', '0.0', '1.0')
    """
    numbers = tuple(round(float(value), 10) for value in values)
    texts = tuple(format(number, form).replace("-", "−") for number in numbers)
    return Control(name, label, numbers, texts, _position(start, numbers), "slider")


def choice(name: str, label: str, options: Mapping[str, Any], *, start: Any) -> Control:
    """Declare a drop-down list: what the reader sees, mapped to what Python gets.

    Examples
    --------
    >>> choice("turn", "turn", {"first": 1, "second": 2}, start=1).values
    (1, 2)
    """
    values = tuple(options.values())
    return Control(
        name, label, values, tuple(options), _position(start, values), "choice"
    )


def _position(start: Any, values: tuple[Any, ...]) -> int:
    if start not in values:
        raise ValidationError(f"start is {start!r}, which is not among {values}")
    return values.index(start)


class Demo(ABC):
    """A picture that answers when the reader moves something.

    Subclasses give `name`, `title`, `controls`, and the methods `compute`, `figures`
    and `view`; see the module's description. Showing an instance as the last line of a
    notebook cell is all that is needed.

    Raises
    ------
    ValidationError
        If the controls have more than `MAX_FRAMES` combinations.

    Notes
    -----
    Chapter: *Do two judges agree?*
    """

    name: ClassVar[str]
    title: ClassVar[str]
    controls: ClassVar[Sequence[Control]]

    def __init__(self) -> None:
        count = 1
        for control in self.controls:
            count *= len(control.values)
        if count > MAX_FRAMES:
            raise ValidationError(
                f"the controls of {self.name!r} have {count:,} combinations; "
                f"take coarser steps, at most {MAX_FRAMES:,} in all"
            )

    @abstractmethod
    def compute(self, **params: Any) -> Any:
        """Compute the numbers behind one frame."""

    @abstractmethod
    def figures(self, numbers: Any) -> list[tuple[str, str]]:
        """Put the numbers into words: (what it is, its figure), the main first."""

    @abstractmethod
    def view(self, numbers: Any) -> str:
        """Draw the numbers as SVG."""

    def frame(self, **params: Any) -> tuple[str, str]:
        """Return the picture and the text table for one setting, as HTML.

        The picture's label is what a screen reader says when a control has moved.
        """
        numbers = self.compute(**params)
        figures = self.figures(numbers)
        words = "; ".join(f"{what} {_spoken(figure)}" for what, figure in figures)
        rows = "".join(
            f'<tr><th scope="row">{escape(what)}</th><td>{escape(figure)}</td></tr>'
            for what, figure in figures
        )
        picture = (
            f'<div role="img" aria-label="{escape(words)}">{self.view(numbers)}</div>'
        )
        return picture, f"<table><tbody>{rows}</tbody></table>"

    def settings(self) -> Iterator[dict[str, Any]]:
        """Run through every setting, the last control fastest."""
        names = [control.name for control in self.controls]
        for values in itertools.product(*(control.values for control in self.controls)):
            yield dict(zip(names, values, strict=True))

    def start(self) -> dict[str, Any]:
        """Return the setting that the reader meets first."""
        return {
            control.name: control.values[control.start] for control in self.controls
        }

    def to_html(self) -> str:
        """Return the demo for a page without Python: controls and all frames."""
        picture, table = self.frame(**self.start())
        frames = pack(_BREAK.join(self.frame(**params)) for params in self.settings())
        id_ = f"demo-{self.name}"
        caption = ", ".join(f"{c.label}: {c.texts[c.start]}" for c in self.controls)
        spec = {
            "name": self.name,
            "controls": [[c.name, c.label, c.texts] for c in self.controls],
        }
        return (
            f'<div class="jl-demo" id="{id_}" role="group" '
            f'aria-labelledby="{id_}-title">'
            f'<p class="jl-title" id="{id_}-title">{escape(self.title)}</p>'
            f'<div class="jl-controls">{"".join(map(self._input, self.controls))}</div>'
            f'<div class="jl-picture">{picture}</div>'
            f'<p class="jl-caption">{escape(caption)}</p>'
            f"<details><summary>The figures as a table</summary>"
            f'<div class="jl-table">{table}</div></details>'
            '<p class="jl-said" aria-live="polite"></p>'
            '<p class="jl-buttons">'
            '<button type="button" class="jl-reset">Reset</button>'
            '<button type="button" class="jl-link">Copy link to these settings</button>'
            "</p>"
            f'<script type="application/json" class="jl-spec">{in_script(spec)}'
            f'</script><script type="text/plain" class="jl-frames">{frames}</script>'
            "</div>"
        )

    def _input(self, control: Control) -> str:
        id_ = f"demo-{self.name}-{control.name}"
        label = f'<label for="{id_}">{escape(control.label)}</label>'
        text = escape(control.texts[control.start])
        if control.kind == "slider":
            field = (
                f'<input type="range" id="{id_}" min="0" '
                f'max="{len(control.values) - 1}" '
                f'value="{control.start}" aria-valuetext="{text}" autocomplete="off">'
                f'<output for="{id_}">{text}</output>'
            )
        else:
            options = "".join(
                f'<option value="{i}"{" selected" * (i == control.start)}>'
                f"{escape(option)}</option>"
                for i, option in enumerate(control.texts)
            )
            field = f'<select id="{id_}" autocomplete="off">{options}</select>'
        return f'<div class="jl-control jl-{control.kind}">{label}{field}</div>'

    def widget(self) -> Any:
        """Return the demo as an ipywidget, computing as the reader moves it."""
        import ipywidgets

        view = ipywidgets.HTML()
        fields = {}
        for control in self.controls:
            options = list(zip(control.texts, control.values, strict=True))
            kind = (
                ipywidgets.SelectionSlider
                if control.kind == "slider"
                else ipywidgets.Dropdown
            )
            fields[control.name] = kind(
                options=options,
                value=control.values[control.start],
                description=control.label,
                style={"description_width": "14em"},
                layout={"width": "34em", "max_width": "100%"},
            )

        def show(_: object = None) -> None:
            picture, table = self.frame(**{n: f.value for n, f in fields.items()})
            view.value = (
                f"{picture}<details><summary>The figures as a table</summary>"
                f"{table}</details>"
            )

        for field in fields.values():
            field.observe(show, "value")
        show()
        heading = ipywidgets.HTML(f"<strong>{escape(self.title)}</strong>")
        return ipywidgets.VBox([heading, *fields.values(), view])

    def __repr__(self) -> str:
        return f"<demo {self.name!r}: {self.title}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return alive_or_page(self)


def alive_or_page(shown: Any) -> dict[str, Any]:
    """Show a widget where Python answers, and HTML where a page has none."""
    import ipywidgets

    # No setting of ipywidgets keeps keys, and scripts in its HTML do not run; but a
    # style sheet says when it has arrived on the page.
    loaded = f"this.closest('.jl-live').onkeydown = event => {KEEP_KEYS}"
    keys = ipywidgets.HTML(
        f'<style onload="{loaded}"></style>', layout={"display": "none"}
    )
    box = ipywidgets.VBox([keys, shown.widget()]).add_class("jl-live")
    view = "application/vnd.jupyter.widget-view+json"
    live = box._repr_mimebundle_()[view]
    return {"text/plain": repr(shown), "text/html": shown.to_html(), view: live}


def two_decimals(value: Estimate | float) -> str:
    """Write a value, with its interval if it has one, and a minus that is no hyphen.

    Examples
    --------
    >>> two_decimals(-0.5), two_decimals(Estimate(0.5, -0.1, 1.1, 20, "z"))
    ('−0.50', '0.50 [−0.10, 1.10]')
    """
    text = "undefined" if math.isnan(value) else f"{value:.2f}"
    return text.replace("-", "−")


def _spoken(figure: str) -> str:
    """Write a figure as it is said: no brackets, and a minus that is no dash."""
    figure = re.sub(r" \[(.+), (.+)\]", r", interval \1 to \2", figure)
    return figure.replace("−", "minus ")


def in_script(value: object) -> str:
    """Write JSON that cannot end the script element it stands in."""
    return json.dumps(value, ensure_ascii=False).replace("</", "<\\/")
