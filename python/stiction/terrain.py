"""Height fields from functions."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._stiction import HeightField, Shape

__all__ = ["height_field"]

MOST_CELLS = 1e7
"""At about a hundred bytes each: a gigabyte."""


def height_field(
    function: Callable[[NDArray[np.float64], NDArray[np.float64]], ArrayLike],
    size: ArrayLike,
    cell_size: float,
    depth: float = 0.0,
) -> Shape:
    """A HeightField that samples z = function(x, y) [m] on a grid about the origin.

    Args:
        function: takes x and y as arrays (ny, nx) [m] and returns heights that broadcast to them.
        size: (2,) extent of the grid along x and y [m].
        cell_size: largest side of a cell [m]; the cells divide the size evenly.
        depth: of solid under the lowest sample [m]; 0: the diagonal of the grid.

    Raises:
        ValueError: a size that is not positive, more than 1e7 cells, heights that are not finite,
            or an array of another shape than x and y.
    """
    extent = np.asarray(size, dtype=np.float64)
    if extent.shape != (2,) or not np.all(np.isfinite(extent) & (extent > 0)):
        raise ValueError(f"height_field: size = {size!r} must be two numbers > 0 [m]")
    if not (np.isfinite(cell_size) and cell_size > 0):
        raise ValueError(f"height_field: cell_size = {cell_size} must be finite and > 0 [m]")
    wanted = np.maximum(np.ceil(extent / cell_size * (1 - 1e-12)), 1)
    if not wanted.prod() <= MOST_CELLS:
        raise ValueError(
            f"height_field: size = {size!r} in cells of {cell_size:g} m are {wanted.prod():.3g} "
            f"cells: must be at most {MOST_CELLS:.0e}; take a larger cell_size"
        )
    cells = wanted.astype(int)
    axes = [np.linspace(-0.5, 0.5, n + 1) * e for n, e in zip(cells, extent, strict=True)]
    x, y = np.meshgrid(*axes)
    samples = np.asarray(function(x, y), dtype=np.float64)
    try:
        heights = np.broadcast_to(samples, x.shape)
    except ValueError:
        raise ValueError(
            f"height_field: function(x, y) has shape {samples.shape}: must be that of x and y, "
            f"{x.shape}, or broadcast to it"
        ) from None
    return HeightField(heights, extent / cells, depth)
