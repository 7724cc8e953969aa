"""Torques and impulses of contacts that explain a motion: the step, backwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._stiction import Control, State
from .loading import _check_type
from .simulator import Simulator

__all__ = [
    "InverseContactDerivatives",
    "InverseContactDynamics",
    "inverse_contact_derivatives",
    "inverse_contact_dynamics",
]

Floats = NDArray[np.floating]
MOTION = ("q", "v", "v_next")
"""Blocks of columns of derivatives."""


@dataclass(frozen=True)
class InverseContactDynamics:
    """What moves a scene from a state to a velocity at the end of a step.

    Attributes:
        torque: (nv,) beside those of servos [N m or N]; zero where nothing is actuated.
        impulse: (rows,) of the problem of that step [N s]; of rows that are not unique, near the
            least.
        velocity: (rows,) at the asked velocity [m/s].
        modes: of each set: "open", "slide", "stick" (a joint at a limit and a closure also
            "stick").
        residual: (nv,) torques that are missing where nothing is actuated: zero if forces of
            contact explain the motion [N m or N].
        violation: the fastest approach of a contact at its surface, which no force allows [m/s].
    """

    torque: Floats
    impulse: Floats
    velocity: Floats
    modes: tuple[str, ...]
    residual: Floats
    violation: float


@dataclass(frozen=True)
class InverseContactDerivatives:
    """How the torques of a motion move with the motion, modes of contacts held.

    Attributes:
        at: what is differentiated.
        torque: (nv, 3 nv) by q (tangents at the state), v and v_next; rows of zeros where nothing
            is actuated.
        residual: (nv, 3 nv) likewise; rows of zeros elsewhere.
        dt: of the step [s].
        num_inexact: contacts whose point moves in a way that is not known.
        num_at_bounds: sets whose impulse just reaches a bound of what it may be, as a cone.
        smallest_eigenvalue: of how impulses act where nothing is actuated, among those that count,
            relative to their mean; below 1e-5 the impulses themselves are found to fewer digits.
    """

    at: InverseContactDynamics
    torque: Floats
    residual: Floats
    dt: float
    num_inexact: int
    num_at_bounds: int
    smallest_eigenvalue: float

    def by(self, name: str) -> Floats:
        """(nv, nv) of the torques by "q", "v", "v_next", or by "acceleration", (v_next - v) / dt
        at held q and v. Where the acceleration is what is held, v moves v_next along: add
        `by("v")` and `by("v_next")`.

        Raises:
            ValueError: another name.
        """
        return self._block(self.torque, name)

    def residual_by(self, name: str) -> Floats:
        """The same of the residual."""
        return self._block(self.residual, name)

    @property
    def two_sided(self) -> bool:
        """Motions to either side have this derivative."""
        return self.num_at_bounds == 0

    @property
    def exact(self) -> bool:
        """To rounding, if two_sided."""
        return self.num_inexact == 0

    def _block(self, matrix: Floats, name: str) -> Floats:
        nv = len(matrix)
        if name == "acceleration":
            return self.dt * matrix[:, 2 * nv :]
        if name not in MOTION:
            known = ", ".join([*MOTION, "acceleration"])
            raise ValueError(f"by: {name!r} is unknown; there are: {known}")
        first = MOTION.index(name) * nv
        return matrix[:, first : first + nv]

    def __repr__(self) -> str:
        return (
            f"InverseContactDerivatives(nv={len(self.torque)}, "
            f"{'two-sided' if self.two_sided else 'one-sided'}, "
            f"{'exact' if self.exact else 'not exact'})"
        )


def inverse_contact_derivatives(
    sim: Simulator,
    state: State,
    v_next: ArrayLike,
    actuated: ArrayLike | None = None,
    control: Control | ArrayLike | None = None,
    tolerance: float = 1e-6,
) -> InverseContactDerivatives:
    """Derivatives of `inverse_contact_dynamics`, whose arguments these are, by q, v and v_next.

        d = stiction.inverse_contact_derivatives(sim, state, v_next)
        dtorque = d.by("q") @ dq + d.by("v_next") @ dv_next

    Exact, by the implicit function theorem on the step's own derivatives. Modes of contacts are
    held: what sticks goes on carrying any force of its cone, though `v_next` moves it a little;
    what slides turns its force with the motion. Forces that are not unique move as the least do.

    Raises:
        TypeError: as `inverse_contact_dynamics` does.
        ValueError: likewise, and where a force that sticks is held back by a bound of what it may
            be, or the scene has more than 600 dofs.
    """
    _check_type("state", state, State, "sim.initial_state()")
    dofs = None if actuated is None else _dofs(actuated)
    at, torque, residual, inexact, at_bounds, smallest = sim._inverse_contact_derivatives(
        state, v_next, dofs, control, tolerance
    )
    dt = sim.settings.dt
    return InverseContactDerivatives(_made(at), torque, residual, dt, inexact, at_bounds, smallest)


def inverse_contact_dynamics(
    sim: Simulator,
    state: State,
    v_next: ArrayLike,
    actuated: ArrayLike | None = None,
    control: Control | ArrayLike | None = None,
    tolerance: float = 1e-6,
) -> InverseContactDynamics:
    """Torques and impulses with which a rigid step from `state` ends at the velocity `v_next`.

        found = stiction.inverse_contact_dynamics(sim, state, v_next)
        sim.step(state, found.torque)                                    # ends at v_next

    A velocity says which contacts are open (no force) and which slide (force on the edge of the
    cone, against the motion); those that stick carry any force of their cone. Of these forces
    those are taken that leave the least to torques where nothing is actuated, in the metric of the
    kinetic energy, and of those nearly the least, to 1e-5 of the forces. A compliant row has the
    impulse of its law, and if it sticks friction in a square inside the disk that this leaves.
    Recoveries that a step cuts, as they give a joint or body too much speed, count as they are
    asked for. An acceleration a means v_next = v + dt a.

    Args:
        sim: of the rigid integrator; its last step stays.
        state: where the step begins; it stays.
        v_next: (nv,) velocity at the end of the step.
        actuated: numbers of dofs with motors; None: all but those of free-flyers and ball joints.
        control: as in `step`, None for `hold()`; its torque counts as known, and `torque` is what
            comes on top.
        tolerance: speeds below it are rest [m/s], > 0.

    Raises:
        TypeError: `actuated` is a mask or has entries that are no integers.
        ValueError: an argument has a wrong shape, is not finite or out of range; the integrator is
            compliant; a contact with torsional or rolling friction slides; a servo is at its effort
            limit; torques and impulses overflow.
    """
    _check_type("state", state, State, "sim.initial_state()")
    dofs = None if actuated is None else _dofs(actuated)
    return _made(sim._inverse_contact_dynamics(state, v_next, dofs, control, tolerance))


def _made(parts: tuple[Any, ...]) -> InverseContactDynamics:
    torque, impulse, velocity, modes, residual, violation = parts
    return InverseContactDynamics(torque, impulse, velocity, tuple(modes), residual, violation)


def _dofs(actuated: ArrayLike) -> list[int]:
    """As integers; their range is checked where the scene is known."""
    array = np.asarray(actuated)
    if array.dtype == bool:
        raise TypeError(
            f"actuated = {actuated!r}: is a mask, must be numbers of dofs; take "
            "np.flatnonzero(actuated)"
        )
    if array.ndim != 1:
        raise ValueError(f"actuated has shape {array.shape}: must be a list of numbers of dofs")
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise TypeError(f"actuated = {actuated!r}: must be integers, numbers of dofs")
    return [int(dof) for dof in array]
