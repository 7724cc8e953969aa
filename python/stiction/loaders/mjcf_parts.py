"""Several MJCF files as one, by MuJoCo's own MjSpec.attach."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pinocchio

from ..loading import _check_type
from .mjcf_compiler import start
from .mjcf_lines import joined_lines, read_lines
from .mjcf_part import placement
from .mjcf_source import Source, compiled, given_file, mujoco_module

__all__ = ["MjcfPart", "compile_parts"]

ENGINE = (
    "integrator", "jacobian", "solver", "iterations", "tolerance", "ls_iterations", "ls_tolerance",
    "noslip_iterations", "noslip_tolerance", "ccd_iterations", "ccd_tolerance", "sdf_initpoints",
    "sdf_iterations", "sleep_tolerance",
)  # fmt: skip
"""Of <option>: how MuJoCo computes, which is not read. Files may differ in it."""
OF_SOFT = ("cone", "impratio")
"""Likewise, unless contacts are to be as soft as MuJoCo's."""
FLAGS = (
    "constraint", "equality", "frictionloss", "limit", "contact", "spring", "damper", "gravity",
    "clampctrl", "filterparent", "actuation", "sensor",
)  # fmt: skip
"""Of <flag>: what acts at all. They hold for the whole, so that files must agree."""


@dataclass(frozen=True)
class MjcfPart:
    """A file among several that `load_mjcf` makes one of.

    Attributes:
        file: a path, or the text of a file.
        prefix: before all its names: bodies, joints, actuators, sensors, keyframes, ...
        X: pose of its world in that of the whole, or in `at`; pinocchio.SE3 or 4 x 4.
        at: a site, body or frame of a part before this one, by its name there (behind that part's
            prefix), which carries this one; None: the world.
    """

    file: str | os.PathLike[str]
    prefix: str = ""
    X: Any = None
    at: str | None = None

    def __post_init__(self) -> None:
        _check_type("MjcfPart.prefix", self.prefix, str, '"left/"')
        if self.at is not None:
            _check_type("MjcfPart.at", self.at, str, '"arm/flange", or None')
        placement(self.X, "MjcfPart.X")


def compile_parts(given: Sequence[MjcfPart | str | os.PathLike[str]], soft: bool) -> Source:
    """Compile files as one model; a path or a text is a part without prefix in the world.

    Raises StictionError naming the file and what of it does not go with the files before it, or
    why it does not compile. ValueError: there is no part.
    """
    start()
    mujoco = mujoco_module()
    if not given:
        raise ValueError("load_mjcf([]): needs at least one file")
    parts = [part if isinstance(part, MjcfPart) else MjcfPart(part) for part in given]
    files = [given_file(part.file) for part in parts]
    labels = [_label(part, file.file) for part, file in zip(parts, files, strict=True)]
    request = {
        "parts": [
            {
                "kind": file.kind,
                "given": file.given,
                "label": label,
                "prefix": part.prefix,
                "at": part.at,
                "X": _position_and_quaternion(part.X),
            }
            for part, file, label in zip(parts, files, labels, strict=True)
        ],
        "engine": [*ENGINE, *(() if soft else OF_SOFT)],
        "flags": FLAGS,
    }
    name = " + ".join(dict.fromkeys(file.file for file in files))
    lines = joined_lines(
        name,
        [
            (part.prefix, read_lines(file.file, file.text))
            for part, file in zip(parts, files, strict=True)
        ],
    )
    prefixes = [part.prefix for part in parts]
    title = "+".join(dict.fromkeys(file.title for file in files))
    return compiled(mujoco, "parts", json.dumps(request), name, title, lines, labels, prefixes)


def _label(part: MjcfPart, file: str) -> str:
    """How messages call a part."""
    return f'{file} (prefix "{part.prefix}")' if part.prefix else file


def _position_and_quaternion(X: Any) -> list[float]:
    """Position [m] and quaternion w x y z."""
    *p, x, y, z, w = (float(number) for number in pinocchio.SE3ToXYZQUAT(placement(X)))
    return [*p, w, x, y, z]
