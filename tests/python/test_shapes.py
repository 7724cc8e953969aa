"""Shapes and the collision queries on them."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
import stiction


def at(x: float, y: float, z: float) -> pinocchio.SE3:
    return pinocchio.SE3(np.eye(3), np.array([x, y, z]))


def test_shapes_tell_what_they_are() -> None:
    mesh = stiction.ConvexMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.1, 0.1, 0.1]])
    shapes = [
        (stiction.Sphere(0.5), "sphere", [0.5, 0, 0]),
        (stiction.Capsule(0.1, 0.3), "capsule", [0.1, 0.3, 0]),
        (stiction.Box([1, 2, 3]), "box", [1, 2, 3]),
        (stiction.HalfSpace(), "half_space", [0, 0, 0]),
        (mesh, "convex_mesh", [0, 0, 0]),
    ]
    for shape, kind, size in shapes:
        assert shape.type == kind
        np.testing.assert_array_equal(shape.size, size)
        assert shape.bounded() == (kind != "half_space")
    assert mesh.vertices.shape == (4, 3)
    assert mesh.triangles.shape == (4, 3)
    assert mesh.triangles.dtype == np.int32
    assert shapes[0][0].vertices is None
    assert repr(stiction.Box([1, 2, 3])) == "Box([1.0, 2.0, 3.0])"


def test_mass_properties_of_a_ball() -> None:
    properties = stiction.mass_properties(stiction.Sphere(0.5), 1000.0)
    mass = 1000.0 * 4 / 3 * np.pi * 0.5**3
    assert properties.mass == pytest.approx(mass)
    np.testing.assert_allclose(properties.inertia, np.eye(3) * 0.4 * mass * 0.25, atol=1e-12)
    np.testing.assert_allclose(properties.com, 0, atol=1e-15)


def test_support_bounding_box_and_radius() -> None:
    box = stiction.Box([1, 2, 3])
    np.testing.assert_array_equal(stiction.support(box, [1, -1, 1]), [1, -2, 3])
    lower, upper = stiction.bounding_box(box, at(1, 0, 0))
    np.testing.assert_array_equal([lower, upper], [[0, -2, -3], [2, 2, 3]])
    assert stiction.bounding_radius(box) == pytest.approx(np.sqrt(14))


@pytest.mark.parametrize("as_matrix", [False, True])
def test_distance_takes_se3_and_matrices(as_matrix: bool) -> None:
    X_WA, X_WB = at(0, 0, 0), at(0, 0, 3)
    if as_matrix:
        X_WA, X_WB = X_WA.homogeneous, X_WB.homogeneous
    r = stiction.distance(stiction.Sphere(1.0), X_WA, stiction.Box([0.5, 0.5, 0.5]), X_WB)
    assert r.distance == pytest.approx(1.5, abs=1e-12)
    np.testing.assert_allclose(r.witness_a, [0, 0, 1], atol=1e-9)
    np.testing.assert_allclose(r.witness_b - r.witness_a, r.distance * r.normal, atol=1e-9)
    np.testing.assert_allclose(r.normal, [0, 0, 1], atol=1e-9)
    assert r.status == "separated"


def test_distance_warm_start_is_a_value() -> None:
    rng = np.random.default_rng(1)
    a = stiction.ConvexMesh(rng.normal(size=(40, 3)))
    b = stiction.ConvexMesh(rng.normal(size=(40, 3)))
    cold = stiction.distance(a, None, b, at(5, 0, 0))
    warm = stiction.distance(a, None, b, at(5, 0, 0), warm_start=cold.warm_start)
    assert warm.distance == pytest.approx(cold.distance, abs=1e-9)
    assert warm.iterations <= cold.iterations
    assert cold.warm_start.count > 0


def test_collide_and_manifold() -> None:
    box, ground = stiction.Box([0.1, 0.1, 0.1]), stiction.HalfSpace()
    assert stiction.collide(ground, None, box, at(0, 0, 0.05))
    assert not stiction.collide(ground, None, box, at(0, 0, 0.2))
    points = stiction.contact_manifold(ground, None, box, at(0, 0, 0.1 - 1e-3))
    assert len(points) == 4
    assert len({p.feature for p in points}) == 4
    for point in points:
        assert point.gap == pytest.approx(-1e-3)
        np.testing.assert_allclose(point.normal, [0, 0, 1])
    assert stiction.contact_manifold(ground, None, box, at(0, 0, 0.2), margin=0.01) == []
