"""Which hypothesis of a solver makes the difference to the next velocity?

A base, one solver with the settings of a simulator, is compared with a reference: the exact model
(ncp-newton to 1e-12), no regularisation, `SUBSTEPS` short steps instead of one, whole manifolds, no
correction of penetrations. Then the hypotheses are switched one at a time, all else as in the base;
the one whose switch takes most of the difference away is the cause.

Penetrations are corrected by the share `baumgarte` of their depth per step, at most so fast that
neither the point nor a centre of mass exceeds `recovery_speed` and no joint or body turns faster
than `recovery_angular_speed`.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _stiction
from ._stiction import ContactProblem, Control, State
from .comparison import solver_options
from .references import RowReference, references
from .setting_names import SolverOptions
from .solving import options_read, solve

if TYPE_CHECKING:
    from .simulator import Simulator

__all__ = ["Explanation", "Trial"]

Floats = NDArray[np.float64]
SUBSTEPS = 8
EXACT = "ncp-newton"
TIGHT = 1e-12
SOFTLY = 1e-6
"""Factor on a solver's regularisation that counts as none."""
NEGLIGIBLE = 1e-6
"""Share of max(speed, gravity dt) below which velocities agree."""
MOST = 0.5
"""Share of the difference that the cause must take away."""


@dataclass(frozen=True)
class Trial:
    """The base with one hypothesis switched.

    Attributes:
        hypothesis: "relaxation", "compliance", "time step", "manifold", "warm start",
            "iterations", "margin" or "penetration correction"; "all" for all at once.
        change: what was switched, in words.
        velocity: (nv,) at the end of the step.
        difference: from the reference, largest over dofs [m/s or rad/s].
        explained: share of the base's difference that is gone; negative: it grew.
    """

    hypothesis: str
    change: str
    velocity: Floats
    difference: float
    explained: float


@dataclass(frozen=True)
class Explanation:
    """Why the base's next velocity is what it is; print it.

    Attributes:
        base: solver.
        cause: the hypothesis that takes away most of the difference, at least half of it; None if
            no single one does, or if there is no difference.
        agrees: there is no difference worth a cause.
        base_velocity, reference_velocity: (nv,).
        difference: between them, largest over dofs [m/s or rad/s].
        dof: the name of that dof.
        trials: one per hypothesis, in order of what it explains; "all" last.
        references: of every row of the base's problem, which rule gave its reference velocity;
            those that are capped are in the text.
    """

    base: str
    cause: str | None
    agrees: bool
    base_velocity: Floats
    reference_velocity: Floats
    difference: float
    dof: str
    trials: tuple[Trial, ...]
    references: tuple[RowReference, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, for JSON."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        plain["trials"] = [vars(t) | {"velocity": t.velocity.tolist()} for t in self.trials]
        plain["references"] = [r.to_dict() for r in self.references]
        plain["base_velocity"] = self.base_velocity.tolist()
        plain["reference_velocity"] = self.reference_velocity.tolist()
        return plain

    def __str__(self) -> str:
        lines = [
            f"{self.base}: the next velocity differs from the reference by {self.difference:.3g} "
            f"m/s or rad/s, most in {self.dof}.",
            self._verdict(),
        ]
        lines.append(f"  {'hypothesis':<24}{'differs by':<12}{'explained':<11}if it is switched to")
        for t in self.trials:
            share = f"{100 * t.explained:.0f} %"
            first, *more = textwrap.wrap(t.change, 30)  # 79 columns in all
            lines.append(f"  {t.hypothesis:<24}{t.difference:<12.2e}{share:<11}{first}")
            lines += [" " * 49 + line for line in more]
        lines += [f"  {r}" for r in self.references if r.kind == "capped"]
        return "\n".join(lines)

    def _verdict(self) -> str:
        if self.agrees:
            return "That is nothing worth a cause."
        if self.cause is None:
            return "No single hypothesis explains half of it."
        trial = next(t for t in self.trials if t.hypothesis == self.cause)
        return (
            f"The cause is the {self.cause}: with {trial.change}, {trial.difference:.3g} remain "
            f"({100 * trial.explained:.0f} % explained)."
        )


@dataclass(frozen=True)
class Setup:
    """How a step is taken.

    Attributes:
        solver, options: of the contact problem.
        exact: the solver's regularisation, but the laws of the NCP.
        start: "state": from its impulses, "zero", or "solved": from the exact answer.
        substeps: steps in one dt.
        settings: fields of SimulatorSettings to replace.
    """

    solver: str
    options: dict[str, Any]
    exact: bool = False
    start: str = "state"
    substeps: int = 1
    settings: dict[str, Any] = field(default_factory=dict)

    def with_options(self, **options: Any) -> Setup:
        return replace(self, options=self.options | options)

    def with_settings(self, **settings: Any) -> Setup:
        return replace(self, settings=self.settings | settings)


def explain(
    sim: Simulator,
    state: State,
    control: Control | ArrayLike | None,
    base: str,
    options: SolverOptions,
) -> Explanation:
    """See Simulator.explain."""
    if base not in _stiction.solvers():
        raise ValueError(f"base = {base!r} is unknown; there are: {', '.join(_stiction.solvers())}")
    start = Setup(base, dict(solver_options(sim, [base], options)))
    tight: dict[str, Any] = dict(start.options) | {"tolerance": TIGHT}
    all_at_dt = Setup(EXACT, tight, settings={"points_per_pair": 0, "baumgarte": 0.0})
    reference = _velocity(sim, state, control, replace(all_at_dt, substeps=SUBSTEPS))
    own = _velocity(sim, state, control, start)
    difference = _distance(own, reference)

    def trial(hypothesis: str, change: str, setup: Setup) -> Trial:
        velocity = _velocity(sim, state, control, setup)
        left = _distance(velocity, reference)
        explained = 1.0 - left / difference if difference > 0.0 else 0.0
        return Trial(hypothesis, change, velocity, left, explained)

    switches = _switches(sim, state, control, start)
    trials = sorted((trial(*s) for s in switches), key=lambda t: -t.explained)
    scale = max(float(np.abs(reference).max(initial=0.0)), _gravity_speed(sim))
    agrees = difference <= NEGLIGIBLE * scale
    found = not agrees and bool(trials) and trials[0].explained >= MOST
    trials.append(trial("all", "all of these at the same time step", all_at_dt))
    worst = int(np.argmax(np.abs(own - reference))) if own.size else 0
    return Explanation(
        base=base,
        cause=trials[0].hypothesis if found else None,
        agrees=agrees,
        base_velocity=own,
        reference_velocity=reference,
        difference=difference,
        dof=sim.scene.dof_names[worst] if own.size else "",
        trials=tuple(trials),
        references=tuple(references(_prepared(sim, state, control))),
    )


def _prepared(sim: Simulator, state: State, control: Control | ArrayLike | None) -> Simulator:
    twin = sim._twin(sim.settings.copy())
    twin._prepare(state.copy(), control)
    return cast("Simulator", twin)


def _switches(
    sim: Simulator, state: State, control: Control | ArrayLike | None, base: Setup
) -> Sequence[tuple[str, str, Setup]]:
    """Hypothesis, change in words, and the base with it switched, where it applies."""
    settings, out = sim.settings, []
    twin = _prepared(sim, state, control)
    solution = solve(twin.problem(), base.solver, warm_start=twin.warm_start(), **_typed(base))
    if solution.model != "NCP":
        change = f"the exact model instead of the {solution.model}"
        out.append(("relaxation", change, replace(base, exact=True)))
    if solution.regularisation is not None:
        softer = base.with_options(
            regularisation_weight=SOFTLY * base.options["regularisation_weight"]
        )
        out.append(("compliance", f"the solver's regularisation times {SOFTLY:g}", softer))
    out.append(("time step", "two steps of half the length", replace(base, substeps=2)))
    reduced = settings.points_per_pair > 0
    change = "all points of the manifolds" if reduced else "one point per pair"
    out.append(("manifold", change, base.with_settings(points_per_pair=0 if reduced else 1)))
    warm = bool(np.any(twin.warm_start()))
    change = "impulses that start from zero" if warm else "a start from the exact impulses"
    out.append(("warm start", change, replace(base, start="zero" if warm else "solved")))
    longer = base.with_options(
        tolerance=TIGHT, max_iterations=min(100 * base.options["max_iterations"], 10**7)
    )
    out.append(("iterations", f"tolerance {TIGHT:g} and 100 times the iterations", longer))
    wider = base.with_settings(margin=10.0 * max(settings.margin, 1e-4))
    out.append(("margin", f"a margin of {1e3 * wider.settings['margin']:g} mm", wider))
    if settings.baumgarte > 0.0:
        without = base.with_settings(baumgarte=0.0)
        out.append(("penetration correction", "no correction of penetrations", without))
    return out


def _velocity(
    sim: Simulator, state: State, control: Control | ArrayLike | None, setup: Setup
) -> Floats:
    """(nv,) one dt later."""
    settings = sim.settings.copy()
    for name, value in setup.settings.items():
        setattr(settings, name, value)
    settings.dt = sim.settings.dt / setup.substeps
    twin = sim._twin(settings)
    work = state.cold() if setup.start == "zero" else state.copy()
    for _ in range(setup.substeps):
        twin._prepare(work, control)
        twin._advance(work, _impulse(twin.problem(), twin.warm_start(), setup))
    return work.v.copy()


def _impulse(problem: ContactProblem, warm_start: Floats, setup: Setup) -> Floats:
    if setup.start == "solved":
        warm_start = solve(problem, EXACT, tolerance=TIGHT).impulse
    solution = solve(problem, setup.solver, warm_start=warm_start, **_typed(setup))
    if not setup.exact:
        return solution.impulse
    softened = ContactProblem(
        problem.dense(), problem.g, sets=problem.sets, R=solution.regularisation
    )
    return solve(softened, EXACT, tolerance=TIGHT, warm_start=warm_start).impulse


def _typed(setup: Setup) -> SolverOptions:
    return options_read(setup.solver, cast(SolverOptions, setup.options))


def _distance(a: Floats, b: Floats) -> float:
    return float(np.abs(a - b).max(initial=0.0))


def _gravity_speed(sim: Simulator) -> float:
    """What gravity adds in one step [m/s]."""
    return float(np.linalg.norm(sim.parameters.gravity)) * sim.settings.dt
