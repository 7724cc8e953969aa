"""Every setting is read by those that say so, and refused by name where it is not."""

from __future__ import annotations

import subprocess
import sys
import warnings
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stiction
from stiction import _stiction

ROOT = Path(__file__).parents[2]
FIELDS = {field["name"]: field for field in _stiction._setting_fields()}
OTHER: dict[str, Any] = {
    "max_factorisations": 1,
    "max_work": 1.0,
    "time_budget": 1e-9,
    "over_relaxation": 0.5,
    "facets": 8,
    "proximal": 1e-2,
    "raisim_alpha_min": 0.5,
    "raisim_gamma": 0.1,
    "regularisation_weight": 100.0,
    "dt": 2e-3,
    "restitution_threshold": 10.0,
    "max_iterations": 1,
    "tolerance": 1e-17,
    "law": "published",
    "projection": "euclidean",
    "impact_law": "newton",
    "smoothing": 1e-3,
    "substeps": 3,
    "newton_tolerance": 0.5,
    "newton_iterations": 1,
    "newton_halvings": 0,
    "accuracy": 1e-6,
    "max_products": 0,
    "points_per_pair": 1,
}
"""A value that is not the default; what is not here is doubled, or the other of two."""


def other(name: str) -> Any:
    usual = FIELDS[name]["default"]
    value = (
        OTHER[name] if name in OTHER else (not usual if isinstance(usual, bool) else 0.5 * usual)
    )
    assert value != usual
    return value


def is_read(name: str, by: str) -> bool:
    patterns = FIELDS[name]["readers"].split()
    return not patterns or any(fnmatchcase(by, pattern) for pattern in patterns)


def scene() -> stiction.Scene:
    scene = stiction.load("cube-slide")
    scene.parameters.stiffness[:] = 1e4
    return scene


@pytest.mark.parametrize("name", sorted(FIELDS))
def test_what_is_not_read_is_refused_by_name(name: str) -> None:
    kind = FIELDS[name]["kind"]
    registry = _stiction.solvers() if kind == "solver" else _stiction.integrators()
    refused = 0
    for reader in registry:
        settings = {kind: reader, name: other(name)}
        if is_read(name, reader):
            assert getattr(stiction.Simulator(scene(), **settings).settings, name) == other(name)
            continue
        with pytest.raises(ValueError, match=f'^{name} = .*: {kind} "{reader}" does not read it'):
            stiction.Simulator(scene(), **settings)
        refused += 1
    assert refused == sum(not is_read(name, reader) for reader in registry)
    assert refused < len(registry)  # somebody reads it


def problems() -> list[stiction.ContactProblem]:
    """Small ones with sliding, sticking and opening contacts that share bodies."""
    rng = np.random.default_rng(3)
    found = []
    for n in (1, 2, 4, 5):
        for _ in range(3):
            J = rng.normal(size=(3 * n, 6 if n < 5 else 9))
            found.append(stiction.ContactProblem(J @ J.T, rng.normal(size=3 * n), np.full(n, 0.4)))
    G = np.diag([1.0, 1.0, 0.0])
    found.append(stiction.ContactProblem(G, np.array([0.1, 0.0, -1.0]), [0.5]))  # infeasible
    return found


def large_problem() -> stiction.ContactProblem:
    """More than 300 rows on loose bodies, pushed over."""
    sim = stiction.Simulator(stiction.load("box-stack(30)"))
    state = sim.initial_state()
    state.v[6::12] += 0.5
    sim.step(state)
    return sim.problem()


def outcome(problem: stiction.ContactProblem, **settings: Any) -> tuple[Any, ...]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        s = stiction.solve(problem, **settings)
    return s.impulse.tobytes(), s.iterations, s.factorisations, s.status, s.regularisation is None


READ = [
    (name, solver)
    for name in sorted(FIELDS)
    if FIELDS[name]["kind"] == "solver"
    for solver in _stiction.solvers()
    if is_read(name, solver)
]


@pytest.mark.parametrize(("name", "solver"), READ)
def test_a_solver_that_reads_a_setting_reacts_to_it(name: str, solver: str) -> None:
    usual = getattr(_stiction.SolverSettings(), name)
    value = not usual if isinstance(usual, bool) else other(name)
    if name == "tolerance_large":
        value = 1e-6  # the last step of the solver goes beyond half the usual one
    given = [large_problem()] if name == "tolerance_large" else problems()
    reactions = [
        outcome(p, solver=solver) != outcome(p, solver=solver, **{name: value}) for p in given
    ]
    assert any(reactions)


def test_refused_by_solve_and_compare_as_well() -> None:
    problem = problems()[0]
    with pytest.raises(ValueError, match=r'^facets = 8: solver "ncp-newton" does not read it; of'):
        stiction.solve(problem, facets=8)
    with pytest.raises(ValueError, match=r"^regularisation: solver .* of ccp-newton"):
        stiction.solve(problem, regularisation="diagonal")
    sim = stiction.Simulator(stiction.load("cube-slide"))
    state = sim.initial_state()
    compared = sim.compare(state, solvers=["ncp-newton", "lcp-pgs"], facets=8)
    assert set(compared.results) == {"ncp-newton", "lcp-pgs"}
    with pytest.raises(ValueError, match="facets = 8: read by none of ncp-newton, raisim"):
        sim.compare(state, solvers=["ncp-newton", "raisim"], facets=8)
    with pytest.raises(ValueError, match="facets = 8: read by none of ccp-newton"):
        sim.explain(state, facets=8)


def test_keywords_stub_and_page_are_current() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "settings_page.py"), "--check"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
