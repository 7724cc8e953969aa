"""Contact problems as .npz files: what to send with a question about a solver.

Arrays: version (), G (n, n) without R, g (n,), R (n,), kinds (s,), offsets (s + 1,), mu (s,),
bounds (s, 2).
"""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from ._stiction import BoxSet, ConstraintSet, ContactCone, ContactProblem, Free, NonNegative

__all__ = ["load_problem", "save_problem"]

VERSION = 1
KINDS = ("cone", "non_negative", "box", "free")
"""Codes of the sets, by their place."""


def save_problem(path: str | os.PathLike[str], problem: ContactProblem) -> None:
    """Write a problem to an .npz file; `load_problem` reads it back to rounding of G + diag R."""
    sets = problem.sets
    np.savez_compressed(
        path,
        version=VERSION,
        G=problem.dense() - np.diag(problem.R),
        g=problem.g,
        R=problem.R,
        kinds=np.array([KINDS.index(s.kind) for s in sets], dtype=np.int8),
        offsets=np.array([s.offset for s in sets] + [problem.num_rows], dtype=np.int64),
        mu=np.array([s.mu for s in sets]),
        bounds=np.array([[s.lower, s.upper] for s in sets]).reshape(-1, 2),
    )


def load_problem(path: str | os.PathLike[str]) -> ContactProblem:
    """Read a problem that `save_problem` wrote.

    Raises:
        ValueError: another version, or arrays that do not fit.
    """
    with np.load(path, allow_pickle=False) as data:
        version = int(data["version"]) if "version" in data else None
        if version != VERSION:
            raise ValueError(f"{path}: has version {version}, this library reads version {VERSION}")
        sets = [
            _make_set(KINDS[kind], mu, bounds, dim)
            for kind, mu, bounds, dim in zip(
                data["kinds"], data["mu"], data["bounds"], np.diff(data["offsets"]), strict=True
            )
        ]
        return ContactProblem(data["G"], data["g"], sets=sets, R=data["R"])


def _make_set(kind: str, mu: float, bounds: NDArray[np.float64], dim: int) -> ConstraintSet:
    if kind == "cone":
        return ContactCone(float(mu))
    if kind == "non_negative":
        return NonNegative()
    if kind == "box":
        return BoxSet(float(bounds[0]), float(bounds[1]))
    return Free(int(dim))
