"""Writes the tables between the markers of docs/narrow_phase.md from measured results.

python tools/collision_tables.py benchmarks/results/<machine>.json [build/study/gjk]

The folder of a study, if one is given, is stored first: its document beside the results as
<machine>-gjk-study.json, three of its figures in docs/images.
"""

import json
import shutil
import sys
from pathlib import Path

from stiction_lab.bench.collision_tables import is_growth, method_cell

PAGE = Path("docs/narrow_phase.md")
FIGURES = {
    "fig7_ellipsoids_1.svg": "gjk_fig7_ellipsoids.svg",
    "fig8_to_11_meshes_2.svg": "gjk_fig9_distance.svg",
    "fig12_funnel_1.svg": "gjk_fig12_warm_starts.svg",
}
"""Of the study -> of docs/images."""


def table(columns: list[str], rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "| " + " | ".join(["---"] * len(columns)) + " |"]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


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


def study(path: Path) -> str:
    """The machine, all statements, and the tables that stand beside the paper's."""
    document = json.loads(path.read_text())
    parts = []
    claims = []
    for experiment in document["experiments"]:
        for t in experiment["tables"]:
            if "paper" in t["title"] or experiment["name"].startswith("fig12"):
                title = f"**{experiment['title']}.** {t['title']}"
                note = f"\n\n{t['note']}" if t["note"] else ""
                parts.append(f"{title}\n\n{table(t['columns'], t['rows'])}{note}")
        for claim in experiment["claims"]:
            verdict = claim["verdict"]
            shown = f"**{verdict}**" if claim["holds"] is False else verdict
            claims.append([claim["statement"], claim["ours"], shown])
    facts = document["facts"]
    machine = (
        f"{facts['cpu']}, {facts['date'][:10]}, load of the machine {facts['load']}, seed "
        f"{facts['seed']} (`{path}`). Times within 5 % of each other are “within noise”. "
        f"{facts.get('note', '')}".rstrip()
    )
    return "\n\n".join([machine, table(["the paper says", "here", ""], claims), *parts])


def store(folder: Path, document: Path) -> None:
    """The study's document and figures, where the docs find them."""
    shutil.copyfile(folder / "study.json", document)
    for source, target in FIGURES.items():
        shutil.copyfile(folder / source, Path("docs/images") / target)


def replace(text: str, name: str, content: str) -> str:
    start, end = f"<!-- {name}:start -->", f"<!-- {name}:end -->"
    before, rest = text.split(start)
    return f"{before}{start}\n{content}\n{end}{rest.split(end)[1]}"


def main(results: Path, folder: Path | None = None) -> None:
    document = results.with_name(f"{results.stem}-gjk-study.json")
    if folder is not None:
        store(folder, document)
    text = replace(PAGE.read_text(), "collision", benchmark(results))
    PAGE.write_text(replace(text, "study", study(document)))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:]))
