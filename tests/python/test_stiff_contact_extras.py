"""What the study of stiff contact adds to the paper: drops, fingertips, MuJoCo; quick runs."""

from __future__ import annotations

import numpy as np
import pytest
import stiction

pytest.importorskip("matplotlib", reason='figures: pip install ".[study]"')

from stiction.pages.experiment import QUICK, Effort, Experiment
from stiction_lab.studies.stiff_contact import drops, fingertips, mujoco_peer
from stiction_lab.studies.stiff_contact import scenes_beside_mujoco as beside
from stiction_lab.studies.stiff_contact.integrators import IMPLICIT, OURS
from stiction_lab.studies.stiff_contact.windows import errors_of, follow, with_torques_held


def silent(text: str, share: float) -> None:
    assert 0.0 <= share <= 1.0


def mean_error(experiment: Experiment, integrator: str, step: float, **where: str) -> float:
    """Of the raw rows."""
    columns = {name: np.array(values) for name, values in experiment.columns.items()}
    rows = (columns["integrator"] == integrator) & np.isclose(columns["step"], step)
    for name, value in where.items():
        rows &= columns[name] == value
    assert rows.any()
    return float(columns["error"][rows].mean())


def test_drops() -> None:
    experiment = drops.run(Effort(QUICK), silent)
    assert np.isfinite(experiment.columns["error"]).all()
    errors = {h: mean_error(experiment, OURS, h) for h in (10e-3, 1e-3)}
    assert errors[1e-3] < 0.5 * errors[10e-3]
    # At 10 ms hulls roll past the eight points that are kept of a face.
    for (step, error), share in zip(errors.items(), (0.15, 0.1), strict=True):
        assert error < share * mean_error(experiment, IMPLICIT, step)
    [banana, _] = experiment.tables[1].rows
    assert abs(float(banana[1])) < 1e-9  # k times depth is m g at rest
    assert float(banana[2]) < 1e-9
    assert all(float(row[3]) < 1e-3 for row in experiment.tables[1].rows)  # no energy gained
    assert experiment.figures


def test_fingertips() -> None:
    experiment = fingertips.run(Effort(QUICK), silent)
    assert np.isfinite(experiment.columns["error"]).all()
    for step in (10e-3, 5e-3, 2e-3):
        assert mean_error(experiment, OURS, step) < 0.1 * mean_error(experiment, IMPLICIT, step)
    runs = {(row[0], row[1]): row[2:] for row in experiment.tables[1].rows}
    sag, _, slip = runs["reference", ""]
    assert float(sag) == pytest.approx(float(runs["m g / 2 k, grip", ""][0]), rel=1e-3)
    for step in ("10", "5", "2"):
        ours = [float(x) for x in runs[OURS, step]]
        assert ours == pytest.approx([float(sag), fingertips.GRIP, float(slip)], rel=2e-3)


def test_mujoco_at_equal_stiffness() -> None:
    pytest.importorskip("mujoco")
    experiment = mujoco_peer.run(Effort(QUICK), silent)
    for step in (10e-3, 2e-3, 1e-3):
        peer = mean_error(experiment, "discrete", step, scene="point")
        assert mean_error(experiment, OURS, step, scene="point") < 0.05 * peer
    held = "solo12, torques held"
    for step in (10e-3, 2e-3, 1e-3):
        ours = mean_error(experiment, OURS, step, scene=held)
        assert ours < 0.1 * mean_error(experiment, "discrete", step, scene=held)
        assert ours < 0.01 * mean_error(experiment, "RK4", step, scene=held)
    point = [mean_error(experiment, "RK4", step, scene="point") for step in (2e-3, 1e-3)]
    for step, error in zip((2e-3, 1e-3), point, strict=True):  # where nothing is stiff it is best
        assert error < 0.5 * mean_error(experiment, "discrete", step, scene="point")
    assert "100000 N/m" in experiment.explanation


def test_mujoco_and_ours_are_the_same_robot() -> None:
    mujoco = pytest.importorskip("mujoco")
    from stiction_lab.studies.stiff_contact import mujoco_springs

    scene = beside.solo12()
    model = mujoco_springs.solo12(scene.robots[0].description.path, "discrete", 1e-3)
    mass = float(np.asarray(scene.parameters.mass).sum())
    assert model.nv == scene.nv
    assert mujoco.mj_getTotalmass(model) == pytest.approx(mass)
    assert mujoco_springs.effective_stiffness("discrete") == pytest.approx(beside.STIFFNESS)


def test_windows_begin_where_the_last_one_ended() -> None:
    """And an integrator at the reference's step is as good as the reference is known."""
    scene = beside.point()
    state = stiction.Simulator(scene, integrator=OURS).initial_state()
    state.q[:], state.v[:] = beside.POINT_START, beside.POINT_SPEED
    run = follow(scene, state, [stiction.Control(scene.nv)] * 12, beside.PERIOD, silent)
    for k in range(11):
        assert run.windows[k + 1].state == run.ends[k]
    assert run.windows[0].state == state
    assert run.left.max() < 1e-6
    assert errors_of(run, OURS, 1).max() < 1e-6
    held = with_torques_held(run, silent)  # without servos: the same
    assert errors_of(held, OURS, 1).max() < 1e-6
    assert np.abs(held.ends[-1].q - run.ends[-1].q).max() < 1e-7
