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


def test_only_what_is_jammed_goes_without_corrections() -> None:
    """A box beside it that is 1 mm in the ground comes out."""
    box = """<geom type="plane" size="9 9 1" pos="0 0 -1"/>
      <body pos="3 0 -0.951"><freejoint/><geom type="box" size=".05 .05 .05"/></body>"""
    text = TURNTABLE.format(tilt=0.3, z=0.2).replace("<worldbody>", f"<worldbody>{box}")
    with warnings.catch_warnings(action="ignore"):
        sim = stiction.load_mjcf(text).simulation()
    for _ in range(100):
        report = sim.step([0.3, 0.2])
        assert report.status == "ok"
    assert abs(sim.state.q[2] + 0.95) < 1e-5  # the box is the first body


def test_a_bound_on_work_leaves_the_answer_that_there_is() -> None:
    """Where nothing is left for it no island is solved once more: that would answer zero."""
    with warnings.catch_warnings(action="ignore"):
        file = stiction.load_mjcf(TURNTABLE.format(tilt=0.3, z=0.2))
        sim = stiction.Simulator(file.scene, dt=2e-3, max_work=1e5)
        state = sim.initial_state()
        for _ in range(20):
            report = sim.step(state)
    assert report.status == "not_converged"
    assert np.isfinite(state.v).all() and np.abs(state.v).max() < 1.0
