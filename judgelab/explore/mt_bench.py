"""What a reader can move in the chapter *MT-bench and Chatbot Arena*.

`JudgeKinds` is a diagram and no demo: nothing is computed, so it is one piece of HTML
in which a radio button stands behind every part. That answers hover, focus, arrow keys
and tap without a line of script, in the book and in Jupyter alike.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from functools import cache
from math import comb
from typing import Any, NamedTuple

from judgelab.estimate import Estimate
from judgelab.explore import svg
from judgelab.explore.demo import KEEP_KEYS, Demo, choice, slider
from judgelab.papers import mt_bench


class _Part(NamedTuple):
    """One box of the diagram and what it answers when it is asked."""

    role: str
    """How the box is drawn: "head", "sees", "asks", "bias" or "free" (of one)."""
    label: str
    note: str


# Row by row the three columns answer each other: a bias stands beside its absence.
_KINDS: dict[str, tuple[_Part, ...]] = {
    "Pairwise": (
        _Part(
            "head",
            "Pairwise",
            "Two answers side by side. Small differences show, but every model must "
            "meet every other: m(m − 1)/2 pairs for each question.",
        ),
        _Part("sees", "question", "The judge sees the question that both models got."),
        _Part(
            "sees",
            "answer A, answer B",
            "The only kind with a first and a second place.",
        ),
        _Part("asks", "A, B or tie?", "A verdict on the pair: a choice, not a score."),
        _Part(
            "bias",
            "position",
            "The place decides instead of the answer. It needs two places, so it "
            "belongs to this column; judging twice with the answers swapped shows it.",
        ),
        _Part(
            "bias",
            "verbosity",
            "The longer answer wins although it says nothing more.",
        ),
        _Part(
            "bias",
            "own answers",
            "The judge may prefer what it wrote itself (self-enhancement).",
        ),
        _Part(
            "bias",
            "misled in maths",
            "A wrong solution in front of the judge pulls it along, even on problems "
            "that it solves when asked alone.",
        ),
    ),
    "Single answer": (
        _Part(
            "head",
            "Single answer",
            "One answer at a time: the cost grows only in step with the number of "
            "models.",
        ),
        _Part("sees", "question", "The judge sees the question."),
        _Part("sees", "one answer", "No rival to compare with."),
        _Part(
            "asks",
            "score, 1 to 10?",
            "An absolute score. Small differences vanish in it, and it moves when the "
            "judge model is replaced.",
        ),
        _Part("free", "no position", "One answer has no neighbour to be swapped with."),
        _Part("bias", "verbosity", "Padding can raise a score as it can win a pair."),
        _Part("bias", "own answers", "The judge may score its own style higher."),
        _Part("bias", "misled in maths", "The judge must know the solution itself."),
    ),
    "Reference-guided": (
        _Part(
            "head",
            "Reference-guided",
            "An addition to either of the other two: the judge also gets a solution to "
            "hold the answer against.",
        ),
        _Part("sees", "question", "The judge sees the question."),
        _Part(
            "sees",
            "answer + solution",
            "In the paper the judge first solves the problem alone; what it wrote is "
            "then shown to it as the reference.",
        ),
        _Part(
            "asks",
            "verdict or score?",
            "Whatever the kind that it is added to asks for.",
        ),
        _Part(
            "free",
            "position stays",
            "Added to pairwise comparison it keeps the two places, and their bias.",
        ),
        _Part("free", "verbosity stays", "A reference does not shorten an answer."),
        _Part(
            "free", "own answers stay", "A reference does not hide whose style it is."
        ),
        _Part(
            "bias",
            "a wrong reference",
            "The weakness in maths shrinks (from 14 to 3 failures in 20), but a wrong "
            "solution is now believed.",
        ),
    ),
}

_STYLE = """
.jl-kinds{border:0;margin:1em 0;padding:0;min-width:0}
.jl-kinds legend{font-weight:600;padding:0;font-size:1em}
.jl-kinds input{position:absolute;opacity:0;width:1px;height:1px}
.jl-kinds-grid{display:grid;grid-template-columns:repeat(3,minmax(0,1fr));gap:.6em;
position:relative}
.jl-kinds-grid>div{display:flex;flex-direction:column;gap:.35em}
.jl-kinds label{display:flex;align-items:center;justify-content:center;
text-align:center;min-height:54px;box-sizing:border-box;padding:.1em .3em;
border:1.5px solid currentColor;border-radius:6px;cursor:pointer;line-height:1.2;
font-size:.9em;margin:0}
.jl-kinds .head{border-width:0 0 3px;border-radius:0;font-weight:700}
.jl-kinds .asks{border-radius:24px;font-weight:600}
.jl-kinds .bias{border-style:dashed;border-color:#d55e00;border-width:2px}
.jl-kinds .free{border-color:transparent;font-style:italic}
.jl-kinds label:hover,.jl-kinds input:checked+label{
background:color-mix(in srgb,currentColor 14%,transparent)}
.jl-kinds input:focus-visible+label{outline:3px solid currentColor;outline-offset:2px}
.jl-kinds-notes{min-height:5.5em;margin:.7em 0 0}
.jl-kinds-notes p{display:none;margin:0}
@media print{.jl-kinds-notes p{display:block!important}}
"""


class JudgeKinds:
    """What does each kind of judge see, and which bias can it have?

    A diagram of the three set-ups of Zheng et al. (2023, section 3.1): pairwise, single
    answer, reference-guided. Each part explains itself on hover, focus and tap; the
    same content follows as a table.

    References
    ----------
    Zheng et al. (2023), arXiv:2306.05685, sections 3.1 and 3.3.

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.

    Examples
    --------
    >>> "A, B or tie?" in JudgeKinds()._repr_html_()
    True
    """

    def __repr__(self) -> str:
        return "\n".join(
            f"{kind}: {', '.join(part.label for part in parts[1:])}"
            for kind, parts in _KINDS.items()
        )

    def _repr_html_(self) -> str:
        columns, notes, rules, rows = [], [], [], []
        number = 0
        for kind, parts in _KINDS.items():
            boxes = []
            for role, label, note in parts:
                name = f"jl-kind-{number}"
                boxes.append(
                    f'<input type="radio" name="jl-kind" id="{name}"'
                    f' aria-describedby="{name}-note"{" checked" * (number == 0)}>'
                    f'<label class="{role}" for="{name}">{label}</label>'
                )
                what = kind if role == "head" else f"{kind}, {label}"
                notes.append(
                    f'<p id="{name}-note"><strong>{what}:</strong> '
                    f"{html.escape(note)}</p>"
                )
                # The pointer shows without choosing; whoever walks by keys goes first.
                rules.append(
                    ".jl-kinds:is(:not(:has(label:hover)),:has(:focus-visible))"
                    f":has(#{name}:checked) #{name}-note,"
                    ".jl-kinds:not(:has(:focus-visible))"
                    f":has(label[for={name}]:hover) #{name}-note{{display:block}}"
                )
                rows.append(
                    f"<tr><td>{kind}</td><td>{label}</td><td>{html.escape(note)}</td></tr>"
                )
                number += 1
            columns.append(f"<div>{''.join(boxes)}</div>")
        return (
            f"<style>{_STYLE}{''.join(rules)}</style>"
            f'<fieldset class="jl-kinds" onkeydown="{KEEP_KEYS}">'
            "<legend>Three kinds of judge: point at a part, tap it, or walk with the "
            "arrow keys</legend>"
            f'<div class="jl-kinds-grid">{"".join(columns)}</div>'
            f'<div class="jl-kinds-notes">{"".join(notes)}</div></fieldset>'
            "<details><summary>The same as a table</summary>"
            '<div class="jl-table"><table><thead><tr>'
            "<th>kind</th><th>part</th><th>what it means</th></tr></thead>"
            f"<tbody>{''.join(rows)}</tbody></table></div></details>"
        )


@dataclass(frozen=True)
class Cost:
    """How often a judge must be asked, for one question and for a whole benchmark."""

    models: int
    questions: int
    orders: int

    @property
    def pairs(self) -> int:
        """Pairs of different models."""
        return comb(self.models, 2)

    @property
    def pairwise(self) -> int:
        """Judgements when every pair is judged on every question."""
        return self.pairs * self.orders * self.questions

    @property
    def single(self) -> int:
        """Judgements when every answer is graded alone."""
        return self.models * self.questions


class JudgingCost(Demo):
    """How often must a judge be asked before every model has been compared?

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.

    Examples
    --------
    >>> JudgingCost().compute(models=6, orders=1, questions=80).pairwise
    1200
    """

    name = "judging-cost"
    title = "Everyone against everyone, or one by one"
    controls = (
        slider("models", "models m", range(2, 21), start=6),
        choice("orders", "each pair judged", {"once": 1, "in both orders": 2}, start=1),
        choice(
            "questions", "for", {"one question": 1, "all 80 questions": 80}, start=80
        ),
    )

    def compute(self, **params: Any) -> Cost:
        """Count the judgements."""
        return Cost(**{name: int(value) for name, value in params.items()})

    def figures(self, numbers: Cost) -> list[tuple[str, str]]:
        """Name the counts."""
        return [
            ("pairs of models", f"{numbers.pairs}"),
            ("pairwise judgements in all", f"{numbers.pairwise}"),
            ("single-answer judgements in all", f"{numbers.single}"),
            ("pairwise for each single", f"{numbers.pairwise / numbers.single:.1f}"),
        ]

    def view(self, numbers: Cost) -> str:
        """Draw who meets whom: one square per judgement of one question."""
        m, side = numbers.models, 168
        below = [(column, row) for row in range(m) for column in range(row)]
        above = [(row, column) for column, row in below]
        second = f'fill="{svg.TONES["other"]}"' if numbers.orders == 2 else _UNASKED
        first = f'fill="{svg.TONES["main"]}"'
        return svg.svg(
            234,
            svg.text(10, 16, "pairwise"),
            svg.text(10, 32, f"{numbers.pairs * numbers.orders} per question"),
            _squares(10, side / m, below, first),
            _squares(10, side / m, above, second),
            svg.text(10, 228, f"{numbers.pairwise} in all", "start", _BOLD),
            svg.text(236, 16, "single answer"),
            svg.text(236, 32, f"{m} per question"),
            _squares(236, side / m, [(0, row) for row in range(m)], first),
            svg.text(236, 228, f"{numbers.single} in all", "start", _BOLD),
        )


_BOLD = ' font-weight="600"'
_UNASKED = 'fill="none" stroke-opacity=".3"'


def _squares(
    left: float, side: float, places: list[tuple[int, int]], style: str
) -> str:
    gap = min(1.5, side / 8)
    edge = f"h{side - 2 * gap:.1f}v{side - 2 * gap:.1f}h-{side - 2 * gap:.1f}z"
    path = "".join(
        f"M{left + side * column + gap:.1f} {40 + side * row + gap:.1f}{edge}"
        for column, row in places
    )
    return f'<path d="{path}" stroke="currentColor" stroke-width=".5" {style}/>'


# As Table 13 names them.
_JUDGES = {
    "GPT-4 and an expert": ("G4-P", "Human"),
    "GPT-4 and the experts' majority": ("G4-P", "Human-M"),
    "GPT-4 and an author": ("G4-P", "Author"),
    "an author and an expert": ("Author", "Human"),
    "two authors": ("Author", "Author"),
    "two experts": ("Human", "Human"),
    "an expert and the majority": ("Human", "Human-M"),
}


@dataclass(frozen=True)
class TiesKeptAndDropped:
    """One pair of judges under both tie policies, and what the paper prints for it."""

    kept: Estimate
    dropped: Estimate
    printed: dict[str, int]


class TiePolicy(Demo):
    """What does dropping ties do to an agreement rate, and to the number of votes?

    References
    ----------
    Zheng et al. (2023), arXiv:2306.05685, Table 13.

    Notes
    -----
    Chapter: *MT-bench and Chatbot Arena*.

    Examples
    --------
    >>> numbers = TiePolicy().compute(judges=("G4-P", "Human"), turn=1)
    >>> numbers.kept.n, numbers.dropped.n, numbers.printed
    (1343, 859, {'S1': 66, 'S2': 85})
    """

    name = "tie-policy"
    title = "The same votes with ties and without"
    controls = (
        choice("judges", "judges", _JUDGES, start=("G4-P", "Human")),
        choice("turn", "turn", {"first": 1, "second": 2}, start=1),
    )

    def compute(self, **params: Any) -> TiesKeptAndDropped:
        """Look both rates up in the recomputed table, where whole questions vary."""
        (one, two), turn = params["judges"], params["turn"]
        (kept, s1), (dropped, s2) = (
            _table_13()[f"{one} and {two}, {setup}, turn {turn}"]
            for setup in ("S1", "S2")
        )
        return TiesKeptAndDropped(kept, dropped, {"S1": s1, "S2": s2})

    def figures(self, numbers: TiesKeptAndDropped) -> list[tuple[str, str]]:
        """Name both rates, the paper's figures and the share of votes that is left."""
        kept, dropped = numbers.kept, numbers.dropped
        return [
            ("S1, ties kept", f"{kept:.2f}"),
            ("S2, ties dropped", f"{dropped:.2f}"),
            ("vote pairs left in S2", f"{dropped.n} of {kept.n}"),
            ("the paper, S1", f"{numbers.printed['S1']} %"),
            ("the paper, S2", f"{numbers.printed['S2']} %"),
        ]

    def view(self, numbers: TiesKeptAndDropped) -> str:
        """Draw each rate above what guessing reaches, then the share that is left."""
        s1, s2, left, *_ = self.figures(numbers)
        kept, dropped = numbers.kept, numbers.dropped
        return svg.bars(
            [
                svg.Bar(s1[0], kept.value, s1[1], (kept.low, kept.high)),
                svg.Bar("guessing among three", 1 / 3, "0.33", tone="quiet"),
                svg.Bar(s2[0], dropped.value, s2[1], (dropped.low, dropped.high)),
                svg.Bar("guessing between two", 1 / 2, "0.50", tone="quiet"),
                svg.Bar(left[0], dropped.n / kept.n, left[1], tone="other"),
            ]
        )


@cache
def _table_13() -> dict[str, tuple[Estimate, int]]:
    """Our figure and the printed one, for each cell that the votes can give."""
    tables = mt_bench.reproduce()
    table = next(t for t in tables if t.table.startswith("Table 13:"))
    return {
        cell.name: (cell.ours, int(cell.paper))
        for cell in table.cells
        if isinstance(cell.ours, Estimate)
    }
