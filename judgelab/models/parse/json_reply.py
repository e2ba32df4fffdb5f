"""Replies that are a JSON object, and the object alone."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from judgelab.models.parse.labels import REFUSAL, Scale, plain
from judgelab.models.parse.outcome import Meaning, Parsed, Reason, readable, said
from judgelab.models.request import Reply, whole


class RepeatedField(ValueError):
    """A JSON object has two fields of one name: which of the two was meant?"""


def one_json_object(text: str) -> dict[str, Any]:
    """Which fields has a text that is one JSON object, and nothing else?

    Parameters
    ----------
    text : str
        Without thinking aloud, fences and words around it.

    Returns
    -------
    dict
        Its fields.

    Raises
    ------
    RepeatedField
        If a field stands twice in one object, whichever of the two a JSON library would
        have kept.
    ValueError
        If the text is anything else than one object; the message says what.

    Notes
    -----
    Chapter: *Ask a real model*.

    Examples
    --------
    >>> one_json_object('{"verdict": "B"}')
    {'verdict': 'B'}
    >>> one_json_object("[1, 2]")
    Traceback (most recent call last):
      ...
    ValueError: a list and no object
    """
    try:
        value = json.loads(text, object_pairs_hook=_fields)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(value, dict):
        raise ValueError(f"a {type(value).__name__} and no object")
    return value


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise RepeatedField(f"{', '.join(twice)} given twice")
    return fields


def parse_json(
    reply: Reply, schema: Mapping[str, Any], labels: Mapping[str, Meaning]
) -> Parsed:
    """Which verdict does a JSON reply state, and what else?

    Parameters
    ----------
    reply : Reply
        As it came.
    schema : mapping
        JSON schema of an object: its `properties`, each with `type` ("string" or
        "integer"), and `enum`, `minimum` or `maximum`. All are required.
    labels : mapping of str to Verdict, SideBySide or float
        What the property ``verdict`` can be, and what it stands for.

    Returns
    -------
    Parsed
        The other properties in `details`.

    Notes
    -----
    A key that occurs twice is a conflict, whichever of the two a JSON library would
    have kept. Chapter: *Ask a real model*.

    Examples
    --------
    >>> from judgelab.verdict import Verdict
    >>> schema = {"properties": {"verdict": {"type": "string", "enum": ["A", "B"]}}}
    >>> labels = {"A": Verdict.A, "B": Verdict.B}
    >>> parse_json(Reply('{"verdict": "B"}'), schema, labels).verdict
    B
    >>> parse_json(Reply('{"verdict": "B", "verdict": "A"}'), schema, labels).reason
    <Reason.CONFLICTING: 'conflicting labels'>
    """
    scale = Scale(labels)
    text = readable(reply)
    if isinstance(text, Reason):
        return scale.invalid(text)
    found, reason = _object_in(text.strip())
    strict, before, after = not reason, "", ""
    if reason is Reason.NOT_JSON:
        begin, end = text.find("{"), text.rfind("}") + 1
        before, after = text[:begin], text[end:]
        found, reason = _object_in(text[begin:end])
        if REFUSAL.match(plain(text)):
            reason = Reason.REFUSAL
    if reason:
        return scale.invalid(reason)
    details: dict[str, Any] = {}
    for name, wanted in schema["properties"].items():
        if name not in found:
            return scale.invalid(Reason.SHAPE)
        value = _field(found[name], wanted)
        if isinstance(value, Reason):
            return scale.invalid(value)
        details[name] = value
    label = str(details["verdict"])
    if label not in labels:
        return scale.invalid(Reason.OUTSIDE)
    # Between other words the object is read as a label in double brackets would be.
    if not strict and isinstance(
        why := scale.only(f"{before}[[{label}]]{after}", bare=False), Reason
    ):
        return scale.invalid(why)
    strict = strict and details == found and text == reply.text
    del details["verdict"]
    return said(labels[label], strict=strict, details=details)


def _object_in(text: str) -> tuple[dict[str, Any], Reason | None]:
    try:
        return one_json_object(text), None
    except RepeatedField:
        return {}, Reason.CONFLICTING
    except ValueError:
        return {}, Reason.NOT_JSON


def _field(value: Any, wanted: Mapping[str, Any]) -> Any:
    """Return the value as the schema has it, or the reason why it does not fit."""
    if wanted["type"] == "integer":
        if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,9}", value.strip()):
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            return Reason.SHAPE
        low, high = wanted.get("minimum", value), wanted.get("maximum", value)
        return value if low <= value <= high else Reason.OUTSIDE
    if not isinstance(value, str):
        return Reason.SHAPE
    if "enum" not in wanted:
        return whole(value)
    known = {plain(word).casefold(): word for word in wanted["enum"]}
    return known.get(plain(value).strip().casefold(), Reason.OUTSIDE)
