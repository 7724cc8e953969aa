"""Steps whose contact problem has no solution, or whose budget ends, stay bounded and harmless."""

from __future__ import annotations

import numpy as np
import pytest
import stiction


def slot(short: float) -> stiction.Simulator:
    """A box between two walls that are `short` [m] too close."""
    scene, material = stiction.Scene(), stiction.Material(friction=0.8)
    a = 0.1
    scene.add_half_space("left", [-a + short / 2, 0, 0], [1, 0, 0], material)
    scene.add_half_space("right", [a - short / 2, 0, 0], [-1, 0, 0], material)
    scene.add_body("box", stiction.Box([a, a, a]), 1.0, np.eye(4), material)
    return stiction.Simulator(scene)


def test_a_box_in_a_slot_too_narrow_stays() -> None:
    sim = slot(1e-4)
    state = sim.initial_state()
    statuses = set()
    for _ in range(500):
        report = sim.step(state)
        statuses.add(report.solver_status)
    assert abs(state.q[2]) < 1e-3, state.q
    assert statuses & {"regularised", "budget", "stalled", "infeasible"}
    assert np.abs(state.v).max() < 1e-2


@pytest.mark.parametrize("short", [0.01, 0.05])
def test_squeezes_gain_no_energy(short: float) -> None:
    sim = slot(short)
    state = sim.initial_state()
    state.v[:6] = [0.3, 0.2, 0.1, 1, 2, 3]
    first = before = None
    for _ in range(200):
        report = sim.step(state)
        energy = report.kinetic_energy + report.potential_energy
        first = energy if first is None else first
        allowed = 0.5 * 1.0 * 0.5**2 + 1e-9  # the box at recovery_speed
        assert energy <= first + allowed, (energy, first)
        before = report
    assert before is not None and np.isfinite(state.q).all()


def test_published_algorithms_keep_their_answer() -> None:
    scene = stiction.load("box-stack(3)")
    for solver in ("ncp-pgs", "ccp-pgs"):
        sim = stiction.Simulator(scene, solver=solver, max_iterations=1, tolerance=1e-14)
        state = sim.initial_state()
        for _ in range(20):
            assert sim.step(state).safe_islands == 0
