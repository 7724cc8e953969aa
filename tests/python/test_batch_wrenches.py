"""Forces from outside on the worlds of a Batch, and steps while Python goes on."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import stiction
from stiction import Batch

N = 9


def pushed(n: int = N, first: int = 0, **settings: object) -> Batch:
    """Solo-12 pushed at its base and a foot's frame, worlds `first`, `first` + 1, ... ."""
    scene = stiction.load("solo12")
    scene.parameters.kp[6:], scene.parameters.kd[6:] = 20.0, 0.3
    batch = Batch(scene, n, configuration="standing", **settings)  # type: ignore[arg-type]
    rng = np.random.default_rng(3)
    wrenches = rng.normal(size=(2, 32, 6)) * [[[6.0] * 3 + [0.5] * 3], [[1.0] * 3 + [0.05] * 3]]
    batch.wrench("base_link")[:] = wrenches[0, first : first + n]
    batch.wrench("FL_FOOT")[:] = wrenches[1, first : first + n]
    return batch


def bits(batch: Batch) -> list[bytes]:
    return [q.tobytes() + v.tobytes() for q, v in zip(batch.q, batch.v, strict=True)]


def test_frame_of_the_test_is_off_its_body() -> None:
    scene = stiction.load("solo12")
    assert np.linalg.norm(scene.frame("FL_FOOT")[1].translation) > 0.1


def test_without_lanes_bits_are_those_of_a_simulator() -> None:
    batch = pushed(3, lanes=False)
    states = [batch.state(w) for w in range(3)]
    sims = [batch.simulator(w) for w in range(3)]
    body, place = batch.scene.frame("FL_FOOT")
    foot, base = batch.wrench("FL_FOOT").copy(), batch.wrench("base_link").copy()
    for _ in range(10):
        batch.step(3)
        for w in range(3):
            for _ in range(3):
                control = sims[w].hold("standing")
                sims[w].add_wrench(control, "base_link", base[w, :3], base[w, 3:])
                arm = sims[w].body_poses(states[w])[body].rotation @ place.translation
                moment = foot[w, 3:] + np.cross(arm, foot[w, :3])
                sims[w].add_wrench(control, body, foot[w, :3], moment)
                sims[w].step(states[w], control)
    for w in range(3):
        assert np.abs(batch.q[w] - states[w].q).max() < 1e-12
        assert np.abs(batch.v[w] - states[w].v).max() < 1e-10
    # Of the body alone no arm is rounded: the very bits.
    batch.reset()
    batch.wrench("FL_FOOT")[:] = 0.0
    state, sim = batch.state(1), batch.simulator(1)
    control = sim.hold("standing")
    sim.add_wrench(control, "base_link", base[1, :3], base[1, 3:])
    batch.step(20)
    for _ in range(20):
        sim.step(state, control)
    assert np.array_equal(batch.q[1], state.q) and np.array_equal(batch.v[1], state.v)


def test_lanes_push_as_a_simulator_does() -> None:
    batch = pushed()
    batch.q[:, 2] += 1.0  # in flight there is no solver whose tolerance is between them
    states = [batch.state(w) for w in range(N)]
    controls = []
    for _ in range(20):
        controls = [batch.control(w) for w in range(N)]
        batch.step()
        for w in range(N):
            batch.simulator(w).step(states[w], controls[w])
    assert len(controls[0].wrenches) == 2
    assert (batch.scalar_steps == 0).all()
    for w in range(N):
        assert np.abs(batch.q[w] - states[w].q).max() < 1e-10
        assert np.abs(batch.v[w] - states[w].v).max() < 1e-9
    free = Batch(batch.scene, N, configuration="standing")
    free.q[:, 2] += 1.0
    free.step(20)
    assert np.abs(free.v - batch.v).max(axis=1).min() > 1e-2  # the wrenches did it
    for k in range(3):  # on the ground, step by step
        batch.reset()
        batch.step(7 * k + 1)
        before = [batch.state(w) for w in range(N)]
        held = [batch.control(w) for w in range(N)]
        batch.step()
        for w in range(N):
            batch.simulator(w).step(before[w], held[w])
            assert np.abs(batch.v[w] - before[w].v).max() < 1e-6


def test_a_force_at_the_base_moves_the_whole_robot_by_its_mass() -> None:
    scene = stiction.load("solo12")
    force, dt, steps = 30.0, 1e-4, 50
    batch = Batch(scene, 2, dt=dt, configuration="standing")
    batch.q[:, 2] += 1.0
    batch.wrench("base_link")[1, 0] = force
    batch.step(steps)
    centres = []
    for world in range(2):
        sim, state = batch.simulator(world), batch.state(world)
        mass, poses = np.array(scene.parameters.mass), sim.body_poses(state)
        com = [p.act(np.array(c)) for p, c in zip(poses, scene.parameters.com, strict=True)]
        centres.append(mass @ np.array(com) / mass.sum())
    moved = centres[1] - centres[0]
    expected = force / mass.sum() * dt**2 * steps * (steps + 1) / 2.0  # semi-implicit Euler
    assert moved == pytest.approx([expected, 0.0, 0.0], abs=2e-3 * expected)


@pytest.mark.parametrize("lanes", [True, False])
def test_bits_depend_on_the_world_alone(lanes: bool) -> None:
    whole = pushed(lanes=lanes)
    for _ in range(4):
        whole.step(5)
    expected = bits(whole)
    for n, first, settings in (
        (1, 0, {}),
        (1, 4, {"width": 1}),
        (5, 3, {"threads": 2, "width": 2}),
        (N, 0, {"threads": 3, "width": 4}),
    ):
        part = pushed(n, first, lanes=lanes, **settings)
        others = np.arange(n) % 2 == 0
        for _ in range(4):
            part.step(5, mask=others)
            for _ in range(5):
                part.step(mask=~others)
        assert bits(part) == expected[first : first + n]


def test_wrenches_of_steps_that_leave_the_lanes() -> None:
    batch = pushed()
    batch.q[:, 2] -= 0.002  # feet in the ground, legs in motion
    batch.v[:, 6::2], batch.v[:, 7::2] = 3.0, -3.0
    left = np.zeros(N, bool)
    for _ in range(150):
        before = [batch.state(w) for w in range(N)]
        controls = [batch.control(w) for w in range(N)]
        batch.step()
        left |= batch.scalar_steps > 0
        for w in np.flatnonzero(batch.scalar_steps):
            batch.simulator(w).step(before[w], controls[w])
            assert np.abs(batch.v[w] - before[w].v).max() < 1e-9
    assert left.any()


def test_zero_wrenches_change_no_bit() -> None:
    for lanes in (True, False):
        a, b = pushed(lanes=lanes), pushed(lanes=lanes)
        for batch in (a, b):
            batch.wrench("base_link")[:] = batch.wrench("FL_FOOT")[:] = 0.0
        plain = Batch(a.scene, N, configuration="standing", lanes=lanes)
        b.step(30), plain.step(30)
        assert np.array_equal(b.q, plain.q) and np.array_equal(b.v, plain.v)


def test_view_is_the_same_memory_and_errors_name_the_entry() -> None:
    batch = pushed(4)
    view = batch.wrench("base_link")
    assert view.shape == (4, 6) and view.dtype == np.float64
    assert np.shares_memory(view, batch.wrench(0))
    for name in ("HL_FOOT", "HR_FOOT", "FR_FOOT"):  # others stay where they are
        batch.wrench(name)
    assert np.shares_memory(view, batch.wrench("base_link"))
    before = batch.q.copy()
    view[2, 4] = np.nan
    with pytest.raises(ValueError, match=r'wrench\[2, 4\] on body "base_link" = nan: must be fin'):
        batch.step()
    assert np.array_equal(batch.q, before)
    with pytest.raises(ValueError, match=r"frame.*\"tail\""):
        batch.wrench("tail")
    with pytest.raises(ValueError, match=r"body|at"):
        batch.wrench(99)


@pytest.mark.parametrize("lanes", [True, False])
def test_steps_while_python_goes_on(lanes: bool) -> None:
    mask = np.arange(N) % 3 != 1
    a, b = pushed(lanes=lanes, threads=2), pushed(lanes=lanes, threads=2)
    for _ in range(5):
        a.step(4, mask=mask)
        given = mask.copy()
        b.step_async(4, mask=given)
        given[:] = False  # a copy was taken
        b.wait()
    assert bits(a) == bits(b) and np.array_equal(a.time, b.time)


def test_calls_before_wait_are_refused_and_errors_come_at_wait() -> None:
    batch = pushed(4)
    batch.step_async(2000)
    for call in (batch.step, batch.step_async, batch.reset, lambda: batch.state(0)):
        with pytest.raises(stiction.StictionError, match=r"step_async is under way: call wait\(\)"):
            call()
    batch.wait()
    assert batch.time == pytest.approx(2000 * batch.settings.dt)
    with pytest.raises(stiction.StictionError, match="nothing is under way: call step_async"):
        batch.wait()
    batch.torque[1, 3] = np.inf
    batch.step_async()
    with pytest.raises(ValueError, match=r"torque\[1, 3\] = inf: must be finite"):
        batch.wait()
    batch.torque[1, 3] = 0.0
    batch.step()
    with pytest.raises(TypeError, match="mask has dtype int64"):
        batch.step_async(mask=np.ones(4, np.int64))
    with pytest.raises(ValueError, match="substeps"):
        batch.step_async(0)
    batch.step()  # neither left anything under way


def test_a_batch_may_go_while_it_steps() -> None:
    for threads in (1, 3):
        batch = pushed(threads=threads)
        batch.step_async(1 << 30)
        del batch  # ends, long before its steps would


def test_python_threads_run_while_wait_waits() -> None:
    batch = pushed()
    ran = threading.Event()
    batch.step_async(3000)
    thread = threading.Thread(target=ran.set)
    thread.start()
    batch.wait()
    thread.join()
    assert ran.is_set()
