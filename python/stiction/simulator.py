"""The Simulator with keyword settings, and rollouts as arrays."""

from __future__ import annotations

import copy
import math
import os
from collections.abc import Mapping, Sequence
from typing import Literal, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike

from . import _stiction
from ._stiction import (
    Control,
    ExternalWrench,
    Parameters,
    Scene,
    SimulatorSettings,
    State,
    Uniqueness,
    uniqueness,
)
from .comparison import Comparison, compare
from .derivatives import (
    SPRINGS,
    STATE,
    StepDerivatives,
    covector,
    directions,
    extensions,
    gradients,
    made_of,
    split,
)
from .explain import Explanation, explain
from .given_array import integer, one_or_many
from .loading import _check_names, _check_scene, _check_type, _set_typed
from .problem_io import save_problem
from .references import RowReference, references
from .rollouts import RECORDABLE, Floats, Rollout, RolloutTape
from .setting_names import SettingNames, SolverOptions
from .starting import warn_of_start
from .wrenches import wrench_on

__all__ = ["Simulator"]


class Simulator(_stiction.Simulator):
    """Settings, workspace and `step()`. Keeps its own copy of the scene; one Simulator per thread.

    A call while another thread is inside raises StictionError that names both calls; `snapshot()`
    alone may be called from any thread at any time. Ctrl-C ends `run` and `rollout`, which leave
    the state of the last whole step and raise KeyboardInterrupt.

        sim = Simulator(scene, dt=1e-3, solver="ncp-newton", tolerance=1e-8)

    Args:
        scene: what to simulate.
        settings: see SettingNames.

    Raises:
        ValueError: a setting is out of range, or names an unknown solver or integrator.
        TypeError: an unknown setting; the message lists the names.
    """

    def __init__(self, scene: Scene, **settings: Unpack[SettingNames]) -> None:
        _check_scene(scene)
        _check_names("Simulator", settings, tuple(SettingNames.__annotations__))
        chosen = SimulatorSettings()
        for name, value in settings.items():
            _set_typed(chosen, name, value)
        super().__init__(scene, chosen)

    @classmethod
    def _of(cls, scene: Scene, settings: SimulatorSettings, parameters: Parameters) -> Simulator:
        """Of settings that are whole."""
        made = cls.__new__(cls)
        _stiction.Simulator.__init__(made, scene, settings)
        made.parameters = parameters
        return made

    def initial_state(self, configuration: str = "default") -> State:
        """At rest in a configuration of the scene: "default", or a named one ("standing", ...).

        Warns (StartWarning), once for each configuration, if bodies overlap there or closures,
        welds or gears are open; the first step, if a changed state has them overlap by over 1 mm.

        Raises:
            ValueError: there is no such configuration; the message lists the names.
        """
        state = super().initial_state(configuration)
        if configuration not in self._starts:
            self._starts[configuration] = warn_of_start(self, state, configuration)
        return state

    def smoothed(self, epsilon: float) -> Simulator:
        """A simulator of the same scene, settings and parameters that steps on the central path.

        Its contacts act at a distance, lambda_N ~ epsilon dt / gap of what is nearer than
        `collision.margin`: make that as large as the gaps that a search has to see. Its derivatives
        are those of its own steps.

        Args:
            epsilon: > 0 [J]; 1e-2 ... 1e-4 for bodies of a kilogram.

        Raises:
            TypeError: epsilon is no number.
            ValueError: epsilon is not positive and finite, or the integrator or solver has no path.
        """
        settings = copy.copy(self.settings)  # may be changed
        settings.smoothing = epsilon
        if not (math.isfinite(epsilon) and epsilon > 0.0):
            raise ValueError(f"epsilon = {epsilon!r}: must be > 0 and finite")
        return Simulator._of(self.scene, settings, self.parameters)

    def __setattr__(self, name: str, value: object) -> None:
        known = name.startswith("_") or hasattr(getattr(Simulator, name, None), "__set__")
        if type(self) is Simulator and not known:
            raise AttributeError(
                f"Simulator has no attribute {name!r} to set; there is: parameters"
            )
        if name == "parameters" and not isinstance(value, Parameters):
            raise TypeError(f"Simulator.parameters = {value!r}: must be Parameters")
        super().__setattr__(name, value)

    @overload
    def rollout(
        self,
        state: State,
        taus: ArrayLike | None = None,
        position_targets: ArrayLike | None = None,
        steps: int | None = None,
        record: str | Sequence[str] | None = None,
        control: Control | None = None,
        tape: Literal[False] = False,
        checkpoint_every: int = 0,
    ) -> Rollout: ...
    @overload
    def rollout(
        self,
        state: State,
        taus: ArrayLike | None = None,
        position_targets: ArrayLike | None = None,
        steps: int | None = None,
        record: str | Sequence[str] | None = None,
        control: Control | None = None,
        *,
        tape: Literal[True],
        checkpoint_every: int = 0,
    ) -> RolloutTape: ...
    def rollout(
        self,
        state: State,
        taus: ArrayLike | None = None,
        position_targets: ArrayLike | None = None,
        steps: int | None = None,
        record: str | Sequence[str] | None = None,
        control: Control | None = None,
        tape: bool = False,
        checkpoint_every: int = 0,
    ) -> Rollout:
        """Many steps in one call, bit for bit the same as a loop of `step`. Advances `state`.

        Args:
            state: where to start; holds the end afterwards.
            taus: (T, nv) torques, one row per step [N m or N]; None: those of `control`.
            position_targets: (T, nv) servo targets [rad or m]; None: those of `control`.
            steps: T, if neither array is given.
            record: names among those of Rollout, or one of them; None: all.
            control: what the arrays leave open; None: `hold()`.
            tape: return a RolloutTape, whose `adjoint` gives gradients.
            checkpoint_every: steps between the states that the tape keeps; 0: sqrt(T).

        Raises:
            ValueError: an argument has a wrong shape or is not finite; a tape of the rigid
                integrator with `project_closures`.
            SimulationError: a step was not finite; `state` is as it was before that step.
        """
        _check_type("state", state, State, "sim.initial_state()")
        names = RECORDABLE if record is None else one_or_many(record)
        for name in names:
            if name not in RECORDABLE:
                raise ValueError(f"record: {name!r} is unknown; there are: {', '.join(RECORDABLE)}")
        rows = set()
        for name, given in (("taus", taus), ("position_targets", position_targets)):
            if given is not None:
                if np.ndim(given) == 0:
                    raise ValueError(f"{name} = {given!r}: must be an array (T, nv)")
                rows.add(len(np.asarray(given)))
        if steps is not None:
            rows.add(integer("steps", steps))
        if len(rows) != 1:
            raise ValueError(
                f"rollout: taus, position_targets and steps say {sorted(rows) or 'no'} steps; "
                "they must agree on one number"
            )
        every = integer("checkpoint_every", checkpoint_every)
        if every < 0 or (every > 0 and not tape):
            raise ValueError(
                f"checkpoint_every = {every}: must be " + (">= 0" if tape else "0 without a tape")
            )
        log, kept = self._rollout(
            state, control, taus, position_targets, rows.pop(), bool(tape), every
        )
        recorded = {name: getattr(log, name) for name in names}
        if not tape:
            return Rollout(steps=log.steps, **recorded)
        return RolloutTape(log.steps, **recorded, _simulator=self, _log=log, _tape=kept)

    def step_derivatives(
        self,
        state: State | None = None,
        control: Control | ArrayLike | None = None,
        wrt: str | Sequence[str] = STATE,
    ) -> StepDerivatives:
        """Steps a copy of `state` and differentiates that step, the last one of this simulator from
        then on. `state` stays, and no bit of a step depends on it.

            d = sim.step_derivatives(state, control, wrt=("q", "v", "torque", "friction"))
            d.A, d.B, d.by("friction"), d.next_state, d.report

        Args:
            state: where the step begins; None: the last step that was taken, with its control.
            control: as in `step`.
            wrt: names among q, v and torque, which always come, and `derivative_parameters()`:
                fields of Parameters and Control, whose columns make up P. Of a placement of a
                shape and of a frame of a closure they are a shift along its axes [m] and a turn
                about them [rad]: X exp(x).

        Raises:
            ValueError: an argument has a wrong shape, is not finite or not known; no step was taken
                yet; the solver regularises its problem or solves another model than the NCP or CCP;
                a compliant integrator is asked for more than q, v and torque; bodies in touch have
                more than 600 dofs together (take vjp or jvp), or the scene has under a compliant
                integrator (take jvp).
            SimulationError: the step was not finite.
        """
        names = split(wrt)[1]
        if state is None:
            if control is not None:
                raise ValueError("control: needs a state; without one it is that of the last step")
            return made_of(self._last_derivatives(names), None)
        _check_type("state", state, State, "sim.initial_state()")
        end = state.copy()
        return made_of(self._step_derivatives(end, control, names), end)

    def vjp(self, w: ArrayLike, wrt: str | Sequence[str] = STATE) -> Floats | tuple[Floats, ...]:
        """Gradients of w . (q+, v+) of the last step, or of any scalar l of its end.

            sim.step(state, control)
            gq, gv, gtorque = sim.vjp(w)

        Args:
            w: (2 nv,) dl/dq+ and dl/dv+, of tangents at the end of the step; of compliant steps
                also (2 nv + 3 ns,) with the extensions of the springs, `gradient_report().springs`.
            wrt: as in `step_derivatives`, or "springs"; only these are returned.

        Returns:
            One array for each name, in their order; for a name alone the array: (nv,) by q, v and
            torque, tangents at the start; else of the shape of the field, inertias as (bodies, 6)
            xx, xy, yy, xz, yz, zz, placements and frames as (geometries or closures, 6).

        Raises:
            ValueError: as in `step_derivatives`, without a bound on the number of dofs; the product
                overflows.
        """
        names, parameters = split(wrt, (SPRINGS,))
        found = gradients(self._vjp(covector(w, self.scene.nv), parameters), names)
        return found[0] if isinstance(wrt, str) else found

    def jvp(
        self,
        dq: ArrayLike | None = None,
        dv: ArrayLike | None = None,
        dtorque: ArrayLike | None = None,
        dsprings: ArrayLike | None = None,
        parameters: Mapping[str, ArrayLike] | None = None,
    ) -> Floats:
        """Change of (q+, v+) of the last step along one direction.

            dx = sim.jvp(dv=dv, parameters={"friction": df, "position_target": dt})

        Args:
            dq, dv, dtorque: (nv,) changes of q and v, tangents at the start of the step, and of
                torques; None: zero.
            dsprings: (3 ns,) of the extensions of the springs, `gradient_report().springs`; with
                it the change has theirs too.
            parameters: changes by name, names of `derivative_parameters()`; of the shape that `vjp`
                returns, or flat as the columns of `step_derivatives(wrt=...).by(name)`.

        Returns:
            (2 nv,) tangents at the end of the step; with `dsprings` (2 nv + 3 ns,).

        Raises:
            TypeError: `parameters` is no dictionary of arrays by name.
            ValueError: as in `vjp`; of a compliant integrator with any parameter.
        """
        changes = directions(parameters, self._parameter_ranges)
        return self._jvp(dq, dv, dtorque, extensions(dsprings), changes)

    def add_wrench(
        self,
        control: Control,
        body: str | int,
        force: ArrayLike = (0.0, 0.0, 0.0),
        moment: ArrayLike = (0.0, 0.0, 0.0),
        point: ArrayLike | None = None,
        frame: str = "world",
        state: State | None = None,
    ) -> ExternalWrench:
        """Adds a wrench on a body to `control.wrenches`, where it stays as it is until they are
        assigned anew; returns it.

        Args:
            control: what it is added to.
            body: name or number.
            force: (3,) [N].
            moment: (3,) about `point` [N m].
            point: (3,) where the force acts [m]; None: the body's origin.
            frame: "world" or "body": the axes of all three, and the origin of `point`.
            state: where the body is; needed with a point or in the frame of the body.

        Raises:
            ValueError: an unknown body or frame, or `state` is missing.
        """
        _check_type("control", control, Control, "sim.hold()")
        index = self.scene.body(body) if isinstance(body, str) else integer("body", body)
        if not 0 <= index < self.scene.num_bodies:
            raise ValueError(f"body = {index}: must be in [0, {self.scene.num_bodies})")
        wrench = wrench_on(self, index, force, moment, point, frame, state)
        control.wrenches += (wrench,)
        return wrench

    def compare(
        self,
        state: State,
        control: Control | ArrayLike | None = None,
        solvers: str | Sequence[str] | None = None,
        warm_start: bool = True,
        **options: Unpack[SolverOptions],
    ) -> Comparison:
        """The contact problem of one step, solved by each solver: forces, next velocity, residuals,
        work and time side by side. Leaves the state and this simulator as they are.

        Args:
            state: where the step begins.
            control: as in `step`.
            solvers: names of `stiction.solvers()`, or one of them; None: all.
            warm_start: start from the state's impulses, as a step does; False: from zero.
            options: settings of the solvers, instead of this simulator's.

        Raises:
            ValueError: an argument is out of range; the message names it and its value.
            TypeError: an unknown option.
        """
        _check_type("state", state, State, "sim.initial_state()")
        names = list(_stiction.solvers()) if solvers is None else list(one_or_many(solvers))
        return compare(self, state, control, names, warm_start, options)

    def explain(
        self,
        state: State,
        control: Control | ArrayLike | None = None,
        base: str = "ccp-newton",
        **options: Unpack[SolverOptions],
    ) -> Explanation:
        """Which hypothesis of a solver makes the difference to the next velocity? Switches them one
        at a time, relaxation, compliance, time step, manifold, warm start, iterations, margin and
        penetration correction, and measures against an exact reference with short steps. Leaves the
        state and this simulator as they are.

        Args:
            state: where the step begins.
            control: as in `step`.
            base: the solver to explain, with this simulator's settings.
            options: settings of that solver, instead of this simulator's.
        """
        _check_type("state", state, State, "sim.initial_state()")
        return explain(self, state, control, base, options)

    def references(self) -> list[RowReference]:
        """Of every row of the last step's contact problem, what velocity it asked for and which
        rule gave it: gap, recovery, its caps, restitution, spring. Of a compliant step, of the rows
        that stay rigid."""
        self._needs_step("Simulator.references")
        return references(self)

    def uniqueness(self, threshold: float = 1e-9, tolerance: float = 1e-6) -> Uniqueness:
        """Whether the impulses of the last step are alone in their neighbourhood; see
        `stiction.uniqueness`. For solvers of the NCP."""
        self._needs_step("Simulator.uniqueness")
        return uniqueness(self.problem(), self.solution().impulse, threshold, tolerance)

    def save_problem(self, path: str | os.PathLike[str]) -> None:
        """Write the contact problem of the last step, with what its solver started from, to an .npz
        file; `stiction.load_problem` and `load_warm_start` read it back bit for bit."""
        self._needs_step("Simulator.save_problem")
        save_problem(path, self.problem(), self.warm_start())
