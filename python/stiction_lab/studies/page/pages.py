"""Which page shows which study, its figures and its tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .views import Views, blocks, columns, joined, several, turned, whole, worst


@dataclass(frozen=True)
class Page:
    """Of one study.

    Attributes:
        path: of the page, from the repository's root.
        prefix: of the names of its images.
        figures: experiment -> numbers of the figures shown.
        views: experiment -> tables shown; others: the first, if it is small enough.
        source: whose statements are checked.
    """

    path: Path
    prefix: str
    figures: Mapping[str, int | tuple[int, ...]]
    views: Mapping[str, Views] = field(default_factory=dict)
    source: str = "the paper"

    def images(self, experiment: str) -> dict[int, str]:
        """Number of each figure shown -> name of its image."""
        shown = self.figures.get(experiment, ())
        numbers = (shown,) if isinstance(shown, int) else shown
        return {
            k: f"{self.prefix}_{experiment}{f'_{k}' if i else ''}.svg"
            for i, k in enumerate(numbers)
        }


_MOTION = columns(
    "Local error",
    (0, 1, 2, 3, 4, 5),
)
"""Local errors without symplectic Euler, which is explicit Euler's twin."""
_FED = ("trot", "jump")
"""The authors' motions whose feedback they published."""

PAGES = {
    "contact-models": Page(
        Path("docs/contact_models.md"),
        "contact_models",
        {
            "table2_properties": 1,
            "fig9_drift": 2,
            "fig10_bounce": 2,
            "fig11_drag": (1, 2),
            "fig12_mass_ratio": 2,
            "fig13_compliance": 1,
            "table3_time_steps": 1,
            "table4_tolerances": 1,
            "fig16_time_to_accuracy": 1,
            "profiles": 1,
            "trot": 1,
        },
        {
            "table2_properties": whole("Ticks", "Convergence"),
            "fig9_drift": columns("Drift", (0, 1, 5, 10, 13, 19, 20, 21)),
            "fig10_bounce": whole("6 m/s at 90°"),
            "fig11_drag": columns("Onset", (0, 1, 2, 3, 4, 5, 7, 8)),
            "fig12_mass_ratio": columns("Median relative residual", (0, 2, 4, 5, 6, 7, 8)),
            "table4_tolerances": columns("Integral", (0, 1, 3, 4, 6, 7, 9)),
            "fig16_time_to_accuracy": joined(
                "Median time of a solve to 1e-06, and the share solved where it is not all",
                ("Solo-12", "Talos", "Allegro"),
                (1, 3),
                share=1,
            ),
            "profiles": whole("All"),
            "trot": joined("Flat and bumpy ground", ("flat", "bumpy"), (1, 4, 6)),
        },
    ),
    "stiff-contact": Page(
        Path("docs/stiff_contact_study.md"),
        "stiff_contact",
        {
            "squat": 1,
            "trot": 1,
            "jump": 1,
            "walk": 1,
            "fig4": 1,
            "fig5": 1,
            "fig6": 1,
            "drops": 1,
            "fingertips": 1,
            "mujoco": 2,
        },
        {
            "squat": _MOTION,
            "trot": _MOTION,
            "jump": _MOTION,
            "walk": _MOTION,
            "reference": several(
                columns("Squat under", (0, 1, 2, 3, 4)),
                whole(*(f'Local error by step, authors\' {m}, law "published"' for m in _FED)),
                whole(*(f'Local error by step, authors\' {m}, law "continuous"' for m in _FED)),
                whole("Local error at 2 ms by stiffness", "The authors' code run again"),
            ),
            "table3": whole("Time of a step [us]", "Time of a step of 10 ms"),
            "drops": whole("Mean and median", "After 2 s"),
            "mujoco": whole("Mean local error by step, solo12, torques held"),
        },
    ),
    "gjk": Page(
        Path("docs/narrow_phase.md"),
        "gjk",
        {"fig7_ellipsoids": 1, "fig8_to_11_meshes": 2, "fig12_funnel": 1},
        {
            "fig7_ellipsoids": columns("Iterations, distance", (0, 2, 4, 5, 6, 7, 8, 9)),
            "fig8_to_11_meshes": columns("Time [µs], distance", (0, 2, 4, 5, 6, 7, 8, 9)),
            "table3_frank_wolfe": whole("Iterations, ellipsoids", "Iterations, cubes"),
            "table1_vertex_counts": columns("Time", (0, 1, 2, 3, 4, 5, 6)),
            "fig12_funnel": whole("Time [µs] median, mean ± deviation (mean iterations), boolean"),
        },
    ),
    "collision-derivatives": Page(
        Path("docs/collision_derivatives_study.md"),
        "collision_derivatives",
        {"ycb_contact_points": 1},
        {
            "table1_contact_points": whole("Final cost [m²], damped"),
            "table2_timings": whole("Time [µs], YCB hulls"),
        },
    ),
    "differentiable": Page(
        Path("docs/differentiable_study.md"),
        "differentiable",
        {"modes": 1, "pairs": 1, "optimisation": 1, "kinks": 1},
        {
            "modes": blocks("Errors of columns", 2, 5, (0, 1, 7)),
            "pairs": worst("Errors of columns", "largest"),
            "cost": several(turned("Times"), whole("Reverse pass")),
            "optimisation": whole("Push from 1 N", "Jump of Solo-12"),
            "identification": whole("The price", "Errors", "Jacobians"),
            "kinks": whole("One column", "Where the box ends"),
        },
        "deliverable D2.1 of the AGIMUS project",
    ),
}
"""Study -> its page."""
