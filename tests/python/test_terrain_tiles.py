"""stiction.TerrainTiles: worlds of one batch on different terrains of one height field."""

from __future__ import annotations

import numpy as np
import pytest
import stiction
from stiction import Batch, HeightScan, TerrainTiles

NY, NX, CELL = 6, 9, 0.1


def tile(row: int, column: int) -> np.ndarray:
    return np.random.default_rng([row, column]).uniform(-0.01, 0.01, (NY, NX)) + 0.1 * row


def tiles() -> TerrainTiles:
    return TerrainTiles([[tile(i, j) for j in range(4)] for i in range(3)], CELL)


def sample_points() -> np.ndarray:
    """Of the samples of a tile, from its middle; sample (j, i) at [j, i]."""
    x, y = np.arange(NX) - 0.5 * (NX - 1), np.arange(NY) - 0.5 * (NY - 1)
    return np.stack(np.meshgrid(x * CELL, y * CELL), axis=-1)


def test_every_sample_is_where_its_tile_is() -> None:
    laid = tiles()
    assert (laid.num_rows, laid.num_columns) == (3, 4)
    assert laid.size == pytest.approx([NX * CELL, NY * CELL])
    scene = stiction.Scene(name="tiles")
    scene.add_geometry("terrain", "world", laid.shape)
    scene.add_body("ball", stiction.Sphere(0.05), 1.0)
    batch = Batch(scene, 12)
    row, column = np.divmod(np.arange(12), 4)
    flat = np.array([0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 1.0])
    batch.reset(q=laid.place(flat, row, column, radius=0.0))
    scan = HeightScan(sample_points().reshape(-1, 2) * (1 - 1e-9), frame="ball")
    ground = batch.q[:, 2:3] - batch.observe(["heights"], scan=scan)
    for w in range(12):
        assert ground[w].reshape(NY, NX) == pytest.approx(tile(row[w], column[w]), abs=1e-7)
    found = laid.tile_at(batch.q[:, 0], batch.q[:, 1])
    assert (found[0] == row).all() and (found[1] == column).all()


def test_places_are_over_the_ground_around() -> None:
    laid = tiles()
    for radius in (0.0, 0.15, 0.3, 1.0):
        z = laid.origin(np.arange(3)[:, None], np.arange(4), radius)[..., 2]
        away = np.linalg.norm(sample_points(), axis=-1)
        for i in range(3):
            for j in range(4):
                near = away <= max(radius + 1e-9, 0.51 * CELL)  # 9 x 6: two samples at half a cell
                assert z[i, j] == tile(i, j)[near].max()
    assert laid.origin(1, 2).shape == (3,)
    q = np.zeros((2, 9))
    q[:, 8] = [5.0, 6.0]
    moved = laid.place(q, [0, 2], 1)
    assert moved[:, :3] == pytest.approx(laid.origin([0, 2], 1, 0.3))
    assert (moved[:, 3:] == q[:, 3:]).all() and (q[:, :3] == 0).all()
    assert laid.place(q[0], 1, 1).shape == (9,) and laid.place(q, 1, 1).shape == (2, 9)


def test_points_between_and_outside() -> None:
    laid = tiles()
    half = laid.size * [4, 3] / 2
    x = np.array([-half[0], half[0], 0.0, np.nan, -half[0] - 1e-6, half[0] - 1e-6])
    y = np.array([-half[1], 0.0, half[1], 0.0, 0.0, half[1] - 1e-6])
    row, column = laid.tile_at(x, y)
    assert row.tolist() == [0, -1, -1, -1, -1, 2]
    assert column.tolist() == [0, -1, -1, -1, -1, 3]


def test_bodies_stand_on_their_tiles() -> None:
    laid = TerrainTiles([[np.full((24, 24), 0.1 * (i + j)) for j in range(2)] for i in range(2)],
                        0.05)  # fmt: skip
    scene = stiction.Scene(name="tiles")
    scene.add_geometry("terrain", "world", laid.shape)
    scene.add_body("box", stiction.Box([0.1, 0.1, 0.05]), 2.0)
    batch = Batch(scene, 4, threads=2)
    flat = np.array([0.0, 0.0, 0.05, 0.0, 0.0, 0.0, 1.0])
    batch.reset(q=laid.place(flat, [0, 0, 1, 1], [0, 1, 0, 1]))
    batch.step(200)
    assert batch.q[:, 2] == pytest.approx([0.05, 0.15, 0.15, 0.25], abs=1e-4)
    assert (batch.contacts > 2).all()


def test_wrong_arguments_are_named() -> None:
    laid = tiles()
    q = np.zeros(19)
    for call, text in (
        (lambda: TerrainTiles([], CELL), "tiles is empty"),
        (lambda: TerrainTiles([[np.zeros(3)]], CELL), r"tiles\[0\]\[0\] has shape \(3,\)"),
        (lambda: TerrainTiles([[tile(0, 0)], []], CELL), r"tiles\[1\] has 0 tiles"),
        (lambda: TerrainTiles([[tile(0, 0), np.zeros((2, 2))]], CELL), r"tiles\[0\]\[1\]"),
        (lambda: TerrainTiles([[tile(0, 0) * np.nan]], CELL), "must be finite"),
        (lambda: TerrainTiles([[tile(0, 0)]], 0.0), "cell_size = 0.0"),
        (lambda: laid.origin(3, 0), r"row: must be in \[0, 3\)"),
        (lambda: laid.origin(0, -1), "column: must be in"),
        (lambda: laid.origin(0.0, 0), "row has dtype float64"),
        (lambda: laid.origin(0, 0, -1.0), "radius = -1.0"),
        (lambda: laid.place(np.zeros(3), 0, 0), "q has 3 entries"),
        (lambda: laid.place(np.zeros((2, 19)), [0, 1, 2], 0), "row and column have shape"),
        (lambda: laid.place(q, [[0]], 0), "row and column have shape"),
    ):
        with pytest.raises(ValueError, match=text):
            call()
