"""`stiction.Batch` against `mujoco.rollout`, on one thread and on two.

As `lanes`: every world has targets of its own, drawn anew for each period, the same numbers for
both engines, which take turns period by period; a world that has fallen begins anew. Here ours is
the product that a user has, called from Python, arrays and all: targets are written to its array, a
period is some calls of `step`. CPU times are of all threads; the time that passed stands beside
them, which on a machine that others use too is not ours alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import stiction

from . import batch_work, machine
from .catalogue import scene
from .lanes import (
    PEERS,
    SCENARIOS,
    Floats,
    LaneScenario,
    LaneSeries,
    PeerWorlds,
    chosen_scenarios,
)


def _held(name: str, amplitude: float) -> LaneScenario:
    """A ball that comes to rest in a hand: two trees, so that worlds are stepped by Simulators, one
    after the other; the time of one does not depend on how many there are."""
    return LaneScenario(
        name, "allegro-ball", amplitude, falls=16, lowest=0.2, settling=50, most_worlds=64
    )


ALL_SCENARIOS = (*SCENARIOS, _held("allegro-rest", 0.0), _held("allegro-noise", 0.05))
THREADS = (1, 2)
SUBSTEPS = 5
"""Steps of a call; a period is several calls."""


class BatchWorlds:
    """A Batch that is driven by targets."""

    def __init__(
        self, scenario: LaneScenario, worlds: int, steps: int, targets: Floats, threads: int,
        width: int = 0, lanes: bool = True,
    ) -> None:  # fmt: skip
        item = scene(scenario.scene)
        ours = stiction.load(item.load)
        servos = np.flatnonzero(ours.parameters.kp > 0.0)
        if scenario.stiffness > 0:
            for dof in servos:
                ours.set_gains(int(dof), scenario.stiffness, scenario.damping)
        self.batch = stiction.Batch(
            ours, worlds, threads=threads, width=width, lanes=lanes, configuration=item.start
        )
        self.batch.position_target[:] = self.batch.simulator(0).hold(item.hold).position_target
        kind = f"w{self.batch.width}" if self.batch.lanes else "simulators"
        self.series = LaneSeries(f"stiction-{kind}-t{threads}")
        self._cpu = time.process_time if threads > 1 else time.thread_time
        self._held = self.batch.position_target[:, servos].copy()
        self._height = _height_of(ours, scenario.falls)
        self._lowest = scenario.lowest * self.batch.q[0, self._height]
        self._servos, self._targets, self._steps, self._k = servos, targets, steps, 0
        self._in_lanes = self._all = 0

    def period(self, counts: bool) -> None:
        """Step all worlds once through a period."""
        batch, s = self.batch, self.series
        fallen = ~(batch.q[:, self._height] > self._lowest)
        batch.reset(mask=fallen)
        batch.position_target[:, self._servos] = self._held + self._targets[self._k]
        self._k += 1
        cpu = wall = 0.0
        for _ in range(self._steps // SUBSTEPS):
            begin, begin_wall = self._cpu(), time.perf_counter()
            batch.step(substeps=SUBSTEPS)
            cpu, wall = cpu + self._cpu() - begin, wall + time.perf_counter() - begin_wall
            if counts:
                self._note()
        if not counts:
            return
        world_steps = batch.num_worlds * self._steps
        s.us.append(1e6 * cpu / world_steps)
        s.wall.append(1e6 * wall / world_steps)
        s.resets += int(fallen.sum())
        s.lanes = self._in_lanes / self._all if batch.lanes else None

    def look(self) -> None:
        """What the worlds do from here on."""
        targets = self._held + self._targets
        self.series.work = batch_work.of_batch(
            self.batch, self._servos, targets, self._steps
        ).as_dict()

    def _note(self) -> None:
        batch, s = self.batch, self.series
        self._all += batch.num_worlds * SUBSTEPS
        self._in_lanes += batch.num_worlds * SUBSTEPS - int(batch.scalar_steps.sum())
        s.worst = max(s.worst or 0.0, float(batch.certificate.max()))
        s.not_ok += int((batch.status != 0).sum())
        s.contacts.append(float(batch.contacts.mean()))


def _height_of(ours: stiction.Scene, dof: int) -> int:
    """The entry of q that is the height of the floating body with that first dof."""
    return 2 + next(joint.q_index for joint in ours.joints if joint.v_index == dof)


def bench_batch(
    scenarios: Iterable[str] = (),
    worlds: int = 1024,
    periods: int = 20,
    steps: int = 20,
    tick: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """The document of `stiction bench batch`.

    Raises:
        BenchError: a scenario is unknown, or the engines hold different scenes.
    """
    chosen = chosen_scenarios(scenarios, ALL_SCENARIOS)
    rows = {item.name: _measure(item, worlds, periods, steps, tick) for item in chosen}
    return {
        "worlds": worlds,
        "periods": periods,
        "steps_of_period": steps,
        "substeps": SUBSTEPS,
        "scenarios": rows,
        "machine": machine.describe(),
    }


def _measure(
    scenario: LaneScenario,
    worlds: int,
    periods: int,
    steps: int,
    tick: Callable[[str], None],
) -> dict[str, Any]:
    worlds = min(worlds, scenario.most_worlds or worlds)
    servos = len(scene(scenario.scene).ours().joints)
    rng = np.random.default_rng(1)
    shape = (periods + scenario.settling, worlds, servos)
    targets = scenario.amplitude * rng.uniform(-1.0, 1.0, shape)
    given = (scenario, worlds, steps, targets)
    ours = [BatchWorlds(*given, threads) for threads in THREADS]
    widest = ours[0].batch
    if widest.lanes:
        ours += [BatchWorlds(*given, 1, width=4)] if widest.width > 4 else []
        ours.append(BatchWorlds(*given, 1, lanes=False))
    engines: list[BatchWorlds | PeerWorlds] = [*ours]
    for threads in THREADS:
        engines += [PeerWorlds(scenario, v, worlds, steps, targets, threads) for v in PEERS]
    for k in range(len(targets)):
        tick(f"{scenario.name}: period {k + 1} of {len(targets)}")
        for engine in engines:
            engine.period(k >= scenario.settling)
    for engine in engines:
        if engine.series.label.endswith("-t1"):
            tick(f"{scenario.name}: contacts of {engine.series.label}")
            engine.look()
    return {"worlds": worlds} | row([engine.series for engine in engines])


def row(series: list[LaneSeries]) -> dict[str, Any]:
    """Ratios of the CPU time per world-step: of the fastest peer of each cone on as many threads,
    over ours."""
    fastest: dict[str, str] = {}
    speedup: dict[str, dict[str, float]] = {}
    for cone in ("elliptic", "pyramidal"):
        for threads in THREADS:
            own = [s for s in series if cone in s.label and s.label.endswith(f"-t{threads}")]
            best = min(own, key=lambda s: s.median)
            fastest[f"{cone}-t{threads}"] = best.label
            for s in series:
                if s.label.startswith("stiction") and s.label.endswith(f"-t{threads}"):
                    speedup.setdefault(cone, {})[s.label] = best.median / s.median
    return {
        "series": {s.label: s.as_dict() for s in series},
        "fastest_peer": fastest,
        "speedup": speedup,
    }
