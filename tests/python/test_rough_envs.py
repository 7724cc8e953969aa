"""Go2, and quadrupeds on rough ground: the robots are what their pages say, the ground is where the
physics has it, rewards are those of the flat task."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest
import stiction
import stiction.envs
import velocity_reference as reference
from stiction.envs import Go2Rough, Go2Velocity, RoughGround, Solo12Rough, Solo12Velocity
from stiction.envs.legs import in_world, up_in_body
from stiction.loading import example_robots

ROUGH = [Solo12Rough, Go2Rough]
QUADRUPEDS = [Go2Velocity, *ROUGH]


@pytest.fixture(scope="module")
def judge() -> Any:
    """examples/learning/judge.py on fewer worlds."""
    path = Path(__file__).parents[2] / "examples" / "learning" / "judge.py"
    spec = importlib.util.spec_from_file_location("judge", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.WORLDS = 48
    return module


def actions(rng: np.random.Generator, env: Any) -> Any:
    return rng.uniform(-1.0, 1.0, env.action.shape).astype(np.float32)


def test_go2_is_the_robot_of_the_file() -> None:
    env = Go2Velocity(2)
    scene, flat = env.batch.scene, env.batch.scene.parameters
    model = pinocchio.buildModelFromUrdf(
        str(example_robots() / "go2_description" / "urdf" / "go2.urdf"),
        pinocchio.JointModelFreeFlyer(),
    )
    assert stiction.SceneMotion(scene, scene.default_q).mass() == pytest.approx(
        pinocchio.computeTotalMass(model), rel=1e-12
    )
    assert env.batch.lanes
    assert flat.effort_limit[6:].tolist() == [23.7, 23.7, 45.43] * 4
    assert flat.armature[6:9] == pytest.approx([4.4814e-3, 4.4814e-3, 16.466e-3], rel=1e-4)


def test_feet_of_go2_are_spheres_in_the_meshes_of_its_feet() -> None:
    folder = example_robots() / "go2_description"
    points, _ = stiction.load_mesh(folder / "collisions" / "foot_convex.stl")
    lower = points[points[:, 2] < -5e-3]
    scene = Go2Velocity(1).batch.scene
    for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot"):
        geometry = scene.geometry(foot)
        _, pose = scene.frame(foot)
        placed = scene.parameters.geometry_placement(geometry)
        centre = np.asarray((pose.inverse() * placed).translation)
        radius = scene.parameters.geometry_size[geometry][0]
        off = np.linalg.norm(lower - centre, axis=1) - radius
        assert np.abs(off).max() < 2.6e-3 and abs(off.mean()) < 1e-3


@pytest.mark.parametrize("make", [Go2Velocity, Solo12Velocity])
def test_a_quadruped_on_flat_ground_stands(make: Any) -> None:
    env = make(8)
    env.reset(seed=0)
    for _ in range(50):
        assert not env.step(np.zeros((8, 12), np.float32))[2].any()
    assert env.touching().all()
    height = env._standing[2]
    assert (np.abs(env.batch.q[:, 2] - height) < 0.1 * height).all()


def test_numbers_of_go2_are_the_formulas_of_solo12() -> None:
    env = Go2Velocity(16, threads=2, autoreset="Disabled", episode_steps=1000)
    env.reset(seed=3)
    low, span = np.array([-0.4, -0.3, -0.6]), np.array([1.2, 0.6, 1.2])
    x = reference.uniform(3, np.arange(16), np.zeros(16, int), 17)
    assert np.array_equal(env.command, low + span * x[:, :3])
    rng, fallen = np.random.default_rng(4), 0
    for k in range(60):
        before = env.action.copy()
        env.batch.q[k % 16, 2] -= 0.1 * (k >= 30)  # on its knees
        seen, reward, terminated, _, _ = env.step(actions(rng, env))
        assert np.abs(seen - reference.observation(env)).max() < 2e-6
        assert np.abs(reward - reference.reward(env, before)).max() < 1e-11
        low_base = env.batch.q[:, 2] < 0.18
        assert np.array_equal(terminated, reference.ended(env) | low_base)
        fallen += (terminated & (env.batch.q[:, 2] > 0.12)).sum()
    assert fallen > 0


@pytest.mark.parametrize("make", ROUGH)
def test_rewards_on_rough_ground_are_those_of_flat_with_contacts_felt(make: Any) -> None:
    env = make(16, autoreset="Disabled", episode_steps=1000, ground=RoughGround(size=60.0))
    env.reset(seed=5)
    rng = np.random.default_rng(6)
    seen_contacts, fallen = set(), 0
    for k in range(60):
        before = env.action.copy()
        env.batch.q[k % 16, 2] -= 0.5 * env._standing[2] * (k >= 30)  # on its knees
        seen, reward, terminated, _, _ = env.step(actions(rng, env))
        # reference.reward() asks env.touching(), which is felt here.
        assert np.abs(reward - reference.reward(env, before)).max() < 1e-11
        assert np.abs(seen[:, :50] - reference.observation(env)).max() < 2e-6
        q = env.batch.q
        over = q[:, 2] - env.ground.height(q[:, 0], q[:, 1])
        leans = up_in_body(q)[:, 2] < 0.5
        assert np.array_equal(terminated, leans | (over < env.robot.fallen))
        seen_contacts |= set(env.touching().sum(axis=1).tolist())
        fallen += int(terminated.sum())
    assert {0, 1, 2} <= seen_contacts and fallen > 0


@pytest.mark.parametrize("make", ROUGH)
def test_heights_are_those_that_rays_find(make: Any) -> None:
    env = make(6)
    seen, _ = env.reset(seed=2)
    rng = np.random.default_rng(0)
    for _ in range(5):
        seen = env.step(actions(rng, env))[0]
    q = env.batch.q
    down, places = np.array([0.0, 0.0, -1.0]), []
    for world in range(6):
        R = pinocchio.Quaternion(q[world, 3:7]).matrix()
        yaw = np.arctan2(R[1, 0], R[0, 0])
        for dx in env.robot.scan[0]:
            for dy in env.robot.scan[1]:
                x = q[world, 0] + np.cos(yaw) * dx - np.sin(yaw) * dy
                y = q[world, 1] + np.sin(yaw) * dx + np.cos(yaw) * dy
                places.append([x, y, 5.0])
    scene = env.batch.scene
    legs = [scene.geometries[scene.geometry(foot)].body for foot in env.robot.feet]
    rays = stiction.ray_cast(scene, q[0], places, np.tile(down, (90, 1)), ignored=legs)
    ground = 5.0 - rays.distances.reshape(6, 15)
    assert np.abs(seen[:, 50:] - (q[:, 2:3] - ground - env._standing[2])).max() < 1e-6


@pytest.mark.parametrize("make", ROUGH)
def test_episodes_start_at_places_of_their_own_just_over_the_ground(make: Any) -> None:
    env = make(200)
    env.reset(seed=1)
    q = env.batch.q.copy()
    assert len(np.unique(q[:, 0])) == 200
    assert np.abs(q[:, :2]).max() < env._reach and np.abs(q[:, :2]).max() > 0.9 * env._reach
    gaps = [min(x.distance for x in env.batch.scene.distances(row)) for row in q[::10]]
    assert min(gaps) > 0.0 and max(gaps) < 8e-3  # of the foot that is next to the ground
    again = make(3)
    again.reset(seed=1)
    assert np.array_equal(again.batch.q, q[:3])
    env.reset()
    assert (env.batch.q[:, :2] != q[:, :2]).all()


def test_standing_on_rough_ground_is_felt_by_the_feet() -> None:
    env = Go2Rough(32, ground=RoughGround(roughness=0.06))
    env.reset(seed=0)
    for _ in range(60):
        assert not env.step(np.zeros((32, 12), np.float32))[2].any()
    assert (env.touching().sum(axis=1) >= 3).all()
    at = in_world(env.batch.q, env._feet.centres(env.batch.q)) + env.batch.q[:, None, :3]
    gap = at[..., 2] - env.ground.height(at[..., 0], at[..., 1]) - env._feet.radii
    assert np.abs(gap[env.touching()]).max() < 4e-3
    spread = at[..., 2].max(axis=1) - at[..., 2].min(axis=1)
    assert spread.max() > 0.01  # the ground is not flat where they stand


def test_rough_ground_is_smooth_random_and_of_its_seed() -> None:
    numbers = {"roughness": 0.1, "feature": 0.5, "size": 20.0}
    ground = RoughGround(**numbers, cell_size=0.1, seed=3)
    axis = np.linspace(-10.0, 10.0, 201)
    x, y = np.meshgrid(axis, axis)
    z = ground.height(x, y)
    assert z.min() == pytest.approx(0.0, abs=1e-12) and z.max() == pytest.approx(0.1, rel=1e-12)
    # The steepest cubic between independent heights: 1.5 of them over a feature, along x and y.
    steepest = np.abs(np.diff(z, axis=1)).max() / 0.1
    assert 0.5 * 0.1 / 0.5 < steepest < 1.5 * 0.1 / 0.5 * 1.2
    near = np.corrcoef(z[:, :-1].ravel(), z[:, 1:].ravel())[0, 1]
    far = np.corrcoef(z[:, :-20].ravel(), z[:, 20:].ravel())[0, 1]
    assert near > 0.9 and abs(far) < 0.15
    assert np.array_equal(RoughGround(**numbers, seed=3).height(x, y), z)
    other = RoughGround(**numbers, seed=4).height(x, y)
    assert np.abs(other - z).max() > 0.05
    beyond = ground.height(np.array([11.0]), np.array([0.0]))
    assert beyond == ground.height(np.array([10.0]), np.array([0.0]))


def test_ground_that_cannot_be_is_refused() -> None:
    for name, value, text in (
        ("roughness", 0.0, r"roughness = 0\.0: must be finite and > 0"),
        ("size", np.nan, "size = nan: must be finite and > 0"),
        ("seed", -1, r"seed = -1: must be in \[0, 2\^64\)"),
        ("feature", 0.05, r"feature = 0\.05: must be at least cell_size = 0\.1"),
    ):
        given: dict[str, Any] = {name: value}
        with pytest.raises(ValueError, match=text):
            RoughGround(**given)
    with pytest.raises(ValueError, match=r"ground\.size = 10: must be more than 12\.1 m.*400"):
        Solo12Rough(1, ground=RoughGround(size=10.0))
    Solo12Rough(1, ground=RoughGround(size=10.0), episode_steps=200)


@pytest.mark.parametrize("make", QUADRUPEDS)
def test_episodes_of_quadrupeds_begin_anew_with_other_friction(make: Any) -> None:
    env = make(6, randomise=True, episode_steps=3)
    env.reset(seed=0)
    friction = env.batch.values("friction").copy()
    assert friction.min() >= 0.4 and friction.max() <= 1.0
    for _ in range(3):
        truncated = env.step(np.zeros((6, 12), np.float32))[3]
    assert truncated.all() and (env.episode == 1).all()
    assert (env.batch.values("friction") != friction).all()


@pytest.mark.parametrize("randomise", [False, True])
@pytest.mark.parametrize(
    ("task", "stored"),
    [
        ("Solo12Velocity", stiction.envs.SOLO12_TROT),
        ("Go2Velocity", stiction.envs.GO2_TROT),
        ("Solo12Rough", stiction.envs.SOLO12_ROUGH),
    ],
)
def test_learned_policies_walk_as_their_pages_say(
    judge: Any, task: str, stored: Path, randomise: bool
) -> None:
    policy = stiction.envs.Policy.load(stored)
    found = judge.judge(f"stiction/{task}-v0", policy, seed=99, randomise=randomise)
    assert found["falls"] == 0
    assert found["velocity"] < 0.018 and found["turn"] < 0.02
    assert found["stance"] == pytest.approx(0.515, abs=0.02)
    assert found["lift_offs"] == pytest.approx(2.5, rel=0.02)


def test_a_policy_that_does_not_walk_is_told(judge: Any) -> None:
    """Of one that stands: errors are the commands', no foot keeps to the clock."""
    policy = stiction.envs.Policy.load(stiction.envs.SOLO12_TROT)
    weight, bias = policy.layers[-1]
    policy.layers[-1] = (0.0 * weight, 0.0 * bias)
    found = judge.judge("stiction/Solo12Velocity-v0", policy, seed=99)
    assert found["velocity"] > 0.15 and found["turn"] > 0.2
    assert found["stance"] > 0.95 and found["lift_offs"] < 0.1


def test_learned_policy_keeps_the_pole_up() -> None:
    env = stiction.envs.CartPole(64, autoreset="Disabled")
    policy = stiction.envs.Policy.load(stiction.envs.CART_POLE)
    observation, _ = env.reset(seed=1)
    for _ in range(500):
        observation, _, terminated, _, _ = env.step(policy(observation))
        assert not terminated.any()
