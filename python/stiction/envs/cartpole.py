"""A pole on a cart, balanced by a force."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ..batch import Batch
from ..loading import load
from .batch_env import BatchEnv, Bools, Floats, Observations

__all__ = ["CartPole"]

_FORCE = 10.0  # [N] of an action of 1


class CartPole(BatchEnv):
    """Keep the pole up and the cart on its rail.

    Barto, Sutton and Anderson's cart of 1 kg and pole of 0.1 kg and 1 m, with a continuous force.

    - Action (1): force on the cart / 10 N.
    - Observation (5): position of the cart [m], cosine and sine of the pole's angle from upright,
      velocity [m/s], rate [rad/s].
    - Reward: 1 for each step of 20 ms; the episode ends where the pole is more than 0.21 rad from
      upright or the cart farther than 2.4 m from the middle, and after 500 steps.
    - Start: all four numbers in [-0.05, 0.05].

    Args:
        num_envs: worlds.
        threads: of the batch.
        autoreset: see BatchEnv.
        episode_steps: after which an episode is truncated.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        threads: int = 1,
        autoreset: str = "SameStep",
        episode_steps: int = 500,
    ) -> None:
        scene = load(Path(__file__).with_name("cartpole.urdf"), free_flyer=False, ground=False)
        batch = Batch(scene, num_envs, threads=threads, dt=5e-3)
        super().__init__(
            batch,
            substeps=4,
            observation_size=5,
            action_size=1,
            episode_steps=episode_steps,
            autoreset=autoreset,
        )

    def _start(self, mask: Bools) -> tuple[Floats, Floats]:
        x = 0.1 * self.uniform(mask, 4) - 0.05
        q = np.stack([x[:, 0], np.cos(x[:, 1]), np.sin(x[:, 1])], axis=1)
        return q, x[:, 2:]

    def _act(self, action: Floats) -> None:
        self.batch.torque[:, 0] = _FORCE * action[:, 0]

    def _observe(self, out: Observations) -> None:
        out[:, :3] = self.batch.q
        out[:, 3:] = self.batch.v

    def _reward(self) -> Floats:
        return np.ones(self.num_envs)

    def _ended(self) -> Bools:
        q = self.batch.q
        return np.asarray((np.abs(q[:, 0]) > 2.4) | (q[:, 1] < np.cos(0.2095)))
