"""`stiction check-gradients`: passes what is right, finds what is wrong, says why of kinks."""

from __future__ import annotations

import json
from typing import Any

import pytest
import stiction
from stiction import gradient_check
from stiction.cli import app
from typer.testing import CliRunner


def checked(*arguments: str) -> tuple[int, dict[str, Any], str]:
    result = CliRunner().invoke(app, ["check-gradients", *arguments, "--json"])
    return result.exit_code, json.loads(result.stdout), result.stderr


def test_the_checker_passes_what_is_right() -> None:
    code, got, errors = checked("solo12", "--baumgarte", "1", "--speed", "0.05")
    assert (code, got["wrong"], got["kinks"], errors) == (0, [], [], "")
    assert len(got["columns"]) == 54 and all(c["error"] <= 1e-7 for c in got["columns"])
    assert got["report"]["two_sided"] and got["report"]["modes"] == ["stick"] * 4
    blocks = "q,v,torque,friction,mass,com,gravity,position_target,damping"
    code, got, _ = checked("solo12", "--baumgarte", "1", "--speed", "0.3", "--wrt", blocks)
    assert code == 0 and {c["block"] for c in got["columns"]} == set(blocks.split(","))


def test_the_checker_moves_frames() -> None:
    code, got, _ = checked("four-bar", "--speed", "0.1", "--wrt", "closure_X_A,closure_X_B")
    assert (code, got["wrong"]) == (0, []) and len(got["columns"]) == 12
    assert got["columns"][0]["name"].endswith(" x") and got["kinks"] == []
    code, got, errors = checked(
        "solo12", "--baumgarte", "1", "--speed", "0.05", "--wrt", "geometry_placement"
    )
    assert (code, got["wrong"], errors) == (0, [], "") and len(got["columns"]) == 30
    code, got, _ = checked(
        "four-bar", "--wrt", "closure_X_B", "--spoil", "closure_X_B:rocker_pivot x"
    )
    assert code == 1 and [c["name"] for c in got["wrong"]] == ["rocker_pivot x"]


@pytest.mark.parametrize("column", ["q:FL_KFE", "v:root_joint[4]", "torque:HR_HFE"])
def test_the_checker_finds_a_wrong_derivative_and_names_it(column: str) -> None:
    code, got, errors = checked("solo12", "--baumgarte", "1", "--spoil", column)
    block, name = column.split(":")
    assert code == 1 and [(c["block"], c["name"]) for c in got["wrong"]] == [(block, name)]
    assert got["wrong"][0]["error"] == pytest.approx(1e-4, rel=0.1)
    assert f"1 columns are off by more than 1e-06: {block} of {name}" in errors
    shown = CliRunner().invoke(
        app, ["check-gradients", "solo12", "--baumgarte", "1", "--spoil", column]
    )
    assert shown.exit_code == 1 and f"wrong: {block} of {name}: 0.0001" in shown.stdout


@pytest.mark.parametrize("rows", [slice(None), slice(0, 18), slice(18, 36)])
def test_the_checker_finds_what_is_wrong_in_all_columns(
    monkeypatch: pytest.MonkeyPatch, rows: slice
) -> None:
    """In the rows of q+ as in those of v+, which are larger; the allowance for the solver's noise,
    which is read off the columns, hides nothing."""
    sim = stiction.Simulator(stiction.load("solo12"), baumgarte=1.0)
    state = sim.initial_state()
    sim.run(state, steps=50)
    right = gradient_check.made_of

    def wrong(*parts: Any) -> stiction.StepDerivatives:
        d = right(*parts)
        for island in d.islands:
            island.values[rows] *= 1.0001
        return d

    monkeypatch.setattr(gradient_check, "made_of", wrong)
    found = gradient_check.check_gradients(sim, state)
    assert {c.block for c in found.wrong} == {"q", "v", "torque"} and len(found.wrong) > 30


def test_the_checker_lists_kinks_with_their_reason() -> None:
    scene = stiction.load("box-stack", n=1)
    sim = stiction.Simulator(scene)
    found = gradient_check.check_gradients(sim, sim.initial_state())
    assert not found.wrong and found.reasons == ["gap of zero (4)"]
    assert {c.block for c in found.kinks} == {"q"} and "box0[2]" in {c.name for c in found.kinks}
    assert gradient_check.check_gradients(
        stiction.Simulator(scene, baumgarte=1.0), sim.initial_state()
    ).kinks == []  # fmt: skip


def test_the_checker_refuses_blocks_by_name() -> None:
    for block, text in (("inertia", "is not checked by differences"), ("no", "is unknown")):
        result = CliRunner().invoke(app, ["check-gradients", "cartpole", "--wrt", block])
        assert result.exit_code == 1 and text in result.stderr
    result = CliRunner().invoke(app, ["check-gradients", "cartpole", "--spoil", "q:nobody"])
    assert result.exit_code == 1 and "q has no column 'nobody'" in result.stderr


def test_a_gap_nearer_than_the_differences_is_no_fault() -> None:
    """Solo-12 stands 1e-8 m in the ground: differences by height step over the kink."""
    code, got, _ = checked("solo12")
    assert code == 0 and got["report"]["two_sided"] and got["kinks"]
    assert got["reasons"] == ["a gap nearer than the differences (4)"]
    assert {c["block"] for c in got["kinks"]} == {"q"}
    code, got, _ = checked("solo12", "--spoil", "v:root_joint[4]")
    assert code == 1 and [c["block"] for c in got["wrong"]] == ["v"]
