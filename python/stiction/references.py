"""Which rule gave the reference velocity of each row of a step's contact problem."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _stiction

__all__ = ["RowReference"]


@dataclass(frozen=True)
class RowReference:
    """What one constraint of a step asks for, its reference velocity c*, and why.

    Attributes:
        source: "contact", "lower_limit", "upper_limit", "limit_recovery" (brings a joint back that
            is far out of its limit), "dry_friction", "closure" or "gear".
        name: of the two geometries "a - b", of the dof, the closure or the gear.
        kind: the rule, of a contact that of its normal: "speculative" (-gap / dt of what is open),
            "recovery" (a share of a position error), "capped" (the same, cut to the recovery
            speeds), "drift" (an error that a closure's motion makes in a step), "restitution",
            "spring", "curvature" (of a closed loop's path), "immovable" (nothing can move along the
            row, and nothing is asked for) or "none".
        velocity: (rows,) c* [m/s; rad/s of rotations], of a contact (t1, t2, n).
    """

    source: str
    name: str
    kind: str
    velocity: NDArray[np.float64]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, for JSON."""
        return vars(self) | {"velocity": self.velocity.tolist()}

    def __str__(self) -> str:
        speeds = ", ".join(f"{v:.3g}" for v in self.velocity)
        return f"{self.source} {self.name}: {self.kind}, c* = ({speeds})"


def references(sim: _stiction.Simulator) -> list[RowReference]:
    """Of the problem of the last step, in the order of its sets."""
    return [RowReference(*row) for row in sim._references()]
