"""Fig. 4: the trot on ground of every stiffness and damping, at the paper's fixed steps."""

from __future__ import annotations

import numpy as np
from stiction.pages.experiment import Claim, Effort, Experiment, Table, Tick

from . import plans, robots, truth
from .accuracy import UNIT, number
from .curves import Panel, draw
from .integrators import IMPLICIT, METHODS, OURS, PRODUCTS, PUBLISHED, Method
from .local_error import local_errors

FEWEST = next(iter(PRODUCTS))
STEPS: dict[str, tuple[Method, float]] = {
    OURS: (METHODS[OURS], 2e-3),
    PUBLISHED: (METHODS[PUBLISHED], 2e-3),
    FEWEST: (PRODUCTS[FEWEST], 2e-3),
    IMPLICIT: (METHODS[IMPLICIT], 2e-3),
    "explicit-euler": (METHODS["explicit-euler"], 0.5e-3),
}
"""Method and step [s], as in the paper; their exponential has no matrix products there."""
RATIO = 0.5
FOOT = 0.03
"""What a foot of Solo-12 feels like at its point, about [kg]."""
STIFFNESS = np.logspace(3.0, 8.0, 11)
RATIOS = np.array([0.03, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 3.0, 10.0, 30.0])
IN_QUICK = {"stiffness": np.array([1e4, 1e6]), "ratio": np.array([0.1, 1.0])}
PERIODS = 130
SETUP = (
    "The trot for 0.26 s, one change of the legs, on ground of another stiffness, at half of the "
    "critical damping of 1 kg, and of another damping ratio at 1e5 N/m; damping 2 ratio "
    "sqrt(stiffness), as in the paper, which ends at 1. Steps of 2 ms, explicit-euler 0.5 ms. A "
    "run of its own for each ground. All integrators under the continuous law."
)


def run(effort: Effort, tick: Tick) -> Experiment:
    """The experiment."""
    experiment = Experiment("fig4", "Fig. 4: stiffness and damping", SETUP)
    full = effort.share >= 1.0
    sweeps = {"stiffness": STIFFNESS, "ratio": RATIOS} if full else IN_QUICK
    means = {
        "stiffness": [
            _errors(effort, experiment, k, RATIO, tick, 0.5 * i / len(sweeps["stiffness"]))
            for i, k in enumerate(sweeps["stiffness"])
        ],
        "ratio": [
            _errors(effort, experiment, 1e5, r, tick, 0.5 + 0.5 * i / len(sweeps["ratio"]))
            for i, r in enumerate(sweeps["ratio"])
        ],
    }
    for name, values in sweeps.items():
        experiment.tables.append(_table(name, values, means[name]))
    experiment.figures.append(("Fig. 4: local error of the trot.", _figure(sweeps, means)))
    experiment.claims += _claims(means)
    if effort.reference_data is None:  # else it is judged on the authors' trot, under their law
        experiment.claims.append(_slightly_better(sweeps["stiffness"], means["stiffness"]))
    return experiment


def fineness(stiffness: float, damping: float) -> truth.Fineness:
    """Steps at which rk4 is stable for a foot of the mass FOOT."""
    rate = max(np.sqrt(stiffness / FOOT), damping / FOOT)
    return truth.Fineness(step=min(20e-6, float(1.5 / rate)), tolerance=1e-8)


def _errors(
    effort: Effort, experiment: Experiment, stiffness: float, ratio: float, tick: Tick, done: float
) -> dict[str, float]:
    """Method -> mean error on one ground."""
    tick(f"{stiffness:.3g} N/m, ratio {ratio:g}", done)
    damping = 2.0 * ratio * np.sqrt(stiffness)
    robot = robots.solo12(robots.Ground(stiffness, damping))
    motion = plans.trot(robot, effort.count(PERIODS, least=40))
    true = truth.run(motion, fineness(stiffness, damping), lambda text, share: None, (0.0, 1.0))
    means = {}
    for name, (method, step) in STEPS.items():
        found = local_errors(true, method, round(motion.period / step))
        means[name] = found.mean
        experiment.add_rows(
            stiffness=stiffness,
            ratio=ratio,
            damping=damping,
            method=name,
            step=step,
            error=found.mean,
            truth=true.error.mean(),
            switches=int(true.switched.sum()),
        )
    return means


def _table(name: str, values: np.ndarray, means: list[dict[str, float]]) -> Table:
    head = {"stiffness": "stiffness [N/m]", "ratio": "damping ratio"}[name]
    table = Table(f"Local error by {name}", [head, *STEPS])
    for value, row in zip(values, means, strict=True):
        table.rows.append([f"{value:.3g}", *(number(row[m]) for m in STEPS)])
    return table


def _figure(sweeps: dict[str, np.ndarray], means: dict[str, list[dict[str, float]]]) -> str:
    panels = []
    for name, label in (("stiffness", "stiffness [N/m]"), ("ratio", "damping ratio")):
        panel = Panel(f"trot, {name}", label, UNIT)
        for method in STEPS:
            panel.curves[method] = sweeps[name], [row[method] for row in means[name]]
        panels.append(panel)
    return draw(panels, {name: method.color for name, (method, _) in STEPS.items()})


IMPLICIT_SLIGHTLY_BETTER = (
    "Eul-imp is slightly better than Expo except for K >= 1e6 N/m, where it is worse"
)


def _slightly_better(stiffness: np.ndarray, means: list[dict[str, float]]) -> Claim:
    stiff = [r for k, r in zip(stiffness, means, strict=True) if k >= 1e6]
    soft = [r for k, r in zip(stiffness, means, strict=True) if k < 1e6]
    worse = sum(row[IMPLICIT] > row[PUBLISHED] for row in stiff)
    better = sum(row[IMPLICIT] < row[PUBLISHED] for row in soft)
    return Claim(
        IMPLICIT_SLIGHTLY_BETTER,
        f"better on {better} of {len(soft)} softer grounds, worse on {worse} of {len(stiff)} "
        "stiffer ones",
        better == len(soft) and worse == len(stiff),
    )


def _claims(means: dict[str, list[dict[str, float]]]) -> list[Claim]:
    every = [*means["stiffness"], *means["ratio"]]

    def spread(method: str) -> float:
        values = [row[method] for row in every]
        return max(values) / min(values)

    spreads = {m: spread(m) for m in (PUBLISHED, "explicit-euler", OURS)}
    diverged = sum(not np.isfinite(row["explicit-euler"]) for row in every)
    return [
        Claim(
            "Expo performs consistently as stiffness and damping ratio increase",
            f"largest over smallest error: exponential-published {spreads[PUBLISHED]:.0f}, "
            f"exponential {spreads[OURS]:.0f}",
            bool(spreads[PUBLISHED] < 30.0),
        ),
        Claim(
            "the error of Eul-exp is highly affected by both",
            f"it diverges on {diverged} of {len(every)} grounds; largest over smallest error "
            f"{spreads['explicit-euler']:.1e}",
            bool(spreads["explicit-euler"] > 100.0),
        ),
    ]
