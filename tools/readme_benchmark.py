"""Writes the table between the bench markers of README.md from a results file.

python tools/readme_benchmark.py benchmarks/results/<machine>.json
"""

import json
import sys
from pathlib import Path

START, END = "<!-- bench:start -->", "<!-- bench:end -->"
HEAD = (
    "| scene | ours µs | MuJoCo, best elliptic µs | ratio | ratio to its best pyramidal "
    "| penetration m, ours / peer | creep m/s, ours / peer |\n"
    "| --- | --- | --- | --- | --- | --- | --- |"
)


def row(name: str, r: dict) -> str:
    ours, peer = r["certificate_ours"]["maximum"], r["certificate_peer"]["maximum"]
    return (
        f"| {name} | {r['ours_us']:.4g} | {r['peer_us']:.4g} | {r['ratio']:.2f} "
        f"| {r['ratio_to_pyramidal']:.2f} | {ours['penetration']:.0e} / {peer['penetration']:.0e} "
        f"| {ours['creep']:.0e} / {peer['creep']:.0e} |"
    )


def main(path: Path) -> None:
    data = json.loads(path.read_text())
    lines = []
    for r in data["results"]:
        lines.append(row(r["scene"], r))
        if r["noise"]:
            lines.append(row(f"{r['scene']}, noise {r['noise']['sigma_rad']:g} rad", r["noise"]))
    machine = data["machine"]
    about = (
        f"{machine['cpu']}, one core, MuJoCo {machine['versions']['mujoco']}, "
        f"{machine['date'][:10]} (`{path}`; `make bench` writes yours). Below 1 ours is faster; "
        "ours solves every step to a relative residual of 1e-8, piles to 1e-6, where it can; "
        "stacks and the small pile are slower for it.\n"
    )
    readme = Path("README.md")
    text = readme.read_text()
    before, rest = text.split(START)
    table = "\n".join([START, about, HEAD, *lines, ""])
    readme.write_text(before + table + END + rest.split(END)[1])


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
