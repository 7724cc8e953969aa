"""Arguments of a Batch, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .given_array import integer

__all__ = ["count", "numbers", "spread"]

Floats = NDArray[np.float64]


def count(name: str, value: Any, least: int = 0) -> int:
    """A number of `least` to 2^31 - 1."""
    number = integer(name, value)
    if not least <= number < 2**31:
        raise ValueError(f"{name} = {number}: must be >= {least} and < 2^31")
    return number


def numbers(name: str, values: ArrayLike) -> Floats:
    """Real numbers of any shape."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biuf":
            raise TypeError
        return array.astype(np.float64, copy=False)
    except (TypeError, ValueError):
        text = repr(values)
        text = text if len(text) <= 60 else text[:57] + "..."
        raise ValueError(f"{name} = {text}: must be an array of real numbers") from None


def spread(name: str, values: ArrayLike, rows: int, columns: int) -> Floats:
    """(rows, columns); a vector is one number a row."""
    array = numbers(name, values)
    if array.shape == (rows,):
        array = array[:, None]
    if (
        array.ndim == 1
        or array.ndim > 2
        or any(n not in (1, whole) for n, whole in zip(array.shape, (rows, columns), strict=False))
    ):
        raise ValueError(
            f"{name} has shape {array.shape}: must be ({rows}, {columns}), ({rows},), "
            f"(1, {columns}) or ()"
        )
    return np.array(np.broadcast_to(array, (rows, columns)), order="C")
