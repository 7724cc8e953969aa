"""stiction behind the benchmark's `World`, with our default settings and the certificate on."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stiction import Simulator, load
from stiction.certificate import ContactSample

from .worlds import BenchError, Facts, Kick, Observed

SOLVER, TOLERANCE = "ncp-newton", 1e-8


class StictionWorld:
    """A simulator, its state, and the state the measurements start from.

    Args:
        scene: argument of `stiction.load`.
        dt: time step [s].
        start, hold: configurations of the initial state and of the servo targets.
        pose, velocity: q and v of the initial state, where not those of `start` at rest.
        tolerance: of the solver.
    """

    label = "stiction"

    def __init__(
        self,
        scene: str,
        dt: float,
        start: str = "default",
        hold: str = "default",
        pose: Sequence[float] | None = None,
        velocity: Sequence[float] | None = None,
        tolerance: float = TOLERANCE,
    ) -> None:
        self.dt = dt
        self._scene = load(scene)
        self._sim = Simulator(self._scene, dt=dt, solver=SOLVER, tolerance=tolerance)
        self._state = self._sim.initial_state(start)
        if pose is not None:
            self._state.q[:] = pose
        if velocity is not None:
            self._state.v[:] = velocity
        self._control = self._sim.hold(hold)
        self._start = self._state.copy()
        parameters = self._sim.parameters
        self._servos = np.flatnonzero(np.asarray(parameters.kp) > 0)

    # --- World ---

    def facts(self) -> Facts:
        """Of the state the next `settle` or `restart` begins with."""
        parameters = self._sim.parameters
        mass, com = np.asarray(parameters.mass), np.asarray(parameters.com)
        poses = self._sim.body_poses(self._state)
        heights = [
            float((pose.rotation @ c + pose.translation)[2])
            for pose, c in zip(poses, com, strict=True)
        ]
        return Facts(
            mass=float(mass.sum()),
            nv=int(self._scene.nv),
            com_height=float(mass @ heights) / float(mass.sum()),
            friction=float(np.max(parameters.friction)),
            stiffness=float(np.sum(parameters.kp)),
            damping=float(np.sum(np.asarray(parameters.kd)[self._servos])),
        )

    def settle(self, seconds: float) -> None:
        """Advance and remember the state reached as the start."""
        self.advance(max(1, round(seconds / self.dt)) if seconds > 0 else 0)
        self._start = self._state.copy()

    def restart(self) -> None:
        """Back to the start, with warm starts as they were there."""
        self._state = self._start.copy()

    def advance(self, steps: int) -> None:
        """That many steps with the held targets, in one call."""
        self._sim.run(self._state, self._control, steps)

    def kick(self, kick: Kick) -> None:
        """Change the velocity of a loose body."""
        rotation = self._sim.body_poses(self._state)[kick.body].rotation
        mass = float(self._sim.parameters.mass[kick.body])
        first = 6 * kick.body
        self._state.v[first : first + 3] += rotation.T @ np.array(kick.impulse) / mass

    def prepare_rollout(self, noise: NDArray[np.float64]) -> None:
        """The next `rollout` adds noise (T, servos) [rad] to the targets, a row per step."""
        self.restart()
        self._targets = np.tile(np.asarray(self._control.position_target), (len(noise), 1))
        self._targets[:, self._servos] += noise

    def rollout(self) -> None:
        """The prepared steps, in one call."""
        self._sim.rollout(
            self._state, position_targets=self._targets, control=self._control, record=("q", "v")
        )

    def observe(self, noise: NDArray[np.float64]) -> Observed:
        """One step with noise (servos,) [rad] on the targets."""
        control = self._control.copy()
        control.position_target[self._servos] += noise
        report = self._sim.step(self._state, control)
        residual = float(report.residuals.relative)
        pairs = np.array([(c.geometry_a, c.geometry_b) for c in self._sim.contacts()], dtype=int)
        sample = contact_sample(self._sim)
        return Observed(sample, int(report.iterations), residual, pairs.reshape(-1, 2))

    def derivative_times(self, repeats: int) -> tuple[NDArray[np.float64], ...]:
        """Steps from the start, matrices and gradients after them [s]."""
        self.restart()
        return self._sim._time_derivatives(self._state, self._control, repeats)

    def gradient_report(self) -> Any:
        """Of the step from the start."""
        self.restart()
        self._sim.step(self._state, self._control)
        return self._sim.gradient_report()

    def with_tolerance(self, tolerance: float) -> StictionWorld:
        """The same at the same start, every island solved to another tolerance; its label tells."""
        other = copy.copy(self)
        other.label = f"{self.label} {tolerance:g}"
        other._sim = Simulator(
            self._scene, dt=self.dt, solver=SOLVER, tolerance=tolerance, tolerance_large=tolerance
        )
        other.restart()
        return other

    # --- what the peer's builders and the report need ---

    @property
    def joints(self) -> list[str]:
        """Names of the joints with a servo, in the order of the noise columns."""
        names = {joint.v_index: joint.name for joint in self._scene.joints}
        return [names[int(dof)].rsplit("/", 1)[-1] for dof in self._servos]

    @property
    def num_bodies(self) -> int:
        """Bodies that move."""
        return int(self._scene.num_bodies)

    def robot_file(self) -> Path:
        """The URDF of the scene's first robot."""
        for robot in self._scene.robots:
            return Path(robot.description.path)
        raise BenchError(f"scene {self._scene.name!r} has no robot")

    def field(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Samples (ny, nx) and cell sizes (2,) of the scene's height field [m]."""
        for g in self._scene.geometries:
            if g.shape.heights is not None and g.shape.cell_size is not None:
                return g.shape.heights, g.shape.cell_size
        raise BenchError(f"scene {self._scene.name!r} has no height field")

    def hulls(self) -> list[NDArray[np.float64]]:
        """Hull vertices (k, 3) of each loose body, in the bodies' order, body frame [m]."""
        found = {
            g.body: np.asarray(g.shape.vertices) for g in self._scene.geometries if g.body >= 0
        }
        return [found[body] for body in range(self.num_bodies)]

    def loose_bodies(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Poses and velocities in MuJoCo's layout, for a scene of free bodies only: (7 n,), (6 n,).

        x y z [m] qw qx qy qz; linear velocity in the world [m/s], angular in the body [rad/s].
        """
        q = np.asarray(self._state.q).reshape(-1, 7)
        v = np.asarray(self._state.v).reshape(-1, 6)
        poses = self._sim.body_poses(self._state)
        linear = np.array([pose.rotation @ row[:3] for pose, row in zip(poses, v, strict=True)])
        positions = np.hstack([q[:, :3], q[:, 6:7], q[:, 3:6]])
        return positions.ravel(), np.hstack([linear, v[:, 3:]]).ravel()

    def settings(self) -> dict[str, Any]:
        """What the step was run with."""
        s = self._sim.settings
        return {
            "integrator": str(s.integrator),
            "solver": str(s.solver),
            "tolerance": float(s.tolerance),
            "max_iterations": int(s.max_iterations),
            "baumgarte": float(s.baumgarte),
            "recovery_speed": float(s.recovery_speed),
            "recovery_angular_speed": float(s.recovery_angular_speed),
            "margin": float(s.margin),
        }


def contact_sample(sim: Simulator) -> ContactSample:
    """The contacts of the step just taken."""
    contacts = sim.contacts()
    if not contacts:
        none = np.zeros((0, 3))
        return ContactSample(none, none, np.zeros(0), np.zeros(0), none, none)
    return ContactSample(
        position=np.array([c.position for c in contacts]),
        normal=np.array([c.normal for c in contacts]),
        gap=np.array([c.gap for c in contacts]),
        friction=np.array([c.friction for c in contacts]),
        impulse=np.array([c.impulse for c in contacts]),
        velocity=np.array([c.velocity for c in contacts]),
    )
