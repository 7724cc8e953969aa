"""Contacts of bodies that turn: the velocity in the middle of the step, kicks at its nodes."""

from __future__ import annotations

import numpy as np
import pytest
import stiction
from numpy.typing import NDArray
from stiction.gradient_check import check_gradients

DISC = """<robot name="t"><link name="base"/><link name="disc"><inertial><mass value="5"/>
<inertia ixx=".1" iyy=".1" izz=".2" ixy="0" ixz="0" iyz="0"/></inertial><collision>
<origin xyz="0 0 -.01"/><geometry><cylinder radius="2" length=".02"/></geometry></collision></link>
<joint name="a" type="continuous"><parent link="base"/><child link="disc"/><axis xyz="0 0 1"/>
</joint></robot>"""


def on_a_turntable(
    shape: stiction.Shape, height: float, dt: float, speed: float
) -> tuple[stiction.Simulator, stiction.State, stiction.Control]:
    """A body 0.5 m from the axis of a table that is driven at `speed` [rad/s]."""
    material = stiction.Material(friction=1.0)
    scene = stiction.Scene()
    scene.add_robot(stiction.load_urdf_string(DISC, "t", free_flyer=False, material=material))
    pose = np.eye(4)
    pose[:3, 3] = 0.5, 0.0, height
    scene.add_body("body", shape, 0.05, pose, material)
    scene.set_gains("a", 0.0, 1e6)
    sim = stiction.Simulator(scene, dt=dt)
    state, control = sim.initial_state(), stiction.Control(scene.nv)
    control.velocity_target = np.zeros(scene.nv)
    control.velocity_target[scene.dof("a")] = state.v[scene.dof("a")] = speed
    return sim, state, control


def test_a_coin_stays_where_it_lies() -> None:
    for dt in (4e-3, 1e-3):
        sim, state, control = on_a_turntable(stiction.Cylinder(0.02, 0.005), 0.005, dt, 3.0)
        state.v[-5] = 1.5
        state.v[-1] = 3.0
        for _ in range(round(0.2 / dt)):
            sim.step(state, control)
        start = np.hypot(*state.q[-7:-5])
        for _ in range(round(2.0 / dt)):
            report = sim.step(state, control)
        assert report.creep < 1e-9
        assert abs(np.hypot(*state.q[-7:-5]) - start) < 2e-6 * (dt / 1e-3) ** 2  # 4.5 mm before


def off_its_circle(dt: float) -> float:
    """Of a ball that rolls, after 4 s: the circle of 2/7 of the table's speed [m]."""
    radius, speed, v = 0.05, 3.0, 0.3
    sim, state, control = on_a_turntable(stiction.Sphere(radius), radius, dt, speed)
    state.v[-6:] = [0, v, 0, (0.5 * speed - v) / radius, 0, 0]
    for _ in range(round(4.0 / dt)):
        sim.step(state, control)
    turn = 2.0 / 7.0 * speed
    ahead = v / turn * np.array([np.cos(turn * 4.0) - 1.0, np.sin(turn * 4.0)])
    return float(np.linalg.norm(state.q[-7:-5] - [0.5, 0.0] - ahead))


def test_a_ball_on_a_turntable_rolls_on_its_circle() -> None:
    off = [off_its_circle(dt) for dt in (4e-3, 2e-3, 1e-3)]
    assert off[0] < 1e-5  # 2 mm before
    assert off[0] > 3.5 * off[1] > 3.5**2 * off[2]  # order 2


SHAPES = {
    "box": stiction.Box([0.1, 0.07, 0.05]),
    "ball": stiction.Sphere(0.1),
    "capsule": stiction.Capsule(0.05, 0.1),
    "disc": stiction.Cylinder(0.1, 0.02),
    "ellipsoid": stiction.Ellipsoid([0.1, 0.07, 0.05]),
}


def tumbling(shape: stiction.Shape, offset: float) -> tuple[stiction.Simulator, stiction.State]:
    """On the ground, its centre of mass beside that of its shape."""
    material = stiction.Material(friction=0.5)
    scene = stiction.Scene()
    scene.add_ground(material)
    pose = np.eye(4)
    pose[2, 3] = 0.15
    scene.add_body("b", shape, 1.0, pose, material)
    sim = stiction.Simulator(scene, dt=2e-3, baumgarte=1.0, tolerance=1e-13)
    sim.parameters.com[0] = offset * np.array([0.5, -0.3, 0.2])
    state = sim.initial_state()
    state.v = np.array([0.5, 0.2, 0.0, 3.0, 2.0, 5.0])
    return sim, state


@pytest.mark.parametrize("name", SHAPES)
def test_derivatives_are_those_of_differences(name: str) -> None:
    sim, state = tumbling(SHAPES[name], 0.02)
    looked = 0
    for k in range(300):
        report = sim.step(state)
        if report.num_contacts == 0 or k < 100 or k % 40 > 0:
            continue
        wrt = ("q", "v", "torque", "com", "inertia", "geometry_placement", "geometry_size")
        above = state.copy()
        above.q[2] += 1e-5  # away from the kink at a gap of zero
        found = check_gradients(sim, above, None, wrt)
        assert not found.wrong, (k, [str(c) for c in found.wrong])
        looked += 1
    assert looked > 2


@pytest.mark.parametrize("name", SHAPES)
def test_inverse_dynamics_takes_kicks_back(name: str) -> None:
    """No force but those of contacts explains the motion of a body that nothing else moves."""
    sim, state = tumbling(SHAPES[name], 0.02)
    control, kicked = stiction.Control(6), 0
    for _ in range(300):
        before = state.copy()
        report = sim.step(state, control)
        if report.num_contacts == 0:
            continue
        found = stiction.inverse_contact_dynamics(sim, before, state.v, control=control)
        assert np.abs(found.residual).max() < 1e-4  # impacts take up to 1 kN
        kicked += 1
    assert kicked > 50


def test_what_comes_near_without_carrying_changes_nothing() -> None:
    """A capsule slides and turns on one end, its other end within the margin or not."""

    def after(margin: float) -> tuple[int, NDArray[np.float64]]:
        scene = stiction.Scene()
        material = stiction.Material(friction=0.3)
        scene.add_ground(material)
        tilt, radius, half_length = 0.04, 0.05, 0.1
        pose = np.eye(4)
        pose[:3, :3] = [
            [np.sin(tilt), 0.0, np.cos(tilt)],
            [0.0, 1.0, 0.0],
            [-np.cos(tilt), 0.0, np.sin(tilt)],
        ]
        pose[2, 3] = radius + half_length * np.sin(tilt)
        scene.add_body("b", stiction.Capsule(radius, half_length), 1.0, pose, material)
        sim = stiction.Simulator(scene, dt=1e-3, tolerance=1e-13, margin=margin)
        state = sim.initial_state()
        state.v = np.array([0.0, 0.5, 1.0, 6.0, 0.0, 0.0])
        sim.step(state)
        return sim.step(state).num_contacts, state.v

    one, alone = after(1e-3)
    two, beside = after(2e-2)
    assert (one, two) == (1, 2)
    np.testing.assert_allclose(beside, alone, atol=1e-11)
