"""copy, deepcopy and pickle of the compiled classes.

What is a handful of settable numbers is pickled by them; what has a copy() is copied by it; what
never changes is its own copy. Records of what was found have to_dict(). The rest says what to do
instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from . import _stiction
from .problem_io import coefficients, make_set

RECORDS: tuple[type[Any], ...] = (
    _stiction.Balance,
    _stiction.BodyWrench,
    _stiction.CollisionCounters,
    _stiction.ConstraintSet,
    _stiction.ContactReport,
    _stiction.ContactSolution,
    _stiction.DistanceDerivatives,
    _stiction.DistanceResult,
    _stiction.GradientReport,
    _stiction.Joint,
    _stiction.LoadMessage,
    _stiction.ManifoldPoint,
    _stiction.MassProperties,
    _stiction.PairDistance,
    _stiction.RayHits,
    _stiction.Residuals,
    _stiction.RolloutGradientReport,
    _stiction.SceneInfo,
    _stiction.Snapshot,
    _stiction.StepReport,
    _stiction.SolutionDerivatives,
    _stiction.Uniqueness,
)
"""What was found or read, never to change."""


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


def _memory(self: Any) -> tuple[Any, ...]:
    names = (self.geometry_a, self.geometry_b, self.feature)
    return _stiction.ContactMemory, (*names, self.extension, self.impulse, self.moment, self.turn)


def _rebuild_parameters(arrays: dict[str, Any]) -> Any:
    return _stiction.Parameters.from_dict(arrays)


def _parameters(self: Any) -> tuple[Any, ...]:
    return _rebuild_parameters, (self.to_dict(),)


def _rebuild_scene(saved: bytes) -> Any:
    return _stiction.Scene.from_bytes(saved)


def _scene(self: Any) -> tuple[Any, ...]:
    return _rebuild_scene, (self.to_bytes(),)


def _rebuild_problem(A: Any, g: Any, R: Any, sets: Any, structure: dict[str, Any]) -> Any:
    return _stiction._restored_problem(A, g, R, [make_set(*s) for s in sets], structure)


def _problem(self: Any) -> tuple[Any, ...]:
    sets = [(s.kind, coefficients(s), (s.lower, s.upper), s.dim) for s in self.sets]
    return _rebuild_problem, (self.dense(), self.g, self.R, sets, self._structure())


def _to_dict(self: Any) -> dict[str, Any]:
    """What it holds by name, records that it holds likewise; a warm start is left out."""
    names = [name for name, member in vars(type(self)).items() if isinstance(member, property)]
    held = {name: getattr(self, name) for name in names}
    no_memory = (name for name in names if not isinstance(held[name], _stiction.DistanceCache))
    return {name: _plain(held[name]) for name in no_memory}


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(entry) for entry in value]
    return _to_dict(value) if isinstance(value, RECORDS) else value


def _itself(self: Any) -> Any:
    return self


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
    _set(_stiction.Scene, copy=_stiction.Scene.copy, reduce=_scene)
    _set(_stiction.Parameters, copy=_stiction.Parameters.copy, reduce=_parameters)
    _set(_stiction.Shape, copy=_itself, reduce=_refusal(rebuild))
    for record in RECORDS:
        record.to_dict = _to_dict
        text = "cannot be pickled; its to_dict() gives what it holds"
        _set(record, copy=_itself, reduce=_refusal(text))
    of_scene = "cannot be pickled; pickle how its scene is made, and make that again"
    for part in (_stiction.Geometry, _stiction.RobotSlice, _stiction.Visual):
        _set(part, copy=_itself, reduce=_refusal(of_scene))
    at_state = "cannot be pickled; make it again of its scene and state"
    _set(_stiction.SceneMotion, copy=_itself, reduce=_refusal(at_state))
    _set(_stiction.ContactMemory, copy=_itself, reduce=_memory)
    _set(_stiction.ContactProblem, copy=_itself, reduce=_problem)
    leave = "cannot be pickled; leave it out, a cold start finds the same"
    _set(_stiction.DistanceCache, copy=_itself, reduce=_refusal(leave))
    again = "cannot be copied or pickled; load it again"
    _set(_stiction.Robot, copy=_refusal(again), reduce=_refusal(again))
    new = "cannot be copied or pickled; make a new one of its scene, and take State.save() along"
    _set(_stiction.Simulator, copy=_refusal(new), reduce=_refusal(new))
    many = "cannot be copied or pickled; make a new one of its scene, and set_state() its worlds"
    _set(_stiction.Batch, copy=_refusal(many), reduce=_refusal(many))


def _set(kind: Any, reduce: Any, copy: Any = None) -> None:
    kind.__reduce__ = reduce
    kind.__reduce_ex__ = lambda self, protocol: reduce(self)
    if copy is not None:
        kind.__copy__ = lambda self: copy(self)
        kind.__deepcopy__ = lambda self, memo: copy(self)
