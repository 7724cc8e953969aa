"""The solvers of the registry with the colours of all figures: one hue per contact model."""

from __future__ import annotations

from stiction import _stiction

COLORS = {
    "ncp-newton": "#000000",
    "ncp-pgs": "#1b6ca8",
    "ncp-admm": "#3f8fd0",
    "ncp-staggered": "#7fb2d9",
    "ccp-pgs": "#b3361b",
    "ccp-admm": "#e0682b",
    "ccp-newton": "#f0a45d",
    "lcp-pgs": "#1f7a3d",
    "lcp-lemke": "#4caf6a",
    "lcp-qp": "#8bcf9c",
    "lcp-staggered": "#b9d26b",
    "raisim": "#8e4fa8",
}
"""NCP blue and our own black, CCP red to orange, LCP green, RaiSim purple."""
Dash = str | tuple[float, tuple[float, float]]
DASHES: dict[str, Dash] = {
    "ncp-newton": (0.0, (5.0, 3.0)),
    "ncp-pgs": "-",
    "ncp-admm": "--",
    "ncp-staggered": ":",
    "ccp-pgs": "-",
    "ccp-admm": "--",
    "ccp-newton": ":",
    "lcp-pgs": "-",
    "lcp-lemke": "--",
    "lcp-qp": "-.",
    "lcp-staggered": ":",
    "raisim": "-",
}
"""Solvers of one model mostly coincide; their lines differ, and ours has gaps because it is drawn
last."""
NAMES = tuple(COLORS)
"""Every solver of the registry in the order of tables and legends: ours, NCP, CCP, LCP, RaiSim."""


def model_of(name: str) -> str:
    """NCP, CCP, LCP or RaiSim."""
    return {"raisim": "RaiSim"}.get(name, name.split("-")[0].upper())


PUBLISHED = ("ccp-admm-published", "ncp-admm-published", "ncp-pgs-published", "raisim-published")
"""As printed, where ours differ; `tools/solver_baselines.py` puts them beside ours."""


def missing() -> set[str]:
    """Solvers of the registry that the study does not know, or the reverse."""
    return set(_stiction.solvers()) ^ {*NAMES, *PUBLISHED}
