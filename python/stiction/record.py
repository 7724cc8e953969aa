"""Record a simulation into a `Replay`: motion, contacts, forces and the certificate.

    recorder = Recorder(sim, title="Solo-12 is pushed")
    recorder.capture(state)                      # the first frame
    for _ in range(1000):
        sim.step(state, control)
        recorder.after_step(state)               # keeps 60 frames per second of simulated time
    write_replay("push.html", recorder.replay())

or, for one control, `replay = record(sim, state, control, seconds=2.0)`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pinocchio
from numpy.typing import NDArray

from . import Control, Scene, Simulator, State, Visual, pinocchio_model
from .replay import CONTACT_COLUMNS, Replay, ReplayBody, ReplayGeometry
from .replay import Shape as ReplayShape
from .visuals import robot_visuals, thin_mesh

__all__ = ["Placed", "RecordError", "Recorder", "record"]

_PALETTE = (
    (0.85, 0.37, 0.01, 1.0),
    (0.46, 0.44, 0.70, 1.0),
    (0.11, 0.62, 0.47, 1.0),
    (0.91, 0.16, 0.54, 1.0),
    (0.40, 0.65, 0.12, 1.0),
    (0.90, 0.67, 0.01, 1.0),
    (0.65, 0.46, 0.11, 1.0),
)
_GROUND = (0.86, 0.87, 0.89, 1.0)
_MAX_TRIANGLES = 40000
"""Of one collision shape in a replay: a larger terrain is drawn coarser than it is."""
_WALL_SIZE = 0.6
"""Half size of the patch drawn for a half-space that is not level [m]."""


class RecordError(RuntimeError):
    """The recording cannot go on; the message says why."""


@dataclass(frozen=True)
class Placed:
    """What moves in a replay and is no body of the scene.

    Attributes:
        poses: where it is now, by name.
        geometries: of the scene's world, that stand on it: its name, and their pose in it.
    """

    poses: Callable[[], Mapping[str, pinocchio.SE3]]
    geometries: Mapping[int, tuple[str, pinocchio.SE3]]


class Recorder:
    """Collects frames of one simulator; `replay()` makes a `Replay` of them at any time.

    Args:
        sim: the simulator whose steps are recorded.
        title: heading of the page; the scene's name if empty.
        fps: frames per second of simulated time [1/s].
        info: more lines for the page's table.
        visuals: what to draw by scene body (-1: the world), as Mjcf.visuals() gives it, or by name
            of what is placed; the collision shapes are then drawn as such. None: the scene's, or
            those of the robots' files.
        placed: what moves besides the scene's bodies, such as mocap bodies: see
            MjcfSimulation.recorder().
    """

    def __init__(
        self,
        sim: Simulator,
        title: str = "",
        fps: float = 60.0,
        info: Mapping[str, Any] | None = None,
        visuals: Mapping[int, Sequence[ReplayGeometry]]
        | Mapping[int | str, Sequence[ReplayGeometry]]
        | None = None,
        placed: Placed | None = None,
    ) -> None:
        if not fps > 0:
            raise ValueError(f"Recorder.fps = {fps} must be positive [1/s]")
        scene = sim.scene
        self._sim = sim
        self._title = title or str(scene.name)
        self._info = _settings_info(sim) | dict(info or {})
        self._bodies = scene_bodies(scene, visuals, placed)
        self._placed = placed
        self._period, self._next = 1.0 / fps, -np.inf
        self._time: list[float] = []
        self._poses: list[NDArray[np.float64]] = []
        self._contacts: list[NDArray[np.float64]] = []
        self._numbers: list[tuple[float, float, float]] = []  # residual, penetration, energy
        self._worst = np.zeros(2)  # residual and penetration since the last frame

    @property
    def frames(self) -> int:
        """Frames kept so far."""
        return len(self._time)

    def capture(self, state: State) -> None:
        """Keep a frame of `state` now, with the contacts of the step that led to it, if any."""
        time = float(state.time)
        if self._time and time <= self._time[-1]:
            raise RecordError(
                f"capture: t = {time:g} s is not after the last frame, {self._time[-1]:g} s"
            )
        first = not self._time
        self._time.append(time)
        poses = [_IDENTITY_POSE, body_poses(self._sim, state)]
        if self._placed is not None:
            poses += [pose_vector(X)[None, :] for X in self._placed.poses().values()]
        self._poses.append(np.vstack(poses))
        self._contacts.append(np.zeros((0, CONTACT_COLUMNS)) if first else contact_rows(self._sim))
        energy = float("nan") if first else float(self._sim.report().energy)
        self._numbers.append((float("nan"), 0.0, energy) if first else (*self._worst, energy))
        self._worst = np.zeros(2)
        self._next = time + self._period * (1.0 - 1e-9)

    def after_step(self, state: State) -> None:
        """Take note of the step just taken; keeps a frame when the next one is due.

        The residual and the penetration of a frame are the worst of the steps since the frame
        before.
        """
        report = self._sim.report()
        depth = round(report.penetration, 12)  # below a picometre it is rounding
        self._worst = np.fmax(self._worst, [report.residuals.relative, depth])
        if float(state.time) >= self._next:
            self.capture(state)

    def replay(self) -> Replay:
        """Everything kept so far."""
        if not self._time:
            raise RecordError("replay: nothing was recorded; call capture(state) first")
        residual, penetration, energy = (
            np.array(column) for column in zip(*self._numbers, strict=True)
        )
        return Replay(
            title=self._title,
            bodies=self._bodies,
            time=np.array(self._time),
            poses=np.array(self._poses),
            contacts=self._contacts,
            residual=residual,
            penetration=penetration,
            energy=energy,
            info=self._info,
        )


def record(
    sim: Simulator,
    state: State,
    control: Control,
    seconds: float,
    *,
    title: str = "",
    fps: float = 60.0,
    info: Mapping[str, Any] | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> Replay:
    """Advance `state` in place by `seconds` [s] under one control and return the recording.

    on_step(step, steps) is called after each step, e.g. for a progress bar.

    Raises:
        SimulationError: a step was not finite; the state is that before it.
    """
    recorder = Recorder(sim, title, fps, info)
    recorder.capture(state)
    steps = max(1, round(seconds / float(sim.settings.dt)))
    for k in range(steps):
        sim.step(state, control)
        recorder.after_step(state)
        if on_step:
            on_step(k + 1, steps)
    return recorder.replay()


# --- the scene ----------------------------------------------------------------------------------

_IDENTITY_POSE = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])


def scene_bodies(
    scene: Scene,
    visuals: Mapping[int, Sequence[ReplayGeometry]]
    | Mapping[int | str, Sequence[ReplayGeometry]]
    | None = None,
    placed: Placed | None = None,
) -> list[ReplayBody]:
    """The world, every body of the scene, and what is placed, with the shapes to draw: `visuals`,
    or those of the scene and of the robots' files."""
    moved = list(placed.poses()) if placed is not None else []
    names = ["world", *scene.body_names, *moved]
    shapes: list[list[ReplayGeometry]] = [[] for _ in names]
    first = 1 + scene.num_bodies
    drawing: Mapping[Any, Sequence[ReplayGeometry]] = visuals or _visuals_by_body(scene)
    for body, own in drawing.items():
        at = first + moved.index(body) if isinstance(body, str) else body + 1
        shapes[at] += own
    drawn = {body for body, geometries in enumerate(shapes) if geometries}
    dressed = {robot for robot, slice_ in enumerate(scene.robots) if _is_dressed(slice_, drawn)}
    on = placed.geometries if placed is not None else {}
    own_visuals = scene.visuals
    for index, geometry in enumerate(scene.geometries):
        carrier, X = on.get(index, ("", scene.parameters.geometry_placement(index)))
        hidden = visuals or geometry.robot in dressed or _has_visual(own_visuals, geometry.body, X)
        role = "collision" if hidden else "visual"
        at = first + moved.index(carrier) if carrier else geometry.body + 1
        shapes[at].append(_shape(geometry, pose_vector(X), role))
    return [ReplayBody(name, geometries) for name, geometries in zip(names, shapes, strict=True)]


def _has_visual(visuals: Sequence[Visual], body: int, X: pinocchio.SE3) -> bool:
    """Whether some are of a body; in the world, where all stand that belong to no body, whether one
    stands where the geometry does."""
    own = (visual for visual in visuals if visual.body == body)
    return any(body >= 0 or X.isApprox(visual.placement, 1e-9) for visual in own)


def _is_dressed(robot: Any, drawn: set[int]) -> bool:
    """Has any body of the robot a visual?"""
    return any(
        body + 1 in drawn for body in range(robot.body_offset, robot.body_offset + robot.num_bodies)
    )


def _visuals_by_body(scene: Scene) -> dict[int, list[ReplayGeometry]]:
    """Visuals of the scene, and of robots that came from a file, by scene body (-1: the world)."""
    found: dict[int, list[ReplayGeometry]] = {}
    for visual in scene.visuals:
        shape = _shape(visual, pose_vector(visual.placement), "visual")
        found.setdefault(visual.body, []).append(replace(shape, color=list(visual.color)))
    for robot in scene.robots:
        path = str(robot.description.path)
        if not os.path.isfile(path):
            continue
        model = pinocchio_model(scene, robot.name)
        for joint, visuals in robot_visuals(model, Path(path)).items():
            body = -1 if joint == 0 else robot.body_offset + joint - 1
            found.setdefault(body, []).extend(visuals)
    return found


def _shape(geometry: Any, placement: NDArray[np.float64], role: Any) -> ReplayGeometry:
    """A collision shape as a replay geometry."""
    shape = geometry.shape
    kind = str(shape.type)
    size = [float(x) for x in np.asarray(shape.size).ravel()]
    color = _PALETTE[geometry.body % len(_PALETTE)] if geometry.body >= 0 else _GROUND
    common: dict[str, Any] = {"placement": placement, "color": color, "role": role}
    if kind == "sphere":
        return ReplayGeometry("sphere", size[:1], **common)
    if kind in ("capsule", "cylinder", "cone"):
        return ReplayGeometry(cast(ReplayShape, kind), size[:2], **common)
    if kind == "ellipsoid":
        return ReplayGeometry("ellipsoid", size, **common)
    if kind == "box":
        return ReplayGeometry("box", size, **common)
    if kind == "half_space":
        return _half_space(common)
    vertices, triangles = shape.vertices, shape.triangles
    if len(triangles) > _MAX_TRIANGLES:
        vertices, triangles = thin_mesh(vertices, triangles, _MAX_TRIANGLES)
    return ReplayGeometry("mesh", vertices=vertices, triangles=triangles, **common)


def _half_space(common: dict[str, Any]) -> ReplayGeometry:
    """Level ground as a plane; a wall as a thin see-through patch, so that it hides nothing."""
    placement = common["placement"]
    normal = pinocchio.XYZQUATToSE3(placement).rotation[:, 2]
    if normal[2] > 1.0 - 1e-9:
        return ReplayGeometry("plane", (), **common)
    thickness = 1e-3
    common["placement"] = np.concatenate([placement[:3] - thickness * normal, placement[3:]])
    common["color"] = (*_GROUND[:3], 0.25)
    return ReplayGeometry("box", (_WALL_SIZE, _WALL_SIZE, thickness), **common)


# --- one step -----------------------------------------------------------------------------------


def body_poses(sim: Simulator, state: State) -> NDArray[np.float64]:
    """(bodies, 7) world placements, x y z [m] qx qy qz qw."""
    poses = [pose_vector(pose) for pose in sim.body_poses(state)]
    return np.array(poses).reshape(-1, 7)


def geometry_positions(sim: Simulator, state: State, kind: str) -> NDArray[np.float64]:
    """(k, 3) world positions of the moving shapes of that kind, in the scene's order [m]."""
    poses, scene = sim.body_poses(state), sim.scene
    moving = [
        (i, g) for i, g in enumerate(scene.geometries) if g.body >= 0 and g.shape.type == kind
    ]
    found = [(poses[g.body] * sim.parameters.geometry_placement(i)).translation for i, g in moving]
    return np.array(found).reshape(-1, 3)


_UPPER = 0.5
"""Cosine between a normal and the vertical from which on one of two bodies is the upper one."""


def contact_rows(sim: Simulator) -> NDArray[np.float64]:
    """(k, 11) contacts of the last step as `Replay.contacts` wants them.

    As B stands the body that moves, of two that move the upper one, whatever the order in which
    they were added: arrows and friction cones point away from what carries.
    """
    gravity = np.asarray(sim.parameters.gravity)
    strength = float(np.linalg.norm(gravity))
    up = -gravity / strength if strength > 0.0 else np.zeros(3)
    rows = []
    for c in sim.contacts():
        below = c.body_a >= 0 and float(up @ c.normal) < -_UPPER
        sign = -1.0 if c.body_b < 0 or below else 1.0
        force, normal = sign * c.force_on_b_world, sign * np.asarray(c.normal)
        rows.append([*c.position, *force, *normal, c.friction, float(c.sliding)])
    return np.array(rows, dtype=np.float64).reshape(-1, CONTACT_COLUMNS)


def pose_vector(placement: pinocchio.SE3) -> NDArray[np.float64]:
    """(7,) x y z [m] qx qy qz qw."""
    return np.asarray(pinocchio.SE3ToXYZQUAT(placement), dtype=np.float64)


def _settings_info(sim: Simulator) -> dict[str, Any]:
    """Lines for the page's table."""
    settings = sim.settings
    return {
        "Solver": str(settings.solver),
        "Tolerance": f"{settings.tolerance:.0e}",
        "Time step": f"{settings.dt * 1e3:g} ms",
        "Integrator": str(settings.integrator),
    }
