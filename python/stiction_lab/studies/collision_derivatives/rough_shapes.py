"""Hulls of twelve points and poses for the experiments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import stiction
from numpy.typing import NDArray

Array = NDArray[np.float64]

HALF_AXES = (0.5, 1.5)
"""[m], uniform."""
APART = 3.5
"""[m] between the origins before the first iteration."""


@dataclass(frozen=True)
class Rough:
    """An ellipsoid of twelve vertices."""

    shape: stiction.Shape
    vertices: Array


def icosahedron() -> Array:
    """(12, 3) vertices at distance 1."""
    ratio = 0.5 * (1.0 + np.sqrt(5.0))
    corners = [(0.0, a, b) for a in (-1.0, 1.0) for b in (-ratio, ratio)]
    turned = [np.roll(c, k) for c in corners for k in range(3)]
    corners_at_one: Array = np.array(turned) / float(np.hypot(1.0, ratio))
    return corners_at_one


def rough_ellipsoid(generator: np.random.Generator) -> Rough:
    """With random half axes."""
    vertices = icosahedron() * generator.uniform(*HALF_AXES, 3)
    return Rough(stiction.ConvexMesh(vertices), vertices)


def fine_hull(count: int, generator: np.random.Generator) -> stiction.Shape:
    """Of points on an ellipsoid of about 0.25 m."""
    points = generator.normal(size=(count, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return stiction.ConvexMesh(points * generator.uniform(0.2, 0.3, 3))


def corner(rough: Rough, generator: np.random.Generator) -> Array:
    """The farthest point along a random direction."""
    found: Array = rough.vertices[np.argmax(rough.vertices @ generator.normal(size=3))]
    return found


def rotation(w: Array) -> Array:
    """By the rotation vector w [rad]."""
    angle = float(np.linalg.norm(w))
    if angle < 1e-12:
        return np.eye(3)
    k = skew(w / angle)
    return np.asarray(np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * k @ k)


def skew(w: Array) -> Array:
    """Of the vector product w x."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def random_pose(distance: float, generator: np.random.Generator) -> Array:
    """(4, 4), any rotation, the origin in any direction."""
    quaternion = generator.normal(size=4)
    w, *v = quaternion / np.linalg.norm(quaternion)
    k = skew(np.array(v))
    X = np.eye(4)
    X[:3, :3] += 2.0 * w * k + 2.0 * k @ k
    direction = generator.normal(size=3)
    X[:3, 3] = distance * direction / np.linalg.norm(direction)
    return X
