"""On GJK++: momentum as printed and in the code (Table I, Fig. 12), sizes of shapes (Table III)."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from stiction import Box, Ellipsoid, Shape

from .. import funnel
from ..frank_wolfe import distances, iterations
from ..objects import table_one_hulls
from ..problems import NESTEROV, NESTEROV_N, SCHEDULES, VANILLA, moved_to, separated, solve
from ..vertex_counts import NEAR

POSES, PAIRS, SHAPES = 30, 100, 60
"""Poses of a pair of Table I, pairs that fall into the funnel, pairs of a size of Table III."""
MOST = 20_000
"""Iterations that a method may take at Table III; a median tells no more."""
ASPECTS = (1.0, 1.5, 2.0, 3.0, 5.0)
"""Longest over shortest half axis of an ellipsoid."""
HALF_SIDES = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Of cubes [m]."""


def schedules(share: float) -> dict[str, Any]:
    """Table I in iterations, means and deviations over GJK's, with both kinds of momentum."""
    hulls, generator = list(table_one_hulls().values()), np.random.default_rng(1)
    poses = max(4, round(POSES * share))
    ratios: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    for i, j in itertools.combinations_with_replacement(range(len(hulls)), 2):
        base = separated(hulls, np.array([[i, j]]), poses, generator)
        near = [moved_to(base, d) for d in NEAR]
        for mode in ("distance", "boolean"):
            of = {}
            for method in {VANILLA, *(m for s in SCHEDULES.values() for m in (s[0], s[2]))}:
                found = [solve(p, method, boolean=mode == "boolean") for p in near]
                of[method] = np.concatenate([f["iterations"] for f in found])
            for schedule, (polyak, _, nesterov) in SCHEDULES.items():
                for name, method in (("Polyak", polyak), ("Nesterov", nesterov)):
                    mean = of[method].mean() / of[VANILLA].mean()
                    spread = of[method].std() / of[VANILLA].std()
                    ratios.setdefault((schedule, mode, name), []).append((mean, spread))
    rows = []
    for schedule, mode in itertools.product(SCHEDULES, ("distance", "boolean")):
        row: dict[str, Any] = {"case": f"{mode}, {schedule}"}
        for name in ("Polyak", "Nesterov"):
            mean, spread = np.mean(ratios[schedule, mode, name], axis=0)
            row |= {f"{name}, mean": float(mean), f"{name}, spread": float(spread)}
        rows.append(row)
    return {"cases": rows}


def warm_starts(share: float) -> dict[str, Any]:
    """Fig. 12 in iterations: Nesterov from the box centres with both kinds of momentum, apart and
    overlapping, against vanilla GJK with its best start."""
    moving = funnel.simulate(max(6, round(PAIRS * share)), np.random.default_rng(12))
    problems, starts = funnel.queries(moving)
    rows = []
    for name, chosen in (
        ("apart", problems.distance > 0.0),
        ("overlapping", problems.distance < 0.0),
    ):
        part = problems[chosen]

        def mean(method: str, start: str) -> float:
            rows_of = starts[start][chosen]  # noqa: B023
            return float(solve(part, method, boolean=True, start=rows_of)["iterations"].mean())  # noqa: B023

        row: dict[str, Any] = {"case": name, "queries": len(part)}
        row["GJK, best start"] = min(mean(VANILLA, start) for start in funnel.STARTS)
        for schedule, (_, _, nesterov) in SCHEDULES.items():
            row[f"Nesterov, {schedule}"] = mean(nesterov, "box centres")
        rows.append(row)
    return {"cases": rows}


def sizes(share: float) -> dict[str, Any]:
    """Table III over the shapes that the paper does not give: medians of iterations by the aspect
    of ellipsoids and the size of cubes."""
    count, generator = max(10, round(SHAPES * share)), np.random.default_rng(3)
    kinds: list[tuple[str, str, list[Shape]]] = []
    for aspect in ASPECTS:
        axes = 0.1 * aspect ** generator.uniform(-0.5, 0.5, (2 * count, 3))
        kinds.append(("ellipsoids", f"aspect {aspect:g}", [Ellipsoid(a) for a in axes]))
    for half in HALF_SIDES:
        kinds.append(("cubes", f"half side {half:g} m", [Box(np.full(3, half))] * (2 * count)))
    rows = []
    for kind, size, shapes in kinds:
        pairs = np.arange(2 * count).reshape(-1, 2)
        base = separated(shapes, pairs, 1, generator)
        for category in ("overlapping", "close", "distant"):
            part = moved_to(base, distances(category, count, generator))
            if category == "overlapping":
                part = part[part.distance < 0.0]
            row: dict[str, Any] = {"case": f"{kind}, {size}, {category}", "pairs": len(part)}
            methods = (
                "frank-wolfe",
                "nesmino",
                VANILLA,
                NESTEROV if kind[0] == "e" else NESTEROV_N,
            )
            for label, method in zip(("FW", "NESMINO", "GJK", "Nesterov"), methods, strict=True):
                found = iterations(part, method, MOST)
                row[label] = float(np.median(found)) if len(part) else None
            rows.append(row)
    return {"cases": rows}
