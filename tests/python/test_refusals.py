"""What used to pass in silence, crash, or print C++ signatures: refused, with what to do."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stiction
from stiction import doctor


@pytest.fixture
def scene() -> stiction.Scene:
    scene = stiction.Scene(name="cube")
    scene.add_ground()
    scene.add_body("cube", stiction.Box([0.1, 0.1, 0.1]), 2.0)
    return scene


@pytest.fixture
def sim(scene: stiction.Scene) -> stiction.Simulator:
    return stiction.Simulator(scene)


def refused(error: type[Exception], text: str, call: Callable[[], object]) -> None:
    with pytest.raises(error, match=re.escape(text)) as caught:
        call()
    assert "C++" not in str(caught.value)


# --- parameters edited between steps ------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "spoil"),
    [
        ("parameters.friction[0] = -1", lambda p: p.friction.fill(-1)),
        ("parameters.mass[0] = -1", lambda p: p.mass.fill(-1)),
        ("parameters.mass[0] = nan", lambda p: p.mass.fill(np.nan)),
        ("parameters.gravity[0] = inf", lambda p: p.gravity.fill(np.inf)),
    ],
)
@pytest.mark.parametrize("how", ["step", "run", "rollout"])
def test_edited_parameters_are_checked(
    sim: stiction.Simulator, how: str, text: str, spoil: Callable[[Any], object]
) -> None:
    state, good = sim.initial_state(), sim.parameters.copy()
    calls: dict[str, Callable[[], object]] = {
        "step": lambda: sim.step(state),
        "run": lambda: sim.run(state, steps=2),
        "rollout": lambda: sim.rollout(state, steps=2),
    }
    calls[how]()
    before = state.copy()
    spoil(sim.parameters)
    refused(ValueError, text, calls[how])
    assert state == before
    sim.parameters = good
    calls[how]()


def test_a_view_that_is_kept_is_checked_at_each_step(sim: stiction.Simulator) -> None:
    state, mass = sim.initial_state(), sim.parameters.mass
    sim.step(state)
    mass[0] = -1
    refused(ValueError, "parameters.mass[0] = -1", lambda: sim.step(state))
    mass[0] = 1
    sim.step(state)


# --- before any step ----------------------------------------------------------------------


def test_balance_needs_a_step(sim: stiction.Simulator) -> None:
    state, text = sim.initial_state(), "balance: no step was taken yet; call step() first"
    refused(ValueError, text, lambda: sim.balance(state))
    sim.run(state, None, 0)
    refused(ValueError, text, lambda: sim.balance(state))
    sim.rollout(state, steps=0)
    refused(ValueError, text, lambda: sim.balance(state))
    sim.step(state)
    assert sim.balance(state).base_is_free
    sim.run(state, None, 0)
    assert sim.balance(state).base_is_free


def test_reports_need_a_step(sim: stiction.Simulator, tmp_path: Path) -> None:
    state, path = sim.initial_state(), tmp_path / "problem.npz"
    sim.find_contacts(state)  # is no step
    queries: dict[str, Callable[[], object]] = {
        "report": sim.report,
        "contacts": sim.contacts,
        "collision_counters": sim.collision_counters,
        "wrench_on": lambda: sim.wrench_on("cube"),
        "problem": sim.problem,
        "solution": sim.solution,
        "warm_start": sim.warm_start,
        "references": sim.references,
        "uniqueness": sim.uniqueness,
        "save_problem": lambda: sim.save_problem(path),
    }
    for name, query in queries.items():
        refused(ValueError, f"Simulator.{name}: no step was taken yet; call step() first", query)
    assert not path.exists()
    sim.step(state)
    for query in queries.values():
        query()
    assert sim.uniqueness().modes == ["stick"] * 4


# --- arguments of another type ------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("state = None: must be a State, such as sim.init", lambda m, p: m.compare(None)),
        ("state = None: must be a State", lambda m, p: m.explain(None)),
        ("state = None: must be a State", lambda m, p: m.rollout(None, steps=1)),
        ("balance(): state = None: must be a State", lambda m, p: m.balance(None)),
        ("body_poses(): state = None: must be a State", lambda m, p: m.body_poses(None)),
        ("configuration = None: must be a name", lambda m, p: m.initial_state(None)),
        ("configuration = 3: must be a name", lambda m, p: m.hold(3)),
        ("steps = 'x': must be an integer", lambda m, p: m.rollout(m.initial_state(), steps="x")),
        ("problem = None: must be a ContactProblem", lambda m, p: stiction.solve(None)),
        ("problem = None: must be a ContactProblem", lambda m, p: stiction.residuals(None, [0.0])),
        ("problem = None: must be a ContactProblem", lambda m, p: stiction.uniqueness(None, [0.0])),
        (
            "problem = None: must be a ContactProblem",
            lambda m, p: stiction.save_problem("p.npz", None),
        ),
        ("solver = None: must be a str", lambda m, p: stiction.solve(p, None)),
        ("solver = None: must be a str", lambda m, p: m.compare(m.initial_state(), None, [None])),
        ("scene = None: must be a Scene", lambda m, p: stiction.to_mujoco_qpos(None, [0.0])),
        ("scene = None: must be a Scene", lambda m, p: stiction.from_mujoco_qvel(None, [0], [0])),
    ],
)
def test_arguments_of_another_type(
    sim: stiction.Simulator,
    text: str,
    call: Callable[[stiction.Simulator, stiction.ContactProblem], object],
) -> None:
    problem = stiction.ContactProblem(np.eye(3), np.zeros(3), [0.5])
    refused(TypeError, text, lambda: call(sim, problem))


def test_messages_name_the_keyword(scene: stiction.Scene) -> None:
    """Not the place of the field in the settings of the library."""
    for text, settings in [
        ("margin = -1: must be", {"margin": -1.0}),
        ("points_per_pair = -1: must be", {"points_per_pair": -1}),
        ("tolerance = 0: must be", {"tolerance": 0.0}),
        ("max_factorisations = -1: must be", {"max_factorisations": -1}),
        ("baumgarte = 2: must be", {"baumgarte": 2.0}),
        ("limit_margin = -1: must be", {"limit_margin": -1.0}),
        ("sleep_speed = -1: must be", {"sleep_speed": -1.0}),
        ("sleep_time = 0: must be", {"sleep_time": 0.0}),
    ]:
        with pytest.raises(ValueError, match="^" + re.escape(text)):
            stiction.Simulator(scene, **settings)


# --- what a Simulator has is fixed --------------------------------------------------------


def test_settings_of_a_simulator_are_fixed(sim: stiction.Simulator) -> None:
    text = "settings.dt: the settings of a Simulator are fixed; make a new one: Simulator("
    refused(AttributeError, text, lambda: setattr(sim.settings, "dt", 5e-3))
    assert sim.settings.dt == 1e-3
    own = sim.settings.copy()
    own.dt = 5e-3
    assert own.dt == 5e-3


@pytest.mark.parametrize(
    "edit",
    [
        lambda s: s.set_pair_material("ground", "cube", stiction.Material(0.1)),
        lambda s: s.add_ground(),
        lambda s: s.add_body("ball", stiction.Sphere(0.1), 1.0),
        lambda s: s.disable_pair("ground", "cube"),
        lambda s: s.enable_only([]),
        lambda s: s.set_configuration("up", s.default_q),
        lambda s: s.set_gains(0, 1.0, 1.0),
        lambda s: s.add_weld("w", 0, None, -1, None),
        lambda s: s.add_point_closure("p", 0, [0, 0, 0], -1, [0, 0, 0]),
        lambda s: s.add_gear("g", 0, 1, 1.0),
    ],
)
def test_the_scene_of_a_simulator_is_fixed(
    sim: stiction.Simulator, edit: Callable[[stiction.Scene], object]
) -> None:
    refused(ValueError, "the scene of a Simulator is fixed", lambda: edit(sim.scene))


def test_a_copy_of_a_simulators_scene_is_free(sim: stiction.Simulator) -> None:
    scene = sim.scene.copy()
    scene.set_pair_material("ground", "cube", stiction.Material(0.1))
    scene.parameters.mass[0] = 3.0
    other = stiction.Simulator(scene, dt=2e-3)
    assert other.parameters.mass[0] == 3.0 and sim.parameters.mass[0] == 2.0


def test_parameters_of_a_simulators_scene_are_to_be_read(sim: stiction.Simulator) -> None:
    shown = sim.scene.parameters
    assert shown.mass[0] == 2.0
    text = "edit sim.parameters"
    refused(ValueError, text, lambda: shown.friction.__setitem__(slice(None), 0))
    refused(ValueError, text, lambda: shown.com[0].__setitem__(2, 1.0))
    with pytest.raises(ValueError, match="read-only"):
        shown.mass += 1.0
    own = shown.mass.copy()
    own[0] = 5.0
    assert type(shown.mass * 2.0) is np.ndarray and (shown.mass * 2.0).tolist() == [4.0]
    assert isinstance(shown.mass.sum(), float) and shown.mass[0] == 2.0
    refused(ValueError, text, lambda: setattr(shown, "friction", 0))
    refused(ValueError, text, lambda: setattr(shown, "gravity", [0, 0, 0]))
    refused(ValueError, text, lambda: shown.set_inertia(0, np.eye(3)))
    refused(ValueError, text, lambda: shown.set_geometry_placement(0, None))
    for name in ("gravity", "mass", "com", "friction"):
        assert not getattr(shown, name).flags.writeable
        assert getattr(sim.parameters, name).flags.writeable
        assert getattr(shown.copy(), name).flags.writeable


def test_wrenches_are_a_tuple(sim: stiction.Simulator) -> None:
    control = sim.hold()
    control.wrenches = [stiction.ExternalWrench(0, [0, 0, 1])]
    assert isinstance(control.wrenches, tuple)
    with pytest.raises(AttributeError, match="append"):
        control.wrenches.append(control.wrenches[0])  # type: ignore[attr-defined]
    control.wrenches += (stiction.ExternalWrench(0, [0, 1, 0]),)
    assert len(control.wrenches) == 2


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("Control has no attribute 'postion_target' to set; near: position_target", "control"),
        ("State has no attribute 'qvel' to set; near: q, v", "state"),
        ("Parameters has no attribute 'frction' to set; near: friction", "parameters"),
        ("SimulatorSettings has no attribute 'marginn' to set; near: margin", "settings"),
        ("Material has no attribute 'mu' to set", "material"),
        ("ExternalWrench has no attribute 'foce' to set; near: force", "wrench"),
    ],
)
def test_attributes_that_do_not_exist(sim: stiction.Simulator, text: str, value: str) -> None:
    things = {
        "control": sim.hold(),
        "state": sim.initial_state(),
        "parameters": sim.parameters,
        "settings": stiction.SimulatorSettings(),
        "material": stiction.Material(),
        "wrench": stiction.ExternalWrench(0, [0, 0, 1]),
    }
    name = re.findall("'(.*)'", text)[0]
    refused(AttributeError, text, lambda: setattr(things[value], name, 1))


def test_a_subclass_may_have_attributes_of_its_own() -> None:
    class Mine(stiction.Control):
        def __init__(self) -> None:
            super().__init__(2)
            self.gain = 3.0

    mine = Mine()
    mine.torque = [1.0, 2.0]
    assert mine.gain == 3.0 and mine.torque.tolist() == [1.0, 2.0]


# --- arguments that do not fit ------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "text", "call"),
    [
        (TypeError, "Material() has no argument 'mu'; near: ", lambda s: stiction.Material(mu=1)),
        (TypeError, "Material(): friction = 'rubber': must be a number",
         lambda s: stiction.Material("rubber")),
        (TypeError, "Material() takes at most 10 arguments, not 11",
         lambda s: stiction.Material(1, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0)),
        (TypeError, "'friction' is given twice", lambda s: stiction.Material(1, friction=1)),
        (ValueError, "Material.friction = -1: must be >= 0", lambda s: stiction.Material(-1)),
        (ValueError, "Material.restitution = 2", lambda s: stiction.Material(restitution=2)),
        (TypeError, "material = 0.3: must be a Material, such as Material(friction=0.3)",
         lambda s: s.set_pair_material("ground", "cube", 0.3)),
        (TypeError, "material = None: must be a Material",
         lambda s: s.set_pair_material("ground", "cube", None)),
        (TypeError, "set_pair_material() lacks the argument 'material'",
         lambda s: s.set_pair_material("ground", "cube")),
        (TypeError, "material = 0.3: must be a Material", lambda s: s.add_ground(0.3)),
        (TypeError, "add_body(): mass = 'heavy': must be a number",
         lambda s: s.add_body("b", stiction.Sphere(1), "heavy")),
        (TypeError, "add_geometry(): shape = 3: must be a Shape",
         lambda s: s.add_geometry("g", "cube", 3)),
        (TypeError, "body = 'cube': must be an index; scene.body('cube') gives it",
         lambda s: stiction.ExternalWrench("cube", [0, 0, 1])),
        (TypeError, "ExternalWrench() lacks the argument 'force'",
         lambda s: stiction.ExternalWrench(0)),
        (TypeError, "Control(): nv = 'all': must be an integer", lambda s: stiction.Control("all")),
        (TypeError, "step(): state = [0, 0]: must be a State, such as sim.initial_state()",
         lambda s: stiction.Simulator(s).step([0, 0])),
        (TypeError, "SceneMotion(): scene = 'cube': must be a Scene",
         lambda s: stiction.SceneMotion("cube", s.default_q)),
        (TypeError, "parameters = 3: must be Parameters, such as sim.parameters",
         lambda s: stiction.SceneMotion(s, s.default_q, 3)),
        (TypeError, "parameters = 3: must be Parameters",
         lambda s: stiction.ray_cast(s, s.default_q, [0, 0, 1], [0, 0, -1], parameters=3)),
        (TypeError, "smoothing = 'small': must be float",
         lambda s: stiction.Simulator(s).smoothed("small")),
        (TypeError, "is no path", lambda s: doctor.examine(s)),
        (TypeError, "run(): steps = 'many': must be an integer",
         lambda s: stiction.Simulator(s).run(stiction.Simulator(s).initial_state(), None, "many")),
    ],
)  # fmt: skip
def test_arguments(
    scene: stiction.Scene,
    error: type[Exception],
    text: str,
    call: Callable[[Any], object],
) -> None:
    refused(error, text, lambda: call(scene))


def test_the_body_of_a_wrench_is_an_index() -> None:
    wrench = stiction.ExternalWrench(0, [0, 0, 1])
    refused(TypeError, "scene.body('cube') gives it", lambda: setattr(wrench, "body", "cube"))
    wrench.body = np.int64(3)  # type: ignore[assignment]
    assert wrench.body == 3


ARM = """<robot name="arm">
  <link name="base"/>
  <joint name="elbow" type="revolute">
    <parent link="base"/><child link="fore"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="9" velocity="9"/>
  </joint>
  <link name="fore"><inertial><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
  <joint name="end" type="fixed"><parent link="fore"/><child link="tip"/>
    <origin xyz="0 0 0.5"/></joint>
  <link name="tip"/>
</robot>
"""


def test_a_link_merged_by_a_fixed_joint_is_a_frame() -> None:
    scene = stiction.Scene()
    scene.add_robot(stiction.load_urdf_string(ARM, free_flyer=False))
    hint = '"tip" is a frame fixed to body "fore"; scene.frame("tip") gives its placement'
    refused(ValueError, hint, lambda: scene.body("tip"))
    sim = stiction.Simulator(scene)
    refused(ValueError, hint, lambda: sim.wrench_on("tip"))
    refused(ValueError, '"base" is a frame fixed to the world', lambda: scene.body("base"))
    refused(ValueError, 'no body "hand"; there are: fore', lambda: scene.body("hand"))
    body, placement = scene.frame("tip")
    assert scene.body_names[body] == "fore" and placement.translation[2] == 0.5


def test_the_names_of_configurations_are_listed_once() -> None:
    scene = stiction.load("solo12")
    scene.set_configuration("default", scene.default_q)
    with pytest.raises(ValueError, match="there are: ") as caught:
        stiction.Simulator(scene).initial_state("flying")
    assert str(caught.value).count("default") == 1


def test_robots_that_are_not_installed_say_how(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STICTION_ROBOTS_DIR", str(tmp_path))
    stiction.set_robots_directory("")
    try:
        with pytest.raises(stiction.StictionError) as caught:
            stiction.load("talos")
        assert "pip install example-robot-data==6.0.0" in str(caught.value)
        assert "stiction[robots]" not in str(caught.value)
    finally:
        monkeypatch.undo()
        stiction.loading._set_directories()


# --- what things print ----------------------------------------------------------------------


def test_representations(scene: stiction.Scene, sim: stiction.Simulator) -> None:
    state = sim.initial_state()
    sim.step(state)
    solo = stiction.load("solo12")
    assert repr(solo.robots[0].description) == (
        'Robot("solo12", nq=19, nv=18, bodies=13, geometries=4)'
    )
    assert repr(solo.robots[0]) == 'RobotSlice("solo12", q[0:19], v[0:18])'
    assert repr(scene.joints[0]) == 'Joint("cube", free_flyer, body=0, q[0:7], v[0:6])'
    assert repr(scene.geometries) == (
        '[Geometry("ground", half_space, fixed), Geometry("cube", box, body=0)]'
    )
    assert repr(sim.hold()) == "Control(nv=6, wrenches=0)"
    assert repr(sim) == 'Simulator("cube", nv=6, dt=0.001, solver="ncp-newton")'
    assert repr(sim.settings).startswith('SimulatorSettings(dt=0.001, solver="ncp-newton"')
    assert repr(sim.balance(state)).startswith("Balance(linear_impulse=[")
    assert repr(stiction.ExternalWrench(0, [0, 0, 1])) == (
        "ExternalWrench(0, [0.0, 0.0, 1.0], [0.0, 0.0, 0.0])"
    )


# --- shapes and queries -------------------------------------------------------------------


BOX = stiction.Box([0.1, 0.1, 0.1])
APART = np.eye(4) + np.outer([1.0, 0, 0, 0], [0, 0, 0, 1.0])
MIRROR = np.diag([1.0, 1.0, -1.0, 1.0])
TETRAHEDRON = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("determinant -1", lambda: stiction.distance(BOX, MIRROR, BOX, None)),
        ("defect 3", lambda: stiction.distance(BOX, np.diag([2.0, 2, 2, 1]), BOX, None)),
        (
            "at most one may be unbounded",
            lambda: stiction.distance(stiction.HalfSpace(), None, stiction.HalfSpace(), None),
        ),
        (
            "warm_start: is a DistanceResult, pass its .warm_start",
            lambda: stiction.distance(
                BOX, None, BOX, APART, warm_start=stiction.distance(BOX, None, BOX, APART)
            ),
        ),
        (
            "max_iterations = 1099511627776: must be at most 2147483647",
            lambda: stiction.distance(BOX, None, BOX, APART, max_iterations=2**40),
        ),
        (
            "max_iterations = -1",
            lambda: stiction.distance(BOX, None, BOX, APART, max_iterations=-1),
        ),
        ("half_extents.x = 1e+100", lambda: stiction.Box([1e100, 1, 1])),
        ("radius = 1e-40", lambda: stiction.Sphere(1e-40)),
        ("extent 1e+200 m is outside", lambda: stiction.ConvexMesh(TETRAHEDRON * 1e200)),
        ("extent 1e-200 m is outside", lambda: stiction.ConvexMesh(TETRAHEDRON * 1e-200)),
        ("they are coplanar (thickness ", lambda: stiction.ConvexMesh(TETRAHEDRON * [1, 1, 1e-12])),
        (
            "height_field: function(x, y) has shape (3,): must be that of x and y, (11, 11)",
            lambda: stiction.height_field(lambda x, y: np.zeros(3), (1, 1), 0.1),
        ),
    ],
)
def test_shapes_and_queries(text: str, call: Callable[[], object]) -> None:
    refused(ValueError, text, call)


@pytest.mark.parametrize("length", [0.0, 2.0])
def test_quaternions_of_queries_are_unit(scene: stiction.Scene, length: float) -> None:
    q = scene.default_q.copy()
    q[3:7] = [0, 0, 0, length]
    refused(ValueError, "norm of state.q[3:7]", lambda: scene.distances(q))
    refused(
        ValueError,
        "norm of state.q[3:7]",
        lambda: stiction.ray_cast(scene, q, [[0, 0, 5.0]], [[0, 0, -1.0]]),
    )


def test_the_ignored_body_is_counted(scene: stiction.Scene) -> None:
    def cast(ignored: list[object]) -> Callable[[], object]:
        return lambda: stiction.ray_cast(
            scene, scene.default_q, [[0, 0, 5.0]], [[0, 0, -1.0]], ignored=ignored
        )

    refused(ValueError, "ignored[1] = 7", cast(["cube", 7]))


@pytest.mark.parametrize("tool", ["collision_tables", "derivatives_table", "readme_benchmark"])
def test_tools_say_what_they_take(tool: str) -> None:
    path = Path(__file__).parents[2] / "tools" / f"{tool}.py"
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert f"python tools/{tool}.py" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("kind, axis", [("continuous", "0 0 1"), ("prismatic", "0 1 0")])
def test_a_free_root_without_inertia_of_its_own_is_named(kind: str, axis: str) -> None:
    """Its first joint lets go of all that has some: along that axis the root moves nothing."""
    urdf = f"""<robot name="arm"><link name="base"/>
      <link name="rod"><inertial><origin xyz="0 0.02 0.1"/><mass value="1"/>
        <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="first" type="{kind}"><parent link="base"/><child link="rod"/><axis xyz="{axis}"/>
        {'<limit lower="-1" upper="1" effort="9" velocity="9"/>' if kind == "prismatic" else ""}
      </joint></robot>"""
    with pytest.raises(stiction.StictionError, match="give link 'base' a mass, or fix its base"):
        stiction.load_urdf_string(urdf, free_flyer=True)
    assert stiction.load_urdf_string(urdf, free_flyer=False).nv == 1
