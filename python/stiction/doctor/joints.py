"""Limits of joints, and where the model starts among them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .case import Case
from .finding import Finding, listed
from .urdf_lines import Limit, UrdfLines

__all__ = ["check_joints", "check_urdf_limits"]

OUTSIDE = 1e-6
"""[rad or m]"""
UNLIMITED = ("revolute", "prismatic")


def check_joints(case: Case) -> Iterator[Finding]:
    """Without limits, locked, started outside their limits; actuators without a largest force."""
    yield from _without_limits(case)
    yield from _starts_outside(case)
    yield from _without_effort(case)


def _without_limits(case: Case) -> Iterator[Finding]:
    """Not of URDF joints of type continuous, whose type says it."""
    p, free = case.scene.parameters, []
    for joint in case.scene.joints:
        i = joint.v_index
        if joint.nv != 1 or joint.type not in UNLIMITED:
            continue
        lower, upper = float(p.lower[i]), float(p.upper[i])
        if np.isinf(lower) and np.isinf(upper):
            free.append(joint.name)
        elif lower == upper and case.urdf is None:
            file, line = case.place("joint", joint.name)
            text = f"joint '{joint.name}': its limits are both {lower:g}: it cannot move"
            fix = "make it fixed, or give it a range"
            yield Finding("warning", "limits", text, fix, file, line, lower)
    if free and case.mjcf is not None:
        file, line = case.place("joint", free[0])
        text = f"{len(free)} joints have no limits: {listed(free)}"
        if len(free) == 1:
            text = f"joint '{free[0]}' has no limits"
        fix = 'range="..." where the machine has stops'
        yield Finding("note", "limits", text, fix, file, line, float(len(free)))


def _starts_outside(case: Case) -> Iterator[Finding]:
    scene, p = case.scene, case.scene.parameters
    starts = {"default": scene.default_q} | dict(scene.configurations)
    said: set[tuple[str, float]] = set()
    for name, q in starts.items():
        positions = np.asarray(scene.dof_positions(q))
        for joint in scene.joints:
            i = joint.v_index
            if joint.nv != 1:
                continue
            at, lower, upper = float(positions[i]), float(p.lower[i]), float(p.upper[i])
            if lower - OUTSIDE <= at <= upper + OUTSIDE or (joint.name, at) in said:
                continue
            said.add((joint.name, at))
            file, line = case.place("joint", joint.name)
            unit = "m" if joint.type == "prismatic" else "rad"
            text = (
                f"joint '{joint.name}' starts at {at:g} {unit} in '{name}', outside its limits "
                f"[{lower:g}, {upper:g}]"
            )
            fix = f"start at {min(max(at, lower), upper):g} {unit}: {_how_to_start(case)}"
            yield Finding("warning", "start pose", text, fix, file, line, at)


def _how_to_start(case: Case) -> str:
    if case.mjcf is not None:
        return 'a <key> of <keyframe> that is within, or ref="..."'
    if case.urdf is not None:
        return "a <group_state> in the SRDF and --configuration, or state.q"
    return "scene.set_configuration(name, q)"


def _without_effort(case: Case) -> Iterator[Finding]:
    """Servos of MJCF without a largest force; a URDF's are said by its loader."""
    if case.mjcf is None:
        return
    p = case.scene.parameters
    names = [
        joint.name
        for joint in case.scene.joints
        if joint.nv == 1 and p.kp[joint.v_index] > 0 and np.isinf(p.effort_limit[joint.v_index])
    ]
    driven = set(_servo_joints(case)) & set(names)
    if driven:
        first = [name for name in names if name in driven]
        file, line = case.place("joint", first[0])
        text = f"{len(first)} position servos have no largest force: {listed(first)}"
        fix = 'forcerange="..." on the actuator, or actuatorfrcrange on the joint'
        yield Finding("note", "effort", text, fix, file, line, float(len(first)))


def _servo_joints(case: Case) -> list[str]:
    """Joints that a servo of the file drives."""
    assert case.mjcf is not None
    source = case.mjcf._source
    m, joint_kind = source.model, int(source.mujoco.mjtTrn.mjTRN_JOINT)
    return [
        source.name("joint", m.actuator_trnid[k, 0])
        for k in range(int(m.nactuator))
        if int(m.actuator_trntype[k]) == joint_kind and m.actuator_biasprm[k, 1] != 0.0
    ]


def check_urdf_limits(file: str, urdf: UrdfLines) -> Iterator[Finding]:
    """All limits of a text, also of one that does not load."""
    for limit in urdf.limits:
        lower, upper = _number(limit, "lower"), _number(limit, "upper")
        if limit.type in UNLIMITED and lower > upper:
            text = f"joint '{limit.joint}': limit lower={lower:g} is above upper={upper:g}"
            yield Finding("error", "limits", text, "swap the two", file, limit.line, lower - upper)


def _number(limit: Limit, name: str) -> float:
    try:
        return float(limit.attributes.get(name, "0"))
    except ValueError:
        return 0.0
