"""The contact problems of robots that move: Solo-12, Talos, and a ball in the Allegro hand."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stiction import loading
from stiction._stiction import ContactProblem, ExternalWrench
from stiction.pages.experiment import Effort, StudyError
from stiction.simulator import Simulator

from . import cubes

Floats = NDArray[np.float64]

TOLERANCE = 1e-10  # of the solver that makes the trajectory


@dataclass(frozen=True)
class Trajectory:
    """A robot, its disturbance and its length.

    Attributes:
        scene: name of the built-in scene.
        body: that the disturbance acts on; empty: none.
        force: amplitude of (sin 2t, sin(2t + 1), sin(2t + 2)) [N].
        duration: [s].
    """

    scene: str
    body: str
    force: float
    duration: float


TRAJECTORIES = {
    "Solo-12": Trajectory("solo12", "base_link", 12.0, 2.0),
    "Talos": Trajectory("talos", "base_link", 75.0, 2.0),
    "Allegro + ball": Trajectory("allegro-ball", "", 0.0, 1.0),
}
"""Forces of the examples published with the paper; there every joint of Talos and of the hand is
locked, here all move under their servos."""


@dataclass(frozen=True)
class Recorded:
    """A problem of a trajectory and the impulses that its step started from [N s]."""

    problem: ContactProblem
    warm_start: Floats


def record(trajectory: Trajectory, count: int, effort: Effort) -> list[Recorded]:
    """`count` problems with contacts, evenly spread over that share of the trajectory.

    Raises:
        StudyError: the robot's files are not installed.
    """
    try:
        scene = loading.load(trajectory.scene)
    except RuntimeError as error:
        raise StudyError(str(error)) from None
    simulator = Simulator(scene, dt=cubes.DT, tolerance=TOLERANCE)
    state, control = simulator.initial_state(), simulator.hold()
    found: list[Recorded] = []
    for _ in range(effort.count(round(trajectory.duration / cubes.DT), least=300)):
        if trajectory.body:
            force = trajectory.force * np.sin(2.0 * state.time + np.arange(3.0))
            control.wrenches = [ExternalWrench(scene.body(trajectory.body), force)]
        simulator.step(state, control)
        if simulator.report().num_contacts:
            found.append(Recorded(simulator.problem(), simulator.warm_start()))
    if not found:
        raise StudyError(f"{trajectory.scene} made no contact in {trajectory.duration:g} s")
    chosen = np.unique(np.linspace(0, len(found) - 1, count).round().astype(int))
    return [found[k] for k in chosen]
