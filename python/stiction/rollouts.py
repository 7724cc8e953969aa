"""What rollouts record, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _stiction
from ._stiction import RolloutGradientReport, StepReport
from .derivatives import by_field, known_names
from .given_array import given_array

__all__ = ["Rollout", "RolloutGradient", "RolloutTape"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rollout:
    """What `Simulator.rollout` recorded over T steps; None for what was not asked for.

    Attributes:
        steps: T.
        q: (T + 1, nq) configurations, the initial one first.
        v: (T + 1, nv) velocities.
        residual: (T,) relative residual of each step.
        penetration: (T,) deepest overlap at the start of each step [m].
        creep: (T,) fastest tangential speed of a sticking contact [m/s].
        iterations: (T,) of the solver, slowest island.
        num_contacts: (T,).
        energy: (T,) kinetic + potential at the start of each step [J].
        converged: (T,) the residual met the tolerance.
    """

    steps: int
    q: Floats | None = None
    v: Floats | None = None
    residual: Floats | None = None
    penetration: Floats | None = None
    creep: Floats | None = None
    iterations: NDArray[np.int64] | None = None
    num_contacts: NDArray[np.int64] | None = None
    energy: Floats | None = None
    converged: NDArray[np.bool_] | None = None

    if not TYPE_CHECKING:  # which knows by itself that there is no such attribute

        def __getattr__(self, name: str) -> NoReturn:
            text = f"{type(self).__name__} has no attribute {name!r}"
            if name == "adjoint":
                text += ": record with sim.rollout(..., tape=True), whose RolloutTape has it"
            raise AttributeError(text)


RECORDABLE = tuple(name for name in Rollout.__dataclass_fields__ if name != "steps")
CONTROLS = ("taus", "position_targets", "velocity_targets")
INITIAL = ("initial_q", "initial_v", "initial_springs")


@dataclass(frozen=True)
class RolloutGradient:
    """Gradient of a scalar l of a rollout of T steps; None for what was not asked for.

    Attributes:
        taus: (T, nv) by the torques of every step [1/(N m) or 1/N]; by torques that are the same in
            all steps it is the sum of the rows.
        position_targets: (T, nv) by servo targets, zero where a dof has no kp or is at its effort
            limit.
        velocity_targets: (T, nv) likewise, by kd.
        initial_q: (nv,) by the initial configuration, a tangent in the axes of the bodies there.
        initial_v: (nv,) by the initial velocity.
        initial_springs: (ns, 3) by the extensions (turns) of contacts at the start, in the order of
            `springs`; none of rigid contacts.
        parameters: by field of Parameters or Control, the same in all steps; of its shape, inertias
            as (bodies, 6) xx, xy, yy, xz, yz, zz, placements and frames as (geometries or closures,
            6), a shift along their axes and a turn about them.
        report: where it holds, by numbers of steps.
        springs: (geometry_a, geometry_b, feature, turns) of each spring of the first step.
    """

    report: RolloutGradientReport
    taus: Floats | None = None
    position_targets: Floats | None = None
    velocity_targets: Floats | None = None
    initial_q: Floats | None = None
    initial_v: Floats | None = None
    initial_springs: Floats | None = None
    springs: tuple[tuple[int, int, int, bool], ...] = ()
    parameters: dict[str, Floats] = field(default_factory=dict)


@dataclass(frozen=True)
class RolloutTape(Rollout):
    """A Rollout that can be gone through backwards: `Simulator.rollout(..., tape=True)`.

    It keeps whole states every `checkpoint_every` steps, between which `adjoint` repeats the steps,
    bit for bit.
    """

    _simulator: _stiction.Simulator | None = field(default=None, repr=False, compare=False)
    _log: _stiction.RolloutLog | None = field(default=None, repr=False, compare=False)
    _tape: _stiction.RolloutTape | None = field(default=None, repr=False, compare=False)

    @property
    def reports(self) -> list[StepReport]:
        """Of every step."""
        assert self._log is not None
        return self._log.reports

    @property
    def checkpoint_every(self) -> int:
        """Steps between the states that it keeps."""
        assert self._tape is not None
        return self._tape.checkpoint_every

    @property
    def bytes(self) -> int:
        """Memory of the tape, of what was recorded, and of the states that `adjoint` keeps at a
        time [bytes]."""
        assert self._log is not None and self._tape is not None
        return self._tape.bytes + self._log.bytes

    def adjoint(
        self,
        dl_dx: ArrayLike,
        dl_du: ArrayLike | None = None,
        wrt: str | Sequence[str] = (*CONTROLS, *INITIAL),
    ) -> RolloutGradient:
        """Gradient of a scalar l of the states and torques of this rollout.

            tape = sim.rollout(state, taus=taus, tape=True)
            grad = tape.adjoint(dl_dx, wrt=("taus", "friction"))
            grad.taus, grad.parameters["friction"], grad.report

        Costs two to three times the rollout and a `vjp` for each step; of compliant integrators but
        implicit-euler five steps for each column of each step. The simulator's last step is then
        the first of the rollout. Warm starts of the solver count as constant: where v+ depends on
        them the report counts the step as `not_unique`. Extensions of springs are carried along.

        Args:
            dl_dx: (T + 1, 2 nv) dl/dq and dl/dv at every state, the initial one first, or (2 nv,)
                at the last one; dl/dq by tangents in the axes of the bodies there.
            dl_du: (T, nv) dl/dtau at fixed states; None: zero. Added to `taus`.
            wrt: names among taus, position_targets, velocity_targets, initial_q, initial_v,
                initial_springs, and `Simulator.derivative_parameters()`.

        Raises:
            ValueError: an argument has a wrong shape, is not finite or not known; a step has no
                derivatives, or did not end; a parameter was edited since the rollout. The message
                names it.
        """
        assert self._simulator is not None and self._tape is not None
        nv = self._simulator.scene.nv
        states = given_array("dl_dx", dl_dx, (self.steps + 1, 2 * nv), (2 * nv,))
        taus = None if dl_du is None else given_array("dl_du", dl_du, (self.steps, nv))
        names = dict.fromkeys(known_names(wrt, CONTROLS + INITIAL))
        kept = [name for name in names if name not in CONTROLS + INITIAL]
        *found, by_springs, values, ranges, report, springs = self._simulator._adjoint(
            self._tape, np.atleast_2d(states), taus, kept
        )
        all_of = dict(zip(CONTROLS + INITIAL, [*found, by_springs.reshape(-1, 3)], strict=True))
        parameters = by_field(values, ranges)
        asked = {name: all_of[name] for name in names if name in all_of}
        return RolloutGradient(
            report=report, parameters=parameters, springs=tuple(springs), **asked
        )
