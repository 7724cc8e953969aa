"""Pinocchio's joints that are chains of others become such chains."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
import stiction


def chain(*joints: object, seed: int = 0) -> pin.Model:
    """A serial robot of random inertias."""
    rng, model, last = np.random.default_rng(seed), pin.Model(), 0
    for k, joint in enumerate(joints):
        placement = pin.SE3.Random() if k else pin.SE3.Identity()
        last = model.addJoint(last, joint, placement, f"j{k}")
        model.appendBodyToJoint(last, pin.Inertia.Random(), pin.SE3.Identity())
        model.addFrame(pin.Frame(f"tip{k}", last, pin.SE3.Random(), pin.FrameType.OP_FRAME))
    model.armature = rng.uniform(0.0, 1.0, model.nv)
    model.upperEffortLimit = rng.uniform(1.0, 2.0, model.nv)
    return model


def composite(*joints: object) -> object:
    found = pin.JointModelComposite(len(joints))
    for joint in joints:
        found.addJoint(joint, pin.SE3.Random())
    return found


@pytest.mark.parametrize(
    "joints",
    [
        (pin.JointModelTranslation(), pin.JointModelRX()),
        (pin.JointModelSphericalZYX(), pin.JointModelPX()),
        (pin.JointModelRX(), pin.JointModelUniversal(np.array([0.0, 0, 1]), np.array([1.0, 0, 0]))),
        (
            composite(pin.JointModelRX(), pin.JointModelPY(), pin.JointModelRUBZ()),
            pin.JointModelRY(),
        ),
        (pin.JointModelRZ(), composite(pin.JointModelTranslation(), pin.JointModelSpherical())),
    ],
    ids=[
        "translation",
        "Euler angles",
        "universal",
        "composite",
        "composite of translation and ball",
    ],
)
def test_dynamics_are_pinocchios(joints: tuple[object, ...]) -> None:
    model = chain(*joints)
    data = model.createData()
    scene = stiction.Scene(model, pin.GeometryModel())
    assert (scene.nq, scene.nv) == (model.nq, model.nv)
    assert np.array_equal(scene.parameters.armature, model.armature)
    assert np.array_equal(scene.parameters.effort_limit, model.upperEffortLimit)
    rng = np.random.default_rng(1)
    for _ in range(5):
        q = pin.integrate(model, pin.neutral(model), rng.uniform(-1.0, 1.0, model.nv))
        v = rng.normal(size=model.nv)
        motion = stiction.SceneMotion(scene, stiction.make_state(scene, q))
        M = np.triu(pin.crba(model, data, q))
        np.testing.assert_allclose(motion.mass_matrix(), M + np.triu(M, 1).T, atol=1e-12)
        moving = stiction.make_state(scene, q)
        moving.v = v
        bias = pin.nonLinearEffects(model, data, q, v)
        np.testing.assert_allclose(stiction.SceneMotion(scene, moving).bias(), bias, atol=1e-11)
        pin.framesForwardKinematics(model, data, q)
        for k in range(len(joints)):
            place = data.oMf[model.getFrameId(f"tip{k}")]
            np.testing.assert_allclose(
                motion.pose(f"tip{k}").homogeneous, place.homogeneous, atol=1e-12
            )


def test_a_planar_joint_moves_along_the_axes_of_its_placement() -> None:
    model = chain(pin.JointModelPlanar(), pin.JointModelRX())
    scene, data = stiction.Scene(model, pin.GeometryModel()), model.createData()
    assert (scene.nq, scene.nv) == (model.nq, model.nv)
    q = np.array([0.3, -0.2, np.cos(0.7), np.sin(0.7), 0.4])
    T = np.eye(4)  # Pinocchio's v = T v
    T[:2, :2] = [[np.cos(0.7), np.sin(0.7)], [-np.sin(0.7), np.cos(0.7)]]
    M = np.triu(pin.crba(model, data, q))
    M = M + np.triu(M, 1).T - np.diag(model.armature)
    ours = stiction.SceneMotion(scene, stiction.make_state(scene, q)).mass_matrix()
    np.testing.assert_allclose(ours - np.diag(model.armature), T.T @ M @ T, atol=1e-12)


def test_geometry_goes_with_its_joint() -> None:
    import coal

    model = chain(pin.JointModelRZ(), pin.JointModelTranslation())
    geometry = pin.GeometryModel()
    ball = pin.GeometryObject("ball", 2, 0, pin.SE3.Random(), coal.Sphere(0.1))
    geometry.addGeometryObject(ball)
    scene = stiction.Scene(model, geometry)
    assert scene.joint_names == ["j0", "j1:0", "j1:1", "j1"]
    assert scene.geometries[0].body == 3


def test_a_composite_of_nothing_is_refused() -> None:
    model = pin.Model()
    model.addJoint(0, pin.JointModelComposite(0), pin.SE3.Identity(), "empty")
    with pytest.raises(ValueError, match="'empty' is a composite of no joints"):
        stiction.Scene(model, pin.GeometryModel())
