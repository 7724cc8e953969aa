"""Configurations and velocities in MuJoCo's layout.

    joint          stiction (Pinocchio)                    MuJoCo
    free-flyer q   x y z, quaternion x y z w               x y z, quaternion w x y z
    free-flyer v   linear and angular, both body frame     linear world frame, angular body frame
    spherical q    quaternion x y z w                      quaternion w x y z
    continuous q   cos, sin                                angle
    others         as they are

The joints keep the scene's order; a MuJoCo model may number them differently.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._stiction import Joint, Scene
from .loading import _check_type

__all__ = ["from_mujoco_qpos", "from_mujoco_qvel", "to_mujoco_qpos", "to_mujoco_qvel"]

Floats = NDArray[np.float64]
A_SCENE = 'stiction.load("solo12")'


def to_mujoco_qpos(scene: Scene, q: ArrayLike) -> Floats:
    """MuJoCo's qpos (..., nq_mujoco) of configurations q (..., nq)."""
    _check_type("scene", scene, Scene, A_SCENE)
    given = _checked("q", q, scene.nq)
    parts = [_qpos_part(joint, _q(joint, given)) for joint in scene.joints]
    return _joined(parts, given)


def from_mujoco_qpos(scene: Scene, qpos: ArrayLike) -> Floats:
    """Configurations q (..., nq) of MuJoCo's qpos (..., nq_mujoco)."""
    _check_type("scene", scene, Scene, A_SCENE)
    sizes = [1 if joint.type == "continuous" else joint.nq for joint in scene.joints]
    given = _checked("qpos", qpos, sum(sizes))
    parts, start = [], 0
    for joint, size in zip(scene.joints, sizes, strict=True):
        parts.append(_q_part(joint, given[..., start : start + size]))
        start += size
    return _joined(parts, given)


def to_mujoco_qvel(scene: Scene, q: ArrayLike, v: ArrayLike) -> Floats:
    """MuJoCo's qvel (..., nv) of velocities v (..., nv) at configurations q (..., nq)."""
    _check_type("scene", scene, Scene, A_SCENE)
    return _turned(scene, q, _checked("v", v, scene.nv), to_world=True)


def from_mujoco_qvel(scene: Scene, q: ArrayLike, qvel: ArrayLike) -> Floats:
    """Velocities v (..., nv) of MuJoCo's qvel (..., nv) at configurations q (..., nq)."""
    _check_type("scene", scene, Scene, A_SCENE)
    return _turned(scene, q, _checked("qvel", qvel, scene.nv), to_world=False)


def _checked(name: str, given: ArrayLike, size: int) -> Floats:
    array = np.asarray(given, dtype=np.float64)
    if array.ndim == 0 or array.shape[-1] != size:
        raise ValueError(f"{name} has shape {array.shape}: the last axis must have {size} entries")
    return array


def _joined(parts: list[Floats], given: Floats) -> Floats:
    return np.concatenate(parts, axis=-1) if parts else given.copy()


def _q(joint: Joint, q: Floats) -> Floats:
    part: Floats = q[..., joint.q_index : joint.q_index + joint.nq]
    return part


def _qpos_part(joint: Joint, q: Floats) -> Floats:
    if joint.type == "free_flyer":
        return q[..., [0, 1, 2, 6, 3, 4, 5]]
    if joint.type == "spherical":
        return q[..., [3, 0, 1, 2]]
    if joint.type == "continuous":
        return np.arctan2(q[..., 1:], q[..., :1])
    return q


def _q_part(joint: Joint, qpos: Floats) -> Floats:
    if joint.type == "free_flyer":
        return qpos[..., [0, 1, 2, 4, 5, 6, 3]]
    if joint.type == "spherical":
        return qpos[..., [1, 2, 3, 0]]
    if joint.type == "continuous":
        return np.concatenate([np.cos(qpos), np.sin(qpos)], axis=-1)
    return qpos


def _turned(scene: Scene, q: ArrayLike, v: Floats, to_world: bool) -> Floats:
    """v with the linear part of each free-flyer turned between body and world frame."""
    configuration = _checked("q", q, scene.nq)
    out = v.copy()
    for joint in scene.joints:
        if joint.type == "free_flyer":
            quaternion = _q(joint, configuration)[..., 3:]
            axis = quaternion[..., :3] if to_world else -quaternion[..., :3]
            linear = v[..., joint.v_index : joint.v_index + 3]
            out[..., joint.v_index : joint.v_index + 3] = _rotate(axis, quaternion[..., 3:], linear)
    return out


def _rotate(axis: Floats, w: Floats, x: Floats) -> Floats:
    """x turned by the unit quaternion (axis, w)."""
    twice: Floats = 2.0 * np.cross(axis, x)
    turned: Floats = x + w * twice + np.cross(axis, twice)
    return turned
