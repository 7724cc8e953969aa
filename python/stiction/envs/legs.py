"""Where the feet of many worlds are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._stiction import Scene, pinocchio_model
from ..observations import in_body

__all__ = ["FootPoints", "in_world", "up_in_body"]

Floats = NDArray[np.float64]


def up_in_body(q: Floats) -> Floats:
    """(N, 3) the world's z axis in the frame of a floating base, from q (N, nq)."""
    return in_body(q, np.array([0.0, 0.0, 1.0]))


def in_world(q: Floats, p: Floats) -> Floats:
    """(N, n, 3) vectors in the frame of a floating base, in the world's axes; q (N, nq)."""
    r, w = q[:, None, 3:6], q[:, None, 6:7]
    turned = 2.0 * np.cross(r, p)
    return np.asarray(p + w * turned + np.cross(r, turned))


class FootPoints:
    """Lowest points of spherical feet at the ends of chains of revolute joints.

    Args:
        scene: of one robot with a floating base.
        feet: names of the geometries.

    Attributes:
        radii: (feet,) [m].
    """

    def __init__(self, scene: Scene, feet: list[str]) -> None:
        model = pinocchio_model(scene, 0)
        parameters = scene.parameters
        self._chains = []
        radii = []
        for foot in feet:
            geometry = scene.geometry(foot)
            joint = scene.geometries[geometry].body + 1  # Pinocchio counts the universe
            chain = []
            while joint > 1:
                axis = np.array([0.0, 0.0, 0.0])
                name = model.joints[joint].shortname()
                axis["XYZ".index(name[-1])] = 1.0  # JointModelRX, RY, RZ
                place = model.jointPlacements[joint]
                chain.append((model.joints[joint].idx_q, axis, place.rotation, place.translation))
                joint = model.parents[joint]
            placement = parameters.geometry_placement(geometry)
            radius = parameters.geometry_size[geometry][0]
            self._chains.append((np.array(placement.translation), chain))
            radii.append(radius)
        self.radii = np.array(radii)

    def centres(self, q: Floats) -> Floats:
        """(N, feet, 3) in the frame of the base [m]."""
        out = np.empty((len(q), len(self._chains), 3))
        for k, (point, chain) in enumerate(self._chains):
            p = np.broadcast_to(point, (len(q), 3))
            for index, axis, rotation, translation in chain:
                c, s = np.cos(q[:, index])[:, None], np.sin(q[:, index])[:, None]
                along = p @ axis
                p = c * p + s * np.cross(axis, p) + ((1.0 - c[:, 0]) * along)[:, None] * axis
                p = p @ rotation.T + translation
            out[:, k] = p
        return out

    def heights(self, q: Floats, up: Floats) -> Floats:
        """(N, feet) of the lowest points above z = 0 [m], `up` from up_in_body()."""
        return np.asarray(q[:, 2:3] + np.einsum("ij,ikj->ik", up, self.centres(q)) - self.radii)
