"""Forces of a still or streaming medium on the inertia boxes of bodies.

MuJoCo's model: each body of mass m and principal moments I is a box with edges

    b_x = sqrt(6 (I_y + I_z - I_x) / m), ...

that feels, in the axes of the box and at its centre, with u its velocity less that of the wind,
w its turn and d the mean edge,

    f = -3 pi d viscosity u - rho/2 b_y b_z |u_x| u_x ...
    n = -pi d^3 viscosity w - rho/64 b_x (b_y^4 + b_z^4) |w_x| w_x ...
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._stiction import SceneMotion
from .mjcf_kinematics import cross
from .mjcf_source import Source, pose
from .mjcf_trees import Place

__all__ = ["Fluid"]

Floats = NDArray[np.float64]
LEAST = 1e-15
"""MuJoCo's mjMINVAL: of a mass [kg], and of a sum of moments [kg m^2]."""


class Fluid:
    """The medium of a file, and the boxes that move in it.

    Attributes:
        boxes: scene body, centre [m] and axes in it, edges [m].
    """

    def __init__(self, source: Source, places: list[Place]) -> None:
        m, opt = source.model, source.model.opt
        self.density, self.viscosity = float(opt.density), float(opt.viscosity)
        self.wind = np.array(opt.wind)
        self.boxes: list[tuple[int, Floats, Floats, Floats]] = []
        if not (self.density or self.viscosity) or source.disabled("damper"):
            return
        shaped = {int(b) for b in np.array(m.geom_bodyid)[np.array(m.geom_fluid)[:, 0] > 0]}
        for b in range(1, int(m.nbody)):
            if places[b].body < 0 or m.body_mass[b] < LEAST or b in shaped:
                continue
            X = places[b].X * pose(m.body_ipos[b], m.body_iquat[b])
            sums = np.sum(m.body_inertia[b]) - 2.0 * np.array(m.body_inertia[b])
            edges = np.sqrt(np.maximum(LEAST, sums) / m.body_mass[b] * 6.0)
            self.boxes.append((places[b].body, X.translation, X.rotation, edges))
        source.unused_of(
            "body",
            sorted(b for b in shaped if places[b].body >= 0),
            "fluidshape ellipsoid is not supported: the medium does not act on it",
        )

    def __bool__(self) -> bool:
        return bool(self.boxes)

    def wrenches(self, motion: SceneMotion) -> dict[int, Floats]:
        """(6,) force [N] and moment [N m] about its origin, world axes, by scene body."""
        found: dict[int, Floats] = {}
        for body, centre, turn, edges in self.boxes:
            velocity, X = motion.velocity(body), motion.pose(body)
            arm, R = X.rotation @ centre, X.rotation @ turn
            u = R.T @ (velocity[:3] + cross(velocity[3:], arm) - self.wind)
            w = R.T @ velocity[3:]
            force, moment = (R @ x for x in self.of_box(edges, u, w))
            wrench = np.concatenate([force, moment + cross(arm, force)])
            found[body] = found.get(body, 0.0) + wrench
        return found

    def of_box(self, b: Floats, u: Floats, w: Floats) -> tuple[Floats, Floats]:
        """Force and moment at the centre of a box with edges b, all (..., 3) in its axes."""
        mean, others = float(np.mean(b)), np.array((b[1] * b[2], b[2] * b[0], b[0] * b[1]))
        fourth = np.sum(b**4) - b**4
        force = -3.0 * np.pi * mean * self.viscosity * u
        force -= 0.5 * self.density * others * np.abs(u) * u
        moment = -np.pi * mean**3 * self.viscosity * w
        moment -= self.density / 64.0 * b * fourth * np.abs(w) * w
        return force, moment
