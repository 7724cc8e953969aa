"""Arrays, numbers and names that a caller gives, checked by name."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["given_array", "given_seed", "integer", "one_or_many"]

Shape = tuple[int | str, ...]
"""Lengths; a letter stands for any."""


def given_array(
    name: str, given: ArrayLike, *shapes: Shape, means: str = "", finite: bool = True
) -> NDArray[np.float64]:
    """`given` as an array of numbers of one of the shapes; `means` says what they are.

    Raises:
        ValueError: it has another shape, is no array of numbers or, where it has to be, not finite;
            the message names it.
    """
    wanted = " or ".join(_written(shape) for shape in shapes) + (f", {means}" if means else "")
    try:
        array = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} = {given!r}: must be an array of numbers, {wanted}") from None
    if not any(_fits(array.shape, shape) for shape in shapes):
        raise ValueError(f"{name} has shape {array.shape}: must be {wanted}")
    if finite and not np.isfinite(array).all():
        at = [int(k) for k in np.argwhere(~np.isfinite(array))[0]]
        raise ValueError(f"{name}{at} = {array[tuple(at)]}: must be finite")
    return array


def integer(name: str, value: int) -> int:
    """`value` as an integer.

    Raises:
        TypeError: it is none.
    """
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} = {value!r}: must be an integer") from None


def given_seed(seed: int) -> int:
    """`seed` as an integer of 64 bits.

    Raises:
        TypeError: it is no integer.
        ValueError: it is out of range.
    """
    number = integer("seed", seed)
    if not 0 <= number < 2**64:
        raise ValueError(f"seed = {number}: must be in [0, 2^64)")
    return number


def one_or_many(names: str | Sequence[str]) -> tuple[str, ...]:
    """Names as a tuple, one alone too."""
    return (names,) if isinstance(names, str) else tuple(names)


def _fits(there: tuple[int, ...], wanted: Shape) -> bool:
    return len(there) == len(wanted) and all(
        isinstance(b, str) or a == b for a, b in zip(there, wanted, strict=True)
    )


def _written(shape: Shape) -> str:
    return "(" + ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "") + ")"
