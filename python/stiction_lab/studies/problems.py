"""Pairs of shapes at given signed distances, and the queries that are counted and timed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stiction import Shape, bounding_box, bounding_radius, time_distances
from stiction.rotations import rotations

Floats = NDArray[np.float64]
TOLERANCE = 1e-8
"""Of the paper's stopping rule 2<x, x - s> <= tolerance [m^2]."""
VANILLA, POLYAK, NESTEROV = "gjk", "polyak", "nesterov"
NESTEROV_N, POLYAK_N = "nesterov-normalized", "polyak-normalized"
POLYAK_R, NESTEROV_R = "polyak-reference", "nesterov-reference"
NESTEROV_NR = "nesterov-normalized-reference"
SCHEDULES = {
    "as printed": (POLYAK, NESTEROV, NESTEROV_N),
    "as in the authors' code": (POLYAK_R, NESTEROV_R, NESTEROV_NR),
}
"""Momentum: name -> Polyak, Nesterov, Nesterov normalized. In the code Polyak's weight is
delta = 1 / (k + 1), normalized Nesterov's (k + 2) / (k + 3), and without normalization the gradient
of |y|^2 lacks its factor 2; printed are (k + 1) / (k + 3) for all, and the factor."""
LABELS = {
    VANILLA: "GJK",
    POLYAK: "Polyak",
    POLYAK_N: "Polyak, normalized",
    NESTEROV: "Nesterov",
    NESTEROV_N: "Nesterov, normalized",
    POLYAK_R: "Polyak, published code",
    NESTEROV_R: "Nesterov, published code",
    NESTEROV_NR: "Nesterov, normalized, published code",
    "frank-wolfe": "FW",
    "nesmino": "NESMINO",
}
DISTANCES = (-1e-1, -1e-2, -1e-3, -1e-4, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)
"""The paper's [m]; negative ones are nominal: another direction may be shorter."""
TICKS = [f"{distance:g}" for distance in DISTANCES]


@dataclass(frozen=True)
class Problems:
    """Pairs of shapes in relative poses.

    Attributes:
        shapes: what `pairs` counts.
        pairs: (n, 2) indices.
        X_AB: (n, 4, 4) pose of B in the frame of A [m].
        distance: (n,) true signed distance [m].
    """

    shapes: Sequence[Shape]
    pairs: NDArray[np.int64]
    X_AB: Floats
    distance: Floats

    def __len__(self) -> int:
        return len(self.pairs)

    def __getitem__(self, rows: Any) -> Problems:
        return replace(
            self, pairs=self.pairs[rows], X_AB=self.X_AB[rows], distance=self.distance[rows]
        )


def separated(
    shapes: Sequence[Shape], pairs: NDArray[np.int64], poses: int, generator: np.random.Generator
) -> Problems:
    """Every pair in `poses` random poses: uniform rotations, balls 0 to 1 m apart."""
    rows = np.repeat(pairs, poses, axis=0)
    radius = np.array([bounding_radius(shape) for shape in shapes])
    reach = radius[rows].sum(axis=1) + generator.uniform(0.0, 1.0, len(rows))
    X_AB = np.zeros((len(rows), 4, 4))
    X_AB[:, :3, :3] = random_rotations(len(rows), generator)
    X_AB[:, :3, 3] = unit_vectors(len(rows), generator) * reach[:, None]
    X_AB[:, 3, 3] = 1.0
    return measured(Problems(shapes, rows, X_AB, np.zeros(len(rows))))


def measured(problems: Problems) -> Problems:
    """The same with their true distances."""
    return replace(problems, distance=exact(problems)["distance"])


def exact(problems: Problems) -> dict[str, Any]:
    """Signed distance, normal and witness points to rounding."""
    return time_distances(
        problems.shapes, problems.pairs, problems.X_AB, tolerance=1e-12, max_iterations=1000
    )


def moved_to(problems: Problems, distance: float | Floats) -> Problems:
    """B is shifted along the normal of the closest points; exact where the result is separated."""
    found = exact(problems)
    X_AB = problems.X_AB.copy()
    X_AB[:, :3, 3] += found["normal"] * (distance - found["distance"])[:, None]
    return measured(replace(problems, X_AB=X_AB))


def box_centres(problems: Problems) -> Floats:
    """(n, 3) difference of the centres of the shapes' own boxes, A - B in the frame of A."""
    boxes = [bounding_box(shape) for shape in problems.shapes]
    centres = np.array([0.5 * (lower + upper) for lower, upper in boxes])
    a, b = centres[problems.pairs[:, 0]], centres[problems.pairs[:, 1]]
    return a - transformed(problems.X_AB, b)


def solve(
    problems: Problems,
    method: str,
    *,
    boolean: bool = False,
    start: Floats | None = None,
    tolerance: float = TOLERANCE,
    max_iterations: int = 1000,
    repeats: int = 0,
) -> dict[str, NDArray[Any]]:
    """Iterations, times [ns] and distances [m] of all problems by one method, as the paper asks.

    The paper's stopping rule; a distance query of shapes that overlap gives 0 and no depth, and is
    then the boolean query. start: first iterate, default the difference of the box centres.
    """
    x0 = box_centres(problems) if start is None else start
    inside = problems.distance <= 0.0
    result = {
        "iterations": np.zeros(len(problems), dtype=np.int64),
        "nanoseconds": np.zeros(len(problems)),
        "distance": np.zeros(len(problems)),
        "overlap": np.zeros(len(problems), dtype=bool),
    }
    for rows, as_boolean in ((inside, True), (~inside, boolean)):
        if not rows.any():
            continue
        part = problems[rows]
        found = time_distances(
            part.shapes,
            part.pairs,
            part.X_AB,
            method=method,
            stopping="paper-gap",
            tolerance=tolerance,
            max_iterations=max_iterations,
            boolean=as_boolean,
            start=x0[rows],
            repeats=repeats,
        )
        for name in set(result) & set(found):
            result[name][rows] = found[name]
    return result


# --- small geometry -----------------------------------------------------------------------------


def transformed(X: Floats, points: Floats) -> Floats:
    """(n, 4, 4) poses applied to (n, 3) points."""
    moved: Floats = np.einsum("nij,nj->ni", X[:, :3, :3], points) + X[:, :3, 3]
    return moved


def random_rotations(count: int, generator: np.random.Generator) -> Floats:
    """(count, 3, 3), uniform."""
    q = generator.normal(size=(count, 4))
    return rotations(q / np.linalg.norm(q, axis=1, keepdims=True))


def unit_vectors(count: int, generator: np.random.Generator) -> Floats:
    """(count, 3), uniform on the sphere."""
    v = generator.normal(size=(count, 3))
    unit: Floats = v / np.linalg.norm(v, axis=1, keepdims=True)
    return unit


def all_pairs(count: int) -> NDArray[np.int64]:
    """(i, j) with i <= j."""
    return np.array([(i, j) for i in range(count) for j in range(i, count)])
