"""Forces of an MJCF file that no parameter of a scene has: of the medium, of joints, tendons, soft
welds, and of actuators that no servo of a joint stands for.

They are computed from the state at the start of a step and act in it as wrenches on bodies, so that
effort limits do not cut them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import NDArray

from .._stiction import Control, ExternalWrench, Parameters, Scene, SceneMotion, State
from ..mujoco_layout import to_mujoco_qpos
from .mjcf_actuator_table import clipped
from .mjcf_actuators import Drive
from .mjcf_equality import SoftEqualities, SoftWeld
from .mjcf_fluid import Fluid
from .mjcf_joint_forces import JointForces
from .mjcf_joint_rows import JointRows
from .mjcf_kinematics import cross
from .mjcf_pushes import Push
from .mjcf_sensors_of_loads import Held
from .mjcf_soft_rows import SoftRows, at_most, between, impedance, servo, solve, stiff_and_damp
from .mjcf_source import Source, pose
from .mjcf_tendons import fixed_tendons
from .mjcf_trees import FREE, SLIDE, Place

__all__ = ["Passive", "Pull"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Pull:
    """What acts in a step: wrenches, and among them the forces of limits of tendons, by tendon, and
    what soft welds and pushes give."""

    wrenches: list[ExternalWrench]
    limits: dict[int, float]
    held: list[Held]


@dataclass(frozen=True)
class _Dof:
    """The body that it moves, the one it stands on (-1: the world)."""

    body: int
    stands_on: int
    slides: bool


@dataclass
class _Step:
    """One in the making.

    Attributes:
        q: positions of dofs (nv,); qpos MuJoCo's, if a joint needs them.
        found: (6,) force and moment about its origin, world axes, by scene body.
        held: what pushes and soft welds give, once that is known.
    """

    motion: SceneMotion
    q: Floats
    qpos: Floats
    v: Floats
    dt: float
    found: dict[int, Floats]
    held: list[Held] = field(default_factory=list)

    def add(self, body: int, force: Floats, moment: Floats, arm: Floats) -> None:
        """At `arm` from the origin of a body."""
        wrench = np.concatenate([force, moment + cross(arm, force)])
        self.found[body] = self.found.get(body, 0.0) + wrench


Rows = tuple[SoftRows, Callable[[Floats], None]]
"""And what applies their forces."""


class Passive:
    """What pulls besides what the step of a Simulator knows."""

    def __init__(
        self, source: Source, scene: Scene, places: list[Place], equalities: SoftEqualities
    ) -> None:
        self._m, self._scene, self._places = source.model, scene, places
        self.fluid = Fluid(source, places)
        self._welds, self._couplings = equalities.welds, equalities.couplings
        self._tendons = fixed_tendons(source)
        self._pulling = [tendon for tendon in self._tendons if tendon.pulls]
        self._joints, self._joint_rows = JointForces(source, places), JointRows(source)
        of_joints = (self._joints.springs, self._joints.damped, self._joint_rows.balls)
        self._needs_qpos = any(of_joints) or bool(self._joint_rows.rubbed)
        self._dofs: dict[int, _Dof] = {}

    def __bool__(self) -> bool:
        return bool(self.kinds())

    @property
    def foresees(self) -> bool:
        """Some of it is implicit: it foresees the end of the step, with Coriolis forces of its
        start."""
        rows = self._joint_rows
        return bool(self._tendons or self._welds or self._couplings or rows.balls or rows.rubbed)

    def dampers(self, v: Floats) -> tuple[NDArray[np.intp], Floats]:
        """Of joints, of higher order: see JointForces."""
        return self._joints.dampers(v)

    def kinds(self) -> list[str]:
        """In words."""
        words = (
            (self.fluid, "density, viscosity and wind"),
            (self._tendons, "springs, friction and limits of tendons"),
            ([w for w in self._welds if w.mocap >= 0], "welds to mocap bodies"),
            ([w for w in self._welds if w.mocap < 0], "soft welds"),
            (self._couplings, "equalities of joints that are no gears"),
            (self._joints.springs, "springs of ball and free joints and of higher order"),
            (self._joints.damped, "damping of higher order"),
            (self._joints.carried, "gravcomp"),
            (self._joint_rows.balls, "ranges of ball joints"),
            (self._joint_rows.rubbed, "friction of free joints"),
        )
        return [word for given, word in words if given]

    def pull(
        self,
        state: State,
        parameters: Parameters,
        control: Control,
        mocap: dict[int, tuple[Floats, Floats]],
        drives: list[Drive],
        pushes: list[Push],
        dt: float,
    ) -> Pull:
        """In the step from `state` with `control`; `mocap` has poses by MuJoCo's body."""
        motion = SceneMotion(self._scene, state, parameters)
        q = self._scene.dof_positions(state.q)
        qpos = to_mujoco_qpos(self._scene, state.q) if self._needs_qpos else np.zeros(0)
        wrenches = self.fluid.wrenches(motion)
        step = _Step(motion, np.asarray(q), qpos, np.array(state.v), dt, wrenches)
        torque = self._joints.torque(qpos, step.v)
        for tendon in self._pulling:
            torque += tendon.arms * tendon.force(step.q)
        self._turn(step, torque)
        self._joints.weights(step.found, motion, np.array(parameters.gravity))
        self._push_sites(step, drives)
        for push in pushes:
            X = motion.pose(push.body)
            arm = X.rotation @ push.centre
            step.add(push.body, push.force, push.torque, arm)
            step.held.append(Held(push.number, (X.translation + arm, push.force, push.torque)))
        limits = self._add_soft_rows(step, parameters, control, mocap, drives)
        return Pull(
            [ExternalWrench(body, w[:3], w[3:]) for body, w in sorted(step.found.items())],
            limits,
            step.held,
        )

    def _push_sites(self, step: _Step, drives: list[Drive]) -> None:
        m = self._m
        for drive in drives:
            actuator = drive.actuator
            if actuator.kind == "site":
                force = float(np.clip(drive.force, *actuator.force_range))
                place = self._places[m.site_bodyid[actuator.site]]
                own = pose(m.site_pos[actuator.site], m.site_quat[actuator.site])
                X, at = step.motion.pose(place.body), place.X * own
                push = force * np.array(actuator.push)
                R = X.rotation @ at.rotation
                step.add(place.body, R @ push[:3], R @ push[3:], X.rotation @ at.translation)

    # --- torques of dofs --------------------------------------------------------------------------

    def _turn(self, step: _Step, torque: Floats) -> None:
        """Forces of dofs as pairs of wrenches that do their work."""
        for d in np.flatnonzero(torque):
            dof = self._dof(int(d))
            column, p = step.motion.jacobian(dof.body)[:, d], step.motion.pose(dof.body).translation
            zero: Floats = np.zeros(3)
            force, moment = (column[:3], zero) if dof.slides else (zero, column[3:])
            force, moment = force * torque[d], moment * torque[d]
            step.add(dof.body, force, moment, zero)
            if dof.stands_on >= 0:
                arm = p - step.motion.pose(dof.stands_on).translation
                step.add(dof.stands_on, -force, -moment, arm)

    def _dof(self, d: int) -> _Dof:
        if d not in self._dofs:
            self._dofs[d] = _dof(self._m, self._places, self._scene, d)
        return self._dofs[d]

    # --- rows -------------------------------------------------------------------------------------

    def _add_soft_rows(
        self,
        step: _Step,
        parameters: Parameters,
        control: Control,
        mocap: dict[int, tuple[Floats, Floats]],
        drives: list[Drive],
    ) -> dict[int, float]:
        """Forces of the limits of tendons, by tendon."""
        limits: dict[int, float] = {}
        rows = [self._weld_rows(weld, step, mocap) for weld in self._welds]
        rows += self._tendon_rows(step, limits)
        rows += [self._of_dofs(r, step) for r in self._joint_rows.rows(step.qpos, step.v, step.dt)]
        rows += [self._of_dofs(c.rows(step.q, step.v, step.dt), step) for c in self._couplings]
        rows += self._servo_rows(step, drives)
        if not rows:
            return limits
        mass, free = _free_motion(self._scene, step, parameters, control)
        forces = solve([block for block, _ in rows], mass, free)
        for (_, apply), f in zip(rows, forces, strict=True):
            apply(f)
        return limits

    def _of_dofs(self, rows: SoftRows, step: _Step) -> Rows:
        return rows, lambda f: self._turn(step, rows.J.T @ f)

    def _tendon_rows(self, step: _Step, limits: dict[int, float]) -> list[Rows]:
        found = []
        for tendon in self._tendons:
            for rows in tendon.limit_rows(step.q, step.v, step.dt):
                found.append(self._limit(rows, tendon.number, step, limits))
            for row in (tendon.friction_row(step.v, step.dt), tendon.damper_row(step.v, step.dt)):
                if row is not None:
                    found.append(self._of_dofs(row, step))
        return found

    def _limit(self, rows: SoftRows, tendon: int, step: _Step, limits: dict[int, float]) -> Rows:
        def apply(f: Floats) -> None:
            limits.setdefault(tendon, float(f[0]))
            self._turn(step, rows.J.T @ f)

        return rows, apply

    def _servo_rows(self, step: _Step, drives: list[Drive]) -> list[Rows]:
        found = []
        for drive in drives:
            actuator = drive.actuator
            if actuator.kind == "shared":
                given = drive.force, actuator.kp, actuator.kd
                length = float(actuator.gear @ step.q)
                rows = servo(actuator.gear, length, step.v, given, step.dt)
                block = SoftRows(*rows, between(*actuator.force_range))
                found.append(self._of_dofs(block, step))
        return found

    def _weld_rows(
        self, weld: SoftWeld, step: _Step, mocap: dict[int, tuple[Floats, Floats]]
    ) -> Rows:
        """The rows as MuJoCo's, three of the point and three of the quaternion between both
        frames."""
        X_WA = weld.X_A if weld.mocap < 0 else pose(*mocap[weld.mocap]) * weld.X_A
        X_W: pinocchio.SE3 = step.motion.pose(weld.body)
        X_WB = X_W * weld.X_B
        arm = X_WB.translation - X_W.translation
        turn = X_WB.rotation.T @ X_WA.rotation
        w, *axis = _half_angle(turn)
        x = np.array(axis)
        by_turn = weld.turn_scale * (w * np.eye(3) - pinocchio.skew(x)) @ X_WB.rotation.T
        error = np.concatenate([X_WB.translation - X_WA.translation, -2.0 * weld.turn_scale * x])
        J = step.motion.jacobian(weld.body)
        J[:3] -= pinocchio.skew(arm) @ J[3:]
        J[3:] = by_turn @ J[3:]
        d = impedance(weld.solimp, float(np.linalg.norm(error)))
        k, b = stiff_and_damp(weld.solref, weld.solimp, step.dt)
        asked = -b * (J @ step.v) - k * d * error
        rows = SoftRows(J, asked, (1.0 - d) / d * weld.inverse_weight, at_most(*weld.most))

        def apply(f: Floats) -> None:
            load = X_WB.translation, f[:3], by_turn.T @ f[3:]
            step.add(weld.body, load[1], load[2], arm)
            step.held.append(Held(weld.pulls, load))

        return rows, apply


def _half_angle(R: Floats) -> Floats:
    """Quaternion w x y z."""
    x, y, z, w = pinocchio.Quaternion(R).coeffs()
    return np.array((w, x, y, z))


def _dof(m: Any, places: list[Place], scene: Scene, dof: int) -> _Dof:
    j = int(m.dof_jntid[dof])
    first, b, kind = int(m.jnt_dofadr[j]), int(m.jnt_bodyid[j]), int(m.jnt_type[j])
    by_dof = {joint.v_index: joint.body for joint in scene.joints}
    if j > m.body_jntadr[b]:
        below = by_dof[int(m.jnt_dofadr[j - 1])]
    else:
        below = places[m.body_parentid[b]].body
    return _Dof(by_dof[first], below, kind == SLIDE or (kind == FREE and dof < first + 3))


def _free_motion(
    scene: Scene, step: _Step, p: Parameters, control: Control
) -> tuple[Floats, Floats]:
    """Mass matrix with what acts implicitly in the step, and the acceleration without rows, that of
    the origins of free bodies and not the rate of their velocities in axes that turn."""
    motion, dt, q, v = step.motion, step.dt, step.q, step.v
    given: Floats = np.zeros(scene.nv)
    for body, wrench in step.found.items():
        given += motion.jacobian(body).T @ wrench
    kp, kd, most = np.array(p.kp), np.array(p.kd), np.array(p.effort_limit)
    k, rest, damping = np.array(p.spring_stiffness), np.array(p.spring_rest), np.array(p.damping)
    pull = kp * (control.position_target - q - dt * v) + kd * (control.velocity_target - v)
    asked = control.torque + pull
    spring = np.where(k > 0.0, k * (rest - q - dt * v), 0.0)
    force = clipped(asked, -most, most) + spring - damping * v - motion.bias() + given
    mass = np.array(motion.mass_matrix())
    held = np.abs(asked) <= most
    implicit = dt * (damping + np.where(held, kd, 0.0))
    implicit += dt**2 * (k + np.where(held, kp, 0.0))
    mass[np.diag_indices(scene.nv)] += implicit
    free = np.asarray(np.linalg.solve(mass, force), dtype=np.float64)
    for joint in scene.joints:
        if joint.type == "free_flyer":
            i = joint.v_index
            free[i : i + 3] += cross(v[i + 3 : i + 6], v[i : i + 3])
    return mass, free
