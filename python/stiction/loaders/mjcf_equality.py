"""Equalities of a compiled MuJoCo model as closures, welds and gears; soft welds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import NDArray

from .._stiction import Scene
from .mjcf_couplings import SoftCoupling, soft_coupling
from .mjcf_mocap import carrier, within
from .mjcf_source import GearRow, Source, pose
from .mjcf_trees import HINGE, SLIDE, Place

__all__ = [
    "SoftEqualities",
    "SoftWeld",
    "add_equalities",
    "equality_frames",
    "equality_sides",
]

Floats = NDArray[np.float64]
LARGEST, GRAVITY, ARM = 20.0, 9.81, 1.0
"""A weld to a mocap body pulls with so many times the weight of the tree that it moves, standard
gravity [m/s^2], and turns with that force on an arm of so many metres, at most."""


@dataclass(frozen=True)
class SoftWeld:
    """A body held by MuJoCo's law to a mocap body, with a bounded force, or to the world.

    Attributes:
        mocap: MuJoCo's body, -1: the world; X_A the frame in it.
        pulls: MuJoCo's body; body: of the scene; X_B the frame in it that is pulled to X_A.
        turn_scale: of the rows that turn: MuJoCo's are halves of angles, times its torquescale.
        inverse_weight: (6,) [1/kg, 1/(kg m^2)].
        most: largest force and largest of the other three, in the units of the rows.
    """

    mocap: int
    X_A: pinocchio.SE3
    pulls: int
    body: int
    X_B: pinocchio.SE3
    turn_scale: float
    inverse_weight: Floats
    most: tuple[float, float]
    solref: Floats
    solimp: Floats


@dataclass(frozen=True)
class SoftEqualities:
    """Those that are no part of a scene."""

    welds: list[SoftWeld]
    couplings: list[SoftCoupling]


def add_equalities(
    source: Source, scene: Scene, places: list[Place], soft: bool = False
) -> SoftEqualities:
    """Connect, weld and joint; each other one, and each that is switched off, is a message.

    Welds to mocap bodies, with `soft` those to the world, and couplings of joints that are no gears
    are no part of the scene and are returned; what else is rigid is with `soft` a message too.
    """
    m, rigid = source.model, []
    found = SoftEqualities([], [])
    off = source.disabled("equality") or source.disabled("constraint")
    for k in range(int(m.neq)):
        if off or not m.eq_active0[k]:
            source.unused("equality", k, "is not active at the start and left out")
            continue
        held = _soft_weld(source, places, k, soft)
        if held is not None:
            found.welds.append(held)
            continue
        why = _add(source, scene, places, k)
        coupling = soft_coupling(source, k) if why else None
        if coupling is not None:
            found.couplings.append(coupling)
        elif why:
            source.unused("equality", k, f"is left out: {why}")
        else:
            rigid.append(k)
    if soft:
        source.unused_of("equality", rigid, "is rigid: its softness is not honoured")
    return found


def _soft_weld(source: Source, places: list[Place], k: int, soft: bool) -> SoftWeld | None:
    """None: it is another equality, or its other side does not move, or is to be rigid."""
    m = source.model
    if not source.is_one_of(m.eq_type[k], "mjtEq", ["mjEQ_WELD"]):
        return None
    bodies = equality_sides(source, k)
    frames = equality_frames(source, k, weld=True)
    carried = [carrier(m, body) for body in bodies]
    first = [side for side in (0, 1) if carried[side] >= 0]
    if soft and not first:
        still = (side for side in (0, 1) if _is_still(m, places, bodies[side]))
        first = list(still)
    if not first or places[bodies[1 - first[0]]].body < 0:
        return None
    a, b = first[0], 1 - first[0]
    place, follows = places[bodies[b]], carried[a] >= 0
    scale = 0.5 * float(m.eq_data[k, 10])
    weight = GRAVITY * float(m.body_subtreemass[m.body_rootid[bodies[b]]])
    largest = LARGEST * weight if follows else np.inf
    translation, turn = (float(x) for x in m.body_invweight0[bodies[b]])
    return SoftWeld(
        pulls=bodies[b],
        mocap=carried[a] if follows else -1,
        X_A=within(m, carried[a], bodies[a]) * frames[a]
        if follows
        else places[bodies[a]].X * frames[a],
        body=place.body,
        X_B=place.X * frames[b],
        turn_scale=scale,
        inverse_weight=np.repeat([translation, turn], 3),
        most=(largest, largest * ARM / scale if scale > 0.0 else np.inf),
        solref=np.array(m.eq_solref[k]),
        solimp=np.array(m.eq_solimp[k]),
    )


def _is_still(m: Any, places: list[Place], body: int) -> bool:
    """Part of the world, and not of a mocap body."""
    return places[body].body < 0 and carrier(m, body) < 0


def _add(source: Source, scene: Scene, places: list[Place], k: int) -> str:
    """Why it cannot be had; "" if it was added."""
    m = source.model
    if source.is_one_of(m.eq_type[k], "mjtEq", ["mjEQ_JOINT"]):
        return _add_gear(source, scene, k)
    if source.is_one_of(m.eq_type[k], "mjtEq", ["mjEQ_TENDON"]):
        return _add_coupling(source, scene, k)
    weld = source.is_one_of(m.eq_type[k], "mjtEq", ["mjEQ_WELD"])
    if not weld and not source.is_one_of(m.eq_type[k], "mjtEq", ["mjEQ_CONNECT"]):
        return "only connect, weld, joint and tendon are supported"
    (a, X_A), (b, X_B) = _frames(source, places, k, weld)
    if a == b:
        return "both sides belong to the same body"
    if any(carrier(m, body) >= 0 for body in equality_sides(source, k)):
        source.unused("equality", k, "does not follow its mocap body when that is placed")
    name = source.name("equality", k)
    if weld and m.eq_data[k, 10] != 0.0:  # torquescale: without it the sides may turn
        scene.add_weld(name, a, X_A, b, X_B)
    else:
        scene.add_point_closure(name, a, X_A.translation, b, X_B.translation)
    return ""


def _frames(
    source: Source, places: list[Place], k: int, weld: bool
) -> tuple[tuple[int, pinocchio.SE3], tuple[int, pinocchio.SE3]]:
    """Scene body and frame in it, of both sides."""
    bodies = [places[b] for b in equality_sides(source, k)]
    own = equality_frames(source, k, weld)
    one, two = ((body.body, body.X * X) for body, X in zip(bodies, own, strict=True))
    return one, two


def equality_sides(source: Source, k: int) -> list[int]:
    """MuJoCo's bodies of a connect or weld."""
    m, ids = source.model, [int(source.model.eq_obj1id[k]), int(source.model.eq_obj2id[k])]
    if source.is_one_of(m.eq_objtype[k], "mjtObj", ["mjOBJ_SITE"]):
        return [int(m.site_bodyid[s]) for s in ids]
    return ids


def equality_frames(source: Source, k: int, weld: bool) -> list[pinocchio.SE3]:
    """In MuJoCo's bodies, of both sides."""
    m, data = source.model, np.array(source.model.eq_data[k])
    if source.is_one_of(m.eq_objtype[k], "mjtObj", ["mjOBJ_SITE"]):
        sites = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
        return [pose(m.site_pos[s], m.site_quat[s]) for s in sites]
    # weld: the point of body 2, then pose of body 2 in body 1 there; connect: both points.
    first, second = (data[3:6], data[0:3]) if weld else (data[0:3], data[3:6])
    turn = data[6:10] if weld else np.array([1.0, 0.0, 0.0, 0.0])
    return [pose(first, turn), pinocchio.SE3(np.eye(3), second)]


def _add_gear(source: Source, scene: Scene, k: int) -> str:
    """q1 - ref1 = a0 + a1 (q2 - ref2)."""
    m, a = source.model, [float(x) for x in source.model.eq_data[k, :5]]
    first, second = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
    if any(a[2:]) and second >= 0:
        return "its polynomial is not linear"
    ref = float(m.qpos0[m.jnt_qposadr[first]])
    dof = int(m.jnt_dofadr[first])
    if second < 0:
        return _lock(source, scene, k, dof, ref + a[0])
    offset = ref + a[0] - a[1] * float(m.qpos0[m.jnt_qposadr[second]])
    return _couple(source, scene, k, GearRow(dof, int(m.jnt_dofadr[second]), a[1], offset))


def _couple(source: Source, scene: Scene, k: int, row: GearRow) -> str:
    scene.add_gear(source.name("equality", k), row.dof, row.driver, row.ratio, row.offset)
    source.gears.append(row)
    return ""


def _add_coupling(source: Source, scene: Scene, k: int) -> str:
    """l1 - l1_0 = a0 + a1 (l2 - l2_0), l lengths of fixed tendons, if two joints are left in it."""
    m, a = source.model, [float(x) for x in source.model.eq_data[k, :5]]
    first, second = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
    parts, constant = [(first, 1.0)], a[0]
    if second >= 0:
        parts.append((second, -a[1]))
    coefficients: dict[int, float] = {}
    for tendon, factor in parts:
        if not source.is_one_of(m.tendon_type[tendon], "mjtTendon", ["mjTENDON_FIXED"]):
            return "a spatial tendon is not supported"
        constant += factor * float(m.tendon_length0[tendon])
        for w in range(int(m.tendon_adr[tendon]), int(m.tendon_adr[tendon] + m.tendon_num[tendon])):
            dof = int(m.jnt_dofadr[m.wrap_objid[w]])
            coefficients[dof] = coefficients.get(dof, 0.0) + factor * float(m.wrap_prm[w])
    if any(a[2:]) and second >= 0:
        return "its polynomial is not linear"
    left = [(dof, c) for dof, c in coefficients.items() if c != 0.0]
    if len(left) != 2:
        return f"it couples {len(left)} joints; only two are supported"
    (dof, c), (driver, d) = left
    return _couple(source, scene, k, GearRow(dof, driver, -d / c, constant / c))


def _lock(source: Source, scene: Scene, k: int, dof: int, position: float) -> str:
    """A gear of ratio 0 on any other joint of one dof, of its own tree if there is one: the
    position is constant."""
    m = source.model
    root = m.body_rootid[m.dof_bodyid[dof]]
    of_others = m.body_rootid[m.jnt_bodyid] != root
    for other in np.argsort(of_others, kind="stable"):
        driver = int(m.jnt_dofadr[other])
        if m.jnt_type[other] in (SLIDE, HINGE) and driver != dof:
            return _couple(source, scene, k, GearRow(dof, driver, 0.0, position))
    return "to lock a joint takes a second joint of one dof"
