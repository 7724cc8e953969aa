"""Tables fit a terminal of 80 columns, and nothing of them is lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import stiction
from rich.console import Console, Group
from rich.text import Text
from stiction.fitted_table import FittedTable
from stiction.table_blocks import aligned, blocks

RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results"


def printed(what: Any, width: int = 80) -> str:
    console = Console(width=width, markup=False)
    with console.capture() as capture:
        console.print(what)
    return capture.get()


def test_columns_that_do_not_fit_follow_below_with_the_first_one_again() -> None:
    assert list(blocks([10, 10, 10, 10], 1, 39, 3)) == [[0, 1, 2], [0, 3]]
    assert list(blocks([10, 100, 10], 1, 39, 3)) == [[0, 1], [0, 2]]
    joined = [False, False, False, True]
    assert list(blocks([10, 10, 10, 10], 1, 39, 3, joined)) == [[0, 1], [0, 2, 3]]
    assert list(blocks([10, 10, 50, 50], 1, 39, 3, joined)) == [[0, 1], [0, 2], [0, 3]]
    assert list(blocks([10], 1, 39, 3)) == [[0]]


def test_headings_are_wrapped_and_cells_are_not() -> None:
    table = FittedTable("title", "caption")
    table.add_column("who")
    for k in range(8):
        table.add_column(f"a long heading of column {k}", justify="right")
    table.add_row("first", *(f"1.234567e-{k}0" for k in range(8)))
    table.add_row("a row with a very long name that goes on and on", Text("two\nlines"))
    text = printed(table)
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("first") == text.count("┏") > 1
    assert text.count("title") == text.count("caption") == 1
    assert all(f"1.234567e-{k}0" in text for k in range(8))
    assert "lines" in text and "goes on and on" in text.replace("\n", " ")
    assert printed(table, 400).count("┏") == 1


def test_units_stay_whole() -> None:
    table = FittedTable()
    for name in ("who", "cone [N s]", "largest share [N s, m s]"):
        table.add_column(name)
    table.add_row("a", "1", "2")
    text = printed(table, 30)
    assert "[N s]" in text and "[N s, m s]" in text


def test_plain_text_is_cut_into_blocks_too() -> None:
    heads = ["name", *(f"heading {k}" for k in range(9))]
    text = aligned(heads, [["x", *(f"number-{k}" for k in range(9))]], 40)
    assert max(map(len, text.splitlines())) <= 40
    assert all(f"number-{k}" in text for k in range(9))
    assert text.count("name") == text.count("\n\n") + 1


def tables() -> dict[str, Any]:
    """What the benches print, of the documents in the repository."""
    from stiction_lab.bench import (
        collision_tables,
        derivatives,
        integrator_tables,
        lane_tables,
        robot_tables,
        scene_tables,
        solver_tables,
    )
    from stiction_lab.bench import tables as step_tables

    amd = json.loads((RESULTS / "amd-epyc.json").read_text())
    intel = json.loads((RESULTS / "intel-xeon-processor.json").read_text())
    return {
        "all": step_tables.all_table(amd["results"]),
        "step": Group(*(step_tables.step_tables(result) for result in amd["results"])),
        "drops": scene_tables.drop_tables(amd["drops"]),
        "worst-step": scene_tables.worst_step_tables(amd["worst_step"]),
        "collision": collision_tables.collision_tables(amd["collision"]),
        "solvers": solver_tables.solver_tables(amd["solvers"]),
        "integrators": integrator_tables.integrator_tables(amd["integrators"]),
        "batch": lane_tables.lane_tables(amd["batch"]),
        "lanes": lane_tables.lane_tables(amd["lanes"]),
        "derivatives": derivatives.derivative_table(amd["derivatives"]),
        "robots": robot_tables.robot_table(intel["robots"]["rows"]),
    }


@pytest.fixture(scope="module")
def bench() -> dict[str, Any]:
    pytest.importorskip("mujoco", reason="the peer is not installed: pip install mujoco")
    return tables()


@pytest.mark.parametrize(
    "name", ["all", "step", "drops", "worst-step", "collision", "solvers", "integrators", "batch",
             "lanes", "derivatives", "robots"],
)  # fmt: skip
def test_tables_of_the_benches_fit(bench: dict[str, Any], name: str) -> None:
    text = printed(bench[name])
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    numbers = set(printed(bench[name], 1000).replace("│", " ").replace("|", " ").split())
    shown = set(text.replace("│", " ").replace("|", " ").split())
    assert {n for n in numbers if n[0].isdigit()} <= shown


@pytest.mark.parametrize("name", ["all", "step", "derivatives", "batch"])
def test_ratios_with_the_peer_say_which_way_round_they_are(
    bench: dict[str, Any], name: str
) -> None:
    assert "below 1: ours is faster" in " ".join(printed(bench[name], 1000).split())


def test_ratios_are_ours_over_the_peers() -> None:
    """Of documents that store both ways."""
    pytest.importorskip("mujoco", reason="the peer is not installed: pip install mujoco")
    from stiction_lab.bench.derivatives import derivative_rows

    row = dict.fromkeys(("matrices_over_step", "gradient_over_step"), 2.0)
    row |= dict.fromkeys(("step", "matrices", "gradient", "peer_step"), 1.0)
    row |= dict.fromkeys(("peer_forward", "peer_centered"), 8.0)
    row |= dict.fromkeys(("peer_forward_over_matrices", "peer_centered_over_matrices"), 8.0)
    row |= dict.fromkeys(("peer_forward_over_ours", "peer_centered_over_ours"), 4.0)
    head, cells = derivative_rows({"rows": [row | {"scene": "s", "columns": 3, "peer_columns": 2}]})
    found = dict(cells)
    assert head == ["", "s"]
    assert found["time, our Jacobian / forward differences"] == "0.12"
    assert found["time, our step and Jacobian / centred differences"] == "0.25"
    assert found["time, our Jacobian / our step"] == "2"


def test_a_comparison_fits_in_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    sim = stiction.Simulator(stiction.load("solo12"))
    state = sim.initial_state("standing")
    got = sim.compare(state, sim.hold("standing"))
    text = str(got)
    assert max(map(len, text.splitlines())) <= 80
    assert all(text.count(name) >= 2 for name in got.results)
    ball = stiction.Simulator(stiction.load("ball-drop"))
    nothing = ball.compare(ball.initial_state(), ball.hold(), ["ncp-newton"])
    assert "contact" not in str(nothing)
