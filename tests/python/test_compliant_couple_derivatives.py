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
