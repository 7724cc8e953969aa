"""What frames of placed and composed robots are called, and where they stand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pinocchio
import pytest
import stiction

INERTIAL = """<inertial><mass value="1"/>
  <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"""
STAND = """<robot name="stand"><link name="foot"/><link name="top"/>
  <joint name="up" type="fixed"><origin xyz="0 0 2" rpy="0.3 0 0.5"/>
  <parent link="foot"/><child link="top"/></joint></robot>"""
ARM = f"""<robot name="arm"><link name="base"/><link name="upper">{INERTIAL}</link>
  <link name="tool"/>
  <joint name="hinge" type="revolute"><origin xyz="0 0 1"/><parent link="base"/>
  <child link="upper"/><axis xyz="0 1 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/>
  </joint>
  <joint name="grip" type="fixed"><origin xyz="0.5 0 0"/><parent link="upper"/>
  <child link="tool"/></joint></robot>"""


def at(seed: int) -> pinocchio.SE3:
    rng = np.random.default_rng(seed)
    return pinocchio.SE3(pinocchio.exp3(rng.normal(size=3)), rng.normal(size=3))


def robot(text: str) -> stiction.Robot:
    return stiction.load_urdf_string(text, free_flyer=False)


def same(X: pinocchio.SE3, Y: pinocchio.SE3) -> None:
    np.testing.assert_allclose(X.homogeneous, Y.homogeneous, atol=1e-12)


def pose(scene: stiction.Scene, frame: str) -> pinocchio.SE3:
    return stiction.SceneMotion(scene, scene.default_q).pose(frame)


TOP = pinocchio.SE3(pinocchio.rpy.rpyToMatrix(0.3, 0.0, 0.5), np.array([0.0, 0.0, 2.0]))


@pytest.mark.parametrize("moving", [False, True])
def test_a_robot_without_moving_bodies_stands_where_it_was_placed(
    tmp_path: Path, moving: bool
) -> None:
    scene = stiction.Scene(name="room")
    if moving:
        scene.add_body("ball", stiction.Sphere(0.1), 1.0)
    scene.add_robot(robot(STAND), at(1))
    scene.add_robot(robot(STAND), at(2), "other")
    for name, X in (("stand/top", at(1) * TOP), ("other/top", at(2) * TOP), ("other/foot", at(2))):
        body, placement = scene.frame(name)
        assert body == -1
        same(placement, X)
        same(pose(scene, name), X)
    scene.save(tmp_path / "room.stiction")
    same(stiction.load(tmp_path / "room.stiction").frame("other/top")[1], at(2) * TOP)
    house = stiction.Scene(name="house")
    house.add_scene(scene, at(3), "room/")
    same(pose(house, "room/other/top"), at(3) * at(2) * TOP)
    street = stiction.Scene(name="street")
    street.add_scene(house, at(4), "a/")
    street.add_scene(house, at(5), "b/")
    street.save(tmp_path / "street.stiction")
    for scene in (street, stiction.load(tmp_path / "street.stiction")):
        same(pose(scene, "a/room/other/top"), at(4) * at(3) * at(2) * TOP)
        same(pose(scene, "b/room/stand/top"), at(5) * at(3) * at(1) * TOP)


def test_names_in_a_part_are_those_alone_behind_its_prefix(tmp_path: Path) -> None:
    alone = stiction.Scene(name="cell")
    alone.add_robot(robot(ARM), at(1), "arm")
    alone.add_robot(robot(ARM), at(2), "arm2")
    alone.add_robot(robot(STAND), at(3))
    names = ["tool", "base", "arm/tool", "arm/upper", "arm2/tool", "arm2/base", "stand/top"]
    for name in ("tool", "arm2/tool"):
        assert alone.frame(name)[0] >= 0
    both = stiction.Scene(name="both")
    both.add_scene(alone, at(4), "left/")
    both.add_scene(alone, at(5), "right/")
    both.save(tmp_path / "both.stiction")
    for scene in (both, stiction.load(tmp_path / "both.stiction")):
        for prefix, X in (("left/", at(4)), ("right/", at(5))):
            for name in names:
                same(pose(scene, prefix + name), X * pose(alone, name))
            assert scene.frame(f"{prefix}arm2/upper")[0] == scene.body(f"{prefix}arm2/upper")
        for wrong in ("left/arm/left/tool", "tool", "arm/tool"):
            with pytest.raises(ValueError, match=f'no frame "{wrong}"'):
                scene.frame(wrong)
    with pytest.raises(ValueError, match='"left/tool" is a frame fixed to body "left/upper"'):
        both.body("left/tool")


def test_frames_have_the_prefix_of_bodies_and_joints(tmp_path: Path) -> None:
    """Of add_robot, then of add_scene before it, in every query that takes a frame."""
    cell, hall = stiction.Scene(name="cell"), stiction.Scene(name="hall")
    cell.add_robot(robot(ARM), at(1), "one", "l_")
    cell.add_robot(robot(ARM), at(2), "two", "r_")
    hall.add_scene(cell, at(3), "o_")
    hall.save(tmp_path / "hall.stiction")
    model = cell.robots[0].description
    for scene in (hall, stiction.load(tmp_path / "hall.stiction")):
        assert scene.body_names == ["o_l_upper", "o_r_upper"]
        assert scene.joint_names == ["o_l_hinge", "o_r_hinge"]
        for k, (prefix, name) in enumerate((("o_l_", "o_one"), ("o_r_", "o_two"))):
            for frame in model.frame_names:
                body, X = scene.frame(prefix + frame)
                found, Y = scene.frame(f"{name}/{frame}")
                assert body == found and np.array_equal(X.homogeneous, Y.homogeneous)
                assert body == (-1 if frame == "base" else k)
                with pytest.raises(ValueError, match=f'no frame "{frame}"'):
                    scene.frame(frame)
            same(pose(scene, prefix + "tool"), at(3) * pose(cell, prefix[2:] + "tool"))
        assert scene.robots[1].description.frame_names == model.frame_names
    assert stiction.pinocchio_model(hall, "o_two").existFrame("tool")


def test_two_equal_robots_are_told_apart_by_everything_that_takes_a_frame() -> None:
    scene = stiction.Scene(name="both")
    scene.add_robot(robot(ARM), at(1), "one", "l_")
    scene.add_robot(robot(ARM), at(2), "two", "r_")
    batch = stiction.Batch(scene, 1, dt=1e-3)
    q = np.array([[0.4, -0.7]])
    batch.reset(q=q)
    poses = np.asarray(batch.observe(["pose"], frames=["l_tool", "r_tool"])).reshape(2, 7)
    motion = stiction.SceneMotion(scene, q[0])
    for k, name in enumerate(("l_tool", "r_tool")):
        same(pinocchio.XYZQUATToSE3(poses[k]), motion.pose(name))
    batch.wrench("r_tool")[:, :3] = [0.0, 0.0, 2.0]
    batch.step()
    sim = stiction.Simulator(scene, dt=1e-3)
    state = stiction.make_state(scene, q[0])
    control, tool = sim.hold(), motion.pose("r_tool").translation
    arm = tool - motion.pose("r_upper").translation
    force = np.array([0.0, 0.0, 2.0])
    control = stiction.Control(scene.nv)
    control.wrenches = [stiction.ExternalWrench(scene.body("r_upper"), force, np.cross(arm, force))]
    sim.step(state, control)
    np.testing.assert_allclose(np.asarray(batch.v)[0], state.v, rtol=0, atol=1e-12)
    assert abs(state.v[1] - state.v[0]) > 1e-5
