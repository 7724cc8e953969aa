"""The model that is looked at: its scene, where its elements stand, what it looks like."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pinocchio
from numpy.typing import NDArray

from .. import Mjcf, Scene, Simulator, State, bounding_box, pinocchio_model
from ..replay import ReplayGeometry
from ..visuals import robot_visuals
from .urdf_lines import UrdfLines

__all__ = ["Case"]

Floats = NDArray[np.float64]


@dataclass
class Case:
    """What the checks read.

    Attributes:
        subject: file or name of the scene.
        scene: loaded.
        dt: time step [s].
        urdf: places in a URDF file, or None.
        mjcf: of an MJCF file, or None.
        package_dirs: folders that `package://` may stand for.
    """

    subject: str
    scene: Scene
    dt: float
    urdf: UrdfLines | None = None
    mjcf: Mjcf | None = None
    package_dirs: Sequence[str] = ()

    def place(self, kind: str, name: str) -> tuple[str, int]:
        """File and line of a "body", "inertial", "joint", "geom" or "actuator"; line 0: not
        known."""
        own = name.rpartition("/")[2]  # a name that was taken has its robot's before it
        if self.urdf is not None:
            return self.subject, self.urdf.line(kind, name) or self.urdf.line(kind, own)
        if self.mjcf is not None:
            source = self.mjcf._source
            kind = "body" if kind == "inertial" else kind
            names = source.names(kind)
            if name in names:
                return source.place(kind, names.index(name))
        return self.subject, 0

    def option_place(self) -> tuple[str, int]:
        """File and line of an MJCF file's <option>; line 0: not known."""
        if self.mjcf is None:
            return self.subject, 0
        return self.mjcf._source.option_place()

    @property
    def file(self) -> str:
        """Of findings without a line."""
        return self.subject

    @cached_property
    def sim(self) -> Simulator:
        """At parameters of the file."""
        return Simulator(self.scene, dt=self.dt)

    def state(self, configuration: str = "default") -> State:
        """At rest in a configuration."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the doctor says it in its own words
            return self.sim.initial_state(configuration)

    @cached_property
    def moving(self) -> list[int]:
        """Bodies of the scene that the file itself has: not the links without mass that stand
        between several joints on one body of an MJCF file."""
        names = self.scene.body_names
        if self.mjcf is None:
            return list(range(self.scene.num_bodies))
        own = set(self.mjcf._source.names("body"))
        return [b for b in range(self.scene.num_bodies) if names[b] in own]

    @cached_property
    def corners(self) -> dict[int, Floats]:
        """(n, 3) by body: corners of the boxes about each of its shapes, seen and collided with, in
        its frame [m]."""
        found: dict[int, list[Floats]] = {}
        for i, geometry in enumerate(self.scene.geometries):
            if geometry.body >= 0 and geometry.shape.bounded():
                X = self.scene.parameters.geometry_placement(i)
                box = _corners(*bounding_box(geometry.shape))
                found.setdefault(geometry.body, []).append(box @ X.rotation.T + X.translation)
        for body, visuals in self._visuals().items():
            found.setdefault(body, []).extend(p for v in visuals if len(p := _points(v)))
        return {body: np.vstack(points) for body, points in found.items() if body >= 0}

    def _visuals(self) -> dict[int, list[ReplayGeometry]]:
        if self.mjcf is not None:
            return self.mjcf.visuals()
        found: dict[int, list[ReplayGeometry]] = {}
        for robot in self.scene.robots:
            path = Path(robot.description.path)
            if not os.path.isfile(path):
                continue
            model = pinocchio_model(self.scene, robot.name)
            with _quiet("stiction"):  # missing meshes are a finding
                drawn = robot_visuals(model, path, self.package_dirs, thin=False)
            for joint, visuals in drawn.items():
                if joint > 0:
                    found.setdefault(robot.body_offset + joint - 1, []).extend(visuals)
        return found

    @cached_property
    def inertia_of_dofs(self) -> Floats:
        """(nv,) diagonal of the mass matrix at the start, with armature [kg m² or kg]; NaN of loose
        bodies."""
        diagonal = np.full(self.scene.nv, np.nan)
        for robot in self.scene.robots:
            model = pinocchio_model(self.scene, robot.name)
            q = np.array(self.scene.default_q[robot.q_offset : robot.q_offset + robot.nq])
            M = pinocchio.crba(model, model.createData(), q)
            diagonal[robot.v_offset : robot.v_offset + robot.nv] = np.diag(M)
        return diagonal


@contextmanager
def _quiet(logger: str) -> Iterator[None]:
    log = logging.getLogger(logger)
    before, log.disabled = log.disabled, True
    try:
        yield
    finally:
        log.disabled = before


def _corners(low: Floats, high: Floats) -> Floats:
    choice = np.array(list(np.ndindex(2, 2, 2)), dtype=bool)
    return np.where(choice, high, low)


def _points(visual: ReplayGeometry) -> Floats:
    """Corners of a drawn shape's box, or a mesh's vertices, in the body's frame."""
    size = [float(x) for x in visual.size]
    if visual.shape == "mesh" and visual.vertices is not None:
        scale = np.array(size or [1.0])
        points = np.asarray(visual.vertices, dtype=float) * scale
    elif visual.shape == "plane" or not size:
        return np.zeros((0, 3))
    else:
        high = np.array(size if len(size) == 3 else _half_extents(visual.shape, size))
        points = _corners(-high, high)
    X = pinocchio.XYZQUATToSE3(np.asarray(visual.placement, dtype=float))
    return np.asarray(points @ X.rotation.T + X.translation)


def _half_extents(shape: str, size: list[float]) -> list[float]:
    radius, half = size[0], size[-1] if len(size) > 1 else size[0]
    if shape == "capsule":
        half += radius
    return [radius, radius, half]
