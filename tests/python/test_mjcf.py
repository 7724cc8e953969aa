"""MJCF files beside MuJoCo: dynamics, actuators, pairs, rest; and what the loader says."""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np
import pytest
import stiction
from mjcf_beside_mujoco import (
    DATA,
    GYMNASIUM,
    Beside,
    file_of,
    worst_differences,
)
from stiction.loaders.mjcf_overlaps import overlapping_pairs
from stiction.record import Recorder

FILES = ("joints", "actuators", "contacts", "unsupported", *GYMNASIUM)
pytestmark = pytest.mark.filterwarnings("ignore::stiction.LoadWarning")


@pytest.fixture(autouse=True)
def quiet_mujoco() -> Iterator[None]:
    """Without a file of warnings in the working directory."""
    mujoco.set_mju_user_warning(lambda _: None)
    yield
    mujoco.set_mju_user_warning(None)


@pytest.mark.parametrize("name", FILES)
def test_dynamics(name: str) -> None:
    """Of "unsupported" without what its messages list."""
    beside = Beside(file_of(name))
    if name == "unsupported":
        leave_out_what_is_listed(beside)
    differences = worst_differences(beside, np.random.default_rng(1), states=10)
    assert max(differences.values()) < 1e-9, differences


def leave_out_what_is_listed(beside: Beside) -> None:
    m = beside.m
    for field in ("jnt_stiffness", "tendon_stiffness", "dof_dampingpoly", "body_gravcomp"):
        getattr(m, field)[:] = 0
    m.actuator_gainprm[:2], m.actuator_biasprm[:2], m.actuator_gear[:1] = 0, 0, 0
    beside.acts_at_once = True


# --- contacts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ("contacts", *GYMNASIUM))
def test_pairs_and_friction(name: str) -> None:
    """With margins of 50 m MuJoCo finds every pair that its filters let through."""
    file = file_of(name)
    scene, m = stiction.load_mjcf(file).scene, mujoco.MjModel.from_xml_path(str(file))
    d = mujoco.MjData(m)
    m.geom_margin[:], m.pair_margin[:], m.body_margin[:] = 50.0, 50.0, 50.0
    mujoco.mj_forward(m, d)
    theirs = {}
    for contact in d.contact:
        names = frozenset(name_of(m, g) for g in contact.geom)
        theirs[names] = float(contact.friction[0]) if contact.dim > 1 else 0.0
    ours = {}
    geometries = scene.geometries
    for i, a in enumerate(geometries):
        for j, b in enumerate(geometries[:i]):
            if scene.pair_enabled(i, j):
                ours[frozenset((a.name, b.name))] = scene.pair_material(i, j).friction
    assert ours.keys() == theirs.keys()
    for pair, friction in theirs.items():
        assert ours[pair] == pytest.approx(friction, rel=1e-12), sorted(pair)


def name_of(m: mujoco.MjModel, g: int) -> str:
    """The loader's: without one, its body's and a number."""
    given = m.geom(g).name
    if given:
        return given
    body = m.geom_bodyid[g]
    nameless = [k for k in range(m.body_geomadr[body], g) if not m.geom(k).name]
    return f"{m.body(body).name}_geom{len(nameless)}"


@pytest.mark.parametrize("name", ("contacts", "ant", "humanoid", "walker2d_v5"))
def test_distances(name: str) -> None:
    """Of separated convex pairs, at random configurations."""
    beside, rng = Beside(file_of(name)), np.random.default_rng(3)
    scene, m, d = beside.scene, beside.m, beside.d
    compared = 0
    for _ in range(5):
        q, v, ctrl = beside.random(rng)
        beside.set(q, v, ctrl)
        state = stiction.make_state(scene, q)
        for pair in scene.distances(state, 100.0):
            names = [scene.geometries[g].name for g in (pair.geometry_a, pair.geometry_b)]
            if "hills" in names or pair.distance <= 0:
                continue
            ids = [mujoco.mj_name2id(m, mujoco.mjtObj.mjOBJ_GEOM, n) for n in names]
            if -1 in ids:
                continue
            theirs = mujoco.mj_geomDistance(m, d, *ids, 100.0, None)
            assert pair.distance == pytest.approx(theirs, abs=1e-6, rel=1e-6), names
            compared += 1
    assert compared > 10


# --- motion -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ("rest", *GYMNASIUM))
def test_two_seconds(name: str) -> None:
    """Without control: every step is solved, nothing goes deep, and nothing gains energy beyond
    what undoing the start's overlaps takes."""
    loaded = stiction.load_mjcf(file_of(name))
    sim = stiction.Simulator(loaded.scene, dt=loaded.timestep)
    state, control = sim.initial_state(), loaded.control()
    deepest = max(overlapping_pairs(loaded.scene).values(), default=0.0)
    energies, recovered = [], 0.0
    for _ in range(round(2.0 / loaded.timestep)):
        report = sim.step(state, control)
        assert report.status == "ok"
        assert report.penetration <= max(1e-3, deepest + 1e-3)
        recovered += report.recovery_energy
        energies.append(report.kinetic_energy + report.potential_energy)
    gain = max(energies) - energies[0]
    assert np.all(np.isfinite(state.q))
    assert gain <= 1e-2 * max(np.ptp(energies), 1e-3) + recovered


def test_heights_at_rest() -> None:
    """MuJoCo's bodies sink into the ground by the depth its softness takes."""
    file = DATA / "rest.xml"
    loaded, m = stiction.load_mjcf(file), mujoco.MjModel.from_xml_path(str(file))
    d, sim = mujoco.MjData(m), stiction.Simulator(loaded.scene, dt=loaded.timestep)
    state = sim.initial_state()
    for _ in range(1000):
        sim.step(state, loaded.control())
        mujoco.mj_step(m, d)
    qpos = stiction.to_mujoco_qpos(loaded.scene, state.q)
    for k, name in enumerate(loaded.scene.body_names):
        ours, theirs = qpos[7 * k + 2], d.qpos[7 * k + 2]
        assert -1e-6 < ours - theirs < 2e-3, name


def test_equalities() -> None:
    """A slider-crank, a gear, and two welds stay together as MuJoCo's do, which are soft."""
    file = DATA / "equalities.xml"
    loaded, m = stiction.load_mjcf(file), mujoco.MjModel.from_xml_path(str(file))
    scene, d = loaded.scene, mujoco.MjData(m)
    run = loaded.simulation()  # which holds the weld to the mocap body
    sim = run.sim
    assert scene.closure_names == ["big_end", "small_end", "tied"]
    state = run.state
    assert {name for _, name, *size in sim._closure_errors(state) if max(size) > 1e-9} == {
        "geared",
        "coupled",
    }
    torque = np.zeros(scene.nv)
    torque[scene.dof("crank")], torque[scene.dof("driver")] = 0.3, 0.05
    torque[scene.dof("flip")] = 0.02
    for _ in range(500):
        run.step(torque=torque)
        d.qfrc_applied[:] = torque
        mujoco.mj_step(m, d)
    assert max(max(size) for _, _, *size in sim._closure_errors(state)) < 1e-3
    qpos = stiction.to_mujoco_qpos(scene, state.q)
    follower, driver = (m.joint(n).qposadr[0] for n in ("follower", "driver"))
    assert qpos[follower] + 0.1 == pytest.approx(0.3 - 2 * (qpos[driver] - 0.2), abs=1e-6)
    flap, flip = (qpos[m.joint(name).qposadr[0]] for name in ("flap", "flip"))
    assert flap + 2 * flip == pytest.approx(0.1 + 0.05, abs=1e-6)
    for name in ("slider", "driver", "follower"):
        at = m.joint(name).qposadr[0]
        assert qpos[at] == pytest.approx(d.qpos[at], abs=0.03), name
    assert flip == pytest.approx(d.qpos[m.joint("flip").qposadr[0]], abs=0.03)
    held = m.joint(m.body("left").jntadr[0]).qposadr[0]
    # The weld to the mocap body knows nothing of the other, whose load it takes with its spring.
    assert np.allclose(qpos[held : held + 3], d.qpos[held : held + 3], atol=7e-3)


# --- messages and errors ------------------------------------------------------------------------


def test_what_is_not_honoured_is_listed_with_its_line() -> None:
    file = DATA / "unsupported.xml"
    loaded = stiction.load_mjcf(file)
    texts = [str(m) for m in loaded.messages]
    lines = file.read_text().splitlines()
    for name, what in {
        "finger": "springyield",
        "doll": "stand on a mocap",
        "string": "stiffness",
        "rope": "spatial tendon",
        "off": "not active",
        "thrust": "site",
        "muscle": "not affine",
        "hand": "ellipsoid",
        "slow": "delay",
        "ray": "normals",
        "sum": "not read",
    }.items():
        found = [t for t in texts if f"'{name}'" in t and what in t]
        assert len(found) == 1, (name, texts)
        line = int(found[0].removeprefix(f"{file}:").partition(":")[0])
        assert f'name="{name}"' in lines[line - 1]
    said = next(t for t in texts if ".simulation(), not in a Simulator" in t)
    for kind in ("springs of ball", "damping of higher order", "gravcomp", "ranges of ball joints"):
        assert kind in said
    assert [str(m) for m in loaded.scene.messages] == texts
    with pytest.raises(stiction.StictionError, match=r"unsupported\.xml.*more\)"):
        stiction.load_mjcf(file, strict=True)


def test_a_file_that_is_not_there_has_its_line(tmp_path: Path) -> None:
    mesh = "<mesh name='m' file='sub/none.stl'/>"
    compiler = "<mujoco><compiler meshdir='meshes/'/>\n"
    path = tmp_path / "robot.xml"
    path.write_text(f"{compiler}<asset>\n{mesh}</asset></mujoco>")
    with pytest.raises(stiction.StictionError, match=r"none\.stl', line 3$"):
        stiction.load_mjcf(path)
    (tmp_path / "part.xml").write_text(f"<mujocoinclude><asset>\n{mesh}</asset></mujocoinclude>")
    path.write_text(f"{compiler}<include file='part.xml'/></mujoco>")
    with pytest.raises(stiction.StictionError, match=r"none\.stl', \S*part\.xml line 2$"):
        stiction.load_mjcf(path)


def test_lines_of_includes_and_of_elements_without_names(tmp_path: Path) -> None:
    (tmp_path / "main.xml").write_text(
        "<mujoco>\n<worldbody>\n<geom type='plane' size='1 1 1'/>\n"
        "<body pos='0 0 1'><freejoint/>\n<include file='part.xml'/>\n<geom size='.2'/></body>\n"
        "</worldbody>\n</mujoco>\n"
    )
    part = "<mujocoinclude>\n<geom size='.1'/>\n<geom size='.1' margin='-1'/></mujocoinclude>"
    (tmp_path / "part.xml").write_text(part)
    with pytest.raises(stiction.StictionError, match=r"part\.xml:3: geom 'body0_geom1': a neg"):
        stiction.load_mjcf(tmp_path / "main.xml", strict=True)
    (tmp_path / "part.xml").write_text(
        "<mujocoinclude>\n<replicate count='2' offset='1 0 0'>\n<geom size='.1' margin='-1'/>\n"
        "</replicate></mujocoinclude>"
    )
    with pytest.raises(
        stiction.StictionError, match=r"main\.xml: geoms 'body0_geom0', 'body0_geom1'"
    ):
        stiction.load_mjcf(tmp_path / "main.xml", strict=True)


def test_a_file_that_is_honoured_says_nothing() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = stiction.load_mjcf(DATA / "joints.xml", strict=True)
    assert all(m.kind == "warning" for m in loaded.messages)
    assert loaded.scene.name == "joints" and loaded.timestep == 0.002
    assert [r.name for r in loaded.scene.robots][-1] == "stone"
    body, X = loaded.scene.frame("grip")
    assert loaded.scene.body_names[body] == "shoulder"
    assert X.translation.shape == (3,)


def test_files_without_geoms_and_without_joints() -> None:
    bare = stiction.load_mjcf(
        "<mujoco><worldbody><body name='b'><freejoint/><inertial pos='0 0 0' mass='1'"
        " diaginertia='1 1 1'/></body></worldbody></mujoco>",
        strict=True,
    )
    assert (bare.scene.nv, len(bare.scene.geometries)) == (6, 0)
    fixed = stiction.load_mjcf("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
    assert (fixed.scene.nv, len(fixed.scene.geometries)) == (0, 1)
    assert [shape.shape for shape in fixed.visuals()[-1]] == ["sphere"]
    assert len(fixed.hold().torque) == 0


def test_errors_name_the_file(tmp_path: Path) -> None:
    cases = {
        "broken.xml": ("<mujoco><worldbody>", "broken.xml"),
        "unknown.xml": ("<mujoco>\n<worldbody><geom sise='1'/></worldbody></mujoco>", "line 2"),
        "massless.xml": (
            "<mujoco><worldbody><body><joint/><geom size='1' mass='0'/></body></worldbody>"
            "</mujoco>",
            "massless.xml",
        ),
        "robot.xml": ("<robot name='r'><link name='l'/></robot>", "load_urdf"),
    }
    for name, (text, what) in cases.items():
        file = tmp_path / name
        file.write_text(text)
        with pytest.raises(stiction.StictionError, match=name) as caught:
            stiction.load_mjcf(file)
        assert what in str(caught.value)
    with pytest.raises(stiction.StictionError, match=r"none\.xml: no such file"):
        stiction.load_mjcf(tmp_path / "none.xml")
    with pytest.raises(stiction.StictionError, match="MJCF string"):
        stiction.load_mjcf("<mujoco><nothing/></mujoco>")


def test_without_mujoco_the_command_is_named() -> None:
    code = (
        "import sys; sys.modules['mujoco'] = None\n"
        "import stiction\n"
        "try: stiction.load_mjcf('<mujoco/>')\n"
        "except stiction.StictionError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "mujoco-core>=4,<5"' in done.stdout


def test_load_and_commands_take_mjcf(tmp_path: Path) -> None:
    scene = stiction.load(DATA / "joints.xml")
    assert scene.nv == 25
    page = tmp_path / "page.html"
    done = subprocess.run(
        [sys.executable, "-m", "stiction", "view", str(DATA / "actuators.xml"), "--seconds", "0.1",
         "--configuration", "home", "--no-open", "--output", str(page)],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert page.is_file() and str(page) in done.stdout
    done = subprocess.run(
        [sys.executable, "-m", "stiction", "run", str(DATA / "joints.xml"), "--seconds", "0.1",
         "--json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["dt"] == 0.002


def test_what_collides_with_nothing_is_drawn_all_the_same() -> None:
    loaded = stiction.load_mjcf(DATA / "actuators.xml")
    drawn = loaded.visuals()
    assert sum(len(shapes) for shapes in drawn.values()) == 6
    scene = stiction.load_mjcf(DATA / "contacts.xml")
    world = [shape.shape for shape in scene.visuals()[-1]]
    assert world == ["plane", "mesh", "sphere"]  # the terrain as a mesh
    sim = stiction.Simulator(scene.scene)
    recorder = Recorder(sim, visuals=scene.visuals())
    recorder.capture(sim.initial_state())
    roles = [g.role for body in recorder.replay().bodies for g in body.geometries]
    assert roles.count("visual") == 11
    assert roles.count("collision") == len(scene.scene.geometries)


def test_first_robots_of_a_scene_may_have_a_prefix() -> None:
    scene = stiction.Scene()
    robot = stiction.load_mjcf(DATA / "actuators.xml").scene.robots[0].description
    scene.add_robot(robot, robot_name="left", prefix="l_")
    scene.add_robot(robot, robot_name="right")
    assert scene.joint_names[0] == "l_plain"
    assert scene.joint_names[len(scene.joint_names) // 2] == "right/plain"
    with pytest.raises(ValueError, match='kind = "loud"'):
        stiction.LoadMessage("loud", "text")
