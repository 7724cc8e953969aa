"""Sensors that look and those of limits beside MuJoCo, at random states."""

from __future__ import annotations

from collections.abc import Iterator

import mujoco
import numpy as np
import pytest
import stiction
from mjcf_beside_mujoco import DATA
from stiction.mujoco_layout import from_mujoco_qpos, from_mujoco_qvel

pytestmark = pytest.mark.filterwarnings("ignore::stiction.LoadWarning")
FORCES = {"cord force", "hinge force", "cord pull"}


@pytest.fixture(autouse=True)
def quiet_mujoco() -> Iterator[None]:
    """Without a file of warnings in the working directory."""
    mujoco.set_mju_user_warning(lambda _: None)
    yield
    mujoco.set_mju_user_warning(None)


def place_at_random(
    m: mujoco.MjModel, d: mujoco.MjData, run: stiction.MjcfSimulation, rng: np.random.Generator
) -> None:
    """Both at the same state, bodies within a metre or two of each other."""
    d.qpos[:] = m.qpos0 + 0.4 * rng.normal(size=m.nq)
    mujoco.mj_normalizeQuat(m, d.qpos)
    d.qvel[:] = rng.normal(size=m.nv)
    mujoco.mj_forward(m, d)
    scene = run.sim.scene
    q = from_mujoco_qpos(scene, d.qpos)
    run.state = stiction.make_state(scene, q)
    run.state.v = from_mujoco_qvel(scene, q, d.qvel)


def their_sensor(m: mujoco.MjModel, d: mujoco.MjData, name: str) -> np.ndarray:
    s = m.sensor(name)
    return np.array(d.sensordata[s.adr[0] : s.adr[0] + s.dim[0]])


def test_range_finders_cameras_and_limits_are_mujocos() -> None:
    """From outside and inside of every shape, past what is transparent or beyond a plane's size."""
    file = DATA / "sight.xml"
    model, m = stiction.load_mjcf(file, strict=True), mujoco.MjModel.from_xml_path(str(file))
    d, rng, run = mujoco.MjData(m), np.random.default_rng(5), model.simulation()
    assert run.sensor_names == [m.sensor(i).name for i in range(m.nsensor)]
    hits, misses, acting = 0, 0, dict.fromkeys(run.sensor_names, 0)
    for _ in range(60):
        place_at_random(m, d, run, rng)
        for name in set(run.sensor_names) - FORCES:
            ours, theirs = run.sensor(name), their_sensor(m, d, name)
            assert ours.shape == theirs.shape, name
            assert np.abs(ours - theirs).max() < 1e-9 * (1.0 + np.abs(theirs).max()), name
            acting[name] += bool(np.any(theirs != 0.0))
        for name in ("up", "down", "left"):
            misses += their_sensor(m, d, name)[0] == -1.0
            hits += their_sensor(m, d, name)[0] > 0.0
    assert hits > 50 and misses > 10
    assert all(acting[name] > 5 for name in acting if name.endswith((" pos", " vel"))), acting


def numbers(given: np.ndarray) -> str:
    return " ".join(repr(float(x)) for x in given)


def test_each_kind_of_geom_is_seen() -> None:
    """One by one, from random places around and inside it."""
    kinds = {
        "plane": 'type="plane" size="1 .7 1"',
        "endless": 'type="plane" size="0 0 1"',
        "hfield": 'type="hfield" hfield="h"',
        "sphere": 'size=".5"',
        "capsule": 'type="capsule" size=".3 .4"',
        "ellipsoid": 'type="ellipsoid" size=".5 .3 .2"',
        "cylinder": 'type="cylinder" size=".4 .3"',
        "box": 'type="box" size=".4 .3 .2"',
        "mesh": 'type="mesh" mesh="star"',
    }
    rng = np.random.default_rng(1)
    for kind, geom in kinds.items():
        sites = sensors = ""
        for i in range(40):
            at = rng.uniform(-0.9, 0.9, 3) if i % 2 else rng.uniform(-0.3, 0.3, 3) + (0.1, 0.2, 0.3)
            turn = rng.normal(size=4)
            if kind == "hfield":  # from above: it has no sides and no base here
                at = np.array([*rng.uniform(-0.3, 0.3, 2), 2.0])
                turn = np.array([0.0, 1.0, 0.1, 0.05])
            sites += f'<site name="{i}" pos="{numbers(at)}" quat="{numbers(turn)}"/>'
            sensors += f'<rangefinder name="r{i}" site="{i}"/>'
        xml = f"""<mujoco><compiler meshdir="{DATA}"/><asset>
          <mesh name="star" file="star.obj"/><hfield name="h" nrow="3" ncol="4" size="1 .8 .5 .2"
          elevation="0 1 .2 .4 .3 .9 .2 .7 .5 .6 0 .1"/></asset>
          <worldbody><geom {geom} pos=".1 .2 .3" euler="20 10 30"/>
          <body name="eye"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>{sites}
          </body></worldbody><sensor>{sensors}</sensor></mujoco>"""
        model, m = stiction.load_mjcf(xml), mujoco.MjModel.from_xml_string(xml)
        d, hits = mujoco.MjData(m), 0
        run = model.simulation()
        mujoco.mj_forward(m, d)
        for i in range(40):
            theirs = their_sensor(m, d, f"r{i}")
            hits += theirs[0] > 0.0
            assert run.sensor(f"r{i}") == pytest.approx(theirs, rel=1e-9), (kind, i)
        assert hits >= 3, kind


def test_forces_of_limits_and_of_a_tendons_actuators() -> None:
    """At rest on its limit a joint is pushed with what it carries; a tendon's limit likewise."""
    xml = """<mujoco><option timestep="0.001" gravity="0 0 -9.81"/><worldbody>
      <body pos="0 0 1"><joint name="lift" type="slide" axis="0 0 1" limited="true" range="-.1 .1"
        damping="5"/><geom size=".1" mass="3"/></body>
      <body pos="1 0 1"><joint name="arm" axis="0 1 0" damping="2"/>
        <geom size=".05" pos=".4 0 0" mass="2"/></body></worldbody>
      <tendon><fixed name="cord" limited="true" range="-1 0.2"><joint joint="arm" coef="2"/></fixed>
      </tendon><actuator><motor name="m" tendon="cord" gear="3"/><motor name="n" tendon="cord"/>
      </actuator><sensor><jointlimitfrc name="lift" joint="lift"/>
      <tendonlimitfrc name="cord" tendon="cord"/><jointlimitpos name="pos" joint="lift"/>
      <tendonactuatorfrc name="pull" tendon="cord"/></sensor></mujoco>"""
    model, m = stiction.load_mjcf(xml, strict=True), mujoco.MjModel.from_xml_string(xml)
    d, run = mujoco.MjData(m), model.simulation()
    assert run.sensor("lift") == 0.0 and run.sensor("cord") == 0.0
    ctrl = np.array([0.3, -0.2])
    for _ in range(3000):
        run.step(ctrl)
        d.ctrl[:] = ctrl
        mujoco.mj_step(m, d)
    assert run.sensor("lift")[0] == pytest.approx(3 * 9.81, rel=1e-6)
    assert run.sensor("lift")[0] == pytest.approx(d.sensordata[0], rel=1e-3)
    assert run.sensor("cord")[0] == pytest.approx(d.sensordata[1], rel=1e-3)
    assert d.sensordata[1] > 1.0
    assert run.sensor("pull")[0] == pytest.approx(0.3 - 0.2) == d.sensordata[3]
    run.reset()
    assert run.sensor("lift") == 0.0 and run.sensor("cord") == 0.0


def test_what_is_not_seen_is_said() -> None:
    xml = """<mujoco><worldbody><site name="s"/><camera name="c" resolution="2 2"/>
      <body><freejoint/><geom size="1"/><camera name="t" mode="trackcom" resolution="2 2"/></body>
      </worldbody><sensor>
      <rangefinder name="a" camera="c"/><rangefinder name="b" site="s" data="dist normal"/>
      <camprojection name="d" site="s" camera="t"/></sensor></mujoco>"""
    texts = [m.text for m in stiction.load_mjcf(xml).messages]
    for name, why in {"a": "of a camera", "b": "normals", "d": "follows"}.items():
        assert any(f"sensor '{name}': is not read: " in t and why in t for t in texts), texts
