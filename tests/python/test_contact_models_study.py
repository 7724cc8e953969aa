"""The study of contact models: scenes are what they claim, the quick run gives a full report."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
import stiction

pytest.importorskip("matplotlib", reason='figures: pip install ".[study]"')

from stiction.cli import app
from stiction.pages.experiment import QUICK, Effort
from stiction.pages.palette import MODELS
from stiction_lab.studies.contact_models import (
    bouncing_slide,
    cubes,
    dragged_cube,
    mass_ratio,
    paper,
    problems,
    properties,
    pyramid_drift,
    solvers,
    table_two,
)
from stiction_lab.studies.contact_models.lines import Panel, coinciding, draw
from stiction_lab.studies.contact_models.simulate import simulate
from stiction_lab.studies.contact_models.study import EXPERIMENTS, run_study
from stiction_lab.studies.study import Study
from typer.testing import CliRunner


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("study")
    return run_study(folder, Effort(QUICK))


def test_every_solver_of_the_registry_has_a_place() -> None:
    assert solvers.missing() == set()
    assert set(solvers.COLORS) == set(solvers.DASHES)
    assert set(paper.TABLE_2) < set(table_two.NAMES)
    assert all(len(ticks) == len(paper.PROPERTIES) for ticks in paper.TABLE_2.values())


def test_every_experiment_is_there(quick: Study) -> None:
    study = quick
    assert study.left_out == {} and len(study.experiments) == len(EXPERIMENTS)
    assert study.page is not None
    text = study.page.read_text(encoding="utf-8")
    for experiment in study.experiments:
        assert experiment.tables and experiment.claims and experiment.figures
        assert f"id='{experiment.name}'" in text
        with (study.page.parent / f"{experiment.name}.csv").open() as file:
            assert len(list(csv.DictReader(file))) > 0
        for table in experiment.tables:
            assert all(len(row) == len(table.columns) for row in table.rows)


def test_a_run_records_what_the_steps_did() -> None:
    """The impulses recorded change the momentum recorded, and energy follows Coulomb's law."""
    done = simulate(cubes.cube(0.4), "ncp-newton", 200, lambda sim: cubes.sliding(sim, 1.0))
    assert np.allclose(done.time, np.arange(200) * cubes.DT)
    assert np.allclose(done.impulse[:, :, 2].sum(axis=1), cubes.GRAVITY * cubes.DT)
    change = np.linalg.norm(np.diff(done.v[:, :2], axis=0), axis=1)
    friction = np.linalg.norm(done.impulse[:-1, :, :2].sum(axis=1), axis=1)
    assert np.allclose(change, friction / cubes.MASS)
    expected = cubes.sliding_energy(done.time, 1.0, 0.4)
    assert np.allclose(done.energy - done.energy[0] + expected[0], expected)
    assert done.converged.all()


def test_numbers_are_the_same_on_every_run(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        run_study(tmp_path / folder, Effort(QUICK), ["fig10"])
    for name in ("fig10_bounce.csv", "fig10_bounce_1.svg"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_laws_tell_the_models_apart() -> None:
    """A hand-made sliding contact: each law is broken by the amount put in, and only by that."""
    G, mu = np.eye(3), np.array([0.5])

    def broken(impulse: list[float], velocity: list[float]) -> properties.Laws:
        problem = stiction.ContactProblem(G, np.array(velocity) - np.array(impulse), mu)
        return properties.laws(problem, stiction.solve(problem, "ncp-newton"))

    exact = broken([-1.0, 0.0, 2.0], [4.0, 0.0, 0.0])
    assert max(exact.signorini, exact.coulomb, exact.mdp, exact.shift, exact.internal) < 1e-10
    problem = stiction.ContactProblem(G, np.array([5.0, 0.0, -2.0]), mu)
    relaxed = properties.laws(problem, stiction.solve(problem, "ccp-admm", tolerance=1e-12))
    # CCP: lambda = projection of (-5, 0, 2) on the cone: normal (0.5 * 5 + 2) / 1.25 = 3.6.
    assert relaxed.signorini == pytest.approx(3.6 * (3.6 - 2.0) / (3.6 * 5.0), rel=1e-6)
    assert max(relaxed.coulomb, relaxed.mdp) < 1e-9


def test_internal_impulses_are_those_that_move_nothing() -> None:
    problem = problems.stiction_problem()
    values, vectors = np.linalg.eigh(problem.dense())
    assert np.sum(values < 1e-9 * values[-1]) == 6
    assert properties.internal_share(problem, vectors[:, 0]) == pytest.approx(1.0)
    assert properties.internal_share(problem, vectors[:, -1]) < 1e-9


def test_table_two_is_measured_on_solved_problems() -> None:
    experiment = table_two.run(Effort(QUICK), lambda text, share: None)
    own = {row[0]: float(row[2]) for row in experiment.tables[0].rows}
    assert set(own) == set(table_two.NAMES) and max(own.values()) <= table_two.TOLERANCE
    ticks = {row[0]: [cell[0] for cell in row[1:]] for row in experiment.tables[1].rows}
    assert ticks["ncp-newton"] == ["✓", "✓", "✓", "✓", "✓", "✓", "·"]
    assert ticks["ncp-admm"][4] == ticks["ccp-admm"][4] == "✓"  # no internal forces, as above
    assert ticks["ccp-pgs"][:4] == ["·", "✓", "✓", "✓"]
    assert ticks["lcp-pgs"][:4] == ["✓", "·", "·", "✓"]
    assert ticks["raisim"][:4] == ["✓", "✓", "·", "✓"]


def test_a_square_pyramid_bends_the_path_as_computed_by_hand() -> None:
    for heading in (0.0, 20.0, 45.0):
        path = pyramid_drift.slide("lcp-lemke", 4, heading)
        expected = pyramid_drift.four_facets(np.array([heading]))[0]
        assert path.drift == pytest.approx(expected, abs=0.15), heading
        assert np.allclose(path.run.v[-1], 0.0, atol=1e-6)
        assert abs(pyramid_drift.slide("ncp-newton", 4, heading).drift) < 1e-4
    mirrored = pyramid_drift.slide("lcp-lemke", 4, 70.0)
    assert mirrored.drift == pytest.approx(-pyramid_drift.slide("lcp-lemke", 4, 20.0).drift)


def test_the_dragged_cube_starts_where_friction_ends() -> None:
    done = dragged_cube.drag("ncp-newton")
    late = np.sqrt(2.0 * dragged_cube.MOVING / dragged_cube.RATE)
    assert done.onset == pytest.approx(dragged_cube.ONSET + late, abs=2e-3)
    before = done.run.time < dragged_cube.ONSET - 2e-3
    assert np.abs(done.run.v[before]).max() < 1e-9
    held = done.run.impulse[:, :, 1].sum(axis=1)[before] / cubes.DT
    assert np.allclose(held, -dragged_cube.RATE * done.run.time[before], atol=1e-6)
    across = done.run.impulse[:, :, 0].sum(axis=1) / cubes.DT
    assert np.abs(across).max() < 1e-6


def test_a_cold_run_does_not_remember() -> None:
    start = {"start": lambda simulator: simulator.initial_state()}
    cold = simulate(cubes.cube(0.4), "ncp-admm", 5, warm=False, **start)
    warm = simulate(cubes.cube(0.4), "ncp-admm", 5, **start)
    assert np.ptp(cold.time) == pytest.approx(4 * cubes.DT)
    assert np.array_equal(cold.iterations, np.full(5, warm.iterations[0]))
    assert (warm.iterations[1:] < cold.iterations[1:]).all()


def test_a_heavy_cube_stands_on_a_light_one_with_the_exact_solver_only() -> None:
    ours = mass_ratio.stack("ncp-newton", 1e6, 20, 100)
    sweeps = mass_ratio.stack("ncp-pgs", 1e6, 20, 100)
    assert mass_ratio.sunk(ours) < 1e-10 and mass_ratio.residual(ours) < 1e-8
    assert mass_ratio.sunk(sweeps) > 1e-4 and mass_ratio.residual(sweeps) > 0.1
    mass = np.array([1e-3, 1e3])
    load = ours.impulse[-1, :, 2].sum() / cubes.DT
    assert load == pytest.approx(cubes.GRAVITY * (mass[1] + mass.sum()), rel=1e-6)


def test_command_runs_one_experiment(tmp_path: Path) -> None:
    arguments = ["study", "contact-models", "--quick", "--only", "fig12", "--json"]
    result = CliRunner().invoke(app, [*arguments, "--out", str(tmp_path)])
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["experiments"][0]["name"] == "fig12_mass_ratio"
    assert Path(document["report"]).is_file()


def test_the_papers_figures_on_cubes_hold_here(quick: Study) -> None:
    """Numbers do not depend on the machine, so neither do the verdicts."""
    names = ("fig9_drift", "fig10_bounce", "fig11_drag", "fig12_mass_ratio")
    found = {e.name: e.claims for e in quick.experiments if e.name in names}
    assert tuple(found) == names
    for name, claims in found.items():
        assert len(claims) >= 3
        for claim in claims:
            assert claim.holds is True, f"{name}: {claim.statement} {claim.ours}"


def test_verdicts_follow_the_numbers() -> None:
    """With one solver's numbers under another's name the statement fails."""
    case = bouncing_slide.CASES[0]
    slides = {n: bouncing_slide._slide(Effort(QUICK), n, case) for n in solvers.NAMES}
    honest = bouncing_slide._claims([slides] * 3)
    assert [claim.holds for claim in honest] == [True, True, True, False]  # LCP along an axis
    swapped = slides | {"ccp-pgs": slides["ncp-pgs"], "ncp-pgs": slides["ccp-pgs"]}
    assert [c.holds for c in bouncing_slide._claims([swapped] * 3)] == [False] * 4


# --- figures ------------------------------------------------------------------------------------


def test_solvers_of_one_model_that_coincide_are_one_curve() -> None:
    x = np.linspace(0.0, 1.0, 5)
    panel = Panel("", "", "")
    for name in solvers.NAMES:
        if name.startswith("lcp"):
            panel.curves[name] = x, x
    panel.curves["ncp-newton"] = panel.curves["ncp-pgs"] = x, x  # ours is always drawn
    panel.curves["ccp-pgs"], panel.curves["ccp-admm"] = (x, x), (x, 1.1 * x)
    groups = coinciding([panel])
    assert groups == {
        "lcp-pgs": [n for n in solvers.NAMES if n.startswith("lcp")],
        "ncp-newton": ["ncp-newton"],
        "ncp-pgs": ["ncp-pgs"],
        "ccp-pgs": ["ccp-pgs"],
        "ccp-admm": ["ccp-admm"],
    }
    svg = draw([panel])
    assert "all LCP solvers" in svg and "lcp-lemke" not in svg
    other = Panel("", "", "", curves={"lcp-qp": (x, 2.0 * x), "lcp-pgs": (x, x)})
    assert "lcp-qp" in coinciding([panel, other])  # they part in another panel


def test_no_two_solvers_look_alike() -> None:
    looks = [(solvers.COLORS[name], str(solvers.DASHES[name])) for name in solvers.NAMES]
    assert len(set(looks)) == len(looks)
    assert solvers.COLORS["raisim"] == MODELS["RaiSim"]
