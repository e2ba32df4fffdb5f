"""A benchmark of two runs, drawn with a judge whose faults are known."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from judgelab._checks import random_generator
from judgelab.errors import ValidationError
from judgelab.intervals import Rng
from judgelab.papers.mtsair.benchmark import Benchmark, Codes, Floats
from judgelab.papers.mtsair.windows import whole_numbers
from judgelab.simulate import Judge, Pairs, draw_pairs, judge_both_orders
from judgelab.verdict import SideBySide, Verdict, unswap

EXPERT = Judge(k=8, tie_width=1, name="expert")
"""The experts of a simulated benchmark: sharper than any judge in the chapter."""


def simulate(
    judge: Judge,
    *,
    n: int = 500,
    expert: Judge = EXPERT,
    edge: float = 0.0,
    spread: float = 0.5,
    length_spread: float = 1.0,
    topic_size: int = 25,
    topic_spread: float = 0.0,
    leniency: float = 0.0,
    rng: Rng,
) -> Benchmark:
    """Draw a benchmark of two runs with a judge whose faults are known.

    Parameters
    ----------
    judge : judgelab.simulate.Judge
        Who judges; its ties are "both good" with probability σ(k·ℓ + leniency), where
        ℓ is how good the two answers are together (normal, standard deviation 0.5).
    n : int, default 500
        Number of items.
    expert : judgelab.simulate.Judge
        Who is right by definition: sees every item once, without a slot.
    edge : float, default 0
        How much better the candidate is on average.
    spread, length_spread : float, default 0.5 and 1
        As in `judgelab.simulate.draw_pairs`.
    topic_size, topic_spread : int and float, default 25 and 0
        Items come topic by topic; on each topic the candidate's edge is another, normal
        with this standard deviation. At 0 the order of the items means nothing.
    leniency : float, default 0
        How readily the judge calls answers good, in logits; the experts' is 0.
    rng : Generator or int
        Randomness. The same seed gives the same items and experts to every judge.

    Returns
    -------
    Benchmark

    Raises
    ------
    ValidationError
        As `judgelab.simulate.draw_pairs`; if topics have no items or a spread below 0,
        or leniency is no number; or if judge or expert leave verdicts unreadable or
        missing, for which the leaderboard has no rule.

    Notes
    -----
    Nothing here stands for a real model. Chapter: *Side by side: the MTSAIR
    leaderboard*.

    Examples
    --------
    >>> fine = simulate(Judge(k=50), n=200, expert=Judge(k=50), rng=0)
    >>> bool((fine.first == fine.expert).mean() > 0.9)
    True
    """
    for who in (judge, expert):
        if who.invalid_rate or who.missing_rate:
            raise ValidationError(
                f"{who.name!r} leaves replies unreadable or missing; the leaderboard "
                "has four verdicts and no rule for these: set both rates to 0"
            )
    topics_fit = whole_numbers(topic_size) and topic_size >= 1 and topic_spread >= 0
    if not topics_fit or math.isnan(leniency):
        raise ValidationError(
            f"topic_size = {topic_size!r}, topic_spread = {topic_spread}, leniency = "
            f"{leniency}: need a whole topic_size >= 1, a spread >= 0 and a number"
        )
    truth, of_expert, of_judge = random_generator(rng).spawn(3)
    drawn = draw_pairs(n, spread=spread, length_spread=length_spread, rng=truth)
    topics = topic_spread * truth.normal(size=-(-n // topic_size))
    delta = drawn.delta + edge + np.repeat(topics, topic_size)[:n]
    pairs = Pairs(delta, drawn.log_length, drawn.own)
    level = 0.5 * truth.normal(size=n)
    said, _ = _say(expert, pairs, level, 0.0, of_expert)
    return Benchmark(said, *_say(judge, pairs, level, leniency, of_judge))


def _say(
    judge: Judge,
    pairs: Pairs,
    level: Floats,
    leniency: float,
    generator: np.random.Generator,
) -> tuple[Codes, Codes]:
    """Return the verdicts of two runs, on answers, ties split into good and bad."""
    first, second = judge_both_orders(judge, pairs, rng=generator)
    good = special.expit(judge.k * level + leniency)
    codes = []
    for run in (first[:, 0], unswap(second[:, 0])):
        tie = np.where(
            generator.random(len(pairs)) < good,
            SideBySide.BOTH_GOOD,
            SideBySide.BOTH_BAD,
        )
        codes.append(np.where(run == Verdict.TIE, tie, run).astype(np.int8))
    return codes[0], codes[1]
