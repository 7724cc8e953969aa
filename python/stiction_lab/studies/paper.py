"""What the GJK++ paper prints (times in µs on an Apple M1 Max; iterations to a gap of 1e-8)."""

from __future__ import annotations

CITATION = (
    "L. Montaut, Q. Le Lidec, V. Petrik, J. Sivic, J. Carpentier: GJK++: Leveraging Acceleration "
    "Methods for Faster Collision Detection. IEEE Transactions on Robotics, 2024."
)

TABLE_1 = {
    (240, 240): ((1.1, 0.9, 0.9), (0.9, 0.7, 0.8)),
    (240, 1811): ((1.9, 1.5, 1.4), (1.5, 1.2, 1.1)),
    (240, 3585): ((3.2, 2.3, 2.4), (2.5, 1.7, 1.9)),
    (1811, 1811): ((2.7, 2.1, 1.9), (2.3, 1.6, 1.5)),
    (1811, 3585): ((4.0, 2.9, 2.9), (3.1, 2.1, 2.2)),
    (3585, 3585): ((4.4, 2.9, 3.0), (3.0, 2.1, 2.1)),
}
"""Vertices of the pair -> (distance, boolean), each (GJK, Polyak, Nesterov) [µs]."""

TABLE_2 = {
    8: (5.3, 0.2, 0.2, 0.2),
    250: (2e3, 0.8, 0.7, 0.6),
    940: (20e3, 2.1, 1.4, 1.4),
}
"""Vertices -> (ProxQP, GJK, Nesterov, Polyak) [µs]."""

QP_SOLVER_SLOWER = {8: 10.0, 250: 1e3, 940: 1e3}
"""Vertices -> least ratio of ProxQP's time over those of GJK and its variants: "for very simple
convex meshes like a cube, GJK, and its accelerated variants are already more than 10 times faster
than the QP solver. When the complexity of the meshes increases, GJK and its variants are thousands
to tens of thousands of times faster" (section IV-C)."""

FEWER_ON_ELLIPSOIDS = 3.0
"""Least ratio of iterations: "when the shapes are overlapping or in close proximity where GJK and
our method take 3 to 10 times fewer iterations compared to FW or NESMINO" (section IV-E)."""

FEWER_ON_CUBES = 100.0
"""Least ratio of iterations: "The NESMINO algorithm takes fewer iterations than FW but more than
100 times more iterations than GJK and our method" (section IV-E)."""

TABLE_3 = {
    "ellipsoids": {
        "overlapping": ("73 ± 62", "50 ± 18", "6 ± 2", "6 ± 3"),
        "close": ("48 ± 42", "74 ± 29", "16 ± 5", "7 ± 2"),
        "distant": ("4 ± 1", "18 ± 2", "4 ± 1", "13 ± 4"),
    },
    "cubes": {
        "overlapping": ("5400 ± 4800", "922 ± 244", "6 ± 1", "5 ± 1"),
        "close": ("14300 ± 9700", "828 ± 225", "5 ± 1", "4 ± 1"),
        "distant": ("13100 ± 13500", "623 ± 219", "4 ± 1", "3 ± 1"),
    },
}
"""Shapes -> category -> iterations of (FW, NESMINO, GJK, Nesterov)."""
