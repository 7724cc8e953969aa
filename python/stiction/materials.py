"""Stiffness and damping of a contact from what its surfaces are made of.

A contact's stiffness [N/m] belongs to two bodies, not to a material: it follows from their elastic
constants, the curvature where they touch and the load. `contact_stiffness` gives the slope of
Hertz's law there, `damping` the damper of a wanted rebound, `pair_material` both as a Material for
`Scene.set_pair_material`:

    foot, floor = materials.SOLIDS["rubber, 60 Shore A"], materials.SOLIDS["oak, across the grain"]
    pair = materials.pair_material(foot, floor, radius=0.016, force=6.0, mass=0.6, friction=0.8)
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ._stiction import Material

__all__ = ["SOLIDS", "Solid", "contact_stiffness", "damping", "pair_material", "rubber"]


@dataclass(frozen=True)
class Solid:
    """Elastic constants of a solid.

    Attributes:
        youngs_modulus: [Pa], > 0.
        poisson_ratio: in [0, 0.5].
        source: where the numbers are from.
    """

    youngs_modulus: float
    poisson_ratio: float
    source: str

    @property
    def plane_modulus(self) -> float:
        """E / (1 - nu^2) [Pa]."""
        return self.youngs_modulus / (1.0 - self.poisson_ratio**2)


def rubber(shore_a: float) -> Solid:
    """Rubber of a hardness in Shore A, (0, 100)."""
    if not 0.0 < shore_a < 100.0:
        raise ValueError(f"shore_a = {shore_a}: must be in (0, 100)")
    modulus = 0.0981e6 * (56.0 + 7.62336 * shore_a) / (0.137505 * (254.0 - 2.54 * shore_a))
    return Solid(modulus, 0.5, "A. N. Gent, Rubber Chem. Technol. 31 (1958) 896")


def _foam(density: float) -> Solid:
    """Open flexible polyurethane foam of a density [kg/m^3]: E = E_s (rho / rho_s)^2."""
    return Solid(
        45e6 * (density / 1200.0) ** 2,
        0.3,
        "L. J. Gibson, M. F. Ashby, Cellular Solids, 1997, table 3.1 and eq. (5.6)",
    )


_ASHBY = "M. F. Ashby, D. R. H. Jones, Engineering Materials 1, table 3.1"
_WOOD = "USDA Forest Products Laboratory, Wood Handbook, FPL-GTR-282, tables 5-1 to 5-3"

SOLIDS: dict[str, Solid] = {
    "steel": Solid(2.1e11, 0.3, _ASHBY),
    "aluminium": Solid(6.9e10, 0.33, _ASHBY),
    "glass": Solid(6.9e10, 0.23, _ASHBY),
    "concrete, C25/30": Solid(3.1e10, 0.2, "EN 1992-1-1, table 3.1 and 3.1.3 (4)"),
    "PLA, printed solid": Solid(
        3.5e9, 0.36, "S. Farah et al., Adv. Drug Deliv. Rev. 107 (2016) 367, table 1"
    ),
    "oak, along the grain": Solid(1.25e10, 0.35, _WOOD),
    "oak, across the grain": Solid(1.9e9, 0.35, _WOOD),
    "rubber, 40 Shore A": rubber(40.0),
    "rubber, 60 Shore A": rubber(60.0),
    "foam, polyurethane 100 kg/m3": _foam(100.0),
}
"""By name; handbook values, good to some ten per cent, foams and woods to a factor of two."""


def _positive(name: str, value: float, unit: str) -> None:
    if not (value > 0.0 and math.isfinite(value)):
        raise ValueError(f"{name} = {value}: must be > 0 [{unit}] and finite")


def contact_stiffness(a: Solid, b: Solid, radius: float, force: float) -> float:
    """Slope dF/d(depth) [N/m] of Hertz's law for two solids at a normal load.

    With 1/E* = (1 - nu_a^2)/E_a + (1 - nu_b^2)/E_b, F = 4/3 E* R^(1/2) depth^(3/2), and so
    dF/d(depth) = (6 E*^2 R F)^(1/3) (K. L. Johnson, Contact Mechanics, 1985, eq. (4.23)).

    Args:
        radius: 1/R = 1/R_a + 1/R_b of the two curvatures where they touch [m]; of a ball on a
            plane the ball's own.
        force: the load of one point at which the slope is taken [N].
    """
    _positive("radius", radius, "m")
    _positive("force", force, "N")
    modulus = 1.0 / (1.0 / a.plane_modulus + 1.0 / b.plane_modulus)
    return float((6.0 * modulus**2 * radius * force) ** (1.0 / 3.0))


def damping(stiffness: float, mass: float, restitution: float) -> float:
    """Damper [N s/m] beside a spring [N/m] with which a mass [kg] comes back with `restitution` of
    its speed, the spring-damper never pulling: the relation of ratio and restitution is solved by
    bisection to 1e-12.

    Args:
        mass: that the contact decelerates, m_a m_b / (m_a + m_b) of two free bodies.
        restitution: in (0, 1].
    """
    _positive("stiffness", stiffness, "N/m")
    _positive("mass", mass, "kg")
    if not 0.0 < restitution <= 1.0:
        raise ValueError(f"restitution = {restitution}: must be in (0, 1]")
    if restitution == 1.0:
        return 0.0
    low, high = 0.0, 1e6
    for _ in range(200):
        middle = 0.5 * (low + high)
        if _rebound(middle) > restitution:
            low = middle
        else:
            high = middle
        if high - low <= 1e-12 * high:
            break
    return 2.0 * high * math.sqrt(stiffness * mass)


def _rebound(ratio: float) -> float:
    """Speed after over speed before of x'' + 2 ratio x' + x = 0 from x = 0 until k x + d x' = 0, in
    the time unit sqrt(m / k) (T. Schwager, T. Poeschel, Granular Matter 9 (2007) 465, eq. (21))."""
    if ratio < 1.0:
        omega = math.sqrt(1.0 - ratio**2)
        phase = math.atan2(2.0 * ratio * omega, 2.0 * ratio**2 - 1.0)
        return math.exp(-ratio * phase / omega)
    if ratio == 1.0:
        return math.exp(-2.0)
    root = math.sqrt(ratio**2 - 1.0)
    # (ratio + root)^2 = 1 / (ratio - root)^2 without cancellation.
    return math.exp(-2.0 * ratio / root * math.log(ratio + root))


def pair_material(
    a: Solid,
    b: Solid,
    radius: float,
    force: float,
    mass: float,
    friction: float,
    restitution: float = 0.5,
) -> Material:
    """Material of a pair of one contact point: stiffness of Hertz's law at `force`, damper for
    `restitution` of `mass`. See contact_stiffness and damping."""
    stiffness = contact_stiffness(a, b, radius, force)
    return Material(
        friction=friction,
        stiffness=stiffness,
        damping=damping(stiffness, mass, restitution),
    )
