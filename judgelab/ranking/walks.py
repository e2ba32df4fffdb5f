"""Ratings from random walks: Empirical Interaction Propagation, and PageRank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judgelab._checks import check_positive, check_real, floats, whole
from judgelab.errors import NotConverged, UndefinedStatistic, ValidationError
from judgelab.ranking.rates import square_counts

Floats = npt.NDArray[np.float64]

FLAT = 1e-12
"""RankJudge: below this range of the stationary masses all scores are 50."""


@dataclass(frozen=True, eq=False)
class Walk:
    """Where a walk between judges and items spends its time.

    Parameters
    ----------
    scores : ndarray, shape (judges,)
        Masses of the judges, stretched so that the lowest is 0 and the highest 100.
    judges, items : ndarray
        Stationary masses, each summing to 1; `nan` for an item that was left out.
    iterations : int
        Steps taken.

    Notes
    -----
    Chapter: *Who is better?*
    """

    scores: Floats
    judges: Floats
    items: Floats
    iterations: int


def walk(
    scores: npt.ArrayLike,
    *,
    damping: float = 0.85,
    tolerance: float = 1e-12,
    max_iterations: int = 10_000,
) -> Walk:
    """Who is good in the eyes of hard items? Empirical Interaction Propagation.

    A walker goes from an item to one of the judges that solved it, and from a judge to
    one of the items that it failed; now and then it starts anew anywhere. Judges that
    solve hard items collect visits, and so do items that fool good judges.

    Parameters
    ----------
    scores : array_like, shape (judges, items)
        1 solved, 0 failed; complete.
    damping : float, default 0.85
        Chance to go on rather than to start anew, in [0, 1). The papers name none.
    tolerance : float, default 1e-12
        Stop when the masses change by less than this in sum (L1).
    max_iterations : int, default 10000
        Steps at most.

    Returns
    -------
    Walk

    Raises
    ------
    NotConverged
        If the masses still move after `max_iterations`.
    UndefinedStatistic
        If every item was solved by all judges or by none.
    ValidationError
        If a score is neither 0 nor 1.

    References
    ----------
    RankLLM, arXiv:2602.12424 (where the method comes from); RankJudge,
    arXiv:2605.21748, appendix A.10. Read as two half-steps with the stretching over
    judges alone; both papers leave that open.

    Notes
    -----
    Items solved by all judges or by none are left out. A judge that failed nothing has
    no item to go to: the walker starts anew from there. If the masses of the judges are
    equal to 12 digits all scores are 50.

    Chapter: *Who is better?*

    Examples
    --------
    >>> walk([[1, 1, 1, 0], [1, 0, 1, 0], [0, 0, 1, 1]]).scores.round(1)
    array([ 88.3,   0. , 100. ])
    """
    solved = floats("scores", scores)
    if solved.ndim != 2 or not ((solved == 0) | (solved == 1)).all():
        raise ValidationError(
            f"scores has shape {solved.shape}; give a complete table of 0 and 1, "
            "judges × items"
        )
    check_positive(tolerance=tolerance)
    check_real(damping=damping)
    max_iterations = whole("max_iterations", max_iterations, least=1)
    if not 0 <= damping < 1:
        raise ValidationError(f"damping is {damping!r}; give a number in [0, 1)")
    often = solved.sum(axis=0)
    inside = (often > 0) & (often < len(solved))
    if not inside.any():
        raise UndefinedStatistic(
            "every item was solved by all judges or by none: there is no way to walk"
        )
    solved = solved[:, inside]
    to_judge = solved / solved.sum(axis=0)
    failures = (1 - solved).sum(axis=1, keepdims=True)
    to_item = np.divide(
        1 - solved, failures, out=np.zeros_like(solved), where=failures > 0
    )
    judges = np.full(len(solved), 1 / len(solved))
    items = np.full(solved.shape[1], 1 / solved.shape[1])
    change, iterations = np.inf, 0
    while change >= tolerance:
        if iterations == max_iterations:
            raise NotConverged(
                f"the walk still moves by {change:.2g} after {max_iterations} steps; "
                "raise max_iterations or lower the damping"
            )
        new_items = damping * (judges @ to_item)
        new_items += (1 - new_items.sum()) / new_items.size
        new_judges = damping * (to_judge @ new_items)
        new_judges += (1 - new_judges.sum()) / new_judges.size
        change = np.abs(new_judges - judges).sum() + np.abs(new_items - items).sum()
        judges, items = new_judges, new_items
        iterations += 1
    spread = np.ptp(judges)
    stretched = (
        np.full(judges.size, 50.0)
        if spread < FLAT
        else 100 * (judges - judges.min()) / spread
    )
    everywhere = np.full(inside.size, np.nan)
    everywhere[inside] = items
    return Walk(stretched, judges, everywhere, iterations)


def pagerank(wins: Any, *, damping: float = 0.85) -> Floats:
    """Whom do the losers point to? PageRank of the graph of wins.

    Parameters
    ----------
    wins : array_like, shape (n, n)
        ``wins[i, j]``: how often i beat j (ties may be added as halves). The walker
        goes from a player to one that beat it, in proportion to how often.
    damping : float, default 0.85
        Chance to go on rather than to start anew, in [0, 1).

    Returns
    -------
    ndarray, shape (n,)
        Stationary shares, summing to 1.

    Raises
    ------
    ValidationError
        If `wins` is not a square table of counts, or damping is not in [0, 1).

    References
    ----------
    Brin & Page (1998), *Computer Networks and ISDN Systems* 30.

    Notes
    -----
    The equations are solved, not iterated. Beating somebody twice as often counts
    twice, so that a player gains by being drawn more often: a share, not a strength.
    Chapter: *Who is better?*

    Examples
    --------
    >>> pagerank([[0, 8, 9], [2, 0, 7], [1, 3, 0]]).round(3)
    array([0.392, 0.363, 0.245])
    """
    won = square_counts("wins", wins)
    check_real(damping=damping)
    if not 0 <= damping < 1:
        raise ValidationError(f"damping is {damping!r}; give a number in [0, 1)")
    n = len(won)
    if not n:
        raise ValidationError("wins has no players")
    lost = won.sum(axis=0)
    # From somebody who never lost the walker starts anew.
    step = np.divide(won, lost, out=np.full_like(won, 1 / n), where=lost > 0)
    shares = np.linalg.solve(np.eye(n) - damping * step, np.full(n, (1 - damping) / n))
    return np.asarray(shares, np.float64)
