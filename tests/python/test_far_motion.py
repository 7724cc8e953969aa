"""Positions and speeds of any size: a step ends, or is not finite, and raises nothing else."""

from __future__ import annotations

import os

import numpy as np
import pytest
import stiction

SCENES = ["solo12", "box-stack(4)", "ycb-pile(6)", "cartpole"]
SEEDS = 200 if os.environ.get("STICTION_FUZZ") else 12
LARGEST = 1e75


def far(scene: stiction.Scene, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Velocities of sizes up to 1e300, one alone or all of them; a position likewise."""
    rng = np.random.default_rng(seed)
    q, v = np.array(scene.default_q), rng.normal(size=scene.nv)
    size = 10.0 ** rng.uniform(0.0, rng.choice([20.0, 300.0]))
    if seed % 2:
        v[rng.integers(scene.nv)] = size
    else:
        v *= size
    if seed % 3 == 0:
        q[0] = 10.0 ** rng.uniform(5.0, 300.0)
    return q, v


@pytest.mark.parametrize("integrator", ["semi-implicit-euler", "exponential"])
@pytest.mark.parametrize("name", SCENES)
def test_steps_of_any_speed_raise_simulation_errors_alone(name: str, integrator: str) -> None:
    scene, failed = stiction.load(name), 0
    if integrator == "exponential":
        scene.parameters.stiffness[:], scene.parameters.contact_damping[:] = 1e5, 300.0
    for seed in range(SEEDS):
        q, v = far(scene, seed)
        sim = stiction.Simulator(scene, integrator=integrator)
        state = stiction.make_state(sim.scene, q, v)
        before = state.copy()
        try:
            sim.step(state)
        except stiction.SimulationError:
            failed += 1
            assert state == before
            continue
        assert max(np.abs(state.q).max(), np.abs(state.v).max()) < LARGEST
        assert max(np.abs(q).max(), np.abs(v).max()) < LARGEST
    assert failed > 0


@pytest.mark.parametrize("lanes", [True, False])
@pytest.mark.parametrize("name", SCENES)
def test_worlds_of_any_speed_freeze_where_a_simulator_fails(name: str, lanes: bool) -> None:
    scene = stiction.load(name)
    batch = stiction.Batch(scene, SEEDS, lanes=lanes)
    fails = np.zeros(SEEDS, bool)
    sim = stiction.Simulator(scene)
    for seed in range(SEEDS):
        batch.q[seed], batch.v[seed] = far(scene, seed)
        state = stiction.make_state(sim.scene, batch.q[seed], batch.v[seed])
        try:
            sim.step(state)
        except stiction.SimulationError:
            fails[seed] = True
    batch.step()
    np.testing.assert_array_equal(batch.frozen, fails)


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("entry", [0, 3, 9])
def test_what_is_not_finite_freezes_its_world(value: float, entry: int) -> None:
    """A position, a part of a quaternion, a hinge: of one world, and the others go on."""
    batch = stiction.Batch(stiction.load("solo12"), 3, configuration="standing")
    batch.q[2, entry] = value
    batch.step()
    assert batch.frozen.tolist() == [False, False, True]
