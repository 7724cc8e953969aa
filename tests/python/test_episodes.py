"""Where the worlds of an environment begin and end their episodes."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import pytest
import stiction.envs

TASKS = ["CartPole", "Solo12Velocity", "Go2Velocity", "Solo12Rough", "Go2Rough"]


def worlds_of(task: str, n: int, **settings: Any) -> Any:
    return gymnasium.make_vec(f"stiction/{task}-v0", num_envs=n, **settings).unwrapped


def actions(env: Any, rng: np.random.Generator) -> np.ndarray:
    return rng.uniform(-1.0, 1.0, env.action_space.shape).astype(np.float32)


def knocked_over(env: Any, world: int) -> None:
    """So that the task says its episode has ended."""
    env.batch.q[world] = [2.5, 1.0, 0.0]


@pytest.mark.parametrize("task", TASKS)
def test_every_world_starts_where_its_number_says(task: str) -> None:
    many, few = worlds_of(task, 9), worlds_of(task, 4)
    a, b = many.reset(seed=5)[0], few.reset(seed=5)[0]
    assert np.array_equal(a[:4], b)
    assert np.array_equal(many.batch.q[:4], few.batch.q)
    assert len(np.unique(a, axis=0)) == 9


def test_in_the_next_step_only_those_that_ended_begin_again() -> None:
    env, beside = (worlds_of("CartPole", 5, autoreset=mode) for mode in ("NextStep", "Disabled"))
    rng = np.random.default_rng(4)
    for e in (env, beside):
        e.reset(seed=0)
    for k in range(6):
        if k == 2:
            knocked_over(env, 3)
            knocked_over(beside, 3)
        action = actions(env, rng)
        seen, _, terminated, _, _ = env.step(action)
        wanted = beside.step(action)[0]
        assert terminated.tolist() == [k == 2 and w == 3 for w in range(5)]
        others = np.arange(5) != 3
        assert np.array_equal(seen[others], wanted[others])
        assert env.steps[others].tolist() == [k + 1] * 4
        assert env.episode.tolist() == [0, 0, 0, int(k > 2), 0]
        assert env.steps[3] == (k + 1 if k <= 2 else k - 3)
    assert not np.array_equal(seen[3], wanted[3])


def test_the_last_observation_of_an_episode_is_told() -> None:
    env, beside = (worlds_of("CartPole", 5, autoreset=mode) for mode in ("SameStep", "Disabled"))
    rng = np.random.default_rng(4)
    for e in (env, beside):
        e.reset(seed=0)
    for k in range(3):
        if k == 2:
            knocked_over(env, 1)
            knocked_over(beside, 1)
        action = actions(env, rng)
        seen, _, _, _, info = env.step(action)
        wanted = beside.step(action)[0]
        assert ("final_obs" in info) == (k == 2)
    ended = np.arange(5) == 1
    assert info["_final_obs"].tolist() == ended.tolist()
    assert np.array_equal(info["final_obs"][ended], wanted[ended])
    assert np.abs(wanted[1, 0]) > 2.4 and np.abs(seen[1, 0]) <= 0.05
    assert np.array_equal(seen[~ended], wanted[~ended])


def test_the_cart_is_pushed_by_its_action() -> None:
    env = worlds_of("CartPole", 3)
    env.reset(seed=0)
    env.batch.q[:] = [0.0, 1.0, 0.0]
    env.batch.v[:] = 0.0
    env.step(np.array([[0.0], [0.5], [-1.0]], np.float32))
    # From rest and upright x'' = F / (M + m / 4) [m/s^2] of a rod; F = 10 N of an action of 1.
    expected = np.array([0.0, 5.0, -10.0]) / 1.025 * env.control_dt
    assert env.batch.v[:, 0] == pytest.approx(expected, rel=1e-2)


@pytest.mark.parametrize("task", ["CartPole", "Solo12Velocity"])
def test_delays_do_not_remember_the_episode_before(task: str) -> None:
    """A world whose commands come late begins as if it had always been told to do nothing."""
    runs = []
    for busy in (False, True):
        env = worlds_of(task, 3, autoreset="Disabled")
        env.batch.assign("command_delay", 12)
        env.reset(seed=1)
        if busy:
            for _ in range(5):
                env.step(np.ones(env.action.shape, np.float32))
            env.reset(seed=1)
        runs.append(np.array([env.step(np.zeros_like(env.action))[0] for _ in range(5)]))
    assert np.array_equal(*runs)


def test_a_refused_reset_changes_nothing() -> None:
    env = worlds_of("CartPole", 4, autoreset="Disabled")
    some = np.array([True, False, True, False])
    refusals: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"seed": 3, "options": {"reset_mask": some}}, ValueError, "reset_mask"),
        ({"options": {"reset_mask": np.ones(3, bool)}}, ValueError, r"reset_mask has shape \(3,\)"),
        ({"options": {"reset": some}}, ValueError, "options has 'reset': there is only"),
        ({"options": [1]}, TypeError, r"options = \[1\]: must be a dictionary"),
        ({"seed": 1.5}, TypeError, "seed = 1.5: must be an integer"),
        ({"seed": "a"}, TypeError, "seed = 'a': must be an integer"),
        ({"seed": [1, 2, 3, 4]}, TypeError, "seed = .*: must be an integer"),
        ({"seed": -1}, ValueError, r"seed = -1: must be in \[0, 2\^64\)"),
        ({"seed": 2**64}, ValueError, r"must be in \[0, 2\^64\)"),
    ]
    first = env.batch.q.copy()
    with pytest.raises(ValueError, match=r"reset\(\) all of them first"):
        env.reset(options={"reset_mask": some})
    assert np.array_equal(env.batch.q, first) and (env.episode == -1).all()
    env.reset(seed=7)
    env.step(np.ones((4, 1), np.float32))
    before = (env.seed, env.episode.copy(), env.steps.copy(), env.batch.q.copy())
    for arguments, kind, words in refusals:
        with pytest.raises(kind, match=words):
            env.reset(**arguments)
        now = (env.seed, env.episode, env.steps, env.batch.q)
        assert all(np.array_equal(a, b) for a, b in zip(now, before, strict=True))
    env.reset(options={"reset_mask": some})
    assert env.episode.tolist() == [1, 0, 1, 0]


def test_numbers_that_are_none_are_named() -> None:
    env = worlds_of("CartPole", 2)
    env.reset(seed=0)
    for bad in (np.zeros((2, 1), complex), np.array([[None], [None]])):
        with pytest.raises(TypeError, match=r"actions has dtype .*: must be real numbers"):
            env.step(bad)
    with pytest.raises(ValueError, match="episode_steps = 0: must be >= 1"):
        stiction.envs.CartPole(2, episode_steps=0)
    with pytest.raises(TypeError, match=r"episode_steps = 2\.5: must be an integer"):
        stiction.envs.CartPole(2, episode_steps=2.5)
    with pytest.raises(ValueError, match=r"episode_steps = .*: must be >= 1 and < 2\^31"):
        stiction.envs.CartPole(2, episode_steps=2**63)
    with pytest.raises(TypeError, match="seed = 'a': must be an integer"):
        stiction.envs.RoughGround(seed="a")
    assert stiction.envs.RoughGround(seed=np.int64(3)) == stiction.envs.RoughGround(seed=3)
