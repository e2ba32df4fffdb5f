"""Ratings from a judge × item table of right and wrong: the Rasch model.

Judge i is right on item j with probability σ(θᵢ − δⱼ): a game between judge and item.
Items with the same judges and the same number of right answers say the same about the
ratings. So the table is folded into *rows*, one per such kind of item; a complete table
of any length has at most one row per number of right answers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse, special

from judgelab._checks import array, check_positive, floats, whole
from judgelab.counts import cluster_codes
from judgelab.errors import NotConverged, UndefinedStatistic, ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import from_standard_error
from judgelab.ranking.identify import (
    Unidentified,
    beats_graph,
    check_policy,
    is_strongly_connected,
    keep_identified,
    refuse_few_clusters,
    refuse_no_spread,
)
from judgelab.ranking.likelihood import first_guess
from judgelab.ranking.named import checked_names, names_on
from judgelab.ranking.newton import Slope, climb, solved
from judgelab.ranking.result import Anchor, Ranking, Scale, unit_and_origin

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_FIRST_LOOK = 1 << 10
"""Items looked at before asking whether the judges are on one scale already."""
_TABLE = 1 << 22
"""Cells of the recursion over scores that are kept at once: 32 MB."""
_CLOSE = 1e-4
"""Ratings nearer than this take the derivative in place of a divided difference, which
would lose digits: both errors are then below 1e-9."""
MM_CHANGE = 1e-6
"""Where the RankJudge code stops: no strength moved by more than this in a sweep."""


class _Rows(NamedTuple):
    """Items of the same kind, folded: who answered, how many were right, how often."""

    mask: npt.NDArray[np.bool_]
    total: Floats
    weight: Floats


class _Expected(NamedTuple):
    """What the ratings expect of every row, and the information they hold."""

    right: Floats
    information: Floats


@dataclass(frozen=True, eq=False, repr=False)
class Rasch(Ranking):
    """Ratings of judges, and how difficult the items are.

    A `Ranking` of the judges in every respect; in addition it knows the items.

    Parameters
    ----------
    items : tuple
        The items, in the order of the columns.
    difficulty : ndarray, shape (items,)
        In logits, on the scale on which the judges have mean 0; −inf where every judge
        was right, +inf where none was, `nan` where nobody answered.
    item_information : ndarray, shape (rows,)
        What the answers to one item of a kind say about its difficulty, 1/logits².
    item_answers : ndarray of int, shape (items,)
        How many judges answered each item.
    item_weights : ndarray, shape (rows, judges)
        How the difficulty of a kind of item moves with the ratings; rows sum to 1.
    item_row : ndarray of int, shape (items,)
        The row of each item in `item_weights`; −1 where the difficulty is not finite.

    Notes
    -----
    `anchor` takes two more values here. "mean strength": the arithmetic mean of the
    strengths of judges *and* items, where RankJudge puts its 1500. "rankjudge": the
    same point, with the interval that the RankJudge code prints there, which belongs to
    another zero (the mean rating of judges and items); it is kept to reproduce the
    published table and is no interval of the number shown.

    Chapter: *Who is better?*

    Examples
    --------
    >>> import numpy as np
    >>> scores = np.array([[1, 1, 1, 0, 1, 0], [1, 0, 1, 1, 0, 0], [0, 1, 0, 0, 0, 1]])
    >>> fit = rasch(scores, judges=["x", "y", "z"], interval="model")
    >>> fit.order
    ('x', 'y', 'z')
    >>> fit.difficulties()[2]
    -0.723 [-3.175, 1.728] (n = 3, Rasch, conditional, model-based)
    """

    items: Sequence[Hashable] = ()
    difficulty: Floats = field(default_factory=lambda: np.empty(0), repr=False)
    item_weights: Floats = field(default_factory=lambda: np.empty((0, 0)), repr=False)
    item_information: Floats = field(default_factory=lambda: np.empty(0), repr=False)
    item_row: Ints = field(default_factory=lambda: np.empty(0, int), repr=False)
    item_answers: Ints = field(default_factory=lambda: np.empty(0, int), repr=False)

    def gauge(self, anchor: Anchor = "mean") -> tuple[float, Floats]:
        """Tell where the zero lies, also for the two anchors that involve the items."""
        special_anchor = isinstance(anchor, str) and anchor not in self.players
        if not special_anchor or anchor not in ("mean strength", "rankjudge"):
            return super().gauge(anchor)
        inside = self.item_row >= 0
        strengths = np.concatenate([self.ratings, self.difficulty[inside]])
        offset = float(special.logsumexp(strengths) - math.log(strengths.size))
        often = np.bincount(self.item_row[inside], minlength=len(self.item_weights))
        if anchor == "rankjudge":
            weights = 1 + often @ self.item_weights
        else:
            at = np.zeros(len(self.item_weights))
            at[self.item_row[inside]] = self.difficulty[inside]
            weights = np.exp(self.ratings) + (often * np.exp(at)) @ self.item_weights
        return offset, weights / weights.sum()

    def difficulties(
        self,
        *,
        anchor: Anchor = "mean",
        scale: Scale = "logit",
        origin: float | None = None,
        level: float = 0.95,
    ) -> dict[Hashable, Estimate]:
        """How difficult is every item, on the scale of the judges?

        Parameters
        ----------
        anchor, scale, origin, level
            As in `estimates`; a judge rated equal to an item is right in half the
            cases.

        Returns
        -------
        dict of item -> Estimate
            Undefined, with the reason, where every judge or none was right. The
            interval takes the answers to one item as independent given its difficulty.
        """
        unit, zero = unit_and_origin(scale, origin)
        offset, weights = self.gauge(anchor)
        contrast = self.item_weights - weights
        variance = 1 / self.item_information + np.einsum(
            "ri,ij,rj->r", contrast, self.covariance, contrast
        )
        errors = unit * np.sqrt(variance)
        result: dict[Hashable, Estimate] = {}
        words = f"{self.model}, {self.interval}"
        for k, item in enumerate(self.items):
            answers, row = int(self.item_answers[k]), self.item_row[k]
            if row < 0:
                result[item] = Estimate.undefined(_why(self.difficulty[k]), answers)
                continue
            value = zero + unit * (self.difficulty[k] - offset)
            result[item] = from_standard_error(
                value, errors[row], answers, words, level=level
            )
        return result


def _why(difficulty: float) -> str:
    if math.isnan(difficulty):
        return "no rated judge answered this item"
    return f"{'every' if difficulty < 0 else 'no'} judge was right: infinitely far away"


def rasch(
    scores: npt.ArrayLike,
    *,
    judges: Sequence[Hashable] | None = None,
    items: Sequence[Hashable] | None = None,
    method: Literal["conditional", "joint", "mm"] = "conditional",
    interval: Literal["cluster", "model"] = "cluster",
    clusters: npt.ArrayLike | None = None,
    small_sample: bool = False,
    missing_code: int | None = None,
    unidentified: Unidentified = "raise",
    tolerance: float = 1e-9,
    max_iterations: int | None = None,
) -> Rasch:
    """How good is each judge when items differ in difficulty, and how sure are we?

    Parameters
    ----------
    scores : array_like or dataframe, shape (judges, items)
        1 right, 0 wrong; `nan` (or `missing_code`) where a judge did not answer. With
        "joint" and "mm" also shares between 0 and 1.
    judges, items : sequence, optional
        Names; unless given those of the dataframe's rows and columns, or 0, 1, …
    method : {"conditional", "joint", "mm"}, default "conditional"
        "conditional": the likelihood of who was right, given how many were right on
        each item. Difficulties are gone from it, so its ratings are consistent however
        few judges there are. "joint": judges and items fitted together, as RankJudge
        does; it stretches all ratings, twofold with two judges and by 9 % with 21 as
        far apart as in RankJudge's table. "mm": the joint fit by the iteration of the
        RankJudge paper, with its trace, for teaching.
    interval : {"cluster", "model"}, default "cluster"
        "cluster": robust to everything that goes on inside a cluster; "model": inverse
        information.
    clusters : array_like, shape (items,), optional
        What each item belongs to (its source document); each item by itself unless
        given. At least as many as judges.
    small_sample : bool, default False
        Multiply the cluster-robust covariance by G/(G − 1).
    missing_code : int, optional
        What stands for "no answer" in a table of integers (often −1).
    unidentified : {"raise", "largest"}, default "raise"
        Whether to refuse judges whose ratings are infinite or on no common scale, or to
        leave them out by name.
    tolerance : float, default 1e-9
        Newton stops when right answers and expected right answers agree for every judge
        to this share of the judge's answers.
    max_iterations : int, at least 1, optional
        100 Newton steps or 1,000 sweeps (as RankJudge) unless given.

    Returns
    -------
    Rasch
        A `Ranking` of the judges that also knows the items.

    Raises
    ------
    Disconnected, Separated
        If ratings are infinite or on no common scale, naming the judges.
    NotConverged
        If the iteration ends too early.
    ValidationError
        If a score is not allowed, or there are fewer clusters than judges.

    References
    ----------
    Rasch (1960); Andersen (1970), *JRSS B* 32 (conditional likelihood); Fischer (1981),
    *Psychometrika* 46 (existence); Gustafsson (1980), *British Journal of Mathematical
    and Statistical Psychology* 33 (symmetric functions). RankJudge, arXiv:2605.21748,
    section 3 and appendix "Bradley–Terry Elo Details" (joint fit, MM, clusters).

    Notes
    -----
    Items on which every judge was right, or none, say nothing about the judges and are
    left out. A complete table costs one pass over its cells, whatever its length; in an
    incomplete one every set of judges that occurs has a recursion of its own.

    Chapter: *Who is better?*

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> ability, difficulty = np.array([[1.0], [0.0], [-1.0]]), rng.normal(size=400)
    >>> right = rng.random((3, 400)) < 1 / (1 + np.exp(difficulty - ability))
    >>> rasch(right, judges=["good", "fair", "poor"]).difference("good", "poor")
    1.692 [1.360, 2.024] (n = 279, Rasch, conditional, cluster-robust, 279 clusters)
    """
    if method not in ("conditional", "joint", "mm"):
        raise ValidationError(
            f"method is {method!r}; choose 'conditional', 'joint' or 'mm'"
        )
    if interval not in ("cluster", "model"):
        raise ValidationError(f"interval is {interval!r}; choose 'cluster' or 'model'")
    check_policy(unidentified)
    check_positive(tolerance=tolerance)
    rows_named, columns_named = names_on(scores)
    judges = rows_named if judges is None else judges
    items = columns_named if items is None else items
    right, answered = _read(scores, missing_code, whole=method == "conditional")
    n, columns = right.shape
    if small_sample and interval != "cluster":
        raise ValidationError(
            'small_sample corrects interval="cluster", and the interval is '
            f"{interval!r}"
        )
    names = checked_names("judges", judges, n, "scores")
    item_names = (
        range(columns)
        if items is None
        else checked_names("items", items, columns, "scores")
    )

    judge_positions, left_out = _identified(right, answered, names, unidentified)
    if left_out:
        right = right[judge_positions]
        answered = None if answered is None else answered[judge_positions]
        names = tuple(names[k] for k in judge_positions)
    rows, item_row, answers, difficulty = _fold(right, answered)
    inside = item_row >= 0
    if not inside.all():
        right = right[:, inside]
        answered = None if answered is None else answered[:, inside]
    informative = item_row[inside]
    won = right.sum(axis=1, dtype=np.float64)
    played = rows.weight @ rows.mask

    trace = None
    expect = _expect_conditional if method == "conditional" else _expect_joint
    if method == "mm":
        trace = _mm(rows, won, 1000 if max_iterations is None else max_iterations)
        ratings = np.log(trace[-1]) - np.log(trace[-1]).mean()
        iterations = len(trace) - 1
        expected = expect(ratings, rows)
        short = np.abs(
            _pinned_solve(expected.information, won - rows.weight @ expected.right)
        ).max()
        if short > 1e-3:
            raise NotConverged(
                f"MM stopped after {iterations:,} sweeps, but a rating is still "
                f'{short:.2g} logits from the maximum; use method="joint"'
            )
    else:
        ratings, _, expected, iterations = climb(
            first_guess(won, played),
            partial(_look, expect, won, rows),
            tolerance * played,
            100 if max_iterations is None else max_iterations,
        )
    gradient = float(np.abs(won - rows.weight @ expected.right).max())

    words = "model-based"
    make_covariance: Callable[[], Floats] = partial(
        _pinned_inverse, expected.information
    )
    if interval == "cluster":
        group = None
        if clusters is not None:
            _, group = cluster_codes(clusters, (columns,))
            group = group[inside]
        meat, groups = _meat(right, rows, informative, expected.right, group)
        refuse_few_clusters(groups, len(names), "judges")
        if small_sample:
            meat *= groups / (groups - 1)
        words = f"cluster-robust, {groups:,} clusters"
        make_covariance = partial(_sandwich, expected.information, meat, names)
    row_difficulty = item_difficulty(ratings, rows.total, rows.mask)
    weights = rows.mask * _spread(ratings - row_difficulty[:, None])
    information = weights.sum(axis=1)
    difficulty[inside] = row_difficulty[informative]
    return Rasch(
        players=names,
        ratings=ratings,
        games=played,
        model=f"Rasch, {'joint by MM' if method == 'mm' else method}",
        interval=words,
        iterations=iterations,
        gradient=gradient,
        make_covariance=make_covariance,
        left_out=left_out,
        trace=trace,
        items=item_names,
        difficulty=difficulty,
        item_weights=weights / information[:, None],
        item_information=information,
        item_row=item_row,
        item_answers=answers,
    )


def item_difficulty(
    ratings: npt.ArrayLike,
    right: npt.ArrayLike,
    answered: npt.ArrayLike | None = None,
) -> Floats:
    """How difficult is an item that so many of these judges got right?

    Parameters
    ----------
    ratings : array_like, shape (judges,)
        In logits.
    right : array_like, shape (k,)
        Numbers of right answers, more than none and fewer than all.
    answered : array_like of bool, shape (k, judges), optional
        Who answered; everybody unless given.

    Returns
    -------
    ndarray, shape (k,)
        The δ at which the judges' chances σ(θᵢ − δ) add up to `right`, in logits on the
        scale of `ratings`.

    Raises
    ------
    UndefinedStatistic
        If an item was solved by nobody or by all who answered.
    ValidationError
        If a rating is not finite.

    References
    ----------
    RankJudge, arXiv:2605.21748: with a complete table the difficulty of a pair depends
    on the number of judges that fail it alone.

    Notes
    -----
    Chapter: *Who is better?*

    Examples
    --------
    >>> item_difficulty([1.0, 0.0, -1.0], [1, 2]).round(3)
    array([ 0.803, -0.803])
    """
    theta, goal = floats("ratings", ratings), np.atleast_1d(floats("right", right))
    if theta.ndim != 1 or not np.isfinite(theta).all():
        raise ValidationError(
            f"ratings have shape {theta.shape} and {np.sum(~np.isfinite(theta))} that "
            "are missing or infinite; give one finite number per judge"
        )
    if goal.ndim != 1:
        raise ValidationError(
            f"right has shape {goal.shape}; give one number of right answers per item"
        )
    shape = (goal.size, theta.size)
    mask = np.ones(shape, bool)
    if answered is not None:
        said = array("answered", answered)
        if said.shape != shape or not np.isin(said, (0, 1)).all():
            raise ValidationError(
                f"answered has shape {said.shape}; give true or false for each of "
                f"{shape[0]} items × {shape[1]} judges"
            )
        mask = said.astype(bool)
    most = mask.sum(axis=1)
    if not ((goal > 0) & (goal < most)).all():
        wrong = np.flatnonzero(~((goal > 0) & (goal < most)))[:5]
        raise UndefinedStatistic(
            f"right is {goal[wrong].tolist()} of {most[wrong].tolist()} answers: "
            "the difficulty is infinite"
        )
    # The answer lies between what it would be if all judges were the best or the worst.
    odds = special.logit(goal / most)
    low = np.where(mask, theta, np.inf).min(axis=1) - odds
    high = np.where(mask, theta, -np.inf).max(axis=1) - odds
    delta = np.clip((mask @ theta) / most - odds, low, high)
    for _ in range(200):
        chance = mask * special.expit(theta - delta[:, None])
        excess = chance.sum(axis=1) - goal
        low, high = np.where(excess > 0, delta, low), np.where(excess > 0, high, delta)
        slope = (chance * (1 - chance)).sum(axis=1)
        step = np.divide(
            excess, slope, out=np.full_like(delta, np.inf), where=slope > 0
        )
        new = delta + step
        # Newton where it stays between the bounds, bisection where it does not.
        new = np.where((new >= low) & (new <= high), new, (low + high) / 2)
        moved = np.abs(new - delta).max(initial=0.0)
        delta = new
        if moved <= 1e-10:
            break
    return np.asarray(delta, np.float64)


def _spread(gap: Floats) -> Floats:
    """Variance of an answer at a gap: σ(gap)·σ(−gap)."""
    spread: Floats = special.expit(gap) * special.expit(-gap)
    return spread


def _read(
    scores: npt.ArrayLike, missing_code: int | None, *, whole: bool
) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
    """Return the scores with 0 for gaps, and who answered (None: everybody did)."""
    table = array("scores", scores, "a table of numbers, judges × items")
    if table.ndim != 2:
        raise ValidationError(
            f"scores has shape {table.shape}; give a table of numbers, judges × items"
        )
    if table.dtype.kind == "b":
        table = table.view(np.int8)
    answered = None
    if missing_code is not None and table.size and (table == missing_code).any():
        answered = table != missing_code
    elif table.dtype.kind == "f" and np.isnan(table).any():
        answered = ~np.isnan(table)
    if answered is not None:
        table = np.where(answered, table, table.dtype.type(0))
    allowed = "0 and 1" if whole else "numbers from 0 to 1"
    integers = table.dtype.kind in "iu"
    if table.size and (table.min() < 0 or table.max() > 1):
        bad = (table < 0) | (table > 1)
    elif whole and not integers:
        bad = (table != 0) & (table != 1)
    else:
        bad = np.zeros((1, 1), bool)
    if bad.any():
        places = np.argwhere(bad)[:5].tolist()
        values = table[bad][:5].tolist()
        raise ValidationError(
            f"scores holds {values} at {places}; allowed are {allowed}, and nan for a "
            "missing answer (or name a missing_code)"
        )
    return table, answered


def _identified(
    right: npt.NDArray[Any],
    answered: npt.NDArray[np.bool_] | None,
    judges: tuple[Any, ...],
    unidentified: Unidentified,
) -> tuple[Ints, dict[Hashable, str]]:
    """Keep the judges with finite ratings: i beats k where i did better on an item."""
    n, columns = right.shape
    beats = np.zeros((n, n))
    graph = beats_graph(n, [], [])
    # Arrows only ever come on top: a few hundred items mostly settle the question.
    for start in range(0, columns if n > 1 else 0, _FIRST_LOOK):
        block = slice(start, start + _FIRST_LOOK)
        part = right[:, block].astype(np.float64)
        met = np.ones_like(part) if answered is None else answered[:, block]
        # Score of i, times what k missed: positive where i has an edge over k.
        beats += part @ (met - part).T
        np.fill_diagonal(beats, 0)
        graph = beats_graph(n, *np.nonzero(beats > 0))
        if is_strongly_connected(graph):
            return np.arange(n), {}
    return keep_identified(graph, judges, unidentified, who="judges")


def _fold(
    right: npt.NDArray[Any], answered: npt.NDArray[np.bool_] | None
) -> tuple[_Rows, Ints, Ints, Floats]:
    """Fold items of one kind into rows.

    Returns the rows, the row of each item (−1 where it says nothing), the number of
    answers to each item, and the difficulties that are known without a fit (±inf, nan).
    """
    n, columns = right.shape
    total = right.sum(
        axis=0, dtype=np.int64 if right.dtype.kind in "iu" else np.float64
    )
    if answered is None:
        answers = np.full(columns, n)
        pattern = np.zeros(columns, np.int64)
        masks = np.ones((1, n), bool)
    else:
        answers = answered.sum(axis=0)
        packed = np.ascontiguousarray(np.packbits(answered, axis=0).T)
        kinds = packed.view(f"V{packed.shape[1]}")[:, 0]
        _, first, pattern = np.unique(kinds, return_index=True, return_inverse=True)
        masks = answered[:, first].T
    difficulty = np.full(columns, np.nan)
    difficulty[(total == answers) & (answers > 0)] = -np.inf
    difficulty[(total == 0) & (answers > 0)] = np.inf
    inside = (total > 0) & (total < answers)
    if answered is None and total.dtype.kind == "i":
        often = np.bincount(total[inside], minlength=n)
        levels = np.flatnonzero(often)
        place = np.full(n + 1, -1)
        place[levels] = np.arange(levels.size)
        item_row = np.where(inside, place[total], -1)
        return (
            _Rows(
                np.ones((levels.size, n), bool),
                levels.astype(np.float64),
                often[levels].astype(np.float64),
            ),
            item_row,
            answers,
            difficulty,
        )
    keys = np.column_stack([pattern[inside], total[inside]])
    kinds, where, often = np.unique(
        keys, axis=0, return_inverse=True, return_counts=True
    )
    item_row = np.full(columns, -1)
    item_row[inside] = where.ravel()
    rows = _Rows(
        masks[kinds[:, 0].astype(np.int64)],
        kinds[:, 1].astype(np.float64),
        often.astype(np.float64),
    )
    return rows, item_row, answers, difficulty


def _look(
    expect: Callable[[Floats, _Rows], _Expected], won: Floats, rows: _Rows, at: Floats
) -> tuple[Slope, _Expected]:
    expected = expect(at, rows)

    def solve(right: Floats, off: float) -> Floats:
        return _pinned_solve(expected.information, right)

    return Slope(won - rows.weight @ expected.right, solve), expected


def _pinned(information: Floats) -> Floats:
    """Fix the common shift, of which the information holds nothing."""
    pinned: Floats = information + np.trace(information) / information.shape[0] ** 2
    return pinned


def _pinned_solve(information: Floats, right: Floats) -> Floats:
    return solved(_pinned(information), right)


def _pinned_inverse(information: Floats) -> Floats:
    whole = solved(_pinned(information), np.eye(len(information)))
    inverse: Floats = whole - 1 / np.trace(information)
    return inverse


def _sandwich(
    information: Floats, meat: Floats, judges: tuple[Hashable, ...]
) -> Floats:
    refuse_no_spread(meat, information, judges)
    inverse = _pinned_inverse(information)
    covariance: Floats = inverse @ meat @ inverse
    return covariance


def _expect_joint(ratings: Floats, rows: _Rows) -> _Expected:
    """Chances of the judges, the difficulty of every row at its own maximum."""
    delta = item_difficulty(ratings, rows.total, rows.mask)
    chance = rows.mask * special.expit(ratings - delta[:, None])
    spread = rows.mask * _spread(ratings - delta[:, None])
    weighted = rows.weight[:, None] * spread
    information = np.diag(weighted.sum(axis=0))
    # What it costs that the difficulties follow the ratings.
    information -= (weighted / spread.sum(axis=1)[:, None]).T @ spread
    return _Expected(chance, information)


def _expect_conditional(ratings: Floats, rows: _Rows) -> _Expected:
    """Chances of the judges given how many are right, and their joint variation.

    With strengths s and γ_r the r-th elementary symmetric function of those who
    answered, judge i is right with probability π_r = sᵢ·γ_{r−1}(without i)/γ_r, and
    π_r = oᵣ(1 − π_{r−1}) with oᵣ = sᵢ·γ_{r−1}/γ_r. That recursion forgets its errors
    while oᵣ < 1; upwards of that, the same recursion for 1 − π, run down from the top,
    does. And P(i right, k wrong) = sᵢ(πᵢ − π_k)/(sᵢ − s_k): pairs need no sums of their
    own.
    """
    chance, change = _conditional_chances(ratings, rows)
    weighted = rows.weight[:, None] * rows.mask
    # Summed over the items which both answered: i's chance, and its derivative.
    both = (chance.T @ weighted).astype(np.float64)
    slope = (change.T @ weighted).astype(np.float64)
    gap = ratings[:, None] - ratings
    close = np.abs(gap) < _CLOSE
    rise = np.where(close, gap * (slope + slope.T) / 2, both - both.T)
    # Past e^700 the denominator is infinite anyway.
    safe = np.where(gap == 0, 1.0, np.maximum(gap, -700.0))
    # (πᵢ − π_k) / (1 − s_k/sᵢ); where the two meet, the derivative.
    ahead = np.where(gap == 0, (slope + slope.T) / 2, rise / -np.expm1(-safe))
    both_right = both - ahead
    covariance = both_right - chance.T @ (rows.weight[:, None] * chance)
    np.fill_diagonal(covariance, 0.0)
    np.fill_diagonal(covariance, -covariance.sum(axis=1))
    return _Expected(chance, covariance)


def _conditional_chances(ratings: Floats, rows: _Rows) -> tuple[Floats, Floats]:
    """Chance of each judge in each row, and its derivative by the judge's own rating.

    The derivative holds the symmetric functions fixed.
    """
    n = ratings.size
    total = rows.total.astype(np.int64)
    chance, change = np.empty(rows.mask.shape), np.empty(rows.mask.shape)
    if rows.mask.all():
        kinds, kind = rows.mask[:1], np.zeros(total.size, np.int64)
    else:
        kinds, kind = np.unique(rows.mask, axis=0, return_inverse=True)
        kind = kind.ravel()
    batch = max(1, _TABLE // (4 * n * (n + 1)))
    for start in range(0, len(kinds), batch):
        mask = kinds[start : start + batch]
        inside = (kind >= start) & (kind < start + batch)
        where, r = kind[inside] - start, total[inside]
        log_strength = np.where(mask, ratings, -np.inf)
        # log γ_0 … log γ_n by the summation algorithm, one judge after another.
        gamma = np.full((len(mask), n + 1), -np.inf)
        gamma[:, 0] = 0.0
        for i in range(n):
            gamma[:, 1 : i + 2] = np.logaddexp(
                gamma[:, 1 : i + 2], gamma[:, : i + 1] + log_strength[:, i : i + 1]
            )
        possible = np.isfinite(gamma[:, 1:])
        ratio = np.zeros(possible.shape)
        np.subtract(gamma[:, :-1], gamma[:, 1:], out=ratio, where=possible)
        # log oᵣ, shape (r, kinds, judges). Nobody is right more often than there are
        # judges: there o is infinite.
        log_odds = np.where(
            possible.T[:, :, None], ratio.T[:, :, None] + log_strength, np.inf
        )
        factor = np.exp(-np.abs(np.stack([log_odds, -log_odds[::-1]], axis=1)))
        up, up_change = _recursion(factor)
        climbing = log_odds[r - 1, where] <= 0
        chance[inside] = np.where(climbing, up[r, 0, where], 1 - up[n - r, 1, where])
        change[inside] = np.where(
            climbing, up_change[r, 0, where], up_change[n - r, 1, where]
        )
    chance *= rows.mask
    change *= rows.mask
    return chance, change


def _recursion(factor: Floats) -> tuple[Floats, Floats]:
    """Run z ← f·(1 − z) from 0, and the derivative of z by the logarithm of f."""
    steps = factor.shape[0]
    z = np.zeros((steps + 1, *factor.shape[1:]))
    change = np.zeros_like(z)
    for k in range(steps):
        np.subtract(1.0, z[k], out=z[k + 1])
        z[k + 1] *= factor[k]
        np.multiply(factor[k], change[k], out=change[k + 1])
        np.subtract(z[k + 1], change[k + 1], out=change[k + 1])
    return z, change


def _meat(
    right: npt.NDArray[Any],
    rows: _Rows,
    row: Ints,
    expected: Floats,
    group: Ints | None,
) -> tuple[Floats, int]:
    """Sum of the outer products of what clusters contribute to the gradient.

    An item contributes its right answers minus the expected ones. Also in the joint
    fit, where the difficulty of the item has a gradient too: that one is 0 at the
    maximum.
    """
    columns = right.shape[1]
    if group is None:
        products = _products(right)
        by_row = _sums(right, row, len(expected))
        cross = by_row.T @ expected
        spread = expected.T @ (rows.weight[:, None] * expected)
        meat: Floats = products - cross - cross.T + spread
        return meat, columns
    codes, group = np.unique(group, return_inverse=True)
    often = sparse.coo_array(
        (np.ones(columns), (group, row)), shape=(codes.size, len(expected))
    )
    scores = _sums(right, group, codes.size) - often.tocsr() @ expected
    meat = scores.T @ scores
    return meat, codes.size


def _products(right: npt.NDArray[Any]) -> Floats:
    """Sum over items of the product of every two judges' scores."""
    n, columns = right.shape
    if right.dtype.kind not in "iu":
        return np.asarray(right @ right.T, np.float64)
    # Both right: 64 items in one bitwise "and", a count of its bits.
    padded = np.zeros((n, -columns % 64 + columns), bool)
    padded[:, :columns] = right
    bits = np.packbits(padded, axis=1).view(np.uint64)
    products = np.zeros((n, n))
    for i in range(n):
        both = np.bitwise_count(bits[i] & bits[i:]).sum(axis=1, dtype=np.int64)
        products[i, i:] = products[i:, i] = both
    return products


def _sums(right: npt.NDArray[Any], label: Ints, count: int) -> Floats:
    """Right answers of every judge by label of the item, shape (labels, judges)."""
    return np.column_stack([np.bincount(label, judge, count) for judge in right])


def _mm(rows: _Rows, won: Floats, max_sweeps: int) -> Floats:
    """Iterate as the RankJudge code does; return the judges' strengths of each sweep.

    Judges first, items next with the new strengths of the judges, then all are divided
    by the mean over judges and items. Items of one kind stay equal to each other, so
    one of each is enough.
    """
    max_sweeps = whole("max_iterations", max_sweeps, least=1)
    judge, item = np.ones(won.size), np.ones(rows.weight.size)
    lost = rows.mask.sum(axis=1) - rows.total
    count = won.size + rows.weight.sum()
    trace = [judge]
    for _ in range(max_sweeps):
        new = won / (rows.weight @ (rows.mask / (judge + item[:, None])))
        new_item = lost / (rows.mask / (new + item[:, None])).sum(axis=1)
        mean = (new.sum() + rows.weight @ new_item) / count
        new, new_item = new / mean, new_item / mean
        change = max(np.abs(new - judge).max(), np.abs(new_item - item).max())
        judge, item = new, new_item
        trace.append(judge)
        if change < MM_CHANGE:
            break
    return np.array(trace)
