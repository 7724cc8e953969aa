"""Steps whose contact problem has no solution, or whose budget ends, stay bounded and harmless."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable

import numpy as np
import pytest
import stiction
from stiction import NotConvergedWarning


def slot(short: float, **settings: object) -> stiction.Simulator:
    """A box between two walls that are `short` [m] too close."""
    scene, material = stiction.Scene(name="squeeze"), stiction.Material(friction=0.8)
    a = 0.1
    scene.add_half_space("left", [-a + short / 2, 0, 0], [1, 0, 0], material)
    scene.add_half_space("right", [a - short / 2, 0, 0], [-1, 0, 0], material)
    scene.add_body("box", stiction.Box([a, a, a]), 1.0, np.eye(4), material)
    return stiction.Simulator(scene, **settings)


def test_a_box_in_a_slot_too_narrow_falls() -> None:
    """The corrections of its walls cancel each other: nothing squeezes it."""
    sim = slot(1e-4)
    state = sim.initial_state()
    statuses = set()
    for _ in range(500):
        report = sim.step(state)
        statuses.add(report.solver_status)
    assert state.q[2] == pytest.approx(-9.81 * 1e-6 * 500 * 501 / 2, abs=1e-3), state.q
    assert statuses == {"converged"}  # nothing can be corrected, and nothing is
    assert np.abs(np.delete(state.v, 2)).max() < 1e-2


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


def unsolved_slot() -> stiction.Simulator:
    """One sweep is not enough for its friction."""
    return slot(1e-4, solver="ncp-pgs", max_iterations=1)


WAYS: dict[str, Callable[[stiction.Simulator, stiction.State], object]] = {
    "step": lambda sim, state: [sim.step(state) for _ in range(3)],
    "run": lambda sim, state: sim.run(state, steps=3),
    "rollout": lambda sim, state: sim.rollout(state, steps=3),
}


def test_safe_answers_are_counted_in_the_warning() -> None:
    def starved() -> stiction.Simulator:
        return stiction.Simulator(stiction.load("box-stack(5)"), max_factorisations=1)

    sim = starved()
    state = sim.initial_state()
    state.v[0] = 1.0
    for _ in range(20):
        before = state.copy()
        if (report := sim.step(state)).safe_islands:
            break
    assert report.safe_islands == report.num_islands == 1
    with pytest.warns(NotConvergedWarning, match="safe answer in 1 of 1 islands; contact of "):
        starved().step(before)


@pytest.mark.parametrize("way", WAYS)
def test_the_first_step_that_is_not_solved_is_said_once(way: str) -> None:
    sim = unsolved_slot()
    state = sim.initial_state()
    with pytest.warns(NotConvergedWarning) as seen:
        WAYS[way](sim, state)
    assert len(seen) == 1 and seen[0].filename == __file__
    text = str(seen[0].message)
    assert re.match(
        r'squeeze: step 0 at time 0 s did not converge: solver status "\w+", rel', text
    ), text
    if way != "rollout":  # which keeps the contacts of its last step alone
        assert re.search(r'contact of "(left|right)" and "box" with .* N, 5e-05 m deep', text), text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        WAYS[way](sim, state)
        assert sim.report().status == "not_converged"


def test_a_step_that_warns_as_an_error_is_whole() -> None:
    sim, other = unsolved_slot(), unsolved_slot()
    state, same = sim.initial_state(), other.initial_state()
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotConvergedWarning)
        with pytest.raises(NotConvergedWarning):
            sim.step(state)
    with pytest.warns(NotConvergedWarning, match="step 0 at"):
        other.step(same)
    assert state.save() == same.save() and state.time > 0.0


def falling() -> stiction.Simulator:
    """A box that falls on the ground, which one sweep does not solve."""
    scene, up = stiction.Scene(name="fall"), np.eye(4)
    up[2, 3] = 0.15
    scene.add_ground()
    scene.add_body("box", stiction.Box([0.1, 0.1, 0.1]), 1.0, up)
    return stiction.Simulator(scene, solver="ncp-pgs", max_iterations=1)


def test_the_step_is_named_where_it_is_not_the_first() -> None:
    sim = falling()
    state = sim.initial_state()
    with pytest.warns(NotConvergedWarning) as seen:
        reports = [sim.step(state) for _ in range(200)]
    first = [report.status for report in reports].index("not_converged")
    assert first > 0 and f"step {first} at time " in str(seen[0].message)
    again = falling()
    with pytest.warns(NotConvergedWarning, match=f"step {first} at time "):
        again.rollout(again.initial_state(), steps=200)
