"""Measured tosses of a cube: reading, free flight, first impact, and what is compared.

A toss is (T, 13), a row per 1/148 s: position of the centre [m], world, z up; quaternion x y z w,
body to world; linear velocity, world [m/s]; angular velocity, body [rad/s]. Its velocities are
differences of smoothed poses and are not used: the flight is fitted to the poses.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stiction.pages.experiment import StudyError

Floats = NDArray[np.float64]

RATE = 148.0
"""Frames per second."""
SIDE, MASS, INERTIA = 0.1048, 0.37, 0.00081
"""Of the cube, as published [m, kg, kg m²]."""
GRAVITY = 9.81
CLEARANCE = 0.004
"""[m] Frames with the lowest corner this far above the board are free flight: the smoothing of the
poses reaches about one frame, in which a corner falls by 7 mm."""
MOST_FRAMES, LEAST_FRAMES = 8, 4
"""Frames of free flight that are fitted."""
WINDOWS = (0.05, 0.1, 0.2)
"""[s] after the first impact."""
IMPACT_FRAMES = 3
"""After so many frames (20 ms) the first impact counts as over."""


@dataclass(frozen=True)
class Toss:
    """One toss as it is predicted and judged.

    Attributes:
        poses: (F, 7) measured, from the last frame of free flight on.
        q: (7,) fitted position and quaternion x y z w at that frame.
        v: (6,) fitted linear velocity, world [m/s], and angular velocity, body [rad/s].
        impact: frames from there until the fitted flight touches the board.
        residual: root mean square of the fit: position [m], rotation [rad].
    """

    name: str
    poses: Floats
    q: Floats
    v: Floats
    impact: float
    residual: tuple[float, float]

    @property
    def frames(self) -> list[int]:
        """Where `WINDOWS` end."""
        return [round(self.impact + RATE * window) for window in WINDOWS]

    @property
    def after_impact(self) -> int:
        """The frame at which energy is compared."""
        return int(np.ceil(self.impact)) + IMPACT_FRAMES


def read_tosses(path: Path) -> dict[str, Floats]:
    """Name -> (T, 13).

    Raises:
        StudyError: the file is missing or is not of this format.
    """
    try:
        with np.load(path) as file:
            arrays = {name: np.asarray(file[name], dtype=float) for name in sorted(file.files)}
    except (OSError, ValueError, AttributeError, TypeError) as error:
        raise StudyError(f"{path}: no tosses can be read: {error}") from error
    for name, rows in arrays.items():
        if rows.ndim != 2 or rows.shape[1] != 13 or not np.isfinite(rows).all():
            raise StudyError(
                f"{path}: toss {name!r} has shape {rows.shape}: must be (T, 13), finite"
            )
        norms = np.linalg.norm(rows[:, 3:7], axis=1)
        if np.abs(norms - 1.0).max() > 1e-3:
            raise StudyError(f"{path}: toss {name!r}: quaternions must have length 1")
    if not arrays:
        raise StudyError(f"{path}: holds no tosses")
    return arrays


def board_height(arrays: dict[str, Floats]) -> float:
    """Where the face lies on which the cube rests at the end [m]; the median."""
    return float(np.median([rows[-1, 2] for rows in arrays.values()])) - 0.5 * SIDE


def fit_toss(name: str, rows: Floats, board: float) -> Toss | None:
    """The free flight before the first impact, fitted; None where it is too short or no flight."""
    gap = lowest(rows[:, :7]) - board
    count = int(np.argmax(gap < CLEARANCE))  # frames before the first contact
    if count < LEAST_FRAMES:
        return None
    start = count - 1
    used = np.arange(max(0, count - MOST_FRAMES), count)
    q, v, residual = fit_flight(rows[used, :7], (used - start) / RATE)
    impact = _impact_frame(q, v, board)
    if impact is None:
        return None
    toss = Toss(name, rows[start:, :7], q, v, impact, residual)
    return toss if toss.frames[-1] + 1 < len(toss.poses) else None


def fit_flight(poses: Floats, time: Floats) -> tuple[Floats, Floats, tuple[float, float]]:
    """Pose, velocity at time 0 of the ballistic flight nearest to `poses`, and the residuals.

    p = p₀ + v t + ½ g t², linear in p₀, v; R = R₀ exp(ω t) with constant ω in the body, exact as
    the inertia is isotropic. R₀ exp(δ) exp(ω t) is fitted by linear least squares for δ and ω,
    R₀ updated twice.
    """
    columns = np.stack([np.ones_like(time), time], axis=1)
    fallen = poses[:, :3] + 0.5 * GRAVITY * time[:, None] ** 2 * np.array([0.0, 0.0, 1.0])
    p, v = np.linalg.lstsq(columns, fallen, rcond=None)[0]
    centre = poses[-1, 3:7]
    omega = np.zeros(3)
    for _ in range(3):
        flown = multiply(centre, exponential(omega * time[:, None]))
        left = logarithm(multiply(conjugate(flown), poses[:, 3:7]))
        delta, change = np.linalg.lstsq(columns, left, rcond=None)[0]
        centre, omega = multiply(centre, exponential(delta)), omega + change
    flown = multiply(centre, exponential(omega * time[:, None]))
    turn = rotation_error(flown, poses[:, 3:7])
    shift = np.linalg.norm(columns @ np.stack([p, v]) - fallen, axis=1)
    residual = float(np.sqrt(np.mean(shift**2))), float(np.sqrt(np.mean(turn**2)))
    return np.concatenate([p, centre]), np.concatenate([v, omega]), residual


def flight(q: Floats, v: Floats, time: Floats) -> Floats:
    """Poses (n, 7) of the free flight."""
    p = q[:3] + v[:3] * time[:, None]
    p[:, 2] -= 0.5 * GRAVITY * time**2
    return np.concatenate([p, multiply(q[3:], exponential(v[3:] * time[:, None]))], axis=1)


def _impact_frame(q: Floats, v: Floats, board: float) -> float | None:
    """When the lowest corner reaches the board, by linear interpolation on 1/100 frames."""
    frames = np.arange(0.0, 5.0, 0.01)
    gap = lowest(flight(q, v, frames / RATE)) - board
    k = int(np.argmax(gap <= 0.0))
    if k == 0:
        return None
    return float(frames[k - 1] + 0.01 * gap[k - 1] / (gap[k - 1] - gap[k]))


def lowest(poses: Floats) -> Any:
    """Height of the lowest corner: z - h Σ |R_zi|, h half the side [m]."""
    x, y, z, w = np.moveaxis(poses[..., 3:7], -1, 0)
    up = np.abs(2 * (x * z - y * w)) + np.abs(2 * (y * z + x * w)) + np.abs(1 - 2 * (x * x + y * y))
    return poses[..., 2] - 0.5 * SIDE * up


def energy(poses: Floats, frame: int) -> float:
    """Kinetic and potential energy at a frame, by central differences of the poses [J]."""
    before, after = poses[frame - 1], poses[frame + 1]
    v = 0.5 * RATE * (after[:3] - before[:3])
    omega = 0.5 * RATE * logarithm(multiply(conjugate(before[3:]), after[3:]))
    return mechanical_energy(poses[frame, 2], v, omega)


def mechanical_energy(height: float, v: Floats, omega: Floats) -> float:
    """[J]"""
    return float(0.5 * MASS * v @ v + 0.5 * INERTIA * omega @ omega + MASS * GRAVITY * height)


def energy_lost(toss: Toss, poses: Floats) -> float:
    """Share of the kinetic energy before the first impact that `poses` lose in it."""
    flown = flight(toss.q, toss.v, np.array([toss.impact / RATE]))[0]
    v = toss.v[:3] - np.array([0.0, 0.0, GRAVITY * toss.impact / RATE])
    before = mechanical_energy(flown[2], v, toss.v[3:])
    kinetic = before - MASS * GRAVITY * flown[2]
    return (before - energy(poses, toss.after_impact)) / float(kinetic)


# --- quaternions x y z w ------------------------------------------------------------------------


def multiply(a: Floats, b: Floats) -> Floats:
    """Product of quaternions, broadcast."""
    x, y, z, w = np.moveaxis(a, -1, 0)
    X, Y, Z, W = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            w * X + x * W + y * Z - z * Y,
            w * Y - x * Z + y * W + z * X,
            w * Z + x * Y - y * X + z * W,
            w * W - x * X - y * Y - z * Z,
        ],
        axis=-1,
    )


def conjugate(a: Floats) -> Floats:
    """The inverse of a unit quaternion."""
    inverse: Floats = a * np.array([-1.0, -1.0, -1.0, 1.0])
    return inverse


def exponential(turn: Floats) -> Floats:
    """Quaternion of a rotation vector [rad]."""
    angle = np.linalg.norm(turn, axis=-1, keepdims=True)
    return np.concatenate(
        [0.5 * turn * np.sinc(angle / (2.0 * np.pi)), np.cos(0.5 * angle)], axis=-1
    )


def logarithm(a: Floats) -> Floats:
    """Rotation vector of a quaternion, shorter than π [rad]."""
    a = np.where(a[..., 3:] < 0.0, -a, a)
    sine = np.linalg.norm(a[..., :3], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, a[..., 3:])
    turn: Floats = a[..., :3] * np.where(sine > 1e-9, angle / np.maximum(sine, 1e-9), 2.0)
    return turn


def rotation_error(a: Floats, b: Floats) -> Floats:
    """Angle between orientations [rad]."""
    turn: Floats = np.linalg.norm(logarithm(multiply(conjugate(a), b)), axis=-1)
    return turn


def usable(arrays: dict[str, Floats], board: float) -> tuple[list[Toss], list[str]]:
    """The tosses with a fitted flight, and the names of the others."""
    fitted = {name: fit_toss(name, rows, board) for name, rows in arrays.items()}
    left_out = [name for name, toss in fitted.items() if toss is None]
    return [toss for toss in fitted.values() if toss is not None], left_out
