"""An MJCF file in motion: contacts by name, pushes, saving, replays; beside MuJoCo."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import mujoco
import numpy as np
import pinocchio
import pytest
import stiction
from mjcf_beside_mujoco import DATA, file_of
from stiction.loaders import mjcf_simulation
from stiction.mujoco_layout import from_mujoco_qpos, from_mujoco_qvel, to_mujoco_qpos
from stiction.record import scene_bodies
from stiction.replay import write_replay

pytestmark = pytest.mark.filterwarnings("ignore::stiction.LoadWarning")

TABLE = """<mujoco><option timestep=".002"/><worldbody>
  <body name="table" pos="0 0 .4"><geom name="top" type="box" size="1 1 .1"/></body>
  <body name="box" pos="0 0 .6"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="2"/>
    <body name="knob" pos="0 0 .15"><geom size=".05" mass=".5"/></body></body>
  <body name="ball" pos=".6 0 .55"><freejoint/><geom name="ball" size=".05" mass="1"/></body>
  </worldbody></mujoco>"""


def test_contacts_are_mujocos() -> None:
    """At rest: who touches whom in which bodies, where, and the sums of their forces."""
    run, m = stiction.load_mjcf(TABLE).simulation(), mujoco.MjModel.from_xml_string(TABLE)
    d = mujoco.MjData(m)
    assert run.contacts() == []
    for _ in range(500):
        run.step()
        mujoco.mj_step(m, d)
    theirs: dict[tuple[str, str], np.ndarray] = {}
    for i, contact in enumerate(d.contact):
        f = np.zeros(6)
        mujoco.mj_contactForce(m, d, i, f)
        names = tuple(m.geom(int(g)).name for g in contact.geom)
        force = np.array(contact.frame).reshape(3, 3).T @ f[:3]  # on the second
        if names[1] == "top":  # MuJoCo's first is the geom of the simpler type
            names, force = names[::-1], -force
        theirs[names] = theirs.get(names, 0.0) + force  # type: ignore[index, call-overload]
    ours: dict[tuple[str, str], np.ndarray] = {}
    for c in run.contacts():
        ours[c.geoms] = ours.get(c.geoms, 0.0) + c.force
        assert c.bodies == ("table", c.geoms[1])
        assert c.position[2] == pytest.approx(0.5, abs=1e-6)
        np.testing.assert_allclose(c.normal, [0, 0, 1], atol=1e-9)
        assert abs(c.distance) < 1e-6 and not c.sliding
        assert c.friction == pytest.approx(1.0) and not c.torque.any()
    assert ours.keys() == theirs.keys() == {("top", "box"), ("top", "ball")}
    for names, force in ours.items():
        np.testing.assert_allclose(force, theirs[names], rtol=1e-3, atol=1e-3)
    run.reset()
    assert run.contacts() == []


def test_shapes_added_to_the_scene_are_told_apart() -> None:
    text = """<mujoco><worldbody><body name="a" pos="0 0 .1"><freejoint/><geom name="a" size=".1"/>
      <site name="s" size=".2"/></body></worldbody>
      <sensor><touch name="t" site="s"/></sensor></mujoco>"""
    model = stiction.load_mjcf(text)
    model.scene.add_ground()
    run = model.simulation()
    run.step()
    (contact,) = run.contacts()
    assert set(zip(contact.geoms, contact.bodies, strict=True)) == {
        ("a", "a"),
        ("ground", "world"),
    }
    weight = 9.81 * 1000 * 4 / 3 * np.pi * 1e-3
    assert run.sensor("t")[0] == pytest.approx(weight, rel=1e-6)


def test_pushes_are_xfrc_applied() -> None:
    """The acceleration of a step is MuJoCo's to what the step is long, linearly in it."""
    file = file_of("ant")
    model, m = stiction.load_mjcf(file), mujoco.MjModel.from_xml_path(str(file))
    m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
    m.opt.density = m.opt.viscosity = 0.0
    m.dof_damping[:] = 0.0
    d, rng = mujoco.MjData(m), np.random.default_rng(1)
    scene = model.scene
    names = [m.body(b).name for b in range(1, m.nbody)]
    pushed = [name for name in names if name] or names
    for _ in range(10):
        d.qpos[:] = m.qpos0 + 0.2 * rng.normal(size=m.nq)
        d.qpos[2] = 5.0
        mujoco.mj_normalizeQuat(m, d.qpos)
        d.qvel[:] = 0.0
        d.xfrc_applied[:] = 0.0
        run = model.simulation(dt=1e-6)
        run.sim.parameters.damping[:] = 0.0
        run._damping[:] = 0.0
        p = run.sim.parameters
        p.lower[:], p.upper[:] = -np.inf, np.inf
        for name in pushed:
            wrench = rng.normal(size=6)
            d.xfrc_applied[m.body(name).id] = wrench
            run.push(name, wrench[:3], torque=wrench[3:])
            np.testing.assert_array_equal(np.concatenate(run.pushed(name)), wrench)
        mujoco.mj_forward(m, d)
        q = from_mujoco_qpos(scene, d.qpos)
        run.state = stiction.make_state(scene, q)
        if run._pulls:  # the ant's medium, which is not asked about here
            with mock.patch.object(model._passive.fluid, "wrenches", lambda motion: {}):
                run.step()
        else:
            run.step()
        found = np.asarray(run.state.v) / 1e-6
        asked = from_mujoco_qvel(scene, q, d.qacc)
        np.testing.assert_allclose(found, asked, atol=1e-3 * np.abs(asked).max())
        assert run.external_wrenches


def test_force_sensors_do_not_count_a_push() -> None:
    """What the parent carries, as MuJoCo's cfrc_int: weight less the push."""
    text = """<mujoco><worldbody><body name="a"><joint type="slide" axis="1 0 0"/>
      <geom size=".1" mass="1"/><body name="b" pos="0 0 1"><site name="s"/>
      <geom size=".1" mass="2"/></body></body></worldbody>
      <sensor><force name="f" site="s"/><torque name="t" site="s"/></sensor></mujoco>"""
    m = mujoco.MjModel.from_xml_string(text)
    d, run = mujoco.MjData(m), stiction.load_mjcf(text).simulation()
    run.push("b", [0.0, 3.0, 5.0], [0.1, 0.2, 0.3])
    d.xfrc_applied[m.body("b").id] = [0.0, 3.0, 5.0, 0.1, 0.2, 0.3]
    run.step()
    mujoco.mj_forward(m, d)
    np.testing.assert_allclose(
        np.concatenate(list(run.sensors().values())), d.sensordata, atol=1e-9
    )
    run.reset()
    np.testing.assert_array_equal(run.pushed("b")[0], np.zeros(3))


def moving() -> stiction.MjcfSimulation:
    """Mocap bodies, an activation, soft welds, contacts and pushes in one file."""
    text = (DATA / "mocap.xml").read_text()
    text = text.replace(
        "<sensor>",
        '<actuator><general joint="elbow" dyntype="filter" dynprm=".1" gainprm="3"/></actuator>'
        "<sensor>",
    )
    text = text.replace('mquat="0 0 0 1"', 'mquat="0 0 0 1" ctrl="0.4" act="0.2"')
    return stiction.load_mjcf(text).simulation()


def go(run: stiction.MjcfSimulation, first: int, last: int) -> list[bytes]:
    """Steps by a plan of the step's number."""
    found = []
    for k in range(first, last):
        run.place("goal", [0.5 + 1e-3 * k, 0.0, 0.5], [1.0, 0.01 * k, 0.0, 0.3])
        if k % 50 == 0:
            run.push("hand", [0.1 * k, 0.0, -1.0])
        run.step(None if k % 2 else [0.3])
        found.append(run.state.save() + run.activation.tobytes())
    return found


def test_a_restored_run_has_the_same_bits() -> None:
    run = moving()
    run.reset("away")
    go(run, 0, 120)
    saved = run.save()
    whole = go(run, 120, 240)
    assert run.activation[0] != 0.0
    other = moving()
    go(other, 0, 7)
    other.restore(saved)
    assert other.contacts() == []
    assert other.save() == saved
    np.testing.assert_array_equal(other.mocap_pose("goal")[0], [0.619, 0.0, 0.5])
    assert go(other, 120, 240) == whole
    run.restore(saved)  # in the same simulation too
    assert go(run, 120, 240) == whole


def test_what_cannot_be_restored() -> None:
    run, other = moving(), stiction.load_mjcf(TABLE).simulation()
    saved, before = run.save(), other.save()
    for given, text in (
        (saved, "belongs to another file"),
        (b"STICSTATE", "is not from MjcfSimulation.save"),
        (before[:8] + b"\x09" + before[9:], "has version 9, this package reads 1"),
        (before[:40], "truncated"),
        (before[:-9], "state"),
    ):
        with pytest.raises(ValueError, match=text):
            other.restore(given)
    with pytest.raises(TypeError, match="must be bytes from MjcfSimulation"):
        other.restore("a")  # type: ignore[arg-type]
    assert other.save() == before


def test_what_cannot_be_pushed() -> None:
    run = stiction.load_mjcf(TABLE).simulation()
    with pytest.raises(ValueError, match="no body 'leg'; there are: table, box, knob, ball"):
        run.push("leg", [1, 0, 0])
    with pytest.raises(ValueError, match="'table' stands still: push one that a joint moves"):
        run.push("table", [1, 0, 0])
    with pytest.raises(ValueError, match=r"force has shape \(2,\)"):
        run.push("box", [1, 0])
    with pytest.raises(ValueError, match=r"torque\[0\] = nan"):
        run.push("box", torque=[np.nan, 0, 0])
    with pytest.raises(ValueError, match="no body 'leg'"):
        run.pushed("leg")


def test_rows_are_looked_at_once_a_step() -> None:
    """With sensors of joint limits and of closures."""
    text = """<mujoco><worldbody><body name="a"><joint name="j" axis="0 1 0" range="-1 0"
      limited="true"/><geom size=".1" mass="1" pos=".3 0 0"/><site name="s"/></body>
      <body name="b" pos="0 1 0"><joint axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body>
      </worldbody><equality><connect body1="a" body2="b" anchor=".3 .5 0"/></equality>
      <sensor><jointlimitfrc joint="j"/><force site="s"/></sensor></mujoco>"""
    run = stiction.load_mjcf(text).simulation()
    real = mjcf_simulation.references
    with mock.patch.object(mjcf_simulation, "references", side_effect=real) as looked:
        run.step()
    assert looked.call_count == 1
    assert run.sensors()["sensor0"][0] >= 0.0


# --- replays --------------------------------------------------------------------------------------


def test_mocap_bodies_move_in_replays(tmp_path: Path) -> None:
    """What stands on them is drawn where MuJoCo has it, frame by frame."""
    run, m = moving(), mujoco.MjModel.from_xml_path(str(DATA / "mocap.xml"))
    d = mujoco.MjData(m)
    recorder = run.recorder("tray", fps=500.0)
    recorder.capture(run.state)
    trays = []
    for k in range(30):
        run.place("goal", [0.5, 0.01 * k, 0.5], [1.0, 0.0, 0.0, 0.02 * k])
        run.step()
        recorder.after_step(run.state)
        d.qpos[:] = to_mujoco_qpos(run.sim.scene, run.state.q)
        d.mocap_pos[0], d.mocap_quat[0] = run.mocap_pose("goal")
        mujoco.mj_kinematics(m, d)
        trays.append(np.concatenate([d.geom("tray").xpos, d.geom("tray").xmat]))
    replay = recorder.replay()
    names = [body.name for body in replay.bodies]
    at = names.index("goal")
    kinds = {(g.shape, g.role) for g in replay.bodies[at].geometries}
    assert kinds == {("box", "visual"), ("box", "collision")}
    assert not replay.bodies[0].geometries  # nothing stands in the world
    poses = np.asarray(replay.poses)
    assert poses.shape == (31, len(names), 7)
    for frame, tray in zip(poses[1:, at], trays, strict=True):
        for geometry in replay.bodies[at].geometries:
            X = pinocchio.XYZQUATToSE3(frame) * pinocchio.XYZQUATToSE3(geometry.placement)
            np.testing.assert_allclose(X.translation, tray[:3], atol=1e-12)
            np.testing.assert_allclose(X.rotation.ravel(), tray[3:], atol=1e-12)
    write_replay(tmp_path / "tray.html", replay)


def test_a_saved_scene_has_visuals(tmp_path: Path) -> None:
    """Once they are in the scene, replays of the file that is read back draw the same."""
    model = stiction.load_mjcf(DATA / "contacts.xml")
    asked = model.visuals()
    model.add_visuals()
    model.scene.save(tmp_path / "contacts.stiction")
    scene = stiction.load(tmp_path / "contacts.stiction")
    drawn = scene_bodies(scene)
    for body, shapes in asked.items():
        found = [g for g in drawn[body + 1].geometries if g.role == "visual"]
        assert [g.shape for g in found] == [g.shape for g in shapes]
        for mine, theirs in zip(found, shapes, strict=True):
            np.testing.assert_allclose(mine.color, theirs.color)
            np.testing.assert_allclose(mine.placement, theirs.placement, atol=1e-12)
            np.testing.assert_allclose(mine.size, theirs.size)
            if mine.shape == "mesh":
                assert len(mine.triangles) == len(theirs.triangles)
    roles = [g.role for body in drawn for g in body.geometries]
    assert roles.count("collision") == len(scene.geometries)
    X = np.eye(4)
    X[0, 3] = 9.0
    scene.add_geometry("post", -1, stiction.Sphere(0.1), X)  # which no visual stands for
    assert scene_bodies(scene)[0].geometries[-1].role == "visual"
    with pytest.raises(ValueError, match="call it once"):
        model.add_visuals()


def test_velocities_of_keyframes_are_saved(tmp_path: Path) -> None:
    model = stiction.load_mjcf(DATA / "actuators.xml")
    model.scene.save(tmp_path / "a.stiction")
    scene = stiction.load(tmp_path / "a.stiction")
    v = scene.configuration_velocity("home")
    np.testing.assert_array_equal(v, model.keyframes["home"].v)
    assert v.any() and not scene.configuration_velocity("default").any()
    with pytest.raises(ValueError, match='no configuration "nowhere"; there are: default, home'):
        scene.configuration_velocity("nowhere")
