"""The motion itself: classical Runge-Kutta, each control period halved until two runs agree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from ..._stiction import SimulationError, State, make_state
from ...simulator import Simulator
from ..experiment import StudyError, Tick
from .motion import Motion
from .robots import Robot

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Fineness:
    """How a truth is computed.

    Attributes:
        step: first step tried, at most [s].
        tolerance: difference of two runs, one with half the step, that ends the halving [m, rad,
            m/s, rad/s].
        halvings: at most so many.
        law: of the contact.
    """

    step: float = 40e-6
    tolerance: float = 1e-9
    halvings: int = 6
    law: str = "continuous"


@dataclass
class Truth:
    """A run at the ends of the control periods.

    Attributes:
        states: N + 1 of them, the initial one first.
        torques: (N, nv), held over each period.
        error: (N,) difference of the last two runs of each period.
        switched: (N,) a contact opened, closed, slipped or stuck within it, or the halving ended
            before the tolerance.
    """

    motion: Motion
    law: str
    states: list[State]
    torques: Floats
    error: Floats
    switched: NDArray[np.bool_]


def distance(robot: Robot, state: State, reference: State) -> float:
    """Largest entry of [q ⊖ q_ref; v - v_ref], the paper's error [rad or m, rad/s or m/s]."""
    dq = pin.difference(robot.model, np.asarray(reference.q), np.asarray(state.q))
    dv = np.asarray(state.v) - np.asarray(reference.v)
    return float(max(np.abs(dq).max(), np.abs(dv).max()))


class Refined:
    """Ends of periods, as fine as asked."""

    def __init__(self, robot: Robot, period: float, fineness: Fineness) -> None:
        self.robot, self.period, self.fineness = robot, period, fineness
        self._simulators: dict[int, Simulator] = {}

    def end(self, start: State, torque: Floats) -> tuple[State, float, int]:
        """State after the period, its error, and the number of halvings."""
        steps = int(np.ceil(self.period / self.fineness.step))
        coarse = self._run(start, torque, steps)
        error = np.inf
        for halving in range(1, self.fineness.halvings + 1):
            fine = self._run(start, torque, steps * 2**halving)
            if coarse is not None and fine is not None:
                error = distance(self.robot, coarse, fine)
                if error <= self.fineness.tolerance:
                    return fine, error, halving
            coarse = fine
        if coarse is None:
            raise StudyError(f"rk4 diverges at {self.period / steps / 2**halving:g} s")
        return coarse, error, self.fineness.halvings

    def _run(self, start: State, torque: Floats, steps: int) -> State | None:
        if steps not in self._simulators:
            self._simulators[steps] = Simulator(
                self.robot.scene,
                dt=self.period / steps,
                integrator="rk4",
                law=self.fineness.law,
            )
        state = start.copy()
        try:
            self._simulators[steps].run(state, torque, steps)
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
    return Truth(motion, fineness.law, states, torques, error, halvings > halvings.min())
