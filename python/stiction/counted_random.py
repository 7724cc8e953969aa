"""Random numbers that are a function of what they are for, not of what was drawn before."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import _stiction

__all__ = ["uniform"]


def uniform(
    seed: int, worlds: NDArray[np.int64], episodes: NDArray[np.int64], count: int, stream: int = 0
) -> NDArray[np.float64]:
    """(worlds, count) in [0, 1): the same for the same seed, world, episode and stream, whatever
    other worlds there are and in whatever order they are asked for.

    Args:
        seed: of 64 bits.
        worlds, episodes: of the same length, < 2^32.
        count: numbers a world.
        stream: < 2^8; streams of one world and episode are independent.
    """
    out = np.empty((len(worlds), count))
    world, episode = (np.ascontiguousarray(x, np.int64) for x in (worlds, episodes))
    _stiction._counted_uniform(seed, world, episode, stream, out)
    return out
