"""Bilateral rows are eliminated before the others: redundant, contradicting, alone."""

from __future__ import annotations

import numpy as np
import pytest
import stiction


def problem(
    rng: np.random.Generator, redundant: bool, others: str
) -> tuple[stiction.ContactProblem, np.ndarray, np.ndarray, int]:
    """Bilateral rows first, some of which repeat others; then rows of another kind."""
    dofs, bilateral = 14, 6
    B = rng.normal(size=(bilateral, dofs))
    if redundant:
        B[3:] = rng.normal(size=(3, 3)) @ B[:3]
    rest = {
        "none": [],
        "cones": [stiction.ContactCone(0.6)] * 3,
        "boxes": [stiction.BoxSet(-0.01, 0.01)] * 5,
        "limits": [stiction.NonNegative()] * 5,
        "mixed": [stiction.ContactCone(0.6), stiction.BoxSet(-0.1, 0.1), stiction.NonNegative()],
    }[others]
    n = sum(s.dim for s in rest)
    J = np.vstack([B, rng.normal(size=(n, dofs))])
    v = rng.normal(size=dofs)
    G, g = J @ J.T, J @ v
    sets = [stiction.Free(3), stiction.Free(3), *rest]
    return stiction.ContactProblem(G, g, sets=sets), G, g, bilateral


@pytest.mark.parametrize("others", ["none", "cones", "boxes", "limits", "mixed"])
@pytest.mark.parametrize("redundant", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_what_is_left_is_the_problem_without_bilateral_rows(
    others: str, redundant: bool, seed: int
) -> None:
    rng = np.random.default_rng([seed, redundant])
    p, G, g, m = problem(rng, redundant, others)
    out = stiction.solve(p)
    assert out.converged
    assert np.abs(out.velocity[:m]).max() <= 1e-10 * np.abs(g).max()
    # The Schur complement, by the pseudoinverse of another library.
    inverse = np.linalg.pinv(G[:m, :m], rcond=1e-10, hermitian=True)
    left, of_left = G[m:, m:] - G[m:, :m] @ inverse @ G[:m, m:], g[m:] - G[m:, :m] @ inverse @ g[:m]
    sets = p.sets[2:]
    if sets:
        alone = stiction.solve(stiction.ContactProblem(0.5 * (left + left.T), of_left, sets=sets))
        assert out.velocity[m:] == pytest.approx(alone.velocity, abs=1e-7 * np.abs(g).max())
    # The work is that of the problem that is left, and one factor of the bilateral rows.
    few = 1 + (alone.factorisations if sets else 0)
    assert out.factorisations <= few + 2


@pytest.mark.parametrize("seed", range(6))
def test_impulses_of_rows_that_repeat_others_are_the_least(seed: int) -> None:
    """In the scaling of a unit diagonal, so that rows that are the same carry the same."""
    rng = np.random.default_rng(seed)
    p, G, g, _ = problem(rng, True, "none")
    out = stiction.solve(p)
    scale = 1.0 / np.sqrt(np.diag(G))
    least = scale * (
        np.linalg.pinv(scale[:, None] * G * scale, rcond=1e-10, hermitian=True) @ (-scale * g)
    )
    assert out.impulse == pytest.approx(least, rel=1e-6, abs=1e-9 * np.abs(least).max())


def test_twins_carry_the_same() -> None:
    rng = np.random.default_rng(9)
    J = rng.normal(size=(3, 8))
    J = np.vstack([J, J])
    p = stiction.ContactProblem(
        J @ J.T, J @ rng.normal(size=8), sets=[stiction.Free(3), stiction.Free(3)]
    )
    out = stiction.solve(p)
    assert out.converged
    assert out.impulse[:3] == pytest.approx(out.impulse[3:], rel=1e-9)


def test_rows_that_contradict_each_other_take_the_least_squares() -> None:
    J = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    g = np.array([1.0, 3.0, 5.0])
    p = stiction.ContactProblem(J @ J.T, g, sets=[stiction.Free(3)])
    out = stiction.solve(p)
    assert not out.converged
    assert out.velocity == pytest.approx([-1.0, 1.0, 0.0], abs=1e-9)
