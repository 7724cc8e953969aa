"""The same on rough ground."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._stiction import Scene
from .batch_env import Bools, Floats, Observations
from .legged import GO2, SOLO12
from .legs import in_world
from .rough_ground import RoughGround
from .velocity import VelocityEnv

__all__ = ["Go2Rough", "RoughEnv", "Solo12Rough"]

_PLACE_STREAM = 2
_CONTACT_REWARD = 0.15
_APART = 1e-3
"""Between the ground and the foot that is next to it where an episode starts [m]."""


class RoughEnv(VelocityEnv):
    """A quadruped on a height field; what a class for one robot derives from. Formulas: see
    Solo12Rough.

    Args:
        num_envs: worlds.
        ground: all worlds stand on it, each at places of its own; None: RoughGround().
        settings: those of VelocityEnv.

    Raises:
        ValueError: the ground is too small for the way that an episode may go.
    """

    _touching = np.inf  # for the kernels all feet do: _judge() says which

    @property
    def _seen(self) -> int:
        return len(self._scan)

    def __init__(
        self, num_envs: int = 1, *, ground: RoughGround | None = None, **settings: Any
    ) -> None:
        self.ground = RoughGround() if ground is None else ground
        x, y = np.meshgrid(*self.robot.scan, indexing="ij")
        self._scan = np.stack([x.ravel(), y.ravel()], axis=1)
        super().__init__(num_envs, **settings)
        self._reach = self._start_reach()

    def touching(self) -> Bools:
        """(N, 4) whether the feet carried a force in the last step."""
        return np.asarray(self.batch.contact_forces(list(self.robot.feet)) > 0.0)

    def heights(self, q: Floats) -> Floats:
        """(N, points) height of the base over the ground at the points of the robot's `scan`."""
        forward = in_world(q, np.array([[[1.0, 0.0, 0.0]]]))[:, 0, :2]
        size = np.linalg.norm(forward, axis=1, keepdims=True)
        c, s = np.where(size > 0.0, forward / np.maximum(size, 1e-300), [1.0, 0.0]).T[:, :, None]
        x = q[:, :1] + c * self._scan[:, 0] - s * self._scan[:, 1]
        y = q[:, 1:2] + s * self._scan[:, 0] + c * self._scan[:, 1]
        return np.asarray(q[:, 2:3] - self.ground.height(x, y))

    def _scene(self) -> Scene:
        return self.robot.scene(self.ground.shape())

    def _start_reach(self) -> float:
        """Half a side of the square in which episodes start: they end 1 m from the edge at the
        least, at the largest command all the way."""
        low, span = (np.array(x[:2]) for x in (self.robot.command_low, self.robot.command_span))
        fastest = float(np.linalg.norm(np.maximum(np.abs(low), np.abs(low + span))))
        way = 1.0 + fastest * self.episode_steps * self.control_dt
        if 0.5 * self.ground.size <= way:
            raise ValueError(
                f"ground.size = {self.ground.size:g}: must be more than {2.0 * way:.3g} m, twice "
                f"the way of an episode of {self.episode_steps} steps and 1 m"
            )
        return 0.5 * self.ground.size - way

    def _start_rows(self, mask: Bools, q: Floats, v: Floats) -> None:
        super()._start_rows(mask, q, v)
        rows = q[mask]
        rows[:, :2] += self._reach * (2.0 * self.uniform(mask, 2, stream=_PLACE_STREAM) - 1.0)
        rows[:, 2] = 0.0
        rows[:, 2] -= self._clearance(rows) - _APART
        q[mask] = rows

    def _clearance(self, q: Floats) -> Floats:
        """(N,) least height of a foot over the highest ground that is under it."""
        centres = q[:, None, :3] + in_world(q, self._feet.centres(q))
        least = np.full(len(q), np.inf)
        radii = self._feet.radii
        for angle in np.arange(8) * (np.pi / 4.0):
            for share in (0.0, 0.5, 1.0):
                x = centres[:, :, 0] + share * np.cos(angle) * radii
                y = centres[:, :, 1] + share * np.sin(angle) * radii
                under = centres[:, :, 2] - np.sqrt(1.0 - share**2) * radii
                least = np.minimum(least, (under - self.ground.height(x, y)).min(axis=1))
        return least

    def _observe_rows(self, mask: Bools | None, out: Observations) -> None:
        rows = slice(None) if mask is None else mask
        own = np.empty((self.num_envs, self._observation_size - self._seen), self._dtype)
        super()._observe_rows(mask, own)
        out[rows, : own.shape[1]] = own[rows]
        out[rows, own.shape[1] :] = self.heights(self.batch.q[rows]) - self._standing[2]

    def _judge(self) -> tuple[Floats, Bools]:
        reward, ended = super()._judge()
        half = np.array([0.0, 0.5, 0.5, 0.0])
        stands = (self.clock()[:, None] + half) % 1.0 < 0.5
        agrees = (stands == self.touching()).sum(axis=1) - stands.sum(axis=1)
        q = self.batch.q
        ended |= q[:, 2] - self.ground.height(q[:, 0], q[:, 1]) < self.robot.fallen
        return reward + _CONTACT_REWARD * agrees, ended


class Solo12Rough(RoughEnv):
    """Solo-12 on rough ground: the task of Solo12Velocity on a RoughGround.

    - Observation (65): the 50 of Solo12Velocity, then the height of the base over the ground, less
      that of standing, at 5 places along the heading of the base x 3 across, 0.15 m apart [m].
    - Reward: that of Solo12Velocity; a foot's contact is a force in the last of the five steps.
    - End: the base is less than 0.12 m over the ground under it or leans by more than 60 degrees;
      400 steps.
    - Start: anywhere on the ground from where an episode cannot reach its edge, as on flat ground.

    Arguments are those of RoughEnv.
    """

    robot = SOLO12


class Go2Rough(RoughEnv):
    """Go2 on rough ground: the task of Solo12Rough with the robot and numbers of Go2Velocity;
    heights (15) are seen 0.2 m apart.

    Arguments are those of RoughEnv.
    """

    robot = GO2
