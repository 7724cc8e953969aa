"""What a robot looks like: the visual meshes of its URDF as replay geometries.

Pinocchio reads the file and places the visuals on the moving joints; Coal reads the meshes. Both
come with the package, so a vendored robot is drawn offline. A mesh that is too fine for a page is
thinned, one that cannot be read is left out with a warning in the package's log.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import NDArray

from .replay import ReplayGeometry

__all__ = ["mesh_triangles", "robot_visuals", "thin_mesh"]

MAX_TRIANGLES = 6000
"""Per mesh of a replay; finer ones are thinned."""
_log = logging.getLogger("stiction")


def robot_visuals(
    model: pinocchio.Model, urdf: Path, package_dirs: Sequence[str] = ()
) -> dict[int, list[ReplayGeometry]]:
    """Visual geometries by Pinocchio joint (0: the world), placed in the joint's frame [m].

    Args:
        model: of the same file, so that its joints and placements are those of the simulation.
        urdf: the robot's file; meshes are looked for beside it and in its parent folders.
        package_dirs: more folders in which `package://` addresses are looked for.

    Returns an empty dictionary if the file or its meshes cannot be read; the log says why.
    """
    folders = [*package_dirs, *(str(parent) for parent in list(urdf.resolve().parents)[:5])]
    try:
        visuals = pinocchio.buildGeomFromUrdf(
            model, str(urdf), pinocchio.GeometryType.VISUAL, package_dirs=folders
        )
    except (ValueError, RuntimeError) as error:
        _log.warning(
            "%s: its visuals cannot be read (%s); collision shapes are drawn", urdf.name, error
        )
        return {}
    found: dict[int, list[ReplayGeometry]] = {}
    for item in visuals.geometryObjects:
        geometry = _geometry(item)
        if geometry is None:
            _log.warning("%s: visual %s is no mesh or simple shape; left out", urdf.name, item.name)
        else:
            found.setdefault(int(item.parentJoint), []).append(geometry)
    return found


def _geometry(item: Any) -> ReplayGeometry | None:
    """One Pinocchio geometry object as a replay geometry."""
    common: dict[str, Any] = {"placement": _pose(item.placement), "color": _color(item)}
    shape = item.geometry
    kind = type(shape).__name__
    if kind.startswith(("BVHModel", "Convex")):
        vertices, triangles = thin_mesh(*mesh_triangles(shape), MAX_TRIANGLES)
        return ReplayGeometry("mesh", vertices=vertices, triangles=triangles, **common)
    if kind == "Sphere":
        return ReplayGeometry("sphere", (shape.radius,), **common)
    if kind == "Cylinder":
        return ReplayGeometry("cylinder", (shape.radius, shape.halfLength), **common)
    if kind == "Capsule":
        return ReplayGeometry("capsule", (shape.radius, shape.halfLength), **common)
    if kind == "Cone":
        return ReplayGeometry("cone", (shape.radius, shape.halfLength), **common)
    if kind == "Ellipsoid":
        return ReplayGeometry("ellipsoid", tuple(float(x) for x in shape.radii), **common)
    if kind == "Box":
        return ReplayGeometry("box", tuple(float(x) for x in shape.halfSide), **common)
    return None


def mesh_triangles(mesh: Any) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Vertices (n, 3) [m] and triangles (m, 3) of a Coal mesh or convex hull."""
    if hasattr(mesh, "tri_indices"):
        triangles = [mesh.tri_indices(i) for i in range(mesh.num_tris)]
        vertices = np.asarray(mesh.vertices(), dtype=np.float64)
    else:
        triangles = [mesh.polygons(i) for i in range(mesh.num_polygons)]
        vertices = np.asarray(mesh.points(), dtype=np.float64)
    corners = [[int(t[0]), int(t[1]), int(t[2])] for t in triangles]
    return vertices.reshape(-1, 3).copy(), np.asarray(corners, dtype=np.int64).reshape(-1, 3)


def thin_mesh(
    vertices: NDArray[np.float64], triangles: NDArray[np.int64], limit: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """The mesh with at most `limit` triangles: vertices in one cell of a grid become their mean.

    Triangles that lose a corner vanish, so the surface stays closed where it was; the grid is
    refined to the finest that meets the limit (to 10 %).
    """
    vertices, triangles = _cluster(vertices, triangles, 0.0)
    if len(triangles) <= limit:
        return vertices, triangles
    extent = float(np.max(np.ptp(vertices, axis=0)))
    coarse, fine = extent, extent * 1e-4
    best = _cluster(vertices, triangles, coarse)
    while coarse > 1.1 * fine:
        cell = float(np.sqrt(coarse * fine))
        candidate = _cluster(vertices, triangles, cell)
        if len(candidate[1]) <= limit:
            coarse, best = cell, candidate
        else:
            fine = cell
    return best


def _cluster(
    vertices: NDArray[np.float64], triangles: NDArray[np.int64], cell: float
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Merge the vertices of each grid cell of that size [m] (0: equal vertices)."""
    keys = np.floor(vertices / cell).astype(np.int64) if cell > 0 else vertices
    _, member = np.unique(keys, axis=0, return_inverse=True)
    member = member.reshape(-1)
    count = int(member.max(initial=-1)) + 1
    sums = np.stack([np.bincount(member, vertices[:, k], count) for k in range(3)], axis=1)
    merged = sums / np.maximum(np.bincount(member, minlength=count), 1)[:, None]
    corners = member[triangles]
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    return merged, corners[(a != b) & (b != c) & (c != a)]


def _pose(placement: Any) -> NDArray[np.float64]:
    """(7,) x y z [m] qx qy qz qw."""
    return np.asarray(pinocchio.SE3ToXYZQUAT(placement), dtype=np.float64)


def _color(item: Any) -> list[float]:
    color = [float(min(max(x, 0.0), 1.0)) for x in np.asarray(item.meshColor).ravel()]
    return color if len(color) == 4 else [0.78, 0.8, 0.83, 1.0]
