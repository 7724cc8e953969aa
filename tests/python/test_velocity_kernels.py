"""The kernels of Solo12Velocity beside their formulas in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import velocity_reference as reference
from stiction.counted_random import uniform
from stiction.envs import Solo12Velocity


def test_random_numbers_are_those_of_numpy_bit_by_bit() -> None:
    rng = np.random.default_rng(0)
    for seed in (0, 7, 2**32 + 5, 2**64 - 1):
        worlds, episodes = rng.integers(0, 2**31, (2, 300))
        for count, stream in ((1, 0), (2, 1), (17, 0), (18, 255)):
            got = uniform(seed, worlds, episodes, count, stream)
            expected = reference.uniform(seed, worlds, episodes, count, stream)
            assert got.shape == (300, count)
            assert got.tobytes() == np.ascontiguousarray(expected).tobytes()
    assert uniform(1, np.zeros(0, np.int64), np.zeros(0, np.int64), 3).shape == (0, 3)


@pytest.mark.parametrize(("n", "threads"), [(1, 1), (7, 1), (64, 3)])
def test_observations_rewards_and_ends_are_those_of_numpy(n: int, threads: int) -> None:
    env = Solo12Velocity(n, threads=threads, autoreset="Disabled", episode_steps=1000)
    env.reset(seed=3)
    rng = np.random.default_rng(4)
    fallen = touching = 0
    for _ in range(120):
        before = env.action.copy()
        actions = rng.uniform(-1.2, 1.2, (n, 12)).astype(np.float32)
        seen, reward, terminated, _, _ = env.step(actions)
        assert seen.dtype == np.float32
        assert np.array_equal(seen, reference.observation(env).astype(np.float32)) or (
            np.abs(seen - reference.observation(env)).max() < 1e-6
        )
        assert np.abs(reward - reference.reward(env, before)).max() < 1e-12
        assert np.array_equal(terminated, reference.ended(env))
        assert np.array_equal(env._before, env.action)
        fallen, touching = fallen + terminated.sum(), touching + env.touching().mean()
    assert 0 < touching < 120
    assert n < 64 or fallen > 0  # ends were seen


def test_starts_are_those_of_numpy_and_of_the_masked_worlds_alone() -> None:
    env = Solo12Velocity(9, autoreset="Disabled")
    env.reset(seed=2**40 + 1)
    mask = np.arange(9) % 2 == 1
    env.step(np.ones((9, 12), np.float32))
    kept = env.batch.q[~mask].copy(), env.command[~mask].copy(), env._before[~mask].copy()
    env.reset(options={"reset_mask": mask})
    worlds = np.flatnonzero(mask)
    command, phase, q = reference.start(env, worlds)
    assert np.array_equal(env.command[mask], command)
    assert np.array_equal(env._phase[mask], phase)
    assert np.abs(env.batch.q[mask] - q).max() < 1e-14
    assert (env.batch.v[mask] == 0.0).all() and (env._before[mask] == 0.0).all()
    now = env.batch.q[~mask], env.command[~mask], env._before[~mask]
    for a, b in zip(kept, now, strict=True):
        assert np.array_equal(a, b)


def test_last_observation_of_an_episode_is_before_its_reset() -> None:
    same, off = (
        Solo12Velocity(6, autoreset=mode, episode_steps=4) for mode in ("SameStep", "Disabled")
    )
    same.reset(seed=1), off.reset(seed=1)
    same.steps[:3] = off.steps[:3] = 2  # these end two steps before the others
    rng = np.random.default_rng(5)
    for _ in range(2):
        actions = rng.uniform(-1, 1, (6, 12)).astype(np.float32)
        seen, _, _, truncated, info = same.step(actions)
        last = off.step(actions)[0]
    assert truncated.tolist() == [True] * 3 + [False] * 3
    assert np.array_equal(info["final_obs"], last)
    assert np.array_equal(seen[3:], last[3:])
    assert (seen[:3] != last[:3]).any(axis=1).all()
    assert np.abs(seen - reference.observation(same)).max() < 1e-6


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("autoreset", ["SameStep", "NextStep"])
def test_counts_of_episodes_are_those_of_numpy(autoreset: str, dtype: type) -> None:
    """Actions, targets, ends, rewards of frozen and waiting worlds, randomisation: bit by bit."""
    n = 21
    env = Solo12Velocity(n, threads=2, autoreset=autoreset, episode_steps=12, randomise=True)
    env.reset(seed=9)
    rng = np.random.default_rng(1)
    steps, episode, waiting = np.zeros(n, int), np.zeros(n, int), np.zeros(n, bool)
    seen = np.zeros(3, int)
    env.steps[::2] = steps[::2] = 4
    for k in range(40):
        if k in (7, 30):
            env.batch.v[k % n, 2] = np.nan  # freezes
        given = rng.uniform(-1.3, 1.3, (n, 12)).astype(dtype)
        env.act(given)  # once more by step()
        cut, target = reference.targets(env, given)
        assert env.action.tobytes() == cut.tobytes()
        assert env.batch.position_target[:, 6:].tobytes() == target.tobytes()
        env.steps[:] = steps
        _, reward, terminated, truncated, _ = env.step(given)
        frozen = np.isin(np.arange(n), [k % n] if k in (7, 30) else [])
        frozen &= ~waiting
        steps += ~waiting
        assert not (terminated & truncated).any() and terminated[frozen].all()
        assert not terminated[waiting].any() and (reward[frozen | waiting] == 0.0).all()
        assert (reward[~(frozen | waiting)] != 0.0).all()
        assert np.array_equal(truncated, (steps >= 12) & ~waiting & ~terminated)
        ended = terminated | truncated
        begun = ended if autoreset == "SameStep" else waiting
        steps[begun], episode = 0, episode + begun
        waiting = ended if autoreset == "NextStep" else waiting
        assert np.array_equal(env.steps, steps) and np.array_equal(env.episode, episode)
        assert (env.action[begun] == 0.0).all() and (env.action[~begun] == cut[~begun]).all()
        seen += [terminated.sum(), truncated.sum(), waiting.sum()]
        friction, mass = reference.varied(env, np.arange(n))
        assert env.batch.values("mass_scale").tobytes() == mass.tobytes()
        assert (env.batch.values("friction") == friction[:, None]).all()
    assert seen[0] >= 2 and seen[1] > 20 and (seen[2] > 20) == (autoreset == "NextStep")


def test_an_action_that_is_not_finite_changes_nothing() -> None:
    env = Solo12Velocity(40, threads=3)
    env.reset(seed=0)
    kept = [x.copy() for x in (env.action, env.steps, env.batch.position_target)]
    for dtype in (np.float32, np.float64):
        for bad in (np.nan, np.inf):
            given = np.full((40, 12), 0.5, dtype)
            given[35, 2] = given[17, 5] = bad
            with pytest.raises(ValueError, match=r"actions\[17, 5\] = (nan|inf): must be finite"):
                env.step(given)
    now = (env.action, env.steps, env.batch.position_target)
    assert all(np.array_equal(a, b) for a, b in zip(kept, now, strict=True))
    env.step(np.full((40, 24), 0.5)[:, ::2].tolist())  # any array of that shape


def test_arrays_that_do_not_fit_are_named() -> None:
    env = Solo12Velocity(3)
    env.reset(seed=0)
    wrong: Any
    for name, wrong in (("command", np.zeros((3, 2))), ("steps", np.zeros(3))):
        kept = getattr(env, name)
        setattr(env, name, wrong)
        with pytest.raises(ValueError, match=rf"{name}: must be a contiguous .*{name}\[:\] = "):
            env.observe()
        setattr(env, name, kept)
    env.observe()
