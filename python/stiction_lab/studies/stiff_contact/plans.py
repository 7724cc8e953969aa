"""What Solo-12 is to do: squat, trot, jump."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from stiction.gaits import JOINTS, LEGS, SIDEWAYS, Trot, solo12_leg_angles

from .motion import JointServos, Motion, WholeBody, planned, sample
from .robots import Robot

Floats = NDArray[np.float64]

FEET = tuple(LEGS)


class Legs:
    """Configurations of Solo-12 by its base and its feet."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.columns = {
            leg: [robot.model.idx_qs[robot.model.getJointId(f"{leg}_{joint}")] for joint in JOINTS]
            for leg in FEET
        }
        q = pin.neutral(robot.model)
        self._place(q, np.tile([0.0, 0.0, -0.2], (4, 1)))
        below = robot.positions(q)[:, 2]
        self.above = -0.2 - float(below.mean())
        """Of the base's origin above the hips' axis, so that feet end on z = 0 [m]."""

    def configuration(self, x: float, z: float, feet: Floats) -> Floats:
        """Base at (x, 0), its hips' centres at the height z; feet relative to their hips, level.

        Args:
            feet: (4, 3) in the order FL, FR, HL, HR: x, y against straight down, z [m].
        """
        q = pin.neutral(self.robot.model)
        q[0], q[2] = x, z - self.above
        self._place(q, feet)
        return np.asarray(q)

    def _place(self, q: Floats, feet: Floats) -> None:
        for (leg, (front, left)), (x, y, z) in zip(LEGS.items(), feet, strict=True):
            sideways = np.array([left * SIDEWAYS + y])
            angles = solo12_leg_angles(np.array([x]), sideways, np.array([z]), front, left)[0]
            q[self.columns[leg]] = angles


SQUAT_PERIOD, SQUAT_AMPLITUDE, SQUAT_RATE = 0.04, 0.03, 2.0
"""Control period [s]; of the centre of mass [m]; angular frequency [rad/s] (as published)."""
STANDING = 0.223
"""Height of the hips' centres [m]."""


def squat(robot: Robot, steps: int = 100) -> Motion:
    """Up and down on four feet; torques held over 40 ms."""
    legs = Legs(robot)

    def configuration(t: float) -> Floats:
        z = STANDING - SQUAT_AMPLITUDE * (1.0 - np.cos(SQUAT_RATE * t))
        return legs.configuration(0.0, z, np.tile([0.0, 0.0, -z], (4, 1)))

    plan = sample(robot, configuration, lambda t: np.ones(4), SQUAT_PERIOD, steps)
    controller = WholeBody(robot, plan, kp=20.0, kd=8.0)
    q = plan.q[0].copy()
    q[2] -= depth_at_rest(robot, 4)
    return planned("squat", robot, plan, controller, q, SQUAT_PERIOD)


def depth_at_rest(robot: Robot, points: int) -> float:
    """Of so many points that share the weight [m]."""
    stiffness = robot.scene.parameters.stiffness[robot.scene.geometry("ground")]
    return float(pin.computeTotalMass(robot.model) * 9.81 / (points * stiffness))


TROT_PERIOD = 0.002
GAIT = Trot(start=0.0, lift=0.03)
"""Period 0.4 s, stride 60 mm, 0.3 m/s from the start."""


def trot(robot: Robot, steps: int = 1000, scuffing: bool = False) -> Motion:
    """Forward at constant speed, diagonal legs in turn; torques held over 2 ms.

    Args:
        scuffing: swing the feet as `stiction.gaits.Trot` does, which land at rest against the hip,
            so at 0.3 m/s against the ground; else they land at rest against the ground.
    """
    legs = Legs(robot)
    phases = [0.0 if front == left else 0.5 for front, left in LEGS.values()]
    swing = _scuffing if scuffing else _landing

    def configuration(t: float) -> Floats:
        feet = np.zeros((4, 3))
        for foot, phase in zip(feet, phases, strict=True):
            foot[0], foot[2] = swing(t, phase)
        return legs.configuration(GAIT.speed * t, GAIT.height, feet)

    def load(t: float) -> Floats:
        cycles = np.mod(t / GAIT.period + np.array(phases), 1.0)
        return np.where(cycles < 0.5, 1.0, 0.0)

    plan = sample(robot, configuration, load, TROT_PERIOD, steps)
    controller = JointServos(robot, plan, kp=5.0, kd=0.1)
    q = plan.q[0].copy()
    q[2] -= depth_at_rest(robot, 2)
    name = "trot, scuffing" if scuffing else "trot"
    return planned(name, robot, plan, controller, q, TROT_PERIOD)


def _scuffing(t: float, phase: float) -> tuple[float, float]:
    """x and z of a foot from its hip [m]."""
    x, z = GAIT.foot(np.array([t]), phase)
    return float(x[0]), float(z[0])


def _landing(t: float, phase: float) -> tuple[float, float]:
    """The same, at rest against the ground when it lifts off and when it lands.

    Over the ground, forward by two strides along 10 s^3 - 15 s^4 + 6 s^5; up and down by a fourth
    of 64 s^3 (1 - s)^3: no velocity and no acceleration at either end.
    """
    cycle = (t / GAIT.period + phase) % 1.0
    share = 2.0 * cycle - (1.0 if cycle >= 0.5 else 0.0)
    x = GAIT.stride * (0.5 - share)
    if cycle < 0.5:
        return x, -GAIT.height
    over = 2.0 * GAIT.stride * share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
    up = GAIT.lift * 64.0 * share**3 * (1.0 - share) ** 3
    return x + over - GAIT.stride, up - GAIT.height


JUMP_PERIOD = 0.01
CROUCH, TAKE_OFF, JUMP_SPEED = 0.15, 0.26, 1.3
"""Heights of the hips' centres at the lowest point and at take-off [m]; speed there [m/s]."""
DOWN, UP = 0.5, 0.18
"""Durations of crouching and of pushing off [s]."""


def jump(robot: Robot, steps: int = 110) -> Motion:
    """Crouch, push off, fly and touch down; torques held over 10 ms."""
    legs = Legs(robot)
    flight = 2.0 * JUMP_SPEED / 9.81
    crouch = _Quintic(0.0, DOWN, (STANDING, 0.0, 0.0), (CROUCH, 0.0, 0.0))
    push = _Quintic(DOWN, UP, (CROUCH, 0.0, 0.0), (TAKE_OFF, JUMP_SPEED, -9.81))
    fold = _Quintic(DOWN + UP, 0.6 * flight, (TAKE_OFF, JUMP_SPEED, -9.81), (STANDING, 0.0, 0.0))

    def configuration(t: float) -> Floats:
        if t < DOWN + UP:
            z = crouch(t) if t < DOWN else push(t)
            return legs.configuration(0.0, z, np.tile([0.0, 0.0, -z], (4, 1)))
        air = min(t - DOWN - UP, flight)
        z = TAKE_OFF + JUMP_SPEED * air - 0.5 * 9.81 * air**2
        length = fold(t)
        return legs.configuration(0.0, z, np.tile([0.0, 0.0, -length], (4, 1)))

    def load(t: float) -> Floats:
        return np.full(4, 0.0 if DOWN + UP <= t < DOWN + UP + flight else 1.0)

    plan = sample(robot, configuration, load, JUMP_PERIOD, steps)
    controller = WholeBody(robot, plan, kp=100.0, kd=15.0)
    q = plan.q[0].copy()
    q[2] -= depth_at_rest(robot, 4)
    return planned("jump", robot, plan, controller, q, JUMP_PERIOD)


class _Quintic:
    """From (value, rate, acceleration) to another over a time; constant afterwards."""

    def __init__(
        self,
        start: float,
        duration: float,
        begin: tuple[float, float, float],
        end: tuple[float, float, float],
    ) -> None:
        self.start, self.duration = start, duration
        T = duration
        low = np.array([begin[0], begin[1] * T, 0.5 * begin[2] * T**2])
        rest = np.array([end[0], end[1] * T, end[2] * T**2])
        rest -= [low.sum(), low[1] + 2.0 * low[2], 2.0 * low[2]]
        high = np.linalg.solve([[1, 1, 1], [3, 4, 5], [6, 12, 20]], rest)
        self.coefficients = np.concatenate([low, high])[::-1]

    def __call__(self, t: float) -> float:
        share = np.clip((t - self.start) / self.duration, 0.0, 1.0)
        return float(np.polyval(self.coefficients, share))
