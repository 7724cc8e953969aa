"""The collision part of a step (broad phase, narrow phase, manifolds) on piles of hulls.

Ours settles a pile, then takes some steps; at the start of each, `Simulator.find_contacts` is timed
with the warm starts the step itself would use, and `mj_collision` from the same poses. Ours
includes the kinematics, the peer's does not. Both are one call from Python.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray
from stiction import CollisionCounters, State

from .catalogue import funnel
from .measure import Tick, statistic
from .ours import StictionWorld
from .peer_models import compile_variant, hull_pile, variants
from .worlds import BenchError

DT = 2e-3
FRICTION, MASS = 0.6, 0.3
MARGIN = 1e-3  # [m] ours by default, of a pair


@dataclass(frozen=True)
class PileRow:
    """One pile: medians over the states of the fastest of the repetitions.

    Attributes:
        bodies: in the pile.
        us, peer_us: the collision part of a step [us]; peer: mj_collision.
        ratio: us / peer_us.
        contacts, peer_contacts: contact points, medians.
        us_per_contact: us / contacts.
        tested_pairs, narrow_phase_calls: our work, medians.
        margin, peer_margin: largest gap of a contact of a pair at rest [m].
    """

    bodies: int
    us: float
    peer_us: float
    ratio: float
    contacts: float
    peer_contacts: float
    us_per_contact: float
    tested_pairs: float
    narrow_phase_calls: float
    margin: float
    peer_margin: float

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


class _Pile(StictionWorld):
    """A settled pile, and the states of its next steps."""

    def __init__(self, bodies: int, settle: float) -> None:
        super().__init__(f"ycb-pile({bodies})", DT)
        self.settle(settle)

    def next_states(self, steps: int) -> tuple[list[State], list[NDArray[np.float64]]]:
        """Our states and the same poses in the peer's layout."""
        states, poses = [], []
        for _ in range(steps):
            states.append(self._state.copy())
            poses.append(self.loose_bodies()[0])
            self.advance(1)
        return states, poses

    def time_state(self, state: State) -> tuple[float, CollisionCounters]:
        """Seconds of one find_contacts() from a copy of the state, and what it did."""
        copy = state.copy()
        begin = time.perf_counter()
        counters = self._sim.find_contacts(copy)
        return time.perf_counter() - begin, counters

    def peer(self) -> mujoco.MjModel:
        """The same pile in MuJoCo, which looks for contacts as far ahead as we do.

        Our bodies rest at gaps of rounding; without a margin the peer finds few of these contacts.
        """
        count = self.num_bodies
        spec = hull_pile(self.hulls(), [MASS] * count, funnel(count), friction=FRICTION)
        model = compile_variant(spec, variants("elliptic")[0], DT)
        model.geom_margin[:] = MARGIN / 2  # those of a pair are added
        return model


def _time_peer(
    model: mujoco.MjModel, data: mujoco.MjData, pose: NDArray[np.float64]
) -> tuple[float, int]:
    """Seconds of one mj_collision and its contacts."""
    data.qpos[:] = pose
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    begin = time.perf_counter()
    mujoco.mj_collision(model, data)
    return time.perf_counter() - begin, int(data.ncon)


def pile_row(
    bodies: int, steps: int = 40, reps: int = 7, settle: float = 4.0, tick: Tick | None = None
) -> PileRow:
    """Measure one pile: `settle` seconds first, then `steps` states, each `reps` times.

    Raises:
        BenchError: bodies, steps or reps below 1.
    """
    if min(bodies, steps, reps) < 1:
        raise BenchError(f"pile_row: bodies = {bodies}, steps = {steps}, reps = {reps}: >= 1")
    if tick:
        tick(f"pile of {bodies}: settling for {settle} s")
    pile = _Pile(bodies, settle)
    states, poses = pile.next_states(steps)
    model = pile.peer()
    data = mujoco.MjData(model)
    elapsed = np.zeros((2, reps, steps))
    counts = np.zeros((4, steps))
    for rep in range(reps):
        if tick:
            tick(f"pile of {bodies}: repetition {rep + 1} of {reps}")
        for k, (state, pose) in enumerate(zip(states, poses, strict=True)):
            elapsed[0, rep, k], work = pile.time_state(state)
            elapsed[1, rep, k], peer_contacts = _time_peer(model, data, pose)
            counts[:, k] = (
                work.contacts,
                peer_contacts,
                work.tested_pairs,
                work.narrow_phase_calls,
            )
    us, peer_us = (float(x) * 1e6 for x in statistic(elapsed))
    contacts, peer_contacts_median, tested, calls = (float(x) for x in np.median(counts, axis=1))
    return PileRow(
        bodies=bodies,
        us=us,
        peer_us=peer_us,
        ratio=us / peer_us,
        contacts=contacts,
        peer_contacts=peer_contacts_median,
        us_per_contact=us / max(contacts, 1.0),
        tested_pairs=tested,
        narrow_phase_calls=calls,
        margin=MARGIN,
        peer_margin=float(data.contact.includemargin.max(initial=0.0)),
    )


def pile_rows(
    counts: Sequence[int] = (10, 50, 200),
    steps: int = 40,
    reps: int = 7,
    settle: float = 4.0,
    tick: Tick | None = None,
) -> list[PileRow]:
    """`pile_row` for piles of several sizes."""
    return [pile_row(count, steps, reps, settle, tick) for count in counts]
