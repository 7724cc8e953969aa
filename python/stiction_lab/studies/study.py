"""One study: its experiments in order, one report."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from stiction.pages.experiment import Effort, Experiment, StudyError, Tick
from stiction.pages.plots import require_matplotlib
from stiction.pages.report import write_report

from ..bench import machine

Progress = Callable[[str, str, float], None]
"""Called with the experiment, what it does, and the share of it done."""


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


def silent(name: str, text: str, share: float) -> None:
    """A progress that says nothing."""


def run_experiments(
    folder: Path,
    title: str,
    introduction: str,
    modules: Mapping[str, ModuleType],
    effort: Effort,
    names: Sequence[str],
    progress: Progress = silent,
) -> Study:
    """Run the experiments named and write the report.

    Args:
        folder: for index.html, study.json, the CSV files and the figures.
        modules: name -> module with `run(effort, tick) -> Experiment`.

    Raises:
        StudyError: matplotlib is missing, a name is unknown, or no experiment could run.
    """
    require_matplotlib()
    for name in names:
        if name not in modules:
            raise StudyError(f"{name!r} is no experiment; there are: {', '.join(modules)}")
    study = Study()
    for name in names:
        try:
            study.experiments.append(modules[name].run(effort, _tick(name, progress)))
        except StudyError as error:
            study.left_out[name] = str(error)
    if not study.experiments:
        raise StudyError("; ".join(f"{name}: {why}" for name, why in study.left_out.items()))
    described = machine.describe()
    facts = {k: described[k] for k in ("cpu", "cores", "date", "load")}
    facts |= {"share of the full study": f"{effort.share:g}", "seed": effort.seed}
    facts |= {k: v for k, v in described["versions"].items() if v}
    study.page = write_report(folder, title, introduction, study.experiments, study.left_out, facts)
    document = json.dumps(study.as_dict() | {"facts": facts}, indent=1)
    (folder / "study.json").write_text(document + "\n", encoding="utf-8")
    return study


def _tick(name: str, progress: Progress) -> Tick:
    return lambda text, share: progress(name, text, share)
