"""What an MJCF file holds, and its part of a scene that is composed of several."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio
from numpy.typing import NDArray

from .._stiction import Control, LoadMessage, Scene, State
from ..loading import LoadWarning, _check_type
from ..replay import ReplayGeometry
from .mjcf_actuator_table import BatchCtrl, Ctrl
from .mjcf_actuators import Actuation, MjcfActuator
from .mjcf_keyframes import MjcfKeyframe, name_of_configuration
from .mjcf_part import Part, placement
from .mjcf_passive import Passive
from .mjcf_sensors import Sensor
from .mjcf_simulation import MjcfSimulation
from .mjcf_source import Source, pose
from .mjcf_trees import Place
from .mjcf_visuals import mjcf_visuals, visual_shape

if TYPE_CHECKING:
    from ..batch import Batch

__all__ = ["Mjcf", "beyond_scene"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class Mjcf:
    """What an MJCF file holds.

    Attributes:
        scene: the world, or that which the file was added to; robots by the name of their root
            body, dofs numbered as in MuJoCo.
        timestep: the file's [s].
        actuators: those that act, in MuJoCo's order, by their names in the file.
        keyframes: by name; "key0", "key1", ... where the file gives none.
        messages: what is not honoured, with file and line where known; also in scene.messages.
    """

    scene: Scene
    timestep: float
    actuators: tuple[MjcfActuator, ...]
    keyframes: dict[str, MjcfKeyframe]
    messages: tuple[LoadMessage, ...]
    _actuation: Actuation
    _source: Source
    _places: list[Place]
    _geometries: dict[int, int]
    _passive: Passive
    _sensors: dict[str, Sensor]
    _part: Part

    def __repr__(self) -> str:
        count = len(self.actuators)
        parts = [f"nv={self._part.nv}", f"{count} actuator{'' if count == 1 else 's'}"]
        if self._part.placed:
            parts.append(f"in the scene {self.scene.name!r}")
        return f"Mjcf({self._source.file!r}, {', '.join(parts)})"

    @property
    def _senses_limits(self) -> bool:
        m, kinds = self._source.model, ["mjSENS_JOINTLIMITFRC"]
        return any(self._source.is_one_of(k, "mjtSensor", kinds) for k in m.sensor_type)

    def _step_settings(self, dt: float | None, given: dict[str, Any]) -> dict[str, Any]:
        """Settings of the Simulator in simulation(). What foresees the end of the step does so with
        Coriolis forces of its start."""
        own: dict[str, Any] = {"dt": self.timestep if dt is None else dt}
        foresees = self._passive.foresees or any(a.kind == "shared" for a in self.actuators)
        integrator = given.get("integrator", "semi-implicit-euler")
        if foresees and integrator == "semi-implicit-euler":
            own["mean_bias"] = False
        return own | given

    @cached_property
    def beyond_scene(self) -> list[str]:
        """What acts in simulation() and that a Simulator of the scene knows nothing of, in words:
        the medium, tendons, activations, ..."""
        return beyond_scene(self._passive, self._actuation)

    def add_to(self, scene: Scene, X_W: Any = None, prefix: str | None = None) -> Mjcf:
        """Places the file in a scene, as often as wanted, by Scene.add_scene: bodies, joints,
        geoms, what may collide with what, equalities, servos, sites, keyframes, messages.

            scene = stiction.Scene(name="yard")
            ant = stiction.load_mjcf("ant.xml")
            left = ant.add_to(scene, prefix="left/")
            right = ant.add_to(scene, X_left_right, "right/")
            sim = stiction.Simulator(scene, dt=left.timestep)
            control = right.control(ctrl_right, into=left.control(ctrl_left))

        Geoms of several files collide by MuJoCo's contype and conaffinity; shapes of other origin
        have 1 and 1, see Scene.set_collision_filter. Gravity is the scene's. Not in the scene is
        what acts in simulation() alone, `beyond_scene`: a LoadWarning says so.

        Args:
            scene: to add to.
            X_W: pose of the file's world, pinocchio.SE3 or 4 x 4.
            prefix: before the names in the scene; None: as Scene.add_scene.

        Returns the file as a part of that scene: control(), hold(), state(), write() and visuals()
        are of the whole scene.

        Raises:
            ValueError: a name is taken, X_W is no placement, or this is a part itself.
            TypeError: an argument is of another type.
        """
        if self._part.placed:
            raise ValueError(
                "add_to() is of what load_mjcf gave, not of its part of a scene; of a whole scene "
                "Scene.add_scene(scene) makes a part"
            )
        _check_type("scene", scene, Scene, 'stiction.Scene(name="yard")')
        if prefix is not None:
            _check_type("prefix", prefix, str, '"left/", or None')
        part = self._part.behind(scene)
        of_scene = scene._add_scene(self.scene, X_W, prefix)
        part = replace(part, X_W=placement(X_W))
        self._say_of_composing(scene, of_scene)
        return replace(
            self,
            scene=scene,
            keyframes={
                name: self._moved(key, name, scene, part) for name, key in self.keyframes.items()
            },
            _places=[part.place(place) for place in self._places],
            _geometries={g: part.geometry + number for g, number in self._geometries.items()},
            _part=part,
        )

    def _say_of_composing(self, scene: Scene, of_scene: str) -> None:
        said = [of_scene] if of_scene else []
        if self.beyond_scene:
            said.append(f"{', '.join(self.beyond_scene)}: not in a composed scene")
            scene._add_message(LoadMessage("unused", said[-1], self._source.file, 0))
        for text in said:
            warnings.warn(f"{self._source.file}: {text}", LoadWarning, stacklevel=3)

    @staticmethod
    def _moved(key: MjcfKeyframe, name: str, scene: Scene, part: Part) -> MjcfKeyframe:
        q = (
            np.array(scene.configurations[name_of_configuration(name)][part.qs])
            if part.nq
            else key.q
        )
        mocap = {}
        for body, (position, quaternion) in key.mocap.items():
            X: pinocchio.SE3 = part.X_W * pose(position, quaternion)
            x, y, z, w = pinocchio.SE3ToXYZQUAT(X)[3:]
            mocap[body] = np.array(X.translation), np.array((w, x, y, z))
        return replace(key, q=q, mocap=mocap)

    def simulation(self, dt: float | None = None, **settings: Any) -> MjcfSimulation:
        """The file in motion, with its mocap bodies, activations, medium, tendons and sensors,
        which a Simulator of the scene alone knows nothing of.

        Args:
            dt: [s]; None: the file's.
            settings: of the Simulator, see SettingNames.
        """
        if self._part.placed:
            raise ValueError(
                f"simulation() is of a file alone, and this is {self._source.file} as a part of a "
                "scene: step a Simulator of the scene with control(), or make one of all its MJCF "
                "files, load_mjcf([MjcfPart(file, prefix), ...])"
            )
        if self.scene.nv != self._part.nv:
            raise ValueError(
                f"simulation() is of {self._source.file} alone, and bodies were added to its "
                "scene: step a Simulator of the scene with control(), or make one of all its MJCF "
                "files, load_mjcf([MjcfPart(file, prefix), ...])"
            )
        return MjcfSimulation(self, dt, **settings)

    def control(self, ctrl: Ctrl | None = None, into: Control | None = None) -> Control:
        """Torques and servo targets of MuJoCo's ctrl (nu,), or of numbers by name of actuators;
        None, and those not named: zero.

        Ranges of controls and of motors' forces are applied here, those of servos by the step.

        Args:
            ctrl: MuJoCo's.
            into: a Control of the scene, that of other parts; None: zero.

        Raises:
            TypeError: ctrl, or a number by name, is none.
            ValueError: ctrl or `into` has another length, or no actuator has that name.
        """
        given = self._actuation.ctrl(ctrl, np.zeros(self._actuation.count))
        own = self._actuation.control(given, None)
        return self._part.control(self.scene, own, into)

    def write(self, batch: Batch, ctrl: BatchCtrl) -> None:
        """Torques and servo targets of MuJoCo's ctrl into a Batch of the scene, for its next steps.

        As control() of each world; controls act at once, where the file has an activation too.
        Warns (LoadWarning) of a file that has more than its scene, `beyond_scene`.

        Args:
            batch: of `scene`.
            ctrl: (N, nu), or (nu,) for all worlds; or by name of actuators a number or (N,), the
                others zero.

        Raises:
            ValueError: ctrl has another shape.
        """
        if self.beyond_scene:
            text = f"{self._source.file}: {', '.join(self.beyond_scene)}: not in a Batch"
            warnings.warn(text, LoadWarning, stacklevel=2)
        given, dofs = self._actuation.controls(ctrl, batch.num_worlds), self._part.dofs
        batch.torque[:, dofs], batch.position_target[:, dofs], batch.velocity_target[:, dofs] = (
            given
        )

    def hold(self, configuration: str = "default", into: Control | None = None) -> Control:
        """Position servos hold a configuration of the scene, motors give nothing; `into` as in
        control()."""
        q = self._configuration(configuration)
        positions = np.asarray(self.scene.dof_positions(q))[self._part.dofs]
        own = self._actuation.control(None, positions)
        return self._part.control(self.scene, own, into)

    def state(self, keyframe: str) -> State:
        """A State at a keyframe, with its velocity and time; what else is in the scene is at its
        default, at rest.

        Raises:
            ValueError: there is no such keyframe; the message lists the names.
        """
        key = self._keyframe(keyframe)
        return self._part.state(self.scene, key.q, key.v, key.time)

    def _keyframe(self, name: str) -> MjcfKeyframe:
        if name not in self.keyframes:
            names = ", ".join(self.keyframes) or "none"
            raise ValueError(f"no keyframe {name!r}; there are: {names}")
        return self.keyframes[name]

    def visuals(self) -> dict[int, list[ReplayGeometry]]:
        """The file's geoms of groups 0 to 2 in their colours, by scene body (-1: the world), for
        stiction.record.Recorder."""
        return mjcf_visuals(self._source, self._places)

    def add_visuals(self) -> None:
        """Gives the scene what visuals() draws, once: replays of it, scenes that it is added to and
        files of Scene.save() then have the geoms in their colours, in C++ as Scene::visuals().

        Meshes of more than 6000 triangles are thinned, as for a replay.

        Raises:
            ValueError: it was called before.
        """
        drawn = self.visuals()
        if {visual.body for visual in self.scene.visuals} & (set(drawn) - {-1}):
            raise ValueError("add_visuals(): the scene has visuals of these bodies; call it once")
        for body, shapes in drawn.items():
            for shape in shapes:
                X = pinocchio.XYZQUATToSE3(np.asarray(shape.placement))
                self.scene.add_visual(body, visual_shape(shape), X, list(shape.color))

    def _configuration(self, name: str) -> Floats:
        configurations = self.scene.configurations
        if name in configurations:
            return configurations[name]
        if name == "default":
            return self.scene.default_q
        raise ValueError(f"no configuration {name!r}; there are: {', '.join(configurations)}")


def beyond_scene(passive: Passive, actuation: Actuation) -> list[str]:
    """What acts in simulation() and that a Simulator of the scene knows nothing of."""
    found = [*passive.kinds()]
    if any(actuator.kind == "shared" for actuator in actuation.actuators):
        found.append("servos on several joints")
    if any(actuator.kind == "site" for actuator in actuation.actuators):
        found.append("motors at sites")
    if any(actuator.activation for actuator in actuation.actuators):
        found.append("activations of actuators")
    return found
