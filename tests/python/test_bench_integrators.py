"""The integrator benchmark on few windows: structure, errors that fall with the step, refusals."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import stiction
from stiction.cli import app
from stiction_lab.bench import integrators, native
from stiction_lab.bench.integrator_cases import CASES, Case, bare_joints, windows_of
from stiction_lab.bench.integrator_tables import integrator_tables
from stiction_lab.bench.integrators import ABA, EXPLICIT_ABA, OURS, RIGID, Budget, find
from stiction_lab.bench.local_error import Reference, difference, ends, rotation_vector, summary
from stiction_lab.bench.worlds import BenchError
from typer.testing import CliRunner


def case(name: str) -> Case:
    [found] = [item for item in CASES if item.name == name]
    return found


def require_sources() -> None:
    try:
        native.repository()
    except BenchError:
        pytest.skip("installed without sources")


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """Two scenes, as few windows as there can be."""
    require_sources()
    budget = Budget(0.02, coarse=(2, 1), fine=(100,))
    return integrators.bench_integrators(("solo12-squat", "box"), budget)


def test_every_integrator_has_time_and_error(document: dict[str, Any]) -> None:
    solo, box = document["scenes"]
    assert solo["contacts"] == 4.0 and solo["windows"] == 3
    assert solo["reference_worst"] < 1e-6
    named = {row["integrator"] for row in solo["rows"]}
    assert named == {*stiction.integrators(), RIGID, ABA, EXPLICIT_ABA}
    assert {row["integrator"] for row in box["rows"]} == named - {ABA, EXPLICIT_ABA}
    for row in (*solo["rows"], *box["rows"]):
        assert 0.0 < row["median_us"] <= row["max_us"]
        assert row["blown_up"] == 0
        assert isfinite(row["to_rigid"])
        if row["integrator"] in (RIGID, ABA, EXPLICIT_ABA):
            assert row["error"] is None
        else:
            assert 0.0 < row["error"]["median"] <= row["error"]["worst"]
            assert row["error"]["position"] <= row["error"]["mean"] < 10.0
            assert row["error"]["failed"] == 0


def test_errors_fall_with_the_step(document: dict[str, Any]) -> None:
    for scene in document["scenes"]:
        for name, least in (("implicit-euler", 1.6), ("exponential", 1.2)):
            whole, half = (find(scene["rows"], name, steps) for steps in (1, 2))
            assert whole is not None and half is not None
            assert whole["error"]["mean"] > least * half["error"]["mean"]
        ours, implicit = (find(scene["rows"], x, 1) for x in (OURS, "implicit-euler"))
        assert ours is not None and implicit is not None
        assert ours["error"]["mean"] < 0.2 * implicit["error"]["mean"]


def test_the_step_of_pinocchio_calls_is_ours(document: dict[str, Any]) -> None:
    """Same contact law, same torques: equal work."""
    row = find(document["scenes"][0]["rows"], EXPLICIT_ABA, 100)
    assert row is not None
    assert row["difference"] < 1e-9


def test_switches_are_told_apart(document: dict[str, Any]) -> None:
    row = find(document["scenes"][0]["rows"], OURS, 1)
    assert row is not None
    groups = row["by_switches"]
    assert sum(group["steps"] for group in groups.values()) == 3


def test_goals_compare_and_tables_print(document: dict[str, Any]) -> None:
    assert [goal["goal"] for goal in document["goals"]]
    for goal in document["goals"]:
        assert goal["met"] == (goal["here"] <= goal["at_most"])
    integrator_tables(document)
    json.dumps(document, allow_nan=False)


def test_command_refuses_an_unknown_scene() -> None:
    result = CliRunner().invoke(app, ["bench", "integrators", "--scenes", "moon", "--json"])
    assert result.exit_code != 0
    assert "moon" in result.output and "solo12-trot" in result.output


def test_program_names_what_it_cannot_read(tmp_path: Path) -> None:
    require_sources()
    program = native.build_integrators(native.repository(), lambda line: None)
    with pytest.raises(BenchError, match="unknown argument rk4"):
        native.run(program, ["solo12", "rk4"], lambda line: None)
    with pytest.raises(BenchError, match="damping must be given"):
        native.run(program, ["solo12", "stiffness=1e5", "rk4:1"], lambda line: None)


def test_rotation_vector_is_the_turn_between_quaternions() -> None:
    half = 0.3
    a = np.array([0.0, 0.0, 0.0, 1.0])
    b = np.array([0.0, np.sin(half), 0.0, np.cos(half)])
    assert rotation_vector(a, b) == pytest.approx([0.0, 2 * half, 0.0])
    assert rotation_vector(a, -b) == pytest.approx([0.0, 2 * half, 0.0])
    assert rotation_vector(b, a) == pytest.approx([0.0, -2 * half, 0.0])
    assert not rotation_vector(b, b).any()


def test_difference_is_zero_only_for_equal_states() -> None:
    scene = stiction.load("solo12")
    state = stiction.Simulator(scene).initial_state()
    moved = state.copy()
    moved.q[7] += 1e-3
    moved.v[2] -= 2e-3
    expected = np.zeros(2 * scene.nv)
    expected[6], expected[scene.nv + 2] = 1e-3, -2e-3
    assert difference(scene, state, moved) == pytest.approx(expected, abs=1e-15)
    assert not difference(scene, state, state).any()


def test_reference_of_a_smooth_window_is_converged() -> None:
    box = case("box")
    scene = bare_joints(box.load())
    windows = windows_of(box, 2)
    truth = Reference(scene, box.period, 50, 1e-9, 4)
    states = [truth.end(window)[0] for window in windows]
    assert max(truth.end(window)[1] for window in windows) < 1e-8
    finer = ends(scene, windows, box.period, 2000, integrator="rk4")
    errors = integrators.window_errors(scene, finer, states)
    assert summary(errors).worst < 1e-9


def test_a_blown_up_window_counts_as_failed() -> None:
    box = case("box")
    scene = bare_joints(box.load())
    windows = windows_of(box, 2)
    found = [None, windows[1].state]
    told = summary(integrators.window_errors(scene, found, [window.state for window in windows]))
    assert told.failed == 1 and told.mean == 0.0
