"""What an MJCF file's motion goes on from, as bytes: a State, and numbers of the file's own."""

from __future__ import annotations

import struct

import numpy as np
from numpy.typing import NDArray

__all__ = ["packed", "unpacked"]

Floats = NDArray[np.float64]
MAGIC = b"STICMJCF"
HEADER = struct.Struct("<II")
"""Version, and how many numbers stand before the state."""
VERSION = 1


def packed(numbers: Floats, state: bytes) -> bytes:
    """See unpacked()."""
    return MAGIC + HEADER.pack(VERSION, len(numbers)) + numbers.astype("<f8").tobytes() + state


def unpacked(saved: bytes, count: int) -> tuple[Floats, bytes]:
    """Numbers and state.

    Raises:
        TypeError: not bytes.
        ValueError: they are none of packed(), of another version, or not so many numbers.
    """
    if not isinstance(saved, bytes):
        kind = type(saved).__name__
        raise TypeError(f"saved: must be bytes from MjcfSimulation.save(), not {kind}")
    start = len(MAGIC) + HEADER.size
    if not saved.startswith(MAGIC) or len(saved) < start:
        raise ValueError("saved: is not from MjcfSimulation.save()")
    version, given = HEADER.unpack(saved[len(MAGIC) : start])
    if version != VERSION:
        raise ValueError(f"saved: has version {version}, this package reads {VERSION}")
    end = start + 8 * given
    if given != count:
        raise ValueError(
            f"saved: belongs to another file: it has {given} numbers beside the state, this {count}"
        )
    if len(saved) < end:
        raise ValueError("saved: truncated")
    numbers = np.frombuffer(saved[start:end], "<f8").astype(np.float64)
    if not np.all(np.isfinite(numbers)):
        raise ValueError("saved: holds a number that is not finite")
    return numbers, saved[end:]
