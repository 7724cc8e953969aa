"""Figure 16 and the performance profiles: the problems timed are those of the steps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import stiction

pytest.importorskip("matplotlib", reason='figures: pip install ".[study]"')

from stiction.pages.experiment import QUICK, Effort, StudyError
from stiction_lab.studies.contact_models import problem_set, profiles, robot_problems


def test_warm_starts_are_those_of_the_simulator() -> None:
    """From them a solve is the step's own, to the bit."""
    trajectory = robot_problems.TRAJECTORIES["Solo-12"]
    recorded = robot_problems.record(trajectory, 300, Effort(QUICK))
    scene = stiction.load("solo12")
    sim = stiction.Simulator(scene, dt=1e-3, tolerance=robot_problems.TOLERANCE)
    state, control = sim.initial_state(), sim.hold()
    assert len(recorded) == 300
    for k, step in enumerate(recorded):
        force = trajectory.force * np.sin(2.0 * state.time + np.arange(3.0))
        control.wrenches = [stiction.ExternalWrench(scene.body("base_link"), force)]
        sim.step(state, control)
        assert np.array_equal(sim.problem().g, step.problem.g), k
        ours = stiction.solve(
            step.problem, tolerance=robot_problems.TOLERANCE, warm_start=step.warm_start
        )
        assert ours.iterations == sim.report().iterations
        assert ours.impulse.tobytes() == sim.solution().impulse.tobytes()
    assert np.abs(recorded[-1].warm_start).max() > 0.0


def test_profiles_of_three_problems() -> None:
    times = {"a": np.array([1.0, 4.0, np.inf]), "b": np.array([2.0, 1.0, np.inf])}
    shares = profiles.profile(times, np.array([1.0, 2.0, 10.0]))
    assert shares["a"].tolist() == pytest.approx([1 / 3, 1 / 3, 2 / 3])
    assert shares["b"].tolist() == pytest.approx([1 / 3, 2 / 3, 2 / 3])


def test_the_collection_is_read_as_it_was_written() -> None:
    collected = problem_set.load_set(None, stride=60)
    with np.load(problem_set.IN_REPOSITORY) as data:
        for c in collected:
            G = c.problem.dense()
            assert np.array_equal(G, G.T)
            assert np.array_equal(G[np.tril_indices(len(G))], data[f"{c.name}_Gtril"])
            assert np.array_equal(c.nearby.g, data[f"{c.name}_gwarm"])
    assert len(problem_set.load_set(None)) == 732


def test_a_missing_collection_is_named() -> None:
    with pytest.raises(StudyError, match=r"nowhere\.npz does not exist"):
        problem_set.load_set(Path("nowhere.npz"))
