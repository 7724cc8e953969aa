"""MJCF files in one scene, beside what MuJoCo's MjSpec.attach makes of them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import mujoco
import numpy as np
import pinocchio
import pytest
import stiction
from mjcf_beside_mujoco import Beside, file_of, worst_differences

pytestmark = pytest.mark.filterwarnings("ignore::stiction.LoadWarning")

X_SECOND = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(0.1, -0.2, 0.7), np.array([0.3, -0.4, 0.25]))
"""Where the second file stands: near enough to the first to touch it."""
CUBE = """<mujoco model="cube"><worldbody><body name="cube" pos="0 0 .5"><freejoint/>
  <geom name="cube" type="box" size=".1 .1 .1" mass="1" {}/></body></worldbody>
  <keyframe><key name="up" qpos="0 0 1 1 0 0 0" qvel="0 1 0 0 0 2" time="3"/></keyframe></mujoco>"""
TABLE = """<mujoco model="table"><worldbody>
  <geom name="top" type="box" size="1 1 .1" {}/></worldbody></mujoco>"""
SLIDER = """<mujoco model="slider"><worldbody><body name="rail" pos="0 0 2"><joint name="j"
  type="slide" axis="1 0 0" range="-1 1" limited="true"/><geom name="rail" size=".1" mass="2"/>
  <site name="tip" pos="0 0 .3"/></body></worldbody>
  <actuator><position name="p" joint="j" kp="30" kv="20"/></actuator></mujoco>"""
"""A geom that nothing of its own file meets."""


class Attached(Beside):
    """Two files in one scene, and one MuJoCo model with the second attached to the first."""

    def __init__(self, one: Path, two: Path) -> None:
        self.equalities, self.acts_at_once = True, False
        scene = stiction.Scene(name="both")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", stiction.LoadWarning)
            self.parts = (
                stiction.load_mjcf(one).add_to(scene),
                stiction.load_mjcf(two).add_to(scene, X_SECOND, "b/"),
            )
        self.counts = [part._actuation.count for part in self.parts]
        self.ours = SimpleNamespace(scene=scene, control=self._control)  # type: ignore[assignment]
        spec = mujoco.MjSpec.from_file(str(one))
        child = mujoco.MjSpec.from_file(str(two))
        x, y, z, w = pinocchio.SE3ToXYZQUAT(X_SECOND)[3:]
        frame = spec.worldbody.add_frame(pos=X_SECOND.translation, quat=[w, x, y, z])
        spec.attach(child, prefix="b/", frame=frame)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # options of the first file hold
            self.m = spec.compile()
        self.m.opt.density = self.m.opt.viscosity = 0.0
        scene.parameters.gravity = np.array(
            self.m.opt.gravity
        )  # MuJoCo's is that of the first file
        self.constrained = self.m.opt.disableflags
        self.m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        self.d = mujoco.MjData(self.m)

    def of_pinocchio(
        self, q: np.ndarray, v: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray, slice]]:
        """Of the scene: a robot's own model does not know where it was placed."""
        state = stiction.make_state(self.scene, q, v)
        motion = stiction.SceneMotion(self.scene, state)
        yield motion.mass_matrix(), motion.bias(), slice(0, self.scene.nv)

    def _control(self, ctrl: np.ndarray) -> stiction.Control:
        one, two = self.parts
        cut = self.counts[0]
        return two.control(ctrl[cut:], into=one.control(ctrl[:cut]))


PAIRS = (
    ("ant", "ant"),
    ("ant", "humanoid"),
    ("hopper", "contacts"),
    ("joints", "actuators"),
    ("contacts", "ant"),
)
TOUCHING = ((("ant", "ant"), False), (("ant", "humanoid"), True), (("contacts", "ant"), True))
"""And whether some of the one meet some of the other: two ants do not, by their affinities."""


@pytest.mark.parametrize("names", PAIRS)
def test_dynamics_of_two_files(names: tuple[str, str]) -> None:
    """Masses, bias and accelerations under control are those of MjSpec.attach, 100 states."""
    both = Attached(*map(file_of, names))
    differences = worst_differences(both, np.random.default_rng(3), states=100)
    assert max(differences.values()) < 1e-9, differences


# Of "joints" MuJoCo misses two pairs so far apart, alone as well.
@pytest.mark.parametrize("names", [names for names in PAIRS if names[0] != "joints"])
def test_pairs_of_two_files(names: tuple[str, str]) -> None:
    """With margins of 50 m MuJoCo finds every pair that its filters let through."""
    both = Attached(*map(file_of, names))
    m, d, geometries = both.m, both.d, both.scene.geometries
    m.opt.disableflags = both.constrained
    m.geom_margin[:], m.pair_margin[:], m.body_margin[:] = 50.0, 50.0, 50.0
    mujoco.mj_forward(m, d)
    theirs = {tuple(sorted(int(g) for g in c.geom)) for c in d.contact}
    number = numbers_of_geoms(both)
    ours = {
        tuple(sorted((number[a], number[b])))
        for a in range(len(geometries))
        for b in range(a)
        if both.scene.pair_enabled(a, b)
    }
    assert ours == theirs


@pytest.mark.parametrize(("names", "meet"), TOUCHING)
def test_touching_pairs(names: tuple[str, str], meet: bool) -> None:
    """At 100 random states those that are in each other by more than rounding are the same."""
    both = Attached(*map(file_of, names))
    m, d, scene = both.m, both.d, both.scene
    m.opt.disableflags = both.constrained
    m.geom_margin[:], m.pair_margin[:], m.body_margin[:] = 0.0, 0.0, 0.0
    rng, number, across = np.random.default_rng(5), numbers_of_geoms(both), 0
    of_second = int(both.parts[0]._source.model.nbody)
    for _ in range(100):
        q, v, ctrl = both.random(rng)
        both.set(q, v, ctrl)
        theirs = {tuple(sorted(int(g) for g in c.geom)) for c in d.contact if c.dist < -1e-4}
        ours, near = set(), set()
        for pair in scene.distances(stiction.make_state(scene, q), 1e-3):
            key = tuple(sorted((number[pair.geometry_a], number[pair.geometry_b])))
            near.add(key)
            if pair.distance < -2e-4:
                ours.add(key)
        bodies = [sorted(int(m.geom_bodyid[g]) for g in pair) for pair in ours]
        across += sum(0 < a < of_second <= b for a, b in bodies)
        assert ours <= {tuple(sorted(int(g) for g in c.geom)) for c in d.contact}
        assert theirs <= near
    assert across > 10 if meet else across == 0  # moving bodies of the two files


def numbers_of_geoms(both: Attached) -> list[int]:
    """MuJoCo's of our geometries. Its bodies are those of the first file, then of the second, and
    its geoms in the order of their bodies."""
    found, first = [], both.parts[0]._source.model
    for part, prefix in zip(both.parts, ("", "b/"), strict=True):
        own = part._source.model
        for g in sorted(part._geometries):
            body = int(own.geom_bodyid[g])
            where = body + int(first.nbody) - 1 if body and prefix else body
            number = int(both.m.body_geomadr[where] + g - own.body_geomadr[body])
            if prefix and not body:
                number += int(first.body_geomnum[0])
            name = own.geom(g).name
            assert both.m.geom(number).name == (prefix + name if name else "")
            found.append(number)
    return found


# --- an existing scene ----------------------------------------------------------------------------


def test_cube_on_a_urdf_robots_ground() -> None:
    """A geom that touches nothing in its own file meets shapes of any origin, and rests on them as
    MuJoCo's cube on a plane."""
    scene = stiction.load("solo12")
    nv, nq = scene.nv, scene.nq
    cube = stiction.load_mjcf(CUBE.format("")).add_to(scene, at(1.0, 0.0, 0.0), "c/")
    assert scene.body_names[-1] == "c/cube" and cube.scene is scene
    assert scene.pair_enabled("ground", "c/cube")
    start = np.array(scene.default_q[nq : nq + 3])
    np.testing.assert_allclose(start, [1.0, 0.0, 0.5])
    sim = stiction.Simulator(scene, dt=2e-3)
    state = cube.state("up")
    np.testing.assert_allclose(state.q[nq : nq + 3], [1.0, 0.0, 1.0])
    np.testing.assert_allclose(state.v[nv:], [0, 1, 0, 0, 0, 2])
    assert state.time == 3.0 and not np.any(state.v[:nv])
    for _ in range(1500):
        sim.step(state, stiction.Control(scene.nv))
    assert state.q[nq + 2] == pytest.approx(0.1, abs=1e-6)


@pytest.mark.parametrize(
    ("of_cube", "of_table", "meet"),
    [
        ("", "", True),
        ("contype='2' conaffinity='2'", "", False),
        ("contype='2' conaffinity='2'", "contype='0' conaffinity='2'", True),
        ("contype='1' conaffinity='0'", "contype='1' conaffinity='0'", False),
        ("contype='0' conaffinity='0'", "", None),
        ("contype='-2147483648' conaffinity='0'", "contype='0' conaffinity='-1'", True),
    ],
)
def test_filters_across_files(of_cube: str, of_table: str, meet: bool | None) -> None:
    """MuJoCo's rule; what has neither bit can meet nothing and is left out."""
    scene = stiction.Scene()
    stiction.load_mjcf(TABLE.format(of_table)).add_to(scene)
    stiction.load_mjcf(CUBE.format(of_cube)).add_to(scene)
    spec = mujoco.MjSpec.from_string(TABLE.format(of_table))
    child = mujoco.MjSpec.from_string(CUBE.format(of_cube))
    spec.attach(child, prefix="c/", frame=spec.worldbody.add_frame(pos=[0, 0, -0.45]))
    m = spec.compile()
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    assert bool(d.ncon) == bool(meet)
    names = [geometry.name for geometry in scene.geometries]
    assert ("cube" in names) == (meet is not None)
    if meet is not None:
        assert scene.pair_enabled("top", "cube") == meet


def test_what_is_added_to_the_scene_of_a_file_touches_it() -> None:
    scene = stiction.load_mjcf(CUBE.format("")).scene
    scene.add_ground()
    assert scene.pair_enabled("ground", "cube")


def test_servos_of_two_sliders() -> None:
    """Each follows its own control, as MuJoCo's two do."""
    file = stiction.load_mjcf(SLIDER)
    scene = stiction.Scene(name="two")
    left = file.add_to(scene, prefix="l/")
    right = file.add_to(scene, at(0.0, 1.0, 0.0), prefix="r/")
    assert scene.dof_names == ["l/j", "r/j"]
    control = right.control([0.4], into=left.control([-0.3]))
    state, sim = stiction.make_state(scene, scene.default_q), stiction.Simulator(scene, dt=1e-3)
    for _ in range(6000):
        sim.step(state, control)
    np.testing.assert_allclose(state.q, [-0.3, 0.4], atol=1e-4)
    body, X = scene.frame("r/tip")
    assert body == 1 and np.allclose(X.translation, [0, 0, 0.3])
    assert scene.frame("l/tip")[0] == 0
    held = left.hold("default")
    np.testing.assert_array_equal(held.position_target, [0.0, 0.0])
    batch = stiction.Batch(scene, 2, dt=1e-3)
    left.write(batch, [[0.1], [0.2]])
    right.write(batch, [0.5])
    np.testing.assert_allclose(batch.position_target, [[0.1, 0.5], [0.2, 0.5]])


def test_ground_may_be_left_out() -> None:
    scene = stiction.Scene()
    scene.add_ground()
    ant = stiction.load_mjcf(file_of("ant"), ground=False)
    ant.add_to(scene)
    kinds = [geometry.shape.type for geometry in scene.geometries]
    assert kinds.count("half_space") == 1
    assert len(stiction.load(file_of("ant"), ground=False).geometries) == len(kinds) - 1


def test_visuals_of_a_part() -> None:
    scene = stiction.Scene()
    one = stiction.load_mjcf(SLIDER).add_to(scene, prefix="l/")
    two = stiction.load_mjcf(TABLE.format("")).add_to(scene, at(0.0, 0.0, 3.0), prefix="t/")
    three = stiction.load_mjcf(SLIDER).add_to(scene, prefix="r/")
    assert list(one.visuals()) == [0] and list(three.visuals()) == [1]
    np.testing.assert_allclose(two.visuals()[-1][0].placement[:3], [0, 0, 3])


def test_errors_of_composing() -> None:
    scene, file = stiction.Scene(), stiction.load_mjcf(SLIDER)
    part = file.add_to(scene, prefix="a/")
    before = scene.to_bytes()
    for call, text in (
        (lambda: file.add_to(scene, prefix="a/"), 'body "a/rail" is taken; give another prefix'),
        (lambda: file.add_to(scene, np.diag([1.0, 1.0, -1.0, 1.0])), "reflection"),
        (lambda: part.add_to(scene), "of what load_mjcf gave, not of its part"),
        (part.simulation, "this is MJCF string as a part of a scene: step a Simulator"),
        (lambda: part.control([0.0], into=stiction.Control(3)), "into.torque has 3 entries"),
        (lambda: part.control([0.0, 1.0]), "the file has 1 controls"),
        (lambda: part.state("no"), "no keyframe 'no'"),
    ):
        with pytest.raises(ValueError, match=text.replace("(", r"\(")):
            call()
    assert scene.to_bytes() == before


def test_arguments_of_another_type_are_named() -> None:
    scene, file = stiction.Scene(), stiction.load_mjcf(SLIDER)
    for call, text in (
        (lambda: file.add_to(3), "scene = 3: must be a Scene, such as stiction.Scene("),
        (lambda: file.add_to(file), "must be a Scene, such as stiction.Scene("),
        (lambda: file.add_to(scene, prefix=3), 'prefix = 3: must be a str, such as "left/", or'),
        (lambda: file.add_to(scene, None, b"a/"), "prefix = b'a/': must be a str"),
        (lambda: scene.add_scene(file), "must be a Scene, such as stiction.load"),
        (lambda: scene.add_scene(file.scene, prefix=3), "prefix = 3: must be a str"),
        (
            lambda: scene.add_robot(stiction.load("solo12").robots[0].description, prefix=3),
            "prefix = 3: must be a str",
        ),
        (lambda: scene.add_scene(), "add_scene() lacks the argument 'scene'"),
    ):
        with pytest.raises(TypeError) as error:
            call()  # type: ignore[no-untyped-call]
        assert text in str(error.value)
        assert "C++" not in str(error.value) and "convert" not in str(error.value)
    for wrong in (np.eye(3), [1.0, 2.0], 1.0, "there", object()):
        with pytest.raises(ValueError, match=r"X_W .*\(4, 4\)"):
            file.add_to(scene, wrong)
    assert scene.num_bodies == 0


def test_gravity_and_what_simulation_alone_knows_are_said() -> None:
    text = SLIDER.replace("<worldbody>", '<option gravity="0 0 -1" density="1.2"/><worldbody>')
    file, scene = stiction.load_mjcf(text), stiction.Scene()
    with pytest.warns(stiction.LoadWarning) as said:
        file.add_to(scene)
    texts = [str(warning.message) for warning in said]
    assert any("density, viscosity and wind: not in a composed scene" in text for text in texts)
    gravity = "its gravity [0, 0, -1] is not that of the scene, [0, 0, -9.81], which holds"
    assert sum(gravity in text for text in texts) == 1
    assert all(warning.filename == __file__ for warning in said)
    assert any(gravity in m.text and m.kind == "warning" for m in scene.messages)
    with pytest.warns(stiction.LoadWarning, match=re.escape(gravity)) as said:
        scene.add_scene(file.scene, prefix="again/")
    assert [warning.filename for warning in said] == [__file__]
    assert any("density" in m.text and m.kind == "unused" for m in scene.messages)
    np.testing.assert_array_equal(scene.parameters.gravity, [0, 0, -9.81])


def at(x: float, y: float, z: float) -> pinocchio.SE3:
    return pinocchio.SE3(np.eye(3), np.array([x, y, z]))


def test_frames_of_a_fixed_base_stand_where_it_was_placed() -> None:
    text = """<robot name="r"><link name="base"/><link name="a"><inertial><mass value="1"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="j" type="revolute"><origin xyz="0 0 1"/><parent link="base"/><child link="a"/>
      <axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    robot, one = stiction.load_urdf_string(text, free_flyer=False), stiction.Scene(name="one")
    one.add_robot(robot, at(1.0, 2.0, 3.0))
    scene = stiction.Scene(name="all")
    scene.add_scene(one, at(0.0, 0.0, 1.0), "x/")
    for name, z in (("x/base", 4.0), ("x/a", 5.0)):
        pose = stiction.SceneMotion(scene, scene.default_q).pose(name)
        np.testing.assert_allclose(pose.translation, [1.0, 2.0, z])
    assert scene.robots[0].name == "x/r" and scene.frame("x/base")[0] == -1
