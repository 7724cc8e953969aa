"""Solvers on a friction pyramid and staggered projections against solvers of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import proxsuite
import pytest
import stiction
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Oracle = dict[str, NDArray[Any]]
DATA = Path(__file__).parent.parent / "data" / "contactbench_solutions.npz"
PYRAMID = ("lcp-lemke", "lcp-pgs", "lcp-qp", "lcp-staggered")
# Least number of the 72 problems, one of them infeasible, solved at 1e-6 and at 1e-10.
SOLVED = {
    "lcp-lemke": (70, 68),
    "lcp-pgs": (60, 56),
    "lcp-qp": (54, 48),
    "lcp-staggered": (68, 60),
    "ncp-staggered": (68, 60),
}


@pytest.fixture(scope="module")
def oracle() -> Oracle:
    with np.load(DATA) as data:
        return dict(data)


def arrays(oracle: Oracle, index: int) -> tuple[Floats, Floats, Floats, Floats]:
    G, g, mu, R = (oracle[f"p{index:03d}_{name}"] for name in ("G", "g", "mu", "R_comp"))
    return G, g, mu, R


def solved(oracle: Oracle, index: int, solver: str, tolerance: float) -> stiction.ContactSolution:
    G, g, mu, R = arrays(oracle, index)
    problem = stiction.ContactProblem(G, g, mu, R=R)
    sweeps = 10_000 if solver == "lcp-pgs" else 1000
    return stiction.solve(problem, solver, tolerance, max_iterations=sweeps)


def square_residual(impulse: Floats, c: Floats, mu: Floats, G: Floats) -> float:
    """max |l - P(l - c / r)|, P a clamp of each row, r_i the mean of diag G_ii; in units of l."""
    l, c = impulse.reshape(-1, 3), c.reshape(-1, 3)  # noqa: E741
    r = G.diagonal().reshape(-1, 3).mean(axis=1, keepdims=True)
    y = l - c / r
    bound = (mu * np.maximum(0.0, l[:, 2]))[:, None]
    tangential = np.abs(l[:, :2] - np.clip(y[:, :2], -bound, bound)).max()
    return max(float(tangential), float(np.abs(l[:, 2] - np.maximum(0.0, y[:, 2])).max()))


# --- ContactBench -----------------------------------------------------------------------


@pytest.mark.parametrize(("column", "solver"), [(k, s) for k in (0, 1) for s in SOLVED])
def test_contactbench(oracle: Oracle, column: int, solver: str) -> None:
    """Converged: c is exact and a residual of another form agrees, to the root of the tolerance."""
    tolerance, count = float(oracle["tolerances"][column]), 0
    for index, name in enumerate(oracle["problem_names"]):
        G, g, mu, R = arrays(oracle, index)
        x = solved(oracle, index, solver, tolerance)
        c = (G + np.diag(R)) @ x.impulse + g
        scale = max(np.abs(g).max(), np.abs(G).max() * np.abs(x.impulse).max())
        assert np.abs(x.velocity - c).max() <= 1e-12 * scale, name
        assert x.converged == (x.model_residuals.relative <= tolerance), name
        count += x.status in ("converged", "rounding_limited")
        if x.converged and solver in PYRAMID:
            unit = max(np.abs(x.impulse).max(), np.abs(g).max() / G.diagonal().max())
            assert square_residual(x.impulse, c, mu, G) <= 3.0 * tolerance**0.5 * unit, name
    assert count >= SOLVED[solver][column]


@pytest.mark.parametrize("solver", PYRAMID)
def test_contactbench_velocities(oracle: Oracle, solver: str) -> None:
    """Where two solvers of ContactBench's agree, ours give their velocity."""
    theirs = [list(oracle["solver_names"]).index(s) for s in ("LCP-PGS", "LCP-QP")]
    theirs.append(list(oracle["solver_names"]).index("LCP-staggered-norel"))
    compared = 0
    for index, name in enumerate(oracle["problem_names"]):
        g = oracle[f"p{index:03d}_g"]
        velocities = []
        for j in theirs:
            largest = np.abs(oracle["lam"][index, j, 1, : g.size]).max()
            if oracle["res_nat_lcp"][index, j, 1] <= 1e-9 * largest:
                velocities.append(oracle["c"][index, j, 1, : g.size])
        if len(velocities) < 2 or np.abs(velocities[0] - velocities[1]).max() > 1e-6:
            continue
        x = solved(oracle, index, solver, 1e-10)
        if x.converged:
            compared += 1
            assert np.abs(x.velocity - velocities[0]).max() <= 1e-7 * np.abs(g).max(), name
    assert compared >= 35


def test_staggered_velocities(oracle: Oracle) -> None:
    """ncp-staggered finds the velocity of the reference solutions of the NCP."""
    compared = 0
    for index, name in enumerate(oracle["problem_names"]):
        g = oracle[f"p{index:03d}_g"]
        c = oracle["ref_ncp_c"][index, : g.size]
        x = solved(oracle, index, "ncp-staggered", 1e-10)
        if not x.converged or not np.isfinite(c).all():
            continue
        compared += 1
        assert np.abs(x.velocity - c).max() <= 1e-6 * np.abs(g).max(), name
    assert compared >= 55


# --- Defects of the reference code that ours are not to have -------------------------------


@pytest.mark.parametrize("solver", SOLVED)
def test_compliance_counts(oracle: Oracle, solver: str) -> None:
    """Compliance is part of G, in the solvers where the reference code forgets it too."""
    for index, name in enumerate(oracle["problem_names"]):
        G, g, mu, R = arrays(oracle, index)
        if not R.any() or "talos" in str(name):  # the solo and the cube
            continue
        given = stiction.solve(stiction.ContactProblem(G, g, mu, R=R), solver, 1e-9, 10_000)
        added = stiction.solve(stiction.ContactProblem(G + np.diag(R), g, mu), solver, 1e-9, 10_000)
        without = stiction.solve(stiction.ContactProblem(G, g, mu), solver, 1e-9, 10_000)
        assert given.converged and added.converged, (name, given.status, added.status)
        assert np.abs(given.velocity - added.velocity).max() <= 1e-7 * np.abs(g).max(), name
        yielding = G @ given.impulse + g - without.velocity  # of the springs
        assert np.abs(yielding).max() > 1e-6 * np.abs(g).max(), name


@pytest.mark.parametrize("solver", SOLVED)
def test_nothing_to_do(solver: str) -> None:
    """Separating contacts: no impulse, no iteration, and no 0/0 in a relative test."""
    g = np.tile([0.3, -0.2, 0.1], 3)
    x = stiction.solve(stiction.ContactProblem(np.eye(9), g, np.full(3, 0.8)), solver)
    assert x.converged and x.iterations == 0 and not x.impulse.any()
    assert x.model_residuals.relative == 0.0


@pytest.mark.parametrize("solver", SOLVED)
def test_frictionless_and_negative_start(solver: str) -> None:
    """mu = 0 divides nothing by zero; a start with negative normal impulses is no trap."""
    g = np.tile([0.3, -0.2, -1.0], 2)
    problem = stiction.ContactProblem(np.eye(6), g, np.array([0.0, 0.5]))
    for start in (None, -np.ones(6), np.full(6, 5.0)):
        x = stiction.solve(problem, solver, 1e-10, warm_start=start)
        assert x.converged
        assert x.impulse == pytest.approx([0.0, 0.0, 1.0, -0.3, 0.2, 1.0], abs=1e-8)


def published_sweep(G: Floats, g: Floats, mu: float, impulse: Floats) -> Floats:
    """Algorithm 1 of the paper for one contact: tangential step 1 / min(G_t1t1, G_t2t2)."""
    x = impulse.copy()
    x[2] = max(0.0, x[2] - (G @ x + g)[2] / G[2, 2])
    x[:2] -= (G @ x + g)[:2] / min(G[0, 0], G[1, 1])
    x[:2] = np.clip(x[:2], -mu * x[2], mu * x[2])
    return x


def test_safe_tangential_step() -> None:
    """The published step overshoots where the tangential diagonals differ; ours does not."""
    G, g, mu = np.diag([1.0, 5.0, 1.0]), np.array([0.1, 0.2, -1.0]), 0.5
    x = np.zeros(3)
    for _ in range(1000):
        x = published_sweep(G, g, mu, x)
    assert np.abs(published_sweep(G, g, mu, x) - x).max() > 0.1
    ours = stiction.solve(stiction.ContactProblem(G, g, np.array([mu])), "lcp-pgs", 1e-10)
    assert ours.converged and ours.iterations < 200
    assert ours.impulse == pytest.approx([-0.1, -0.04, 1.0], abs=1e-9)


def test_friction_of_an_earlier_solve_is_forgotten() -> None:
    """The same G with other friction or facets gives its own solution."""
    rng = np.random.default_rng(3)
    A = rng.normal(size=(6, 6))
    G, g = A @ A.T + np.eye(6), A @ rng.normal(size=6) - np.tile([0.0, 0.0, 2.0], 2)
    for mu in (0.9, 0.05, 0.3):
        problem = stiction.ContactProblem(G, g, np.full(2, mu))
        found = [stiction.solve(problem, s, 1e-11, 20_000).velocity for s in PYRAMID]
        for c in found[1:]:
            assert c == pytest.approx(found[0], abs=1e-8)


def test_facets_bend_the_friction() -> None:
    """A block sliding along an angle: the more facets, the nearer the force to its direction."""
    angle = 0.4
    g = np.array([np.cos(angle), np.sin(angle), -0.1])
    errors = []
    for facets in (4, 8, 16):
        x = stiction.solve(
            stiction.ContactProblem(np.eye(3), g, np.array([0.5])), "lcp-lemke", facets=facets
        )
        assert x.converged
        force = x.impulse[:2] / np.linalg.norm(x.impulse[:2])
        errors.append(np.linalg.norm(force + g[:2]))
    assert errors[0] > 0.3 > errors[1] > 0.0 and errors[2] < 0.2


# --- The quadratic program of lcp-qp, by ProxQP ----------------------------------------------


def stewart_trinkle(G: Floats, g: Floats, mu: Floats) -> tuple[Floats, Floats, Floats]:
    """M, q and P of 0 <= z perp M z + q >= 0, lambda = P z, with the square's four corners."""
    D = np.array([[1.0, -1.0, -1.0, 1.0], [1.0, 1.0, -1.0, -1.0]]) / np.sqrt(2.0)
    n = len(mu)
    P, E = np.zeros((3 * n, 6 * n)), np.zeros((6 * n, 6 * n))
    for i in range(n):
        P[3 * i : 3 * i + 2, 6 * i : 6 * i + 4] = D
        P[3 * i + 2, 6 * i + 4] = 1.0
        E[6 * i : 6 * i + 4, 6 * i + 5] = 1.0
        E[6 * i + 5, 6 * i : 6 * i + 4] = -1.0
        E[6 * i + 5, 6 * i + 4] = np.sqrt(2.0) * mu[i]
    return P.T @ G @ P + E, P.T @ g, P


def proxqp(M: Floats, q: Floats, rho: float) -> Floats:
    """min z'(M z + q) over M z + q >= 0, z >= 0."""
    n = q.size
    qp = proxsuite.proxqp.dense.QP(n, 0, 2 * n)
    qp.settings.eps_abs, qp.settings.max_iter = 1e-9, 2000
    lower = np.concatenate([-q, np.zeros(n)])
    qp.init(M + M.T, q, None, None, np.vstack([M, np.eye(n)]), lower, None, rho=rho)
    qp.solve()
    return np.asarray(qp.results.x)


def test_lcp_qp_against_proxqp() -> None:
    """Where ProxQP reaches the minimum zero, lcp-qp has its velocity."""
    rng = np.random.default_rng(5)
    compared = 0
    for _ in range(20):
        n = int(rng.integers(1, 5))
        A = rng.normal(size=(3 * n, 3 * n))
        G, g = A @ A.T + 0.5 * np.eye(3 * n), rng.normal(size=3 * n)
        mu = rng.uniform(0.1, 0.6, n)
        M, q, P = stewart_trinkle(G, g, mu)
        z = proxqp(M, q, 1e-6 - min(0.0, float(np.linalg.eigvalsh(M + M.T)[0])))
        x = stiction.solve(stiction.ContactProblem(G, g, mu), "lcp-qp", 1e-10)
        if abs(z @ (M @ z + q)) > 1e-6 or not x.converged:
            continue
        compared += 1
        assert G @ (P @ z) + g == pytest.approx(x.velocity, abs=1e-4)
    assert compared >= 12
