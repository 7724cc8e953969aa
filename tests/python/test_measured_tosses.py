"""The study of measured tosses: flight, impact, models and judgement are what they claim."""

from __future__ import annotations

import csv
import json
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason='figures: pip install ".[study]"')
pytest.importorskip("mujoco", reason='the peer: pip install ".[bench]"')

from stiction.pages.experiment import QUICK, Effort, StudyError
from stiction_lab.studies import tosses
from stiction_lab.studies.contact_models.solvers import NAMES
from stiction_lab.studies.gjk import Study
from stiction_lab.studies.measured_tosses import DATA, run_study, split
from stiction_lab.studies.toss_fit import METRICS, Judged, fit_and_judge, judge, pattern_search
from stiction_lab.studies.toss_models import DT, MUJOCO, STEPS, Model, Parameter, cube_scene, models
from stiction_lab.studies.toss_tables import Bootstrap, sentences
from stiction_lab.studies.tosses import RATE, Floats, Toss

MODELS = ("ncp-newton", "mujoco")


@pytest.fixture(scope="module")
def measured() -> tuple[list[Toss], float]:
    arrays = tosses.read_tosses(DATA)
    board = tosses.board_height(arrays)
    fitted, left_out = tosses.usable(arrays, board)
    assert len(arrays) == 450 and not left_out
    return fitted, board


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, float, Path]:
    folder = tmp_path_factory.mktemp("tosses")
    begin = time.perf_counter()
    return run_study(folder, Effort(QUICK)), time.perf_counter() - begin, folder


def made_toss(values: Floats, frames: int = 90) -> Floats:
    """Rows (T, 13) of a toss that stiction itself made; velocities are left at zero."""
    q = np.array([0.1, -0.2, 0.16, 0.2, -0.1, 0.3, 0.9])
    q[3:] /= np.linalg.norm(q[3:])
    v = np.array([0.9, -0.4, 0.1, 1.5, -2.0, 3.0])
    toss = Toss("made", np.zeros((1, 7)), q, v, 0.0, (0.0, 0.0))
    found = models(0.0)["ncp-newton"].prepare(values)(toss, frames)
    return np.concatenate([found.poses, np.zeros((frames + 1, 6))], axis=1)


# --- reading and the flight ---------------------------------------------------------------------


def test_quaternions_are_rotations() -> None:
    generator = np.random.default_rng(0)
    a = generator.normal(size=(50, 3))
    a *= (generator.uniform(0.0, 3.1, 50) / np.linalg.norm(a, axis=1))[:, None]
    assert np.allclose(tosses.logarithm(tosses.exponential(a)), a, atol=1e-12)
    there = tosses.exponential(a)
    back = tosses.multiply(there, tosses.conjugate(there))
    assert np.allclose(back, [0.0, 0.0, 0.0, 1.0], atol=1e-14)
    assert np.allclose(tosses.rotation_error(there, -there), 0.0, atol=1e-7)


def test_lowest_corner_against_all_corners() -> None:
    generator = np.random.default_rng(1)
    q = generator.normal(size=4)
    pose = np.concatenate([[0.0, 0.0, 0.3], q / np.linalg.norm(q)])
    signs = np.array([[x, y, z, 0.0] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    turned = tosses.multiply(
        tosses.multiply(pose[3:], 0.5 * tosses.SIDE * signs), tosses.conjugate(pose[3:])
    )
    assert tosses.lowest(pose) == pytest.approx(0.3 + turned[:, 2].min(), abs=1e-14)


def test_flight_is_recovered_from_its_poses() -> None:
    q = np.array([0.3, -0.1, 0.4, 0.5, 0.5, -0.5, 0.5])
    v = np.array([1.0, -0.5, -1.2, 4.0, -3.0, 2.0])
    t = np.arange(-7, 1) / RATE
    found_q, found_v, residual = tosses.fit_flight(tosses.flight(q, v, t), t)
    assert np.allclose(found_q, q, atol=1e-12) and np.allclose(found_v, v, atol=1e-10)
    assert max(residual) < 1e-8


def test_measured_flights_are_ballistic(measured: tuple[list[Toss], float]) -> None:
    fitted, board = measured
    residual = np.array([t.residual for t in fitted])
    assert np.median(residual[:, 0]) < 1e-4 and np.median(residual[:, 1]) < 1e-3
    assert board == pytest.approx(-1.2e-3, abs=1e-4)
    for toss in fitted:
        touch = tosses.flight(toss.q, toss.v, np.array([toss.impact / RATE]))
        assert tosses.lowest(touch)[0] == pytest.approx(board, abs=1e-6)


def test_a_toss_without_flight_is_left_out(measured: tuple[list[Toss], float]) -> None:
    rows = tosses.read_tosses(DATA)["000"]
    assert tosses.fit_toss("at rest", np.repeat(rows[-1:], 80, axis=0), measured[1]) is None


@pytest.mark.parametrize(
    ("array", "message"),
    [(np.zeros((5, 12)), "shape"), (np.zeros((5, 13)), "length 1"), (np.full((5, 13), np.nan), "")],
)
def test_other_formats_are_refused(tmp_path: Path, array: Floats, message: str) -> None:
    path = tmp_path / "tosses.npz"
    np.savez(path, bad=array)
    with pytest.raises(StudyError, match=f"'bad'.*{message}"):
        tosses.read_tosses(path)


def test_missing_and_empty_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no tosses can be read"):
        tosses.read_tosses(tmp_path / "nothing.npz")
    np.savez(tmp_path / "empty.npz")
    with pytest.raises(StudyError, match="holds no tosses"):
        tosses.read_tosses(tmp_path / "empty.npz")


# --- models and their judgement -----------------------------------------------------------------


@pytest.mark.parametrize("name", [*NAMES, *MUJOCO])
def test_models_fly_ballistically(name: str, measured: tuple[list[Toss], float]) -> None:
    """No contact: every model must give the closed form, to the O(dt) of its integrator."""
    toss = max(measured[0], key=lambda t: t.impact)
    high = toss.q + np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    model = models(measured[1])[name]
    predict = model.prepare(np.array([p.start for p in model.parameters]))
    found = predict(Toss("", toss.poses, high, toss.v, 0.0, (0.0, 0.0)), 20)
    truth = tosses.flight(high, toss.v, np.arange(21) / RATE)
    assert found.depth == 0.0
    drop = 0.5 * tosses.GRAVITY * DT * 20 / RATE
    assert np.abs(found.poses[:, :3] - truth[:, :3]).max() < 1.01 * drop
    assert tosses.rotation_error(found.poses[:, 3:], truth[:, 3:]).max() < 1e-6


def test_the_scene_is_the_published_cube() -> None:
    scene = cube_scene(0.3, 0.2)
    body = scene.body("cube")
    assert np.allclose(np.asarray(scene.parameters.mass)[body], tosses.MASS)
    inertia = scene.parameters.inertia(body)
    assert np.allclose(inertia, tosses.INERTIA * np.eye(3))
    material = scene.pair_material(0, 1)
    assert (material.friction, material.restitution) == (0.3, 0.2)


def test_the_search_finds_the_parameters_that_made_the_tosses() -> None:
    """A toss made by the model itself: its friction and restitution are found, errors vanish."""
    truth = np.array([0.3, 0.225, 0.0])
    toss = tosses.fit_toss("made", made_toss(truth), 0.0)
    assert toss is not None
    found = fit_and_judge("ncp-newton", 0.0, [toss], [toss], 40)
    assert found.loss[1] < 0.1 * found.loss[0]
    assert found.values[0] == pytest.approx(0.3, abs=0.02)
    assert found.values[1] == pytest.approx(0.225, abs=0.03)
    exact = models(0.0)["ncp-newton"].prepare(truth)(toss, len(toss.poses) - 1)
    judged = judge(toss, exact.poses, exact.depth)
    assert judged["position 200 ms [mm]"] < 1.0 and judged["energy lost, error [%]"] < 1.0


def test_pattern_search_spends_its_budget_and_keeps_the_bounds() -> None:
    parameters = [Parameter("a", 0.5, 0.0, 1.0, 0.3), Parameter("b", 0.5, 0.0, 1.0, 0.3)]
    asked: list[Floats] = []

    def loss(x: Floats) -> float:
        asked.append(x)
        return float("nan") if x[1] > 0.9 else float((x[0] - 2.0) ** 2 + (x[1] - 0.2) ** 2)

    best, first, last = pattern_search(loss, parameters, 60)
    assert len(asked) == 60
    assert np.min(asked) >= 0.0 and np.max(asked) <= 1.0
    assert best[0] == 1.0 and best[1] == pytest.approx(0.2, abs=1e-3)
    assert last < first


def test_halves_are_disjoint_and_seeded(measured: tuple[list[Toss], float]) -> None:
    names = [[t.name for t in half] for half in split(measured[0], Effort(1.0, 3))]
    assert len(names[0]) == len(names[1]) == 225
    assert not set(names[0]) & set(names[1])
    again = [[t.name for t in half] for half in split(measured[0], Effort(1.0, 3))]
    assert names == again
    assert names != [[t.name for t in half] for half in split(measured[0], Effort(1.0, 4))]


def test_noise_is_told_from_difference() -> None:
    generator = np.random.default_rng(5)
    bootstrap = Bootstrap(generator.integers(200, size=(4000, 200)))
    reference = generator.exponential(size=200)
    other = generator.exponential(size=200)
    assert bootstrap.differs(other, reference) == 0
    assert bootstrap.differs(3.0 * other, reference) == 1
    assert bootstrap.differs(0.3 * other, reference) == -1
    low, high = bootstrap.interval(reference)
    assert low < np.median(reference) < high
    failed = np.where(np.arange(200) < 150, np.nan, reference)
    assert bootstrap.differs(failed, reference) == 1
    judged = [
        Judged(name, np.zeros(3), (1.0, 1.0), dict.fromkeys(METRICS, values))
        for name, values in (("ncp-newton", reference), ("worse", 3.0 * other), ("same", other))
    ]
    said = sentences(judged, bootstrap)
    assert len(said) == len(METRICS)
    assert all(s.endswith("larger for worse; within noise for same.") for s in said)


# --- the study ----------------------------------------------------------------------------------


def test_quick_study_is_complete(quick: tuple[Study, float, Path]) -> None:
    study, seconds, folder = quick
    assert seconds < 60.0
    assert not study.left_out
    document = json.loads((folder / "study.json").read_text())
    tables = document["experiments"][0]["tables"]
    assert [row[0] for row in tables[0]["rows"]] == list(MODELS)
    assert tables[2]["rows"][0][0] == "measured"
    assert "against ncp-newton" in tables[0]["note"]
    with (folder / "measured_tosses.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 12
    values = np.array([[float(row[m]) for m in METRICS] for row in rows])
    assert np.isfinite(values).all() and (values >= 0.0).all()
    assert (folder / "measured_tosses_1.svg").read_text().count("<svg") == 1


def test_errors_are_far_below_those_of_no_model(
    quick: tuple[Study, float, Path], measured: tuple[list[Toss], float]
) -> None:
    """Against the flight going on through the board, 100 ms after the impact."""
    study = quick[0]
    columns = study.experiments[0].columns
    ours = np.array(columns["position 100 ms [mm]"])[np.array(columns["model"]) == "ncp-newton"]
    test = split(measured[0], Effort(QUICK))[1]
    through = []
    for t in test:
        poses = tosses.flight(t.q, t.v, np.arange(len(t.poses)) / RATE)
        through.append(judge(t, poses, 0.0)["position 100 ms [mm]"])
    assert np.median(ours) < 0.3 * np.median(through)


def test_study_is_reproducible_on_other_tosses(tmp_path: Path) -> None:
    generator = np.random.default_rng(7)
    made = {f"{k:03d}": made_toss(np.array([0.2 + 0.01 * k, 0.1, 0.0])) for k in range(6)}
    for rows in made.values():
        rows[:, :3] += generator.normal(scale=1e-5, size=(len(rows), 3))
    np.savez(tmp_path / "made.npz", **made)
    tables = []
    for jobs in (1, 2):
        study = run_study(
            tmp_path / str(jobs), Effort(QUICK), tmp_path / "made.npz", ["ncp-newton"], jobs
        )
        tables.append(study.as_dict()["experiments"])
    assert tables[0] == tables[1]


def test_unknown_models_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="no model; there are: ccp-admm"):
        run_study(tmp_path, Effort(QUICK), names=["bullet"])


def test_command_line(tmp_path: Path) -> None:
    from stiction.cli import app
    from typer.testing import CliRunner

    np.savez(tmp_path / "bad.npz", a=np.zeros((3, 3)))
    for arguments, code, message in (
        (["--only", "ncp-newton"], 0, "ncp-newton"),
        (["--only", "bullet"], 1, "'bullet' is no model"),
        (["--data", str(tmp_path / "bad.npz")], 1, "must be (T, 13)"),
    ):
        command = ["study", "measured-tosses", "--quick", "--out", str(tmp_path), "--jobs", "1"]
        result = CliRunner().invoke(app, [*command, *arguments])
        assert result.exit_code == code
        assert message in result.output


def test_steps_divide_frames() -> None:
    assert pytest.approx(1.0 / RATE) == DT * STEPS
    assert all(isinstance(m, Model) and len(m.parameters) == 3 for m in models(0.0).values())
