"""Inertial parameters as ten free numbers."""

from __future__ import annotations

import itertools
import re

import numpy as np
import pinocchio
import pytest
import stiction
from stiction.log_cholesky import LARGEST, NAMES


def random_theta(rng: np.random.Generator) -> np.ndarray:
    return np.r_[rng.uniform(-2, 1), rng.uniform(-4, -1, 3), rng.uniform(-0.1, 0.1, 6)]


def test_every_theta_is_a_body_and_comes_back() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        theta = random_theta(rng)
        body = stiction.physical_inertia(theta)
        moments = np.linalg.eigvalsh(body.inertia)
        assert body.mass > 0 and moments[0] > 0 and moments[2] < moments[0] + moments[1]
        again = stiction.log_cholesky(body.mass, body.com, body.inertia)
        np.testing.assert_allclose(again, theta, rtol=1e-6, atol=1e-9)


def test_it_is_the_parameterisation_of_pinocchio() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        theta = random_theta(rng)
        body = stiction.physical_inertia(theta)
        other = pinocchio.Inertia(body.mass, body.com, body.inertia)
        U = np.exp(theta[0]) * np.array(
            [
                [np.exp(theta[1]), theta[4], theta[6], theta[7]],
                [0, np.exp(theta[2]), theta[5], theta[8]],
                [0, 0, np.exp(theta[3]), theta[9]],
                [0, 0, 0, 1],
            ]
        )
        np.testing.assert_allclose(other.toPseudoInertia().toMatrix(), U @ U.T, rtol=1e-12)


def numbers(theta: np.ndarray) -> np.ndarray:
    b = stiction.physical_inertia(theta)
    I = b.inertia  # noqa: E741
    return np.r_[b.mass, b.com, I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]]


def test_the_jacobian_is_that_of_differences() -> None:
    rng, h = np.random.default_rng(3), 1e-5
    for _ in range(30):
        theta = random_theta(rng)
        expected = np.array(
            [(numbers(theta + h * e) - numbers(theta - h * e)) / (2 * h) for e in np.eye(10)]
        ).T
        np.testing.assert_allclose(stiction.physical_inertia(theta).jacobian, expected, atol=1e-8)


def test_a_step_by_theta() -> None:
    """P @ jacobian against differences of steps: a cube of any inertia that hits the floor."""
    rng, h = np.random.default_rng(4), 1e-6
    scene = stiction.Scene()
    scene.add_ground(stiction.Material(friction=0.3))
    X = pinocchio.SE3(pinocchio.exp3(np.array([0.3, 0.2, 0.1])), np.array([0.0, 0.0, 0.07]))
    scene.add_body("cube", stiction.Box([0.05] * 3), mass=0.5, X_W=X)
    sim = stiction.Simulator(scene, tolerance=1e-12)
    state = sim.initial_state()
    state.v[:] = [0.3, 0.1, -0.5, 1.0, -2.0, 0.5]
    theta = np.r_[-0.5, -3.0, -3.2, -3.1, 0.01, -0.005, 0.008, 0.004, -0.003, 0.006]

    def set_body(x: np.ndarray) -> stiction.InertialParameters:
        body = stiction.physical_inertia(x)
        sim.parameters.mass[0], sim.parameters.com[0] = body.mass, body.com
        sim.parameters.set_inertia(0, body.inertia)
        return body

    touched = 0
    for _ in range(40):
        body = set_body(theta)
        d = sim.step_derivatives(state.copy(), np.zeros(6), wrt=("mass", "com", "inertia"))
        by_theta = np.hstack([d.by("mass"), d.by("com"), d.by("inertia")]) @ body.jacobian
        if d.report.exact and d.report.two_sided:
            columns = []
            for e in np.eye(10):
                ends = []
                for sign in (1.0, -1.0):
                    set_body(theta + sign * h * e)
                    end = state.copy()
                    sim.step(end, np.zeros(6))
                    ends.append(end)
                q = stiction.difference(scene, ends[1].q, ends[0].q)
                columns.append(np.r_[q, ends[0].v - ends[1].v] / (2 * h))
            expected = np.array(columns).T
            assert np.abs(by_theta - expected).max() <= 1e-5 * (1 + np.abs(expected).max())
            touched += sim.problem().num_rows > 0
        set_body(theta)
        sim.step(state, np.zeros(6))
        state.v[:3] += rng.uniform(-0.05, 0.05, 3)
    assert touched > 5


def test_what_no_body_has_is_refused() -> None:
    good = np.diag([2.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="mass = 0"):
        stiction.log_cholesky(0.0, [0, 0, 0], good)
    with pytest.raises(ValueError, match="com = "):
        stiction.log_cholesky(1.0, [0, 0], good)
    with pytest.raises(ValueError, match="inertia = "):
        stiction.log_cholesky(1.0, [0, 0, 0], np.triu(np.ones((3, 3))))
    with pytest.raises(ValueError, match="principal moments"):
        stiction.log_cholesky(1.0, [0, 0, 0], np.diag([1.0, 1.0, 2.5]))
    with pytest.raises(ValueError, match="theta = "):
        stiction.physical_inertia(np.ones(9))
    with pytest.raises(ValueError, match="theta = "):
        stiction.physical_inertia(np.full(10, np.nan))
    with pytest.raises(ValueError, match="theta = 'abc': must be ten finite numbers"):
        stiction.physical_inertia("abc")  # type: ignore[arg-type]


def test_theta_is_bounded_where_numbers_would_overflow() -> None:
    for k, (name, most) in enumerate(zip(NAMES, LARGEST, strict=True)):
        for sign in (-1.0, 1.0):
            theta = np.zeros(10)
            theta[k] = sign * most * 1.01
            text = f"theta[{k}] = {theta[k]:g}: {name} must lie within {-most:g} ... {most:g}"
            with pytest.raises(ValueError, match=re.escape(text)):
                stiction.physical_inertia(theta)
    corners = np.array(list(itertools.product((-1.0, 0.0, 1.0), repeat=7)))
    with np.errstate(over="raise", invalid="raise"):
        for corner in corners:
            body = stiction.physical_inertia(np.r_[corner, 1.0, -1.0, 1.0] * LARGEST)
            assert 0.0 < body.mass < np.inf and (np.diag(body.inertia) > 0.0).all()
            assert np.isfinite(body.inertia).all() and np.isfinite(body.jacobian).all()
