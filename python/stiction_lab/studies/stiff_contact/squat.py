"""Solo-12 squats: smooth contact, large steps."""

from __future__ import annotations

from stiction.pages.experiment import Claim, Effort, Experiment, Tick

from . import accuracy, claims, plans, robots, truth
from .integrators import IMPLICIT, PUBLISHED

STEPS = accuracy.Range(smallest=1.5e-4, implicit=1.5e-4, explicit=(6.5e-4, 1.9e-5))
QUICK = accuracy.Range(smallest=2.4e-3, implicit=2.4e-3, explicit=(6.5e-4, 3.9e-5))
SETUP = (
    "Solo-12 moves its base up and down by 60 mm at 2 rad/s on four point feet, torques held over "
    "40 ms: feed-forward and PD through the equations of motion. Every control period is run once "
    "with every integrator and step, each time from the state of the truth, springs included. "
    "Local error: the largest component of (q, v) [m, rad, m/s, rad/s] by which a run over one "
    "control period, started from the truth, misses it; mean over the periods. Ours are judged by "
    "rk4; the paper, and the authors' code in the tables of their motions, by each integrator "
    "itself at a tiny step."
)


def run(effort: Effort, tick: Tick) -> Experiment:
    """The experiment."""
    experiment = Experiment("squat", "Figs 2 and 3: squat", SETUP)
    motion = plans.squat(robots.solo12(), effort.count(100, least=8))
    full = effort.share >= 1.0
    true = truth.run(motion, truth.Fineness() if full else truth.COARSE, tick, (0.0, 0.4))
    steps = STEPS if full else QUICK
    results = accuracy.measure(true, steps, lambda name, done: tick(name, 0.4 + 0.6 * done))
    accuracy.report(experiment, true, results)
    experiment.claims += [_alike(results), *claims.paper_claims(results)]
    return experiment


def _alike(results: accuracy.Results) -> Claim:
    ratios = [
        accuracy.mean_at(results, IMPLICIT, one.dt) / one.mean
        for one in results[PUBLISHED]
        if one.dt <= 5e-3
    ]
    return Claim(
        "Eul-imp is almost indistinguishable from Expo in the squat for steps up to 5 ms",
        f"implicit-euler errs {min(ratios):.2f} to {max(ratios):.2f} times as much",
        max(abs(r - 1.0) for r in ratios) < 0.2,
    )
