"""Compliant contacts in Python: integrators by name, materials, the springs in the state."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import stiction
from stiction.record import record
from stiction.replay import write_replay

COMPLIANT = [name for name in stiction.integrators() if name != "semi-implicit-euler"]
MASS, STIFFNESS = 2.0, 2e4


def ball(**material: float) -> stiction.Scene:
    soft = {"friction": 0.5, "stiffness": STIFFNESS, "damping": 200.0} | material
    scene = stiction.Scene()
    scene.add_ground(stiction.Material(**soft))
    placement = pin.SE3(np.eye(3), np.array([0.0, 0.0, 0.0999]))
    scene.add_body("ball", stiction.Sphere(0.1), MASS, placement, stiction.Material(friction=0.5))
    return scene


def test_the_registry_names_what_a_simulator_takes() -> None:
    names = stiction.integrators()
    assert {"explicit-euler", "implicit-euler", "rk4", "semi-implicit-euler"} <= set(names)
    assert list(names) == sorted(names)
    assert all(names.values())
    with pytest.raises(
        ValueError, match='integrator "euler" is unknown; there are: explicit-euler'
    ):
        stiction.Simulator(ball(), integrator="euler")


@pytest.mark.parametrize("integrator", COMPLIANT)
def test_a_ball_rests_on_its_spring(integrator: str) -> None:
    sim = stiction.Simulator(ball(), dt=2e-4, integrator=integrator)
    state = sim.initial_state()
    log = sim.rollout(state, steps=10000)
    depth = MASS * 9.81 / STIFFNESS
    assert 0.1 - state.q[2] == pytest.approx(depth, abs=1e-12)
    assert log.converged is not None
    assert log.converged.all()
    report = sim.report()
    assert report.status == "ok"
    assert report.elastic_energy == pytest.approx(0.5 * STIFFNESS * depth**2)
    assert report.penetration == pytest.approx(depth)
    (contact,) = sim.contacts()
    assert contact.force_on_b_world == pytest.approx([0, 0, MASS * 9.81])
    assert not contact.sliding
    assert sim.wrench_on("ball").force == pytest.approx([0, 0, MASS * 9.81])
    balance = sim.balance(state)
    assert (
        np.abs(balance.linear_after - balance.linear_before - balance.linear_impulse).max() < 1e-9
    )


@pytest.mark.parametrize("integrator", COMPLIANT)
def test_springs_live_in_the_state(integrator: str) -> None:
    sim = stiction.Simulator(ball(), dt=1e-4, integrator=integrator)
    state = sim.initial_state()
    state.v[0] = 0.02
    sim.run(state, steps=20)
    (memory,) = state.contacts
    assert (memory.geometry_a, memory.geometry_b) == (0, 1)
    (contact,) = sim.contacts()
    assert memory.extension == pytest.approx(contact.frame @ contact.extension, abs=1e-15)
    assert memory.extension[0] < 0.0  # it pulls back
    again = stiction.State(state.save())
    assert again == state
    sim.run(state, steps=20)
    stiction.Simulator(ball(), dt=1e-4, integrator=integrator).run(again, steps=20)
    assert again == state

    (kept,) = state.cold().contacts  # springs are no warm start
    assert kept.extension == pytest.approx(state.contacts[0].extension, abs=0)

    stretched = state.copy()
    stretched.contacts = [stiction.ContactMemory(0, 1, memory.feature, extension=[1e-3, 0, 0])]
    assert stretched != state
    pulled = sim.initial_state()
    pulled.contacts = stretched.contacts
    sim.run(pulled, steps=10)
    assert pulled.v[0] > 0.0


def test_contact_memory_refuses_what_it_cannot_hold() -> None:
    with pytest.raises(ValueError, match="geometry_a = 1, geometry_b = 1"):
        stiction.ContactMemory(1, 1, 0)
    with pytest.raises(ValueError, match=r"ContactMemory.extension\[1\] = nan"):
        stiction.ContactMemory(0, 1, 0, extension=[0, math.nan, 0])
    with pytest.raises(ValueError, match=r"ContactMemory\.feature = -1"):
        stiction.ContactMemory(0, 1, -1)
    state = stiction.Simulator(ball()).initial_state()
    with pytest.raises(ValueError, match=r"state.contacts\[0\]: must be a ContactMemory"):
        state.contacts = [3]  # type: ignore[list-item]


def test_options_of_the_exponential_integrators_act() -> None:
    def end(**settings: object) -> np.ndarray:
        sim = stiction.Simulator(ball(), dt=5e-3, **settings)  # type: ignore[arg-type]
        state = sim.initial_state()
        state.v[:] = [0.5, 0.0, -0.5, 0.0, 0.0, 2.0]
        sim.run(state, steps=8)
        return np.concatenate([state.q, state.v])

    published = {"integrator": "exponential-published", "law": "published"}
    reference = end(**published)
    for option in (
        {"max_products": 0},
        {"double_integral": False},
        {"projection": "euclidean"},
        {"max_products": 0, "balancing": False},
    ):
        difference = np.abs(end(**published, **option) - reference).max()
        assert 0.0 < difference < 0.5, option
    fine = end(integrator="exponential", accuracy=1e-7)
    coarse = end(integrator="exponential")
    assert 0.0 < np.abs(fine - coarse).max() < 1e-2


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"law": "hertz"}, 'law = "hertz": must be "continuous" or "published"'),
        ({"substeps": 0}, "substeps = 0: must be >= 1"),
        ({"newton_tolerance": 0.0}, "newton_tolerance = 0"),
        ({"newton_iterations": 0}, "newton_iterations = 0: must be >= 1"),
        ({"newton_halvings": 99}, "newton_halvings = 99: must be in"),
        ({"dt": -1e-3}, "dt = -0.001"),
        (
            {"integrator": "exponential", "law": "published"},
            'law = "published": integrator "exponential" does not read it; of',
        ),
        ({"accuracy": -1.0}, "accuracy = -1"),
        ({"max_products": -2}, "max_products = -2: must be -1"),
        ({"projection": "nearest"}, 'projection = "nearest": must be "radial" or "euclidean"'),
    ],
)
def test_settings_are_checked(setting: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        stiction.Simulator(ball(), **({"integrator": "rk4"} | setting))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "field",
    [
        "stiffness",
        "damping",
        "dissipation",
        "tangential_stiffness_ratio",
        "tangential_damping_ratio",
    ],
)
def test_materials_are_checked(field: str) -> None:
    for bad in (-1.0, math.nan):
        with pytest.raises(ValueError, match=rf"Material\.{field} = "):
            stiction.Material(**{field: bad})
    sim = stiction.Simulator(ball(), integrator="rk4")
    if field == "stiffness":
        sim.parameters.stiffness[0] = -5.0
        with pytest.raises(ValueError, match=r"parameters.stiffness\[0\] = -5"):
            sim.step(sim.initial_state())


@pytest.mark.parametrize(
    ("field", "settings"),
    [
        ("stiffness", {"stiffness": 1.5e154}),  # its square is no number
        ("damping", {"stiffness": 1e5, "damping": 1e200}),
        (
            "tangential_stiffness_ratio",
            {"stiffness": 1e100, "tangential_stiffness_ratio": 1e100},
        ),
        ("tangential_damping_ratio", {"damping": 1e100, "tangential_damping_ratio": 1e100}),
        ("dissipation", {"stiffness": 1e100, "dissipation": 1e100}),
    ],
)
def test_what_overflows_in_series_is_refused(field: str, settings: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=rf"Material\.{field} = .*1e150"):
        stiction.Material(**settings)


@pytest.mark.parametrize("stiffness", [1e-150, 1e-14, 1e14, 1e150])
def test_any_other_stiffness_is_taken(stiffness: float) -> None:
    """The largest is a rigid pair, as far as a step can tell."""
    material = stiction.Material(stiffness=stiffness)
    scene = stiction.Scene()
    scene.add_ground(material)
    scene.add_body("ball", stiction.Sphere(0.1), 1.0, material=material)
    assert scene.pair_material(0, 1).stiffness == pytest.approx(0.5 * stiffness)
    sim = stiction.Simulator(scene, tangential_compliance=True)
    state = sim.initial_state()
    state.q[2] = 0.1
    report = sim.step(state)
    assert report.solver_status == "converged"
    expected = 0.0 if stiffness > 1e13 else -9.81e-3
    assert state.v[2] == pytest.approx(expected, abs=1e-7)


def test_an_all_rigid_scene_is_refused_with_the_way_out() -> None:
    with pytest.raises(ValueError, match=r'"rk4" needs a finite stiffness.*Material\(stiffness='):
        stiction.Simulator(stiction.load("solo12"), integrator="rk4")


def test_dissipation_takes_energy_from_a_bounce() -> None:
    def rebound(dissipation: float) -> float:
        scene = ball(damping=0.0, dissipation=dissipation)
        scene.parameters.gravity[:] = 0.0
        sim = stiction.Simulator(scene, dt=1e-4, integrator="rk4")
        state = sim.initial_state()
        state.q[2] = 0.1001
        state.v[2] = -0.5
        sim.run(state, steps=1000)
        return float(state.v[2]) / 0.5

    assert rebound(0.0) == pytest.approx(1.0, abs=1e-3)
    # Hunt and Crossley: e = 1 - 2/3 chi v for small chi v.
    assert rebound(0.2) == pytest.approx(1.0 - 2.0 / 3.0 * 0.2 * 0.5, abs=0.02)
    assert rebound(2.0) < 0.7


@pytest.mark.parametrize("integrator", COMPLIANT)
def test_a_robot_stands_and_is_recorded(integrator: str) -> None:
    scene = stiction.load("solo12")
    ground = scene.geometry("ground")
    scene.parameters.stiffness[ground] = 2e4
    scene.parameters.contact_damping[ground] = 150.0
    sim = stiction.Simulator(scene, dt=1e-3, integrator=integrator, substeps=10)
    state = sim.initial_state()
    log = sim.rollout(state, steps=2500, record=["q", "num_contacts", "converged"])
    assert log.q is not None
    assert np.abs(np.diff(log.q[-50:], axis=0)).max() < 1e-7
    mass = sum(scene.parameters.mass)
    total = sum(c.force_on_b_world[2] for c in sim.contacts())
    assert total == pytest.approx(mass * 9.81, rel=1e-3)


def test_a_compliant_motion_is_replayed(tmp_path: Path) -> None:
    sim = stiction.Simulator(ball(), dt=1e-3, integrator="implicit-euler")
    replay = record(sim, sim.initial_state(), sim.hold(), 0.1)
    assert any(len(rows) for rows in replay.contacts)
    assert write_replay(tmp_path / "ball.html", replay).stat().st_size > 1000


def test_what_needs_the_rigid_problem_says_so() -> None:
    sim = stiction.Simulator(ball(), integrator="rk4")
    state = sim.initial_state()
    sim.step(state)
    assert sim.problem().num_rows == 0  # nothing is rigid here
    with pytest.raises(ValueError, match='"rk4" has no contact problem'):
        sim.compare(state)


def test_tangential_compliance_of_the_rigid_step() -> None:
    """Solo-12 pulled sideways yields by F / k_t, and only if asked to."""
    pulled = {}
    for asked in (False, True):
        scene = stiction.load("solo12")
        floor = stiction.Material(
            friction=0.9, stiffness=2e4, damping=200.0, tangential_stiffness_ratio=0.5
        )
        for foot in ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"):
            scene.set_pair_material("ground", foot, floor)
        sim = stiction.Simulator(scene, tangential_compliance=asked, tolerance=1e-10)
        assert sim.settings.tangential_compliance is asked
        state, control = sim.initial_state(), sim.hold()
        control.wrenches = [stiction.ExternalWrench(scene.body("base_link"), [0.0, 4.0, 0.0])]
        report = sim.run(state, control, 5000)
        assert report.converged and report.creep < 1e-9
        sideways = np.array([c.frame @ (c.extension * [1, 1, 0]) for c in sim.contacts()])
        force = np.array([c.force_on_b_world for c in sim.contacts()])
        assert len(force) == 4
        pulled[asked] = sideways[:, :2]
        if asked:  # springs and nothing else carry the load, foot by foot
            assert np.allclose(force[:, :2], 0.5 * 2e4 * sideways[:, :2], rtol=1e-3)
        assert np.linalg.norm(force.sum(axis=0)[:2]) == pytest.approx(4.0, rel=1e-4)
    assert not pulled[False].any()
    assert np.abs(pulled[True].sum(axis=0)[1]) == pytest.approx(4.0 / 1e4, rel=1e-4)


def test_switches_inside_a_step_are_counted() -> None:
    sim = stiction.Simulator(ball(), dt=0.1, integrator="exponential")
    state = sim.initial_state()
    state.q[2] = 0.11
    assert sim.step(state).switches == 1  # falls and touches
    rigid = stiction.Simulator(ball(), dt=0.1)
    assert rigid.step(rigid.initial_state()).switches == 0


@pytest.mark.parametrize("integrator", ["exponential", "exponential-published"])
def test_points_that_move_over_a_surface_restore_bit_for_bit(integrator: str) -> None:
    """A cone on a box: their drift is a difference of two queries, which must not remember."""
    scene = stiction.Scene()
    soft = stiction.Material(friction=0.6, stiffness=1e5, damping=50.0)
    scene.add_ground(soft)
    rng = np.random.default_rng(0)
    for k, shape in enumerate((stiction.Box([0.05, 0.06, 0.07]), stiction.Cone(0.06, 0.06))):
        turn = pin.Quaternion(*(lambda x: x / np.linalg.norm(x))(rng.normal(size=4)))
        place = np.array([0.01 * k, 0.0, 0.08 + 0.11 * k])
        pose = pin.SE3(turn.toRotationMatrix(), place)
        scene.add_body(f"body{k}", shape, 0.5 + 0.3 * k, pose, soft)
    sim = stiction.Simulator(scene, dt=1e-3, integrator=integrator)
    again = stiction.Simulator(scene, dt=1e-3, integrator=integrator)
    state, touched = sim.initial_state(), 0
    state.v[:] = 0.3 * np.random.default_rng(3).normal(size=12)
    for _ in range(60):
        copy = state.copy()
        sim.step(state)
        again.step(copy)
        again.step(again.initial_state())  # another state in between
        assert copy.q.tobytes() == state.q.tobytes()
        assert copy.v.tobytes() == state.v.tobytes()
        touched += any(contact.body_a >= 0 for contact in sim.contacts())
    assert touched >= 10


def test_without_friction_no_spring_is_stretched() -> None:
    scene = stiction.Scene()
    ice = stiction.Material(friction=0.0, stiffness=1e4, damping=50.0)
    scene.add_ground(ice)
    pose = np.eye(4)
    pose[2, 3] = 0.1
    scene.add_body("ball", stiction.Sphere(0.1), 1.0, pose, ice)
    sim = stiction.Simulator(scene, dt=2e-3, integrator="exponential")
    state = sim.initial_state()
    state.v[0] = 1.0
    report = sim.run(state, None, 500)
    assert state.v[0] == pytest.approx(1.0, rel=1e-12)
    assert report.elastic_energy == pytest.approx(0.5 * 9.81**2 / 5e3, rel=1e-4)  # two in series
