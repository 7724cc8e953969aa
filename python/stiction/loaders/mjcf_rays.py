"""What a ray from a body meets first, as MuJoCo's range finders see it: every geom that is not
transparent, whether it collides or not, but those of the body itself; meshes as their triangles.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio
from numpy.typing import NDArray

from .. import _stiction
from .._stiction import Scene, Shape
from .mjcf_geometry import FIELD, MESH, PLANE, shape_of
from .mjcf_kinematics import Motion, rotation
from .mjcf_site_volume import ray_interval
from .mjcf_source import Source

__all__ = ["Sight"]

Floats = NDArray[np.float64]
LEAST = 1e-15
"""MuJoCo's mjMINVAL: a ray that sinks more slowly misses a plane."""


class Sight:
    """Geoms around a body, seen by `first_hit` from outside and, but for height fields, inside."""

    def __init__(self, source: Source, body: int) -> None:
        self._m, self._scene = source.model, Scene()
        m = source.model
        self._planes: list[int] = []
        self._solids: list[int] = []  # whose rays from inside have a closed form
        self._seen: list[int] = []  # geom of each geometry of the scene
        for g in range(int(m.ngeom)):
            if int(m.geom_bodyid[g]) == body or not _is_visible(m, g):
                continue
            kind = int(m.geom_type[g])
            if kind == PLANE:
                self._planes.append(g)
                continue
            if kind not in (MESH, FIELD):
                self._solids.append(g)
            for shape in _shapes(source, g):
                self._scene.add_geometry(f"{len(self._seen)}", -1, shape)
                self._seen.append(g)
        self._state = _stiction.make_state(self._scene, [])

    def first_hit(self, origin: Floats, direction: Floats, motions: list[Motion]) -> float:
        """Distance [m] along a unit direction, world axes; -1: nothing is there."""
        poses = {g: self._pose(g, motions) for g in {*self._seen, *self._planes}}
        for i, g in enumerate(self._seen):
            self._scene.parameters.set_geometry_placement(i, pinocchio.SE3(*poses[g]))
        hits = _stiction.ray_cast(self._scene, self._state, origin[None], direction[None])
        nearest = float(hits.distances[0])
        for g in self._planes:
            nearest = min(nearest, self._of_plane(g, *_in_axes(poses[g], origin, direction)))
        for g in self._solids:
            nearest = min(nearest, self._from_inside(g, *_in_axes(poses[g], origin, direction)))
        return nearest if np.isfinite(nearest) else -1.0

    def _pose(self, g: int, motions: list[Motion]) -> tuple[Floats, Floats]:
        """Axes and position."""
        m = self._m
        at = motions[m.geom_bodyid[g]].at(
            np.array(m.geom_pos[g]), rotation(np.array(m.geom_quat[g]))
        )
        return at.R, at.p

    def _of_plane(self, g: int, o: Floats, d: Floats) -> float:
        """From its front; a size of 0 is none."""
        if d[2] > -LEAST or o[2] < 0.0:
            return np.inf
        t = -o[2] / d[2]
        for k in (0, 1):
            size = float(self._m.geom_size[g, k])
            if size > 0.0 and abs(o[k] + t * d[k]) > size:
                return np.inf
        return float(t)

    def _from_inside(self, g: int, o: Floats, d: Floats) -> float:
        """Where the ray leaves the solid that it starts in."""
        if float(o @ o) > float(self._m.geom_rbound[g]) ** 2:
            return np.inf
        enter, leave = ray_interval(int(self._m.geom_type[g]), np.array(self._m.geom_size[g]), o, d)
        return leave if enter < 0.0 <= leave else np.inf


def _is_visible(m: Any, g: int) -> bool:
    material = int(m.geom_matid[g])
    return bool((m.geom_rgba[g, 3] if material < 0 else m.mat_rgba[material, 3]) != 0)


def _shapes(source: Source, g: int) -> list[Shape]:
    """One, of a mesh both of its sides; none of what has no shape here."""
    m = source.model
    if int(m.geom_type[g]) != MESH:
        try:
            return [shape_of(source, g)]
        except ValueError:
            return []
    mesh = int(m.geom_dataid[g])
    first, count = int(m.mesh_vertadr[mesh]), int(m.mesh_vertnum[mesh])
    vertices = np.array(m.mesh_vert[first : first + count], dtype=np.float64)
    first, count = int(m.mesh_faceadr[mesh]), int(m.mesh_facenum[mesh])
    faces = np.array(m.mesh_face[first : first + count], dtype=np.int32)
    return [
        _stiction.TriangleMesh(vertices, side, drop_degenerate=True)
        for side in (faces, faces[:, ::-1])
    ]


def _in_axes(pose: tuple[Floats, Floats], o: Floats, d: Floats) -> tuple[Floats, Floats]:
    R, p = pose
    return R.T @ (o - p), R.T @ d
