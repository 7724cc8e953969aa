"""Piles with something in them that is no loose body: a robot, a weld, joints with limits and dry
friction. They take the way of piles of loose bodies, and no more work than some of these."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import stiction
from random_rotations import random_rotation

BAR = """<robot name="bar"><link name="base"/><link name="plate"><inertial><mass value="2"/>
<inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><box size=".04 .04 .3"/></geometry></collision></link>
<joint name="slide" type="prismatic"><parent link="base"/><child link="plate"/><axis xyz="1 0 0"/>
<origin xyz="0 0 .15"/><limit lower="-.05" upper=".05" effort="1000" velocity="10"/>
<dynamics friction="20"/></joint></robot>"""


def placed(rng: np.random.Generator, *at: float) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = random_rotation(rng), at
    return X


def container(bodies: int, material: stiction.Material) -> stiction.Scene:
    """Boxes and hulls of unequal masses above each other between four walls."""
    rng = np.random.default_rng(1)
    scene = stiction.Scene()
    scene.add_ground(material)
    for k, (x, y) in enumerate(((1, 0), (-1, 0), (0, 1), (0, -1))):
        X = np.eye(4)
        X[:3, 3] = 0.37 * x, 0.37 * y, 0.5
        half = [0.02 if x else 0.4, 0.02 if y else 0.4, 0.5]
        scene.add_geometry(f"side{k}", "world", stiction.Box(half), X, material)
    for k in range(bodies):
        size = rng.uniform(0.04, 0.09)
        points = rng.normal(size=(14, 3))
        points *= size / np.linalg.norm(points, axis=1)[:, None] * rng.uniform(0.6, 1, (14, 1))
        shape = (
            stiction.ConvexMesh(points) if k % 2 else stiction.Box(size * rng.uniform(0.4, 1, 3))
        )
        at = 0.15 * (k % 4 - 1.5), 0.15 * (k // 4 % 4 - 1.5), 0.1 + 0.16 * (k // 16)
        scene.add_body(f"b{k}", shape, rng.uniform(0.1, 3.0), placed(rng, *at), material)
    return scene


def with_a_joint(scene: stiction.Scene) -> None:
    scene.add_robot(stiction.load_urdf_string(BAR, free_flyer=False))
    scene.set_gains("slide", 2000.0, 100.0)


def with_a_weld(scene: stiction.Scene) -> None:
    """Two neighbours as they lie at the start."""
    sim = stiction.Simulator(scene)
    poses = sim.body_poses(sim.initial_state())
    a, b = (np.asarray(poses[scene.body(name)].homogeneous) for name in ("b20", "b24"))
    scene.add_weld("weld", "b20", np.linalg.inv(a) @ b, "b24", np.eye(4))


def work(change: Callable[[stiction.Scene], None], **settings: float) -> np.ndarray:
    """Factorisations of 300 steps of 60 bodies, all of which are solved."""
    scene = container(60, stiction.Material(friction=0.5))
    change(scene)
    sim = stiction.Simulator(scene, dt=2e-3, **settings)
    state, control = sim.initial_state(), sim.hold()
    taken, deep = [], 0.0
    for k in range(300):
        report = sim.step(state, control)
        assert report.converged and report.status == "ok", k
        assert report.residuals.relative <= report.tolerance
        taken.append(report.factorisations)
        deep = max(deep, report.penetration if k > 250 else 0.0)
    assert deep < 5e-3 and report.num_rows > 400
    return np.array(taken)


@pytest.mark.filterwarnings("ignore::stiction.StartWarning")
def test_a_joint_or_a_weld_costs_little_more_than_loose_bodies() -> None:
    alone = work(lambda scene: None)
    for change in (with_a_joint, with_a_weld):
        mixed = work(change)
        assert mixed[150:].mean() <= 1.5 * alone[150:].mean() + 10.0, change
        assert mixed.max() <= 1200  # two solutions of an impact


@pytest.mark.filterwarnings("ignore::stiction.StartWarning")
def test_they_are_solved_to_the_usual_tolerance_where_it_is_asked_for() -> None:
    taken = work(with_a_joint, tolerance_large=1e-8)
    assert taken[150:].mean() < 150.0
