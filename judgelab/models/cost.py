"""What requests use: tokens read and written, and the money that they cost."""

from __future__ import annotations

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
