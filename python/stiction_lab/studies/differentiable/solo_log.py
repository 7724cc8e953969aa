"""A noisy log of Solo-12 that is pushed and moves its legs, and its errors by unknown numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio
import stiction
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DT, STEPS = 2e-3, 300
NOISE = np.r_[[1e-3] * 3, [2e-3] * 3, [1e-3] * 12, [1e-2] * 12]
"""Pose of the base [m, rad], joints [rad] and their speeds [rad/s], after each step."""
SEEN = np.r_[0:18, 24:36]
START = np.r_[NOISE[:18] / 10, [1e-3] * 18]
LEG, PARTS = np.arange(6, 18), ("hip", "thigh", "shank")
FIELDS: dict[str, tuple[str, list[int], float]] = {
    "friction": ("friction", list(range(5)), 0.7),
    "mass of the base": ("mass", [0], 1.16),
    **{f"com {axis}": ("com", [k], 0.0) for k, axis in enumerate("xyz")},
    **{f"damping, {part}": ("damping", list(LEG[k::3]), 0.03) for k, part in enumerate(PARTS)},
    **{
        f"dry friction, {part}": ("dry_friction", list(LEG[k::3]), 0.05)
        for k, part in enumerate(PARTS)
    },
    "armature": ("armature", list(LEG), 2e-3),
    "kp": ("kp", list(LEG), 6.0),
    "kd": ("kd", list(LEG), 0.15),
    "mass, thigh": ("mass", [2, 5, 8, 11], 0.149),
    "mass, shank": ("mass", [3, 6, 9, 12], 0.038),
}
"""Field, entries that are one number, and what is thought of it first."""
NAMES, NUMBERS = tuple(FIELDS), len(FIELDS)
WRT = tuple(dict.fromkeys(field for field, _, _ in FIELDS.values()))
GUESS = np.array([guess for _, _, guess in FIELDS.values()])


@dataclass(frozen=True)
class Log:
    """Controls, what was seen after each step, and the unknowns that it was made with.

    Unknowns y (36 + NUMBERS,): the start beside `rest`, in units of how well that is known, then
    logarithms of numbers over GUESS, of the centre of mass cm.
    """

    sim: stiction.Simulator
    rest: stiction.State
    controls: list[stiction.Control]
    seen: list[tuple[Floats, Floats]]
    truth: Floats


@dataclass(frozen=True)
class Played:
    """A rollout: errors in units of the noise, what was known before first, and their Jacobian."""

    states: list[tuple[Floats, Floats]]
    errors: Floats
    J: Floats
    switches: int
    one_sided: int


def at_numbers(sim: stiction.Simulator, y: Floats) -> Floats:
    """Sets the simulator's; their slopes by y."""
    x = np.where(GUESS > 0, GUESS * np.exp(y), 0.01 * y)
    for (field, index, _), value in zip(FIELDS.values(), x, strict=True):
        values = getattr(sim.parameters, field)
        (values[0] if field == "com" else values)[index] = value
    return np.where(GUESS > 0, x, 0.01)


def play(log: Log, y: Floats, steps: int, derivatives: bool = False) -> Played:
    """The first steps from y."""
    sim, state = log.sim, log.rest.copy()
    slopes, moved = at_numbers(sim, y[36:]), START * y[:36]
    state.q, state.v = stiction.integrate(sim.scene, log.rest.q, moved[:18]), moved[18:]
    S = np.diag(START) @ np.eye(36, len(y))
    S[:3, :3] = pinocchio.exp3(-moved[3:6]) * START[:3]
    S[3:6, 3:6] = pinocchio.Jexp3(moved[3:6]) * START[3:6]
    states, errors, J = [], [y], [np.eye(len(y))]
    modes, switches, one_sided = None, 0, 0
    for k, control in enumerate(log.controls[:steps]):
        if derivatives:
            d = sim.step_derivatives(state, control, wrt=WRT)
            assert d.next_state is not None
            state, S = d.next_state, d.A @ S
            by = [d.by(field)[:, index].sum(axis=1) for field, index, _ in FIELDS.values()]
            S[:, 36:] += slopes * np.column_stack(by)
            now = str(d.report.modes)
            switches, modes = switches + (modes is not None and modes != now), now
            one_sided += not d.report.two_sided
        else:
            sim.step(state, control)
        states.append((state.q.copy(), state.v[6:].copy()))
        if log.seen:
            q, v = log.seen[k]
            moved = stiction.difference(sim.scene, q, state.q)
            errors.append(np.r_[moved, state.v[6:] - v] / NOISE)
            if derivatives:
                rows = S[SEEN]
                turned = pinocchio.exp3(moved[3:6])
                rows[:3], rows[3:6] = turned @ S[:3], pinocchio.Jlog3(turned) @ S[3:6]
                J.append(rows / NOISE[:, None])
    return Played(states, np.concatenate(errors), np.vstack(J), switches, one_sided)


def made(seed: int, size: float = 1.0, speeds: float = 1.0, push: float = 1.0) -> Log:
    """A log of random numbers and random targets [rad, rad/s] and pushes [N], all scaled."""
    rng = np.random.default_rng(seed)
    sim = stiction.Simulator(stiction.load("solo12"), dt=DT, baumgarte=1.0, tolerance=1e-11)
    truth = np.r_[rng.normal(size=36), rng.uniform(-0.25, 0.25, NUMBERS)]
    controls = excitation(sim, rng, size, speeds, push)
    at_numbers(sim, truth[36:])
    rest, hold = sim.initial_state("standing"), sim.hold("standing")
    sim.run(rest, hold, steps=300)
    rest.v = np.zeros(18)
    states = play(Log(sim, rest, controls, [], truth), truth, STEPS).states
    noise = NOISE * rng.standard_normal((STEPS, 30))
    seen = [
        (stiction.integrate(sim.scene, q, n[:18]), v + n[18:])
        for (q, v), n in zip(states, noise, strict=True)
    ]
    return Log(sim, rest, controls, seen, truth)


def excitation(
    sim: stiction.Simulator, rng: np.random.Generator, size: float, speeds: float, push: float
) -> list[stiction.Control]:
    """Targets of each joint on three sines, a force at the base."""
    t = DT * np.arange(STEPS)[:, None]
    rate, phase = 2 * np.pi * rng.uniform(1, 6, (3, 1, 12)), rng.uniform(0, 7, (3, 1, 12))
    wide = size * rng.uniform(0.1, 0.35, (3, 1, 12)) / np.array([1, 2, 3])[:, None, None]
    force = push * np.array([6, 6, 2]) * np.sin(2 * np.pi * rng.uniform(1, 5, 3) * t)
    moves = (wide * np.sin(rate * t + phase)).sum(axis=0)
    faster = speeds * (wide * rate * np.cos(rate * t + phase)).sum(axis=0)
    controls = [sim.hold("standing") for _ in range(STEPS)]
    for k, control in enumerate(controls):
        control.position_target[6:] += moves[k]
        control.velocity_target[6:] = faster[k]
        control.torque[:3] = force[k]
    return controls
