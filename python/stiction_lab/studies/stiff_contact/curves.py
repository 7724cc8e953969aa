"""Errors over steps or times, every method in its colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from stiction.pages.plots import add_legend, finish_curves, make_panels, svg_text


@dataclass
class Panel:
    """One set of axes.

    Attributes:
        curves: label -> (x, y); points that are not finite end a curve.
        log: axes with a logarithmic scale, of "x", "y", "xy".
        limits: of the y axis.
    """

    title: str
    xlabel: str
    ylabel: str
    curves: dict[str, tuple[ArrayLike, ArrayLike]] = field(default_factory=dict)
    log: str = "xy"
    limits: tuple[float, float] | None = None


def draw(panels: Sequence[Panel], colors: Mapping[str, str], dashed: Sequence[str] = ()) -> str:
    """All panels in one row, one legend, as SVG text.

    Args:
        colors: label -> colour.
        dashed: labels of dashed lines without markers.
    """
    figure, axes = make_panels(len(panels))
    labels: dict[str, Any] = {}
    for panel, axis in zip(panels, axes, strict=True):
        for name, (x, y) in panel.curves.items():
            values = np.asarray(y, dtype=float)
            values = np.where(np.isfinite(values), values, np.nan)
            few = len(values) <= 40 and name not in dashed
            (line,) = axis.plot(
                np.asarray(x, dtype=float),
                values,
                color=colors.get(name, "#888888"),
                linestyle="--" if name in dashed else "-",
                linewidth=1.2,
                marker="o" if few else "",
                markersize=3,
            )
            labels.setdefault(name, line)
        finish_curves(axis, panel.title, panel.xlabel, panel.ylabel, panel.log, panel.limits)
    add_legend(figure, list(labels.values()), list(labels))
    return svg_text(figure)
