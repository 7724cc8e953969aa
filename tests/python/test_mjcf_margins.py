"""Margins of MJCF files, and pairs that overlap as they are loaded."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pytest
import stiction

MARGINS = """<mujoco>
  <default><geom friction='1'/></default>
  <worldbody>
    <geom type='plane' size='5 5 1' margin='0.004'/>
    <geom name='table' type='box' size='1 1 .5' pos='3 0 -.4' margin='0.002'/>
    {bodies}
    <body pos='0 3 1'><joint type='slide' axis='0 0 1' range='-.2 1' limited='true' margin='.03'/>
      <geom size='.1' contype='0' conaffinity='0'/></body>
  </worldbody>
  <contact><pair geom1='table' geom2='own' margin='0.02'/></contact>
</mujoco>"""
ROUND = {
    "ball": "size='.1'",
    "pill": "type='capsule' size='.05 .1' euler='0 90 0'",
    "brick": "type='box' size='.1 .08 .05'",
    "can": "type='cylinder' size='.1 .05'",
    "egg": "type='ellipsoid' size='.1 .08 .05'",
    "own": "type='box' size='.1 .08 .05'",
}


def test_bodies_rest_at_margins() -> None:
    """As high as MuJoCo's to 1 mm, on a plane and on a box; a limit with a margin; pairs with their
    own."""
    bodies = ""
    for k, (name, shape) in enumerate(ROUND.items()):
        for x in (0.5 * k - 5.0, 2.2 + 0.3 * k):
            geom = f"name='{name if x > 0 else name + '_low'}' {shape} margin='{0.01 + 0.002 * k}'"
            y = 0.5 * (k % 2) * (x > 0)
            z = 0.13 + 0.1 * (x > 0)
            bodies += f"<body pos='{x} {y} {z}'><freejoint/><geom {geom}/></body>"
    text = MARGINS.format(bodies=bodies)
    loaded, m = stiction.load_mjcf(text, strict=True), mujoco.MjModel.from_xml_string(text)
    qpos = {}
    for margins in (True, False):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", stiction.LoadWarning)
            scene = stiction.load_mjcf(text, margins=margins).scene
        sim = stiction.Simulator(scene, dt=2e-3)
        state = sim.initial_state()
        sim.run(state, steps=1500)
        qpos[margins] = stiction.to_mujoco_qpos(scene, state.q)
    d = mujoco.MjData(m)
    for _ in range(1500):
        mujoco.mj_step(m, d)
    heights = [*(7 * k + 2 for k in range(2 * len(ROUND))), 7 * 2 * len(ROUND)]
    np.testing.assert_allclose(qpos[True][heights], d.qpos[heights], atol=1e-3)
    assert np.all(qpos[True][heights] - qpos[False][heights] > 5e-3)
    assert loaded.scene.pair_material("table", "own").rest_offset == pytest.approx(0.02)
    with pytest.raises(stiction.StictionError, match="margin is not honoured, as asked"):
        stiction.load_mjcf(text, strict=True, margins=False)


def test_pairs_that_overlap_at_the_start_may_be_left_out() -> None:
    """A finger 1 cm inside of its palm turns freely, and the palm still meets a ball."""
    text = (
        "<mujoco><worldbody><geom name='palm' type='box' size='.1 .1 .1'/>"
        "<body pos='.1 0 0'><joint name='j' axis='0 1 0'/>"
        "<geom name='finger' type='capsule' size='.01' fromto='0 0 0 .1 0 0'/></body>"
        "<body pos='0 0 1'><freejoint/><geom name='ball' size='.1'/></body></worldbody></mujoco>"
    )
    with pytest.warns(stiction.LoadWarning, match="1 pair of geoms overlaps at the start"):
        kept = stiction.load_mjcf(text)
    assert kept.scene.pair_enabled("palm", "finger")
    assert any("may collide" in m.text and "finger 10 mm" in m.text for m in kept.messages)
    with pytest.warns(stiction.LoadWarning, match="1 pair of geoms overlaps at the start"):
        loaded = stiction.load_mjcf(text, keep_overlapping_pairs=False)
    assert not loaded.scene.pair_enabled("palm", "finger")
    assert loaded.scene.pair_enabled("palm", "ball")
    assert any("palm / finger 10 mm" in m.text for m in loaded.messages)
