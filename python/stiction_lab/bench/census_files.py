"""Which files of a folder of packages are robots."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from pathlib import Path

__all__ = ["ROOTS", "robot_files"]

ROOTS = {".urdf": b"robot", ".xml": b"mujoco"}
"""The outermost tag of a file of each kind."""
ALIKE = {"pybullet/pybullet_data/random_urdfs": 100}
"""Folders of files that were made alike by hundreds: one in so many is taken."""
_TAG = re.compile(rb"<\s*([A-Za-z_][\w.:-]*)")
_COMMENT = re.compile(rb"<!--.*?-->|<\?.*?\?>|<!DOCTYPE[^>]*>", re.DOTALL)


def robot_files(folder: Path, patterns: Iterable[str] = ()) -> list[str]:
    """Paths below `folder` that name a URDF or an MJCF, sorted; with patterns those alone that one
    of them fits or is part of."""
    found = sorted(
        path.relative_to(folder).as_posix()
        for ending in ROOTS
        for path in folder.rglob(f"*{ending}")
        if path.is_file() and is_robot(path)
    )
    for place, every in ALIKE.items():
        alike = [name for name in found if name.startswith(place + "/")]
        left_out = set(alike) - set(alike[::every])
        found = [name for name in found if name not in left_out]
    chosen = list(patterns)
    if not chosen:
        return found
    return [n for n in found if any(p in n or fnmatch.fnmatch(n, p) for p in chosen)]


def is_robot(path: Path) -> bool:
    """By its outermost tag: a package.xml or an included part is none."""
    text = _COMMENT.sub(b"", path.read_bytes())
    tag = _TAG.search(text)
    return tag is not None and tag.group(1) == ROOTS[path.suffix]
