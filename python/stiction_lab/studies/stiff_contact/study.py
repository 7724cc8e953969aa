"""The study of stiff contact: all experiments, one report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from stiction.pages.experiment import Effort

from ..study import Progress, Study, run_experiments, silent
from . import (
    drops,
    fingertips,
    force_prediction,
    jump,
    mujoco_peer,
    paper,
    reference,
    squat,
    stability,
    step_times,
    stiffness,
    touch_down,
    trot,
    walk,
)

EXPERIMENTS: dict[str, ModuleType] = {
    "squat": squat,
    "trot": trot,
    "jump": jump,
    "walk": walk,
    "fig4": stiffness,
    "table2": stability,
    "fig5": force_prediction,
    "fig6": touch_down,
    "table3": step_times,
    "reference": reference,
    "drops": drops,
    "fingertips": fingertips,
    "mujoco": mujoco_peer,
}
TITLE = "Stiff compliant contact, integrated"
INTRODUCTION = (
    f"Section 6 of {paper.CITATION} Robots on ground of 1e5 N/m and 300 N s/m, moved by "
    "controllers of this study; every integrator of stiction on the same states and under the same "
    "law of contact. exponential is stiction's own and is not in the paper. Errors are the same on "
    "every run and machine; times belong to the machine named here."
)


def run_study(
    folder: Path,
    effort: Effort,
    names: Sequence[str] = tuple(EXPERIMENTS),
    progress: Progress = silent,
) -> Study:
    """Run the experiments named and write the report; see `run_experiments`."""
    return run_experiments(folder, TITLE, INTRODUCTION, EXPERIMENTS, effort, names, progress)
