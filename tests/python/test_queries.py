"""Accelerations, joint reactions and contact wrenches by name, of the last step: against Pinocchio,
differences of velocities, MuJoCo and the balance of what a joint carries."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pinocchio
import pytest
import stiction

FRAMES = {
    "local_world_aligned": pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED,
    "local": pinocchio.ReferenceFrame.LOCAL,
    "world": pinocchio.ReferenceFrame.WORLD,
}


def trotting() -> tuple[stiction.Simulator, stiction.State, stiction.State]:
    """Solo-12 pushed about on the ground: simulator, state before and after its last step."""
    scene = stiction.load("solo12")
    sim = stiction.Simulator(scene, dt=1e-3)
    state = sim.initial_state()
    rng = np.random.default_rng(0)
    state.v[:] = 0.3 * rng.normal(size=scene.nv)
    control = sim.hold()
    sim.add_wrench(control, "FL_LOWER_LEG", [3.0, -2.0, 5.0], [0.1, 0.2, -0.1])
    for _ in range(60):
        control.torque[6:] = rng.uniform(-0.5, 0.5, scene.nv - 6)
        before = state.copy()
        sim.step(state, control)
    assert sum(c.force_on_b_world[2] > 0.1 for c in sim.contacts()) >= 2
    return sim, before, state


def rate_of_v(sim: stiction.Simulator, before: stiction.State, after: stiction.State) -> Any:
    """(v+ - v) / dt of one free-flyer, its linear part from the velocities in the world."""
    R, R_after = (pinocchio.XYZQUATToSE3(s.q[:7]).rotation for s in (before, after))
    dt = sim.settings.dt
    a = (after.v - before.v) / dt
    in_world = (R_after @ after.v[:3] - R @ before.v[:3]) / dt
    a[:3] = R.T @ in_world - np.cross(before.v[3:6], before.v[:3])
    return a


def test_accelerations_are_pinocchios() -> None:
    sim, before, after = trotting()
    motion, scene = sim.motion(), sim.scene
    model = stiction.pinocchio_model(scene, scene.robots[0].name)
    data = model.createData()
    a = rate_of_v(sim, before, after)
    pinocchio.forwardKinematics(model, data, before.q, before.v, a)
    pinocchio.updateFramePlacements(model, data)
    pinocchio.computeJointJacobians(model, data, before.q)
    of_state = stiction.SceneMotion(scene, before, acceleration=a)
    compared = 0
    for name in scene.robots[0].description.frame_names:
        at = model.getFrameId(name)
        if at >= model.nframes:
            continue
        compared += 1
        np.testing.assert_allclose(motion.pose(name), data.oMf[at], atol=1e-13)
        for frame, theirs in FRAMES.items():
            velocity = pinocchio.getFrameVelocity(model, data, at, theirs).vector
            np.testing.assert_allclose(motion.velocity(name, frame), velocity, atol=1e-12)
            J = pinocchio.getFrameJacobian(model, data, at, theirs)
            np.testing.assert_allclose(motion.jacobian(name, frame), J, atol=1e-12)
            spatial = pinocchio.getFrameAcceleration(model, data, at, theirs).vector
            classical = pinocchio.getFrameClassicalAcceleration(model, data, at, theirs).vector
            for own in (motion, of_state):
                size = 1.0 + np.abs(spatial).max()
                np.testing.assert_allclose(
                    own.acceleration(name, frame, spatial=True), spatial, atol=1e-11 * size
                )
                np.testing.assert_allclose(
                    own.acceleration(name, frame), classical, atol=1e-11 * size
                )
    assert compared > 20
    assert not motion.acceleration("world").any()


def test_accelerations_are_differences_of_velocities() -> None:
    """Exact of the free-flyer's origin; of other bodies up to what a body's Jacobian changes in a
    step. A step that kicks (contact, torque) has a large rate at any dt, so the scene is in flight:
    there the difference goes with dt."""
    errors = []
    for dt in (2e-3, 1e-3, 5e-4):
        scene = stiction.load("solo12")
        sim = stiction.Simulator(scene, dt=dt)
        state = sim.initial_state()
        state.q[2] += 1.0
        state.v[:] = np.random.default_rng(1).normal(size=scene.nv)
        before = stiction.SceneMotion(scene, state)
        sim.step(state)
        motion, after = sim.motion(), stiction.SceneMotion(scene, state)
        worst = 0.0
        for name in scene.robots[0].description.frame_names:
            rate = (after.velocity(name) - before.velocity(name)) / dt
            worst = max(worst, np.abs(motion.acceleration(name) - rate).max())
        root = scene.body_names[0]
        rate = (after.velocity(root) - before.velocity(root)) / dt
        np.testing.assert_allclose(motion.acceleration(root), rate, atol=1e-9)
        errors.append(worst)
    ratios = np.array(errors[:-1]) / errors[1:]
    assert np.all((ratios > 1.7) & (ratios < 2.3)), errors


def test_the_centre_of_a_loose_body_falls() -> None:
    """Its frame is beside the centre of mass and it tumbles."""
    scene = stiction.Scene()
    inertia = np.diag([0.01, 0.02, 0.015])
    properties = pinocchio.Inertia(2.0, np.array([0.1, -0.2, 0.3]), inertia)
    model = pinocchio.Model()
    joint = model.addJoint(0, pinocchio.JointModelFreeFlyer(), pinocchio.SE3.Identity(), "root")
    model.appendBodyToJoint(joint, properties, pinocchio.SE3.Identity())
    model.addFrame(
        pinocchio.Frame(
            "centre",
            joint,
            0,
            pinocchio.SE3(np.eye(3), properties.lever),
            pinocchio.FrameType.OP_FRAME,
        )
    )
    scene.add_robot(stiction.robot_from_pinocchio(model, name="stone"), robot_name="stone")
    sim = stiction.Simulator(scene, dt=1e-2)
    state = sim.initial_state()
    state.v[:] = [1, 2, 3, 4, -5, 6]
    before = stiction.SceneMotion(scene, state)
    sim.step(state)
    after = stiction.SceneMotion(scene, state)
    a = sim.motion().acceleration("centre")
    np.testing.assert_allclose(a[:3], [0, 0, -9.81], atol=1e-10)
    turned = (after.velocity("centre") - before.velocity("centre")) / 1e-2
    np.testing.assert_allclose(a[:3], turned[:3], atol=1e-10)
    np.testing.assert_allclose(a[3:], turned[3:], atol=1e-10)


def carried(scene: stiction.Scene, body: int) -> list[int]:
    """The bodies beyond a body's joint, from the parents in Pinocchio's model."""
    out = [body]
    for robot in scene.robots:
        model = stiction.pinocchio_model(scene, robot.name)
        first = robot.body_offset - 1
        for j in range(2, model.njoints):
            if model.parents[j] + first in out:
                out.append(j + first)
    return out


def test_reactions_balance_what_a_joint_carries() -> None:
    """Reaction, contacts, weight and wrench from outside against the rate of momentum, each from
    Pinocchio's inertias and accelerations, of every joint of a robot in contact."""
    sim, before, after = trotting()
    scene, gravity = sim.scene, np.array([0, 0, -9.81])
    model = stiction.pinocchio_model(scene, scene.robots[0].name)
    data = model.createData()
    pinocchio.forwardKinematics(model, data, before.q, before.v, rate_of_v(sim, before, after))
    contacts = sim.contacts()
    pushed = scene.body("FL_LOWER_LEG")
    for joint in scene.joints[1:]:
        force, moment = sim.joint_reaction(joint.name)
        origin = data.oMi[joint.body + 1].translation
        for b in carried(scene, joint.body):
            X, inertia = data.oMi[b + 1], model.inertias[b + 1]
            rate = X.act(inertia * data.a[b + 1] + data.v[b + 1].cross(inertia * data.v[b + 1]))
            weight, at = inertia.mass * gravity, X.act(inertia.lever)
            # Spatial forces about the world's origin.
            force = force - rate.linear + weight
            moment = moment - rate.angular + np.cross(origin, rate.linear)
            moment = moment + np.cross(at - origin, weight)
            if b == pushed:
                f = np.array([3.0, -2.0, 5.0])
                force, moment = force + f, moment + [0.1, 0.2, -0.1]
                moment = moment + np.cross(X.translation - origin, f)
            for c in contacts:
                sign = float(c.body_b == b) - float(c.body_a == b)
                force = force + sign * c.force_on_b_world
                moment = moment + np.cross(c.position - origin, sign * c.force_on_b_world)
        np.testing.assert_allclose(force, 0, atol=1e-9)
        np.testing.assert_allclose(moment, 0, atol=1e-9)


def test_reactions_about_the_axis_are_what_drives_the_joint() -> None:
    """No law of the joint enters the balance: its drive, and the rotor's share, come out of it."""
    scene = stiction.load("solo12")
    scene.parameters.armature[6:] = 0.003
    scene.parameters.damping[6:] = 0.02
    scene.parameters.kp[:] = scene.parameters.kd[:] = 0
    scene.parameters.dry_friction[:] = 0
    sim = stiction.Simulator(scene, dt=1e-3)
    state = sim.initial_state()
    rng = np.random.default_rng(3)
    state.v[:] = rng.normal(size=scene.nv)
    torque = np.concatenate([np.zeros(6), rng.uniform(-1, 1, scene.nv - 6)])
    for _ in range(20):
        before = state.copy()
        sim.step(state, torque)
    motion = sim.motion()
    limits = {r.name for r in sim.references() if "limit" in r.source}
    compared = 0
    for joint in scene.joints[1:]:
        if joint.name in limits:
            continue
        _, moment = sim.joint_reaction(joint.name)
        axis = motion.jacobian(joint.body)[3:, joint.v_index]
        parent = np.linalg.norm(axis)
        assert parent == pytest.approx(1.0, abs=1e-12)
        k = joint.v_index
        rate = (state.v[k] - before.v[k]) / 1e-3
        driven = torque[k] - 0.02 * state.v[k] - 0.003 * rate
        assert axis @ moment == pytest.approx(driven, abs=1e-9)
        compared += 1
    assert compared >= 8


ARM = """<mujoco><option timestep="1e-3" gravity="0 1 -9.81"/>
  <default><joint damping="0"/><geom contype="0" conaffinity="0" density="800"/></default>
  <worldbody><body name="base" pos="0 0 1">
    <geom type="box" size=".1 .1 .1"/>
    <body name="upper" pos=".1 0 .1"><joint name="shoulder" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 .3 0 .1" size=".04"/>
      <body name="fore" pos=".3 0 .1"><joint name="elbow" axis="1 1 0" pos=".01 0 0"/>
        <geom type="capsule" fromto="0 0 0 0 .2 .1" size=".03"/>
        <body name="hand" pos="0 .2 .1"><joint name="wrist" type="slide" axis="0 .6 .8"/>
          <geom type="box" size=".03 .05 .02"/></body></body></body>
  </body></worldbody>
  <actuator><motor joint="shoulder"/><motor joint="elbow"/><motor joint="wrist"/></actuator>
  </mujoco>
"""


def test_reactions_are_mujocos_cfrc_int() -> None:
    """At the same positions, mean velocities and accelerations."""
    file = stiction.load_mjcf(ARM)
    sim = stiction.Simulator(file.scene, dt=1e-3)
    state = sim.initial_state()
    state.q[:], state.v[:] = [0.3, -0.7, 0.02], [1.0, -2.0, 0.3]
    model = mujoco.MjModel.from_xml_string(ARM)
    data = mujoco.MjData(model)
    data.qpos[:], before = state.q, state.v.copy()
    sim.step(state, file.control([2.0, -1.0, 5.0]))
    data.qvel[:] = 0.5 * (before + state.v)
    mujoco.mj_forward(model, data)
    data.qacc[:] = (state.v - before) / 1e-3
    mujoco.mj_rnePostConstraint(model, data)
    for joint, body in (("shoulder", "upper"), ("elbow", "fore"), ("wrist", "hand")):
        force, moment = sim.joint_reaction(joint)
        own = sim.motion().pose(file.scene.joints[file.scene.joint_names.index(joint)].body)
        at = model.body(body).id
        centre = data.subtree_com[model.body_rootid[at]]
        turned, pushed = data.cfrc_int[at][:3], data.cfrc_int[at][3:]
        np.testing.assert_allclose(force, pushed, atol=1e-9)
        moved = turned + np.cross(centre - own.translation, pushed)
        np.testing.assert_allclose(moment, moved, atol=1e-9)


def test_reactions_at_closures() -> None:
    """A beam on a hinge whose end a closure holds: hinge and closure carry half of it each."""
    file = stiction.load_mjcf(
        """<mujoco><worldbody><body name="beam" pos="0 0 1"><joint name="hinge" axis="0 1 0"/>
        <geom type="box" pos=".5 0 0" size=".5 .05 .05" mass="2" contype="0" conaffinity="0"/>
        </body></worldbody>
        <equality><connect body1="beam" anchor="1 0 0"/></equality></mujoco>"""
    )
    sim = stiction.Simulator(file.scene, dt=1e-3)
    state = sim.initial_state()
    sim.run(state, steps=20)
    force, moment = sim.joint_reaction("hinge")
    np.testing.assert_allclose(force, [0, 0, 9.81], atol=1e-6)
    np.testing.assert_allclose(moment, 0, atol=1e-6)
    for settings in ({"integrator": "implicit-euler"}, {"project_closures": True}):
        other = stiction.Simulator(file.scene, dt=1e-3, **settings)
        other.step(other.initial_state())
        with pytest.raises(ValueError, match='joint "hinge" carries a closure, whose force is not'):
            other.joint_reaction("hinge")


@pytest.mark.parametrize("integrator", ["implicit-euler", "exponential"])
def test_reactions_of_compliant_steps(integrator: str) -> None:
    """Solo-12 stands on springs: what all four hips carry is the weight of the base."""
    scene = stiction.load("solo12")
    damped = stiction.Material(stiffness=2e4, damping=200.0)
    for g in range(1, len(scene.geometries)):
        scene.set_pair_material("ground", g, damped)
    sim = stiction.Simulator(scene, dt=1e-3, integrator=integrator)
    state, control = sim.initial_state("standing"), sim.hold("standing")
    sim.run(state, control, steps=1500)
    motion = sim.motion()
    assert np.abs(motion.acceleration(scene.body_names[0])).max() < 1e-2
    hips = [sim.joint_reaction(f"{leg}_HAA")[0] for leg in ("FL", "FR", "HL", "HR")]
    on_base = 9.81 * scene.parameters.mass[0]
    np.testing.assert_allclose(-np.sum(hips, axis=0), [0, 0, on_base], atol=2e-2)


def test_reactions_at_welds_and_loops() -> None:
    """A weld takes moments too, and leaves none about the axis of a hinge without drive; within
    what a joint carries a closure cancels."""
    text = """<mujoco><worldbody><body name="beam" pos="0 0 1"><joint name="hinge" axis="0 1 0"/>
        <geom type="box" pos=".5 0 0" size=".5 .05 .05" mass="2" contype="0" conaffinity="0"/>
        <body name="end" pos="1 .2 0"><joint name="free" axis="1 0 0"/>
        <geom size=".1" pos="0 .3 .1" mass="1" contype="0" conaffinity="0"/></body></body>
        </worldbody><equality>{}</equality></mujoco>"""
    file = stiction.load_mjcf(text.format('<weld body1="end"/>'))
    sim = stiction.Simulator(file.scene, dt=1e-3)
    state = sim.initial_state()
    state.v[:] = 0.1
    sim.run(state, steps=3)
    force, moment = sim.joint_reaction("hinge")
    (held,) = [f for source, _, f, _ in _closures(sim) if source == "closure"]
    assert np.abs(held[3:]).max() > 1.0
    assert moment[1] == pytest.approx(0.0, abs=1e-9) and np.abs(moment).max() > 0.1
    assert force[2] > 1.0
    file = stiction.load_mjcf(text.format('<weld body1="end" body2="beam"/>'))
    sim = stiction.Simulator(file.scene, dt=1e-3)
    state = sim.initial_state()
    sim.run(state, steps=3)
    force, moment = sim.joint_reaction("hinge")
    assert moment[1] == pytest.approx(0.0, abs=1e-9)
    _, moment = sim.joint_reaction("free")
    axis = sim.motion().jacobian("end")[3:, 1]
    assert axis @ moment == pytest.approx(0.0, abs=1e-9) and np.linalg.norm(moment) > 1.0


def _closures(sim: stiction.Simulator) -> list[Any]:
    """Rows of the last step with their forces [N, N m]."""
    out, offset = [], 0
    impulse = sim.solution().impulse
    for source, name, kind, reference in sim._references():
        n = len(reference)
        out.append((source, name, impulse[offset : offset + n] / sim.settings.dt, kind))
        offset += n
    return out


def test_reactions_in_a_frame_and_refusals() -> None:
    sim, _, after = trotting()
    scene = sim.scene
    motion = sim.motion()
    force, moment = sim.joint_reaction("FL_KFE")
    body = scene.joints[scene.joint_names.index("FL_KFE")].body
    X, F = motion.pose(body), motion.pose("FL_FOOT")
    f, m = sim.joint_reaction("FL_KFE", frame="FL_FOOT")
    np.testing.assert_allclose(F.rotation @ f, force, atol=1e-12)
    arm = X.translation - F.translation
    np.testing.assert_allclose(F.rotation @ m, moment + np.cross(arm, force), atol=1e-12)
    np.testing.assert_allclose(sim.joint_reaction(body)[0], force)
    free = scene.joint_names[0]
    for error, wrong in (
        (f'joint "{free}" is free: it carries nothing', free),
        ('no joint "FL_KFF"; near: FL_KFE', "FL_KFF"),
        ('no joint "FL_FOOT"; "FL_FOOT" is a frame', "FL_FOOT"),
        ("joint = 99", 99),
    ):
        with pytest.raises(ValueError, match=error):
            sim.joint_reaction(wrong)
    with pytest.raises(ValueError, match='no frame "FL_FOOD"; near: FL_FOOT'):
        sim.joint_reaction("FL_KFE", frame="FL_FOOD")
    with pytest.raises(ValueError, match='no frame "FL_FOOD"; near: FL_FOOT'):
        motion.acceleration("FL_FOOD")
    with pytest.raises(ValueError, match='frame = "body": must be "local_world_aligned", "local"'):
        motion.velocity("FL_FOOT", "body")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="acceleration: not known at a state alone"):
        stiction.SceneMotion(scene, after).acceleration("FL_FOOT")
    with pytest.raises(ValueError, match="acceleration"):
        stiction.SceneMotion(scene, after, acceleration=[1.0])
    with pytest.raises(ValueError, match=r"Simulator\.motion: no step was taken yet"):
        stiction.Simulator(scene).motion()


def test_no_motion_of_a_step_that_gradients_repeated() -> None:
    scene = stiction.load("solo12")
    sim = stiction.Simulator(scene)
    state = sim.initial_state()
    tape = sim.rollout(state, steps=4, tape=True)
    sim.motion()
    tape.adjoint(np.ones(2 * scene.nv))
    with pytest.raises(ValueError, match="repeated its first step"):
        sim.motion()
    sim.step(state)
    sim.motion()


def test_a_joint_that_sleeps_tells_nothing() -> None:
    scene = stiction.load("solo12")
    sim = stiction.Simulator(scene, sleeping=True)
    state = sim.initial_state()
    for _ in range(3000):
        if sim.step(state).num_asleep:
            break
    assert sim.report().num_asleep
    with pytest.raises(ValueError, match="sleeps"):
        sim.joint_reaction("FL_KFE")
