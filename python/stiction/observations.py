"""What a Batch tells a controller: forces of contacts, columns of an observation, history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _stiction
from .batch_next_steps import NextSteps
from .given_array import given_array
from .loading import _check_type

__all__ = ["HeightScan", "Observations", "in_body"]

Floats = NDArray[np.float64]
_MOST_OBSERVERS = 16
"""Kept by a batch: one for each set of arguments of observe()."""


@dataclass(frozen=True, eq=False)
class HeightScan:
    """Points about a robot under which `Batch.observe` looks for the ground, by rays straight down.

        scan = stiction.HeightScan.grid(np.linspace(-0.5, 0.5, 11), np.linspace(-0.3, 0.3, 7))
        batch.observe(["heights"], scan=scan)        # (N, 77)

    What it tells is how far the ground lies under the frame's origin, [m] along world z: negative
    where it is higher.

    Attributes:
        points: (n, 2) x, y [m] from the frame's origin, in axes that turn with the frame about the
            vertical: x along the frame's x axis seen from above (the world's where it stands
            upright). Kept as an array that is not to be written.
        frame: name of a frame or body that moves, or number of a body.
        above: rays begin this far over the frame's origin [m]; ground above that is not seen, nor
            is a solid in which a ray begins.
        miss: what is told where a ray meets nothing. NaN: as it is.
        ground: names or numbers of the world's geometries that are looked at, of every kind; None:
            all. Bodies are never seen.
    """

    points: ArrayLike
    frame: str | int = 0
    above: float = 10.0
    miss: float = float("nan")
    ground: Sequence[str | int] | None = None

    def __post_init__(self) -> None:
        if self.ground is not None and len(self.ground) == 0:
            raise ValueError("ground is empty: must be names of geometries, or None for all")
        rows = np.array(given_array("points", self.points, ("n", 2)))
        rows.flags.writeable = False
        object.__setattr__(self, "points", rows)

    @classmethod
    def grid(cls, x: ArrayLike, y: ArrayLike, **settings: Any) -> HeightScan:
        """Points of all pairs of x and y [m], those of the first x first: (len(x) len(y), 2)."""
        a = given_array("x", x, ("n",))
        b = given_array("y", y, ("n",))
        return cls(np.stack(np.meshgrid(a, b, indexing="ij"), axis=-1).reshape(-1, 2), **settings)

    def _key(self) -> tuple[Any, ...]:
        ground = None if self.ground is None else tuple(self.ground)
        return np.asarray(self.points).tobytes(), self.frame, self.above, repr(self.miss), ground

    def _settings(self) -> dict[str, Any]:
        return {
            "points": self.points,
            "frame": self.frame,
            "above": float(self.above),
            "miss": float(self.miss),
            "ground": [] if self.ground is None else list(self.ground),
        }


class Observations(NextSteps):
    """A base of Batch: what a controller sees of the worlds."""

    _observers: dict[Any, _stiction._Observer]

    def contact_forces(self, geometries: Sequence[str | int]) -> Floats:
        """What the contacts of geometries carried in the last step; of a frozen world, in its last
        whole one.

        Args:
            geometries: names or numbers, each once.

        Returns:
            (N, len(geometries)) the sum over the points of a geometry of the size of the force [N];
            0 without contact.

        Raises:
            ValueError: a geometry is unknown or given twice.
        """
        return self._contact_forces(list(geometries))

    def observe(
        self,
        names: str | Sequence[str],
        feet: str | int | Sequence[str | int] = (),
        out: NDArray[Any] | None = None,
        *,
        frames: str | int | Sequence[str | int] = (),
        reference: str | int | None = None,
        imu: str | int | None = None,
        scan: HeightScan | None = None,
    ) -> NDArray[Any]:
        """What a controller sees, columns side by side in the order of the names, computed on the
        batch's threads.

            observation = batch.observe(["imu", "gravity", "joint_q", "contact"], feet, imu="trunk")

        A world's numbers depend on nothing but the world. States that are not finite give numbers
        that are not, in their row.

        Args:
            names: one or several. Of the first body: v_body (3), w_body (3) linear [m/s] and
                angular [rad/s] velocity in its own axes; gravity (3) direction of the scene's
                gravity in these axes; height (1) of its origin [m]. Of joints: joint_q and joint_v,
                all that is not the first body's; q, v whole; target (nv) position_target, as it was
                written.
                com (3), centre of mass of the first body and all that hangs on it, world [m].
                Of `feet`: contact, 1 where one touches with force, else 0; force (3 each), the sum
                of the contact forces on it in the last step [N], world axes; wrench (6 each), that
                force and its moment [N m] about the centre of mass of the tree that the foot
                belongs to, of the world's geometries about the origin, where the last step of a
                world began. It takes one more collision part of a step.
                Of `imu`: imu (6), specific force [m/s^2] and angular rate [rad/s] in the frame's
                axes, see below. Of `frames`: pose (7 each), position [m] and unit quaternion x y z
                w with w >= 0; velocity (6 each), linear of the origin [m/s]
                and angular [rad/s], relative to the world. Of `scan`: heights (n) [m].
            feet: names or numbers of geometries.
            out: (N, columns) of floats, written and returned; None: a new one of float64.
            frames: names of frames or bodies that move, or numbers of bodies.
            reference: frame in which pose, and in whose axes velocity is told; None: the world.
            imu: frame of the accelerometer and gyroscope.
            scan: the points of heights.

        The accelerometer is as that of MJCF files: the acceleration of the frame's origin less
        gravity, at the state where the last step of a world began, with the mean acceleration of
        that step, (v after - v before) / dt, of free-flyers with both in the same axes. The
        gyroscope is of the present state. From the first call on that asks for imu or force the
        batch remembers where the last step began; before the next step, and after `reset` and
        `set_state`, imu tells what a device would at that state without any acceleration of joints
        and of free-flyers' origins, and force turns with it.

        Raises:
            ValueError: a name is unknown or has nothing to show, `out` does not fit.
        """
        if scan is not None:
            _check_type("scan", scan, HeightScan, "stiction.HeightScan([[0.0, 0.0]])")
        observer = self._observer(
            _several(names), _several(feet), _several(frames), reference, imu, scan
        )
        shape = (self.num_worlds, observer.columns)
        if out is None:
            out = np.empty(shape)
        if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype.kind != "f":
            told = f"shape {out.shape}, {out.dtype}" if isinstance(out, np.ndarray) else repr(out)
            raise ValueError(f"out has {told}: must be an array of floats {shape}")
        if not out.flags.writeable:
            raise ValueError("out is read-only: must be an array that may be written")
        if _in_rows(out):
            observer.observe(out)
        else:
            observer.observe(rows := np.empty(shape))
            out[:] = rows
        return out

    def roll(
        self, history: NDArray[Any], newest: ArrayLike, begun: ArrayLike | None = None
    ) -> NDArray[Any]:
        """The last k observations or actions of each world, in place: all move up by one, the
        oldest goes, and the newest comes in last.

            history = np.zeros((N, 5, observation.shape[1]), np.float32)
            batch.roll(history, observation, begun=done)
            policy(history.reshape(N, -1))

        Args:
            history: (N, k, m) float32 or float64, C-contiguous.
            newest: (N, m) of numbers.
            begun: (N,) bool, worlds of a new episode: all their rows become the newest.

        Returns:
            history.

        Raises:
            ValueError: shapes do not fit, history is of another type or cannot be written.
            TypeError: `begun` is not of bool.
        """
        n = self.num_worlds
        if (
            not isinstance(history, np.ndarray)
            or history.dtype not in (np.float32, np.float64)
            or history.ndim != 3
            or history.shape[0] != n
            or history.shape[1] < 1
            or not (history.flags.c_contiguous and history.flags.writeable)
        ):
            raise ValueError(
                f"history must be a writable C-contiguous array ({n}, k >= 1, m) of float32 or "
                "float64"
            )
        row = np.ascontiguousarray(newest, history.dtype)
        if row.shape != (n, history.shape[2]):
            raise ValueError(
                f"newest has shape {row.shape}: must be ({n}, {history.shape[2]}) as history has"
            )
        _stiction._roll(self, history, row, self._mask(begun, "begun"))
        return history

    def _observer(
        self,
        names: tuple[str | int, ...],
        feet: tuple[str | int, ...],
        frames: tuple[str | int, ...],
        reference: str | int | None,
        imu: str | int | None,
        scan: HeightScan | None,
    ) -> _stiction._Observer:
        """Made once for the same arguments."""
        key = names, feet, frames, reference, imu, None if scan is None else scan._key()
        if key not in self._observers:
            if len(self._observers) >= _MOST_OBSERVERS:
                self._observers.clear()
            self._observers[key] = _stiction._Observer(
                self,
                {
                    "names": list(names),
                    "feet": list(feet),
                    "frames": list(frames),
                    "reference": reference,
                    "imu": imu,
                    "scan": None if scan is None else scan._settings(),
                },
            )
        return self._observers[key]


def _in_rows(out: NDArray[Any]) -> bool:
    """Whether the kernels may write it: float32 or float64, its rows in one piece."""
    return (
        out.dtype in (np.float32, np.float64)
        and out.dtype.isnative
        and bool(out.flags.aligned)
        and (out.shape[1] < 2 or out.strides[1] == out.itemsize)
        and out.strides[0] % out.itemsize == 0
    )


def _several(given: str | int | Sequence[str | int]) -> tuple[str | int, ...]:
    """One name or number is a list of one."""
    return (given,) if isinstance(given, str | int) else tuple(given)


def in_body(q: Floats, vector: Floats) -> Floats:
    """The direction of a world vector in the axes of the free-flyers, (N, 3)."""
    x, y, z = vector / max(float(np.linalg.norm(vector)), 1e-300)
    a, b, c, w = q[:, 3], q[:, 4], q[:, 5], q[:, 6]
    tx, ty, tz = 2 * (c * y - b * z), 2 * (a * z - c * x), 2 * (b * x - a * y)
    return np.stack(
        (
            x + w * tx + c * ty - b * tz,
            y + w * ty + a * tz - c * tx,
            z + w * tz + b * tx - a * ty,
        ),
        axis=1,
    )
