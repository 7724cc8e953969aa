"""A rollout is a loop of steps, bit for bit, in one call."""

from __future__ import annotations

import numpy as np
import pytest
import stiction

STEPS = 40


def simulator(name: str) -> stiction.Simulator:
    return stiction.Simulator(stiction.load(name), dt=1e-3)


@pytest.mark.parametrize("name", ["solo12", "cartpole", "box-stack(3)", "ball-drop"])
def test_rollout_is_a_loop_of_steps(name: str) -> None:
    sim = simulator(name)
    taus = np.random.default_rng(1).normal(size=(STEPS, sim.scene.nv))
    looped, rolled = sim.initial_state(), sim.initial_state()
    q, v, reports = [looped.q.copy()], [looped.v.copy()], []
    for tau in taus:
        reports.append(sim.step(looped, tau))
        q.append(looped.q.copy())
        v.append(looped.v.copy())
    log = sim.rollout(rolled, taus)
    assert log.steps == STEPS
    assert log.q is not None
    assert log.v is not None
    np.testing.assert_array_equal(log.q, q)
    np.testing.assert_array_equal(log.v, v)
    assert rolled.save() == looped.save()
    np.testing.assert_array_equal(log.residual, [r.residuals.relative for r in reports])
    np.testing.assert_array_equal(log.penetration, [r.penetration for r in reports])
    np.testing.assert_array_equal(log.creep, [r.creep for r in reports])
    np.testing.assert_array_equal(log.energy, [r.energy for r in reports])
    np.testing.assert_array_equal(log.iterations, [r.iterations for r in reports])
    np.testing.assert_array_equal(log.num_contacts, [r.num_contacts for r in reports])
    np.testing.assert_array_equal(log.converged, [r.converged for r in reports])


def test_targets_and_the_base_control() -> None:
    sim = simulator("solo12")
    control = sim.hold("standing")
    targets = np.tile(control.position_target, (STEPS, 1))
    targets[:, 6:] += 0.05 * np.random.default_rng(2).normal(size=(STEPS, sim.scene.nv - 6))
    looped, rolled = sim.initial_state("standing"), sim.initial_state("standing")
    varied = control.copy()
    for row in targets:
        varied.position_target = row
        sim.step(looped, varied)
    sim.rollout(rolled, position_targets=targets, control=control)
    assert rolled.save() == looped.save()


def test_steps_alone_hold_the_control() -> None:
    sim = simulator("solo12")
    a, b = sim.initial_state("standing"), sim.initial_state("standing")
    log = sim.rollout(a, steps=STEPS, control=sim.hold("standing"))
    sim.run(b, sim.hold("standing"), STEPS)
    assert a.save() == b.save()
    assert log.steps == STEPS


def test_two_rollouts_are_one() -> None:
    sim = simulator("solo12")
    taus = np.random.default_rng(3).normal(size=(STEPS, sim.scene.nv))
    a, b = sim.initial_state(), sim.initial_state()
    sim.rollout(a, taus)
    for half in np.split(taus, 2):
        sim.rollout(b, half)
    assert a.save() == b.save()


def test_only_what_was_asked_for_is_recorded() -> None:
    sim = simulator("cartpole")
    log = sim.rollout(sim.initial_state(), steps=3, record=["q", "energy"])
    assert log.q is not None
    assert log.q.shape == (4, 2)
    assert log.energy is not None
    assert log.energy.shape == (3,)
    assert log.v is None
    assert log.residual is None


def test_no_steps() -> None:
    sim = simulator("cartpole")
    state = sim.initial_state()
    log = sim.rollout(state, np.zeros((0, 2)))
    assert log.steps == 0
    assert log.q is not None
    assert log.q.shape == (1, 2)
    assert state == sim.initial_state()


def test_arrays_of_any_layout() -> None:
    sim = simulator("cartpole")
    taus = np.random.default_rng(4).normal(size=(STEPS, 2))
    results = []
    for given in (taus, np.asfortranarray(taus), taus.tolist(), taus[::-1][::-1]):
        state = sim.initial_state()
        sim.rollout(state, given)
        results.append(state.save())
    assert len(set(results)) == 1
