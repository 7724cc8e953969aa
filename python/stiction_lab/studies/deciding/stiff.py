"""On exponential integration of stiff contact: the walk and the stiff grounds of Fig. 4."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio
from stiction.loading import INSTALL_ROBOTS
from stiction.pages.experiment import StudyError

from ..stiff_contact import biped, plans, robots, stiffness, truth
from ..stiff_contact.integrators import IMPLICIT, METHODS, PUBLISHED
from ..stiff_contact.local_error import local_errors

LARGEST_RK4 = (20e-3, 10e-3, 5e-3, 2.5e-3, 1.25e-3)
"""Steps of the explicit methods on the walk [s]; the study starts at the last."""
GROUNDS = (1e5, 1e6, 1e8)
PERIODS = 130
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


def stiff_ground(share: float) -> dict[str, Any]:
    """Fig. 4 under the published law, under which the paper made it, at five stiffnesses."""
    rows = []
    for k in GROUNDS if share >= 1.0 else GROUNDS[:1]:
        damping = 2.0 * stiffness.RATIO * np.sqrt(k)
        motion = plans.trot(
            robots.solo12(robots.Ground(k, damping)), max(40, round(PERIODS * share))
        )
        fineness = replace(FINENESS, step=stiffness.fineness(k, damping).step, law="published")
        true = truth.run(motion, fineness, _silent, (0.0, 1.0))
        row: dict[str, Any] = {"ground": f"{k:g} N/m"}
        for name in (PUBLISHED, IMPLICIT):
            row[name] = local_errors(true, METHODS[name], round(motion.period / 2e-3)).mean
        rows.append(row | {"switches": int(true.switched.sum())})
    return {"grounds": rows}


def romeo(share: float) -> dict[str, Any]:
    """The walk with the paper's robot and law.

    Raises:
        StudyError: the robot's files are not installed.
    """
    path = next((p for p in _romeos() if p.is_file()), None)
    if path is None:
        raise StudyError(f"romeo_small.urdf is not installed: {INSTALL_ROBOTS}")
    motion = biped.walk(path, None if share >= 1.0 else 3)
    true = truth.run(motion, replace(FINENESS, law="published"), _silent, (0.0, 1.0))
    rows = []
    for substeps in (1, 2, 4, 8, 16) if share >= 1.0 else (1, 2):
        row: dict[str, Any] = {"step": f"{1e3 * motion.period / substeps:g} ms"}
        for name in (PUBLISHED, IMPLICIT):
            row[name] = local_errors(true, METHODS[name], substeps).mean
        rows.append(row | {"ratio": row[IMPLICIT] / row[PUBLISHED]})
    return {"steps": rows, "switches": int(true.switched.sum()), "periods": motion.steps}


def _romeos() -> list[Path]:
    """Where the extra `robots` puts it, beside Pinocchio."""
    return [parent / "share" / ROMEO for parent in Path(pinocchio.__file__).parents]
