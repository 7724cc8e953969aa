"""Curves of every solver side by side, in the colours of `solvers.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stiction.pages.plots import add_legend, finish_curves, make_panels, svg_text

from .solvers import COLORS, DASHES, Dash

POINTS = 400
"""Most points drawn of a curve; a longer one is thinned evenly."""


@dataclass
class Panel:
    """One set of axes.

    Attributes:
        curves: solver, or any label of `extra_colors` -> (x, y). y may be (T, k): k lines.
        log: axes with a logarithmic scale, of "x", "y", "xy".
        limits: of the y axis.
        floor: least value shown on a logarithmic y axis; less is drawn there.
        marker: of matplotlib, at every point; "": that of the figure.
        dash: of curves that are not a solver's.
    """

    title: str
    xlabel: str
    ylabel: str
    curves: dict[str, tuple[NDArray[Any], NDArray[Any]]] = field(default_factory=dict)
    log: str = ""
    limits: tuple[float, float] | None = None
    floor: float = 1e-18
    marker: str = ""
    dash: Dash = ":"


def draw(
    panels: Sequence[Panel], extra_colors: Mapping[str, str] | None = None, marker: str = ""
) -> str:
    """All panels in one row, one legend, as SVG text."""
    figure, axes = make_panels(len(panels))
    seen: set[str] = set()
    for panel, axis in zip(panels, axes, strict=True):
        for name, (x, y) in panel.curves.items():
            step = max(1, -(-len(x) // POINTS))
            values = np.asarray(y, dtype=float)[::step]
            if "y" in panel.log:
                values = np.maximum(values, panel.floor)
            ours = name == "ncp-newton"
            color = (extra_colors or {}).get(name) or COLORS.get(name, "#888888")
            lines = axis.plot(
                np.asarray(x)[::step],
                values,
                color=color,
                linestyle=DASHES.get(name, panel.dash),
                linewidth=1.6 if ours else 1.1,
                zorder=3 if ours else 2,
                marker=panel.marker or marker,
                markersize=3,
            )
            if name not in seen:
                lines[0].set_label(name)
                seen.add(name)
        finish_curves(axis, panel.title, panel.xlabel, panel.ylabel, panel.log, panel.limits)
    handles = [h for axis in axes for h in axis.get_legend_handles_labels()[0]]
    names = [n for axis in axes for n in axis.get_legend_handles_labels()[1]]
    add_legend(figure, handles, names, columns=6)
    return svg_text(figure)
