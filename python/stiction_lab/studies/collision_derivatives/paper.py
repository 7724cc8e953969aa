"""What the paper on randomized smoothing prints."""

from __future__ import annotations

CITATION = (
    "L. Montaut, Q. Le Lidec, A. Bambade, V. Petrik, J. Sivic, J. Carpentier: Differentiable "
    "Collision Detection: a Randomized Smoothing Approach. IEEE International Conference on "
    "Robotics and Automation (ICRA), 2023."
)

QUANTILES = {"D1": 0.1, "Q1": 0.25, "median": 0.5, "Q3": 0.75, "D9": 0.9}

TABLE_1 = {
    "finite differences, 1e-6": (2e-33, 4e-32, 3e-3, 4e-2, 8e-2),
    "finite differences, 1e-3": (8e-33, 7e-23, 4e-14, 1e-2, 5e-2),
    "gaussian-0, M = 50": (4e-23, 5e-20, 2e-13, 2e-3, 5e-3),
    "gaussian-1, M = 20": (4e-16, 1e-10, 4e-8, 3e-7, 2e-6),
    "gumbel, level 1": (6e-16, 3e-10, 1e-8, 7e-8, 2e-5),
}
"""Method -> quantiles of the final cost."""

TABLE_2 = {
    "finite differences": (78.0, 11.0),
    "gaussian-0, M = 10": (65.0, 9.0),
    "gaussian-0, M = 20": (122.0, 17.0),
    "gaussian-0, M = 50": (338.0, 47.0),
    "gaussian-0, M = 100": (613.0, 86.0),
    "gaussian-1, M = 10": (4.8, 3.1),
    "gaussian-1, M = 20": (8.9, 5.8),
    "gaussian-1, M = 50": (22.0, 15.0),
    "gaussian-1, M = 100": (42.0, 27.0),
    "gumbel, level 1": (1.7, 1.6),
    "gumbel, level 3": (4.1, 3.9),
    "gumbel, level 5": (9.6, 9.7),
}
"""Method -> mean time (overlapping, apart) [µs], on hulls of YCB objects."""
