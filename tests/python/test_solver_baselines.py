"""Iterations of first-order solvers on the Talos problems of figure 16: ours and as published."""

import numpy as np
import pytest
from stiction import solve
from stiction.pages.experiment import Effort
from stiction_lab.studies.contact_models import robot_problems
from stiction_lab.studies.contact_models.robot_problems import Recorded


@pytest.fixture(scope="module")
def talos() -> list[Recorded]:
    return robot_problems.record(robot_problems.TRAJECTORIES["Talos"], 40, Effort())


def counts(recorded: list[Recorded], solver: str, most: int = 1000) -> list[float]:
    found = [solve(r.problem, solver, 1e-6, max_iterations=most) for r in recorded]
    return [x.iterations if x.converged else float("inf") for x in found]


@pytest.mark.parametrize(
    ("solver", "most"),
    [("ccp-admm", 45), ("ccp-admm-published", 80), ("ncp-admm", 45), ("ncp-admm-published", 130)],
)
def test_median_iterations(talos: list[Recorded], solver: str, most: int) -> None:
    """71 and 107 are those of copies of the published rules in NumPy."""
    found = counts(talos, solver)
    assert np.isfinite(found).all()
    assert float(np.median(found)) <= most


@pytest.mark.parametrize("solver", ["ncp-pgs", "ncp-pgs-published"])
def test_sweeps_end_within_sixteen_of_their_tolerance(talos: list[Recorded], solver: str) -> None:
    """Talos is hyperstatic: its impulses move long after the residual is met."""
    late = 0
    for recorded in talos[::4]:
        found = solve(recorded.problem, solver, 1e-6)
        assert found.converged
        earlier = found.iterations - 17
        if earlier < 1:
            continue
        late += 1
        assert not solve(recorded.problem, solver, 1e-6, max_iterations=earlier).converged
    assert late > 3
