"""Contact problems in files: the same bits come back, and the hard ones keep their answers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import stiction
from stiction.cli import app
from typer.testing import CliRunner

PROBLEMS = Path(__file__).parent.parent / "data" / "problems"
SCENES = {"solo12": 30, "box-stack(4)": 20, "cartpole": 890, "four-bar": 50, "two-cubes": 10}
"""Scene -> steps: one tree, several islands, limits, closures, a large ratio of masses."""


def stepped(name: str, steps: int, **settings: float) -> stiction.Simulator:
    sim = stiction.Simulator(stiction.load(name), **settings)
    state = sim.initial_state()
    sim.run(state, sim.hold(), steps)
    return sim


def assert_same_bits(a: stiction.ContactSolution, b: stiction.ContactSolution) -> None:
    assert a.impulse.tobytes() == b.impulse.tobytes()
    assert a.velocity.tobytes() == b.velocity.tobytes()
    assert (a.status, a.iterations, a.factorisations) == (b.status, b.iterations, b.factorisations)


@pytest.mark.parametrize("name", SCENES)
def test_a_step_is_saved_and_solved_again_to_the_same_bits(name: str, tmp_path: Path) -> None:
    sim = stepped(name, SCENES[name])
    path = tmp_path / "step.npz"
    sim.save_problem(path)
    again = stiction.load_problem(path)
    assert again.num_rows == sim.problem().num_rows > 0
    assert again.num_islands == sim.problem().num_islands
    start = stiction.load_warm_start(path)
    assert_same_bits(sim.solution(), stiction.solve(again, warm_start=start))
    for solver in ("ncp-pgs", "ccp-newton", "ncp-admm"):
        first = stiction.solve(sim.problem(), solver, max_iterations=50)
        assert_same_bits(first, stiction.solve(again, solver, max_iterations=50))


def test_compliance_comes_back_to_the_same_bits(tmp_path: Path) -> None:
    scene = stiction.Scene()
    soft = stiction.Material(friction=0.3, stiffness=1e5, damping=10.0)
    scene.add_ground(soft)
    for k in range(2):
        pose = np.eye(4)
        pose[:3, 3] = [k, 0, 0.1 - 1e-4]
        scene.add_body(f"box{k}", stiction.Box([0.1, 0.1, 0.1]), 1.0 + k / 3, pose, soft)
    sim = stiction.Simulator(scene)
    sim.run(sim.initial_state(), None, 7)
    assert sim.problem().num_islands == 2 and sim.problem().R.max() > 0
    sim.save_problem(tmp_path / "soft.npz")
    again = stiction.load_problem(tmp_path / "soft.npz")
    assert again.dense().tobytes() == sim.problem().dense().tobytes()
    assert again.R.tobytes() == sim.problem().R.tobytes()
    assert_same_bits(
        sim.solution(),
        stiction.solve(again, warm_start=stiction.load_warm_start(tmp_path / "soft.npz")),
    )


def test_refuses_what_is_no_problem(tmp_path: Path) -> None:
    problem = stiction.ContactProblem(np.eye(3), np.array([0.0, 0.0, -1.0]), [0.5])
    with pytest.raises(ValueError, match=r"must end in \.npz"):
        stiction.save_problem(tmp_path / "p.txt", problem)
    with pytest.raises(ValueError, match="warm_start has shape"):
        stiction.save_problem(tmp_path / "p.npz", problem, [1.0])
    stiction.save_problem(tmp_path / "p.npz", problem)
    assert stiction.load_warm_start(tmp_path / "p.npz") is None
    with np.load(tmp_path / "p.npz") as data:
        arrays = dict(data)
    for name, wrong, words in [
        ("version", np.array(9), "version is 9, this library reads 1 to 6"),
        ("run_columns", np.array([1]), "run_columns"),
        ("island_start", np.array([0, 2]), "island_start"),
        ("A", -np.eye(2), "A is 2 x 2"),
        ("R", np.array([0.0, -1.0, 0.0]), "R"),
    ]:
        np.savez(tmp_path / "wrong.npz", **(arrays | {name: wrong}))
        with pytest.raises(stiction.StictionError, match=words):
            stiction.load_problem(tmp_path / "wrong.npz")


def test_islands_that_couple_are_refused(tmp_path: Path) -> None:
    sim = stepped("box-stack(2)", 5)
    sim.save_problem(tmp_path / "p.npz")
    with np.load(tmp_path / "p.npz") as data:
        arrays = dict(data)
    sets = len(arrays["mu"])
    arrays["island_start"] = np.array([0, sets // 2, sets])
    np.savez(tmp_path / "p.npz", **arrays)
    with pytest.raises(stiction.StictionError, match="is coupled to another"):
        stiction.load_problem(tmp_path / "p.npz")


# --- the hard ones ----------------------------------------------------------------------

SOLVED = ("two_cubes", "stack4_ratio_1e6", "random_12_contacts", "solo12_on_springs")
INFEASIBLE = ("infeasible", "infeasible_by_little")


def test_every_problem_has_an_expectation() -> None:
    known = {*SOLVED, *INFEASIBLE, "stack15_ratio_1e5"}
    assert {path.stem for path in PROBLEMS.glob("*.npz")} == known
    text = (PROBLEMS / "README.md").read_text()
    assert all(f"`{name}`" in text for name in known)


@pytest.mark.parametrize("name", SOLVED)
def test_solved(name: str) -> None:
    """By ncp-newton from zero, the hardest in 2012 factorisations; not by sweeps alone."""
    problem = stiction.load_problem(PROBLEMS / f"{name}.npz")
    solution = stiction.solve(problem, max_factorisations=3000)
    assert solution.status == "converged"
    assert stiction.residuals(problem, solution.impulse).relative <= 1e-8


@pytest.mark.parametrize("name", ["two_cubes", "stack4_ratio_1e6"])
def test_sweeps_alone_fail(name: str) -> None:
    problem = stiction.load_problem(PROBLEMS / f"{name}.npz")
    swept = stiction.solve(problem, "ncp-pgs")
    assert swept.status == "max_iterations"
    assert stiction.residuals(problem, swept.impulse).relative > 1e-6


@pytest.mark.parametrize("name", INFEASIBLE)
def test_infeasible(name: str) -> None:
    problem = stiction.load_problem(PROBLEMS / f"{name}.npz")
    assert stiction.solve(problem).status == "infeasible"
    compliant = stiction.solve(problem, regularise_infeasible=True)
    assert compliant.status == "regularised" and not compliant.converged
    assert compliant.regularisation is not None


@pytest.mark.parametrize("compliance", [1e-300, 1e-20, 1e-16, 1e-14])
def test_infeasible_but_for_rounding(compliance: float) -> None:
    """A physical compliance that double cannot tell from none: the same answer, finite."""
    rigid = stiction.load_problem(PROBLEMS / "infeasible.npz")
    R = np.full(rigid.num_rows, compliance)
    problem = stiction.ContactProblem(rigid.dense(), rigid.g, sets=rigid.sets, R=R)
    assert stiction.solve(problem).status == "infeasible"
    soft, reference = (
        stiction.solve(p, regularise_infeasible=True, tolerance=1e-10) for p in (problem, rigid)
    )
    assert soft.status == reference.status == "regularised"
    np.testing.assert_allclose(soft.velocity, reference.velocity, atol=1e-6)
    np.testing.assert_allclose(soft.regularisation, reference.regularisation, rtol=1e-9)


@pytest.mark.parametrize("name", [*SOLVED, *INFEASIBLE, "stack15_ratio_1e5"])
def test_a_budget_of_factorisations_is_kept(name: str) -> None:
    """By every stage, whichever it ends in, and by the compliant answer."""
    problem = stiction.load_problem(PROBLEMS / f"{name}.npz")
    whole = stiction.solve(problem)
    for budget in (1, 2, 7, 40, 100, 250, 700):
        solution = stiction.solve(problem, max_factorisations=budget)
        assert solution.factorisations <= budget
        assert solution.status in ("budget", whole.status)
        soft = stiction.solve(problem, max_factorisations=budget, regularise_infeasible=True)
        assert soft.factorisations <= budget


def test_the_one_that_fails_says_so() -> None:
    """A known limit of ncp-newton, kept so that its end is noticed: then move it to SOLVED."""
    problem = stiction.load_problem(PROBLEMS / "stack15_ratio_1e5.npz")
    solution = stiction.solve(problem)
    assert solution.status in ("budget", "stalled") and not solution.converged
    reached = stiction.residuals(problem, solution.impulse).relative
    assert 1e-8 < reached < 1e-2
    assert reached == pytest.approx(solution.residuals.relative, rel=1e-6)


def test_rigid_rows_of_a_compliant_step(tmp_path: Path) -> None:
    """Closures beside a ball on soft ground."""
    scene = stiction.load("four-bar")
    scene.add_ground(stiction.Material(stiffness=1e4, damping=10.0))
    pose = np.eye(4)
    pose[:3, 3] = [5.0, 0.0, 0.1]
    scene.add_body("ball", stiction.Sphere(0.1), 1.0, pose)
    sim = stiction.Simulator(scene, integrator="exponential")
    sim.run(sim.initial_state(), sim.hold(), 5)
    sim.save_problem(tmp_path / "rows.npz")
    again = stiction.load_problem(tmp_path / "rows.npz")
    assert again.num_rows == sim.problem().num_rows > 0
    start = stiction.load_warm_start(tmp_path / "rows.npz")
    assert_same_bits(sim.solution(), stiction.solve(again, warm_start=start))


# --- the command ------------------------------------------------------------------------


def test_solve_command(tmp_path: Path) -> None:
    sim = stepped("solo12", 30)
    sim.save_problem(tmp_path / "step.npz")
    runner = CliRunner()
    result = runner.invoke(app, ["solve", str(tmp_path / "step.npz"), "--json"])
    assert result.exit_code == 0
    got = json.loads(result.stdout)
    assert got["status"] == "converged" and got["residuals"]["relative"] <= 1e-8
    assert np.array(got["impulse"]).tobytes() == sim.solution().impulse.tobytes()
    table = runner.invoke(app, ["solve", str(tmp_path / "step.npz"), "--solver", "ccp-pgs"])
    assert table.exit_code == 0 and "CCP" in table.stdout
    failed = runner.invoke(app, ["solve", str(PROBLEMS / "infeasible.npz"), "--json"])
    assert failed.exit_code == 1 and "infeasible" in failed.stderr
    assert json.loads(failed.stdout)["status"] == "infeasible"
