"""Environments: Gymnasium's rules, what is random, the same numbers on any number of worlds."""

import importlib.util
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import stiction.envs
from gymnasium.utils.env_checker import check_env
from stiction.counted_random import uniform
from stiction.envs.legs import FootPoints, up_in_body
from velocity_reference import philox

TASKS = ["CartPole", "Solo12Velocity", "Go2Velocity", "Solo12Rough", "Go2Rough"]
EXAMPLES = Path(__file__).parents[2] / "examples" / "learning"


def worlds_of(task, n, **settings):
    env = gymnasium.make_vec(f"stiction/{task}-v0", num_envs=n, **settings)
    return env, env.unwrapped


def actions(env, rng):
    return rng.uniform(-1.0, 1.0, env.action_space.shape).astype(np.float32)


def test_philox_has_the_published_numbers():
    # Known answers of Random123 1.09: counter and key of zeros, and of ones.
    zeros, ones = np.zeros((4, 1), np.uint64), np.full((4, 1), 0xFFFFFFFF, np.uint64)
    assert [hex(x) for x in philox(zeros, (0, 0))[:, 0]] == [
        "0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]  # fmt: skip
    assert [hex(x) for x in philox(ones, (0xFFFFFFFF, 0xFFFFFFFF))[:, 0]] == [
        "0x408f276d", "0x41c83b0e", "0xa20bc7c6", "0x6d5451fd"]  # fmt: skip


def test_random_numbers_belong_to_world_and_episode():
    rng = np.random.default_rng(1)
    worlds, episodes = rng.integers(0, 1000, 50), rng.integers(0, 5, 50)
    x = uniform(7, worlds, episodes, 9)
    assert x.shape == (50, 9) and (x >= 0).all() and (x < 1).all()
    order = rng.permutation(50)[:20]
    assert np.array_equal(uniform(7, worlds[order], episodes[order], 9), x[order])
    assert np.array_equal(uniform(7, worlds, episodes, 4), x[:, :4])
    pairs = {tuple(p) for p in zip(worlds, episodes, strict=True)}
    assert len(np.unique(x[:, 0])) == len(pairs)
    for other in (uniform(8, worlds, episodes, 9), uniform(7, worlds, episodes, 9, stream=1)):
        assert (other != x).all()
    many = uniform(3, np.arange(20000), np.zeros(20000, int), 3)
    assert np.abs(many.mean(axis=0) - 0.5).max() < 0.01  # 5 deviations
    assert np.abs(np.corrcoef(many.T) - np.eye(3)).max() < 0.04


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.filterwarnings("ignore:.*Box observation space")
def test_gymnasium_accepts_the_environment(task):
    check_env(gymnasium.make(f"stiction/{task}-v0").unwrapped, skip_render_check=True)


@pytest.mark.parametrize("task", TASKS)
def test_a_world_does_not_depend_on_the_others(task):
    rng = np.random.default_rng(2)
    given = [None] * 60
    runs = []
    for n, threads in ((9, 1), (9, 2), (4, 1), (1, 1)):
        env, base = worlds_of(task, n, threads=threads, episode_steps=25)
        seen = [env.reset(seed=5)[0][:1].copy()]
        for k in range(60):  # two autoresets at least
            if given[k] is None:
                given[k] = actions(env, rng)
            observation, reward, terminated, truncated, _ = env.step(given[k][:n])
            seen += [observation[:1].copy(), reward[:1], terminated[:1], truncated[:1]]
        assert base.episode[0] >= 2
        runs.append(np.concatenate([np.ravel(x).astype(float) for x in seen]))
    for other in runs[1:]:
        assert np.array_equal(other, runs[0])


def test_one_world_alone_is_the_first_of_many():
    many, _ = worlds_of("Solo12Velocity", 3)
    one = gymnasium.make("stiction/Solo12Velocity-v0").unwrapped
    a, b = many.reset(seed=11)[0][0], one.reset(seed=11)[0]
    rng = np.random.default_rng(3)
    for _ in range(20):
        assert np.array_equal(a, b)
        action = actions(many, rng)
        a, b = many.step(action)[0][0], one.step(action[0])[0]


def test_a_seed_begins_anew_and_without_one_episodes_differ():
    env, base = worlds_of("CartPole", 4)
    first = env.reset(seed=3)[0]
    second = env.reset()[0]
    assert (first != second).any(axis=1).all()
    assert np.array_equal(env.reset(seed=3)[0], first)
    assert (base.episode == 0).all()


def test_autoreset_in_the_same_step():
    env, base = worlds_of("CartPole", 6, episode_steps=10)
    rng = np.random.default_rng(4)
    env.reset(seed=0)
    for _ in range(10):
        observation, reward, terminated, truncated, info = env.step(actions(env, rng))
    assert truncated.all() and not terminated.any() and (reward == 1.0).all()
    assert info["_final_obs"].all()
    assert not np.array_equal(info["final_obs"], observation)
    assert (np.abs(observation[:, 0]) <= 0.05).all() and (base.steps == 0).all()
    assert env.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP


def test_autoreset_in_the_next_step():
    env, base = worlds_of("CartPole", 6, episode_steps=10, autoreset="NextStep")
    rng = np.random.default_rng(4)
    env.reset(seed=0)
    for _ in range(10):
        last, _, _, truncated, _ = env.step(actions(env, rng))
    assert truncated.all() and (base.episode == 0).all()
    observation, reward, terminated, truncated, _ = env.step(actions(env, rng))
    assert (base.episode == 1).all() and (reward == 0.0).all()
    assert not terminated.any() and not truncated.any()
    assert not np.array_equal(observation, last) and (np.abs(observation[:, 0]) <= 0.05).all()


def test_worlds_are_reset_by_mask():
    env, base = worlds_of("CartPole", 5, autoreset="Disabled", episode_steps=3)
    rng = np.random.default_rng(4)
    env.reset(seed=0)
    for _ in range(3):
        before = env.step(actions(env, rng))[0]
    mask = np.array([True, False, False, True, False])
    after = env.reset(options={"reset_mask": mask})[0]
    assert np.array_equal(after[~mask], before[~mask])
    assert (after[mask] != before[mask]).any(axis=1).all()
    assert base.episode.tolist() == [1, 0, 0, 1, 0] and base.steps.tolist() == [0, 3, 3, 0, 3]


def test_a_failed_world_ends_and_starts_again_alone():
    runs = []
    for broken in (False, True):
        env, base = worlds_of("Solo12Velocity", 5)
        rng = np.random.default_rng(6)
        env.reset(seed=1)
        for k in range(10):
            if broken and k == 4:
                base.batch.v[2, 0] = np.nan
            observation, reward, terminated, _, _ = env.step(actions(env, rng))
            assert np.isfinite(observation).all() and np.isfinite(reward).all()
            if k == 4:
                assert terminated.tolist() == [False, False, broken, False, False]
                assert not broken or (reward[2] == 0.0 and base.episode[2] == 1)
        runs.append(observation)
    assert np.array_equal(np.delete(runs[0], 2, 0), np.delete(runs[1], 2, 0))


def test_cart_that_leaves_and_pole_that_falls_end():
    env, base = worlds_of("CartPole", 3, autoreset="Disabled")
    env.reset(seed=0)
    q = base.batch.q
    q[0], q[1] = [2.5, 1.0, 0.0], [0.0, np.cos(0.25), np.sin(0.25)]
    assert env.step(np.zeros((3, 1), np.float32))[2].tolist() == [True, True, False]


def test_cart_and_pole_fall_as_the_equations_say():
    # Small angles: 4/3 l theta'' = g theta - x'', (M + m) x'' = -m l theta''; l = 0.5 m.
    env, base = worlds_of("CartPole", 1, autoreset="Disabled")
    env.reset(seed=0)
    angle = 1e-3
    base.batch.q[0], base.batch.v[0] = [0.0, np.cos(angle), np.sin(angle)], 0.0
    for _ in range(25):
        env.step(np.zeros((1, 1), np.float32))
    rate = np.sqrt(9.81 / (0.5 * (4.0 / 3.0 - 0.1 / 1.1)))
    got = np.arctan2(base.batch.q[0, 2], base.batch.q[0, 1])
    assert got == pytest.approx(angle * np.cosh(rate * 0.5), rel=2e-2)  # first order in 5 ms


def test_feet_and_up_of_a_random_solo():
    scene = stiction.load("solo12")
    feet = ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]
    rng = np.random.default_rng(5)
    q = np.tile(scene.default_q, (20, 1))
    q[:, 2:7] = rng.normal(size=(20, 5))
    q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]
    q[:, 7:] = rng.uniform(-2, 2, (20, 12))
    up = up_in_body(q)
    heights = FootPoints(scene, feet).heights(q, up)
    sim = stiction.Simulator(scene)
    for k in range(20):
        state = sim.initial_state()
        state.q[:] = q[k]
        poses = sim.body_poses(state)
        assert np.abs(np.asarray(poses[0].rotation)[2] - up[k]).max() < 1e-14
        for i, foot in enumerate(feet):
            g = scene.geometry(foot)
            pose = poses[scene.geometries[g].body]
            p = pose.act(np.asarray(scene.parameters.geometry_placement(g).translation))
            assert abs(p[2] - 0.0191 - heights[k, i]) < 1e-12


def test_standing_solo_touches_with_four_feet_and_moves_when_it_is_told():
    env, base = worlds_of("Solo12Velocity", 8)
    env.reset(seed=0)
    assert base.touching().any(axis=1).all()
    for _ in range(50):
        terminated = env.step(np.zeros((8, 12), np.float32))[2]
        assert not terminated.any()
    assert base.touching().all()
    base.command[:] = base.batch.v[:, [0, 1, 5]]
    still = base._reward()
    base.command[:, 0] += 0.5
    assert (base._reward() < still - 0.9).all()


def test_randomised_worlds_have_their_own_friction_and_masses():
    env, base = worlds_of("Solo12Velocity", 6, randomise=True, episode_steps=3)
    env.reset(seed=0)
    friction, scale = (base.batch.values(x).copy() for x in ("friction", "mass_scale"))
    assert (friction >= 0.4).all() and (friction <= 1.0).all() and len(set(friction[:, 1])) == 6
    assert (np.abs(scale - 1.0) <= 0.1).all() and len(np.unique(scale)) == scale.size
    for _ in range(3):
        env.step(np.zeros((6, 12), np.float32))
    assert (base.batch.values("friction")[:, 1] != friction[:, 1]).all()
    wide, chosen = worlds_of("Solo12Velocity", 6, randomise={"friction": (1.5, 2.0)})
    wide.reset(seed=0)
    assert ((chosen.batch.values("friction") - 1.5) / 0.5) == pytest.approx((friction - 0.4) / 0.6)
    assert (chosen.batch.values("mass_scale") == 1.0).all()  # not named
    for ranges, text in (
        ({"length": (1, 2)}, "'length': there are friction, mass"),
        ({"mass": (0, 1)}, r"\(0, 1\): must be 0.01 <= low <= high <= 100"),
        ({"friction": (0, 1e308)}, r"must be 0 <= low <= high <= 100"),
        ({"friction": (0.8, 0.2)}, r"\(0.8, 0.2\): must be 0 <= low <= high <= 100"),
        ({"friction": 0.5}, r"randomise\['friction'\] has shape \(\)"),
    ):
        with pytest.raises(ValueError, match=text):
            stiction.envs.Solo12Velocity(2, randomise=ranges)
    with pytest.raises(TypeError, match=r"randomise = 0\.5: must be True, False or ranges by name"):
        stiction.envs.Solo12Velocity(2, randomise=0.5)
    again, fresh = worlds_of("Solo12Velocity", 2, randomise=True)
    again.reset(seed=0)
    assert np.array_equal(fresh.batch.values("mass_scale"), scale[:2])


def test_errors_name_what_is_wrong():
    env, _ = worlds_of("CartPole", 3)
    with pytest.raises(ValueError, match="autoreset = False: must be one of NextStep, SameStep, D"):
        stiction.envs.CartPole(3, autoreset=False)
    with pytest.raises(ValueError, match=r"step\(\) before reset\(\)"):
        env.step(np.zeros((3, 1)))
    with pytest.raises(ValueError, match=r"seed = -1: must be in \[0, 2\^64\)"):
        env.reset(seed=-1)
    with pytest.raises(ValueError, match=r"reset\(\) all of them first"):
        env.reset(options={"reset_mask": np.array([True, False, False])})
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"actions has shape \(3,\): must be \(3, 1\)"):
        env.step(np.zeros(3))
    with pytest.raises(ValueError, match=r"actions\[1, 0\] = nan: must be finite"):
        env.step(np.array([[0.0], [np.nan], [0.0]]))
    with pytest.raises(ValueError, match=r"reset_mask has shape \(2,\).*\(3,\) of bool"):
        env.reset(options={"reset_mask": np.ones(2, bool)})
    with pytest.raises(ValueError, match="Sometimes"):
        stiction.envs.CartPole(2, autoreset="Sometimes")


def test_pictures_are_told_how_to_get():
    for make in (gymnasium.make, gymnasium.make_vec):
        with pytest.raises(ValueError, match=r"render_mode = 'human'.*stiction\.envs\.watch"):
            make("stiction/CartPole-v0", render_mode="human")


def test_an_episode_is_watched(tmp_path):
    policy = stiction.envs.Policy.load(stiction.envs.CART_POLE)
    env = gymnasium.make("stiction/CartPole-v0")
    page = stiction.envs.watch(
        env, policy, tmp_path / "pole.html", seed=0, steps=30, title="A pole"
    )
    assert "A pole" in page.read_text(encoding="utf-8")
    with pytest.raises(TypeError, match="make of an id that begins"):
        stiction.envs.watch(gymnasium.make("CartPole-v1"), policy, tmp_path / "other.html")


def test_a_policy_says_what_it_was_learned_for():
    policy = stiction.envs.Policy.load(stiction.envs.CART_POLE)
    with pytest.raises(ValueError, match=r"observation has 6 columns: must have 5"):
        policy(np.zeros((3, 6), np.float32))


def test_actions_are_cut():
    runs = []
    for action in (1.0, 7.0):
        env, _ = worlds_of("CartPole", 1)
        env.reset(seed=0)
        runs.append(env.step(np.full((1, 1), action, np.float32))[0])
    assert np.array_equal(*runs)


def test_policies_are_stored(tmp_path):
    rng = np.random.default_rng(0)
    shapes = [(5, 3), (4, 5), (2, 4)]
    layers = [(rng.normal(size=s).astype("f4"), rng.normal(size=s[0]).astype("f4")) for s in shapes]
    policy = stiction.envs.Policy(layers, np.full(3, 0.5, "f4"), np.full(3, 2.0, "f4"))
    x = rng.normal(size=(7, 3)).astype("f4")
    h = (x - 0.5) / 2.0
    for weight, bias in layers[:2]:
        h = np.tanh(h @ weight.T + bias)
    assert np.abs(policy(x) - (h @ layers[2][0].T + layers[2][1])).max() < 1e-5
    policy.save(tmp_path / "p.npz")
    assert np.array_equal(stiction.envs.Policy.load(tmp_path / "p.npz")(x), policy(x))
    np.savez(tmp_path / "q.npz", mean=np.zeros(3))
    with pytest.raises(stiction.StictionError, match="weight0 is missing"):
        stiction.envs.Policy.load(tmp_path / "q.npz")
    with pytest.raises(ValueError, match=r"layer 1 has weights \(2, 4\).*must be \(2, 5\)"):
        stiction.envs.Policy([layers[0], layers[2]], policy.mean, policy.scale)


@pytest.mark.parametrize("randomise", [False, True])
def test_learned_trot_walks_as_it_is_told(randomise):
    """What docs/tutorials/learning.md says of the policy, on 64 worlds of 8 s."""
    env = stiction.envs.Solo12Velocity(64, autoreset="Disabled", randomise=randomise)
    policy = stiction.envs.Policy.load(stiction.envs.SOLO12_TROT)
    observation, _ = env.reset(seed=99)
    errors, turns, stance, lifts, before = [], [], [], 0, None
    for step in range(400):
        observation, _, terminated, _, _ = env.step(policy(observation))
        assert not terminated.any()
        touching = env.touching()
        if step >= 50:
            errors.append(np.linalg.norm(env.batch.v[:, :2] - env.command[:, :2], axis=1))
            turns.append(np.abs(env.batch.v[:, 5] - env.command[:, 2]))
            stance.append(touching.mean(axis=0))
            lifts += (before & ~touching).mean()
        before = touching
    assert np.mean(errors) < 0.025 and np.mean(turns) < 0.04
    assert (np.abs(np.mean(stance, axis=0) - 0.52) < 0.04).all()
    assert lifts / (350 * env.control_dt) == pytest.approx(2.5, rel=0.03)  # a foot's, a second


@pytest.fixture(scope="module")
def ppo():
    spec = importlib.util.spec_from_file_location("ppo", EXAMPLES / "ppo.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["ppo"] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    yield module
    del sys.modules["ppo"]


def test_rollouts_of_ppo_without_torch(ppo):
    """The collected arrays are what the environment gave; a cut episode gets its last value."""
    env, _ = worlds_of("CartPole", 4, episode_steps=6)
    observation = env.reset(seed=0)[0]
    moments = ppo.Moments(5)
    episodes = ppo.Episodes(np.zeros(4), np.zeros(4, int))

    def act(x):
        return np.zeros((len(x), 1), "f4"), np.zeros(len(x), "f4"), np.full(len(x), 10.0, "f4")

    rollout, last = ppo.collect(env, observation, act, moments, episodes, 15)
    assert rollout.done.sum(axis=0).tolist() == [2] * 4 and last.shape == (4, 5)
    assert rollout.rewards[rollout.done] == pytest.approx(1.0 + ppo.GAMMA * 10.0)
    assert (rollout.rewards[~rollout.done] == 1.0).all()
    assert episodes.ended == [(6.0, 6)] * 8
    assert moments.count == pytest.approx(60.0, abs=1e-3)


def test_advantages_are_sums_of_errors(ppo):
    rng = np.random.default_rng(0)
    T, N = 12, 5
    values, rewards = rng.normal(size=(T + 1, N)), rng.normal(size=(T, N))
    done = rng.uniform(size=(T, N)) < 0.2
    none = np.zeros((T, N))
    got = ppo.advantages(ppo.Rollout(none, none, none, rewards, values, done))
    for n in range(N):
        for t in range(T):
            total, weight = 0.0, 1.0
            for k in range(t, T):
                goes_on = 0.0 if done[k, n] else 1.0
                error = rewards[k, n] + ppo.GAMMA * goes_on * values[k + 1, n] - values[k, n]
                total += weight * error
                weight *= ppo.GAMMA * ppo.LAMBDA * goes_on
            assert got[t, n] == pytest.approx(total, abs=1e-5)


def test_moments_of_observations(ppo):
    rng = np.random.default_rng(0)
    parts = [rng.normal(3.0, 2.0, (k, 2)) for k in (5, 50, 500)]
    moments = ppo.Moments(2)
    for part in parts:
        moments.add(part)
    whole = np.concatenate(parts)
    assert moments.mean == pytest.approx(whole.mean(axis=0), rel=1e-4)
    assert moments.scale() == pytest.approx(whole.std(axis=0), rel=1e-3)
