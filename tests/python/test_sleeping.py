"""Sleep from Python; what it does to a step is tested in C++."""

from __future__ import annotations

import numpy as np
import pytest
import stiction


def asleep(**settings: object) -> tuple[stiction.Simulator, stiction.State]:
    """A stack of three boxes that has fallen asleep."""
    sim = stiction.Simulator(
        stiction.load("box-stack(3)"), sleeping=True, sleep_time=0.1, **settings
    )
    state = sim.initial_state()
    sim.run(state, None, 150)
    assert sim.report().num_asleep == 3
    return sim, state


def test_sleepers_are_named_and_wake() -> None:
    sim, state = asleep()
    names = list(sim.scene.body_names)
    assert sim.asleep(state) == names and sim.contacts() == []
    assert sim.report().num_contacts == 0 and sim.report().energy == pytest.approx(9.81 * 0.9)
    again = stiction.State(state.save())
    assert again == state and sim.asleep(again) == names
    sim.wake(again)
    assert sim.asleep(again) == []
    assert sim.step(again).num_contacts == 12
    state.v[0] = 0.5  # an edited state
    report = sim.step(state)
    assert report.num_asleep == 0 and report.num_contacts == 12
    assert 0.4 < state.v[0] < 0.5


def test_a_torque_wakes() -> None:
    sim, state = asleep()
    control = sim.hold()
    sim.step(state, control)
    assert sim.report().num_asleep == 3, "held as before"
    control.torque[0] = 1.0
    assert sim.step(state, control).num_asleep == 0


def test_a_pile_that_sleeps_is_what_it_was() -> None:
    """Settled, then asleep: nothing moves, and no solver is asked."""
    scene = stiction.load("ycb-pile(5)")
    sim = stiction.Simulator(scene, dt=2e-3, sleeping=True, sleep_speed=5e-3, tolerance=1e-6)
    state = sim.initial_state()
    for _ in range(40):
        report = sim.run(state, None, 100)
        if report.num_asleep == 5:
            break
    assert report.num_asleep == 5
    q = state.q.copy()
    report = sim.run(state, None, 200)
    np.testing.assert_array_equal(state.q, q)
    assert report.num_rows == 0 and sim.collision_counters().narrow_phase_calls == 0


def test_settings() -> None:
    settings = stiction.SimulatorSettings()
    assert (settings.sleeping, settings.sleep_speed, settings.sleep_time) == (False, 1e-3, 0.5)
    scene = stiction.load("box-stack(2)")
    with pytest.raises(ValueError, match=r"sleep_time = 0: must be > 0"):
        stiction.Simulator(scene, sleeping=True, sleep_time=0.0)
    with pytest.raises(ValueError, match="project_closures"):
        stiction.Simulator(scene, sleeping=True, project_closures=True)
    sim = stiction.Simulator(scene)
    state = sim.initial_state()
    assert sim.run(state, None, 800).num_asleep == 0
    with pytest.raises(TypeError, match="asleep"):
        sim.asleep(1)  # type: ignore[arg-type]


def test_contact_wrenches_of_sleepers_and_of_steps_that_failed_are_refused() -> None:
    """A stack that sleeps stands on the ground with force, though steps leave it out."""
    scene = stiction.load("box-stack(2)")
    start = np.eye(4)
    start[:3, 3] = 3.0, 0.0, 5.0
    scene.add_body("falling", stiction.Sphere(0.1), 1.0, start)
    low, high = scene.body_names[:2]
    sim = stiction.Simulator(scene, sleeping=True, sleep_time=0.1)
    state = sim.initial_state()
    sim.run(state, steps=50)
    assert sim.wrench_between("world", low)[0][2] > 1.0
    assert not np.any(sim.wrench_on("falling").force)
    sim.run(state, steps=150)
    assert sim.report().num_asleep == 2
    for a, b in ((low, high), ("world", low), (high, "world")):
        with pytest.raises(ValueError, match=r"wrench_between: body .* sleeps: its forces are not"):
            sim.wrench_between(a, b)
    for body in (low, high):
        with pytest.raises(ValueError, match=f'wrench_on: body "{body}" sleeps: its forces'):
            sim.wrench_on(body)
    for a, b in (("world", "falling"), (low, "falling")):  # who is awake touches no sleeper
        assert not np.any(sim.wrench_between(a, b))
    state.v[-1] = 1e200
    with pytest.raises(stiction.SimulationError):
        sim.step(state)
    for call in (
        lambda: sim.wrench_between("world", low),
        lambda: sim.wrench_on("falling"),
        sim.motion,
    ):
        with pytest.raises(ValueError, match="the last step is not whole; call step"):
            call()
