"""What tosses of a cube tell of it: friction, restitution, centre of mass, inertia per mass.

A cube bounces, slides and tumbles over a board; its poses are seen with noise. The method of
Levenberg and Marquardt needs d(pose)/d(parameter) at every step: the chain S <- A S + P of the
exact derivatives of each step, whatever the number of parameters. Mass itself stays unknown: a free
cube that is twice as heavy, with twice the inertia, moves the same. The last lines show that.
"""

import numpy as np
import pinocchio
import stiction

FIELDS = ("friction", "restitution", "com", "inertia", "mass")
DT, STEPS, TOSSES, KEPT = 2e-3, 60, 12, 8
SHIFT, TURN = 2e-4, 2e-3  # standard deviations of what is seen [m, rad]


def build():
    scene = stiction.Scene(name="toss")
    scene.add_ground(stiction.Material(friction=0.5))
    cube = stiction.Box([0.05, 0.05, 0.05])
    at = pinocchio.SE3(np.eye(3), np.array([0, 0, 0.08]))  # no turn puts a corner into it
    surface = stiction.Material(friction=0.5, restitution=0.2)
    scene.add_body("cube", cube, mass=0.4, X_W=at, material=surface)
    return stiction.Simulator(scene, dt=DT, tolerance=1e-11)


def start(sim, rng):
    state = sim.initial_state()
    turn = np.r_[np.zeros(3), rng.uniform(-0.3, 0.3, 3)]
    state.q[:] = stiction.integrate(sim.scene, state.q, turn)
    state.v[:] = np.r_[rng.uniform(-1, 1, 2), -0.2, rng.uniform(-4, 4, 3)]
    return state


def numbers(sim):
    """The cube's as one vector: friction, restitution, com (3), inertia (6), mass."""
    p = sim.parameters
    inertia = p.inertia(0)[[0, 0, 1, 0, 1, 2], [0, 1, 1, 2, 2, 2]]
    return np.r_[p.friction[1], p.restitution[1], p.com[0], inertia, p.mass]


def set_numbers(sim, x):
    p = sim.parameters
    p.friction[1], p.restitution[1], p.com[0], p.mass[0] = x[0], x[1], x[2:5], x[11]
    xx, xy, yy, xz, yz, zz = x[5:11]
    p.set_inertia(0, [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def play(sim, state, seen=None):
    """Poses of a toss; with those seen also the errors and their Jacobian by numbers()."""
    state, control = state.copy(), sim.hold()
    control.torque[:] = 0.0
    poses, errors, rows, S = [], [], [], None
    weights = np.r_[np.full(3, 1 / SHIFT), np.full(3, 1 / TURN)]
    for k in range(STEPS if seen is None else len(seen)):
        if seen is None:
            sim.step(state, control)
        else:
            d = sim.step_derivatives(state, control, wrt=FIELDS)
            surface = [d.by("friction")[:, 1:2], d.by("restitution")[:, 1:2]]
            P = np.hstack([*surface, d.by("com"), d.by("inertia"), d.by("mass")])
            S = P if S is None else d.A @ S + P
            state = d.next_state
            errors.append(weights * stiction.difference(sim.scene, seen[k], state.q))
            rows.append(weights[:, None] * S[:6])
        poses.append(state.q.copy())
    return poses, np.concatenate(errors) if errors else None, np.vstack(rows) if rows else None


def identify(sim, tosses, seen, iterations=15):
    """Levenberg and Marquardt; the mass is held. Returns errors, J of all tosses, units."""
    free = np.arange(11)
    scale = np.maximum(np.abs(numbers(sim)), [1e-2] * 5 + [1e-4] * 6 + [1e-2])

    def evaluate():
        parts = [play(sim, toss, poses) for toss, poses in zip(tosses, seen, strict=True)]
        return np.concatenate([e for _, e, _ in parts]), np.vstack([J for _, _, J in parts])

    damping, (error, J) = 1e-2, evaluate()
    for _ in range(iterations):
        x, H = numbers(sim), (J * scale)[:, free]
        step = -np.linalg.lstsq(
            np.vstack([H, np.sqrt(damping) * np.linalg.norm(H, axis=0) * np.eye(len(free))]),
            np.r_[error, np.zeros(len(free))],
            rcond=None,
        )[0]
        trial = x.copy()
        trial[free] += scale[free] * step
        try:
            set_numbers(sim, trial)
            new_error, new_J = evaluate()
        except (ValueError, stiction.SimulationError):
            new_error = np.full_like(error, np.inf)
        if new_error @ new_error < error @ error:
            gain = 1 - (new_error @ new_error) / (error @ error)
            error, J, damping = new_error, new_J, damping / 5
            if gain < 1e-6:
                break
        else:
            set_numbers(sim, x)
            damping *= 5
    return error, J, scale


def main():
    rng = np.random.default_rng(1)
    sim = build()
    guess = numbers(sim)
    truth = guess * (1 + 0.2 * np.r_[-1, 1, np.zeros(3), 1, 0, 0.5, 0, 0, -0.5, 0])
    truth[2:5] = [2e-3, -3e-3, 1e-3]
    set_numbers(sim, truth)
    tosses = [start(sim, rng) for _ in range(TOSSES)]
    noise = np.r_[np.full(3, SHIFT), np.full(3, TURN)]
    seen = [
        [
            stiction.integrate(sim.scene, q, noise * rng.standard_normal(6))
            for q in play(sim, toss)[0]
        ]
        for toss in tosses
    ]
    set_numbers(sim, guess)
    for steps in (30, 45, STEPS, STEPS):  # impacts far away in time depend on too much at first
        error, J, scale = identify(sim, tosses, [poses[:steps] for poses in seen])
        if steps == STEPS:  # the errors jump where an impact takes another step: without the worst
            worse = np.square(error).reshape(len(tosses), -1).sum(axis=1)
            best = np.argsort(worse)[:KEPT]
            tosses, seen = [tosses[k] for k in best], [seen[k] for k in best]
    found = numbers(sim)
    spread = np.sqrt(np.diag(np.linalg.inv(J[:, :11].T @ J[:, :11])))
    names = ["friction", "restitution", *(f"com {a}" for a in "xyz")]
    names += [f"I{ab}" for ab in ("xx", "xy", "yy", "xz", "yz", "zz")]
    print(f"error {np.sqrt(np.mean(error**2)):.3f} (1: the noise)")
    for name, a, b, c, s in zip(names, guess, truth, found, spread, strict=False):
        print(f"{name:11s} guess {a: .3e}  true {b: .3e}  found {c: .3e} +- {s:.0e}")
    _, singular, V = np.linalg.svd(J * scale)
    null = V[-1] * scale / found  # relative changes
    print(f"singular values {singular[0]:.0e} ... {singular[-2]:.0f}, unseen {singular[-1]:.1f}:")
    print("Ixx, Iyy, Izz and mass change by", np.round(null[[5, 7, 10, 11]] / null[11], 3))
    return truth, found, spread, singular, null


if __name__ == "__main__":
    main()
