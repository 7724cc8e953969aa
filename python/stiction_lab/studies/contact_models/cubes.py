"""The cubes of the paper's examples: four contact points with the plane below."""

from __future__ import annotations

import math

import numpy as np
import pinocchio
from numpy.typing import NDArray
from stiction import loading
from stiction._stiction import Box, Control, ExternalWrench, Material, Scene, State
from stiction.simulator import Simulator

SIDE, MASS, GRAVITY = 0.2, 1.0, 9.81
"""Side [m], mass [kg], gravity [m/s^2] of every cube here."""
DT = 1e-3
"""Time step of every experiment of the paper that does not vary it [s]."""


def cube(friction: float, corner_spheres: bool = False) -> Scene:
    """A cube of 1 kg and 0.2 m at rest on a plane, centre above the origin."""
    return loading.load("cube-drag", friction=friction, corner_spheres=corner_spheres)


def sliding(simulator: Simulator, speed: float, heading: float = 0.5 * math.pi) -> State:
    """The cube at that speed along the plane.

    The cube's axes, and so the tangent axes of its contacts, stay those of the world.

    Args:
        speed: [m/s].
        heading: angle from the world's x axis [rad].
    """
    state = simulator.initial_state()
    v = np.zeros(6)
    v[:2] = speed * math.cos(heading), speed * math.sin(heading)
    state.v = v
    return state


def sliding_energy(time: NDArray[np.float64], speed: float, friction: float) -> NDArray[np.float64]:
    """Kinetic energy of a sliding cube by Coulomb's law, 1/2 m (v - mu g t)^2 until rest [J]."""
    left = np.maximum(speed - friction * GRAVITY * np.asarray(time), 0.0)
    return np.asarray(0.5 * MASS * left**2)


def pulled(force: NDArray[np.float64], body: int = 0, bodies: int = 1) -> Control:
    """A force on the centre of one of some free bodies [N], world axes."""
    control = Control(6 * bodies)
    control.wrenches = [ExternalWrench(body, force)]
    return control


def two_cubes(lower: float, upper: float) -> Scene:
    """A cube of mass `upper` at rest on one of mass `lower` [kg], both of 0.2 m; friction 0.9 below
    and 0.95 between them."""
    scene = Scene()
    ground = scene.add_ground(Material(friction=0.9))
    for name, mass, height in (("lower", lower, 0.5), ("upper", upper, 1.5)):
        pose = pinocchio.SE3(np.eye(3), np.array([0.0, 0.0, height * SIDE]))
        scene.add_body(name, Box(np.full(3, 0.5 * SIDE)), mass, pose)
    scene.set_pair_material(ground, "lower", Material(friction=0.9))
    scene.set_pair_material("lower", "upper", Material(friction=0.95))
    return scene
