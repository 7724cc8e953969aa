"""Table 2: the largest step at which a motion under its controller stays bounded."""

from __future__ import annotations

import contextlib

import numpy as np
from stiction._stiction import SimulationError, make_state
from stiction.pages.experiment import Claim, Effort, Experiment, StudyError, Table, Tick

from . import biped, paper, plans, robots
from .integrators import IMPLICIT, METHODS, OURS, PUBLISHED, Method
from .motion import Motion

MOST = 2048
FASTER, TILT = 5.0, 0.7
"""Unstable: a velocity above so many times the plan's largest; a base leaning by more [rad]."""
SHOWN = (OURS, PUBLISHED, "explicit-euler", IMPLICIT)
THEIRS = (PUBLISHED, "explicit-euler", IMPLICIT)
"""Columns of the paper's table."""
PERIODS = {"squat": 250, "trot": 1000, "jump": 110}
IN_QUICK = {"squat": 30, "trot": 120, "jump": 100}
SETUP = (
    "The motions run freely, without resets, the controller on the states of the run itself; steps "
    "are halved from the control period until the run is stable: every velocity stays below five "
    "times the plan's largest plus 1, and the base within 0.7 rad of the vertical. All "
    "integrators under the continuous law."
)


def run(effort: Effort, tick: Tick) -> Experiment:
    """The experiment."""
    experiment = Experiment("table2", "Table 2: largest stable steps", SETUP)
    found: dict[str, dict[str, float]] = {}
    motions = _motions(effort)
    for i, motion in enumerate(motions):
        found[motion.name] = {}
        for j, name in enumerate(SHOWN):
            tick(f"{motion.name}, {name}", (i + j / len(SHOWN)) / len(motions))
            step = largest_stable(motion, METHODS[name])
            found[motion.name][name] = 1e3 * step
            experiment.add_rows(motion=motion.name, method=name, step=step)
    experiment.tables.append(_table(found))
    experiment.claims.append(_claim(found))
    return experiment


def _motions(effort: Effort) -> list[Motion]:
    solo = robots.solo12()
    if effort.share < 1.0:
        return [
            plans.squat(solo, IN_QUICK["squat"]),
            plans.trot(solo, IN_QUICK["trot"]),
            plans.jump(solo, IN_QUICK["jump"]),
        ]
    motions = [
        plans.squat(solo, PERIODS["squat"]),
        plans.trot(solo, PERIODS["trot"]),
        plans.jump(solo, PERIODS["jump"]),
    ]
    with contextlib.suppress(StudyError):  # the experiment `walk` says why
        motions.append(biped.walk(effort.biped))
    return motions


def largest_stable(motion: Motion, method: Method) -> float:
    """[s]; 0: none down to 1 / MOST of the period."""
    substeps = 1
    while substeps <= MOST:
        if stable(motion, method, substeps):
            return motion.period / substeps
        substeps *= 2
    return 0.0


def stable(motion: Motion, method: Method, substeps: int) -> bool:
    """Does the whole run stay bounded?"""
    simulator = method.simulator(motion.robot.scene, motion.period / substeps)
    state = make_state(motion.robot.scene, motion.q, motion.v)
    limit = FASTER * motion.fastest + 1.0
    for k in range(motion.steps):
        torque = motion.controller.torque(k, np.asarray(state.q), np.asarray(state.v))
        try:
            simulator.run(state, torque, substeps)
        except SimulationError:
            return False
        lean = 2.0 * np.arcsin(min(float(np.linalg.norm(np.asarray(state.q)[3:5])), 1.0))
        if np.abs(np.asarray(state.v)).max() > limit or lean > TILT:
            return False
    return True


def _table(found: dict[str, dict[str, float]]) -> Table:
    table = Table(
        "Largest stable step [ms]; in brackets the paper's",
        ["motion", *SHOWN],
        note="The paper's exponential stands beside exponential-published; its walk is Romeo's.",
    )
    for motion, row in found.items():
        theirs = dict(
            zip((PUBLISHED, "explicit-euler", IMPLICIT), paper.TABLE_2[motion], strict=True)
        )
        cells = [
            f"{row[name]:.3g}" + (f" ({theirs[name]:.3g})" if name in theirs else "")
            for name in SHOWN
        ]
        table.rows.append([motion, *cells])
    return table


def _claim(found: dict[str, dict[str, float]]) -> Claim:
    ratios = {m: row[PUBLISHED] / max(row["explicit-euler"], 1e-9) for m, row in found.items()}
    return Claim(
        "Eul-exp needs a step between 4 and 512 times smaller than Expo to remain stable",
        ", ".join(f"{m} {ratio:.0f}" for m, ratio in ratios.items()),
        all(ratio >= 4.0 for ratio in ratios.values()),
    )
