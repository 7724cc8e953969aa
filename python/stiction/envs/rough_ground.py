"""Random ground."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .._stiction import Shape
from ..counted_random import uniform
from ..given_array import given_seed
from ..terrain import height_field

__all__ = ["RoughGround"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class RoughGround:
    """A square of ground whose height is random every `feature` and smooth between.

    Attributes:
        roughness: of the highest over the lowest sample [m]; the lowest is at z = 0.
        feature: between places whose heights are independent, along x and y [m].
        size: of a side [m]; nothing lies beyond.
        cell_size: of the height field [m].
        seed: of the heights, in [0, 2^64).

    Raises:
        ValueError: a number is out of range.
        TypeError: the seed is no integer.
    """

    roughness: float = 0.04
    feature: float = 0.4
    size: float = 24.0
    cell_size: float = 0.1
    seed: int = 0
    _shape: Shape = field(init=False, repr=False, compare=False)
    _heights: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("roughness", "feature", "size", "cell_size"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise ValueError(f"{name} = {value}: must be finite and > 0 [m]")
        object.__setattr__(self, "seed", given_seed(self.seed))
        if self.feature < self.cell_size:
            raise ValueError(
                f"feature = {self.feature}: must be at least cell_size = {self.cell_size} [m]"
            )
        sampled: list[Floats] = []

        def sample(x: Floats, y: Floats) -> Floats:
            sampled.append(self._sample(x, y))
            return sampled[0]

        object.__setattr__(self, "_shape", height_field(sample, [self.size] * 2, self.cell_size))
        object.__setattr__(self, "_heights", sampled[0])

    def shape(self) -> Shape:
        """The height field, about the origin."""
        return self._shape

    def height(self, x: Floats, y: Floats) -> Floats:
        """Of the surface [m], of the nearest place at its edge where it has none."""
        last = len(self._heights) - 1
        u, v = (np.clip((p / self.size + 0.5) * last, 0.0, last) for p in (x, y))
        i, j = (np.minimum(p.astype(np.int64), last - 1) for p in (u, v))
        a, b = u - i, v - j
        low, high = self._heights[j, i], self._heights[j + 1, i + 1]
        # A cell is two triangles that share the diagonal from its low corner: see HeightField.
        side = np.where(a >= b, self._heights[j, i + 1], self._heights[j + 1, i])
        big, small = np.maximum(a, b), np.minimum(a, b)
        return np.asarray(low + big * (side - low) + small * (high - side))

    def _sample(self, x: Floats, y: Floats) -> Floats:
        """Random numbers at the corners of squares, between them by smooth weights."""
        n = int(np.ceil(self.size / self.feature)) + 2
        rows = np.arange(n)
        corners = uniform(self.seed, rows, np.zeros(n, np.int64), n)
        u, v = ((p + 0.5 * self.size) / self.feature for p in (x, y))
        i, j = (p.astype(np.int64) for p in (u, v))
        a, b = (t * t * (3.0 - 2.0 * t) for t in (u - i, v - j))
        front = corners[j, i] + a * (corners[j, i + 1] - corners[j, i])
        back = corners[j + 1, i] + a * (corners[j + 1, i + 1] - corners[j + 1, i])
        z = front + b * (back - front)
        z -= z.min()
        return np.asarray(self.roughness / z.max() * z)
