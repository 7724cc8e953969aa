"""Planar joints of URDF files: two slides in the plane and a turn about its normal."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import stiction

INERTIAL = """<inertial><origin xyz=".1 -.2 .3" rpy=".3 .2 .1"/><mass value="2"/>
  <inertia ixx=".1" iyy=".2" izz=".25" ixy=".01" ixz="0" iyz=".02"/></inertial>"""
NORMALS = [(0, 0, 1), (1, 0, 0), (0, -2, 0), (0, 0, -1), (0.6, 0, 0.8), (0.3, -0.5, -0.7)]


def planar(axis: str, extra: str = "") -> str:
    """A sliding plate with an arm on it, between two fixed turns."""
    return f"""<robot name="r"><link name="base">{INERTIAL}</link>
<joint name="j" type="planar"><parent link="base"/><child link="plate"/>
<origin xyz=".3 .1 -.2" rpy=".4 -.5 .6"/>{axis}{extra}</joint>
<link name="plate">{INERTIAL}<collision><origin xyz=".1 0 .2"/>
<geometry><sphere radius=".1"/></geometry></collision></link>
<joint name="k" type="continuous"><parent link="plate"/><child link="arm"/>
<origin xyz=".5 .2 .1" rpy=".1 .2 .3"/><axis xyz="0 1 0"/></joint>
<link name="arm">{INERTIAL}</link></robot>"""


def loaded(tmp_path: Path, text: str, **options: bool) -> stiction.Scene:
    path = tmp_path / "r.urdf"
    path.write_text(text)
    return stiction.load(path, free_flyer=False, ground=False, **options)


@pytest.mark.parametrize("normal", NORMALS)
def test_places_and_motions(tmp_path: Path, normal: tuple[float, float, float]) -> None:
    """The plate's points stay in the plane; it turns about the normal; at zero it lies as the
    file's origin says; a step moves it as Pinocchio's dynamics of the same chain."""
    scene = loaded(tmp_path, planar(f'<axis xyz="{normal[0]} {normal[1]} {normal[2]}"/>'))
    assert (scene.nq, scene.nv) == (6, 4) and not scene.messages
    assert scene.joint_names == ["j:0", "j:1", "j", "k"]
    assert [joint.type for joint in scene.joints] == ["prismatic"] * 2 + ["continuous"] * 2
    origin = pin.SE3(pin.rpy.rpyToMatrix(0.4, -0.5, 0.6), np.array([0.3, 0.1, -0.2]))
    rng, n = np.random.default_rng(0), origin.rotation @ normal / np.linalg.norm(normal)
    still = stiction.SceneMotion(scene, scene.default_q)
    np.testing.assert_allclose(still.pose("plate"), origin, atol=1e-12)
    J = still.jacobian("plate")
    np.testing.assert_allclose(J[:3, :2].T @ J[:3, :2], np.eye(2), atol=1e-12)
    np.testing.assert_allclose(n @ J[:3, :3], 0, atol=1e-12)
    np.testing.assert_allclose(J[3:, :3], np.outer(n, [0, 0, 1]), atol=1e-12)
    np.testing.assert_allclose(np.cross(J[:3, 0], J[:3, 1]), n, atol=1e-12)  # right-handed
    q = stiction.integrate(scene, scene.default_q, rng.normal(size=4))
    state = stiction.make_state(scene, q, rng.normal(size=4))
    moved = stiction.SceneMotion(scene, state)
    model = stiction.pinocchio_model(scene, "r")
    data = model.createData()
    a = pin.aba(model, data, state.q, state.v, np.zeros(4))
    sim = stiction.Simulator(scene, dt=1e-7)
    after = state.copy()
    sim.step(after)
    np.testing.assert_allclose((after.v - state.v) / 1e-7, a, atol=1e-5 * np.abs(a).max())
    assert n @ (moved.pose("plate").translation - origin.translation) == pytest.approx(0, abs=1e-12)
    turned = moved.pose("plate").rotation @ origin.rotation.T
    np.testing.assert_allclose(turned @ n, n, atol=1e-12)
    np.testing.assert_allclose(scene.geometries[0].body, scene.body("plate"))


def test_about_z_it_is_pinocchios(tmp_path: Path) -> None:
    """Mass matrix, bias and places of Pinocchio's own parser, whose planar joint has z as normal
    and velocities in axes of the body."""
    text = planar('<axis xyz="0 0 1"/>')
    scene, model = loaded(tmp_path, text), pin.buildModelFromXML(text)
    data, rng = model.createData(), np.random.default_rng(1)
    for _ in range(5):
        q = pin.integrate(model, pin.neutral(model), rng.normal(size=4))
        T = np.eye(4)  # Pinocchio's v = T v
        T[:2, :2] = [[q[2], q[3]], [-q[3], q[2]]]
        M = np.triu(pin.crba(model, data, q))
        M += np.triu(M, 1).T
        state = stiction.make_state(scene, q)
        ours = stiction.SceneMotion(scene, state)
        np.testing.assert_allclose(ours.mass_matrix(), T.T @ M @ T, atol=1e-12)
        gravity = T.T @ pin.computeGeneralizedGravity(model, data, q)
        np.testing.assert_allclose(ours.bias(), gravity, atol=1e-11)
        pin.framesForwardKinematics(model, data, q)
        for name in ("plate", "arm"):
            place = data.oMf[model.getFrameId(name)]
            np.testing.assert_allclose(ours.pose(name), place, atol=1e-12)


def test_what_is_not_read_and_what_is_refused(tmp_path: Path) -> None:
    extra = '<limit effort="1" velocity="1"/><dynamics damping="1"/>'
    with pytest.warns(stiction.LoadWarning, match="2 elements not used"):
        limited = loaded(tmp_path, planar('<axis xyz="0 0 1"/>', extra))
    said = [m.text for m in limited.messages]
    assert sorted(said) == [f"<{x}> of planar joint 'j' is not used" for x in ("dynamics", "limit")]
    p = limited.parameters
    assert not p.damping.any() and np.isinf(p.effort_limit).all() and np.isinf(p.upper).all()
    with pytest.warns(stiction.LoadWarning, match="planar joint 'j' has no <axis>: the normal of"):
        without = loaded(tmp_path, planar(""))
    along_x = loaded(tmp_path, planar('<axis xyz="1 0 0"/>'))
    q = [0.3, 0.4, np.cos(1.0), np.sin(1.0), 1.0, 0.0]
    ours, theirs = (stiction.SceneMotion(s, q).pose("arm") for s in (without, along_x))
    np.testing.assert_allclose(ours, theirs)
    with pytest.raises(stiction.StictionError, match="axis xyz='0 0 0' is zero"):
        loaded(tmp_path, planar('<axis xyz="0 0 0"/>'))
    mimic = '<mimic joint="k"/>'
    with pytest.raises(stiction.StictionError, match="one degree of freedom, one is planar"):
        loaded(tmp_path, planar('<axis xyz="0 0 1"/>', mimic))


def test_a_plate_slides_over_the_ground(tmp_path: Path) -> None:
    """A disc on a vertical plane's joint falls in the plane and lands."""
    text = planar('<axis xyz="0 1 0"/>').replace('rpy=".4 -.5 .6"', 'rpy="0 0 0"')
    path = tmp_path / "r.urdf"
    path.write_text(text.replace('xyz=".3 .1 -.2"', 'xyz=".3 .1 1"'))
    scene = stiction.load(path, free_flyer=False)
    sim = stiction.Simulator(scene, dt=1e-3)
    state = sim.initial_state()
    sim.run(state, steps=2000)
    plate = sim.body_poses(state)[scene.body("plate")]
    assert plate.translation[1] == pytest.approx(0.1, abs=1e-9)
    assert sim.contacts() and np.abs(plate.rotation[:, 1] - [0, 1, 0]).max() < 1e-12
