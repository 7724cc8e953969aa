"""Delays and first-order motors between the commands of a Batch and its servos."""

from __future__ import annotations

import numpy as np
import pytest
import stiction
from stiction import Batch

N, DT = 9, 1e-3


def solo() -> stiction.Scene:
    scene = stiction.load("solo12")
    for dof in range(6, scene.nv):
        scene.set_gains(dof, 20.0, 0.3)
    return scene


def actuated(**options: object) -> Batch:
    """World 0 has neither; the others have what belongs to their number."""
    batch = Batch(solo(), N, dt=DT, configuration="standing", **options)  # type: ignore[arg-type]
    rng = np.random.default_rng(5)
    delay = rng.integers(0, 7, (N, 18))
    time = rng.choice([0.0, 0.004, 0.02], (N, 18))
    delay[0] = time[0] = 0
    batch.assign("command_delay", delay)
    batch.assign("motor_time", time)
    assert (batch.values("command_delay") == delay).all()
    assert (batch.values("motor_time") == time).all()
    return batch


def targets(batch: Batch, period: int) -> np.ndarray:
    shape = batch.position_target.shape
    return np.asarray(np.random.default_rng(period).uniform(-0.3, 0.3, shape) + stance(batch))


def stance(batch: Batch) -> np.ndarray:
    sim = stiction.Simulator(batch.scene)
    return np.array(sim.hold("standing").position_target)


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("lanes", [True, False])
def test_a_servo_gets_what_the_formula_says(lanes: bool) -> None:
    batch = actuated(lanes=lanes)
    delay = batch.values("command_delay").astype(int)
    time = batch.values("motor_time")
    share = np.where(time > 0, -np.expm1(-DT / np.where(time > 0, time, 1.0)), 1.0)
    held = batch.position_target.copy()
    past, y = [held] * 8, held.copy()
    columns = np.arange(18)
    for step in range(40):
        if step % 4 == 0:
            batch.position_target[:] = targets(batch, step)
        past.insert(0, batch.position_target.copy())
        stack = np.array(past[:8])
        u = np.array([stack[delay[w], w, columns] for w in range(N)])
        y = np.where(time > 0, y + share * (u - y), u)
        got = np.array([batch.control(w).position_target for w in range(N)])
        assert got == pytest.approx(y, abs=1e-14)
        batch.step()
        assert [batch.commands(w)[0, 1] for w in range(N)] == pytest.approx(got, abs=0)
        for w in range(N):
            rows = batch.commands(w)[1:, 1]
            assert len(rows) == delay[w].max()
            assert same_bits(rows, stack[: len(rows), w].copy())
    assert same_bits(y[0], batch.position_target[0])


def test_bits_do_not_depend_on_the_arrangement() -> None:
    def end(**options: object) -> np.ndarray:
        substeps = int(options.pop("substeps", 6))  # type: ignore[call-overload]
        batch = actuated(**options)
        for period in range(5):
            batch.position_target[:] = targets(batch, period)
            for _ in range(6 // substeps):
                batch.step(substeps)
        return np.hstack((batch.q, batch.v))

    for lanes in (True, False):
        expected = end(lanes=lanes)
        for threads in (2, 3, 4):
            assert same_bits(end(threads=threads, lanes=lanes), expected)
        assert same_bits(end(substeps=1, lanes=lanes), expected)
    assert same_bits(end(width=1, threads=2), end())


def test_delayed_by_hand_is_the_same() -> None:
    """Whole-batch delays of five steps, without motors: the commands given five steps later."""
    late, hand = (Batch(solo(), 3, dt=DT, configuration="standing") for _ in range(2))
    late.assign("command_delay", 5)
    late.position_target[:] = targets(late, 1)
    hand.step(5)
    hand.position_target[:] = targets(hand, 1)
    late.step(20)
    hand.step(15)
    assert same_bits(late.q, hand.q) and same_bits(late.v, hand.v)


def test_a_motor_reaches_its_command_as_an_exponential() -> None:
    batch = Batch(solo(), 1, dt=DT, configuration="standing")
    batch.assign("motor_time", 0.05)
    start = batch.position_target[0, 8]
    batch.position_target[0, 8] += 0.1
    for steps in (20, 60, 300):
        batch.step(steps)
        gone = (batch.commands(0)[0, 1, 8] - start) / 0.1
        assert gone == pytest.approx(1.0 - np.exp(-batch.time[0] / 0.05), abs=1e-12)


def test_copies_go_on_with_the_same_bits() -> None:
    batch = actuated()
    batch.position_target[:] = targets(batch, 1)
    batch.step(5)
    kept = batch.state(4), batch.commands(4)
    batch.position_target[:] = targets(batch, 2)
    batch.step(7)
    q = batch.q[4].copy()
    batch.set_state(4, kept[0])
    batch.set_commands(4, kept[1])
    batch.step(7)
    assert same_bits(batch.q[4], q)
    batch.set_state(4, kept[0])  # forgets, and says so in `commands`
    assert (batch.commands(4) == [np.zeros(18), batch.position_target[4], np.zeros(18)]).all()
    batch.step(7)
    assert not same_bits(batch.q[4], q)


def test_parameters_leave_delays_and_motors() -> None:
    batch = actuated()
    before = batch.values("command_delay"), batch.values("motor_time")
    batch.set_parameters(3, batch.parameters(3))
    batch.assign("command_delay", 2, mask=np.arange(N) == 5)
    assert (batch.values("command_delay")[[3, 4]] == before[0][[3, 4]]).all()
    assert (batch.values("command_delay")[5] == 2).all()
    assert (batch.values("motor_time") == before[1]).all()


def test_wrong_arguments_are_named() -> None:
    batch = actuated()
    for call, text in (
        (lambda: batch.assign("command_delay", 0.5), r"world 0: command_delay\[0\] = 0.5: must be "
         r"a whole number of steps in \[0, 10000\]"),
        (lambda: batch.assign("motor_time", -1.0), r"motor_time\[0\] = -1: must be >= 0"),
        (lambda: batch.commands(N), r"world = 9: must be in \[0, 9\)"),
        (lambda: batch.set_commands(0, np.zeros((2, 3, 18))), r"must be \(1, 3, 18\)"),
        (lambda: batch.set_commands(1, batch.commands(1) * np.nan), r"commands\[0, 0, 0\] = nan: "),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            call()
    batch.position_target[2, 3] = np.nan  # would stay in what the world remembers
    for call in (
        batch.reset,
        lambda: batch.set_state(2, batch.state(2)),
        lambda: batch.assign("command_delay", 3),
        batch.step,
    ):
        with pytest.raises(ValueError, match=r"position_target\[2, 3\] = nan: must be finite"):
            call()
    batch.position_target[2, 3] = 0.0
    batch.step_async(2000)
    with pytest.raises(stiction.StictionError, match="wait"):
        batch.commands(0)
    batch.wait()
