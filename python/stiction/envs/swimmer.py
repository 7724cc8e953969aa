"""Gymnasium's swimmer, version 5, see gymnasium_tasks.py: three links in a plane, in a medium."""

from __future__ import annotations

import numpy as np

from .batch_env import Bools, Floats, Observations
from .gymnasium_tasks import GymnasiumTask, in_the_plane

__all__ = ["Swimmer"]

ALONG = (0.5, -1.0)
"""From the origin of a link to that of the next, along the link [m]."""


class Swimmer(GymnasiumTask):
    """Swimmer-v5: swim forward. Observation (8): q without x and y, v; action (2); reward: forward
    speed - 1e-4 |action|^2; no end but after 1000 steps. The forces of the medium, MuJoCo's on
    inertia boxes, are taken at the start of each of the four steps of an action."""

    file, frame_skip, observation_size, noise = "swimmer.xml", 4, 8, 0.1

    def _advance(self, mask: Bools | None) -> None:
        acts = self.batch.torque.copy()
        for _ in range(self.substeps):
            self.batch.torque[:] = acts + self._of_the_medium()
            self.batch.step(1, mask)
        self.batch.torque[:] = acts

    def _of_the_medium(self) -> Floats:
        """(N, 5) generalised forces."""
        q, v = self.batch.q, self.batch.v
        out = np.zeros_like(v)
        angles, turns = np.cumsum(q[:, 2:], axis=1), np.cumsum(v[:, 2:], axis=1)
        p, u = q[:, :2].copy(), v[:, :2].copy()
        origins = []
        for link, (_, centre, axes, edges) in enumerate(self._fluid.boxes):
            cosine, sine, turn = np.cos(angles[:, link]), np.sin(angles[:, link]), turns[:, link]
            forward, left = np.stack([cosine, sine], 1), np.stack([-sine, cosine], 1)
            origins.append(p.copy())
            arm = centre[0] * forward + centre[1] * left
            speed = u + turn[:, None] * np.stack([-arm[:, 1], arm[:, 0]], 1)
            zero = np.zeros(len(q))
            along, across = (speed * forward).sum(1), (speed * left).sum(1)
            force, moment = self._fluid.of_box(
                edges,
                np.stack([along, across, zero], 1) @ axes,
                np.stack([zero, zero, turn], 1) @ axes,
            )
            push, about = force @ axes.T, (moment @ axes.T)[:, 2]
            f = push[:, :1] * forward + push[:, 1:2] * left
            out[:, :2] += f
            for joint, origin in enumerate(origins):
                r = p + arm - origin
                out[:, 2 + joint] += about + r[:, 0] * f[:, 1] - r[:, 1] * f[:, 0]
            if link < len(ALONG):
                step = ALONG[link] * forward
                p += step
                u += turn[:, None] * np.stack([-step[:, 1], step[:, 0]], 1)
        return out

    def _observe(self, out: Observations) -> None:
        out[:, :3], out[:, 3:] = self.batch.q[:, 2:], self.batch.v

    def _position(self) -> Floats:
        return np.asarray(self.batch.q[:, :2])

    def _whereabouts(self) -> dict[str, Floats]:
        return in_the_plane(self.batch.q)

    def _rewards(self) -> dict[str, Floats]:
        return {"reward_forward": self._speed()[:, 0], "reward_ctrl": -1e-4 * self._effort()}
