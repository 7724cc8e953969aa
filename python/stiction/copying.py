"""copy, deepcopy and pickle of the compiled classes.

What is a handful of settable numbers is pickled by them; what has a copy() is copied by it; shapes
never change and are their own copies. The rest says what to do instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from . import _stiction


def _fields(kind: type) -> list[str]:
    """Names of what can be assigned."""
    return [
        name
        for name, member in vars(kind).items()
        if not name.startswith("_") and getattr(member, "fset", None) is not None
    ]


def _filled(blank: Any, values: dict[str, Any]) -> Any:
    for name, value in values.items():
        setattr(blank, name, value)
    return blank


def _rebuild_settings(name: str, values: dict[str, Any]) -> Any:
    return _filled(getattr(_stiction, name)(), values)


def _rebuild_control(nv: int, values: dict[str, Any]) -> Any:
    return _filled(_stiction.Control(nv), values)


def _rebuild_wrench(body: int, force: Any, moment: Any) -> Any:
    return _stiction.ExternalWrench(body, force, moment)


def _by_fields(kind: type) -> Callable[[Any], tuple[Any, ...]]:
    names = _fields(kind)
    return lambda self: (
        _rebuild_settings,
        (kind.__name__, {name: getattr(self, name) for name in names}),
    )


def _control(self: Any) -> tuple[Any, ...]:
    names = ("torque", "position_target", "velocity_target")
    values = {name: getattr(self, name).copy() for name in names}
    return _rebuild_control, (len(self.torque), values | {"wrenches": list(self.wrenches)})


def _wrench(self: Any) -> tuple[Any, ...]:
    return _rebuild_wrench, (self.body, self.force, self.moment)


def _refusal(text: str) -> Callable[..., NoReturn]:
    def refuse(self: Any, *_: Any) -> NoReturn:
        raise TypeError(f"{type(self).__name__}: {text}")

    return refuse


def install() -> None:
    """Once, when the package is imported."""
    for kind in (_stiction.Material, _stiction.SimulatorSettings, _stiction.SolverSettings):
        _set(kind, reduce=_by_fields(kind))
    _set(_stiction.Control, reduce=_control)
    _set(_stiction.ExternalWrench, reduce=_wrench)
    rebuild = "cannot be pickled; pickle how it is made, and make it again"
    for owner in (_stiction.Scene, _stiction.Parameters):
        _set(owner, copy=owner.copy, reduce=_refusal(rebuild))
    _set(_stiction.Shape, copy=lambda self: self, reduce=_refusal(rebuild))
    new = "cannot be copied or pickled; make a new one of its scene, and take State.save() along"
    _set(_stiction.Simulator, copy=_refusal(new), reduce=_refusal(new))


def _set(kind: Any, reduce: Any, copy: Any = None) -> None:
    kind.__reduce__ = reduce
    kind.__reduce_ex__ = lambda self, protocol: reduce(self)
    if copy is not None:
        kind.__copy__ = lambda self: copy(self)
        kind.__deepcopy__ = lambda self, memo: copy(self)
