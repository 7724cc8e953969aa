"""What the paper on contact models says."""

from __future__ import annotations

CITATION = (
    "Q. Le Lidec, W. Jallet, L. Montaut, I. Laptev, C. Schmid, J. Carpentier: Contact Models in "
    "Robotics: a Comparative Analysis. IEEE Transactions on Robotics, 2024; numbers and figures as "
    "in the preprint HAL hal-04067291v1."
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
    "ccp-admm-published": "0111111",
    "raisim": "1101000",
    "ncp-pgs": "1111001",
    "ncp-staggered": "1111110",
}
"""Solver -> ticks in the order of PROPERTIES. ccp-newton is the row "MuJoCo". The tick under
convergence guarantees of ncp-pgs contradicts the paper's text (section III-D: "such approaches have
fewer convergence guarantees than their relaxed counterpart")."""
TABLE_3 = {
    "ccp-pgs": (1.6e-3, 1.7e-2, 1.6e-1),
    "raisim": (1.5e-3, 1.6e-2, 1.5e-1),
    "ncp-pgs": (1.5e-3, 1.6e-2, 1.6e-1),
}
"""Solver -> integral consistency error at 1, 10 and 100 ms [m s]."""
TABLE_4 = {
    "ccp-pgs": (6.7e-7, 4.3e-5, 4.8e-2),
    "raisim": (9.0e-8, 4.8e-5, 7.0e-4),
    "ncp-pgs": (6.0e-10, 9.9e-8, 5.3e-6),
}
"""Solver -> integral consistency error at tolerances 1e-6, 1e-4 and 1e-2 [m s]."""
