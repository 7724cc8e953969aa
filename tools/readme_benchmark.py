"""Writes the results files into README.md and pages of docs, between their markers: every row of
ours, the peer's best.

python tools/readme_benchmark.py benchmarks/results
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from stiction_lab.bench.scene_tables import drop_rows, worst_step_rows

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGES = {ROOT / "README.md": ("results", "drops", "worst_step", "batch"),
         ROOT / "docs" / "batch.md": ("batch",),
         ROOT / "docs" / "environments" / "gymnasium.md": ("gymnasium",)}  # fmt: skip
STEP_HEAD = [
    "scene",
    "ours [µs]",
    "MuJoCo's best with elliptic cones [µs]",
    "time, ours / that (below 1: ours is faster)",
    "time, ours / its best with pyramidal cones",
    "deepest overlap [m]: ours, MuJoCo's",
    "fastest creep [m/s]: ours, MuJoCo's",
]


def step_rows(results: list) -> tuple[list[str], list[list[str]]]:
    """Of `stiction bench all`: each scene, then its other tolerances, noise, kicks."""
    rows = []
    for r in results:
        name = r["scene"]
        rows.append(_step_row(name, r))
        for label, other in r["other_tolerances"].items():
            rows.append(_step_row(f"{name}, {label.split()[-1]}", _other(r, other)))
        if r["noise"]:
            rows.append(_step_row(f"{name}, noise {r['noise']['sigma_rad']:g} rad", r["noise"]))
        if r["kicks"]:
            kicks = r["kicks"]
            label = f"{name}, kicks {kicks['impulse']:g} N s"
            rows += [
                _step_row(f"{label}, median", kicks),
                _step_row(f"{label}, mean", _mean(kicks)),
            ]
    return STEP_HEAD, rows


def _other(r: dict, other: dict) -> dict:
    """The row as if another tolerance of ours were ours."""
    ratios = {
        "ratio": other["us"] / r["peer_us"] if r["peer_us"] else None,
        "ratio_to_pyramidal": other["us"] / r["pyramidal_us"] if r["pyramidal_us"] else None,
    }
    return r | {"ours_us": other["us"], "certificate_ours": other["certificate"]} | ratios


def _mean(kicks: dict) -> dict:
    """The row of means over the chunks, where the few after a kick cost most."""
    means = kicks["means_us"]
    ours = means["stiction"]
    peer, pyramidal = means.get(kicks["peer"]), means.get(kicks["pyramidal"])
    ratios = {
        "ratio": ours / peer if peer else None,
        "ratio_to_pyramidal": ours / pyramidal if pyramidal else None,
    }
    return kicks | {"ours_us": ours, "peer_us": peer} | ratios


def _step_row(name: str, r: dict) -> list[str]:
    ours = r["certificate_ours"]["maximum"]
    peer = (r["certificate_peer"] or {"maximum": {}})["maximum"]
    return [
        name,
        _number(r["ours_us"], ".4g"),
        _number(r["peer_us"], ".4g") + _variant(r["peer"], "-elliptic"),
        _number(r["ratio"], ".2f"),
        _number(r["ratio_to_pyramidal"], ".2f") + _variant(r["pyramidal"], "-pyramidal"),
        f"{ours['penetration']:.0e}, {_number(peer.get('penetration'), '.0e')}",
        f"{ours['creep']:.0e}, {_number(peer.get('creep'), '.0e')}",
    ]


def _variant(label: str | None, cone: str) -> str:
    """Solver and integrator of the peer."""
    return f" {label.replace(cone, '')}" if label else ""


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else f"{value:{form}}"


BATCH_HEAD = [
    "scene",
    "ours, 8 lanes [µs]",
    "ours, 4 lanes [µs]",
    "ours, Simulators [µs]",
    "MuJoCo, elliptic cones [µs]",
    "MuJoCo, pyramidal cones [µs]",
    "time, ours / MuJoCo's elliptic (below 1: ours is faster)",
    "time, ours / its pyramidal",
    "ours on two threads: µs that pass",
    "times faster on two threads than on one: ours",
    "MuJoCo",
    "our steps in lanes",
    "points that carry, mean: ours, MuJoCo's elliptic",
    "deepest overlap [m]: ours, MuJoCo's",
    "fastest creep [m/s]: ours, MuJoCo's",
]
SCENARIOS = {
    "solo12-policy": "Solo-12, targets ± 0.3 rad",
    "solo12-stand": "Solo-12 standing, ± 0.05 rad",
    "talos-stand": "Talos, ± 0.05 rad",
    "solo12-rough": "Solo-12 on a height field, ± 0.3 rad",
    "allegro-rest": "Allegro holds a ball",
    "allegro-noise": "Allegro holds a ball, ± 0.05 rad",
}


def batch_rows(document: dict) -> tuple[list[str], list[list[str]]]:
    """Of `stiction bench batch`: µs per world-step, of the peer its fastest variant."""
    rows = [
        _batch_row(SCENARIOS.get(name, name), scenario["series"])
        for name, scenario in document["scenarios"].items()
    ]
    return BATCH_HEAD, rows


def _batch_row(name: str, series: dict) -> list[str]:
    """The ratios are those of the widest packs that there are, else of Simulators."""
    ours = {kind: series.get(f"stiction-{kind}-t1") for kind in ("w8", "w4", "simulators")}
    kind = next(kind for kind in ours if f"stiction-{kind}-t2" in series)
    first, second = (series[f"stiction-{kind}-t{threads}"] for threads in (1, 2))

    def fastest(cone: str) -> str:
        labels = [x for x in series if f"-{cone}-" in x and x.endswith("-t1")]
        return min(labels, key=lambda x: series[x]["us"])

    cones = ("elliptic", "pyramidal")
    labels = [fastest(cone) for cone in cones]
    peers = [series[label] for label in labels]
    theirs = [series[labels[0].replace("-t1", f"-t{n}")]["wall"] for n in (1, 2)]

    def variant(label: str, cone: str) -> str:
        return label.removeprefix("mujoco-").removesuffix("-t1").replace(f"-{cone}", "")

    own, other = first.get("work"), peers[0].get("work")

    def both(number: Callable[[dict], float], form: str) -> str:
        if not own or not other:
            return "-"  # of an older version, which did not look at it
        return f"{number(own):{form}}, {number(other):{form}}"

    return [
        name,
        *(_number(own and own["us"], ".2f") for own in ours.values()),
        *(
            f"{peer['us']:.1f} {variant(label, cone)}"
            for peer, label, cone in zip(peers, labels, cones, strict=True)
        ),
        *(f"{first['us'] / peer['us']:.2f}" for peer in peers),
        f"{second['wall']:.2f}",
        f"{first['wall'] / second['wall']:.2f}",
        f"{theirs[0] / theirs[1]:.2f}",
        "-" if first["lanes"] is None else f"{first['lanes']:.1%}",
        both(lambda work: work["loaded"], ".2f"),
        both(lambda work: work["maximum"]["penetration"], ".0e"),
        both(lambda work: work["maximum"]["creep"], ".0e"),
    ]


def engine_rows(document: dict) -> tuple[list[str], list[list[str]]]:
    """Of examples/learning/two_engines.py: mean return, deviation between seeds."""
    cells: dict[tuple[str, str, str], list[float]] = {}
    seconds: dict[tuple[str, str], list[float]] = {}
    for row in document["rows"]:
        task, learned = row["task"], row["learned in"]
        cells.setdefault((task, learned, row["judged in"]), []).append(row["return"])
        if "seconds to learn" in row:
            seconds.setdefault((task, learned), []).append(row["seconds to learn"])
    rows = []
    for (task, learned), times in seconds.items():
        found = [np.array(cells[task, learned, engine]) for engine in ("stiction", "mujoco")]
        returns = [f"{x.mean():.0f} ± {x.std():.0f}" for x in found]
        rows.append([task, learned, *returns, f"{np.mean(times):.0f}"])
    head = ["task", "learned in", "return in stiction", "return in MuJoCo", "s to learn"]
    return head, rows


def fastest_drops(document: dict) -> dict:
    """Of each scene ours, and the fastest variant of the peer with either cone by its mean."""
    rows = []
    for row in document["rows"]:
        kept = {label: e for label, e in row["engines"].items() if not label.startswith("mujoco")}
        for cone in ("elliptic", "pyramidal"):
            variants = [
                (e["ms"]["mean"], label) for label, e in row["engines"].items() if cone in label
            ]
            kept |= {label: row["engines"][label] for _, label in sorted(variants)[:1]}
        rows.append(row | {"engines": kept})
    return document | {"rows": rows}


def _markdown(head: list[str], rows: list[list[str]]) -> list[str]:
    lines = [head, ["---"] * len(head), *rows]
    return ["| " + " | ".join(cells) + " |" for cells in lines]


def _about(machine: dict, name: str, threads: str = "one core") -> str:
    versions = f"MuJoCo {machine['versions']['mujoco']}"
    return f"{machine['cpu']}, {threads}, {versions}, {machine['date'][:10]} (`{name}`):"


def block(section: str, files: dict[str, dict]) -> list[str]:
    """A table per file that has the section."""
    lines: list[str] = []
    for name, data in sorted(files.items()):
        if section not in data:
            continue
        if section == "results":
            machine, (head, rows) = data["machine"], step_rows(data["results"])
            for scene, why in data["refused"].items():
                first = why.removeprefix(f"scene '{scene}' ").split(";")[0]  # of many variants
                rows.append([f"{scene}: no ratio, {first}", *["-"] * 6])
        else:
            measured = data[section]
            machine = measured["machine"]
            if section == "drops":
                times, (head, rows) = drop_rows(fastest_drops(measured))
                lines += [
                    "",
                    _about(machine, name),
                    "",
                    *_markdown(*times),
                    "",
                    "The same runs:",
                    "",
                ]
                lines += _markdown(head, rows)
                continue
            head, rows = {
                "worst_step": worst_step_rows,
                "batch": batch_rows,
                "gymnasium": engine_rows,
            }[section](measured)
        threads = "one thread, two where told" if section == "batch" else "one core"
        lines += ["", _about(machine, name, threads), "", *_markdown(head, rows)]
    return lines


def rendered(text: str, files: dict[str, dict], sections: tuple[str, ...]) -> str:
    """The text with these blocks between their markers as the files have them."""
    for section in sections:
        start, end = f"<!-- {section}:start -->", f"<!-- {section}:end -->"
        before, rest = text.split(start)
        lines = [start, *block(section, files), ""]
        text = before + "\n".join(lines) + end + rest.split(end)[1]
    return text


def load_files(folder: Path = RESULTS) -> dict[str, dict]:
    """Results by the file's path from the root; studies, which are lists of tables, are not it."""
    paths = [path for path in sorted(folder.glob("*.json")) if not path.stem.endswith("-study")]
    return {str(path.relative_to(ROOT)): json.loads(path.read_text()) for path in paths}


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_dir():
        sys.exit(__doc__)
    found = load_files(Path(sys.argv[1]).resolve())
    if not found:
        sys.exit(f"{sys.argv[1]}: has no results")
    for page, parts in PAGES.items():
        page.write_text(rendered(page.read_text(), found, parts))
