"""What a few labels are worth beside many verdicts: a corrected win rate, and a budget.

Both demos hand expected counts to the functions of `judgelab.correction`: the picture
is what a sample shows that turns out exactly as the truth would have it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judgelab.correction import Weight, prediction_powered_share, rogan_gladen
from judgelab.errors import UndefinedStatistic
from judgelab.estimate import Estimate
from judgelab.explore import svg
from judgelab.explore.demo import Demo, slider
from judgelab.intervals import proportion

REST = 2000
_SPLITS = np.arange(0, 0.95, 0.1)


def expected_counts(
    labels: int, rest: int, *, share: float, sensitivity: float, specificity: float
) -> tuple[npt.NDArray[np.int64], tuple[int, int]]:
    """Make the counts that a judge with these error rates gives on average.

    Parameters
    ----------
    labels, rest : int
        How many items people label, and how many only the judge sees.
    share : float
        The true share of wins.
    sensitivity, specificity : float
        How often the judge calls a win a win, and anything else no win.

    Returns
    -------
    table : ndarray of int, shape (2, 2)
        Of the labelled items, rounded: rows people, columns the judge.
    rest : tuple of two int
        The judge's wins and others on the rest.

    Notes
    -----
    Chapter: *Your own judge*.

    Examples
    --------
    >>> expected_counts(100, 1000, share=0.6, sensitivity=0.9, specificity=0.7)[1]
    (660, 340)
    """
    wins = round(labels * share)
    caught = round(wins * sensitivity)
    passed = round((labels - wins) * specificity)
    table = np.array([[caught, wins - caught], [labels - wins - passed, passed]])
    seen = round(rest * (share * sensitivity + (1 - share) * (1 - specificity)))
    return table, (seen, rest - seen)


@dataclass(frozen=True)
class Ways:
    """The true share of wins, and what four ways make of the same data."""

    share: float
    estimates: dict[str, Estimate]


class Corrected(Demo):
    """What do four ways say on the same win rate, and what is true?

    Expected counts: 2,000 verdicts of a judge with known error rates, and as many
    labels as are asked for. Fitted to nobody.

    References
    ----------
    Rogan & Gladen (1978); Angelopoulos, Duchi & Zrnic (2023), arXiv:2311.01453.

    Notes
    -----
    Chapter: *Your own judge*.

    Examples
    --------
    >>> demo = Corrected()
    >>> numbers = demo.compute(n=200, sensitivity=0.9, specificity=0.7, share=0.5)
    >>> demo.figures(numbers)[1]
    ('judge only', '0.60 [0.58, 0.62]')
    """

    name = "own-corrected"
    title = "One win rate, four intervals"
    controls = (
        slider("n", "labels", [50, 100, 200, 400, 800], start=200),
        slider(
            "sensitivity",
            "wins that the judge sees",
            np.arange(0.5, 1.01, 0.1),
            start=0.9,
            form=".1f",
        ),
        slider(
            "specificity",
            "others that it calls no win",
            np.arange(0.5, 1.01, 0.1),
            start=0.7,
            form=".1f",
        ),
        slider("share", "true win rate", np.arange(0.1, 0.95, 0.1), start=0.5),
    )

    def compute(self, **params: Any) -> Ways:
        """Make the four intervals from expected counts."""
        rates = {key: params[key] for key in ("share", "sensitivity", "specificity")}
        table, rest = expected_counts(int(params["n"]), REST, **rates)
        try:
            corrected = rogan_gladen(table, rest)
        except UndefinedStatistic as error:
            corrected = Estimate.undefined(str(error), int(params["n"]))
        return Ways(
            params["share"],
            {
                "judge only": proportion(rest[0], REST),
                "labels only": prediction_powered_share(table, rest, weight=0),
                "prediction-powered": prediction_powered_share(table, rest),
                "Rogan–Gladen": corrected,
            },
        )

    def figures(self, numbers: Ways) -> list[tuple[str, str]]:
        """Name the truth, and then each way with its interval."""
        ways = [(name, f"{found:.2f}") for name, found in numbers.estimates.items()]
        return [("true win rate", f"{numbers.share:.1f}"), *ways]

    def view(self, numbers: Ways) -> str:
        """Draw a line per way, with a tick at the truth."""
        rows = [
            svg.Row(name, _marks(found), numbers.share)
            for name, found in numbers.estimates.items()
        ]
        return svg.forest(rows, 0, 1, (0, 0.5, 1), left=130)


def _marks(found: Estimate) -> Sequence[svg.Mark]:
    if np.isnan(found.value):
        return []
    return [svg.Mark(found.value, (found.low, found.high))]


@dataclass(frozen=True)
class Spent:
    """How wide the interval is for each way to spend the money."""

    splits: list[float]
    widths: list[float]
    labels: list[int]
    verdicts: list[int]


class Budget(Demo):
    """How much of the money should go to people, and how much to the judge?

    A label of a person costs 1. Expected counts; half of the items are wins; the judge
    sees wins and others equally well. Fitted to nobody.

    References
    ----------
    Angelopoulos, Duchi & Zrnic (2023), arXiv:2311.01453.

    Notes
    -----
    Chapter: *Your own judge*.

    Examples
    --------
    >>> demo = Budget()
    >>> numbers = demo.compute(money=400, price=0.01, right=0.9)
    >>> demo.figures(numbers)[0]
    ('width with labels only', '0.098')
    """

    name = "own-budget"
    title = "Labels or verdicts?"
    controls = (
        slider("money", "money, in labels", [100, 200, 400, 800], start=400),
        slider(
            "price",
            "price of a verdict, in labels",
            [0.001, 0.01, 0.1, 0.3],
            start=0.01,
        ),
        slider(
            "right",
            "share of items that the judge gets right",
            [0.5, 0.6, 0.7, 0.8, 0.9, 0.95],
            start=0.9,
            form=".2f",
        ),
    )

    def compute(self, **params: Any) -> Spent:
        """Make the interval for each split of the money."""
        money, price, right = params["money"], params["price"], params["right"]
        widths, people, judged = [], [], []
        for split in _SPLITS:
            # An item with a label needs a verdict as well, unless all go to people.
            labels = round(money * (1 - split) / (1 + price * (split > 0)))
            rest = max(1, round(money * split / price))
            counts = expected_counts(
                labels, rest, share=0.5, sensitivity=right, specificity=right
            )
            weight: Weight = "tuned" if split > 0 else 0
            widths.append(prediction_powered_share(*counts, weight=weight).width)
            people.append(labels)
            judged.append(labels + rest if split > 0 else 0)
        return Spent(_SPLITS.round(1).tolist(), widths, people, judged)

    def figures(self, numbers: Spent) -> list[tuple[str, str]]:
        """Name the two widths, and how the better one is bought."""
        best = int(np.argmin(numbers.widths))
        return [
            ("width with labels only", f"{numbers.widths[0]:.3f}"),
            ("narrowest width", f"{numbers.widths[best]:.3f}"),
            ("share of the money for the judge", f"{numbers.splits[best]:.0%}"),
            ("labels", f"{numbers.labels[best]:,}"),
            ("verdicts", f"{numbers.verdicts[best]:,}"),
        ]

    def view(self, numbers: Spent) -> str:
        """Draw the width over the share of the money that goes to the judge."""
        points = list(zip(numbers.splits, numbers.widths, strict=True))
        flat = [(split, numbers.widths[0]) for split in numbers.splits]
        top = 0.1 * np.ceil(10 * max(numbers.widths))
        return svg.lines(
            {"with judge": points, "labels only": flat},
            x_range=(0.0, numbers.splits[-1]),
            y_range=(0.0, round(float(top), 1)),
            x_label="share of the money for the judge",
            y_label="width of the interval",
        )
