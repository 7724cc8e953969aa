"""Forces of joints, sites and servos that only simulation() knows, beside MuJoCo's."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest
import stiction
from stiction.mujoco_layout import from_mujoco_qpos, from_mujoco_qvel, to_mujoco_qvel

pytestmark = pytest.mark.filterwarnings("ignore::stiction.LoadWarning")

TREE = """<mujoco><option timestep="0.001"><flag contact="disable" eulerdamp="disable"/></option>
  <worldbody>
  <body pos="0 0 1" {body}><joint name="root" type="free" {free}/>
    <geom type="box" size=".2 .1 .05"/>
    <body pos=".3 0 0" euler="20 0 30"><joint name="ball" type="ball" pos=".02 0 .01" {ball}/>
      <geom type="capsule" size=".03 .1" pos="0 0 .1"/>
      <body pos=".2 0 0" {tip}><joint name="turn" axis="0 1 0" ref="10" springref="20" {turn}/>
        <joint name="slide" type="slide" axis="1 0 1" {slide}/>
        <geom size=".05" pos=".05 0 0"/><site name="s" pos=".05 .02 0" euler="10 20 30"/></body>
    </body></body>
  <body pos="2 0 1"><joint name="rail" type="slide" axis="1 1 0" {slide}/><geom size=".1"/>
    <body pos="0 0 .2"><joint name="knob" type="ball" {ball}/><geom size=".05" pos=".1 0 0"/></body>
  </body></worldbody>{rest}</mujoco>"""
FIELDS = ("body", "free", "ball", "tip", "turn", "slide", "rest")


def tree(**given: str) -> str:
    return TREE.format(**{field: given.get(field, "") for field in FIELDS})


class Both:
    """One file in both engines."""

    def __init__(self, xml: str) -> None:
        self.model = stiction.load_mjcf(xml, strict=True)
        self.m = mujoco.MjModel.from_xml_string(xml)
        self.m.opt.tolerance, self.m.opt.iterations = 0.0, 500
        self.d, self.run = mujoco.MjData(self.m), self.model.simulation()
        self.scene = self.run.sim.scene

    def place(self, rng: np.random.Generator, spread: float = 0.5) -> None:
        """Both at a random state; MuJoCo's forces there."""
        m, d = self.m, self.d
        d.qpos[:] = m.qpos0 + spread * rng.normal(size=m.nq)
        mujoco.mj_normalizeQuat(m, d.qpos)
        d.qvel[:] = rng.normal(size=m.nv)
        mujoco.mj_forward(m, d)
        q = from_mujoco_qpos(self.scene, d.qpos)
        self.run.state = stiction.make_state(self.scene, q)
        self.run.state.v = from_mujoco_qvel(self.scene, q, d.qvel)

    def force(self, ctrl: Any = None) -> np.ndarray:
        """(nv,) MuJoCo's layout, of what acts as wrenches in a step."""
        before = self.run.state.copy()
        motion = stiction.SceneMotion(self.scene, before)
        self.run.step(ctrl)
        total = np.zeros(self.scene.nv)
        for w in self.run.external_wrenches:
            total += motion.jacobian(w.body).T @ np.concatenate([w.force, w.moment])
        return to_mujoco_qvel(self.scene, before.q, total)


@pytest.mark.parametrize(
    "given",
    [
        {"ball": 'stiffness="3"'},
        {"ball": 'stiffness="3 2 5"'},
        {"free": 'stiffness="30"'},
        {"free": 'stiffness="30 10 4"'},
        {"turn": 'stiffness="3 2 7"', "slide": 'stiffness="0 0 50"'},
        {"turn": 'damping="0.3 0.2 0.1"', "slide": 'damping="0 4"', "ball": 'damping="0.1 2 3"'},
        {"free": 'damping="0 0.5 0.2"'},
        {"tip": 'gravcomp="1"', "body": 'gravcomp="0.3"'},
    ],
    ids=lambda given: ", ".join(f"{k} {v}" for k, v in given.items()),
)
def test_springs_dampers_and_carried_weights_are_mujocos(given: dict[str, str]) -> None:
    """What the scene does by itself, linear springs of hinges and damping with the coefficients of
    the step, added."""
    both, rng = Both(tree(**given)), np.random.default_rng(0)
    p = both.run.sim.parameters
    for _ in range(10):
        both.place(rng)
        q, v = both.scene.dof_positions(both.run.state.q), np.array(both.run.state.v)
        start, expected = both.run.state.q.copy(), both.d.qfrc_passive.copy()
        assert np.abs(expected).max() > 0.1
        ours = both.force()
        own = p.spring_stiffness * np.where(p.spring_stiffness > 0, p.spring_rest - q, 0.0)
        ours += to_mujoco_qvel(both.scene, start, own - p.damping * v)
        assert np.abs(ours - expected).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize(
    "given",
    [
        {"ball": 'range="0 20" margin="0.1"'},
        {"ball": 'range="0 40" solreflimit="0.05 0.8" solimplimit=".7 .95 .5"'},
        {"free": 'frictionloss="0.4"'},
        {"free": 'frictionloss="3" solreffriction="0.1 1" solimpfriction=".8 .9 .1"'},
    ],
    ids=lambda given: ", ".join(f"{k} {v}" for k, v in given.items()),
)
def test_ranges_of_balls_and_friction_of_free_joints_are_mujocos(given: dict[str, str]) -> None:
    both, rng, acting = Both(tree(**given)), np.random.default_rng(1), 0
    for _ in range(20):
        both.place(rng)
        expected = both.d.qfrc_constraint.copy()
        ours = both.force()
        assert np.abs(ours - expected).max() < 1e-6 * (1e-3 + np.abs(expected).max())
        acting += np.abs(expected).max() > 0.1
    assert acting > 5


@pytest.mark.parametrize(
    "equality",
    [
        '<joint joint1="turn" joint2="slide" polycoef=".1 .5 2 -1 3"/>',
        '<joint joint1="turn" joint2="rail" polycoef="0 0 1" solref=".1 .7" solimp=".5 .9 .2"/>',
        '<tendon tendon1="t" tendon2="u" polycoef=".1 .5 0 0 0"/>',
        '<tendon tendon1="t"/>',
    ],
)
def test_equalities_of_joints_that_are_no_gears_pull_as_mujocos(equality: str) -> None:
    rest = f"""<tendon><fixed name="t"><joint joint="turn" coef="1.5"/>
      <joint joint="slide" coef="-2"/><joint joint="rail" coef="1"/></fixed>
      <fixed name="u"><joint joint="rail" coef="3"/></fixed></tendon>
      <equality>{equality}</equality>"""
    both, rng = Both(tree(rest=rest)), np.random.default_rng(4)
    assert any("no gears" in m.text for m in both.model.messages)
    for _ in range(10):
        both.place(rng)
        expected = both.d.qfrc_constraint.copy()
        assert np.abs(expected).max() > 1e-3
        ours = both.force()
        assert np.abs(ours - expected).max() < 1e-6 * np.abs(expected).max()


def test_motors_at_sites_push_as_mujocos() -> None:
    rest = """<actuator><motor name="push" site="s" gear="1 2 3 .1 .2 .3" forcerange="-2 1"/>
      <general site="s" gear="0 0 1 0 0 0" gainprm="4" biasprm="0.5" biastype="affine"
      dyntype="filter" dynprm="0.05"/></actuator>"""
    both, rng = Both(tree(rest=rest)), np.random.default_rng(2)
    assert [a.kind for a in both.model.actuators] == ["site", "site"]
    assert np.array_equal(both.model.control([1.0, 1.0]).torque, np.zeros(both.scene.nv))
    for _ in range(10):
        both.place(rng)
        ctrl = 3.0 * rng.normal(size=2)
        both.run.activation[:] = both.d.act[:] = rng.normal(size=1)
        both.d.ctrl[:] = ctrl
        mujoco.mj_forward(both.m, both.d)
        expected = both.d.qfrc_actuator.copy()
        ours = both.force(ctrl)
        assert np.abs(ours - expected).max() < 1e-9 * np.abs(expected).max()


SHARED = """<tendon><fixed name="t"><joint joint="turn" coef="1.5"/><joint joint="slide" coef="-2"/>
    <joint joint="rail" coef="1"/></fixed></tendon>
  <actuator><position name="p" tendon="t" kp="{kp}" kv="{kv}" gear="2" forcerange="-{most} {most}"/>
  <velocity name="v" tendon="t" kv="{other}"/></actuator>
  <sensor><actuatorfrc name="f" actuator="p"/></sensor>"""


@pytest.mark.parametrize("most", [1.0, 1000.0])
def test_a_servo_on_several_joints_is_implicit(most: float) -> None:
    """Its force is that of the end of the step, cut to its limits."""
    rest = SHARED.format(kp=40, kv=2, most=most, other=0.7)
    both, rng = Both(tree(rest=rest)), np.random.default_rng(3)
    servo, damper = both.model.actuators
    assert (servo.kind, damper.kind, servo.kp) == ("shared", "shared", 40.0)
    arms, free = servo.gear, servo.gear != 0
    for _ in range(10):
        both.place(rng)
        q = np.array(both.scene.dof_positions(both.run.state.q))
        ctrl = rng.normal(size=2)
        before, total = both.run.state.copy(), both.force(ctrl)
        v, dt = np.array(both.run.state.v), both.model.timestep
        assert not np.array_equal(before.v, v)
        pulled = 40 * ctrl[0] - 40 * float(arms @ (q + dt * v)) - 2 * float(arms @ v)
        expected = float(np.clip(pulled, -most, most)) * arms[free]
        damped = damper.gear[free]
        expected += 0.7 * (ctrl[1] - float(damper.gear @ v)) * damped
        assert np.abs(total[free] - expected).max() < 1e-7 * (1 + np.abs(expected).max())


def test_a_servo_on_several_joints_moves_as_mujocos() -> None:
    """To first order in the time step; its force is MuJoCo's at the same state."""
    rest = SHARED.format(kp=4, kv=0.02, most=30, other=0.03)
    apart = []
    for dt in (1e-3, 2.5e-4):
        xml = tree(rest=rest, turn='damping="0.5"', slide='damping="2"')
        both = Both(xml.replace("<option ", '<option gravity="0 0 0" '))
        both.m.opt.timestep = dt
        both.run = both.model.simulation(dt=dt)
        for _ in range(round(0.2 / dt)):
            both.run.step([0.4, 0.2])
            both.d.ctrl[:] = 0.4, 0.2
            mujoco.mj_step(both.m, both.d)
        q = from_mujoco_qpos(both.scene, both.d.qpos)
        apart.append(np.abs(stiction.difference(both.scene, both.run.state.q, q)).max())
    assert 1e-6 < apart[0] < 1e-3 and apart[1] < 0.4 * apart[0], apart
    both.place(np.random.default_rng(0))
    both.d.ctrl[:] = both.run._ctrl = np.array([0.4, 0.2])
    mujoco.mj_forward(both.m, both.d)
    assert both.run.sensor("f") == pytest.approx(both.d.sensordata, rel=1e-9)


def test_a_carried_body_hovers_and_a_spring_holds() -> None:
    """MuJoCo by Runge and Kutta: its Euler is 7 mm off here, 1 mm at a tenth of the time step."""
    both = Both(tree(body='gravcomp="1"', tip='gravcomp="1"', free='stiffness="100" damping="9"'))
    both.m.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    low = stiction.load_mjcf(tree(body='gravcomp="1"', tip='gravcomp="1"')).scene
    assert low.nv == both.scene.nv
    for _ in range(2000):
        both.run.step()
        mujoco.mj_step(both.m, both.d)
    q = stiction.to_mujoco_qpos(both.scene, both.run.state.q)
    assert q[2] == pytest.approx(both.d.qpos[2], abs=5e-4)
    assert abs(q[2] - 1.0) < 0.1
