"""Writes the tables between the markers of docs/narrow_phase.md from measured results.

python tools/collision_tables.py benchmarks/results/<machine>.json build/study/gjk/study.json
"""

import json
import sys
from pathlib import Path

PAGE = Path("docs/narrow_phase.md")


def table(columns: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "| " + " | ".join(["---"] * len(columns)) + " |"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def number(value: float | None, form: str) -> str:
    return "–" if value is None else f"{value:{form}}"


def benchmark(path: Path) -> str:
    """Every row that has a goal, missed ones first; then the others."""
    document = json.loads(path.read_text())["collision"]
    rank = {False: 0, True: 1, None: 2}
    rows = [
        [
            row["query"],
            f"{row['ours_us']:.3f}",
            f"{row['peer_us']:.3f} ({row['peer']})",
            f"{row['ratio']:.2f}",
            number(row["goal"], ".2f"),
            {False: "missed", True: "met", None: ""}[row["met"]],
            f"{number(row['error'], '.0e')} / {number(row['peer_error'], '.0e')}",
        ]
        for row in sorted(document["rows"], key=lambda row: rank[row["met"]])
    ]
    columns = [
        "query",
        "ours µs",
        "against µs",
        "ratio",
        "goal",
        "",
        "worst error m, ours / theirs",
    ]
    machine, plan = document["machine"], document["measured"]["plan"]
    parts = [
        f"{machine['cpu']}, one core, Coal {machine['versions']['coal']}, MuJoCo "
        f"{machine['versions']['mujoco']}, {machine['date'][:10]} (`{path}`); "
        f"{plan['pairs']:g} pairs a row, best of {plan['sweeps']:g}, "
        f"load of the machine {machine['load']}.",
        table(columns, rows),
        methods(document["measured"]),
    ]
    if document.get("piles"):
        parts.append(piles(document["piles"]))
    return "\n\n".join(parts)


def methods(measured: dict) -> str:
    entries = measured["methods"]
    rows = [
        [
            f"`{name}`",
            *(
                f"{e['engines'][name]['cycled']['median'] * 1e-3:.2f}"
                f" ({e['engines'][name]['iterations']:.1f})"
                for e in entries
            ),
        ]
        for name in entries[0]["engines"]
    ]
    columns = ["µs (iterations)", *(f"{e['distance']:g} m" for e in entries)]
    return "Our methods on the same pairs:\n\n" + table(columns, rows)


def piles(rows: list[dict]) -> str:
    columns = ["bodies", "ours µs", "mj_collision µs", "ratio", "contacts, ours / theirs"]
    cells = [
        [
            str(row["bodies"]),
            f"{row['us']:.1f}",
            f"{row['peer_us']:.1f}",
            f"{row['ratio']:.2f}",
            f"{row['contacts']:.0f} / {row['peer_contacts']:.0f}",
        ]
        for row in rows
    ]
    return "The collision part of a step on piles:\n\n" + table(columns, cells)


def study(path: Path) -> str:
    """The tables that stand beside the paper's, and all of its statements."""
    document = json.loads(path.read_text())
    parts = []
    claims = []
    for experiment in document["experiments"]:
        for t in experiment["tables"]:
            if "paper" in t["title"] or experiment["name"].startswith("fig12"):
                title = f"**{experiment['title']}.** {t['title']}"
                parts.append(f"{title}\n\n{table(t['columns'], t['rows'])}")
        for claim in experiment["claims"]:
            holds = "holds" if claim["holds"] else "**does not**"
            claims.append([claim["statement"], claim["ours"], holds])
    return "\n\n".join([table(["the paper says", "here", ""], claims), *parts])


def replace(text: str, name: str, content: str) -> str:
    start, end = f"<!-- {name}:start -->", f"<!-- {name}:end -->"
    before, rest = text.split(start)
    return f"{before}{start}\n{content}\n{end}{rest.split(end)[1]}"


def main(results: Path, study_document: Path) -> None:
    text = PAGE.read_text()
    text = replace(text, "collision", benchmark(results))
    PAGE.write_text(replace(text, "study", study(study_document)))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
