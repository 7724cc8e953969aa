"""`stiction doctor` on files of others."""

from __future__ import annotations

from pathlib import Path

import gymnasium
import pytest
from stiction.doctor import SEVERITIES, examine
from stiction_lab.bench.robots import example_robots

GYMNASIUM = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
BROKEN = ("alex_psyonic_hands.urdf", "romeo.urdf", "romeo_laas_small.urdf", "ur3.urdf")


@pytest.mark.parametrize("path", example_robots(), ids=lambda path: path.stem)
def test_every_example_robot_is_looked_at(path: Path) -> None:
    """Robots that load have no errors, those that do not have some; each has a fix and a line."""
    found = examine(path)
    loads = path.name not in BROKEN
    assert bool(found.bodies) == loads and bool(found.of("error")) != loads
    for finding in found.findings:
        assert finding.severity in SEVERITIES and finding.text and finding.fix
        assert finding.line > 0 or finding.check in ("start overlap", "start closure")


@pytest.mark.parametrize("path", sorted(GYMNASIUM.glob("*.xml")), ids=lambda path: path.stem)
def test_every_file_of_gymnasium_is_looked_at(path: Path) -> None:
    found = examine(path)
    assert found.bodies and not found.of("error")
    checks = {f.check for f in found.of("warning")}
    known = {
        "ant": {"density", "start pose"},
        "hopper": set(),
        "walker2d": set(),
        "half_cheetah": set(),
    }
    assert checks == known.get(path.stem, checks)
