"""Random articulated trees, from a URDF string or a Pinocchio model, with the model beside them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import coal
import numpy as np
import pinocchio
from numpy.typing import NDArray
from stiction import Material, Scene, load_urdf_string, robot_from_pinocchio

Floats = NDArray[np.float64]


@dataclass
class RandomRobot:
    """A robot of a scene and Pinocchio's own reading of the same description.

    Attributes:
        model: with the base where the scene has it: the oracle for energies.
        q_offset, v_offset: of the robot in the scene's q and v.
        first_joint: dofs of its base, 0 or 6.
        joint_inertia: torque per acceleration of each joint's dof, the others free [kg m^2 or kg].
    """

    model: Any
    q_offset: int
    v_offset: int
    first_joint: int
    joint_inertia: Floats
    features: dict[str, str | int | float | bool | list[str]] = field(default_factory=dict)

    @property
    def nv(self) -> int:
        return int(self.model.nv)


def random_robot(
    rng: np.random.Generator,
    scene: Scene,
    X: Floats,
    size: float,
    dt: float,
    hard: bool,
    material: Material,
) -> RandomRobot:
    """Adds a tree of 2 to 8 links to the scene, with gains, limits and now and then a gear."""
    free = bool(rng.random() < 0.5)
    from_urdf = bool(rng.random() < 0.6)
    masses = 10 ** rng.uniform(-2, 2, size=int(rng.integers(2, 9)))
    if not hard:
        masses = 10 ** rng.uniform(-0.5, 0.5, size=len(masses))
    q_offset, v_offset = scene.nq, scene.nv
    if from_urdf:
        xml = _urdf(rng, masses, size, dt, hard)
        robot = load_urdf_string(xml, "random.urdf", free_flyer=free, material=material)
        root = pinocchio.JointModelFreeFlyer() if free else None
        model = pinocchio.buildModelFromXML(xml, root) if root else pinocchio.buildModelFromXML(xml)
    else:
        model, shapes = _tree(rng, masses, size, free)
        robot = robot_from_pinocchio(model.copy(), shapes, material, "random")
    scene.add_robot(robot, X, "robot")
    if not free:
        for joint in range(1, model.njoints):
            if model.parents[joint] == 0:
                model.jointPlacements[joint] = pinocchio.SE3(X) * model.jointPlacements[joint]
    first = 6 if free else 0
    out = RandomRobot(model, q_offset, v_offset, first, _joint_inertia(model)[first:])
    out.features = {"robot": "urdf" if from_urdf else "pinocchio", "free_base": free}
    _set_gains(rng, scene, out, hard)
    return out


def _joint_inertia(model: Any) -> Floats:
    """1 / diag(M^-1) at the neutral configuration."""
    M = pinocchio.crba(model, model.createData(), pinocchio.neutral(model))
    M = np.triu(M) + np.triu(M, 1).T
    return np.asarray(1.0 / np.diag(np.linalg.inv(M)))


def _set_gains(rng: np.random.Generator, scene: Scene, robot: RandomRobot, hard: bool) -> None:
    own = range(robot.v_offset, robot.v_offset + robot.nv)
    joints = [joint for joint in scene.joints if joint.nv == 1 and joint.v_index in own]
    dofs = [joint.v_index for joint in joints]
    for dof in dofs:
        if rng.random() < 0.6:
            top = 6.0 if hard else 2.0
            scene.set_gains(dof, float(10 ** rng.uniform(-2, top)), 10 ** rng.uniform(-2, top - 2))
    drivers = [joint.v_index for joint in joints if joint.type != "continuous"]
    followers = [dof for dof in dofs if dof not in drivers[:1]]
    if drivers and followers and rng.random() < 0.3:
        ratio = float(rng.choice([-1, 1]) * 10 ** rng.uniform(-0.5, 0.5))
        # Errors of a gear that is open at the start are position errors like any other.
        offset = float(rng.normal()) if hard and rng.random() < 0.3 else 0.0
        scene.add_gear("gear", followers[0], drivers[0], ratio, offset)
        robot.features["gear"] = "open" if offset else "closed"


def _urdf(rng: np.random.Generator, masses: Floats, size: float, dt: float, hard: bool) -> str:
    parts = ['<robot name="random">']
    for i, mass in enumerate(masses):
        parts.append(_link(rng, i, float(mass), size))
    for i in range(1, len(masses)):
        parts.append(_joint(rng, i, float(masses[i]), size, dt, hard))
    return "".join([*parts, "</robot>"])


def _link(rng: np.random.Generator, index: int, mass: float, size: float) -> str:
    a, b, c = (float(x) for x in size * rng.uniform(0.1, 0.3, size=3))
    shape = str(
        rng.choice(
            [
                f'<sphere radius="{a}"/>',
                f'<box size="{2 * a} {2 * b} {2 * c}"/>',
                f'<cylinder radius="{a}" length="{2 * b}"/>',
            ]
        )
    )
    inertia = 0.4 * mass * a * a
    com = " ".join(str(float(x)) for x in rng.choice([0.0, 1.0]) * rng.normal(size=3) * 0.3 * a)
    return (
        f'<link name="l{index}"><inertial><origin xyz="{com}"/><mass value="{mass}"/>'
        f'<inertia ixx="{inertia}" iyy="{inertia}" izz="{inertia}" ixy="0" ixz="0" iyz="0"/>'
        f"</inertial><collision><geometry>{shape}</geometry></collision></link>"
    )


def _joint(
    rng: np.random.Generator, index: int, mass: float, size: float, dt: float, hard: bool
) -> str:
    kind = str(rng.choice(["revolute", "continuous", "prismatic"]))
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    offset = rng.normal(size=3)
    offset *= 0.8 * size / np.linalg.norm(offset)
    limit = ""
    if kind != "continuous":
        reach = size if kind == "prismatic" else 1.0
        lower, upper = -0.5 * reach, 0.5 * reach
        if hard:  # locked, resting on a limit, or beyond it from the start
            choices = ((lower, upper), (0.0, 0.0), (0.0, upper), (0.1 * reach, upper))
            lower, upper = choices[int(rng.choice(4, p=[0.4, 0.3, 0.2, 0.1]))]
        # A saturated actuator turns its link by 0.1 rad or m of its size in one step, at most.
        inertia = 0.4 * mass * (0.1 * size) ** 2 / (size if kind == "prismatic" else 1.0)
        effort = float(10 ** rng.uniform(-2, 0) if rng.random() < 0.7 else 1e6)
        effort *= 0.1 * inertia / dt**2
        limit = f'<limit lower="{lower}" upper="{upper}" effort="{effort}" velocity="10"/>'
    damping, friction = float(rng.choice([0, 0.1])), float(rng.choice([0, 0.5]))
    return (
        f'<joint name="j{index}" type="{kind}"><parent link="l{int(rng.integers(0, index))}"/>'
        f'<child link="l{index}"/><origin xyz="{offset[0]} {offset[1]} {offset[2]}" rpy="0 0 0"/>'
        f'<axis xyz="{axis[0]} {axis[1]} {axis[2]}"/>{limit}'
        f'<dynamics damping="{damping}" friction="{friction}"/></joint>'
    )


def _tree(rng: np.random.Generator, masses: Floats, size: float, free: bool) -> tuple[Any, Any]:
    """A Pinocchio model with spherical joints among the others, and its geometry."""
    model, shapes = pinocchio.Model(), pinocchio.GeometryModel()
    path: list[int] = []  # from the root to the joint added last: joints are in depth-first order
    for i, mass in enumerate(masses):
        radius = float(size * rng.uniform(0.1, 0.3))
        if i == 0:
            axis_joint = pinocchio.JointModelFreeFlyer() if free else pinocchio.JointModelRZ()
        else:
            axis_joint = _pinocchio_joint(rng)
        path = path[: int(rng.integers(1, len(path) + 1))] if path else path
        parent = path[-1] if path else 0
        offset = rng.normal(size=3)
        offset *= 0.8 * size / np.linalg.norm(offset) if i else 0.0
        joint = model.addJoint(parent, axis_joint, pinocchio.SE3(np.eye(3), offset), f"j{i}")
        path = [*path, joint]
        centre = rng.choice([0.0, 0.3]) * radius * rng.normal(size=3)
        inertia = pinocchio.Inertia(float(mass), centre, 0.4 * mass * radius**2 * np.eye(3))
        model.appendBodyToJoint(joint, inertia, pinocchio.SE3.Identity())
        shape = coal.Capsule(radius, radius) if i % 2 else coal.Sphere(radius)
        shapes.addGeometryObject(
            pinocchio.GeometryObject(f"g{i}", joint, pinocchio.SE3.Identity(), shape)
        )
    shapes.addAllCollisionPairs()
    return model, shapes


def _pinocchio_joint(rng: np.random.Generator) -> Any:
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    makers = (
        lambda: pinocchio.JointModelRevoluteUnaligned(*axis),
        lambda: pinocchio.JointModelPrismaticUnaligned(*axis),
        pinocchio.JointModelSpherical,
    )
    return makers[int(rng.integers(3))]()
