"""Table 3: what a step of the trot costs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from stiction.pages.experiment import Claim, Effort, Experiment, Table, Tick

from . import paper, plans, robots, truth
from .integrators import IMPLICIT, METHODS, OURS, PRODUCTS, PUBLISHED, Method
from .local_error import local_errors

FEWEST = next(iter(PRODUCTS))
UNBALANCED = "exponential-published, unbalanced"
TIMED: dict[str, Method] = {
    OURS: METHODS[OURS],
    FEWEST: PRODUCTS[FEWEST],
    PUBLISHED: METHODS[PUBLISHED],
    UNBALANCED: replace(METHODS[PUBLISHED], options={"balancing": False}),
    IMPLICIT: METHODS[IMPLICIT],
    "rk4": METHODS["rk4"],
    "explicit-euler": METHODS["explicit-euler"],
}
PAPERS = {FEWEST: 39.0, UNBALANCED: 94.0, "explicit-euler": paper.TABLE_3["explicit-euler"]}
STEP, PERIODS, REPEATS = 0.25e-3, 300, 5
SQUAT_STEP, SQUAT_PERIODS, ABOUT = 10e-3, 100, 7.0
"""Step of the squat [s]; its periods; "about ten times" is read as at least so many."""
SETUP = (
    "Processor time of a step, collision and dynamics included, the least of five passes: of "
    "0.25 ms, mean over the trot, eight steps a call, and of 10 ms, mean over the squat, four "
    "steps a call. “About ten times” is read as at least seven. The paper's parts of a step "
    "(integrals 33 %, dynamics 33 %, contact 20 %) cannot be told apart here: a step has no clocks "
    "in it. All integrators under the continuous law."
)


def run(effort: Effort, tick: Tick) -> Experiment:
    """The experiment."""
    experiment = Experiment("table3", "Table 3: time of a step", SETUP)
    motion = plans.trot(robots.solo12(), effort.count(PERIODS, least=50))
    fineness = truth.Fineness(tolerance=1e-6, halvings=4)  # only the states matter here
    true = truth.run(motion, fineness, tick, (0.0, 0.3))
    table = Table("Time of a step [us]", ["method", "here", "paper", "in steps of explicit-euler"])
    times = _least(experiment, true, TIMED, STEP)
    for name, value in times.items():
        theirs = f"{PAPERS[name]:g}" if name in PAPERS else ""
        ratio = value / times["explicit-euler"]
        table.rows.append([name, f"{value:.1f}", theirs, f"{ratio:.1f}"])
    experiment.tables.append(table)
    saved = times[UNBALANCED] / times[FEWEST]
    experiment.claims.append(
        Claim(
            "without matrix products a step takes 39 us in place of 94",
            f"{times[FEWEST]:.1f} in place of {times[UNBALANCED]:.1f} us, {saved:.1f} times less",
            saved > 1.5,
        )
    )
    squat = plans.squat(robots.solo12(), effort.count(SQUAT_PERIODS, least=20))
    true = truth.run(squat, fineness, tick, (0.6, 0.9))
    _squat(experiment, _least(experiment, true, SQUATTING, SQUAT_STEP), times)
    return experiment


SQUATTING = {name: METHODS[name] for name in (OURS, PUBLISHED, IMPLICIT)}


def _least(
    experiment: Experiment, true: truth.Truth, methods: dict[str, Method], step: float
) -> dict[str, float]:
    """Method -> time of a step [µs], the least of all passes."""
    substeps = round(true.motion.period / step)
    times = {}
    for name, method in methods.items():
        passes = [local_errors(true, method, substeps).microseconds for _ in range(REPEATS)]
        times[name] = min(passes)
        experiment.add_rows(
            motion=true.motion.name, method=name, step=step, microseconds=np.array(passes)
        )
    return times


def _squat(experiment: Experiment, squat: dict[str, float], trot: dict[str, float]) -> None:
    """Table and statement of the paper's appendix."""
    table = Table("Time of a step of 10 ms of the squat [us]", ["method", "here", "paper"])
    for name, value in squat.items():
        theirs = f"{paper.SQUAT_IMPLICIT:g}" if name == IMPLICIT else ""
        table.rows.append([name, f"{value:.1f}", theirs])
    experiment.tables.append(table)
    ratio = squat[IMPLICIT] / squat[PUBLISHED]
    experiment.claims.append(
        Claim(
            "Expo is about ten times faster than Eul-imp (squat at 10 ms)",
            f"{ratio:.1f} times on the squat at 10 ms, exponential "
            f"{squat[IMPLICIT] / squat[OURS]:.1f}; {trot[IMPLICIT] / trot[PUBLISHED]:.1f} times on "
            "the trot at 0.25 ms",
            ratio >= ABOUT,
        )
    )
