"""Fit a contact model to measured tosses, and judge it on others."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .toss_models import STEPS, Parameter, models
from .tosses import SIDE, Floats, Toss, energy_lost, rotation_error

METRICS = {
    "position 50 ms [mm]": 1,
    "position 100 ms [mm]": 1,
    "position 200 ms [mm]": 1,
    "rotation 50 ms [°]": 1,
    "rotation 100 ms [°]": 1,
    "rotation 200 ms [°]": 1,
    "rest position [mm]": 1,
    "rest rotation [°]": 1,
    "energy lost, error [%]": 1,
}
"""Errors, by which models are compared -> digits printed."""
SHOWN = {"energy lost [%]": 1, "penetration [mm]": 2}
"""Predicted and measured values, no errors."""


@dataclass
class Judged:
    """One model after the search, on the tosses it has not seen.

    Attributes:
        values: its parameters.
        loss: on the training half at the start and at the end of the search.
        metrics: name -> one value per toss of the other half.
        unsolved: steps of the other half whose problem was not solved to the tolerance, and all.
    """

    name: str
    values: Floats
    loss: tuple[float, float]
    metrics: dict[str, Floats]
    unsolved: tuple[int, int] = (0, 0)


def fit_and_judge(
    name: str, board: float, train: list[Toss], test: list[Toss], evaluations: int
) -> Judged:
    """Search the parameters of a model on `train`, judge it on `test`."""
    model = models(board)[name]

    def loss(values: Floats) -> float:
        predict = model.prepare(values)
        return float(np.median([_window_loss(t, predict(t, t.frames[-1]).poses) for t in train]))

    values, first, last = pattern_search(loss, model.parameters, evaluations)
    predict = model.prepare(values)
    rows: dict[str, list[float]] = {}
    unsolved = 0
    for toss in test:
        found = predict(toss, len(toss.poses) - 1)
        unsolved += found.unsolved
        for metric, value in judge(toss, found.poses, found.depth).items():
            rows.setdefault(metric, []).append(value)
    steps = STEPS * sum(len(toss.poses) - 1 for toss in test)
    metrics = {k: np.array(v) for k, v in rows.items()}
    return Judged(name, values, (first, last), metrics, (unsolved, steps))


def pattern_search(
    loss: Callable[[Floats], float], parameters: Sequence[Parameter], evaluations: int
) -> tuple[Floats, float, float]:
    """Compass search: one parameter at a time, steps halved when none helps.

    A direction that helped is tried first next time. Returns the best values, and the loss at the
    start and there; values without a finite loss are never taken.
    """
    low, high = (np.array([getattr(p, side) for p in parameters]) for side in ("low", "high"))
    best = np.array([p.start for p in parameters])
    step = np.array([p.step for p in parameters])
    first = least = loss(best)
    left = evaluations - 1
    while True:
        improved = False
        for k in range(len(best)):
            for sign in (1.0, -1.0):
                tried = best.copy()
                tried[k] = np.clip(tried[k] + sign * step[k], low[k], high[k])
                if tried[k] == best[k]:
                    continue
                if left == 0:
                    return best, first, least
                left -= 1
                value = loss(tried)
                if value < least or not np.isfinite(least):
                    best, least, improved = tried, value, True
                    step[k] *= sign
                    break
        if not improved:
            step *= 0.5


def _window_loss(toss: Toss, poses: Floats) -> float:
    shift, turn = _errors(toss, poses, toss.frames)
    total = float(np.mean(shift / SIDE + turn))
    return total if np.isfinite(total) else float("inf")


def _errors(toss: Toss, poses: Floats, frames: Sequence[int]) -> tuple[Floats, Floats]:
    """Of position [m] and rotation [rad] at frames."""
    predicted, measured = poses[list(frames)], toss.poses[list(frames)]
    shift = np.linalg.norm(predicted[:, :3] - measured[:, :3], axis=1)
    return shift, rotation_error(predicted[:, 3:], measured[:, 3:])


def judge(toss: Toss, poses: Floats, depth: float) -> dict[str, float]:
    """METRICS and SHOWN of a prediction with its deepest corner [m]."""
    shift, turn = _errors(toss, poses, [*toss.frames, len(toss.poses) - 1])
    lost, truth = energy_lost(toss, poses), energy_lost(toss, toss.poses)
    errors = [*shift[:3], *turn[:3], shift[3], turn[3]]
    scaled = [1e3 * x for x in shift[:3]] + [float(np.degrees(x)) for x in turn[:3]]
    scaled += [1e3 * errors[6], float(np.degrees(errors[7])), 100.0 * abs(lost - truth)]
    values = dict(zip(METRICS, map(float, scaled), strict=True))
    return values | {"energy lost [%]": 100.0 * lost, "penetration [mm]": 1e3 * depth}
