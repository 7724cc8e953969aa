"""What section 6.3 of the paper says of every motion, asked of our numbers."""

from __future__ import annotations

import itertools

import numpy as np
from stiction.pages.experiment import Claim

from .accuracy import Results
from .integrators import IMPLICIT, OURS, PRODUCTS, PUBLISHED


def paper_claims(results: Results) -> list[Claim]:
    """All three."""
    return [_sudden(results), _faster(results), _products(results)]


def _sudden(results: Results) -> Claim:
    """Explicit methods fail at once."""
    jumps = {}
    for name in ("rk4", "explicit-euler"):
        errors = [min(one.mean, DIVERGED_AT) for one in results[name]]
        pairs = itertools.pairwise(errors)
        jumps[name] = max((a / max(b, ROUNDING) for a, b in pairs), default=np.nan)
    listed = ", ".join(f"{name} {jump:.1e}" for name, jump in jumps.items())
    return Claim(
        "the error of Eul-exp and RK4 increases suddenly for large steps",
        f"largest ratio of errors at two neighbouring steps: {listed}",
        all(jump > 100.0 for jump in jumps.values()),
    )


DIVERGED_AT = 1e3
ROUNDING = 1e-14
"""rk4 at the step of the truth has no error at all."""


def _best_within(results: Results, names: list[str], factor: float) -> float:
    """Least error at this real-time factor or faster."""
    return min(
        (
            one.mean
            for name in names
            for one in results[name]
            if 1e6 * one.dt / one.microseconds >= factor
        ),
        default=np.inf,
    )


def _faster(results: Results) -> Claim:
    """Accuracy for equal computing time."""
    published = [PUBLISHED, *PRODUCTS]
    rivals = ["explicit-euler", "rk4", IMPLICIT]
    factors = [1e6 * one.dt / one.microseconds for one in results[PUBLISHED]]
    won = [_best_within(results, published, f) < _best_within(results, rivals, f) for f in factors]
    ours = [_best_within(results, [OURS], f) < _best_within(results, rivals, f) for f in factors]
    return Claim(
        "Expo outperforms the others: greater accuracy for equal computing time",
        f"exponential-published beats explicit-euler, rk4 and implicit-euler at {sum(won)} of "
        f"{len(won)} real-time factors, exponential at {sum(ours)}",
        all(won),
    )


def _products(results: Results) -> Claim:
    """Cheaper exponentials."""
    factors = [1e6 * one.dt / one.microseconds for one in results[PUBLISHED]]
    better = [
        _best_within(results, list(PRODUCTS), f) <= _best_within(results, [PUBLISHED], f)
        for f in factors
    ]
    return Claim(
        "versions with fewer matrix products outperform the full exponential",
        f"for equal or less computing time at {sum(better)} of {len(better)} steps",
        all(better),
    )
