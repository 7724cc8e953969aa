"""On Gauss-Seidel of the comparison of contact models: its printed steps, and when it stops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stiction import _stiction
from stiction._stiction import ContactProblem
from stiction.simulator import Simulator
from stiction.solving import solve

from ..contact_models import consistency, cubes
from ..contact_models.tolerances import REFERENCE, TOLERANCES
from .contact import SLIDERS, random_problem

Floats = NDArray[np.float64]
SWEEPS, MOVES = 2000, 1e-2
"""Of the printed algorithms on a problem of two contacts; share by which it has not settled."""


def printed_steps(share: float) -> dict[str, Any]:
    """Algorithms 1 and 2 of the paper with the steps that it prints, on the random problems of
    `cycling_sweeps` that lcp-lemke and ccp-admm solve: those on which impulses still move by more
    than 1 % a sweep in the end; and those that lcp-pgs and ccp-pgs, whose steps are smaller, do not
    solve to 1e-6 in fifty times as many sweeps."""
    rows = []
    for name, project, size, peer, own in (
        ("Algorithm 1, LCP", _onto_box, _least_tangential, "lcp-lemke", "lcp-pgs"),
        ("Algorithm 2, CCP", _onto_cone, _mean_of_block, "ccp-admm", "ccp-pgs"),
    ):
        left, ours, solvable = 0, 0, 0
        sweeps = max(200, round(SWEEPS * share))
        for k in range(max(20, round(SLIDERS * share))):
            problem = random_problem(k)
            if not solve(problem, peer, tolerance=1e-8, max_iterations=10_000).converged:
                continue
            solvable += 1
            left += not _swept(problem, project, size, sweeps) <= MOVES
            found = solve(problem, own, tolerance=1e-9, max_iterations=50 * sweeps)
            ours += not found.model_residuals.relative <= 1e-6
        rows.append({"algorithm": name, "solvable": solvable, "unsettled": left, "ours": ours})
    return {"algorithms": rows}


Project = Callable[[Floats, float], Floats]


def _swept(
    problem: ContactProblem, project: Project, size: Callable[[Floats], Floats], sweeps: int
) -> float:
    """By how much another sweep would still move the impulses, over the largest of them."""
    G, g = problem.dense(), np.asarray(problem.g)
    mu = [s.mu for s in problem.sets]
    blocks = [slice(3 * i, 3 * i + 3) for i in range(len(mu))]
    steps = [1.0 / size(G[b, b]) for b in blocks]
    impulse, before = np.zeros(len(g)), np.zeros(len(g))
    for _ in range(sweeps):
        before = impulse.copy()
        for b, step, f in zip(blocks, steps, mu, strict=True):
            if project is _onto_box:  # the normal impulse first, friction with the new one
                row = b.start + 2
                impulse[row] = max(0.0, impulse[row] - step[2] * (G[row] @ impulse + g[row]))
            moved = impulse[b] - step * (G[b] @ impulse + g[b])
            if project is _onto_box:
                moved[2] = impulse[b.start + 2]
            impulse[b] = project(moved, f)
        if not np.abs(impulse).max() < 1e12:
            return float("inf")
    return float(np.abs(impulse - before).max() / np.abs([impulse, before]).max())


def _least_tangential(block: Floats) -> Floats:
    least = min(block[0, 0], block[1, 1])
    return np.array([least, least, block[2, 2]])


def _mean_of_block(block: Floats) -> Floats:
    return np.full(3, np.trace(block) / 3.0)


def _onto_box(x: Floats, mu: float) -> Floats:
    most = mu * max(x[2], 0.0)
    return np.array([*np.clip(x[:2], -most, most), max(x[2], 0.0)])


def _onto_cone(x: Floats, mu: float) -> Floats:
    """The nearest point of the cone |x_T| <= mu x_N."""
    length = float(np.linalg.norm(x[:2]))
    if length <= mu * x[2]:
        return x
    if mu * length <= -x[2]:
        return np.zeros(3)
    normal = (mu * length + x[2]) / (1.0 + mu * mu)
    return np.array([*(mu * normal * x[:2] / length), normal])


# --- when a loose tolerance stops a sweep ---------------------------------------------------------

MOST, NEVER = 1000, 1e-300
"""Sweeps of a step at most; a tolerance that is not met."""


def loose_sweeps(share: float) -> dict[str, Any]:
    """The slide of Table IV at 1e-2, cold started, with other tests after every sweep.

    Of ccp-pgs and ncp-pgs: their own test; the relative residual after every sweep; an absolute
    one, of the largest of N s, m/s and J, and in forces and accelerations as the authors' code has
    it; and its second test, the relative change of the forces.
    """
    tests: dict[str, Test] = {
        "relative residual": lambda r, now, before: r.relative,
        "absolute residual, N s": lambda r, now, before: _largest(r, 1.0),
        "absolute residual, N": lambda r, now, before: _largest(r, 1.0 / cubes.DT),
        "change": lambda r, now, before: float(
            np.linalg.norm(now - before) / max(float(np.linalg.norm(before)), 1e-300)
        ),
    }
    duration = consistency.DURATION if share >= 1.0 else 0.05
    rows = []
    for name in ("ccp-pgs", "ncp-pgs"):
        truth = consistency.slide(name, cubes.DT, REFERENCE, warm=False).position
        own = consistency.slide(name, cubes.DT, TOLERANCES[-1], warm=False).position
        found = {"its own test": own} | {
            test: _slide(name, measure, duration) for test, measure in tests.items()
        }
        row: dict[str, Any] = {"solver": name}
        for test, position in found.items():
            count = min(len(position), round(duration / cubes.DT) + 1)
            apart = np.linalg.norm(position[:count] - truth[:count], axis=1)
            row[test] = float(np.trapezoid(apart, dx=cubes.DT))
        rows.append(row)
    return {"solvers": rows}


Test = Callable[[_stiction.Residuals, Floats, Floats], float]


def _largest(r: _stiction.Residuals, scale: float) -> float:
    """Complementarity is a product of two, each in these units."""
    return max(scale * r.primal, scale * r.dual, scale * scale * r.complementarity)


def _slide(name: str, test: Test, duration: float) -> Floats:
    """Positions (T + 1, 3) with as many sweeps in each step as the test asks for."""
    scene = cubes.cube(consistency.FRICTION, corner_spheres=True)
    simulators: dict[int, Simulator] = {}

    def sweeping(count: int) -> Simulator:
        settings: dict[str, Any] = {"solver": name, "dt": cubes.DT, "tolerance": NEVER}
        if count not in simulators:
            simulators[count] = Simulator(scene, max_iterations=count, **settings)
        return simulators[count]

    state = cubes.sliding(sweeping(1), consistency.SPEED)
    rows = [np.asarray(state.q)[:3].copy()]
    for _ in range(round(duration / cubes.DT)):
        state = _stiction.make_state(scene, state.q, state.v)
        before = np.zeros(0)
        for count in range(1, MOST):
            after, simulator = state.copy(), sweeping(count)
            simulator.step(after)
            now = np.asarray(simulator.solution().impulse)
            before = np.zeros(len(now)) if len(before) != len(now) else before
            if test(simulator.solution().model_residuals, now, before) <= TOLERANCES[-1]:
                break
            before = now.copy()
        state = after
        rows.append(np.asarray(state.q)[:3].copy())
    return np.array(rows)
