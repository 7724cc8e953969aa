"""Where a ray is inside a primitive, and whether it meets the volume of a site, as MuJoCo's touch
sensors ask."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .mjcf_geometry import BOX, CAPSULE, CYLINDER, ELLIPSOID, SPHERE

__all__ = ["ray_interval", "ray_meets_site"]

Floats = NDArray[np.float64]
Interval = tuple[float, float]
NOTHING: Interval = (np.inf, -np.inf)


def ray_meets_site(kind: int, size: Floats, start: Floats, direction: Floats) -> bool:
    """start [m] and direction in the axes of the site; the ray goes one way only."""
    enter, leave = ray_interval(kind, size, start, direction)
    return enter <= leave and leave >= 0.0


def ray_interval(kind: int, size: Floats, start: Floats, direction: Floats) -> Interval:
    """Where the line start + t direction is inside a shape, in its axes; (inf, -inf): nowhere.

    kind: of mjtGeom, a convex primitive.
    """
    if kind == SPHERE:
        return _in_ball(start / size[0], direction / size[0])
    if kind == ELLIPSOID:
        return _in_ball(start / size, direction / size)
    if kind == BOX:
        return _common([_in_slab(start[i], direction[i], size[i]) for i in range(3)])
    if kind == CYLINDER:
        return _in_cylinder(size, start, direction)
    if kind == CAPSULE:
        up = np.array([0.0, 0.0, size[1]])
        parts = [_in_ball((start - c) / size[0], direction / size[0]) for c in (up, -up)]
        parts.append(_in_cylinder(size, start, direction))
        met = [part for part in parts if part[0] <= part[1]]
        return (min(p[0] for p in met), max(p[1] for p in met)) if met else NOTHING
    return NOTHING


def _common(intervals: list[Interval]) -> Interval:
    return max(i[0] for i in intervals), min(i[1] for i in intervals)


def _in_slab(x: float, d: float, half: float) -> Interval:
    if d == 0.0:
        return (-np.inf, np.inf) if abs(x) <= half else NOTHING
    a, b = (-half - x) / d, (half - x) / d
    return min(a, b), max(a, b)


def _in_ball(x: Floats, d: Floats) -> Interval:
    """Of radius 1, in as many dimensions as given."""
    a, b, c = float(d @ d), float(x @ d), float(x @ x) - 1.0
    if a == 0.0:
        return (-np.inf, np.inf) if c <= 0.0 else NOTHING
    root = b * b - a * c
    if root < 0.0:
        return NOTHING
    return (-b - root**0.5) / a, (-b + root**0.5) / a


def _in_cylinder(size: Floats, x: Floats, d: Floats) -> Interval:
    side = _in_ball(x[:2] / size[0], d[:2] / size[0])
    return _common([side, _in_slab(x[2], d[2], size[1])])
