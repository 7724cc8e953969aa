"""examples/learning/two_engines.py: both engines are asked the same, and judged alike."""

import importlib.util
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import stiction.envs

EXAMPLES = Path(__file__).parents[2] / "examples" / "learning"


@pytest.fixture(scope="module")
def two_engines():
    pytest.importorskip("mujoco")
    for name in ("ppo", "two_engines"):  # dataclasses and imports look them up
        spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    yield sys.modules["two_engines"]
    for name in ("ppo", "two_engines"):
        del sys.modules[name]


@pytest.mark.parametrize("task", ["HalfCheetah", "Hopper", "Ant"])
def test_both_engines_judge_the_same_policy(two_engines, task):
    """Observations and actions have the same sizes; a policy that does nothing has returns that
    are those of a loop by hand on Gymnasium's own task."""
    envs = {engine: two_engines.worlds_of(engine, task, 2, 1) for engine in two_engines.ENGINES}
    sizes = {name: env.reset(seed=0)[0].shape[1] for name, env in envs.items()}
    assert sizes["stiction"] == sizes["mujoco"]
    actions = envs["mujoco"].single_action_space.shape[0]
    assert envs["stiction"].single_action_space.shape == (actions,)
    size = sizes["mujoco"]
    idle = stiction.envs.Policy(
        [(np.zeros((actions, size), "f4"), np.zeros(actions, "f4"))],
        np.zeros(size, "f4"),
        np.ones(size, "f4"),
    )
    found = {name: two_engines.judge(env, idle, 30, seed=3) for name, env in envs.items()}
    one = gymnasium.make(f"{task}-v5", **two_engines.TASKS[task])
    returns, lengths = [], []
    for seed in (3, 4):
        one.reset(seed=seed)
        total, ended, steps = 0.0, False, 0
        while not ended and steps < 30:
            _, reward, terminated, truncated, _ = one.step(np.zeros(actions, "f4"))
            total, ended, steps = total + reward, terminated or truncated, steps + 1
        returns.append(total)
        lengths.append(steps)
    assert found["mujoco"]["return"] == pytest.approx(np.mean(returns), abs=1e-9)
    assert found["mujoco"]["length"] == np.mean(lengths)
    assert found["stiction"]["episodes"] == 2 and np.isfinite(found["stiction"]["return"])
    # Starts are drawn in another way.
    assert found["stiction"]["return"] == pytest.approx(np.mean(returns), abs=0.2 * 30)


def test_an_episode_that_ends_in_mujoco_keeps_its_last_observation(two_engines):
    env = two_engines.MujocoWorlds("Hopper", 1)
    env.reset(seed=0)
    for _ in range(200):
        observation, _, terminated, _, info = env.step(np.ones((1, 3), "f4"))
        if terminated[0]:
            break
    assert terminated[0]
    assert abs(observation[0, 0] - 1.25) < 0.01  # the next episode's first height [m]
    assert abs(info["final_obs"][0, 0] - observation[0, 0]) > 0.05


def test_tables_of_two_engines(two_engines):
    rows = [
        {"task": "Ant", "learned in": a, "judged in": b, "return": r + seed, "seed": seed}
        for seed in (-1, 1)
        for a, b, r in (
            ("stiction", "stiction", 10.0),
            ("stiction", "mujoco", 20.0),
            ("mujoco", "stiction", 30.0),
            ("mujoco", "mujoco", 40.0),
        )
    ]
    lines = two_engines.table({"rows": rows}).split("\n")
    assert lines[1].split() == ["stiction", "10.0", "±", "1.0", "20.0", "±", "1.0"]
    assert lines[2].split() == ["mujoco", "30.0", "±", "1.0", "40.0", "±", "1.0"]
    with pytest.raises(ValueError, match="'drake', 'Ant': engines are"):
        two_engines.worlds_of("drake", "Ant", 1, 1)
