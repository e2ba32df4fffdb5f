"""RankJudge's pairs to look at: a reader for the page, an audit for JupyterLab."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from html import escape
from importlib import resources
from typing import Any

from judgelab.errors import JudgelabError, ValidationError
from judgelab.explore.demo import KEEP_KEYS, alive_or_page, in_script
from judgelab.models.request import Message
from judgelab.papers.rankjudge.audit import (
    ANSWERS,
    CHECKS,
    LABELS,
    Audit,
    Case,
    label_of,
)
from judgelab.papers.rankjudge.taxonomy import FAILURES, USER_BEHAVIORS

_COLUMNS = (
    "display:grid;grid-template-columns:repeat(auto-fit,minmax(18rem,1fr));gap:1.5rem"
)
_OPEN = "not looked at"
"""What a check says as long as it has no answer."""
_TARGET = "min-height:44px;max-width:100%"
_ROW = "display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:center;max-width:36rem"


class PairReader:
    """Pairs to read without being told where the flaw is, until one asks.

    Parameters
    ----------
    cases : sequence of Case
        From `judgelab.papers.rankjudge.cases`, in the order to show them.
    source : str
        What wrote and judged the pairs, shown above them.

    Raises
    ------
    ValidationError
        If there are no pairs.

    Notes
    -----
    Needs no script: the same on the page, in JupyterLab and in print. Chapter:
    *RankJudge*.
    """

    def __init__(self, cases: Sequence[Case], *, source: str) -> None:
        if not cases:
            raise ValidationError("there is no pair to show")
        self.cases = tuple(cases)
        self.source = source

    def to_html(self) -> str:
        """Write the pairs as nested parts that open."""
        ask = "Where is the flaw, and what did the judges say?"
        pairs = "".join(
            _folded(
                title(case),
                document(case) + conversations(case) + _folded(ask, answer(case)),
            )
            for case in self.cases
        )
        return (
            f'<section class="jl-pairs" aria-label="Pairs of conversations" '
            f'onkeydown="{KEEP_KEYS}">'
            f"<p>Pairs, the most disputed first. Source: {escape(self.source)}.</p>"
            f"{pairs}</section>"
        )

    def __repr__(self) -> str:
        return f"<{len(self.cases)} pairs of conversations; {self.source}>"

    def _repr_html_(self) -> str:
        return self.to_html()


class AuditView:
    """The pairs one after the other, with the rubric; every answer is saved at once.

    No check has an answer until the auditor gives one, and a pair has a label when all
    of its checks are answered.

    Parameters
    ----------
    cases : sequence of Case
        In the order to look at them.
    audit : Audit
        Where answers go.
    annotator : str
        Whose answers they are.
    source : str
        What wrote and judged the pairs.

    Notes
    -----
    In JupyterLab a widget. On the static page the same checks below every pair: the
    browser keeps the answers, and gives them out as a file that `Audit` reads. Without
    a script the pairs alone, to read. Chapter: *RankJudge*.
    """

    def __init__(
        self, cases: Sequence[Case], audit: Audit, annotator: str, *, source: str
    ) -> None:
        self.reader = PairReader(cases, source=source)
        self.audit = audit
        self.annotator = annotator
        self.place = 0
        self._widget: Any = None
        self._showing = False

    @property
    def case(self) -> Case:
        """The pair that is shown."""
        return self.reader.cases[self.place]

    def widget(self) -> Any:
        """Return the view as an ipywidget."""
        if self._widget is None:
            self._build()
        return self._widget

    def _build(self) -> None:
        import ipywidgets as w

        self._title, self._shown, self._said = w.HTML(), w.HTML(), w.HTML()
        # One box for each answer, at most one ticked, so that an answer can be taken
        # away again. A box bears the number of its check, for whoever hears it alone.
        self._boxes: dict[str, dict[str, Any]] = {name: {} for name in CHECKS}
        rows = []
        for k, (name, words) in enumerate(CHECKS.items(), start=1):
            for word in ANSWERS:
                box = w.Checkbox(description=f"{k} {word}", indent=False)
                box.layout.width = "9em"
                box.observe(lambda _, n=name, a=word: self._ticked(n, a), "value")
                self._boxes[name][word] = box
            answers = w.HBox([*self._boxes[name].values()])
            answers.layout.flex_flow = "row wrap"
            rows += [w.HTML(f"{k}. {escape(words)}"), answers]
        self._note = w.Text(
            description="Note", continuous_update=False, layout={"width": "30em"}
        )
        self._note.observe(lambda _: self._changed(), "value")
        actions = {
            "← back": lambda: self._go(-1),
            "next →": lambda: self._go(1),
            "undo my last answer": self._undo,
        }
        buttons = []
        for words, act in actions.items():
            button = w.Button(description=words, layout={"width": "auto"})
            button.on_click(lambda _, act=act: act())
            buttons.append(button)
        self._widget = w.VBox(
            [
                self._title,
                w.HBox(buttons, layout={"flex_flow": "row wrap"}),
                *rows,
                self._note,
                self._said,
                self._shown,
            ]
        )
        self._show()

    def _show(self, said: str = "") -> None:
        """Show the pair, and what the auditor said of it so far."""
        case, cases = self.case, self.reader.cases
        entries = {entry.pair: entry for entry in self.audit.entries(self.annotator)}
        entry = entries.get(case.item.id)
        words = {answer: word for word, answer in ANSWERS.items()}
        checks = entry.checks if entry else {}
        self._showing = True
        for name, boxes in self._boxes.items():
            for word, box in boxes.items():
                box.value = name in checks and words[checks[name]] == word
        self._note.value = entry.note if entry else ""
        self._showing = False
        labelled = sum(each.label is not None for each in entries.values())
        self._title.value = (
            f"<strong>{self.place + 1} of {len(cases)}: {escape(title(case))}</strong> "
            f"({labelled} labelled by {escape(self.annotator)})"
        )
        shown = f"{answer(case)}{conversations(case, tagged=True)}{document(case)}"
        if self._shown.value != shown:
            self._shown.value = shown
        open_ = len(CHECKS) - len(checks)
        state = f"no label yet: {open_} of {len(CHECKS)} checks are open"
        if entry and entry.label:
            state = f"so it is: <strong>{entry.label}</strong>"
        before = f"{escape(said)}; " if said else ""
        self._said.value = f'<span role="status">{before}{state}</span>'

    def _ticked(self, name: str, answer: str) -> None:
        """Leave one answer to a check, or none."""
        if self._showing:
            return
        boxes = self._boxes[name]
        if boxes[answer].value:
            self._showing = True
            for word, box in boxes.items():
                box.value = word == answer
            self._showing = False
        self._changed()

    def _changed(self) -> None:
        """Save what is ticked and noted."""
        if self._showing:
            return
        checks = {
            name: ANSWERS[word]
            for name, boxes in self._boxes.items()
            for word, box in boxes.items()
            if box.value
        }
        try:
            self.audit.save(
                self.case.item.id, self.annotator, checks, note=self._note.value
            )
        except (JudgelabError, OSError) as error:
            self._show(f"not saved: {error}")
            return
        self._show("saved")

    def _go(self, step: int) -> None:
        self.place = (self.place + step) % len(self.reader.cases)
        self._show()

    def _undo(self) -> None:
        try:
            entry = self.audit.undo(self.annotator)
        except OSError as error:
            self._show(f"not taken back: {error}")
            return
        if entry is None:
            self._show("there is nothing to undo")
            return
        places = [case.item.id for case in self.reader.cases]
        if entry.pair in places:
            self.place = places.index(entry.pair)
        self._show(f"taken back: the last answer on {entry.pair}")

    def to_html(self) -> str:
        """Write the pairs with their checks, for a page without Python."""
        pairs = "".join(
            _folded(
                title(case),
                f"{document(case)}{conversations(case, tagged=True)}"
                f"{answer(case)}{_form(case)}",
            )
            for case in self.reader.cases
        )
        spec = {
            "annotator": self.annotator,
            "answers": [*ANSWERS.items()],
            "labels": LABELS,
            "table": _label_table(),
        }
        return (
            '<section class="jl-pairs jl-audit" aria-label="Pairs to audit">'
            f"<p>Pairs to audit. Source: {escape(self.reader.source)}.</p>{pairs}"
            f'<p class="jl-buttons" hidden><button type="button" class="jl-undo" '
            f'style="{_TARGET}">Undo my last answer</button> <button type="button" '
            f'class="jl-download" style="{_TARGET}">Download my answers</button></p>'
            '<p class="jl-said" role="status"></p>'
            f'<script type="application/json" class="jl-spec">{in_script(spec)}'
            f"</script><script>{_page_script()}</script></section>"
        )

    def __repr__(self) -> str:
        return repr(self.reader)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return alive_or_page(self)


def _form(case: Case) -> str:
    """Write the checks of a pair: hidden, unless a script can keep the answers."""
    options = "".join(f"<option>{escape(word)}</option>" for word in (_OPEN, *ANSWERS))
    fields = "".join(
        f'<p><label style="{_ROW}"><span style="flex:1 1 15rem">{escape(words)}</span>'
        f"<select name={name!r} autocomplete='off' "
        f'style="{_TARGET}">{options}</select></label></p>'
        for name, words in CHECKS.items()
    )
    return (
        f'<form data-pair="{escape(case.item.id)}" hidden>'
        f"<p><strong>Your audit</strong></p>{fields}"
        f'<p><label style="{_ROW}"><span>Note</span>'
        f"<input name='note' autocomplete='off' "
        f'style="{_TARGET};flex:1"></label></p><p><output></output></p></form>'
    )


def _label_table() -> str:
    """List the place of the label for all answers: a page looks it up there."""
    found = (
        label_of(dict(zip(CHECKS, said, strict=True)))
        for said in itertools.product(ANSWERS.values(), repeat=len(CHECKS))
    )
    return "".join(str(LABELS.index(label)) for label in found if label)


def _page_script() -> str:
    return (
        resources.files("judgelab.explore")
        .joinpath("rankjudge_audit.js")
        .read_text("utf-8")
    )


def title(case: Case) -> str:
    """Name a pair and how the judges did on it."""
    judges = len(case.matches)
    right = round(case.right * judges)
    return (
        f"{case.item.id}, {case.item.domain}, {case.item.metadata.n_rounds} rounds: "
        f"{right} of {judges} judges all right"
        + (", to be looked at" if case.suspicious else "")
    )


def document(case: Case) -> str:
    """Show the document, closed."""
    text = escape(case.item.metadata.context)
    return _folded("The document", f'<div style="white-space:pre-line">{text}</div>')


def _folded(words: str, inside: str) -> str:
    """Hide something behind its name, which is high enough for a finger."""
    return (
        f'<details><summary style="padding:.5rem 0">{escape(words)}</summary>'
        f"{inside}</details>"
    )


def conversations(case: Case, *, tagged: bool = False) -> str:
    """Show both conversations side by side, the flawed turn marked if wanted."""
    item = case.item
    columns = []
    for slot, turns in (("A", item.convo_a), ("B", item.convo_b)):
        flawed = item.metadata.bad_round_index if slot != item.better_slot else 0
        columns.append(
            f'<div role="group" aria-label="Conversation {slot}">'
            f"<p><strong>Conversation {slot}</strong></p>"
            f"<ol>{_rounds(turns, flawed if tagged else 0)}</ol></div>"
        )
    return f'<div style="{_COLUMNS}">{"".join(columns)}</div>'


def _rounds(turns: Sequence[Message], flawed: int) -> str:
    rows = []
    for k in range(0, len(turns), 2):
        mark = " <mark>the flawed turn</mark>" if k // 2 + 1 == flawed else ""
        rows.append(
            f"<li><p><em>User:</em> {escape(turns[k].content)}</p>"
            f"<p><em>Assistant:</em>{mark} {escape(turns[k + 1].content)}</p></li>"
        )
    return "".join(rows)


def answer(case: Case) -> str:
    """Show what was planned, what the checks found, and what every judge said."""
    item = case.item
    meta = item.metadata
    failure = FAILURES[meta.assistant_behavior_type]
    worse = "B" if item.better_is_a else "A"
    flawed = item.worse[2 * meta.bad_round_index - 1].content
    facts = [
        (
            "The flaw",
            f"conversation {worse}, turn {meta.bad_round_index}, "
            f"{failure.letter} {failure.name}: {failure.flaw}",
        ),
        ("The flawed answer", flawed),
        (
            "The users",
            f"{meta.user_behavior_type}: {USER_BEHAVIORS[meta.user_behavior_type]}",
        ),
        ("Plan of the better one", item.plan.good),
        ("Plan of the worse one", item.plan.bad),
        ("The checks", _checked(case)),
    ]
    listed = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts
    )
    head = "".join(
        f'<th scope="col">{name}</th>'
        for name in (
            "judge",
            "better",
            "turn",
            "type",
            "all right",
            "the judge's words",
        )
    )
    rows = "".join(
        f'<tr><th scope="row">{escape(match.model.name)}</th>'
        + "".join(f"<td>{escape(text)}</td>" for text in _said(match))
        + "</tr>"
        for match in case.matches
    )
    return (
        f'<dl>{listed}</dl><div style="overflow-x:auto" role="region" tabindex="0" '
        f'aria-label="What the judges said"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )


def _said(match: Any) -> tuple[str, ...]:
    said = match.judge
    if said.answer is None:
        why = "no reply" if match.missing else f"unreadable: {match.invalid}"
        return (why, "–", "–", "no", said.raw or "")
    right = (
        (said.answer == "A") == match.better_is_a
        and said.bad_round_pred == said.bad_round_gt
        and said.behavior_type_pred == said.behavior_type_gt
    )
    return (
        said.answer,
        "–" if said.bad_round_pred is None else str(said.bad_round_pred),
        said.behavior_type_pred or "–",
        "yes" if right else "no",
        said.raw or "",
    )


def _checked(case: Case) -> str:
    found = case.verification
    if found is None:
        return "not at hand"
    layers = {
        "coherence": found.coherence,
        "adherence": found.adherence,
        "grounding": found.grounding,
    }
    return ", ".join(
        f"{name} {'passed' if layer is not None and layer.passed else 'failed'}"
        for name, layer in layers.items()
    )
