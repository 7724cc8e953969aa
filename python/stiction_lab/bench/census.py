"""Robot files as packages ship them: does each take every step?

Each file is loaded as `stiction.load` has it, a URDF with a free base on the ground, an MJCF as it
is, and run three times from its default start at 1 ms:

- zero: no torque and no servo;
- hold: every dof that takes a servo holds the start, with the file's own gains or else those of
  `bench robots` (kp = 10 per kilogram of all that moves, kd = kp / 15);
- random: no servo; every 20 steps new torques, uniform within 20 % of each dof's effort limit.
  Where a file gives none, or a placeholder such as 1e9, within the torque that gives the dof alone
  40 rad/s^2 (or m/s^2).

A file passes if it loads, nothing is raised, and 99.9 % of its steps are ok. Steps that a limit of
time cut off are not ok.
"""

from __future__ import annotations

import time
import warnings
import zlib
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import stiction
from numpy.typing import NDArray
from stiction import Scene, Simulator, State
from stiction.servo_dofs import servo_dofs

from .robots import GAIN

__all__ = ["DT", "MODES", "FileRow", "Limits", "ModeRow", "measure_file"]

DT = 1e-3
MODES = ("zero", "hold", "random")
ENOUGH = 0.999
"""Share of steps that have to be ok."""
EFFORT = 0.2
ACCELERATION = 40.0
"""Random torques accelerate a dof without an effort limit by as much [rad/s^2 or m/s^2]."""
PLACEHOLDER = 10.0
"""A limit over the weight of all that moves on an arm of this length, or over this multiple of the
weight, says nothing [m or 1]."""
HELD_STEPS = 20
"""Steps between two draws of torques."""
SLOW = 0.1
"""A step that takes longer is counted as slow [s]."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Limits:
    """What a file may take.

    Attributes:
        steps: of each mode.
        file_seconds: thread time of all modes; a third of it for each.
        step_seconds: a longer step ends its mode.
    """

    steps: int = 2000
    file_seconds: float = 120.0
    step_seconds: float = 10.0


@dataclass
class ModeRow:
    """One run of a file.

    Attributes:
        ok: steps with status "ok"; taken: all that were taken.
        solver: how often each solver status came.
        ended: why it ended early; empty: it did not.
        first: the first step that was not ok, and what there was: status, residual, contacts,
            rows and overlap; empty: none.
        median_us, worst_ms, slow: times of steps, thread time; slow: more than SLOW.
    """

    ok: int = 0
    taken: int = 0
    solver: dict[str, int] = field(default_factory=dict)
    ended: str = ""
    first: dict[str, Any] = field(default_factory=dict)
    median_us: float = 0.0
    worst_ms: float = 0.0
    worst_step: int = -1
    slow: int = 0
    most_rows: int = 0


@dataclass
class FileRow:
    """One file. `error`: why it did not load, or what was raised after that."""

    file: str
    loaded: bool = False
    error: str = ""
    load_seconds: float = 0.0
    nv: int = 0
    bodies: int = 0
    geometries: int = 0
    messages: int = 0
    planned: int = 0
    modes: dict[str, ModeRow] = field(default_factory=dict)

    @property
    def share(self) -> float:
        """The share of the planned steps of all modes that were ok; 1 without dofs."""
        steps = self.planned * len(MODES)
        return sum(mode.ok for mode in self.modes.values()) / steps if steps else 1.0

    @property
    def raised(self) -> bool:
        """Whether something was raised after the file was loaded."""
        return self.loaded and (
            bool(self.error) or any(m.ended.startswith("raised") for m in self.modes.values())
        )

    @property
    def passed(self) -> bool:
        """See the head of this file."""
        return self.loaded and not self.raised and self.share >= ENOUGH

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        told = {"share": self.share, "raised": self.raised, "passed": self.passed}
        return asdict(self) | told


def measure_file(folder: Path, file: str, limits: Limits) -> FileRow:
    """Load and run one file of a folder; whatever is raised becomes part of its row."""
    row = FileRow(file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.perf_counter()
        try:
            scene = stiction.load(folder / file)
        except Exception as error:  # whatever a file does is its row
            row.error = _words(error, folder)
            return row
        row.loaded, row.load_seconds = True, time.perf_counter() - begin
        return measure_scene(scene, limits, row, folder)


def measure_scene(scene: Scene, limits: Limits, row: FileRow, folder: Path = Path("/")) -> FileRow:
    """Fills the row of a scene that was loaded."""
    row.nv, row.bodies, row.geometries = scene.nv, scene.num_bodies, len(scene.geometries)
    row.messages = len(scene.messages)
    if scene.nv == 0:
        return row
    row.planned = limits.steps
    try:
        for mode in MODES:
            row.modes[mode] = ModeRow()
            _run(scene, mode, limits, zlib.crc32(row.file.encode()), row.modes[mode])
    except Exception as error:
        words = _words(error, folder)
        if row.modes and not row.modes[mode].ended:
            row.modes[mode].ended = f"raised {words}"
        row.error = f"{mode}: {words}"
    return row


def _run(scene: Scene, mode: str, limits: Limits, seed: int, row: ModeRow) -> None:
    sim = Simulator(scene, dt=DT)
    sim._start_checked = True  # overlaps at the start are what is tried
    _set_servos(sim, mode)
    state, control = sim.initial_state(), sim.hold()
    torques = _Torques(sim, state, seed) if mode == "random" else None
    left, times, solver = limits.file_seconds / len(MODES), [], Counter[str]()
    for k in range(limits.steps):
        if torques is not None and k % HELD_STEPS == 0:
            control.torque = torques.draw()
        begin = time.thread_time()
        try:
            report = sim.step(state, control)
        except stiction.StictionError as error:
            row.ended = f"raised {type(error).__name__} at step {k}: {error}"
            break
        times.append(time.thread_time() - begin)
        row.taken, row.ok = row.taken + 1, row.ok + (report.status == "ok")
        solver[str(report.solver_status)] += 1
        row.most_rows = max(row.most_rows, int(report.num_rows))
        if report.status != "ok" and not row.first:
            row.first = _facts(k, report)
        left -= times[-1]
        if times[-1] > limits.step_seconds:
            row.ended = f"a step took {times[-1]:.1f} s, at step {k}"
            break
        if left < 0.0:
            row.ended = f"its time was over, at step {k}"
            break
    row.solver = dict(solver)
    if times:
        row.median_us, row.worst_ms = float(np.median(times)) * 1e6, max(times) * 1e3
        row.worst_step, row.slow = int(np.argmax(times)), int(np.sum(np.array(times) > SLOW))


def _facts(step: int, report: Any) -> dict[str, Any]:
    """Describes a step that was not ok."""
    return {
        "step": step,
        "status": str(report.status),
        "solver": str(report.solver_status),
        "relative": float(report.residuals.relative),
        "contacts": int(report.num_contacts),
        "rows": int(report.num_rows),
        "islands": int(report.num_islands),
        "safe": int(report.safe_islands),
        "penetration": float(report.penetration),
    }


def _set_servos(sim: Simulator, mode: str) -> None:
    parameters, dofs = sim.parameters, servo_dofs(sim.scene)
    if mode != "hold":
        parameters.kp[dofs] = 0.0
        parameters.kd[dofs] = 0.0
        return
    free = [dof for dof in dofs if parameters.kp[dof] == 0.0]
    gain = GAIN * float(np.sum(parameters.mass))
    parameters.kp[free] = gain
    parameters.kd[free] = gain / 15.0


class _Torques:
    """Random ones of the dofs that take a servo."""

    def __init__(self, sim: Simulator, state: State, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self._dofs = servo_dofs(sim.scene)
        limit = np.array(sim.parameters.effort_limit)
        weight = np.linalg.norm(sim.parameters.gravity) * np.sum(sim.parameters.mass)
        known = (limit > 0.0) & (limit <= PLACEHOLDER * weight)
        inertia = np.diag(stiction.SceneMotion(sim.scene, state).mass_matrix())
        self._size = np.where(known, EFFORT * limit, ACCELERATION * inertia)

    def draw(self) -> Floats:
        """(nv,) [N m or N]."""
        torque = np.zeros(len(self._size))
        share = self._rng.uniform(-1.0, 1.0, len(self._dofs))
        torque[self._dofs] = share * self._size[self._dofs]
        return torque


def _words(error: Exception, folder: Path) -> str:
    text = f"{type(error).__name__}: {error}".replace(f"{folder}/", "")
    return " ".join(text.split())[:400]
