"""The study of stiff contact: its protocol on a problem with a known answer, and a quick run."""

from __future__ import annotations

import csv
import itertools
import json
import math
import os
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import stiction

pytest.importorskip("matplotlib", reason='figures: pip install ".[study]"')

from stiction.cli import app
from stiction.pages.experiment import QUICK, Effort, Experiment, StudyError
from stiction_lab.studies.stiff_contact import (
    accuracy,
    biped,
    jump,
    plans,
    robots,
    stiffness,
    truth,
)
from stiction_lab.studies.stiff_contact.integrators import (
    IMPLICIT,
    METHODS,
    OURS,
    PRODUCTS,
    PUBLISHED,
)
from stiction_lab.studies.stiff_contact.local_error import ladder, local_errors
from stiction_lab.studies.stiff_contact.motion import Motion, Recorded
from stiction_lab.studies.stiff_contact.reference_data import rerun_squat
from stiction_lab.studies.stiff_contact.study import EXPERIMENTS, run_study
from stiction_lab.studies.study import Study
from typer.testing import CliRunner

NEEDS_DATA = "reference"
MASS, K, D, G = 1.0, 1e4, 60.0, 9.81


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Study:
    folder = tmp_path_factory.mktemp("study")
    return run_study(folder, Effort(QUICK))


def ball() -> Motion:
    """A point mass pressed into its spring by twice its weight, 3 periods of 10 ms."""
    model = pin.Model()
    inertia = pin.Inertia(MASS, np.zeros(3), 0.01 * np.eye(3))
    joint = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root")
    model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    model.addFrame(pin.Frame("tip", joint, pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    robot = robots.on_ground(model, ("tip",), robots.Ground(K, D, 1.0))
    q = pin.neutral(model)
    q[2] = -2.0 * MASS * G / K
    return Motion("ball", robot, Recorded(np.zeros((3, 6))), q, np.zeros(6), 0.01, 3)


def oscillator(z: float, v: float, t: float) -> tuple[float, float]:
    """z'' = -g - (k z + d z') / m."""
    rest, c = -MASS * G / K, 0.5 * D / MASS
    w = math.sqrt(K / MASS - c * c)
    y, s, r, e = z - rest, math.sin(w * t), math.cos(w * t), math.exp(-c * t)
    b = (v + c * y) / w
    return rest + e * (y * r + b * s), e * ((b * w - c * y) * r - (y * w + c * b) * s)


def explicit(z: float, v: float, h: float, steps: int) -> tuple[float, float]:
    for _ in range(steps):
        a = -G - (K * z + D * v) / MASS
        z, v = z + h * v + 0.5 * h * h * a, v + h * a
    return z, v


def test_the_truth_and_the_local_error_are_those_of_an_oscillator() -> None:
    motion = ball()
    true = truth.run(motion, truth.Fineness(), lambda text, share: None, (0.0, 1.0))
    z, v = float(motion.q[2]), 0.0
    expected: dict[int, list[float]] = {4: [], 8: []}
    for k in range(motion.steps):
        end = oscillator(z, v, motion.period)
        assert true.ends[k].q[2] == pytest.approx(end[0], abs=1e-10)
        assert true.ends[k].v[2] == pytest.approx(end[1], abs=1e-8)
        for n, errors in expected.items():
            got = explicit(z, v, motion.period / n, n)
            errors.append(max(abs(got[0] - end[0]), abs(got[1] - end[1])))
        z, v = end
    assert not true.switched.any()
    for n, errors in expected.items():
        found = local_errors(true, METHODS["explicit-euler"], n)
        assert found.dt == motion.period / n
        assert found.error == pytest.approx(errors, rel=1e-4)
        assert found.mean == pytest.approx(np.mean(errors), rel=1e-4)
        assert found.failed == 0.0
    # In closed form between switches: nothing but the truth's own error is left.
    assert local_errors(true, METHODS[OURS], 1).mean < 1e-8


def test_a_switch_is_found_and_the_truth_is_refined_there() -> None:
    motion = ball()
    high = motion.q.copy()
    high[2] = 5e-4
    speed = np.zeros(6)
    speed[2] = -0.1  # touches down in the first period
    dropped = Motion("drop", motion.robot, motion.controller, high, speed, 0.01, 2)
    true = truth.run(dropped, truth.Fineness(), lambda text, share: None, (0.0, 1.0))
    touch = (-0.1 + math.sqrt(0.01 + 2.0 * G * 5e-4)) / G
    landed = -0.1 - G * touch
    end = oscillator(0.0, landed, 0.01 - touch)
    assert true.switched[0]
    assert true.ends[0].q[2] == pytest.approx(end[0], abs=1e-9)
    assert true.ends[0].v[2] == pytest.approx(end[1], abs=1e-7)
    assert true.error[0] < 1e-6


def test_divergence_is_infinite_and_counted() -> None:
    motion = ball()
    true = truth.run(motion, truth.Fineness(), lambda text, share: None, (0.0, 1.0))
    stiff = robots.on_ground(motion.robot.model, ("tip",), robots.Ground(1e12, 0.0, 1.0))
    motion = Motion("stiff", stiff, motion.controller, motion.q, motion.v, 0.01, 3)
    starts = [stiction.make_state(stiff.scene, s.q, s.v) for s in true.starts]
    broken = truth.Truth(
        motion, "continuous", starts, true.ends, true.torques, true.error, true.switched
    )
    found = local_errors(broken, METHODS["explicit-euler"], 100)
    assert found.mean == math.inf


def test_ladder_of_steps() -> None:
    assert ladder(0.04, 0.009) == [1, 2, 4]
    assert ladder(0.04, 0.04) == [1]
    assert ladder(0.002, 0.000125) == [1, 2, 4, 8, 16]


def test_controllers_keep_the_robot_where_it_stands() -> None:
    motion = plans.squat(robots.solo12(), 3)
    torque = motion.controller.torque(0, motion.q, motion.v)
    assert np.all(torque[:6] == 0.0)
    # Four knees carry the weight: statics of the leg, by the principle of virtual work.
    model, q = motion.robot.model, motion.q
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    weight = sum(motion.robot.scene.parameters.mass) * G
    J = [
        pin.getFrameJacobian(model, data, model.getFrameId(f), pin.LOCAL_WORLD_ALIGNED)[2]
        for f in motion.robot.points
    ]
    lifted = pin.nonLinearEffects(model, data, q, np.zeros(model.nv))
    accelerated = 1.0 + 0.12 / G  # up at 2^2 x 0.03 m/s^2, downwards at the start
    expected = lifted - (2.0 - accelerated) * 0.25 * weight * np.sum(J, axis=0)
    assert torque[6:] == pytest.approx(expected[6:], abs=0.05)


def urdf(robot: str) -> Path:
    """Of the package example-robot-data."""
    try:
        talos = robots.talos_path()
    except StudyError as error:
        pytest.skip(str(error))
    if robot == "talos":
        return talos
    return talos.parents[2] / "romeo_description" / "urdf" / "romeo_small.urdf"


@pytest.mark.parametrize("robot", ["talos", "romeo"])
def test_a_humanoid_takes_two_steps_and_stands(robot: str) -> None:
    motion = biped.walk(urdf(robot))
    sim = METHODS[OURS].simulator(motion.robot.scene, motion.period / 16)
    state = stiction.make_state(motion.robot.scene, motion.q, motion.v)
    start = motion.robot.positions(motion.q)
    for k in range(motion.steps):
        torque = motion.controller.torque(k, np.asarray(state.q), np.asarray(state.v))
        assert sim.run(state, torque, 16).status == "ok"
        assert np.abs(np.asarray(state.q)[3:5]).max() < 0.05
    feet = motion.robot.positions(np.asarray(state.q))
    assert feet[:, 0] - start[:, 0] == pytest.approx(biped.STEP_LENGTH, abs=0.03)
    assert feet[:, 1] == pytest.approx(start[:, 1], abs=0.03)
    assert np.all((feet[:, 2] < 0.0) & (feet[:, 2] > -5e-3))
    assert np.abs(np.asarray(state.v)[:6]).max() < 0.05


def test_an_unknown_humanoid_is_an_error() -> None:
    solo = Path(stiction.__file__).parent / "robots" / "solo12" / "solo12.urdf"
    with pytest.raises(StudyError, match="none of talos, romeo"):
        biped.walk(solo)


REFERENCE = os.environ.get("STICTION_REFERENCE_DATA", "")


@pytest.mark.skipif(not REFERENCE, reason="STICTION_REFERENCE_DATA names no folder")
@pytest.mark.parametrize("products", [-1, *range(5)])
def test_published_errors_of_the_squat(products: int) -> None:
    squat = rerun_squat(Path(REFERENCE))
    method = METHODS[PUBLISHED] if products < 0 else list(PRODUCTS.values())[products]
    found = local_errors(squat.as_published("expo"), method, 4)
    mean = found.error.sum() / (squat.steps + 1)  # theirs counts the initial state
    assert mean == pytest.approx(squat.mean[f"expo_m{products}_n4"], rel=0.01)


def test_missing_reference_data_is_named(tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="holds no consim_solo_squat"):
        rerun_squat(tmp_path)


def test_every_experiment_is_there(quick: Study) -> None:
    study = quick
    assert set(study.left_out) <= {NEEDS_DATA, "walk", "mujoco"}
    assert "--reference-data" in study.left_out[NEEDS_DATA]
    assert len(study.experiments) + len(study.left_out) == len(EXPERIMENTS)
    assert study.page is not None
    text = study.page.read_text(encoding="utf-8")
    document = json.loads((study.page.parent / "study.json").read_text(encoding="utf-8"))
    assert [e["name"] for e in document["experiments"]] == [e.name for e in study.experiments]
    for experiment in study.experiments:
        assert f"id='{experiment.name}'" in text
        assert experiment.tables
        assert (study.page.parent / f"{experiment.name}.csv").is_file()
        for k in range(len(experiment.figures)):
            svg = (study.page.parent / f"{experiment.name}_{k + 1}.svg").read_text()
            assert svg.lstrip().startswith("<?xml")


def rows_of(study: Study, name: str) -> list[dict[str, str]]:
    assert study.page is not None
    with (study.page.parent / f"{name}.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def means(study: Study, name: str) -> dict[str, dict[float, float]]:
    """Method -> step -> mean error."""
    found: dict[str, dict[float, list[float]]] = {}
    for row in rows_of(study, name):
        steps = found.setdefault(row["method"], {})
        steps.setdefault(float(row["step"]), []).append(float(row["error"]))
    return {m: {h: float(np.mean(e)) for h, e in steps.items()} for m, steps in found.items()}


def test_errors_fall_with_the_step_and_ours_is_smallest(quick: Study) -> None:
    found = means(quick, "squat")
    assert set(found) == {*METHODS, *PRODUCTS}
    for name in (OURS, PUBLISHED, IMPLICIT):
        steps = sorted(found[name], reverse=True)
        errors = [found[name][h] for h in steps]
        assert len(errors) >= 4
        assert np.all(np.isfinite(errors))
        assert all(b < 0.7 * a for a, b in itertools.pairwise(errors))
    assert min(found[PUBLISHED][0.01], found[IMPLICIT][0.01]) >= 90.0 * found[OURS][0.01]
    assert found[OURS][0.0025] < 2e-6
    trot = means(quick, "trot")
    for h in trot[OURS]:
        assert trot[OURS][h] < 5e-3
        others = [trot[name][h] for name in (PUBLISHED, IMPLICIT) if h in trot[name]]
        assert min(others) >= 20.0 * trot[OURS][h]


def test_stable_steps_are_those_of_the_paper_at_least(quick: Study) -> None:
    steps = {(r["motion"], r["method"]): float(r["step"]) for r in rows_of(quick, "table2")}
    for motion, least in (("squat", 0.04), ("jump", 0.01), ("trot", 0.002)):
        assert steps[motion, OURS] == pytest.approx(least)
        assert 0.0 < steps[motion, "explicit-euler"] <= 0.1 * steps[motion, OURS]


def test_forces_and_sweeps_are_finite(quick: Study) -> None:
    for row in rows_of(quick, "fig5"):
        assert float(row[OURS]) == pytest.approx(float(row["truth"]), rel=0.1, abs=0.5)
    fig4 = rows_of(quick, "fig4")
    ours = [float(row["error"]) for row in fig4 if row["method"] == OURS]
    assert len(ours) == 4
    assert all(0.0 < e < 1e-2 for e in ours)
    (landing,) = {row["point"] for row in rows_of(quick, "fig6")}
    assert landing in robots.SOLO_FEET
    force = np.array([float(row["force"]) for row in rows_of(quick, "fig6")])
    assert force[0] == 0.0
    assert force.max() > 5.0


def test_explicit_euler_is_of_first_order() -> None:
    motion = ball()
    true = truth.run(motion, truth.Fineness(), lambda text, share: None, (0.0, 1.0))
    errors = [local_errors(true, METHODS["explicit-euler"], n).mean for n in (64, 128, 256)]
    orders = [math.log2(a / b) for a, b in itertools.pairwise(errors)]
    assert orders == pytest.approx([1.0, 1.0], abs=0.1)


def test_tables_of_a_motion_have_errors_and_times_and_nothing_of_other_motions() -> None:
    motion = ball()
    true = truth.run(motion, truth.Fineness(), lambda text, share: None, (0.0, 1.0))
    steps = accuracy.Range(smallest=2e-3, implicit=2e-3, explicit=(2e-3, 1e-3))
    results = accuracy.measure(true, steps, lambda text, share: None)
    experiment = Experiment("ball", "ball", "")
    accuracy.report(experiment, true, results)
    errors, times = experiment.tables
    assert errors.columns == ["step [ms]", *METHODS]
    assert times.columns == ["step [ms]", *results]
    for row in (*errors.rows, *times.rows):
        assert len(row) == 1 + (len(METHODS) if row in errors.rows else len(results))
    assert all(float(cell) > 0.0 for row in times.rows for cell in row if cell)
    accuracy.add_variant(
        experiment, motion, "continuous", steps, lambda text, share: None, (0.0, 1.0)
    )
    assert experiment.tables[-1].columns == ["step [ms]", OURS, PUBLISHED, IMPLICIT]


def test_statements_about_the_papers_motions_are_judged_on_ours_only_without_them(
    quick: Study, tmp_path: Path
) -> None:
    said = {claim.statement: e.name for e in quick.experiments for claim in e.claims}
    assert said["Eul-imp is slightly better than Expo in the trot"] == "trot"
    assert said["Eul-imp is a bit worse than Expo in the jump for large steps"] == "jump"
    assert said[stiffness.IMPLICIT_SLIGHTLY_BETTER] == "fig4"
    given = Effort(QUICK, reference_data=tmp_path)
    claims = jump.run(given, lambda text, share: None).claims
    assert claims and not any("a bit worse" in claim.statement for claim in claims)


def test_the_command_runs_one_experiment(tmp_path: Path) -> None:
    done = CliRunner().invoke(
        app,
        ["study", "stiff-contact", "--quick", "--only", "fig5", "--out", str(tmp_path), "--json"],
    )
    assert done.exit_code == 0, done.output
    document = json.loads(done.output)
    assert [e["name"] for e in document["experiments"]] == ["fig5"]
    assert (tmp_path / "index.html").is_file()
    missing = CliRunner().invoke(
        app, ["study", "stiff-contact", "--only", "fig99", "--out", str(tmp_path)]
    )
    assert missing.exit_code != 0
