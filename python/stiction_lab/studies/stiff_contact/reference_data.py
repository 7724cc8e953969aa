"""Reads what the paper's authors published, and what their code gives when run again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from stiction._stiction import ContactMemory, State, make_state
from stiction.pages.experiment import StudyError

from .motion import Motion, Recorded
from .robots import Robot, on_ground, solo12_model
from .truth import Fineness, Refined, Truth

Floats = NDArray[np.float64]

SAMPLING = 0.01
"""Of the reference arrays [s]."""
LOWERED = {"trot": 15.37e-3, "jump": 1e-6}
"""Of the base, so that feet start in contact [m]."""
PERIODS = {"trot": 0.002, "jump": 0.01}
"""Of the controllers [s]."""


def find(folder: Path | None, name: str) -> Path:
    """A file in the folder or one of its subfolders.

    Raises:
        StudyError: it is not there.
    """
    if folder is None:
        raise StudyError("it needs the arrays published with the paper: --reference-data DIR")
    for path in (folder / name, *sorted(folder.glob(f"*/{name}"))):
        if path.is_file():
            return path
    raise StudyError(f"{folder}: holds no {name}")


class LinearFeedback:
    """u = u_ref + F (x_ref ⊖ x); u_ref and F held, x_ref interpolated over 10 ms."""

    def __init__(self, model: Any, folder: Path | None, name: str) -> None:
        states = np.load(find(folder, f"{name}_reference_states.npy"))[:, :, 0]
        self.q, self.v = states[:, : model.nq].copy(), states[:, model.nq :]
        self.q[:, 2] -= LOWERED[name]
        self.u = np.load(find(folder, f"{name}_reference_controls.npy"))[:, :, 0]
        self.F = np.load(find(folder, f"{name}_feedback.npy"))
        self.model, self.period = model, PERIODS[name]

    @property
    def steps(self) -> int:
        """Control periods that the reference covers."""
        return round(len(self.u) * SAMPLING / self.period)

    def torque(self, k: int, q: Floats, v: Floats) -> Floats:
        """See Controller."""
        at = k * self.period / SAMPLING + 1e-9
        row, share = int(at), at - int(at)
        goal = pin.interpolate(self.model, self.q[row], self.q[row + 1], share)
        rate = (1.0 - share) * self.v[row] + share * self.v[row + 1]
        away = np.concatenate([pin.difference(self.model, q, goal), rate - v])
        return np.concatenate([np.zeros(6), self.u[row] + self.F[row] @ away])


def published_motion(robot: Robot, folder: Path | None, name: str) -> Motion:
    """The authors' trot or jump."""
    controller = LinearFeedback(robot.model, folder, name)
    return Motion(
        f"authors' {name}",
        robot,
        controller,
        controller.q[0],
        controller.v[0],
        PERIODS[name],
        controller.steps,
    )


@dataclass(frozen=True)
class Rerun:
    """The squat of the authors' code, run again.

    Attributes:
        period: of the controller [s].
        feet: names in the order of the arrays.
        mean: name of a run, such as "implicit_n4" -> mean error over the truth's states.
    """

    arrays: dict[str, Floats]
    period: float
    feet: tuple[str, ...]
    mean: dict[str, float]

    @property
    def steps(self) -> int:
        """Control periods."""
        return len(self.arrays["truth_expo_q"]) - 1

    def motion(self, robot: Robot, of: str) -> Motion:
        """Of their truth by one integrator, "expo" or "implicit"."""
        q, v = (self.arrays[f"truth_{of}_{x}"] for x in "qv")
        return Motion(
            "authors' squat", robot, Recorded(self.torques(of)), q[0], v[0], self.period, self.steps
        )

    def torques(self, of: str) -> Floats:
        """(N, nv), none on the base."""
        u = self.arrays[f"truth_{of}_u"][:-1]
        return np.concatenate([np.zeros((len(u), 6)), u[:, 6:]], axis=1)

    def state(self, robot: Robot, of: str, k: int, floors: Sequence[str]) -> State:
        """Their state k with its springs."""
        q, v, p, p0 = (self.arrays[f"truth_{of}_{x}"][k] for x in ("q", "v", "p", "p0"))
        state = make_state(robot.scene, q, v)
        stretch = p0 - p
        if len(set(floors)) > 1:  # the normal part is the gap to a floor at the anchor
            stretch = stretch * [1.0, 1.0, 0.0]
        state.contacts = [
            ContactMemory(
                robot.scene.geometry(floor), robot.scene.geometry(f"tip {foot}"), 0, extension=e
            )
            for floor, foot, e in zip(floors, self.feet, stretch, strict=True)
        ]
        return state

    def as_published(self, of: str) -> Truth:
        """Their truth itself, law of the paper."""
        robot = on_ground(solo12_model(), self.feet)
        motion = self.motion(robot, of)
        states = [self.state(robot, of, k, ["ground"] * 4) for k in range(self.steps + 1)]
        quiet = np.zeros(self.steps)
        torques = self.torques(of)
        return Truth(motion, "published", states[:-1], states[1:], torques, quiet, quiet > 0.0)

    def continuous(self, fineness: Fineness) -> Truth:
        """Periods of the continuous law from their states: each foot on a floor of its own at the
        height of its anchor, so that both laws agree while nothing slips or lifts off."""
        heights = self.arrays["truth_expo_p0"][0, :, 2]
        robot = on_ground(solo12_model(), self.feet, heights=heights.tolist())
        motion = self.motion(robot, "expo")
        floors = [f"floor {foot}" for foot in self.feet]
        starts = [self.state(robot, "expo", k, floors) for k in range(self.steps)]
        refined = Refined(robot, self.period, fineness)
        torques = self.torques("expo")
        done = [refined.end(state, torque) for state, torque in zip(starts, torques, strict=True)]
        ends, error, _ = zip(*done, strict=True)
        calm = np.zeros(self.steps, dtype=bool)
        return Truth(motion, "continuous", starts, list(ends), torques, np.array(error), calm)


def rerun_squat(folder: Path | None) -> Rerun:
    """Reads consim_solo_squat.npz."""
    with np.load(find(folder, "consim_solo_squat.npz"), allow_pickle=True) as file:
        arrays = {name: file[name] for name in file.files if name.startswith("truth_")}
        means = dict(zip((str(r) for r in file["runs"]), file["err_inf_mean"], strict=True))
        return Rerun(
            arrays,
            float(file["dt_control_float32"]),
            tuple(str(name) for name in file["frames"]),
            {name: float(x) for name, x in means.items()},
        )
