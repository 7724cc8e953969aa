"""A step linearised: matrices by island, assembled on access."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _stiction
from ._stiction import GradientReport, State
from .given_array import given_array

__all__ = ["IslandDerivatives", "StepDerivatives"]

Floats = NDArray[np.float64]
STATE = ("q", "v", "torque")
"""Blocks of columns that are always there."""
SPRINGS = "springs"
"""Extensions of compliant contacts, which gradients may ask for."""
ROWS = {"com": 3, "inertia": 6, "wrench": 6, "geometry_placement": 6}
ROWS |= {"geometry_size": 3, "closure_X_A": 6, "closure_X_B": 6}
ROWS |= {"geometry_velocity": 6, "surface_velocity": 6}
"""Numbers per body, wrench, geometry or closure of the fields with several."""


@dataclass(frozen=True)
class IslandDerivatives:
    """Derivatives of bodies that touch each other, or of a robot or body that touches nothing.

    Attributes:
        dofs: (n,) of the scene.
        values: (2 n, 3 n) rows [q+ | v+], columns [q | v | torque] of these dofs. Other dofs change
            nothing here.
    """

    dofs: NDArray[np.int32]
    values: Floats


@dataclass(frozen=True)
class StepDerivatives:
    """A step, linearised about what it did: exact of the rigid integrator and, as a rule,
    of implicit-euler, by differences of whole steps of other compliant ones, see report.method.

    Rows are tangents [q+ | v+] at its end, columns tangents [q | v] at its start and torques, all
    in Pinocchio's convention: of a free-flyer linear and angular part in the axes of the body, at
    the start and at the end respectively. Units rad, m, s, N m, N.

    Attributes:
        next_state: the end of the step; None where the last step of the simulator was asked for.
        report: where this holds, and where it is one of several.
        islands: blocks; nothing else is stored.
        parameters: by field of `wrt`, its columns of P.
        P: (2 nv + 3 ns, columns) by the fields of Parameters and Control that were asked for; rows
            as of `dx_dx`.
        springs_by: (3 ns, 3 nv) the extensions [m] or turns [rad] of the springs of compliant
            contacts, report.springs, by q, v and torque.
        by_springs: (2 nv + 3 ns, 3 ns) q+, v+ and extensions by extensions.
    """

    next_state: State | None
    report: GradientReport
    islands: tuple[IslandDerivatives, ...]
    parameters: dict[str, slice] = field(default_factory=dict)
    P: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    springs_by: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    by_springs: Floats = field(default_factory=lambda: np.zeros((0, 0)))

    @property
    def nv(self) -> int:
        """Dofs of the scene."""
        return sum(len(island.dofs) for island in self.islands)

    @property
    def A(self) -> Floats:
        """(2 nv, 2 nv) d(q+, v+) / d(q, v). Of one island a read-only view of its values, else
        assembled at each access."""
        return self._assembled(0, 2)

    @property
    def B(self) -> Floats:
        """(2 nv, nv) d(q+, v+) / d torque, as A."""
        return self._assembled(2, 1)

    @property
    def dx_dx(self) -> Floats:
        """(2 nv + 3 ns, 2 nv + 3 ns) A with the springs. Chains of compliant steps need them: match
        them by name, those that only one of two steps knows are zero."""
        left = np.vstack([self.A, self.springs_by[:, : 2 * self.nv]])
        return np.hstack([left, self.by_springs])

    @property
    def dx_dtorque(self) -> Floats:
        """(2 nv + 3 ns, nv) B with the springs."""
        return np.vstack([self.B, self.springs_by[:, 2 * self.nv :]])

    def by(self, name: str) -> Floats:
        """(2 nv, columns) by "q", "v", "torque" or a field that was asked for.

        Raises:
            ValueError: it was not asked for.
        """
        if name in STATE:
            return self._assembled(STATE.index(name), 1)
        if name not in self.parameters:
            names = ", ".join([*STATE, *self.parameters])
            raise ValueError(f"by: {name!r} was not asked for; there are: {names}")
        return self.P[: 2 * self.nv, self.parameters[name]]

    def _assembled(self, first: int, count: int) -> Floats:
        nv = self.nv
        if len(self.islands) == 1:  # of all dofs, in their order
            view = self.islands[0].values[:, first * nv : (first + count) * nv]
            view.flags.writeable = False
            return view
        out = np.zeros((2 * nv, count * nv))
        for island in self.islands:
            n = len(island.dofs)
            rows = np.r_[island.dofs, nv + island.dofs]
            columns = np.concatenate([k * nv + island.dofs for k in range(count)])
            out[np.ix_(rows, columns)] = island.values[:, first * n : (first + count) * n]
        return out

    def __repr__(self) -> str:
        most = max((len(island.dofs) for island in self.islands), default=0)
        names = "".join(f", {name!r}" for name in self.parameters)
        return (
            f"StepDerivatives(nv={self.nv}, {len(self.islands)} islands of up to {most} dofs"
            f"{names}, {self.report!r})"
        )


def split(
    wrt: str | Sequence[str], more: tuple[str, ...] = ()
) -> tuple[tuple[str, ...], list[str]]:
    """All names, and those of parameters.

    Raises:
        TypeError: they are no names.
        ValueError: one is unknown; the message lists them.
    """
    names = known_names(wrt, (*STATE, *more))
    return names, [name for name in dict.fromkeys(names) if name not in (*STATE, *more)]


def covector(w: ArrayLike, nv: int) -> Floats:
    """`w` of vjp as a vector; its length, which may have springs, is checked where they are known.

    Raises:
        ValueError: it has another number of axes, or is no array of numbers.
    """
    if np.shape(w) == () or np.ndim(w) > 1:
        given_array("w", w, (2 * nv,), means="2 nv: dl/dq+ and dl/dv+")
    return given_array("w", w, ("n",), finite=False)


def extensions(dsprings: ArrayLike | None) -> Floats | None:
    """`dsprings` of jvp as a vector, likewise."""
    means = "three for each of gradient_report().springs"
    return None if dsprings is None else given_array("dsprings", dsprings, ("3 ns",), means=means)


def directions(
    parameters: Mapping[str, ArrayLike] | None,
    ranges_of: Callable[[list[str]], list[tuple[str, int, int]]],
) -> list[tuple[str, Floats]]:
    """Changes of parameters, each by its columns, of which `ranges_of` knows how many there are.

    Raises:
        TypeError: they are no dictionary of arrays by name.
        ValueError: a name is unknown; a change has neither the shape of its field nor that of its
            columns.
    """
    if parameters is None:
        return []
    if not isinstance(parameters, Mapping):
        raise TypeError(
            f'parameters = {parameters!r}: must be a dict of changes by name, {{"friction": df}}'
        )
    for name in parameters:
        _check_changed(name)
    ranges = ranges_of(list(parameters)) if parameters else []
    return [(name, _flat(name, parameters[name], count)) for name, _, count in ranges]


def _check_changed(name: object) -> None:
    known = _stiction.Simulator.derivative_parameters()
    if not isinstance(name, str):
        raise TypeError(f"parameters: {name!r} is no name; there are: {', '.join(known)}")
    if name in (*STATE, SPRINGS):
        raise ValueError(f"parameters: {name!r} is an argument of its own: d{name}")
    if name not in known:
        raise ValueError(f"parameters: {name!r} is unknown; there are: {', '.join(known)}")


def _flat(name: str, change: ArrayLike, count: int) -> Floats:
    try:
        array = np.asarray(change, dtype=float)
    except (TypeError, ValueError) as error:
        raise TypeError(f'parameters["{name}"]: must be numbers; {error}') from None
    shapes: list[tuple[int, ...]] = [(count,)]
    if name in ROWS:
        shapes.insert(0, (count // ROWS[name], ROWS[name]))
    if array.shape not in shapes:
        wanted = " or ".join(str(shape) for shape in shapes)
        raise ValueError(f'parameters["{name}"] has shape {array.shape}: must be {wanted}')
    return array.ravel()


def known_names(wrt: str | Sequence[str], own: tuple[str, ...]) -> tuple[str, ...]:
    """Those of `wrt`, each one of `own` or of a parameter; raises as `split` does."""
    known = (*own, *_stiction.Simulator.derivative_parameters())
    if not isinstance(wrt, Iterable):
        raise TypeError(f"wrt = {wrt!r}: must be a name or several of: {', '.join(known)}")
    names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    for k, name in enumerate(names):
        if not isinstance(name, str):
            raise TypeError(f"wrt[{k}] = {name!r}: must be one of the names: {', '.join(known)}")
        if name not in known:
            raise ValueError(f"wrt: {name!r} is unknown; there are: {', '.join(known)}")
    return names


def made_of(parts: tuple[Any, ...], next_state: State | None) -> StepDerivatives:
    """What the compiled module gave."""
    islands, ranges, P, report, springs_by, by_springs = parts
    nv, ns = sum(len(dofs) for dofs, _ in islands), len(springs_by) // 3
    return StepDerivatives(
        next_state,
        report,
        tuple(IslandDerivatives(dofs, values) for dofs, values in islands),
        {name: slice(first, first + count) for name, first, count in ranges},
        P,
        springs_by.reshape(3 * ns, 3 * nv),
        by_springs.reshape(2 * nv + 3 * ns, 3 * ns),
    )


def gradients(parts: tuple[Any, ...], names: tuple[str, ...]) -> tuple[Floats, ...]:
    """By name, of the shape of its field."""
    *state, parameters, ranges = parts
    found = dict(zip((*STATE, SPRINGS), state, strict=True)) | by_field(parameters, ranges)
    return tuple(found[name] for name in names)


def by_field(values: Floats, ranges: list[tuple[str, int, int]]) -> dict[str, Floats]:
    """Gradients by name, of the shape of its field."""
    found = {}
    for name, first, count in ranges:
        one = values[first : first + count]
        found[name] = one.reshape(-1, ROWS[name]) if name in ROWS else one
    return found
