"""Sensors of a compiled MuJoCo model, from motions of bodies, contacts and actuators."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .._stiction import ContactReport
from .mjcf_contacts import body_of_geom
from .mjcf_kinematics import Motion, cross, rotation
from .mjcf_rays import Sight
from .mjcf_sensors_of_limits import LIMIT_READERS, OF_LIMITS_OF_LAST_STEP, tendon_arms
from .mjcf_sensors_of_loads import Loads, interaction
from .mjcf_sensors_of_sight import SIGHT_READERS, why_not_seen
from .mjcf_site_volume import ray_meets_site
from .mjcf_source import Source
from .mjcf_trees import Place

if TYPE_CHECKING:
    from .mjcf_actuators import Actuation

__all__ = ["LimitForces", "Reading", "Sensor", "read_sensors"]

Floats = NDArray[np.float64]


@dataclass
class LimitForces:
    """Of the last step, by dof and by tendon [N or N m]."""

    joints: dict[int, float] = field(default_factory=dict)
    tendons: dict[int, float] = field(default_factory=dict)


@dataclass
class Reading:
    """What sensors are read from.

    Attributes:
        motions: by MuJoCo's body.
        q: (nv,) positions of dofs; qpos (nq,) MuJoCo's; v (nv,).
        forces: of the actuators that act, by their name.
        contacts, limits, loads: of the last step.
        sight: of a body, which sees the others.
    """

    source: Source
    motions: list[Motion]
    q: Floats
    qpos: Floats
    v: Floats
    time: float
    forces: dict[str, float]
    actuation: Actuation
    contacts: list[ContactReport]
    limits: LimitForces
    loads: Loads
    sight: Callable[[int], Sight]
    places: list[Place]
    gravity: Floats

    def frame(self, kind: int, index: int) -> Motion:
        """Of an object: kind is mjtObj's body (its inertial frame), xbody, geom, site or camera."""
        m, names = self.source.model, self.source.mujoco.mjtObj
        if kind == int(names.mjOBJ_XBODY):
            return self.motions[index]
        fields = {
            int(names.mjOBJ_BODY): (range(int(m.nbody)), m.body_ipos, m.body_iquat),
            int(names.mjOBJ_GEOM): (m.geom_bodyid, m.geom_pos, m.geom_quat),
            int(names.mjOBJ_SITE): (m.site_bodyid, m.site_pos, m.site_quat),
            int(names.mjOBJ_CAMERA): (m.cam_bodyid, m.cam_pos, m.cam_quat),
        }
        owner, position, quaternion = fields[kind]
        turn = rotation(np.array(quaternion[index]))
        return self.motions[int(owner[index])].at(np.array(position[index]), turn)

    def site(self, index: int) -> Motion:
        """Its frame."""
        return self.frame(int(self.source.mujoco.mjtObj.mjOBJ_SITE), index)

    def subtree(self, body: int) -> list[int]:
        """The body and all that it carries."""
        m, found = self.source.model, [body]
        for b in range(body + 1, int(m.nbody)):
            if int(m.body_parentid[b]) in found:
                found.append(b)
        return found

    def centre(self, body: int) -> Motion:
        """The frame at a body's centre of mass, in its principal axes."""
        return self.frame(int(self.source.mujoco.mjtObj.mjOBJ_BODY), body)


@dataclass(frozen=True)
class Sensor:
    """One sensor: its number, the function that reads it, the cutoff of its numbers."""

    number: int
    reader: Callable[[Reading, int], Floats]
    of_last_step: bool
    least: float
    most: float

    def read(self, reading: Reading) -> Floats:
        """(n,)."""
        return np.clip(np.atleast_1d(self.reader(reading, self.number)), self.least, self.most)


def read_sensors(source: Source, actuation: Actuation) -> dict[str, Sensor]:
    """Those that are supported, by name; the others are a message."""
    m, kinds = source.model, source.mujoco.mjtSensor
    table = {int(getattr(kinds, f"mjSENS_{name}")): read for name, read in READERS.items()}
    last = {int(getattr(kinds, f"mjSENS_{name}")) for name in OF_LAST_STEP}
    found, left = {}, []
    for s in range(int(m.nsensor)):
        kind = int(m.sensor_type[s])
        if kind not in table or not _is_known(source, s):
            left.append(s)
            continue
        why = why_not_seen(source, s) or _why_not_of_actuator(source, actuation, s)
        if why:
            source.unused("sensor", s, f"is not read: {why}")
            continue
        cutoff, positive = float(m.sensor_cutoff[s]), int(m.sensor_datatype[s]) == 1
        most = cutoff if cutoff > 0.0 else np.inf
        if int(m.sensor_datatype[s]) > 1:
            most = np.inf
        least = -np.inf if positive else -most
        found[source.name("sensor", s)] = Sensor(s, table[kind], kind in last, least, most)
    source.unused_of("sensor", left, "is of a kind that is not read")
    held = np.flatnonzero(
        (np.array(m.sensor_delay) != 0) | (np.array(m.sensor_interval)[:, 0] != 0)
    )
    source.unused_of("sensor", [int(s) for s in held if s not in left], "its delay is not honoured")
    return found


def _why_not_of_actuator(source: Source, actuation: Actuation, s: int) -> str:
    """A sensor of an actuator, or of a joint's or tendon's actuators, that cannot be told; ""."""
    m = source.model

    def is_one(*kinds: str) -> bool:
        names = [f"mjSENS_{kind}" for kind in kinds]
        return source.is_one_of(m.sensor_type[s], "mjtSensor", names)

    act = {actuator.name: actuator for actuator in actuation.actuators}
    if is_one("ACTUATORPOS", "ACTUATORVEL", "ACTUATORFRC"):
        actuator = act.get(source.name("actuator", m.sensor_objid[s]))
        if actuator is None:
            return "its actuator does not act"
        if not is_one("ACTUATORFRC") and not actuator.scalar:
            return "its actuator's length is no sum of positions"
    if is_one("JOINTACTFRC"):
        site = [a.name for a in actuation.actuators if a.kind == "site"]
        if site:
            return f"the torques of actuator '{site[0]}' at a site are not known by joint"
    return ""


FRAMED = ("BODY", "XBODY", "GEOM", "SITE", "CAMERA")


def _is_known(source: Source, s: int) -> bool:
    """Whether the objects of a sensor are ones that have a frame here, and tendons fixed ones."""
    m, names = source.model, source.mujoco.mjtObj
    framed = {int(getattr(names, f"mjOBJ_{n}")) for n in FRAMED}
    others = {int(getattr(names, f"mjOBJ_{n}")) for n in ("UNKNOWN", "JOINT", "ACTUATOR")}
    kind, reference = int(m.sensor_objtype[s]), int(m.sensor_reftype[s])
    if kind == int(names.mjOBJ_TENDON):
        return source.is_one_of(m.tendon_type[m.sensor_objid[s]], "mjtTendon", ["mjTENDON_FIXED"])
    return kind in framed | others and reference in framed | {int(names.mjOBJ_UNKNOWN)}


# --- of sites -------------------------------------------------------------------------------------


def _object(r: Reading, s: int) -> int:
    return int(r.source.model.sensor_objid[s])


def _touch(r: Reading, s: int) -> Floats:
    m, site = r.source.model, _object(r, s)
    frame, body, total = r.site(site), int(m.site_bodyid[site]), 0.0
    for contact in r.contacts:
        names = contact.geometry_a_name, contact.geometry_b_name
        bodies = [body_of_geom(r.source, name) for name in names]
        normal = np.array(contact.normal)  # from A to B
        force = float(normal @ contact.force_on_b_world)
        if body not in bodies or force <= 0.0:
            continue
        ray = normal if body == bodies[0] else -normal
        to_site = frame.R.T
        local = to_site @ (np.array(contact.position) - frame.p)
        size = np.array(m.site_size[site])
        if ray_meets_site(int(m.site_type[site]), size, local, to_site @ ray):
            total += force
    return np.array([total])


def _accelerometer(r: Reading, s: int) -> Floats:
    frame = r.site(_object(r, s))
    return frame.R.T @ (frame.a - r.gravity)


def _velocimeter(r: Reading, s: int) -> Floats:
    frame = r.site(_object(r, s))
    return frame.R.T @ frame.v


def _gyro(r: Reading, s: int) -> Floats:
    frame = r.site(_object(r, s))
    return frame.R.T @ frame.w


def _magnetometer(r: Reading, s: int) -> Floats:
    return np.asarray(r.site(_object(r, s)).R.T @ np.array(r.source.model.opt.magnetic))


# --- of joints, tendons, actuators ----------------------------------------------------------------


def _joint_position(r: Reading, s: int) -> Floats:
    return np.array([r.qpos[r.source.model.jnt_qposadr[_object(r, s)]]])


def _joint_velocity(r: Reading, s: int) -> Floats:
    return np.array([r.v[r.source.model.jnt_dofadr[_object(r, s)]]])


def _ball_quaternion(r: Reading, s: int) -> Floats:
    first = int(r.source.model.jnt_qposadr[_object(r, s)])
    q = r.qpos[first : first + 4]
    return np.asarray(q / np.linalg.norm(q))


def _ball_velocity(r: Reading, s: int) -> Floats:
    first = int(r.source.model.jnt_dofadr[_object(r, s)])
    return r.v[first : first + 3]


def _actuator(r: Reading, s: int) -> Any:
    name = r.source.name("actuator", _object(r, s))
    return next(a for a in r.actuation.actuators if a.name == name)


def _actuator_length(r: Reading, s: int) -> Floats:
    return np.array([_actuator(r, s).arms @ r.q])


def _actuator_speed(r: Reading, s: int) -> Floats:
    return np.array([_actuator(r, s).arms @ r.v])


def _actuator_force(r: Reading, s: int) -> Floats:
    return np.array([r.forces[r.source.name("actuator", _object(r, s))]])


def _joint_actuator_force(r: Reading, s: int) -> Floats:
    m, j = r.source.model, _object(r, s)
    dof = int(m.jnt_dofadr[j])
    total = sum(a.arms[dof] * r.forces[a.name] for a in r.actuation.actuators)
    if m.jnt_actfrclimited[j]:
        total = np.clip(total, *m.jnt_actfrcrange[j])
    return np.array([total])


# --- of frames and subtrees -----------------------------------------------------------------------


def _both(r: Reading, s: int) -> tuple[Motion, Motion]:
    """The object's frame and that of its reference, the world if it has none."""
    m = r.source.model
    frame = r.frame(int(m.sensor_objtype[s]), _object(r, s))
    if int(m.sensor_refid[s]) < 0:
        return frame, r.motions[0]
    return frame, r.frame(int(m.sensor_reftype[s]), int(m.sensor_refid[s]))


def _frame_position(r: Reading, s: int) -> Floats:
    frame, ref = _both(r, s)
    return ref.R.T @ (frame.p - ref.p)


def _frame_axis(axis: int) -> Callable[[Reading, int], Floats]:
    def read(r: Reading, s: int) -> Floats:
        frame, ref = _both(r, s)
        return ref.R.T @ frame.R[:, axis]

    return read


def _frame_quaternion(r: Reading, s: int) -> Floats:
    """With w >= 0; MuJoCo's may have the other sign."""
    frame, ref = _both(r, s)
    out = np.zeros(4)
    r.source.mujoco.mju_mat2Quat(out, (ref.R.T @ frame.R).ravel())
    return out


def _frame_velocity(r: Reading, s: int) -> Floats:
    frame, ref = _both(r, s)
    return ref.R.T @ (frame.v - ref.v - cross(ref.w, frame.p - ref.p))


def _frame_turn(r: Reading, s: int) -> Floats:
    frame, ref = _both(r, s)
    return ref.R.T @ (frame.w - ref.w)


def _frame_acceleration(r: Reading, s: int) -> Floats:
    return _both(r, s)[0].a - r.gravity


def _subtree(r: Reading, s: int) -> tuple[float, Floats, Floats, list[tuple[float, Motion, Any]]]:
    """Mass, centre, velocity of the centre, and what it is made of."""
    m = r.source.model
    parts = [
        (float(m.body_mass[b]), r.centre(b), m.body_inertia[b]) for b in r.subtree(_object(r, s))
    ]
    mass = max(sum(p[0] for p in parts), 1e-15)
    centre = sum((p[0] * p[1].p for p in parts), np.zeros(3)) / mass
    velocity = sum((p[0] * p[1].v for p in parts), np.zeros(3)) / mass
    return mass, centre, velocity, parts


def _subtree_momentum(r: Reading, s: int) -> Floats:
    _, centre, velocity, parts = _subtree(r, s)
    total = np.zeros(3)
    for mass, c, inertia in parts:
        total += cross(c.p - centre, mass * (c.v - velocity))
        total += c.R @ (np.array(inertia) * (c.R.T @ c.w))
    return total


# --- the table ------------------------------------------------------------------------------------

READERS: dict[str, Callable[[Reading, int], Floats]] = {
    "TOUCH": _touch,
    "ACCELEROMETER": _accelerometer,
    "VELOCIMETER": _velocimeter,
    "GYRO": _gyro,
    "FORCE": lambda r, s: interaction(r, _object(r, s))[0],
    "TORQUE": lambda r, s: interaction(r, _object(r, s))[1],
    "MAGNETOMETER": _magnetometer,
    "JOINTPOS": _joint_position,
    "JOINTVEL": _joint_velocity,
    "TENDONPOS": lambda r, s: np.array([tendon_arms(r, _object(r, s)) @ r.q]),
    "TENDONVEL": lambda r, s: np.array([tendon_arms(r, _object(r, s)) @ r.v]),
    "ACTUATORPOS": _actuator_length,
    "ACTUATORVEL": _actuator_speed,
    "ACTUATORFRC": _actuator_force,
    "JOINTACTFRC": _joint_actuator_force,
    "BALLQUAT": _ball_quaternion,
    "BALLANGVEL": _ball_velocity,
    "FRAMEPOS": _frame_position,
    "FRAMEQUAT": _frame_quaternion,
    "FRAMEXAXIS": _frame_axis(0),
    "FRAMEYAXIS": _frame_axis(1),
    "FRAMEZAXIS": _frame_axis(2),
    "FRAMELINVEL": _frame_velocity,
    "FRAMEANGVEL": _frame_turn,
    "FRAMELINACC": _frame_acceleration,
    "FRAMEANGACC": lambda r, s: _both(r, s)[0].alpha,
    "SUBTREECOM": lambda r, s: _subtree(r, s)[1],
    "SUBTREELINVEL": lambda r, s: _subtree(r, s)[2],
    "SUBTREEANGMOM": _subtree_momentum,
    "CLOCK": lambda r, s: np.array([r.time]),
    **LIMIT_READERS,
    **SIGHT_READERS,
}
OF_LAST_STEP = (
    "TOUCH",
    "ACCELEROMETER",
    "FORCE",
    "TORQUE",
    "FRAMELINACC",
    "FRAMEANGACC",
    *OF_LIMITS_OF_LAST_STEP,
)
