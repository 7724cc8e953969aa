"""Solo-12 jumps: crouch, push-off, flight and the touch-down of four feet at once."""

from __future__ import annotations

from stiction.pages.experiment import Effort, Experiment, Tick

from . import accuracy, claims, plans, robots, truth

STEPS = accuracy.Range(smallest=1.5e-4, implicit=1.5e-4, explicit=(1.3e-3, 9.7e-6))
QUICK = accuracy.Range(smallest=1.2e-3, implicit=1.2e-3, explicit=(6.3e-4, 7.8e-5))
PERIODS = {"full": 110, "quick": 99}
SETUP = (
    "Solo-12 crouches, pushes off, flies for a quarter of a second and lands; torques held over "
    "10 ms: feed-forward and PD through the equations of motion. In the paper the robot's landing "
    "ends in a fall. Every control period is run once with every integrator and step, from the "
    "state of the truth."
)


def run(effort: Effort, tick: Tick) -> Experiment:
    """The experiment."""
    experiment = Experiment("jump", "Figs 2 and 3: jump", SETUP)
    full = effort.share >= 1.0
    motion = plans.jump(robots.solo12(), PERIODS["full" if full else "quick"])
    true = truth.run(motion, truth.Fineness() if full else truth.COARSE, tick, (0.0, 0.3))
    steps = STEPS if full else QUICK
    results = accuracy.measure(true, steps, lambda name, done: tick(name, 0.3 + 0.3 * done))
    accuracy.report(experiment, true, results)
    if effort.reference_data is None:  # else it is judged on the authors' motion
        experiment.claims.append(claims.a_bit_worse(results))
    experiment.claims += claims.paper_claims(results)
    if full:
        accuracy.add_variant(experiment, motion, "published", steps, tick, (0.6, 1.0))
    return experiment
