"""The study of derivatives of steps: all experiments, one report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from stiction.pages.experiment import Effort

from ..study import Progress, Study, run_experiments, silent
from . import cost, identification, kinks, modes, optimisation, pairs

EXPERIMENTS: dict[str, ModuleType] = {
    "modes": modes,
    "pairs": pairs,
    "cost": cost,
    "optimisation": optimisation,
    "identification": identification,
    "kinks": kinks,
}
TITLE = "Derivatives of steps: accuracy, cost, use and limits"
INTRODUCTION = (
    "Derivatives of the rigid step by state and torques against central differences of the step, "
    "beside what MuJoCo's differences and a differentiated cascade of quadratic programs cost; "
    "which gradient leads a search to its end; and what happens where there is none."
)


def run_study(
    folder: Path,
    effort: Effort,
    names: Sequence[str] = tuple(EXPERIMENTS),
    progress: Progress = silent,
) -> Study:
    """Run the experiments named and write the report; see `run_experiments`."""
    return run_experiments(folder, TITLE, INTRODUCTION, EXPERIMENTS, effort, names, progress)
