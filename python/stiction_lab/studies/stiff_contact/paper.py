"""What the paper on exponential integration says, and what its authors' code gives when re-run."""

from __future__ import annotations

CITATION = (
    "B. Hammoud, L. Olivieri, L. Righetti, J. Carpentier, A. Del Prete: Exponential Integration "
    "for Efficient and Accurate Multi-Body Simulation with Stiff Viscoelastic Contacts. Multibody "
    "System Dynamics, 2022; numbers as in the accepted manuscript."
)

TABLE_2 = {
    "squat": (40.0, 40.0 / 512, 20.0),
    "jump": (10.0, 10.0 / 64, 5.0),
    "trot": (2.0, 2.0 / 16, 2.0),
    "walk": (5.0, 1.25, 10.0),
}
"""Largest stable step of exponential, explicit Euler and implicit Euler [ms]; the walk is
Romeo's."""

TABLE_3 = {
    "exponential-published, 0 products": 39.0,
    "exponential-published": 94.0,
    "explicit-euler": 9.0,
}
"""Time of a step of the trot [µs]."""

SQUAT_IMPLICIT = 920.0
"""Time of a step of 10 ms of implicit Euler on the squat, appendix A [µs]."""

RERUN = {
    "squat": {
        40.0: (1.15e-2, 1.24),
        20.0: (5.84e-3, 5.63e-3),
        10.0: (2.96e-3, 2.76e-3),
        5.0: (1.50e-3, 1.37e-3),
        2.5: (7.48e-4, 6.87e-4),
        1.25: (3.70e-4, 3.45e-4),
        0.625: (1.81e-4, 1.75e-4),
        0.3125: (8.69e-5, 8.72e-5),
        0.15625: (4.03e-5, 3.50e-5),
    },
    "jump": {
        10.0: (3.44, 4.59),
        5.0: (1.84, 1.94),
        2.5: (8.87e-1, 8.84e-1),
        1.25: (4.18e-1, 4.76e-1),
        0.625: (2.01e-1, 2.42e-1),
        0.3125: (9.45e-2, 1.20e-1),
        0.15625: (4.33e-2, 5.63e-2),
    },
    "trot": {
        2.0: (6.40e-2, 3.13e-2),
        1.0: (3.51e-2, 1.55e-2),
        0.5: (2.23e-2, 6.82e-3),
        0.25: (6.64e-3, 3.65e-3),
        0.125: (2.28e-3, 1.92e-3),
    },
    "walk": {
        40.0: (1.05, 1.09),
        20.0: (1.80e-1, 2.96e-1),
        10.0: (8.37e-2, 1.20e-1),
        5.0: (2.00e-2, 2.07e-2),
        2.5: (1.59e-2, 1.31e-2),
        1.25: (8.38e-3, 7.85e-3),
        0.625: (4.75e-3, 4.27e-3),
    },
}
"""Step [ms] -> local error of the authors' exponential and implicit Euler, from their code run
again with one repair: before each period its reset added the contact forces twice, which explicit
Euler and RK4 take into their first step. Other trajectories than ours: the walk is Romeo's, the
jump ends in a crash at touch-down."""

RERUN_RK4 = {
    "squat": {0.625: 6.00e-1, 0.3125: 1.56e-1, 0.15625: 4.76e-8},
    "jump": {0.625: 3.30e-1, 0.3125: 7.80e-2, 0.15625: 7.67e-4},
    "trot": {0.5: 5.63e-1, 0.25: 8.87e-2, 0.125: 7.84e-4},
    "walk": {2.5: 1.45e-1, 1.25: 4.74e-3, 0.625: 3.18e-3},
}
"""Of their RK4 at the smallest steps, from the same runs."""
