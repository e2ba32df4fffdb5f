"""What one order hides: a simulated judge that leans, and its twin on real verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from judgelab.estimate import Estimate
from judgelab.explore import svg
from judgelab.explore.demo import Demo, choice, slider
from judgelab.papers import judgebench
from judgelab.position import position_consistency, score_two_orders
from judgelab.simulate import Judge, Pairs, draw_pairs, tables_by_gold
from judgelab.verdict import Verdict

_PAIRS = 1000
_SEED = 1


@dataclass(frozen=True)
class TwoOrders:
    """What two orders show: four rates over the pairs with two readable verdicts."""

    consistent: Estimate
    single: Estimate
    """One-shot judgements that pick the worse answer."""
    swap: Estimate
    """Wrong winners left when a win needs both orders."""
    ties: Estimate
    """Pairs that the same rule declares tied."""
    readable: int
    pairs: int


def two_orders(tables: npt.NDArray[np.int64]) -> TwoOrders:
    """Compute the four bars from counts by the better answer.

    Parameters
    ----------
    tables : ndarray of int, shape (2, 5, 5)
        As `position.score_two_orders` takes them.

    Returns
    -------
    TwoOrders
        Rates over the pairs with two readable verdicts, which are what all four have
        in common, and the number of these and of all pairs.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    >>> two_orders(judgebench.tables_by_gold("o1-mini")).consistent
    0.686 [0.635, 0.732] (n = 350, Wilson)
    """
    said = np.arange(len(Verdict)) <= Verdict.TIE
    readable = tables * np.outer(said, said)
    swap = score_two_orders(readable, rule="mt-bench")
    return TwoOrders(
        position_consistency(readable.sum(axis=0)),
        score_two_orders(readable, rule="first-order")["wrong"],
        swap["wrong"],
        swap["tie"],
        int(readable.sum()),
        int(tables.sum()),
    )


class _TwoOrdersDemo(Demo):
    def figures(self, numbers: TwoOrders) -> list[tuple[str, str]]:
        """Name the four rates and the pairs behind them."""
        return [
            ("consistent", f"{numbers.consistent:.2f}"),
            ("single-order errors", f"{numbers.single:.2f}"),
            ("swap-rule errors", f"{numbers.swap:.2f}"),
            ("declared ties", f"{numbers.ties:.2f}"),
            ("pairs read in both orders", f"{numbers.readable} of {numbers.pairs}"),
        ]

    def view(self, numbers: TwoOrders) -> str:
        """Draw the four rates on one scale."""
        tones: list[svg.Tone] = ["main", "other", "other", "quiet"]
        rates = numbers.consistent, numbers.single, numbers.swap, numbers.ties
        return svg.bars(
            [
                svg.Bar(label, rate.value, figure, (rate.low, rate.high), tone)
                for (label, figure), rate, tone in zip(
                    self.figures(numbers), rates, tones, strict=False
                )
            ]
        )


class PositionBias(_TwoOrdersDemo):
    """How much does a lean to one slot cost, and what does asking twice repair?

    A simulated judge sees 1,000 pairs in both orders and prefers the answer shown first
    with probability σ(k·δ + β). Differences in quality δ are normal with standard
    deviation 0.5. The pairs and the chance behind every verdict are the same for all
    settings, so what moves is moved by the sliders.

    References
    ----------
    Zheng et al. (2023), arXiv:2306.05685, sections 3.3 and 3.4, for consistency and the
    conservative rule.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    >>> demo = PositionBias()
    >>> demo.figures(demo.compute(k=4, beta=1))[0]
    ('consistent', '0.62 [0.59, 0.65]')
    """

    name = "position-bias"
    title = "What one order hides"
    controls = (
        slider("k", "sensitivity to quality k", np.arange(0, 8.5, 0.5), start=4),
        slider(
            "beta",
            "lean to the first slot β",
            np.arange(-3, 3.25, 0.25),
            start=1,
            form=".2f",
        ),
    )

    def compute(self, **params: Any) -> TwoOrders:
        """Let the judge see all pairs in both orders and count."""
        judge = Judge(k=params["k"], beta=params["beta"])
        return two_orders(tables_by_gold(judge, _pairs(), rng=_SEED))


@cache
def _pairs() -> Pairs:
    return draw_pairs(_PAIRS, rng=_SEED)


class RealOrders(_TwoOrdersDemo):
    """How do the judges of JudgeBench fare in one order and in two?

    The twin of `PositionBias` on real verdicts, of which the right answer is known.
    Pairs with a verdict that could not be read in either order are left out, and the
    last figure says how many stay.

    References
    ----------
    Tan et al. (2024), arXiv:2410.12784.

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    >>> demo = RealOrders()
    >>> demo.figures(demo.compute(judge="Claude-3-Haiku"))[-1]
    ('pairs read in both orders', '257 of 270')
    """

    name = "position-bias-real"
    title = "The same bars for real judges"
    controls = (
        choice(
            "judge",
            "judge",
            {
                name: name
                for name in sorted(judgebench.NAMES.values(), key=str.casefold)
            },
            start="o1-mini",
        ),
    )

    def compute(self, **params: Any) -> TwoOrders:
        """Count the judge's verdicts by the right answer."""
        return two_orders(judgebench.tables_by_gold(params["judge"]))
