"""Keyword settings. Written by tools/settings_page.py: do not edit."""

from __future__ import annotations

from typing import TypedDict

from numpy.typing import ArrayLike


class OtherOptions(TypedDict, total=False):
    """Keyword settings of `solve`; each names the solvers that read it.

    tolerance_large: > 0 and finite. The same of islands of more than 300 rows on several trees
        that the last impulses do not solve: piles in motion, robots in them. No more than
        `tolerance`: that of all. Read by ncp-newton. Default 0.001.
    max_factorisations: >= 0, 0: by formula. Linear systems factored for an island, at most; 0: by
        a formula of its rows. Read by ncp-newton. Default 0 in a Simulator, 2000 in solve.
    max_work: [multiplications] >= 0, 0: by formula, inf: no bound. Of a step, or of a solve, at
        most: all islands and solutions together; 0: by a formula of its rows. Read by ncp-newton.
        Default 0 in a Simulator, inf in solve.
    time_budget: [s] >= 0. Of a step, or of a solve: nothing but the safe answer begins later; 0:
        no budget. Results then depend on the machine. Read by ncp-newton. Default 0.
    over_relaxation: in (0, 2), or 0: the solver's. Factor of each correction; the solver's is 1.4
        of ccp-admm, of ncp-admm after 16 iterations, else 1. Read by *-pgs, *-admm, *-staggered,
        ncp-pgs-published, *-admm-published. Default 0.
    facets: 4, 8 or 16. Of the friction pyramid. Read by lcp-*. Default 4.
    proximal: > 0 and finite. Proximal term eta / mean diag(G); as published eta [1/kg]. Read by
        *-admm, *-admm-published, *-staggered, lcp-lemke, lcp-qp. Default 1e-06.
    raisim_alpha_min: in (0, 1]. The relaxation falls from 1 to it. Read by raisim,
        raisim-published. Default 0.1.
    raisim_gamma: in [0, 1]. It falls by this factor of what is left in each sweep. Read by raisim,
        raisim-published. Default 0.99.
    raisim_bisection_tolerance: [N s] > 0 and finite. The bisection ends where the impulses of its
        ends differ by less. Read by raisim-published. Default 1e-06.
    regularisation: "contact-norm", "diagonal", or for solve the (n,) rows > 0. What is added to
        diag(G). Read by ccp-newton. Default "contact-norm".
    regularisation_weight: > 0 and finite. Factor of the rule of regularisation. Read by
        ccp-newton. Default 1.
    regularise_infeasible: Answer an infeasible problem with the compliant one, status
        "regularised". Read by ncp-newton. Default True in a Simulator, False in solve.
    """

    tolerance_large: float
    max_factorisations: int
    max_work: float
    time_budget: float
    over_relaxation: float
    facets: int
    proximal: float
    raisim_alpha_min: float
    raisim_gamma: float
    raisim_bisection_tolerance: float
    regularisation: str | ArrayLike
    regularisation_weight: float
    regularise_infeasible: bool


class SolverOptions(OtherOptions, total=False):
    """Keyword settings of the solvers, OtherOptions among them.

    tolerance: > 0 and finite. On the relative residual of the solver's own model, of each island.
        Default 1e-08.
    max_iterations: >= 1. Of an island, at most: sweeps, or steps of the algorithm. Default 1000.
    """

    tolerance: float
    max_iterations: int


class SettingNames(SolverOptions, total=False):
    """Keyword settings of a Simulator, those of SolverOptions among them; each names the
    integrators that read it, all if none is named.

    solver: a name of `solvers()`. Default "ncp-newton".
    integrator: a name of `integrators()`. Default "semi-implicit-euler", rigid contacts; the others
        read the stiffness of materials.
    dt: [s] > 0. Time step. Default 0.001.
    impact_law: "newton-dissipative" or "newton". Of impacts with restitution: "newton-dissipative"
        is Newton's law with e reduced where it would add kinetic energy, "newton" takes e as it
        is. Read by semi-implicit-euler. Default "newton-dissipative".
    smoothing: [J] >= 0 and finite. Contacts on the central path at this energy, a smooth step that
        acts at a distance: with its derivatives, for searches (docs/concepts.md); 0: the NCP.
        Impacts follow Newton's law, corrections are not capped together. Read by
        semi-implicit-euler. Default 0.
    mean_bias: Articulated trees without rows take Coriolis and gyroscopic forces at the mean
        velocity of the step; false: at that of its start, which feeds what turns fast with energy.
        Read by semi-implicit-euler. Default True.
    project_closures: Closed loops keep their energy: q and v end every step on the closures and
        gears, unless these are open by more than drift, and energy errors do not add up, at more
        than twice the time of a four-bar's step (docs/concepts.md). Default False.
    baumgarte: in [0, 1]. Share kappa of a penetration removed per step. Default 0.2.
    recovery_speed: [m/s] >= 0. No correction of a position error moves its row, a prismatic joint
        or a centre of mass faster; inf: no cap. Default 0.5.
    recovery_angular_speed: [rad/s] >= 0. Nor turns a joint or a body faster. Default 1.
    restitution_threshold: [m/s] a number. Approach speed above which restitution acts; < 0:
        max(0.01, 2 |gravity| dt). Read by semi-implicit-euler. Default -1.
    closure_gain: in [0, 1]. Share kappa_b of a closure's error removed per step; beyond the drift
        of motion no faster than the recovery speeds. Default 1.
    limit_margin: [rad or m] >= 0. Distance at which a joint limit becomes a row, at least. Default
        0.02.
    per_point_stiffness: Each point of a pair gets k, d instead of k / n, d / n. Default False.
    tangential_compliance: Points of pairs with a stiffness have a spring and damper in the tangent
        plane too, by the tangential ratios of their material; else dry friction. Read by
        semi-implicit-euler. Default False.
    margin: [m] >= 0. Contacts begin at this gap; farther away, up to dt x a bound on the approach
        speed of a pair, only if its motion at the velocities of the start comes that close.
        Default 0.001.
    points_per_pair: >= 0; 0 keeps all points. At most so many points of a pair, the deepest; 0:
        all. One point is what engines without manifolds have: nothing then holds a box against
        tipping. Default 0.
    sleeping: Islands at rest sleep until something happens to them. Read by semi-implicit-euler.
        Default False.
    sleep_speed: [m/s or rad/s] >= 0. A tree is at rest if no velocity of it is above. Read by
        semi-implicit-euler. Default 0.001.
    sleep_time: [s] > 0. An island whose trees have all rested so long falls asleep; inf: never.
        Read by semi-implicit-euler. Default 0.5.
    law: "continuous" or "published". Of a compliant point. Read by explicit-euler,
        exponential-published, implicit-euler, rk4, symplectic-euler. Default "continuous".
    substeps: >= 1. A step is so many equal ones; one report. Read by explicit-euler, exponential,
        exponential-published, implicit-euler, rk4, symplectic-euler. Default 1.
    newton_tolerance: > 0. Newton ends when the mass-weighted norm of its step, sqrt(dv^T M dv), is
        at most this times the norms of v, of its change in the step and of the change without
        contacts. Read by implicit-euler. Default 1e-10.
    newton_iterations: >= 1. Of a sub-step, at most. Read by implicit-euler. Default 30.
    newton_halvings: in [0, 20]. Where Newton fails, the sub-step is cut in two, so often one
        within the other; if that is not enough, the status says so. Read by implicit-euler.
        Default 6.
    accuracy: [m, rad, m/s, rad/s] >= 0 and finite, 0 for steps of fixed length. Largest error of a
        step; each sub-step is compared with two halves, at three times the cost, and cut in two
        until the difference says that its share is small enough. 0: no such comparison. Read by
        exponential. Default 0.
    max_products: -1 (full precision) or >= 0. Most matrix products of its exponential, 0 to 4 as
        in its paper; -1: full precision. Read by exponential-published. Default -1.
    balancing: Scale its matrix by powers of 2 first. Read by exponential-published. Default True.
    double_integral: q by the average of the average force, else by the average. Read by
        exponential-published. Default True.
    projection: "radial" or "euclidean". Of average forces on the cone: radial keeps the normal
        force, euclidean takes the nearest point. Read by exponential-published. Default "radial".
    """

    solver: str
    integrator: str
    dt: float
    impact_law: str
    smoothing: float
    mean_bias: bool
    project_closures: bool
    baumgarte: float
    recovery_speed: float
    recovery_angular_speed: float
    restitution_threshold: float
    closure_gain: float
    limit_margin: float
    per_point_stiffness: bool
    tangential_compliance: bool
    margin: float
    points_per_pair: int
    sleeping: bool
    sleep_speed: float
    sleep_time: float
    law: str
    substeps: int
    newton_tolerance: float
    newton_iterations: int
    newton_halvings: int
    accuracy: float
    max_products: int
    balancing: bool
    double_integral: bool
    projection: str
