"""Where the energy of a logged run came from: an account of our own, from q, v, M and V alone.

The library's report is not asked, but for the energy its recovery of position errors added. Of
each step, with M the mass matrix at its start (for a servo or damper the implicit one, M + D), v_f
the velocity it would end with without constraints and v' the one it ends with:

    work of constraints     W_c = vbar . [M (v' - v) - dt (f - b)],   vbar = (v + v') / 2,
    work of inputs          W_in = dt vbar . f - (v' D v' - v D v) / 2,

f the generalised forces at the start, b Coriolis forces and weight. What is left of the change of

    E = T(q, v) + V(q) - dt/2 v . dV/dq

is the defect of the free motion: rotating masses, whose energy the scheme keeps to first order
only. The last term of E is the potential half a step ago, where v belongs: with it a thrown body
has no defect at all. Two laws follow, for solvers of every kind:

    each step       T(v') <= max(T(v), T(v_f)) + recovery,
    the whole run   E - E_0 <= sum W_in + sum recovery + sum of positive defects.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import NDArray
from stiction.rotations import rotations

from .random_robots import RandomRobot

Floats = NDArray[np.float64]
SHARE = 0.01
"""Of the energy in play: what either law may be exceeded by."""


@dataclass
class Bodies:
    """Loose bodies, the first of the scene: mass (n,), com (n, 3), inertia about it (n, 3, 3).

    force, moment: (n, 3) constant wrench at the body's origin, world axes.
    """

    mass: Floats
    com: Floats
    inertia: Floats
    force: Floats
    moment: Floats


@dataclass
class Joints:
    """Per dof of the scene (nv,): servos, dampers, limits, torque, targets."""

    kp: Floats
    kd: Floats
    damping: Floats
    armature: Floats
    effort_limit: Floats
    torque: Floats
    position_target: Floats
    velocity_target: Floats


@dataclass
class Motion:
    """q (K + 1, nq) and v (K + 1, nv) of K steps of dt, and who moves."""

    q: Floats
    v: Floats
    dt: float
    gravity: Floats
    bodies: Bodies
    joints: Joints
    robots: list[RandomRobot]


@dataclass
class Account:
    """Per step (K,) [J]; `energy` is (K + 1,).

    Attributes:
        energy: E of the module's text.
        before, free, after: T(v), T(v_f), T(v'), all at the start's configuration and in M + D.
        inputs: work of torques, servos, dampers and wrenches.
        defect: positive defects of the free motion.
    """

    energy: Floats
    before: Floats
    free: Floats
    after: Floats
    inputs: Floats
    defect: Floats

    def step_excess(self, recovery: Floats) -> Floats:
        """(K,) by how much each step breaks the first law, in parts of the energy in play."""
        top = np.maximum(self.before, self.free)
        return _parts(self.after - top - recovery, top + recovery)

    def run_excess(self, recovery: Floats) -> Floats:
        """(K,) by how much the run breaks the second law after each step, in parts likewise."""
        given = np.cumsum(self.inputs + recovery + self.defect)
        turnover = np.abs(self.free - self.before) + np.abs(self.inputs) + recovery
        in_play = self.before[0] + np.cumsum(turnover)
        return _parts(self.energy[1:] - self.energy[0] - given, in_play)


def _parts(excess: Floats, scale: Floats) -> Floats:
    """excess / scale, below the rounding of double and where nothing moves 0."""
    return np.where(excess > 1e-12, excess / np.maximum(scale, 1e-300), 0.0)


def account(motion: Motion) -> Account:
    """Of every step of the motion."""
    steps = len(motion.q) - 1
    total = Account(np.zeros(steps + 1), *(np.zeros(steps) for _ in range(5)))
    parts = [_robot_account(motion, robot) for robot in motion.robots]
    if len(motion.bodies.mass):
        parts.append(_bodies_account(motion))
    for part in parts:
        for name in vars(total):
            getattr(total, name).__iadd__(getattr(part, name))
    return total


# --- loose bodies, all at once ------------------------------------------------------------------


def _turned(angle: Floats, x: Floats) -> Floats:
    """exp([angle]) x, row by row."""
    size = np.linalg.norm(angle, axis=-1, keepdims=True)
    axis = angle / np.maximum(size, 1e-300)
    along = np.sum(axis * x, -1, keepdims=True)
    return np.asarray(
        x * np.cos(size) + np.cross(axis, x) * np.sin(size) + axis * along * (1 - np.cos(size))
    )


def _free_spin(inertia: Floats, w: Floats, torque: Floats, dt: float) -> Floats:
    """Largest rotational energy a free body may have after the step, from w and torque in its axes.

    exp(dt/2 [w']) I w' = exp(-dt/2 [w]) I w + dt torque (the library's loose_body.hpp), by fixed
    point iteration; where it does not settle, the most that this momentum can hold.
    """
    inverse = np.linalg.inv(inertia)
    goal = _turned(-0.5 * dt * w, np.einsum("nij,knj->kni", inertia, w)) + dt * torque
    spin = w
    for _ in range(30):
        last = spin
        momentum = _turned(-0.5 * dt * spin, goal)
        spin = np.einsum("nij,knj->kni", inverse, momentum)
    energy = 0.5 * np.sum(momentum * spin, -1)
    most = 0.5 * np.sum(goal * goal, -1) / np.linalg.eigvalsh(inertia)[:, 0]
    moved = np.linalg.norm(spin - last, axis=-1) > 1e-9 * np.linalg.norm(spin, axis=-1)
    return np.asarray(np.where(moved, most, energy))


def _bodies_account(motion: Motion) -> Account:
    bodies, dt, n = motion.bodies, motion.dt, len(motion.bodies.mass)
    mass, g = bodies.mass, motion.gravity
    q = motion.q[:, : 7 * n].reshape(-1, n, 7)
    v = motion.v[:, : 6 * n].reshape(-1, n, 6)
    R = rotations(q[..., 3:])
    w = v[..., 3:]
    u = np.einsum("knij,knj->kni", R, v[..., :3] + np.cross(w, bodies.com))
    centre = q[..., :3] + np.einsum("knij,nj->kni", R, bodies.com)
    spin = 0.5 * np.einsum("kni,nij,knj->kn", w, bodies.inertia, w)
    kinetic = 0.5 * mass * np.sum(u * u, -1) + spin
    energy = kinetic - mass * ((centre - 0.5 * dt * u) @ g)

    start, end = slice(None, -1), slice(1, None)
    free = u[start] + dt * (g + bodies.force / mass[:, None])
    arm = np.einsum("knij,nj->kni", R[start], bodies.com)
    moment = bodies.moment - np.cross(arm, np.broadcast_to(bodies.force, arm.shape))
    torque = np.einsum("knji,knj->kni", R[start], moment)
    free_spin = _free_spin(bodies.inertia, w[start], torque, dt)
    mean_u, mean_w = 0.5 * (u[start] + u[end]), 0.5 * (w[start] + w[end])
    turning = dt * np.sum(torque * mean_w, -1)
    inputs = dt * np.sum(bodies.force * mean_u, -1) + turning
    free_turning = dt * np.abs(np.sum(torque * w[start], -1))
    defect = np.maximum(free_spin - spin[start] - free_turning, 0.0)
    linear = 0.5 * mass * np.sum(free * free, -1)
    return Account(
        energy.sum(-1),
        kinetic[start].sum(-1),
        (linear + free_spin).sum(-1),
        kinetic[end].sum(-1),
        inputs.sum(-1),
        defect.sum(-1),
    )


# --- articulated trees, step by step ------------------------------------------------------------


def _robot_account(motion: Motion, robot: RandomRobot) -> Account:
    model = robot.model
    model.gravity.linear = motion.gravity
    data = model.createData()
    steps = len(motion.q) - 1
    q = motion.q[:, robot.q_offset : robot.q_offset + model.nq]
    v = motion.v[:, robot.v_offset : robot.v_offset + model.nv]
    out = Account(np.zeros(steps + 1), *(np.zeros(steps) for _ in range(5)))
    for k in range(steps + 1):
        out.energy[k] = _energy(model, data, q[k], v[k], motion, robot)
    for k in range(steps):
        _robot_step(out, k, motion, robot, data, (q[k], v[k]), (q[k + 1], v[k + 1]))
    return out


def _dofs(motion: Motion, robot: RandomRobot, name: str) -> Floats:
    values: Floats = getattr(motion.joints, name)
    return values[robot.v_offset : robot.v_offset + robot.nv]


def _energy(
    model: Any, data: Any, q: Floats, v: Floats, motion: Motion, robot: RandomRobot
) -> float:
    kinetic = pinocchio.computeKineticEnergy(model, data, q, v)
    kinetic += 0.5 * float(_dofs(motion, robot, "armature") @ (v * v))
    weight = pinocchio.computeGeneralizedGravity(model, data, q)
    potential = pinocchio.computePotentialEnergy(model, data, q)
    return float(kinetic + potential - 0.5 * motion.dt * (v @ weight))


def _robot_step(
    out: Account,
    k: int,
    motion: Motion,
    robot: RandomRobot,
    data: Any,
    start: tuple[Floats, Floats],
    end: tuple[Floats, Floats],
) -> None:
    model, dt, (q, v) = robot.model, motion.dt, start
    v_end = end[1].copy()
    if robot.first_joint:  # the step's own axes are those of its start
        turn = rotations(q[3:7]).T @ rotations(end[0][3:7])
        v_end[:3] = turn @ v_end[:3]
    M = pinocchio.crba(model, data, q)
    M = np.triu(M) + np.triu(M, 1).T
    bias = pinocchio.nonLinearEffects(model, data, q, v)
    force, implicit = _joint_forces(motion, robot, q, v)
    armature = _dofs(motion, robot, "armature")
    M_hat = M + np.diag(armature + implicit)
    if robot.first_joint:  # in axes that stand still, the origin's velocity does not turn
        bias = bias - M_hat[:, :3] @ np.cross(v[3:6], v[:3])
    v_free = v + dt * np.linalg.solve(M_hat, force - bias)
    out.before[k] = 0.5 * v @ M_hat @ v
    out.free[k] = 0.5 * v_free @ M_hat @ v_free
    out.after[k] = 0.5 * v_end @ M_hat @ v_end
    mean = 0.5 * (v + v_end)
    out.inputs[k] = dt * mean @ force - 0.5 * (implicit @ (v_end * v_end - v * v))
    constraints = out.after[k] - out.before[k] - dt * mean @ (force - bias)
    change = out.energy[k + 1] - out.energy[k]
    out.defect[k] = max(change - out.inputs[k] - constraints, 0.0)


def _joint_forces(
    motion: Motion, robot: RandomRobot, q: Floats, v: Floats
) -> tuple[Floats, Floats]:
    """Forces at the start and the implicit diagonal less the armature, as in docs/concepts.md."""
    j = {name: _dofs(motion, robot, name) for name in vars(motion.joints)}
    kp, kd, dt = j["kp"].copy(), j["kd"].copy(), motion.dt
    error = _position_error(robot, q, j["position_target"])
    wanted = j["torque"] + kp * error + kd * (j["velocity_target"] - v)
    saturated = np.abs(wanted) > j["effort_limit"]
    kp[saturated] = kd[saturated] = 0.0
    force = np.clip(wanted, -j["effort_limit"], j["effort_limit"]) - kp * dt * v
    return force - j["damping"] * v, dt * (j["damping"] + kd) + dt * dt * kp


def _position_error(robot: RandomRobot, q: Floats, target: Floats) -> Floats:
    """Target less position of joints with one dof, the shortest way round; 0 of all others."""
    error = np.zeros(robot.nv)
    for joint in robot.model.joints:
        if joint.nv != 1 or joint.idx_v < 0:
            continue
        if joint.nq == 2:
            c, s = q[joint.idx_q : joint.idx_q + 2]
            goal = target[joint.idx_v]
            error[joint.idx_v] = np.arctan2(
                np.sin(goal) * c - np.cos(goal) * s, np.cos(goal) * c + np.sin(goal) * s
            )
        else:
            error[joint.idx_v] = target[joint.idx_v] - q[joint.idx_q]
    return error
