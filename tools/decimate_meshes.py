#!/usr/bin/env python3
"""Decimates meshes for drawing: STL or OBJ in, binary STL out.

    pip install fast-simplification trimesh
    python tools/decimate_meshes.py IN_FOLDER OUT_FOLDER [--keep 0.4] [--limit-mb 3]

Quadric edge collapse (Garland and Heckbert 1997). A mesh whose bounding box would move by more
than `--tolerance` metres is decimated less. Prints one line per mesh; exits with an error if the
result is larger than the limit.
"""

import argparse
import pathlib
import struct
import sys

import fast_simplification
import numpy as np
import trimesh


def read_mesh(path):
    mesh = trimesh.load_mesh(path, process=False)
    mesh.merge_vertices(merge_norm=True, merge_tex=True)  # an STL repeats each vertex
    return np.asarray(mesh.vertices, float), np.asarray(mesh.faces, int)


def bounding_box(points):
    return np.concatenate([points.min(0), points.max(0)])


def box_motion(points, p, f):
    """Largest motion of a side of the bounding box."""
    return np.abs(bounding_box(p[f].reshape(-1, 3)) - bounding_box(points)).max()


def decimate(points, faces, keep, tolerance):
    """Returns the smallest of a few candidates that keeps the bounding box."""
    while keep < 1.0:
        p, f = fast_simplification.simplify(
            points.astype(np.float32), faces.astype(np.int32), target_reduction=1.0 - keep
        )
        p, f = np.asarray(p, float), np.asarray(f, int)
        if len(f) and box_motion(points, p, f) <= tolerance:
            return p, f
        keep = min(1.0, keep + 0.15)
    return points, faces


def write_stl(path, points, faces):
    corners = points[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    keep = lengths > 0.0
    corners, normals = corners[keep], normals[keep] / lengths[keep, None]
    records = np.zeros(len(corners), dtype=[("data", "<f4", (4, 3)), ("attribute", "<u2")])
    records["data"][:, 0] = normals
    records["data"][:, 1:] = corners
    header = b"binary STL, decimated by tools/decimate_meshes.py".ljust(80, b" ")
    path.write_bytes(header + struct.pack("<I", len(records)) + records.tobytes())
    return len(records)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("target", type=pathlib.Path)
    parser.add_argument("--keep", type=float, default=0.4, help="fraction of triangles to keep")
    parser.add_argument("--tolerance", type=float, default=2e-4, help="of the bounding box [m]")
    parser.add_argument("--limit-mb", type=float, default=3.0, help="largest sum of sizes [MB]")
    arguments = parser.parse_args()
    arguments.target.mkdir(parents=True, exist_ok=True)
    total = 0
    for path in sorted(arguments.source.iterdir()):
        if path.suffix.lower() not in (".stl", ".obj"):
            continue
        points, faces = read_mesh(path)
        p, f = decimate(points, faces, arguments.keep, arguments.tolerance)
        target = arguments.target / (path.stem + ".stl")
        count = write_stl(target, p, f)
        moved = 1e3 * box_motion(points, p, f)
        total += target.stat().st_size
        print(f"{path.name}: {len(faces)} -> {count} triangles, box moved {moved:.3f} mm")
    print(f"total {total / 1e6:.2f} MB")
    if total > 1e6 * arguments.limit_mb:
        sys.exit(f"error: more than {arguments.limit_mb} MB; lower --keep")


if __name__ == "__main__":
    main()
