"""Forces of joints that no parameter of a scene has: springs of ball and free joints, higher orders
of springs and dampers, weights that are carried.

    spring  -(a x + b x^2 + c x^3)     damper  -(a v + b v |v| + c v^3)

a of hinges and slides, and a of every damper, are parameters of the scene, implicit in the step,
and so is b |v| + c v^2 of its start, but for the translation of free joints; the rest is of its
start. x of a ball is the vector of the turn from where its spring rests, of which b and c take the
length.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._stiction import SceneMotion
from .mjcf_kinematics import cross, rotation, rotation_vector
from .mjcf_source import Source, pose
from .mjcf_trees import BALL, FREE, Place

__all__ = ["JointForces"]

Floats = NDArray[np.float64]


class JointForces:
    """Of a file.

    Attributes:
        springs, damped: joints, and dofs, that have such.
        carried: scene body, centre of mass in it [m], carried mass [kg].
    """

    def __init__(self, source: Source, places: list[Place]) -> None:
        m = self._m = source.model
        kinds, springs = np.array(m.jnt_type), not source.disabled("spring")
        whole = (kinds == BALL) | (kinds == FREE)
        linear, higher = np.array(m.jnt_stiffness) != 0, np.any(m.jnt_stiffnesspoly != 0, axis=1)
        self.springs = [int(j) for j in np.flatnonzero((higher | (linear & whole)) & springs)]
        damped = np.any(m.dof_dampingpoly != 0, axis=1) & (not source.disabled("damper"))
        self.damped = [int(d) for d in np.flatnonzero(damped)]
        self._in_world = [d for d in self.damped if self._translates(d)]
        self._own = np.array([d for d in self.damped if not self._translates(d)], dtype=np.intp)
        self.carried = []
        for b in np.flatnonzero(m.body_gravcomp):
            if places[b].body >= 0 and m.body_mass[b] > 0:
                centre = (places[b].X * pose(m.body_ipos[b], m.body_iquat[b])).translation
                mass = float(m.body_mass[b] * m.body_gravcomp[b])
                self.carried.append((places[b].body, centre, mass))

    def torque(self, qpos: Floats, v: Floats) -> Floats:
        """(nv,) of springs and dampers at MuJoCo's positions; v (nv,) stiction's."""
        m, total = self._m, np.zeros(len(v))
        for d in self._in_world:
            b, c = (float(x) for x in m.dof_dampingpoly[d])
            axis = self._axis(d, qpos, len(v))
            speed = float(axis @ v)
            total -= axis * (b * speed * abs(speed) + c * speed**3)
        for j in self.springs:
            self._pull(total, j, qpos)
        return total

    def dampers(self, v: Floats) -> tuple[NDArray[np.intp], Floats]:
        """Dofs, and what their coefficients of damping grow by at these velocities."""
        speed = np.abs(v[self._own])
        b, c = np.array(self._m.dof_dampingpoly)[self._own].T
        return self._own, b * speed + c * speed**2

    def _translates(self, d: int) -> bool:
        j = int(self._m.dof_jntid[d])
        return bool(self._m.jnt_type[j] == FREE and d < self._m.jnt_dofadr[j] + 3)

    def _axis(self, d: int, qpos: Floats, nv: int) -> Floats:
        """MuJoCo's dof d in stiction's: a free joint moves along the axes of the world there, along
        those of the body here."""
        m, j, axis = self._m, int(self._m.dof_jntid[d]), np.zeros(nv)
        adr, dof = int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
        if m.jnt_type[j] == FREE and d < dof + 3:
            axis[dof : dof + 3] = rotation(qpos[adr + 3 : adr + 7])[d - dof]
        else:
            axis[d] = 1.0
        return axis

    def _pull(self, total: Floats, j: int, qpos: Floats) -> None:
        m, adr, dof = self._m, int(self._m.jnt_qposadr[j]), int(self._m.jnt_dofadr[j])
        if m.jnt_type[j] == FREE:
            R = rotation(qpos[adr + 3 : adr + 7])
            x = qpos[adr : adr + 3] - m.qpos_spring[adr : adr + 3]
            total[dof : dof + 3] -= R.T @ (self._stiffness(j, x) * x)
            adr, dof = adr + 3, dof + 3
        if m.jnt_type[j] in (FREE, BALL):
            x = rotation_vector(_turn(np.array(m.qpos_spring[adr : adr + 4]), qpos[adr : adr + 4]))
            total[dof : dof + 3] -= self._stiffness(j, x) * x
            return
        x = qpos[adr : adr + 1] - m.qpos_spring[adr]
        b, c = (float(k) for k in m.jnt_stiffnesspoly[j])
        total[dof] -= float(b * x[0] ** 2 + c * x[0] ** 3)

    def _stiffness(self, j: int, x: Floats) -> float:
        """a + b |x| + c |x|^2."""
        b, c = (float(k) for k in self._m.jnt_stiffnesspoly[j])
        size = float(np.linalg.norm(x))
        return float(self._m.jnt_stiffness[j]) + b * size + c * size**2

    def weights(self, found: dict[int, Floats], motion: SceneMotion, gravity: Floats) -> None:
        """Adds what carries bodies, by scene body: force and moment about its origin."""
        for body, centre, mass in self.carried:
            up, arm = -mass * gravity, motion.pose(body).rotation @ centre
            wrench = np.concatenate([up, cross(arm, up)])
            found[body] = found.get(body, 0.0) + wrench


def _turn(start: Floats, end: Floats) -> Floats:
    """Quaternion conj(start) end, w x y z."""
    a, p = start[0], -start[1:]
    b, q = end[0], end[1:]
    return np.concatenate([[a * b - p @ q], a * q + b * p + cross(p, q)])
