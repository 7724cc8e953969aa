"""What an actuator pulls: its force as torques of dofs, its length as a sum of positions; or a body
at a site."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .mjcf_source import Source, pose
from .mjcf_trees import BALL, FREE, HINGE, SLIDE, Place

__all__ = ["Transmission", "on_one_dof", "transmission"]

Floats = NDArray[np.float64]
JOINT, JOINT_IN_PARENT, TENDON, SITE = 0, 1, 3, 4
"""mjtTrn."""
NAMES = ("joint", "joint in parent", "slidercrank", "tendon", "site", "body", "so3")


@dataclass(frozen=True)
class Transmission:
    """Constant moment arms.

    Attributes:
        what: names of the joints, or of the site.
        gear: (nv,) torque of each dof per unit of force, in stiction's coordinates.
        length: at zero positions; the rest of it is gear . positions if all dofs are scalar.
        scalar: whether they are.
        site: number of a site whose body its force pushes, in the axes of the site; -1: none.
        push: (6,) force and torque there per unit of force.
    """

    what: tuple[str, ...]
    gear: Floats
    length: float
    scalar: bool
    site: int = -1
    push: tuple[float, ...] = ()


def transmission(source: Source, places: list[Place], i: int) -> Transmission | str:
    """Of actuator i, or why it is not one with constant moment arms."""
    m = source.model
    kind, target = int(m.actuator_trntype[i]), int(m.actuator_trnid[i, 0])
    gear = np.array(m.actuator_gear[m.actuator_outadr[i]])
    found = None
    if kind in (JOINT, JOINT_IN_PARENT):
        found = _of_joint(source, target, gear, kind == JOINT_IN_PARENT)
    elif kind == TENDON and source.is_one_of(
        m.tendon_type[target], "mjtTendon", ["mjTENDON_FIXED"]
    ):
        found = _of_tendon(source, target, float(gear[0]))
    elif kind == SITE and int(m.actuator_trnid[i, 1]) < 0:
        found = _of_site(source, places, target, gear)
    if kind in (JOINT, JOINT_IN_PARENT) and m.jnt_type[target] == FREE:
        return "its joint is free: a motor at a site of the body does the same"
    name = NAMES[kind] if 0 <= kind < len(NAMES) else "unknown"
    return found or f"its transmission ({name}) is not supported"


def _of_joint(source: Source, joint: int, gear: Floats, in_parent: bool) -> Transmission | None:
    m, torque = source.model, np.zeros(int(source.model.nv))
    dof, kind, name = int(m.jnt_dofadr[joint]), int(m.jnt_type[joint]), source.name("joint", joint)
    if kind in (SLIDE, HINGE):
        torque[dof] = gear[0]
        return Transmission((name,), torque, 0.0, True)
    if kind == BALL and not in_parent:
        torque[dof : dof + 3] = gear[:3]
        return Transmission((name,), torque, 0.0, False)
    return None  # its axes turn against the dofs


def _of_tendon(source: Source, tendon: int, gear: float) -> Transmission:
    m, torque, names = source.model, np.zeros(int(source.model.nv)), []
    first, count = int(m.tendon_adr[tendon]), int(m.tendon_num[tendon])
    for w in range(first, first + count):
        joint = int(m.wrap_objid[w])
        torque[m.jnt_dofadr[joint]] += gear * float(m.wrap_prm[w])
        names.append(source.name("joint", joint))
    return Transmission(tuple(names), torque, 0.0, True)


def _of_site(source: Source, places: list[Place], site: int, gear: Floats) -> Transmission | None:
    """Of a body on a free joint, whose dofs are force and moment about its origin, in its axes; of
    any other body no dofs."""
    m, torque = source.model, np.zeros(int(source.model.nv))
    body, name = int(m.site_bodyid[site]), source.name("site", site)
    root = int(m.body_weldid[body])
    if places[body].body < 0:
        return None
    if m.body_jntnum[root] != 1 or m.jnt_type[m.body_jntadr[root]] != FREE:
        return Transmission((name,), torque, 0.0, False, site, tuple(float(g) for g in gear))
    X = places[body].X * pose(m.site_pos[site], m.site_quat[site])
    force, moment = X.rotation @ gear[:3], X.rotation @ gear[3:]
    dof = int(m.jnt_dofadr[m.body_jntadr[root]])
    torque[dof : dof + 3] = force
    torque[dof + 3 : dof + 6] = moment + np.cross(X.translation, force)
    return Transmission((name,), torque, 0.0, False)


def on_one_dof(source: Source, given: Transmission) -> Transmission | None:
    """The same work done on its first dof, if gears couple all its dofs; None if they do not.

    q_d = r_d q + o_d makes the force F of a length gear . q + ... one of sum(gear_d r_d) F on q.
    """
    dofs = [int(d) for d in np.flatnonzero(given.gear)]
    if not given.scalar or not dofs:
        return None
    known = {dofs[0]: (1.0, 0.0)}
    grown = True
    while grown:
        grown = False
        for gear in source.gears:
            if gear.driver in known and gear.dof not in known:
                ratio, offset = known[gear.driver]
                known[gear.dof] = (gear.ratio * ratio, gear.ratio * offset + gear.offset)
                grown = True
            elif gear.dof in known and gear.driver not in known and gear.ratio != 0.0:
                ratio, offset = known[gear.dof]
                known[gear.driver] = (ratio / gear.ratio, (offset - gear.offset) / gear.ratio)
                grown = True
    if any(dof not in known for dof in dofs):
        return None
    torque = np.zeros_like(given.gear)
    torque[dofs[0]] = sum(given.gear[dof] * known[dof][0] for dof in dofs)
    length = given.length + sum(given.gear[dof] * known[dof][1] for dof in dofs)
    return replace(given, gear=torque, length=float(length))
