"""Steps that jump from a stop to a bounce, and the matrices that say so."""

from __future__ import annotations

import numpy as np
import pytest
import stiction


def ball(restitution: float) -> tuple[stiction.Simulator, stiction.State]:
    material = stiction.Material(friction=0.4, restitution=restitution)
    scene = stiction.Scene()
    scene.add_ground(material)
    at = np.eye(4)
    at[2, 3] = 0.05
    scene.add_body("ball", stiction.Sphere(0.05), 1.0, at, material)
    sim = stiction.Simulator(scene, dt=1e-3, baumgarte=1.0)
    return sim, sim.initial_state()


@pytest.mark.parametrize("share", [0.9, 1 - 1e-6, 1 + 1e-6, 1.1])
def test_restitution_thresholds_are_switches(share: float) -> None:
    """The step jumps there: to a bounce."""
    threshold = 2 * 9.81 * 1e-3
    sim, state = ball(0.6)
    state.v[:] = [0.5, 0, -threshold * share, 3, 0, 1]
    report = sim.step_derivatives(state, np.zeros(6)).report
    off = abs(share - 1) * threshold
    assert report.smallest_margin <= off * (1 + 1e-6) + 1e-12
    assert report.two_sided == (off > 1e-4 * threshold)
    assert report.num_at_switch == (not report.two_sided)
    sim, state = ball(0.0)
    state.v[:] = [0.5, 0, -threshold * share, 3, 0, 1]
    report = sim.step_derivatives(state, np.zeros(6)).report
    assert report.two_sided and report.smallest_margin > 1e-3


def test_a_bounce_may_miss() -> None:
    """Fast, but hardly closing within the step: with less speed it does not bounce at all."""
    sim, state = ball(0.6)
    state.q[2] += 0.5e-3 - 1e-8
    state.v[2] = -0.5 + 9.81e-3
    d = sim.step_derivatives(state, np.zeros(6))
    assert d.next_state.v[2] > 0.29
    assert d.report.smallest_margin == pytest.approx(1e-5, rel=1e-2)


def test_matrices_of_one_island_are_views() -> None:
    sim = stiction.Simulator(stiction.load("solo12"))
    d = sim.step_derivatives(sim.initial_state("standing"))
    assert len(d.islands) == 1 and d.A.base is not None and not d.A.flags.writeable
    assert not d.B.flags.writeable and not d.by("v").flags.writeable
    np.testing.assert_array_equal(np.hstack([d.A, d.B]), d.islands[0].values)
    np.testing.assert_array_equal(d.by("v"), d.A[:, 18:])
