"""On the comparison of contact models: Table II, Table IV and figure 15."""

from __future__ import annotations

from typing import Any

import numpy as np
import stiction
from numpy.typing import NDArray
from stiction._stiction import ContactProblem
from stiction.pages.experiment import StudyError
from stiction.solving import solve

from ..contact_models import consistency, cubes, problems
from ..contact_models.tolerances import REFERENCE, TOLERANCES

Floats = NDArray[np.float64]
ROUNDS, SHOWN = 400, 100
"""Of the alternation; of which the residuals of the last so many are looked at."""
SWEEPS = 4000
SLIDERS = 150
"""Sweeps given to a problem, and random problems tried, in search of one that never settles."""


def own_velocity(share: float) -> dict[str, Any]:
    """What friction of ccp-newton lacks of the greatest power, judged by the exact velocity c, as
    in Table II, and by c + R lambda, the velocity of the regularised model that it solves."""
    worst = {"exact": 0.0, "own": 0.0}
    for problem in problems.ordinary().values():
        found = solve(problem, "ccp-newton", tolerance=1e-10, max_iterations=100_000)
        assert found.regularisation is not None
        shift = found.regularisation * found.impulse
        for name, velocity in (("exact", found.velocity), ("own", found.velocity + shift)):
            worst[name] = max(worst[name], _power_missing(problem, found.impulse, velocity))
    return {"solver": "ccp-newton", **worst}


def _power_missing(problem: ContactProblem, impulse: Floats, velocity: Floats) -> float:
    """As `properties.laws` has it, for any velocity."""
    mu = np.array([s.mu for s in problem.sets])
    p, c = impulse.reshape(-1, 3), velocity.reshape(-1, 3)
    power = mu * p[:, 2] * np.linalg.norm(c[:, :2], axis=1) + (p[:, :2] * c[:, :2]).sum(axis=1)
    unit = (np.abs(p).max() or 1.0) * np.abs(problem.g).max()
    return float(np.abs(power).max() / unit)


# --- staggered projections with sub-problems solved by another code ------------------------------


def exact_alternation(share: float) -> dict[str, Any]:
    """Normal impulses with the friction fixed, friction with the normal impulses fixed, in turn,
    each by an interior-point method of others: what the alternation itself comes to.
    """
    rounds = max(10, round(ROUNDS * share))
    rows = []
    for name, problem in problems.hard().items():
        residuals = _alternate(problem, rounds)
        late = residuals[-min(SHOWN, len(residuals)) :]
        rows.append({"problem": name, "rounds": rounds, "least": min(late), "most": max(late)})
    return {"problems": rows}


def _alternate(problem: ContactProblem, rounds: int) -> list[float]:
    """Relative residual of the NCP after each round."""
    G, g = problem.dense(), np.asarray(problem.g)
    mu = np.array([s.mu for s in problem.sets])
    normal = np.arange(2, len(g), 3)
    tangent = np.setdiff1d(np.arange(len(g)), normal)
    impulse = np.zeros(len(g))
    residuals = []
    for _ in range(rounds):
        impulse[normal] = _cone_program(
            G[np.ix_(normal, normal)], g[normal] + G[np.ix_(normal, tangent)] @ impulse[tangent]
        )
        radius = mu * np.maximum(impulse[normal], 0.0)
        impulse[tangent] = _cone_program(
            G[np.ix_(tangent, tangent)],
            g[tangent] + G[np.ix_(tangent, normal)] @ impulse[normal],
            radius,
        )
        residuals.append(float(stiction.residuals(problem, impulse).relative))
    return residuals


def _cone_program(H: Floats, h: Floats, radius: Floats | None = None) -> Floats:
    """argmin x.Hx/2 + h.x over x >= 0, or over disks of these radii around 0 of pairs of x.

    Scaled by the diagonal, on which the least of 1 g and 1000 kg differ by six powers of ten.
    """
    try:
        import clarabel
        from scipy import sparse
    except ImportError:
        raise StudyError('the alternation needs clarabel: pip install ".[test]"') from None
    n = len(h)
    scale = 1.0 / np.sqrt(np.maximum(np.diag(H), 1e-300))
    if radius is not None:  # one scale a disk
        scale = np.repeat(scale.reshape(-1, 2).min(axis=1), 2)
    unit = float(np.abs(scale * h).max()) or 1.0
    P = sparse.csc_matrix(np.triu(H * np.outer(scale, scale)))
    if radius is None:
        A, b = -np.eye(n), np.zeros(n)
        cones = [clarabel.NonnegativeConeT(n)]
    else:
        A, b = np.zeros((3 * n // 2, n)), np.zeros(3 * n // 2)
        for i, r in enumerate(radius):
            b[3 * i] = r / (scale[2 * i] * unit)
            A[3 * i + 1, 2 * i] = A[3 * i + 2, 2 * i + 1] = -1.0
        cones = [clarabel.SecondOrderConeT(3)] * len(radius)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    solver = clarabel.DefaultSolver(P, scale * h / unit, sparse.csc_matrix(A), b, cones, settings)
    return np.asarray(scale * unit * np.array(solver.solve().x))


# --- Gauss-Seidel that never settles -------------------------------------------------------------


def cycling_sweeps(share: float) -> dict[str, Any]:
    """Contact problems on which projected Gauss-Seidel never settles, though there is a solution.

    Random problems of two contacts, G = J J^T of rank 6, friction up to 2, that ncp-newton and
    lcp-lemke solve. Of those on which a method has not met 1e-6 after all sweeps, the worst is
    named, with its residual after half of them.
    """
    rows = []
    sweeps = max(200, round(SWEEPS * share))
    for name in ("lcp-pgs", "ncp-pgs-published", "ncp-pgs"):
        rows.append(_stubborn(name, max(20, round(SLIDERS * share)), sweeps))
    return {"solvers": rows}


def _stubborn(name: str, tried: int, sweeps: int) -> dict[str, Any]:
    worst: dict[str, Any] = {"solver": name, "problem": -1, "half": 0.0, "end": 0.0}
    unsettled = solvable = 0
    for k in range(tried):
        problem = random_problem(k)
        others = [solve(problem, n, tolerance=1e-8) for n in ("ncp-newton", "lcp-lemke")]
        if not all(found.converged for found in others):
            continue
        solvable += 1
        end = _residual(problem, name, sweeps)
        if end <= 1e-6:
            continue
        unsettled += 1
        if end > worst["end"]:
            half = _residual(problem, name, sweeps // 2)
            worst |= {"problem": k, "half": half, "end": end}
    return worst | {"solvable": solvable, "unsettled": unsettled, "sweeps": sweeps}


def _residual(problem: ContactProblem, name: str, sweeps: int) -> float:
    found = solve(problem, name, tolerance=1e-9, max_iterations=sweeps)
    return float(found.model_residuals.relative)


def random_problem(seed: int, contacts: int = 2, friction: float = 2.0) -> ContactProblem:
    """Two contacts that are coupled through all directions."""
    generator = np.random.default_rng([7, seed])
    J = generator.normal(size=(3 * contacts, 3 * contacts))
    g = generator.normal(size=3 * contacts)
    mu = generator.uniform(0.2, friction, contacts)
    return ContactProblem(J @ J.T, g, mu)


# --- RaiSim's bisection --------------------------------------------------------------------------


def loose_bisection(share: float) -> dict[str, Any]:
    """The slide of Table IV at a tolerance of 1e-2, cold started, with RaiSim's search as its
    authors have it, in C++ (to 1e-6 N s) and Python (1e-3): its distance from the exact root's."""
    truth = consistency.slide("raisim", cubes.DT, REFERENCE, warm=False)
    rows = []
    for name, bisection in (("C++", 1e-6), ("Python", 1e-3)):
        found = consistency.slide(
            "raisim-published",
            cubes.DT,
            TOLERANCES[-1],
            warm=False,
            raisim_bisection_tolerance=bisection,
            max_iterations=SWEEPS_OF_RAISIM,
        )
        rows.append(
            {
                "bisection": name,
                "error": consistency.distance(found, truth),
                "end": float(np.linalg.norm(found.position[-1] - truth.position[-1])),
                "energy left": float(abs(found.energy[-1]) / found.energy[0]),
                "reached": found.reached,
            }
        )
    return {"searches": rows}


SWEEPS_OF_RAISIM = 100
