"""Solvers on the stored problem set: how many they solve, and how long they take to an accuracy.

The judge is `residuals()`, from the final impulses alone and the same for all. Warm means: the
perturbed problem, from the exact impulses of the unperturbed one, the same for all, and for ADMM
the last penalty of its own cold solve. A time to an accuracy is that of the loosest tolerance of
LADDER whose answer has it, because tolerances mean different things to different solvers; an engine
that gives up before has no time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stiction import _stiction
from stiction._stiction import Residuals

from . import machine
from .problem_set import StoredProblem, thinned
from .solver_engines import Answer, Engine, Start, engine

OURS, OWN_ADMM = "ncp-newton", "ncp-admm"
TIMED = (OURS, OWN_ADMM, "ncp-pgs", "pinocchio-admm", "pinocchio-admm-spectral", "pinocchio-pgs")
LADDER = tuple(10.0**-k for k in range(6, 15))
ACCURACY = 1e-10
"""Absolute: the largest of primal [N s], dual [m/s] and complementarity [J]; or relative."""
GOOD = 1e-8
"""Relative residual of a solved problem."""
ROUNDED = 1e-12
"""Backward residual of one that is solved as well as double allows."""

SHARE_GOALS = {"cold": (0.998, 0.997), "warm": (1.0, 0.0)}
"""Of ours: good, tight; all infeasible problems are to be recognised, none to converge falsely."""
TIME_GOALS = {
    ("solo", "cold"): 6.0,
    ("solo", "warm"): 2.5,
    ("talos", "cold"): 17.0,
    ("talos", "warm"): 5.0,
    ("stack20", "cold"): 15e3,
    ("stack20", "warm"): 3e3,
}
"""Of our median [us], absolute accuracy."""
RATIO_GOALS = {OWN_ADMM: 0.1, "pinocchio-admm": 0.2, "pinocchio-admm-spectral": 0.2}
"""Of our warm median over another engine's, on the problems that both solve."""


@dataclass(frozen=True)
class Share:
    """What one engine solved.

    Attributes:
        engine, start: whose, "cold" or "warm".
        problems: with a solution.
        good: share with a relative residual of at most GOOD, asked for GOOD.
        own: the same of the residual of the engine's own contact model.
        tight: share that ends `converged` or `rounding_limited` by the judge, asked for 1e-10:
            relative residual at most 1e-10, or backward residual at most ROUNDED.
        false_converged: names of those called converged above their tolerance, in the solver's own
            model (ours) or the NCP (peers).
        infeasible: problems without solution that were called so; -1: it has no such status.
        factorisations, time_us: medians, asked for GOOD, whatever was reached.
        failed, failed_tight: names of the others.
    """

    engine: str
    start: str
    problems: int
    good: float
    own: float
    tight: float
    false_converged: list[str]
    infeasible: int
    infeasible_problems: int
    factorisations: float
    time_us: float
    failed: list[str]
    failed_tight: list[str]

    @property
    def met(self) -> bool | None:
        """None for engines without a goal."""
        if self.engine != OURS:
            return None
        good, tight = SHARE_GOALS[self.start]
        recognised = self.infeasible == self.infeasible_problems
        return self.good >= good and self.tight >= tight and recognised and not self.false_converged


@dataclass(frozen=True)
class Timing:
    """Time of one engine to one accuracy on one group of problems.

    Attributes:
        engine, group, start: whose, class of problems, "cold" or "warm".
        accuracy: "absolute" or "relative", ACCURACY.
        problems, reached: how many, and how many of them got there.
        median_us, p90_us: over all problems, one that was not solved counts as endless.
        ratio: our median over this engine's on the `common` problems that both solved.
    """

    engine: str
    group: str
    start: str
    accuracy: str
    problems: int
    reached: int
    median_us: float
    p90_us: float
    ratio: float | None = None
    common: int = 0
    goal_us: float | None = None
    goal_ratio: float | None = None

    @property
    def met(self) -> bool | None:
        """None without a goal."""
        if self.goal_us is not None:
            return self.median_us <= self.goal_us
        if self.goal_ratio is not None and self.ratio is not None:
            return self.ratio <= self.goal_ratio
        return None


def bench_solvers(
    problems: Sequence[StoredProblem],
    shares: Iterable[str] = (OURS,),
    timed: Iterable[str] = TIMED,
    max_iterations: int = 1000,
    timed_every: int = 1,
    effort_ms: float = 5.0,
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """The JSON document of `stiction bench solvers`.

    Args:
        problems: the set.
        shares: engines whose share of solved problems is counted.
        timed: engines that are timed.
        max_iterations: of every engine.
        timed_every: each so many-th problem of a group is timed.
        effort_ms: of one timing; its repetitions, 3 to 100, take about as long.
        say: told what is going on.
    """
    starts = reference_impulses(problems, say)
    counted = [
        share
        for label in shares
        for share in count_solved(engine(label, max_iterations), problems, starts, say)
    ]
    sample = thinned(problems, timed_every)
    taken = {
        label: time_engine(engine(label, max_iterations), sample, starts, effort_ms, say)
        for label in timed
    }
    rows = timing_rows(sample, taken)
    return {
        "machine": machine.describe(),
        "max_iterations": max_iterations,
        "timed_every": timed_every,
        "shares": [asdict(share) | {"met": share.met} for share in counted],
        "timings": [asdict(row) | {"met": row.met} for row in rows],
    }


def reference_impulses(
    problems: Sequence[StoredProblem], say: Callable[[str], None] = lambda line: None
) -> dict[str, NDArray[np.float64]]:
    """Impulses [N s] for the unperturbed problems, from which the warm solves of all start."""
    solver, out = engine(OURS, 3000), {}
    for k, stored in enumerate(problems):
        say(f"reference {k + 1} of {len(problems)}")
        out[stored.name] = solver.solve(stored, Start(False), 1e-12).impulse
    return out


def judge(stored: StoredProblem, warm: bool, answer: Answer) -> Residuals:
    """The certificate of an answer; infinite where it is not finite."""
    return _stiction.residuals(stored.problem(warm), answer.impulse)


def absolute(residuals: Residuals) -> float:
    """Largest of primal [N s], dual [m/s], complementarity [J]."""
    return max(residuals.primal, residuals.dual, residuals.complementarity)


# --- how many -----------------------------------------------------------------------------------


def count_solved(
    solver: Engine,
    problems: Sequence[StoredProblem],
    starts: dict[str, NDArray[np.float64]],
    say: Callable[[str], None] = lambda line: None,
) -> list[Share]:
    """Cold and warm."""
    return [_count(solver, problems, starts, warm, say) for warm in (False, True)]


def _count(
    solver: Engine,
    problems: Sequence[StoredProblem],
    starts: dict[str, NDArray[np.float64]],
    warm: bool,
    say: Callable[[str], None],
) -> Share:
    name = "warm" if warm else "cold"
    failed, failed_tight, lies, factorisations, times = [], [], [], [], []
    infeasible = own_solved = 0
    for k, stored in enumerate(problems):
        say(f"{solver.label}, {name}, {k + 1} of {len(problems)}")
        start = Start(warm, starts[stored.name] if warm else None)
        loose, tight = (solver.solve(stored, start, t) for t in (GOOD, ACCURACY))
        if not stored.feasible:
            infeasible += loose.status == "infeasible"
            continue
        factorisations.append(loose.factorisations)
        times.append(float(solver.time(stored, start, GOOD, 1)[0]))
        certificate = judge(stored, warm, loose)
        if not certificate.relative <= GOOD:
            failed.append(stored.name)
        own = certificate.relative if loose.own is None else loose.own
        own_solved += own <= GOOD
        if loose.status == "converged" and not own <= GOOD:
            lies.append(stored.name)
        certificate = judge(stored, warm, tight)
        if not (certificate.relative <= ACCURACY or certificate.backward <= ROUNDED):
            failed_tight.append(stored.name)
    feasible = sum(stored.feasible for stored in problems)
    return Share(
        engine=solver.label,
        start=name,
        problems=feasible,
        good=1.0 - len(failed) / max(1, feasible),
        own=own_solved / max(1, feasible),
        tight=1.0 - len(failed_tight) / max(1, feasible),
        false_converged=lies,
        infeasible=infeasible if solver.label == OURS else -1,
        infeasible_problems=len(problems) - feasible,
        factorisations=float(np.median(factorisations)) if factorisations else 0.0,
        time_us=float(np.median(times)) if times else 0.0,
        failed=failed,
        failed_tight=failed_tight,
    )


# --- how long -----------------------------------------------------------------------------------

_Key = tuple[str, str, str]
"""Name of the problem, start, accuracy."""


def time_engine(
    solver: Engine,
    problems: Sequence[StoredProblem],
    starts: dict[str, NDArray[np.float64]],
    effort_ms: float,
    say: Callable[[str], None] = lambda line: None,
) -> dict[_Key, float]:
    """Microseconds to the accuracy, infinite where it is not reached."""
    taken: dict[_Key, float] = {}
    for k, stored in enumerate(problems):
        if not stored.feasible:
            continue
        say(f"timing {solver.label}, {k + 1} of {len(problems)}")
        penalty = solver.solve(stored, Start(False), GOOD).penalty
        for start in (Start(False), Start(True, starts[stored.name], penalty)):
            name = "warm" if start.warm else "cold"
            for accuracy in ("absolute", "relative"):
                tolerance = _loosest(solver, stored, start, accuracy)
                time = inf
                if tolerance is not None:
                    first = float(solver.time(stored, start, tolerance, 1)[0])
                    repeats = int(np.clip(effort_ms * 1e3 / max(first, 1e-3), 3, 100))
                    time = float(np.median(solver.time(stored, start, tolerance, repeats)))
                taken[stored.name, name, accuracy] = time
    return taken


def _loosest(solver: Engine, stored: StoredProblem, start: Start, accuracy: str) -> float | None:
    """Tolerance of the ladder whose answer is accurate; None if the engine does not get there."""
    for tolerance in LADDER:
        answer = solver.solve(stored, start, tolerance)
        certificate = judge(stored, start.warm, answer)
        reached = absolute(certificate) if accuracy == "absolute" else certificate.relative
        if reached <= ACCURACY:
            return tolerance
        if answer.status != "converged":  # a tighter tolerance will not help
            return None
    return None


def timing_rows(
    problems: Sequence[StoredProblem], taken: dict[str, dict[_Key, float]]
) -> list[Timing]:
    """Group by group, engine by engine."""
    groups: dict[str, list[str]] = {}
    for stored in problems:
        if stored.feasible:
            for group in (*stored.groups, "all"):
                groups.setdefault(group, []).append(stored.name)
    return [
        _timing(taken, label, group, names, start, accuracy)
        for accuracy in ("absolute", "relative")
        for start in ("cold", "warm")
        for group, names in groups.items()
        for label in taken
    ]


def _timing(
    taken: dict[str, dict[_Key, float]],
    label: str,
    group: str,
    names: list[str],
    start: str,
    accuracy: str,
) -> Timing:
    times = np.array([taken[label][name, start, accuracy] for name in names])
    ratio, common = None, 0
    goal_us = goal_ratio = None
    if label == OURS:
        goal_us = TIME_GOALS.get((group, start)) if accuracy == "absolute" else None
    elif OURS in taken:
        ours = np.array([taken[OURS][name, start, accuracy] for name in names])
        both = np.isfinite(ours) & np.isfinite(times)
        common = int(both.sum())
        if common:
            ratio = float(np.median(ours[both]) / np.median(times[both]))
        goal_ratio = (
            RATIO_GOALS.get(label) if start == "warm" and group in ("solo", "talos") else None
        )
    return Timing(
        engine=label,
        group=group,
        start=start,
        accuracy=accuracy,
        problems=len(names),
        reached=int(np.isfinite(times).sum()),
        median_us=_quantile(times, 0.5),
        p90_us=_quantile(times, 0.9),
        ratio=ratio,
        common=common,
        goal_us=goal_us,
        goal_ratio=goal_ratio,
    )


def _quantile(times: NDArray[np.float64], share: float) -> float:
    """The least time within which that share of the problems is solved."""
    return float(np.quantile(times, share, method="inverted_cdf"))
