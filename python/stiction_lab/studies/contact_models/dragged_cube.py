"""Figure 11: a cube dragged by a growing force; when it slides, how fast, and internal forces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from stiction._stiction import Control
from stiction.pages.experiment import Claim, Effort, Experiment, Table, Tick

from . import cubes
from .lines import NOISE, Panel, draw
from .simulate import Floats, Run, simulate
from .solvers import NAMES, model_of

FRICTION = 0.9
RATE = 4.0 * cubes.MASS * cubes.GRAVITY
"""Of the force along y [N/s], the paper's example code."""
STEPS = 450
ONSET = FRICTION * cubes.MASS * cubes.GRAVITY / RATE
"""When the force reaches mu m g [s]: 0.225."""
MOVING = 1e-3
"""A cube faster than this slides [m/s]."""
SETUP = (
    "The cube of 1 kg rests on a plane with friction 0.9 and is dragged along y by a force of "
    "39.24 N/s times t at its centre, 1 ms steps. The example code of the paper has friction 0.4, "
    "with which the cube would slide at 0.1 s; its figure shows some 0.25 s. Friction 1.0 would "
    "give 0.25 s exactly; 0.9, the code's limit of the force, gives 0.225 s. Like there, no step "
    "is warm-started; the table has the internal forces with warm starts too. Forces along x, "
    "across the pull, are internal: they sum to zero and move nothing."
)


@dataclass
class Drag:
    """What one run shows.

    Attributes:
        onset: when the cube is faster than `MOVING` [s].
        final: velocity at the end, share of the analytic one.
        rise: of the centre [m].
        stuck, slid: largest force across the pull at a contact before 0.9 and after 1.2 of the
            onset [N].
        stuck_warm: the same with warm starts, until 0.1 s [N].
    """

    run: Run
    onset: float
    final: float
    rise: float
    stuck: float
    slid: float
    stuck_warm: float


def run(effort: Effort, tick: Tick) -> Experiment:
    """The experiment."""
    experiment = Experiment("fig11_drag", "Figure 11: a dragged cube", SETUP)
    drags = {}
    for k, name in enumerate(NAMES):
        tick(name, k / len(NAMES))
        drags[name] = drag(name)
        _add_rows(experiment, drags[name].run)
    experiment.tables.append(_table(drags))
    experiment.figures += _figures(drags)
    experiment.claims += _claims(drags)
    experiment.explanation = (
        "The load on four points is not unique at rest, and every solver takes one of the "
        "solutions; per-contact iterations, ncp-newton's first sweeps among them, leave the trace "
        "of their order, proximal and staggered ones come close to the least impulses."
    )
    return experiment


def drag(name: str) -> Drag:
    """One solver, from cold and with warm starts."""
    done = _simulate(name, STEPS, warm=False)
    warm = _simulate(name, 100, warm=True)
    before, after = done.time < 0.9 * ONSET, done.time > 1.2 * ONSET
    return Drag(
        run=done,
        onset=float(done.time[np.argmax(done.v[:, 1] > MOVING)]),
        final=float(done.v[-1, 1] / velocity(done.time)[-1]),
        rise=float((done.q[:, 2] - done.q[0, 2]).max()),
        stuck=_across(done.impulse[before]),
        slid=_across(done.impulse[after]),
        stuck_warm=_across(warm.impulse),
    )


def _simulate(name: str, steps: int, warm: bool) -> Run:
    def pull(time: float) -> Control:
        return cubes.pulled(np.array([0.0, RATE * time, 0.0]))

    scene = cubes.cube(FRICTION)
    return simulate(scene, name, steps, lambda sim: sim.initial_state(), pull, warm=warm)


def velocity(time: Floats) -> Floats:
    """By Coulomb's law [m/s]."""
    return np.asarray(0.5 * RATE / cubes.MASS * np.maximum(time - ONSET, 0.0) ** 2)


def _across(impulse: Floats) -> float:
    return float(np.nanmax(np.abs(impulse[:, :, 0]))) / cubes.DT


def _add_rows(experiment: Experiment, done: Run) -> None:
    forces = done.impulse / cubes.DT
    columns: dict[str, Any] = {"solver": done.solver, "time": done.time, "velocity": done.v[:, 1]}
    columns["height"] = done.q[:, 2]
    for i in range(forces.shape[1]):
        for axis, letter in enumerate("xyz"):
            columns[f"force_{i + 1}{letter}"] = forces[:, i, axis]
    for k, name in enumerate(("primal", "dual", "complementarity")):
        columns[name] = done.certificate[:, k]
    experiment.add_rows(**columns, relative=done.relative)


def _table(drags: dict[str, Drag]) -> Table:
    table = Table(
        "Onset, velocity and forces across the pull",
        [
            "solver",
            "model",
            "onset [s]",
            "final velocity [%]",
            "rise [mm]",
            "at rest [N]",
            "at rest, warm [N]",
            "sliding [N]",
            "NCP residual",
        ],
        note=f"Coulomb's law: onset {ONSET:g} s. Final velocity: share of the analytic one, "
        "of which the time step takes half a percent. Forces "
        "are the largest of a contact; the weight is 9.81 N.",
    )
    for name, drag in drags.items():
        forces = [f"{x:.1e}" for x in (drag.stuck, drag.stuck_warm, drag.slid)]
        table.rows.append(
            [
                name,
                model_of(name),
                f"{drag.onset:.3f}",
                f"{100 * drag.final:.2f}",
                f"{1e3 * drag.rise:.2g}",
                *forces,
                f"{drag.run.relative.max():.1e}",
            ]
        )
    return table


def _figures(drags: dict[str, Drag]) -> list[tuple[str, str]]:
    speed = Panel("dragged cube", "time [s]", "velocity along the pull [m/s]")
    error = Panel("against Coulomb's law", "time [s]", "velocity minus analytic [m/s]")
    residual = Panel(
        "certificate", "time [s]", "relative residual of the NCP", log="y", floor=NOISE
    )
    for name, drag in drags.items():
        done = drag.run
        speed.curves[name] = done.time, done.v[:, 1]
        error.curves[name] = done.time, done.v[:, 1] - velocity(done.time)
        residual.curves[name] = done.time, done.relative
    figures = [
        ("Velocity of the dragged cube, and the certificate.", draw([speed, error, residual]))
    ]
    for names in (NAMES[:4], NAMES[4:8], NAMES[8:]):
        caption = f"The four forces across the pull, one line per contact: {', '.join(names)}."
        figures.append((caption, draw([_forces(drags[name].run) for name in names])))
    return figures


def _forces(done: Run) -> Panel:
    panel = Panel(done.solver, "time [s]", "forces across the pull [N]", limits=(-4.0, 4.0))
    panel.curves[done.solver] = done.time, done.impulse[:, :, 0] / cubes.DT
    return panel


def _claims(drags: dict[str, Drag]) -> list[Claim]:
    def of(quantity: str, *names: str) -> list[float]:
        return [float(getattr(drags[name], quantity)) for name in names]

    onset = of("onset", *(n for n in NAMES if n != "raisim"))
    ccp = [n for n in NAMES if model_of(n) == "CCP"]
    sweeps = ("ncp-pgs", "ccp-pgs", "raisim")
    proximal = ("ccp-admm", "ncp-staggered")
    early, late = min(onset), max(onset)
    return [
        Claim(
            "The cube is at stiction before it starts sliding after approximately 0.25 s.",
            f"It slides from {early:.3f} to {late:.3f} s with all solvers but RaiSim "
            f"({drags['raisim'].onset:.3f} s); Coulomb's law: {ONSET:g} s, and 1 mm/s is reached "
            "7 ms later.",
            abs(early - ONSET) < 0.012 and abs(late - ONSET) < 0.012,
        ),
        Claim(
            "CCP induces some bumps.",
            f"CCP solvers lift the cube by {1e3 * min(of('rise', *ccp)):.2g} mm or more, "
            f"ncp-newton by {1e3 * drags['ncp-newton'].rise:.1g} mm.",
            min(of("rise", *ccp)) > 1e-4,
        ),
        Claim(
            "RaiSim violates the MDP leading to contact points sliding faster than with the NCP.",
            f"Final velocity: RaiSim {100 * drags['raisim'].final:.1f} %, ncp-newton "
            f"{100 * drags['ncp-newton'].final:.1f} % of the analytic one.",
            drags["raisim"].final > 1.01 * drags["ncp-newton"].final,
        ),
        Claim(
            "Per-contact approaches exhibit spurious internal forces at stiction.",
            ", ".join(f"{n} {drags[n].stuck:.2g} N" for n in (*sweeps, "ncp-newton")) + ".",
            min(of("stuck", *sweeps)) > 0.01,
        ),
        Claim(
            "In CCP the MDP enforces these forces to disappear when the cube slides; with RaiSim "
            "internal forces persist.",
            f"Sliding: ccp-pgs {drags['ccp-pgs'].slid:.1g} N, RaiSim {drags['raisim'].slid:.2g} N, "
            f"ncp-newton {drags['ncp-newton'].slid:.1g} N.",
            drags["ccp-pgs"].slid < 1e-3 and drags["raisim"].slid > 0.01,
        ),
        Claim(
            "ADMM and staggered projections avoid injecting spurious internal forces.",
            ", ".join(f"{n} {drags[n].stuck:.1g} N" for n in proximal) + " at rest.",
            max(of("stuck", *proximal)) < 1e-3,
        ),
    ]
