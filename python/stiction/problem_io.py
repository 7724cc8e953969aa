"""Contact problems as .npz files: what to send with a question about a solver.

Version 3: version (), A (n, n) = G + diag R as it was rounded, g (n,), R (n,), kinds (s,),
offsets (s + 1,), mu (s,), bounds (s, 2), warm_start (n,) or absent, and how the problem is stored:
island_start (islands + 1,) into sets, run_start (s + 1,), run_columns, run_counts; velocity_floor
(s,), or (0,) or absent for none. Sums are then
taken in the same order, so a solver gives the same bits. Where the problem knows its trees (from a
step of several bodies), six arrays more: tree_side_start (s + 1,) into sides, tree_sides
(sides, 4): tree, length, start in tree_dofs, start in tree_z; tree_start (trees + 1,) into
tree_inertia. Still read: version 2 without trees; version 1 with G without R and not how the
problem is stored.
"""

from __future__ import annotations

import os
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.lib.npyio import NpzFile
from numpy.typing import ArrayLike, NDArray

from . import _stiction
from ._stiction import BoxSet, ConstraintSet, ContactCone, ContactProblem, Free, NonNegative
from .loading import _check_type

__all__ = ["load_problem", "load_warm_start", "save_problem"]

VERSION = 3
KINDS = ("cone", "non_negative", "box", "free")
"""Codes of the sets, by their place."""
STRUCTURE = ("island_start", "run_start", "run_columns", "run_counts")
TREE_INTEGERS = ("tree_side_start", "tree_sides", "tree_dofs", "tree_start")
TREE_NUMBERS = ("tree_z", "tree_inertia")


def save_problem(
    path: str | os.PathLike[str], problem: ContactProblem, warm_start: ArrayLike | None = None
) -> None:
    """Write a problem to an .npz file; `load_problem` reads it back bit for bit.

    Args:
        path: file to write, with the ending .npz.
        problem: any.
        warm_start: (n,) impulses that the solver started from [N s], for `load_warm_start`.

    Raises:
        ValueError: the ending is another, or warm_start has another size.
    """
    _check_type("problem", problem, ContactProblem, "sim.problem()")
    if not os.fspath(path).endswith(".npz"):
        raise ValueError(f"path = {os.fspath(path)!r}: must end in .npz")
    sets, structure = problem.sets, problem._structure()
    arrays: dict[str, Any] = {
        name: np.asarray(structure[name], dtype=np.int32) for name in STRUCTURE
    }
    if "tree_sides" in structure:
        for name in TREE_INTEGERS:
            arrays[name] = np.asarray(structure[name], dtype=np.int32)
        arrays["tree_sides"] = arrays["tree_sides"].reshape(-1, 4)
        for name in TREE_NUMBERS:
            arrays[name] = np.asarray(structure[name], dtype=float)
    arrays["velocity_floor"] = np.asarray(structure["velocity_floor"], dtype=float)
    if warm_start is not None:
        arrays["warm_start"] = np.asarray(warm_start, dtype=float)
        if arrays["warm_start"].shape != (problem.num_rows,):
            raise ValueError(
                f"warm_start has shape {arrays['warm_start'].shape}: must be ({problem.num_rows},)"
            )
    np.savez_compressed(
        path,
        version=np.array(VERSION),
        A=problem.dense(),
        g=problem.g,
        R=problem.R,
        kinds=np.array([KINDS.index(s.kind) for s in sets], dtype=np.int8),
        offsets=np.array([s.offset for s in sets] + [problem.num_rows], dtype=np.int64),
        mu=np.array([s.mu for s in sets]),
        bounds=np.array([[s.lower, s.upper] for s in sets]).reshape(-1, 2),
        **arrays,
    )


def load_problem(path: str | os.PathLike[str]) -> ContactProblem:
    """Read a problem that `save_problem` wrote.

    Raises:
        ValueError: another version, an array is missing, or arrays that do not fit.
    """
    with _archive(path) as data:
        version = (
            data["version"].item() if "version" in data and data["version"].size == 1 else None
        )
        if version not in range(1, VERSION + 1):
            raise ValueError(f"{path}: has version {version}, this library reads 1 to {VERSION}")
        try:
            sets = [
                _make_set(KINDS[kind], mu, bounds, dim)
                for kind, mu, bounds, dim in zip(
                    data["kinds"], data["mu"], data["bounds"], np.diff(data["offsets"]), strict=True
                )
            ]
            if version == 1:
                return ContactProblem(data["G"], data["g"], sets=sets, R=data["R"])
            structure: dict[str, Any] = {name: data[name].tolist() for name in STRUCTURE}
            if "velocity_floor" in data:
                structure["velocity_floor"] = data["velocity_floor"]
            if "tree_sides" in data:
                structure |= {name: data[name].ravel().tolist() for name in TREE_INTEGERS}
                structure |= {name: data[name] for name in TREE_NUMBERS}
            return _stiction._restored_problem(data["A"], data["g"], data["R"], sets, structure)
        except (KeyError, IndexError, TypeError, zipfile.BadZipFile, zlib.error) as error:
            raise ValueError(f"{path} is not a whole contact problem: {error}") from None


def _archive(path: str | os.PathLike[str]) -> NpzFile:
    """The file, opened; whatever it is instead is a ValueError that says so."""
    try:
        data = np.load(path, allow_pickle=False)
    except (ValueError, EOFError, zipfile.BadZipFile):
        data = None
    if not isinstance(data, NpzFile):
        raise ValueError(f"{path} is no .npz file of save_problem")
    return data


def load_warm_start(path: str | os.PathLike[str]) -> NDArray[np.float64] | None:
    """The impulses (n,) that a saved solve started from [N s]; None if the file has none."""
    with _archive(path) as data:
        return np.asarray(data["warm_start"], dtype=float) if "warm_start" in data else None


def _make_set(kind: str, mu: float, bounds: NDArray[np.float64], dim: int) -> ConstraintSet:
    if kind == "cone":
        return ContactCone(float(mu))
    if kind == "non_negative":
        return NonNegative()
    if kind == "box":
        return BoxSet(float(bounds[0]), float(bounds[1]))
    return Free(int(dim))
