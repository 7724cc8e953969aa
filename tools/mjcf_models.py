"""Every MJCF file below some folders in stiction and in MuJoCo, as a Markdown table.

    pip download --no-deps gymnasium gymnasium-robotics dm_control metaworld robosuite
    python tools/mjcf_models.py gymnasium/ dm_control/ ...      # the wheels, unpacked

By folder: how many files MuJoCo compiles, how many of them load and have joints; of how many of
these mass matrix, bias and acceleration at random states and controls are MuJoCo's to 1e-9 with
contacts, limits, dry friction and equalities off in both; of how many all steps of 2 s at the
file's time step (4000 steps at most) are ok, without control. Then the others, and why.
"""

from __future__ import annotations

import signal
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "python"))

import mujoco
import numpy as np
import stiction
from mjcf_beside_mujoco import Beside, worst_differences

SECONDS, MOST_STEPS, LIMIT = 2.0, 4000, 90
"""Simulated, steps at most, wall clock of one file [s]."""


@dataclass
class Package:
    """Counts of one folder."""

    name: str
    compiled: int = 0
    loaded: int = 0
    moving: int = 0
    same: int = 0
    ok: int = 0
    remarks: list[str] = field(default_factory=list)

    def row(self) -> str:
        """Of the table."""
        numbers = (self.compiled, self.loaded, self.moving, self.same, self.ok)
        return f"| {self.name} | " + " | ".join(map(str, numbers)) + " |"


def main() -> None:
    """Print the table and the remarks."""
    warnings.simplefilter("ignore")
    mujoco.set_mju_user_warning(lambda _: None)
    signal.signal(signal.SIGALRM, _too_long)
    packages = [read(Path(folder)) for folder in sys.argv[1:]]
    print("| package | compiled | loaded | with joints | same to 1e-9 | 2 s ok |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for package in packages:
        print(package.row())
    for package in packages:
        for remark in package.remarks:
            print(f"- {remark}")


def read(folder: Path) -> Package:
    """All files of a folder."""
    package = Package(folder.name)
    for file, dofs in compiled_files(folder):
        package.compiled += 1
        name = str(file.relative_to(folder))
        signal.alarm(LIMIT)
        try:
            loaded = stiction.load_mjcf(file)
            package.loaded += 1
            if dofs:
                package.moving += 1
                compare(package, name, Beside(file, equalities=False))
                run(package, name, loaded)
        except TimeoutError:
            package.remarks.append(f"`{name}`: not through after {LIMIT} s")
        except stiction.StictionError as error:
            package.remarks.append(f"`{name}`: {error}")
        signal.alarm(0)
    return package


def compiled_files(folder: Path) -> Iterator[tuple[Path, int]]:
    """Those that MuJoCo compiles, with their number of dofs."""
    for file in sorted(folder.rglob("*.xml")):
        try:
            yield file, int(mujoco.MjModel.from_xml_path(str(file)).nv)
        except ValueError:
            continue


def compare(package: Package, name: str, beside: Beside) -> None:
    """Mass matrix, bias, acceleration."""
    differences = worst_differences(beside, np.random.default_rng(0), states=3)
    if max(differences.values()) < 1e-9:
        package.same += 1
        return
    large = ", ".join(f"{key} {x:.0e}" for key, x in differences.items() if x >= 1e-9)
    said = sorted({_reason(m.text) for m in beside.ours.messages if m.kind == "unused"})
    package.remarks.append(f"`{name}`: {large}; {'; '.join(said)}")


def _reason(text: str) -> str:
    return text.rpartition("': ")[2]


def run(package: Package, name: str, loaded: stiction.Mjcf) -> None:
    """Two seconds without control."""
    scene, dt = loaded.scene, loaded.timestep
    sim, bad = loaded.simulation(), 0
    state = sim.state
    overlaps = [p.distance for p in scene.distances(state, 0.0) if p.distance < -1e-3]
    begin = time.perf_counter()
    steps = min(round(SECONDS / dt), MOST_STEPS)
    for _ in range(steps):
        bad += sim.step().status != "ok"
    spent = (time.perf_counter() - begin) / steps
    if bad == 0:
        package.ok += 1
    if bad or spent > 2e-3:
        package.remarks.append(
            f"`{name}`: {bad} of {steps} steps not ok, {spent * 1e3:.1f} ms a step; "
            f"{len(overlaps)} pairs overlap at the start"
        )


def _too_long(*_: Any) -> None:
    raise TimeoutError


if __name__ == "__main__":
    main()
