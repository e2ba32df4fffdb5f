"""Is there a finite answer at all? Asked of the graph of games before any number.

Draw an arrow from everyone who won a game to the one who lost it. If the players fall
into groups that never met, no common scale exists. If there is a group that was never
beaten from outside, its lead is infinite: the likelihood rises for ever as the group
moves away. A unique finite maximum exists exactly when every player can be reached from
every other along the arrows (Ford 1957); a tie is an arrow both ways.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from judgelab.errors import (
    Disconnected,
    Separated,
    UndefinedStatistic,
    ValidationError,
)

Unidentified = Literal["raise", "largest"]


def beats_graph(n: int, winners: npt.ArrayLike, losers: npt.ArrayLike) -> Any:
    """Build the graph with an arrow from every winner to the loser, shape (n, n)."""
    winners, losers = np.asarray(winners), np.asarray(losers)
    ones = np.ones(winners.size, np.int8)
    return sparse.csr_array((ones, (winners, losers)), shape=(n, n))


def is_strongly_connected(beats: Any) -> bool:
    """Tell whether everybody is reached from everybody along the arrows."""
    count, _ = csgraph.connected_components(beats, connection="strong")
    return bool(count == 1)


def check_policy(unidentified: str) -> None:
    """Refuse a policy that there is not."""
    if unidentified not in ("raise", "largest"):
        raise ValidationError(
            f"unidentified is {unidentified!r}; choose 'raise' or 'largest'"
        )


def keep_identified(
    beats: Any,
    players: Sequence[Hashable],
    unidentified: Unidentified,
    *,
    who: str = "players",
) -> tuple[npt.NDArray[np.int64], dict[Hashable, str]]:
    """Find the players whose ratings are finite on one scale, or say who stands apart.

    Parameters
    ----------
    beats : sparse array, shape (n, n)
        Arrows from winners to losers.
    players : sequence of length n
        Their names, for the message.
    unidentified : {"raise", "largest"}
        Refuse, or keep the largest group of players with finite ratings: two or more.
    who : str, default "players"
        What the message calls them.

    Returns
    -------
    kept : ndarray of int
        Positions of the players to rate: all of them, or the largest group.
    left_out : dict
        For everyone else, the reason why there is no finite rating.

    Raises
    ------
    Disconnected
        If groups of players never met, or a player has no game.
    Separated
        If a group was never beaten, or never won, outside itself.
    """
    n = len(players)
    check_policy(unidentified)
    if n < 2:
        raise ValidationError(f"there are {n} {who}; a ranking needs two or more")
    count, group = csgraph.connected_components(
        beats, directed=True, connection="strong"
    )
    if count == 1:
        return np.arange(n), {}
    parts, part = csgraph.connected_components(beats, directed=False)
    way_out = (
        f"rate the {who} of one group by themselves, add games that join the groups, "
        'state a prior (prior=…), or pass unidentified="largest"'
    )
    if unidentified == "raise" or count == n:
        if parts > 1:
            raise Disconnected(
                f"the {who} fall into {parts} groups that never met: "
                f"{_groups(players, part, parts)}; no common scale exists: {way_out}"
            )
        arrows = beats.tocoo()
        between = group[arrows.row] != group[arrows.col]
        beaten = np.isin(np.arange(count), group[arrows.col[between]])
        winning = np.isin(np.arange(count), group[arrows.row[between]])
        told = []
        for flags, verb in ((~beaten, "lost"), (~winning, "won")):
            for g in np.flatnonzero(flags)[:3]:
                members = np.flatnonzero(group == g)
                where = " outside the group" if members.size > 1 else ""
                told.append(f"{_names(players, members)} never {verb} a game{where}")
        raise Separated(
            f"the maximum-likelihood ratings are infinite: {'; '.join(told)}. "
            f"No finite gap explains this: {way_out}"
        )
    sizes = np.bincount(group)
    kept = np.flatnonzero(group == sizes.argmax())
    met = part == part[kept[0]]
    reached = csgraph.breadth_first_order(
        beats, kept[0], directed=True, return_predecessors=False
    )
    below = np.isin(np.arange(n), reached)
    left_out = {}
    for k in np.setdiff1d(np.arange(n), kept):
        left_out[players[k]] = (
            "never met the rated group"
            if not met[k]
            else "infinitely below: never won against the rated group"
            if below[k]
            else "infinitely above: never lost to the rated group"
        )
    return kept, left_out


def ties_are_bounded(
    n: int, winners: npt.ArrayLike, losers: npt.ArrayLike, ties: tuple[Any, Any]
) -> bool:
    """Tell whether the tie parameter of Davidson or Rao–Kupper has a finite maximum.

    The likelihood rises for ever exactly when gaps can be found that are at least 1 in
    every game that was won and at most 1 in every game that was tied: then gaps and tie
    parameter grow together. Such gaps are potentials of a graph, and exist unless a
    cycle of games holds more wins than ties.
    """
    i, j = (np.asarray(x) for x in ties)
    winners, losers = np.asarray(winners), np.asarray(losers)
    matrix = np.full((n, n), np.inf)
    matrix[i, j] = matrix[j, i] = 1.0
    matrix[winners, losers] = -1.0
    try:
        csgraph.bellman_ford(
            csgraph.csgraph_from_dense(matrix, null_value=np.inf), indices=0
        )
    except csgraph.NegativeCycleError:
        return True
    return False


def refuse_few_clusters(clusters: int, n: int, who: str = "players") -> None:
    """Refuse clusters that are too few for the spread of n ratings.

    What the clusters contribute to the gradient sums to 0 at the maximum: G of them
    spread in G − 1 directions at most, and n ratings differ in n − 1. With fewer
    clusters than ratings some weighted difference would look certain.
    """
    if clusters < max(n, 2):
        raise ValidationError(
            f"{clusters} cluster{'' if clusters == 1 else 's'} cannot show how {n} "
            f"{who} spread: there must be as many clusters as {who}, and far more for "
            'good intervals; take smaller clusters, or interval="model", which knows '
            "of none"
        )


def refuse_no_spread(
    meat: npt.NDArray[np.float64],
    bread: npt.NDArray[np.float64],
    players: Sequence[Hashable],
) -> None:
    """Refuse a sandwich in which nothing is left of a player's spread.

    Where all games of a player (in every cluster) go exactly as the ratings expect, as
    ties between equals do, they show no spread; that is no certainty.
    """
    silent = np.flatnonzero(meat.diagonal() <= 1e-12 * bread.diagonal())
    if silent.size:
        raise UndefinedStatistic(
            f"the results of {_names(players, silent)} are exactly what the ratings "
            "expect, game by game or cluster by cluster: they show no spread to make "
            'an interval of; take interval="model"'
        )


def _groups(players: Sequence[Hashable], label: npt.NDArray[Any], count: int) -> str:
    shown = [_names(players, np.flatnonzero(label == g)) for g in range(min(count, 4))]
    more = f" and {count - 4} more" if count > 4 else ""
    return ", ".join(shown) + more


def _names(players: Sequence[Hashable], positions: npt.NDArray[np.int64]) -> str:
    names = [repr(players[k]) for k in positions[:5]]
    more = f", … ({positions.size} in all)" if positions.size > 5 else ""
    return f"[{', '.join(names)}{more}]"
