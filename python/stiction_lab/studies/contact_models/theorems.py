"""Which solver comes with a proof that it converges to a solution of its model."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Theorem:
    """A proof of convergence from any start, or why there is none."""

    global_: bool
    text: str


_NONE_WITH_FRICTION = (
    "none with friction: Gauss-Seidel is proved for symmetric positive semidefinite problems "
    "(Cottle, Pang, Stone, The Linear Complementarity Problem, section 5.3), and bounds "
    "mu lambda_N that move with the solution make this one neither"
)
CONVERGENCE = {
    "ncp-newton": Theorem(
        False,
        "none from any start; locally quadratic at a regular solution (Qi, Sun, A nonsmooth "
        "version of Newton's method, Mathematical Programming 58, 1993, theorem 3.2)",
    ),
    "ncp-pgs": Theorem(False, _NONE_WITH_FRICTION),
    "ncp-admm": Theorem(
        False, "none: the de Saxcé term is frozen in each iteration, a fixed point may not attract"
    ),
    "ncp-admm-published": Theorem(
        False, "none: as ncp-admm; that the penalty may change for ever is no help"
    ),
    "ncp-staggered": Theorem(
        False, "none: a fixed point of the alternation may not attract (Kaufman et al. 2008)"
    ),
    "ccp-pgs": Theorem(
        True,
        "Anitescu, Tasora, An iterative approach for cone complementarity problems for nonsmooth "
        "dynamics, Computational Optimization and Applications 47, 2010, for steps as small as "
        "ours; the step that the paper prints may overshoot",
    ),
    "ccp-admm": Theorem(
        True,
        "Eckstein, Bertsekas, On the Douglas-Rachford splitting method, Mathematical Programming "
        "55, 1992, theorem 8, once the penalty no longer changes",
    ),
    "ccp-admm-published": Theorem(
        True, "the same, once the penalty no longer changes, which nothing ensures"
    ),
    "ccp-newton": Theorem(
        True,
        "Castro, Permenter, Han, An unconstrained convex formulation of compliant contact, IEEE "
        "Transactions on Robotics, 2022: strongly convex, Newton with a line search",
    ),
    "lcp-pgs": Theorem(False, _NONE_WITH_FRICTION),
    "lcp-lemke": Theorem(
        True,
        "Anitescu, Potra, Nonlinear Dynamics 14, 1997: Lemke's method ends at a solution, in exact "
        "arithmetic, where a motion explains g",
    ),
    "lcp-qp": Theorem(
        False, "none: the program is not convex, a stationary point may be no solution"
    ),
    "lcp-staggered": Theorem(
        False, "none: a fixed point of the alternation may not attract (Kaufman et al. 2008)"
    ),
    "raisim": Theorem(False, "none: whether a contact opens, sticks or slides is guessed"),
}
