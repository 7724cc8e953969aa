"""The engine-neutral certificate: how far contacts are from Signorini's and Coulomb's laws.

It takes what any engine can tell after a step (point, normal, gap, friction, impulse, velocity
after the step) and knows nothing of that engine's stabilisation, regularisation or stopping rule,
so two engines are measured alike.

Per contact, with A and B the two bodies, n the unit normal from A to B and contact axes (t1, t2,
n), normal last:

    gap+         = gap + dt c_n                             gap after the step, linearised [m]
    normal       = lambda_n max(gap+, 0) / dt               force across a gap that opens [J]
    penetration  = max(-gap+, 0)                            overlap after the step [m]
    tangential   = || lambda_t + mu lambda_n c_t / |c_t| || sliding contacts only [N s]
    creep        = |c_t|                                    sticking contacts only [m/s]
    cone         = dist(lambda, K_mu)                       impulse outside the friction cone [N s]

lambda_n counts as 0 in `normal` and `tangential` where it is negative; `cone` shows that error.

A contact slides if it is on the cone (to `CONE_TOLERANCE`) and faster than `STICK_SPEED`; the
others stick. A slower contact on the cone counts as creep, because the direction of rounding noise
means nothing. A contact without friction, or with less than the share `LOADED` of the step's
largest normal impulse, has no creep: nothing holds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["CertificateSummary", "ContactSample", "StepCertificate", "certify", "summarize"]

CONE_TOLERANCE = 1e-6
"""Relative distance from the cone's surface below which an impulse is on it."""
STICK_SPEED = 1e-6
"""Tangential speed below which a contact on the cone is at rest [m/s]."""
LOADED = 1e-6
"""Share of the step's largest normal impulse below which a contact carries nothing: no creep."""
QUANTITIES = ("normal", "penetration", "tangential", "creep", "cone")
UNITS = {"normal": "J", "penetration": "m", "tangential": "N s", "creep": "m/s", "cone": "N s"}


@dataclass
class ContactSample:
    """All k contacts of one step, of any engine.

    Attributes:
        position: (k, 3) contact points, world [m].
        normal: (k, 3) unit normals from A to B, world.
        gap: (k,) signed distance at the start of the step [m], negative where the bodies overlap.
        friction: (k,) Coulomb coefficient, >= 0.
        impulse: (k, 3) on B, axes (t1, t2, n) of the contact [N s].
        velocity: (k, 3) J v+ of B relative to A with the velocity after the step, same axes [m/s].
        restitution: a restitution target acted in this step; such a step is left out and counted.
    """

    position: ArrayLike
    normal: ArrayLike
    gap: ArrayLike
    friction: ArrayLike
    impulse: ArrayLike
    velocity: ArrayLike
    restitution: bool = False


@dataclass
class StepCertificate:
    """Worst contact of one step, per quantity; the units are those of `UNITS`.

    contacts: all; loaded: those that carry an impulse; sliding: loaded, on the cone, moving.
    """

    normal: float = 0.0
    penetration: float = 0.0
    tangential: float = 0.0
    creep: float = 0.0
    cone: float = 0.0
    contacts: int = 0
    loaded: int = 0
    sliding: int = 0


@dataclass
class CertificateSummary:
    """Median and maximum over steps of each quantity, and how many steps were judged.

    Attributes:
        median, maximum: quantity -> value, in `UNITS`.
        steps: steps judged; steps_left_out: steps with a restitution target.
        contacts, loaded, sliding: mean numbers, see StepCertificate.
    """

    median: dict[str, float] = field(default_factory=dict)
    maximum: dict[str, float] = field(default_factory=dict)
    steps: int = 0
    steps_left_out: int = 0
    contacts: float = 0.0
    loaded: float = 0.0
    sliding: float = 0.0

    def as_dict(self) -> dict[str, object]:
        """Plain numbers, for JSON."""
        return asdict(self)


def certify(sample: ContactSample, dt: float) -> StepCertificate | None:
    """Judge one step of `dt` [s]; None if a restitution target acted in it.

    Raises:
        ValueError: an array has a wrong shape or a value that cannot be; the message names the
        field.
    """
    if not dt > 0:
        raise ValueError(f"certify: dt = {dt} must be positive [s]")
    if sample.restitution:
        return None
    gap = _rows("gap", sample.gap, (-1,))
    k = gap.size
    _check_geometry(sample, k)
    mu = _rows("friction", sample.friction, (k,))
    if np.any(mu < 0):
        raise ValueError(
            f"ContactSample.friction[{int(np.argmin(mu))}] = {mu.min():g} must be >= 0"
        )
    if k == 0:
        return StepCertificate()
    impulse = _rows("impulse", sample.impulse, (k, 3))
    velocity = _rows("velocity", sample.velocity, (k, 3))
    gap_after = gap + dt * velocity[:, 2]
    normal_impulse = np.maximum(impulse[:, 2], 0.0)
    loaded = impulse[:, 2] > LOADED * max(float(impulse[:, 2].max()), 0.0)
    tangential, creep, sliding = _friction_law(impulse, velocity, mu, loaded)
    return StepCertificate(
        normal=float(np.max(normal_impulse * np.maximum(gap_after, 0.0)) / dt),
        penetration=float(np.max(np.maximum(-gap_after, 0.0))),
        tangential=float(np.max(tangential)),
        creep=float(np.max(creep)),
        cone=float(np.max(distance_to_cone(impulse, mu))),
        contacts=k,
        loaded=int(np.count_nonzero(loaded)),
        sliding=int(np.count_nonzero(sliding)),
    )


def summarize(steps: Sequence[StepCertificate | None]) -> CertificateSummary:
    """Median and maximum of many steps; None marks a step that `certify` left out."""
    judged = [step for step in steps if step is not None]
    summary = CertificateSummary(steps=len(judged), steps_left_out=len(steps) - len(judged))
    for name in QUANTITIES:
        values = np.array([getattr(step, name) for step in judged])
        summary.median[name] = float(np.median(values)) if judged else float("nan")
        summary.maximum[name] = float(np.max(values)) if judged else float("nan")
    if judged:
        summary.contacts = float(np.mean([step.contacts for step in judged]))
        summary.loaded = float(np.mean([step.loaded for step in judged]))
        summary.sliding = float(np.mean([step.sliding for step in judged]))
    return summary


def distance_to_cone(impulse: NDArray[np.float64], mu: NDArray[np.float64]) -> NDArray[np.float64]:
    """Euclidean distance of impulses (k, 3), normal last, to {||x_t|| <= mu x_n}: (k,) [N s]."""
    radius, height = np.hypot(impulse[:, 0], impulse[:, 1]), impulse[:, 2]
    along = np.maximum((mu * radius + height) / (1.0 + mu * mu), 0.0)
    outside = np.hypot(radius - mu * along, height - along)
    return np.where(radius <= mu * height, 0.0, outside)


def _friction_law(
    impulse: NDArray[np.float64],
    velocity: NDArray[np.float64],
    mu: NDArray[np.float64],
    loaded: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Tangential residual (k,) [N s], creep (k,) [m/s], and who slides (k,)."""
    cone = mu * np.maximum(impulse[:, 2], 0.0)
    friction, speed = (
        np.hypot(impulse[:, 0], impulse[:, 1]),
        np.hypot(velocity[:, 0], velocity[:, 1]),
    )
    on_cone = friction >= cone * (1.0 - CONE_TOLERANCE)
    sliding = on_cone & (speed > STICK_SPEED)
    direction = velocity[:, :2] / np.maximum(speed, STICK_SPEED)[:, None]
    miss = np.linalg.norm(impulse[:, :2] + cone[:, None] * direction, axis=1)
    creep = np.where(loaded & (cone > 0.0) & ~sliding, speed, 0.0)
    return np.where(sliding, miss, 0.0), creep, sliding & loaded


def _check_geometry(sample: ContactSample, k: int) -> None:
    _rows("position", sample.position, (k, 3))
    normal = _rows("normal", sample.normal, (k, 3))
    wrong = np.abs(np.linalg.norm(normal, axis=1) - 1.0) > 1e-6
    if np.any(wrong):
        i = int(np.argmax(wrong))
        raise ValueError(f"ContactSample.normal[{i}] = {normal[i].tolist()} must be a unit vector")


def _rows(name: str, given: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """`given` as finite float64 of the wanted shape (-1: any), or an error that names the field."""
    array = np.asarray(given, dtype=np.float64)
    if array.size == 0 and shape[0] in (0, -1):
        array = array.reshape([0, *shape[1:]])
    if array.ndim != len(shape) or any(
        n not in (-1, m) for n, m in zip(shape, array.shape, strict=True)
    ):
        raise ValueError(
            f"ContactSample.{name} has shape {array.shape}; give {shape} (-1: any length)"
        )
    if not np.all(np.isfinite(array)):
        at = [int(i) for i in np.argwhere(~np.isfinite(array))[0]]
        raise ValueError(f"ContactSample.{name}{at} = {array[tuple(at)]} is not finite")
    return array
