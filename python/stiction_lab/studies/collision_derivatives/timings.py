"""Table II: what a derivative costs."""

from __future__ import annotations

from typing import Any

import numpy as np
import stiction
from stiction.pages.experiment import Claim, Effort, Experiment, Table, Tick, mean_std

from ..objects import YCB, ycb_hull
from . import paper
from .rough_shapes import fine_hull, random_pose

PAIRS, VERTICES, GAP = 200, 240, 5e-3
METHODS: dict[str, dict[str, Any]] = {
    "exact": {"method": "exact"},
    "finite differences": {"method": "finite-differences"},
    **{f"gaussian-0, M = {m}": {"method": "gaussian-0", "samples": m} for m in (10, 20, 50, 100)},
    **{f"gaussian-1, M = {m}": {"method": "gaussian-1", "samples": m} for m in (10, 20, 50, 100)},
    **{f"gumbel, level {n}": {"method": "gumbel", "level": n} for n in (1, 3, 5)},
}
SETUP = """{pairs} random pairs of hulls of {vertices} points on ellipsoids of 0.2 … 0.3 m, moved
along their normal to 5 mm of overlap and 5 mm of gap. Time of the derivatives of distance, normal
and both witness points (7 × 6 numbers and more) after the query, in C++, one call after the other
on the same pair: CPU time of the best of five rounds. The second table is of as many random pairs
of six hulls of YCB objects; the paper times hulls of YCB objects."""


def run(effort: Effort, tick: Tick) -> Experiment:
    """Times of every method, overlapping and apart, on ellipsoids and household objects."""
    pairs, repeats = effort.count(PAIRS, 10), max(4, effort.count(50, 4))
    generator = effort.generator(2)
    objects = [ycb_hull(name) for name in YCB]
    sets = {
        "hulls of ellipsoids": [
            (fine_hull(VERTICES, generator), fine_hull(VERTICES, generator)) for _ in range(pairs)
        ],
        "YCB hulls": [
            (objects[i], objects[j]) for i, j in generator.integers(0, len(YCB), (pairs, 2))
        ],
    }
    experiment = Experiment(
        "table2_timings",
        "Table II: times",
        SETUP.format(pairs=pairs, vertices=VERTICES),
    )
    for k, (kind, shapes) in enumerate(sets.items()):
        tick(kind, k / len(sets))
        _time(experiment, kind, shapes, repeats, generator)
    return experiment


def _time(
    experiment: Experiment,
    kind: str,
    shapes: list[tuple[stiction.Shape, stiction.Shape]],
    repeats: int,
    generator: np.random.Generator,
) -> None:
    """A table of one set of pairs."""
    poses = {gap: [_posed(a, b, gap, generator) for a, b in shapes] for gap in (-GAP, GAP)}
    rows, means = [], {}
    for name, how in METHODS.items():
        cells = []
        for gap, X in poses.items():
            times = 1e6 * np.array([
                stiction.time_distance_derivatives(a, b, pose, repeats=repeats, **how)
                for (a, b), pose in zip(shapes, X, strict=True)
            ])  # fmt: skip
            experiment.add_rows(shapes=kind, method=name, gap=gap, microseconds=times)
            cells.append(mean_std(times, 2))
            means[name, gap] = float(times.mean())
        printed = paper.TABLE_2.get(name)
        rows.append([name, *cells, *(f"{x:g}" for x in printed or ("", ""))] if printed else
                    [name, *cells, "", ""])  # fmt: skip
    columns = ["method", "overlapping", "apart", "paper, overlapping", "paper, apart"]
    experiment.tables.append(Table(f"Time [µs], {kind}", columns, rows))
    experiment.claims.append(_claim(kind, means))


def _posed(
    a: stiction.Shape, b: stiction.Shape, gap: float, generator: np.random.Generator
) -> np.ndarray[Any, np.dtype[np.float64]]:
    X = random_pose(0.6, generator)
    for _ in range(3):
        found = stiction.distance(a, None, b, X)
        X[:3, 3] += (gap - found.distance) * found.normal
    return X


def _claim(kind: str, means: dict[tuple[str, float], float]) -> Claim:
    statement = f"first-order estimators are 10 to 70 times faster than finite differences ({kind})"
    ratios = [
        means["finite differences", gap] / means[name, gap]
        for gap in (-GAP, GAP)
        for name in ("gumbel, level 1", "gaussian-1, M = 10")
    ]
    text = ", ".join(f"{r:.1f}" for r in ratios) + " (gumbel, gaussian-1; overlapping, apart)"
    return Claim(statement, text, min(ratios) >= 10.0)
