"""Piles at rest: stored poses, so that every run and every engine starts with the same pile.

A pile that each run settles anew is another pile after each change of a solver. `python -m
stiction_lab.bench.settled` makes the stored file again, in some minutes: each pile falls in our
hands and is taken at the first tenth of a second, after twelve, in which nothing moves at more than
1e-4 m/s or rad/s.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stiction import Simulator, load

from .worlds import BenchError

DT = 2e-3
"""Time step of the piles [s]."""
PILES = ("ycb-pile(10)", "ycb-pile(50)", "ycb-pile(200)")
AT_REST = 1e-4
"""Largest speed of a stored pile [m/s, rad/s]."""
FALLING, PATIENCE = 12.0, 120.0
"""A pile is not looked at before, and given up after [s]."""
_FILE = Path(__file__).with_name("settled_piles.npz")


def configuration(scene: str) -> NDArray[np.float64]:
    """q (nq,) of the bodies of that scene at rest.

    Raises:
        BenchError: nothing is stored under that name; the message lists what is.
    """
    with np.load(_FILE) as stored:
        if scene not in stored:
            raise BenchError(f"no pile {scene!r} is stored; there are: {', '.join(stored)}")
        return np.asarray(stored[scene])


def settle(scene: str) -> NDArray[np.float64]:
    """q of the scene once it has come to rest.

    Raises:
        BenchError: it moves after `PATIENCE`.
    """
    sim = Simulator(load(scene), dt=DT)
    state, control = sim.initial_state(), sim.hold()
    sim.run(state, control, round(FALLING / DT))
    for _ in range(round(PATIENCE / 0.1)):
        sim.run(state, control, round(0.1 / DT))
        if np.abs(state.v).max() < AT_REST:
            return np.array(state.q)
    raise BenchError(f"{scene} moves at {np.abs(state.v).max():.2g} after {PATIENCE:g} s")


if __name__ == "__main__":
    found: dict[str, Any] = {}
    for name in PILES:
        print(f"settling {name}", flush=True)
        found[name] = settle(name)
    np.savez_compressed(_FILE, **found)
