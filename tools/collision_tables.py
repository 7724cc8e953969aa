"""Writes the benchmark's tables between the markers of docs/narrow_phase.md, and all of its queries
as a CSV file.

python tools/collision_tables.py benchmarks/results/<machine>.json
"""

import csv
import json
import sys
from pathlib import Path

from stiction_lab.bench.collision_tables import is_growth, method_cell
from stiction_lab.studies.page.markdown import replace, table

PAGE = Path("docs/narrow_phase.md")
QUERIES = Path("docs/tables/collision/queries.csv")
COLUMNS = (
    "query",
    "ours [µs]",
    "fastest peer [µs]",
    "time, ours / theirs (below 1: ours is faster)",
    "worst error of a distance [m], ours and theirs",
    "worst error of a normal or point [m], ours and theirs",
)
MOST = 15
"""Rows of the page."""


def number(value: float | None, form: str) -> str:
    return "–" if value is None else f"{value:{form}}"


def benchmark(path: Path) -> str:
    """Rows in which ours is slowest beside the peer first."""
    document = json.loads(path.read_text())["collision"]
    ordered = sorted(document["rows"], key=lambda row: -row["ratio"])
    machine, plan = document["machine"], document["measured"]["plan"]
    parts = [
        f"{machine['cpu']}, one core, Coal {machine['versions']['coal']}, MuJoCo "
        f"{machine['versions']['mujoco']}, {machine['date'][:10]} (`{path}`); "
        f"{plan['pairs']:g} pairs a row, best of {plan['sweeps']:g}, "
        f"load of the machine {machine['load']}. {document.get('judged', '')}".rstrip(),
        table(COLUMNS, [cells(row) for row in shown(ordered)]),
        "Each query beside its fastest peer with its own defaults; the peers at their tightest "
        "tolerance and with any option, more boolean queries and ours beside our own distance: "
        f"[all rows as CSV](tables/{QUERIES.relative_to('docs/tables')}).",
        growth([row for row in ordered if is_growth(row)]),
        methods(document["measured"]),
    ]
    if document.get("piles"):
        parts.append(piles(document["piles"]))
    return "\n\n".join(parts)


def queries(path: Path) -> list[list[str]]:
    """Every row, as cells."""
    rows = json.loads(path.read_text())["collision"]["rows"]
    ordered = sorted(rows, key=lambda row: -row["ratio"])
    return [cells(row) for row in ordered if not is_growth(row)]


def shown(ordered: list[dict]) -> list[dict]:
    """Distances and warm starts beside the fastest peer, then boolean queries, MOST in all."""
    first: dict[str, dict] = {}
    for row in ordered:
        if not is_growth(row) and "peers" not in row["query"] and row["peer"] != "stiction":
            first.setdefault(row["query"], row)
    chosen = [row for query, row in first.items() if not query.startswith("boolean")]
    chosen += [row for query, row in first.items() if query.startswith("boolean")]
    return sorted(chosen[:MOST], key=lambda row: -row["ratio"])


def cells(row: dict) -> list[str]:
    return [
        row["query"],
        f"{row['ours_us']:.3f}",
        f"{row['peer_us']:.3f} ({row['peer']})",
        f"{row['ratio']:.2f}",
        pair(row, "error"),
        pair(row, "points_error"),
    ]


def pair(row: dict, name: str) -> str:
    return f"{number(row[name], '.0e')}, {number(row['peer_' + name], '.0e')}"


def growth(rows: list[dict]) -> str:
    columns = ["query", "engine", "many [µs]", "few [µs]", "time, many / few"]
    cells = [
        [
            row["query"],
            row["engine"],
            f"{row['ours_us']:.3f}",
            f"{row['peer_us']:.3f}",
            f"{row['ratio']:.2f}",
        ]
        for row in rows
    ]
    return "Time with many vertices over time with few, each engine alone:\n\n" + table(
        columns, cells
    )


def methods(measured: dict) -> str:
    entries = measured["methods"]
    rows = [
        [f"`{name}`", *(method_cell(entry, name) for entry in entries)]
        for name in entries[0]["engines"]
    ]
    columns = ["mean µs (mean iterations)", *(f"{e['distance']:g} m" for e in entries)]
    return (
        "Our methods on the same pairs, with the default of 128 iterations. There is no time where "
        "more than 1 % of the answers ended at that limit or have the wrong sign, but these "
        "shares:\n\n" + table(columns, rows)
    )


def piles(rows: list[dict]) -> str:
    columns = ["bodies", "ours [µs]", "mj_collision [µs]"]
    columns.append("time, ours / theirs (below 1: ours is faster)")
    columns += ["contacts, ours and theirs", "margin of a pair [mm], ours and theirs"]
    cells = [
        [
            str(row["bodies"]),
            f"{row['us']:.1f}",
            f"{row['peer_us']:.1f}",
            f"{row['ratio']:.2f}",
            f"{row['contacts']:.0f}, {row['peer_contacts']:.0f}",
            f"{row['margin'] * 1e3:g}, {row['peer_margin'] * 1e3:g}",
        ]
        for row in rows
    ]
    uneven = any(row["margin"] != row["peer_margin"] for row in rows)
    note = " The engine with the larger margin looks for more contacts." if uneven else ""
    return f"The collision part of a step on piles.{note}\n\n" + table(columns, cells)


def main(results: Path) -> None:
    PAGE.write_text(replace(PAGE.read_text(), "collision", benchmark(results)))
    QUERIES.parent.mkdir(parents=True, exist_ok=True)
    with QUERIES.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([COLUMNS, *queries(results)])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
