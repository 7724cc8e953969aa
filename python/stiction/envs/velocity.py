"""Quadrupeds that trot at the velocity they are told."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .._stiction import Scene, _VelocityTask
from ..batch import Batch
from ..given_array import given_array
from .batch_env import BatchEnv, Bools, Floats, Observations
from .legged import GO2, SOLO12, Legged
from .legs import FootPoints, up_in_body

__all__ = ["Go2Velocity", "Solo12Velocity", "VelocityEnv"]

_DT, _SUBSTEPS = 4e-3, 5
_STANCE_PHASE = [0.0, 0.5, 0.5, 0.0]  # of a trot: diagonal feet together
_FREQUENCY = 2.5  # [Hz] of the clock
_TOUCHING = 2e-3  # [m]


class _Varied(NamedTuple):
    """What episodes may differ in: its value where they do not, the usual range, what may be
    given."""

    fixed: float
    low: float
    span: float
    least: float
    most: float


_VARIED = {
    "friction": _Varied(0.9, 0.4, 0.6, 0.0, 100.0),
    "mass": _Varied(1.0, 0.9, 0.2, 0.01, 100.0),  # times the model's
}


class VelocityEnv(BatchEnv):
    """A quadruped on flat ground, told how fast to walk and turn, with a clock that asks for a
    trot; what a class for one robot derives from. Formulas: see Solo12Velocity.

    Args:
        num_envs: worlds.
        threads: of the batch.
        autoreset: see BatchEnv.
        episode_steps: after which an episode is truncated.
        randomise: True: each episode with friction in [0.4, 1] and masses of [0.9, 1.1] of their
            values; ranges of one's own as {"friction": (0.2, 1.2), "mass": (0.8, 1.2)}, where what
            is not named is fixed; False: friction 0.9 and the model's masses.

    Raises:
        TypeError, ValueError: another range, or no pair of numbers, low and high.
    """

    robot: ClassVar[Legged]
    _touching: ClassVar[float] = _TOUCHING

    def __init__(
        self,
        num_envs: int = 1,
        *,
        threads: int = 1,
        autoreset: str = "SameStep",
        episode_steps: int = 400,
        randomise: bool | Mapping[str, tuple[float, float]] = False,
    ) -> None:
        self._ranges = _given_ranges(randomise)
        scene = self._scene()
        joints = scene.nv - 6
        batch = Batch(scene, num_envs, threads=threads, dt=_DT, configuration="standing")
        super().__init__(
            batch,
            substeps=_SUBSTEPS,
            observation_size=14 + 3 * joints + self._seen,
            action_size=joints,
            episode_steps=episode_steps,
            autoreset=autoreset,
        )
        self.randomise = bool(randomise)
        self.command = np.zeros((num_envs, 3))
        """(N, 3) vx, vy [m/s], turn [rad/s]; may be written, for a joystick."""
        self._phase = np.zeros(num_envs)
        self._before = np.zeros((num_envs, joints))  # action
        self._standing = scene.configurations["standing"].copy()
        self._feet = FootPoints(scene, list(self.robot.feet))
        self._kernels = _VelocityTask(batch, self._settings())

    def clock(self) -> Floats:
        """(N,) in [0, 1): the first foot and the last stand in the first half, the others in the
        second."""
        return (self._phase + self.steps * self.control_dt * _FREQUENCY) % 1.0

    def touching(self) -> Bools:
        """(N, 4) whether the feet FL, FR, and left and right behind are on the ground."""
        return self._feet.heights(self.batch.q, up_in_body(self.batch.q)) < _TOUCHING

    @property
    def _seen(self) -> int:
        """Numbers of an observation after those of the kernels."""
        return 0

    def _scene(self) -> Scene:
        return self.robot.scene()

    def _settings(self) -> dict[str, Any]:
        """Of the kernels."""
        return {
            "feet": list(self.robot.feet),
            "stance_phase": _STANCE_PHASE,
            "configuration": "standing",
            "control_dt": self.control_dt,
            "clock_frequency": _FREQUENCY,
            "touching": self._touching,
            "command_low": list(self.robot.command_low),
            "command_span": list(self.robot.command_span),
            "reach": self.robot.reach,
            "friction_low": self._ranges["friction"][0],
            "friction_span": self._ranges["friction"][1],
            "mass_low": self._ranges["mass"][0],
            "mass_span": self._ranges["mass"][1],
        }

    def _start_rows(self, mask: Bools, q: Floats, v: Floats) -> None:
        self._kernels.start(self._arrays(), mask, self.seed, self.episode, q)
        if self.randomise:
            self._kernels.vary(mask, self.seed, self.episode)

    def _act(self, action: Floats) -> None:
        self._kernels.act(self._arrays())

    def _observe_rows(self, mask: Bools | None, out: Observations) -> None:
        self._kernels.observe(self._arrays(), mask, out)

    def _judge(self) -> tuple[Floats, Bools]:
        reward, ended = np.empty(self.num_envs), np.empty(self.num_envs, bool)
        self._kernels.judge(self._arrays(), reward, ended)
        ended |= self.batch.q[:, 2] < self.robot.fallen
        return reward, ended

    def _reward(self) -> Floats:
        return self._judge()[0]

    def _arrays(self) -> tuple[Any, ...]:
        return self.action, self._before, self.command, self._phase, self.steps


def _given_ranges(
    randomise: bool | Mapping[str, tuple[float, float]],
) -> dict[str, tuple[float, float]]:
    """From and span."""
    if isinstance(randomise, bool | np.bool_):
        return {name: (varied.low, varied.span) for name, varied in _VARIED.items()}
    out = {name: (varied.fixed, 0.0) for name, varied in _VARIED.items()}
    if not isinstance(randomise, Mapping):
        raise TypeError(f"randomise = {randomise!r}: must be True, False or ranges by name")
    for name, ends in randomise.items():
        if name not in out:
            raise ValueError(f"randomise has {name!r}: there are {', '.join(out)}")
        low, high = given_array(f"randomise[{name!r}]", ends, (2,), means="low and high")
        least, most = _VARIED[name].least, _VARIED[name].most
        if not least <= low <= high <= most:
            raise ValueError(
                f"randomise[{name!r}] = {ends}: must be {least:g} <= low <= high <= {most:g}"
            )
        out[name] = (float(low), float(high - low))
    return out


class Solo12Velocity(VelocityEnv):
    """Solo-12 on flat ground, told how fast to walk and turn, with a clock that asks for a trot.

    - Action (12): targets of the joints' servos (kp = 20 N m/rad, kd = 0.3 N m s/rad), as offsets
      from the standing configuration / 0.3 rad; held for 20 ms.
    - Observation (50): velocity of the base [m/s] and its angular velocity [rad/s] in its own
      frame, the world's z axis in that frame, the command (vx, vy [m/s], turn [rad/s]), angles of
      the joints less those of standing, their rates / 10, the action before, sine and cosine of the
      clock of 2.5 Hz.
    - Command: of an episode, in [-0.3, 0.6], [-0.2, 0.2] m/s and [-0.6, 0.6] rad/s.
    - Reward, with e the error of (vx, vy) and t that of the turn:
      exp(-20 e^2) + exp(-5 t^2) / 2 + sum over the feet of 0.15 where their contact is what the
      clock asks for - 2 vz^2 - 0.05 (wx^2 + wy^2) - (1 - up_z) - 0.01 (change of the action)^2.
    - End: the base is below 0.12 m or leans over by more than 60 degrees; 400 steps (8 s).
    - Start: standing, joints off by up to 0.1 rad, heading and clock anywhere.

    Arguments are those of VelocityEnv.
    """

    robot = SOLO12


class Go2Velocity(VelocityEnv):
    """Go2 on flat ground: the task of Solo12Velocity with a robot of 15 kg and 0.33 m.

    - Action: kp = 40 N m/rad, kd = 1 N m s/rad, cut at the efforts of the file, 23.7 N m and at the
      calves 45.43 N m.
    - Command: in [-0.4, 0.8], [-0.3, 0.3] m/s and [-0.6, 0.6] rad/s.
    - End: the base is below 0.18 m.
    - The robot is example-robot-data's (`stiction[robots]`) with spheres for feet, no other shapes,
      and the rotors that its file has as links without motion turning with their gears: armature
      4.5e-3 kg m^2 at hips and thighs, 16.5e-3 at the calves.

    All else, observation (50) and reward too, is Solo12Velocity's.

    Arguments are those of VelocityEnv.

    Raises:
        StictionError: example-robot-data is not there.
    """

    robot = GO2
