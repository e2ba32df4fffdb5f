"""Commands on a reader's own verdicts: ``check``, ``report``, ``compare``."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from judgelab.cli.files import (
    ERR,
    OUT,
    Add,
    As,
    Encoding,
    Files,
    Loaded,
    Order,
    Rename,
    ScaleOption,
    Separator,
    Word,
    busy,
    in_options,
    load,
    pairs,
    valid,
)
from judgelab.errors import ValidationError
from judgelab.verdict import Verdict

Against = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Whom the judge is measured against: a judge, a pattern ('expert_*'), or "
        "a kind of judge. May be repeated.",
    ),
]


def check(
    files: Files,
    as_: As = "records",
    rename: Rename = None,
    word: Word = None,
    order: Order = None,
    add: Add = None,
    scale: ScaleOption = None,
    encoding: Encoding = "utf-8",
    separator: Separator = None,
) -> None:
    """Say what is in a file of verdicts, and what is wrong with it.

    A record needs the columns judge, item and verdict (A, B, TIE, INVALID, MISSING) or
    label. Useful: swapped, model_a, model_b, cluster, category, gold, length_a,
    length_b. Nothing is guessed, and nothing is repaired.

    Ends with status 0 if all is well, 1 if something is wrong, 2 if the command is.
    """
    loaded = load(
        files,
        as_,
        rename=rename,
        words=word,
        orders=order,
        add=add,
        scale=scale,
        encoding=encoding,
        separator=separator,
    )
    problems = list(loaded.problems)
    if loaded.records is not None:
        problems += _understood(loaded, pairs(rename, "--rename"), pairs(add, "--add"))
    for problem in problems:
        OUT.print(f"[bold red]wrong[/]  {escape(problem)}", soft_wrap=True)
    if hint := in_options(problems):
        OUT.print(hint, soft_wrap=True, markup=False)
    if problems:
        raise typer.Exit(1)
    OUT.print("[bold green]Nothing is wrong with these records.[/]")


def report(
    files: Files,
    against: Against = None,
    judge: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME", help="Who is measured; everybody else if not said."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Where to write; the terminal if not said."
        ),
    ] = None,
    format_: Annotated[
        str | None,
        typer.Option("--format", help="html, md, json or csv; by the ending of -o."),
    ] = None,
    own: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JUDGE=MODEL", help="Which model's answers are the judge's own."
        ),
    ] = None,
    width: Annotated[
        float, typer.Option(help="Wanted length of intervals, to plan more labels.")
    ] = 0.1,
    level: Annotated[float, typer.Option(help="Coverage of all intervals.")] = 0.95,
    ties: Annotated[
        str,
        typer.Option(help="Ties in the ranking: half, drop, davidson, rao-kupper."),
    ] = "half",
    title: Annotated[
        str, typer.Option(help="Heading of the report.")
    ] = "Can this judge be trusted?",
    book: Annotated[
        str | None, typer.Option(help="Address of the book, for links to chapters.")
    ] = None,
    as_: As = "records",
    rename: Rename = None,
    word: Word = None,
    order: Order = None,
    add: Add = None,
    scale: ScaleOption = None,
    encoding: Encoding = "utf-8",
    separator: Separator = None,
) -> None:
    """Write a report: what these verdicts can and cannot support.

    One page without scripts or other files (-o report.html), Markdown, JSON or CSV.
    With --against human the judge is measured against people, and people against each
    other.

    Ends with status 0, or 2 if the records are not valid: then nothing is written.
    """
    from judgelab import reporting

    loaded = load(
        files,
        as_,
        rename=rename,
        words=word,
        orders=order,
        add=add,
        scale=scale,
        encoding=encoding,
        separator=separator,
    )
    records = valid(loaded)
    for name in loaded.columns:
        if near := _meant(name, pairs(rename, "--rename")):
            ERR.print(f"note: the column {escape(name)} is not used; is it {near!r}?")
    form = format_ or (output.suffix.lstrip(".").lower() if output else "md")
    if form not in reporting.FORMATS:
        raise ValidationError(
            f"format {form!r}; choose from {', '.join(reporting.FORMATS)}, or end the "
            "name of the output so"
        )
    if ties not in reporting.TIE_POLICIES:
        raise ValidationError(
            f"--ties {ties!r}; choose from {', '.join(reporting.TIE_POLICIES)}"
        )
    with busy("computing …"):
        result = reporting.report(
            records,
            against=against,
            judges=judge,
            own=pairs(own, "--own") or None,
            scale=loaded.scale,
            tie_policy=ties,  # type: ignore[arg-type]
            width=width,
            level=level,
            title=title,
            book=book,
        )
        text = result.to(form)
    if output is None:
        typer.echo(text)
        return
    try:
        output.write_text(text, "utf-8")
    except OSError as error:
        raise ValidationError(f"could not write {str(output)!r}: {error}") from None
    OUT.print(escape(f"wrote {output} ({len(text.encode()):,} bytes)"))


def compare(
    first: Annotated[str, typer.Argument(help="A judge.", show_default=False)],
    second: Annotated[str, typer.Argument(help="Another judge.", show_default=False)],
    files: Files,
    against: Against = None,
    level: Annotated[float, typer.Option(help="Coverage of all intervals.")] = 0.95,
    as_: As = "records",
    rename: Rename = None,
    word: Word = None,
    order: Order = None,
    add: Add = None,
    scale: ScaleOption = None,
    encoding: Encoding = "utf-8",
    separator: Separator = None,
) -> None:
    """Compare two judges on the items that both have judged.

    Against right answers (--against gold, the column 'gold') or against other judges
    (--against human). The difference is paired: an item that is hard for the one is
    hard for the other.

    Ends with status 0, or 2 if the records are not valid.
    """
    from judgelab.reporting.compare import compare_judges

    loaded = load(
        files,
        as_,
        rename=rename,
        words=word,
        orders=order,
        add=add,
        scale=scale,
        encoding=encoding,
        separator=separator,
    )
    found = compare_judges(
        valid(loaded),
        first,
        second,
        against=against or ["gold"],
        scale=loaded.scale,
        level=level,
    )
    table = Table(title=escape(found.what), title_justify="left")
    table.add_column("judge")
    table.add_column("share", justify="right")
    table.add_column("rests on")
    for name, share in ((first, found.first), (second, found.second)):
        table.add_row(escape(name), f"{share:.1%}", f"{share.n:,}, {share.method}")
    table.add_row("difference", f"{found.difference:+.1%}", found.difference.method)
    OUT.print(table)
    OUT.print(escape(f"{found.items:,} shared items; {found.test!r}"), soft_wrap=True)


def _understood(
    loaded: Loaded, rename: dict[str, str], add: dict[str, str]
) -> list[str]:
    """Print what was understood; return what is wrong between the records."""
    from judgelab import reporting
    from judgelab.reporting.words import counted

    assert loaded.records is not None
    records = loaded.records
    OUT.print(
        f"[bold]{len(records):,}[/] of {counted(loaded.rows, 'record')} valid, "
        f"{loaded.kind}; {counted(records['judge'].nunique(), 'judge')}, "
        f"{counted(records['item'].nunique(), 'item')}",
        soft_wrap=True,
    )
    _print_columns(loaded.columns, rename)
    if added := [f"{name} {value}" for name, value in add.items()]:
        OUT.print(f"added where lacking: {escape(', '.join(added))}", soft_wrap=True)
    try:
        judges = reporting.who_judged(records)
    except ValidationError as error:
        return [str(error)]
    table = Table(title="Who judged what", title_justify="left")
    both = any(j.both_orders or j.one_order for j in judges)
    values = _in_order({label for j in judges for label in j.labels})
    table.add_column("judge")
    for name in ("records", "items", *(["both orders", "one order"] if both else [])):
        table.add_column(name, justify="right")
    for value in values[:12]:
        table.add_column(escape(value), justify="right")
    for j in judges[:50]:
        orders = [f"{j.both_orders:,}", f"{j.one_order:,}"] if both else []
        counts = [f"{j.labels.get(value, 0):,}" for value in values[:12]]
        table.add_row(
            escape(j.name), f"{j.verdicts:,}", f"{j.items:,}", *orders, *counts
        )
    OUT.print(table)
    if len(judges) > 50:
        OUT.print(f"and {len(judges) - 50} more judges")
    for j in judges:
        if j.both_orders and j.one_order:
            OUT.print(
                escape(
                    f"note   {j.name}: {counted(j.one_order, 'pair')} without partner "
                    "in the other order; not used where the order of showing is tested"
                ),
                soft_wrap=True,
            )
    if loaded.kind == "pairwise" and records["verdict"].dtype.kind in "iu":
        codes = ", ".join(f"{v.value} is {v.name}" for v in Verdict)
        OUT.print(
            f"note   the verdicts are numbers, read as codes: {codes}; if they mean "
            "something else, say so with --word 1=A",
            soft_wrap=True,
        )
    if loaded.kind == "ratings" and loaded.scale is None:
        OUT.print(
            "note   a report on ratings needs --scale: every label that could be "
            f"given, lowest first; given were {escape(','.join(values[:12]))}",
            soft_wrap=True,
        )
    return []


def _in_order(labels: set[str]) -> list[str]:
    """Sort labels as numbers where all of them are."""
    try:
        return sorted(labels, key=float)
    except ValueError:
        return sorted(labels)


def _print_columns(columns: tuple[str, ...], rename: dict[str, str]) -> None:
    from judgelab.reporting import USED

    table = Table(title="Columns", title_justify="left")
    table.add_column("in the file")
    table.add_column("read as")
    shown = [name for name in columns if rename.get(name, name) in USED]
    others = [name for name in columns if name not in shown]
    for name in shown:
        table.add_row(escape(name), rename.get(name, name))
    for name in others[:20]:
        near = _meant(name, rename)
        hint = f"; meant as {near!r}? --rename {name}={near}" if near else ""
        table.add_row(escape(name), escape(f"not used{hint}"))
    OUT.print(table)
    if len(others) > 20:
        OUT.print(f"and {len(others) - 20} more columns that are not used")


def _meant(name: str, rename: dict[str, str]) -> str | None:
    """Say which useful column may be misspelt in one that is not used."""
    from judgelab.reporting import USED

    if rename.get(name, name) in USED:
        return None
    near = difflib.get_close_matches(name.lower(), USED, n=1, cutoff=0.8)
    return near[0] if near else None
