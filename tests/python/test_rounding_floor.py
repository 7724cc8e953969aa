"""Where exact answers are smaller than the rounding of the state, no step may fail.

Joints whose limits coincide, exact fits without gravity; and a small island beside a fast one is
judged by its own velocities.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
import stiction

LINK = """<link name='{name}'><inertial><origin xyz='{com} 0 0'/><mass value='{mass}'/>
<inertia ixx='.1' iyy='.1' izz='.1' ixy='0' ixz='0' iyz='0'/></inertial></link>"""


def locked_joint(kind: str, com: float, at: float, width: float, dry: float, free: bool):
    """One joint of which only [at - width, at + width] is allowed."""
    text = (
        "<robot name='r'>"
        + LINK.format(name="a", com=0, mass=1)
        + LINK.format(name="b", com=com, mass=1)
        + f"<joint name='j' type='{kind}'><parent link='a'/><child link='b'/><axis xyz='0 1 0'/>"
        f"<limit lower='{at - width!r}' upper='{at + width!r}' effort='1e9' velocity='1e9'/>"
        f"<dynamics friction='{dry}'/></joint></robot>"
    )
    scene = stiction.Scene()
    scene.add_robot(stiction.load_urdf_string(text, free_flyer=free))
    return scene


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_locked_joints(kind: str, free: bool) -> None:
    seen: Counter[str] = Counter()
    for com, at, width, dry in product((0.0, 0.1), (0.0, 0.03), (0.0, 1e-12), (0.0, 0.5)):
        sim = stiction.Simulator(locked_joint(kind, com, at, width, dry, free))
        state = sim.initial_state()
        if free:
            state.v[3:6] = [1, 2, 3]
        state.v[-1] = 0.3
        for k in range(150):
            report = sim.step(state)
            case = (com, at, width, dry, k, report.solver_status, sim.problem().g)
            assert report.status == "ok", case
            largest = np.abs(sim.solution().impulse).max(initial=0.0)
            assert largest < 3.0, (case, largest)  # two limits do not squeeze each other
        seen[str(width)] += 1
        assert abs(state.q[-1] - at) < 1e-3 + width
    assert set(seen) == {"0.0", "1e-12"}


def test_exact_fits_without_gravity() -> None:
    rng = np.random.default_rng(1)
    sizes = []
    for _ in range(12):
        scene, a = stiction.Scene(), 0.1 * rng.uniform(0.5, 2)
        n = rng.normal(size=3)
        n /= np.linalg.norm(n)
        material = stiction.Material(friction=0.5)
        scene.add_half_space("left", n * a, -n, material)
        scene.add_half_space("right", -n * a, n, material)
        x = np.cross(n, [1, 0, 0]) / np.linalg.norm(np.cross(n, [1, 0, 0]))
        pose = np.eye(4)
        pose[:3, :3] = np.stack([x, np.cross(n, x), n], 1)
        scene.add_body("box", stiction.Box([a, a, a]), 1.0, pose, material)
        sim = stiction.Simulator(scene)
        sim.parameters.gravity = [0, 0, 0]
        state = sim.initial_state()
        for k in range(100):
            report = sim.step(state)
            assert report.status == "ok", (a, n, k, report.solver_status)
        sizes.append(np.abs(sim.problem().g).max(initial=0.0))
        assert np.abs(state.v).max() < 1e-10
    assert max(sizes) > 1e-16  # rounding was there


def test_residuals_are_those_of_each_island() -> None:
    """A box at rest and one at 100 m/s: the report is the worse of what each is by its own V."""
    scene = stiction.Scene()
    material = stiction.Material(friction=0.5)
    scene.add_ground(material)
    for name, x in (("rest", 0.0), ("fast", 5.0)):
        pose = np.eye(4)
        pose[:3, 3] = [x, 0, 0.1]
        scene.add_body(name, stiction.Box([0.1] * 3), 1.0, pose, material)
    sim = stiction.Simulator(scene, solver="ncp-pgs", tolerance=1e-14, max_iterations=3)
    state = sim.initial_state()
    state.v[6:12] = [100, 20, 0, 1, 2, 3]
    worse = 0
    for _ in range(20):
        report = sim.step(state)
        problem, solution = sim.problem(), sim.solution()
        starts = problem._structure()["island_start"]
        sets = problem.sets
        each = []
        for first, last in pairwise(starts):
            rows = slice(sets[first].offset, sets[last - 1].offset + sets[last - 1].dim)
            alone = stiction.ContactProblem(
                problem.dense()[rows, rows], problem.g[rows], sets=sets[first:last]
            )
            each.append(stiction.residuals(alone, solution.impulse[rows]))
        floor = max(problem._structure()["velocity_floor"])
        if max(r.dual for r in each) > floor:
            largest = max(r.relative for r in each)
            assert report.residuals.relative == pytest.approx(largest, rel=1e-6, abs=1e-12)
            whole = stiction.residuals(
                stiction.ContactProblem(problem.dense(), problem.g, sets=sets), solution.impulse
            )
            worse += whole.relative < 0.9 * largest
    assert worse > 0  # one V for both would have said less
