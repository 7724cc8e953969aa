"""Random numbers that are a function of what they are for, not of what was drawn before."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from . import _stiction

__all__ = ["philox", "uniform"]

_MULTIPLIERS = np.array([0xD2511F53, 0xCD9E8D57], np.uint64)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_ROUNDS = 10


def philox(counter: NDArray[np.uint64], key: tuple[int, int]) -> NDArray[np.uint64]:
    """Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).

    Args:
        counter: (4, ...) of 32 bits each.
        key: two numbers of 32 bits.

    Returns:
        (4, ...) of 32 bits each.
    """
    a, b, c, d = counter
    for k in range(_ROUNDS):
        keys = [np.uint64((key[i] + k * _WEYL[i]) & 0xFFFFFFFF) for i in (0, 1)]
        first, second = a * _MULTIPLIERS[0], c * _MULTIPLIERS[1]
        a, b, c, d = (
            (second >> np.uint64(32)) ^ b ^ keys[0],
            second & _LOW,
            (first >> np.uint64(32)) ^ d ^ keys[1],
            first & _LOW,
        )
    return np.stack([a, b, c, d])


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
