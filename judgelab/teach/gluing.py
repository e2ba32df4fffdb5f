"""Numbers in the prose that come from the code: a cell records, a tool fills in.

A hidden cell calls ``teach.glue(kappa=kappa)``; the text says
``<span data-glue="kappa:.2f"></span>``; `judgelab.teach.refresh` fills the span.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from judgelab.errors import ValidationError
from judgelab.estimate import Estimate
from judgelab.teach.content import chapter

MIME = "application/vnd.judgelab.glue+json"
SPAN = re.compile(
    r'<span data-glue="(?P<name>[\w.]+)(?::(?P<spec>[^"]*))?">(?P<text>[^<]*)</span>'
)
NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
_DIGITS = 6  # the last bits may differ from one machine to the next


def glue(**values: Any) -> None:
    """Record values for the prose of this notebook; nothing is shown.

    Parameters
    ----------
    **values : int, float, str or Estimate
        Name and value. In the text, `name:.2f` formats it as Python does, and of an
        estimate `name.value`, `name.low`, `name.high` and `name.n` can be had alone.

    Examples
    --------
    >>> glue(n=100)
    {...}
    """
    from IPython.display import display

    kept = {name: recorded(value) for name, value in values.items()}
    display({MIME: kept}, raw=True)  # type: ignore[no-untyped-call]


def recorded(value: Any) -> Any:
    """Turn a value into what JSON can hold; an estimate keeps all its parts."""
    if isinstance(value, Estimate):
        fields = ("value", "low", "high", "n", "method", "level", "reason")
        return {field: recorded(getattr(value, field)) for field in fields}
    if isinstance(value, str | bool):
        return value
    if hasattr(value, "__index__"):
        return int(value)
    number = float(value)
    # JSON has no nan; None comes back as nan.
    return float(f"{number:.{_DIGITS}g}") if math.isfinite(number) else None


def glued(notebook: Mapping[str, Any]) -> dict[str, Any]:
    """Collect what the cells of a notebook recorded, by name."""
    found: dict[str, Any] = {}
    for cell in notebook["cells"]:
        for output in cell.get("outputs", ()):
            found |= output.get("data", {}).get(MIME, {})
    return found


def written(recorded: Mapping[str, Any], name: str, spec: str | None) -> str:
    r"""Format one recorded value as the prose wants it.

    Before the sign of a percentage stands a no-break space.

    Raises
    ------
    ValidationError
        If nothing of that name was recorded.

    Examples
    --------
    >>> written({"share": 0.125}, "share", ".1%")
    '12.5\xa0%'
    """
    name, _, field = name.partition(".")
    if name not in recorded:
        raise ValidationError(
            f"no cell glues {name!r}; glued are {', '.join(recorded) or 'none'}"
        )
    value, spec = _number(recorded[name]), spec or ""
    if isinstance(value, dict):
        estimate = Estimate(**{k: _number(v) for k, v in value.items()})
        value = getattr(estimate, field) if field else estimate
    text = format(value, spec)
    return text.replace("%", "\N{NO-BREAK SPACE}%") if spec.endswith("%") else text


def _number(value: Any) -> Any:
    return math.nan if value is None else value


def fill(text: str, recorded: Mapping[str, Any]) -> str:
    """Fill every glue span of a text.

    Examples
    --------
    >>> fill('κ is <span data-glue="kappa:.2f">?</span>', {"kappa": 0.5})
    'κ is <span data-glue="kappa:.2f">0.50</span>'
    """

    def filled(span: re.Match[str]) -> str:
        now = written(recorded, span["name"], span["spec"])
        spec = "" if span["spec"] is None else f":{span['spec']}"
        return f'<span data-glue="{span["name"]}{spec}">{now}</span>'

    return SPAN.sub(filled, text)


def found(name: str) -> str:
    """Say what a chapter found, in Markdown, with the numbers that it computed.

    For pages that quote a chapter: the sentences stand in ``chapters.yml``, the numbers
    in the outputs of the notebook.

    Raises
    ------
    ValidationError
        If there is no such chapter, or its notebook glues no such number.

    Examples
    --------
    >>> found("ask_a_model").startswith("**A judge that never judged.**")
    True
    """
    text: str = chapter(name)["found"]
    notebook = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text("utf-8"))
    return SPAN.sub(r"\g<text>", fill(text, glued(notebook)))
