"""Properties of Table II as numbers: how far impulses are from each law."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stiction._stiction import ContactProblem, ContactSolution
from stiction.certificate import distance_to_cone

THRESHOLD = 1e-6
"""A law holds where its number is at most this."""
RANK = 1e-9
"""Singular values below this share of the largest belong to the null space of G."""


@dataclass
class Laws:
    """Worst contact of one solution, dimensionless: impulses over the largest impulse, velocities
    over the largest entry of g.

    Attributes:
        signorini: largest of |lambda_N c_N|, -lambda_N and -c_N.
        coulomb: distance of lambda to the cone K_mu.
        mdp: |mu lambda_N |c_T| + lambda_T . c_T|, what friction lacks of (or has beyond) the
            greatest power on the disk of radius mu lambda_N.
        shift: largest velocity R lambda that the solver's own regularisation adds.
        internal: |lambda's part in the null space of G| / |lambda|.
    """

    signorini: float
    coulomb: float
    mdp: float
    shift: float
    internal: float


def laws(problem: ContactProblem, solution: ContactSolution) -> Laws:
    """Measure a solution of contact cones only, with the exact velocity of its impulses."""
    mu = np.array([s.mu for s in problem.sets])
    impulse, velocity = solution.impulse.reshape(-1, 3), solution.velocity.reshape(-1, 3)
    unit = np.abs(impulse).max() or 1.0, np.abs(problem.g).max()
    impulse_T, impulse_N = impulse[:, :2], impulse[:, 2]
    velocity_T, velocity_N = velocity[:, :2], velocity[:, 2]
    power = mu * impulse_N * np.linalg.norm(velocity_T, axis=1)
    power += (impulse_T * velocity_T).sum(axis=1)
    product = np.abs(impulse_N * velocity_N).max() / (unit[0] * unit[1])
    shift = solution.regularisation
    return Laws(
        signorini=float(max(product, -impulse_N.min() / unit[0], -velocity_N.min() / unit[1])),
        coulomb=float(distance_to_cone(impulse, mu).max() / unit[0]),
        mdp=float(np.abs(power).max() / (unit[0] * unit[1])),
        shift=0.0 if shift is None else float(np.abs(shift * solution.impulse).max() / unit[1]),
        internal=internal_share(problem, solution.impulse),
    )


def internal_share(problem: ContactProblem, impulse: NDArray[np.float64]) -> float:
    """Share of impulses that moves nothing: |P lambda| / |lambda|, P onto the null space of G."""
    values, vectors = np.linalg.eigh(problem.dense())
    null = vectors[:, values <= RANK * values[-1]]
    return float(np.linalg.norm(null.T @ impulse) / (np.linalg.norm(impulse) or 1.0))
