"""A world of a BatchEnv as a gymnasium.Env."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import gymnasium as gym
import numpy as np

from .batch_env import NO_PICTURES, BatchEnv, Observations, Singles

__all__ = ["OneEnv"]


class OneEnv(gym.Env[Observations, Singles]):
    """One world: world 0 of a batch, with its numbers.

    Args:
        make: makes the BatchEnv from `num_envs` and `autoreset`.
        settings: further arguments of it.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 as gymnasium.Env has it

    def __init__(self, make: Callable[..., BatchEnv], **settings: Any) -> None:
        self.worlds = make(num_envs=1, autoreset="Disabled", **settings)
        self.observation_space = self.worlds.single_observation_space
        self.action_space = self.worlds.single_action_space
        self._first_seed = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """The start of an episode; a seed begins their count anew. Without one the first call
        draws a seed."""
        super().reset(seed=seed)
        if seed is None and self._first_seed:
            seed = int(self.np_random.integers(2**63))
        self._first_seed = False
        observation, info = self.worlds.reset(seed=seed)
        return observation[0], _of_one(info)

    def step(self, action: Singles) -> tuple[Observations, float, bool, bool, dict[str, Any]]:
        observation, reward, terminated, truncated, info = self.worlds.step(
            np.asarray(action)[None]
        )
        return (
            observation[0],
            float(reward[0]),
            bool(terminated[0]),
            bool(truncated[0]),
            _of_one(info),
        )

    def render(self) -> NoReturn:
        """There are no pictures; `stiction.envs.watch` writes a page."""
        raise NotImplementedError(NO_PICTURES)


def _of_one(info: dict[str, Any]) -> dict[str, Any]:
    """World 0 of a vector environment's `info`: numbers, and arrays where a world has several."""
    rows = {key: values[0] for key, values in info.items() if not key.startswith("_")}
    return {key: x if np.ndim(x) else float(x) for key, x in rows.items()}
