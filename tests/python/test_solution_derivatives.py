"""Derivatives of a solution of a contact problem by the problem."""

from __future__ import annotations

import numpy as np
import pytest
import stiction


def problem(mu: float = 0.3, g_t: float = -1.0) -> stiction.ContactProblem:
    rng = np.random.default_rng(4)
    A = rng.normal(size=(6, 8))
    return stiction.ContactProblem(A @ A.T, [g_t, 0.2, -1.0, 0.1, g_t, -0.8], [mu, mu])


def test_a_sliding_solution_moves_as_it_says() -> None:
    base = stiction.solve(problem(), tolerance=1e-13)
    d = stiction.solution_derivatives(problem(), base)
    assert d.unknowns == d.rank and d.num_at_switch == 0
    assert d.modes == ["slide", "slide"] or "open" in d.modes
    h = 1e-6
    plus, minus = (stiction.solve(problem(g_t=-1.0 + s * h), tolerance=1e-13) for s in (1, -1))
    by_g = (plus.impulse - minus.impulse) / (2 * h)
    np.testing.assert_allclose(d.by_g @ [1, 0, 0, 0, 1, 0], by_g, atol=1e-7)
    plus, minus = (stiction.solve(problem(0.3 + s * h), tolerance=1e-13) for s in (1, -1))
    by_mu = (plus.impulse - minus.impulse) / (2 * h)
    np.testing.assert_allclose(d.by_friction @ [1, 1], by_mu, atol=1e-7)


def test_what_does_not_fit_is_refused() -> None:
    p = problem()
    solution = stiction.solve(p)
    with pytest.raises(TypeError, match="problem = None: must be a ContactProblem"):
        stiction.solution_derivatives(None, solution)
    with pytest.raises(TypeError, match="solution = 3: must be a ContactSolution"):
        stiction.solution_derivatives(p, 3)
    with pytest.raises(ValueError, match="model LCP"):
        stiction.solution_derivatives(p, stiction.solve(p, solver="lcp-lemke"))
    with pytest.raises(ValueError, match="tolerance = 0"):
        stiction.solution_derivatives(p, solution, tolerance=0.0)
