"""Solving raw arrays: the problems of ContactBench and every kind of constraint."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import stiction
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DATA = Path(__file__).parent.parent / "data" / "contactbench_solutions.npz"
ORACLE = 0  # NCP-PGS among the oracle's solvers


@pytest.fixture(scope="module")
def oracle() -> dict[str, NDArray[np.generic]]:
    with np.load(DATA) as data:
        return dict(data)


def natural_residual(impulse: Floats, c: Floats, mu: Floats, G: Floats) -> float:
    """Alart-Curnier's natural map, largest over contacts, relative to the largest impulse."""
    worst = 0.0
    for i, coefficient in enumerate(mu):
        rows = slice(3 * i, 3 * i + 3)
        step = 3.0 / np.trace(G[rows, rows])
        normal = max(0.0, impulse[rows][2] - step * c[rows][2])
        tangent = impulse[rows][:2] - step * c[rows][:2]
        length = np.linalg.norm(tangent)
        if length > coefficient * normal:
            tangent = tangent * (coefficient * normal / length)
        worst = max(worst, float(np.linalg.norm(impulse[rows] - np.r_[tangent, normal])))
    return worst / max(float(np.abs(impulse).max()), 1e-300)


@pytest.mark.parametrize("index", [0, 1])
def test_contacts_that_keep_sweeps_circling(index: int) -> None:
    """Two steps of Talos under noise, mu = 0.9: sweeps alone never arrive."""
    problem = stiction.load_problem(DATA.parent / f"talos_circling_{index}.npz")
    swept = stiction.solve(problem, "ncp-pgs", max_iterations=20000)
    assert swept.status == "max_iterations"
    assert swept.residuals.relative > 1e-4  # the best of all sweeps
    solved = stiction.solve(problem, max_iterations=200)
    assert solved.status == "converged"
    assert solved.residuals.relative <= 1e-8
    assert solved.iterations < 100  # sweeps are not what solves them


@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("index", range(72))
def test_contactbench(oracle: dict[str, NDArray[np.generic]], index: int, column: int) -> None:
    """Where the oracle's NCP-PGS reaches the tolerance, ours does.

    The impulse itself is not compared: with rank deficient G it is not unique. Complementarity is
    of second order in the direction of friction, hence the square root.
    """
    tolerance = float(oracle["tolerances"][column])
    G, g, mu, R = (oracle[f"p{index:03d}_{name}"] for name in ("G", "g", "mu", "R_comp"))
    solution = stiction.solve(
        stiction.ContactProblem(G, g, mu, R=R), "ncp-newton", tolerance, max_iterations=50_000
    )
    impulse, c = solution.impulse, solution.velocity
    rounding = 1e-13 * (np.abs(G) @ np.abs(impulse) + np.abs(g)).max()
    np.testing.assert_allclose(c, (G + np.diag(R)) @ impulse + g, rtol=0, atol=rounding)

    theirs = oracle["lam"][index, ORACLE, column][: len(g)]
    reached = float(oracle["res_nat_ac"][index, ORACLE, column]) / max(np.abs(theirs).max(), 1e-300)
    if not reached <= tolerance:
        assert np.isfinite(impulse).all()
        return
    assert solution.status in ("converged", "rounding_limited")
    if solution.status == "converged":
        assert solution.residuals.relative <= tolerance
    assert natural_residual(impulse, c, mu, G + np.diag(R)) <= np.sqrt(tolerance)


def test_contactbench_is_mostly_within_reach(oracle: dict[str, NDArray[np.generic]]) -> None:
    """Guards the test above against an oracle that reaches nothing."""
    largest = np.nanmax(np.abs(oracle["lam"][:, ORACLE]), axis=2)
    reached = oracle["res_nat_ac"][:, ORACLE] / np.maximum(largest, 1e-300) <= oracle["tolerances"]
    assert reached.sum(axis=0).min() > 35


def test_velocities_agree_with_the_reference(oracle: dict[str, NDArray[np.generic]]) -> None:
    """c is unique in practice: against the polished reference solutions."""
    agree = compared = 0
    for index, reference in enumerate(oracle["ref_ncp_c"]):
        G, g, mu, R = (oracle[f"p{index:03d}_{name}"] for name in ("G", "g", "mu", "R_comp"))
        c = reference[: len(g)]
        if not np.isfinite(c).all() or oracle["families"][index] == "random_infeasible":
            continue
        solution = stiction.solve(
            stiction.ContactProblem(G, g, mu, R=R), "ncp-newton", 1e-12, max_iterations=50_000
        )
        compared += 1
        agree += np.abs(solution.velocity - c).max() <= 1e-5 * np.abs(g).max()
    assert compared >= 55
    assert agree == compared


# --- every kind of constraint, against closed forms -------------------------------------


def diagonal(sets: list[stiction.ConstraintSet], diag: Floats, g: Floats) -> Floats:
    problem = stiction.ContactProblem(np.diag(diag), g, sets=sets)
    solution = stiction.solve(problem, tolerance=1e-12)
    assert solution.converged
    return solution.impulse


def test_non_negative() -> None:
    sets = [stiction.NonNegative(), stiction.NonNegative()]
    impulse = diagonal(sets, np.array([2.0, 2.0]), np.array([-1.0, 1.0]))
    np.testing.assert_allclose(impulse, [0.5, 0.0], atol=1e-12)


def test_box() -> None:
    sets = [stiction.BoxSet(-0.1, 0.2)] * 3
    impulse = diagonal(sets, np.ones(3), np.array([-1.0, 1.0, -0.05]))
    np.testing.assert_allclose(impulse, [0.2, -0.1, 0.05], atol=1e-12)


def test_free() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5, 5))
    G, g = A @ A.T + np.eye(5), rng.normal(size=5)
    problem = stiction.ContactProblem(G, g, sets=[stiction.Free(2), stiction.Free(3)])
    solution = stiction.solve(problem, tolerance=1e-12, max_iterations=100_000)
    np.testing.assert_allclose(solution.impulse, -np.linalg.solve(G, g), rtol=1e-8, atol=1e-9)


def test_cone_sticks_slides_and_opens() -> None:
    sets = [stiction.ContactCone(0.5)] * 3
    g = np.array([0.1, 0, -1.0, 2.0, 0, -1.0, 0, 0, 1.0])
    impulse = diagonal(sets, np.ones(9), g)
    np.testing.assert_allclose(impulse, [-0.1, 0, 1, -0.5, 0, 1, 0, 0, 0], atol=1e-12)


def test_no_friction_and_compliance() -> None:
    problem = stiction.ContactProblem(np.eye(3), [1.0, 0, -1.0], [0.0], R=[0, 0, 1.0])
    solution = stiction.solve(problem)
    np.testing.assert_allclose(solution.impulse, [0, 0, 0.5], atol=1e-9)
    np.testing.assert_allclose(problem.dense(), np.diag([1, 1, 2.0]))
    np.testing.assert_array_equal(problem.R, [0, 0, 1])


def test_empty_problem() -> None:
    solution = stiction.solve(stiction.ContactProblem(np.zeros((0, 0)), [], sets=[]))
    assert solution.converged
    assert solution.impulse.shape == (0,)


# --- the interface ----------------------------------------------------------------------


def test_mu_or_sets() -> None:
    G, g = np.eye(6), np.array([0.1, 0, -1, 2, 0, -1.0])
    forms = [
        stiction.ContactProblem(G, g, [0.5, 0.5]),
        stiction.ContactProblem(G, g, mu=[0.5, 0.5]),
        stiction.ContactProblem(G, g, [stiction.ContactCone(0.5)] * 2),
        stiction.ContactProblem(G, g, sets=[stiction.ContactCone(0.5)] * 2),
    ]
    impulses = [stiction.solve(p).impulse for p in forms]
    for impulse in impulses[1:]:
        np.testing.assert_array_equal(impulse, impulses[0])
    assert [s.offset for s in forms[0].sets] == [0, 3]
    assert [repr(s) for s in forms[3].sets] == ["ContactCone(0.5)"] * 2


def test_warm_start_saves_iterations(oracle: dict[str, NDArray[np.generic]]) -> None:
    problem = stiction.ContactProblem(*(oracle[f"p011_{name}"] for name in ("G", "g", "mu")))
    cold = stiction.solve(problem, "ncp-pgs", tolerance=1e-10, max_iterations=10_000)
    warm = stiction.solve(
        problem, "ncp-pgs", tolerance=1e-10, max_iterations=10_000, warm_start=cold.impulse
    )
    assert warm.iterations < cold.iterations


def test_residuals_of_any_impulse() -> None:
    problem = stiction.ContactProblem(np.eye(3), [0, 0, -1.0], [0.5])
    exact = stiction.residuals(problem, [0, 0, 1.0])
    assert exact.relative < 1e-15
    outside = stiction.residuals(problem, [1.0, 0, 1.0])  # 0.5 beyond the cone of slope 0.5
    assert outside.primal == pytest.approx(0.5 / np.sqrt(1.25))
    pulling = stiction.residuals(problem, [0, 0, -1.0])
    assert pulling.primal == pytest.approx(1.0)
    np.testing.assert_allclose(problem.velocity([0, 0, 0.25]), [0, 0, -0.75])


def test_an_iteration_limit_is_said() -> None:
    rng = np.random.default_rng(1)
    A = rng.normal(size=(30, 12))
    problem = stiction.ContactProblem(A @ A.T, rng.normal(size=30), np.full(10, 0.7))
    solution = stiction.solve(problem, "ncp-pgs", tolerance=1e-14, max_iterations=1)
    assert solution.status == "max_iterations"
    assert not solution.converged
    assert solution.iterations == 1


def test_a_time_budget_is_said() -> None:
    problem = stiction.load_problem(DATA.parent / "talos_circling_0.npz")
    free = stiction.solve(problem)
    assert free.converged and free.deterministic
    stopped = stiction.solve(problem, time_budget=1e-9)
    assert stopped.status == "budget" and not stopped.deterministic
    assert stopped.residuals.relative > 1e-8
    assert stopped.residuals.relative == stiction.residuals(problem, stopped.impulse).relative
    with pytest.raises(ValueError, match="time_budget = -1"):
        stiction.solve(problem, time_budget=-1.0)


def test_threads_may_solve_the_same_problem() -> None:
    sim = stiction.Simulator(stiction.load("box-stack(12)"))
    state = sim.initial_state()
    state.v[6::12] += 0.5
    sim.step(state)
    for solver in ("ncp-newton", "ccp-newton"):
        expected = stiction.solve(sim.problem(), solver=solver).impulse
        for _ in range(5):
            problem = sim.problem()
            with ThreadPoolExecutor(4) as pool:
                runs = [pool.submit(stiction.solve, problem, solver=solver) for _ in range(8)]
            for run in runs:
                np.testing.assert_array_equal(run.result().impulse, expected)


def test_problems_travel_as_files(tmp_path: Path) -> None:
    sim = stiction.Simulator(stiction.load("solo12"))
    state = sim.initial_state("standing")
    sim.run(state, sim.hold("standing"), 5)
    mixed = stiction.ContactProblem(
        np.diag(np.linspace(1, 2, 7)),
        np.linspace(-1, 1, 7),
        sets=[
            stiction.ContactCone(0.5),
            stiction.NonNegative(),
            stiction.BoxSet(-0.1, 0.1),
            stiction.Free(2),
        ],
        R=np.full(7, 0.25),
    )
    for problem in (sim.problem(), mixed):
        stiction.save_problem(tmp_path / "problem.npz", problem)
        again = stiction.load_problem(tmp_path / "problem.npz")
        np.testing.assert_array_equal(again.dense(), problem.dense())
        np.testing.assert_array_equal(again.g, problem.g)
        assert [repr(s) for s in again.sets] == [repr(s) for s in problem.sets]
    with np.load(tmp_path / "problem.npz") as data:
        arrays = dict(data) | {"version": 9}
    np.savez(tmp_path / "newer.npz", **arrays)
    with pytest.raises(stiction.StictionError, match="version is 9, this library reads 1 to 6"):
        stiction.load_problem(tmp_path / "newer.npz")


def test_the_registry_names_models() -> None:
    names = stiction.solvers()
    assert names["ncp-pgs"].startswith("NCP: ")
    assert list(names) == sorted(names)


@pytest.mark.parametrize("solver", sorted(stiction.solvers()))
def test_a_bound_that_excludes_zero_is_not_solved_by_zero(solver: str) -> None:
    problem = stiction.ContactProblem([[1.0]], [0.0], sets=[stiction.BoxSet(1.0, 2.0)])
    assert stiction.residuals(problem, [0.0]).relative == 1.0
    try:
        solution = stiction.solve(problem, solver)
    except ValueError:  # models without boxes say so
        return
    assert not solution.converged or solution.impulse[0] == pytest.approx(1.0)


def test_a_time_budget_without_end_is_none() -> None:
    problem = stiction.ContactProblem(np.eye(3), [1.0, 0.0, -1.0], [0.5])
    assert stiction.solve(problem, time_budget=math.inf).converged
    with pytest.raises(ValueError, match="at most 1e4"):
        stiction.ContactProblem(np.eye(3), [1.0, 0.0, -1.0], [1e5])


def test_stages_say_what_solved() -> None:
    problem = stiction.ContactProblem(np.eye(3), [1.0, 0.5, -1.0], [0.5])
    solution = stiction.solve(problem)
    assert sum(stage["factorisations"] for stage in solution.stages) == solution.factorisations
    assert [stage["stage"] for stage in solution.stages if stage["ends"]] == ["few rows"]
    assert solution.stages[-1]["relative"] <= 1e-8 and solution.stages[0]["island"] == 0
    assert stiction.solve(problem, solver="ncp-pgs").stages == []
    many = stiction.ContactProblem(np.eye(66), np.tile([1.0, 0.5, -1.0], 22), [0.5] * 22)
    assert [s["stage"] for s in stiction.solve(many).stages if s["ends"]] == ["limit"]


def test_last_stage_solves_what_others_do_not() -> None:
    path = DATA.parent / "problems" / "random_12_contacts.npz"
    solution = stiction.solve(stiction.load_problem(path))
    assert solution.status == "converged"
    assert solution.stages[-1]["stage"] == "scattered" and solution.stages[-1]["ends"]
