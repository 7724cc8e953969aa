"""A Comparison drawn: one figure, or one HTML page with its tables."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import numpy as np

from .comparison import Comparison
from .pages.experiment import Experiment, Table
from .pages.palette import MODELS
from .pages.plots import require_matplotlib, svg_text
from .pages.report import write_page

FLOOR = 1e-18
"""Smallest bar of a logarithmic axis: zero has none."""
FORMATS = (".html", ".svg", ".png")


def write_comparison(path: Path, comparison: Comparison) -> None:
    """See Comparison.save."""
    if path.suffix not in FORMATS:
        raise ValueError(f"{path}: must end in one of {', '.join(FORMATS)}")
    require_matplotlib()
    figure = draw(comparison)
    if path.suffix == ".png":
        figure.savefig(path, dpi=120)
    elif path.suffix == ".svg":
        path.write_text(svg_text(figure), encoding="utf-8")
    else:
        _write_page(path, comparison, svg_text(figure))


def draw(comparison: Comparison) -> Any:
    """Bars of time, residuals and difference by solver, and the forces by contact."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13.0, 7.6), layout="constrained")
    top = figure.add_gridspec(2, 3)
    results = comparison.results
    floor = {name: max(r.residuals.relative, FLOOR) for name, r in results.items()}
    times = {name: r.microseconds for name, r in results.items()}
    apart = {name: max(comparison.difference(name), FLOOR) for name in results}
    _bars(figure.add_subplot(top[0, 0]), comparison, times, "time of the solve [µs]", "linear")
    _bars(
        figure.add_subplot(top[0, 1]),
        comparison,
        floor,
        "certificate: residual of the NCP",
    )
    title = f"next velocity, differs from {comparison.best} [m/s, rad/s]"
    _bars(figure.add_subplot(top[0, 2]), comparison, apart, title)
    _forces(figure.add_subplot(top[1, :]), comparison)
    handles = [_patch(color, model) for model, color in MODELS.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False)
    return figure


def _patch(color: str, label: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(color=color, label=label)


def _bars(
    axis: Any, comparison: Comparison, values: dict[str, float], title: str, scale: str = "log"
) -> None:
    names = list(values)
    colors = [MODELS[comparison[name].model] for name in names]
    axis.barh(np.arange(len(names)), list(values.values()), color=colors)
    axis.set_yticks(np.arange(len(names)), names, fontsize=8)
    axis.invert_yaxis()
    axis.set_xscale(scale)
    axis.set_title(title, fontsize=9)
    axis.grid(axis="x", alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)


def _forces(axis: Any, comparison: Comparison) -> None:
    """Normal forces as bars, tangential ones as the dark bars inside, solvers side by side."""
    count = len(comparison.contacts)
    width = 0.85 / max(len(comparison), 1)
    for k, (name, result) in enumerate(comparison.results.items()):
        at = np.arange(count) + (k - 0.5 * (len(comparison) - 1)) * width
        color = MODELS[result.model]
        axis.bar(at, result.forces[:, 2], 0.92 * width, color=color, alpha=0.55)
        axis.bar(at, np.hypot(*result.forces[:, :2].T), 0.46 * width, color=color)
        for x, height in zip(at, result.forces[:, 2], strict=True):
            if count * len(comparison) <= 60:
                axis.annotate(
                    name,
                    (x, max(height, 0.0)),
                    xytext=(0, 3),
                    textcoords="offset points",
                    rotation=90,
                    fontsize=6,
                    ha="center",
                )
    axis.set_xticks(np.arange(count), comparison.contacts, fontsize=8)
    axis.set_ylabel("force [N]", fontsize=9)
    axis.margins(y=0.25)
    axis.set_title("force on B by contact: normal (pale) and tangential (dark)", fontsize=9)
    axis.spines[["top", "right"]].set_visible(False)


def _write_page(path: Path, comparison: Comparison, svg: str) -> None:
    heads, rows = comparison.table()
    force_heads, force_rows = comparison.force_table()
    start = "the impulses of the step before" if comparison.warm else "zero impulses"
    section = Experiment(
        name="comparison",
        title=f"{comparison.scene} at {comparison.time:g} s",
        setup=f"The contact problem of one step of {comparison.dt * 1e3:g} ms, "
        f"{comparison.problem.num_rows} rows, solved by each solver from {start}. The certificate "
        "judges all by the nonlinear complementarity problem, whatever model they solve.",
        tables=[
            Table("solvers", heads, rows),
            Table("force by contact: normal / tangential [N]", force_heads, force_rows),
        ],
        figures=[("time, certificate, next velocity and forces", svg)],
    )
    facts = {"processor": platform.processor() or platform.machine()}
    write_page(path, "One contact problem, many solvers", "", section, facts)
