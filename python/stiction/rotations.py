"""Rotations, many at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["rotations"]

Floats = NDArray[np.float64]


def rotations(quaternions: Floats) -> Floats:
    """(..., 3, 3) matrices of unit quaternions (..., 4), x y z w."""
    x, y, z, w = np.moveaxis(quaternions, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))
