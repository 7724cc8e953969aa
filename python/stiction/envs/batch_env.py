"""Gymnasium's vector interface over a Batch."""

from __future__ import annotations

from typing import Any, NoReturn

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from .. import _stiction, counted_random
from ..batch import Batch
from ..batch_arguments import count
from ..given_array import given_seed

__all__ = ["NO_PICTURES", "BatchEnv"]

NO_PICTURES = "no render(): stiction.envs.watch(env, policy, path) writes an episode as a page"

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Observations = NDArray[np.floating[Any]]
Bools = NDArray[np.bool_]


class BatchEnv(VectorEnv[Observations, Singles, Any]):
    """N worlds of one task, as a `gymnasium.vector.VectorEnv`.

    A task gives the Batch and overrides `_start`, `_act`, `_observe`, `_reward` and `_ended`, each
    on arrays of all worlds. `_act` follows from the actions alone: where episodes begin it is asked
    once more, with actions of 0 there, for what delays remember. What is random in world w and its
    k-th episode follows from the seed, w and k alone: the same on any number of worlds and threads.

    Episodes end by `terminated` (what the task calls a failure, or a step that is not finite) or
    `truncated` (after `episode_steps`). Autoreset as Gymnasium names it, `metadata`:

    - "SameStep" (the default): the observation is the first of the next episode;
      `info["final_obs"]` (N, m) has the last one of those that ended, `info["_final_obs"]` which;
      `info["final_info"]` what `info` would have said of them.
    - "NextStep": the next call takes no step in that world, its reward is 0.
    - "Disabled": `reset(options={"reset_mask": mask})` chooses the worlds.

    Args:
        batch: its worlds; `step` takes `substeps` steps of it.
        substeps: per action.
        observation_size, action_size: numbers of one world.
        action_limit: actions are in [-action_limit, action_limit].
        dtype: of observations.
        episode_steps: after which an episode is truncated.
        autoreset: one of Gymnasium's modes.

    Raises:
        TypeError, ValueError: a count is no integer, or is not positive; another mode.
    """

    def __init__(
        self,
        batch: Batch,
        *,
        substeps: int,
        observation_size: int,
        action_size: int,
        episode_steps: int,
        autoreset: str = "SameStep",
        action_limit: float = 1.0,
        dtype: type[np.floating[Any]] = np.float32,
    ) -> None:
        self.batch = batch
        self.num_envs = batch.num_worlds
        self.substeps = count("substeps", substeps, least=1)
        self.episode_steps = count("episode_steps", episode_steps, least=1)
        self._observation_size, self._dtype = observation_size, dtype
        self.action_limit = action_limit
        self.autoreset = _given_mode(autoreset)
        self.metadata = {"autoreset_mode": self.autoreset, "render_modes": []}
        self.single_observation_space = gym.spaces.Box(-np.inf, np.inf, (observation_size,), dtype)
        self.single_action_space = gym.spaces.Box(
            -action_limit, action_limit, (action_size,), np.float32
        )
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self.seed = 0
        self.episode = np.full(self.num_envs, -1)  # (N,) episodes begun, less one
        self.steps = np.zeros(self.num_envs, np.int64)  # (N,) of this episode
        self.action = np.zeros((self.num_envs, action_size))
        self._first_q = np.zeros_like(batch.q)
        self._first_v = np.zeros_like(batch.v)
        self._waiting = np.zeros(self.num_envs, bool)  # for the reset of "NextStep"
        self._begun = False

    @property
    def control_dt(self) -> float:
        """Of one action [s]."""
        return self.substeps * self.batch.settings.dt

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observations, dict[str, Any]]:
        """All worlds, or those of `options["reset_mask"]` (N,) bool, at the start of an episode. A
        seed is of all worlds, and begins the count of episodes anew.

        Raises:
            TypeError, ValueError: before anything changes: the seed is no integer or negative, the
                mask does not fit or leaves worlds out where there is a seed or was no reset() yet,
                there is another option.
        """
        mask = _given_mask(options, self.num_envs)
        if seed is not None:
            seed = given_seed(seed)
        if not mask.all():
            if not self._begun:
                raise ValueError("reset_mask leaves worlds out: reset() all of them first")
            if seed is not None:
                raise ValueError(
                    f"seed = {seed} with a reset_mask that leaves worlds out: a seed is of all "
                    "worlds; reset() all of them, or these without a seed"
                )
        if seed is not None:
            self.seed = seed
            self.episode[:] = -1
        self._restart(mask)
        self._begun = True
        info: dict[str, Any] = {}
        _tell(info, self._first_info(), mask)
        return self._observation(), info

    def step(self, actions: Singles) -> tuple[Observations, Floats, Bools, Bools, dict[str, Any]]:
        """One action of every world.

        Args:
            actions: (N, m), cut to the range of the action space.

        Returns:
            Observations, rewards, terminated, truncated, info.

        Raises:
            ValueError: wrong shape, a number that is not finite, reset() was never called.
            TypeError: no real numbers.
        """
        waiting = self._waiting
        some_wait = bool(waiting.any())
        began = waiting.copy()
        self.act(actions)
        self._advance(~waiting if some_wait else None)
        reward, fell = self._judge()
        told = {key: np.array(values) for key, values in self._info().items()}
        terminated, truncated, ended = (np.empty(self.num_envs, bool) for _ in range(3))
        num_ended = _stiction._end_episodes(
            self.batch, self._counts(), self.episode_steps, fell, reward,
            (terminated, truncated, ended),
        )  # fmt: skip
        if some_wait:
            self._restart(began)
        info: dict[str, Any] = {}
        if self.autoreset is AutoresetMode.NEXT_STEP:
            self._waiting = ended
        observation = self._observation()
        stepped = ~began
        if self.autoreset is AutoresetMode.SAME_STEP and num_ended > 0:
            info = {"final_obs": observation.copy(), "_final_obs": ended}
            if told:
                info |= {"final_info": {}, "_final_info": ended}
                _tell(info["final_info"], told, ended)
            self._restart(ended)
            self._observe_rows(ended, observation)
            began, stepped = ended, ~ended
        _tell(info, told, stepped)
        _tell(info, self._first_info(), began)
        return observation, reward, terminated, truncated, info

    def act(self, actions: Singles) -> None:
        """The first half of step() for a loop of one's own: actions into the controls of the batch,
        one more step of the episodes that do not wait for a reset; no step is taken."""
        array = self._checked(actions)
        bad = _stiction._take_actions(self.batch, self._counts(), array, self.action_limit)
        if bad >= 0:
            world, entry = divmod(bad, array.shape[1])
            raise ValueError(f"actions[{world}, {entry}] = {array[world, entry]}: must be finite")
        self._act(self.action)

    def observe(self) -> Observations:
        """(N, m) what is seen now."""
        return self._observation()

    def render(self) -> NoReturn:
        """There are no pictures; `stiction.envs.watch` writes a page."""
        raise NotImplementedError(NO_PICTURES)

    def uniform(self, mask: Bools, count: int, stream: int = 0) -> Floats:
        """(worlds of the mask, count) random numbers in [0, 1) of their present episodes."""
        worlds = np.flatnonzero(mask)
        return counted_random.uniform(self.seed, worlds, self.episode[worlds], count, stream)

    # What a task is.

    def _start(self, mask: Bools) -> tuple[Floats, Floats]:
        """q (worlds of the mask, nq) and v where episodes begin."""
        raise NotImplementedError

    def _act(self, action: Floats) -> None:
        """Actions into the controls of the batch."""
        raise NotImplementedError

    def _advance(self, mask: Bools | None) -> None:
        """The steps of an action, of the worlds of the mask; None: of all."""
        self.batch.step(self.substeps, mask)

    def _observe(self, out: Observations) -> None:
        raise NotImplementedError

    def _reward(self) -> Floats:
        raise NotImplementedError

    def _ended(self) -> Bools:
        raise NotImplementedError

    def _info(self) -> dict[str, Floats]:
        """What `info` tells of the last action, arrays (N, ...); after `_judge`."""
        return {}

    def _first_info(self) -> dict[str, Floats]:
        """What it tells of the first state of an episode."""
        return {}

    # Of the same, what a task with kernels of its own overrides instead.

    def _start_rows(self, mask: Bools, q: Floats, v: Floats) -> None:
        """Writes _start() to the rows of the mask."""
        q[mask], v[mask] = self._start(mask)

    def _observe_rows(self, mask: Bools | None, out: Observations) -> None:
        """Writes the rows of the mask, None: all; others may be written as they are."""
        self._observe(out)

    def _judge(self) -> tuple[Floats, Bools]:
        """Rewards, a new array, and which worlds failed."""
        ended = np.ascontiguousarray(self._ended(), bool)
        return np.array(self._reward(), np.float64), ended

    def _restart(self, mask: Bools) -> None:
        _stiction._begin_episodes(self.batch, self._counts(), mask)
        self._act(self.action)  # what delays take for always held
        self._start_rows(mask, self._first_q, self._first_v)
        self.batch._reset(mask.view(np.uint8), self._first_q, self._first_v)

    def _counts(self) -> tuple[Any, ...]:
        return self.action, self.steps, self.episode, self._waiting

    def _observation(self) -> Observations:
        out = np.empty((self.num_envs, self._observation_size), self._dtype)
        self._observe_rows(None, out)
        return out

    def _checked(self, actions: Singles) -> NDArray[np.floating[Any]]:
        if not self._begun:
            raise ValueError("step() before reset()")
        array: NDArray[Any] = np.asarray(actions)
        if array.shape != self.action.shape:
            raise ValueError(f"actions has shape {array.shape}: must be {self.action.shape}")
        if array.dtype.kind not in "fiub":
            raise TypeError(f"actions has dtype {array.dtype}: must be real numbers")
        single = array.dtype == np.float32
        return np.ascontiguousarray(array, np.float32 if single else np.float64)


def _tell(info: dict[str, Any], values: dict[str, Floats], mask: Bools) -> None:
    """Into a vector environment's `info`: rows of the mask, others stay or are 0."""
    if not values or not mask.any():
        return
    for key, rows in values.items():
        there = info.setdefault(f"_{key}", np.zeros(len(mask), bool))
        info.setdefault(key, np.zeros_like(rows))[mask] = rows[mask]
        there |= mask


def _given_mode(autoreset: str) -> AutoresetMode:
    known = [mode.value for mode in AutoresetMode]
    if autoreset not in (*known, *AutoresetMode):
        raise ValueError(f"autoreset = {autoreset!r}: must be one of {', '.join(known)}")
    return AutoresetMode(autoreset)


def _given_mask(options: dict[str, Any] | None, worlds: int) -> Bools:
    if options is not None and not isinstance(options, dict):
        raise TypeError(f"options = {options!r}: must be a dictionary")
    for name in options or {}:
        if name != "reset_mask":
            raise ValueError(f"options has {name!r}: there is only 'reset_mask'")
    if not options:
        return np.ones(worlds, bool)
    mask = np.ascontiguousarray(options["reset_mask"])
    if mask.dtype != np.bool_ or mask.shape != (worlds,):
        raise ValueError(
            f"reset_mask has shape {mask.shape} and dtype {mask.dtype}: must be ({worlds},) of bool"
        )
    return mask
