"""Numbers of Solo-12 from a noisy log: exact Jacobians beside differences; what stays unseen."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stiction.pages.experiment import Effort, Experiment, Table, Tick

from .solo_log import DT, NAMES, NUMBERS, STEPS, Log, made, play

Floats = NDArray[np.float64]
HORIZONS = (15, 25, 50, 100, STEPS)
KINDS = {"exact": "exact", "forward": "forward differences", "central": "central differences"}
EXCITATIONS = {
    "targets, their speeds, pushes": {},
    "without speeds of targets": {"speeds": 0.0},
    "without known pushes": {"push": 0.0},
    "targets and pushes a tenth: no foot slides": {"size": 0.1, "push": 0.1},
    "stands still": {"size": 0.0, "push": 0.0},
}
SETUP = f"""Solo-12 on its feet, {STEPS} steps of 2 ms, κ = 1, solved to 1e-11. Targets of all
joints and their speeds move on three sines each, known forces of up to 6 N push the base: feet
slide, lift and land. Seen after each step: pose of the base (1 mm, 2 mrad of noise), joints (1e-3
rad), their speeds (1e-2 rad/s). Unknown: {NUMBERS} numbers, up to 25 % (centre of mass 2.5 mm) off,
and the 36 of the start, known as the mean of 100 samples at rest. Before the log each number is
known to a factor of e. Levenberg's and Marquardt's method over the first
{", ".join(map(str, HORIZONS))} steps, each until an iteration gains less than 1e-6; the same code
for all Jacobians. A rollout is one pass over the log, with derivatives or without; differences take
52 or 104 for a Jacobian."""
EXPLANATION = """Exact Jacobians and differences take the same iterations, or within a tenth, to the
same answer; the price is what differs. Errors are as large as their standard deviations say,
contacts or not. Exact Jacobians of whole logs agree with differences although feet lift, land and
start to slide: v⁺ is continuous where a step changes its mode. Smaller differences are worse: they
resolve what the solver and the rounding leave, which a whole log magnifies. What stays unseen is a
matter of the excitation: where no speed is asked for, the gain kd and the damping of the joints
are one number; feet that do not slide leave friction open, with what moves the same way; a robot
that stands still tells two numbers of 16. Without known forces everything is still seen, since the
inertias of the links count as known."""


@dataclass(frozen=True)
class Answer:
    """Unknowns, their covariance, and what they cost."""

    y: Floats
    covariance: Floats
    rollouts: int
    iterations: int
    seconds: float
    error: float


def jacobian(log: Log, y: Floats, steps: int, kind: str, h: float = 1e-6) -> tuple[Floats, int]:
    """Of the errors of the first steps by the unknowns; rollouts."""
    if kind == "exact":
        return play(log, y, steps, derivatives=True).J, 1
    ends = np.array([play(log, y + e, steps).errors for e in h * np.eye(len(y))])
    if kind == "forward":  # the middle is known
        return (ends - play(log, y, steps).errors).T / h, len(y)
    others = np.array([play(log, y - e, steps).errors for e in h * np.eye(len(y))])
    return (ends - others).T / (2 * h), 2 * len(y)


def identify(log: Log, kind: str) -> Answer:
    """By Jacobians of one of KINDS."""
    y, rollouts, iterations, began = np.zeros(36 + NUMBERS), 0, 0, time.thread_time()
    for steps in HORIZONS:
        e, damping, gain = play(log, y, steps).errors, 1e-3, 1.0
        J, count = jacobian(log, y, steps, kind)
        rollouts += 1 + count
        while gain > 1e-6 and damping < 1e6:
            H = J.T @ J
            step = np.linalg.solve(H + damping * np.diag(np.diag(H)), -J.T @ e)
            trial = play(log, y + step, steps).errors
            rollouts, iterations = rollouts + 1, iterations + 1
            change = float(1 - trial @ trial / (e @ e))
            if change <= 0:
                damping, gain = 5 * damping, 1.0 if change < -1e-6 else 0.0
                continue
            y, e, damping, gain = y + step, trial, damping / 5, change
            J, count = jacobian(log, y, steps, kind)
            rollouts += count
    covariance: Floats = np.linalg.inv(J.T @ J).astype(float)
    seconds = time.thread_time() - began
    rms = float(np.sqrt(np.mean(e[len(y) :] ** 2)))
    return Answer(y, covariance, rollouts, iterations, seconds, rms)


def unseen(log: Log, bar: float = 0.25) -> list[tuple[float, Floats]]:
    """Directions of the numbers that the log leaves open by more than `bar`: standard deviation, 1
    before the log, and direction, the least known first."""
    J = play(log, log.truth, STEPS, derivatives=True).J
    start, ours = J[:, :36], J[:, 36:]
    seen = ours - start @ np.linalg.lstsq(start, ours, rcond=None)[0]
    _, singular, V = np.linalg.svd(seen)
    return [(1 / s, v) for s, v in zip(singular[::-1], V[::-1], strict=True) if 1 / s > bar]


def words(direction: Floats) -> str:
    """Its largest parts."""
    direction = direction / direction[np.argmax(abs(direction))]
    order = np.argsort(-abs(direction))
    parts = [f"{NAMES[k]} {direction[k]:+.2f}" for k in order if abs(direction[k]) > 0.15]
    return ", ".join(parts[:6])


def run(effort: Effort, tick: Tick) -> Experiment:
    """Five seeds by three kinds of Jacobians."""
    seeds = range(effort.seed, effort.seed + effort.count(5, 1))
    columns: dict[str, list[Any]] = {
        name: [] for name in ("seed", "kind", "rollouts", "iterations", "cpu_s", "rms", "apart")
    }
    errors, spreads = [], []
    for n, seed in enumerate(seeds):
        log = made(seed)
        found = {}
        for kind in KINDS:
            tick(f"seed {seed}, {KINDS[kind]}", n / len(seeds))
            found[kind] = a = identify(log, kind)
            spread = np.sqrt(np.diag(found["exact"].covariance))
            apart = float(np.max(abs(a.y - found["exact"].y) / spread))
            values = (seed, kind, a.rollouts, a.iterations, a.seconds, a.error, apart)
            for name, value in zip(columns, values, strict=True):
                columns[name].append(value)
        errors.append((found["exact"].y - log.truth)[36:])
        spreads.append(spread[36:])
    tables = [
        _costs(columns),
        _numbers(np.array(errors), np.array(spreads)),
        _slopes(made(effort.seed)),
        _unseen(effort.seed),
    ]
    return Experiment(
        "identification",
        "Numbers of Solo-12 from a noisy log",
        SETUP,
        EXPLANATION,
        tables,
        columns=columns,
    )


def _costs(columns: dict[str, list[Any]]) -> Table:
    rows, kinds = [], np.array(columns["kind"])
    totals = {name: np.array(columns[name], dtype=float) for name in columns if name != "kind"}
    exact = kinds == "exact"
    for kind, title in KINDS.items():
        mine = kinds == kind
        ratio = totals["rollouts"][mine] / totals["rollouts"][exact]
        rows.append(
            [
                title,
                f"{np.median(totals['iterations'][mine]):.0f}",
                f"{np.median(totals['rollouts'][mine]):.0f}",
                f"{ratio.min():.1f} … {ratio.max():.1f}",
                f"{np.median(totals['cpu_s'][mine]):.2f}",
                f"{totals['rms'][mine].min():.4f} … {totals['rms'][mine].max():.4f}",
                f"{totals['apart'][mine].max():.1g}",
            ]
        )
    names = ["Jacobian", "iterations", "rollouts", "of those with exact ones", "CPU [s]"]
    names += ["error / noise", "apart from the exact one's answer"]
    note = f"{int(exact.sum())} seeds: medians, least and largest; apart in standard deviations."
    return Table("The price of an answer", names, rows, note)


def _numbers(errors: Floats, spreads: Floats) -> Table:
    rows = [
        [
            name,
            f"{np.median(spreads[:, k]):.1e}",
            f"{np.sqrt(np.mean(errors[:, k] ** 2)):.1e}",
            f"{np.sqrt(np.mean((errors[:, k] / spreads[:, k]) ** 2)):.2f}",
        ]
        for k, name in enumerate(NAMES)
    ]
    names = ["number", "standard deviation", "error, rms over seeds", "error / deviation, rms"]
    note = "Relative; of the centre of mass in cm. All: error / deviation has an rms of "
    return Table("Errors", names, rows, f"{note}{np.sqrt(np.mean((errors / spreads) ** 2)):.2f}.")


def _slopes(log: Log) -> Table:
    rows = []
    for steps in (25, 100, STEPS):
        played = play(log, log.truth, steps, derivatives=True)
        J, size = played.J, np.linalg.norm(played.J, axis=0)
        off = [
            np.linalg.norm(jacobian(log, log.truth, steps, kind, h)[0] - J, axis=0) / size
            for kind, h in (("forward", 1e-6), ("central", 1e-6), ("central", 1e-4))
        ]
        rows.append(
            [f"{steps * DT:.2f}", str(played.switches), str(played.one_sided)]
            + [f"{np.median(x):.0e}, {x.max():.0e}" for x in off]
        )
    names = ["log [s]", "changes of a foot's mode", "one-sided steps"]
    names += ["forward, 1e-6", "central, 1e-6", "central, 1e-4"]
    note = "At the truth: columns of differences less those of the exact Jacobian: median, largest."
    return Table("Jacobians of whole logs across switches", names, rows, note)


def _unseen(seed: int) -> Table:
    rows = []
    for title, changes in EXCITATIONS.items():
        left = unseen(made(seed, **changes))
        shown = "; ".join(f"± {s:.2f}: {words(v)}" for s, v in left[:4])
        rows.append([title, str(len(left)), shown or "nothing"])
    note = (
        f"Of {NUMBERS} directions those left with 0.25 or more of 1 before the log: the first four."
    )
    return Table("What a log does not tell", ["excitation", "unseen", "directions"], rows, note)
