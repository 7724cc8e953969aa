"""The collision benchmark's rows for eyes."""

from __future__ import annotations

from typing import Any

from rich.console import Group
from stiction.fitted_table import FittedTable

from .collision import DEFAULTS, OURS, PILE_GOAL


def collision_tables(document: dict[str, Any]) -> Group:
    """All rows, our methods side by side, and the machine."""
    pairs = [row for row in document["rows"] if not is_growth(row)]
    growth = [row for row in document["rows"] if is_growth(row)]
    parts: list[Any] = [_rows_table(pairs), _growth_table(growth)]
    parts.append(_method_table(document["measured"]))
    if document.get("piles"):
        parts.append(_pile_table(document["piles"]))
    return Group(*parts, _footer(document["machine"]))


def _rows_table(rows: list[dict[str, Any]]) -> FittedTable:
    table = FittedTable(
        "Narrow phase on YCB hulls, one core, medians of cycled queries; ratios: our time over the "
        "peer's, below 1 ours is faster"
    )
    table.add_column("query")
    for name in ("ours [µs]", "peer [µs]"):
        table.add_column(name, justify="right")
    table.add_column("peer")
    ratios = ("ratio", "ratio of means", "ratio, hot", "goal, at most")
    errors = ("worst error [m]", "peer's [m]", "of normals, points [m]", "peer's [m]")
    for name in (*ratios, *errors):
        table.add_column(name, justify="right")
    for row in rows:
        style = {True: "green", False: "red", None: None}[row["met"]]
        table.add_row(
            row["query"],
            f"{row['ours_us']:.3f}",
            f"{row['peer_us']:.3f}",
            row["peer"],
            f"{row['ratio']:.2f}",
            _number(row["ratio_mean"], ".2f"),
            _number(row["ratio_hot"], ".2f"),
            _number(row["goal"], ".2f"),
            _number(row["error"], ".0e"),
            _number(row["peer_error"], ".0e"),
            _number(row["points_error"], ".0e"),
            _number(row["peer_points_error"], ".0e"),
            style=style,
        )
    return table


def is_growth(row: dict[str, Any]) -> bool:
    """One engine with many vertices over the same engine with few."""
    return bool(row["engine"])


def _growth_table(rows: list[dict[str, Any]]) -> FittedTable:
    table = FittedTable("An engine's time with many vertices over its own with few")
    table.add_column("query")
    table.add_column("engine")
    for name in ("many [µs]", "few [µs]", "many / few", "goal, at most"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            row["query"],
            row["engine"],
            f"{row['ours_us']:.3f}",
            f"{row['peer_us']:.3f}",
            f"{row['ratio']:.2f}",
            _number(row["goal"], ".2f"),
            style={True: "green", False: "red", None: None}[row["met"]],
        )
    return table


def _method_table(measured: dict[str, Any]) -> FittedTable:
    table = FittedTable("Our methods, mean µs cycled (mean iterations); no time where unsolved")
    table.add_column("method")
    entries = measured["methods"]
    for entry in entries:
        table.add_column(f"{entry['distance']:g} m", justify="right")
    for name in sorted(entries[0]["engines"]):
        table.add_row(name, *(method_cell(entry, name) for entry in entries))
    for name in (OURS, *DEFAULTS):
        if name in measured["distances"][0]["engines"]:
            cells = [
                f"{entry['engines'][name]['cycled']['mean'] * 1e-3:.2f}"
                for entry in measured["distances"]
            ]
            table.add_row(f"for comparison: {name}", *cells, style="dim")
    return table


UNSOLVED = 0.01
"""Share of answers at the limit or with a wrong sign above which a time means nothing."""


def method_cell(entry: dict[str, Any], name: str) -> str:
    """Mean time and iterations of a method, or which share of its answers it did not finish."""
    engine = entry["engines"][name]
    queries = entry["queries"]
    at_limit, wrong = engine["at_limit"], engine["error"]["wrong_signs"] / queries
    if max(at_limit, wrong) > UNSOLVED:
        signs = f", {wrong:.0%} wrong sign" if wrong > 0 else ""
        return f"– {at_limit:.0%} at limit{signs}"
    return f"{engine['cycled']['mean'] * 1e-3:.2f} ({engine['iterations']:.1f})"


def _pile_table(piles: list[dict[str, Any]]) -> FittedTable:
    table = FittedTable("Collision part of a step, piles of YCB hulls, beside mj_collision")
    columns = ("bodies", "ours [µs]", "peer [µs]", "time, ours / peer's", "goal, at most")
    pairs = ("contacts ours | peer", "µs a contact ours | peer")
    for name in (*columns, *pairs, "our boxes compared", "our narrow-phase calls"):
        table.add_column(name, justify="right")
    for row in piles:
        peer_us_per_contact = row["peer_us"] / max(row["peer_contacts"], 1.0)
        table.add_row(
            str(row["bodies"]),
            f"{row['us']:.1f}",
            f"{row['peer_us']:.1f}",
            f"{row['ratio']:.2f}",
            f"{PILE_GOAL:.2f}",
            f"{row['contacts']:.0f} | {row['peer_contacts']:.0f}",
            f"{row['us_per_contact']:.2f} | {peer_us_per_contact:.2f}",
            f"{row['tested_pairs']:.0f}",
            f"{row['narrow_phase_calls']:.0f}",
            style="green" if row["ratio"] <= PILE_GOAL else "red",
        )
    return table


def _footer(machine: dict[str, Any]) -> str:
    versions = ", ".join(f"{k} {v}" for k, v in machine["versions"].items() if v)
    return (
        f"{machine['cpu']}, {machine['cores']} cores, load {machine['load']}, "
        f"{machine['date']}; {versions}"
    )


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else f"{value:{form}}"
