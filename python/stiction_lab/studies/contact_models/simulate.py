"""A run of one scene with one solver, and all that the figures need from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stiction._stiction import Control, Scene, State, make_state
from stiction.simulator import Simulator

Floats = NDArray[np.float64]
Drive = Callable[[float], Control | None]
"""Time at the start of a step [s] -> control of that step."""

EXACT: dict[str, Any] = {"tolerance": 1e-10, "max_iterations": 10_000}
"""Closer to a solver's own solution than the paper's cube example (absolute tolerance 1e-9, 10 000
iterations)."""


@dataclass
class Run:
    """T steps. Positions, velocities and energies are those at the start of a step, residuals and
    contacts those of the step; k contacts at most, NaN where a step has fewer.

    Attributes:
        solver: name in the registry.
        time: (T,) [s].
        q, v: (T, nq), (T, nv).
        energy: (T,) kinetic and potential [J].
        certificate: (T, 3) primal [N s], dual [m/s], complementarity [J] of the NCP.
        relative: (T,) dimensionless residual of the NCP.
        penetration: (T,) deepest overlap [m].
        converged: (T,) the solver's own residual met its tolerance.
        iterations: (T,).
        impulse, velocity: (T, k, 3) of every contact in its frame, normal last [N s], [m/s].
        gap: (T, k) [m].
    """

    solver: str
    time: Floats
    q: Floats
    v: Floats
    energy: Floats
    certificate: Floats
    relative: Floats
    penetration: Floats
    converged: NDArray[np.bool_]
    iterations: NDArray[np.int64]
    impulse: Floats
    velocity: Floats
    gap: Floats

    @property
    def signorini(self) -> Floats:
        """(T,) largest |lambda_N c_N| of a contact [J]; c_N is the velocity after the step."""
        product = np.abs(self.impulse[:, :, 2] * self.velocity[:, :, 2])
        return np.asarray(np.nanmax(np.nan_to_num(product), axis=1))


def simulate(
    scene: Scene,
    solver: str,
    steps: int,
    start: Callable[[Simulator], State],
    drive: Drive = lambda time: None,
    contacts: int = 4,
    warm: bool = True,
    **settings: Any,
) -> Run:
    """Run a scene.

    Args:
        start: simulator -> first state.
        contacts: k, the largest number of contacts kept of a step.
        warm: False: every step solves from zero impulses.
        settings: of the Simulator; those of `EXACT` unless given.
    """
    simulator = Simulator(scene, solver=solver, **(EXACT | settings))
    state = start(simulator)
    run = _empty(solver, steps, len(state.q), len(state.v), contacts)
    for k in range(steps):
        if not warm:
            state = _forgetful(scene, state)
        run.time[k], run.q[k], run.v[k] = state.time, state.q, state.v
        report = simulator.step(state, drive(state.time))
        residuals = report.residuals
        run.energy[k] = report.energy
        run.certificate[k] = residuals.primal, residuals.dual, residuals.complementarity
        run.relative[k] = residuals.relative
        run.penetration[k] = report.penetration
        run.converged[k] = report.converged
        run.iterations[k] = report.iterations
        for i, contact in enumerate(simulator.contacts()[:contacts]):
            run.impulse[k, i] = contact.impulse
            run.velocity[k, i] = contact.velocity
            run.gap[k, i] = contact.gap
    return run


def _forgetful(scene: Scene, state: State) -> State:
    """The same motion without the impulses of the last step."""
    fresh = make_state(scene, state.q, state.v)
    fresh.time = state.time
    return fresh


def _empty(solver: str, steps: int, nq: int, nv: int, contacts: int) -> Run:
    def nan(*shape: int) -> Floats:
        return np.full((steps, *shape), np.nan)

    return Run(
        solver=solver,
        time=nan(),
        q=nan(nq),
        v=nan(nv),
        energy=nan(),
        certificate=nan(3),
        relative=nan(),
        penetration=nan(),
        converged=np.zeros(steps, dtype=bool),
        iterations=np.zeros(steps, dtype=np.int64),
        impulse=nan(contacts, 3),
        velocity=nan(contacts, 3),
        gap=nan(contacts),
    )
