"""Draws docs/images/learning_curves.svg from benchmarks/learning/curves.csv.

    python tools/learning_curves.py [CURVE.json ...]    # needs matplotlib

Files that examples/learning/ppo.py wrote with --curve replace what the table has of their task
and seed.
"""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TABLE = ROOT / "benchmarks" / "learning" / "curves.csv"
PICTURE = ROOT / "docs" / "images" / "learning_curves.svg"
HEAD = ["task", "seed", "steps", "seconds", "return", "length"]
POINTS = 60
"""Of a curve, evenly over its steps."""
LOOKS = {
    "stiction/Solo12Velocity-v0": ("Solo-12, five seeds", "#0072b2", "-"),
    "stiction/Go2Velocity-v0": ("Go2", "#d55e00", "--"),
    "stiction/Solo12Rough-v0": ("Solo-12 on rough ground", "#009e73", ":"),
}
"""Colour-blind safe, and told apart by their dashes."""


def read() -> list[list[str]]:
    if not TABLE.is_file():
        return []
    with TABLE.open(newline="") as file:
        return list(csv.reader(file))[1:]


def add(rows: list[list[str]], path: Path) -> list[list[str]]:
    """The rows with those of a file in place of what they had of its task and seed."""
    document = json.loads(path.read_text())
    task, seed, curve = str(document["task"]), str(document["seed"]), document["curve"]
    kept = [row for row in rows if row[:2] != [task, seed]]
    count = len(curve["steps"])
    for k in sorted({round(i * (count - 1) / (POINTS - 1)) for i in range(POINTS)}):
        numbers = (curve["seconds"][k], curve["return"][k], curve["length"][k])
        kept.append([task, seed, str(curve["steps"][k]), *(f"{x:.1f}" for x in numbers)])
    return kept


def draw(rows: list[list[str]]) -> None:
    import matplotlib as mpl
    from matplotlib import pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "stiction"
    mpl.rcParams["font.size"] = 12
    figure, axes = plt.subplots(figsize=(7.0, 3.6), layout="constrained")
    for task, (label, colour, dash) in LOOKS.items():
        seeds = sorted({row[1] for row in rows if row[0] == task})
        for k, seed in enumerate(seeds):
            curve = [row for row in rows if row[:2] == [task, seed] and row[4] != "nan"]
            axes.plot(
                [1e-6 * float(row[2]) for row in curve],
                [float(row[4]) for row in curve],
                color=colour, linestyle=dash, linewidth=1.6, alpha=1.0 if k == 0 else 0.55,
                label=label if k == 0 else None,
            )  # fmt: skip
    axes.set_xlabel("control steps of all worlds [millions]")
    axes.set_ylabel("mean return of an episode")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    table = read()
    for name in sys.argv[1:]:
        table = add(table, Path(name))
    table.sort(key=lambda row: (row[0], int(row[1]), int(row[2])))
    with TABLE.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEAD, *table])
    draw(table)
