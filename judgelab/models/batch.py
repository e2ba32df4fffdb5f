"""Asking by file: what a log lacks goes out as one file, and the answers come back.

The format is that of OpenAI's batch endpoint, which vLLM and others read too: one JSON
object per line, each with the name of its request.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from judgelab.errors import ValidationError
from judgelab.models._wire import from_body, to_body
from judgelab.models.client import Endpoint
from judgelab.models.log import Log
from judgelab.models.request import AskError, Reply, Request
from judgelab.records import json_objects

_PATH = "/v1/chat/completions"


class Batch(NamedTuple):
    """What became of the requests of a batch."""

    answered: int
    """New in the log."""
    failed: int
    """Without a reply: an error in its place. Asked by the next batch or run."""
    lacking: int
    """Neither in the log nor in the file."""


def write_batch(
    requests: Iterable[Request], endpoint: Endpoint, log: Log, path: str | Path
) -> int:
    """Write the requests that a log does not answer yet, for a batch endpoint.

    Parameters
    ----------
    requests : iterable of Request
        As from `questions`.
    endpoint : Endpoint
        Who will be asked.
    log : Log
        Where the answers will go.
    path : str or pathlib.Path
        The file; replaced if it is there. Services limit its length: write several,
        one for each shard.

    Returns
    -------
    int
        How many requests were written.

    Notes
    -----
    The file goes to ``vllm run-batch``, or by upload to a service's batch endpoint; it
    holds no key.

    Chapter: *Ask a real model*.
    """
    keyed = {request.key(endpoint.identity): request for request in requests}
    known = log.known(keyed)
    todo = {key: request for key, request in keyed.items() if key not in known}
    with Path(path).open("w", encoding="utf-8") as file:
        for key, request in todo.items():
            body = {"model": endpoint.model, **to_body(request), **endpoint.extra}
            line = {"custom_id": key, "method": "POST", "url": _PATH, "body": body}
            file.write(json.dumps(line) + "\n")
    return len(todo)


def read_batch(
    path: str | Path, requests: Iterable[Request], endpoint: Endpoint, log: Log
) -> Batch:
    """Put the answers of a batch into a log.

    Parameters
    ----------
    path : str or pathlib.Path
        What the batch endpoint gave back; its lines may be in any order.
    requests, endpoint, log
        As they were given to `write_batch`.

    Returns
    -------
    Batch
        ``answered``, ``failed`` and ``lacking``. A reply that the log has already is
        not counted again. `judge` and `ask_all` with this log then ask what is left.

    Raises
    ------
    ValidationError
        If a line is not JSON, or is about none of these requests (another prompt,
        model or endpoint than was written).

    Notes
    -----
    Chapter: *Ask a real model*.
    """
    path, identity = Path(path), endpoint.identity
    keyed = {request.key(identity): request for request in requests}
    answered, failed = set[str](), set[str]()
    with log.writing() as writer:
        writer.expect(identity, keyed.values())
        known = writer.known(keyed)
        for number, line in json_objects(path):
            key = line.get("custom_id")
            if key not in keyed:
                raise ValidationError(
                    f"{path.name}, line {number}: {key!r} is none of these requests; "
                    "give those that were written, and the same endpoint"
                )
            if key in known or key in answered:
                continue
            reply, error = _outcome(line)
            if reply:
                writer.reply(key, reply, seconds=0.0)
                answered.add(key)
            else:
                writer.failure(key, AskError(error, passing=True), seconds=0.0)
                failed.add(key)
    lacking = keyed.keys() - known.keys() - answered - failed
    return Batch(len(answered), len(failed - answered), len(lacking))


def _outcome(line: dict[str, object]) -> tuple[Reply | None, str]:
    """Read a line's reply, or else say what stands in its place."""
    response = line.get("response")
    if isinstance(response, dict) and response.get("status_code") == 200:
        reply = from_body(response.get("body"))
        if reply:
            return reply, ""
    return None, f"the batch has no reply: {line.get('error') or response}"[:500]
