"""Bodies in each other, all at one place: the steps that the bound on work is for.

Rows grow with the square of the bodies; overlaps oppose each other through every one of them. Each
scene is stepped a few times from rest and the slowest step is told, in CPU time of the thread.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from stiction import (
    Box,
    ConvexMesh,
    Material,
    NotConvergedWarning,
    Scene,
    Shape,
    Simulator,
    Sphere,
    StartWarning,
)

from .measure import Tick
from .work_budget import share_of_work

STEPS = 3
COMPLIANT = {"stiffness": 1e5, "damping": 10.0}
JAMS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "200 spheres, jitter 1 cm": ({"n": 200, "shape": "sphere", "jitter": 0.01}, {}),
    "200 coincident spheres": ({"n": 200, "shape": "sphere"}, {}),
    "44 coincident spheres": ({"n": 44, "shape": "sphere"}, {}),
    "100 boxes, friction 3": ({"n": 100, "shape": "box", "jitter": 0.02, "friction": 3.0}, {}),
    "40 hulls": ({"n": 40, "shape": "hull", "jitter": 0.02}, {}),
    "10 compliant boxes, exponential": (
        {"n": 10, "shape": "box", "jitter": 0.03, **COMPLIANT},
        {"integrator": "exponential"},
    ),
    "10 compliant boxes, implicit-euler": (
        {"n": 10, "shape": "box", "jitter": 0.03, **COMPLIANT},
        {"integrator": "implicit-euler"},
    ),
}


def hull(rng: np.random.Generator) -> Shape:
    """Sixteen points of a sphere of 0.1 m."""
    x = rng.normal(size=(16, 3))
    return ConvexMesh(0.1 * x / np.linalg.norm(x, axis=1)[:, None])


def jam(
    n: int,
    shape: str,
    jitter: float = 0.0,
    friction: float = 0.6,
    height: float = 0.5,
    seed: int = 5000,
    **material: float,
) -> Scene:
    """n bodies of 1 kg about one place over the ground: "sphere", "box" or "hull" of 0.1 m."""
    rng = np.random.default_rng(seed)
    stuff = Material(friction=friction, **material)
    make: dict[str, Callable[[], Shape]] = {
        "sphere": lambda: Sphere(0.1),
        "box": lambda: Box([0.1, 0.1, 0.1]),
        "hull": lambda: hull(rng),
    }
    scene = Scene()
    scene.add_ground(stuff)
    for i in range(n):
        X = np.eye(4)
        X[:3, 3] = np.array([0.0, 0.0, height]) + jitter * rng.normal(size=3)
        scene.add_body(f"b{i}", make[shape](), 1.0, X, stuff)
    return scene


def bench_jams(names: Iterable[str] = JAMS, tick: Tick | None = None) -> list[dict[str, Any]]:
    """A row per scene, of its slowest step."""
    say = tick or (lambda line: None)
    rows = []
    for name in names:
        say(name)
        what, how = JAMS[name]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StartWarning)
            warnings.simplefilter("ignore", NotConvergedWarning)
            sim = Simulator(jam(**what), dt=1e-3, **how)
            state = sim.initial_state()
            slowest: dict[str, Any] = {"seconds": -1.0}
            for _ in range(STEPS):
                start = state.copy()
                begin = time.thread_time()
                report = sim.step(state)
                seconds = time.thread_time() - begin
                share = share_of_work(sim, report)
                status = str(report.solver_status)
                contacts, total = int(report.num_contacts), int(report.num_rows)
                begin = time.thread_time()
                sim.find_contacts(start)
                collision = time.thread_time() - begin
                if seconds <= slowest["seconds"]:
                    continue
                slowest = {
                    "scene": name,
                    "seconds": seconds,
                    "collision": collision,
                    "contacts": contacts,
                    "rows": total,
                    "work": share,
                    "status": status,
                }
        rows.append(slowest)
    return rows
