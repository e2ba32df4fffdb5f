"""Commands on the book's sources: ``reproduce`` and ``fetch``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer
from rich.markup import escape
from rich.progress import track
from rich.table import Table

from judgelab.cli.files import ERR, OUT, busy
from judgelab.errors import ValidationError


def reproduce(
    source: Annotated[
        str | None,
        typer.Argument(help="mt_bench, judgebench, …; all if not said."),
    ] = None,
    brief: Annotated[
        bool, typer.Option("--brief", help="One line per table, and no figures.")
    ] = False,
) -> None:
    """Print every figure of the papers beside ours: paper, ours, deviation, verdict.

    Works offline, from counts that the package carries.

    Ends with status 0 if all figures match that should, 1 if one does not, 2 if there
    is no such source.
    """
    from judgelab.teach.reproduction import Ledger, ledger, sources

    known = sources()
    names = known if source is None else [_source(source, known)]
    tables = [
        table
        for name in track(
            names,
            "recomputing …",
            console=ERR,
            transient=True,
            disable=not ERR.is_terminal,
        )
        for table in ledger(name).tables
    ]
    found = Ledger(tables)
    for paper in found.tables:
        OUT.print(f"[bold]{escape(paper.caption)}[/]", soft_wrap=True)
        if brief:
            continue
        table = Table(box=None, pad_edge=False)
        for column in ("figure", "paper", "ours", "deviation", "verdict"):
            table.add_column(column, justify="left" if column == "figure" else "right")
        for cell in paper.cells:
            name, printed, ours, _, deviation, verdict, _ = cell.row()
            table.add_row(*map(escape, (name, printed, ours, deviation, verdict)))
        OUT.print(table)
        OUT.print()
    for line in found.lines():
        OUT.print(escape(line), soft_wrap=True)
    if wrong := found.mismatches():
        for paper_name, table_name, cell in wrong:
            ERR.print(
                escape(f"MISMATCH: {paper_name}, {table_name}: {cell.name}"),
                soft_wrap=True,
            )
        raise typer.Exit(1)


def fetch(
    source: Annotated[
        str | None, typer.Argument(help="mtbench, judgebench, …; a list if not said.")
    ] = None,
) -> None:
    """Bring the raw records of a source here, checked against pinned checksums.

    Prints the folder that holds them. A folder named by JUDGELAB_DATA comes first.

    Ends with status 0, or 2 if the files can't be had.
    """
    from judgelab.data import SOURCES
    from judgelab.data import fetch as fetched

    if source is None:
        table = Table(title="Sources", title_justify="left")
        for column in ("name", "what", "licence"):
            table.add_column(column)
        for name, about in sorted(SOURCES.items()):
            table.add_row(name, escape(about.title), escape(about.licence))
        OUT.print(table)
        return
    name = _source(source, sorted(SOURCES))
    with busy(f"fetching {name} …"):
        folder = fetched(name)
    typer.echo(folder)


def _source(given: str, known: Sequence[str]) -> str:
    """Find a source: mtbench, mt-bench and mt_bench are one."""

    def plain(name: str) -> str:
        return name.lower().replace("_", "").replace("-", "")

    for name in known:
        if plain(name) == plain(given):
            return name
    raise ValidationError(f"no source {given!r}; there are: {', '.join(known)}")
