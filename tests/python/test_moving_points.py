"""exponential where contact points move over both surfaces: one step against rk4."""

from __future__ import annotations

import numpy as np
import pytest
import stiction

SOFT = stiction.Material(friction=1.5, stiffness=2e4, damping=100.0)
ARM = """<robot name="arm">
<link name="base"/>
<link name="a"><inertial><origin xyz="0.3 0 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="b"><inertial><origin xyz="0.3 0 0"/><mass value="1"/>
<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j1" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
<limit lower="-100" upper="100" effort="100" velocity="100"/></joint>
<joint name="j2" type="revolute"><parent link="a"/><child link="b"/><origin xyz="0.6 0 0"/>
<axis xyz="0 1 0"/><limit lower="-100" upper="100" effort="100" velocity="100"/></joint>
</robot>"""


def error_of_a_step(
    scene: stiction.Scene, q: np.ndarray, v: np.ndarray, h: float, integrator: str = "exponential"
) -> float:
    def end(name: str, parts: int) -> np.ndarray:
        sim = stiction.Simulator(scene, dt=h / parts, integrator=name, per_point_stiffness=True)
        state = stiction.make_state(scene, q, v)
        assert sim.run(state, steps=parts).status == "ok"
        return np.concatenate([state.q, state.v])

    return float(np.abs(end(integrator, 1) - end("rk4", 16)).max())


def placed(at: np.ndarray) -> np.ndarray:
    pose = np.eye(4)
    pose[:3, 3] = at
    return pose


@pytest.mark.parametrize("azimuth", [0.0, 1.0, 2.5, 4.0])
def test_a_ball_that_rolls_over_the_pole_of_another(azimuth: float) -> None:
    """Near the anchor body's x axis the tangents of the contact frame change their axis."""
    cos, sin = np.cos(azimuth), np.sin(azimuth)
    errors = []
    for h in (1e-3, 1e-4):
        angle = 0.1 + 0.5 * h / 0.349  # changes half way through the step
        n = np.array([np.cos(angle), np.sin(angle) * cos, np.sin(angle) * sin])
        t = np.array([np.sin(angle), -np.cos(angle) * cos, -np.cos(angle) * sin])
        side = np.cross(n, t)
        scene = stiction.Scene()
        scene.parameters.gravity[:] = 0.0
        scene.add_geometry("pole", "world", stiction.Sphere(0.3), None, SOFT)
        scene.add_body("ball", stiction.Sphere(0.05), 1.0, placed(0.348 * n), SOFT)
        q = stiction.Simulator(scene, integrator="rk4").initial_state().q
        v = np.concatenate([t, side / 0.05 + 3.0 * side + 2.0 * n])
        errors.append(error_of_a_step(scene, q, v, h))
    assert errors[0] < 1e-4
    assert errors[1] < 1e-2 * errors[0]  # local error, of third order


def mesh() -> stiction.TriangleMesh:
    x = np.linspace(-0.4, 0.4, 11)
    heights = 0.01 * np.sin(9.0 * x[:, None]) * np.cos(7.0 * x[None, :])
    vertices = [[a, b, heights[i, j]] for i, a in enumerate(x) for j, b in enumerate(x)]
    cells = [(11 * i + j, 11 * i + j + 1) for i in range(10) for j in range(10)]
    triangles = [[a, a + 11, b] for a, b in cells] + [[b, a + 11, b + 11] for a, b in cells]
    return stiction.TriangleMesh(np.array(vertices), np.array(triangles))


@pytest.mark.parametrize(
    "shape",
    [stiction.Cone(0.06, 0.06), stiction.Cylinder(0.06, 0.04), stiction.Box([0.05, 0.06, 0.04])],
    ids=["cone", "cylinder", "box"],
)
def test_a_body_that_tumbles_over_a_mesh(shape: stiction.Shape) -> None:
    """Points lie within millimetres of each other there, and their rows nearly depend."""
    scene = stiction.Scene()
    soft = stiction.Material(friction=0.6, stiffness=2e4, damping=40.0)
    scene.add_geometry("mesh", "world", mesh(), None, soft)
    scene.add_body("body", shape, 1.0, placed(np.array([0.01, 0.02, 0.12])), soft)
    h = 2.5e-4
    sim = stiction.Simulator(scene, dt=h, integrator="exponential", per_point_stiffness=True)
    state = sim.initial_state()
    state.v[:] = [0.3, -0.2, -1.0, 12.0, 8.0, -4.0]
    errors, touched = [], 0
    for _ in range(1200):
        q, v = state.q.copy(), state.v.copy()
        touched += sim.step(state).num_contacts > 0
        errors.append(error_of_a_step(scene, q, v, h))
    assert touched > 100
    # A step from relaxed springs; edges of the mesh take points over from each other.
    assert np.mean(np.array(errors) > 0.02) < 0.01
    assert np.median(errors) < 1e-4


def test_rotors_count_in_the_energy() -> None:
    """A rotor that gives its energy to a light link is no gain: no step is cut or scaled for it."""
    scene = stiction.Scene()
    scene.add_ground(SOFT)
    scene.add_robot(stiction.load_urdf_string(ARM, "arm.urdf", free_flyer=False))
    scene.parameters.armature[:] = [2.0, 0.01]
    scene.parameters.gravity[:] = 0.0
    sim = stiction.Simulator(scene, dt=0.02, integrator="exponential")
    state = sim.initial_state()
    state.q[1] = 1.0
    state.v[:] = [3.0, 15.0]
    for _ in range(20):
        report = sim.step(state)
        assert report.status == "ok"
        assert report.iterations == 1
