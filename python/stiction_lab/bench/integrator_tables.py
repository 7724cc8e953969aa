"""`stiction bench integrators` as tables."""

from __future__ import annotations

from typing import Any

from rich.console import Group
from stiction.fitted_table import FittedTable

COLUMNS = (
    "step h [ms]",
    "median time [µs]",
    "mean [µs]",
    "µs per simulated ms",
    "time / a rigid step's",
    "time / Pinocchio's explicit step",
    "error",
    "failed",
)


def integrator_tables(document: dict[str, Any]) -> Group:
    """A table per scene, then the goals and the machine."""
    tables = [_scene_table(scene) for scene in document["scenes"]]
    told = document["machine"]
    footer = f"{told['cpu']}, {told['cores']} cores, load {told['load']}, {told['date']}"
    return Group(*tables, _goal_table(document["goals"]), footer)


def _scene_table(scene: dict[str, Any]) -> FittedTable:
    table = FittedTable(
        f"{scene['scene']}: {scene['stiffness']:g} N/m, {scene['damping']:g} N s/m, "
        f"{scene['contacts']:.1f} contacts, {scene['windows']} periods of "
        f"{1e3 * scene['period']:g} ms; reference ± {scene['reference_mean']:.0e}",
        keys=2,
    )
    table.add_column("integrator")
    for name in COLUMNS:
        table.add_column(name, justify="right")
    for row in scene["rows"]:
        table.add_row(*_cells(row), style="bold" if row["integrator"] == "exponential" else None)
        for name, group in row.get("by_switches", {}).items():
            label = f"  switches: {name}, {group['steps']} steps"
            table.add_row(label, "", f"{group['median_us']:.1f}", f"{group['mean_us']:.1f}")
    return table


def _cells(row: dict[str, Any]) -> list[str]:
    error = row["error"] or {}
    per_ms = row["mean_us"] and row["mean_us"] / (1e3 * row["h"])
    failed = error.get("failed", 0) or row["blown_up"]
    return [
        row["integrator"],
        f"{1e3 * row['h']:g}",
        _number(row["median_us"], ".1f"),
        _number(row["mean_us"], ".1f"),
        _number(per_ms, ".1f"),
        _number(row["to_rigid"], ".2f"),
        _number(row["to_aba"], ".2f"),
        _number(error.get("mean"), ".1e"),
        f"{failed}" if failed else "",
    ]


def _goal_table(goals: list[dict[str, Any]]) -> FittedTable:
    table = FittedTable("Goals")
    for name in ("goal", "at most", "here", ""):
        table.add_column(name, justify="left" if name == "goal" else "right")
    for goal in goals:
        met = "met" if goal["met"] else "missed"
        table.add_row(goal["goal"], f"{goal['at_most']:g}", f"{goal['here']:.3g}", met)
    return table


def _number(value: float | None, form: str) -> str:
    """The number, or nothing where there is none."""
    return "" if value is None or value != value else f"{value:{form}}"
