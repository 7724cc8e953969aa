"""Which gradient leads a search to its end: exact, along the path, under noise, differences."""

from __future__ import annotations

import multiprocessing
import os
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager

import numpy as np
from stiction.not_converged import NotConvergedWarning
from stiction.pages.experiment import Effort, Experiment, Table, Tick

from .drawing import quantiles
from .searches import FIRST, ITERATIONS, KINDS, ZEROTH, search
from .tasks import Task, jump, push

SEEDS = 20
FORCES = {f"push from {force:g} N": force for force in (0.0, 1.0, 2.5, 5.0)}
TASKS = (*FORCES, "jump of Solo-12")
SETUP = f"""Single shooting by Levenberg and Marquardt, {ITERATIONS} iterations, judged by the exact
step. Push: a ball on two rails, 50 steps of 10 ms, a force in x and y for each, moves a box of 1 kg
(friction 0.4) to a place 25 cm off; with 0 N at the start it never touches the box, which is 7 cm
away. Jump: Solo-12 stands, 60 steps of 5 ms, torques of its 12 joints in 12 parts of the time on
top of its servos, to 45 cm above the ground and upright. Cost: (10 times the miss in m)² + 9
|vector part of the quaternion|² (jump) + (0.002 force in N)² or (0.02 torque in N m)². {{seeds}}
seeds: each another target, by up to 3 cm, another start (jump, 0.05 N m) and other noise (5 N, 0.3
N m). Central path: ε from 1e-2 J (push) or 1e-3 J (jump), halved to 1e-9 or fixed at a hundredth,
or the ten of stiction.along_path, one iteration each. Noise of order 1: mean of {FIRST} exact
Jacobians; of order 0: {ZEROTH} rollouts. Forward differences by 1e-5."""
EXPLANATION = """A search counts as at the best if its cost is within 10 % of the least that any
kind reached on that seed. From 0 N the exact gradient is zero, and right: nothing it can change by
little moves the box. Searches on the path alone end where the smoothed step, not the exact one, is
at its best."""

Result = tuple[str, int, str, float, float, float]
"""Task, seed, kind, cost, miss [m], thread time [s]."""


def run(effort: Effort, tick: Tick) -> Experiment:
    """All kinds of gradients on all tasks; seeds in processes."""
    seeds = effort.count(SEEDS, 1)
    experiment = Experiment(
        "optimisation", "Which gradient for a search", SETUP.format(seeds=seeds), EXPLANATION
    )
    work = [(name, effort.seed + k) for k in range(seeds) for name in TASKS]
    found: list[Result] = []
    tick(f"{len(work)} searches with {len(KINDS)} kinds each", 0.0)
    for done, rows in enumerate(_all(work)):
        found += rows
        tick(f"{rows[0][0]}, seed {rows[0][1]}", (done + 1) / len(work))
    found.sort(key=lambda row: (TASKS.index(row[0]), row[1]))
    for task, seed, kind, cost, miss, seconds in found:
        experiment.add_rows(
            task=task, seed=seed, gradient=kind, cost=cost, miss_m=miss, cpu_seconds=seconds
        )
    for task in TASKS:
        experiment.tables.append(_table(task, [row for row in found if row[0] == task]))
    _draw(experiment, found)
    return experiment


def _all(work: list[tuple[str, int]]) -> Iterator[list[Result]]:
    jobs = min(os.cpu_count() or 1, len(work))
    context = multiprocessing.get_context("spawn")
    with _one_thread_each(), ProcessPoolExecutor(jobs, mp_context=context) as pool:
        for done in as_completed([pool.submit(searches_of, *one) for one in work]):
            yield done.result()


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """NumPy's in processes that start here: their matrices are small."""
    before = os.environ.get("OPENBLAS_NUM_THREADS")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["OPENBLAS_NUM_THREADS"]
        else:
            os.environ["OPENBLAS_NUM_THREADS"] = before


def searches_of(name: str, seed: int) -> list[Result]:
    """Every kind of gradient on one task."""
    warnings.simplefilter("ignore", NotConvergedWarning)
    rows: list[Result] = []
    for kind in KINDS:
        task, begin = task_of(name, seed), time.thread_time()
        x = search(kind, task, np.random.default_rng([seed, 1]))
        seconds = time.thread_time() - begin
        rows.append((name, seed, kind, *task.judged(x), seconds))
    return rows


def task_of(name: str, seed: int) -> Task:
    """One of `TASKS`."""
    generator = np.random.default_rng([seed, 0])
    return push(FORCES[name], generator) if name in FORCES else jump(generator)


def _table(task: str, rows: list[Result]) -> Table:
    best: dict[int, float] = {}
    for _, seed, _, cost, _, _ in rows:
        best[seed] = min(cost, best.get(seed, cost))
    table = Table(
        task[0].upper() + task[1:],
        ["gradient", "at the best", "cost, median", "quartiles", "miss, median [mm]",
         "worst [mm]", "CPU [s]"],
    )  # fmt: skip
    for kind, words in KINDS.items():
        mine = [row for row in rows if row[2] == kind]
        costs, misses, times = (np.array([row[k] for row in mine]) for k in (3, 4, 5))
        hits = sum(row[3] <= 1.1 * best[row[1]] for row in mine)
        low, high = np.quantile(costs, [0.25, 0.75])
        table.rows.append([
            words, f"{hits} of {len(mine)}", f"{np.median(costs):.4f}",
            f"{low:.4f} … {high:.4f}",
            f"{1e3 * np.median(misses):.1f}", f"{1e3 * misses.max():.1f}",
            f"{np.median(times):.2f}",
        ])  # fmt: skip
    return table


def _draw(experiment: Experiment, found: list[Result]) -> None:
    def costs(task: str) -> list[np.ndarray[tuple[int], np.dtype[np.float64]]]:
        return [
            np.array([row[3] for row in found if row[0] == task and row[2] == kind])
            for kind in KINDS
        ]

    for caption, names, scale in (
        ("A box pushed to a place", list(FORCES), "log"),
        ("A jump of Solo-12", [TASKS[-1]], "linear"),
    ):
        series = {name: costs(name) for name in names}
        drawn = quantiles(list(KINDS.values()), series, "cost at the end", scale=scale)
        experiment.figures.append((f"{caption}: median and quartiles over the seeds", drawn))
