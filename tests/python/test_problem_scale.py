"""A contact problem has no unit: (G, s g) with bounds times s has the solution s lambda."""

from __future__ import annotations

import numpy as np
import pytest
import stiction

POWERS = (-498, -330, -201, -199, -60, 60, 199, 201, 330, 498)
"""Exponents of two: 1e-150 to 1e150, on both sides of where a solver takes a scaled copy."""


def random_sets(kind: str, rng: np.random.Generator) -> list[stiction.ConstraintSet]:
    cone = stiction.ContactCone(float(rng.uniform(0.1, 1.0)))
    box = stiction.BoxSet(-0.02, float(rng.uniform(0.01, 0.1)))
    return {
        "cones": [cone] * 4,
        "torsion": [stiction.ContactCone(0.6, torsional=0.02)] * 3,
        "rolling": [stiction.ContactCone(0.6, torsional=0.02, rolling=0.01)] * 2,
        "limits": [stiction.NonNegative()] * 12,
        "boxes": [box] * 12,
        "bilateral": [stiction.Free(3)] * 4,
        "mixed": [cone] * 2 + [box] * 2 + [stiction.Free(2)] + [stiction.NonNegative()] * 2,
    }[kind]


def scaled(
    sets: list[stiction.ConstraintSet], G: np.ndarray, g: np.ndarray, power: int
) -> stiction.ContactProblem:
    s = 2.0**power
    own = [stiction.BoxSet(x.lower * s, x.upper * s) if x.kind == "box" else x for x in sets]
    return stiction.ContactProblem(G, g * s, sets=own)


@pytest.mark.parametrize(
    "kind", ["cones", "torsion", "rolling", "limits", "boxes", "bilateral", "mixed"]
)
@pytest.mark.parametrize("rank", [0.5, 1.2])
def test_a_scaled_problem_has_the_scaled_solution(kind: str, rank: float) -> None:
    rng = np.random.default_rng([len(kind), int(10 * rank)])
    for _ in range(6):
        sets = random_sets(kind, rng)
        n = sum(s.dim for s in sets)
        J = rng.normal(size=(n, max(1, int(rank * n))))
        G, g = J @ J.T, J @ rng.normal(size=J.shape[1])
        base = stiction.solve(scaled(sets, G, g, 0))
        for power in POWERS:
            out = stiction.solve(scaled(sets, G, g, power))
            assert out.status == base.status
            assert np.array_equal(out.impulse, np.ldexp(base.impulse, power)), power
            assert np.array_equal(out.velocity, np.ldexp(base.velocity, power))
            assert out.residuals.relative == pytest.approx(
                base.residuals.relative, rel=1e-6, abs=1e-11
            )


def test_islands_of_different_sizes_are_solved_together() -> None:
    rng = np.random.default_rng(3)
    J = rng.normal(size=(6, 8))
    G = np.zeros((12, 12))
    G[:6, :6] = G[6:, 6:] = J @ J.T
    g = J @ rng.normal(size=8)
    sets = [stiction.ContactCone(0.5)] * 4
    small = 2.0**-400
    alone = stiction.solve(stiction.ContactProblem(G[:6, :6], g, sets=sets[:2]))
    both = stiction.solve(stiction.ContactProblem(G, np.concatenate([g, small * g]), sets=sets))
    assert both.converged
    assert np.array_equal(both.impulse[:6], alone.impulse)
    assert np.array_equal(both.impulse[6:], small * alone.impulse)


@pytest.mark.parametrize("solver", stiction.solvers())
@pytest.mark.parametrize("power", [-900, -498, 498])
def test_every_solver_takes_small_and_large_problems(solver: str, power: int) -> None:
    rng = np.random.default_rng(7)
    J = rng.normal(size=(6, 9))
    G, g = J @ J.T, J @ rng.normal(size=9)
    sets = [stiction.ContactCone(0.5)] * 2
    base = stiction.solve(scaled(sets, G, g, 0), solver=solver, max_iterations=5000)
    out = stiction.solve(scaled(sets, G, g, power), solver=solver, max_iterations=5000)
    assert out.status == base.status
    if solver not in ("raisim-published", "ncp-admm-published", "ccp-admm-published"):  # stop in SI
        assert out.impulse == pytest.approx(np.ldexp(base.impulse, power), rel=1e-9, abs=0)


def test_boxes_of_any_size_are_judged_by_what_moves() -> None:
    """Room of the impulse that a solution does not need decides nothing."""
    rng = np.random.default_rng(5)
    J = rng.normal(size=(8, 10))
    G, g = J @ J.T, J @ rng.normal(size=10)
    inverse = np.linalg.solve(G, -g)
    for room in (1e-2, 1.0, 1e6, 1e30):
        bound = float(np.abs(inverse).max()) * (1.0 + room)
        out = stiction.solve(
            stiction.ContactProblem(G, g, sets=[stiction.BoxSet(-bound, bound)] * 8)
        )
        assert out.converged
        assert out.impulse == pytest.approx(inverse, rel=1e-8)
        assert np.abs(out.velocity).max() <= 1e-8 * np.abs(g).max()
