"""Fig. 13: Solo-12 on a floor that gives way."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ... import loading
from ..._stiction import ContactProblem, ExternalWrench, Material
from ...simulator import Simulator
from ...solving import solve
from ..experiment import Claim, Effort, Experiment, Table, Tick
from . import cubes, problems, properties
from .lines import Panel, draw

Floats = NDArray[np.float64]

STIFFNESS = np.logspace(2.5, 6.5, 9)  # [N/m] of the floor
PULL = 4.0  # [N] at the base, sideways: well inside the friction of 0.9 times 24.5 N
DAMPING_RATIO = 1.0  # of a quarter of the robot on one foot
SETTLE = 5.0  # [s]
ALLOWED = 1e-3  # relative deviation from f / k that counts as linear
COMPLIANCE = np.logspace(-6.0, 0.0, 13)  # times the mean of diag(G)
TOLERANCE = 1e-10


@dataclass
class Standing:
    """Solo-12 at rest under its servos and the pull, on a floor of one stiffness.

    Attributes:
        force: (feet,) normal forces [N].
        penetration: (feet,) [m].
        speed: largest tangential speed of a foot [m/s].
        problem: that of the last step.
    """

    force: Floats
    penetration: Floats
    speed: float
    problem: ContactProblem


def stand(stiffness: float) -> Standing:
    """Settle on the floor; infinite: rigid."""
    scene = loading.load("solo12")
    mass = float(np.sum(scene.parameters.mass))
    damping = 2.0 * DAMPING_RATIO * np.sqrt(0.25 * mass * stiffness) if stiffness < np.inf else 0.0
    floor = Material(friction=0.9, stiffness=stiffness, damping=float(damping))
    for foot in ("FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"):
        scene.set_pair_material("ground", foot, floor)
    simulator = Simulator(scene, dt=cubes.DT, tolerance=TOLERANCE)
    state, control = simulator.initial_state(), simulator.hold()
    control.wrenches = [ExternalWrench(scene.body("base_link"), [0.0, PULL, 0.0])]
    simulator.run(state, control, round(SETTLE / cubes.DT))
    contacts = simulator.contacts()
    return Standing(
        force=np.array([c.impulse[2] for c in contacts]) / cubes.DT,
        penetration=np.array([-c.gap for c in contacts]),
        speed=max(float(np.linalg.norm(c.velocity[:2])) for c in contacts),
        problem=simulator.problem(),
    )


def with_compliance(problem: ContactProblem, normal: float, tangential: float) -> ContactProblem:
    """The same problem on contacts that yield by R times the impulse [m/s per N s]."""
    G = problem.dense() - np.diag(problem.R)
    R = np.tile([tangential, tangential, normal], len(G) // 3)
    return ContactProblem(G, problem.g, np.array([s.mu for s in problem.sets]), R=R)


def run(effort: Effort, tick: Tick) -> Experiment:
    """Stiffness of the floor, then compliance of one contact problem."""
    experiment = Experiment("fig13_compliance", "Figure 13: compliant contact", SETUP)
    every = 1 if effort.share >= 1.0 else 4
    stiffness = STIFFNESS[::every]
    standing = []
    for k, value in enumerate(stiffness):
        tick(f"{value:.0f} N/m", 0.8 * k / len(stiffness))
        standing.append(stand(float(value)))
        experiment.add_rows(
            quantity="stiffness",
            value=value,
            foot=np.arange(4),
            force=standing[-1].force,
            penetration=standing[-1].penetration,
            tangential_speed=standing[-1].speed,
        )
    tick("one problem", 0.8)
    rigid = stand(np.inf)
    sweep = _sweep(rigid.problem, COMPLIANCE[::every])
    internal = _internal(COMPLIANCE[::every])
    experiment.add_rows(
        quantity="compliance",
        value=COMPLIANCE[::every],
        foot=-1,
        force=sweep["force"],
        penetration=sweep["normal"],
        tangential_speed=sweep["tangential"],
    )
    experiment.tables += [_stiffness_table(stiffness, standing), _sweep_table(sweep, internal)]
    experiment.claims += _claims(stiffness, standing, sweep, internal)
    experiment.figures.append((CAPTION, _figure(stiffness, standing, sweep, internal)))
    return experiment


SETUP = (
    f"Solo-12 stands under its servos and is pulled sideways by {PULL:g} N. Left: the floor has a "
    "stiffness k [N/m] and the damping of a critically damped quarter of the robot, with dry "
    "friction on top. Centre: the contact problem of that posture on rigid ground, with a "
    "compliance R (times the mean of diag G) added to its normal or its tangential rows, as "
    "solvers do that regularise. Right: a cube that sticks on four contacts, where forces inside "
    "the contact patch are undetermined; Solo-12 with moving joints has none. A tangential spring "
    "with its extension kept from step to step is not implemented: friction is dry in the "
    "simulator, and the paper's tangential oscillations are not shown."
)
CAPTION = (
    "Fig. 13: penetration against the floor's stiffness, with f / k; velocity of the contacts "
    "against the compliance of their rows; share of internal forces against it"
)


def _sweep(problem: ContactProblem, compliance: Floats) -> dict[str, Floats]:
    """Largest velocities and mean normal force, R on normals and on tangents in turn."""
    unit = float(np.mean(np.diag(problem.dense())))
    rows: dict[str, list[float]] = {"normal": [], "tangential": [], "dry": [], "force": []}
    G = problem.dense() - np.diag(problem.R)
    for value in compliance:
        soft = solve(with_compliance(problem, value * unit, 0.0), tolerance=TOLERANCE)
        slack = solve(with_compliance(problem, 0.0, value * unit), tolerance=TOLERANCE)
        sinking = (G @ soft.impulse + problem.g).reshape(-1, 3)
        creeping = (G @ slack.impulse + problem.g).reshape(-1, 3)
        rows["normal"].append(float(np.abs(sinking[:, 2]).max()))
        rows["dry"].append(float(np.linalg.norm(sinking[:, :2], axis=1).max()))
        rows["tangential"].append(float(np.linalg.norm(creeping[:, :2], axis=1).max()))
        rows["force"].append(float(soft.impulse[2::3].mean()) / cubes.DT)
    return {"compliance": compliance} | {name: np.array(values) for name, values in rows.items()}


def _internal(compliance: Floats) -> Floats:
    """Share of internal impulses in the answer of projected Gauss-Seidel, by R on all rows."""
    problem = problems.stiction_problem()
    unit = float(np.mean(np.diag(problem.dense())))
    shares = []
    for value in compliance:
        soft = with_compliance(problem, value * unit, value * unit)
        found = solve(soft, "ncp-pgs", tolerance=TOLERANCE, max_iterations=100_000)
        shares.append(properties.internal_share(problem, found.impulse))
    return np.array(shares)


def _stiffness_table(stiffness: Floats, standing: list[Standing]) -> Table:
    columns = ["k [N/m]", "normal forces [N]", "penetration [mm]", "k penetration / force"]
    table = Table("Floor of stiffness k", [*columns, "tangential speed [m/s]"])
    for k, s in zip(stiffness, standing, strict=True):
        ratio = k * s.penetration / s.force
        table.rows.append(
            [
                f"{k:.3g}",
                ", ".join(f"{f:.2f}" for f in s.force),
                ", ".join(f"{1e3 * p:.4f}" for p in s.penetration),
                f"{ratio.min():.5f} to {ratio.max():.5f}",
                f"{s.speed:.1e}",
            ]
        )
    return table


def _sweep_table(sweep: dict[str, Floats], internal: Floats) -> Table:
    columns = ["R / mean diag G", "c_N, normal R [m/s]", "c_T, normal R", "c_T, tangential R"]
    table = Table("One problem, compliance R", [*columns, "internal share, cube"])
    names = ("compliance", "normal", "dry", "tangential")
    for k, share in enumerate(internal):
        table.rows.append([f"{sweep[name][k]:.1e}" for name in names] + [f"{share:.1e}"])
    return table


def _claims(
    stiffness: Floats, standing: list[Standing], sweep: dict[str, Floats], internal: Floats
) -> list[Claim]:
    ratio = np.concatenate(
        [k * s.penetration / s.force for k, s in zip(stiffness, standing, strict=True)]
    )
    small = sweep["compliance"] <= 1e-3
    slope = sweep["tangential"][small] / sweep["compliance"][small]
    return [
        Claim(
            "normal forces vary linearly with the compliance",
            f"k penetration / force from {ratio.min():.5f} to {ratio.max():.5f}, all k, all feet",
            bool(np.abs(ratio - 1.0).max() <= ALLOWED),
        ),
        Claim(
            "tangential compliance makes dry friction vanish: velocity instead of sticking",
            f"c_T / R constant within {slope.max() / slope.min() - 1.0:.1%} for small R; with "
            f"normal compliance alone feet stick, c_T at most {sweep['dry'].max():.0e} m/s",
            bool(slope.max() < 1.2 * slope.min() and sweep["dry"].max() < 1e-6 * PULL),
        ),
        Claim(
            "compliance removes spurious internal forces",
            f"share of them in Gauss-Seidel's answer {internal[0]:.1e} at the smallest R, "
            f"{internal[-1]:.1e} at the largest",
            bool(internal[-1] < 0.1 * internal[0]),
        ),
    ]


def _figure(
    stiffness: Floats, standing: list[Standing], sweep: dict[str, Floats], internal: Floats
) -> str:
    left = Panel("floor of stiffness k", "k [N/m]", "penetration [m]", log="xy")
    left.curves["mean force / k"] = (
        stiffness,
        np.array([s.force.mean() for s in standing]) / stiffness,
    )
    left.curves["mean penetration"] = stiffness, np.array([s.penetration.mean() for s in standing])
    centre = Panel("compliance of one problem", "R / mean diag G", "[m/s]", log="xy", floor=1e-12)
    centre.curves["normal velocity, normal R"] = sweep["compliance"], sweep["normal"]
    centre.curves["tangential velocity, tangential R"] = sweep["compliance"], sweep["tangential"]
    centre.curves["tangential velocity, normal R"] = sweep["compliance"], sweep["dry"]
    right = Panel("sticking cube", "R / mean diag G", "share of internal forces", log="xy")
    right.floor = 1e-12
    right.curves["internal share, Gauss-Seidel"] = sweep["compliance"], internal
    return draw([left, centre, right], COLORS, marker="o")


COLORS = {
    "mean penetration": "#1b6ca8",
    "mean force / k": "#bbbbbb",
    "normal velocity, normal R": "#1b6ca8",
    "tangential velocity, tangential R": "#b3361b",
    "tangential velocity, normal R": "#1f7a3d",
    "internal share, Gauss-Seidel": "#000000",
}
