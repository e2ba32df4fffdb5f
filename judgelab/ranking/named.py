"""Tables of wins as people have them at hand: with names on them, or without."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from judgelab.counts import WinMatrix
from judgelab.errors import ValidationError


def names_on(table: Any) -> tuple[list[Any] | None, list[Any] | None]:
    """Read the names of rows and columns off a dataframe; there are none elsewhere."""
    if hasattr(table, "index") and hasattr(table, "columns"):
        return list(table.index), list(table.columns)
    return None, None


def unpacked(
    wins: Any, ties: Any, players: Sequence[Hashable] | None
) -> tuple[Any, Any, Sequence[Hashable] | None]:
    """Take the names, and the ties, from what was counted with them.

    A `judgelab.counts.WinMatrix` holds all three; a dataframe has names on its rows and
    columns, which must be the same players in the same order.
    """
    if isinstance(wins, WinMatrix):
        if ties is not None:
            raise ValidationError(
                "a WinMatrix holds its ties already; leave out ties=, or pass its wins "
                "and other ties"
            )
        if players is not None and list(players) != wins.models:
            raise ValidationError(
                f"the WinMatrix counts {wins.models[:5]}, but the players are "
                f"{list(players)[:5]}; leave out players="
            )
        return wins.wins, wins.ties, wins.models
    for name, table in (("wins", wins), ("ties", ties)):
        rows, columns = names_on(table)
        if rows is None or columns is None:
            continue
        if rows != columns:
            raise ValidationError(
                f"{name} has rows {rows[:5]} and columns {columns[:5]}; both must be "
                "the same players in the same order: reindex(index=…, columns=…, "
                "fill_value=0); records of games are counted by "
                "judgelab.counts.win_matrix"
            )
        if players is None:
            players = rows
        elif list(players) != rows and rows != list(range(len(rows))):
            raise ValidationError(
                f"{name} has rows {rows[:5]}, but the players are {list(players)[:5]}"
            )
    return wins, ties, players


def checked_names(argument: str, names: Any, n: int, table: str) -> tuple[Any, ...]:
    """Return n different names; 0 … n−1 if there are none."""
    if names is None:
        return tuple(range(n))
    if isinstance(names, np.ndarray):
        # Plain words and numbers, which read well in messages.
        names = names.tolist()
    try:
        result = tuple(names)
        different = len(set(result))
    except TypeError:
        raise ValidationError(
            f"{argument} is {names!r}; give a sequence of {n} names"
        ) from None
    if len(result) != n or different != n:
        raise ValidationError(
            f"{argument} has {len(result)} names, {different} of them different; "
            f"{table} has {n}"
        )
    return result
