"""Grippers close on a block and hold it against gravity: a Panda's servo on coupled slides, a
Robotiq's four-bar linkages, a Jaco's underactuated fingers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio
import pytest
import stiction
from stiction.loading import _EXAMPLE_ROBOTS

pytestmark = pytest.mark.filterwarnings("ignore::stiction.LoadWarning")
ROBOTS = Path(_EXAMPLE_ROBOTS)
needs_robots = pytest.mark.skipif(not ROBOTS.is_dir(), reason="example-robot-data is missing")
SETTLE, HOLD, SLIP = 0.5, 2.0, 1e-6
"""Seconds until the grasp is there, those that it holds; the block moves less in the hand [m]."""


def slip_of_a_grasp(
    step: Callable[[], stiction.StepReport], seen: Callable[[], pinocchio.SE3], dt: float
) -> float:
    """How far the block moves in the frame of the hand while it is held [m]."""
    for _ in range(round(SETTLE / dt)):
        assert step().status == "ok"
    start, farthest = seen(), 0.0
    for _ in range(round(HOLD / dt)):
        assert step().status == "ok"
        farthest = max(farthest, float(np.linalg.norm(seen().translation - start.translation)))
        turned = start.rotation.T @ seen().rotation
        assert np.arccos(np.clip((np.trace(turned) - 1) / 2, -1, 1)) < 0.05
    return farthest


def in_hand(sim: stiction.Simulator, state: stiction.State, frame: str) -> pinocchio.SE3:
    """The block in the frame of the hand."""
    body, X = sim.scene.frame(frame)
    poses = sim.body_poses(state)
    hand: pinocchio.SE3 = poses[body] * X
    return hand.actInv(poses[sim.scene.body_names.index("block")])


def block_axes(sim: stiction.Simulator, state: stiction.State) -> np.ndarray:
    """(3, 3) in the world."""
    rotation: np.ndarray = sim.body_poses(state)[sim.scene.body_names.index("block")].rotation
    return rotation


# --- URDF files of the makers -------------------------------------------------------------------


def with_block(
    robot: stiction.Robot, q: dict[str, float], frame: str, at: np.ndarray, half: list[float]
) -> tuple[stiction.Scene, stiction.State]:
    """A fixed arm with a block of 0.3 kg at a point of its hand, along its axes. The arm is mounted
    so that its hand points down: gravity is along the hand's z-axis or against it, whichever way
    the block lies."""
    scene = stiction.Scene()
    scene.add_robot(robot)
    start = scene.default_q.copy()
    for joint in scene.joints:
        value = q.get(joint.name, 0.0)
        where = slice(joint.q_index, joint.q_index + joint.nq)
        start[where] = value if joint.nq == 1 else [np.cos(value), np.sin(value)]
    alone = stiction.Simulator(scene)
    body, X = scene.frame(frame)
    hand = alone.body_poses(stiction.make_state(scene, start))[body] * X
    scene.add_body("block", stiction.Box(half), 0.3, hand * pinocchio.SE3(np.eye(3), at))
    p = scene.parameters
    p.gravity = 9.81 * np.sign(at[2]) * hand.rotation[:, 2]
    state = stiction.make_state(scene, np.concatenate([start, scene.default_q[len(start) :]]))
    return scene, state


def hold_arm(scene: stiction.Scene, state: stiction.State, fingers: list[int]) -> stiction.Control:
    """Servos of every other joint where they are, as strong as it takes."""
    p, control = scene.parameters, stiction.Control(scene.nv)
    arm = [d for d in range(scene.nv - 6) if d not in fingers]
    p.kp[arm], p.kd[arm], p.effort_limit[arm] = 1e5, 1e3, np.inf
    control.position_target = scene.dof_positions(state.q)
    return control


@needs_robots
@pytest.mark.parametrize("friction", [0.8, 0.3])
def test_the_panda_of_its_urdf(friction: float) -> None:
    """Its second finger mimics the first."""
    robot = stiction.load_urdf(ROBOTS / "panda_description/urdf/panda.urdf", free_flyer=False)
    q = {"panda_joint2": 0.3, "panda_joint4": -1.9, "panda_joint6": 2.2, "panda_joint7": 0.785}
    q |= {"panda_finger_joint1": 0.04, "panda_finger_joint2": 0.04}
    at, half = np.array([0.0, 0.0, 0.104]), [0.02, 0.02, 0.03]
    scene, state = with_block(robot, q, "panda_hand", at, half)
    scene.parameters.friction[:] = friction
    fingers = [scene.dof(f"panda_finger_joint{k}") for k in (1, 2)]
    control = hold_arm(scene, state, fingers)
    torque = np.zeros(scene.nv)
    torque[fingers[0]] = -30.0
    control.torque = torque
    sim = stiction.Simulator(scene, dt=1e-3)

    slip = slip_of_a_grasp(
        lambda: sim.step(state, control), lambda: in_hand(sim, state, "panda_hand"), 1e-3
    )
    assert slip < SLIP
    # Both fingers share what drives one of them.
    across = in_hand(sim, state, "panda_hand").rotation[1] @ block_axes(sim, state).T
    for finger, sign in (("panda_leftfinger", -1.0), ("panda_rightfinger", 1.0)):
        grip = across @ sim.wrench_between(finger, "block")[0]
        assert grip == pytest.approx(sign * 15.0, rel=1e-3)
    pad = 0.5 * 15.2e-3 - 7.58e-3  # how far it stands over the finger's origin
    open_ = scene.dof_positions(state.q)[fingers]
    assert open_ == pytest.approx([0.02 + pad, 0.02 + pad], abs=1e-6)


@needs_robots
def test_the_jaco_of_its_urdf() -> None:
    """Its file has fingers whose joints are fixed; they are freed, the tips held by springs."""
    file = ROBOTS / "kinova_description/robots/kinova.urdf"
    text = file.read_text()
    for k in (1, 2):
        for name in (f"finger_{k}", f"finger_tip_{k}"):
            fixed = f'<joint name="j2s6s200_joint_{name}" type="fixed">'
            assert fixed in text
            text = text.replace(fixed, fixed.replace("fixed", "revolute"))
    robot = stiction.load_urdf_string(
        text, "kinova.urdf", package_dirs=[ROBOTS.parent.parent], free_flyer=False
    )
    q = {f"j2s6s200_joint_{k}": x for k, x in ((2, 2.9), (3, 1.3), (5, 1.4), (6, 0.5))}
    q |= {f"j2s6s200_joint_finger_{k}": 0.3 for k in (1, 2)}
    hand = "j2s6s200_link_6"
    at, half = np.array([-0.0025, 0.0, -0.175]), [0.02, 0.02, 0.02]
    scene, state = with_block(robot, q, hand, at, half)
    driven = [scene.dof(f"j2s6s200_joint_finger_{k}") for k in (1, 2)]
    tips = [scene.dof(f"j2s6s200_joint_finger_tip_{k}") for k in (1, 2)]
    control = hold_arm(scene, state, driven + tips)
    p, torque = scene.parameters, np.zeros(scene.nv)
    p.spring_stiffness[tips], p.spring_rest[tips], p.damping[tips + driven] = 2.0, 0.2, 0.02
    torque[driven] = 0.8
    control.torque = torque
    sim = stiction.Simulator(scene, dt=1e-3)
    slip = slip_of_a_grasp(
        lambda: sim.step(state, control), lambda: in_hand(sim, state, hand), 1e-3
    )
    assert slip < SLIP
    positions = scene.dof_positions(state.q)
    assert np.all(positions[driven] > 0.5) and positions[driven[0]] < 1.2


# --- MJCF files -----------------------------------------------------------------------------------

BLOCK = """<body name="block" pos="0 0 {z}"><freejoint/>
  <geom name="block" type="box" size=".02 .02 .03" mass="{mass}" friction="0.8"/></body>"""
PANDA = (
    """<mujoco model="panda"><compiler angle="radian"/><option timestep="0.001"/>
  <default><default class="finger"><joint type="slide" axis="0 1 0" range="0 .04" damping="10"
    armature=".1"/><geom type="box" mass="0.015" friction="0.8"/></default></default>
  <worldbody>
  <body name="hand" pos="0 0 .5" quat="0 1 0 0"><joint name="lift" type="slide" axis="0 0 -1"/>
    <geom type="box" size=".02 .1 .03" mass="0.7"/>
    <body name="left" pos="0 0 .0584" childclass="finger"><joint name="left"/>
      <geom size=".00875 .0076 .00925" pos="0 .00758 .04525"/></body>
    <body name="right" pos="0 0 .0584" quat="0 0 0 1" childclass="finger"><joint name="right"/>
      <geom size=".00875 .0076 .00925" pos="0 .00758 .04525"/></body></body>
  """
    + BLOCK
    + """</worldbody>
  <contact><exclude body1="left" body2="right"/></contact>
  <tendon><fixed name="split"><joint joint="left" coef=".5"/>
    <joint joint="right" coef=".5"/></fixed></tendon>
  <equality><joint joint1="left" joint2="right" solimp=".95 .99 .001" solref=".005 1"/></equality>
  <actuator><general name="grip" tendon="split" forcerange="-100 100" ctrlrange="0 255"
    gainprm=".01568627451" biastype="affine" biasprm="0 -100 -10"/>
    <position name="lift" joint="lift" kp="5000" kv="200"/></actuator>
  <keyframe><key name="open" qpos="0 .04 .04 0 0 {z} 1 0 0 0"/></keyframe></mujoco>"""
)
SIDE = """
    <body name="{s}_driver" pos="0 .0306 .055"><joint name="{s}_driver" range="0 .8" damping=".1"
        armature=".005"/><geom class="bar" fromto="0 0 0 0 .02 .0133"/>
      <body name="{s}_coupler" pos="0 .02 .0133"><joint name="{s}_coupler" range="0 1.57"
        stiffness=".05" springref="-.5" damping=".001"/>
        <geom class="bar" fromto="0 0 0 0 .01 .0067"/></body></body>
    <body name="{s}_spring_link" pos="0 .013 .068"><joint name="{s}_spring_link" damping=".001"/>
      <geom class="bar" fromto="0 0 0 0 .03 .02"/>
      <body name="{s}_follower" pos="0 .0476 .007"><joint name="{s}_follower" pos="0 -.0176 .013"
        range="-.9 .9"/><geom class="bar" fromto="0 0 0 0 -.0176 .013"/>
        <geom name="{s}_pad" type="box" size=".011 .005 .02" pos="0 -.02 .05" mass=".04"
          friction="0.8"/></body></body>"""
ROBOTIQ = (
    """<mujoco model="robotiq"><compiler angle="radian"/><option timestep="0.001"/>
  <default><joint axis="1 0 0"/><default class="bar"><geom type="capsule" size=".004" mass=".01"
    contype="0" conaffinity="0"/></default></default>
  <worldbody>
  <body name="hand" pos="0 0 .5" quat="0 1 0 0">
    <joint name="lift" type="slide" axis="0 0 -1"/>
    <geom type="box" size=".02 .04 .02" pos="0 0 .02" mass="0.7" contype="0" conaffinity="0"/>
    <body name="right">{right}</body><body name="left" quat="0 0 0 1">{left}</body></body>
  """
    + BLOCK
    + """</worldbody>
  <tendon><fixed name="split"><joint joint="right_driver" coef=".485"/>
    <joint joint="left_driver" coef=".485"/></fixed></tendon>
  <equality>
    <connect body1="right_follower" body2="right_coupler" anchor="0 0 0"/>
    <connect body1="left_follower" body2="left_coupler" anchor="0 0 0"/>
    <joint joint1="right_driver" joint2="left_driver"/></equality>
  <actuator><general name="grip" tendon="split" forcerange="-5 5" ctrlrange="0 255"
    gainprm=".3137255" biastype="affine" biasprm="0 -100 -10"/>
    <position name="lift" joint="lift" kp="5000" kv="200"/></actuator></mujoco>"""
)


def lifted(run: stiction.MjcfSimulation, grip: float, height: float) -> float:
    """The hand closes around a block that gravity does not yet pull, then rises by `height` [m]
    within a second and stays; how far the block slips in it [m]."""
    dt, gravity = run.sim.settings.dt, np.array(run.sim.parameters.gravity)
    run.sim.parameters.gravity = np.zeros(3)
    while run.state.time < 0.4:
        assert run.step([grip, 0.0]).status == "ok"
    run.sim.parameters.gravity = gravity
    begin = run.state.time

    def step() -> stiction.StepReport:
        share = min(1.0, max(0.0, run.state.time - begin - SETTLE))
        return run.step([grip, height * share])

    slip = slip_of_a_grasp(step, lambda: in_hand(run.sim, run.state, "hand"), dt)
    lift = run.sim.scene.dof_positions(run.state.q)[run.sim.scene.dof("lift")]
    assert lift == pytest.approx(height, abs=5e-3)
    return slip


@pytest.mark.parametrize("mass", ["0.02", "0.1", "0.103", "0.13"])
def test_a_panda_hand_lifts_with_the_servo_of_both_fingers(mass: str) -> None:
    """The fingers are 2 cm from their limits: these rows open at 20 m/s by themselves."""
    xml = PANDA.replace("{z}", ".397").replace("{mass}", mass)
    run = stiction.load_mjcf(xml).simulation()
    run.reset("open")
    assert lifted(run, grip=0.0, height=0.1) < 1e-10
    left, right = (run.sim.wrench_between(f, "block")[0][1] for f in ("left", "right"))
    # 100 N/m on the mean of both openings, half of it on each finger.
    assert abs(left) == pytest.approx(1.0, rel=0.02) and left == pytest.approx(-right, rel=1e-3)


def test_a_robotiq_hand_lifts_with_its_linkages() -> None:
    """Two closed loops, which a gear and a tendon's servo drive together; pads stay parallel."""
    sides = {s: SIDE.replace("{s}", s) for s in ("right", "left")}
    xml = ROBOTIQ.replace("{right}", sides["right"]).replace("{left}", sides["left"])
    xml = xml.replace("{z}", ".38").replace("{mass}", "0.5")
    run = stiction.load_mjcf(xml, strict=True).simulation()
    assert len(run.sim.scene.closure_names) == 2
    assert lifted(run, grip=255.0, height=0.1) < SLIP
    q = run.sim.scene.dof_positions(run.state.q)
    joint = {name: q[run.sim.scene.dof(name)] for name in run.sim.scene.joint_names[1:-1]}
    assert 0.4 < joint["right_driver"] < 0.7
    assert joint["right_driver"] == pytest.approx(joint["left_driver"], abs=1e-6)
    for side in ("right", "left"):
        assert joint[f"{side}_coupler"] == pytest.approx(0.0, abs=1e-6)  # at its stop
        turn = joint[f"{side}_spring_link"] + joint[f"{side}_follower"]
        assert turn == pytest.approx(0.0, abs=1e-3)
