"""The numbers of a file's actuators as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .mjcf_activation import Activation

if TYPE_CHECKING:
    from .mjcf_actuators import MjcfActuator

__all__ = ["ActuatorTable", "Arms", "BatchCtrl", "Ctrl", "clipped", "over"]

Floats = NDArray[np.float64]
Ctrl = ArrayLike | Mapping[str, float]
"""MuJoCo's (nu,), or by names of actuators."""
BatchCtrl = ArrayLike | Mapping[str, ArrayLike]
"""Of N worlds: (N, nu), (nu,), or by names of actuators a number or (N,)."""
Integers = NDArray[np.intp]


@dataclass(frozen=True)
class Arms:
    """Factors of some actuators' numbers in sums by dof; always the same order, unlike a BLAS's."""

    actuator: Integers
    dof: Integers
    factor: Floats

    @classmethod
    def of(cls, actuators: tuple[MjcfActuator, ...], kinds: str, power: int = 1) -> Arms:
        """gear^power of those of some kinds."""
        found = [
            (k, d, a.gear[d] ** power)
            for k, a in enumerate(actuators)
            if a.kind in kinds.split()
            for d in np.flatnonzero(a.gear)
        ]
        k, d, factor = zip(*found, strict=True) if found else ((), (), ())
        return cls(np.array(k, dtype=np.intp), np.array(d, dtype=np.intp), np.array(factor))

    def sums(self, of_actuators: Floats, nv: int) -> Floats:
        """(..., nv) of (..., n)."""
        if of_actuators.ndim == 1 and len(self.dof):  # of one world faster
            terms = self.factor * of_actuators[self.actuator]
            return np.asarray(np.bincount(self.dof, terms, nv), dtype=np.float64)
        out = np.zeros((*of_actuators.shape[:-1], nv))
        for k, d, factor in zip(self.actuator, self.dof, self.factor, strict=True):
            out[..., d] += factor * of_actuators[..., k]
        return out


@dataclass(frozen=True)
class ActuatorTable:
    """The numbers of all actuators as arrays, (n,) each."""

    control: Integers
    gain: Floats
    bias: Floats
    kp: Floats
    control_range: tuple[Floats, Floats]
    force_range: tuple[Floats, Floats]
    motors: Arms
    servos: Arms
    springs: Arms
    """Of servos, gear^2."""
    dampers: Arms
    activated: list[tuple[int, Activation]]
    apart: list[int]
    """That no scene has numbers for."""
    by_name: dict[str, int]
    """Their numbers in ctrl."""

    @classmethod
    def of(cls, actuators: tuple[MjcfActuator, ...]) -> ActuatorTable:
        """Their table."""

        def column(word: str) -> Floats:
            return np.array([getattr(a, word) for a in actuators], dtype=np.float64)

        ranges = [np.array([getattr(a, word) for a in actuators]).reshape(-1, 2).T
                  for word in ("control_range", "force_range")]  # fmt: skip
        return cls(
            control=np.array([a.control for a in actuators], dtype=np.intp),
            gain=column("gain"),
            bias=column("bias"),
            kp=column("kp"),
            control_range=(ranges[0][0], ranges[0][1]),
            force_range=(ranges[1][0], ranges[1][1]),
            motors=Arms.of(actuators, "motor"),
            servos=Arms.of(actuators, "position"),
            springs=Arms.of(actuators, "position", power=2),
            dampers=Arms.of(actuators, "velocity"),
            activated=[(k, a.activation) for k, a in enumerate(actuators) if a.activation],
            apart=[k for k, a in enumerate(actuators) if not a.of_scene],
            by_name={a.name: a.control for a in actuators},
        )

    def number(self, name: str) -> int:
        """In ctrl.

        Raises ValueError: no actuator of that name acts; the message lists the names.
        """
        if name not in self.by_name:
            names = ", ".join(self.by_name) or "none"
            raise ValueError(f"ctrl: no actuator {name!r} that acts; there are: {names}")
        return self.by_name[name]

    def bounded(self, ctrl: Floats) -> Floats:
        """(..., n) controls in their ranges."""
        return clipped(ctrl[..., self.control], *self.control_range)

    def forces(self, ctrl: Floats, activation: Floats | None, dt: float = 0.0) -> Floats:
        """(..., n) at length 0 and speed 0; activations (na,) of one world at the start of a step
        of dt."""
        u = self.bounded(ctrl)
        if activation is not None:
            for k, a in self.activated:
                u[k] = a.acts(float(activation[a.number]), float(u[k]), dt)
        return self.gain * u + self.bias


def clipped(x: Floats, low: Floats, high: Floats) -> Floats:
    """numpy.clip takes five times as long for few numbers."""
    return np.minimum(np.maximum(x, low), high)


def over(force: Floats, gain: Floats) -> Floats:
    """0 where there is no gain."""
    return np.divide(force, gain, out=np.zeros(force.shape), where=gain > 0)
