"""One colour per contact model in all pictures: those of Okabe and Ito, which the colour-blind tell
apart. Solvers of one model have shades of its colour and differ by their dashes."""

from __future__ import annotations

MODELS = {"NCP": "#0072b2", "CCP": "#d55e00", "LCP": "#009e73", "RaiSim": "#cc79a7"}
"""Contact model -> colour."""
OURS = "#000000"
"""Of ncp-newton, and of the integrator `exponential`."""
EXACT = "#999999"
"""Of what is known in closed form."""
