"""Environments for learning, after Gymnasium's interfaces; `pip install gymnasium`.

import gymnasium, stiction.envs
worlds = gymnasium.make_vec("stiction/Solo12Velocity-v0", num_envs=4096, threads=2)
env = gymnasium.make("stiction/HalfCheetah-v5")
"""

from collections.abc import Callable
from typing import Any

try:
    import gymnasium as _gym
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "stiction.envs needs gymnasium: pip install gymnasium", name="gymnasium"
    ) from error

from .batch_env import BatchEnv
from .cartpole import CartPole
from .gymnasium_arms import Pusher, Reacher
from .gymnasium_free import Ant, Humanoid
from .gymnasium_tasks import (
    GymnasiumTask,
    HalfCheetah,
    Hopper,
    InvertedDoublePendulum,
    InvertedPendulum,
    Walker2d,
)
from .one_env import OneEnv
from .policy import CART_POLE, GO2_TROT, SOLO12_ROUGH, SOLO12_TROT, Policy
from .rough import Go2Rough, RoughEnv, Solo12Rough
from .rough_ground import RoughGround
from .swimmer import Swimmer
from .velocity import Go2Velocity, Solo12Velocity, VelocityEnv
from .watch import watch

__all__ = [
    "CART_POLE",
    "GO2_TROT",
    "SOLO12_ROUGH",
    "SOLO12_TROT",
    "Ant",
    "BatchEnv",
    "CartPole",
    "Go2Rough",
    "Go2Velocity",
    "GymnasiumTask",
    "HalfCheetah",
    "Hopper",
    "Humanoid",
    "InvertedDoublePendulum",
    "InvertedPendulum",
    "OneEnv",
    "Policy",
    "Pusher",
    "Reacher",
    "RoughEnv",
    "RoughGround",
    "Solo12Rough",
    "Solo12Velocity",
    "Swimmer",
    "VelocityEnv",
    "Walker2d",
    "watch",
]


def _register(name: str, version: int, task: Callable[..., BatchEnv]) -> None:
    def one(render_mode: str | None = None, **settings: Any) -> OneEnv:
        _no_pictures(render_mode)
        return OneEnv(task, **settings)

    def many(render_mode: str | None = None, **settings: Any) -> BatchEnv:
        _no_pictures(render_mode)
        return task(**settings)

    _gym.register(id=f"stiction/{name}-v{version}", entry_point=one, vector_entry_point=many)


def _no_pictures(render_mode: str | None) -> None:
    if render_mode is not None:
        raise ValueError(
            f"render_mode = {render_mode!r}: must be None; stiction.envs.watch(env, policy, "
            "'episode.html') shows an episode as a page"
        )


_OWN: tuple[type[BatchEnv], ...] = (
    CartPole, Go2Rough, Go2Velocity, Solo12Rough, Solo12Velocity,
)  # fmt: skip
for _own in _OWN:
    _register(_own.__name__, 0, _own)
for _task in (
    Ant,
    HalfCheetah,
    Hopper,
    Humanoid,
    InvertedDoublePendulum,
    InvertedPendulum,
    Pusher,
    Reacher,
    Swimmer,
    Walker2d,
):
    _register(_task.__name__, 5, _task)
