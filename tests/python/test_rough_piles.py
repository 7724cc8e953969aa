"""Small piles of rough bodies of unequal weight, whose small islands once stayed unsolved.

With STICTION_FUZZ in the environment, as `make fuzz` sets it, many more.
"""

from __future__ import annotations

import os

import numpy as np
import pytest
import stiction
from numpy.typing import NDArray
from stiction_lab.bench.drops import pile

Floats = NDArray[np.float64]

SOLVED = ("converged", "rounding_limited")
ONCE_UNSOLVED = (11, 28, 29)
"""Seeds with 6 to 18 steps in 300 that ended short of the tolerance."""
SEEDS = range(200) if "STICTION_FUZZ" in os.environ else ONCE_UNSOLVED
TOLERATED = 0.002
"""Share of steps that may stay unsolved: some problems with friction 10 still do."""


def _turned(rng: np.random.Generator) -> Floats:
    x, y, z = (lambda axis: axis / np.linalg.norm(axis))(rng.normal(size=3))
    K, angle = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]), rng.uniform(0, 3)
    return np.asarray(np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * K @ K)


def _shape(kind: str, half: Floats) -> stiction.Shape:
    if kind == "sphere":
        return stiction.Sphere(half[0])
    if kind == "capsule":
        return stiction.Capsule(half[0] * 0.6, half[1])
    return stiction.Cylinder(half[0], half[1]) if kind == "cylinder" else stiction.Box(half)


def rough_pile(seed: int) -> tuple[stiction.Scene, float]:
    """16 to 40 bodies of 6 to 16 cm, any way up, masses up to 100 : 1, friction 1 to 10; dt [s]."""
    rng = np.random.default_rng(seed + 999)
    count, friction = int(rng.integers(16, 41)), (1, 2, 10, 10)[seed % 4]
    spread, mixed = float(rng.choice([0, 0.5, 1])), bool(rng.integers(2))
    dt = (2e-3, 5e-3, 1e-2)[int(rng.integers(3))]
    rng = np.random.default_rng(seed)
    scene, material = stiction.Scene(name=f"pile{seed}"), stiction.Material(friction=friction)
    scene.add_ground(material)
    for k in range(count):
        half, mass = rng.uniform(0.03, 0.08, 3), 10 ** rng.uniform(-spread, spread)
        X = np.eye(4)
        x, y = (0.18 * (n - 1.5) + 0.01 * rng.normal() for n in ((k % 16) // 4, k % 4))
        X[:3, 3] = x, y, 0.12 + 0.2 * (k // 16)
        kind = ("box", "sphere", "capsule", "cylinder")[k % 4] if mixed else "box"
        X[:3, :3] = _turned(rng)
        scene.add_body(f"body{k}", _shape(kind, half), mass, X, material)
    return scene, dt


@pytest.mark.fuzz
@pytest.mark.filterwarnings("ignore::stiction.StartWarning")
def test_rough_piles_are_solved() -> None:
    unsolved = steps = 0
    for seed in SEEDS:
        scene, dt = rough_pile(seed)
        sim = stiction.Simulator(scene, dt=dt)
        state = sim.initial_state()
        for _ in range(300):
            unsolved += sim.step(state).solver_status not in SOLVED
            steps += 1
    assert unsolved <= TOLERATED * steps


@pytest.mark.filterwarnings("ignore::stiction.StartWarning")
def test_large_rough_piles_are_solved() -> None:
    """A hundred dropped boxes, friction 10, large steps, without a bound on work: 75 of 350 were
    unsolved. By default 31 end at the bound, with the safe answer."""
    sim = stiction.Simulator(pile(100, seed=1), dt=1e-2, max_work=float("inf"))
    sim.parameters.friction = np.full_like(sim.parameters.friction, 10.0)
    state, unsolved, rows = sim.initial_state(), 0, 0
    for _ in range(350):
        report = sim.step(state)
        unsolved += report.solver_status not in SOLVED
        rows = max(rows, report.num_rows)
    assert rows > 1000 and unsolved <= 7
