"""Torques and impulses of contacts that explain a motion: the step, backwards."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np
import pinocchio
from numpy.typing import ArrayLike, NDArray

from ._stiction import (
    BoxSet,
    ConstraintSet,
    ContactCone,
    ContactProblem,
    Control,
    Free,
    NonNegative,
    State,
)
from .simulator import Simulator
from .solving import solve

__all__ = ["InverseContactDynamics", "inverse_contact_dynamics"]

Floats = NDArray[np.floating]
PROXIMAL_STEPS = 6
PROBE = 1e-2  # [N m or N], far below effort limits; a step without impulses is affine in torques


@dataclass(frozen=True)
class InverseContactDynamics:
    """What moves a scene from a state to a velocity at the end of a step.

    Attributes:
        torque: (nv,) added to servos [N m or N]; zero where nothing is actuated.
        impulse: (rows,) of the problem of that step [N s]; of rows that are not unique, near the
            least.
        velocity: (rows,) at the asked velocity [m/s].
        modes: of each set: "open", "slide", "stick" (a joint at a limit also "stick"), "free".
        residual: (nv,) torques that are missing where nothing is actuated: zero if forces of
            contact explain the motion [N m or N].
        violation: the fastest approach of a contact at its surface, which no force allows [m/s].
    """

    torque: Floats
    impulse: Floats
    velocity: Floats
    modes: tuple[str, ...]
    residual: Floats
    violation: float


@dataclass(frozen=True)
class _Response:
    """v+ = free + W torque + Y impulse, in the axes of the start, of a step prepared
    without torque; the rows move with J v+."""

    problem: ContactProblem
    free: Floats
    W: Floats
    Y: Floats
    J: Floats


def inverse_contact_dynamics(
    sim: Simulator,
    state: State,
    v_next: ArrayLike,
    actuated: ArrayLike | None = None,
    control: Control | None = None,
    tolerance: float = 1e-6,
) -> InverseContactDynamics:
    """Torques and impulses with which a rigid step from `state` ends at the velocity `v_next`.

        found = stiction.inverse_contact_dynamics(sim, state, v_next)
        sim.step(state, found.torque)                                    # ends at v_next

    A velocity says which contacts are open (no force) and which slide (force on the edge of the
    cone, against the motion); those that stick carry any force of their cone. Of these forces
    those are taken that leave the least to torques where nothing is actuated, in the metric of the
    kinetic energy, and of those nearly the least. A compliant row has the impulse of its law. An
    acceleration a means v_next = v + dt a.

    It prepares nv + rows + 1 steps: a tool for planning and estimation, not for a control loop.

    Args:
        sim: of the rigid integrator.
        state: where the step begins; it stays.
        v_next: (nv,) velocity at the end of the step.
        actuated: dofs with motors; None: all but those of free-flyers and ball joints.
        control: servos and wrenches; its torque counts as known, and `torque` is what comes on top.
            None: none.
        tolerance: speeds below it are rest [m/s].

    Raises:
        ValueError: an argument has a wrong shape or is not finite; the integrator is compliant; a
            contact with torsional or rolling friction slides; a servo is at its effort limit.
    """
    nv = sim.scene.nv
    v = np.asarray(v_next, dtype=float)
    if v.shape != (nv,) or not np.isfinite(v).all():
        raise ValueError(f"v_next: must be ({nv},) and finite, has shape {v.shape}")
    if sim.settings.integrator != "semi-implicit-euler":
        raise ValueError(f"integrator = {sim.settings.integrator!r}: must be semi-implicit-euler")
    v_start = _at_start(sim, v)
    motors = _actuated(sim, actuated)
    response = _response(sim, state, Control(nv) if control is None else control)
    needed = np.linalg.solve(response.W, np.c_[v_start - response.free, response.Y])
    momentum, to_torque = needed[:, 0], needed[:, 1:]  # torque = momentum - to_torque impulse
    velocity = response.problem.g + response.J @ (v_start - response.free)
    modes = tuple(_mode(s, velocity, tolerance) for s in response.problem.sets)
    loose = np.setdiff1d(np.arange(nv), motors)
    if response.problem.num_rows == 0:
        impulse: Floats = np.zeros(0)
    elif np.all(response.problem.R > 0):
        impulse = _by_compliance(response.problem, velocity)
    else:
        metric = response.W[np.ix_(loose, loose)]
        impulse = _explain(
            response.problem, velocity, modes, momentum[loose], to_torque[loose], metric
        )
    torque = momentum - to_torque @ impulse
    residual = np.zeros(nv)
    residual[loose], torque[loose] = torque[loose], 0.0
    return InverseContactDynamics(
        torque, impulse, velocity, modes, residual, _violation(response.problem, velocity, impulse)
    )


def _actuated(sim: Simulator, given: ArrayLike | None) -> NDArray[np.int64]:
    nv = sim.scene.nv
    if given is None:
        single = [joint.v_index for joint in sim.scene.joints if joint.nv == 1]
        return np.array(sorted(single), dtype=np.int64)
    dofs = np.asarray(given, dtype=np.int64)
    if dofs.ndim != 1 or np.any((dofs < 0) | (dofs >= nv)):
        raise ValueError(f"actuated = {given!r}: must be numbers from 0 to {nv - 1}")
    return np.unique(dofs)


def _response(sim: Simulator, state: State, control: Control) -> _Response:
    twin = sim._twin(sim.settings.copy())
    nv = sim.scene.nv

    def end(torque: Floats, row: int) -> Floats:
        work, u = state.copy(), control.copy()
        u.torque = np.array(u.torque) + torque
        twin._prepare(work, u)
        impulse = np.zeros(twin.problem().num_rows)
        if row >= 0:
            impulse[row] = 1.0
        twin._advance(work, impulse)
        return _at_start(sim, np.array(work.v))

    none = np.zeros(nv)
    free = end(none, -1)
    W = np.column_stack([(end(PROBE * x, -1) - free) / PROBE for x in np.eye(nv)])
    if np.linalg.matrix_rank(W) < nv:
        raise ValueError("control: a servo is at its effort limit: give torques instead")
    twin._prepare(state.copy(), control)
    problem = copy(twin.problem())
    rows = [end(none, row) - free for row in range(problem.num_rows)]
    Y = np.column_stack(rows) if rows else np.zeros((nv, 0))
    return _Response(problem, free, W, Y, sim.settings.dt * np.linalg.solve(W, Y).T)


def _at_start(sim: Simulator, v: Floats) -> Floats:
    """Velocities at the end of a step in the axes of its start: those of free bodies have turned by
    dt omega, which leaves omega itself."""
    out = v.copy()
    for joint in sim.scene.joints:
        if joint.type == "free_flyer":
            linear = slice(joint.v_index, joint.v_index + 3)
            omega = v[joint.v_index + 3 : joint.v_index + 6]
            out[linear] = pinocchio.exp3(sim.settings.dt * omega) @ v[linear]
    return out


def _mode(s: ConstraintSet, velocity: Floats, tolerance: float) -> str:
    c = velocity[s.offset : s.offset + s.dim]
    if s.kind == "free":
        return "free"
    if s.kind == "box":
        return "slide" if abs(c[0]) > tolerance else "stick"
    if s.dim == 1:
        return "open" if c[0] > tolerance else "stick"
    if c[2] > tolerance:
        return "open"
    if np.linalg.norm(c[:2]) <= tolerance:
        return "stick"
    if s.dim != 3:
        raise ValueError(f"a contact of {s.dim} rows slides: torsional friction is not known here")
    return "slide"


def _by_compliance(problem: ContactProblem, velocity: Floats) -> Floats:
    """c + R lambda obeys the law of the rows: a problem of that diagonal alone."""
    alone = ContactProblem(np.diag(problem.R), velocity, sets=problem.sets)
    return np.array(solve(alone, tolerance=1e-12).impulse)


def _explain(
    problem: ContactProblem,
    velocity: Floats,
    modes: tuple[str, ...],
    needed: Floats,
    to_loose: Floats,
    metric: Floats,
) -> Floats:
    """The impulses of these modes that leave the least of `needed` over: a convex problem."""
    columns, sets, known = [], [], np.zeros(problem.num_rows)
    for s, mode in zip(problem.sets, modes, strict=True):
        axes = np.eye(problem.num_rows)[:, s.offset : s.offset + s.dim]
        c = velocity[s.offset : s.offset + s.dim]
        if mode == "open":
            continue
        normal = s.offset + (2 if s.kind == "cone" else 0)
        if s.kind in ("cone", "non_negative") and problem.R[normal] > 0:
            # The law of the normal row gives its impulse; friction stays in a square of the disk.
            known[normal] = max(0.0, -velocity[normal] / problem.R[normal])
            bound = s.mu * known[normal] if s.kind == "cone" else 0.0
            if mode == "slide":
                known[s.offset : s.offset + 2] = -bound * c[:2] / np.linalg.norm(c[:2])
            elif bound > 0:
                columns.append(axes[:, :2])
                sets += [BoxSet(-bound / np.sqrt(2), bound / np.sqrt(2))] * 2
            continue
        if s.kind == "box" and mode == "slide":
            known += axes[:, 0] * (s.lower if c[0] > 0 else s.upper)
        elif mode == "slide":  # along the edge of the cone, against the motion
            edge = np.r_[-s.mu * c[:2] / np.linalg.norm(c[:2]), 1.0]
            columns.append((axes @ edge)[:, None])
            sets.append(NonNegative())
        else:
            columns.append(axes)
            sets.append(_alone(s))
    if not columns:
        return known
    T = np.hstack(columns)
    A, b = to_loose @ T, needed - to_loose @ known
    G = A.T @ metric @ A
    damping = 1e-6 * max(np.trace(G) / len(G), 1e-300)
    x = np.zeros(len(G))
    for _ in range(PROXIMAL_STEPS):  # towards what needs no damping
        g = -A.T @ metric @ b - damping * x
        problem_of_forces = ContactProblem(G + damping * np.eye(len(G)), g, sets=sets)
        x = np.array(solve(problem_of_forces, "ccp-admm", 1e-10, warm_start=x).impulse)
    return known + T @ x


def _alone(s: ConstraintSet) -> ConstraintSet:
    if s.kind == "free":
        return Free(s.dim)
    if s.kind == "box":
        return BoxSet(s.lower, s.upper)
    if s.dim == 1:
        return NonNegative()
    return ContactCone(s.mu) if s.dim == 3 else ContactCone(s.coefficients)


def _violation(problem: ContactProblem, velocity: Floats, impulse: Floats) -> float:
    """Of rows that may only open; compliant ones give way by R lambda."""
    moved = velocity + np.array(problem.R) * impulse
    normal = [
        s.offset + (2 if s.dim > 1 else 0) for s in problem.sets if s.kind not in ("free", "box")
    ]
    return float(max([0.0, *(-moved[normal])]))
