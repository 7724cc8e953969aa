"""Simulators whose steps have no kink near where the checks look."""

from __future__ import annotations

import numpy as np
import stiction


def simulator(name: str) -> stiction.Simulator:
    return stiction.Simulator(stiction.load(name), tolerance=1e-13, baumgarte=1.0)


def moment(name: str, rows: int | None = None) -> tuple[stiction.Simulator, tuple, stiction.State]:
    """A simulator, (q, v, tau) that are not at rest, q with quaternions not of unit length, and the
    warm starts there."""
    sim = simulator(name)
    state = sim.initial_state()
    sim.run(state, steps=30)
    rng = np.random.default_rng(4)
    q, v = state.q.copy(), state.v + 0.02 * rng.normal(size=sim.scene.nv)
    for joint in sim.scene.joints:
        if joint.type == "free_flyer":
            q[joint.q_index + 3 : joint.q_index + 7] *= 1.3
    shape = (sim.scene.nv,) if rows is None else (rows, sim.scene.nv)
    return sim, (q, v, 0.1 * rng.normal(size=shape)), state
