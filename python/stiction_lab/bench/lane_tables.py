"""`stiction bench lanes` and `stiction bench batch` as tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group
from stiction.fitted_table import FittedTable

TIMES = ("median [µs]", "time that passes [µs]", "contacts", "resets")
WORK = (
    "points",
    "points that carry",
    "deepest overlap [m]",
    "fastest creep [m/s]",
    "sliding [N s]",
)
OURS = (
    "time, ours / MuJoCo's elliptic",
    "time, ours / its pyramidal",
    "steps in lanes",
    "worst residual",
)


def lane_tables(document: dict[str, Any]) -> Group:
    """Two tables per scenario, then the machine."""
    told = document["machine"]
    tables: list[Any] = []
    for name, row in document["scenarios"].items():
        worlds = row.get("worlds", document["worlds"])
        size = f"{worlds} worlds, {document['periods']} periods"
        title = f"{name}: {size}; time of a step of a world, ours and MuJoCo's solvers"
        tables += [_time_table(title, row), _own_table(name, row)]
        if any(series.get("work") for series in row["series"].values()):
            tables.append(_work_table(name, row))
    footer = "w8: worlds in a register; t2: threads; MuJoCo: solver, cone, integrator; CPU times\n"
    footer += f"{told['cpu']}, load {told['load']}, {told['date']}"
    return Group(*tables, footer)


def _time_table(title: str, row: dict[str, Any]) -> FittedTable:
    table = _table(title, TIMES)
    for label, series in row["series"].items():
        table.add_row(
            label.removeprefix("mujoco-"),
            f"{series['us']:.2f}",
            _cell(series["wall"], ".2f"),
            _cell(series["contacts"], ".2f"),
            str(series["resets"]),
        )
    return table


def _own_table(name: str, row: dict[str, Any]) -> FittedTable:
    """What is told of ours alone. The document has how many times faster ours is."""
    title = f"{name}: ours beside MuJoCo's fastest on as many threads; below 1: ours is faster"
    table = _table(title, OURS)
    for label, series in row["series"].items():
        ratios = [row["speedup"][cone].get(label) for cone in ("elliptic", "pyramidal")]
        if ratios != [None, None]:
            table.add_row(
                label,
                *(_cell(x and 1.0 / x, ".2f") for x in ratios),
                _cell(series["lanes"], ".2%"),
                _cell(series["worst"], ".0e"),
            )
    return table


def _work_table(name: str, row: dict[str, Any]) -> FittedTable:
    """Of some worlds of both engines: are they the same work, and how well is it done?"""
    table = _table(f"{name}: contacts of a step, means; the certificate, worst step", WORK)
    for label, series in row["series"].items():
        work = series.get("work")
        if work:
            worst = [work["maximum"][key] for key in ("penetration", "creep", "tangential")]
            means = [work[key] for key in ("points", "loaded")]
            cells = [*(f"{x:.2f}" for x in means), *(f"{x:.0e}" for x in worst)]
            table.add_row(label.removeprefix("mujoco-"), *cells)
    return table


def _table(title: str, columns: Sequence[str]) -> FittedTable:
    table = FittedTable(title)
    table.add_column("engine")
    for column in columns:
        table.add_column(column, justify="right")
    return table


def _cell(number: float | None, form: str) -> str:
    return "" if number is None else format(number, form)
