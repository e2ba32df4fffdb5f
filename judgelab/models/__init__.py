"""Asking a language model: client, prompts, parsing, the log of answers, the runner.

The names that most readers need; each is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "Message": "request",
    "Request": "request",
    "Reply": "request",
    "AskError": "request",
    "Endpoint": "client",
    "LocalModel": "local",
    "Recorded": "recorded",
    "Log": "log",
    "LogError": "log",
    "Prices": "cost",
    "ask_all": "runner",
    "plan": "runner",
    "judge": "judging",
    "questions": "judging",
    "to_records": "judging",
    "shard_of": "sharding",
    "scale_up": "sharding",
    "write_batch": "batch",
    "read_batch": "batch",
}

__all__ = [*_HOME]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"judgelab.models.{_HOME[name]}"), name)
    raise AttributeError(f"module 'judgelab.models' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
