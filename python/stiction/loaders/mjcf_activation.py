"""Activations: controls that are integrated or filtered before they act."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .mjcf_source import Source

__all__ = ["Activation", "read_activation"]

KINDS = {"mjDYN_INTEGRATOR": "integrator", "mjDYN_FILTER": "filter", "mjDYN_FILTEREXACT": "exact"}
LEAST = 1e-15
"""MuJoCo's mjMINVAL, of a time constant [s]."""


@dataclass(frozen=True)
class Activation:
    """w of an actuator, which acts in place of its control u.

    Attributes:
        number: in the activations of the file.
        kind: "integrator": dw/dt = u; "filter": dw/dt = (u - w) / tau, by explicit Euler; "exact":
            the same, exactly.
        tau: [s].
        range: of w, infinite where the file sets none.
        early: the force is that of w at the end of the step.
    """

    number: int
    kind: str
    tau: float
    range: tuple[float, float]
    early: bool

    def next(self, w: float, u: float, dt: float) -> float:
        """After a step of dt."""
        if self.kind == "integrator":
            w += dt * u
        elif self.kind == "filter":
            w += dt * (u - w) / self.tau
        else:
            w += (u - w) * -math.expm1(-dt / self.tau)
        return min(max(w, self.range[0]), self.range[1])

    def acts(self, w: float, u: float, dt: float) -> float:
        """What stands in place of the control in a step of dt."""
        return self.next(w, u, dt) if self.early else w


def read_activation(source: Source, i: int) -> Activation | None:
    """Of actuator i; another kind than those above is a message: the control acts at once."""
    m = source.model
    if source.is_one_of(m.actuator_dyntype[i], "mjtDyn", ["mjDYN_NONE"]):
        return None
    for member, kind in KINDS.items():
        if source.is_one_of(m.actuator_dyntype[i], "mjtDyn", [member]):
            limited = bool(m.actuator_actlimited[i])
            low, high = (float(x) for x in m.actuator_actrange[i])
            return Activation(
                number=int(m.actuator_actadr[i]) + int(m.actuator_actnum[i]) - 1,
                kind=kind,
                tau=max(float(m.actuator_dynprm[i, 0]), LEAST),
                range=(low, high) if limited else (-np.inf, np.inf),
                early=bool(m.actuator_actearly[i]),
            )
    source.unused("actuator", i, "its activation is not simulated: the control acts at once")
    return None
