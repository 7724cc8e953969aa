"""The two scenes that MuJoCo and stiction both run: a walking Solo-12, a point that bounces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from stiction import loading
from stiction._stiction import Material, Scene, Sphere

Floats = NDArray[np.float64]

STIFFNESS, DAMPING, FRICTION = 1e5, 300.0, 0.9
"""Of every contact point [N/m, N s/m]."""
PERIOD = 10e-3
"""Servo targets are held so long [s]."""
POINT_MASS, POINT_RADIUS = 1.0, 0.02
POINT_START, POINT_SPEED = (0.0, 0.0, 0.05), (0.5, 0.2, 0.0)
"""Centre [m], velocity [m/s]."""
LIFTED = 0.005
"""Solo-12 starts so much above the ground [m]."""
POINT_URDF = """<robot name="point">
<link name="base"/><link name="x"><inertial><mass value="1e-9"/><inertia ixx="1e-9" iyy="1e-9"
 izz="1e-9" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="y"><inertial><mass value="1e-9"/><inertia ixx="1e-9" iyy="1e-9" izz="1e-9" ixy="0"
 ixz="0" iyz="0"/></inertial></link>
<link name="point"><inertial><mass value="{mass}"/><inertia ixx="1e-3" iyy="1e-3" izz="1e-3"
 ixy="0" ixz="0" iyz="0"/></inertial></link>
{joints}</robot>"""
JOINT = """<joint name="slide_{name}" type="prismatic"><parent link="{parent}"/><child
 link="{child}"/><axis xyz="{axis}"/><limit lower="-100" upper="100" effort="1" velocity="1"/>
</joint>"""


def gait(time: float, hold: Floats) -> Floats:
    """Servo targets (12,) of a trot on the spot: 2.5 Hz, diagonal pairs in turn.

    hold: of standing; legs FL, FR, HL, HR with abduction, hip, knee.
    """
    targets = np.array(hold)
    angle = 2.0 * np.pi * 2.5 * time
    for leg, phase in enumerate((0.0, np.pi, np.pi, 0.0)):
        sign = 1.0 if leg < 2 else -1.0
        up = max(0.0, float(np.sin(angle + phase)))
        targets[3 * leg + 1] += sign * (0.35 * up + 0.06 * np.cos(angle + phase))
        targets[3 * leg + 2] -= sign * 0.7 * up
    return targets


def solo12() -> Scene:
    """With servos of 5 N m/rad and 0.1 N m s/rad."""
    scene = loading.load("solo12", friction=FRICTION)
    _soften(scene)
    return scene


def point() -> Scene:
    """A ball on three slides."""
    names = [("x", "base", "x", "1 0 0"), ("y", "x", "y", "0 1 0"), ("z", "y", "point", "0 0 1")]
    joints = "".join(
        JOINT.format(name=name, parent=parent, child=child, axis=axis)
        for name, parent, child, axis in names
    )
    robot = loading.load_urdf_string(
        POINT_URDF.format(mass=POINT_MASS, joints=joints), "point.urdf", free_flyer=False
    )
    scene = Scene()
    scene.add_ground(Material(friction=FRICTION))
    scene.add_robot(robot)
    scene.add_geometry(
        "ball", scene.body("point"), Sphere(POINT_RADIUS), None, Material(friction=FRICTION)
    )
    _soften(scene)
    return scene


def _soften(scene: Scene) -> None:
    ground = scene.geometry("ground")
    scene.parameters.stiffness[ground] = STIFFNESS
    scene.parameters.contact_damping[ground] = DAMPING
