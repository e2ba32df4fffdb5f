"""The command line: ``judgelab --help``."""

from __future__ import annotations

import sys

import typer
from rich.console import Console

from judgelab.cli import models, planning, rankjudge, sources, study
from judgelab.cli.files import in_options
from judgelab.errors import JudgelabError

app = typer.Typer(
    name="judgelab",
    no_args_is_help=True,
    add_completion=False,
    # The other way keeps the line breaks of docstrings, at any width of a terminal.
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    help="Can a language model be trusted as a judge, and how sure are we?",
    epilog="Begin with: judgelab check FILE. Every command ends with status 0 if all "
    "is well, 1 if it found something wrong, 2 if it could not do its work; why stands "
    "on stderr.",
)
app.command()(study.check)
app.command()(study.report)
app.command()(study.compare)
app.command()(planning.plan)
app.command()(sources.reproduce)
app.command()(sources.fetch)
app.command()(models.judge)
app.add_typer(models.app, name="models")
app.add_typer(rankjudge.app, name="rankjudge")


def main() -> None:
    """Run the command line: an error of ours is one message on stderr, status 2."""
    try:
        app()
    except JudgelabError as error:
        hint = in_options([str(error)])
        Console(stderr=True).print(
            f"judgelab: {error}" + (f"\n{hint}" if hint else ""),
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
        sys.exit(2)
