"""The table of `stiction bench robots`, for a terminal and as markdown."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from stiction.fitted_table import FittedTable

COLUMNS = (
    "robot",
    "passes",
    "pairs off",
    "steps ok",
    "fastest joint: with / without self-collision [1/s]",
    "energy gain [mm of height]",
    "step, median / longest [µs]",
)


def robot_cells(row: dict[str, Any]) -> tuple[str, ...]:
    """One line of the table; a robot that does not load has its reason in the last cells."""
    if not row["steps"]:
        return (row["name"], "no", "", "0", row["error"], "", "")
    return (
        row["name"],
        "yes" if row["passed"] else "no",
        str(row["pairs_off"]),
        f"{row['ok']} of {row['steps']}",
        f"{row['kick_on']:.2f} / {row['kick_off']:.2f}",
        f"{row['lift'] * 1e3:.2f}",
        f"{row['us_median']:.0f} / {row['us_max']:.0f}",
    )


def robot_table(rows: Sequence[dict[str, Any]]) -> FittedTable:
    """For a terminal."""
    table = FittedTable("Robots on the ground, default settings, 1 ms")
    for name in COLUMNS:
        table.add_column(name)
    for row in rows:
        table.add_row(*robot_cells(row))
    return table


def robot_markdown(rows: Sequence[dict[str, Any]]) -> str:
    """The same as a table of the manual."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "| --- | --- |" + " ---: |" * (len(COLUMNS) - 2)]
    lines += ["| " + " | ".join(cell for cell in robot_cells(row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


BEGIN, END = "<!-- table: begin -->", "<!-- table: end -->"


def write_robot_page(page: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Replace what stands between the two marks of the page.

    Raises:
        ValueError: the page has no such marks.
    """
    text = page.read_text(encoding="utf-8")
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{page}: has no {BEGIN} ... {END}")
    passed = sum(bool(row["passed"]) for row in rows)
    body = f"\n\n{passed} of {len(rows)} files pass.\n\n{robot_markdown(rows)}\n"
    page.write_text(head + begin + body + end + tail, encoding="utf-8")
