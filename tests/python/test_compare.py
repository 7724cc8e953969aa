"""Solvers side by side on one problem: numbers that agree with a step, and a state left alone."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import stiction
from stiction.cli import app
from typer.testing import CliRunner

DATA = Path(__file__).parent.parent / "data"
NAMES = ("ncp-newton", "ncp-pgs", "ccp-newton", "raisim", "lcp-lemke")


@pytest.fixture(scope="module")
def stand() -> tuple[stiction.Simulator, stiction.State, stiction.Control]:
    """Solo-12 that was pushed sideways: some feet slide."""
    sim = stiction.Simulator(stiction.load("solo12", friction=0.3))
    state, control = sim.initial_state("standing"), sim.hold("standing")
    sim.run(state, control, 20)
    state.v[1] = 0.8
    return sim, state, control


def test_compare_leaves_all_as_it_was(
    stand: tuple[stiction.Simulator, stiction.State, stiction.Control],
) -> None:
    sim, state, control = stand
    before, report = state.save(), sim.report()
    impulse = sim.solution().impulse
    sim.compare(state, control, NAMES)
    sim.explain(state, control)
    assert state.save() == before
    assert sim.report().kinetic_energy == report.kinetic_energy
    assert sim.solution().impulse.tobytes() == impulse.tobytes()


def test_one_name_is_a_list_of_one(
    stand: tuple[stiction.Simulator, stiction.State, stiction.Control],
) -> None:
    sim, state, control = stand
    one, listed = (sim.compare(state, control, names) for names in ("raisim", ["raisim"]))
    assert list(one) == list(listed) == ["raisim"]
    assert one["raisim"].impulse.tobytes() == listed["raisim"].impulse.tobytes()
    log = sim.rollout(state.copy(), steps=1, control=control, record="q")
    assert log.q is not None and log.v is None


@pytest.mark.parametrize("name", NAMES)
def test_each_result_is_the_step_of_that_solver(
    stand: tuple[stiction.Simulator, stiction.State, stiction.Control], name: str
) -> None:
    sim, state, control = stand
    result = sim.compare(state, control, [name])[name]
    other = stiction.Simulator(sim.scene, solver=name)
    after = state.copy()
    report = other.step(after, control)
    assert result.next_velocity.tobytes() == after.v.tobytes()
    assert result.impulse.tobytes() == other.solution().impulse.tobytes()
    assert (result.iterations, result.status) == (report.iterations, report.solver_status)
    assert result.factorisations == report.factorisations
    assert result.residuals.relative == report.residuals.relative
    assert result.model_residuals.relative == other.solution().model_residuals.relative
    contacts = other.contacts()
    np.testing.assert_array_equal(result.forces_world, [c.force_on_b_world for c in contacts])
    np.testing.assert_allclose(result.forces, [c.impulse / 1e-3 for c in contacts], rtol=1e-14)
    np.testing.assert_allclose(  # sums of another order
        result.contact_velocity, [c.velocity for c in contacts], rtol=0.0, atol=1e-14
    )


def test_parameters_of_the_simulator_are_used() -> None:
    sim = stiction.Simulator(stiction.load("solo12"))
    state, control = sim.initial_state("standing"), sim.hold("standing")
    before = sim.compare(state, control, ["ncp-newton"])["ncp-newton"]
    sim.parameters.gravity[2] = -1.62
    after = sim.compare(state, control, ["ncp-newton"])["ncp-newton"]
    ratio = after.forces[:, 2].sum() / before.forces[:, 2].sum()
    assert ratio == pytest.approx(1.62 / 9.81, rel=1e-6)


def test_relaxation_shows_in_the_certificate(
    stand: tuple[stiction.Simulator, stiction.State, stiction.Control],
) -> None:
    sim, state, control = stand
    got = sim.compare(state, control, NAMES, tolerance=1e-10)
    assert list(got) == list(NAMES) and len(got.contacts) == 4
    assert got.best in ("ncp-newton", "ncp-pgs")
    assert got["ncp-newton"].residuals.relative <= 1e-10
    for name in ("ccp-newton", "lcp-lemke"):
        assert got[name].residuals.relative > 1e-3, "its own model is another"
        assert got[name].model_residuals.relative <= 1e-8
        assert got.difference(name) > 1e-3
    assert got.difference("ncp-pgs") < 1e-6
    assert all(result.microseconds > 0.1 for result in got.results.values())


def test_cold_start_and_options(
    stand: tuple[stiction.Simulator, stiction.State, stiction.Control],
) -> None:
    sim, state, control = stand
    still = sim.initial_state("standing")
    sim.run(still, control, 50)
    warm = sim.compare(still, control, ["ncp-pgs"])["ncp-pgs"]
    cold = sim.compare(still, control, ["ncp-pgs"], warm_start=False)["ncp-pgs"]
    assert cold.iterations > warm.iterations
    limited = sim.compare(state, control, ["ncp-pgs"], max_iterations=1, warm_start=False)
    assert limited["ncp-pgs"].iterations == 1
    with pytest.raises(ValueError, match="solvers: none given"):
        sim.compare(state, control, [])
    with pytest.raises(ValueError, match="no-such"):
        sim.compare(state, control, ["no-such"])
    with pytest.raises(TypeError, match="colour"):
        sim.compare(state, control, NAMES, colour=1)  # type: ignore[call-arg]


def test_tables_and_dictionary(
    stand: tuple[stiction.Simulator, stiction.State, stiction.Control],
) -> None:
    sim, state, control = stand
    got = sim.compare(state, control, NAMES)
    heads, rows = got.table()
    assert [row[0] for row in rows] == list(NAMES)
    assert all(len(row) == len(heads) for row in rows)
    text = str(got)
    assert "ncp-newton" in text and "solo12" not in text.splitlines()[0]
    plain = json.loads(json.dumps(got.to_dict()))
    assert plain["results"]["raisim"]["next_velocity"] == got["raisim"].next_velocity.tolist()
    assert plain["results"]["raisim"]["residuals"]["relative"] == got["raisim"].residuals.relative


def test_the_figure_is_the_same_for_the_same_numbers(
    stand: tuple[stiction.Simulator, stiction.State, stiction.Control], tmp_path: Path
) -> None:
    sim, state, control = stand
    got = sim.compare(state, control, NAMES)
    for name in ("a.svg", "b.svg"):
        got.save(tmp_path / name)
    text = (tmp_path / "a.svg").read_text()
    assert text == (tmp_path / "b.svg").read_text() and text.count("<path") > 40
    with pytest.raises(ValueError, match="must end in one of"):
        got.save(tmp_path / "a.jpg")


def test_a_scene_without_contacts(tmp_path: Path) -> None:
    sim = stiction.Simulator(stiction.load("double-pendulum"))
    got = sim.compare(sim.initial_state(), None, ["ncp-newton", "ccp-pgs"])
    assert got.contacts == () and got["ccp-pgs"].forces.shape == (0, 3)
    assert got.difference("ccp-pgs") == 0.0
    got.save(tmp_path / "empty.html")


def test_compare_command(tmp_path: Path) -> None:
    runner = CliRunner()
    arguments = ["compare", "solo12", "--configuration", "standing", "--steps", "20"]
    arguments += ["--solvers", "ncp-newton,ccp-newton"]
    page = tmp_path / "page.html"
    result = runner.invoke(app, [*arguments, "--output", str(page), "--json"])
    assert result.exit_code == 0, result.stderr
    got = json.loads(result.stdout)
    assert list(got["results"]) == ["ncp-newton", "ccp-newton"] and len(got["contacts"]) == 4
    text = page.read_text()
    assert "data:image/svg+xml" in text and "ccp-newton" in text and ".csv" not in text
    figure = tmp_path / "figure.png"
    printed = runner.invoke(app, [*arguments, "--output", str(figure)])
    assert printed.exit_code == 0 and "certificate" in printed.stdout
    assert figure.read_bytes()[:4] == b"\x89PNG"
    wrong = runner.invoke(app, [*arguments, "--output", str(tmp_path / "a.txt")])
    assert wrong.exit_code == 1 and "must end in one of" in wrong.stderr
    unknown = runner.invoke(app, ["compare", "solo12", "--solvers", "magic"])
    assert unknown.exit_code == 1 and "magic" in unknown.stderr


# --- points_per_pair --------------------------------------------------------------------


def test_points_per_pair_keeps_the_deepest() -> None:
    scene = stiction.load("cube-slide")
    state = stiction.make_state(scene, scene.default_q)
    tilt = 1e-3
    state.q[3:7] = [np.sin(tilt / 2), 0, 0, np.cos(tilt / 2)]
    whole = stiction.Simulator(scene)
    whole.step(state.copy())
    gaps = sorted(c.gap for c in whole.contacts())
    assert len(gaps) == 4
    for count in (1, 2, 3):
        sim = stiction.Simulator(scene, points_per_pair=count)
        sim.step(state.copy())
        assert sorted(c.gap for c in sim.contacts()) == gaps[:count]
    with pytest.raises(ValueError, match="points_per_pair = -1"):
        stiction.Simulator(scene, points_per_pair=-1)


# --- uniqueness -------------------------------------------------------------------------


def test_uniqueness_of_steps() -> None:
    ball = stiction.load("ball-drop")
    sim = stiction.Simulator(ball)
    state = sim.initial_state()
    state.q[2] = 0.1
    sim.step(state)
    assert sim.uniqueness().locally_unique and sim.uniqueness().modes == ["stick"]
    # Four points, six equations for twelve impulses.
    cube = stiction.Simulator(stiction.load("cube-slide"))
    cube.step(cube.initial_state())
    u = cube.uniqueness()
    assert (u.locally_unique, u.null_dimension, u.velocity_dimension) == (False, 6, 0)
    assert u.largest_dropped < 1e-12 < 1e-6 < u.smallest_kept
    # Sliding straight on, friction follows the load: one distribution is open.
    state = cube.initial_state()
    state.v[1] = 1.0
    cube.step(state)
    assert cube.uniqueness().modes == ["slide"] * 4
    assert cube.uniqueness().null_dimension == 1


def test_impulses_are_found_again_where_others_are_near_too() -> None:
    """Started a little beside a solution, ncp-newton comes back to it: it is alone, or the limit of
    vanishing compliance."""
    rng = np.random.default_rng(0)
    alone = others = again = 0
    with np.load(DATA / "ncp_set.npz") as data:
        names = sorted({key.rsplit("_", 1)[0] for key in data.files if "infeas" not in key})[::12]
        for name in names:
            g, mu = data[f"{name}_g"], data[f"{name}_mu"]
            G = np.zeros((len(g), len(g)))
            G[np.tril_indices(len(g))] = data[f"{name}_Gtril"]
            problem = stiction.ContactProblem(G + np.tril(G, -1).T, g, mu)
            first = stiction.solve(problem, tolerance=1e-12)
            largest = np.abs(first.impulse).max()
            if len(g) > 60 or largest == 0.0 or first.residuals.backward > 1e-12:
                continue
            beside = first.impulse + 1e-4 * largest * rng.normal(size=len(g)) * (first.impulse != 0)
            second = stiction.solve(problem, tolerance=1e-12, warm_start=beside)
            moved = np.abs(second.impulse - first.impulse).max() / largest
            u = stiction.uniqueness(problem, first.impulse)
            if u.locally_unique:
                assert moved < 1e-8, name
                alone += 1
            elif u.num_at_switch == 0:
                others += 1
                again += moved < 1e-4
    assert alone >= 20 and others >= 12 and again >= 0.8 * others, (alone, others, again)


def test_uniqueness_names_what_does_not_fit() -> None:
    problem = stiction.ContactProblem(np.eye(3), np.array([0.0, 0.0, -1.0]), [0.5])
    assert stiction.uniqueness(problem, [0, 0, 1]).locally_unique
    with pytest.raises(ValueError, match="impulse"):
        stiction.uniqueness(problem, [0.0, 1.0])
    with pytest.raises(ValueError, match="threshold = 0"):
        stiction.uniqueness(problem, [0, 0, 1], threshold=0.0)
