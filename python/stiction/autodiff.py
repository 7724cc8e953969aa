"""What `stiction.torch` and `stiction.jax` share: steps, rollouts and distances as functions of
arrays, with their gradients in the coordinates q instead of tangents."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._stiction import Control, Scene, Shape, State, distance, distance_derivatives
from .given_array import given_array, integer
from .loading import _check_type
from .simulator import Simulator

__all__ = ["ArrayFunction", "DistanceFunction"]

Floats = NDArray[np.float64]


def unit(scene: Scene, q: Floats) -> Floats:
    """`q` with quaternions, and cosine and sine of continuous joints, of length 1."""
    out = q.copy()
    for first, count in _on_spheres(scene):
        if not q[first : first + count].any():
            raise ValueError(
                f"q[{first}:{first + count}] is zero: must be a quaternion x y z w, or cosine and "
                "sine, of any length; sim.initial_state().q has one"
            )
        out[first : first + count] /= np.linalg.norm(out[first : first + count])
    return out


def tangent(scene: Scene, q: Floats, by_q: Floats) -> Floats:
    """(nv,) dl/d tangent at `q` from dl/dq (nq,)."""
    out = np.zeros(scene.nv)
    for joint in scene.joints:
        at = slice(joint.q_index, joint.q_index + joint.nq)
        out[joint.v_index : joint.v_index + joint.nv] = _map(joint.type, q[at]).T @ by_q[at]
    return out


def coordinates(scene: Scene, q: Floats, by_tangent: Floats) -> Floats:
    """(nq,) dl/dq at a `q` of unit length from dl/d tangent (nv,), where l(q) means l(unit(q)): no
    part along a quaternion."""
    out = np.zeros(scene.nq)
    for joint in scene.joints:
        at = slice(joint.q_index, joint.q_index + joint.nq)
        T = _map(joint.type, q[at])
        x = by_tangent[joint.v_index : joint.v_index + joint.nv]
        out[at] = T @ (x / np.sum(T * T, axis=0))  # columns of T are orthogonal
    return out


def _map(kind: str, q: Floats) -> Floats:
    """dq = T x by a tangent x, of one joint."""
    if kind == "free_flyer":
        T = np.zeros((7, 6))
        T[:3, :3] = _matrix(q)[:3, :3]
        T[3:, 3:] = _turn(q[3:])
        return T
    if kind == "spherical":
        return _turn(q)
    return np.array([[-q[1]], [q[0]]]) if kind == "continuous" else np.ones((1, 1))


def _turn(q: Floats) -> Floats:
    """Half the quaternion x y z w times (x, 0): turned about the axes of the body."""
    x, y, z, w = q
    return 0.5 * np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]])


def _on_spheres(scene: Scene) -> list[tuple[int, int]]:
    """Of q: first and count of what has length 1."""
    found = {"free_flyer": (3, 4), "spherical": (0, 4), "continuous": (0, 2)}
    spheres = [(joint.q_index, found[joint.type]) for joint in scene.joints if joint.type in found]
    return [(index + first, count) for index, (first, count) in spheres]


class ArrayFunction:
    """Steps of `sim` as functions of arrays. One thread at a time is inside.

    Args:
        sim: its parameters are those of the call. A rigid integrator needs a solver of the NCP or
            CCP.
        state: warm starts and springs to begin with, which are not differentiated; None: none.
        control: servo targets and wrenches, to whose torques the arrays are added; None: `hold()`.
        checkpoint_every: of the tape of a rollout.

    Raises:
        TypeError: an argument is of another type.
        ValueError: an array of a call has a wrong shape or is not finite; the message names it.
    """

    def __init__(
        self,
        sim: Simulator,
        state: State | None = None,
        control: Control | None = None,
        checkpoint_every: int = 0,
    ) -> None:
        _check_type("sim", sim, Simulator, "stiction.Simulator(scene)")
        if state is not None:
            _check_type("state", state, State, "sim.initial_state()")
        if control is not None:
            _check_type("control", control, Control, "sim.hold()")
        self.sim, self.scene = sim, sim.scene
        self._start = (sim.initial_state() if state is None else state).copy()
        self._control = (sim.hold() if control is None else control).copy()
        self._torque = self._control.torque.copy()
        self._every = integer("checkpoint_every", checkpoint_every)
        if self._every < 0:
            raise ValueError(f"checkpoint_every = {self._every}: must be >= 0")
        self._lock = threading.Lock()

    def step(self, q: Floats, v: Floats, tau: Floats) -> tuple[Floats, Floats]:
        """q+ (nq,) and v+ (nv,)."""
        with self._lock:
            end = self._step(q, v, tau)
            return end.q.copy(), end.v.copy()

    def step_vjp(
        self, q: Floats, v: Floats, tau: Floats, by_q: Floats, by_v: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """dl/d(q, v, tau) from dl/d(q+, v+); the step is repeated."""
        with self._lock:
            end = self._step(q, v, tau)
            g = self.sim.vjp(np.concatenate([tangent(self.scene, end.q, by_q), by_v]))
            return self._by_q(q, g[0]), g[1], g[2]

    def rollout(self, q: Floats, v: Floats, taus: Floats) -> tuple[Floats, Floats]:
        """q (T + 1, nq) and v (T + 1, nv)."""
        with self._lock:
            log = self.sim.rollout(
                self._at(q, v), self._torques(taus), control=self._control, record=("q", "v")
            )
            assert log.q is not None and log.v is not None
            return log.q, log.v

    def rollout_vjp(
        self, q: Floats, v: Floats, taus: Floats, by_q: Floats, by_v: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """dl/d(q, v, taus) from dl/d(q, v) of all states; the rollout is repeated."""
        with self._lock:
            tape = self.sim.rollout(
                self._at(q, v),
                self._torques(taus),
                control=self._control,
                record="q",
                tape=True,
                checkpoint_every=self._every,
            )
            assert tape.q is not None
            rows = [tangent(self.scene, one, by) for one, by in zip(tape.q, by_q, strict=True)]
            g = tape.adjoint(np.c_[rows, by_v], wrt=("taus", "initial_q", "initial_v"))
            assert g.taus is not None and g.initial_q is not None and g.initial_v is not None
            return self._by_q(q, g.initial_q), g.initial_v, g.taus

    def _at(self, q: Floats, v: Floats) -> State:
        state = self._start.copy()
        state.q = unit(self.scene, given_array("q", q, (self.scene.nq,)))
        state.v = given_array("v", v, (self.scene.nv,))
        return state

    def _torques(self, taus: Floats) -> Floats:
        """(T, nv) with those of the control."""
        return given_array("taus", taus, ("T", self.scene.nv)) + self._torque

    def _step(self, q: Floats, v: Floats, tau: Floats) -> State:
        state = self._at(q, v)
        self._control.torque = self._torque + given_array("tau", tau, (self.scene.nv,))
        self.sim.step(state, self._control)
        self._control.torque = self._torque
        return state

    def _by_q(self, q: Floats, by_tangent: Floats) -> Floats:
        q = np.asarray(q, dtype=float)
        out = coordinates(self.scene, unit(self.scene, q), by_tangent)
        for first, count in _on_spheres(self.scene):
            out[first : first + count] /= np.linalg.norm(q[first : first + count])
        return out


class DistanceFunction:
    """The distance of two shapes as a function of their poses, x y z and a quaternion x y z w each.

    Args:
        a, b: the shapes.
        method: of the derivatives, see `distance_derivatives`; where shapes slide over edges those
            of "gumbel" and "gaussian-1" do not jump.
        settings: of the method, by name.
    """

    def __init__(self, a: Shape, b: Shape, method: str = "exact", **settings: Any) -> None:
        for name, shape in (("a", a), ("b", b)):
            _check_type(name, shape, Shape, "stiction.Sphere(0.1)")
        self.a, self.b = a, b
        self._settings = {"method": method, **settings}
        far = np.eye(4)
        far[0, 3] = 1e3
        distance_derivatives(a, np.eye(4), b, far, **self._settings)  # refuses what it cannot do

    def value(self, pose_a: Floats, pose_b: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Signed distance (), witness points (3,), (3,) and the normal from a to b (3,), world."""
        X_WA, X_WB = _pose("pose_a", pose_a), _pose("pose_b", pose_b)
        found = distance(self.a, X_WA, self.b, X_WB)
        return np.array(found.distance), found.witness_a, found.witness_b, found.normal

    def vjp(self, pose_a: Floats, pose_b: Floats, *by: Floats) -> tuple[Floats, Floats]:
        """dl/d(pose_a, pose_b) from dl/d(distance, witness_a, witness_b, normal)."""
        X_WA, X_WB = _pose("pose_a", pose_a), _pose("pose_b", pose_b)
        at = distance(self.a, X_WA, self.b, X_WB)
        d = distance_derivatives(self.a, X_WA, self.b, X_WB, at=at, **self._settings)
        by_distance, by_a, by_b, by_normal = (np.asarray(x, dtype=float) for x in by)
        of_b = by_distance * d.distance + by_a @ d.witness_a + by_b @ d.witness_b
        of_b = of_b + by_normal @ d.normal  # by the twist of B about the origin of its frame
        # By that of A it is a rigid motion of everything less the same.
        about_b, about_a = pose_b[:3], pose_a[:3]
        force = by_a + by_b - of_b[:3]
        moment = np.cross(at.witness_a - about_b, by_a) + np.cross(at.witness_b - about_b, by_b)
        moment = moment + np.cross(at.normal, by_normal) - of_b[3:]
        moment = moment + np.cross(about_b - about_a, force)
        return _by_pose(pose_a, X_WA, force, moment), _by_pose(pose_b, X_WB, of_b[:3], of_b[3:])


def _pose(name: str, given: Floats) -> Floats:
    """The same of a caller's."""
    pose = given_array(name, given, (7,), means="x y z and a quaternion x y z w")
    if not pose[3:].any():
        raise ValueError(f"{name}[3:] = [0, 0, 0, 0]: must be a quaternion x y z w of any length")
    return _matrix(pose)


def _matrix(pose: Floats) -> Floats:
    """(4, 4) of x y z and a quaternion of any length but 0."""
    x, y, z, w = pose[3:] / np.linalg.norm(pose[3:])
    X = np.eye(4)
    X[:3, 3] = pose[:3]
    X[:3, :3] = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return X


def _by_pose(pose: Floats, X: Floats, force: Floats, moment: Floats) -> Floats:
    """(7,) from dl by a twist about the origin of the frame, world axes."""
    length = np.linalg.norm(pose[3:])
    turn = 4.0 * _turn(pose[3:] / length) @ (X[:3, :3].T @ moment) / length
    return np.concatenate([force, turn])
