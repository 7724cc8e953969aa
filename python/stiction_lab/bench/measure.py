"""The statistic, the same for every engine.

Time: a trajectory is restarted `reps` times and taken in chunks of steps, one call per chunk. Per
chunk the minimum over the repetitions (what the machine did besides is dropped), then the median
over the chunks. All engines take turns within a repetition, so that a slow spell of the machine
hits all of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from stiction.certificate import CertificateSummary, carries, certify, summarize

from .worlds import BenchError, Kick, Observed, World

Tick = Callable[[str], None]
"""Called with one line before each piece of work, for progress displays."""


@dataclass(frozen=True)
class Observation:
    """What one engine did over a trajectory, step by step, outside any timing.

    contacts, loaded: mean numbers of all contacts and of those with an impulse, by quarter.
    pairs, loaded_pairs: of the pairs of geometries that have such contacts.
    """

    certificate: CertificateSummary
    iterations_mean: float
    iterations_max: int
    contacts: tuple[float, ...]
    loaded: tuple[float, ...]
    residual_median: float
    residual_max: float
    pairs: tuple[float, ...] = ()
    loaded_pairs: tuple[float, ...] = ()


def time_chunks(
    worlds: Sequence[World],
    chunks: int,
    chunk: int,
    reps: int,
    tick: Tick | None = None,
    kicks: Sequence[Kick] = (),
) -> dict[str, NDArray[np.float64]]:
    """Time per step [us] of each chunk, the fastest repetition, by label of the world.

    kicks: at equal intervals of whole chunks, the first before the first chunk; not timed.
    """
    every = chunks // len(kicks) if kicks else 0
    elapsed = np.zeros((len(worlds), reps, chunks))
    clock = time.perf_counter
    for rep in range(reps):
        if tick:
            tick(f"timing, repetition {rep + 1} of {reps}")
        for w, world in enumerate(worlds):
            world.restart()
            advance, row = world.advance, elapsed[w, rep]
            for c in range(chunks):
                if every and c % every == 0:
                    world.kick(kicks[c // every])
                begin = clock()
                advance(chunk)
                row[c] = clock() - begin
    per_step = elapsed.min(axis=1) * 1e6 / chunk
    return {world.label: us for world, us in zip(worlds, per_step, strict=True)}


def medians(times: Mapping[str, NDArray[np.float64]]) -> dict[str, float]:
    """Of the chunks of each world."""
    return {label: float(np.median(us)) for label, us in times.items()}


def affordable_reps(
    worlds: Sequence[World], chunks: int, chunk: int, reps: int, budget: float
) -> int:
    """At most `reps` repetitions, at least one, such that all worlds fit `budget` seconds."""
    begin = time.perf_counter()
    for world in worlds:
        world.restart()
        world.advance(chunk)
    per_rep = (time.perf_counter() - begin) * chunks
    return max(1, min(reps, int(budget / per_rep)))


def statistic(elapsed: NDArray[np.float64]) -> NDArray[np.float64]:
    """Median over the chunks (last axis) of the minimum over the repetitions (the axis before)."""
    return np.asarray(np.median(elapsed.min(axis=-2), axis=-1))


def time_noise(
    worlds: Sequence[World], noise: NDArray[np.float64], reps: int, tick: Tick | None = None
) -> dict[str, float]:
    """Time per step [us] with noise (T, servos) [rad] on the targets: best mean, by label."""
    best = np.full(len(worlds), np.inf)
    for world in worlds:
        world.prepare_rollout(noise)
        world.rollout()
    for rep in range(reps):
        if tick:
            tick(f"timing with noise, repetition {rep + 1} of {reps}")
        for w, world in enumerate(worlds):
            world.prepare_rollout(noise)
            begin = time.perf_counter()
            world.rollout()
            best[w] = min(best[w], time.perf_counter() - begin)
    per_step = best * 1e6 / len(noise)
    return {world.label: float(us) for world, us in zip(worlds, per_step, strict=True)}


def observe(world: World, noise: NDArray[np.float64], kicks: Sequence[Kick] = ()) -> Observation:
    """Certificate and iterations from the start, one step per row of noise (T, servos) [rad].

    kicks: at equal intervals, the first before the first step.
    """
    world.restart()
    every = len(noise) // len(kicks) if kicks else 0
    seen = []
    for k, row in enumerate(noise):
        if every and k % every == 0:
            world.kick(kicks[k // every])
        seen.append(world.observe(row))
    iterations = [step.iterations for step in seen]
    residuals = [step.residual for step in seen]
    judged = [certify(step.sample, world.dt) for step in seen]
    return Observation(
        certificate=summarize(judged),
        iterations_mean=float(np.mean(iterations)),
        iterations_max=int(np.max(iterations)),
        contacts=_quarters([step.contacts if step else 0 for step in judged]),
        loaded=_quarters([step.loaded if step else 0 for step in judged]),
        residual_median=float(np.median(residuals)),
        residual_max=float(np.max(residuals)),
        pairs=_quarters([_pairs(step, loaded=False) for step in seen]),
        loaded_pairs=_quarters([_pairs(step, loaded=True) for step in seen]),
    )


def _pairs(step: Observed, loaded: bool) -> int:
    """Pairs of geometries among the contacts of a step, or among those that carry an impulse."""
    if step.pairs is None or len(step.pairs) == 0:
        return 0
    kept = step.pairs[carries(np.asarray(step.sample.impulse))] if loaded else step.pairs
    return len(np.unique(kept, axis=0))


def _quarters(numbers: Sequence[int]) -> tuple[float, ...]:
    """Means of the four quarters of a sequence."""
    return tuple(float(np.mean(part)) for part in np.array_split(np.asarray(numbers), 4))


def sideways_kicks(bodies: int, count: int, size: float) -> list[Kick]:
    """`count` horizontal impulses of that size [N s], on one body after the other."""
    directions = ((1.0, 0.0), (0.0, -1.0), (-1.0, 0.0), (0.0, 1.0))
    chosen = (directions[k % 4] for k in range(count))
    return [Kick(k % bodies, (size * x, size * y, 0.0)) for k, (x, y) in enumerate(chosen)]


def white_noise(steps: int, servos: int, sigma: float, seed: int = 0) -> NDArray[np.float64]:
    """Independent Gaussian numbers (steps, servos) of standard deviation sigma [rad]."""
    if sigma <= 0 or servos < 1:
        raise BenchError(f"white_noise: sigma = {sigma} and servos = {servos} must be positive")
    return sigma * np.random.default_rng(seed).standard_normal((steps, servos))
