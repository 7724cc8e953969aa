"""Numbers that look as if they were in another unit: degrees for radians, millimetres, upwards."""

from __future__ import annotations

from collections.abc import Iterator
from math import degrees, pi, radians

import numpy as np
from numpy.typing import NDArray

from .case import Case
from .finding import Finding, listed

__all__ = ["check_units"]

TURNS = 4
"""That no machine's hinge with stops makes."""
NO_STOP = 400.0
"""A stop so far away is meant as none [rad]."""
LARGEST_GRAVITY = 100.0
"""[m/s^2]; Jupiter's is 25."""


def check_units(case: Case) -> Iterator[Finding]:
    """Ranges of hinges, gravity."""
    yield from _ranges(case)
    yield from _gravity(case)


def _ranges(case: Case) -> Iterator[Finding]:
    p = case.scene.parameters
    reach, in_radians = {}, []
    for joint in case.scene.joints:
        if joint.type == "revolute" and joint.nv == 1:
            stops = np.abs([p.lower[joint.v_index], p.upper[joint.v_index]])
            stops = stops[(stops > 0.0) & (stops <= NO_STOP)]
            if len(stops):
                reach[joint.name] = float(np.max(stops))
                if np.all(_are_parts_of_turns(np.degrees(stops))):
                    in_radians.append(joint.name)
    far = [name for name, angle in reach.items() if angle > TURNS * 2.0 * pi]
    if far:
        angle = reach[far[0]]
        text = f"{len(far)} hinges reach {TURNS} turns and more: {listed(far)}"
        if len(far) == 1:
            text = f"joint '{far[0]}' reaches {angle:.4g} rad"
        fix = f"{radians(angle):.4g} rad if these are degrees"
        if case.mjcf is not None:
            fix = 'the range, or <compiler angle="degree"/> if the file has radians'
        file, line = case.place("joint", far[0])
        yield Finding("warning", "unit", text, fix, file, line, angle)
    # A file of degrees whose author wrote radians: every hinge has a few degrees.
    if case.mjcf is not None and reach and max(reach.values()) <= radians(2.0 * pi):
        first, angle = next(iter(reach)), max(reach.values())
        text = f"hinges reach {degrees(angle):.3g} degrees at most: {listed(list(reach))}"
        file, line = case.place("joint", first)
        fix = '<compiler angle="radian"/> if these are radians'
        severity = "warning" if len(reach) > 1 else "note"
        yield Finding(severity, "unit", text, fix, file, line, angle)
    elif case.mjcf is not None:  # of one hinge among others
        for name in in_radians:
            angle = degrees(reach[name])
            text = f"joint '{name}' reaches {angle:.4g} degrees"
            fix = f"{degrees(angle):.4g} if these are radians"
            file, line = case.place("joint", name)
            yield Finding("note", "unit", text, fix, file, line, reach[name])


def _are_parts_of_turns(numbers: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Multiples of pi / 12 up to pi, as people round them: what is no range in degrees."""
    parts = numbers / (pi / 12.0)
    nearest = np.round(parts)
    return (np.abs(parts - nearest) <= 5e-3 * nearest) & (nearest >= 1.0) & (nearest <= 12.0)


def _gravity(case: Case) -> Iterator[Finding]:
    g = np.array(case.scene.parameters.gravity)
    size, text = float(np.linalg.norm(g)), "gravity is " + " ".join(f"{x:g}" for x in g) + " m/s^2"
    file, line = case.option_place()
    if size > LARGEST_GRAVITY:
        fix = "0 0 -9.81, and lengths in metres"
        yield Finding("warning", "unit", text, fix, file, line, size)
    elif size > 0.0 and g[2] > 0.5 * size:
        fix = f"0 0 {-size:g} if it is to point down"
        yield Finding("warning", "unit", f"{text}: it points up", fix, file, line, float(g[2]))
    elif size > 0.0 and g[2] > -0.5 * size:
        fix = f"0 0 {-size:g}, and the model turned so that z is up"
        yield Finding("note", "unit", f"{text}: it is sideways", fix, file, line, size)
