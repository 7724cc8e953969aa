"""Counts the iterations of first-order solvers beside the published ones and writes two tables.

python tools/solver_baselines.py benchmarks/results

Iterations to a residual of 1e-6 on the problems of figure 16, cold and warm, and in several units
of mass. Stored as "baselines" in the file of this machine; the tables go between the markers of
docs/solvers.md.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from stiction import BoxSet, ContactProblem, solve
from stiction.pages.experiment import Effort
from stiction_lab.bench import machine
from stiction_lab.bench.results import update_results
from stiction_lab.studies.contact_models import problems, robot_problems
from stiction_lab.studies.contact_models.time_to_accuracy import PROBLEMS
from stiction_lab.studies.page.markdown import replace, table

PAGE = Path("docs/solvers.md")
TOLERANCE, MOST = 1e-6, 1000
SOLVERS = (
    "ccp-admm",
    "ccp-admm-published",
    "ncp-admm",
    "ncp-admm-published",
    "ncp-pgs",
    "ncp-pgs-published",
    "ccp-pgs",
    "raisim",
    "raisim-published",
)
ADMM = SOLVERS[:4]
UNITS = {"g": 1e3, "kg": 1.0, "t": 1e-3}
"""How many of the unit a kilogram is."""


def iterations(problem: ContactProblem, solver: str, start: Any = None) -> float:
    """Infinite where the tolerance is not reached."""
    found = solve(problem, solver, TOLERANCE, max_iterations=MOST, warm_start=start)
    return found.iterations if found.converged else float("inf")


def in_unit(problem: ContactProblem, factor: float) -> ContactProblem:
    """The same with masses and impulses times the factor."""
    sets = [
        BoxSet(factor * s.lower, factor * s.upper) if s.kind == "box" else s for s in problem.sets
    ]
    return ContactProblem(problem.dense() / factor, problem.g, sets=sets)


def on_robots(recorded: dict[str, list[robot_problems.Recorded]]) -> list[dict[str, Any]]:
    """A row a solver: medians, and shares solved."""
    rows = []
    for solver in SOLVERS:
        row: dict[str, Any] = {"solver": solver}
        for robot, found in recorded.items():
            for start in ("cold", "warm"):
                counts = [
                    iterations(r.problem, solver, r.warm_start if start == "warm" else None)
                    for r in found
                ]
                row[f"{robot}, {start}"] = {
                    "median": float(np.median(counts)),
                    "solved": float(np.isfinite(counts).mean()),
                }
        rows.append(row)
    return rows


def in_units(cases: dict[str, list[ContactProblem]]) -> list[dict[str, Any]]:
    """A row a case: medians of each solver in each unit."""
    rows = []
    for name, found in cases.items():
        row: dict[str, Any] = {"problem": name}
        for solver in ADMM:
            row[solver] = {
                unit: float(np.median([iterations(in_unit(p, factor), solver) for p in found]))
                for unit, factor in UNITS.items()
            }
        rows.append(row)
    return rows


def robot_table(document: dict[str, Any]) -> str:
    """Medians; the share where not all are solved."""
    columns = [name for name in document["robots"][0] if name != "solver"]

    def cell(entry: dict[str, float]) -> str:
        share = "" if entry["solved"] == 1.0 else f" ({entry['solved']:.0%} solved)"
        return number(entry["median"]) + share

    rows = [
        [f"`{row['solver']}`", *(cell(row[name]) for name in columns)] for row in document["robots"]
    ]
    return table(["solver", *columns], rows)


def unit_table(document: dict[str, Any]) -> str:
    """One column a solver: g, kg, t."""
    rows = [
        [row["problem"], *(", ".join(number(row[s][unit]) for unit in UNITS) for s in ADMM)]
        for row in document["units"]
    ]
    return table([f"{', '.join(UNITS)}", *(f"`{solver}`" for solver in ADMM)], rows)


def number(count: float) -> str:
    return f"{count:g}" if np.isfinite(count) else "–"


def main(folder: Path) -> None:
    recorded = {
        robot: robot_problems.record(trajectory, PROBLEMS, Effort())
        for robot, trajectory in robot_problems.TRAJECTORIES.items()
    }
    cases = {
        f"{robot} (median of {PROBLEMS})": [r.problem for r in found]
        for robot, found in recorded.items()
    }
    cases |= {name: [problem] for name, problem in problems.hard().items()}
    document = {
        "machine": machine.describe(),
        "tolerance": TOLERANCE,
        "max_iterations": MOST,
        "robots": on_robots(recorded),
        "units": in_units(cases),
    }
    update_results(folder, {"baselines": document})
    text = replace(PAGE.read_text(), "robots", robot_table(document))
    PAGE.write_text(replace(text, "units", unit_table(document)))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
