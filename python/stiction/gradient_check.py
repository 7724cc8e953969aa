"""Derivatives of a step against central differences of the step itself, column by column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import ArrayLike, NDArray

from ._stiction import Control, GradientReport, Scene, State, difference, integrate
from .derivatives import STATE, made_of, split
from .simulator import Simulator

__all__ = ["ColumnCheck", "GradientCheck", "check_gradients"]

Floats = NDArray[np.float64]
STEPS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
"""Of the differences; a column is judged by the best of them."""
TWIST = ("x", "y", "z", "about x", "about y", "about z")
STILL = 1e-9
"""A step so short that what it shows beside the derivative is the noise of the solver."""
FLOOR = (1e-8, 1e-5)
"""Least entry of the rows of q+ and of v+ that errors are relative to: what holds still has columns
of zeros."""
SPLIT = 1e-2
"""Share of the block's largest entry by which one-sided differences disagree at a kink."""
TARGETS = ("position_target", "velocity_target")
NOT_CHECKED = ("inertia", "wrench")
"""Fields that are no plain array of Parameters or Control."""
PLACEMENTS = ("geometry_placement", "closure_X_A", "closure_X_B")
"""Frames, moved by a shift and a turn in their own axes."""
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
    "num_slowed": "turns by over 1 rad",
    "num_safe_islands": "safe answer",
    "num_asleep": "asleep",
    "num_not_converged": "solver not converged",
    "num_kinks": "columns with two sides",
}
"""What the report counts, in words."""


@dataclass(frozen=True)
class ColumnCheck:
    """One column of a block.

    Attributes:
        block: "q", "v", "torque" or a field.
        name: of the dof, body or geometry, else the number in the field.
        error: largest difference of an entry, over the largest entry of the block in the rows of q+
            or of v+, whichever it is in (or 1e-8 and 1e-5, if that is more); the least over the
            steps of the differences.
        step: where that was.
        kink: no derivative to compare with: one-sided differences disagree at every step, or they
            differ from the column and the report tells why. (Where a foot opens as another closes
            both sides agree, though no derivative does with both.)
    """

    block: str
    name: str
    error: float
    step: float
    kink: bool

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
    """

    columns: tuple[ColumnCheck, ...]
    report: GradientReport
    bar: float
    near_gaps: int = 0

    @property
    def kinks(self) -> list[ColumnCheck]:
        """Columns without a derivative to compare with; `reasons` says why."""
        return [c for c in self.columns if c.kink]

    @property
    def wrong(self) -> list[ColumnCheck]:
        """Columns without a kink that are off by more than the bar."""
        return [c for c in self.columns if not c.kink and not c.error <= self.bar]

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
        """The column without a kink that is off most."""
        there = [c for c in self.columns if c.block == block and not c.kink]
        return max(there, key=lambda c: c.error, default=None)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers, for JSON."""
        return {
            "passed": not self.wrong,
            "bar": self.bar,
            "wrong": [vars(c) for c in self.wrong],
            "kinks": [vars(c) for c in self.kinks],
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
    """Compares every column of `sim.step_derivatives(state, control, wrt)` with central differences
    of the step at six step sizes, of a simulator of its own that solves to 1e-13.

    Args:
        sim: its scene, parameters and settings.
        state: where the step begins; stays.
        control: as in `step`.
        wrt: blocks, as in `step_derivatives`; not inertia and wrench.
        bar: the largest error that passes, relative to the largest entry of the block.
        spoil: (block, name) of a column whose velocities are made wrong by 1e-4 of that entry: the
            check must find it.

    Raises:
        ValueError: a block is not checked here, or `spoil` names no column.
    """
    names, parameters = split(wrt)
    for name in names:
        if name in NOT_CHECKED:
            raise ValueError(f"wrt: {name!r} is not checked by differences")
    settings = sim.settings.copy()
    settings.tolerance = min(settings.tolerance, 1e-13)
    twin = sim._twin(settings)
    trial = _Trial(twin, state, _whole(sim, control))
    end = state.copy()
    parts = twin._step_derivatives(end, trial.control, parameters)
    found = made_of(parts, end)
    near = _near_gaps(twin, found.report)
    columns: list[ColumnCheck] = []
    for block in names:
        matrix = found.by(block).copy()
        labels = _labels(sim.scene, block, matrix.shape[1])
        if spoil is not None and spoil[0] == block:
            if spoil[1] not in labels:
                raise ValueError(f"spoil: {block} has no column {spoil[1]!r}")
            sizes = _sizes(matrix)
            matrix[len(matrix) // 2 :, labels.index(spoil[1])] += 1e-4 * sizes[1]
        may = _may_differ(block, found.report) or (near > 0 and block == "q")
        for column in _checked(trial, end, block, matrix, labels, bar):
            off = column.error > bar and may
            columns.append(replace(column, kink=True) if off else column)
    return GradientCheck(tuple(columns), found.report, bar, near)


def _checked(
    trial: _Trial, end: State, block: str, matrix: Floats, labels: list[str], bar: float
) -> list[ColumnCheck]:
    sizes = _sizes(matrix)
    still = [
        _largest(trial.change(block, k, STILL, end) - STILL * matrix[:, k])
        for k in range(len(labels))
    ]
    noise = np.median(still, axis=0) if still else np.zeros(2)
    out = []
    for k, name in enumerate(labels):
        best = ColumnCheck(block, name, float("inf"), float("nan"), True)
        for h in STEPS:
            forward = trial.change(block, k, h, end) / h
            try:
                backward = -trial.change(block, k, -h, end) / h
            except ValueError:  # a parameter at its lower bound
                backward = forward
            central = 0.5 * (forward + backward)
            allowed = 3.0 * noise / h
            split = _largest(forward - backward) - 2.0 * allowed
            if (split > SPLIT * np.maximum(sizes, _largest(central))).any():
                continue
            errors = _largest(matrix[:, k] - central) / sizes
            known = np.where(errors > bar, np.maximum(bar, errors - allowed / sizes), errors)
            if known.max() < best.error:
                best = ColumnCheck(block, name, float(known.max()), h, False)
        out.append(best)
    return out


def _largest(column: Floats) -> Floats:
    """Of the rows of q+ and of those of v+."""
    return np.asarray(abs(column).reshape(2, -1).max(axis=1, initial=0.0))


def _sizes(matrix: Floats) -> Floats:
    """Largest entries of a block in the rows of q+ and in those of v+, what errors are over."""
    largest = abs(matrix).reshape(2, -1).max(axis=1, initial=0.0)
    return np.asarray(np.maximum(largest, FLOOR))


def _may_differ(block: str, report: GradientReport) -> bool:
    """The report says that differences of this block may be others."""
    gaps = report.num_gap_kinks > 0 and block == "q"
    inexact = report.num_not_converged > 0 or (report.method == "exact" and not report.exact)
    return gaps or report.num_at_switch > 0 or report.not_unique > 0 or inexact


def _near_gaps(sim: Any, report: GradientReport) -> int:
    """Of the last step, without those that the report counts."""
    if sim.settings.baumgarte == 1.0:
        return 0
    near = sum(abs(contact.gap) <= 10.0 * STEPS[-1] for contact in sim.contacts())
    return max(0, int(near) - report.num_gap_kinks)


@dataclass
class _Trial:
    """Steps from a start with one number changed."""

    sim: Any
    start: State
    control: Control

    def change(self, block: str, k: int, h: float, end: State) -> Floats:
        """(2 nv,) tangent from the end to the end of the changed step."""
        state, control, scene = self.start.copy(), self.control.copy(), self.sim.scene
        undo: Callable[[], None] = lambda: None  # noqa: E731
        if block == "q":
            x = np.zeros(scene.nv)
            x[k] = h
            state.q = integrate(scene, state.q, x)
        elif block == "v":
            state.v[k] += h
        elif block in ("torque", *TARGETS):
            getattr(control, block)[k] += h
        else:
            undo = self._edit(block, k, h)
        try:
            self.sim.step(state, control)
        finally:
            undo()
        return np.concatenate([difference(scene, end.q, state.q), state.v - end.v])

    def _edit(self, field: str, k: int, h: float) -> Callable[[], None]:
        """Changes an entry of the parameters; returns what puts it back."""
        if field in PLACEMENTS:
            return self._move(field, k, h)
        array = getattr(self.sim.parameters, field)
        at = np.unravel_index(k, array.shape)
        before = array[at]
        array[at] = before + h

        def undo() -> None:
            array[at] = before

        return undo

    def _move(self, field: str, k: int, h: float) -> Callable[[], None]:
        """Shifts or turns a frame about an axis of its own; returns what puts it back."""
        p, index = self.sim.parameters, k // 6
        before, place = getattr(p, field)(index), getattr(p, f"set_{field}")
        place(index, before * pinocchio.exp6(h * np.eye(6)[k % 6]))
        return lambda: place(index, before)


def _whole(sim: Simulator, control: Control | ArrayLike | None) -> Control:
    """As a step takes it."""
    if isinstance(control, Control):
        return control
    out = sim.hold()
    if control is not None:
        out.torque = np.asarray(control, dtype=float)
    return out


BY_DOF = {*STATE, *TARGETS, "kp", "kd", "damping", "armature", "effort_limit", "dry_friction"}
BY_DOF |= {"lower", "upper"}
BY_GEOMETRY = {"friction", "restitution", "stiffness", "contact_damping"}


def _labels(scene: Scene, block: str, count: int) -> list[str]:
    """Names of the columns of a block."""
    if block in BY_DOF:
        return list(scene.dof_names)
    if block in BY_GEOMETRY:
        return [geometry.name for geometry in scene.geometries]
    if block in PLACEMENTS:
        of_geometry = block == "geometry_placement"
        carriers = [g.name for g in scene.geometries] if of_geometry else scene.closure_names
        return [f"{name} {what}" for name in carriers for what in TWIST]
    if block == "gravity":
        return ["x", "y", "z"]
    if block == "mass":
        return list(scene.body_names)
    if block == "com":
        return [f"{name} {axis}" for name in scene.body_names for axis in "xyz"]
    return [str(k) for k in range(count)]
