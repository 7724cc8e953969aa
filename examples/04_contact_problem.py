"""The solver alone: arrays in, impulses and their certificate out. No robot, no scene.

A cube of 1 kg touches the ground with its four lower corners and moves sideways at 1 m/s. Which
impulses at the corners end the step of 1 ms? Per corner the rows are (t1, t2, n), normal last; c =
G lambda + g is the velocity after.
"""

import numpy as np
import stiction

MASS, SIDE, MU, DT = 1.0, 0.2, 0.4, 1e-3
corners = SIDE / 2 * np.array([[1, 1, -1], [1, -1, -1], [-1, 1, -1], [-1, -1, -1]])


def skew(p):
    """Matrix of the cross product p x."""
    return np.array([[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])


J = np.vstack(
    [np.hstack([np.eye(3), -skew(p)]) for p in corners]
)  # (12, 6): velocity of each corner
inverse_mass = np.diag([1 / MASS] * 3 + [6 / (MASS * SIDE**2)] * 3)  # of a cube, about its centre
v_free = np.array([1.0, 0, -9.81 * DT, 0, 0, 0])  # after gravity alone
G, g = (
    J @ inverse_mass @ J.T,
    J @ v_free,
)  # rank 6 of 12: four corners of a rigid cube are hyperstatic

problem = stiction.ContactProblem(G, g, np.full(4, MU))
for name in stiction.solvers():
    solution = stiction.solve(problem, solver=name, tolerance=1e-8, max_iterations=1000)
    r = solution.residuals
    print(f"{name}: {solution.status} after {solution.iterations} iterations")
    print(
        f"  outside the cone {r.primal:.1e} N s, wrong velocity {r.dual:.1e} m/s, "
        f"work {r.complementarity:.1e} J"
    )

impulse = solution.impulse.reshape(4, 3)
v_after = v_free + inverse_mass @ J.T @ solution.impulse
print("normal impulse, sum [N s]:", impulse[:, 2].sum(), "weight x dt:", MASS * 9.81 * DT)
print("friction, sum [N s]:", impulse[:, 0].sum(), "-mu x normal:", -MU * impulse[:, 2].sum())
print("velocity after [m/s]:", v_after[:3].round(6))

# Any constraints, stacked in order: a contact, a joint limit, dry friction, a rigid connection.
sets = [
    stiction.ContactCone(0.5),
    stiction.NonNegative(),
    stiction.BoxSet(-0.1, 0.1),
    stiction.Free(2),
]
mixed = stiction.ContactProblem(np.diag(np.linspace(1, 2, 7)), np.linspace(-1, 1, 7), sets=sets)
print("mixed:", stiction.solve(mixed, solver="ncp-newton").impulse.round(6))
