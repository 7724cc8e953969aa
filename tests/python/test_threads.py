"""One simulator, several threads: a call into one that is busy raises, and names both."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import contextmanager

import numpy as np
import pytest
import stiction


@pytest.fixture
def solo():
    sim = stiction.Simulator(stiction.load("solo12"))
    return sim, sim.initial_state()


@contextmanager
def running(call: Callable[[], object]):
    """A thread that repeats `call` until the block ends; what it raised is raised then."""
    going, failed = [True], []

    def work() -> None:
        try:
            while going[0]:
                call()
        except BaseException as error:  # handed over
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        going[0] = False
        thread.join()
    if failed:
        raise failed[0]


def refusals(call: Callable[[], object], times: int = 3000) -> list[str]:
    """Messages of what `call` raised, all of them of one kind."""
    texts = []
    for _ in range(times):
        try:
            call()
        except stiction.StictionError as error:
            texts.append(str(error))
    return texts


QUERIES: dict[str, Callable[[stiction.Simulator, stiction.State], object]] = {
    "contacts": lambda sim, state: sim.contacts(),
    "report": lambda sim, state: sim.report(),
    "problem": lambda sim, state: sim.problem(),
    "solution": lambda sim, state: sim.solution(),
    "warm_start": lambda sim, state: sim.warm_start(),
    "collision_counters": lambda sim, state: sim.collision_counters(),
    "wrench_on": lambda sim, state: sim.wrench_on(0),
    "balance": lambda sim, state: sim.balance(state),
    "body_poses": lambda sim, state: sim.body_poses(state),
    "find_contacts": lambda sim, state: sim.find_contacts(state),
    "step": lambda sim, state: sim.step(state),
    "run": lambda sim, state: sim.run(state, None, 2),
    "rollout": lambda sim, state: sim.rollout(state, steps=2),
    "parameters": lambda sim, state: setattr(sim, "parameters", sim.scene.parameters),
}


@pytest.mark.parametrize("name", QUERIES)
def test_a_call_into_a_busy_simulator_is_refused(solo, name):
    sim, state = solo
    sim.step(state)
    own = state.copy()

    def attempt() -> None:
        QUERIES[name](sim, own)

    texts: list[str] = []
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set() and len(texts) < 20:
            texts.extend(refusals(attempt, 50))
            time.sleep(1e-4)

    thread = threading.Thread(target=look)
    thread.start()
    end = time.monotonic() + 20.0
    while len(texts) < 20 and time.monotonic() < end:
        try:
            sim.run(state, None, 400)
        except stiction.StictionError as error:  # the other one was inside
            assert "Simulator.run: another thread is inside Simulator." in str(error)
    stop.set()
    thread.join()
    assert texts, "never met"
    expected = f"Simulator.{name}: another thread is inside Simulator.run; use sim.snapshot()"
    assert set(texts) == {expected}
    assert np.isfinite(state.q).all()


def busy(sim: stiction.Simulator, state: stiction.State, control: object = None, steps: int = 200):
    return running(lambda: sim.run(state, control, steps))


def until_refused(call: Callable[[], object], error: type[Exception], match: str) -> None:
    for _ in range(200_000):
        try:
            call()
        except error as raised:
            assert match in str(raised), str(raised)
            return
    pytest.fail("never refused")


def test_state_is_pinned_while_a_run_moves_it(solo):
    sim, state = solo
    saved = state.save()
    with busy(sim, state, steps=20_000):
        for call, what in (
            (lambda: state.restore(saved), "State.restore"),
            (lambda: setattr(state, "time", 0.0), "State.time"),
            (lambda: setattr(state, "q", sim.scene.default_q), "State.q"),
            (lambda: state.contacts, "State.contacts"),
            (lambda: state.copy(), "State.copy"),
            (lambda: state.save(), "State.save"),
            (lambda: stiction.validate_state(sim.scene, state), "validate_state"),
        ):
            until_refused(call, stiction.StictionError, f"{what}: in use by Simulator.run")
        until_refused(
            lambda: state.v.__setitem__(0, 0.0), ValueError, "assignment destination is read-only"
        )
    state.v[0] = 0.0  # free again
    state.restore(saved)


def test_control_and_parameters_are_pinned_while_a_run_reads_them(solo):
    sim, state = solo
    control = sim.hold()
    wrenches = [stiction.ExternalWrench(k % 5, [0.0, 0.0, 0.1]) for k in range(50)]
    control.wrenches = wrenches
    with busy(sim, state, control, 20_000):
        until_refused(
            lambda: setattr(control, "wrenches", wrenches),
            stiction.StictionError,
            "Control.wrenches: in use by Simulator.run",
        )
        until_refused(
            lambda: setattr(control, "torque", np.zeros(sim.scene.nv)),
            stiction.StictionError,
            "Control: in use by Simulator.run",
        )
        until_refused(lambda: control.torque.fill(0.0), ValueError, "read-only")
        until_refused(
            lambda: setattr(sim.parameters, "gravity", [0.0, 0.0, -9.81]),
            stiction.StictionError,
            "Parameters: in use by Simulator.run",
        )
        until_refused(lambda: sim.parameters.friction.fill(0.8), ValueError, "read-only")
    control.wrenches = []
    control.torque[:] = 0.0
    sim.parameters.friction[:] = 0.8


def test_one_state_in_two_simulators_is_refused(solo):
    sim, state = solo
    other = stiction.Simulator(sim.scene)
    with busy(sim, state, steps=20_000):
        until_refused(
            lambda: other.step(state), stiction.StictionError, "Simulator.step: in use by"
        )


def test_two_simulators_share_a_scene_a_control_and_nothing_else(solo):
    sim, state = solo
    control = sim.hold()
    alone = state.copy()
    stiction.Simulator(sim.scene).run(alone, control, 500)
    states = [state.copy() for _ in range(2)]
    sims = [stiction.Simulator(sim.scene) for _ in states]
    threads = [
        threading.Thread(target=one.run, args=(own, control, 500))
        for one, own in zip(sims, states, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(own == alone for own in states)


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "explicit-euler"])
def test_a_viewer_sees_whole_steps(integrator):
    scene = stiction.Scene()
    material = stiction.Material(stiffness=1e4, damping=30.0)
    scene.add_ground(material)
    pose = np.eye(4)
    pose[2, 3] = 0.2
    scene.add_body("ball", stiction.Sphere(0.1), 1.0, pose, material)
    sim = stiction.Simulator(scene, integrator=integrator)
    state = sim.initial_state()
    first = sim.snapshot()
    assert first.time == 0.0 and not first.contacts and np.array_equal(first.q, state.q)
    seen: list[stiction.Snapshot] = []
    with running(lambda: seen.append(sim.snapshot())):
        for _ in range(20):
            sim.run(state, None, 2000)
    last = sim.snapshot()
    assert np.array_equal(last.q, state.q) and last.time == state.time
    assert [c.body_b_name for c in last.contacts] == ["ball"]
    times = [one.time for one in seen]
    assert len(set(times)) > 10 and times == sorted(times)
    again = stiction.Simulator(scene, integrator=integrator)
    replayed = again.initial_state()
    wanted = {round(one.time / 1e-3): one for one in seen}
    for k in range(2000):
        again.step(replayed)
        if (one := wanted.get(k + 1)) is not None and one.time == replayed.time:
            assert np.array_equal(one.q, replayed.q) and np.array_equal(one.v, replayed.v)
            assert [c.gap for c in one.contacts] == [c.gap for c in again.contacts()]
    for one in seen:  # the pose is that of q, not of another step
        assert one.body_poses[0].translation[2] == one.q[2]


def test_a_snapshot_is_a_copy(solo):
    sim, state = solo
    sim.run(state, None, 10)
    shown = sim.snapshot()
    q = shown.q.copy()
    shown.q[:] = 0.0
    sim.run(state, None, 10)
    assert np.array_equal(shown.q, q)


def test_rays_pin_the_scene():
    scene = stiction.load("solo12")
    rays = np.tile([0.0, 0.0, 1.0], (20_000, 1))
    q = scene.default_q
    with running(lambda: stiction.ray_cast(scene, q, rays, -rays)):
        until_refused(
            lambda: scene.disable_pair(0, 1), stiction.StictionError, "Scene: in use by ray_cast"
        )
