"""The agreement calculator: four counts, raw agreement beside kappa."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judgelab.agreement import cohen_kappa, percent_agreement
from judgelab.errors import UndefinedStatistic
from judgelab.estimate import Estimate
from judgelab.explore import svg
from judgelab.explore.demo import Demo, choice, slider
from judgelab.papers import mt_bench

# Few enough frames for a page that loads at once: 11 × 11 × 7 × 7.
_SAME = range(0, 51, 5)
_DIFFERENT = range(0, 31, 5)


@dataclass(frozen=True)
class Agreement:
    """What one table of two judges says: raw agreement, luck's share, kappa."""

    table: npt.NDArray[Any]
    raw: Estimate
    chance: float
    kappa: Estimate


def summarise(table: npt.NDArray[np.int64]) -> Agreement:
    """Compute the three numbers that the picture sets side by side.

    Examples
    --------
    >>> numbers = summarise(np.array([[40, 10], [15, 35]]))
    >>> numbers.raw.value, numbers.chance, numbers.kappa.value
    (0.75, 0.5, 0.5)
    """
    n = int(table.sum())
    if n == 0:
        nothing = Estimate.undefined("no verdicts", n=0)
        return Agreement(table, nothing, float("nan"), nothing)
    raw = percent_agreement(table)
    chance = float(table.sum(axis=1) @ table.sum(axis=0)) / n**2
    try:
        kappa = cohen_kappa(table)
    except UndefinedStatistic:
        kappa = Estimate.undefined("both always say the same", n=n)
    return Agreement(table, raw, chance, kappa)


class AgreementCalculator(Demo):
    """How much of an agreement rate is real? Move the four counts of a 2 × 2 table.

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> calculator = AgreementCalculator()
    >>> numbers = calculator.compute(both_a=40, both_b=35, judge_a=10, human_a=15)
    >>> calculator.figures(numbers)[0]
    ('raw agreement', '0.75 [0.66, 0.82]')
    """

    name = "agreement-calculator"
    title = "How much of this agreement is real?"
    controls = (
        slider("both_a", "both say A", _SAME, start=40),
        slider("both_b", "both say B", _SAME, start=35),
        slider("judge_a", "judge A, human B", _DIFFERENT, start=10),
        slider("human_a", "judge B, human A", _DIFFERENT, start=15),
    )

    def compute(self, **params: Any) -> Agreement:
        """Fill the table (rows: the judge, columns: the human) and measure it."""
        return summarise(
            np.array(
                [
                    [params["both_a"], params["judge_a"]],
                    [params["human_a"], params["both_b"]],
                ],
                dtype=np.int64,
            )
        )

    def figures(self, numbers: Agreement) -> list[tuple[str, str]]:
        """Name the three numbers and the size of the table."""
        return figures(numbers)

    def view(self, numbers: Agreement) -> str:
        """Draw the table and, below it, the three numbers on one scale."""
        return view(numbers, ["A", "B"], "judge ↓ human →")


class JudgeTypeAgreement(Demo):
    """How much do two types of MT-bench judges agree beyond luck, with ties or without?

    The twin of `AgreementCalculator` on real votes. Which answer is called A is
    arbitrary, so both namings are averaged; the intervals let the questions vary.

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> twin = JudgeTypeAgreement()
    >>> numbers = twin.compute(judges=("G4-Pair", "Human"), setup="S2")
    >>> twin.figures(numbers)[2]
    ('Cohen’s kappa', '0.69 [0.63, 0.74]')
    """

    name = "judge-type-agreement"
    title = "The same on the votes of MT-bench"
    controls = (
        choice(
            "judges",
            "judges",
            {
                "GPT-4 and an expert": ("G4-Pair", "Human"),
                "GPT-4 and an author": ("G4-Pair", "Author"),
                "an author and an expert": ("Author", "Human"),
                "two experts": ("Human", "Human"),
                "two authors": ("Author", "Author"),
            },
            start=("G4-Pair", "Human"),
        ),
        choice("setup", "ties", {"S1: kept": "S1", "S2: dropped": "S2"}, start="S2"),
    )

    def compute(self, **params: Any) -> Agreement:
        """Average both namings of the shipped counts and measure them."""
        votes = mt_bench.joint_tables("question", **params)
        total = votes.sum(axis=0)
        other_names = [1, 0, 2][: len(total)]
        table = (total + total[np.ix_(other_names, other_names)]) / 2
        chance = float(table.sum(axis=1) @ table.sum(axis=0)) / table.sum() ** 2
        return Agreement(
            table,
            percent_agreement(votes, symmetric=True),
            chance,
            cohen_kappa(votes, symmetric=True),
        )

    def figures(self, numbers: Agreement) -> list[tuple[str, str]]:
        """Name the three numbers and the size of the table."""
        return figures(numbers)

    def view(self, numbers: Agreement) -> str:
        """Draw the table and, below it, the three numbers on one scale."""
        names = ["A", "B", "tie"][: len(numbers.table)]
        return view(numbers, names, "first ↓ second →")


def figures(numbers: Agreement) -> list[tuple[str, str]]:
    """Name the three numbers and the size of the table."""
    return [
        ("raw agreement", _text(numbers.raw)),
        ("agreement by chance", _text(numbers.chance)),
        ("Cohen’s kappa", _text(numbers.kappa)),
        ("verdict pairs", f"{int(numbers.table.sum()):,}"),
    ]


def view(numbers: Agreement, names: list[str], corner: str) -> str:
    """Draw the table and, below it, the three numbers on one scale."""
    raw, chance, kappa, _ = figures(numbers)
    # Averaging two namings leaves halves; everything else is a whole number.
    counts = [[int(c) if c == int(c) else c for c in row] for row in numbers.table]
    picture = svg.table(counts, names, names, corner=corner)
    rows = [
        svg.Bar(raw[0], numbers.raw.value, raw[1], _interval(numbers.raw)),
        svg.Bar(chance[0], numbers.chance, chance[1], tone="quiet"),
        svg.Bar(
            kappa[0], numbers.kappa.value, kappa[1], _interval(numbers.kappa), "other"
        ),
    ]
    return picture + svg.bars(rows, low=-1, ticks=(-1, -0.5, 0, 0.5, 1))


def _text(value: Estimate | float) -> str:
    """Write a value with its interval, or the reason why there is none."""
    if isinstance(value, Estimate) and value.reason:
        return f"undefined: {value.reason}"
    if value != value:
        return "undefined"
    return f"{value:.2f}".replace("-", "−")


def _interval(estimate: Estimate) -> tuple[float, float] | None:
    return None if estimate.low != estimate.low else (estimate.low, estimate.high)
