"""stiction.Batch: many worlds as arrays, the same numbers however they are arranged."""

from __future__ import annotations

import copy
import gc
import pickle
import threading

import numpy as np
import pytest
import stiction
from stiction import Batch


def solo() -> stiction.Scene:
    scene = stiction.load("solo12")
    for dof in range(6, scene.nv):
        scene.set_gains(dof, 20.0, 0.3)
    return scene


def targets(batch: Batch, first: int = 0) -> np.ndarray:
    """Those of worlds first, first + 1, ...: of their number alone."""
    rows = [np.random.default_rng(w).uniform(-0.3, 0.3, batch.scene.nv)
            for w in range(first, first + batch.num_worlds)]  # fmt: skip
    return np.array(rows)


def stepped(first: int = 0, **options: object) -> Batch:
    n = int(options.pop("n", 7))  # type: ignore[call-overload]
    batch = Batch(solo(), n, configuration="standing", **options)  # type: ignore[arg-type]
    batch.position_target += targets(batch, first)
    batch.assign("friction", 0.4 + 0.05 * (np.arange(first, first + n) % 8))
    for _ in range(6):
        batch.step(substeps=5)
    return batch


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def test_ten_lines() -> None:
    scene = stiction.load("solo12")
    batch = stiction.Batch(scene, 64, dt=4e-3, threads=2, configuration="standing")
    rng = np.random.default_rng(0)
    batch.assign("friction", rng.uniform(0.4, 1.0, 64))
    stance = batch.position_target.copy()
    for _ in range(10):
        batch.position_target[:] = stance + rng.uniform(-0.2, 0.2, stance.shape)
        batch.step(substeps=5)
        batch.reset(mask=batch.q[:, 2] < 0.1)
    assert batch.lanes and batch.why_not == ""
    assert (batch.status == 0).all() and (batch.certificate <= 1e-8).all()
    assert (batch.contacts > 0).any() and np.isfinite(batch.q).all()
    assert batch.time == pytest.approx(0.2)


def test_bits_do_not_depend_on_the_arrangement() -> None:
    whole = stepped(n=40, threads=2)
    for first, n, threads, width in ((0, 1, 1, 1), (3, 1, 1, 0), (5, 17, 3, 2), (0, 40, 1, 4)):
        part = stepped(first, n=n, threads=threads, width=width)
        for name in ("q", "v", "time", "certificate", "contacts"):
            expected = getattr(whole, name)[first : first + n]
            assert same_bits(getattr(part, name), expected), (name, first, n)


@pytest.mark.parametrize("name", ["box-stack", "four-bar", "allegro-ball", "solo12"])
def test_without_lanes_a_world_has_the_bits_of_a_simulator(name: str) -> None:
    scene = stiction.load(name)
    batch = Batch(scene, 5, threads=2, lanes=name != "solo12")
    assert not batch.lanes
    assert batch.why_not
    batch.position_target += 0.1 * targets(batch)
    controls = [batch.control(w) for w in range(5)]
    for _ in range(4):
        batch.step(substeps=10)
    sim = stiction.Simulator(scene)
    for w, control in enumerate(controls):
        state = sim.initial_state()
        for _ in range(40):
            report = sim.step(state, control)
        assert same_bits(batch.q[w], state.q) and same_bits(batch.v[w], state.v)
        assert batch.state(w) == state
        assert batch.contacts[w] == report.num_contacts
        assert batch.time[w] == state.time


@pytest.mark.parametrize("name", ["solo12", "talos"])
def test_on_lanes_a_world_has_the_bits_of_a_simulator(name: str) -> None:
    """Of one whose steps leave no record, and of one that is asked for it."""
    scene = solo() if name == "solo12" else stiction.load(name)
    n, steps = (6, 240) if name == "solo12" else (3, 60)
    batch = Batch(scene, n, configuration="standing" if name == "solo12" else "default")
    assert batch.lanes
    batch.position_target += targets(batch) * (1.0 if name == "solo12" else 0.1)
    states, sims = [batch.state(w) for w in range(n)], [batch.simulator(w) for w in range(n)]
    for k in range(steps // 4):
        if k % 20 == 10:
            batch.position_target[:] = batch.position_target[::-1].copy()
        batch.step(substeps=4)
        for w in range(n):
            for _ in range(4):
                report = sims[w].step(states[w], batch.control(w))
                if w % 2:
                    assert len(sims[w].contacts()) == report.num_contacts
            assert same_bits(batch.q[w], states[w].q) and same_bits(batch.v[w], states[w].v)
            assert batch.contacts[w] == report.num_contacts
    assert batch.contacts.min() > 0


def test_settings_are_those_of_a_simulator() -> None:
    scene = solo()
    batch = Batch(scene, 2, dt=2e-3, tolerance=1e-6)
    assert batch.settings.dt == 2e-3
    assert batch.settings.tolerance == 1e-6
    assert "sleeping" in Batch(scene, 2, sleeping=True).why_not
    assert "solver" in Batch(scene, 2, solver="ncp-pgs").why_not
    with pytest.raises(TypeError, match=r"Batch\(\) got an unexpected keyword argument 'timestep'"):
        Batch(scene, 2, timestep=1e-3)  # type: ignore[call-arg]
    with pytest.raises(ValueError, match="dt"):
        Batch(scene, 2, dt=-1.0)
    with pytest.raises(TypeError, match="must be a Scene"):
        Batch("solo12", 2)  # type: ignore[arg-type]


def test_masks_and_reset() -> None:
    batch = stepped()
    q, v = batch.q.copy(), batch.v.copy()
    mask = np.arange(7) % 2 == 0
    batch.step(3, mask=mask)
    assert same_bits(batch.q[~mask], q[~mask]) and same_bits(batch.v[~mask], v[~mask])
    assert (batch.q[mask] != q[mask]).any(axis=1).all()
    assert batch.time[1] == pytest.approx(0.03) and batch.time[0] == pytest.approx(0.033)

    start = Batch(solo(), 1, configuration="standing")
    batch.reset(mask)
    assert same_bits(batch.q[mask], np.repeat(start.q, 4, axis=0))
    assert (batch.v[mask] == 0).all() and (batch.time[mask] == 0).all()
    assert (batch.v[~mask] != 0).any(axis=1).all()

    rows = np.repeat(start.q, 7, axis=0)
    rows[:, 2] += np.arange(7)
    batch.reset(q=rows, v=np.full(18, 0.5))
    assert same_bits(batch.q, rows)
    assert (batch.v == 0.5).all()
    batch.reset(q=rows[3])
    assert same_bits(batch.q, np.repeat(rows[3:4], 7, axis=0))


def test_a_world_that_fails_stands_still_alone() -> None:
    batch, good = stepped(), stepped()
    batch.v[2, 7] = np.nan
    batch.step(5)
    good.step(5)
    others = np.arange(7) != 2
    assert (batch.frozen == ~others).all()
    assert Batch.STATUSES[batch.status[2]] == "not_finite"
    assert same_bits(batch.q[others], good.q[others])
    batch.position_target[2] = np.nan  # it does not move
    batch.step(5)
    good.step(5)
    assert same_bits(batch.v[others], good.v[others])
    batch.position_target[2] = good.position_target[2]
    batch.reset(mask=batch.frozen)
    assert not batch.frozen.any()
    batch.step(5)
    assert np.isfinite(batch.v).all()


@pytest.mark.parametrize("lanes", [True, False])
def test_a_frozen_world_shows_the_forces_of_its_last_whole_step(lanes: bool) -> None:
    batch = Batch(stiction.load("solo12"), 3, lanes=lanes, configuration="standing")
    batch.step(5)
    feet = ["FL_FOOT", "HR_FOOT"]
    before = batch.contact_forces(feet)
    assert (before > 1.0).all()
    batch.v[1, 0] = np.nan
    for _ in range(2):
        batch.step(3)
        assert batch.frozen.tolist() == [False, True, False]
        now = batch.contact_forces(feet)
        assert same_bits(now[1], before[1])
        assert not same_bits(now[0], before[0])


@pytest.mark.parametrize("lanes", [True, False])
@pytest.mark.parametrize("name", ["solo12", "solo12-rough"])
def test_infinite_numbers_freeze_their_world(name: str, lanes: bool) -> None:
    for field, bad in (("q", np.inf), ("v", -np.inf), ("q", np.nan)):
        batch, good = (
            Batch(stiction.load(name), 5, lanes=lanes, configuration="standing") for _ in range(2)
        )
        getattr(batch, field)[3, 0] = bad
        batch.step(4)
        good.step(4)
        assert batch.frozen.tolist() == [False, False, False, True, False]
        assert batch.time.tolist() == pytest.approx([0.004, 0.004, 0.004, 0.0, 0.004])
        assert same_bits(np.delete(batch.q, 3, axis=0), np.delete(good.q, 3, axis=0))
        batch.reset(batch.frozen)
        batch.step(4)
        assert same_bits(batch.q[3], good.q[3])


def test_states_and_parameters_of_one_world() -> None:
    batch = stepped()
    batch.step(100)
    state = batch.state(4)
    assert same_bits(state.q, batch.q[4]) and state.time == batch.time[4]
    assert len(state.contacts) > 0
    copy = stepped()
    copy.set_state(4, state)
    copy.step(9)
    batch.step(9)
    assert same_bits(copy.q[4], batch.q[4]) and same_bits(copy.v[4], batch.v[4])

    parameters = batch.parameters(4)
    assert parameters.friction == pytest.approx(batch.values("friction")[4])
    parameters.friction[:] = 0.3
    batch.set_parameters(4, parameters)
    assert (batch.values("friction")[4] == 0.3).all()
    assert (batch.values("friction")[5] != 0.3).all()


def test_assigned_fields_change_the_motion() -> None:
    scene = solo()
    for name, value in (("friction", 0.05), ("mass_scale", 2.0), ("gravity", [0.0, 3.0, -9.81]),
                        ("damping", 0.5)):  # fmt: skip
        batch, plain = (Batch(scene, 3, configuration="standing") for _ in range(2))
        field = batch.values(name)
        assert field.shape == plain.values(name).shape
        rows = np.broadcast_to(value, field.shape).copy()
        if name == "damping":
            rows[:, :6] = 0.0
        batch.assign(name, rows, mask=[False, True, False])
        assert same_bits(batch.values(name)[1], rows[1])
        assert same_bits(batch.values(name)[::2], field[::2])
        for b in (batch, plain):
            b.position_target += 0.3
            b.torque[:, 0] = 30.0
            b.step(40)
        assert same_bits(batch.q[::2], plain.q[::2]), name
        assert abs(batch.q[1] - plain.q[1]).max() > 1e-5, name


def test_one_gain_for_all_leaves_out_what_takes_no_servo() -> None:
    batch = Batch(stiction.load("solo12"), 3)
    batch.assign("kp", [3.0, 4.0, 5.0])
    batch.assign("kd", 0.1)
    assert np.array_equal(batch.values("kp"), [[0.0] * 6 + [k] * 12 for k in (3.0, 4.0, 5.0)])
    assert np.array_equal(batch.values("kd"), [[0.0] * 6 + [0.1] * 12] * 3)
    with pytest.raises(ValueError, match="servos need"):
        batch.assign("kp", np.full((3, 18), 1.0))


def test_report_looks_ahead() -> None:
    batch = stepped()
    report = batch.report(3)
    assert report.step.converged and len(report.contacts) == report.step.num_contacts > 0
    q = batch.q[3].copy()
    assert same_bits(batch.state(3).q, q)
    batch.step()
    assert batch.q[3] == pytest.approx(report.state.q, abs=1e-9)
    assert not same_bits(batch.q[3], q)


def test_arrays_are_views_that_keep_the_batch() -> None:
    batch = stepped()
    q, status = batch.q, batch.status
    assert q.flags.c_contiguous and q.dtype == np.float64 and status.dtype == np.uint8
    assert np.shares_memory(q, batch.q)
    before = q.copy()
    batch.step()
    assert not same_bits(q, before)
    del batch
    gc.collect()
    assert np.isfinite(q).all() and (status == 0).all()
    q[:] = 1.0
    for name in ("time", "status", "certificate", "contacts", "scalar_steps", "lane_exit"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(stepped(), name)[0] = 1


def test_wrong_arguments_are_named() -> None:
    batch = stepped()
    refusals = [
        (lambda: Batch(batch.scene, 0), ValueError, r"num_worlds = 0: must be in \[1, "),
        (lambda: Batch(batch.scene, 2.5), TypeError, "num_worlds = 2.5: must be an integer"),
        (lambda: Batch(batch.scene, 2, threads=-1), ValueError, "threads = -1"),
        (lambda: Batch(batch.scene, 2, width=3), ValueError, "width = 3: this processor has 0, 1"),
        (lambda: Batch(batch.scene, 2, lanes=1), TypeError, "lanes = 1: must be True or False"),
        (lambda: Batch(batch.scene, 2, configuration="x"), ValueError, '"x" is unknown'),
        (lambda: Batch(batch.scene, 2, configuration=1), TypeError, "configuration = 1"),
        (
            lambda: Batch(batch.scene, 2, friction=1.0),
            TypeError,
            r"batch.assign\('friction', ...\)",
        ),
        (lambda: batch.wrench(-1), ValueError, r"at = -1: must be a body in \[0, 13\)"),
        (lambda: batch.wrench(2.5), TypeError, "at = 2.5: must be an integer"),
        (lambda: copy.copy(batch), TypeError, "Batch: cannot be copied or pickled"),
        (lambda: pickle.dumps(batch), TypeError, "set_state"),
        (lambda: batch.step(0), ValueError, "substeps = 0: must be >= 1"),
        (lambda: batch.step(1.0), TypeError, "substeps = 1.0: must be an integer"),
        (lambda: batch.step(mask=[1, 0, 2, 3, 4, 5, 6]), TypeError, "mask has dtype int64"),
        (lambda: batch.step(mask=[True] * 6), ValueError, r"mask has shape \(6,\): must be \(7,\)"),
        (lambda: batch.reset(q=np.zeros((6, 19))), ValueError, r"q has shape \(6, 19\)"),
        (lambda: batch.reset(q=np.zeros(19)), ValueError, r"world 0: norm of state.q\[3:7\]"),
        (lambda: batch.reset(v="fast"), ValueError, "v = 'fast': must be an array of real"),
        (lambda: batch.reset(v=np.full(18, np.inf)), ValueError, r"world 0: state.v\[0\] = inf"),
        (lambda: batch.state(7), ValueError, r"world = 7: must be in \[0, 7\)"),
        (lambda: batch.state(-1), ValueError, "world = -1"),
        (lambda: batch.state("a"), TypeError, "world = 'a': must be an integer"),
        (lambda: batch.set_state(0, batch.q[0]), TypeError, "state"),
        (lambda: batch.set_parameters(0, 0.5), TypeError, "parameters"),
        (
            lambda: batch.assign("colour", 1.0),
            ValueError,
            'field "colour" is unknown; there are: f',
        ),
        (
            lambda: batch.assign("friction", [[1, 2], [3]]),
            ValueError,
            r"friction = \[\[1, 2\], \[3",
        ),
        (lambda: batch.assign("friction", np.zeros((3, 3))), ValueError, r"shape \(3, 3\)"),
        (lambda: batch.assign("friction", np.zeros(4)), ValueError, r"shape \(4,\): must be \(7, "),
        (lambda: batch.assign("gravity", -9.81), ValueError, r"gravity has shape \(\): must be"),
        (lambda: batch.assign("gravity", np.ones(7)), ValueError, r"must be \(7, 3\), \(3,\) or 0"),
        (lambda: batch.assign("friction", -1.0), ValueError, r"world 0: .*friction\[0\] = -1"),
        (lambda: batch.assign("friction", np.nan), ValueError, r"friction\[0\] = nan"),
        (lambda: batch.assign("mass_scale", 0), ValueError, r"mass_scale\[0\] = 0: must be > 0"),
        (lambda: setattr(batch, "q", np.zeros((7, 18))), ValueError, r"q has shape \(7, 18\)"),
        (lambda: setattr(batch, "torques", 1.0), AttributeError, "no attribute 'torques' to set"),
    ]
    q = batch.q.copy()
    for call, error, text in refusals:
        with pytest.raises(error, match=text):
            call()  # type: ignore[no-untyped-call]
    assert same_bits(batch.q, q)
    batch.position_target[3, 8] = np.nan
    with pytest.raises(ValueError, match=r"position_target\[3, 8\] = nan: must be finite"):
        batch.step()
    batch.position_target[3, 8] = 0.0
    batch.q[5, 3:7] *= 1.1
    with pytest.raises(ValueError, match=r"norm of q\[5, 3:7\] .* = 1.1\d*: must be 1"):
        batch.step()
    other = stiction.Simulator(stiction.load("box-stack")).initial_state()
    with pytest.raises(ValueError, match="scene"):
        batch.set_state(0, other)
    assert same_bits(batch.v, stepped().v)


def test_one_call_at_a_time_and_other_threads_run() -> None:
    batch = Batch(solo(), 16, threads=2, configuration="standing")
    worker = threading.Thread(target=lambda: batch.step(4000))
    worker.start()
    while worker.is_alive() and batch.q.flags.writeable:  # until the step is under way
        pass
    with pytest.raises(stiction.StictionError) as refused:
        batch.reset()
    assert not batch.q.flags.writeable
    worker.join()
    assert (
        str(refused.value) == "Batch.reset: another thread is inside Batch.step: wait for its end"
    )
    assert batch.q.flags.writeable
