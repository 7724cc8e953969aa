"""The contact problems on which Table II is measured; every one is a step of a scene."""

from __future__ import annotations

import math

import numpy as np
import pinocchio
from numpy.typing import NDArray
from stiction import loading
from stiction._stiction import Box, ContactProblem, Control, Material, Scene
from stiction.simulator import Simulator

from . import cubes

FRICTION = 0.4
HEADING = math.pi / 6
"""Of everything that slides, against the tangent axes: no axis of a pyramid, no corner of one."""


def ordinary() -> dict[str, ContactProblem]:
    """Sliding and sticking contacts, alone and together."""
    return {
        "cube slides": _slide(turning=0.0),
        "cube slides and turns": _slide(turning=5.0),
        "cube pulled at rest": stiction_problem(),
        "corner of a box strikes": _corner(),
        "Solo-12 lands sliding": _solo(),
    }


def hard() -> dict[str, ContactProblem]:
    """Large mass ratios and a long chain of contacts."""
    slip = 0.9 * cubes.GRAVITY * 1e3
    return {
        "stack of ten": _first_step(loading.load("box-stack(10)"), None),
        "1000 kg on 1 g": _heavy(0.0),
        "1000 kg on 1 g, pulled at rest": _heavy(0.25 * slip),
        "1000 kg on 1 g, pulled to slide": _heavy(2.0 * slip),
    }


def stiction_problem() -> ContactProblem:
    """The cube pulled with half of the force that it holds."""
    force = 0.5 * FRICTION * cubes.MASS * cubes.GRAVITY
    direction = np.array([math.cos(HEADING), math.sin(HEADING), 0.0])
    return _first_step(cubes.cube(FRICTION), cubes.pulled(force * direction))


def _slide(turning: float) -> ContactProblem:
    simulator = Simulator(cubes.cube(FRICTION), dt=cubes.DT)
    state = cubes.sliding(simulator, 1.0, HEADING)
    v = np.array(state.v)
    v[5] = turning
    state.v = v
    simulator.step(state)
    return simulator.problem()


def _corner() -> ContactProblem:
    """One contact whose normal impulse moves it sideways."""
    half = np.full(3, 0.5 * cubes.SIDE)
    R = pinocchio.rpy.rpyToMatrix(0.5, 0.4, 0.0)
    height = float(np.abs(R[2]) @ half)
    scene = Scene()
    scene.add_ground(Material(friction=FRICTION))
    pose = pinocchio.SE3(R, np.array([0.0, 0.0, height]))
    scene.add_body("box", Box(half), cubes.MASS, pose, Material(friction=FRICTION))
    return _moving(scene, R.T @ np.array([0.8, 0.2, -0.5]), 0.0)


def _solo() -> ContactProblem:
    return _moving(loading.load("solo12"), np.array([1.0, 0.6, -0.2]), 1.0)


def _moving(scene: Scene, linear: NDArray[np.float64], turning: float) -> ContactProblem:
    """The step in which the first body has that velocity, body axes [m/s], [rad/s]."""
    simulator = Simulator(scene, dt=cubes.DT)
    state = simulator.initial_state()
    v = np.array(state.v)
    v[:3], v[5] = linear, turning
    state.v = v
    simulator.step(state, simulator.hold())
    return simulator.problem()


def _heavy(force: float) -> ContactProblem:
    control = cubes.pulled(np.array([0.0, force, 0.0]), body=1, bodies=2)
    return _first_step(cubes.two_cubes(1e-3, 1e3), control)


def _first_step(scene: Scene, control: Control | None) -> ContactProblem:
    simulator = Simulator(scene, dt=cubes.DT)
    simulator.step(simulator.initial_state(), control)
    return simulator.problem()
