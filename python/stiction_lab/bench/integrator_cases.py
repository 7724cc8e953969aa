"""Scenes of the integrator benchmark, and the states their steps start from."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from stiction import loading
from stiction._stiction import Control, Scene, State
from stiction.gaits import trot_targets
from stiction.simulator import Simulator

from .local_error import Window

Floats = NDArray[np.float64]
IMPLICIT = ("implicit-euler", "exponential-published", "exponential")
"""Integrators for steps of the size of the period."""
EXPLICIT = ("explicit-euler", "symplectic-euler", "rk4")
RIGID = "semi-implicit-euler"


@dataclass(frozen=True)
class Case:
    """One scene, its springs, and a motion to take states from.

    Attributes:
        scene: of `stiction.load`.
        stiffness, damping: of every pair [N/m], [N s/m].
        period: control period [s]: torques are held so long, and errors are those after it.
        targets: (scene, duration, dt) -> servo targets (T, nv) of the motion; None: held.
        settle: time before the first state [s].
        falls: that time goes by in steps of the rigid contact problem, whose compliance is cheap in
            cascades of impacts.
        velocity: of the start; empty: at rest.
        coarse, fine: numbers of equal steps a period is cut into, of `IMPLICIT`, of `EXPLICIT`.
        reference: steps of a period that the reference begins with.
        windows: number of states, one period apart.
        tolerance: of the reference.
    """

    name: str
    scene: str
    stiffness: float
    damping: float
    period: float
    coarse: tuple[int, ...]
    fine: tuple[int, ...]
    reference: int
    windows: int
    targets: Callable[[Scene, float, float], Floats] | None = None
    settle: float = 0.5
    falls: bool = False
    velocity: tuple[float, ...] = ()
    tolerance: float = 1e-9

    def load(self, rigid: bool = False) -> Scene:
        """The scene, with springs and dampers at every surface unless `rigid`."""
        scene = loading.load(self.scene)
        if not rigid:  # two equal surfaces are in series
            scene.parameters.stiffness[:] = 2.0 * self.stiffness
            scene.parameters.contact_damping[:] = 2.0 * self.damping
        return scene

    def has_robot(self) -> bool:
        """A robot that steps of Pinocchio calls can move: spheres on the ground."""
        return bool(self.load().robots)


def squat_targets(scene: Scene, duration: float, dt: float) -> Floats:
    """A robot on its feet that goes down and up by bending hips and knees, 1.5 Hz."""
    time = dt * np.arange(1, round(duration / dt) + 1)
    bend = 0.5 * (1.0 - np.cos(2.0 * np.pi * 1.5 * time))
    hold = np.asarray(scene.dof_positions(scene.configurations["standing"]))
    targets = np.tile(hold, (len(time), 1))
    for joint, share in _bending(scene):
        dof = scene.dof(joint)
        targets[:, dof] += share * bend
    return targets


def _bending(scene: Scene) -> list[tuple[str, float]]:
    """Joints that bend in a squat with their share [rad]; feet stay where they are."""
    if scene.robots[0].name == "solo12":
        names = [name.rsplit("/", 1)[-1] for name in scene.joint_names]
        return [(name, _solo12_share(scene, name)) for name in names if name[3:] in ("HFE", "KFE")]
    shares = {"3": -0.02, "4": 0.04, "5": -0.02}
    return [
        (f"leg_{side}_{k}_joint", share)
        for side in ("left", "right")
        for k, share in shares.items()
    ]


def _solo12_share(scene: Scene, name: str) -> float:
    hold = scene.dof_positions(scene.configurations["standing"])
    sign = float(np.sign(hold[scene.dof(name)]))
    return sign * (0.15 if name.endswith("HFE") else 0.3)


CASES = (
    Case(
        name="solo12-squat",
        scene="solo12",
        stiffness=1e5,
        damping=300.0,
        period=10e-3,
        coarse=(1, 2, 5, 10),
        fine=(100, 200, 1000),
        reference=200,
        windows=60,
        targets=squat_targets,
    ),
    Case(
        name="solo12-trot",
        scene="solo12-trot",
        stiffness=1e5,
        damping=300.0,
        period=2e-3,
        coarse=(1, 2, 4, 8),
        fine=(20, 40, 100, 200),
        reference=40,
        windows=300,
        targets=trot_targets,
        settle=0.9,
    ),
    Case(
        name="talos-squat",
        scene="talos",
        stiffness=1e5,
        damping=1000.0,
        period=10e-3,
        coarse=(1, 2, 5, 10),
        fine=(100, 200, 1000),
        reference=200,
        windows=30,
        targets=squat_targets,
    ),
    Case(
        name="box",
        scene="cube-slide",
        stiffness=1e5,
        damping=300.0,
        period=10e-3,
        coarse=(1, 2, 5, 10),
        fine=(50, 100, 1000),
        reference=100,
        windows=15,
        settle=0.02,
        velocity=(1.0, 0.3, 0.0, 0.0, 0.0, 6.0),
    ),
    Case(
        name="pile",
        scene="ycb-pile(3)",
        stiffness=1e5,
        damping=100.0,
        period=2e-3,
        coarse=(1, 2, 4),
        fine=(100, 200),
        reference=100,
        windows=20,
        settle=2.0,
        falls=True,
        tolerance=1e-7,
    ),
)


def windows_of(case: Case, count: int, rigid: bool = False) -> list[Window]:
    """States of the motion one period apart, servos at work; those on rigid surfaces are their own.

    Torques are those of the servos at the state, within their limits.
    """
    scene = case.load(rigid)
    start = "standing" if "standing" in scene.configurations else "default"
    settle = max(1, round(case.settle / case.period))
    steps, integrator = (1, RIGID) if rigid else (2, "exponential")
    moving = Simulator(scene, dt=case.period / steps, integrator=integrator)
    falling = Simulator(scene, dt=case.period, integrator=RIGID)
    state, control = moving.initial_state(start), moving.hold(start)
    if case.velocity:
        state.v[:] = case.velocity
    if case.targets is None:
        targets = np.tile(control.position_target, (settle + count, 1))
    else:
        targets = case.targets(scene, (settle + count) * case.period, case.period)
    found = []
    for k, target in enumerate(targets):
        control.position_target[:] = target
        if k >= settle:
            held = Control(scene.nv)
            held.torque[:] = servo_torque(scene, state, control)
            found.append(Window(state.copy(), held))
        if k < settle and case.falls:
            falling.run(state, control, 1)
        else:
            moving.run(state, control, steps)
    return found


def servo_torque(scene: Scene, state: State, control: Control) -> Floats:
    """kp (q* - q) + kd (v* - v) within the limits (nv,) [N m or N]."""
    parameters = scene.parameters
    position = np.asarray(scene.dof_positions(state.q))
    torque = parameters.kp * (np.asarray(control.position_target) - position)
    torque += parameters.kd * (np.asarray(control.velocity_target) - np.asarray(state.v))
    limit = np.asarray(parameters.effort_limit)
    return np.asarray(np.clip(torque, -limit, limit) + np.asarray(control.torque))


def bare_joints(scene: Scene) -> Scene:
    """The same scene without what a step of the bare equations of motion has not: servos (torques
    are held), damping, dry friction and limits of joints."""
    parameters = scene.parameters
    for losses in (parameters.kp, parameters.kd, parameters.damping, parameters.dry_friction):
        losses[:] = 0.0
    parameters.lower[:] = -np.inf
    parameters.upper[:] = np.inf
    return scene


def write_windows(path: Path, windows: list[Window]) -> None:
    """As the program reads them: size of the saved state, the state, nv doubles, each time."""
    with path.open("wb") as file:
        for window in windows:
            saved = window.state.save()
            file.write(struct.pack("<Q", len(saved)) + saved)
            file.write(np.asarray(window.control.torque, dtype="<f8").tobytes())
