"""Gymnasium's tasks beside Gymnasium's own, on MuJoCo, at the same states."""

import gymnasium
import mujoco
import numpy as np
import pytest
import stiction.envs
from gymnasium.utils.env_checker import check_env
from stiction.mujoco_layout import from_mujoco_qpos, from_mujoco_qvel

TASKS = [
    "Ant",
    "HalfCheetah",
    "Hopper",
    "Humanoid",
    "InvertedDoublePendulum",
    "InvertedPendulum",
    "Pusher",
    "Reacher",
    "Swimmer",
    "Walker2d",
]
ARMS = ("Pusher", "Reacher")
ENDLESS = ("HalfCheetah", "Swimmer", *ARMS)
OLDER = {"x_velocity", "y_velocity", "reward_forward", "reward_contact"}
LATER = {
    "Ant": OLDER,
    "Humanoid": OLDER | {"tendon_length", "tendon_velocity"},
    "InvertedDoublePendulum": {"distance_penalty", "reward_survive"},
    "Reacher": {"reward_dist"},
    "Pusher": {"reward_dist", "reward_near"},
}
"""Entries of info that are of places and contacts a step of MuJoCo's before, and checked apart."""


def both(task, n=1, **settings):
    theirs = gymnasium.make(f"{task}-v5", **settings).unwrapped
    ours = getattr(stiction.envs, task)(n, autoreset="Disabled", **settings)
    theirs.reset(seed=0)
    theirs.action_space.seed(0)
    ours.reset(seed=0)
    return theirs, ours


def reward_now(task, theirs, before, reward, info, terminated, action):
    """The reward at the state after the action: where Gymnasium reads positions of bodies and
    sites, these are of the step's last evaluation, up to a substep earlier."""
    data = theirs.data
    if task == "Ant":
        return reward - info["x_velocity"] + (data.qpos[0] - before) / theirs.dt
    if task == "InvertedDoublePendulum":
        mujoco.mj_forward(theirs.model, data)
        x, _, y = data.site_xpos[0]
        return theirs._get_rew(x, y, terminated)[0]
    if task in ARMS:
        return theirs._get_rew(action)[0]
    if task == "Humanoid":
        return theirs._get_rew((centre(theirs) - before) / theirs.dt, action)[0]
    return reward


def without_contact(task, theirs, observation, reward):
    """Their observation and reward if nothing touched: a state that is put down has no step behind
    it and so no force."""
    if task not in ("Ant", "Humanoid"):
        return observation, reward
    observation = observation.copy()
    observation[-78:] = 0.0
    return observation, reward + theirs.contact_cost


def centre(theirs):
    """x of the centre of mass now."""
    mujoco.mj_kinematics(theirs.model, theirs.data)
    mujoco.mj_comPos(theirs.model, theirs.data)
    masses = theirs.model.body_mass
    return masses @ theirs.data.xipos[:, 0] / masses.sum()


def put(ours, world, theirs):
    """MuJoCo's state into a world."""
    scene = ours.batch.scene
    qpos, qvel = theirs.data.qpos.copy(), theirs.data.qvel.copy()
    mujoco.mj_normalizeQuat(theirs.model, qpos)  # a reset of theirs leaves that to the step
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
        action = theirs.action_space.sample() if free else theirs.action_space.high
        action = np.clip(action.astype(float), -ours.limit, ours.limit)
        ours.action[:] = action
        ours._act(ours.action)
        before = centre(theirs) if task == "Humanoid" else theirs.data.qpos[0]
        observation, reward, terminated, _, info = theirs.step(action)
        put(ours, 0, theirs)
        out = ours._observation()[0]
        ends += terminated
        steps += 1
        expected = reward_now(task, theirs, before, reward, info, terminated, action)
        if task in (*ARMS, "Humanoid"):  # places of bodies as they are now
            mujoco.mj_forward(theirs.model, theirs.data)
            observation = theirs._get_obs()
            expected = reward_now(task, theirs, before, reward, info, terminated, action)
        observation, expected = without_contact(task, theirs, observation, expected)
        if task == "InvertedDoublePendulum":
            out[8] = observation[8]  # said in its docstring
        assert np.abs(out - observation).max() < 1e-9 * (1.0 + np.abs(observation).max())
        assert ours._ended()[0] == terminated
        assert ours._reward()[0] == pytest.approx(expected, rel=1e-9, abs=1e-9)
        told = {key: rows[0] for key, rows in ours._info().items()}
        assert told.keys() == info.keys()
        for key in told.keys() - LATER.get(task, set()):
            assert told[key] == pytest.approx(info[key], rel=1e-9, abs=1e-9), key
        if terminated:
            theirs.reset()
    assert task in ENDLESS or 0 < ends < steps


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


@pytest.mark.parametrize("task", [task for task in TASKS if task not in ARMS])
def test_noise_at_the_start_is_gymnasiums(task):
    theirs, ours = both(task, 4000)
    assert ours.noise == theirs._reset_noise_scale
    first = 7 if task in ("Ant", "Humanoid") else 0
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


def extent(x):
    return np.array([x.min(axis=0), x.max(axis=0)])


@pytest.mark.parametrize("task", ARMS)
def test_arms_start_as_gymnasiums(task):
    """Ranges of all numbers, and where things are never put."""
    theirs, ours = both(task, 4000)
    given = []
    for _ in range(2000):
        theirs.reset()
        given.append(np.concatenate([theirs.data.qpos, theirs.data.qvel]))
    given = np.array(given)
    own = np.concatenate([ours.batch.q, ours.batch.v], axis=1)
    size = extent(given)[1] - extent(given)[0]
    assert np.all(np.abs(extent(own) - extent(given)) <= 0.03 * size + 1e-12)
    assert np.all(np.abs(own.mean(0) - given.mean(0)) <= 0.05 * size + 1e-12)
    first = 7 if task == "Pusher" else 2
    distance = [np.linalg.norm(x[:, first : first + 2], axis=1) for x in (own, given)]
    assert distance[0].min() == pytest.approx(distance[1].min(), abs=0.02)
    assert distance[0].max() == pytest.approx(distance[1].max(), abs=0.02)
    assert len(np.unique(own[:, first])) == 4000


def test_the_medium_pushes_the_swimmer_as_mujocos():
    theirs, ours = both("Swimmer")
    rng = np.random.default_rng(3)
    for _ in range(10):
        theirs.set_state(rng.normal(size=5), rng.normal(size=5))
        put(ours, 0, theirs)
        force = theirs.data.qfrc_fluid
        assert np.abs(ours._of_the_medium()[0] - force).max() < 1e-9 * np.abs(force).max()


def test_the_swimmer_swims_as_gymnasiums():
    """The same waves; MuJoCo's steps are RK4 here."""
    theirs, ours = both("Swimmer")
    theirs.set_state(np.zeros(5), np.zeros(5))
    put(ours, 0, theirs)
    for i in range(200):
        action = np.sin([0.1 * i, 0.1 * i + 1.2])
        theirs.step(action)
        ours.step(action[None])
    assert theirs.data.qpos[0] < -0.8
    assert np.abs(ours.batch.q[0] - theirs.data.qpos).max() < 0.05


BOUNDS = (0.1, 0.2, 0.7, 0.8, 1.0, 2.0, 10.0, 100.0)


@pytest.mark.parametrize("task", TASKS)
def test_ends_and_rewards_at_every_bound(task):
    """Each number of a state in turn just within, at and just beyond every bound that a task has,
    of either sign: Gymnasium's own step judges the same state, without moving it."""
    theirs, ours = both(task)
    theirs.do_simulation = lambda action, frames: None
    zero, found = np.zeros(theirs.action_space.shape), set()
    ours.action[:] = 0.0
    n = theirs.model.nq
    theirs.data.cfrc_ext[:] = 0.0
    around = [b * share for b in BOUNDS for share in (1.0 - 1e-9, 1.0, 1.0 + 1e-9)]
    for k in range(n + theirs.model.nv):
        if task in ("Ant", "Humanoid") and 3 <= k < 7:
            continue  # a quaternion
        for x in [*around, *(-x for x in around)]:
            state = np.concatenate([theirs.init_qpos, 0.0 * theirs.init_qvel])
            state[k] = x
            theirs.set_state(state[:n], state[n:])
            put(ours, 0, theirs)
            ours._before[:] = ours._position()
            observation, reward, terminated, _, info = theirs.step(zero)
            out = ours._observation()[0]
            if task == "InvertedDoublePendulum":
                out[8] = observation[8]
            np.testing.assert_allclose(out, observation, rtol=1e-9, atol=1e-9)
            assert ours._ended()[0] == terminated, (k, x)
            assert ours._reward()[0] == pytest.approx(reward, rel=1e-9, abs=1e-9), (k, x)
            for key, rows in ours._info().items():
                assert rows[0] == pytest.approx(info[key], rel=1e-9, abs=1e-9), key
            found.add(bool(terminated))
    assert found == ({False} if task in ENDLESS else {False, True})
