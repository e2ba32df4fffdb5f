"""Judging on many machines: who takes which items, and what it will take.

A shard is asked with `judge` and a log of its own, by whatever runs functions on many
machines. What is needed beyond that is here.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from judgelab._checks import whole
from judgelab.errors import ValidationError
from judgelab.models.cost import Use
from judgelab.models.runner import Progress


@dataclass(frozen=True)
class Effort:
    """What a run is expected to take; ``print(effort)`` shows it.

    Parameters
    ----------
    requests : int
        How many questions.
    hours : float
        From start to end, all machines working.
    use : Use
        Tokens read and written, and what the endpoint charges for them.
    machine_cost : float
        What the machines cost.
    """

    requests: int
    hours: float
    use: Use
    machine_cost: float

    @property
    def cost(self) -> float:
        """Money in all."""
        return self.use.cost + self.machine_cost

    def __str__(self) -> str:
        return (
            f"{self.requests:,} requests: {self.hours:,.1f} hours, "
            f"{self.use.prompt_tokens:,} tokens read, "
            f"{self.use.completion_tokens:,} written, cost {self.cost:,.2f}"
        )


def shard_of(item: object, shards: int) -> int:
    """Which shard does an item belong to, on every machine and in every run?

    Parameters
    ----------
    item : object
        Its name; 7 and "7" are one item, as they are in a log.
    shards : int
        How many shards there are. With another number most items change their shard,
        and their answers lie in the log of another one.

    Returns
    -------
    int
        0 … shards - 1, near to equally many items each.

    Raises
    ------
    ValidationError
        If there is no shard.

    Notes
    -----
    Python's own ``hash`` of a text differs from process to process. Both orders of an
    item, and all trials, are in one shard.

    Chapter: *Ask a real model*.

    Examples
    --------
    >>> [shard_of(item, 4) for item in ("q1", "q2", "q3")]
    [2, 3, 3]
    """
    shards = whole("shards", shards, least=1)
    digest = hashlib.sha256(str(item).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) % shards


def scale_up(
    pilot: Progress,
    seconds: float,
    requests: int,
    *,
    machines: int = 1,
    machine_hour: float = 0.0,
) -> Effort:
    """Tell from a small run what a large one will take.

    Parameters
    ----------
    pilot : Progress
        Of a run on items drawn at random, on one machine with a log of its own, as
        ``run.progress``. Its prices, retries and concurrency are taken as they were.
    seconds : float
        How long it took.
    requests : int
        How many questions the large run has: items × orders × trials.
    machines : int, default 1
        How many machines will work as fast as the one of the pilot. Where all of them
        ask one endpoint, more machines do not make it faster.
    machine_hour : float, default 0.0
        What a machine costs per hour.

    Returns
    -------
    Effort
        In proportion to the number of requests.

    Raises
    ------
    ValidationError
        If the pilot answered nothing or took replies from an older log, or a number
        makes no sense.

    Notes
    -----
    Chapter: *Ask a real model*.

    Examples
    --------
    A thousand questions took a minute:

    >>> pilot = Progress(1000, answered=1000, use=Use(640_000, 5_000, 0.099))
    >>> print(scale_up(pilot, 60, 10_000_000, machines=8))
    10,000,000 requests: 20.8 hours, 6,400,000,000 tokens read, 50,000,000 written,
    cost 990.00
    """
    if not pilot.answered or pilot.from_log:
        raise ValidationError(
            f"the pilot answered {pilot.answered} requests and took {pilot.from_log} "
            "from its log; give one that asked everything itself"
        )
    if not (seconds > 0 and requests > 0 and machines >= 1 and machine_hour >= 0):
        raise ValidationError(
            f"seconds is {seconds}, requests {requests}, machines {machines} and "
            f"machine_hour {machine_hour}; give numbers above 0"
        )
    times = requests / (pilot.answered + pilot.missing)
    hours = seconds * times / machines / 3600
    use = Use(
        round(pilot.use.prompt_tokens * times),
        round(pilot.use.completion_tokens * times),
        pilot.use.cost * times,
    )
    return Effort(requests, hours, use, hours * machines * machine_hour)
