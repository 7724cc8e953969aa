"""The sliding cube of Tables III and IV: trajectories on different grids and their distance.

The cube (1 kg, side 0.2 m, friction 0.4) touches the plane with four corner spheres, so that its
contact points stay the same along the slide, and starts with 1 m/s.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stiction import _stiction
from stiction.simulator import Simulator

from . import cubes

Floats = NDArray[np.float64]

SPEED = 1.0  # [m/s] at the start
FRICTION = 0.4
DURATION = 1.0  # [s]; the cube rests after 0.255 s
MAX_ITERATIONS = 10000


@dataclass(frozen=True)
class Slide:
    """A trajectory on its own time grid.

    Attributes:
        time: (T + 1,) [s].
        position: (T + 1, 3) of the centre [m].
        energy: (T + 1,) kinetic and potential, above rest on the plane [J].
        reached: share of the steps whose solver reached its tolerance.
    """

    time: Floats
    position: Floats
    energy: Floats
    reached: float


def slide(solver: str, dt: float, tolerance: float, warm: bool = True, **extra: Any) -> Slide:
    """One second of the slide; cold: every step forgets the impulses of the last.

    Args:
        extra: more settings of the Simulator.
    """
    scene = cubes.cube(FRICTION, corner_spheres=True)
    settings: dict[str, Any] = {"solver": solver, "dt": dt, "tolerance": tolerance}
    settings = {"max_iterations": MAX_ITERATIONS} | settings | extra
    simulator = Simulator(scene, **settings)
    state = cubes.sliding(simulator, SPEED)
    steps = round(DURATION / dt)
    if warm:
        log = simulator.rollout(state, steps=steps, record=("q", "v", "converged"))
        assert log.q is not None and log.v is not None and log.converged is not None
        q, v, reached = log.q, log.v, float(log.converged.mean())
    else:
        q, v, reached = _cold_steps(simulator, state, steps)
    energy = _kinetic_energy(v) + cubes.MASS * cubes.GRAVITY * (q[:, 2] - q[0, 2])
    time = np.asarray(np.arange(steps + 1) * dt)
    return Slide(time, q[:, :3].copy(), energy, reached)


def _cold_steps(
    simulator: Simulator, state: _stiction.State, steps: int
) -> tuple[Floats, Floats, float]:
    q, v = np.empty((steps + 1, 7)), np.empty((steps + 1, 6))
    q[0], v[0] = state.q, state.v
    reached = 0
    for k in range(1, steps + 1):
        state = _stiction.make_state(simulator.scene, state.q, state.v)
        reached += simulator.step(state).converged
        q[k], v[k] = state.q, state.v
    return q, v, reached / steps


def _kinetic_energy(v: Floats) -> Floats:
    turning = cubes.MASS * cubes.SIDE**2 / 6.0  # about the centre [kg m^2]
    kinetic: Floats = 0.5 * (cubes.MASS * (v[:, :3] ** 2).sum(1) + turning * (v[:, 3:] ** 2).sum(1))
    return kinetic


def distance(coarse: Slide, fine: Slide) -> float:
    """Integral over time of the distance between the centres, at the coarser one's times [m s]."""
    every = (len(fine.time) - 1) // (len(coarse.time) - 1)
    apart = np.linalg.norm(coarse.position - fine.position[::every], axis=1)
    return float(np.trapezoid(apart, coarse.time))


def of_the_scheme(dt: float) -> Slide:
    """What semi-implicit Euler gives with the exact friction force: mu m g until rest."""
    steps = round(DURATION / dt)
    time = np.asarray(np.arange(steps + 1) * dt)
    speed = np.maximum(SPEED - FRICTION * cubes.GRAVITY * time, 0.0)
    position = np.zeros((steps + 1, 3))
    position[1:, 1] = np.cumsum(speed[1:]) * dt
    return Slide(time, position, 0.5 * cubes.MASS * speed**2, 1.0)


def exact_energy() -> tuple[Floats, Floats]:
    """Time and 1/2 m (v - mu g t)^2, for figures [s], [J]."""
    time = np.linspace(0.0, DURATION, 401)
    return time, cubes.sliding_energy(time, SPEED, FRICTION)


def energy_defect(ours: Slide) -> float:
    """Largest deviation from 1/2 m (v - mu g t)^2, as a share of the energy at the start."""
    exact = cubes.sliding_energy(ours.time, SPEED, FRICTION)
    return float(np.abs(ours.energy - exact).max() / exact[0])


def reach_note(slides: dict[str, Slide]) -> str:
    """Names those whose solver missed its tolerance in some steps."""
    missed = [f"{name} in {1 - s.reached:.2%}" for name, s in slides.items() if s.reached < 1.0]
    return "Steps in which the tolerance was not reached: " + (", ".join(missed) or "none") + "."
