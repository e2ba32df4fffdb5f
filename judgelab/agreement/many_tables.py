"""One coefficient of thousands of tables at once: for bootstraps, jackknifes, tests."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from judgelab._checks import array
from judgelab.agreement import many_raters, two_raters
from judgelab.agreement.weights import Weights, disagreement
from judgelab.errors import ValidationError

Coefficient = Literal[
    "percent_agreement",
    "cohen_kappa",
    "scott_pi",
    "brennan_prediger",
    "gwet_ac1",
    "gwet_ac2",
    "krippendorff_alpha",
]

_CHANCE = {
    "percent_agreement": two_raters._no_chance,
    "cohen_kappa": two_raters._cohen_chance,
    "scott_pi": two_raters._scott_chance,
    "brennan_prediger": two_raters._uniform_chance,
    "gwet_ac1": two_raters._gwet_chance,
    "gwet_ac2": two_raters._gwet_chance,
}


def agreement_values(
    tables: npt.ArrayLike,
    coefficient: Coefficient,
    *,
    weights: Weights = None,
    level: Literal["nominal", "ordinal"] = "nominal",
) -> npt.NDArray[np.float64]:
    """How far do two judges agree in each of many tables?

    Parameters
    ----------
    tables : array_like, shape (..., k, k)
        Counts of the labels of two judges.
    coefficient : str
        The name of a function of this room for two judges, or ``"krippendorff_alpha"``.
    weights : as in `cohen_kappa`
        For the coefficients that take weights.
    level : {"nominal", "ordinal"}, default "nominal"
        For alpha.

    Returns
    -------
    ndarray of float, shape (...)
        The values that the functions give, without intervals; `nan` where a coefficient
        does not exist.

    Raises
    ------
    ValidationError
        If the coefficient or the level is unknown, weights or a level are given to one
        that has none, or the tables are not square or hold negative or non-finite
        counts.

    Notes
    -----
    Chapter: *Labels and rankings: LLMJudge*.

    Examples
    --------
    >>> agreement_values([[[40, 10], [15, 35]], [[50, 0], [0, 50]]], "cohen_kappa")
    array([0.5, 1. ])
    """
    counts = array("tables", tables)
    if counts.dtype.kind not in "iuf" or counts.ndim < 2 or counts.shape[-1] < 2:
        raise ValidationError(
            f"tables has dtype {counts.dtype} and shape {counts.shape}; give counts, "
            "k × k"
        )
    if (
        counts.shape[-2] != counts.shape[-1]
        or not ((counts >= 0) & np.isfinite(counts)).all()
    ):
        raise ValidationError(
            f"tables has shape {counts.shape}; give square tables of counts >= 0"
        )
    counts = counts.astype(float)
    n = counts.sum((-1, -2))
    k = counts.shape[-1]
    if weights is not None and coefficient in (
        "gwet_ac1",
        "krippendorff_alpha",
    ):
        raise ValidationError(f"{coefficient} takes no weights")
    if level not in ("nominal", "ordinal"):
        raise ValidationError(f"level is {level!r}; choose 'nominal' or 'ordinal'")
    if coefficient not in (*_CHANCE, "krippendorff_alpha"):
        raise ValidationError(
            f"no coefficient {coefficient!r}; choose from {', '.join(_CHANCE)}, "
            "krippendorff_alpha"
        )
    if level != "nominal" and coefficient != "krippendorff_alpha":
        raise ValidationError(f"{coefficient} takes weights, and no level")
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = counts / n[..., None, None]
        if coefficient == "krippendorff_alpha":
            return _alpha(shares, n, level)
        found = two_raters._Coefficient(
            _CHANCE[coefficient], disagreement(weights, k), None
        ).value(shares)
        return np.where(n > 0, found, np.nan)


def _alpha(
    shares: npt.NDArray[np.float64],
    n: npt.NDArray[np.float64],
    level: Literal["nominal", "ordinal"],
) -> npt.NDArray[np.float64]:
    """Compute alpha of items with two ratings each, from the shares of the pairs."""
    # Per item: how many of its two ratings each category has, and their disagreement.
    ratings = shares.sum(-1) + shares.sum(-2)
    coefficient = many_raters._Coefficient(level, None, None)
    differences = coefficient.differences(ratings / 2)
    disagreed = 2 * (shares * differences).sum((-1, -2))
    features = np.concatenate([ratings, disagreed[..., None]], axis=-1)
    # The correction for finite samples differs with n.
    return np.asarray(
        1 - (1 - coefficient.value(features)) * (1 - 1 / (2 * n)), np.float64
    )
