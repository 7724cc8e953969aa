"""Small corrections of position errors that no impulse can obey do not leave a step unsolved."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import stiction

TURNTABLE = """<mujoco><option timestep=".002"/><worldbody>
  <geom name="base" type="cylinder" size=".08 .1" euler="{tilt} 0 0"/>
  <body pos="0 0 {z}"><joint name="turn" axis="0 0 1" damping="1" frictionloss=".1"/>
    <geom type="cylinder" size=".06 .1" mass="3"/>
    <body pos="0 0 .1"><joint name="lift" axis="0 1 0" damping="1" armature=".1"/>
      <geom type="capsule" fromto="0 0 .05 .3 0 .3" size=".03" mass="2"/></body></body>
  </worldbody><actuator><position joint="turn" kp="4500" kv="450"/>
  <position joint="lift" kp="4500" kv="450"/></actuator></mujoco>"""


@pytest.mark.parametrize("overlap", [0.0, 1e-6, 1e-4])
@pytest.mark.parametrize("tilt", [0.03, 0.3, 3.0])  # [degrees]
def test_a_turntable_on_a_tilted_base_rests(overlap: float, tilt: float) -> None:
    """Its rim meets the base on both sides: what one contact asks for the other forbids."""
    with warnings.catch_warnings(action="ignore"):
        sim = stiction.load_mjcf(TURNTABLE.format(tilt=tilt, z=0.2 - overlap)).simulation()
    for _ in range(200):
        report = sim.step([0.3, 0.2])
        assert report.status == "ok" and report.residuals.relative < 1e-8
    lift = sim.state.q[1]
    assert abs(lift - 0.2) < 0.01  # what is not jammed moves
    assert np.abs(sim.state.v).max() < 0.1


def test_corrections_that_can_be_obeyed_stay() -> None:
    """A box that is 1 mm in the ground comes out of it."""
    scene = stiction.Scene()
    scene.add_ground()
    pose = np.eye(4)
    pose[2, 3] = 0.049
    scene.add_body("box", stiction.Box([0.05, 0.05, 0.05]), 1.0, pose)
    sim = stiction.Simulator(scene)
    state = sim.initial_state()
    for _ in range(100):
        report = sim.step(state)
        assert report.status == "ok"
    assert abs(state.q[2] - 0.05) < 1e-5
