"""An episode as an HTML page."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym

from ..record import Recorder
from ..replay import write_replay
from .one_env import OneEnv

__all__ = ["watch"]


def watch(
    env: gym.Env[Any, Any],
    policy: Callable[[Any], Any],
    path: str | os.PathLike[str],
    *,
    seed: int | None = None,
    steps: int | None = None,
    title: str = "",
    fps: float = 40.0,
) -> Path:
    """One episode of an environment of stiction, written as a page that opens without a network.

        env = gymnasium.make("stiction/Solo12Velocity-v0")
        watch(env, Policy.load(SOLO12_TROT), "trot.html", seed=0)

    What lies between two control steps is a Simulator's, from the state and the controls of the
    first: contacts and certificate are those of the batch. Forces that a task applies by other ways
    (the medium of Swimmer) are seen in every control step, not between two.

    Args:
        env: what `gymnasium.make` made, with wrappers or without.
        policy: an action from an observation.
        path: of the page.
        seed: of the episode, as `env.reset` takes it.
        steps: control steps at most; None: to the end of the episode.
        title: heading of the page; the scene's name if empty.
        fps: frames per second of simulated time [1/s].

    Returns:
        The path.

    Raises:
        TypeError: `env` is no environment of stiction.
        ValueError: there is no folder for `path`.
    """
    one = getattr(env, "unwrapped", None)
    if not isinstance(one, OneEnv):
        raise TypeError(
            f"env = {env!r}: must be gymnasium.make of an id that begins with stiction/"
        )
    batch, substeps = one.worlds.batch, one.worlds.substeps
    observation, _ = env.reset(seed=seed)
    simulator = batch.simulator(0)
    recorder = Recorder(simulator, title=title, fps=fps)
    recorder.capture(batch.state(0))
    taken, ended = 0, False
    while not ended and (steps is None or taken < steps):
        state = batch.state(0)
        observation, _, fell, late, _ = env.step(policy(observation))
        control = batch.control(0)
        for _ in range(substeps):
            simulator.step(state, control)
            recorder.after_step(state)
        taken, ended = taken + 1, fell or late
    return write_replay(path, recorder.replay())
