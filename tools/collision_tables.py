"""Writes the benchmark's tables between the markers of docs/narrow_phase.md.

python tools/collision_tables.py benchmarks/results/<machine>.json
"""

import json
import sys
from pathlib import Path

from stiction_lab.bench.collision_tables import is_growth, method_cell
from stiction_lab.studies.page.markdown import replace, table

PAGE = Path("docs/narrow_phase.md")


def number(value: float | None, form: str) -> str:
    return "–" if value is None else f"{value:{form}}"


def benchmark(path: Path) -> str:
    """Every row, those in which ours is slowest beside the peer first."""
    document = json.loads(path.read_text())["collision"]
    ordered = sorted(document["rows"], key=lambda row: -row["ratio"])
    rows = [
        [
            row["query"],
            f"{row['ours_us']:.3f}",
            f"{row['peer_us']:.3f} ({row['peer']})",
            f"{row['ratio']:.2f}",
            pair(row, "error"),
            pair(row, "points_error"),
        ]
        for row in ordered
        if not is_growth(row)
    ]
    columns = ["query", "ours µs", "against µs", "ratio"]
    columns += ["worst distance m, ours / theirs", "worst normal or point m, ours / theirs"]
    machine, plan = document["machine"], document["measured"]["plan"]
    parts = [
        f"{machine['cpu']}, one core, Coal {machine['versions']['coal']}, MuJoCo "
        f"{machine['versions']['mujoco']}, {machine['date'][:10]} (`{path}`); "
        f"{plan['pairs']:g} pairs a row, best of {plan['sweeps']:g}, "
        f"load of the machine {machine['load']}. {document.get('judged', '')}".rstrip(),
        table(columns, rows),
        growth([row for row in ordered if is_growth(row)]),
        methods(document["measured"]),
    ]
    if document.get("piles"):
        parts.append(piles(document["piles"]))
    return "\n\n".join(parts)


def pair(row: dict, name: str) -> str:
    return f"{number(row[name], '.0e')} / {number(row['peer_' + name], '.0e')}"


def growth(rows: list[dict]) -> str:
    columns = ["query", "engine", "many µs", "few µs", "ratio"]
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
    columns = ["bodies", "ours µs", "mj_collision µs", "ratio", "contacts, ours / theirs"]
    columns.append("margin of a pair mm, ours / theirs")
    cells = [
        [
            str(row["bodies"]),
            f"{row['us']:.1f}",
            f"{row['peer_us']:.1f}",
            f"{row['ratio']:.2f}",
            f"{row['contacts']:.0f} / {row['peer_contacts']:.0f}",
            f"{row['margin'] * 1e3:g} / {row['peer_margin'] * 1e3:g}",
        ]
        for row in rows
    ]
    uneven = any(row["margin"] != row["peer_margin"] for row in rows)
    note = " The engine with the larger margin looks for more contacts." if uneven else ""
    return f"The collision part of a step on piles.{note}\n\n" + table(columns, cells)


def main(results: Path) -> None:
    PAGE.write_text(replace(PAGE.read_text(), "collision", benchmark(results)))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
