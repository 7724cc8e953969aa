"""External wrenches of a control."""

from __future__ import annotations

from typing import Any, NoReturn

from ._stiction import ExternalWrench

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
