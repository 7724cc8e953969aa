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

Contacts with torsional friction have rows (t1, t2, tau, n), with rolling friction (t1, t2, tau,
rho1, rho2, n), and one coefficient per row before the normal, angular ones in m. lambda_t, c_t then
are in one unit: moments divided and angular velocities multiplied by mu_i / mu_1, mu = mu_1.

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
CONE_ROWS = (3, 4, 6)
CONTACT_LENGTH = 0.01
"""Makes a moment a force where friction gives no length [m]."""
QUANTITIES = ("normal", "penetration", "tangential", "creep", "cone")
UNITS = {"normal": "J", "penetration": "m", "tangential": "N s", "creep": "m/s", "cone": "N s"}


@dataclass
class ContactSample:
    """All k contacts of one step, of any engine.

    Attributes:
        position: (k, 3) contact points, world [m].
        normal: (k, 3) unit normals from A to B, world.
        gap: (k,) signed distance at the start of the step [m], negative where the bodies overlap.
        friction: (k,) Coulomb coefficient, >= 0, or (k, d - 1) of the rows before the normal.
        impulse: (k, d) on B, axes (t1, t2, n) of the contact [N s]; d is 3, 4 or 6.
        velocity: (k, d) J v+ of B relative to A with the velocity after the step, same axes [m/s].
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
    rows = np.shape(sample.impulse)[1] if k and np.ndim(sample.impulse) == 2 else 3
    rows = rows if rows in CONE_ROWS else 3
    wide = np.ndim(sample.friction) == 2
    friction = _rows("friction", sample.friction, (k, rows - 1) if wide or rows > 3 else (k,))
    if np.any(friction < 0):
        at = int(np.argmin(friction)) // (rows - 1 if wide else 1)
        raise ValueError(f"ContactSample.friction[{at}] = {friction.min():g} must be >= 0")
    if k == 0:
        return StepCertificate()
    impulse = _rows("impulse", sample.impulse, (k, rows))
    velocity = _rows("velocity", sample.velocity, (k, rows))
    gap_after = gap + dt * velocity[:, -1]
    normal_impulse = np.maximum(impulse[:, -1], 0.0)
    loaded = carries(impulse)
    mu, impulse_unit, velocity_unit = _units(friction, rows)
    tangential, creep, sliding = _friction_law(
        impulse / impulse_unit, velocity * velocity_unit, mu, loaded
    )
    return StepCertificate(
        normal=float(np.max(normal_impulse * np.maximum(gap_after, 0.0)) / dt),
        penetration=float(np.max(np.maximum(-gap_after, 0.0))),
        tangential=float(np.max(tangential)),
        creep=float(np.max(creep)),
        cone=float(np.max(distance_to_cone(impulse, friction))),
        contacts=k,
        loaded=int(np.count_nonzero(loaded)),
        sliding=int(np.count_nonzero(sliding)),
    )


def carries(impulse: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which of k >= 1 contacts carry an impulse (k, d) worth judging: of `LOADED`."""
    return np.asarray(impulse[:, -1] > LOADED * max(float(impulse[:, -1].max()), 0.0))


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
    """Distance of impulses (k, d), normal last, to {||x_t|| <= mu x_n} in one unit: (k,) [N s].

    mu: (k,), or (k, d - 1) of the rows before the normal, as in ContactSample.
    """
    friction, rows = mu, impulse.shape[1]
    mu, unit, _ = _units(friction, rows)
    tangential, height = (impulse / unit)[:, :-1], impulse[:, -1]
    held = (friction == 0.0) if friction.ndim == 2 else np.zeros(tangential.shape, bool)
    radius = np.linalg.norm(np.where(held, 0.0, tangential), axis=1)
    along = np.maximum((mu * radius + height) / (1.0 + mu * mu), 0.0)
    outside = np.hypot(radius - mu * along, height - along)
    inside = np.where(radius <= mu * height, 0.0, outside)
    return np.asarray(np.hypot(inside, np.linalg.norm(np.where(held, tangential, 0.0), axis=1)))


def _units(
    friction: NDArray[np.float64], rows: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """mu (k,) of the circular cone, and what impulses are divided and velocities multiplied by."""
    if friction.ndim == 1:
        return friction, np.ones((friction.size, rows)), np.ones((friction.size, rows))
    angular = np.max(friction[:, 2:], axis=1, initial=0.0) / CONTACT_LENGTH
    mu = np.where(friction[:, 1] > 0.0, friction[:, 1], angular)
    mu = np.where(friction[:, 0] > 0.0, friction[:, 0], mu)
    plain = np.arange(rows - 1) < 2
    ratio = friction / np.where(mu > 0.0, mu, 1.0)[:, None]
    velocity = np.where(mu[:, None] > 0.0, ratio, np.where(plain, 1.0, 0.0))
    impulse = np.where(velocity > 0.0, velocity, np.where(plain, 1.0, CONTACT_LENGTH))
    ones = np.ones((mu.size, 1))
    return mu, np.hstack([impulse, ones]), np.hstack([velocity, ones])


def _friction_law(
    impulse: NDArray[np.float64],
    velocity: NDArray[np.float64],
    mu: NDArray[np.float64],
    loaded: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
    """Tangential residual (k,) [N s], creep (k,) [m/s], and who slides (k,)."""
    cone = mu * np.maximum(impulse[:, -1], 0.0)
    friction = np.linalg.norm(impulse[:, :-1], axis=1)
    speed = np.linalg.norm(velocity[:, :-1], axis=1)
    on_cone = friction >= cone * (1.0 - CONE_TOLERANCE)
    sliding = on_cone & (speed > STICK_SPEED)
    direction = velocity[:, :-1] / np.maximum(speed, STICK_SPEED)[:, None]
    miss = np.linalg.norm(impulse[:, :-1] + cone[:, None] * direction, axis=1)
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
