"""Pairs of geoms that overlap where a file begins, which rigid contacts push apart slowly."""

from __future__ import annotations

import numpy as np

from .. import _stiction
from .._stiction import Scene
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
    """One message about those; they go on colliding only if they are to be kept."""
    names = [geometry.name for geometry in scene.geometries]
    parts = []
    for (a, b), depth in overlapping_pairs(scene).items():
        if not keep:
            scene.disable_pair(a, b)
        parts.append(f"{names[a]} / {names[b]} {1e3 * depth:.3g} mm")
    if not parts:
        return
    noun = "pair of geoms overlaps" if len(parts) == 1 else "pairs of geoms overlap"
    what = (
        "at the start or in a keyframe and may collide: rigid contacts push them apart slowly "
        "and lock the joints between them; keep_overlapping_pairs=False lets them pass"
        if keep
        else "at the start or in a keyframe and cannot collide"
    )
    text = f"{len(parts)} {noun} {what}: {', '.join(parts)}"
    source.messages.append(_stiction.LoadMessage("overlap", text, source.file, 0))
