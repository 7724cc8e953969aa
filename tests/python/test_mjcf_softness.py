"""softness="mujoco" beside MuJoCo: depths at rest, damping, welds that give way."""

from __future__ import annotations

import warnings
from typing import Any

import mujoco
import numpy as np
import pytest
import stiction
from mjcf_beside_mujoco import DATA, gymnasium_file
from stiction.loaders.mjcf_softness import mixed_softness

pytestmark = pytest.mark.filterwarnings("ignore::stiction.LoadWarning")

CUBE = "-.1 -.1 -.1 .1 -.1 -.1 -.1 .1 -.1 .1 .1 -.1 -.1 -.1 .1 .1 -.1 .1 -.1 .1 .1 .1 .1 .1"
SHAPES = {
    "sphere": 'size=".1"',
    "box": 'type="box" size=".1 .1 .1"',
    "capsule": 'type="capsule" size=".1 .15" euler="0 90 0"',
    "cylinder": 'type="cylinder" size=".1 .1"',
    "ellipsoid": 'type="ellipsoid" size=".12 .12 .1"',
    "mesh": 'type="mesh" mesh="cube"',
}
VARIANTS = {
    "defaults": ("", ""),
    "slippery": ("", 'friction="0.4"'),
    "no friction": ("", 'condim="1"'),
    "rolling": ("", 'condim="6" friction="0.8"'),
    "elliptic": ('cone="elliptic"', 'friction="0.4"'),
    "impratio": ('impratio="4"', ""),
    "soft": ("", 'solref=".08 .7" solimp=".7 .95 .05 .3 3"'),
    "direct": ("", 'solref="-3000 -60" solimp=".6 .9 .01"'),
    "fast": ("", 'solref=".001 1"'),
    "margin": ("", 'margin=".01"'),
}


def resting(option: str, attributes: str, on_box: bool) -> str:
    """All shapes side by side, on a plane or on a box each."""
    bodies = ""
    for k, shape in enumerate(SHAPES.values()):
        bodies += f'<body pos="{k} 0 .1"><freejoint/><geom {shape}/></body>\n'
        if on_box:
            bodies += f'<geom type="box" size=".4 .4 .1" pos="{k} 0 -.1"/>\n'
    ground = "" if on_box else '<geom type="plane" size="9 9 1"/>'
    return f"""<mujoco><option timestep="0.001" {option}/>
      <default><geom {attributes}/></default>
      <asset><mesh name="cube" vertex="{CUBE}"/></asset>
      <worldbody>{ground}{bodies}</worldbody></mujoco>"""


def both_at_rest(xml: str, steps: int) -> tuple[np.ndarray, np.ndarray, stiction.Mjcf]:
    """qpos of stiction and of MuJoCo."""
    loaded, m = stiction.load_mjcf(xml, softness="mujoco"), mujoco.MjModel.from_xml_string(xml)
    d, run = mujoco.MjData(m), loaded.simulation()
    for _ in range(steps):
        assert run.step().status == "ok"
        mujoco.mj_step(m, d)
    assert np.abs(run.state.v).max() < 1e-3
    return stiction.to_mujoco_qpos(loaded.scene, run.state.q), np.array(d.qpos), loaded


# --- contacts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", VARIANTS)
def test_shapes_sink_as_deep_as_mujocos_into_a_plane(name: str) -> None:
    option, attributes = VARIANTS[name]
    ours, theirs, _ = both_at_rest(resting(option, attributes, on_box=False), 1500)
    sunk = 0.1 + 2 * (0.01 if name == "margin" else 0.0)
    depth, expected = (sunk - qpos.reshape(-1, 7)[:, 2] for qpos in (ours, theirs))
    assert np.all(expected > 1e-6)
    np.testing.assert_allclose(depth, expected, rtol=0.05, err_msg=str(list(SHAPES)))


@pytest.mark.parametrize("shape", ["sphere", "box", "capsule", "ellipsoid"])
def test_shapes_sink_as_deep_as_mujocos_into_a_box(shape: str) -> None:
    k = list(SHAPES).index(shape)
    ours, theirs, _ = both_at_rest(resting("", "", on_box=True), 1500)
    depth, expected = (0.1 - qpos.reshape(-1, 7)[k, 2] for qpos in (ours, theirs))
    assert depth == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("load", [0.2, 1.0, 8.0])
def test_any_load_with_a_constant_impedance(load: float) -> None:
    """A ball pushed down by a force of its own: nothing but d(r) ties the stiffness to a load."""
    xml = """<mujoco><option timestep="0.001" cone="elliptic"/><worldbody>
      <geom type="plane" size="1 1 1" solref=".05 1" solimp=".9 .9 .01"/>
      <body pos="0 0 .1"><joint name="z" type="slide" axis="0 0 1"/>
      <geom size=".1" mass="3" solref=".05 1" solimp=".9 .9 .01"/></body></worldbody></mujoco>"""
    loaded, m = stiction.load_mjcf(xml, softness="mujoco"), mujoco.MjModel.from_xml_string(xml)
    d, run = mujoco.MjData(m), loaded.simulation()
    push = np.array([-(load - 1.0) * 3 * 9.81])
    for _ in range(2000):
        run.step(torque=push)
        d.qfrc_applied[:] = push
        mujoco.mj_step(m, d)
    assert run.state.q[0] == pytest.approx(d.qpos[0], rel=1e-3)


@pytest.mark.parametrize("solref", [".05 1", ".05 .3", "-3000 -60", "-3000 -10"])
def test_damping_keeps_the_ratio_of_the_file(solref: str) -> None:
    """Of a free body alone on a pair: critical at a dampratio of 1."""
    xml = f"""<mujoco><option timestep="0.001"/><worldbody>
      <geom name="p" type="plane" size="1 1 1"/><body pos="0 0 .1"><freejoint/>
      <geom name="b" size=".1" mass="3" priority="1" solref="{solref}"/></body></worldbody>
      </mujoco>"""
    scene = stiction.load_mjcf(xml, softness="mujoco").scene
    pair = scene.pair_material("p", "b")
    first, second = (float(x) for x in solref.split())
    ratio = second if first > 0 else -second / (2 * (-first) ** 0.5)
    assert pair.damping / (2 * (pair.stiffness * 3) ** 0.5) == pytest.approx(ratio, rel=1e-9)


def test_a_ball_bounces_as_often_as_mujocos_is_damped() -> None:
    """With a dampratio of 0.1 it comes back up in both, of 1 in neither."""
    for ratio, up in ((0.1, True), (1.0, False)):
        xml = f"""<mujoco><option timestep="0.0005"/><worldbody><geom type="plane" size="1 1 1"
          solref=".2 {ratio}"/><body pos="0 0 .5"><freejoint/><geom size=".1"
          solref=".2 {ratio}"/></body></worldbody></mujoco>"""
        loaded, m = stiction.load_mjcf(xml, softness="mujoco"), mujoco.MjModel.from_xml_string(xml)
        d, run, speeds = mujoco.MjData(m), loaded.simulation(), []
        for _ in range(1000):
            run.step()
            mujoco.mj_step(m, d)
            speeds.append((run.state.v[2], d.qvel[2]))
        fastest = np.max(speeds, axis=0)
        assert np.all(fastest > 0.8) if up else np.all(fastest < 0.3), (ratio, fastest)


def test_mixing_of_two_geoms_is_mujocos() -> None:
    """solref and solimp of contacts between random geoms, some with priorities."""
    rng = np.random.default_rng(2)
    geoms = ""
    for _ in range(12):
        direct = rng.random() < 0.3
        solref = "-900 -30" if direct else f"{rng.uniform(0.01, 0.1)} {rng.uniform(0.5, 2)}"
        geoms += f"""<body><freejoint/><geom size=".1" solref="{solref}"
          solimp="{rng.uniform(0.5, 0.8)} {rng.uniform(0.8, 0.99)} {rng.uniform(0.001, 0.1)}"
          priority="{rng.integers(0, 2)}" solmix="{rng.choice([0.0, 1.0, 3.0])}"/></body>"""
    m = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{geoms}</worldbody></mujoco>")
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    assert d.ncon == 66
    for contact in d.contact:
        soft = mixed_softness(m, *(int(g) for g in contact.geom))
        np.testing.assert_allclose(soft.solref, contact.solref, rtol=1e-12)
        np.testing.assert_allclose(soft.solimp, contact.solimp, rtol=1e-12)


def test_pairs_of_the_file_have_their_own() -> None:
    """A <pair> with its solref, and geoms of two mocap bodies, which nothing can move."""
    xml = """<mujoco><worldbody><geom name="p" type="plane" size="1 1 1"/>
      <body pos="0 0 .1"><freejoint/><geom name="b" size=".1" mass="2"/></body></worldbody>
      <contact><pair geom1="p" geom2="b" solref=".1 1" solimp=".9 .9 .01" condim="1"/></contact>
      </mujoco>"""
    pair = stiction.load_mjcf(xml, softness="mujoco").scene.pair_material("p", "b")
    assert pair.stiffness == pytest.approx(2 / 0.1**2 / (1 - 0.9), rel=1e-12)


def test_a_robot_on_soft_ground() -> None:
    """An ant falls on its legs: every pair of it yields, and every step is solved."""
    run = stiction.load_mjcf(gymnasium_file("ant"), softness="mujoco").simulation()
    for _ in range(200):
        assert run.step().status == "ok"
    pairs = run.sim.scene.parameters.pair_stiffness
    assert len(pairs) > 0 and np.all(np.isfinite(pairs))
    assert 0.2 < run.state.q[2] < 0.8


# --- welds --------------------------------------------------------------------------------------

WELDS = """<mujoco><option timestep="0.001"/><worldbody>
  <body name="m" mocap="true" pos="2 0 1"/>
  <body name="hung" pos="0 0 1"><freejoint/><geom type="box" size=".1 .05 .05" mass="2"/>
    <body pos=".3 0 0"><geom size=".05" mass="0.5"/></body></body>
  <body name="carried" pos="2 0 1"><freejoint/><geom type="box" size=".1 .05 .05" mass="2"/>
    <body pos=".3 0 0"><geom size=".05" mass="0.5"/></body></body>
  <body pos="4 0 1"><geom type="box" size=".1 .1 .1"/><site name="hook" pos="0 0 -.2"/></body>
  <body name="lamp" pos="4 0 .6"><freejoint/><site name="eye" pos="0 0 .2"/>
    <geom type="cylinder" size=".1 .02" mass="1"/></body></worldbody>
  <equality><weld body1="{one}" body2="{two}" {at} {soft}/><weld body1="m" body2="carried" {soft}/>
    <weld site1="hook" site2="eye" {soft}/></equality></mujoco>"""


@pytest.mark.parametrize("sides", [("world", "hung", ""), ("hung", "world", 'anchor="0 0 1"')])
@pytest.mark.parametrize(
    "soft", ['solref=".1 1"', 'solref="-400 -40" solimp=".8 .95 .02"', 'torquescale="0.3"']
)
def test_what_hangs_on_a_weld_sags_as_in_mujoco(sides: tuple[str, str, str], soft: str) -> None:
    """Off its centre of mass, so that it turns too."""
    xml = WELDS.format(one=sides[0], two=sides[1], at=sides[2], soft=soft)
    ours, theirs, loaded = both_at_rest(xml, 2500)
    start = mujoco.MjModel.from_xml_string(xml).qpos0
    for k in range(3):
        place, turn = slice(7 * k, 7 * k + 3), slice(7 * k + 4, 7 * k + 7)
        sag = theirs[place] - start[place]
        assert np.abs(sag).max() > 1e-5
        assert np.abs(ours[place] - theirs[place]).max() < 0.05 * np.abs(sag).max()
        assert np.abs(ours[turn] - theirs[turn]).max() <= 0.05 * np.abs(theirs[turn]).max() + 1e-9
    assert loaded.scene.closure_names == []
    assert any("soft welds" in m.text for m in loaded.messages)


# --- what is said -------------------------------------------------------------------------------


def texts(loaded: Any) -> str:
    return "\n".join(m.text for m in loaded.messages)


def test_what_has_no_softness_is_said() -> None:
    file = DATA / "equalities.xml"
    rigid, soft = stiction.load_mjcf(file), stiction.load_mjcf(file, softness="mujoco")
    assert "contacts, limits and equalities are rigid" in texts(rigid)
    assert "softness" not in texts(rigid)
    assert "limits and dry friction are rigid" in texts(soft)
    assert "'big_end'" in texts(soft) and "is rigid: its softness is not honoured" in texts(soft)
    assert np.all(np.isinf(rigid.scene.parameters.pair_stiffness))
    with pytest.raises(stiction.StictionError, match="softness is not honoured"):
        stiction.load_mjcf(file, softness="mujoco", strict=True)
    with pytest.raises(ValueError, match="softness = 'hard': must be one of rigid, mujoco"):
        stiction.load_mjcf(file, softness="hard")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        stiction.load_mjcf(resting("", "", on_box=False), softness="mujoco", strict=True)
