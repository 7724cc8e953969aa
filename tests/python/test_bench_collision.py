"""The collision benchmark: rows from what the program prints, the results file, refusals."""

from __future__ import annotations

import io
import json
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from stiction_lab.bench import native
from stiction_lab.bench.collision import OURS, OURS_WARM, Row, compare
from stiction_lab.bench.collision_tables import collision_tables, method_cell
from stiction_lab.bench.results import results_file, update_results
from stiction_lab.bench.worlds import BenchError


def engine(ns: float, **more: Any) -> dict[str, Any]:
    times = {"median": ns, "mean": 1.5 * ns, "p95": 2 * ns}
    error = {"median": 0.0, "p99": 1e-9, "max": 1e-8, "wrong_signs": 0}
    error |= {"normal": 2e-9, "witness": 3e-9, "outside": 1e-9}
    solved = {"iterations": 7.0, "at_limit": 0.0}
    return {"cycled": times, "hot": times, "error": error, **solved, **more}


def document() -> dict[str, Any]:
    cold = {
        OURS: engine(400.0),
        "coal": engine(2000.0),
        "mujoco": engine(1000.0),
        "coal-1e-8": engine(1600.0),
        "coal-box-nesterov": engine(800.0),
    }
    moving = cold | {OURS_WARM: engine(100.0), "coal-cached": engine(500.0)}
    slow = {OURS: engine(640.0), "coal": engine(3000.0), "mujoco": engine(2000.0)}
    return {
        "distances": [{"distance": 1e-2, "engines": cold}],
        "overlaps": [{"distance": 1e-2, "engines": cold | {OURS: engine(60.0)}}],
        "methods": [{"distance": 1e-2, "queries": 100, "engines": {"auto": engine(400.0)}}],
        "sequences": [{"motion": 1e-4, "penetrating": False, "engines": moving}],
        "growth": [
            {"vertices": 240, "distance": 1e-2, "engines": cold},
            {"vertices": 3600, "distance": 1e-2, "engines": slow},
        ],
    }


def find(rows: list[Row], query: str, peer: str) -> Row:
    [row] = [row for row in rows if row.query == query and row.peer == peer]
    return row


def test_rows_compare_with_the_fastest_peer_of_each_group() -> None:
    rows = compare(document())
    cold = find(rows, "distance 1 cm, cold", "mujoco")
    assert cold.ratio == pytest.approx(0.4) and cold.goal == 0.44 and cold.met
    assert cold.ours_us == pytest.approx(0.4) and cold.peer_us == pytest.approx(1.0)
    assert (
        find(rows, "distance 1 cm, cold, peers at their tightest tolerance", "coal-1e-8").ratio
        == 0.25
    )
    assert (
        find(rows, "distance 1 cm, cold, peers with any option", "coal-box-nesterov").ratio == 0.5
    )
    boolean = find(rows, "boolean 1 cm, cold, over our distance", OURS)
    assert boolean.ratio == pytest.approx(0.15) and boolean.met
    warm = find(rows, "warm, separated, 0.0001 m and rad a step", "mujoco")
    assert warm.ratio == pytest.approx(0.1) and warm.goal == 0.05 and warm.met is False
    growth = find(rows, "3600 vertices over 240, 1 cm", OURS)
    assert growth.ratio == pytest.approx(1.6) and growth.met is False
    assert growth.engine == OURS and cold.engine == ""
    assert find(rows, "3600 vertices over 240, 1 cm", "coal").engine == "coal"


@pytest.mark.parametrize("part", ["max", "normal", "witness", "outside"])
@pytest.mark.parametrize("error", [1e-5, None])
def test_a_fast_answer_that_is_wrong_meets_no_goal(part: str, error: float | None) -> None:
    """Distance, normal and witness points count; null is an answer that is not a number."""
    wrong = document()
    ours = engine(400.0)
    ours["error"][part] = error
    wrong["distances"][0]["engines"][OURS] = ours
    row = find(compare(wrong), "distance 1 cm, cold", "mujoco")
    assert row.ratio < 0.44 and row.met is False
    found = row.error if part == "max" else row.points_error
    assert found == (inf if error is None else error)


def test_no_time_is_printed_for_answers_that_are_not_found() -> None:
    """A method that ends at its limit, or with the wrong sign, is not slow or fast but wrong."""
    entry = {"distance": -1e-3, "queries": 200, "engines": {"frank-wolfe": engine(400.0)}}
    assert method_cell(entry, "frank-wolfe") == "0.60 (7.0)"
    entry["engines"] = {"frank-wolfe": engine(400.0, at_limit=0.9)}
    entry["engines"]["frank-wolfe"]["error"]["wrong_signs"] = 150
    assert method_cell(entry, "frank-wolfe") == "– 90% at limit, 75% wrong sign"
    entry["engines"] = {"nesmino": engine(400.0, at_limit=0.02)}
    assert method_cell(entry, "nesmino") == "– 2% at limit"


def test_a_row_without_a_peer_is_left_out() -> None:
    alone = document()
    for entry in alone["distances"] + alone["overlaps"] + alone["sequences"] + alone["growth"]:
        for name in [key for key in entry["engines"] if not key.startswith("stiction")]:
            del entry["engines"][name]
    assert {row.peer for row in compare(alone)} == {OURS}


def test_tables_hold_every_row() -> None:
    measured = document()
    rows = [asdict(row) | {"met": row.met} for row in compare(measured)]
    machine = {"cpu": "x", "cores": 1, "load": 0.0, "date": "d", "versions": {"coal": "3"}}
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(collision_tables({"rows": rows, "measured": measured, "machine": machine}))
    text = console.export_text()
    assert all(row["query"] in text for row in rows) and "0.60 (7.0)" in text


def test_results_file_keeps_other_sections(tmp_path: Path) -> None:
    update_results(tmp_path, {"results": [1, 2], "effort": 1.0})
    path = update_results(tmp_path, {"collision": {"rows": []}})
    assert path == results_file(tmp_path)
    assert json.loads(path.read_text()) == {
        "results": [1, 2],
        "effort": 1.0,
        "collision": {"rows": []},
    }
    update_results(tmp_path, {"collision": {"error": inf}})
    assert json.loads(path.read_text())["collision"] == {"error": None}
    path.write_text("not json")
    with pytest.raises(ValueError, match="is not JSON"):
        update_results(tmp_path, {"collision": {}})
    assert path.read_text() == "not json"


def test_an_unknown_peer_is_refused_by_name() -> None:
    with pytest.raises(BenchError, match="'bullet' is unknown; there are: coal, mujoco"):
        native.build(native.repository(), ["bullet"], print)


def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    with pytest.raises(BenchError, match="there is no no-such-compiler"):
        native.build(native.repository(), ["coal"], print)


def test_a_failing_program_gives_its_last_line(tmp_path: Path) -> None:
    program = tmp_path / "fails"
    program.write_text("#!/bin/sh\necho working >&2\necho no hulls >&2\nexit 3\n")
    program.chmod(0o755)
    with pytest.raises(BenchError, match="failed: no hulls"):
        native.run(program, [], lambda line: None)


def test_a_pile_is_measured_and_shown() -> None:
    pytest.importorskip("mujoco", reason="the peer is not installed: pip install mujoco")
    from stiction_lab.bench.pile_collision import pile_row

    row = pile_row(3, steps=4, reps=2, settle=0.5).as_dict()
    assert row["bodies"] == 3 and row["ratio"] == pytest.approx(row["us"] / row["peer_us"])
    assert row["contacts"] > 0 < row["narrow_phase_calls"]
    measured = document()
    machine = {"cpu": "x", "cores": 1, "load": 0.0, "date": "d", "versions": {"coal": "3"}}
    console = Console(width=200, record=True, file=io.StringIO())
    tables = {"rows": [], "measured": measured, "machine": machine, "piles": [row]}
    console.print(collision_tables(tables))
    assert "mj_collision" in console.export_text()
