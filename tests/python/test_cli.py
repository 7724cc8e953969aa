"""The command line: JSON alone, one line on failure, pages where they were asked for."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
import stiction
from command_calls import document, failure, invoke
from stiction.cli_summary import millimetres

COMMANDS = (
    ["run"],
    ["view"],
    ["demo"],
    ["compare"],
    ["explain"],
    ["check-gradients"],
    ["doctor"],
    ["scenes"],
    ["solvers"],
    ["bench"],
    ["bench", "step"],
    ["bench", "all"],
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help(command: list[str]) -> None:
    result = invoke(*command, "--help")
    assert result.exit_code == 0 and "Usage" in result.stdout


@pytest.mark.parametrize("command", [c for c in COMMANDS if c != ["bench"]], ids=" ".join)
def test_every_command_offers_json(command: list[str]) -> None:
    assert "--json" in invoke(*command, "--help").stdout


def test_run_reports_the_certificate() -> None:
    got = document("run", "box-stack(3)", "--seconds", "0.2")
    assert (
        got["scene"] == "box-stack(3)"
        and got["steps"] == 200
        and got["seconds"] == pytest.approx(0.2)
    )
    assert got["residual"]["max"] < 1e-6 and got["penetration"]["max"] < 1e-3
    assert sum(got["status"].values()) == 200 and got["us_per_step"] > 0 and got["replay"] is None
    assert got["contacts"]["mean"] == pytest.approx(12.0)


def test_run_prints_a_table() -> None:
    result = invoke("run", "box-stack(2)", "--seconds", "0.1")
    assert result.exit_code == 0 and result.stderr == ""
    for words in ("time per step", "relative residual", "penetration", "contacts"):
        assert words in result.stdout


def test_run_writes_a_replay(tmp_path: Path) -> None:
    page = tmp_path / "run.html"
    got = document(
        "run", "solo12", "--seconds", "0.2", "--configuration", "standing", "--replay", page
    )
    assert got["replay"] == str(page) and page.stat().st_size > 100_000


ARM = """<robot name="arm">
  <link name="base"/>
  <joint name="elbow" type="revolute">
    <parent link="base"/><child link="fore"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="99" velocity="9"/>
  </joint>
  <link name="fore"><inertial><origin xyz="0.5 0 0"/><mass value="1"/>
    <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
</robot>
"""
SRDF = """<robot name="arm"><group_state name="bent" group="all">
  <joint name="elbow" value="0.5"/></group_state></robot>
"""
FREE = "stiction: no servos: joints are free; --kp/--kd hold the configuration"


def test_run_says_that_joints_are_free(tmp_path: Path) -> None:
    urdf = tmp_path / "arm.urdf"
    urdf.write_text(ARM)
    free = invoke("run", urdf, "--fixed-base", "--seconds", "0.1")
    assert free.exit_code == 0 and free.stderr.strip().splitlines() == [FREE]
    held = invoke("run", urdf, "--fixed-base", "--seconds", "0.1", "--kp", "100", "--kd", "5")
    assert held.exit_code == 0 and held.stderr == ""


def test_run_reads_a_robot_as_told(tmp_path: Path) -> None:
    urdf, srdf = tmp_path / "arm.urdf", tmp_path / "arm.srdf"
    urdf.write_text(ARM)
    srdf.write_text(SRDF)
    options = ("--fixed-base", "--srdf", srdf, "--package-dir", tmp_path, "--kp", "1e5")
    got = document("run", urdf, *options, "--kd", "1e3", "--configuration", "bent")
    assert got["configuration"] == "bent" and got["contacts"]["max"] == 0
    assert got["energy"]["first"] == pytest.approx(-9.81 * 0.5 * math.sin(0.5), abs=1e-6)
    assert abs(got["energy"]["last"] - got["energy"]["first"]) < 1e-3, "the servo holds it"
    assert "are for URDF files, not for 'solo12'" in failure("run", "solo12", "--fixed-base")


TWO = (
    """<robot name="two"><link name="base"><inertial><mass value="1"/><inertia ixx="1" iyy="1"
izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>"""
    + "".join(
        f"""<link name="l{k}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0"
ixz="0" iyz="0"/></inertial><collision><geometry>
<sphere radius="0.2"/></geometry></collision></link>
<joint name="j{k}" type="prismatic"><parent link="base"/><child link="l{k}"/><axis xyz="0 0 1"/>
<origin xyz="{0.3 * k} 0 {k}"/><limit lower="-9" upper="9" effort="1" velocity="1"/></joint>"""
        for k in range(2)
    )
    + "</robot>"
)


def test_run_takes_the_settings_of_contacts(tmp_path: Path) -> None:
    urdf = tmp_path / "two.urdf"
    urdf.write_text(TWO.replace('xyz="0.3 0 1"', 'xyz="0.3 0 0"'))
    options = ("run", urdf, "--fixed-base", "--seconds", "0.01", "--kd", "1")
    kept = document(*options, "--keep-overlaps", "--recovery-speed", "0.1")
    none = document(*options, "--keep-overlaps", "--no-self-collision")
    assert kept["contacts"]["max"] == none["contacts"]["max"] + 1  # the others are the ground's
    assert "collision_meshes" in failure(*options, "--collision-meshes", "magic")
    soft = ("run", "box-stack(2)", "--seconds", "0.01", "--stiffness", "1e5")
    assert document(*soft, "--integrator", "exponential")["contacts"]["max"] > 0
    assert "magic" in failure(*soft, "--integrator", "magic")
    assert "stiffness" in failure("run", "box-stack(2)", "--stiffness", "-1")
    assert "--no-self-collision" in failure("run", "solo12", "--no-self-collision")
    assert "more than 1e+12 steps" in failure("run", "solo12", "--dt", "1e-300")


def test_pages_go_into_folders_that_exist(tmp_path: Path) -> None:
    page = tmp_path / "nowhere" / "run.html"
    for arguments in (("run", "solo12", "--replay"), ("view", "solo12", "--output")):
        assert f"there is no folder {page.parent}" in failure(*arguments, page)
    assert not page.parent.exists()


@pytest.mark.parametrize("command", ["step", "all"])
def test_bench_without_the_peer_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    line = failure("bench", command)
    assert line.startswith("stiction: the peer is not installed: ")
    assert "pip install mujoco==4.0.0" in line and line.endswith("or make bench")


def test_view_writes_a_page_and_starts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import webbrowser

    monkeypatch.setattr(webbrowser, "open", lambda *_: pytest.fail("a browser was started"))
    page = tmp_path / "view.html"
    result = invoke("view", "ball-drop", "--seconds", "0.3", "-o", page, "--no-open")
    assert result.exit_code == 0, result.stderr
    assert result.stdout.strip() == str(page) and page.is_file()
    shown = document("view", "ball-drop", "--seconds", "0.1")
    assert Path(shown["replay"]).is_file()


def test_scenes_and_solvers_are_listed() -> None:
    names = [row["name"] for row in document("scenes")]
    assert {"solo12", "talos", "box-stack", "ycb-pile"} <= set(names)
    table = invoke("scenes").stdout
    assert all(name in table for name in names)
    solvers = document("solvers")
    assert {row["name"] for row in solvers} == set(stiction.solvers())
    assert all(row["model"] and row["description"] for row in solvers)


def test_demo_stands_and_is_exact(tmp_path: Path) -> None:
    page = tmp_path / "demo.html"
    got = document("demo", "--output", page)
    assert Path(got["replay"]) == page and page.is_file()
    assert got["steps"] == 5000 and got["residual"]["median"] < 1e-6
    assert 0.2 < got["base_height"] < 0.3, "the robot fell"
    assert got["foot_drift"] < 1e-4 and got["contacts"]["max"] >= 4
    assert got["energy"]["first"] > got["energy"]["last"] > 0


def test_demo_ends_with_the_path_of_its_page(tmp_path: Path) -> None:
    page = tmp_path / "demo.html"
    result = invoke("demo", "--output", page)
    assert result.exit_code == 0 and result.stdout.strip().splitlines()[-1] == str(page)
    assert "foot drift" in result.stdout and "without Python" in result.stdout


@pytest.mark.parametrize(
    ("metres", "text"), [(0.0, "< 1e-6"), (9e-10, "< 1e-6"), (1.4e-7, "0.00014"), (0.0123, "12")]
)
def test_lengths_have_no_exponent(metres: float, text: str) -> None:
    assert millimetres(metres) == text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "no-such-scene"), "no-such-scene"),
        (("run", "solo12", "--dt", "-1"), "dt"),
        (("run", "solo12", "--dt", "nan"), "'--dt': nan is not a time step"),
        (("run", "solo12", "--dt", "0"), "'--dt': 0 is not a time step"),
        (("compare", "solo12", "--dt", "inf"), "'--dt': inf is not a time step"),
        (("run", "solo12", "--solver", "magic"), "magic"),
        (("run", "solo12", "--configuration", "flying"), "flying"),
        (("run", "solo12", "--seconds", "0.0001"), "seconds"),
        (("view", "missing.urdf", "--no-open"), "missing.urdf"),
        (("run", "box-stack(0)"), "n = 0"),
        (("bench", "step", "--scene", "nowhere"), "nowhere"),
        (("bench", "step", "--peer", "nobody"), "nobody"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_failures_are_one_line(arguments: tuple[str, ...], words: str) -> None:
    if arguments[0] == "bench" and "nowhere" in arguments:
        pytest.importorskip("mujoco", reason="the peer is not installed: pip install mujoco")
    assert words in failure(*arguments)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "solo12", "--seconds", "inf"), "--seconds inf: must be finite"),
        (("view", "solo12", "--seconds", "inf"), "--seconds inf: must be finite"),
        (("run", "solo12", "--seconds", "0.0001"), "--seconds 0.0001 is less than one step"),
        (("demo", "--dt", "10"), "--dt 10: must be at most 0.1 s, the length of the shortest"),
        (("demo", "--dt", "inf"), "'--dt': inf is not a time step"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_options_without_sense_end_like_unknown_ones(
    arguments: tuple[str, ...], words: str
) -> None:
    assert words in failure(*arguments)
    assert invoke(*arguments).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run", "solo12", "--speed", "3"), "No such option: --speed"),
        (("run", "solo12", "more"), "unexpected extra argument"),
        (("run",), "SCENE"),
        (("run", "solo12", "--dt", "soon"), "'--dt'"),
        (("run", "solo12", "--dt"), "--dt"),
        (("run", "solo12", "--kp", "-1"), "--kp"),
        (("fly",), "'fly'"),
        (("bench", "fly"), "'fly'"),
        (("bench", "step", "solo12", "--effort", "much"), "--effort"),
        (("study", "gjk", "--nothing"), "--nothing"),
        (("bench", "step", "solo12", "--scene", "talos"), "--scene talos"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)
def test_wrong_command_lines_are_one_line(arguments: tuple[str, ...], words: str) -> None:
    assert words.lower() in failure(*arguments).lower()
    assert invoke(*arguments).exit_code == 2


@pytest.mark.parametrize("command", [(), ("bench",), ("study",)])
def test_without_a_command_there_is_help(command: tuple[str, ...]) -> None:
    result = invoke(*command)
    assert result.exit_code in (0, 2) and "Usage" in result.output


def test_bench_step_takes_the_scene_bare(monkeypatch: pytest.MonkeyPatch) -> None:
    from stiction_lab.bench import commands

    asked: list[str] = []
    monkeypatch.setattr(commands, "_measure", lambda scene, *_: asked.append(scene) or {})
    for arguments in (("talos",), ("--scene", "cube-drop"), ()):
        document("bench", "step", *arguments)
    assert asked == ["talos", "cube-drop", "solo12"]


def test_explain_says_the_cause(tmp_path: Path) -> None:
    options = ("explain", "solo12", "--configuration", "standing", "--steps", "20")
    page = tmp_path / "why.json"
    got = document(*options, "--base", "ccp-newton", "--output", page)
    sim = stiction.Simulator(stiction.load("solo12"))
    state, control = sim.initial_state("standing"), sim.hold("standing")
    sim.run(state, control, 20)
    want = sim.explain(state, control, "ccp-newton")
    assert got["scene"] == "solo12" and got["time"] == pytest.approx(0.02)
    assert got["cause"] == want.cause and got["difference"] == want.difference
    assert [t["hypothesis"] for t in got["trials"]] == [t.hypothesis for t in want.trials]
    assert json.loads(page.read_text()) == got and got["output"] == str(page)
    text = tmp_path / "why.txt"
    result = invoke(*options, "--output", text)
    assert result.exit_code == 0 and result.stdout == f"{want}\n{text}\n"
    assert text.read_text() == f"{want}\n"
    assert "'magic' is unknown" in failure("explain", "ball-drop", "--base", "magic")
    assert "there is no folder" in failure(*options, "--output", tmp_path / "no" / "a.json")


@pytest.mark.parametrize("command", ["compare", "explain"])
def test_problems_take_the_settings_of_contacts(command: str) -> None:
    options = (command, "box-stack(2)", "--steps", "5")
    stiff, soft = (document(*options, "--stiffness", k) for k in ("1e7", "1e3"))
    assert stiff != soft
    assert document(*options, "--recovery-speed", "0.1")["scene"] == "box-stack(2)"
    line = failure(*options, "--stiffness", "1e5", "--integrator", "exponential")
    assert "only semi-implicit-euler does" in line
    assert invoke(*options, "--integrator", "rk4").exit_code == 2
    assert "'magic' is unknown" in failure(*options, "--integrator", "magic")
    assert "stiffness" in failure(*options, "--stiffness", "-1")


def test_run_takes_a_damping_of_surfaces() -> None:
    options = ("run", "ball-drop", "--seconds", "1", "--integrator", "exponential")
    soft = (*options, "--stiffness", "1e4")
    hard, damped = (document(*soft, "--damping", d)["energy"]["last"] for d in ("0", "300"))
    assert damped < hard
    assert "--damping 3: needs a --stiffness" in failure("run", "ball-drop", "--damping", "3")


def test_run_tells_of_the_energy_that_corrections_added(tmp_path: Path) -> None:
    row = "energy that corrections of positions added [J], at most"
    file = tmp_path / "sunk.xml"
    file.write_text("""<mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 0.09">
      <freejoint/><geom type="sphere" size="0.1" mass="1"/></body></worldbody></mujoco>""")
    assert document("run", file, "--seconds", "0.1")["recovery_energy"] > 9.81 * 0.009  # the lift
    assert row in invoke("run", file, "--seconds", "0.1").stdout
    assert document("run", "box-stack(2)", "--seconds", "0.1")["recovery_energy"] < 1e-6
    assert row not in invoke("run", "box-stack(2)", "--seconds", "0.1").stdout


def test_demo_takes_an_integrator(tmp_path: Path) -> None:
    page = tmp_path / "demo.html"
    options = ("demo", "--output", page, "--integrator", "exponential")
    assert "needs a finite stiffness" in failure(*options)
    got = document(*options, "--stiffness", "1e5")
    assert got["steps"] == 5000 and got["base_height"] > 0.2
    assert got["penetration"]["max"] > 1e-5, "springs yield"


def test_module_is_the_command() -> None:
    package = str(Path(stiction.__file__).resolve().parents[1])
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([package, os.environ.get("PYTHONPATH", "")])
    }
    command = [sys.executable, "-m", "stiction", "scenes", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0 and json.loads(done.stdout) and done.stderr == ""


def test_version() -> None:
    assert stiction.__version__ in invoke("--version").stdout


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(stiction.StictionError, match=r"nothing\.urdf: no such file"):
        stiction.load(tmp_path / "nothing.urdf")
    assert "nothing.urdf: no such file" in failure("run", tmp_path / "nothing.urdf")
    assert "nothing.toml: no such file" in failure("sweep", tmp_path / "nothing.toml")


def test_scenes_ask_only_for_robots_that_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hint = "pip install"
    assert hint not in invoke("scenes").output
    monkeypatch.setenv("STICTION_ROBOTS_DIR", str(tmp_path / "none"))
    assert hint in invoke("scenes").output


def test_docs_says_where_the_manual_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from stiction import cli_docs

    opened: list[str] = []
    monkeypatch.setattr(cli_docs.webbrowser, "open", opened.append)
    monkeypatch.setattr(cli_docs, "PLACES", (tmp_path / "none", tmp_path))
    result = invoke("docs")
    assert result.exit_code == 1 and "make docs" in result.stderr and not opened
    page = tmp_path / "index.html"
    page.write_text("<html></html>")
    assert document("docs") == {"page": str(page)} and not opened
    assert invoke("docs", "--no-open").stdout.strip() == str(page) and not opened
    assert invoke("docs").exit_code == 0 and opened == [page.as_uri()]
