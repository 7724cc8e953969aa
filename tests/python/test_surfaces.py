"""Height fields and triangle meshes as a user meets them: making them, resting and rolling on them,
falling through holes."""

from __future__ import annotations

import numpy as np
import pytest
import stiction
from surfaces import (
    CUBE,
    CUBE_TRIANGLES,
    GROUNDS,
    MATERIAL,
    SHAPES,
    bowl,
    floor_triangles,
    pose,
    revolve,
    run,
    scene_with,
    torus,
)

# --- making them ------------------------------------------------------------------------


def test_mesh_lists_what_it_is() -> None:
    cube = stiction.TriangleMesh(CUBE, CUBE_TRIANGLES)
    assert (cube.type, cube.closed, cube.volume) == ("triangle_mesh", True, pytest.approx(8.0))
    assert cube.vertices.shape == (8, 3)
    assert np.array_equal(cube.triangles, CUBE_TRIANGLES)
    assert not stiction.TriangleMesh(CUBE, CUBE_TRIANGLES[1:]).closed
    assert stiction.TriangleMesh(CUBE, CUBE_TRIANGLES[:, ::-1]).volume == pytest.approx(-8.0)
    soup = CUBE[CUBE_TRIANGLES].reshape(-1, 3)  # as an STL file gives it
    assert stiction.TriangleMesh(soup, np.arange(36).reshape(-1, 3)).closed
    assert stiction.bounding_box(cube)[1] == pytest.approx([1, 1, 1])
    assert stiction.support(cube, [1, 2, -3]) == pytest.approx([1, 1, -1])


def test_field_lists_what_it_is() -> None:
    heights = np.arange(12.0).reshape(3, 4)
    field = stiction.HeightField(heights, [0.5, 0.25], depth=2.0)
    assert field.type == "height_field"
    assert np.array_equal(field.heights, heights)
    assert field.cell_size == pytest.approx([0.5, 0.25])
    assert field.vertices[5] == pytest.approx([-0.25, 0.0, 5.0])
    assert field.triangles.shape == (12, 3)
    v, t = field.vertices, field.triangles
    assert np.all(np.cross(v[t[:, 1]] - v[t[:, 0]], v[t[:, 2]] - v[t[:, 0]])[:, 2] > 0)
    lower, upper = stiction.bounding_box(field)
    assert lower == pytest.approx([-0.75, -0.25, -2.0])
    assert upper == pytest.approx([0.75, 0.25, 11.0])


def test_field_of_a_function() -> None:
    field = stiction.height_field(lambda x, y: 0.1 * x + 0.2 * y**2, (2.0, 1.0), 0.3)
    assert field.heights.shape == (5, 8)
    assert field.cell_size == pytest.approx([2 / 7, 0.25])
    x, y, z = field.vertices.T
    assert z == pytest.approx(0.1 * x + 0.2 * y**2, abs=1e-15)
    assert (x.min(), x.max(), y.min(), y.max()) == pytest.approx((-1, 1, -0.5, 0.5))
    assert stiction.height_field(lambda x, y: 0.0, (1, 1), 0.1).heights.shape == (11, 11)
    with pytest.raises(ValueError, match="size ="):
        stiction.height_field(lambda x, y: x, (1.0, 0.0), 0.1)
    with pytest.raises(ValueError, match="cell_size = 0"):
        stiction.height_field(lambda x, y: x, (1.0, 1.0), 0)


def test_mass_of_a_mesh() -> None:
    a = stiction.mass_properties(SHAPES["mesh"], 500.0)
    b = stiction.mass_properties(SHAPES["box"], 500.0)
    assert a.mass == pytest.approx(b.mass)
    assert a.inertia == pytest.approx(b.inertia, abs=1e-12)
    ring = stiction.mass_properties(stiction.TriangleMesh(*torus(1.0, 0.3, 200, 100)), 1.0)
    mass = 2 * np.pi**2 * 0.09
    assert ring.mass == pytest.approx(mass, rel=2e-3)
    assert ring.inertia[2, 2] == pytest.approx(mass * (1 + 0.75 * 0.09), rel=3e-3)
    assert ring.com == pytest.approx([0, 0, 0], abs=1e-12)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: stiction.TriangleMesh(np.zeros((0, 3)), [[0, 1, 2]]), "vertices is empty"),
        (lambda: stiction.TriangleMesh(CUBE, np.zeros((0, 3))), "triangles is empty"),
        (lambda: stiction.TriangleMesh(CUBE, [[0, 1, 8]]), r"triangles\[0\]\[2\] = 8"),
        (lambda: stiction.TriangleMesh(CUBE, [[0, 1, 2.5]]), r"triangles\[0\]\[2\] = 2.5"),
        (lambda: stiction.TriangleMesh(CUBE * np.nan, [[0, 1, 2]]), r"vertices\[0\]\[0\] = -?nan"),
        (lambda: stiction.TriangleMesh(CUBE, [[0, 1, 2], [3, 3, 1]]), "1 of 2 have no area"),
        (lambda: stiction.HeightField([[0.0, 1.0]], [1, 1]), "ny = 1"),
        (lambda: stiction.HeightField(np.zeros((2, 2)), [0, 1]), "cell_size.x = 0"),
        (lambda: stiction.HeightField([[0, 0], [np.inf, 0]], [1, 1]), r"heights\[1\]\[0\] = inf"),
        (lambda: stiction.HeightField(np.zeros((2, 2)), [1, 1], -1.0), "depth = -1"),
        (lambda: stiction.mass_properties(GROUNDS["mesh"](), 1.0), "not a closed surface"),
        (lambda: stiction.mass_properties(GROUNDS["field"](), 1.0), "height_field"),
        (
            lambda: stiction.mass_properties(
                stiction.TriangleMesh(CUBE, CUBE_TRIANGLES[:, ::-1]), 1.0
            ),
            "face inwards",
        ),
    ],
)
def test_bad_surfaces_are_refused(call, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        call()


def test_degenerate_triangles_can_be_dropped() -> None:
    mesh = stiction.TriangleMesh(CUBE, [*CUBE_TRIANGLES.tolist(), [1, 1, 2]], drop_degenerate=True)
    assert mesh.closed
    assert len(mesh.triangles) == 12


# --- rest -------------------------------------------------------------------------------


@pytest.mark.parametrize("ground", GROUNDS)
@pytest.mark.parametrize("kind", SHAPES)
def test_rest_as_on_a_half_space(kind: str, ground: str) -> None:
    tilt = np.pi / 2 if kind == "capsule" else 0.0
    at = pose((0.033, 0.071, 0.13), (tilt, 0.0, 0.3))
    scene = scene_with(GROUNDS[ground]())
    scene.add_body("body", SHAPES[kind], 2.0, at, MATERIAL)
    sim, state = run(scene, 600)
    contacts = sim.contacts()
    assert np.abs(state.v).max() < 1e-9
    assert state.q[:2] == pytest.approx([0.033, 0.071], abs=1e-9)
    assert max(abs(c.gap) for c in contacts) < 1e-9
    assert sum(c.force_on_b_world[2] for c in contacts) == pytest.approx(2 * 9.81, rel=1e-9)
    if kind in ("cylinder", "cone"):
        return  # their points on a plane are chosen elsewhere
    plane, flat = run(_on_plane(kind, at), 600)
    assert state.q == pytest.approx(flat.q, abs=1e-9)
    assert _wrench(sim) == pytest.approx(_wrench(plane), abs=1e-6)


def _wrench(sim: stiction.Simulator):
    """Force and moment about the origin; its split over four rigid corners is not unique."""
    forces = np.array([c.force_on_b_world for c in sim.contacts()])
    points = np.array([c.position for c in sim.contacts()])
    return np.concatenate([forces.sum(axis=0), np.cross(points, forces).sum(axis=0)])


@pytest.mark.parametrize("ground", ["plane", *GROUNDS])
@pytest.mark.parametrize("kind", ["sphere", "box", "hull", "mesh"])
def test_soft_bodies_sink_alike(kind: str, ground: str) -> None:
    """Depth m g / k of the pair, the same share on every corner."""
    stiffness, mass = 1e5, 2.0
    soft = stiction.Material(friction=0.5, stiffness=stiffness, damping=200.0)
    scene = stiction.Scene()
    if ground == "plane":
        scene.add_ground(MATERIAL)
    else:
        scene.add_geometry("floor", "world", GROUNDS[ground](), None, MATERIAL)
    scene.add_body("body", SHAPES[kind], mass, pose((0.033, 0.071, 0.1), (0, 0, 0.3)), soft)
    sim, state = run(scene, 3000)
    assert state.q[2] == pytest.approx(0.1 - mass * 9.81 / stiffness, abs=1e-9)
    contacts = sim.contacts()
    assert len(contacts) == (1 if kind == "sphere" else 4)
    for c in contacts:
        assert c.gap == pytest.approx(-mass * 9.81 / stiffness, abs=1e-9)
        assert c.force_on_b_world[2] == pytest.approx(mass * 9.81 / len(contacts), rel=1e-6)


def _on_plane(kind: str, at) -> stiction.Scene:
    scene = scene_with(None)
    scene.add_body("body", SHAPES[kind], 2.0, at, MATERIAL)
    return scene


@pytest.mark.parametrize("ground", ["field", "mesh", "bowl", "hills"])
def test_features_persist_at_rest(ground: str) -> None:
    rng = np.random.default_rng(4)
    grounds = GROUNDS | {
        "bowl": lambda: stiction.TriangleMesh(*bowl(1.0, 0.05)),
        "hills": lambda: stiction.HeightField(rng.normal(size=(41, 41)) * 0.03, [0.1, 0.1]),
    }
    scene = scene_with(grounds[ground]())
    z = -0.8 if ground == "bowl" else 0.2
    scene.add_body("body", SHAPES["box"], 1.0, pose((0.03, 0.01, z), (0.1, 0.05, 0.3)), MATERIAL)
    sim, state = run(scene, 4000)
    assert np.abs(state.v).max() < 1e-9
    ids = [c.feature for c in sim.contacts()]
    assert len(set(ids)) == len(ids) >= 3
    control = sim.hold()
    for _ in range(500):
        sim.step(state, control)
        assert [c.feature for c in sim.contacts()] == ids


@pytest.mark.parametrize("kind", [*SHAPES, "ellipsoid"])
def test_every_shape_comes_to_rest_on_hills(kind: str) -> None:
    rng = np.random.default_rng(5)
    shape = SHAPES.get(kind, stiction.Ellipsoid([0.1, 0.14, 0.08]))
    scene = scene_with(stiction.HeightField(rng.normal(size=(41, 41)) * 0.03, [0.1, 0.1]))
    scene.add_body("body", shape, 1.0, pose((0.02, 0.01, 0.3), (0.3, 0.2, 0.1)), MATERIAL)
    sim = stiction.Simulator(scene, dt=1e-3)
    state, control = sim.initial_state(), sim.hold()
    deepest, energy = 0.0, []
    for _ in range(3000):
        report = sim.step(state, control)
        deepest = max(deepest, report.penetration)
        energy.append(report.energy)
    assert deepest < 2e-3
    assert max(energy) <= energy[0] + 1e-6
    assert state.q[2] > -0.05
    # Round ones may rock for a while; those with faces lie still.
    assert np.abs(state.v[:3]).max() < (0.3 if kind in ("sphere", "capsule", "ellipsoid") else 1e-3)


# --- motion -----------------------------------------------------------------------------


@pytest.mark.parametrize("angle", [0.0, 0.3, np.pi / 4, 1.1])
@pytest.mark.parametrize("ground", ["field", "mesh", "tilted"])
def test_no_kicks_from_edges_between_level_triangles(ground: str, angle: float) -> None:
    cells, cell, speed, r = 60, 0.1, 2.0, 0.07
    X_W = None
    if ground == "field":
        shape = stiction.HeightField(np.zeros((cells + 1, cells + 1)), [cell, cell])
    else:
        v, t = floor_triangles(cells, cell, seed=int(10 * angle))
        if ground == "tilted":  # the same plane, its triangles known only to rounding
            X_W = pose((0, 0, 0), (0.4, 0.5, 0.6))
            v = v @ X_W.rotation
            X_W = pose((0, 0, 0), (0.4, 0.5, 0.6))
        shape = stiction.TriangleMesh(v, t)
    start = (-2 * np.cos(angle), -2 * np.sin(angle))
    along = np.array([np.cos(angle), np.sin(angle), 0.0])
    # A rolling ball, and a box and a capsule that slide without friction.
    for body, friction in (("ball", 0.5), ("box", 0.0), ("capsule", 0.0)):
        scene = scene_with(shape, friction, X_W)
        material = stiction.Material(friction=friction)
        tilt = np.pi / 2 if body == "capsule" else 0.0
        X = pose((*start, r), (tilt, 0.0, 0.2))
        one = {
            "ball": stiction.Sphere(r),
            "box": stiction.Box([0.1, 0.15, r]),
            "capsule": stiction.Capsule(r, 0.15),
        }[body]
        scene.add_body("body", one, 1.0, X, material)
        v = np.zeros(6)
        v[:3] = X.rotation.T @ along * speed
        if body == "ball":
            v[3:] = X.rotation.T @ np.cross([0, 0, 1], along) * speed / r
        state = run(scene, 1500, v)[1]
        assert np.linalg.norm(state.v[:3]) == pytest.approx(speed, rel=1e-6)
        assert state.q[:2] == pytest.approx(start + along[:2] * speed * 1.5, abs=1e-4)
        assert state.q[2] == pytest.approx(r, abs=1e-7)
        if body != "ball":
            assert np.abs(state.v[3:]).max() < 1e-6


def test_ball_falls_through_the_hole_of_a_torus_and_a_larger_one_does_not() -> None:
    ring = stiction.TriangleMesh(*torus(1.0, 0.3))
    scene = scene_with(ring)
    scene.add_body("ball", stiction.Sphere(0.4), 1.0, pose((0.1, 0.05, 1.0)), MATERIAL)
    state = run(scene, 1000)[1]
    assert state.q[2] == pytest.approx(1.0 - 0.5 * 9.81, abs=0.01)  # never touched
    scene = scene_with(ring)
    scene.add_body("ball", stiction.Sphere(0.9), 1.0, pose((0.1, 0.05, 1.5)), MATERIAL)
    state = run(scene, 3000)[1]
    assert state.q[2] == pytest.approx(np.sqrt(1.2**2 - 1.0), abs=0.02)
    assert np.abs(state.v).max() < 0.05


@pytest.mark.parametrize("kind", ["sphere", "box", "cylinder"])
def test_bowl_holds_what_is_put_in(kind: str) -> None:
    scene = scene_with(stiction.TriangleMesh(*bowl(1.0, 0.05)))
    scene.add_body("body", SHAPES[kind], 1.0, pose((0.3, 0.1, -0.3), (0.3, 0.2, 0.1)), MATERIAL)
    sim = stiction.Simulator(scene)
    state, control = sim.initial_state(), sim.hold()
    energy = []
    for _ in range(4000):
        report = sim.step(state, control)
        energy.append(report.energy)
        assert report.penetration < 2e-3
    assert np.linalg.norm(state.q[:3]) < 1.0
    assert state.q[2] < -0.6
    assert max(energy) <= energy[0] + 1e-6
    assert energy[-1] < energy[0] - 2.0


@pytest.mark.parametrize("speed", [5.0, 20.0, 60.0])
@pytest.mark.parametrize("kind", ["sphere", "box", "hull"])
def test_nothing_tunnels_through_a_field(kind: str, speed: float) -> None:
    rng = np.random.default_rng(8)
    small = {
        "sphere": stiction.Sphere(0.01),
        "box": stiction.Box([0.01, 0.012, 0.008]),
        "hull": stiction.ConvexMesh(CUBE * 0.01),
    }[kind]
    field = stiction.HeightField(rng.normal(size=(41, 41)) * 0.02, [0.1, 0.1])
    for k in range(5):
        scene = scene_with(field)
        x, y = rng.uniform(-1, 1, 2)
        scene.add_body("body", small, 0.1, pose((x, y, 0.5), (0.3 * k, 0.1, 0.2)), MATERIAL)
        v = np.zeros(6)
        v[:3] = pose((0, 0, 0), (0.3 * k, 0.1, 0.2)).rotation.T @ [1.0, 0.5, -speed]
        state = run(scene, 400, v)[1]
        down = stiction.ray_cast(
            scene, state, [[*state.q[:2], 5.0]], [[0, 0, -1]], ignored=["body"]
        )
        assert state.q[2] > 5.0 - down.distances[0] - 1e-3


@pytest.mark.parametrize("kind", ["sphere", "box", "capsule", "cylinder"])
@pytest.mark.parametrize("ground", ["plate", "sheet"])
def test_nothing_small_passes_a_thin_mesh(kind: str, ground: str) -> None:
    """Bodies of a centimetre at up to 30 m/s against a plate of 1 mm and an open sheet."""
    small = {
        "sphere": stiction.Sphere(0.005),
        "box": stiction.Box([0.005, 0.006, 0.004]),
        "capsule": stiction.Capsule(0.003, 0.005),
        "cylinder": stiction.Cylinder(0.005, 0.005),
    }[kind]
    shape = {
        "plate": lambda: stiction.TriangleMesh(CUBE * [0.5, 0.5, 0.0005], CUBE_TRIANGLES),
        "sheet": lambda: stiction.TriangleMesh(*floor_triangles(10, 0.1)),
    }[ground]()
    rng = np.random.default_rng(1)
    for _ in range(30):
        scene = scene_with(shape)
        X = pose((*rng.uniform(-0.3, 0.3, 2), 0.1), tuple(rng.uniform(-3, 3, 3)))
        scene.add_body("body", small, 0.01, X, MATERIAL)
        down = rng.uniform(5, 30)
        v = np.zeros(6)
        v[:3] = X.rotation.T @ [*rng.uniform(-3, 3, 2), -down]
        v[3:] = rng.uniform(-20, 20, 3)
        state = run(scene, int(100 / down) + 8, v)[1]
        assert state.q[2] > -0.001


def test_ball_sunk_into_a_solid_comes_out_the_near_side() -> None:
    block = stiction.TriangleMesh(CUBE, CUBE_TRIANGLES)
    for p, n in (((0, 0, 0.95), (0, 0, 1)), ((-0.97, 0.2, 0), (-1, 0, 0))):
        points = stiction.contact_manifold(block, None, stiction.Sphere(0.2), pose(p))
        assert len(points) == 1
        assert points[0].normal == pytest.approx(n)
        assert points[0].gap == pytest.approx(-0.2 - (1 - np.abs(p).max()))
    # Through a thin wall: the ball is on its outside, and only that side pushes.
    plate = stiction.TriangleMesh(CUBE * [1, 1, 0.01], CUBE_TRIANGLES)
    points = stiction.contact_manifold(plate, None, stiction.Sphere(0.2), pose((0.1, 0.2, 0.15)))
    assert [p.normal == pytest.approx([0, 0, 1]) for p in points] == [True]
    points = stiction.contact_manifold(
        plate, None, stiction.Box([0.1, 0.1, 0.1]), pose((0.1, 0.2, 0.05))
    )
    assert points
    assert all(p.normal == pytest.approx([0, 0, 1]) for p in points)


def test_steps_repeat_to_the_bit() -> None:
    v, t = revolve([(0.3, -0.1), (0.4, 0.0), (0.3, 0.1), (0.2, 0.0)], 12)
    rng = np.random.default_rng(9)
    field = stiction.HeightField(rng.normal(size=(21, 21)) * 0.05, [0.2, 0.2])
    last = []
    for _ in range(2):
        scene = scene_with(field)
        scene.add_body("ring", stiction.TriangleMesh(v, t), 1.0, pose((0, 0, 0.4)), MATERIAL)
        scene.add_body("box", SHAPES["box"], 1.0, pose((0.1, 0, 0.8), (0.2, 0.3, 0)), MATERIAL)
        last.append(run(scene, 500)[1].save())
    assert last[0] == last[1]


# --- contacts against distances ---------------------------------------------------------


@pytest.mark.parametrize("ground", ["hills", "torus", "blocks"])
@pytest.mark.parametrize("kind", [*SHAPES, "ellipsoid"])
def test_nearest_point_is_a_contact(kind: str, ground: str) -> None:
    """Apart by d, no more than the margin: the nearest contact has gap d, up to the preference for
    faces (1e-5 of the size), along a normal of the distance query."""
    rng = np.random.default_rng(6)
    shape = SHAPES.get(kind, stiction.Ellipsoid([0.1, 0.14, 0.08]))
    surface = {
        "hills": lambda: stiction.HeightField(rng.normal(size=(31, 31)) * 0.05, [0.1, 0.1]),
        "torus": lambda: stiction.TriangleMesh(*torus(1.0, 0.3, 24, 12)),
        "blocks": lambda: stiction.TriangleMesh(*revolve(STAIRS, 7)),
    }[ground]()
    margin, tested = 0.05, 0
    for _ in range(1500):
        p = rng.uniform([-1, -1, -0.2], [1, 1, 0.7])
        X = pose(tuple(p), tuple(rng.uniform(-3, 3, 3)))
        r = stiction.distance(surface, None, shape, X)
        if not 1e-4 < r.distance < margin:
            continue
        tested += 1
        points = stiction.contact_manifold(surface, None, shape, X, margin)
        least = min((point.gap for point in points), default=np.inf)
        assert least == pytest.approx(r.distance, abs=2e-5), (p, len(points))
        best = min(points, key=lambda point: point.gap)
        assert best.normal @ r.normal > 0.99
    assert tested > 20


STAIRS = [(0.0, -0.5), (0.9, -0.5), (0.9, -0.1), (0.6, -0.1), (0.6, 0.1), (0.3, 0.1), (0.3, 0.3)]
STAIRS += [(0.0, 0.3)]
