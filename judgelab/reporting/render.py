"""How a report looks: one HTML page, Markdown, or JSON. No number is made here."""

from __future__ import annotations

import csv
import html
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import resources
from typing import Any

import numpy as np

from judgelab.estimate import Estimate
from judgelab.ranking.result import Ranking
from judgelab.reporting.measure import Findings
from judgelab.reporting.words import Section, Share, Table, Value
from judgelab.significance import Test
from judgelab.teach import content

_BAR = 100
"""Width of the drawing of an interval, in its own units."""

_ANSWERS = {"yes": "Yes", "no": "No", "open": "Cannot say"}


def to_html(
    title: str, parts: Sequence[Section], *, book: str | None, whole: bool = True
) -> str:
    """Write one page that needs nothing else: no script, no font, no other file.

    Parameters
    ----------
    title : str
        Stands at the top.
    parts : sequence of Section
        From `words.sections`.
    book : str, optional
        Address of the book, for links to its chapters.
    whole : bool, default True
        A page, or what a notebook shows inside its own.
    """
    page: str = _template().render(
        title=title,
        sections=parts,
        chapters=_chapters(parts),
        book=book.rstrip("/") if book else None,
        whole=whole,
        answers=_ANSWERS,
        css=_css(),
    )
    return page


def to_markdown(title: str, parts: Sequence[Section]) -> str:
    """Write Markdown that any renderer of tables understands."""
    chapters = _chapters(parts)
    lines = [f"# {_markdown(title)}", ""]
    for part in parts:
        lines += [f"## {_markdown(part.title)}", ""]
        for paragraph in part.text:
            lines += [_markdown(paragraph), ""]
        for said in part.statements:
            answer = _ANSWERS[said.answer]
            lines.append(
                f"- **{answer}.** {_markdown(said.claim)}: {_markdown(said.why)}"
            )
        lines += [""] if part.statements else []
        for table in part.tables:
            lines += [*_markdown_table(table), ""]
        lines += [f"- [{'x' if done else ' '}] {what}" for done, what in part.items]
        chapter = chapters[part.chapter]
        lines += ["", f"*Chapter {chapter['number']}: {chapter['title']}*", ""]
    return "\n".join(lines).rstrip() + "\n"


def to_json(title: str, found: Findings) -> str:
    """Write every number with its interval, its n and its method."""
    return json.dumps(
        {"title": title, **plain(found)}, indent=1, ensure_ascii=False, allow_nan=False
    )


def to_csv(parts: Sequence[Section]) -> str:
    """Write every cell of every table in a line of its own.

    A spreadsheet takes text that begins with =, +, − or @ for a formula; such text gets
    an apostrophe before it, which a spreadsheet reads as "this is text".
    """
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    names = ("part", "table", "row", "column", "value", "low", "high", "n", "method")
    writer.writerow(names)
    for part in parts:
        for table in part.tables:
            for row in table.rows:
                for column, value in zip(table.columns[1:], row[1:], strict=True):
                    place = (part.title, table.caption, text_of(row[0]), column)
                    writer.writerow([*map(harmless, place), *_numbers(value)])
    return lines.getvalue()


def harmless(text: str) -> str:
    """Keep a spreadsheet from taking text for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def _numbers(value: Value) -> list[Any]:
    if isinstance(value, Share):
        e = value.estimate
        shown = ["" if math.isnan(x) else x for x in (e.value, e.low, e.high)]
        return [*shown, e.n, harmless(e.reason or e.method)]
    if isinstance(value, Test):
        return [value.p_value, "", "", value.n, harmless(value.method)]
    return [harmless(value) if isinstance(value, str) else value, "", "", "", ""]


def plain(value: Any) -> Any:
    """Turn findings into what JSON knows; what is not finite becomes null."""
    if isinstance(value, Ranking):
        return {
            "estimates": plain(value.estimates(scale="elo")),
            "places": plain(value.ranks()),
            "model": value.model,
        }
    if is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(getattr(value, field.name))
            for field in fields(value)
            if field.name not in ("units", "same", "met")
        }
    if isinstance(value, Mapping):
        return {
            ", ".join(map(str, k)) if isinstance(k, tuple) else str(k): plain(v)
            for k, v in value.items()
        }
    if isinstance(value, str) or value is None or isinstance(value, bool):
        return value
    if isinstance(value, Sequence | np.ndarray):
        return [plain(part) for part in value]
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    return str(value)


def _chapters(parts: Sequence[Section]) -> dict[str, dict[str, Any]]:
    wanted = {part.chapter for part in parts}
    return {c["name"]: c for c in content.load("chapters") if c["name"] in wanted}


@cache
def _css() -> str:
    return (resources.files("judgelab.reporting") / "report.css").read_text("utf-8")


@cache
def _template() -> Any:
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(resources.files("judgelab.reporting"))),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["cell"] = _cell
    environment.tests["numeric"] = lambda v: isinstance(v, int | Share | Test)
    return environment.get_template("report.html.j2")


def text_of(value: Value) -> str:
    """Write what stands in a cell."""
    if isinstance(value, Test):
        p = value.p_value
        return f"{p:.2g}" if p >= 1e-4 else "< 0.0001"
    if isinstance(value, int):
        return f"{value:,}"
    return str(value)


def _cell(value: Value) -> Any:
    """Write the content of a table cell as HTML, an interval with its drawing."""
    from markupsafe import Markup

    shown = html.escape(text_of(value))
    if not isinstance(value, Share) or math.isnan(value.estimate.value):
        return Markup(shown)
    about = html.escape(_about(value.estimate))
    return Markup(f'<span class="number" title="{about}">{shown}</span>{_bar(value)}')


def _about(estimate: Estimate) -> str:
    return f"n = {estimate.n:,}; {estimate.method}; {estimate.level:.0%} interval"


def _bar(share: Share) -> str:
    """Draw the interval on its scale, a tick where chance is."""

    def place(x: float) -> float:
        span = (share.high - share.low) or 1.0
        return round(_BAR * min(1.0, max(0.0, (x - share.low) / span)), 1)

    e = share.estimate
    parts = [f'<path class="scale" d="M0 6H{_BAR}"/>']
    if share.chance is not None:
        parts.append(f'<path class="chance" d="M{place(share.chance)} 1V11"/>')
    if math.isfinite(e.low) and math.isfinite(e.high):
        parts.append(f'<path class="range" d="M{place(e.low)} 6H{place(e.high)}"/>')
    if math.isfinite(e.value):
        parts.append(f'<circle cx="{place(e.value)}" cy="6" r="3.2"/>')
    return (
        f'<svg class="bar" viewBox="-4 0 {_BAR + 8} 12" aria-hidden="true" '
        f'focusable="false">{"".join(parts)}</svg>'
    )


def _markdown(text: str) -> str:
    """Keep what stands in the records from being read as Markdown or HTML."""
    flat = " ".join(text.split())
    for mark in "\\`*_[]<>|#":
        flat = flat.replace(mark, "\\" + mark)
    return flat


def _markdown_table(table: Table) -> list[str]:
    numeric = [
        any(isinstance(row[k], int | Share | Test) for row in table.rows)
        for k in range(len(table.columns))
    ]
    rows = [[_markdown(text_of(value)) for value in row] for row in table.rows]
    return [
        f"**{_markdown(table.caption)}**",
        "",
        "| " + " | ".join(map(_markdown, table.columns)) + " |",
        "|" + "|".join("---:" if n else "---" for n in numeric) + "|",
        *("| " + " | ".join(row) + " |" for row in rows),
    ]
