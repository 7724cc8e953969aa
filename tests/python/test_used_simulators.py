"""What a Simulator did before leaves no byte in what it does next."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import stiction
from random_rotations import random_rotation

AXES = ("1 0 0", "0 1 0", "0 0 1")


def random_robot(rng: np.random.Generator, folder: Path) -> stiction.Scene:
    """Some spheres and boxes on joints, many of them on the axes, where hardly anything moves
    them; on a height field."""
    text = [
        '<robot name="r"><link name="l0"><inertial><mass value="0.1"/>'
        '<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    ]
    for k in range(1, int(rng.integers(3, 6))):
        mass, size = 10.0 ** rng.uniform(-1, 1), rng.uniform(0.03, 0.12)
        at = " ".join(f"{x:.3f}" for x in rng.uniform(-0.1, 0.1, 3) * (rng.random() < 0.4))
        to = " ".join(f"{x:.3f}" for x in rng.uniform(-0.25, 0.25, 3))
        shape = rng.choice(
            [f'<sphere radius="{size:.3f}"/>', f'<box size="{size:.3f} {size:.3f} {size:.3f}"/>']
        )
        text.append(
            f'<link name="l{k}"><inertial><origin xyz="{at}"/><mass value="{mass}"/>'
            f'<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>'
            f'<collision><origin xyz="{at}"/><geometry>{shape}</geometry></collision></link>'
            f'<joint name="j{k}" type="{rng.choice(["revolute", "prismatic"])}">'
            f'<parent link="l{k - 1}"/><child link="l{k}"/><origin xyz="{to}"/>'
            f'<axis xyz="{rng.choice(AXES)}"/>'
            f'<limit lower="-1" upper="1" effort="50" velocity="10"/></joint>'
        )
    file = folder / "robot.urdf"
    file.write_text("".join(text) + "</robot>")
    scene = stiction.load(file, free_flyer=bool(rng.random() < 0.3), ground=False)
    heights = rng.normal(size=(21, 21)) * 0.1 - 0.1
    scene.add_geometry("terrain", "world", stiction.HeightField(heights, [0.1, 0.1]))
    return scene


def heap(rng: np.random.Generator, robot: bool) -> stiction.Scene:
    """Overlapping loose bodies of materials with couples, springs and restitution on a plane; a
    robot among them."""
    scene = stiction.load("solo12") if robot else stiction.Scene()
    made = [
        stiction.Material(friction=0.6, torsional_friction=0.01, rolling_friction=0.02),
        stiction.Material(friction=0.4, restitution=0.4),
        stiction.Material(friction=0.8, stiffness=1e5, damping=200.0),
    ]
    if not robot:
        scene.add_ground(made[0])
    for k in range(int(rng.integers(3, 9))):
        X = np.eye(4)
        X[:3, :3] = random_rotation(rng)
        X[:3, 3] = rng.uniform([-0.3, -0.3, 0.1], [0.3, 0.3, 0.5])
        size = rng.uniform(0.03, 0.12, 3)
        shape = stiction.Box(size) if k % 2 else stiction.Sphere(size[0])
        scene.add_body(f"b{k}", shape, 10.0 ** rng.uniform(-1, 1), X, made[rng.integers(3)])
    return scene


@pytest.mark.filterwarnings("ignore::stiction.StartWarning", "ignore::stiction.NotConvergedWarning")
def test_nor_does_it_with_couples_springs_bounces_caps_and_budgets() -> None:
    couples = unsolved = springs = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        scene = heap(rng, robot=seed % 4 == 0)
        settings = {
            "tangential_compliance": bool(seed % 3 == 0),
            "max_factorisations": [0, 1, 30][seed % 3],
            "recovery_speed": [0.5, np.inf][seed % 2],
            "sleeping": bool(seed % 5 == 0),
        }
        used = stiction.Simulator(scene, **settings)
        state = used.initial_state()
        state.v[:] = rng.normal(size=scene.nv)
        for _ in range(25):
            before = state.copy()
            report = used.step(state)
            unsolved += report.status != "ok"
            couples += any(np.any(c.moment) for c in state.contacts)
            springs += any(np.any(c.extension) for c in state.contacts)
            fresh = stiction.Simulator(scene, **settings)
            fresh.step(before)
            assert before.save() == state.save(), seed
    assert couples > 100 and springs > 50 and unsolved > 20


@pytest.mark.filterwarnings("ignore::stiction.StartWarning")
def test_a_batch_on_lanes_that_was_used_before_is_a_fresh_one() -> None:
    scene = stiction.load("solo12")
    rng = np.random.default_rng(0)
    v = rng.normal(size=(6, scene.nv))
    q = np.tile(stiction.Simulator(scene).initial_state("standing").q, (6, 1))

    def flown(batch: stiction.Batch) -> list[bytes]:
        batch.reset(q=q, v=v)
        batch.step(20)
        return [batch.state(world).save() for world in range(6)]

    for caps in (0.5, np.inf):
        used, fresh = (stiction.Batch(scene, 6, recovery_speed=caps) for _ in range(2))
        used.step(50)
        assert flown(used) == flown(fresh)
        for world in range(6):
            sim, state = stiction.Simulator(scene, recovery_speed=caps), fresh.state(world)
            state.q, state.v, state.time, state.contacts = q[world], v[world], 0.0, []
            for _ in range(20):
                sim.step(state)
            assert np.array_equal(state.q, fresh.q[world]), caps


def test_states_of_used_and_fresh_simulators_are_the_same_bytes(tmp_path: Path) -> None:
    hard = touching = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        scene = random_robot(rng, tmp_path)
        used = stiction.Simulator(scene)
        state = used.initial_state()
        state.v[:] = rng.normal(size=scene.nv) * 3.0
        for _ in range(25):
            before = state.copy()
            try:
                report = used.step(state)
            except stiction.SimulationError:  # numbers that are not finite: a state left alone
                break
            hard += report.factorisations > 100
            touching += report.num_contacts > 0
            again = before.copy()
            used.step(again)
            assert again.save() == state.save()
            if report.factorisations > 100 or rng.random() < 0.1:
                fresh = stiction.Simulator(scene)
                fresh.step(before)
                assert before.save() == state.save()
    assert hard > 50 and touching > 300
