"""Height scans of Batch.observe against NumPy on the same ground."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio
import pytest
import stiction
from stiction import Batch, HeightScan


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def on_field(heights: np.ndarray, dx: float, dy: float, x: float, y: float) -> float:
    """Of the two triangles of the cell, the diagonal from its lower to its upper corner."""
    ny, nx = heights.shape
    u, v = x / dx + (nx - 1) / 2, y / dy + (ny - 1) / 2
    if not (0 <= u <= nx - 1 and 0 <= v <= ny - 1):
        return np.nan
    i, j = min(int(u), nx - 2), min(int(v), ny - 2)
    s, t = u - i, v - j
    h00, h10, h01, h11 = heights[j, i], heights[j, i + 1], heights[j + 1, i], heights[j + 1, i + 1]
    if s >= t:
        return float(h00 + s * (h10 - h00) + t * (h11 - h10))
    return float(h00 + t * (h01 - h00) + s * (h11 - h01))


def turned_points(points: np.ndarray, q: np.ndarray) -> np.ndarray:
    """In the world, from the heading of a free-flyer."""
    rotation = pinocchio.Quaternion(q[3:7]).toRotationMatrix()
    yaw = np.arctan2(rotation[1, 0], rotation[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    return np.asarray(q[:2] + points @ np.array([[c, s], [-s, c]]))


def placed(batch: Batch) -> None:
    """Anywhere about the origin, turned in every way."""
    rng = np.random.default_rng(4)
    batch.q[:, :3] = rng.uniform([-1.5, -1.5, 0.3], [1.5, 1.5, 0.9], (batch.num_worlds, 3))
    batch.q[:, 3:7] = rng.normal(size=(batch.num_worlds, 4))
    batch.q[:, 3:7] /= np.linalg.norm(batch.q[:, 3:7], axis=1)[:, None]


def scene_on(add: Callable[[stiction.Scene], object]) -> stiction.Scene:
    scene = stiction.Scene(name="scan")
    add(scene)
    scene.add_body("box", stiction.Box([0.2, 0.1, 0.1]), 1.0)
    return scene


def test_heights_of_a_height_field() -> None:
    rng = np.random.default_rng(3)
    heights, dx, dy = rng.uniform(-0.3, 0.3, (13, 17)), 0.25, 0.3
    scene = scene_on(
        lambda s: s.add_geometry("field", "world", stiction.HeightField(heights, [dx, dy]))
    )
    batch = Batch(scene, 20, threads=2)
    placed(batch)
    scan = HeightScan.grid(np.linspace(-0.6, 0.6, 7), np.linspace(-0.4, 0.4, 5), frame="box")
    points = np.asarray(scan.points)
    assert points.shape == (35, 2)
    seen = batch.observe(["heights"], scan=scan)
    expected = np.array(
        [
            [q[2] - on_field(heights, dx, dy, x, y) for x, y in turned_points(points, q)]
            for q in batch.q
        ]
    )
    assert np.isnan(expected).any() and np.isfinite(expected).mean() > 0.5
    assert seen == pytest.approx(expected, abs=1e-12, nan_ok=True)
    told = batch.observe(["heights"], scan=HeightScan(points, frame="box", miss=5.0, above=3.0))
    assert same_bits(np.isnan(expected), told == 5.0)


@pytest.mark.parametrize("turn", [(0, 0, 0.0), (0, 0, 0.7), (0.2, -0.1, 0.5), (np.pi, 0, 0)])
def test_placed_height_fields_are_seen_as_by_rays(turn: tuple[float, float, float]) -> None:
    """Upright ones are looked up by their cells, others searched; one upside down has no top."""
    heights = np.random.default_rng(7).uniform(-0.3, 0.3, (13, 17))
    X = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(*turn), np.array([0.3, -0.2, 0.1]))
    field = stiction.HeightField(heights, [0.25, 0.3])
    scene = scene_on(lambda s: s.add_geometry("field", "world", field, X))
    batch = Batch(scene, 20)
    placed(batch)
    batch.q[:5, 2] -= 0.7  # under the surface: rays begin there
    points = np.random.default_rng(8).uniform(-0.5, 0.5, (11, 2))
    scan = HeightScan(points, frame="box", above=0.1, miss=np.inf)
    seen = batch.observe(["heights"], scan=scan)
    for w in range(20):
        origins = np.column_stack((turned_points(points, batch.q[w]), np.full(11, 0.0)))
        origins[:, 2] = batch.q[w, 2] + 0.1
        down = np.tile([0.0, 0.0, -1.0], (11, 1))
        hits = stiction.ray_cast(scene, batch.state(w), origins, down, ignored=["box"])
        assert seen[w] == pytest.approx(np.asarray(hits.distances) - 0.1, abs=1e-9)
    assert np.isfinite(seen).any() == (turn[0] != np.pi) and np.isinf(seen).any()


def test_heights_of_planes_meshes_and_boxes() -> None:
    vertices = np.array([[-2, -2, 0], [2, -2, 0.4], [2, 2, 0.8], [-2, 2, 0.4]], float)
    triangles = [[0, 1, 2], [0, 2, 3]]

    def add(scene: stiction.Scene) -> None:
        scene.add_half_space("slope", [0.0, 0.0, -0.5], [0.3, 0.0, 1.0])
        scene.add_geometry("mesh", "world", stiction.TriangleMesh(vertices, triangles))
        step = pinocchio.SE3(np.eye(3), np.array([0.5, 0.0, 0.4]))
        scene.add_geometry("step", "world", stiction.Box([0.5, 3.0, 0.5]), step)

    batch = Batch(scene_on(add), 30)
    placed(batch)
    points = np.random.default_rng(1).uniform(-0.7, 0.7, (9, 2))
    sides: dict[str, Callable[[float, float], float]] = {
        "slope": lambda x, y: -0.5 - 0.3 * x,
        "mesh": lambda x, y: 0.4 + 0.1 * x + 0.1 * y if max(abs(x), abs(y)) <= 2 else -np.inf,
        "step": lambda x, y: 0.9 if abs(x - 0.5) <= 0.5 and abs(y) <= 3 else -np.inf,
    }
    for ground in (["slope"], ["mesh", "slope"], None, ["step"]):
        scan = HeightScan(points, frame="box", ground=ground, miss=np.inf)
        seen = batch.observe(["heights"], scan=scan)
        for w, q in enumerate(batch.q):
            for k, (x, y) in enumerate(turned_points(points, q)):
                top = max(sides[name](x, y) for name in ground or sides)
                assert seen[w, k] == pytest.approx(q[2] - top, abs=1e-12)
    assert np.isinf(seen).any() and np.isfinite(seen).any()


def test_heights_of_worlds_with_ground_of_their_own() -> None:
    scene = scene_on(lambda s: s.add_geometry("table", "world", stiction.Box([2.0, 2.0, 0.5])))
    batch = Batch(scene, 3)
    batch.q[:, 2] = 2.0
    parameters = batch.parameters(1)
    parameters.geometry_size[0] = [2.0, 2.0, 0.7]
    batch.set_parameters(1, parameters)
    seen = batch.observe(["heights"], scan=HeightScan([[0.0, 0.0]]))
    assert seen[:, 0] == pytest.approx([1.5, 1.3, 1.5])
