"""One contact problem, many solvers, side by side."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _stiction
from ._stiction import ContactProblem, Control, Residuals, SolverSettings, State
from .loading import _check_names, _set_typed
from .npz_file import require_path
from .setting_names import SolverOptions
from .solving import check_read, options_read, solve
from .table_blocks import aligned

if TYPE_CHECKING:
    from .simulator import Simulator

__all__ = ["Comparison", "SolverResult"]

Floats = NDArray[np.float64]
RESIDUALS = ("primal", "dual", "complementarity", "relative", "backward")
TIMED = 0.02
"""Time given to the timing of one solver [s]."""


@dataclass(frozen=True)
class SolverResult:
    """What one solver made of the problem.

    Attributes:
        solver, model: its name, and "NCP", "CCP", "LCP" or "RaiSim".
        status, iterations, factorisations: as in ContactSolution.
        microseconds: median time of a solve on this machine, in a warm workspace [us].
        impulse: (n,) all rows of the problem [N s].
        forces: (k, 3) on B per contact, axes (t1, t2, n) of the contact [N].
        forces_world: (k, 3) the same in world axes [N].
        contact_velocity: (k, 3) of B relative to A after the step, contact axes [m/s].
        next_velocity: (nv,) velocity of the scene after the step.
        residuals: the certificate: of the NCP, the same for all.
        model_residuals: of the model that the solver solves.
    """

    solver: str
    model: str
    status: str
    iterations: int
    factorisations: int
    microseconds: float
    impulse: Floats
    forces: Floats
    forces_world: Floats
    contact_velocity: Floats
    next_velocity: Floats
    residuals: Residuals
    model_residuals: Residuals

    @property
    def converged(self) -> bool:
        """The model's own residual met the tolerance."""
        return self.status == "converged"

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        for name, value in plain.items():
            if isinstance(value, np.ndarray):
                plain[name] = value.tolist()
            elif isinstance(value, Residuals):
                plain[name] = {key: float(getattr(value, key)) for key in RESIDUALS}
        return plain


@dataclass(frozen=True)
class Comparison:
    """Solvers on the problem of one step; a mapping by solver name, with tables.

    Attributes:
        scene: its name.
        time: of the state [s].
        dt: time step [s].
        warm: solvers started from the state's impulses, else from zero.
        problem: what was solved.
        contacts: (k,) "body A - body B" of each contact point, in the order of the forces.
        results: by name, in the order asked for.
    """

    scene: str
    time: float
    dt: float
    warm: bool
    problem: ContactProblem
    contacts: tuple[str, ...]
    results: Mapping[str, SolverResult]

    def __getitem__(self, solver: str) -> SolverResult:
        return self.results[solver]

    def __iter__(self) -> Any:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def best(self) -> str:
        """The solver whose impulses are nearest to the NCP's laws; differences are from it."""
        return min(self.results, key=lambda name: self.results[name].residuals.relative)

    def difference(self, solver: str) -> float:
        """Largest difference of a next velocity from that of `best`, over dofs [m/s or rad/s]."""
        mine, best = self.results[solver].next_velocity, self.results[self.best].next_velocity
        return float(np.abs(mine - best).max(initial=0.0))

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Heads and one row of text per solver."""
        heads = [
            "solver",
            "model",
            "status",
            "iterations",
            "factorisations",
            "time [µs]",
            "certificate",
            "cone [N s]",
            "dual [m/s]",
            "work [J]",
            "own model",
            f"next v, from {self.best} [m/s, rad/s]",
        ]
        return heads, [self._row(result) for result in self.results.values()]

    def force_table(self) -> tuple[list[str], list[list[str]]]:
        """Per contact and solver: normal / tangential force [N]."""
        rows = [
            [
                f"{k}: {name}",
                *(
                    f"{r.forces[k, 2]:.4g} / {np.hypot(*r.forces[k, :2]):.4g}"
                    for r in self.results.values()
                ),
            ]
            for k, name in enumerate(self.contacts)
        ]
        return ["contact", *self.results], rows

    def save(self, path: str | os.PathLike[str]) -> None:
        """Draw it with matplotlib: a page .html with the tables, or the figure alone, .svg or .png.

        Raises:
            ValueError: another ending.
            StictionError: the path holds a zero byte.
            RuntimeError: matplotlib is not installed.
        """
        from .comparison_page import write_comparison

        write_comparison(Path(require_path(path)), self)

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and lists, for JSON."""
        return {
            "scene": self.scene,
            "time": self.time,
            "dt": self.dt,
            "warm": self.warm,
            "rows": self.problem.num_rows,
            "contacts": list(self.contacts),
            "best": self.best,
            "results": {
                name: result.to_dict() | {"difference": self.difference(name)}
                for name, result in self.results.items()
            },
        }

    def __str__(self) -> str:
        room = shutil.get_terminal_size().columns
        tables = [self.table()] + ([self.force_table()] if self.contacts else [])
        return "\n\n".join(aligned(*table, room) for table in tables)

    def _row(self, r: SolverResult) -> list[str]:
        return [
            r.solver,
            r.model,
            r.status,
            str(r.iterations),
            str(r.factorisations),
            f"{r.microseconds:.3g}",
            f"{r.residuals.relative:.1e}",
            f"{r.residuals.primal:.1e}",
            f"{r.residuals.dual:.1e}",
            f"{r.residuals.complementarity:.1e}",
            f"{r.model_residuals.relative:.1e}",
            f"{self.difference(r.solver):.1e}",
        ]


def compare(
    sim: Simulator,
    state: State,
    control: Control | ArrayLike | None,
    names: Sequence[str],
    warm: bool,
    options: SolverOptions,
) -> Comparison:
    """See Simulator.compare."""
    if not names:
        raise ValueError("solvers: none given; there are: " + ", ".join(_stiction.solvers()))
    chosen = solver_options(sim, names, options)
    twin = sim._twin(sim.settings.copy())
    results: dict[str, SolverResult] = {}
    for name in names:
        work = state.copy() if warm else state.cold()
        twin._prepare(work, control)
        problem, start = twin.problem(), twin.warm_start()
        own = options_read(name, chosen)
        solution = solve(problem, name, warm_start=start, **own)
        twin._advance(work, solution.impulse)
        contacts = twin.contacts()
        results[name] = SolverResult(
            solver=name,
            model=solution.model,
            status=solution.status,
            iterations=solution.iterations,
            factorisations=solution.factorisations,
            microseconds=_microseconds(problem, name, start, own),
            impulse=solution.impulse,
            forces=_rows([c.impulse for c in contacts]) / sim.settings.dt,
            forces_world=_rows([c.force_on_b_world for c in contacts]),
            contact_velocity=_rows([c.velocity for c in contacts]),
            next_velocity=work.v.copy(),
            residuals=solution.residuals,
            model_residuals=solution.model_residuals,
        )
    return Comparison(
        scene=sim.scene.name,
        time=state.time,
        dt=sim.settings.dt,
        warm=warm,
        problem=problem,
        contacts=tuple(f"{c.body_a_name} - {c.body_b_name}" for c in contacts),
        results=results,
    )


def solver_options(sim: Simulator, solvers: Sequence[str], options: SolverOptions) -> SolverOptions:
    """Those of a simulator, with some replaced, which one of the solvers must read."""
    known = tuple(SolverOptions.__annotations__)
    _check_names("compare", options, known)
    check_read(solvers, options)
    chosen = {name: getattr(sim.settings, name) for name in known} | dict(options)
    return cast(SolverOptions, chosen)


def _microseconds(
    problem: ContactProblem, name: str, start: Floats, options: SolverOptions
) -> float:
    """Median of as many solves as `TIMED` holds, at most 1000; one if it is slower."""
    settings = SolverSettings()
    for key, value in {"name": name, **options}.items():
        _set_typed(settings, key, value)
    once = float(_stiction._time_solve(problem, settings, start, 0.0, 1)[0])
    repeats = int(min(TIMED * 1e9 / max(once, 1.0), 1000.0))
    if repeats < 2:
        return once * 1e-3
    return float(np.median(_stiction._time_solve(problem, settings, start, 0.0, repeats))) * 1e-3


def _rows(vectors: Sequence[Floats]) -> Floats:
    return np.array(vectors, dtype=float).reshape(-1, 3)
