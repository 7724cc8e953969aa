"""Derivatives of steps with torsional and rolling friction against differences and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import stiction
from stiction.gradient_check import check_gradients
from test_friction_of_couples import GRAVITY, INERTIA, MASS, MU, RADIUS, ball, pair_of_balls

MOTIONS = {
    "held": [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    "spins": [0.0, 0.0, 0.0, 0.0, 0.0, 8.0],
    "rolls": [0.5, 0.1, 0.0, -1.0, 5.0, 0.3],
    "slides": [1.0, 0.3, 0.0, 4.0, -3.0, 20.0],
    "bounces": [0.4, 0.3, -1.0, 4.0, -3.0, 20.0],
}
COEFFICIENTS = ("friction", "torsional_friction", "rolling_friction")


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("rolling", [0.0, 0.004])
def test_derivatives_are_those_of_differences(motion: str, rolling: float) -> None:
    sim, state = ball(
        torsional_friction=0.02, rolling_friction=rolling, restitution=0.3, baumgarte=1.0
    )
    state.v = MOTIONS[motion]
    wrt: tuple[str, ...] = ("q", "v", "torque")
    if motion not in ("bounces", "held"):
        wrt += ("mass", "com", "geometry_placement", "geometry_size")
    if motion != "held":
        wrt += COEFFICIENTS
    found = check_gradients(sim, state, None, wrt)
    assert not found.wrong, found.as_dict()["wrong"]
    of = {c.name: c for c in found.columns if c.block == "torsional_friction"}
    assert motion == "held" or of["ball"].compared
    for block, column in (("q", found.columns[4].name), ("torsional_friction", "ball")):
        if block in wrt:
            assert check_gradients(sim, state, None, wrt, spoil=(block, column)).wrong


@pytest.mark.parametrize(
    ("solver", "smoothing"), [("ccp-admm", 0.0), ("ncp-newton", 0.0), ("ncp-newton", 1e-4)]
)
def test_coefficients_of_pairs_are_those_of_differences(solver: str, smoothing: float) -> None:
    """Sliding and spinning, of both models and on the central path."""
    scene = stiction.Scene()
    ground = scene.add_ground()
    body = scene.add_body("ball", stiction.Sphere(RADIUS), MASS, np.eye(4))
    material = stiction.Material(friction=MU, torsional_friction=0.02, rolling_friction=0.003)
    scene.set_pair_material(ground, body + 1, material)
    settings = {"solver": solver, "tolerance": 1e-13, "max_iterations": 20000}
    sim = stiction.Simulator(scene, dt=1e-3, baumgarte=1.0, smoothing=smoothing, **settings)
    state = sim.initial_state()
    state.q = [0.0, 0.0, RADIUS - 1e-6, 0.0, 0.0, 0.0, 1.0]
    state.v = MOTIONS["slides"]
    wrt = tuple(f"pair_{name}" for name in COEFFICIENTS)
    found = check_gradients(sim, state, None, wrt, 1e-5)
    assert len(found.columns) == 3
    assert all(c.compared for c in found.columns)
    assert not found.wrong, found.as_dict()["wrong"]
    assert found.report.num_parameter_kinks == 0


def by_coefficients(motion: str, **material: float) -> tuple[np.ndarray, stiction.GradientReport]:
    """(6, 3) of v+ by the coefficients of the ball, and the report."""
    sim, state = ball(baumgarte=1.0, **material)
    state.v = MOTIONS[motion]
    d = sim.step_derivatives(state, wrt=COEFFICIENTS)
    return np.stack([d.by(name)[6:, 1] for name in COEFFICIENTS], axis=1), d.report


def test_closed_forms() -> None:
    dt = 1e-3
    P, report = by_coefficients("held", torsional_friction=0.02, rolling_friction=0.004)
    assert np.all(P == 0.0)
    assert report.num_parameter_kinks == 0
    # Pure spin: w+ = w - mu_t m g dt / I.
    P, _ = by_coefficients("spins", torsional_friction=0.02)
    assert P[5, 1] == pytest.approx(-MASS * GRAVITY * dt / INERTIA, rel=1e-9)
    assert abs(P[:, 0]).max() <= 1e-9 * abs(P[5, 1])


def test_slide_and_spin_share_the_ellipsoid() -> None:
    """With the centre of mass in the contact x+ = x - a f(x+), x = (v, w), a = g dt (1, m / I),
    f = (mu^2 v, mu_t^2 w) / S, S^2 = (mu v)^2 + (mu_t w)^2: dx+ = -(1 + a df/dx)^-1 a df/dmu."""
    mu_t, dt = 0.03, 1e-3
    sim, state = ball(dt, com_at_point=True, torsional_friction=mu_t)
    state.v = [1.0, 0.0, 0.0, 0.0, 0.0, 20.0]
    d = sim.step_derivatives(state, wrt=COEFFICIENTS)
    along = d.next_state.v[:2] / np.hypot(*d.next_state.v[:2])  # the body's axes have turned
    x = np.array([along @ d.next_state.v[:2], d.next_state.v[5]])
    D2, S = np.array([MU, mu_t]) ** 2, np.hypot(MU * x[0], mu_t * x[1])
    by_x = np.diag(D2) / S - np.outer(D2 * x, D2 * x) / S**3
    by_D = 2.0 * np.diag(x) / S - np.outer(D2 * x, x**2) / S**3
    by_D *= np.array([MU, mu_t])
    a = GRAVITY * dt * np.array([[1.0], [MASS / INERTIA]])
    expected = -np.linalg.solve(np.eye(2) + a * by_x, a * by_D)
    of_ball = [d.by(name)[6:, 1] for name in COEFFICIENTS[:2]]
    found = np.array([[along @ column[:2], column[5]] for column in of_ball]).T
    found[:, 0] *= 2.0  # the pair's is the geometric mean of two equal ones
    assert found == pytest.approx(expected, rel=1e-6)


def test_rolling_slows_by_five_sevenths_of_the_coefficient() -> None:
    sim, state = ball(rolling_friction=1e-3)
    state.v = [1.0, 0.0, 0.0, 0.0, 1.0 / RADIUS, 0.0]
    tape = sim.rollout(state, steps=300, tape=True)
    turning = np.zeros(12)
    turning[10] = 1.0
    by = tape.adjoint(turning, wrt="rolling_friction").parameters["rolling_friction"]
    assert by == pytest.approx([0.0, -5.0 / 7.0 * GRAVITY / RADIUS**2 * 0.3], rel=0.01)


def test_equal_surfaces_have_half_each_and_zero_has_a_kink() -> None:
    def differentiated(
        mu_t: list[float], v: list[float]
    ) -> tuple[np.ndarray, stiction.GradientReport]:
        sim, state = ball(baumgarte=1.0)
        sim.parameters.torsional_friction[:] = mu_t
        state.v = v
        d = sim.step_derivatives(state, wrt="torsional_friction")
        return d.by("torsional_friction")[11], d.report

    whole, report = differentiated([0.0, 0.02], MOTIONS["spins"])
    assert whole[0] == 0.0
    assert whole[1] < -1.0
    assert report.num_parameter_kinks == 0
    half, report = differentiated([0.02, 0.02], MOTIONS["spins"])
    assert half == pytest.approx([0.5 * whole[1]] * 2, rel=1e-12)
    assert report.num_parameter_kinks == 1
    # The first torsional friction brakes at once what only spins, and in second order what slides.
    none, report = differentiated([0.0, 0.0], MOTIONS["spins"])
    assert np.all(none == 0.0)
    assert report.num_parameter_kinks == 1
    none, report = differentiated([0.0, 0.0], MOTIONS["slides"])
    assert np.all(none == 0.0)
    assert report.num_parameter_kinks == 0


def test_products_and_tapes_agree_with_the_columns() -> None:
    sim, state = pair_of_balls(tolerance=1e-13)
    sim.parameters.torsional_friction[0] = 0.03  # no equal ones
    sim.parameters.rolling_friction[0] = 0.02
    for _ in range(6):
        sim.step(state)
    d = sim.step_derivatives(wrt=COEFFICIENTS)
    assert abs(d.P).max() > 1e-4
    rng = np.random.default_rng(3)
    w, dp = rng.standard_normal(d.P.shape[0]), {n: rng.standard_normal(2) for n in COEFFICIENTS}
    along = sim.jvp(parameters=dp)
    whole = sum(d.by(n) @ dp[n] for n in COEFFICIENTS)
    assert along == pytest.approx(whole, abs=1e-12 * abs(d.P).max())
    products = sim.vjp(w, wrt=COEFFICIENTS)
    for name, product in zip(COEFFICIENTS, products, strict=True):
        assert product == pytest.approx(w @ d.by(name), abs=1e-11 * abs(d.P).max())

    def end(mu_t: float) -> float:
        other, start = pair_of_balls(tolerance=1e-13)
        other.parameters.torsional_friction[:] = [mu_t, 0.02]
        other.parameters.rolling_friction[:] = [0.02, 0.01]
        tape = other.rollout(start, steps=20, tape=True)
        up = np.zeros(24)
        up[17] = 1.0
        grads[mu_t] = tape.adjoint(up, wrt="torsional_friction").parameters["torsional_friction"]
        return float(start.v[5])

    grads: dict[float, np.ndarray] = {}
    h = 1e-6
    difference = (end(0.03 + h) - end(0.03 - h)) / (2.0 * h)
    end(0.03)
    assert abs(difference) > 1e-3
    assert grads[0.03] == pytest.approx([difference, 0.0], rel=1e-4)


def test_derivatives_of_a_robot_and_of_a_pair() -> None:
    scene = stiction.load("solo12")
    scene.parameters.torsional_friction[:] = 0.02
    scene.parameters.rolling_friction[:] = 0.001
    robot = stiction.Simulator(scene, dt=1e-3, baumgarte=1.0)
    start = robot.initial_state()
    robot.run(start, robot.hold(), 100)
    start.v += 0.3 * np.random.default_rng(0).standard_normal(18)
    robot.parameters.torsional_friction[0] = 0.03  # the ground's alone
    robot.parameters.rolling_friction[0] = 0.002
    for sim, state, control in ((robot, start, robot.hold()), (*pair_of_balls(), None)):
        for _ in range(6):
            sim.step(state, control)
        found = check_gradients(sim, state, control, ("q", "v", "torque", *COEFFICIENTS))
        assert not found.wrong, found.as_dict()["wrong"]
