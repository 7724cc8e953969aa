"""Figs 2 and 3 of one motion: local error against step and against computing time."""

from __future__ import annotations

import itertools
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


def gain(results: Results, dt: float) -> float:
    """The better of exponential-published and implicit-euler over ours, at one step."""
    others = [mean_at(results, name, dt) for name in (PUBLISHED, IMPLICIT)]
    return float(np.nanmin(others)) / mean_at(results, OURS, dt)


def orders(results: Results, truth: Truth) -> list[float]:
    """Of ours in the periods without a switch, from each step to the next smaller one; errors near
    the truth's own say nothing and are left out."""
    calm = ~truth.switched
    if not calm.any():
        return []
    floor = 20.0 * float(truth.error[calm].mean())
    errors = [float(one.error[calm].mean()) for one in results[OURS]]
    kept = [error for error in errors if error > floor]
    return [float(np.log2(a / b)) for a, b in itertools.pairwise(kept)]


def order_goal(results: Results, truth: Truth) -> tuple[str, str, str, bool]:
    """Of ours: what it comes to as steps get small."""
    found = orders(results, truth)
    return (
        "order between switches, at the smallest steps",
        f">= {ORDER:g}",
        ", ".join(f"{x:.2f}" for x in found) + " from step to step",
        bool(found) and found[-1] >= ORDER,
    )


ORDER = 1.9


def explicit_step(results: Results, wanted: float) -> float:
    """Largest step at which explicit-euler errs no more than wanted [s]; 0: at none tried."""
    fits = [one.dt for one in results["explicit-euler"] if one.mean <= wanted]
    return max(fits, default=0.0)


def report(experiment: Experiment, truth: Truth, results: Results) -> None:
    """Rows, tables, figures and statements."""
    _add_all(experiment, truth, results)
    experiment.tables.append(_table(truth, results))
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
    motion = truth.motion
    rerun = paper.RERUN.get(motion.name.removeprefix("authors' "), {})
    table = Table(
        f"Local error by step, {motion.name}",
        [
            "step [ms]",
            *METHODS,
            "gain of exponential",
            "authors' exponential",
            "authors' implicit Euler",
        ],
        note="Mean over all periods. Gain: the better of exponential-published and implicit-euler "
        "over exponential. The authors' columns are their code run again, on their motion.",
    )
    steps = sorted({one.dt for name in METHODS for one in results[name]}, reverse=True)
    for dt in steps:
        ratio = gain(results, dt) if at(results, OURS, dt) else np.nan
        theirs = rerun.get(round(1e3 * dt, 5), (np.nan, np.nan))
        cells = [number(mean_at(results, name, dt)) for name in METHODS]
        table.rows.append(
            [
                f"{1e3 * dt:.4g}",
                *cells,
                "" if np.isnan(ratio) else f"{ratio:.0f}",
                *(number(x) for x in theirs),
            ]
        )
    return table


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
        "which the integrator is faster than real time. Dashed: the authors' code on their motion."
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
    rerun = paper.RERUN.get(truth.motion.name, {})
    for k, label in enumerate(_AUTHORS):
        by_step.curves[label] = list(rerun), [pair[k] for pair in rerun.values()]
    colors = {name: method.color for name, method in {**METHODS, **PRODUCTS}.items()}
    colors |= {label: METHODS[_LARGE[1 + k]].color for k, label in enumerate(_AUTHORS)}
    return draw([by_step, by_time], colors, dashed=_AUTHORS)


DRAWN = 10.0
"""Larger errors are not drawn; explicit methods blow up."""
_AUTHORS = ("authors' exponential", "authors' implicit Euler")


def goals(rows: list[tuple[str, str, str, bool]]) -> Table:
    """What was to be reached: goal, asked, here, reached."""
    table = Table("Goals", ["goal", "asked", "here", "reached"])
    table.rows += [[goal, asked, here, "yes" if met else "no"] for goal, asked, here, met in rows]
    return table


def add_variant(
    experiment: Experiment,
    motion: Motion,
    law: str,
    steps: Range,
    tick: Tick,
    share: tuple[float, float],
) -> tuple[Results, Truth]:
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
    rerun = paper.RERUN.get(motion.name.removeprefix("authors' "), {})
    table = Table(
        f'Local error by step, {motion.name}, law "{law}"',
        ["step [ms]", *chosen, *_AUTHORS],
        note=f"The truth is rk4 under that law; two runs differ by {true.error.mean():.1e} in the "
        f"mean. {int(true.switched.sum())} of {motion.steps} periods hold a switch.",
    )
    for one in results[PUBLISHED]:
        cells = [number(mean_at(results, name, one.dt)) for name in chosen]
        theirs = rerun.get(round(1e3 * one.dt, 5), (np.nan, np.nan))
        table.rows.append([f"{1e3 * one.dt:.4g}", *cells, *(number(x) for x in theirs)])
    experiment.tables.append(table)
    return results, true


def gains(results: Results) -> dict[float, float]:
    """Step [s] -> gain, where both are known."""
    found = {one.dt: gain(results, one.dt) for one in results[OURS]}
    return {dt: ratio for dt, ratio in found.items() if np.isfinite(ratio)}


def listed(values: dict[float, float]) -> str:
    """`value at step`, for a table."""
    return ", ".join(f"{x:.0f} at {1e3 * dt:.3g} ms" for dt, x in values.items())
