"""Is an argument what it has to be? Asked before anything is computed with it.

Python finds only deep inside that a word is no number, and NumPy makes numbers of much
that is none: of words, of dates, of what a mask hides. Here the question has its one
answer, and the answer names the argument. What range a number must be in is for each
function to say, but for the most common.
"""

from __future__ import annotations

import numbers as abstract
from typing import Any

import numpy as np
import numpy.typing as npt

from judgelab.errors import ValidationError


def check_real(**arguments: Any) -> None:
    """Refuse what is no real number; infinity and `nan` are for the range to refuse.

    Raises
    ------
    ValidationError
        Naming the argument.

    Examples
    --------
    >>> check_real(share=0.5, width=1)
    """
    for name, value in arguments.items():
        if not is_real(value):
            raise ValidationError(f"{name} is {value!r}; give a number")


def check_positive(**arguments: Any) -> None:
    """Refuse what is no finite number above 0.

    Raises
    ------
    ValidationError
        Naming the argument.

    Examples
    --------
    >>> check_positive(tolerance=1e-9)
    """
    check_real(**arguments)
    for name, value in arguments.items():
        if not 0 < value < np.inf:
            raise ValidationError(f"{name} is {value!r}; give a finite number above 0")


def whole(name: str, value: Any, *, least: int = 0) -> int:
    """Return a whole number as an `int`, also where it came as a float.

    Raises
    ------
    ValidationError
        If it is no whole number, or below `least`.

    Examples
    --------
    >>> whole("draws", 50.0, least=1)
    50
    """
    # What is not below infinity is nan or infinity itself.
    if not is_real(value) or not least <= value < np.inf or value % 1:
        raise ValidationError(
            f"{name} is {value!r}; give a whole number, at least {least}"
        )
    return int(value)


def is_real(value: Any) -> bool:
    """Tell numbers from words, and from truth values, which Python counts with."""
    return isinstance(value, abstract.Real) and not isinstance(value, bool)


def refuse_mask(name: str, values: Any) -> None:
    """Refuse what is hidden in places: NumPy would go on with what the mask hides.

    Raises
    ------
    ValidationError
        If anything is masked.

    Examples
    --------
    >>> refuse_mask("clusters", ["a", "b"])
    """
    if np.ma.is_masked(values):
        raise ValidationError(
            f"{name} is masked in places; fill the values in, or leave them out"
        )


def array(name: str, values: npt.ArrayLike, give: str = "numbers") -> npt.NDArray[Any]:
    """Return an array of numbers or truth values, whatever container they came in.

    Nullable columns of pandas reach NumPy as objects; where nothing is missing these
    are plain numbers. The message ends with what to `give` instead.

    Raises
    ------
    ValidationError
        If something is masked, missing, no number, or the rows differ in length.

    Examples
    --------
    >>> array("counts", np.array([[1, 2]], dtype=object)).dtype
    dtype('int64')
    """
    refuse_mask(name, values)
    try:
        found = np.asarray(values)
        if found.dtype.kind == "O":
            found = np.asarray(found.tolist())
    except (TypeError, ValueError):
        raise ValidationError(
            f"{name} is a {type(values).__name__} of which no array can be made; give "
            f"{give}, in rows of one length"
        ) from None
    if found.dtype.kind not in "biuf":
        odd = [x for x in np.ravel(found)[:1000].tolist() if not is_real(x)][:3]
        raise ValidationError(
            f"{name} has dtype {found.dtype}, with values such as {odd}; give {give}"
        )
    return found


def floats(name: str, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return an array of floats; missing ones are `nan`, for the caller to refuse.

    Raises
    ------
    ValidationError
        As `array`.

    Examples
    --------
    >>> floats("labels", [1, 0, 1])
    array([1., 0., 1.])
    """
    return array(name, values).astype(np.float64)


def random_generator(rng: Any) -> np.random.Generator:
    """Return the generator, or that of a seed, so that what is drawn can be repeated.

    Raises
    ------
    ValidationError
        If it is neither.

    Examples
    --------
    >>> random_generator(1).integers(10)
    np.int64(4)
    """
    if isinstance(rng, np.random.Generator):
        return rng
    if not isinstance(rng, int | np.integer) or isinstance(rng, bool) or rng < 0:
        raise ValidationError(
            f"rng is {rng!r}, and draws must be repeatable; pass rng= a NumPy "
            "Generator or a seed (a whole number, at least 0)"
        )
    return np.random.default_rng(rng)
