"""Windows to move, and a judge to plant: what MTSAIR's correlations follow."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from judgelab.estimate import Estimate
from judgelab.explore import svg
from judgelab.explore.demo import Demo, choice, slider, two_decimals
from judgelab.papers.mtsair import (
    Benchmark,
    Floats,
    Windows,
    apcc,
    beside,
    class_counts,
    item_correlation,
    mpcc,
    simulate,
    window_values,
)
from judgelab.position import pcon_at_ab
from judgelab.simulate import Judge

_N = 500
_SEED = 3
_ORDERS = 100

# Windows ------------------------------------------------------------------------------


@cache
def _benchmark(topic_spread: float) -> Benchmark:
    judge = Judge(k=4, tie_width=1)
    return simulate(judge, n=_N, topic_spread=topic_spread, rng=_SEED)


def _order(seed: int) -> Any:
    """Return places of items: as drawn for 0, shuffled otherwise."""
    return np.random.default_rng(seed).permutation(_N) if seed else np.arange(_N)


@cache
def _spread(topic_spread: float, windows: Windows) -> tuple[float, float, float]:
    values = [
        mpcc(_benchmark(topic_spread).take(_order(seed)), windows=windows)
        for seed in range(1, _ORDERS + 1)
    ]
    low, high = np.quantile(values, [0.025, 0.975])
    return float(np.mean(values)), float(low), float(high)


@dataclass(frozen=True)
class WindowsMoved:
    """What MPCC makes of one order, of many orders, and what needs no windows."""

    expert: Floats
    judge: Floats
    """Window values of the experts and of the judge's first run."""
    mpcc: float
    over_orders: tuple[float, float, float]
    """Mean and middle 95 % over 100 shuffles of the same verdicts."""
    items: float
    kappa: Estimate


class WindowsOfVerdicts(Demo):
    """How far does MPCC follow the size of the windows, their stride, and the order?

    One simulated judge (sensitivity 4) and simulated experts on 500 items, fitted to
    nobody. No verdict changes while the reader moves something.

    References
    ----------
    MTSAIR side-by-side leaderboard, MPCC.

    Notes
    -----
    Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    >>> demo = WindowsOfVerdicts()
    >>> as_drawn, shuffled = (
    ...     demo.compute(items=0.6, size=10, overlap=0.5, order=o) for o in (0, 1)
    ... )
    >>> as_drawn.mpcc > shuffled.mpcc, as_drawn.kappa == shuffled.kappa
    (True, True)
    """

    name = "mtsair-windows"
    title = "The same verdicts, cut in windows"
    controls = (
        choice(
            "items",
            "items",
            {"in no particular order": 0.0, "topic by topic": 0.6},
            start=0.0,
        ),
        slider("size", "window size", (5, 10, 20, 50), start=10),
        choice(
            "overlap",
            "stride",
            {"one verdict": 0.0, "half a window": 0.5, "a whole window": 1.0},
            start=0.5,
        ),
        slider("order", "order of the items (0: as drawn)", range(13), start=0),
    )

    def compute(self, **params: Any) -> WindowsMoved:
        """Cut the verdicts and correlate the window values."""
        size = int(params["size"])
        stride = max(1, int(params["overlap"] * size))
        windows = Windows(size, stride, all_bad="drop")
        drawn = _benchmark(params["items"])
        ordered = drawn.take(_order(int(params["order"])))
        return WindowsMoved(
            window_values(ordered.expert, windows),
            window_values(ordered.first, windows),
            mpcc(ordered, windows=windows),
            _spread(params["items"], windows),
            item_correlation(drawn),
            _kappa(drawn),
        )

    def figures(self, numbers: WindowsMoved) -> list[tuple[str, str]]:
        """Name MPCC here and over orders, and what does not depend on the order."""
        mean, low, high = numbers.over_orders
        return [
            ("MPCC, this order", two_decimals(numbers.mpcc)),
            (
                f"MPCC, {_ORDERS} shuffles",
                f"{two_decimals(mean)} [{two_decimals(low)}, {two_decimals(high)}]",
            ),
            ("item by item, no windows", two_decimals(numbers.items)),
            ("kappa, four classes", two_decimals(numbers.kappa)),
            ("windows", str(len(numbers.expert))),
        ]

    def view(self, numbers: WindowsMoved) -> str:
        """Draw the first windows of both, and bars for the coefficients."""
        figures = self.figures(numbers)
        mean, low, high = numbers.over_orders
        values = numbers.mpcc, mean, numbers.items, numbers.kappa.value
        spans = None, (low, high), None, (numbers.kappa.low, numbers.kappa.high)
        tones: list[svg.Tone] = ["main", "main", "other", "quiet"]
        rows = [
            svg.Bar(label, value, text, span, tone)
            for (label, text), value, span, tone in zip(
                figures, values, spans, tones, strict=False
            )
        ]
        # A shuffle can bring MPCC below 0: the scale begins there.
        return _two_paths(numbers.expert, numbers.judge) + svg.bars(rows, low=-0.1)


_SHOWN = 40


def _two_paths(expert: Floats, judge: Floats) -> str:
    """Draw the window values of both side by side, the first forty windows."""
    left, right, top, foot = 36, svg.WIDTH - 10, 30, 130
    shown = min(_SHOWN, len(expert))
    parts = [
        svg.text(10, 14, "window value m"),
        svg.path(f"M{left} {top}V{foot}H{right}", "currentColor", 1, opacity=0.5),
        *(
            svg.text(left - 4, y + 4, f"{tick:g}", "end")
            for tick, y in ((1, top), (0, foot))
        ),
        svg.text(left, foot + 17, "window 1"),
        svg.text(right, foot + 17, str(shown), "end"),
    ]
    colours = svg.TONES["other"], svg.TONES["main"]
    styles = (("experts", "7 4", 190), ("judge", "none", 280))
    for values, colour, (name, dashes, x) in zip(
        (expert, judge), colours, styles, strict=True
    ):
        points = "L".join(
            f"{round(left + i / (shown - 1) * (right - left))} "
            f"{round(foot - value * (foot - top))}"
            for i, value in enumerate(values[:shown])
            if value == value  # not nan
        )
        parts.append(svg.path(f"M{points}", colour, 2, dashes))
        parts.append(svg.path(f"M{x} 10h24", colour, 2, dashes))
        parts.append(svg.text(x + 28, 14, name))
    return svg.svg(foot + 24, *parts)


# A planted judge ----------------------------------------------------------------------


@dataclass(frozen=True)
class PlantedJudge:
    """The four counts behind APCC, and what the measures say."""

    expert: Floats
    judge: Floats
    """Shares of A, B, both good and both bad; the judge's over both runs."""
    apcc: float
    mpcc: float
    pcon: Estimate
    kappa: Estimate


class FourCounts(Demo):
    """How do APCC, MPCC, PCon@AB and kappa answer to a judge whose faults we planted?

    A simulated judge on 500 items with simulated experts, fitted to nobody.

    References
    ----------
    MTSAIR side-by-side leaderboard.

    Notes
    -----
    Chapter: *Side by side: the MTSAIR leaderboard*.

    Examples
    --------
    A judge that knows nothing but how long the answers are:

    >>> demo = FourCounts()
    >>> blind = demo.compute(k=0, ties=0, beta=0, length=4, average="coefficients")
    >>> demo.figures(blind)[:2]
    [('APCC', '1.00'), ('MPCC', '−0.03')]
    """

    name = "mtsair-judge"
    title = "A judge with faults that you choose"
    controls = (
        slider("k", "sensitivity to quality k", (0, 1, 2, 4, 8), start=4),
        slider("ties", "caution: readiness to say both", (0, 0.5, 1, 2, 3), start=1),
        slider("beta", "lean to the first slot β", (0, 1, 2, 4), start=0),
        slider("length", "taste for long answers", (0, 1, 2, 4), start=0),
        choice(
            "average",
            "two passes become one by",
            {"mean of coefficients": "coefficients", "pooled counts": "counts"},
            start="coefficients",
        ),
    )

    def compute(self, **params: Any) -> PlantedJudge:
        """Let the judge judge in both orders, and measure."""
        average = params["average"]
        judged, pcon, kappa = _planted(
            params["k"], params["ties"], params["beta"], params["length"]
        )
        return PlantedJudge(
            class_counts(judged.expert) / _N,
            class_counts(*judged.runs) / (2 * _N),
            apcc(judged, average=average),
            mpcc(judged, average=average),
            pcon,
            kappa,
        )

    def figures(self, numbers: PlantedJudge) -> list[tuple[str, str]]:
        """Name the coefficients, then the shares behind them."""
        shares = zip(
            ("A", "B", "both good", "both bad"),
            numbers.expert,
            numbers.judge,
            strict=True,
        )
        return [
            ("APCC", two_decimals(numbers.apcc)),
            ("MPCC", two_decimals(numbers.mpcc)),
            ("PCon@AB", f"{numbers.pcon:.2f}"),
            ("kappa, four classes", two_decimals(numbers.kappa)),
            *(
                (f"{name}: experts, judge", f"{of_expert:.0%}, {of_judge:.0%}")
                for name, of_expert, of_judge in shares
            ),
        ]

    def view(self, numbers: PlantedJudge) -> str:
        """Draw the four coefficients and the eight shares."""
        values = numbers.apcc, numbers.mpcc, numbers.pcon.value, numbers.kappa.value
        pcon, kappa = numbers.pcon, numbers.kappa
        spans = None, None, (pcon.low, pcon.high), (kappa.low, kappa.high)
        tones: list[svg.Tone] = ["main", "main", "main", "quiet"]
        rows = [
            svg.Bar(label, value, text, span, tone)
            for (label, text), value, span, tone in zip(
                self.figures(numbers), values, spans, tones, strict=False
            )
        ]
        top = svg.bars(rows, low=-1, ticks=(-1, 0, 1))
        return top + _eight_shares(numbers.expert, numbers.judge)


def _eight_shares(expert: Floats, judge: Floats) -> str:
    """Draw the shares of the four classes, experts above judge."""
    left, span, step = 84, svg.WIDTH - 94, 34
    parts = [svg.text(10, 16, "share of the verdicts: experts above, judge below")]
    names = ("A", "B", "both good", "both bad")
    for i, name in enumerate(names):
        y = 26 + step * i
        parts.append(svg.text(10, y + 18, name))
        tones: tuple[tuple[Floats, svg.Tone], ...] = (
            (expert, "other"),
            (judge, "main"),
        )
        for j, (shares, tone) in enumerate(tones):
            parts.append(
                f'<rect x="{left}" y="{y + 13 * j}" height="11" '
                f'width="{round(float(shares[i]) * span)}" fill="{svg.TONES[tone]}"/>'
            )
    return svg.svg(26 + step * len(names), *parts)


@cache
def _planted(
    k: float, ties: float, beta: float, length: float
) -> tuple[Benchmark, Estimate, Estimate]:
    judge = Judge(k=k, tie_width=ties, beta=beta, verbosity=length)
    judged = simulate(judge, n=_N, rng=_SEED)
    return judged, pcon_at_ab(judged.two_orders()), _kappa(judged)


def _kappa(judged: Benchmark) -> Estimate:
    kappa = beside(judged)["kappa"]
    assert isinstance(kappa, Estimate)
    return kappa
