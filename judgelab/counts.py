"""Records become counts: the small tables that the statistics need, and nothing more.

The functions on arrays come first, those on frames after them. Labels are always read
on a *declared* scale: the categories that could have been given, in their order, and
not only those that happen to occur.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Literal, NoReturn

import numpy as np
import numpy.typing as npt

from judgelab.errors import ValidationError

Scale = Sequence[Hashable] | npt.NDArray[Any]
"""Every category that could be given, in order."""

_CHUNK = 1 << 16
"""Labels handled at a time: small enough for the temporaries to stay in the cache."""


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
        If the arrays are not aligned, a label is not on the scale, or a label is
        missing and `missing` is "raise".

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
        labels, group = np.unique(np.asarray(clusters), return_inverse=True)
        groups = labels.size
        if group.shape != a.shape:
            raise ValidationError(
                f"clusters has shape {group.shape}, the labels {a.shape}; "
                "give one cluster per pair"
            )
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
    codes = encode(ratings, scale, name="ratings", missing_code=missing_code)
    if codes.ndim != 2:
        raise ValidationError(
            f"ratings has shape {codes.shape}; give a matrix of items × raters"
        )
    items, raters = codes.shape
    k = len(scale)
    counts = np.empty((items, k), np.int64)
    small = np.min_scalar_type(raters)
    rows = max(1, _CHUNK // max(raters, 1))
    for start in range(0, items, rows):
        # Raters first: the sums then run along contiguous rows.
        block = np.ascontiguousarray(codes[start : start + rows].T)
        for category in range(k):
            given = np.sum(block == category, axis=0, dtype=small)
            counts[start : start + rows, category] = given
    return counts


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
    values = np.asarray(labels)
    if values.dtype.kind in "iu" and categories == list(range(len(categories))):
        # Codes already: nothing to translate, only to check.
        lowest = -1 if missing_code == -1 else 0
        if not values.size or (
            values.min() >= lowest and values.max() < len(categories)
        ):
            return values.astype(_signed(values.dtype), copy=False)
    if not (values.flags.c_contiguous or values.flags.f_contiguous):
        values = np.ascontiguousarray(values)
    codes = np.empty_like(values, np.min_scalar_type(-len(categories)), subok=False)
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
    """Tell where a label is missing: nan, None, NA or the code for it."""
    gaps = np.zeros(values.shape, bool)
    if values.dtype.kind == "f":
        gaps = np.isnan(values)
    elif values.dtype.kind == "O":
        import pandas as pd

        gaps = np.asarray(pd.isna(values), bool)
    if missing_code is not None:
        gaps |= np.equal(values, missing_code)
    return gaps


def _signed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the signed integer type that holds every value of an integer type."""
    return np.dtype(dtype if dtype.kind == "i" else np.promote_types(dtype, np.int8))
