"""Are two engines doing the same work? Without a yes there is no ratio."""

from __future__ import annotations

from dataclasses import dataclass

from .worlds import BenchError, Facts

RELATIVE = {"mass": 1e-6, "stiffness": 1e-6, "damping": 1e-6, "friction": 1e-9}
COM_HEIGHT = 1e-5
"""Allowed difference of the initial centres of mass [m]."""


@dataclass(frozen=True)
class Disagreement:
    """One number on which the engines differ by more than allowed."""

    quantity: str
    ours: float
    peer: float
    allowed: str

    def __str__(self) -> str:
        return (
            f"{self.quantity}: ours {self.ours:.9g}, peer {self.peer:.9g} (allowed: {self.allowed})"
        )


def compare_facts(ours: Facts, peer: Facts) -> list[Disagreement]:
    """Differences of the two scenes before anything moved."""
    found = []
    if ours.nv != peer.nv:
        found.append(Disagreement("nv", ours.nv, peer.nv, "equal"))
    if abs(ours.com_height - peer.com_height) > COM_HEIGHT:
        found.append(
            Disagreement(
                "com_height [m]", ours.com_height, peer.com_height, f"{COM_HEIGHT:g} m apart"
            )
        )
    for name, tolerance in RELATIVE.items():
        a, b = getattr(ours, name), getattr(peer, name)
        if abs(a - b) > tolerance * max(abs(a), abs(b)):
            found.append(Disagreement(name, a, b, f"{tolerance:g} relative"))
    return found


def compare_contacts(ours: float, peer: float, tolerance: float) -> list[Disagreement]:
    """Difference of the mean numbers of contacts, relative to the larger."""
    if abs(ours - peer) <= tolerance * max(ours, peer):
        return []
    return [Disagreement("contacts (mean)", ours, peer, f"{tolerance:g} relative")]


def require(scene: str, peer: str, disagreements: list[Disagreement]) -> None:
    """Raise BenchError naming every disagreement, if there is any."""
    if disagreements:
        lines = "; ".join(str(item) for item in disagreements)
        raise BenchError(
            f"scene {scene!r} is not the same work in {peer}: {lines}. No ratio is given."
        )
