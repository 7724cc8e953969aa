"""The bodies of a compiled MuJoCo model as robots: one Pinocchio model for each tree.

A body with several joints becomes a chain of bodies, all but the last without mass, in MuJoCo's
order of joints; one without joints is merged into its parent. So the scene's dofs are numbered as
MuJoCo's, and its configurations are those of stiction.from_mujoco_qpos.

MuJoCo turns a hinge about the point `pos` of the body by q - ref. The joint frame here stands in
that point, turned by -ref: q means the same, and the body's own frame lies at -pos in the frame
that moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import NDArray

from .._stiction import Robot, Scene, robot_from_pinocchio
from ..mujoco_layout import from_mujoco_qpos
from .mjcf_source import Source, pose

__all__ = ["Place", "add_trees", "is_on_joint", "set_numbers"]

Floats = NDArray[np.float64]
FREE, BALL, SLIDE, HINGE = 0, 1, 2, 3
"""mjtJoint."""


@dataclass(frozen=True)
class Place:
    """Where a MuJoCo body lies: scene body (-1: the world), and its frame in that."""

    body: int
    X: pinocchio.SE3


@dataclass
class _Tree:
    """A tree under construction."""

    model: Any
    first_body: int
    X_W: pinocchio.SE3


def add_trees(source: Source, scene: Scene) -> list[Place]:
    """Adds a robot for each tree; the places of all MuJoCo bodies.

    Raises StictionError naming the joint that moves no inertia.
    """
    m = source.model
    world = Place(-1, pinocchio.SE3.Identity())
    places: list[Place] = [world] * int(m.nbody)
    tree: _Tree | None = None
    number = -1
    for b in range(1, int(m.nbody)):
        parent = places[m.body_parentid[b]]
        X = parent.X * pose(m.body_pos[b], m.body_quat[b])
        if m.body_treeid[b] < 0:
            places[b] = Place(-1, X)
            continue
        if m.body_treeid[b] != number:
            _finish(source, scene, tree)
            number, tree = int(m.body_treeid[b]), _begin(source, scene, b)
        assert tree is not None
        places[b] = _add_body(source, tree, b, parent.body, X)
    _finish(source, scene, tree)
    return places


def _begin(source: Source, scene: Scene, body: int) -> _Tree:
    model = pinocchio.Model()
    model.name = source.name("body", body)
    return _Tree(model, scene.num_bodies, pinocchio.SE3.Identity())


def _finish(source: Source, scene: Scene, tree: _Tree | None) -> None:
    if tree is None:
        return
    robot: Robot = robot_from_pinocchio(tree.model, name=tree.model.name)
    scene.add_robot(robot, tree.X_W, prefix="")


def _add_body(source: Source, tree: _Tree, b: int, parent: int, X: pinocchio.SE3) -> Place:
    """Joints, inertia and frame of a body that stands at X in the scene body `parent`."""
    m, model = source.model, tree.model
    joint = parent - tree.first_body + 1 if parent >= 0 else 0
    first, count = int(m.body_jntadr[b]), int(m.body_jntnum[b])
    name = source.name("body", b)
    for j in range(first, first + count):
        if m.jnt_type[j] == FREE:
            tree.X_W, placement = X, pinocchio.SE3.Identity()
            X = pinocchio.SE3.Identity()
        else:
            placement, X = _joint_frames(m, j, X)
        joint = model.addJoint(joint, _joint_model(m, j), placement, source.name("joint", j))
        _set_armature(m, j, model, joint)
        if j < first + count - 1:
            passed = f"{name}:{source.own_name('joint', j)}"
            model.addFrame(_frame(passed, joint, pinocchio.SE3.Identity(), body=True))
    model.addFrame(_frame(name, joint, X, body=True))
    if m.body_mass[b] > 0 or np.any(m.body_inertia[b] > 0):
        model.appendBodyToJoint(joint, _inertia(m, b), X)
    for s in np.flatnonzero(m.site_bodyid == b):
        site = X * pose(m.site_pos[s], m.site_quat[s])
        model.addFrame(_frame(_site_frame(source, int(s)), joint, site, body=False))
    return Place(tree.first_body + joint - 1, X)


def _site_frame(source: Source, s: int) -> str:
    """The site's name, if no body has it: both are frames here."""
    name = source.name("site", s)
    if name not in source.names("body"):
        return name
    source.note(f"site '{name}' has the name of a body: its frame is '{name}:site'")
    return f"{name}:site"


def _joint_frames(m: Any, j: int, X: pinocchio.SE3) -> tuple[pinocchio.SE3, pinocchio.SE3]:
    """The joint's frame where its body stands at X, and the body's frame in it."""
    position, axis = np.array(m.jnt_pos[j]), np.array(m.jnt_axis[j])
    placement = X * pinocchio.SE3(np.eye(3), position)
    if m.jnt_type[j] in (SLIDE, HINGE):
        ref = float(m.qpos0[m.jnt_qposadr[j]])
        if m.jnt_type[j] == SLIDE:
            placement = placement * pinocchio.SE3(np.eye(3), -ref * axis)
        elif ref != 0.0:
            turn = pinocchio.AngleAxis(-ref, axis).toRotationMatrix()
            placement = placement * pinocchio.SE3(turn, np.zeros(3))
    return placement, pinocchio.SE3(np.eye(3), -position)


def _joint_model(m: Any, j: int) -> Any:
    kind = int(m.jnt_type[j])
    if kind == FREE:
        return pinocchio.JointModelFreeFlyer()
    if kind == BALL:
        return pinocchio.JointModelSpherical()
    axis = np.array(m.jnt_axis[j])
    along = [k for k in range(3) if axis[k] == 1.0]
    if kind == HINGE:
        exact = (pinocchio.JointModelRX, pinocchio.JointModelRY, pinocchio.JointModelRZ)
        return exact[along[0]]() if along else pinocchio.JointModelRevoluteUnaligned(axis)
    exact = (pinocchio.JointModelPX, pinocchio.JointModelPY, pinocchio.JointModelPZ)
    return exact[along[0]]() if along else pinocchio.JointModelPrismaticUnaligned(axis)


def _set_armature(m: Any, j: int, model: Any, joint: int) -> None:
    """Before the robot is made: a joint may move nothing but its armature."""
    dofs = int(m.jnt_dofadr[j])
    start, count = int(model.idx_vs[joint]), int(model.nvs[joint])
    armature = np.array(model.armature)
    armature[start : start + count] = _armature(m)[dofs : dofs + count]
    model.armature = armature


def _armature(m: Any) -> Floats:
    """(nv,) with what actuators add to their joints [kg m^2 or kg]."""
    return _with_actuators(m, m.dof_armature, m.actuator_armature)


def _with_actuators(m: Any, own: Floats, added: Floats) -> Floats:
    """(nv,) of joints, plus gear^2 times that of actuators on a joint of one dof."""
    total = np.array(own, dtype=np.float64)
    for i in np.flatnonzero(added):
        if is_on_joint(m, int(i)):
            gear = float(m.actuator_gear[m.actuator_outadr[i], 0])
            total[m.jnt_dofadr[m.actuator_trnid[i, 0]]] += gear**2 * float(added[i])
    return total


def is_on_joint(m: Any, i: int) -> bool:
    """Whether an actuator pulls at a joint of one dof."""
    if m.actuator_trntype[i] not in (0, 1):  # mjTRN_JOINT, mjTRN_JOINTINPARENT
        return False
    return m.jnt_type[m.actuator_trnid[i, 0]] in (SLIDE, HINGE)


def _inertia(m: Any, b: int) -> pinocchio.Inertia:
    """In the body's frame."""
    placed = pose(m.body_ipos[b], m.body_iquat[b])
    about_com = placed.rotation @ np.diag(m.body_inertia[b]) @ placed.rotation.T
    symmetric = 0.5 * (about_com + about_com.T)
    return pinocchio.Inertia(float(m.body_mass[b]), placed.translation, symmetric)


def _frame(name: str, joint: int, X: pinocchio.SE3, body: bool) -> pinocchio.Frame:
    kind = pinocchio.FrameType.BODY if body else pinocchio.FrameType.OP_FRAME
    return pinocchio.Frame(name, joint, X, kind)


def set_numbers(source: Source, scene: Scene, margins: bool) -> None:
    """Gravity, the numbers of joints, and the configuration qpos0.

    margins: joints stop at the margins of their ranges.
    """
    m, p = source.model, scene.parameters
    p.gravity = np.zeros(3) if source.disabled("gravity") else np.array(m.opt.gravity)
    p.armature = _armature(m)
    if not source.disabled("damper"):
        p.damping = _with_actuators(m, m.dof_damping, m.actuator_damping)
    free = np.zeros(int(m.nv), dtype=bool)
    for j in np.flatnonzero(m.jnt_type == FREE):
        free[m.jnt_dofadr[j] : m.jnt_dofadr[j] + 6] = True
    if not source.disabled("spring"):
        _set_springs(source, scene)
    if not (source.disabled("frictionloss") or source.disabled("constraint")):
        p.dry_friction = np.where(free, 0.0, m.dof_frictionloss)
    if not (source.disabled("limit") or source.disabled("constraint")):
        for j in np.flatnonzero(m.jnt_limited):
            if m.jnt_type[j] in (SLIDE, HINGE):
                lower, upper = _limits(m, int(j)) if margins else m.jnt_range[j]
                p.lower[m.jnt_dofadr[j]], p.upper[m.jnt_dofadr[j]] = lower, upper
    _say_of_joints(source, free, margins)
    if scene.nq:
        scene.set_configuration("default", from_mujoco_qpos(scene, m.qpos0))


def _set_springs(source: Source, scene: Scene) -> None:
    m, p, kinds = source.model, scene.parameters, np.array(source.model.jnt_type)
    of_one_dof = (kinds == SLIDE) | (kinds == HINGE)
    sprung = np.array(m.jnt_stiffness) != 0
    for j in np.flatnonzero(sprung & of_one_dof):
        p.spring_stiffness[m.jnt_dofadr[j]] = m.jnt_stiffness[j]
        p.spring_rest[m.jnt_dofadr[j]] = m.qpos_spring[m.jnt_qposadr[j]]
    source.unused_of(
        "joint", np.flatnonzero(np.array(m.jnt_springyield) != 0), "springyield is not honoured"
    )


def _limits(m: Any, j: int) -> tuple[float, float]:
    """Where MuJoCo stops a joint: at the margin of its range, in the middle if they meet."""
    lower, upper = (float(x) for x in m.jnt_range[j])
    margin = min(max(float(m.jnt_margin[j]), 0.0), 0.5 * (upper - lower))
    return lower + margin, upper - margin


def _say_of_joints(source: Source, free: NDArray[np.bool_], margins: bool) -> None:
    m = source.model
    kinds, owner = np.array(m.jnt_type), np.array(m.dof_jntid)
    source.unused_of(
        "joint",
        np.unique(owner[free & (m.dof_armature > 0)]),
        "armature of a free joint moves with the body's axes, in MuJoCo with the world's",
    )
    source.unused_of(
        "joint",
        np.flatnonzero(
            np.array(m.jnt_limited, dtype=bool)
            & (np.array(m.jnt_margin) != 0)
            & (kinds != BALL)
            & (not margins or np.array(m.jnt_margin) < 0)
        ),
        "margin of its limit is not honoured: the limit acts at the range",
    )
    cut = np.array(m.jnt_actgravcomp, dtype=bool) & bool(np.any(m.body_gravcomp))
    source.unused_of(
        "joint",
        np.flatnonzero(cut),
        "actuatorgravcomp is not honoured: no limit of effort cuts what carries weights",
    )
    moved = np.array(m.body_mocapid)[m.body_rootid] >= 0
    source.unused_of(
        "body",
        np.flatnonzero(moved & (np.array(m.body_jntnum) > 0)),
        "its joints stand on a mocap body: they stay where the file puts it",
    )
