"""The reproduction ledger: every printed figure that the book checks."""

from __future__ import annotations

import html
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module

from judgelab.papertable import Cell, Match, PaperTable, summary

__all__ = ["Cell", "Ledger", "Match", "PaperTable", "ledger"]


@dataclass(frozen=True, slots=True)
class Ledger:
    """All paper tables of the book.

    Parameters
    ----------
    tables : sequence of PaperTable
        In the order of the sources' names, then of the paper.

    Notes
    -----
    Shows itself as HTML in a notebook (counts first, then every table) and as one line
    per table elsewhere. Chapter: *MT-bench and Chatbot Arena*.
    """

    tables: Sequence[PaperTable]

    def counts(self, basis: str | None = None) -> dict[Match, int]:
        """Count verdicts over all tables, or over those with one basis."""
        chosen = [t.counts for t in self.tables if basis in (None, t.basis)]
        return {match: sum(counts[match] for counts in chosen) for match in Match}

    def mismatches(self) -> list[tuple[str, str, Cell]]:
        """List the figures that should match and don't: source, table and cell."""
        return [
            (table.source, table.table, cell)
            for table in self.tables
            for cell in table.cells
            if cell.match is Match.MISMATCH
        ]

    def lines(self) -> list[str]:
        """Say in two lines how many figures were checked, and what came out."""
        return [
            f"Recomputed from verdicts: {summary(self.counts('recomputed'))}",
            f"Checked in print only: {summary(self.counts('from print'))}",
        ]

    def __repr__(self) -> str:
        return "\n".join([*self.lines(), *(table.caption for table in self.tables)])

    def _repr_html_(self) -> str:
        items = "".join(f"<li>{html.escape(line)}</li>" for line in self.lines())
        tables = "\n".join(table._repr_html_() for table in self.tables)
        return f"<ul>{items}</ul>\n{tables}"


def sources() -> list[str]:
    """List the modules of `judgelab.papers` that reproduce something."""
    papers = import_module("judgelab.papers")
    return [
        module.name
        for module in pkgutil.iter_modules(papers.__path__)
        if hasattr(import_module(f"judgelab.papers.{module.name}"), "reproduce")
    ]


def ledger(source: str | None = None) -> Ledger:
    """Which printed figures did we check, and what came out?

    Parameters
    ----------
    source : str, optional
        A module of `judgelab.papers`, such as ``"mt_bench"``; all of them if not given.

    Returns
    -------
    Ledger
        The tables of every module in `judgelab.papers` that has a ``reproduce()``.

    Notes
    -----
    Works offline, from the counts that the package carries. Chapter: *MT-bench and
    Chatbot Arena*.

    Examples
    --------
    >>> ledger().mismatches()
    []
    """
    tables: list[PaperTable] = []
    for name in sources() if source is None else [source]:
        tables += import_module(f"judgelab.papers.{name}").reproduce()
    return Ledger(tables)
