"""Table I: poses in which two rough shapes touch at wanted points, by each kind of derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
from stiction.pages.experiment import Claim, Effort, Experiment, Table, Tick

from . import paper
from .rough_shapes import APART, Array, corner, random_pose, rough_ellipsoid
from .search import SEARCHES, Problem, descend

PAIRS, TARGETS = 100, 100
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
halving in the others: in the second without the directions whose singular value is below a tenth of
the largest. The paper names a search along the step, without its details. Samples are drawn anew in
every iteration."""
EXPLANATION = """Differences and exact derivatives of a hull say that its witness point stays
where it is: they end at the first pair of corners that no rotation seems to leave. The smoothed
ones see the neighbours. They know little of the spin about the normal: the whole step turns by
many radians along it, and halving until the cost falls stops the rest of the step too. Their
spread here is an angle and a height along the unit normal; the paper's ε multiplies the separation
vector, so it grows as the shapes meet."""


def run(effort: Effort, tick: Tick) -> Experiment:
    """Quantiles of the final cost, each method on the same problems."""
    pairs, targets = effort.count(PAIRS, 5), effort.count(TARGETS, 5)
    experiment = Experiment(
        "table1_contact_points",
        "Table I: a wanted pair of contact points",
        SETUP.format(pairs=pairs, targets=targets),
        EXPLANATION,
    )
    for i, search in enumerate(SEARCHES):
        costs: dict[str, Array] = {}
        for k, (name, how) in enumerate(METHODS.items()):
            tick(name, (k / len(METHODS) + i) / len(SEARCHES))
            costs[name] = _final_costs(effort, pairs, targets, how, search)
            experiment.add_rows(search=search, method=name, cost=costs[name])
        _show(experiment, costs, search)
    return experiment


def _final_costs(
    effort: Effort, pairs: int, targets: int, how: dict[str, Any], search: str
) -> Array:
    generator = effort.generator(1)
    costs = []
    for _ in range(pairs):
        a, b = rough_ellipsoid(generator), rough_ellipsoid(generator)
        for _ in range(targets):
            problem = Problem(a.shape, b.shape, corner(a, generator), corner(b, generator))
            costs.append(descend(problem, random_pose(APART, generator), how, search)[-1])
    return np.array(costs)


def _show(experiment: Experiment, costs: dict[str, Array], search: str) -> None:
    title = SEARCHES[search]
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
