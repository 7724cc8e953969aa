"""Every wrong argument is refused with the name of the field and its value."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio
import pytest
import stiction

BALL = stiction.Sphere(0.1)
BOX = stiction.Box([0.1, 0.1, 0.1])
TILTED = np.diag([1.0, 1.0, 1.1, 1.0])
MIRRORED = np.diag([1.0, 1.0, -1.0, 1.0])
GAP = np.array([[1, 0, 0, np.nan], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1.0]])


def scene_with_ball() -> stiction.Scene:
    scene = stiction.Scene()
    scene.add_ground()
    scene.add_body("ball", BALL, 1.0)
    return scene


def simulator() -> stiction.Simulator:
    return stiction.Simulator(scene_with_ball())


def refused(error: type[Exception], text: str, call: Callable[[], object]) -> None:
    with pytest.raises(error, match=re.escape(text)):
        call()


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("radius = -1", lambda: stiction.Sphere(-1)),
        ("radius = nan", lambda: stiction.Sphere(float("nan"))),
        ("half_length = -1", lambda: stiction.Capsule(1, -1)),
        ("Box: half_extents has shape (2,): must be (3,)", lambda: stiction.Box([1, 2])),
        ("half_extents.y = 0", lambda: stiction.Box([1, 0, 1])),
        ("half_extents[1] = inf", lambda: stiction.Box([1, np.inf, 1])),
        ("vertices has shape (2, 2): must be (any, 3)", lambda: stiction.ConvexMesh(np.eye(2))),
        ("coplanar", lambda: stiction.ConvexMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0]])),
        ("d has shape (2,)", lambda: stiction.support(BOX, [1, 0])),
        ("half_space", lambda: stiction.support(stiction.HalfSpace(), [1, 0, 0])),
        ("half_space", lambda: stiction.distance(
            stiction.HalfSpace(), None, stiction.HalfSpace(), None)),
        ("X_WA has shape (3, 3): must be (4, 4)", lambda: stiction.collide(
            BALL, np.eye(3), BOX, None)),
        ("X_WB: its rotation is not orthonormal", lambda: stiction.collide(
            BALL, None, BOX, TILTED)),
        ("X_WB: its rotation has determinant -1, a reflection", lambda: stiction.collide(
            BALL, None, BOX, MIRRORED)),
        ("X_WA: has an entry that is not finite", lambda: stiction.distance(BALL, GAP, BOX, None)),
        ("tolerance = 0", lambda: stiction.distance(BALL, None, BOX, None, tolerance=0)),
        ("max_iterations = 0", lambda: stiction.distance(BALL, None, BOX, None, max_iterations=0)),
        ("margin = -1.0", lambda: stiction.contact_manifold(BALL, None, BOX, None, margin=-1.0)),
    ],
)  # fmt: skip
def test_shapes_and_collision(text: str, call: Callable[[], object]) -> None:
    refused(ValueError, text, call)


def test_a_warm_start_of_another_pair_is_refused() -> None:
    rng = np.random.default_rng(0)
    big = stiction.ConvexMesh(rng.normal(size=(200, 3)))
    small = stiction.ConvexMesh(rng.normal(size=(4, 3)))
    far = pinocchio.SE3(np.eye(3), np.array([9.0, 1.0, 2.0]))
    for _ in range(20):
        far = far * pinocchio.SE3.Random()
        cache = stiction.distance(big, None, big, far).warm_start
        try:
            stiction.distance(small, None, small, far, warm_start=cache)
        except ValueError as error:
            assert "another pair" in str(error)
            return
    pytest.fail("no foreign warm start was refused")


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("body_name \"ball\" is taken", lambda s: s.add_body("ball", BALL, 1.0)),
        ("mass = -1", lambda s: s.add_body("b", BALL, -1)),
        ("geometry_name \"ground\" is taken", lambda s: s.add_ground()),
        ("body = 7: must be in [-1, 1)", lambda s: s.add_geometry("g", 7, BALL)),
        ("no body \"arm\"; there are: ball", lambda s: s.add_geometry("g", "arm", BALL)),
        ("body: must be a name or a number", lambda s: s.add_geometry("g", 1.5, BALL)),
        ("half-space must be fixed", lambda s: s.add_geometry("g", 0, stiction.HalfSpace())),
        ("normal: must not be zero", lambda s: s.add_half_space("h", [0, 0, 0], [0, 0, 0])),
        ("point has shape (2,)", lambda s: s.add_half_space("h", [0, 0], [0, 0, 1])),
        ("are the same", lambda s: s.add_weld("w", 0, None, 0, None)),
        ("no joint with one degree of freedom \"x\"", lambda s: s.add_gear("g", "x", 0, 1.0)),
        ("geometry_b = 5", lambda s: s.disable_pair(0, 5)),
        ("no geometry \"cup\"; there are: ground, ball", lambda s: s.disable_pair("cup", 0)),
        ("servos need", lambda s: s.set_gains(0, 1.0, 1.0)),
        ("dof = 9: must be in [0, 6)", lambda s: s.set_gains(9, 1.0, 1.0)),
        ("q has shape (3,): must be (7,)", lambda s: s.set_configuration("c", [0, 0, 0])),
        ("no robot \"r\"", lambda s: stiction.pinocchio_model(s, "r")),
        ("the scene has 0 robots", lambda s: stiction.pinocchio_model(s, 0)),
        ("no frame \"tip\"", lambda s: s.frame("tip")),
        ("X_W: its rotation", lambda s: s.add_body("b", BALL, 1.0, TILTED)),
    ],
)  # fmt: skip
def test_scenes(text: str, call: Callable[[stiction.Scene], object]) -> None:
    scene = scene_with_ball()
    refused(ValueError, text, lambda: call(scene))


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("dt = -0.1", {"dt": -0.1}),
        ("dt = ", {"dt": float("nan")}),
        ('integrator "rk5" is unknown; there are: explicit-euler, ', {"integrator": "rk5"}),
        ('solver "magic" is unknown; there are: ', {"solver": "magic"}),
        ("tolerance = ", {"tolerance": 0.0}),
        ("max_iterations = 0", {"max_iterations": 0}),
        ("baumgarte = 2", {"baumgarte": 2.0}),
        ("recovery_speed = -1", {"recovery_speed": -1.0}),
        ("margin = -1", {"margin": -1.0}),
        ("closure_gain = 3", {"closure_gain": 3.0}),
    ],
)
def test_settings_out_of_range(text: str, settings: dict[str, object]) -> None:
    refused(ValueError, text, lambda: stiction.Simulator(scene_with_ball(), **settings))


def test_unknown_settings_list_the_names() -> None:
    with pytest.raises(
        TypeError, match=r"'timestep', near: dt; there are: .*solver, integrator, dt"
    ):
        stiction.Simulator(scene_with_ball(), timestep=1e-3)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match=r"dt = 'fast': must be of type float"):
        stiction.Simulator(scene_with_ball(), dt="fast")  # type: ignore[arg-type]
    with pytest.raises(
        TypeError, match=r"scene = 'solo12': must be a Scene; stiction\.load\('solo12'\)"
    ):
        stiction.Simulator("solo12")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"max_iterations = 1.5: must be of type int"):
        stiction.Simulator(scene_with_ball(), max_iterations=1.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("control has shape (2,): must be (6,)", lambda m, s: m.step(s, [0, 0])),
        ("control has shape (1, 6)", lambda m, s: m.step(s, np.zeros((1, 6)))),
        ("control = 'push'", lambda m, s: m.step(s, "push")),
        ("control.torque[2] = nan", lambda m, s: m.step(s, [0, 0, np.nan, 0, 0, 0])),
        ("control.torque has 4 entries: the scene has nv = 6", lambda m, s: m.step(
            s, stiction.Control(4))),
        ("configuration \"up\" is unknown; there are: default", lambda m, s: m.initial_state("up")),
        ("body = 1: must be in [-1, 1)", lambda m, s: (m.step(s), m.wrench_on(1))),
        ("body = -1", lambda m, s: (m.step(s), m.wrench_on("world"))),
        ("steps = -1: must be >= 0", lambda m, s: m.run(s, None, -1)),
        ("must agree on one number", lambda m, s: m.rollout(s)),
        ("must agree on one number", lambda m, s: m.rollout(s, np.zeros((3, 6)), steps=4)),
        ("taus has shape (3, 5): must be (any, 6)", lambda m, s: m.rollout(s, np.zeros((3, 5)))),
        ("taus[1] has an entry that is not finite", lambda m, s: m.rollout(
            s, [[0] * 6, [np.inf] * 6])),
        ("record: 'x' is unknown; there are: q, v, residual", lambda m, s: m.rollout(
            s, steps=1, record=["x"])),
        ("taus = 3: must be an array", lambda m, s: m.rollout(s, 3)),
        ("belong to another scene", lambda m, s: setattr(
            m, "parameters", stiction.load("cartpole").parameters)),
    ],
)  # fmt: skip
def test_steps(text: str, call: Callable[[stiction.Simulator, stiction.State], object]) -> None:
    sim = simulator()
    refused(ValueError, text, lambda: call(sim, sim.initial_state()))


def test_wrenches() -> None:
    sim = simulator()
    control = sim.hold()
    control.wrenches = [stiction.ExternalWrench(3, [0, 0, 1])]
    refused(
        ValueError, "control.wrenches: body = 3", lambda: sim.step(sim.initial_state(), control)
    )
    refused(ValueError, "force has shape (2,)", lambda: stiction.ExternalWrench(0, [0, 1]))
    refused(ValueError, "force[0] = nan", lambda: stiction.ExternalWrench(0, [np.nan, 0, 1]))
    for text, given in {
        'state = None: frame = "body" needs to know where the body is': {"frame": "body"},
        "state = None: point = [0, 0, 1] needs to know": {"point": [0, 0, 1]},
        "force has shape (2,): must be (3,)": {"force": [0, 1]},
        "moment[1] = nan: must be finite": {"moment": [0, np.nan, 0]},
        "point has shape (2,): must be (3,)": {"point": [0, 1], "state": sim.initial_state()},
        "frame = 'of the body': must be ": {"frame": "of the body"},
    }.items():
        refused(ValueError, text, lambda given=given: sim.add_wrench(control, 0, **given))
    for text, call in {
        "state = 3: must be a State": lambda: sim.add_wrench(control, 0, frame="body", state=3),  # type: ignore[arg-type]
        "control = None: must be a Control": lambda: sim.add_wrench(None, 0),  # type: ignore[arg-type]
    }.items():
        refused(TypeError, text, call)
    with pytest.raises(ValueError, match="must be an ExternalWrench"):
        control.wrenches = [1]  # type: ignore[list-item]


def test_states() -> None:
    sim = simulator()
    state = sim.initial_state()
    with pytest.raises(ValueError, match=re.escape("state.q has shape (3,): must be (7,)")):
        state.q = [1, 2, 3]
    refused(ValueError, "q has shape (2,)", lambda: stiction.make_state(sim.scene, [1, 2]))
    bad = np.array([0, 0, 0, 0, 0, 0.5, 0.5])
    refused(ValueError, "normalise it", lambda: stiction.make_state(sim.scene, bad))
    state.v[4] = np.nan
    refused(ValueError, "state.v[4] = nan", lambda: sim.step(state))
    state.v[4] = 0
    state.q[3:] = [0, 0, 0, 2]
    refused(ValueError, "state.q[3:7]", lambda: sim.step(state))
    other = stiction.Simulator(stiction.load("cartpole")).initial_state()
    refused(ValueError, "state.q has 2 entries", lambda: sim.step(other))


def test_parameters() -> None:
    sim = simulator()
    p = sim.parameters
    refused(ValueError, "body = 4: must be in [0, 1)", lambda: p.inertia(4))
    skew = np.array([[1, 2, 0], [0, 1, 0], [0, 0, 1.0]])
    refused(ValueError, "parameters.inertia(0): must be symmetric", lambda: p.set_inertia(0, skew))
    p.friction[1] = -0.5
    refused(ValueError, "parameters.friction[1] = -0.5", p.validate)


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("give either mu or sets", lambda: stiction.ContactProblem(np.eye(3), np.zeros(3))),
        ("G is 3 x 3: the sets have 6 rows", lambda: stiction.ContactProblem(
            np.eye(3), np.zeros(3), [0.5, 0.5])),
        ("g has 2 entries", lambda: stiction.ContactProblem(np.eye(3), np.zeros(2), [0.5])),
        ("G is not symmetric", lambda: stiction.ContactProblem(
            np.triu(np.ones((3, 3))), np.zeros(3), [0.5])),
        ("G has an entry that is not finite", lambda: stiction.ContactProblem(
            np.diag([1, 1, np.nan]), np.zeros(3), [0.5])),
        ("sets[0].mu = -", lambda: stiction.ContactProblem(np.eye(3), np.zeros(3), [-0.5])),
        ("R has 1 entries", lambda: stiction.ContactProblem(
            np.eye(3), np.zeros(3), [0.5], R=[1.0])),
        ("R[0] = -1", lambda: stiction.ContactProblem(
            np.eye(3), np.zeros(3), [0.5], R=[-1.0, 0, 0])),
        ("sets[1]: must be ContactCone", lambda: stiction.ContactProblem(
            np.eye(2), np.zeros(2), sets=[stiction.NonNegative(), 1])),
        ("sets: must be a list of ContactCone", lambda: stiction.ContactProblem(
            np.eye(3), np.zeros(3), sets=3)),
        ("sets[0]: lower = ", lambda: stiction.ContactProblem(
            np.eye(1), np.zeros(1), sets=[stiction.BoxSet(1, 0)])),
        ("sets[0].dim = 0", lambda: stiction.ContactProblem(
            np.eye(1), np.zeros(1), sets=[stiction.Free(0)])),
        ("G = 'x': must be an array", lambda: stiction.ContactProblem("x", np.zeros(3), [0.5])),
    ],
)  # fmt: skip
def test_contact_problems(text: str, call: Callable[[], object]) -> None:
    refused(ValueError, text, call)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ('solver "x" is unknown', {"solver": "x"}),
        ("tolerance = ", {"tolerance": -1.0}),
        ("max_iterations = 0", {"max_iterations": 0}),
        ("warm_start has shape (2,): must be (3,)", {"warm_start": [1, 2]}),
        ("warm_start has an entry that is not finite", {"warm_start": [1, 2, np.nan]}),
    ],
)
def test_solve(text: str, options: dict[str, object]) -> None:
    problem = stiction.ContactProblem(np.eye(3), np.zeros(3), [0.5])
    refused(ValueError, text, lambda: stiction.solve(problem, **options))


@pytest.mark.parametrize("name", ["torque", "position_target", "velocity_target"])
def test_controls_of_another_size(name: str) -> None:
    control = stiction.Control(18)
    text = f"control.{name} has shape (12,): must be (18,), one entry a dof, six of a floating"
    refused(ValueError, text, lambda: setattr(control, name, np.zeros(12)))
    setattr(control, name, 2.0)
    assert np.all(getattr(control, name) == 2.0)


# --- loading ----------------------------------------------------------------------------


def test_loading_unknown_things(tmp_path: Path) -> None:
    refused(ValueError, 'no scene "cubes"; there are: solo12', lambda: stiction.load("cubes"))
    refused(
        TypeError,
        "'frction', near: friction; there are:",
        lambda: stiction.load("solo12", frction=1),
    )
    refused(TypeError, "n = 'x': must be of type int", lambda: stiction.load("box-stack", n="x"))
    refused(ValueError, "n = -3: must be >= 0", lambda: stiction.load("box-stack", n=-3))
    refused(ValueError, "takes no number", lambda: stiction.load("solo12", n=3))
    refused(ValueError, "only URDF (.urdf), MJCF", lambda: stiction.load("robot.sdf"))
    refused(ValueError, "can be read, not .urdff", lambda: stiction.load("./solo12.urdff"))
    with pytest.raises(stiction.StictionError, match=r"nowhere\.urdf"):
        stiction.load(tmp_path / "nowhere.urdf")
    assert issubclass(stiction.StictionError, RuntimeError)
    assert issubclass(stiction.SimulationError, stiction.StictionError)


def test_a_broken_urdf_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "broken.urdf"
    path.write_text("<robot name='r'>\n<link name='a'>\n</robot>\n")
    with pytest.raises(stiction.StictionError, match=r"broken\.urdf:\d"):
        stiction.load(path)


URDF = """<robot name="ball">
  <link name="base">
    <inertial><mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
    <collision><geometry><sphere radius="0.25"/></geometry></collision>
    <sensor_of_unknown_kind/>
  </link>
</robot>
"""


def test_a_urdf_with_unused_parts_warns_once(tmp_path: Path) -> None:
    path = tmp_path / "ball.urdf"
    path.write_text(URDF)
    with pytest.warns(stiction.LoadWarning, match="1 elements not used") as caught:
        scene = stiction.load(path)
    assert len(caught) == 1
    assert [m.line for m in scene.messages] == [5]
    assert str(scene.messages[0]).startswith(f"{path}:5: ")
    with pytest.raises(stiction.StictionError, match=r"ball\.urdf:5"):
        stiction.load(path, strict=True)


def test_a_urdf_stands_on_the_ground(tmp_path: Path) -> None:
    path = tmp_path / "ball.urdf"
    path.write_text(URDF.replace("<sensor_of_unknown_kind/>", ""))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scene = stiction.load(path, material=stiction.Material(friction=0.3))
    state = stiction.Simulator(scene).initial_state()
    np.testing.assert_allclose(state.q, [0, 0, 0.25, 0, 0, 0, 1], atol=1e-12)
    assert scene.pair_material(0, 1).friction == pytest.approx(0.3)
    assert [g.name for g in stiction.load(path, ground=False).geometries] == ["base_0"]
    refused(TypeError, "'grund'", lambda: stiction.load(path, grund=True))


def test_errors_of_pinocchio_keep_their_names() -> None:
    with pytest.raises(Exception) as caught:
        pinocchio.buildModelFromUrdf("nowhere.urdf")
    assert not isinstance(caught.value, stiction.StictionError)
    refused(ValueError, "must be a pinocchio.Model", lambda: stiction.Scene(3))


# --- steps that are not finite ----------------------------------------------------------


@pytest.mark.parametrize("how", ["step", "run", "rollout"])
def test_a_step_that_is_not_finite(how: str) -> None:
    sim = simulator()
    state = sim.initial_state()
    sim.run(state, steps=3)
    before = state.copy()
    tau = np.array([0, 0, 0, 1e300, 1e300, 0])
    with pytest.raises(stiction.SimulationError, match=r"step 3 at time 0\.003") as caught:
        if how == "step":
            sim.step(state, tau)
        elif how == "run":
            sim.run(state, tau, 5)
        else:
            sim.rollout(state, np.tile(tau, (5, 1)))
    assert caught.value.step == 3
    assert caught.value.time == before.time
    assert caught.value.dof.startswith("ball")
    assert state == before
    sim.step(state)  # and it goes on


def test_after_a_failed_step_contacts_are_those_it_failed_with() -> None:
    """Points and gaps of where it began, not of the step before, and no forces."""
    sim = stiction.Simulator(stiction.load("solo12"))
    state = sim.initial_state("standing")
    sim.step(state, sim.hold("standing"))
    assert [c.impulse[2] > 0.0 for c in sim.contacts()] == [True] * 4
    raised = state.copy()
    raised.q[2] += 5e-4
    control = sim.hold("standing")
    control.torque[:] = 1e300
    with pytest.raises(stiction.SimulationError):
        sim.step(raised, control)
    assert sim.report().status == "not_finite"
    assert [c.gap for c in sim.contacts()] == pytest.approx([5e-4] * 4, abs=1e-4)
    assert all((c.impulse == 0.0).all() for c in sim.contacts())
    for refused_call in (sim.motion, lambda: sim.vjp(np.ones(36))):
        with pytest.raises(ValueError, match=r"not whole|not_finite"):
            refused_call()
