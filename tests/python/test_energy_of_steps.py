"""Energy that steps gain or lose by their size: a rolling disc, a cradle, what rocks on springs."""

from __future__ import annotations

import numpy as np
import pytest
import stiction
from numpy.typing import NDArray
from stiction.pages.experiment import Effort
from stiction_lab.studies.stiff_contact import drops
from stiction_lab.studies.stiff_contact.integrators import IMPLICIT, OURS

Floats = NDArray[np.float64]

# A disc that rolls on its rim.

RADIUS, HALF_LENGTH = 0.02, 1e-3


def rolling_disc(
    tilt: float, friction: float, dt: float
) -> tuple[stiction.Simulator, stiction.State]:
    """Leaning by `tilt`, its centre nearly at rest, its axis turning about the vertical."""
    sine, cosine = np.sin(tilt), np.cos(tilt)
    rotation = np.array([[1.0, 0.0, 0.0], [0.0, cosine, -sine], [0.0, sine, cosine]])
    pose = np.eye(4)
    pose[:3, :3] = rotation
    pose[2, 3] = RADIUS * sine + HALF_LENGTH * cosine
    scene = stiction.Scene()
    material = stiction.Material(friction=friction)
    scene.add_ground(material)
    scene.add_body("disc", stiction.Cylinder(RADIUS, HALF_LENGTH), 0.01, pose, material)
    sim = stiction.Simulator(scene, dt=dt)
    state = sim.initial_state()
    turn = np.sqrt(4.0 * 9.81 / (RADIUS * sine))  # of a thin disc in steady motion [rad/s]
    state.v[3:] = rotation.T @ [0.0, 0.0, turn] - [0.0, 0.0, turn * cosine]
    return sim, state


@pytest.mark.parametrize("friction", [5.0, 0.0])
@pytest.mark.parametrize("tilt", [0.3, 0.6, 1.0])
def test_a_rolling_disc_keeps_its_energy(tilt: float, friction: float) -> None:
    """From 10 ms on, when it has come down on its rim."""
    for dt, most in ((1e-3, 1e-3), (5e-4, 2.5e-4), (2.5e-4, 1.2e-4)):
        sim, state = rolling_disc(tilt, friction, dt)
        energy = np.array([sim.step(state).energy for _ in range(round(0.4 / dt))])
        rolling = energy[round(0.01 / dt) :]
        assert np.abs(rolling / rolling[0] - 1.0).max() < most


# Cradles of equal balls with gaps.


def cradle(gaps: Floats, dt: float) -> Floats:
    """Velocities after the first of the balls has hit the others at 1 m/s, e = 1 [m/s]."""
    radius = 0.05
    scene = stiction.Scene()
    material = stiction.Material(friction=0.0, restitution=1.0)
    pose = np.eye(4)
    for k in range(len(gaps) + 1):
        pose[0, 3] = 2.0 * radius * k + gaps[:k].sum()
        scene.add_body(f"ball{k}", stiction.Sphere(radius), 1.0, pose.copy(), material)
    sim = stiction.Simulator(scene, dt=dt)
    sim.parameters.gravity = np.zeros(3)
    state = sim.initial_state()
    state.v[0] = 1.0
    sim.run(state, None, round(0.1 / dt))
    return np.array(state.v[::6])


@pytest.mark.parametrize(("gap", "dt"), [(1e-3, 1e-3), (2e-3, 1e-3), (1e-4, 1e-4), (1e-4, 2e-5)])
def test_gaps_of_a_step_or_more_pass_the_blow_on(gap: float, dt: float) -> None:
    np.testing.assert_allclose(cradle(np.full(4, gap), dt), [0, 0, 0, 0, 1], atol=1e-12)


def test_gaps_of_less_than_a_step_are_hit_at_once_and_lose_energy() -> None:
    v = cradle(np.full(4, 1e-4), 1e-3)
    np.testing.assert_allclose(v, [-0.48, 0.22, 0.32, 0.42, 0.52], atol=1e-12)
    assert v @ v == pytest.approx(0.828, abs=1e-9)


def test_random_gaps_keep_momentum_and_gain_no_energy() -> None:
    random = np.random.default_rng(0)
    lost, kept = 0, 0
    for _ in range(30):
        gaps = random.uniform(0.0, 1.0, 4) * random.choice([1e-4, 1e-3, 4e-3])
        v = cradle(gaps, 1e-3)
        assert v.sum() == pytest.approx(1.0, abs=1e-12)
        assert v @ v < 1.0 + 1e-9
        lost += int(v @ v < 0.99)
        if gaps.min() >= 1e-3:
            kept += 1
            np.testing.assert_allclose(v, [0, 0, 0, 0, 1], atol=1e-12)
    assert lost > 5
    assert kept > 0


# Objects that rock on compliant ground long after they fell.


@pytest.mark.parametrize("name", ["CrackerBox", "PowerDrill"])
def test_what_rocks_on_is_the_motion_and_not_the_step(name: str) -> None:
    """1.75 s after the drop: rk4 in steps of 20 us rocks on as well, implicit Euler does not."""
    scene, state = drops.falling(name, Effort())

    def after(start: stiction.State, integrator: str, dt: float, span: float) -> stiction.State:
        sim = stiction.Simulator(scene, dt=dt, integrator=integrator, per_point_stiffness=True)
        end = start.copy()
        sim.run(end, None, round(span / dt))
        return end

    start = after(state, OURS, 1e-3, 1.75)
    truth = after(start, "rk4", 2e-5, 0.25)
    speed = np.abs(truth.v).max()
    assert speed > {"CrackerBox": 1e-4, "PowerDrill": 1e-2}[name]
    errors = {
        method: np.abs(after(start, method, 5e-3, 0.25).v - truth.v).max() / speed
        for method in (OURS, IMPLICIT)
    }
    assert errors[OURS] < 0.03
    assert errors[IMPLICIT] > 0.2
