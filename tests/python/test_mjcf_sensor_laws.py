"""Sensors of forces at random places: which contacts a touch sensor counts, arms and axes of force
and torque sensors, signs and sums of limits; against MuJoCo and balances."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest
import stiction

pytestmark = pytest.mark.filterwarnings("ignore::stiction.LoadWarning")
KINDS = ("sphere", "capsule", "ellipsoid", "cylinder", "box")


def words(numbers: Any) -> str:
    return " ".join(f"{x:.6f}" for x in numbers)


def random_site(rng: np.random.Generator, name: str, at: Any) -> str:
    size, place = rng.uniform(0.02, 0.06, 3), at + rng.uniform(-0.08, 0.08, 3)
    return (
        f'<site name="{name}" type="{rng.choice(KINDS)}" size="{words(size)}" '
        f'pos="{words(place)}" quat="{words(rng.normal(size=4))}"/>'
    )


@pytest.mark.parametrize("first", ["ball", "post"])
def test_touch_counts_what_mujocos_does(first: str) -> None:
    """One contact and sites all about it on both bodies, at any orientation of the ball; either
    body's geom is the first of the pair."""
    counted = {"ball": 0, "post": 0}
    for seed in range(6):
        rng = np.random.default_rng(seed)
        q = rng.normal(size=4)
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, q / np.linalg.norm(q))
        below = R.reshape(3, 3).T @ [0, 0, -0.1]  # of the contact, in axes of the ball
        sites = {
            "ball": "".join(random_site(rng, f"ball{i}", below) for i in range(8)),
            "post": "".join(random_site(rng, f"post{i}", [0, 0, 0.2]) for i in range(8)),
        }
        bodies = {
            "ball": f'<body pos=".3 .2 .4" quat="{words(q)}"><freejoint/>'
            f'<geom size=".1" mass="2"/>{sites["ball"]}</body>',
            "post": '<body pos=".3 .2 .1"><geom type="box" size=".2 .2 .2"/>'
            f"{sites['post']}</body>",
        }
        order = (first, "post" if first == "ball" else "ball")
        names = [f"{body}{i}" for body in counted for i in range(8)]
        sensors = "".join(f'<touch name="{n}" site="{n}"/>' for n in names)
        text = f"""<mujoco><worldbody>{"".join(bodies[b] for b in order)}</worldbody>
          <sensor>{sensors}</sensor></mujoco>"""
        m, run = mujoco.MjModel.from_xml_string(text), stiction.load_mjcf(text).simulation()
        d = mujoco.MjData(m)
        for _ in range(300):
            mujoco.mj_step(m, d)
            run.step()
        theirs = d.sensordata > 1.0
        ours = np.array([run.sensor(n)[0] for n in names])
        np.testing.assert_array_equal(ours > 1.0, theirs)
        np.testing.assert_allclose(ours[theirs], 2 * 9.81, rtol=1e-4)
        for k, n in enumerate(names):
            counted[n[:4]] += int(theirs[k])
    assert all(8 < n < 40 for n in counted.values()), counted


@pytest.mark.parametrize("seed", range(4))
def test_force_and_torque_sensors_at_any_place(seed: int) -> None:
    """A lever on a hinge at the origin lies on a post and carries half of its weight to the hinge,
    without a moment; about a site that is (p_hinge - p_site) x F, in its axes."""
    rng = np.random.default_rng(seed)
    place, q = rng.uniform(-0.3, 0.3, 3), rng.normal(size=4)
    text = f"""<mujoco><worldbody><geom type="sphere" condim="1" size=".05" pos=".4 0 -.07"/>
      <body><joint axis="0 1 0"/><geom type="capsule" condim="1" size=".02" fromto="0 0 0 .4 0 0"
        mass="1"/><site name="s" pos="{words(place)}" quat="{words(q)}"/></body></worldbody>
      <sensor><force name="f" site="s"/><torque name="t" site="s"/></sensor></mujoco>"""
    run = stiction.load_mjcf(text).simulation()
    for _ in range(1500):
        run.step()
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, q / np.linalg.norm(q))
    R = R.reshape(3, 3)
    force = np.array([0.0, 0.0, 0.5 * 9.81])
    assert run.sensor("f") == pytest.approx(R.T @ force, abs=1e-3)
    assert run.sensor("t") == pytest.approx(R.T @ np.cross(-place, force), abs=1e-3)


@pytest.mark.parametrize("first", [True, False])
def test_torque_sensors_take_couples_of_friction(first: bool) -> None:
    """A ball spins on a plate: the plate takes torsional friction times its weight from its
    parent, against the spin; its geom is the first of the pair or the second."""
    plate = """<body pos="0 0 1"><joint type="slide" axis="1 0 0"/>
      <geom type="box" size=".3 .3 .05" mass="3" condim="4" friction="1 .02 .001"/>
      <site name="s" pos="0 0 .1"/></body>"""
    ball = """<body pos="0 0 1.15"><freejoint/>
      <geom size=".1" mass="2" condim="4" friction="1 .02 .001"/></body>"""
    bodies = plate + ball if first else ball + plate
    text = f"""<mujoco><worldbody>{bodies}</worldbody>
      <sensor><torque name="t" site="s"/></sensor></mujoco>"""
    run = stiction.load_mjcf(text).simulation()
    spin = run.sim.scene.robots[1 if first else 0].v_offset + 5
    run.state.v[spin] = 40.0
    for _ in range(50):
        run.step()
    assert run.state.v[spin] > 1.0
    assert run.sensor("t") == pytest.approx([0.0, 0.0, -0.02 * 2 * 9.81], abs=1e-4)


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 0, -1), (0.6, 0, 0.8)])
@pytest.mark.parametrize(("beyond", "speed"), [(0.0, 0.0), (0.005, 0.0), (0.005, 1.0)])
def test_forces_of_limits_balance(
    axis: tuple[float, float, float], beyond: float, speed: float
) -> None:
    """What a limit pushes with, from the change of momentum of a slide that starts at its limit or
    beyond it, where a second row brings it back: never negative, at the lower and the upper end."""
    text = f"""<mujoco><option timestep="2e-3"/><worldbody>
      <body><joint name="other" type="slide" axis="0 1 0" range="-1 1"/><geom size=".1"/></body>
      <body><joint name="j" type="slide" axis="{words(axis)}" limited="true" range="-.1 .1"/>
        <geom size=".1" mass="3" contype="0" conaffinity="0"/></body></worldbody>
      <sensor><jointlimitfrc name="f" joint="j"/><jointlimitfrc name="g" joint="other"/></sensor>
      </mujoco>"""
    run = stiction.load_mjcf(text).simulation()
    dof, end = run.sim.scene.dof("j"), -np.sign(axis[2])
    run.state.q[dof], run.state.v[dof] = end * (0.1 + beyond), end * speed
    pulled = -9.81 * 3.0 * axis[2]
    for _ in range(8):
        before = float(run.state.v[dof])
        run.step()
        needed = 3.0 * (float(run.state.v[dof]) - before) / 2e-3 - pulled
        assert run.sensor("f")[0] == pytest.approx(-end * needed, abs=1e-6)
        assert run.sensor("f")[0] >= 0.0 and run.sensor("g")[0] == 0.0
    if beyond == 0.0:
        assert run.sensor("f")[0] == pytest.approx(abs(pulled), rel=1e-6)


def test_both_rows_of_a_limit_count() -> None:
    """A light plate that starts below its limit under a heavy ball: what brings it back is bounded,
    the limit holds the rest, and the sensor tells what both carry."""
    text = """<mujoco><option timestep="2e-3"/><worldbody>
      <body pos="0 0 1"><joint name="j" type="slide" axis="0 0 1" limited="true" range="0 1"/>
        <geom type="box" size=".2 .2 .05" mass=".05"/></body>
      <body pos="0 0 1.145"><freejoint/><geom size=".1" mass="50"/></body></worldbody>
      <sensor><jointlimitfrc name="f" joint="j"/></sensor></mujoco>"""
    run = stiction.load_mjcf(text).simulation()
    dof, both = run.sim.scene.dof("j"), 0
    run.state.q[dof] = -0.005
    for _ in range(10):
        before = float(run.state.v[dof])
        run.step()
        ball = sum(c.force_on_b_world[2] for c in run.sim.contacts())
        needed = 0.05 * ((float(run.state.v[dof]) - before) / 2e-3 + 9.81) + ball
        assert run.sensor("f")[0] == pytest.approx(needed, rel=1e-6)
        acting = [f for source, _, f in run._row_forces() if "limit" in source]
        both += len(acting) == 2 and min(np.abs(acting)) > 1.0
    assert both
