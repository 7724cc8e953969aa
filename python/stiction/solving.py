"""Solving one contact problem with any solver of the registry."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Unpack, cast

import numpy as np
from numpy.typing import ArrayLike

from . import _stiction
from ._stiction import ContactProblem, ContactSolution, SolverSettings
from .loading import _check_names, _check_type, _set_typed
from .setting_names import OtherOptions, SolverOptions

__all__ = ["solve"]


@cache
def _readers() -> dict[str, list[str]]:
    """Setting of solvers -> patterns of the names of those that read it; none: all."""
    fields = _stiction._setting_fields()
    found = {f["name"]: f["readers"].split() for f in fields if f["kind"] == "solver"}
    return found | {"regularisation": ["ccp-newton"]}


def reads(solver: str, setting: str) -> bool:
    """Whether a solver reads a setting."""
    patterns = _readers().get(setting, [])
    return not patterns or any(fnmatchcase(solver, pattern) for pattern in patterns)


def options_read(solver: str, options: SolverOptions) -> SolverOptions:
    """Those of the options that a solver reads."""
    _check_type("solver", solver, str, '"ncp-newton"')
    kept = {name: value for name, value in options.items() if reads(solver, name)}
    return cast(SolverOptions, kept)


def check_read(solvers: Sequence[str], options: SolverOptions) -> None:
    """Refuses an option that none of the solvers reads.

    Raises:
        ValueError: names the option, its value and its readers.
    """
    for name, value in options.items():
        if not any(reads(solver, name) for solver in solvers):
            raise ValueError(
                f"{name} = {value!r}: read by none of {', '.join(solvers)}; of "
                f"{', '.join(_readers()[name])}"
            )


def solve(
    problem: ContactProblem,
    solver: str = "ncp-newton",
    tolerance: float = 1e-8,
    max_iterations: int = 1000,
    warm_start: ArrayLike | None = None,
    **options: Unpack[OtherOptions],
) -> ContactSolution:
    """Solve a contact problem.

    Args:
        problem: what to solve.
        solver: a name of `solvers()`.
        tolerance: > 0, on the relative residual of the solver's own model.
        max_iterations: >= 1, per island.
        warm_start: (n,) impulses to start from [N s]; None: zero.
        options: see OtherOptions.

    Raises:
        ValueError: an argument is out of range; the message names it and its value.
        TypeError: an unknown option; the message lists the names.
    """
    _check_type("problem", problem, ContactProblem, "sim.problem()")
    _check_type("solver", solver, str, '"ncp-newton"')
    _check_names("solve", options, tuple(SolverOptions.__annotations__))
    settings = SolverSettings()
    given = {"name": solver, "tolerance": tolerance, "max_iterations": max_iterations, **options}
    for name, value in given.items():
        _set_typed(settings, name, value)
    return _stiction._solve(
        problem, settings, None if warm_start is None else np.asarray(warm_start, dtype=float)
    )
