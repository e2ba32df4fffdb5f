"""Position bias of real judges: log-odds in both orders, and a threshold to move.

Real verdicts, recorded: nothing here is drawn but the simulated judge, which is fitted
to them.
"""

from __future__ import annotations

import math
import tempfile
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import special

from judgelab._checks import floats, random_generator, whole
from judgelab.errors import ValidationError
from judgelab.estimate import Estimate
from judgelab.explore import svg
from judgelab.explore.demo import Demo, choice, slider, two_decimals
from judgelab.intervals import Rng, clustered_proportion, proportion
from judgelab.models.judging import judge
from judgelab.models.log import Log
from judgelab.models.parse import from_first_token
from judgelab.models.prompts import find_prompt
from judgelab.models.recorded import SETTINGS, Recorded, example_items
from judgelab.plots import Picture
from judgelab.position import average_orders, mean_lean, right_verdicts
from judgelab.simulate import Judge, expected_rates, fit_judge

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]

_JUDGES = {
    "SmolLM2, 135 million parameters": ("smollm2", "pairwise"),
    "Qwen2.5-Coder, 1.5 billion": ("qwen", "pairwise"),
    "the same, after four examples (50 pairs)": ("qwen", "few-shot"),
}


@cache
def recorded_verdicts(name: str, prompt: str) -> pd.DataFrame:
    """Which verdicts does a recorded model give, read from the first token?

    Parameters
    ----------
    name : str
        A model of `models.recorded.Recorded`.
    prompt : str
        A prompt for pairs, one of `models.recorded.SETTINGS`.

    Returns
    -------
    pandas.DataFrame
        Records as `models.judge` returns them; the same object at every call.

    Notes
    -----
    Chapter: *Ask a real model*.

    Examples
    --------
    >>> recorded_verdicts("smollm2", "pairwise")["verdict"].unique().tolist()
    ['A']
    """
    read = partial(from_first_token, labels=find_prompt(prompt).labels)
    with tempfile.TemporaryDirectory() as folder:
        return judge(
            example_items(prompt),
            Recorded(name),
            prompt,
            Log(Path(folder) / "replies.sqlite"),
            parse=read,
            name=name,
            stop_after=None,
            **SETTINGS[prompt],
        ).records


@dataclass(frozen=True)
class _Read:
    """The log-odds of one judge, pair by pair, and the simulated judge beside it."""

    first: Floats
    """Of the first slot, where the better answer stands in it."""
    second: Floats
    """Of the first slot, where the better answer stands in the second."""
    padded: npt.NDArray[np.bool_]
    """Pairs whose worse answer is padded."""
    beta: Estimate
    fitted: Judge

    @property
    def edges(self) -> tuple[int, int]:
        """Of the picture: every pair lies inside, and so do most thresholds."""
        odds = [*self.first, *self.second]
        return math.floor(min(-1, *odds)), math.ceil(max(3, *odds))


@cache
def _read(name: str, prompt: str) -> _Read:
    records = recorded_verdicts(name, prompt)
    both = average_orders(records)
    better = np.where(both["gold"] == "A", 1, -1)
    shown, lean = better * both["preference"].to_numpy(), both["lean"].to_numpy()
    return _Read(
        lean + shown,
        lean - shown,
        (both["kind"] == "padding").to_numpy(),
        mean_lean(records),
        fit_judge(records),
    )


@dataclass(frozen=True)
class Moved:
    """What the verdicts of one judge are at one threshold."""

    read: _Read
    threshold: float
    right: Estimate
    """Right verdicts, over both orders."""
    consistent: Estimate
    """Pairs with the same verdict in both orders."""
    averaged: Estimate
    """Right after averaging over the orders: no threshold moves that."""
    sampled: float
    """Consistency if the judge drew its label at temperature 1."""
    simulated: float
    """The same, of the simulated judge that is fitted to the log-odds."""
    beta: Estimate
    """The simulated judge's lean: the mean lean, from the threshold."""


class MovedThreshold(Demo):
    """Which threshold on the log-odds makes a real judge consistent, and right?

    Real verdicts, recorded: two small models on the examples of the package, each pair
    in both orders; one of them also after four solved examples. The first slot wins if
    its log-odds exceed the threshold. Beside it stands a simulated judge whose β and k
    are fitted to the log-odds.

    Notes
    -----
    Chapter: *Ask a real model*.

    Examples
    --------
    >>> demo = MovedThreshold()
    >>> numbers = demo.compute(judge=("smollm2", "pairwise"), threshold=0)
    >>> demo.figures(numbers)[1]
    ('same verdict in both orders', '0.00 [0.00, 0.02]')
    """

    name = "moved-threshold"
    title = "Position bias of a real judge (real verdicts, recorded)"
    controls = (
        choice("judge", "judge", _JUDGES, start=("qwen", "pairwise")),
        slider(
            "threshold",
            "threshold on the log-odds",
            np.arange(-10, 31) / 10,
            start=0,
            form=".1f",
        ),
    )

    def compute(self, **params: Any) -> Moved:
        """Move the threshold, and count."""
        read, cut = _read(*params["judge"]), params["threshold"]
        right = [read.first > cut, read.second < cut]
        p, q = special.expit(read.first - cut), special.expit(cut - read.second)
        beta, n = read.beta, len(read.first)
        return Moved(
            read,
            cut,
            clustered_proportion(np.add(*right, dtype=int), np.full(n, 2)),
            proportion(int((right[0] == right[1]).sum()), n),
            proportion(int((read.first > read.second).sum()), n),
            float((p * q + (1 - p) * (1 - q)).mean()),
            expected_rates(replace(read.fitted, beta=read.fitted.beta - cut))[1],
            replace(
                beta, value=beta.value - cut, low=beta.low - cut, high=beta.high - cut
            ),
        )

    def figures(self, numbers: Moved) -> list[tuple[str, str]]:
        """Name the rates, and the simulated judge's lean."""
        return [
            ("right, one order", two_decimals(numbers.right)),
            ("same verdict in both orders", two_decimals(numbers.consistent)),
            ("the same at temperature 1", f"{numbers.sampled:.2f}"),
            ("the same, simulated judge", f"{numbers.simulated:.2f}"),
            ("right, orders averaged", two_decimals(numbers.averaged)),
            ("β of the simulated judge", two_decimals(numbers.beta)),
        ]

    def view(self, numbers: Moved) -> str:
        """Draw every pair in the two orders, and the rates below."""
        right, consistent, averaged = (
            (rate.value, (rate.low, rate.high))
            for rate in (numbers.right, numbers.consistent, numbers.averaged)
        )
        rates: list[tuple[float, tuple[float, float] | None]] = [
            right,
            consistent,
            (numbers.sampled, None),
            (numbers.simulated, None),
            averaged,
        ]
        tones: list[svg.Tone] = ["main", "main", "main", "other", "quiet"]
        rows = [
            svg.Bar(label, rate, figure, interval, tone)
            for (label, figure), (rate, interval), tone in zip(
                self.figures(numbers), rates, tones, strict=False
            )
        ]
        return _dots(numbers) + svg.bars(rows)


def _dots(numbers: Moved) -> str:
    """Draw each pair at its log-odds in the two orders; the threshold is a cross."""
    left, top, side = 70, 42, 220
    foot = top + side
    low, high = numbers.read.edges

    def at(odds: float) -> int:
        return round((odds - low) / (high - low) * side)

    cross = at(numbers.threshold)
    corners = [
        svg.text(left, top - 6, "wrong twice"),
        svg.text(left + side, top - 6, "first slot twice", "end"),
        svg.text(left, foot + 34, "second slot twice"),
        svg.text(left + side, foot + 34, "right twice", "end"),
    ]
    dots = []
    for first, second, padded in zip(
        numbers.read.first.tolist(),
        numbers.read.second.tolist(),
        numbers.read.padded.tolist(),
        strict=True,
    ):
        # A ring as well as another colour: grey print keeps it apart.
        look = (
            f'fill="{svg.TONES["other"]}" stroke="currentColor"'
            if padded
            else f'fill="{svg.TONES["main"]}"'
        )
        dots.append(
            f'<circle cx="{left + at(first)}" cy="{foot - at(second)}" r="3.5" '
            f'{look} fill-opacity=".75"/>'
        )
    ticks = {at(tick): f"{tick}".replace("-", "−") for tick in range(low, high + 1)}
    return svg.svg(
        foot + 62,
        svg.text(10, 14, "log-odds of the first slot, better answer shown second"),
        f'<rect x="{left}" y="{top}" width="{side}" height="{side}" fill="none" '
        'stroke="currentColor" stroke-opacity=".4"/>',
        f'<path d="M{left} {foot}L{left + side} {top}" stroke="currentColor" '
        'stroke-opacity=".3"/>',
        f'<path d="M{left + cross} {top}V{foot}M{left} {foot - cross}h{side}" '
        'fill="none" '
        'stroke="currentColor" stroke-width="1.5" stroke-dasharray="5 3"/>',
        *dots,
        *corners,
        *(svg.text(left + x, foot + 16, word, "middle") for x, word in ticks.items()),
        *(svg.text(left - 6, foot - y + 4, word, "end") for y, word in ticks.items()),
        svg.text(
            left + side / 2, foot + 54, "the same, better answer shown first", "middle"
        ),
    )


class Chosen(NamedTuple):
    """How right the best of several judges is where it was chosen, and elsewhere."""

    here: float
    """Share right on the items on which it was chosen."""
    elsewhere: float
    """Share right on the others."""

    @property
    def curse(self) -> float:
        """By how much it looks better than it is."""
        return self.here - self.elsewhere


def choose_and_measure(
    right: npt.ArrayLike,
    *,
    on: int,
    tried: int | None = None,
    draws: int = 2000,
    rng: Rng,
) -> Chosen:
    """How good is the best of several judges, on items that did not choose it?

    Parameters
    ----------
    right : array_like, shape (items, judges)
        Share of right verdicts of each judge (a prompt, a way of reading) on each item,
        in [0, 1].
    on : int
        How many items choose, drawn at random; the others measure.
    tried : int, optional
        How many of the judges are tried, drawn at random; all of them by default.
    draws : int, default 2000
        How many draws are averaged.
    rng : numpy.random.Generator or int
        The source of randomness.

    Returns
    -------
    Chosen
        Averages over the draws; of judges that are equally right one is taken by lot.

    Raises
    ------
    ValidationError
        If a share is not in [0, 1], no item would choose or measure, more judges are
        tried than there are, or there are no draws.

    References
    ----------
    Stone (1974), *JRSS B* 36(2): choosing and measuring on different items.

    Notes
    -----
    Says what choosing does among these judges on items like these. No interval is
    given, since all draws share the same items. What flatters the chosen judge is used
    up where it was chosen, so among judges that are equally good it does worse on the
    others than on new items: the distance is fair on average over sets of items, and
    not for each of them. Chapter: *Ask a real model*.

    Examples
    --------
    Six judges that guess, on 50 items; 25 of them choose:

    >>> guesses = np.random.default_rng(1).integers(0, 2, (50, 6))
    >>> chosen = choose_and_measure(guesses, on=25, rng=1)
    >>> f"{chosen.here:.2f}, elsewhere {chosen.elsewhere:.2f}"
    '0.61, elsewhere 0.44'
    """
    shares = floats("right", right)
    if shares.ndim != 2 or not ((shares >= 0) & (shares <= 1)).all():
        raise ValidationError(
            "right holds shares from 0 to 1, one row per item and one column per judge"
        )
    items, judges = shares.shape
    on, draws = whole("on", on), whole("draws", draws, least=1)
    tried = judges if tried is None else whole("tried", tried)
    if not 0 < on < items or not 0 < tried <= judges:
        raise ValidationError(
            f"on is {on} of {items} items and tried is {tried} of {judges} judges; "
            "some items must choose, others measure, and at least one judge be tried"
        )
    generator = random_generator(rng)
    chooses = generator.random((draws, items)).argsort(axis=1) < on
    here, everywhere = chooses @ shares, shares.sum(axis=0)
    # Of judges that are equally right `argmax` takes the first, and a lot who that is.
    lot = generator.random((draws, judges)).argsort(axis=1)[:, :tried]
    first = np.take_along_axis(here, lot, axis=1).argmax(axis=1)
    draw = np.arange(draws)
    best = lot[draw, first]
    sums = here[draw, best]
    rest = everywhere[best] - sums
    return Chosen(float(sums.mean() / on), float(rest.mean() / (items - on)))


@cache
def _six(name: str) -> Floats:
    """Share right, pair by pair, of three prompts in one order, and averaged."""
    judges = []
    for prompt in ("pairwise", "pairwise-tie", "few-shot"):
        records = recorded_verdicts(name, prompt)
        records = records[records["item"].isin(example_items("few-shot")["item"])]
        both = average_orders(records)
        prefers = np.where(both["preference"] > 0, "A", "B")
        judges += [right_verdicts(records) / 2, prefers == both["gold"]]
    return np.array(judges, float).T


class BestOfSix(Demo):
    """How much better does the best of several judges look than it is?

    Real verdicts, recorded: three prompts, each read in one order or with the orders
    averaged, make six judges of a model. The best is chosen on pairs drawn at random
    and measured on the others; 2,000 draws are averaged.

    Notes
    -----
    Chapter: *Ask a real model*.

    Examples
    --------
    >>> demo = BestOfSix()
    >>> demo.figures(demo.compute(model="smollm2", tried=1, on=25))[2]
    ('looks better than it is by', '0.00')
    """

    name = "best-of-six"
    title = "The best of six looks better than it is (real verdicts, recorded)"
    controls = (
        choice(
            "model",
            "model",
            {"SmolLM2": "smollm2", "Qwen2.5-Coder": "qwen"},
            start="smollm2",
        ),
        slider("tried", "judges tried", range(1, 7), start=3),
        slider("on", "pairs that choose, of 50", range(5, 30, 5), start=25),
    )

    def compute(self, **params: Any) -> Chosen:
        """Choose and measure, many times."""
        return choose_and_measure(
            _six(params["model"]),
            on=int(params["on"]),
            tried=int(params["tried"]),
            rng=0,
        )

    def figures(self, numbers: Chosen) -> list[tuple[str, str]]:
        """Name the two shares, and their distance."""
        return [
            ("right on the pairs that chose it", f"{numbers.here:.2f}"),
            ("right on the other pairs", f"{numbers.elsewhere:.2f}"),
            ("looks better than it is by", f"{numbers.curse:z.2f}"),
        ]

    def view(self, numbers: Chosen) -> str:
        """Draw a bar for each."""
        values = (numbers.here, numbers.elsewhere, numbers.curse)
        tones: list[svg.Tone] = ["other", "main", "quiet"]
        rows = [
            svg.Bar(label, value, figure, None, tone)
            for (label, figure), value, tone in zip(
                self.figures(numbers), values, tones, strict=True
            )
        ]
        return svg.bars(rows)


_STEPS = (
    ("an item: question and two answers",),
    ("as given: A first", "swapped: B first"),
    ("request: prompt, settings, seed",),
    ("log: nothing is asked twice",),
    ("a reply", "no reply: MISSING"),
    ("a label", "none: INVALID, and why"),
    ("a verdict on slots, un-swapped",),
    ("a record, ready to be counted",),
)


def from_item_to_record(*, alt: str, caption: str) -> Picture:
    """Draw the way from an item to the records of a judge.

    Parameters
    ----------
    alt, caption : str
        See `plots.publish`.

    Returns
    -------
    Picture
        Boxes from top to bottom; what stands side by side are the possibilities.

    Notes
    -----
    Chapter: *Ask a real model*.

    Examples
    --------
    >>> from_item_to_record(alt="Eight steps.", caption="Figure 1.").svg.count("<rect")
    11
    """
    return Picture(svg.labelled(svg.flow(_STEPS), alt), alt, caption)
