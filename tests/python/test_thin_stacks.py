"""Stacks of bodies thinner than the margin: gaps across a third body make no tolerance."""

from __future__ import annotations

import numpy as np
import pytest
import stiction


@pytest.mark.parametrize(
    ("count", "half", "thick", "mass", "dt", "margin"),
    [
        (40, 0.04, 1.5e-4, 1.8e-3, 1e-4, 1e-3),
        (40, 1e-3, 3e-4, 1.9e-5, 2e-4, 1e-3),
        (20, 0.4, 2e-3, 1.0, 1e-3, 1e-2),
    ],
    ids=["cards", "chips", "plates"],
)
def test_thin_bodies_at_rest_stay(
    count: int, half: float, thick: float, mass: float, dt: float, margin: float
) -> None:
    """They hopped at metres per second, with every step ok: 1e-3 of a gap over dt is more than
    what gravity does in a step."""
    scene, rng = stiction.Scene(), np.random.default_rng(0)
    material = stiction.Material(friction=0.6)
    scene.add_ground(material)
    for i in range(count):
        pose, angle = np.eye(4), 0.3 * i
        pose[:2, :2] = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
        pose[:3, 3] = [*(rng.uniform(-0.05, 0.05, 2) * half), (2 * i + 1) * thick]
        scene.add_body(f"b{i}", stiction.Box([half, half, thick]), mass, pose, material=material)
    sim = stiction.Simulator(scene, dt=dt, margin=margin)
    state = sim.initial_state()
    start = np.array(state.q)
    for _ in range(100):
        assert sim.step(state).status == "ok"
    assert sim.report().num_rows > 300
    assert np.abs(state.q - start).max() < 1e-6 * thick
