"""Robots on compliant ground, each contact point of the paper one vertex."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray
from stiction import loading
from stiction._stiction import ConvexMesh, Material, Scene, robot_from_pinocchio
from stiction.pages.experiment import StudyError

Floats = NDArray[np.float64]

STIFFNESS, DAMPING, FRICTION = 1e5, 300.0, 1.0
"""Of every experiment that does not sweep them [N/m, N s/m] (section 6.2)."""
SOLO_FEET = ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT")
SPIKE = np.array([[0, 0, 0], [0.02, 0, 0.1], [-0.01, 0.017, 0.1], [-0.01, -0.017, 0.1]])
"""A convex mesh whose lowest vertex is the contact point; the others stay above the ground."""


@dataclass(frozen=True)
class Ground:
    """Material of the floor.

    Attributes:
        stiffness: of every contact point, normal and tangential [N/m].
        damping: the same [N s/m].
        friction: coefficient.
    """

    stiffness: float = STIFFNESS
    damping: float = DAMPING
    friction: float = FRICTION


@dataclass(frozen=True)
class Robot:
    """A model, its contact points and the scene with the floor z = 0.

    Attributes:
        points: names of the contact frames of `model`, in the order of all arrays.
        scene: holds the robot alone.
    """

    model: Any
    points: tuple[str, ...]
    scene: Scene

    def positions(self, q: Floats) -> Floats:
        """Of the contact points [m], (points, 3), world."""
        data = self.model.createData()
        pin.framesForwardKinematics(self.model, data, q)
        return np.array([data.oMf[self.model.getFrameId(name)].translation for name in self.points])


def solo12(ground: Ground | None = None) -> Robot:
    """Solo-12 on its four feet."""
    return on_ground(solo12_model(), SOLO_FEET, ground)


def solo12_model() -> Any:
    """Solo-12 as this package carries it."""
    path = Path(loading.__file__).parent / "robots" / "solo12" / "solo12.urdf"
    return _read(path)


def biped(
    path: Path | None, corners: Mapping[str, Sequence[Floats]], ground: Ground | None = None
) -> Robot:
    """A humanoid on the corners of its soles.

    Args:
        path: of its URDF; None: Talos as installed.
        corners: frame of the model -> positions in it [m].

    Raises:
        StudyError: no Talos is installed, or a frame is missing.
    """
    model = _read(path or talos_path())
    names = []
    for frame, positions in corners.items():
        if not model.existFrame(frame):
            raise StudyError(f"{path}: has no frame {frame!r}")
        parent = model.frames[model.getFrameId(frame)]
        for k, p in enumerate(positions):
            placement = parent.placement * pin.SE3(np.eye(3), np.asarray(p))
            names.append(f"{frame}_{k}")
            model.addFrame(
                pin.Frame(names[-1], parent.parentJoint, placement, pin.FrameType.OP_FRAME)
            )
    return on_ground(model, tuple(names), ground)


def talos_path() -> Path:
    """Of the URDF behind `stiction.load("talos")`.

    Raises:
        StudyError: it is not installed.
    """
    try:
        return Path(loading.load("talos").robots[0].description.path)
    except RuntimeError as error:
        raise StudyError(str(error)) from None


def on_ground(
    model: Any,
    points: tuple[str, ...],
    ground: Ground | None = None,
    heights: Sequence[float] | None = None,
) -> Robot:
    """The model above a floor that touches its contact points only.

    A spike points down in the neutral configuration; legs lean less than its slope.

    Args:
        heights: a floor of its own for each point, at this height [m]; None: one floor, z = 0.
    """
    ground = ground or Ground()
    scene = Scene()
    floor = Material(friction=ground.friction, stiffness=ground.stiffness, damping=ground.damping)
    if heights is None:
        scene.add_ground(floor)
    else:
        for name, z in zip(points, heights, strict=True):
            scene.add_half_space(f"floor {name}", [0.0, 0.0, z], [0.0, 0.0, 1.0], floor)
    scene.add_robot(robot_from_pinocchio(model))
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    for name in points:
        body, placement = scene.frame(name)
        upright = data.oMf[model.getFrameId(name)].rotation.T
        scene.add_geometry(
            f"tip {name}",
            body,
            ConvexMesh(SPIKE),
            placement * pin.SE3(upright, np.zeros(3)),
            Material(friction=ground.friction),
        )
    if heights is not None:
        scene.enable_only([(f"floor {name}", f"tip {name}") for name in points])
    return Robot(model, points, scene)


def _read(path: Path) -> Any:
    try:
        return pin.buildModelFromUrdf(str(path), pin.JointModelFreeFlyer())
    except (ValueError, RuntimeError) as error:
        raise StudyError(f"{path}: {error}") from None
