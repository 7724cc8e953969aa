"""Columns that differences of usual sizes do not decide: differences of 10 nm and less."""

from __future__ import annotations

from typing import Any

import numpy as np
import stiction
from numpy.typing import NDArray
from stiction.derivatives import made_of
from stiction.gradient_check import ColumnCheck

Start = tuple[stiction.Simulator, stiction.State, stiction.Control]
SIZES = (1e-8, 3e-9, 1e-9)
NOISE = 1e-2
"""Share of the largest entry that the rounding of such small differences may reach."""


def switches_nearby(start: Start, column: ColumnCheck) -> bool:
    """The column agrees with differences so small that rounding shows, not with larger ones: the
    contact is another one within a micrometre."""
    settings = start[0].settings.copy()
    settings.tolerance = 1e-13
    exact, block = start[0]._twin(settings), column.block
    k = list(exact.scene.dof_names).index(column.name)
    end = start[1].copy()
    matrix = made_of(exact._step_derivatives(end, start[2], []), end).by(block)
    size = max(abs(matrix).max(), 1e-5)
    for h in SIZES:
        central = 0.5 * (change(exact, start, end, block, k, h) / h
                         - change(exact, start, end, block, k, -h) / h)  # fmt: skip
        if abs(central - matrix[:, k]).max() < NOISE * size:
            return True
    return False


def change(
    sim: Any,
    start: Start,
    end: stiction.State,
    block: str,
    k: int,
    h: float,
) -> NDArray[np.float64]:
    """(2 nv,) tangent from the end to that of a step with one number moved by h."""
    state, control = start[1].copy(), start[2].copy()
    if block == "q":
        x = np.zeros(sim.scene.nv)
        x[k] = h
        state.q = stiction.integrate(sim.scene, state.q, x)
    elif block == "v":
        state.v[k] += h
    else:
        control.torque[k] += h
    sim.step(state, control)
    return np.concatenate([stiction.difference(sim.scene, end.q, state.q), state.v - end.v])
