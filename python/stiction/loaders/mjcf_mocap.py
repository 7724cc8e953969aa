"""Mocap bodies of a compiled MuJoCo model: what stands on them, and where they are put."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio
from numpy.typing import ArrayLike, NDArray

from .._stiction import Parameters
from ..given_array import given_array
from ..simulator import Simulator
from .mjcf_source import Source, pose

__all__ = ["Mocap", "carrier", "within"]

Floats = NDArray[np.float64]


def carrier(m: Any, body: int) -> int:
    """The mocap body that carries a body without a joint between them; -1: none."""
    while body > 0 and m.body_mocapid[body] < 0 and m.body_jntnum[body] == 0:
        body = int(m.body_parentid[body])
    return body if m.body_mocapid[body] >= 0 else -1


def within(m: Any, carrier: int, body: int) -> pinocchio.SE3:
    """Pose of a body that stands still in its carrier."""
    X = pinocchio.SE3.Identity()
    while body != carrier:
        X = pose(m.body_pos[body], m.body_quat[body]) * X
        body = int(m.body_parentid[body])
    return X


FARTHEST_MOVE, FARTHEST_TURN = 10.0, 0.5
"""Margins of contact, and radians, beyond which a change of pose within a step is no motion."""


class Mocap:
    """Where they are, and how they get there.

    Attributes:
        numbers: MuJoCo's, by name.
        poses: position [m] and quaternion w x y z, by number.
        before: poses at the last step.
        velocities: (6,) linear and angular, world [m/s, rad/s], those given for the next step.
        geometries: of the scene, that stand on them: name and pose in it.
    """

    def __init__(self, source: Source, geometries: dict[int, int]) -> None:
        m = self._m = source.model
        found = np.flatnonzero(m.body_mocapid >= 0)
        self.numbers = {source.name("body", b): int(b) for b in found}
        self.poses: dict[int, tuple[Floats, Floats]] = {}
        self.before: dict[int, tuple[Floats, Floats]] = {}
        self.velocities: dict[int, Floats] = {}
        self.geometries: dict[int, tuple[str, pinocchio.SE3]] = {}
        for g, geometry in geometries.items():
            body = int(m.geom_bodyid[g])
            b = carrier(m, body)
            if b >= 0:
                X = within(m, b, body) * pose(m.geom_pos[g], m.geom_quat[g])
                self.geometries[geometry] = source.name("body", b), X

    def number(self, name: str) -> int:
        """Raises ValueError that lists the names."""
        if name not in self.numbers:
            names = ", ".join(self.numbers) or "none"
            raise ValueError(f"no mocap body {name!r}; there are: {names}")
        return self.numbers[name]

    def poses_by_name(self) -> dict[str, pinocchio.SE3]:
        """Now."""
        return {name: pose(*self.poses[b]) for name, b in self.numbers.items()}

    def reset(self, parameters: Parameters) -> None:
        """To where the file puts them, at rest."""
        for name, b in self.numbers.items():
            self.poses[b] = self.pose_of_file(name)
            self.place(parameters, name)
        self.stand()

    def stand(self) -> None:
        """They have always been where they are."""
        self.before = dict(self.poses)
        self.velocities = {}

    def move(self, sim: Simulator, stepped: bool) -> None:
        """Gives the geometries the velocities of the step that begins; before the first step they
        have been where they are."""
        if not self.geometries:
            return
        if not stepped:
            self.before = dict(self.poses)
        parameters, dt, margin = sim.parameters, sim.settings.dt, sim.settings.margin
        found = {name: self._velocity(b, dt, margin) for name, b in self.numbers.items()}
        for geometry, (name, _) in self.geometries.items():
            X, V = parameters.geometry_placement(geometry), found[name]
            arm = X.translation - self.poses[self.numbers[name]][0]
            linear = V[:3] + np.cross(V[3:], arm)
            parameters.geometry_velocity[geometry] = [
                *(X.rotation.T @ linear),
                *(X.rotation.T @ V[3:]),
            ]

    SAVED = 21
    """Numbers of one: its pose, that of the last step, whether a velocity is given, that."""

    def saved(self, b: int) -> Floats:
        """(SAVED,) of one, by number."""
        given = [float(b in self.velocities), *self.velocities.get(b, np.zeros(6))]
        return np.concatenate([*self.poses[b], *self.before[b], given])

    def restore(self, parameters: Parameters, name: str, saved: Floats) -> None:
        """To what saved() gave."""
        b = self.numbers[name]
        self.set(parameters, name, saved[:3], saved[3:7])
        self.before[b] = saved[7:10], saved[10:14]
        self.velocities.pop(b, None)
        if saved[14] != 0.0:
            self.velocities[b] = saved[15:]

    def _velocity(self, b: int, dt: float, margin: float) -> Floats:
        """(6,) that given, else that of the change of pose since the last step, world."""
        if b in self.velocities:
            return self.velocities[b]
        now, before = self.poses[b], self.before[b]
        if np.array_equal(now[0], before[0]) and np.array_equal(now[1], before[1]):
            return np.zeros(6)
        shift = now[0] - before[0]
        turn = pinocchio.log3(pose(*now).rotation @ pose(*before).rotation.T)
        if np.linalg.norm(shift) > FARTHEST_MOVE * margin or np.linalg.norm(turn) > FARTHEST_TURN:
            return np.zeros(6)
        velocity: Floats = np.concatenate([shift, turn]) / dt
        return velocity

    def pose_of_file(self, name: str) -> tuple[Floats, Floats]:
        """Where the file puts one."""
        b = self.number(name)
        return np.array(self._m.body_pos[b]), np.array(self._m.body_quat[b])

    def place(
        self,
        parameters: Parameters,
        name: str,
        position: ArrayLike | None = None,
        quaternion: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
    ) -> None:
        """With its geometry, see MjcfSimulation.place."""
        b = self.number(name)
        given = None if velocity is None else given_array("velocity", velocity, (6,))
        old = self.poses[b]
        p = old[0] if position is None else given_array("position", position, (3,), finite=False)
        r = old[1]
        if quaternion is not None:
            r = given_array("quaternion", quaternion, (4,), finite=False)
        if not (np.all(np.isfinite(p)) and np.all(np.isfinite(r))):
            raise ValueError(f"pose of {name!r}: {p}, {r}: must be finite")
        length = float(np.linalg.norm(r))
        if length == 0.0:
            raise ValueError(f"quaternion of {name!r} is zero")
        self.set(parameters, name, np.array(p), np.array(r) / length)
        if given is not None:
            self.velocities[b] = np.array(given)

    def set(self, parameters: Parameters, name: str, position: Floats, quaternion: Floats) -> None:
        """The same, of a unit quaternion, which stays as it is to the bit."""
        b = self.numbers[name]
        self.poses[b] = position, quaternion
        X_W = pose(*self.poses[b])
        for geometry, (on, X) in self.geometries.items():
            if on == name:
                moved: pinocchio.SE3 = X_W * X
                parameters.set_geometry_placement(geometry, moved)
