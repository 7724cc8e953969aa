"""Tables, figure and sentences about contact models judged on measured tosses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from stiction.pages import plots
from stiction.pages.experiment import Effort, Experiment, Table

from .toss_fit import METRICS, SHOWN, Judged
from .toss_models import MUJOCO
from .tosses import SIDE, WINDOWS, Floats, Toss, energy_lost, lowest

RESAMPLES = 4000
REFERENCE = "ncp-newton"
SETUP = """{count} tosses, {train} to fit and {test} to judge, split by the seed{left_out}. The
flight is fitted to the last 4 to 8 frames whose lowest corner is 4 mm above the board; it
misses the poses by {position:.2f} mm and {rotation:.2f}° (median); in impacts the poses,
smoothed, are off by some mm (see penetration). The time step is 1.35 ms for all; each model has
three parameters (friction; restitution, MuJoCo the damping ratio of its contacts; height of the
board), found by {evaluations} evaluations of one pattern search. Its loss is the median over
tosses of the mean over the three windows of position error / side + rotation error / 1 rad. The
solvers of one model of contact (ncp-, ccp-, lcp-) differ only by how well they converge, and
ccp-newton by its regularisation. Intervals and comparisons hold for the parameters found: they
contain the choice of the judged tosses, not that of the others."""
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


def describe(halves: tuple[list[Toss], list[Toss]], short: list[str], evaluations: int) -> str:
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


def show(
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
        losses.append("" if is_ratio else f"{j.unsolved[0]} of {j.unsolved[1]}")
        rows.append([j.name, f"{friction:.3f}", *both, f"{1e3 * board:.2f}", *losses])
    columns = ["model", "friction", "restitution", "damping ratio", "board [mm]"]
    note = "Not solved: steps of the judged tosses above the solver's tolerance, 1e-8, of all."
    return Table(
        "Parameters found", [*columns, "loss at the start", "loss found", "not solved"], rows, note
    )


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
