"""Bodies in flight: what a tumbling one conserves, and what becomes of what turns too fast."""

from __future__ import annotations

import numpy as np
import pytest
import stiction


def flying(shape: stiction.Shape, dt: float) -> tuple[stiction.Simulator, stiction.State]:
    scene = stiction.Scene()
    scene.add_body("body", shape, 0.5)
    sim = stiction.Simulator(scene, dt=dt)
    sim.parameters.gravity = np.zeros(3)
    return sim, sim.initial_state()


@pytest.mark.parametrize("dt", [1e-3, 2e-3, 5e-3])
@pytest.mark.parametrize(
    "shape",
    [
        stiction.Cylinder(0.1, 0.01),
        stiction.Ellipsoid([0.03, 0.06, 0.12]),
        stiction.Cone(0.03, 0.12),
        stiction.Capsule(0.03, 0.12),
    ],
)
def test_a_tumbling_body_gains_no_energy(shape: stiction.Shape, dt: float) -> None:
    sim, state = flying(shape, dt)
    state.v[3:] = [20.0, 15.0, 10.0]
    energy = [sim.step(state).kinetic_energy for _ in range(round(2.0 / dt))]
    np.testing.assert_allclose(energy, energy[0], rtol=1e-3)
    before = state.copy()
    sim.step(state)
    balance = sim.balance(state)
    scale = np.linalg.norm(balance.angular_before)
    np.testing.assert_allclose(
        balance.angular_after, balance.angular_before, rtol=0.0, atol=1e-12 * scale
    )
    assert not np.allclose(before.v[3:], state.v[3:], rtol=1e-6)  # it does tumble


@pytest.mark.parametrize("spin", [1e16, 1e200])
def test_a_spin_beyond_all_digits_is_a_simulation_error(spin: float) -> None:
    sim, state = flying(stiction.Ellipsoid([0.03, 0.06, 0.12]), 1e-3)
    state.v[3:] = spin
    with pytest.raises(stiction.SimulationError, match="step 0"):
        sim.step(state)
    assert (state.v[3:] == spin).all()


def test_a_robot_thrown_too_fast_goes_on_with_numbers() -> None:
    """Beyond 1 rad a step Coriolis forces are bounded: they grew to a SimulationError before."""
    sim = stiction.Simulator(stiction.load("solo12"), dt=5e-3)
    sim.parameters.gravity = np.zeros(3)
    state = sim.initial_state("standing")
    state.q[2] += 1000.0
    state.v[3:6] = [150.0, 100.0, 200.0]
    for _ in range(5000):
        sim.step(state, sim.hold("standing"))
    assert np.abs(state.v[3:]).max() < 1e5
