"""Wrenches that a user puts on bodies of an MJCF file, as MuJoCo's xfrc_applied."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..given_array import given_array
from .mjcf_source import Source, pose
from .mjcf_trees import Place

__all__ = ["Push", "Pushes"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Push:
    """Force [N] and torque [N m], world axes.

    Attributes:
        number: MuJoCo's body.
        body: of the scene; centre: where the force acts in it [m].
    """

    number: int
    body: int
    centre: Floats
    force: Floats
    torque: Floats


class Pushes:
    """Of a file.

    Attributes:
        wrenches: (nbody, 6) force and torque at the centre of mass, world axes.
    """

    def __init__(self, source: Source, places: list[Place]) -> None:
        self._source, self._places = source, places
        self.wrenches: Floats = np.zeros((int(source.model.nbody), 6))

    def set(self, name: str, force: ArrayLike, torque: ArrayLike) -> None:
        """Raises ValueError: see MjcfSimulation.push."""
        b = self.number(name)
        if self._places[b].body < 0:
            raise ValueError(f"body {name!r} stands still: push one that a joint moves")
        f, t = given_array("force", force, (3,)), given_array("torque", torque, (3,))
        self.wrenches[b] = np.concatenate([f, t])

    def number(self, name: str) -> int:
        """Raises ValueError that lists the names."""
        names = self._source.names("body")
        if name not in names:
            raise ValueError(f"no body {name!r}; there are: {', '.join(names[1:]) or 'none'}")
        return names.index(name)

    def acting(self) -> list[Push]:
        """Those that are not zero."""
        m, found = self._source.model, []
        for b in np.flatnonzero(np.any(self.wrenches != 0.0, axis=1)):
            place = self._places[b]
            centre = (place.X * pose(m.body_ipos[b], m.body_iquat[b])).translation
            f, t = self.wrenches[b, :3], self.wrenches[b, 3:]
            found.append(Push(int(b), place.body, centre, f.copy(), t.copy()))
        return found
