"""Staggered projections differentiated: a cascade of quadratic programs, in reverse.

At a solution the cascade repeats two programs, G split in normal and tangential rows:

    H: lambda_T -> argmin over lambda_N >= 0 of  1/2 lambda_N' G_NN lambda_N
                                               + lambda_N' (g_N + G_NT lambda_T)
    F: lambda_N -> argmin over |lambda_T,i| <= mu_i lambda_N,i of the same in T

Each is differentiated by its KKT system, with the active set of the solution: closed normals,
and for what slides
    (G_TT + S) dlambda_T + E ds = -G_TN dlambda_N - dg_T,
    E' dlambda_T = mu^2 lambda_N dlambda_N,
s_i = |c_T,i| / (mu_i lambda_N,i), E the tangential impulses.
The reverse pass goes through the cascade as often as the forward one did. The same equations at
once are one system: what an implicit derivative of the whole problem solves.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import stiction
from numpy.typing import NDArray

Floats = NDArray[np.float64]
PROXIMAL = 1e-9
"""Of the mean diagonal of G, added where rows of a block are redundant."""


@dataclass
class Programs:
    """Matrices of both programs at a solution; only contacts that are closed.

    Attributes:
        N, T: rows of G.
        sliding: of the closed contacts, those that slide.
        s, E: see the head of this file; E (2 n, sliding).
        by_normal: (sliding, n) mu^2 lambda_N.
    """

    G: Floats
    N: NDArray[np.int64]
    T: NDArray[np.int64]
    s: Floats
    E: Floats
    by_normal: Floats

    def normal(self) -> Floats:
        """(n, n) of H."""
        return self.G[np.ix_(self.N, self.N)]

    def tangential(self) -> Floats:
        """(2 n + sliding, ...) of F."""
        TT = self.G[np.ix_(self.T, self.T)] + np.diag(np.repeat(self.s, 2))
        zero = np.zeros((self.E.shape[1],) * 2)
        return np.block([[TT, self.E], [self.E.T, zero]])

    def reverse(self, w_N: Floats, w_T: Floats, times: int) -> tuple[Floats, Floats]:
        """dl/dg of N and T rows through so many passes of the cascade, each program factored as
        often as it was solved."""
        n, NT = len(self.N), self.G[np.ix_(self.N, self.T)]
        TN, pad = NT.T, np.zeros(self.E.shape[1])
        by_g_N, by_g_T = np.zeros(n), np.zeros(2 * n)
        bar_N, bar_T = w_N, w_T
        for _ in range(times):
            y = np.linalg.solve(self.tangential().T, np.r_[bar_T, pad])
            by_g_T -= y[: 2 * n]
            bar_N = bar_N - TN.T @ y[: 2 * n] + self.by_normal.T @ y[2 * n :]
            x = np.linalg.solve(self.normal(), bar_N)
            by_g_N -= x
            bar_N, bar_T = np.zeros(n), -NT.T @ x
        return by_g_N, by_g_T

    def at_once(self, w_N: Floats, w_T: Floats) -> tuple[Floats, Floats]:
        """The limit of `reverse`, by one system."""
        n, m = len(self.N), self.E.shape[1]
        NT = self.G[np.ix_(self.N, self.T)]
        upper = np.hstack([self.normal(), NT, np.zeros((n, m))])
        lower = np.hstack([np.vstack([NT.T, -self.by_normal]), self.tangential()])
        y = np.linalg.solve(np.vstack([upper, lower]).T, np.r_[w_N, w_T, np.zeros(m)])
        return -y[:n], -y[n : 3 * n]

    def radius(self) -> float:
        """Spectral radius of one pass: below 1 the reverse pass converges."""
        n, m = len(self.N), self.E.shape[1]
        NT = self.G[np.ix_(self.N, self.T)]
        F = np.linalg.solve(self.tangential(), np.vstack([-NT.T, self.by_normal]))[: 2 * n]
        H = -np.linalg.solve(self.normal(), NT)
        return float(abs(np.linalg.eigvals(H @ F)).max()) if n and m + n else 0.0


def programs(problem: stiction.ContactProblem, solution: stiction.ContactSolution) -> Programs:
    """Of a problem of contacts with three rows each and its solution."""
    G, mu = problem.dense() + np.diag(problem.R), np.array([one.mu for one in problem.sets])
    impulse = np.asarray(solution.impulse)
    velocity = problem.velocity(impulse)
    if any(one.dim != 3 for one in problem.sets):
        raise ValueError("the cascade is of contacts with three rows")
    closed = np.flatnonzero(impulse[2::3] > 1e-9 * max(impulse[2::3].max(), 1e-12))
    N, T = 3 * closed + 2, (3 * closed[:, None] + np.arange(2)).ravel()
    speed = np.linalg.norm(velocity[T].reshape(-1, 2), axis=1)
    load = mu[closed] * impulse[N]
    slides = np.linalg.norm(impulse[T].reshape(-1, 2), axis=1) > load * (1.0 - 1e-6)
    s = np.where(slides, speed / load, 0.0)
    which = np.flatnonzero(slides)
    E, by_normal = np.zeros((len(T), len(which))), np.zeros((len(which), len(closed)))
    for column, k in enumerate(which):
        E[2 * k : 2 * k + 2, column] = impulse[T[2 * k : 2 * k + 2]]
        by_normal[column, k] = mu[closed[k]] ** 2 * impulse[N[k]]
    regular = G + PROXIMAL * np.trace(G) / len(G) * np.eye(len(G))
    return Programs(regular, N, T, s, E, by_normal)
