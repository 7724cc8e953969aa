"""Equalities of a compiled MuJoCo model as closures, welds and gears; what tendons would do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio

from .._stiction import Scene
from .mjcf_source import GearRow, Source, pose
from .mjcf_trees import HINGE, SLIDE, Place

__all__ = ["add_equalities", "say_of_tendons"]


def add_equalities(source: Source, scene: Scene, places: list[Place]) -> None:
    """Connect, weld and joint; each other one, and each that is switched off, is a message."""
    m = source.model
    off = source.disabled("equality") or source.disabled("constraint")
    for k in range(int(m.neq)):
        if off or not m.eq_active0[k]:
            source.unused("equality", k, "is not active at the start and left out")
            continue
        why = _add(source, scene, places, k)
        if why:
            source.unused("equality", k, f"is left out: {why}")


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
    name = source.name("equality", k)
    if weld:
        scene.add_weld(name, a, X_A, b, X_B)
    else:
        scene.add_point_closure(name, a, X_A.translation, b, X_B.translation)
    return ""


def _frames(
    source: Source, places: list[Place], k: int, weld: bool
) -> tuple[tuple[int, pinocchio.SE3], tuple[int, pinocchio.SE3]]:
    """Scene body and frame in it, of both sides."""
    m, data = source.model, np.array(source.model.eq_data[k])
    ids = int(m.eq_obj1id[k]), int(m.eq_obj2id[k])
    if source.is_one_of(m.eq_objtype[k], "mjtObj", ["mjOBJ_SITE"]):
        bodies = [places[m.site_bodyid[s]] for s in ids]
        own = [pose(m.site_pos[s], m.site_quat[s]) for s in ids]
    else:
        bodies = [places[b] for b in ids]
        # weld: the point of body 2, then pose of body 2 in body 1 there; connect: both points.
        first, second = (data[3:6], data[0:3]) if weld else (data[0:3], data[3:6])
        turn = data[6:10] if weld else np.array([1.0, 0.0, 0.0, 0.0])
        own = [pose(first, turn), pinocchio.SE3(np.eye(3), second)]
    one, two = ((body.body, body.X * X) for body, X in zip(bodies, own, strict=True))
    return one, two


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
    if any(a[2:]) and second >= 0:
        return "its polynomial is not linear"
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
    left = [(dof, c) for dof, c in coefficients.items() if c != 0.0]
    if len(left) != 2:
        return f"it couples {len(left)} joints; only two are supported"
    (dof, c), (driver, d) = left
    return _couple(source, scene, k, GearRow(dof, driver, -d / c, constant / c))


def _lock(source: Source, scene: Scene, k: int, dof: int, position: float) -> str:
    """A gear of ratio 0 on any other joint of one dof: the position is constant."""
    m = source.model
    for other in range(int(m.njnt)):
        driver = int(m.jnt_dofadr[other])
        if m.jnt_type[other] in (SLIDE, HINGE) and driver != dof:
            return _couple(source, scene, k, GearRow(dof, driver, 0.0, position))
    return "to lock a joint takes a second joint of one dof"


def say_of_tendons(source: Source) -> None:
    """Tendons that do more than carry an actuator."""
    m = source.model
    for t in range(int(m.ntendon)):
        does = _what_it_does(m, t)
        if does:
            source.unused("tendon", t, f"{', '.join(does)}: not honoured")


def _what_it_does(m: Any, t: int) -> list[str]:
    found = []
    for word in ("stiffness", "damping", "frictionloss", "armature", "springyield"):
        if float(getattr(m, f"tendon_{word}")[t]) != 0.0:
            found.append(word)
    for word in ("stiffness", "damping"):
        if np.any(getattr(m, f"tendon_{word}poly")[t] != 0.0):
            found.append(f"{word} of higher order")
    if m.tendon_limited[t]:
        found.append("range")
    if m.tendon_actfrclimited[t]:
        found.append("actuatorfrcrange")
    return found
