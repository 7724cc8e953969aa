"""Table I: poses in which two rough shapes touch at wanted points, by each kind of derivative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import stiction
from stiction.pages.experiment import Claim, Effort, Experiment, Table, Tick

from . import paper
from .rough_shapes import APART, Array, corner, random_pose, rotation, rough_ellipsoid, skew

PAIRS, TARGETS, ITERATIONS = 100, 100, 50
METHODS: dict[str, dict[str, Any]] = {
    "finite differences, 1e-6": {"method": "finite-differences", "step": 1e-6},
    "finite differences, 1e-3": {"method": "finite-differences", "step": 1e-3},
    "gaussian-0, M = 50": {
        "method": "gaussian-0", "samples": 50, "spread_linear": 0.3, "spread_angular": 0.3,
    },
    "gaussian-1, M = 20": {"method": "gaussian-1", "samples": 20, "spread_direction": 0.3},
    "gumbel, level 1": {"method": "gumbel"},
    "exact": {"method": "exact"},
}  # fmt: skip
SETUP = """{pairs} pairs of hulls of twelve points (icosahedra stretched to half axes of 0.5 … 1.5
m), {targets} problems each: find the pose of B in which the witness points are one wanted point of
A and one of B, and touch. The cost is the paper's (30), with the wanted points fixed to their
shapes; 50 iterations from a random pose 3.5 m away. Wanted points are corners, the support points
of random directions: two hulls cannot touch in the middle of a face of each at one pose alone.
Where the paper says random points of the surface, its final costs of 1e-33 say the same.
Gauss–Newton is damped (Levenberg–Marquardt) in the first table and searches along its step by
halving in the second; the paper names the latter, without its details."""
EXPLANATION = """Differences and exact derivatives of a hull say that its witness point stays
where it is: they end at the first pair of corners that no rotation seems to leave. The smoothed
ones see the neighbours. Their spread here is an angle and a height along the unit normal; the
paper's ε multiplies the separation vector, so it grows as the shapes meet."""


@dataclass
class Problem:
    """The shapes, and the wanted points in their frames."""

    a: stiction.Shape
    b: stiction.Shape
    wanted_a: Array
    wanted_b: Array

    def residual(self, X: Array) -> tuple[stiction.DistanceResult, Array]:
        """(9,): witness points less the wanted ones, and one less the other."""
        found = stiction.distance(self.a, None, self.b, X)
        a, b = found.witness_a, found.witness_b
        wanted = X[:3, :3] @ self.wanted_b + X[:3, 3]
        return found, np.concatenate([a - self.wanted_a, b - wanted, a - b])

    def jacobian(self, X: Array, at: stiction.DistanceResult, how: dict[str, Any]) -> Array:
        """(9, 6) by the twist of B."""
        d = stiction.distance_derivatives(self.a, None, self.b, X, at=at, **how)
        rigid = np.hstack([np.eye(3), -skew(X[:3, :3] @ self.wanted_b)])
        return np.vstack([d.witness_a, d.witness_b - rigid, d.witness_a - d.witness_b])


def moved(X: Array, twist: Array) -> Array:
    """B displaced; its axes made orthonormal."""
    u, _, v = np.linalg.svd(rotation(twist[3:]) @ X[:3, :3])
    out = np.eye(4)
    out[:3, :3] = u @ v
    out[:3, 3] = X[:3, 3] + twist[:3]
    return out


def descend(problem: Problem, X: Array, how: dict[str, Any], damped: bool) -> float:
    """The final cost."""
    found, r = problem.residual(X)
    damping = 1e-3
    for _ in range(ITERATIONS):
        J = problem.jacobian(X, found, how)
        share = 1.0
        step: Array = -np.asarray(np.linalg.lstsq(J, r, rcond=1e-10)[0], float)
        for _ in range(12 if damped else 30):
            if damped:
                step = -np.asarray(np.linalg.solve(J.T @ J + damping * np.eye(6), J.T @ r), float)
            Y = moved(X, np.asarray(share * step))
            found_there, r_there = problem.residual(Y)
            if r_there @ r_there < r @ r:
                break
            damping, share = (4.0 * damping, 1.0) if damped else (damping, 0.5 * share)
        else:
            break
        damping = max(0.1 * damping, 1e-12)
        X, found, r = Y, found_there, r_there
        if r @ r < 1e-31:
            break
    return float(0.5 * r @ r)


def run(effort: Effort, tick: Tick) -> Experiment:
    """Quantiles of the final cost, each method on the same problems."""
    pairs, targets = effort.count(PAIRS, 5), effort.count(TARGETS, 5)
    experiment = Experiment(
        "table1_contact_points",
        "Table I: a wanted pair of contact points",
        SETUP.format(pairs=pairs, targets=targets),
        EXPLANATION,
    )
    for damped in (True, False):
        costs: dict[str, Array] = {}
        for k, (name, how) in enumerate(METHODS.items()):
            tick(name, (k / len(METHODS) + (not damped)) / 2)
            costs[name] = _final_costs(effort, pairs, targets, how, damped)
            search = "damped" if damped else "halving"
            experiment.add_rows(search=search, method=name, cost=costs[name])
        _show(experiment, costs, damped)
    return experiment


def _final_costs(
    effort: Effort, pairs: int, targets: int, how: dict[str, Any], damped: bool
) -> Array:
    generator = effort.generator(1)
    costs = []
    for _ in range(pairs):
        a, b = rough_ellipsoid(generator), rough_ellipsoid(generator)
        for _ in range(targets):
            problem = Problem(a.shape, b.shape, corner(a, generator), corner(b, generator))
            costs.append(descend(problem, random_pose(APART, generator), how, damped))
    return np.array(costs)


def _show(experiment: Experiment, costs: dict[str, Array], damped: bool) -> None:
    title = "damped" if damped else "halving along the step"
    rows = []
    for name, found in costs.items():
        ours = np.quantile(found, list(paper.QUANTILES.values()))
        rows.append([name, *(f"{x:.0e}" for x in ours)])
        if name in paper.TABLE_1:
            rows.append(["  paper", *(f"{x:.0e}" for x in paper.TABLE_1[name])])
    table = Table(f"Final cost [m²], {title}", ["method", *paper.QUANTILES], rows)
    experiment.tables.append(table)
    third = {name: float(np.quantile(found, 0.75)) for name, found in costs.items()}
    text = ", ".join(f"{name}: {x:.0e}" for name, x in third.items())
    smooth = max(third["gumbel, level 1"], third["gaussian-1, M = 20"])
    rough = min(third["finite differences, 1e-6"], third["finite differences, 1e-3"])
    statement = f"first-order estimators: Q3 a thousand times below finite differences ({title})"
    experiment.claims.append(Claim(statement, text, smooth <= 1e-3 * rough))
