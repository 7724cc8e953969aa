"""An MJCF file's part of a scene: where its numbers begin, and where its world stands."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pinocchio
from numpy.typing import NDArray

from .. import _stiction
from .._stiction import Control, Scene, State, make_state
from .mjcf_trees import Place

__all__ = ["Part", "placement"]

Floats = NDArray[np.float64]


def placement(X: Any, field: str = "X_W") -> pinocchio.SE3:
    """Of what Scene.add_scene takes: SE3, a 4 x 4 matrix, None. ValueError, TypeError: it is none
    of them; the message names `field`."""
    return _stiction._placement(X, field)


@dataclass(frozen=True)
class Part:
    """Of a scene.

    Attributes:
        nq, nv: of the file.
        body, geometry, q, v: numbers of its first.
        X_W: of its world.
        placed: whether the scene is another than the file's own.
    """

    nq: int
    nv: int
    body: int = 0
    geometry: int = 0
    q: int = 0
    v: int = 0
    X_W: pinocchio.SE3 = field(default_factory=pinocchio.SE3.Identity)
    placed: bool = False

    def behind(self, scene: Scene) -> Part:
        """Where add_scene puts it next, its world in the scene's."""
        return replace(
            self,
            body=scene.num_bodies,
            geometry=len(scene.geometries),
            q=scene.nq,
            v=scene.nv,
            placed=True,
        )

    @property
    def qs(self) -> slice:
        """Of configurations of the scene."""
        return slice(self.q, self.q + self.nq)

    @property
    def dofs(self) -> slice:
        """Of velocities of the scene."""
        return slice(self.v, self.v + self.nv)

    def place(self, place: Place) -> Place:
        """Of a body of the file, in the scene."""
        if place.body < 0:
            return Place(-1, self.X_W * place.X)
        return Place(self.body + place.body, place.X)

    def state(self, scene: Scene, q: Floats, v: Floats, time: float) -> State:
        """The rest of the scene is at its default, at rest."""
        whole = np.array(scene.default_q)
        whole[self.qs] = q
        state = make_state(scene, whole)
        velocity = np.zeros(scene.nv)
        velocity[self.dofs] = v
        state.v, state.time = velocity, time
        return state

    def control(self, scene: Scene, own: Control, into: Control | None) -> Control:
        """Of the scene; what is not of this part is that of `into`, or zero.

        Raises:
            ValueError: `into` is no Control of the scene.
        """
        if into is None and scene.nv == self.nv:
            return own
        out = Control(scene.nv) if into is None else into.copy()
        for name in ("torque", "position_target", "velocity_target"):
            whole = np.array(getattr(out, name))
            if len(whole) != scene.nv:
                raise ValueError(
                    f"into.{name} has {len(whole)} entries, the scene has nv = {scene.nv}: give a "
                    "Control of the same scene, such as another part's control(ctrl)"
                )
            whole[self.dofs] = getattr(own, name)
            setattr(out, name, whole)
        return out
