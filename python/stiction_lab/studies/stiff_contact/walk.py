"""A humanoid walks: eight contact points, soles that land flat."""

from __future__ import annotations

from stiction.pages.experiment import Claim, Effort, Experiment, Tick

from . import accuracy, biped, claims, truth
from .integrators import IMPLICIT, PUBLISHED

STEPS = accuracy.Range(smallest=6e-4, implicit=2.4e-3, explicit=(1.3e-3, 3.9e-5))
QUICK = accuracy.Range(smallest=9e-3, implicit=1.9e-2, explicit=(1.3e-3, 3.1e-4))
FINENESS = truth.Fineness(step=4e-5, tolerance=1e-8, halvings=20)
LARGE = 9e-3
SETUP = (
    "Talos, or the robot given, takes two steps of 120 mm on the corners of its soles; torques "
    "held over 40 ms: feed-forward and PD through the equations of motion, on a base that moves as "
    "the linear inverted pendulum. The paper walks Romeo. Every control period is run once with "
    "every integrator and step, from the state of the truth."
)


def run(effort: Effort, tick: Tick) -> Experiment:
    """The experiment."""
    experiment = Experiment("walk", "Figs 2 and 3: walk", SETUP)
    full = effort.share >= 1.0
    motion = biped.walk(effort.biped, None if full else 3)
    true = truth.run(motion, FINENESS, tick, (0.0, 0.4))
    steps = STEPS if full else QUICK
    results = accuracy.measure(true, steps, lambda name, done: tick(name, 0.4 + 0.6 * done))
    accuracy.report(experiment, true, results)
    experiment.claims += [_worse(results), *claims.paper_claims(results)]
    return experiment


def _worse(results: accuracy.Results) -> Claim:
    ratios = [
        accuracy.mean_at(results, IMPLICIT, one.dt) / one.mean
        for one in results[PUBLISHED]
        if one.dt >= LARGE
    ]
    return Claim(
        "Eul-imp is a bit worse than Expo in the walk, but only for large steps",
        f"implicit-euler errs {min(ratios):.2f} to {max(ratios):.2f} times as much from 10 ms on",
        min(ratios) > 1.0,
    )
