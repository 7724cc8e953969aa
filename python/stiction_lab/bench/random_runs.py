"""Runs a random scene, keeps a log, and says what is wrong with it."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from stiction import Control, SimulationError, Simulator, StepReport

from .energy_account import SHARE, Account, Bodies, Joints, Motion, account
from .random_scenes import RandomScene, random_scene
from .work_budget import work_used

Floats = NDArray[np.float64]
OUTRUN = 0.5
"""[rad] A link that turns by more in one step is beyond explicit Coriolis forces: the run ends."""


@dataclass
class Log:
    """K steps of a random scene: q (K + 1, nq), v (K + 1, nv), the reports, (K,) shares of
    the budget of work that the steps used, (K,) seconds of CPU.

    Attributes:
        error: the exception that ended the run.
        outrun: a robot became faster than its integrator can follow, which ended the run.
    """

    scene: RandomScene
    motion: Motion
    reports: list[StepReport]
    work: Floats
    seconds: Floats
    error: str = ""
    outrun: bool = False

    def column(self, name: str) -> Floats:
        """(K,) one number of the reports."""
        return np.array([float(getattr(report, name)) for report in self.reports])


@dataclass(frozen=True)
class Finding:
    """One thing wrong with one run."""

    kind: str
    seed: int
    symptom: str
    step: int
    value: float
    features: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        told = {k: v for k, v in self.features.items() if k != "shapes"}
        return (
            f"{self.kind} {self.seed}: {self.symptom} {self.value:.3g} at step {self.step}; {told}"
        )


def run(scene: RandomScene, steps: int = 200) -> Log:
    """Steps with default settings; an exception ends the run and stands in the log."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a user is told once a run: overlaps, unsolved steps
        return _run(scene, steps)


def _run(scene: RandomScene, steps: int) -> Log:
    sim, state, control = scene.start()
    q, v = [np.array(state.q)], [np.array(state.v)]
    reports, work, seconds, error, outrun = [], [], [], "", False
    first = 6 * len(scene.poses)
    for _ in range(steps):
        outrun = float(np.max(np.abs(v[-1][first:]), initial=0.0)) * scene.dt > OUTRUN
        if outrun:
            break
        begin = time.thread_time()
        try:
            report = sim.step(state, control)
        except SimulationError as raised:
            error = str(raised)
            break
        seconds.append(time.thread_time() - begin)
        reports.append(report)
        work.append(work_used(sim, report))
        q.append(np.array(state.q))
        v.append(np.array(state.v))
    motion = _motion(scene, sim, control, np.array(q), np.array(v))
    return Log(scene, motion, reports, np.array(work), np.array(seconds), error, outrun)


def _motion(scene: RandomScene, sim: Simulator, control: Control, q: Floats, v: Floats) -> Motion:
    p = sim.parameters
    count = len(scene.poses)
    force, moment = np.zeros((2, count, 3))
    for body, f, m in scene.wrenches:
        force[body], moment[body] = f, m
    bodies = Bodies(
        np.array(p.mass)[:count],
        np.array(p.com).reshape(-1, 3)[:count],
        np.array([p.inertia(body) for body in range(count)]).reshape(-1, 3, 3),
        force,
        moment,
    )
    joints = Joints(
        kp=np.array(p.kp),
        kd=np.array(p.kd),
        damping=np.array(p.damping),
        armature=np.array(p.armature),
        effort_limit=np.array(p.effort_limit),
        torque=np.array(control.torque),
        position_target=np.array(control.position_target),
        velocity_target=np.zeros(scene.scene.nv),
    )
    return Motion(q, v, scene.dt, np.array(p.gravity), bodies, joints, scene.robots)


def recovery(log: Log) -> Floats:
    """(K,) what the recovery of position errors added at most, as reported [J]; what took is 0."""
    return np.maximum(log.column("recovery_energy"), 0.0)


def findings(log: Log) -> list[Finding]:
    """What is wrong; empty: nothing."""
    found: list[Finding] = []
    scene = log.scene

    def add(symptom: str, step: int, value: float) -> None:
        found.append(Finding(scene.kind, scene.seed, symptom, step, value, scene.features))

    if log.error:
        add("exception: " + log.error, len(log.reports), np.nan)
    if not (np.isfinite(log.motion.q).all() and np.isfinite(log.motion.v).all()):
        add("state not finite", len(log.reports), np.nan)
        return found
    for name in ("penetration", "creep", "energy", "recovery_energy"):
        column = log.column(name)
        if not np.isfinite(column).all():
            add(f"report.{name} not finite", int(np.argmin(np.isfinite(column))), np.nan)
            return found
    if log.work.max(initial=0.0) > 1.0:
        add("work above its budget", int(log.work.argmax()), float(log.work.max()))
    if log.reports:
        book = account(log.motion)
        for symptom, excess in laws(book, recovery(log)):
            if excess.max() > SHARE:
                add(symptom, int(excess.argmax()), float(excess.max()))
    return found


@dataclass(frozen=True)
class Verdict:
    """Of one run: what is wrong, and what it was let off.

    Attributes:
        outrun: it ended early, see Log.outrun.
        granted: largest excess over the law of the run without the defects of the free motion, in
            parts of the energy in play; what is above SHARE was granted to it.
    """

    found: list[Finding]
    outrun: bool
    granted: float

    @property
    def let_off(self) -> bool:
        """Whether a law of energy was judged on a part of the run, or held by a grant."""
        return self.outrun or self.granted > SHARE


def judge(kind: str, seed: int) -> Verdict:
    """Runs that scene."""
    log = run(random_scene(kind, seed))
    found, granted = findings(log), 0.0
    if log.reports and np.isfinite(log.motion.q).all() and np.isfinite(log.motion.v).all():
        book = account(log.motion)
        bare = replace(book, defect=np.zeros_like(book.defect))
        granted = float(bare.run_excess(recovery(log)).max())
    return Verdict(found, log.outrun, granted)


def laws(book: Account, given: Floats) -> list[tuple[str, Floats]]:
    """Both laws of energy with their excess (K,) in parts of the energy in play."""
    return [
        ("a step gains energy", book.step_excess(given)),
        ("the run gains energy", book.run_excess(given)),
    ]


def main(kind: str, seeds: list[int]) -> None:
    """Prints what is wrong with each of these seeds, and how many were let off."""
    verdicts = [judge(kind, seed) for seed in seeds]
    for verdict in verdicts:
        for finding in verdict.found:
            print(finding)
    print(leniency(kind, verdicts))


def leniency(kind: str, verdicts: Sequence[Verdict]) -> str:
    """How many runs were outrun, and how many keep the law of the run by granted defects."""
    outrun = sum(verdict.outrun for verdict in verdicts)
    granted = sum(verdict.granted > SHARE for verdict in verdicts)
    return f"{kind}: of {len(verdicts)} runs {outrun} outrun, {granted} with granted defects"


if __name__ == "__main__":
    main(sys.argv[1], [int(seed) for seed in sys.argv[2:]])
