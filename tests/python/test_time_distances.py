"""Many queries in one call: the same answers as one by one, errors that name the argument."""

from __future__ import annotations

import numpy as np
import pytest
import stiction


def problems(count: int = 40) -> tuple[list[stiction.Shape], np.ndarray, np.ndarray]:
    generator = np.random.default_rng(3)
    shapes = [
        stiction.ConvexMesh(generator.normal(size=(60, 3)) * 0.05),
        stiction.Box([0.05, 0.08, 0.03]),
        stiction.Ellipsoid([0.1, 0.06, 0.04]),
    ]
    pairs = generator.integers(0, 3, (count, 2))
    q, _ = np.linalg.qr(generator.normal(size=(count, 3, 3)))
    X = np.tile(np.eye(4), (count, 1, 1))
    X[:, :3, :3] = q * np.sign(np.linalg.det(q))[:, None, None]
    X[:, :3, 3] = generator.normal(size=(count, 3)) * 0.15
    return shapes, pairs, X


def test_answers_are_those_of_single_queries() -> None:
    shapes, pairs, X = problems()
    found = stiction.time_distances(shapes, pairs, X, tolerance=1e-10)
    assert 5 < np.sum(found["overlap"]) < 35
    assert np.isnan(found["nanoseconds"]).all()
    for k, (a, b) in enumerate(pairs):
        one = stiction.distance(shapes[a], None, shapes[b], X[k], tolerance=1e-10)
        assert found["distance"][k] == one.distance
        assert found["iterations"][k] == one.iterations
        assert found["status"][k] == one.status
        assert np.array_equal(found["witness_b"][k], one.witness_b)
    boolean = stiction.time_distances(shapes, pairs, X, boolean=True)
    assert np.array_equal(boolean["overlap"], found["distance"] <= 0.0)


def test_timed_queries_give_the_same_answers() -> None:
    shapes, pairs, X = problems()
    plain = stiction.time_distances(shapes, pairs, X)
    for cycled in (False, True):
        timed = stiction.time_distances(shapes, pairs, X, repeats=5, cycled=cycled)
        assert np.array_equal(timed["distance"], plain["distance"])
        assert (timed["nanoseconds"] > 1.0).all() and np.median(timed["nanoseconds"]) < 1e5


def test_a_given_start_changes_the_way_not_the_answer() -> None:
    shapes, pairs, X = problems()
    plain = stiction.time_distances(shapes, pairs, X)
    start = np.tile([0.0, 0.3, -1.0], (len(pairs), 1))
    other = stiction.time_distances(shapes, pairs, X, start=start)
    assert np.abs(other["distance"] - plain["distance"]).max() < 1e-9
    assert not np.array_equal(other["iterations"], plain["iterations"])


def nesmino_iterations(**given: object) -> np.ndarray:
    """Of an ellipsoid and a box, or of the box and the ellipsoid."""
    shapes = [stiction.Ellipsoid([0.1, 0.06, 0.04]), stiction.Box([0.05, 0.08, 0.03])]
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = [[0, -0.6, 0.8], [1, 0, 0], [0, 0.8, 0.6]], [0.2, 0.1, -0.15]
    order = [1, 0] if given.pop("exchanged", False) else [0, 1]
    X_AB, R = (np.linalg.inv(X), X[:3, :3].T) if order == [1, 0] else (X, np.eye(3))
    sign = -1.0 if order == [1, 0] else 1.0
    found = stiction.distance(shapes[order[0]], None, shapes[order[1]], X_AB)
    goal = found.witness_a - found.witness_b
    arguments = {"start": sign * R @ [0.3, 0.5, 0.1], "target": goal} | given
    arguments |= {name: np.atleast_2d(arguments[name]) for name in ("start", "target")}
    return stiction.nesmino_iterations(shapes, [order], X_AB[None], **arguments)


def test_nesmino_takes_equally_many_iterations_with_the_shapes_exchanged() -> None:
    one, other = nesmino_iterations(), nesmino_iterations(exchanged=True)
    assert 2 < one[0] < 2000
    assert abs(int(one[0]) - int(other[0])) <= 1


def test_nesmino_refuses_what_it_cannot_start_from() -> None:
    with pytest.raises(ValueError, match=r"start\[0\]"):
        nesmino_iterations(start=np.zeros(3))
    with pytest.raises(ValueError, match="max_iterations = 0"):
        nesmino_iterations(max_iterations=0)


def test_errors_name_the_argument() -> None:
    shapes, pairs, X = problems(2)
    with pytest.raises(ValueError, match=r"pairs\[1\] = 7(\.0)?: there are 3 shapes"):
        stiction.time_distances(shapes, [[0, 1], [7, 0]], X)
    with pytest.raises(ValueError, match="X_AB"):
        stiction.time_distances(shapes, pairs, X[:1])
    with pytest.raises(ValueError, match="start"):
        stiction.time_distances(shapes, pairs, X, start=np.zeros((1, 3)))
    with pytest.raises(ValueError, match="repeats = -1"):
        stiction.time_distances(shapes, pairs, X, repeats=-1)
