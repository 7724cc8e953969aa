"""The authors' motions: their squat state by state, their trot and jump by their feedback."""

from __future__ import annotations

from stiction.pages.experiment import Effort, Experiment, Table, Tick

from . import accuracy, robots
from .integrators import IMPLICIT, METHODS, OURS, PRODUCTS, PUBLISHED
from .local_error import LocalErrors, local_errors
from .reference_data import Rerun, published_motion, rerun_squat
from .truth import Fineness

SUBSTEPS = (1, 2, 4, 8, 16, 32)
WITHIN, CHECKED = 0.05, 21e-3
"""Share by which our rows may differ from theirs, up to this step [s]."""
LIMITS = {40.0: 4e-4, 20.0: 2e-4, 10.0: 3e-5, 5.0: 5e-6, 2.5: 1e-6}
"""Step [ms] -> error that exponential must reach on their squat; the first is a stretch."""
STEPS = {
    "trot": accuracy.Range(smallest=1.2e-4, implicit=1.2e-4, explicit=(2e-3, 1.5e-5)),
    "jump": accuracy.Range(smallest=1.5e-4, implicit=1.5e-4, explicit=(1.3e-3, 2e-5)),
}
GAIN = 50.0
SETUP = (
    "Squat: the states, springs and torques of the authors' code, run again with one repair (its "
    "reset added contact forces twice). Each period of 40 ms starts from their state, under their "
    "law against their own truth, and under the continuous law, each foot on a floor at its "
    "anchor's height, against rk4. Trot and jump: their reference states and feedback in our "
    "simulator, continuous law, our truth; the jump is cut where its landing turns into a crash."
)
JUMP_STEPS = 172


def run(effort: Effort, tick: Tick) -> Experiment:
    """The experiment."""
    experiment = Experiment("reference", "The authors' motions", SETUP)
    squat = rerun_squat(effort.reference_data)
    goals = _as_published(experiment, squat, tick)
    goals += _continuous(experiment, squat, tick)
    for name, begin in (("trot", 0.4), ("jump", 0.75)):
        goals += _motion(experiment, effort, name, tick, begin)
    experiment.tables.append(accuracy.goals(goals))
    return experiment


Goals = list[tuple[str, str, str, bool]]


def _theirs(run: LocalErrors) -> float:
    """Their mean counts the initial state, whose error is zero."""
    return run.mean * len(run.error) / (len(run.error) + 1)


def _as_published(experiment: Experiment, squat: Rerun, tick: Tick) -> Goals:
    table = Table(
        "Squat under the paper's law: ours, theirs",
        ["step [ms]", PUBLISHED, "theirs", IMPLICIT, "theirs", *PRODUCTS],
        note="The capped exponentials: ours / theirs.",
    )
    expo, implicit = squat.as_published("expo"), squat.as_published("implicit")
    apart = {PUBLISHED: 0.0, IMPLICIT: 0.0}
    at_largest = ""
    for n in SUBSTEPS:
        tick(f"squat, law of the paper, {n} sub-steps", 0.2 * SUBSTEPS.index(n) / len(SUBSTEPS))
        cells = []
        for name, truth, key in ((PUBLISHED, expo, "expo_m-1"), (IMPLICIT, implicit, "implicit")):
            found = local_errors(truth, METHODS[name], n)
            ours, theirs = _theirs(found), squat.mean[f"{key}_n{n}"]
            cells += [accuracy.number(ours), accuracy.number(theirs)]
            accuracy.add_rows(experiment, truth, name, found)
            if found.dt <= CHECKED:
                apart[name] = max(apart[name], abs(ours / theirs - 1.0))
            elif name == IMPLICIT:
                at_largest = f"{ours:.1e} (theirs {theirs:.1e}), failed in {found.failed:.0%}"
        for m, method in enumerate(PRODUCTS.values()):
            ours = _theirs(local_errors(expo, method, n))
            cells.append(f"{ours:.2e} / {squat.mean[f'expo_m{m}_n{n}']:.2e}")
        table.rows.append([f"{1e3 * squat.period / n:.4g}", *cells])
    experiment.tables.append(table)
    rows = [
        (f"{name} on their squat, up to 20 ms", f"within {WITHIN:.0%}", f"{x:.2%}", x <= WITHIN)
        for name, x in apart.items()
    ]
    better = float(at_largest.split()[0]) < squat.mean["implicit_n1"]
    return [*rows, (f"{IMPLICIT} at 40 ms", "less than theirs", at_largest, better)]


def _continuous(experiment: Experiment, squat: Rerun, tick: Tick) -> Goals:
    tick("squat, continuous law", 0.2)
    truth = squat.continuous(Fineness())
    table = Table(
        "Squat, continuous law, against rk4",
        ["step [ms]", OURS, PUBLISHED, IMPLICIT, "gain", "asked of exponential"],
        note=f"Two runs of the truth differ by {truth.error.mean():.1e} in the mean. In the first "
        "period feet start on the surface without load: exponential-published sees no contact "
        "there in its first sub-step, and at 20 and 40 ms its mean is that period's.",
    )
    goals: Goals = []
    for n in SUBSTEPS:
        tick(f"squat, {n} sub-steps", 0.3 + 0.1 * SUBSTEPS.index(n) / len(SUBSTEPS))
        found = {
            name: local_errors(truth, METHODS[name], n) for name in (OURS, PUBLISHED, IMPLICIT)
        }
        mean = {name: _theirs(one) for name, one in found.items()}
        for name, one in found.items():
            accuracy.add_rows(experiment, truth, name, one)
        step = round(1e3 * squat.period / n, 5)
        limit = LIMITS.get(step)
        ratio = min(mean[PUBLISHED], mean[IMPLICIT]) / mean[OURS]
        asked = "" if limit is None else f"<= {limit:.0e}"
        table.rows.append(
            [f"{step:.4g}", *(accuracy.number(x) for x in mean.values()), f"{ratio:.0f}", asked]
        )
        if limit is not None:
            text = f"exponential on their squat, {step:g} ms"
            goals.append((text, asked, f"{mean[OURS]:.1e}", mean[OURS] <= limit))
    experiment.tables.append(table)
    return goals


def _motion(experiment: Experiment, effort: Effort, name: str, tick: Tick, begin: float) -> Goals:
    motion = published_motion(robots.solo12(), effort.reference_data, name)
    most = JUMP_STEPS if name == "jump" else motion.steps
    motion = motion.first(effort.count(most, least=110))
    share = (begin, begin + (0.35 if name == "trot" else 0.25))
    results, true = accuracy.add_variant(experiment, motion, "continuous", STEPS[name], tick, share)
    gains = accuracy.gains(results)
    if name == "jump":
        return [(f"gain, {motion.name}", "> 1", accuracy.listed(gains), min(gains.values()) > 1.0)]
    met = min(gains.values()) >= GAIN
    return [
        (f"gain, {motion.name}, every step", f">= {GAIN:g}", accuracy.listed(gains), met),
        accuracy.order_goal(results, true),
    ]
