"""The collision part of a step alone, and its counters."""

from __future__ import annotations

import numpy as np
import pytest
import stiction


def test_find_contacts_is_the_collision_part_of_a_step() -> None:
    sim = stiction.Simulator(stiction.load("ycb-pile(12)"), dt=2e-3)
    state = sim.initial_state()
    sim.run(state, steps=400)
    before = state.copy()
    found = sim.find_contacts(state)
    assert found.contacts > 0
    assert found.tested_pairs >= found.overlapping_pairs >= found.narrow_phase_calls > 0
    # Nothing but warm starts moved, and a step from there does the same work.
    assert (state.q == before.q).all()
    assert (state.v == before.v).all()
    report = sim.step(before)
    counted = sim.collision_counters()
    assert report.num_contacts == found.contacts == counted.contacts
    assert counted.overlapping_pairs == found.overlapping_pairs
    # Asked again nearby, the broad phase only tests what it remembers.
    again = sim.find_contacts(state)
    assert again.tested_pairs <= found.tested_pairs
    assert again.overlapping_pairs == found.overlapping_pairs
    assert counted.narrow_phase_calls == found.narrow_phase_calls
    assert "contacts=" in repr(counted)


def test_find_contacts_keeps_the_last_report() -> None:
    sim = stiction.Simulator(stiction.load("box-stack(3)"), dt=1e-3)
    state = sim.initial_state()
    sim.run(state, steps=5)
    contacts = [c.position.tolist() for c in sim.contacts()]
    elsewhere = sim.initial_state()
    elsewhere.q[2] += 5.0
    sim.find_contacts(elsewhere)
    assert [c.position.tolist() for c in sim.contacts()] == contacts


def test_find_contacts_refuses_a_foreign_state() -> None:
    sim = stiction.Simulator(stiction.load("box-stack(3)"), dt=1e-3)
    other = stiction.Simulator(stiction.load("box-stack(2)"), dt=1e-3).initial_state()
    with pytest.raises(ValueError, match="q"):
        sim.find_contacts(other)
    with pytest.raises(TypeError, match="state"):
        sim.find_contacts(3)  # type: ignore[arg-type]


def ball_pile(vertices: int) -> stiction.Simulator:
    points = np.random.default_rng(0).normal(size=(vertices, 3))
    mesh = stiction.ConvexMesh(0.1 * points / np.linalg.norm(points, axis=1, keepdims=True))
    scene = stiction.Scene()
    for i in range(3):
        placement = np.eye(4)
        placement[2, 3] = 0.19 * i
        scene.add_body(f"b{i}", mesh, 1.0, placement)
    return stiction.Simulator(scene, dt=1e-3)


def test_warm_starts_of_another_scene_are_refused() -> None:
    """Same bodies, other meshes: the sizes of the state fit, its vertex numbers do not."""
    many, few = ball_pile(2000), ball_pile(5)
    state = many.initial_state()
    many.find_contacts(state)
    few.step(few.initial_state())
    calls = (few.find_contacts, few.step, few.body_poses, few.balance)
    for call in calls:
        with pytest.raises(ValueError, match="belongs to another scene"):
            call(stiction.State(state.save()))
