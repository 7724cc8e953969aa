"""Fig. 16: time of one solve to a fixed accuracy on robots, cold and warm."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stiction.pages import plots
from stiction.pages.experiment import Claim, Effort, Experiment, StudyError, Table, Tick, less

from . import robot_problems, solvers
from .lines import Panel, draw
from .robot_problems import Recorded
from .timing import REPEATS, time_solve

TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10)
SHOWN = 1e-6  # the tolerance of the tables
PROBLEMS = 40
STARTS = ("cold", "warm")
ADMM = "ccp-admm-published"
"""The paper's."""
GAUSS_SEIDEL = ("lcp-pgs", "ccp-pgs", "ncp-pgs", "ncp-pgs-published")
"""Its "PGS solvers", each a variant of the statements."""
NAMES = tuple(
    row
    for name in solvers.NAMES
    for row in (name, f"{name}-published")
    if row in (*solvers.NAMES, ADMM, *GAUSS_SEIDEL)
)
"""Rows: two also as published, which the statements are about."""
Key = tuple[str, str, str, float]


@dataclass
class Timed:
    """One solver at one tolerance on the problems of one robot.

    Attributes:
        microseconds: (n,) median time of a solve; infinite where the tolerance was not reached.
        certificate: (n,) relative residual of the NCP at the answer, whatever model it solves.
        iterations: (n,) 0 where the start was solved already.
    """

    microseconds: NDArray[np.float64]
    certificate: NDArray[np.float64]
    iterations: NDArray[np.int64]

    @property
    def reached(self) -> float:
        """Share of the problems."""
        return float(np.isfinite(self.microseconds).mean())

    @property
    def median(self) -> float:
        """[µs]; infinite if half the problems were not solved."""
        return float(np.median(self.microseconds))


def run(effort: Effort, tick: Tick) -> Experiment:
    """Every solver on problems along the trajectories of three robots."""
    experiment = Experiment(
        "fig16_time_to_accuracy", "Figure 16: time to accuracy on robots", SETUP
    )
    tolerances = TOLERANCES if effort.share >= 1.0 else (SHOWN,)
    times: dict[Key, Timed] = {}
    missing = []
    robots = robot_problems.TRAJECTORIES
    for k, (robot, trajectory) in enumerate(robots.items()):
        tick(robot, k / len(robots))
        try:
            recorded = robot_problems.record(trajectory, effort.count(PROBLEMS, least=5), effort)
        except StudyError as error:
            missing.append(f"{robot} was left out: {error}")
            continue
        for name in NAMES:
            for start in STARTS:
                for tolerance in tolerances:
                    timed = _time(name, recorded, start == "warm", tolerance)
                    times[robot, name, start, tolerance] = timed
                    experiment.add_rows(
                        robot=robot,
                        solver=name,
                        start=start,
                        tolerance=tolerance,
                        problem=np.arange(len(recorded)),
                        rows=[r.problem.num_rows for r in recorded],
                        microseconds=timed.microseconds,
                        ncp_relative_residual=timed.certificate,
                        iterations=timed.iterations,
                    )
    shown = [robot for robot in robots if any(key[0] == robot for key in times)]
    for robot in shown:
        experiment.tables.append(_table(robot, times))
    experiment.explanation = " ".join([EXPLANATION, *missing])
    experiment.claims += _claims(shown, times)
    experiment.figures.append((CAPTION_SHOWN, dots({r: _medians(r, times) for r in shown})))
    for start in STARTS:
        experiment.figures.append((CAPTION.format(start), _figure(shown, times, start, tolerances)))
    return experiment


SETUP = (
    "Solo-12 and Talos stand under their servos and are pushed at the base by 12 N and 75 N times "
    "(sin 2t, sin(2t + 1), sin(2t + 2)); a ball falls into the Allegro hand while it closes. Time "
    "step 1 ms; the trajectories are those of ncp-newton at 1e-10, and every solver solves the "
    "same problems, spread evenly over them: all joints are articulated, and the dry friction of "
    "Talos' joints is part of its problems. Times are of the C++ solve alone, the median of "
    f"2 to {REPEATS}. Warm starts are the impulses of the step before, by contact feature. The "
    "tolerance is on the relative residual of each solver's own model; the last column of the "
    "tables is the residual of the NCP at its answer."
)
EXPLANATION = (
    "The paper measures on problems whose robots are rigid bodies, in another unit of accuracy "
    "and on another machine, and prints a figure without numbers; its statements are compared, for "
    "its ADMM and each Gauss-Seidel solver. "
    "A time is infinite where the tolerance was not reached within 1000 iterations."
)
CAPTION_SHOWN = (
    f"Fig. 16 at a tolerance of {SHOWN:.0e}: median time of a solve, cold started (open) and warm "
    "(filled); percentages: problems solved, where it is not all of them."
)
CAPTION = "Fig. 16, {} start: median time of a solve against its tolerance"


def _time(name: str, recorded: list[Recorded], warm: bool, tolerance: float) -> Timed:
    runs = [
        time_solve(r.problem, name, tolerance, r.warm_start if warm else None) for r in recorded
    ]
    certificates = [solution.residuals.relative for _, solution in runs]
    iterations = np.array([solution.iterations for _, solution in runs])
    return Timed(np.array([time for time, _ in runs]), np.array(certificates), iterations)


def _table(robot: str, times: dict[Key, Timed]) -> Table:
    columns = ["solver", "cold [µs]", "reached", "warm [µs]", "reached", "NCP residual, warm"]
    table = Table(f"{robot}, tolerance {SHOWN:.0e}", columns)
    for name in NAMES:
        cells = [name]
        for start in STARTS:
            timed = times[robot, name, start, SHOWN]
            cells += [f"{timed.median:.2f}", f"{timed.reached:.0%}"]
        worst = float(np.median(times[robot, name, "warm", SHOWN].certificate))
        table.rows.append([*cells, f"{worst:.0e}"])
    table.note = "Medians over the problems."
    return table


Medians = dict[str, tuple[tuple[float, float], tuple[float, float]]]
"""Solver -> (median [µs], share solved), cold and warm."""


def _medians(robot: str, times: dict[Key, Timed]) -> Medians:
    def pair(name: str, start: str) -> tuple[float, float]:
        timed = times[robot, name, start, SHOWN]
        return timed.median, timed.reached

    return {name: (pair(name, "cold"), pair(name, "warm")) for name in NAMES}


def dots(robots: dict[str, Medians]) -> str:
    """A panel for every robot, a line for every solver, as SVG text."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(plots.WIDTH, 4.4), layout="constrained")
    for k, (robot, medians) in enumerate(robots.items()):
        axis = figure.add_subplot(1, len(robots), k + 1)
        for y, (name, pair) in enumerate(medians.items()):
            color = solvers.COLORS[name.removesuffix("-published")]
            axis.plot([p[0] for p in pair], [y, y], color=color, linewidth=1.0)
            for (time, reached), face in zip(pair, ("white", color), strict=True):
                axis.plot(time, y, "o", color=color, markerfacecolor=face, markersize=6)
                if reached < 1.0 and np.isfinite(time):
                    shift = (6, -3) if time == max(p[0] for p in pair) else (-4, 5)
                    axis.annotate(
                        f"{reached:.0%}",
                        (time, y),
                        shift,
                        textcoords="offset points",
                        fontsize=8,
                        annotation_clip=False,
                    )
        axis.set_yticks(range(len(medians)), list(medians) if k == 0 else [])
        axis.invert_yaxis()
        axis.margins(x=0.12)
        plots.finish_curves(axis, robot, "time of a solve [µs]", "", "x", None)
    return plots.svg_text(figure)


def _claims(robots: list[str], times: dict[Key, Timed]) -> list[Claim]:
    """Two statements a robot, each for every Gauss-Seidel solver."""
    claims = []
    for robot in robots:
        for name in GAUSS_SEIDEL:
            cold, warm = (
                (times[robot, ADMM, start, SHOWN], times[robot, name, start, SHOWN])
                for start in STARTS
            )
            statement = f"{robot}: cold started, ADMM is less efficient than Gauss-Seidel"
            claims.append(_dearer(f"{statement} ({name})", *cold))
            statement = f"{robot}: warm starts reduce that gap significantly"
            claims.append(_narrower(f"{statement} ({name})", cold, warm))
    return claims


def _dearer(statement: str, admm: Timed, sweeps: Timed) -> Claim:
    ratio = admm.median / sweeps.median
    return Claim(statement, f"{ratio:.1f} times its time", less(sweeps.median, admm.median))


def _narrower(statement: str, cold: tuple[Timed, Timed], warm: tuple[Timed, Timed]) -> Claim:
    if any(np.median(timed.iterations) == 0.0 for timed in warm):
        return Claim(statement, "undecided: the start already solves half of them", None)
    gap = [admm.median / sweeps.median for admm, sweeps in (cold, warm)]
    return Claim(statement, f"from {gap[0]:.1f} to {gap[1]:.1f} times", less(gap[1], gap[0]))


def _figure(
    robots: list[str], times: dict[Key, Timed], start: str, tolerances: tuple[float, ...]
) -> str:
    panels = []
    for robot in robots:
        panel = Panel(f"{robot}, {start}", "tolerance", "time [µs]", log="xy", floor=1e-2)
        for name in solvers.NAMES:
            medians = np.array([times[robot, name, start, t].median for t in tolerances])
            solved = np.isfinite(medians)
            panel.curves[name] = np.array(tolerances)[solved], medians[solved]
        panels.append(panel)
    return draw(panels, marker="o")
