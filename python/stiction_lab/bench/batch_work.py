"""What the worlds of a batch do, told the same way for both engines: contacts, and the certificate.

After the timed periods some worlds of either engine go on by themselves for some steps, each
judged by the engine-neutral certificate.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import stiction
from numpy.typing import NDArray
from stiction.certificate import ContactSample, StepCertificate, certify, summarize

from . import ours, peer

WORLDS, PERIODS = 16, 5
"""That are looked at, and periods of targets of each."""
Floats = NDArray[np.float64]


class Work:
    """Steps of some worlds of one engine."""

    def __init__(self, dt: float) -> None:
        self._dt = dt
        self._steps: list[StepCertificate | None] = []

    def add(self, sample: ContactSample) -> None:
        """A step."""
        self._steps.append(certify(sample, self._dt))

    def as_dict(self) -> dict[str, Any]:
        """Means a step: points of contact, near ones of ours among them, and those that carry; the
        certificate."""
        told = summarize(self._steps)
        return {
            "points": told.contacts,
            "loaded": told.loaded,
            "median": told.median,
            "maximum": told.maximum,
            "steps": told.steps,
        }


def of_batch(batch: stiction.Batch, columns: NDArray[np.intp], targets: Floats, steps: int) -> Work:
    """Worlds of a batch, which stays as it is.

    columns: of the targets among the dofs; targets: (periods, worlds, columns) [rad].
    """
    work = Work(batch.settings.dt)
    for world in range(min(WORLDS, batch.num_worlds)):
        sim, state, control = batch.simulator(world), batch.state(world), batch.control(world)
        for rows in targets[:PERIODS]:
            control.position_target[columns] = rows[world]
            for _ in range(steps):
                sim.step(state, control)
                work.add(ours.contact_sample(sim))
    return work


def of_mujoco(model: mujoco.MjModel, states: Floats, targets: Floats, steps: int) -> Work:
    """The same of worlds of a rollout.

    states: (worlds, n) as rollout has them; targets: (periods, worlds, nu) [rad].
    """
    work = Work(float(model.opt.timestep))
    data = mujoco.MjData(model)
    for world in range(min(WORLDS, len(states))):
        mujoco.mj_resetData(model, data)
        mujoco.mj_setState(model, data, states[world], mujoco.mjtState.mjSTATE_FULLPHYSICS)
        for rows in targets[:PERIODS]:
            data.ctrl[:] = rows[world]
            for _ in range(steps):
                mujoco.mj_step(model, data)
                work.add(peer.contact_sample(model, data))
    return work
