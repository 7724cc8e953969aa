"""Robots of a folder, each on the ground with default settings: what a newcomer's first run gives.

The robot's lowest point touches the ground, its base is free, every one-dof joint holds the neutral
configuration with kp = 10 per kilogram of its mass [N m/rad or N/m] and kd = kp / 15. It passes if
every step is ok; if no joint moves faster in the first 0.1 s than three times its peak without
self-collision (or 5 rad/s or m/s); and if its energy (kinetic, potential, springs of the servos)
never rises by more than it takes to lift it by a millimetre. The energy is counted from the first
step in which every joint is within its limits: the neutral configuration of many robots is not, and
what brings them back works against the servos.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import NDArray
from stiction import Control, Scene, Simulator, State, load
from stiction.loading import LoadWarning
from stiction.servo_dofs import servo_dofs

__all__ = ["RobotRow", "bench_robots", "example_robots", "measure_robot", "set_gains_by_mass"]

DT = 1e-3
GAIN = 10.0
"""Stiffness of the servos per kilogram of the robot."""
KICK_SECONDS = 0.1
KICK_RATIO, KICK_SPEED = 3.0, 5.0
LIFT = 1e-3
"""Energy that may appear, as a height [m] of the whole robot."""
LIMIT = 1e-3
"""A joint within this of its limits counts as within them [rad or m]."""
LONGEST = 60.0
"""Thread time after which a robot is given up [s]."""

Floats = NDArray[np.float64]


@dataclass
class RobotRow:
    """One robot. Speeds in rad/s or m/s."""

    name: str
    error: str = ""
    bodies: int = 0
    pairs_off: int = 0
    steps: int = 0
    ok: int = 0
    status: dict[str, int] = field(default_factory=dict)
    kick_joint: str = ""
    kick_on: float = 0.0
    kick_off: float = 0.0
    lift: float = 0.0
    us_median: float = 0.0
    us_max: float = 0.0

    @property
    def passed(self) -> bool:
        """See the head of this file."""
        return not self.failures()

    def failures(self) -> list[str]:
        """What is wrong, in words; empty: nothing."""
        if self.error:
            return [self.error]
        found = []
        if self.ok < self.steps:
            found.append(f"{self.steps - self.ok} of {self.steps} steps not ok")
        if self.kick_on > max(KICK_RATIO * self.kick_off, KICK_SPEED):
            found.append(f"{self.kick_joint} {self.kick_on:.1f} against {self.kick_off:.1f} per s")
        if self.lift > LIFT:
            found.append(f"energy of {self.lift * 1e3:.1f} mm of height appeared")
        return found

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"passed": self.passed, "failures": self.failures()}


def example_robots(folder: Path | None = None) -> list[Path]:
    """All URDF files below a folder, by default those of example-robot-data.

    Raises:
        ValueError: there are none.
    """
    if folder is None:
        share = Path(pinocchio.__file__).parents[4] / "share"
        folder = share / "example-robot-data" / "robots"
    found = sorted(folder.rglob("*.urdf"))
    if not found:
        raise ValueError(f"{folder} holds no URDF file; pip install example-robot-data")
    return found


def bench_robots(
    paths: Sequence[Path], seconds: float = 2.0, tick: Callable[[str], None] = lambda _: None
) -> list[RobotRow]:
    """One row per file, in their order."""
    rows = []
    for path in paths:
        tick(path.stem)
        rows.append(measure_robot(path, seconds))
    return rows


def measure_robot(path: Path, seconds: float = 2.0) -> RobotRow:
    """Load, hold and judge one robot; what is raised becomes the row's `error`."""
    row = RobotRow("/".join((path.parts[-3], path.name)))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LoadWarning)
            scene = load(path)
            alone = load(path, self_collision=False)
        set_gains_by_mass(scene)
        set_gains_by_mass(alone)
        row.bodies = len(scene.joints)
        row.pairs_off = sum(
            message.text.count(" / ") for message in scene.messages if message.kind == "overlap"
        )
        peaks = _run(scene, seconds, row)
        still = _run(alone, min(seconds, KICK_SECONDS), None)
        _worst_kick(scene, peaks, still, row)
    except Exception as error:  # whatever a robot does is its row
        row.error = f"{type(error).__name__}: {error}".replace(str(path.parent) + "/", "")
    return row


def set_gains_by_mass(scene: Scene) -> None:
    """The gains of the head of this file, of every servo."""
    gain = GAIN * float(np.sum(scene.parameters.mass))
    for dof in servo_dofs(scene):
        scene.set_gains(dof, gain, gain / 15.0)


def _run(scene: Scene, seconds: float, row: RobotRow | None) -> Floats:
    """Peak speed of every dof in the first 0.1 s."""
    sim = Simulator(scene, dt=DT)
    sim._start_checked = True  # overlaps are what is tried
    state, control = sim.initial_state(), sim.hold()
    weight = float(np.linalg.norm(scene.parameters.gravity) * np.sum(scene.parameters.mass))
    lowest = None
    peaks, times, begin = np.zeros(scene.nv), [], time.thread_time()
    for step in range(round(seconds / DT)):
        servo, within = _servo_energy(sim, state, control), _within_limits(sim, state)
        before = time.thread_time()
        report = sim.step(state, control)
        times.append(time.thread_time() - before)
        if step * DT < KICK_SECONDS:
            peaks = np.maximum(peaks, np.abs(state.v))
        if row is None:
            continue
        row.steps += 1
        row.ok += report.status == "ok"
        row.status[report.solver_status] = row.status.get(report.solver_status, 0) + 1
        energy = report.energy + servo
        if lowest is None and within:
            lowest = energy
        if lowest is not None:
            lowest = min(lowest, energy)
            row.lift = max(row.lift, (energy - lowest) / weight)
        if time.thread_time() - begin > LONGEST:
            row.error = f"given up after {LONGEST:g} s of computing, at step {step + 1}"
            break
    if row is not None:
        row.us_median, row.us_max = float(np.median(times) * 1e6), float(np.max(times) * 1e6)
    return peaks


def _servo_energy(sim: Simulator, state: State, control: Control) -> float:
    """Of the springs of the servos; where the effort limit is reached, its work [J]."""
    parameters = sim.parameters
    error = np.abs(sim.scene.dof_positions(state.q) - control.position_target)
    error = np.minimum(error, np.abs(error - 2 * np.pi))  # continuous joints wrap
    kp, limit = np.asarray(parameters.kp), np.asarray(parameters.effort_limit)
    turn = np.divide(limit, kp, out=np.full_like(kp, np.inf), where=kp > 0)
    spring = 0.5 * kp * np.minimum(error, turn) ** 2
    late = error > turn
    spring[late] += limit[late] * (error - turn)[late]
    return float(np.sum(spring))


def _within_limits(sim: Simulator, state: State) -> bool:
    x, parameters = sim.scene.dof_positions(state.q), sim.parameters
    lower, upper = np.asarray(parameters.lower), np.asarray(parameters.upper)
    return bool(np.all((x > lower - LIMIT) & (x < upper + LIMIT)))


def _worst_kick(scene: Scene, on: Floats, off: Floats, row: RobotRow) -> None:
    """The joint that exceeds its bound by most, as a share of it."""
    joints = servo_dofs(scene)
    if not joints:
        return
    excess = on[joints] / np.maximum(KICK_RATIO * off[joints], KICK_SPEED)
    worst = joints[int(np.argmax(excess))]
    row.kick_joint = str(scene.dof_names[worst])
    row.kick_on, row.kick_off = float(on[worst]), float(off[worst])
