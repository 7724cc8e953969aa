"""docs/mjcf_models.md from benchmarks/results/mjcf-models.json, which mjcf_models.py measures.

python tools/mjcf_page.py
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from stiction_lab.studies.page.markdown import replace, table

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "mjcf-models.json"
PAGE = ROOT / "docs" / "mjcf_models.md"
BEGIN, END = "<!-- tables:start -->", "<!-- tables:end -->"
PASSIVE_GAIN, ENERGY_DIFFERENCE, DEPTH, LOAD = 1e-3, 0.1, 1e-3, 0.3
"""What is asked: rise of a passive file's energy and end of the others' energies, of their range;
depth [m]; loading beyond MuJoCo's compiler [s]."""
OVERLAP = "pairs overlap at the start and lock the joints; MuJoCo's soft contacts let go"
SOFT = "MuJoCo's contacts, limits or welds give way"
FALLS = "an unstable balance: it still stands here, in MuJoCo it has fallen over"
RISES = "starts inside of what it lies on and is lifted out; 0.04 J or less"
UNSUPPORTED = "of the scene alone: springs, activations or servos that only simulation() knows"
MESHES = "after MuJoCo's compiler its meshes get hulls and a scene here"
CHAOS = "chaotic: MuJoCo's own ends lie up to {:.0f} % apart if it starts with speeds of 1e-6"
ROUNDING = (
    "rounding: an object of 10 g has 1e5 kg m² about each axis, gyroscopic torques that cancel"
)
UNDECIDED = "undecided"
SPATIAL = "the spatial tendon that carries the ball is not supported, the file's message says so"
WHY: dict[str, str] = {
    "*/ball_in_cup.xml": SPATIAL,
    "*/hopper.xml": FALLS,
    "*/walker.xml": FALLS,
    "*/walker2d*.xml": FALLS,
    "*/half_cheetah.xml": SOFT,
    "*/adroit_relocate.xml": SOFT,
    "*/fetch/*.xml": SOFT,
    "*/coupled_half_cheetah.xml": UNSUPPORTED,
    "*/dog_v2/dog.xml": UNSUPPORTED,
    "*/suite/dog.xml": UNSUPPORTED,
    "*/fruitfly_v2/*.xml": UNSUPPORTED,
    "*/rodent.xml": UNSUPPORTED,
    "*/fish.xml": UNSUPPORTED,
    "*/quadruped.xml": UNSUPPORTED,
    "*/model_with_third_order_actuators.xml": UNSUPPORTED,
    "*/jaco_three_finger_gripper.xml": UNSUPPORTED,
    "*/jaco_hand.xml": "starts outside of its joint limits",
    "metaworld/*/objects/*.xml": RISES,
    "*/sawyer_pick_out_of_hole.xml": ROUNDING,
    "*/sawyer_shelf_placing.xml": ROUNDING,
    "*/sawyer_table_with_hole.xml": ROUNDING,
    "*/model_with_ball_joints.xml": "two balls overlap by 20 mm at the start",
    "*/assets/arm.xml": "starts up to 190 mm below the rest height that its floor asks for",
    "*/omron_mobile_base.xml": "at rest; 0.1 J by which MuJoCo's dry friction lets a column creep",
}
"""Pattern of a file's path -> why it falls short."""


@dataclass
class Model:
    """One file; times in s, energies relative to the range of kinetic or potential energy."""

    package: str
    file: str
    dofs: int
    compile: float = 0.0
    load: float = 0.0
    unused: int = 0
    """Messages of what is not honoured."""
    differences: dict[str, float] = field(default_factory=dict)
    """Of mass matrix, bias, acceleration to MuJoCo's, those at or above 1e-9."""
    steps: int = 0
    ok: int = 0
    residual: float = 0.0
    """Worst certificate of a step."""
    overlaps: int = 0
    """Pairs deeper than 1 mm at the start."""
    depth_at_start: float | None = None
    depth: float = 0.0
    step: float = 0.0
    slowest_step: float = 0.0
    mujoco_step: float = 0.0
    passive: bool = False
    """No actuators, no mocap bodies."""
    energy_gain: float = 0.0
    """Largest rise above an earlier value."""
    energy_difference: float = 0.0
    """At the end, to MuJoCo's."""
    stiff_difference: float = 0.0
    """To that of MuJoCo made stiff, where the other is large."""
    apart_difference: float | None = None
    """To MuJoCo's with the pairs that overlap at the start off in both, where both are large."""
    spread: float = 0.0
    """Of MuJoCo's own, over starts with speeds of some 1e-6 rad/s and m/s, likewise."""
    error: str = ""

    def falls_short(self) -> list[str]:
        """What of the page's list it misses, in words."""
        if self.error:
            return [self.error]
        short = [f"{key} {x:.0e} off" for key, x in self.differences.items()]
        if self.load > self.compile + LOAD:
            short.append(f"loads in {self.load:.2f} s, MuJoCo {self.compile:.2f} s")
        if self.ok < 0.999 * self.steps:
            short.append(f"{self.steps - self.ok} of {self.steps} steps not ok")
        if self.depth > max(1.001 * (self.depth_at_start or 0.0), DEPTH):
            short.append(
                f"{self.depth * 1e3:.1f} mm deep, {(self.depth_at_start or 0.0) * 1e3:.1f} at first"
            )
        if self.passive and self.energy_gain > PASSIVE_GAIN:
            short.append(f"energy rises by {self.energy_gain * 100:.0f} %")
        if not self.passive and self.energy_difference > ENERGY_DIFFERENCE:
            short.append(
                f"energy ends {self.energy_difference * 100:.0f} % away, "
                f"of MuJoCo made stiff {self.stiff_difference * 100:.1f} %"
            )
        return short

    def why(self) -> str:
        """The reason."""
        pattern = self.pattern()
        if pattern:
            return WHY[pattern]
        if self.energy_difference > ENERGY_DIFFERENCE and not self.passive:
            if self.stiff_difference > ENERGY_DIFFERENCE:
                return self.why_stiff_too()
            return OVERLAP if self.overlaps else SOFT
        return MESHES if self.load > self.compile + LOAD else UNDECIDED

    def why_stiff_too(self) -> str:
        """Where stiffness is not it: what else was measured."""
        apart = self.apart_difference
        if apart is not None and apart <= ENERGY_DIFFERENCE:
            return OVERLAP + f"; {apart * 100:.1f} % away with these pairs off in both"
        if self.spread >= self.energy_difference:
            return CHAOS.format(self.spread * 100)
        return UNDECIDED

    def pattern(self) -> str:
        """Of WHY, that fits the file; "": none."""
        path = f"{self.package}/{self.file}"
        return next((pattern for pattern in WHY if fnmatch(path, pattern)), "")


def store(machine: dict[str, Any], models: list[Model]) -> None:
    """One line a file."""
    rows = [{f.name: _short(getattr(m, f.name)) for f in fields(m)} for m in models]
    head = {"machine": machine}
    text = json.dumps(head, indent=1)[:-2] + ',\n "models": [\n  '
    text += ",\n  ".join(json.dumps(row) for row in rows) + "\n ]\n}\n"
    RESULTS.write_text(text, encoding="utf-8")


def _short(x: Any) -> Any:
    if isinstance(x, dict):
        return {key: _short(value) for key, value in x.items()}
    return float(f"{x:.4g}") if isinstance(x, float) else x


def read() -> tuple[dict[str, Any], list[Model]]:
    """The machine and what it measured."""
    document = json.loads(RESULTS.read_text(encoding="utf-8"))
    return document["machine"], [Model(**row) for row in document["models"]]


def write_page() -> None:
    """The tables between their marks."""
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(replace(text, "tables", f"\n{tables()}"), encoding="utf-8")


def tables() -> str:
    """All of them, as Markdown."""
    machine, models = read()
    packages = list(dict.fromkeys(m.package for m in models))
    parts = [_said_of(machine), summary(models, packages), shortfalls(models)]
    for package in packages:
        own = [m for m in models if m.package == package and m.dofs]
        parts.append(f"## {package}\n\n" + of_files(own))
    return "\n".join(parts)


def _said_of(machine: dict[str, Any]) -> str:
    versions = machine["versions"]
    return (
        f"Measured on {machine['cpu']}, {machine['date'][:10]}, load {machine['load']}, with "
        f"MuJoCo {versions['mujoco']}, by `tools/mjcf_models.py`.\n"
    )


def summary(models: list[Model], packages: list[str]) -> str:
    """Counts a package."""
    head = [
        "package",
        "compiled",
        "loaded",
        "with joints",
        "same to 1e-9",
        "steps ok",
        "no deeper",
        "energy",
        "load",
    ]
    rows = []
    for name in [*packages, "all"]:
        own = [m for m in models if name in (m.package, "all")]
        moving = [m for m in own if m.dofs and not m.error]
        short = [" ".join(m.falls_short()) for m in moving]
        rows.append(
            [
                name,
                len(own),
                sum(not m.error for m in own),
                sum(m.dofs > 0 for m in own),
                *(
                    sum(word not in text for text in short)
                    for word in (" off", "not ok", " deep", "energy", "loads")
                ),
            ]
        )
    return markdown(head, rows)


def shortfalls(models: list[Model]) -> str:
    """The bad ones, with the reason."""
    rows = []
    for m in models:
        if m.dofs and (short := m.falls_short()):
            rows.append([f"{m.package}: `{_name(m)}`", "; ".join(short), m.why()])
    return "## What falls short\n\n" + markdown(["file", "what", "why"], rows, words=True)


def of_files(models: list[Model]) -> str:
    """A package, file by file."""
    head = [
        "file",
        "dofs",
        "unused",
        "load, MuJoCo's ms",
        "step, MuJoCo's µs",
        "slowest ms",
        "ok",
        "certificate",
        "deepest, at first mm",
    ]
    rows = [
        [
            f"`{_name(m)}`",
            m.dofs,
            m.unused,
            f"{m.load * 1e3:.0f}, {m.compile * 1e3:.0f}",
            f"{m.step * 1e6:.0f}, {m.mujoco_step * 1e6:.0f}",
            f"{m.slowest_step * 1e3:.1f}",
            "all" if m.ok == m.steps else f"{m.ok} of {m.steps}",
            f"{m.residual:.0e}",
            f"{m.depth * 1e3:.1f}, {m.depth_at_start * 1e3:.1f}",
        ]
        for m in models
    ]
    return markdown(head, rows)


def _name(m: Model) -> str:
    """Of the file, with its folder where the package has it twice."""
    return "/".join(Path(m.file).parts[-2:])


def markdown(head: list[str], rows: list[list[Any]], words: bool = False) -> str:
    """A table; numbers to the right, words to the left."""
    marks = ["---" if k == 0 or words else "---:" for k in range(len(head))]
    return table(head, [list(map(str, row)) for row in rows], marks) + "\n"


if __name__ == "__main__":
    write_page()
