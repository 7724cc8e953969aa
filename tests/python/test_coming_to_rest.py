"""What comes to rest, or falls freely with dry friction, is solved in every step."""

from __future__ import annotations

import numpy as np
import pytest
import stiction


def chain(
    rng: np.random.Generator,
    links: int,
    friction: float | None = None,
    damping: float | None = None,
) -> str:
    """A URDF of some links on hinges and slides."""
    text = "<robot name='chain'>"
    for i in range(links):
        m = float(10 ** rng.uniform(-1, 1))
        inertia = m * 0.04**2
        text += (
            f"<link name='l{i}'><inertial><origin xyz='{rng.uniform(-0.05, 0.05)} .01 .02'/>"
            f"<mass value='{m}'/><inertia ixx='{inertia}' iyy='{inertia * 1.1}' "
            f"izz='{inertia * 1.2}' ixy='0' ixz='0' iyz='0'/></inertial></link>"
        )
    for i in range(1, links):
        axis = rng.normal(size=3)
        axis /= np.linalg.norm(axis)
        at = 0.16 * rng.normal(size=3)
        f = float(rng.choice([0.0, 0.1, 0.3])) if friction is None else friction
        d = float(rng.choice([0.0, 0.05, 1.0, 20.0])) if damping is None else damping
        kind = rng.choice(["revolute", "continuous", "prismatic"])
        limit = (
            ""
            if kind == "continuous"
            else "<limit lower='-.5' upper='.5' effort='100' velocity='9'/>"
        )
        text += (
            f"<joint name='j{i}' type='{kind}'><parent link='l{i - 1}'/><child link='l{i}'/>"
            f"<origin xyz='{at[0]} {at[1]} {at[2]}'/><axis xyz='{axis[0]} {axis[1]} {axis[2]}'/>"
            f"{limit}<dynamics damping='{d}' friction='{f}'/></joint>"
        )
    return text + "</robot>"


def scene_of(text: str, free: bool, gear: bool, gravity: bool) -> stiction.Scene:
    scene = stiction.Scene()
    scene.add_robot(stiction.load_urdf_string(text, "chain.urdf", free_flyer=free))
    joints = [j for j in scene.joints if j.nv == 1 and j.type != "continuous"]
    if gear and len(joints) >= 2:
        scene.add_gear("gear", joints[0].v_index, joints[1].v_index, 0.7, 0.0)
    scene.enable_only([])
    if not gravity:
        scene.parameters.gravity[:] = 0
    return scene


@pytest.mark.parametrize("gear", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_free_fall_with_dry_friction_costs_nothing(seed: int, gear: bool) -> None:
    """At rest in free fall the joints feel nothing: no row has work to do."""
    rng = np.random.default_rng([1, seed])
    scene = scene_of(chain(rng, int(rng.integers(3, 7)), 0.3, 0.05), True, gear, True)
    sim = stiction.Simulator(scene, dt=1e-3)
    state = sim.initial_state()
    factorisations = 0
    for _ in range(200):
        report = sim.step(state)
        assert report.status == "ok"
        factorisations += report.factorisations
    most = 200 if gear else 0  # a gear's own matrix
    assert factorisations <= most
    assert np.abs(state.v[6:]).max() < 1e-12


@pytest.mark.parametrize("seed", range(24))
def test_joints_come_to_rest_and_stay(seed: int) -> None:
    """Without gravity dry friction and damping end every motion; no step fails on the way."""
    rng = np.random.default_rng([2, seed])
    fixed, gear = seed % 2 == 0, seed % 3 != 0
    scene = scene_of(chain(rng, int(rng.integers(3, 6))), not fixed, gear, False)
    sim = stiction.Simulator(scene, dt=float(rng.choice([1e-3, 5e-3])))
    state = sim.initial_state()
    v = 0.3 * rng.normal(size=scene.nv)
    if not fixed:
        v[:6] = 0
    state.v = v
    for _ in range(3000):
        report = sim.step(state)
        assert report.status == "ok", report
    speeds = np.abs(np.asarray(state.v))
    assert np.all((speeds == 0.0) | (speeds >= 1e-30))


def test_a_joint_that_dry_friction_stops_has_speed_zero() -> None:
    """Within three steps after it stops, with gravity and without, in a Batch too."""
    text = chain(np.random.default_rng(4), 4, 0.5, 0.0)
    for gravity in (True, False):
        scene = scene_of(text, False, False, gravity)
        scene.parameters.dry_friction[:] = 200.0
        sim = stiction.Simulator(scene, dt=1e-3)
        state = sim.initial_state()
        state.v = 1e-3 * np.array([1.0, -2.0, 3.0])[: scene.nv]
        batch = stiction.Batch(scene, 3, dt=1e-3)
        batch.v[:] = np.asarray(state.v)
        for _ in range(3):
            assert sim.step(state).status == "ok"
        batch.step(3)
        assert np.all(np.asarray(state.v) == 0.0)
        assert np.all(np.asarray(batch.v) == 0.0)
        q = np.array(state.q)
        sim.step(state)
        assert np.array_equal(q, state.q)


def test_a_boost_of_the_scene_changes_tolerances_by_rounding_alone() -> None:
    """At 100 m/s a falling robot with dry friction is solved as at rest."""
    scene = scene_of(chain(np.random.default_rng(6), 5, 0.2, 0.0), True, False, True)
    sim = stiction.Simulator(scene, dt=1e-3)
    for speed in (0.0, 1.0, 100.0):
        state = sim.initial_state()
        v = np.zeros(scene.nv)
        v[:3] = speed
        state.v = v
        for _ in range(100):
            report = sim.step(state)
            assert report.status == "ok" and report.iterations <= 8
        assert np.abs(state.v[6:]).max() <= 1e-13 * max(1.0, speed)
