"""Actuators, springs and keyframes of MJCF files beside MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
import stiction
from mjcf_beside_mujoco import DATA, Beside, close

pytestmark = pytest.mark.filterwarnings("ignore::stiction.LoadWarning")


def test_actuators_are_servos_and_torques() -> None:
    loaded = stiction.load_mjcf(DATA / "actuators.xml")
    scene, p = loaded.scene, loaded.scene.parameters
    assert [a.name for a in loaded.actuators][:3] == ["motor", "position", "velocity"]
    assert [a.kind for a in loaded.actuators][:3] == ["motor", "position", "velocity"]
    assert loaded.actuators[6].pulls == ("a", "b")
    servo, sprung = scene.dof("servo"), scene.dof("sprung")
    assert (p.kp[servo], p.kd[servo]) == pytest.approx((32.0, 2.4))
    assert p.kp[sprung] == pytest.approx(5.0)  # spring and actuator "soft"
    assert p.effort_limit[scene.dof("driven")] == 1.5
    control = loaded.control([5.0, 0.5, 0, 0, 9.0, 0, 0, 0, 0])
    assert control.torque[scene.dof("plain")] == 3.0  # ctrlrange
    assert control.torque[scene.dof("driven")] == pytest.approx(1.5)  # 5 * 0.3
    assert control.position_target[servo] == pytest.approx(0.25)
    assert control.position_target[sprung] == pytest.approx(3 * 0.4 / 5)
    held = loaded.hold("home")
    assert held.position_target[servo] == pytest.approx(-0.2)
    assert held.position_target[sprung] == pytest.approx((3 * 0.4 + 2 * 0.3) / 5)
    with pytest.raises(ValueError, match="ctrl has shape"):
        loaded.control([1.0])


def test_keyframes() -> None:
    loaded = stiction.load_mjcf(DATA / "actuators.xml")
    assert list(loaded.keyframes) == ["home", "key0"]
    state = loaded.state("home")
    assert state.time == 0.5 and state.v[1] == 0.1
    assert np.array_equal(state.q, loaded.scene.configurations["home"])
    ball = loaded.scene.joints[6]
    assert ball.type == "spherical"
    assert np.allclose(state.q[ball.q_index : ball.q_index + 4], [0.8, 0, 0, 0.6])
    assert loaded.keyframes["home"].ctrl[1] == 0.3
    with pytest.raises(ValueError, match="there are: home, key0"):
        loaded.state("away")


def test_a_servo_on_coupled_joints() -> None:
    """As of a Panda's fingers: MuJoCo's way, to first order in the time step, to the servo's
    balance."""
    file = DATA / "gripper.xml"
    loaded, m = stiction.load_mjcf(file, strict=True), mujoco.MjModel.from_xml_path(str(file))
    left, right = loaded.scene.dof("left"), loaded.scene.dof("right")
    control = loaded.control([50.0, 0.0])
    apart = []
    for dt in (1e-3, 2.5e-4):
        d, sim = mujoco.MjData(m), stiction.Simulator(loaded.scene, dt=dt)
        state, worst = sim.initial_state(), 0.0
        d.ctrl[0], m.opt.timestep = 50.0, dt
        for _ in range(round(1.0 / dt)):
            sim.step(state, control)
            mujoco.mj_step(m, d)
            ours = stiction.to_mujoco_qpos(loaded.scene, state.q)
            worst = max(worst, float(np.abs(ours - d.qpos)[[left, right]].max()))
        apart.append(worst)
    assert apart[0] < 6e-4 and apart[1] < 0.4 * apart[0]
    assert ours[left] == pytest.approx(ours[right] - 0.001, abs=1e-9)
    assert ours[left] + ours[right] == pytest.approx(2 * (0.3 * 50 + 0.1) / 500, abs=1e-6)


def test_rotors_push_a_free_body() -> None:
    file = DATA / "gripper.xml"
    beside, rng = Beside(file), np.random.default_rng(4)
    for _ in range(3):
        q, v, _ = beside.random(rng)
        beside.set(q, v, np.array([0.0, 2.0]))
        with_thrust = beside.d.qfrc_actuator.copy()
        i = beside.free_joints()[0].v_index
        ours = beside.ours.control([0.0, 2.0]).torque[i : i + 6]
        close(ours, (beside.turn(q).T @ with_thrust)[i : i + 6])
