"""Figures as SVG text. matplotlib is an optional extra, imported when a study runs."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .experiment import StudyError

COLORS = {
    "gjk": "#4c4c4c",
    "polyak": "#0072b2",
    "polyak-normalized": "#8cc4e8",
    "nesterov": "#e69f00",
    "nesterov-normalized": "#d55e00",
    "nesterov-reference": "#009e73",
    "polyak-reference": "#56b4e9",
    "nesterov-normalized-reference": "#cc79a7",
}
Samples = Mapping[str, Sequence[NDArray[Any]]]
"""Method -> one array of values per position on the x axis."""


def require_matplotlib() -> None:
    """Raise StudyError with the way out if it is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise StudyError("figures are drawn with matplotlib: pip install matplotlib") from error


def curves(
    panels: Mapping[str, Samples], ticks: Sequence[str], xlabel: str, ylabel: str, labels: Any
) -> str:
    """Mean and standard deviation over the x axis, one panel per title."""
    figure, axes = make_panels(len(panels))
    for axis, (title, samples) in zip(axes, panels.items(), strict=True):
        x = np.arange(len(ticks))
        for method, values in samples.items():
            mean = np.array([np.mean(v) for v in values])
            deviation = np.array([np.std(v) for v in values])
            color = COLORS[method]
            axis.plot(x, mean, marker="o", markersize=3, color=color, label=labels[method])
            axis.fill_between(
                x, mean - deviation, mean + deviation, color=color, alpha=0.12, linewidth=0
            )
        _finish(axis, title, ticks, xlabel, ylabel)
    add_legend(figure, *axes[0].get_legend_handles_labels())
    return svg_text(figure)


def boxes(
    panels: Mapping[str, Samples],
    ticks: Sequence[str],
    xlabel: str,
    ylabel: str,
    labels: Any,
    line: float | None = None,
    top: float | None = None,
) -> str:
    """Box plots (median, quartiles, 5th and 95th percentile) side by side at every tick."""
    figure, axes = make_panels(len(panels))
    for axis, (title, samples) in zip(axes, panels.items(), strict=True):
        width = 0.8 / len(samples)
        for k, (method, values) in enumerate(samples.items()):
            at = np.arange(len(ticks)) + (k - 0.5 * (len(samples) - 1)) * width
            drawn = axis.boxplot(
                [np.asarray(v) if len(v) else np.array([np.nan]) for v in values],
                positions=at,
                widths=0.85 * width,
                whis=(5, 95),
                showfliers=False,
                patch_artist=True,
                manage_ticks=False,
                medianprops={"color": "white", "linewidth": 1.2},
            )
            for box in drawn["boxes"]:
                box.set(facecolor=COLORS[method], edgecolor=COLORS[method])
            axis.plot([], [], color=COLORS[method], linewidth=5, label=labels[method])
        if line is not None:
            axis.axhline(line, color="black", linewidth=0.8, linestyle=":")
        _finish(axis, title, ticks, xlabel, ylabel)
        if top is not None:
            axis.set_ylim(0.0, top)
    add_legend(figure, *axes[0].get_legend_handles_labels())
    return svg_text(figure)


def intervals(panels: Mapping[str, Mapping[str, tuple[float, float, float]]], columns: int) -> str:
    """A value with its interval (value, low, high) for every name, one panel per title."""
    from matplotlib.figure import Figure

    rows = -(-len(panels) // columns)
    names = list(next(iter(panels.values())))
    size = (WIDTH, rows * (0.9 + 0.2 * len(names)))
    figure = Figure(figsize=size, layout="constrained")
    for k, (title, values) in enumerate(panels.items()):
        axis = figure.add_subplot(rows, columns, k + 1)
        for y, name in enumerate(names):
            value, low, high = values[name]
            axis.plot([low, high], [y, y], color=COLORS["polyak-normalized"], linewidth=3)
            axis.plot([value], [y], "o", color=COLORS["polyak"], markersize=4)
        axis.set_yticks(range(len(names)), names if k % columns == 0 else [], fontsize=9)
        axis.invert_yaxis()
        axis.set_title(title, fontsize=10)
        axis.set_xlim(left=0.0)
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(axis="x", alpha=0.25)
    return svg_text(figure)


WIDTH = 7.3
"""Of figures [inch]: 700 px, what a page of the manual gives them: texts keep their size."""


def make_panels(count: int) -> tuple[Any, list[Any]]:
    """A figure with so many axes, two in a row."""
    from matplotlib.figure import Figure

    columns, rows = min(count, 2), -(-count // 2)
    figure = Figure(figsize=(WIDTH, 3.0 * rows + 0.6), layout="constrained")
    return figure, [figure.add_subplot(rows, columns, k + 1) for k in range(count)]


def add_legend(figure: Any, handles: Any, names: Any, columns: int = 3) -> None:
    """Below the panels, where it hides nothing."""
    figure.legend(
        handles, names, loc="outside lower center", ncols=columns, frameon=False, fontsize=9
    )


def finish_curves(
    axis: Any,
    title: str,
    xlabel: str,
    ylabel: str,
    log: str,
    limits: tuple[float, float] | None,
) -> None:
    """Scales, texts and grid of axes with curves; log: of "x", "y", "xy"; limits of the y axis."""
    if "x" in log:
        axis.set_xscale("log")
    if "y" in log:
        axis.set_yscale("log")
    if limits is not None:
        axis.set_ylim(*limits)
    axis.set_title(title, fontsize=10)
    axis.set_xlabel(xlabel, fontsize=9)
    axis.set_ylabel(ylabel, fontsize=9)
    axis.tick_params(labelsize=9)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(alpha=0.25)


def _finish(axis: Any, title: str, ticks: Sequence[str], xlabel: str, ylabel: str) -> None:
    axis.set_title(title, fontsize=10)
    turned = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if len(ticks) > 6 else {}
    axis.set_xticks(np.arange(len(ticks)), ticks, fontsize=9, **turned)
    axis.set_xlabel(xlabel, fontsize=9)
    axis.set_ylabel(ylabel, fontsize=9)
    axis.set_ylim(bottom=0.0)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="y", alpha=0.25)


def svg_text(figure: Any) -> str:
    """The same bytes for the same numbers."""
    import matplotlib

    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "stiction", "font.family": "DejaVu Sans"}):
        figure.savefig(text, format="svg", metadata={"Date": None})
    return text.getvalue()
