"""An MJCF file in motion: what MuJoCo keeps in its MjData."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._stiction import (
    ContactReport,
    ExternalWrench,
    State,
    StepReport,
    validate_state,
)
from ..given_array import given_array
from ..mujoco_layout import to_mujoco_qpos, to_mujoco_qvel
from ..references import references
from ..simulator import Simulator
from .mjcf_actuator_table import Ctrl
from .mjcf_contacts import MjcfContact, named_contacts
from .mjcf_keyframes import merged_state
from .mjcf_kinematics import Motion, body_motions
from .mjcf_mocap import Mocap
from .mjcf_passive import Pull
from .mjcf_pushes import Pushes
from .mjcf_rays import Sight
from .mjcf_saved import packed, unpacked
from .mjcf_sensors import LimitForces, Reading, Sensor
from .mjcf_sensors_of_loads import Loads
from .mjcf_visuals import moving_visuals

if TYPE_CHECKING:
    from ..record import Recorder
    from .mjcf import Mjcf

__all__ = ["MjcfSimulation"]

Floats = NDArray[np.float64]
Row = tuple[str, str, Floats]
"""Source and name of a constraint, and its forces."""


class MjcfSimulation:
    """A Simulator of an MJCF file with what only the file knows: poses of mocap bodies, activations
    of actuators, the medium, springs and limits of tendons, and sensors.

        arm = stiction.load_mjcf("fetch.xml").simulation()
        arm.place("mocap", [1.3, 0.7, 0.6])
        arm.step()
        arm.sensor("touch")

    Forces of the medium, of tendons and of welds to mocap bodies are computed from the state at the
    start of a step, and act in it besides contacts and joints.

    Attributes:
        sim: the Simulator, with the scene's parameters.
        state: where it is.
        activation: (na,) of actuators, in MuJoCo's order.
    """

    def __init__(self, model: Mjcf, dt: float | None = None, **settings: Any) -> None:
        self.sim = Simulator(model.scene, **model._step_settings(dt, settings))
        self._model, self._m = model, model._source.model
        self._mocap = Mocap(model._source, model._geometries)
        self._pushes = Pushes(model._source, model._places)
        self.state: State = self.sim.initial_state()
        self.activation: Floats = np.zeros(int(self._m.na))
        self._given: Floats = np.zeros(int(self._m.nu))
        self._sights: dict[int, Sight] = {}
        self._pulls = bool(model._passive)
        self._damping = np.array(self.sim.parameters.damping)
        self._senses_limits = model._senses_limits
        self._senses_contacts = any(s.of_last_step for s in model._sensors.values())
        self._closures = self._numbers_of_closures() if self._senses_contacts else {}
        self._begin()

    def __repr__(self) -> str:
        return f"MjcfSimulation({self._model._source.file!r}, t={self.state.time:g})"

    def reset(self, keyframe: str | Sequence[str] | None = None) -> None:
        """To the file's qpos0 at rest, or a keyframe with its controls, activations and mocap
        poses; its controls are those of steps without ctrl.

        Args:
            keyframe: its name; several, as parts have their own ("left/home", "right/home"): of
                each what is not as without a keyframe, joint by joint, of two that say so the last.
                The time is that of the last.

        Raises:
            ValueError: there is no such keyframe; the message lists the names.
        """
        names = [keyframe] if isinstance(keyframe, str) else keyframe or []
        keys = [self._model._keyframe(name) for name in names]
        self.state = merged_state(self.sim.scene, keys)
        self._begin()
        for key in keys:
            self.activation = np.where(key.activation != 0.0, key.activation, self.activation)
            self._given = np.where(key.ctrl != 0.0, key.ctrl, self._given)
            for name, pose in key.mocap.items():
                if not all(map(np.array_equal, pose, self._mocap.pose_of_file(name))):
                    self.place(name, *pose)
        self._mocap.stand()

    def _begin(self) -> None:
        m = self._m
        self.activation = np.zeros(int(m.na))
        self._mocap.reset(self.sim.parameters)
        self._pushes.wrenches[:] = 0.0
        self._ctrl, self._given = np.zeros(int(m.nu)), np.zeros(int(m.nu))
        self._acceleration = np.zeros(int(m.nv))
        self._before = self.state.copy()
        self._wrenches: list[ExternalWrench] = []
        self._contacts: list[ContactReport] = []
        self._stepped = False
        self._limits = LimitForces()
        self._loads = Loads()

    def _numbers_of_closures(self) -> dict[str, int]:
        """Of the equalities that are rigid closures, by their names in the scene."""
        names = self._model._source.names("equality")
        return {name: names.index(name) for name in self.sim.scene.closure_names if name in names}

    # --- mocap bodies -----------------------------------------------------------------------------

    @property
    def mocap_names(self) -> list[str]:
        """Of the bodies that `place` puts somewhere."""
        return list(self._mocap.numbers)

    def mocap_pose(self, name: str) -> tuple[Floats, Floats]:
        """Position [m] and quaternion w x y z of a mocap body; ValueError lists the names."""
        position, quaternion = self._mocap.poses[self._mocap.number(name)]
        return position.copy(), quaternion.copy()

    def place(
        self,
        name: str,
        position: ArrayLike | None = None,
        quaternion: ArrayLike | None = None,
        velocity: ArrayLike | None = None,
    ) -> None:
        """Puts a mocap body somewhere from now on, with its geometry.

        What is welded to it follows, pulled with at most twenty times the weight of its tree and,
        in torque, that on an arm of 1 m. Its geometry pushes and carries at the velocity given,
        else that of its change of pose since the last step; more than ten margins or half a radian
        are a jump.

        Args:
            name: of the mocap body.
            position: (3,) [m]; None: where it is.
            quaternion: (4,) w x y z, not zero; None: as it is.
            velocity: (6,) linear and angular, world [m/s, rad/s], of its origin.

        Raises:
            ValueError: no such mocap body; a number is not finite, or the quaternion is zero.
        """
        self._mocap.place(self.sim.parameters, name, position, quaternion, velocity)

    # --- pushes, and what goes on -----------------------------------------------------------------

    def push(
        self, body: str, force: ArrayLike = (0.0, 0.0, 0.0), torque: ArrayLike = (0.0, 0.0, 0.0)
    ) -> None:
        """A wrench on a body in all steps from now on, until it is set again or reset() is called;
        MuJoCo's xfrc_applied.

        Args:
            body: by its name in the file.
            force: (3,) at its centre of mass, world axes [N].
            torque: (3,) world axes [N m].

        Raises:
            ValueError: there is no such body, the message lists the names; it stands still; or a
                number is not finite.
        """
        self._pushes.set(body, force, torque)

    def pushed(self, body: str) -> tuple[Floats, Floats]:
        """Force and torque that push() put on a body.

        Raises:
            ValueError: there is no such body; the message lists the names.
        """
        wrench = self._pushes.wrenches[self._pushes.number(body)]
        return wrench[:3].copy(), wrench[3:].copy()

    def save(self) -> bytes:
        """All that the motion goes on from: the state with its warm starts, activations, poses of
        mocap bodies, pushes, controls of the keyframe; not what was set in sim.parameters.

        A run that restore() continues has the same bits.
        """
        mocap = [self._mocap.saved(b) for b in self._mocap.numbers.values()]
        parts = [self.activation, self._given, *mocap, self._pushes.wrenches.ravel()]
        return packed(np.concatenate(parts), self.state.save())

    def restore(self, saved: bytes) -> None:
        """To what save() kept of a simulation of the same file. Sensors of the last step read as
        where there was none yet, until the next.

        Raises:
            TypeError: `saved` is not bytes.
            ValueError: they are not from save(), or of another file; nothing is changed.
        """
        sizes = [len(self.activation), len(self._given)]
        sizes += [Mocap.SAVED] * len(self._mocap.numbers) + [self._pushes.wrenches.size]
        numbers, state = unpacked(saved, sum(sizes))
        restored = self.state.copy()
        restored.restore(state)
        validate_state(self.sim.scene, restored)
        self.state = restored
        self._begin()
        activation, given, *mocap, pushes = np.split(numbers, np.cumsum(sizes)[:-1])
        self.activation, self._given = activation, given
        for name, x in zip(self._mocap.numbers, mocap, strict=True):
            self._mocap.restore(self.sim.parameters, name, x)
        self._pushes.wrenches[:] = pushes.reshape(-1, 6)

    # --- steps ------------------------------------------------------------------------------------

    def step(
        self,
        ctrl: Ctrl | None = None,
        torque: ArrayLike | None = None,
        hold: str | None = None,
    ) -> StepReport:
        """One step.

        Args:
            ctrl: MuJoCo's (nu,), or numbers by name of actuators; None, and those not named: those
                of the keyframe that reset() went to, else zero.
            torque: (nv,) of dofs, added to what the actuators give, as Control.torque: effort
                limits of their dofs hold both together.
            hold: a configuration whose positions servos on joints hold in place of ctrl.

        Raises:
            TypeError: ctrl, or a number by name, is none.
            ValueError: ctrl or torque has another length, or no actuator has that name.
        """
        model, dt = self._model, self.sim.settings.dt
        given = model._actuation.ctrl(ctrl, self._given)
        if hold is None:
            control = model._actuation.control(given, None, self.activation, dt)
        else:
            control = model.hold(hold)
        if torque is not None:
            added = given_array("torque", torque, (int(self._m.nv),))
            control.torque = np.asarray(control.torque) + added
        dofs, coefficients = model._passive.dampers(np.asarray(self.state.v))
        if len(dofs):
            self.sim.parameters.damping[dofs] = self._damping[dofs] + coefficients
        drives = model._actuation.drives(given, self.activation, dt)
        pull, pushes = Pull([], {}, []), self._pushes.acting()
        if self._pulls or drives or pushes:
            p, mocap = self.sim.parameters, self._mocap.poses
            pull = model._passive.pull(self.state, p, control, mocap, drives, pushes, dt)
            control.wrenches = pull.wrenches
        self._wrenches = pull.wrenches
        self._before, self._ctrl = self.state.copy(), np.array(given)
        self._mocap.move(self.sim, self._stepped)
        report = self.sim.step(self.state, control)
        self._mocap.stand()
        self._stepped = True
        if self._senses_contacts:
            self._contacts = self.sim.contacts()
        rows = self._row_forces() if self._senses_limits or self._closures else []
        self._limits = LimitForces(self._joint_limits(rows), pull.limits)
        self._loads = Loads(pull.held, self._closure_forces(rows))
        self._acceleration = (np.asarray(self.state.v) - np.asarray(self._before.v)) / dt
        self.activation = model._actuation.next_activation(given, self.activation, dt)
        return report

    def _joint_limits(self, rows: list[Row]) -> dict[int, float]:
        """Forces of those that act, by dof, if the file has a sensor of one."""
        found: dict[int, float] = {}
        if not self._senses_limits:
            return found
        for source, name, force in rows:
            if source in ("lower_limit", "upper_limit", "limit_recovery"):
                dof = self.sim.scene.dof(name)
                found[dof] = found.get(dof, 0.0) + abs(float(force[0]))
        return found

    def _closure_forces(self, rows: list[Row]) -> dict[int, Floats]:
        """By equality, if the file has sensors of the last step."""
        known = self._closures
        return {known[n]: f for source, n, f in rows if source == "closure" and n in known}

    def _row_forces(self) -> list[Row]:
        """Source and name of each constraint of the last step, its forces [N, N m]."""
        forces = np.asarray(self.sim.solution().impulse) / self.sim.settings.dt
        found, start = [], 0
        for row in references(self.sim):
            end = start + len(row.velocity)
            found.append((row.source, row.name, forces[start:end]))
            start = end
        return found

    def _sight(self, body: int) -> Sight:
        if body not in self._sights:
            self._sights[body] = Sight(self._model._source, body)
        return self._sights[body]

    @property
    def external_wrenches(self) -> tuple[ExternalWrench, ...]:
        """Of the medium, of tendons, of welds to mocap bodies and of push(), that acted in the last
        step."""
        return tuple(self._wrenches)

    def contacts(self) -> list[MjcfContact]:
        """Of the last step, by the file's names; none where there was no step yet."""
        found = self.sim.contacts() if self._stepped else []
        return named_contacts(self._model._source, found)

    def recorder(self, title: str = "", fps: float = 60.0) -> Recorder:
        """For a replay in which mocap bodies move: see stiction.record.Recorder."""
        from ..record import Placed, Recorder  # which imports this package

        poses = self._mocap.poses_by_name
        visuals = moving_visuals(self._model._source, self._model._places)
        placed = Placed(poses, self._mocap.geometries)
        return Recorder(self.sim, title, fps, visuals=visuals, placed=placed)

    # --- sensors ----------------------------------------------------------------------------------

    @property
    def sensor_names(self) -> list[str]:
        """Of those that `sensor` reads."""
        return list(self._model._sensors)

    def of_last_step(self, name: str) -> bool:
        """Whether a sensor reads accelerations or forces, see `sensor`."""
        return self._sensor(name).of_last_step

    def _sensor(self, name: str) -> Sensor:
        sensors = self._model._sensors
        if name not in sensors:
            names = ", ".join(sensors) or "none"
            raise ValueError(f"no sensor {name!r}; there are: {names}")
        return sensors[name]

    def sensor(self, name: str) -> Floats:
        """(n,) as MuJoCo's sensordata: units and axes of its reference, without noise.

        Positions and velocities are those of `state`. What takes accelerations and forces (touch,
        force, torque, accelerometer, accelerations of frames, forces of limits) is of the last
        step: at the state where it began, with the mean acceleration and the contact forces of the
        step; zero where there was none yet.

        Raises:
            ValueError: there is no such sensor; the message lists the names.
        """
        sensor = self._sensor(name)
        now = not sensor.of_last_step
        return sensor.read(self._reading(now))

    def sensors(self) -> dict[str, Floats]:
        """All of them by name, in the time that a few take alone."""
        readings = {now: self._reading(now) for now in (True, False)}
        found = self._model._sensors.items()
        return {name: s.read(readings[not s.of_last_step]) for name, s in found}

    def _reading(self, now: bool) -> Reading:
        """At the state, or where the last step began."""
        state = self.state if now else self._before
        a = np.zeros(int(self._m.nv)) if now else self._acceleration
        q, v = np.asarray(self.sim.scene.dof_positions(state.q)), np.asarray(state.v)
        return Reading(
            source=self._model._source,
            motions=self._motions(state, a),
            q=q,
            qpos=to_mujoco_qpos(self.sim.scene, state.q),
            v=v,
            time=float(self.state.time),
            forces=self._model._actuation.forces(
                self._ctrl, self.activation, q, v, self.sim.settings.dt
            ),
            actuation=self._model._actuation,
            contacts=self._contacts,
            limits=self._limits,
            loads=self._loads,
            sight=self._sight,
            places=self._model._places,
            gravity=np.array(self.sim.parameters.gravity),
        )

    def _motions(self, state: State, a: Floats) -> list[Motion]:
        scene, v = self.sim.scene, np.asarray(state.v)
        qpos, qvel = to_mujoco_qpos(scene, state.q), to_mujoco_qvel(scene, state.q, v)
        turned = a.copy()
        for joint in scene.joints:  # v is of body axes, which turn
            if joint.type == "free_flyer":
                i = joint.v_index
                turned[i : i + 3] += np.cross(v[i + 3 : i + 6], v[i : i + 3])
        qacc = to_mujoco_qvel(scene, state.q, turned)
        return body_motions(self._m, qpos, qvel, qacc, self._mocap.poses)
