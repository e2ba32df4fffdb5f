"""Figures of the book: small, in the page's ink, never without a text equivalent.

A figure is drawn with matplotlib and published as inline SVG whose lines and letters
take the colour and the font of the page around them, so that one picture serves light
and dark pages, a phone and a printer.
"""

from __future__ import annotations

import html
import io
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from judgelab.errors import ValidationError
from judgelab.verdict import Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from judgelab.estimate import Estimate

# Stands for the page's own text colour, which matplotlib cannot name.
_INK = "#010203"
# Okabe and Ito's colours with at least 3 : 1 against white and against a dark page; the
# line styles carry the same distinction in grey print.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b8629b")
_STYLES = ("-", "--", "-.", ":")
_INKED = (
    *("text.color", "axes.edgecolor", "axes.labelcolor", "grid.color"),
    *("xtick.color", "ytick.color"),
)


@dataclass(frozen=True)
class Picture:
    """An SVG figure together with the words that replace and explain it.

    Parameters
    ----------
    svg : str
        The drawing.
    alt : str
        What the drawing shows, for readers who do not see it.
    caption : str
        The line under the drawing.
    """

    svg: str
    alt: str
    caption: str

    def __repr__(self) -> str:
        return f"[{self.caption} {self.alt}]"

    def _repr_html_(self) -> str:
        return (
            f'<figure class="judgelab-figure">{self.svg}'
            '<figcaption style="color: inherit; font-weight: inherit">'
            f"{html.escape(self.caption)}</figcaption></figure>"
        )


def publish(figure: Figure, *, alt: str, caption: str) -> Picture:
    """Turn a matplotlib figure into a `Picture` in the page's own ink.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Drawn inside `canvas`, so that it carries the page's ink.
    alt : str
        The text equivalent: what a reader who does not see the figure must know.
    caption : str
        The line under the figure, beginning with its number.

    Returns
    -------
    Picture
        Shows itself in a notebook and in the book.

    Raises
    ------
    ValidationError
        If `alt` or `caption` is empty: a figure without words is refused.

    Notes
    -----
    The output depends on the drawing alone: no date, no random identifiers. Chapter:
    *Do two judges agree?*
    """
    for name, text in (("alt", alt), ("caption", caption)):
        if not text.strip():
            raise ValidationError(
                f"{name} is empty; say in words what the figure shows"
            )
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].replace(_INK, "currentColor")
    # An inline <style> would reach the whole page.
    for tag in ("metadata", "style"):
        svg = re.sub(rf"\s*<{tag}.*?</{tag}>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"font: ([\d.]+px) [^;\"]+", r"font-size: \1", svg)
    prefix = f"f{zlib.crc32((alt + caption).encode()):08x}-"
    used = set(re.findall(r"(?:href=\"#|url\(#)([^\")]+)", svg))
    svg = re.sub(
        r' id="([^"]+)"',
        lambda found: f' id="{prefix}{found[1]}"' if found[1] in used else "",
        svg,
    )
    svg = re.sub(r"(href=\"#|url\(#)", rf"\g<1>{prefix}", svg)
    width, height = re.findall(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', svg)[0]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink" role="img" '
        f'aria-labelledby="{prefix}alt" '
        f'style="width: 100%; max-width: {1.6 * float(width):.0f}px; height: auto; '
        "display: block; margin: auto; "
        'stroke-linejoin: round; stroke-linecap: butt">'
        f'<title id="{prefix}alt">{html.escape(alt)}</title>'
    )
    return Picture(head + svg[svg.index(">") + 1 :].strip(), alt, caption)


@contextmanager
def canvas(height: float = 3.0) -> Iterator[tuple[Figure, Axes]]:
    """Open axes five inches wide, in the page's ink and without a frame."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    settings: dict[Any, Any] = {
        **dict.fromkeys(_INKED, _INK),
        "svg.fonttype": "none",
        "svg.hashsalt": "judgelab",
        "font.size": 13,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.facecolor": "none",
        "grid.alpha": 0.2,
    }
    with mpl.rc_context(settings):
        figure = Figure(figsize=(5.0, height), layout="constrained", facecolor="none")
        yield figure, figure.add_subplot()


def luck_squares(
    habits: Mapping[str, tuple[float, float]], *, alt: str, caption: str
) -> Picture:
    """How often do two judges agree by luck, given how often each of them says A?

    Parameters
    ----------
    habits : mapping of str to (float, float)
        For each square its name and the shares of A of the first and the second judge,
        in [0, 1]. Two squares fill the width.
    alt, caption : str
        See `publish`.

    Returns
    -------
    Picture
        Squares of area 1, cut across where the first judge goes from A to B and
        downwards where the second does. The fields in which both say the same are
        filled: their area is the chance agreement.

    Raises
    ------
    ValidationError
        If a share is not in [0, 1].

    Notes
    -----
    Chapter: *Do two judges agree?*
    """
    with canvas(2.9) as (figure, axes):
        for place, (name, shares) in enumerate(habits.items()):
            if not all(0 <= share <= 1 for share in shares):
                raise ValidationError(f"shares of A are {shares}; give two from 0 to 1")
            left, (first, second) = 1.35 * place, shares
            for label, height, width, bottom, start in (
                ("A", first, second, 1 - first, left),
                ("B", 1 - first, 1 - second, 0.0, left + second),
            ):
                box: dict[str, Any] = {"height": height, "left": start, "align": "edge"}
                axes.barh(bottom, width, color=_INK, alpha=0.25, **box)
                across, up = start + width / 2, bottom + height / 2
                axes.text(across, 1.03, label, ha="center", va="bottom")
                axes.text(left - 0.04, up, label, ha="right", va="center")
                if min(height, width) > 0.2:  # room for a figure
                    area = f"{height * width:.3g}"
                    axes.text(across, up, area, ha="center", va="center")
            axes.plot([left, left + 1], [1 - first] * 2, color=_INK, lw=0.8)
            axes.plot([left + second] * 2, [0, 1], color=_INK, lw=0.8)
            axes.barh(0, 1, 1, left, align="edge", fill=False, edgecolor=_INK)
            luck = first * second + (1 - first) * (1 - second)
            axes.text(left + 0.5, -0.08, f"{name}: {luck:.2f}", ha="center", va="top")
        axes.set(xlim=(-0.2, 1.35 * len(habits) - 0.3), ylim=(-0.25, 1.2), aspect=1)
        axes.set_axis_off()
        return publish(figure, alt=alt, caption=caption)


def luck_line(observed: float, expected: float, *, alt: str, caption: str) -> Picture:
    """How much of the way from luck to perfect agreement did two judges go?

    Parameters
    ----------
    observed, expected : float
        Observed and chance agreement, as shares of 1.
    alt, caption : str
        See `publish`.

    Returns
    -------
    Picture
        A bar from 0 to 1: luck, what was reached above luck, what was left.

    Notes
    -----
    Chapter: *Do two judges agree?*
    """
    with canvas(1.9) as (figure, axes):
        axes.barh(0, expected, color=_INK, alpha=0.25, height=0.7)
        axes.barh(0, observed - expected, left=expected, color=_COLOURS[0], height=0.7)
        axes.barh(0, 1.0, fill=False, edgecolor=_INK, height=0.7)
        axes.text(expected / 2, 0, "luck", ha="center", va="center")
        middle = (expected + observed) / 2
        axes.text(middle, 0, "won", ha="center", va="center", color="white")
        axes.text((observed + 1) / 2, 0, "left", ha="center", va="center")
        axes.set(xlim=(0, 1), ylim=(-0.4, 0.95), yticks=[])
        axes.set_xticks([0, expected, observed, 1])
        axes.set_xlabel("share of verdicts on which both judges agree")
        kappa = (observed - expected) / (1 - expected)
        axes.annotate("", (expected, 0.5), (1, 0.5), arrowprops=_measure())
        axes.text(
            (expected + 1) / 2,
            0.6,
            f"κ = {observed - expected:.2f} of {1 - expected:.2f} = {kappa:.2f}",
            ha="center",
            va="bottom",
        )
        axes.spines["left"].set_visible(False)
        return publish(figure, alt=alt, caption=caption)


def _require_distinct(series: int) -> None:
    if series > len(_COLOURS):
        raise ValidationError(
            f"{series} curves cannot be told apart; draw at most {len(_COLOURS)}"
        )


def _measure() -> dict[str, Any]:
    return {"arrowstyle": "|-|, widthA=0.3, widthB=0.3", "color": _INK}


def curves(
    x: npt.ArrayLike,
    series: Mapping[str, npt.ArrayLike],
    *,
    x_label: str,
    y_label: str,
    alt: str,
    caption: str,
) -> Picture:
    """How do several statistics move when one thing is changed?

    Parameters
    ----------
    x : array_like, shape (points,)
        What is changed.
    series : mapping of str to array_like, shape (points,)
        One curve per name; at most four, each with its own colour and line style.
    x_label, y_label : str
        The axes, with their units.
    alt, caption : str
        See `publish`.

    Returns
    -------
    Picture
        The curves, each named in the legend above them.

    Notes
    -----
    Chapter: *Do two judges agree?*
    """
    _require_distinct(len(series))
    with canvas() as (figure, axes):
        for (name, y), colour, style in zip(
            series.items(), _COLOURS, _STYLES, strict=False
        ):
            axes.plot(
                np.asarray(x), np.asarray(y), style, color=colour, lw=2, label=name
            )
        axes.grid(True)
        axes.set(xlabel=x_label, ylabel=y_label)
        figure.legend(loc="outside upper left", ncols=2, frameon=False)
        return publish(figure, alt=alt, caption=caption)


def forest(
    estimates: Mapping[str, Estimate],
    *,
    x_label: str,
    alt: str,
    caption: str,
    reference: Sequence[float] = (),
) -> Picture:
    """How do several estimates and their intervals compare?

    Parameters
    ----------
    estimates : mapping of str to Estimate
        One line per name, from top to bottom.
    x_label : str
        The common scale.
    alt, caption : str
        See `publish`.
    reference : sequence of float, optional
        Values to hold the estimates against; drawn as dashed vertical lines.

    Returns
    -------
    Picture
        A point and a horizontal interval per estimate.

    Notes
    -----
    Chapter: *Do two judges agree?*
    """
    with canvas(0.9 + 0.4 * len(estimates)) as (figure, axes):
        for value in reference:
            axes.axvline(value, color=_INK, ls="--", lw=1.2)
        for row, estimate in enumerate(estimates.values()):
            axes.plot(
                [estimate.low, estimate.high], [row, row], color=_COLOURS[0], lw=2
            )
            axes.plot(estimate.value, row, "o", color=_COLOURS[0], ms=7)
        axes.set_yticks(range(len(estimates)), list(estimates))
        axes.set_ylim(len(estimates) - 0.5, -0.5)
        axes.grid(True, axis="x")
        axes.set_xlabel(x_label)
        return publish(figure, alt=alt, caption=caption)


def compared(
    rows: Mapping[str, Sequence[Estimate]],
    names: Sequence[str],
    *,
    x_label: str,
    alt: str,
    caption: str,
) -> Picture:
    """How do the same quantities look to two or more judges?

    Parameters
    ----------
    rows : mapping of str to sequence of Estimate
        One group per name, from top to bottom, with one estimate per judge.
    names : sequence of str
        The judges; at most four, each with its own colour and marker.
    x_label : str
        The common scale.
    alt, caption : str
        See `publish`.

    Returns
    -------
    Picture
        In each group one point with its interval per judge, close together.

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.
    """
    _require_distinct(len(names))
    shift = 0.26 if len(names) < 4 else 0.2
    with canvas(0.9 + 0.55 * len(rows)) as (figure, axes):
        for series, (name, marker) in enumerate(zip(names, "osD^", strict=False)):
            colour = _COLOURS[series]
            offset = shift * (series - (len(names) - 1) / 2)
            for row, estimates in enumerate(rows.values()):
                estimate, y = estimates[series], row + offset
                axes.plot([estimate.low, estimate.high], [y, y], color=colour, lw=2)
                axes.plot(
                    estimate.value,
                    y,
                    marker,
                    color=colour,
                    ms=6,
                    label=name if row == 0 else None,
                )
        axes.set_yticks(range(len(rows)), list(rows))
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.grid(True, axis="x")
        axes.set_xlabel(x_label)
        # Four names do not fit beside each other.
        columns = len(names) if len(names) < 4 else 2
        figure.legend(loc="outside upper left", ncols=columns, frameon=False)
        return publish(figure, alt=alt, caption=caption)


def against(
    x: npt.ArrayLike,
    estimates: Sequence[Estimate],
    *,
    x_label: str,
    y_label: str,
    alt: str,
    caption: str,
    labels: Mapping[int, str] | None = None,
) -> Picture:
    """How does an estimate depend on something else, and how sure is each point?

    Parameters
    ----------
    x : array_like, shape (points,)
        What the estimates may depend on.
    estimates : sequence of Estimate
        One per point; drawn with its interval.
    x_label, y_label : str
        The axes, with their units.
    alt, caption : str
        See `publish`.
    labels : mapping of int to str, optional
        Names for some of the points, by their position.

    Returns
    -------
    Picture
        Points with vertical intervals.

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.
    """
    at = np.asarray(x, float)
    with canvas(3.4) as (figure, axes):
        for place, estimate in zip(at, estimates, strict=True):
            axes.plot(
                [place, place],
                [estimate.low, estimate.high],
                color=_COLOURS[0],
                lw=2,
                alpha=0.6,
            )
            axes.plot(place, estimate.value, "o", color=_COLOURS[0], ms=6)
        middle = (at.min() + at.max()) / 2
        for point, label in (labels or {}).items():
            # Towards the middle, where there is room for it.
            right = at[point] > middle
            axes.annotate(
                label,
                (at[point], estimates[point].value),
                xytext=(-7 if right else 7, -4),
                textcoords="offset points",
                ha="right" if right else "left",
            )
        axes.grid(True)
        axes.set(xlabel=x_label, ylabel=y_label)
        return publish(figure, alt=alt, caption=caption)


def two_orders(table: npt.ArrayLike, *, alt: str, caption: str) -> Picture:
    """Do the verdicts in two orders name the same answer, or the same slot?

    Parameters
    ----------
    table : array_like of int, shape (5, 5)
        Two-order counts, the second verdict un-swapped.
    alt, caption : str
        See `publish`.

    Returns
    -------
    Picture
        The counts. Every cell of two readable verdicts says in words whether the judge
        said the same twice or a slot gained; the rest is grey.

    Raises
    ------
    ValidationError
        If the table has another shape.

    Notes
    -----
    Chapter: *Does the order matter?*
    """
    counts, names = np.asarray(table), ["A", "B", "tie", "invalid", "missing"]
    if counts.shape != (len(names), len(names)):
        raise ValidationError(f"table has shape {counts.shape}; give 5 × 5 counts")
    with canvas(3.6) as (figure, axes):
        for (first, second), pairs in np.ndenumerate(counts):
            words, colour, depth = _meaning(Verdict(first), Verdict(second))
            box: dict[str, Any] = {"width": 1, "left": second - 0.5, "height": 1}
            axes.barh(first, color=colour, alpha=depth, **box)
            axes.barh(first, fill=False, edgecolor=_INK, lw=0.6, **box)
            axes.text(second, first - 0.13, str(pairs), ha="center", va="center")
            axes.text(second, first + 0.26, words, size=10, ha="center", va="center")
        axes.set_xticks(range(len(names)), names)
        axes.set_yticks(range(len(names)), names)
        axes.tick_params(length=0)
        axes.set(xlabel="second order, un-swapped", ylabel="first order")
        axes.set(xlim=(-0.5, len(names) - 0.5), ylim=(len(names) - 0.5, -0.5))
        return publish(figure, alt=alt, caption=caption)


def _meaning(first: Verdict, second: Verdict) -> tuple[str, str, float]:
    """Say what two verdicts on the same answers mean, and how to fill their cell."""
    if max(first, second) > Verdict.TIE:
        return "", _INK, 0.12
    if first == second:
        return "same", _COLOURS[0], 0.35
    # Un-swapped, B in the second order was said of the first slot.
    gained, colour = (
        ("1st", _COLOURS[1])
        if first == Verdict.A or second == Verdict.B
        else ("2nd", _COLOURS[3])
    )
    both = Verdict.TIE not in (first, second)
    return f"{gained} slot" if both else f"{gained} + tie", colour, 0.5 if both else 0.2
