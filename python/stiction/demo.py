"""The demo: Solo-12 falls, stands, is pushed twice and keeps standing; measured and recorded.

Everything it needs comes with the package, so it runs offline.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import ExternalWrench, Simulator, State, load
from .cli_subject import set_compliance
from .record import Recorder, geometry_positions
from .replay import write_replay
from .run import OnStep, RunSummary, Segment, execute, time_steps
from .setting_names import SettingNames

DROP_HEIGHT = 0.3
"""Above the standing height [m]."""
PUSHES = ((2.0, 0.2, 15.0), (3.2, 0.1, -25.0))
"""When [s], how long [s] and with which force along the world's y axis [N] the base is pushed."""
LONGEST_STEP = min(length for _, length, _ in PUSHES)
"""A longer one would leave a push out [s]."""
DURATION = 5.0
STANDING = (1.5, 2.0)
"""When the robot should stand still [s]: foot drift is measured from the first to the second."""


@dataclass
class DemoResult:
    """What the demo measured.

    Attributes:
        us_per_step: median over C++ chunks [us].
        foot_drift: largest horizontal motion of a foot while standing [m].
        base_height: at the end [m].
        replay: the HTML page.
    """

    summary: RunSummary
    us_per_step: float
    foot_drift: float
    base_height: float
    replay: Path

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {
            "scene": "solo12",
            **self.summary.as_dict(),
            "us_per_step": self.us_per_step,
            "foot_drift": self.foot_drift,
            "base_height": self.base_height,
            "replay": str(self.replay),
        }


def run_demo(
    output: Path,
    settings: SettingNames | None = None,
    stiffness: float | None = None,
    on_step: OnStep | None = None,
) -> DemoResult:
    """Simulate, measure, write the replay to `output`.

    Args:
        output: HTML file; its folder is made.
        settings: of the simulator.
        stiffness: of every surface [N/m]; None: rigid.
        on_step: called with the number of steps done and of all.

    Raises:
        ValueError: a setting is out of range, or the integrator needs a stiffness.
        SimulationError: a step was not finite.
    """
    scene = load("solo12")
    if stiffness is not None:
        set_compliance(scene, stiffness)
    sim = Simulator(scene, **(settings or {}))
    state = sim.initial_state("standing")
    q = np.array(state.q)
    q[2] += DROP_HEIGHT
    state.q = q
    start, plan = state.copy(), demo_plan(sim, sim.settings.dt)

    recorder = Recorder(sim, "Solo-12: dropped, stands, is pushed", info=_story())
    drift = DriftMeter(sim, *STANDING)
    summary = RunSummary()

    def watch(step: int, steps: int) -> None:
        drift.look(state)
        if on_step:
            on_step(step, steps)

    output.parent.mkdir(parents=True, exist_ok=True)  # its default is build/demo
    summary = execute(sim, state, plan, recorder, watch)
    return DemoResult(
        summary=summary,
        us_per_step=time_steps(sim, start, plan),
        foot_drift=drift.largest(),
        base_height=float(state.q[2]),
        replay=write_replay(output, recorder.replay()),
    )


def demo_plan(sim: Simulator, dt: float) -> list[Segment]:
    """Standing targets throughout, with the pushes in between."""
    plan, now, base = [], 0.0, 0
    for begin, length, force in PUSHES:
        plan.append(Segment(sim.hold("standing"), round((begin - now) / dt)))
        pushed = sim.hold("standing")
        pushed.wrenches = [ExternalWrench(base, [0.0, force, 0.0])]
        plan.append(Segment(pushed, round(length / dt)))
        now = begin + length
    plan.append(Segment(sim.hold("standing"), round((DURATION - now) / dt)))
    return plan


class DriftMeter:
    """Horizontal motion of a robot's spheres (its feet) between two times [s]."""

    def __init__(self, sim: Simulator, begin: float, end: float) -> None:
        self._sim, self._begin, self._end = sim, begin, end
        self._first: NDArray[np.float64] | None = None
        self._last: NDArray[np.float64] | None = None

    def look(self, state: State) -> None:
        """Note the feet if it is time."""
        if self._first is None and state.time >= self._begin:
            self._first = geometry_positions(self._sim, state, "sphere")
        if self._last is None and state.time >= self._end - 1e-9:
            self._last = geometry_positions(self._sim, state, "sphere")

    def largest(self) -> float:
        """Of any foot [m]; NaN if the times were not reached."""
        if self._first is None or self._last is None:
            return float("nan")
        return float(np.linalg.norm((self._last - self._first)[:, :2], axis=1).max())


def _story() -> dict[str, str]:
    pushes = ", ".join(
        f"{abs(force):g} N for {length:g} s at {begin:g} s" for begin, length, force in PUSHES
    )
    return {"Dropped from": f"{DROP_HEIGHT:g} m above standing", "Pushed sideways": pushes}
