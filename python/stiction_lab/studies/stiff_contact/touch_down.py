"""Fig. 6: the normal force jumps when a point touches down with a speed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stiction._stiction import make_state
from stiction.pages.experiment import Claim, Effort, Experiment, StudyError, Table, Tick

from . import biped, plans, robots
from .curves import Panel, draw
from .integrators import METHODS, OURS
from .motion import Motion

Floats = NDArray[np.float64]

SAMPLING = 2e-5
"""[s]"""
SETUP = (
    "The trot and the walk around a touch-down, exponential at 20 us: normal force of the point "
    "that lands first. The spring and damper give, at the depth zero, the damping times the speed "
    "of approach at once."
)


@dataclass(frozen=True)
class Landing:
    """Of one point.

    Attributes:
        time: since the touch-down [s].
        force: normal [N].
        jump: its first value [N].
        expected: damping times speed of approach, from the last free sample [N].
    """

    motion: str
    point: str
    time: Floats
    force: Floats
    jump: float
    expected: float


def run(effort: Effort, tick: Tick) -> Experiment:
    """The experiment."""
    experiment = Experiment("fig6", "Fig. 6: force at touch-down", SETUP)
    full = effort.share >= 1.0
    landings = []
    # From the last lift-off on: half a period of the trot, the end of the walk's first swing.
    tick("trot", 0.0)
    trot = plans.trot(robots.solo12(ground()), 160)
    landings.append(record(trot, 92, 160))
    if full:
        tick("walk", 0.5)
        try:
            walk = biped.walk(effort.biped, 46, ground())
            landings.append(record(walk, 37, 46))
        except StudyError as error:
            experiment.explanation = f"No walk: {error}"
    for one in landings:
        experiment.add_rows(motion=one.motion, point=one.point, time=one.time, force=one.force)
    experiment.tables.append(_table(landings))
    experiment.figures.append(("Fig. 6: normal force of one point.", _figure(landings)))
    experiment.claims.append(_claim(landings))
    return experiment


def ground() -> robots.Ground:
    """As everywhere."""
    return robots.Ground()


def record(motion: Motion, first: int, last: int) -> Landing:
    """The first touch-down within these control periods of a point that was open at `first`."""
    method, robot = METHODS[OURS], motion.robot
    whole = method.simulator(robot.scene, motion.period / 16)
    fine = method.simulator(robot.scene, SAMPLING)
    state = make_state(robot.scene, motion.q, motion.v)
    each = round(motion.period / SAMPLING)
    rows: list[Floats] = []
    speeds: list[Floats] = []
    for k in range(min(last, motion.steps)):
        torque = motion.controller.torque(k, np.asarray(state.q), np.asarray(state.v))
        if k < first:
            whole.run(state, torque, 16)
            continue
        for _ in range(each):
            fine.run(state, torque, 1)
            tips = {c.geometry_b_name: c for c in fine.contacts()}
            here = [tips.get(f"tip {name}") for name in robot.points]
            rows.append(np.array([0.0 if c is None else c.force_on_b_world[2] for c in here]))
            speeds.append(np.array([0.0 if c is None else c.velocity[2] for c in here]))
    return _landing(motion, np.array(rows), np.array(speeds))


def _landing(motion: Motion, forces: Floats, speeds: Floats) -> Landing:
    robot = motion.robot
    closed = forces > 0.0
    starts = np.where(~closed[0] & closed.any(axis=0), closed.argmax(axis=0), len(forces))
    point = int(starts.argmin())
    at = int(starts[point])
    if at == len(forces):
        raise StudyError(f"{motion.name}: nothing touches down")
    damping = float(robot.scene.parameters.contact_damping[robot.scene.geometry("ground")])
    window = slice(max(at - 50, 0), at + 450)
    time = np.asarray(SAMPLING * (np.arange(len(forces))[window] - at), dtype=np.float64)
    return Landing(
        motion.name,
        robot.points[point],
        time,
        forces[window, point],
        float(forces[at, point]),
        float(-damping * speeds[at - 1, point]),
    )


def _table(landings: list[Landing]) -> Table:
    table = Table(
        "Touch-down",
        ["motion", "point", "first force [N]", "damping times speed [N]", "largest [N]"],
        note="The first force is seen up to 20 us after the touch-down, when a light foot has lost "
        "part of its speed.",
    )
    for one in landings:
        table.rows.append(
            [
                one.motion,
                one.point,
                f"{one.jump:.1f}",
                f"{one.expected:.1f}",
                f"{one.force.max():.1f}",
            ]
        )
    return table


def _figure(landings: list[Landing]) -> str:
    panels = []
    for one in landings:
        panel = Panel(f"{one.motion}, {one.point}", "time [ms]", "normal force [N]", log="")
        panel.curves[OURS] = 1e3 * one.time, one.force
        panels.append(panel)
    return draw(panels, {OURS: METHODS[OURS].color}, dashed=())


def _claim(landings: list[Landing]) -> Claim:
    parts = ", ".join(f"{x.motion} {x.jump:.1f} N of {x.force.max():.1f}" for x in landings)
    return Claim(
        "a finite jump of the force where a point touches with a velocity",
        f"first force at touch-down, of the largest: {parts}",
        all(bool(x.jump > 0.1 * x.force.max()) for x in landings),
    )
