"""Belts, and geometries and mocap bodies that the user moves: they push, carry and wake."""

from __future__ import annotations

import numpy as np
import pytest
import stiction
from numpy.typing import NDArray
from stiction.gradient_check import check_gradients

Floats = NDArray[np.float64]
GRAVITY = 9.81


def at(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Floats:
    pose = np.eye(4)
    pose[:3, 3] = x, y, z
    return pose


def turned(angle: float, z: float = 0.0) -> Floats:
    pose, c, s = at(z=z), np.cos(angle), np.sin(angle)
    pose[:2, :2] = [[c, -s], [s, c]]
    return pose


def box_on_a_floor(friction: float, tilt: float = 0.0) -> tuple[stiction.Scene, int]:
    scene, material = stiction.Scene(), stiction.Material(friction=friction)
    floor = scene.add_geometry("floor", -1, stiction.Box([2.0, 1.0, 0.05]), at(z=-0.05), material)
    scene.add_body("box", stiction.Box([0.1, 0.1, 0.1]), 1.0, at(z=0.1), material)
    scene.parameters.gravity[:] = GRAVITY * np.array([np.sin(tilt), 0.0, -np.cos(tilt)])
    return scene, floor


# --- belts ----------------------------------------------------------------------------------------


def test_a_box_on_a_belt_slides_and_then_rides() -> None:
    """Friction mu speeds it up by mu g until it has the speed of the belt."""
    scene, belt = box_on_a_floor(0.4)
    scene.parameters.surface_velocity[belt] = [0.3, 0.0, 0.0, 0.0, 0.0, 0.0]
    off = []
    for dt in (2e-3, 1e-3, 5e-4):
        sim = stiction.Simulator(scene, dt=dt)
        state = sim.initial_state()
        sim.run(state, None, round(0.05 / dt))
        assert state.v[0] == pytest.approx(0.4 * GRAVITY * 0.05, rel=1e-6)
        sim.run(state, None, round(0.95 / dt))
        np.testing.assert_allclose(state.v, [0.3, 0.0, 0.0, 0.0, 0.0, 0.0], atol=1e-9)
        off.append(abs(state.q[0] - (0.3 - 0.3**2 / (2.0 * 0.4 * GRAVITY))))
    assert off[0] < 4e-4 and off[2] < 0.3 * off[0]


def test_a_belt_holds_and_drives_up_a_slope() -> None:
    """Friction 0.4 holds on a slope of 20 degrees; a belt then carries up it, and no faster."""
    scene, belt = box_on_a_floor(0.4, np.deg2rad(20.0))
    sim = stiction.Simulator(scene, dt=1e-3)
    state = sim.initial_state()
    sim.run(state, None, 500)
    assert abs(state.q[0]) < 1e-6
    sim.parameters.surface_velocity[belt] = [-0.3, 0.0, 0.0, 0.0, 0.0, 0.0]
    sim.run(state, None, 3000)
    assert state.v[0] == pytest.approx(-0.3, abs=1e-9)


def test_a_belt_does_nothing_along_the_normal() -> None:
    """At rest against the end of a belt."""
    scene, material = stiction.Scene(), stiction.Material(friction=0.0)
    scene.add_ground(material)
    belt = scene.add_geometry("belt", -1, stiction.Box([0.5, 0.5, 0.5]), at(z=0.5), material)
    scene.add_body("box", stiction.Box([0.1, 0.1, 0.1]), 1.0, at(x=0.6, z=0.1), material)
    for sign in (1.0, -1.0):
        scene.parameters.surface_velocity[belt] = [0.3 * sign, 0.0, 0.0, 0.0, 0.0, 0.0]
        sim = stiction.Simulator(scene, dt=1e-3)
        state = sim.initial_state()
        sim.run(state, None, 200)
        assert abs(state.q[0] - 0.6) < 1e-9


def test_a_spinning_belt_turns_what_lies_on_it_by_torsional_friction() -> None:
    scene, material = stiction.Scene(), stiction.Material(friction=0.5, torsional_friction=0.01)
    disc = scene.add_geometry("disc", -1, stiction.Cylinder(1.0, 0.01), at(z=-0.01), material)
    scene.add_body("ball", stiction.Sphere(0.05), 0.1, at(z=0.05), material)
    scene.parameters.surface_velocity[disc] = [0.0, 0.0, 0.0, 0.0, 0.0, 2.0]
    sim = stiction.Simulator(scene, dt=1e-3)
    state = sim.initial_state()
    sim.run(state, None, 1000)
    assert state.v[5] == pytest.approx(2.0, abs=1e-9)


# --- geometries that move -------------------------------------------------------------------------


def off_a_turntable(dt: float) -> float:
    """Of a coin after 2 s on a disc that the user turns at 3 rad/s [m]."""
    scene, material = stiction.Scene(), stiction.Material(friction=1.0)
    disc = scene.add_geometry("disc", -1, stiction.Cylinder(2.0, 0.01), at(z=-0.01), material)
    coin = stiction.Cylinder(0.02, 0.005)
    scene.add_body("coin", coin, 0.05, at(x=0.5, z=0.005), material)
    sim = stiction.Simulator(scene, dt=dt)
    sim.parameters.geometry_velocity[disc] = [0.0, 0.0, 0.0, 0.0, 0.0, 3.0]
    state = sim.initial_state()
    state.v[:] = [0.0, 1.5, 0.0, 0.0, 0.0, 3.0]
    start = 0.5
    for k in range(round(2.0 / dt)):
        sim.parameters.set_geometry_placement(disc, turned(3.0 * k * dt, -0.01))
        sim.step(state)
        if k == round(0.2 / dt):
            start = float(np.hypot(*state.q[:2]))
    return abs(float(np.hypot(*state.q[:2])) - start)


def test_a_turntable_carries_a_coin() -> None:
    off = [off_a_turntable(dt) for dt in (4e-3, 2e-3, 1e-3)]
    assert off[0] < 3e-6  # w^2 r dt / 2 would be 18 mm
    assert off[0] > 3.0 * off[1] > 9.0 * off[2]


def test_a_robot_rides_a_lift_and_a_turntable() -> None:
    """Solo-12 stands on ground that rises and turns: it goes with it and its feet do not slip."""
    robot = stiction.load("solo12")
    plate = next(i for i, g in enumerate(robot.geometries) if g.body < 0)
    dt = 1e-3
    sim = stiction.Simulator(robot, dt=dt)
    state, control = sim.initial_state("standing"), sim.hold("standing")
    sim.run(state, control, 500)
    height, fastest = state.q[2], 0.0
    for k in range(1000):
        ramp = min(1.0, k * dt / 0.3)
        rise, turn = 0.1 * ramp, 0.8 * ramp
        angle = 0.8 * (0.5 * k * dt * ramp if ramp < 1.0 else k * dt - 0.15)
        lift = 0.1 * (0.5 * k * dt * ramp if ramp < 1.0 else k * dt - 0.15)
        sim.parameters.set_geometry_placement(plate, turned(angle, lift))
        sim.parameters.geometry_velocity[plate] = [0.0, 0.0, rise, 0.0, 0.0, turn]
        report = sim.step(state, control)
        fastest = max(fastest, report.creep)
    assert state.q[2] - height == pytest.approx(0.1 * 0.85, abs=2e-3)
    yaw = 2.0 * np.arctan2(state.q[5], state.q[6])
    assert yaw == pytest.approx(0.8 * 0.85, abs=0.02)
    assert fastest < 1e-6


def test_what_is_pushed_goes_at_the_speed_of_the_pusher() -> None:
    """At 2 m/s, above the recovery speed: by hand, with the velocity and without."""
    ends = []
    for given in (True, False):
        scene, material = stiction.Scene(), stiction.Material(friction=0.3)
        scene.add_ground(material)
        paddle = scene.add_geometry("paddle", -1, stiction.Box([0.05, 0.2, 0.1]), None, material)
        scene.add_body("box", stiction.Box([0.05, 0.05, 0.05]), 1.0, at(z=0.05), material)
        sim = stiction.Simulator(scene, dt=1e-3)
        state = sim.initial_state()
        for k in range(400):
            place = at(x=-0.11 + 2.0 * k * 1e-3, z=0.1)
            sim.parameters.set_geometry_placement(paddle, place)
            if given:
                sim.parameters.geometry_velocity[paddle, 0] = 2.0
            sim.step(state)
        ends.append(float(state.q[0]))
    assert ends[0] == pytest.approx(-0.11 + 0.8 + 0.1, abs=1e-3)
    assert ends[1] < 0.5 * ends[0]  # passed through


def test_a_surface_that_begins_to_move_wakes() -> None:
    for field in ("surface_velocity", "geometry_velocity"):
        scene, floor = box_on_a_floor(0.5)
        sim = stiction.Simulator(scene, dt=1e-3, sleeping=True)
        state = sim.initial_state()
        sim.run(state, None, 2000)
        assert len(sim.asleep(state)) == 1
        getattr(sim.parameters, field)[floor, 0] = 0.1
        sim.run(state, None, 300)
        assert state.v[0] == pytest.approx(0.1, abs=1e-9)


@pytest.mark.parametrize("on_table", [False, True])
def test_derivatives_are_those_of_differences(on_table: bool) -> None:
    """A box and a ball ride and slide on a belt, or on a table that turns and rises."""
    scene, material = stiction.Scene(), stiction.Material(friction=0.4)
    floor = scene.add_geometry("floor", -1, stiction.Cylinder(2.0, 0.05), at(z=-0.05), material)
    scene.add_body("box", stiction.Box([0.1, 0.08, 0.06]), 1.0, at(x=0.4, z=0.06), material)
    scene.add_body("ball", stiction.Sphere(0.1), 1.0, at(x=-0.4, z=0.1), material)
    sim = stiction.Simulator(scene, dt=2e-3, tolerance=1e-13)
    if on_table:
        sim.parameters.geometry_velocity[floor] = [0.1, -0.1, 0.05, 0.0, 0.0, 1.5]
    else:
        sim.parameters.surface_velocity[floor] = [0.2, 0.1, 0.0, 0.0, 0.0, 1.5]
    state, pose, looked = sim.initial_state(), np.eye(4), 0
    state.v[:6] = [0.3, 0.1, 0.0, 0.2, -0.1, 2.0]
    pose[2, 3] = -0.05
    wrt = ("q", "v", "friction", "geometry_placement", "geometry_velocity", "surface_velocity")
    for k in range(160):
        if on_table:
            pose[:3, 3] += pose[:3, :3] @ [2e-4, -2e-4, 1e-4]
            pose[:3, :3] = pose[:3, :3] @ turned(3e-3)[:3, :3]
            sim.parameters.set_geometry_placement(floor, pose)
        sim.step(state)
        if k < 40 or k % 40 > 0:
            continue
        above = state.copy()
        above.q[[2, 9]] += 1e-5  # away from the kink at a gap of zero
        found = check_gradients(sim, above, None, wrt)
        assert not found.wrong, (k, [str(c) for c in found.wrong])
        looked += 1
    assert looked == 3


def test_worlds_of_a_batch_ride_too() -> None:
    """Lanes have no moving surfaces; their worlds are then those of simulators to the bit."""
    scene = stiction.load("solo12")
    ground = next(i for i, g in enumerate(scene.geometries) if g.body < 0)
    scene.parameters.surface_velocity[ground, 0] = 0.2
    batch = stiction.Batch(scene, 4, dt=1e-3, configuration="standing")
    sim = stiction.Simulator(scene, dt=1e-3)
    state, control = sim.initial_state("standing"), sim.hold("standing")
    batch.step(300)
    sim.run(state, control, 300)
    assert state.v[0] > 0.1
    np.testing.assert_array_equal(batch.q[0], state.q)


def test_inverse_dynamics_knows_the_belt() -> None:
    scene, belt = box_on_a_floor(0.4)
    scene.parameters.surface_velocity[belt, 0] = 0.3
    sim = stiction.Simulator(scene, dt=1e-3)
    state = sim.initial_state()
    for _ in range(20):
        before = state.copy()
        sim.step(state)
    found = stiction.inverse_contact_dynamics(sim, before, state.v, control=stiction.Control(6))
    assert np.abs(found.residual).max() < 1e-6


def test_velocities_that_are_none_are_refused() -> None:
    scene, belt = box_on_a_floor(0.4)
    sim = stiction.Simulator(scene, dt=1e-3)
    state = sim.initial_state()
    for field in ("surface_velocity", "geometry_velocity"):
        getattr(sim.parameters, field)[belt, 4] = np.nan
        with pytest.raises(ValueError, match=rf"{field}\[0\]"):
            sim.step(state)
        getattr(sim.parameters, field)[belt, 4] = 0.0


# --- MJCF -----------------------------------------------------------------------------------------

PADDLE = """<mujoco><option timestep=".002"/><worldbody>
<geom type="plane" size="5 5 .1" friction=".6"/>
<body name="pad" mocap="true" pos="-.3 0 .1"><geom type="box" size=".05 .2 .1"/></body>
<body name="lift" mocap="true" pos="0 1 .1">
  <geom type="box" size=".2 .2 .02" friction=".8"/></body>
<body name="b1" pos="0 0 .05"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body>
<body name="b2" pos="0 1 .17"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/></body>
</worldbody></mujoco>"""


@pytest.mark.parametrize("speed", [0.1, 0.3, 1.0])
def test_a_mocap_paddle_pushes_and_a_lift_carries(speed: float) -> None:
    model = stiction.load_mjcf(PADDLE)
    sim = model.simulation()
    for k in range(1000):
        t = min(k * 0.002, 1.5)
        sim.place("pad", [-0.3 + speed * t, 0.0, 0.1])
        sim.place("lift", [0.1 * t, 1.0, 0.1 + 0.05 * min(t, 1.0)])
        sim.step()
    q = stiction.to_mujoco_qpos(model.scene, sim.state.q)
    reached = -0.3 + speed * 1.5 + 0.1
    if speed < 0.2:
        assert q[0] == pytest.approx(max(0.0, reached), abs=2e-3)
    else:  # thrown on by the last push, at most as friction lets it slide
        assert reached - 2e-3 < q[0] < reached + speed**2 / (2.0 * 0.6 * GRAVITY) + 5e-3
    assert q[7:10] == pytest.approx([0.15, 1.0, 0.22], abs=3e-3)


def test_a_jump_of_a_mocap_body_is_no_motion() -> None:
    sim = stiction.load_mjcf(PADDLE).simulation()
    sim.step()
    sim.place("lift", [0.0, 1.0, 0.2])  # 10 cm into the falling box
    sim.step()
    assert np.linalg.norm(sim.sim.parameters.geometry_velocity) == 0.0
    sim.place("lift", [0.0, 1.0, 0.2], velocity=[0.0, 0.0, 0.5, 0.0, 0.0, 0.0])
    sim.step()
    assert np.abs(sim.sim.parameters.geometry_velocity[:, 2]).max() == pytest.approx(0.5)
    sim.step()
    assert np.linalg.norm(sim.sim.parameters.geometry_velocity) == 0.0


def test_a_saved_simulation_goes_on_with_the_motion_of_its_mocap_bodies() -> None:
    def go_on(sim: stiction.MjcfSimulation, begin: int) -> Floats:
        for k in range(begin, begin + 60):
            sim.place("pad", [-0.16 + 6e-4 * k, 0.0, 0.1])
            sim.step()
        return np.concatenate([sim.state.q, sim.state.v])

    model = stiction.load_mjcf(PADDLE)
    first = model.simulation()
    go_on(first, 0)
    first.place("pad", [-0.16 + 6e-4 * 60, 0.0, 0.1])
    saved = first.save()
    other = model.simulation()
    other.restore(saved)
    np.testing.assert_array_equal(go_on(first, 60), go_on(other, 60))


def test_surfacevel_of_a_file_is_that_of_mujoco() -> None:
    mujoco = pytest.importorskip("mujoco")
    text = """<mujoco><option timestep=".001"/><worldbody>
    <geom name="belt" type="box" size="2 .3 .05" pos="0 0 -.05" euler="0 0 30" friction=".4"
      surfacevel="0.3 0 0 0 0 0"/>
    <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1" friction=".4"/></body>
    </worldbody></mujoco>"""
    model = stiction.load_mjcf(text)
    assert not [m for m in model.messages if "surfacevel" in str(m)]
    sim = model.simulation()
    m = mujoco.MjModel.from_xml_string(text)
    d = mujoco.MjData(m)
    for _ in range(1000):
        sim.step()
        mujoco.mj_step(m, d)
    wanted = 0.3 * np.array([np.cos(np.pi / 6.0), 0.5])
    np.testing.assert_allclose(sim.state.v[:2], wanted, atol=1e-9)
    np.testing.assert_allclose(d.qvel[:2], wanted, atol=1e-3)
