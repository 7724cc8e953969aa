"""Table I: times by the number of vertices, close by or shallowly intersecting."""

from __future__ import annotations

import itertools

import numpy as np
from stiction.pages.experiment import Claim, Effort, Experiment, Table, Tick, less, mean_std

from . import paper
from .objects import table_one_hulls
from .problems import (
    LABELS,
    NESTEROV_N,
    NESTEROV_NR,
    POLYAK,
    POLYAK_R,
    SCHEDULES,
    VANILLA,
    moved_to,
    separated,
    solve,
)

POSES, REPEATS = 1000, 20
NEAR = (-1e-2, -1e-3, -1e-4, 1e-4, 1e-3, 1e-2)
METHODS = (VANILLA, POLYAK, NESTEROV_N, POLYAK_R, NESTEROV_NR)
PRINTED = {VANILLA: 0, POLYAK: 1, NESTEROV_N: 2, POLYAK_R: 1, NESTEROV_NR: 2}
"""Column of the paper's table: it was made with the code."""
SETUP = """Rounded bricks (superquadrics with exponent 3, 10 × 16 × 22 cm) sampled at 240, 1811
and 3585 vertices, the paper's numbers; {poses} poses per pair at six distances |d| ≤ 1 cm; each
query solved {repeats} times in a row. “ours / paper” in each cell, mean ± deviation [µs]; the
paper's times are of its code, and stand beside both kinds of momentum."""
EXPLANATION = """In the published code the support function climbs from vertex to vertex and
clears a mark per vertex at each call, so its time grows with the number of vertices: 4 × from 240
to 3585. Ours looks candidates up in a table by direction; only iterations grow."""


def run(effort: Effort, tick: Tick) -> Experiment:
    """Time of distance and boolean queries for each pair of sizes."""
    poses, repeats = effort.count(POSES, 5), max(3, round(REPEATS * min(1.0, 10 * effort.share)))
    hulls, generator = table_one_hulls(), effort.generator(1)
    shapes, sizes = list(hulls.values()), list(hulls)
    experiment = Experiment(
        "table1_vertex_counts",
        "Table I: times by number of vertices",
        SETUP.format(poses=poses, repeats=repeats),
        EXPLANATION,
    )
    table = Table("Time [µs], ours / paper", ["vertices", "query", *(LABELS[m] for m in METHODS)])
    relative: dict[tuple[bool, str], list[tuple[float, float]]] = {}
    combinations = list(itertools.combinations_with_replacement(range(len(shapes)), 2))
    for k, (i, j) in enumerate(combinations):
        pair = (sizes[i], sizes[j])
        tick(f"{pair[0]} and {pair[1]} vertices", k / len(combinations))
        base = separated(shapes, np.array([[i, j]]), poses, generator)
        near = [moved_to(base, d) for d in NEAR]
        for boolean in (False, True):
            cells, vanilla = [], (0.0, 0.0)
            for method in METHODS:
                printed = paper.TABLE_1[pair][int(boolean)][PRINTED[method]]
                found = [solve(p, method, boolean=boolean, repeats=repeats) for p in near]
                us = 1e-3 * np.concatenate([f["nanoseconds"] for f in found])
                count = np.concatenate([f["iterations"] for f in found])
                cells.append(f"{mean_std(us, 2)} / {printed:.1f}")
                if method == VANILLA:
                    vanilla = (float(us.mean()), float(us.std()))
                ratios = (float(us.mean()) / vanilla[0], float(us.std()) / vanilla[1])
                relative.setdefault((boolean, method), []).append(ratios)
                experiment.add_rows(
                    vertices_a=pair[0],
                    vertices_b=pair[1],
                    mode="boolean" if boolean else "distance",
                    method=method,
                    mean_us=us.mean(),
                    deviation_us=us.std(),
                    mean_iterations=count.mean(),
                    paper_us=printed,
                )
            mode = "boolean" if boolean else "distance"
            table.rows.append([f"{pair[0]} – {pair[1]}", mode, *cells])
    experiment.tables.append(table)
    experiment.claims += _claims(relative)
    return experiment


def _claims(relative: dict[tuple[bool, str], list[tuple[float, float]]]) -> list[Claim]:
    """ "The lower mean and standard deviation show that Polyak and Nesterov-accelerated GJK are
    faster than the vanilla GJK and reduce the spread of computation times" (section IV-B)."""
    claims = []
    for boolean, (name, (polyak, _, nesterov)) in itertools.product(
        (False, True), SCHEDULES.items()
    ):
        p, n = (np.mean(relative[boolean, m], axis=0) for m in (polyak, nesterov))
        mode = "boolean" if boolean else "distance"
        for k, what in enumerate(("are faster than GJK", "spread their times less than GJK")):
            text = f"Polyak {p[k]:.2f}, Nesterov {n[k]:.2f} of GJK's, mean of all sizes"
            statement = f"{mode}, close or shallow: Polyak and Nesterov {what} ({name})"
            claims.append(Claim(statement, text, less(max(float(p[k]), float(n[k])), 1.0)))
    return claims
