"""The cubes of the paper's examples: four contact points with the plane below."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ... import loading
from ..._stiction import Scene, State
from ...simulator import Simulator

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
