"""Many worlds of one robot on lanes against `mujoco.rollout`, one thread each.

Every world gets targets of its own, drawn anew for each period of steps: the numbers are the same
for both engines, which take turns period by period. A world whose root has lost half its height
begins anew. Times are CPU times of the thread that steps; what is between the steps (targets,
resets) is not in them.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from mujoco import rollout
from numpy.typing import NDArray

from . import batch_work, machine, native
from .agreement import compare_facts, require
from .catalogue import BenchScene, scene
from .peer import MujocoWorld
from .peer_models import PeerVariant
from .worlds import BenchError

WIDTHS = (0, 1, 2, 4, 8)
"""Lanes; 0: our simulator, world by world."""
PEERS = tuple(
    PeerVariant(solver, cone, integrator)
    for cone in ("elliptic", "pyramidal")
    for solver in ("newton", "pgs")
    for integrator in ("implicitfast", "discrete")
)
"""CG was never the fastest of these scenarios."""
SETTLING = 5
"""Periods before the first one that counts."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LaneScenario:
    """What is driven and how.

    Attributes:
        scene: of the catalogue.
        amplitude: of the uniform offsets of the targets [rad].
        stiffness, damping: of the servos [N m/rad, N m s/rad]; 0: those of the scene.
        falls: first dof of the floating body whose fall ends a world.
        lowest: share of its height at the start below which it has fallen.
        settling: periods before the first one that counts.
        most_worlds: that are stepped; None: as many as asked for.
    """

    name: str
    scene: str
    amplitude: float
    stiffness: float = 0.0
    damping: float = 0.0
    falls: int = 0
    lowest: float = 0.5
    settling: int = SETTLING
    most_worlds: int | None = None


SCENARIOS = (
    LaneScenario("solo12-policy", "solo12", 0.3, 20.0, 0.3),
    LaneScenario("solo12-stand", "solo12", 0.05, 5.0, 0.1),
    LaneScenario("talos-stand", "talos", 0.05),
    LaneScenario("solo12-rough", "solo12-rough", 0.3, 20.0, 0.3),
)


@dataclass
class LaneSeries:
    """One engine's periods.

    Attributes:
        us: CPU time per world-step, by period [us]; of all threads.
        wall: the time that passed, likewise, where it was taken.
        contacts: points of contact per world-step, by period; of the peer not known from a rollout.
        lanes: share of world-steps that stayed in the lanes.
        worst: largest certificate of a step; not_ok: steps that did not reach the tolerance.
        resets: worlds that began anew.
        work: of some worlds, see batch_work; None: not looked at.
    """

    label: str
    us: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    contacts: list[float] = field(default_factory=list)
    lanes: float | None = None
    worst: float | None = None
    not_ok: int = 0
    resets: int = 0
    work: dict[str, Any] | None = None

    @property
    def median(self) -> float:
        """Of the periods [us]."""
        return float(np.median(self.us))

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers."""
        return {
            "us": self.median,
            "least": min(self.us),
            "wall": float(np.median(self.wall)) if self.wall else None,
            "contacts": float(np.mean(self.contacts)) if self.contacts else None,
            "lanes": self.lanes,
            "worst": self.worst,
            "not_ok": self.not_ok,
            "resets": self.resets,
            "work": self.work,
        }


class OurWorlds:
    """The program `lane_steps`, waiting for its next period."""

    def __init__(
        self, program: Path, scenario: LaneScenario, width: int, worlds: int, steps: int, file: Path
    ) -> None:
        self.series = LaneSeries(f"stiction-w{width}" if width else "stiction-simulator")
        self._exits = np.zeros(0)
        arguments = {
            "worlds": worlds,
            "width": width,
            "steps": steps,
            "targets": file,
            "kp": scenario.stiffness,
            "kd": scenario.damping,
            "configuration": scene(scenario.scene).start,
        }
        self._process = subprocess.Popen(
            [str(program), scene(scenario.scene).load, *(f"{k}={v}" for k, v in arguments.items())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def period(self, counts: bool) -> None:
        """Step all worlds once through a period."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        lines: list[str] = []
        while not lines or not lines[-1].rstrip().endswith("}"):
            lines.append(self._process.stdout.readline())
            if not lines[-1]:
                raise BenchError("lane_steps ended before its time")
        if not counts:
            return
        answer = json.loads("".join(lines))
        s = self.series
        s.us.append(answer["us"])
        s.contacts.append(answer["contacts"])
        s.worst = max(s.worst or 0.0, answer["worst"])
        s.not_ok += int(answer["not_ok"])
        s.resets += int(answer["resets"])
        if answer["exits"]:
            self._exits = np.asarray(answer["exits"]) + (self._exits if self._exits.size else 0)
            s.lanes = float(self._exits[0] / self._exits.sum())

    def close(self) -> None:
        """End the program."""
        self._process.communicate()


class PeerWorlds:
    """The same worlds in `mujoco.rollout`, from where the last period ended."""

    def __init__(
        self,
        scenario: LaneScenario,
        variant: PeerVariant,
        worlds: int,
        steps: int,
        targets: Floats,
        threads: int = 0,
    ) -> None:
        self.series = LaneSeries(f"mujoco-{variant.label}" + (f"-t{threads}" if threads else ""))
        item = scene(scenario.scene)
        world = peer_of(item, variant)
        self._model, self._data = world.model, mujoco.MjData(world.model)
        world.initialize(self._data)
        if scenario.stiffness > 0:
            self._model.actuator_gainprm[:, 0] = scenario.stiffness
            self._model.actuator_biasprm[:, 1] = -scenario.stiffness
            self._model.actuator_biasprm[:, 2] = -scenario.damping
        self._runner = rollout.Rollout(nthread=threads if threads > 1 else 0)
        self._workspaces = [self._data, *(mujoco.MjData(self._model) for _ in range(threads - 1))]
        self._cpu = time.process_time if threads > 1 else time.thread_time
        state = mujoco.mjtState.mjSTATE_FULLPHYSICS
        size = mujoco.mj_stateSize(self._model, state)
        free = np.flatnonzero(np.asarray(self._model.jnt_type) == mujoco.mjtJoint.mjJNT_FREE)
        self._height = 3 + int(self._model.jnt_qposadr[free[0]])  # time, then q: x y z
        self._start = np.zeros(size)
        mujoco.mj_getState(self._model, self._data, self._start, state)
        self._lowest = scenario.lowest * self._start[self._height]
        self._states = np.tile(self._start, (worlds, 1))
        self._held = self._data.ctrl.copy()
        self._columns = world.columns_of_noise
        self._targets, self._steps, self._k = targets, steps, 0
        self._out = np.zeros((worlds, steps, size))
        self._sensors = np.zeros((worlds, steps, self._model.nsensordata))

    def period(self, counts: bool) -> None:
        """Step all worlds once through a period."""
        fallen = ~(self._states[:, self._height] > self._lowest)
        self._states[fallen] = self._start
        rows = self._held + self._targets[self._k][:, self._columns]
        self._k += 1
        control = np.repeat(rows[:, None, :], self._steps, axis=1)
        begin, begin_wall = self._cpu(), time.perf_counter()
        self._runner.rollout(
            self._model,
            self._workspaces,
            self._states,
            control,
            state=self._out,
            sensordata=self._sensors,
        )
        seconds, wall = self._cpu() - begin, time.perf_counter() - begin_wall
        self._states = self._out[:, -1].copy()
        if not counts:
            return
        self.series.us.append(1e6 * seconds / (len(rows) * self._steps))
        self.series.wall.append(1e6 * wall / (len(rows) * self._steps))
        self.series.resets += int(fallen.sum())

    def look(self) -> None:
        """What the worlds do from here on."""
        targets = self._held + self._targets[:, :, self._columns]
        work = batch_work.of_mujoco(self._model, self._states, targets, self._steps).as_dict()
        self.series.work = work
        self.series.contacts.append(work["points"])  # a rollout does not tell

    def close(self) -> None:
        """Nothing is open."""


def peer_of(item: BenchScene, variant: PeerVariant) -> MujocoWorld:
    """Proved to hold the same scene in the same pose."""
    ours = item.ours()
    world = item.build_peer(ours, variant)
    require(item.name, world.label, compare_facts(ours.facts(), world.facts()))
    return world


def chosen_scenarios(
    names: Iterable[str], there: Iterable[LaneScenario] = SCENARIOS
) -> list[LaneScenario]:
    """Those of these names, all that are there if there are none.

    Raises:
        BenchError: a name is unknown.
    """
    known = {item.name: item for item in there}
    wanted = [*names] or [*known]
    for name in wanted:
        if name not in known:
            raise BenchError(f"scenario {name!r} is unknown; there are: {', '.join(known)}")
    return [known[name] for name in wanted]


def bench_lanes(
    scenarios: Iterable[str] = (),
    worlds: int = 256,
    periods: int = 30,
    steps: int = 20,
    tick: Callable[[str], None] = lambda _: None,
) -> dict[str, Any]:
    """The document of `stiction bench lanes`.

    Raises:
        BenchError: a scenario is unknown, the engines hold different scenes, or the program cannot
            be built.
    """
    chosen = chosen_scenarios(scenarios)
    program = native.build_lanes(native.repository(), tick)
    rows = {item.name: _measure(program, item, worlds, periods, steps, tick) for item in chosen}
    return {
        "worlds": worlds,
        "periods": periods,
        "steps_of_period": steps,
        "scenarios": rows,
        "machine": machine.describe(),
    }


def _measure(
    program: Path,
    scenario: LaneScenario,
    worlds: int,
    periods: int,
    steps: int,
    tick: Callable[[str], None],
) -> dict[str, Any]:
    servos = len(scene(scenario.scene).ours().joints)
    rng = np.random.default_rng(1)
    shape = (periods + scenario.settling, worlds, servos)
    targets = scenario.amplitude * rng.uniform(-1.0, 1.0, shape)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        targets.tofile(folder / "targets")
        engines: list[OurWorlds | PeerWorlds] = [
            OurWorlds(program, scenario, width, worlds, steps, folder / "targets")
            for width in WIDTHS
        ]
        engines += [PeerWorlds(scenario, v, worlds, steps, targets) for v in PEERS]
        for engine in engines:
            stack.callback(engine.close)
        for k in range(len(targets)):
            tick(f"{scenario.name}: period {k + 1} of {len(targets)}")
            for engine in engines:
                engine.period(k >= scenario.settling)
        for engine in engines:
            if isinstance(engine, PeerWorlds):
                engine.look()
    return _row(scenario, [engine.series for engine in engines])


def _row(scenario: LaneScenario, series: list[LaneSeries]) -> dict[str, Any]:
    fastest = {}
    for cone in ("elliptic", "pyramidal"):
        own = [s for s in series if cone in s.label]
        fastest[cone] = min(own, key=lambda s: s.median).label
    times = {s.label: s.median for s in series}
    ours = [s.label for s in series if s.label.startswith("stiction")]
    return {
        "scenario": vars(scenario),
        "series": {s.label: s.as_dict() for s in series},
        "fastest_peer": fastest,
        "speedup": {
            cone: {label: times[best] / times[label] for label in ours}
            for cone, best in fastest.items()
        },
    }
