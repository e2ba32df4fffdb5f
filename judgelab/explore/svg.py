"""Pictures as SVG text: bars, a table of counts, lines.

Small enough to be computed for every setting of a demo in advance, sharp at every size,
and readable on a light and on a dark page: texts take the page's own colour, and the
three tones are CSS variables with a fallback for notebooks, where the book's style
sheet is absent. The tones differ in lightness, so they survive grey print.

Every picture is 360 units wide with 13-unit text, which fills a phone's screen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Literal, NamedTuple

WIDTH = 360
Tone = Literal["main", "other", "quiet"]
TONES: dict[Tone, str] = {
    "main": "var(--jl-main, #1f6fb2)",
    "other": "var(--jl-other, #e08a2c)",
    "quiet": "var(--jl-quiet, #9aa3ad)",
}
_MARGIN = 10


class Bar(NamedTuple):
    """One bar: what it shows, how long it is, the figure as text, its interval."""

    label: str
    value: float
    text: str
    interval: tuple[float, float] | None = None
    tone: Tone = "main"


def svg(height: float, *parts: str) -> str:
    """Wrap drawing elements into one picture, `WIDTH` units wide.

    Examples
    --------
    >>> svg(20, text(0, 15, "κ"))[:40]
    '<svg class="jl-svg" viewBox="0 0 360 20"'
    """
    return (
        f'<svg class="jl-svg" viewBox="0 0 {WIDTH} {_number(height)}" width="100%" '
        'style="max-width:30rem" xmlns="http://www.w3.org/2000/svg" '
        'font-family="inherit" font-size="13" aria-hidden="true" focusable="false">'
        + "".join(parts)
        + "</svg>"
    )


def labelled(picture: str, words: str) -> str:
    """Give a picture the words that a screen reader says in its place.

    Examples
    --------
    >>> labelled(svg(20), "a & b")[:43]
    '<div role="img" aria-label="a &amp; b"><svg'
    """
    return f'<div role="img" aria-label="{escape(words)}">{picture}</div>'


def text(x: float, y: float, words: str, anchor: str = "start", extra: str = "") -> str:
    """Place words; `anchor` is "start", "middle" or "end".

    Examples
    --------
    >>> text(0, 15, "a < b")
    '<text x="0" y="15" text-anchor="start" fill="currentColor">a &lt; b</text>'
    """
    return (
        f'<text x="{_number(x)}" y="{_number(y)}" text-anchor="{anchor}" '
        f'fill="currentColor"{extra}>{escape(words)}</text>'
    )


def path(
    d: str, colour: str, width: float, dashes: str = "none", opacity: float = 1
) -> str:
    """Draw a line along the path `d`, which is SVG's own notation.

    Examples
    --------
    >>> path("M0 5H9", "currentColor", 2)[:37]
    '<path d="M0 5H9" fill="none" stroke="'
    """
    return (
        f'<path d="{d}" fill="none" stroke="{colour}" stroke-width="{width:g}" '
        f'stroke-dasharray="{dashes}" stroke-opacity="{opacity:g}"/>'
    )


def bars(
    rows: Sequence[Bar],
    *,
    low: float = 0.0,
    high: float = 1.0,
    ticks: Sequence[float] = (0.0, 0.5, 1.0),
) -> str:
    """Draw horizontal bars from zero, each under its label, with its figure in words.

    Parameters
    ----------
    rows : sequence of Bar
        From top to bottom. A bar whose value is `nan` is left out; its text stays.
    low, high : float
        The ends of the scale; bars are cut there, and an interval that goes on beyond
        them ends in an arrowhead.
    ticks : sequence of float
        Where the scale is labelled.

    Returns
    -------
    str
        An ``<svg>`` element.

    Examples
    --------
    >>> picture = bars([Bar("kappa", 0.5, "0.50", (0.33, 0.67))], low=-1)
    >>> picture.count("<rect"), ">0.50</text>" in picture
    (1, True)
    """
    span = (WIDTH - 2 * _MARGIN) / (high - low)

    def x(value: float) -> float:
        return _MARGIN + (min(max(value, low), high) - low) * span

    step = 48
    foot = step * len(rows) + 6
    parts = []
    for i, row in enumerate(rows):
        top = step * i
        parts.append(text(_MARGIN, top + 16, row.label))
        parts.append(
            text(WIDTH - _MARGIN, top + 16, row.text, "end", ' font-weight="600"')
        )
        for tick in ticks:
            strength = 0.6 if tick == 0 else 0.2
            parts.append(
                f'<path d="M {_number(x(tick))} {top + 20} v 24" '
                f'stroke="currentColor" stroke-opacity="{strength}"/>'
            )
        if row.value == row.value:  # not nan
            start, end = sorted((x(0), x(row.value)))
            parts.append(
                f'<rect x="{_number(start)}" y="{top + 23}" '
                f'width="{_number(end - start)}" '
                f'height="18" rx="2" fill="{TONES[row.tone]}"/>'
            )
        if row.interval:
            ends = _whisker(row.interval, x, low, high, top + 32)
            parts.append(path(ends, "currentColor", 2))
    for tick in ticks:
        anchor = "start" if tick == low else "end" if tick == high else "middle"
        parts.append(text(x(tick), foot + 16, f"{tick:g}".replace("-", "−"), anchor))
    return svg(foot + 22, *parts)


def table(
    counts: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    corner: str = "",
) -> str:
    """Draw a table of counts; the fuller a cell, the deeper its shade.

    Parameters
    ----------
    counts : sequence of rows
        Whole numbers ≥ 0; cells on the diagonal are shaded in the main tone.
    rows, columns : sequence of str
        The names at the left and at the top.
    corner : str
        What stands in the upper left corner.

    Returns
    -------
    str
        An ``<svg>`` element.

    Examples
    --------
    >>> table([[40, 10], [15, 35]], ["A", "B"], ["A", "B"]).count("<rect")
    4
    """
    left, head, height = 104, 24, 32
    width = (WIDTH - left - _MARGIN) / len(columns)
    total = max(sum(sum(row) for row in counts), 1)
    parts = [text(_MARGIN, 16, corner)]
    parts += [
        text(left + width * (j + 0.5), 16, name, "middle")
        for j, name in enumerate(columns)
    ]
    for i, (name, row) in enumerate(zip(rows, counts, strict=True)):
        y = head + height * i
        parts.append(text(_MARGIN, y + 20, name))
        for j, count in enumerate(row):
            tone = TONES["main" if i == j else "other"]
            # The shade stops at half strength, where the figure is still readable.
            opacity = 0.1 + 0.4 * count / total
            parts.append(
                f'<rect x="{_number(left + width * j + 1)}" y="{y + 1}" rx="3" '
                f'width="{_number(width - 2)}" height="{height - 2}" fill="{tone}" '
                f'fill-opacity="{opacity:.1f}"/>'
            )
            parts.append(
                text(left + width * (j + 0.5), y + 20, f"{count:,g}", "middle")
            )
    return svg(head + height * len(rows) + 2, *parts)


def lines(
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    x_range: tuple[float, float],
    y_range: tuple[float, float],
    x_label: str = "",
    y_label: str = "",
) -> str:
    """Draw up to three curves, told apart by tone and by dashes, named at their ends.

    Parameters
    ----------
    series : mapping of name to points
        Each point is (x, y); points must lie within the two ranges.
    x_range, y_range : (low, high)
        The ends of the axes, which are labelled.
    x_label, y_label : str
        What the axes show.

    Returns
    -------
    str
        An ``<svg>`` element.

    Examples
    --------
    >>> lines({"k = 4": [(0, 0), (1, 1)]}, x_range=(0, 1), y_range=(0, 1)).count("M36 ")
    2
    """
    left, right, top, foot = 36, 90, 26, 176

    def x(value: float) -> str:
        share = (value - x_range[0]) / (x_range[1] - x_range[0])
        return _number(left + share * (WIDTH - right - left))

    def y(value: float) -> str:
        share = (value - y_range[0]) / (y_range[1] - y_range[0])
        return _number(foot - share * (foot - top))

    parts = [
        f'<path d="M{left} {top}V{foot}H{WIDTH - right}" fill="none" '
        'stroke="currentColor" stroke-opacity=".5"/>',
        text(_MARGIN, 14, y_label),
        text((left + WIDTH - right) / 2, foot + 32, x_label, "middle"),
        *(text(float(x(end)), foot + 16, f"{end:g}", "middle") for end in x_range),
        *(text(left - 4, float(y(end)) + 4, f"{end:g}", "end") for end in y_range),
    ]
    styles = zip(TONES.values(), ("none", "7 4", "2 3"), strict=True)
    for (name, points), (colour, dashes) in zip(series.items(), styles, strict=False):
        path = "L".join(f"{x(a)} {y(b)}" for a, b in points)
        parts.append(
            f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="2.5" '
            f'stroke-dasharray="{dashes}"/>'
        )
        parts.append(text(WIDTH - right + 6, float(y(points[-1][1])) + 4, name))
    return svg(foot + 38, *parts)


class Mark(NamedTuple):
    """A point on a line of `forest`, with its interval if it has one."""

    value: float
    interval: tuple[float, float] | None = None
    tone: Tone = "main"


class Row(NamedTuple):
    """A line of `forest`: its marks, and a tick where they should be."""

    label: str
    marks: Sequence[Mark]
    goal: float | None = None


def forest(
    rows: Sequence[Row],
    low: float,
    high: float,
    ticks: Sequence[float],
    *,
    key: Sequence[str] = (),
    left: float = 104,
) -> str:
    """Draw a line per name: marks, their intervals, and a tick where they should be.

    Parameters
    ----------
    rows : sequence of Row
        From top to bottom.
    low, high : float
        The ends of the scale; values beyond them are put there, and an interval that
        goes on beyond them ends in an arrowhead.
    ticks : sequence of float
        Where the scale is labelled.
    key : sequence of str
        What the marks of a line are, named above; none needed if there is one.
    left : float, default 104
        The room for names.

    Returns
    -------
    str
        An ``<svg>`` element.

    Examples
    --------
    >>> picture = forest([Row("A", [Mark(0.5, (0.4, 0.6))], 0.7)], 0, 1, (0, 1))
    >>> picture.count("<circle"), picture.count("<path")
    (1, 4)
    """
    right = WIDTH - 16
    head = 24 if key else 0
    step = 18 * max(len(row.marks) for row in rows) + 4

    def x(value: float) -> int:
        share = (min(max(value, low), high) - low) / (high - low)
        return round(left + share * (right - left))

    foot = head + step * len(rows) + 4
    parts = [
        path(f"M{x(tick)} {head}V{foot}", "currentColor", 1, opacity=0.2)
        for tick in ticks
    ]
    parts += [text(x(tick), foot + 16, f"{tick:g}", "middle") for tick in ticks]
    for place, (name, mark) in enumerate(zip(key, rows[0].marks, strict=False)):
        parts.append(_dot(left + 90 * place, 10, mark.tone))
        parts.append(text(left + 90 * place + 10, 15, name))
    for number, row in enumerate(rows):
        top = head + step * number
        parts.append(text(0, top + step / 2 + 5, row.label))
        if row.goal is not None:
            at = x(row.goal)
            parts.append(path(f"M{at} {top + 3}v{step - 6}", "currentColor", 2))
        for place, mark in enumerate(row.marks):
            y = top + 11 + 18 * place
            if mark.interval:
                ends = _whisker(mark.interval, x, low, high, y)
                parts.append(path(ends, TONES[mark.tone], 2))
            parts.append(_dot(x(mark.value), y, mark.tone))
    return svg(foot + 22, *parts)


def _whisker(
    interval: tuple[float, float],
    x: Callable[[float], float],
    low: float,
    high: float,
    y: float,
) -> str:
    """Draw an interval: caps where it ends, arrowheads where the picture ends first."""
    unit = (high - low) / WIDTH  # nobody sees less
    start, end = (round(x(limit)) for limit in interval)
    left = _tip(start, y, 6 if interval[0] < low - unit else 0)
    right = _tip(end, y, -6 if interval[1] > high + unit else 0)
    return f"M{start} {y}H{end}{left}{right}"


def _tip(x: float, y: float, barbs: float) -> str:
    """Draw a cap, or an arrowhead whose barbs lie so far from its tip."""
    return f"M{x + barbs} {y - 6}L{x} {y}L{x + barbs} {y + 6}"


def _dot(x: float, y: float, tone: Tone) -> str:
    """Draw a circle for the main tone, a square for any other."""
    fill = f'fill="{TONES[tone]}"'
    if tone == "main":
        return f'<circle cx="{x}" cy="{y}" r="4" {fill}/>'
    return f'<rect x="{x - 4}" y="{y - 4}" width="8" height="8" {fill}/>'


def flow(steps: Sequence[Sequence[str]]) -> str:
    """Draw steps from top to bottom; what belongs to one step stands side by side.

    Parameters
    ----------
    steps : sequence of rows
        Each row holds the words of its boxes.

    Returns
    -------
    str
        An ``<svg>`` element.

    Examples
    --------
    >>> flow([["prompt"], ["order A, B", "order B, A"]]).count("<rect")
    3
    """
    height, gap = 34, 18
    parts = []
    for row, words in enumerate(steps):
        top = 1 + row * (height + gap)
        width = (WIDTH - 12 * len(words) + 8) / len(words)
        for column, label in enumerate(words):
            left = 2 + column * (width + 12)
            parts.append(
                f'<rect x="{left:.0f}" y="{top}" width="{width:.0f}" height="{height}" '
                'rx="6" fill="none" stroke="currentColor"/>'
            )
            parts.append(text(left + width / 2, top + 22, label, "middle"))
        if row:
            parts.append(
                f'<path d="M{WIDTH / 2:.0f} {top - gap + 1}v{gap - 4}m-5 -6l5 6'
                'l5 -6" fill="none" stroke="currentColor"/>'
            )
    return svg(len(steps) * (height + gap) - gap + 2, *parts)


def _number(value: float) -> str:
    """Write a coordinate to the unit: finer is invisible and makes a demo heavier."""
    return str(round(value))
