"""Runs from a TOML file."""

from __future__ import annotations

import os
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

from .scene_runs import SceneRuns
from .task_runs import TaskRuns

__all__ = ["EXAMPLE", "from_toml"]

EXAMPLE = """\
# Worlds of a scene: friction on a grid, masses at random, targets that move; `stiction sweep FILE`.
[scene]
scene = "solo12"               # or a URDF or MJCF file, from the folder of this one
configuration = "standing"
seconds = 2.0
dt = 2e-3
every = 0.1                    # [s] between two rows; left out: one at the end
samples = 100                  # worlds of each point of the grid
seed = 0
move = 0.2                     # [rad] new targets every 0.1 s; 0: hold the configuration
record = ["q", "v", "target"]

[scene.grid]                   # all combinations
friction = [0.3, 0.6, 0.9]
kp = [10.0, 20.0]

[scene.random]                 # lowest and highest
mass_scale = [0.9, 1.1]

# Or episodes of a task of stiction.envs:
# [task]
# task = "stiction/Solo12Velocity-v0"
# policy = "trot.npz"          # or "zero", "random"
# worlds = 1024
# steps = 400
# transitions = false          # true: a row for each action
# [task.settings]
# randomise = true
"""

KINDS: dict[str, type[SceneRuns] | type[TaskRuns]] = {"scene": SceneRuns, "task": TaskRuns}


def from_toml(path: str | os.PathLike[str], **changes: Any) -> SceneRuns | TaskRuns:
    """What a file describes: one table, [scene] or [task], with the attributes of SceneRuns or
    TaskRuns; EXAMPLE is one. Names of files are taken from its folder.

    Args:
        path: of the file.
        changes: attributes to take instead of the file's.

    Raises:
        ValueError: the file is not TOML, has other tables or names, or a value is out of range.
        OSError: it cannot be read.
    """
    at = Path(path)
    try:
        with at.open("rb") as file:
            given = tomllib.load(file)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{at}: {error}") from None
    if len(given) != 1 or next(iter(given)) not in KINDS:
        found = ", ".join(given) or "nothing"
        raise ValueError(f"{at}: has {found}: must have one table, [scene] or [task]")
    ((kind, values),) = given.items()
    make = KINDS[kind]
    known = [f.name for f in fields(make)]
    for name in values:
        if name not in known:
            raise ValueError(f"{at}: {kind}.{name}: unknown; there are: {', '.join(known)}")
    if known[0] not in values:
        raise ValueError(f"{at}: {kind}.{known[0]} is missing")
    for name in ("scene", "policy"):
        if name in values and os.path.isfile(beside := at.parent / str(values[name])):
            values[name] = str(beside.resolve())
    try:
        return make(**{**values, **changes})
    except (TypeError, ValueError) as error:
        raise ValueError(f"{at}: {error}") from None
