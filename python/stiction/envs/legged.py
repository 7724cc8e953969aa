"""The quadrupeds that stiction.envs walks with: what of them a task needs to know."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio

from .._stiction import Material, Robot, Scene, Shape, Sphere, StictionError
from ..loading import INSTALL_ROBOTS, LoadWarning, example_robots, load, load_urdf
from .legs import FootPoints, up_in_body

__all__ = ["GO2", "SOLO12", "Legged"]

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Legged:
    """A robot with a floating base, revolute joints and spherical feet.

    Attributes:
        make: its scene on a shape, None: on the plane z = 0, with the configuration "standing".
        feet: names of their geometries; of four, the first and the last step together.
        kp, kd: of the servos [N m/rad], [N m s/rad].
        reach: of an action of 1 [rad].
        fallen: height of the base over the ground below which the robot has fallen [m].
        command_low, command_span: vx, vy [m/s] and turn [rad/s], from where and how far.
        scan: x and y of a grid of points where the height of rough ground is seen [m], from the
            base and along its heading.
    """

    make: Callable[[Shape | None], Scene]
    feet: tuple[str, ...]
    kp: float
    kd: float
    reach: float
    fallen: float
    command_low: Numbers
    command_span: Numbers
    scan: tuple[Numbers, Numbers]

    def scene(self, ground: Shape | None = None) -> Scene:
        """On the plane z = 0, or on a shape that is fixed to the world."""
        scene = self.make(ground)
        scene.parameters.kp[6:], scene.parameters.kd[6:] = self.kp, self.kd
        return scene


def _on(ground: Shape | None, robot: Robot, material: Material) -> Scene:
    scene = Scene(name=robot.name)
    if ground is None:
        scene.add_ground(material)
    else:
        scene.add_geometry("ground", "world", ground, material=material)
    scene.add_robot(robot)
    return scene


def _solo12(ground: Shape | None) -> Scene:
    flat = load("solo12")
    if ground is None:
        return flat
    return _on(ground, flat.robots[0].description, flat.pair_material(0, 1))


SOLO12 = Legged(
    make=_solo12,
    feet=("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"),
    kp=20.0,
    kd=0.3,
    reach=0.3,
    fallen=0.12,
    command_low=(-0.3, -0.2, -0.6),
    command_span=(0.9, 0.4, 1.2),
    scan=((-0.3, -0.15, 0.0, 0.15, 0.3), (-0.15, 0.0, 0.15)),
)

_FOOT_CENTRE, _FOOT_RADIUS = (-0.0019, 0.0, -0.0005), 0.0229
"""[m] in the frame of a foot: the sphere of least squares through the vertices of the lower part of
the file's mesh, z < -5 mm, which are at most 2.5 mm off it."""
_ROTOR, _GEAR = 1.11842e-4, 6.33
"""Inertia about its axis of a rotor, from the file's links of that name [kg m^2]; the gear between
it and hip or thigh, by the maker's data sheet of the motor."""
_CALF_GEAR = _GEAR * 45.43 / 23.7
"""By the file's limits of effort, which have the ratio of those of speed, 30.1 / 15.7."""


def _go2(ground: Shape | None) -> Scene:
    folder = example_robots() / "go2_description"
    if not folder.is_dir():
        raise StictionError(
            f"no robot go2 in {folder}: {INSTALL_ROBOTS}, or set STICTION_ROBOTS_DIR"
        )
    material = Material(friction=0.9)
    with warnings.catch_warnings():  # an attribute of fixed joints, groups of the SRDF
        warnings.simplefilter("ignore", LoadWarning)
        robot = load_urdf(
            folder / "urdf" / "go2.urdf",
            srdf=folder / "srdf" / "go2.srdf",
            collision_geometry=False,
            material=material,
        )
    scene = _on(ground, robot, material)
    for foot in GO2.feet:
        body, pose = scene.frame(foot)
        centre = pose * pinocchio.SE3(np.eye(3), np.array(_FOOT_CENTRE))
        scene.add_geometry(foot, body, Sphere(_FOOT_RADIUS), centre, material)
    scene.parameters.armature[6:] = np.tile(_ROTOR * np.square([_GEAR, _GEAR, _CALF_GEAR]), 4)
    standing = scene.configurations["standing"].copy()
    feet = FootPoints(scene, list(GO2.feet))
    standing[2] -= feet.heights(standing[None], up_in_body(standing[None])).min()
    for name in ("standing", "default"):
        scene.set_configuration(name, standing)
    return scene


GO2 = Legged(
    make=_go2,
    feet=("FL_foot", "FR_foot", "RL_foot", "RR_foot"),
    kp=40.0,
    kd=1.0,
    reach=0.3,
    fallen=0.18,
    command_low=(-0.4, -0.3, -0.6),
    command_span=(1.2, 0.6, 1.2),
    scan=((-0.4, -0.2, 0.0, 0.2, 0.4), (-0.2, 0.0, 0.2)),
)
