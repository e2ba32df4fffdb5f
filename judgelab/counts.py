"""Records become counts: the small tables that the statistics need, and nothing more.

The functions on arrays come first, those on frames after them. Labels are always read
on a *declared* scale: the categories that could have been given, in their order, and
not only those that happen to occur.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence, Set
from typing import Any, Literal, NamedTuple, NoReturn

import narwhals as nw
import numpy as np
import numpy.typing as npt
from scipy import sparse

from judgelab._checks import array, refuse_mask, whole
from judgelab._kernel import count_pairs
from judgelab.errors import ValidationError
from judgelab.verdict import Verdict, unswap

Scale = Sequence[Hashable] | npt.NDArray[Any]
"""Every category that could be given, in order."""

MOST_DENSE = 4096
"""Players up to whose number a table of all pairs is dense (128 MB)."""
_CHUNK = 1 << 16
"""Labels handled at a time: small enough for the temporaries to stay in the cache."""

_ITEMS = 1 << 12
"""Items handled at a time, for the same reason."""


def contingency_table(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    scale: Scale,
    missing: Literal["raise", "drop"] = "raise",
    clusters: npt.ArrayLike | None = None,
) -> npt.NDArray[np.int64]:
    """How often did two judges give each pair of labels?

    Parameters
    ----------
    first, second : array_like, shape (n,)
        The labels of the two judges, aligned: entry i of both is about the same item.
        Small integers (int8) on a scale 0, 1, …, k−1 are fastest.
    scale : sequence of length k
        The categories that could be given, in order, whether or not they occur.
    missing : {"raise", "drop"}, default "raise"
        What to do with a pair in which a label is missing (nan, None, NA): refuse, or
        leave the pair out. A missing label is never a category.
    clusters : array_like, shape (n,), optional
        What each pair belongs to (an item, a question) if pairs of one cluster are not
        independent of each other. The result is then one table per cluster.

    Returns
    -------
    ndarray of int64, shape (k, k) or (number of clusters, k, k)
        Rows are the labels of `first`, columns those of `second`, both in the order of
        `scale`; clusters in sorted order.

    Raises
    ------
    ValidationError
        If the arrays are not aligned (two Series have one index in two orders), a label
        is not on the scale, a label is missing and `missing` is "raise", or a cluster
        is missing.

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> contingency_table(["A", "B", "A"], ["A", "A", "A"], scale=["A", "B"])
    array([[2, 0],
           [1, 0]])
    """
    if missing not in ("raise", "drop"):
        raise ValidationError(f"missing is {missing!r}; choose 'raise' or 'drop'")
    _refuse_another_order(first, second)
    k = len(scale)
    a = encode(first, scale, name="first")
    b = encode(second, scale, name="second")
    if a.ndim != 1 or a.shape != b.shape:
        raise ValidationError(
            f"first has shape {a.shape} and second {b.shape}; "
            "give one label of each judge per item, in the same order"
        )
    groups, group = 1, None
    if clusters is not None:
        groups, group = cluster_codes(clusters, a.shape)
    elif (counts := count_pairs(a, b, k)) is not None:
        # None as well where a label is missing: its code, −1, is out of range.
        return counts
    # Row and column 0 take the pairs in which a label is missing (code −1).
    side, cells = k + 1, (k + 1) ** 2
    code = np.dtype(np.int8 if cells <= 127 and group is None else np.int64)
    flat = np.zeros(groups * cells, np.int64)
    step = max(_CHUNK, flat.size)
    for start in range(0, a.size, step):
        chunk = slice(start, start + step)
        cell = np.multiply(a[chunk], side, dtype=code, casting="unsafe")
        np.add(cell, b[chunk], out=cell, casting="unsafe")
        cell += code.type(side + 1)
        if group is not None:
            cell += group[chunk] * cells
        flat += np.bincount(cell, minlength=flat.size)
    table = flat.reshape(groups, side, side)
    complete = table[:, 1:, 1:]
    lost = a.size - int(complete.sum())
    if lost and missing == "raise":
        where = np.flatnonzero((a < 0) | (b < 0))[:5].tolist()
        raise ValidationError(
            f"{lost} of {a.size} pairs lack a label (positions {where}); "
            'pass missing="drop" to leave these pairs out'
        )
    return np.ascontiguousarray(complete if clusters is not None else complete[0])


def _refuse_another_order(first: npt.ArrayLike, second: npt.ArrayLike) -> None:
    """Refuse two Series that name the same items in different orders."""
    # Of all that can be passed only a pandas Series has such an index.
    one: Any = getattr(first, "index", None)
    two: Any = getattr(second, "index", None)
    if not (hasattr(one, "symmetric_difference") and hasattr(two, "equals")):
        return
    if one.size != two.size or one.equals(two):
        return
    if not one.symmetric_difference(two, sort=False).size:
        raise ValidationError(
            "first and second have the same index in different orders; align them "
            "(second.loc[first.index]), or pass arrays if the order is right"
        )


def cluster_codes(
    clusters: npt.ArrayLike, shape: tuple[int, ...]
) -> tuple[int, npt.NDArray[np.intp]]:
    """Count the clusters, and number them in sorted order."""
    values = np.asarray(_gaps_shown(clusters))
    if values.dtype.kind == "U" and not isinstance(clusters, np.ndarray):
        # NumPy has made words of whatever stood among words, None included.
        values = np.array(clusters, dtype=object)
    if values.shape != shape:
        raise ValidationError(
            f"clusters has shape {values.shape}, what it groups {shape}; "
            "give one cluster per unit"
        )
    gaps = np.flatnonzero(_missing(values))
    if gaps.size:
        raise ValidationError(
            f"clusters lacks {gaps.size} values (positions {gaps[:5].tolist()}); "
            "say for every unit what it belongs to"
        )
    try:
        labels, group = np.unique(values, return_inverse=True)
    except TypeError:
        kinds = sorted({type(value).__name__ for value in values.tolist()})
        raise ValidationError(
            f"clusters holds values of the types {', '.join(kinds)}, which have no "
            "common order; convert them to one type"
        ) from None
    return labels.size, group


def category_counts(
    ratings: npt.ArrayLike, *, scale: Scale, missing_code: int | None = None
) -> npt.NDArray[np.int64]:
    """How many raters put each item into each category?

    Parameters
    ----------
    ratings : array_like, shape (items, raters)
        One row per item, one column per rater; nan, None or NA where a rater gave
        nothing.
    scale : sequence of length k
        The categories that could be given, in order, whether or not they occur.
    missing_code : int, optional
        The integer that stands for "no rating" in a matrix of integers (often −1).

    Returns
    -------
    ndarray of int64, shape (items, k)
        Row sums are the numbers of ratings per item.

    Raises
    ------
    ValidationError
        If `ratings` is not a matrix or a rating is not on the scale.

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> category_counts([[1, 1, 2], [3, None, 3]], scale=[1, 2, 3])
    array([[2, 1, 0],
           [0, 0, 2]])
    """
    counts = count_by_category(ratings, scale=scale, missing_code=missing_code)
    return np.ascontiguousarray(counts.T, dtype=np.int64)


def count_by_category(
    ratings: npt.ArrayLike, *, scale: Scale, missing_code: int | None = None
) -> npt.NDArray[np.unsignedinteger[Any]]:
    """Count like `category_counts`, into the layout and type that are fastest.

    Returns
    -------
    ndarray of the smallest unsigned integers that hold the number of raters, (k, items)
        Cast before you multiply.

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> count_by_category([[1, 1, 2], [3, None, 3]], scale=[1, 2, 3])
    array([[2, 0],
           [1, 0],
           [0, 2]], dtype=uint8)
    """
    codes = encode(ratings, scale, name="ratings", missing_code=missing_code)
    if codes.ndim != 2:
        raise ValidationError(
            f"ratings has shape {codes.shape}; give a matrix of items × raters"
        )
    items, raters = codes.shape
    small = np.min_scalar_type(raters)
    counts = np.empty((len(scale), items), small)
    for start in range(0, items, _ITEMS):
        rows = slice(start, start + _ITEMS)
        # Raters first: the sums then run along contiguous rows.
        block = np.ascontiguousarray(codes[rows].T)
        for category, count in enumerate(counts[:, rows]):
            given = (block == category).view(np.uint8)
            np.add.reduce(given, axis=0, dtype=small, out=count)
    return counts


def win_counts(
    winners: npt.ArrayLike,
    losers: npt.ArrayLike,
    *,
    players: int | Sequence[Hashable],
    weights: npt.ArrayLike | None = None,
    clusters: npt.ArrayLike | None = None,
) -> Any:
    """How often did every player beat every other, from arrays?

    Parameters
    ----------
    winners, losers : array_like, shape (games,)
        Who won and who lost each game. Integers are fastest.
    players : int or sequence
        The names of all players, in the order of the rows; or their number n, if
        `winners` and `losers` are the positions 0 … n−1.
    weights : array_like, shape (games,), optional
        How often each row happened (rows that are counted already).
    clusters : array_like of int, shape (games,), optional
        The code 0 … G−1 of what each game belongs to (an item, an annotator), if games
        of one cluster are not independent. The result is then one matrix per cluster.

    Returns
    -------
    ndarray or sparse array
        ``[i, j]``: how often i beat j. An ndarray (n, n) up to 4,096 players, a
        csr_array beyond; with clusters a coo_array (clusters, n, n).

    Raises
    ------
    ValidationError
        If the arrays are not aligned, a name is not among the players, or a player
        meets itself.

    Notes
    -----
    Chapter: *Who is better?*

    Examples
    --------
    >>> win_counts(["new", "new", "old"], ["old", "old", "new"], players=["new", "old"])
    array([[0, 2],
           [1, 0]])
    """
    won, n = _codes(winners, players, "winners")
    lost, _ = _codes(losers, players, "losers")
    if won.ndim != 1 or won.shape != lost.shape:
        raise ValidationError(
            f"winners has shape {won.shape} and losers {lost.shape}; "
            "give one of each per game"
        )
    times = None if weights is None else _times(weights, won.shape)
    counts: Any = None
    if times is None and clusters is None and n <= MOST_DENSE:
        # Sees a position out of range as it goes, and leaves it to those below.
        counts = count_pairs(won, lost, n)
    if counts is None:
        _refuse_outside(won, n, "winners")
        _refuse_outside(lost, n, "losers")
        counts = _sums(won, lost, n, times, clusters)
    if counts.ndim == 2:
        itself = counts.diagonal() != 0
    else:
        itself = counts.coords[1] == counts.coords[2]
    if itself.any():
        where = np.flatnonzero(won == lost)[:5].tolist()
        raise ValidationError(f"a player meets itself in the games {where}")
    return counts


def _times(weights: npt.ArrayLike, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Check how often each row happened."""
    times = array("weights", weights)
    if times.shape != shape:
        raise ValidationError(f"weights has shape {times.shape}, the games {shape}")
    usable = (times >= 0) & (times < np.inf)
    if not np.all(usable):
        wrong = np.flatnonzero(~np.broadcast_to(usable, times.shape))[:5]
        raise ValidationError(
            f"weights holds {times[wrong].tolist()} at {wrong.tolist()}; "
            "give finite numbers, 0 or more"
        )
    # In a small type, or as bool, the sums would wrap.
    return times.astype(np.float64 if times.dtype.kind == "f" else np.int64)


def _sums(
    won: npt.NDArray[Any],
    lost: npt.NDArray[Any],
    n: int,
    times: npt.NDArray[Any] | None,
    clusters: npt.ArrayLike | None,
) -> Any:
    """Add the games up, into the kind of table that `win_counts` returns."""
    if clusters is None and n <= MOST_DENSE:
        return _cell_counts(won, lost, n, times)
    if times is None:
        times = np.ones(won.size, np.int64)
    if clusters is None:
        return sparse.coo_array((times, (won, lost)), shape=(n, n)).tocsr()
    group = np.asarray(clusters)
    if group.shape != won.shape or group.dtype.kind not in "iu":
        raise ValidationError(
            f"clusters has shape {group.shape} and holds {group.dtype}; "
            "give one code 0, 1, … per game"
        )
    if group.size and group.min() < 0:
        wrong = np.flatnonzero(group < 0)[:5]
        raise ValidationError(
            f"clusters holds {group[wrong].tolist()} at {wrong.tolist()}; codes "
            "start at 0, and every game belongs to a cluster"
        )
    shape = (int(group.max(initial=-1)) + 1, n, n)
    counts = sparse.coo_array((times, (group, won, lost)), shape=shape)
    counts.sum_duplicates()
    return counts


def tie_counts(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    *,
    players: int | Sequence[Hashable],
    weights: npt.ArrayLike | None = None,
    clusters: npt.ArrayLike | None = None,
) -> Any:
    """How often did every two players tie, from arrays?

    Parameters
    ----------
    first, second : array_like, shape (ties,)
        The two players of each game that ended in a tie, in any order.
    players, weights, clusters
        As in `win_counts`.

    Returns
    -------
    ndarray or sparse array
        As from `win_counts`, but symmetric: ``[i, j]`` and ``[j, i]`` both are the
        number of ties of i and j.

    Raises
    ------
    ValidationError
        As `win_counts`.

    Notes
    -----
    Chapter: *Who is better?*

    Examples
    --------
    >>> tie_counts(["new"], ["old"], players=["new", "old"])
    array([[0, 1],
           [1, 0]])
    """
    once = win_counts(
        first, second, players=players, weights=weights, clusters=clusters
    )
    if clusters is None:
        return once + once.T
    group, i, j = once.coords
    coords = tuple(np.concatenate(x) for x in ((group, group), (i, j), (j, i)))
    times = np.concatenate([once.data, once.data])
    both = sparse.coo_array((times, coords), shape=once.shape)
    both.sum_duplicates()
    return both


def player_codes(
    names: npt.ArrayLike, players: int | Sequence[Hashable], argument: str
) -> tuple[npt.NDArray[Any], int]:
    """Turn players into their positions, and count the players."""
    codes, n = _codes(names, players, argument)
    _refuse_outside(codes, n, argument)
    return codes, n


def _refuse_outside(codes: npt.NDArray[Any], n: int, argument: str) -> None:
    # Read as unsigned, a negative position is huge: one pass finds both ends.
    if codes.size and codes.view(codes.dtype.str.replace("i", "u")).max() >= n:
        wrong = np.flatnonzero((codes < 0) | (codes >= n))[:5]
        raise ValidationError(
            f"{argument} holds {codes[wrong].tolist()} at {wrong.tolist()}; "
            f"positions run from 0 to {n - 1}"
        )


def _codes(
    names: npt.ArrayLike, players: int | Sequence[Hashable], argument: str
) -> tuple[npt.NDArray[Any], int]:
    """Turn names into positions; positions are left as they are, right or wrong."""
    refuse_mask(argument, names)
    try:
        values = np.asarray(names)
    except ValueError:
        values = np.empty((0, 0))
    if values.ndim != 1:
        raise ValidationError(f"{argument} is no list of players, one per game")
    if isinstance(players, int | np.integer):
        players = whole("players", players)
        if not values.size:
            return values.astype(np.int64), players
        if values.dtype.kind not in "iu":
            raise ValidationError(
                f"{argument} holds {values.dtype}, not positions; "
                "give the names of the players in players="
            )
        return values, players
    import pandas as pd

    try:
        index = pd.Index(list(players))
    except TypeError:
        raise ValidationError(
            f"players is {players!r}; give their names, or their number"
        ) from None
    if not index.is_unique:
        raise ValidationError(
            f"players names {index[index.duplicated()].tolist()[:5]} more than once"
        )
    codes = index.get_indexer(pd.Index(values))
    if (codes < 0).any():
        wrong = np.flatnonzero(codes < 0)[:5]
        raise ValidationError(
            f"{argument} holds {values[wrong].tolist()} at {wrong.tolist()}, "
            "who are not among the players"
        )
    return codes, len(index)


def _cell_counts(
    row: npt.NDArray[Any],
    column: npt.NDArray[Any],
    n: int,
    weights: npt.NDArray[Any] | None,
) -> npt.NDArray[Any]:
    """Count the cells of an n × n table, in chunks unless the table is the larger."""
    if weights is not None:
        cell = row.astype(np.int64) * n + column.astype(np.int64)
        cells = np.bincount(cell, weights, n * n)
        whole = weights.dtype.kind in "biu"
        return (cells.round().astype(np.int64) if whole else cells).reshape(n, n)
    counts = np.zeros(n * n, np.int64)
    chunk = max(4 * _CHUNK, 4 * n * n)
    space = np.empty(min(chunk, row.size), np.int64)
    for start in range(0, row.size, chunk):
        part = row[start : start + chunk]
        cell = space[: part.size]
        # In 64 bits from the start: in those of a small type the product would wrap.
        np.multiply(part, n, out=cell, dtype=np.int64, casting="unsafe")
        part = column[start : start + chunk]
        np.add(cell, part, out=cell, dtype=np.int64, casting="unsafe")
        counts += np.bincount(cell, minlength=n * n)
    return counts.reshape(n, n)


def pairs_as_items(
    table: npt.ArrayLike,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """How does a table of two judges read as items with two ratings each?

    Parameters
    ----------
    table : array_like of int, shape (k, k)
        From `contingency_table`.

    Returns
    -------
    counts : ndarray of int64, shape (k², k)
        The category counts of an item in each cell, as statistics of many raters take
        them.
    repeats : ndarray of int64, shape (k²,)
        How many items are in that cell.

    Raises
    ------
    ValidationError
        If the table is not square.

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> counts, repeats = pairs_as_items([[40, 10], [15, 35]])
    >>> counts
    array([[2, 0], [1, 1], [1, 1], [0, 2]])
    >>> repeats
    array([40, 10, 15, 35])
    """
    cells = np.asarray(table)
    if cells.ndim != 2 or cells.shape[0] != cells.shape[1]:
        raise ValidationError(f"table has shape {cells.shape}; give k × k counts")
    one = np.eye(len(cells), dtype=np.int64)
    counts = one[:, None] + one[None]
    return counts.reshape(-1, len(cells)), cells.ravel().astype(np.int64)


def encode(
    labels: npt.ArrayLike,
    scale: Scale,
    *,
    name: str = "labels",
    missing_code: int | None = None,
) -> npt.NDArray[np.signedinteger[Any]]:
    """Turn labels into their positions on a scale, −1 where a label is missing.

    Parameters
    ----------
    labels : array_like
        Labels of any type; nan, None and NA are missing.
    scale : sequence of length k
        The categories that could be given, in order.
    name : str, default "labels"
        What an error message calls the labels.
    missing_code : int, optional
        A value that stands for "missing" in an array of integers.

    Returns
    -------
    ndarray of signed integers, the shape of `labels`
        Values −1, 0, …, k−1. May be `labels` itself: do not write into it.

    Raises
    ------
    ValidationError
        Naming the first labels that are not on the scale.

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> encode(["tie", None, "A"], ["A", "B", "tie"])
    array([ 2, -1,  0], dtype=int8)
    """
    categories = _checked_scale(scale)
    labels = _gaps_shown(labels)
    try:
        values = np.asarray(labels)
    except ValueError:
        raise ValidationError(
            f"{name} is no table: its rows differ in length; fill them up with None"
        ) from None
    if values.dtype.kind == "U" and not isinstance(labels, np.ndarray):
        # NumPy has made words of whatever stood among words, nan included.
        values = np.array(labels, dtype=object)
    if values.dtype.kind in "iu" and categories == list(range(len(categories))):
        # Codes already: nothing to translate, only to check.
        lowest = -1 if missing_code == -1 else 0
        if not values.size or (
            values.min() >= lowest and values.max() < len(categories)
        ):
            return values.astype(_signed(values.dtype), copy=False)
    small = np.min_scalar_type(-len(categories) - 1)
    if not (values.flags.c_contiguous or values.flags.f_contiguous):
        values = np.ascontiguousarray(values)
    codes = np.empty_like(values, small, subok=False)
    flat, flat_codes = values.ravel(order="K"), codes.ravel(order="K")
    for start in range(0, flat.size, _CHUNK):
        chunk = slice(start, start + _CHUNK)
        part, part_codes = flat[chunk], flat_codes[chunk]
        gaps = _missing(part, missing_code)
        if part.dtype.kind == "O":
            part = np.where(gaps, np.array(None), part)
        part_codes.fill(-1)
        for position, category in enumerate(categories):
            part_codes += (part == category) * codes.dtype.type(position + 1)
        if np.count_nonzero(part_codes < 0) > np.count_nonzero(gaps):
            _refuse_labels(values, categories, missing_code, name)
    return codes


def _gaps_shown(values: Any) -> Any:
    """Put None where a mask hides a value: it is missing, and not what lies below."""
    if not np.ma.is_masked(values):
        return values
    hidden = np.ma.getmaskarray(values)
    return np.where(hidden, np.array(None), np.ma.getdata(values))


def _refuse_labels(
    values: npt.NDArray[Any], categories: list[Any], missing_code: int | None, name: str
) -> NoReturn:
    """Say which labels are not on the scale, and where they are."""
    known = _missing(values, missing_code)
    for category in categories:
        known |= np.asarray(np.where(known, False, values == category), bool)
    wrong = np.argwhere(~known)
    labels = [repr(v) for v in values[~known][:5].tolist()]
    places = [p[0] if len(p) == 1 else tuple(p) for p in wrong[:5].tolist()]
    raise ValidationError(
        f"{name}: {len(wrong)} labels are not on the scale {categories}: "
        f"{', '.join(labels)} at {places}; declare every category in scale, "
        "and mark a missing label as None or nan"
    )


def _checked_scale(scale: Scale) -> list[Any]:
    """Return the scale as a list of plain values, all different."""
    if isinstance(scale, Set):
        raise ValidationError(
            f"scale is {scale!r}; a set has no order, give a list of the categories"
        )
    categories = scale.tolist() if isinstance(scale, np.ndarray) else list(scale)
    if len(categories) < 2 or len(set(categories)) < len(categories):
        raise ValidationError(
            f"scale is {categories!r}; give at least two different categories, in order"
        )
    if _missing(np.array(categories, object)).any():
        raise ValidationError(
            f"scale is {categories!r}; a missing label (None, nan) is not a category"
        )
    return categories


def _missing(
    values: npt.NDArray[Any], missing_code: int | None = None
) -> npt.NDArray[np.bool_]:
    """Tell where a label is missing: nan, None, NA, NaT or the code for it."""
    gaps = np.zeros(values.shape, bool)
    if values.dtype.kind in "fc":
        gaps = np.isnan(values)
    elif values.dtype.kind in "mM":
        gaps = np.isnat(values)
    elif values.dtype.kind == "O":
        import pandas as pd

        gaps = np.asarray(pd.isna(values), bool)
    if missing_code is not None:
        gaps |= np.equal(values, missing_code)
    return gaps


def _signed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the signed integer type that holds every value of an integer type."""
    return np.dtype(dtype if dtype.kind == "i" else np.promote_types(dtype, np.int8))


# From frames. Each is one aggregation in the engine that holds the records (pandas,
# Polars, PyArrow, DuckDB, …: whatever narwhals knows); only its small result comes
# here.

_WORDS = tuple(Verdict.__members__)


class Patterns(NamedTuple):
    """How often each combination of labels on an item occurs; see `vote_patterns`."""

    counts: npt.NDArray[np.int64]
    """Shape (patterns, k): how many judges gave each label."""
    items: npt.NDArray[np.int64]
    """Shape (patterns,): on how many items that is so."""


class Crossed(NamedTuple):
    """Votes of two sides that meet on items; see `crossed_counts`."""

    clusters: list[Any]
    """What each table belongs to, sorted."""
    tables: npt.NDArray[np.float64]
    """Shape (clusters, k, k): labels of the one side × labels of the other."""


class WinMatrix(NamedTuple):
    """Who beat whom how often; see `win_matrix`."""

    models: list[Any]
    """Names, sorted."""
    wins: npt.NDArray[np.int64]
    """Shape (m, m): how often the row's model beat the column's."""
    ties: npt.NDArray[np.int64]
    """Shape (m, m), symmetric: how often they tied."""
    left_out: int
    """How many verdicts are INVALID or MISSING, and stand in neither matrix."""


class OrderTables(NamedTuple):
    """Verdicts in both orders, one table per group; see `two_order_tables`."""

    groups: list[Any]
    """The judge of each table; (judge, item, …) if there are several columns."""
    tables: npt.NDArray[np.int64]
    """Shape (groups, 5, 5): first order × second order, un-swapped."""


def joint_counts(
    records: Any,
    judge_1: Any,
    judge_2: Any,
    *,
    scale: Scale | None = None,
    column: str | None = None,
) -> npt.NDArray[np.int64]:
    """How often did two judges give each pair of labels to the items that they share?

    Parameters
    ----------
    records : dataframe
        Pairwise or rating records (see `judgelab.records`), of any engine, eager or
        lazy. A verdict in exchanged slots (``swapped``) is un-swapped first.
    judge_1, judge_2
        Two values of the column ``judge``.
    scale : sequence of length k, optional
        Every label that could be given, in order. For verdicts it may be left out: it
        is then A, B, TIE, INVALID, MISSING.
    column : str, optional
        The column that holds the labels: ``"verdict"`` or ``"label"``, whichever there
        is.

    Returns
    -------
    ndarray of int64, shape (k, k)
        Rows are the labels of `judge_1`. Items of one judge alone count nowhere.

    Raises
    ------
    ValidationError
        If the judges are the same or share no item, one judge has several labels on an
        item, or a label is not on the scale.

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> import pandas as pd
    >>> records = pd.DataFrame(
    ...     {"judge": list("xxyyy"), "item": [1, 2, 1, 2, 3], "label": [0, 1, 0, 0, 1]}
    ... )
    >>> joint_counts(records, "x", "y", scale=[0, 1])
    array([[1, 0],
           [1, 0]])
    """
    if judge_1 == judge_2:
        raise ValidationError(f"judge_1 and judge_2 are both {judge_1!r}; give two")
    frame, categories = _labelled(records, scale, column)
    one, two = (nw.col("judge") == nw.lit(judge) for judge in (judge_1, judge_2))
    frame = frame.filter(one | two)
    k = len(categories)
    _, first, second, n = _pairs(
        frame,
        ["item"],
        two,
        labels=k + 1,
        single=["judge", "item"],
    )
    shared = (first >= 0) & (second >= 0)
    if not shared.any():
        raise ValidationError(
            f"judges {judge_1!r} and {judge_2!r} share no item; compare the values of "
            "'judge' and 'item' (also their types)"
        )
    table = np.zeros((k + 1, k + 1), np.int64)
    np.add.at(table, (first[shared], second[shared]), n[shared])
    if table[k].any() or table[:, k].any():
        _refuse_off_scale(frame, categories)
    return np.ascontiguousarray(table[:k, :k])


def crossed_counts(
    records: Any,
    one: Sequence[Any],
    two: Sequence[Any],
    *,
    scale: Scale | None = None,
    column: str | None = None,
    cluster: str = "item",
) -> Crossed:
    """How do the votes of one group of judges meet those of another on shared items?

    Parameters
    ----------
    records : dataframe
        Pairwise or rating records of any engine. A verdict in exchanged slots is
        un-swapped first. A judge may have several votes on an item.
    one, two : sequence
        Values of the column ``judge``. Between two groups, every vote of the one meets
        every vote of the other on the same item. Within one group (both are the same),
        every two votes of *different* judges count, half either way round.
    scale : sequence of length k, optional
        Every label that could be given, in order; for verdicts the five of `Verdict` if
        left out.
    column : str, optional
        ``"verdict"`` or ``"label"``, whichever there is.
    cluster : str, default "item"
        The column that says what is independent: items, or what several items share.

    Returns
    -------
    Crossed
        ``tables`` (clusters, k, k), rows the labels of `one`. A coefficient of
        `judgelab.agreement` takes the stack and then knows that only the ``clusters``
        are independent. Clusters in which no two votes meet are left out.

    Raises
    ------
    ValidationError
        If the groups share some judges and not all, no two votes meet, an item belongs
        to several clusters, or a label is not on the scale.

    Notes
    -----
    Votes are pooled over items, so that items with many votes weigh more: the rule that
    gives the figures of Zheng et al. (2023), Table 5. Chapter: *MT-bench and Chatbot
    Arena*.

    Examples
    --------
    >>> import pandas as pd
    >>> records = pd.DataFrame(
    ...     {
    ...         "judge": ["ann", "bob", "model", "ann", "model"],
    ...         "item": [1, 1, 1, 2, 2],
    ...         "label": [0, 1, 0, 1, 1],
    ...     }
    ... )
    >>> people = ["ann", "bob"]
    >>> crossed_counts(records, ["model"], people, scale=[0, 1]).tables.sum(axis=0)
    array([[1., 1.],
           [0., 1.]])
    >>> crossed_counts(records, people, people, scale=[0, 1]).tables
    array([[[0. , 0.5],
            [0.5, 0. ]]])
    """
    import pandas as pd

    within = {*one} == {*two}
    if not within and (both := [judge for judge in one if judge in {*two}]):
        raise ValidationError(
            f"{both[:5]} are in both groups; a vote cannot meet itself: take them out "
            "of one"
        )
    frame, categories = _labelled(records, scale, column)
    if cluster not in frame.collect_schema():
        raise ValidationError(f"no column {cluster!r} that could name clusters")
    frame = frame.filter(nw.col("judge").is_in([*one, *two]))
    keys = [*dict.fromkeys([cluster, "item", "judge", "_label"])]
    found = _collected(frame.group_by(keys).agg(nw.len().alias("_n")).sort(keys))
    group, of_cluster = pd.factorize(found[cluster].to_numpy())
    item, of_item = pd.factorize(found["item"].to_numpy())
    judge, of_judge = pd.factorize(found["judge"].to_numpy())
    pairs = np.divmod(np.unique(item * of_cluster.size + group), of_cluster.size)
    if pairs[0].size > of_item.size:
        twice = of_item[np.flatnonzero(np.bincount(pairs[0]) > 1)][:5].tolist()
        raise ValidationError(
            f"items {twice} belong to several values of {cluster!r}; give one each"
        )
    label, k = found["_label"].to_numpy(), len(categories)
    if (label == k).any():
        _refuse_off_scale(frame, categories)
    ballot, row = np.unique(item * of_judge.size + judge, return_inverse=True)
    votes = np.zeros((ballot.size, k))
    np.add.at(votes, (row, label), found["_n"].to_numpy())
    voter, place = ballot % max(of_judge.size, 1), ballot // max(of_judge.size, 1)
    sides = []
    for names in (one, two):
        chosen = np.isin(voter, np.flatnonzero(pd.Index(of_judge).isin([*names])))
        side = np.zeros((of_item.size, k))
        np.add.at(side, place[chosen], votes[chosen])
        sides.append(side)
    tables: npt.NDArray[np.float64] = sides[0][:, :, None] * sides[1][:, None, :]
    if within:
        np.subtract.at(tables, place, votes[:, :, None] * votes[:, None, :])
        tables /= 2
    by_cluster = np.zeros((of_cluster.size, k, k))
    np.add.at(by_cluster, pairs[1], tables)
    met = by_cluster.any(axis=(1, 2))
    if not met.any():
        raise ValidationError(
            f"no two votes meet between {[*one][:5]} and {[*two][:5]}; compare the "
            "values of 'judge' and 'item' (also their types)"
        )
    return Crossed(of_cluster[met].tolist(), by_cluster[met])


def vote_patterns(
    records: Any, *, scale: Scale | None = None, column: str | None = None
) -> Patterns:
    """Which combinations of labels do items get, and how often does each occur?

    Fleiss' kappa and its kin need nothing more than this, however many items there are.

    Parameters
    ----------
    records : dataframe
        Pairwise or rating records of any engine. A verdict in exchanged slots is
        un-swapped first.
    scale : sequence of length k, optional
        Every label that could be given; for verdicts the five of `Verdict` if left out.
    column : str, optional
        ``"verdict"`` or ``"label"``, whichever there is.

    Returns
    -------
    Patterns
        ``counts`` (patterns, k) in lexicographic order, and on how many ``items`` each
        occurs.

    Raises
    ------
    ValidationError
        If a judge has several labels on an item, or a label is not on the scale.

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> import pandas as pd
    >>> records = pd.DataFrame(
    ...     {"judge": list("xxyy"), "item": [1, 2, 1, 2], "label": [0, 1, 0, 0]}
    ... )
    >>> patterns = vote_patterns(records, scale=[0, 1])
    >>> patterns.counts
    array([[1, 1],
           [2, 0]])
    >>> patterns.items
    array([1, 1])
    """
    frame, categories = _labelled(records, scale, column)
    _refuse_repeats(frame, ["judge", "item"])
    # One column more, for labels that are not on the scale.
    names = [f"_{position}" for position in range(len(categories) + 1)]
    ones = [
        (nw.col("_label") == position).cast(nw.Int64).alias(name)
        for position, name in enumerate(names)
    ]
    by_item = frame.with_columns(*ones).group_by("item").agg(nw.col(*names).sum())
    found = _collected(by_item.group_by(names).agg(nw.len().alias("_n"))).sort(names)
    *counts, strange, n = (_whole(found[name]) for name in (*names, "_n"))
    if strange.any():
        _refuse_off_scale(frame, categories)
    return Patterns(np.column_stack(counts), n)


def win_matrix(records: Any) -> WinMatrix:
    """Which model beat which, and how often?

    Parameters
    ----------
    records : dataframe
        Pairwise records of any engine with ``model_a`` and ``model_b``: whose answer
        was shown first and second. The verdict is on these as shown, so that
        ``swapped`` plays no part.

    Returns
    -------
    WinMatrix
        Models sorted by name; ``wins``, ``ties``, and the number of verdicts
        ``left_out`` because they are INVALID or MISSING.

    Raises
    ------
    ValidationError
        If a column is lacking, a verdict is unknown, or a model meets itself.

    Notes
    -----
    Chapter: *Who is better?*

    Examples
    --------
    >>> import pandas as pd
    >>> records = pd.DataFrame(
    ...     {
    ...         "model_a": ["p", "q", "p"],
    ...         "model_b": ["q", "p", "q"],
    ...         "verdict": ["A", "A", "TIE"],
    ...     }
    ... )
    >>> win_matrix(records).wins
    array([[0, 1],
           [1, 0]])
    """
    columns = ["model_a", "model_b", "verdict"]
    frame = _with_columns(records, columns)
    counts = _collected(frame.group_by(columns).agg(nw.len().alias("_n")))
    try:
        # The counts show whatever is wrong, without a pass over the records.
        found = _coded(counts, columns)
    except ValidationError:
        _coded(records, columns)  # names the number of records, and not of counts
        raise
    code, n = found["_label"].to_numpy(), found["_n"].to_numpy()
    names = [found["model_a"].to_list(), found["model_b"].to_list()]
    alone = sorted({a for a, b in zip(*names, strict=True) if a == b})
    if alone:
        raise ValidationError(
            f"{alone[:5]} are compared with themselves; correct 'model_a' or "
            "'model_b', or leave these records out"
        )
    models = sorted({*names[0], *names[1]})
    place = {model: position for position, model in enumerate(models)}
    first, second = (np.array([place[name] for name in side], int) for side in names)
    wins = np.zeros((len(models), len(models)), np.int64)
    ties = np.zeros_like(wins)
    won, lost, tied = code == Verdict.A, code == Verdict.B, code == Verdict.TIE
    np.add.at(wins, (first[won], second[won]), n[won])
    np.add.at(wins, (second[lost], first[lost]), n[lost])
    np.add.at(ties, (first[tied], second[tied]), n[tied])
    np.add.at(ties, (second[tied], first[tied]), n[tied])
    return WinMatrix(models, wins, ties, int(n[code > Verdict.TIE].sum()))


def two_order_tables(
    records: Any, *, by: Literal["judge", "item"] = "judge"
) -> OrderTables:
    """Which verdicts did each judge give in one order, and which in the other?

    Parameters
    ----------
    records : dataframe
        Pairwise records of any engine with the column ``swapped``. With a column
        ``trial`` the two orders of the same trial belong together.
    by : {"judge", "item"}, default "judge"
        One table per judge, or one per judge and item (which repeated trials need).

    Returns
    -------
    OrderTables
        Groups sorted by name, and tables over A, B, TIE, INVALID, MISSING: rows the
        order that is not swapped, columns the swapped one, its verdict *un-swapped* so
        that A is the same answer in both. An order without a record is MISSING.

    Raises
    ------
    ValidationError
        If a column is lacking, a verdict is unknown, or a judge has several verdicts on
        an item in one order (and trial).

    Notes
    -----
    Chapter: *Does the order matter?*

    Examples
    --------
    A judge that says A in both orders, as shown, contradicts itself:

    >>> import pandas as pd
    >>> records = pd.DataFrame(
    ...     {
    ...         "judge": ["x", "x"],
    ...         "item": [1, 1],
    ...         "verdict": ["A", "A"],
    ...         "swapped": [False, True],
    ...     }
    ... )
    >>> two_order_tables(records).tables[0, Verdict.A, Verdict.B]
    np.int64(1)
    """
    if by not in ("judge", "item"):
        raise ValidationError(f"by is {by!r}; choose 'judge' or 'item'")
    frame, pair = _coded_orders(records)
    groups = ["judge"] if by == "judge" else ["judge", "item"]
    found, first, second, n = _pairs(
        frame,
        pair,
        nw.col("swapped"),
        labels=len(Verdict),
        single=[*pair, "swapped"],
        groups=groups,
    )
    rows = [*zip(*(found[name].to_list() for name in groups), strict=True)]
    names = list(dict.fromkeys(rows))
    place = {name: position for position, name in enumerate(names)}
    tables = np.zeros((len(names), len(Verdict), len(Verdict)), np.int64)
    where = np.array([place[row] for row in rows], int)
    first, second = (np.where(c < 0, int(Verdict.MISSING), c) for c in (first, second))
    np.add.at(tables, (where, first, unswap(second)), n)
    return OrderTables([n[0] for n in names] if by == "judge" else names, tables)


def checked_orders(records: Any) -> tuple[Any, list[str]]:
    """Check records in two orders; say which columns name a pair of answers.

    Returns
    -------
    frame : narwhals frame
        The records with ``swapped`` as true and false, and the code of each verdict on
        *slots* in the column ``_label``.
    pair : list of str
        ``judge``, ``item`` and, where it is there, ``trial``.

    Raises
    ------
    ValidationError
        As `two_order_tables`.
    """
    frame, pair = _coded_orders(records)
    _refuse_repeats(frame, [*pair, "swapped"])
    return frame, pair


def _coded_orders(records: Any) -> tuple[Any, list[str]]:
    """Do as `checked_orders`, and leave it to the caller to look for repeats."""
    columns = nw.from_native(records).collect_schema().names()
    pair = ["judge", "item", *(["trial"] if "trial" in columns else [])]
    frame = _coded(records, [*pair, "swapped", "verdict"])
    return frame.with_columns(_is_swapped(frame).alias("swapped")), pair


def _pairs(
    frame: Any,
    keys: list[str],
    second: nw.Expr,
    *,
    labels: int,
    single: list[str],
    groups: Sequence[str] = (),
) -> tuple[Any, npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Count the pairs of labels that the two records of each key have.

    Parameters
    ----------
    frame : narwhals frame
        With ``_label`` from 0 to `labels` - 1.
    keys : list of str
        What the two records of a pair share.
    second : narwhals expression
        Which of the two a record is.
    single : list of str
        Columns of which every combination may occur once.
    groups : sequence of str
        Some of the keys: the pairs are counted for each of their values.

    Returns
    -------
    found : narwhals dataframe
        The groups, sorted.
    first, second : ndarray
        The two labels of each row of `found`; -1 where there is no record.
    n : ndarray
        How many pairs are so.

    Raises
    ------
    ValidationError
        If a combination of `single` occurs twice.
    """
    # One sum holds both labels, and shows with the number of records whether one side
    # stands twice: nothing but this aggregation has to see all keys.
    side, code = 2 * labels + 1, nw.col("_label") + 1
    said = nw.when(second).then(code * side).otherwise(code).alias("_said")
    by_key = frame.with_columns(said).group_by(keys)
    pairs = by_key.agg(nw.col("_said").sum(), nw.len().alias("_records"))
    cells = pairs.group_by(*groups, "_said", "_records").agg(nw.len().alias("_n"))
    found = _collected(cells).sort(*groups, "_said", "_records")
    total, records, n = (_whole(found[c]) for c in ("_said", "_records", "_n"))
    other, one = np.divmod(total, side)
    if (records > (one > 0).astype(int) + (other > 0)).any():
        _refuse_repeats(frame, single)
    return found, one - 1, other - 1, n


def _whole(column: Any) -> npt.NDArray[np.int64]:
    """Bring counts here: some engines add whole numbers up in wider types."""
    counts: npt.NDArray[np.int64] = column.to_numpy().astype(np.int64)
    return counts


def _with_columns(
    records: Any, columns: list[str], *, labels: str | None = None
) -> Any:
    """Check that the columns are there.

    Only the column `labels` may hold objects of several types.
    """
    frame: Any = nw.from_native(records)
    schema = frame.collect_schema()
    lacking = [name for name in columns if name not in schema]
    if lacking:
        raise ValidationError(
            f"no column {lacking[0]!r}; there are: {', '.join(schema.names())}. "
            "judgelab.records.check_pairwise and check_ratings can rename"
        )
    for name in columns:
        if schema[name] == nw.Object and name != labels:
            raise ValidationError(
                f"column {name!r} holds Python objects, among which 1 and '1' would "
                "differ; convert it to one type (text, whole numbers, true and false)"
            )
    return frame


def _refuse_gaps(frame: Any, columns: list[str], wrong: nw.Expr | None = None) -> bool:
    """Refuse empty cells: engines differ on empty keys.

    Whatever else would be `wrong` is looked for too; say whether it is there.
    """
    schema, conditions = frame.collect_schema(), list[nw.Expr]()
    for name in columns:
        gap = nw.col(name).is_null()
        conditions.append(
            gap | nw.col(name).is_nan() if schema[name].is_float() else gap
        )
    if wrong is not None:
        conditions.append(wrong)
    # One condition on one column is often answered by what Parquet says of its pages;
    # all of them in one expression would need every row.
    counts = [
        frame.filter(condition).select(_n=nw.len()).with_columns(_place=nw.lit(place))
        for place, condition in enumerate(conditions)
    ]
    numbers = _collected(nw.concat(counts)).sort("_place")["_n"].to_list()
    for name, number in zip(columns, numbers, strict=False):
        if number:
            raise ValidationError(
                f"{number} records have no {name!r}; fill it in or leave them out "
                "(judgelab.records.check_pairwise and check_ratings name the rows)"
            )
    return wrong is not None and numbers[-1] > 0


def _labelled(
    records: Any, scale: Scale | None, column: str | None
) -> tuple[Any, list[Any]]:
    """Put what was said into the column ``_given``: answers, and not slots.

    ``_label`` is its position on the scale, which is returned as a list; the number of
    categories if it is not on the scale.
    """
    columns = nw.from_native(records).collect_schema().names()
    if column is None:
        present = [name for name in ("verdict", "label") if name in columns]
        if len(present) != 1:
            raise ValidationError(
                f"labels could be in {present or 'no column'}; name it: column='...'"
            )
        column = present[0]
    needed = ["judge", "item", column]
    if column != "verdict":
        if scale is None:
            raise ValidationError(
                "ratings need scale: every label that could be given, in order"
            )
        frame = _with_columns(records, needed, labels=column)
        _refuse_gaps(frame, needed)
        return _on_scale(frame.with_columns(nw.col(column).alias("_given")), scale)
    turned = "swapped" in columns
    frame = _coded(records, needed + ["swapped"] * turned)
    if turned:
        code = nw.col("_label")
        other = nw.when(code < int(Verdict.TIE)).then(1 - code).otherwise(code)
        frame = frame.with_columns(
            nw.when(_is_swapped(frame)).then(other).otherwise(code).alias("_label")
        )
    if scale is None:
        return frame, list(range(len(Verdict)))
    frame = frame.with_columns(nw.col("_label").alias("_given"))
    return _on_scale(
        frame, [Verdict.parse(s) if isinstance(s, str) else s for s in scale]
    )


def _on_scale(frame: Any, scale: Scale) -> tuple[Any, list[Any]]:
    """Translate ``_given`` into ``_label``, the position on a scale."""
    categories = _checked_scale(scale)
    occurring = _collected(frame.select("_given").unique())["_given"].to_list()
    position: Any = nw.lit(len(categories))
    for place, label in enumerate(categories):
        # Engines refuse to compare a column with a category of another type.
        if label in occurring:
            here = nw.col("_given") == nw.lit(label)
            position = nw.when(here).then(place).otherwise(position)
    return frame.with_columns(position.cast(nw.Int64).alias("_label")), categories


def _refuse_off_scale(frame: Any, categories: list[Any]) -> NoReturn:
    """Say which labels of these records are not on the scale."""
    strange = frame.filter(nw.col("_label") == len(categories)).select("_given")
    labels = sorted(map(repr, _collected(strange.unique())["_given"].to_list()))
    raise ValidationError(
        f"{len(labels)} labels are not on the scale {categories}: "
        f"{', '.join(labels[:5])}; declare every category in scale, or leave the "
        "records out"
    )


def _coded(records: Any, columns: list[str]) -> Any:
    """Check the columns; put the code of each verdict into the column ``_label``."""
    frame = _with_columns(records, columns)
    verdict = nw.col("verdict")
    if frame.collect_schema()["verdict"].is_integer():
        frame = frame.with_columns(verdict.cast(nw.Int64).alias("_label"))
        known = nw.col("_label").is_between(0, int(max(Verdict)))
    else:
        word = verdict.cast(nw.String)
        code: Any = nw.lit(-1)
        for name in _WORDS:
            code = (
                nw.when(word == nw.lit(name)).then(int(Verdict[name])).otherwise(code)
            )
        frame = frame.with_columns(code.cast(nw.Int64).alias("_label"))
        known = nw.col("_label") >= 0
    if _refuse_gaps(frame, columns, ~known):
        unknown = _collected(frame.filter(~known).select("verdict").unique())
        strange = sorted(unknown["verdict"].to_list())[:5]
        raise ValidationError(
            f"unknown verdicts {strange}; expected "
            f"{', '.join(_WORDS)} or their codes 0 to 4. "
            "judgelab.records.check_pairwise can translate"
        )
    return frame


def _is_swapped(frame: Any) -> nw.Expr:
    """Read the column ``swapped``: a word such as "False" would count as true."""
    kind, swapped = frame.collect_schema()["swapped"], nw.col("swapped")
    if kind == nw.Boolean:
        return swapped
    strange = str(kind)
    if kind.is_numeric():
        others = frame.filter((swapped != 0) & (swapped != 1)).select("swapped")
        values = sorted(_collected(others.unique())["swapped"].to_list())
        strange = ", ".join(map(str, values[:5]))
    if strange:
        raise ValidationError(
            f"'swapped' holds {strange}; give true and false (or 1 and 0)"
        )
    return swapped == 1


def _refuse_repeats(frame: Any, keys: list[str]) -> None:
    repeated = frame.group_by(keys).agg(nw.len().alias("_n")).filter(nw.col("_n") > 1)
    found = _collected(repeated).sort(keys).head(5)
    if len(found):
        rows = [
            ", ".join(f"{k} {v}" for k, v in zip(keys, row, strict=True))
            for row in found.select(keys).iter_rows()
        ]
        raise ValidationError(
            f"several records of one {', '.join(keys)}: {'; '.join(rows)}; keep one of "
            "them (judgelab.records.check_pairwise names the rows)"
        )


def _collected(frame: Any) -> Any:
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame
