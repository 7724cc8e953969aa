"""Solo-12 trots: contacts open, close, slip and stick."""

from __future__ import annotations

import numpy as np

from ..experiment import Claim, Effort, Experiment, Tick
from . import accuracy, plans, robots, truth
from .integrators import IMPLICIT, OURS, PUBLISHED

STEPS = accuracy.Range(smallest=1.2e-4, implicit=1.2e-4, explicit=(2e-3, 7.8e-6))
QUICK = accuracy.Range(smallest=2.4e-4, implicit=4.8e-4, explicit=(5e-4, 3e-5))
PERIODS = 1000
GAIN, ORDER, EXPLICIT = 50.0, 1.9, 1e-4
SETUP = (
    "Solo-12 trots at 0.3 m/s on four point feet, two steps in 0.4 s; torques held over 2 ms: "
    "feed-forward and joint PD. Feet land moving against the ground, slip and stick. Every control "
    "period is run once with every integrator and step, from the state of the truth."
)


def run(effort: Effort, tick: Tick) -> Experiment:
    """The experiment."""
    experiment = Experiment("trot", "Figs 2 and 3: trot", SETUP)
    motion = plans.trot(robots.solo12(), effort.count(PERIODS, least=110))
    true = truth.run(motion, truth.Fineness(), tick, (0.0, 0.2))
    steps = STEPS if effort.share >= 1.0 else QUICK
    results = accuracy.measure(true, steps, lambda name, done: tick(name, 0.2 + 0.4 * done))
    accuracy.report(experiment, true, results)
    experiment.tables.append(_goals(results, true))
    experiment.claims += [_better(results), *accuracy.paper_claims(results)]
    accuracy.add_published_law(experiment, motion, steps, tick, 0.6)
    return experiment


def _goals(results: accuracy.Results, true: truth.Truth) -> accuracy.Table:
    gains = {one.dt: accuracy.gain(results, one.dt) for one in results[OURS]}
    gains = {dt: ratio for dt, ratio in gains.items() if np.isfinite(ratio)}
    worst = min(gains, key=lambda dt: gains[dt])
    slope = accuracy.order(results, true)
    ours = accuracy.mean_at(results, OURS, motion_step(true))
    step = accuracy.explicit_step(results, ours)
    listed = ", ".join(f"{ratio:.0f} at {1e3 * dt:g} ms" for dt, ratio in gains.items())
    return accuracy.goals(
        [
            ("gain of exponential", f">= {GAIN:g}", listed, gains[worst] >= GAIN),
            ("order between switches", f">= {ORDER:g}", f"{slope:.2f}", slope >= ORDER),
            (
                "largest step of explicit-euler with exponential's error at 2 ms",
                f"<= {1e3 * EXPLICIT:g} ms",
                f"{1e3 * step:.3g} ms" if step else "smaller than all tried",
                step <= EXPLICIT,
            ),
        ]
    )


def motion_step(true: truth.Truth) -> float:
    """One step a period [s]."""
    return true.motion.period


def _better(results: accuracy.Results) -> Claim:
    ratios = [accuracy.mean_at(results, IMPLICIT, one.dt) / one.mean for one in results[PUBLISHED]]
    ratios = [r for r in ratios if np.isfinite(r)]
    return Claim(
        "Eul-imp is slightly better than Expo in the trot",
        f"implicit-euler errs {min(ratios):.2f} to {max(ratios):.2f} times as much as "
        "exponential-published",
        max(ratios) < 1.0,
    )
