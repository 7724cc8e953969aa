"""Rotations by lot, for tests that turn bodies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def random_rotation(rng: np.random.Generator) -> NDArray[np.float64]:
    """(3, 3), from nine normal numbers."""
    rotation: NDArray[np.float64] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    return rotation * np.sign(np.linalg.det(rotation))
