"""The Python package as a user meets it: shapes, scenes, simulator, reports, parameters."""

from __future__ import annotations

import threading
import time

import numpy as np
import pinocchio
import pytest
import stiction


def at(x: float, y: float, z: float) -> pinocchio.SE3:
    return pinocchio.SE3(np.eye(3), np.array([x, y, z]))


@pytest.fixture
def cube() -> stiction.Scene:
    """A cube of 2 kg and 0.2 m on the ground, friction 0.5."""
    scene = stiction.Scene(name="cube")
    material = stiction.Material(friction=0.5)
    scene.add_ground(material)
    scene.add_body("cube", stiction.Box([0.1, 0.1, 0.1]), 2.0, at(0, 0, 0.1), material)
    return scene


# --- scenes -----------------------------------------------------------------------------


def test_scene_lists_its_parts(cube: stiction.Scene) -> None:
    assert (cube.nq, cube.nv, cube.num_bodies, cube.num_trees) == (7, 6, 1, 1)
    assert cube.body_names == ["cube"]
    assert [g.name for g in cube.geometries] == ["ground", "cube"]
    assert cube.geometries[1].shape.type == "box"
    assert cube.body("cube") == 0
    assert cube.geometry("cube") == 1
    assert cube.joints[0].type == "free_flyer"
    assert cube.pair_enabled("ground", "cube")
    assert cube.pair_material(0, "cube").friction == pytest.approx(0.5)
    assert repr(cube) == 'Scene("cube", nq=7, nv=6, bodies=1, geometries=2)'


def test_scene_edits(cube: stiction.Scene) -> None:
    other = cube.copy()
    other.add_body("ball", stiction.Sphere(0.1), 1.0, at(1, 0, 0.1))
    other.disable_pair("ball", "cube")
    other.set_pair_material("ground", "ball", stiction.Material(friction=0.1, restitution=0.5))
    other.set_configuration("far", np.r_[other.default_q[:7], 5, 0, 1, 0, 0, 0, 1])
    assert not other.pair_enabled("ball", "cube")
    assert other.pair_material("ground", "ball").restitution == 0.5
    assert other.configurations["far"][7] == 5
    assert cube.num_bodies == 1
    other.enable_only([("ground", "cube")])
    assert not other.pair_enabled("ground", "ball")
    sim = stiction.Simulator(other)
    assert sim.initial_state("far").q[7] == 5


def test_arrays_of_a_scene_survive_additions() -> None:
    scene = stiction.Scene()
    scene.add_body("first", stiction.Sphere(0.1), 1.0)
    before = scene.parameters.mass
    for i in range(50):
        scene.add_body(f"body{i}", stiction.Sphere(0.1), 2.0)
    assert before.tolist() == [1.0]
    scene.parameters.mass[:] = 3.0
    assert scene.parameters.mass.tolist() == [3.0] * 51
    assert stiction.Simulator(scene).parameters.mass.tolist() == [3.0] * 51


def test_built_in_scenes_load_and_step() -> None:
    infos = {info.name: info for info in stiction.scenes()}
    assert {"solo12", "cube-slide", "box-stack", "ball-drop"} <= set(infos)
    for info in infos.values():
        assert info.description
        if info.needs_robots:
            continue
        sim = stiction.Simulator(stiction.load(info.name, n=3 if info.default_n else 0))
        state = sim.initial_state()
        assert sim.step(state).status in ("ok", "not_converged")
        assert np.isfinite(state.q).all()


def test_load_takes_options() -> None:
    assert stiction.load("box-stack", n=4).num_bodies == 4
    assert stiction.load("box-stack(5)").num_bodies == 5
    scene = stiction.load("cube-slide", friction=0.25)
    assert scene.pair_material(0, 1).friction == pytest.approx(0.25)


# --- stepping and reports ---------------------------------------------------------------


def test_a_cube_at_rest(cube: stiction.Scene) -> None:
    sim = stiction.Simulator(cube, dt=1e-3)
    state = sim.initial_state()
    for _ in range(50):
        report = sim.step(state)
    assert report.status == "ok"
    assert report.solver_status == "converged"
    assert report.converged
    assert (report.num_contacts, report.num_rows, report.num_islands) == (4, 12, 1)
    assert report.penetration < 1e-9
    assert report.energy == pytest.approx(2.0 * 9.81 * 0.1, rel=1e-6)
    assert report.energy == report.kinetic_energy + report.potential_energy
    assert report.residuals.relative <= sim.settings.tolerance
    assert state.time == pytest.approx(0.05)

    contacts = sim.contacts()
    weight = sum(c.force_on_b_world for c in contacts)
    np.testing.assert_allclose(weight, [0, 0, 2.0 * 9.81], atol=1e-6)
    for c in contacts:
        assert (c.geometry_a_name, c.geometry_b_name) == ("ground", "cube")
        assert (c.body_a_name, c.body_b_name) == ("world", "cube")
        assert (c.body_a, c.body_b) == (-1, 0)
        np.testing.assert_allclose(c.normal, [0, 0, 1])
        np.testing.assert_allclose(c.frame @ c.impulse / 1e-3, c.force_on_b_world)
        np.testing.assert_array_equal(c.force_on_a_world, -c.force_on_b_world)
        assert c.friction == pytest.approx(0.5)
        assert not c.sliding
    wrench = sim.wrench_on("cube")
    np.testing.assert_allclose(wrench.force, weight)
    np.testing.assert_allclose(wrench.moment, 0, atol=1e-6)


def test_a_report_is_a_copy(cube: stiction.Scene) -> None:
    sim = stiction.Simulator(cube)
    state = sim.initial_state()
    first = sim.step(state)
    contacts, energy = sim.contacts(), first.energy
    positions = [c.position.copy() for c in contacts]
    state.v[2] = 1.0
    sim.run(state, steps=100)
    assert first.energy == energy
    np.testing.assert_array_equal([c.position for c in contacts], positions)
    assert sim.report().num_contacts == 0


def test_balance_of_momentum_and_energy(cube: stiction.Scene) -> None:
    sim = stiction.Simulator(cube)
    state = sim.initial_state()
    state.v[0] = 0.5
    push = sim.hold()
    push.wrenches = [stiction.ExternalWrench(0, [0, 3.0, 0])]
    sim.run(state, push, 20)
    balance = sim.balance(state, push)
    np.testing.assert_allclose(
        balance.linear_after - balance.linear_before, balance.linear_impulse, atol=1e-12
    )
    np.testing.assert_allclose(
        balance.angular_after - balance.angular_before, balance.angular_impulse, atol=1e-5
    )
    assert balance.base_is_free
    assert balance.friction_work < 0
    assert balance.energy_after < balance.energy_before


def test_servos_and_torques(cube: stiction.Scene) -> None:
    scene = stiction.load("double-pendulum")
    sim = stiction.Simulator(scene)
    a, b = sim.initial_state(), sim.initial_state()
    tau = np.full(scene.nv, 0.3)
    control = sim.hold()
    control.torque = tau
    for _ in range(10):
        sim.step(a, tau)
        sim.step(b, control)
    assert a == b
    control.position_target[0] = 0.1  # a view
    assert control.position_target[0] == 0.1
    zero = stiction.Control(scene.nv)
    assert not zero.torque.any()
    assert control.copy().torque.tolist() == tau.tolist()


def test_run_is_a_loop_of_steps() -> None:
    sim = stiction.Simulator(stiction.load("solo12"))
    control = sim.hold("standing")
    a, b = sim.initial_state("standing"), sim.initial_state("standing")
    for _ in range(30):
        sim.step(a, control)
    sim.run(b, control, 30)
    assert a == b


def test_body_poses(cube: stiction.Scene) -> None:
    sim = stiction.Simulator(cube)
    (pose,) = sim.body_poses(sim.initial_state())
    assert isinstance(pose, pinocchio.SE3)
    np.testing.assert_array_equal(pose.translation, [0, 0, 0.1])


def test_compare_solves_one_problem_with_each(cube: stiction.Scene) -> None:
    sim = stiction.Simulator(cube)
    state = sim.initial_state()
    solutions = sim.compare(state)
    assert set(solutions) == set(stiction.solvers())
    assert state == sim.initial_state()
    assert solutions["ncp-newton"].converged


def test_other_threads_run_during_a_step() -> None:
    sim = stiction.Simulator(
        stiction.load("box-stack", n=10), max_iterations=20000, tolerance=1e-14
    )
    state = sim.initial_state()
    done = threading.Event()
    worker = threading.Thread(target=lambda: (sim.run(state, steps=6000), done.set()))
    start, ticks = time.perf_counter(), 0
    worker.start()
    while not done.is_set() and time.perf_counter() - start < 60:
        ticks += 1
        time.sleep(1e-3)
    worker.join()
    assert ticks > 5


# --- parameters -------------------------------------------------------------------------


def test_parameters_act_on_the_next_step(cube: stiction.Scene) -> None:
    sim = stiction.Simulator(cube)
    p = sim.parameters
    p.mass[0] = 4.0
    p.friction[:] = 0.0
    p.gravity = [0, 0, -1.0]
    p.validate()
    state = sim.initial_state()
    state.v[0] = 1.0
    sim.step(state)
    np.testing.assert_allclose(sim.wrench_on(0).force, [0, 0, 4.0], atol=1e-5)
    assert state.v[0] == 1.0
    assert cube.parameters.mass[0] == 2.0  # the scene keeps its own


def test_parameters_arrays_have_the_scenes_sizes() -> None:
    scene = stiction.load("solo12")
    p = stiction.Simulator(scene).parameters
    for name in (
        "armature",
        "damping",
        "dry_friction",
        "lower",
        "upper",
        "kp",
        "kd",
        "effort_limit",
    ):
        assert getattr(p, name).shape == (scene.nv,)
    assert p.mass.shape == (scene.num_bodies,)
    assert p.com.shape == p.axis.shape == (scene.num_bodies, 3)
    for name in ("friction", "restitution", "stiffness", "contact_damping"):
        assert getattr(p, name).shape == (len(scene.geometries),)
    inertia = p.inertia(1)
    p.set_inertia(1, 2 * inertia)
    np.testing.assert_allclose(p.inertia(1), 2 * inertia)
    p.set_geometry_placement(0, at(0, 0, -0.5))
    np.testing.assert_array_equal(p.geometry_placement(0).translation, [0, 0, -0.5])


def test_parameters_can_be_copied_and_set_back(cube: stiction.Scene) -> None:
    sim = stiction.Simulator(cube)
    before = sim.parameters.copy()
    view = sim.parameters.mass
    sim.parameters.mass = [7.0]
    sim.parameters = before
    assert sim.parameters.mass[0] == 2.0
    assert view[0] == 2.0  # still the same memory


def test_views_keep_their_owner_alive(cube: stiction.Scene) -> None:
    mass = stiction.Simulator(cube).parameters.mass
    q = stiction.Simulator(cube).initial_state().q
    torque = stiction.Simulator(cube).hold().torque
    assert (mass[0], q[2], torque[0]) == (2.0, 0.1, 0.0)
