"""Gymnasium's tasks for MuJoCo, version 5, with exact contact: the same files, observations,
actions, rewards, ends and noise at the start. Numbers and formulas: gymnasium/envs/mujoco/*_v5.py.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

from ..batch import Batch
from ..loaders.mjcf import Mjcf, load_mjcf
from .batch_env import BatchEnv, Bools, Floats, Observations

__all__ = [
    "GymnasiumTask",
    "HalfCheetah",
    "Hopper",
    "InvertedDoublePendulum",
    "InvertedPendulum",
    "Walker2d",
]


class GymnasiumTask(BatchEnv):
    """A task of one robot with motors, from an MJCF file of the package gymnasium.

    Rewards and observations are of the state after the action: for Ant, Humanoid,
    InvertedDoublePendulum, Reacher and Pusher Gymnasium takes places of bodies that are up to one
    of MuJoCo's steps older. Contacts are rigid, and every file is stepped by semi-implicit Euler,
    where some ask MuJoCo for RK4. What else the loader does not honour is in
    `batch.scene.messages`.

    Args:
        num_envs: worlds.
        threads: of the batch.
        autoreset: see BatchEnv.
        episode_steps: after which an episode is truncated; None: Gymnasium's number.
        settings: Gymnasium's keywords that the task takes, see `keywords`.

    `info` has Gymnasium's entries, as its vector environments lay them out: arrays (N, ...), and
    for each under its name with "_" before it a mask of the worlds that it is told of.

    Raises:
        TypeError: another keyword.
    """

    file: ClassVar[str]
    frame_skip: ClassVar[int]
    observation_size: ClassVar[int]
    limit: ClassVar[float] = 1.0
    """Actions are in [-limit, limit]."""
    most_actions: ClassVar[int] = 1000
    """Actions of an episode."""
    noise: ClassVar[float]
    """Of q, uniform, and v at the start."""
    keywords: ClassVar[dict[str, Any]] = {}
    """Gymnasium's that the task takes, with its defaults."""
    normal_velocity: ClassVar[bool] = False
    """Noise of v is normal, with deviation `noise`."""

    def __init__(
        self,
        num_envs: int = 1,
        *,
        threads: int = 1,
        autoreset: str = "SameStep",
        episode_steps: int | None = None,
        **settings: Any,
    ) -> None:
        self.given = self._checked_settings(settings)
        path = Path(gym.__file__).parent / "envs" / "mujoco" / "assets" / self.file
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said in this docstring and in the messages
            model = load_mjcf(path)
            batch = Batch(model.scene, num_envs, threads=threads, dt=model.timestep)
        super().__init__(
            batch,
            substeps=self.frame_skip,
            observation_size=self._size(model),
            action_size=len(model.actuators),
            episode_steps=self.most_actions if episode_steps is None else episode_steps,
            autoreset=autoreset,
            action_limit=self.limit,
            dtype=np.float64,
        )
        self._fluid = model._passive.fluid
        self._rest = np.asarray(model.control().torque)
        controls = self.limit * np.eye(len(model.actuators))
        gears = [np.asarray(model.control(u).torque) - self._rest for u in controls]
        self._gears = np.array(gears) / self.limit  # [actuators, nv]
        self._start_q = np.asarray(model.scene.default_q)
        self._before = np.zeros_like(self._position())  # where the action began
        self._terms: dict[str, Floats] = {}

    def _size(self, model: Mjcf) -> int:
        """Of an observation."""
        return self.observation_size

    def _checked_settings(self, settings: dict[str, Any]) -> dict[str, Any]:
        for name, value in settings.items():
            if name not in self.keywords:
                known = ["num_envs", "threads", "autoreset", "episode_steps"]
                known += [f"{key}={fixed!r}" for key, fixed in self.keywords.items()]
                raise TypeError(
                    f"{type(self).__name__}: {name}={value!r} is not there; there are: "
                    + ", ".join(known)
                )
        return {**self.keywords, **settings}

    def _start(self, mask: Bools) -> tuple[Floats, Floats]:
        nq, nv = self.batch.scene.nq, self.batch.scene.nv
        x = self.uniform(mask, nq)
        q = self._start_q + self.noise * (2.0 * x - 1.0)
        if not self.normal_velocity:
            return q, self.noise * (2.0 * self.uniform(mask, nv, stream=1) - 1.0)
        y = self.uniform(mask, 2 * nv, stream=1)  # Box and Muller
        radius = np.sqrt(-2.0 * np.log1p(-y[:, :nv]))
        return q, self.noise * radius * np.cos(2.0 * np.pi * y[:, nv:])

    def _act(self, action: Floats) -> None:
        self._before[:] = self._position()
        self.batch.torque[:] = self._rest + action @ self._gears

    def _ended(self) -> Bools:
        return np.zeros(self.num_envs, bool)

    def _position(self) -> Floats:
        """(N, 1 or 2) x, or x and y, of what is to move forward [m]."""
        return np.asarray(self.batch.q[:, :1])

    def _speed(self) -> Floats:
        """Mean velocity of `_position()` over the last action [m/s]."""
        return np.asarray((self._position() - self._before) / self.control_dt)

    def _rewards(self) -> dict[str, Floats]:
        """The terms of the reward, as `info` names them."""
        raise NotImplementedError

    def _reward(self) -> Floats:
        self._terms = self._rewards()
        return np.asarray(sum(self._terms.values()))

    def _whereabouts(self) -> dict[str, Floats]:
        """What `info` tells of a state, after a reset too."""
        return {}

    def _first_info(self) -> dict[str, Floats]:
        return self._whereabouts()

    def _info(self) -> dict[str, Floats]:
        out = self._whereabouts()
        if out:
            out |= zip(("x_velocity", "y_velocity"), self._speed().T, strict=False)
        return out | self._terms

    def _effort(self) -> Floats:
        return np.asarray((self.action**2).sum(axis=1))


class HalfCheetah(GymnasiumTask):
    """HalfCheetah-v5: run forward. Observation (17): q without x, v; action (6); reward: forward
    speed - 0.1 |action|^2; no end but after 1000 steps."""

    file, frame_skip, observation_size = "half_cheetah.xml", 5, 17
    noise, normal_velocity = 0.1, True

    def _observe(self, out: Observations) -> None:
        out[:, :8], out[:, 8:] = self.batch.q[:, 1:], self.batch.v

    def _whereabouts(self) -> dict[str, Floats]:
        return {"x_position": self.batch.q[:, 0]}

    def _rewards(self) -> dict[str, Floats]:
        return {"reward_forward": self._speed()[:, 0], "reward_ctrl": -0.1 * self._effort()}


class _Legs(GymnasiumTask):
    """In a plane, to go forward upright."""

    def _whereabouts(self) -> dict[str, Floats]:
        q = self.batch.q
        return {"x_position": q[:, 0], "z_distance_from_origin": q[:, 1] - self._start_q[1]}

    def _rewards(self) -> dict[str, Floats]:
        return {
            "reward_forward": self._speed()[:, 0],
            "reward_ctrl": -1e-3 * self._effort(),
            "reward_survive": np.where(self._ended(), 0.0, 1.0),
        }


class Hopper(_Legs):
    """Hopper-v5: hop forward. Observation (11): q without x, v cut to 10; action (3); reward:
    1 while healthy + forward speed - 0.001 |action|^2; ends where not healthy: height <= 0.7 m,
    lean >= 0.2 rad, any other number beyond 100."""

    file, frame_skip, observation_size, noise = "hopper.xml", 4, 11, 5e-3

    def _observe(self, out: Observations) -> None:
        out[:, :5] = self.batch.q[:, 1:]
        np.clip(self.batch.v, -10.0, 10.0, out=out[:, 5:])

    def _ended(self) -> Bools:
        q, v = self.batch.q, self.batch.v
        large = (np.abs(q[:, 2:]) >= 100.0).any(axis=1) | (np.abs(v) >= 100.0).any(axis=1)
        return np.asarray(large | (q[:, 1] <= 0.7) | (np.abs(q[:, 2]) >= 0.2))


class Walker2d(_Legs):
    """Walker2d-v5: walk forward. Observation (17): q without x, v cut to 10; action (6); reward:
    1 while healthy + forward speed - 0.001 |action|^2; ends where not healthy: height outside of
    (0.8, 2) m, lean >= 1 rad."""

    file, frame_skip, observation_size, noise = "walker2d_v5.xml", 4, 17, 5e-3

    def _observe(self, out: Observations) -> None:
        out[:, :8] = self.batch.q[:, 1:]
        np.clip(self.batch.v, -10.0, 10.0, out=out[:, 8:])

    def _ended(self) -> Bools:
        z, lean = self.batch.q[:, 1], self.batch.q[:, 2]
        return np.asarray((z <= 0.8) | (z >= 2.0) | (np.abs(lean) >= 1.0))


class InvertedPendulum(GymnasiumTask):
    """InvertedPendulum-v5: keep the pole up. Observation (4): q, v; action (1) in [-3, 3]; reward 1
    until the end: the pole leans by more than 0.2 rad."""

    file, frame_skip, observation_size = "inverted_pendulum.xml", 2, 4
    limit, noise = 3.0, 0.01

    def _observe(self, out: Observations) -> None:
        out[:, :2], out[:, 2:] = self.batch.q, self.batch.v

    def _ended(self) -> Bools:
        return np.asarray(np.abs(self.batch.q[:, 1]) > 0.2)

    def _rewards(self) -> dict[str, Floats]:
        return {"reward_survive": np.where(self._ended(), 0.0, 1.0)}


class InvertedDoublePendulum(GymnasiumTask):
    """InvertedDoublePendulum-v5: keep two poles up. Observation (9): position of the cart, sines,
    cosines of both joints, v cut to 10, and a last entry that is 0 here, MuJoCo's force of the end
    of the rail. Action (1). Reward 10 - 0.01 x^2 - (y - 2)^2 - 0.001 v1^2 - 0.005 v2^2 with the tip
    at (x, y), without the 10 at the end: y <= 1 m."""

    file, frame_skip, observation_size = "inverted_double_pendulum.xml", 5, 9
    noise, normal_velocity = 0.1, True
    length: ClassVar[float] = 0.6
    """Of either pole [m]."""

    def _tip(self) -> tuple[Floats, Floats]:
        x, a, b = self.batch.q.T
        return (
            x + self.length * (np.sin(a) + np.sin(a + b)),
            self.length * (np.cos(a) + np.cos(a + b)),
        )

    def _observe(self, out: Observations) -> None:
        q = self.batch.q
        out[:, 0], out[:, 1:3], out[:, 3:5] = q[:, 0], np.sin(q[:, 1:]), np.cos(q[:, 1:])
        np.clip(self.batch.v, -10.0, 10.0, out=out[:, 5:8])
        out[:, 8] = 0.0

    def _ended(self) -> Bools:
        return np.asarray(self._tip()[1] <= 1.0)

    def _rewards(self) -> dict[str, Floats]:
        x, y = self._tip()
        v = self.batch.v
        return {
            "reward_survive": np.where(self._ended(), 0.0, 10.0),
            "distance_penalty": -(0.01 * x**2 + (y - 2.0) ** 2),
            "velocity_penalty": -(1e-3 * v[:, 1] ** 2 + 5e-3 * v[:, 2] ** 2),
        }


def in_the_plane(q: Floats) -> dict[str, Floats]:
    """Entries of `info` of where it is, from rows of q that begin with x, y."""
    return {
        "x_position": q[:, 0],
        "y_position": q[:, 1],
        "distance_from_origin": np.hypot(q[:, 0], q[:, 1]),
    }
