"""Rows that pull softly beside the contacts: soft welds, limits of tendons and balls, dry friction
of tendons and free joints, servos on tendons, couplings of joints that are no gears.

MuJoCo's law. A row with error r, speed J v and impedance d asks for

    a* = -b J v - k d r,   k = 1 / (dmax tau zeta)^2,   b = 2 / (dmax tau)

and all of them together take the forces that (J M^-1 J' + R) f = a* - J a_0 holds for, a_0 the
acceleration without them and R = (1 - d) / d times the inverse weight of the row. A limit only
pushes; a weld to a mocap body pulls no harder than its largest force; friction is between two
forces. A servo F - kp l - kd v, taken implicitly at the end of a step, is a row too, with

    R = 1 / (dt kd + dt^2 kp),   a* = R (F - kp (l + dt v) - kd v)

Contacts, joint limits and other equalities know of these forces in the step, and they nothing of
those.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "SoftRows",
    "at_most",
    "between",
    "impedance",
    "pushes",
    "row",
    "servo",
    "solve",
    "stiff_and_damp",
]

Floats = NDArray[np.float64]
SWEEPS = 100
"""Of projected Gauss-Seidel at most."""


def impedance(solimp: Floats, size: float) -> float:
    """d of MuJoCo's solimp at an error of this size [m or rad]."""
    least, most, width, middle, power = (float(x) for x in solimp)
    least, most = (min(max(x, 1e-4), 0.9999) for x in (least, most))
    middle, power = min(max(middle, 1e-4), 0.9999), max(1.0, power)
    if least == most or width <= 1e-15:
        return 0.5 * (least + most)
    x = abs(size) / width
    if x >= 1.0:
        return most
    if power == 1.0:
        y = x
    elif x <= middle:
        y = x**power / middle ** (power - 1.0)
    else:
        y = 1.0 - (1.0 - x) ** power / (1.0 - middle) ** (power - 1.0)
    return least + y * (most - least)


def stiff_and_damp(solref: Floats, solimp: Floats, dt: float) -> tuple[float, float]:
    """k [1/s^2] and b [1/s] of MuJoCo's solref, whose time constant is at least 2 dt."""
    most = min(max(float(solimp[1]), 1e-4), 0.9999)
    if solref[0] <= 0.0:
        return -float(solref[0]) / most**2, -float(solref[1]) / most
    tau, zeta = max(float(solref[0]), 2.0 * dt), float(solref[1])
    return 1.0 / (most * tau * zeta) ** 2, 2.0 / (most * tau)


Bound = Callable[[Floats], Floats]
"""The nearest forces that rows may have."""


def pushes(f: Floats) -> Floats:
    """Of a limit."""
    return np.maximum(f, 0.0)


def between(low: float, high: float) -> Bound:
    """Of each force."""
    return lambda f: np.clip(f, low, high)


def at_most(force: float, turn: float) -> Bound:
    """Of the length of the first three forces and of the other three [N, N m]."""

    def bounded(f: Floats) -> Floats:
        out = f.copy()
        for part, most in ((slice(0, 3), force), (slice(3, 6), turn)):
            length = math.sqrt(f[part] @ f[part])
            if length > most:
                out[part] *= most / length
        return out

    return bounded


@dataclass
class SoftRows:
    """Some rows that belong together.

    Attributes:
        J: (n, nv).
        asked: (n,) a*.
        compliance: (n,) R.
        bound: of the forces (n,).
    """

    J: Floats
    asked: Floats
    compliance: Floats
    bound: Bound


def row(
    J: Floats, v: Floats, error: float, solref: Floats, solimp: Floats, inverse: float, dt: float
) -> tuple[Floats, Floats, Floats]:
    """J, a* and R of one row (1, nv) by MuJoCo's law; inverse weight [1/kg or 1/(kg m^2)]."""
    d = impedance(solimp, error)
    k, b = stiff_and_damp(solref, solimp, dt)
    return J, -b * (J @ v) - k * d * error, np.array([(1.0 - d) / d * inverse])


def servo(
    arms: Floats, length: float, v: Floats, given: tuple[float, float, float], dt: float
) -> tuple[Floats, Floats, Floats]:
    """J, a* and R of a servo on `arms` (nv,): force at zero [N], kp, kd."""
    force, kp, kd = given
    R = 1.0 / (dt * kd + dt**2 * kp)
    speed = float(arms @ v)
    asked = R * (force - kp * (length + dt * speed) - kd * speed)
    return arms[None, :], np.array([asked]), np.array([R])


def solve(blocks: list[SoftRows], mass: Floats, free: Floats) -> list[Floats]:
    """Forces of each block; mass (nv, nv), free acceleration (nv,)."""
    J = np.vstack([block.J for block in blocks])
    A = J @ np.linalg.solve(mass, J.T)
    A[np.diag_indices(len(A))] += np.concatenate([block.compliance for block in blocks]) + 1e-14
    rest = np.concatenate([block.asked for block in blocks]) - J @ free
    starts = np.cumsum([0] + [len(block.asked) for block in blocks])
    parts = [slice(a, b) for a, b in itertools.pairwise(starts)]
    own = [np.linalg.inv(A[part, part]) for part in parts]
    f = np.zeros(len(rest))
    for _ in range(SWEEPS):
        before = f.copy()
        for block, part, inverse in zip(blocks, parts, own, strict=True):
            f[part] += inverse @ (rest[part] - A[part] @ f)
            f[part] = block.bound(f[part])
        if np.max(np.abs(f - before)) <= 1e-10 * (1.0 + np.max(np.abs(f))):
            break
    return [f[part] for part in parts]
