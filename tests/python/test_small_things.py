"""What newcomers stumbled over."""

from __future__ import annotations

import copy
import inspect
import pickle
import pydoc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest
import stiction


@pytest.fixture(scope="module")
def solo() -> stiction.Simulator:
    return stiction.Simulator(stiction.load("solo12"))


def message(error: type[Exception], call: Callable[[], object]) -> str:
    with pytest.raises(error) as raised:
        call()
    text = str(raised.value)
    assert "C++" not in text and "did not match" not in text and "\n" not in text
    return text


# --- signatures ---------------------------------------------------------------------------


def callables() -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for name in stiction.__all__:
        thing = getattr(stiction, name)
        if not isinstance(thing, type):
            found += [(name, thing)] if callable(thing) else []
            continue
        for key, member in vars(thing).items():
            if callable(member) and not key.startswith("_"):
                found.append((f"{name}.{key}", member))
    return found


def test_every_public_callable_has_a_signature() -> None:
    found = callables()
    assert len(found) > 100
    lacking = []
    for name, thing in found:
        try:
            inspect.signature(thing)  # type: ignore[arg-type]
        except ValueError:
            lacking.append(name)
    assert not lacking


def test_help_shows_arguments_and_defaults() -> None:
    text = pydoc.render_doc(stiction.Scene.add_body, renderer=pydoc.plaintext)
    assert "add_body(self, body_name: str, shape: Shape, mass: float, X_W" in text
    assert list(inspect.signature(stiction.Box).parameters) == ["half_extents"]


def test_calls_that_do_not_fit_are_explained(solo: stiction.Simulator) -> None:
    said = message(TypeError, lambda: stiction.Box(0.1, 0.1, 0.1))  # type: ignore[call-arg]
    assert "Box(): too many positional arguments" in said and "half_extents" in said
    said = message(TypeError, lambda: solo.parameters.placement("base_link"))  # type: ignore[arg-type]
    assert "index = 'base_link': must be int" in said
    said = message(TypeError, lambda: stiction.Scene().add_gear("g"))  # type: ignore[call-arg]
    assert "missing a required argument: 'dof'" in said
    said = message(TypeError, lambda: setattr(solo, "parameters", None))
    assert said == "Simulator.parameters = None: must be Parameters"
    said = message(TypeError, lambda: setattr(stiction.SimulatorSettings(), "dt", "x"))
    assert said == "SimulatorSettings.dt = 'x': must be float"


def test_other_modules_keep_their_errors() -> None:
    with pytest.raises(TypeError, match="did not match"):
        pinocchio.SE3.Identity().actInv("x")  # type: ignore[arg-type]


def test_typos_are_refused(solo: stiction.Simulator) -> None:
    assert "'paramters'" in message(AttributeError, lambda: setattr(solo, "paramters", 1))
    assert "near: name" in message(AttributeError, lambda: setattr(stiction.Scene(), "nmae", "x"))

    class Mine(stiction.Simulator):
        pass

    mine = Mine(solo.scene)
    mine.anything = 1  # type: ignore[attr-defined]


# --- states of other scenes -----------------------------------------------------------------


def test_a_state_of_another_scene_is_refused(solo: stiction.Simulator) -> None:
    other = stiction.Simulator(stiction.load("solo12-trot"))
    state = solo.initial_state()
    for call in (
        lambda: other.step(state),
        lambda: other.run(state, None, 2),
        lambda: other.rollout(state, steps=2),
        lambda: other.body_poses(state),
        lambda: other.find_contacts(state),
        lambda: stiction.validate_state(other.scene, state),
        lambda: other.initial_state().restore(state.save()),
    ):
        assert "another scene; make_state(scene, q, v)" in message(ValueError, call)
    other.step(stiction.make_state(other.scene, state.q, state.v))
    again = stiction.Simulator(stiction.load("solo12"))
    again.step(stiction.State(state.save()))  # the same scene, built anew


def test_what_a_scene_is_recognised_by() -> None:
    def build(kind: str) -> stiction.Scene:
        scene = stiction.Scene(name="s")
        scene.add_ground()
        shape = stiction.Sphere(0.1) if kind == "sphere" else stiction.Box([0.1, 0.1, 0.1])
        scene.add_body("other" if kind == "name" else "body", shape, 1.0)
        if kind == "filter":
            scene.disable_pair(0, 1)
        if kind == "mass":
            scene.parameters.mass[:] = 2.0
        return scene

    state = stiction.make_state(build("plain"), build("plain").default_q)
    for kind in ("plain", "filter", "mass"):
        stiction.Simulator(build(kind)).step(state.copy())
    for kind in ("sphere", "name"):
        with pytest.raises(ValueError, match="another scene"):
            stiction.Simulator(build(kind)).step(state.copy())


# --- errors of a step ------------------------------------------------------------------------


def test_a_step_that_fails_names_body_and_contact() -> None:
    scene = stiction.Scene()
    scene.add_ground()
    pose = np.eye(4)
    pose[2, 3] = 0.05
    scene.add_body("ball", stiction.Sphere(0.1), 1.0, pose)
    sim = stiction.Simulator(scene)
    state, control = sim.initial_state(), sim.hold()
    control.torque[2] = -1e308
    before = state.copy()
    with pytest.raises(stiction.SimulationError) as raised:
        for _ in range(3):
            before = state.copy()
            sim.step(state, control)
    error = raised.value
    assert state == before
    assert error.body == "ball" and error.contact == '"ground" and "ball"'
    assert 'of body "ball"' in str(error) and '"ground" and "ball"' in str(error)
    assert "smaller" not in str(error)


@pytest.mark.parametrize("integrator", sorted(stiction.integrators()))
def test_no_speed_makes_an_integrator_forget_the_state(integrator: str) -> None:
    material = stiction.Material(stiffness=1e4)
    scene = stiction.Scene()
    scene.add_half_space("p", [0, 0, 0], [0, 0.5, 0.8], material)
    scene.add_ground(material)
    high, side = np.eye(4), np.eye(4)
    high[2, 3], side[1, 3], side[2, 3] = 0.5, 1.5, 0.3
    scene.add_body("a", stiction.Cone(0.1, 0.1), 0.01, high)
    scene.add_body("b", stiction.Ellipsoid([0.1, 0.2, 0.1]), 1.0, side)
    failed = 0
    for speed in 10.0 ** np.arange(2, 160, 4):
        sim = stiction.Simulator(scene, dt=1e-2, integrator=integrator)
        state = sim.initial_state()
        state.v[2], state.v[3:5] = -speed, [speed, 0.5 * speed]
        for _ in range(2):
            before = state.copy()
            try:
                sim.step(state)
            except stiction.SimulationError:
                failed += 1
                assert state == before
    assert failed > 0


# --- numbers from the simulator ---------------------------------------------------------------


def test_pair_material_follows_the_simulator() -> None:
    scene = stiction.Scene()
    scene.add_ground()
    scene.add_body("ball", stiction.Sphere(0.1), 1.0)
    sim = stiction.Simulator(scene)
    sim.parameters.friction[:] = 0.01
    assert sim.pair_material("ground", "ball").friction == pytest.approx(0.01)
    assert sim.scene.pair_material("ground", "ball").friction == pytest.approx(0.8)


def test_pinocchio_model_has_base_and_current_numbers() -> None:
    urdf = """<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="2"/>
    <origin xyz="0.1 0 0.2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
    </link><joint name="j" type="revolute"><parent link="base"/><child link="arm"/>
    <origin xyz="0 0 0.333"/><axis xyz="1 0 0"/><limit lower="-2" upper="2" effort="9"
    velocity="9"/></joint></robot>"""
    robot = stiction.load_urdf_string(urdf, free_flyer=False)
    base = pinocchio.SE3(pinocchio.utils.rpyToMatrix(0.3, 0.2, 0.1), np.array([0.1, 0.2, 0.4]))
    scene = stiction.Scene()
    scene.add_robot(robot, base)
    sim = stiction.Simulator(scene)
    sim.parameters.mass[:] = 3.0
    sim.parameters.gravity = [0.0, 1.0, -3.0]
    state = sim.initial_state()
    state.q[:] = 0.7
    for parameters, mass in ((None, 2.0), (sim.parameters, 3.0)):
        model = stiction.pinocchio_model(sim.scene, 0, parameters)
        data = model.createData()
        pinocchio.forwardKinematics(model, data, state.q)
        pinocchio.updateFramePlacements(model, data)
        assert np.allclose(data.oMi[1].homogeneous, sim.body_poses(state)[0].homogeneous)
        assert np.allclose(data.oMf[model.getFrameId("base")].homogeneous, base.homogeneous)
        assert model.inertias[1].mass == mass
    sim.step(state)
    acceleration = pinocchio.aba(model, data, np.array([0.7]), np.zeros(1), np.zeros(1))
    assert state.v[0] == pytest.approx(acceleration[0] * 1e-3, rel=1e-9)


def test_wrenches_of_a_control_say_how_to_change_them(solo: stiction.Simulator) -> None:
    control = solo.hold()
    wrench = stiction.ExternalWrench(0, [0.0, 0.0, 1.0])
    said = message(AttributeError, lambda: control.wrenches.append(wrench))  # type: ignore[attr-defined]
    assert "control.wrenches += (wrench,)" in said
    control.wrenches += (wrench,)
    assert len(control.wrenches) == 1


def test_a_wrench_at_a_point_of_a_body_by_name(solo: stiction.Simulator) -> None:
    state, control = solo.initial_state("standing"), solo.hold("standing")
    solo.run(state, control, 20)
    body = solo.scene.body_names[3]
    X = solo.body_poses(state)[3]
    p, f, m = np.array([0.1, -0.2, 0.3]), np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3])
    at_body = solo.add_wrench(control, body, f, m, point=p, frame="body", state=state)
    in_world = solo.add_wrench(
        control, body, X.rotation @ f, X.rotation @ m, point=X.act(p), state=state
    )
    for w in (at_body, in_world):
        assert w.body == 3 and np.allclose(w.force, X.rotation @ f)
        assert np.allclose(w.moment, X.rotation @ (m + np.cross(p, f)))
    assert len(control.wrenches) == 2
    plain = solo.add_wrench(control, "world" if False else body, f)
    assert np.array_equal(plain.force, f) and not plain.moment.any()
    assert "state" in message(ValueError, lambda: solo.add_wrench(control, body, f, point=p))
    assert "frame" in message(ValueError, lambda: solo.add_wrench(control, body, f, frame="x"))


# --- copies -----------------------------------------------------------------------------------


def test_small_things_are_pickled_by_their_numbers(solo: stiction.Simulator) -> None:
    control = solo.hold()
    control.torque[3] = 2.0
    control.wrenches = [stiction.ExternalWrench(1, [1.0, 2.0, 3.0], [4.0, 5.0, 6.0])]
    things: list[Any] = [
        stiction.Material(friction=0.3, stiffness=1e4, dissipation=0.2),
        stiction.SolverSettings(),
        solo.settings,
        control,
        control.wrenches[0],
    ]
    things[1].tolerance = 1e-5
    for thing in things:
        for other in (copy.copy(thing), copy.deepcopy(thing), pickle.loads(pickle.dumps(thing))):
            assert type(other) is type(thing) and repr(other) == repr(thing)
            for name in dir(thing):
                value = getattr(thing, name)
                if name.startswith("_") or callable(value) or name == "wrenches":
                    continue
                assert np.array_equal(getattr(other, name), value), name
    assert np.array_equal(copy.deepcopy(control).wrenches[0].moment, [4.0, 5.0, 6.0])


def test_copies_are_independent_or_refused_in_words(solo: stiction.Simulator) -> None:
    scene = stiction.Scene()
    scene.add_body("a", stiction.Sphere(0.1), 1.0)
    for make in (copy.copy, copy.deepcopy):
        other = make(scene)
        other.add_ground()
        assert len(scene.geometries) == 1
        parameters = make(solo.parameters)
        parameters.mass[:] = 7.0
        assert not (solo.parameters.mass == 7.0).any()
        assert make(stiction.Sphere(0.1)).volume == stiction.Sphere(0.1).volume
        assert "make a new one" in message(TypeError, lambda make=make: make(solo))
    for thing in (solo, stiction.Sphere(0.1)):
        assert "pickled" in message(TypeError, lambda thing=thing: pickle.dumps(thing))
    assert pickle.loads(pickle.dumps(solo.parameters)) is not solo.parameters
    assert pickle.loads(pickle.dumps(scene)).to_bytes() == scene.to_bytes()


def test_a_replay_makes_no_folders(solo: stiction.Simulator, tmp_path: Path) -> None:
    from stiction.record import Recorder
    from stiction.replay import write_replay

    recorder = Recorder(solo)
    recorder.capture(solo.initial_state())
    target = tmp_path / "missing" / "a.html"
    said = message(ValueError, lambda: write_replay(target, recorder.replay()))
    assert "there is no folder" in said and not target.parent.exists()


def test_time_steps_takes_the_fastest_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass that another process disturbed does not count; chunks keep their own times."""
    from stiction import run as running

    clock, costs = [0.0], iter([9.0, 2.0, 3.0, 4.0, 7.0, 8.0])  # [s] two chunks, three passes

    class Worked:
        def run(self, state: object, control: object, steps: int) -> None:
            assert steps == running.CHUNK
            clock[0] += next(costs)

    monkeypatch.setattr(running.time, "perf_counter", lambda: clock[0])
    plan = [running.Segment(stiction.Control(1), 2 * running.CHUNK)]
    sim: Any = Worked()
    state: Any = stiction.Control(1)  # has copy()
    found = running.time_steps(sim, state, plan, reps=3)
    assert found == pytest.approx((3.0 + 2.0) / 2 / running.CHUNK * 1e6)
