"""Numbers that look as if they were in another unit: degrees for radians, millimetres, upwards."""

from __future__ import annotations

from collections.abc import Iterator
from math import degrees, pi, radians

import numpy as np

from .case import Case
from .finding import Finding, listed

__all__ = ["check_units"]

TURNS = 4
"""Of a hinge with stops that no machine has ..."""
NO_STOP = 400.0
"""... up to what is meant as no stop at all [rad]."""
HEAVIEST = 100.0
"""Of gravity [m/s^2]; Jupiter's is 25."""


def check_units(case: Case) -> Iterator[Finding]:
    """Ranges of hinges, gravity."""
    yield from _ranges(case)
    yield from _gravity(case)


def _ranges(case: Case) -> Iterator[Finding]:
    p = case.scene.parameters
    reach = {}
    for joint in case.scene.joints:
        if joint.type == "revolute" and joint.nv == 1:
            stops = np.abs([p.lower[joint.v_index], p.upper[joint.v_index]])
            if np.all(np.isfinite(stops)) and np.max(stops) > 0.0:
                reach[joint.name] = float(np.max(stops))
    far = [name for name, angle in reach.items() if TURNS * 2.0 * pi < angle <= NO_STOP]
    if far:
        angle = reach[far[0]]
        text = f"{len(far)} hinges reach {TURNS} turns and more: {listed(far)}"
        if len(far) == 1:
            text = f"joint '{far[0]}' reaches {angle:g} rad"
        fix = f"{radians(angle):.4g} rad if these are degrees"
        if case.mjcf is not None:
            fix = '<compiler angle="degree"/> if these are degrees'
        file, line = case.place("joint", far[0])
        yield Finding("warning", "unit", text, fix, file, line, angle)
    # A file of degrees whose author wrote radians: every hinge has a few degrees.
    if case.mjcf is not None and reach and max(reach.values()) <= radians(2.0 * pi):
        first, angle = next(iter(reach)), max(reach.values())
        text = f"hinges reach {degrees(angle):.3g} degrees at most: {listed(list(reach))}"
        file, line = case.place("joint", first)
        fix = '<compiler angle="radian"/> if these are radians'
        yield Finding("warning", "unit", text, fix, file, line, angle)


def _gravity(case: Case) -> Iterator[Finding]:
    g = np.array(case.scene.parameters.gravity)
    size, text = float(np.linalg.norm(g)), "gravity is " + " ".join(f"{x:g}" for x in g) + " m/s^2"
    file, line = case.option_place()
    if g[2] > 0.0:
        fix = f"0 0 {-g[2]:g} if it is to point down"
        yield Finding("warning", "unit", f"{text}: it points up", fix, file, line, float(g[2]))
    elif size > HEAVIEST:
        fix = "0 0 -9.81, and lengths in metres"
        yield Finding("warning", "unit", text, fix, file, line, size)
