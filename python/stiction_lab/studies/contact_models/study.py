"""The study of the paper on contact models: all experiments, one report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from stiction.pages.experiment import Effort

from ..study import Progress, Study, run_experiments, silent
from . import (
    bouncing_slide,
    compliance,
    dragged_cube,
    mass_ratio,
    paper,
    profiles,
    pyramid_drift,
    table_two,
    time_steps,
    time_to_accuracy,
    tolerances,
    trot,
)

EXPERIMENTS: dict[str, ModuleType] = {
    "table2": table_two,
    "fig9": pyramid_drift,
    "fig10": bouncing_slide,
    "fig11": dragged_cube,
    "fig12": mass_ratio,
    "fig13": compliance,
    "table3": time_steps,
    "table4": tolerances,
    "fig16": time_to_accuracy,
    "profiles": profiles,
    "trot": trot,
}
TITLE = "Contact models in robotics, rebuilt"
INTRODUCTION = (
    f"Section IV of {paper.CITATION} Every solver of the registry runs on the same scenes and is "
    "judged by the same certificate, which is the nonlinear complementarity problem (NCP) whatever "
    "it solves; ncp-newton, stiction's default, is not in the paper. Forces and "
    "motions are the same on every run and machine; times belong to the machine named here."
)


def run_study(
    folder: Path,
    effort: Effort,
    names: Sequence[str] = tuple(EXPERIMENTS),
    progress: Progress = silent,
) -> Study:
    """Run the experiments named and write the report; see `run_experiments`."""
    return run_experiments(folder, TITLE, INTRODUCTION, EXPERIMENTS, effort, names, progress)
