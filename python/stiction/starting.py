"""What is wrong with where a simulation starts: bodies that overlap, closures that are open."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from . import _stiction
from ._stiction import Scene, State
from .user_frame import level_of_user

if TYPE_CHECKING:
    from .batch import Batch

__all__ = ["Bodies", "StartWarning", "warn_of_first_step", "warn_of_start"]

OPEN = 1e-5
"""Opening [m or rad] up to which nothing is said."""
DEEP, RELATIVELY_DEEP = 5e-4, 0.02
"""Overlap up to which nothing is said [m], and as a share of the smaller bounding radius."""
LARGEST = 1e75
"""Coordinates from here on count as numbers that are not finite [m or rad]."""
DEEP_STEP = 1e-3
"""The same where a first step begins [m]: of a state that was set, not of a configuration."""
MOST = 12
"""Pairs that are told one by one, and worlds of a batch that are looked at."""
UPRIGHT = 0.7
"""Vertical part of a normal from which on a body comes free when it is raised."""

Names = tuple[str, str]


class Bodies:
    """What a scene is made of, as lists: each property of a Scene makes one anew."""

    def __init__(self, scene: Scene) -> None:
        self.geometries = scene.geometries
        self.body_names = scene.body_names
        self._robots = scene.robots
        self._floating = {j.body: j for j in scene.joints if j.type == "free_flyer"}

    def names(self, pair: _stiction.PairDistance) -> Names:
        """A body's name, or of what does not move the geometry's."""
        a, b = (self._name(g) for g in (pair.geometry_a, pair.geometry_b))
        return a, b

    def _name(self, geometry: int) -> str:
        body = self.geometries[geometry].body
        return str(self.geometries[geometry].name if body < 0 else self.body_names[body])

    def root(self, body: int) -> int:
        """The first body of the robot that has this one; a loose body is its own; -1: the world."""
        for robot in self._robots:
            if robot.body_offset <= body < robot.body_offset + robot.num_bodies:
                return int(robot.body_offset)
        return body

    def base(self, body: int) -> _stiction.Joint | None:
        """The free-flyer that carries a body; None: it is fixed to the world, or is it."""
        return self._floating.get(self.root(body))

    def overlap(self, pair: _stiction.PairDistance) -> bool:
        """By more than a start may have."""
        shapes = (self.geometries[g].shape for g in (pair.geometry_a, pair.geometry_b))
        size = min(map(_stiction.bounding_radius, shapes))
        return bool(-pair.distance > min(DEEP, RELATIVELY_DEEP * size))

    def against_world(self, a: int, b: int) -> bool:
        """Whether a pair of geometries is a robot, or a body, and the world around it: one does not
        move, and the other floats or meets a ground. Else both may be parts of one robot: a finger
        and the palm that is fixed to the world."""
        still = [g for g in (a, b) if self.geometries[g].body < 0]
        if len(still) != 1:
            return False
        ground = self.geometries[still[0]].shape.type in ("half_space", "height_field")
        return ground or self.base(self.geometries[b if still[0] == a else a].body) is not None


class StartWarning(UserWarning):
    """Bodies overlap, or closures, welds or gears are open, in the state a simulation starts from.

    They are parted and closed no faster than `recovery_speed` and `recovery_angular_speed`.
    """


def warn_of_start(sim: _stiction.Simulator, state: State, configuration: str) -> dict[Names, float]:
    """One StartWarning that lists everything, the worst first; none if nothing is wrong. Returns
    how deep which bodies overlap [m]."""
    bodies = Bodies(sim.scene)
    overlaps, openings = _overlaps(sim, state, bodies), _openings(sim, state)
    parts = []
    if overlaps:
        parts.append(_told(bodies, overlaps, "at the start"))
    if openings:
        verb = "is" if len(openings) == 1 else "are"
        noun = "closure or gear" if len(openings) == 1 else "closures or gears"
        parts.append(f"{len(openings)} {noun} {verb} open at the start: {', '.join(openings)}")
    if parts:
        where = "" if configuration == "default" else f" in '{configuration}'"
        text = f"{sim.scene.name}{where}: {'; '.join(parts)}"
        warnings.warn(text, StartWarning, stacklevel=level_of_user())
    return {bodies.names(pair): -pair.distance for pair in overlaps}


def warn_of_first_step(sim: _stiction.Simulator, state: State) -> None:
    """One StartWarning if bodies overlap by more than DEEP_STEP where the first step begins, but
    for what initial_state() has told. Of surfaces with a stiffness nothing: they rest in each
    other. Called by the compiled simulator."""
    if text := _first_step(sim, state, sim._starts.values()):
        warnings.warn(f"{sim.scene.name}: {text}", StartWarning, stacklevel=level_of_user())


def warn_of_first_batch_step(batch: Batch, mask: NDArray[Any] | None) -> None:
    """The same of a Batch: of the first in which bodies overlap of the first MOST worlds that are
    stepped."""
    stepped = range(batch.num_worlds) if mask is None else np.flatnonzero(mask)
    for world in map(int, stepped[:MOST]):
        if not np.isfinite([*batch.q[world], *batch.v[world]]).all():
            continue  # the step freezes it
        if text := _first_step(batch.simulator(world), batch.state(world), ()):
            of_world = text.replace("state.q[", f"batch.q[{world}, ")
            text = f"{batch.scene.name}, world {world}: {of_world}"
            warnings.warn(text, StartWarning, stacklevel=level_of_user())
            return


def warn_of_edited_scene(text: str) -> None:
    """Called by the compiled simulator and batch."""
    warnings.warn(text, UserWarning, stacklevel=level_of_user())


def _first_step(sim: _stiction.Simulator, state: State, known: Iterable[dict[Names, float]]) -> str:
    """What is wrong where it begins; empty: nothing that is not known. Poses beyond all bounds are
    left to the step, which is not finite then."""
    if not np.less(np.abs(state.q), LARGEST).all():
        return ""
    told: dict[Names, float] = {}
    for overlaps in known:
        for names, depth in overlaps.items():
            told[names] = max(told.get(names, 0.0), depth)
    bodies = Bodies(sim.scene)
    new = [
        pair
        for pair in _overlaps(sim, state, bodies)
        if -pair.distance > DEEP_STEP + told.get(bodies.names(pair), 0.0)
        and sim.pair_material(pair.geometry_a, pair.geometry_b).stiffness == float("inf")
    ]
    return _told(bodies, new, "at the start of the first step") if new else ""


def _told(bodies: Bodies, pairs: list[_stiction.PairDistance], when: str) -> str:
    """What overlaps, and what helps, which is another thing for a robot in the floor than for links
    in each other."""
    noun = "pair of bodies overlaps" if len(pairs) == 1 else "pairs of bodies overlap"
    listed = []
    for pair in pairs[:MOST]:
        a, b = bodies.names(pair)
        listed.append(f"{a} / {b} {-1e3 * pair.distance:.3g} mm")
    if len(pairs) > MOST:
        listed.append(f"and {len(pairs) - MOST} more")
    fixes = _fixes(bodies, pairs)
    return f"{len(pairs)} {noun} {when}: {', '.join(listed)}; to start apart, {'; '.join(fixes)}"


def _fixes(bodies: Bodies, pairs: list[_stiction.PairDistance]) -> list[str]:
    """One for each kind of pair, the deepest of each."""
    geometries = bodies.geometries
    raised: dict[str, float] = {}
    out: Names | None = None
    apart: Names | None = None
    own: Names | None = None
    for pair in pairs:
        a, b = pair.geometry_a, pair.geometry_b
        names = bodies.names(pair)
        if not bodies.against_world(a, b):
            bases = [bodies.root(geometries[g].body) for g in (a, b)]
            links = bases[0] == bases[1] or -1 in bases
            if links:
                own = own or (geometries[a].name, geometries[b].name)
            else:
                apart = apart or names
            continue
        still_a = geometries[a].body < 0
        joint = bodies.base(geometries[b if still_a else a].body)
        up = pair.normal[2] if still_a else -pair.normal[2]
        if joint is None or up < UPRIGHT:
            out = out or (names if still_a else (names[1], names[0]))
        else:
            change = f"raise {bodies.body_names[joint.body]}: state.q[{joint.q_index + 2}] += "
            raised[change] = max(raised.get(change, 0.0), -pair.distance / up)
    fixes = []
    if raised:
        change, by = max(raised.items(), key=lambda item: item[1])
        rest = f" (and {len(raised) - 1} more)" if len(raised) > 1 else ""
        fixes.append(f"{change}{_rounded_up(by):g}{rest}")
    if out:
        fixes.append(f"move {out[1]} out of {out[0]}")
    if apart:
        fixes.append(f"move {apart[0]} and {apart[1]} apart")
    if own:
        pair_off = f"scene.disable_pair('{own[0]}', '{own[1]}')"
        fixes.append(f"take another posture, or {pair_off} if they are meant to overlap")
    return fixes


def _rounded_up(metres: float) -> float:
    """To the next tenth of a millimetre; what rounding adds to a length is none."""
    if not math.isfinite(metres * 1e4):
        return metres
    return math.ceil(metres * 1e4 - 1e-6) / 1e4


def _overlaps(
    sim: _stiction.Simulator, state: State, bodies: Bodies
) -> list[_stiction.PairDistance]:
    """Of each pair of bodies that overlaps the deepest one, the deepest first."""
    deepest: dict[Names, _stiction.PairDistance] = {}
    for pair in sim.scene.distances(state, 0.0, sim.parameters):
        if not bodies.overlap(pair):
            continue
        names = bodies.names(pair)
        if names not in deepest or pair.distance < deepest[names].distance:
            deepest[names] = pair
    return sorted(deepest.values(), key=lambda pair: pair.distance)


def _openings(sim: _stiction.Simulator, state: State) -> list[str]:
    """As "closure 'w' 3 mm and 0.1 rad", each that is open, the widest first."""
    found = [e for e in sim._closure_errors(state) if max(e[2:]) > OPEN]
    texts = []
    for kind, name, metres, radians in sorted(found, key=lambda e: -max(e[2:])):
        sizes = [f"{1e3 * metres:.3g} mm"] if metres > OPEN else []
        sizes += [f"{radians:.3g} rad"] if radians > OPEN else []
        texts.append(f"{kind} '{name}' {' and '.join(sizes)}")
    return texts
