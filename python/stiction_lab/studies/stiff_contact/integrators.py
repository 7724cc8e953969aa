"""The integrators compared, their options and their colours."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stiction._stiction import Scene
from stiction.simulator import Simulator

OURS, PUBLISHED, IMPLICIT = "exponential", "exponential-published", "implicit-euler"


@dataclass(frozen=True)
class Method:
    """An integrator with its options.

    Attributes:
        integrator: name in `stiction.integrators()`.
        options: settings of the Simulator.
        explicit: useless at large steps.
    """

    integrator: str
    color: str
    options: dict[str, Any] = field(default_factory=dict)
    explicit: bool = False

    def simulator(self, scene: Scene, dt: float, law: str = "continuous") -> Simulator:
        """One that takes steps of dt [s]."""
        return Simulator(scene, dt=dt, integrator=self.integrator, law=law, **self.options)


METHODS = {
    OURS: Method(OURS, "#000000"),
    PUBLISHED: Method(PUBLISHED, "#d55e00"),
    IMPLICIT: Method(IMPLICIT, "#0072b2"),
    "rk4": Method("rk4", "#009e73", explicit=True),
    "explicit-euler": Method("explicit-euler", "#cc79a7", explicit=True),
    "symplectic-euler": Method("symplectic-euler", "#e3b3cd", explicit=True),
}
"""Every compliant integrator."""
PRODUCTS = {
    f"published, {m} products": Method(PUBLISHED, color, {"max_products": m})
    for m, color in enumerate(("#fbd0a8", "#f7b27a", "#f0944f", "#e0752b", "#c75a17"))
}
"""The paper's cheaper exponentials: at most so many matrix products."""
