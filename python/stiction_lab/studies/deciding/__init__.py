"""Small experiments that decide why a statement of a paper does not hold here.

Each gives numbers that depend on nothing but the code: iterations, errors, residuals, no times.
They are stored in benchmarks/results/deciding.json, where `studies.rulings` looks them up.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from stiction.pages.experiment import StudyError

from . import contact, distance, stiff, sweeps

EXPERIMENTS: dict[str, Callable[[float], dict[str, Any]]] = {
    "own velocity": contact.own_velocity,
    "exact alternation": contact.exact_alternation,
    "cycling sweeps": contact.cycling_sweeps,
    "printed steps": sweeps.printed_steps,
    "loose bisection": contact.loose_bisection,
    "loose sweeps": sweeps.loose_sweeps,
    "schedules": distance.schedules,
    "warm starts": distance.warm_starts,
    "sizes": distance.sizes,
    "explicit walk": stiff.explicit_walk,
    "walks of Romeo": stiff.romeo,
}
"""Name -> experiment; its argument is the share of the full work, at most 1."""


def decide(names: Sequence[str], share: float, tick: Callable[[str], None]) -> dict[str, Any]:
    """Numbers of the experiments named, all if there are none.

    Raises:
        StudyError: a name is unknown, or a package or a robot is missing.
    """
    found = {}
    for name in names or EXPERIMENTS:
        if name not in EXPERIMENTS:
            known = ", ".join(EXPERIMENTS)
            raise StudyError(f"{name!r} is no deciding experiment; there are: {known}")
        tick(name)
        found[name] = EXPERIMENTS[name](share)
    return found


def store(found: dict[str, Any], path: Path) -> None:
    """Into the document at `path`; what is there of other experiments stays."""
    before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    order = {name: (before | found)[name] for name in EXPERIMENTS if name in before | found}
    text = json.dumps(_finite(order), indent=1, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def _finite(node: Any) -> Any:
    """The same with null for what is not finite, which JSON has no word for."""
    if isinstance(node, dict):
        return {key: _finite(value) for key, value in node.items()}
    if isinstance(node, list):
        return [_finite(value) for value in node]
    return None if isinstance(node, float) and not math.isfinite(node) else node
