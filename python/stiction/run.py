"""Run a simulation through a plan of controls: what `stiction run`, `view` and `demo` share."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from . import Control, State, StepReport
from .record import Recorder

__all__ = ["RunSummary", "Segment", "execute", "time_steps"]

TOLERANCE = 1e-8
"""Of a Simulator's settings."""
CHUNK = 20
"""Steps per timed call."""

OnStep = Callable[[int, int], None]


class Steps(Protocol):
    """A Simulator, or what steps as one."""

    def step(self, state: State, control: Control) -> StepReport:
        """One step of `state`, in place."""

    def run(self, state: State, control: Control, steps: int) -> object:
        """Many."""


@dataclass(frozen=True)
class Segment:
    """One control, held for a number of steps."""

    control: Control
    steps: int


@dataclass
class RunSummary:
    """Numbers of a run, SI units; the lists have one entry per step.

    Attributes:
        status: how often each step status came up ("ok", "not_converged").
        residual: relative residual of the contact problem, dimensionless.
        penetration: deepest overlap at the start of the step [m].
        creep: fastest tangential speed of a sticking contact [m/s].
        contacts, iterations: of the step.
        energy: kinetic + potential at the start of the step [J].
        recovery_energy: that corrections of position errors added in all steps, at most [J].
        loose: steps that took a larger residual: islands of many bodies in motion are held to
            `tolerance_large`, contacts that lock to 1e-6.
    """

    status: Counter[str] = field(default_factory=Counter)
    residual: list[float] = field(default_factory=list)
    penetration: list[float] = field(default_factory=list)
    creep: list[float] = field(default_factory=list)
    contacts: list[int] = field(default_factory=list)
    iterations: list[int] = field(default_factory=list)
    energy: list[float] = field(default_factory=list)
    recovery_energy: float = 0.0
    loose: int = 0

    @property
    def steps(self) -> int:
        """Steps taken."""
        return len(self.residual)

    def add(self, report: StepReport) -> None:
        """Take note of one step's report."""
        self.status[str(report.status)] += 1
        self.residual.append(float(report.residuals.relative))
        self.penetration.append(float(report.penetration))
        self.creep.append(float(report.creep))
        self.contacts.append(int(report.num_contacts))
        self.iterations.append(int(report.iterations))
        self.energy.append(float(report.energy))
        self.recovery_energy += float(report.recovery_energy)
        self.loose += bool(report.tolerance > TOLERANCE and report.residuals.relative > TOLERANCE)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {
            "steps": self.steps,
            "status": dict(self.status),
            "residual": {"median": float(np.median(self.residual)), "max": max(self.residual)},
            "penetration": {
                "median": float(np.median(self.penetration)),
                "max": max(self.penetration),
            },
            "creep": {"median": float(np.median(self.creep)), "max": max(self.creep)},
            "contacts": {"mean": float(np.mean(self.contacts)), "max": max(self.contacts)},
            "iterations": {"mean": float(np.mean(self.iterations)), "max": max(self.iterations)},
            "loose_steps": self.loose,
            "energy": {"first": self.energy[0], "last": self.energy[-1]},
            "recovery_energy": self.recovery_energy,
        }


def execute(
    sim: Steps,
    state: State,
    plan: Sequence[Segment],
    recorder: Recorder | None = None,
    on_step: OnStep | None = None,
) -> RunSummary:
    """Advance `state` in place through the plan, step by step.

    recorder, if any, keeps frames; on_step(step, steps) is called after each step.

    Raises:
        SimulationError: a step was not finite; the state is that before it.
    """
    summary, total = RunSummary(), sum(segment.steps for segment in plan)
    if recorder:
        recorder.capture(state)
    for segment in plan:
        for _ in range(segment.steps):
            summary.add(sim.step(state, segment.control))
            if recorder:
                recorder.after_step(state)
            if on_step:
                on_step(summary.steps, total)
    return summary


def time_steps(sim: Steps, state: State, plan: Sequence[Segment], reps: int = 3) -> float:
    """Median time of a step over the plan [us], in C++ chunks; `state` is left alone. The plan has
    a step at least.

    Per chunk the fastest of `reps` passes counts, as in `stiction bench`. A segment shorter than a
    chunk is one; what is left of a longer one is not timed.
    """
    clock, passes = time.perf_counter, []
    for _ in range(max(1, reps)):
        moving, chunks = state.copy(), []
        for segment in plan:
            size = min(CHUNK, segment.steps)
            for _ in range(segment.steps // max(size, 1)):
                begin = clock()
                sim.run(moving, segment.control, size)
                chunks.append((clock() - begin) / size)
        passes.append(chunks)
    return float(np.median(np.min(passes, axis=0))) * 1e6
