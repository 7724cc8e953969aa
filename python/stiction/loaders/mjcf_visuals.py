"""What an MJCF file looks like: its geoms as replay geometries, whether they collide or not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import pinocchio
from numpy.typing import NDArray

from .. import _stiction
from .._stiction import Shape
from ..replay import ReplayGeometry
from ..replay import Shape as ReplayShape
from ..visuals import MAX_TRIANGLES, thin_mesh
from .mjcf_geometry import BOX, CAPSULE, CYLINDER, ELLIPSOID, FIELD, MESH, PLANE, SPHERE, shape_of
from .mjcf_mocap import carrier, within
from .mjcf_source import Source, pose
from .mjcf_trees import Place

__all__ = ["mjcf_visuals", "moving_visuals", "visual_shape"]

Floats = NDArray[np.float64]
Body = TypeVar("Body", int, int | str)
LAST_SHOWN_GROUP = 2
"""MuJoCo's viewer shows the geoms of groups 0 to 2 unless told otherwise."""
PLAIN = (0.5, 0.5, 0.5, 1.0)
"""Of a geom without a colour of its own, which then has its material's."""


def mjcf_visuals(source: Source, places: list[Place]) -> dict[int, list[ReplayGeometry]]:
    """Geoms to draw by scene body (-1: the world), placed in its frame [m]."""
    return _by_body(source, lambda b: (places[b].body, places[b].X))


def moving_visuals(source: Source, places: list[Place]) -> dict[int | str, list[ReplayGeometry]]:
    """The same, those on mocap bodies by the names of these, in their frames."""

    def carried(b: int) -> tuple[int | str, pinocchio.SE3]:
        on = carrier(source.model, b)
        if on < 0:
            return places[b].body, places[b].X
        return source.name("body", on), within(source.model, on, b)

    return _by_body(source, carried)


def _by_body(
    source: Source, place_of: Callable[[int], tuple[Body, pinocchio.SE3]]
) -> dict[Body, list[ReplayGeometry]]:
    """place_of: what a body of MuJoCo's is drawn with, and its pose in that."""
    m = source.model
    found: dict[Body, list[ReplayGeometry]] = {}
    for g in range(int(m.ngeom)):
        color = _color(m, g)
        shape = _shape(source, g) if m.geom_group[g] <= LAST_SHOWN_GROUP and color[3] > 0 else None
        if shape is None:
            continue
        body, X_B = place_of(int(m.geom_bodyid[g]))
        X: pinocchio.SE3 = X_B * pose(m.geom_pos[g], m.geom_quat[g])
        shape.placement = np.asarray(pinocchio.SE3ToXYZQUAT(X), dtype=np.float64)
        shape.color = color
        found.setdefault(body, []).append(shape)
    return found


def _color(m: Any, g: int) -> tuple[float, ...]:
    rgba = tuple(float(x) for x in m.geom_rgba[g])
    material = int(m.geom_matid[g])
    if material >= 0 and rgba == PLAIN:
        rgba = tuple(float(x) for x in m.mat_rgba[material])
    return tuple(float(x) for x in np.clip(rgba, 0.0, 1.0))


def _shape(source: Source, g: int) -> ReplayGeometry | None:
    """None for what has no drawing."""
    m, kind = source.model, int(source.model.geom_type[g])
    size = [float(x) for x in m.geom_size[g]]
    if kind == PLANE:
        return _plane(m, g)
    if kind == MESH:
        return _mesh(*_triangles(m, int(m.geom_dataid[g])))
    if kind == FIELD:
        field = shape_of(source, g)
        vertices, corners = field.vertices, field.triangles
        if vertices is None or corners is None:
            return None
        return _mesh(vertices, corners.astype(np.int64))
    names = {SPHERE: "sphere", CAPSULE: "capsule", CYLINDER: "cylinder"}
    names |= {ELLIPSOID: "ellipsoid", BOX: "box"}
    if kind not in names:
        return None
    count = {SPHERE: 1, CAPSULE: 2, CYLINDER: 2}.get(kind, 3)
    return ReplayGeometry(cast(ReplayShape, names[kind]), size[:count])


def _plane(m: Any, g: int) -> ReplayGeometry:
    """The ground if it is level and at rest, else a thin plate of the file's size."""
    half_x, half_y = (float(x) if x > 0 else 10.0 for x in m.geom_size[g, :2])
    if m.geom_quat[g, 0] ** 2 + m.geom_quat[g, 3] ** 2 > 1 - 1e-12 and m.geom_bodyid[g] == 0:
        return ReplayGeometry("plane", ())
    return ReplayGeometry("box", (half_x, half_y, 1e-3))


def _triangles(m: Any, mesh: int) -> tuple[Floats, NDArray[np.int64]]:
    first, count = int(m.mesh_vertadr[mesh]), int(m.mesh_vertnum[mesh])
    face, faces = int(m.mesh_faceadr[mesh]), int(m.mesh_facenum[mesh])
    vertices = np.array(m.mesh_vert[first : first + count], dtype=np.float64)
    return vertices, np.array(m.mesh_face[face : face + faces], dtype=np.int64)


def _mesh(vertices: Floats, corners: NDArray[np.int64]) -> ReplayGeometry:
    vertices, corners = thin_mesh(vertices, corners, MAX_TRIANGLES)
    return ReplayGeometry("mesh", vertices=vertices, triangles=corners)


def visual_shape(drawn: ReplayGeometry) -> Shape:
    """The shape that a scene keeps of what is drawn."""
    size = [float(x) for x in drawn.size]
    if drawn.shape == "plane":
        return _stiction.HalfSpace()
    if drawn.shape == "mesh":
        vertices, corners = np.asarray(drawn.vertices), np.asarray(drawn.triangles)
        return _stiction.TriangleMesh(vertices, corners, drop_degenerate=True)
    if drawn.shape == "sphere":
        return _stiction.Sphere(size[0])
    if drawn.shape == "capsule":
        return _stiction.Capsule(size[0], size[1])
    if drawn.shape == "cylinder":
        return _stiction.Cylinder(size[0], size[1])
    return _stiction.Ellipsoid(size) if drawn.shape == "ellipsoid" else _stiction.Box(size)
