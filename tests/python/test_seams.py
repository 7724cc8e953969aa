"""Seams between flush shapes push nothing along the surface; steps and walls stop what slides."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import stiction

DEPTH, WIDTH, SIZE = 0.2, 6.0, 0.1  # of tiles, half [m]; of sliders, half [m]
ROLLING = ("sphere", "capsule", "cylinder")
SLIDERS = ("box", "hull", "puck", *ROLLING)
TILES = ("box", "hull", "mesh", "field")


def placed(at: tuple[float, float, float], R: np.ndarray | None = None) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = np.eye(3) if R is None else R, at
    return X


def about_z(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


LYING = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])


def notched_block(half: np.ndarray) -> stiction.Shape:
    """A block with a notch below, which no convex shape is."""
    a, b, c = half
    profile = [(-a, c), (-a, -c), (0, -c), (0, -c / 2), (a, -c / 2), (a, c)]
    n = len(profile)
    vertices = [(x, y, z) for y in (-b, b) for x, z in profile]
    triangles = []
    for i, j, k in ((0, 1, 3), (1, 2, 3), (0, 3, 5), (3, 4, 5)):
        triangles += [(i, j, k), (n + i, n + k, n + j)]
    for i in range(n):
        j = (i + 1) % n
        triangles += [(i, n + i, j), (j, n + i, n + j)]
    return stiction.TriangleMesh(np.array(vertices, dtype=float), np.array(triangles))


def tile(kind: str, half: np.ndarray) -> stiction.Shape:
    if kind == "box":
        return stiction.Box(half)
    if kind == "hull":
        signs = np.array([[k & 1, k >> 1 & 1, k >> 2 & 1] for k in range(8)])
        return stiction.ConvexMesh((2.0 * signs - 1.0) * half)
    if kind == "mesh":
        return notched_block(half)
    cells = half[:2] * 2.0 / (4, 8)
    return stiction.HeightField(np.full((9, 5), half[2]), cells, depth=2.0 * half[2])


def slider(kind: str, yaw: float) -> tuple[stiction.Shape, np.ndarray]:
    """Its shape, and its rotation if it moves along `yaw`."""
    if kind == "hull":
        a = np.arange(8) * np.pi / 4
        rim = SIZE * np.column_stack([np.cos(a), np.sin(a), np.ones(8)])
        return stiction.ConvexMesh(np.vstack([rim, rim * (1, 1, -1)])), about_z(3.0 * yaw)
    shape = {
        "box": stiction.Box([SIZE] * 3),
        "puck": stiction.Cylinder(SIZE, SIZE),
        "sphere": stiction.Sphere(SIZE),
        "capsule": stiction.Capsule(SIZE, SIZE),
        "cylinder": stiction.Cylinder(SIZE, SIZE),
    }[kind]
    turned = about_z(3.0 * yaw) if kind == "box" else np.eye(3)
    return shape, about_z(yaw) @ LYING if kind in ("capsule", "cylinder") else turned


@dataclass
class Slide:
    least: float  # speed along the first direction [m/s]
    speed: float  # at the end
    hop: float  # [m] above the start


def slide(
    kind: str,
    tiles: str,
    heights: np.ndarray,
    half: float,
    speed: float,
    yaw: float,
    loose: float = 0.0,
) -> Slide:
    """A body of 1 kg from the first tile of a row to the last one, over all their seams. Tiles are
    bodies of the mass `loose`, or of the world."""
    rolls = kind in ROLLING
    material = stiction.Material(friction=0.8 if rolls else 0.0)
    world = stiction.Scene()
    extent = np.array([half, WIDTH, DEPTH])
    for k, h in enumerate(heights):
        at = placed((2 * half * k, 0, h - DEPTH))
        if loose > 0.0:
            world.add_body(f"tile{k}", tile(tiles, extent), loose, at, material)
        else:
            world.add_geometry(f"tile{k}", "world", tile(tiles, extent), at, material)
    if loose > 0.0:
        below = stiction.Material(friction=1.0)
        at = placed((0, 0, -2 * DEPTH))
        world.add_geometry("ground", "world", stiction.HalfSpace(), at, below)
    shape, R = slider(kind, yaw)
    world.add_body("slider", shape, 1.0, placed((0, 0, SIZE + heights[0]), R), material)
    sim = stiction.Simulator(world, dt=4e-3 if speed < 0.2 else 1e-3)
    state = sim.initial_state()
    along = np.array([np.cos(yaw), np.sin(yaw), 0.0])
    state.v[-6:-3] = R.T @ (speed * along)
    if rolls:
        state.v[-3:] = R.T @ (speed / SIZE * np.cross([0, 0, 1.0], along))
    steps = int(2 * half * (len(heights) - 1) / (speed * np.cos(yaw)) / sim.settings.dt)
    start, least, v, hop = state.q[-5], speed, np.zeros(3), 0.0
    for k in range(steps):
        assert sim.step(state).converged
        hop = max(hop, state.q[-5] - start)
        if k % 20 == 0 or k == steps - 1:
            v = sim.body_poses(state)[-1].rotation @ state.v[-6:-3]
            least = min(least, v @ along)
    return Slide(least, float(np.linalg.norm(v)), hop)


@pytest.mark.parametrize("tiles", TILES)
@pytest.mark.parametrize("kind", SLIDERS)
def test_flush_and_lower_tiles_take_no_speed(kind: str, tiles: str) -> None:
    rng = np.random.default_rng(SLIDERS.index(kind) * len(TILES) + TILES.index(tiles))
    for speed, seams in ((0.05, 6), (10 ** rng.uniform(-1, 0.7), 20), (5.0, 20)):
        lower = np.zeros(seams + 1)
        if rng.random() < 0.5:
            lower[1:] = -np.cumsum(rng.choice([0.0, 0.0, 1e-6, 1e-5, 1e-4], seams))
        run = slide(kind, tiles, lower, 0.15, speed, rng.uniform(-0.5, 0.5))
        assert run.least >= 0.999 * speed, (speed, run)
        assert run.hop <= 1e-6, (speed, run)


@pytest.mark.parametrize("tiles", TILES)
@pytest.mark.parametrize("kind", ("box", "hull", "puck"))
def test_low_steps_take_the_energy_of_their_height_and_higher_ones_stop(
    kind: str, tiles: str
) -> None:
    rng = np.random.default_rng(SLIDERS.index(kind) * len(TILES) + TILES.index(tiles))
    for speed in (0.05, 10 ** rng.uniform(-1, 0.3), 5.0):
        h, yaw = 10 ** rng.uniform(-6, -4), rng.uniform(-0.3, 0.3)
        run = slide(kind, tiles, np.array([0.0, h]), 0.15, speed, yaw)
        left = 0.5 * (0.999 * speed) ** 2 - 9.81 * h
        assert 0.5 * run.speed**2 >= left, (speed, h, run)
        stopped = slide(kind, tiles, np.array([0.0, 1e-3]), 0.15, speed, yaw)
        assert stopped.least < 0.8 * speed, (speed, stopped)


@pytest.mark.parametrize("kind", ("box", "hull", "sphere"))
def test_tiles_that_are_bodies_take_no_speed(kind: str) -> None:
    run = slide(kind, "box", np.zeros(8), 0.15, 2.0, 0.2, loose=50.0)
    assert run.least >= 0.999 * 2.0, run
    assert run.hop <= 1e-5, run


def test_a_wall_on_a_floor_of_tiles_stops_what_slides_over_their_seams() -> None:
    """The floor's seams take nothing before, and the wall, which stands on a seam, everything."""
    scene = stiction.Scene()
    material = stiction.Material(friction=0.0)
    for k in range(8):
        at = placed((0.3 * k, 0, -DEPTH))
        scene.add_geometry(f"t{k}", "world", stiction.Box([0.15, 1, DEPTH]), at, material)
    wall = stiction.Box([0.05, 1, SIZE])
    scene.add_geometry("wall", "world", wall, placed((2.0, 0, SIZE)), material)
    scene.add_body("box", stiction.Box([SIZE] * 3), 1.0, placed((0, 0, SIZE)), material)
    sim = stiction.Simulator(scene, dt=1e-3)
    state = sim.initial_state()
    state.v[0] = 1.0
    for _ in range(1800):
        sim.step(state)
    assert state.v[0] >= 0.999
    farthest = state.q[0]
    for _ in range(300):
        sim.step(state)
        farthest = max(farthest, state.q[0])
    assert farthest < 1.95 - SIZE + 1e-3
    assert state.v[0] < 0.5


TWO_LINKS = """<robot name="r"><link name="base"><inertial><mass value="1"/>
<inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size=".2 .2 .2"/></geometry></collision></link>
<link name="arm"><inertial><origin xyz="0 0 .1"/><mass value=".1"/>
<inertia ixx=".001" iyy=".001" izz=".001" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 .1"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="10" velocity="9"/></joint></robot>"""


def robot_on_tiles() -> stiction.Scene:
    material = stiction.Material(friction=0.0)
    scene = stiction.Scene()
    for k in range(8):
        at = placed((0.3 * k, 0, -DEPTH))
        scene.add_geometry(f"t{k}", "world", stiction.Box([0.15, 1, DEPTH]), at, material)
    robot = stiction.load_urdf_string(TWO_LINKS, "r", free_flyer=True, material=material)
    scene.add_robot(robot, placed((0, 0, SIZE)))
    scene.set_gains("j", 100.0, 1.0)
    return scene


def test_lanes_have_the_same_seams() -> None:
    """A step on lanes, and a step whose contacts are asked for, have the same bits."""
    scene = robot_on_tiles()
    alone, asked = (stiction.Simulator(scene, dt=1e-3) for _ in range(2))
    batch = stiction.Batch(scene, 3, dt=1e-3)
    a, b = alone.initial_state(), asked.initial_state()
    for state in (a, b):
        state.v[:2] = 1.0, 0.2
    for world in range(3):
        batch.v[world, :2] = 1.0, 0.2
    for _ in range(1200):
        alone.step(a)
        asked.step(b)
        asked.contacts()
        batch.step()
    assert np.array_equal(a.q, b.q) and np.array_equal(a.v, b.v)
    assert all(np.array_equal(batch.q[world], a.q) for world in range(3))
    assert a.v[0] >= 0.999 * 1.0


def test_boxes_edge_to_edge_touch_along_a_line() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        ha, hb = rng.uniform(0.05, 1.0, (2, 3))
        side, up = 10 ** rng.uniform(-7, -4), rng.choice([-1e-8, 0.0, 1e-8, 1e-7, 1e-6])
        at = (ha[0] + hb[0] + side, 0.1 * rng.uniform(-1, 1), ha[2] + hb[2] + up)
        points = stiction.contact_manifold(
            stiction.Box(ha), np.eye(4), stiction.Box(hb), placed(at), 1e-3
        )
        assert 1 <= len(points) <= 2, (ha, hb, at)


def line_shapes(rng: np.random.Generator) -> stiction.Shape:
    make = (stiction.Capsule, stiction.Cylinder, stiction.Cone)[rng.integers(3)]
    return make(rng.uniform(0.02, 0.1), rng.uniform(0.1, 0.3))


def test_a_capsule_has_at_most_two_points() -> None:
    """Against round sides, crossed and side by side, edges and faces, and with the same names after
    a turn of a nanoradian."""
    rng = np.random.default_rng(6)
    for _ in range(2000):
        a = stiction.Capsule(rng.uniform(0.02, 0.1), rng.uniform(0.1, 0.3))
        b = line_shapes(rng) if rng.random() < 0.7 else stiction.Box(rng.uniform(0.05, 0.3, 3))
        angle = rng.choice([0.0, 1e-4, 1e-2, 0.3, np.pi / 2])
        X_A = placed((0, 0, 0), LYING)
        X_B = placed((rng.uniform(-0.1, 0.1), rng.uniform(-0.1, 0.1), 1.0), about_z(angle) @ LYING)
        r = stiction.distance(a, X_A, b, X_B)
        X_B[2, 3] -= r.distance * r.normal[2] - rng.uniform(-1e-5, 1e-5)
        points = stiction.contact_manifold(a, X_A, b, X_B, 1e-3)
        assert len(points) <= 2
        moved = X_B.copy()
        moved[:3, :3] = about_z(1e-9) @ X_B[:3, :3]
        names = [p.feature for p in stiction.contact_manifold(a, X_A, b, moved, 1e-3)]
        if angle > 0.0:
            assert sorted(names) == sorted(p.feature for p in points)
