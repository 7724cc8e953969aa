"""Gradients of smoothed rollouts: of the central path against differences, of noise on the controls
of a rollout against each other, with the rate that they should have."""

from __future__ import annotations

import numpy as np
import pytest
import stiction

STEPS, GAP = 35, 0.05


def two_balls(epsilon: float = 0.0, friction: float = 0.5) -> stiction.Simulator:
    """On a floor, apart by GAP; no gap is zero."""
    scene, material = stiction.Scene(), stiction.Material(friction=friction)
    scene.add_ground(material)
    for k, x in enumerate((0.0, 0.2 + GAP)):
        pose = np.eye(4)
        pose[:3, 3] = [x, 0.0, 0.1001]
        scene.add_body(f"ball{k}", stiction.Sphere(0.1), 1.0, pose, material=material)
    sim = stiction.Simulator(scene, dt=1e-2, margin=0.3, tolerance=1e-13)
    return sim.smoothed(epsilon) if epsilon > 0.0 else sim


@pytest.mark.parametrize("epsilon", [1e-2, 1e-4, 1e-6])
def test_smoothed_rollouts_are_differentiated_as_they_step(epsilon: float) -> None:
    sim, rng = two_balls(epsilon), np.random.default_rng(1)
    taus = 0.01 * rng.normal(size=(STEPS, 12))
    taus[:, 0] += 1.0
    w = rng.normal(size=24)
    tape = sim.rollout(sim.initial_state(), taus, tape=True)
    grad = tape.adjoint(w).taus
    assert tape.adjoint(w).report.two_sided and tape.adjoint(w).report.exact

    def cost(moved: np.ndarray) -> float:
        end = sim.rollout(sim.initial_state(), moved)
        dq = stiction.difference(sim.scene, tape.q[-1], end.q[-1])
        return float(w @ np.concatenate([dq, end.v[-1] - tape.v[-1]]))

    for _ in range(3):
        d = rng.normal(size=taus.shape)
        along, scale = np.sum(d * grad), np.abs(d * grad).sum()
        errors = [
            abs((cost(taus + h * d) - cost(taus - h * d)) / (2 * h) - along)
            for h in (1e-3, 1e-4, 1e-5)
        ]
        assert min(errors) < 1e-8 * scale


def test_what_touches_nothing_is_pulled_along_the_path() -> None:
    """By a push that ends before the second ball, of which the exact gradient knows nothing."""
    w = np.zeros(24)
    w[6] = 1.0  # where the second ball is
    taus = np.zeros((STEPS, 12))
    taus[:, 0] = 0.1
    slopes = []
    for epsilon in (0.0, 1e-4, 1e-2):
        sim = two_balls(epsilon)
        grad = sim.rollout(sim.initial_state(), taus, tape=True).adjoint(w)
        assert grad.report.touches_nothing == (epsilon == 0.0)
        slopes.append(float(grad.taus[:, 0].sum()))
    assert slopes[0] == 0.0 and 0.0 < 10 * slopes[1] < slopes[2]


class Push:
    """How far the second ball gets by the forces (T,) on the first."""

    def __init__(self) -> None:
        self.sim = two_balls(friction=0.0)
        self.w = np.zeros((STEPS + 1, 24))

    def taus(self, forces: np.ndarray) -> np.ndarray:
        taus = np.zeros((STEPS, 12))
        taus[:, 0] = forces
        return taus

    def cost(self, forces: np.ndarray) -> float:
        end = self.sim.rollout(self.sim.initial_state(), self.taus(forces), record="q")
        return float(end.q[-1, 7])

    def gradient(self, forces: np.ndarray) -> np.ndarray:
        tape = self.sim.rollout(self.sim.initial_state(), self.taus(forces), tape=True)
        q = tape.q[-1, 10:14]
        self.w[-1, 6:9] = rotation(q)[0]  # a tangent is in the axes of the body
        return tape.adjoint(self.w).taus[:, 0]


def rotation(quaternion: np.ndarray) -> np.ndarray:
    x, y, z, w = quaternion / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


def test_noise_on_the_controls_of_a_rollout() -> None:
    """Both orders estimate one gradient, where the exact one is zero; the spread falls with the
    root of the number of samples."""
    push, forces, sigma = Push(), np.full(STEPS, 0.5), 5.0
    assert not push.gradient(forces).any()

    def estimates(samples: int, repeats: int, order: int) -> np.ndarray:
        given = {"cost": push.cost} if order == 0 else {"gradient": push.gradient}
        return np.array(
            [
                stiction.randomized_gradient(forces, sigma, samples, **given, seed=seed).sum()
                for seed in range(repeats)
            ]
        )

    for order in (0, 1):
        few, many = estimates(2, 120, order), estimates(32, 60, order)
        assert 2.5 < np.std(few) / np.std(many) < 6.4, order  # 4
    zeroth, first = estimates(32, 60, 0), many
    error = np.hypot(np.std(zeroth), np.std(first)) / np.sqrt(60)
    assert abs(zeroth.mean() - first.mean()) < 3 * error
    assert first.mean() > 5 * np.std(first) / np.sqrt(60)  # towards the ball
