"""The census of robot files: what it counts, how it picks files, and that it outlives them."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stiction
from stiction_lab.bench import census, census_runner, census_tables
from stiction_lab.bench.census import FileRow, Limits
from stiction_lab.bench.census_files import robot_files

FEW = Limits(steps=40)
ROBOTS = Path(stiction.__file__).parent / "robots"
LINK = (
    "<link name='{}'><inertial><mass value='1'/><inertia ixx='.01' iyy='.01' izz='.01' ixy='0' "
    "ixz='0' iyz='0'/></inertial><collision><geometry><sphere radius='.1'/></geometry></collision>"
    "</link>"
)
BALL = f"<robot name='r'>{LINK.format('a')}</robot>"


@pytest.mark.parametrize("name", ["solo12", "cartpole", "box-stack(3)"])
def test_built_in_scenes_pass_in_every_mode(name: str) -> None:
    row = census.measure_scene(stiction.load(name), FEW, FileRow(name, loaded=True))
    assert list(row.modes) == ["zero", "hold", "random"]
    for mode in row.modes.values():
        assert (mode.ok, mode.taken, mode.ended) == (40, 40, "")
        assert sum(mode.solver.values()) == 40 and not mode.first
        assert 0.0 < mode.median_us <= 1e3 * mode.worst_ms
    assert row.passed and row.share == 1.0 and not row.raised


def test_modes_differ_in_servos_and_torques() -> None:
    """Servos in one alone; torques follow from the seed, within a fifth of the effort limits."""
    scene = stiction.load("solo12")
    for mode in census.MODES:
        sim = stiction.Simulator(scene, dt=census.DT)
        sim.parameters.effort_limit[6:] = np.r_[[3.0] * 6, 5.0, np.inf, 0.0, 1e9, 7.0, 7.0]
        census._set_servos(sim, mode)
        assert bool(np.any(sim.parameters.kp)) == (mode == "hold")
    torques = [census._Torques(sim, sim.initial_state(), seed).draw() for seed in (1, 1, 2)]
    np.testing.assert_array_equal(torques[0], torques[1])
    assert not np.array_equal(torques[0], torques[2])
    assert not torques[0][:6].any()
    draws = np.abs([census._Torques(sim, sim.initial_state(), s).draw()[6:] for s in range(200)])
    inertia = np.diag(stiction.SceneMotion(scene, sim.initial_state()).mass_matrix())[6:]
    most = np.r_[[0.6] * 6, 1.0, 40.0 * inertia[7:10], 1.4, 1.4]  # no limit, 0 and 1e9 say nothing
    assert (draws <= most).all() and (draws.max(axis=0) > 0.95 * most).all()


def test_a_step_that_is_not_solved_is_counted_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    made = stiction.Simulator
    monkeypatch.setattr(census, "Simulator", lambda scene, dt: made(scene, dt=dt, solver="ncp-pgs",
                                                                   max_iterations=1))  # fmt: skip
    row = census.measure_scene(stiction.load("box-stack(5)"), FEW, FileRow("x", loaded=True))
    for mode in row.modes.values():
        assert mode.ok < 40 == mode.taken and mode.first["solver"] == "max_iterations"
        assert mode.first["contacts"] == 20 and mode.first["rows"] == 60
    assert not row.passed and not row.raised
    assert row.share == sum(mode.ok for mode in row.modes.values()) / 120


def test_errors_and_limits_of_time_end_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = stiction.load("solo12")
    row = census.measure_scene(scene, Limits(40, file_seconds=0.0), FileRow("x", loaded=True))
    assert all(m.ended.startswith("its time was over") and m.taken == 1 for m in row.modes.values())
    row = census.measure_scene(scene, Limits(40, step_seconds=0.0), FileRow("x", loaded=True))
    assert all(m.ended.startswith("a step took") for m in row.modes.values())
    assert not row.passed and not row.raised

    def blown(self: Any, mode: str) -> None:
        self.parameters.gravity[:] = 1e80

    monkeypatch.setattr(census, "_set_servos", blown)
    row = census.measure_scene(scene, FEW, FileRow("x", loaded=True))
    assert row.raised and not row.passed
    assert all(m.ended.startswith("raised SimulationError") for m in row.modes.values())


def folder_of(tmp_path: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def test_files_are_those_with_a_robot_as_their_outermost_tag(tmp_path: Path) -> None:
    folder = folder_of(
        tmp_path,
        {
            "one/a.urdf": BALL,
            "one/package.xml": "<?xml version='1.0'?><package/>",
            "one/part.xml": "<!-- <mujoco> --><mujocoinclude/>",
            "two/b.xml": "<?xml version='1.0'?>\n<!-- <package> -->\n<mujoco/>",
            "two/c.xml": "",
            **{f"pybullet/pybullet_data/random_urdfs/{k:03}.urdf": BALL for k in range(250)},
        },
    )
    found = robot_files(folder)
    alike = [f"pybullet/pybullet_data/random_urdfs/{k}.urdf" for k in ("000", "100", "200")]
    assert found == ["one/a.urdf", *alike, "two/b.xml"]
    assert robot_files(folder, ["two"]) == ["two/b.xml"]
    assert robot_files(folder, ["*.urdf"]) == ["one/a.urdf", *alike]


def test_a_census_goes_on_where_it_was_broken_off(tmp_path: Path) -> None:
    """One that loads, one that does not, one that was done before and is not run again."""
    folder = folder_of(
        tmp_path / "files", {"p/a.urdf": BALL, "p/b.urdf": "<robot name='r'/>", "q/c.urdf": BALL}
    )
    journal, files = tmp_path / "done.jsonl", robot_files(folder)
    before = FileRow("q/c.urdf", loaded=True, planned=40).as_dict() | {"nv": 77}
    limits = {"steps": 40, "file_seconds": FEW.file_seconds, "step_seconds": FEW.step_seconds}
    other = limits | {"steps": 41}
    kept = [
        {"limits": limits, "row": before},
        {"limits": other, "row": before | {"file": "p/a.urdf"}},
    ]
    journal.write_text("\n".join(map(json.dumps, kept)) + '\n{"limits', encoding="utf-8")
    lines: list[str] = []
    document = census_runner.run_census(folder, files, FEW, 2, journal, lines.append)
    rows = {row["file"]: row for row in document["rows"]}
    assert list(rows) == files and len(lines) == 2
    assert rows["p/a.urdf"]["passed"] and rows["p/a.urdf"]["nv"] == 6
    assert not rows["p/b.urdf"]["loaded"] and rows["p/b.urdf"]["error"].startswith("StictionError")
    assert rows["q/c.urdf"]["nv"] == 77
    again = census_runner.run_census(folder, files, FEW, 1, journal, lines.append)
    assert again["rows"] == document["rows"] and len(lines) == 2


def die_or_hang(folder: Path, file: str, limits: Limits) -> FileRow:
    """Stands for a file that brings its process down, or whose step never ends."""
    if "dies" in file:
        os._exit(3)
    if "hangs" in file:
        time.sleep(600.0)
    return FileRow(file, loaded=True)


def serve_such(folder: Path, limits: Limits, pipe: Any) -> None:
    census_runner.measure_file = die_or_hang
    census_runner._serve(folder, limits, pipe)


def test_a_file_that_dies_or_hangs_costs_its_own_row_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Worker(census_runner._Worker):
        serve = staticmethod(serve_such)

    monkeypatch.setattr(census_runner, "_Worker", Worker)
    monkeypatch.setattr(census_runner, "LOADING", 3.0)
    monkeypatch.setattr(census_runner, "PATIENCE", 0.0)
    files = ["p/a.urdf", "p/dies.urdf", "p/b.urdf", "p/hangs.urdf", "p/c.urdf"]
    rows = census_runner.run_census(tmp_path, files, FEW)["rows"]
    assert [row["error"].split(",")[0] for row in rows] == [
        "", "the process ended with code 3", "", "its time was over", ""]  # fmt: skip
    assert [row["raised"] for row in rows] == [False, True, False, False, False]
    assert [row["passed"] for row in rows] == [True, False, True, False, True]


def test_tables_say_what_the_rows_say(tmp_path: Path) -> None:
    good = census.measure_scene(stiction.load("cartpole"), FEW, FileRow("p/a.urdf", loaded=True))
    bad = good.as_dict() | {"file": "q/b.urdf", "passed": False, "share": 0.9}
    bad["modes"] = json.loads(json.dumps(bad["modes"]))
    first = {"step": 3, "solver": "budget", "relative": 2e-4, "rows": 9, "contacts": 2}
    bad["modes"]["hold"] |= {"ok": 28, "first": first}
    files = [f"q/{k}.urdf" for k in range(3)]
    refused = [
        FileRow(file, error=f'StictionError: {file}:1: link "{file}" is odd').as_dict()
        for file in files
    ]
    document = {
        "rows": [good.as_dict(), bad, *refused],
        "limits": {"steps": 40},
        "machine": {"cpu": "X", "date": "2026-01-02T"},
    }
    told = census_tables.summary(document["rows"])
    assert (told["files"], told["loaded"], told["passed"], told["raised"]) == (5, 2, 1, 0)
    assert list(told["refused"].values()) == [3]
    assert census_tables.failing(document["rows"])[0][:4] == (
        "q/b.urdf", "hold", "28 of 40", "3: budget 2e-04")  # fmt: skip
    stored = census_tables.brief(document)
    assert stored["summary"] == told and stored["rows"][1] == bad
    assert list(stored["rows"][0]) == ["file", "nv", "worst_ms"]
    assert stored["rows"][2] == {"file": files[0], "error": refused[0]["error"]}
    page = tmp_path / "page.md"
    part = f"{census_tables.START}stale{census_tables.END}"
    page.write_text(f"before\n{part}\nafter", encoding="utf-8")
    census_tables.write_census_page(page, document)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n") and text.endswith("\nafter") and "stale" not in text
    assert "of 5 files 2 load, of these 1 pass (50.0 %)" in text
    assert "| q | 4 | 1 |" in text and "| 3 | link ... is odd |" in text
    census_tables.census_table(document)
    page.write_text("no marks", encoding="utf-8")
    with pytest.raises(ValueError, match="has no part between"):
        census_tables.write_census_page(page, document)
