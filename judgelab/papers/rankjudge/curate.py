"""Which pairs tell judges apart, and how hard are they? Drop, fit, drop, refit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from judgelab.errors import ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import median
from judgelab.papers.rankjudge.grade import Grades
from judgelab.papers.rankjudge.schema import Item
from judgelab.papers.rankjudge.taxonomy import Axis
from judgelab.ranking import Rasch, rasch
from judgelab.ranking.identify import Unidentified

HARDEST = 0.05
"""The share of pairs that RankJudge drops as too hard to be trusted."""


@dataclass(frozen=True, eq=False)
class Curation:
    """What is left of a table of answers, and what was dropped for which reason.

    Parameters
    ----------
    kept : Grades
        The table that the ranking rests on.
    ranking, before : Rasch
        The judges and the difficulty of the pairs, fitted on `kept`, and before the
        hardest pairs were dropped.
    incomplete, trivial, hardest : tuple of str
        Pairs without an answer of every judge; pairs on which all judges were right, or
        none; the hardest of the rest.
    tied_at_cut : int
        How many pairs as hard as the easiest dropped one were kept: with a complete
        table many pairs are equally hard, and the cut goes through a group of equals.

    Notes
    -----
    Chapter: *RankJudge*.
    """

    kept: Grades
    ranking: Rasch
    before: Rasch
    incomplete: tuple[str, ...]
    trivial: tuple[str, ...]
    hardest: tuple[str, ...]
    tied_at_cut: int


def curate(
    table: Grades,
    *,
    hardest: float = HARDEST,
    method: Literal["conditional", "joint", "mm"] = "conditional",
    interval: Literal["cluster", "model"] = "cluster",
    clusters: Mapping[str, str] | None = None,
    unidentified: Unidentified = "raise",
) -> Curation:
    """Drop incomplete and trivial pairs, fit, drop the hardest, fit again.

    Parameters
    ----------
    table : Grades
        Who was right on what.
    hardest : float, default 0.05
        Which share of the fitted pairs to drop: round(share · n), and at least one
        unless the share is 0. Equally hard pairs are dropped in the order of their
        names.
    method : {"conditional", "joint", "mm"}, default "conditional"
        How judges are rated; RankJudge's is "mm". See `judgelab.ranking.rasch`.
    interval : {"cluster", "model"}, default "cluster"
        How its intervals are made.
    clusters : mapping, optional
        What each pair belongs to (its document); each pair by itself unless given, as
        in the paper, which has one pair per document.
    unidentified : {"raise", "largest"}, default "raise"
        Refuse judges without a finite rating, or leave them out by name. The released
        code does neither: a judge that is always right climbs until the sweeps end.

    Returns
    -------
    Curation

    Raises
    ------
    Separated, Disconnected, ValidationError
        As `judgelab.ranking.rasch`; also if `hardest` is no share below 1.

    References
    ----------
    RankJudge, arXiv:2605.21748, section 3 and the released code (metrics).

    Notes
    -----
    The hardest pairs are chosen by the answers that the refit uses. That does no harm
    to the conditional fit: in a complete table difficulty is the number of right
    answers, and those are what it conditions on (150 simulations at the published
    spread: intervals cover .955 with all pairs, .954 without the hardest 5 %, .954
    without 20 %). The joint fit stays as far off as it was (.83 and .84).

    Chapter: *RankJudge*.

    Examples
    --------
    >>> answers = np.array([[1, 1, 1, 1, 0, 0, 1], [1, 0, 1, 0, 1, 0, 1],
    ...                     [1, 0, 0, 1, 0, 1, 0]], float)
    >>> names = ("easy", "b", "c", "d", "e", "f", "g")
    >>> table = Grades(("x", "y", "z"), names, answers, answers < 0, (), "joint", "own")
    >>> result = curate(table, interval="model")
    >>> result.trivial, result.hardest, result.tied_at_cut
    (('easy',), ('b',), 2)
    """
    answered = ~np.isnan(table.table)
    whole = answered.all(axis=0)
    right = np.nansum(table.table, axis=0)
    trivial = whole & ((right == 0) | (right == len(table.judges)))
    names = np.array(table.items, object)
    inside = table.only(names[whole & ~trivial])
    count = cut_size(len(inside.items), hardest)
    _refuse_nothing(table.judges, answered, len(inside.items))

    def fit(part: Grades) -> Rasch:
        return rasch(
            part.table,
            judges=part.judges,
            items=part.items,
            method=method,
            interval=interval,
            clusters=None
            if clusters is None
            else np.array([clusters[item] for item in part.items]),
            unidentified=unidentified,
        )

    before = fit(inside)
    hard = before.difficulty
    # Infinite where all judges that are rated agree: no place among the hardest.
    hard = np.where(np.isfinite(hard), hard.round(9), -np.inf)
    order = sorted(range(hard.size), key=lambda k: (-hard[k], inside.items[k]))
    dropped = [inside.items[k] for k in order[:count]]
    kept = inside.only(set(inside.items) - set(dropped))
    cut = hard[order[count - 1]] if count else math.inf
    return Curation(
        kept,
        fit(kept) if count else before,
        before,
        tuple(names[~whole]),
        tuple(names[trivial]),
        tuple(dropped),
        int((hard == cut).sum() - sum(hard[k] == cut for k in order[:count])),
    )


def _refuse_nothing(
    judges: tuple[str, ...], answered: npt.NDArray[np.bool_], pairs: int
) -> None:
    """Refuse a table without a pair to fit, and name who is to blame for it."""
    if pairs:
        return
    silent = [
        judge for judge, row in zip(judges, answered, strict=True) if not row.any()
    ]
    if silent:
        raise ValidationError(
            f"{', '.join(silent)} answered nothing, so no pair has an answer of every "
            "judge; ask again, or rank the others without"
        )
    raise ValidationError(
        "no pair has an answer of every judge and judges that differ on it; there is "
        "nothing to rank by"
    )


def cut_size(pairs: int, share: float = HARDEST) -> int:
    """How many of so many pairs are dropped as the hardest?

    Parameters
    ----------
    pairs : int
        Pairs that were fitted.
    share : float, default 0.05
        Which share to drop.

    Returns
    -------
    int
        round(share · pairs), and at least one unless the share is 0.

    Raises
    ------
    ValidationError
        If the share is none below 1.

    References
    ----------
    RankJudge, arXiv:2605.21748, the released code (metrics).

    Notes
    -----
    Chapter: *RankJudge*.

    Examples
    --------
    >>> cut_size(686), cut_size(4), cut_size(4, 0)
    (34, 1, 0)
    """
    if not 0 <= share < 1:
        raise ValidationError(f"hardest is {share!r}; give a share from 0 to below 1")
    return max(1, round(share * pairs)) if share else 0


def difficulty_by(
    ranking: Rasch, items: Iterable[Item], axis: Axis, *, level: float = 0.95
) -> dict[str, Estimate]:
    """How hard are the pairs of every kind: the median, and how sure it is?

    Parameters
    ----------
    ranking : Rasch
        From `curate`: `ranking` or `before`.
    items : iterable of Item
        The pairs, for what kind they are.
    axis : {"failure", "user_behavior"}
        What kind.
    level : float, default 0.95
        Coverage, at least.

    Returns
    -------
    dict of str to Estimate
        Kind → median difficulty in Elo, in RankJudge's gauge, hardest first. The
        interval is that of the median *fitted* difficulty over pairs of this kind, from
        order statistics; with fewer than six pairs there is none at 95 %. Fitted
        difficulties take one value for each number of judges that are right, so with
        few judges the interval can be a single one of them; the true difficulties are
        not known that well.

    References
    ----------
    RankJudge, arXiv:2605.21748, appendix A.1 (medians; the released code writes means).
    The interval: Conover (1999), *Practical Nonparametric Statistics*, section 3.2.

    Notes
    -----
    Chapter: *RankJudge*.
    """
    if axis not in ("failure", "user_behavior"):
        raise ValidationError(f"axis is {axis!r}; choose 'failure' or 'user_behavior'")
    elo = {
        name: estimate.value
        for name, estimate in ranking.difficulties(
            anchor="mean strength", scale="elo"
        ).items()
    }
    groups: dict[str, list[float]] = {}
    for item in items:
        meta = item.metadata
        kind = (
            meta.assistant_behavior_type
            if axis == "failure"
            else meta.user_behavior_type
        )
        if not math.isnan(elo.get(item.id, math.nan)):
            groups.setdefault(kind, []).append(elo[item.id])
    medians = {kind: median(values, level=level) for kind, values in groups.items()}
    return dict(sorted(medians.items(), key=lambda pair: -pair[1].value))


def leaderboard(ranking: Rasch) -> list[dict[str, Any]]:
    """Who is best: rating, interval and possible ranks of every judge?

    Parameters
    ----------
    ranking : Rasch
        From `curate`.

    Returns
    -------
    list of dict
        Best first: ``judge``, ``elo`` and ``rank`` (`Estimate`), ``pairs``. The mean
        judge stands at 1500. Judges without a finite rating come last, with the reason.

    Notes
    -----
    Chapter: *RankJudge*.
    """
    ratings, ranks = ranking.estimates(scale="elo"), ranking.ranks()
    rows = [*ranking.order, *ranking.left_out]
    return [
        {
            "judge": judge,
            "elo": ratings[judge],
            "rank": ranks[judge],
            "pairs": ratings[judge].n,
        }
        for judge in rows
    ]
