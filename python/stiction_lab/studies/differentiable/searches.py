"""One search, Levenberg and Marquardt's, with Jacobians of several origins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import stiction
from numpy.typing import NDArray

from .tasks import Task

Floats = NDArray[np.float64]
ITERATIONS = 30
PATH, FIRST, ZEROTH = 10, 10, 100
"""Iterations on the path before the exact ones; samples of the estimators."""

Derivative = Callable[[Task, Floats, np.random.Generator], Floats]


@dataclass(frozen=True)
class Stage:
    """Iterations with one kind of Jacobian.

    Attributes:
        epsilon: of the central path [J]; 0: the exact step.
        sampled: the next Jacobian will be another one, so a step without progress ends nothing.
    """

    iterations: int
    derivative: Derivative | None = None
    epsilon: float = 0.0
    sampled: bool = False


def first_order(task: Task, x: Floats, generator: np.random.Generator) -> Floats:
    """Mean of exact Jacobians where noise moves the controls."""
    at = (x + task.noise * generator.standard_normal(len(x)) for _ in range(FIRST))
    return np.asarray(np.mean([task.jacobian(task.sim, one) for one in at], axis=0))


def zeroth_order(task: Task, x: Floats, generator: np.random.Generator) -> Floats:
    """Mean of changes of the residual times the noise that made them; the effort's is known."""
    base = task.residual(task.sim, x)
    goals = len(base) - len(x)
    out = np.zeros((len(base), len(x)))
    for _ in range(ZEROTH):
        u = generator.standard_normal(len(x))
        change = task.residual(task.sim, x + task.noise * u) - base
        out[:goals] += np.outer(change[:goals], u) / (task.noise * ZEROTH)
    out[goals:] = task.effort * np.eye(len(x))
    return out


def differences(task: Task, x: Floats, generator: np.random.Generator) -> Floats:
    """Forward differences of rollouts."""
    h, base = 1e-5, task.residual(task.sim, x)
    return np.array([task.residual(task.sim, x + h * e) - base for e in np.eye(len(x))]).T / h


def stages(kind: str, task: Task) -> Sequence[Stage]:
    """Of a kind of gradient, see `KINDS`."""
    start = task.epsilon
    helper = [Stage(1, epsilon=e) for e in start / 1e-2 * np.array(stiction.smoothing.EPSILONS)]
    return {
        "exact": [Stage(ITERATIONS)],
        "path, halved": [Stage(1, epsilon=max(start * 0.5**k, 1e-9)) for k in range(ITERATIONS)],
        "path, fixed": [Stage(ITERATIONS, epsilon=1e-2 * start)],
        "path, then exact": [*helper, Stage(ITERATIONS - len(helper))],
        "noise, order 1": [Stage(ITERATIONS, first_order, sampled=True)],
        "noise, then exact": [Stage(5, first_order, sampled=True), Stage(ITERATIONS - 5)],
        "noise, order 0": [Stage(ITERATIONS, zeroth_order, sampled=True)],
        "differences": [Stage(ITERATIONS, differences)],
    }[kind]


KINDS = {
    "exact": "exact",
    "path, halved": "central path, ε halved each iteration",
    "path, fixed": "central path, ε fixed",
    "path, then exact": f"central path for {PATH} iterations, then exact",
    "noise, order 1": f"mean of {FIRST} exact ones under noise",
    "noise, then exact": "the same for 5 iterations, then exact",
    "noise, order 0": f"{ZEROTH} rollouts under noise",
    "differences": "forward differences",
}


def search(kind: str, task: Task, generator: np.random.Generator) -> Floats:
    """Where it ends."""
    x = task.start
    for stage in stages(kind, task):
        x = _improve(task, x, stage, generator)
    return x


def _improve(task: Task, x: Floats, stage: Stage, generator: np.random.Generator) -> Floats:
    sim = task.sim.smoothed(stage.epsilon) if stage.epsilon else task.sim
    r, damping = task.residual(sim, x), 1e-3
    for _ in range(stage.iterations):
        find = stage.derivative
        J = find(task, x, generator) if find else task.jacobian(sim, x)
        for _ in range(12):
            step = np.linalg.solve(J.T @ J + damping * np.eye(len(x)), -J.T @ r)
            there = task.residual(sim, x + step)
            if there @ there < r @ r:
                x, r, damping = x + step, there, max(damping / 3.0, 1e-9)
                break
            damping *= 4.0
        else:
            if not stage.sampled:
                return x
            damping = 1e-3
    return x
