"""Are two engines doing the same work? Without a yes there is no ratio."""

from __future__ import annotations

from collections.abc import Sequence
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


def compare_contacts(
    ours: Sequence[float],
    loaded: Sequence[float],
    peer: Sequence[float],
    tolerance: float,
    what: str = "contacts",
) -> list[Disagreement]:
    """Differences of the mean numbers of contacts, or of pairs in contact, by quarter.

    We create contacts ahead of touch (within a margin) and a rigid solution may leave some of them
    unloaded; a soft engine has just those that overlap. So the peer's number must lie between our
    loaded contacts and all of ours, give or take `tolerance`. A peer that drops what it should hold
    falls below in the last quarters.
    """
    found = []
    for quarter, (most, least, given) in enumerate(zip(ours, loaded, peer, strict=True), start=1):
        low, high = least * (1.0 - tolerance), most / (1.0 - tolerance)
        if not low - 1e-9 <= given <= high + 1e-9:
            allowed = f"{low:.2f} to {high:.2f}"
            found.append(Disagreement(f"{what}, quarter {quarter}", most, given, allowed))
    return found


def require(scene: str, peer: str, disagreements: list[Disagreement]) -> None:
    """Raise BenchError naming every disagreement, if there is any."""
    if disagreements:
        lines = "; ".join(str(item) for item in disagreements)
        raise BenchError(
            f"scene {scene!r} is not the same work in {peer}: {lines}. No ratio is given."
        )
