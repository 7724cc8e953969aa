"""`stiction bench integrators`: what a step costs, and how wrong it is.

Every integrator starts from the same stored states, one control period apart, with torques that are
held, and takes one period in equal steps. Time: the C++ program of benchmarks/integrator_steps, per
window the best of some repetitions in which all take turns. Error: against the classical
Runge-Kutta method with steps that are halved until two runs agree, from the same state.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stiction._stiction import Scene, State

from . import machine, native
from .integrator_cases import (
    CASES,
    EXPLICIT,
    IMPLICIT,
    Case,
    bare_joints,
    windows_of,
    write_windows,
)
from .local_error import Reference, Window, ends, summary, window_errors
from .worlds import BenchError

Floats = NDArray[np.float64]
Tick = Callable[[str], None]
OURS, RIGID, COMPLIANCE = "exponential", "rigid", "semi-implicit-euler"
ABA, EXPLICIT_ABA = "pinocchio-aba", "pinocchio-explicit-euler"
REPETITIONS = 9
HALVINGS = 18
"""Of the steps of the reference, at most: next to a switch."""


@dataclass(frozen=True)
class Budget:
    """How much is measured; None: as much as the case asks for.

    Attributes:
        share: of the windows and repetitions.
        coarse, fine: numbers of steps per period instead of the case's.
    """

    share: float = 1.0
    coarse: tuple[int, ...] | None = None
    fine: tuple[int, ...] | None = None

    def windows(self, case: Case) -> int:
        """At least three."""
        return max(3, round(self.share * case.windows))

    def repetitions(self) -> int:
        """At least two: the first one warms up."""
        return max(2, round(self.share * REPETITIONS))


def bench_integrators(
    names: Sequence[str] = (), budget: Budget | None = None, say: Tick = lambda line: None
) -> dict[str, Any]:
    """The document.

    Args:
        names: of cases; none: all.

    Raises:
        BenchError: a name is unknown, or the program cannot be built.
    """
    chosen = budget or Budget()
    known = {case.name: case for case in CASES}
    for name in names:
        if name not in known:
            raise BenchError(f"--scenes {name!r} is unknown; there are: {', '.join(known)}")
    program = native.build_integrators(native.repository(), say)
    results = [bench_case(known[name], program, chosen, say) for name in names or known]
    return {
        "machine": machine.describe(),
        "share": chosen.share,
        "repetitions": chosen.repetitions(),
        "scenes": results,
        "goals": goals(results),
    }


def bench_case(case: Case, program: Path, budget: Budget, say: Tick) -> dict[str, Any]:
    """One scene: a row per integrator and step."""
    say(f"{case.name}: states")
    count = budget.windows(case)
    soft, rigid = windows_of(case, count), windows_of(case, count, rigid=True)
    timed = _timed(case, program, budget, soft, rigid, say)
    scene = bare_joints(case.load())
    reference, left = _references(case, scene, soft, say)
    rows = []
    for row in timed:
        name, steps = row["name"], row["steps"]
        errors = None
        if name not in (RIGID, ABA, EXPLICIT_ABA):
            say(f"{case.name}: error of {name}, {steps} steps")
            found = ends(scene, soft, case.period, steps, integrator=name)
            errors = window_errors(scene, found, reference)
        rows.append(_row(case, row, errors))
    _add_ratios(rows)
    return {
        "scene": case.name,
        "built_in": case.scene,
        "stiffness": case.stiffness,
        "damping": case.damping,
        "period": case.period,
        "windows": count,
        "contacts": float(np.mean([len(window.state.contacts) for window in soft])),
        "reference_mean": float(left.mean()),
        "reference_worst": float(left.max()),
        "rows": rows,
    }


def _references(
    case: Case, scene: Scene, windows: Sequence[Window], say: Tick
) -> tuple[list[State | None], Floats]:
    """The end of each window, and how far two runs still differ."""
    truth = Reference(scene, case.period, case.reference, case.tolerance, HALVINGS)
    states: list[State | None] = []
    left = np.zeros(len(windows))
    for k, window in enumerate(windows):
        if k % 10 == 0:
            say(f"{case.name}: reference {k + 1} of {len(windows)}")
        state, left[k] = truth.end(window)
        states.append(state)
    return states, left


def _requests(case: Case, budget: Budget) -> list[str]:
    """NAME:STEPS, as the program takes them."""
    coarse, fine = budget.coarse or case.coarse, budget.fine or case.fine
    requests = [f"{RIGID}:1"]
    requests += [f"{name}:{n}" for name in (COMPLIANCE, *IMPLICIT) for n in coarse]
    requests += [f"{name}:{n}" for name in EXPLICIT for n in fine]
    if case.has_robot():
        requests += [f"{ABA}:{fine[0]}", f"{EXPLICIT_ABA}:{fine[0]}"]
    return requests


def _timed(
    case: Case,
    program: Path,
    budget: Budget,
    soft: list[Window],
    rigid: list[Window],
    say: Tick,
) -> list[dict[str, Any]]:
    """What the program prints: a row per request, times of every window [us per step]."""
    with tempfile.TemporaryDirectory() as folder:
        paths = {"soft": Path(folder) / "soft.bin", "rigid": Path(folder) / "rigid.bin"}
        write_windows(paths["soft"], soft)
        write_windows(paths["rigid"], rigid)
        numbers = {
            "stiffness": case.stiffness,
            "damping": case.damping,
            "period": case.period,
            "repetitions": budget.repetitions(),
        }
        arguments = [f"{key}={value!r}" for key, value in numbers.items()]
        arguments += [f"{key}={path}" for key, path in paths.items()]
        command = [case.scene, *arguments, *_requests(case, budget)]
        rows: list[dict[str, Any]] = native.run(
            program, command, lambda line: say(f"{case.name}: {line}")
        )["rows"]
    return rows


def _row(case: Case, timed: dict[str, Any], errors: Floats | None) -> dict[str, Any]:
    us = np.array([np.nan if x is None else x for x in timed["us"]])
    good = us[np.isfinite(us)]
    row = {
        "integrator": timed["name"],
        "steps": timed["steps"],
        "h": case.period / timed["steps"],
        "mean_us": float(good.mean()) if len(good) else None,
        "median_us": float(np.median(good)) if len(good) else None,
        "max_us": float(good.max()) if len(good) else None,
        "unsolved": timed["unsolved"],
        "blown_up": timed["blown_up"],
        "error": asdict(summary(errors)) if errors is not None else None,
    }
    if "difference" in timed:
        row["difference"] = timed["difference"]
    if timed["name"] == OURS and timed["steps"] == 1:
        row["by_switches"] = _by_switches(us, np.array(timed["switches"]))
    return row


def _by_switches(us: Floats, switches: NDArray[np.int_]) -> dict[str, Any]:
    """Times of steps without a switch, with one or two, with more."""
    groups = {"none": switches == 0, "one or two": (switches == 1) | (switches == 2)}
    groups["more"] = switches > 2
    return {
        name: {
            "steps": int(mask.sum()),
            "mean_us": float(us[mask].mean()),
            "median_us": float(np.median(us[mask])),
            "max_us": float(us[mask].max()),
        }
        for name, mask in groups.items()
        if mask.any()
    }


def _add_ratios(rows: list[dict[str, Any]]) -> None:
    """Medians over the rigid step's and over that of a step of Pinocchio calls."""
    times = {row["integrator"]: row["median_us"] for row in rows}
    for row in rows:
        for key, other in (("to_rigid", RIGID), ("to_aba", EXPLICIT_ABA)):
            base = times.get(other)
            row[key] = row["median_us"] / base if base and row["median_us"] else None


def goals(scenes: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was to be reached, as far as the scenes measured can tell."""
    found: list[dict[str, Any]] = []

    def add(goal: str, here: float | None, most: float) -> None:
        if here is not None:
            found.append({"goal": goal, "at_most": most, "here": here, "met": here <= most})

    by_name = {scene["scene"]: scene["rows"] for scene in scenes}
    for name, most in (("solo12-squat", 12.0), ("talos-squat", 40.0)):
        smooth = find(by_name.get(name, []), OURS, 1)
        if smooth is None:
            continue
        without = smooth["by_switches"].get("none", {})
        add(f"{name}: step without switch, median [us]", without.get("median_us"), most)
        add(f"{name}: over the rigid step", smooth["to_rigid"], 4.5)
        add(f"{name}: over an explicit step of Pinocchio calls", smooth["to_aba"], 1.5)
    _trot_goals(by_name.get("solo12-trot", []), add)
    return found


def _trot_goals(
    rows: Sequence[dict[str, Any]], add: Callable[[str, float | None, float], None]
) -> None:
    ours, rigid = find(rows, OURS, 1), find(rows, RIGID, 1)
    if ours is None or rigid is None:
        return
    few = ours["by_switches"].get("one or two", {})
    add("solo12-trot: step with one or two switches, mean [us]", few.get("mean_us"), 80.0)
    add("solo12-trot: mean over the rigid step's", ours["mean_us"] / rigid["mean_us"], 6.0)
    reached = [
        row["h"]
        for row in rows
        if row["integrator"] == "explicit-euler"
        and not row["error"]["failed"]
        and row["error"]["mean"] <= ours["error"]["mean"]
    ]
    add("solo12-trot: largest explicit step at our error [ms]", 1e3 * max(reached, default=0), 0.1)


def find(rows: Sequence[dict[str, Any]], integrator: str, steps: int) -> dict[str, Any] | None:
    """The row of that integrator and number of steps."""
    for row in rows:
        if row["integrator"] == integrator and row["steps"] == steps:
            return row
    return None
