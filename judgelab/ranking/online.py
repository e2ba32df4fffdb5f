"""Elo: ratings that follow the games one by one, and so depend on their order."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from judgelab._checks import check_real, floats, random_generator, whole
from judgelab.counts import player_codes
from judgelab.errors import ValidationError
from judgelab.intervals import Rng
from judgelab.ranking.result import ELO_ORIGIN

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_CERTAIN = 300.0
"""Past odds of 10^300 to one a result is certain, and powers of ten end soon."""
SCALE = 400.0
"""A lead of so many points means expected odds of ten to one."""


def elo(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    scores: npt.ArrayLike,
    *,
    players: int | Sequence[Hashable],
    k: float = 32.0,
    initial: float = ELO_ORIGIN,
    history: bool = False,
) -> Floats:
    """Which ratings do the games leave behind, played in the given order?

    After each game the rating of the first player moves by k·(score − expected score),
    that of the second by as much the other way.

    Parameters
    ----------
    first, second : array_like, shape (games,)
        The players of each game, by name or position.
    scores : array_like, shape (games,)
        Score of the first player: 1 won, ½ tied, 0 lost.
    players : int or sequence
        The names of all players, or their number.
    k : float, default 32
        Points at stake in a game, 0 or more. Small: slow and smooth; large: quick and
        restless.
    initial : float, default 1500
        Where everybody starts.
    history : bool, default False
        Return the ratings after every game, from the start on.

    Returns
    -------
    ndarray, shape (n,) or (games + 1, n)
        In Elo points; the mean stays at `initial`.

    Raises
    ------
    ValidationError
        If the arrays are not aligned, a player is unknown, or a score is not in [0, 1].

    References
    ----------
    Elo (1978), *The Rating of Chessplayers, Past and Present*.

    Notes
    -----
    There is no interval here: the last ratings of one order are a snapshot of a walk
    that never comes to rest. `elo_orders` shows how far it wanders, `bradley_terry`
    gives the point that it wanders about. Chapter: *Who is better?*

    Examples
    --------
    >>> elo(["new", "new"], ["old", "old"], [1, 0], players=["new", "old"])
    array([1498.53049847, 1501.46950153])
    """
    a, b, score, n = _read(first, second, scores, players)
    _check_points(k, initial)
    ratings = [float(initial)] * n
    path = [list(ratings)]
    for i, j, s in zip(a.tolist(), b.tolist(), score.tolist(), strict=True):
        gap = min((ratings[j] - ratings[i]) / SCALE, _CERTAIN)
        moved = k * (s - 1.0 / (1.0 + 10.0**gap))
        ratings[i] += moved
        ratings[j] -= moved
        if history:
            path.append(list(ratings))
    return np.array(path if history else ratings)


def elo_orders(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    scores: npt.ArrayLike,
    *,
    players: int | Sequence[Hashable],
    k: float = 32.0,
    initial: float = ELO_ORIGIN,
    orders: int = 100,
    rng: Rng,
) -> Floats:
    """How much of an Elo rating is the order in which the games were played?

    Parameters
    ----------
    first, second, scores, players, k, initial
        As in `elo`.
    orders : int, default 100
        Random orders to play the same games in.
    rng : Generator or int
        Draws the orders.

    Returns
    -------
    ndarray, shape (orders, n)
        Final ratings of each order. The games are the same in every row: the spread of
        a column is due to nothing but order.

    Raises
    ------
    ValidationError
        As `elo`.

    Notes
    -----
    Chapter: *Who is better?*

    Examples
    --------
    >>> games = [1] * 60 + [0] * 40
    >>> final = elo_orders([0] * 100, [1] * 100, games, players=2, orders=500, rng=1)
    >>> final.mean(axis=0).round(), final.std(axis=0).round()
    (array([1538., 1462.]), array([34., 34.]))
    """
    a, b, score, n = _read(first, second, scores, players)
    _check_points(k, initial)
    orders, generator = whole("orders", orders, least=1), random_generator(rng)
    shuffled = generator.permuted(np.tile(np.arange(a.size), (orders, 1)), axis=1).T
    ratings = np.full((orders, n), float(initial))
    row = np.arange(orders)
    for game in np.ascontiguousarray(shuffled):
        i, j = a[game], b[game]
        gap = np.minimum((ratings[row, j] - ratings[row, i]) / SCALE, _CERTAIN)
        moved = k * (score[game] - 1.0 / (1.0 + 10.0**gap))
        ratings[row, i] += moved
        ratings[row, j] -= moved
    return ratings


def _check_points(k: float, initial: float) -> None:
    check_real(k=k, initial=initial)
    if not 0 <= k < math.inf or not math.isfinite(initial):
        raise ValidationError(
            f"k is {k!r} and initial {initial!r}; give finite points, k not below 0"
        )


def _read(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    scores: npt.ArrayLike,
    players: int | Sequence[Hashable],
) -> tuple[Ints, Ints, Floats, int]:
    a, n = player_codes(first, players, "first")
    b, _ = player_codes(second, players, "second")
    score = floats("scores", scores)
    if not a.shape == b.shape == score.shape or a.ndim != 1:
        raise ValidationError(
            f"first, second and scores have shapes {a.shape}, {b.shape} and "
            f"{score.shape}; give one of each per game"
        )
    wrong = np.flatnonzero(~((score >= 0) & (score <= 1)) | (a == b))[:5]
    if wrong.size:
        raise ValidationError(
            f"games {wrong.tolist()}: scores {score[wrong].tolist()}, players "
            f"{a[wrong].tolist()} and {b[wrong].tolist()}; a score lies between 0 and "
            "1, and nobody plays against itself"
        )
    return a, b, score, n
