"""Sixteen numbers of Solo-12 from 0.6 s of a noisy log, beside differences: a 23rd of the rollouts.

Targets move, known forces push the base, feet slide and lift. Unknown are the numbers and the start
of the log (36). One rollout with the exact derivatives of its steps gives the whole Jacobian.
"""

import numpy as np
import stiction

DT, STEPS = 2e-3, 300
NOISE = np.r_[[1e-3] * 3, [2e-3] * 3, [1e-3] * 12, [1e-2] * 12]  # m, rad, rad, rad/s
SEEN = np.r_[0:18, 24:36]  # of (q, v): pose of the base, joints, speeds of the joints
START = np.r_[NOISE[:18] / 10, [1e-3] * 18]  # known so well: mean of 100 samples at rest
LEG, PARTS = np.arange(6, 18), ("hip", "thigh", "shank")
NUMBERS = {"friction": ("friction", range(5), 0.7), "mass of the base": ("mass", [0], 1.16)}
NUMBERS |= {f"com {axis}": ("com", [k], 0.0) for k, axis in enumerate("xyz")}
NUMBERS |= {f"damping, {j}": ("damping", LEG[k::3], 0.03) for k, j in enumerate(PARTS)}
NUMBERS |= {f"dry friction, {j}": ("dry_friction", LEG[k::3], 0.05) for k, j in enumerate(PARTS)}
NUMBERS |= {"armature": ("armature", LEG, 2e-3), "kp": ("kp", LEG, 6.0), "kd": ("kd", LEG, 0.15)}
NUMBERS |= {
    f"mass, {PARTS[k]}": ("mass", range(k + 1, 13, 3), (0.149, 0.038)[k - 1]) for k in (1, 2)
}
FIELDS = tuple(dict.fromkeys(field for field, _, _ in NUMBERS.values()))
GUESS = np.array([guess for _, _, guess in NUMBERS.values()])


def numbers(y):
    """From unknowns of about 1: logarithms of ratios, a centre of mass in cm. And the slopes."""
    x = np.where(GUESS > 0, GUESS * np.exp(y), 0.01 * y)
    return x, np.where(GUESS > 0, x, 0.01)


def play(sim, rest, y, controls, seen=(), derivatives=False):
    """What is seen; errors in units of the noise, what was known before first; their Jacobian."""
    state, S, (x, slopes) = rest.copy(), np.diag(START) @ np.eye(36, 52), numbers(y[36:])
    state.q, state.v = (
        stiction.integrate(sim.scene, rest.q, (START * y[:36])[:18]),
        START[18:] * y[18:36],
    )
    for (field, index, _), value in zip(NUMBERS.values(), x, strict=True):
        values = getattr(sim.parameters, field)
        (values[0] if field == "com" else values)[index] = value
    poses, errors, J = [], [y], [np.eye(52)]
    for k, control in enumerate(controls):
        if derivatives:
            d = sim.step_derivatives(state, control, wrt=FIELDS)
            state, S = d.next_state, d.A @ S
            S[:, 36:] += slopes * np.stack(
                [d.by(f)[:, i].sum(axis=1) for f, i, _ in NUMBERS.values()], 1
            )
            J.append(S[SEEN] / NOISE[:, None])
        else:
            sim.step(state, control)
        poses.append((state.q.copy(), state.v[6:].copy()))
        if len(seen):
            error = stiction.difference(sim.scene, seen[k][0], state.q), state.v[6:] - seen[k][1]
            errors.append(np.concatenate(error) / NOISE)
    return poses, np.concatenate(errors), np.vstack(J)


def identify(sim, rest, controls, seen, exact):
    """Levenberg's and Marquardt's method over growing horizons: y, its covariance, rollouts."""
    y, damping, rollouts = np.zeros(52), 1e-3, 0

    def jacobian(e, steps):
        given = controls[:steps], seen
        if exact:
            return play(sim, rest, y, *given, derivatives=True)[2], 1
        ends = [play(sim, rest, y + h, *given)[1] for h in 1e-6 * np.eye(52)]
        return (np.array(ends) - e).T / 1e-6, 52

    for steps in (25, 50, 100, STEPS):
        e, gain = play(sim, rest, y, controls[:steps], seen)[1], 1.0
        J, count = jacobian(e, steps)
        rollouts += 1 + count
        while gain > 1e-6 and damping < 1e6:
            H = J.T @ J
            step = np.linalg.solve(H + damping * np.diag(np.diag(H)), -J.T @ e)
            trial = play(sim, rest, y + step, controls[:steps], seen)[1]
            rollouts, gain = rollouts + 1, 1 - trial @ trial / (e @ e)
            damping *= 0.2 if gain > 0 else 5
            if gain > 0:
                y, e = y + step, trial
                J, count = jacobian(e, steps)
                rollouts += count
            elif abs(gain) > 1e-6:
                gain = 1.0
    return y, np.linalg.inv(J.T @ J), rollouts


def excitation(sim, rng):
    """Targets of each joint on three sines, a force at the base."""
    t = DT * np.arange(STEPS)[:, None]
    rate, phase = 2 * np.pi * rng.uniform(1, 6, (3, 1, 12)), rng.uniform(0, 7, (3, 1, 12))
    size = rng.uniform(0.1, 0.35, (3, 1, 12)) / np.array([1, 2, 3])[:, None, None]
    push = [6, 6, 2] * np.sin(2 * np.pi * rng.uniform(1, 5, 3) * t)
    controls = [sim.hold("standing") for _ in t]
    for k, control in enumerate(controls):
        control.position_target[6:] += (size * np.sin(rate * t + phase)).sum(axis=0)[k]
        control.velocity_target[6:] = (size * rate * np.cos(rate * t + phase)).sum(axis=0)[k]
        control.torque[:3] = push[k]
    return controls


def main(seed=0):
    rng = np.random.default_rng(seed)
    sim = stiction.Simulator(stiction.load("solo12"), dt=DT, baumgarte=1.0, tolerance=1e-11)
    truth, controls = np.r_[rng.normal(size=36), rng.uniform(-0.25, 0.25, 16)], excitation(sim, rng)
    rest, hold = sim.initial_state("standing"), sim.hold("standing")
    play(sim, rest, np.r_[np.zeros(36), truth[36:]], [])  # sets the numbers
    sim.run(rest, hold, steps=300)
    rest.v = np.zeros(18)
    poses = play(sim, rest, truth, controls)[0]
    noise = NOISE * rng.standard_normal((STEPS, 30))
    seen = [
        (stiction.integrate(sim.scene, q, n[:18]), v + n[18:])
        for (q, v), n in zip(poses, noise, strict=True)
    ]
    found = [identify(sim, rest, controls, seen, exact) for exact in (True, False)]
    (y, covariance, rollouts), (other, _, by_differences) = found
    spread = np.sqrt(np.diag(covariance))
    print(
        f"{rollouts} rollouts, with differences {by_differences}; the answers differ by "
        f"{np.max(abs(y - other) / spread):.0e} standard deviations"
    )
    values = zip(NUMBERS, GUESS, numbers(truth[36:])[0], *numbers(y[36:]), spread[36:], strict=True)
    for name, guess, true, value, slope, deviation in values:
        print(
            f"{name:20s} guess {guess:7.4f}  true {true:7.4f}  found {value:7.4f} +- "
            f"{slope * deviation:.0e}"
        )
    return (y - truth) / spread, np.max(abs(y - other) / spread), rollouts, by_differences


if __name__ == "__main__":
    main()
