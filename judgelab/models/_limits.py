"""The limits of a run: money and tokens in all, requests and tokens per minute."""

from __future__ import annotations

import asyncio
import math

from judgelab.models.cost import Use


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
