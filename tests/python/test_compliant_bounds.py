"""The inner iterations of the compliant integrators keep the bounds of src/integrator/README.md."""

from __future__ import annotations

import numpy as np
import pytest
import stiction

ISLANDS = 2


def thrown(seed: int, **settings: object) -> tuple[stiction.Simulator, stiction.State]:
    """Two boxes thrown into stiff ground, far from each other, at up to 30 m/s and 30 rad/s."""
    rng = np.random.default_rng(seed)
    scene = stiction.Scene()
    stiff = stiction.Material(friction=0.5, stiffness=10.0 ** rng.uniform(4, 9), damping=10.0)
    scene.add_ground(stiff)
    for i in range(ISLANDS):
        pose = np.eye(4)
        pose[:3, 3] = 5.0 * i, 0.0, 0.2
        scene.add_body(f"box{i}", stiction.Box([0.1, 0.1, 0.1]), 1.0, pose, stiff)
    sim = stiction.Simulator(scene, dt=10.0 ** rng.uniform(-3, -2), **settings)
    state = sim.initial_state()
    state.v[:] = rng.uniform(-30, 30, scene.nv)
    return sim, state


@pytest.mark.parametrize(("iterations", "halvings"), [(30, 6), (3, 2), (1, 0)])
def test_implicit_euler(iterations: int, halvings: int) -> None:
    settings = {"newton_iterations": iterations, "newton_halvings": halvings, "substeps": 2}
    most_steps = most_systems = 0
    for seed in range(12):
        sim, state = thrown(seed, integrator="implicit-euler", **settings)
        for _ in range(15):
            report = sim.step(state)
            assert report.factorisations <= sim.most_factorisations()
            most_steps = max(most_steps, report.iterations)
            most_systems = max(most_systems, report.factorisations)
    assert 1 <= most_steps <= iterations
    assert sim.most_factorisations() == 2 * ISLANDS * iterations * (3 * 2**halvings - 1)
    if iterations == 3:
        assert most_systems > 2 * ISLANDS * iterations, "some sub-steps are cut"
    if halvings == 0:
        assert most_systems == 4 * ISLANDS * iterations, "the bound is reached"


@pytest.mark.parametrize(("accuracy", "levels"), [(0.0, 6), (1e-4, 12)])
def test_exponential(accuracy: float, levels: int) -> None:
    most = 0
    for seed in range(6 if accuracy else 12):
        sim, state = thrown(seed, integrator="exponential", accuracy=accuracy)
        for _ in range(15):
            most = max(most, sim.step(state).iterations)
    assert 1 < most <= 2 ** (levels + 1) - 1
