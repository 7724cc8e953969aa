"""Figure 12: a heavy cube on a light one, and the sweep over mass ratios."""

from __future__ import annotations

import math

import numpy as np
from stiction.pages.experiment import Claim, Effort, Experiment, Table, Tick

from . import cubes
from .lines import Panel, draw
from .simulate import Floats, Run, simulate
from .solvers import NAMES, model_of

RATIOS = tuple(10.0**k for k in range(7))
"""Upper over lower mass; the largest is 1000 kg on 1 g."""
STEPS, BUDGET, LARGE_BUDGET = 100, 100, 10_000
"""The paper's example code: 100 steps of 100 iterations."""
SWEEPING = ("ncp-pgs", "ccp-pgs", "lcp-pgs", "raisim")
"""Per-contact algorithms."""
LIMIT = 1e-6
"""A relative residual above it is no solution."""
ROUNDING = 1e-16
"""Stands for a residual of zero, that is one within the rounding of the state."""
SETUP = (
    "A cube of mass sqrt(ratio) kg at rest on one of 1/sqrt(ratio) kg, 1000 kg on 1 g at the most; "
    "friction 0.9 below and 0.95 between; 1 ms steps with warm starts, tolerance 1e-10, no "
    "correction of penetration, so that what sinks stays. As in the paper's example code a step "
    "has 100 iterations, of whatever its solver calls one; the second sweep has 10 000."
)
UPPER_Z = 9
"""Place of the upper cube's height in q."""
Sweep = dict[str, dict[float, Run]]


def run(effort: Effort, tick: Tick) -> Experiment:
    """The experiment."""
    experiment = Experiment("fig12_mass_ratio", "Figure 12: a heavy cube on a light one", SETUP)
    ratios = RATIOS[:: 1 if effort.share >= 1.0 else 3]
    budgets = (BUDGET, LARGE_BUDGET) if effort.share >= 1.0 else (BUDGET,)
    steps = effort.count(STEPS, least=30)
    for j, budget in enumerate(budgets):
        sweep: Sweep = {}
        for k, name in enumerate(NAMES):
            tick(f"{budget} iterations, {name}", (j + k / len(NAMES)) / len(budgets))
            sweep[name] = {ratio: stack(name, ratio, steps, budget) for ratio in ratios}
            for ratio, done in sweep[name].items():
                _add_rows(experiment, ratio, budget, done)
        experiment.tables += _tables(sweep, budget)
        experiment.figures += _figures(sweep, budget)
        experiment.claims += _claims(sweep, budget)
    experiment.explanation = (
        "The residual is that of the NCP, relative to the free velocity. At rest every model asks "
        "for the same, so the numbers differ by algorithm, except ccp-newton's: its own "
        "regularisation is of the light cube's size, carries the heavy one on a soft spring and "
        "is no matter of convergence. A solver may also throw the cubes up: then there is no "
        "overlap, and the residual is that of the flight. At 1e6 rounding of G lambda limits every "
        "residual to some "
        "1e-10."
    )
    return experiment


def stack(name: str, ratio: float, steps: int, budget: int) -> Run:
    """The upper cube on the lower, at rest at first."""
    return simulate(
        cubes.two_cubes(1.0 / math.sqrt(ratio), math.sqrt(ratio)),
        name,
        steps,
        lambda simulator: simulator.initial_state(),
        contacts=8,
        baumgarte=0.0,
        max_iterations=budget,
    )


def sunk(done: Run) -> float:
    """Deepest overlap at the end [m]."""
    return float(done.penetration[-1])


def moved(done: Run) -> float:
    """How far the upper cube's centre is from its first height at the end [m]."""
    return float(abs(done.q[-1, UPPER_Z] - done.q[0, UPPER_Z]))


def residual(done: Run) -> float:
    """Median over the steps, dimensionless."""
    return float(np.median(done.relative))


def _complementarity(done: Run) -> Floats:
    return np.asarray(done.certificate[:, 2])


def _add_rows(experiment: Experiment, ratio: float, budget: int, done: Run) -> None:
    experiment.add_rows(
        solver=done.solver,
        budget=budget,
        ratio=ratio,
        time=done.time,
        penetration=done.penetration,
        primal=done.certificate[:, 0],
        dual=done.certificate[:, 1],
        complementarity=_complementarity(done),
        signorini=done.signorini,
        relative=done.relative,
        iterations=done.iterations,
    )


def _tables(sweep: Sweep, budget: int) -> list[Table]:
    ratios = list(next(iter(sweep.values())))
    columns = ["solver", "model", *(f"{ratio:.0e}" for ratio in ratios)]
    quantities = (
        ("Penetration at the end [m]", sunk),
        ("Distance of the upper cube from its place at the end [m]", moved),
        ("Median relative residual of the NCP", residual),
    )
    tables = []
    for title, value in quantities:
        table = Table(f"{title} by mass ratio, {budget} iterations", columns)
        for name, runs in sweep.items():
            cells = [f"{value(done):.0e}" for done in runs.values()]
            table.rows.append([name, model_of(name), *cells])
        tables.append(table)
    return tables


def _figures(sweep: Sweep, budget: int) -> list[tuple[str, str]]:
    largest = max(next(iter(sweep.values())))
    title = f"ratio {largest:.0e}, {budget} iterations"
    depth = Panel(title, "time [s]", "penetration [m]", log="y")
    product = Panel(title, "time [s]", "complementarity [J]", log="y")
    left = Panel(title, "time [s]", "relative residual of the NCP", log="y")
    places = Panel(f"{budget} iterations", "mass ratio", "upper cube out of place [m]", log="xy")
    errors = Panel(f"{budget} iterations", "mass ratio", "median relative residual", log="xy")
    for name, runs in sweep.items():
        done = runs[largest]
        depth.curves[name] = done.time, done.penetration
        product.curves[name] = done.time, _complementarity(done)
        left.curves[name] = done.time, done.relative
        ratios = np.array(list(runs))
        places.curves[name] = ratios, np.array([moved(done) for done in runs.values()])
        errors.curves[name] = ratios, np.array([residual(done) for done in runs.values()])
    return [
        (f"1000 kg on 1 g over time, {budget} iterations.", draw([depth, product, left])),
        (f"Sweep over mass ratios, {budget} iterations.", draw([places, errors], marker="o")),
    ]


def _claims(sweep: Sweep, budget: int) -> list[Claim]:
    ratios = list(next(iter(sweep.values())))
    small, large = ratios[0], ratios[-1]
    errors = {name: [residual(done) for done in runs.values()] for name, runs in sweep.items()}
    depths = {name: [sunk(done) for done in runs.values()] for name, runs in sweep.items()}
    best = min(errors[name][-1] for name in SWEEPING)
    pairs = (("ncp-admm", "ncp-pgs"), ("ccp-admm", "ccp-pgs"))
    behind = [
        f"{admm} at {ratio:.0e}"
        for admm, pgs in pairs
        for k, ratio in enumerate(ratios)
        if errors[admm][k] > max(errors[pgs][k], 1e-9)
    ]
    grown = min(errors[name][-1] / max(errors[name][0], ROUNDING) for name in SWEEPING)
    limit = f"With {budget} iterations"
    return [
        Claim(
            "A heavy cube (1e3 kg) on a light one (1e-3 kg) is not solvable via per-contact "
            "algorithms.",
            f"{limit} their relative residual is {best:.1g} or more and the cubes sink by "
            f"{1e3 * min(depths[n][-1] for n in SWEEPING):.2g} mm or more in "
            f"{sweep['ncp-pgs'][large].time[-1]:.2g} s; ncp-newton: "
            f"{errors['ncp-newton'][-1]:.0e} and {1e3 * depths['ncp-newton'][-1]:.0e} mm.",
            best > LIMIT,
        ),
        Claim(
            "The accuracy improves when the ratio between the masses gets close to one.",
            f"{limit} residuals of per-contact algorithms are {grown:.0e} or more times larger at "
            f"{large:.0e} than at {small:.0e}.",
            grown > 10.0,
        ),
        Claim(
            "ADMM remains more accurate than PGS in all cases.",
            f"{limit}: "
            + ("yes, or both below 1e-9" if not behind else "not " + ", ".join(behind))
            + f"; at {large:.0e} ncp-admm {errors['ncp-admm'][-1]:.0e} against ncp-pgs "
            f"{errors['ncp-pgs'][-1]:.0e}, ncp-newton {errors['ncp-newton'][-1]:.0e}.",
            not behind,
        ),
    ]
