"""Derivatives of distance queries, from Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import stiction

NAMES = ("distance", "normal", "witness_a", "witness_b")


def placed(*p: float) -> np.ndarray:
    X = np.eye(4)
    X[:3, 3] = p
    return X


def test_two_balls_by_hand() -> None:
    """Centres 1 m apart along x: the normal turns with B's centre, the points run on the balls."""
    ball, X = stiction.Sphere(0.25), placed(1.0, 0.0, 0.0)
    d = stiction.distance_derivatives(ball, None, ball, X)
    across = np.diag([0.0, 1.0, 1.0])
    assert d.smooth and d.status == "smooth"
    assert np.allclose(d.distance, [1, 0, 0, 0, 0, 0], atol=1e-15)
    assert np.allclose(d.normal[:, :3], across, atol=1e-14)
    assert np.allclose(d.witness_a[:, :3], 0.25 * across, atol=1e-14)
    assert np.allclose(d.witness_b[:, :3], np.eye(3) - 0.25 * across, atol=1e-14)
    for name in NAMES:  # a ball looks the same from all sides
        assert np.allclose(getattr(d, name)[..., 3:], 0.0, atol=1e-14)


@pytest.mark.parametrize(
    "shape", [stiction.Box([0.2, 0.3, 0.4]), stiction.Ellipsoid([0.2, 0.3, 0.4])]
)
def test_differences_of_distance(shape: Any) -> None:
    turn = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
    X = placed(0.7, 0.5, 0.6)
    X[:3, :3] = turn
    d = stiction.distance_derivatives(shape, None, shape, X)
    assert d.smooth
    differences = stiction.distance_derivatives(
        shape, None, shape, X, "finite-differences", step=1e-5
    )
    assert differences.status == "sampled" and not differences.smooth
    for name in NAMES:
        assert np.allclose(getattr(d, name), getattr(differences, name), atol=1e-5)
    h = 1e-5
    columns = []
    for k in range(3):
        sides = []
        for sign in (1, -1):
            Y = X.copy()
            Y[k, 3] += sign * h
            sides.append(stiction.distance(shape, None, shape, Y))
        columns.append((sides[0].witness_b - sides[1].witness_b) / (2 * h))
    assert np.allclose(np.array(columns).T, d.witness_b[:, :3], atol=1e-6)


def test_a_face_on_a_face_has_no_one_derivative() -> None:
    box = stiction.Box([0.1, 0.1, 0.1])
    d = stiction.distance_derivatives(box, None, box, placed(0.3, 0.01, 0.02))
    assert d.status == "kink" and not d.smooth
    assert np.allclose(d.distance[:3], [1, 0, 0])


def test_samples_follow_the_seed_and_smooth_the_corners() -> None:
    rng = np.random.default_rng(0)
    points = rng.normal(size=(60, 3))
    hull = stiction.ConvexMesh(0.3 * points / np.linalg.norm(points, axis=1, keepdims=True))
    X = placed(0.5, 0.2, 0.4)
    at = stiction.distance(hull, None, hull, X)
    for method in ("gaussian-0", "gaussian-1"):
        d, same, other = (
            stiction.distance_derivatives(hull, None, hull, X, method, at=at, samples=20, seed=s)
            for s in (3, 3, 4)
        )
        assert (d.normal == same.normal).all() and (d.normal != other.normal).any()
    exact = stiction.distance_derivatives(hull, None, hull, X, at=at)
    smooth = stiction.distance_derivatives(hull, None, hull, X, "gumbel", at=at)
    sharp = stiction.distance_derivatives(hull, None, hull, X, "gumbel", at=at, temperature=1e-7)
    assert smooth.status == "smoothed"
    assert np.allclose(sharp.witness_a, exact.witness_a, atol=1e-3)
    assert np.abs(smooth.witness_a - exact.witness_a).max() > 0.01
    assert np.allclose(smooth.distance, exact.distance, atol=1e-12)


def test_what_is_refused_is_named() -> None:
    ball, X = stiction.Sphere(0.1), placed(1.0, 0.0, 0.0)

    def refused(match: str, error: type = ValueError, **settings: Any) -> None:
        with pytest.raises(error, match=match):
            stiction.distance_derivatives(ball, None, ball, X, **settings)

    refused('method = "newton" is not one of: exact', method="newton")
    refused('step: method "exact" does not read it', step=1e-3)
    refused("level = 0 must be >= 1", method="gumbel", level=0)
    refused("temperature = -1", method="gumbel", temperature=-1.0)
    refused("samples = -1", method="gaussian-0", samples=-1)
    refused("samples: must be an integer", TypeError, method="gaussian-0", samples="ten")
    refused("at: must be a DistanceResult", TypeError, at=1.0)
    other = stiction.distance(ball, None, ball, placed(1.0, 0.01, 0.0))
    refused("at: is the answer of another placement: X_WB differs by 0.01", at=other)
    moved = stiction.distance(ball, placed(0.0, 1e-6, 0.0), ball, X)
    refused("at: is the answer of another placement: X_WA differs by 1e-06", at=moved)
    larger = stiction.distance(stiction.Sphere(0.2), None, ball, X)
    refused("at: is no answer for these shapes and placements: its witness_a is 0.1", at=larger)
    far = stiction.distance(ball, None, ball, X, max_distance=0.1)
    refused("at.status = beyond", at=far)
    assert stiction.distance_derivative_methods() == [
        "exact", "finite-differences", "gaussian-0", "gaussian-1", "gumbel",
    ]  # fmt: skip


def test_many_pairs_are_single_calls() -> None:
    rng = np.random.default_rng(5)
    shapes = [stiction.Sphere(0.1), stiction.Box([0.1, 0.2, 0.3]), stiction.Cylinder(0.1, 0.2)]
    first = [shapes[i] for i in rng.integers(3, size=12)]
    X = np.array([placed(*rng.normal(size=3)) for _ in range(12)])
    for a, method in ((first, "exact"), (shapes[1], "gumbel"), (first, "gaussian-0")):
        found = stiction.distance_derivatives_of_pairs(a, None, shapes[2], X, method)
        for i in range(12):
            one = a[i] if isinstance(a, list) else a
            at = stiction.distance(one, None, shapes[2], X[i])
            d = stiction.distance_derivatives(one, None, shapes[2], X[i], method, at=at)
            for name in NAMES:
                assert (found[name][i] == getattr(at, name)).all()
                assert (found[name + "_by_twist"][i] == getattr(d, name)).all()
            assert found["status"][i] == d.status
    empty = stiction.distance_derivatives_of_pairs([], None, [], np.zeros((0, 4, 4)))
    assert empty["normal_by_twist"].shape == (0, 3, 6)


def test_refusals_of_many_pairs_name_the_entry() -> None:
    ball, many = stiction.Sphere(0.1), np.array([placed(1.0, 0.0, 0.0)] * 3)
    of_pairs: Any = stiction.distance_derivatives_of_pairs
    for match, a, X in (
        (r"X_WB: has 3 entries, a has 2", [ball, ball], many),
        (r"X_WB\[1\]: its rotation is not orthonormal", ball, many * [[[1.0]], [[2.0]], [[1.0]]]),
        (r"X_WB has shape \(3, 3\): must be", ball, np.eye(3)),
    ):
        with pytest.raises(ValueError, match=match):
            of_pairs(a, None, ball, X)
    with pytest.raises(TypeError, match=r"a\[1\]: must be a Shape"):
        of_pairs([ball, 1.0], None, ball, many)
