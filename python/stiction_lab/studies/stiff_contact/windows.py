"""Local errors of any scene: a reference run, and every window of it once by every integrator."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stiction._stiction import Control, Scene, State
from stiction.pages.experiment import StudyError, Tick
from stiction.simulator import Simulator

from ...bench.integrator_cases import servo_torque
from ...bench.local_error import Reference, Window, advance, window_errors
from ...bench.worlds import BenchError

Floats = NDArray[np.float64]

STEPS, TOLERANCE = 200, 1e-8
"""Of a period the reference begins with; of two runs of it, over one span."""
HALVINGS = 20
"""Of the reference's steps, at most: next to a switch."""


@dataclass
class Run:
    """A motion in windows of one control period, each with its reference end.

    Attributes:
        left: (windows,) sum of the differences of the last two runs of the reference.
    """

    scene: Scene
    period: float
    windows: list[Window]
    ends: list[State]
    left: Floats


def follow(
    scene: Scene,
    start: State,
    controls: Sequence[Control],
    period: float,
    tick: Tick,
    steps: int = STEPS,
    tolerance: float = TOLERANCE,
    settings: Mapping[str, Any] | None = None,
) -> Run:
    """The reference through all periods, one control each.

    Args:
        steps: of a period, at first; see `Reference`.
        tick: told how far it is.
    """
    truth = Reference(scene, period, steps, tolerance, HALVINGS, **dict(settings or {}))
    windows: list[Window] = []
    ends: list[State] = []
    left = np.zeros(len(controls))
    state = start
    for k, control in enumerate(controls):
        if k % 10 == 0:
            tick(f"reference, period {k} of {len(controls)}", k / len(controls))
        windows.append(Window(state, control))
        try:
            state, left[k] = truth.end(windows[-1])
        except BenchError as error:
            raise StudyError(str(error)) from None
        ends.append(state)
    return Run(scene, period, windows, ends, left)


def with_torques_held(run: Run, tick: Tick) -> Run:
    """The same windows with the torques that the servos have at their starts, and no servos."""
    scene = run.scene.copy()
    scene.parameters.kp[:] = 0.0
    scene.parameters.kd[:] = 0.0
    truth = Reference(scene, run.period, STEPS, TOLERANCE, HALVINGS)
    held = Run(scene, run.period, [], [], np.zeros(len(run.windows)))
    for k, window in enumerate(run.windows):
        tick(f"reference, torques held, period {k}", k / len(run.windows))
        control = Control(scene.nv)
        control.torque[:] = servo_torque(run.scene, window.state, window.control)
        held.windows.append(Window(window.state, control))
        end, held.left[k] = truth.end(held.windows[-1])
        held.ends.append(end)
    return held


def errors_of(
    run: Run, name: str, substeps: int, settings: Mapping[str, Any] | None = None
) -> Floats:
    """Largest difference of each window (windows,) in q and v; inf: it blew up."""
    sim = Simulator(run.scene, dt=run.period / substeps, integrator=name, **dict(settings or {}))
    found = [advance(sim, window.state, window.control, substeps) for window in run.windows]
    worst = window_errors(run.scene, found, run.ends).max(axis=1)
    return np.asarray(np.where(np.isnan(worst), np.inf, worst))


def part(tick: Tick, begin: float, end: float, head: str = "") -> Callable[[str, float], None]:
    """A tick for one part of an experiment."""
    return lambda text, share: tick(head + text, begin + (end - begin) * share)
