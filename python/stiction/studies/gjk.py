"""The study of the GJK++ paper: all experiments, one report."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from ..bench import machine
from . import (
    ellipsoids,
    frank_wolfe,
    funnel,
    meshes,
    paper,
    quadratic_programs,
    vertex_counts,
)
from .experiment import Effort, Experiment, StudyError, Tick
from .plots import require_matplotlib
from .report import write_report

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


@dataclass
class Study:
    """What was run, what was not and why, and where the report is."""

    experiments: list[Experiment] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    page: Path | None = None

    def as_dict(self) -> dict[str, Any]:
        """Tables and statements, for JSON."""
        return {
            "experiments": [experiment.as_dict() for experiment in self.experiments],
            "left_out": self.left_out,
            "report": str(self.page),
        }


def run_study(
    folder: Path,
    effort: Effort,
    names: Sequence[str] = tuple(EXPERIMENTS),
    progress: Callable[[str, str, float], None] = lambda name, text, share: None,
) -> Study:
    """Run the experiments named and write the report.

    Args:
        folder: for index.html, study.json, the CSV files and the figures.
        progress: called with the experiment, what it does, and the share of it done.

    Raises:
        StudyError: matplotlib is missing, or a name is unknown.
    """
    require_matplotlib()
    for name in names:
        if name not in EXPERIMENTS:
            raise StudyError(f"{name!r} is no experiment; there are: {', '.join(EXPERIMENTS)}")
    study = Study()
    for name in names:
        try:
            study.experiments.append(EXPERIMENTS[name].run(effort, _tick(name, progress)))
        except StudyError as error:
            study.left_out[name] = str(error)
    described = machine.describe()
    facts = {k: described[k] for k in ("cpu", "cores", "date", "load")}
    facts |= {"share of the full study": f"{effort.share:g}", "seed": effort.seed}
    facts |= {k: v for k, v in described["versions"].items() if v}
    study.page = write_report(folder, TITLE, INTRODUCTION, study.experiments, study.left_out, facts)
    document = json.dumps(study.as_dict() | {"facts": facts}, indent=1)
    (folder / "study.json").write_text(document + "\n", encoding="utf-8")
    return study


def _tick(name: str, progress: Callable[[str, str, float], None]) -> Tick:
    return lambda text, share: progress(name, text, share)
