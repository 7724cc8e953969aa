"""A motion that a robot is to follow, and the torques that make it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from .robots import Robot

Floats = NDArray[np.float64]

DIFFERENCE = 1e-3
"""Step of the differences that give velocity and acceleration of a plan [s]."""


class Controller(Protocol):
    """Torques held over one control period."""

    def torque(self, k: int, q: Floats, v: Floats) -> Floats:
        """Of period k, from the state at its start; (nv,), zero for the base [N m]."""
        ...


@dataclass(frozen=True)
class Motion:
    """What runs: a robot, its controller, where it starts and for how long.

    Attributes:
        period: of the controller [s].
        steps: control periods.
        fastest: largest entry of the planned velocity [rad/s or m/s].
    """

    name: str
    robot: Robot
    controller: Controller
    q: Floats
    v: Floats
    period: float
    steps: int
    fastest: float = np.inf

    def first(self, steps: int) -> Motion:
        """The same, cut short."""
        return replace(self, steps=min(steps, self.steps))


@dataclass(frozen=True)
class Plan:
    """A motion as samples at the control periods.

    Attributes:
        q, v, a: (N + 1, nq), (N + 1, nv), (N + 1, nv).
        load: (N + 1, points) share of the load that each contact point takes, 0: in the air.
    """

    q: Floats
    v: Floats
    a: Floats
    load: Floats


def sample(
    robot: Robot,
    configuration: Callable[[float], Floats],
    load: Callable[[float], Floats],
    period: float,
    steps: int,
) -> Plan:
    """A plan from functions of time, velocity and acceleration by central differences."""
    model, d = robot.model, DIFFERENCE
    times = period * np.arange(steps + 1)
    q = np.array([configuration(t) for t in times])
    before = np.array([configuration(t - d) for t in times])
    after = np.array([configuration(t + d) for t in times])
    forward = np.array([pin.difference(model, a, b) for a, b in zip(q, after, strict=True)]) / d
    backward = np.array([pin.difference(model, a, b) for a, b in zip(before, q, strict=True)]) / d
    loads = np.array([load(t) for t in times])
    return Plan(q, 0.5 * (forward + backward), (forward - backward) / d, loads)


class InverseDynamics:
    """Joint torques that give accelerations to a robot on given contact points.

    M a + h = S τ + Jᵀ f; of all f of the points that carry load, the smallest in the measure of
    their loads that the base's rows allow, τ from the other rows. In flight the base's
    acceleration is that of free flight.
    """

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._data = robot.model.createData()

    def torque(self, q: Floats, v: Floats, a: Floats, load: Floats) -> Floats:
        """(nv,) [N m], zero for the base."""
        model, data = self.robot.model, self._data
        loaded = np.flatnonzero(load > 0.0)
        M = pin.crba(model, data, q)
        push = M @ a + pin.nonLinearEffects(model, data, q, v)
        if len(loaded) == 0:
            push -= M[:, :6] @ np.linalg.solve(M[:6, :6], push[:6])
        else:
            J = self._jacobian(q, loaded)
            weight = np.repeat(np.sqrt(load[loaded]), 3)
            scaled = np.linalg.lstsq(J[:, :6].T * weight, push[:6], rcond=1e-9)[0]
            push -= J.T @ (weight * scaled)
        push[:6] = 0.0
        return np.asarray(push)

    def _jacobian(self, q: Floats, points: NDArray[np.intp]) -> Floats:
        model, data = self.robot.model, self._data
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        frames = [model.getFrameId(self.robot.points[i]) for i in points]
        world = pin.LOCAL_WORLD_ALIGNED
        return np.vstack([pin.getFrameJacobian(model, data, i, world)[:3] for i in frames])


class WholeBody:
    """The plan's acceleration and PD of every coordinate, through the inverse dynamics here."""

    def __init__(self, robot: Robot, plan: Plan, kp: float, kd: float) -> None:
        """kp [1/s²], kd [1/s]."""
        self.plan, self.kp, self.kd = plan, kp, kd
        self._inverse = InverseDynamics(robot)

    def torque(self, k: int, q: Floats, v: Floats) -> Floats:
        """See Controller."""
        plan = self.plan
        away = pin.difference(self._inverse.robot.model, q, plan.q[k])
        a = plan.a[k] + self.kp * away + self.kd * (plan.v[k] - v)
        return self._inverse.torque(q, v, a, plan.load[k])


class JointServos:
    """The torques of the plan and PD of every joint."""

    def __init__(self, robot: Robot, plan: Plan, kp: float, kd: float) -> None:
        """kp [N m/rad], kd [N m s/rad]."""
        self.plan, self.kp, self.kd = plan, kp, kd
        self._inverse = InverseDynamics(robot)

    def torque(self, k: int, q: Floats, v: Floats) -> Floats:
        """See Controller."""
        plan = self.plan
        torque = self._inverse.torque(plan.q[k], plan.v[k], plan.a[k], plan.load[k])
        away = pin.difference(self._inverse.robot.model, q, plan.q[k])[6:]
        torque[6:] += self.kp * away + self.kd * (plan.v[k] - v)[6:]
        return torque


class Recorded:
    """Torques that somebody else computed."""

    def __init__(self, torques: Floats) -> None:
        """(N, nv) [N m]."""
        self.torques = torques

    def torque(self, k: int, q: Floats, v: Floats) -> Floats:
        """See Controller; the state does not matter."""
        return np.asarray(self.torques[k])


def planned(
    name: str, robot: Robot, plan: Plan, controller: Controller, q: Floats, period: float
) -> Motion:
    """Along a plan, from its velocity and a configuration next to it."""
    fastest = float(np.abs(plan.v).max())
    return Motion(name, robot, controller, q, plan.v[0], period, len(plan.q) - 1, fastest)
