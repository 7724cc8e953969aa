"""The open-loop trot: exact inverse kinematics, and a robot that walks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio
import pytest
import stiction
from stiction.gaits import LEGS, SIDEWAYS, solo12_leg_angles

URDF = Path(stiction.__file__).parent / "robots" / "solo12" / "solo12.urdf"


@pytest.mark.parametrize("leg", LEGS)
def test_leg_angles_put_the_foot_where_it_was_asked(leg: str) -> None:
    model = pinocchio.buildModelFromUrdf(str(URDF), pinocchio.JointModelFreeFlyer())
    data = model.createData()
    front, left = LEGS[leg]
    generator = np.random.default_rng(0)
    wanted = np.array([0.0, left * SIDEWAYS, -0.24]) + generator.uniform(-0.05, 0.05, (50, 3))
    for target, angles in zip(
        wanted, solo12_leg_angles(*wanted.T, front=front, left=left), strict=True
    ):
        q = pinocchio.neutral(model)
        for name, angle in zip(("HAA", "HFE", "KFE"), angles, strict=True):
            q[model.joints[model.getJointId(f"{leg}_{name}")].idx_q] = angle
        pinocchio.framesForwardKinematics(model, data, q)
        foot = data.oMf[model.getFrameId(f"{leg}_FOOT")].translation
        hip = np.array([front * 0.1946, left * 0.0875, 0.0])
        assert np.abs(foot - hip - target).max() < 1e-12
        assert front * angles[2] < 0.0  # knees inwards


def test_diagonal_legs_swing_together() -> None:
    scene, gait = stiction.load("solo12-trot"), stiction.Trot()
    targets = stiction.trot_targets(scene, 3.0, 1e-3, gait)
    assert targets.shape == (3000, scene.nv) and not targets[:, :6].any()
    time = 1e-3 * np.arange(1, 3001)
    lifted = {leg: gait.foot(time, 0.0 if f == s else 0.5)[1] for leg, (f, s) in LEGS.items()}
    assert np.array_equal(lifted["FL"], lifted["HR"])
    assert np.array_equal(lifted["FR"], lifted["HL"])
    assert np.minimum(lifted["FL"], lifted["FR"]).max() <= -gait.height + 1e-12
    assert lifted["FL"].max() == pytest.approx(gait.lift - gait.height, abs=1e-4)


@pytest.mark.parametrize("name", ["solo12-trot", "solo12-trot-bumpy"])
def test_solo12_trots(name: str) -> None:
    """It keeps upright and walks at three quarters of the commanded speed at least."""
    scene = stiction.load(name)
    sim = stiction.Simulator(scene, dt=1e-3)
    state = sim.initial_state("standing")
    log = sim.rollout(state, position_targets=stiction.trot_targets(scene, 10.0))
    assert log.q is not None and log.converged is not None and log.converged.all()
    assert np.linalg.norm(log.q[:, 3:5], axis=1).max() < 0.1
    assert log.q[:, 2].min() > 0.2
    walked = log.q[-1, 0] - log.q[1000, 0]
    assert 0.75 * 9.0 * stiction.Trot().speed < walked < 1.1 * 9.0 * stiction.Trot().speed


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: stiction.Trot(period=0.0), r"period = 0.0: must be finite and > 0"),
        (lambda: stiction.Trot(lift=-0.1), r"lift = -0.1: must be finite and >= 0"),
        (lambda: stiction.Trot(stride=float("nan")), r"stride = nan: must be finite"),
        (lambda: stiction.trot_targets(stiction.load("solo12-trot"), -1.0), r"duration = -1.0"),
        (lambda: stiction.trot_targets(stiction.load("solo12-trot"), 1.0, 0.0), r"dt = 0.0"),
        (lambda: stiction.trot_targets(stiction.load("cartpole"), 1.0), r"FL_HAA"),
    ],
)
def test_mistakes_are_named(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()
