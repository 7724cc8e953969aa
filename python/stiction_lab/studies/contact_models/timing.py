"""Time of one solve to a tolerance, measured in C++."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray
from stiction import _stiction
from stiction.solving import solve

REPEATS = 7
TIMED = 3e6  # [ns] of all repeats of one solve
LONG = 5e-3  # [s]; beside a solve of this length the call from Python is nothing


def time_solve(
    problem: _stiction.ContactProblem,
    name: str,
    tolerance: float,
    start: NDArray[np.float64] | None,
) -> tuple[float, _stiction.ContactSolution]:
    """Median time of a solve [µs], infinite if the tolerance is not reached, and its solution."""
    begin = time.perf_counter()
    solution = solve(problem, name, tolerance=tolerance, warm_start=start)
    elapsed = time.perf_counter() - begin
    if solution.status not in ("converged", "rounding_limited"):
        return float("inf"), solution
    if elapsed > LONG:
        return 1e6 * elapsed, solution
    settings = _stiction.SolverSettings()
    settings.name, settings.tolerance = name, tolerance
    repeats = int(np.clip(TIMED / (1e9 * elapsed), 2, REPEATS))
    nanoseconds = _stiction._time_solve(problem, settings, start, 0.0, repeats)
    return 1e-3 * float(np.median(nanoseconds)), solution
