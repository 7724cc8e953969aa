"""Solvers behind one interface: those of our registry, and Pinocchio's ADMM and PGS.

Pinocchio's are called through its Python module and timed by its own clock in C++
(`getElapsedTime`): from the check of the start to the answer, without the setting up of its
workspace and of its first penalty. Ours are timed in C++ around `solve()`, all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pinocchio
from numpy.typing import NDArray
from stiction import _stiction
from stiction._stiction import SolverSettings

from .problem_set import StoredProblem
from .worlds import BenchError

_Array = NDArray[np.float64]


@dataclass(frozen=True)
class Start:
    """Where a solve begins.

    Attributes:
        warm: whether the problem is that with `g_warm`.
        impulse: (3n,) [N s]; None: zero.
        penalty: of ADMM, in the engine's own units; 0: by its rule.
    """

    warm: bool
    impulse: _Array | None = None
    penalty: float = 0.0


@dataclass(frozen=True)
class Answer:
    """What an engine says; the judge is somebody else.

    Attributes:
        impulse: (3n,) [N s].
        status: why it ended; `converged` is its own opinion.
        iterations, factorisations: its own counts.
        penalty: of ADMM, for the next start.
        own: relative residual of the engine's own contact model; None: the judge's.
    """

    impulse: _Array
    status: str
    iterations: int
    factorisations: int
    penalty: float = 0.0
    own: float | None = None


class Engine(Protocol):
    """A solver with its settings."""

    label: str

    def solve(self, stored: StoredProblem, start: Start, tolerance: float) -> Answer:
        """Once."""
        ...

    def time(
        self, stored: StoredProblem, start: Start, tolerance: float, repeats: int
    ) -> NDArray[np.float64]:
        """(repeats,) microseconds of equal solves in a warm workspace."""
        ...


class Ours:
    """A solver of the registry."""

    def __init__(self, name: str, max_iterations: int) -> None:
        self.label = name
        self._settings = SolverSettings()
        self._settings.name = name
        self._settings.max_iterations = max_iterations

    def solve(self, stored: StoredProblem, start: Start, tolerance: float) -> Answer:
        """Once."""
        self._settings.tolerance = tolerance
        s = _stiction._solve(
            stored.problem(start.warm), self._settings, start.impulse, start.penalty
        )
        own = s.model_residuals.relative
        return Answer(s.impulse, s.status, s.iterations, s.factorisations, s.penalty, own)

    def time(
        self, stored: StoredProblem, start: Start, tolerance: float, repeats: int
    ) -> NDArray[np.float64]:
        """(repeats,) microseconds."""
        self._settings.tolerance = tolerance
        problem = stored.problem(start.warm)
        times = _stiction._time_solve(
            problem, self._settings, start.impulse, start.penalty, repeats
        )
        return np.asarray(times) * 1e-3


class Pinocchio:
    """One of Pinocchio's constraint solvers on a dense Delassus matrix, point contacts only.

    Defaults but for the tolerances, all of them the same number, and the limit of iterations.
    """

    def __init__(
        self, label: str, solver: str, max_iterations: int, change: Callable[[Any], None]
    ) -> None:
        self.label = label
        self._solver = getattr(pinocchio, f"{solver}ConstraintSolver")()
        self._settings = getattr(pinocchio, f"{solver}SolverSettings")()
        self._result = getattr(pinocchio, f"{solver}SolverResult")
        self._settings.max_iterations = max_iterations
        self._settings.measure_timings = True
        self._admm = solver == "ADMM"
        change(self._settings)
        self._rho: float | None = self._settings.rho_init if self._admm else None

    def solve(self, stored: StoredProblem, start: Start, tolerance: float) -> Answer:
        """Once."""
        answer, _ = self._run(self._contacts(stored, start), start, tolerance)
        return answer

    def time(
        self, stored: StoredProblem, start: Start, tolerance: float, repeats: int
    ) -> NDArray[np.float64]:
        """(repeats,) microseconds, after one call that is not counted."""
        contacts = self._contacts(stored, start)
        times = [self._run(contacts, start, tolerance)[1] for _ in range(repeats + 1)]
        return np.array(times[1:])

    def _contacts(self, stored: StoredProblem, start: Start) -> tuple[Any, ...]:
        world, origin = pinocchio.Model(), pinocchio.SE3.Identity()
        models = pinocchio.StdVec_ConstraintModel()
        datas = pinocchio.StdVec_ConstraintData()
        for mu in stored.mu:
            contact = pinocchio.PointContactConstraintModel(world, 0, origin, 0, origin)
            contact.setFriction(float(mu))
            model = pinocchio.ConstraintModel(contact)
            models.append(model)
            datas.append(model.createData())
        g = stored.g_warm if start.warm else stored.g
        return pinocchio.DelassusOperatorDense(stored.G), g, models, datas

    def _run(
        self, contacts: tuple[Any, ...], start: Start, tolerance: float
    ) -> tuple[Answer, float]:
        settings, result = self._settings, self._result()
        for kind in ("absolute", "relative"):
            setattr(settings, f"{kind}_feasibility_tol", tolerance)
            setattr(settings, f"{kind}_complementarity_tol", tolerance)
        if start.impulse is not None:
            result.setConstraintImpulseGuess(start.impulse)
        if self._admm:
            settings.rho_init = start.penalty if start.penalty > 0.0 else self._rho
        delassus, g, models, datas = contacts
        delassus.updateDamping(0.0)  # so that the last solve's factor is not found again
        converged = self._solver.solve(delassus, g, models, datas, settings, result)
        answer = Answer(
            impulse=np.array(result.retrieveConstraintImpulses()),
            status="converged" if converged else "max_iterations",
            iterations=int(result.iterations),
            factorisations=int(result.delassus_decomposition_update_count) if self._admm else 0,
            penalty=float(result.rho) if self._admm else 0.0,
        )
        return answer, float(self._solver.getElapsedTime())


def _default(settings: Any) -> None:
    """Leave them."""


def _spectral(settings: Any) -> None:
    settings.admm_update_rule = pinocchio.ADMMUpdateRule.SPECTRAL


PEERS: dict[str, tuple[str, Callable[[Any], None]]] = {
    "pinocchio-admm": ("ADMM", _default),
    "pinocchio-admm-spectral": ("ADMM", _spectral),
    "pinocchio-pgs": ("PGS", _default),
}
"""Pinocchio's solvers; ADMM by default changes its penalty as OSQP does, by option as the paper."""


def engine(label: str, max_iterations: int) -> Engine:
    """Of that name: one of the registry, or of PEERS.

    Raises:
        BenchError: there is none; the message lists the names.
    """
    if label in PEERS:
        solver, change = PEERS[label]
        return Pinocchio(label, solver, max_iterations, change)
    if label not in _stiction.solvers():
        names = ", ".join([*_stiction.solvers(), *PEERS])
        raise BenchError(f"solver {label!r} is unknown; there are: {names}")
    return Ours(label, max_iterations)
