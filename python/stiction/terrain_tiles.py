"""Many terrains side by side in one height field, and worlds that begin on them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._stiction import HeightField, Shape
from .given_array import given_array
from .terrain import MOST_CELLS

__all__ = ["TerrainTiles"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class TerrainTiles:
    """Tiles of heights laid out in one height field. All worlds of a batch have the same ground;
    each stands on the tile where it was put.

        tiles = stiction.TerrainTiles([[bumps(level) for seed in range(8)] for level in range(5)],
                                      cell_size=0.05)
        scene.add_geometry("terrain", "world", tiles.shape)
        batch = stiction.Batch(scene, N)
        batch.reset(q=tiles.place(standing, level, column))      # (N,) each
        row, column = tiles.tile_at(batch.q[:, 0], batch.q[:, 1])

    Columns run along x, rows along y, the middle of the field is the geometry's origin. Tiles lie
    one cell apart, which joins their edges: what differs there becomes a slope over one cell. A
    robot that walks on comes to the next tile, and beyond the outermost there is nothing: reset it
    before, by `tile_at` or its distance from `origin`.

    Args:
        tiles: rows of tiles, each (ny, nx) samples of height [m], y along the first axis; all of
            one shape of at least 2 x 2.
        cell_size: of the square cells [m].
        depth: of solid under the lowest sample [m]; 0: the diagonal of the field.

    Raises:
        ValueError: naming the tile that is of another shape or not finite, or the number that is
            out of range; more than 1e7 cells.

    Attributes:
        heights: (rows ny, columns nx) all samples [m].
        shape: their HeightField.
        num_rows, num_columns: of tiles.
        size: (2,) of a tile along x, y [m], the joining cell included.
    """

    def __init__(
        self, tiles: Sequence[Sequence[ArrayLike]], cell_size: float, depth: float = 0.0
    ) -> None:
        if not (np.isfinite(cell_size) and cell_size > 0):
            raise ValueError(f"cell_size = {cell_size}: must be finite and > 0 [m]")
        rows = [list(row) for row in tiles]
        if not rows or not rows[0]:
            raise ValueError("tiles is empty: must have a row of at least one tile")
        shape = np.shape(rows[0][0])
        if len(shape) != 2 or min(shape) < 2:
            raise ValueError(f"tiles[0][0] has shape {shape}: must be (ny, nx), at least (2, 2)")
        for i, row in enumerate(rows):
            if len(row) != len(rows[0]):
                raise ValueError(
                    f"tiles[{i}] has {len(row)} tiles: must have {len(rows[0])} as the first row"
                )
            for j, tile in enumerate(row):
                row[j] = given_array(f"tiles[{i}][{j}]", tile, (*shape,))
        samples = len(rows) * len(rows[0]) * shape[0] * shape[1]
        if samples > MOST_CELLS:
            raise ValueError(f"tiles have {samples} samples: must be at most {MOST_CELLS:.0e}")
        self.heights: Floats = np.block([[np.asarray(t) for t in row] for row in rows])
        self.shape: Shape = HeightField(self.heights, [cell_size, cell_size], depth)
        self.num_rows, self.num_columns = len(rows), len(rows[0])
        self.size: Floats = np.array([shape[1], shape[0]]) * float(cell_size)
        self._cell = float(cell_size)

    def origin(self, row: ArrayLike, column: ArrayLike, radius: float = 0.0) -> Floats:
        """Middles of tiles, on the ground.

        Args:
            row, column: of tiles, integers that broadcast.
            radius: z is the highest sample within this of the middle [m], the nearest included.

        Returns:
            (..., 3) in the field's frame [m].

        Raises:
            ValueError: there is no such tile, a radius < 0.
        """
        i, j = np.broadcast_arrays(
            _index("row", row, self.num_rows), _index("column", column, self.num_columns)
        )
        if not (np.isfinite(radius) and radius >= 0):
            raise ValueError(f"radius = {radius}: must be finite and >= 0 [m]")
        return np.asarray(self._origins(radius)[i, j])

    def place(self, q: ArrayLike, row: ArrayLike, column: ArrayLike, radius: float = 0.3) -> Floats:
        """Configurations moved onto tiles: those of a robot that stands over the origin on z = 0,
        on a free-flyer that is the scene's first joint.

        Args:
            q: (nq,) or (N, nq).
            row, column: (N,) or a number.
            radius: as in origin(): no sample that near is higher than the ground it stands on.

        Returns:
            (N, nq), (nq,) of single ones: what `Batch.reset` takes.

        Raises:
            ValueError: as origin(); q is of another shape.
        """
        given = given_array("q", q, ("nq",), ("N", "nq"))
        if given.shape[-1] < 7:
            raise ValueError(f"q has {given.shape[-1]} entries: must begin with a free-flyer's 7")
        origin = self.origin(row, column, radius)
        try:
            worlds = np.broadcast_shapes(given.shape[:-1], origin.shape[:-1])
        except ValueError:
            worlds = (0, 0)
        if len(worlds) > 1:
            raise ValueError(
                f"row and column have shape {origin.shape[:-1]}: must be (N,) or (), with "
                f"{given.shape[:-1]} rows of q"
            )
        out = np.array(np.broadcast_to(given, (*worlds, given.shape[-1])))
        out[..., :3] += origin
        return out

    def tile_at(self, x: ArrayLike, y: ArrayLike) -> tuple[Ints, Ints]:
        """Row and column of the tiles over which points of the field's frame lie [m]; -1 outside,
        and where a number is not finite."""
        px, py = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        column = _cells(px / self.size[0] + 0.5 * self.num_columns, self.num_columns)
        row = _cells(py / self.size[1] + 0.5 * self.num_rows, self.num_rows)
        outside = (row < 0) | (column < 0)
        return np.where(outside, -1, row), np.where(outside, -1, column)

    def _origins(self, radius: float) -> Floats:
        """(rows, columns, 3)."""
        nx, ny = self.heights.shape[1] // self.num_columns, self.heights.shape[0] // self.num_rows
        dx = (np.arange(nx) - 0.5 * (nx - 1)) * self._cell
        dy = (np.arange(ny)[:, None] - 0.5 * (ny - 1)) * self._cell
        about = 0.5 * self._cell * (1 + 1e-9)
        near = (np.abs(dx) <= about) & (np.abs(dy) <= about)
        near |= np.sqrt(dx**2 + dy**2) <= radius * (1 + 1e-9)
        tiles = self.heights.reshape(self.num_rows, ny, self.num_columns, nx).swapaxes(1, 2)
        out = np.empty((self.num_rows, self.num_columns, 3))
        out[..., 0] = (np.arange(self.num_columns) + 0.5 * (1 - self.num_columns)) * self.size[0]
        out[..., 1].T[:] = (np.arange(self.num_rows) + 0.5 * (1 - self.num_rows)) * self.size[1]
        out[..., 2] = tiles[:, :, near].max(axis=-1)
        return out


def _cells(at: Floats, count: int) -> Ints:
    inside = (at >= 0) & (at < count)
    return np.where(inside, np.floor(np.where(inside, at, 0.0)), -1).astype(np.int64)


def _index(name: str, value: ArrayLike, count: int) -> Ints:
    array = np.asarray(value)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{name} has dtype {array.dtype}: must be integers")
    if array.size and not (array.min() >= 0 and array.max() < count):
        raise ValueError(f"{name}: must be in [0, {count}), not {array.min()} to {array.max()}")
    return array.astype(np.int64)
