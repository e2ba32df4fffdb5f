"""Labels of a judge against people's, and what happens to kappa and to rankings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from judgelab.agreement import cohen_kappa, gwet_ac2, percent_agreement
from judgelab.correlation import kendall_tau, kendall_tau_table
from judgelab.counts import contingency_table
from judgelab.estimate import Estimate
from judgelab.explore import svg
from judgelab.explore.demo import Demo, choice, slider, two_decimals
from judgelab.papers.llmjudge import (
    SCALE,
    SUBMISSIONS,
    alpha,
    binarise,
    mean_label,
    over_queries,
    published,
    recode,
    tables,
)

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

_START = "h2oloo-fewself"


@dataclass(frozen=True)
class Labels:
    """What one table of labels says by four measures."""

    table: npt.NDArray[Any]
    """Human × judge, all queries together."""
    estimates: dict[str, Estimate]


class LabelTable(Demo):
    """A submission's labels against people's: move the threshold and the weighting.

    References
    ----------
    Rahmani et al. (2025), arXiv:2502.13908, Tables 3–5.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> demo = LabelTable()
    >>> numbers = demo.compute(submission="Olz-gpt4o", cut=0, weights=None)
    >>> demo.figures(numbers)[1]
    ('kappa', '0.26 [0.15, 0.37]')
    """

    name = "label-table"
    title = "One judge’s labels against people’s (LLMJudge)"
    controls = (
        choice(
            "submission",
            "submission",
            {name: name for name in SUBMISSIONS},
            start=_START,
        ),
        choice(
            "cut",
            "relevant is",
            {
                "four labels, no threshold": 0,
                "1 or more": 1,
                "2 or more": 2,
                "3 only": 3,
            },
            start=0,
        ),
        choice(
            "weights",
            "a near miss counts",
            {
                "as wrong": None,
                "by its distance (linear)": "linear",
                "by its square (quadratic)": "quadratic",
            },
            start=None,
        ),
    )

    def compute(self, **params: Any) -> Labels:
        """Cut the tables of all queries, and measure."""
        counts, weights = tables(params["submission"]), params["weights"]
        if params["cut"]:
            counts = binarise(counts, params["cut"])
        return Labels(
            counts.sum(axis=0),
            {
                "raw agreement": percent_agreement(counts, weights=weights),
                "kappa": cohen_kappa(counts, weights=weights),
                "alpha (ordinal)": alpha(counts),
                "AC2" if weights else "AC1": gwet_ac2(counts, weights=weights),
            },
        )

    def figures(self, numbers: Labels) -> list[tuple[str, str]]:
        """Name the measures, and the mean labels."""
        rows = [
            (name, two_decimals(value)) for name, value in numbers.estimates.items()
        ]
        means = [mean_label(numbers.table, side) for side in ("judge", "human")]
        what = "share relevant" if len(numbers.table) == 2 else "mean label"
        return [*rows, (what, f"judge {means[0]:.2f}, people {means[1]:.2f}")]

    def view(self, numbers: Labels) -> str:
        """Draw the table above the measures."""
        return _table(numbers.table) + _bars(numbers.estimates)


# Simulated: systems that rank passages, and a judge that errs -------------------------

_QUERIES, _PASSAGES, _DEPTH = 25, 60, 10
_SYSTEMS = 20
_SHARES = (2005 / 4423, 1233 / 4423, 808 / 4423, 377 / 4423)
"""How often people gave each label in LLMJudge's test set."""


@dataclass(frozen=True)
class World:
    """Invented passages with people's labels, and what invented systems return."""

    people: Integers
    """Labels, queries × passages."""
    returned: Integers
    """The passages on the first ten places, systems × queries × places."""


@cache
def invented() -> World:
    """Draw the world of `ShuffledLabels`, always the same."""
    rng = np.random.default_rng(7)
    people = rng.choice(4, (_QUERIES, _PASSAGES), p=_SHARES)
    noise = np.linspace(0.6, 4, _SYSTEMS)[:, None, None]
    scores = people + noise * rng.normal(size=(_SYSTEMS, *people.shape))
    return World(people, np.argsort(-scores, axis=2)[:, :, :_DEPTH])


@cache
def _luck() -> tuple[Integers, Floats, Floats]:
    """Draw once which labels are shuffled and which moved, so that sliders nest."""
    rng = np.random.default_rng(8)
    shape = _QUERIES, _PASSAGES
    order = np.argsort(rng.random(shape), axis=1)
    return order, rng.random(shape), rng.random(shape)


def misjudged(shuffled: float, bias: float) -> Integers:
    """Give the invented judge's labels: people's, some of them exchanged and moved.

    Parameters
    ----------
    shuffled : float
        Share of the labels, from 0 to 1, that change places within their query.
    bias : float
        Share of the labels, from −1 to 1, that move one step up (down if negative) as
        far as the scale goes.

    Returns
    -------
    ndarray of int64, shape (25, 60)

    Examples
    --------
    >>> kind = misjudged(0, 1)
    >>> bool((kind == np.minimum(invented().people + 1, 3)).all())
    True
    """
    order, turn, step = _luck()
    labels = invented().people.copy()
    for query in range(_QUERIES):
        places = order[query][turn[query][order[query]] < shuffled]
        labels[query, places] = labels[query, np.roll(places, 1)]
    moved = np.where(step < abs(bias), round(np.sign(bias)), 0)
    return np.clip(labels + moved, SCALE[0], SCALE[-1])


def ndcg_of_systems(labels: Integers) -> Floats:
    """Give the mean NDCG@10 of the invented systems under some labels.

    Examples
    --------
    >>> scores = ndcg_of_systems(invented().people)
    >>> bool(scores[0] == scores.max()), scores.shape
    (True, (20,))
    """
    discount = 1 / np.log2(np.arange(2, _DEPTH + 2))
    gains = labels[np.arange(_QUERIES)[:, None], invented().returned] @ discount
    ideal = np.sort(labels, axis=1)[:, ::-1][:, :_DEPTH] @ discount
    return np.asarray((gains / ideal).mean(axis=1))


@dataclass(frozen=True)
class Rankings:
    """What a judge's errors do to labels and to the ranking of systems."""

    people: Floats
    """Mean NDCG@10 of each system by people's labels."""
    judge: Floats
    """The same by the judge's."""
    estimates: dict[str, Estimate]
    mean: float
    """The judge's mean label."""


class ShuffledLabels(Demo):
    """Simulated: spoil a judge's labels, and see which measure notices.

    Twenty invented systems search sixty invented passages for each of 25 queries. The
    judge begins with people's labels; then some change places within their query, and
    some move up or down.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> demo = ShuffledLabels()
    >>> kind = demo.compute(shuffled=0, bias=1)
    >>> [f"{kind.estimates[name].value:.2f}" for name in demo.measures]
    ['0.96', '-0.14', '0.53']
    """

    name = "shuffled-labels"
    title = "Simulated: what errors do to labels, and to a ranking"
    measures = ("tau of the rankings", "kappa of the labels", "alpha of the labels")
    controls = (
        slider(
            "shuffled",
            "labels exchanged within a query",
            np.linspace(0, 1, 11),
            start=0,
            form=".0%",
        ),
        slider(
            "bias",
            "labels one step up (−: down)",
            np.linspace(-1, 1, 21),
            start=0,
            form=".0%",
        ),
    )

    def compute(self, **params: Any) -> Rankings:
        """Spoil the labels, score the systems by both, and compare."""
        people, judge = (
            invented().people,
            misjudged(params["shuffled"], params["bias"]),
        )
        queries = np.repeat(np.arange(_QUERIES), _PASSAGES)
        counts = contingency_table(
            people.ravel(), judge.ravel(), scale=SCALE, clusters=queries
        )
        scores = ndcg_of_systems(people), ndcg_of_systems(judge)
        measured = kendall_tau(*scores), cohen_kappa(counts), alpha(counts)
        named = dict(zip(self.measures, measured, strict=True))
        return Rankings(*scores, named, float(judge.mean()))

    def figures(self, numbers: Rankings) -> list[tuple[str, str]]:
        """Name the measures and the judge's mean label."""
        rows = [
            (name, two_decimals(value)) for name, value in numbers.estimates.items()
        ]
        people = float(invented().people.mean())
        return [
            *rows,
            ("mean label", f"judge {numbers.mean:.2f}, people {people:.2f}"),
        ]

    def view(self, numbers: Rankings) -> str:
        """Draw systems by both scores, and the measures below."""
        return _dots(numbers.people, numbers.judge) + _bars(numbers.estimates)


_RECODINGS = {
    "as given": (0, 1, 2, 3),
    "one step up": (1, 2, 3, 3),
    "one step down": (0, 0, 1, 2),
    "only the ends: 0, 1 → 0 and 2, 3 → 3": (0, 0, 3, 3),
    "only the middle: 0, 1 → 1 and 2, 3 → 2": (1, 1, 2, 2),
    "upside down": (3, 2, 1, 0),
}


@dataclass(frozen=True)
class Recoded:
    """A real submission's labels under other names."""

    table: npt.NDArray[Any]
    estimates: dict[str, Estimate]
    printed: float
    """The paper's tau of system rankings, for the labels as given."""


class RecodedLabels(Demo):
    """The same on real labels: let a submission use the scale in another way.

    The twin of `ShuffledLabels` on LLMJudge's public labels. Here tau compares the
    order of single passages, since the runs of the systems are not public.

    References
    ----------
    Rahmani et al. (2025), arXiv:2502.13908, Tables 3 and 6.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> demo = RecodedLabels()
    >>> up = demo.compute(submission="h2oloo-fewself", labels=(1, 2, 3, 3))
    >>> demo.figures(up)[:2]
    [('tau of the labels', '0.45 [0.32, 0.58]'), ('kappa', '0.02 [−0.04, 0.09]')]
    """

    name = "recoded-labels"
    title = "The same on real labels: LLMJudge"
    controls = (
        choice(
            "submission",
            "submission",
            {name: name for name in SUBMISSIONS},
            start=_START,
        ),
        choice("labels", "the judge’s labels", _RECODINGS, start=(0, 1, 2, 3)),
    )

    def compute(self, **params: Any) -> Recoded:
        """Replace the labels, and measure."""
        name = params["submission"]
        counts = recode(tables(name), params["labels"])
        return Recoded(
            counts.sum(axis=0),
            {
                "tau of the labels": over_queries(counts, _order),
                "kappa": cohen_kappa(counts),
                "alpha (ordinal)": alpha(counts),
            },
            float(_printed()[name]),
        )

    def figures(self, numbers: Recoded) -> list[tuple[str, str]]:
        """Name the measures, and what the paper prints."""
        rows = [
            (name, two_decimals(value)) for name, value in numbers.estimates.items()
        ]
        means = [mean_label(numbers.table, side) for side in ("judge", "human")]
        return [
            *rows,
            ("mean label", f"judge {means[0]:.2f}, people {means[1]:.2f}"),
            ("tau of system rankings, as printed", f"{numbers.printed:.2f}"),
        ]

    def view(self, numbers: Recoded) -> str:
        """Draw the table above the measures."""
        return _table(numbers.table) + _bars(numbers.estimates)


@cache
def _printed() -> dict[str, float]:
    return {str(name): tau for name, tau in published()["tau"].items()}


def _order(table: npt.NDArray[Any]) -> Estimate:
    return kendall_tau_table(table, interval=None)


def _table(counts: npt.NDArray[Any]) -> str:
    """Draw people's labels down and the judge's across."""
    labels = SCALE if len(counts) == len(SCALE) else ("no", "yes")
    people, judge = (
        [f"{who} {label}" for label in labels] for who in ("people", "judge")
    )
    return svg.table(counts.tolist(), people, judge)


def _bars(estimates: dict[str, Estimate]) -> str:
    tones: tuple[svg.Tone, ...] = ("main", "other", "other", "quiet")
    rows = [
        svg.Bar(
            name,
            estimate.value,
            two_decimals(estimate),
            # One without an interval: all systems in the same order.
            None if np.isnan(estimate.low) else (estimate.low, estimate.high),
            tone,
        )
        for (name, estimate), tone in zip(estimates.items(), tones, strict=False)
    ]
    return svg.bars(rows, low=-1, ticks=(-1, -0.5, 0, 0.5, 1))


def _dots(people: Floats, judge: Floats) -> str:
    """Draw every system at its two scores, with the line of equal scores."""
    left, top, side = 60, 28, 200
    low, high = 0.2, 1.0

    def at(score: float) -> int:
        return round((min(max(score, low), high) - low) / (high - low) * side)

    foot = top + side
    dots = "".join(
        f'<circle cx="{left + at(x)}" cy="{foot - at(y)}" r="4" '
        f'fill="{svg.TONES["main"]}"/>'
        for x, y in zip(people.tolist(), judge.tolist(), strict=True)
    )
    return svg.svg(
        foot + 40,
        f'<path d="M{left} {top}V{foot}H{left + side}" fill="none" '
        'stroke="currentColor" stroke-opacity=".5"/>'
        f'<path d="M{left} {foot}L{left + side} {top}" stroke="currentColor" '
        'stroke-opacity=".3" stroke-dasharray="4 4"/>',
        dots,
        svg.text(left, foot + 16, f"{low:g}", "middle"),
        svg.text(left + side, foot + 16, f"{high:g}", "middle"),
        svg.text(left - 6, foot, f"{low:g}", "end"),
        svg.text(left - 6, top + 12, f"{high:g}", "end"),
        svg.text(left + side / 2, foot + 32, "NDCG@10 by people", "middle"),
        svg.text(10, 14, "NDCG@10 by the judge"),
    )
