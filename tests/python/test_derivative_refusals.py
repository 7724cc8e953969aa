"""What derivatives of a step refuse, and how they say it."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest
import stiction


def refused(error: type[Exception], text: str, call: Callable[[], object]) -> None:
    with pytest.raises(error, match=re.escape(text)) as caught:
        call()
    assert "C++" not in str(caught.value)


def test_arguments_are_refused_by_name() -> None:
    sim = stiction.Simulator(stiction.load("cartpole"))
    state, torque = sim.initial_state(), np.array([0.1, -0.2])
    nan = [float("nan"), 0.0]
    fresh = stiction.Simulator(sim.scene)
    for name, call in {
        "vjp": lambda: fresh.vjp(np.ones(4)),
        "jvp": lambda: fresh.jvp(dq=np.ones(2)),
        "gradient_report": lambda: fresh.gradient_report(),
        "step_derivatives": lambda: fresh.step_derivatives(),
    }.items():
        refused(ValueError, f"Simulator.{name}: no step was taken yet; call step() first", call)
    sim.step(state, torque)
    refused(ValueError, "w has 3 entries: must have 4 (2 nv", lambda: sim.vjp(np.ones(3)))
    refused(ValueError, "w[0] = nan: must be finite", lambda: sim.vjp(nan * 2))
    for shape in ((4, 1), ()):
        refused(ValueError, f"w has shape {shape}: must be (4,), 2 nv: dl/dq+ and dl/dv+",
                lambda shape=shape: sim.vjp(np.ones(shape)))  # fmt: skip
    refused(ValueError, "w = 'abc': must be an array of numbers, (4,)", lambda: sim.vjp("abc"))
    refused(ValueError, "dsprings has shape (3, 1): must be (3 ns,), three for each of gradient",
            lambda: sim.jvp(dsprings=np.ones((3, 1))))  # fmt: skip
    refused(ValueError, "dq has shape (4,): must be (2,)", lambda: sim.jvp(np.ones(4)))
    refused(ValueError, "dv[0] = nan: must be finite", lambda: sim.jvp(dv=nan))
    refused(ValueError, "dtorque has shape (): must be (2,)", lambda: sim.jvp(dtorque=1.0))
    refused(ValueError, "wrt: 'mass_of_it' is unknown; there are: q, v, torque, ",
            lambda: sim.step_derivatives(state, wrt="mass_of_it"))  # fmt: skip
    refused(TypeError, "must be one of the names", lambda: sim.vjp(np.ones(4), wrt=(1,)))  # type: ignore[arg-type]
    refused(ValueError, "by: 'mass' was not asked for; there are: q, v, torque, kp",
            lambda: sim.step_derivatives(state, wrt="kp").by("mass"))  # fmt: skip
    refused(TypeError, "state = 3: must be a State",
            lambda: sim.step_derivatives(3))  # type: ignore[arg-type]  # fmt: skip
    refused(ValueError, "control has shape (3,): must be (2,)",
            lambda: sim.step_derivatives(state, np.ones(3)))  # fmt: skip
    refused(ValueError, "control: needs a state", lambda: sim.step_derivatives(None, torque))
    spoilt = state.copy()
    spoilt.v[1] = np.inf
    refused(ValueError, "v[1] = inf", lambda: sim.step_derivatives(spoilt))
    refused(ValueError, "x[1] = nan",
            lambda: stiction.integrate(sim.scene, state.q, nan[::-1]))  # fmt: skip
    refused(ValueError, "q1", lambda: stiction.difference(sim.scene, state.q, [1.0]))


def test_numbers_that_are_no_physics_are_refused_by_name() -> None:
    sim = stiction.Simulator(stiction.load("box-stack", n=1))
    state = sim.initial_state()
    before = state.save()
    sim.parameters.mass[0] = 0.0
    text = 'parameters.mass[0] = 0 and parameters.inertia(0): joint "box0" of body "box0" moves no'
    refused(ValueError, text, lambda: sim.step_derivatives(state))
    sim.parameters.mass[0] = np.nan
    refused(ValueError, "parameters.mass[0] = nan", lambda: sim.step_derivatives(state))
    sim.parameters.mass[0] = 1.0
    torque = np.zeros(6)
    torque[2] = np.nan
    refused(ValueError, "control.torque[2] = nan", lambda: sim.step_derivatives(state, torque))
    assert state.save() == before


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"solver": "lcp-pgs"}, 'solver "lcp-pgs" solves the model LCP'),
        ({"solver": "raisim"}, 'solver "raisim" solves the model'),
        ({"project_closures": True}, "project_closures"),
    ],
)
def test_what_has_no_derivatives_is_refused_by_name(settings: dict[str, object], text: str) -> None:
    scene = stiction.Scene()
    scene.add_ground()
    pose = np.eye(4)
    pose[2, 3] = 0.0999
    scene.add_body("box", stiction.Box([0.1, 0.1, 0.1]), 1.0, pose)
    scene.parameters.stiffness[:] = 1e5
    sim = stiction.Simulator(scene, **settings)  # type: ignore[arg-type]
    state = sim.initial_state()
    before = state.save()
    sim.step(state)
    for call in (
        lambda: sim.vjp(np.ones(12)),
        lambda: sim.jvp(dq=np.ones(6)),
        lambda: sim.gradient_report(),
        lambda: sim.step_derivatives(),
    ):
        refused(ValueError, text, call)
    other = sim.initial_state()
    refused(ValueError, text, lambda: sim.step_derivatives(other))
    assert other.save() == before


def test_refusals_say_what_to_give() -> None:
    sim = stiction.Simulator(stiction.load("ball-drop"))
    sim.step(sim.initial_state())
    for wrt in (None, 1):
        with pytest.raises(TypeError, match=rf"wrt = {wrt}: must be a name or several of: q, v, t"):
            sim.vjp(np.ones(12), wrt=wrt)
    with pytest.raises(TypeError, match=r"wrt\[0\] = <built-in function any>: must be one of"):
        sim.step_derivatives(wrt=(any,))
    with pytest.raises(ValueError, match=r"dsprings has 3 entries: .* of which this step has 0"):
        sim.jvp(dsprings=np.ones(3))
    with pytest.raises(ValueError, match=r"w has 15 entries: must have 12 .*; this step has no s"):
        sim.vjp(np.ones(15))
    with pytest.raises(ValueError, match=r"w\[3\] = 1.1e\+308: .* overflows; scale it"):
        sim.vjp(1e308 * np.eye(12)[3] + 1e307)
    with pytest.raises(ValueError, match=r"x\[.*\] = 1.797e\+308: .* overflows; sc"):
        sim.jvp(dq=np.full(6, 1.797e308), dv=np.full(6, 1.797e308))
    sim.parameters.kp[2] = 1.0
    with pytest.raises(ValueError, match=r"parameters.kp\[2\] = 1 of .ball.*\[2\].: must be 0: s"):
        sim.step(sim.initial_state())


def test_a_number_of_steps_in_place_of_a_control() -> None:
    sim = stiction.Simulator(stiction.load("box-stack", n=2))
    state = sim.initial_state()
    text = "must be None, torques or a Control; steps are named, as in run(state, steps=100)"
    refused(ValueError, f"control = 100.0: {text}", lambda: sim.run(state, 100))
    refused(ValueError, f"control = 0.5: {text}", lambda: sim.step(state, 0.5))
