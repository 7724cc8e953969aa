"""Curves of every solver side by side, in the colours of `solvers.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stiction.pages.palette import EXACT
from stiction.pages.plots import add_legend, finish_curves, make_panels, svg_text

from .solvers import COLORS, DASHES, Dash, model_of

POINTS = 400
"""Most points drawn of a curve; a longer one is thinned evenly."""


NOISE = 1e-9
"""Residuals below this are drawn at it: they differ by rounding."""


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
    panels: Sequence[Panel],
    extra_colors: Mapping[str, str] | None = None,
    marker: str = "",
    legends: bool = False,
) -> str:
    """All panels, two in a row, as SVG text. Solvers of one model that coincide in all of them are
    one curve. One legend, or one in each panel."""
    figure, axes = make_panels(len(panels))
    groups = coinciding(panels)
    labels: dict[str, Any] = {}
    for panel, axis in zip(panels, axes, strict=True):
        for name in (n for n in panel.curves if n in groups):
            color = (extra_colors or {}).get(name) or COLORS.get(name, EXACT)
            line = _plot(axis, panel, name, color, marker)
            line.set_label(_label(groups[name]))
            labels.setdefault(_label(groups[name]), line)
        finish_curves(axis, panel.title, panel.xlabel, panel.ylabel, panel.log, panel.limits)
        if legends:
            axis.legend(fontsize=8.5, framealpha=0.85, edgecolor="none")
    if not legends:
        add_legend(figure, list(labels.values()), list(labels))
    return svg_text(figure)


def _plot(axis: Any, panel: Panel, name: str, color: str, marker: str) -> Any:
    x, y = panel.curves[name]
    step = max(1, -(-len(x) // POINTS))
    exact = name in WIDE
    lines = axis.plot(
        np.asarray(x)[::step],
        _shown(panel, y)[::step],
        color=color,
        linestyle="-" if exact else DASHES.get(name, panel.dash),
        linewidth=4.0 if exact else 1.6,
        alpha=0.5 if exact else 1.0,
        zorder=1 if exact else 3 if name == "ncp-newton" else 2,
        marker="" if exact else panel.marker or marker,
        markersize=3,
    )
    return lines[0]


def _shown(panel: Panel, y: NDArray[Any]) -> NDArray[np.float64]:
    values = np.asarray(y, dtype=float)
    return np.maximum(values, panel.floor) if "y" in panel.log else values


def coinciding(panels: Sequence[Panel]) -> dict[str, list[str]]:
    """Name of a curve that is drawn -> all those that it stands for, itself first."""
    groups: dict[str, list[str]] = {}
    for name in dict.fromkeys(n for panel in panels for n in panel.curves):
        for first in groups:
            alike = model_of(first) == model_of(name) and {first, name} <= set(COLORS)
            if alike and OURS not in (first, name) and _same(panels, first, name):
                groups[first].append(name)
                break
        else:
            groups[name] = [name]
    return groups


OURS = "ncp-newton"
WIDE = ("analytic", "exact", "analytic, 4 facets", "mean force / k", "mean shear force / k")
"""Curves in closed form: broad and pale below the others."""
APART = 0.01
"""Curves closer than this share of the axis are one."""


def _same(panels: Sequence[Panel], one: str, other: str) -> bool:
    for panel in panels:
        if (one in panel.curves) != (other in panel.curves):
            return False
        if one not in panel.curves:
            continue
        (x, y), (u, v) = panel.curves[one], panel.curves[other]
        if len(x) != len(u) or not np.array_equal(x, u):
            return False
        values = [_shown(panel, w) for w in (y, v)]
        everything = np.concatenate([_shown(panel, c[1]).ravel() for c in panel.curves.values()])
        if "y" in panel.log:
            values, everything = [np.log(w) for w in values], np.log(everything)
        finite = everything[np.isfinite(everything)]
        if len(finite) and np.nanmax(np.abs(values[0] - values[1])) > APART * np.ptp(finite):
            return False
    return True


def _label(names: list[str]) -> str:
    """All of a model's solvers by the model's name."""
    model = model_of(names[0])
    if len(names) > 1 and len(names) == sum(model_of(n) == model and n != OURS for n in COLORS):
        return f"all {model} solvers" + (f" but {OURS}" if model == "NCP" else "")
    return ", ".join(names)
