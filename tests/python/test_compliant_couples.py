"""Torsional and rolling friction on springs: closed forms, energy, momentum, states, refusals."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
import stiction
from numpy.typing import NDArray
from test_friction_of_couples import GRAVITY, INERTIA, MASS, MU, RADIUS, pose, sliding_spin, world

Floats = NDArray[np.float64]
EVERY = ["exponential", "implicit-euler", "rk4", "symplectic-euler", "explicit-euler"]


def ball(
    integrator: str,
    dt: float = 1e-3,
    com_at_point: bool = False,
    stiffness: float = 1e5,
    damping: float = 200.0,
    **material: float,
) -> tuple[stiction.Simulator, stiction.State]:
    """A ball at rest on its spring; its centre of mass in the contact, if that is asked for."""
    scene = stiction.Scene()
    scene.add_ground(stiction.Material(friction=MU, stiffness=stiffness, damping=damping))
    start = pose(0.0, 0.0, RADIUS - MASS * GRAVITY / stiffness)
    surface = stiction.Material(**({"friction": MU} | material))
    body = scene.add_body("ball", stiction.Sphere(RADIUS), MASS, start, surface)
    if com_at_point:
        scene.parameters.com[body] = [0.0, 0.0, -RADIUS]
    sim = stiction.Simulator(scene, dt=dt, integrator=integrator)
    return sim, sim.initial_state()


@pytest.mark.parametrize("integrator", EVERY)
@pytest.mark.parametrize("rolling", [0.0, 1e-3])
def test_spin_stops_at_mu_t_n_over_inertia(integrator: str, rolling: float) -> None:
    """Then it swings on the torsional spring, k (mu_t / mu)^2 stiff, less and less."""
    mu_t, spin = 0.01, 5.0
    sim, state = ball(integrator, torsional_friction=mu_t, rolling_friction=rolling)
    state.v = [0.0, 0.0, 0.0, 0.0, 0.0, spin]
    stop = INERTIA * spin / (mu_t * MASS * GRAVITY)
    for k in range(1, 201):
        assert sim.step(state).status == "ok"
        assert state.v[5] == pytest.approx(spin * (1.0 - 1e-3 * k / stop), abs=0.01 * spin)
    swing = mu_t * MASS * GRAVITY / np.sqrt(1e5 * (mu_t / MU) ** 2 * INERTIA)
    after = [(sim.step(state), state.v[5])[1] for _ in range(800)]
    assert max(np.abs(after[20:])) <= 1.01 * swing
    assert max(np.abs(after[400:])) <= 0.8 * max(np.abs(after[20:420]))


@pytest.mark.parametrize("integrator", ["exponential", "implicit-euler"])
@pytest.mark.parametrize("mu", [0.0, MU])
def test_couples_without_sliding_friction(integrator: str, mu: float) -> None:
    sim, state = ball(integrator, friction=mu, torsional_friction=0.01)
    state.v = [0.5, 0.0, 0.0, 0.0, 0.0, 5.0]
    for _ in range(50):
        assert sim.step(state).status == "ok"
    v, _ = world(state)
    if mu == 0.0:
        assert state.v[5] == pytest.approx(5.0 - 0.01 * MASS * GRAVITY / INERTIA * 0.05, rel=4e-3)
        assert v[:2] == pytest.approx([0.5, 0.0], abs=1e-12)
    else:
        assert v[0] < 0.4


@pytest.mark.parametrize("integrator", EVERY)
def test_rolling_ball_decelerates_at_five_sevenths(integrator: str) -> None:
    mu_r, speed = 5e-3, 1.0
    sim, state = ball(integrator, rolling_friction=mu_r)
    state.v = [speed, 0.0, 0.0, 0.0, speed / RADIUS, 0.0]
    sim.run(state, None, 200)
    before, _ = world(state)
    sim.run(state, None, 800)
    v, w = world(state)
    decelerated = 5.0 / 7.0 * mu_r * GRAVITY / RADIUS
    assert before[0] - v[0] == pytest.approx(0.8 * decelerated, rel=0.01)
    assert speed - v[0] == pytest.approx(decelerated, rel=0.01)  # its spring is wound up at first
    assert w[1] * RADIUS == pytest.approx(v[0], rel=1e-2)
    (contact,) = sim.contacts()
    assert contact.sliding
    assert contact.moment_on_b_world[1] == pytest.approx(-mu_r * MASS * GRAVITY, rel=0.01)


@pytest.mark.parametrize("integrator", EVERY)
def test_slide_and_spin_against_quadrature_of_the_ellipsoid_law(integrator: str) -> None:
    mu_t, speed, spin, time = 0.03, 1.0, 20.0, 0.1
    expected = sliding_spin(speed, spin, mu_t, time)
    for dt in (1e-3, 5e-4):
        sim, state = ball(integrator, dt, True, torsional_friction=mu_t)
        state.v = [speed, 0.0, 0.0, 0.0, 0.0, spin]
        sim.run(state, None, round(time / dt))
        v, w = world(state)
        errors = (np.array([np.hypot(v[0], v[1]), w[2]]) - expected) / [speed, spin]
        assert np.all(np.abs(errors) < 0.01), (dt, errors)


def test_errors_are_of_first_order_in_the_step() -> None:
    ends: dict[float, Floats] = {}
    for dt in (2e-3, 1e-3, 5e-4, 1e-5):
        integrator = "rk4" if dt == 1e-5 else "implicit-euler"
        sim, state = ball(integrator, dt, True, torsional_friction=0.03, rolling_friction=0.01)
        state.v = [1.0, 0.3, 0.0, 2.0, 4.0, 20.0]
        sim.run(state, None, round(0.04 / dt))
        ends[dt] = np.concatenate(world(state))
    reference = ends.pop(1e-5)
    errors = [float(np.linalg.norm(x - reference)) for x in ends.values()]
    ratios = [a / b for a, b in itertools.pairwise(errors)]
    assert all(1.6 < r < 2.4 for r in ratios), (errors, ratios)


def body_on_springs(shape: stiction.Shape, height: float) -> stiction.Scene:
    scene = stiction.Scene()
    scene.add_ground(stiction.Material(friction=MU, stiffness=1e5, damping=200.0))
    surface = stiction.Material(friction=MU, torsional_friction=0.03, rolling_friction=0.01)
    scene.add_body("body", shape, MASS, pose(0.0, 0.0, height - 1e-4), surface)
    return scene


@pytest.mark.parametrize(
    ("shape", "height", "speed", "coarse"),
    [
        (stiction.Sphere(RADIUS), RADIUS, [1.0, 0.3, 0.0, 2.0, 4.0, 20.0], 5e-4),
        (stiction.Sphere(RADIUS), RADIUS, [0.0, 0.0, 0.0, 0.02, 0.1, 0.1], 2e-8),
        (stiction.Box([0.1, 0.1, 0.1]), 0.1, [0.5, 0.1, 0.0, 0.0, 0.0, 8.0], 1e-3),
        (stiction.Ellipsoid([0.1, 0.12, 0.1]), 0.1, [0.5, 0.1, 0.0, 1.0, 2.0, 8.0], 8e-4),
    ],
    ids=["slides", "swings", "box", "ellipsoid"],
)
def test_exponential_steps_are_of_second_order(
    shape: stiction.Shape, height: float, speed: list[float], coarse: float
) -> None:
    """Against small steps of rk4."""
    scene = body_on_springs(shape, height)

    def end(integrator: str, dt: float) -> Floats:
        sim = stiction.Simulator(scene, dt=dt, integrator=integrator)
        state = sim.initial_state()
        state.v = speed
        for _ in range(round(0.04 / dt)):
            assert sim.step(state).status == "ok"
        return np.concatenate([state.q, state.v])

    reference = end("rk4", 1e-5)
    errors = [float(np.linalg.norm(end("exponential", dt) - reference)) for dt in (1e-3, 2.5e-4)]
    assert errors[0] <= coarse
    assert errors[1] <= errors[0] / 10.0


@pytest.mark.parametrize("integrator", ["exponential", "implicit-euler", "rk4"])
@pytest.mark.parametrize("share", [0.5, 0.95])
def test_what_is_held_does_not_creep(integrator: str, share: float) -> None:
    """Torsional and rolling springs carry the couple; over the ellipsoid it turns."""
    mu_t, mu_r = 0.05, 0.04
    sim, state = ball(integrator, damping=1000.0, torsional_friction=mu_t, rolling_friction=mu_r)
    load = MASS * GRAVITY * share / np.sqrt(2.0)
    control = stiction.Control(6)
    control.wrenches = [stiction.ExternalWrench(0, [0, 0, 0], [mu_r * load, 0.0, mu_t * load])]
    sim.run(state, control, 2000)
    report = sim.step(state, control)
    assert np.max(np.abs(state.v)) <= 1e-9
    assert report.creep <= 1e-9
    (contact,) = sim.contacts()
    assert not contact.sliding
    assert contact.moment_on_b_world[2] == pytest.approx(-mu_t * load, rel=1e-9)
    control.wrenches = [stiction.ExternalWrench(0, [0, 0, 0], [0, 0, 1.1 * MASS * GRAVITY * mu_t])]
    sim.run(state, control, 300)
    assert state.v[5] > 0.1


@pytest.mark.parametrize("integrator", ["exponential", "implicit-euler", "rk4"])
def test_energy_does_not_grow(integrator: str) -> None:
    rng = np.random.default_rng(2)
    for _ in range(8):
        sim, state = ball(
            integrator,
            2e-4,
            torsional_friction=10.0 ** rng.uniform(-3, -1),
            rolling_friction=10.0 ** rng.uniform(-3, -1),
        )
        state.q[2] += rng.uniform(0.0, 0.02)
        state.v = rng.uniform(-1.0, 1.0, 6) * [1, 1, 1, 20, 20, 20]
        energies = []
        for _ in range(1500):
            report = sim.step(state)
            assert report.status == "ok"
            energies.append(report.kinetic_energy + report.potential_energy + report.elastic_energy)
        assert np.all(np.diff(energies) <= 1e-5 * energies[0])
        assert energies[-1] < energies[0] - 0.1


@pytest.mark.parametrize("integrator", EVERY)
def test_momentum_of_balls_that_meet(integrator: str) -> None:
    """Couples act on both; the angular momentum about the origin is that of the start."""
    scene = stiction.Scene()
    scene.parameters.gravity = [0.0, 0.0, 0.0]
    surface = stiction.Material(
        friction=0.5, torsional_friction=0.02, rolling_friction=0.01, stiffness=1e4, damping=10.0
    )
    for k, name in enumerate("ab"):
        at = pose(0.2001 * k, 0.0, 0.0)
        scene.add_body(name, stiction.Sphere(RADIUS), 1.0 + k, at, surface)
    sim = stiction.Simulator(scene, dt=1e-4, integrator=integrator)
    state = sim.initial_state()
    state.v = [0.5, 0.2, 0.1, 30.0, -20.0, 10.0, -0.5, 0.0, 0.1, 5.0, 40.0, -10.0]
    touched, worst = False, 0.0
    for _ in range(150):
        sim.step(state)
        balance = sim.balance(state)
        scale = float(np.linalg.norm(balance.angular_before))
        defect = balance.angular_after - balance.angular_before - balance.angular_impulse
        worst = max(worst, float(np.linalg.norm(defect)) / scale)
        touched = touched or any(np.any(c.moment_impulse) for c in sim.contacts())
    assert touched
    assert worst <= 1e-5


@pytest.mark.parametrize("integrator", EVERY)
def test_a_saved_state_goes_on_bit_for_bit(integrator: str) -> None:
    sim, state = ball(integrator, torsional_friction=0.01, rolling_friction=0.005)
    state.v = [0.3, 0.1, 0.0, 1.0, 3.0, 5.0]
    sim.run(state, None, 40)
    (kept,) = state.contacts
    assert np.linalg.norm(kept.turn) > 0.0
    assert state.save()[8] == 7  # its version
    again = stiction.State(state.save())
    assert again == state
    assert pickle.loads(pickle.dumps(state)) == state
    assert np.array_equal(pickle.loads(pickle.dumps(kept)).turn, kept.turn)
    other, _ = ball(integrator, torsional_friction=0.01, rolling_friction=0.005)
    other.run(again, None, 200)
    sim.run(state, None, 200)
    assert again == state


@pytest.mark.parametrize("integrator", EVERY)
def test_zero_of_both_changes_no_bit(integrator: str) -> None:
    runs = []
    for material in ({}, {"torsional_friction": 0.0, "rolling_friction": 0.0}):
        sim, state = ball(integrator, **material)
        state.v = [1.0, 0.0, 0.0, 1.0, 2.0, 3.0]
        sim.run(state, None, 100)
        assert state.save()[8] == 5
        runs.append(state)
    assert runs[0] == runs[1]


@pytest.mark.parametrize("integrator", ["exponential", "implicit-euler", "rk4"])
def test_rigid_pairs_beside_springs_have_them_too(integrator: str) -> None:
    """A ball spins on another, both rigid, on the springs of the ground."""
    scene = stiction.Scene()
    scene.add_ground(stiction.Material(friction=MU, stiffness=1e5, damping=200.0))
    surface = stiction.Material(friction=MU, torsional_friction=0.01, rolling_friction=0.002)
    for k, name in enumerate("ab"):
        at = pose(0.0, 0.0, RADIUS * (1 + 2 * k))
        scene.add_body(name, stiction.Sphere(RADIUS), MASS, at, surface)
    sim = stiction.Simulator(scene, dt=1e-3, integrator=integrator)
    state = sim.initial_state()
    state.v[11] = 5.0
    for _ in range(100):
        assert sim.step(state).status == "ok"
    expected = 5.0 - 0.01 * MASS * GRAVITY / INERTIA * 0.1
    assert state.v[11] == pytest.approx(expected, rel=1e-3)
    of = {(c.geometry_a, c.geometry_b): c for c in sim.contacts()}
    load = of[1, 2].force_on_b_world[2]
    assert of[1, 2].moment_on_b_world[2] == pytest.approx(-0.01 * load, rel=1e-6)
    assert of[0, 1].moment_on_b_world[2] != 0.0


@pytest.mark.parametrize("integrator", ["exponential", "implicit-euler"])
def test_worlds_of_a_batch_have_the_bits_of_a_simulator(integrator: str) -> None:
    scene = stiction.Scene()
    scene.add_ground(stiction.Material(friction=MU, stiffness=1e5, damping=200.0))
    surface = stiction.Material(friction=MU, torsional_friction=0.01, rolling_friction=0.002)
    scene.add_body("ball", stiction.Sphere(RADIUS), MASS, pose(0.0, 0.0, RADIUS), surface)
    sim = stiction.Simulator(scene, dt=1e-3, integrator=integrator)
    batch = stiction.Batch(scene, 3, dt=1e-3, integrator=integrator, threads=1)
    state = sim.initial_state()
    state.v = batch.v[1] = [0.3, 0.0, 0.0, 1.0, 2.0, 5.0]
    sim.run(state, None, 60)
    batch.step(substeps=60)
    assert np.array_equal(batch.q[1], state.q)
    assert np.array_equal(batch.v[1], state.v)


@pytest.mark.parametrize(
    ("integrator", "at_first", "at_rest"), [("exponential", 4, 1), ("implicit-euler", 15, 3)]
)
def test_a_robot_stands_and_twists(integrator: str, at_first: int, at_rest: int) -> None:
    """Newton's method has the Jacobian of its feet exactly; exponential steps stay whole."""
    scene = stiction.load("solo12")
    scene.parameters.stiffness[0] = 1e5
    scene.parameters.contact_damping[0] = 300.0
    scene.parameters.torsional_friction[:] = 0.02
    scene.parameters.rolling_friction[:] = 0.002
    sim = stiction.Simulator(scene, dt=1e-3, integrator=integrator)
    state, control = sim.initial_state(), sim.hold()
    state.v[5] = 1.0
    most = 0
    for _ in range(300):
        report = sim.step(state, control)
        assert report.status == "ok"
        most = max(most, report.iterations)
    assert most <= at_first
    assert report.iterations <= at_rest
    assert any(np.any(c.moment_impulse) for c in sim.contacts())


def test_the_published_integrator_refuses_by_name() -> None:
    with pytest.raises(
        ValueError,
        match=r"torsional_friction\[1\].*\"exponential-published\".*take exponential, implicit",
    ):
        ball("exponential-published", torsional_friction=0.01)


def test_the_published_law_refuses_them() -> None:
    scene = stiction.Scene()
    scene.add_ground(stiction.Material(rolling_friction=0.01, stiffness=1e5))
    with pytest.raises(ValueError, match=r"rolling_friction\[0\].*law \"published\""):
        stiction.Simulator(scene, dt=1e-3, integrator="rk4", law="published")


@pytest.mark.parametrize("integrator", EVERY)
@pytest.mark.parametrize("couple", ["torsional_friction", "rolling_friction"])
@pytest.mark.parametrize("shape", [stiction.Sphere(RADIUS), stiction.Box([0.1, 0.07, 0.05])])
def test_sliding_without_friction_stores_nothing(
    integrator: str, couple: str, shape: stiction.Shape
) -> None:
    """Galilei: beside a body that spins in place, one that slides as well has the same springs,
    and half m v^2 more of energy, step by step."""
    slide = np.array([0.7, -0.4, 0.0])
    energies: list[list[tuple[float, float]]] = []
    for speed in (np.zeros(3), slide):
        scene = stiction.Scene()
        scene.add_ground(stiction.Material(friction=0.0, stiffness=1e5, damping=200.0))
        height = RADIUS if shape.type == "sphere" else 0.05
        surface = stiction.Material(friction=0.0, **{couple: 0.01})
        scene.add_body("body", shape, MASS, pose(0.0, 0.0, height - MASS * GRAVITY / 1e5), surface)
        sim = stiction.Simulator(scene, dt=1e-4, integrator=integrator)
        state = sim.initial_state()
        state.v = [*speed, 0.0, 0.0, 0.05]  # it soon hangs on the springs of the couple
        seen = []
        for _ in range(400):
            report = sim.step(state)
            assert report.status == "ok"
            total = report.kinetic_energy + report.potential_energy + report.elastic_energy
            seen.append((report.elastic_energy, total))
        energies.append(seen)
        assert all(not np.any(memory.extension) for memory in state.contacts)
    still, moving = np.array(energies)
    np.testing.assert_allclose(moving[:, 0], still[:, 0], rtol=1e-6)
    more = 0.5 * MASS * float(slide @ slide)
    np.testing.assert_allclose(moving[:, 1] - still[:, 1], more, rtol=1e-6)
    assert np.all(np.diff(still[:, 1]) < 1e-9)


def test_steps_that_do_not_converge_gain_no_energy() -> None:
    """Drops under rolling friction of metres, which Newton's method does not always solve."""
    rng = np.random.default_rng(11)
    shapes = (
        (stiction.Box([0.1, 0.1, 0.1]), 0.1),
        (stiction.Cylinder(0.1, 0.1), 0.1),
        (stiction.Capsule(0.05, 0.1), 0.05),
        (stiction.Box([0.2, 0.1, 0.02]), 0.02),
    )
    failed = 0
    for _ in range(250):
        shape, height = shapes[rng.integers(4)]
        mu, mu_r = rng.choice([0.1, 0.5, 1.0]), rng.uniform(2.0, 20.0)
        stiffness, dt = 10 ** rng.uniform(5, 7), rng.choice([4e-3, 1e-2])
        damping = rng.choice([0.0, 0.1, 1.0]) * np.sqrt(stiffness)
        scene = stiction.Scene()
        scene.add_ground(stiction.Material(friction=mu, stiffness=stiffness, damping=damping))
        surface = stiction.Material(friction=mu, rolling_friction=mu_r)
        scene.add_body("body", shape, 1.0, pose(0.0, 0.0, height + 0.1), surface)
        sim = stiction.Simulator(
            scene, dt=dt, integrator="implicit-euler", per_point_stiffness=True
        )
        state = sim.initial_state()
        state.v = np.r_[rng.normal(size=3), rng.normal(size=3) * rng.choice([1.0, 10.0])]
        before = 0.0
        was_bad = False
        for _ in range(60):
            report = sim.step(state)  # energies are those of its start
            energy = report.kinetic_energy + report.potential_energy + report.elastic_energy
            assert not was_bad or energy <= before + 1e-6 * abs(before)
            before, was_bad = energy, report.status == "not_converged"
            failed += was_bad
    assert failed > 10
