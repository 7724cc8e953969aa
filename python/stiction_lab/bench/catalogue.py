"""The benchmark's scenes: how each is run, and how it is built in the peer."""

from __future__ import annotations

import importlib.util
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from . import peer_models, settled
from .ours import TOLERANCE, StictionWorld
from .peer import MujocoWorld
from .peer_models import PeerVariant, variants
from .worlds import BenchError, World

_LEG = {
    "FL": (0.0, 0.8, -1.6),
    "FR": (0.0, 0.8, -1.6),
    "HL": (0.0, -0.8, 1.6),
    "HR": (0.0, -0.8, 1.6),
}
SOLO12_POSTURE = {
    f"{leg}_{joint}": angle
    for leg, angles in _LEG.items()
    for joint, angle in zip(("HAA", "HFE", "KFE"), angles, strict=True)
}
ALLEGRO_CLOSED = dict(
    zip(
        [f"joint_{i}.0" for i in range(16)],
        [0.0, 0.15, 1.2, 0.8] * 3 + [1.3, 0.6, 0.9, 0.9],
        strict=True,
    )
)

Builder = Callable[[StictionWorld, PeerVariant], MujocoWorld]


def nobody(ours: StictionWorld) -> list[World]:
    """No other engine."""
    return []


@dataclass(frozen=True)
class BenchScene:
    """How one scene is measured.

    Attributes:
        name: on the command line and in the tables.
        load: argument of `stiction.load`.
        build_peer: the same scene in MuJoCo.
        build_others: the same scene in further engines, those that are installed.
        dt: time step [s].
        start, hold: configurations of our initial state and of our servo targets.
        noise: standard deviation of the white noise on the targets [rad]; 0: no such variant.
        kick: size of the impulse on one loose body after the other, every 0.1 s [N s]; 0: no such
            variant.
        settle: seconds each engine settles by itself before the measurement.
        pose, velocity: q and v of the initial state, where not those of `start` at rest.
        tolerance: of our solver; compared: another one, continued from the state settled with the
            first; 0: none.
        chunks, reps: measured trajectory in chunks of 20 steps, and its repetitions.
        contact_tolerance: of `agreement.compare_contacts`, with held targets.
        by_pairs: that compares pairs in contact, not points.
        settled: the initial state is the stored one of that name, of bodies at rest.
        many: so many bodies that only the peer's variants of `FOR_MANY` are run.
    """

    name: str
    load: str
    build_peer: Builder
    build_others: Callable[[StictionWorld], list[World]] = nobody
    dt: float = 1e-3
    start: str = "default"
    hold: str = "default"
    noise: float = 0.0
    kick: float = 0.0
    settle: float = 1.0
    pose: tuple[float, ...] | None = None
    velocity: tuple[float, ...] | None = None
    tolerance: float = TOLERANCE
    compared: float = 0.0
    chunks: int = 30
    reps: int = 7
    contact_tolerance: float = 0.01
    by_pairs: bool = False
    settled: str = ""
    many: bool = False

    def ours(self) -> StictionWorld:
        """Our simulator at the initial state."""
        pose = tuple(settled.configuration(self.settled)) if self.settled else self.pose
        return StictionWorld(
            self.load, self.dt, self.start, self.hold, pose, self.velocity, self.tolerance
        )

    def variants(self, servos: bool) -> list[PeerVariant]:
        """The peer's, of both friction cones."""
        all_of_them = [*variants("elliptic", servos), *variants("pyramidal", servos)]
        return [v for v in all_of_them if not self.many or (v.solver, v.cone) in FOR_MANY]


FOR_MANY = (("newton", "elliptic"), ("cg", "elliptic"), ("newton", "pyramidal"))
"""Solvers and cones of the peer that are run with hundreds of bodies."""
_PILE: dict[str, Any] = {
    "dt": settled.DT,
    "settle": 1.0,
    "compared": 1e-10,
    "contact_tolerance": 0.35,
    "by_pairs": True,
}
"""What the piles share: every engine starts at the same stored poses at rest, then settles a second
by itself, as a soft engine must."""
_TUMBLED = (0.0, 0.0, 0.27, *(np.sin(0.185) * np.array([3, 2, 1]) / np.sqrt(14)), np.cos(0.185))
"""A cube 0.1 m above the ground, turned by 21 degrees about (3, 2, 1)."""


def scene(name: str) -> BenchScene:
    """The benchmark scene of that name.

    Raises:
        BenchError: there is none; the message lists the names.
    """
    for item in (*SCENES, *OF_MANY_WORLDS):
        if item.name == name:
            return item
    raise BenchError(
        f"scene {name!r} has no benchmark; there are: {', '.join(item.name for item in SCENES)}"
    )


# --- the scenes in the peer ---------------------------------------------------------------------


def _solo12(ours: StictionWorld, variant: PeerVariant) -> MujocoWorld:
    spec = peer_models.solo12(ours.robot_file(), friction=0.9)
    return _standing(ours, variant, spec, SOLO12_POSTURE, peer_models.SOLO12_FOOT_RADIUS)


def _solo12_rough(ours: StictionWorld, variant: PeerVariant) -> MujocoWorld:
    samples = peer_models.HeightSamples(*ours.field())
    spec = peer_models.solo12(ours.robot_file(), 0.9, gains=(20.0, 0.3), field=samples)
    return _standing(ours, variant, spec, SOLO12_POSTURE, peer_models.SOLO12_FOOT_RADIUS)


def _solo12_in_drake(ours: StictionWorld) -> list[World]:
    if importlib.util.find_spec("pydrake") is None:
        return []
    from . import drake_peer

    return [*drake_peer.solo12(ours.robot_file(), SOLO12_POSTURE, ours.joints, ours.dt)]


def _talos(ours: StictionWorld, variant: PeerVariant) -> MujocoWorld:
    urdf = ours.robot_file()
    spec = peer_models.talos(urdf, friction=0.9)
    return _standing(ours, variant, spec, _half_sitting(urdf), peer_models.TALOS_FOOT_RADIUS)


def _allegro_ball(ours: StictionWorld, variant: PeerVariant) -> MujocoWorld:
    palm_up = (0.0, 0.0, 0.0, 0.0, -np.sqrt(0.5), 0.0, np.sqrt(0.5))
    spec = peer_models.allegro_ball(ours.robot_file(), 0.7, palm_up, (-0.02, 0.0, 0.12))
    model = peer_models.compile_variant(spec, variant, ours.dt)

    def initialize(data: mujoco.MjData) -> None:
        for i, (address, name) in enumerate(_servo_addresses(model)):
            data.ctrl[i] = ALLEGRO_CLOSED[name]
            data.qpos[address] = 0.5 * ALLEGRO_CLOSED[name]

    return MujocoWorld(variant.label, model, initialize, ours.joints)


def _cube(ours: StictionWorld, variant: PeerVariant) -> MujocoWorld:
    spec = peer_models.box_stack(1, friction=0.4)
    return _loose(ours, peer_models.compile_variant(spec, variant, ours.dt), variant)


def _box_stack(ours: StictionWorld, variant: PeerVariant) -> MujocoWorld:
    spec = peer_models.box_stack(ours.num_bodies, friction=0.7)
    model = peer_models.compile_variant(spec, variant, ours.dt)
    return MujocoWorld(variant.label, model, lambda data: None, ours.joints)


def _hull_pile(ours: StictionWorld, variant: PeerVariant) -> MujocoWorld:
    count = ours.num_bodies
    spec = peer_models.hull_pile(ours.hulls(), [0.3] * count, funnel(count), friction=0.6)
    return _loose(ours, peer_models.compile_variant(spec, variant, ours.dt), variant)


def _loose(ours: StictionWorld, model: mujoco.MjModel, variant: PeerVariant) -> MujocoWorld:
    """Free bodies that start where ours are."""
    positions, velocities = ours.loose_bodies()

    def initialize(data: mujoco.MjData) -> None:
        data.qpos[:], data.qvel[:] = positions, velocities

    return MujocoWorld(variant.label, model, initialize, ours.joints)


def _standing(
    ours: StictionWorld,
    variant: PeerVariant,
    spec: mujoco.MjSpec,
    posture: Mapping[str, float],
    radius: float,
) -> MujocoWorld:
    """A free robot in that posture (joint -> angle, else 0), its lowest foot on the ground."""
    model = peer_models.compile_variant(spec, variant, ours.dt)
    spheres = np.flatnonzero(model.geom_type == mujoco.mjtGeom.mjGEOM_SPHERE)

    def initialize(data: mujoco.MjData) -> None:
        data.qpos[:7] = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
        for i, (address, name) in enumerate(_servo_addresses(model)):
            data.qpos[address] = data.ctrl[i] = posture.get(name, 0.0)
        mujoco.mj_kinematics(model, data)
        data.qpos[2] = radius - data.geom_xpos[spheres, 2].min()

    return MujocoWorld(variant.label, model, initialize, ours.joints)


def _servo_addresses(model: mujoco.MjModel) -> list[tuple[int, str]]:
    """Index into qpos and name of each actuator's joint."""
    joints = [int(model.actuator_trnid[i, 0]) for i in range(model.nu)]
    return [(int(model.jnt_qposadr[j]), str(model.joint(j).name)) for j in joints]


def _half_sitting(urdf: Path) -> dict[str, float]:
    """Joint angles of the posture of that name in the robot's SRDF [rad]."""
    srdf = urdf.parent.parent / "srdf" / "talos.srdf"
    for group in ElementTree.parse(srdf).getroot().findall("group_state"):
        if group.get("name") == "half_sitting":
            values = {
                joint.get("name", ""): joint.get("value", "").split()
                for joint in group.findall("joint")
            }
            return {name: float(value[0]) for name, value in values.items() if len(value) == 1}
    raise BenchError(f"{srdf.name} has no posture half_sitting")


def funnel(count: int) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """A floor and four planes at 60 degrees from it: (point [m], outward unit normal) each."""
    half, tilt = 0.12 + 0.02 * np.sqrt(count), np.radians(60.0)
    planes = [(np.zeros(3), np.array([0.0, 0.0, 1.0]))]
    for quarter in range(4):
        out = np.array([np.cos(quarter * np.pi / 2), np.sin(quarter * np.pi / 2), 0.0])
        planes.append((half * out, -np.sin(tilt) * out + np.cos(tilt) * np.array([0.0, 0.0, 1.0])))
    return planes


def _pile(bodies: int, chunks: int, reps: int) -> BenchScene:
    """Hulls at rest in the funnel."""
    name, many = f"ycb-pile-{bodies}", bodies >= 100
    load = f"ycb-pile({bodies})"
    return BenchScene(
        name, load, _hull_pile, settled=load, chunks=chunks, reps=reps, many=many, **_PILE
    )


SCENES = (
    BenchScene(
        "solo12",
        "solo12",
        _solo12,
        _solo12_in_drake,
        start="standing",
        hold="standing",
        noise=0.05,
        reps=9,
    ),
    BenchScene("talos", "talos", _talos, start="standing", hold="standing", noise=0.01),
    BenchScene(
        "allegro-ball",
        "allegro-ball",
        _allegro_ball,
        start="open",
        hold="closed",
        noise=0.05,
        contact_tolerance=0.35,
    ),
    # The peer's soft cube skids on fewer corners than four.
    BenchScene(
        "cube-slide",
        "cube-slide",
        _cube,
        settle=0.0,
        velocity=(0.0, 1.0, 0.0, 0.0, 0.0, 0.0),
        contact_tolerance=0.75,
    ),
    BenchScene(
        "cube-drop",
        "cube-slide",
        _cube,
        settle=0.0,
        pose=_TUMBLED,
        velocity=(0.3, 0.0, 0.0, 0.0, 0.0, 0.0),
        contact_tolerance=0.35,
    ),
    BenchScene("box-stack-10", "box-stack(10)", _box_stack, kick=0.1, chunks=15, reps=5),
    BenchScene("box-stack-30", "box-stack(30)", _box_stack, kick=0.1, chunks=10, reps=5),
    *(
        _pile(bodies, chunks, reps)
        for bodies, chunks, reps in ((10, 10, 5), (50, 5, 3), (200, 5, 3))
    ),
)

OF_MANY_WORLDS = (
    BenchScene("solo12-rough", "solo12-rough", _solo12_rough, start="standing", hold="standing"),
)
"""Scenes of `lanes` and `batch` alone."""
