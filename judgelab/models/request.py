"""What is asked of a language model and what comes back: the contract of this room.

Everything that can answer is a `Model`: an endpoint, a model on the reader's own
processor, a scripted stand-in. Everything that asks (a judge of pairs, a generator of
conversations) makes `Request` objects and reads `Reply` objects, so that one log, one
retry policy and one budget serve all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, Protocol

from judgelab.errors import JudgelabError

Finish = Literal["stop", "length", "refusal"]
"""Why a reply ended: by itself, cut at the token limit, or declined by the server."""


@dataclass(frozen=True)
class Message:
    """One message of a conversation; half a surrogate pair in it becomes U+FFFD."""

    role: Literal["system", "user", "assistant"]
    content: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "content", whole(self.content))


@dataclass(frozen=True)
class Request:
    """One question to a model, complete: equal requests have equal keys.

    Parameters
    ----------
    messages : tuple of Message
        The conversation so far; the model writes the next message.
    temperature : float, default 0.0
        Sampling temperature, 0 or more.
    max_tokens : int, default 512
        Where a reply is cut.
    seed : int, optional
        Seed of the sampling, where the server has one.
    top_logprobs : int, default 0
        How many of the likeliest first tokens come with their log-probability.
    schema : mapping, optional
        JSON schema that the reply must follow, where the server can hold it to one.
    trial : int, default 0
        Number of the repetition: the same question asked again is another request.
    tags : mapping of str to str
        What the question is about (item, order, prompt and its version): part of the
        key, never sent.
    """

    messages: tuple[Message, ...]
    temperature: float = 0.0
    max_tokens: int = 512
    seed: int | None = None
    top_logprobs: int = 0
    schema: Mapping[str, Any] | None = None
    trial: int = 0
    tags: Mapping[str, str] = field(default_factory=dict)

    def key(self, identity: str) -> str:
        """Name this request to the model `identity`: 64 hexadecimal digits."""
        text = json.dumps([identity, asdict(self)], sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Reply:
    """What came back, as it came: nothing is parsed here.

    Parameters
    ----------
    text : str
        The reply, possibly empty. Half a surrogate pair, which no file can hold,
        becomes U+FFFD.
    finish : {"stop", "length", "refusal"}
        Why it ended.
    first_token : mapping of str to float
        The likeliest first tokens with their log-probability; empty if not asked for
        or not given.
    prompt_tokens, completion_tokens : int
        As counted by the server; 0 if it does not say.
    model : str
        Name of the model as the server gives it.
    fingerprint : str
        Version of the engine or of the weights, as far as the server tells.
    fallbacks : tuple of str
        What was asked for and not to be had ("schema", "logprobs", "seed").
    """

    text: str
    finish: Finish = "stop"
    first_token: Mapping[str, float] = field(default_factory=dict)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model: str = ""
    fingerprint: str = ""
    fallbacks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", whole(self.text))


def whole(text: str) -> str:
    """Replace half surrogate pairs, which cannot be written as UTF-8."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class AskError(JudgelabError):
    """A model gave no reply; asking again can help only where `passing` says so.

    Parameters
    ----------
    message : str
        What went wrong, without any secret.
    passing : bool
        Whether the fault may pass: 429, 5xx, time-out, dropped connection, half a body.
    wait : float, optional
        Seconds that the server asked to wait.
    everywhere : bool, default False
        Whether every request would fare the same (a wrong key, no such model).
    """

    def __init__(
        self,
        message: str,
        *,
        passing: bool,
        wait: float | None = None,
        everywhere: bool = False,
    ) -> None:
        super().__init__(message)
        self.passing = passing
        self.wait = wait
        self.everywhere = everywhere


class Model(Protocol):
    """Whatever can answer a request.

    A model that holds something open (connections, a server) may be an asynchronous
    context manager too: a run enters it once.
    """

    @property
    def identity(self) -> str:
        """Who answers: base URL, model, engine and version; part of every key.

        Never a secret.
        """

    async def ask(self, request: Request) -> Reply:
        """Ask once.

        Raises
        ------
        AskError
            If there is no reply.
        """
