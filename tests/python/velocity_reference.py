"""What the kernels of Solo12Velocity do, in NumPy: its formulas as they were when the stored policy
was learned."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from stiction.envs import Solo12Velocity
from stiction.envs.legs import up_in_body

Floats = NDArray[np.float64]
_MULTIPLIERS = np.array([0xD2511F53, 0xCD9E8D57], np.uint64)
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_ROUNDS = 10


def philox(counter: NDArray[np.uint64], key: tuple[int, int]) -> NDArray[np.uint64]:
    """Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011).

    Args:
        counter: (4, ...) of 32 bits each.
        key: two numbers of 32 bits.

    Returns:
        (4, ...) of 32 bits each.
    """
    a, b, c, d = counter
    for k in range(_ROUNDS):
        keys = [np.uint64((key[i] + k * _WEYL[i]) & 0xFFFFFFFF) for i in (0, 1)]
        first, second = a * _MULTIPLIERS[0], c * _MULTIPLIERS[1]
        a, b, c, d = (
            (second >> np.uint64(32)) ^ b ^ keys[0],
            second & _LOW,
            (first >> np.uint64(32)) ^ d ^ keys[1],
            first & _LOW,
        )
    return np.stack([a, b, c, d])


STANCE_PHASE = np.array([0.0, 0.5, 0.5, 0.0])
COMMAND_LOW, COMMAND_SPAN = np.array([-0.3, -0.2, -0.6]), np.array([0.9, 0.4, 1.2])


def uniform(
    seed: int, worlds: NDArray[np.int64], episodes: NDArray[np.int64], count: int, stream: int = 0
) -> Floats:
    """counted_random.uniform()."""
    blocks = (count + 1) // 2  # of two doubles with 53 bits
    counter = np.empty((4, len(worlds), blocks), np.uint64)
    counter[0] = np.arange(blocks)
    counter[1] = np.asarray(worlds)[:, None]
    counter[2] = np.asarray(episodes)[:, None]
    counter[3] = stream
    words = philox(counter, (seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF))
    high, low = words[0::2] >> np.uint64(5), words[1::2] >> np.uint64(6)
    doubles = (high.astype(np.float64) * 2.0**26 + low.astype(np.float64)) * 2.0**-53
    return np.moveaxis(doubles, 0, -1).reshape(len(worlds), 2 * blocks)[:, :count]


def observation(env: Solo12Velocity) -> Floats:
    """(N, 50) in float64."""
    q, v = env.batch.q, env.batch.v
    angle = 2.0 * np.pi * env.clock()
    columns = [
        v[:, :6],
        up_in_body(q),
        env.command,
        q[:, 7:] - env._standing[7:],
        0.1 * v[:, 6:],
        env.action,
        np.sin(angle)[:, None],
        np.cos(angle)[:, None],
    ]
    return np.concatenate(columns, axis=1)


def reward(env: Solo12Velocity, before: Floats) -> Floats:
    """(N,), `before` the actions before."""
    v, up = env.batch.v, up_in_body(env.batch.q)
    e2 = ((v[:, :2] - env.command[:, :2]) ** 2).sum(axis=1)
    t2 = (v[:, 5] - env.command[:, 2]) ** 2
    stands = (env.clock()[:, None] + STANCE_PHASE) % 1.0 < 0.5
    gait = (stands == env.touching()).sum(axis=1)
    change = ((env.action - before) ** 2).sum(axis=1)
    return np.asarray(
        np.exp(-20.0 * e2)
        + 0.5 * np.exp(-5.0 * t2)
        + 0.15 * gait
        - 2.0 * v[:, 2] ** 2
        - 0.05 * (v[:, 3:5] ** 2).sum(axis=1)
        - (1.0 - up[:, 2])
        - 0.01 * change
    )


def ended(env: Solo12Velocity) -> NDArray[np.bool_]:
    """(N,) fallen."""
    q = env.batch.q
    return np.asarray((q[:, 2] < 0.12) | (up_in_body(q)[:, 2] < 0.5))


def start(env: Solo12Velocity, worlds: NDArray[np.int64]) -> tuple[Floats, Floats, Floats]:
    """Command, phase and q of the present episodes of some worlds."""
    x = uniform(env.seed, worlds, env.episode[worlds], 17)
    q = np.tile(env._standing, (len(worlds), 1))
    half = np.pi * x[:, 4]
    q[:, 5], q[:, 6] = np.sin(half), np.cos(half)
    q[:, 7:] += 0.2 * x[:, 5:] - 0.1
    q[:, 2] -= env._feet.heights(q, up_in_body(q)).min(axis=1)
    return COMMAND_LOW + COMMAND_SPAN * x[:, :3], x[:, 3], q


def targets(env: Solo12Velocity, actions: NDArray[np.float32]) -> tuple[Floats, Floats]:
    """Actions as they are cut, and the targets of the joints."""
    cut = np.clip(actions.astype(np.float64), -1.0, 1.0)
    return cut, cut * 0.3 + env._standing[7:]


def varied(env: Solo12Velocity, worlds: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Friction (worlds,) and mass scales (worlds, bodies) of randomised episodes."""
    bodies = env.batch.values("mass_scale").shape[1]
    x = uniform(env.seed, worlds, env.episode[worlds], 1 + bodies, stream=1)
    return 0.4 + 0.6 * x[:, 0], 0.9 + 0.2 * x[:, 1:]
