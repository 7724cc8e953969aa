"""Pairs of geoms that overlap where a file begins, which rigid contacts push apart slowly."""

from __future__ import annotations

import numpy as np

from .. import _stiction
from .._stiction import Scene
from ..starting import Bodies
from .mjcf_source import Source

__all__ = ["overlapping_pairs", "treat_overlapping_pairs"]

TOUCHING = 1e-6
"""Shapes that merely touch stay a pair [m]."""


def overlapping_pairs(scene: Scene) -> dict[tuple[int, int], float]:
    """Pairs that overlap in a configuration of the scene, by how much [m], the deepest first;
    margins count."""
    deepest: dict[tuple[int, int], float] = {}
    reach = 2 * float(np.max(scene.parameters.rest_offset, initial=0.0))
    reach = max(reach, float(np.max(scene.parameters.pair_rest_offset, initial=0.0)))
    for q in scene.configurations.values():
        for pair in scene.distances(_stiction.make_state(scene, q), reach):
            key = pair.geometry_a, pair.geometry_b
            depth = scene.pair_material(*key).rest_offset - pair.distance
            if depth > TOUCHING:
                deepest[key] = max(deepest.get(key, 0.0), depth)
    return dict(sorted(deepest.items(), key=lambda item: -item[1]))


def treat_overlapping_pairs(source: Source, scene: Scene, keep: bool) -> None:
    """A message about those of a robot with the world, and one about all others, which go on
    colliding only if they are to be kept. What lies in the floor always collides, or it would fall
    through."""
    bodies = Bodies(scene)
    names = [geometry.name for geometry in bodies.geometries]
    world: list[str] = []
    own: list[str] = []
    for (a, b), depth in overlapping_pairs(scene).items():
        outside = bodies.against_world(a, b)
        if not (keep or outside):
            scene.disable_pair(a, b)
        (world if outside else own).append(f"{names[a]} / {names[b]} {1e3 * depth:.3g} mm")
    start = "at the start or in a keyframe"
    what = (
        f"{start} and may collide: rigid contacts push them apart slowly and lock the joints "
        "between them; keep_overlapping_pairs=False lets them pass"
        if keep
        else f"{start} and cannot collide"
    )
    outside_what = (
        f"with the world {start}: rigid contacts push them out slowly; begin higher "
        "(pos of the body, or qpos of the keyframe)"
    )
    for parts, text in ((own, what), (world, outside_what)):
        if parts:
            noun = "pair of geoms overlaps" if len(parts) == 1 else "pairs of geoms overlap"
            if parts is world:
                noun = "geom overlaps" if len(parts) == 1 else "geoms overlap"
            full = f"{len(parts)} {noun} {text}: {', '.join(parts)}"
            source.messages.append(_stiction.LoadMessage("overlap", full, source.file, 0))
