"""Rays against references that share no code with the library: signed distances marched along the
ray for convex shapes, every triangle tried for surfaces."""

from __future__ import annotations

import numpy as np
import pytest
import stiction
from surfaces import bowl, floor_triangles, pose, torus

RNG = np.random.default_rng(7)
HULL = stiction.ConvexMesh(RNG.normal(size=(40, 3)) * [0.5, 0.4, 0.3])
CONVEX = {
    "sphere": stiction.Sphere(0.5),
    "capsule": stiction.Capsule(0.3, 0.4),
    "box": stiction.Box([0.5, 0.3, 0.2]),
    "half_space": stiction.HalfSpace(),
    "convex_mesh": HULL,
    "cylinder": stiction.Cylinder(0.4, 0.3),
    "cone": stiction.Cone(0.5, 0.4),
    "ellipsoid": stiction.Ellipsoid([0.5, 0.3, 0.2]),
}


def hit_of(shape: stiction.Shape, X, origins, directions, max_distance=np.inf):
    scene = stiction.Scene()
    scene.add_geometry("target", "world", shape, X)
    return stiction.ray_cast(scene, np.zeros(0), origins, directions, max_distance)


def random_rays(count: int, seed: int):
    rng = np.random.default_rng(seed)
    origins = rng.normal(size=(count, 3))
    origins *= rng.uniform(1.2, 4.0, (count, 1)) / np.linalg.norm(origins, axis=1, keepdims=True)
    targets = rng.uniform(-0.6, 0.6, (count, 3))
    return origins, (targets - origins) * rng.uniform(0.1, 3.0, (count, 1))


def inside_value(kind: str, shape: stiction.Shape, x):
    """Negative inside of the solid, zero on its surface; of points (n, 3)."""
    s = shape.size
    radial = np.hypot(x[:, 0], x[:, 1])
    if kind == "sphere":
        return np.linalg.norm(x, axis=1) - s[0]
    if kind == "capsule":
        z = x[:, 2] - np.clip(x[:, 2], -s[1], s[1])
        return np.sqrt(radial**2 + z**2) - s[0]
    if kind == "box":
        return np.max(np.abs(x) - s, axis=1)
    if kind == "half_space":
        return x[:, 2]
    if kind == "cylinder":
        return np.maximum(radial - s[0], np.abs(x[:, 2]) - s[1])
    if kind == "cone":
        return np.maximum(radial - s[0] * (s[1] - x[:, 2]) / (2 * s[1]), -s[1] - x[:, 2])
    if kind == "ellipsoid":
        return np.linalg.norm(x / s, axis=1) - 1
    v, t = shape.vertices, shape.triangles
    n = np.cross(v[t[:, 1]] - v[t[:, 0]], v[t[:, 2]] - v[t[:, 0]])
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    return np.max(x @ n.T - np.sum(n * v[t[:, 0]], axis=1), axis=1)


def first_entry(value, origin, direction, length: float):
    """First t at which value(origin + t direction) falls to zero, by sampling and bisection."""
    t = np.linspace(0.0, length, 6001)
    inside = value(origin + t[:, None] * direction) <= 0
    if not inside.any():
        return np.inf
    k = int(np.argmax(inside))
    low, high = t[k - 1], t[k]
    for _ in range(60):
        middle = 0.5 * (low + high)
        if value((origin + middle * direction)[None])[0] <= 0:
            high = middle
        else:
            low = middle
    return high


@pytest.mark.parametrize("kind", CONVEX)
def test_convex_shapes_against_bisection(kind: str) -> None:
    shape = CONVEX[kind]
    X = pose((0.1, -0.2, 0.05), (0.4, -0.7, 1.1))
    origins, directions = random_rays(200, 3)
    if kind == "half_space":
        origins = origins[(origins - X.translation) @ X.rotation[:, 2] > 0]
        directions = directions[: len(origins)]
    hits = hit_of(shape, X, origins, directions)
    R, p = X.rotation, X.translation
    found = 0
    for k, (o, d) in enumerate(zip(origins, directions, strict=True)):
        d = d / np.linalg.norm(d)
        expected = first_entry(lambda x: inside_value(kind, shape, x), R.T @ (o - p), R.T @ d, 12.0)
        if np.isinf(expected):  # a graze between two samples is allowed to be found
            if np.isfinite(hits.distances[k]):
                at = R.T @ (o + hits.distances[k] * d - p)
                assert abs(inside_value(kind, shape, at[None])[0]) < 1e-9
            continue
        found += 1
        assert hits.distances[k] == pytest.approx(expected, abs=1e-9)
        assert hits.geometries[k] == 0
        n = hits.normals[k]
        assert np.linalg.norm(n) == pytest.approx(1.0, abs=1e-12)
        assert n @ d < 0
        # The surface falls away along the tangent: the value's gradient is along the normal.
        at, h = R.T @ (o + expected * d - p), 1e-6
        value = inside_value(kind, shape, at + h * np.vstack([np.eye(3), -np.eye(3)]))
        gradient = (value[:3] - value[3:]) / (2 * h)
        assert R @ gradient / np.linalg.norm(gradient) == pytest.approx(n, abs=1e-3)
    assert found > 30


def brute_force(vertices, triangles, o, d):
    """First front face by solving o + t d = a + u (b - a) + v (c - a) for each triangle."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    M = np.stack([b - a, c - a, np.broadcast_to(-d, a.shape)], axis=2)
    front = np.einsum("ij,j->i", np.cross(b - a, c - a), d) < 0
    best = np.inf
    for k in np.flatnonzero(front):
        if abs(np.linalg.det(M[k])) < 1e-14:
            continue
        u, v, t = np.linalg.solve(M[k], o - a[k])
        if u >= -1e-12 and v >= -1e-12 and u + v <= 1 + 1e-12 and t >= 0:
            best = min(best, t)
    return best


@pytest.mark.parametrize("kind", ["torus", "bowl", "field", "open"])
def test_surfaces_against_every_triangle(kind: str) -> None:
    rng = np.random.default_rng(11)
    shape = {
        "torus": lambda: stiction.TriangleMesh(*torus(0.6, 0.25, 20, 12)),
        "bowl": lambda: stiction.TriangleMesh(*bowl(0.7, 0.1, 16, 6)),
        "field": lambda: stiction.HeightField(rng.normal(size=(13, 18)) * 0.1, [0.1, 0.12]),
        "open": lambda: stiction.TriangleMesh(*floor_triangles(8, 0.2)),
    }[kind]()
    X = pose((0.1, -0.2, 0.05), (0.1, -0.2, 1.1))
    origins, directions = random_rays(150, 5)
    hits = hit_of(shape, X, origins, directions)
    found = 0
    for k, (o, d) in enumerate(zip(origins, directions, strict=True)):
        d = d / np.linalg.norm(d)
        o_S, d_S = X.rotation.T @ (o - X.translation), X.rotation.T @ d
        expected = brute_force(shape.vertices, shape.triangles, o_S, d_S)
        assert hits.distances[k] == pytest.approx(expected, abs=1e-9)
        found += np.isfinite(expected)
    assert found > 30


def test_rays_through_edges_and_vertices_are_not_lost() -> None:
    shape = stiction.TriangleMesh(*floor_triangles(10, 0.25))
    field = stiction.HeightField(np.zeros((11, 11)), [0.25, 0.25])
    x, y = np.meshgrid(np.linspace(-1.0, 1.0, 17), np.linspace(-1.0, 1.0, 17))
    origins = np.stack([x.ravel(), y.ravel(), 0 * x.ravel() + 2.0], axis=1)
    down = np.tile([0.0, 0.0, -1.0], (len(origins), 1))
    for one in (shape, field):
        assert hit_of(one, None, origins, down).distances == pytest.approx(2.0, abs=1e-14)


def test_scene_with_bodies_bounds_and_ignored_ones() -> None:
    scene = stiction.Scene()
    scene.add_ground()
    for k in range(40):
        scene.add_body(f"ball{k}", stiction.Sphere(0.1), 1.0, pose((0.5 * k, 0.0, 1.0)))
    state = stiction.Simulator(scene).initial_state()
    origins = [[0.5 * k, 0.0, 3.0] for k in range(40)]
    down = [[0.0, 0.0, -5.0]] * 40
    hits = stiction.ray_cast(scene, state, origins, down)
    assert hits.distances == pytest.approx(1.9)
    assert list(hits.geometries) == list(range(1, 41))
    hits = stiction.ray_cast(scene, state, origins, down, ignored=["ball3", 5])
    assert hits.distances[3] == pytest.approx(3.0)
    assert hits.geometries[5] == 0
    state.q[2] = 1.5
    hits = stiction.ray_cast(scene, state.q, origins, down, max_distance=1.6)
    assert hits.distances[0] == pytest.approx(1.4)
    assert np.all(np.isinf(hits.distances[1:]))
    assert set(hits.geometries[1:]) == {-1}
    # From inside of a ball the ball is not seen.
    hits = stiction.ray_cast(scene, state, [[0.5, 0.0, 1.0]], [[0.0, 0.0, -1.0]])
    assert (hits.distances[0], hits.geometries[0]) == (pytest.approx(1.0), 0)


def test_bad_rays_are_refused() -> None:
    scene = stiction.Scene()
    scene.add_ground()
    q = np.zeros(0)
    with pytest.raises(ValueError, match=r"directions\[1\] has length 0"):
        stiction.ray_cast(scene, q, np.zeros((2, 3)), [[0, 0, 1], [0, 0, 0]])
    with pytest.raises(ValueError, match=r"origins\[0\]\[2\] = nan"):
        stiction.ray_cast(scene, q, [[0, 0, np.nan]], [[0, 0, 1]])
    with pytest.raises(ValueError, match="directions has 2 rows"):
        stiction.ray_cast(scene, q, [[0, 0, 1]], np.ones((2, 3)))
    with pytest.raises(ValueError, match="max_distance = -1"):
        stiction.ray_cast(scene, q, [[0, 0, 1]], [[0, 0, 1]], -1.0)
    with pytest.raises(ValueError, match="state"):
        stiction.ray_cast(scene, np.zeros(3), [[0, 0, 1]], [[0, 0, 1]])
