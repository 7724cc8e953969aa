"""Contacts of a step by the names of an MJCF file."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._stiction import ContactReport
from .mjcf_source import Source

__all__ = ["MjcfContact", "body_of_geom", "named_contacts"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class MjcfContact:
    """A contact point of the last step.

    Attributes:
        geoms: the two, by their names in the file; of shapes that were added to its scene theirs.
        bodies: that they belong to in the file; "world" for shapes that were added to it.
        position: (3,) in the world [m].
        normal: (3,) unit, from the first to the second.
        distance: at the start of the step, negative: depth [m]; margins count.
        force: (3,) mean of the step on the second body, world axes [N].
        torque: (3,) of torsional and rolling friction on the second body [N m].
        friction: coefficient of sliding.
        sliding: whether it slides.
    """

    geoms: tuple[str, str]
    bodies: tuple[str, str]
    position: Floats
    normal: Floats
    distance: float
    force: Floats
    torque: Floats
    friction: float
    sliding: bool


def body_of_geom(source: Source, name: str) -> int:
    """MuJoCo's; 0, the world, for a shape that is none of the file."""
    names = source.names("geom")
    return int(source.model.geom_bodyid[names.index(name)]) if name in names else 0


def named_contacts(source: Source, contacts: Iterable[ContactReport]) -> list[MjcfContact]:
    """By the file's bodies, which in a scene may be parts of others."""
    found = []
    for c in contacts:
        one, two = c.geometry_a_name, c.geometry_b_name
        bodies = [source.name("body", body_of_geom(source, name)) for name in (one, two)]
        found.append(
            MjcfContact(
                geoms=(one, two),
                bodies=(bodies[0], bodies[1]),
                position=np.array(c.position),
                normal=np.array(c.normal),
                distance=float(c.gap),
                force=np.array(c.force_on_b_world),
                torque=np.array(c.moment_on_b_world),
                friction=float(c.friction),
                sliding=bool(c.sliding),
            )
        )
    return found
