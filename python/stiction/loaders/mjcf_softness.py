"""Stiffness and damping of pairs of geoms that give way as MuJoCo's contacts.

A point of a pair with depth x, speed v out of it, impedance d(x) and inverse weight A takes the
force f for which the bodies part with the acceleration a,

    a + R f = -b v + k d x,   R = (1 - d) / d s A

s is 1 without friction and with elliptic cones; a pyramid's 2 (dim - 1) edges of friction mu carry
f together, each with 2 mu^2 (1 + mu^2) / impratio of it. The n points on which a pair lies are as
one with s / n. At rest, a = v = 0,

    f = K x,   K = k d / A  e / (1 - e),   e = d / (d + (1 - d) s / n)

is exact under any load but for d(x), which a spring with one stiffness cannot follow: it is that of
the depth x at which the pair carries g / A, the weight of a body alone.

In motion MuJoCo's contact is not that spring. A body alone with acceleration a_0 moves at

    a = (1 - e) a_0 - e (b v - k d x)

as if it weighed 1 / (1 - e) times as much, 20 times by default. That mass has no counterpart here:
the pair swings 1 / sqrt(1 - e) times as fast, and is damped in the same ratio,

    D = b / A  e / sqrt(1 - e)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .mjcf_soft_rows import impedance, stiff_and_damp
from .mjcf_source import Source

__all__ = ["ContactSoftness", "mixed_softness", "pair_softness", "softness_of_pair"]

Floats = NDArray[np.float64]
LEAST = 1e-15
"""MuJoCo's mjMINVAL, of solmix."""
LEAST_FRICTION = 1e-5
"""MuJoCo's mjMINMU."""
POINTS = (4, 4, 1, 2, 1, 3, 4, 4)
"""Of a geom that lies on a plane, by mjtGeom: plane, hfield, sphere, capsule, ellipsoid, cylinder,
box, mesh. A pair has those of the geom with fewer."""
HALVINGS = 60


@dataclass(frozen=True)
class ContactSoftness:
    """solref and solimp of a contact, as the file mixes them."""

    solref: Floats
    solimp: Floats


def softness_of_pair(m: Any, k: int) -> ContactSoftness:
    """Of pair k in <contact>."""
    return ContactSoftness(np.array(m.pair_solref[k]), np.array(m.pair_solimp[k]))


def mixed_softness(m: Any, a: int, b: int) -> ContactSoftness:
    """Of two geoms by MuJoCo's rule: the one of higher priority, else both, weighted by solmix;
    where one has solref in its direct form, the smaller of each number."""
    first, second = int(m.geom_priority[a]), int(m.geom_priority[b])
    if first != second:
        g = a if first > second else b
        return ContactSoftness(np.array(m.geom_solref[g]), np.array(m.geom_solimp[g]))
    mix = _share(float(m.geom_solmix[a]), float(m.geom_solmix[b]))
    one, two = np.array(m.geom_solref[a]), np.array(m.geom_solref[b])
    both = one[0] > 0.0 and two[0] > 0.0
    solref = mix * one + (1.0 - mix) * two if both else np.minimum(one, two)
    solimp = mix * np.array(m.geom_solimp[a]) + (1.0 - mix) * np.array(m.geom_solimp[b])
    return ContactSoftness(solref, solimp)


def _share(one: float, two: float) -> float:
    """Of the first geom."""
    if one >= LEAST and two >= LEAST:
        return one / (one + two)
    if one < LEAST and two < LEAST:
        return 0.5
    return float(one >= LEAST)


def pair_softness(
    source: Source, a: int, b: int, soft: ContactSoftness, condim: int, friction: float
) -> tuple[float, float]:
    """K [N/m] and D [N s/m] of the pair of geoms a and b; infinite and 0 where neither can move."""
    m = source.model
    bodies = [int(m.geom_bodyid[g]) for g in (a, b)]
    inverse = sum(float(m.body_invweight0[body, 0]) for body in bodies)
    if not inverse > 0.0:
        return np.inf, 0.0
    points = min(POINTS[int(m.geom_type[a])], POINTS[int(m.geom_type[b])])
    share = _share_of_edges(source, condim, friction) / points
    k, damping = stiff_and_damp(soft.solref, soft.solimp, _least_step(source))
    gravity = float(np.linalg.norm(m.opt.gravity)) if not source.disabled("gravity") else 0.0
    d = impedance(soft.solimp, _depth(soft, k, share, gravity))
    e = d / (d + (1.0 - d) * share)
    return k * d / inverse * e / (1.0 - e), damping / inverse * e / np.sqrt(1.0 - e)


def _share_of_edges(source: Source, condim: int, friction: float) -> float:
    """s."""
    opt = source.model.opt
    if condim == 1 or source.is_one_of(opt.cone, "mjtCone", ["mjCONE_ELLIPTIC"]):
        return 1.0
    square = max(friction, LEAST_FRICTION) ** 2
    edge = 2.0 * square * (1.0 + square) / max(float(opt.impratio), LEAST)
    return edge / (2 * (condim - 1))


def _least_step(source: Source) -> float:
    """Half the shortest time constant that MuJoCo lets a solref have [s]."""
    return 0.0 if source.disabled("refsafe") else float(source.model.opt.timestep)


def _depth(soft: ContactSoftness, k: float, share: float, gravity: float) -> float:
    """x = g (1 - e) / (k d e) = g (1 - d) s / (n k d^2), d that of x [m]."""

    def sunk(x: float) -> float:
        d = impedance(soft.solimp, x)
        return gravity * (1.0 - d) * share / (k * d * d)

    low, high = 0.0, max(sunk(0.0), sunk(float(soft.solimp[2])))
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if sunk(middle) > middle else (low, middle)
    return low
