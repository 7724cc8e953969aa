"""What section 6.3 of the paper says of every motion, asked of our numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
from stiction.pages.experiment import NOISE, Claim

from .accuracy import Results, mean_at
from .integrators import IMPLICIT, OURS, PRODUCTS, PUBLISHED


def paper_claims(results: Results) -> list[Claim]:
    """All three."""
    return [_sudden(results), _faster(results), _products(results)]


def slightly_better(results: Results) -> Claim:
    """Of the trot."""
    ratios = _implicit_over_published(results)
    return Claim(
        "Eul-imp is slightly better than Expo in the trot",
        f"implicit-euler errs {_range(ratios)} times as much as exponential-published",
        max(ratios.values()) < 1.0,
    )


LARGE = 4.9e-3
"""What "large steps" of the jump are, at least [s]."""


def a_bit_worse(results: Results) -> Claim:
    """Of the jump."""
    ratios = _implicit_over_published(results)
    listed = ", ".join(f"{ratio:.2f} at {1e3 * dt:.3g} ms" for dt, ratio in ratios.items())
    return Claim(
        "Eul-imp is a bit worse than Expo in the jump for large steps",
        f"implicit-euler over exponential-published: {listed}; large: from 5 ms on",
        min(ratio for dt, ratio in ratios.items() if dt >= LARGE) > 1.0,
    )


def _implicit_over_published(results: Results) -> dict[float, float]:
    """Step [s] -> ratio of their errors."""
    found = {one.dt: mean_at(results, IMPLICIT, one.dt) / one.mean for one in results[PUBLISHED]}
    return {dt: ratio for dt, ratio in found.items() if np.isfinite(ratio)}


def _range(ratios: dict[float, float]) -> str:
    return f"{min(ratios.values()):.2f} to {max(ratios.values()):.2f}"


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

    def won(names: list[str], lead: float) -> list[bool]:
        return [
            _best_within(results, names, f) < _best_within(results, rivals, lead * f)
            for f in factors
        ]

    return Claim(
        "Expo outperforms the others: greater accuracy for equal computing time",
        f"exponential-published, the best of it and its versions with fewer products, beats "
        f"explicit-euler, rk4 and implicit-euler at {sum(won(published, 1.0))} of {len(factors)} "
        f"real-time factors, exponential at {sum(won([OURS], 1.0))}",
        _surely(lambda lead: all(won(published, lead))),
    )


def _products(results: Results) -> Claim:
    """Cheaper exponentials."""
    factors = [1e6 * one.dt / one.microseconds for one in results[PUBLISHED]]

    def better(lead: float) -> list[bool]:
        return [
            _best_within(results, list(PRODUCTS), lead * f) <= _best_within(results, [PUBLISHED], f)
            for f in factors
        ]

    return Claim(
        "versions with fewer matrix products outperform the full exponential",
        f"for equal or less computing time at {sum(better(1.0))} of {len(factors)} steps",
        _surely(lambda lead: all(better(lead))),
    )


def _surely(holds: Callable[[float], bool]) -> bool | None:
    """None: it depends on one side being slower or faster by `NOISE`."""
    verdicts = {holds(1.0 + NOISE), holds(1.0 / (1.0 + NOISE))}
    return verdicts.pop() if len(verdicts) == 1 else None
