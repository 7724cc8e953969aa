"""Poses, velocities, Jacobians and dynamics by name, against Pinocchio."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
import stiction


def world() -> stiction.Scene:
    """Two robots with armature and springs, and a loose body."""
    scene = stiction.load("solo12")
    arm = stiction.load("four-bar").robots[0].description
    scene.add_robot(arm, robot_name="other")
    scene.add_body("stone", stiction.Box([0.1, 0.2, 0.3]), 2.0)
    rng = np.random.default_rng(4)
    p = scene.parameters
    p.armature[:] = rng.uniform(0.01, 0.1, scene.nv)
    p.spring_stiffness[scene.dof("FL_HFE")], p.spring_rest[scene.dof("FL_HFE")] = 3.0, 0.4
    return scene


def moving(scene: stiction.Scene) -> stiction.State:
    rng = np.random.default_rng(5)
    q = stiction.integrate(scene, scene.default_q, rng.uniform(-1, 1, scene.nv))
    return stiction.make_state(scene, q, rng.normal(size=scene.nv))


def of_pinocchio(scene: stiction.Scene, state: stiction.State, robot: stiction.RobotSlice):
    model = stiction.pinocchio_model(scene, robot.name)
    data = model.createData()
    q = state.q[robot.q_offset : robot.q_offset + robot.nq]
    v = state.v[robot.v_offset : robot.v_offset + robot.nv]
    return model, data, q, v


def test_bodies_and_frames_by_name() -> None:
    scene = world()
    state = moving(scene)
    motion = stiction.SceneMotion(scene, state)
    compared = 0
    for robot in scene.robots:
        model, data, q, v = of_pinocchio(scene, state, robot)
        pinocchio.framesForwardKinematics(model, data, q)
        pinocchio.computeJointJacobians(model, data, q)
        pinocchio.forwardKinematics(model, data, q, v)
        axes = pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
        for name in robot.description.frame_names:
            frame = model.getFrameId(name)
            if frame >= model.nframes:
                continue
            full = f"{robot.name}/{name}"
            theirs = data.oMf[frame]
            np.testing.assert_allclose(motion.pose(full), theirs, atol=1e-12)
            J = motion.jacobian(full)
            at = slice(robot.v_offset, robot.v_offset + robot.nv)
            own = pinocchio.getFrameJacobian(model, data, frame, axes)
            np.testing.assert_allclose(J[:, at], own, atol=1e-12)
            J[:, at] = 0
            assert not J.any()
            twist = pinocchio.getFrameVelocity(model, data, frame, axes).vector
            np.testing.assert_allclose(motion.velocity(full), twist, atol=1e-12)
            compared += 1
    assert compared > 20
    stone = motion.pose("stone")
    np.testing.assert_allclose(stone, stiction.Simulator(scene).body_poses(state)[-1], atol=1e-14)
    turned = stone.rotation @ state.v[-6:-3]
    np.testing.assert_allclose(motion.velocity("stone")[:3], turned, atol=1e-14)
    np.testing.assert_allclose(
        motion.jacobian(scene.body("stone")) @ state.v, motion.velocity("stone"), atol=1e-12
    )
    assert not motion.velocity("world").any() and not motion.jacobian(-1).any()
    assert np.array_equal(motion.pose("world"), np.eye(4))


def test_mass_matrix_bias_and_momentum() -> None:
    scene = world()
    state = moving(scene)
    motion = stiction.SceneMotion(scene, state)
    M, bias, p = motion.mass_matrix(), motion.bias(), scene.parameters
    total = np.zeros(3)
    mass = 0.0
    for robot in scene.robots:
        model, data, q, v = of_pinocchio(scene, state, robot)
        at = slice(robot.v_offset, robot.v_offset + robot.nv)
        own = np.triu(pinocchio.crba(model, data, q))
        np.testing.assert_allclose(M[at, at], own + np.triu(own, 1).T, rtol=1e-10, atol=1e-12)
        theirs = pinocchio.nonLinearEffects(model, data, q, v)
        np.testing.assert_allclose(bias[at], theirs, rtol=1e-10, atol=1e-10)
        pinocchio.computeCentroidalMomentum(model, data, q, v)
        np.testing.assert_allclose(motion.com(robot.name), data.com[0], atol=1e-12)
        np.testing.assert_allclose(motion.momentum(robot.name), data.hg.vector, atol=1e-10)
        total += motion.momentum(robot.name)[:3]
        mass += motion.mass(robot.name)
    stone = np.array([*motion.velocity("stone")[:3]]) * 2.0
    np.testing.assert_allclose(motion.momentum()[:3], total + stone, atol=1e-12)
    assert motion.mass() == pytest.approx(mass + 2.0)
    np.testing.assert_allclose(M, M.T)
    rotors = 0.5 * p.armature @ state.v**2
    assert motion.rotor_energy == pytest.approx(rotors)
    kinetic = 0.5 * state.v @ M @ state.v
    assert motion.kinetic_energy == pytest.approx(kinetic, rel=1e-12)
    sim = stiction.Simulator(scene, dt=1e-6)
    after = state.copy()
    report = sim.step(after)
    assert motion.kinetic_energy == pytest.approx(report.kinetic_energy, rel=1e-12)
    assert motion.potential_energy == pytest.approx(report.potential_energy, rel=1e-12)


def test_it_stays_what_it_was_and_refuses_what_does_not_fit() -> None:
    scene = world()
    state = moving(scene)
    motion = stiction.SceneMotion(scene, state)
    before = motion.pose("stone")
    state.q[:] = scene.default_q
    scene.add_body("late", stiction.Sphere(0.1), 1.0)
    np.testing.assert_array_equal(before, motion.pose("stone"))
    with pytest.raises(ValueError, match="added to the scene later"):
        motion.pose("late")
    with pytest.raises(ValueError, match='no frame "ston"'):
        motion.pose("ston")
    with pytest.raises(ValueError, match="state"):
        stiction.SceneMotion(scene, np.zeros(3))


def test_wrench_between_two_bodies() -> None:
    """A box on a box on the ground: each pair carries what is above it."""
    scene = stiction.Scene()
    scene.add_ground()
    for k, name in enumerate(("low", "high")):
        X = pinocchio.SE3(np.eye(3), np.array([0.3, 0.0, 0.1 + 0.2 * k]))
        scene.add_body(name, stiction.Box([0.1, 0.1, 0.1]), 1.0 + k, X)
    sim = stiction.Simulator(scene, dt=1e-3)
    state = sim.initial_state()
    sim.run(state, steps=50)
    force, moment = sim.wrench_between("low", "high")
    np.testing.assert_allclose(force, [0, 0, 2 * 9.81], atol=1e-6)
    np.testing.assert_allclose(moment, np.cross([0.3, 0, 0.2], force), atol=1e-6)
    np.testing.assert_allclose(sim.wrench_between("high", "low", [0.3, 0, 0])[0], -force)
    np.testing.assert_allclose(sim.wrench_between("world", "low")[0], [0, 0, 3 * 9.81], atol=1e-6)
    assert not np.any(sim.wrench_between("world", "high")[0])
    both = sim.wrench_between("world", "low")[0] + sim.wrench_between("high", "low")[0]
    np.testing.assert_allclose(both, sim.wrench_on("low").force, atol=1e-9)
    with pytest.raises(ValueError, match="body_b"):
        sim.wrench_between("low", 7)


def test_wrenches_of_a_simulator_are_of_one_type() -> None:
    sim = stiction.Simulator(stiction.load("solo12"))
    sim.run(sim.initial_state("standing"), sim.hold("standing"), 5)
    leg = sim.scene.joints[3]
    wrenches = [
        sim.wrench_on("base_link"),
        sim.wrench_between("world", "FL_LOWER_LEG"),
        sim.joint_reaction(leg.name),
        sim.joint_reaction(leg.name, frame="FL_FOOT"),
    ]
    for wrench in wrenches:
        assert type(wrench) is stiction.BodyWrench and len(wrench) == 2
        force, moment = wrench
        for part, value in ((force, wrench.force), (moment, wrench.moment)):
            np.testing.assert_array_equal(part, value)
        np.testing.assert_array_equal(np.array(wrench), [force, moment])
        np.testing.assert_array_equal(wrench[-1], moment)
        with pytest.raises(IndexError):
            wrench[2]


def test_wrench_between_bodies_in_a_frame() -> None:
    """A box on a tray that leans: in the axes of the tray, about its origin."""
    lean = pinocchio.SE3(pinocchio.utils.rotate("x", 0.2), np.array([0.4, 0.1, 0.6]))
    scene = stiction.Scene()
    scene.add_body("tray", stiction.Box([0.3, 0.3, 0.01]), 5.0, lean)
    scene.add_weld("held", "tray", pinocchio.SE3.Identity(), "world", lean)
    above = lean * pinocchio.SE3(np.eye(3), np.array([0.05, -0.1, 0.06]))
    scene.add_body("box", stiction.Box([0.05, 0.05, 0.05]), 1.5, above)
    sim = stiction.Simulator(scene, dt=1e-3)
    state = sim.initial_state()
    sim.run(state, steps=200)
    tray = sim.motion().pose("tray")
    force, moment = sim.wrench_between("tray", "box", tray.translation)
    np.testing.assert_allclose(force, [0, 0, 1.5 * 9.81], atol=1e-5)
    f, m = sim.wrench_between("tray", "box", frame="tray")
    np.testing.assert_allclose(f, tray.rotation.T @ force, atol=1e-12)
    np.testing.assert_allclose(m, tray.rotation.T @ moment, atol=1e-12)
    centre = np.array([0.05, -0.1, 0.06])  # at rest the force passes through it
    np.testing.assert_allclose(m, np.cross(centre, f), atol=1e-4)
    f_back, m_back = sim.wrench_between("box", "tray", frame="tray")
    np.testing.assert_allclose(f_back, -f)
    np.testing.assert_allclose(m_back, -m)
    in_world = sim.wrench_between("tray", "box", frame="world")
    np.testing.assert_allclose(in_world, sim.wrench_between("tray", "box"))
    with pytest.raises(ValueError, match="point and frame: give one of them"):
        sim.wrench_between("tray", "box", [0, 0, 0], "tray")
    with pytest.raises(ValueError, match='no frame "trey"; there are: tray, box'):
        sim.wrench_between("tray", "box", frame="trey")
    with pytest.raises(ValueError, match='no body "bx"; there are: tray, box'):
        sim.wrench_between("tray", "bx")


@pytest.mark.parametrize("integrator", sorted(stiction.integrators()))
@pytest.mark.parametrize("beside", [False, True], ids=["alone", "beside a stone"])
def test_the_energy_of_a_step_is_that_of_bodies_and_rotors(integrator: str, beside: bool) -> None:
    """Half of v M v in every integrator, on lanes (a robot alone) and off them."""
    scene = stiction.load("solo12")
    if beside:
        scene.add_body("stone", stiction.Sphere(0.1), 2.0, pinocchio.SE3(np.eye(3), np.ones(3)))
    rng = np.random.default_rng(4)
    scene.parameters.armature[6:18] = rng.uniform(0.001, 0.05, 12)
    if integrator != "semi-implicit-euler":
        scene.parameters.stiffness[:] = 1e4
    sim = stiction.Simulator(scene, dt=1e-4, integrator=integrator)
    state = sim.initial_state("standing")
    state.q[2] += 0.5
    state.v = rng.normal(size=scene.nv)
    motion = stiction.SceneMotion(scene, state, sim.parameters)
    wanted = 0.5 * state.v @ motion.mass_matrix() @ state.v
    after = state.copy()
    report = sim.step(after, sim.hold())
    assert report.kinetic_energy == pytest.approx(wanted, rel=1e-10)
    assert motion.rotor_energy > 0.01 * wanted
    if integrator == "semi-implicit-euler":
        balance = sim.balance(after, sim.hold())
        assert balance.energy_before == pytest.approx(report.energy, rel=1e-10)
        later = stiction.SceneMotion(scene, after, sim.parameters)
        energy = later.kinetic_energy + later.potential_energy
        assert balance.energy_after == pytest.approx(energy, rel=1e-6)  # spins at half a step
