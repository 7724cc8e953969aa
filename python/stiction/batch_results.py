"""What a Batch tells of its worlds' next steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ._stiction import ContactReport, State, StepReport

__all__ = ["BatchJacobians", "BatchVjp", "WorldReport"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class WorldReport:
    """The step that a world of a batch would take next, by a Simulator.

    Attributes:
        step: its StepReport.
        contacts: as `Simulator.contacts()` after it.
        state: its end.
    """

    step: StepReport
    contacts: list[ContactReport]
    state: State


@dataclass(frozen=True)
class BatchJacobians:
    """The next steps of worlds, linearised: x+ = A dx + B dtorque in tangents (q, v), as
    StepDerivatives has them of one Simulator.

    Attributes:
        A: (N, 2 nv, 2 nv).
        B: (N, 2 nv, nv).
        exact: (N,) bool, GradientReport.exact of each; False too where the step is not finite and
            A and B are NaN.
    """

    A: Floats
    B: Floats
    exact: NDArray[np.bool_]


@dataclass(frozen=True)
class BatchVjp:
    """Gradients of w . x+ over the next steps of worlds.

    Attributes:
        q, v, torque: (N, nv) each, in tangents.
        exact: (N,) bool, as BatchJacobians.exact.
    """

    q: Floats
    v: Floats
    torque: Floats
    exact: NDArray[np.bool_]
