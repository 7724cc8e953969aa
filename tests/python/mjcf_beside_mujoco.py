"""MuJoCo's dynamics in stiction's coordinates, and the files both read.

qvel = T(q) v: of a free joint T turns the linear part from the body's axes to the world's, else it
is the identity; so M = T' M_mujoco T, and qacc = T a + dT/dt v.
"""

from __future__ import annotations

import contextlib
import importlib.util
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import mujoco
import numpy as np
import pinocchio
import pytest
import stiction

DATA = Path(__file__).resolve().parents[1] / "data" / "mjcf"
GYMNASIUM = (
    "ant",
    "half_cheetah",
    "hopper",
    "humanoid",
    "humanoidstandup",
    "inverted_double_pendulum",
    "inverted_pendulum",
    "point",
    "pusher_v5",
    "reacher",
    "swimmer",
    "walker2d_v5",
)


def gymnasium_file(name: str) -> Path:
    """An MJCF file of the package gymnasium, which is not imported."""
    found = importlib.util.find_spec("gymnasium")
    if found is None or not found.submodule_search_locations:
        pytest.skip("gymnasium is not installed")
    return Path(found.submodule_search_locations[0]) / "envs" / "mujoco" / "assets" / f"{name}.xml"


def file_of(name: str) -> Path:
    """One of ours, else gymnasium's."""
    own = DATA / f"{name}.xml"
    return own if own.is_file() else gymnasium_file(name)


@dataclass
class Beside:
    """One file in both engines, without constraints and fluid in MuJoCo's.

    equalities: whether the scene has them. acts_at_once: MuJoCo's activations are the controls.
    """

    file: Path
    equalities: bool = True
    acts_at_once: bool = False

    def __post_init__(self) -> None:
        with warnings.catch_warnings(), contextlib.ExitStack() as stack:
            warnings.simplefilter("ignore", stiction.LoadWarning)
            if not self.equalities:
                stack.enter_context(mock.patch("stiction.loaders.mjcf.add_equalities"))
            self.ours = stiction.load_mjcf(self.file)
        self.m = mujoco.MjModel.from_xml_path(str(self.file))
        self.m.opt.density = self.m.opt.viscosity = 0.0
        self.m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        self.d = mujoco.MjData(self.m)

    @property
    def scene(self) -> stiction.Scene:
        return self.ours.scene

    def random(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, v and MuJoCo's ctrl, inside and outside their ranges."""
        q = stiction.integrate(self.scene, self.scene.default_q, rng.uniform(-1, 1, self.scene.nv))
        return q, rng.normal(size=self.scene.nv), rng.uniform(-1.5, 1.5, int(self.m.nu))

    def set(self, q: np.ndarray, v: np.ndarray, ctrl: np.ndarray) -> None:
        """MuJoCo's state and everything that follows from it."""
        self.d.qpos[:] = stiction.to_mujoco_qpos(self.scene, q)
        self.d.qvel[:] = stiction.to_mujoco_qvel(self.scene, q, v)
        self.d.ctrl[:] = ctrl
        if self.acts_at_once:
            self.d.act[:] = ctrl[self.m.actuator_ctrladr[self.m.actuator_actadr >= 0]]
        mujoco.mj_forward(self.m, self.d)

    def free_joints(self) -> list[Any]:
        return [joint for joint in self.scene.joints if joint.type == "free_flyer"]

    @property
    def articulated(self) -> np.ndarray:
        """(nv,) not of a body alone on a free joint."""
        kept = np.ones(self.scene.nv, dtype=bool)
        for joint in self.free_joints():
            if len(self._tree(joint)) == 1:
                kept[joint.v_index : joint.v_index + 6] = False
        return kept

    def turn(self, q: np.ndarray) -> np.ndarray:
        """T (nv, nv)."""
        T = np.eye(self.scene.nv)
        for joint in self.free_joints():
            at = slice(joint.v_index, joint.v_index + 3)
            basis = np.zeros((3, self.scene.nv))
            basis[:, at] = np.eye(3)
            T[at, at] = stiction.to_mujoco_qvel(self.scene, np.tile(q, (3, 1)), basis)[:, at].T
        return T

    def turn_rate(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """dT/dt v (nv,)."""
        rate = np.zeros(self.scene.nv)
        for joint in self.free_joints():
            i = joint.v_index
            rate[i : i + 3] = np.cross(v[i + 3 : i + 6], v[i : i + 3])
        return self.turn(q) @ rate

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """MuJoCo's at the state that was set, in our coordinates."""
        M = np.zeros((self.m.nv, self.m.nv))
        mujoco.mj_fullM(self.m, self.d, M)
        T = self.turn(q)
        return T.T @ M @ T

    def bias(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Force at zero acceleration in our coordinates."""
        M = np.zeros((self.m.nv, self.m.nv))
        mujoco.mj_fullM(self.m, self.d, M)
        return self.turn(q).T @ (M @ self.turn_rate(q, v) + self.d.qfrc_bias)

    def change_of_bias(self, q: np.ndarray, v: np.ndarray, other: np.ndarray) -> np.ndarray:
        """From v to another velocity, in our coordinates, of a force at zero acceleration of the
        origins of free bodies. MuJoCo's state stays as it was set."""
        start, ctrl = self.d.qfrc_bias.copy(), self.d.ctrl.copy()
        self.set(q, other, ctrl)
        change = self.turn(q).T @ (self.d.qfrc_bias - start)
        self.set(q, v, ctrl)
        return change

    def acceleration(self, q: np.ndarray) -> np.ndarray:
        """(nv,) MuJoCo's, the linear part of free joints in the axes of q."""
        return np.linalg.solve(self.turn(q), self.d.qacc)

    def change(self, q: np.ndarray, v: np.ndarray, end: stiction.State) -> np.ndarray:
        """v+ - v of a step in the axes of q. A step turns the velocity of free bodies into the axes
        of its end."""
        dv = end.v - v
        for joint in self.free_joints():
            R, R_end = (rotation(x[joint.q_index + 3 : joint.q_index + 7]) for x in (q, end.q))
            back, i = R.T @ R_end, joint.v_index
            for k in (i, i + 3):
                dv[k : k + 3] = back @ end.v[k : k + 3] - v[k : k + 3]
        return dv

    def of_pinocchio(
        self, q: np.ndarray, v: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray, slice]]:
        """Mass matrix and bias of each robot's model, with its slice of v."""
        for robot in self.scene.robots:
            model = stiction.pinocchio_model(self.scene, robot.name)
            data = model.createData()
            at = slice(robot.v_offset, robot.v_offset + robot.nv)
            own_q = q[robot.q_offset : robot.q_offset + robot.nq]
            M = np.triu(pinocchio.crba(model, data, own_q))
            bias = pinocchio.nonLinearEffects(model, data, own_q, v[at])
            yield M + np.triu(M, 1).T, bias, at

    def _tree(self, joint: Any) -> list[Any]:
        """The joints of its robot."""
        robot = next(r for r in self.scene.robots if 0 <= joint.body - r.body_offset < r.num_bodies)
        first = robot.body_offset
        return [j for j in self.scene.joints if first <= j.body < first + robot.num_bodies]


def rotation(quaternion: np.ndarray) -> np.ndarray:
    """(3, 3) of x y z w."""
    return pinocchio.Quaternion(quaternion).toRotationMatrix()


def without_constraints(scene: stiction.Scene) -> stiction.Scene:
    """A copy in which nothing collides and no limit or dry friction acts."""
    free = scene.copy()
    free.enable_only([])
    p = free.parameters
    p.lower[:], p.upper[:], p.dry_friction[:] = -np.inf, np.inf, 0.0
    return free


def close(ours: np.ndarray, theirs: np.ndarray, relative: float = 1e-9) -> None:
    """Of the largest entry, or of 1 if that is smaller."""
    assert np.abs(ours - theirs).max(initial=0.0) <= relative * max(
        1.0, np.abs(theirs).max(initial=0.0)
    )


LEAST = {"mass matrix": 1e-9, "bias": 1e-6, "acceleration": 1.0}
"""What differences are relative to at least: below it rounding is all there is."""


def worst_differences(
    beside: Beside, rng: np.random.Generator, states: int = 5, dt: float = 1e-3
) -> dict[str, float]:
    """Of mass matrix, bias and acceleration at random states and controls, relative to the largest
    entry. No constraint acts in either engine.

    A step has damping, springs and what torque and servo give, u = tau + kp (q* - q) + kd (v* - v)
    or the effort limit, at its end, v+ and q + dt v+; MuJoCo has them at the start, clamped, which
    is undone here: M dv / dt + d dv + dt k v+ - (u+ - u) = M a. Which of the two u+ is, is what is
    nearer. A step has Coriolis forces of its mean velocity, MuJoCo those of the start: the
    difference is MuJoCo's too. Not of loose bodies, whose step follows their momentum.
    """
    scene = without_constraints(beside.scene)
    sim, p = stiction.Simulator(scene, dt=dt), scene.parameters
    worst = {"mass matrix": 0.0, "bias": 0.0, "acceleration": 0.0}
    for _ in range(states):
        q, v, ctrl = beside.random(rng)
        beside.set(q, v, ctrl)
        control, M = beside.ours.control(ctrl), beside.mass_matrix(q)
        state = stiction.make_state(scene, q)
        state.v = v
        sim.step(state, control)
        dv, place = beside.change(q, v, state), scene.dof_positions(q)
        end = v + dv
        limit = np.array(p.effort_limit)
        begun = np.clip(effort(p, control, place, v), -limit, limit)
        force = M @ dv / dt + p.damping * dv + dt * p.spring_stiffness * end
        force += beside.change_of_bias(q, v, v + 0.5 * dv)
        given = force - M @ beside.acceleration(q) + begun
        ended = nearest(given, [effort(p, control, place + dt * end, end), limit, -limit])
        found = np.linalg.solve(M, force - (ended - begun))
        kept = beside.articulated
        _note(worst, "acceleration", found[kept], beside.acceleration(q)[kept])
        for own_M, own_bias, at in beside.of_pinocchio(q, v):
            _note(worst, "mass matrix", own_M, M[at, at])
            _note(worst, "bias", own_bias, beside.bias(q, v)[at])
    return worst


def effort(
    p: stiction.Parameters, control: stiction.Control, place: np.ndarray, v: np.ndarray
) -> np.ndarray:
    """(nv,) that torque and servo ask for."""
    servo = p.kp * (control.position_target - place) + p.kd * (control.velocity_target - v)
    return np.asarray(control.torque + servo)


def nearest(x: np.ndarray, to: list[np.ndarray]) -> np.ndarray:
    """(n,) for each entry of x the nearest of some."""
    rows = np.stack(to)
    return rows[np.argmin(np.abs(rows - x), axis=0), np.arange(len(x))]


def _note(worst: dict[str, float], name: str, ours: np.ndarray, theirs: np.ndarray) -> None:
    scale = max(np.abs(theirs).max(initial=0.0), LEAST[name])
    worst[name] = max(worst[name], float(np.abs(ours - theirs).max(initial=0.0) / scale))
