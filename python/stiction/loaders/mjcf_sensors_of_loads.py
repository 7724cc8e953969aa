"""Sensors of force and torque: what a site's body takes from its parent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .mjcf_contacts import body_of_geom
from .mjcf_equality import equality_frames, equality_sides
from .mjcf_kinematics import cross

if TYPE_CHECKING:
    from .mjcf_sensors import Reading

__all__ = ["Held", "Loads", "interaction"]

Floats = NDArray[np.float64]
Load = tuple[Floats, Floats, Floats]
"""Point, force and moment about it, world."""


@dataclass(frozen=True)
class Held:
    """What a soft weld gives the body that it pulls, or a push.

    Attributes:
        load: on that body.
        body: MuJoCo's.
    """

    body: int
    load: Load


@dataclass
class Loads:
    """Of the last step: soft welds and pushes, and rigid connects and welds by the number of the
    equality: (3,) or (6,) force and moment on the second body, in the axes of the first frame."""

    held: list[Held] = field(default_factory=list)
    closures: dict[int, Floats] = field(default_factory=dict)


def interaction(r: Reading, site: int) -> tuple[Floats, Floats]:
    """Force and torque that the site's body, with all that it carries, takes from its parent; what
    contacts, welds and connects to other bodies carry is not the parent's."""
    m = r.source.model
    frame, bodies = r.site(site), r.subtree(int(m.site_bodyid[site]))
    force, torque = np.zeros(3), np.zeros(3)
    for b in bodies:
        c = r.centre(b)
        inertia = c.R @ np.diag(m.body_inertia[b]) @ c.R.T
        push = float(m.body_mass[b]) * (c.a - r.gravity)
        force += push
        torque += inertia @ c.alpha + cross(c.w, inertia @ c.w) + cross(c.p - frame.p, push)
    for loads in (_of_contacts(r, bodies), _of_equalities(r, bodies)):
        for point, push, turn in loads:
            force -= push
            torque -= turn + cross(point - frame.p, push)
    return frame.R.T @ force, frame.R.T @ torque


def _of_contacts(r: Reading, bodies: list[int]) -> Iterator[Load]:
    for contact in r.contacts:
        point = np.array(contact.position)
        push, turn = np.array(contact.force_on_b_world), np.array(contact.moment_on_b_world)
        for name, sign in ((contact.geometry_a_name, -1.0), (contact.geometry_b_name, 1.0)):
            if body_of_geom(r.source, name) in bodies:
                yield point, sign * push, sign * turn


def _of_equalities(r: Reading, bodies: list[int]) -> Iterator[Load]:
    for held in r.loads.held:
        if held.body in bodies:
            yield held.load
    for k, wrench in r.loads.closures.items():
        first, second = equality_sides(r.source, k)
        frame, turns = r.motions[first], len(wrench) == 6
        weld = r.source.is_one_of(r.source.model.eq_type[k], "mjtEq", ["mjEQ_WELD"])
        X_A = equality_frames(r.source, k, weld)[0]
        # Of a point the axes are those of the scene's body.
        turn = X_A.rotation if turns else r.places[first].X.rotation.T
        R, point = frame.R @ turn, frame.p + frame.R @ X_A.translation
        push, moment = R @ wrench[:3], R @ wrench[3:] if turns else np.zeros(3)
        for body, sign in ((first, -1.0), (second, 1.0)):
            if body in bodies:
                yield point, sign * push, sign * moment
