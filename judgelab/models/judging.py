"""A model as a judge: items become questions, and replies become tidy records.

Every item is shown in one order or in both, as often as wanted. Four outcomes stay
apart in the records: *answered*; *unparsed*, *truncated* or *refusal*, whose verdict is
INVALID; and *missing*, where no reply came and the verdict is MISSING. None of them is
a tie.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import narwhals as nw

from judgelab._checks import whole
from judgelab.errors import ValidationError
from judgelab.models.log import Answer, Log
from judgelab.models.parse import FirstToken, Parsed, Reason
from judgelab.models.prompts import Prompt, find_prompt
from judgelab.models.request import Model, Reply, Request
from judgelab.models.runner import Run, ask_all
from judgelab.verdict import Verdict

if TYPE_CHECKING:
    import pandas as pd

Orders = Literal["both", "given", "swapped"]
"""How the two answers of an item are shown: A first, B first, or once each."""

Parse = Callable[[Reply], Parsed]

_SHOWN: dict[Orders, tuple[str, ...]] = {
    "both": ("given", "swapped"),
    "given": ("given",),
    "swapped": ("swapped",),
}

_OWN = (
    *("judge", "swapped", "trial", "verdict", "label", "outcome", "reason", "key"),
    *("log_odds", "mass", "details"),
)
"""Columns of the records that the items must leave free."""

_OUTCOMES: dict[str, str] = {Reason.REFUSAL: "refusal", Reason.TRUNCATED: "truncated"}


class Judged(NamedTuple):
    """What a judge said, and how the run went."""

    records: pd.DataFrame
    run: Run


def judge(
    items: Any,
    model: Model,
    prompt: Prompt | str | Path,
    log: Log,
    *,
    orders: Orders = "both",
    repeats: int = 1,
    name: str | None = None,
    parse: Parse | None = None,
    temperature: float = 0.0,
    max_tokens: int = 512,
    seed: int | None = None,
    top_logprobs: int = 0,
    **options: Any,
) -> Judged:
    """Ask a model to judge every item, and read what it says.

    Parameters
    ----------
    items : dataframe
        One row per item, of any engine: ``item`` (its name), a column for each field
        of the prompt (as ``question``, ``answer_a``, ``answer_b``), and anything else,
        which is carried into the records.
    model : Model
        Who judges.
    prompt : Prompt, str or pathlib.Path
        What is asked: a prompt, the name of a shipped one, or a template file.
    log : Log
        Where replies come from and go to.
    orders : {"both", "given", "swapped"}, default "both"
        Which answer is shown first. A prompt for a single answer has no order.
    repeats : int, default 1
        How often each question is asked; the records tell them apart by ``trial``.
    name : str, optional
        What the records call the judge; the model's identity by default.
    parse : callable, optional
        How a reply is read, if not as the prompt reads it.
    temperature, max_tokens, seed, top_logprobs
        As in `Request`. The seed goes up by one with each trial.
    **options
        Passed to `ask_all`: concurrency, rates, attempts, budget, progress, …

    Returns
    -------
    records : pandas.DataFrame
        As `to_records` gives them: ready for `judgelab.check_pairwise`,
        `judgelab.pair_orders` and all that follow.
    run : Run
        Replies, counts, use, and whether the run was stopped.

    Raises
    ------
    ValidationError
        If an item has no name or shares it, lacks a field, or has a column with the
        name of one of the records'; nothing is asked then.
    LogError
        As `ask_all`.

    Notes
    -----
    Chapter: *Ask a real model*.

    Examples
    --------
    A judge that always prefers the answer in the first slot:

    >>> import tempfile
    >>> import pandas as pd
    >>> class First:
    ...     identity = "always the first"
    ...     async def ask(self, request):
    ...         return Reply("A")
    >>> item = {"item": "q1", "question": "2 + 2?", "answer_a": "4", "answer_b": "5"}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = Log(f"{folder}/run.sqlite")
    ...     records, run = judge(pd.DataFrame([item]), First(), "pairwise", log)
    >>> records[["item", "swapped", "verdict", "outcome"]]
      item  swapped verdict   outcome
    0   q1    False       A  answered
    1   q1     True       A  answered
    """
    asked = find_prompt(prompt)
    rows = _items(items, asked)
    requests = _questions(
        rows,
        asked,
        orders=orders,
        repeats=repeats,
        temperature=temperature,
        max_tokens=max_tokens,
        seed=seed,
        top_logprobs=top_logprobs,
    )
    run = ask_all(requests, model, log, **options)
    answers = (
        Answer(model.identity, *answer)
        for answer in zip(requests, run.replies, run.errors, strict=True)
    )
    records = _records(answers, parse or asked.parse, rows, asked.fields, name)
    return Judged(records, run)


def questions(
    items: Any,
    prompt: Prompt | str | Path,
    *,
    orders: Orders = "both",
    repeats: int = 1,
    temperature: float = 0.0,
    max_tokens: int = 512,
    seed: int | None = None,
    top_logprobs: int = 0,
) -> list[Request]:
    """Write the questions that a judge would be asked.

    Parameters
    ----------
    items, prompt, orders, repeats, temperature, max_tokens, seed, top_logprobs
        As in `judge`.

    Returns
    -------
    list of Request
        Item by item, order by order, trial by trial; for `plan` and `ask_all`. Tagged
        with ``item``, ``order``, ``prompt`` and ``version``.

    Raises
    ------
    ValidationError
        As `judge`.

    Notes
    -----
    Chapter: *Ask a real model*.
    """
    asked = find_prompt(prompt)
    return _questions(
        _items(items, asked),
        asked,
        orders=orders,
        repeats=repeats,
        temperature=temperature,
        max_tokens=max_tokens,
        seed=seed,
        top_logprobs=top_logprobs,
    )


def to_records(
    answers: Iterable[Answer],
    parse: Parse,
    *,
    items: Any = None,
    name: str | None = None,
) -> pd.DataFrame:
    """Read logged replies, anew or with another parser, without asking.

    Parameters
    ----------
    answers : iterable of Answer
        From `Log.answers`.
    parse : callable
        How a reply is read, as ``prompt.parse``.
    items : dataframe, optional
        ``item`` and the columns that are to stand in the records too.
    name : str, optional
        What the records call the judge; the model's identity by default.

    Returns
    -------
    pandas.DataFrame
        One row per request: ``judge``, ``item``, for pairs ``swapped``, then ``trial``;
        ``verdict`` (a word, on the slots as shown) for pairs, ``label`` (nan if there
        is none) for single answers; ``outcome`` ("answered", "unparsed", "truncated",
        "refusal" or "missing"), ``reason`` (why it is not "answered"), ``key`` (of the
        log); ``log_odds`` and ``mass`` if first tokens were read, ``details`` if a
        reply had more to say; then the other columns of the items, where ``model_a``
        and ``model_b`` are the models shown first and second.

    Raises
    ------
    ValidationError
        If an answer is about none of the items.

    Notes
    -----
    Labels for `judgelab.check_ratings` are those with the outcome "answered": there, a
    judge who gave no label has no row.

    Chapter: *Ask a real model*.

    Examples
    --------
    >>> from judgelab.models.request import Message
    >>> tags = {"item": "q1", "order": "given"}
    >>> request = Request((Message("user", "A or B?"),), tags=tags)
    >>> answers = [Answer("a model", request, Reply("Both are fine."), "")]
    >>> to_records(answers, find_prompt("pairwise").parse)[["verdict", "reason"]]
       verdict      reason
    0  INVALID    no label
    """
    rows = None if items is None else _items(items, None)
    return _records(answers, parse, rows, (), name)


def _items(items: Any, prompt: Prompt | None) -> dict[str, dict[str, Any]]:
    """Index the items by name; refuse what could not be told apart afterwards."""
    frame: Any = nw.from_native(items)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    needed = ("item", *(prompt.fields if prompt else ()))
    if lacking := [column for column in needed if column not in frame.columns]:
        raise ValidationError(
            f"the items have no column {lacking[0]!r}; there are: "
            f"{', '.join(frame.columns)}"
        )
    if taken := [c for c in frame.columns if c in _OWN and c not in needed]:
        raise ValidationError(
            f"the items have a column {taken[0]!r}, and so will the records; rename "
            "that of the items"
        )
    rows: dict[str, dict[str, Any]] = {}
    nameless = frame["item"].is_null().to_list()
    for number, row in enumerate(frame.iter_rows(named=True), start=1):
        item = row["item"]
        if nameless[number - 1] or not str(item).strip():
            raise ValidationError(f"row {number}: the item has no name; give it one")
        if str(item) in rows:
            raise ValidationError(
                f"row {number}: there is another item {item!r}; give each its own name"
            )
        rows[str(item)] = row
    return rows


def _questions(
    rows: Mapping[str, Mapping[str, Any]],
    prompt: Prompt,
    *,
    orders: Orders,
    repeats: int,
    seed: int | None,
    **sampling: Any,
) -> list[Request]:
    if orders not in _SHOWN:
        raise ValidationError(f"orders is {orders!r}; choose from {', '.join(_SHOWN)}")
    repeats = whole("repeats", repeats, least=1)
    about = {"prompt": prompt.name, "version": prompt.version}
    # A single answer has no order.
    ways: tuple[str | None, ...] = _SHOWN[orders] if prompt.slots else (None,)
    requests = []
    for item, row in rows.items():
        given = {name: row[name] for name in prompt.fields}
        for order in ways:
            fields = prompt.swapped(given) if order == "swapped" else given
            try:
                messages = prompt.messages(**fields)
            except ValidationError as error:
                raise ValidationError(f"item {item!r}: {error}") from None
            tags = {"item": item, **({"order": order} if order else {}), **about}
            requests += [
                Request(
                    messages,
                    seed=None if seed is None else seed + trial,
                    schema=prompt.schema,
                    trial=trial,
                    tags=tags,
                    **sampling,
                )
                for trial in range(repeats)
            ]
    return requests


def _records(
    answers: Iterable[Answer],
    parse: Parse,
    rows: Mapping[str, Mapping[str, Any]] | None,
    fields: Collection[str],
    name: str | None,
) -> pd.DataFrame:
    import pandas as pd

    records = []
    for answer in answers:
        tags, order = answer.request.tags, answer.request.tags.get("order")
        row = {"item": tags["item"]} if rows is None else rows.get(tags["item"])
        if row is None:
            raise ValidationError(f"an answer is about {tags['item']!r}, no item here")
        carried = {c: v for c, v in row.items() if c != "item" and c not in fields}
        if order == "swapped" and {"model_a", "model_b"} <= carried.keys():
            first, second = carried["model_b"], carried["model_a"]
            carried |= {"model_a": first, "model_b": second}
        records.append(
            {
                "judge": name or answer.identity,
                "item": row["item"],
                **({"swapped": order == "swapped"} if order else {}),
                "trial": answer.request.trial,
                **_outcome(answer, parse, pair=order is not None),
                "key": answer.request.key(answer.identity),
                **carried,
            }
        )
    return pd.DataFrame(records)


def _outcome(answer: Answer, parse: Parse, *, pair: bool) -> dict[str, Any]:
    """Say what came of a question; an unreadable reply and none are different."""
    parsed = parse(answer.reply) if answer.reply else Parsed(reason=answer.error)
    if answer.reply is None:
        outcome, verdict = "missing", Verdict.MISSING.name
    elif parsed.reason:
        outcome = _OUTCOMES.get(parsed.reason, "unparsed")
        verdict = Verdict.INVALID.name
    else:
        outcome = "answered"
        verdict = parsed.verdict.name if parsed.verdict is not None else ""
    label = math.nan if parsed.value is None else parsed.value
    return {
        **({"verdict": verdict} if pair else {"label": label}),
        "outcome": outcome,
        "reason": str(parsed.reason),
        **(
            {"log_odds": parsed.log_odds, "mass": parsed.mass}
            if isinstance(parsed, FirstToken)
            else {}
        ),
        **({"details": dict(parsed.details)} if parsed.details else {}),
    }
