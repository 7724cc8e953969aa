"""Drake's SAP solver behind the benchmark's `World`: Solo-12, where `drake` is installed.

The robot is read by Drake's own URDF parser; feet, ground and servos are those of the other
engines. Drake treats position servos implicitly in its discrete solver, as ours does.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pydrake.all as drake
from numpy.typing import NDArray
from stiction.certificate import ContactSample

from .peer_models import SOLO12_FEET, SOLO12_FOOT_RADIUS
from .worlds import BenchError, Facts, Kick, Observed

Floats = NDArray[np.float64]

APPROXIMATIONS = ("sap", "lagged")
"""Of the friction cone's regularisation: SAP as published, and with a lagged normal force."""
FRICTION, STIFFNESS, DAMPING = 0.9, 5.0, 0.1


class DrakeWorld:
    """A diagram with one robot, its simulator, and the state the measurements start from.

    Args:
        approximation: one of `APPROXIMATIONS`.
        urdf: file of the robot.
        posture: joint -> angle of the initial pose and of the targets [rad].
        joints: servo names in the order of the noise columns.
        dt: time step [s].
    """

    def __init__(
        self,
        approximation: str,
        urdf: Path,
        posture: Mapping[str, float],
        joints: list[str],
        dt: float,
    ) -> None:
        self.label, self.dt = f"drake-{approximation}", dt
        self._held = np.array([*(posture[name] for name in joints), *np.zeros(len(joints))])
        self._build(approximation, urdf, joints)
        context = self._simulator.get_mutable_context()
        self._place(self._plant.GetMyMutableContextFromRoot(context), posture)
        self._start, self._initial = context.Clone(), context.Clone()
        self._steps = self._first = 0

    def facts(self) -> Facts:
        """Of the initial pose."""
        plant, context = self._plant, self._plant.GetMyContextFromRoot(self._initial)
        return Facts(
            mass=float(plant.CalcTotalMass(context)),
            nv=int(plant.num_velocities()),
            com_height=float(plant.CalcCenterOfMassPositionInWorld(context)[2]),
            friction=FRICTION,
            stiffness=STIFFNESS * plant.num_actuators(),
            damping=DAMPING * plant.num_actuators(),
        )

    def settle(self, seconds: float) -> None:
        """From the initial pose, advance and remember the state reached as the start."""
        self._start, self._first = self._initial.Clone(), 0
        self.restart()
        self.advance(max(1, round(seconds / self.dt)) if seconds > 0 else 0)
        self._start, self._first = self._simulator.get_context().Clone(), self._steps

    def restart(self) -> None:
        """Back to the start, with held targets."""
        self._source.UpdateTrajectory(drake.PiecewisePolynomial(self._held[:, None]))
        self._simulator.get_mutable_context().SetTimeStateAndParametersFrom(self._start)
        self._simulator.Initialize()
        self._steps = self._first

    def advance(self, steps: int) -> None:
        """That many steps with the held targets, in one call."""
        self._steps += steps
        self._simulator.AdvanceTo(self._steps * self.dt)

    def kick(self, kick: Kick) -> None:
        """There is no loose body."""
        raise BenchError(f"{self.label} has no loose body to kick")

    def prepare_rollout(self, noise: Floats) -> None:
        """The next `rollout` adds noise (T, servos) [rad] to the targets, a row per step."""
        self.restart()
        self._length = len(noise)
        # Breaks half a step early, so that rounding of the time cannot pick a neighbour's row.
        breaks = (self._steps + np.arange(len(noise) + 1) - 0.5) * self.dt
        rows = self._held + np.hstack([noise, np.zeros_like(noise)])
        self._source.UpdateTrajectory(
            drake.PiecewisePolynomial.ZeroOrderHold(breaks, np.vstack([rows, rows[-1:]]).T)
        )

    def rollout(self) -> None:
        """The prepared steps, in one call."""
        self.advance(self._length)

    def observe(self, noise: Floats) -> Observed:
        """One step with noise (servos,) [rad] on the targets; Drake tells no iterations."""
        target = self._held + np.concatenate([noise, np.zeros_like(noise)])
        self._source.UpdateTrajectory(drake.PiecewisePolynomial(target[:, None]))
        before = self._plant.GetPositions(self._context())
        self.advance(1)
        return Observed(self._sample(before), 0, float("nan"))

    # --- internals ---

    def _context(self) -> drake.Context:
        return self._plant.GetMyContextFromRoot(self._simulator.get_context())

    def _build(self, approximation: str, urdf: Path, joints: list[str]) -> None:
        builder = drake.DiagramBuilder()
        config = drake.MultibodyPlantConfig(
            time_step=self.dt, discrete_contact_approximation=approximation, contact_model="point"
        )
        self._plant, _ = drake.AddMultibodyPlant(config, builder)
        plant = self._plant
        robots = drake.Parser(plant).AddModelsFromString(_with_feet(urdf), "urdf")
        ground = drake.CoulombFriction(FRICTION, FRICTION)
        plant.RegisterCollisionGeometry(
            plant.world_body(), drake.RigidTransform(), drake.HalfSpace(), "ground", ground
        )
        for name in joints:
            actuator = plant.AddJointActuator(f"servo_{name}", plant.GetJointByName(name))
            actuator.set_controller_gains(drake.PdControllerGains(p=STIFFNESS, d=DAMPING))
        plant.Finalize()
        self._source = builder.AddSystem(
            drake.TrajectorySource(drake.PiecewisePolynomial(self._held[:, None]))
        )
        builder.Connect(
            self._source.get_output_port(), plant.get_desired_state_input_port(robots[0])
        )
        self._simulator = drake.Simulator(builder.Build())
        self._scratch = plant.CreateDefaultContext()

    def _place(self, context: drake.Context, posture: Mapping[str, float]) -> None:
        """That posture, the base level, the lowest foot on the ground."""
        plant = self._plant
        for name, angle in posture.items():
            plant.GetJointByName(name).set_angle(context, angle)
        feet = [plant.GetBodyByName(name) for name in SOLO12_FEET]
        lowest = min(plant.EvalBodyPoseInWorld(context, foot).translation()[2] for foot in feet)
        base = plant.get_body(next(iter(plant.GetFloatingBaseBodies())))
        height = plant.EvalBodyPoseInWorld(context, base).translation()[2]
        pose = drake.RigidTransform([0.0, 0.0, height + SOLO12_FOOT_RADIUS - lowest])
        plant.SetFloatingBaseBodyPoseInWorldFrame(context, base, pose)

    def _sample(self, before: Floats) -> ContactSample:
        """The contacts of the step just taken; velocities are J v+ with J of the positions before.

        Drake's normal points from B to A, its force acts on B.
        """
        plant, context = self._plant, self._context()
        results = plant.get_contact_results_output_port().Eval(context)
        count = results.num_point_pair_contacts()
        plant.SetPositions(self._scratch, before)
        plant.SetVelocities(self._scratch, plant.GetVelocities(context))
        rows = [self._contact(results.point_pair_contact_info(i)) for i in range(count)]
        position, normal, gap, impulse, velocity = (
            (np.array(column) for column in zip(*rows, strict=True))
            if rows
            else (np.zeros((0, 3)),) * 2 + (np.zeros(0),) + (np.zeros((0, 3)),) * 2
        )
        return ContactSample(position, normal, gap, np.full(count, FRICTION), impulse, velocity)

    def _contact(
        self, info: drake.PointPairContactInfo
    ) -> tuple[Floats, Floats, float, Floats, Floats]:
        """Point, normal from A to B, gap, impulse on B and velocity of B in (t1, t2, n)."""
        point, normal = np.array(info.contact_point()), -np.array(info.point_pair().nhat_BA_W)
        first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
        first /= np.linalg.norm(first)
        axes = np.array([first, np.cross(normal, first), normal])
        velocity = self._velocity(info.bodyB_index(), point) - self._velocity(
            info.bodyA_index(), point
        )
        impulse = axes @ np.array(info.contact_force()) * self.dt
        return point, normal, -float(info.point_pair().depth), impulse, axes @ velocity

    def _velocity(self, index: drake.BodyIndex, point: Floats) -> Floats:
        """World velocity of that body's point at `point`, in the scratch context [m/s]."""
        body = self._plant.get_body(index)
        twist = self._plant.EvalBodySpatialVelocityInWorld(self._scratch, body)
        origin = self._plant.EvalBodyPoseInWorld(self._scratch, body).translation()
        return np.asarray(twist.translational() + np.cross(twist.rotational(), point - origin))


def solo12(
    urdf: Path, posture: Mapping[str, float], joints: list[str], dt: float
) -> list[DrakeWorld]:
    """Solo-12 with every approximation."""
    return [DrakeWorld(name, urdf, posture, joints, dt) for name in APPROXIMATIONS]


def _with_feet(urdf: Path) -> str:
    """The URDF without visuals and collisions, but with the four sphere feet."""
    root = ElementTree.parse(urdf).getroot()
    root.set("xmlns:drake", "http://drake.mit.edu")
    for tag in ("transmission", "gazebo"):
        for element in root.findall(tag):
            root.remove(element)
    for link in root.findall("link"):
        for element in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(element)
        if link.get("name") in SOLO12_FEET:
            _add_foot(link)
    return ElementTree.tostring(root, encoding="unicode")


def _add_foot(link: ElementTree.Element) -> None:
    collision = ElementTree.SubElement(link, "collision", name="foot")
    geometry = ElementTree.SubElement(collision, "geometry")
    ElementTree.SubElement(geometry, "sphere", radius=str(SOLO12_FOOT_RADIUS))
    properties = ElementTree.SubElement(collision, "drake:proximity_properties")
    for kind in ("static", "dynamic"):
        ElementTree.SubElement(properties, f"drake:mu_{kind}", value=str(FRICTION))
