"""The shapes of the study: ellipsoids, the six YCB hulls, and sampled bodies that fill the gaps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import stiction
from numpy.typing import NDArray
from stiction import Box, ConvexMesh, Ellipsoid, Shape

YCB = ("Banana", "CrackerBox", "FoamBrick", "MasterChefCan", "MustardBottle", "PowerDrill")
_FOLDER = Path(stiction.__file__).parent / "robots" / "ycb"


def random_ellipsoids(count: int, generator: np.random.Generator) -> list[Shape]:
    """Half axes normal with mean 0.1 m and deviation 0.025 m, as the published code draws them."""
    axes = np.clip(generator.normal(0.1, 0.025, (count, 3)), 0.02, 0.2)
    return [Ellipsoid(row) for row in axes]


def random_cubes(count: int, generator: np.random.Generator) -> list[Shape]:
    """Half sides between 5 and 30 cm."""
    return [Box(np.full(3, half)) for half in generator.uniform(0.05, 0.3, count)]


def ycb_hull(name: str) -> Shape:
    """Convex hull of a YCB object, frame of its file."""
    text = (_FOLDER / f"{name}.obj").read_text(encoding="utf-8")
    vertices = [line.split()[1:4] for line in text.splitlines() if line.startswith("v ")]
    return ConvexMesh(np.array(vertices, dtype=float))


def superquadric(half_axes: NDArray[np.float64], power: float, vertices: int) -> Shape:
    """|x/a|^p + |y/b|^p + |z/c|^p = 1 sampled at `vertices` points; for p > 1 all are corners."""
    directions = fibonacci_lattice(vertices)
    scale = np.sum(np.abs(directions) ** power, axis=1) ** (-1.0 / power)
    return ConvexMesh(directions * scale[:, None] * half_axes)


def prism(radius: float, half_length: float, sides: int) -> Shape:
    """Right prism over a regular polygon, 2 `sides` vertices."""
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    ends = [np.column_stack([ring, np.full(sides, z)]) for z in (-half_length, half_length)]
    return ConvexMesh(np.vstack(ends))


def fibonacci_lattice(count: int) -> NDArray[np.float64]:
    """(count, 3) unit vectors that cover the sphere evenly."""
    k = np.arange(count)
    z = 1.0 - (2.0 * k + 1.0) / count
    angle, r = k * np.pi * (3.0 - np.sqrt(5.0)), np.sqrt(1.0 - z * z)
    return np.column_stack([r * np.cos(angle), r * np.sin(angle), z])


def household() -> dict[str, Shape]:
    """Ten objects: the six YCB hulls and four sampled bodies, 60 to 3279 vertices."""
    shapes = {name: ycb_hull(name) for name in YCB}
    shapes["Plate"] = superquadric(np.array([0.13, 0.13, 0.012]), 2.5, 600)
    shapes["Ball"] = superquadric(np.array([0.037, 0.037, 0.037]), 2.0, 1000)
    shapes["Mug"] = prism(0.041, 0.048, 96)
    shapes["Screwdriver"] = prism(0.012, 0.11, 30)
    return shapes


def table_one_hulls() -> dict[int, Shape]:
    """Hulls with the paper's numbers of vertices: rounded bricks of about 20 cm."""
    axes = np.array([0.05, 0.08, 0.11])
    return {count: superquadric(axes, 3.0, count) for count in (240, 1811, 3585)}
