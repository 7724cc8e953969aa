"""Many worlds of one scene, stepped together."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _stiction
from ._stiction import (
    Control,
    Parameters,
    Scene,
    SimulatorSettings,
    State,
)
from .batch_arguments import count, numbers, spread
from .batch_results import BatchJacobians, BatchVjp, WorldReport
from .given_array import integer
from .loading import _check_names, _check_scene, _check_type, _set_typed
from .observations import Observations
from .servo_dofs import servo_dofs
from .setting_names import SettingNames
from .starting import warn_of_first_batch_step
from .user_frame import level_of_user

__all__ = ["Batch", "BatchJacobians", "BatchVjp", "WorldReport"]

Floats = NDArray[np.float64]


class Batch(Observations):
    """N worlds of one scene, stepped together: the same numbers at any N, on any threads.

        batch = stiction.Batch(scene, 4096, dt=4e-3, threads=2, configuration="standing")
        batch.assign("friction", rng.uniform(0.4, 1.0, 4096))
        batch.position_target[:] = targets        # (4096, nv)
        batch.step(substeps=5)
        batch.reset(mask=batch.q[:, 2] < 0.15)

    One articulated robot, with the default solver and integrator, runs on lanes: several
    worlds at a time in the vector registers (`lanes`, else `why_not`). Any other scene is stepped
    by Simulators over the threads. No bit of a world depends on N, its place, threads, width, masks
    or on other worlds; a world has exactly the bits of a `Simulator`, on lanes or not.

    A world whose step is not finite keeps the state before it and stands still (`frozen`) until
    `reset` or `set_state`. A step that does not reach the tolerance goes on as a Simulator's would,
    and `status` says so. One call at a time: a second one raises StictionError. Ctrl-C ends `step`;
    each world is then at the end of a whole step, not all of them at the same `time`.

    Args:
        scene: what to simulate; copied.
        num_worlds: N >= 1.
        threads: that share the worlds; 0: one for each core.
        width: worlds of a pack of lanes, 1, 2, 4 or 8; 0: the widest of this processor.
        lanes: False: steps of a Simulator in every scene, with its bits.
        configuration: of the scene, where worlds start and what their servos hold at first.
        parameters: of all worlds, such as sim.parameters; None: those of the scene.
        settings: those of a Simulator, see SettingNames.

    Raises:
        ValueError: an argument or a setting is out of range.
        TypeError: an unknown setting; the message lists the names.
    """

    STATUSES: ClassVar[tuple[str, ...]] = ("ok", "not_converged", "not_finite", "interrupted")
    """Meanings of `status`: those of StepReport.status."""
    LANE_EXITS: ClassVar[tuple[str, ...]] = tuple(_stiction._lane_exits())
    """Meanings of `lane_exit`."""
    FIELDS: ClassVar[tuple[str, ...]] = tuple(_stiction._world_fields())
    """What `assign` takes: fields of Parameters, mass_scale, command_delay and motor_time."""

    def __init__(
        self,
        scene: Scene,
        num_worlds: int,
        *,
        threads: int = 1,
        width: int = 0,
        lanes: bool = True,
        configuration: str = "default",
        parameters: Parameters | None = None,
        **settings: Unpack[SettingNames],
    ) -> None:
        _check_scene(scene)
        for name in settings:
            if name in self.FIELDS:
                raise TypeError(
                    f"Batch() takes no {name!r}: worlds have their own; batch.assign({name!r}, ...)"
                )
        _check_names("Batch", settings, tuple(SettingNames.__annotations__))
        if not isinstance(lanes, bool | np.bool_):
            raise TypeError(f"lanes = {lanes!r}: must be True or False")
        if not isinstance(configuration, str):
            raise TypeError(f"configuration = {configuration!r}: must be a name (str)")
        if parameters is not None:
            _check_type("parameters", parameters, Parameters, "sim.parameters")
        elif edited := scene._edited_parameter():
            warnings.warn(
                f"Batch: the parameters.{edited} of the Simulator whose scene this is was edited "
                "since, and its scene has the number as it was: give parameters=sim.parameters",
                UserWarning,
                stacklevel=level_of_user(),
            )
        chosen = SimulatorSettings()
        for name, value in settings.items():
            _set_typed(chosen, name, value)
        object.__setattr__(self, "_observers", {})
        object.__setattr__(self, "_stepped", False)
        counts = [
            count(name, x)
            for name, x in (("num_worlds", num_worlds), ("threads", threads), ("width", width))
        ]
        worlds, shared, packed = counts
        options = (shared, packed, bool(lanes), configuration, parameters)
        super().__init__(scene, worlds, chosen, *options)

    @property
    def frozen(self) -> NDArray[np.bool_]:
        """(N,) worlds that stand still since a step that was not finite; a copy."""
        return np.equal(self.status, self.STATUSES.index("not_finite"))

    def step(self, substeps: int = 1, mask: ArrayLike | None = None) -> None:
        """`substeps` steps of dt of every world with the present controls. Other Python threads
        run meanwhile; what they write into the arrays then is not defined. The first one warns
        (StartWarning) of bodies that overlap by over 1 mm, looking at the first worlds.

        Args:
            substeps: >= 1; taken while a world's numbers are in the cache.
            mask: (N,) bool, the worlds to step; None: all. Others keep all their numbers.

        Raises:
            ValueError: before anything moves, naming world and entry: a control is not finite, a
                quaternion is not unit. Numbers of q and v that are not finite freeze their world.
            TypeError: `mask` is not of bool.
        """
        self._step(*self._to_step(substeps, mask))

    def step_async(self, substeps: int = 1, mask: ArrayLike | None = None) -> None:
        """step() on threads of the batch's own, while Python goes on; `wait` ends it.

            batch.step_async(substeps=5)
            ...                          # a policy's update, another batch
            batch.wait()

        Until then every other call of the batch raises StictionError. Its arrays may be read, with
        numbers of any moment of the steps; what is written into them is not defined. A batch that
        is deleted meanwhile ends its steps first.

        Args:
            substeps: as in step().
            mask: likewise; copied.

        Raises:
            StictionError: step_async() is under way already: call wait() first.
            TypeError: `mask` is not of bool. What else step() raises, wait() does.
        """
        self._step_async(*self._to_step(substeps, mask))

    def _to_step(self, substeps: int, mask: ArrayLike | None) -> tuple[int, NDArray[Any] | None]:
        """Both checked; looks, once, at where the first step begins."""
        steps, worlds = count("substeps", substeps, least=1), self._mask(mask)
        if not self._stepped:
            object.__setattr__(self, "_stepped", True)
            warn_of_first_batch_step(self, worlds)
        return steps, worlds

    def wait(self) -> None:
        """Until the steps of step_async() have ended; other Python threads run meanwhile, and
        Ctrl-C ends the steps as it does those of step().

        Raises:
            ValueError: as step(), before anything moved.
            StictionError: there was no step_async().
        """
        self._wait()

    def wrench(self, at: str | int) -> Floats:
        """Forces from outside on every world, a writable view like `torque`: held until it is
        written again, zero at first.

            push = batch.wrench("base_link")
            push[:, :3] = rng.normal(0.0, 20.0, (N, 3))
            batch.step(substeps=5)                       # all five with this force
            push[:] = 0.0

        Args:
            at: name of a body or frame, or number of a body.

        Returns:
            (N, 6) force [N] and moment about the origin of the body or frame [N m], both in world
            axes; they act where that origin is at each sub-step. As `ExternalWrench` has them of a
            body. The same memory in every call.

        Raises:
            ValueError: a name is unknown, or does not move, or there is no such body.
            TypeError: neither a name nor a number.
        """
        if not isinstance(at, str):
            at = integer("at", at)
            if not 0 <= at < self.scene.num_bodies:
                raise ValueError(f"at = {at}: must be a body in [0, {self.scene.num_bodies})")
        return self._wrench(at)

    def reset(
        self,
        mask: ArrayLike | None = None,
        q: ArrayLike | None = None,
        v: ArrayLike | None = None,
    ) -> None:
        """Worlds back to the start: time 0, cold warm starts, status "ok". Controls and parameters
        stay; delays and motors are as if the present commands had always held.

        Args:
            mask: (N,) bool, the worlds to reset; None: all.
            q: (N, nq) or (nq,) where to; None: the configuration of the batch. Rows outside the
                mask are not looked at.
            v: (N, nv) or (nv,) [as State.v]; None: at rest.

        Raises:
            ValueError: before anything changes, naming world and entry: a wrong shape, a number
                that is not finite, a quaternion that is not unit.
        """
        self._reset(
            self._mask(mask),
            self._rows("q", q, self.scene.nq),
            self._rows("v", v, self.scene.nv),
        )

    def state(self, world: int) -> State:
        """A copy of a world's state, warm starts included: what `Simulator.step` takes. On lanes it
        has no entries of contacts without an impulse. What delays and motors remember is in
        `commands`."""
        return self._state(self._world(world))

    def set_state(self, world: int, state: State) -> None:
        """The world goes on from this state, warm starts and time included; it is not frozen any
        more. Delays and motors are as if the present commands had always held: see
        `set_commands`.

        Raises:
            ValueError: the state does not fit the scene.
        """
        _check_type("state", state, State, "batch.state(0)")
        self._set_state(self._world(world), state)

    def control(self, world: int) -> Control:
        """What the servos of a world get in its next step, a copy: its rows of torque,
        position_target and velocity_target as delays and motors pass them on, with its wrenches as
        they are at its state."""
        return self._control(self._world(world))

    def commands(self, world: int) -> Floats:
        """What delays and motors of a world remember, a copy: beside `state`, what its next steps
        depend on.

            kept = batch.state(3), batch.commands(3)
            batch.set_state(3, kept[0])
            batch.set_commands(3, kept[1])           # goes on with the same bits

        Returns:
            (1 + D, 3, nv): torque, position_target and velocity_target that the servos got last,
            then its rows in the last D steps, the latest first; D is the longest of its
            `command_delay`. Without delays and motors the present rows alone.
        """
        return self._commands(self._world(world))

    def set_commands(self, world: int, commands: ArrayLike) -> None:
        """The world goes on with these, after set_state(). Without delays and motors it has nothing
        to remember, and nothing changes.

        Raises:
            ValueError: another shape than `commands(world)` has, a number that is not finite.
        """
        world = self._world(world)
        array = numbers("commands", commands)
        if array.shape != (shape := self._commands(world).shape):
            raise ValueError(f"commands has shape {array.shape}: must be {shape} for its delays")
        self._set_commands(world, np.ascontiguousarray(array))

    def parameters(self, world: int) -> Parameters:
        """A copy of the parameters of a world's next step."""
        return self._parameters(self._world(world))

    def set_parameters(self, world: int, parameters: Parameters) -> None:
        """Whole parameters of one world; what was assigned to it before is gone.

        Raises:
            ValueError: they do not fit the scene or are out of range.
        """
        _check_type("parameters", parameters, Parameters, "batch.parameters(0)")
        self._set_parameters(self._world(world), parameters)

    def assign(self, name: str, values: ArrayLike, mask: ArrayLike | None = None) -> None:
        """One field of the parameters of many worlds; only fields that are assigned take memory.

            batch.assign("friction", rng.uniform(0.4, 1.0, N))       # one number a world
            batch.assign("mass_scale", scale, mask=done)             # (N, bodies)
            batch.assign("command_delay", rng.integers(0, 8, N))     # steps of dt

        Args:
            name: one of FIELDS. `mass_scale` multiplies mass and inertia of the scene's bodies, or
                of those that `set_parameters` gave. Torque and targets of a dof reach its servo
                `command_delay` whole steps later (0 to 10000), then through a motor of first order
                with the time constant `motor_time` [s] (0: none), y += (1 - exp(-dt / motor_time))
                (u - y). Both are no Parameters: `set_parameters` leaves them. A delay that grows
                goes on from the oldest command known.
            values: (N, m), (N,) one number for all entries of a world, (1, m) the same for all
                worlds, or a number; m: geometries, bodies, dofs or 3, as `values(name)` has it.
                `gravity` takes (N, 3), (3,) for all, or 0. One number for all as `kp` or `kd` is
                one for all joints that take a servo, and 0 for the rest, such as a floating base.
            mask: (N,) bool, the worlds it is for; None: all.

        Raises:
            ValueError: before anything changes, naming world and entry that is out of range.
        """
        _check_type("name", name, str, "'friction'")
        columns = self._field_size(name)
        values = numbers(name, values)
        shape = values.shape
        if name == "gravity":
            if shape == (3,):
                values = values[None]
            elif shape not in ((self.num_worlds, 3), (1, 3)) and values.any():
                raise ValueError(
                    f"gravity has shape {shape}: must be ({self.num_worlds}, 3), (3,) or 0"
                )
        rows = spread(name, values, self.num_worlds, columns)
        if name in ("kp", "kd") and shape[1:] in ((), (1,)) and columns > 1:
            rows *= np.isin(np.arange(columns), servo_dofs(self.scene))
        self._assign(name, rows, self._mask(mask))

    def values(self, name: str) -> Floats:
        """(N, m) one of FIELDS as it holds for all worlds, a copy."""
        _check_type("name", name, str, "'friction'")
        return self._values(name)

    def __setattr__(self, name: str, value: object) -> None:
        if type(self) is Batch and not hasattr(getattr(Batch, name, None), "__set__"):
            raise AttributeError(
                f"Batch has no attribute {name!r} to set; there are: q, v, torque, "
                "position_target, velocity_target, and assign() for parameters"
            )
        super().__setattr__(name, value)
