"""What a rule makes of a judge's verdicts: real judges of JudgeBench, and one to build.

Both demos draw the same bars from the same function, so that a reader can set a judge
of known faults beside the real ones. `how_a_pair_is_made` and `what_a_mark_hides` are
diagrams and no demos.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from judgelab.errors import ValidationError
from judgelab.estimate import Estimate
from judgelab.explore import svg
from judgelab.explore.demo import Demo, choice, slider
from judgelab.intervals import proportion
from judgelab.papers import judgebench
from judgelab.plots import Picture
from judgelab.position import score_two_orders
from judgelab.simulate import Judge, draw_pairs, tables_by_gold
from judgelab.verdict import Rule, Verdict, find_rule

Policy = Literal["rule", "dropped", "wrong"]
_SIGNS = {"dropped": "x", "wrong": "-"}
_PAIRS = 350
_SEED = 0

_RULES = {
    "vote of both orders (JudgeBench)": "judgebench",
    "agree, or a tie yields (the prose)": "recipe-prose",
    "both orders name the same winner": "contextual-judgebench",
    "short recipe, un-swapped": "recipe",
    "short recipe as written": "recipe-as-written",
    "first order only": "first-order",
    "second order only": "second-order",
}


def with_unreadable(rule: Rule | str, policy: Policy) -> Rule:
    """Make a rule that differs only in what it does with unreadable verdicts.

    Parameters
    ----------
    rule : Rule or str
        Where to begin.
    policy : {"rule", "dropped", "wrong"}
        Leave the rule as it is; leave a pair out as soon as either verdict is invalid
        or missing; or count such a pair as wrong.

    Returns
    -------
    Rule
        A table like any other.

    Raises
    ------
    ValidationError
        If the rule or the policy is unknown.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> print(with_unreadable("judgebench", "dropped"))
    judgebench, unreadable: dropped
             A  B  TIE  INVALID  MISSING
    A        A  =   A      x        x
    B        =  B   B      x        x
    TIE      A  B   =      x        x
    INVALID  x  x   x      x        x
    MISSING  x  x   x      x        x
    """
    found = find_rule(rule)
    if policy == "rule":
        return found
    if policy not in _SIGNS:
        raise ValidationError(
            f"policy is {policy!r}; choose 'rule', 'dropped' or 'wrong'"
        )
    said, sign = int(Verdict.TIE) + 1, _SIGNS[policy]
    unread = len(Verdict) - said
    cells = (
        *(" ".join(row.split()[:said] + [sign] * unread) for row in found.cells[:said]),
        *[" ".join([sign] * len(Verdict))] * unread,
    )
    return replace(found, name=f"{found.name}, unreadable: {policy}", cells=cells)


@dataclass(frozen=True)
class Score:
    """What a rule makes of all pairs, and what guessing would have got."""

    right: Estimate
    wrong: Estimate
    undecided: Estimate
    """Neither answer wins, whether or not the rule calls that a tie."""
    coin: float
    """Accuracy of a judge that tosses a coin for every verdict."""
    consistent_coin: float
    """The same for a coin tossed once for each pair."""
    pairs: int


def score(tables: npt.NDArray[np.int64], rule: Rule | str) -> Score:
    """Compute the bars of both demos from counts by the right answer.

    Parameters
    ----------
    tables : ndarray of int, shape (2, 5, 5)
        As `position.score_two_orders` takes them.
    rule : Rule or str
        How two verdicts become one outcome; its source must not be silent.

    Returns
    -------
    Score
        Shares of the pairs that the rule keeps, with Wilson's intervals.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> score(judgebench.tables_by_gold("o1-mini"), "judgebench").undecided
    0.231 [0.190, 0.278] (n = 350, Wilson)
    """
    outcomes = score_two_orders(tables, rule=rule)
    right, wrong = outcomes["right"], outcomes["wrong"]
    n = right.n
    undecided = n - round(n * right.value) - round(n * wrong.value)
    levels = judgebench.chance_levels(rule)
    return Score(
        right,
        wrong,
        proportion(undecided, n),
        float(levels["independent coin"]),
        float(levels["order-consistent coin"]),
        int(tables.sum()),
    )


class _ScoreDemo(Demo):
    def figures(self, numbers: Score) -> list[tuple[str, str]]:
        """Name the bars and the pairs behind them."""
        return [
            ("right (accuracy)", f"{numbers.right:.2f}"),
            ("the wrong answer wins", f"{numbers.wrong:.2f}"),
            ("no winner", f"{numbers.undecided:.2f}"),
            ("guessing: a coin for every verdict", f"{numbers.coin:.2f}"),
            ("guessing: a coin for every pair", f"{numbers.consistent_coin:.2f}"),
            ("pairs that count", f"{numbers.right.n} of {numbers.pairs}"),
        ]

    def view(self, numbers: Score) -> str:
        """Draw what came out above what guessing gives."""
        shares = numbers.right, numbers.wrong, numbers.undecided
        tones: list[svg.Tone] = ["main", "other", "quiet"]
        figures = self.figures(numbers)
        bars = [
            svg.Bar(label, share.value, figure, (share.low, share.high), tone)
            for (label, figure), share, tone in zip(
                figures, shares, tones, strict=False
            )
        ]
        chances = numbers.coin, numbers.consistent_coin
        bars += [
            svg.Bar(label, chance, figure, tone="quiet")
            for (label, figure), chance in zip(figures[3:], chances, strict=False)
        ]
        return svg.bars(bars, ticks=(0.0, 0.25, 0.5, 0.75, 1.0))


class RuleScore(_ScoreDemo):
    """How much of a real judge's accuracy is the rule's doing?

    Verdicts of the twelve judges whose counts the package carries, by rule and by what
    is done with verdicts that could not be read.

    References
    ----------
    Tan et al. (2024), arXiv:2410.12784; ScalerLab/JudgeBench, utils/metrics.py.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> demo = RuleScore()
    >>> demo.figures(
    ...     demo.compute(judge="GLM-4.7", rule="judgebench", unreadable="wrong")
    ... )[0]
    ('right (accuracy)', '0.44 [0.38, 0.50]')
    """

    name = "judgebench-rules"
    title = "One set of verdicts, many scores"
    controls = (
        choice(
            "judge",
            "judge",
            {name: name for name in sorted(judgebench.NAMES.values())},
            start="GLM-4.7",
        ),
        choice("rule", "rule", _RULES, start="judgebench"),
        choice(
            "unreadable",
            "unreadable verdicts",
            {
                "as the rule says": "rule",
                "leave the pair out": "dropped",
                "count the pair as wrong": "wrong",
            },
            start="rule",
        ),
    )

    def compute(self, **params: Any) -> Score:
        """Score the judge's verdicts by the rule, changed as asked."""
        rule = with_unreadable(params["rule"], params["unreadable"])
        return score(judgebench.tables_by_gold(params["judge"]), rule)


class OwnJudge(_ScoreDemo):
    """What would a judge with these faults score on a benchmark of 350 pairs?

    A simulated judge prefers the answer shown first with probability σ(k·δ + β), and a
    share of its replies cannot be read. Differences in quality δ are normal with
    standard deviation 0.5. Fitted to nobody.

    References
    ----------
    Tan et al. (2024), arXiv:2410.12784, section 4, for the rule.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> demo = OwnJudge()
    >>> blind = demo.compute(k=0, beta=0, unreadable=0, rule="judgebench")
    >>> blind.right.low < blind.coin < blind.right.high
    True
    """

    name = "judgebench-own"
    title = "A judge with faults that you choose"
    controls = (
        slider("k", "sensitivity to quality k", np.arange(0, 9), start=4),
        slider(
            "beta",
            "lean to the first slot β",
            np.arange(-3, 3.5, 0.5),
            start=0,
            form=".1f",
        ),
        slider(
            "unreadable",
            "share of replies that cannot be read",
            [0, 0.1, 0.2, 0.3, 0.4, 0.5],
            start=0,
            form=".1f",
        ),
        choice(
            "rule",
            "rule",
            {
                label: name
                for label, name in _RULES.items()
                if name not in ("recipe", "second-order")
            },
            start="judgebench",
        ),
    )

    def compute(self, **params: Any) -> Score:
        """Let the judge see all pairs in both orders and score it."""
        tables = _own_tables(params["k"], params["beta"], params["unreadable"])
        return score(tables, params["rule"])


@cache
def _own_tables(k: float, beta: float, unreadable: float) -> npt.NDArray[np.int64]:
    judge = Judge(k=k, beta=beta, invalid_rate=unreadable)
    return tables_by_gold(judge, draw_pairs(_PAIRS, rng=_SEED), rng=_SEED)


_STEPS = (
    ("a question whose answer can be checked",),
    ("one strong model answers it k times",),
    ("a program marks every answer",),
    ("one right answer", "one wrong answer"),
    ("the judge sees A, B", "the judge sees B, A"),
    ("a rule folds two verdicts into one",),
    ("right", "wrong", "no winner"),
)


def how_a_pair_is_made(*, alt: str, caption: str) -> Picture:
    """Draw the way from a question to an outcome.

    Parameters
    ----------
    alt, caption : str
        See `plots.publish`.

    Returns
    -------
    Picture
        Boxes from top to bottom; what stands side by side happens to the same pair.

    References
    ----------
    Tan et al. (2024), section 3, after Figure 2.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> how_a_pair_is_made(alt="Seven steps.", caption="Figure 1.").svg.count("<rect")
    11
    """
    return Picture(svg.labelled(svg.flow(_STEPS), alt), alt, caption)


# A pupil with 100 questions: what became of them, how many, and how it is drawn.
_PUPIL: tuple[tuple[str, int, svg.Tone, float], ...] = (
    ("known", 50, "main", 1.0),
    ("lucky", 15, "main", 0.5),
    ("unlucky", 15, "other", 1.0),
    ("open", 20, "quiet", 0.6),
)


def what_a_mark_hides(*, alt: str, caption: str) -> Picture:
    """Draw what right and wrong answers are made of, if guesses are right in half.

    Parameters
    ----------
    alt, caption : str
        See `plots.publish`.

    Returns
    -------
    Picture
        One bar: known, guessed with and without luck, left open.

    Notes
    -----
    Chapter: *JudgeBench*.

    Examples
    --------
    >>> bar = what_a_mark_hides(alt="50, 15, 15, 20.", caption="Figure 4.")
    >>> bar.svg.count("<rect"), ">right 65</text>" in bar.svg
    (4, True)
    """
    unit, top = 3.4, 34
    parts, left = [], 10.0
    for name, count, tone, opacity in _PUPIL:
        width, middle = unit * count, left + unit * count / 2
        parts += [
            f'<rect x="{left:.0f}" y="{top}" width="{width:.0f}" height="30" '
            f'fill="{svg.TONES[tone]}" fill-opacity="{opacity}"/>',
            svg.text(middle, top + 46, name, "middle"),
            svg.text(middle, top + 62, str(count), "middle"),
        ]
        left += width
    known, lucky, unlucky, _ = (count for _, count, _, _ in _PUPIL)
    for word, start, count in (
        ("right", 0, known + lucky),
        ("wrong", known + lucky, unlucky),
    ):
        begin, end = 11 + unit * start, 9 + unit * (start + count)
        bracket = f"M{begin:.0f} {top - 4}v-6H{end:.0f}v6"
        parts.append(svg.path(bracket, "currentColor", 1.5))
        parts.append(svg.text((begin + end) / 2, top - 16, f"{word} {count}", "middle"))
    return Picture(svg.labelled(svg.svg(top + 70, *parts), alt), alt, caption)
