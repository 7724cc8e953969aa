"""`stiction doctor`: of each finding a file that has it and one that has it not."""

from __future__ import annotations

import json
import re
from pathlib import Path

import gymnasium
import numpy as np
import pytest
import stiction
from stiction.cli import app
from stiction.doctor import Diagnosis, Finding, examine
from stiction.doctor.loader_messages import ANY_MJCF
from stiction.doctor.meshes import is_closed
from typer.testing import CliRunner

INERTIA = '<inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/>'
URDF = f"""<robot name="arm">
  <link name="base">
    <inertial><mass value="2"/>{INERTIA}</inertial>
    <collision><geometry><box size="0.3 0.3 0.2"/></geometry></collision>
  </link>
  <joint name="hinge" type="revolute">
    <parent link="base"/><child link="arm"/><origin xyz="0 0 0.5"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="10" velocity="5"/>
  </joint>
  <link name="arm">
    <inertial><mass value="1"/>{INERTIA}</inertial>
    <collision><geometry><box size="0.2 0.2 0.2"/></geometry></collision>
  </link>
</robot>
"""
CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)] + [(0, 0, -0.9)])
SIDES = [(0, 2, 6), (0, 6, 4), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 1, 3), (0, 3, 2),
         (4, 6, 7), (4, 7, 5)]  # fmt: skip
TOPS = {
    "whole": [(1, 5, 7), (1, 7, 3)],
    "open": [],
    "hollow": [(1, 5, 8), (5, 7, 8), (7, 3, 8), (3, 1, 8)],
}
"""A cube of edge 2 with a lid, without, and with a pit of a third of it in its place."""
PIT = 8.0 / (8.0 - 4.0 * 1.9 / 3.0)
"""Volume of the hull of the last over its own."""


def mesh_asset() -> str:
    """All three as MJCF."""
    parts = []
    for name, top in TOPS.items():
        used = CORNERS if name == "hollow" else CORNERS[:8]
        vertex = " ".join(f"{x:g}" for x in used.ravel())
        face = " ".join(str(k) for triangle in SIDES + top for k in triangle)
        parts.append(f'<mesh name="{name}" scale="0.1 0.1 0.1" vertex="{vertex}" face="{face}"/>')
    return f"  <asset>{''.join(parts)}</asset>\n"


def write_obj(path: Path, name: str) -> None:
    used = CORNERS if name == "hollow" else CORNERS[:8]
    rows = [f"v {x:g} {y:g} {z:g}" for x, y, z in 0.1 * used]
    rows += ["f " + " ".join(str(k + 1) for k in triangle) for triangle in SIDES + TOPS[name]]
    path.write_text("\n".join(rows) + "\n")


MJCF = """<mujoco>
  <option timestep="0.002"/>
{asset}  <worldbody>
    <geom name="floor" type="plane" size="5 5 1"/>
    <body name="cart" pos="0 0 0.5">
      <joint name="slider" type="slide" axis="1 0 0" range="-1 1" limited="true"/>
      <geom name="box" type="box" size="0.1 0.1 0.1"/>
      <body name="pole" pos="0 0 0.4">
        <joint name="hinge" type="hinge" axis="0 1 0" range="-90 90" limited="true"/>
        <geom name="rod" type="capsule" size="0.05 0.1"/>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position name="servo" joint="hinge" kp="20" forcerange="-9 9" forcelimited="true"/>
  </actuator>
</mujoco>
""".replace("{asset}", mesh_asset())
ARM_BOX = '<box size="0.2 0.2 0.2"/>'
ARM_MASS = '<mass value="1"/>'

# (check, severity, what is replaced, by what, part of the text, value)
URDF_FINDINGS: list[tuple[str, str, str, str, str, float | None]] = [
    ("mass", "warning", '<joint name="hinge" type="revolute">\n    <parent link="base"/>',
     '<link name="m"/><joint name="first" type="continuous"><parent link="base"/><child link="m"/>'
     '</joint><joint name="hinge" type="revolute">\n    <parent link="m"/>',
     "link 'm' moves but has no <inertial>", None),
    ("load", "error", f"    <inertial>{ARM_MASS}{INERTIA}</inertial>\n", "",
     "joint 'hinge' moves no inertia", None),
    ("inertia", "warning", f"{ARM_MASS}{INERTIA}",
     f'{ARM_MASS}{INERTIA.replace("0.01", "0.03", 1)}',
     "inertia violates the triangle inequality", None),
    ("load", "error", f"{ARM_MASS}{INERTIA}",
     f'{ARM_MASS}{INERTIA.replace("0.01", "-0.01", 1)}', "inertia is not positive", None),
    ("inertia", "warning", f"{ARM_MASS}{INERTIA}", f'{ARM_MASS}{INERTIA.replace("0.01", "0.1")}',
     "that of mass 0.387 m from the centre of mass, its shapes reach 0.173 m", 0.387),
    ("inertia", "warning", f"{ARM_MASS}{INERTIA}", f'{ARM_MASS}{INERTIA.replace("0.01", "1e-8")}',
     "nearly a point", 1.22e-4),
    ("inertia", "warning", ARM_MASS, f'<origin xyz="0.4 0 0"/>{ARM_MASS}',
     "its centre of mass is 0.3 m outside the box of its shapes", 0.3),
    ("density", "warning", ARM_BOX, '<box size="0.8 0.8 0.4"/>', "is 3.91 kg/m^3", 3.91),
    ("density", "warning", ARM_MASS, '<mass value="300"/>', "is 3.75e+04 kg/m^3", 3.75e4),
    ("mass ratio", "note", f'<mass value="1"/>{INERTIA}',
     f'<mass value="1e-4"/>{INERTIA.replace("0.01", "1e-6")}', "by a factor of 2e+04", 2e4),
    ("limits", "error", 'lower="-1" upper="1"', 'lower="1" upper="-1"',
     "limit lower=1 is above upper=-1", 2.0),
    ("limits", "warning", 'lower="-1" upper="1" ', "", "locks the joint at 0", None),
    ("limits", "note", 'velocity="5"', 'velocity="0"', "velocity limit 0 is taken", None),
    ("effort", "warning", 'effort="10"', 'effort="0"', "effort limit 0 is taken as no limit", None),
    ("armature", "note", 'effort="10"', 'effort="9000"',
     "its full effort, 9000 N m, turns M = 0.01 kg m^2 by 900 rad/s", 900.0),
    ("start pose", "warning", 'lower="-1"', 'lower="0.5"',
     "joint 'hinge' starts at 0 rad in 'default', outside its limits [0.5, 1]", 0.0),
    ("start overlap", "warning", "</robot>",
     f'<link name="hand"><inertial>{ARM_MASS}{INERTIA}</inertial><collision><geometry>{ARM_BOX}'
     '</geometry></collision></link><joint name="wrist" type="continuous"><parent link="arm"/>'
     '<child link="hand"/><origin xyz="0 0 -0.35"/></joint></robot>',
     "overlaps at the start and cannot collide: base / hand 50 mm", None),
    ("unused", "note", "<robot name=\"arm\">", "<robot name=\"arm\"><gazebo/>", "<gazebo>", None),
    ("unused", "warning", "<axis", '<dynamics mu_coulomb="1"/><axis', "'mu_coulomb'", None),
    ("friction", "warning", "</robot>",
     '<gazebo reference="arm"><mu1>0.3</mu1></gazebo></robot>', "<mu1> 0.3 of arm is not", 0.3),
    ("friction", "warning", '<link name="arm">',
     '<link name="arm"><contact><lateral_friction value="0.7"/></contact>', "0.7 of arm", 0.7),
    ("mesh", "error", ARM_BOX, '<mesh filename="package://robots/arm.stl"/>',
     "link 'arm': collision mesh 'package://robots/arm.stl' is missing", None),
    ("mesh", "note", "  <link name=\"arm\">",
     '  <link name="arm"><visual><geometry><mesh filename="a.stl"/></geometry></visual>',
     "link 'arm': visual mesh 'a.stl' is missing", 1.0),
    ("unit", "warning", 'lower="-1" upper="1"', 'lower="-90" upper="90"',
     "joint 'hinge' reaches 90 rad", 90.0),
    ("load", "error", '<child link="arm"/>', '<child link="amr"/>', "'amr' does not exist", None),
]  # fmt: skip

MJCF_FINDINGS: list[tuple[str, str, str, str, str, float | None]] = [
    ("start pose", "warning", 'range="-1 1"', 'range="0.5 1"', "joint 'slider' starts at 0 m", 0.0),
    ("limits", "note", ' range="-1 1" limited="true"', "", "joint 'slider' has no limits", 1.0),
    ("limits", "note", 'name="slider"', 'name="slider" margin="-.01"', "margin of its limit", None),
    ("effort", "note", ' forcerange="-9 9" forcelimited="true"', "", "1 position servos", 1.0),
    ("gains", "note", 'kp="20"', 'kp="20" kv="100"', "(dt^2 kp + 2 dt kd) / M = ", None),
    ("density", "warning", 'size="0.1 0.1 0.1"', 'size="0.1 0.1 0.1" density="5"',
     "is 5 kg/m^3, lighter than foam", 5.0),
    ("density", "warning", 'size="0.1 0.1 0.1"', 'size="0.1 0.1 0.1" density="50000"',
     "is 5e+04 kg/m^3, more than any metal", 5e4),
    ("start overlap", "warning", 'pos="0 0 0.5"', 'pos="0 0 0.07"',
     "'floor' and 'box' overlap by 30 mm at the start", 30.0),
    ("start overlap", "warning", '<body name="cart" pos="0 0 0.5">',
     '<geom name="post" type="box" size=".02 .02 .5"/><body name="cart" pos="0 0 0.5">',
     "'post' and 'box' overlap by", None),
    ("friction", "warning", 'name="rod"', 'name="rod" priority="1" condim="1"',
     "1 shape has friction 0: rod", 0.0),
    ("friction and rest", "warning", 'name="rod"', 'name="rod" margin="-0.01"', "margin", None),
    ("engine", "note", '<body name="pole"', '<body name="pole" gravcomp="1"', "gravcomp", None),
    ("unused", "note", "</actuator>", '</actuator><sensor><e_potential/></sensor>',
     "sensor", None),
    ("compiler", "note", "<mujoco>", '<mujoco><compiler settotalmass="3"/>', "deprecated", None),
    ("inertia", "warning", '<geom name="box"',
     '<inertial pos="0 0 0.4" mass="1" diaginertia="1e-2 1e-2 1e-2"/><geom name="box"',
     "its centre of mass is", None),
    ("inertia", "warning", '<geom name="box"',
     '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom name="box"',
     "that of mass 1.22 m from the centre of mass", 1.2247),
    ("mesh", "note", 'type="capsule" size="0.05 0.1"', 'type="mesh" mesh="open"',
     "its mesh is not a closed surface", None),
    ("hull", "warning", 'type="capsule" size="0.05 0.1"', 'type="mesh" mesh="hollow"',
     "hull volume / mesh volume = 1.46", PIT),
    ("unit", "warning", "<mujoco>", '<mujoco><compiler angle="radian"/>',
     "joint 'hinge' reaches 90 rad", 90.0),
    ("unit", "warning", 'range="-90 90"', 'range="0 3600"',
     "joint 'hinge' reaches 62.83 rad", 62.8),
    ("unit", "note", 'timestep="0.002"', 'timestep="0.002" gravity="0 -9.8 1e-15"',
     "it is sideways", 9.8),
    ("unit", "note", 'range="-90 90"', 'range="-1.5 1.57"',
     "hinges reach 1.57 degrees at most: hinge", 0.0274),
    ("unit", "warning", 'timestep="0.002"', 'timestep="0.002" gravity="0 0 9.8"',
     "gravity is 0 0 9.8 m/s^2: it points up", 9.8),
    ("unit", "warning", 'timestep="0.002"', 'timestep="0.002" gravity="0 0 9810"',
     "gravity is 0 0 9810 m/s^2", 9810.0),
    ("load", "error", 'joint="hinge"', 'joint="hing"', "hing", None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("stops", "said"),
    [("-1.57 1.57", True), ("0 0.785", True), ("-3.1416 3.1416", True), ("-1.5 1.57", False),
     ("-90 90", False), ("-0.1 0.1", False), ("-4 4", False)],
)  # fmt: skip
def test_a_hinge_in_radians_among_others_in_degrees(stops: str, said: bool, tmp_path: Path) -> None:
    file = tmp_path / "arm.xml"
    file.write_text(
        f"""<mujoco><worldbody>
        <body><joint name="wide" range="-120 120" limited="true"/><geom size=".1"/>
        <body pos="0 0 1"><joint name="odd" range="{stops}" limited="true"/><geom size=".1"/>
        </body></body></worldbody></mujoco>"""
    )
    found = [f for f in examine(file).findings if f.check == "unit"]
    assert [("odd" in f.text, f.severity) for f in found] == [(True, "note")] * said


def test_fixes_of_mjcf_are_those_of_the_element() -> None:
    """Of every message of the file that has one of each kind: none is the last resort."""
    found = examine(Path(__file__).parents[1] / "data" / "mjcf" / "unsupported.xml")
    unused = [f for f in found.findings if f.check == "unused"]
    assert len(unused) > 8 and not [f.text for f in unused if f.fix == ANY_MJCF]
    fixes = {f.text: f.fix for f in unused}
    (moving,) = [f.fix for f in found.findings if "gravcomp" in f.text]
    (muscle,) = [fix for text, fix in fixes.items() if "actuator 'muscle'" in text]
    assert "simulation()" in moving and "control.torque" in muscle


def looked_at(tmp_path: Path, name: str, text: str, **options: float) -> Diagnosis:
    path = tmp_path / name
    path.write_text(text)
    return examine(path, **options)


def matching(found: Diagnosis, check: str, severity: str, text: str) -> list[Finding]:
    return [f for f in found.of(severity) if f.check == check and text in f.text]


@pytest.mark.parametrize("row", URDF_FINDINGS, ids=lambda row: f"{row[0]}: {row[3][:30]}")
def test_each_finding_of_a_urdf(tmp_path: Path, row: tuple[str, ...]) -> None:
    one_finding(tmp_path, "arm.urdf", URDF, row)


@pytest.mark.parametrize("row", MJCF_FINDINGS, ids=lambda row: f"{row[0]}: {row[3][:30]}")
def test_each_finding_of_an_mjcf(tmp_path: Path, row: tuple[str, ...]) -> None:
    one_finding(tmp_path, "cart.xml", MJCF, row)


def one_finding(tmp_path: Path, name: str, text: str, row: tuple[str, ...]) -> None:
    """It is there in the changed file, at the line of the change, and not in the other."""
    check, severity, before, after, words, value = row
    assert text.count(before) >= 1
    assert not matching(looked_at(tmp_path, name, text), check, severity, words)
    changed = text.replace(before, after, 1)
    found = matching(looked_at(tmp_path, name, changed), check, severity, words)
    assert len(found) == 1, looked_at(tmp_path, name, changed).findings
    assert found[0].fix and found[0].file == str(tmp_path / name)
    if value is not None:
        assert found[0].value == pytest.approx(value, rel=5e-3)


def test_sound_models_have_nothing_wrong(tmp_path: Path) -> None:
    assert looked_at(tmp_path, "arm.urdf", URDF).findings == ()
    found = looked_at(tmp_path, "cart.xml", MJCF)
    assert [f.check for f in found.findings] == ["engine"]  # rigid, whatever solref says
    for name in ("box-stack(3)", "ball-drop", "cube-slide"):
        assert examine(name).findings == ()


def test_lines_are_those_of_the_elements(tmp_path: Path) -> None:
    lines = URDF.splitlines()
    for before, after, check, at in (
        ('lower="-1"', 'lower="0.5"', "start pose", '<joint name="hinge"'),
        (ARM_MASS, '<mass value="300"/>', "density", '<mass value="1"/>'),
        ('lower="-1" upper="1"', 'lower="2" upper="1"', "limits", "<limit"),
    ):
        found = looked_at(tmp_path, "arm.urdf", URDF.replace(before, after))
        (one,) = [f for f in found.findings if f.check == check]
        assert at in lines[one.line - 1]
    found = looked_at(tmp_path, "cart.xml", MJCF.replace('range="-1 1"', 'range="0.5 1"'))
    (one,) = [f for f in found.findings if f.check == "start pose"]
    assert '<joint name="slider"' in MJCF.splitlines()[one.line - 1]


@pytest.mark.parametrize("mesh", TOPS)
def test_meshes_are_closed_where_exact_ones_are(mesh: str) -> None:
    used = CORNERS if mesh == "hollow" else CORNERS[:8]
    triangles = np.array(SIDES + TOPS[mesh])
    turned = np.vstack([triangles[:1, ::-1], triangles[1:]])  # one face inside out
    double = np.vstack([triangles, triangles[:1]])
    for some in (triangles, turned, double):
        exact = stiction.TriangleMesh(used, some, drop_degenerate=True)
        assert is_closed(used, some) == exact.closed
    apart = used[triangles.ravel()]  # as STL has them: each triangle its own vertices
    assert is_closed(apart, np.arange(len(apart)).reshape(-1, 3)) == (mesh != "open")


@pytest.mark.parametrize("mesh", TOPS)
def test_meshes_of_a_urdf(tmp_path: Path, mesh: str) -> None:
    write_obj(tmp_path / "arm.obj", mesh)
    text = URDF.replace(ARM_BOX, '<mesh filename="arm.obj"/>')
    found = looked_at(tmp_path, "arm.urdf", text)
    open_ones = matching(found, "mesh", "note", "is not a closed surface")
    hulls = matching(found, "hull", "warning", "is replaced by its convex hull")
    assert len(open_ones) == (mesh == "open")
    assert len(hulls) == (mesh != "whole")
    if mesh == "hollow":
        assert hulls[0].value == pytest.approx(PIT, rel=5e-3)


def test_gains_are_judged_by_the_step_that_they_would_have(tmp_path: Path) -> None:
    """At the bound a loop of one's own goes from stable to unstable; M is that of the joint."""
    path = tmp_path / "arm.urdf"
    path.write_text(URDF)
    kp, dt = 100.0, 1e-3
    scene = stiction.load(path, free_flyer=False, ground=False)
    scene.parameters.gravity[:] = 0.0
    scene.parameters.lower[:], scene.parameters.upper[:] = -np.inf, np.inf
    M, grew = 0.01, []
    for share in (0.95, 1.05):
        kd = share * (4.0 * M - dt * dt * kp) / (2.0 * dt)
        found = examine(path, dt=dt, kp=kp, kd=kd, free_flyer=False)
        assert len(matching(found, "gains", "note", "joint 'hinge'")) == (share > 1.0)
        sim = stiction.Simulator(scene, dt=dt)
        state, control = sim.initial_state(), sim.hold()
        state.v = [1e-3]
        for _ in range(400):
            control.torque = [-kp * float(state.q[0]) - kd * float(state.v[0])]
            sim.step(state, control)
        grew.append(abs(state.v[0]) > 1e-3)
    assert grew == [False, True]
    armed = stiction.load(path, free_flyer=False)
    (gain,) = matching(found, "gains", "note", "joint 'hinge'")
    least = float(re.search(r"armature of ([0-9.e-]+)", gain.fix).group(1))  # type: ignore[union-attr]
    number = (dt * dt * kp + 2 * dt * kd) / (M + least)
    assert number == pytest.approx(4.0, rel=0.02) and armed.nv == 1


def test_more_than_the_first_error_of_a_urdf_is_told(tmp_path: Path) -> None:
    text = URDF.replace('lower="-1" upper="1"', 'lower="1" upper="-1"')
    text = text.replace(ARM_BOX, '<mesh filename="none.stl"/>')
    errors = looked_at(tmp_path, "arm.urdf", text).of("error")
    assert [f.check for f in errors] == ["limits", "mesh"]


def test_files_that_cannot_be_read_are_refused_in_words(tmp_path: Path) -> None:
    for name in ("a.urdf.xacro", "a.xacro", "a.urdf", "b.txt", "c.srdf"):
        (tmp_path / name).write_text(
            '<robot xmlns:xacro="x"><xacro:property name="w" value="1"/></robot>'
        )
    for name, text in {
        "a.urdf.xacro": f"xacro {tmp_path}/a.urdf.xacro > {tmp_path}/a.urdf",
        "a.xacro": f"xacro {tmp_path}/a.xacro > {tmp_path}/a.urdf",
        "a.urdf": f"xacro {tmp_path}/a.urdf > {tmp_path}/a_expanded.urdf",
        "b.txt": "only URDF (.urdf), MJCF (.xml, .mjcf) and saved scenes (.stiction) can be read, "
        "not .txt",
        "c.srdf": "an SRDF says nothing by itself: stiction doctor ROBOT.urdf --srdf",
        "none.urdf": "none.urdf: no such file",
        "": "is a folder",
    }.items():
        with pytest.raises(stiction.StictionError, match=re.escape(text)):
            examine(tmp_path / name)
    with pytest.raises(ValueError, match="box-stick"):
        examine("box-stick")
    with pytest.raises(TypeError, match="only for URDF files"):
        examine("box-stack", srdf="a.srdf")


def test_the_command_prints_and_exits_as_it_found(tmp_path: Path) -> None:
    def run(text: str, *options: str) -> tuple[int, str]:
        path = tmp_path / "arm.urdf"
        path.write_text(text)
        result = CliRunner().invoke(app, ["doctor", str(path), *options])
        if result.exit_code == 0:
            assert result.stderr == ""
        else:
            assert re.fullmatch(f"stiction: {path}: 1 (error|warning)\n", result.stderr)
        return result.exit_code, result.stdout

    warned = URDF.replace('effort="10"', 'effort="0"')
    broken = URDF.replace('lower="-1"', 'lower="7"')
    assert run(URDF, "--strict") == (
        0,
        f"{tmp_path}/arm.urdf: 2 bodies, 7 dofs: 0 errors, 0 warnings, 0 notes\n",
    )
    code, out = run(warned)
    assert code == 0 and "warnings (1)\n  arm.urdf:8: joint 'hinge': effort limit 0" in out
    assert "      fix: write the motor's largest effort\n" in out
    assert run(warned, "--strict")[0] == 1
    code, out = run(broken)
    assert code == 1 and out.startswith("errors (1)\n  arm.urdf:8: joint 'hinge': limit lower=7")
    code, out = run(broken, "--json")
    document = json.loads(out)
    assert code == 1 and document["counts"] == {"error": 1, "warning": 0, "note": 0}
    assert document["findings"][0]["line"] == 8 and document["findings"][0]["value"] == 6.0
    result = CliRunner().invoke(app, ["doctor", str(tmp_path / "a.xacro")])
    assert result.exit_code == 1 and "expand it first: xacro" in result.stderr


def test_findings_that_are_alike_are_folded() -> None:
    ant = Path(gymnasium.__file__).parent / "envs/mujoco/assets/ant.xml"
    out = CliRunner().invoke(app, ["doctor", str(ant)]).stdout
    assert out.count("lighter than foam") == 3
    assert "and 6 more: lines 38, 41, 49, 52, 60, 63\n      fix: look at mass or density" in out
    told = json.loads(CliRunner().invoke(app, ["doctor", str(ant), "--json"]).stdout)
    assert sum(f["check"] == "density" for f in told["findings"]) == 9
