"""Makes the gallery of the manual: simulates its entries, takes their pictures, writes their
numbers to docs/tables/gallery.json and the cards between the markers of docs/gallery.md.

python tools/gallery.py [NAME ...]    all entries, or only these; the others' numbers stay
python tools/gallery.py --page        only the cards, from the numbers that are there
"""

import json
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from gallery_built_in import BUILT_IN
from gallery_entry import FINISH, PRELUDE, Entry
from gallery_robots import REAL
from stiction.record import Recorder
from stiction.replay import Replay, write_replay
from stiction_lab.studies.page.markdown import replace

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "gallery.md"
NUMBERS = ROOT / "docs" / "tables" / "gallery.json"
PICTURES = ROOT / "docs" / "images" / "gallery"
FPS = 30
ENTRIES = BUILT_IN + REAL
EMBEDDED = {"grasp": "panda", "stack": "box-stack", "pile": "ycb-pile"}
"""Entries whose replay stands in the page, by the motion's name in docs/_ext/replays.py."""
SOURCES = {
    "example_robot_data": "https://github.com/Gepetto/example-robot-data/tree/master/robots/",
    "gymnasium": "https://github.com/Farama-Foundation/Gymnasium/tree/main/gymnasium/envs/mujoco/assets/",
}


def prepare(entry: Entry) -> dict[str, Any]:
    """The names that the entry's code leaves: sim, state, control, perhaps act and mjcf."""
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(PRELUDE + entry.code, names)
    return names


def run(entry: Entry) -> tuple[Replay, dict[str, Any]]:
    """The recording, and the numbers of the run."""
    names = prepare(entry)
    sim, state, control = names["sim"], names["state"], names["control"]
    act = names.get("act", lambda step: None)
    visuals = names["mjcf"].visuals() if "mjcf" in names else None
    recorder = Recorder(sim, title=entry.title, fps=FPS, visuals=visuals)
    recorder.capture(state)
    steps = round(entry.seconds / sim.settings.dt)
    ok, worst, times = 0, 0.0, []
    for step in range(steps):
        begin = time.perf_counter()
        report = sim.step(state, control)
        times.append(time.perf_counter() - begin)
        ok += report.status == "ok"
        worst = max(worst, float(report.residuals.relative))
        recorder.after_step(state)
        act(step + 1)
    us = float(f"{1e6 * sorted(times)[len(times) // 2]:.3g}")
    return recorder.replay(), {
        "steps": steps,
        "ok": ok,
        "residual": float(f"{worst:.2g}"),
        "us": us,
    }


def view(entry: Entry, replay: Replay) -> tuple[float, str]:
    """Time of a recorded frame [s], as contacts are not interpolated, and the camera.

    Its target, if the entry has none, is the middle of the moving bodies and contacts.
    """
    frame = int(np.abs(replay.time - entry.at).argmin())
    t, cam = float(replay.time[frame]) + 1e-4, entry.cam
    if cam.count(",") < 3:
        places = np.vstack([replay.poses[frame, 1:, :3], replay.contacts[frame][:, :3]])
        middle = (places.min(axis=0) + places.max(axis=0)) / 2
        cam += "".join(f",{x:.3f}" for x in middle)
    return t, cam


def make(entries: tuple[Entry, ...]) -> None:
    """Runs, pictures and numbers of these entries."""
    from gallery_pictures import picture
    from stiction_lab.bench.machine import cpu_model

    numbers = json.loads(NUMBERS.read_text()) if NUMBERS.is_file() else {"entries": {}}
    PICTURES.mkdir(parents=True, exist_ok=True)
    for entry in entries:
        replay, measured = run(entry)
        with tempfile.TemporaryDirectory() as folder:
            html = write_replay(Path(folder) / "replay.html", replay)
            output = PICTURES / f"{entry.name}.png"
            picture(html, output, *view(entry, replay), entry.options)
        numbers["entries"][entry.name] = measured
        print(entry.name, measured, flush=True)
    numbers["cpu"] = cpu_model().split(" with ")[0]
    known = numbers["entries"]
    numbers["entries"] = {e.name: known[e.name] for e in ENTRIES if e.name in known}
    NUMBERS.write_text(json.dumps(numbers, indent=1) + "\n")


def card(entry: Entry, row: dict[str, Any]) -> list[str]:
    """A grid item: picture, line, numbers, code."""
    source = "built in"
    if entry.source:
        source = f"[{Path(entry.source).name}]({SOURCES[entry.needs]}{entry.source})"
    residual = f"{row['residual']:.0e}".replace("-", "\N{NON-BREAKING HYPHEN}")
    residual = residual if row["residual"] else "0"
    numbers = f"{row['ok']} of {row['steps']} steps ok, residual {residual}, "
    return [
        f":::::{{grid-item-card}} {entry.title}",
        f":img-top: images/gallery/{entry.name}.png",
        f":img-alt: {entry.title}",
        "",
        entry.about,
        "",
        f"{numbers}{row['us']:g} µs per step; {source}",
        "",
        "::::{dropdown} Code",
        "```python not-run",
        entry.code.rstrip(),
        "```",
        "::::",
        ":::::",
        "",
    ]


def cards(numbers: dict[str, Any]) -> str:
    """The generated part of the page."""
    lines = [
        f"Times: median of a step called from Python, {numbers['cpu']}, one core, not idle. "
        "Residual: the worst of all steps.",
        "",
        "::::{dropdown} Every entry starts and ends with",
        "```python not-run",
        PRELUDE.rstrip(),
        "```",
        "",
        "```python not-run",
        FINISH.rstrip(),
        "```",
        "::::",
        "",
    ]
    for heading, entries in (("Built-in scenes", BUILT_IN), ("Robots from files", REAL)):
        lines += [f"## {heading}", "", "::::::{grid} 1 2 3 3", ":gutter: 2"]
        lines += [":class-container: gallery", ""]
        for entry in entries:
            lines += card(entry, numbers["entries"][entry.name])
        lines += ["::::::", ""]
    return "\n".join(lines)


def rendered(text: str, numbers: dict[str, Any]) -> str:
    """The page with its part between the markers made from the numbers."""
    return replace(text, "gallery", f"\n{cards(numbers)}")


def embedded(motion: str, output: Path) -> None:
    """The replay that stands in the page by the name of a motion of docs/_ext/replays.py."""
    entry = next(entry for entry in ENTRIES if entry.name == EMBEDDED[motion])
    write_replay(output, run(entry)[0])


if __name__ == "__main__":
    asked = sys.argv[1:]
    if asked != ["--page"]:
        if set(asked) - {entry.name for entry in ENTRIES}:
            sys.exit(__doc__)
        make(tuple(entry for entry in ENTRIES if not asked or entry.name in asked))
    PAGE.write_text(rendered(PAGE.read_text(), json.loads(NUMBERS.read_text())))
