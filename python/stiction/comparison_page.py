"""A Comparison drawn: one figure, or one HTML page with its tables."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import numpy as np

from .comparison import Comparison
from .pages.experiment import Experiment, Table
from .pages.palette import MODELS
from .pages.plots import WIDTH, require_matplotlib, svg_text
from .pages.report import write_page

MOST_CONTACTS = 4
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
    """By solver: bars of time, residuals and difference; the forces of a few contacts."""
    from matplotlib.figure import Figure

    results, shown = comparison.results, _shown_contacts(comparison)
    height = 1.6 + 0.19 * len(results)
    figure = Figure(figsize=(WIDTH, (2 if shown else 1) * height + 0.7), layout="constrained")
    rows = figure.add_gridspec(2 if shown else 1, 1)
    bars = {
        "time of the solve [µs]": ({name: r.microseconds for name, r in results.items()}, "linear"),
        "residual of the NCP": (
            {name: max(r.residuals.relative, FLOOR) for name, r in results.items()},
            "log",
        ),
        f"next velocity, from {comparison.best}": (
            {name: max(comparison.difference(name), FLOOR) for name in results},
            "log",
        ),
    }
    top = rows[0].subgridspec(1, 3)
    for k, (title, (values, scale)) in enumerate(bars.items()):
        axis = figure.add_subplot(top[k])
        colors = [MODELS[comparison[name].model] for name in values]
        axis.barh(np.arange(len(values)), list(values.values()), color=colors)
        axis.set_xscale(scale)
        _finish(axis, title, list(results) if k == 0 else [])
    if shown:
        below = rows[1].subgridspec(1, len(shown))
        for k, contact in enumerate(shown):
            _forces(figure.add_subplot(below[k]), comparison, contact, first=k == 0)
    handles = [_patch(color, model) for model, color in MODELS.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    return figure


def _patch(color: str, label: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(color=color, label=label)


def _shown_contacts(comparison: Comparison) -> list[int]:
    """Those of the largest normal forces, in their order."""
    normal = comparison.results[comparison.best].forces[:, 2]
    return sorted(int(k) for k in np.argsort(-normal)[:MOST_CONTACTS])


def _finish(axis: Any, title: str, names: list[str]) -> None:
    axis.set_yticks(np.arange(len(names)), names, fontsize=9)
    axis.tick_params(axis="x", labelsize=8)
    axis.invert_yaxis()
    axis.set_title(title, fontsize=9)
    axis.grid(axis="x", alpha=0.25)
    axis.spines[["top", "right"]].set_visible(False)


def _forces(axis: Any, comparison: Comparison, contact: int, first: bool) -> None:
    """Normal force as a dot, tangential one as a ring, solver by solver."""
    for y, result in enumerate(comparison.results.values()):
        color, force = MODELS[result.model], result.forces[contact]
        axis.plot([force[2]], [y], "o", color=color, markersize=5)
        axis.plot([np.hypot(*force[:2])], [y], "o", color=color, markersize=5, fillstyle="none")
    axis.set_xlim(left=0.0)
    axis.set_ylim(-0.5, len(comparison) - 0.5)
    axis.set_xlabel("normal ●, tangential ○ [N]", fontsize=8)
    pair = comparison.contacts[contact].replace(" – ", "\n").replace(" - ", "\n")
    _finish(axis, pair, list(comparison.results) if first else [])
    if not first:
        axis.set_yticks(np.arange(len(comparison)), [])


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
