"""Solving one contact problem with any solver of the registry."""

from __future__ import annotations

from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from . import _stiction
from ._stiction import ContactProblem, ContactSolution, SolverSettings
from .loading import _check_names, _check_type, _set_typed

__all__ = ["solve"]


class OtherOptions(TypedDict, total=False):
    """Keyword settings of `solve`; each names the solvers that read it.

    max_factorisations: >= 0, per island, 0: by formula: ncp-newton. Default 2000.
    time_budget: [s] >= 0, 0 (default): none: ncp-newton; results then depend on the machine.
    centred_loads: ncp-newton: where impulses are not unique, those of the interior point method,
        independent of the warm start; else, the default, near the warm start.
    over_relaxation: in (0, 2): *-pgs, *-admm, *-staggered. Default 1.
    facets: 4 (default), 8 or 16, of the pyramid: lcp-*.
    proximal: > 0, eta / mean diag(G): *-admm, *-staggered, lcp-lemke, lcp-qp. Default 1e-6.
    raisim_alpha_min: in (0, 1]: the relaxation of raisim falls from 1 to it. Default 0.1.
    raisim_gamma: in [0, 1]: by this factor of what is left in each sweep. Default 0.99.
    regularisation: ccp-newton: "contact-norm" (default), "diagonal", or (n,) rows > 0.
    regularisation_weight: > 0, factor of the rule: ccp-newton. Default 1.
    regularise_infeasible: ncp-newton: answer an infeasible problem with the compliant one.
        Default False.
    """

    max_factorisations: int
    time_budget: float
    centred_loads: bool
    over_relaxation: float
    facets: int
    proximal: float
    raisim_alpha_min: float
    raisim_gamma: float
    regularisation: str | ArrayLike
    regularisation_weight: float
    regularise_infeasible: bool


class SolverOptions(OtherOptions, total=False):
    """Keyword settings of the solvers, OtherOptions among them.

    tolerance: > 0, on the relative residual of the solver's own model. Default 1e-8.
    max_iterations: >= 1, per island: sweeps, or steps of the algorithm. Default 1000.
    """

    tolerance: float
    max_iterations: int


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
