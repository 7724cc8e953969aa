"""The slowest steps of random scenes, in CPU time of the thread.

A single slow measurement may be the machine's. So the steps that took longest are taken again from
the saved state, each as often as REPLAYS says, and the largest of their minima is the worst step.
"""

from __future__ import annotations

import heapq
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from stiction import Control, SimulationError, Simulator, State

from . import machine
from .jams import bench_jams
from .measure import Tick
from .random_scenes import KINDS, MAX_ROWS, random_scene
from .work_budget import work_used

REPLAYS = 5
CANDIDATES = 8
"""Slowest steps of a kind that are taken again."""
STEPS = 200


@dataclass(order=True)
class Candidate:
    """A slow step with the state before it."""

    seconds: float
    seed: int
    step: int
    rows: int
    status: str
    state: State

    def replayed(self, sim: Simulator, control: Control) -> float:
        """Least time of several from the saved state [s]."""
        least = np.inf
        for _ in range(REPLAYS):
            state = self.state.copy()
            begin = time.thread_time()
            sim.step(state, control)
            least = min(least, time.thread_time() - begin)
        return float(least)


class _Tally:
    """What the steps of a kind gave so far."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.seconds: list[float] = []
        self.status: Counter[str] = Counter()
        self.larger = self.ended = self.safe = 0
        self.work = 0.0
        self.slowest: list[Candidate] = []

    def run(self, seed: int, steps: int) -> None:
        """One scene."""
        sim, state, control = random_scene(self.kind, seed).start()
        for k in range(steps):
            before = state.copy()
            begin = time.thread_time()
            try:
                report = sim.step(state, control)
            except SimulationError:
                self.ended += 1
                return
            seconds = time.thread_time() - begin
            if report.num_rows > MAX_ROWS:
                self.larger += 1
                continue
            self.seconds.append(seconds)
            self.status[str(report.solver_status)] += 1
            self.safe += bool(report.safe_islands)
            self.work = max(self.work, work_used(sim, report))
            if len(self.slowest) < CANDIDATES or seconds > self.slowest[0].seconds:
                rows, status = int(report.num_rows), str(report.solver_status)
                heapq.heappush(self.slowest, Candidate(seconds, seed, k, rows, status, before))
                del self.slowest[: max(0, len(self.slowest) - CANDIDATES)]
                heapq.heapify(self.slowest)

    def worst(self) -> tuple[float, Candidate]:
        """The step whose least time is largest."""
        timed = []
        for candidate in self.slowest:
            sim, _, control = random_scene(self.kind, candidate.seed).start()
            timed.append((candidate.replayed(sim, control), candidate))
        return max(timed)

    def row(self, scenes: int, steps: int) -> dict[str, Any]:
        """For the document."""
        us = np.array(self.seconds) * 1e6
        largest, at = self.worst()
        return {
            "kind": self.kind,
            "scenes": scenes,
            "steps_per_scene": steps,
            "steps": len(us),
            "p50_us": float(np.median(us)),
            "p999_us": float(np.percentile(us, 99.9)),
            "max_us": largest * 1e6,
            "worst": {"seed": at.seed, "step": at.step, "rows": at.rows, "status": at.status},
            "status": dict(self.status),
            "safe": self.safe / max(1, len(us)),
            "work_max": self.work,
            "more_rows": self.larger,
            "not_finite": self.ended,
        }


def bench_worst_step(
    scenes: int = 500,
    kinds: Iterable[str] = KINDS,
    steps: int = STEPS,
    jams: bool = False,
    tick: Tick | None = None,
) -> dict[str, Any]:
    """The first `scenes` seeds of each kind, and bodies in each other (jams.py)."""
    say = tick or (lambda line: None)
    rows = []
    for kind in kinds:
        tally = _Tally(kind)
        for seed in range(scenes):
            if seed % 20 == 0:
                say(f"{kind}, seed {seed} of {scenes}")
            tally.run(seed, steps)
        say(f"{kind}: taking the slowest steps again")
        rows.append(tally.row(scenes, steps))
    more = {"jams": bench_jams(tick=tick)} if jams else {}
    return {"rows": rows, "replays": REPLAYS, **more, "machine": machine.describe()}
