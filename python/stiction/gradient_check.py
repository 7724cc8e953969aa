"""Derivatives of a step against central differences of the step itself, column by column."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._stiction import Control, GradientReport, State
from .derivatives import STATE, made_of, split
from .gradient_sides import Sides
from .simulator import Simulator
from .step_trial import Trial, labels, whole_control

__all__ = ["ColumnCheck", "GradientCheck", "check_gradients"]

Floats = NDArray[np.float64]
STEPS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
"""Of the differences, of the size of what is changed; a column is judged by the best of them."""
FLOOR = 1e-2
"""[rad/s, m/s] Least entry of the rows of v+ that errors are relative to, and times dt of those of
q+: what holds still has columns of zeros."""
SPLIT = 1e-2
"""Share of the block's largest entry by which one-sided differences disagree at a kink; a column
that is off by more is not the one of a side."""
NOISE = 1e-5
"""Of that entry: the most that is allowed for the noise of the solver."""
SPOILT = 1e-4
"""Of that entry: what `spoil` adds."""
REASONS = {
    "num_gap_kinks": "gap of zero",
    "num_at_switch": "at a switch of modes",
    "not_unique": "impulses not unique",
    "num_not_followed": "not followed by the derivative",
    "num_contradicting": "redundant rows contradict each other",
    "num_saturated": "effort limit",
    "num_capped": "recovery capped",
    "num_undecided": "undecided by the solver's residual",
    "num_bounded_recoveries": "recovery at its bound",
    "num_parameter_kinks": "kink of a parameter",
    "num_scaled_impacts": "scaled impact",
    "num_swept": "swept contact",
    "num_inexact": "inexact contact",
    "num_slowed": "turns by over 0.1 rad",
    "num_safe_islands": "safe answer",
    "num_asleep": "asleep",
    "num_not_converged": "solver not converged",
    "num_kinks": "columns with two sides",
}
"""What the report counts, in words."""
INEXACT = (
    *("num_not_followed", "num_undecided", "num_scaled_impacts", "num_swept", "num_inexact"),
    *("num_slowed", "num_safe_islands", "num_asleep", "num_contradicting"),
)
"""Counts of what the derivative is not exact at; of blocks that speeds of recovery may depend on
also those that are cut."""
FORCES = ("v", "torque", "position_target", "velocity_target", "wrench", "gravity")


@dataclass(frozen=True)
class ColumnCheck:
    """One column of a block.

    Attributes:
        block: "q", "v", "torque" or a field.
        name: of the dof, body or geometry, else the number in the field.
        error: largest difference of an entry, over the largest entry of the block in the rows of q+
            or of v+, whichever it is in (or dt / 100 and 1 / 100, if that is more), columns of
            parameters times the parameter; the least over the steps of the differences. Of a kink
            from the differences of one side; infinite if the column is that of neither.
        step: where that was, as a share of the size of what is changed.
        kink: one-sided differences disagree at every step.
        approximate: off, of a kink from the nearer side too, at a state of which the report says
            that the derivative is not exact or not unique.
    """

    block: str
    name: str
    error: float
    step: float
    kink: bool
    approximate: bool = False

    @property
    def compared(self) -> bool:
        """There is one derivative, and the differences are of it."""
        return not (self.kink or self.approximate)

    def __str__(self) -> str:
        return f"{self.block} of {self.name}: {self.error:.2g}"


@dataclass(frozen=True)
class GradientCheck:
    """What `check_gradients` found.

    Attributes:
        columns: all of them, block after block.
        report: of the step.
        bar: the largest error that passes.
        near_gaps: contacts whose gap is no wider than ten times the smallest difference, but not
            zero to rounding: every difference by q steps over the kink at a gap of zero.
        left_out: columns without a difference, and why: an infinite number, one that may be moved
            neither way, or a torsional or rolling friction of zero, of which the report counts
            kinks and the derivative is left out.
    """

    columns: tuple[ColumnCheck, ...]
    report: GradientReport
    bar: float
    near_gaps: int = 0
    left_out: tuple[str, ...] = ()

    @property
    def kinks(self) -> list[ColumnCheck]:
        """Columns with two sides; `reasons` says why."""
        return [c for c in self.columns if c.kink]

    @property
    def approximate(self) -> list[ColumnCheck]:
        """Columns that are off where the report says that they may be; `reasons` says why."""
        return [c for c in self.columns if c.approximate]

    @property
    def wrong(self) -> list[ColumnCheck]:
        """Columns that are off by more than the bar, those of a kink from the nearer side."""
        return [
            c
            for c in self.columns
            if not (c.approximate or c.error <= self.bar or (c.kink and np.isinf(c.error)))
        ]

    @property
    def reasons(self) -> list[str]:
        """What the report says that may make differences disagree."""
        counted = [(getattr(self.report, name), text) for name, text in REASONS.items()]
        found = [f"{text} ({count})" for count, text in counted if count]
        if self.near_gaps:
            found.append(f"a gap nearer than the differences ({self.near_gaps})")
        if self.kinks and not found:
            found.append(f"a switch nearer than the smallest difference, {STEPS[-1]:g}")
        return found

    def worst(self, block: str) -> ColumnCheck | None:
        """The column with one derivative that is off most."""
        there = [c for c in self.columns if c.block == block and c.compared]
        return max(there, key=lambda c: c.error, default=None)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {
            "passed": not self.wrong,
            "bar": self.bar,
            "wrong": [vars(c) for c in self.wrong],
            "kinks": [vars(c) for c in self.kinks],
            "approximate": [vars(c) for c in self.approximate],
            "left_out": list(self.left_out),
            "reasons": self.reasons,
            "report": self.report.to_dict() | {"margin": self.report.margin.tolist()},
            "columns": [vars(c) for c in self.columns],
        }


def check_gradients(
    sim: Simulator,
    state: State,
    control: Control | ArrayLike | None = None,
    wrt: str | Sequence[str] = STATE,
    bar: float = 1e-6,
    spoil: tuple[str, str] | None = None,
) -> GradientCheck:
    """Compares every column of `sim.step_derivatives(state, control, wrt)` with differences of the
    step at seven step sizes, of a simulator of its own that solves to 1e-13.

    A column whose one-sided differences disagree is compared to each side; where gaps are zero also
    to differences about states at which none is, which stay on the side that the derivative is of.

    Args:
        sim: its scene, parameters and settings.
        state: where the step begins; stays.
        control: as in `step`.
        wrt: blocks, as in `step_derivatives`.
        bar: the largest error that passes, relative to the largest entry of the block.
        spoil: (block, name) of a column whose velocities are made wrong by 1e-4 of that entry: the
            check must find it.

    Raises:
        ValueError: `spoil` names no column; as `step_derivatives`.
    """
    names, parameters = split(wrt)
    settings = sim.settings.copy()
    settings.tolerance = min(settings.tolerance, 1e-13)
    twin = sim._twin(settings)
    end, whole = state.copy(), whole_control(sim, control)
    found = made_of(twin._step_derivatives(end, whole, parameters), end)
    trial = Trial(twin, state, whole, end)
    sides = Sides(trial, found.report)
    columns: list[ColumnCheck] = []
    left_out: list[str] = []
    for block in names:
        matrix = found.by(block)
        titles = labels(sim.scene, whole, block, matrix.shape[1])
        units = trial.sizes(block, len(titles))
        matrix = matrix * np.where(np.isfinite(units), units, 0.0)
        largest = _sizes(matrix, sim.settings.dt)
        if spoil is not None and spoil[0] == block:
            if spoil[1] not in titles:
                raise ValueError(f"spoil: {block} has no column {spoil[1]!r}")
            matrix[len(matrix) // 2 :, titles.index(spoil[1])] += SPOILT * largest[1]
        for k, name in enumerate(titles):
            if np.isinf(units[k]):
                left_out.append(f"{block} of {name}: infinite")
                continue
            if found.report.num_parameter_kinks and trial.is_first_couple(block, k):
                left_out.append(f"{block} of {name}: zero, and may have a sign only")
                continue
            column = _Column(trial, block, k, units[k], matrix[:, k], largest)
            checked = column.checked(name, bar, sides, _may_differ(block, found.report))
            if checked is None:
                left_out.append(f"{block} of {name}: can be moved neither way")
            else:
                columns.append(checked)
    return GradientCheck(tuple(columns), found.report, bar, sides.near_gaps, tuple(left_out))


def _largest(column: Floats) -> Floats:
    """Of the rows of q+ and of those of v+."""
    return np.asarray(abs(column).reshape(2, -1).max(axis=1, initial=0.0))


def _sizes(matrix: Floats, dt: float) -> Floats:
    """Largest entries of a block in the rows of q+ and in those of v+, what errors are over."""
    largest = abs(matrix).reshape(2, -1).max(axis=1, initial=0.0)
    return np.asarray(np.maximum(largest, [dt * FLOOR, FLOOR]))


def _may_differ(block: str, report: GradientReport) -> bool:
    """The report says that the derivative may be another than that of the step."""
    if report.not_unique > 0 or report.num_not_converged > 0:
        return True
    cut = () if block in FORCES else ("num_capped", "num_bounded_recoveries")
    return any(getattr(report, name) > 0 for name in (*INEXACT, *cut))


@dataclass
class _Column:
    """A column, times the size of its number, beside differences.

    Attributes:
        values: (2 nv,).
        largest: what errors are relative to, of the rows of q+ and of v+.
    """

    trial: Trial
    block: str
    k: int
    size: float
    values: Floats
    largest: Floats

    def checked(self, name: str, bar: float, sides: Sides, may_differ: bool) -> ColumnCheck | None:
        """None: there is no difference."""
        forward, backward = self._rays(1.0, None), self._rays(-1.0, None)
        pairs = [(h, forward[h], backward[h]) for h in STEPS if h in forward and h in backward]
        if not (forward or backward):
            return None
        split = [h for h, f, b in pairs if self._splits(f, b)]
        error, step = self._best({h: 0.5 * (f + b) for h, f, b in pairs if h not in split}, bar)
        kink = error > bar and any(h in split for h in STEPS[-3:])
        sided = [*_extrapolated(forward), *_extrapolated(backward)]
        for rays in sided:
            if error > bar:
                error, step = min((error, step), self._best(rays, bar))
        if error > bar and sides.shift is not None:
            for rays in _extrapolated(self._about(sides.shift, sides.share)):
                error, step = min((error, step), self._best(rays, bar))
        if kink and error > SPLIT:
            error, step = np.inf, np.nan
        off = error > bar and not (kink and np.isinf(error))
        return ColumnCheck(self.block, name, error, step, kink, off and may_differ)

    def _rays(self, sign: float, shift: Floats | None) -> dict[float, Floats]:
        """Differences of one side by their step, those that the parameter's bounds allow."""
        out = {}
        for h in STEPS:
            x = sign * h
            move = None if shift is None else h * shift
            with contextlib.suppress(ValueError):
                out[h] = self.trial.change(self.block, self.k, x * self.size, move) / x
        return out

    def _about(self, shift: Floats, share: float) -> dict[float, Floats]:
        """Central differences about states where no gap is zero, nearer and nearer to the start."""
        forward, backward = self._rays(share, shift), self._rays(-share, shift)
        return {
            h: 0.5 * (forward[h] + backward[h])
            for h in STEPS
            if {h} <= forward.keys() & backward.keys()
        }

    def _best(self, differences: dict[float, Floats], bar: float) -> tuple[float, float]:
        """Error and its step: the least, or if that is beyond the bar that of the differences which
        are nearest to the next ones, less their distance."""
        every = list(differences.values())
        found = [(self._share(self.values - y), h) for h, y in differences.items()]
        if not found or min(found)[0] <= bar or min(found)[0] > SPLIT:
            return min(found, default=(np.inf, np.nan))
        apart = [self._share(x - y) for x, y in itertools.pairwise(every)]
        noise = [min(apart[max(0, i - 1) : i + 1], default=0.0) for i in range(len(every))]
        of_side = [pair for pair in zip(noise, found, strict=True) if pair[1][0] <= SPLIT]
        least, (error, step) = min(of_side)
        return max(bar, error - min(least, NOISE)), step

    def _splits(self, forward: Floats, backward: Floats) -> bool:
        size = np.maximum(self.largest, _largest(0.5 * (forward + backward)))
        return bool((_largest(forward - backward) > SPLIT * size).any())

    def _share(self, column: Floats) -> float:
        return float((_largest(column) / self.largest).max())


def _extrapolated(rays: dict[float, Floats]) -> list[dict[float, Floats]]:
    """Of differences of one side, which are off by O(h): as they are, each with the next, and
    slopes at zero of parabolas through the changes of three steps, which need not begin at zero, as
    those at a gap of zero to rounding do not."""
    steps, two, three = list(rays), {}, {}
    for h, g in itertools.pairwise(steps):
        two[g] = rays[g] + (rays[g] - rays[h]) / (h / g - 1.0)
    for some in zip(steps, steps[1:], steps[2:], strict=False):
        weights = np.linalg.inv(np.vander(some, 3))[1]
        three[some[2]] = sum(w * h * rays[h] for w, h in zip(weights, some, strict=True))
    return [rays, two, three]
