"""What a robot looks like: the visual shapes of its URDF as replay geometries.

Pinocchio places the visuals on the moving joints; the meshes are read by `stiction.load_mesh`, as
those for collision are. A mesh too fine for a page is thinned. What cannot be read is left out,
with one warning in the package's log, and a body left bare is drawn by its collision shapes.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast
from xml.dom import expatbuilder
from xml.dom.minidom import Document, Element
from xml.parsers.expat import ExpatError

import numpy as np
import pinocchio
from numpy.typing import NDArray

from ._stiction import StictionError, load_mesh
from .npz_file import read_bytes
from .replay import ReplayGeometry, Shape

__all__ = ["robot_visuals", "thin_mesh"]

MAX_TRIANGLES = 6000
"""Per mesh of a replay; finer ones are thinned."""
PLAIN = (0.78, 0.8, 0.83, 1.0)
"""Of a visual whose URDF names no colour."""
_log = logging.getLogger("stiction")


@dataclass(frozen=True)
class _Mesh:
    """A mesh element of a URDF: its address and its factors, one per axis."""

    uri: str
    scale: tuple[float, ...]


def robot_visuals(
    model: pinocchio.Model, urdf: Path, package_dirs: Sequence[str] = (), thin: bool = True
) -> dict[int, list[ReplayGeometry]]:
    """Visual geometries by Pinocchio joint (0: the world), placed in the joint's frame [m].

    Args:
        model: of the same file, so that its joints and placements are those of the simulation.
        urdf: the robot's file; meshes are looked for beside it and in its parent folders.
        package_dirs: more folders in which `package://` addresses are looked for.
        thin: meshes as fine as a page can draw; False: as they are.

    Returns an empty dictionary if the file cannot be read; the log says why.
    """
    try:
        text, meshes = _without_meshes(urdf)
        visuals = pinocchio.buildGeomFromUrdfString(model, text, pinocchio.GeometryType.VISUAL)
    except (OSError, ExpatError, ValueError, RuntimeError) as error:
        _log.warning(
            "%s: its visuals cannot be read (%s); collision shapes are drawn", urdf.name, error
        )
        return {}
    found: dict[int, list[ReplayGeometry]] = {}
    refused: dict[str, None] = {}  # a set that keeps the order
    read: dict[_Mesh, ReplayGeometry] = {}
    for item in visuals.geometryObjects:
        try:
            mesh = meshes.get(item.name)
            if mesh is not None and mesh not in read:
                read[mesh] = _load(mesh, urdf, package_dirs, thin)
            shape = read[mesh] if mesh is not None else _primitive(item.name, item.geometry)
        except (StictionError, ValueError) as error:
            refused[str(error)] = None
            continue
        shape = replace(shape, placement=_pose(item.placement), color=_color(item))
        found.setdefault(int(item.parentJoint), []).append(shape)
    if refused:
        more = f" (and {len(refused) - 1} more)" if len(refused) > 1 else ""
        _log.warning(
            "%s: visuals are not drawn, collision shapes stand for bodies that have no other: %s%s",
            urdf.name,
            next(iter(refused)),
            more,
        )
    return found


def _without_meshes(urdf: Path) -> tuple[str, dict[str, _Mesh]]:
    """The file with a unit box for each visual mesh; the meshes by Pinocchio's name of the visual.

    Pinocchio would read them with a library that joins the parts of a mesh of several materials
    wrongly, and that a broken file can bring down.
    """
    # Without namespaces: prefixes that nothing declares are common.
    document: Document = expatbuilder.parseString(read_bytes(urdf), namespaces=False)
    meshes: dict[str, _Mesh] = {}
    for link in document.getElementsByTagName("link"):
        for index, visual in enumerate(_children(link, "visual")):
            for geometry in _children(visual, "geometry"):
                for mesh in _children(geometry, "mesh"):
                    scale = tuple(float(x) for x in (mesh.getAttribute("scale") or "1 1 1").split())
                    name = f"{link.getAttribute('name')}_{index}"
                    meshes[name] = _Mesh(mesh.getAttribute("filename"), scale)
                    box = document.createElement("box")
                    box.setAttribute("size", "1 1 1")
                    geometry.replaceChild(box, mesh)
    return document.toxml(), meshes


def _children(parent: Element, tag: str) -> list[Element]:
    """Its own children of that tag."""
    return [x for x in parent.childNodes if isinstance(x, Element) and x.tagName == tag]


def _load(mesh: _Mesh, urdf: Path, package_dirs: Sequence[str], thin: bool) -> ReplayGeometry:
    """The mesh, thinned if asked for; a solid's triangles counter-clockwise from outside, mirrored
    or not."""
    path = _find(mesh.uri, urdf.resolve().parent, package_dirs)
    vertices, triangles = load_mesh(str(path), np.array(mesh.scale))
    corners = np.asarray(triangles, dtype=np.int64)
    if thin:
        vertices, corners = thin_mesh(vertices, corners, MAX_TRIANGLES)
    a, b, c = ((vertices - vertices.mean(axis=0))[corners[:, k]] for k in range(3))
    inside_out = float(np.einsum("ij,ij", a, np.cross(b, c))) < 0  # six times the volume
    return ReplayGeometry(
        "mesh", vertices=vertices, triangles=corners[:, ::-1] if inside_out else corners
    )


def _find(uri: str, folder: Path, package_dirs: Sequence[str]) -> Path:
    """The file of a mesh's address, looked for where the loader of collision meshes does.

    Raises ValueError: there is none.
    """
    scheme, has_scheme, rest = uri.rpartition("://")
    candidates: list[Path] = []
    if scheme in ("package", "model"):
        package, _, inside = rest.partition("/")
        ros = os.environ.get("ROS_PACKAGE_PATH", "").split(":")
        ament = os.environ.get("AMENT_PREFIX_PATH", "").split(":")
        places = [*map(Path, package_dirs), folder, *folder.parents]
        places += [*(Path(x) for x in ros if x), *(Path(x) / "share" for x in ament if x)]
        for place in places:
            # `inside` may start with a slash, which must not leave the folder.
            candidates.append(place / package / inside.lstrip("/"))
            if place.name == package:
                candidates.append(place / inside.lstrip("/"))
    elif not has_scheme or scheme == "file":
        candidates = [place / rest for place in (folder, *map(Path, package_dirs))]
    found = next((path for path in candidates if os.path.isfile(path)), None)
    if found is None:
        raise ValueError(f"there is no file {uri!r}")
    return found


def _primitive(name: str, shape: Any) -> ReplayGeometry:
    """A simple shape of Coal's.

    Raises ValueError: its sizes are not positive, or it is of another kind.
    """
    kind = type(shape).__name__
    size: tuple[float, ...]
    if kind == "Sphere":
        size = (shape.radius,)
    elif kind in ("Cylinder", "Capsule", "Cone"):
        size = (shape.radius, shape.halfLength)
    elif kind == "Ellipsoid":
        size = tuple(float(x) for x in shape.radii)
    elif kind == "Box":
        size = tuple(float(x) for x in shape.halfSide)
    else:
        raise ValueError(f"visual {name} is no mesh or simple shape")
    if not all(0 < x < np.inf for x in size):
        raise ValueError(f"visual {name} is a {kind.lower()} of sizes {size}")
    return ReplayGeometry(cast(Shape, kind.lower()), size)


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


def _color(item: Any) -> tuple[float, ...]:
    """Red, green, blue, opacity of the URDF's material."""
    given = np.asarray(item.meshColor, dtype=np.float64).ravel()
    if not item.overrideMaterial or len(given) != 4 or not np.all(np.isfinite(given)):
        return PLAIN
    return tuple(float(x) for x in np.clip(given, 0.0, 1.0))
