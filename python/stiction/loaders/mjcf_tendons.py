"""Fixed tendons of a compiled MuJoCo model: springs, dampers, friction and limits of a sum of
positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .mjcf_soft_rows import SoftRows, between, pushes, row, servo
from .mjcf_source import Source

__all__ = ["FixedTendon", "fixed_tendons"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FixedTendon:
    """Of length L = arms . positions.

    Attributes:
        number: MuJoCo's.
        arms: (nv,).
        stiffness, damping: [N/m, N s/m, of L], then of second and third order.
        rest: where the spring pulls nowhere, between two lengths.
        range: limits of L, infinite: none; they act from `margin` on.
        solref, solimp, inverse_weight: of the limits.
        friction: dry, at most [N], with its solref and solimp.
    """

    name: str
    number: int
    arms: Floats
    stiffness: tuple[float, float, float]
    damping: tuple[float, float, float]
    rest: tuple[float, float]
    range: tuple[float, float]
    margin: float
    solref: Floats
    solimp: Floats
    inverse_weight: float
    friction: float
    friction_solref: Floats
    friction_solimp: Floats

    @property
    def pulls(self) -> bool:
        """Whether it has a spring."""
        return any(self.stiffness)

    def force(self, q: Floats) -> float:
        """Along the length, of the spring; q are positions of dofs."""
        length = float(self.arms @ q)
        stretch = max(length - self.rest[1], 0.0) + min(length - self.rest[0], 0.0)
        k, kk, kkk = self.stiffness
        return -(k * stretch + kk * stretch**2 + kkk * stretch**3)

    def damper_row(self, v: Floats, dt: float) -> SoftRows | None:
        """With the coefficient b + c |v| + d v^2 of the start, implicit; None: there is none."""
        b, bb, bbb = self.damping
        speed = abs(float(self.arms @ v))
        kd = b + bb * speed + bbb * speed**2
        if kd <= 0.0:
            return None
        return SoftRows(*servo(self.arms, 0.0, v, (0.0, 0.0, kd), dt), between(-np.inf, np.inf))

    def friction_row(self, v: Floats, dt: float) -> SoftRows | None:
        """None: there is none."""
        if not self.friction:
            return None
        law = self.friction_solref, self.friction_solimp, self.inverse_weight
        bound = between(-self.friction, self.friction)
        return SoftRows(*row(self.arms[None, :], v, 0.0, *law, dt), bound)

    def limit_rows(self, q: Floats, v: Floats, dt: float) -> Iterator[SoftRows]:
        """Of the lower limit, of the upper, if they act."""
        length = float(self.arms @ q)
        for sign, limit in ((1.0, self.range[0]), (-1.0, self.range[1])):
            gap = sign * (length - limit)
            if not gap < self.margin:
                continue
            J, law = sign * self.arms[None, :], (self.solref, self.solimp, self.inverse_weight)
            yield SoftRows(*row(J, v, gap - self.margin, *law, dt), pushes)


def fixed_tendons(source: Source) -> list[FixedTendon]:
    """Those that do more than carry an actuator; what else tendons do is a message."""
    m, found = source.model, []
    for t in range(int(m.ntendon)):
        fixed = source.is_one_of(m.tendon_type[t], "mjtTendon", ["mjTENDON_FIXED"])
        tendon = _tendon(source, t) if fixed else None
        if tendon is not None:
            found.append(tendon)
        left = _what_is_left(m, t, fixed)
        if left:
            source.unused("tendon", t, f"{', '.join(left)}: not honoured")
    return found


def _tendon(source: Source, t: int) -> FixedTendon | None:
    m, arms = source.model, np.zeros(int(source.model.nv))
    for w in range(int(m.tendon_adr[t]), int(m.tendon_adr[t] + m.tendon_num[t])):
        arms[m.jnt_dofadr[m.wrap_objid[w]]] += float(m.wrap_prm[w])
    springs, dampers = not source.disabled("spring"), not source.disabled("damper")
    stiffness = _polynomial(m.tendon_stiffness[t], m.tendon_stiffnesspoly[t], springs)
    damping = _polynomial(m.tendon_damping[t], m.tendon_dampingpoly[t], dampers)
    rubs = not (source.disabled("frictionloss") or source.disabled("constraint"))
    friction = float(m.tendon_frictionloss[t]) if rubs else 0.0
    limits = not (source.disabled("limit") or source.disabled("constraint"))
    limited = bool(m.tendon_limited[t]) and limits
    if not (any(stiffness) or any(damping) or limited or friction):
        return None
    low, high = (float(x) for x in m.tendon_range[t]) if limited else (-np.inf, np.inf)
    return FixedTendon(
        name=source.name("tendon", t),
        number=t,
        arms=arms,
        stiffness=stiffness,
        damping=damping,
        rest=(float(m.tendon_lengthspring[t, 0]), float(m.tendon_lengthspring[t, 1])),
        range=(low, high),
        margin=float(m.tendon_margin[t]),
        solref=np.array(m.tendon_solref_lim[t]),
        solimp=np.array(m.tendon_solimp_lim[t]),
        inverse_weight=float(m.tendon_invweight0[t]),
        friction=friction,
        friction_solref=np.array(m.tendon_solref_fri[t]),
        friction_solimp=np.array(m.tendon_solimp_fri[t]),
    )


def _polynomial(first: Any, others: Any, given: bool) -> tuple[float, float, float]:
    second, third = (float(x) for x in others)
    return (float(first), second, third) if given else (0.0, 0.0, 0.0)


def _what_is_left(m: Any, t: int, fixed: bool) -> list[str]:
    """What a tendon does and this engine does not."""
    found = []
    words = ["armature", "springyield"]
    for word in words if fixed else ["stiffness", "damping", "frictionloss", *words]:
        if float(getattr(m, f"tendon_{word}")[t]) != 0.0:
            found.append(word)
    for word in () if fixed else ("stiffness", "damping"):
        if np.any(getattr(m, f"tendon_{word}poly")[t] != 0.0):
            found.append(f"{word} of higher order")
    if m.tendon_limited[t] and not fixed:
        found.append("range")
    if m.tendon_actfrclimited[t]:
        found.append("actuatorfrcrange")
    return found
