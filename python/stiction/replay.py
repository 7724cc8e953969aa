"""Self-contained HTML replays: one file with the robot, its motion, its contacts and its certificate.

A `Replay` is plain NumPy data (SI units, world frame, quaternions as x y z w). `write_replay` puts it, the viewer in
`stiction/viewer/` and three.js into one HTML page that opens from `file://` without a network; `open_replay` shows it.

    replay = Replay("falling box", bodies, time, poses, contacts, residual, penetration, energy)
    write_replay("box.html", replay)

Links may carry options behind `#`, e.g. `box.html#t=1.0&play=0&cones=1`; `viewer/README.md` lists them.
"""

from __future__ import annotations

import os
import sys
import webbrowser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .npz_file import require_path
from .viewer import page

__all__ = [
    "Replay",
    "ReplayBody",
    "ReplayError",
    "ReplayGeometry",
    "open_replay",
    "thin_replay",
    "write_replay",
]

Shape = Literal["sphere", "capsule", "box", "plane", "cylinder", "cone", "ellipsoid", "mesh"]
Role = Literal["visual", "collision"]

CONTACT_COLUMNS = 11
"""Columns of a contact row: position (3), force on B (3), normal A to B (3), friction, sliding."""

_SIZE_MEANING: dict[str, tuple[tuple[int, ...], str]] = {
    "sphere": ((1,), "(radius,)"),
    "capsule": ((2,), "(radius, half_length) with the axis along z"),
    "cylinder": ((2,), "(radius, half_length) with the axis along z"),
    "cone": ((2,), "(radius, half_length): base at z = -half_length, apex at z = +half_length"),
    "ellipsoid": ((3,), "the half axes (a, b, c)"),
    "box": ((3,), "the half extents (hx, hy, hz)"),
    "plane": ((0,), "empty: the half-space z <= 0"),
    "mesh": ((0, 1, 3), "empty, one scale factor, or one per axis"),
}
_IDENTITY = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)


class ReplayError(ValueError):
    """A field of a replay is wrong; the message names the field, its value and the mend."""


@dataclass
class ReplayGeometry:
    """One shape fixed to a body.

    Attributes:
        shape: kind of shape; a plane is the infinite half-space z <= 0 of its own frame.
        size: sphere (radius,), capsule, cylinder and cone (radius, half_length) along z, box half extents (3,),
            ellipsoid half axes (3,), all in [m]; plane (); mesh () or scale factors (1,) or (3,).
        placement: (7,) pose of the shape in the body, x y z [m] qx qy qz qw.
        color: red, green, blue, opacity, each in [0, 1].
        vertices: (n, 3) mesh vertices [m], only for a mesh.
        triangles: (m, 3) vertex numbers, counter-clockwise seen from outside, only for a mesh.
        role: "visual" is what the eye should see, "collision" what the simulator collides.
    """

    shape: Shape
    size: Sequence[float] = ()
    placement: ArrayLike = _IDENTITY
    color: Sequence[float] = (0.78, 0.8, 0.83, 1.0)
    vertices: ArrayLike | None = None
    triangles: ArrayLike | None = None
    role: Role = "visual"


@dataclass
class ReplayBody:
    """A rigid body: a name and the shapes fixed to it. Static scenery is a body whose pose never changes."""

    name: str
    geometries: Sequence[ReplayGeometry] = ()


@dataclass
class Replay:
    """A recorded motion of B bodies over F frames.

    Attributes:
        title: heading of the page.
        bodies: the B bodies, in the order of `poses`.
        time: (F,) [s], strictly increasing.
        poses: (F, B, 7) world poses of the bodies, x y z [m] qx qy qz qw.
        contacts: per frame an array (k, 11): position [m] (3), force on body B in the world [N] (3), unit normal from A
            to B (3), friction coefficient, sliding (0 or 1). A Recorder's B is the body that moves, of two that move
            the upper one. Empty: no contacts were recorded.
        residual: (F,) residual of the contact solve, dimensionless; NaN leaves a gap in the plot.
        penetration: (F,) largest penetration depth [m], >= 0; NaN leaves a gap.
        energy: (F,) mechanical energy [J]; NaN leaves a gap.
        info: what else to show, as a table of names and values (solver, time step, seed, ...).
    """

    title: str
    bodies: Sequence[ReplayBody]
    time: ArrayLike
    poses: ArrayLike
    contacts: Sequence[ArrayLike] = ()
    residual: ArrayLike | None = None
    penetration: ArrayLike | None = None
    energy: ArrayLike | None = None
    info: Mapping[str, Any] = field(default_factory=dict)


def write_replay(path: str | os.PathLike[str], replay: Replay) -> Path:
    """Write `replay` as one HTML page that needs no network; return the path.

    Raises:
        ReplayError: a field has a wrong shape or value.
        StictionError: the path holds a zero byte.
    """
    target = Path(require_path(path))
    meta, arrays = _encode(replay)
    if not os.path.isdir(target.parent):
        raise ValueError(f"replay {target}: there is no folder {target.parent}")
    target.write_text(page.assemble(replay.title, meta, arrays), encoding="utf-8")
    return target


def open_replay(path: str | os.PathLike[str]) -> str:
    """Print the file:// URL of a replay, show it in a browser if there is a display, and return the URL."""
    target = Path(require_path(path)).resolve()
    if not os.path.isfile(target):
        raise FileNotFoundError(
            f"open_replay: path = {str(path)!r} is not a file; write it with write_replay first"
        )
    url = target.as_uri()
    print(url)
    if _has_display():
        try:
            webbrowser.open(url)
        except (webbrowser.Error, OSError) as error:
            print(f"no browser could be started ({error}); open the URL yourself", file=sys.stderr)
    return url


def thin_replay(replay: Replay, fps: float = 60.0) -> Replay:
    """A replay with at most about `fps` [1/s] frames per second.

    The residual and the penetration of a kept frame are the worst of the frames dropped since the one before it, so
    that thinning never hides a bad step. Poses, contacts and energy are those of the kept frame.
    """
    if not fps > 0:
        raise ReplayError(f"thin_replay: fps = {fps} must be positive")
    time = _array("time", replay.time, (None,))
    slots = np.floor((time - time[:1]) * fps + 1e-6) if time.size else time
    starts = np.flatnonzero(np.diff(slots, prepend=-1.0) > 0)
    # Frame 0 stands alone; every other kept frame is the first of its slot and answers for the frames before it.
    windows = np.concatenate([[0], starts[:-1] + 1]) if starts.size else starts

    def worst(name: str, values: ArrayLike | None) -> NDArray[np.float64] | None:
        return (
            None
            if values is None
            else np.fmax.reduceat(_array(name, values, (time.size,), finite=False), windows)
        )

    return Replay(
        title=replay.title,
        bodies=replay.bodies,
        time=time[starts],
        poses=_array("poses", replay.poses, (time.size, None, 7))[starts],
        contacts=[replay.contacts[i] for i in starts.tolist()] if len(replay.contacts) else (),
        residual=worst("residual", replay.residual),
        penetration=worst("penetration", replay.penetration),
        energy=None
        if replay.energy is None
        else _array("energy", replay.energy, (time.size,), finite=False)[starts],
        info=replay.info,
    )


# --- encoding ------------------------------------------------------------------------------------------------------


def _encode(replay: Replay) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Check `replay`; return its description (for JSON) and its arrays (for the binary block)."""
    time = _array("time", replay.time, (None,))
    frames, bodies = time.size, len(replay.bodies)
    if frames == 0:
        raise ReplayError("Replay.time is empty; record at least one frame")
    if np.any(np.diff(time) <= 0):
        i = int(np.argmax(np.diff(time) <= 0))
        raise ReplayError(
            f"Replay.time[{i}:{i + 2}] = {time[i : i + 2].tolist()} must increase strictly"
        )
    if not isinstance(replay.title, str):
        raise ReplayError(f"Replay.title = {replay.title!r} must be a string")

    meshes: dict[bytes, int] = {}
    arrays: dict[str, NDArray[Any]] = {
        "time": time,
        "poses": _poses("Replay.poses", replay.poses, (frames, bodies, 7)).astype(np.float32),
    }
    described = [
        {
            "name": str(body.name),
            "geometries": [
                _geometry(f"Replay.bodies[{b}].geometries[{g}]", geometry, meshes, arrays)
                for g, geometry in enumerate(body.geometries)
            ],
        }
        for b, body in enumerate(replay.bodies)
    ]
    arrays |= _contacts(replay.contacts, frames)
    for name in ("residual", "penetration", "energy"):
        values = getattr(replay, name)
        if values is not None:
            arrays[name] = _array(f"Replay.{name}", values, (frames,), finite=False).astype(
                np.float32
            )
    if "penetration" in arrays and np.any(arrays["penetration"] < 0):
        i = int(np.nanargmin(arrays["penetration"]))
        raise ReplayError(
            f"Replay.penetration[{i}] = {arrays['penetration'][i]:g} is negative; give the depth, max(0, -gap) [m]"
        )
    info = [[str(key), _text(value)] for key, value in replay.info.items()]
    return {
        "version": 1,
        "title": replay.title,
        "bodies": described,
        "info": info,
        "meshes": len(meshes),
    }, arrays


def _geometry(
    where: str, geometry: ReplayGeometry, meshes: dict[bytes, int], arrays: dict[str, NDArray[Any]]
) -> dict[str, Any]:
    """Describe one geometry; a mesh goes into `arrays` unless the same one is there already."""
    if geometry.shape not in get_args(Shape):
        raise ReplayError(
            f"{where}.shape = {geometry.shape!r} must be one of {', '.join(get_args(Shape))}"
        )
    if geometry.role not in get_args(Role):
        raise ReplayError(f"{where}.role = {geometry.role!r} must be 'visual' or 'collision'")
    size = _array(f"{where}.size", geometry.size, (None,))
    lengths, meaning = _SIZE_MEANING[geometry.shape]
    if size.size not in lengths or np.any(size <= 0):
        raise ReplayError(
            f"{where}.size = {size.tolist()} is wrong for a {geometry.shape}; give positive {meaning}"
        )
    color = _array(f"{where}.color", geometry.color, (None,))
    if color.size not in (3, 4) or np.any((color < 0) | (color > 1)):
        raise ReplayError(
            f"{where}.color = {color.tolist()} must be red, green, blue, opacity, each in [0, 1]"
        )
    placement = _poses(f"{where}.placement", geometry.placement, (7,))
    described: dict[str, Any] = {
        "shape": geometry.shape,
        "size": size.tolist(),
        "placement": [float(f"{x:.9g}") for x in placement],
        "color": [*color.tolist(), 1.0][:4],
        "role": geometry.role,
    }
    if geometry.shape == "mesh":
        described["mesh"] = _mesh(where, geometry, meshes, arrays)
    elif geometry.vertices is not None or geometry.triangles is not None:
        raise ReplayError(
            f"{where}.vertices are given for shape = {geometry.shape!r}; only a 'mesh' has them"
        )
    return described


def _mesh(
    where: str, geometry: ReplayGeometry, meshes: dict[bytes, int], arrays: dict[str, NDArray[Any]]
) -> int:
    """Number of the geometry's mesh, stored once however many geometries use it."""
    if geometry.vertices is None or geometry.triangles is None:
        raise ReplayError(
            f"{where} is a mesh without vertices or triangles; give vertices (n, 3), triangles (m, 3)"
        )
    vertices = _array(f"{where}.vertices", geometry.vertices, (None, 3)).astype(np.float32)
    triangles = np.asarray(geometry.triangles)
    if (
        triangles.ndim != 2
        or triangles.shape[1] != 3
        or not np.issubdtype(triangles.dtype, np.integer)
    ):
        raise ReplayError(
            f"{where}.triangles has shape {triangles.shape} and type {triangles.dtype}; give integers of shape (m, 3)"
        )
    if triangles.size and not 0 <= triangles.min() <= triangles.max() < len(vertices):
        raise ReplayError(
            f"{where}.triangles names vertices {triangles.min()} to {triangles.max()}, "
            f"but there are {len(vertices)}: number them from 0"
        )
    triangles = triangles.astype(np.uint16 if len(vertices) <= 0xFFFF else np.uint32)
    key = vertices.tobytes() + b"|" + triangles.tobytes()
    if key not in meshes:
        meshes[key] = len(meshes)
        arrays[f"mesh{meshes[key]}.vertices"] = vertices
        arrays[f"mesh{meshes[key]}.triangles"] = triangles
    return meshes[key]


def _contacts(contacts: Sequence[ArrayLike], frames: int) -> dict[str, NDArray[Any]]:
    """All contact rows below each other, and where each frame's rows start: (F + 1,)."""
    if len(contacts) not in (0, frames):
        raise ReplayError(
            f"Replay.contacts has {len(contacts)} frames, time has {frames}; give one array (k, {CONTACT_COLUMNS}) "
            "per frame, of shape (0, 11) where nothing touches"
        )
    rows = [np.zeros((0, CONTACT_COLUMNS))]
    for i, given in enumerate(contacts):
        frame = np.asarray(given, dtype=np.float64)
        rows.append(
            rows[0]
            if frame.size == 0
            else _array(f"Replay.contacts[{i}]", frame, (None, CONTACT_COLUMNS))
        )
    table = np.concatenate(rows)
    starts = np.cumsum([len(r) for r in rows])
    starts = starts if len(contacts) else np.zeros(frames + 1, dtype=np.int64)
    wrong = np.abs(np.linalg.norm(table[:, 6:9], axis=1) - 1.0) > 1e-3
    if np.any(wrong):
        row = int(np.argmax(wrong))
        i = int(np.searchsorted(starts, row, side="right")) - 1
        raise ReplayError(
            f"Replay.contacts[{i}][{row - starts[i]}, 6:9] = {table[row, 6:9].tolist()} is no unit normal from A to B"
        )
    if np.any(table[:, 9] < 0):
        raise ReplayError(
            f"Replay.contacts[...][:, 9] = {table[:, 9].min():g}: a friction coefficient is >= 0"
        )
    return {"contacts": table.astype(np.float32), "contact_starts": starts.astype(np.uint32)}


def _poses(name: str, given: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Checked poses (..., 7) with quaternions of exactly unit length."""
    poses = _array(name, given, shape)
    norm = np.linalg.norm(poses[..., 3:], axis=-1, keepdims=True)
    wrong = np.abs(norm[..., 0] - 1.0) > 1e-2
    if np.any(wrong):
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        spot = "".join(f"[{i}]" for i in at)
        raise ReplayError(
            f"{name}{spot}[3:7] = {poses[at][3:].tolist()} is no unit quaternion qx qy qz qw"
        )
    return np.concatenate([poses[..., :3], poses[..., 3:] / norm], axis=-1)


def _array(
    name: str, given: ArrayLike, shape: tuple[int | None, ...], finite: bool = True
) -> NDArray[np.float64]:
    """`given` as float64 of the wanted shape (None: any length), or an error that names the field."""
    try:
        array = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ReplayError(f"{name} is no array of numbers ({error})") from None
    if array.ndim != len(shape) or any(
        n not in (None, m) for n, m in zip(shape, array.shape, strict=True)
    ):
        wanted = (
            "("
            + ", ".join("any" if n is None else str(n) for n in shape)
            + ("," if len(shape) == 1 else "")
            + ")"
        )
        raise ReplayError(f"{name} has shape {array.shape}; give {wanted}")
    if finite and not np.all(np.isfinite(array)):
        at = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ReplayError(
            f"{name}{list(at)} = {array[at]} is not finite; stop the recording before the first such frame"
        )
    return array


def _text(value: Any) -> str:
    """A value of the info table as text; 4 digits are enough to read."""
    return f"{float(value):.4g}" if isinstance(value, (float, np.floating)) else str(value)


def _has_display() -> bool:
    """False on a headless Linux machine, where `webbrowser` might start a text browser and wait for its end."""
    names = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME")
    return not sys.platform.startswith("linux") or any(os.environ.get(name) for name in names)
