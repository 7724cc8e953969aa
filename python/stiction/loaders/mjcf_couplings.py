"""Equalities of joints and fixed tendons that no gear of a scene can say: polynomials, and sums of
more than two joints. They follow MuJoCo's law, see mjcf_soft_rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .mjcf_soft_rows import SoftRows, row
from .mjcf_source import Source

__all__ = ["SoftCoupling", "soft_coupling"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SoftCoupling:
    """x = a0 + a1 y + a2 y^2 + ..., x and y lengths less those at the start.

    Attributes:
        arms: (2, nv) of the lengths.
        start: (2,) lengths at the start.
        polynomial: (5,) a.
    """

    arms: Floats
    start: Floats
    polynomial: Floats
    inverse_weight: float
    solref: Floats
    solimp: Floats

    def rows(self, q: Floats, v: Floats, dt: float) -> SoftRows:
        """At positions of dofs (nv,). One row."""
        x, y = self.arms @ q - self.start
        powers = y ** np.arange(5.0)
        slope = float(self.polynomial[1:] @ (np.arange(1.0, 5.0) * powers[:4]))
        J = (self.arms[0] - slope * self.arms[1])[None, :]
        error = float(x - self.polynomial @ powers)
        law = self.solref, self.solimp, self.inverse_weight
        return SoftRows(*row(J, v, error, *law, dt), lambda f: f)


def soft_coupling(source: Source, k: int) -> SoftCoupling | None:
    """Of equality k; None: it is none of joints or of fixed tendons."""
    m = source.model
    of_joints = source.is_one_of(m.eq_type[k], "mjtEq", ["mjEQ_JOINT"])
    if not (of_joints or source.is_one_of(m.eq_type[k], "mjtEq", ["mjEQ_TENDON"])):
        return None
    arms, start, inverse = np.zeros((2, int(m.nv))), np.zeros(2), 0.0
    for side, given in enumerate((int(m.eq_obj1id[k]), int(m.eq_obj2id[k]))):
        if given < 0:
            continue
        if of_joints:
            dof = int(m.jnt_dofadr[given])
            arms[side, dof], start[side] = 1.0, float(m.qpos0[m.jnt_qposadr[given]])
            inverse += float(m.dof_invweight0[dof])
            continue
        if not source.is_one_of(m.tendon_type[given], "mjtTendon", ["mjTENDON_FIXED"]):
            return None
        for w in range(int(m.tendon_adr[given]), int(m.tendon_adr[given] + m.tendon_num[given])):
            arms[side, m.jnt_dofadr[m.wrap_objid[w]]] += float(m.wrap_prm[w])
        start[side] = float(m.tendon_length0[given])
        inverse += float(m.tendon_invweight0[given])
    return SoftCoupling(
        arms,
        start,
        np.array(m.eq_data[k, :5]),
        inverse,
        np.array(m.eq_solref[k]),
        np.array(m.eq_solimp[k]),
    )
