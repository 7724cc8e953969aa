"""The solvers of the registry with the colours of all figures: one hue per contact model."""

from __future__ import annotations

from stiction import _stiction
from stiction.pages.palette import MODELS, OURS

COLORS = {
    "ncp-newton": OURS,
    "ncp-pgs": MODELS["NCP"],
    "ncp-admm": "#3d97cf",
    "ncp-staggered": "#8cc4e8",
    "ccp-pgs": MODELS["CCP"],
    "ccp-admm": "#e88a3c",
    "ccp-newton": "#f3b67e",
    "lcp-pgs": MODELS["LCP"],
    "lcp-lemke": "#4dbb9d",
    "lcp-qp": "#80cfb9",
    "lcp-staggered": "#9bd8c6",
    "raisim": MODELS["RaiSim"],
}
"""Shades of the colours of `pages.palette`."""
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
