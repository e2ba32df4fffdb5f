"""Asking many requests of one model: at once, within limits, and nothing twice.

`ask_all` knows nothing of judges: whoever makes `Request` objects can use it. It sends
what the log does not answer yet, writes every reply down before it counts, tries again
where that can help, and gives up where it cannot. What stays without a reply is
missing, and the next run asks it again.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from judgelab.errors import ValidationError
from judgelab.models._bar import shown
from judgelab.models._limits import Pace, Purse
from judgelab.models.cost import FREE, Prices, Use, at_most, used
from judgelab.models.log import Log, Writer
from judgelab.models.request import AskError, Model, Reply, Request


@dataclass(frozen=True)
class Progress:
    """How far a run is; what a progress callback gets after every outcome.

    Parameters
    ----------
    total : int
        Different requests.
    from_log : int
        Answered before this run.
    answered : int
        Answered in this run.
    missing : int
        Asked in this run, and given up.
    use : Use
        Tokens and cost of all replies, those from the log included.
    """

    total: int
    from_log: int = 0
    answered: int = 0
    missing: int = 0
    use: Use = field(default_factory=Use)

    @property
    def done(self) -> int:
        """Requests that need no more asking in this run."""
        return self.from_log + self.answered + self.missing


@dataclass(frozen=True)
class Run:
    """What a run brought.

    Parameters
    ----------
    replies : tuple of Reply or None
        One per request, in their order; None where there is no reply.
    errors : tuple of str
        One per request: why there is no reply; empty where there is one.
    progress : Progress
        The counts at the end.
    stopped : str
        Why the run ended before its end; empty if it did not.
    """

    replies: tuple[Reply | None, ...]
    errors: tuple[str, ...]
    progress: Progress
    stopped: str = ""

    @property
    def fallbacks(self) -> dict[str, int]:
        """What replies had to do without, and how many."""
        return Counter(lost for reply in self._all for lost in reply.fallbacks)

    @property
    def answered_by(self) -> dict[str, int]:
        """Models and versions as the server names them, and their numbers of replies.

        More than one: the endpoint changed under way.
        """
        return Counter(f"{reply.model} {reply.fingerprint}" for reply in self._all)

    @property
    def _all(self) -> Iterator[Reply]:
        return (reply for reply in self.replies if reply)

    def __str__(self) -> str:
        p = self.progress
        unasked = p.total - p.done
        parts = [
            f"{p.answered:,} answered",
            f"{p.from_log:,} from the log",
            f"{p.missing:,} missing",
            *([f"{unasked:,} not asked"] if unasked else []),
            f"{p.use.tokens:,} tokens",
            *([f"cost {p.use.cost:,.4f}"] if p.use.cost else []),
            *(f"{n:,} without {lost}" for lost, n in sorted(self.fallbacks.items())),
            *(
                [f"{k} versions of the model"]
                if (k := len(self.answered_by)) > 1
                else []
            ),
        ]
        end = f"; stopped: {self.stopped}" if self.stopped else ""
        return f"{p.total:,} requests: {', '.join(parts)}{end}"


@dataclass(frozen=True)
class Plan:
    """What a run would do; ``print(plan)`` shows it.

    Parameters
    ----------
    total : int
        Different requests.
    from_log : int
        How many of them the log answers.
    most : Use
        The most that the others can use, estimated from the length of the prompts and
        the limit of the replies.
    minutes : float
        The least that the rate limits allow; 0 without limits.
    """

    total: int
    from_log: int
    most: Use
    minutes: float

    def __str__(self) -> str:
        asked = self.total - self.from_log
        lines = [
            f"{self.total:,} requests, {self.from_log:,} of them in the log: "
            f"{asked:,} to ask",
            f"at most {self.most.prompt_tokens:,} tokens read and "
            f"{self.most.completion_tokens:,} written: cost at most "
            f"{self.most.cost:,.4f}",
        ]
        if self.minutes:
            lines.append(f"at least {self.minutes:,.1f} minutes at these rates")
        return "\n".join(lines)


def ask_all(
    requests: Iterable[Request],
    model: Model,
    log: Log,
    *,
    concurrency: int = 8,
    requests_per_minute: float | None = None,
    tokens_per_minute: float | None = None,
    attempts: int = 5,
    backoff: float = 1.0,
    longest_wait: float = 120.0,
    stop_after: int | None = 20,
    prices: Prices = FREE,
    budget: float | None = None,
    token_budget: int | None = None,
    progress: Callable[[Progress], None] | bool = False,
    rng: np.random.Generator | int | None = None,
) -> Run:
    """Ask a model every request that the log does not answer yet.

    Parameters
    ----------
    requests : iterable of Request
        Equal ones are asked once, and all get the reply.
    model : Model
        An endpoint, a local model, or anything else that answers.
    log : Log
        Where replies come from and go to. Held for the length of the run.
    concurrency : int, default 8
        Requests under way at once.
    requests_per_minute, tokens_per_minute : float, optional
        Limits of the endpoint; requests are spread evenly. Tokens are estimated
        beforehand and corrected by what the endpoint counts.
    attempts : int, default 5
        How often a request is tried when the fault may pass.
    backoff : float, default 1.0
        Seconds before the second attempt, doubled for each one after that, up to
        `longest_wait`; shortened at random by up to a half, so that requests do not
        come back together. A server that says how long to wait is obeyed, for all
        requests.
    longest_wait : float, default 120.0
        Seconds; a request is given up when the server asks for a longer wait.
    stop_after : int or None, default 20
        Requests given up in a row after which the run stops: the endpoint is down. None
        never stops.
    prices : Prices
        What the endpoint charges. Free by default.
    budget : float, optional
        Money that all replies to these requests may cost, those from earlier runs
        included. Nothing is asked that might exceed it; then the run ends.
    token_budget : int, optional
        The same in tokens, read and written together.
    progress : callable or bool, default False
        True shows a bar. A function is called with a `Progress` after every outcome.
    rng : numpy.random.Generator or int, optional
        Source of the random part of the waits.

    Returns
    -------
    Run
        Replies and errors in the order of the requests.

    Raises
    ------
    LogError
        If another run holds the log, or it cannot be written.
    ValidationError
        If a limit makes no sense, or there is a budget of money and no prices.

    Notes
    -----
    Runs in a notebook too. Whatever ends the process, what was answered is in the log,
    and the next call continues. A request that times out may have been charged for:
    what servers charge for failures is in no count.

    Chapter: *Ask a real model*.

    Examples
    --------
    >>> import tempfile
    >>> from judgelab.models.log import Log
    >>> from judgelab.models.request import Message, Reply, Request
    >>> class Parrot:
    ...     identity = "parrot 1"
    ...     async def ask(self, request):
    ...         return Reply(request.messages[-1].content)
    >>> requests = [Request((Message("user", text),)) for text in ("one", "two")]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     log = Log(f"{folder}/run.sqlite")
    ...     run = ask_all(requests, Parrot(), log)
    ...     again = ask_all(requests, Parrot(), log)
    >>> [reply.text for reply in run.replies]
    ['one', 'two']
    >>> again.progress.answered, again.progress.from_log
    (0, 2)
    """
    _check_positive(
        concurrency=concurrency,
        requests_per_minute=requests_per_minute,
        tokens_per_minute=tokens_per_minute,
        attempts=attempts,
        longest_wait=longest_wait,
        stop_after=stop_after,
    )
    if budget is not None and prices == FREE:
        raise ValidationError("a budget of money needs prices: pass prices=Prices(…)")
    asked, identity = [*requests], model.identity
    keys = [request.key(identity) for request in asked]
    with log.writing() as writer, shown(progress) as show:
        running = _Running(
            model=model,
            writer=writer,
            requests=dict(zip(keys, asked, strict=True)),
            pace=Pace(requests_per_minute, tokens_per_minute),
            purse=Purse(budget, token_budget),
            prices=prices,
            attempts=attempts,
            backoff=backoff,
            longest_wait=longest_wait,
            stop_after=stop_after or math.inf,
            show=show,
            rng=np.random.default_rng(rng),
        )
        in_any_thread(running.all(concurrency))
    errors = {**running.errors, **dict.fromkeys(running.replies, "")}
    unasked = f"not asked: {running.stopped}"
    return Run(
        tuple(running.replies.get(key) for key in keys),
        tuple(errors.get(key, unasked) for key in keys),
        running.progress,
        running.stopped,
    )


def plan(
    requests: Iterable[Request],
    model: Model,
    log: Log,
    *,
    prices: Prices = FREE,
    requests_per_minute: float | None = None,
    tokens_per_minute: float | None = None,
) -> Plan:
    """Find out what a run would ask, and what that can cost, without asking.

    Parameters
    ----------
    requests, model, log, prices, requests_per_minute, tokens_per_minute
        As in `ask_all`.

    Returns
    -------
    Plan
        ``print`` shows it.

    Notes
    -----
    Chapter: *Ask a real model*.
    """
    _check_positive(
        requests_per_minute=requests_per_minute, tokens_per_minute=tokens_per_minute
    )
    identity = model.identity
    different = {request.key(identity): request for request in requests}
    known = log.known(different)
    most = Use()
    for key, request in different.items():
        if key not in known:
            most += at_most(request, prices)
    minutes = max(
        (len(different) - len(known)) / (requests_per_minute or math.inf),
        most.tokens / (tokens_per_minute or math.inf),
    )
    return Plan(len(different), len(known), most, minutes)


@dataclass
class _Running:
    """A run while it runs; the first fields are as in `ask_all`."""

    model: Model
    writer: Writer
    requests: dict[str, Request]
    pace: Pace
    purse: Purse
    prices: Prices
    attempts: int
    backoff: float
    longest_wait: float
    stop_after: float
    show: Callable[[Progress], None]
    rng: np.random.Generator
    replies: dict[str, Reply] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    progress: Progress = field(default_factory=lambda: Progress(0))
    stopped: str = ""
    given_up_in_a_row: int = 0

    async def all(self, concurrency: int) -> None:
        """Ask everything that the log does not answer."""
        self.replies = self.writer.known(self.requests)
        for key, reply in self.replies.items():
            self.purse.spent += self._used(self.requests[key], reply)
        todo = [key for key in self.requests if key not in self.replies]
        self.writer.expect(self.model.identity, (self.requests[key] for key in todo))
        self._report(total=len(self.requests), from_log=len(self.replies))
        queue = iter(todo)
        async with AsyncExitStack() as stack:
            if todo and isinstance(self.model, AbstractAsyncContextManager):
                await stack.enter_async_context(self.model)
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(concurrency, len(todo))):
                        group.create_task(self._work(queue))
            except BaseExceptionGroup as several:
                raise several.exceptions[0] from None

    async def _work(self, queue: Iterator[str]) -> None:
        """Ask one request after the other, until there are no more."""
        for key in queue:
            if self.stopped:
                return
            request = self.requests[key]
            most = at_most(request, self.prices)
            if not await self.purse.reserve(most):
                self._stop("the budget does not allow another request")
                return
            reply = None
            try:
                reply = await self._ask(key, request, most.tokens)
            finally:
                spent = self._used(request, reply) if reply else Use()
                await self.purse.settle(most, spent)
            if reply:
                self.replies[key] = reply
                self.given_up_in_a_row = 0
                self._report(answered=self.progress.answered + 1)
            elif key in self.errors:
                self._give_up(self.errors[key])

    async def _ask(self, key: str, request: Request, tokens: int) -> Reply | None:
        """Try a request as often as it can help; None if there is no reply."""
        for attempt in range(self.attempts):
            await self.pace.turn(tokens)
            if self.stopped:
                return None
            start = time.perf_counter()
            try:
                reply = await self.model.ask(request)
            except AskError as error:
                self.writer.failure(key, error, time.perf_counter() - start)
                self.errors[key] = str(error)
                if error.everywhere:
                    self._stop(str(error))
                if not error.passing or (error.wait or 0) > self.longest_wait:
                    return None
                if error.wait:
                    self.pace.hold(error.wait)
                if attempt + 1 < self.attempts:
                    await asyncio.sleep(self._pause(attempt))
            else:
                self.writer.reply(key, reply, time.perf_counter() - start)
                self.pace.settle(tokens, self._used(request, reply).tokens)
                return reply
        return None

    def _pause(self, attempt: int) -> float:
        longest = min(self.longest_wait, self.backoff * 2**attempt)
        return float(self.rng.uniform(longest / 2, longest))

    def _used(self, request: Request, reply: Reply) -> Use:
        """Add up a reply; where the server does not count, the estimate stands."""
        if reply.prompt_tokens or reply.completion_tokens:
            return used(reply, self.prices)
        return at_most(request, self.prices)

    def _give_up(self, error: str) -> None:
        self.given_up_in_a_row += 1
        self._report(missing=self.progress.missing + 1)
        if self.given_up_in_a_row >= self.stop_after:
            self._stop(f"{self.given_up_in_a_row} requests failed in a row: {error}")

    def _stop(self, why: str) -> None:
        self.stopped = self.stopped or why

    def _report(self, **counts: int) -> None:
        self.progress = replace(self.progress, use=self.purse.spent, **counts)
        self.show(self.progress)


def in_any_thread(work: Coroutine[Any, Any, None]) -> None:
    """Run asynchronous work to its end, in a notebook's running loop too."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(work)
        return
    # A thread cannot run a second loop: this one waits for another thread.
    running = []

    async def noted() -> None:
        task = asyncio.ensure_future(work)
        running.append((asyncio.get_running_loop(), task))
        await task

    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(asyncio.run, noted())
        try:
            future.result()
        except KeyboardInterrupt:
            for loop, task in running:
                loop.call_soon_threadsafe(task.cancel)
            raise


def _check_positive(**limits: float | None) -> None:
    for name, limit in limits.items():
        if limit is not None and not limit > 0:
            raise ValidationError(f"{name} is {limit}; give a number above 0")
