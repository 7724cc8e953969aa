"""Gymnasium's tasks beside Gymnasium's own, on MuJoCo, at the same states."""

import gymnasium
import mujoco
import numpy as np
import pytest
import stiction.envs
from gymnasium.utils.env_checker import check_env
from stiction.mujoco_layout import from_mujoco_qpos, from_mujoco_qvel

TASKS = ["Ant", "HalfCheetah", "Hopper", "InvertedDoublePendulum", "InvertedPendulum", "Walker2d"]
SETTINGS = {
    "Ant": {"include_cfrc_ext_in_observation": False, "contact_cost_weight": 0.0},
}


def both(task, n=1):
    theirs = gymnasium.make(f"{task}-v5", **SETTINGS.get(task, {})).unwrapped
    ours = getattr(stiction.envs, task)(n, autoreset="Disabled")
    theirs.reset(seed=0)
    ours.reset(seed=0)
    return theirs, ours


def reward_now(task, theirs, before, reward, info, terminated):
    """The reward at the state after the action: where Gymnasium reads positions of bodies and
    sites, these are of the step's last evaluation, up to a substep earlier."""
    data = theirs.data
    if task == "Ant":
        return reward - info["x_velocity"] + (data.qpos[0] - before) / theirs.dt
    if task == "InvertedDoublePendulum":
        mujoco.mj_forward(theirs.model, data)
        x, _, y = data.site_xpos[0]
        return theirs._get_rew(x, y, terminated)[0]
    return reward


def put(ours, world, theirs):
    """MuJoCo's state into a world."""
    scene = ours.batch.scene
    qpos, qvel = theirs.data.qpos.copy(), theirs.data.qvel.copy()
    ours.batch.q[world] = from_mujoco_qpos(scene, qpos)
    ours.batch.v[world] = from_mujoco_qvel(scene, ours.batch.q[world], qvel)


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.filterwarnings("ignore:.*Box observation space", "ignore:.*Box action spaces")
def test_gymnasium_accepts_the_task(task):
    check_env(gymnasium.make(f"stiction/{task}-v5").unwrapped, skip_render_check=True)


@pytest.mark.parametrize("task", TASKS)
def test_spaces_and_time_are_gymnasiums(task):
    theirs, ours = both(task)
    assert ours.single_observation_space == theirs.observation_space
    assert ours.single_action_space == theirs.action_space
    assert ours.control_dt == pytest.approx(theirs.dt, rel=1e-12)
    assert ours.episode_steps == gymnasium.spec(f"{task}-v5").max_episode_steps


@pytest.mark.parametrize("task", TASKS)
def test_observation_reward_and_end_are_gymnasiums(task):
    """Along MuJoCo's motion, whose states are put into a world before and after each action."""
    theirs, ours = both(task)
    rng = np.random.default_rng(1)
    ends, steps = 0, 0
    for _ in range(300):
        if rng.uniform() < 0.05:
            theirs.reset()
        put(ours, 0, theirs)
        free = rng.uniform() < 0.9
        action = (theirs.action_space.sample() if free else theirs.action_space.high).astype(float)
        ours.action[:] = action
        ours._act(ours.action)
        before = theirs.data.qpos[0]
        observation, reward, terminated, _, info = theirs.step(action)
        put(ours, 0, theirs)
        out = ours._observation()[0]
        ends += terminated
        steps += 1
        if task == "InvertedDoublePendulum":
            out[8] = observation[8]  # said in its docstring
        assert np.abs(out - observation).max() < 1e-9 * (1.0 + np.abs(observation).max())
        assert ours._ended()[0] == terminated
        expected = reward_now(task, theirs, before, reward, info, terminated)
        assert ours._reward()[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        if terminated:
            theirs.reset()
    assert task == "HalfCheetah" or 0 < ends < steps


@pytest.mark.parametrize("task", TASKS)
def test_actions_are_gymnasiums_forces(task):
    theirs, ours = both(task)
    rng = np.random.default_rng(2)
    for _ in range(5):
        action = rng.uniform(-1, 1, theirs.action_space.shape) * theirs.action_space.high
        theirs.data.ctrl[:] = action
        mujoco.mj_forward(theirs.model, theirs.data)
        ours._act(action[None])
        force = theirs.data.qfrc_actuator
        assert np.abs(ours.batch.torque[0] - force).max() < 1e-12 * (1.0 + np.abs(force).max())


@pytest.mark.parametrize("task", TASKS)
def test_noise_at_the_start_is_gymnasiums(task):
    theirs, ours = both(task, 4000)
    assert ours.noise == theirs._reset_noise_scale
    first = 7 if task == "Ant" else 0
    q = ours.batch.q[:, first:] - ours._start_q[first:]
    assert np.abs(q).max() <= ours.noise and np.abs(q).max() > 0.99 * ours.noise
    assert q.std() == pytest.approx(ours.noise / np.sqrt(3.0), rel=0.03)
    deviation = ours.noise if ours.normal_velocity else ours.noise / np.sqrt(3.0)
    assert ours.batch.v.std() == pytest.approx(deviation, rel=0.03)
    assert abs(ours.batch.v.mean()) < 0.03 * deviation
    theirs_v = np.array(
        [theirs.reset_model() is None or theirs.data.qvel.copy() for _ in range(400)]
    )
    assert theirs_v.std() == pytest.approx(deviation, rel=0.1)


@pytest.mark.parametrize("task", TASKS)
def test_random_actions_give_finite_episodes(task):
    ours = getattr(stiction.envs, task)(16, episode_steps=50)
    rng = np.random.default_rng(3)
    observation, _ = ours.reset(seed=0)
    ends = 0
    for _ in range(120):
        action = rng.uniform(-1, 1, ours.action.shape) * ours.limit
        observation, reward, terminated, truncated, _ = ours.step(action)
        ends += (terminated | truncated).sum()
        assert np.isfinite(observation).all() and np.isfinite(reward).all()
        assert not ours.batch.frozen.any()
    assert ends >= 32
