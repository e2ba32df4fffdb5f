"""Between the records and a model: prompts filled in, replies taken apart.

Every step of the pipeline takes `Ask`, a function from requests to replies, and knows
nothing of endpoints, logs and retries.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import resources
from typing import Any, TypeVar

import jinja2

from judgelab.errors import JudgelabError, ValidationError
from judgelab.models.parse import one_json_object
from judgelab.models.request import Message, Reply, Request
from judgelab.papers.rankjudge.schema import json_schema, read

Ask = Callable[[Sequence[Request]], Sequence[Reply | None]]
"""Asks a model: one reply for each request, in order; None where none came."""

MOST_TOKENS = 32_768
"""Where replies are cut; the paper's limit for judges."""

_THOUGHT = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_FENCE = re.compile(r"\A```(?:json)?\s*\n(.*?)\n?```\Z", re.DOTALL)
_Record = TypeVar("_Record")


class Unreadable(JudgelabError):
    """A reply that cannot be used; `reason` is the name under which it is counted.

    Parameters
    ----------
    reason : str
        Short and fixed, so that it can be counted.
    detail : str, default ""
        What exactly was wrong.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


@cache
def _environment() -> jinja2.Environment:
    folder = resources.files("judgelab.papers.rankjudge").joinpath("templates")
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(str(folder)),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,
    )


def request(
    template: str,
    item: str,
    fields: dict[str, Any],
    *,
    temperature: float,
    schema: Any = None,
    seed: int | None = None,
    trial: int = 0,
    **tags: str,
) -> Request:
    """Fill in a prompt; the tags say what it is about.

    `schema` is the record that the reply should be, for servers that can see to it.
    """
    text = _environment().get_template(f"{template}.jinja").render(fields)
    return Request(
        (Message("user", text),),
        temperature=temperature,
        max_tokens=MOST_TOKENS,
        seed=seed,
        schema=None if schema is None else json_schema(schema),
        trial=trial,
        tags={"item": item, "prompt": f"rankjudge/{template}"} | tags,
    )


def as_text(conversation: Iterable[Message]) -> str:
    """Write a conversation for a prompt, its rounds numbered."""
    lines = []
    for k, turn in enumerate(conversation):
        if turn.role == "user":
            lines.append(f"Round {k // 2 + 1}")
        lines.append(f"{turn.role.upper()}: {turn.content}")
    return "\n".join(lines)


def json_object(reply: Reply | None) -> dict[str, Any]:
    """Take a reply that is one JSON object, possibly in a code fence: nothing else.

    Raises
    ------
    Unreadable
        Naming what it is instead.
    """
    if reply is None:
        raise Unreadable("no reply")
    if reply.finish == "refusal":
        raise Unreadable("refused")
    if reply.finish == "length":
        raise Unreadable("cut off")
    text = _THOUGHT.sub("", reply.text).strip()
    fenced = _FENCE.match(text)
    try:
        return one_json_object(fenced[1] if fenced else text)
    except ValueError as error:
        raise Unreadable("not JSON", str(error)) from None


def record(kind: type[_Record], reply: Reply | None) -> _Record:
    """Take a reply that is one record.

    Raises
    ------
    Unreadable
        If it is no JSON, or another record.
    """
    value = json_object(reply)
    try:
        return read(kind, value)
    except ValidationError as error:
        raise Unreadable("wrong fields", str(error)) from None
