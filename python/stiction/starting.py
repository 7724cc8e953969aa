"""What is wrong with where a simulation starts: bodies that overlap, closures that are open."""

from __future__ import annotations

import warnings

from . import _stiction
from ._stiction import State

__all__ = ["StartWarning", "warn_of_start"]

OPEN = 1e-5
"""Opening [m or rad] up to which nothing is said."""
DEEP, RELATIVELY_DEEP = 5e-4, 0.02
"""Overlap up to which nothing is said [m], and as a share of the smaller bounding radius."""


class StartWarning(UserWarning):
    """Bodies overlap, or closures, welds or gears are open, in the state a simulation starts from.

    They are parted and closed no faster than `recovery_speed` and `recovery_angular_speed`.
    """


def warn_of_start(
    sim: _stiction.Simulator, state: State, configuration: str, stacklevel: int
) -> None:
    """One StartWarning that lists everything, the worst first; none if nothing is wrong."""
    overlaps, openings = _overlaps(sim, state), _openings(sim, state)
    parts = []
    if overlaps:
        noun = "pair of bodies overlaps" if len(overlaps) == 1 else "pairs of bodies overlap"
        parts.append(f"{len(overlaps)} {noun} at the start: {', '.join(overlaps)}")
    if openings:
        verb = "is" if len(openings) == 1 else "are"
        noun = "closure or gear" if len(openings) == 1 else "closures or gears"
        parts.append(f"{len(openings)} {noun} {verb} open at the start: {', '.join(openings)}")
    if not parts:
        return
    where = "" if configuration == "default" else f" in '{configuration}'"
    name = sim.scene.name
    warnings.warn(f"{name}{where}: {'; '.join(parts)}", StartWarning, stacklevel=stacklevel + 1)


def _overlaps(sim: _stiction.Simulator, state: State) -> list[str]:
    """As "a / b 7.1 mm", each pair of bodies that overlaps, the deepest first."""
    scene = sim.scene
    names, geometries = scene.body_names, scene.geometries
    deepest: dict[tuple[str, str], float] = {}
    for pair in scene.distances(state, 0.0, sim.parameters):
        size = min(
            _stiction.bounding_radius(geometries[g].shape)
            for g in (pair.geometry_a, pair.geometry_b)
        )
        if -pair.distance <= min(DEEP, RELATIVELY_DEEP * size):
            continue
        a, b = (
            geometries[g].name if geometries[g].body < 0 else names[geometries[g].body]
            for g in (pair.geometry_a, pair.geometry_b)
        )
        deepest[a, b] = max(deepest.get((a, b), 0.0), -pair.distance)
    ordered = sorted(deepest.items(), key=lambda item: -item[1])
    return [f"{a} / {b} {1e3 * depth:.3g} mm" for (a, b), depth in ordered]


def _openings(sim: _stiction.Simulator, state: State) -> list[str]:
    """As "closure 'w' 3 mm and 0.1 rad", each that is open, the widest first."""
    found = [e for e in sim._closure_errors(state) if max(e[2:]) > OPEN]
    texts = []
    for kind, name, metres, radians in sorted(found, key=lambda e: -max(e[2:])):
        sizes = [f"{1e3 * metres:.3g} mm"] if metres > OPEN else []
        sizes += [f"{radians:.3g} rad"] if radians > OPEN else []
        texts.append(f"{kind} '{name}' {' and '.join(sizes)}")
    return texts
