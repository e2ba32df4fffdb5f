"""`PaperTable`: what a paper printed beside what we get, and a verdict on each."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from judgelab.errors import ValidationError
from judgelab.estimate import Estimate


class Match(StrEnum):
    """The five things that can come out when a printed figure is checked."""

    EXACT = "exact"
    """Our value, rounded as the paper does, is the printed one; so is the count."""
    WITHIN = "within rounding"
    """It differs by no more than the rounding of printed inputs explains."""
    NOT_REPRODUCED = "not reproduced"
    """It differs, we know it, and say why."""
    NOT_REPRODUCIBLE = "not reproducible here"
    """What is needed is not public, and we say what."""
    MISMATCH = "MISMATCH"
    """It differs and nobody said so (or it was said, and it doesn't): a test fails."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One printed figure and ours.

    Parameters
    ----------
    name : str
        What the figure is, as a reader finds it in the paper.
    paper : float
        The figure as printed.
    ours : Estimate, float or None
        Our value in its own unit (a share in [0, 1]); None when there is no way here.
    decimals : int, default 0
        How many decimals the paper prints. A value half-way between two printed ones
        may have been rounded to either.
    scale : float, default 1
        What our value is multiplied by to be compared: 100 for percentages.
    paper_n : int, optional
        The count that the paper prints beside the figure; ours is the estimate's `n`.
    tolerance : float, default 0
        How far rounded inputs can move our value, in the paper's unit, when it has to
        be computed from other printed figures.
    known : bool, default False
        We know that it differs and give the reason in `why`. A known difference that
        isn't there is a mismatch as well.
    why : str, default ""
        The reason, in one sentence.
    interval : Estimate, optional
        How sure the *printed* figure is, when there is no value of ours to say it.

    Raises
    ------
    ValidationError
        If the reason is lacking, or a count has nothing to be compared with.

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.

    Examples
    --------
    >>> Cell("GPT-4 against experts", 85, 0.8487, scale=100).match
    <Match.EXACT: 'exact'>
    >>> Cell("GPT-4 against experts", 86, 0.8487, scale=100).match
    <Match.MISMATCH: 'MISMATCH'>
    """

    name: str
    paper: float
    ours: Estimate | float | None
    decimals: int = 0
    scale: float = 1
    paper_n: int | None = None
    tolerance: float = 0
    known: bool = False
    why: str = ""
    interval: Estimate | None = None

    def __post_init__(self) -> None:
        if (self.known or self.ours is None) and not self.why:
            raise ValidationError(f"cell {self.name!r}: say why in `why`")
        if self.ours is not None and self.paper_n is not None and self.n is None:
            raise ValidationError(
                f"cell {self.name!r} has a printed count ({self.paper_n}): "
                "give `ours` as an Estimate, whose n is compared with it"
            )

    @property
    def n(self) -> int | None:
        """The count behind our value."""
        return self.ours.n if isinstance(self.ours, Estimate) else None

    @property
    def value(self) -> float | None:
        """Our value in the paper's unit."""
        return None if self.ours is None else float(self.ours) * self.scale

    @property
    def deviation(self) -> float | None:
        """Ours minus the paper's, in the paper's unit."""
        return None if self.value is None else self.value - self.paper

    @property
    def match(self) -> Match:
        """The verdict on this figure."""
        if self.deviation is None:
            return Match.NOT_REPRODUCIBLE
        # Binary fractions: 0.05 may come out as 0.05000000000000071.
        half_unit = 0.5 * 10.0**-self.decimals + 1e-9
        gap = abs(self.deviation)
        if math.isnan(gap) or self.paper_n not in (None, self.n):
            within = exact = False
        else:
            exact = gap <= half_unit
            within = gap <= half_unit + self.tolerance
        if within and not self.known:
            return Match.EXACT if exact else Match.WITHIN
        if not within and self.known:
            return Match.NOT_REPRODUCED
        return Match.MISMATCH

    def row(self) -> tuple[str, str, str, str, str, str, str]:
        """Write the seven columns of the table as text."""
        digits = self.decimals + 1
        paper = f"{self.paper:.{self.decimals}f}" + _count(self.paper_n)
        value, deviation = self.value, self.deviation
        ours = "—" if value is None else f"{value:.{digits}f}"
        if value is not None and self.paper_n is not None:
            ours += _count(self.n)
        return (
            self.name,
            paper,
            ours,
            self._interval(digits),
            "—" if deviation is None else f"{deviation:+z.{digits}f}",
            str(self.match),
            self.why,
        )

    def _interval(self, digits: int) -> str:
        source = self.ours if isinstance(self.ours, Estimate) else self.interval
        if source is None or math.isnan(source.low):
            return "—"
        low, high = source.low * self.scale, source.high * self.scale
        return f"{low:.{digits}f} to {high:.{digits}f}"


COLUMNS = ("figure", "paper", "ours", "95 % interval", "deviation", "verdict", "why")
"""The columns of a shown `PaperTable`."""


@dataclass(frozen=True, slots=True)
class PaperTable:
    """Did we get what the paper printed?

    Parameters
    ----------
    source : str
        The paper, as ``"MT-bench (2306.05685)"``.
    table : str
        Number and subject of the table or figure.
    cells : sequence of Cell
        One per printed figure.
    basis : str, default "recomputed"
        What our values rest on: ``"recomputed"`` from verdicts, or ``"from print"``
        when only the printed figures themselves are public (then a share is shown to be
        a whole number of its units, and gets an interval).
    unit : str, default ""
        Unit of all figures, for the caption.

    Raises
    ------
    ValidationError
        If there are no cells or the basis is unknown.

    Notes
    -----
    Shows itself as an accessible HTML table in a notebook and as text elsewhere.
    Chapter: *MT-bench and Chatbot Arena*.

    Examples
    --------
    >>> cell = Cell("judge X", 66, 0.662, scale=100)
    >>> table = PaperTable("A paper", "Table 1", [cell])
    >>> table
    A paper, Table 1 (recomputed): 1 figure checked, 1 exact
    judge X | 66 | 66.2 | — | +0.2 | exact |
    """

    source: str
    table: str
    cells: Sequence[Cell]
    basis: str = "recomputed"
    unit: str = ""

    def __post_init__(self) -> None:
        if not self.cells:
            raise ValidationError(f"{self.source}, {self.table}: a table needs cells")
        if self.basis not in ("recomputed", "from print"):
            raise ValidationError(
                f"basis is {self.basis!r}; choose 'recomputed' or 'from print'"
            )

    @property
    def counts(self) -> dict[Match, int]:
        """How many figures got which verdict."""
        matches = [cell.match for cell in self.cells]
        return {match: matches.count(match) for match in Match}

    @property
    def caption(self) -> str:
        """Source, table and what came out, in one line."""
        return f"{self.source}, {self.table} ({self.basis}): {summary(self.counts)}"

    def __repr__(self) -> str:
        rows = [" | ".join(cell.row()).rstrip() for cell in self.cells]
        return "\n".join([self.caption, *rows])

    def _repr_html_(self) -> str:
        unit = f" Unit: {html.escape(self.unit)}." if self.unit else ""
        head = "".join(f'<th scope="col">{name}</th>' for name in COLUMNS[:-1])
        # Many figures share a reason: said once, below, it leaves room for the figures.
        reasons = list(dict.fromkeys(cell.why for cell in self.cells if cell.why))
        body = "\n".join(_html_row(cell, reasons) for cell in self.cells)
        notes = "".join(f"<li>{html.escape(reason)}</li>" for reason in reasons)
        return (
            '<table class="paper-table">\n'
            f"<caption>{html.escape(self.caption)}.{unit}</caption>\n"
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
            + (f'\n<ol class="paper-notes">{notes}</ol>' if notes else "")
        )


def summary(counts: dict[Match, int]) -> str:
    """Say in words how many figures got which verdict; nothing is said of zeros.

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.

    Examples
    --------
    >>> summary({Match.EXACT: 26, Match.NOT_REPRODUCED: 6, Match.NOT_REPRODUCIBLE: 26})
    '32 figures checked, 26 exact, 6 not reproduced; 26 not reproducible here'
    """
    hidden = counts.get(Match.NOT_REPRODUCIBLE, 0)
    checked = sum(counts.values()) - hidden
    parts = [f"{checked} {'figure' if checked == 1 else 'figures'} checked"]
    parts += [
        f"{n} {match}"
        for match, n in counts.items()
        if n and match != "not reproducible here"
    ]
    text = ", ".join(parts)
    return f"{text}; {hidden} {Match.NOT_REPRODUCIBLE}" if hidden else text


def _count(n: int | None) -> str:
    return "" if n is None else f" (n = {n:,})"


def _html_row(cell: Cell, reasons: list[str]) -> str:
    name, *data, verdict, _ = (html.escape(text) for text in cell.row())
    if cell.why:
        verdict += f" <sup>{reasons.index(cell.why) + 1}</sup>"
    columns = "".join(f"<td>{text}</td>" for text in (*data, verdict))
    return f'<tr><th scope="row">{name}</th>{columns}</tr>'
