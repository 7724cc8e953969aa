"""The study of derivatives of steps: a quick run gives a complete report, and what it says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason='figures: pip install ".[study]"')

from stiction.pages.experiment import QUICK, Effort
from stiction_lab.studies.differentiable import modes, optimisation, pairs, searches
from stiction_lab.studies.differentiable.study import EXPERIMENTS, run_study


def test_the_quick_run_is_a_whole_report(tmp_path: Path) -> None:
    names = [name for name in EXPERIMENTS if name not in ("optimisation", "cost")]
    study = run_study(tmp_path, Effort(QUICK), names)
    assert study.left_out == {} and [e.name for e in study.experiments] == names
    by_mode, by_pair = study.experiments[:2]
    assert set(by_mode.columns["kind"]) == set(modes.KINDS)
    for kind, block in {(k, b) for k in modes.KINDS for b in modes.BLOCKS}:
        columns = (by_mode.columns[name] for name in ("kind", "block", "error", "kink"))
        rows = zip(*columns, strict=True)
        mine = [error for k, b, error, kink in rows if (k, b) == (kind, block) and not kink]
        assert mine and max(mine) <= 1e-6, (kind, block)
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
