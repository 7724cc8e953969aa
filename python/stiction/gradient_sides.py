"""The side of gaps of zero that a derivative is of, and a way into it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._stiction import GradientReport
from .step_trial import Trial

__all__ = ["Sides"]

Floats = NDArray[np.float64]
NEAR = 1e-6
"""[m, rad] A gap that every difference steps over."""
ZERO = 1e-9
"""[m, rad] A gap that counts as closed."""
PROBE = 1e-6
"""[m, rad] Of the differences of gaps."""


class Sides:
    """Where gaps are zero or nearly so the derivative by q is that of one side, closed if they are
    zero; differences by q see the other one too, unless q moves away from the kinks meanwhile.

    Attributes:
        near_gaps: that are nearly zero, but not to rounding.
        shift: (nv,) a motion that takes all these gaps further to their sides at 1 m/m; None: there
            is none, or no gap.
        share: a motion of any other number that slows none of them by half.
    """

    near_gaps: int = 0
    shift: Floats | None = None
    share: float = 0.5

    def __init__(self, trial: Trial, report: GradientReport) -> None:
        if trial.sim.settings.baumgarte == 1.0:  # no kink
            return
        gaps = {key: gap for key, gap in _gaps(trial, trial.start.q).items() if abs(gap) <= NEAR}
        contacts = sum(key[0] == "contact" for key in gaps)
        self.near_gaps = max(0, contacts - report.num_gap_kinks)
        if not gaps:
            return
        rates = np.array([_rates(trial, k, list(gaps)) for k in range(trial.sim.scene.nv)]).T
        if not np.isfinite(rates).all():  # a contact is another one beside: the rim of a cylinder
            return
        wanted = np.where(np.array(list(gaps.values())) <= ZERO, -1.0, 1.0)
        shift = np.linalg.lstsq(rates, wanted, rcond=1e-6)[0]
        if abs(rates @ shift - wanted).max() < 1e-3:
            self.shift = shift
            self.share = 0.5 / max(1.0, abs(rates).max())


def _gaps(trial: Trial, q: Floats) -> dict[tuple[Any, ...], float]:
    """Of contacts and of limits of joints at q."""
    state = trial.start.copy()
    state.q = q
    trial.sim.step(state, trial.control)
    out: dict[tuple[Any, ...], float] = {}
    for contact in trial.sim.contacts():
        out["contact", contact.geometry_a, contact.geometry_b, contact.feature] = contact.gap
    parameters = trial.sim.parameters
    for joint in trial.sim.scene.joints:
        if joint.nv == 1 and joint.nq == 1:
            at, dof = q[joint.q_index], joint.v_index
            out["lower", dof] = at - parameters.lower[dof]
            out["upper", dof] = parameters.upper[dof] - at
    return out


def _rates(trial: Trial, k: int, keys: list[tuple[Any, ...]]) -> Floats:
    """By dof k; of a contact that is lost not a number."""
    move = np.zeros(trial.sim.scene.nv)
    ends = []
    for sign in (1.0, -1.0):
        move[k] = sign * PROBE
        ends.append(_gaps(trial, trial.moved(move)))
    nan = float("nan")
    return np.array([(ends[0].get(key, nan) - ends[1].get(key, nan)) / (2 * PROBE) for key in keys])
