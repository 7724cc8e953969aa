"""What Solo-12 is to do: squat, trot, jump."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from ...gaits import JOINTS, LEGS, SIDEWAYS, solo12_leg_angles
from .motion import InverseDynamics, Motion, sample
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
    controller = InverseDynamics(robot, plan, kp=20.0, kd=8.0)
    q = plan.q[0].copy()
    q[2] -= depth_at_rest(robot, 4)
    return Motion("squat", robot, controller, q, plan.v[0], SQUAT_PERIOD, steps)


def depth_at_rest(robot: Robot, points: int) -> float:
    """Of so many points that share the weight [m]."""
    stiffness = robot.scene.parameters.stiffness[robot.scene.geometry("ground")]
    return float(pin.computeTotalMass(robot.model) * 9.81 / (points * stiffness))
