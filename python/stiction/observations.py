"""What a controller sees of the worlds of a batch, as columns of one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._stiction import Scene

if TYPE_CHECKING:
    from .batch import Batch

__all__ = ["NAMES", "columns", "observe"]

Floats = NDArray[np.float64]
ROOT_Q, ROOT_V = 7, 6
"""Entries of q and v of a free-flyer, the first body."""
NAMES = (
    "v_body", "w_body", "gravity", "height", "joint_q", "joint_v", "q", "v", "target", "contact",
)  # fmt: skip
OF_ROOT = NAMES[:6]


def columns(scene: Scene, names: Sequence[str], feet: int) -> dict[str, slice]:
    """Where each name stands in an observation.

    Raises:
        ValueError: a name is unknown, needs a free-flyer, or needs feet.
    """
    nq, nv = scene.nq, scene.nv
    width = {
        "v_body": 3, "w_body": 3, "gravity": 3, "height": 1, "joint_q": nq - ROOT_Q,
        "joint_v": nv - ROOT_V, "q": nq, "v": nv, "target": nv, "contact": feet,
    }  # fmt: skip
    flies = len(scene.joints) > 0 and scene.joints[0].nv == ROOT_V
    out, first = {}, 0
    for name in names:
        if name not in width:
            raise ValueError(f"{name!r} is no observation; there are: {', '.join(NAMES)}")
        if name in out:
            raise ValueError(f"{name!r} is given twice")
        if name in OF_ROOT and not flies:
            raise ValueError(f"{name!r} needs a free-flyer as the first joint of the scene")
        if name == "contact" and feet == 0:
            raise ValueError("'contact' needs feet, names of geometries")
        out[name] = slice(first, first + width[name])
        first += width[name]
    return out


def observe(
    batch: Batch, where: dict[str, slice], feet: Sequence[str | int], out: NDArray[Any]
) -> None:
    """Writes the columns."""
    q, v = batch.q, batch.v
    whole: dict[str, Any] = {"q": q, "v": v, "target": batch.position_target}
    for name, place in where.items():
        if name == "gravity":
            out[:, place] = in_body(q, batch.scene.parameters.gravity)
        elif name == "contact":
            out[:, place] = batch.contact_forces(feet) > 0.0
        elif name in whole:
            out[:, place] = whole[name]
        else:
            out[:, place] = {
                "v_body": v[:, :3],
                "w_body": v[:, 3:6],
                "height": q[:, 2:3],
                "joint_q": q[:, ROOT_Q:],
                "joint_v": v[:, ROOT_V:],
            }[name]


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
