"""Newton's method for the one maximum of a concave likelihood of ratings."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.linalg import lapack

from judgelab._checks import whole
from judgelab.errors import NotConverged

Floats = npt.NDArray[np.float64]
Detail = TypeVar("Detail")

LAST_STEP = 1e-4
"""Newton stops after a step, in logits, that was no longer than this. On a long chain
of players a small gradient can hide a long way to the top; Newton's last step cannot:
what is left is of the order of its square."""
TOO_STEEP = -0.9
"""A step went too far if it ends where the slope along it is this many times the slope
at its start: as steep down as it was up."""


class Slope(NamedTuple):
    """What a likelihood looks like at one point.

    Parameters
    ----------
    gradient : ndarray, shape (n,)
        Wins minus expected wins.
    solve : callable
        ``(gradient, how far from tolerance) -> Newton step``.
    """

    gradient: Floats
    solve: Callable[[Floats, float], Floats]


def climb(
    start: Floats,
    look: Callable[[Floats], tuple[Slope, Detail]],
    allowed: Floats,
    max_iterations: int,
) -> tuple[Floats, Floats, Detail, int]:
    """Climb until wins and expected wins agree.

    Parameters
    ----------
    start : ndarray, shape (n,)
        Ratings to start from; centred first.
    look : callable
        Returns the slope at some ratings, and whatever else was found there.
    allowed : ndarray, shape (n,)
        The gradient at which to stop.
    max_iterations : int
        Looks at most.

    Returns
    -------
    ratings, gradient : ndarray
    detail
        What `look` found at these ratings.
    iterations : int

    Raises
    ------
    NotConverged
        If the wins are not matched after `max_iterations` looks.
    """
    max_iterations = whole("max_iterations", max_iterations, least=1)
    ratings = start - start.mean()
    step, rise = np.full_like(ratings, np.inf), np.inf
    for iteration in range(1, max_iterations + 1):
        slope, detail = look(ratings)
        gradient = slope.gradient
        off = float(np.max(np.abs(gradient) / allowed))
        if off <= 1 and np.abs(step).max() <= LAST_STEP:
            return ratings, gradient, detail, iteration
        # Also where off <= 1: beside millions of games a whole win is within tolerance.
        if iteration > 1 and not gradient @ step >= TOO_STEEP * rise:
            step, rise = step / 2, rise / 2
            ratings = ratings - step
            continue
        step = slope.solve(gradient, off)
        rise = float(gradient @ step)
        ratings = ratings + step
    raise NotConverged(
        f"after {max_iterations} Newton steps the wins of one are still "
        f"{np.abs(gradient).max():.3g} from what the ratings expect, and the last step "
        f"was {np.abs(step).max():.3g} logits; raise max_iterations, or state a prior "
        "if there is such an argument"
    )


def solved(matrix: Floats, right: Floats) -> Floats:
    """Solve a system (or a stack of them), or say why that is no use."""
    try:
        return np.asarray(np.linalg.solve(matrix, right), np.float64)
    except np.linalg.LinAlgError:
        raise NotConverged(
            "some counts are so unequal that the iteration came to ratings too far "
            "apart for double precision; leave out the players who hardly ever win or "
            "lose, or state a prior if there is such an argument"
        ) from None


def solved_definite(matrix: Floats, right: Floats) -> Floats:
    """Solve a symmetric positive definite system, by Cholesky's half of the work."""
    # The transpose is the same matrix, in the order that LAPACK takes without a copy.
    _, solution, failed = lapack.dposv(matrix.T, right, lower=1)
    # Rounding may have left the matrix not quite definite.
    return solved(matrix, right) if failed else np.asarray(solution, np.float64)


def conjugate_gradients(
    multiply: Callable[[Floats], Floats],
    diagonal: Floats,
    right: Floats,
    accuracy: float,
) -> Floats:
    """Solve a symmetric system of which only products are known, in mean-0 vectors.

    A common shift of all ratings is free without a prior, and of no use with one.

    Parameters
    ----------
    multiply : callable
        Matrix times vector.
    diagonal : ndarray, shape (n,)
        Of the matrix: the preconditioner.
    right : ndarray, shape (n,)
        The right-hand side.
    accuracy : float
        Wanted size of what is left, relative to `right`.
    """
    solution = np.zeros_like(right)
    # The right-hand side sums to 0, but for rounding.
    residual = right - right.mean()
    goal = accuracy * np.linalg.norm(right)
    scaled = residual / diagonal
    direction, size = scaled, residual @ scaled
    # In exact arithmetic as many steps as unknowns are enough.
    for _ in range(2 * right.size):
        if np.linalg.norm(residual) <= goal:
            break
        image = multiply(direction)
        bend = direction @ image
        if bend <= 0:
            # Nothing but rounding is left.
            break
        solution = solution + size / bend * direction
        residual = residual - size / bend * image
        scaled = residual / diagonal
        size, before = residual @ scaled, size
        direction = scaled + size / before * direction
    centred: Floats = solution - solution.mean()
    return centred


def rough(off: float) -> float:
    """Say how exactly to solve: far from the top a rough direction does."""
    return min(1e-2, max(1e-10, 1e-9 * off))
