"""Derivatives of a step from Python: matrices, products and report."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable

import numpy as np
import pinocchio
import pytest
import stiction
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Case = tuple[stiction.Simulator, stiction.State, Floats]
STEPS = (1e-4, 1e-5, 1e-6, 1e-7)


def box() -> stiction.Scene:
    scene = stiction.Scene(name="box")
    scene.add_ground(stiction.Material(friction=0.5))
    scene.add_body("box", stiction.Box([0.1, 0.15, 0.08]), 2.0, material=stiction.Material(0.5))
    return scene


def made(scene: stiction.Scene, seed: int, speed: float) -> Case:
    """At work: moving, pushed, with the warm start of a step; contacts, where there are any, sunk
    by 10 micrometres, for a gap of zero is a kink."""
    rng = np.random.default_rng(seed)
    sim = stiction.Simulator(scene, dt=2e-3, tolerance=1e-13)
    state = sim.initial_state()
    sim.run(state, steps=2)
    state.v += speed * rng.standard_normal(scene.nv)
    return sim, state, 0.1 * rng.standard_normal(scene.nv)


def sunk(scene: stiction.Scene, height: float, seed: int, speed: float) -> Case:
    sim, state, torque = made(scene, seed, 0.0)
    state.q[2] = height - 1e-5
    sim.run(state.copy(), steps=1)
    state.v += speed * np.random.default_rng(seed).standard_normal(scene.nv)
    return sim, state, torque


def solo12() -> Case:
    scene = stiction.load("solo12")
    sim, state, torque = made(scene, 1, 0.0)
    lowest = min(pair.distance for pair in scene.distances(state, max_distance=1.0))
    state.q[2] -= lowest + 2e-5
    return sim, state, torque


def four_bar() -> Case:
    sim, state, torque = made(stiction.load("four-bar"), 2, 0.0)
    sim.run(state, torque, steps=20)
    return sim, state, torque


def sliding_box() -> Case:
    sim, state, torque = sunk(box(), 0.08, 5, 0.0)
    state.v[:2] = [0.4, 0.3]
    return sim, state, 0 * torque


CASES: dict[str, Callable[[], Case]] = {
    "solo12": solo12,
    "cartpole": lambda: made(stiction.load("cartpole"), 3, 0.5),
    "box sticks": lambda: sunk(box(), 0.08, 4, 0.0),
    "box slides": sliding_box,
    "closure": four_bar,
}


@pytest.fixture(params=sorted(CASES))
def case(request: pytest.FixtureRequest) -> Case:
    return CASES[request.param]()


def end(sim: stiction.Simulator, state: stiction.State, torque: Floats, x: Floats) -> Floats:
    """(q+, v+) of the step from `state` and `torque` moved by x (3 nv,)."""
    dq, dv, dtorque = np.split(x, 3)
    other = state.copy()
    other.q = stiction.integrate(sim.scene, state.q, dq)
    other.v = state.v + dv
    sim.step(other, torque + dtorque)
    return np.r_[other.q, other.v]


def central_differences(case: Case, h: float) -> Floats:
    """(2 nv, 3 nv), tangents at the end of the step."""
    sim, state, torque = case
    nv, nq = sim.scene.nv, sim.scene.nq
    there = end(sim, state, torque, np.zeros(3 * nv))
    columns = []
    for x in h * np.eye(3 * nv):
        plus, minus = (end(sim, state, torque, sign * x) for sign in (1, -1))
        moved = [stiction.difference(sim.scene, there[:nq], one[:nq]) for one in (plus, minus)]
        columns.append(np.r_[moved[0] - moved[1], plus[nq:] - minus[nq:]] / (2 * h))
    return np.array(columns).T


def test_matrices_are_those_of_differences(case: Case) -> None:
    sim, state, torque = case
    d = sim.step_derivatives(state, torque)
    assert d.report.two_sided and d.report.exact, d
    nv = sim.scene.nv
    assert d.A.shape == (2 * nv, 2 * nv) and d.B.shape == (2 * nv, nv) and d.P.shape == (2 * nv, 0)
    assert d.nv == nv
    J = np.c_[d.A, d.B]
    differences = [central_differences(case, h) for h in STEPS]
    for k, name in enumerate(("q", "v", "torque")):
        block = slice(k * nv, (k + 1) * nv)
        size = abs(J[:, block]).max()
        errors = [abs(J[:, block] - found[:, block]).max(axis=0) for found in differences]
        assert np.min(errors, axis=0).max() <= 1e-6 * size, (name, np.min(errors, axis=0), size)
        assert (d.by(name) == J[:, block]).all()


def test_products_are_those_of_the_matrices(case: Case) -> None:
    sim, state, torque = case
    d = sim.step_derivatives(state, torque, wrt=("friction", "gravity"))
    J, rng, nv = np.c_[d.A, d.B], np.random.default_rng(0), sim.scene.nv
    w, x = rng.standard_normal(2 * nv), rng.standard_normal(3 * nv)
    np.testing.assert_allclose(np.r_[sim.vjp(w)], w @ J, atol=1e-12 * abs(J).max() * nv)
    dq, dv, dtorque = np.split(x, 3)
    product = sim.jvp(dq, dv, dtorque)
    np.testing.assert_allclose(product, J @ x, atol=1e-12 * abs(J).max() * nv)
    np.testing.assert_allclose(sim.jvp(dv=dv), d.by("v") @ dv, atol=1e-12 * abs(J).max() * nv)
    assert not sim.jvp().any()
    gravity, gv = sim.vjp(w, ("gravity", "v"))
    np.testing.assert_allclose(gravity, w @ d.by("gravity"), atol=1e-12)
    np.testing.assert_allclose(sim.vjp(w, "friction"), w @ d.by("friction"), atol=1e-12)
    assert (sim.vjp(w, "v") == gv).all() and (sim.vjp(w)[1] == gv).all()
    assert d.P.shape == (2 * nv, len(sim.parameters.friction) + 3)


def test_the_state_stays_and_the_step_is_the_same(case: Case) -> None:
    sim, state, torque = case
    before, plain = state.save(), state.copy()
    d = sim.step_derivatives(state, torque)
    assert state.save() == before
    twin = stiction.Simulator(sim.scene, dt=2e-3, tolerance=1e-13)
    twin.step(plain, torque)
    assert d.next_state is not None and d.next_state.save() == plain.save()
    sim.step(state, torque)
    sim.vjp(np.ones(2 * sim.scene.nv))
    sim.gradient_report()
    sim.step(state, torque)
    twin.step(plain, torque)
    assert state.save() == plain.save()


def test_the_last_step_is_the_one_that_is_asked_for(case: Case) -> None:
    sim, state, torque = case
    d = sim.step_derivatives(state, torque)
    sim.step(state, torque)
    last = sim.step_derivatives()
    assert last.next_state is None
    assert (last.A == d.A).all() and (last.B == d.B).all()
    assert repr(sim.gradient_report()) == repr(d.report) == repr(last.report)


def test_gradients_have_the_shapes_of_their_fields() -> None:
    sim, state, torque = solo12()
    sim.step(state, torque)
    names = sim.derivative_parameters()
    found = dict(zip(names, sim.vjp(np.ones(36), names), strict=True))
    p = sim.parameters
    for name in ("mass", "com", "kp", "kd", "damping", "armature", "friction", "gravity"):
        assert found[name].shape == getattr(p, name).shape, name
    assert found["inertia"].shape == (sim.scene.num_bodies, 6)
    assert found["wrench"].shape == (0, 6)
    assert {"position_target", "restitution", "stiffness"} <= set(names)


def test_islands_hold_all_there_is() -> None:
    scene = stiction.Scene()
    scene.add_ground()
    for i in range(3):
        at = np.eye(4)
        at[:3, 3] = [2.0 * i, 0, 0.1 if i else 0.5]
        scene.add_body(f"box{i}", stiction.Box([0.1] * 3), 1.0, at)
    sim = stiction.Simulator(scene)
    state = sim.initial_state()
    d = sim.step_derivatives(state)
    assert sorted(sorted(island.dofs) for island in d.islands) == [
        list(range(6 * i, 6 * i + 6)) for i in range(3)
    ]
    assert all(island.values.shape == (12, 18) for island in d.islands)
    blocks = sum(np.count_nonzero(island.values) for island in d.islands)
    assert np.count_nonzero(d.A) + np.count_nonzero(d.B) == blocks
    assert d.report.num_gap_kinks == 8 and not d.report.two_sided
    assert repr(d).startswith("StepDerivatives(nv=18, 3 islands of up to 6 dofs, GradientReport(")
    assert "one-sided" in repr(d) and "8 at a gap of zero" in repr(d)
    other = stiction.Simulator(scene, baumgarte=1.0)
    assert other.step_derivatives(state).report.two_sided  # both slopes are 1 / dt


def test_redundant_rows_that_contradict_are_counted() -> None:
    groove = stiction.Scene()
    m, s = stiction.Material(friction=0.8), np.sqrt(0.5)
    groove.add_half_space("left", [0, 0, 0], [0, s, s], m)
    groove.add_half_space("right", [0, 0, 0], [0, -s, s], m)
    at = np.eye(4)
    at[2, 3] = 0.1 / s
    groove.add_body("ball", stiction.Sphere(0.1), 1.0, at, m)
    welded = stiction.Scene()
    welded.add_ground()
    at[2, 3] = 0.1
    welded.add_body("box", stiction.Box([0.1] * 3), 1.0, at)
    on_ground = stiction.Simulator(copy.deepcopy(welded), dt=1e-2, baumgarte=1.0)
    welded.add_weld("weld", "world", np.eye(4), "box", np.linalg.inv(at))
    sim = stiction.Simulator(groove, dt=1e-2, baumgarte=1.0, tolerance=1e-12)
    report = sim.step_derivatives(sim.initial_state()).report
    assert report.rank < report.unknowns and report.num_contradicting == 1
    assert not report.exact and not report.two_sided and "contradicting" in repr(report)
    tape = sim.rollout(sim.initial_state(), np.zeros((2, sim.scene.nv)), tape=True)
    assert not tape.adjoint(np.zeros((3, 12))).report.exact
    # A weld holds the box; the ground carries nothing, and only what opens has a derivative.
    held = stiction.Simulator(welded, dt=1e-2, baumgarte=1.0, tolerance=1e-12)
    report = held.step_derivatives(held.initial_state()).report
    assert report.rank == report.unknowns == 6 and not report.two_sided
    report = on_ground.step_derivatives(on_ground.initial_state()).report
    assert report.rank < report.unknowns and report.num_contradicting == 0 and report.exact


def balls_in_a_row() -> stiction.Scene:
    """101 on the ground, 606 dofs, each in touch with the next."""
    scene = stiction.Scene()
    scene.add_ground()
    for i in range(101):
        at = np.eye(4)
        at[:3, 3] = [0.2 * i, 0, 0.1]
        scene.add_body(f"ball{i}", stiction.Sphere(0.1), 1.0, at)
    return scene


def test_large_islands_have_products_only() -> None:
    scene = balls_in_a_row()
    sim = stiction.Simulator(scene, dt=1e-3)
    state = sim.initial_state()
    state.v[0] = 1e-3
    with pytest.raises(
        ValueError, match=r"606 dofs together, matrices are for up to 600: take vjp"
    ):
        sim.step_derivatives(state)
    sim.step(state)
    w, x = (np.random.default_rng(k).standard_normal(1212) for k in range(2))
    gq, gv, _ = sim.vjp(w)
    np.testing.assert_allclose(w @ sim.jvp(x[:606], x[606:]), gq @ x[:606] + gv @ x[606:])


@pytest.mark.parametrize("integrator", ["implicit-euler", "exponential"])
def test_large_compliant_scenes_have_products_only(integrator: str) -> None:
    scene = balls_in_a_row()
    scene.parameters.stiffness[:] = 1e4
    sim = stiction.Simulator(scene, integrator=integrator, dt=1e-3)
    state = sim.initial_state()
    state.v[2] = -1e-2
    before = state.copy()
    sim.step(state)
    message = r"606 dofs, matrices are for up to 600: take jvp"
    with pytest.raises(ValueError, match=message):
        sim.step_derivatives()
    with pytest.raises(ValueError, match=message):
        sim.vjp(np.ones(1212))
    x = np.zeros(606)
    x[2] = 1.0
    moved = sim.jvp(np.zeros(606), x)
    before.v[2] += 1e-5
    sim.step(before)
    np.testing.assert_allclose(moved[606:], (before.v - state.v) / 1e-5, rtol=0, atol=1e-4)


@pytest.mark.parametrize("integrator", ["implicit-euler", "exponential"])
def test_compliant_steps_have_derivatives_with_springs(integrator: str) -> None:
    scene = box()
    scene.parameters.stiffness[:] = 1e4
    sim = stiction.Simulator(scene, integrator=integrator, dt=2e-3)
    state = sim.initial_state()
    state.q[2] = 0.08 - 2e-3
    sim.run(state, steps=2)
    d = sim.step_derivatives(state)
    ns, nv = 3 * len(d.report.springs), 6
    exact = integrator == "implicit-euler"
    assert d.report.method == ("exact" if exact else "differences") and ns == 12
    assert all(pair[:2] == (0, 1) for pair in d.report.springs)
    assert ("by differences, error estimate" in repr(d)) != exact and "4 springs" in repr(d)
    assert d.springs_by.shape == (ns, 3 * nv) and d.by_springs.shape == (2 * nv + ns, ns)
    assert d.dx_dx.shape == (2 * nv + ns,) * 2 and d.dx_dtorque.shape == (2 * nv + ns, nv)
    case = (stiction.Simulator(scene, integrator=integrator, dt=2e-3, tolerance=1e-13), state)
    J, found = np.c_[d.A, d.B], central_differences((*case, np.zeros(nv)), 1e-6)
    assert abs(J - found).max() <= 1e-5 * abs(J).max()
    w = np.random.default_rng(0).standard_normal(2 * nv + ns)
    gq, gv, gtorque, gsprings = sim.vjp(w, ("q", "v", "torque", "springs"))
    np.testing.assert_allclose(np.r_[gq, gv, gsprings], w @ d.dx_dx, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(gtorque, w @ d.dx_dtorque, rtol=1e-9, atol=1e-12)
    x = np.random.default_rng(1).standard_normal(ns)
    product = sim.jvp(dsprings=x)
    np.testing.assert_allclose(
        product, d.dx_dx[:, 2 * nv :] @ x, rtol=0, atol=1e-4 * abs(product).max()
    )
    with pytest.raises(ValueError, match="by q, v and torque, not by"):
        sim.vjp(w, "friction")


def test_report_is_a_record() -> None:
    sim, state, _ = solo12()
    report = sim.step_derivatives(state).report
    assert report.modes == ["stick"] * 4 and (report.margin > 0).all()
    assert (report.rank, report.unknowns, report.not_unique) == (12, 12, 0)
    assert 0 < report.smallest_pivot <= 1
    assert report.smallest_margin == report.margin.min()
    assert repr(report) == (
        "GradientReport(two-sided, exact, rank 12 of 12, 4 stick, smallest margin "
        f"{report.smallest_margin:.2g}, smallest gap {report.smallest_gap:.2g})"
    )
    numbers = report.to_dict()
    assert {"modes", "margin", "two_sided", "exact", "num_gap_kinks"} <= set(numbers)


def test_configurations_move_by_tangents() -> None:
    scene, rng = stiction.load("solo12"), np.random.default_rng(0)
    q = scene.default_q
    for x in rng.uniform(-1.5, 1.5, (20, scene.nv)):  # turns by less than pi
        there = stiction.integrate(scene, q, x)
        np.testing.assert_allclose(stiction.difference(scene, q, there), x, atol=1e-12)
        assert np.linalg.norm(there[3:7]) == pytest.approx(1, abs=1e-14)
    x = 1e-6 * rng.standard_normal(scene.nv)  # tangents are Pinocchio's, curves are the step's own
    there = pinocchio.integrate(stiction.pinocchio_model(scene, 0), q, x)
    np.testing.assert_allclose(stiction.integrate(scene, q, x), there, rtol=0, atol=1e-11)


# --- refusals ---------------------------------------------------------------------------------


def test_the_record_is_of_the_step_whatever_is_edited_later() -> None:
    w = np.arange(36.0)

    def gradient(edit: bool) -> list[Floats]:
        sim, state, torque = solo12()
        sim.step(state, torque)
        if edit:
            sim.parameters.mass[:] *= 3.0
            sim.parameters.friction[:] = 0.01
            sim.parameters.gravity[:] = 0.0
            state.v[:] = 0.0
        return [*sim.vjp(w, wrt=("mass", "kp", "friction")), *sim.jvp(dv=w[:18])]

    for ours, theirs in zip(gradient(True), gradient(False), strict=True):
        assert np.array_equal(ours, theirs)


def test_a_second_thread_inside_is_refused() -> None:
    sim, state, torque = solo12()
    going, texts = [True], []

    def work() -> None:
        own = state.copy()
        while going[0]:
            try:
                sim.run(own, steps=20)
            except stiction.StictionError as error:
                assert "another thread is inside Simulator." in str(error)

    thread = threading.Thread(target=work)
    thread.start()
    calls: dict[str, Callable[[], object]] = {
        "step_derivatives": lambda: sim.step_derivatives(state, torque),
        "vjp": lambda: sim.vjp(np.ones(36)),
        "jvp": lambda: sim.jvp(),
        "gradient_report": sim.gradient_report,
    }
    try:
        for name, call in calls.items():
            for _ in range(5000):
                try:
                    call()
                except stiction.StictionError as error:
                    texts.append(str(error))
                    break
            assert texts and texts[-1].startswith(f"Simulator.{name}: another thread is inside")
    finally:
        going[0] = False
        thread.join()


def test_a_scene_without_bodies_has_empty_derivatives() -> None:
    scene = stiction.Scene()
    scene.add_ground()
    sim = stiction.Simulator(scene)
    d = sim.step_derivatives(sim.initial_state())
    assert d.A.shape == (0, 0) and d.report.exact and d.report.two_sided
