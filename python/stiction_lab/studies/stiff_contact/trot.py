"""Solo-12 trots: contacts open, close, slip and stick."""

from __future__ import annotations

import numpy as np
from stiction.pages.experiment import Claim, Effort, Experiment, Tick

from . import accuracy, claims, plans, robots, truth
from .integrators import IMPLICIT, OURS, PUBLISHED

STEPS = accuracy.Range(smallest=1.2e-4, implicit=1.2e-4, explicit=(2e-3, 7.8e-6))
QUICK = accuracy.Range(smallest=2.4e-4, implicit=4.8e-4, explicit=(5e-4, 3e-5))
PERIODS = 1000
GAIN, EXPLICIT = 50.0, 1e-4
SETUP = (
    "Solo-12 trots at 0.3 m/s on four point feet, two steps in 0.4 s; torques held over 2 ms: "
    "feed-forward and joint PD. Feet are planned to land at rest against the ground; those of "
    "stiction.gaits.Trot, the rougher motion of the second table, at 0.3 m/s. Every control period "
    "is run once with every integrator and step, from the state of the truth."
)


def run(effort: Effort, tick: Tick) -> Experiment:
    """The experiment."""
    experiment = Experiment("trot", "Figs 2 and 3: trot", SETUP)
    full = effort.share >= 1.0
    robot, steps = robots.solo12(), STEPS if full else QUICK
    motion = plans.trot(robot, effort.count(PERIODS, least=110))
    true = truth.run(motion, truth.Fineness(), tick, (0.0, 0.1))
    results = accuracy.measure(true, steps, lambda name, done: tick(name, 0.1 + 0.4 * done))
    accuracy.report(experiment, true, results)
    goals = _goals(results, true)
    experiment.claims += [_better(results), *claims.paper_claims(results)]
    if full:
        rough = plans.trot(robot, PERIODS, scuffing=True)
        other, _ = accuracy.add_variant(experiment, rough, "continuous", steps, tick, (0.5, 0.75))
        goals.append(_gain_goal(other, rough.name))
        accuracy.add_variant(experiment, motion, "published", steps, tick, (0.75, 1.0))
    experiment.tables.append(accuracy.goals(goals))
    return experiment


def _gain_goal(results: accuracy.Results, name: str) -> tuple[str, str, str, bool]:
    gains = accuracy.gains(results)
    return (
        f"gain of exponential, {name}, every step",
        f">= {GAIN:g}",
        accuracy.listed(gains),
        min(gains.values()) >= GAIN,
    )


def _goals(results: accuracy.Results, true: truth.Truth) -> list[tuple[str, str, str, bool]]:
    ours = accuracy.mean_at(results, OURS, true.motion.period)
    step = accuracy.explicit_step(results, ours)
    return [
        _gain_goal(results, true.motion.name),
        accuracy.order_goal(results, true),
        (
            "largest step of explicit-euler with exponential's error at 2 ms",
            f"<= {1e3 * EXPLICIT:g} ms",
            f"{1e3 * step:.3g} ms" if step else "smaller than all tried",
            step <= EXPLICIT,
        ),
    ]


def _better(results: accuracy.Results) -> Claim:
    ratios = [accuracy.mean_at(results, IMPLICIT, one.dt) / one.mean for one in results[PUBLISHED]]
    ratios = [r for r in ratios if np.isfinite(r)]
    return Claim(
        "Eul-imp is slightly better than Expo in the trot",
        f"implicit-euler errs {min(ratios):.2f} to {max(ratios):.2f} times as much as "
        "exponential-published",
        max(ratios) < 1.0,
    )
