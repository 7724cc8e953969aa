"""Contact problems as .npz files: what to send with a question about a solver.

Version 6: version (), A (n, n) = G + diag R as it was rounded, g (n,), R (n,), kinds (s,),
offsets (s + 1,), mu (s, 5) of the rows of a cone before the normal, bounds (s, 2), warm_start (n,)
or absent, and how the problem is stored: island_start (islands + 1,) into sets, run_start (s + 1,),
run_columns, run_counts; velocity_floor (s,), or (0,) or absent for none; resting (s,), 1 in islands
whose bodies rest, likewise; arm (s,), or absent for ones; velocity_scale (1,), or absent for 0.
Sums are then taken in the same order, so a solver gives the same bits. Where the problem knows its
trees (from a step of several bodies), six arrays more: tree_side_start (s + 1,) into sides,
tree_sides (sides, 4): tree, length, start in tree_dofs (-1: a loose body, rows of eight in tree_z),
start in tree_z; tree_start (trees + 1,) into tree_inertia. Still read: version 5 without arm and
velocity_scale; version 4 without loose bodies; version 3 with mu (s,) of cones of 3 rows; version 2
without trees; version 1 with G without R and not how the problem is stored.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _stiction
from ._stiction import BoxSet, ConstraintSet, ContactCone, ContactProblem, Free, NonNegative
from .loading import _check_type
from .npz_file import ArrayFile, require_path

__all__ = ["load_problem", "load_warm_start", "save_problem"]

VERSION = 6
KINDS = ("cone", "non_negative", "box", "free")
"""Codes of the sets, by their place."""
STRUCTURE = ("island_start", "run_start", "run_columns", "run_counts")
SCALES = ("arm", "velocity_scale")
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
        StictionError: the path holds a zero byte.
    """
    _check_type("problem", problem, ContactProblem, "sim.problem()")
    if not require_path(path).endswith(".npz"):
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
    for name in SCALES:
        arrays[name] = np.asarray(structure[name], dtype=float)
    arrays["resting"] = np.asarray(structure["resting"], dtype=np.int8)
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
        mu=np.array([coefficients(s) for s in sets]).reshape(-1, 5),
        bounds=np.array([[s.lower, s.upper] for s in sets]).reshape(-1, 2),
        **arrays,
    )


def load_problem(path: str | os.PathLike[str]) -> ContactProblem:
    """Read a problem that `save_problem` wrote.

    Raises:
        StictionError: no such file, a damaged one, another version, an array is missing or does
            not fit; the message names file and field.
    """
    data = ArrayFile.read(path, "contact problem")
    version = _version(data)
    matrix = "G" if version == 1 else "A"
    A, g, R = data.numbers(matrix, 2), data.numbers("g"), data.numbers("R")
    if A.shape != (g.size, g.size):
        raise data.fail(matrix, f"is {A.shape[0]} x {A.shape[1]}, g has {g.size} entries")
    sets = _read_sets(data, g.size, version)
    try:
        if version == 1:
            return ContactProblem(A, g, sets=sets, R=R)
        return _stiction._restored_problem(A, g, R, sets, _read_structure(data))
    except ValueError as error:
        raise _stiction.StictionError(f"{data.path}: {error}") from None


def load_warm_start(path: str | os.PathLike[str]) -> NDArray[np.float64] | None:
    """The impulses (n,) that a saved solve started from [N s]; None if the file has none.

    Raises:
        StictionError: as load_problem.
    """
    data = ArrayFile.read(path, "contact problem")
    if "warm_start" not in data:
        return None
    start, rows = data.numbers("warm_start"), data.numbers("g").size
    if start.size != rows:
        raise data.fail("warm_start", f"has {start.size} entries, g has {rows}")
    return start


def _version(data: ArrayFile) -> int:
    stored = data.arrays.get("version")
    version: float | None = stored.item() if stored is not None and stored.size == 1 else None
    if version is None or version not in range(1, VERSION + 1):
        raise data.fail("version", f"is {version}, this library reads 1 to {VERSION}")
    return int(version)


def _read_sets(data: ArrayFile, rows: int, version: int) -> list[ConstraintSet]:
    kinds, offsets = data.integers("kinds"), data.integers("offsets")
    mu, bounds = (
        data.numbers("mu", 2 if version > 3 else 1),
        data.numbers("bounds", 2, finite=False),
    )
    count = kinds.size
    for name, shape, wanted in (
        ("offsets", offsets.shape, (count + 1,)),
        ("mu", mu.shape, (count, 5) if version > 3 else (count,)),
        ("bounds", bounds.shape, (count, 2)),
    ):
        if shape != wanted:
            raise data.fail(name, f"has shape {shape}, of {count} sets it is {wanted}")
    if offsets[0] != 0 or offsets[-1] != rows or np.any(np.diff(offsets) < 1):
        raise data.fail("offsets", f"must rise from 0 to the {rows} rows")
    if count and kinds.max() >= len(KINDS):
        raise data.fail("kinds", f"has {kinds.max()}, the codes are 0 to {len(KINDS) - 1}")
    if version <= 3:
        mu = np.column_stack([mu, mu, np.zeros((count, 3))])
    sets = []
    for i, dim in enumerate(np.diff(offsets)):
        try:
            sets.append(make_set(KINDS[kinds[i]], mu[i], bounds[i], int(dim)))
        except ValueError as error:
            raise data.fail(f"set {i}", f"is refused: {error}") from None
        if sets[i].dim != dim:
            raise data.fail("offsets", f"give set {i} ({KINDS[kinds[i]]}) {dim} rows")
    return sets


def _read_structure(data: ArrayFile) -> dict[str, Any]:
    """How the problem is stored, as the library takes it."""
    structure: dict[str, Any] = {name: data.integers(name).tolist() for name in STRUCTURE}
    if "velocity_floor" in data:
        structure["velocity_floor"] = data.numbers("velocity_floor")
    structure |= {name: data.numbers(name) for name in SCALES if name in data}
    if "resting" in data:
        structure["resting"] = data.integers("resting").tolist()
    if "tree_sides" not in data:
        return structure
    for name in TREE_INTEGERS:
        # A side of a loose body has no dofs: -1.
        sides = name == "tree_sides"
        array = data.integers(name, 2 if sides else 1, -1 if sides else 0)
        if name == "tree_sides" and array.shape[1] != 4:
            raise data.fail(name, f"has shape {array.shape}, must be (sides, 4)")
        structure[name] = array.ravel().tolist()
    return structure | {name: data.numbers(name) for name in TREE_NUMBERS}


def coefficients(constraint_set: ConstraintSet) -> list[float]:
    """Five, 0 where the set has none."""
    own = constraint_set.coefficients
    return own + [0.0] * (5 - len(own))


def make_set(
    kind: str,
    mu: Sequence[float] | NDArray[np.float64],
    bounds: Sequence[float] | NDArray[np.float64],
    dim: int,
) -> ConstraintSet:
    """Of one of KINDS; mu: five coefficients of a cone, 0 where it has none."""
    if kind == "cone":
        return ContactCone(
            mu[:2],
            torsional=float(mu[2]) if dim > 3 else None,
            rolling=mu[3:] if dim > 4 else None,
        )
    if kind == "non_negative":
        return NonNegative()
    if kind == "box":
        return BoxSet(float(bounds[0]), float(bounds[1]))
    return Free(int(dim))
