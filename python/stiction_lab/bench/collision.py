"""The collision benchmark: one run of the C++ program, and its rows against the peers.

Every query goes from two world poses to distance, normal and both witness points, for us and for
the peers. A time is the median over pairs of the best of several calls, *cycled*: all pairs in
turn, each call timed alone, so that no branch predictor learns one. Ratios: ours over the peer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

import stiction

from . import machine, native

OURS, OURS_WARM = "stiction", "stiction-warm"
DEFAULTS = ("coal", "mujoco")
"""Peers as users run them."""
TIGHTEST = ("coal-1e-8", "mujoco-1e-9")
"""Peers at the tightest tolerance that they reach; their errors stay above ours (MuJoCo stores
vertices in single precision: 1e-9 m)."""
TUNED = ("coal-box-guess", "coal-box-polyak", "coal-box-nesterov")
"""Coal with its own options for speed, at its default tolerance."""
CACHED = "coal-cached"
HULLS = Path(stiction.__file__).parent / "robots" / "ycb"

GOALS = {
    ("distance", 1e-4): 0.45,
    ("distance", 1e-2): 0.44,
    ("distance", 1e-1): 0.44,
    ("distance", 1.0): 0.42,
    ("distance", -1e-4): 0.55,
    ("distance", -1e-3): 0.55,
    ("distance", -1e-2): 0.55,
    ("distance", -3e-2): 0.55,
}
"""Of our time over the fastest default peer's."""
OVERLAP_GOAL = 0.2
"""Of a boolean query at 1 cm over our own distance query."""
WARM_GOALS = {
    (False, 1e-4): (0.25, 0.05),
    (False, 1e-3): (0.25, 0.08),
    (True, 1e-4): (0.25, 0.12),
    (True, 1e-3): (0.25, 0.27),
}
"""(penetrating, motion per step): over Coal with cached guess, over MuJoCo cold."""
GROWTH_GOAL = 1.5
"""Of our time with 3600 vertices over that with 240."""

WORST_ERROR = 1e-8
"""Of any distance, normal or witness point of ours [m]; above it a row has not met its goal."""
PILE_GOAL = 0.5
"""Of the collision part of our step over mj_collision, on piles."""


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        query: what was asked.
        ours_us, peer_us: medians, cycled [µs].
        peer: whose time `peer_us` is.
        ratio: ours over the peer, medians; `ratio_mean` and `ratio_hot` likewise of means and of
            calls repeated at once; None where not measured.
        goal: of `ratio`; None: no goal.
        error, peer_error: largest error of the distance [m].
        points_error, peer_points_error: largest error of normals and witness points [m]: gap
            between the hulls along the normal against the distance, w_B - w_A against distance
            times normal, a witness point beyond a face of its hull; infinite where one of them is
            not finite, None where not judged.
        engine: whose times both are, in rows that compare an engine with itself; else empty.
    """

    query: str
    ours_us: float
    peer_us: float
    peer: str
    ratio: float
    ratio_mean: float | None = None
    ratio_hot: float | None = None
    goal: float | None = None
    error: float | None = None
    peer_error: float | None = None
    points_error: float | None = None
    peer_points_error: float | None = None
    engine: str = ""

    @property
    def met(self) -> bool | None:
        """None without a goal. A fast answer that is wrong meets none."""
        if self.goal is None:
            return None
        errors = [e for e in (self.error, self.points_error) if e is not None]
        return self.ratio <= self.goal and all(e <= WORST_ERROR for e in errors)


def bench_collision(
    peers: Iterable[str] = native.PEERS,
    pairs: int = 1000,
    sequences: int = 200,
    sweeps: int = 7,
    seed: int = 1,
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Build, run and compare: the JSON document of `stiction bench collision`.

    Raises:
        BenchError: a compiler or a peer is missing, or the program failed.
    """
    root = native.repository()
    program = native.build(root, list(peers), say)
    plan = {"pairs": pairs, "sequences": sequences, "sweeps": sweeps, "seed": seed}
    arguments = [str(HULLS), *(f"{key}={value}" for key, value in plan.items())]
    measured = native.run(program, arguments, say)
    rows = compare(measured)
    return {
        "machine": machine.describe(),
        "rows": [asdict(row) | {"met": row.met} for row in rows],
        "measured": measured,
    }


def compare(measured: dict[str, Any]) -> list[Row]:
    """The rows of the table from the program's document."""
    rows = []
    for entry in measured["distances"]:
        rows += _distance_rows(entry)
    for entry, distances in zip(measured["overlaps"], measured["distances"], strict=True):
        rows += _overlap_rows(entry, distances)
    for entry in measured["sequences"]:
        rows += _warm_rows(entry)
    return rows + _growth_rows(measured["growth"])


# --- rows ---------------------------------------------------------------------------------------


def _distance_rows(entry: dict[str, Any]) -> list[Row]:
    engines, d = entry["engines"], entry["distance"]
    name = f"distance {_length(d)}, cold"
    goal = GOALS.get(("distance", d))
    rows = []
    for label, group, aim in (
        (name, DEFAULTS, goal),
        (name + ", peers at their tightest tolerance", TIGHTEST, None),
        (name + ", peers with any option", DEFAULTS + TUNED, None),
    ):
        peer = _fastest(engines, group)
        if peer:
            rows.append(_row(label, engines[OURS], engines[peer], peer, aim))
    return rows


def _overlap_rows(entry: dict[str, Any], distances: dict[str, Any]) -> list[Row]:
    engines, d = entry["engines"], entry["distance"]
    name = f"boolean {_length(d)}, cold"
    rows = []
    peer = _fastest(engines, DEFAULTS)
    if peer:
        rows.append(_row(name, engines[OURS], engines[peer], peer, None))
    goal = OVERLAP_GOAL if d == 1e-2 else None
    own = distances["engines"][OURS]
    rows.append(_row(name + ", over our distance", engines[OURS], own, OURS, goal))
    return rows


def _warm_rows(entry: dict[str, Any]) -> list[Row]:
    engines, key = entry["engines"], (entry["penetrating"], entry["motion"])
    kind = "penetrating" if entry["penetrating"] else "separated"
    name = f"warm, {kind}, {entry['motion']:g} m and rad a step"
    ours, goals = engines[OURS_WARM], WARM_GOALS.get(key, (None, None))
    rows = []
    for peer, goal in zip((CACHED, "mujoco"), goals, strict=True):
        if peer in engines:
            rows.append(_row(name, ours, engines[peer], peer, goal))
    return rows


def _growth_rows(entries: list[dict[str, Any]]) -> list[Row]:
    """An engine's time with many vertices over its own with few, ours and the peers'."""
    rows = []
    few, many = min(e["vertices"] for e in entries), max(e["vertices"] for e in entries)
    for distance in sorted({e["distance"] for e in entries}):
        at = {e["vertices"]: e["engines"] for e in entries if e["distance"] == distance}
        name = f"{many} vertices over {few}, {_length(distance)}"
        for engine in (OURS, *DEFAULTS):
            if engine in at[few]:
                goal = GROWTH_GOAL if engine == OURS else None
                row = _row(name, at[many][engine], at[few][engine], engine, goal)
                rows.append(replace(row, engine=engine))
    return rows


def _row(
    query: str, ours: dict[str, Any], peer: dict[str, Any], name: str, goal: float | None
) -> Row:
    hot = "hot" in ours and "hot" in peer
    return Row(
        query=query,
        ours_us=ours["cycled"]["median"] * 1e-3,
        peer_us=peer["cycled"]["median"] * 1e-3,
        peer=name,
        ratio=ours["cycled"]["median"] / peer["cycled"]["median"],
        ratio_mean=ours["cycled"]["mean"] / peer["cycled"]["mean"],
        ratio_hot=ours["hot"]["median"] / peer["hot"]["median"] if hot else None,
        goal=goal,
        error=_largest(ours, "max"),
        peer_error=_largest(peer, "max"),
        points_error=_largest(ours, "normal", "witness", "outside"),
        peer_points_error=_largest(peer, "normal", "witness", "outside"),
    )


def _largest(entry: dict[str, Any], *names: str) -> float | None:
    """Of these errors [m]; null in the program's document is an answer that is not finite."""
    errors = entry.get("error", {})
    if any(name not in errors for name in names):
        return None
    return max(inf if errors[name] is None else float(errors[name]) for name in names)


def _fastest(engines: dict[str, Any], names: Iterable[str]) -> str | None:
    """Of those measured, by the median."""
    there = [name for name in names if name in engines]
    return min(there, key=lambda name: engines[name]["cycled"]["median"]) if there else None


def _length(metres: float) -> str:
    """With the unit that needs no exponent."""
    size = abs(metres)
    if size >= 1.0:
        return f"{metres:g} m"
    return f"{metres * 100:g} cm" if size >= 1e-2 else f"{metres * 1e3:g} mm"
