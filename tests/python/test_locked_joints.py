"""A joint whose two limits are one, as many files lock it: one row, which pushes either way."""

from __future__ import annotations

import numpy as np
import pytest
import stiction

ARM = """<robot name="arm">
<link name="base"><inertial><mass value="1"/><inertia ixx=".1" iyy=".1" izz=".1"
 ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="upper"><inertial><origin xyz=".2 0 0"/><mass value="1"/><inertia ixx=".01" iyy=".02"
 izz=".02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="lower"><inertial><origin xyz=".2 0 0"/><mass value=".5"/><inertia ixx=".01" iyy=".02"
 izz=".02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
<limit lower="-9" upper="9" effort="100" velocity="10"/></joint>
<joint name="elbow" type="revolute"><parent link="upper"/><child link="lower"/>
<origin xyz=".4 0 0"/><axis xyz="0 1 0"/>{limit}{friction}</joint></robot>"""


def arm(angle: float | None = 0.3, friction: float = 0.0) -> stiction.Simulator:
    """A double pendulum whose elbow is locked at an angle."""
    limit = f'<limit lower="{angle}" upper="{angle}" effort="100" velocity="10"/>'
    brake = f'<dynamics friction="{friction}"/>'
    xml = ARM.format(limit=limit, friction=brake)
    scene = stiction.Scene()
    scene.add_robot(stiction.load_urdf_string(xml, "arm", free_flyer=False), np.eye(4))
    return stiction.Simulator(scene, dt=1e-3, tolerance=1e-12)


def swinging(sim: stiction.Simulator, angle: float) -> stiction.State:
    state = sim.initial_state()
    state.q[:] = 0.2, angle
    state.v[:] = 0.5, 0.0
    return state


@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("angle", [0.0, 0.3, -0.3])
def test_a_locked_elbow_is_one_row_and_does_not_move(angle: float, friction: float) -> None:
    sim = arm(angle, friction)
    state = swinging(sim, angle)
    pushes = []
    for _ in range(1500):
        report = sim.step(state)
        assert report.status == "ok" and report.num_rows == 1
        assert abs(state.v[1]) < 1e-10 and abs(state.q[1] - angle) < 1e-10
        (row,) = sim.problem().sets
        assert row.kind == "box" and row.lower == -np.inf and row.upper == np.inf
        pushes.append(sim.solution().impulse[0])
    assert min(pushes) < 0.0 < max(pushes)


def test_it_swings_as_a_welded_arm_does() -> None:
    """The inertia of both links about the shoulder, by the parallel axis theorem."""
    angle = 0.3
    sim = arm(angle)
    sim.parameters.gravity = np.zeros(3)
    state = swinging(sim, angle)
    control = sim.hold()
    control.torque[0] = 2.0
    step = sim.step(state, control)
    assert step.status == "ok"
    centre = np.array([0.4 + 0.2 * np.cos(angle), 0.2 * np.sin(angle)])
    inertia = (0.02 + 0.2**2) + (0.02 + 0.5 * centre @ centre)
    assert state.v[0] - 0.5 == pytest.approx(2.0 * 1e-3 / inertia, rel=1e-9)


def test_what_is_out_comes_back_from_either_side() -> None:
    for error in (0.01, -0.01, 0.5, -0.5):
        sim = arm(0.3)
        state = swinging(sim, 0.3 + error)
        for _ in range(1500):
            assert sim.step(state).status == "ok"
        assert abs(state.q[1] - 0.3) < 1e-6


def test_the_tape_of_a_locked_joint_is_that_of_differences() -> None:
    sim = arm(0.3)
    for error in (0.0, 1e-3, -1e-3):
        start = np.r_[0.2, 0.3 + error, 0.5, 0.2]

        def end(x: np.ndarray, tape: bool = False) -> stiction.RolloutTape:
            state = sim.initial_state()
            state.q[:], state.v[:] = x[:2], x[2:]
            return sim.rollout(state, steps=3, record=("q", "v"), tape=tape)

        base = end(start, True)
        W = np.random.default_rng(2).normal(size=(3, 4))
        gradients = [base.adjoint(w, wrt=("initial_q", "initial_v")) for w in W]
        assert all(g.report.gap_kinks == 0 for g in gradients)
        tape = np.array([np.r_[g.initial_q, g.initial_v] for g in gradients])
        both = [
            [np.r_[t.q[-1], t.v[-1]] for t in (end(start + h), end(start - h))]
            for h in 1e-7 * np.eye(4)
        ]
        differences = np.array([W @ (a - b) / 2e-7 for a, b in both]).T
        np.testing.assert_allclose(tape, differences, atol=1e-6 * np.abs(differences).max())


def test_batches_have_the_same_bits() -> None:
    sim = arm(0.3)
    batch = stiction.Batch(sim.scene, 3, dt=1e-3, tolerance=1e-12)
    state = swinging(sim, 0.3)
    batch.q[:], batch.v[:] = state.q, state.v
    for _ in range(200):
        sim.step(state)
        batch.step()
    assert all(np.array_equal(batch.q[w], state.q) for w in range(3))
    assert all(np.array_equal(batch.v[w], state.v) for w in range(3))
