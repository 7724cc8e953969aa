"""Wanted contact points on hulls of scanned household objects, iteration by iteration."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from stiction.pages.experiment import Effort, Experiment, Table, Tick
from stiction.pages.plots import svg_text

from ..differentiable.drawing import COLORS, finish, panel
from ..objects import YCB, ycb_hull
from . import paper
from .rough_shapes import Array, random_pose
from .search import ITERATIONS, SEARCHES, Problem, descend

TARGETS, APART = 20, 0.6
METHODS: dict[str, dict[str, Any]] = {
    "finite differences, 1e-6": {"method": "finite-differences", "step": 1e-6},
    "gaussian-0, M = 50": {
        "method": "gaussian-0", "samples": 50, "spread_linear": 0.03, "spread_angular": 0.3,
    },
    "gaussian-1, M = 20": {"method": "gaussian-1", "samples": 20, "spread_direction": 0.3},
    "gumbel, level 1": {"method": "gumbel"},
    "gumbel, level 3": {"method": "gumbel", "level": 3},
    "gumbel, level 3, 1 mm": {"method": "gumbel", "level": 3, "temperature": 1e-3},
    "gumbel, level 3, 1 cm": {"method": "gumbel", "level": 3, "temperature": 1e-2},
}  # fmt: skip
SHOWN = ("finite differences, 1e-6", *list(METHODS)[1:4], *list(METHODS)[5:])
SETUP = """All {pairs} pairs of the hulls of six YCB objects (an object with itself too), {targets}
problems each as before: the wanted points are the support points of random directions, the search
starts 0.6 m away and is damped in the first table; it halves in the second, the directions below a
tenth of the largest singular value left out. The paper shows one such problem (Figs. 5 and 6), no
table."""
EXPLANATION = """A fixed temperature of 1 mm or 1 cm is the paper's Fig. 6; without one, it follows
from the edges about the point."""


def run(effort: Effort, tick: Tick) -> Experiment:
    """Quantiles of the final cost, and the median of every iteration."""
    pairs = list(itertools.combinations_with_replacement(YCB, 2))
    targets = effort.count(TARGETS, 1)
    experiment = Experiment(
        "ycb_contact_points",
        "Figures 5 and 6: household objects",
        SETUP.format(pairs=len(pairs), targets=targets),
        EXPLANATION,
    )
    for search in ("damped", "truncated"):
        costs = {}
        for k, (name, how) in enumerate(METHODS.items()):
            tick(f"{name}, {search}", k / len(METHODS))
            costs[name] = _costs(effort, pairs, targets, how, search)
            experiment.add_rows(search=search, method=name, cost=costs[name][:, -1])
        levels = list(paper.QUANTILES.values())
        rows = [
            [name, *(f"{x:.0e}" for x in np.quantile(found[:, -1], levels))]
            for name, found in costs.items()
        ]
        title = f"Final cost [m²], {SEARCHES[search]}"
        experiment.tables.append(Table(title, ["method", *paper.QUANTILES], rows))
        experiment.figures.append((f"Third quartile of the cost, {search}", _figure(costs)))
    return experiment


def _costs(
    effort: Effort, pairs: list[tuple[str, str]], targets: int, how: dict[str, Any], search: str
) -> Array:
    generator = effort.generator(3)
    hulls = {name: ycb_hull(name) for name in YCB}
    vertices = {name: np.array(hull.vertices) for name, hull in hulls.items()}
    found = []
    for pair in pairs:
        for _ in range(targets):
            first, second = (
                v[np.argmax(v @ generator.normal(size=3))] for v in (vertices[k] for k in pair)
            )
            problem = Problem(hulls[pair[0]], hulls[pair[1]], first, second)
            found.append(descend(problem, random_pose(APART, generator), how, search))
    return np.array(found)


def _figure(costs: dict[str, Array]) -> str:
    figure, axis = panel(3.6)
    for color, name in zip(COLORS, SHOWN, strict=True):
        third = np.quantile(costs[name], 0.75, axis=0)
        axis.plot(range(ITERATIONS + 1), np.maximum(third, 1e-32), color=color, label=name)
    axis.set_yscale("log")
    axis.set_xlabel("iteration")
    axis.set_ylabel("cost [m²]")
    finish(figure, axis, 2)
    return svg_text(figure)
