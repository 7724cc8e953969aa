"""Products of a step's derivatives with changes of parameters: `sim.jvp(parameters=...)`."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import stiction
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def stepped(name: str) -> stiction.Simulator:
    """After a step of a scene that moves and touches."""
    sim = stiction.Simulator(stiction.load(name), dt=2e-3, tolerance=1e-13)
    state = sim.initial_state()
    sim.run(state, steps=30)
    state.v[:2] += 0.3
    sim.step(state)
    return sim


def changes(sim: stiction.Simulator, seed: int = 0) -> dict[str, Floats]:
    """Of every parameter, of the shapes that vjp returns."""
    rng, names = np.random.default_rng(seed), sim.derivative_parameters()
    gradients = sim.vjp(np.zeros(2 * sim.scene.nv), names)
    return {n: rng.standard_normal(g.shape) for n, g in zip(names, gradients, strict=True)}


@pytest.mark.parametrize("name", ["solo12", "four-bar", "cube-slide", "box-stack"])
def test_products_are_columns_times_changes(name: str) -> None:
    sim = stepped(name)
    d = sim.step_derivatives(wrt=sim.derivative_parameters())
    all_of_them, nv = changes(sim), sim.scene.nv
    moved = 0
    for field, change in all_of_them.items():
        columns = d.by(field)
        size = abs(columns).max(initial=0.0)
        product = sim.jvp(parameters={field: change})
        off = abs(product - columns @ change.ravel()).max()
        assert off <= 1e-12 * size * change.size + 5e-15, (field, off, size)
        assert (sim.jvp(parameters={field: change.ravel()}) == product).all()  # flat
        moved += size > 1e-9
    assert moved >= 6
    x = np.random.default_rng(1).standard_normal(3 * nv)
    P = np.concatenate([change.ravel() for change in all_of_them.values()])
    product = sim.jvp(*np.split(x, 3), parameters=all_of_them)
    size = abs(np.c_[d.A, d.B]).sum(axis=1).max() + (abs(d.P) @ abs(P)).max()
    assert abs(product - np.c_[d.A, d.B] @ x - d.P @ P).max() <= 1e-12 * size
    w = np.random.default_rng(2).standard_normal(2 * nv)
    names = ("q", "v", "torque", *all_of_them)
    parts = (*np.split(x, 3), *all_of_them.values())
    along = sum(np.sum(g * c) for g, c in zip(sim.vjp(w, names), parts, strict=True))
    assert abs(along - w @ product) <= 1e-12 * size * w.size


def test_nothing_given_is_no_change() -> None:
    sim = stepped("cube-slide")
    assert not sim.jvp(parameters={}).any() and sim.jvp(parameters={}).shape == (12,)
    assert not sim.jvp(parameters={"mass": [0.0]}).any()
    assert sim.jvp(parameters={"gravity": [1, 0, 0], "wrench": np.zeros((0, 6))}).any()


def test_springs_come_along() -> None:
    """Stiffness moves the extensions that the step leaves behind."""
    scene = stiction.load("cube-slide")
    scene.parameters.stiffness[:] = 1e4
    scene.parameters.contact_damping[:] = 30.0
    sim = stiction.Simulator(scene, dt=2e-3, tolerance=1e-13, tangential_compliance=True)
    state = sim.initial_state()
    sim.run(state, steps=2)
    d = sim.step_derivatives(state, wrt="stiffness")
    sim.step(state)
    ns, change = 3 * len(d.report.springs), np.array([1.0, 2.0])
    assert ns > 0 and d.P[12:].any()
    product = sim.jvp(dsprings=np.zeros(ns), parameters={"stiffness": change})
    np.testing.assert_allclose(product, d.P @ change, rtol=0, atol=1e-12 * abs(d.P).max())
    assert (sim.jvp(parameters={"stiffness": change}) == product[:12]).all()


FRICTION = 'parameters["friction"]'
WRONG: list[tuple[type[Exception], str, Any]] = [
    (TypeError, "parameters = 'mass': must be a dict of changes by name", "mass"),
    (TypeError, "parameters = ('mass',): must be a dict of changes", ("mass",)),
    (TypeError, "parameters: 3 is no name; there are: position_target, ", {3: [1.0]}),
    (ValueError, "parameters: 'weight' is unknown; there are: position_t", {"weight": [1.0]}),
    (ValueError, "parameters: 'q' is an argument of its own: dq", {"q": np.zeros(6)}),
    (ValueError, "parameters: 'springs' is an argument of its own: dspr", {"springs": [0.0]}),
    (ValueError, FRICTION + " has shape (3,): must be (2,)", {"friction": [1, 2, 3]}),
    (ValueError, FRICTION + " has shape (): must be (2,)", {"friction": 1.0}),
    (ValueError, FRICTION + "[1] = nan: must be finite", {"friction": [1.0, np.nan]}),
    (TypeError, FRICTION + ": must be numbers; ", {"friction": ["a", "b"]}),
    (ValueError, FRICTION + " has shape (): must be (2,)", {"friction": None}),
    (ValueError, "has shape (6, 1): must be (1, 6) or (6,)", {"inertia": np.zeros((6, 1))}),
    (ValueError, 'parameters["wrench"] has shape (6,): must be (0, 6)', {"wrench": np.zeros(6)}),
    (
        ValueError,
        'parameters["geometry_placement"][8] = 1.7e+308: the product with the derivatives of ',
        {"geometry_placement": 1.7e308 * np.eye(12)[8], "gravity": [0, 0, 1.6e308]},
    ),
]


@pytest.mark.parametrize(("error", "text", "given"), WRONG)
def test_wrong_changes_are_named(error: type[Exception], text: str, given: Any) -> None:
    sim = stepped("cube-slide")
    with pytest.raises(error, match=re.escape(text)):
        sim.jvp(dv=np.full(6, 1e307), parameters=given)


def test_what_has_no_columns_is_refused_as_columns_are() -> None:
    fresh = stiction.Simulator(stiction.load("cube-slide"))
    with pytest.raises(ValueError, match=r"Simulator.jvp: no step was taken yet; call step\(\)"):
        fresh.jvp(parameters={"friction": [1.0, 1.0]})
    scene = stiction.load("cube-slide")
    scene.parameters.stiffness[:] = 1e5
    for settings, text in (
        ({"integrator": "implicit-euler"}, 'by q, v and torque, not by "friction"'),
        ({"solver": "raisim"}, 'solver "raisim" solves the model'),
        ({"project_closures": True}, "project_closures"),
    ):
        sim = stiction.Simulator(scene, **settings)  # type: ignore[arg-type]
        sim.step(sim.initial_state())
        for call in (
            lambda sim=sim: sim.step_derivatives(wrt="friction"),
            lambda sim=sim: sim.jvp(parameters={"friction": [1.0, 1.0]}),
        ):
            with pytest.raises(ValueError, match=re.escape(text)):
                call()


def test_a_tuned_servo_and_its_target_move_together() -> None:
    """Against differences of the step itself."""
    scene = stiction.load("solo12")
    sim = stiction.Simulator(scene, dt=2e-3, tolerance=1e-13, baumgarte=1.0)
    state, control = sim.initial_state("standing"), sim.hold("standing")
    sim.run(state, control, steps=100)
    state.v[6:] += 0.1
    target, gain = np.r_[np.zeros(6), np.linspace(-1, 1, 12)], np.r_[np.zeros(6), np.ones(12)]

    def end(t: float) -> tuple[Floats, Floats]:
        moved, there = control.copy(), state.copy()
        moved.position_target = np.array(control.position_target) + t * target
        sim.parameters.kp[:] = kp + t * gain
        sim.step(there, moved)
        return there.q.copy(), there.v.copy()

    kp = np.array(sim.parameters.kp)
    h = 1e-4
    (q_plus, v_plus), (q_minus, v_minus) = end(h), end(-h)
    end(0.0)
    product = sim.jvp(parameters={"position_target": target, "kp": gain})
    found = np.r_[stiction.difference(scene, q_minus, q_plus), v_plus - v_minus] / (2 * h)
    np.testing.assert_allclose(product, found, rtol=0, atol=1e-6 * abs(found).max())
