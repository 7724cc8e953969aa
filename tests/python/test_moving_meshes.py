"""Meshes that move: on meshes, and on every kind of ground."""

from __future__ import annotations

import numpy as np
import pytest
import stiction
from random_rotations import random_rotation
from surfaces import CUBE, CUBE_TRIANGLES, MATERIAL, bowl, pose, run, scene_with, torus


def test_linked_rings_stay_linked() -> None:
    ring = stiction.TriangleMesh(*torus(1.0, 0.25, 24, 12))
    scene = scene_with(ring, X_W=pose((0, 0, 0), (np.pi / 2, 0, 0)))
    scene.add_body("ring", ring, 1.0, pose((1.0, 0.0, -0.3), (0.2, 0.1, 0.0)), MATERIAL)
    sim = stiction.Simulator(scene)
    state, control = sim.initial_state(), sim.hold()
    energy = []
    for _ in range(3000):
        report = sim.step(state, control)
        energy.append(report.energy)
        assert report.penetration < 0.01
        assert -1.6 < state.q[2] < 0.1  # it hangs in the other
    assert len(sim.contacts()) > 0
    assert energy[-1] < energy[0] - 1.0
    assert max(energy) <= energy[0] + 1e-3


def test_bowl_settles_in_a_bowl() -> None:
    scene = scene_with(stiction.TriangleMesh(*bowl(1.0, 0.05, 24, 8)))
    inner = stiction.TriangleMesh(*bowl(0.8, 0.05, 24, 8))
    scene.add_body("inner", inner, 1.0, pose((0.02, 0.01, 0.1), (0.1, 0.0, 0.0)), MATERIAL)
    sim, state = run(scene, 2000)
    assert np.linalg.norm(state.q[:3]) < 0.2
    assert np.abs(state.v).max() < 0.5
    assert 1 <= len(sim.contacts()) <= 32
    assert max(abs(c.gap) for c in sim.contacts()) < 2e-3


@pytest.mark.parametrize("side", [(0.01, 0.02), (0.0, 0.0), (0.05, 0.0)])
@pytest.mark.parametrize("depth", [0.001, 0.015, 0.03, 0.08])
@pytest.mark.parametrize("kind", ["mesh", "box", "hull"])
def test_cubes_that_start_overlapping_come_apart(
    kind: str, depth: float, side: tuple[float, float]
) -> None:
    """Two cubes of 20 cm, the upper one sunk into the lower: it is pushed out upwards and rests."""
    mesh = stiction.TriangleMesh(0.1 * CUBE, CUBE_TRIANGLES)
    upper = {
        "mesh": mesh,
        "box": stiction.Box([0.1, 0.1, 0.1]),
        "hull": stiction.ConvexMesh(0.1 * CUBE),
    }[kind]
    scene = scene_with(mesh)
    scene.add_body("body", upper, 1.0, pose((*side, 0.2 - depth)), MATERIAL)
    sim, state = run(scene, 2000)
    assert state.q[2] == pytest.approx(0.2, abs=1e-3)
    assert state.q[:2] == pytest.approx(side, abs=0.02)
    assert np.abs(state.v).max() < 0.3  # it rocks for a while
    assert len(sim.contacts()) > 0


def placed(rotation: np.ndarray, position: list[float]) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = rotation, position
    return X


def blocks(cells: list[tuple[int, int, int]], side: float) -> tuple[np.ndarray, np.ndarray]:
    """Triangles around unit cubes, about the middle of their corners."""
    vertices: list[np.ndarray] = []
    triangles: list[list[int]] = []
    for cell in cells:
        for k in range(3):
            for s in (0, 1):
                step = np.eye(3, dtype=int)[k] * (2 * s - 1)
                if tuple(np.add(cell, step)) in cells:
                    continue
                u, v = np.eye(3)[(k + 1) % 3], np.eye(3)[(k + 2) % 3]
                corner = np.array(cell) + s * np.eye(3)[k]
                n = len(vertices)
                vertices += [corner, corner + u, corner + u + v, corner + v]
                quad = [n, n + 1, n + 2, n + 3] if s else [n, n + 3, n + 2, n + 1]
                triangles += [[quad[0], quad[1], quad[2]], [quad[0], quad[2], quad[3]]]
    p = np.array(vertices) * side
    return p - 0.5 * (p.min(0) + p.max(0)), np.array(triangles)


TETRAHEDRON = np.array([[0, 0, 0], [0.2, 0, 0], [0, 0.2, 0], [0, 0, 0.2]]) - 0.05
MOVING = {
    "tetrahedron": (TETRAHEDRON, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])),
    "angle": blocks([(0, 0, 0), (1, 0, 0), (0, 1, 0)], 0.1),
    "ring": blocks([(i, j, 0) for i in range(3) for j in range(3) if (i, j) != (1, 1)], 0.07),
}
FLOORS = {
    "half-space": (None, 0.0),
    "box": (stiction.Box([1, 1, 0.1]), -0.1),
    "mesh": (stiction.TriangleMesh(CUBE * [1, 1, 0.1], CUBE_TRIANGLES), -0.1),
    "field": (stiction.HeightField(np.zeros((9, 9)), [0.25, 0.25], depth=0.2), 0.0),
}


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("body", MOVING)
def test_dropped_meshes_meet_nothing_but_the_floor(body: str, floor: str) -> None:
    ground, height = FLOORS[floor]
    mesh = stiction.TriangleMesh(*MOVING[body])
    for seed in range(3):
        rng = np.random.default_rng(seed)
        scene = stiction.Scene()
        if ground is None:
            scene.add_ground(MATERIAL)
        else:
            scene.add_geometry("floor", -1, ground, placed(np.eye(3), [0, 0, height]), MATERIAL)
        turn = random_rotation(rng)
        scene.add_body("mesh", mesh, 1.0, placed(turn, [0, 0, 0.25]), MATERIAL)
        sim = stiction.Simulator(scene, dt=1e-3)
        state = sim.initial_state()
        state.v[:] = 0.5 * rng.normal(size=6)
        start = None
        for _ in range(500):
            report = sim.step(state)
            start = report.energy if start is None else start
            assert report.penetration < 3e-3  # free fall: 2 mm a step
            assert report.energy < start + 0.05  # of about 2.5 J above the floor
        assert state.q[2] > 0.0


def test_a_mesh_near_a_flush_face_is_no_deeper_than_its_hull() -> None:
    vertices, triangles = MOVING["tetrahedron"]
    mesh, hull = stiction.TriangleMesh(vertices, triangles), stiction.ConvexMesh(vertices)
    box = stiction.Box([1, 1, 0.1])
    rng = np.random.default_rng(1)
    met = 0
    for _ in range(500):
        c, s = np.cos(a := rng.uniform(-1e-3, 1e-3)), np.sin(a)
        X = placed(np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]), [0, 0, 0])
        X[2, 3] = 0.1 + rng.uniform(-1e-4, 1e-3) - (vertices @ X[:3, :3].T)[:, 2].min()
        gaps = [p.gap for p in stiction.contact_manifold(box, None, mesh, X, 1e-3)]
        distance = stiction.distance(box, None, hull, X).distance
        met += bool(gaps)
        assert min(gaps, default=1.0) >= distance - 2e-5
        assert stiction.distance(box, None, mesh, X).distance == pytest.approx(distance, abs=1e-9)
    assert met > 400
