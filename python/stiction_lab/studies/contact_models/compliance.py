"""Fig. 13: Solo-12 on a floor that gives way."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from stiction._stiction import ContactProblem
from stiction.pages.experiment import Claim, Effort, Experiment, Table, Tick
from stiction.solving import solve

from . import cubes, problems, properties
from .floor import PULL, TOLERANCE, Standing, Sway, stand, sway
from .lines import Panel, draw

Floats = NDArray[np.float64]

STIFFNESS = np.logspace(2.5, 6.5, 9)  # [N/m] of the floor
SOFT = 1e3  # [N/m] of the floor on which the robot sways
ALLOWED = 1e-3  # relative deviation from f / k that counts as linear
STILL = 1e-8  # [m/s] below it feet stick
COMPLIANCE = np.logspace(-6.0, 0.0, 13)  # times the mean of diag(G)


def with_compliance(problem: ContactProblem, normal: float, tangential: float) -> ContactProblem:
    """The same problem on contacts that yield by R times the impulse [m/s per N s]."""
    G = problem.dense() - np.diag(problem.R)
    R = np.tile([tangential, tangential, normal], len(G) // 3)
    return ContactProblem(G, problem.g, np.array([s.mu for s in problem.sets]), R=R)


def run(effort: Effort, tick: Tick) -> Experiment:
    """Stiffness of the floor, swaying on it, then compliance of one contact problem."""
    experiment = Experiment("fig13_compliance", "Figure 13: compliant contact", SETUP)
    every = 1 if effort.share >= 1.0 else 4
    stiffness = STIFFNESS[::every]
    dry, sprung = [], []
    for k, value in enumerate(stiffness):
        tick(f"{value:.0f} N/m", 0.7 * k / len(stiffness))
        dry.append(stand(float(value)))
        sprung.append(stand(float(value), tangential=True))
        _add_standing(experiment, "stiffness, dry friction", value, dry[-1])
        _add_standing(experiment, "stiffness, tangential springs", value, sprung[-1])
    tick("swaying", 0.7)
    sways = {
        UNDAMPED: sway(SOFT, True, tangential_damping_ratio=0.0),
        DAMPED: sway(SOFT, True),
        DRY: sway(SOFT, False),
    }
    for name, motion in sways.items():
        _add_rows(experiment, f"sway, {name}", motion.time, tangential_speed=motion.velocity)
    tick("one problem", 0.8)
    sweep = _sweep(stand(np.inf).problem, COMPLIANCE[::every])
    internal = _internal(COMPLIANCE[::every])
    _add_rows(
        experiment,
        "compliance",
        COMPLIANCE[::every],
        force=sweep["force"],
        penetration=sweep["normal"],
        tangential_speed=sweep["tangential"],
    )
    experiment.tables += [
        _stiffness_table(stiffness, dry, sprung),
        _sway_table(sways),
        _sweep_table(sweep, internal),
    ]
    experiment.claims += _claims(stiffness, dry, sprung, sways, sweep, internal)
    experiment.figures.append((CAPTION, _figure(stiffness, dry, sprung, sways, sweep, internal)))
    return experiment


UNDAMPED, DAMPED, DRY = "springs, no tangential damper", "springs and dampers", "dry friction"
SETUP = (
    f"Solo-12 stands under its servos and is pulled sideways by {PULL:g} N, on a floor of "
    "stiffness k [N/m] and the damping of a critically damped quarter of the robot, with dry "
    "friction or (tangential_compliance) the same springs in the floor's plane. First: at rest, "
    f"over k. Second: the feet when the pull begins, k = {SOFT:g} N/m. Third: the contact problem "
    "of that posture on rigid ground, with a compliance R (times the mean of diag G) added to its "
    "normal or its tangential rows, as solvers do that regularise. Fourth: a cube that sticks on "
    "four contacts, where forces inside the contact patch are undetermined; Solo-12 with moving "
    "joints has none. Springs remember their extension from step to step; R alone does not, and "
    "lets every contact creep."
)
CAPTION = (
    "Fig. 13: sinking and shear of the floor under the feet against its stiffness, with f / k; "
    "velocity of the feet when the pull begins; velocity of the contacts against the compliance "
    "of their rows; share of internal forces against it"
)
ABSENT = np.nan


def _add_rows(
    experiment: Experiment, quantity: str, value: Floats, foot: object = -1, **columns: Floats
) -> None:
    rest = ("force", "penetration", "tangential_force", "extension", "tangential_speed")
    experiment.add_rows(
        quantity=np.repeat(quantity, len(value)),
        value=value,
        foot=foot,
        **{name: columns.get(name, ABSENT) for name in rest},
    )


def _add_standing(experiment: Experiment, quantity: str, value: float, s: Standing) -> None:
    _add_rows(
        experiment,
        quantity,
        np.repeat(value, len(s.force)),
        foot=np.arange(len(s.force)),
        force=s.force,
        penetration=s.penetration,
        tangential_force=s.shear,
        extension=s.extension,
        tangential_speed=np.repeat(s.speed, len(s.force)),
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


def _ratios(stiffness: Floats, standing: list[Standing]) -> list[Floats]:
    return [k * s.penetration / s.force for k, s in zip(stiffness, standing, strict=True)]


def _shear_ratios(stiffness: Floats, standing: list[Standing]) -> list[Floats]:
    return [k * s.extension / s.shear for k, s in zip(stiffness, standing, strict=True)]


def _range(values: Floats) -> str:
    return f"{values.min():.5f} to {values.max():.5f}"


def _stiffness_table(stiffness: Floats, dry: list[Standing], sprung: list[Standing]) -> Table:
    table = Table(
        "Floor of stiffness k",
        [
            "k [N/m]",
            "normal forces [N]",
            "penetration [mm]",
            "k penetration / force",
            "tangential speed, dry [m/s]",
            "shear, springs [mm]",
            "k shear / force",
        ],
    )
    normal, tangential = _ratios(stiffness, dry), _shear_ratios(stiffness, sprung)
    for i, (k, d, s) in enumerate(zip(stiffness, dry, sprung, strict=True)):
        table.rows.append(
            [
                f"{k:.3g}",
                ", ".join(f"{f:.2f}" for f in d.force),
                ", ".join(f"{1e3 * p:.4f}" for p in d.penetration),
                _range(normal[i]),
                f"{d.speed:.1e}",
                ", ".join(f"{1e3 * e:.4f}" for e in s.extension),
                _range(tangential[i]),
            ]
        )
    return table


def _sway_table(sways: dict[str, Sway]) -> Table:
    table = Table(
        f"Feet when the pull begins, k = {SOFT:g} N/m",
        ["tangential contact", "fastest [m/s]", "times they turn back", "way after 1 s [mm]"],
    )
    for name, motion in sways.items():
        way = cubes.DT * motion.velocity.sum()
        fastest = np.abs(motion.velocity).max()
        turns = str(motion.reversals) if fastest > STILL else "-"
        table.rows.append([name, f"{fastest:.1e}", turns, f"{1e3 * way:.4f}"])
    return table


def _sweep_table(sweep: dict[str, Floats], internal: Floats) -> Table:
    columns = ["R / mean diag G", "c_N, normal R [m/s]", "c_T, normal R", "c_T, tangential R"]
    table = Table("One problem, compliance R", [*columns, "internal share, cube"])
    names = ("compliance", "normal", "dry", "tangential")
    for k, share in enumerate(internal):
        table.rows.append([f"{sweep[name][k]:.1e}" for name in names] + [f"{share:.1e}"])
    return table


def _claims(
    stiffness: Floats,
    dry: list[Standing],
    sprung: list[Standing],
    sways: dict[str, Sway],
    sweep: dict[str, Floats],
    internal: Floats,
) -> list[Claim]:
    ratio = np.concatenate(_ratios(stiffness, dry) + _ratios(stiffness, sprung))
    shear = np.concatenate(_shear_ratios(stiffness, sprung))
    small = sweep["compliance"] <= 1e-3
    slope = sweep["tangential"][small] / sweep["compliance"][small]
    moving, still = sways[UNDAMPED], np.abs(sways[DRY].velocity).max()
    return [
        Claim(
            "normal forces vary linearly with the compliance",
            "read as f = depth / R: at rest the weight fixes f, and the depth is linear in R; "
            f"k penetration / force {_range(ratio)}, all k, all feet; with tangential springs "
            f"k shear / force {_range(shear)}",
            bool(max(np.abs(ratio - 1.0).max(), np.abs(shear - 1.0).max()) <= ALLOWED),
        ),
        Claim(
            "tangential compliance: oscillations instead of a null velocity",
            f"pulled, feet on springs move at up to {np.abs(moving.velocity).max():.1e} m/s and "
            f"turn back {moving.reversals} times; with dry friction they stick, at most "
            f"{still:.0e} m/s",
            bool(moving.reversals >= 2 and still < STILL),
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
    stiffness: Floats,
    dry: list[Standing],
    sprung: list[Standing],
    sways: dict[str, Sway],
    sweep: dict[str, Floats],
    internal: Floats,
) -> str:
    def mean(values: list[Floats]) -> Floats:
        return np.array([v.mean() for v in values])

    rest = Panel(
        "at rest on a floor of stiffness k", "stiffness k [N/m]", "depth and shear [m]", log="xy"
    )
    rest.curves["mean force / k"] = stiffness, mean([s.force for s in dry]) / stiffness
    rest.curves["mean penetration"] = stiffness, mean([s.penetration for s in dry])
    rest.curves["mean shear force / k"] = stiffness, mean([s.shear for s in sprung]) / stiffness
    rest.curves["mean shear, springs"] = stiffness, mean([s.extension for s in sprung])
    swaying = Panel(f"pulled, k = {SOFT:g} N/m", "time [s]", "velocity of the feet [m/s]", dash="-")
    for name, motion in sways.items():
        swaying.curves[name] = motion.time, motion.velocity
    rows = Panel(
        "compliance of one problem", "compliance R / mean diag G", "velocity [m/s]", log="xy"
    )
    rows.floor = 1e-12
    rows.curves["normal velocity, normal R"] = sweep["compliance"], sweep["normal"]
    rows.curves["tangential velocity, tangential R"] = sweep["compliance"], sweep["tangential"]
    rows.curves["tangential velocity, normal R"] = sweep["compliance"], sweep["dry"]
    inside = Panel(
        "sticking cube", "compliance R / mean diag G", "share of internal forces", log="xy"
    )
    inside.floor = 1e-12
    inside.curves["internal share, Gauss-Seidel"] = sweep["compliance"], internal
    for panel in (rest, rows, inside):
        panel.marker = "o"
    return draw([rest, swaying, rows, inside], COLORS, legends=True)


COLORS = {
    "mean penetration": "#0072b2",
    "mean force / k": "#8cc4e8",
    "mean shear, springs": "#d55e00",
    "mean shear force / k": "#f0c3a3",
    UNDAMPED: "#d55e00",
    DAMPED: "#e69f00",
    DRY: "#009e73",
    "normal velocity, normal R": "#0072b2",
    "tangential velocity, tangential R": "#cc79a7",
    "tangential velocity, normal R": "#56b4e9",
    "internal share, Gauss-Seidel": "#000000",
}
