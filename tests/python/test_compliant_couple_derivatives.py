"""Derivatives of compliant steps with torsional and rolling friction: their turns are state."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import stiction
from test_compliant_couples import EVERY, Floats, ball

MOTIONS = {
    "held": [0.0, 0.0, 0.0, 0.02, 0.1, 0.05],
    "spins": [0.0, 0.0, 0.0, 0.0, 0.0, 8.0],
    "slides": [1.0, 0.3, 0.0, 4.0, -3.0, 20.0],
}


@pytest.mark.parametrize("integrator", EVERY)
@pytest.mark.parametrize("motion", MOTIONS)
def test_turns_are_state_of_the_derivatives(integrator: str, motion: str) -> None:
    """Gradients through a rollout from a stretched start: differences of whole rollouts."""
    sim, start = ball(integrator, torsional_friction=0.02, rolling_friction=0.004)
    start.v = MOTIONS[motion]
    sim.run(start, steps=15)
    taus, steps = np.full((12, 6), 0.01), 12
    weights = np.random.default_rng(0).normal(size=12)
    grad = sim.rollout(start.copy(), taus, tape=True).adjoint(weights)
    assert grad.springs == ((0, 1, 0, False), (0, 1, 0, True))
    assert grad.report.by_differences == steps and grad.report.kinks == 0
    assert grad.initial_springs is not None and grad.initial_springs.shape == (2, 3)
    assert motion == "slides" or np.abs(grad.initial_springs[1]).max() > 1e-3

    def end(dv: Floats, turn: Floats) -> Floats:
        state = start.copy()
        state.v = state.v + dv
        (kept,) = state.contacts
        state.contacts = [
            stiction.ContactMemory(0, 1, 0, kept.extension, None, None, kept.turn + turn)
        ]
        run = sim.rollout(state, taus)
        return np.concatenate([run.q[-1], run.v[-1]])

    reference = end(np.zeros(6), np.zeros(3))

    def by(move: Callable[[float], Floats]) -> float:
        ends = [move(h) for h in (1e-5, -1e-5)]
        apart = [
            np.concatenate(
                [stiction.difference(sim.scene, reference[:7], x[:7]), x[7:] - reference[7:]]
            )
            for x in ends
        ]
        return float(weights @ (apart[0] - apart[1]) / 2e-5)

    e = np.eye(6)
    found = [by(lambda h, k=k: end(h * e[k], np.zeros(3))) for k in range(6)]
    assert grad.initial_v == pytest.approx(found, rel=1e-5, abs=1e-6)
    turns = [by(lambda h, k=k: end(np.zeros(6), h * e[k, :3])) for k in range(3)]
    assert grad.initial_springs[1] == pytest.approx(turns, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("lifted", [False, True])
def test_one_point_that_turns_makes_differences(lifted: bool) -> None:
    """A block without couples beside a ball with them, which may have left: with a turn kept."""
    scene = stiction.Scene()
    scene.add_ground(stiction.Material(friction=0.5, stiffness=1e4, damping=50.0))
    for k, (name, shape, material) in enumerate(
        [
            ("block", stiction.Box([0.1, 0.1, 0.1]), stiction.Material(friction=0.5)),
            ("ball", stiction.Sphere(0.1), stiction.Material(0.5, torsional_friction=0.02)),
        ]
    ):
        pose = np.eye(4)
        pose[:3, 3] = [0.5 * k, 0.0, 0.0999]
        scene.add_body(name, shape, 1.0, pose, material=material)
    sim = stiction.Simulator(scene, dt=1e-3, integrator="implicit-euler")
    state = sim.initial_state()
    state.v = [0.05, 0.02, 0.0, 0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0]
    sim.run(state, steps=30)
    assert any(np.any(c.turn) for c in state.contacts)
    if lifted:
        state.v[8] = 5.0
    sim.step(state)
    report = sim.step_derivatives().report
    assert report.method == ("exact" if lifted else "differences")
    assert [s[:2] for s in report.springs if s[3]] == [(0, 2)]
    assert len(report.springs) == (5 if lifted else 6), "one that spins in place is not stretched"
