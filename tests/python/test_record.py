"""Recordings: the simulation's motion, contacts and certificate, and the robot's own looks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio
import pytest
import stiction
from stiction.record import Recorder, RecordError, geometry_positions, record, scene_bodies
from stiction.replay import write_replay
from stiction.visuals import thin_mesh


def simulator(name: str, dt: float = 1e-3) -> stiction.Simulator:
    return stiction.Simulator(stiction.load(name), dt=dt)


def test_frames_are_the_states(tmp_path: Path) -> None:
    sim = simulator("ball-drop")
    state, control = sim.initial_state(), sim.hold()
    check = state.copy()
    replay = record(sim, state, control, seconds=0.5, fps=100.0)
    assert len(replay.time) == 51 and replay.time[-1] == pytest.approx(0.5)
    heights = [check.q[2]]
    for _ in range(50):
        sim.run(check, control, 10)
        heights.append(check.q[2])
    np.testing.assert_allclose(np.asarray(replay.poses)[:, 1, 2], heights, atol=1e-12)
    assert [body.name for body in replay.bodies] == ["world", "ball"]
    np.testing.assert_array_equal(
        np.asarray(replay.poses)[:, 0], np.tile([0, 0, 0, 0, 0, 0, 1], (51, 1))
    )
    assert write_replay(tmp_path / "ball.html", replay).is_file()


def test_contacts_carry_the_weight() -> None:
    sim = simulator("solo12")
    replay = record(sim, sim.initial_state("standing"), sim.hold("standing"), seconds=1.0)
    assert len(replay.contacts[0]) == 0, "before the first step nothing is known"
    rows = np.asarray(replay.contacts[-1])
    assert rows.shape == (4, 11)
    weight = 9.81 * sim.parameters.mass.sum()
    assert rows[:, 5].sum() == pytest.approx(weight, rel=0.02)
    np.testing.assert_allclose(
        rows[:, 6:9], np.tile([0, 0, 1], (4, 1)), atol=1e-9
    )  # from the ground to the foot
    assert set(rows[:, 9]) == {0.9} and np.all(rows[:, 2] < 1e-3)


@pytest.mark.parametrize("order", ["ground first", "ground last"])
def test_arrows_point_away_from_what_carries(order: str) -> None:
    """A box on a box on the ground: whichever was added first, the upper one is pushed up."""
    scene = stiction.Scene()
    poses = {name: np.eye(4) for name in ("low", "high")}
    poses["low"][2, 3], poses["high"][2, 3] = 0.1, 0.3
    if order == "ground first":
        scene.add_ground()
    for name in ("low", "high") if order == "ground first" else ("high", "low"):
        scene.add_body(name, stiction.Box([0.1] * 3), 1.0, poses[name])
    if order == "ground last":
        slab = np.eye(4)
        slab[2, 3] = -0.5
        scene.add_geometry("slab", "world", stiction.Box([1.0, 1.0, 0.5]), slab)
    sim = stiction.Simulator(scene)
    recorder = Recorder(sim)
    state = sim.initial_state()
    recorder.capture(state)
    for _ in range(20):
        sim.step(state)
        recorder.after_step(state)
    rows = recorder.replay().contacts[-1]
    assert len(rows) == 8
    np.testing.assert_allclose(rows[:, 8], 1.0, atol=1e-9)  # normals
    assert (rows[:, 5] >= 0.0).all()
    assert rows[:, 5].sum() == pytest.approx(3 * 9.81, rel=1e-3)


def test_a_frame_answers_for_all_steps_since_the_last() -> None:
    sim = simulator("solo12")
    state, control = sim.initial_state("standing"), sim.hold("standing")
    recorder, residuals = Recorder(sim, fps=60.0), []
    recorder.capture(state)
    for _ in range(200):
        residuals.append(sim.step(state, control).residuals.relative)
        recorder.after_step(state)
    replay = recorder.replay()
    kept = round(float(replay.time[-1]) / 1e-3)
    assert np.nanmax(replay.residual) == max(residuals[:kept])
    assert np.isnan(replay.residual[0]) and np.all(np.diff(replay.time) > 0)
    assert recorder.frames == len(replay.time) == pytest.approx(0.2 * 60, abs=1.5)
    assert np.all(np.asarray(replay.penetration) >= 0) and np.all(np.isfinite(replay.energy[1:]))


def test_the_robot_wears_its_meshes() -> None:
    bodies = scene_bodies(stiction.load("solo12"))
    shapes = {body.name: body.geometries for body in bodies}
    assert len(bodies) == 14
    for name, geometries in shapes.items():
        visuals = [g for g in geometries if g.role == "visual" and g.shape == "mesh"]
        if name != "world":
            assert visuals, f"{name} has no mesh"
    feet = [g for geometries in shapes.values() for g in geometries if g.shape == "sphere"]
    assert len(feet) == 4 and all(g.role == "collision" for g in feet)
    extent = np.ptp(
        np.vstack([np.asarray(g.vertices) for g in shapes["base_link"] if g.shape == "mesh"]),
        axis=0,
    )
    assert 0.2 < extent.max() < 0.6, f"the body is {extent} m: wrong units"


def test_loose_bodies_wear_their_shapes() -> None:
    bodies = scene_bodies(stiction.load("ycb-pile(6)"))
    assert [g.shape for g in bodies[0].geometries] == ["plane", "box", "box", "box", "box"]
    for body in bodies[1:]:
        (geometry,) = body.geometries
        assert (
            geometry.shape == "mesh" and geometry.role == "visual" and geometry.vertices is not None
        )


def test_terrain_and_meshes_are_drawn(tmp_path: Path) -> None:
    scene = stiction.Scene()
    x = np.linspace(-1, 1, 300)
    scene.add_geometry(
        "hills", "world", stiction.HeightField(np.sin(3 * x) * x[:, None], [0.01] * 2)
    )
    cube = np.array([[i & 1, i >> 1 & 1, i >> 2] for i in range(8)], dtype=float) - 0.5
    hull = stiction.ConvexMesh(cube)
    mesh = stiction.TriangleMesh(hull.vertices, hull.triangles)
    scene.add_body("cube", mesh, 1.0, pinocchio.SE3(np.eye(3), np.array([0, 0, 2.0])))
    world, body = scene_bodies(scene)
    (hills,) = world.geometries
    assert hills.shape == "mesh"
    assert 20000 < len(hills.triangles) <= 40000  # of 178802
    assert np.ptp(hills.vertices, axis=0) == pytest.approx([2.99, 2.99, 2.0], abs=0.05)
    assert len(body.geometries[0].triangles) == 12
    sim = stiction.Simulator(scene)
    path = tmp_path / "hills.html"
    write_replay(path, record(sim, sim.initial_state(), sim.hold(), 0.1))
    assert path.stat().st_size > 100_000


def test_geometry_positions_are_the_feet() -> None:
    sim = simulator("solo12")
    feet = geometry_positions(sim, sim.initial_state("standing"), "sphere")
    assert feet.shape == (4, 3)
    np.testing.assert_allclose(feet[:, 2], 0.0191, atol=1e-6)


def test_recorder_refuses_what_it_cannot_do() -> None:
    sim = simulator("ball-drop")
    state = sim.initial_state()
    with pytest.raises(ValueError, match="fps = 0"):
        Recorder(sim, fps=0)
    recorder = Recorder(sim)
    with pytest.raises(RecordError, match="nothing was recorded"):
        recorder.replay()
    recorder.capture(state)
    with pytest.raises(RecordError, match="not after"):
        recorder.capture(state)


def test_thin_mesh_keeps_the_shape() -> None:
    """A fine ball thinned to a tenth is still that ball."""
    n = 60
    u, v = np.meshgrid(np.linspace(0, np.pi, n), np.linspace(0, 2 * np.pi, n), indexing="ij")
    vertices = np.stack([np.sin(u) * np.cos(v), np.sin(u) * np.sin(v), np.cos(u)], axis=-1).reshape(
        -1, 3
    )
    i, j = np.meshgrid(np.arange(n - 1), np.arange(n - 1), indexing="ij")
    a = (i * n + j).ravel()
    triangles = np.vstack([np.stack([a, a + n, a + 1], 1), np.stack([a + 1, a + n, a + n + 1], 1)])
    thin_vertices, thin_triangles = thin_mesh(vertices, triangles, 700)
    assert 300 < len(thin_triangles) <= 700 and thin_triangles.max() < len(thin_vertices)
    radius = np.linalg.norm(thin_vertices, axis=1)
    assert radius.min() > 0.9 and radius.max() <= 1.0 + 1e-9
    same_vertices, same_triangles = thin_mesh(vertices, triangles, 10**6)
    assert len(same_triangles) <= len(triangles) and len(same_vertices) <= len(vertices)
