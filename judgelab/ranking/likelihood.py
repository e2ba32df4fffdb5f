"""The one core of the pairwise models: a likelihood of rating gaps, climbed by Newton.

Every model here says how likely the outcomes of a game are, given the *gap* between two
ratings (and, in two of them, one number for how easily the players tie). All are
concave, so Newton's method finds the one maximum; and all work on counts, so a million
games between a hundred players are 4,950 rows. Arrays carry the resamples of a
bootstrap as their last axis: a thousand fits are one fit with wider arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse, special

from judgelab._checks import whole
from judgelab.ranking.identify import refuse_no_spread
from judgelab.ranking.newton import (
    LAST_STEP,
    TOO_STEEP,
    Slope,
    climb,
    conjugate_gradients,
    rough,
    solved,
    solved_definite,
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

DENSE = 300
"""Up to this many players a Newton system is solved directly, above it by conjugate
gradients (measured: where the two take the same time)."""
_PANEL = 1 << 16
"""Cells of a table of pairs that are worked on at once: they stay in the cache."""


@dataclass(frozen=True)
class Games:
    """Every pair that met, once, with how often each outcome occurred.

    Parameters
    ----------
    n : int
        The number of players.
    i, j : ndarray of int, shape (pairs,)
        Positions of the two players, i < j.
    first, second, tied : ndarray, shape (pairs, resamples)
        Wins of i, wins of j, ties.
    """

    n: int
    i: Ints
    j: Ints
    first: Floats
    second: Floats
    tied: Floats

    @property
    def total(self) -> Floats:
        """Games of every pair, shape (pairs, resamples)."""
        total: Floats = self.first + self.second + self.tied
        return total

    @property
    def played(self) -> Floats:
        """Games of every player, first column, shape (n,)."""
        total = self.total[:, 0]
        played = np.bincount(self.i, total, self.n) + np.bincount(self.j, total, self.n)
        return np.asarray(played, np.float64)

    def incidence(self) -> Any:
        """Matrix (pairs × players) that turns ratings into gaps: +1 at i, −1 at j."""
        pairs = self.i.size
        columns = np.stack([self.i, self.j], axis=1).ravel()
        signs = np.tile([1.0, -1.0], pairs)
        starts = np.arange(0, 2 * pairs + 1, 2)
        return sparse.csr_array((signs, columns, starts), shape=(pairs, self.n))


class Derivatives(NamedTuple):
    """First and (negated) second derivatives of the log-likelihood of every pair."""

    gap: Floats
    curvature: Floats
    tie: Floats
    cross: Floats
    tie_curvature: Floats


class Scores(NamedTuple):
    """Derivatives of log P(outcome); first axis: i wins, j wins, tie."""

    gap: Floats
    tie: Floats


@dataclass(frozen=True)
class Family:
    """A model of one game.

    Parameters
    ----------
    title : str
        What the model is called in a result.
    has_ties : bool
        Whether the model has a parameter for ties.
    derivatives : callable
        ``(gap, tie, first, second, tied) -> Derivatives``.
    scores : callable
        ``(gap, tie) -> Scores``: the same first derivatives, one game at a time.
    start : callable
        ``(share of ties) -> tie``: the tie parameter if all players were equal.
    """

    title: str
    has_ties: bool
    derivatives: Callable[[Floats, Floats, Floats, Floats, Floats], Derivatives]
    scores: Callable[[Floats, Floats], Scores]
    start: Callable[[Floats], Floats]


_NONE = np.zeros(1)


def _bradley_terry(
    gap: Floats, tie: Floats, first: Floats, second: Floats, tied: Floats
) -> Derivatives:
    # A tie is half a win for each: the score stays unbiased, the variance does not.
    with np.errstate(over="ignore"):
        # As exact as scipy's expit here, and three times as fast.
        win = 1 / (1 + np.exp(-gap))
    expected = (first + second + tied) * win
    won = first + 0.5 * tied
    return Derivatives(won - expected, expected * (1 - win), _NONE, _NONE, _NONE)


def _bradley_terry_scores(gap: Floats, tie: Floats) -> Scores:
    win = special.expit(gap)
    return Scores(np.stack([1 - win, -win, 0.5 - win]), np.zeros((3, *gap.shape)))


def _davidson_shares(gap: Floats, tie: Floats) -> tuple[Floats, Floats, Floats]:
    # Softmax of (gap/2, −gap/2, tie), shifted so that nothing overflows.
    top = np.maximum(np.abs(gap) / 2, tie)
    first, second = np.exp(gap / 2 - top), np.exp(-gap / 2 - top)
    tied = np.exp(tie - top)
    total = first + second + tied
    return first / total, second / total, tied / total


def _davidson(
    gap: Floats, tie: Floats, first: Floats, second: Floats, tied: Floats
) -> Derivatives:
    games = first + second + tied
    p, q, t = _davidson_shares(gap, tie)
    return Derivatives(
        0.5 * (first - second - games * (p - q)),
        0.25 * games * (p + q - (p - q) ** 2),
        tied - games * t,
        -0.5 * games * (p - q) * t,
        games * t * (1 - t),
    )


def _davidson_scores(gap: Floats, tie: Floats) -> Scores:
    p, q, t = _davidson_shares(gap, tie)
    lean = 0.5 * (p - q)
    return Scores(np.stack([0.5 - lean, -0.5 - lean, -lean]), np.stack([-t, -t, 1 - t]))


def _rao_kupper(
    gap: Floats, tie: Floats, first: Floats, second: Floats, tied: Floats
) -> Derivatives:
    # A tie is "not lost" for both: log P(tie) = log σ(gap − κ) + log σ(−gap − κ)
    # + log(e^2κ − 1), so ties add to the wins of both sides.
    p, q = special.expit(gap - tie), special.expit(-gap - tie)
    up, down = (first + tied) * (1 - p), (second + tied) * (1 - q)
    bend_up, bend_down = up * p, down * q
    # A step may lead below 0, where there is nothing; it is taken back.
    with np.errstate(over="ignore", invalid="ignore"):
        room = -np.expm1(-2 * tie)
        bend = 4 * np.exp(-2 * tie) / room**2
    return Derivatives(
        up - down,
        bend_up + bend_down,
        tied * 2 / room - up - down,
        bend_down - bend_up,
        bend_up + bend_down + tied * bend,
    )


def _rao_kupper_scores(gap: Floats, tie: Floats) -> Scores:
    p, q = special.expit(gap - tie), special.expit(-gap - tie)
    room = -np.expm1(-2 * tie)
    return Scores(
        np.stack([1 - p, q - 1, q - p]),
        np.stack([p - 1, q - 1, 2 / room - (1 - p) - (1 - q)]),
    )


def _no_start(share: Floats) -> Floats:
    return np.zeros_like(share)


def _davidson_start(share: Floats) -> Floats:
    start: Floats = np.log(2 * share / (1 - share))
    return start


def _rao_kupper_start(share: Floats) -> Floats:
    start: Floats = 2 * np.arctanh(share)
    return start


BRADLEY_TERRY = Family(
    "Bradley–Terry", False, _bradley_terry, _bradley_terry_scores, _no_start
)
DAVIDSON = Family("Davidson", True, _davidson, _davidson_scores, _davidson_start)
RAO_KUPPER = Family(
    "Rao–Kupper", True, _rao_kupper, _rao_kupper_scores, _rao_kupper_start
)


@dataclass(frozen=True)
class Maximum:
    """Where the climb ended, one column per resample."""

    ratings: Floats
    tie: Floats
    gradient: Floats
    iterations: int
    converged: npt.NDArray[np.bool_]


def maximise(
    games: Games,
    family: Family,
    *,
    precision: float,
    tolerance: float,
    max_iterations: int,
    start: tuple[Floats, Floats] | None = None,
) -> Maximum:
    """Climb to the maximum of the log-likelihood by Newton's method.

    Parameters
    ----------
    games : Games
        The counts, one column per resample.
    family : Family
        The model.
    precision : float
        1/variance of a normal prior on every rating; 0 for maximum likelihood.
    tolerance : float
        Stop when every player's wins differ from what the ratings expect by no more
        than this share of the player's games.
    max_iterations : int
        Evaluations of the derivatives at most.
    start : pair of ndarray, optional
        Ratings (players, resamples) and tie parameters (resamples,) to start from.

    Returns
    -------
    Maximum
        Ratings with mean 0 in every column.
    """
    max_iterations = whole("max_iterations", max_iterations, least=1)
    incidence = games.incidence()
    gather = incidence.T
    total = games.total
    touch = abs(gather)
    played = touch @ total
    # A player without games (in a resample, under a prior) is held by the prior alone.
    allowed = tolerance * np.maximum(precision, played)
    everything = np.maximum(precision, total.sum(axis=0))
    if start is None:
        won = 0.5 * (gather @ (games.first - games.second) + played)
        ratings = first_guess(won, played)
        share = games.tied.sum(axis=0) / everything
        tie = family.start(share) if family.has_ties else np.zeros(total.shape[1])
    else:
        ratings, tie = start[0].copy(), start[1].copy()
    ratings -= ratings.mean(axis=0)

    step = np.full_like(ratings, np.inf)
    tie_step = np.zeros_like(tie)
    slope = np.full(tie.shape, np.inf)
    for iteration in range(1, max_iterations + 1):
        d = family.derivatives(
            incidence @ ratings, tie, games.first, games.second, games.tied
        )
        gradient = gather @ d.gap - precision * ratings
        tie_gradient = d.tie.sum(axis=0) if family.has_ties else np.zeros_like(tie)
        # One row per player: how far wins and expected wins are apart, in tolerances.
        off = np.max(np.abs(gradient) / allowed, axis=0)
        off = np.maximum(off, np.abs(tie_gradient) / (tolerance * everything))
        done = (off <= 1) & (np.abs(step).max(axis=0) <= LAST_STEP)
        if done.all() or iteration == max_iterations:
            break
        # Steps that went too far are halved.
        too_far = np.zeros_like(done)
        if iteration > 1:
            ahead = (gradient * step).sum(axis=0) + tie_gradient * tie_step
            too_far = ~(ahead >= TOO_STEEP * slope) & ~done
        newton, tie_newton = _newton_step(
            games,
            family,
            (incidence, gather, touch),
            d,
            gradient,
            tie_gradient,
            precision,
            off,
            too_far,
        )
        slope = np.where(
            too_far,
            slope / 2,
            (gradient * newton).sum(axis=0) + tie_gradient * tie_newton,
        )
        ratings += np.where(too_far, -step / 2, newton)
        tie = tie + np.where(too_far, -tie_step / 2, tie_newton)
        step = np.where(too_far, step / 2, newton)
        tie_step = np.where(too_far, tie_step / 2, tie_newton)
    return Maximum(
        ratings - ratings.mean(axis=0),
        tie,
        np.max(np.abs(gradient), axis=0),
        iteration,
        done,
    )


def first_guess(won: Floats, played: Floats) -> Floats:
    """Guess ratings from shares of games won: right if all others are equal.

    Others that are equal have, with a mean of 0, −1/(n − 1) of one's own rating.
    """
    n = len(won)
    guess: Floats = special.logit((won + 0.5) / (played + 1)) * (n - 1) / n
    return guess


def _stretched(guess: Floats) -> Floats:
    """Stretch a guess that took all others for equal.

    Against normal opponents of variance v a player's chance is about that against
    equals of one who is √(1 + πv/8) times weaker or less strong; here v is the guess's
    own variance, stretched too. Past a variance of 1 more would often be too much.
    """
    stretched: Floats = guess / np.sqrt(1 - np.pi / 8 * min(guess.var(), 1.0))
    return stretched


def _newton_step(
    games: Games,
    family: Family,
    graph: tuple[Any, Any, Any],
    d: Derivatives,
    gradient: Floats,
    tie_gradient: Floats,
    precision: float,
    off: Floats,
    skip: npt.NDArray[np.bool_],
) -> tuple[Floats, Floats]:
    """Solve the Newton system, the tie parameter (if any) by elimination.

    What is found for the columns to skip has no meaning: far out there may be no
    curvature left to divide by.
    """
    bend = np.where(skip, 1.0, d.curvature)
    right = gradient[:, :, None]
    if family.has_ties:
        right = np.stack([gradient, graph[1] @ d.cross], axis=2)
    if games.n <= DENSE or gradient.shape[1] > 1:
        answer = _solve_dense(games, bend, right, precision)
    else:
        incidence, gather, touch = graph
        curvature = bend[:, 0]
        columns = [
            conjugate_gradients(
                lambda x: gather @ (curvature * (incidence @ x)) + precision * x,
                touch @ curvature + precision,
                b,
                rough(float(off.max())),
            )
            for b in right[:, 0].T
        ]
        answer = np.stack(columns, axis=1)[:, None, :]
    if not family.has_ties:
        return answer[:, :, 0], np.zeros_like(tie_gradient)
    cross = right[:, :, 1]
    room = d.tie_curvature.sum(axis=0) - (cross * answer[:, :, 1]).sum(axis=0)
    room = np.where(skip, 1.0, room)
    tie_step = (tie_gradient - (cross * answer[:, :, 0]).sum(axis=0)) / room
    return answer[:, :, 0] - answer[:, :, 1] * tie_step, tie_step


def distance_to_top(games: Games, ratings: Floats) -> float:
    """Say how far, in logits, a Newton step would still move a rating."""
    incidence = games.incidence()
    d = _bradley_terry(
        (incidence @ ratings)[:, None], _NONE, games.first, games.second, games.tied
    )
    right = (incidence.T @ d.gap)[:, :, None]
    return float(np.abs(_solve_dense(games, d.curvature, right, 0.0)).max())


def laplacian(n: int, i: Ints, j: Ints, weight: Floats) -> Floats:
    """Add up weight·(e_i − e_j)(e_i − e_j)ᵀ: shape (resamples, n, n)."""
    matrix = np.zeros((weight.shape[1], n, n))
    matrix[:, i, j] = -weight.T
    matrix += matrix.transpose(0, 2, 1)
    diagonal = np.arange(n)
    matrix[:, diagonal, diagonal] = -matrix.sum(axis=2)
    return matrix


def _solve_dense(
    games: Games, curvature: Floats, right: Floats, precision: float
) -> Floats:
    matrix = laplacian(games.n, games.i, games.j, curvature)
    # A common shift of all ratings changes nothing, or little under a weak prior: pin
    # it. The right-hand side has no such part, so the solution is not touched.
    matrix += (np.trace(matrix, axis1=1, axis2=2) / games.n**2)[:, None, None]
    matrix += precision * np.eye(games.n)
    return solved(matrix, right.transpose(1, 0, 2)).transpose(1, 0, 2)


def maximise_table(
    won: Floats,
    met: Floats,
    *,
    precision: float,
    tolerance: float,
    max_iterations: int,
) -> Maximum:
    """Climb as `maximise` does, on a full table of pairs instead of a list of them.

    Where most players have met, a table needs no bookkeeping: its rows add up as they
    are.

    Parameters
    ----------
    won : ndarray, shape (n,)
        Wins of every player, ties counted as halves.
    met : ndarray, shape (n, n)
        Games of every pair, symmetric.
    precision, tolerance, max_iterations
        As for `maximise`.
    """
    n = won.size
    played = met.sum(axis=1)
    weight = np.empty((n, n))
    rows = max(1, _PANEL // n)
    both = np.empty((min(rows, n), n))

    def look(ratings: Floats) -> tuple[Slope, None]:
        # A chance is s/(s + t), its slope st/(s + t)². Past e^±300 it is 0 or 1 anyway.
        strength = np.exp(np.clip(ratings, -300, 300))
        one = np.ones(n)
        left, right = np.stack([strength, one], axis=1), np.stack([one, strength])
        expected, bend = np.empty(n), np.empty(n)
        for start in range(0, n, rows):
            part = slice(start, start + rows)
            panel = weight[part]
            # As a product of matrices, s + t of every pair is made fastest.
            total = np.matmul(left[part], right, out=both[: len(panel)])
            np.divide(met[part], total, out=panel)
            np.matmul(panel, one, out=expected[part])
            np.divide(panel, total, out=panel)
            np.matmul(panel, strength, out=bend[part])
        gradient = won - strength * expected - precision * ratings
        diagonal = strength * bend + precision

        def solve(right: Floats, off: float) -> Floats:
            if n <= DENSE:
                # The common shift is pinned as in `_solve_dense`.
                matrix = weight * strength
                matrix *= -strength[:, None]
                matrix += diagonal.sum() / n**2
                matrix.flat[:: n + 1] += diagonal
                return solved_definite(matrix, right)
            return conjugate_gradients(
                lambda x: diagonal * x - strength * (weight @ (strength * x)),
                diagonal,
                right,
                rough(off),
            )

        return Slope(gradient, solve), None

    allowed = tolerance * np.maximum(precision, played)
    ratings, gradient, _, iterations = climb(
        _stretched(first_guess(won, played)), look, allowed, max_iterations
    )
    return Maximum(
        (ratings - ratings.mean())[:, None],
        np.zeros(1),
        np.array([np.abs(gradient).max()]),
        iterations,
        np.array([True]),
    )


def parameter_covariance(
    games: Games,
    family: Family,
    ratings: Floats,
    tie: float,
    *,
    precision: float,
    kind: str,
    players: Sequence[Hashable],
    by_cluster: tuple[Any, Any] | None = None,
    small_sample: bool = False,
) -> Floats:
    """Covariance of the ratings (mean 0) and, last, of the tie parameter.

    Parameters
    ----------
    games : Games
        The counts, one column.
    family : Family
        The model.
    ratings : ndarray, shape (n,)
        The estimate.
    tie : float
        The estimated tie parameter; ignored by a model without one.
    precision : float
        1/variance of the prior; 0 for none.
    kind : {"model", "sandwich", "cluster"}
        Inverse information; the same around the spread of the scores of single games;
        or around that of the scores of clusters.
    players : sequence of length n
        Their names, for the message where there is no spread.
    by_cluster : pair of coo_array, shape (clusters, n, n), optional
        Wins and ties of every cluster.
    small_sample : bool, default False
        Multiply by G / (G − 1), G the number of clusters.

    Returns
    -------
    ndarray, shape (n, n) or (n + 1, n + 1)
        In the gauge in which the ratings sum to 0.
    """
    n = games.n
    gap = (ratings[games.i] - ratings[games.j])[:, None]
    kappa = np.array([tie])
    d = family.derivatives(gap, kappa, games.first, games.second, games.tied)
    size = n + family.has_ties
    bread = np.zeros((size, size))
    bread[:n, :n] = laplacian(n, games.i, games.j, d.curvature)[0]
    pinned = np.trace(bread)
    bread[:n, :n] += precision * np.eye(n)
    if family.has_ties:
        cross = games.incidence().T @ d.cross[:, 0]
        bread[n, :n] = bread[:n, n] = cross
        bread[n, n] = d.tie_curvature.sum()
    # The common shift, pinned as in `_solve_dense`, is taken out again.
    bread[:n, :n] += pinned / n**2
    inverse = solved_definite(bread, np.eye(size))
    inverse[:n, :n] -= 1 / (pinned + n * precision)
    if kind == "model":
        return inverse
    if kind == "sandwich":
        meat = _meat_of_games(games, family, gap, kappa)
    else:
        assert by_cluster is not None
        scores = _cluster_scores(by_cluster, family, ratings, kappa)
        meat = (scores.T @ scores).toarray()
        if small_sample:
            groups = scores.shape[0]
            meat *= groups / (groups - 1)
    refuse_no_spread(meat[:n, :n], bread[:n, :n], players)
    covariance: Floats = inverse @ meat @ inverse
    return covariance


def _meat_of_games(games: Games, family: Family, gap: Floats, tie: Floats) -> Floats:
    """Sum of the outer products of the scores of single games."""
    n = games.n
    counts = np.stack([games.first, games.second, games.tied])
    scores = family.scores(gap, tie)
    weight = (counts * scores.gap**2).sum(axis=0)
    meat = np.zeros((n + family.has_ties, n + family.has_ties))
    meat[:n, :n] = laplacian(n, games.i, games.j, weight)[0]
    if family.has_ties:
        cross = (counts * scores.gap * scores.tie).sum(axis=(0, 2))
        meat[n, :n] = meat[:n, n] = games.incidence().T @ cross
        meat[n, n] = (counts * scores.tie**2).sum()
    return meat


def _cluster_scores(
    by_cluster: tuple[Any, Any], family: Family, ratings: Floats, tie: Floats
) -> Any:
    """Score of every cluster, shape (clusters, n or n + 1), sparse."""
    clusters, n, _ = by_cluster[0].shape
    parts = []
    for outcome, counts in zip((0, 2), by_cluster, strict=True):
        group, a, b = counts.coords
        keep = a < b if outcome == 2 else a != b
        group, a, b, times = group[keep], a[keep], b[keep], counts.data[keep]
        scores = family.scores(ratings[a] - ratings[b], tie)
        gap, ties = times * scores.gap[outcome], times * scores.tie[outcome]
        parts += [(group, a, gap), (group, b, -gap)]
        if family.has_ties:
            parts.append((group, np.full(a.size, n), ties))
    rows, columns, values = (np.concatenate(x) for x in zip(*parts, strict=True))
    shape = (clusters, n + family.has_ties)
    return sparse.coo_array((values, (rows, columns)), shape=shape).tocsr()
