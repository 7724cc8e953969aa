"""The paper's local error: one control period, started from the truth."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stiction._stiction import SimulationError

from .integrators import Method
from .truth import Truth, distance

Floats = NDArray[np.float64]

DIVERGED = 1e3
"""A velocity error above this is called divergence [m/s or rad/s]."""


@dataclass(frozen=True)
class LocalErrors:
    """Of one integrator at one step.

    Attributes:
        dt: step [s].
        error: (periods,) inf where the integrator gave up.
        microseconds: per step, one call per period included.
        failed: steps whose status is not "ok", as a share of the periods.
    """

    dt: float
    error: Floats
    microseconds: float
    failed: float

    @property
    def mean(self) -> float:
        """Over the periods [rad or m, rad/s or m/s]; inf: diverged in one of them."""
        worst = float(self.error.max())
        return float(self.error.mean()) if worst < DIVERGED else np.inf


def local_errors(
    truth: Truth, method: Method, substeps: int, periods: NDArray[np.intp] | None = None
) -> LocalErrors:
    """Every period once, each started from the truth's state, springs included.

    Args:
        periods: which; None: all.
    """
    motion = truth.motion
    dt = motion.period / substeps
    simulator = method.simulator(motion.robot.scene, dt, truth.law)
    chosen = np.arange(motion.steps) if periods is None else periods
    error = np.full(len(chosen), np.inf)
    spent, failed = 0.0, 0
    simulator.run(truth.starts[chosen[0]].copy(), truth.torques[chosen[0]], 1)  # warm up
    for i, k in enumerate(chosen):
        state, torque = truth.starts[k].copy(), truth.torques[k]
        begin = time.thread_time()  # of the processor: others may run beside
        try:
            report = simulator.run(state, torque, substeps)
        except SimulationError:
            failed += 1
            continue
        spent += time.thread_time() - begin
        failed += report.status != "ok"
        error[i] = distance(motion.robot, state, truth.ends[k])
    finished = max(int(np.isfinite(error).sum()), 1)
    return LocalErrors(dt, error, 1e6 * spent / (finished * substeps), failed / len(chosen))


def ladder(period: float, smallest: float) -> list[int]:
    """1, 2, 4, ... sub-steps of a period, down to a step of `smallest` [s]."""
    count = int(np.floor(np.log2(period / smallest) + 1e-9))
    return [2**i for i in range(max(count, 0) + 1)]
