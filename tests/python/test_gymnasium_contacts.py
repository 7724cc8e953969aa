"""Forces of contacts and `info` of Gymnasium's ant and humanoid; how `info` is laid out."""

from __future__ import annotations

from typing import Any

import gymnasium
import mujoco
import numpy as np
import pytest
import stiction
import stiction.envs
from stiction.mujoco_layout import from_mujoco_qpos, from_mujoco_qvel

FREE = ("Ant", "Humanoid")


def aloft(task: str) -> tuple[Any, Any, np.random.Generator]:
    """Gymnasium's and ours at one random state in the air."""
    theirs = gymnasium.make(f"{task}-v5").unwrapped
    ours = getattr(stiction.envs, task)(1, autoreset="Disabled")
    theirs.reset(seed=0)
    ours.reset(seed=0)
    rng = np.random.default_rng(7)
    qpos, qvel = theirs.init_qpos.copy(), rng.normal(size=theirs.model.nv)
    qpos[:3] += [1.0, -2.0, 20.0]
    qpos[3:7] = rng.normal(size=4)
    qpos[3:7] /= np.linalg.norm(qpos[3:7])
    qpos[7:] += rng.uniform(-0.2, 0.2, len(qpos) - 7)
    theirs.set_state(qpos, qvel)
    put(ours, theirs)
    return theirs, ours, rng


def put(ours: Any, theirs: Any) -> None:
    scene = ours.batch.scene
    ours.batch.q[0] = from_mujoco_qpos(scene, theirs.data.qpos.copy())
    ours.batch.v[0] = from_mujoco_qvel(scene, ours.batch.q[0], theirs.data.qvel.copy())


@pytest.mark.parametrize("task", FREE)
def test_whole_observations_in_the_air(task: str) -> None:
    """All of Gymnasium's numbers, with what it has of contacts: nothing."""
    theirs, ours, rng = aloft(task)
    for _ in range(5):
        action = rng.uniform(-1, 1, ours.action.shape[1]) * ours.limit
        ours.action[:] = action
        ours._act(ours.action)
        theirs.step(action)
        mujoco.mj_forward(theirs.model, theirs.data)
        put(ours, theirs)
        expected = theirs._get_obs()
        assert not expected[-78:].any()
        out = ours._observation()[0]
        assert out.shape == expected.shape
        np.testing.assert_allclose(out, expected, atol=1e-9 * (1 + np.abs(expected).max()))


def test_parts_of_observations_are_left_out_as_asked() -> None:
    parts = ["cinert", "cvel", "qfrc_actuator", "cfrc_ext"]
    for k in range(16):
        given = {f"include_{p}_in_observation": bool(k >> i & 1) for i, p in enumerate(parts)}
        ours = stiction.envs.Humanoid(**given)
        theirs = gymnasium.make("Humanoid-v5", **given)
        assert ours.single_observation_space == theirs.observation_space
    without = stiction.envs.Ant(include_cfrc_ext_in_observation=False)
    assert without.single_observation_space.shape == (27,)
    with pytest.raises(TypeError, match=r"Ant: use_contact_forces=True is not there; there are: "):
        stiction.envs.Ant(use_contact_forces=True)
    with pytest.raises(TypeError, match="Hopper: include_cfrc_ext_in_observation=True is not"):
        stiction.envs.Hopper(include_cfrc_ext_in_observation=True)


def settled(task: str, **settings: Any) -> Any:
    ours = getattr(stiction.envs, task)(2, autoreset="Disabled", **settings)
    ours.reset(seed=1)
    for _ in range(100):
        ours.step(np.zeros(ours.action.shape))
    return ours


def test_a_standing_ant_is_carried() -> None:
    """Forces of all bodies make up the weight, their moments about the centre of mass nothing; in
    MuJoCo too, where the feet creep. The observation is cut, as is what it costs."""
    ours = settled("Ant")
    total = ours._contacts().sum(axis=1)
    weight = 9.81 * ours._mj.body_mass.sum()
    np.testing.assert_allclose(total[:, 5], weight, rtol=1e-3)
    np.testing.assert_allclose(total[:, [0, 1, 2, 3, 4]], 0, atol=1e-2 * weight)
    theirs = gymnasium.make("Ant-v5").unwrapped
    theirs.reset(seed=0)
    for _ in range(100):
        theirs.step(np.zeros(8))
    at_rest = theirs.data.cfrc_ext.sum(axis=0)
    assert at_rest[5] == pytest.approx(weight, rel=1e-2)
    feet = [
        np.flatnonzero(np.abs(x[:, 5]) > 0.1) for x in (ours._contacts()[0], at_rest_of(theirs))
    ]
    assert list(feet[0]) == list(feet[1]) and len(feet[0]) == 4
    observation, reward, *_, info = ours.step(np.zeros(ours.action.shape))
    forces = ours._contacts().reshape(2, -1)
    assert np.abs(forces).max() > 1.5
    np.testing.assert_array_equal(observation[:, 27:], np.clip(forces, -1, 1))
    cost = 5e-4 * (np.clip(forces, -1, 1) ** 2).sum(axis=1)
    np.testing.assert_allclose(info["reward_contact"], -cost)
    terms = [rows for key, rows in info.items() if key.startswith("reward_")]
    np.testing.assert_allclose(reward, sum(terms), rtol=1e-12)


def at_rest_of(theirs: Any) -> Any:
    return theirs.data.cfrc_ext[1:]


@pytest.mark.parametrize("task", FREE)
def test_forces_are_those_of_the_step(task: str) -> None:
    """Of each body, from the contacts of a Simulator that takes the last step of an action again:
    moment about the centre of mass, and force; also of parts that touch each other."""
    ours = settled(task)
    rng = np.random.default_rng(5)
    pressed, largest = 0, 0.0
    for _ in range(30):
        ours.act(ours.limit * rng.choice([-1.0, 1.0], ours.action.shape))
        for _ in range(ours.substeps):
            state = ours.batch.state(0)
            ours.batch.step(1)
        sim = stiction.Simulator(ours.batch.scene, dt=ours.batch.settings.dt)
        sim.step(state, np.array(ours.batch.torque[0]))
        com = sim.motion().com()
        expected = np.zeros((int(ours._mj.nbody), 6))
        for c in sim.contacts():
            sides = ((c.geometry_a_name, -1.0), (c.geometry_b_name, 1.0))
            for name, sign in sides:
                f = sign * np.array(c.force_on_b_world)
                body = int(ours._mj.geom_bodyid[mujoco_geom(ours, name)])
                expected[body, :3] += np.cross(c.position - com, f)
                expected[body, 3:] += f
            pressed += c.body_a >= 0 and np.linalg.norm(c.force_on_b_world) > 0.1
        np.testing.assert_allclose(ours._contacts()[0], expected[1:], atol=1e-9)
        largest = max(largest, np.abs(expected[1:]).max())
    assert largest > 1.0 and (pressed > 0 or task == "Ant")


def mujoco_geom(ours: Any, name: str) -> int:
    return int(mujoco.mj_name2id(ours._mj, mujoco.mjtObj.mjOBJ_GEOM, name))


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_contacts_are_found_once_an_action_and_again_after_a_restart(
    mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the cost and the observation; what an episode begins with is looked at anew."""
    ours = stiction.envs.Ant(2, autoreset=mode, episode_steps=40)
    ours.reset(seed=3)
    asked, observe = [], ours.batch.observe

    def counted(parts: Any, *args: Any, **settings: Any) -> Any:
        asked.append(parts)
        return observe(parts, *args, **settings)

    monkeypatch.setattr(type(ours.batch), "observe", lambda _, *a, **s: counted(*a, **s))
    for k in range(41 if mode == "NextStep" else 40):
        asked.clear()
        out = ours.step(np.zeros(ours.action.shape))[0]
        restarts = k == (40 if mode == "NextStep" else 39) and mode != "Disabled"
        assert asked.count("wrench") == (2 if restarts else 1), k
        assert out[:, 27:].any() == (k > 20 and not restarts) or k <= 20
        np.testing.assert_array_equal(out, ours.observe())


def test_costs_of_contact_are_bounded() -> None:
    ours = settled("Humanoid", contact_cost_weight=1.0, contact_cost_range=(0.0, 2.5))
    *_, info = ours.step(np.zeros(ours.action.shape))
    np.testing.assert_array_equal(info["reward_contact"], -2.5)
    ours = settled("Humanoid", contact_cost_weight=0.0)
    *_, info = ours.step(np.zeros(ours.action.shape))
    assert not info["reward_contact"].any()


@pytest.mark.parametrize("task", ["Ant", "Humanoid", "Hopper", "Swimmer", "Reacher"])
def test_one_world_has_gymnasiums_info(task: str) -> None:
    """The same entries with plain numbers, after a reset and after a step."""
    theirs, ours = gymnasium.make(f"{task}-v5"), gymnasium.make(f"stiction/{task}-v5")
    for expected, told in (
        (theirs.reset(seed=0)[1], ours.reset(seed=0)[1]),
        (theirs.step(theirs.action_space.sample())[4], ours.step(ours.action_space.sample())[4]),
    ):
        assert told.keys() == expected.keys()
        for key, value in expected.items():
            assert np.shape(told[key]) == np.shape(value), key
            assert np.ndim(value) or type(told[key]) is float


def test_tendons_are_mujocos() -> None:
    theirs, ours, _ = aloft("Humanoid")
    told = ours._info()
    np.testing.assert_allclose(told["tendon_length"][0], theirs.data.ten_length, atol=1e-12)
    np.testing.assert_allclose(told["tendon_velocity"][0], theirs.data.ten_velocity, atol=1e-12)


@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
def test_info_is_laid_out_as_gymnasiums_vector_environments_do(mode: str) -> None:
    """Beside a SyncVectorEnv of single environments with the same starts, through ends of
    episodes: keys, masks, kinds and, where worlds agree, numbers."""
    autoreset = gymnasium.vector.AutoresetMode(mode)
    n, steps = 3, 12

    def one() -> Any:
        return gymnasium.wrappers.TimeLimit(stiction.envs.OneEnv(stiction.envs.Hopper), 5)

    theirs = gymnasium.vector.SyncVectorEnv([one] * n, autoreset_mode=autoreset)
    ours = stiction.envs.Hopper(n, autoreset=mode, episode_steps=5)
    pairs = [(theirs.reset(seed=3)[1], ours.reset(seed=3)[1])]
    action = np.zeros((n, 3), np.float32)
    for _ in range(steps):
        pairs.append((theirs.step(action)[4], ours.step(action)[4]))
    ends = 0
    for expected, told in pairs:
        assert told.keys() == expected.keys()
        same_layout(told, expected)
        ends += "final_info" in told
    assert ends == (2 if mode == "SameStep" else 0)


def same_layout(told: dict[str, Any], expected: dict[str, Any]) -> None:
    for key, values in expected.items():
        if isinstance(values, dict):
            assert told[key].keys() == values.keys()
            same_layout(told[key], values)
        elif key.startswith("_"):
            np.testing.assert_array_equal(told[key], values)
        elif key != "final_obs":
            assert told[key].dtype == values.dtype and told[key].shape == values.shape
            mask = expected[f"_{key}"]
            assert (told[key][~mask] == 0).all()


def test_wrenches_of_geometries_are_a_batch_observation() -> None:
    """A box on the ground and a ball on the box, which are of trees of their own."""
    scene = stiction.Scene()
    scene.add_ground()
    X = np.eye(4)
    X[:3, 3] = [1.0, 2.0, 0.1]
    scene.add_body("box", stiction.Box([0.2, 0.1, 0.1]), 2.0, X)
    X[:3, 3] = [1.05, 2.0, 0.25]
    scene.add_body("ball", stiction.Sphere(0.05), 0.5, X)
    batch = stiction.Batch(scene, 3, dt=1e-3)
    names = [g.name for g in scene.geometries]
    assert not batch.observe("wrench", names).any()
    batch.step(100)
    wrench = batch.observe("wrench", names).reshape(3, 3, 6)
    np.testing.assert_allclose(wrench[:, 2, :3], [[0, 0, 0.5 * 9.81]] * 3, atol=1e-4)
    np.testing.assert_allclose(wrench[:, 1, :3], [[0, 0, 2.0 * 9.81]] * 3, atol=1e-4)
    np.testing.assert_allclose(wrench[:, 1:, 3:], 0, atol=1e-4)  # about own centres, at rest
    on_ground = np.cross([1.01, 2.0, 0.0], [0, 0, -2.5 * 9.81])  # about the world's origin
    np.testing.assert_allclose(wrench[:, 0, 3:], [on_ground] * 3, atol=1e-3)
    np.testing.assert_allclose(wrench[..., :3], batch.observe("force", names).reshape(3, 3, 3))
    np.testing.assert_allclose(batch.observe("com"), [[1.0, 2.0, 0.1]] * 3, atol=1e-4)
    with pytest.raises(ValueError, match="'wrench' needs feet"):
        batch.observe("wrench")
