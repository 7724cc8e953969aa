"""Numbers of a file in their places: each where another would pass unseen."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
import stiction

pytestmark = pytest.mark.filterwarnings("ignore::stiction.LoadWarning")
BALL = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 1" {0}/>
  <body name="ball" pos="0 0 .1"><freejoint/><geom name="ball" size=".1" {1}/>
  <site name="below" pos="0 0 -.15" size=".02"/><site name="above" pos="0 0 .15" size=".02"/></body>
  </worldbody>{2}</mujoco>"""


@pytest.mark.parametrize(
    ("condim", "expected"),
    [(1, (0.0, 0.0, 0.0)), (3, (0.7, 0.0, 0.0)), (4, (0.7, 0.02, 0.0)), (6, (0.7, 0.02, 0.003))],
)
@pytest.mark.parametrize("listed", [False, True])
def test_friction_as_far_as_condim(
    condim: int, expected: tuple[float, float, float], listed: bool
) -> None:
    numbers = 'friction=".7 .02 .003"'
    if listed:
        numbers = f'condim="{condim}" friction=".7 .7 .02 .003 .003"'
        pair = f'<contact><pair geom1="floor" geom2="ball" {numbers}/></contact>'
        text = BALL.format("", "", pair)
    else:
        text = BALL.format('condim="1"', f'condim="{condim}" priority="1" {numbers}', "")
    material = stiction.load_mjcf(text).scene.pair_material("floor", "ball")
    found = (material.friction, material.torsional_friction, material.rolling_friction)
    assert found == expected


def test_actuators_add_by_the_square_of_their_gear() -> None:
    text = """<mujoco><worldbody><body><joint name="j" armature=".1" damping=".2"/>
      <geom size=".1"/></body></worldbody>
      <actuator><motor joint="j" gear="-3" armature=".5" damping=".7"/></actuator></mujoco>"""
    p = stiction.load_mjcf(text).scene.parameters
    assert p.armature == pytest.approx([0.1 + 9 * 0.5])
    assert p.damping == pytest.approx([0.2 + 9 * 0.7])


def test_a_locked_joint_goes_to_where_it_is_locked() -> None:
    text = """<mujoco><option gravity="0 0 0"/><worldbody>
      <body><joint name="a"/><geom size=".1"/></body>
      <body pos="1 0 0"><joint name="b"/><geom size=".1"/></body></worldbody>
      <equality><joint joint1="a" polycoef=".3 0 0 0 0"/></equality></mujoco>"""
    run = stiction.load_mjcf(text).simulation()
    for _ in range(2000):
        run.step()
    assert run.state.q == pytest.approx([0.3, 0.0], abs=1e-6)


def test_quaternions_of_keyframes_are_made_unit() -> None:
    key = '<keyframe><key name="k" qpos="0 0 1 2 0 0 2"/></keyframe>'
    q = stiction.load_mjcf(BALL.format("", "", key)).keyframes["k"].q
    assert q[3:] == pytest.approx([0.0, 0.0, np.sqrt(0.5), np.sqrt(0.5)])


def test_touch_sees_along_the_normal_into_the_ground() -> None:
    sensors = '<sensor><touch name="b" site="below"/><touch name="a" site="above"/></sensor>'
    text = BALL.format("", 'mass="2"', sensors)
    m, run = mujoco.MjModel.from_xml_string(text), stiction.load_mjcf(text).simulation()
    d = mujoco.MjData(m)
    for _ in range(400):
        mujoco.mj_step(m, d)
        run.step()
    told = [run.sensor("b")[0], run.sensor("a")[0]]
    assert told == pytest.approx(d.sensordata, abs=1e-3)
    assert sorted(told) == pytest.approx([0.0, 2 * 9.81], abs=1e-5)


def test_a_torque_sensor_takes_the_arms_of_contacts() -> None:
    """A lever on a hinge lies with its end on a post: the hinge carries half."""
    text = """<mujoco><worldbody><geom type="sphere" condim="1" size=".05" pos=".4 0 -.07"/>
      <body><joint axis="0 1 0"/><geom type="capsule" condim="1" size=".02" fromto="0 0 0 .4 0 0"
        mass="1"/><site name="s" pos=".1 0 0"/></body></worldbody>
      <sensor><force name="f" site="s"/><torque name="t" site="s"/></sensor></mujoco>"""
    m, run = mujoco.MjModel.from_xml_string(text), stiction.load_mjcf(text).simulation()
    d = mujoco.MjData(m)
    for _ in range(1500):
        mujoco.mj_step(m, d)
        run.step()
    told = np.concatenate([run.sensor("f"), run.sensor("t")])
    half = 0.5 * 9.81  # [N], at an arm of 0.1 m from the site
    assert told == pytest.approx([0.0, 0.0, half, 0.0, 0.1 * half, 0.0], abs=1e-3)
    assert told == pytest.approx(d.sensordata, abs=0.15)


def test_positions_beyond_reason_are_named() -> None:
    with pytest.raises(stiction.StictionError, match=r"body 'ball': pos must be at most 1e\+10"):
        stiction.load_mjcf(BALL.format("", "", "").replace("0 0 .1", "0 0 1e11"))
