"""Friction that is zero, or stands where it is not read."""

from __future__ import annotations

from collections.abc import Iterator

from .._stiction import Geometry
from .case import Case
from .finding import Finding, listed
from .urdf_lines import UrdfLines

__all__ = ["check_friction", "check_urdf_friction"]


def check_friction(case: Case) -> Iterator[Finding]:
    """Of shapes of bodies that can touch something, and nothing with friction."""
    geometries = case.scene.geometries
    slippery = [g.name for i, g in enumerate(geometries) if g.body >= 0 and _slips(case, i, g)]
    if not slippery:
        return
    file, line = case.place("geom", slippery[0])
    noun = "shape has" if len(slippery) == 1 else "shapes have"
    text = f"{len(slippery)} {noun} friction 0: {listed(slippery)}: nothing they touch holds them"
    fix = 'condim="3" and friction="..."' if case.mjcf is not None else "Material(friction=0.8)"
    yield Finding("warning", "friction", text, fix, file, line, 0.0)


def _slips(case: Case, geometry: int, own: Geometry) -> bool:
    """Whether every pair that it is in has friction 0."""
    scene = case.scene
    ruled = scene.material_pairs or own.friction_rule == "larger"
    if scene.parameters.friction[geometry] > 0.0 and not ruled:
        return False
    others = [b for b in range(len(scene.geometries)) if scene.pair_enabled(geometry, b)]
    return bool(others) and all(scene.pair_material(geometry, b).friction == 0.0 for b in others)


def check_urdf_friction(file: str, urdf: UrdfLines) -> Iterator[Finding]:
    """Coefficients of Gazebo and Bullet, which are no part of URDF."""
    by_tag: dict[tuple[str, str], list[int]] = {}
    links: dict[tuple[str, str], list[str]] = {}
    for one in urdf.friction:
        by_tag.setdefault((one.tag, one.value), []).append(one.line)
        links.setdefault((one.tag, one.value), []).append(one.link)
    for (tag, value), lines in by_tag.items():
        text = f"<{tag}> {value} of {listed(links[tag, value])} is not read: it is no part of URDF"
        fix = f"load(..., material=Material(friction={value})), which all its shapes then have"
        if "rolling" in tag or "spinning" in tag:
            fix = "remove it: shapes of a URDF slide with sliding friction alone"
        yield Finding("warning", "friction", text, fix, file, lines[0], _value(value))


def _value(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
