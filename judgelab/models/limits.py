"""What a run may use: requests and tokens per minute, tokens and money in all."""

from __future__ import annotations

import asyncio
import math
from dataclasses import dataclass

from judgelab.errors import ValidationError
from judgelab.models.request import Reply, Request

_BYTES_PER_TOKEN = 3
"""Fewer than most texts have (English 4 or more): an estimate on the safe side."""

_TOKENS_PER_MESSAGE = 8
"""What chat templates put around a message, at most."""


@dataclass(frozen=True)
class Prices:
    """What an endpoint charges, in money per million tokens.

    Parameters
    ----------
    prompt, completion : float
        For a million tokens read and written; in any currency.

    Examples
    --------
    >>> Prices(prompt=0.15, completion=0.60).cost(2_000_000, 500_000)
    0.6
    """

    prompt: float
    completion: float

    def __post_init__(self) -> None:
        for name in ("prompt", "completion"):
            price = getattr(self, name)
            if not (math.isfinite(price) and price >= 0):
                raise ValidationError(
                    f"the price per million {name} tokens is {price}; give 0 or more"
                )

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """Multiply out."""
        return (
            self.prompt * prompt_tokens + self.completion * completion_tokens
        ) / 1_000_000


FREE = Prices(0.0, 0.0)
"""A model on one's own machine."""


@dataclass(frozen=True)
class Use:
    """Tokens read and written, and what they cost."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float = 0.0

    @property
    def tokens(self) -> int:
        """Tokens read and written together."""
        return self.prompt_tokens + self.completion_tokens

    def __add__(self, other: Use) -> Use:
        return Use(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cost + other.cost,
        )


def used(reply: Reply, prices: Prices) -> Use:
    """Add up one reply, as its server counted."""
    read, written = reply.prompt_tokens, reply.completion_tokens
    return Use(read, written, prices.cost(read, written))


def at_most(request: Request, prices: Prices) -> Use:
    """Estimate what a request can use: a long prompt's worth and all it may write."""
    text = sum(
        len(message.content.encode("utf-8", "replace")) for message in request.messages
    )
    read = math.ceil(text / _BYTES_PER_TOKEN)
    read += _TOKENS_PER_MESSAGE * len(request.messages)
    return Use(read, request.max_tokens, prices.cost(read, request.max_tokens))


class Purse:
    """Keeps a run within its budget: nothing is asked that might not be paid for."""

    def __init__(self, money: float | None, tokens: int | None) -> None:
        self._money = math.inf if money is None else money
        self._tokens = math.inf if tokens is None else tokens
        self.spent = Use()
        self._reserved: list[Use] = []
        self._returned = asyncio.Condition()

    async def reserve(self, most: Use) -> bool:
        """Put the most that a request can use aside; False if it is not there.

        While other requests are under way, their change is waited for.
        """
        async with self._returned:
            while not self._fits(most):
                if not self._reserved:
                    return False
                await self._returned.wait()
            self._reserved.append(most)
            return True

    async def settle(self, most: Use, spent: Use) -> None:
        """Book what was used, and put the rest back."""
        async with self._returned:
            self._reserved.remove(most)
            self.spent += spent
            self._returned.notify_all()

    def _fits(self, most: Use) -> bool:
        total = sum(self._reserved, self.spent + most)
        return total.cost <= self._money and total.tokens <= self._tokens


class Pace:
    """Spreads requests evenly, and holds all when the server asks for a pause."""

    def __init__(self, requests: float | None, tokens: float | None) -> None:
        self._per_request = 60 / requests if requests else 0.0
        self._per_token = 60 / tokens if tokens else 0.0
        self._next_request = self._next_token = self._held = 0.0

    async def turn(self, tokens: int) -> None:
        """Wait until the next request may go."""
        loop = asyncio.get_running_loop()
        while (wait := self._free_at() - loop.time()) > 0:
            await asyncio.sleep(wait)
        now = loop.time()
        self._next_request = now + self._per_request
        self._next_token = max(now, self._next_token) + self._per_token * tokens

    def settle(self, estimated: int, used: int) -> None:
        """Correct for what a request really used."""
        self._next_token += self._per_token * (used - estimated)

    def hold(self, seconds: float) -> None:
        """Let nothing go for a while."""
        now = asyncio.get_running_loop().time()
        self._held = max(self._held, now + seconds)

    def _free_at(self) -> float:
        return max(self._next_request, self._next_token, self._held)
