"""What derivatives cost: beside our step, beside MuJoCo's differences, beside a cascade's."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import stiction
from stiction.pages.experiment import Claim, Effort, Experiment, StudyError, Table, Tick

from .cascade import Programs, programs
from .differences import Start
from .modes import solo

ROUNDS, REPEATS, STATES = 40, 200, 10
TOLERANCE = 1e-6
"""That the cascade is solved to; the deliverable names none."""
CASCADE: dict[str, Callable[[np.random.Generator], Start]] = {
    "Solo-12, four feet stick": lambda g: solo(g, -2e-5, 0.0),
    "Solo-12, some slide": lambda g: solo(g, -2e-5, 0.2),
    "Solo-12, four feet slide": lambda g: solo(g, -2e-5, 0.5),
}
SETUP = """First table: {rounds} rounds, ours and MuJoCo's in turn, of 50 and 4 calls; medians; ours
by the time stamp counter in C++, the peer's CPU time of the thread. Same scenes, each engine in the
state that it settled in. Ours is d(q⁺, v⁺)/d(q, v, torque), 3 nv columns; MuJoCo's
mjd_transitionFD has 2 nv columns by state and one for each servo (Newton's solver, elliptic cones,
implicitfast, step 1e-6). Second table: the first version of a differentiable simulator in the
deliverable D2.1 of the AGIMUS project differentiates a cascade of quadratic programs (staggered
projections). Its cost is not printed there; here is what its reverse pass does, in NumPy, beside
one system of the same equations, in NumPy too: {states} states each, interleaved, best of
{repeats} calls. The passes are those that ncp-staggered of this library needs from zero to a
residual of {tolerance:g}."""
EXPLANATION = """The reverse pass factors both programs as often as the forward pass solved them;
its error falls by the spectral radius of one pass. In the limit it is the derivative of this
library: `beside ours` is the difference of the limit to stiction.solution_derivatives. The
published successor of the cascade (arXiv 2409.07107) prints 5 µs for a manipulator of 7 dofs and 95
µs for a humanoid of 36, on another machine."""


def run(effort: Effort, tick: Tick) -> Experiment:
    """Both tables."""
    rounds, states = effort.count(ROUNDS, 1), effort.count(STATES, 1)
    experiment = Experiment(
        "cost",
        "Cost",
        SETUP.format(rounds=rounds, states=states, repeats=REPEATS, tolerance=TOLERANCE),
        EXPLANATION,
    )
    experiment.tables.append(_beside_mujoco(rounds, tick))
    _beside_the_cascade(experiment, effort, states, tick)
    return experiment


def _beside_mujoco(rounds: int, tick: Tick) -> Table:
    try:
        from ...bench.derivatives import bench_derivatives
    except ImportError as error:
        raise StudyError("times are taken beside MuJoCo: pip install mujoco") from error
    document = bench_derivatives(rounds=rounds, tick=lambda text: tick(text, 0.1))
    load = document["machine"]["load"]
    table = Table(
        "Times [µs] and their ratios (above 1: the first takes longer), load of the machine "
        f"{load}",
        ["scene", "columns", "our step", "our Jacobian", "Jacobian / step", "our vjp", "vjp / step",
         "MuJoCo's columns", "its step", "its forward differences",
         "forward differences / our Jacobian", "its centred differences",
         "centred differences / our Jacobian"],
    )  # fmt: skip
    for row in document["rows"]:
        numbers = [row[k] for k in (
            "step", "matrices", "matrices_over_step", "gradient", "gradient_over_step", "peer_step",
            "peer_forward", "peer_forward_over_matrices", "peer_centered",
            "peer_centered_over_matrices",
        )]  # fmt: skip
        cells = [f"{x:.3g}" for x in numbers]
        table.rows.append(
            [row["scene"], str(row["columns"]), *cells[:5], str(row["peer_columns"]), *cells[5:]]
        )
    return table


def _beside_the_cascade(experiment: Experiment, effort: Effort, states: int, tick: Tick) -> None:
    table = Table(
        "Reverse pass through staggered projections (NumPy)",
        ["problem", "passes", "spectral radius", "error after them", "cascade [µs]",
         "one system [µs]", "cascade / one system", "limit beside ours"],
        note="medians; error and difference: relative to the largest entry of dl/dg",
    )  # fmt: skip
    ratios = []
    for k, (name, make) in enumerate(CASCADE.items()):
        tick(name, 0.7 + 0.1 * k)
        generator = effort.generator(300 + k)
        rows = np.array([_measured(make(generator), generator) for _ in range(states)])
        for row in rows:
            experiment.add_rows(problem=name, **dict(zip(MEASURED, row, strict=True)))
        passes, radius, error, cascade, system, limit = np.median(rows, axis=0)
        ratios.append(float(np.median(rows[:, 3] / rows[:, 4])))
        table.rows.append([
            name, f"{passes:.0f}", f"{radius:.2f}", f"{error:.0e}", f"{cascade:.0f}",
            f"{system:.0f}", f"{ratios[-1]:.1f}", f"{limit:.0e}",
        ])  # fmt: skip
    experiment.tables.append(table)
    text = ", ".join(f"{ratio:.1f}" for ratio in ratios) + " times one system"
    statement = "relatively slow due to the cascade of QCQPs to differentiate"
    experiment.claims.append(Claim(statement, text, min(ratios) > 1.0))


MEASURED = ("passes", "radius", "error", "cascade_us", "system_us", "limit_error")


def _measured(start: Start, generator: np.random.Generator) -> tuple[float, ...]:
    sim, state, control = start
    sim.step(state, control)
    problem = sim.problem()
    solution = stiction.solve(problem, tolerance=1e-13)
    passes = stiction.solve(problem, "ncp-staggered", tolerance=TOLERANCE).iterations
    parts = programs(problem, solution)
    rows, n = np.r_[parts.N, parts.T], len(parts.N)
    # A cotangent of velocities: that of impulses would ask for what redundant contacts leave open.
    w = parts.G[np.ix_(rows, rows)] @ generator.normal(size=len(rows))
    limit, found = (np.concatenate(x) for x in (
        parts.at_once(w[:n], w[n:]), parts.reverse(w[:n], w[n:], passes)
    ))  # fmt: skip
    full = np.zeros(problem.num_rows)
    full[rows] = w
    ours = (full @ stiction.solution_derivatives(problem, solution).by_g)[rows]
    size = abs(limit).max()
    times = _interleaved(parts, w[:n], w[n:], passes)
    off = [abs(found - limit).max() / size, abs(ours - limit).max() / size]
    return (passes, parts.radius(), off[0], *times, off[1])


def _interleaved(parts: Programs, w_N: Any, w_T: Any, passes: int) -> tuple[float, float]:
    """Least thread time of each [µs]."""
    calls: list[Callable[[], object]] = [
        lambda: parts.reverse(w_N, w_T, passes),
        lambda: parts.at_once(w_N, w_T),
    ]
    best = [np.inf, np.inf]
    for _ in range(REPEATS):
        for k, call in enumerate(calls):
            begin = time.thread_time_ns()
            call()
            best[k] = min(best[k], 1e-3 * (time.thread_time_ns() - begin))
    return best[0], best[1]
