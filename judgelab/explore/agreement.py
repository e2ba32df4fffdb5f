"""Raw agreement beside kappa, invented and real; what votes in clusters are worth."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from judgelab.agreement import cohen_kappa, percent_agreement
from judgelab.estimate import Estimate
from judgelab.explore import svg
from judgelab.explore.demo import Demo, choice, slider, two_decimals
from judgelab.intervals import clustered_proportion, proportion
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


class _AgreementDemo(Demo):
    """Draws a table of two judges above the three numbers that it gives."""

    corner: str

    def figures(self, numbers: Agreement) -> list[tuple[str, str]]:
        """Name the three numbers and the size of the table."""
        return [
            ("raw agreement", two_decimals(numbers.raw)),
            ("agreement by chance", two_decimals(numbers.chance)),
            ("Cohen’s kappa", two_decimals(numbers.kappa)),
            ("pairs of verdicts", f"{numbers.table.sum():,g}"),
        ]

    def view(self, numbers: Agreement) -> str:
        """Draw the table and, below it, the three numbers on one scale."""
        raw, chance, kappa, _ = self.figures(numbers)
        names = ["A", "B", "tie"][: len(numbers.table)]
        return svg.table(
            numbers.table.tolist(), names, names, corner=self.corner
        ) + svg.bars(
            [
                svg.Bar(*_bar(raw, numbers.raw)),
                svg.Bar(chance[0], numbers.chance, chance[1], tone="quiet"),
                svg.Bar(*_bar(kappa, numbers.kappa), tone="other"),
            ],
            low=-1,
            ticks=(-1, -0.5, 0, 0.5, 1),
        )


class AgreementCalculator(_AgreementDemo):
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
    corner = "judge ↓ human →"
    controls = (
        slider("both_a", "both say A", _SAME, start=40),
        slider("both_b", "both say B", _SAME, start=35),
        slider("judge_a", "judge A, human B", _DIFFERENT, start=10),
        slider("human_a", "judge B, human A", _DIFFERENT, start=15),
    )

    def compute(self, **params: Any) -> Agreement:
        """Fill the table (rows: the judge, columns: the human) and measure it."""
        a, b, c, d = (
            int(params[name]) for name in ("both_a", "both_b", "judge_a", "human_a")
        )
        table = np.array([[a, c], [d, b]])
        return Agreement(
            table,
            _raw(a + b, c + d),
            _chance(table),
            _kappa(*sorted((a, b)), *sorted((c, d))),
        )


# Nothing changes when the judges, or the names of the answers, change places, so that a
# quarter of the tables stands for all of them.
@cache
def _raw(same: int, different: int) -> Estimate:
    return percent_agreement([[same, different], [0, 0]], undefined="nan")


@cache
def _kappa(a: int, b: int, c: int, d: int) -> Estimate:
    return cohen_kappa([[a, c], [d, b]], undefined="nan")


_STORED = "stored"
_VOTES = {
    "GPT-4 and an expert": ("G4-Pair", "Human"),
    "GPT-4 and an expert, named as stored": _STORED,
    "GPT-4 and an author": ("G4-Pair", "Author"),
    "an author and an expert": ("Author", "Human"),
    "two experts": ("Human", "Human"),
    "two authors": ("Author", "Author"),
}


class RealAgreement(_AgreementDemo):
    """How much of the agreement in MT-bench's votes is real?

    The twin of `AgreementCalculator` on the published votes of both turns. Intervals
    take whole questions as what is independent; for the order of the files, of which
    only the total is known, single pairs of votes.

    References
    ----------
    Zheng et al. (2023), arXiv:2306.05685, section 4.2 and Table 13.

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> demo = RealAgreement()
    >>> numbers = demo.compute(votes="stored", setup="S2", symmetric=False)
    >>> f"{numbers.raw.value:.2f} {numbers.kappa.value:.2f}"
    '0.85 0.42'
    >>> numbers = demo.compute(votes="stored", setup="S2", symmetric=True)
    >>> f"{numbers.raw.value:.2f} {numbers.kappa.value:.2f}"
    '0.85 0.69'
    """

    name = "real-agreement"
    title = "The same on real votes: MT-bench"
    corner = "first ↓ second →"
    controls = (
        choice("votes", "who judges", _VOTES, start=("G4-Pair", "Human")),
        choice("setup", "ties", {"kept (S1)": "S1", "dropped (S2)": "S2"}, start="S2"),
        choice(
            "symmetric",
            "which answer is called A",
            {
                "the one named first": False,
                "must not matter: both ways, averaged": True,
            },
            start=False,
        ),
    )

    def compute(self, **params: Any) -> Agreement:
        """Take the shipped counts of votes and measure them."""
        votes, setup, symmetric = params["votes"], params["setup"], params["symmetric"]
        counts: npt.NDArray[Any]
        if votes == _STORED:
            counts = mt_bench.joint_table(order="stored", setup=setup)
        else:
            counts = mt_bench.joint_tables("question", judges=votes, setup=setup)
        table = counts if counts.ndim == 2 else counts.sum(axis=0)
        if symmetric:
            other_names = [1, 0, 2][: len(table)]
            table = (table + table[np.ix_(other_names, other_names)]) / 2
        return Agreement(
            table,
            percent_agreement(counts),
            _chance(table),
            cohen_kappa(counts, symmetric=symmetric),
        )


_TRUTH = 0.85
_STUDIES = 200
_QUESTIONS = (20, 80, 320)
_VOTES_EACH = (1, 2, 5, 20)


@dataclass(frozen=True)
class Repeated:
    """What two kinds of interval did in many studies of one known agreement."""

    votes: int
    by_votes: float
    """Share of the studies whose interval holds the truth if votes are the units."""
    by_questions: float
    """The same if questions are."""
    worth: float
    """How many unrelated votes would tell as much (Kish 1965: the design effect)."""


class AlikeVotes(Demo):
    """What is one more vote worth, if votes on one question resemble each other?

    Simulated: 200 studies for each setting. Each question has an agreement of its own,
    from a beta distribution with mean 0.85, and each vote agrees with that probability.
    The correlation of two votes on one question is what the slider moves.

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> demo = AlikeVotes()
    >>> demo.compute(questions=80, votes=20, alike=0).by_votes > 0.9
    True
    >>> demo.compute(questions=80, votes=20, alike=0.2).by_votes < 0.7
    True
    """

    name = "alike-votes"
    title = "What is one more vote worth?"
    controls = (
        slider("questions", "questions", _QUESTIONS, start=80),
        slider("votes", "votes per question", _VOTES_EACH, start=5),
        slider("alike", "how alike they are", (0, 0.05, 0.1, 0.2, 0.5, 1), start=0),
    )

    def compute(self, **params: Any) -> Repeated:
        """Repeat the study and look how often each interval holds the truth."""
        questions, votes = int(params["questions"]), int(params["votes"])
        share, luck = _shares(params["alike"])[:, :questions, None], _draws()[1]
        agree = (luck[:, :questions, :votes] < share).sum(axis=2)
        total, size = questions * votes, np.full(questions, votes)
        naive = [_among(int(study.sum()), total) for study in agree]
        honest = [clustered_proportion(study, size) for study in agree]
        return Repeated(
            total,
            float(np.mean([i.low <= _TRUTH <= i.high for i in naive])),
            float(np.mean([i.low <= _TRUTH <= i.high for i in honest])),
            total / (1 + (votes - 1) * params["alike"]),
        )

    def figures(self, numbers: Repeated) -> list[tuple[str, str]]:
        """Name how often the intervals hit, and what the votes are worth."""
        return [
            ("hit the truth, votes as units", f"{100 * numbers.by_votes:.0f} %"),
            (
                "hit the truth, questions as units",
                f"{100 * numbers.by_questions:.0f} %",
            ),
            (f"{numbers.votes:,} votes are worth", f"{numbers.worth:,.0f}"),
        ]

    def view(self, numbers: Repeated) -> str:
        """Draw both shares against the 95 % that were promised, then the worth."""
        tones: list[svg.Tone] = ["other", "main", "quiet"]
        shares = numbers.by_votes, numbers.by_questions, numbers.worth / numbers.votes
        return svg.bars(
            [
                svg.Bar(label, share, figure, tone=tone)
                for (label, figure), share, tone in zip(
                    self.figures(numbers), shares, tones, strict=True
                )
            ],
            ticks=(0, 0.5, 0.95),
        )


_among = cache(proportion)


@cache
def _draws() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Draw once, so that what moves in the picture is moved by the sliders."""
    rng = np.random.default_rng(1)
    most = _STUDIES, max(_QUESTIONS), max(_VOTES_EACH)
    return rng.random(most[:2]), rng.random(most)


@cache
def _shares(alike: float) -> npt.NDArray[np.float64]:
    """Draw each question's agreement, around `_TRUTH`: study by question."""
    u = _draws()[0]
    if alike == 0:
        return np.full(u.shape, _TRUTH)
    if alike == 1:
        return (u < _TRUTH).astype(float)
    size = 1 / alike - 1
    a, b = _TRUTH * size, (1 - _TRUTH) * size
    shares: npt.NDArray[np.float64] = special.betaincinv(a, b, u)
    return shares


def _chance(table: npt.NDArray[Any]) -> float:
    """Agreement of two judges who keep their habits and look at nothing."""
    n = table.sum()
    return float(table.sum(axis=0) @ table.sum(axis=1) / n**2) if n else float("nan")


def _bar(
    figure: Sequence[str], estimate: Estimate
) -> tuple[str, float, str, tuple[float, float] | None]:
    """Make the parts of a bar; an undefined value has neither length nor interval."""
    known = not math.isnan(estimate.value)
    interval = (estimate.low, estimate.high) if known else None
    return figure[0], estimate.value, figure[1], interval
