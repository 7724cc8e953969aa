"""The study of derivatives of steps: a quick run gives a complete report, and what it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import stiction

pytest.importorskip("matplotlib", reason='figures: pip install ".[study]"')

from stiction.pages.experiment import QUICK, Effort
from stiction_lab.studies.differentiable import (
    cascade,
    identification,
    kinks,
    modes,
    optimisation,
    pairs,
    searches,
    solo_log,
)
from stiction_lab.studies.differentiable.study import EXPERIMENTS, run_study


def test_the_quick_run_is_a_whole_report(tmp_path: Path) -> None:
    names = [name for name in EXPERIMENTS if name not in ("optimisation", "cost", "identification")]
    study = run_study(tmp_path, Effort(QUICK), names)
    assert study.left_out == {} and [e.name for e in study.experiments] == names
    by_mode, by_pair = study.experiments[:2]
    assert set(by_mode.columns["kind"]) == set(modes.KINDS)
    constant = ("recovery, capped", "q")  # its report calls every such column inexact
    for kind, block in {(k, b) for k in modes.KINDS for b in modes.BLOCKS}:
        columns = (by_mode.columns[name] for name in ("kind", "block", "error", "kink"))
        rows = zip(*columns, strict=True)
        mine = [error for k, b, error, kink in rows if (k, b) == (kind, block) and not kink]
        assert mine or (kind, block) == constant
        assert max(mine, default=0.0) <= 1e-6, (kind, block)
    assert len(by_pair.tables[0].rows) == len(list(pairs.pairs())) == 49
    errors = np.array(by_pair.columns["error"])
    assert np.nanquantile(errors, 0.99) <= 1e-6


def test_jacobians_of_the_tasks_are_those_of_their_residuals() -> None:
    for name in ("push from 0 N", "jump of Solo-12"):
        task = optimisation.task_of(name, 3)
        x = task.start + 1e-3
        J = task.jacobian(task.sim, x)
        D = searches.differences(task, x, np.random.default_rng(0))
        assert abs(J - D).max() <= 1e-5 * abs(J).max()


def test_the_exact_gradient_is_zero_from_afar_and_the_path_is_not() -> None:
    task = optimisation.task_of("push from 0 N", 0)
    assert not task.jacobian(task.sim, task.start)[:2].any()
    assert task.jacobian(task.sim.smoothed(1e-2), task.start)[:2].any()
    end = searches.search("path, then exact", task, np.random.default_rng(0))
    assert task.judged(end)[1] < 1e-3 < task.judged(task.start)[1]


@pytest.mark.fuzz
def test_searches_end_as_the_page_says(tmp_path: Path) -> None:
    """One seed: a minute and a half of CPU time, in processes."""
    study = run_study(tmp_path, Effort(QUICK), ["optimisation"])
    rows = study.experiments[0].columns
    misses = dict(
        zip(zip(rows["task"], rows["gradient"], strict=True), rows["miss_m"], strict=True)
    )
    assert len(misses) == len(optimisation.TASKS) * len(searches.KINDS)
    assert misses["push from 0 N", "exact"] == misses["push from 0 N", "differences"] > 0.2
    for task in optimisation.TASKS[:-1]:
        assert misses[task, "path, then exact"] < 1e-3 < misses[task, "path, fixed"]


@pytest.mark.parametrize("speed", [0.0, 0.5])
def test_the_cascade_ends_at_the_derivative_of_the_whole_problem(speed: float) -> None:
    sim, state, control = modes.solo(np.random.default_rng(1), -2e-5, speed)
    sim.step(state, control)
    problem = sim.problem()
    solution = stiction.solve(problem, tolerance=1e-13)
    parts = cascade.programs(problem, solution)
    assert parts.E.shape[1] == (4 if speed else 0) and parts.radius() < 0.9
    rows, n = np.r_[parts.N, parts.T], len(parts.N)
    w = np.random.default_rng(2).normal(size=len(rows))
    limit = np.concatenate(parts.at_once(w[:n], w[n:]))
    full = np.zeros(problem.num_rows)
    full[rows] = w
    ours = (full @ stiction.solution_derivatives(problem, solution).by_g)[rows]
    assert abs(ours - limit).max() < 1e-6 * abs(limit).max()
    off = [
        abs(np.concatenate(parts.reverse(w[:n], w[n:], passes)) - limit).max()
        for passes in (1, 10, 200)
    ]
    assert off[0] > 3 * off[1] > 3e3 * off[2]


def test_kinks_have_two_slopes_and_the_derivative_is_one() -> None:
    found = [kinks.sides(*case) for case in kinks.cases().values()]
    rest, smooth, _, border, *_, turning, _, hit = found
    assert rest[0] == pytest.approx(rest[2], rel=1e-6) and rest[1] == pytest.approx(5 * rest[0])
    assert rest[3].num_gap_kinks == 4 and not rest[3].two_sided
    assert smooth[0] == pytest.approx(smooth[1], rel=1e-6) == smooth[2] and smooth[3].two_sided
    assert border[3].num_at_switch == 4 and abs(border[1]) > 1e3 * abs(border[2])
    assert turning[3].not_unique == 1 and turning[0] == pytest.approx(turning[1], rel=1e-3)
    assert hit[3].not_unique > 0 and abs(hit[0] - hit[1]) < 1e-5


def test_numbers_of_solo12_come_back_with_their_deviations() -> None:
    """And differences take the same way at more than five times the price."""
    log = solo_log.made(0)
    found = {kind: identification.identify(log, kind) for kind in ("exact", "forward")}
    exact, forward = found.values()
    spread = np.sqrt(np.diag(exact.covariance))
    assert solo_log.NUMBERS >= 10 and spread[36:].max() < 0.01
    assert np.sqrt(np.mean(((exact.y - log.truth) / spread) ** 2)) < 1.5
    assert abs((forward.y - exact.y) / spread).max() < 0.1
    assert forward.rollouts > 5 * exact.rollouts


def test_gains_and_damping_are_one_number_where_no_speed_is_asked_for() -> None:
    log = solo_log.made(0, speeds=0.0)
    _, direction = identification.unseen(log)[0]
    names = dict(zip(solo_log.NAMES, direction, strict=True))
    x = np.exp(log.truth[36:]) * solo_log.GUESS
    gain = x[solo_log.NAMES.index("kd")] * names["kd"]
    for part in solo_log.PARTS:
        damping = x[solo_log.NAMES.index(f"damping, {part}")] * names[f"damping, {part}"]
        assert damping == pytest.approx(-gain, rel=1e-3)
    assert not identification.unseen(solo_log.made(0))
