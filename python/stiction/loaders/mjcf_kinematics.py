"""Poses, velocities and accelerations of the bodies of a compiled MuJoCo model.

World axes; in MuJoCo's coordinates, whose bodies are those that sensors and sites name: the scene
has merged what has no joints. Accelerations are those of points, without gravity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .mjcf_trees import BALL, FREE, SLIDE

__all__ = ["Motion", "body_motions", "rotation", "rotation_vector"]

Floats = NDArray[np.float64]


@dataclass
class Motion:
    """A frame: p [m], R (3, 3), velocity v [m/s], turn w [rad/s], and their rates a, alpha."""

    p: Floats
    R: Floats
    v: Floats
    w: Floats
    a: Floats
    alpha: Floats

    def at(self, position: Floats, turn: Floats | None = None) -> Motion:
        """A frame fixed in this one, at `position` and turned by the matrix `turn`."""
        r = self.R @ position
        w_r = cross(self.w, r)
        return Motion(
            self.p + r,
            self.R if turn is None else self.R @ turn,
            self.v + w_r,
            self.w,
            self.a + cross(self.alpha, r) + cross(self.w, w_r),
            self.alpha,
        )


def cross(a: Floats, b: Floats) -> Floats:
    """Of two vectors of three; numpy.cross takes ten times as long."""
    return np.array(
        (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    )


def rotation(quaternion: Floats) -> Floats:
    """Matrix of MuJoCo's quaternion w x y z, of any length but 0."""
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    return np.array(
        (
            (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
        )
    )


def rotation_vector(quaternion: Floats) -> Floats:
    """Axis times angle, at most pi, of MuJoCo's quaternion w x y z, of any length but 0."""
    w, axis = float(quaternion[0]), np.asarray(quaternion[1:], dtype=np.float64)
    length = float(np.linalg.norm(axis))
    if length == 0.0:
        return np.zeros(3)
    angle = 2.0 * np.arctan2(length, w)
    return np.asarray(axis / length * (angle if angle <= np.pi else angle - 2.0 * np.pi))


def _turn(axis: Floats, angle: float) -> Floats:
    return rotation(np.concatenate(([np.cos(0.5 * angle)], np.sin(0.5 * angle) * axis)))


def body_motions(
    m: Any, qpos: Floats, qvel: Floats, qacc: Floats, mocap: dict[int, tuple[Floats, Floats]]
) -> list[Motion]:
    """Of every body; those of `mocap` stand at the given position and quaternion, at rest."""
    zero = np.zeros(3)
    motions = [Motion(zero, np.eye(3), zero, zero, zero, zero)]
    for b in range(1, int(m.nbody)):
        if b in mocap:
            position, quaternion = mocap[b]
            motions.append(Motion(position, rotation(quaternion), zero, zero, zero, zero))
            continue
        parent = motions[m.body_parentid[b]]
        body = parent.at(np.array(m.body_pos[b]), rotation(np.array(m.body_quat[b])))
        first = int(m.body_jntadr[b])
        for j in range(first, first + int(m.body_jntnum[b])):
            body = _moved(m, j, body, qpos, qvel, qacc)
        motions.append(body)
    return motions


def _moved(m: Any, j: int, body: Motion, qpos: Floats, qvel: Floats, qacc: Floats) -> Motion:
    """The body behind its joint j."""
    adr, dof, kind = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j]), int(m.jnt_type[j])
    if kind == FREE:
        R = rotation(qpos[adr + 3 : adr + 7])
        return Motion(
            qpos[adr : adr + 3],
            R,
            qvel[dof : dof + 3],
            R @ qvel[dof + 3 : dof + 6],
            qacc[dof : dof + 3],
            R @ qacc[dof + 3 : dof + 6],
        )
    axis = body.R @ m.jnt_axis[j]
    moved = float(qpos[adr] - m.qpos0[adr])
    if kind == SLIDE:
        at = body.at(np.array(m.jnt_axis[j]) * moved)
        at.v = at.v + axis * qvel[dof]
        at.a = at.a + 2.0 * cross(body.w, axis * qvel[dof]) + axis * qacc[dof]
        return at
    anchor = body.at(np.array(m.jnt_pos[j]))
    if kind == BALL:
        R = body.R @ rotation(qpos[adr : adr + 4])
        turn, rate = R @ qvel[dof : dof + 3], R @ qacc[dof : dof + 3]
    else:
        R = _turn(axis, moved) @ body.R
        turn, rate = axis * qvel[dof], axis * qacc[dof]
    w, alpha = body.w + turn, body.alpha + rate + cross(body.w, turn)
    return Motion(anchor.p, R, anchor.v, w, anchor.a, alpha).at(-np.array(m.jnt_pos[j]))
