"""Pinocchio's models pass straight through; MuJoCo's layouts there and back."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
import stiction


def at(x: float, y: float, z: float) -> pinocchio.SE3:
    return pinocchio.SE3(np.eye(3), np.array([x, y, z]))


def test_pinocchio_models_pass_straight_through() -> None:
    model = pinocchio.buildSampleModelManipulator()
    scene = stiction.Scene(model, name="arm")
    assert (scene.nq, scene.nv) == (model.nq, model.nv)
    assert scene.joint_names == list(model.names)[1:]
    sim = stiction.Simulator(scene, dt=1e-4)
    rng = np.random.default_rng(0)
    state = stiction.make_state(scene, 0.3 * rng.normal(size=model.nq), rng.normal(size=model.nv))
    tau = rng.normal(size=model.nv)
    data = model.createData()
    expected = state.v.copy()
    for _ in range(5):  # Coriolis forces are those of the mean velocity
        mean = 0.5 * (state.v + expected)
        expected = state.v + 1e-4 * pinocchio.aba(model, data, state.q.copy(), mean, tau)
    stepped = state.copy()
    sim.parameters.damping[:] = 0
    sim.parameters.dry_friction[:] = 0
    sim.parameters.effort_limit[:] = np.inf
    sim.parameters.lower[:] = -np.inf
    sim.parameters.upper[:] = np.inf
    sim.step(stepped, tau)
    np.testing.assert_allclose(stepped.v, expected, rtol=1e-9, atol=1e-9)


def test_geometry_models_pass_straight_through() -> None:
    model = pinocchio.Model()
    joint = model.addJoint(0, pinocchio.JointModelFreeFlyer(), pinocchio.SE3.Identity(), "ball")
    model.appendBodyToJoint(joint, pinocchio.Inertia.FromSphere(1.0, 0.1), pinocchio.SE3.Identity())
    geometry = pinocchio.GeometryModel()
    coal = pytest.importorskip("coal")
    geometry.addGeometryObject(
        pinocchio.GeometryObject("ball", joint, pinocchio.SE3.Identity(), coal.Sphere(0.1))
    )
    scene = stiction.Scene(model, geometry, stiction.Material(friction=0.3))
    assert scene.geometries[0].shape.type == "sphere"
    assert scene.pair_material(0, 0).friction == pytest.approx(0.3)
    robot = stiction.robot_from_pinocchio(model, geometry, name="again")
    scene.add_robot(robot, at(1, 0, 0))
    assert (robot.name, robot.nv, scene.nv) == ("again", 6, 12)


def test_a_robot_keeps_its_pinocchio_model() -> None:
    scene = stiction.load("solo12")
    model = stiction.pinocchio_model(scene, 0)
    assert isinstance(model, pinocchio.Model)
    assert (model.nq, model.nv) == (scene.nq, scene.nv)
    sim = stiction.Simulator(scene)
    state = sim.initial_state("standing")
    data = model.createData()
    pinocchio.forwardKinematics(model, data, state.q)
    for joint, pose in zip(range(1, model.njoints), sim.body_poses(state), strict=True):
        np.testing.assert_allclose(data.oMi[joint].homogeneous, pose.homogeneous, atol=1e-12)


# --- MuJoCo's layout --------------------------------------------------------------------


def test_mujoco_layout_there_and_back() -> None:
    scene = stiction.load("solo12")
    rng = np.random.default_rng(3)
    q, v = rng.normal(size=(5, scene.nq)), rng.normal(size=(5, scene.nv))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1, keepdims=True)
    qpos, qvel = stiction.to_mujoco_qpos(scene, q), stiction.to_mujoco_qvel(scene, q, v)
    np.testing.assert_array_equal(qpos[:, 3], q[:, 6])
    np.testing.assert_allclose(stiction.from_mujoco_qpos(scene, qpos), q, atol=1e-15)
    np.testing.assert_allclose(stiction.from_mujoco_qvel(scene, q, qvel), v, atol=1e-14)
    R = pinocchio.Quaternion(q[0, 3:7]).toRotationMatrix()
    np.testing.assert_allclose(qvel[0, :3], R @ v[0, :3], atol=1e-14)
    np.testing.assert_array_equal(qvel[0, 3:], v[0, 3:])


def test_mujoco_layout_of_a_continuous_joint() -> None:
    model = pinocchio.Model()
    model.addJoint(0, pinocchio.JointModelRUBZ(), pinocchio.SE3.Identity(), "wheel")
    model.appendBodyToJoint(1, pinocchio.Inertia.FromSphere(1.0, 0.1), pinocchio.SE3.Identity())
    scene = stiction.Scene(model)
    np.testing.assert_allclose(stiction.to_mujoco_qpos(scene, [np.cos(2), np.sin(2)]), [2.0])
    np.testing.assert_allclose(stiction.from_mujoco_qpos(scene, [2.0]), [np.cos(2), np.sin(2)])


def test_mujoco_layout_of_a_spherical_joint() -> None:
    """Quaternion x y z w becomes w x y z, and back; velocities stay as they are."""
    model = pinocchio.Model()
    joint = model.addJoint(0, pinocchio.JointModelSpherical(), at(0, 0, 0), "ball")
    model.appendBodyToJoint(joint, pinocchio.Inertia.Random(), at(0, 0, 0))
    scene = stiction.Scene(model, name="ball")
    quaternion = np.array([0.1, 0.3, 0.5, 0.8062257748298549])
    qpos = stiction.to_mujoco_qpos(scene, quaternion)
    np.testing.assert_array_equal(qpos, quaternion[[3, 0, 1, 2]])
    np.testing.assert_array_equal(stiction.from_mujoco_qpos(scene, qpos), quaternion)
    np.testing.assert_array_equal(stiction.to_mujoco_qvel(scene, quaternion, [1, 2, 3]), [1, 2, 3])
