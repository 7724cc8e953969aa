"""On exponential integration of stiff contact: the walks of Talos and Romeo."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
from stiction.loading import INSTALL_ROBOTS
from stiction.pages.experiment import StudyError

from ..stiff_contact import biped, truth
from ..stiff_contact.integrators import IMPLICIT, METHODS, PUBLISHED
from ..stiff_contact.local_error import local_errors

LARGEST_RK4 = (20e-3, 10e-3, 5e-3, 2.5e-3, 1.25e-3)
"""Steps of the explicit methods on the walk [s]; the study starts at the last."""
WALKS, SUBSTEPS = 25, (1, 2, 4, 8, 16)
"""Of Romeo, two touch-downs each; steps of a control period."""
ROMEO = "example-robot-data/robots/romeo_description/urdf/romeo_small.urdf"


FINENESS = truth.Fineness(step=1.6e-4, tolerance=1e-6, halvings=12)
"""Of the truths: the errors judged by them are above 1e-4."""


def _silent(text: str, share: float) -> None:
    """A tick that says nothing."""


def explicit_walk(share: float) -> dict[str, Any]:
    """The explicit methods on the walk of Talos at the steps that the study leaves out."""
    motion = biped.walk(None, None if share >= 1.0 else 3)
    true = truth.run(motion, FINENESS, _silent, (0.0, 1.0))
    rows = []
    for dt in LARGEST_RK4:
        row: dict[str, Any] = {"step": f"{1e3 * dt:g} ms"}
        for name in ("rk4", "explicit-euler", PUBLISHED):
            row[name] = local_errors(true, METHODS[name], round(motion.period / dt)).mean
        rows.append(row)
    return {"steps": rows, "periods": motion.steps}


def romeo(share: float) -> dict[str, Any]:
    """Walks with the paper's robot and law that begin anywhere in a control period, so that their
    touch-downs fall anywhere in a step.

    Raises:
        StudyError: the robot's files are not installed.
    """
    path = next((p for p in _romeos() if p.is_file()), None)
    if path is None:
        raise StudyError(f"romeo_small.urdf is not installed: {INSTALL_ROBOTS}")
    late = biped.PERIOD * np.random.default_rng(6).uniform(size=WALKS)
    errors: dict[int, list[tuple[float, float]]] = {n: [] for n in SUBSTEPS}
    for delay in late[: max(1, round(WALKS * share))]:
        motion = biped.walk(path, None if share >= 1.0 else 3, late=float(delay))
        true = truth.run(motion, replace(FINENESS, law="published"), _silent, (0.0, 1.0))
        for n, found in errors.items():
            expo, implicit = (local_errors(true, METHODS[m], n).mean for m in (PUBLISHED, IMPLICIT))
            found.append((expo, implicit))
    rows = []
    for n, found in errors.items():
        expo, implicit = np.mean(found, axis=0)
        rows.append(
            {
                "step": f"{1e3 * biped.PERIOD / n:g} ms",
                PUBLISHED: float(expo),
                IMPLICIT: float(implicit),
                "ratio": float(implicit / expo),
                "worse": sum(b > a for a, b in found),
            }
        )
    return {"steps": rows, "walks": len(errors[1]), "landings": 2 * len(errors[1])}


def _romeos() -> list[Path]:
    """Where the extra `robots` puts it, beside Pinocchio."""
    return [parent / "share" / ROMEO for parent in Path(pinocchio.__file__).parents]
