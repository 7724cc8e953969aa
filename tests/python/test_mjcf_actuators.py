"""Actuators, springs and keyframes of MJCF files beside MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
import stiction
from mjcf_beside_mujoco import DATA, Beside, close, file_of

pytestmark = pytest.mark.filterwarnings("ignore::stiction.LoadWarning")


def test_actuators_are_servos_and_torques() -> None:
    loaded = stiction.load_mjcf(DATA / "actuators.xml")
    scene, p = loaded.scene, loaded.scene.parameters
    assert [a.name for a in loaded.actuators][:3] == ["motor", "position", "velocity"]
    assert [a.kind for a in loaded.actuators][:3] == ["motor", "position", "velocity"]
    assert loaded.actuators[6].pulls == ("a", "b")
    servo, sprung = scene.dof("servo"), scene.dof("sprung")
    assert (p.kp[servo], p.kd[servo]) == pytest.approx((32.0, 2.4))
    assert p.kp[sprung] == pytest.approx(2.0)  # actuator "soft"
    assert (p.spring_stiffness[sprung], p.spring_rest[sprung]) == pytest.approx((3.0, 0.4))
    assert np.count_nonzero(p.spring_stiffness) == 1
    assert p.effort_limit[scene.dof("driven")] == 1.5
    control = loaded.control([5.0, 0.5, 0, 0, 9.0, 0, 0, 0, 0])
    assert control.torque[scene.dof("plain")] == 3.0  # ctrlrange
    assert control.torque[scene.dof("driven")] == pytest.approx(1.5)  # 5 * 0.3
    assert control.position_target[servo] == pytest.approx(0.25)
    assert control.position_target[sprung] == 0.0
    held = loaded.hold("home")
    assert held.position_target[servo] == pytest.approx(-0.2)
    assert held.position_target[sprung] == pytest.approx(0.3)
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


@pytest.mark.parametrize("name", ["actuators", "joints", "half_cheetah", "humanoid"])
def test_springs_pull_as_in_mujoco(name: str) -> None:
    beside = Beside(file_of(name))
    scene, p = beside.scene, beside.scene.parameters
    rng = np.random.default_rng(3)
    assert np.any(p.spring_stiffness > 0)
    one_dof = [k for k, dof in enumerate(scene.dof_names) if "[" not in dof]
    for _ in range(20):
        q, v, ctrl = beside.random(rng)
        beside.set(q, v, ctrl)
        force = p.spring_stiffness * (p.spring_rest - scene.dof_positions(q))
        close(force[one_dof], beside.d.qfrc_spring[one_dof], 1e-12)
        close((force - p.damping * v)[one_dof], beside.d.qfrc_passive[one_dof], 1e-12)


def test_springs_need_no_control() -> None:
    """They pull by themselves, beyond effort limits, and their energy is reported."""
    loaded = stiction.load_mjcf(
        "<mujoco><option gravity='0 0 0'/><worldbody><body><joint name='hinge' stiffness='3'"
        " springref='20' actuatorfrcrange='-0.1 0.1'/><geom size='.1' pos='.2 0 0'/></body>"
        "</worldbody></mujoco>",
        strict=True,
    )
    scene = loaded.scene
    sim = stiction.Simulator(scene, dt=1e-4)
    state = sim.initial_state()
    report = sim.step(state)
    rest = np.deg2rad(20)
    assert report.potential_energy == pytest.approx(0.5 * 3 * rest**2)
    mass = 4 / 3 * np.pi * 0.1**3 * 1000
    inertia = mass * (0.4 * 0.1**2 + 0.2**2)
    assert state.v[0] / 1e-4 == pytest.approx(3 * rest / inertia, rel=1e-4)


def test_controls_of_a_batch_are_those_of_each_world() -> None:
    """Motors, servos of position and velocity, ranges; one ctrl for all worlds too."""
    loaded = stiction.load_mjcf(file_of("ant"))
    mixed = stiction.load_mjcf(
        """<mujoco><worldbody><body><joint name="a"/><geom size=".1"/><body pos="0 0 .3">
        <joint name="b"/><geom size=".1"/><body pos="0 0 .3"><joint name="c" type="slide"/>
        <geom size=".1"/></body></body></body></worldbody><actuator>
        <position joint="b" kp="30" ctrlrange="-.5 .5"/><velocity joint="c" kv="4"/>
        <motor joint="a" gear="3" forcerange="-1 1"/><motor joint="c" gear="2"/></actuator>
        </mujoco>"""
    )
    rng = np.random.default_rng(0)
    for model in (loaded, mixed):
        batch = stiction.Batch(model.scene, 7, dt=1e-3)
        ctrl = rng.uniform(-2.0, 2.0, (7, len(model.actuators)))
        model.write(batch, ctrl)
        for world in range(7):
            one = model.control(ctrl[world])
            assert np.array_equal(batch.torque[world], one.torque)
            assert np.array_equal(batch.position_target[world], one.position_target)
            assert np.array_equal(batch.velocity_target[world], one.velocity_target)
        model.write(batch, ctrl[0])
        assert np.array_equal(batch.torque, np.tile(model.control(ctrl[0]).torque, (7, 1)))
        first, last = model.actuators[0], model.actuators[-1]
        model.write(batch, {first.name: ctrl[:, first.control], last.name: 0.25})
        for world in range(7):
            named = {first.name: ctrl[world, first.control], last.name: 0.25}
            assert np.array_equal(batch.torque[world], model.control(named).torque)
        with pytest.raises(ValueError, match="no actuator 'x' that acts"):
            model.write(batch, {"x": 1.0})
        with pytest.raises(ValueError, match=r"\] has shape \(3,\): must be \(\) or \(7,\)"):
            model.write(batch, {first.name: np.zeros(3)})
        with pytest.raises(ValueError, match=r"ctrl has shape \(3, 2\): must be \("):
            model.write(batch, np.zeros((3, 2)))
