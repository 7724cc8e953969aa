"""Scenes from MJCF files, through MuJoCo's own compiler."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .._stiction import LoadMessage, Scene, StictionError
from ..loading import _warn
from ..mujoco_layout import from_mujoco_qpos, from_mujoco_qvel
from .mjcf_actuators import Actuation, read_actuators
from .mjcf_equality import add_equalities
from .mjcf_geometry import add_geometries
from .mjcf_keyframes import MjcfKeyframe, name_of_configuration
from .mjcf_model import Mjcf, beyond_scene
from .mjcf_overlaps import treat_overlapping_pairs
from .mjcf_part import Part
from .mjcf_parts import MjcfPart, compile_parts
from .mjcf_passive import Passive
from .mjcf_sensors import Sensor, read_sensors
from .mjcf_source import Source, compile_mjcf
from .mjcf_trees import add_trees, set_numbers

__all__ = ["Mjcf", "MjcfKeyframe", "MjcfPart", "load_mjcf", "read_mjcf"]

Floats = NDArray[np.float64]
Given = str | os.PathLike[str] | MjcfPart | Sequence[MjcfPart | str | os.PathLike[str]]
FARTHEST = 1e10
"""As large as MuJoCo lets a position become before it calls the simulation unstable [m or rad]."""

SOFTNESS = ("rigid", "mujoco")
RIGID = "contacts, limits and equalities are rigid: solref and solimp are not read"
SOFT = (
    "limits and dry friction are rigid: their solref and solimp are not read; contacts that stick "
    "do not creep"
)


def load_mjcf(
    path_or_xml: Given,
    strict: bool = False,
    keep_overlapping_pairs: bool = True,
    margins: bool = True,
    softness: str = "rigid",
    ground: bool = True,
) -> Mjcf:
    """Reads an MJCF file with MuJoCo's compiler (`pip install "mujoco-core>=4,<5"`).

        ant = stiction.load_mjcf("ant.xml")
        sim = stiction.Simulator(ant.scene, dt=ant.timestep)
        sim.step(state, ant.control([0.1] * 8))

    Bodies, joints, inertias, collision geometry, equalities, actuators and keyframes become a
    scene. What is not honoured is listed in `messages`, and counted in one LoadWarning.

    Args:
        path_or_xml: a path, or the text of a file (it starts with "<"); a list of them and of
            MjcfPart: all as one file, attached to each other by MuJoCo. Of options that several
            give the smallest timestep holds; other options that they give must agree, and so must
            flags of what acts.
        strict: what is not honoured is an error.
        keep_overlapping_pairs: False: pairs of geoms that overlap at qpos0 or in a keyframe do not
            collide, and are listed. Parts of robots, made to be attached, often have such pairs;
            they lock the joints between them, where MuJoCo's soft contacts push them apart. If they
            are kept, as in MuJoCo, they are listed too. Pairs of a robot and the world, as feet in
            the floor, always collide, or it would fall through; begin higher.
        margins: bodies rest at the margins of their geoms, and joints stop at those of their
            ranges, as in MuJoCo; False: at the surfaces and ranges, and each is listed.
        softness: "rigid": contacts, limits and equalities do not yield; "mujoco": pairs of geoms
            have a stiffness and a damping, so that they lie as deep in each other as MuJoCo's, and
            in `simulation()` welds to the world and to mocap bodies follow MuJoCo's law (those
            to the world are then no part of the scene). Limits, friction and other equalities
            stay rigid.
        ground: False: without the planes and height fields of its world, for a scene that has a
            ground of its own, see Mjcf.add_to.

    Raises:
        ValueError: softness has another value.
        StictionError: MuJoCo is not installed; the file cannot be compiled, or, if strict, holds
            what is not honoured; the message names the file.
    """
    if softness not in SOFTNESS:
        raise ValueError(f"softness = {softness!r}: must be one of {', '.join(SOFTNESS)}")
    soft = softness == "mujoco"
    return read_mjcf(
        path_or_xml, strict, keep_overlapping_pairs, margins, soft, stacklevel=4, ground=ground
    )


def read_mjcf(
    path_or_xml: Given,
    strict: bool,
    keep_overlaps: bool,
    margins: bool,
    soft: bool,
    stacklevel: int,
    scene_alone: bool = False,
    ground: bool = True,
) -> Mjcf:
    """load_mjcf; the warning is at `stacklevel`. With `scene_alone` what only simulation() knows
    is not honoured."""
    given = [path_or_xml] if isinstance(path_or_xml, MjcfPart) else path_or_xml
    if isinstance(given, Sequence) and not isinstance(given, str | bytes):
        source = compile_parts(given, soft)
    else:
        source = compile_mjcf(given)
    scene = Scene(name=source.title)
    try:
        _check_lengths(source)
        places = add_trees(source, scene)
        geometries = add_geometries(source, scene, places, margins, soft, ground)
        equalities = add_equalities(source, scene, places, soft)
        # Last: once its parameters were looked at, a scene copies them with each addition.
        set_numbers(source, scene, margins)
        actuation = read_actuators(source, scene, places)
        scene.parameters.validate()
        actuation.validate()
        keyframes = _keyframes(source, scene)
        treat_overlapping_pairs(source, scene, keep_overlaps)
    except (ValueError, RuntimeError) as error:  # of stiction, of Pinocchio
        raise StictionError(f"{source.file}: {source.by_joint(str(error))}") from None
    passive = Passive(source, scene, places, equalities)
    sensors = read_sensors(source, actuation)
    _say_of_rest(source, soft)
    _say_of_simulation(source, passive, sensors, actuation, scene_alone)
    for message in source.messages:
        scene._add_message(message)
    unused = [m for m in source.messages if m.kind == "unused"]
    if strict and unused:
        more = f" (and {len(unused) - 1} more)" if len(unused) > 1 else ""
        raise StictionError(f"{unused[0]}{more}")
    _warn(source.file, [m for m in source.messages if m.kind != "warning"], stacklevel)
    timestep = float(source.model.opt.timestep)
    messages = tuple(source.messages)
    return Mjcf(
        scene,
        timestep,
        actuation.actuators,
        keyframes,
        messages,
        actuation,
        source,
        places,
        geometries,
        passive,
        sensors,
        Part(scene.nq, scene.nv),
    )


def _check_lengths(source: Source) -> None:
    """Raises ValueError naming a body or geom that lies farther away than can be computed with."""
    m = source.model
    for kind, field_name, lengths in (
        ("body", "pos", m.body_pos),
        ("body", "inertial pos", m.body_ipos),
        ("geom", "pos", m.geom_pos),
        ("joint", "pos", m.jnt_pos),
        ("joint", "ref", m.qpos0[m.jnt_qposadr]),
    ):
        far = ~(np.abs(np.asarray(lengths)) <= FARTHEST)
        bad = np.flatnonzero(far.any(axis=1) if far.ndim > 1 else far)
        if len(bad):
            raise ValueError(
                f"{kind} '{source.name(kind, bad[0])}': {field_name} must be at most {FARTHEST:.0e}"
            )


def _keyframes(source: Source, scene: Scene) -> dict[str, MjcfKeyframe]:
    m = source.model
    found = {}
    for k in range(int(m.nkey)):
        name = source.name("key", k)
        q = _with_unit_quaternions(scene, from_mujoco_qpos(scene, m.key_qpos[k]))
        v = from_mujoco_qvel(scene, q, m.key_qvel[k])
        ctrl, activation = np.array(m.key_ctrl[k]), np.array(m.key_act[k])
        time, mocap = float(m.key_time[k]), _mocap_poses(source, k)
        found[name] = MjcfKeyframe(q, v, time, ctrl, activation, mocap)
        if scene.nq:
            scene.set_configuration(name_of_configuration(name), q, v)
    return found


def _mocap_poses(source: Source, key: int) -> dict[str, tuple[Floats, Floats]]:
    m, poses = source.model, {}
    for b in np.flatnonzero(m.body_mocapid >= 0):
        i = int(m.body_mocapid[b])
        position = np.array(m.key_mpos[key]).reshape(-1, 3)[i]
        quaternion = np.array(m.key_mquat[key]).reshape(-1, 4)[i]
        poses[source.name("body", b)] = position, quaternion
    return poses


def _with_unit_quaternions(scene: Scene, q: Floats) -> Floats:
    for joint in scene.joints:
        if joint.type in ("free_flyer", "spherical"):
            part = q[joint.q_index + joint.nq - 4 : joint.q_index + joint.nq]
            length = np.linalg.norm(part)
            part[:] = part / length if length > 0 else (0.0, 0.0, 0.0, 1.0)
    return q


def _say_of_rest(source: Source, soft: bool) -> None:
    """What no other part of the loader looks at."""
    m, opt = source.model, source.model.opt
    if int(opt.enableflags) & int(source.mujoco.mjtEnableBit.mjENBL_OVERRIDE):
        source.unused_option("the override of contact parameters is not honoured")
    for kind, count in (("flex", m.nflex), ("plugin", m.nplugin)):
        source.unused_of(kind, range(int(count)), "is not supported and left out")
    source.note(SOFT if soft else RIGID)
    integrator = int(opt.integrator)
    if integrator == int(source.mujoco.mjtIntegrator.mjINT_RK4):
        source.note("the integrator RK4 is not read: the Simulator's own is semi-implicit")


def _say_of_simulation(
    source: Source,
    passive: Passive,
    sensors: dict[str, Sensor],
    actuation: Actuation,
    scene_alone: bool,
) -> None:
    found = beyond_scene(passive, actuation)
    where = "in load_mjcf(...).simulation(), not in a Simulator of the scene"
    if found and scene_alone:
        text = f"{', '.join(found)}: {where}"
        source.messages.append(LoadMessage("unused", text, source.file, 0))
        found = []
    m = source.model
    if np.any(m.body_mocapid >= 0):
        found.append("poses of mocap bodies")
    if sensors:
        found.append("sensors")
    if found:
        source.note(f"{', '.join(found)}: {where}")
