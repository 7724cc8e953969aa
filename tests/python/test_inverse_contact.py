"""A step forward, then backwards: torques and impulses of contacts from the velocity at its end."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import stiction


def forward(sim: stiction.Simulator, seed: int, steps: int = 30):
    """State before and after a step under servos and random torques, the torques, the impulses."""
    state, control = sim.initial_state(), sim.hold()
    sim.run(state, steps=steps)
    rng = np.random.default_rng(seed)
    motors = [joint.v_index for joint in sim.scene.joints if joint.nv == 1]
    torque = np.zeros(sim.scene.nv)
    torque[motors] = 0.3 * rng.normal(size=len(motors))
    given = control.copy()
    given.torque = np.array(control.torque) + torque
    end = state.copy()
    sim.step(end, given)
    return state, control, torque, end, np.array(sim.solution().impulse)


@pytest.mark.parametrize("name", ["solo12", "cartpole", "four-bar", "cube-slide"])
@pytest.mark.parametrize("seed", [1, 2])
def test_found_torques_end_at_the_velocity(name: str, seed: int) -> None:
    sim = stiction.Simulator(stiction.load(name), tolerance=1e-12)
    state, control, _, end, impulse = forward(sim, seed)
    found = stiction.inverse_contact_dynamics(sim, state, end.v, control=control)
    assert found.impulse.shape == impulse.shape
    assert np.abs(found.residual).max(initial=0) < 1e-6
    assert found.violation < 1e-9
    control.torque = np.array(control.torque) + found.torque
    sim.step(state, control)
    np.testing.assert_allclose(state.v, end.v, atol=1e-9)


@pytest.mark.parametrize(
    "velocity", [[1, 0.5, 0, 3, -2, 9], [0.1, 0, 0, 0, 1, 0], [0, 0, 3, 40, 50, 60]]
)
def test_a_single_contact_returns_its_impulse(velocity: list[float]) -> None:
    """Sliding with spin, rolling, taking off."""
    scene = stiction.Scene(name="ball")
    scene.add_ground()
    at = np.eye(4)
    at[2, 3] = 0.1
    scene.add_body("ball", stiction.Sphere(0.1), 1.0, at, stiction.Material(friction=0.5))
    sim = stiction.Simulator(scene, tolerance=1e-13)
    state = sim.initial_state()
    state.v = velocity
    end = state.copy()
    sim.step(end)
    impulse = np.array(sim.solution().impulse)
    found = stiction.inverse_contact_dynamics(sim, state, end.v)
    np.testing.assert_allclose(found.impulse, impulse, atol=1e-9)
    np.testing.assert_allclose(found.residual, 0, atol=1e-6)


def test_compliant_feet_carry_what_their_law_says() -> None:
    scene = stiction.load("solo12")
    scene.parameters.stiffness[:] = 1e4
    scene.parameters.contact_damping[:] = 100.0
    sim = stiction.Simulator(scene, tolerance=1e-13)
    state, control, _, end, impulse = forward(sim, 3, steps=300)
    normal = np.arange(2, len(impulse), 3)
    assert len(impulse) and np.all(sim.problem().R[normal] > 0)
    found = stiction.inverse_contact_dynamics(sim, state, end.v, control=control)
    np.testing.assert_allclose(found.impulse[normal], impulse[normal], atol=1e-8)
    control.torque = np.array(control.torque) + found.torque
    sim.step(state, control)
    np.testing.assert_allclose(state.v, end.v, atol=1e-7)


def test_a_motion_that_nothing_explains_is_reported() -> None:
    sim = stiction.Simulator(stiction.load("cube-slide"))
    state = sim.initial_state()
    up = np.zeros(6)
    up[2] = 1.0  # what rests does not rise
    assert np.abs(stiction.inverse_contact_dynamics(sim, state, up).residual).max() > 100
    assert stiction.inverse_contact_dynamics(sim, state, -up).violation > 0.9


WRONG: list[tuple[type[Exception], str, dict[str, Any]]] = [
    (ValueError, "v_next has shape (5,): must be (6,)", {"v_next": np.zeros(5)}),
    (ValueError, "v_next[0] = nan: must be finite", {"v_next": np.full(6, np.nan)}),
    (ValueError, "v_next[0] = 1e+300: must be finite and at most 1e100", {"v_next": [1e300] * 6}),
    (ValueError, "actuated[1] = 9: must be the number of a dof, from 0 to 5", {"actuated": [0, 9]}),
    (
        TypeError,
        "is a mask, must be numbers of dofs; take np.flatnonzero",
        {"actuated": [True] * 6},
    ),
    (TypeError, "must be integers, numbers of dofs", {"actuated": [0.5]}),
    (ValueError, "actuated has shape (): must be a list", {"actuated": 3}),
    (ValueError, "tolerance = nan: must be > 0 and finite", {"tolerance": np.nan}),
    (ValueError, "tolerance = 0: must be > 0 and finite", {"tolerance": 0.0}),
    (ValueError, "tolerance = -1e-06: must be > 0 and finite", {"tolerance": -1e-6}),
    (ValueError, "control has shape (2,): must be (6,)", {"control": np.ones(2)}),
    (TypeError, "state = 3: must be a State", {"state": 3}),
]


@pytest.mark.parametrize(
    "function", [stiction.inverse_contact_dynamics, stiction.inverse_contact_derivatives]
)
@pytest.mark.parametrize(("error", "text", "given"), WRONG)
def test_wrong_arguments_are_named(
    function: Callable[..., object], error: type[Exception], text: str, given: dict[str, Any]
) -> None:
    sim = stiction.Simulator(stiction.load("cube-slide"))
    right = {"state": sim.initial_state(), "v_next": np.zeros(6)}
    with pytest.raises(error, match=re.escape(text)):
        function(sim, **(right | given))


def test_compliant_integrators_are_refused() -> None:
    soft = stiction.load("cube-slide")
    soft.parameters.stiffness[:] = 1e5
    soft.parameters.contact_damping[:] = 300.0
    sim = stiction.Simulator(soft, integrator="implicit-euler")
    with pytest.raises(ValueError, match="integrator"):
        stiction.inverse_contact_dynamics(sim, sim.initial_state(), np.zeros(6))


def test_a_control_is_that_of_a_step() -> None:
    """None holds, an array is torques that count as known."""
    sim = stiction.Simulator(stiction.load("solo12"), tolerance=1e-12)
    state = sim.initial_state("standing")
    sim.run(state, steps=50)
    known = np.r_[np.zeros(6), np.linspace(-0.1, 0.1, 12)]
    ends = [state.copy() for _ in range(3)]
    sim.step(ends[0], known)
    for k, control in enumerate((None, known, sim.hold())):
        found = stiction.inverse_contact_dynamics(sim, state, ends[0].v, control=control)
        ends[1] = state.copy()
        if k == 1:
            assert abs(found.torque[6:]).max() < 2.0  # feet that stick press as they like
        sim.step(ends[1], found.torque + (known if k == 1 else 0.0))
        np.testing.assert_allclose(ends[1].v, ends[0].v, atol=1e-9)


def solo12_that(does: str):
    """A simulator and a state in which nothing touches, all feet slide, or one foot lands."""
    sim = stiction.Simulator(stiction.load("solo12"), tolerance=1e-13)
    state = sim.initial_state("standing")
    if does == "one foot sticks":
        state.q[8:10] *= 0.7  # its leg is the longest
        state.q[2] += 0.15
        while sim.step(state, sim.hold("standing")).num_contacts == 0:
            before = state.copy()
        state = before
    else:
        sim.run(state, sim.hold("standing"), steps=300)
        state.q[2] += 0.3 if does == "flies" else 0.0
        state.v[:2] = 1.0, 0.4
    return sim, state


@pytest.mark.parametrize(
    ("does", "modes"),
    [("flies", ()), ("slides", ("slide",) * 4), ("one foot sticks", ("stick",))],
)
def test_torques_that_a_motion_tells_come_back(does: str, modes: tuple[str, ...]) -> None:
    """With two feet or more that stick they press against each other as they like."""
    sim, state = solo12_that(does)
    control = sim.hold("standing")
    torque = np.r_[np.zeros(6), 0.1 * np.random.default_rng(4).normal(size=12)]
    given, end = control.copy(), state.copy()
    given.torque = np.array(control.torque) + torque
    sim.step(end, given)
    impulse = np.array(sim.solution().impulse)
    found = stiction.inverse_contact_dynamics(sim, state, end.v, control=control)
    assert found.modes == modes
    np.testing.assert_allclose(found.torque, torque, atol=1e-9)
    np.testing.assert_allclose(found.impulse, impulse, atol=1e-9)
    np.testing.assert_allclose(found.residual, 0, atol=1e-9)
    np.testing.assert_array_equal(sim.solution().impulse, impulse)  # the last step stays


def test_a_body_that_turns_about_its_centre_of_mass_is_explained() -> None:
    """A thrown body whose centre of mass is not its origin."""
    scene = stiction.Scene(name="hammer")
    at = np.eye(4)
    at[2, 3] = 1.0
    scene.add_body("hammer", stiction.Box([0.1, 0.02, 0.02]), 1.0, at)
    scene.parameters.com[0] = [0.2, 0.1, -0.05]
    sim = stiction.Simulator(scene, dt=1e-2)
    state = sim.initial_state()
    state.v = [1.0, 0.5, 2.0, 3.0, -2.0, 4.0]
    end = state.copy()
    sim.step(end)
    found = stiction.inverse_contact_dynamics(sim, state, end.v)
    np.testing.assert_allclose(found.residual, 0, atol=1e-9)
