"""Derivatives of steps with torsional and rolling friction against differences."""

from __future__ import annotations

import numpy as np
import pytest
import stiction
from stiction.gradient_check import check_gradients
from test_friction_of_couples import ball, pair_of_balls

MOTIONS = {
    "held": [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    "spins": [0.0, 0.0, 0.0, 0.0, 0.0, 8.0],
    "rolls": [0.5, 0.1, 0.0, -1.0, 5.0, 0.3],
    "slides": [1.0, 0.3, 0.0, 4.0, -3.0, 20.0],
    "bounces": [0.4, 0.3, -1.0, 4.0, -3.0, 20.0],
}


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("rolling", [0.0, 0.004])
def test_derivatives_are_those_of_differences(motion: str, rolling: float) -> None:
    sim, state = ball(
        torsional_friction=0.02, rolling_friction=rolling, restitution=0.3, baumgarte=1.0
    )
    state.v = MOTIONS[motion]
    wrt = ("q", "v", "torque", "mass", "com", "geometry_placement", "geometry_size", "friction")
    if motion in ("bounces", "held"):
        wrt = wrt[:3]
    found = check_gradients(sim, state, None, wrt)
    assert not found.wrong, found.as_dict()["wrong"]
    broken = check_gradients(sim, state, None, wrt, spoil=("q", found.columns[4].name))
    assert broken.wrong


def test_derivatives_of_a_robot_and_of_a_pair() -> None:
    scene = stiction.load("solo12")
    scene.parameters.torsional_friction[:] = 0.02
    scene.parameters.rolling_friction[:] = 0.001
    robot = stiction.Simulator(scene, dt=1e-3, baumgarte=1.0)
    start = robot.initial_state()
    robot.run(start, robot.hold(), 100)
    start.v += 0.3 * np.random.default_rng(0).standard_normal(18)
    for sim, state, control in ((robot, start, robot.hold()), (*pair_of_balls(), None)):
        for _ in range(6):
            sim.step(state, control)
        found = check_gradients(sim, state, control)
        assert not found.wrong, found.as_dict()["wrong"]
