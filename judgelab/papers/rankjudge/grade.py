"""When is a judge right on a pair, and what becomes of replies without a verdict?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from judgelab.errors import ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import proportion
from judgelab.papers.rankjudge.judging import Grade
from judgelab.papers.rankjudge.schema import Match, Order

if TYPE_CHECKING:
    import pandas as pd

Criterion = Literal["joint", "verdict+turn", "verdict"]
Rule = Literal["strict", "released"]

_PARTS: dict[str, tuple[str, ...]] = {
    "joint": ("turn", "type"),
    "verdict+turn": ("turn",),
    "verdict": (),
}

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Grades:
    """Who was right on what.

    Parameters
    ----------
    judges, items : tuple of str
        The rows and the columns.
    table : ndarray, shape (judges, items)
        1 right, 0 wrong, `nan` not answered.
    invalid : ndarray of bool, shape (judges, items)
        Where there was a reply without a readable verdict.
    dropped : tuple of str
        Pairs that the rule leaves out.
    criterion, rule : str
        How it was decided.

    Notes
    -----
    Chapter: *RankJudge*.
    """

    judges: tuple[str, ...]
    items: tuple[str, ...]
    table: Floats
    invalid: npt.NDArray[np.bool_]
    dropped: tuple[str, ...]
    criterion: str
    rule: str

    def accuracy(self) -> dict[str, Estimate]:
        """How often is every judge right, among the pairs that it answered?"""
        return {
            judge: proportion(float(np.nansum(row)), int((~np.isnan(row)).sum()))
            for judge, row in zip(self.judges, self.table, strict=True)
        }

    def only(self, items: Iterable[str]) -> Grades:
        """Keep these pairs, in the order of the table."""
        wanted = set(items)
        keep = np.array([item in wanted for item in self.items], bool)
        return Grades(
            self.judges,
            tuple(item for item in self.items if item in wanted),
            self.table[:, keep],
            self.invalid[:, keep],
            self.dropped,
            self.criterion,
            self.rule,
        )


def grades(
    matches: Sequence[Match],
    *,
    criterion: Criterion = "joint",
    rule: Rule = "strict",
    order: Order = "AB",
    prompt: str = "joint",
) -> Grades:
    """Which judge was right on which pair?

    Parameters
    ----------
    matches : sequence of Match
        One per judge and pair (and order, and prompt).
    criterion : {"joint", "verdict+turn", "verdict"}, default "joint"
        What has to be right: verdict, turn and type of failure, or less. "joint" is
        RankJudge's; the paper compares it with "verdict+turn".
    rule : {"strict", "released"}, default "strict"
        "strict": a turn or type that is missing is wrong, and so is a reply that cannot
        be read; a request without a reply is a gap. "released": what the code of the
        paper does. It passes over a missing turn or type, so that a judge can win by
        saying less; and a reply that cannot be read, or none, removes the pair for all
        judges.
    order : {"AB", "BA"}, default "AB"
        The order of showing to look at.
    prompt : str, default "joint"
        The wording to look at.

    Returns
    -------
    Grades
        Pairs and judges in the order in which they first occur.

    Raises
    ------
    ValidationError
        If nothing fits, a judge stands twice on a pair, or the truth is missing.

    References
    ----------
    RankJudge, arXiv:2605.21748, section 3, appendix A.7 and the released code (matches,
    metrics).

    Notes
    -----
    Chapter: *RankJudge*.
    """
    if criterion not in _PARTS:
        raise ValidationError(
            f"criterion is {criterion!r}; choose from {', '.join(_PARTS)}"
        )
    if rule not in ("strict", "released"):
        raise ValidationError(f"rule is {rule!r}; choose 'strict' or 'released'")
    chosen = [m for m in matches if m.order == order and m.prompt == prompt]
    if not chosen:
        raise ValidationError(
            f"no match in order {order!r} with prompt {prompt!r}; there are "
            f"{sorted({(m.order, m.prompt) for m in matches})}"
        )
    judges, names, cells = _laid_out([(m.model.name, m.id) for m in chosen])
    table = np.full((len(judges), len(names)), np.nan)
    invalid = np.zeros(table.shape, bool)
    for match, cell in zip(chosen, cells, strict=True):
        if match.missing:
            continue
        invalid[cell] = match.judge.answer is None
        table[cell] = _right(match, _PARTS[criterion], skip=rule == "released")
    if rule == "strict":
        return Grades(judges, names, table, invalid, (), criterion, rule)
    lost = invalid.any(axis=0) | np.isnan(table).any(axis=0)
    return Grades(
        judges,
        tuple(name for name, gone in zip(names, lost, strict=True) if not gone),
        table[:, ~lost],
        invalid[:, ~lost],
        tuple(name for name, gone in zip(names, lost, strict=True) if gone),
        criterion,
        rule,
    )


def _laid_out(
    said: Sequence[tuple[str, str]],
) -> tuple[tuple[str, ...], tuple[str, ...], list[tuple[int, int]]]:
    """Give judges and pairs their places, and each (judge, pair) its cell."""
    for (judge, item), times in Counter(said).items():
        if times > 1:
            raise ValidationError(f"judge {judge!r} stands twice on pair {item!r}")
    rows = {name: k for k, name in enumerate(dict.fromkeys(j for j, _ in said))}
    columns = {name: k for k, name in enumerate(dict.fromkeys(i for _, i in said))}
    cells = [(rows[judge], columns[item]) for judge, item in said]
    return tuple(rows), tuple(columns), cells


def _right(match: Match, parts: tuple[str, ...], *, skip: bool) -> bool:
    said = match.judge
    if said.answer is None:
        return False
    if match.better_is_a is None or ("turn" in parts and said.bad_round_gt is None):
        raise ValidationError(
            f"the match of {match.model.name!r} on pair {match.id!r} lacks the truth "
            "(better_is_a or judge.bad_round_gt)"
        )
    found = {
        "turn": (said.bad_round_pred, said.bad_round_gt),
        "type": (said.behavior_type_pred, match.pair.assistant_behavior_type),
    }
    return (said.answer == "A") == match.better_is_a and all(
        predicted == truth or (skip and predicted is None)
        for predicted, truth in (found[part] for part in parts)
    )


def rules_compared(
    matches: Sequence[Match], *, criterion: Criterion = "joint"
) -> pd.DataFrame:
    """How far apart are the released code's rule and the strict one on these replies?

    Parameters
    ----------
    matches : sequence of Match
        In the first order and the plain wording.
    criterion
        As for `grades`.

    Returns
    -------
    pandas.DataFrame
        One row per judge: ``invalid`` replies, those ``without turn or type``, and the
        share of right pairs under both rules with the number of pairs each rests on.

    Notes
    -----
    Chapter: *RankJudge*.
    """
    import pandas as pd

    strict = grades(matches, criterion=criterion)
    released = grades(matches, criterion=criterion, rule="released")
    gaps = dict.fromkeys(strict.judges, 0)
    for match in matches:
        said = match.judge
        if (match.order, match.prompt) == ("AB", "joint") and said.answer is not None:
            gaps[match.model.name] += (
                said.bad_round_pred is None or said.behavior_type_pred is None
            )
    rows = {}
    before, after = strict.accuracy(), released.accuracy() if released.items else {}
    for k, judge in enumerate(strict.judges):
        rows[judge] = {
            "invalid": int(strict.invalid[k].sum()),
            "without turn or type": gaps[judge],
            "strict": before[judge].value,
            "pairs (strict)": before[judge].n,
            "released": after[judge].value if judge in after else np.nan,
            "pairs (released)": len(released.items),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("judge")


def grades_alone(
    found: Sequence[Grade], *, ties: Literal["wrong", "half"] = "wrong"
) -> Grades:
    """Which judges grade the better conversation higher, seeing one at a time?

    Parameters
    ----------
    found : sequence of Grade
        From `grade_alone`.
    ties : {"wrong", "half"}, default "wrong"
        What two equal grades count. The paper does not say.

    Returns
    -------
    Grades
        1 if the better conversation has the higher grade; a pair with a grade that
        could not be read is wrong and counts as invalid, one without a reply is a gap.

    Raises
    ------
    ValidationError
        If a judge stands twice on a pair, or there is no such rule for ties.

    References
    ----------
    RankJudge, arXiv:2605.21748, appendix A.10.

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> grades_alone([Grade("p", "x", 9, 6), Grade("q", "x", 8, 8)]).table
    array([[1., 0.]])
    """
    if ties not in ("wrong", "half"):
        raise ValidationError(f"ties is {ties!r}; choose 'wrong' or 'half'")
    judges, items, cells = _laid_out([(g.judge, g.id) for g in found])
    table = np.full((len(judges), len(items)), np.nan)
    invalid = np.zeros(table.shape, bool)
    for grade, cell in zip(found, cells, strict=True):
        if grade.missing:
            continue
        if grade.better is None or grade.worse is None:
            table[cell], invalid[cell] = 0.0, True
        elif grade.better == grade.worse:
            table[cell] = 0.5 if ties == "half" else 0.0
        else:
            table[cell] = grade.better > grade.worse
    return Grades(judges, items, table, invalid, (), "pointwise", f"ties {ties}")
