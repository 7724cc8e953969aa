"""Gymnasium's two tasks of arms, version 5, see gymnasium_tasks.py."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .batch_env import Bools, Floats, Observations
from .gymnasium_tasks import GymnasiumTask

__all__ = ["Pusher", "Reacher"]

TRIES = 40
"""Of a random place until one is allowed; at least 3 in 5 are."""


class _Arm(GymnasiumTask):
    """An arm whose last dofs are places of things that a reset puts somewhere."""

    placed = 2

    def _ended(self) -> Bools:
        return np.zeros(self.num_envs, bool)

    def _place(
        self, mask: Bools, low: Floats, high: Floats, allowed: Callable[[Floats], Bools]
    ) -> Floats:
        """(worlds, 2) uniform in a rectangle, where allowed."""
        x = self.uniform(mask, 2 * TRIES, stream=2).reshape(-1, TRIES, 2)
        tries = low + (high - low) * x
        first = np.argmax(allowed(tries), axis=1)
        return np.asarray(tries[np.arange(len(tries)), first])

    def _slow(self, mask: Bools) -> Floats:
        """Velocities at the start: what is placed rests."""
        nv = self.batch.scene.nv
        v = 5e-3 * (2.0 * self.uniform(mask, nv, stream=1) - 1.0)
        v[:, nv - self.placed :] = 0.0
        return np.asarray(v)


class Reacher(_Arm):
    """Reacher-v5: bring the tip of two links to a place. Observation (10): cosines and sines of
    both joints, the place, speeds of the joints, tip minus place; action (2); reward: - distance of
    tip and place - |action|^2; ends after 50 actions."""

    file, frame_skip, observation_size, noise, most_actions = "reacher.xml", 2, 10, 0.1, 50

    def _start(self, mask: Bools) -> tuple[Floats, Floats]:
        q = self._start_q + self.noise * (2.0 * self.uniform(mask, self.batch.scene.nq) - 1.0)
        ends = np.full(2, 0.2)
        q[:, 2:] = self._place(mask, -ends, ends, lambda x: np.linalg.norm(x, axis=-1) < 0.2)
        return q, self._slow(mask)

    def _to_tip(self) -> Floats:
        """(N, 2) from the place, links of 0.1 m and 0.11 m."""
        a, b = self.batch.q[:, 0], self.batch.q[:, 0] + self.batch.q[:, 1]
        x, y = 0.1 * np.cos(a) + 0.11 * np.cos(b), 0.1 * np.sin(a) + 0.11 * np.sin(b)
        return np.stack([x, y], axis=1) - self.batch.q[:, 2:]

    def _observe(self, out: Observations) -> None:
        q = self.batch.q
        out[:, :2], out[:, 2:4], out[:, 4:6] = np.cos(q[:, :2]), np.sin(q[:, :2]), q[:, 2:]
        out[:, 6:8], out[:, 8:] = self.batch.v[:, :2], self._to_tip()

    def _rewards(self) -> dict[str, Floats]:
        return {
            "reward_dist": -np.linalg.norm(self._to_tip(), axis=1),
            "reward_ctrl": -self._effort(),
        }


class Pusher(_Arm):
    """Pusher-v5: push a cylinder to a place. Observation (23): joints and their speeds, positions
    of fingertips, cylinder and place; action (7) in [-2, 2]; reward: - distance of cylinder and
    place - 0.5 times that of cylinder and fingertips - 0.1 |action|^2; ends after 100 actions."""

    file, frame_skip, observation_size, noise, most_actions = "pusher_v5.xml", 5, 23, 0.0, 100
    limit, placed = 2.0, 4

    def _start(self, mask: Bools) -> tuple[Floats, Floats]:
        q = np.repeat(self._start_q[None], int(mask.sum()), axis=0)
        low, high = np.array([-0.3, -0.2]), np.array([0.0, 0.2])
        q[:, -4:-2] = self._place(mask, low, high, lambda x: np.linalg.norm(x, axis=-1) > 0.17)
        q[:, -2:] = 0.0
        return q, self._slow(mask)

    def _tips(self) -> Floats:
        """(N, 3)."""
        pan, lift, roll, elbow, forearm, *_ = self.batch.q.T
        p = _about(1, elbow, _about(0, forearm, np.tile([0.321, 0.0, 0.0], (len(pan), 1))))
        p = _about(1, lift, _about(0, roll, p + [0.4, 0.0, 0.0]))
        return _about(2, pan, p + [0.1, 0.0, 0.0]) + [0.0, -0.6, 0.0]

    def _things(self) -> tuple[Floats, Floats]:
        """(N, 3) cylinder and place; their first joint is along y."""
        q, first = self.batch.q, np.array([0.45, -0.05])
        heights = (np.full((len(q), 1), z) for z in (-0.275, -0.323))
        places = (first + q[:, [8, 7]], first + q[:, [10, 9]])
        cylinder, place = (
            np.concatenate([xy, z], axis=1) for xy, z in zip(places, heights, strict=True)
        )
        return cylinder, place

    def _observe(self, out: Observations) -> None:
        out[:, :7], out[:, 7:14] = self.batch.q[:, :7], self.batch.v[:, :7]
        out[:, 14:17] = self._tips()
        out[:, 17:20], out[:, 20:] = self._things()

    def _rewards(self) -> dict[str, Floats]:
        cylinder, place = self._things()
        return {
            "reward_dist": -np.linalg.norm(cylinder - place, axis=1),
            "reward_ctrl": -0.1 * self._effort(),
            "reward_near": -0.5 * np.linalg.norm(cylinder - self._tips(), axis=1),
        }


def _about(axis: int, angle: Floats, p: Floats) -> Floats:
    """Points (N, 3) turned about x, y or z."""
    i, j = (axis + 1) % 3, (axis + 2) % 3
    out = p.copy()
    out[:, i] = np.cos(angle) * p[:, i] - np.sin(angle) * p[:, j]
    out[:, j] = np.sin(angle) * p[:, i] + np.cos(angle) * p[:, j]
    return out
