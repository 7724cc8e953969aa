"""Steps with one number changed: of the state, the control or the parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import ArrayLike, NDArray

from ._stiction import Control, ExternalWrench, Scene, State, difference, integrate
from .derivatives import STATE
from .simulator import Simulator

__all__ = ["Trial", "labels", "whole_control"]

Floats = NDArray[np.float64]
TARGETS = ("position_target", "velocity_target")
FRAMES = ("geometry_placement", "closure_X_A", "closure_X_B")
"""Fields of frames: six tangents each, shift and turn in their own axes."""
TWISTS = ("geometry_velocity", "surface_velocity")
SYMMETRIC = (np.array([0, 0, 1, 0, 1, 2]), np.array([0, 1, 1, 2, 2, 2]))
"""xx, xy, yy, xz, yz, zz of an inertia."""
FORCE = 10.0
"""[N m or N] The size of a torque or wrench; of positions and speeds 1, of a parameter its own."""


@dataclass
class Trial:
    """Steps from a start with one number changed.

    Attributes:
        sim: takes the steps; its parameters are put back after each.
        start: stays.
        control: stays.
        end: of the step without a change.
    """

    sim: Any
    start: State
    control: Control
    end: State

    def change(self, block: str, k: int, h: float, shift: Floats | None = None) -> Floats:
        """(2 nv,) tangent from `end` to the end of the step with number k of a block changed by h,
        and q moved by `shift` (nv,).

        Raises:
            ValueError: the number is out of range.
        """
        state, control, scene = self.start.copy(), self.control.copy(), self.sim.scene
        move = np.zeros(scene.nv) if shift is None else shift.copy()
        undo: Callable[[], None] | None = None
        if block == "q":
            move[k] += h
        elif block == "v":
            state.v[k] += h
        elif block in ("torque", *TARGETS):
            getattr(control, block)[k] += h
        elif block == "wrench":
            control.wrenches = _changed(control.wrenches, k, h)
        else:
            undo = self._edit(block, k, h)
        if move.any():
            state.q = self.moved(move)
        try:
            self.sim.step(state, control)
        finally:
            if undo is not None:
                undo()
        return np.concatenate([difference(scene, self.end.q, state.q), state.v - self.end.v])

    def moved(self, tangent: Floats) -> Floats:
        """The start's q, moved."""
        return np.asarray(integrate(self.sim.scene, self.start.q, tangent))

    def sizes(self, block: str, count: int) -> Floats:
        """(count,) what a change of each number is measured by; infinite where it is."""
        if block in ("torque", "wrench"):
            return np.full(count, FORCE)
        if block in ("q", "v", *TARGETS, *FRAMES, *TWISTS):
            return np.ones(count)
        if block == "inertia":
            of = [np.trace(self._inertia(b)) for b in range(count // 6)]
            values = np.repeat(np.asarray(of, dtype=float), 6)
        elif block in ("gravity", "com", "geometry_size"):  # of a vector its length
            rows = np.asarray(getattr(self.sim.parameters, block)).reshape(-1, 3)
            values = np.repeat(np.linalg.norm(rows, axis=1), 3)
        else:
            values = abs(np.asarray(getattr(self.sim.parameters, block), dtype=float)).ravel()
        finite = values[np.isfinite(values)]
        typical = finite.max(initial=0.0) or 1.0
        return np.where(values == 0.0, typical, values)

    def is_first_couple(self, block: str, k: int) -> bool:
        """A torsional or rolling friction of zero."""
        if not block.endswith(("torsional_friction", "rolling_friction")):
            return False
        return float(getattr(self.sim.parameters, block)[k]) == 0.0

    def _inertia(self, body: int) -> Floats:
        return np.asarray(self.sim.parameters.inertia(body))

    def _edit(self, field: str, k: int, h: float) -> Callable[[], None]:
        """Changes a number of the parameters; returns what puts it back."""
        parameters = self.sim.parameters
        if field == "inertia":
            body, i, j = k // 6, SYMMETRIC[0][k % 6], SYMMETRIC[1][k % 6]
            before = self._inertia(body).copy()
            after = before.copy()
            after[i, j] = after[j, i] = before[i, j] + h
            parameters.set_inertia(body, after)
            return lambda: parameters.set_inertia(body, before)
        if field in FRAMES:
            index, put = k // 6, getattr(parameters, f"set_{field}")
            X = getattr(parameters, field)(index)
            put(index, X * pinocchio.exp6(h * np.eye(6)[k % 6]))
            return lambda: put(index, X)
        array = getattr(parameters, field)
        at = np.unravel_index(k, array.shape)
        value = float(array[at])

        def undo() -> None:
            array[at] = value

        array[at] = value + h
        return undo


def _changed(wrenches: tuple[ExternalWrench, ...], k: int, h: float) -> list[ExternalWrench]:
    out = []
    for i, wrench in enumerate(wrenches):
        both = np.r_[wrench.force, wrench.moment]
        if i == k // 6:
            both[k % 6] += h
        out.append(ExternalWrench(wrench.body, both[:3], both[3:]))
    return out


def whole_control(sim: Simulator, control: Control | ArrayLike | None) -> Control:
    """As a step takes it."""
    if isinstance(control, Control):
        return control
    out = sim.hold()
    if control is not None:
        out.torque = np.asarray(control, dtype=float)
    return out


BY_DOF = {*STATE, *TARGETS, "kp", "kd", "damping", "armature", "effort_limit", "dry_friction"}
BY_DOF |= {"lower", "upper", "spring_stiffness", "spring_rest"}
BY_GEOMETRY = {"friction", "torsional_friction", "rolling_friction"}
BY_GEOMETRY |= {"restitution", "stiffness", "contact_damping"}
TANGENTS = ("x", "y", "z", "about x", "about y", "about z")


def labels(scene: Scene, control: Control, block: str, count: int) -> list[str]:
    """Names of the columns of a block."""
    geometries, bodies = [g.name for g in scene.geometries], list(scene.body_names)
    if block in BY_DOF:
        return list(scene.dof_names)
    if block in BY_GEOMETRY:
        return geometries
    if block == "gravity":
        return ["x", "y", "z"]
    if block == "mass":
        return bodies
    if block == "com":
        return [f"{name} {axis}" for name in bodies for axis in "xyz"]
    if block == "inertia":
        return [f"{name} {i}" for name in bodies for i in ("xx", "xy", "yy", "xz", "yz", "zz")]
    if block in FRAMES:
        of = geometries if block == "geometry_placement" else scene.closure_names
        return [f"{name} {tangent}" for name in of for tangent in TANGENTS]
    if block in TWISTS:
        return [f"{name} {tangent}" for name in geometries for tangent in TANGENTS]
    if block == "geometry_size":
        return [f"{name} {k}" for name in geometries for k in range(3)]
    if block == "wrench":
        parts = [f"{kind} {axis}" for kind in ("force", "moment") for axis in "xyz"]
        return [f"{bodies[w.body]} {part}" for w in control.wrenches for part in parts]
    return [str(k) for k in range(count)]
