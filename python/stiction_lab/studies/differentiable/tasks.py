"""Two tasks for gradients of rollouts: a box pushed to a place, and a jump of Solo-12."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio
import stiction
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Goal = Callable[[Floats, Floats], tuple[Floats, Floats]]
"""(q, v) at the end -> residual (m,) and its derivative by tangents [q | v] (m, 2 nv)."""

PUSHER = """<robot name="pusher">
  <link name="base"/><link name="rail"><inertial><mass value="0.1"/>
    <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="ball"><inertial><mass value="0.5"/>
    <inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision name="ball"><geometry><sphere radius="0.04"/></geometry></collision></link>
  <joint name="x" type="prismatic"><parent link="base"/><child link="rail"/><axis xyz="1 0 0"/>
    <limit lower="-9" upper="9" effort="99" velocity="99"/></joint>
  <joint name="y" type="prismatic"><parent link="rail"/><child link="ball"/><axis xyz="0 1 0"/>
    <limit lower="-9" upper="9" effort="99" velocity="99"/></joint>
</robot>"""


@dataclass
class Task:
    """Torques x, constant over each of `knots` parts of a rollout, that bring its end to a goal.

    Attributes:
        sim: exact; its initial state is `begin`.
        start: (n,) where searches begin.
        dofs: that x acts on; x is (knots, len(dofs)), flat.
        effort: residual per unit of x - rest.
        noise: of randomized estimators, in the unit of x.
        epsilon: of the central path, where it begins [J].
        miss: what is judged, of (q, v) at the end [m].
    """

    sim: stiction.Simulator
    begin: stiction.State
    start: Floats
    steps: int
    knots: int
    dofs: list[int]
    effort: float
    noise: float
    epsilon: float
    goal: Goal
    miss: Callable[[Floats], float]

    def residual(self, sim: stiction.Simulator, x: Floats) -> Floats:
        """Of the goal and of the effort."""
        end = self.begin.copy()
        sim.rollout(end, self._torques(x), record="converged")
        return np.concatenate([self.goal(end.q, end.v)[0], self.effort * x])

    def jacobian(self, sim: stiction.Simulator, x: Floats) -> Floats:
        """Of the residual, by one adjoint a row of the goal."""
        end = self.begin.copy()
        tape = sim.rollout(end, self._torques(x), record="converged", tape=True)
        _, by_state = self.goal(end.q, end.v)
        goal = [self._by_x(tape.adjoint(row, wrt="taus")) for row in by_state]
        return np.array([*goal, *(self.effort * np.eye(len(x)))])

    def report(self, x: Floats) -> stiction.RolloutGradientReport:
        """Of the exact gradient."""
        end = self.begin.copy()
        tape = self.sim.rollout(end, self._torques(x), record="converged", tape=True)
        return tape.adjoint(self.goal(end.q, end.v)[1][0], wrt="taus").report

    def judged(self, x: Floats) -> tuple[float, float]:
        """Cost and miss [m] by the exact step."""
        r = self.residual(self.sim, x)
        end = self.begin.copy()
        self.sim.rollout(end, self._torques(x), record="converged")
        return float(r @ r), self.miss(end.q)

    def _torques(self, x: Floats) -> Floats:
        out = np.zeros((self.steps, self.sim.scene.nv))
        out[:, self.dofs] = x.reshape(self.knots, -1)[self._knot()]
        return out

    def _by_x(self, gradient: stiction.RolloutGradient) -> Floats:
        assert gradient.taus is not None
        out = np.zeros((self.knots, len(self.dofs)))
        np.add.at(out, self._knot(), gradient.taus[:, self.dofs])
        return out.ravel()

    def _knot(self) -> NDArray[np.intp]:
        return np.arange(self.steps) * self.knots // self.steps


def push(force: float, generator: np.random.Generator) -> Task:
    """A ball on two rails pushes a box of 1 kg to a place 25 cm off, give or take 3 cm; it starts 7
    cm from the box with a constant force [N] along x."""
    scene = stiction.Scene(name="push")
    scene.add_ground()
    start = pinocchio.SE3(np.eye(3), np.array([-0.21, 0.0, 0.05]))
    scene.add_robot(stiction.load_urdf_string(PUSHER, free_flyer=False), start)
    slippery = stiction.Material(friction=0.4)
    place = pinocchio.SE3(np.eye(3), np.array([0.0, 0.0, 0.05]))
    scene.add_body("box", stiction.Box([0.1, 0.1, 0.05]), mass=1.0, X_W=place, material=slippery)
    sim = stiction.Simulator(scene, dt=0.01, margin=0.3)
    target = np.array([0.25, 0.0]) + generator.uniform(-0.03, 0.03, 2)

    def goal(q: Floats, v: Floats) -> tuple[Floats, Floats]:
        by = np.zeros((2, 2 * scene.nv))
        by[:, 2:5] = 10.0 * pinocchio.Quaternion(q[5:9]).matrix()[:2]
        return 10.0 * (q[2:4] - target), by

    begin = np.tile([force, 0.0], (50, 1)).ravel()
    miss = lambda q: float(np.linalg.norm(q[2:4] - target))  # noqa: E731
    return Task(
        sim, sim.initial_state(), begin, 50, 50, [0, 1], 0.002, 5.0, 1e-2, goal, miss
    )  # fmt: skip


def jump(generator: np.random.Generator) -> Task:
    """Solo-12 stands; torques on top of its servos bring it to 45 cm, give or take 3 cm, upright,
    in 0.3 s."""
    scene = stiction.load("solo12")
    sim = stiction.Simulator(scene, dt=5e-3, margin=0.05)
    height = 0.45 + generator.uniform(-0.03, 0.03)
    begin = sim.initial_state("standing")
    sim.run(begin, sim.hold("standing"), 100)

    def goal(q: Floats, v: Floats) -> tuple[Floats, Floats]:
        x, y, z, w = q[3:7]
        by = np.zeros((4, 2 * scene.nv))
        by[0, :3] = 10.0 * pinocchio.Quaternion(q[3:7]).matrix()[2]
        by[1:, 3:6] = 1.5 * np.array([[w, -z, y], [z, w, -x], [-y, x, w]])
        return np.r_[10.0 * (q[2] - height), 3.0 * q[3:6]], by

    start = generator.normal(0.0, 0.05, 144)
    miss = lambda q: float(abs(q[2] - height))  # noqa: E731
    return Task(
        sim, begin, start, 60, 12, list(range(6, 18)), 0.02, 0.3, 1e-3, goal, miss
    )  # fmt: skip
