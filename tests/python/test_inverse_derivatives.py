"""Derivatives of the step backwards: how the torques of a motion move with it."""

from __future__ import annotations

import numpy as np
import pytest
import stiction
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def motion(name: str, sliding: bool = False) -> tuple[stiction.Simulator, stiction.State, Floats]:
    """A step of a scene under its servos: where it begins and the velocity at its end."""
    sim = stiction.Simulator(stiction.load(name), tolerance=1e-13, baumgarte=1.0)
    pose = "standing" if name == "solo12" else "default"
    state = sim.initial_state(pose)
    sim.run(state, sim.hold(pose), steps=100)
    if sliding:
        state.v[:2] = 1.0, 0.4
    end = state.copy()
    sim.step(end, sim.hold(pose))
    return sim, state, end.v.copy()


@pytest.mark.parametrize(
    ("name", "sliding"),
    [("solo12", False), ("solo12", True), ("cartpole", False), ("four-bar", False)],
)
def test_the_step_takes_changes_back(name: str, sliding: bool) -> None:
    """Any change of start and torque moves v+; the torque that the inverse finds for that moves v+
    as much, though with feet that stick it may be another."""
    sim, state, v_next = motion(name, sliding)
    d = stiction.inverse_contact_derivatives(sim, state, v_next)
    assert d.exact and d.two_sided, d
    control, nv = sim.hold(), sim.scene.nv
    control.torque = np.array(control.torque) + d.at.torque
    sim.step(state.copy(), control)
    rng = np.random.default_rng(0)
    driven = np.array([joint.nv == 1 for joint in sim.scene.joints for _ in range(joint.nv)])
    for _ in range(5):
        dq, dv, dtorque = rng.standard_normal((3, nv))
        dtorque *= driven
        moved = sim.jvp(dq, dv, dtorque)[nv:]
        found = d.by("q") @ dq + d.by("v") @ dv + d.by("v_next") @ moved
        missing = d.residual_by("q") @ dq + d.residual_by("v") @ dv
        missing = missing + d.residual_by("v_next") @ moved
        size = abs(d.by("v_next")).max() * abs(moved).max()
        assert abs(missing).max() <= 1e-6 * size
        again = sim.jvp(dq, dv, found)[nv:]
        np.testing.assert_allclose(again, moved, rtol=0, atol=1e-6 * abs(moved).max())
        assert not found[~driven].any()
        if sliding or name == "cartpole":  # forces are unique, and so is the torque
            np.testing.assert_allclose(found, dtorque, rtol=0, atol=1e-6 * size)


def test_compliant_feet_agree_with_differences() -> None:
    scene = stiction.load("solo12")
    scene.parameters.stiffness[:] = 1e4
    scene.parameters.contact_damping[:] = 100.0
    sim = stiction.Simulator(scene, tolerance=1e-13)
    state, control = sim.initial_state("standing"), sim.hold("standing")
    sim.run(state, control, steps=300)
    state.v[:2] = 0.5, 0.2
    end = state.copy()
    sim.step(end, control)
    d = stiction.inverse_contact_derivatives(sim, state, end.v, control=control)
    assert set(d.at.modes) == {"slide"} and d.at.impulse.any()

    def total(x: Floats) -> Floats:
        dq, dv, dv_next = np.split(x, 3)
        there = state.copy()
        there.q = stiction.integrate(scene, state.q, dq)
        there.v = state.v + dv
        found = stiction.inverse_contact_dynamics(sim, there, end.v + dv_next, control=control)
        return np.asarray(found.torque + found.residual)

    h, J = 1e-6, d.torque + d.residual
    for first, name in enumerate(("q", "v", "v_next")):
        block = slice(18 * first, 18 * (first + 1))
        columns = [(total(h * x) - total(-h * x)) / (2 * h) for x in np.eye(54)[block]]
        size = abs(J[:, block]).max()
        np.testing.assert_allclose(J[:, block], np.array(columns).T, rtol=0, atol=1e-6 * size)
        assert (d.by(name) + d.residual_by(name) == J[:, block]).all()


def test_free_flight_is_a_robot_without_contacts() -> None:
    """By acceleration the driven block of the mass matrix, as if each joint had a motor; at rest,
    else Coriolis forces of the mean velocity have a share in it."""
    sim, state, _ = motion("cartpole")
    state.v[:] = 0.0
    d = stiction.inverse_contact_derivatives(sim, state, state.v, [0, 1])
    M = d.by("acceleration")
    np.testing.assert_allclose(M, M.T, atol=1e-12 * abs(M).max())
    assert np.linalg.eigvalsh(M).min() > 0 and not d.residual.any()
    other = stiction.inverse_contact_derivatives(sim, state, state.v, [0])
    np.testing.assert_allclose(other.by("q")[0], d.by("q")[0], atol=1e-9)
    np.testing.assert_allclose(other.residual_by("q")[1], d.by("q")[1], atol=1e-9)
    assert not other.by("q")[1].any()


def test_what_is_held_back_by_friction_is_refused() -> None:
    """Pulled sideways by more than friction holds, and asked to stay."""
    sim = stiction.Simulator(stiction.load("cube-slide"))
    state, control = sim.initial_state(), sim.hold()
    state.v = np.zeros(6)
    sim.run(state, steps=200)
    state.v = np.zeros(6)
    sim.add_wrench(control, 0, force=[100.0, 0.0, 0.0])
    found = stiction.inverse_contact_dynamics(sim, state, np.zeros(6), control=control)
    assert abs(found.residual).max() > 1.0
    with pytest.raises(ValueError, match="is held back by the bound of what it may be"):
        stiction.inverse_contact_derivatives(sim, state, np.zeros(6), control=control)


def test_unknown_blocks_are_named() -> None:
    sim, state, v_next = motion("cartpole")
    d = stiction.inverse_contact_derivatives(sim, state, v_next)
    with pytest.raises(ValueError, match="by: 'torque' is unknown; there are: q, v, v_next, acc"):
        d.by("torque")
    assert repr(d) == "InverseContactDerivatives(nv=2, two-sided, exact)"
