"""Gauss–Newton for the pose in which two shapes touch at wanted points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import stiction

from .rough_shapes import Array, rotation, skew

ITERATIONS = 50
SEARCHES = {
    "damped": "damped",
    "truncated": "halving along the step without its weak directions",
    "halving": "halving along the whole step",
}
WEAK = 0.1
"""Of the largest singular value of the Jacobian: directions below are left out of the step."""
TRIES = {"damped": 12, "truncated": 30, "halving": 30}
SAMPLED = ("gaussian-0", "gaussian-1")


@dataclass
class Problem:
    """The shapes, and the wanted points in their frames."""

    a: stiction.Shape
    b: stiction.Shape
    wanted_a: Array
    wanted_b: Array

    def residual(self, X: Array) -> tuple[stiction.DistanceResult, Array]:
        """(9,): witness points less the wanted ones, and one less the other."""
        found = stiction.distance(self.a, None, self.b, X)
        a, b = found.witness_a, found.witness_b
        wanted = X[:3, :3] @ self.wanted_b + X[:3, 3]
        return found, np.concatenate([a - self.wanted_a, b - wanted, a - b])

    def jacobian(self, X: Array, at: stiction.DistanceResult, how: dict[str, Any]) -> Array:
        """(9, 6) by the twist of B."""
        d = stiction.distance_derivatives(self.a, None, self.b, X, at=at, **how)
        rigid = np.hstack([np.eye(3), -skew(X[:3, :3] @ self.wanted_b)])
        return np.vstack([d.witness_a, d.witness_b - rigid, d.witness_a - d.witness_b])


def moved(X: Array, twist: Array) -> Array:
    """B displaced; its axes made orthonormal."""
    u, _, v = np.linalg.svd(rotation(twist[3:]) @ X[:3, :3])
    out = np.eye(4)
    out[:3, :3] = u @ v
    out[:3, 3] = X[:3, 3] + twist[:3]
    return out


def descend(problem: Problem, X: Array, how: dict[str, Any], search: str) -> Array:
    """(ITERATIONS + 1,) costs; samples are drawn anew in every iteration."""
    found, r = problem.residual(X)
    costs = [0.5 * r @ r]
    length = 0.5 * float(np.linalg.norm(problem.wanted_a) + np.linalg.norm(problem.wanted_b))
    unit = np.repeat([1.0, 1.0 / length], 3)  # of metres and of angles
    damping = 1e-3
    for k in range(ITERATIONS):
        sampled = {"seed": k} if how["method"] in SAMPLED else {}
        J = problem.jacobian(X, found, how | sampled) * unit
        share = 1.0
        step = _step(J, r, WEAK if search == "truncated" else 1e-10)
        for _ in range(TRIES[search]):
            if search == "damped":
                step = -np.asarray(np.linalg.solve(J.T @ J + damping * np.eye(6), J.T @ r), float)
            Y = moved(X, share * unit * step)
            found_there, r_there = problem.residual(Y)
            if r_there @ r_there < r @ r:
                X, found, r = Y, found_there, r_there
                damping = max(0.1 * damping, 1e-12)
                break
            damping, share = (4.0 * damping, 1.0) if search == "damped" else (damping, 0.5 * share)
        else:
            if not sampled:
                break
            damping = 1e-3
        costs.append(0.5 * r @ r)
        if r @ r < 1e-31:
            break
    return np.pad(np.array(costs), (0, ITERATIONS + 1 - len(costs)), mode="edge")


def _step(J: Array, r: Array, weakest: float) -> Array:
    return -np.asarray(np.linalg.lstsq(J, r, rcond=weakest)[0], float)
