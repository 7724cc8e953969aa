"""Figures of this study: one panel of 700 pixels, colours that the colour-blind tell apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stiction.pages.plots import svg_text

Floats = NDArray[np.float64]
COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
MARKERS = ("o", "s", "^", "D", "v", "P")


def quantiles(
    rows: Sequence[str],
    series: Mapping[str, Sequence[Floats]],
    xlabel: str,
    bar: tuple[float, str] | None = None,
    scale: str = "log",
) -> str:
    """Median and quartiles, a row a name, a colour and a marker a series."""
    figure, axis = panel(1.6 + 0.42 * len(rows))
    for k, (name, values) in enumerate(series.items()):
        at = np.arange(len(rows)) + 0.7 * ((k + 0.5) / len(series) - 0.5)
        found = np.array(
            [np.quantile(v, [0.25, 0.5, 0.75]) if len(v) else [np.nan] * 3 for v in values]
        )
        axis.hlines(at, found[:, 0], found[:, 2], color=COLORS[k], linewidth=2.5, alpha=0.6)
        axis.plot(found[:, 1], at, MARKERS[k], color=COLORS[k], markersize=6, label=name)
    if bar is not None:
        axis.axvline(bar[0], color="black", linewidth=0.9, linestyle=":", label=bar[1])
    axis.set_yticks(range(len(rows)), rows)
    axis.invert_yaxis()
    axis.set_xscale(scale)
    axis.set_xlabel(xlabel)
    finish(figure, axis)
    return svg_text(figure)


def panel(height: float) -> tuple[Any, Any]:
    """A figure of 7.2 inches and its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.2, height), layout="constrained")
    return figure, figure.add_subplot()


def finish(figure: Any, axis: Any, columns: int = 4) -> None:
    """Grid, and the legend below."""
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(axis="both", alpha=0.25)
    handles, names = axis.get_legend_handles_labels()
    if len(names) > 1:
        figure.legend(handles, names, loc="outside lower center", ncols=columns, frameon=False)
