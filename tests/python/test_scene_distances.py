"""Distances of a whole scene, and of surfaces, against references of their own."""

from __future__ import annotations

import numpy as np
import pytest
import stiction
from surfaces import bowl, floor_triangles, pose, run, torus


def mixed_scene(count: int, seed: int) -> stiction.Scene:
    rng = np.random.default_rng(seed)
    scene = stiction.Scene()
    scene.add_ground()
    scene.add_geometry("wall", "world", stiction.Box([2.0, 0.1, 1.0]), pose((0.0, 2.0, 1.0)))
    shapes = [
        lambda s: stiction.Sphere(s),
        lambda s: stiction.Box([s, 0.7 * s, 1.3 * s]),
        lambda s: stiction.Capsule(0.5 * s, s),
        lambda s: stiction.ConvexMesh(rng.normal(size=(20, 3)) * s),
    ]
    for k in range(count):
        p = rng.uniform([-1.5, -1.5, 0.1], [1.5, 1.5, 2.0])
        shape = shapes[k % 4](rng.uniform(0.05, 0.3))
        scene.add_body(f"body{k}", shape, 1.0, pose(tuple(p), tuple(rng.uniform(-3, 3, 3))))
    return scene


@pytest.mark.parametrize("bound", [0.0, 0.25, np.inf])
def test_agree_with_every_pair(bound: float) -> None:
    scene = mixed_scene(30, 1)
    scene.disable_pair("body1", "body2")
    sim = stiction.Simulator(scene)
    state = sim.initial_state()
    poses = sim.body_poses(state)
    placed = [
        (poses[g.body] if g.body >= 0 else pose((0, 0, 0))) * scene.parameters.geometry_placement(i)
        for i, g in enumerate(scene.geometries)
    ]
    expected = {}
    for a in range(len(placed)):
        for b in range(a + 1, len(placed)):
            if not scene.pair_enabled(a, b):
                continue
            A, B = scene.geometries[a].shape, scene.geometries[b].shape
            r = stiction.distance(A, placed[a], B, placed[b])
            if r.distance <= bound:
                expected[a, b] = r
    found = scene.distances(state, bound)
    assert [(p.geometry_a, p.geometry_b) for p in found] == sorted(expected)
    assert len(found) >= {0.0: 5, 0.25: 20}.get(bound, 300)
    for p in found:
        r = expected[p.geometry_a, p.geometry_b]
        assert p.distance == r.distance
        assert p.normal == pytest.approx(r.normal, abs=0)
        assert p.witness_b - p.witness_a == pytest.approx(p.distance * p.normal, abs=1e-12)
        assert p.status == r.status


def test_bounds_and_states_are_checked() -> None:
    scene = mixed_scene(2, 3)
    state = stiction.Simulator(scene).initial_state()
    with pytest.raises(ValueError, match=r"max_distance = -0\.1"):
        scene.distances(state, -0.1)
    with pytest.raises(ValueError, match="state"):
        scene.distances(np.zeros(3))
    with pytest.raises(ValueError, match=r"state\.q\[2\] = nan"):
        q = np.array(state.q)
        q[2] = np.nan
        scene.distances(q)


def point_to_triangles(p, v, t):
    """Least distance by projected gradient in barycentric corners: faces, then edges."""
    a, b, c = (v[t[:, k]] for k in range(3))
    n = np.cross(b - a, c - a)
    best = np.inf
    area = np.linalg.norm(n, axis=1)
    height = np.einsum("ij,ij->i", n, p - a) / area
    foot = p - n * (height / area)[:, None]
    w = np.stack(
        [
            np.einsum("ij,ij->i", n, np.cross(y - x, foot - x)) / area**2
            for x, y in ((a, b), (b, c), (c, a))
        ]
    )
    over = np.all(w >= 0, axis=0)
    if over.any():
        best = np.min(np.abs(height[over]))
    for x, y in ((a, b), (b, c), (c, a)):
        e = y - x
        s = np.clip(np.einsum("ij,ij->i", p - x, e) / np.einsum("ij,ij->i", e, e), 0, 1)
        best = min(best, np.min(np.linalg.norm(p - x - s[:, None] * e, axis=1)))
    return best


@pytest.mark.parametrize("kind", ["torus", "field"])
def test_distance_of_a_ball_to_a_surface(kind: str) -> None:
    rng = np.random.default_rng(2)
    if kind == "torus":
        shape = stiction.TriangleMesh(*torus(1.0, 0.3))
    else:
        shape = stiction.HeightField(rng.normal(size=(21, 21)) * 0.05, [0.1, 0.1])
    v, t = shape.vertices, shape.triangles
    X = pose((0.2, 0.1, -0.3), (0.3, 0.2, 0.1))
    tested = 0
    for _ in range(60):
        p = rng.uniform(-2, 2, 3) if kind == "torus" else rng.uniform([-1, -1, 0.3], [1, 1, 1])
        if kind == "torus" and np.hypot(np.hypot(p[0], p[1]) - 1.0, p[2]) < 0.35:
            continue
        tested += 1
        r = stiction.distance(stiction.Sphere(0.02), X * pose(tuple(p)), shape, X)
        assert r.distance == pytest.approx(point_to_triangles(p, v, t) - 0.02, abs=1e-9)
        assert r.witness_b - r.witness_a == pytest.approx(r.distance * r.normal, abs=1e-9)
        assert np.linalg.norm(r.normal) == pytest.approx(1.0)
    assert tested > 30


def test_distance_of_surfaces_to_flat_things() -> None:
    ring = stiction.TriangleMesh(*torus(1.0, 0.3, 48, 24))
    r = stiction.distance(ring, pose((0, 0, 0.5)), stiction.HalfSpace(), None)
    assert r.distance == pytest.approx(0.2)
    assert r.normal == pytest.approx([0, 0, -1])
    field = stiction.HeightField(np.zeros((11, 11)), [0.5, 0.5])
    floor = stiction.TriangleMesh(*floor_triangles(10, 0.5))
    for ground in (field, floor):
        for shape, low in (
            (stiction.Box([0.1, 0.2, 0.3]), 0.3),
            (stiction.Cylinder(0.1, 0.2), 0.2),
            (stiction.Ellipsoid([0.1, 0.2, 0.3]), 0.3),
            (stiction.Capsule(0.1, 0.2), 0.3),
        ):
            for height in (0.5, low - 1e-3):
                X = pose((0.13, 0.21, height), (0, 0, 0.4))
                r = stiction.distance(shape, X, ground, None)
                assert r.distance == pytest.approx(height - low, abs=1e-9)
                assert r.normal == pytest.approx([0, 0, -1], abs=1e-6)
                assert stiction.collide(shape, X, ground, None) == (height < low)
    # Two rings: 2 a hand's breadth between the tubes.
    other = stiction.distance(ring, None, ring, pose((0, 0, 0.7)))
    assert other.distance == pytest.approx(0.1, abs=1e-9)
    # A ball in the wall of a bowl, nearer to the inside, and a box swallowed by a solid.
    shell = stiction.TriangleMesh(*bowl(1.0, 0.2))
    r = stiction.distance(shell, None, stiction.Sphere(0.01), pose((0, 0, -1.05)))
    assert r.distance == pytest.approx(-0.06, abs=5e-3)
    block = stiction.TriangleMesh(*torus(2.0, 1.0))
    r = stiction.distance(block, None, stiction.Box([0.1, 0.1, 0.1]), pose((2.0, 0, 0.5)))
    assert r.status == "penetrating"
    assert r.distance == pytest.approx(-0.5, abs=0.15)


def test_scene_with_a_surface() -> None:
    scene = stiction.Scene()
    scene.add_geometry("terrain", "world", stiction.HeightField(np.zeros((11, 11)), [0.5, 0.5]))
    scene.add_body("near", stiction.Sphere(0.1), 1.0, pose((0, 0, 0.3)))
    scene.add_body("far", stiction.Sphere(0.1), 1.0, pose((1, 0, 3.0)))
    state = run(scene, 0)[1]
    (pair,) = scene.distances(state, 0.5)
    assert (pair.geometry_a, pair.geometry_b) == (0, 1)
    assert pair.distance == pytest.approx(0.2)
    assert pair.normal == pytest.approx([0, 0, 1])
