"""Counting wins: what it says, and what it leaves out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from judgelab._checks import floats
from judgelab.errors import ValidationError
from judgelab.estimate import Estimate
from judgelab.intervals import from_standard_error, proportion
from judgelab.ranking.named import checked_names, unpacked

Floats = npt.NDArray[np.float64]
Ties = Literal["loss", "half", "drop"]


def win_rate(
    wins: Any,
    *,
    ties: Any = None,
    tie_policy: Ties | None = None,
    players: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> dict[Hashable, Estimate]:
    """Which share of its games does each player win?

    Parameters
    ----------
    wins : array_like of shape (n, n), dataframe or WinMatrix
        ``wins[i, j]``: how often i beat j; names and ties as for `bradley_terry`.
    ties : array_like, shape (n, n), optional
        Symmetric: how often i and j tied.
    tie_policy : {"loss", "half", "drop"}
        Must be named if there are ties. "loss": a tie is a game not won (MT-bench,
        Table 7 and its win rates); "half": half a win; "drop": no game.
    players : sequence of length n, optional
        Names; 0 … n−1 unless given.
    level : float, default 0.95
        Nominal coverage.

    Returns
    -------
    dict of player -> Estimate
        With Wilson's interval; undefined for a player without games.

    Raises
    ------
    ValidationError
        If the tables are not square tables of counts, or there are ties and no policy.

    Notes
    -----
    A win rate depends on whom a player met: it ranks players fairly only if all met the
    same opponents equally often. Chapter: *Who is better?*

    Examples
    --------
    >>> win_rate([[0, 60], [40, 0]], players=["new", "old"])["new"]
    0.600 [0.502, 0.691] (n = 100, Wilson)
    """
    won, games, names = _read(wins, ties, tie_policy, players)
    result: dict[Hashable, Estimate] = {}
    for name, w, g in zip(names, won.sum(axis=1), games.sum(axis=1), strict=True):
        if g % 1:
            raise ValidationError(
                f"{name!r} has {g:g} games; a share needs a whole number of them"
            )
        result[name] = (
            proportion(float(w), int(g), level=level)
            if g
            else Estimate.undefined("no games", 0)
        )
    return result


def average_win_rate(
    wins: Any,
    *,
    ties: Any = None,
    tie_policy: Ties | None = None,
    players: Sequence[Hashable] | None = None,
    level: float = 0.95,
) -> dict[Hashable, Estimate]:
    """Which share of its games does each player win, all opponents weighted alike?

    Parameters
    ----------
    wins, ties, tie_policy, players, level
        As in `win_rate`.

    Returns
    -------
    dict of player -> Estimate
        Plain mean over the opponents met. The spread of each share is taken where one
        win and one loss more would put it, so that 10 of 10 does not pass for certain.

    Raises
    ------
    ValidationError
        As `win_rate`.

    References
    ----------
    MT-bench, arXiv:2306.05685, Table 7 (the mean); Agresti & Caffo (2000), *The
    American Statistician* 54 (the added win and loss).

    Notes
    -----
    Chapter: *Who is better?*

    Examples
    --------
    >>> average_win_rate([[0, 9, 30], [1, 0, 50], [70, 50, 0]])[0]
    0.600 [0.476, 0.724] (n = 110, mean over 2 opponents)
    """
    won, games, names = _read(wins, ties, tie_policy, players)
    result: dict[Hashable, Estimate] = {}
    for name, w, g in zip(names, won, games, strict=True):
        met = g > 0
        if not met.any():
            result[name] = Estimate.undefined("no games", 0)
            continue
        share = w[met] / g[met]
        cautious = (w[met] + 1) / (g[met] + 2)
        variance = (cautious * (1 - cautious) / g[met]).sum() / met.sum() ** 2
        result[name] = from_standard_error(
            float(share.mean()),
            float(np.sqrt(variance)),
            int(g.sum()),
            f"mean over {met.sum()} opponents",
            level=level,
            bounds=(0, 1),
        )
    return result


def _read(
    wins: Any,
    ties: Any,
    tie_policy: Ties | None,
    players: Sequence[Hashable] | None,
) -> tuple[Floats, Floats, tuple[Any, ...]]:
    """Return wins and games under the policy, and the names."""
    wins, ties, players = unpacked(wins, ties, players)
    won = square_counts("wins", wins)
    tied = np.zeros_like(won) if ties is None else square_counts("ties", ties)
    n = len(won)
    if tied.shape != won.shape or not np.array_equal(tied, tied.T):
        raise ValidationError(
            "ties must be symmetric and as large as wins: ties[i, j] and ties[j, i] "
            "both say how often i and j tied"
        )
    if (tied.any() or tie_policy is not None) and tie_policy not in (
        "loss",
        "half",
        "drop",
    ):
        raise ValidationError(
            f"there are {tied.sum() / 2:,.0f} ties and tie_policy is {tie_policy!r}; "
            "choose 'loss', 'half' or 'drop'"
        )
    names = checked_names("players", players, n, "wins")
    games = won + won.T
    if tie_policy != "drop":
        games = games + tied
    if tie_policy == "half":
        won = won + tied / 2
    return won, games, names


def square_counts(name: str, counts: Any) -> Floats:
    """Return a dense table of counts among n players, or say why it is none."""
    if sparse.issparse(counts) and counts.ndim == 2:
        counts = counts.toarray()
    table = floats(name, counts)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise ValidationError(
            f"{name} has shape {table.shape}; give a square table, players × players"
            + (" (a sum over clusters has no clusters)" if table.ndim == 3 else "")
        )
    wrong = np.argwhere(~((table >= 0) & (table < np.inf)))[:5]
    if wrong.size:
        values = [float(table[i, j]) for i, j in wrong]
        raise ValidationError(
            f"{name} holds {values} at {wrong.tolist()}; counts are finite and not "
            "negative"
        )
    if table.diagonal().any():
        raise ValidationError(f"{name} has games of a player against itself")
    return table
