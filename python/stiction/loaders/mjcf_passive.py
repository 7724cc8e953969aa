"""Forces of an MJCF file that no parameter of a scene has: medium, tendons, welds to mocap bodies.

They are computed from the state at the start of a step and act in it as wrenches on bodies, so that
effort limits do not cut them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import NDArray

from .._stiction import Control, ExternalWrench, Parameters, Scene, SceneMotion, State
from .mjcf_equality import MocapWeld
from .mjcf_fluid import Fluid
from .mjcf_soft_rows import SoftRows, impedance, solve, stiff_and_damp
from .mjcf_source import Source, pose
from .mjcf_tendons import FixedTendon
from .mjcf_trees import SLIDE, Place

__all__ = ["Passive"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Dof:
    """Of a joint of one dof: the body that it moves, the one it stands on (-1: the world)."""

    body: int
    stands_on: int
    slides: bool


class Passive:
    """What pulls besides what the step of a Simulator knows."""

    def __init__(
        self,
        source: Source,
        scene: Scene,
        places: list[Place],
        fluid: Fluid,
        tendons: list[FixedTendon],
        welds: list[MocapWeld],
    ) -> None:
        self._m, self._scene = source.model, scene
        self.fluid, self._tendons, self._welds = fluid, tendons, welds
        pulled = {int(d) for tendon in tendons for d in np.flatnonzero(tendon.arms)}
        self._dofs = {d: _dof(self._m, places, scene, d) for d in pulled}

    def __bool__(self) -> bool:
        return bool(self.fluid or self._tendons or self._welds)

    def kinds(self) -> list[str]:
        """In words."""
        words = (
            (self.fluid, "density, viscosity and wind"),
            (self._tendons, "springs and limits of tendons"),
            (self._welds, "welds to mocap bodies"),
        )
        return [word for given, word in words if given]

    def wrenches(
        self,
        state: State,
        parameters: Parameters,
        control: Control,
        mocap: dict[int, tuple[Floats, Floats]],
        dt: float,
    ) -> list[ExternalWrench]:
        """That act in the step from `state` with `control`; `mocap` has poses by MuJoCo's body."""
        motion = SceneMotion(self._scene, state, parameters)
        found = self.fluid.wrenches(motion)
        q = np.asarray(self._scene.dof_positions(state.q))
        for tendon in self._tendons:
            self._pull(found, motion, tendon.arms * tendon.force(q, state.v))
        self._add_soft_rows(found, motion, q, state, parameters, control, mocap, dt)
        return [ExternalWrench(body, w[:3], w[3:]) for body, w in sorted(found.items())]

    def _pull(self, found: dict[int, Floats], motion: SceneMotion, torque: Floats) -> None:
        """Forces of dofs as pairs of wrenches that do their work."""
        for d in np.flatnonzero(torque):
            dof = self._dofs[int(d)]
            column = motion.jacobian(dof.body)[:, d]
            pull, p = np.zeros(6), motion.pose(dof.body).translation
            axis = column[:3] if dof.slides else column[3:]
            pull[slice(0, 3) if dof.slides else slice(3, 6)] = axis * torque[d]
            found[dof.body] = found.get(dof.body, 0.0) + pull
            if dof.stands_on >= 0:
                arm = p - motion.pose(dof.stands_on).translation
                back = np.concatenate([pull[:3], pull[3:] + np.cross(arm, pull[:3])])
                found[dof.stands_on] = found.get(dof.stands_on, 0.0) - back

    def _add_soft_rows(
        self,
        found: dict[int, Floats],
        motion: SceneMotion,
        q: Floats,
        state: State,
        parameters: Parameters,
        control: Control,
        mocap: dict[int, tuple[Floats, Floats]],
        dt: float,
    ) -> None:
        welds = [self._weld_rows(weld, motion, state.v, mocap, dt) for weld in self._welds]
        limits = [
            (tendon, sign, rows)
            for tendon in self._tendons
            for sign, rows in tendon.limit_rows(q, state.v, dt)
        ]
        blocks = [weld[0] for weld in welds] + [rows for _, _, rows in limits]
        if not blocks:
            return
        given: Floats = np.zeros(self._scene.nv)
        for body, wrench in found.items():
            given += motion.jacobian(body).T @ wrench
        mass, free = _free_motion(self._scene, motion, q, state, parameters, control, given, dt)
        forces = solve(blocks, mass, free)
        for weld, (_, arm, by_turn), f in zip(self._welds, welds, forces, strict=False):
            wrench = np.concatenate([f[:3], by_turn.T @ f[3:]])
            wrench[3:] += np.cross(arm, wrench[:3])
            found[weld.body] = found.get(weld.body, 0.0) + wrench
        for (tendon, sign, _), f in zip(limits, forces[len(welds) :], strict=True):
            self._pull(found, motion, sign * float(f[0]) * tendon.arms)

    def _weld_rows(
        self,
        weld: MocapWeld,
        motion: SceneMotion,
        v: Floats,
        mocap: dict[int, tuple[Floats, Floats]],
        dt: float,
    ) -> tuple[SoftRows, Floats, Floats]:
        """The rows as MuJoCo's, three of the point and three of the quaternion between both frames;
        the arm from the body's origin to the point, world; velocities of the latter by turns."""
        X_WA = pose(*mocap[weld.mocap]) * weld.X_A
        X_W: pinocchio.SE3 = motion.pose(weld.body)
        X_WB = X_W * weld.X_B
        arm = X_WB.translation - X_W.translation
        turn = X_WB.rotation.T @ X_WA.rotation
        w, *axis = _half_angle(turn)
        x = np.array(axis)
        by_turn = weld.turn_scale * (w * np.eye(3) - pinocchio.skew(x)) @ X_WB.rotation.T
        error = np.concatenate([X_WB.translation - X_WA.translation, -2.0 * weld.turn_scale * x])
        J = motion.jacobian(weld.body)
        J[:3] += np.cross(J[3:].T, arm).T
        J[3:] = by_turn @ J[3:]
        d = impedance(weld.solimp, float(np.linalg.norm(error)))
        k, b = stiff_and_damp(weld.solref, weld.solimp, dt)
        asked = -b * (J @ v) - k * d * error
        return SoftRows(J, asked, (1.0 - d) / d * weld.inverse_weight, weld.most), arm, by_turn


def _half_angle(R: Floats) -> Floats:
    """Quaternion w x y z."""
    x, y, z, w = pinocchio.Quaternion(R).coeffs()
    return np.array((w, x, y, z))


def _dof(m: Any, places: list[Place], scene: Scene, dof: int) -> _Dof:
    j = int(m.dof_jntid[dof])
    by_dof = {joint.v_index: joint.body for joint in scene.joints}
    b = int(m.jnt_bodyid[j])
    if j > m.body_jntadr[b]:
        below = by_dof[int(m.jnt_dofadr[j - 1])]
    else:
        below = places[m.body_parentid[b]].body
    return _Dof(by_dof[dof], below, m.jnt_type[j] == SLIDE)


def _free_motion(
    scene: Scene,
    motion: SceneMotion,
    q: Floats,
    state: State,
    p: Parameters,
    control: Control,
    given: Floats,
    dt: float,
) -> tuple[Floats, Floats]:
    """Mass matrix with what acts implicitly in the step, and the acceleration without rows.

    given: (nv,) forces of wrenches.
    """
    kp, kd, v = np.array(p.kp), np.array(p.kd), np.array(state.v)
    k, rest = np.array(p.spring_stiffness), np.array(p.spring_rest)
    servo = kp * (control.position_target - q - dt * v) + kd * (control.velocity_target - v)
    effort = np.clip(control.torque + servo, -np.array(p.effort_limit), p.effort_limit)
    spring = np.where(k > 0.0, k * (rest - q - dt * v), 0.0)
    force = effort + spring - np.array(p.damping) * v - motion.bias() + given
    mass = np.array(motion.mass_matrix())
    held = np.abs(control.torque + servo) <= p.effort_limit
    implicit = dt * (np.array(p.damping) + np.where(held, kd, 0.0))
    implicit += dt**2 * (k + np.where(held, kp, 0.0))
    mass[np.diag_indices(scene.nv)] += implicit
    return mass, np.asarray(np.linalg.solve(mass, force))
