"""The statements of a stored study, each counted once."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .ruling import Kind, Ruling

_VARIANT = re.compile(r" \(([^()]+)\)$")
_GRAVEST = (Kind.UNDECIDED, Kind.OURS, Kind.PAPER, Kind.MISPRINT)
"""Of a statement that fails for several reasons the first counts."""
UNTOLD = "within noise"
"""Verdict where two times are too close, or of solves that had nothing to do."""


@dataclass(frozen=True)
class Statement:
    """What one experiment says of one statement, all its variants together.

    Attributes:
        text: the paper's.
        parts: (variant, our numbers, verdict) of each; the variant is empty if there is one.
        holds: of all variants: True, False if one does not hold, None if our numbers cannot tell.
        ruling: why it does not; None if it does.
    """

    text: str
    parts: tuple[tuple[str, str, str], ...]
    holds: bool | None
    ruling: Ruling | None

    @property
    def ours(self) -> str:
        """Our numbers, with the variant's name if there are several."""
        if len(self.parts) == 1:
            return self.parts[0][1]
        return "<br>".join(
            f"{variant}: {ours} ({verdict})" if variant else ours
            for variant, ours, verdict in self.parts
        )

    @property
    def verdict(self) -> str:
        """In words; what does not hold stands out."""
        if self.ruling is None:
            return {True: "holds", False: "**does not**", None: UNTOLD}[self.holds]
        reason = str(self.ruling.kind.value)
        return reason if self.ruling.kind is Kind.MISPRINT else f"**does not**: {reason}"


def statements(experiment: dict[str, Any], rulings: Sequence[Ruling]) -> list[Statement]:
    """Claims that say the same of several variants are one statement.

    Raises:
        KeyError: a statement does not hold and has no ruling.
    """
    bases = Counter(_VARIANT.sub("", claim["statement"]) for claim in experiment["claims"])
    groups: dict[str, list[dict[str, Any]]] = {}
    for claim in experiment["claims"]:
        base = _VARIANT.sub("", claim["statement"])
        groups.setdefault(base if bases[base] > 1 else claim["statement"], []).append(claim)
    return [_one(experiment["name"], text, group, rulings) for text, group in groups.items()]


def _one(
    experiment: str, text: str, claims: list[dict[str, Any]], rulings: Sequence[Ruling]
) -> Statement:
    parts = []
    for claim in claims:
        variant = _VARIANT.search(claim["statement"])
        named = variant[1] if variant and len(claims) > 1 else ""
        parts.append((named, claim["ours"], claim["verdict"]))
    verdicts = [claim["holds"] for claim in claims]
    if False not in verdicts:
        return Statement(text, tuple(parts), None if None in verdicts else True, None)
    for ruling in rulings:
        if (ruling.experiment, ruling.statement) == (experiment, text):
            return Statement(text, tuple(parts), False, ruling)
    raise KeyError(f"{experiment}: {text!r} does not hold and has no ruling")


def count(document: dict[str, Any], rulings: Sequence[Ruling]) -> dict[str, int]:
    """Verdict -> how many statements of the paper; the same words in several experiments are one,
    which holds only if it holds in all of them."""
    found: dict[str, list[Statement]] = {}
    for experiment in document["experiments"]:
        for one in statements(experiment, rulings):
            found.setdefault(one.text, []).append(one)
    counts = dict.fromkeys(["holds", UNTOLD, *(kind.value for kind in _GRAVEST)], 0)
    for group in found.values():
        kinds = {one.ruling.kind for one in group if one.ruling is not None}
        if kinds:
            counts[next(kind for kind in _GRAVEST if kind in kinds).value] += 1
        else:
            noise = any(one.holds is None for one in group)
            counts[UNTOLD if noise else "holds"] += 1
    return counts
