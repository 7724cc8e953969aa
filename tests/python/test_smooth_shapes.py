"""Cylinders, cones and ellipsoids through the Python package: queries, scenes, recordings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio
import pytest
import stiction
from stiction.record import Recorder
from stiction.replay import ReplayError, ReplayGeometry, write_replay
from stiction.visuals import robot_visuals


def at(x: float, y: float, z: float, rpy: tuple[float, float, float] = (0, 0, 0)) -> pinocchio.SE3:
    return pinocchio.SE3(pinocchio.rpy.rpyToMatrix(*rpy), np.array([x, y, z], dtype=float))


CYLINDER = stiction.Cylinder(0.1, 0.2)
CONE = stiction.Cone(0.1, 0.2)
ELLIPSOID = stiction.Ellipsoid([0.1, 0.2, 0.3])


def test_smooth_shapes_tell_what_they_are() -> None:
    for shape, kind, size, text in [
        (CYLINDER, "cylinder", [0.1, 0.2, 0], "Cylinder(0.1, 0.2)"),
        (CONE, "cone", [0.1, 0.2, 0], "Cone(0.1, 0.2)"),
        (ELLIPSOID, "ellipsoid", [0.1, 0.2, 0.3], "Ellipsoid([0.1, 0.2, 0.3])"),
    ]:
        assert shape.type == kind and shape.bounded() and repr(shape) == text
        np.testing.assert_array_equal(shape.size, size)
        assert shape.vertices is None and shape.triangles is None


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: stiction.Cylinder(0.0, 1.0), "radius = 0"),
        (lambda: stiction.Cylinder(1.0, float("nan")), "half_length = nan"),
        (lambda: stiction.Cone(-1.0, 1.0), "radius = -1"),
        (lambda: stiction.Ellipsoid([1.0, 0.0, 1.0]), "half_axes.y = 0"),
        (lambda: stiction.Ellipsoid([1.0, 1.0]), "half_axes"),
    ],
)
def test_bad_sizes_are_named(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]


def test_mass_and_support() -> None:
    cone = stiction.mass_properties(CONE, 1000.0)
    assert cone.mass == pytest.approx(1000 * np.pi * 0.01 * 0.4 / 3)
    np.testing.assert_allclose(cone.com, [0, 0, -0.1], atol=1e-15)
    np.testing.assert_allclose(stiction.support(CYLINDER, [3, 4, -1]), [0.06, 0.08, -0.2])
    np.testing.assert_allclose(stiction.support(CONE, [1, 0, 1]), [0, 0, 0.2])
    np.testing.assert_allclose(stiction.support(ELLIPSOID, [0, -2, 0]), [0, -0.2, 0])
    assert stiction.bounding_radius(ELLIPSOID) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("shape", "rpy", "height", "points"),
    [
        (CYLINDER, (0, 0, 0), 0.2, 4),
        (CYLINDER, (0, np.pi / 2, 0.3), 0.1, 2),
        (CONE, (0, 0, 0), 0.2, 4),
        (CONE, (np.pi, 0, 0), 0.2, 1),
        (ELLIPSOID, (0, 0, 0), 0.3, 1),
    ],
)
@pytest.mark.parametrize("ground", ["plane", "box"])
def test_manifolds_on_the_ground(
    shape: stiction.Shape, rpy: tuple[float, float, float], height: float, points: int, ground: str
) -> None:
    depth = 1e-4
    plane = ground == "plane"
    floor = stiction.HalfSpace() if plane else stiction.Box([1, 1, 0.5])
    X_WA, X_WB = at(0, 0, 0 if plane else -0.5), at(0, 0, height - depth, rpy)
    manifold = stiction.contact_manifold(floor, X_WA, shape, X_WB)
    assert len(manifold) == points
    for point in manifold:
        assert point.gap == pytest.approx(-depth, abs=1e-9)
        np.testing.assert_allclose(point.normal, [0, 0, 1], atol=1e-9)
        assert point.position[2] == pytest.approx(-0.5 * depth, abs=1e-9)
    assert stiction.collide(floor, X_WA, shape, X_WB)


def standing_scene() -> stiction.Scene:
    scene = stiction.Scene()
    material = stiction.Material(friction=0.7)
    scene.add_ground(material)
    scene.add_geometry("table", -1, stiction.Cylinder(0.5, 0.05), at(2, 0, 0.05), material)
    scene.add_body("can", CYLINDER, 0.5, at(0, 0, 0.2), material)
    scene.add_body("log", CYLINDER, 0.5, at(0, 1, 0.1, (np.pi / 2, 0, 0)), material)
    scene.add_body("cone", CONE, 0.5, at(2, 0, 0.3), material)
    scene.add_body("egg", stiction.Ellipsoid([0.3, 0.2, 0.1]), 0.5, at(2, 0.3, 0.2), material)
    return scene


def test_bodies_stand_where_they_are_put(tmp_path: Path) -> None:
    sim = stiction.Simulator(standing_scene(), dt=1e-3)
    state, control = sim.initial_state(), sim.hold()
    start = state.q.copy()
    recorder = Recorder(sim, title="round things")
    recorder.capture(state)
    for _ in range(1000):
        report = sim.step(state, control)
        recorder.after_step(state)
    np.testing.assert_allclose(state.q, start, atol=1e-6)
    assert report.num_contacts == 4 + 2 + 4 + 1
    replay = recorder.replay()
    kinds = {g.shape for body in replay.bodies for g in body.geometries}
    assert {"cylinder", "cone", "ellipsoid"} <= kinds
    page = write_replay(tmp_path / "round.html", replay).read_text()
    assert '"cone"' in page and '"ellipsoid"' in page


def test_replay_checks_sizes(tmp_path: Path) -> None:
    sim = stiction.Simulator(standing_scene(), dt=1e-3)
    recorder = Recorder(sim)
    recorder.capture(sim.initial_state())
    replay = recorder.replay()
    replay.bodies[0].geometries = [ReplayGeometry("ellipsoid", (1.0, 2.0))]
    with pytest.raises(ReplayError, match="half axes"):
        write_replay(tmp_path / "bad.html", replay)


def test_urdf_cylinders_stay_cylinders(tmp_path: Path) -> None:
    path = tmp_path / "can.urdf"
    path.write_text(
        """<robot name="can"><link name="base">
        <inertial><mass value="1"/>
        <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
        <visual><geometry><cylinder radius="0.1" length="0.4"/></geometry></visual>
        <collision><geometry><cylinder radius="0.1" length="0.4"/></geometry></collision>
        </link></robot>"""
    )
    scene = stiction.load(str(path))
    cans = [g.shape for g in scene.geometries if g.shape.type == "cylinder"]
    assert len(cans) == 1
    np.testing.assert_array_equal(cans[0].size, [0.1, 0.2, 0])
    assert not [m for m in scene.messages if "cylinder" in str(m)]
    visuals = robot_visuals(stiction.pinocchio_model(scene, scene.robots[0].name), path)
    assert [g.shape for found in visuals.values() for g in found] == ["cylinder"]
