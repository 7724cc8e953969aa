"""Meshes that are missing, open, or far from their convex hull."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import ConvexMesh, StictionError, TriangleMesh, load_mesh
from ..visuals import _find
from .case import Case
from .finding import Finding
from .urdf_lines import MeshUse, UrdfLines

__all__ = ["check_mjcf_meshes", "check_urdf_meshes", "open_meshes"]

FULL = 1.2
"""Hull over mesh volume up to which a hull is as good as the mesh."""
FIX = 'collision_meshes="decompose" or "exact" keeps the hollows; or let simple shapes stand for it'


def check_urdf_meshes(
    file: str, urdf: UrdfLines, package_dirs: Sequence[str | Path]
) -> Iterator[Finding]:
    """Files that are not there: each of collision, the first of what is only seen."""
    missing = [mesh for mesh in urdf.meshes if not _is_there(file, mesh, package_dirs)]
    for mesh in missing:
        if mesh.purpose == "collision":
            text = f"link '{mesh.link}': collision mesh '{mesh.uri}' is missing"
            yield Finding("error", "mesh", text, _remedy(mesh), file, mesh.line)
    seen = [mesh for mesh in missing if mesh.purpose != "collision"]
    if seen:
        text = f"link '{seen[0].link}': visual mesh '{seen[0].uri}' is missing"
        if len(seen) > 1:
            text += f", as are {len(seen) - 1} more"
        text += ": the shapes of collision are drawn"
        number = float(len(seen))
        yield Finding("note", "mesh", text, _remedy(seen[0]), file, seen[0].line, number)


def _is_there(file: str, mesh: MeshUse, package_dirs: Sequence[str | Path]) -> bool:
    try:
        _find(mesh.uri, Path(file).resolve().parent, [str(p) for p in package_dirs])
    except ValueError:
        return False
    return True


def _remedy(mesh: MeshUse) -> str:
    if not mesh.uri.startswith(("package://", "model://")):
        return "correct its path"
    package = mesh.uri.partition("://")[2].partition("/")[0]
    return f"--package-dir FOLDER, where FOLDER holds the package '{package}'"


def open_meshes(
    file: str, urdf: UrdfLines, package_dirs: Sequence[str | Path]
) -> Iterator[Finding]:
    """Of a URDF: collision meshes that are no closed surface."""
    closed: dict[str, bool] = {}
    for mesh in urdf.meshes:
        if mesh.purpose != "collision":
            continue
        if mesh.uri not in closed:
            closed[mesh.uri] = _file_is_closed(file, mesh, package_dirs)
        if not closed[mesh.uri]:
            name = mesh.uri.rpartition("/")[2]
            text = f"link '{mesh.link}': collision mesh '{name}' is not a closed surface"
            fix = "close its holes; the hull that stands for it by default does not need it"
            yield Finding("note", "mesh", text, fix, file, mesh.line)


def _file_is_closed(file: str, mesh: MeshUse, package_dirs: Sequence[str | Path]) -> bool:
    """True of one that cannot be read, which the loader says."""
    try:
        path = _find(mesh.uri, Path(file).resolve().parent, [str(p) for p in package_dirs])
        vertices, triangles = load_mesh(str(path))
    except (StictionError, ValueError):
        return True
    return is_closed(vertices, triangles)


def is_closed(vertices: NDArray[np.float64], triangles: NDArray[Any]) -> bool:
    """Whether each edge has one triangle on either side, as exact meshes are judged; vertices at
    one place are one."""
    _, number = np.unique(vertices, axis=0, return_inverse=True)
    corners = number.reshape(-1)[np.asarray(triangles, dtype=np.int64)]
    a, b, c = corners.T
    solid = corners[(a != b) & (b != c) & (c != a)]
    first, last = solid.ravel(), np.roll(solid, -1, axis=1).ravel()
    forth, back = first * len(vertices) + last, last * len(vertices) + first
    once = len(np.unique(forth)) == len(forth)
    return bool(len(forth) > 0 and once and np.array_equal(np.sort(forth), np.sort(back)))


def check_mjcf_meshes(case: Case) -> Iterator[Finding]:
    """Of geoms that collide: MuJoCo takes their hulls too."""
    assert case.mjcf is not None
    source = case.mjcf._source
    m, names, said = source.model, source.names("geom"), set()
    for geometry in case.scene.geometries:
        if geometry.shape.type != "convex_mesh" or geometry.name not in names:
            continue
        g = names.index(geometry.name)
        mesh = int(m.geom_dataid[g])
        if mesh in said:
            continue
        said.add(mesh)
        yield from _of_mesh(case, g, mesh)


def _of_mesh(case: Case, g: int, mesh: int) -> Iterator[Finding]:
    assert case.mjcf is not None
    source = case.mjcf._source
    m = source.model
    first, count = int(m.mesh_vertadr[mesh]), int(m.mesh_vertnum[mesh])
    vertices = np.array(m.mesh_vert[first : first + count], dtype=float)
    first, count = int(m.mesh_faceadr[mesh]), int(m.mesh_facenum[mesh])
    faces = np.array(m.mesh_face[first : first + count], dtype=np.int32)
    file, line = source.place("geom", g)
    head = f"geom '{source.name('geom', g)}': its mesh"
    if not is_closed(vertices, faces):
        fix = "close its holes; MuJoCo and stiction collide with its hull all the same"
        yield Finding("note", "mesh", f"{head} is not a closed surface", fix, file, line)
        return
    try:
        surface, hull = TriangleMesh(vertices, faces, True), ConvexMesh(vertices)
    except ValueError:  # flat, or too small: the hull is all that there is
        return
    ratio = float(hull.volume or 0.0) / abs(float(surface.volume or np.inf))
    if ratio > FULL:
        text = f"{head} is replaced by its convex hull, hull volume / mesh volume = {ratio:.3g}"
        fix = "several geoms of convex parts: stiction.decompose makes them"
        yield Finding("warning", "hull", text, fix, file, line, ratio)
