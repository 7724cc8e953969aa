"""The solver benchmark's rows for eyes."""

from __future__ import annotations

from typing import Any

from rich.console import Group
from rich.text import Text
from stiction.fitted_table import FittedTable

from .solvers import ACCURACY, GOOD


def solver_tables(document: dict[str, Any]) -> Group:
    """Shares with the names of what failed, then times by group."""
    parts: list[Any] = []
    if document["shares"]:
        parts += [_share_table(document["shares"]), _failures(document["shares"])]
    for accuracy in ("absolute", "relative"):
        for start in ("cold", "warm"):
            rows = [
                row
                for row in document["timings"]
                if row["accuracy"] == accuracy and row["start"] == start
            ]
            if rows:
                parts.append(_time_table(f"{start}, {accuracy} {ACCURACY:g}", rows))
    about = document["machine"]
    parts.append(
        Text(f"{about['cpu']}, load {about['load']}; iterations <= {document['max_iterations']}")
    )
    return Group(*parts)


def _share_table(shares: list[dict[str, Any]]) -> FittedTable:
    table = FittedTable("Problems solved, judged by one certificate", keys=2)
    table.add_column("solver")
    table.add_column("start")
    tight = f"to {ACCURACY:g} or rounding [%]"
    names = ("problems", f"solved to {GOOD:g} [%]", f"own model to {GOOD:g} [%]", tight)
    counts = ("falsely converged", "infeasible recognised", "median factorisations")
    for name in (*names, *counts, "median time [µs]"):
        table.add_column(name, justify="right")
    for share in shares:
        known = share["infeasible"] >= 0
        table.add_row(
            share["engine"],
            share["start"],
            str(share["problems"]),
            f"{100 * share['good']:.2f}",
            f"{100 * share['own']:.2f}",
            f"{100 * share['tight']:.2f}",
            str(len(share["false_converged"])),
            f"{share['infeasible']} of {share['infeasible_problems']}" if known else "-",
            f"{share['factorisations']:g}",
            _time(share["time_us"]),
            style={True: "green", False: "red", None: None}[share["met"]],
        )
    return table


def _failures(shares: list[dict[str, Any]]) -> Text:
    """Names of what was not solved, at most twelve a solver."""
    lines = []
    for share in shares:
        for key, asked in (("failed", GOOD), ("failed_tight", ACCURACY)):
            names = share[key]
            if names:
                more = f" and {len(names) - 12} more" if len(names) > 12 else ""
                listed = ", ".join(names[:12])
                lines.append(
                    f"{share['engine']}, {share['start']}, not solved to {asked:g}: {listed}{more}"
                )
    return Text("\n".join(lines))


def _time_table(title: str, rows: list[dict[str, Any]]) -> FittedTable:
    table = FittedTable(
        f"Time to accuracy, {title}: median / 90th percentile [µs] (how many it solved, if not "
        "all); x: our time over its, below 1 ours is faster"
    )
    table.add_column("problems")
    engines = list(dict.fromkeys(row["engine"] for row in rows))
    for name in engines:
        table.add_column(name, justify="right")
    cells = {(row["group"], row["engine"]): row for row in rows}
    for group in dict.fromkeys(row["group"] for row in rows):
        here = [cells[group, name] for name in engines]
        table.add_row(f"{group} ({here[0]['problems']})", *(_cell(row) for row in here))
    return table


def _cell(row: dict[str, Any]) -> Text:
    """One engine on one group; green or red where there is a goal."""
    text = f"{_time(row['median_us'])} / {_time(row['p90_us'])}"
    if row["reached"] < row["problems"]:
        text += f" ({row['reached']})"
    if row["ratio"] is not None:
        text += f", x {row['ratio']:.2g}"
    if row["goal_us"] is not None:
        text += f", goal {row['goal_us']:g}"
    return Text(text, style={True: "green", False: "red", None: ""}[row["met"]])


def _time(microseconds: float | None) -> str:
    """With three digits; a dash where it never ends, which a stored document has as null."""
    if microseconds is None or microseconds == float("inf"):
        return "-"
    return f"{microseconds:.3g}" if microseconds < 1e3 else f"{microseconds:.0f}"
