"""Several MJCF files as one, with one simulation: parts move as alone, hang where they are put, and
what does not go together is said of a file."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pinocchio
import pytest
import stiction
from mjcf_beside_mujoco import file_of
from stiction import MjcfPart

pytestmark = pytest.mark.filterwarnings("ignore::stiction.LoadWarning")

ARM = """<mujoco model="arm"><compiler angle="radian"/>
<option timestep="0.004" integrator="implicitfast" cone="elliptic"/>
<worldbody><body name="link" pos="0 0 1"><joint name="j" axis="0 1 0" range="-2 2" damping="1"/>
<geom type="capsule" fromto="0 0 0 .5 0 0" size=".04"/>
<site name="flange" pos=".5 0 0" euler="0 .4 0"/></body></worldbody>
<actuator><position name="p" joint="j" kp="500" kv="50"/></actuator>
<sensor><jointpos name="s" joint="j"/>
<framepos name="tip" objtype="site" objname="flange"/></sensor>
<keyframe><key name="home" qpos="0.5" ctrl="0.4" time="2"/></keyframe></mujoco>"""
GRIPPER = """<mujoco model="gripper"><option integrator="RK4" timestep="0.001"/><worldbody>
<body name="palm"><geom size=".02"/><body name="finger" pos="0 0 .1">
<joint name="f" type="slide" axis="1 0 0" damping="1"/><geom name="pad" size=".02"/></body></body>
</worldbody><actuator><position name="m" joint="f" kp="100" kv="5"/></actuator>
<sensor><jointpos name="s" joint="f"/>
<framepos name="where" objtype="body" objname="palm"/></sensor>
<keyframe><key name="open" qpos=".05" ctrl=".05"/></keyframe></mujoco>"""
CUBE = """<mujoco model="cube"><worldbody><body name="cube" pos="0 0 .5"><freejoint/>
<geom name="cube" type="box" size=".1 .1 .1" mass="1"/></body><body name="hand" mocap="true"/>
</worldbody><keyframe><key name="up" qpos="0 0 1 1 0 0 0" qvel="0 1 0 0 0 2" mpos="0 1 0"
mquat="0 1 0 0"/></keyframe></mujoco>"""
TURNED = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(0.0, 0.0, np.pi / 2), np.array([3.0, 1.0, 0.2]))
FAR = pinocchio.SE3(np.eye(3), np.array([40.0, -3.0, 0.0]))


def after_steps(model: stiction.Mjcf, ctrl: np.ndarray, steps: int) -> stiction.MjcfSimulation:
    run = model.simulation(1e-3)
    for _ in range(steps):
        run.step(ctrl)
    return run


@pytest.mark.parametrize("name", ["actuators", "sensors", "joints", "mocap", "gripper"])
def test_parts_that_do_not_meet_move_as_alone(name: str) -> None:
    """The same file twice, far apart, under other controls: positions, velocities, activations and
    every sensor are those of the part alone at its place."""
    parts = [MjcfPart(file_of(name), "a/"), MjcfPart(file_of(name), "b/", FAR)]
    alone = [stiction.load_mjcf([part]) for part in parts]
    rng, count = np.random.default_rng(4), alone[0]._actuation.count
    ctrl = rng.uniform(-0.5, 0.5, (2, count))
    runs = [after_steps(model, u, 60) for model, u in zip(alone, ctrl, strict=True)]
    whole = after_steps(stiction.load_mjcf(parts), ctrl.ravel(), 60)
    for field in ("q", "v"):
        wanted = np.concatenate([getattr(run.state, field) for run in runs])
        np.testing.assert_allclose(getattr(whole.state, field), wanted, rtol=0, atol=1e-9)
    activation = np.concatenate([run.activation for run in runs])
    np.testing.assert_allclose(whole.activation, activation, atol=1e-12)
    wanted_sensors = runs[0].sensors() | runs[1].sensors()
    found = whole.sensors()
    assert list(found) == list(wanted_sensors)
    for sensor, value in wanted_sensors.items():
        scale = 1.0 + abs(value).max(initial=0.0)
        np.testing.assert_allclose(found[sensor], value, atol=1e-6 * scale, err_msg=sensor)


def cell() -> stiction.Mjcf:
    return stiction.load_mjcf(
        [
            MjcfPart(ARM, "l/"),
            MjcfPart(ARM, "r/", TURNED),
            MjcfPart(GRIPPER, "g/", pinocchio.SE3(np.eye(3), np.array([0, 0, 0.1])), "r/flange"),
            MjcfPart(CUBE, "c/", TURNED),
        ]
    )


def test_controls_sensors_and_keyframes_by_the_names_of_parts() -> None:
    model = cell()
    sim = model.simulation()
    assert [actuator.name for actuator in model.actuators] == ["l/p", "r/p", "g/m"]
    assert sim.sensor_names == ["l/s", "l/tip", "r/s", "r/tip", "g/s", "g/where"]
    sim.reset(["l/home", "g/open"])
    assert [float(sim.sensor(name)[0]) for name in ("l/s", "r/s", "g/s")] == [0.5, 0.0, 0.05]
    with pytest.raises(ValueError, match="no keyframe 'home'; there are: l/home, r/home, g/open"):
        sim.reset(["l/home", "home"])
    for _ in range(3000):
        sim.step({"r/p": -0.6})
    angles = [float(sim.sensor(name)[0]) for name in ("l/s", "r/s", "g/s")]
    np.testing.assert_allclose(angles, [0.4, -0.6, 0.05], atol=0.04)  # of what weighs on servos
    named = model.control({"r/p": 0.2, "g/m": 0.1}).position_target
    np.testing.assert_array_equal(named, model.control([0.0, 0.2, 0.1]).position_target)
    for call in (lambda: sim.step({"p": 1.0}), lambda: model.control({"p": 1.0})):
        with pytest.raises(ValueError, match="no actuator 'p' that acts; there are: l/p, r/p, g/m"):
            call()
    with pytest.raises(ValueError, match=r"ctrl\[1\] = nan of actuator 'r/p': must be finite"):
        sim.step({"r/p": np.nan})
    sim.reset("r/home")
    assert sim.state.time == 2.0
    np.testing.assert_array_equal(sim.state.q, model.keyframes["r/home"].q)
    sim.reset()
    assert sim.state.time == 0.0 and float(sim.sensor("r/s")[0]) == 0.0


def test_a_part_hangs_where_it_is_put() -> None:
    """At a site and at a body, in any pose of what carries it; the scene's frames say the same."""
    offset = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(0.3, -0.1, 0.2), np.array([0.1, 0.2, 0.3]))
    for at, carrier in (("r/flange", "r/flange"), ("r/link", "r/link")):
        model = stiction.load_mjcf(
            [MjcfPart(ARM, "r/", TURNED), MjcfPart(GRIPPER, "g/", offset, at=at)]
        )
        scene, sim = model.scene, model.simulation()
        assert scene.body_names == ["r/link", "g/finger"]
        sim.state.q = np.array([0.7, 0.02])
        motion = stiction.SceneMotion(scene, sim.state)
        palm = motion.pose(carrier) * offset
        np.testing.assert_allclose(motion.pose("g/palm").homogeneous, palm.homogeneous, atol=1e-12)
        np.testing.assert_allclose(sim.sensor("g/where"), palm.translation, atol=1e-12)
        hinge = TURNED * pinocchio.SE3(np.eye(3), np.array([0.0, 0.0, 1.0]))
        np.testing.assert_allclose(motion.pose("r/link").translation, hinge.translation, atol=1e-12)


def test_keyframes_of_what_floats_move_with_their_part() -> None:
    """As those of a file that add_to places; in other keyframes it is where the scene has it."""
    model = cell()
    file = stiction.load_mjcf(CUBE)
    scene = stiction.Scene(name="cell")
    placed = file.add_to(scene, TURNED)
    key, wanted = model.keyframes["c/up"], placed.keyframes["up"]
    np.testing.assert_allclose(key.q[-7:], wanted.q, atol=1e-12)
    np.testing.assert_allclose(key.v[-6:], wanted.v, atol=1e-12)
    for found, expected in zip(key.mocap["c/hand"], wanted.mocap["hand"], strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(model.keyframes["l/home"].q[3:6], TURNED.act(np.array([0, 0, 0.5])))
    sim = model.simulation()
    sim.reset(["r/home", "c/up"])
    np.testing.assert_allclose(sim.state.q[-7:], wanted.q, atol=1e-12)
    np.testing.assert_allclose(sim.mocap_pose("c/hand")[0], wanted.mocap["hand"][0], atol=1e-12)


def test_the_whole_is_mujocos_attach_of_the_same_files() -> None:
    """Names, masses, frames, forces of actuators, against a spec that is put together by hand."""
    spec = mujoco.MjSpec()
    spec.compiler.conflict = mujoco.mjtConflict.mjCONFLICT_MERGE
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for prefix, X in (("l/", pinocchio.SE3.Identity()), ("r/", TURNED)):
            x, y, z, w = pinocchio.SE3ToXYZQUAT(X)[3:]
            frame = spec.worldbody.add_frame(pos=X.translation, quat=[w, x, y, z])
            spec.attach(mujoco.MjSpec.from_string(ARM), prefix=prefix, frame=frame)
        theirs = spec.compile()
    ours = stiction.load_mjcf([MjcfPart(ARM, "l/"), MjcfPart(ARM, "r/", TURNED)])._source.model
    assert [ours.body(i).name for i in range(ours.nbody)] == ["world", "l/link", "r/link"]
    for field in (
        *("body_mass", "body_inertia", "body_pos", "body_quat", "jnt_axis", "jnt_range"),
        *("site_pos", "site_quat", "actuator_gainprm", "actuator_biasprm", "key_qpos", "key_ctrl"),
    ):
        np.testing.assert_allclose(getattr(ours, field), getattr(theirs, field), atol=1e-12)


UNNAMED = """<mujoco><worldbody><body><freejoint/><geom size=".1"/><body pos="0 0 1">
  <joint name="j" type="hinge"/><geom size=".1"/><geom size=".2" pos="0 0 1"/><body pos="0 0 2">
  <joint axis="1 0 0"/><geom size=".1"/></body></body></body></worldbody><actuator>
  <motor joint="j"/>
  <position joint="j" kp="2"/></actuator><sensor><jointpos joint="j"/></sensor></mujoco>"""


def test_what_has_no_name_is_called_as_in_its_file_behind_the_prefix() -> None:
    alone = stiction.load_mjcf(UNNAMED)
    whole = stiction.load_mjcf([MjcfPart(UNNAMED, "l/", TURNED), MjcfPart(UNNAMED, "r/")])

    def behind(names: list[str]) -> list[str]:
        return [prefix + name for prefix in ("l/", "r/") for name in names]

    assert alone.scene.body_names == ["body0", "body1", "body2"]
    assert whole.scene.body_names == behind(alone.scene.body_names)
    joints = [joint.name for joint in alone.scene.joints]
    assert [joint.name for joint in whole.scene.joints] == behind(joints)
    geoms = [geometry.name for geometry in alone.scene.geometries]
    assert [geometry.name for geometry in whole.scene.geometries] == behind(geoms)
    assert [a.name for a in whole.actuators] == behind([a.name for a in alone.actuators])
    assert whole.simulation().sensor_names == behind(alone.simulation().sensor_names)
    assert whole.control({"r/actuator0": 2.0}).torque[-2] == 2.0


def test_parts_may_share_a_prefix_and_have_names_like_those_of_nameless_things() -> None:
    hand = UNNAMED.replace('"j"', '"f"')
    shared = stiction.load_mjcf([MjcfPart(UNNAMED, "r/"), MjcfPart(hand, "r/", TURNED)])
    assert [a.name for a in shared.actuators] == [f"r/actuator{k}" for k in range(4)]
    assert len(set(shared.scene.body_names)) == 6
    like = CUBE.replace('name="cube"', 'name="body0"')
    alone = stiction.load_mjcf([MjcfPart(UNNAMED, "l/"), MjcfPart(like, "l/")])
    assert len(set(alone.scene.body_names)) == 4


def test_links_between_joints_of_one_body_have_the_prefix_once() -> None:
    two = """<mujoco><worldbody><body name="b"><joint name="x" type="slide"/><joint name="y"
      type="slide" axis="0 1 0"/><geom size=".1"/></body></worldbody></mujoco>"""
    names = stiction.load_mjcf([MjcfPart(two, "l/")]).scene.body_names
    assert names == ["l/" + name for name in stiction.load_mjcf(two).scene.body_names]


def test_a_whole_is_a_part_of_a_scene_like_any_file() -> None:
    scene = stiction.load("solo12")
    added = cell().add_to(scene, prefix="cell/")
    assert scene.body_names[-1] == "cell/c/cube" and "cell/l/link" in scene.body_names
    control = added.control({"g/m": 0.02})
    assert control.position_target[scene.dof("cell/g/f")] == pytest.approx(0.02)
    assert scene.frame("cell/r/flange")[0] == scene.body("cell/r/link")


def test_sensors_feel_what_another_part_does() -> None:
    """A cube of one file rests on the table of another, whose sensor reads its weight; each knows
    the other by its name behind the prefix."""
    table = """<mujoco model="table"><worldbody><body name="top" pos="0 0 .3"><joint name="sink"
      type="slide" axis="0 0 1"/><geom name="top" type="box" size=".3 .3 .05" mass="2"/>
      <site name="pad" type="box" size=".3 .3 .1"/></body></worldbody>
      <actuator><position name="lift" joint="sink" kp="5000" kv="300"/></actuator>
      <sensor><touch name="load" site="pad"/></sensor></mujoco>"""
    sim = stiction.load_mjcf([MjcfPart(table, "t/"), MjcfPart(CUBE, "c/")]).simulation()
    for _ in range(1500):
        sim.step({"t/lift": 0.1})
    assert sim.sensor("t/load")[0] == pytest.approx(9.81, rel=1e-3)
    assert sim.state.q[0] == pytest.approx(0.1 - 3.0 * 9.81 / 5000, abs=1e-4)
    assert {frozenset(c.geoms) for c in sim.contacts()} == {frozenset(("t/top", "c/cube"))}
    saved = sim.save()
    sim.step({"t/lift": 0.2})
    after = sim.state.save()
    sim.restore(saved)
    sim.step({"t/lift": 0.2})
    assert sim.state.save() == after


def option(text: str, given: str) -> str:
    return text.replace("<worldbody>", f"<option {given}/><worldbody>")


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.xml").write_text(text, encoding="utf-8")


FLAG = CUBE.replace("<worldbody>", '<option><flag gravity="disable"/></option><worldbody>')


@pytest.mark.parametrize(
    ("one", "two", "part", "text"),
    [
        (
            option(CUBE, 'gravity="0 0 -1"'),
            option(CUBE, 'gravity="0 0 -3"'),
            {},
            'two.xml (prefix "b/"): option gravity = 0 0 -3: the files before it have 0 0 -1',
        ),
        (
            option(CUBE, 'wind="1 0 0"'),
            option(CUBE, 'wind="0 1 0"'),
            {},
            'two.xml (prefix "b/"): option wind = 0 1 0: the files before it have 1 0 0',
        ),
        (
            CUBE,
            FLAG,
            {},
            'two.xml (prefix "b/"): flag gravity is disabled, in {}/one.xml it is not',
        ),
        (
            FLAG,
            CUBE,
            {},
            'two.xml (prefix "b/"): flag gravity is not disabled, in {}/one.xml it is',
        ),
        (
            ARM,
            GRIPPER,
            {"at": "flinge"},
            "two.xml (prefix \"b/\"): at = 'flinge': no site, body or frame before it; there are: "
            "flange, link",
        ),
        (
            ARM,
            CUBE.partition('<body name="hand"')[0] + "</worldbody></mujoco>",
            {"at": "flange"},
            'two.xml (prefix "b/"): free joint can only be used on top',
        ),
        (
            ARM,
            CUBE,
            {"at": "flange"},
            "two.xml (prefix \"b/\"): mocap body 'b/hand' is not a fixed",
        ),
        (
            ARM,
            ARM,
            {"prefix": ""},
            "two.xml: repeated name 'p' in actuator; give each part a prefix",
        ),
        (
            CUBE,
            CUBE.replace("<freejoint/>", '<freejoint/><joint type="hunge"/>'),
            {},
            'two.xml (prefix "b/"): XML Error',
        ),
        (
            CUBE.replace('mass="1"', 'mass="0"'),
            CUBE,
            {},
            "one.xml: mass and inertia of moving bodies must be larger than mjMINVAL",
        ),
        (CUBE, '<robot name="r"/>', {}, "two.xml: is a URDF; stiction.load_urdf reads it"),
    ],
)
def test_what_does_not_go_together_is_said_of_a_file(
    tmp_path: Path, one: str, two: str, part: dict[str, Any], text: str
) -> None:
    write(tmp_path, one=one, two=two)
    given = {"prefix": "b/"} | part
    expected = re.escape(f"{tmp_path}/" + text.format(tmp_path))
    with pytest.raises(stiction.StictionError, match="^" + expected):
        stiction.load_mjcf([tmp_path / "one.xml", MjcfPart(tmp_path / "two.xml", **given)])


def test_options_that_files_may_differ_in() -> None:
    """How MuJoCo integrates and solves is not read; the smallest timestep holds, and is said; what
    one file alone gives holds for all."""
    model = stiction.load_mjcf([MjcfPart(ARM, "a/"), MjcfPart(GRIPPER, "g/", FAR)])
    assert model.timestep == 0.001
    said = [m.text for m in model.messages if "timestep" in m.text]
    assert len(said) == 1 and "files have 0.004 and 0.001, taking the minimum" in said[0]
    light = stiction.load_mjcf([ARM, option(CUBE, 'gravity="0 0 -3"')])
    np.testing.assert_array_equal(light.scene.parameters.gravity, [0.0, 0.0, -3.0])
    texts = [message.text for message in light.messages]
    assert "option gravity = 0 0 -3 of MJCF string holds for all parts" in texts
    stiction.load_mjcf([ARM, MjcfPart(option(CUBE, 'cone="pyramidal"'), "c/")])
    with pytest.raises(stiction.StictionError, match="option cone = 0: the files before it have 1"):
        stiction.load_mjcf(
            [ARM, MjcfPart(option(CUBE, 'cone="pyramidal"'), "c/")], softness="mujoco"
        )


def test_messages_have_file_and_line_of_their_part(tmp_path: Path) -> None:
    sdf = CUBE.replace(
        '<geom name="cube" type="box"', '\n<geom name="cube" adhesion="1" type="box"'
    )
    write(tmp_path, arm=ARM, sticky=sdf)
    model = stiction.load_mjcf(
        [MjcfPart(tmp_path / "arm.xml", "a/"), MjcfPart(tmp_path / "sticky.xml", "s/")]
    )
    found = [m for m in model.messages if "adhesion" in m.text]
    assert [(m.text, Path(m.file).name, m.line) for m in found] == [
        ("geom 's/cube': adhesion is not honoured", "sticky.xml", 3)
    ]
    assert model.scene.name == "arm+sticky"
    with pytest.raises(stiction.StictionError, match=r"sticky\.xml:3: geom 's/cube': adhesion"):
        stiction.load_mjcf(
            [MjcfPart(tmp_path / "arm.xml", "a/"), MjcfPart(tmp_path / "sticky.xml", "s/")],
            strict=True,
        )


def test_a_part_is_placed_by_a_placement() -> None:
    for X, text in (
        (2.0 * np.eye(4), "not orthonormal"),
        (np.diag([2.0, 2.0, 2.0, 1.0]), r"not orthonormal \(defect 3\.0\): orthonormalise it"),
        (np.diag([1.0, 1.0, -1.0, 1.0]), "determinant -1, a reflection"),
        (np.full((4, 4), np.nan), "not finite"),
        (np.eye(3), r"has shape \(3, 3\): must be \(4, 4\)"),
        ([0.0, 1.0, 0.0], r"has shape \(3,\)"),
        ("left", r"must be an array of numbers of shape \(4, 4\)"),
    ):
        with pytest.raises(ValueError, match=rf"MjcfPart\.X.*{text}"):
            MjcfPart(ARM, "a/", X)


def test_what_a_list_holds_is_checked() -> None:
    with pytest.raises(ValueError, match=r"load_mjcf\(\[\]\): needs at least one file"):
        stiction.load_mjcf([])
    for call, text in (
        (lambda: stiction.load_mjcf([3]), "int is neither a path nor the text of a file"),
        (lambda: stiction.load_mjcf(b"<mujoco/>"), "bytes is neither a path nor the text of a"),
        (lambda: MjcfPart(ARM, 3), 'MjcfPart.prefix = 3: must be a str, such as "left/"'),
        (lambda: MjcfPart(ARM, "a/", at=3), "MjcfPart.at = 3: must be a str"),
    ):
        with pytest.raises(TypeError, match=text):
            call()  # type: ignore[no-untyped-call]
