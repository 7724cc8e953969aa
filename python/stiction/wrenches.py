"""External wrenches of a control."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from ._stiction import ExternalWrench, Simulator, State

REMEDY = (
    "append: control.wrenches is a copy; write control.wrenches += (wrench,), or call "
    "sim.add_wrench()"
)


class Wrenches(tuple[ExternalWrench, ...]):
    """What `Control.wrenches` shows; a copy, and told so to who would change it."""

    def append(self, wrench: Any) -> NoReturn:
        """Not here."""
        raise AttributeError(REMEDY)

    def extend(self, wrenches: Any) -> NoReturn:
        """Not here."""
        raise AttributeError(REMEDY)

    def clear(self) -> NoReturn:
        """Not here."""
        raise AttributeError("control.wrenches is a copy: write control.wrenches = []")

    def __setitem__(self, index: Any, wrench: Any) -> NoReturn:
        raise TypeError(REMEDY)


def wrench_on(
    sim: Simulator,
    body: int,
    force: ArrayLike,
    moment: ArrayLike,
    point: ArrayLike | None,
    frame: str,
    state: State | None,
) -> ExternalWrench:
    """About the origin of the body, world axes; arguments of `Simulator.add_wrench`.

    Raises:
        ValueError: an unknown frame, or `state` is missing.
    """
    if frame not in ("world", "body"):
        raise ValueError(f'frame = {frame!r}: must be "world" or "body"')
    f, m = np.asarray(force, dtype=float), np.asarray(moment, dtype=float)
    if point is not None or frame == "body":
        if state is None:
            raise ValueError("state = None: needed to know where the body is")
        pose = sim.body_poses(state)[body]
        arm = np.zeros(3) if point is None else np.asarray(point, dtype=float)
        if frame == "body":
            f, m, arm = (pose.rotation @ x for x in (f, m, arm))
        elif point is not None:
            arm = arm - pose.translation
        m = m + np.cross(arm, f)
    return ExternalWrench(body, f, m)
