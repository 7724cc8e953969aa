"""Rows of the benches of drops and of worst steps, for the terminal and for the README alike."""

from __future__ import annotations

from typing import Any

from rich.console import Group
from stiction.fitted_table import FittedTable

from .drops import OVERLAP, START
from .random_scenes import MAX_ROWS

Rows = tuple[list[str], list[list[str]]]
"""Headings, and cells."""


def drop_rows(document: dict[str, Any]) -> tuple[Rows, Rows]:
    """A row per scene and engine: how fast and what moved; how deep bodies overlap and what of ours
    was solved."""
    fast = ["scene", "engine", "mean time of a step [ms]", "median [ms]", "99th percentile [ms]"]
    fast += ["slowest step [ms]", "contacts, mean", "fastest body [m/s]", "fastest turn [rad/s]"]
    later = f"after {START:g} s"  # piles fall and lie down first
    exact = ["scene", "engine", "deepest overlap, first step [mm]"]
    exact += [f"99th percentile, {later} [mm]", f"deepest, {later} [mm]"]
    exact += [f"steps of at most {OVERLAP * 1e3:g} mm, {later}"]
    exact += ["steps solved", "steps not solved", "steps with a safe answer"]
    exact += ["largest share of the work budget"]
    times, overlaps = [], []
    for result in document["rows"]:
        for label, row in result["engines"].items():
            times.append([result["scene"], label, *_time_cells(row)])
            overlaps.append([result["scene"], label, *_overlap_cells(row)])
    return (fast, times), (exact, overlaps)


def _time_cells(row: dict[str, Any]) -> list[str]:
    return [
        *(f"{row['ms'][name]:.3g}" for name in ("mean", "p50", "p99", "max")),
        f"{row['contacts']:.0f}",
        f"{row['linear_speed']:.2f}",
        f"{row['angular_speed']:.1f}",
    ]


def _overlap_cells(row: dict[str, Any]) -> list[str]:
    solved, unsolved = ("-", "-")
    if "status" in row:
        solved, unsolved = (f"{share:.1%}" for share in shares(row["status"]))
    return [
        *(f"{row[name] * 1e3:.2g}" for name in ("overlap_start", "overlap_p99", "overlap_max")),
        f"{row['overlap_small']:.1%}",
        solved,
        unsolved,
        f"{row['safe']:.1%}" if "safe" in row else "-",
        f"{row['work_max']:.2g}" if "work_max" in row else "-",
    ]


def shares(status: dict[str, int]) -> tuple[float, float]:
    """Shares of the steps that were solved, and of those that were not."""
    total = sum(status.values())
    solved = sum(status.get(name, 0) for name in ("converged", "rounding_limited"))
    return solved / total, 1.0 - solved / total


def worst_step_rows(document: dict[str, Any]) -> Rows:
    """A row per kind."""
    head = ["scenes", "steps", "median time of a step [µs]", "99.9th percentile [µs]"]
    head += ["slowest step [µs]", "which one that was", "steps solved", "steps not solved"]
    head += ["steps with a safe answer", "largest share of the work budget"]
    head += [
        f"steps over {MAX_ROWS} rows, not timed",
        "runs ended by a step not finite",
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
    """For the terminal: the rows of a scene under its name."""
    titles = (
        "Falling piles and kicked stacks, ours and MuJoCo's solvers: every step, CPU time",
        "The same runs: overlaps, and what of ours was solved",
    )
    tables = []
    for title, (head, cells) in zip(titles, drop_rows(document), strict=True):
        table = FittedTable(title)
        for name in head[1:]:
            table.add_column(name, justify="left" if name == "engine" else "right")
        scenes = list(dict.fromkeys(line[0] for line in cells))
        for scene in scenes:
            table.add_row(scene, style="bold")
            lines = [line for line in cells if line[0] == scene]
            for line in lines:
                table.add_row(
                    f"  {line[1].removeprefix('mujoco ')}", *line[2:], ends=line is lines[-1]
                )
        tables.append(table)
    return Group(*tables, _machine(document["machine"]))


def worst_step_tables(document: dict[str, Any]) -> Group:
    """For the terminal: a column per kind."""
    head, cells = worst_step_rows(document)
    table = FittedTable(f"Steps of random scenes; slowest: least of {document['replays']} replays")
    table.add_column(head[0])
    for line in cells:
        table.add_column(line[0], justify="right")
    for k, name in enumerate(head[1:], start=1):
        table.add_row(name, *(_in_two_lines(line[k]) for line in cells))
    jams = [_jam_table(document["jams"])] if "jams" in document else []
    return Group(table, *jams, _machine(document["machine"]))


def _jam_table(rows: list[dict[str, Any]]) -> FittedTable:
    """Scenes of bodies in each other."""
    table = FittedTable("Bodies in each other: the slowest step, CPU time")
    table.add_column("scene")
    for name in ("rows", "step [ms]", "of it collision [ms]", "share of work", "status"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            row["scene"],
            str(row["rows"]),
            f"{1e3 * row['seconds']:.3g}",
            f"{1e3 * row['collision']:.3g}",
            f"{row['work']:.2g}",
            row["status"],
        )
    return table


def _in_two_lines(cell: str) -> str:
    """Of "seed 1, step 2, 3 rows, converged" the two halves."""
    parts = cell.split(", ")
    return "\n".join(filter(None, (", ".join(parts[:2]), ", ".join(parts[2:]))))


def _machine(machine: dict[str, Any]) -> str:
    return f"{machine['cpu']}, {machine['cores']} cores, load {machine['load']}, {machine['date']}"
