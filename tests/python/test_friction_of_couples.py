"""Torsional and rolling friction of scenes: closed forms, balance, states, refusals."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
import stiction
from numpy.typing import NDArray

Floats = NDArray[np.float64]

GRAVITY, RADIUS, MASS, MU = 9.81, 0.1, 2.0, 0.8
INERTIA = 0.4 * MASS * RADIUS**2


def ball(
    dt: float = 1e-3,
    com_at_point: bool = False,
    solver: str = "ncp-newton",
    baumgarte: float = 0.2,
    **material: float,
) -> tuple[stiction.Simulator, stiction.State]:
    """A ball at rest on the ground; its centre of mass in the contact, if that is asked for."""
    scene = stiction.Scene()
    surface = stiction.Material(friction=MU, **material)
    scene.add_ground(stiction.Material(friction=MU))
    body = scene.add_body("ball", stiction.Sphere(RADIUS), MASS, pose(0.0, 0.0, RADIUS), surface)
    if com_at_point:
        scene.parameters.com[body] = [0.0, 0.0, -RADIUS]
    sim = stiction.Simulator(scene, dt=dt, solver=solver, tolerance=1e-13, baumgarte=baumgarte)
    return sim, sim.initial_state()


def pose(x: float, y: float, z: float) -> Floats:
    X = np.eye(4)
    X[:3, 3] = x, y, z
    return X


def world(state: stiction.State) -> tuple[Floats, Floats]:
    """Velocity and angular velocity of a free body, world axes."""
    x, y, z, w = state.q[3:7]
    q = np.array([x, y, z])

    def turned(v: Floats) -> Floats:
        return v + 2.0 * np.cross(q, np.cross(q, v) + w * v)

    return turned(state.v[:3]), turned(state.v[3:6])


# --- closed forms -------------------------------------------------------------------------------


@pytest.mark.parametrize("rolling", [0.0, 1e-3])
def test_spin_stops_at_mu_t_n_over_inertia(rolling: float) -> None:
    mu_t, spin = 0.01, 5.0
    sim, state = ball(torsional_friction=mu_t, rolling_friction=rolling)
    state.v = [0.0, 0.0, 0.0, 0.0, 0.0, spin]
    stop = INERTIA * spin / (mu_t * MASS * GRAVITY)
    for k in range(1, 401):
        report = sim.step(state)
        assert report.converged
        assert report.residuals.relative <= 1e-9
        expected = max(0.0, spin * (1.0 - 1e-3 * k / stop))
        assert state.v[5] == pytest.approx(expected, abs=1e-9)
    assert 0.1 < stop < 0.3


def test_rolling_ball_decelerates_at_five_sevenths() -> None:
    mu_r, speed = 1e-3, 1.0
    sim, state = ball(rolling_friction=mu_r)
    state.v = [speed, 0.0, 0.0, 0.0, speed / RADIUS, 0.0]
    sim.run(state, None, 1000)
    v, w = world(state)
    decelerated = 5.0 / 7.0 * mu_r * GRAVITY / RADIUS
    assert speed - v[0] == pytest.approx(decelerated, rel=0.01)
    assert w[1] * RADIUS == pytest.approx(v[0], rel=1e-3)
    assert abs(v[1]) < 1e-9
    (contact,) = sim.contacts()
    assert contact.sliding
    assert np.linalg.norm(contact.moment_on_b_world) == pytest.approx(
        mu_r * MASS * GRAVITY, rel=0.01
    )
    assert contact.moment_on_b_world[1] < 0.0


def sliding_spin(speed: float, spin: float, mu_t: float, time: float) -> Floats:
    """v and w of v' = -mu^2 g v / S, w' = -mu_t^2 m g w / (I S), S^2 = (mu v)^2 + (mu_t w)^2, by
    the classical Runge-Kutta method."""

    def rate(x: Floats) -> Floats:
        S = np.hypot(MU * x[0], mu_t * x[1])
        return np.array([-(MU**2) * x[0], -(mu_t**2) * MASS / INERTIA * x[1]]) * GRAVITY / S

    x, steps = np.array([speed, spin]), 4000
    h = time / steps
    for _ in range(steps):
        a = rate(x)
        b = rate(x + 0.5 * h * a)
        c = rate(x + 0.5 * h * b)
        x = x + h / 6.0 * (a + 2.0 * b + 2.0 * c + rate(x + h * c))
    return x


def test_slide_and_spin_against_quadrature_of_the_ellipsoid_law() -> None:
    mu_t, speed, spin, time = 0.03, 1.0, 20.0, 0.1
    expected = sliding_spin(speed, spin, mu_t, time)
    assert np.all(expected > 0.3 * np.array([speed, spin]))
    alone = np.array([speed - MU * GRAVITY * time, spin - mu_t * MASS * GRAVITY / INERTIA * time])
    assert np.all(expected > alone + 0.05 * np.array([speed, spin]))  # they share the ellipsoid
    errors = []
    for dt in (2e-3, 1e-3, 5e-4):
        sim, state = ball(dt, com_at_point=True, torsional_friction=mu_t)
        state.v = [speed, 0.0, 0.0, 0.0, 0.0, spin]
        sim.run(state, None, round(time / dt))
        v, w = world(state)
        turned = np.array([np.hypot(v[0] - w[1] * 0.0, v[1]), w[2]])
        errors.append(np.abs(turned - expected) / np.array([speed, spin]))
    assert np.all(errors[1] < 0.01)
    ratios = np.array(
        [np.linalg.norm(a) / np.linalg.norm(b) for a, b in itertools.pairwise(errors)]
    )
    assert np.all((ratios > 1.8) & (ratios < 2.2)), ratios


@pytest.mark.parametrize("share", [0.5, 0.99])
def test_what_is_held_does_not_creep(share: float) -> None:
    mu_t, mu_r = 0.01, 0.002
    sim, state = ball(torsional_friction=mu_t, rolling_friction=mu_r)
    load = MASS * GRAVITY * share / np.sqrt(2.0)
    control = stiction.Control(6)
    control.wrenches = [stiction.ExternalWrench(0, [0, 0, 0], [mu_r * load, 0.0, mu_t * load])]
    for _ in range(500):
        report = sim.step(state, control)
        assert report.converged
    assert np.max(np.abs(state.v[:3])) <= 1e-9
    assert np.max(np.abs(state.v[3:])) * RADIUS <= 1e-9
    assert report.creep <= 1e-9
    (contact,) = sim.contacts()
    assert not contact.sliding
    assert contact.moment_on_b_world == pytest.approx([-mu_r * load, 0.0, -mu_t * load], abs=1e-6)
    control.wrenches = [
        stiction.ExternalWrench(0, [0, 0, 0], [1.03 * mu_r * load / share, 0, mu_t * load / share])
    ]
    sim.run(state, control, 100)
    assert np.linalg.norm(state.v[3:]) > 1e-3


# --- reports ------------------------------------------------------------------------------------


def pair_of_balls(**settings: object) -> tuple[stiction.Simulator, stiction.State]:
    scene = stiction.Scene()
    scene.parameters.gravity = [0.0, 0.0, 0.0]
    surface = stiction.Material(
        friction=0.5, torsional_friction=0.02, rolling_friction=0.01, restitution=0.4
    )
    for k, name in enumerate("ab"):
        scene.add_body(name, stiction.Sphere(RADIUS), 1.0 + k, pose(0.21 * k, 0.01 * k, 0), surface)
    sim = stiction.Simulator(scene, dt=1e-3, **settings)
    state = sim.initial_state()
    state.v = [1.0, 0.2, 0.1, 30.0, -20.0, 10.0, -1.0, 0.0, 0.3, 5.0, 40.0, -10.0]
    return sim, state


def test_momentum_and_energy_of_balls_that_meet() -> None:
    sim, state = pair_of_balls()
    touched = False
    for _ in range(20):
        sim.step(state)
        balance = sim.balance(state)
        scale = np.linalg.norm(balance.angular_before)
        assert np.linalg.norm(balance.angular_after - balance.angular_before) <= 1e-12 * scale
        assert balance.energy_after <= balance.energy_before * (1.0 + 1e-12)
        for contact in sim.contacts():
            if not np.any(contact.moment_impulse):
                continue
            touched = True
            force, moment = sim.wrench_between("a", "b", contact.position)
            assert moment == pytest.approx(contact.moment_on_b_world)
            assert force == pytest.approx(contact.force_on_b_world)
            assert balance.friction_work < 0.0
    assert touched


def test_wrench_on_a_spinning_body_is_its_change_of_momentum() -> None:
    mu_t = 0.02
    sim, state = ball(torsional_friction=mu_t)
    state.v = [0.0, 0.0, 0.0, 0.0, 0.0, 5.0]
    sim.step(state)
    wrench = sim.wrench_on("ball")
    assert wrench.moment == pytest.approx([0.0, 0.0, -mu_t * MASS * GRAVITY], abs=1e-9)
    assert wrench.force == pytest.approx([0.0, 0.0, MASS * GRAVITY], abs=1e-9)


def test_states_keep_the_couples() -> None:
    sim, state = ball(torsional_friction=0.01, rolling_friction=0.001)
    state.v = [0.3, 0.1, 0.0, 1.0, 3.0, 5.0]
    sim.run(state, None, 20)
    (kept,) = state.contacts
    assert np.linalg.norm(kept.moment) > 0.0
    assert state.save()[8] == 6  # its version; without couples 5
    again = stiction.State(state.save())
    assert again == state
    assert pickle.loads(pickle.dumps(state)) == state
    assert np.array_equal(pickle.loads(pickle.dumps(kept)).moment, kept.moment)
    other, _ = ball(torsional_friction=0.01, rolling_friction=0.001)
    other.run(again, None, 50)
    sim.run(state, None, 50)
    assert again == state


def test_warm_starts_hold_the_couples() -> None:
    """At rest under a couple the last impulses solve the next step: nothing is left to iterate."""
    sim, state = ball(torsional_friction=0.01, rolling_friction=0.001)
    control = stiction.Control(6)
    control.wrenches = [stiction.ExternalWrench(0, [0, 0, 0], [0.005, 0.0, 0.1])]
    sim.run(state, control, 50)
    report = sim.step(state, control)
    assert report.factorisations == 0
    with_couple = sim.warm_start()
    assert np.linalg.norm(with_couple[2:5]) > 0.0


# --- materials ----------------------------------------------------------------------------------


def test_zero_of_both_changes_no_bit() -> None:
    runs = []
    for material in ({}, {"torsional_friction": 0.0, "rolling_friction": 0.0}):
        sim, state = ball(**material)
        state.v = [1.0, 0.0, 0.0, 1.0, 2.0, 3.0]
        sim.run(state, None, 100)
        assert sim.problem().num_rows == 3
        runs.append(state)
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    ("material", "rows"),
    [({"torsional_friction": 0.01}, 4), ({"rolling_friction": 0.01}, 6)],
)
def test_rows_follow_from_the_material(material: dict[str, float], rows: int) -> None:
    sim, state = ball(**material)
    sim.step(state)
    assert sim.problem().num_rows == rows


def test_the_larger_of_two_surfaces_counts() -> None:
    a = stiction.Material(torsional_friction=0.02)
    b = stiction.Material(torsional_friction=0.01, rolling_friction=0.003)
    both = stiction.combine(a, b)
    assert both.torsional_friction == 0.02
    assert both.rolling_friction == 0.003


@pytest.mark.parametrize("name", ["torsional_friction", "rolling_friction"])
@pytest.mark.parametrize("value", [-0.1, float("nan"), float("inf"), 1e5])
def test_coefficients_out_of_range_are_named(name: str, value: float) -> None:
    with pytest.raises(
        ValueError, match=rf"Material\.{name} = .*>= 0 and at most 1e4 \[m\].*0 for"
    ):
        stiction.Material(**{name: value})
    sim, state = ball()
    getattr(sim.parameters, name)[1] = value
    with pytest.raises(ValueError, match=rf"parameters\.{name}\[1\] = "):
        sim.step(state)


@pytest.mark.parametrize("name", ["lcp-pgs", "ncp-staggered", "raisim"])
def test_planar_solvers_refuse_by_name(name: str) -> None:
    with pytest.raises(
        ValueError, match=rf"torsional_friction\[1\] = 0.01: solver \"{name}\".*ncp-n"
    ):
        ball(solver=name, torsional_friction=0.01)
    sim, state = ball(solver=name)
    sim.parameters.rolling_friction[1] = 0.01
    for _ in range(2):
        with pytest.raises(ValueError, match=rf"rolling_friction\[1\] = 0.01: solver \"{name}\""):
            sim.step(state)


def test_springs_of_surfaces_leave_the_couples_as_they_are() -> None:
    mu_t, spin = 0.01, 5.0
    sim, state = ball(torsional_friction=mu_t, stiffness=1e5, damping=300.0)
    for _ in range(500):
        sim.step(state)
    state.v = [0.0, 0.0, 0.0, 0.0, 0.0, spin]
    sim.run(state, None, 100)
    expected = spin - mu_t * MASS * GRAVITY / INERTIA * 0.1
    assert state.v[5] == pytest.approx(expected, rel=1e-6)


# --- other solvers, robots, piles ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["ncp-pgs", "ncp-admm"])
def test_other_solvers_of_the_law_agree(name: str) -> None:
    ends = []
    for solver in ("ncp-newton", name):
        sim, state = ball(solver=solver, torsional_friction=0.02, rolling_friction=0.004)
        state.v = [0.5, 0.0, 0.0, 3.0, 0.0, 8.0]
        sim.run(state, None, 100)
        ends.append(np.concatenate([state.q, state.v]))
    assert ends[1] == pytest.approx(ends[0], abs=1e-6)


def heap(
    count: int, damping: float, **material: float
) -> tuple[stiction.Simulator, stiction.State]:
    rng = np.random.default_rng(5)
    scene = stiction.Scene()
    surface = stiction.Material(friction=0.6, **material)
    scene.add_ground(surface)
    for k in range(count):
        x, y = rng.uniform(-0.03, 0.03, 2)
        shape = stiction.Box([0.1, 0.1, 0.1]) if k % 3 == 0 else stiction.Sphere(0.1)
        scene.add_body(
            f"b{k}", shape, 10.0 ** rng.uniform(-1, 1), pose(x, y, 0.1 + 0.2 * k), surface
        )
    scene.parameters.damping[:] = damping
    sim = stiction.Simulator(scene, dt=2e-3)
    return sim, sim.initial_state()


@pytest.mark.parametrize("damping", [0.0, 1e-9])
@pytest.mark.parametrize("rolling", [0.0, 0.005])
def test_heaps_of_boxes_and_balls_are_certified(damping: float, rolling: float) -> None:
    """Loose bodies without G, and the same with it."""
    sim, state = heap(8, damping, torsional_friction=0.01, rolling_friction=rolling)
    worst = 0.0
    for _ in range(400):
        report = sim.step(state)
        worst = max(worst, report.residuals.relative)
        assert report.status == "ok"
    assert worst <= 1e-8
    assert report.penetration < 1e-3


def test_both_ways_make_one_problem() -> None:
    problems = []
    for damping in (0.0, 1e-14):
        sim, state = heap(5, damping, torsional_friction=0.01, rolling_friction=0.005)
        sim.step(state)
        problems.append(sim.problem())
    a, b = problems
    assert a.num_rows == b.num_rows
    assert a.dense() == pytest.approx(b.dense(), abs=1e-9 * np.max(a.dense()))
    assert a.g == pytest.approx(b.g, abs=1e-12)


def test_a_robot_stands_on_feet_that_twist_and_roll() -> None:
    """One tree carries all rows; G = J M^-1 J^T by another way: a row's own motion."""
    scene = stiction.load("solo12")
    scene.parameters.torsional_friction[:] = 0.02
    scene.parameters.rolling_friction[:] = 0.001
    sim = stiction.Simulator(scene, dt=1e-3)
    state = sim.initial_state()
    control = sim.hold()
    for _ in range(300):
        report = sim.step(state, control)
        assert report.status == "ok"
        assert report.residuals.relative <= 1e-8
    assert {c.moment_impulse.any() for c in sim.contacts()} == {True}
    assert report.num_rows >= 6 * len(sim.contacts())
    assert report.creep < 1e-6
