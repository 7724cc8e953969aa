"""Gymnasium's tasks for MuJoCo, version 5, with exact contact: the same files, observations,
actions, rewards, ends and noise at the start. Numbers and formulas: gymnasium/envs/mujoco/*_v5.py.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np

from .._stiction import SceneMotion
from ..batch import Batch
from ..loaders.mjcf import load_mjcf
from .batch_env import BatchEnv, Bools, Floats, Observations

__all__ = [
    "Ant",
    "GymnasiumTask",
    "HalfCheetah",
    "Hopper",
    "Humanoid",
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
        settings: Gymnasium's keywords with the values that the task has here, `same_as`.

    Raises:
        TypeError: another keyword, or one of these with another value.
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
    same_as: ClassVar[dict[str, Any]] = {}
    """Arguments with which Gymnasium's is the same task, where they are not its defaults."""
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
        self._check(settings)
        path = Path(gym.__file__).parent / "envs" / "mujoco" / "assets" / self.file
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # said in this docstring and in the messages
            model = load_mjcf(path)
            batch = Batch(model.scene, num_envs, threads=threads, dt=model.timestep)
        super().__init__(
            batch,
            substeps=self.frame_skip,
            observation_size=self.observation_size,
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
        self._x = np.zeros(num_envs)  # where the step began

    def _check(self, settings: dict[str, Any]) -> None:
        for name, value in settings.items():
            if name not in self.same_as or self.same_as[name] != value:
                known = ["num_envs", "threads", "autoreset", "episode_steps"]
                known += [f"{key}={fixed!r}" for key, fixed in self.same_as.items()]
                raise TypeError(
                    f"{type(self).__name__}: {name}={value!r} is not there; there are: "
                    + ", ".join(known)
                )

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
        self._x[:] = self.batch.q[:, 0]
        self.batch.torque[:] = self._rest + action @ self._gears

    def _ended(self) -> Bools:
        return np.zeros(self.num_envs, bool)

    def _forward(self) -> Floats:
        """(N,) mean speed along x of the last action [m/s]."""
        return np.asarray((self.batch.q[:, 0] - self._x) / self.control_dt)

    def _effort(self) -> Floats:
        return np.asarray((self.action**2).sum(axis=1))


class HalfCheetah(GymnasiumTask):
    """HalfCheetah-v5: run forward. Observation (17): q without x, v; action (6); reward: forward
    speed - 0.1 |action|^2; no end but after 1000 steps."""

    file, frame_skip, observation_size = "half_cheetah.xml", 5, 17
    noise, normal_velocity = 0.1, True

    def _observe(self, out: Observations) -> None:
        out[:, :8], out[:, 8:] = self.batch.q[:, 1:], self.batch.v

    def _reward(self) -> Floats:
        return np.asarray(self._forward() - 0.1 * self._effort())


class Hopper(GymnasiumTask):
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

    def _reward(self) -> Floats:
        return self._forward() + ~self._ended() - 1e-3 * self._effort()


class Walker2d(GymnasiumTask):
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

    def _reward(self) -> Floats:
        return self._forward() + ~self._ended() - 1e-3 * self._effort()


class InvertedPendulum(GymnasiumTask):
    """InvertedPendulum-v5: keep the pole up. Observation (4): q, v; action (1) in [-3, 3]; reward 1
    until the end: the pole leans by more than 0.2 rad."""

    file, frame_skip, observation_size = "inverted_pendulum.xml", 2, 4
    limit, noise = 3.0, 0.01

    def _observe(self, out: Observations) -> None:
        out[:, :2], out[:, 2:] = self.batch.q, self.batch.v

    def _ended(self) -> Bools:
        return np.asarray(np.abs(self.batch.q[:, 1]) > 0.2)

    def _reward(self) -> Floats:
        return np.where(self._ended(), 0.0, 1.0)


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

    def _reward(self) -> Floats:
        x, y = self._tip()
        v = self.batch.v
        cost = 0.01 * x**2 + (y - 2.0) ** 2 + 1e-3 * v[:, 1] ** 2 + 5e-3 * v[:, 2] ** 2
        return np.asarray(10.0 * ~self._ended() - cost)


class _FreeRobot(GymnasiumTask):
    """A robot on a free joint: its first dofs as MuJoCo has them."""

    def _start(self, mask: Bools) -> tuple[Floats, Floats]:
        q, v = super()._start(mask)
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]  # Gymnasium leaves it to the step
        return q, v

    def _observe(self, out: Observations) -> None:
        q, v = self.batch.q, self.batch.v
        joints = q.shape[1] - 7
        out[:, 0], out[:, 1], out[:, 2:5], out[:, 5 : 5 + joints] = (
            q[:, 2],
            q[:, 6],
            q[:, 3:6],
            q[:, 7:],
        )
        axis, linear = q[:, 3:6], v[:, :3]
        t = 2.0 * np.cross(axis, linear)
        out[:, 5 + joints : 8 + joints] = linear + q[:, 6:7] * t + np.cross(axis, t)  # to the world
        out[:, 8 + joints :] = v[:, 3:]


class Ant(_FreeRobot):
    """Ant-v5 with include_cfrc_ext_in_observation=False and without the cost of contact forces: run
    forward. Observation (27): height, quaternion (w, x, y, z) and joints, v in MuJoCo's frames;
    action (8); reward: 1 while healthy + forward speed - 0.5 |action|^2; ends where the height is
    outside of [0.2, 1] m."""

    file, frame_skip, observation_size = "ant.xml", 5, 27
    same_as: ClassVar[dict[str, Any]] = {
        "include_cfrc_ext_in_observation": False,
        "contact_cost_weight": 0.0,
    }
    noise, normal_velocity = 0.1, True

    def _ended(self) -> Bools:
        z = self.batch.q[:, 2]
        return np.asarray(~((z >= 0.2) & (z <= 1.0)))

    def _reward(self) -> Floats:
        return self._forward() + ~self._ended() - 0.5 * self._effort()


class Humanoid(_FreeRobot):
    """Humanoid-v5 without inertias, velocities and forces of bodies in the observation (the four
    include_..._in_observation=False) and without the cost of contact forces: run forward.
    Observation (45): height, quaternion (w, x, y, z) and joints, v in MuJoCo's frames; action (17)
    in [-0.4, 0.4]; reward: 5 while healthy + 1.25 times the forward speed of the centre of mass -
    0.1 |action|^2; ends where the height is outside of (1, 2) m."""

    file, frame_skip, observation_size = "humanoid.xml", 5, 45
    same_as: ClassVar[dict[str, Any]] = {
        "include_cinert_in_observation": False,
        "include_cvel_in_observation": False,
        "include_qfrc_actuator_in_observation": False,
        "include_cfrc_ext_in_observation": False,
        "contact_cost_weight": 0.0,
    }
    limit, noise = 0.4, 0.01

    def _act(self, action: Floats) -> None:
        super()._act(action)
        self._x[:] = self._centres()

    def _centres(self) -> Floats:
        """(N,) x of the centre of mass [m]."""
        scene, q = self.batch.scene, self.batch.q.copy()
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
        return np.array([SceneMotion(scene, x).com()[0] for x in q])

    def _ended(self) -> Bools:
        z = self.batch.q[:, 2]
        return np.asarray(~((z > 1.0) & (z < 2.0)))

    def _reward(self) -> Floats:
        forward = (self._centres() - self._x) / self.control_dt
        return np.asarray(1.25 * forward + 5.0 * ~self._ended() - 0.1 * self._effort())
