"""Meshes that the tests of height fields and triangle meshes share."""

from __future__ import annotations

import numpy as np
import pinocchio
import stiction
from numpy.typing import NDArray

Points = NDArray[np.float64]
Triangles = NDArray[np.int64]


def pose(p: tuple[float, float, float], rpy: tuple[float, float, float] = (0.0, 0.0, 0.0)):
    return pinocchio.SE3(pinocchio.rpy.rpyToMatrix(*rpy), np.array(p, dtype=float))


def floor_triangles(cells: int, cell: float, seed: int = 0) -> tuple[Points, Triangles]:
    """Level grid at z = 0, the diagonal of each cell drawn by lot."""
    rng = np.random.default_rng(seed)
    n = cells + 1
    j, i = np.divmod(np.arange(n * n), n)
    vertices = np.stack([(i - cells / 2) * cell, (j - cells / 2) * cell, 0.0 * i], axis=1)
    triangles = []
    for j in range(cells):
        for i in range(cells):
            a, b, c, d = j * n + i, j * n + i + 1, (j + 1) * n + i, (j + 1) * n + i + 1
            if rng.random() < 0.5:
                triangles += [[a, b, d], [a, d, c]]
            else:
                triangles += [[a, b, c], [b, d, c]]
    return vertices, np.array(triangles)


def revolve(profile: list[tuple[float, float]], sides: int) -> tuple[Points, Triangles]:
    """Closed solid of a loop of (r, z), counter-clockwise with r to the right, about the z axis."""
    vertices, index = [], {}
    for k, (r, z) in enumerate(profile):
        for s in range(sides):
            turned = s if r > 0 else 0
            if (k, turned) in index:
                continue
            index[k, turned] = len(vertices)
            angle = 2 * np.pi * turned / sides
            vertices.append((r * np.cos(angle), r * np.sin(angle), z))
    triangles = []
    for k in range(len(profile)):
        m = (k + 1) % len(profile)

        def vertex(row: int, s: int) -> int:
            return index[row, s % sides if profile[row][0] > 0 else 0]

        for s in range(sides):
            a, b = vertex(k, s), vertex(k, s + 1)
            c, d = vertex(m, s), vertex(m, s + 1)
            triangles += [t for t in ([a, b, d], [a, d, c]) if len(set(t)) == 3]
    return np.array(vertices), np.array(triangles)


def torus(R: float, r: float, sides: int = 48, around: int = 24) -> tuple[Points, Triangles]:
    angle = 2 * np.pi * np.arange(around) / around
    profile = [(R + r * np.cos(a), r * np.sin(a)) for a in angle]
    return revolve(profile, sides)


def bowl(R: float, wall: float, sides: int = 40, rings: int = 14) -> tuple[Points, Triangles]:
    """Half of a spherical shell, open upwards, centre at the origin."""
    angle = 0.5 * np.pi * np.arange(rings + 1) / rings
    outer = [((R + wall) * np.sin(a), -(R + wall) * np.cos(a)) for a in angle]
    inner = [(R * np.sin(a), -R * np.cos(a)) for a in angle[::-1]]
    loop = [(0.0 if r < 1e-12 else float(r), float(z)) for r, z in outer + inner]
    return revolve(loop, sides)


def run(scene: stiction.Scene, steps: int, v=None, dt: float = 1e-3):
    sim = stiction.Simulator(scene, dt=dt)
    state, control = sim.initial_state(), sim.hold()
    if v is not None:
        state.v[:] = v
    for _ in range(steps):
        sim.step(state, control)
    return sim, state


def scene_with(ground: stiction.Shape | None, friction: float = 0.5, X_W=None) -> stiction.Scene:
    scene = stiction.Scene()
    material = stiction.Material(friction=friction)
    if ground is None:
        scene.add_ground(material)
    else:
        scene.add_geometry("floor", "world", ground, X_W, material)
    return scene


MATERIAL = stiction.Material(friction=0.5)
CUBE = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)
CUBE_TRIANGLES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6]]
    + [[0, 2, 6], [0, 6, 4], [1, 5, 7], [1, 7, 3]]
)
SHAPES = {
    "sphere": stiction.Sphere(0.1),
    "box": stiction.Box([0.1, 0.15, 0.1]),
    "capsule": stiction.Capsule(0.1, 0.1),
    "cylinder": stiction.Cylinder(0.15, 0.1),
    "cone": stiction.Cone(0.15, 0.1),
    "hull": stiction.ConvexMesh(CUBE * [0.1, 0.15, 0.1]),
    "mesh": stiction.TriangleMesh(CUBE * [0.1, 0.15, 0.1], CUBE_TRIANGLES),
}
GROUNDS = {
    "field": lambda: stiction.HeightField(np.zeros((13, 13)), [0.3, 0.3]),
    "mesh": lambda: stiction.TriangleMesh(*floor_triangles(12, 0.3)),
    "block": lambda: stiction.TriangleMesh(CUBE + [0, 0, -1], CUBE_TRIANGLES),
}
