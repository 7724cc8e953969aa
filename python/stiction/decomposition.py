"""Convex parts of a surface, by CoACD (Wei et al. 2022), an optional dependency.

A mesh as it is (`TriangleMesh`) is exact but slower to collide with than a few convex shapes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._stiction import ConvexMesh, Shape, StictionError, TriangleMesh

__all__ = ["decompose", "decompose_points"]


def decompose(
    vertices: ArrayLike,
    triangles: ArrayLike,
    *,
    threshold: float = 0.05,
    max_parts: int | None = None,
    seed: int = 0,
) -> list[Shape]:
    """Convex meshes that together are about the solid inside of a surface.

    Args:
        vertices: (n, 3) [m].
        triangles: (m, 3) vertex numbers, counter-clockwise from outside.
        threshold: concavity that is tolerated, as a share of the size of the mesh, in [0.01, 1].
        max_parts: at most so many parts; None: as many as the threshold needs.
        seed: of the search.

    Raises:
        StictionError: the package coacd is not installed, or gives no parts.
        ValueError: a bad mesh (see TriangleMesh), one that lies in a plane, which has no inside, or
            an argument out of range.
    """
    parts = decompose_points(
        vertices, triangles, threshold=threshold, max_parts=max_parts, seed=seed
    )
    return [ConvexMesh(points) for points in parts]


def decompose_points(
    vertices: ArrayLike,
    triangles: ArrayLike,
    *,
    threshold: float = 0.05,
    max_parts: int | None = None,
    seed: int = 0,
) -> list[NDArray[np.float64]]:
    """The same as point clouds (k, 3) [m], one per part."""
    if not 0.01 <= threshold <= 1.0:
        raise ValueError(f"decompose: threshold = {threshold} must be in [0.01, 1]")
    if max_parts is not None and max_parts < 1:
        raise ValueError(f"decompose: max_parts = {max_parts} must be >= 1")
    surface = TriangleMesh(vertices, triangles, drop_degenerate=True)
    try:
        ConvexMesh(np.asarray(surface.vertices))
    except ValueError as error:
        raise ValueError(f"decompose: the surface has no inside: {error}") from None
    coacd = _coacd()
    coacd.set_log_level("error")
    found = coacd.run_coacd(
        coacd.Mesh(surface.vertices, surface.triangles),
        threshold=threshold,
        max_convex_hull=-1 if max_parts is None else max_parts,
        seed=seed,
    )
    parts = [np.asarray(points, dtype=np.float64) for points, _ in found]
    if not parts:
        raise StictionError("decompose: coacd found no convex parts of the mesh")
    return parts


def _coacd() -> Any:
    try:
        import coacd
    except ImportError:
        raise StictionError(
            "decompose: needs the package coacd: pip install coacd, or stiction with the extra "
            '[decompose]; collision_meshes="exact" and "hull" work without it'
        ) from None
    return coacd
