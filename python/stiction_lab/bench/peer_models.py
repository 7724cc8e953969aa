"""The benchmark scenes in MuJoCo, built from the same files and numbers as ours.

Robots are read by MuJoCo's own URDF parser, not exported from our scene, so that the comparison of
masses, degrees of freedom, heights and contacts in `agreement.py` means something. Visuals and the
file's own collision shapes are dropped (except for the hand); feet are the spheres our scenes use.
Position servos live inside MuJoCo, where its implicit integrators treat their damping implicitly,
as ours does.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

SOLVERS = {
    "newton": mujoco.mjtSolver.mjSOL_NEWTON,
    "cg": mujoco.mjtSolver.mjSOL_CG,
    "pgs": mujoco.mjtSolver.mjSOL_PGS,
}
CONES = {"elliptic": mujoco.mjtCone.mjCONE_ELLIPTIC, "pyramidal": mujoco.mjtCone.mjCONE_PYRAMIDAL}
INTEGRATORS = {
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
    "discrete": mujoco.mjtIntegrator.mjINT_DISCRETE,
}
EULER = {"euler": mujoco.mjtIntegrator.mjINT_EULER}
"""Takes the damping of servos explicitly; without servos its steps are those of implicitfast,
in less time."""
TORSION, ROLLING = 0.005, 1e-4
"""MuJoCo's default torsional and rolling friction [m]; unused, contacts are 3-dimensional."""

SOLO12_FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
SOLO12_FOOT_RADIUS = 0.0191
TALOS_SOLES = ("leg_left_6_link", "leg_right_6_link")
TALOS_FOOT_RADIUS = 0.01
TALOS_CORNERS = tuple(
    (x, y, -0.107 + TALOS_FOOT_RADIUS) for x in (0.1, -0.1) for y in (0.06, -0.06)
)
BALL_RADIUS, BALL_MASS = 0.05, 0.1
BOX_HALF = 0.1


@dataclass(frozen=True)
class HeightSamples:
    """heights (ny, nx) [m] about the origin, cell (dx, dy) [m]."""

    heights: NDArray[np.float64]
    cell: NDArray[np.float64]


@dataclass(frozen=True)
class PeerVariant:
    """One way to run MuJoCo; tolerances and iteration limits stay at its defaults."""

    solver: str
    cone: str
    integrator: str

    @property
    def label(self) -> str:
        """For example `newton-elliptic-implicitfast`."""
        return f"{self.solver}-{self.cone}-{self.integrator}"


def variants(cone: str, servos: bool = True) -> list[PeerVariant]:
    """Every solver with every integrator that does our work, for one kind of cone ("elliptic" or
    "pyramidal"), in a scene with servos or without."""
    integrators = [*INTEGRATORS] if servos else [*INTEGRATORS, *EULER]
    return [
        PeerVariant(solver, cone, integrator) for solver in SOLVERS for integrator in integrators
    ]


def solo12(
    urdf: Path,
    friction: float,
    gains: tuple[float, float] = (5.0, 0.1),
    field: HeightSamples | None = None,
) -> mujoco.MjSpec:
    """Solo-12 on a plane or a field, four sphere feet, servos of `gains` [N m/rad, N m s/rad]."""
    spec = _robot(
        urdf, feet={link: [((0.0, 0.0, 0.0), SOLO12_FOOT_RADIUS)] for link in SOLO12_FEET}
    )
    _ground(spec, friction, field)
    _servos(spec, lambda joint: gains)
    return spec


def talos(urdf: Path, friction: float) -> mujoco.MjSpec:
    """Talos on a plane, four spheres per sole; stiffness 20 x effort limit, damping 0.02 x that."""
    corners = [(corner, TALOS_FOOT_RADIUS) for corner in TALOS_CORNERS]
    spec = _robot(urdf, feet=dict.fromkeys(TALOS_SOLES, corners))
    _ground(spec, friction)
    effort = _effort_limits(urdf)

    def gains(joint: Any) -> tuple[float, float]:
        stiffness = 20.0 * effort.get(joint.name, 10.0)
        return stiffness, 0.02 * stiffness

    _servos(spec, gains)
    return spec


def allegro_ball(
    urdf: Path, friction: float, placement: ArrayLike, ball: ArrayLike
) -> mujoco.MjSpec:
    """Allegro hand, fixed, with the file's collision shapes, and a ball that touches only the hand.

    The file's joint damping (3 to 8 N m s/rad) and dry friction (5 to 10 N m) would freeze the
    hand: 0.1 and 0 here.
    placement (7,): pose of the base, x y z qx qy qz qw; ball (3,): its centre [m].
    """
    spec = _robot(urdf, feet={}, keep_collision=True, free=False)
    base = spec.worldbody.first_body()
    pose = np.asarray(placement, dtype=float)
    base.pos, base.quat = pose[:3], np.roll(pose[3:], 1)
    for geom in spec.geoms:
        geom.contype, geom.conaffinity, geom.friction = 1, 2, [friction, TORSION, ROLLING]
    for joint in spec.joints:
        joint.damping, joint.frictionloss = [0.1, 0.0, 0.0], 0.0
    _servos(spec, lambda joint: (1.0, 0.1))
    body = spec.worldbody.add_body(name="ball", pos=np.asarray(ball, dtype=float))
    body.add_freejoint()
    geom = _geom(body, mujoco.mjtGeom.mjGEOM_SPHERE, [BALL_RADIUS, 0, 0], friction, mass=BALL_MASS)
    geom.contype, geom.conaffinity = 2, 1
    return spec


def box_stack(count: int, friction: float) -> mujoco.MjSpec:
    """`count` cubes of 0.2 m and 1 kg, face on face on the ground."""
    spec = mujoco.MjSpec()
    _ground(spec, friction)
    for i in range(count):
        body = spec.worldbody.add_body(name=f"box{i}", pos=[0.0, 0.0, BOX_HALF * (2 * i + 1)])
        body.add_freejoint()
        _geom(body, mujoco.mjtGeom.mjGEOM_BOX, [BOX_HALF] * 3, friction, mass=1.0)
    return spec


def hull_pile(
    hulls: Sequence[ArrayLike],
    masses: Sequence[float],
    planes: Sequence[tuple[ArrayLike, ArrayLike]],
    friction: float,
) -> mujoco.MjSpec:
    """Loose convex hulls between half-spaces; poses come with the state.

    hulls: per body its vertices (k, 3) [m]; masses: per body [kg]; planes: (point, outward normal)
        each.
    """
    spec = mujoco.MjSpec()
    spec.memory = 1 << 30
    for point, normal in planes:
        geom = _geom(spec.worldbody, mujoco.mjtGeom.mjGEOM_PLANE, [0, 0, 1], friction)
        geom.pos, geom.quat = (
            np.asarray(point, dtype=float),
            _turn_z_to(np.asarray(normal, dtype=float)),
        )
    names: dict[bytes, str] = {}
    for i, (vertices, mass) in enumerate(zip(hulls, masses, strict=True)):
        cloud = np.ascontiguousarray(vertices, dtype=np.float64)
        key = cloud.tobytes()
        if key not in names:
            names[key] = f"hull{len(names)}"
            mesh = spec.add_mesh(name=names[key], uservert=cloud.ravel())
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_CONVEX
        body = spec.worldbody.add_body(name=f"object{i}")
        body.add_freejoint()
        _geom(body, mujoco.mjtGeom.mjGEOM_MESH, None, friction, mass=mass, meshname=names[key])
    return spec


def compile_variant(spec: mujoco.MjSpec, variant: PeerVariant, dt: float) -> mujoco.MjModel:
    """The model of `spec` with the variant's options and the time step dt [s]."""
    option = spec.option
    option.timestep = dt
    option.solver, option.cone = SOLVERS[variant.solver], CONES[variant.cone]
    option.integrator = (INTEGRATORS | EULER)[variant.integrator]
    return spec.compile()


# --- pieces -------------------------------------------------------------------------------------


def _robot(
    urdf: Path,
    feet: Mapping[str, Sequence[tuple[Sequence[float], float]]],
    keep_collision: bool = False,
    free: bool = True,
) -> mujoco.MjSpec:
    """MuJoCo's reading of a URDF; feet: link -> spheres (centre in the link [m], radius [m])."""
    root = ElementTree.parse(urdf).getroot()
    for tag in ("transmission", "gazebo", "material", "mujoco"):
        for element in root.findall(tag):
            root.remove(element)
    found = set()
    for link in root.findall("link"):
        for tag in ("visual",) if keep_collision else ("visual", "collision"):
            for element in link.findall(tag):
                link.remove(element)
        name = link.get("name", "")
        for centre, radius in feet.get(name, ()):
            found.add(name)
            _add_sphere(link, centre, radius)
    if found != set(feet):
        raise ValueError(f"{urdf.name} has no link {sorted(set(feet) - found)} to put a foot on")
    # Links on fixed joints are merged at compile time, after the free joint has found its body.
    extension = ElementTree.SubElement(root, "mujoco")
    options = {
        "fusestatic": "false",
        "discardvisual": "true",
        "balanceinertia": "true",
        "strippath": "false",
    }
    ElementTree.SubElement(extension, "compiler", options)
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(root, encoding="unicode"))
    if free:
        spec.worldbody.first_body().add_freejoint()
    spec.compiler.fusestatic = True
    return spec


def _add_sphere(link: ElementTree.Element, centre: Sequence[float], radius: float) -> None:
    collision = ElementTree.SubElement(link, "collision")
    xyz = " ".join(f"{x:.9g}" for x in centre)
    ElementTree.SubElement(collision, "origin", {"xyz": xyz, "rpy": "0 0 0"})
    geometry = ElementTree.SubElement(collision, "geometry")
    ElementTree.SubElement(geometry, "sphere", {"radius": f"{radius:.9g}"})


def _ground(spec: mujoco.MjSpec, friction: float, field: HeightSamples | None = None) -> None:
    """A plane at z = 0, or a field, and its friction on everything there is already."""
    for geom in spec.geoms:
        geom.friction = [friction, TORSION, ROLLING]
    if field is not None:
        _field(spec, friction, field)
        return
    _geom(spec.worldbody, mujoco.mjtGeom.mjGEOM_PLANE, [0, 0, 1], friction, name="ground")


def _field(spec: mujoco.MjSpec, friction: float, field: HeightSamples) -> None:
    rows, columns = field.heights.shape
    lowest = float(field.heights.min())
    depth = float(field.heights.max()) - lowest
    half_x, half_y = 0.5 * field.cell * (columns - 1, rows - 1)
    spec.add_hfield(
        name="field",
        nrow=rows,
        ncol=columns,
        size=[half_x, half_y, depth, 1.0],
        userdata=((field.heights - lowest) / depth).ravel(),
    )
    kind = mujoco.mjtGeom.mjGEOM_HFIELD
    _geom(
        spec.worldbody, kind, None, friction,
        name="ground", hfieldname="field", pos=[0.0, 0.0, lowest],
    )  # fmt: skip


def _geom(
    body: Any, kind: mujoco.mjtGeom, size: Sequence[float] | None, friction: float, **more: Any
) -> Any:
    if size is not None:
        more["size"] = list(size)
    return body.add_geom(type=kind, friction=[friction, TORSION, ROLLING], **more)


def _servos(spec: mujoco.MjSpec, gains: Callable[[Any], tuple[float, float]]) -> None:
    """A position servo on every hinge and slide, named as its joint; gains(joint) -> kp, kd."""
    for joint in spec.joints:
        if joint.type in (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE):
            kp, kd = gains(joint)
            actuator = spec.add_actuator(
                name=joint.name, target=joint.name, trntype=mujoco.mjtTrn.mjTRN_JOINT
            )
            actuator.set_to_position(kp=kp, kv=kd)


def _effort_limits(urdf: Path) -> dict[str, float]:
    """Effort limit of every revolute joint of the file [N m]."""
    limits = {}
    for joint in ElementTree.parse(urdf).getroot().findall("joint"):
        limit = joint.find("limit")
        if limit is not None and joint.get("type") == "revolute":
            limits[joint.get("name", "")] = float(limit.get("effort", "nan"))
    return limits


def _turn_z_to(normal: NDArray[np.float64]) -> NDArray[np.float64]:
    """Quaternion w x y z that turns the z axis onto a unit vector."""
    quaternion = np.zeros(4)
    mujoco.mju_quatZ2Vec(quaternion, normal)
    return quaternion
