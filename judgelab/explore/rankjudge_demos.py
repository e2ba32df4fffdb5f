"""RankJudge to move: its pipeline step by step, its scale, its bias, its luck."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from judgelab.data import published
from judgelab.estimate import Estimate
from judgelab.explore import svg
from judgelab.explore.demo import Demo, choice, slider
from judgelab.intervals import from_standard_error
from judgelab.models.request import Message
from judgelab.papers import rankjudge as rj
from judgelab.papers.rankjudge.grade import Criterion
from judgelab.ranking import item_difficulty
from judgelab.ranking.result import ELO_PER_LOGIT

_PER_DOCUMENT = 60


@cache
def _fates() -> tuple[rj.Fate, ...]:
    """Write and check the scripted pairs once, for both demos that use them."""
    wanted = rj.candidates(rj.read_documents(), per_document=_PER_DOCUMENT)
    return tuple(rj.verify(rj.generate(wanted, rj.WRITER), rj.WRITER))


# The pipeline, step by step -----------------------------------------------------------

_STEPS = (
    "document",
    "draw",
    "better one",
    "worse one",
    "coherence",
    "adherence",
    "grounding",
    "judges",
    "mark",
)
_PAIRS = {
    "passes every check": "",
    "its flaw is missing": "adherence",
    "claims too much": "grounding",
}
_MOST_ROUNDS = 4


@dataclass(frozen=True)
class Step:
    """What goes into one step of the pipeline, and what comes out."""

    place: int
    into: str
    out: tuple[str, ...]
    lost: int
    """Where this pair was lost: a place in the pipeline, or beyond its end."""


class PipelineWalk(Demo):
    """What goes into every step of RankJudge's pipeline, and what comes out?

    Three pairs by the scripted writer, which is no language model: one that passes, two
    that are lost on the way.

    References
    ----------
    RankJudge, arXiv:2605.21748, section 3.

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> demo = PipelineWalk()
    >>> demo.compute(pair="adherence", step=6).out[-1]
    'lost here: flaw not there'
    """

    name = "rankjudge-pipeline"
    title = "From a document to a mark, step by step (scripted stand-in)"
    controls = (
        slider("step", "step", range(1, len(_STEPS) + 1), start=1),
        choice("pair", "pair", _PAIRS, start=""),
    )

    def compute(self, **params: Any) -> Step:
        """Look up what this step took and gave."""
        place = int(params["step"]) - 1
        fate = _example(params["pair"])
        lost = _STEPS.index(fate.layer) if fate.layer else len(_STEPS)
        into, out = _STEP_TEXTS[place](fate)
        if place == lost:
            out = (*out, f"lost here: {fate.reason}")
        if place >= _STEPS.index("judges") and lost < len(_STEPS):
            out = (f"nothing: the pair was lost at {_STEPS[lost]}",)
        return Step(place, into, tuple(out), lost)

    def figures(self, numbers: Step) -> list[tuple[str, str]]:
        """Say what goes in and what comes out."""
        return [
            ("step", f"{numbers.place + 1}, {_STEPS[numbers.place]}"),
            ("goes in", numbers.into),
            ("comes out", " · ".join(numbers.out)),
        ]

    def view(self, numbers: Step) -> str:
        """Draw the steps in three rows, the present one filled."""
        width, height, gap = 104.0, 34, 22
        parts = []
        for place, name in enumerate(_STEPS):
            row, column = divmod(place, 3)
            left, top = 4 + column * (width + 20), 2 + row * (height + gap)
            here, gone = place == numbers.place, place > numbers.lost
            shade = 0.35 if here else 0
            dashes = "3 4" if gone else "none"
            parts.append(
                f'<rect x="{left:.0f}" y="{top}" width="{width:.0f}" '
                f'height="{height}" rx="6" fill="{svg.TONES["main"]}" '
                f'fill-opacity="{shade}" stroke="currentColor" '
                f'stroke-width="{1 + here}" stroke-dasharray="{dashes}"/>'
            )
            bold = ' font-weight="600"' if here else ""
            label = f"{place + 1} {name}"
            parts.append(svg.text(left + width / 2, top + 22, label, "middle", bold))
            if column:
                arrow = f"M{left - 18:.0f} {top + height // 2}h16m-5 -4l5 4l-5 4"
                parts.append(svg.path(arrow, "currentColor", 1))
            elif row:
                end, middle = svg.WIDTH - 60, top - gap // 2
                down = f"M{end} {top - gap}V{middle}H{left + width / 2:.0f}V{top - 2}"
                parts.append(svg.path(f"{down}m-4 -5l4 5l4 -5", "currentColor", 1))
        return svg.svg(3 * height + 2 * gap + 4, *parts)

    def frame(self, **params: Any) -> tuple[str, str]:
        """Add the texts below the picture, where everybody can read them."""
        picture, table = super().frame(**params)
        step = self.compute(**params)
        out = "".join(f"<li>{escape(line)}</li>" for line in step.out)
        texts = (
            f'<div aria-hidden="true"><p><strong>Goes in:</strong> {escape(step.into)}'
            f"</p><p><strong>Comes out:</strong></p>"
            f'<ul style="margin-top:0">{out}</ul></div>'
        )
        return picture + texts, table


@cache
def _example(layer: str) -> rj.Fate:
    """Return the first short pair with this fate."""
    return next(
        fate
        for fate in _fates()
        if (fate.layer or "") == layer
        and fate.item is not None
        and fate.item.metadata.n_rounds <= _MOST_ROUNDS
    )


@cache
def _answers() -> tuple[rj.Match, ...]:
    return tuple(rj.judge_pairs([_item(_example(""))], rj.PANEL))


_Texts = tuple[str, Sequence[str]]


def _document(fate: rj.Fate) -> _Texts:
    text = fate.candidate.document.context
    heads = [line[3:] for line in text.splitlines() if line.startswith("## ")]
    title = text.splitlines()[0].removeprefix("# ")
    return "a text that both conversations will be about", [
        f"“{title}”, {len(text.split())} words",
        f"its sections: {', '.join(heads)}",
    ]


def _draw(fate: rj.Fate) -> _Texts:
    drawn = fate.candidate.conditions
    user, kind = drawn.user_behavior_type, drawn.assistant_behavior_type
    return "a random number, made from the name of the pair", [
        f"failure {rj.FAILURES[kind].letter}, {kind}: {rj.FAILURES[kind].flaw}",
        f"the user is {user}: {rj.USER_BEHAVIORS[user]}",
        f"{drawn.n_rounds} rounds; the better one is shown "
        f"{'first' if drawn.better_is_a else 'second'}",
    ]


def _better(fate: rj.Fate) -> _Texts:
    kind = rj.FAILURES[fate.candidate.conditions.assistant_behavior_type]
    item = _item(fate)
    into = f"document, user, and what to do well. {kind.virtue}"
    return into, _turns(item.better)


def _worse(fate: rj.Fate) -> _Texts:
    kind = rj.FAILURES[fate.candidate.conditions.assistant_behavior_type]
    item = _item(fate)
    into = f"document, user, and the one flaw; never the better one. {kind.flaw}"
    return into, _turns(item.worse, item.metadata.bad_round_index)


def _coherence(fate: rj.Fate) -> _Texts:
    found = _checks(fate).coherence
    assert found is not None
    return "both plans and the document", [
        f"plan of the better one: {'fine' if found.good_ok else found.good_issue}",
        f"plan of the worse one: {'fine' if found.bad_ok else found.bad_issue}",
    ]


def _adherence(fate: rj.Fate) -> _Texts:
    found = _checks(fate).adherence
    assert found is not None
    flawed = ", ".join(map(str, found.bad_flawed_rounds)) or "none"
    planned = _item(fate).metadata.bad_round_index
    return "plans and conversations, without the document", [
        f"better one free of flaws: {_yes(found.good_followed)}",
        f"the planned flaw is in the worse one: {_yes(found.bad_followed)}",
        f"flawed turns found: {flawed}; planned: {planned}",
    ]


def _grounding(fate: rj.Fate) -> _Texts:
    found = _checks(fate).grounding
    assert found is not None
    lines = []
    for branch, rounds in (("better", found.good), ("worse", found.bad)):
        claims = [claim for each in rounds for claim in each.claims]
        backed = sum(claim.grounded for claim in claims)
        lines.append(f"{branch} one: {backed} of {len(claims)} claims are supported")
        lines += [f"not supported: “{c.claim}”" for c in claims if not c.grounded]
    return "the document and one conversation at a time, less the flawed turn", lines


def _judged(fate: rj.Fate) -> _Texts:
    into = "the document, both conversations and the definitions of seven failures"
    return into, () if fate.layer else [_said(match) for match in _answers()]


def _marked(fate: rj.Fate) -> _Texts:
    into = "six replies and the three parts of the truth"
    if fate.layer:
        return into, ()
    item, lines = _item(fate), []
    meta = item.metadata
    truth = f"{item.better_slot}, turn {meta.bad_round_index}"
    lines.append(f"the truth: {truth}, {meta.assistant_behavior_type}")
    criteria: tuple[Criterion, ...] = ("verdict", "verdict+turn", "joint")
    for criterion in criteria:
        right = int(rj.grades(_answers(), criterion=criterion).table.sum())
        lines.append(f"right by {criterion}: {right} of {len(rj.PANEL)} judges")
    return into, lines


_STEP_TEXTS = (
    _document,
    _draw,
    _better,
    _worse,
    _coherence,
    _adherence,
    _grounding,
    _judged,
    _marked,
)


def _said(match: rj.Match) -> str:
    said = match.judge
    words = f"{said.answer}, turn {said.bad_round_pred}, {said.behavior_type_pred}"
    return f"{match.model.name}: {words if said.answer else 'cannot be read'}"


def _item(fate: rj.Fate) -> rj.Item:
    assert fate.item is not None
    return fate.item


def _checks(fate: rj.Fate) -> rj.Verification:
    assert fate.verification is not None
    return fate.verification


def _turns(turns: Sequence[Message], flawed: int = 0) -> list[str]:
    mark = {flawed: " (planned to be flawed)"}
    return [
        f"turn {k // 2 + 1}{mark.get(k // 2 + 1, '')}. "
        f"User: {turns[k].content} Assistant: {turns[k + 1].content}"
        for k in range(0, len(turns), 2)
    ]


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


# The difficulty of one pair -----------------------------------------------------------

_JUDGES = 21
_EASIEST, _HARDEST = 200.0, 2600.0


@dataclass(frozen=True)
class PairOnScale:
    """Where one pair stands, and where it could stand."""

    difficulty: Estimate
    possible: npt.NDArray[np.float64]
    failing: int


class PairDifficulty(Demo):
    """How hard is a pair that so many judges fail, and how sure is that?

    The 21 ratings are the printed ones, taken as known. More judges per pair means as
    many judges again at each of the printed ratings.

    References
    ----------
    RankJudge, arXiv:2605.21748, leaderboard and appendix A.1.

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> demo = PairDifficulty()
    >>> demo.figures(demo.compute(failing=11, copies=1))[0]
    ('this pair', '1525 [1344, 1705] Elo')
    """

    name = "rankjudge-difficulty"
    title = "Twenty places for a pair"
    controls = (
        slider("failing", "judges of 21 that fail the pair", range(1, 21), start=11),
        choice(
            "copies",
            "judges",
            {
                "21, as in the paper": 1,
                "84, four at each rating": 4,
                "336, sixteen at each rating": 16,
            },
            start=1,
        ),
    )

    def compute(self, **params: Any) -> PairOnScale:
        """Solve for the difficulty at which the chances add up."""
        failing, copies = int(params["failing"]), int(params["copies"])
        places = rj.difficulties()
        one = places[_JUDGES - failing - 1]
        # As many judges again at each rating carry as much information again.
        error = one.width / 2 / 1.96 / copies**0.5
        pair = from_standard_error(one.value, error, copies * _JUDGES, "one pair")
        panel = np.repeat(_printed(), copies)
        right = np.arange(1, panel.size)
        possible = ELO_PER_LOGIT * item_difficulty(panel / ELO_PER_LOGIT, right)
        return PairOnScale(pair, possible, failing)

    def figures(self, numbers: PairOnScale) -> list[tuple[str, str]]:
        """Say where the pair stands, and how many places its interval covers."""
        pair, possible = numbers.difficulty, numbers.possible
        inside = int(((possible >= pair.low) & (possible <= pair.high)).sum())
        return [
            ("this pair", f"{pair:.0f} Elo"),
            ("half the interval", f"{pair.width / 2:.0f} Elo"),
            ("places on the scale", f"{possible.size}"),
            ("places within the interval", f"{inside}"),
        ]

    def view(self, numbers: PairOnScale) -> str:
        """Draw judges, possible places, printed medians and the pair on one scale."""
        left, right = 14.0, svg.WIDTH - 14.0

        def x(value: float) -> int:
            share = (value - _EASIEST) / (_HARDEST - _EASIEST)
            return round(left + min(max(share, 0.0), 1.0) * (right - left))

        medians = published("rankjudge", "pair_difficulty")["median_pair_elo"]
        lanes: dict[str, tuple[Iterable[float], float, svg.Tone]] = {
            "the 21 judges, as printed": (_printed(), 2.0, "other"),
            "where a pair can stand": (numbers.possible, 1.0, "quiet"),
            "printed medians of kinds of pairs": (medians, 3.0, "other"),
        }
        parts = []
        for lane, (name, (values, width, tone)) in enumerate(lanes.items()):
            top = 46 * lane
            parts.append(svg.text(left, top + 14, name))
            marks = "".join(f"M{x(value)} {top + 20}v16" for value in values)
            parts.append(svg.path(marks, svg.TONES[tone], width))
        top, pair = 46 * len(lanes), numbers.difficulty
        at, low, high = x(pair.value), x(pair.low), x(pair.high)
        words = f"this pair, failed by {numbers.failing} of 21"
        parts += [
            svg.text(left, top + 14, words),
            svg.text(right, top + 14, f"{pair.value:.0f}", "end", ' font-weight="600"'),
            svg.path(
                f"M{low} {top + 28}H{high}M{low} {top + 22}v12M{high} {top + 22}v12",
                "currentColor",
                2,
            ),
            f'<circle cx="{at}" cy="{top + 28}" r="5" fill="{svg.TONES["main"]}"/>',
        ]
        foot = top + 48
        for tick in (500, 1000, 1500, 2000, 2500):
            parts.append(
                svg.path(f"M{x(tick)} 20V{foot}", "currentColor", 1, "2 4", 0.3)
            )
            parts.append(svg.text(x(tick), foot + 14, str(tick), "middle"))
        return svg.svg(foot + 20, *parts)


def _printed() -> npt.NDArray[np.float64]:
    return published("rankjudge", "leaderboard")["elo_all"].to_numpy(float)


# A judge with a dump bin --------------------------------------------------------------

_SHORT = {name: name.replace("_", " ") for name in rj.FAILURES}


@dataclass(frozen=True)
class Biased:
    """What a judge with these faults looks like to the benchmark."""

    bias: dict[str, Estimate]
    """Failure → points named too often."""
    accuracy: Estimate
    elo: Estimate


class DumpBin(Demo):
    """Which types does a judge name too often, and what does it cost?

    A scripted judge on the scripted pairs, rated beside the six of the panel, whose
    mean stands at 1500. A type that it does not know, if it is no evasion, becomes
    "evasion" as often as you say.

    References
    ----------
    RankJudge, arXiv:2605.21748, section 4 and appendix A.5 (class bias).

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> demo = DumpBin()
    >>> calm = demo.compute(skill=-0.5, evasion_bin=0.0, criterion="joint")
    >>> dumps = demo.compute(skill=-0.5, evasion_bin=1.0, criterion="joint")
    >>> calm.bias["evasion"].high < dumps.bias["evasion"].low
    True
    """

    name = "rankjudge-bias"
    title = "A judge with a dump bin (scripted stand-in)"
    controls = (
        slider("skill", "skill (logits)", (-1.5, -0.5, 0.5, 1.5, 2.5), start=-0.5),
        slider(
            "evasion_bin",
            "unknown types called evasion",
            (0, 0.2, 0.4, 0.6, 0.8, 1),
            start=0.8,
            form=".0%",
        ),
        choice(
            "criterion",
            "what has to be right",
            {
                "verdict, turn and type": "joint",
                "verdict and turn": "verdict+turn",
                "the verdict alone": "verdict",
            },
            start="joint",
        ),
    )

    def compute(self, **params: Any) -> Biased:
        """Let the judge see all pairs, then grade, count and rate it."""
        own = _own(params["skill"], params["evasion_bin"])
        criterion = params["criterion"]
        table = rj.grades([*_panel(), *own], criterion=criterion)
        ranking = rj.curate(table).ranking
        six = np.array([(p in rj.PANEL) / len(rj.PANEL) for p in ranking.players])
        elo = ranking.estimates(anchor=six, scale="elo")["yours"]
        bias = {
            row["failure"]: Estimate(
                row["bias"], row["low"], row["high"], row["n"], "paired difference"
            )
            for row in rj.class_bias(own).to_dict("records")
        }
        return Biased(bias, table.accuracy()["yours"], elo)

    def figures(self, numbers: Biased) -> list[tuple[str, str]]:
        """Name the rating, the share of right answers and every bias."""
        biases = [
            (f"{_SHORT[name]}, points too often", _signed(f"{bias:+.0f}"))
            for name, bias in numbers.bias.items()
        ]
        return [
            ("Elo, the panel's mean at 1500", f"{numbers.elo:.0f}"),
            ("right", f"{numbers.accuracy:.2f}"),
            *biases,
        ]

    def view(self, numbers: Biased) -> str:
        """Draw the bias of every type; rating and accuracy above."""
        bars = [
            svg.Bar(
                _SHORT[name],
                bias.value,
                _signed(f"{bias.value:+.0f} points"),
                (bias.low, bias.high),
                "other" if name == "evasion" else "main",
            )
            for name, bias in numbers.bias.items()
        ]
        head = svg.svg(
            24,
            svg.text(
                10, 16, f"Elo {numbers.elo.value:.0f}", extra=' font-weight="600"'
            ),
            svg.text(svg.WIDTH - 10, 16, f"right {numbers.accuracy:.2f}", "end"),
        )
        return head + svg.bars(bars, low=-30, high=60, ticks=(-20, 0, 20, 40))


def _signed(text: str) -> str:
    """Write a minus that is no hyphen, and no sign before nothing."""
    return re.sub(r"[+-]0\b", "0", text).replace("-", "−")


@cache
def _pairs() -> tuple[rj.Item, ...]:
    return tuple(rj.survivors(_fates()))


@cache
def _panel() -> tuple[rj.Match, ...]:
    return tuple(rj.judge_pairs(_pairs(), rj.PANEL))


@cache
def _own(skill: float, evasion_bin: float) -> tuple[rj.Match, ...]:
    judge = rj.Scripted("yours", skill=skill, evasion_bin=evasion_bin)
    return tuple(rj.judge_pairs(_pairs(), {"yours": judge}))


# The same benchmark again -------------------------------------------------------------

_TOP = 5
_METHODS: dict[str, Literal["mm", "conditional"]] = {
    "as published": "mm",
    "conditional": "conditional",
}


class SameAgain(Demo):
    """How far does the leaderboard move if the same judges meet other pairs?

    Simulated: 21 judges whose true ratings are as far apart as the printed ones meet
    freshly drawn pairs. Nothing here was said by the models whose names they bear.

    References
    ----------
    RankJudge, arXiv:2605.21748, leaderboard.

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> demo = SameAgain()
    >>> demo.figures(demo.compute(draw=1, pairs=782, method="mm"))[0]
    ('judges out of place', '5 of 21')
    """

    name = "rankjudge-again"
    title = "The same judges, other pairs (simulated)"
    controls = (
        slider("draw", "another set of pairs", range(1, 9), start=1),
        choice(
            "pairs",
            "pairs drawn",
            {"300": 300, "782, our guess at the paper’s": 782, "3,000": 3000},
            start=782,
        ),
        choice("method", "fit", _METHODS, start="mm"),
    )

    def compute(self, **params: Any) -> rj.Recovery:
        """Draw answers and fit them."""
        panel = _draw_panel(int(params["draw"]), int(params["pairs"]))
        return rj.recover(panel, method=params["method"])

    def figures(self, numbers: rj.Recovery) -> list[tuple[str, str]]:
        """Say how far ranks moved and how many intervals hold the truth."""
        table = numbers.table
        judges = len(table)
        away = np.abs(table["rank"] - np.arange(1, judges + 1))
        best = table.sort_values("elo", ascending=False)["judge"].head(_TOP)
        return [
            ("judges out of place", f"{(away > 0).sum()} of {judges}"),
            ("most places moved", f"{away.max():.0f}"),
            ("intervals that hold the true rating", f"{table['covered'].sum()} of 21"),
            ("first to last", f"{np.ptp(table['elo']):.0f} Elo"),
            (f"first {_TOP}", ", ".join(best)),
        ]

    def view(self, numbers: rj.Recovery) -> str:
        """Draw every judge's fitted interval, and a tick at its true rating."""
        rows = []
        for row in numbers.table.to_dict("records"):
            elo, half = row["elo"], row["±"]
            tone: svg.Tone = "main" if row["covered"] else "other"
            mark = svg.Mark(elo, (elo - half, elo + half), tone)
            rows.append(svg.Row(f"{row['rank']} {row['judge']}", [mark], row["true"]))
        return svg.forest(rows, 500, 2250, (500, 1000, 1500, 2000), left=168)


@cache
def _draw_panel(draw: int, pairs: int) -> rj.Panel:
    return rj.simulate_panel(rng=draw, pairs=pairs)
