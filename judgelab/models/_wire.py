"""Requests and replies in the words of OpenAI's chat interface, the common one.

The names of the parameters, where log-probabilities stand, how a refusal looks: in one
place, for models on the web and on one's own machine.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from judgelab.models.request import Finish, Reply, Request

SPARE = {
    "response_format": "schema",
    "logprobs": "logprobs",
    "top_logprobs": "logprobs",
    "seed": "seed",
    "temperature": "temperature",
}
"""Parameters that can be spared, and what `Reply.fallbacks` calls the loss."""

_FINISHES: dict[str, Finish] = {
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "content_filter": "refusal",
}
_BROKEN_OFF = ("error", "abort")
"""Endings of a reply that broke off: what is there of it is no reply."""

_LARGEST = 2**53
"""No count of tokens is larger; one that is, or is below 0, says nothing."""


def to_body(request: Request) -> dict[str, Any]:
    """Say a request; the name of the model is still to be added."""
    body: dict[str, Any] = {
        "messages": [asdict(message) for message in request.messages],
        "temperature": request.temperature,
        "max_tokens": request.max_tokens,
    }
    if request.seed is not None:
        body["seed"] = request.seed
    if request.top_logprobs:
        body |= {"logprobs": True, "top_logprobs": request.top_logprobs}
    if request.schema is not None:
        schema = {"name": "reply", "strict": True, "schema": dict(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return body


def from_body(body: Any, fallbacks: frozenset[str] = frozenset()) -> Reply | None:
    """Read a response; None if it is not one.

    Parameters
    ----------
    body : object
        The parsed JSON.
    fallbacks : frozenset of str
        What the request had to do without.
    """
    try:
        choice = body["choices"][0]
        if choice.get("finish_reason") in _BROKEN_OFF or choice.get("error"):
            return None
        message = choice["message"]
        refusal = message.get("refusal")
        use = body.get("usage") or {}
        return Reply(
            text=refusal or _text(message["content"]),
            finish="refusal" if refusal else _finish(choice.get("finish_reason")),
            first_token=first_token(choice),
            prompt_tokens=_count(use.get("prompt_tokens")),
            completion_tokens=_count(use.get("completion_tokens")),
            model=str(body.get("model") or ""),
            fingerprint=str(body.get("system_fingerprint") or ""),
            fallbacks=tuple(sorted(fallbacks)),
        )
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None


def first_token(choice: Any) -> dict[str, float]:
    """Read the likeliest first tokens; two that are written alike become one."""
    tokens = (choice.get("logprobs") or {}).get("content") or [{}]
    likely: dict[str, float] = {}
    for token in tokens[0].get("top_logprobs") or ():
        name, value = str(token["token"]), float(token["logprob"])
        if math.isfinite(value):  # nothing is said of an impossible token
            before = likely.get(name)
            likely[name] = value if before is None else _either(before, value)
    return likely


def _count(tokens: Any) -> int:
    """Read a count of tokens; 0 where the server does not say one."""
    known = isinstance(tokens, int | float) and 0 <= tokens <= _LARGEST
    return int(tokens) if known else 0


def _either(a: float, b: float) -> float:
    high, low = max(a, b), min(a, b)
    return high + math.log1p(math.exp(low - high))


def _text(content: Any) -> str:
    """Join the parts of a reply, if it has several; none is an empty reply."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    if not isinstance(content, str | None):
        raise TypeError
    return content or ""


def _finish(reason: Any) -> Finish:
    return _FINISHES.get(reason, "stop") if isinstance(reason, str) else "stop"
