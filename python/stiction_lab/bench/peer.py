"""MuJoCo behind the benchmark's `World`."""

from __future__ import annotations

from collections.abc import Callable

import mujoco
import numpy as np
from mujoco import rollout
from numpy.typing import NDArray
from stiction.certificate import ContactSample

from .worlds import Facts, Kick, Observed

_SAVED = mujoco.mjtState.mjSTATE_INTEGRATION
_ROLLOUT = mujoco.mjtState.mjSTATE_FULLPHYSICS


class MujocoWorld:
    """A model, its data, and the state the measurements start from.

    Args:
        label: name of the variant, printed.
        model: compiled model.
        initialize: puts the initial pose and the targets into fresh data.
        joints: servo names in the order of the noise columns.
    """

    def __init__(
        self,
        label: str,
        model: mujoco.MjModel,
        initialize: Callable[[mujoco.MjData], None],
        joints: list[str],
    ) -> None:
        self.label = label
        self.dt = float(model.opt.timestep)
        self._model, self._data = model, mujoco.MjData(model)
        self._initialize = initialize
        self._columns = [joints.index(model.actuator(i).name) for i in range(model.nu)]
        self._runner = rollout.Rollout(nthread=0)
        self._initialize(self._data)
        self._start = self._saved()
        self._targets = self._data.ctrl.copy()

    @property
    def model(self) -> mujoco.MjModel:
        """As compiled; not a copy."""
        return self._model

    @property
    def columns_of_noise(self) -> list[int]:
        """Of each actuator, its place among our servos."""
        return self._columns

    def initialize(self, data: mujoco.MjData) -> None:
        """Put the initial pose and the targets into fresh data."""
        self._initialize(data)

    def facts(self) -> Facts:
        """Of the initial pose."""
        model, data = self._model, mujoco.MjData(self._model)
        self._initialize(data)
        mujoco.mj_forward(model, data)
        heights = data.xipos[1:, 2] @ model.body_mass[1:]
        mass = float(model.body_mass[1:].sum())
        return Facts(
            mass=mass,
            nv=model.nv,
            com_height=float(heights) / mass,
            friction=float(model.geom_friction[:, 0].max()),
            stiffness=float(model.actuator_gainprm[:, 0].sum()),
            damping=float(-model.actuator_biasprm[:, 2].sum()) if model.nu else 0.0,
        )

    def settle(self, seconds: float) -> None:
        """From the initial pose, advance and remember the state reached as the start."""
        mujoco.mj_resetData(self._model, self._data)
        self._initialize(self._data)
        self.advance(max(1, round(seconds / self.dt)) if seconds > 0 else 0)
        self._start = self._saved()

    def restart(self) -> None:
        """Back to the start, with the warm start as it was there."""
        mujoco.mj_setState(self._model, self._data, self._start, _SAVED)

    def advance(self, steps: int) -> None:
        """That many steps with the held targets, in one call."""
        mujoco.mj_step(self._model, self._data, nstep=steps)

    def kick(self, kick: Kick) -> None:
        """Change the velocity of a loose body."""
        body = kick.body + 1  # the world is body 0
        dof = int(self._model.body_dofadr[body])
        self._data.qvel[dof : dof + 3] += np.array(kick.impulse) / self._model.body_mass[body]

    def prepare_rollout(self, noise: NDArray[np.float64]) -> None:
        """The next `rollout` adds noise (T, servos) [rad] to the targets, a row per step."""
        self.restart()
        self._initial = np.zeros((1, mujoco.mj_stateSize(self._model, _ROLLOUT)))
        mujoco.mj_getState(self._model, self._data, self._initial[0], _ROLLOUT)
        self._control = np.ascontiguousarray(self._targets + noise[:, self._columns])[None]

    def rollout(self) -> None:
        """The prepared steps, in one call."""
        self._runner.rollout(self._model, self._data, self._initial, self._control)

    def differentiate(self, centered: bool) -> None:
        """MuJoCo's differences of one step from the start, by state and controls."""
        model, n = self._model, 2 * self._model.nv + self._model.na
        self.restart()
        A, B = np.zeros((n, n)), np.zeros((n, model.nu))
        mujoco.mjd_transitionFD(model, self._data, 1e-6, centered, A, B, None, None)

    @property
    def columns(self) -> int:
        """Of `differentiate`."""
        return int(2 * self._model.nv + self._model.na + self._model.nu)

    def observe(self, noise: NDArray[np.float64]) -> Observed:
        """One step with noise (servos,) [rad] on the targets."""
        data = self._data
        data.ctrl[:] = self._targets + noise[self._columns]
        self.advance(1)
        data.ctrl[:] = self._targets
        count = int(data.solver_niter[: max(1, data.nisland)].max()) if data.nefc else 0
        kept = _kept(data)
        pairs = np.column_stack([data.contact.geom1, data.contact.geom2])[kept].astype(int)
        return Observed(contact_sample(self._model, data), count, float("nan"), pairs)

    def _saved(self) -> NDArray[np.float64]:
        state = np.zeros(mujoco.mj_stateSize(self._model, _SAVED))
        mujoco.mj_getState(self._model, self._data, state, _SAVED)
        return state


def _kept(data: mujoco.MjData) -> NDArray[np.intp]:
    """The contacts that became rows."""
    return np.flatnonzero(np.asarray(data.contact.efc_address) >= 0)


def contact_sample(model: mujoco.MjModel, data: mujoco.MjData) -> ContactSample:
    """The contacts of the step just taken: forces times dt, and J v+ with J of the step's start.

    MuJoCo's contact axes are (n, t1, t2) with n from geom 1 to geom 2, and the force acts on geom
    2: only the order of the axes differs from ours. Pyramidal forces are turned into (n, t1, t2)
    first.
    """
    contact, dt = data.contact, float(model.opt.timestep)
    kept = _kept(data)
    if kept.size == 0:
        none = np.zeros((0, 3))
        return ContactSample(none, none, np.zeros(0), np.zeros(0), none, none)
    relative = _row_velocities(model, data)
    friction = np.asarray(contact.friction)[kept, 0]
    force, velocity = np.zeros((kept.size, 3)), np.zeros((kept.size, 3))
    pyramidal = model.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL
    for row, i in enumerate(kept):
        address = int(contact.efc_address[i])
        if pyramidal:
            edges = slice(address, address + 4)
            force[row], velocity[row] = _from_pyramid(
                data.efc_force[edges], relative[edges], friction[row]
            )
        else:
            axes = slice(address, address + 3)
            force[row], velocity[row] = data.efc_force[axes], relative[axes]
    normal_last = [1, 2, 0]
    return ContactSample(
        position=np.asarray(contact.pos)[kept],
        normal=np.asarray(contact.frame).reshape(-1, 9)[kept, :3],
        gap=np.asarray(contact.dist)[kept],
        friction=friction,
        impulse=force[:, normal_last] * dt,
        velocity=velocity[:, normal_last],
    )


def _from_pyramid(
    edge_force: NDArray[np.float64], edge_velocity: NDArray[np.float64], mu: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Force [N] and velocity [m/s] along (n, t1, t2) from the four edges n +- mu t1, n +- mu t2."""
    e, w = edge_force, edge_velocity
    force = np.array([e.sum(), mu * (e[0] - e[1]), mu * (e[2] - e[3])])
    velocity = np.array([0.5 * (w[0] + w[1]), (w[0] - w[1]) / (2 * mu), (w[2] - w[3]) / (2 * mu)])
    return force, velocity


def _row_velocities(model: mujoco.MjModel, data: mujoco.MjData) -> NDArray[np.float64]:
    """J v+ of all constraint rows (nefc,), with J of the configuration the step started from."""
    if not mujoco.mj_isSparse(model):
        rows = np.asarray(data.efc_J, dtype=np.float64).reshape(data.nefc, model.nv)
        return np.asarray(rows @ data.qvel)
    starts, counts = np.asarray(data.efc_J_rowadr), np.asarray(data.efc_J_rownnz)
    entries = np.concatenate([np.arange(a, a + n) for a, n in zip(starts, counts, strict=True)])
    owner = np.repeat(np.arange(data.nefc), counts)
    products = np.asarray(data.efc_J)[entries] * data.qvel[np.asarray(data.efc_J_colind)[entries]]
    return np.bincount(owner, weights=products, minlength=data.nefc).astype(np.float64)
