"""Open-loop gaits as servo targets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._stiction import Scene

__all__ = ["Trot", "trot_targets"]

Floats = NDArray[np.float64]

UPPER = LOWER = 0.16  # lengths of a leg's two links [m]
SIDEWAYS = 0.014 + 0.03745 + 0.008  # of the foot from the hip's axis of abduction [m]
LEGS = {"FL": (1, 1), "FR": (1, -1), "HL": (-1, 1), "HR": (-1, -1)}
"""Leg -> (front 1 or hind -1, left 1 or right -1)."""
JOINTS = ("HAA", "HFE", "KFE")


def _check(name: str, value: float, least: float = -np.inf, strict: bool = False) -> None:
    low = value <= least if strict else value < least
    if low or not np.isfinite(value):
        bound = "" if least == -np.inf else f" and {'>' if strict else '>='} {least:g}"
        raise ValueError(f"{name} = {value!r}: must be finite{bound}")


@dataclass(frozen=True)
class Trot:
    """A trot: diagonal legs swing together, for half a period each.

    Attributes:
        period: of a full cycle [s], > 0.
        stride: length of a step [m], negative: backwards; two steps a period are the speed.
        lift: height of the swinging foot [m].
        height: of the hips above the centres of the feet [m].
        start: time of standing before the first step [s]; the stride then grows over as long.
    """

    period: float = 0.4
    stride: float = 0.06
    lift: float = 0.04
    height: float = 0.223
    start: float = 0.5

    def __post_init__(self) -> None:
        """Raises ValueError naming the field and its value."""
        for name in ("period", "height"):
            _check(f"Trot: {name}", getattr(self, name), least=0.0, strict=True)
        for name in ("lift", "start"):
            _check(f"Trot: {name}", getattr(self, name), least=0.0)
        _check("Trot: stride", self.stride)

    @property
    def speed(self) -> float:
        """Commanded speed of the base along x [m/s]."""
        return 2.0 * self.stride / self.period

    def foot(self, time: Floats, phase: float) -> tuple[Floats, Floats]:
        """x and z of a foot relative to its hip [m], (T,) each, base axes.

        On the ground the foot moves back at constant speed; in the air x follows half a cosine and
        z a squared sine, so that it lifts off and lands at rest against the hip.
        """
        walked = np.maximum(time - self.start, 0.0)
        scale = np.minimum(walked / self.start, 1.0) if self.start > 0.0 else np.ones_like(time)
        cycle = np.mod(walked / self.period + phase, 1.0)
        swing = cycle >= 0.5
        share = np.where(swing, 2.0 * cycle - 1.0, 2.0 * cycle)
        x = np.where(swing, -0.5 * np.cos(np.pi * share), 0.5 - share)
        z = np.where(swing, np.sin(np.pi * share) ** 2, 0.0)
        return self.stride * scale * x, self.lift * scale * z - self.height


def solo12_leg_angles(x: Floats, y: Floats, z: Floats, front: int, left: int) -> Floats:
    """Abduction, hip and knee of a Solo-12 leg with the foot at (x, y, z) from its hip [rad].

    The foot's centre, in axes of the base from the point where the abduction axis leaves it. Knees
    point to the body's middle, as in its standing posture. Out of reach, the leg is stretched.

    Returns:
        (T, 3) angles.
    """
    out = left * y  # mirrored to a left leg
    down = np.sqrt(np.maximum(out**2 + z**2 - SIDEWAYS**2, 0.0))
    abduction = np.arctan2(out, -z) - np.arctan2(SIDEWAYS, down)
    cosine = (x**2 + down**2 - UPPER**2 - LOWER**2) / (2.0 * UPPER * LOWER)
    knee = -front * np.arccos(np.clip(cosine, -1.0, 1.0))
    hip = np.arctan2(-x, down) - 0.5 * knee
    return np.stack([left * abduction, hip, knee], axis=1)


def trot_targets(
    scene: Scene, duration: float, dt: float = 1e-3, gait: Trot | None = None
) -> Floats:
    """Servo targets of a trotting Solo-12, for `Simulator.rollout(position_targets=...)`.

        scene = stiction.load("solo12-trot")
        log = stiction.Simulator(scene).rollout(state, position_targets=trot_targets(scene, 10.0))

    Args:
        scene: holds a Solo-12 by the name of its joints.
        duration: [s].
        dt: time step of the simulator [s].
        gait: default Trot().

    Returns:
        (T, nv) targets [rad], zero for dofs that are no joint of a leg.

    Raises:
        ValueError: a number is out of range, or the scene lacks a joint; the message names it.
    """
    _check("trot_targets: duration", duration, least=0.0, strict=True)
    _check("trot_targets: dt", dt, least=0.0, strict=True)
    gait = gait or Trot()
    time = np.asarray(dt * np.arange(1, round(duration / dt) + 1))
    targets = np.zeros((len(time), scene.nv))
    for leg, (front, left) in LEGS.items():
        x, z = gait.foot(time, 0.0 if front == left else 0.5)
        y = np.full_like(x, left * SIDEWAYS)
        angles = solo12_leg_angles(x, y, z, front, left)
        for k, joint in enumerate(JOINTS):
            targets[:, scene.dof(f"{leg}_{joint}")] = angles[:, k]
    return targets
