"""The scripts of examples/learning without torch: their rollouts, and the interface of others."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import gymnasium
import numpy as np
import pytest
import sb3_stand_in
import stiction.envs

EXAMPLES = Path(__file__).parents[2] / "examples" / "learning"
SMOKE = sorted(name for name in gymnasium.registry if name.startswith("stiction/"))


def script(name: str) -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    yield module
    del sys.modules[name]


@pytest.fixture(scope="module")
def ppo() -> Iterator[ModuleType]:
    yield from script("ppo")


@pytest.fixture(scope="module")
def sb3() -> Iterator[ModuleType]:
    with sb3_stand_in.stood_in():
        yield from script("sb3")


def a_policy(observations: int, actions: int, seed: int) -> stiction.envs.Policy:
    """Of random weights, in NumPy."""
    rng = np.random.default_rng(seed)
    sizes = [(32, observations), (actions, 32)]
    layers = [(rng.normal(0, 0.3, s).astype("f4"), np.zeros(s[0], "f4")) for s in sizes]
    return stiction.envs.Policy(layers, np.zeros(observations, "f4"), np.ones(observations, "f4"))


@pytest.mark.parametrize("task", SMOKE)
def test_rollouts_of_every_task_with_a_policy_in_numpy(task: str, ppo: ModuleType) -> None:
    runs = []
    for threads in (1, 2):
        env = gymnasium.make_vec(task, num_envs=6, threads=threads, episode_steps=12)
        observation, _ = env.reset(seed=4)
        size, actions = observation.shape[1], env.single_action_space.shape[0]
        policy = a_policy(size, actions, 7)
        moments, episodes = ppo.Moments(size), ppo.Episodes(np.zeros(6), np.zeros(6, np.int64))

        def act(x: np.ndarray, policy: stiction.envs.Policy = policy) -> tuple[np.ndarray, ...]:
            value = x.sum(axis=1)
            return policy(x.astype(np.float32)), np.zeros(len(x), "f4"), value

        rollout, last = ppo.collect(env, observation, act, moments, episodes, 30)
        assert np.isfinite(rollout.rewards).all() and np.isfinite(last).all()
        assert rollout.observations.shape == (30, 6, size)
        assert rollout.actions.shape == (30, 6, actions)
        assert (rollout.done.sum(axis=0) >= 2).all()  # twelve steps at most
        assert max(length for _, length in episodes.ended) <= 12
        assert np.isfinite(ppo.advantages(rollout)).all()
        runs.append((rollout.observations, rollout.rewards, rollout.done, last))
    for a, b in zip(*runs, strict=True):
        assert np.array_equal(a, b)


def test_worlds_of_sb3_give_what_the_environment_gives(sb3: ModuleType) -> None:
    make = lambda: gymnasium.make_vec("stiction/CartPole-v0", num_envs=5, episode_steps=4)  # noqa: E731
    env, other = sb3.Worlds(make()), make()
    assert isinstance(env, sb3_stand_in.VecEnv) and env.num_envs == 5
    assert env.observation_space.shape == (5,) and env.action_space.shape == (1,)
    env.seed(11)
    first = env.reset()
    expected, _ = other.reset(seed=11)
    assert np.array_equal(first, expected) and first.dtype == np.float32
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(9):
        actions = rng.uniform(-1.0, 1.0, (5, 1)).astype(np.float32)
        seen, reward, done, infos = env.step(actions)
        expected, gain, terminated, truncated, info = other.step(actions)
        assert np.array_equal(seen, expected) and np.array_equal(reward, gain.astype(np.float32))
        assert reward.dtype == np.float32 and np.array_equal(done, terminated | truncated)
        for world in range(5):
            if done[world]:
                last = infos[world]["terminal_observation"]
                assert np.array_equal(last, info["final_obs"][world])
                assert infos[world]["TimeLimit.truncated"] is bool(truncated[world])
                assert not np.array_equal(last, seen[world])
            else:
                assert infos[world] == {}
        ended += int(done.sum())
    assert ended == 10
    assert not np.array_equal(env.reset(), first)  # without a seed episodes go on


def test_worlds_of_sb3_have_attributes_together(sb3: ModuleType) -> None:
    env = sb3.Worlds(gymnasium.make_vec("stiction/CartPole-v0", num_envs=3))
    assert env.get_attr("episode_steps") == [500] * 3
    assert env.get_attr("episode_steps", indices=[0, 2]) == [500] * 2
    assert env.get_attr("episode_steps", indices=1) == [500]
    env.set_attr("episode_steps", 7)
    assert env.env.episode_steps == 7
    env.reset()
    assert [x.shape for x in env.env_method("observe")] == [(3, 5)] * 3
    assert env.env_is_wrapped(gymnasium.Wrapper) == [False] * 3
    with pytest.raises(ValueError, match=r"indices = \[1\]: worlds have no attributes of"):
        env.set_attr("episode_steps", 8, indices=[1])
    with pytest.raises(ValueError, match="autoreset is NextStep: must be SameStep"):
        sb3.Worlds(gymnasium.make_vec("stiction/CartPole-v0", num_envs=3, autoreset="NextStep"))
    env.close()
