"""The motion itself: classical Runge-Kutta, each span halved until two runs agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from stiction._stiction import SimulationError, State, make_state
from stiction.pages.experiment import StudyError, Tick
from stiction.simulator import Simulator

from .motion import Motion
from .robots import Robot

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Fineness:
    """How a truth is computed.

    Attributes:
        step: largest step, at most [s].
        tolerance: two runs over the same span, one with half the step, may differ by so much [m,
            rad, m/s, rad/s].
        halvings: of the step, at most so many; the last ones only next to a switch.
        law: of the contact.
    """

    step: float = 20e-6
    tolerance: float = 1e-9
    halvings: int = 24
    law: str = "continuous"


COARSE = Fineness(step=80e-6)
"""For a quick run of a motion on four feet."""
SMOOTH_HALVINGS = 3
"""More are needed only where the right-hand side has a kink or a jump: a fourth-order method gains
16 times by each."""


@dataclass
class Truth:
    """Control periods: where each starts and where it ends.

    Attributes:
        starts, ends: N states; in a run every period starts where the one before ended.
        torques: (N, nv), held over each period.
        error: (N,) sum of the differences of the last two runs over all spans of a period.
        switched: (N,) a contact opened, closed, slipped or stuck within it.
    """

    motion: Motion
    law: str
    starts: list[State]
    ends: list[State]
    torques: Floats
    error: Floats
    switched: NDArray[np.bool_]


def distance(robot: Robot, state: State, reference: State) -> float:
    """Largest entry of [q ⊖ q_ref; v - v_ref], the paper's error [rad or m, rad/s or m/s]."""
    dq = pin.difference(robot.model, np.asarray(reference.q), np.asarray(state.q))
    dv = np.asarray(state.v) - np.asarray(reference.v)
    return float(max(np.abs(dq).max(), np.abs(dv).max()))


class Refined:
    """Ends of periods, with steps as short as needed where they are needed."""

    def __init__(self, robot: Robot, period: float, fineness: Fineness) -> None:
        self.robot, self.period, self.fineness = robot, period, fineness
        self.first = max(0, int(np.ceil(np.log2(period / fineness.step))))
        self._simulators: dict[int, Simulator] = {}
        self._deepest = 0

    def end(self, start: State, torque: Floats) -> tuple[State, float, int]:
        """State after the period, its error, and how often the shortest step was halved."""
        self._deepest = 0
        state, error = self._advance(start, torque, self.first, 2**self.first)
        return state, error, self._deepest - self.first

    def _advance(self, start: State, torque: Floats, level: int, count: int) -> tuple[State, float]:
        """`count` steps of period / 2^level, or more and shorter ones: the span is cut in two
        until both agree on a run with half the step."""
        coarse = self._run(start, torque, level, count)
        fine = self._run(start, torque, level + 1, 2 * count)
        self._deepest = max(self._deepest, level + 1)
        last = level + 1 >= self.first + self.fineness.halvings
        if coarse is not None and fine is not None:
            error = distance(self.robot, coarse, fine)
            if error <= self.fineness.tolerance or last:
                return fine, error
        elif last:
            raise StudyError(f"rk4 diverges at {self.period / 2**level:g} s")
        if count == 1:
            level, count = level + 1, 2
        middle, before = self._advance(start, torque, level, count // 2)
        end, after = self._advance(middle, torque, level, count // 2)
        return end, before + after

    def _run(self, start: State, torque: Floats, level: int, steps: int) -> State | None:
        if level not in self._simulators:
            self._simulators[level] = Simulator(
                self.robot.scene,
                dt=self.period / 2**level,
                integrator="rk4",
                law=self.fineness.law,
            )
        state = start.copy()
        try:
            self._simulators[level].run(state, torque, steps)
        except SimulationError:
            return None
        return state


def run(motion: Motion, fineness: Fineness, tick: Tick, share: tuple[float, float]) -> Truth:
    """The whole motion under its controller.

    Args:
        share: of the experiment, before and after; see `Tick`.
    """
    refined = Refined(motion.robot, motion.period, fineness)
    states = [make_state(motion.robot.scene, motion.q, motion.v)]
    torques = np.zeros((motion.steps, motion.robot.model.nv))
    error, halvings = np.zeros(motion.steps), np.zeros(motion.steps, dtype=int)
    for k in range(motion.steps):
        if k % 20 == 0:
            done = share[0] + (share[1] - share[0]) * k / motion.steps
            tick(f"{motion.name}: reference, period {k} of {motion.steps}", done)
        here = states[-1]
        torques[k] = motion.controller.torque(k, np.asarray(here.q), np.asarray(here.v))
        end, error[k], halvings[k] = refined.end(here, torques[k])
        states.append(end)
    switched = halvings > SMOOTH_HALVINGS
    return Truth(motion, fineness.law, states[:-1], states[1:], torques, error, switched)
