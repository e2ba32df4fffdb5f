"""A report on a reader's own judge: what its verdicts can and cannot support.

`judgelab.report` measures (`measure`), says it in words (`words`) and shows it as a
page, Markdown or JSON (`render`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import narwhals as nw

from judgelab.errors import ValidationError
from judgelab.records import check_pairwise, check_ratings
from judgelab.reporting import render
from judgelab.reporting.measure import Findings, Judge, TiePolicy, judges_of, measure
from judgelab.reporting.prepare import USED, kind_of, prepared
from judgelab.reporting.words import Section, sections
from judgelab.verdict import Rule

__all__ = ["USED", "Findings", "Judge", "Report", "kind_of", "report", "who_judged"]

FORMATS = ("html", "md", "json", "csv")
TIE_POLICIES = ("half", "drop", "davidson", "rao-kupper")

TWO_ORDER_RULES = (
    "judgebench",
    "mt-bench",
    "nemo-skills",
    "contextual-judgebench",
    "reasoning-judgebench",
    "first-order",
    "second-order",
)
"""The rules side by side in a report: used by benchmarks, and made for two orders."""

BOOK: str | None = None
"""Where the book is published; without it chapters are named, and not linked.

A report can be given another address."""


@dataclass(frozen=True)
class Report:
    """What was found out about a judge; shows itself in a notebook.

    Parameters
    ----------
    title : str
        Stands at the top.
    findings : Findings
        Every number, with its interval.
    book : str, optional
        Address of the book, for links to its chapters.

    Notes
    -----
    Chapter: *Your own judge*.
    """

    title: str
    findings: Findings = field(repr=False)
    book: str | None = BOOK

    @cached_property
    def sections(self) -> Sequence[Section]:
        """The parts of the report, in words."""
        return sections(self.findings)

    def to_html(self) -> str:
        """Return one page that needs no other file, no network and no script."""
        return render.to_html(self.title, self.sections, book=self.book)

    def to_markdown(self) -> str:
        """Return the same in Markdown."""
        return render.to_markdown(self.title, self.sections)

    def to_json(self) -> str:
        """Return every number with interval, n and method; null if there is none."""
        return render.to_json(self.title, self.findings)

    def to_csv(self) -> str:
        """Return all tables in one: a line per cell, with interval, n and method."""
        return render.to_csv(self.sections)

    def to(self, form: str) -> str:
        """Return the report as one of `FORMATS`.

        Raises
        ------
        ValidationError
            If there is no such format.
        """
        ways = {
            "html": self.to_html,
            "md": self.to_markdown,
            "json": self.to_json,
            "csv": self.to_csv,
        }
        if form not in ways:
            raise ValidationError(f"format {form!r}; choose from {', '.join(FORMATS)}")
        return ways[form]()

    def save(self, path: str | Path) -> Path:
        """Write the report: the ending (.html, .md, .json, .csv) says how.

        Raises
        ------
        ValidationError
            If the ending is none of these.
        """
        path = Path(path)
        path.write_text(self.to(path.suffix.lstrip(".").lower()), "utf-8")
        return path

    def _repr_html_(self) -> str:
        return render.to_html(self.title, self.sections, book=self.book, whole=False)


def report(
    records: Any,
    *,
    against: str | Sequence[str] | None = None,
    judges: str | Sequence[str] | None = None,
    own: Mapping[str, str] | None = None,
    rename: Mapping[str, str] | None = None,
    words: Mapping[str, str] | None = None,
    orders: Mapping[str, bool] | None = None,
    scale: Sequence[Any] | None = None,
    rules: Sequence[Rule | str] = TWO_ORDER_RULES,
    tie_policy: TiePolicy = "half",
    width: float = 0.1,
    level: float = 0.95,
    title: str = "Can this judge be trusted?",
    book: str | None = BOOK,
) -> Report:
    """Can this judge be trusted, and how sure are we?

    Parameters
    ----------
    records : dataframe
        Pairwise or rating records of any engine (see `judgelab.records`). Beside the
        columns of a record a report looks at ``kind`` (of judge), ``category``,
        ``gold`` (the better answer, A or B), ``length_a`` and ``length_b`` (of the
        answers as shown) or ``log_length`` (of answer A against B), and ``own`` (+1
        where the judge wrote answer A, −1 where it wrote B).
    against : str or sequence of str, optional
        Whom the other judges are measured against: names, patterns such as
        ``"expert_*"``, or a kind of judge.
    judges : str or sequence of str, optional
        Who is measured, in the same way of naming; everybody else if not given.
    own : mapping of str to str, optional
        Judge → the name under which its own answers stand in ``model_a`` and
        ``model_b``.
    rename, words, orders, scale
        As in `judgelab.records.check_pairwise` and `check_ratings`. Ratings need
        `scale`: every label that could be given, in order.
    rules : sequence of Rule or str
        Which rules fold two orders, where right answers are known.
    tie_policy : {"half", "drop", "davidson", "rao-kupper"}, default "half"
        How ties count in the ranking of systems; the report says so.
    width : float, default 0.1
        The wanted length of intervals, for the number of further labels.
    level : float, default 0.95
        Nominal coverage of all intervals.
    title : str
        Stands at the top.
    book : str, optional
        Address of the book, for links to its chapters.

    Returns
    -------
    Report
        Shows itself in a notebook; ``to_html()``, ``to_markdown()``, ``to_json()``,
        ``save(path)``.

    Raises
    ------
    ValidationError
        If the records are not valid (the message names the rows), an item stands for
        different answers, or a name fits no judge.

    Notes
    -----
    Chapter: *Your own judge*.

    Examples
    --------
    >>> from judgelab.simulate import Judge, draw_pairs, simulate
    >>> votes = simulate(Judge(k=2, beta=1), draw_pairs(200, rng=1), rng=2)
    >>> found = report(votes).findings
    >>> found.order[0].consistency
    0.565 [0.496, 0.632] (n = 200, Wilson)
    """
    if tie_policy not in TIE_POLICIES:
        raise ValidationError(
            f"tie_policy is {tie_policy!r}; choose from {', '.join(TIE_POLICIES)}"
        )
    columns = nw.from_native(records).collect_schema().names()
    known = {(rename or {}).get(name, name) for name in columns}
    kind = kind_of(known)
    checked = (
        check_pairwise(records, rename=rename, words=words, orders=orders)
        if kind == "pairwise"
        else check_ratings(records, rename=rename, scale=_declared(scale))
    )
    frame = prepared(checked, kind)
    found = measure(
        frame,
        kind=kind,
        against=against,
        judges=judges,
        own=own,
        rules=rules,
        scale=scale,
        tie_policy=tie_policy,
        width=width,
        level=level,
    )
    return Report(title, found, book)


def who_judged(records: Any) -> list[Judge]:
    """Who judged how much, and what did they say?

    Parameters
    ----------
    records : dataframe
        Checked records.

    Returns
    -------
    list of Judge
        With the numbers of verdicts of each word, and of pairs of answers that were
        judged in both orders, or in one.

    Raises
    ------
    ValidationError
        If an item stands for different answers or clusters.

    Notes
    -----
    Chapter: *Your own judge*.
    """
    kind = kind_of(nw.from_native(records).collect_schema().names())
    return judges_of(prepared(records, kind), kind)


def _declared(scale: Sequence[Any] | None) -> Sequence[Any]:
    if scale is None:
        raise ValidationError(
            "ratings need scale=…: every label that could be given, in order (a label "
            "that nobody used counts as well)"
        )
    return scale
