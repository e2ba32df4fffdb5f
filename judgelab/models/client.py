"""A model behind any OpenAI-compatible address: OpenAI, vLLM, Ollama, llama.cpp, …

The `openai` package speaks; what is decided here is what to make of the answers. Its
own retries are off: the runner owns them. What a server cannot do (a schema, a seed,
log-probabilities) is left out from then on and recorded with each reply. The key is
kept out of everything that is shown or written, even where a server sends it back.
"""

from __future__ import annotations

import asyncio
import email.utils
import importlib.util
import json
import math
import os
import re
import time
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from judgelab.errors import MissingExtra, ValidationError
from judgelab.models._wire import SPARE, from_body, to_body
from judgelab.models.request import AskError, Reply, Request

if TYPE_CHECKING:
    from openai import AsyncOpenAI

OPENAI = "https://api.openai.com/v1"
"""Where a model is looked for if no address is given."""

_NO_KEY = "none"
"""Sent where there is no key: servers on one's own machine want none."""

_SHORTEST_SECRET = 8
"""Shorter keys are placeholders; taking "x" out of every text would ruin the texts."""

_QUOTED = 300
"""How many characters of a server's complaint are quoted."""

_PASSING = {408, 409, 425, 429}
"""Statuses below 500 after which the same request may succeed."""

_EVERYWHERE = {401, 402, 404}
"""Statuses that every other request would get too."""


class Endpoint:
    """A model at an OpenAI-compatible address.

    Parameters
    ----------
    model : str, optional
        Its name there. Default: the environment's ``JUDGELAB_MODEL_NAME``.
    base_url : str, optional
        The address, as ``http://127.0.0.1:8000/v1``. Default: the environment's
        ``JUDGELAB_BASE_URL``, else ``OPENAI_BASE_URL``, else OpenAI's.
    api_key : str, optional
        The key. Better left to the environment: ``JUDGELAB_API_KEY``, or
        ``OPENAI_API_KEY``, which is sent to OpenAI and to ``OPENAI_BASE_URL`` only.
        Servers without keys need none.
    engine : str, default ""
        What answers there, as far as you know: server, version, weights. Part of the
        identity: when it changes, everything is asked anew.
    timeout : float, default 120.0
        Seconds after which a request counts as lost.
    extra : mapping, optional
        More fields of the request, as ``{"top_p": 0.9}``. Part of the identity.

    Raises
    ------
    ValidationError
        If there is no model name, the address is none or holds a password, the key
        holds blanks or stands in one of the other arguments, or OpenAI is to be asked
        without a key.
    MissingExtra
        If the package `openai` is not installed.

    Notes
    -----
    A server that refuses a parameter which the request can do without (the schema,
    log-probabilities, seed, temperature) is asked again without it; if that works, the
    endpoint leaves it out from then on, and every reply says so in ``fallbacks``.

    Chapter: *Ask a real model*.

    Examples
    --------
    >>> Endpoint("qwen3", "http://127.0.0.1:8000/v1", engine="vllm 0.11")
    Endpoint('qwen3', 'http://127.0.0.1:8000/v1', engine='vllm 0.11')
    """

    def __init__(
        self,
        model: str | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        *,
        engine: str = "",
        timeout: float = 120.0,
        extra: Mapping[str, Any] | None = None,
    ) -> None:
        if importlib.util.find_spec("openai") is None:
            raise MissingExtra(
                "the package that speaks to endpoints is not installed: "
                'pip install "judgelab[models]"'
            )
        self.model = model or os.environ.get("JUDGELAB_MODEL_NAME", "")
        if not self.model:
            raise ValidationError("no model: give its name, or set JUDGELAB_MODEL_NAME")
        if not timeout > 0:
            raise ValidationError(f"timeout is {timeout}; give seconds above 0")
        self.base_url = _address(base_url)
        self.engine = engine
        self.timeout = timeout
        self.extra = dict(extra or {})
        self._key = _find_key(self.base_url, api_key)
        if self._key.taken_out_of(self.identity) != self.identity:
            raise ValidationError(
                "the key stands in the address, model, engine or extra fields, which "
                "would stand in the log; give it as api_key or in JUDGELAB_API_KEY"
            )
        self._key_given = api_key is not None
        self._lost: set[str] = set()
        self._clients: dict[asyncio.AbstractEventLoop, tuple[AsyncOpenAI, int]] = {}

    @property
    def identity(self) -> str:
        """Address, model, engine and extra fields, as JSON."""
        parts = {
            "base_url": self.base_url,
            "model": self.model,
            "engine": self.engine,
            "extra": self.extra,
        }
        return json.dumps({k: v for k, v in parts.items() if v}, sort_keys=True)

    def __repr__(self) -> str:
        engine = f", engine={self.engine!r}" if self.engine else ""
        return f"Endpoint({self.model!r}, {self.base_url!r}{engine})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Go to another process without the key, which is looked up there."""
        if self._key_given:
            raise ValidationError(
                "an endpoint whose key was given as an argument stays in its process; "
                "set JUDGELAB_API_KEY wherever it is to ask"
            )
        again = partial(
            Endpoint, engine=self.engine, timeout=self.timeout, extra=self.extra
        )
        return again, (self.model, self.base_url)

    async def __aenter__(self) -> Self:
        """Open connections, which belong to the running loop; may be nested."""
        import openai

        loop = asyncio.get_running_loop()
        client, users = self._clients.get(loop, (None, 0))
        if client is None:
            client = openai.AsyncOpenAI(
                api_key=str(self._key),
                base_url=self.base_url,
                timeout=self.timeout,
                max_retries=0,
            )
        self._clients[loop] = client, users + 1
        return self

    async def __aexit__(self, *_: object) -> None:
        loop = asyncio.get_running_loop()
        client, users = self._clients.pop(loop)
        if users > 1:
            self._clients[loop] = client, users - 1
        else:
            await client.close()

    async def ask(self, request: Request) -> Reply:
        """Ask once; or until the server finds no more parameters that it refuses.

        Raises
        ------
        AskError
            If there is no reply.
        """
        lost = set(self._lost)
        whole = {"model": self.model, **to_body(request)}
        while True:
            fields = _without(whole, lost)
            status, headers, body = await self._post(fields)
            refused = _refused(body, fields) if status in (400, 422) else set()
            if not refused - lost:
                break
            lost |= refused
        if status == 200 and not _complaint(body):
            self._lost |= lost
            asked = {SPARE[name] for name in whole if name in SPARE}
            reply = from_body(body, frozenset(lost & asked))
            if reply and request.top_logprobs and not reply.first_token:
                reply = from_body(body, frozenset(lost & asked | {"logprobs"}))
            if reply:
                return reply
        elif _complaint(body).get("code") == "content_filter":
            return Reply("", "refusal")
        raise self._fault(status, headers, body)

    async def _post(self, fields: dict[str, Any]) -> tuple[int, Mapping[str, str], Any]:
        """Send one request; return status, headers and body, without the key."""
        import openai

        fault = ""
        status, content = 200, b""
        headers: Mapping[str, str] = {}
        try:
            async with self, asyncio.timeout(self.timeout):
                client, _ = self._clients[asyncio.get_running_loop()]
                chat = client.chat.completions.with_raw_response
                response = await chat.create(
                    **fields, extra_headers=self._headers(), extra_body=self.extra
                )
            headers, content = response.headers, response.content
        except openai.APIStatusError as error:
            status, headers = error.status_code, error.response.headers
            content = error.response.content
        except (openai.APITimeoutError, TimeoutError):
            fault = f"no reply from {self.base_url} within {self.timeout:g} s"
        except openai.APIConnectionError as error:
            cause = error.__cause__ or error
            fault = f"no connection to {self.base_url}: {type(cause).__name__}: {cause}"
        if fault:
            # Not in the handler above: what openai raised holds the key in its headers,
            # and would be attached.
            raise AskError(self._key.taken_out_of(fault), passing=True)
        try:
            body = json.loads(content)
        except (ValueError, RecursionError):
            body = content.decode("utf-8", "replace")
        return status, headers, self._key.taken_out_of(body)

    def _headers(self) -> dict[str, Any]:
        """Keep from others what the package adds for OpenAI from the environment."""
        from openai._types import Omit  # not public in the oldest version that will do

        if self.base_url in _of_openai():
            return {}
        lines = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
        names = [line.partition(":")[0].strip() for line in lines if ":" in line]
        names += ["OpenAI-Organization", "OpenAI-Project"]
        kept_out = dict.fromkeys(names, Omit())
        return kept_out | {"Authorization": f"Bearer {self._key}"}

    def _fault(self, status: int, headers: Mapping[str, str], body: Any) -> AskError:
        """Say what a response means that holds no reply."""
        complaint = _complaint(body)
        code = complaint.get("code")
        if status == 200 and isinstance(code, int):
            status = code  # some servers answer 200 and put the status inside
        said = str(complaint.get("message") or body)[:_QUOTED]
        if status == 200:
            what = "the complaint" if complaint else "a response that is not a reply"
            return AskError(f"{self.base_url} sent {what}: {said}", passing=True)
        passing = status >= 500 or status in _PASSING
        everywhere = status in _EVERYWHERE
        if "insufficient_quota" in (code, complaint.get("type")):
            passing, everywhere = False, True
        if status == 401:
            said = "it does not accept the key; set JUDGELAB_API_KEY"
        elif status == 404:
            said += f"; is {self.model!r} a model there, does the address end in /v1?"
        return AskError(
            f"{self.base_url} answered {status}: {said}",
            passing=passing,
            wait=_retry_after(headers) if passing else None,
            everywhere=everywhere,
        )


class _Secret(str):
    """A key, which shows itself to nobody who only looks."""

    def __repr__(self) -> str:
        return "<key>"

    def taken_out_of(self, value: Any) -> Any:
        """Replace the key wherever it stands in a text, or in parsed JSON."""
        if len(self) < _SHORTEST_SECRET:
            return value
        if isinstance(value, str):
            return value.replace(self, repr(self))
        if isinstance(value, list):
            return [self.taken_out_of(part) for part in value]
        if isinstance(value, dict):
            return {
                self.taken_out_of(name): self.taken_out_of(part)
                for name, part in value.items()
            }
        return value


def _address(given: str | None) -> str:
    """Find the address, and refuse one that holds a secret."""
    variables = ("JUDGELAB_BASE_URL", "OPENAI_BASE_URL")
    address = given or next(filter(None, map(os.environ.get, variables)), OPENAI)
    try:
        parts = urlsplit(address)
        whole = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        whole = False
    if not whole:
        raise ValidationError(
            "the address (base_url, JUDGELAB_BASE_URL or OPENAI_BASE_URL) is none; "
            "give one as http://127.0.0.1:8000/v1"
        )
    if "@" in address or parts.query:
        raise ValidationError(
            "the address holds a name, a password or a query, which would stand in the "
            "log; give the key in JUDGELAB_API_KEY"
        )
    return address.rstrip("/")


def _of_openai() -> set[str]:
    """Addresses that the environment's variables for OpenAI are meant for."""
    return {OPENAI, os.environ.get("OPENAI_BASE_URL", OPENAI).rstrip("/")}


def _find_key(address: str, given: str | None) -> _Secret:
    """Find the key for an address; OpenAI's is not for others."""
    key = given or os.environ.get("JUDGELAB_API_KEY", "")
    if not key and address in _of_openai():
        key = os.environ.get("OPENAI_API_KEY", "")
    key = key.strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ValidationError("the key holds a blank, a line break or a strange letter")
    if not key and address == OPENAI:
        raise ValidationError(
            f"no key for {OPENAI}: set JUDGELAB_API_KEY or OPENAI_API_KEY, or give "
            "another address (base_url, or JUDGELAB_BASE_URL)"
        )
    return _Secret(key or _NO_KEY)


def _without(fields: dict[str, Any], lost: set[str]) -> dict[str, Any]:
    """Leave out what a server cannot do; say the limit in the newer word if it must."""
    kept = {k: v for k, v in fields.items() if SPARE.get(k) not in lost}
    if "max_tokens" in lost:
        kept["max_completion_tokens"] = kept.pop("max_tokens")
    return kept


def _refused(body: Any, fields: dict[str, Any]) -> set[str]:
    """Which of the parameters that could be spared does the server complain about?"""
    complaint = _complaint(body)
    said = f"{complaint.get('param')}: {complaint.get('message') or body}"
    refused = {
        loss
        for name, loss in SPARE.items()
        if name in fields and re.search(rf"\b{name}\b", said)
    }
    if "max_tokens" in fields and "max_completion_tokens" in said:
        refused.add("max_tokens")
    return refused


def _complaint(body: Any) -> dict[str, Any]:
    """Find the description of an error; empty if there is none."""
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict):
        return error
    if isinstance(error, str) and error:
        return {"message": error}
    return body if isinstance(body, dict) and body.get("object") == "error" else {}


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Read how many seconds a server asks to wait: a number, or a date."""
    for name, unit in (("retry-after-ms", 1000), ("retry-after", 1)):
        try:
            seconds = float(headers.get(name, "")) / unit
        except ValueError:
            continue
        return max(seconds, 0.0) if math.isfinite(seconds) else None
    try:
        until = email.utils.parsedate_to_datetime(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(until.timestamp() - time.time(), 0.0)
