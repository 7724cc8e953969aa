"""Local errors: an integrator over one window against a fine reference from the same state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stiction._stiction import Control, Scene, SimulationError, State
from stiction.simulator import Simulator

from .worlds import BenchError

Floats = NDArray[np.float64]
BLOWN_UP = 1e3
"""A larger velocity is no motion of these scenes [m/s or rad/s]."""


@dataclass
class Window:
    """A state, and the control held from there for one period."""

    state: State
    control: Control


def rotation_vector(a: Floats, b: Floats) -> Floats:
    """log(a^-1 b) of unit quaternions x y z w (4,) [rad]."""
    vector = a[3] * b[:3] - b[3] * a[:3] - np.cross(a[:3], b[:3])
    scalar = float(a @ b)
    sine = float(np.linalg.norm(vector))
    if sine == 0.0:
        return np.zeros(3)
    return np.asarray(2.0 * np.arctan2(sine, abs(scalar)) / sine * np.sign(scalar) * vector)


def difference(scene: Scene, a: State, b: State) -> Floats:
    """b - a in R^3 x SO(3) for free-flyers and by angles and ways else, then v (2 nv,)."""
    qa, qb = np.asarray(a.q), np.asarray(b.q)
    moved = np.zeros(scene.nv)
    for joint in scene.joints:
        p, r = qa[joint.q_index :][: joint.nq], qb[joint.q_index :][: joint.nq]
        if joint.type == "free_flyer":
            turn = rotation_vector(p[3:7], r[3:7])
            moved[joint.v_index :][:6] = np.concatenate([r[:3] - p[:3], turn])
        elif joint.type == "spherical":
            moved[joint.v_index :][:3] = rotation_vector(p, r)
        elif joint.type == "continuous":
            moved[joint.v_index] = np.arctan2(p[0] * r[1] - p[1] * r[0], p @ r)
        else:
            moved[joint.v_index] = r[0] - p[0]
    return np.concatenate([moved, np.asarray(b.v) - np.asarray(a.v)])


@dataclass(frozen=True)
class LocalError:
    """Over all windows: inf-norms of differences of q [m, rad] and v [m/s, rad/s].

    Attributes:
        mean, median, worst: of both together.
        position: mean of the positions alone.
        failed: windows that blew up or were refused; they are in none of the numbers.
    """

    mean: float
    median: float
    worst: float
    position: float
    failed: int


def advance(sim: Simulator, start: State, control: Control, steps: int) -> State | None:
    """The state after so many steps; None: it blew up."""
    state = start.copy()
    try:
        sim.run(state, control, steps)
    except SimulationError:
        return None
    return state if np.abs(state.v).max(initial=0.0) < BLOWN_UP else None


def ends(
    scene: Scene, windows: Sequence[Window], period: float, steps: int, **settings: Any
) -> list[State | None]:
    """The state after each window."""
    sim = Simulator(scene, dt=period / steps, **settings)
    return [advance(sim, window.state, window.control, steps) for window in windows]


class Reference:
    """The classical Runge-Kutta method; a span is cut in two until a run with half the step agrees.

    Next to a switch of a contact its order is lost, and only short steps help.

    Args:
        steps: of a period, at first.
        tolerance: of the differences of two runs over one span [m, rad, m/s, rad/s].
        halvings: of the step, at most.
    """

    def __init__(
        self,
        scene: Scene,
        period: float,
        steps: int,
        tolerance: float,
        halvings: int,
        **settings: Any,
    ) -> None:
        self._scene, self._tolerance, self._deepest = scene, tolerance, halvings
        self._steps = steps
        self._sims = [
            Simulator(scene, dt=period / (steps << level), integrator="rk4", **settings)
            for level in range(halvings + 1)
        ]

    def end(self, window: Window) -> tuple[State, float]:
        """The state after the period and the sum of the differences left."""
        return self._span(window.state, window.control, 0, self._steps)

    def _span(self, start: State, control: Control, level: int, count: int) -> tuple[State, float]:
        """`count` steps of that level, or more and shorter ones."""
        coarse = advance(self._sims[level], start, control, count)
        fine = advance(self._sims[level + 1], start, control, 2 * count)
        last = level + 1 == self._deepest
        if coarse is not None and fine is not None:
            left = float(np.abs(difference(self._scene, coarse, fine)).max())
            if last or left <= self._tolerance:
                return fine, left
        elif last:
            raise BenchError("the reference blows up: take more steps")
        if count == 1:
            level, count = level + 1, 2
        middle, before = self._span(start, control, level, count // 2)
        end, after = self._span(middle, control, level, count - count // 2)
        return end, before + after


def window_errors(
    scene: Scene, found: Sequence[State | None], reference: Sequence[State | None]
) -> Floats:
    """Largest difference of positions and of velocities (windows, 2); NaN where one failed."""
    errors = np.full((len(found), 2), np.nan)
    for k, (state, exact) in enumerate(zip(found, reference, strict=True)):
        if state is not None and exact is not None:
            both = np.abs(difference(scene, exact, state))
            errors[k] = both[: scene.nv].max(), both[scene.nv :].max()
    return errors


def summary(errors: Floats) -> LocalError:
    """Of `window_errors`."""
    kept = errors[np.isfinite(errors).all(axis=1)]
    failed = len(errors) - len(kept)
    if not len(kept):
        return LocalError(np.nan, np.nan, np.nan, np.nan, failed)
    worst = kept.max(axis=1)
    return LocalError(
        mean=float(worst.mean()),
        median=float(np.median(worst)),
        worst=float(worst.max()),
        position=float(kept[:, 0].mean()),
        failed=failed,
    )
