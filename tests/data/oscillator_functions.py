"""Writes oscillator_functions.csv: s', s, S_1 ... S_4 of s'' + c s' + k s = 0, 60 digits.

Columns: c, k, t, then s', s, S_1 ... S_4, then the envelope of each for a decaying oscillation
(zero otherwise), all in hexadecimal floating point. Run once, in an environment with mpmath;
the test reads the table.
"""

import random
from pathlib import Path

import mpmath as mp

mp.mp.dps = 60
random.seed(20)


def exact(c, k, t):
    """By the Taylor series, with digits for its cancellation; far tails by the closed form."""
    c, k, t = mp.mpf(c), mp.mpf(k), mp.mpf(t)
    root = mp.sqrt(mp.mpc(c * c / 4 - k))
    z1, z2 = (-c / 2 + root) * t, (-c / 2 - root) * t
    if max(abs(z1), abs(z2)) < 60:
        with mp.workdps(160):
            a = [mp.mpf(0), mp.mpf(1)]
            for n in range(700):
                a.append(-(c * (n + 1) * a[n + 1] + k * a[n]) / ((n + 1) * (n + 2)))
            values = [sum(n * a[n] * t ** (n - 1) for n in range(1, len(a)))]
            for j in range(5):
                values.append(
                    sum(
                        a[n] * t ** (n + j) * mp.factorial(n) / mp.factorial(n + j)
                        for n in range(len(a))
                    )
                )
        return values

    def phi(j, z):
        f = mp.e**z
        for i in range(1, j + 1):
            f = (f - 1 / mp.factorial(i - 1)) / z if z != 0 else 1 / mp.factorial(i)
        return f

    with mp.workdps(400):
        root = mp.sqrt(mp.mpc(c * c / 4 - k))
        z1, z2 = (-c / 2 + root) * t, (-c / 2 - root) * t
        if z1 == z2:
            z1 += mp.mpf(10) ** -150
        values = [mp.re((z1 * mp.e**z1 - z2 * mp.e**z2) / (z1 - z2))]
        for j in range(5):
            values.append(mp.re(t ** (j + 1) * (phi(j, z1) - phi(j, z2)) / (z1 - z2)))
    return values


def envelope(c, k, t):
    if c * c / 4 >= k or k == 0:
        return [0.0] * 6
    decay = mp.e ** (-mp.mpf(c) * t / 2)
    w = mp.sqrt(mp.mpf(k) - mp.mpf(c) ** 2 / 4)
    ratio = max(1, c / (2 * w))
    return [decay * ratio, decay / w, decay / k * ratio, 0, 0, 0]


def cases():
    for c in (0.0, 1e-9, 0.3, 1.0):
        for k in (0.0, 1e-12, 1e-3, 0.5):
            for t in (1e-3, 1.0, 2.9):
                yield c, k, t
    for size in (0.1, 2.99, 3.01, 5.99, 6.01, 8.0, 30.0, 1e3, 1e4):  # near critical
        for off in (0.0, 1e-12, -1e-12, 1e-4, -1e-4, 1e-2, -1e-2, 0.3, -0.3):
            yield 2.0 * size, size * size * (1.0 + off), 1.0
    for ratio in (5.0, 19.0, 21.0, 100.0):  # where the overdamped form changes
        for c in (90.0, 500.0, 5e3):
            yield c, ratio * c, 1.0
    for _ in range(400):
        t = 10 ** random.uniform(-3, 0)
        w = 10 ** random.uniform(-2, 3.5) / t
        zeta = random.choice([0.0, 10 ** random.uniform(-3, 2), random.uniform(0.9, 1.1)])
        yield 2.0 * zeta * w, w * w, t
    for _ in range(60):
        yield 10 ** random.uniform(-1, 6), 0.0, 10 ** random.uniform(-3, 0)


rows = []
for c, k, t in cases():
    numbers = [c, k, t, *exact(c, k, t), *envelope(c, k, t)]
    rows.append(",".join(float(x).hex() for x in numbers))
Path(__file__).with_suffix(".csv").write_text("\n".join(rows) + "\n")
print(len(rows), "cases")
