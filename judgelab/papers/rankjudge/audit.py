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

Label = Literal["clean", "ambiguous", "noise"]
LABELS: tuple[Label, ...] = ("clean", "ambiguous", "noise")

CHECKS: dict[str, str] = {
    "flaw_present": "The worse conversation has a flaw.",
    "right_turn": "The flaw is in the turn that is named, and in no other.",
    "right_type": "The flaw is of the type that is named.",
    "one_type": "No other type fits it as well.",
    "better_clean": "The better conversation has no flaw.",
}
"""What to look at; each is answered with yes or no."""


def label_of(checks: Mapping[str, bool]) -> Label:
    """Which label follows from the checks?

    Parameters
    ----------
    checks : mapping of str to bool
        An answer to each of `CHECKS`.

    Returns
    -------
    {"clean", "ambiguous", "noise"}

    Raises
    ------
    ValidationError
        If a check is missing or unknown.

    References
    ----------
    RankJudge, arXiv:2605.21748, appendix C.2 (rubric).

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> label_of(dict.fromkeys(CHECKS, True)), label_of(
    ...     dict.fromkeys(CHECKS, True) | {"one_type": False})
    ('clean', 'ambiguous')
    """
    if set(checks) != set(CHECKS):
        odd = sorted(set(checks) ^ set(CHECKS))
        raise ValidationError(
            f"the checks are {', '.join(CHECKS)}; missing or unknown: {', '.join(odd)}"
        )
    wrong = [name for name, good in checks.items() if not good]
    if not wrong:
        return "clean"
    return "ambiguous" if wrong == ["one_type"] else "noise"


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
    """One label of one annotator on one pair."""

    pair: str
    annotator: str
    label: Label
    checks: dict[str, bool] = field(default_factory=dict)
    note: str = ""


class Audit:
    """The labels of an audit, kept in a file that only ever grows.

    Parameters
    ----------
    path : str or Path
        The file: one JSON object per line, a label or an undo. It is read again before
        every use, so that two people can work on it; a line that was cut short by a
        crash is passed over and reported in `damaged`.

    Notes
    -----
    Every label is on the disk before `label` returns. Chapter: *RankJudge*.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     audit = Audit(f"{folder}/labels.jsonl")
    ...     _ = audit.label("pair 1", "first reader", dict.fromkeys(CHECKS, True))
    ...     audit.labels("first reader")
    {'pair 1': 'clean'}
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.damaged = 0

    def label(
        self,
        pair: str,
        annotator: str,
        checks: Mapping[str, bool],
        *,
        label: Label | None = None,
        note: str = "",
    ) -> Entry:
        """Save a label at once; a later one on the same pair replaces it.

        Parameters
        ----------
        pair, annotator : str
        checks : mapping of str to bool
            An answer to each of `CHECKS`.
        label : {"clean", "ambiguous", "noise"}, optional
            What follows from the checks unless given.
        note : str, default ""

        Returns
        -------
        Entry

        Raises
        ------
        ValidationError
            If a name is empty, a check is missing, or the label contradicts the checks:
            nothing is "clean" with a check that failed, nor the other way round.
        """
        if not pair.strip() or not annotator.strip():
            raise ValidationError("say which pair, and who labels it")
        follows = label_of(checks)
        if label is not None and label not in LABELS:
            raise ValidationError(
                f"label is {label!r}; choose from {', '.join(LABELS)}"
            )
        chosen = label or follows
        if (chosen == "clean") != (follows == "clean"):
            raise ValidationError(
                f"the label {chosen!r} contradicts the checks, which say {follows!r}"
            )
        entry = Entry(pair, annotator, chosen, dict(checks), note)
        self._append({"do": "label"} | vars(entry))
        return entry

    def undo(self, annotator: str) -> Entry | None:
        """Take back an annotator's last label; what it replaced counts again.

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
        """Return the labels that count, in the order in which they were given."""
        found: list[Entry] = []
        for name, stack in self._stacks().items():
            if annotator in (None, name):
                found += {entry.pair: entry for entry in stack}.values()
        return found

    def labels(self, annotator: str) -> dict[str, Label]:
        """Return the labels of one annotator by pair."""
        return {entry.pair: entry.label for entry in self.entries(annotator)}

    @property
    def annotators(self) -> list[str]:
        """Who has labels here."""
        return [name for name, stack in self._stacks().items() if stack]

    def shares(self, annotator: str) -> dict[str, Estimate]:
        """How many of the pairs that an annotator saw are clean, ambiguous, noise?

        Raises
        ------
        UndefinedStatistic
            If there is no label.
        """
        given = list(self.labels(annotator).values())
        return {name: proportion(given.count(name), len(given)) for name in LABELS}

    def agreement(self, first: str, second: str) -> dict[str, Estimate]:
        """How well do two annotators agree on the pairs that both labelled?

        Returns
        -------
        dict
            "percent" and "kappa" (unweighted), each with its interval; kappa is
            undefined, with the reason, where both gave one label only.

        Raises
        ------
        UndefinedStatistic
            If they have no pair in common.
        """
        one, two = self.labels(first), self.labels(second)
        both = [pair for pair in one if pair in two]
        if not both:
            raise UndefinedStatistic(f"{first!r} and {second!r} have no pair in common")
        table = contingency_table(
            [one[pair] for pair in both], [two[pair] for pair in both], scale=LABELS
        )
        return {
            "percent": percent_agreement(table),
            "kappa": cohen_kappa(table, undefined="nan"),
        }

    def export(self, path: str | Path) -> None:
        """Write the labels that count as CSV: pair, annotator, label, checks, note."""
        with Path(path).open("w", newline="", encoding="utf-8") as out:
            write = csv.writer(out)
            write.writerow(["pair", "annotator", "label", *CHECKS, "note"])
            for entry in self.entries():
                checks = [entry.checks.get(name, "") for name in CHECKS]
                write.writerow(
                    [entry.pair, entry.annotator, entry.label, *checks, entry.note]
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
                line = json.loads(text)
                stack = stacks.setdefault(line["annotator"], [])
                if line.pop("do") == "label":
                    stack.append(Entry(**line))
                elif stack:
                    stack.pop()
            except (ValueError, KeyError, TypeError):
                self.damaged += bool(text)
        return stacks
