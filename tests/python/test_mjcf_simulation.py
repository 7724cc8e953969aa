"""MJCF files in motion beside MuJoCo: sensors, mocap bodies, medium, tendons, activations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
import pytest
import stiction
from mjcf_beside_mujoco import DATA, file_of, gymnasium_file
from stiction.mujoco_layout import (
    from_mujoco_qpos,
    from_mujoco_qvel,
    to_mujoco_qpos,
    to_mujoco_qvel,
)

pytestmark = pytest.mark.filterwarnings("ignore::stiction.LoadWarning")


@pytest.fixture(autouse=True)
def quiet_mujoco() -> Iterator[None]:
    """Without a file of warnings in the working directory."""
    mujoco.set_mju_user_warning(lambda _: None)
    yield
    mujoco.set_mju_user_warning(None)


def random_state(m: Any, d: Any, scene: stiction.Scene, rng: np.random.Generator) -> stiction.State:
    """Into MuJoCo's data, and the same for stiction."""
    d.qpos[:] = m.qpos0 + 0.3 * rng.normal(size=m.nq)
    mujoco.mj_normalizeQuat(m, d.qpos)
    d.qvel[:] = rng.normal(size=m.nv)
    q = from_mujoco_qpos(scene, d.qpos)
    state = stiction.make_state(scene, q)
    state.v = from_mujoco_qvel(scene, q, d.qvel)
    return state


def their_sensor(m: Any, d: Any, name: str) -> np.ndarray:
    s = m.sensor(name)
    return np.array(d.sensordata[s.adr[0] : s.adr[0] + s.dim[0]])


# --- sensors ------------------------------------------------------------------------------------


def test_sensors_are_mujocos_without_contacts() -> None:
    """Those that take accelerations at the acceleration that stiction's step had."""
    file = DATA / "sensors.xml"
    model, m = stiction.load_mjcf(file), mujoco.MjModel.from_xml_path(str(file))
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    d, rng, run = mujoco.MjData(m), np.random.default_rng(3), model.simulation()
    names = [m.sensor(i).name for i in range(m.nsensor)]
    assert run.sensor_names == names
    for _ in range(10):
        run.state = random_state(m, d, run.sim.scene, rng)
        before, v = run.state.copy(), np.array(run.state.v)
        ctrl = 2.0 * rng.normal(size=m.nu)
        run.step(ctrl)
        rate = (np.array(run.state.v) - v) / model.timestep
        rate[:3] += np.cross(v[3:6], v[:3])
        d.ctrl[:], d.time = ctrl, before.time
        mujoco.mj_forward(m, d)
        d.qacc[:] = to_mujoco_qvel(run.sim.scene, before.q, rate)
        mujoco.mj_rnePostConstraint(m, d)
        mujoco.mj_sensorAcc(m, d)
        last = {name: their_sensor(m, d, name) for name in names if run.of_last_step(name)}
        assert len(last) == 6
        for name, expected in last.items():
            close(run.sensor(name), expected, name)
        d.qpos[:] = to_mujoco_qpos(run.sim.scene, run.state.q)
        d.qvel[:] = to_mujoco_qvel(run.sim.scene, run.state.q, run.state.v)
        d.time = run.state.time
        mujoco.mj_forward(m, d)
        for name in set(names) - set(last):
            close(run.sensor(name), their_sensor(m, d, name), name)


def close(ours: np.ndarray, theirs: np.ndarray, name: str) -> None:
    assert ours.shape == theirs.shape, name
    assert np.abs(ours - theirs).max() < 1e-9 * (1.0 + np.abs(theirs).max()), (name, ours, theirs)


def test_touch_and_force_at_rest_are_the_weight() -> None:
    xml = """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
      <body name="box" pos="0 0 0.1"><freejoint/><geom type="box" size=".1 .1 .1" mass="2"/>
        <site name="below" type="box" size=".11 .11 .02" pos="0 0 -.1"/>
        <site name="above" type="sphere" size=".05" pos="0 0 .3"/>
        <body name="head" pos="0 0 .2"><geom size=".05" mass="0.5"/><site name="neck"/></body>
      </body></worldbody>
      <sensor><touch name="below" site="below"/><touch name="above" site="above"/>
        <force name="neck" site="neck"/><accelerometer name="a" site="neck"/></sensor></mujoco>"""
    run = stiction.load_mjcf(xml).simulation()
    assert run.sensor("below") == 0.0
    for _ in range(300):
        run.step()
    assert run.sensor("below")[0] == pytest.approx(2.5 * 9.81, rel=1e-6)
    # The ray of each contact goes up, and from the corners of the box past the upper site.
    assert run.sensor("above")[0] == 0.0
    assert run.sensor("neck") == pytest.approx([0.0, 0.0, 0.5 * 9.81], abs=1e-6)
    assert run.sensor("a") == pytest.approx([0.0, 0.0, 9.81], abs=1e-6)
    with pytest.raises(ValueError, match="no sensor 'x'; there are: below, above"):
        run.sensor("x")


# --- mocap bodies -------------------------------------------------------------------------------


def test_an_arm_follows_a_mocap_body_as_in_mujoco() -> None:
    file = DATA / "mocap.xml"
    m = mujoco.MjModel.from_xml_path(str(file))
    d, run = mujoco.MjData(m), stiction.load_mjcf(file).simulation()
    position, quaternion = run.mocap_pose("goal")
    for i in range(1000):
        moved = position + np.array([0.0, 0.1, 0.05]) * min(1.0, i / 500)
        run.place("goal", moved)
        d.mocap_pos[0] = moved
        assert run.step().status == "ok"
        mujoco.mj_step(m, d)
    mujoco.mj_forward(m, d)
    ours = stiction.SceneMotion(run.sim.scene, run.state).pose("hand").translation
    assert np.abs(ours - d.xpos[m.body("hand").id]).max() < 1e-3
    assert np.linalg.norm(ours - [0.5, 0.1, 0.55]) < 2e-2
    assert run.sensor("flag") == pytest.approx(d.sensordata, abs=1e-12)
    assert run.mocap_pose("goal")[1] == pytest.approx(quaternion)


def test_a_mocap_body_carries_its_geometry() -> None:
    run = stiction.load_mjcf(DATA / "mocap.xml").simulation()
    for i in range(1500):
        run.place("goal", [0.5, 0.0, 0.5 + 0.05 * min(1.0, i / 1000)])
        assert run.step().status == "ok"
    ball = stiction.SceneMotion(run.sim.scene, run.state).pose("ball").translation
    assert ball == pytest.approx([0.5, 0.0, 0.12], abs=1e-3)
    run.reset("away")
    assert run.mocap_pose("goal")[0] == pytest.approx([0.5, 0.1, 0.6])
    assert run.sensor("flag") == pytest.approx([0.5, 0.0, 0.7])  # half a turn about z
    run.reset()
    assert run.mocap_pose("goal")[0] == pytest.approx([0.5, 0.0, 0.5])


def test_a_weld_to_a_mocap_body_is_bounded() -> None:
    """A body of 1 kg that is held, and one that is pulled against a wall."""
    xml = """<mujoco><option gravity="0 0 0"/><worldbody>
      <geom name="wall" type="box" size=".1 1 1" pos="1 0 0"/>
      <body name="m" mocap="true"/>
      <body name="b"><freejoint/><geom type="sphere" size=".1" mass="1"/></body></worldbody>
      <equality><weld name="w" body1="m" body2="b"/></equality></mujoco>"""
    run = stiction.load_mjcf(xml).simulation(dt=1e-3)
    run.place("m", [5.0, 0.0, 0.0])
    for _ in range(2000):
        assert run.step().status == "ok"
    wall = run.sim.wrench_on("b")
    assert wall.force[0] == pytest.approx(-20 * 9.81, rel=1e-6)
    assert run.state.q[0] == pytest.approx(0.8, abs=1e-3)
    for bad in ([1.0, 0.0], [np.nan, 0.0, 0.0]):
        with pytest.raises(ValueError):
            run.place("m", bad)
    with pytest.raises(ValueError, match="zero"):
        run.place("m", quaternion=[0.0] * 4)
    with pytest.raises(ValueError, match="no mocap body 'b'; there are: m"):
        run.place("b", [0.0, 0.0, 0.0])


# --- medium -------------------------------------------------------------------------------------

BOXES = """<mujoco><option density="900" viscosity="0.4" wind="0.5 -0.3 0.2"/><worldbody>
  <body pos="0 0 1"><freejoint/><geom type="box" size=".3 .1 .05" pos=".1 0 0" euler="20 0 30"/>
    <body pos=".4 0 0"><geom size=".1"/></body>
    <body pos=".3 .1 0"><joint axis="0 1 1"/><geom type="capsule" size=".05 .2"/>
      <body><joint type="ball"/><geom type="box" size=".1 .2 .05" pos="0 0 .3"/></body>
    </body></body></worldbody></mujoco>"""


@pytest.mark.parametrize("name", ["swimmer", "boxes"])
def test_the_medium_pushes_as_mujocos(name: str) -> None:
    given = BOXES if name == "boxes" else str(file_of(name))
    from_ = mujoco.MjModel.from_xml_string if name == "boxes" else mujoco.MjModel.from_xml_path
    model, m = stiction.load_mjcf(given), from_(given)
    d, rng, run = mujoco.MjData(m), np.random.default_rng(0), model.simulation()
    assert not [x for x in model.messages if x.kind == "unused"]
    for _ in range(10):
        run.state = random_state(m, d, run.sim.scene, rng)
        motion = stiction.SceneMotion(run.sim.scene, run.state)
        mujoco.mj_forward(m, d)
        run.step()
        force = sum(
            motion.jacobian(w.body).T @ np.concatenate([w.force, w.moment])
            for w in run.external_wrenches
        )
        ours = to_mujoco_qvel(run.sim.scene, from_mujoco_qpos(run.sim.scene, d.qpos), force)
        assert np.abs(ours - d.qfrc_fluid).max() < 1e-9 * np.abs(d.qfrc_fluid).max()


# --- tendons and activations --------------------------------------------------------------------

TENDONS = """<mujoco><option timestep="0.001"><flag contact="disable" eulerdamp="disable"/></option>
  <worldbody><body><joint name="a" axis="0 1 0" armature="0.1"/><geom size=".2"/>
    <body pos=".3 0 0"><joint name="b" type="slide" axis="1 0 0" armature="1"/><geom size=".05"/>
  </body></body></worldbody>
  <tendon><fixed name="t" {}><joint joint="a" coef="0.5"/><joint joint="b" coef="-1"/></fixed>
  </tendon></mujoco>"""


@pytest.mark.parametrize(
    "what",
    [
        'stiffness="40" springlength="0.2"',
        'stiffness="40" springlength="-0.1 0.1" damping="3"',
        'limited="true" range="-0.1 0.2" margin="0.05"',
        'stiffness="40 15 300" springlength="0.1" damping="3 2 0.7"',
        'frictionloss="0.7"',
    ],
)
def test_fixed_tendons_pull_as_mujocos(what: str) -> None:
    xml = TENDONS.format(what)
    model, m = stiction.load_mjcf(xml), mujoco.MjModel.from_xml_string(xml)
    d, rng, run = mujoco.MjData(m), np.random.default_rng(0), model.simulation()
    assert not [x for x in model.messages if x.kind == "unused"]
    pulls = 0
    for _ in range(20):
        run.state = random_state(m, d, run.sim.scene, rng)
        motion = stiction.SceneMotion(run.sim.scene, run.state)
        mujoco.mj_forward(m, d)
        theirs = d.qfrc_passive + d.qfrc_constraint
        arms, before = np.array([0.5, -1.0]), np.array(run.state.v)
        run.step()
        b, c = m.tendon_dampingpoly[0]  # dampers are of the end, their coefficients of the start
        speed = arms @ before
        damping = m.tendon_damping[0] + b * abs(speed) + c * speed**2
        theirs = theirs + damping * arms * (arms @ (before - np.array(run.state.v)))
        ours = np.zeros(m.nv)
        for w in run.external_wrenches:
            ours += motion.jacobian(w.body).T @ np.concatenate([w.force, w.moment])
        assert np.abs(ours - theirs).max() < 1e-9 * (1.0 + np.abs(theirs).max())
        pulls += bool(np.abs(theirs).max() > 0.0)
    assert pulls > 5


@pytest.mark.parametrize(
    "kind",
    [
        'dyntype="integrator" actlimited="true" actrange="-0.02 0.05"',
        'dyntype="filter" dynprm="0.03"',
        'dyntype="filterexact" dynprm="0.03" ctrllimited="true" ctrlrange="-1 1"',
        'dyntype="filter" dynprm="0.03" actearly="true"',
    ],
)
def test_activations_are_mujocos(kind: str) -> None:
    xml = f"""<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody>
      <body><joint name="a" axis="0 1 0"/><geom size=".3" mass="2"/></body></worldbody>
      <actuator><general name="g" joint="a" gainprm="3" gear="2" {kind}/></actuator>
      <keyframe><key name="k" act="0.04"/></keyframe></mujoco>"""
    model, m = stiction.load_mjcf(xml), mujoco.MjModel.from_xml_string(xml)
    assert not [x for x in model.messages if x.kind == "unused"]
    d, run = mujoco.MjData(m), model.simulation()
    run.reset("k")
    mujoco.mj_resetDataKeyframe(m, d, 0)
    for i in range(200):
        ctrl = [2.0 * np.sin(0.05 * i)]
        d.ctrl[:] = ctrl
        mujoco.mj_step(m, d)
        run.step(ctrl)
        assert run.activation == pytest.approx(d.act, abs=1e-14)
        assert np.abs(run.state.v - d.qvel).max() < 1e-12
    assert np.abs(d.act).max() > 1e-3


def test_a_file_without_any_of_this_moves_as_with_a_simulator() -> None:
    model = stiction.load_mjcf(gymnasium_file("ant"))
    run, sim = model.simulation(), stiction.Simulator(model.scene, dt=model.timestep)
    state = sim.initial_state()
    for _ in range(50):
        run.step([0.3] * 8)
        sim.step(state, model.control([0.3] * 8))
    assert np.array_equal(run.state.q, state.q) and np.array_equal(run.state.v, state.v)
