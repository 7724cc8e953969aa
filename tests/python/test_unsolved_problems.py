"""Contact problems that were once not solved: they end within their budget, and harmlessly.

Steps of random scenes and of a robot whose hulls lock a joint (tests/data/unsolved).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import stiction
from stiction import _stiction

FILES = sorted((Path(__file__).parent.parent / "data" / "unsolved").glob("*.npz"))
SOLVED = ("converged", "rounding_limited")
ENDS = (*SOLVED, "infeasible", "stalled", "budget")
SPARSE = 600
"""Factorisations in the coordinates of the bodies, an island (docs/solvers.md, Budgets)."""


def dense_budget(rows: int) -> int:
    """f(n) of docs/solvers.md."""
    return 2 + int(800 / (1 + (rows / 72) ** 2))


def budget(path: Path) -> int:
    """Of all islands of a file."""
    data = np.load(path)
    rows = np.diff(data["offsets"][data["island_start"]])
    return sum(dense_budget(int(n)) + SPARSE for n in rows)


def normals(problem: stiction.ContactProblem) -> list[int]:
    """Rows that can only push: normals and limits."""
    rows, offset = [], 0
    for contact_set in problem.sets:
        if contact_set.kind in ("cone", "non_negative"):
            rows.append(offset + contact_set.dim - 1)
        offset += contact_set.dim
    return rows


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_problem_ends_within_its_budget(path: Path) -> None:
    problem = stiction.load_problem(path)
    solution = stiction.solve(problem, max_factorisations=0)
    assert solution.status in ENDS
    assert solution.factorisations <= budget(path)
    if solution.status == "converged":
        assert solution.residuals.relative <= 1e-8


@pytest.mark.parametrize("asked", [0.0, 1.0], ids=["free", "recovering"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_a_step_takes_of_it_gains_no_energy(path: Path, asked: float) -> None:
    problem = stiction.load_problem(path)
    G, g = problem.dense(), np.asarray(problem.g)
    assert not np.asarray(problem.R).any(), "no springs, which may give energy back"
    reference, pushing = np.zeros(len(g)), normals(problem)
    reference[pushing] = asked * np.maximum(-g[pushing], 0.0)  # all the approach is a correction
    solution = stiction.solve(problem, max_factorisations=0)
    taken, replaced = _stiction._safe_solution(problem, solution, reference, reference)
    impulse = np.asarray(taken.impulse)
    # v+ = v_f + M^-1 J^T l and J v_f = g + c*: the kinetic energy changes by
    gain = impulse @ (g + reference) + 0.5 * impulse @ G @ impulse
    allowed = 0.5 * np.sum(reference[pushing] ** 2 / np.diag(G)[pushing])
    if solution.status in SOLVED:
        allowed = impulse @ reference  # report.recovery_energy
    size = np.abs(impulse) @ (np.abs(g) + reference) + 1e-300
    assert gain <= (0.0 if replaced == problem.num_islands else allowed) + 1e-8 * size
    assert np.all(impulse[pushing] >= -1e-9 * np.abs(impulse).max(initial=0.0))
    assert np.asarray(taken.velocity) == pytest.approx(G @ impulse + g, abs=1e-6 * np.abs(g).max())


def test_the_files_reach_both_answers() -> None:
    answers = set()
    for path in FILES:
        problem = stiction.load_problem(path)
        zero = np.zeros(problem.num_rows)
        solution = stiction.solve(problem, max_factorisations=0)
        answers.add(_stiction._safe_solution(problem, solution, zero, zero)[1] > 0)
    assert answers == {True, False} and len(FILES) == 11


def test_a_problem_of_300_rows_ends_within_its_budget() -> None:
    rng = np.random.default_rng(5)
    ends = set()
    for trial in range(6):
        contacts, dofs = 100, (20, 60, 240)[trial % 3]
        J = rng.uniform(-1, 1, (3 * contacts, dofs))
        scale = 10.0 ** rng.uniform(-2, 2, dofs)
        g = J @ rng.uniform(-1, 1, dofs)
        if trial % 2:  # all asked to open beside: more than the dofs can do
            g[2::3] -= rng.uniform(0, 1, contacts)
        problem = stiction.ContactProblem((J * scale) @ J.T, g, rng.uniform(0, 2, contacts))
        solution = stiction.solve(problem, max_factorisations=0)
        assert solution.factorisations <= dense_budget(300), "arrays have no bodies"
        ends.add(solution.status)
    assert ends - {"converged"}, "some end early"
