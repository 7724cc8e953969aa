"""Fixed tendons of a compiled MuJoCo model: springs, dampers and limits of a sum of positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .mjcf_soft_rows import SoftRows, impedance, stiff_and_damp
from .mjcf_source import Source

__all__ = ["FixedTendon", "fixed_tendons"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FixedTendon:
    """Of length L = arms . positions.

    Attributes:
        arms: (nv,).
        stiffness, damping: [N/m, N s/m, of L].
        rest: where the spring pulls nowhere, between two lengths.
        range: limits of L, infinite: none; they act from `margin` on.
        solref, solimp, inverse_weight: of the limits.
    """

    name: str
    arms: Floats
    stiffness: float
    damping: float
    rest: tuple[float, float]
    range: tuple[float, float]
    margin: float
    solref: Floats
    solimp: Floats
    inverse_weight: float

    def force(self, q: Floats, v: Floats) -> float:
        """Along the length, of spring and damper; q are positions of dofs."""
        length, speed = float(self.arms @ q), float(self.arms @ v)
        stretch = max(length - self.rest[1], 0.0) + min(length - self.rest[0], 0.0)
        return -self.stiffness * stretch - self.damping * speed

    def limit_rows(self, q: Floats, v: Floats, dt: float) -> Iterator[tuple[float, SoftRows]]:
        """1 at the lower limit, -1 at the upper, with its row."""
        length = float(self.arms @ q)
        for sign, limit in ((1.0, self.range[0]), (-1.0, self.range[1])):
            gap = sign * (length - limit)
            if not gap < self.margin:
                continue
            J = sign * self.arms[None, :]
            d = impedance(self.solimp, gap - self.margin)
            k, b = stiff_and_damp(self.solref, self.solimp, dt)
            asked = -b * (J @ v) - k * d * (gap - self.margin)
            yield sign, SoftRows(J, asked, np.array([(1.0 - d) / d * self.inverse_weight]), None)


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
    stiffness = float(m.tendon_stiffness[t]) if springs else 0.0
    damping = float(m.tendon_damping[t]) if dampers else 0.0
    limits = not (source.disabled("limit") or source.disabled("constraint"))
    limited = bool(m.tendon_limited[t]) and limits
    if not (stiffness or damping or limited):
        return None
    low, high = (float(x) for x in m.tendon_range[t]) if limited else (-np.inf, np.inf)
    return FixedTendon(
        name=source.name("tendon", t),
        arms=arms,
        stiffness=stiffness,
        damping=damping,
        rest=(float(m.tendon_lengthspring[t, 0]), float(m.tendon_lengthspring[t, 1])),
        range=(low, high),
        margin=float(m.tendon_margin[t]),
        solref=np.array(m.tendon_solref_lim[t]),
        solimp=np.array(m.tendon_solimp_lim[t]),
        inverse_weight=float(m.tendon_invweight0[t]),
    )


def _what_is_left(m: Any, t: int, fixed: bool) -> list[str]:
    """What a tendon does and this engine does not."""
    found = []
    words = ["frictionloss", "armature", "springyield"]
    for word in words if fixed else ["stiffness", "damping", *words]:
        if float(getattr(m, f"tendon_{word}")[t]) != 0.0:
            found.append(word)
    for word in ("stiffness", "damping"):
        if np.any(getattr(m, f"tendon_{word}poly")[t] != 0.0):
            found.append(f"{word} of higher order")
    if m.tendon_limited[t] and not fixed:
        found.append("range")
    if m.tendon_actfrclimited[t]:
        found.append("actuatorfrcrange")
    return found
