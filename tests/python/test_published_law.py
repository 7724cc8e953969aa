"""Compliant steps of Solo-12 against the equations of motion by Pinocchio, with the published law.

One step from random states and anchors: the accelerations of explicit-euler, and the residual of
implicit-euler's equation at the end that it found. With STICTION_REFERENCE_DATA, a folder that
holds consim_solo_squat.npz, also the local errors of another simulator's implicit Euler.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
import stiction
from numpy.typing import NDArray

Floats = NDArray[np.float64]

K, B, MU = 1e5, 300.0, 1.0
FEET = ("HL_FOOT", "HR_FOOT", "FL_FOOT", "FR_FOOT")
URDF = Path(stiction.__file__).parent / "robots" / "solo12" / "solo12.urdf"
# One vertex at the foot's frame, the others far from the ground: a point contact.
SPIKE = np.array([[0, 0, 0], [0.02, 0, 0.1], [-0.01, 0.017, 0.1], [-0.01, -0.017, 0.1]])


@pytest.fixture(scope="module")
def model() -> Any:
    return pin.buildModelFromUrdf(str(URDF), pin.JointModelFreeFlyer())


def make_scene(model: Any) -> stiction.Scene:
    scene = stiction.Scene()
    scene.add_ground(stiction.Material(friction=MU, stiffness=K, damping=B))
    scene.add_robot(stiction.robot_from_pinocchio(model))
    for name in FEET:
        body, placement = scene.frame(name)
        scene.add_geometry(
            f"tip {name}",
            body,
            stiction.ConvexMesh(SPIKE),
            placement,
            stiction.Material(friction=MU),
        )
    return scene


def remembered(scene: stiction.Scene, extensions: Floats) -> list[stiction.ContactMemory]:
    # Vertex 0 is the tip: feature 0.
    return [
        stiction.ContactMemory(0, scene.geometry(f"tip {name}"), 0, extension=e)
        for name, e in zip(FEET, extensions, strict=True)
    ]


def feet(model: Any, q: Floats, v: Floats) -> tuple[Floats, Floats, Floats]:
    """Positions, velocities (world) and Jacobians of the feet."""
    data = model.createData()
    pin.computeJointJacobians(model, data, q)
    pin.updateFramePlacements(model, data)
    ids = [model.getFrameId(name) for name in FEET]
    world = pin.LOCAL_WORLD_ALIGNED
    J = np.array([pin.getFrameJacobian(model, data, i, world)[:3] for i in ids])
    return np.array([data.oMf[i].translation for i in ids]), J @ v, J


def force(extension: Floats, velocity: Floats) -> Floats:
    """The published law of points that are inside."""
    f = K * extension - B * velocity
    f[f[:, 2] <= 0.0] = 0.0
    for one in f:
        size = np.hypot(one[0], one[1])
        if size > MU * one[2]:
            one[:2] *= MU * one[2] / size
    return f


def settled(extension: Floats, velocity: Floats) -> Floats:
    """The anchors of points that slide at the start move so that the spring carries the force."""
    f, e = force(extension, velocity), extension.copy()
    for i in range(len(e)):
        trial = K * extension[i, :2] - B * velocity[i, :2]
        if f[i, 2] > 0.0 and np.hypot(*trial) > MU * f[i, 2]:
            e[i, :2] = f[i, :2] / K
    return e


def random_case(model: Any, seed: int) -> tuple[Floats, Floats, Floats, Floats]:
    """State with all feet inside the ground for a while, torques, extensions."""
    rng = np.random.default_rng(seed)
    q = pin.neutral(model)
    legs = np.tile([0.0, 0.8, -1.6], 4)
    q[7:] = legs + rng.normal(scale=0.01, size=12)
    q[3:7] = pin.Quaternion(pin.exp3(rng.normal(scale=0.03, size=3))).coeffs()
    v = rng.normal(scale=0.01, size=model.nv)
    q[2] -= feet(model, q, v)[0][:, 2].max() + 2e-3
    tau = np.r_[np.zeros(6), rng.normal(scale=0.3, size=12)]
    extensions = rng.normal(scale=3e-5, size=(4, 3)) + [0, 0, 2e-4]
    return q, v, tau, extensions


def classical(a: Floats, v: Floats) -> Floats:
    """Spatial acceleration of the base -> classical one of its origin."""
    return a + np.r_[np.cross(v[3:6], v[:3]), np.zeros(len(v) - 3)]


def turned(q_from: Floats, q_to: Floats, v: Floats) -> Floats:
    """The base's linear part in the axes of another configuration."""
    R = pin.Quaternion(q_to[3:7]).matrix().T @ pin.Quaternion(q_from[3:7]).matrix()
    return np.r_[R @ v[:3], v[3:]]


@pytest.mark.parametrize("seed", range(5))
def test_explicit_euler_has_pinocchios_acceleration(model: Any, seed: int) -> None:
    q, v, tau, extensions = random_case(model, seed)
    scene = make_scene(model)
    sim = stiction.Simulator(scene, dt=1e-4, integrator="explicit-euler", law="published")
    state = stiction.make_state(scene, q, v)
    state.contacts = remembered(scene, extensions)
    sim.step(state, tau)
    assert len(sim.contacts()) == 4
    _, velocity, J = feet(model, q, v)
    f = force(extensions, velocity)
    assert np.count_nonzero(f[:, 2]) >= 2
    push = tau + np.einsum("ikn,ik->n", J, f)
    a = classical(pin.aba(model, model.createData(), q, v, push), v)
    nu = turned(np.asarray(state.q), q, np.asarray(state.v))
    assert np.abs((nu - v) / 1e-4 - a).max() < 1e-8 * np.abs(a).max()
    contacts = {c.geometry_b_name: c.force_on_b_world for c in sim.contacts()}
    found = np.array([contacts[f"tip {name}"] for name in FEET])
    assert np.abs(found - f).max() < 1e-8


@pytest.mark.parametrize("h", [1e-3, 1e-2])
@pytest.mark.parametrize("seed", range(3))
def test_implicit_euler_solves_its_equation(model: Any, seed: int, h: float) -> None:
    q, v, tau, extensions = random_case(model, seed)
    scene = make_scene(model)
    sim = stiction.Simulator(
        scene, dt=h, integrator="implicit-euler", law="published", newton_halvings=0
    )
    state = stiction.make_state(scene, q, v)
    state.contacts = remembered(scene, extensions)
    assert sim.step(state, tau).status == "ok"
    q1, v1 = np.asarray(state.q), np.asarray(state.v)
    start, speed, _ = feet(model, q, v)
    extensions = settled(extensions, speed)
    end, velocity, J = feet(model, q1, v1)
    f = force(extensions - (end - start), velocity)
    f[end[:, 2] > 0.0] = 0.0
    a = (v1 - turned(q, q1, v)) / h
    spatial = a - np.r_[np.cross(v1[3:6], v1[:3]), np.zeros(model.nv - 3)]
    inertial = pin.rnea(model, model.createData(), q1, v1, spatial)
    residual = inertial - tau - np.einsum("ikn,ik->n", J, f)
    assert np.abs(residual).max() < 1e-6 * max(1.0, np.abs(f).max())
    # q+ = q (+) h nu, rotation by the end's angular velocity.
    R = pin.Quaternion(q[3:7]).matrix() @ pin.exp3(h * v1[3:6])
    assert np.abs(R - pin.Quaternion(q1[3:7]).matrix()).max() < 1e-12
    assert q1[7:] == pytest.approx(q[7:] + h * v1[6:], abs=1e-12)


REFERENCE = os.environ.get("STICTION_REFERENCE_DATA", "")


@pytest.mark.skipif(not REFERENCE, reason="STICTION_REFERENCE_DATA names no folder")
@pytest.mark.parametrize("substeps", [2, 4, 8, 16])
def test_local_errors_are_those_of_another_simulator(model: Any, substeps: int) -> None:
    data = np.load(Path(REFERENCE) / "consim_solo_squat.npz", allow_pickle=True)
    scene = make_scene(model)
    sim = stiction.Simulator(
        scene,
        dt=float(data["dt_control_float32"]),
        integrator="implicit-euler",
        law="published",
        substeps=substeps,
    )
    q, v, u = (data[f"truth_implicit_{name}"] for name in "qvu")
    stretch = data["truth_implicit_p0"] - data["truth_implicit_p"]
    errors = [0.0]
    for k in range(int(data["N"])):
        state = stiction.make_state(scene, q[k], v[k])
        state.contacts = remembered(scene, stretch[k])
        assert sim.step(state, np.r_[np.zeros(6), u[k][6:]]).status == "ok"
        error = np.r_[pin.difference(model, q[k + 1], state.q), state.v - v[k + 1]]
        errors.append(float(np.abs(error).max()))
    run = list(data["runs"]).index(f"implicit_n{substeps}")
    assert np.mean(errors) == pytest.approx(float(data["err_inf_mean"][run]), rel=0.05)
