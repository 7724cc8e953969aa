"""Solo-12 on a floor of finite stiffness: it stands, or sways when it is pulled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stiction import loading
from stiction._stiction import ContactProblem, Control, ExternalWrench, Material, Scene
from stiction.simulator import Simulator

from . import cubes

Floats = NDArray[np.float64]

FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
PULL = 4.0  # [N] at the base, sideways: well inside the friction of 0.9 times 24.5 N
DAMPING_RATIO = 1.0  # of a quarter of the robot on one foot
SETTLE = 5.0  # [s]
SWAY = 1.0  # [s]
TOLERANCE = 1e-10


@dataclass
class Standing:
    """Solo-12 at rest under its servos and the pull, on a floor of one stiffness.

    Attributes:
        force: (feet,) normal forces [N].
        penetration: (feet,) [m].
        shear: (feet,) tangential forces [N].
        extension: (feet,) of the tangential springs along that force [m].
        speed: largest tangential speed of a foot [m/s].
        problem: that of the last step.
    """

    force: Floats
    penetration: Floats
    shear: Floats
    extension: Floats
    speed: float
    problem: ContactProblem


@dataclass
class Sway:
    """What the feet do when the pull begins.

    Attributes:
        time: since then [s].
        velocity: mean of the feet along the pull [m/s].
    """

    time: Floats
    velocity: Floats

    @property
    def reversals(self) -> int:
        """How often the feet turn back, by less than a hundredth of their speed not counted."""
        moving = self.velocity[np.abs(self.velocity) > 0.01 * np.abs(self.velocity).max()]
        return int(np.sum(np.sign(moving[1:]) != np.sign(moving[:-1])))


def on_floor(stiffness: float, tangential_damping_ratio: float = 1.0) -> Scene:
    """Solo-12 on a floor as stiff in its plane as along its normal; infinite: rigid."""
    scene = loading.load("solo12")
    mass = float(np.sum(scene.parameters.mass))
    damping = 2.0 * DAMPING_RATIO * np.sqrt(0.25 * mass * stiffness) if stiffness < np.inf else 0.0
    floor = Material(
        friction=0.9,
        stiffness=stiffness,
        damping=float(damping),
        tangential_damping_ratio=tangential_damping_ratio,
    )
    for foot in FEET:
        scene.set_pair_material("ground", foot, floor)
    return scene


def pulling(simulator: Simulator) -> Control:
    """Servos that hold the posture, and the pull."""
    control = simulator.hold()
    base = simulator.scene.body("base_link")
    control.wrenches = [ExternalWrench(base, [0.0, PULL, 0.0])]
    return control


def stand(stiffness: float, tangential: bool = False) -> Standing:
    """Settle under the pull; `tangential`: with springs in the plane of the floor, else dry."""
    simulator = Simulator(
        on_floor(stiffness), dt=cubes.DT, tolerance=TOLERANCE, tangential_compliance=tangential
    )
    state = simulator.initial_state()
    simulator.run(state, pulling(simulator), round(SETTLE / cubes.DT))
    contacts = simulator.contacts()
    shear = np.array([c.impulse[:2] for c in contacts]) / cubes.DT
    size = np.linalg.norm(shear, axis=1)
    extension = np.array([c.extension[:2] for c in contacts])
    return Standing(
        force=np.array([c.impulse[2] for c in contacts]) / cubes.DT,
        penetration=np.array([-c.gap for c in contacts]),
        shear=size,
        extension=np.sum(extension * shear, axis=1) / size,
        speed=max(float(np.linalg.norm(c.velocity[:2])) for c in contacts),
        problem=simulator.problem(),
    )


def sway(stiffness: float, tangential: bool, tangential_damping_ratio: float = 1.0) -> Sway:
    """Settle, then pull."""
    simulator = Simulator(
        on_floor(stiffness, tangential_damping_ratio),
        dt=cubes.DT,
        tolerance=TOLERANCE,
        tangential_compliance=tangential,
    )
    state = simulator.initial_state()
    simulator.run(state, simulator.hold(), round(SETTLE / cubes.DT))
    control = pulling(simulator)
    velocity = []
    for _ in range(round(SWAY / cubes.DT)):
        simulator.step(state, control)
        feet = [
            (c.frame @ c.velocity)[1] * (1.0 if c.body_b >= 0 else -1.0)
            for c in simulator.contacts()
        ]
        velocity.append(float(np.mean(feet)) if feet else np.nan)
    time = cubes.DT * np.arange(1.0, len(velocity) + 1.0)
    return Sway(np.asarray(time, dtype=np.float64), np.array(velocity))
