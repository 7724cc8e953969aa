"""The study of the paper on randomized smoothing: all experiments, one report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from stiction.pages.experiment import Effort

from ..study import Progress, Study, run_experiments, silent
from . import contact_points, household, paper, timings

EXPERIMENTS: dict[str, ModuleType] = {
    "table1": contact_points,
    "ycb": household,
    "table2": timings,
}
TITLE = "Derivatives of collision detection: the experiments of the randomized-smoothing paper"
INTRODUCTION = (
    f"The experiments of {paper.CITATION} Each is run with the methods of the same names of "
    "distance_derivatives(), on problems made from a seed; the paper's printed numbers stand "
    "beside ours. Costs are functions of the seed; times belong to the machine named here."
)


def run_study(
    folder: Path,
    effort: Effort,
    names: Sequence[str] = tuple(EXPERIMENTS),
    progress: Progress = silent,
) -> Study:
    """Run the experiments named and write the report; see `run_experiments`."""
    return run_experiments(folder, TITLE, INTRODUCTION, EXPERIMENTS, effort, names, progress)
