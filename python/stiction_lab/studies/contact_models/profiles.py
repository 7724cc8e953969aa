"""Performance profiles (Dolan and Moré 2002) of the solvers over a collection of problems."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from stiction.pages.experiment import Claim, Effort, Experiment, Table, Tick
from stiction.solving import solve

from . import problem_set, solvers
from .lines import Panel, draw
from .problem_set import Collected
from .timing import time_solve

TOLERANCE = 1e-8
WARM_TOLERANCE = 1e-10  # of the warm starts' own solves
IN_QUICK = 24  # problems
ROWS_IN_QUICK = 48  # at most
SLOWEST = "lcp-qp"  # left out of a quick study
FACTORS = np.logspace(0.0, 4.0, 161)
NCP = tuple(name for name in solvers.NAMES if solvers.model_of(name) == "NCP")
STARTS = ("cold", "warm")


@dataclass
class Runs:
    """Times of one solver from one start, infinite where it did not reach the tolerance [µs]."""

    microseconds: list[float] = field(default_factory=list)

    @property
    def array(self) -> NDArray[np.float64]:
        """(problems,)."""
        return np.array(self.microseconds)

    @property
    def solved(self) -> float:
        """Share of the problems."""
        return float(np.isfinite(self.array).mean())


def profile(
    times: dict[str, NDArray[np.float64]], factors: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Solver -> share of the problems that it solves within each factor of the fastest's time.

    A problem that no solver solves counts as unsolved by all.
    """
    best = np.min(list(times.values()), axis=0)
    ratio = {
        name: np.divide(t, best, out=np.full_like(t, np.inf), where=np.isfinite(t))
        for name, t in times.items()
    }
    return {
        name: np.array([float((r <= factor).mean()) for factor in factors])
        for name, r in ratio.items()
    }


def run(effort: Effort, tick: Tick) -> Experiment:
    """Every solver on the collection, those of the NCP also warm started."""
    experiment = Experiment("profiles", "Performance profiles over a collection of problems", SETUP)
    collected = problem_set.load_set(effort.problems)
    if effort.share < 1.0:
        collected = [c for c in collected if c.problem.num_rows <= ROWS_IN_QUICK]
    count = effort.count(len(collected), least=IN_QUICK)
    chosen = np.unique(np.linspace(0, len(collected) - 1, count).round().astype(int))
    problems = [collected[k] for k in chosen]
    names = [n for n in solvers.NAMES if effort.share >= 1.0 or n != SLOWEST]
    starts = {c.name: _warm_start(c) for c in problems}
    runs: dict[tuple[str, str], Runs] = {}
    for k, name in enumerate(names):
        tick(name, k / len(names))
        runs[name, "cold"] = Runs(
            [time_solve(c.problem, name, TOLERANCE, None)[0] for c in problems]
        )
    for name in NCP:
        tick(f"{name}, warm", 0.95)
        runs[name, "warm"] = Runs(
            [time_solve(c.problem, name, TOLERANCE, starts[c.name])[0] for c in problems]
        )
    for (name, start), own in runs.items():
        experiment.add_rows(
            solver=name,
            start=start,
            problem=[c.name for c in problems],
            rows=[c.problem.num_rows for c in problems],
            microseconds=own.array,
        )
    panels = {
        "NCP solvers, cold": {name: runs[name, "cold"].array for name in NCP},
        "NCP solvers, warm": {name: runs[name, "warm"].array for name in NCP},
        "all, each its own model, cold": {n: runs[n, "cold"].array for n in names},
    }
    experiment.figures.append((CAPTION, _figure(panels)))
    experiment.tables += [_table(title, times) for title, times in panels.items()]
    experiment.claims += _claims(runs)
    return experiment


SETUP = (
    "Solvable problems of many origins: boxes, stacks, walls, wedges, grasps, random, degenerate "
    "and biased ones, and frames of Solo-12, Talos and the Allegro hand. Time in C++ until the "
    f"relative residual of the solver's own model is at most {TOLERANCE:g}, or no smaller for "
    "rounding; a problem is unsolved if that takes more than 1000 iterations. Warm starts are the "
    "solutions of the same contacts with a perturbed free velocity. A profile says on which share "
    "of the problems a solver needs at most so many times the time of the fastest; its height at "
    "the right is the share solved at all. Different models have different answers: only the first "
    "two panels compare solvers of the same work. A quick study leaves out lcp-qp and "
    f"problems of more than {ROWS_IN_QUICK} rows."
)
CAPTION = "Share of the problems solved within a factor of the fastest solver's time"


def _warm_start(collected: Collected) -> NDArray[np.float64]:
    nearby = solve(collected.nearby, "ncp-newton", tolerance=WARM_TOLERANCE)
    return nearby.impulse


def _table(title: str, times: dict[str, NDArray[np.float64]]) -> Table:
    columns = ["solver", "solved", "fastest on", "within 2x", "within 10x", "median [µs]"]
    table = Table(title[0].upper() + title[1:], columns)
    for name, shares in profile(times, np.array([1.0, 2.0, 10.0])).items():
        solved = float(np.isfinite(times[name]).mean())
        shown = [f"{100 * share:.1f} %" for share in (solved, *shares)]
        table.rows.append([name, *shown, f"{np.median(times[name]):.2f}"])
    table.note = "Medians over all problems; inf: fewer than half are solved."
    return table


def _claims(runs: dict[tuple[str, str], Runs]) -> list[Claim]:
    claims = []
    for model in ("ccp", "ncp"):
        pgs, admm = (runs[f"{model}-{kind}", "cold"] for kind in ("pgs", "admm"))
        both = np.isfinite(pgs.array) & np.isfinite(admm.array)
        ratio = float(np.median(admm.array[both] / pgs.array[both])) if both.any() else np.inf
        claims.append(
            Claim(
                f"{model.upper()}: ADMM may be slower than Gauss-Seidel, but behaves better on "
                "ill-conditioned problems",
                f"ADMM solves {admm.solved:.1%}, Gauss-Seidel {pgs.solved:.1%}; where both do, "
                f"ADMM takes {ratio:.1f} times as long (median)",
                admm.solved > pgs.solved,
            )
        )
    return claims


def _figure(panels: dict[str, dict[str, NDArray[np.float64]]]) -> str:
    drawn = []
    for title, times in panels.items():
        panel = Panel(title, "factor of the fastest's time", "share of the problems", log="x")
        for name, shares in profile(times, FACTORS).items():
            panel.curves[name] = FACTORS, shares
        drawn.append(panel)
    return draw(drawn)
