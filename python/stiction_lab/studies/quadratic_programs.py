"""Table II: GJK against a generic solver of quadratic programs on the same problem."""

from __future__ import annotations

from time import thread_time_ns
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stiction import Box, Shape
from stiction.pages.experiment import (
    Claim,
    Effort,
    Experiment,
    StudyError,
    Table,
    Tick,
    less,
    mean_std,
)

from . import paper
from .objects import superquadric
from .problems import LABELS, NESTEROV_N, POLYAK, VANILLA, Problems, moved_to, separated, solve

POSES, REPEATS, SOLVES = 10, 20, 10
NEAR = (-1e-1, -1e-2, -1e-3, 1e-3, 1e-2, 1e-1)
METHODS = (VANILLA, NESTEROV_N, POLYAK)
UNBOUNDED = -1e20
SETUP = """Pairs of equal shapes: a cube of half side 30 cm (8 vertices, 6 faces) and
superquadrics with 250 and 940 vertices, {poses} poses each at ±1, ±10 and ±100 mm. The program:
min ½‖x₁ − x₂‖² over points of both shapes, given by all their faces; dense back end of ProxQP
(proxsuite {version}), eps_abs 1e-4, no initial guess, set-up not counted, as in the published code.
It is solved {solves} times, the mean of the lowest nine tenths is its time, as for GJK. A solve's
time is the lesser of its own clock and the processor time spent, so that other processes do not
count. It gives no depth when the shapes overlap: then it only finds distance 0."""
EXPLANATION = """The generic solver works on all facets at once (dense rows), GJK on a handful of
vertices: that gap does not depend on either implementation."""


def run(effort: Effort, tick: Tick) -> Experiment:
    """Time of ProxQP and of three methods of ours."""
    proxqp, version = _proxqp()
    poses, solves = effort.count(POSES, 2), effort.count(SOLVES, 1)
    generator = effort.generator(2)
    axes = np.array([0.05, 0.08, 0.11])
    shapes: dict[int, Shape] = {8: Box(np.full(3, 0.3))}
    shapes |= {n: superquadric(axes, 3.0, n) for n in (250, 940)}
    experiment = Experiment(
        "table2_quadratic_programs",
        "Table II: against a generic quadratic programming solver",
        SETUP.format(poses=poses, solves=solves, version=version),
        EXPLANATION,
    )
    columns = ["vertices", "ProxQP", *(LABELS[m] for m in METHODS), "ProxQP's error [m]"]
    table = Table("Time [µs], ours / paper", columns)
    for k, (vertices, shape) in enumerate(shapes.items()):
        tick(f"{vertices} vertices", k / len(shapes))
        base = separated([shape], np.array([[0, 0]]), poses, generator)
        problems = [moved_to(base, d) for d in NEAR]
        times, errors = _time_proxqp(proxqp, shape, problems, solves)
        printed = paper.TABLE_2[vertices]
        cells = [f"{mean_std(times)} / {printed[0]:g}"]
        slowest = 0.0
        experiment.add_rows(
            vertices=vertices, method="ProxQP", mean_us=times.mean(), paper_us=printed[0]
        )
        for m, method in enumerate(METHODS):
            us = 1e-3 * np.concatenate(
                [solve(p, method, repeats=REPEATS)["nanoseconds"] for p in problems]
            )
            cells.append(f"{mean_std(us, 2)} / {printed[1 + m]:g}")
            experiment.add_rows(
                vertices=vertices, method=method, mean_us=us.mean(), paper_us=printed[1 + m]
            )
            slowest = max(slowest, float(us.mean()))
        table.rows.append([str(vertices), *cells, f"{np.median(errors):.0e}"])
        least, ratio = paper.QP_SOLVER_SLOWER[vertices], float(times.mean()) / slowest
        statement = f"GJK and its variants are at least {least:g} times faster than the QP solver"
        holds = less(least, ratio)
        experiment.claims.append(
            Claim(f"{vertices} vertices: {statement}", f"{ratio:.0f} times", holds)
        )
    experiment.tables.append(table)
    return experiment


def facets(shape: Shape) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Outward unit normals (m, 3) and offsets (m,) [m] of the planes of a box or convex mesh."""
    if shape.type == "box":
        normals = np.vstack([np.eye(3), -np.eye(3)])
        return normals, np.concatenate([shape.size, shape.size])
    assert shape.vertices is not None and shape.triangles is not None
    a, b, c = (shape.vertices[shape.triangles[:, k]] for k in range(3))
    n = np.cross(b - a, c - a)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    planes = np.column_stack([n, np.einsum("ij,ij->i", n, a)])
    unique = np.unique(np.round(planes, 9), axis=0)
    return unique[:, :3], unique[:, 3]


def _time_proxqp(
    proxqp: Any, shape: Shape, near: list[Problems], solves: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Run time per problem [µs] and error of the distance where separated [m]."""
    normals, offsets = facets(shape)
    m = len(normals)
    H = np.block([[np.eye(3), -np.eye(3)], [-np.eye(3), np.eye(3)]])
    qp = proxqp.dense.QP(6, 0, 2 * m)
    qp.settings.eps_abs = 1e-4
    qp.settings.compute_timings = True
    qp.settings.initial_guess = proxqp.InitialGuess.NO_INITIAL_GUESS
    times, errors = [], []
    lower = np.full(2 * m, UNBOUNDED)
    for problems in near:
        for X, d in zip(problems.X_AB, problems.distance, strict=True):
            turned = normals @ X[:3, :3].T
            C = np.zeros((2 * m, 6))
            C[:m, :3], C[m:, 3:] = normals, turned
            upper = np.concatenate([offsets, offsets + turned @ X[:3, 3]])
            qp.init(H, np.zeros(6), None, None, C, lower, upper)
            spent = []
            for _ in range(solves):
                begin = thread_time_ns()
                qp.solve()
                processor = 1e-3 * (thread_time_ns() - begin)
                spent.append(min(qp.results.info.solve_time, processor))
            lowest = sorted(spent)[: max(1, len(spent) * 9 // 10)]
            times.append(float(np.mean(lowest)))
            found = float(np.linalg.norm(qp.results.x[:3] - qp.results.x[3:]))
            errors.append(abs(found - max(d, 0.0)))
    return np.array(times), np.array(errors)


def _proxqp() -> tuple[Any, str]:
    try:
        import proxsuite
    except ImportError as error:
        raise StudyError("Table II needs ProxQP: pip install proxsuite") from error
    return proxsuite.proxqp, str(proxsuite.__version__)
