"""Smooth stand-ins for the rigid step, for searches whose controls do not touch what they move."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .simulator import Simulator

__all__ = ["along_path", "randomized_gradient"]

Floats = NDArray[np.float64]


EPSILONS = (1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5, 1e-5)


def along_path(
    sim: Simulator, epsilons: Sequence[float] = EPSILONS
) -> Iterator[tuple[float, Simulator]]:
    """Simulators along the central path to the exact one: (epsilon, simulator), last (0, sim).

        for epsilon, simulator in stiction.along_path(sim):
            taus = improve(simulator, taus)

    Args:
        sim: the simulator to end with.
        epsilons: > 0 [J], of the smoothed ones, see `Simulator.smoothed`.

    Raises:
        ValueError: an epsilon is not positive and finite.
    """
    for epsilon in epsilons:
        yield epsilon, sim.smoothed(epsilon)
    yield 0.0, sim


def randomized_gradient(
    x: ArrayLike,
    sigma: float,
    samples: int,
    cost: Callable[[Floats], float] | None = None,
    gradient: Callable[[Floats], ArrayLike] | None = None,
    seed: int = 0,
) -> Floats:
    """The gradient at x of the mean of a cost over x + sigma u, u normal: an unbiased estimate.

    Of order 0 from `cost`, the mean of (cost(x + sigma u) - cost(x)) u / sigma; of order 1 from
    `gradient`, its mean. Give one of them. For a search that does not touch yet, x are the controls
    of a whole rollout: noise on one step alone moves nothing that is far.

    Args:
        x: any shape, such as the (T, nv) torques of a rollout.
        sigma: > 0, in the unit of x.
        samples: >= 1 evaluations at x + sigma u.
        cost: of an array shaped like x.
        gradient: of the cost, shaped like x.
        seed: of u; the same seed gives the same estimate.

    Returns:
        shaped like x.

    Raises:
        ValueError: sigma or samples is out of range.
        TypeError: both or none of cost and gradient are given.
    """
    if (cost is None) == (gradient is None):
        raise TypeError("cost and gradient: give one of them")
    if not (math.isfinite(sigma) and sigma > 0.0):
        raise ValueError(f"sigma = {sigma!r}: must be > 0 and finite")
    if samples < 1:
        raise ValueError(f"samples = {samples!r}: must be >= 1")
    at = np.asarray(x, dtype=float)
    rng = np.random.default_rng(seed)
    total = np.zeros_like(at)
    base = cost(at) if cost is not None else 0.0
    for _ in range(samples):
        u = rng.standard_normal(at.shape)
        if gradient is not None:
            total += np.asarray(gradient(at + sigma * u), dtype=float)
        elif cost is not None:
            total += (cost(at + sigma * u) - base) / sigma * u
    return total / samples
