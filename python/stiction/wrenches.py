"""External wrenches of a control."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from ._stiction import ExternalWrench, Simulator, State
from .given_array import given_array
from .loading import _check_type

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
        ValueError: an unknown frame, a wrong shape, or `state` is missing.
        TypeError: `state` is no State.
    """
    if frame not in ("world", "body"):
        raise ValueError(f'frame = {frame!r}: must be "world" or "body"')
    f, m = given_array("force", force, (3,)), given_array("moment", moment, (3,))
    if point is not None or frame == "body":
        if state is None:
            asked = 'frame = "body"' if frame == "body" else f"point = {point!r}"
            raise ValueError(
                f"state = None: {asked} needs to know where the body is; give the state of the "
                "step, state=state"
            )
        _check_type("state", state, State, "sim.initial_state()")
        pose = sim.body_poses(state)[body]
        arm = np.zeros(3) if point is None else given_array("point", point, (3,))
        if frame == "body":
            f, m, arm = (pose.rotation @ x for x in (f, m, arm))
        elif point is not None:
            arm = arm - pose.translation
        m = m + np.cross(arm, f)
    return ExternalWrench(body, f, m)
