"""The study of the GJK++ paper: all experiments, one report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from stiction.pages.experiment import Effort

from . import (
    ellipsoids,
    frank_wolfe,
    funnel,
    meshes,
    paper,
    quadratic_programs,
    vertex_counts,
)
from .study import Progress, Study, run_experiments, silent

EXPERIMENTS: dict[str, ModuleType] = {
    "fig7": ellipsoids,
    "fig8": meshes,
    "table1": vertex_counts,
    "table2": quadratic_programs,
    "table3": frank_wolfe,
    "fig12": funnel,
}
TITLE = "GJK++ rebuilt: acceleration of GJK by momentum"
INTRODUCTION = (
    f"The experiments of {paper.CITATION} Each is run with stiction's own methods of the same "
    "names on problems made from a seed; the paper's printed numbers stand beside ours. Iteration "
    "counts are functions of the seed; times belong to the machine named here, and only their "
    "ratios are to be compared with the paper's."
)


def run_study(
    folder: Path,
    effort: Effort,
    names: Sequence[str] = tuple(EXPERIMENTS),
    progress: Progress = silent,
) -> Study:
    """Run the experiments named and write the report; see `run_experiments`."""
    return run_experiments(folder, TITLE, INTRODUCTION, EXPERIMENTS, effort, names, progress)
