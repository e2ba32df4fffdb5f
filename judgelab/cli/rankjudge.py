"""``judgelab rankjudge``: make a benchmark for judges and let judges take it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from judgelab.errors import ValidationError

app = typer.Typer(
    no_args_is_help=True, help="Make a benchmark for judges, run it, rank the judges."
)


@app.callback()
def rankjudge() -> None:
    """Make a benchmark for judges, run it, rank the judges."""


@app.command()
def run(
    model: Annotated[
        str,
        typer.Option(
            help="Who writes and checks: 'scripted' (a stand-in, no language model), "
            "or the name of a model at the endpoint."
        ),
    ],
    documents: Annotated[
        Path | None,
        typer.Option(
            help="Folder of .txt and .md files; subfolders are domains. Default: nine "
            "short texts that come with the package."
        ),
    ] = None,
    judges: Annotated[
        str | None,
        typer.Option(
            help="Names, with commas. Default with 'scripted': all scripted judges."
        ),
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(help="An OpenAI-compatible address, as http://127.0.0.1:8000/v1."),
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder for the log and the results.")
    ] = Path("rankjudge-run"),
    per_document: Annotated[
        int | None,
        typer.Option(
            min=1, help="Pairs per document. Default: 10 with 'scripted', else 1."
        ),
    ] = None,
    both_orders: Annotated[
        bool, typer.Option(help="Show every pair in both orders.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Another seed, other conditions.")] = 0,
    concurrency: Annotated[
        int, typer.Option(min=1, help="Requests under way at once.")
    ] = 8,
) -> None:
    """Documents in, a ranked benchmark out; run it again and nothing is asked twice.

    The key of an endpoint comes from the environment: JUDGELAB_API_KEY.
    """
    from judgelab.models.log import Log
    from judgelab.papers import rankjudge as rj

    console = Console()
    scripted = model == "scripted"
    names = _names(judges, scripted)
    texts = rj.read_documents(documents)
    out.mkdir(parents=True, exist_ok=True)
    log = Log(out / "log.sqlite")

    def tell(line: str) -> None:
        console.print(line, markup=False, highlight=False)

    def ask(name: str) -> rj.Ask:
        model = _model(name, scripted, base_url)
        return rj.asking(model, log, tell=tell, concurrency=concurrency)

    if scripted:
        console.print(f"{rj.LABEL}: the numbers say nothing about any model.")
    result = rj.run(
        texts,
        ask(model),
        {name: ask(name) for name in names},
        per_document=per_document or (10 if scripted else 1),
        seed=seed,
        orders=("AB", "BA") if both_orders else ("AB",),
        tell=tell,
    )
    result.save(out)
    _show(console, result, rj.LABEL if scripted else model)
    console.print(f"Pairs, checks, matches and tables: {out}", markup=False)


def _names(judges: str | None, scripted: bool) -> list[str]:
    from judgelab.papers.rankjudge import PANEL

    if judges is None and not scripted:
        raise ValidationError("name the judges: --judges first,second,…")
    names = [*PANEL] if judges is None else [n.strip() for n in judges.split(",")]
    if len(names) < 2 or len(set(names)) < len(names) or "" in names:
        raise ValidationError(
            f"--judges is {judges!r}; give two or more different names, with commas"
        )
    if scripted and (unknown := [name for name in names if name not in PANEL]):
        raise ValidationError(
            f"no scripted judge is called {', '.join(unknown)}; "
            f"there are {', '.join(PANEL)}"
        )
    return names


def _model(name: str, scripted: bool, base_url: str | None) -> Any:
    from judgelab.papers.rankjudge import PANEL, WRITER

    if scripted:
        return PANEL.get(name, WRITER)
    from judgelab.models.client import Endpoint

    return Endpoint(name, base_url)


def _show(console: Console, result: Any, source: str) -> None:
    from judgelab.papers.rankjudge import losses

    lost = Table("where", "why", "pairs", title="Pairs that were lost")
    for row in losses(result.fates).itertuples(index=False):
        lost.add_row(str(row.layer), str(row.reason), str(row.pairs))
    console.print(lost)
    # Raises, with the reason, if no two judges can be rated.
    curation = result.curation
    console.print(
        f"{len(result.items)} pairs survived; {len(curation.trivial)} of them on which "
        f"all judges agree, {len(curation.incomplete)} incomplete and "
        f"{len(curation.hardest)} hardest are left out of the ranking.",
        highlight=False,
    )
    accuracy = result.grades.accuracy()
    table = Table(
        *("rank", "judge", "Elo (mean 1500)", "95 %", "ranks, 95 %", "all three right"),
        title=f"Judges ({source})",
    )
    table.columns[1].no_wrap = True
    for row in result.leaderboard():
        elo, rank = row["elo"], row["rank"]
        rated = elo.value == elo.value
        table.add_row(
            f"{rank.value:.0f}" if rated else "–",
            row["judge"],
            f"{elo.value:.0f}" if rated else "no finite rating",
            f"{elo.low:.0f} to {elo.high:.0f}" if rated else "",
            f"{rank.low:.0f} to {rank.high:.0f}" if rated else "",
            f"{accuracy[row['judge']]:.0%}",
        )
    console.print(table)
