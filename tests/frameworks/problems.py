"""Simulators whose steps have no kink near where the checks look."""

from __future__ import annotations

import numpy as np
import stiction


def simulator(name: str) -> stiction.Simulator:
    return stiction.Simulator(stiction.load(name), tolerance=1e-13, baumgarte=1.0)


def moment(name: str, rows: int | None = None) -> tuple[stiction.Simulator, tuple, stiction.State]:
    """A simulator, (q, v, tau) that are not at rest, q with quaternions not of unit length, and the
    warm starts there."""
    sim = simulator(name)
    state = sim.initial_state()
    sim.run(state, steps=30)
    rng = np.random.default_rng(4)
    q, v = state.q.copy(), state.v + 0.02 * rng.normal(size=sim.scene.nv)
    for joint in sim.scene.joints:
        if joint.type == "free_flyer":
            q[joint.q_index + 3 : joint.q_index + 7] *= 1.3
    shape = (sim.scene.nv,) if rows is None else (rows, sim.scene.nv)
    return sim, (q, v, 0.1 * rng.normal(size=shape)), state


PAIRS = ["ellipsoid on ellipsoid", "sphere on box", "capsule over plane", "overlap"]
"""Where witness points are smooth."""


def shapes(pair: str) -> tuple[stiction.Shape, stiction.Shape, tuple[np.ndarray, np.ndarray]]:
    """Two shapes and their poses (7,), quaternions not of unit length."""
    ellipsoid = stiction.Ellipsoid([0.1, 0.2, 0.3])
    box = stiction.Box([0.3, 0.4, 0.5])
    a, b, apart = {
        "ellipsoid on ellipsoid": (ellipsoid, stiction.Ellipsoid([0.2, 0.1, 0.15]), 0.7),
        "sphere on box": (stiction.Sphere(0.1), box, 0.9),
        "capsule over plane": (stiction.HalfSpace(), stiction.Capsule(0.1, 0.2), 0.8),
        "overlap": (stiction.Sphere(0.3), ellipsoid, 0.35),
    }[pair]
    pose_a = np.array([0.1, -0.2, 0.3, 0.1, 0.2, -0.1, 1.1])
    pose_b = np.array([0.1, -0.2, 0.3, -0.3, 0.1, 0.4, 0.7])
    pose_b[:3] += apart * np.array([0.3, 0.4, np.sqrt(0.75)])
    return a, b, (pose_a, pose_b)


def matrix(pose: np.ndarray) -> np.ndarray:
    from stiction.autodiff import _matrix

    return _matrix(pose)
