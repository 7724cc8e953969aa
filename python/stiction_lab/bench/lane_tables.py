"""`stiction bench lanes` and `stiction bench batch` as tables."""

from __future__ import annotations

from typing import Any

from rich.console import Group
from rich.table import Table

COLUMNS = (
    "µs / world-step",
    "least",
    "passed",
    "x elliptic",
    "x pyramidal",
    "contacts",
    "in lanes",
    "certificate",
    "resets",
)


def lane_tables(document: dict[str, Any]) -> Group:
    """A table per scenario, then the machine."""
    told = document["machine"]
    size = f"{document['worlds']} worlds, {document['periods']} periods"
    tables = [_table(name, size, row) for name, row in document["scenarios"].items()]
    footer = f"{told['cpu']}, load {told['load']}, {told['date']}"
    return Group(*tables, footer)


def _table(name: str, size: str, row: dict[str, Any]) -> Table:
    peers = ", ".join(row["fastest_peer"].values())
    table = Table(title=f"{name}: {size}", caption=f"Speed-up over {peers}")
    table.add_column("engine", no_wrap=True)
    for column in COLUMNS:
        table.add_column(column, justify="right", no_wrap=True)
    for label, series in row["series"].items():
        speedups = [row["speedup"][cone].get(label) for cone in ("elliptic", "pyramidal")]
        table.add_row(
            label,
            f"{series['us']:.2f}",
            f"{series['least']:.2f}",
            _cell(series["wall"], ".2f"),
            *(_cell(x, ".1f") for x in speedups),
            _cell(series["contacts"], ".2f"),
            _cell(series["lanes"], ".2%"),
            _cell(series["worst"], ".0e"),
            str(series["resets"]),
        )
    return table


def _cell(number: float | None, form: str) -> str:
    return "" if number is None else format(number, form)
