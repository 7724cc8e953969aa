"""What a Simulator is before its first step: one that looks at where that begins."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from . import _stiction
from ._stiction import Parameters, Scene, SimulatorSettings, State
from .starting import warn_of_first_step

if TYPE_CHECKING:
    from .simulator import Simulator

__all__ = ["looking_first", "plain", "without_look"]

STEPPING = ("step", "run", "rollout", "step_derivatives")


def looking_first(kind: type[Simulator]) -> type[Simulator]:
    """A class derived from Simulator, with its name. An instance becomes a plain Simulator as it
    takes its first step, so that the look costs no other step anything."""

    def method(name: str) -> Any:
        wrapped = getattr(kind, name)

        @functools.wraps(wrapped)
        def look_and_step(self: Any, *args: Any, **keywords: Any) -> Any:
            state = args[0] if args else keywords.get("state")
            if isinstance(state, State) and type(self) is not kind:  # a method bound before
                self.__class__ = kind
                warn_of_first_step(self, state, self._starts.values(), stacklevel=2)
            return wrapped(self, *args, **keywords)

        return look_and_step

    members: dict[str, Any] = {name: method(name) for name in STEPPING}
    members |= {"__module__": kind.__module__, "_plain": kind}
    return type(kind.__name__, (kind,), members)


def plain(
    kind: type[Simulator], scene: Scene, settings: SimulatorSettings, parameters: Parameters
) -> Simulator:
    """A Simulator of ready settings, whose first step is like all others."""
    made = kind.__new__(kind)
    _stiction.Simulator.__init__(made, scene, settings)
    made._starts = {}
    made.parameters = parameters
    return made


def without_look(sim: Simulator) -> Simulator:
    """The same, whose first step is from now on like all others: for what times single steps."""
    sim.__class__ = getattr(type(sim), "_plain", type(sim))
    return sim
