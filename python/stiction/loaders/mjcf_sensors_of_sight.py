"""Sensors that look: range finders of sites, and where a camera sees a site."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .mjcf_source import Source

if TYPE_CHECKING:
    from .mjcf_sensors import Reading

__all__ = ["SIGHT_READERS", "why_not_seen"]

Floats = NDArray[np.float64]
LEAST = 1e-15
"""MuJoCo's mjMINVAL."""
NORMAL, FIELDS = 4, ("dist", "dir", "origin", "point", "normal", "depth")
"""mjtRayDataField, in the order of a sensor's numbers."""


def why_not_seen(source: Source, s: int) -> str:
    """What keeps a sensor of this kind from being read; "" if nothing does."""
    m = source.model
    if source.is_one_of(m.sensor_type[s], "mjtSensor", ["mjSENS_RANGEFINDER"]):
        if not source.is_one_of(m.sensor_objtype[s], "mjtObj", ["mjOBJ_SITE"]):
            return "a range finder of a camera is not supported"
        if int(m.sensor_intprm[s, 0]) & (1 << NORMAL):
            return "normals of a range finder are not supported"
    cameras = [
        int(m.sensor_objid[s] if field == "obj" else m.sensor_refid[s])
        for field in ("obj", "ref")
        if source.is_one_of(getattr(m, f"sensor_{field}type")[s], "mjtObj", ["mjOBJ_CAMERA"])
    ]
    if any(not _is_fixed(source, camera) for camera in cameras):
        return "its camera follows something"
    return ""


def _is_fixed(source: Source, camera: int) -> bool:
    return source.is_one_of(source.model.cam_mode[camera], "mjtCamLight", ["mjCAMLIGHT_FIXED"])


def _range(r: Reading, s: int) -> Floats:
    """Along the z-axis of the site."""
    m, site = r.source.model, int(r.source.model.sensor_objid[s])
    frame = r.site(site)
    direction = frame.R[:, 2]
    t = r.sight(int(m.site_bodyid[site])).first_hit(frame.p, direction, r.motions)
    hit, nothing = t >= 0.0, np.zeros(3)
    numbers = {
        "dist": np.array([t]),
        "dir": direction if hit else nothing,
        "origin": frame.p,
        "point": frame.p + t * direction if hit else nothing,
        "depth": np.array([t]),
    }
    asked = int(m.sensor_intprm[s, 0])
    return np.concatenate([numbers[f] for k, f in enumerate(FIELDS) if asked & (1 << k)])


def _projection(r: Reading, s: int) -> Floats:
    """Pixels from the upper left corner; a camera looks along -z, its y-axis up."""
    m, camera = r.source.model, int(r.source.model.sensor_refid[s])
    frame = r.frame(int(r.source.mujoco.mjtObj.mjOBJ_CAMERA), camera)
    x, y, z = frame.R.T @ (r.site(int(m.sensor_objid[s])).p - frame.p)
    width, height = (float(n) for n in m.cam_resolution[camera])
    focal_x, focal_y = _focal_lengths(m, camera, width, height)
    if abs(z) < LEAST:
        z = -LEAST if z < 0.0 else LEAST
    return np.array([0.5 * width - focal_x * x / z, 0.5 * height + focal_y * y / z])


def _focal_lengths(m: Any, camera: int, width: float, height: float) -> tuple[float, float]:
    """In pixels, from the sensor's size if it has one, else from the angle of view."""
    size = [float(x) for x in m.cam_sensorsize[camera]]
    if size[0] and size[1]:
        near = [float(x) for x in m.cam_intrinsic[camera]]
        x, y = near[0] / (size[0] + LEAST) * width, near[1] / (size[1] + LEAST) * height
        return float(np.float32(x)), float(np.float32(y))  # as MuJoCo rounds them
    length = float(0.5 / np.tan(np.radians(float(m.cam_fovy[camera])) / 2) * height)
    return length, length


SIGHT_READERS = {"RANGEFINDER": _range, "CAMPROJECTION": _projection}
