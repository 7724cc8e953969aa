"""Stable-Baselines3 on a task of stiction.envs: all worlds as one of its vector environments.

    pip install gymnasium stable-baselines3
    python examples/learning/sb3.py stiction/Solo12Velocity-v0 --steps 8600000 --out trot.npz

The policy is saved as arrays that `stiction.envs.Policy` reads without torch, as ppo.py does.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import stiction.envs

try:
    from stable_baselines3.common.vec_env import VecEnv
except ModuleNotFoundError as error:
    raise SystemExit(f"{error}: pip install stable-baselines3") from None

HORIZON, EPOCHS, MINIBATCHES = 24, 4, 4


class Worlds(VecEnv):
    """Worlds of a stiction.envs.BatchEnv, which all are one object: what is read or called of it
    is the same for each.

    Args:
        env: of `gymnasium.make_vec("stiction/...")`, with autoreset "SameStep".
    """

    def __init__(self, env: Any) -> None:
        self.env: stiction.envs.BatchEnv = env.unwrapped
        if self.env.autoreset is not gymnasium.vector.AutoresetMode.SAME_STEP:
            raise ValueError(f"autoreset is {self.env.autoreset.value}: must be SameStep")
        self._actions = np.zeros(self.env.action_space.shape, np.float32)
        super().__init__(
            self.env.num_envs, self.env.single_observation_space, self.env.single_action_space
        )

    def reset(self) -> np.ndarray:
        """Observations of new episodes; with the first of the seeds of seed(), from the first."""
        observation, _ = self.env.reset(seed=self._seeds[0])
        self._reset_seeds()
        return observation

    def step_async(self, actions: np.ndarray) -> None:
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        seen, reward, terminated, truncated, info = self.env.step(self._actions)
        done = terminated | truncated
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for world in np.flatnonzero(done):
            infos[world] = {
                "terminal_observation": info["final_obs"][world],
                "TimeLimit.truncated": bool(truncated[world]),
            }
        return seen, reward.astype(np.float32), done, infos

    def close(self) -> None:
        self.env.close()

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self.env, attr_name)] * self._count(indices)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        self._count(indices, all_of_them=True)
        setattr(self.env, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        count = self._count(indices, all_of_them=True)
        return [getattr(self.env, method_name)(*method_args, **method_kwargs)] * count

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        return [False] * self._count(indices)

    def _count(self, indices: Any, all_of_them: bool = False) -> int:
        if indices is None:
            return int(self.num_envs)
        count = len(indices) if isinstance(indices, Sequence) else 1
        if all_of_them and count != self.num_envs:
            raise ValueError(f"indices = {indices}: worlds have no attributes of their own")
        return count


def saved(model: Any, normal: Any) -> stiction.envs.Policy:
    """The mean of the policy, behind the normalisation of observations."""
    layers = [*model.policy.mlp_extractor.policy_net, model.policy.action_net]
    arrays = [
        (layer.weight.detach().numpy(), layer.bias.detach().numpy())
        for layer in layers
        if hasattr(layer, "weight")
    ]
    scale = np.sqrt(normal.obs_rms.var + normal.epsilon)
    return stiction.envs.Policy(
        arrays, normal.obs_rms.mean.astype(np.float32), scale.astype(np.float32)
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("task", help="such as stiction/Solo12Velocity-v0")
    parser.add_argument("--worlds", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=8_600_000, help="control steps of all worlds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2, help="of the simulation")
    parser.add_argument("--out", type=Path, default=Path("policy.npz"))
    given = parser.parse_args()

    import torch
    from stable_baselines3 import PPO
    from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

    torch.set_num_threads(1)
    env = gymnasium.make_vec(given.task, num_envs=given.worlds, threads=given.threads)
    normal = VecNormalize(VecMonitor(Worlds(env)), norm_reward=False, gamma=0.98)
    model = PPO(
        "MlpPolicy",
        normal,
        n_steps=HORIZON,
        batch_size=given.worlds * HORIZON // MINIBATCHES,
        n_epochs=EPOCHS,
        learning_rate=1e-3,
        gamma=0.98,
        ent_coef=0.001,
        max_grad_norm=1.0,
        target_kl=0.02,
        policy_kwargs={"log_std_init": -0.7},
        seed=given.seed,
        device="cpu",
        verbose=1,
    )
    model.learn(given.steps)
    saved(model, normal).save(given.out)


if __name__ == "__main__":
    main()
