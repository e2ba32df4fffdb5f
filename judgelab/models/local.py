"""A small model on the reader's own processor: no key, no network, the same replies.

The engine is llama.cpp, as the package `xllamacpp` brings it (extra ``local``). The
same model answers in this process (`LocalModel.ask`) or as an OpenAI-compatible server
on this machine (`LocalModel.serve`).
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import math
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from importlib import import_module, metadata
from typing import Any

from judgelab.errors import JudgelabError, MissingExtra, ValidationError
from judgelab.models._wire import from_body, to_body
from judgelab.models.request import AskError, Reply, Request
from judgelab.models.weights import checksum, find_weights

HOST = "127.0.0.1"
"""The engine listens here only: nobody else on the network can reach it."""

_STARTING = 120.0
"""Seconds that a server may take from its start to its first ready answer."""

_TILE = 64
"""From so many tokens at once the engine computes attention by another kernel.

The two differ in the last digits. What is computed of a prompt after the part that the
prompt before had in common is therefore at least that long, or all of it.
"""


class LocalModel:
    """A GGUF model that answers on this machine's processor.

    Parameters
    ----------
    path : path or str, optional
        A GGUF file, or a name that ``judgelab models get`` knows. Without it, the file
        that the environment variable ``JUDGELAB_MODEL`` names; without that, SmolLM2.
    threads : int, default 1
        Threads to compute with.
    context : int, default 4096
        The most tokens of a request and its reply together.

    Raises
    ------
    MissingModel, ChecksumMismatch
        As `weights.find_weights`.
    ValidationError
        If `threads` or `context` is not a positive whole number, or the file is no GGUF
        file.

    Notes
    -----
    The engine starts with the first question. It takes questions one by one, and what a
    question has in common with the one before is computed once, but only where that
    changes no digit: a reply depends neither on what was asked before nor on how many
    ask at once. The same engine gives the same log-probabilities again. Another engine,
    another version or another quantisation does not, so all three are part of
    `identity`.

    Chapter: *Ask a real model*.

    Examples
    --------
    >>> LocalModel("no-such.gguf")
    Traceback (most recent call last):
      ...
    judgelab.errors.MissingModel: there is no file 'no-such.gguf'; give the path of a
    GGUF file, or get the small model: judgelab models get smollm2
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        threads: int = 1,
        context: int = 4096,
    ) -> None:
        for name, value in (("threads", threads), ("context", context)):
            if not isinstance(value, int) or value < 1:
                raise ValidationError(f"{name} is {value!r}; give 1 or more")
        self.path = find_weights(path)
        self.threads = threads
        self.context = context
        self._turn = threading.Lock()
        self._sparable = 0

    def __repr__(self) -> str:
        return f"LocalModel({self.path.name!r})"

    @cached_property
    def identity(self) -> str:
        """Which engine, which weights: part of the key of every reply.

        Raises
        ------
        MissingExtra
            If the engine is not installed.
        """
        return (
            f"local:{self.engine} {self.path.name} sha256:{checksum(self.path)[:12]} "
            f"{self.quantisation}"
        )

    @cached_property
    def engine(self) -> str:
        """Name and version of the engine.

        Raises
        ------
        MissingExtra
            If the engine is not installed.
        """
        return f"xllamacpp {engine_version()}"

    @cached_property
    def quantisation(self) -> str:
        """How the weights are rounded, as the engine reads it from the file."""
        return str(_get(_port(self._server), "/props")["model_ftype"])

    async def ask(self, request: Request) -> Reply:
        """Ask once, in this process.

        Raises
        ------
        AskError
            If the engine refuses the request: it is too long, or its schema is wrong.
        MissingExtra
            If the engine is not installed.
        """
        return await asyncio.to_thread(self._answer, request)

    def _answer(self, request: Request) -> Reply:
        reply = from_body(self._complete(to_body(request)))
        if reply is None:
            raise AskError("the engine gave no reply that can be read", passing=False)
        return replace(reply, fingerprint=self.engine)

    def _complete(self, body: dict[str, Any], *, spare: bool = True) -> dict[str, Any]:
        """Let the engine answer, sparing what the prompt before had in common."""
        with self._turn:
            # Until the answer is here, nobody knows what the engine remembers.
            sparable, self._sparable = self._sparable, 0
            spare = spare and sparable > 0
            answer = self._handle(body | {"cache_prompt": spare})
            usage = answer["usage"]
            prompt = usage["prompt_tokens"]
            spared = usage["prompt_tokens_details"]["cached_tokens"]
            if spared and (prompt - spared < _TILE or spared > sparable):
                answer = self._handle(body | {"cache_prompt": False})
            # A short prompt goes through the other kernel, and so does every reply.
            self._sparable = prompt if prompt >= _TILE else 0
            return answer

    def _handle(self, body: dict[str, Any]) -> dict[str, Any]:
        server = self._server
        try:
            answer: dict[str, Any] = server.handle_chat_completions(body)
        except ValueError as error:
            raise AskError(
                f"the engine refuses the request: {error}", passing=False
            ) from None
        if "error" in answer:
            raise AskError(_refusal(answer["error"]), passing=False)
        return answer

    def log_likelihood(self, question: str, answer: str) -> tuple[float, int]:
        """How likely is it that the model itself would give this answer?

        Parameters
        ----------
        question : str
            What is asked, as one message of a user.
        answer : str
            The answer whose probability is wanted; not empty.

        Returns
        -------
        log_likelihood : float
            Sum of the natural log-probabilities of the answer's tokens, at most 0.
        tokens : int
            How many tokens these are, to divide by.

        Raises
        ------
        ValidationError
            If the answer is empty.
        AskError
            If the engine refuses the request.

        Notes
        -----
        The reply is held to the answer by a grammar; the engine reports the
        log-probability that each token had before it was held. Where several tokens
        continue the answer, the likeliest is taken, which is not always the one that a
        tokeniser would take.

        Chapter: *Ask a real model*.
        """
        if not answer:
            raise ValidationError("answer is empty; give its text")
        body = {
            "messages": [{"role": "user", "content": question}],
            "max_tokens": self.context,
            "temperature": 0.0,
            "logprobs": True,
            "top_logprobs": 1,
            # A JSON string is a string of the grammar's language as well.
            "grammar": f"%llguidance {{}}\nstart: {json.dumps(answer)}",
        }
        choice = self._complete(body, spare=False)["choices"][0]
        if choice["message"]["content"] != answer:
            raise AskError("the engine did not hold to the answer", passing=False)
        # The sign that ends a reply has no bytes; which sign is the grammar's choice.
        parts = choice["logprobs"]["content"]
        values = [part["logprob"] for part in parts if part["bytes"]]
        return math.fsum(values), len(values)

    @contextlib.contextmanager
    def serve(self, *, port: int = 0, wait: bool = True) -> Iterator[str]:
        """Serve the model to any OpenAI-compatible client on this machine.

        Parameters
        ----------
        port : int, default 0
            Where to listen on 127.0.0.1; 0 takes a free one.
        wait : bool, default True
            Whether to wait until the model is loaded. Without that the server listens,
            and answers 503 while it loads.

        Yields
        ------
        str
            The base URL, such as ``http://127.0.0.1:8080/v1``. No key is needed.

        Raises
        ------
        MissingExtra
            If the engine is not installed.
        ValidationError
            If the port is taken.
        JudgelabError
            If the server does not start.

        Notes
        -----
        The server is a process of its own and ends with the ``with`` block, and with
        this process if that is killed.

        Chapter: *Ask a real model*.
        """
        engine_version()
        port = _free_port(port)
        command = [sys.executable, "-m", __name__, self.path, port]
        command += [self.threads, self.context]
        process = subprocess.Popen([*map(str, command)], stdin=subprocess.PIPE)
        try:
            _await(process, port, ready=wait)
            yield f"http://{HOST}:{port}/v1"
        finally:
            process.communicate()

    @cached_property
    def _server(self) -> Any:
        return _start(str(self.path), 0, self.threads, self.context)


def _start(path: str, port: int, threads: int, context: int) -> Any:
    """Load the model; the engine opens its HTTP port in any case."""
    engine_version()
    engine = import_module("xllamacpp")
    params = engine.CommonParams()
    params.model.path = path
    # The name, not the path: replies carry it, and a path may tell whose machine it is.
    params.model_alias = {os.path.basename(path)}
    params.hostnames, params.port = [HOST], port
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = threads
    params.n_ctx = context
    # A prompt is computed in one piece, however much of it was spared.
    params.n_batch = params.n_ubatch = context
    params.n_gpu_layers = 0
    # A request computed alone gives the same digits each time.
    params.n_parallel = 1
    params.cache_prompt = False
    params.cache_ram_mib = 0
    params.fit_params = False
    # Weights rearranged in memory made the larger model slower, and starting too.
    params.no_extra_bufts = True
    params.warmup = False
    params.ui = params.endpoint_slots = False
    params.verbosity = 0
    try:
        return engine.Server(params)
    except RuntimeError as error:
        raise ValidationError(
            f"the engine can't load {os.path.basename(path)} ({error}); the file may "
            "be damaged, of a newer format, or too large for this machine's memory"
        ) from None


def engine_version() -> str:
    """Which version of the engine is installed?

    Raises
    ------
    MissingExtra
        If none is; the message says which command brings it.

    Notes
    -----
    Chapter: *Ask a real model*.
    """
    try:
        return metadata.version("xllamacpp")
    except metadata.PackageNotFoundError:
        raise MissingExtra(
            "the engine that runs a model on this machine is not installed: "
            'pip install "judgelab[local]"'
        ) from None


def _refusal(error: Mapping[str, Any]) -> str:
    advice = ""
    if error.get("type") == "exceed_context_size_error":
        advice = "; shorten it, or give LocalModel a larger context="
    return f"the engine refuses the request: {error.get('message')}{advice}"


def _free_port(wanted: int) -> int:
    """Return the port if nobody listens there; for 0, one where nobody does."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, wanted))
        except OSError as error:
            raise ValidationError(
                f"port {wanted} can't be used ({error.strerror}); take another, or 0 "
                "for a free one"
            ) from None
        return int(probe.getsockname()[1])


def _port(server: Any) -> int:
    return int(server.listening_address.rpartition(":")[2])


def _get(port: int, path: str) -> dict[str, Any]:
    """Ask the engine about itself, past any proxy that is set for the web."""
    connection = http.client.HTTPConnection(HOST, port, timeout=10)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        content: dict[str, Any] = json.loads(response.read())
    finally:
        connection.close()
    return content


def _await(process: subprocess.Popen[bytes], port: int, *, ready: bool) -> None:
    """Wait until the server listens, or until it has loaded the model."""
    deadline = time.monotonic() + _STARTING
    while time.monotonic() < deadline and process.poll() is None:
        # Before it listens the connection is refused; then "status" or "error" comes.
        with contextlib.suppress(OSError):
            if _get(port, "/health").get("status") == "ok" or not ready:
                return
        time.sleep(0.01)
    raise JudgelabError(
        f"the server did not start on port {port}; its message stands above. Is the "
        "file damaged, or the memory too small?"
    )


def _main(path: str, port: str, threads: str, context: str) -> None:
    """Serve until standard input ends, which it does when the parent is gone."""
    try:
        _server = _start(path, int(port), int(threads), int(context))
    except JudgelabError as error:
        sys.exit(f"judgelab: {error}")
    sys.stdin.read()
    # The engine would wait for every client that keeps its connection open.
    os._exit(0)


if __name__ == "__main__":
    _main(*sys.argv[1:])
