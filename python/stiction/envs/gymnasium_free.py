"""Gymnasium's two robots on a free joint, version 5, see gymnasium_tasks.py: ant and humanoid."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..loaders.mjcf import Mjcf
from ..rotations import rotations
from .batch_env import Bools, Floats, Observations
from .gymnasium_tasks import GymnasiumTask, in_the_plane

__all__ = ["Ant", "Humanoid"]


class _FreeRobot(GymnasiumTask):
    """Its first dofs as MuJoCo has them, and forces of contacts on its bodies: MuJoCo's cfrc_ext,
    moment and force about the centre of mass, world axes, of the last step of an action and where
    that step began. Contacts are rigid: the forces carry what MuJoCo's do, but are those of an
    impulse over a step where the robot lands."""

    _forces: Floats | None = None
    """What `_cfrc_ext` shows of the present states, if the reward has found it."""

    def _size(self, model: Mjcf) -> int:
        self._mj = model._source.model
        self._names = model._source.names("body")[1:]
        self._motors = len(model.actuators)
        moving = {g: s for g, s in model._geometries.items() if self._mj.geom_bodyid[g] > 0}
        self._shapes = sorted(moving.values())
        self._bodies = np.zeros((len(self._shapes), len(self._names)))  # which shape is whose
        for g, s in moving.items():
            self._bodies[self._shapes.index(s), int(self._mj.geom_bodyid[g]) - 1] = 1.0
        return self.observation_size + sum(self._parts().values())

    def _sizes(self) -> dict[str, int]:
        """The optional parts of an observation, in order, and how many numbers each has."""
        return {"cfrc_ext": 6 * len(self._names)}

    def _parts(self) -> dict[str, int]:
        """Those that are in it."""
        wanted = self._sizes().items()
        return {k: n for k, n in wanted if self.given[f"include_{k}_in_observation"]}

    def _contacts(self) -> Floats:
        """(N, bodies, 6) cfrc_ext of the present states."""
        wrench = self.batch.observe("wrench", self._shapes)
        of_shapes: Floats = np.roll(wrench.reshape(self.num_envs, -1, 6), 3, axis=2)
        return np.asarray(np.einsum("nsk,sb->nbk", of_shapes, self._bodies))

    def _find_forces(self) -> Floats:
        """(N, 6 bodies) the same, cut to `contact_force_range` if any."""
        most = self.given.get("contact_force_range", (-np.inf, np.inf))
        return np.asarray(np.clip(self._contacts().reshape(self.num_envs, -1), *most))

    def _cfrc_ext(self) -> Floats:
        forces, self._forces = self._forces, None
        return self._find_forces() if forces is None else forces

    def _restart(self, mask: Bools) -> None:
        super()._restart(mask)
        self._forces = None

    def _start(self, mask: Bools) -> tuple[Floats, Floats]:
        q, v = super()._start(mask)
        q[:, 3:7] /= np.linalg.norm(q[:, 3:7], axis=1)[:, None]  # Gymnasium leaves it to the step
        return q, v

    def _observe(self, out: Observations) -> None:
        q, v = self.batch.q, self.batch.v
        joints = q.shape[1] - 7
        out[:, 0], out[:, 1], out[:, 2:5], out[:, 5 : 5 + joints] = (
            q[:, 2],
            q[:, 6],
            q[:, 3:6],
            q[:, 7:],
        )
        axis, linear = q[:, 3:6], v[:, :3]
        t = 2.0 * np.cross(axis, linear)
        out[:, 5 + joints : 8 + joints] = linear + q[:, 6:7] * t + np.cross(axis, t)  # to the world
        at = self.observation_size
        out[:, 8 + joints : at] = v[:, 3:]
        for part, count in self._parts().items():
            out[:, at : at + count] = getattr(self, f"_{part}")()
            at += count

    def _whereabouts(self) -> dict[str, Floats]:
        return in_the_plane(self.batch.q)

    def _contact_cost(self) -> Floats:
        weight = self.given["contact_cost_weight"]
        if weight == 0.0:
            return np.zeros(self.num_envs)
        self._forces = self._find_forces()
        cost = weight * (self._forces**2).sum(axis=1)
        most = self.given.get("contact_cost_range", (-np.inf, np.inf))
        return np.asarray(np.clip(cost, *most))

    def _rewards(self) -> dict[str, Floats]:
        return {
            "reward_forward": self.given["forward_reward_weight"] * self._speed()[:, 0],
            "reward_ctrl": -self.given["ctrl_cost_weight"] * self._effort(),
            "reward_contact": -self._contact_cost(),
            "reward_survive": self.given["healthy_reward"] * ~self._ended(),
        }


class Ant(_FreeRobot):
    """Ant-v5: run forward. Observation (105): height, quaternion (w, x, y, z) and joints, v in
    MuJoCo's frames, 27; moment and force of contacts on each of 13 bodies, cut to
    `contact_force_range`, 78, unless `include_cfrc_ext_in_observation=False`. Action (8); reward: 1
    while healthy + forward speed - 0.5 |action|^2 - 5e-4 times the sum of squares of the contact
    forces as they are observed; ends where the height is outside of [0.2, 1] m."""

    file, frame_skip, observation_size = "ant.xml", 5, 27
    keywords: ClassVar[dict[str, Any]] = {
        "forward_reward_weight": 1.0,
        "ctrl_cost_weight": 0.5,
        "contact_cost_weight": 5e-4,
        "healthy_reward": 1.0,
        "contact_force_range": (-1.0, 1.0),
        "include_cfrc_ext_in_observation": True,
    }
    noise, normal_velocity = 0.1, True

    def _position(self) -> Floats:
        return np.asarray(self.batch.q[:, :2])

    def _ended(self) -> Bools:
        z = self.batch.q[:, 2]
        return np.asarray(~((z >= 0.2) & (z <= 1.0)))


class Humanoid(_FreeRobot):
    """Humanoid-v5: run forward. Observation (348): height, quaternion (w, x, y, z) and joints, v in
    MuJoCo's frames, 45; of each of 13 bodies inertia (10) and velocity (6) about the centre of
    mass; forces of the motors, 17; moment and force of contacts on each body, 78. Each of the four
    may be left out, `include_cinert_in_observation=False`, `cvel`, `qfrc_actuator`, `cfrc_ext`.
    Action (17) in [-0.4, 0.4]; reward: 5 while healthy + 1.25 times the forward speed of the centre
    of mass - 0.1 |action|^2 - 5e-7 times the sum of squares of the contact forces, at most 10;
    ends where the height is outside of (1, 2) m."""

    file, frame_skip, observation_size = "humanoid.xml", 5, 45
    keywords: ClassVar[dict[str, Any]] = {
        "forward_reward_weight": 1.25,
        "ctrl_cost_weight": 0.1,
        "contact_cost_weight": 5e-7,
        "contact_cost_range": (-np.inf, 10.0),
        "healthy_reward": 5.0,
        "include_cinert_in_observation": True,
        "include_cvel_in_observation": True,
        "include_qfrc_actuator_in_observation": True,
        "include_cfrc_ext_in_observation": True,
    }
    limit, noise = 0.4, 0.01

    def _size(self, model: Mjcf) -> int:
        size, m = super()._size(model), self._mj
        self._mass, self._centre = np.array(m.body_mass)[1:], np.array(m.body_ipos)[1:]
        self._inertia = np.array(m.body_inertia)[1:]
        self._axes = rotations(np.array(m.body_iquat)[1:, [1, 2, 3, 0]])  # of these
        self._tendons = np.zeros((int(m.ntendon), int(m.nv) - 6))  # fixed, of hinges
        for t in range(len(self._tendons)):
            for w in range(int(m.tendon_adr[t]), int(m.tendon_adr[t] + m.tendon_num[t])):
                self._tendons[t, int(m.jnt_dofadr[m.wrap_objid[w]]) - 6] = m.wrap_prm[w]
        return size

    def _sizes(self) -> dict[str, int]:
        bodies = len(self._names)
        sizes = {"cinert": 10 * bodies, "cvel": 6 * bodies, "qfrc_actuator": self._motors}
        return sizes | super()._sizes()

    def _position(self) -> Floats:
        return np.asarray(self.batch.observe("com")[:, :2])

    def _cinert(self) -> Floats:
        """Of each body the inertia about the robot's centre of mass (xx, yy, zz, xy, xz, yz), mass
        times the way from there to its own centre, mass: MuJoCo's."""
        mass = self._mass
        pose = self.batch.observe("pose", frames=self._names).reshape(self.num_envs, -1, 7)
        R = rotations(pose[..., 3:])
        d = pose[..., :3] + np.einsum("nbij,bj->nbi", R, self._centre)
        d -= self.batch.observe("com")[:, None]
        A = R @ self._axes
        inertia = np.einsum("nbij,bj,nbkj->nbik", A, self._inertia, A)
        square = (d**2).sum(axis=2)[..., None, None] * np.eye(3)
        inertia += mass[:, None, None] * (square - d[..., :, None] * d[..., None, :])
        out = np.empty((self.num_envs, len(mass), 10))
        out[..., :6] = inertia[..., [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        out[..., 6:9], out[..., 9] = mass[:, None] * d, mass
        return out.reshape(self.num_envs, -1)

    def _cvel(self) -> Floats:
        """Of each body its turn and the velocity of the point of it at the centre of mass."""
        seen = self.batch.observe(["pose", "velocity"], frames=self._names)
        bodies = 7 * len(self._names)
        p = seen[:, :bodies].reshape(self.num_envs, -1, 7)[..., :3]
        twist = seen[:, bodies:].reshape(self.num_envs, -1, 6)
        turn = twist[..., 3:]
        linear = twist[..., :3] + np.cross(turn, self.batch.observe("com")[:, None] - p)
        return np.concatenate([turn, linear], axis=2).reshape(self.num_envs, -1)

    def _qfrc_actuator(self) -> Floats:
        return np.asarray(self.action @ self._gears[:, 6:])

    def _whereabouts(self) -> dict[str, Floats]:
        return super()._whereabouts() | {
            "tendon_length": self.batch.q[:, 7:] @ self._tendons.T,
            "tendon_velocity": self.batch.v[:, 6:] @ self._tendons.T,
        }

    def _ended(self) -> Bools:
        z = self.batch.q[:, 2]
        return np.asarray(~((z > 1.0) & (z < 2.0)))
