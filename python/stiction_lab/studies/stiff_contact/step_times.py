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
SETUP = (
    "Processor time of a step of 0.25 ms, mean over the trot, eight steps a call, collision and "
    "dynamics included; the least of five passes. The paper's parts of a step (integrals 33 %, "
    "dynamics 33 %, contact 20 %) cannot be told apart here: a step has no clocks in it. All "
    "integrators under the continuous law."
)


def run(effort: Effort, tick: Tick) -> Experiment:
    """The experiment."""
    experiment = Experiment("table3", "Table 3: time of a step", SETUP)
    motion = plans.trot(robots.solo12(), effort.count(PERIODS, least=50))
    fineness = truth.Fineness(tolerance=1e-6, halvings=4)  # only the states matter here
    true = truth.run(motion, fineness, tick, (0.0, 0.5))
    substeps = round(motion.period / STEP)
    table = Table("Time of a step [us]", ["method", "here", "paper", "in steps of explicit-euler"])
    times = {}
    for i, (name, method) in enumerate(TIMED.items()):
        tick(name, 0.5 + 0.5 * i / len(TIMED))
        passes = [local_errors(true, method, substeps).microseconds for _ in range(REPEATS)]
        times[name] = min(passes)
        experiment.add_rows(method=name, step=STEP, microseconds=np.array(passes))
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
    experiment.claims.append(
        Claim(
            "Expo is about ten times faster than Eul-imp (squat at 10 ms)",
            f"{times[IMPLICIT] / times[PUBLISHED]:.1f} times on the trot; exponential "
            f"{times[IMPLICIT] / times[OURS]:.1f} times",
            times[IMPLICIT] / times[PUBLISHED] > 5.0,
        )
    )
    return experiment
