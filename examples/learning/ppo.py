"""Proximal policy optimisation (Schulman et al., 2017) in one file, on any task of stiction.envs.

    pip install gymnasium torch
    python examples/learning/ppo.py stiction/Solo12Velocity-v0 --steps 8600000 --out trot.npz

The policy is saved as arrays that `stiction.envs.Policy` reads without torch.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import stiction.envs

GAMMA, LAMBDA = 0.98, 0.95
HORIZON = 24  # steps of every world between two updates
EPOCHS, MINIBATCHES = 4, 4
CLIP, ENTROPY, VALUE, MAX_GRADIENT = 0.2, 0.001, 0.5, 1.0
KL_TARGET = 0.01  # steps of Adam are shortened above twice this, lengthened below half


class Moments:
    """Mean and deviation of all observations so far (Chan, Golub, LeVeque)."""

    def __init__(self, size: int) -> None:
        self.mean, self.variance, self.count = np.zeros(size), np.ones(size), 1e-4

    def add(self, x: np.ndarray) -> None:
        total = self.count + len(x)
        step = x.mean(axis=0) - self.mean
        self.variance = (
            self.variance * self.count
            + x.var(axis=0) * len(x)
            + step**2 * self.count * len(x) / total
        ) / total
        self.mean = self.mean + step * len(x) / total
        self.count = total

    def scale(self) -> np.ndarray:
        return np.sqrt(self.variance) + 1e-6

    def normalised(self, x: np.ndarray) -> np.ndarray:
        return np.clip((x - self.mean) / self.scale(), -10.0, 10.0).astype(np.float32)


@dataclass
class Episodes:
    """Returns and lengths of the episodes that ended."""

    total: np.ndarray
    length: np.ndarray
    ended: list[tuple[float, int]] = field(default_factory=list)

    def add(self, reward: np.ndarray, done: np.ndarray) -> None:
        self.total += reward
        self.length += 1
        for world in np.flatnonzero(done):
            self.ended.append((float(self.total[world]), int(self.length[world])))
        self.total[done], self.length[done] = 0.0, 0


@dataclass
class Rollout:
    observations: np.ndarray  # (T, N, m) normalised
    actions: np.ndarray
    logp: np.ndarray  # (T, N)
    rewards: np.ndarray
    values: np.ndarray  # (T + 1, N)
    done: np.ndarray


Act = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""Normalised observations to actions, their log-probabilities, values."""


def collect(
    env: Any, observation: np.ndarray, act: Act, moments: Moments, episodes: Episodes, horizon: int
) -> tuple[Rollout, np.ndarray]:
    """`horizon` steps of every world. Of an episode that was cut the value of its last observation
    is added to its last reward."""
    worlds = len(observation)
    out = Rollout(
        np.empty((horizon, *observation.shape), np.float32),
        np.empty((horizon, *env.action_space.shape), np.float32),
        *(np.empty((horizon + k, worlds), np.float32) for k in (0, 0, 1)),
        np.empty((horizon, worlds), bool),
    )
    for t in range(horizon):
        moments.add(observation)
        x = moments.normalised(observation)
        action, logp, value = act(x)
        observation, reward, terminated, truncated, info = env.step(action)
        done = terminated | truncated
        episodes.add(reward, done)
        if truncated.any():
            _, _, last = act(moments.normalised(info["final_obs"]))
            reward = reward + np.where(truncated, GAMMA * last, 0.0)
        out.observations[t], out.actions[t], out.logp[t] = x, action, logp
        out.rewards[t], out.values[t], out.done[t] = reward, value, done
    out.values[horizon] = act(moments.normalised(observation))[2]
    return out, observation


def advantages(rollout: Rollout) -> np.ndarray:
    """(T, N) generalised advantage estimates (Schulman et al., 2016)."""
    out = np.zeros_like(rollout.rewards)
    sum_ = np.zeros(out.shape[1], np.float32)
    for t in reversed(range(len(out))):
        goes_on = 1.0 - rollout.done[t]
        error = rollout.rewards[t] + GAMMA * goes_on * rollout.values[t + 1] - rollout.values[t]
        sum_ = error + GAMMA * LAMBDA * goes_on * sum_
        out[t] = sum_
    return out


class Learner:
    """Policy and value networks and their optimiser."""

    def __init__(self, observations: int, actions: int, hidden: int, seed: int) -> None:
        try:
            import torch
        except ModuleNotFoundError:
            raise SystemExit(
                "ppo.py needs PyTorch: pip install torch --index-url "
                "https://download.pytorch.org/whl/cpu (without CUDA, 0.2 GB)"
            ) from None
        torch.manual_seed(seed)
        torch.set_num_threads(1)
        self.torch = torch

        def network(outputs: int, gain: float) -> Any:
            layers: list[Any] = []
            for size_in, size_out, g in (
                (observations, hidden, 2**0.5),
                (hidden, hidden, 2**0.5),
                (hidden, outputs, gain),
            ):
                layer = torch.nn.Linear(size_in, size_out)
                torch.nn.init.orthogonal_(layer.weight, g)
                torch.nn.init.zeros_(layer.bias)
                layers += [layer, torch.nn.Tanh()]
            return torch.nn.Sequential(*layers[:-1])

        self.policy, self.value = network(actions, 0.01), network(1, 1.0)
        self.log_std = torch.nn.Parameter(torch.full((actions,), -0.7))
        self.parameters = [*self.policy.parameters(), *self.value.parameters(), self.log_std]
        self.adam = torch.optim.Adam(self.parameters, lr=1e-3, eps=1e-5)

    def act(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        torch = self.torch
        with torch.no_grad():
            seen = torch.from_numpy(x)
            choice = torch.distributions.Normal(self.policy(seen), self.log_std.exp())
            action = choice.sample()
            logp = choice.log_prob(action).sum(-1)
            return action.numpy(), logp.numpy(), self.value(seen)[:, 0].numpy()

    def update(self, rollout: Rollout) -> None:
        torch = self.torch
        gain = advantages(rollout)
        target = gain + rollout.values[:-1]
        x, a, logp, gain, target = (
            torch.from_numpy(np.ascontiguousarray(y.reshape(-1, *y.shape[2:])))
            for y in (rollout.observations, rollout.actions, rollout.logp, gain, target)
        )
        gain = (gain - gain.mean()) / (gain.std() + 1e-8)
        for _ in range(EPOCHS):
            for rows in torch.randperm(len(x)).chunk(MINIBATCHES):
                choice = torch.distributions.Normal(self.policy(x[rows]), self.log_std.exp())
                change = choice.log_prob(a[rows]).sum(-1) - logp[rows]
                ratio = change.exp()
                cut = ratio.clamp(1.0 - CLIP, 1.0 + CLIP)
                loss = -torch.minimum(ratio * gain[rows], cut * gain[rows]).mean()
                loss = loss + VALUE * (self.value(x[rows])[:, 0] - target[rows]).square().mean()
                loss = loss - ENTROPY * choice.entropy().sum(-1).mean()
                self.adam.zero_grad(set_to_none=True)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.parameters, MAX_GRADIENT)
                self.adam.step()
                self._adapt(float((ratio - 1.0 - change).detach().mean()))

    def _adapt(self, kl: float) -> None:
        for group in self.adam.param_groups:
            if kl > 2.0 * KL_TARGET:
                group["lr"] = max(group["lr"] / 1.5, 1e-5)
            elif kl < 0.5 * KL_TARGET:
                group["lr"] = min(group["lr"] * 1.5, 3e-3)

    def saved(self, moments: Moments) -> stiction.envs.Policy:
        layers = [
            (layer.weight.detach().numpy(), layer.bias.detach().numpy())
            for layer in self.policy
            if hasattr(layer, "weight")
        ]
        mean, scale = (x.astype(np.float32) for x in (moments.mean, moments.scale()))
        return stiction.envs.Policy(layers, mean, scale)


def learn(task: str, worlds: int, steps: int, seed: int, threads: int, out: Path) -> dict[str, Any]:
    """On a task of stiction.envs; what learn_in() gives, and of what."""
    env = gymnasium.make_vec(task, num_envs=worlds, threads=threads)
    curve = learn_in(env, worlds, steps, seed, out)
    return {"task": task, "worlds": worlds, "seed": seed, "curve": curve}


def learn_in(env: Any, worlds: int, steps: int, seed: int, out: Path) -> dict[str, list[float]]:
    """Learning curve: control steps, seconds, mean return and length of the episodes since."""
    observation, _ = env.reset(seed=seed)
    size, actions = observation.shape[1], env.single_action_space.shape[0]
    learner, moments = Learner(size, actions, 64, seed), Moments(size)
    episodes = Episodes(np.zeros(worlds), np.zeros(worlds, np.int64))
    curve: dict[str, list[float]] = {"steps": [], "seconds": [], "return": [], "length": []}
    begin, shown = time.monotonic(), 0.0
    while (done := (len(curve["steps"])) * HORIZON * worlds) < steps:
        rollout, observation = collect(env, observation, learner.act, moments, episodes, HORIZON)
        learner.update(rollout)
        recent = episodes.ended[-worlds:]
        now = time.monotonic() - begin
        row = (
            done + HORIZON * worlds,
            now,
            float(np.mean([r for r, _ in recent])) if recent else float("nan"),
            float(np.mean([n for _, n in recent])) if recent else float("nan"),
        )
        for column, x in zip(curve.values(), row, strict=True):
            column.append(x)
        if now - shown > 10.0 or row[0] >= steps:
            shown = now
            print(f"{row[0] / 1e6:6.2f} M steps {row[1]:6.0f} s  return {row[2]:7.2f}  "
                  f"length {row[3]:5.0f}", flush=True)  # fmt: skip
            learner.saved(moments).save(out)
    learner.saved(moments).save(out)
    return curve


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("task", help="such as stiction/Solo12Velocity-v0")
    parser.add_argument("--worlds", type=int, default=1024)
    parser.add_argument("--steps", type=int, default=8_600_000, help="control steps of all worlds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2, help="of the simulation")
    parser.add_argument("--out", type=Path, default=Path("policy.npz"))
    parser.add_argument("--curve", type=Path, help="write the learning curve here, as JSON")
    given = parser.parse_args()
    result = learn(given.task, given.worlds, given.steps, given.seed, given.threads, given.out)
    if given.curve:
        given.curve.write_text(json.dumps(result))


if __name__ == "__main__":
    main()
