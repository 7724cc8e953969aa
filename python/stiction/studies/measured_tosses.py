"""`stiction study measured-tosses`: contact models against measured tosses of a cube.

Every model predicts each toss from its fitted free flight. Its three parameters are searched on
one half of the tosses with the same number of evaluations, and judged on the other half.
"""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..bench import machine
from . import plots
from .experiment import Effort, Experiment, StudyError, Table
from .gjk import Study
from .report import write_report
from .toss_models import MUJOCO, Parameter, models, require_mujoco
from .tosses import (
    SIDE,
    WINDOWS,
    Floats,
    Toss,
    board_height,
    energy_lost,
    lowest,
    read_tosses,
    rotation_error,
    usable,
)

DATA = Path(__file__).parents[3] / "tests" / "data" / "tosses" / "cube_tosses.npz"
"""Where a checkout has the tosses."""
EVALUATIONS = 30
"""Of the loss on the training half, per model."""
RESAMPLES = 4000
REFERENCE = "ncp-newton"
QUICK_MODELS = (REFERENCE, "mujoco")
TITLE = "Measured tosses: contact models and the world"
INTRODUCTION = """Tosses of an acrylic cube, tracked at 148 Hz (Pfrommer, Halm, Posa: ContactNets,
CoRL 2020), predicted by every contact model from the free flight before the first impact."""
SETUP = """{count} tosses, {train} to fit and {test} to judge, split by the seed{left_out}. The
flight is fitted to the last 4 to 8 frames whose lowest corner is 4 mm above the board; it misses
the poses by {position:.2f} mm and {rotation:.2f}° (median), what an error can be known to. The time
step is 1.35 ms for all; each model has three parameters (friction; restitution, MuJoCo the damping
ratio of its contacts; height of the board), found by {evaluations} evaluations of one pattern
search. Its loss is the median over tosses of the mean over the three windows of position error /
side + rotation error / 1 rad. The solvers of one model of contact (ncp-, ccp-, lcp-) differ only
by how well they converge."""
METRICS = {
    "position 50 ms [mm]": 1,
    "position 100 ms [mm]": 1,
    "position 200 ms [mm]": 1,
    "rotation 50 ms [°]": 1,
    "rotation 100 ms [°]": 1,
    "rotation 200 ms [°]": 1,
    "rest position [mm]": 1,
    "rest rotation [°]": 1,
    "energy lost, error [%]": 1,
}
"""Errors, by which models are compared -> digits printed."""
SHOWN = {"energy lost [%]": 1, "penetration [mm]": 2}
"""Predicted and measured values, no errors."""


@dataclass
class Judged:
    """One model after the search, on the tosses it has not seen.

    Attributes:
        values: its parameters.
        loss: on the training half at the start and at the end of the search.
        metrics: name -> one value per toss of the other half.
    """

    name: str
    values: Floats
    loss: tuple[float, float]
    metrics: dict[str, Floats]


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
    # "fork": the others import the caller's main module again.
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("fork")) as pool:
        tasks = [pool.submit(fit_and_judge, name, board, *halves, evaluations) for name in chosen]
        for k, task in enumerate(tasks):
            progress("measured-tosses", chosen[k], k / len(tasks))
            judged.append(task.result())
    experiment = Experiment("measured_tosses", TITLE, _setup(halves, short, evaluations))
    _show(experiment, judged, halves[1], effort)
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


# --- fit and judge ------------------------------------------------------------------------------


def fit_and_judge(
    name: str, board: float, train: list[Toss], test: list[Toss], evaluations: int
) -> Judged:
    """Search the parameters of a model on `train`, judge it on `test`."""
    model = models(board)[name]

    def loss(values: Floats) -> float:
        predict = model.prepare(values)
        return float(np.median([_window_loss(t, predict(t, t.frames[-1]).poses) for t in train]))

    values, first, last = pattern_search(loss, model.parameters, evaluations)
    predict = model.prepare(values)
    rows: dict[str, list[float]] = {}
    for toss in test:
        found = predict(toss, len(toss.poses) - 1)
        for metric, value in judge(toss, found.poses, found.depth).items():
            rows.setdefault(metric, []).append(value)
    return Judged(name, values, (first, last), {k: np.array(v) for k, v in rows.items()})


def pattern_search(
    loss: Callable[[Floats], float], parameters: Sequence[Parameter], evaluations: int
) -> tuple[Floats, float, float]:
    """Compass search: one parameter at a time, steps halved when none helps.

    A direction that helped is tried first next time. Returns the best values, and the loss at the
    start and there; values without a finite loss are never taken.
    """
    low, high = (np.array([getattr(p, side) for p in parameters]) for side in ("low", "high"))
    best = np.array([p.start for p in parameters])
    step = np.array([p.step for p in parameters])
    first = least = loss(best)
    left = evaluations - 1
    while True:
        improved = False
        for k in range(len(best)):
            for sign in (1.0, -1.0):
                tried = best.copy()
                tried[k] = np.clip(tried[k] + sign * step[k], low[k], high[k])
                if tried[k] == best[k]:
                    continue
                if left == 0:
                    return best, first, least
                left -= 1
                value = loss(tried)
                if value < least or not np.isfinite(least):
                    best, least, improved = tried, value, True
                    step[k] *= sign
                    break
        if not improved:
            step *= 0.5


def _window_loss(toss: Toss, poses: Floats) -> float:
    shift, turn = _errors(toss, poses, toss.frames)
    total = float(np.mean(shift / SIDE + turn))
    return total if np.isfinite(total) else float("inf")


def _errors(toss: Toss, poses: Floats, frames: Sequence[int]) -> tuple[Floats, Floats]:
    """Of position [m] and rotation [rad] at frames."""
    predicted, measured = poses[list(frames)], toss.poses[list(frames)]
    shift = np.linalg.norm(predicted[:, :3] - measured[:, :3], axis=1)
    return shift, rotation_error(predicted[:, 3:], measured[:, 3:])


def judge(toss: Toss, poses: Floats, depth: float) -> dict[str, float]:
    """METRICS and SHOWN of a prediction with its deepest corner [m]."""
    shift, turn = _errors(toss, poses, [*toss.frames, len(toss.poses) - 1])
    lost, truth = energy_lost(toss, poses), energy_lost(toss, toss.poses)
    errors = [*shift[:3], *turn[:3], shift[3], turn[3]]
    scaled = [1e3 * x for x in shift[:3]] + [float(np.degrees(x)) for x in turn[:3]]
    scaled += [1e3 * errors[6], float(np.degrees(errors[7])), 100.0 * abs(lost - truth)]
    values = dict(zip(METRICS, map(float, scaled), strict=True))
    return values | {"energy lost [%]": 100.0 * lost, "penetration [mm]": 1e3 * depth}


# --- tables, figure, sentences ------------------------------------------------------------------


FAILED = 1e9
"""Stands for what a prediction that is not finite is off by, whatever the unit."""


def _known(values: Floats) -> Floats:
    return np.where(np.isnan(values), FAILED, values)


@dataclass(frozen=True)
class Bootstrap:
    """Resamples of tosses, the same for every model, so that differences are paired."""

    rows: np.ndarray

    def medians(self, values: Floats) -> Floats:
        """The median in each resample."""
        medians: Floats = np.median(_known(values)[self.rows], axis=1)
        return medians

    def interval(self, values: Floats) -> tuple[float, float]:
        """95 % of the median."""
        low, high = np.percentile(self.medians(values), [2.5, 97.5])
        return float(low), float(high)

    def differs(self, values: Floats, reference: Floats) -> int:
        """-1: smaller than the reference, 1: larger, 0: within noise.

        99.9 % of the differences of the medians: with about 100 comparisons, one in ten studies
        would show a difference that is none.
        """
        low, high = np.percentile(self.medians(values) - self.medians(reference), [0.05, 99.95])
        return -1 if high < 0.0 else 1 if low > 0.0 else 0


def _setup(halves: tuple[list[Toss], list[Toss]], short: list[str], evaluations: int) -> str:
    train, test = halves
    residual = np.median([t.residual for t in train + test], axis=0)
    return SETUP.format(
        count=len(train) + len(test),
        train=len(train),
        test=len(test),
        left_out=f"; left out, no flight to fit: {', '.join(short)}" if short else "",
        position=1e3 * residual[0],
        rotation=np.degrees(residual[1]),
        evaluations=evaluations,
    )


def _show(
    experiment: Experiment, judged: list[Judged], test: Sequence[Toss], effort: Effort
) -> None:
    rows = effort.generator(2).integers(len(test), size=(RESAMPLES, len(test)))
    bootstrap = Bootstrap(rows)
    for of_model in judged:
        experiment.add_rows(model=of_model.name, toss=[t.name for t in test], **of_model.metrics)
    experiment.tables += [
        _table("Errors after the first impact", list(METRICS)[:6], judged, bootstrap),
        _table("At rest, and in the first impact", list(METRICS)[6:], judged, bootstrap),
        _shown(judged, test, bootstrap),
        _fitted(judged),
    ]
    experiment.tables[0].note = " ".join(sentences(judged, bootstrap))
    experiment.figures.append(_figure(judged, bootstrap))


def _table(
    title: str, metrics: Sequence[str], judged: Sequence[Judged], bootstrap: Bootstrap
) -> Table:
    rows = []
    for j in judged:
        cells = [_cell(j.metrics[m], METRICS[m], bootstrap) for m in metrics]
        rows.append([j.name, *cells])
    return Table(f"{title}: median [95 % interval]", ["model", *metrics], rows)


def _cell(values: Floats, digits: int, bootstrap: Bootstrap) -> str:
    median = float(np.median(_known(values)))
    low, high = bootstrap.interval(values)
    if high >= FAILED:
        return "failed"
    return f"{median:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def _shown(judged: Sequence[Judged], test: Sequence[Toss], bootstrap: Bootstrap) -> Table:
    """Energy lost and penetration; the first row is measured, below the board at rest."""
    lost = np.array([100.0 * energy_lost(t, t.poses) for t in test])
    board = float(np.median([t.poses[-1, 2] for t in test])) - 0.5 * SIDE
    depth = np.array([1e3 * max(0.0, board - float(np.min(lowest(t.poses)))) for t in test])
    columns = [(lost, depth)] + [(j.metrics[a], j.metrics[b]) for j in judged for a, b in [SHOWN]]
    names = ["measured", *(j.name for j in judged)]
    rows = [
        [name, *(_cell(x, d, bootstrap) for x, d in zip(pair, SHOWN.values(), strict=True))]
        for name, pair in zip(names, columns, strict=True)
    ]
    note = (
        "Energy: share of the kinetic energy at the first impact that is gone 20 ms later. "
        "Penetration: the deepest corner, of a model over all time steps below its own board, "
        "measured over all frames; the measured one is smoothing and tracking, not compliance."
    )
    return Table("Energy lost and penetration", ["", *SHOWN], rows, note)


def _fitted(judged: Sequence[Judged]) -> Table:
    rows = []
    for j in judged:
        friction, second, board = j.values
        is_ratio = j.name in MUJOCO
        both = ["", f"{second:.3f}"] if is_ratio else [f"{second:.3f}", ""]
        losses = [f"{x:.4f}" for x in j.loss]
        rows.append([j.name, f"{friction:.3f}", *both, f"{1e3 * board:.2f}", *losses])
    columns = ["model", "friction", "restitution", "damping ratio", "board [mm]"]
    return Table("Parameters found", [*columns, "loss at the start", "loss found"], rows)


def sentences(judged: Sequence[Judged], bootstrap: Bootstrap) -> list[str]:
    """Per metric, which models differ from the reference by more than the noise."""
    by_name = {j.name: j for j in judged}
    if REFERENCE not in by_name or len(judged) < 2:
        return []
    found = []
    for metric in METRICS:
        reference = by_name[REFERENCE].metrics[metric]
        verdicts = {
            name: bootstrap.differs(j.metrics[metric], reference)
            for name, j in by_name.items()
            if name != REFERENCE
        }
        parts = [
            f"{word} {', '.join(names)}"
            for word, sign in (("smaller for", -1), ("larger for", 1), ("within noise for", 0))
            if (names := [name for name, verdict in verdicts.items() if verdict == sign])
        ]
        found.append(f"{metric}, against {REFERENCE}: {'; '.join(parts)}.")
    return found


def _figure(judged: Sequence[Judged], bootstrap: Bootstrap) -> tuple[str, str]:
    panels = {}
    for title in list(METRICS)[:6]:
        panels[title] = {
            j.name: (
                float(np.median(j.metrics[title])),
                *bootstrap.interval(j.metrics[title]),
            )
            for j in judged
        }
    windows = ", ".join(f"{1e3 * window:.0f}" for window in WINDOWS)
    caption = f"Medians of the errors {windows} ms after the first impact, 95 % intervals."
    return caption, plots.intervals(panels, columns=len(WINDOWS))
