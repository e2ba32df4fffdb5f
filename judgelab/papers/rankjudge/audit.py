"""Is a pair what it claims to be? Labels by people, and how well they agree.

A benchmark whose pairs were written and checked by models needs somebody to look. The
rubric is the paper's: *clean* if the one intended flaw is there and stands alone,
*ambiguous* if several types fit it, *noise* if anything of the label is wrong.
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from judgelab.agreement import cohen_kappa, percent_agreement
from judgelab.counts import contingency_table
from judgelab.errors import UndefinedStatistic, ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import proportion
from judgelab.papers.rankjudge.grade import Grades, grades
from judgelab.papers.rankjudge.schema import Item, Match, Verification, load

Label = Literal["clean", "ambiguous", "noise", "cannot tell"]
LABELS: tuple[Label, ...] = ("clean", "ambiguous", "noise", "cannot tell")

CHECKS: dict[str, str] = {
    "flaw_present": "The worse conversation has a flaw.",
    "right_turn": "The flaw is in the turn that is named, and in no other.",
    "right_type": "The flaw is of the type that is named.",
    "one_type": "No other type fits it as well.",
    "better_clean": "The better conversation has no flaw.",
}
"""What to look at; each gets one of `ANSWERS`."""

ANSWERS: dict[str, bool | None] = {
    "holds": True,
    "does not hold": False,
    "cannot tell": None,
}
"""What an auditor can say to a check; a check that nobody looked at has no answer."""


def label_of(checks: Mapping[str, bool | None]) -> Label | None:
    """Which label follows from the checks?

    Parameters
    ----------
    checks : mapping of str to bool or None
        The answers so far, by the names of `CHECKS`: True if the check holds, False if
        it does not, None if the auditor cannot tell.

    Returns
    -------
    {"clean", "ambiguous", "noise", "cannot tell"} or None
        None as long as a check has no answer. One that does not hold decides for
        "noise", whatever the others say, except for "one_type", which makes a pair
        "ambiguous" if all others hold.

    Raises
    ------
    ValidationError
        If there is no such check, or an answer is none.

    References
    ----------
    RankJudge, arXiv:2605.21748, appendix C.2 (rubric; "cannot tell" is ours).

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> good = dict.fromkeys(CHECKS, True)
    >>> label_of(good), label_of(good | {"one_type": False})
    ('clean', 'ambiguous')
    >>> label_of(good | {"one_type": None}), label_of({"flaw_present": True})
    ('cannot tell', None)
    """
    if odd := sorted(set(checks) - set(CHECKS)):
        raise ValidationError(
            f"there is no check {', '.join(odd)}; the checks are {', '.join(CHECKS)}"
        )
    for name, answer in checks.items():
        if answer is not None and not isinstance(answer, bool):
            raise ValidationError(
                f"the answer to {name} is {answer!r}; give True, False, or None if it "
                "cannot be told"
            )
    if len(checks) < len(CHECKS):
        return None
    wrong = {name for name, answer in checks.items() if answer is False}
    if wrong - {"one_type"}:
        return "noise"
    if None in checks.values():
        return "cannot tell"
    return "ambiguous" if wrong else "clean"


@dataclass(frozen=True)
class Case:
    """All there is to see on one pair.

    Parameters
    ----------
    item : Item
    matches : tuple of Match
        What the judges said.
    verification : Verification or None
        What the checks said.
    right : float
        Share of the judges that are right by the criterion.
    disagreement : float
        How far the judges are from being of one mind: 4·p·(1 − p) of that share, 1 at
        an even split and 0 if all agree.
    suspicious : bool
        Whether the released explorer would mark it: at most a quarter of the judges
        right, or verdicts split.

    Notes
    -----
    Chapter: *RankJudge*.
    """

    item: Item
    matches: tuple[Match, ...]
    verification: Verification | None
    right: float
    disagreement: float
    suspicious: bool


SUSPICIOUS = 0.25
"""Share of right judges up to which the released explorer marks a pair."""


def cases(
    items: Sequence[Item],
    matches: Sequence[Match],
    table: Grades,
    verifications: Sequence[Verification] = (),
) -> list[Case]:
    """Put the pairs in the order in which they should be looked at.

    Parameters
    ----------
    items : sequence of Item
    matches : sequence of Match
        The judges' answers; those in the first order and plain wording are shown.
    table : Grades
        Who was right on what.
    verifications : sequence of Verification, optional

    Returns
    -------
    list of Case
        Pairs that nearly all judges miss first, then by disagreement; where all are
        right comes last.

    References
    ----------
    RankJudge, arXiv:2605.21748, appendix C.2.

    Notes
    -----
    Chapter: *RankJudge*.
    """
    checks = {each.id: each for each in verifications}
    said: dict[str, list[Match]] = {}
    for match in matches:
        if (match.order, match.prompt) == ("AB", "joint"):
            said.setdefault(match.id, []).append(match)
    shares = {}
    for pair, column in zip(table.items, table.table.T, strict=True):
        known = column[~np.isnan(column)]
        shares[pair] = float(known.mean()) if known.size else 0.0
    found = []
    for item in items:
        p = shares.get(item.id, 0.0)
        own = tuple(said.get(item.id, ()))
        verdicts = {m.judge.answer for m in own if m.judge.answer is not None}
        suspicious = p <= SUSPICIOUS or len(verdicts) > 1
        disagreement = 4 * p * (1 - p)
        found.append(Case(item, own, checks.get(item.id), p, disagreement, suspicious))
    return sorted(found, key=_urgency)


def load_cases(folder: str | Path) -> list[Case]:
    """Read the pairs of a finished run for an audit.

    Parameters
    ----------
    folder : str or Path
        What ``judgelab rankjudge run --out`` wrote: pairs.json and matches.json, and
        verification.json if it is there.

    Returns
    -------
    list of Case
        In the order of `cases`, by the joint criterion.

    Raises
    ------
    ValidationError
        If a file is missing, or a record is not as it should be.

    Notes
    -----
    Chapter: *RankJudge*.
    """
    folder = Path(folder)
    for name in ("pairs.json", "matches.json"):
        if not (folder / name).is_file():
            raise ValidationError(f"{folder} has no {name}; give the folder of a run")
    matches = load(Match, folder / "matches.json")
    checks = folder / "verification.json"
    return cases(
        load(Item, folder / "pairs.json"),
        matches,
        grades(matches),
        load(Verification, checks) if checks.is_file() else (),
    )


def _urgency(case: Case) -> tuple[bool, float, str]:
    missed = case.right <= SUSPICIOUS
    return not missed, case.right if missed else -case.disagreement, case.item.id


@dataclass(frozen=True)
class Entry:
    """What one annotator says on one pair: answers to some or all of `CHECKS`."""

    pair: str
    annotator: str
    checks: dict[str, bool | None] = field(default_factory=dict)
    note: str = ""

    def __post_init__(self) -> None:
        if not self.pair.strip() or not self.annotator.strip():
            raise ValidationError("say which pair, and who labels it")
        label_of(self.checks)

    @property
    def label(self) -> Label | None:
        """What follows; None as long as a check has no answer."""
        return label_of(self.checks)


class Audit:
    """The answers of an audit, kept in a file that only ever grows.

    Parameters
    ----------
    path : str or Path
        The file: one JSON object per line, answers or an undo. It is read again before
        every use, so that two people can work on it; a line that was cut short by a
        crash, or says nothing that can be used, is passed over and counted in
        `damaged`.

    Notes
    -----
    Everything is on the disk before `save` returns. Chapter: *RankJudge*.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     audit = Audit(f"{folder}/labels.jsonl")
    ...     _ = audit.save("pair 1", "first reader", dict.fromkeys(CHECKS, True))
    ...     _ = audit.save("pair 2", "first reader", {"flaw_present": True})
    ...     audit.labels("first reader")
    {'pair 1': 'clean'}
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.damaged = 0

    def save(
        self,
        pair: str,
        annotator: str,
        checks: Mapping[str, bool | None],
        *,
        note: str = "",
    ) -> Entry:
        """Save at once what an annotator says on a pair; it replaces what was there.

        Parameters
        ----------
        pair, annotator : str
        checks : mapping of str to bool or None
            Answers to some or all of `CHECKS`, as for `label_of`. The pair has a label
            when all are answered.
        note : str, default ""

        Returns
        -------
        Entry

        Raises
        ------
        ValidationError
            If a name is empty, or an answer or check is none: nothing is saved.
        """
        entry = Entry(pair, annotator, dict(checks), note)
        self._append({"do": "save"} | vars(entry))
        return entry

    def undo(self, annotator: str) -> Entry | None:
        """Take back what an annotator saved last; what it replaced counts again.

        Returns
        -------
        Entry or None
            What was taken back; None if there was nothing.
        """
        stack = self._stacks().get(annotator, [])
        if not stack:
            return None
        self._append({"do": "undo", "annotator": annotator})
        return stack[-1]

    def entries(self, annotator: str | None = None) -> list[Entry]:
        """Return what counts, also where checks are open, pair by pair."""
        found: list[Entry] = []
        for name, stack in self._stacks().items():
            if annotator in (None, name):
                found += {entry.pair: entry for entry in stack}.values()
        return found

    def labels(self, annotator: str) -> dict[str, Label]:
        """Return the labels of one annotator by pair; with open checks it has none."""
        return {
            entry.pair: entry.label
            for entry in self.entries(annotator)
            if entry.label is not None
        }

    @property
    def annotators(self) -> list[str]:
        """Who has saved something here."""
        return [name for name, stack in self._stacks().items() if stack]

    def shares(self, annotator: str) -> dict[str, Estimate]:
        """How many of the pairs that an annotator labelled have which label?

        Raises
        ------
        UndefinedStatistic
            If there is no label.
        """
        given = list(self.labels(annotator).values())
        return {name: proportion(given.count(name), len(given)) for name in LABELS}

    def agreement(
        self,
        first: str,
        second: str,
        *,
        cannot_tell: Literal["left out", "counted"] = "left out",
    ) -> dict[str, Estimate]:
        """How well do two annotators agree on the pairs that both labelled?

        Parameters
        ----------
        first, second : str
            The annotators.
        cannot_tell : {"left out", "counted"}, default "left out"
            Whether pairs on which one of them cannot tell are left out, or "cannot
            tell" is a label like the others. Left out, the agreement is that on the
            pairs which both could decide, mostly the easier ones.

        Returns
        -------
        dict
            "percent" and "kappa" (unweighted), each with its interval; kappa is
            undefined, with the reason, where both gave one label only.

        Raises
        ------
        UndefinedStatistic
            If they have no such pair in common.
        ValidationError
            If there is no such rule.
        """
        if cannot_tell not in ("left out", "counted"):
            raise ValidationError(
                f"cannot_tell is {cannot_tell!r}; choose 'left out' or 'counted'"
            )
        one, two = self.labels(first), self.labels(second)
        scale = LABELS if cannot_tell == "counted" else LABELS[:-1]
        both = [
            (label, two[pair])
            for pair, label in one.items()
            if label in scale and two.get(pair) in scale
        ]
        if not both:
            raise UndefinedStatistic(
                f"{first!r} and {second!r} have no labelled pair in common"
            )
        table = contingency_table(
            [label for label, _ in both], [label for _, label in both], scale=scale
        )
        return {
            "percent": percent_agreement(table),
            "kappa": cohen_kappa(table, undefined="nan"),
        }

    def export(self, path: str | Path) -> None:
        """Write what counts as CSV: pair, annotator, label, one answer per check, note.

        Label and answers are words; what is open is empty.
        """
        words = {answer: word for word, answer in ANSWERS.items()}
        with Path(path).open("w", newline="", encoding="utf-8") as out:
            write = csv.writer(out)
            write.writerow(["pair", "annotator", "label", *CHECKS, "note"])
            for entry in self.entries():
                said = entry.checks
                answers = [words[said[name]] if name in said else "" for name in CHECKS]
                write.writerow(
                    [
                        entry.pair,
                        entry.annotator,
                        entry.label or "",
                        *answers,
                        entry.note,
                    ]
                )

    def _append(self, line: dict[str, Any]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # After a line that was cut short a new one must begin.
        broken = self.path.exists() and not self.path.read_bytes().endswith(b"\n")
        start = "\n" if broken and self.path.stat().st_size else ""
        with self.path.open("a", encoding="utf-8") as out:
            out.write(start + json.dumps(line) + "\n")
            out.flush()
            os.fsync(out.fileno())

    def _stacks(self) -> dict[str, list[Entry]]:
        """Read what every annotator did, with what was taken back removed."""
        stacks: dict[str, list[Entry]] = {}
        self.damaged = 0
        if not self.path.exists():
            return stacks
        for text in self.path.read_text("utf-8", errors="replace").split("\n"):
            try:
                _do(json.loads(text), stacks)
            except (ValueError, KeyError, TypeError, AttributeError):
                self.damaged += bool(text)
        return stacks


def _do(line: dict[str, Any], stacks: dict[str, list[Entry]]) -> None:
    """Repeat what one line of the file says."""
    stack = stacks.setdefault(line["annotator"], [])
    if line["do"] == "undo":
        if stack:
            stack.pop()
    elif line["do"] == "save":
        stack.append(
            Entry(line["pair"], line["annotator"], line["checks"], line["note"])
        )
    else:
        raise ValueError(f"nothing known to do: {line['do']!r}")
