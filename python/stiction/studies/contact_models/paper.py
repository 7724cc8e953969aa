"""What the paper on contact models says."""

from __future__ import annotations

CITATION = (
    "Q. Le Lidec, W. Jallet, L. Montaut, I. Laptev, C. Schmid, J. Carpentier: Contact Models in "
    "Robotics: a Comparative Analysis. IEEE Transactions on Robotics, 2024."
)
PROPERTIES = (
    "Signorini",
    "Coulomb",
    "MDP",
    "No shift",
    "No internal forces",
    "Robust",
    "Convergence guarantees",
)
"""Columns of Table II."""
TABLE_2 = {
    "lcp-pgs": "1001001",
    "lcp-staggered": "1001110",
    "ccp-pgs": "0111001",
    "ccp-newton": "0110111",
    "ccp-admm": "0111111",
    "raisim": "1101000",
    "ncp-pgs": "1111001",
    "ncp-staggered": "1111110",
}
"""Solver -> ticks in the order of PROPERTIES. ccp-newton is the row "MuJoCo". The tick under
convergence guarantees of ncp-pgs contradicts the paper's text (section III-D: "such approaches have
fewer convergence guarantees than their relaxed counterpart")."""
