"""Scenes in files: what is read back steps with the same bits, and says what a bad file is."""

from __future__ import annotations

import itertools
import json
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
import pytest
import stiction
import stiction.doctor

DATA = Path(__file__).resolve().parents[1] / "data" / "mjcf"
ROBOTS = Path(pinocchio.__file__).parents[4] / "share" / "example-robot-data" / "robots"
URDFS = (  # meshes, an SRDF, joints without limits, mimic joints, a fixed base
    ("talos_data/robots/talos_reduced.urdf", {"srdf": "talos_data/srdf/talos.srdf"}),
    ("panda_description/urdf/panda.urdf", {"free_flyer": False}),
    ("allegro_hand_description/urdf/allegro_right_hand.urdf", {"free_flyer": False}),
    ("solo_description/robots/solo12.urdf", {"collision_meshes": "exact"}),
)


def load_robot(name: str, options: dict[str, Any]) -> stiction.Scene:
    given = dict(options)
    if "srdf" in given:
        given["srdf"] = ROBOTS / given["srdf"]
    with warnings.catch_warnings(action="ignore"):
        return stiction.load(ROBOTS / name, **given)


def run(scene: stiction.Scene, steps: int = 40) -> bytes:
    """All of the state after some steps, servos holding the start."""
    sim = stiction.Simulator(scene, dt=1e-3)
    state = sim.initial_state()
    sim.run(state, sim.hold(), steps)
    return state.save()


def check_same(scene: stiction.Scene, other: stiction.Scene) -> None:
    assert repr(other) == repr(scene)
    for name in ("body_names", "joint_names", "dof_names", "gear_names", "closure_names"):
        assert getattr(other, name) == getattr(scene, name)
    for name in ("joints", "geometries", "messages", "material_pairs", "robots"):
        assert list(map(repr, getattr(other, name))) == list(map(repr, getattr(scene, name)))
    numbers, others = scene.parameters.to_dict(), other.parameters.to_dict()
    assert numbers.keys() == others.keys()
    for name, array in numbers.items():
        assert np.array_equal(array, others[name]), name
    assert scene.configurations.keys() == other.configurations.keys()
    assert run(other) == run(scene)


@pytest.mark.parametrize(("name", "options"), URDFS, ids=[Path(x).stem for x, _ in URDFS])
def test_robots_from_files(tmp_path: Path, name: str, options: dict[str, Any]) -> None:
    scene = load_robot(name, options)
    for joint in scene.joints:
        if joint.nv == 1:
            scene.set_gains(joint.v_index, 20.0, 1.0)
    scene.save(tmp_path / "robot.stiction")
    other = stiction.load(tmp_path / "robot.stiction")
    check_same(scene, other)
    frames = scene.robots[0].description.frame_names
    for frame in frames[:: max(1, len(frames) // 20)]:
        body, X = scene.frame(frame)
        found, Y = other.frame(frame)
        assert found == body and np.array_equal(X.homogeneous, Y.homogeneous)


@pytest.mark.parametrize("path", sorted(DATA.glob("*.xml")), ids=lambda path: path.stem)
def test_scenes_of_mjcf_files(tmp_path: Path, path: Path) -> None:
    with warnings.catch_warnings(action="ignore"):
        scene = stiction.load_mjcf(path).scene
    scene.save(tmp_path / "file.stiction")
    check_same(scene, stiction.Scene.load(tmp_path / "file.stiction"))


def test_files_of_version_1_are_read() -> None:
    """Of rest.xml, as the first version wrote it; C++ steps the same file. Its materials had what
    condim lets count and pairs that differ a material of their own: they meet as they did."""
    with warnings.catch_warnings(action="ignore"):
        scene = stiction.load_mjcf(DATA / "rest.xml").scene
    other = stiction.load(DATA.parent / "rest_v1.stiction")
    assert other.joint_names == scene.joint_names
    assert [str(g.shape.type) for g in other.geometries] == [
        str(g.shape.type) for g in scene.geometries
    ]
    for name, array in other.parameters.to_dict().items():
        if name not in ("material", "pair_material"):
            wanted = scene.parameters.to_dict()[name]
            np.testing.assert_allclose(array, wanted, rtol=1e-9, atol=1e-12)
    for a, b in itertools.combinations(range(len(scene.geometries)), 2):
        if scene.pair_enabled(a, b):
            found, wanted = (of.pair_material(a, b) for of in (other, scene))
            assert repr(found) == repr(wanted) and found.rest_offset == wanted.rest_offset
            for name in ("friction", "torsional_friction", "rolling_friction"):
                assert getattr(found, name) == pytest.approx(getattr(wanted, name), abs=1e-12)


@pytest.mark.parametrize(("version", "tool"), [(2, "tool"), (3, "o_tool")])
def test_files_of_versions_2_and_3_are_read(version: int, tool: str) -> None:
    """Two arms, the second added with the prefix "l_", a ball and a stand, all in a part "o_", as
    these versions wrote them: version 2 knew no prefix of frames, version 3 that of the part."""
    scene = stiction.load(DATA.parent / f"cell_v{version}.stiction")
    assert scene.body_names == ["o_upper", "o_l_upper", "o_ball"]
    assert [r.name for r in scene.robots] == ["o_arm", "o_left", "o_stand"]
    assert [scene.frame(n)[0] for n in (tool, "o_arm/tool", "o_left/tool")] == [0, 0, 1]
    with pytest.raises(ValueError, match="no frame"):
        scene.frame("o_l_tool")
    stands = scene.frame("o_stand/top")[1].translation
    assert np.allclose(stands, [0.0, 0.0, 2.0]) == (version == 2)
    ball, tip = (scene.geometries[scene.geometry(n)] for n in ("o_ball", "o_tip"))
    assert (ball.contype, ball.conaffinity) == (2, 5)
    assert {(g.friction_rule, g.condim, g.priority) for g in (ball, tip)} == {("mean", 6, 0)}
    assert scene.pair_material("o_ball", "o_tip").restitution == 0.25
    np.testing.assert_array_equal(scene.configurations["bent"][:2], [0.2, -0.3])
    assert scene.configuration_velocity("bent")[1] == 1.5
    assert [visual.body for visual in scene.visuals] == [2]
    check_same(scene, stiction.Scene.from_bytes(scene.to_bytes()))


@pytest.mark.parametrize(("name", "options"), URDFS, ids=[Path(x).stem for x, _ in URDFS])
def test_a_pinocchio_model_is_made_again(name: str, options: dict[str, Any]) -> None:
    scene = load_robot(name, options)
    own = stiction.pinocchio_model(scene, 0)
    made = stiction.pinocchio_model(stiction.Scene.from_bytes(scene.to_bytes()), 0)
    assert (made.nq, made.nv, made.name) == (own.nq, own.nv, own.name)
    assert list(made.names) == list(own.names)
    for field in (
        *("lowerPositionLimit", "upperPositionLimit", "upperEffortLimit", "upperVelocityLimit"),
        *("damping", "armature"),
    ):
        low, high = np.clip(getattr(made, field), -1e300, 1e300), getattr(own, field)
        one_dof = [
            (j.idx_q, j.idx_v)[field[5:] != "PositionLimit"]
            for j in own.joints
            if j.nv == 1 and j.nq == 1
        ]
        assert np.array_equal(low[one_dof], np.clip(high, -1e300, 1e300)[one_dof]), field
    rng = np.random.default_rng(1)
    q = pinocchio.integrate(own, pinocchio.neutral(own), rng.uniform(-1, 1, own.nv))
    v, a = rng.uniform(-1, 1, (2, own.nv))
    both = [(m, m.createData()) for m in (own, made)]
    torques = [pinocchio.rnea(m, d, q, v, a) for m, d in both]
    np.testing.assert_allclose(*torques, rtol=1e-12, atol=1e-12)
    for m, d in both:
        pinocchio.framesForwardKinematics(m, d, q)
    (_, own_data), (_, made_data) = both
    links = [f.name for f in own.frames if f.type == pinocchio.FrameType.BODY]
    assert links
    for link in links:
        X = own_data.oMf[own.getFrameId(link, pinocchio.FrameType.BODY)]
        Y = made_data.oMf[made.getFrameId(link, pinocchio.FrameType.BODY)]
        np.testing.assert_allclose(X.homogeneous, Y.homogeneous, rtol=0, atol=1e-12)
    for frame in own.frames:
        assert made.existFrame(frame.name), frame.name


def test_a_model_of_every_joint_is_made_again() -> None:
    model, at = pinocchio.Model(), pinocchio.SE3.Random
    slanted = np.array([0.6, 0.0, 0.8])
    joints = [
        pinocchio.JointModelFreeFlyer(),
        pinocchio.JointModelSpherical(),
        *(pinocchio.JointModelRX(), pinocchio.JointModelRevoluteUnaligned(slanted)),
        pinocchio.JointModelRUBY(),
        *(pinocchio.JointModelPZ(), pinocchio.JointModelPrismaticUnaligned(slanted)),
    ]
    pinocchio.seed(3)
    for number, joint in enumerate(joints):
        placement = at() if number else pinocchio.SE3.Identity()
        j = model.addJoint(number, joint, placement, f"joint{number}")
        model.appendBodyToJoint(j, pinocchio.Inertia.Random(), pinocchio.SE3.Identity())
        model.addFrame(pinocchio.Frame(f"site{number}", j, at(), pinocchio.FrameType.OP_FRAME))
    scene = stiction.Scene(model)
    made = stiction.pinocchio_model(stiction.Scene.from_bytes(scene.to_bytes()), 0)
    assert [j.shortname() for j in made.joints] == [j.shortname() for j in model.joints]
    rng = np.random.default_rng(2)
    q = pinocchio.integrate(model, pinocchio.neutral(model), rng.uniform(-1, 1, model.nv))
    v, a = rng.uniform(-1, 1, (2, model.nv))
    torques = [pinocchio.rnea(m, m.createData(), q, v, a) for m in (model, made)]
    np.testing.assert_allclose(*torques, rtol=1e-12, atol=1e-12)
    for number in range(len(joints)):
        X, Y = (m.frames[m.getFrameId(f"site{number}")] for m in (model, made))
        assert X.parentJoint == Y.parentJoint and X.placement == Y.placement


def test_pickles_step_with_the_same_bits() -> None:
    scene = stiction.load("two-cubes")
    assert run(pickle.loads(pickle.dumps(scene))) == run(scene)


def test_a_saved_state_goes_on_in_the_scene_that_was_read_back() -> None:
    scene = stiction.load("ycb-pile(4)")
    sim = stiction.Simulator(scene)
    state = sim.initial_state()
    sim.run(state, steps=60)
    saved = state.save()
    sim.run(state, steps=40)
    again = stiction.State(saved)
    stiction.Simulator(stiction.Scene.from_bytes(scene.to_bytes())).run(again, steps=40)
    assert again.save() == state.save()


def test_numbers_of_a_simulator_can_be_saved(tmp_path: Path) -> None:
    scene = stiction.load("two-cubes")
    sim = stiction.Simulator(scene)
    sim.parameters.mass[0] = 2.5
    sim.scene.save(tmp_path / "own.stiction")
    sim.scene.save(tmp_path / "heavy.stiction", parameters=sim.parameters)
    own, heavy = (stiction.load(tmp_path / f"{name}.stiction") for name in ("own", "heavy"))
    assert own.parameters.mass[0] == scene.parameters.mass[0] != 2.5
    assert heavy.parameters.mass[0] == 2.5 and run(heavy) != run(own)
    other = stiction.load("cube-slide").parameters
    with pytest.raises(ValueError, match="parameters: belong to another scene"):
        scene.to_bytes(other)
    with pytest.raises(TypeError, match="parameters"):
        scene.to_bytes("heavy")  # type: ignore[arg-type]


def test_views_of_a_loaded_scene_are_its_own() -> None:
    scene = stiction.Scene.from_bytes(stiction.load("two-cubes").to_bytes())
    friction = scene.parameters.friction
    friction[:] = 0.25
    scene.add_body("more", stiction.Sphere(0.1), 1.0, np.eye(4))
    assert list(scene.parameters.friction) == [0.25, 0.25, 0.25, 0.8]


def test_errors_name_file_and_fault(tmp_path: Path) -> None:
    path = tmp_path / "scene.stiction"
    scene = stiction.load("two-cubes")
    scene.save(path)
    good = path.read_bytes()

    def says(data: bytes, text: str) -> None:
        path.write_bytes(data)
        for load in (stiction.load, stiction.Scene.load):
            with pytest.raises(stiction.StictionError, match=f"scene.stiction: {text}"):
                load(path)
        with pytest.raises(ValueError, match=f"saved scene: {text}"):
            stiction.Scene.from_bytes(data)

    says(b"#!/bin/sh", 'is not a saved scene: does not begin with "STICSCEN"')
    says(good[:8] + b"\x09" + good[9:], "has version 9, this library reads versions 1 to 4")
    says(good[:-20], f"truncated: it has {len(good) - 20} bytes, its header says {len(good)}")
    says(good[:200] + b"\xff" + good[201:], "damaged: its checksum does not match")
    says(good + good, "has bytes left over")
    with pytest.raises(stiction.StictionError, match=r"none.stiction: cannot be opened"):
        stiction.load(tmp_path / "none.stiction")
    with pytest.raises(stiction.StictionError, match="cannot be written"):
        scene.save(tmp_path / "no folder" / "a.stiction")
    with pytest.raises(stiction.StictionError, match="the path holds a zero byte"):
        scene.save("a\0b")
    with pytest.raises(ValueError, match=r"must be bytes from Scene.to_bytes\(\)"):
        stiction.Scene.from_bytes("text")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'strict'; there are: none"):
        stiction.load(path, strict=True)
    with pytest.raises(TypeError, match=r"os\.PathLike"):
        scene.save(7)  # type: ignore[arg-type]


def test_what_is_not_written_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "scene.stiction"
    scene = stiction.load("two-cubes")
    scene.save(path)
    before = path.read_bytes()
    scene.parameters.friction[0] = -1.0
    with pytest.raises(ValueError, match=r"parameters.friction\[0\] = -1"):
        scene.save(path)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "stiction", *arguments], capture_output=True, text=True, check=False
    )


def test_commands_take_a_saved_scene(tmp_path: Path) -> None:
    path = tmp_path / "pair.stiction"
    stiction.load("two-cubes").save(path)
    ran = command("run", str(path), "--seconds", "0.05", "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)
    page = tmp_path / "page.html"
    viewed = command("view", str(path), "--seconds", "0.05", "--output", str(page), "--no-open")
    assert viewed.returncode == 0, viewed.stderr
    assert page.stat().st_size > 10_000
    looked = command("doctor", str(path), "--json")
    assert looked.returncode == 0, looked.stderr
    assert json.loads(looked.stdout)["bodies"] == 2
    path.write_bytes(b"STICSCEN")
    for name in ("run", "doctor"):
        failed = command(name, str(path))
        assert failed.returncode != 0
        assert "truncated" in failed.stdout + failed.stderr
    refused = command("run", str(path), "--fixed-base")
    assert refused.returncode != 0 and "are for URDF files" in refused.stderr


def test_the_doctor_says_what_the_loaders_said(tmp_path: Path) -> None:
    with warnings.catch_warnings(action="ignore"):
        scene = stiction.load_mjcf(DATA / "unsupported.xml").scene
    scene.save(tmp_path / "saved.stiction")
    direct = stiction.doctor.examine(DATA / "unsupported.xml").findings
    saved = stiction.doctor.examine(tmp_path / "saved.stiction").findings
    assert {m.text for m in scene.messages if m.kind != "overlap"} <= {f.text for f in saved}
    unused = {(f.text, f.line) for f in direct if f.check == "unused"}
    assert unused and unused <= {(f.text, f.line) for f in saved}
