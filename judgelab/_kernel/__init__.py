"""The one compiled loop: how often does every pair of positions occur?

It is built while the package is installed, where there is a C compiler. Without it, or
with ``JUDGELAB_KERNEL=0`` in the environment, NumPy counts the same.
"""

from __future__ import annotations

import ctypes
import os
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

LIBRARY = Path(__file__).with_name("count.so")


@cache
def library() -> Any:
    """Load the compiled loops; None where there are none, or none are wanted."""
    if os.environ.get("JUDGELAB_KERNEL") == "0":
        return None
    try:
        return ctypes.CDLL(str(LIBRARY))
    except OSError:
        return None


def count_pairs(
    first: npt.NDArray[Any], second: npt.NDArray[Any], n: int
) -> npt.NDArray[np.int64] | None:
    """How often does every pair of positions 0 … n−1 occur, row by row?

    Parameters
    ----------
    first, second : ndarray of integers, shape (rows,)
        The positions, in any integer type and with any stride.
    n : int
        The number of positions.

    Returns
    -------
    ndarray of int64, shape (n, n), or None
        None if there is no compiled loop, or if a position is not in 0 … n−1: which
        one, the caller has to find out.
    """
    loops = library()
    if loops is None or n < 1:
        return None
    kind = first.dtype if first.dtype == second.dtype else np.dtype(np.int64)
    # What C cannot read as it stands is copied: two types, bytes in foreign order, or
    # addresses between two numbers.
    a, b = (np.require(x, kind.newbyteorder("="), "A") for x in (first, second))
    table = np.zeros((n, n), np.int64)
    count = loops[f"count_pairs_{kind.itemsize}"]
    count.restype = ctypes.c_ssize_t
    counted = count(
        ctypes.c_void_p(a.ctypes.data),
        ctypes.c_ssize_t(a.strides[0]),
        ctypes.c_void_p(b.ctypes.data),
        ctypes.c_ssize_t(b.strides[0]),
        ctypes.c_ssize_t(a.size),
        ctypes.c_uint64(n),
        ctypes.c_void_p(table.ctypes.data),
    )
    return table if counted == a.size else None
