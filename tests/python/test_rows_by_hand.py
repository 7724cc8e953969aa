"""Single rows of a step against what they are worked out to by hand."""

from __future__ import annotations

import numpy as np
import pytest
import stiction


def joints(*specs: str) -> stiction.Scene:
    """Links of 1 kg on the world, one joint about z each: "revolute" or "continuous", no weight."""
    ends = {"revolute": 'lower="-1" upper="1"', "continuous": ""}
    links = "".join(
        f"""<joint name="j{i}" type="{kind}"><parent link="base"/><child link="l{i}"/>
        <axis xyz="0 0 1"/><limit {ends[kind]} effort="100" velocity="100"/></joint>
        <link name="l{i}"><inertial><mass value="1"/>
        <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>"""
        for i, kind in enumerate(specs)
    )
    robot = stiction.load_urdf_string(
        f'<robot name="r"><link name="base"/>{links}</robot>', free_flyer=False
    )
    scene = stiction.Scene()
    scene.add_robot(robot)
    scene.parameters.gravity = [0, 0, 0]
    return scene


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("gap", [0.03, 0.01])
def test_a_fast_joint_meets_its_limit_in_time(sign: int, gap: float) -> None:
    """40 rad/s go 0.04 rad in a step, beyond limit_margin: the row must be there all the same."""
    sim = stiction.Simulator(joints("revolute"), dt=1e-3)
    assert sim.settings.limit_margin == 0.02
    state = sim.initial_state()
    state.q[0], state.v[0] = sign * (1 - gap), sign * 40.0
    assert sim.step(state).num_rows == 1
    assert sign * state.q[0] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("turns", [-1, 0, 1])
def test_a_gear_of_continuous_joints_knows_no_full_turns(turns: int) -> None:
    """Their angles are known up to turns: what is closed but for them does not move."""
    scene = joints("continuous", "continuous")
    scene.add_gear("g", 0, 1, 2.0, 0.3)
    sim = stiction.Simulator(scene)
    for driver in np.linspace(-3, 3, 13):
        driven = 2 * driver + 0.3 + 2 * np.pi * turns
        angles = np.array([driven, driver])
        q = np.column_stack([np.cos(angles), np.sin(angles)]).ravel()
        state = stiction.make_state(scene, q)
        assert sim.step(state).num_rows == 1
        np.testing.assert_allclose(state.v, 0, atol=1e-9)
        state = stiction.make_state(
            scene, np.r_[np.cos(driven + 1e-4), np.sin(driven + 1e-4), q[2:]]
        )
        sim.step(state)
        error = np.arctan2(state.q[1], state.q[0]) - 2 * np.arctan2(state.q[3], state.q[2]) - 0.3
        assert np.sin(error) == pytest.approx(0.0, abs=1e-9) and np.cos(error) > 0


@pytest.mark.parametrize("damping", [0.0, 50.0, 5000.0])
def test_a_damper_waits_until_the_gap_is_closed(damping: float) -> None:
    """Above the surface R = 1 / (k dt^2), and the bias is gap / dt: the damper does nothing."""
    k, m, gap, dt = 1e4, 2.0, 4e-4, 1e-3
    scene = stiction.Scene()
    scene.add_ground()
    at = np.eye(4)
    at[2, 3] = 0.1 + gap
    soft = stiction.Material(stiffness=k, damping=damping)
    scene.add_body("ball", stiction.Sphere(0.1), m, at, soft)
    scene.parameters.gravity = [0, 0, 0]
    sim = stiction.Simulator(scene, dt=dt)
    state = sim.initial_state()
    state.v[2] = -1.0
    assert sim.step(state).num_contacts == 1
    impulse = (1.0 - gap / dt) / (1 / m + 1 / (k * dt * dt))
    assert state.v[2] == pytest.approx(-1.0 + impulse / m, rel=1e-9)
    state = sim.initial_state()  # and closed it acts: R = 1 / (dt (k dt + d))
    state.q[2], state.v[2] = 0.1 - gap, -1.0
    sim.step(state)
    resistance = 1 / (dt * (k * dt + damping))
    impulse = (1.0 + k * gap / (k * dt + damping)) / (1 / m + resistance)
    assert state.v[2] == pytest.approx(-1.0 + impulse / m, rel=1e-9)


def test_a_loose_body_spins_about_its_pivot() -> None:
    """Pinned at its origin, 0.1 m from its centre: the drift of each step, w^2 r dt^2 / 2, is much
    faster than an open closure may close, and is undone all the same."""
    scene = stiction.Scene()
    scene.add_body("bar", stiction.Box([0.2, 0.02, 0.02]), 1.0)
    scene.parameters.gravity = [0, 0, 0]
    scene.parameters.com[0] = [0.1, 0, 0]
    scene.add_point_closure("pivot", 0, [0, 0, 0], -1, [0, 0, 0])
    dt, w = 1e-3, 300.0
    sim = stiction.Simulator(scene, dt=dt)
    state = sim.initial_state()
    state.v[:] = [0, 0, 0, 0, 0, w]
    drift = 0.5 * w * w * 0.1 * dt * dt
    assert drift / dt > 5 * sim.settings.recovery_speed
    for _ in range(100):
        sim.step(state)
        assert np.linalg.norm(state.q[:3]) < 2 * drift
    assert abs(state.v[5]) > 0.5 * w


@pytest.mark.parametrize("low", [-np.inf, -1.0])
@pytest.mark.parametrize("high", [np.inf, 1.0])
@pytest.mark.parametrize("speed", [0.5, -0.5])
def test_a_velocity_against_an_end_that_is_not_there(low: float, high: float, speed: float) -> None:
    """c > 0 asks for the lower end, c < 0 for the upper; where there is none, c is just wrong."""
    problem = stiction.ContactProblem(np.eye(1), [speed], sets=[stiction.BoxSet(low, high)])
    found = stiction.residuals(problem, [0.0])
    end = low if speed > 0 else high
    if np.isfinite(end):
        assert (found.dual, found.complementarity) == (0.0, 0.5)
    else:
        assert (found.dual, found.complementarity) == (0.5, 0.0)


# --- reports ------------------------------------------------------------------------------


def creep_of(sim: stiction.Simulator) -> float:
    """Fastest tangential speed of a contact that carries a load inside its cone [m/s]."""
    fastest = 0.0
    for c in sim.contacts():
        friction, load = np.hypot(*c.impulse[:2]), c.impulse[2]
        if load > 0 and friction < c.friction * load * (1 - 1e-9):
            fastest = max(fastest, float(np.hypot(*c.velocity[:2])))
    return fastest


def test_creep_is_of_contacts_that_stick() -> None:
    """One cube slides at 1 m/s, one stands on a solver that stops early, whose contacts creep."""
    scene = stiction.Scene()
    scene.add_ground()
    for i in range(2):
        at = np.eye(4)
        at[:3, 3] = 3.0 * i, 0, 0.1
        scene.add_body(f"cube{i}", stiction.Box([0.1] * 3), 1.0, at)
    sim = stiction.Simulator(scene, solver="ncp-pgs", tolerance=1e-3)
    state = sim.initial_state()
    state.v[0], control, seen = 1.0, sim.hold(), 0.0
    control.wrenches = [stiction.ExternalWrench(1, [1.0, 2.0, 0.0])]
    for _ in range(50):
        report = sim.step(state, control)
        assert state.v[0] > 0.3 and report.creep < 0.1
        assert report.creep == pytest.approx(creep_of(sim), rel=1e-12, abs=0)
        seen = max(seen, report.creep)
    assert seen > 0.0


# --- sleep --------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(6))
def test_a_step_that_wakes_is_a_step_of_the_awake(seed: int) -> None:
    """What comes down on a sleeper wakes it within the step. The narrow phase then begins again
    from where the step began: same bits, same warm starts as if both had been awake."""
    rng, scene = np.random.default_rng(seed), stiction.Scene()
    scene.add_ground()
    hull, egg = stiction.ConvexMesh(0.06 * rng.normal(size=(30, 3))), [0.1, 0.12, 0.15]
    for name, shape, x in (("hull", hull, 0.0), ("egg", stiction.Ellipsoid(egg), 5.0)):
        at = np.eye(4)
        at[:3, 3] = x, 0.0, 0.2
        scene.add_body(name, shape, 1.0, at)
    sim = stiction.Simulator(scene, dt=2e-3, sleeping=True, sleep_time=0.01, sleep_speed=0.1)
    state = sim.initial_state()
    while sim.run(state, None, 10).num_asleep < 2:
        assert state.time < 5.0
    state.q[7:10] = state.q[:3] + [0.01, 0.02, 0.3]
    state.v[6:] = [0, 0, -0.5, *rng.normal(size=3)]
    for _ in range(300):
        awake = state.copy()
        if sim.step(state).num_asleep == 0:
            break
    assert sim.asleep(awake) == ["hull"] and sim.report().num_contacts > 0
    sim.wake(awake)
    sim.step(awake)
    for end in (state, awake):
        sim.wake(end)
    assert awake == state
