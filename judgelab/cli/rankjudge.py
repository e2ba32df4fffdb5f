"""``judgelab rankjudge``: make a benchmark for judges and let judges take it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.console import Console
from rich.table import Table

from judgelab.errors import JudgelabError, ValidationError

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
            help="Who writes the pairs: 'scripted' (a stand-in, no language model), "
            "'local' (a small model on this machine), or a model's name at the address."
        ),
    ],
    checker: Annotated[
        str | None,
        typer.Option(help="Who checks, if not the one who writes, as in the paper."),
    ] = None,
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
            help="Names, with commas; without an address also 'local' and those of "
            "the scripted judges, which are the default with 'scripted'."
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
        bool, typer.Option("--both-orders", help="Show every pair in both orders.")
    ] = False,
    seed: Annotated[
        int, typer.Option(min=0, help="Another seed, other conditions.")
    ] = 0,
    concurrency: Annotated[
        int, typer.Option(min=1, help="Requests under way at once.")
    ] = 8,
    max_tokens: Annotated[
        int, typer.Option(min=1, help="Where replies are cut.")
    ] = 32_768,
) -> None:
    """Documents in, a ranked benchmark out; run it again and nothing is asked twice.

    The key of an endpoint comes from the environment: JUDGELAB_API_KEY.
    """
    from judgelab.models.log import Log
    from judgelab.papers import rankjudge as rj

    console = Console()
    scripted = model == "scripted" and base_url is None
    names = _names(judges, scripted)
    texts = rj.read_documents(documents)
    wanted = dict.fromkeys([model, *([checker] if checker else []), *names])
    models = {name: _model(name, base_url) for name in wanted}
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ValidationError(f"--out {out} cannot be a folder: {error}") from error
    log = Log(out / "log.sqlite")

    def tell(line: str) -> None:
        console.print(line, markup=False, highlight=False)

    def ask(name: str) -> rj.Ask:
        return rj.asking(
            models[name],
            log,
            max_tokens=max_tokens,
            tell=tell,
            concurrency=concurrency,
            progress=console.is_terminal,
        )

    stand_ins = [n for n in models if isinstance(models[n], rj.Scripted)]
    if stand_ins:
        tell(f"{rj.LABEL}: {', '.join(stand_ins)}")
    result = rj.run(
        texts,
        ask(model),
        {name: ask(name) for name in names},
        checker=None if checker is None else ask(checker),
        per_document=per_document or (10 if scripted else 1),
        seed=seed,
        orders=("AB", "BA") if both_orders else ("AB",),
        tell=tell,
    )
    result.save(out)
    source = rj.LABEL if scripted else f"written by {model}"
    _show_losses(console, result)
    tell(f"Pairs, checks, matches and tables: {out}")
    if result.stopped:
        raise ValidationError(result.stopped)
    _save_pairs(result, out / "pairs.html", source)
    tell(f"The pairs to read, with what the judges said: {out / 'pairs.html'}")
    _show(console, result, source, out / "matches.json")


@app.command()
def rank(
    matches: Annotated[
        Path, typer.Argument(help="Matches as .json, .jsonl or .parquet, as released.")
    ],
    criterion: Annotated[
        str, typer.Option(help="What has to be right: joint, verdict+turn or verdict.")
    ] = "joint",
    rule: Annotated[
        str,
        typer.Option(
            help="What a reply that says too little counts: strict (wrong) or released "
            "(passed over, or the pair dropped)."
        ),
    ] = "strict",
    method: Annotated[
        str,
        typer.Option(
            help="How judges are rated: conditional, joint or mm (the paper)."
        ),
    ] = "conditional",
    interval: Annotated[
        str,
        typer.Option(
            help="How intervals are made: cluster, or model, which needs fewer pairs "
            "and trusts the model of one ability."
        ),
    ] = "cluster",
    hardest: Annotated[
        float, typer.Option(help="Share of the hardest pairs to drop.")
    ] = 0.0,
) -> None:
    """Rank the judges of a file of matches; the released file loads as it is."""
    from judgelab.papers import rankjudge as rj

    table = rj.grades(
        rj.load(rj.Match, matches), criterion=cast(Any, criterion), rule=cast(Any, rule)
    )
    curation = rj.curate(
        table,
        hardest=hardest,
        method=cast(Any, method),
        interval=cast(Any, interval),
        unidentified="largest",
    )
    words = f"{criterion}, {rule}, {method}, {interval}"
    _show_judges(Console(), curation, table, words)


def _names(judges: str | None, scripted: bool) -> list[str]:
    from judgelab.papers.rankjudge import PANEL

    if judges is None and not scripted:
        raise ValidationError("name the judges: --judges first,second,…")
    names = [*PANEL] if judges is None else [n.strip() for n in judges.split(",")]
    if len(names) < 2 or len(set(names)) < len(names) or "" in names:
        raise ValidationError(
            f"--judges is {judges!r}; give two or more different names, with commas"
        )
    return names


def _model(name: str, base_url: str | None) -> Any:
    """Find who answers to a name: at the address, if there is one."""
    from judgelab.papers.rankjudge import PANEL, WRITER

    if base_url is None:
        if name == "scripted":
            return WRITER
        if name in PANEL:
            return PANEL[name]
        if name.startswith("scripted"):
            raise ValidationError(
                f"no scripted judge is called {name}; there are {', '.join(PANEL)}"
            )
        if name == "local":
            from judgelab.models.local import LocalModel

            return LocalModel(context=8192)
    from judgelab.models.client import Endpoint

    return Endpoint(name, base_url)


def _save_pairs(result: Any, path: Path, source: str) -> None:
    from judgelab.explore.rankjudge import PairReader

    path.write_text(
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Pairs</title>'
        f"<body>{PairReader(result.cases, source=source).to_html()}</body></html>\n",
        encoding="utf-8",
    )


def _show_losses(console: Console, result: Any) -> None:
    from judgelab.papers.rankjudge import losses

    lost = Table("where", "why", "pairs", title="Pairs that were lost")
    for row in losses(result.fates).itertuples(index=False):
        lost.add_row(str(row.layer), str(row.reason), str(row.pairs))
    console.print(lost)
    console.print(f"{len(result.items)} pairs survived.", highlight=False)


def _show(console: Console, result: Any, source: str, matches: Path) -> None:
    try:
        curation = result.curation
    except JudgelabError as error:
        for judge, share in result.grades.accuracy().items():
            console.print(f"{judge}: all right on {share:.0%}", highlight=False)
        raise ValidationError(
            f"no ranking: {error}. Nothing is lost: with a larger --per-document only "
            f"new pairs are asked about; judgelab rankjudge rank {matches} has other "
            "ways to rate what is there"
        ) from error
    console.print(
        f"{len(curation.trivial)} of them on which all judges agree, "
        f"{len(curation.incomplete)} incomplete and {len(curation.hardest)} hardest "
        "are left out of the ranking.",
        highlight=False,
    )
    _show_judges(console, curation, result.grades, source)


def _show_judges(console: Console, curation: Any, grades: Any, source: str) -> None:
    from judgelab.papers.rankjudge import leaderboard

    accuracy = grades.accuracy()
    table = Table(
        *("rank", "judge", "Elo (mean 1500)", "95 %", "ranks, 95 %", "right"),
        title=f"Judges ({source})",
    )
    table.columns[1].no_wrap = True
    for row in leaderboard(curation.ranking):
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
