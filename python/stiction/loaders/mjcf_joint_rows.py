"""Ranges of ball joints and dry friction of free joints, by MuJoCo's law, see mjcf_soft_rows."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from .mjcf_kinematics import rotation, rotation_vector
from .mjcf_soft_rows import SoftRows, between, pushes, row
from .mjcf_source import Source
from .mjcf_trees import BALL, FREE

__all__ = ["JointRows"]

Floats = NDArray[np.float64]


class JointRows:
    """Of a file."""

    def __init__(self, source: Source) -> None:
        m = self._m = source.model
        kinds, whole = np.array(m.jnt_type), not source.disabled("constraint")
        limited = (kinds == BALL) & np.array(m.jnt_limited, dtype=bool)
        limits = whole and not source.disabled("limit")
        self.balls = [int(j) for j in np.flatnonzero(limited & limits)]
        of_free = (kinds == FREE)[m.dof_jntid] & (np.array(m.dof_frictionloss) > 0)
        rubs = whole and not source.disabled("frictionloss")
        self.rubbed = [int(d) for d in np.flatnonzero(of_free & rubs)]

    def rows(self, qpos: Floats, v: Floats, dt: float) -> Iterator[SoftRows]:
        """At MuJoCo's positions; v (nv,) stiction's. One row each."""
        for j in self.balls:
            found = self._limit(j, qpos, v, dt)
            if found is not None:
                yield found
        for d in self.rubbed:
            yield self._friction(d, qpos, v, dt)

    def _limit(self, j: int, qpos: Floats, v: Floats, dt: float) -> SoftRows | None:
        m, adr, dof = self._m, int(self._m.jnt_qposadr[j]), int(self._m.jnt_dofadr[j])
        turn = rotation_vector(qpos[adr : adr + 4])
        angle = float(np.linalg.norm(turn))
        inside = float(np.max(m.jnt_range[j])) - angle - float(m.jnt_margin[j])
        if inside >= 0.0 or angle == 0.0:
            return None
        J = np.zeros((1, len(v)))
        J[0, dof : dof + 3] = -turn / angle
        inverse = float(m.dof_invweight0[dof])
        law = np.array(m.jnt_solref[j]), np.array(m.jnt_solimp[j]), inverse
        return SoftRows(*row(J, v, inside, *law, dt), pushes)

    def _friction(self, d: int, qpos: Floats, v: Floats, dt: float) -> SoftRows:
        """Along the axes of the world, about those of the body."""
        m, j = self._m, int(self._m.dof_jntid[d])
        adr, dof = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
        J = np.zeros((1, len(v)))
        if d < dof + 3:
            J[0, dof : dof + 3] = rotation(qpos[adr + 3 : adr + 7])[d - dof]
        else:
            J[0, d] = 1.0
        most = float(m.dof_frictionloss[d])
        inverse = float(m.dof_invweight0[d])
        law = np.array(m.dof_solref[d]), np.array(m.dof_solimp[d]), inverse
        return SoftRows(*row(J, v, 0.0, *law, dt), between(-most, most))
