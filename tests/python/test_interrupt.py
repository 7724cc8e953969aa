"""Ctrl-C ends what runs, soon, and leaves a state that can go on."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import stiction

ALLOWED = 0.2  # [s] of work after the signal


def cpu() -> float:
    return time.clock_gettime(time.CLOCK_THREAD_CPUTIME_ID)


class Alarm:
    """SIGINT after `delay` seconds of this thread's work, and how much followed."""

    def __init__(self, delay: float = 0.3) -> None:
        self.begin, self.delay = cpu(), delay

    def __enter__(self) -> Alarm:
        worker = threading.get_ident()
        clock = time.pthread_getcpuclockid(worker)
        end = time.clock_gettime(clock) + self.delay
        self.sent = float("inf")
        self.over = threading.Event()

        def watch() -> None:
            while time.clock_gettime(clock) < end:
                if self.over.wait(0.01):
                    return
            self.sent = time.clock_gettime(clock)
            signal.pthread_kill(worker, signal.SIGINT)

        self.thread = threading.Thread(target=watch)
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over.set()
        self.thread.join()

    @property
    def worked(self) -> float:
        return cpu() - self.sent


@pytest.fixture
def solo():
    sim = stiction.Simulator(stiction.load("solo12"))
    return sim, sim.initial_state()


LONG = 2_000_000_000


@pytest.mark.parametrize("call", ["run", "rollout"])
def test_a_run_ends_with_the_last_whole_step(solo, call):
    sim, state = solo
    with Alarm() as alarm, pytest.raises(KeyboardInterrupt):
        if call == "run":
            sim.run(state, None, LONG)
        else:
            sim.rollout(state, steps=1_500_000)
    assert alarm.worked < ALLOWED
    steps = round(state.time / 1e-3)
    assert steps > 1000
    again = stiction.Simulator(sim.scene)
    replayed = again.initial_state()
    again.run(replayed, None, steps)
    assert replayed == state  # warm starts included
    sim.step(state)
    again.step(replayed)
    assert replayed == state


def test_the_way_back_through_a_rollout_ends_too(solo):
    sim, state = solo
    tape = sim.rollout(state, steps=100_000, tape=True)
    dl_dx = np.ones(2 * sim.scene.nv)
    with Alarm() as alarm, pytest.raises(KeyboardInterrupt):
        tape.adjoint(dl_dx)
    assert alarm.worked < ALLOWED
    sim.step(state)


def test_the_way_back_through_differences_ends_too():
    """Of compliant steps, and of one of them: it takes seconds."""
    scene = stiction.Scene()
    material = stiction.Material(stiffness=1e5, damping=30.0)
    scene.add_ground(material)
    for k in range(20):
        pose = np.eye(4)
        pose[:3, 3] = [0.3 * k, 0.0, 0.1]
        scene.add_body(f"box{k}", stiction.Box([0.1, 0.1, 0.1]), 1.0, pose, material)
    sim = stiction.Simulator(scene, integrator="exponential", substeps=100)
    start = sim.initial_state()
    tape = sim.rollout(start.copy(), steps=20, tape=True)
    calls = {
        "adjoint": lambda: tape.adjoint(np.ones(2 * scene.nv)),
        "step": lambda: sim.step_derivatives(start),
        "vjp": lambda: sim.vjp(np.ones(2 * scene.nv)),
    }
    for call in calls.values():
        sim.step(start.copy())
        with Alarm() as alarm, pytest.raises(KeyboardInterrupt):
            call()
        assert alarm.worked < ALLOWED


def tower(boxes: int = 120) -> stiction.Scene:
    """One island whose first, cold step takes long."""
    scene = stiction.Scene()
    scene.add_ground()
    rng = np.random.default_rng(3)
    for k in range(boxes):
        pose = np.eye(4)
        pose[:3, 3] = [0.11 * (k % 6), 0.11 * (k // 6 % 6), 0.05 + 0.0999 * (k // 36)]
        pose[:2, 3] += rng.uniform(-0.03, 0.03, 2)
        scene.add_body(f"b{k}", stiction.Box([0.05, 0.05, 0.05]), 10.0 ** rng.uniform(-2, 2), pose)
    return scene


@pytest.mark.parametrize("solver", ["ncp-newton", "ncp-pgs", "ccp-newton", "lcp-pgs", "raisim"])
def test_one_long_step_ends_and_is_taken_back(solver):
    endless = {"max_factorisations": LONG, "tolerance_large": 1e-15}
    settings = {"solver": solver, "tolerance": 1e-15, "max_iterations": LONG}
    if solver == "ncp-newton":
        settings |= endless
    sim = stiction.Simulator(tower(), **settings)
    state = sim.initial_state()
    before, steps = state.copy(), False
    # Between two steps the exception could fall into a callback of the collector, which drops it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with Alarm(0.1) as alarm, pytest.raises(KeyboardInterrupt):
            for _ in range(100_000):
                before = state.copy()
                signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
                steps = True
                sim.step(state)
                steps = False
                signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    # ccp-newton begins with a dense factorisation of 1400 rows, which is not interrupted.
    assert alarm.worked < ALLOWED + (1.5 if solver == "ccp-newton" else 0.2)
    if steps and state != before:  # the alarm fell behind the step's last look
        stiction.Simulator(tower(), **settings).step(before)
        assert state == before


def test_compliant_steps_end():
    scene = stiction.Scene()
    material = stiction.Material(stiffness=1e5, damping=30.0)
    scene.add_ground(material)
    pose = np.eye(4)
    pose[2, 3] = 0.1
    scene.add_body("box", stiction.Box([0.1, 0.1, 0.1]), 1.0, pose, material)
    for integrator in ("exponential", "implicit-euler", "rk4"):
        sim = stiction.Simulator(scene, integrator=integrator, substeps=1_000_000, max_work=np.inf)
        state = sim.initial_state()
        before = state.copy()
        with Alarm(0.2) as alarm, pytest.raises(KeyboardInterrupt):
            sim.step(state)
        assert alarm.worked < ALLOWED
        assert state == before


def test_a_handler_that_does_not_raise_changes_nothing(solo):
    sim, state = solo
    other = state.copy()
    sim.run(other, None, 100_000)
    heard = []
    old = signal.signal(signal.SIGINT, lambda *_: heard.append(sim.scene.nv))
    try:
        with Alarm(0.1):
            sim.run(state, None, 100_000)
    finally:
        signal.signal(signal.SIGINT, old)
    assert heard == [sim.scene.nv]
    assert state == other


def test_a_handler_that_calls_the_simulator_is_refused(solo):
    sim, state = solo
    old = signal.signal(signal.SIGINT, lambda *_: sim.snapshot())
    try:
        with Alarm(0.1), pytest.raises(stiction.StictionError, match="this thread is inside"):
            sim.run(state, None, LONG)
    finally:
        signal.signal(signal.SIGINT, old)
    sim.step(state)


def test_a_run_on_another_thread_leaves_signals_to_the_main_one(solo):
    sim, state = solo
    done = threading.Event()

    def work() -> None:
        sim.run(state, None, 30_000)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1.0)
    thread.join()
    assert done.is_set() and round(state.time / 1e-3) == 30_000


COMMANDS = {
    "run": ["run", "solo12", "--seconds", "1e6"],
    "study": ["study", "contact-models", "--out", "out", "--problems", "{data}"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_ctrl_c_ends_the_command_line(name, tmp_path):
    data = Path(__file__).parents[1] / "data" / "ncp_set.npz"
    words = [word.format(data=data) for word in COMMANDS[name]]
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    earlier = children.ru_utime + children.ru_stime
    process = subprocess.Popen(
        [sys.executable, "-m", "stiction", *words],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    stat = Path(f"/proc/{process.pid}/stat")

    def worked() -> float:
        fields = stat.read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    deadline = time.monotonic() + 120.0
    while worked() < 2.0 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()[1]
    before = worked()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    after = children.ru_utime + children.ru_stime - earlier
    assert after - before < ALLOWED + 0.4  # the end of Python itself included
    assert process.returncode not in (0, None)
    assert "Traceback" not in out + err
