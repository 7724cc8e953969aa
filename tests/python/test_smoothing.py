"""The central path and noise on controls, as stand-ins for a step that touches nothing."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pinocchio
import pytest
import stiction


def ball_above(gap: float) -> stiction.Scene:
    scene = stiction.Scene(name="ball")
    scene.add_ground()
    above = pinocchio.SE3(np.eye(3), np.array([0.0, 0.0, 0.05 + gap]))
    scene.add_body("ball", stiction.Sphere(0.05), mass=1.0, X_W=above)
    return scene


def test_problem_on_the_path() -> None:
    g = np.array([0.1, 0.0, -1.0])
    p = stiction.ContactProblem(np.eye(3), g, [0.5])
    exact = stiction.solve(p)
    off = [
        np.abs(stiction.solve_on_path(p, epsilon).impulse - exact.impulse).max()
        for epsilon in (1e-2, 1e-4, 1e-6)
    ]
    assert off[0] > 10 * off[1] > 100 * off[2] > 0.0
    s = stiction.solve_on_path(p, 1e-3)
    assert s.converged and s.path_energy == 1e-3 and s.model_residuals.relative < 1e-12
    assert s.residuals.relative > 1e-4  # of the NCP it is no solution
    h = 1e-6
    d = stiction.solution_derivatives(p, s)
    for k in range(3):
        step = h * np.eye(3)[k]
        plus, minus = (
            stiction.solve_on_path(stiction.ContactProblem(np.eye(3), g + x, [0.5]), 1e-3).impulse
            for x in (step, -step)
        )
        assert np.abs((plus - minus) / (2 * h) - d.by_g[:, k]).max() < 1e-8
    plus, minus = (
        stiction.solve_on_path(stiction.ContactProblem(np.eye(3), g, [0.5 + x]), 1e-3).impulse
        for x in (h, -h)
    )
    assert np.abs((plus - minus) / (2 * h) - d.by_friction[:, 0]).max() < 1e-8
    with pytest.raises(ValueError, match="epsilon"):
        stiction.solve_on_path(p, 0.0)


def test_smoothed_simulator_acts_at_a_distance() -> None:
    sim = stiction.Simulator(ball_above(0.3), dt=1e-2, margin=0.5)
    sim.parameters.mass[:] = 2.0
    smooth = sim.smoothed(1e-3)
    assert smooth.settings.smoothing == 1e-3 and sim.settings.smoothing == 0.0
    assert smooth.parameters.mass[0] == 2.0
    state = smooth.initial_state()
    smooth.step(state)
    assert smooth.solution().impulse[2] == pytest.approx(1e-3 * 1e-2 / 0.3, rel=0.05)
    near = stiction.Simulator(ball_above(0.3), dt=1e-2).smoothed(1e-3)
    assert near.step(near.initial_state()).num_contacts == 0  # its margin is 1 mm
    with pytest.raises(ValueError, match="epsilon"):
        sim.smoothed(0.0)
    walk = list(stiction.along_path(sim, [1e-2, 1e-4]))
    assert [epsilon for epsilon, _ in walk] == [1e-2, 1e-4, 0.0] and walk[-1][1] is sim
    with pytest.raises(ValueError, match="smoothing"):
        stiction.Simulator(ball_above(0.3), solver="ncp-pgs", smoothing=1e-3)


def test_randomized_gradients_are_those_of_the_mean() -> None:
    """A step function of x, whose own gradient is zero: its mean over noise is the normal's."""
    rng = np.random.default_rng(3)
    weights = rng.standard_normal((4, 2))

    def cost(x: np.ndarray) -> float:
        return float(np.maximum(np.sum(weights * x) - 1.0, 0.0) ** 2)

    def gradient(x: np.ndarray) -> np.ndarray:
        return 2.0 * max(np.sum(weights * x) - 1.0, 0.0) * weights

    x, sigma = np.zeros((4, 2)), 0.3
    assert not gradient(x).any()
    s = sigma * np.linalg.norm(weights)  # of weights . (x + sigma u), a normal number
    z = np.linspace(-12, 12, 200001)
    density = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    mean = np.sum(2.0 * np.maximum(s * z - 1.0, 0.0) * density) * (z[1] - z[0]) * weights
    for samples, seed in ((4000, 1), (4000, 2)):
        zeroth = stiction.randomized_gradient(x, sigma, samples, cost=cost, seed=seed)
        first = stiction.randomized_gradient(x, sigma, samples, gradient=gradient, seed=seed)
        assert np.abs(first - mean).max() < 0.1 * np.abs(mean).max()
        assert np.abs(zeroth - mean).max() < 0.3 * np.abs(mean).max()
        again = stiction.randomized_gradient(x, sigma, samples, cost=cost, seed=seed)
        assert np.array_equal(zeroth, again)
    several = [stiction.randomized_gradient(x, sigma, 100, cost=cost, seed=k) for k in range(200)]
    spread = np.std(several, axis=0) / np.sqrt(len(several))
    assert (np.abs(np.mean(several, axis=0) - mean) < 4 * spread).all()
    for refused in ({}, {"cost": cost, "gradient": gradient}):
        with pytest.raises(TypeError, match="one of them"):
            stiction.randomized_gradient(x, sigma, 1, **refused)
    with pytest.raises(ValueError, match="sigma"):
        stiction.randomized_gradient(x, 0.0, 1, cost=cost)
    with pytest.raises(ValueError, match="samples"):
        stiction.randomized_gradient(x, sigma, 0, cost=cost)


WORDS: dict[str, dict[str, Any]] = {
    "cost at x = nan: must be finite; bound the cost": {"cost": lambda x: np.nan},
    "cost at x + sigma u of sample 0 = inf: must be": {"cost": lambda x: 0 if x == 1 else np.inf},
    "cost at x = array([0., 0.]): must be a number": {"cost": lambda x: np.zeros(2)},
    "gradient at x + sigma u of sample 0[0] = nan": {"gradient": lambda x: x * np.nan},
    "gradient at x + sigma u of sample 0 has shape (2,): must be (1,)": {
        "gradient": lambda x: np.zeros(2)
    },
    "x[0] = nan: must be finite": {"cost": lambda x: 0.0, "x": [np.nan]},
    "cost = 3: must be a function of an array": {"cost": 3},
    "samples = 2.5: must be an integer": {"cost": lambda x: 0.0, "samples": 2.5},
}


@pytest.mark.parametrize("text", WORDS)
def test_randomized_gradients_refuse_what_is_no_number(text: str) -> None:
    given = {"x": np.ones(1), "sigma": 0.1, "samples": 3} | WORDS[text]
    with pytest.raises((ValueError, TypeError), match=re.escape(text)):
        stiction.randomized_gradient(**given)


def test_a_walk_refuses_before_its_first_step() -> None:
    sim = stiction.Simulator(ball_above(0.3))
    for given in ("abc", 1e-2, [None], [[1.0]]):
        with pytest.raises(TypeError, match="must be a sequence of numbers"):
            stiction.along_path(sim, given)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=re.escape("epsilons[1] = 0.0: must be > 0 and finite")):
        stiction.along_path(sim, [1e-2, 0.0])
    with pytest.raises(TypeError, match="sim = 'abc': must be a Simulator"):
        stiction.along_path("abc")  # type: ignore[arg-type]


@pytest.mark.parametrize("order", ["zeroth", "first"])
def test_randomized_gradients_have_their_rate_and_bias(order: str) -> None:
    """Of x^3: noise falls with the root of the samples, the bias, 3 sigma^2, with its square."""
    x = np.array([[0.7]])

    def estimate(sigma: float, samples: int, seed: int) -> float:
        if order == "zeroth":
            known = {"cost": lambda x: float(x[0, 0] ** 3)}
        else:
            known = {"gradient": lambda x: 3.0 * x**2}
        return float(stiction.randomized_gradient(x, sigma, samples, seed=seed, **known)[0, 0])

    few, many = (
        np.std([estimate(0.3, samples, seed) for seed in range(60)]) for samples in (25, 400)
    )
    assert 2.8 < few / many < 5.6  # 4
    for sigma in (0.2, 0.4):
        mean = [estimate(sigma, 400, seed) for seed in range(60)]
        spread = np.std(mean) / np.sqrt(len(mean))
        assert abs(np.mean(mean) - 3.0 * (0.7**2 + sigma**2)) < 4.0 * spread
        assert 4.0 * spread < 3.0 * sigma**2  # the bias is seen
