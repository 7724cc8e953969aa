"""What a Simulator did before leaves no byte in what it does next."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import stiction

AXES = ("1 0 0", "0 1 0", "0 0 1")


def random_robot(rng: np.random.Generator, folder: Path) -> stiction.Scene:
    """Some spheres and boxes on joints, many of them on the axes, where hardly anything moves
    them; on a height field."""
    text = ['<robot name="r"><link name="l0"/>']
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
