"""Sensors of the limits of joints and tendons, and of the actuators of a tendon.

MuJoCo reads the first row of a limit that acts, the lower one first, and 0 where none does: how far
inside of its margin it is (negative), the speed at which it opens, and its force.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .mjcf_kinematics import rotation_vector
from .mjcf_trees import BALL, HINGE, SLIDE

if TYPE_CHECKING:
    from .mjcf_sensors import Reading

__all__ = ["LIMIT_READERS", "OF_LIMITS_OF_LAST_STEP", "tendon_arms"]

Floats = NDArray[np.float64]
Row = tuple[float, float]
"""Distance past the margin, negative, and speed."""


def _acting(low: float, high: float, margin: float, length: float, speed: float) -> Iterator[Row]:
    for sign, limit in ((1.0, low), (-1.0, high)):
        gap = sign * (length - limit) - margin
        if gap < 0.0:
            yield gap, sign * speed


def _joint_rows(r: Reading, j: int) -> Iterator[Row]:
    m = r.source.model
    dof, first = int(m.jnt_dofadr[j]), int(m.jnt_qposadr[j])
    if not m.jnt_limited[j] or r.source.disabled("limit") or r.source.disabled("constraint"):
        return
    low, high = (float(x) for x in m.jnt_range[j])
    margin = float(m.jnt_margin[j])
    if m.jnt_type[j] in (SLIDE, HINGE):
        yield from _acting(low, high, margin, float(r.qpos[first]), float(r.v[dof]))
    elif m.jnt_type[j] == BALL:
        turn = rotation_vector(r.qpos[first : first + 4])
        angle = float(np.linalg.norm(turn))
        gap = max(low, high) - angle - margin
        if gap < 0.0:
            yield gap, -float(turn @ r.v[dof : dof + 3]) / angle


def _tendon_rows(r: Reading, t: int) -> Iterator[Row]:
    m = r.source.model
    if not m.tendon_limited[t] or r.source.disabled("limit") or r.source.disabled("constraint"):
        return
    low, high = (float(x) for x in m.tendon_range[t])
    arms = tendon_arms(r, t)
    yield from _acting(low, high, float(m.tendon_margin[t]), float(arms @ r.q), float(arms @ r.v))


def tendon_arms(r: Reading, t: int) -> Floats:
    """(nv,) of a fixed tendon."""
    m = r.source.model
    arms = np.zeros(len(r.v))
    for w in range(int(m.tendon_adr[t]), int(m.tendon_adr[t] + m.tendon_num[t])):
        arms[m.jnt_dofadr[m.wrap_objid[w]]] += float(m.wrap_prm[w])
    return arms


def _of(rows: Any, number: int) -> Any:
    def read(r: Reading, s: int) -> Floats:
        row = next(rows(r, int(r.source.model.sensor_objid[s])), (0.0, 0.0))
        return np.array([row[number]])

    return read


def _joint_force(r: Reading, s: int) -> Floats:
    j = int(r.source.model.sensor_objid[s])
    return np.array([r.limits.joints.get(int(r.source.model.jnt_dofadr[j]), 0.0)])


def _tendon_force(r: Reading, s: int) -> Floats:
    return np.array([r.limits.tendons.get(int(r.source.model.sensor_objid[s]), 0.0)])


def _tendon_actuators(r: Reading, s: int) -> Floats:
    m, names = r.source.model, r.source.names("actuator")
    tendon = int(m.sensor_objid[s])
    total = 0.0
    for i in range(int(m.nactuator)):
        pulls = r.source.is_one_of(m.actuator_trntype[i], "mjtTrn", ["mjTRN_TENDON"])
        if pulls and int(m.actuator_trnid[i, 0]) == tendon:
            total += r.forces.get(names[i], 0.0)
    return np.array([total])


LIMIT_READERS = {
    "JOINTLIMITPOS": _of(_joint_rows, 0),
    "JOINTLIMITVEL": _of(_joint_rows, 1),
    "JOINTLIMITFRC": _joint_force,
    "TENDONLIMITPOS": _of(_tendon_rows, 0),
    "TENDONLIMITVEL": _of(_tendon_rows, 1),
    "TENDONLIMITFRC": _tendon_force,
    "TENDONACTFRC": _tendon_actuators,
}
OF_LIMITS_OF_LAST_STEP = ("JOINTLIMITFRC", "TENDONLIMITFRC")
