"""Bodies that overlap and closures that are open where the model starts."""

from __future__ import annotations

from collections.abc import Iterator

from ..starting import Bodies, _openings
from .case import Case
from .finding import Finding

__all__ = ["check_start"]

MOST = 12
"""Overlaps that are told one by one."""


def check_start(case: Case) -> Iterator[Finding]:
    """Of every configuration."""
    bodies = Bodies(case.scene)
    deepest: dict[tuple[int, int], tuple[float, str]] = {}
    for name in dict.fromkeys(("default", *case.scene.configurations)):
        state = case.state(name)
        for pair in case.scene.distances(state, 0.0):
            key = (pair.geometry_a, pair.geometry_b)
            if bodies.overlap(pair):
                deepest[key] = max(deepest.get(key, (0.0, "")), (-pair.distance, name))
        for opening in _openings(case.sim, state):
            text = f"{opening} open at the start, in '{name}'"
            fix = "start from a configuration in which it is closed, or move its frames"
            yield Finding("warning", "start closure", text, fix, case.file)
    ordered = sorted(deepest.items(), key=lambda item: -item[1][0])
    for (a, b), (depth, name) in ordered[:MOST]:
        yield _overlap(case, bodies, a, b, depth, name)
    if len(ordered) > MOST:
        rest = len(ordered) - MOST
        text = f"{rest} more pairs of shapes overlap at the start, by up to "
        text += f"{1e3 * ordered[MOST][1][0]:.3g} mm"
        fix = "as of the others"
        yield Finding("warning", "start overlap", text, fix, case.file, 0, float(rest))


def _body_of_file(case: Case, geom: str) -> str:
    """The file's body that has a geom of this name."""
    assert case.mjcf is not None
    source = case.mjcf._source
    names = source.names("geom")
    return source.name("body", source.model.geom_bodyid[names.index(geom)])


def _overlap(
    case: Case, bodies: Bodies, a: int, b: int, depth: float, configuration: str
) -> Finding:
    one, other = bodies.geometries[a], bodies.geometries[b]
    file, line = case.place("geom", one.name)
    if not line:
        file, line = case.place("geom", other.name)
    text = (
        f"'{one.name}' and '{other.name}' overlap by {1e3 * depth:.3g} mm at the start, in "
        f"'{configuration}'"
    )
    fix = f"move them apart, or scene.disable_pair('{one.name}', '{other.name}')"
    if bodies.against_world(a, b):
        fix = "move the body out of what does not move"
    elif case.mjcf is not None:
        names = [_body_of_file(case, geometry.name) for geometry in (one, other)]
        exclude = f'<exclude body1="{names[0]}" body2="{names[1]}"/>'
        fix = f"move them apart, or <contact>{exclude}</contact> if they are meant to overlap"
    elif case.urdf is not None:
        fix = "move them apart, or <disable_collisions> in the SRDF"
    return Finding("warning", "start overlap", text, fix, file, line, 1e3 * depth)
