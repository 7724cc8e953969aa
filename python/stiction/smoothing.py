"""Smooth stand-ins for the rigid step, for searches whose controls do not touch what they move."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .given_array import given_array, integer
from .loading import _check_type
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
        TypeError: `sim` is no Simulator, or `epsilons` are no sequence of numbers.
        ValueError: an epsilon is not positive and finite.
    """
    _check_type("sim", sim, Simulator, "stiction.Simulator(scene)")
    return _along(sim, _energies(epsilons))


def _along(sim: Simulator, epsilons: Sequence[float]) -> Iterator[tuple[float, Simulator]]:
    for epsilon in epsilons:
        yield epsilon, sim.smoothed(epsilon)
    yield 0.0, sim


def _energies(epsilons: Sequence[float]) -> list[float]:
    """Checked before the first simulator is made."""
    try:
        if isinstance(epsilons, str):
            raise TypeError
        values = [float(epsilon) for epsilon in epsilons]
    except (TypeError, ValueError):
        raise TypeError(
            f"epsilons = {epsilons!r}: must be a sequence of numbers [J], such as [1e-2, 1e-4]"
        ) from None
    for k, epsilon in enumerate(values):
        if not (math.isfinite(epsilon) and epsilon > 0.0):
            raise ValueError(f"epsilons[{k}] = {epsilon!r}: must be > 0 and finite")
    return values


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
        sigma: > 0, in the unit of x. The bias grows with its square, and what lies nearer than it
            is smoothed away; too small a sigma never reaches the touch, and the estimate of order 0
            is zero. Begin where a good part of the samples, say a third, changes the cost, and
            divide by two or three as the search comes near.
        samples: >= 1 evaluations at x + sigma u.
        cost: of an array shaped like x.
        gradient: of the cost, shaped like x.
        seed: of u; the same seed gives the same estimate.

    Returns:
        shaped like x.

    Raises:
        ValueError: sigma or samples is out of range, x is not finite; cost or gradient returns
            something else than a finite number or array like x: the message says at which sample.
        TypeError: both or none of cost and gradient are given, or they cannot be called.
    """
    if (cost is None) == (gradient is None):
        raise TypeError("cost and gradient: give one of them")
    if not (math.isfinite(sigma) and sigma > 0.0):
        raise ValueError(f"sigma = {sigma!r}: must be > 0 and finite")
    if integer("samples", samples) < 1:
        raise ValueError(f"samples = {samples!r}: must be >= 1")
    for name, given in (("cost", cost), ("gradient", gradient)):
        if given is not None and not callable(given):
            raise TypeError(f"{name} = {given!r}: must be a function of an array like x")
    at = given_array("x", x, np.shape(x))
    rng = np.random.default_rng(seed)
    total = np.zeros_like(at)
    base = _cost_at(cost, at, "x") if cost is not None else 0.0
    for k in range(samples):
        u = rng.standard_normal(at.shape)
        place = f"x + sigma u of sample {k}"
        if gradient is not None:
            total += given_array(f"gradient at {place}", gradient(at + sigma * u), at.shape)
        elif cost is not None:
            total += (_cost_at(cost, at + sigma * u, place) - base) / sigma * u
    return total / samples


def _cost_at(cost: Callable[[Floats], float], x: Floats, place: str) -> float:
    value = cost(x)
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"cost at {place} = {value!r}: must be a number") from None
    if not math.isfinite(number):
        raise ValueError(
            f"cost at {place} = {number!r}: must be finite; bound the cost, take a smaller sigma "
            f"or look at the rollout from there"
        )
    return number
