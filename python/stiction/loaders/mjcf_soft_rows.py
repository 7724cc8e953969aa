"""Rows that pull softly beside the contacts: welds to mocap bodies and limits of tendons.

MuJoCo's law. A row with error r, speed J v and impedance d asks for

    a* = -b J v - k d r,   k = 1 / (dmax tau zeta)^2,   b = 2 / (dmax tau)

and all of them together take the forces that (J M^-1 J' + R) f = a* - J a_0 holds for, a_0 the
acceleration without them and R = (1 - d) / d times the inverse weight of the row. A limit only
pushes; a weld to a mocap body pulls no harder than its largest force. Contacts, joint limits and
other equalities know of these forces in the step, and they nothing of those.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["SoftRows", "impedance", "stiff_and_damp"]

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


@dataclass
class SoftRows:
    """Some rows that belong together.

    Attributes:
        J: (n, nv).
        asked: (n,) a*.
        compliance: (n,) R.
        most: of the length of the first three forces and of the others [N, N m]; None: a limit,
            forces >= 0.
    """

    J: Floats
    asked: Floats
    compliance: Floats
    most: tuple[float, float] | None


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
            f[part] = _bounded(block, f[part])
        if np.max(np.abs(f - before)) <= 1e-10 * (1.0 + np.max(np.abs(f))):
            break
    return [f[part] for part in parts]


def _bounded(block: SoftRows, f: Floats) -> Floats:
    if block.most is None:
        return np.maximum(f, 0.0)
    out = f.copy()
    for part, most in ((slice(0, 3), block.most[0]), (slice(3, 6), block.most[1])):
        length = float(np.linalg.norm(f[part]))
        if length > most:
            out[part] *= most / length
    return out
