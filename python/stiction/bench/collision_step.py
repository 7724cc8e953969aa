"""The collision part of a step on piles of YCB hulls: ours against mj_collision, same states.

Our settled pile is copied into MuJoCo and simulated on by us for a number of steps; at every state
both detect all contacts. Ours is broad phase, narrow phase and manifolds with the warm starts the
state holds; theirs is mj_collision after mj_kinematics and mj_comPos, which are not timed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

from .catalogue import funnel
from .ours import StictionWorld
from .peer_models import compile_variant, hull_pile, variants

BODIES = (10, 50, 200)
GOAL = 0.5
SETTLE = 2.0
"""Seconds the pile falls before it is measured."""
STATES, REPEATS = 40, 7


def bench_steps(
    say: Callable[[str], None], bodies: tuple[int, ...] = BODIES
) -> list[dict[str, Any]]:
    """A row per pile."""
    rows = []
    for count in bodies:
        say(f"pile of {count} bodies")
        rows.append(bench_pile(count))
    return rows


def bench_pile(
    bodies: int, settle: float = SETTLE, states: int = STATES, repeats: int = REPEATS
) -> dict[str, Any]:
    """Medians over the states of the best of `repeats` calls [µs], and what was found."""
    world = StictionWorld(f"ycb-pile({bodies})", 2e-3)
    world.settle(settle)
    model = _peer_model(world, bodies)
    ours, peer = [], []
    for _ in range(states):
        world.advance(1)
        ours.append(world.time_collision(repeats))
        peer.append(_time_peer(model, world, repeats))
    us = float(np.median([x["nanoseconds"] for x in ours])) * 1e-3
    peer_us = float(np.median([x["nanoseconds"] for x in peer])) * 1e-3
    contacts = float(np.mean([x["contacts"] for x in ours]))
    peer_contacts = float(np.mean([x["contacts"] for x in peer]))
    return {
        "bodies": bodies,
        "ours_us": us,
        "peer_us": peer_us,
        "ratio": us / peer_us,
        "goal": GOAL,
        "contacts": contacts,
        "peer_contacts": peer_contacts,
        "us_per_contact": us / max(contacts, 1.0),
        "peer_us_per_contact": peer_us / max(peer_contacts, 1.0),
        "tested_pairs": float(np.mean([x["tested_pairs"] for x in ours])),
        "narrow_phase_pairs": float(np.mean([x["pairs"] for x in ours])),
    }


def _peer_model(world: StictionWorld, bodies: int) -> mujoco.MjModel:
    """The same pile in MuJoCo."""
    spec = hull_pile(world.hulls(), [0.3] * bodies, funnel(bodies), friction=0.6)
    return compile_variant(spec, variants("elliptic")[0], world.dt)


def _time_peer(model: mujoco.MjModel, world: StictionWorld, repeats: int) -> dict[str, Any]:
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = world.loose_bodies()
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter_ns()
        mujoco.mj_collision(model, data)
        best = min(best, time.perf_counter_ns() - start)
    return {"nanoseconds": float(best), "contacts": int(data.ncon)}
