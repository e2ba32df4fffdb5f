"""How much two different labels count as agreement."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from judgelab._checks import floats, whole
from judgelab.errors import ValidationError

Weights = Literal["linear", "quadratic"] | npt.ArrayLike | None


def disagreement(weights: Weights, k: int) -> npt.NDArray[np.float64]:
    """Return the k × k matrix of disagreement, 1 − agreement weight.

    Parameters
    ----------
    weights : {None, "linear", "quadratic"} or array_like of shape (k, k)
        Agreement weights: None counts equal labels only; "linear" and "quadratic" fall
        with the distance of two categories on the declared scale, from 1 to 0 at its
        ends; a matrix holds values from 0 to 1, with 1 on the diagonal.
    k : int
        The number of categories.

    Returns
    -------
    ndarray of shape (k, k)
        Zero on the diagonal, from 0 to 1 elsewhere.

    Raises
    ------
    ValidationError
        If the name is unknown or the matrix is no matrix of agreement weights.

    References
    ----------
    Cohen (1968), *Psychological Bulletin* 70(4).

    Notes
    -----
    Chapter: *Do two judges agree?*

    Examples
    --------
    >>> disagreement("linear", 3)
    array([[0. , 0.5, 1. ],
           [0.5, 0. , 0.5],
           [1. , 0.5, 0. ]])
    """
    whole("k", k, least=2)
    if weights is None:
        return 1 - np.eye(k)
    if isinstance(weights, str):
        if weights not in ("linear", "quadratic"):
            raise ValidationError(
                f"weights is {weights!r}; "
                "choose None, 'linear', 'quadratic' or a matrix"
            )
        distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k))) / (k - 1)
        return distance if weights == "linear" else distance**2
    matrix = floats("weights", weights)
    if matrix.shape != (k, k):
        raise ValidationError(
            f"weights has shape {matrix.shape}; the table has {k} categories"
        )
    if not ((matrix >= 0) & (matrix <= 1)).all():
        raise ValidationError(
            "weights must be at least 0 (no agreement) and at most 1 (full agreement); "
            "from costs of disagreement: 1 - costs / costs.max()"
        )
    if (np.diag(matrix) != 1).any() or (matrix == 1).all():
        raise ValidationError(
            "weights must be 1 on the diagonal and less than 1 somewhere off it"
        )
    return 1 - matrix
