"""``judgelab plan``: how many labels, before the money is spent."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from judgelab.cli.files import OUT
from judgelab.errors import ValidationError


def plan(
    width: Annotated[
        float | None, typer.Option(help="Wanted length of the interval: 0.1 is ±5 %.")
    ] = None,
    power: Annotated[
        float | None,
        typer.Option(help="Wanted chance to notice that --share is not --chance."),
    ] = None,
    share: Annotated[
        float | None,
        typer.Option(help="Expected share: of agreement, of right answers."),
    ] = None,
    chance: Annotated[
        float, typer.Option(help="The share that luck would give, for --power.")
    ] = 0.5,
    kappa: Annotated[
        float | None, typer.Option(help="Expected kappa, with --width and --use.")
    ] = None,
    use: Annotated[
        str | None,
        typer.Option(
            metavar="P,Q,…",
            help="How often the labels are expected: 0.4,0.4,0.2 (A, B, tie).",
        ),
    ] = None,
    level: Annotated[float, typer.Option(help="Coverage of intervals.")] = 0.95,
    votes: Annotated[int, typer.Option(help="Labels bought per item.")] = 1,
    price: Annotated[
        float | None, typer.Option(help="Price of one label, in your money.")
    ] = None,
) -> None:
    """Say how many items are needed: for an interval, or to notice a difference.

    Examples: judgelab plan --width 0.1 --share 0.8; judgelab plan --power 0.8 --share
    0.6; judgelab plan --width 0.2 --kappa 0.6 --use 0.4,0.4,0.2 --votes 2 --price 0.5

    Ends with status 0, or 2 if the wish is not possible.
    """
    from judgelab.planning import (
        items_for_kappa,
        items_for_power,
        items_for_proportion,
    )

    if votes < 1:
        raise ValidationError(f"--votes {votes}; at least one label per item")
    if price is not None and not 0 <= price < float("inf"):
        raise ValidationError(f"--price {price}; give a number from 0 up")
    rows: list[tuple[str, int]] = []
    if width is not None and kappa is None:
        expected = 0.5 if share is None else share
        n = items_for_proportion(width, share=expected, level=level)
        rows.append((f"a share near {expected:g}, interval {width:g} wide", n))
    if power is not None:
        if share is None:
            raise ValidationError("--power needs --share: the share to be noticed")
        n = items_for_power(share, against=chance, power=power, level=level)
        rows.append((f"to tell {share:g} from {chance:g}, power {power:g}", n))
    if kappa is not None:
        if width is None or use is None:
            raise ValidationError("--kappa needs --width and --use")
        n = items_for_kappa(width, kappa=kappa, shares=_numbers(use), level=level)
        rows.append((f"kappa near {kappa:g}, interval {width:g} wide", n))
    if not rows:
        raise ValidationError(
            "say what is wanted: how narrow an interval (--width 0.1 --share 0.8), or "
            "what to notice and how surely (--power 0.8 --share 0.6)"
        )
    table = Table(title="What it takes", title_justify="left")
    table.add_column("for")
    for name in ("items", "labels", *(["cost"] if price is not None else [])):
        table.add_column(name, justify="right")
    for what, n in rows:
        cost = [f"{n * votes * price:,.2f}"] if price is not None else []
        table.add_row(what, f"{n:,}", f"{n * votes:,}", *cost)
    OUT.print(table)
    OUT.print(
        "Items are taken as independent; if several share a question, count questions. "
        "To tell two judges apart, --share is how often the better one is right where "
        "only one is; divide by the share of such items for the number of all.",
        soft_wrap=True,
    )


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValidationError(f"--use {text!r}: write numbers with commas") from None
