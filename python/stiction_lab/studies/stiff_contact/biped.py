"""A humanoid takes steps: base by the linear inverted pendulum, soles flat."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from stiction.pages.experiment import StudyError

from .motion import DIFFERENCE, Motion, WholeBody, planned, sample
from .plans import depth_at_rest
from .robots import Ground, Robot, biped

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Description:
    """What a humanoid's URDF does not say.

    Attributes:
        soles: frames of the left and the right foot.
        corners: contact points in either frame [m].
        bend: joint -> angle of a posture with bent knees [rad].
    """

    soles: tuple[str, str]
    corners: tuple[tuple[float, float, float], ...]
    bend: Mapping[str, float]


def _rectangle(
    back: float, front: float, side: float, z: float
) -> tuple[tuple[float, float, float], ...]:
    return tuple((x, y, z) for x in (back, front) for y in (-side, side))


def _bent(pattern: str, sides: tuple[str, str], angles: Mapping[str, float]) -> dict[str, float]:
    return {pattern.format(side, part): a for side in sides for part, a in angles.items()}


HUMANOIDS = {
    "talos": Description(
        ("left_sole_link", "right_sole_link"),
        _rectangle(-0.1, 0.1, 0.065, 0.0),
        _bent("leg_{}_{}_joint", ("left", "right"), {"3": -0.41, "4": 0.86, "5": -0.45})
        | {"arm_left_2_joint": 0.25, "arm_right_2_joint": -0.25}
        | {"arm_left_4_joint": -0.5, "arm_right_4_joint": -0.5},
    ),
    "romeo": Description(
        ("l_ankle", "r_ankle"),
        _rectangle(-0.05, 0.1, 0.05, -0.07),
        _bent("{}{}Pitch", ("L", "R"), {"Hip": -0.45, "Knee": 0.85, "Ankle": -0.4}),
    ),
}
"""Name of the model -> description. Talos: corners as the paper's code has them for it; Romeo: as
in the paper."""

PERIOD = 0.04
STEP_LENGTH, LIFT = 0.12, 0.04
"""Of a foot against the other; of the swinging foot [m]."""
STAND, SINGLE, DOUBLE = 0.8, 0.8, 0.24
"""Durations: before the first and after the last step, on one foot, between two steps [s]."""
REACH = 4.0
"""How far ahead and back the pendulum looks at the load; e^-12 of a time constant is left [s]."""


def walk(
    path: Path | None,
    periods: int | None = None,
    ground: Ground | None = None,
    late: float = 0.0,
) -> Motion:
    """Two steps and back to standing; torques held over 40 ms.

    Args:
        path: of a URDF whose model HUMANOIDS describes; None: Talos as installed.
        periods: the first so many; None: all.
        late: how much later than at the start of a period the plan begins [s].

    Raises:
        StudyError: the robot is missing or not described.
    """
    robot, about = _robot(path, ground)
    gait = Gait(robot, about)
    steps = round(gait.duration / PERIOD) if periods is None else periods
    plan = sample(
        robot,
        lambda t: gait.configuration(t - late),
        lambda t: gait.load(t - late),
        PERIOD,
        steps,
    )
    controller = WholeBody(robot, plan, kp=30.0, kd=9.0)
    q = plan.q[0].copy()
    q[2] -= depth_at_rest(robot, len(robot.points))
    return planned("walk", robot, plan, controller, q, PERIOD)


def _robot(path: Path | None, ground: Ground | None) -> tuple[Robot, Description]:
    for name, about in HUMANOIDS.items():
        if name != ("talos" if path is None else _name(path)):
            continue
        corners = [np.array(p) for p in about.corners]
        return biped(path, dict.fromkeys(about.soles, corners), ground), about
    raise StudyError(f"{path}: its robot is none of {', '.join(HUMANOIDS)}")


def _name(path: Path) -> str:
    try:
        return str(pin.buildModelFromUrdf(str(path)).name)
    except (ValueError, RuntimeError) as error:
        raise StudyError(f"{path}: {error}") from None


class Gait:
    """Feet in turn, left first; the base above what the pendulum makes of the load's path."""

    def __init__(self, robot: Robot, about: Description) -> None:
        self.robot, self.about = robot, about
        self.model, self.data = robot.model, robot.model.createData()
        self.legs = [self._chain(frame) for frame in about.soles]
        q = self._posture()
        self.placement = [self._sole(q, i) for i in range(2)]
        down = float(robot.positions(q)[:, 2].mean())
        for sole in self.placement:
            sole.translation[2] -= down
        q[2] -= down
        self.start = q
        self.duration = 2.0 * STAND + 2.0 * SINGLE + DOUBLE
        self._pendulum()

    def configuration(self, t: float) -> Floats:
        """Base over the pendulum, level; legs by Newton's method on their soles."""
        q = self.start.copy()
        q[:2] = self.start[:2] + self.base(t) - self.base(0.0)
        for leg in range(2):
            target = self.placement[leg].copy()
            x, z = self.foot(leg, t)
            target.translation += [x, 0.0, z]
            self._reach(q, leg, target)
        return q

    def foot(self, leg: int, t: float) -> tuple[float, float]:
        """Forward and up against its first place [m]; at rest where it lands."""
        share = np.clip((t - self._lift_off(leg)) / SINGLE, 0.0, 1.0)
        forward = STEP_LENGTH * share**3 * (10.0 - 15.0 * share + 6.0 * share**2)
        return float(forward), float(LIFT * 64.0 * (share * (1.0 - share)) ** 3)

    def load(self, t: float) -> Floats:
        """Share of each corner; it goes over smoothly while both feet are down."""
        right = self._share(t)
        weights = np.repeat([1.0 - right, right], len(self.about.corners))
        return np.where(weights > 1e-9, weights, 0.0)

    def base(self, t: float) -> Floats:
        """x and y of the pendulum's mass [m]."""
        return np.array([np.interp(t, self._times, c) for c in self._mass])

    @staticmethod
    def _lift_off(leg: int) -> float:
        return STAND + leg * (SINGLE + DOUBLE)

    def _share(self, t: float) -> float:
        """Of the load on the right foot: one half, all, none, one half."""
        first, second = self._lift_off(0), self._lift_off(1)
        times = [first - DOUBLE, first, first + SINGLE, second, second + SINGLE]
        times.append(times[-1] + DOUBLE)
        shares = [0.5, 1.0, 1.0, 0.0, 0.0, 0.5]
        return float(np.interp(t, times, shares))

    def _pendulum(self) -> None:
        """c - (z / g) c'' = p, p the centre of the load, in differences over a grid.

        Its bounded solution is p under the kernel r^|j| (1 - r) / (1 + r), r the smaller root of
        (z / g / step^2) (1 - r)^2 = r.
        """
        step = DIFFERENCE  # so that the differences of `sample` are those of the grid
        ahead = round(REACH / step)
        self._times = step * np.arange(-2 * ahead, round(self.duration / step) + 2 * ahead + 1)
        height = float(pin.centerOfMass(self.model, self.data, self.start)[2])
        ratio = height / 9.81 / step**2
        r = 1.0 + (1.0 - np.sqrt(1.0 + 4.0 * ratio)) / (2.0 * ratio)
        kernel = r ** np.abs(np.arange(-ahead, ahead + 1))
        kernel /= kernel.sum()
        loads = np.array([self._centre(t) for t in self._times])
        self._mass = [np.convolve(p, kernel, "same") for p in loads.T]

    def _centre(self, t: float) -> Floats:
        right = self._share(t)
        centres = [
            self.placement[leg].translation[:2] + [self.foot(leg, t)[0], 0.0] for leg in range(2)
        ]
        return np.asarray((1.0 - right) * centres[0] + right * centres[1])

    def _posture(self) -> Floats:
        """Bent knees; the mass above the middle of the soles."""
        q = pin.neutral(self.model)
        for joint, angle in self.about.bend.items():
            q[self.model.idx_qs[self.model.getJointId(joint)]] = angle
        mass = pin.centerOfMass(self.model, self.data, q)[:2].copy()
        soles = [self._sole(q, leg) for leg in range(2)]
        middle = 0.5 * (soles[0].translation + soles[1].translation)[:2]
        for leg, sole in enumerate(soles):
            sole.rotation = np.eye(3)
            sole.translation[:2] += mass - middle
            self._reach(q, leg, sole)
        return np.asarray(q)

    def _sole(self, q: Floats, leg: int) -> Any:
        pin.framesForwardKinematics(self.model, self.data, q)
        return self.data.oMf[self.model.getFrameId(self.about.soles[leg])].copy()

    def _chain(self, frame: str) -> list[int]:
        """Velocity columns of the joints between base and sole."""
        joint = self.model.frames[self.model.getFrameId(frame)].parentJoint
        columns = []
        while joint > 1:
            columns.append(self.model.idx_vs[joint])
            joint = self.model.parents[joint]
        return columns[::-1]

    def _reach(self, q: Floats, leg: int, target: Any) -> None:
        """Newton's method on six joints, in place."""
        frame = self.model.getFrameId(self.about.soles[leg])
        for _ in range(50):
            pin.framesForwardKinematics(self.model, self.data, q)
            placement = self.data.oMf[frame]
            error = pin.log6(placement.actInv(target)).vector
            if np.abs(error).max() < 1e-13:
                return
            J = pin.computeFrameJacobian(self.model, self.data, q, frame, pin.LOCAL)
            step = np.zeros(self.model.nv)
            step[self.legs[leg]] = np.linalg.lstsq(J[:, self.legs[leg]], error, rcond=1e-9)[0]
            q[:] = pin.integrate(self.model, q, step)
        if np.abs(error).max() > 1e-9:
            raise StudyError(f"{self.about.soles[leg]} cannot reach {target.translation}")
