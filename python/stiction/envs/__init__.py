"""Environments for learning, after Gymnasium's interfaces; `pip install 'stiction[envs]'`.

import gymnasium, stiction.envs
worlds = gymnasium.make_vec("stiction/Solo12Velocity-v0", num_envs=4096, threads=2)
env = gymnasium.make("stiction/CartPole-v0")
"""

from collections.abc import Callable
from typing import Any

try:
    import gymnasium as _gym
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "stiction.envs needs gymnasium: pip install 'stiction[envs]'", name="gymnasium"
    ) from error

from .batch_env import BatchEnv
from .cartpole import CartPole
from .one_env import OneEnv
from .policy import Policy
from .velocity import Solo12Velocity

__all__ = ["BatchEnv", "CartPole", "OneEnv", "Policy", "Solo12Velocity"]


def _register(name: str, task: Callable[..., BatchEnv]) -> None:
    def one(**settings: Any) -> OneEnv:
        return OneEnv(task, **settings)

    _gym.register(id=f"stiction/{name}-v0", entry_point=one, vector_entry_point=task)


_register("CartPole", CartPole)
_register("Solo12Velocity", Solo12Velocity)
