"""Robots of example-robot-data as they are: set on the ground and held, with default settings.

By default every third file; STICTION_ALL_ROBOTS=1 takes all 69 (.ci/run).
"""

from __future__ import annotations

import json
import os
import re
import warnings
from pathlib import Path

import numpy as np
import pinocchio
import pytest
import stiction
from stiction_lab.bench.robot_tables import robot_markdown, write_robot_page
from stiction_lab.bench.robots import RobotRow, example_robots, measure_robot, set_gains_by_mass

ROBOTS = example_robots()[0].parents[2]
BROKEN = {
    "alex_psyonic_hands.urdf": r":1037: joint 'Left_index_q2': <mimic joint='index_q1'> does not",
    "romeo.urdf": r":1045: robot 'romeo': joint 'LFinger21' moves no inertia",
    "romeo_laas_small.urdf": r":359: link 'LHipPitch_link': inertia is not positive",
    "ur3.urdf": r":6: <robot> has no attribute 'name'",
}
"""Files that are wrong, and what is said of them."""
SOUND = [path for path in example_robots() if path.name not in BROKEN]
CHOSEN = SOUND if os.environ.get("STICTION_ALL_ROBOTS") else SOUND[1::3]
LOCKED = "kinova.urdf"
"""Two pairs of its wrist's hulls are face to face across the axis of joint 5."""
LOCKING = "centauro.urdf"
"""Four locked wheels with two contacts each: some steps end with a residual of 1e-7."""
BLOCKED = "anymal-kinova.urdf"
"""Its arm starts out of three limits, and cannot be brought back past a hip and the base."""
OVERLAPPING = ("go2.urdf", "solo12.urdf", "hyq_no_sensors.urdf", "icub_reduced.urdf")


def find(name: str) -> Path:
    return next(path for path in example_robots() if path.name == name)


@pytest.mark.parametrize("path", CHOSEN, ids=lambda path: path.stem)
def test_a_robot_stands_with_default_settings(path: Path) -> None:
    row = measure_robot(path)
    assert row.failures() == []
    assert row.steps == row.ok == 2000


def test_a_step_that_locks_ends_with_what_is_acceptable() -> None:
    """A residual of 1e-8 to 1e-6 that is all that cheap stages reach; the report says so."""
    with warnings.catch_warnings(action="ignore"):
        scene = stiction.load(find(LOCKING))
    set_gains_by_mass(scene)
    sim = stiction.Simulator(scene)
    state, control = sim.initial_state(), sim.hold()
    acceptable = 0
    for _ in range(100):
        report = sim.step(state, control)
        assert report.status == "ok" and report.residuals.relative <= report.tolerance
        if report.tolerance > 1e-8:
            assert report.tolerance == pytest.approx(1e-6) and report.solver_status == "converged"
            acceptable += 1
            assert report.factorisations < 600  # scattered starts would take the whole budget
    assert acceptable >= 1


def test_floating_robots_start_on_the_ground() -> None:
    """By the boxes about their shapes."""
    for path in SOUND[::9]:
        with warnings.catch_warnings(action="ignore"):
            scene = stiction.load(path)
        sim = stiction.Simulator(scene)
        poses = sim.body_poses(sim.initial_state())
        shapes = [(i, g) for i, g in enumerate(scene.geometries) if g.body >= 0]
        placed = [
            (g.shape, poses[g.body] * scene.parameters.geometry_placement(i)) for i, g in shapes
        ]
        lowest = min((stiction.bounding_box(*one)[0][2] for one in placed), default=0.0)
        assert abs(lowest) < 1e-12, path.name


@pytest.mark.parametrize("name", OVERLAPPING)
def test_overlapping_links_do_not_throw_a_robot(name: str) -> None:
    row = measure_robot(find(name), 0.2)
    assert row.failures() == [] and row.pairs_off > 0


def test_links_that_lock_a_joint_are_off() -> None:
    with pytest.warns(stiction.LoadWarning):
        scene = stiction.load(find(LOCKED))
    (message,) = [m for m in scene.messages if m.kind == "overlap"]
    assert message.text.count("whichever way 'j2s6s200_joint_5' moves") == 2
    row = measure_robot(find(LOCKED), 0.2)
    assert row.failures() == [] and row.ok == 200


def test_an_arm_that_is_blocked_on_its_way_into_its_limits_rests() -> None:
    row = measure_robot(find(BLOCKED), 0.5)
    assert row.failures() == [] and row.ok == 500
    assert row.kick_on < 1.5


def test_all_files_are_sound_or_say_why_not() -> None:
    assert len(example_robots()) == 69 and len(SOUND) == 65
    for name, words in BROKEN.items():
        with pytest.raises(stiction.StictionError, match=re.escape(name) + words) as caught:
            stiction.load(find(name))
        assert "\n" not in str(caught.value)


def test_the_warning_is_one_short_line() -> None:
    path = find("tiago_dual.urdf")  # 76 pairs, 16 elements not used
    with pytest.warns(stiction.LoadWarning) as caught:
        scene = stiction.load(path)
    assert len(caught) == 1 and caught[0].filename == __file__
    text = str(caught[0].message)
    assert text.startswith("tiago_dual.urdf: 76 pairs of links overlap at the start and cannot")
    assert len(text) < 700 and "\n" not in text
    (message,) = [m for m in scene.messages if m.kind == "overlap"]
    assert message.text.count(" mm") == 76, "the message itself lists every pair"


def test_kept_overlaps_are_contacts() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stiction.LoadWarning)
        scene = stiction.load(find("go2.urdf"))
        kept = stiction.load(find("go2.urdf"), keep_overlapping_pairs=True)
    at = stiction.Simulator(scene).initial_state().q

    def depths(scene: stiction.Scene) -> list[float]:
        near = scene.distances(at, max_distance=0.0)
        return sorted(round(-d.distance * 1e3, 1) for d in near if d.geometry_a != 0)  # the ground

    assert depths(scene) == [] and depths(kept) == [7.1, 7.6]


def overlapping_model() -> tuple[pinocchio.Model, pinocchio.GeometryModel]:
    """Three links in a line, each with a ball; the outer two overlap by 2 cm."""
    model, geometry = pinocchio.Model(), pinocchio.GeometryModel()
    model.name = "line"
    parent = 0
    for i in range(3):
        X = pinocchio.SE3(np.eye(3), np.array([0.04 * i, 0.0, 0.0]))
        parent = model.addJoint(parent, pinocchio.JointModelRZ(), X, f"joint{i}")
        model.appendBodyToJoint(parent, pinocchio.Inertia.Random(), pinocchio.SE3.Identity())
        import coal

        geometry.addGeometryObject(
            pinocchio.GeometryObject(
                f"ball{i}", parent, pinocchio.SE3.Identity(), coal.Sphere(0.07)
            )
        )
    return model, geometry


def test_models_of_pinocchio_are_treated_alike() -> None:
    model, geometry = overlapping_model()
    with pytest.warns(stiction.LoadWarning, match="ball0 / ball2|joint0 / joint2") as caught:
        scene = stiction.Scene(model, geometry)
    assert caught[0].filename == __file__
    assert not scene.pair_enabled(0, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = stiction.Scene(model, geometry, keep_overlapping_pairs=True)
    assert kept.pair_enabled(0, 2)


def test_a_row_says_what_is_wrong() -> None:
    def row(**values: float) -> list[str]:
        return RobotRow("r", kick_joint="j", **({"steps": 10, "ok": 10} | values)).failures()  # type: ignore[arg-type]

    assert row() == row(kick_on=4.9) == row(kick_on=29.0, kick_off=10.0) == []
    assert row(ok=9) == ["1 of 10 steps not ok"]
    assert row(kick_on=5.1) == ["j 5.1 against 0.0 per s"]
    assert row(lift=0.002) == ["energy of 2.0 mm of height appeared"]


def test_the_page_of_the_manual_shows_the_stored_rows() -> None:
    root = Path(__file__).parents[2]
    files = [json.loads(f.read_text()) for f in (root / "benchmarks/results").glob("*.json")]
    (stored,) = [f["robots"] for f in files if "robots" in f]
    assert len(stored["rows"]) == 69 and stored["seconds"] == 2.0
    page = (root / "docs/robots.md").read_text()
    assert robot_markdown(stored["rows"]) in page, (
        "run stiction bench robots --results benchmarks/results --markdown docs/robots.md"
    )


def test_the_page_keeps_what_stands_around_the_table(tmp_path: Path) -> None:
    page = tmp_path / "robots.md"
    page.write_text("before\n<!-- table: begin -->old<!-- table: end -->\nafter\n")
    rows = [RobotRow("a.urdf", steps=10, ok=9).as_dict(), RobotRow("b.urdf", error="why").as_dict()]
    write_robot_page(page, rows)
    text = page.read_text()
    assert text.startswith("before\n<!--") and text.endswith("-->\nafter\n") and "old" not in text
    assert robot_markdown(rows) in text and "0 of 2 files pass" in text
    page.write_text("nothing")
    with pytest.raises(ValueError, match="has no <!-- table: begin"):
        write_robot_page(page, rows)


def test_a_joint_may_be_called_as_pinocchios_free_one() -> None:
    inertia = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    link = f'<link name="{{}}"><inertial><mass value="1"/>{inertia}</inertial></link>'
    hinge = '<joint name="root_joint" type="continuous"><parent link="a"/><child link="b"/></joint>'
    text = f'<robot name="r">{link.format("a")}{link.format("b")}{hinge}</robot>'
    robot = stiction.load_urdf_string(text)
    scene = stiction.Scene()
    scene.add_robot(robot)
    assert scene.joint_names == ["root_joint_", "root_joint"] and scene.nv == 7
