"""The collision part of a step alone, and its counters."""

from __future__ import annotations

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
