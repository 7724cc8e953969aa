"""Solo-12 trots: contacts open, close, slip and stick."""

from __future__ import annotations

from stiction.pages.experiment import Effort, Experiment, Tick

from . import accuracy, claims, plans, robots, truth

STEPS = accuracy.Range(smallest=1.2e-4, implicit=1.2e-4, explicit=(2e-3, 7.8e-6))
QUICK = accuracy.Range(smallest=2.4e-4, implicit=4.8e-4, explicit=(5e-4, 3e-5))
PERIODS = 1000
SETUP = (
    "Solo-12 trots at 0.3 m/s on four point feet, two steps in 0.4 s; torques held over 2 ms: "
    "feed-forward and joint PD. Feet are planned to land at rest against the ground, but the "
    "one of Fig. 6 touches down at 1.5 m/s, because the servos follow late. The CSV file of the "
    "scuffing trot has the feet of stiction.gaits.Trot, which are planned to land at 0.3 m/s. "
    "Every control period is run once with every integrator and step, from the state of the truth."
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
    if effort.reference_data is None:  # else it is judged on the authors' motion
        experiment.claims.append(claims.slightly_better(results))
    experiment.claims += claims.paper_claims(results)
    if full:
        rough = plans.trot(robot, PERIODS, scuffing=True)
        accuracy.add_variant(experiment, rough, "continuous", steps, tick, (0.5, 0.75))
        accuracy.add_variant(experiment, motion, "published", steps, tick, (0.75, 1.0))
    return experiment
