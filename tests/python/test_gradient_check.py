"""`stiction check-gradients`: passes what is right, finds what is wrong, says why of kinks."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import stiction
from stiction import gradient_check
from stiction.cli import app
from typer.testing import CliRunner

Start = tuple[stiction.Simulator, stiction.State, stiction.Control]


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
    assert shown.exit_code == 1 and f"wrong: {block} of {name}: " in shown.stdout


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
    result = CliRunner().invoke(app, ["check-gradients", "cartpole", "--wrt", "no"])
    assert result.exit_code == 1 and "is unknown" in result.stderr
    result = CliRunner().invoke(app, ["check-gradients", "cartpole", "--spoil", "q:nobody"])
    assert result.exit_code == 1 and "q has no column 'nobody'" in result.stderr


def test_all_blocks_are_checked_and_what_is_left_out_is_listed() -> None:
    shown = CliRunner().invoke(app, ["check-gradients", "cartpole", "--wrt", "all"])
    assert shown.exit_code == 0
    assert "left out: stiffness of cart_0: infinite" in shown.stdout
    code, got, _ = checked("cartpole", "--wrt", "all")
    assert code == 0 and {"inertia", "gravity", "geometry_placement"} <= {
        c["block"] for c in got["columns"]
    }
    # What a shape has no use for stays 0.
    ends = {text.rsplit(": ", 1)[1] for text in got["left_out"] if "geometry_size" not in text}
    assert ends == {"infinite"}
    assert "geometry_size of cart_0 0: can be moved neither way" not in got["left_out"]
    assert {c["block"] for c in got["columns"]} >= {"geometry_size"}


def pushed(name: str, steps: int = 0, speed: float = 0.0, **more: Any) -> Start:
    """A scene after some steps, a body of which is pushed."""
    configuration = "standing" if name == "solo12" else "default"
    n = more.pop("n", None)
    sim = stiction.Simulator(stiction.load(name, **({} if n is None else {"n": n})), **more)
    state, control = sim.initial_state(configuration), sim.hold(configuration)
    if speed:
        state.v[1] = speed
    if steps:
        sim.run(state, control, steps)
    sim.add_wrench(control, 0)
    return sim, state, control


def sprung() -> Start:
    """A cube that slides on springs."""
    scene = stiction.load("cube-slide")
    soft = stiction.Material(friction=0.4, stiffness=1e4, damping=50.0)
    scene.set_pair_material("ground", "cube", soft)
    sim = stiction.Simulator(scene, integrator="implicit-euler")
    state = sim.initial_state()
    state.v[:2] = 0.3
    sim.run(state, sim.hold(), 5)
    return sim, state, sim.hold()


STARTS: dict[str, Callable[[], Start]] = {
    "a cube at rest": lambda: pushed("cube-slide", 1),
    "a cube that slides": lambda: pushed("cube-slide", 5, 1.0),
    "a cube on a slope": lambda: pushed("slope"),
    "a stack": lambda: pushed("box-stack", 1, n=2),
    "feet on the ground": lambda: pushed("solo12"),
    "feet that slide": lambda: pushed("solo12", 0, 0.1, baumgarte=1.0),
    "a joint": lambda: pushed("cartpole", 3),
    "a closure": lambda: pushed("four-bar", 50),
    "a ball in flight": lambda: pushed("ball-drop"),
    "springs": lambda: sprung(),
}
"""At rest, sliding, with kinks and without."""


def blocks_of(sim: stiction.Simulator) -> list[str]:
    exact = sim.settings.integrator == "semi-implicit-euler"
    return ["q", "v", "torque", *(sim.derivative_parameters() if exact else ())]


COLUMN = gradient_check._Column


def spoilt_in(rows: str) -> type:
    """Columns that are wrong by as much as `spoil` makes them."""

    class Spoilt(COLUMN):  # type: ignore[misc, valid-type]
        def checked(self, *others: Any) -> gradient_check.ColumnCheck | None:
            nv = len(self.values) // 2
            of_q, of_v = gradient_check.SPOILT * self.largest
            self.values = self.values.copy()
            if rows == "all of v+":
                self.values[nv:] += of_v
            elif rows == "one of v+":
                self.values[nv + (self.k + 1) % nv] -= of_v
            else:
                self.values[self.k % nv] += of_q
            found: gradient_check.ColumnCheck | None = super().checked(*others)
            return found

    return Spoilt


@pytest.mark.parametrize("name", STARTS)
def test_every_column_passes_and_every_spoilt_one_is_found(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """By every parameter, in the rows of q+ and of v+, kinks of either side too."""
    sim, state, control = STARTS[name]()
    wrt = blocks_of(sim)
    right = gradient_check.check_gradients(sim, state, control, wrt)
    assert not right.wrong and not right.approximate
    seen = {c.block for c in right.columns} | {text.split(" of ")[0] for text in right.left_out}
    assert {"inertia", "wrench", "position_target"} <= seen if len(wrt) > 3 else True
    assert all(c.error <= right.bar for c in right.columns)  # of kinks too

    for rows in ("all of v+", "one of v+", "one of q+"):
        monkeypatch.setattr(gradient_check, "_Column", spoilt_in(rows))
        found = gradient_check.check_gradients(sim, state, control, wrt)
        assert not [str(c) for c in found.columns if c not in found.wrong], rows


def test_a_kink_is_a_column_whose_own_sides_disagree() -> None:
    """The report of a cube at rest counts gaps of zero; they excuse only what they split."""
    sim, state, control = pushed("cube-slide")
    found = gradient_check.check_gradients(sim, state, control)
    assert found.report.num_gap_kinks
    assert {c.block for c in found.kinks} == {"q"}
    for column in sim.scene.dof_names:
        spoilt = gradient_check.check_gradients(sim, state, control, spoil=("v", column))
        assert [(c.block, c.name) for c in spoilt.wrong] == [("v", column)]


def test_what_the_report_calls_inexact_is_listed_apart() -> None:
    """Recovery at its cap is taken as constant, which by q it is not; by v it is."""
    sim = stiction.Simulator(stiction.load("solo12"))
    state, control = sim.initial_state("standing"), sim.hold("standing")
    sim.run(state, control, 100)
    state.q[2] -= 5e-3
    state.v[0] += 0.02
    found = gradient_check.check_gradients(sim, state, control)
    assert found.report.num_capped and not found.wrong
    assert {c.block for c in found.approximate} == {"q"}
    assert found.reasons == [f"recovery capped ({found.report.num_capped})"]
    assert len(found.as_dict()["approximate"]) == len(found.approximate)
    column = sim.scene.dof_names[8]
    spoilt = gradient_check.check_gradients(sim, state, control, spoil=("v", column))
    assert [(c.block, c.name) for c in spoilt.wrong] == [("v", column)]


def test_a_gap_nearer_than_the_differences_is_no_fault() -> None:
    """Solo-12 stands 1e-8 m in the ground: differences by height step over the kink."""
    code, got, _ = checked("solo12")
    assert code == 0 and got["report"]["two_sided"] and got["kinks"]
    assert got["reasons"] == ["a gap nearer than the differences (4)"]
    assert {c["block"] for c in got["kinks"]} == {"q"}
    code, got, _ = checked("solo12", "--spoil", "v:root_joint[4]")
    assert code == 1 and [c["block"] for c in got["wrong"]] == ["v"]


@pytest.mark.parametrize("shape", [stiction.Cylinder(0.03, 0.06), stiction.Cone(0.03, 0.06)])
def test_a_rim_whose_points_are_others_after_any_turn(shape: stiction.Shape) -> None:
    """The gaps of a standing cylinder's points have no rate by its turns."""
    scene = stiction.Scene()
    scene.add_ground()
    pose = np.eye(4)
    pose[2, 3] = 0.06
    scene.add_body("can", shape, 0.3, pose)
    sim = stiction.Simulator(scene, dt=2e-3)
    found = gradient_check.check_gradients(sim, sim.initial_state())
    assert not found.wrong
    assert [str(c).split(":")[0] for c in found.kinks] == ["q of can[2]"]


def test_a_ball_that_a_tiny_rolling_friction_holds() -> None:
    """MuJoCo's default, 0.1 mm: what the step leaves of a turn is below what differences see."""
    scene = stiction.Scene()
    material = stiction.Material(friction=1.0, torsional_friction=5e-3, rolling_friction=1e-4)
    scene.add_ground(material)
    pose = np.eye(4)
    pose[2, 3] = 0.1
    scene.add_body("ball", stiction.Sphere(0.1), 4.0, pose, material)
    sim = stiction.Simulator(scene, dt=2e-3)
    state = sim.initial_state()
    sim.run(state, sim.hold(), 200)
    found = gradient_check.check_gradients(sim, state)
    assert set(found.report.modes) == {"stick"}
    assert not found.wrong and not found.approximate
