"""Rows of the benches of drops and of worst steps, for the terminal and for the README alike."""

from __future__ import annotations

from typing import Any

from rich.console import Group
from rich.table import Table

from .drops import OVERLAP, START

Rows = tuple[list[str], list[list[str]]]
"""Headings, and cells."""


def drop_rows(document: dict[str, Any]) -> Rows:
    """A row per scene and engine."""
    late = f"after {START:g} s"
    head = ["scene", "engine", "ms a step: mean", "p50", "p99", "max", "solved", "not solved"]
    head += ["safe", "contacts", "speed m/s", "rad/s"]
    head += [f"overlap mm at the start, then {late}: p99", "max", f"<= {OVERLAP * 1e3:g} mm"]
    head += ["work, part of budget"]
    cells = []
    for result in document["rows"]:
        for label, row in result["engines"].items():
            cells.append([result["scene"], label, *_drop_cells(row)])
    return head, cells


def _drop_cells(row: dict[str, Any]) -> list[str]:
    solved, unsolved = ("-", "-")
    if "status" in row:
        solved, unsolved = (f"{share:.1%}" for share in shares(row["status"]))
    return [
        *(f"{row['ms'][name]:.3g}" for name in ("mean", "p50", "p99", "max")),
        solved,
        unsolved,
        f"{row['safe']:.1%}" if "safe" in row else "-",
        f"{row['contacts']:.0f}",
        f"{row['linear_speed']:.2f}",
        f"{row['angular_speed']:.1f}",
        f"{row['overlap_start'] * 1e3:.2g}, {row['overlap_p99'] * 1e3:.2g}",
        f"{row['overlap_max'] * 1e3:.2g}",
        f"{row['overlap_small']:.1%}",
        f"{row['work_max']:.2g}" if "work_max" in row else "-",
    ]


def shares(status: dict[str, int]) -> tuple[float, float]:
    """Shares of the steps that were solved, and of those that were not."""
    total = sum(status.values())
    solved = sum(status.get(name, 0) for name in ("converged", "rounding_limited"))
    return solved / total, 1.0 - solved / total


def worst_step_rows(document: dict[str, Any]) -> Rows:
    """A row per kind."""
    head = ["scenes", "steps", "p50 us", "p99.9 us", "largest us", "where", "solved"]
    head += [
        "not solved",
        "safe",
        "work, part of budget",
        "steps with more rows",
        "runs not finite",
    ]
    cells = []
    for row in document["rows"]:
        solved, unsolved = shares(row["status"])
        at = row["worst"]
        where = f"seed {at['seed']}, step {at['step']}, {at['rows']} rows, {at['status']}"
        cells.append(
            [
                f"{row['kind']}, {row['scenes']} seeds",
                str(row["steps"]),
                *(f"{row[name]:.3g}" for name in ("p50_us", "p999_us", "max_us")),
                where,
                f"{solved:.2%}",
                f"{unsolved:.2%}",
                f"{row['safe']:.2%}" if "safe" in row else "-",
                f"{row['work_max']:.2g}",
                str(row["more_rows"]),
                str(row["not_finite"]),
            ]
        )
    return head, cells


def drop_tables(document: dict[str, Any]) -> Group:
    """For the terminal."""
    title = "Every step of falling piles and kicked stacks, CPU time of the thread"
    return Group(_table(title, drop_rows(document)), _machine(document["machine"]))


def worst_step_tables(document: dict[str, Any]) -> Group:
    """For the terminal."""
    title = f"Steps of random scenes; largest: least of {document['replays']} replays"
    return Group(_table(title, worst_step_rows(document)), _machine(document["machine"]))


def _table(title: str, rows: Rows) -> Table:
    head, cells = rows
    table = Table(title=title)
    for k, name in enumerate(head):
        table.add_column(name, justify="right" if k > 1 else "left")
    for line in cells:
        table.add_row(*line)
    return table


def _machine(machine: dict[str, Any]) -> str:
    return f"{machine['cpu']}, {machine['cores']} cores, load {machine['load']}, {machine['date']}"
