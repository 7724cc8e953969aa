"""Figs 2 and 3 of one motion: local error against step and against computing time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from stiction.pages.experiment import Experiment, Table, Tick

from . import paper
from .curves import Panel, draw
from .integrators import (
    IMPLICIT,
    METHODS,
    OURS,
    PRODUCTS,
    PUBLISHED,
    Method,
)
from .local_error import LocalErrors, ladder, local_errors
from .motion import Motion
from .truth import Fineness, Truth, run

Results = dict[str, list[LocalErrors]]
"""Method -> errors, largest step first."""
UNIT = "local error [m, rad, m/s, rad/s]"


@dataclass(frozen=True)
class Range:
    """Steps that are tried.

    Attributes:
        smallest: of the methods for large steps [s].
        implicit: smallest of implicit-euler, which is slow [s].
        explicit: largest and smallest of the explicit methods [s].
    """

    smallest: float
    implicit: float
    explicit: tuple[float, float]


def measure(
    truth: Truth,
    steps: Range,
    tick: Tick,
    methods: Mapping[str, Method] | None = None,
) -> Results:
    """Every method at every step of its range.

    Args:
        tick: told the method and the share of them done.
    """
    period, results = truth.motion.period, {}
    every = {**METHODS, **PRODUCTS} if methods is None else methods
    for i, (name, method) in enumerate(every.items()):
        tick(name, i / len(every))
        smallest = steps.implicit if name == IMPLICIT else steps.smallest
        if method.explicit:
            smallest = steps.explicit[1]
        counts = ladder(period, smallest)
        if method.explicit:
            counts = [n for n in counts if period / n <= steps.explicit[0]]
        results[name] = [local_errors(truth, method, n) for n in counts]
    return results


def at(results: Results, name: str, dt: float) -> LocalErrors | None:
    """Errors of a method at a step [s], if it was run there."""
    for one in results[name]:
        if abs(one.dt - dt) < 1e-9:
            return one
    return None


def mean_at(results: Results, name: str, dt: float) -> float:
    """Mean error of a method at a step; nan: not run there."""
    found = at(results, name, dt)
    return np.nan if found is None else found.mean


def report(experiment: Experiment, truth: Truth, results: Results) -> None:
    """Rows, tables, figures and statements."""
    _add_all(experiment, truth, results)
    experiment.tables += [_table(truth, results), _times(truth, results)]
    if truth.switched.any():
        experiment.tables.append(_switch_table(truth, results))
    experiment.figures.append((_caption(truth), _figure(truth, results)))
    experiment.explanation = (
        f"{truth.motion.steps} periods of {1e3 * truth.motion.period:g} ms, law "
        f'"{truth.law}"; {int(truth.switched.sum())} of them hold a switch (a contact opens, '
        f"closes, slips or sticks). The truth is rk4, each period halved until two runs agree; "
        f"they differ by {truth.error.mean():.1e} in the mean and {truth.error.max():.1e} at most. "
        "The paper's truth is each integrator itself at a small step; here all share one, and rows "
        "of rk4 below that difference compare it with itself."
    )


def add_rows(experiment: Experiment, truth: Truth, name: str, one: LocalErrors) -> None:
    """Every period of one method at one step, for the CSV."""
    experiment.add_rows(
        motion=truth.motion.name,
        law=truth.law,
        method=name,
        step=one.dt,
        period=np.arange(len(one.error)),
        switched=truth.switched,
        error=one.error,
        microseconds=one.microseconds,
    )


def _add_all(experiment: Experiment, truth: Truth, results: Results) -> None:
    for name, runs in results.items():
        for one in runs:
            add_rows(experiment, truth, name, one)


def _table(truth: Truth, results: Results) -> Table:
    title = f"Local error by step, {truth.motion.name}"
    table = Table(title, ["step [ms]", *METHODS], note="Mean over all periods.")
    for dt in _steps(results):
        cells = [number(mean_at(results, name, dt)) for name in METHODS]
        table.rows.append([f"{1e3 * dt:.4g}", *cells])
    return table


def _times(truth: Truth, results: Results) -> Table:
    table = Table(
        f"Time of a step [us], {truth.motion.name}",
        ["step [ms]", *results],
        note="Processor time, mean over all periods.",
    )
    for dt in _steps(results):
        found = [at(results, name, dt) for name in results]
        cells = ["" if one is None else f"{one.microseconds:.1f}" for one in found]
        table.rows.append([f"{1e3 * dt:.4g}", *cells])
    return table


def _steps(results: Results) -> list[float]:
    """All that were tried [s], largest first."""
    return sorted({one.dt for name in METHODS for one in results[name]}, reverse=True)


def _switch_table(truth: Truth, results: Results) -> Table:
    table = Table(
        "Periods without and with a switch",
        ["step [ms]", *(f"{name}, {kind}" for name in _LARGE for kind in ("without", "with"))],
    )
    for one in results[OURS]:
        cells = []
        for name in _LARGE:
            found = at(results, name, one.dt)
            for mask in (~truth.switched, truth.switched):
                kept = found.error[mask] if found is not None else np.array([np.nan])
                cells.append(number(float(kept.mean()) if len(kept) else np.nan))
        table.rows.append([f"{1e3 * one.dt:.4g}", *cells])
    return table


_LARGE = (OURS, PUBLISHED, IMPLICIT)


def number(value: float) -> str:
    """Two digits; empty: not run."""
    if np.isnan(value):
        return ""
    return f"{value:.1e}" if np.isfinite(value) else "diverges"


def _caption(truth: Truth) -> str:
    return (
        f"Figs 3 and 2, {truth.motion.name}: local error against step, and against the factor by "
        "which the integrator is faster than real time."
    )


def _figure(truth: Truth, results: Results) -> str:
    by_step = Panel(truth.motion.name, "step [ms]", UNIT)
    by_time = Panel(truth.motion.name, "real-time factor", UNIT)
    for name, runs in results.items():
        good = [one for one in runs if one.mean < DRAWN]
        error = [one.mean for one in good]
        by_time.curves[name] = [1e6 * one.dt / one.microseconds for one in good], error
        if name in METHODS:
            by_step.curves[name] = [1e3 * one.dt for one in good], error
    colors = {name: method.color for name, method in {**METHODS, **PRODUCTS}.items()}
    return draw([by_step, by_time], colors)


DRAWN = 10.0
"""Larger errors are not drawn; explicit methods blow up."""
_AUTHORS = ("authors' exponential", "authors' implicit Euler")
"""Beside runs of their motions; other motions are not compared."""


def add_variant(
    experiment: Experiment,
    motion: Motion,
    law: str,
    steps: Range,
    tick: Tick,
    share: tuple[float, float],
) -> Results:
    """Errors at large steps for another motion or law, as one table.

    Args:
        law: "published" leaves out ours, which has the continuous one only.
        share: of the experiment, before and after.
    """
    first, last = share
    middle = 0.5 * (first + last)
    true = run(motion, Fineness(law=law), tick, (first, middle))
    chosen = {name: METHODS[name] for name in (_LARGE if law == "continuous" else _LARGE[1:])}
    results = measure(
        true, steps, lambda name, done: tick(name, middle + (last - middle) * done), chosen
    )
    _add_all(experiment, true, results)
    theirs = paper.RERUN[motion.name.split()[1]] if motion.name.startswith("authors'") else {}
    table = Table(
        f'Local error by step, {motion.name}, law "{law}"',
        ["step [ms]", *chosen, *(_AUTHORS if theirs else ())],
        note=f"The truth is rk4 under that law; two runs differ by {true.error.mean():.1e} in the "
        f"mean. {int(true.switched.sum())} of {motion.steps} periods hold a switch.",
    )
    for one in results[PUBLISHED]:
        cells = [number(mean_at(results, name, one.dt)) for name in chosen]
        if theirs:
            pair = theirs.get(round(1e3 * one.dt, 5), (np.nan, np.nan))
            cells += [number(x) for x in pair]
        table.rows.append([f"{1e3 * one.dt:.4g}", *cells])
    experiment.tables.append(table)
    return results
