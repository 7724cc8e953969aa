"""The study of randomized smoothing: the quick run gives a complete report, and what it says."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason='figures: pip install ".[study]"')

import stiction
from stiction.pages.experiment import QUICK, Effort
from stiction_lab.studies.collision_derivatives import (
    contact_points,
    household,
    paper,
    rough_shapes,
    search,
    timings,
)
from stiction_lab.studies.collision_derivatives.study import EXPERIMENTS, run_study


def test_the_quick_run_is_a_whole_report(tmp_path: Path) -> None:
    study = run_study(tmp_path, Effort(QUICK))
    assert study.left_out == {} and study.page is not None
    assert [e.name for e in study.experiments] == [
        "table1_contact_points",
        "ycb_contact_points",
        "table2_timings",
    ]
    assert len(study.experiments) == len(EXPERIMENTS)
    costs, objects, times = study.experiments
    assert len(costs.columns["cost"]) == 25 * 3 * len(contact_points.METHODS)
    assert all(t > 0.0 for t in times.columns["microseconds"])
    assert json.loads((tmp_path / "study.json").read_text())["facts"]["seed"] == 0
    # The smoothed derivatives lead to the wanted points, those of the corners alone do not.
    of = {
        name: np.array(
            [c for s, m, c in zip(*_columns(costs), strict=True) if (s, m) == ("damped", name)]
        )
        for name in contact_points.METHODS
    }
    assert np.quantile(of["gumbel, level 1"], 0.75) < 1e-8
    assert np.quantile(of["exact"], 0.75) > 1e-2
    # Without its weak directions the step needs no damping.
    truncated = [
        c
        for s, m, c in zip(*_columns(costs), strict=True)
        if (s, m) == ("truncated", "gumbel, level 1")
    ]
    assert np.median(truncated) < 1e-8
    assert len(objects.columns["cost"]) == 21 * 2 * len(household.METHODS)
    assert len(objects.figures) == 2


def _columns(e: contact_points.Experiment) -> tuple[list[str], list[str], list[float]]:
    return e.columns["search"], e.columns["method"], e.columns["cost"]


def test_methods_are_those_of_the_paper() -> None:
    assert set(paper.TABLE_1) <= set(contact_points.METHODS)
    assert set(paper.TABLE_2) <= set(timings.METHODS)


def test_the_jacobian_is_that_of_the_residual() -> None:
    generator = np.random.default_rng(3)
    ball = stiction.Ellipsoid([0.5, 0.7, 0.6])
    problem = search.Problem(ball, ball, np.array([0.5, 0, 0]), np.array([0, 0.7, 0]))
    X = rough_shapes.random_pose(2.0, generator)
    found, _ = problem.residual(X)
    J = problem.jacobian(X, found, {"method": "exact"})
    for k in range(6):
        twist = np.zeros(6)
        twist[k] = 1e-5
        up, down = (problem.residual(search.moved(X, s * twist))[1] for s in (1.0, -1.0))
        assert np.allclose((up - down) / 2e-5, J[:, k], atol=1e-7)


def test_rough_shapes_have_twelve_corners() -> None:
    rough = rough_shapes.rough_ellipsoid(np.random.default_rng(4))
    assert rough.vertices.shape == (12, 3)
    assert np.allclose(np.linalg.norm(rough_shapes.icosahedron(), axis=1), 1.0)
    X = rough_shapes.random_pose(1.0, np.random.default_rng(5))
    assert np.allclose(X[:3, :3] @ X[:3, :3].T, np.eye(3)) and np.linalg.det(X[:3, :3]) > 0
