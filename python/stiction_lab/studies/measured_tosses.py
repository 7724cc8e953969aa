"""`stiction study measured-tosses`: contact models against measured tosses of a cube.

Every model predicts each toss from its fitted free flight. Its three parameters are searched on
one half of the tosses with the same number of evaluations, and judged on the other half.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from stiction.pages import plots
from stiction.pages.experiment import Effort, Experiment, StudyError
from stiction.pages.report import write_report

from ..bench import machine
from .study import Study
from .toss_fit import Judged, fit_and_judge
from .toss_models import MUJOCO, models, require_mujoco
from .toss_tables import REFERENCE, describe, show
from .tosses import Toss, board_height, read_tosses, usable

DATA = Path(__file__).parents[3] / "tests" / "data" / "tosses" / "cube_tosses.npz"
"""Where a checkout has the tosses."""
EVALUATIONS = 40
"""Of the loss on the training half, per model."""
QUICK_MODELS = (REFERENCE, "mujoco")
TITLE = "Measured tosses: contact models and the world"
INTRODUCTION = """Tosses of an acrylic cube, tracked at 148 Hz (Pfrommer, Halm, Posa: ContactNets,
CoRL 2020), predicted by every contact model from the free flight before the first impact."""


def run_study(
    folder: Path,
    effort: Effort,
    data: Path | None = None,
    names: Sequence[str] = (),
    jobs: int = 2,
    progress: Callable[[str, str, float], None] = lambda name, text, share: None,
) -> Study:
    """Fit and judge the models, write the report.

    Args:
        folder: for index.html, study.json, the CSV file and the figure.
        data: tosses in the format of tests/data/tosses; None: those.
        names: of models; none: all, or two if the effort is not full.
        jobs: processes; results do not depend on their number.
        progress: called with what is done and the share of the study done.

    Raises:
        StudyError: matplotlib or the data is missing, or a name is unknown.
    """
    plots.require_matplotlib()
    if data is None and not DATA.exists():
        raise StudyError(
            "the tosses come with the repository, not the package: give them by --data"
        )
    arrays = read_tosses(data or DATA)
    board = board_height(arrays)
    tosses, short = usable(arrays, board)
    halves = split(tosses, effort)
    study = Study()
    chosen = _choose(names, effort, board, study)
    evaluations = effort.count(EVALUATIONS, 8)
    judged: list[Judged] = []
    # "fork": other ways to start a process run the caller's main module again.
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("fork")) as pool:
        tasks = [pool.submit(fit_and_judge, name, board, *halves, evaluations) for name in chosen]
        for k, task in enumerate(tasks):
            progress("measured-tosses", chosen[k], k / len(tasks))
            judged.append(task.result())
    experiment = Experiment("measured_tosses", TITLE, describe(halves, short, evaluations))
    show(experiment, judged, halves[1], effort)
    study.experiments.append(experiment)
    described = machine.describe()
    facts = {k: described[k] for k in ("cpu", "cores", "date", "load")}
    facts |= {"share of the full study": f"{effort.share:g}", "seed": effort.seed}
    facts |= {k: v for k, v in described["versions"].items() if v}
    study.page = write_report(folder, TITLE, INTRODUCTION, study.experiments, study.left_out, facts)
    document = json.dumps(study.as_dict() | {"facts": facts}, indent=1)
    (folder / "study.json").write_text(document + "\n", encoding="utf-8")
    return study


def split(tosses: Sequence[Toss], effort: Effort) -> tuple[list[Toss], list[Toss]]:
    """A random share of the tosses in two halves: to fit, to judge."""
    if len(tosses) < 4:
        raise StudyError(f"{len(tosses)} tosses with a free flight: at least 4 are needed")
    order = effort.generator(1).permutation(len(tosses))[: effort.count(len(tosses), 24)]
    middle = len(order) // 2
    return [tosses[k] for k in order[:middle]], [tosses[k] for k in order[middle:]]


def _choose(names: Sequence[str], effort: Effort, board: float, study: Study) -> list[str]:
    """Names of the models to run; those that cannot be run are left out with the reason."""
    known = models(board)
    for name in names:
        if name not in known:
            raise StudyError(f"{name!r} is no model; there are: {', '.join(known)}")
    wanted = list(names) or list(known if effort.share >= 1.0 else QUICK_MODELS)
    try:
        require_mujoco()
    except StudyError as error:
        study.left_out |= {name: str(error) for name in wanted if name in MUJOCO}
    return [name for name in wanted if name not in study.left_out]
