"""Worlds of a task of stiction.envs, acted in by a stored policy or at random."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..counted_random import uniform
from ..given_array import given_seed, integer
from .scene_runs import digest

__all__ = ["TaskRuns"]

_SEED_STREAM, _ACTION_STREAM = 3, 4


@dataclass(frozen=True)
class TaskRuns:
    """Rollouts of an environment.

    Columns of the results, a row for each episode that ended: world, episode (counted from 0),
    total (sum of rewards), length (actions), terminated (False: truncated). With `transitions` a
    row for each action: world, episode, observation, action, reward, terminated, truncated; the
    observation is the one before the action.

    What is random follows from seed, the first world of a chunk, and a world's number in it: the
    same on any workers, with the same `chunk`.

    Attributes:
        task: id in Gymnasium, such as "stiction/Solo12Velocity-v0".
        policy: "zero", "random" (uniform in the action space), or path of what Policy.save wrote.
        worlds: of them.
        steps: actions of each.
        seed: in [0, 2^64).
        transitions: rows are actions, not episodes.
        settings: of the task, by name.

    Raises:
        TypeError: a number is no integer.
        ValueError: a value is out of range. That the task is unknown or the policy another's is
            seen in the first chunk, as a SweepError.
    """

    task: str
    policy: str = "zero"
    worlds: int = 256
    steps: int = 400
    seed: int = 0
    transitions: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("worlds", "steps"):
            if integer(name, getattr(self, name)) < 1:
                raise ValueError(f"{name} = {getattr(self, name)}: must be at least 1")
        given_seed(self.seed)

    def describe(self) -> dict[str, Any]:
        """The attributes, and a digest of the policy's file."""
        return {"kind": "task", **asdict(self), "file": digest(self.policy)}

    def __call__(self, first: int, count: int) -> dict[str, NDArray[Any]]:
        import gymnasium

        from .. import envs  # noqa: F401 which registers its tasks

        env: Any = gymnasium.make_vec(self.task, num_envs=count, **dict(self.settings))
        base, learned = self._base(env), self._learned(env)
        place = uniform(self.seed, np.array([first]), np.array([0]), 1, stream=_SEED_STREAM)
        observation, _ = env.reset(seed=int(place[0, 0] * 2.0**53))
        rows = _Transitions() if self.transitions else _Episodes(count)
        for step in range(self.steps):
            episode = base.episode.copy()
            if learned is not None:
                action = learned.row_by_row(observation)
            else:
                action = self._blind(env.action_space, first, step)
            seen, reward, terminated, truncated, _ = env.step(action)
            rows.add(episode, observation, action, reward, terminated, truncated)
            observation = seen
        return rows.columns(first)

    def _base(self, env: Any) -> Any:
        from ..envs import BatchEnv

        base = env.unwrapped
        if not isinstance(base, BatchEnv):
            raise ValueError(f"task = {self.task!r}: must be one of stiction.envs")
        if base.autoreset.value != "SameStep":
            raise ValueError(f"settings.autoreset = {base.autoreset.value!r}: must be SameStep")
        return base

    def _learned(self, env: Any) -> Any:
        """The stored policy, if there is one."""
        if self.policy in ("zero", "random"):
            return None
        from ..envs import Policy

        learned = Policy.load(self.policy)
        found = len(learned.mean), len(learned.layers[-1][1])
        wanted = (env.single_observation_space.shape[0], env.single_action_space.shape[0])
        if found != wanted:
            raise ValueError(
                f"policy = {self.policy!r}: has {found[0]} observations and {found[1]} actions, "
                f"{self.task} {wanted[0]} and {wanted[1]}"
            )
        return learned

    def _blind(self, space: Any, first: int, step: int) -> NDArray[np.float32]:
        if self.policy == "zero":
            return np.zeros(space.shape, np.float32)
        worlds = first + np.arange(space.shape[0])
        x = uniform(
            self.seed, worlds, np.full(len(worlds), step), space.shape[1], stream=_ACTION_STREAM
        )
        return np.asarray(space.low + (space.high - space.low) * x, np.float32)


class _Episodes:
    """Rows of episodes that ended, those of one world side by side."""

    NAMES = ("world", "episode", "total", "length", "terminated")
    TYPES = (np.int64, np.int64, np.float64, np.int64, np.bool_)

    def __init__(self, worlds: int) -> None:
        self._total, self._length = np.zeros(worlds), np.zeros(worlds, np.int64)
        self._rows: list[tuple[Any, ...]] = []

    def add(self, episode: Any, _o: Any, _a: Any, reward: Any, terminated: Any, cut: Any) -> None:
        self._total += reward
        self._length += 1
        for w in np.flatnonzero(terminated | cut):
            self._rows.append((w, episode[w], self._total[w], self._length[w], terminated[w]))
            self._total[w], self._length[w] = 0.0, 0

    def columns(self, first: int) -> dict[str, NDArray[Any]]:
        self._rows.sort(key=lambda row: row[:2])
        out: dict[str, NDArray[Any]] = {
            name: np.array([row[k] for row in self._rows], kind)
            for k, (name, kind) in enumerate(zip(self.NAMES, self.TYPES, strict=True))
        }
        out["world"] += first
        return out


class _Transitions:
    """A row for each action, those of one world side by side."""

    NAMES = ("episode", "observation", "action", "reward", "terminated", "truncated")

    def __init__(self) -> None:
        self._steps: list[tuple[NDArray[Any], ...]] = []

    def add(self, *of_a_step: Any) -> None:
        self._steps.append(tuple(np.array(x) for x in of_a_step))

    def columns(self, first: int) -> dict[str, NDArray[Any]]:
        count = len(self._steps[0][0])
        out: dict[str, NDArray[Any]] = {
            "world": np.repeat(first + np.arange(count), len(self._steps))
        }
        for name, x in zip(self.NAMES, zip(*self._steps, strict=True), strict=True):
            stacked = np.stack(x, axis=1)
            out[name] = stacked.reshape(-1, *stacked.shape[2:])
        return out
