"""Tables III and IV: the sliding cube keeps to the closed form of its time stepping."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("matplotlib", reason='figures: pip install ".[study]"')

from stiction_lab.studies.contact_models import consistency, cubes


def test_the_distance_of_two_slides_is_the_closed_form() -> None:
    """Semi-implicit Euler lags by mu g t dt / 2 while sliding, and by v dt / 2 at rest."""
    fine, coarse = consistency.of_the_scheme(1e-5), consistency.of_the_scheme(1e-3)
    rest = consistency.SPEED / (consistency.FRICTION * cubes.GRAVITY)
    expected = 0.5 * consistency.SPEED * 0.99e-3 * (consistency.DURATION - 0.5 * rest)
    assert consistency.distance(coarse, fine) == pytest.approx(expected, rel=1e-2)
    assert consistency.distance(coarse, coarse) == 0.0


@pytest.mark.parametrize("warm", [True, False])
def test_exact_solvers_follow_the_scheme(warm: bool) -> None:
    expected = consistency.of_the_scheme(1e-3)
    for name in ("ncp-newton", "ncp-pgs"):
        found = consistency.slide(name, 1e-3, 1e-10, warm)
        assert found.reached == 1.0
        assert np.abs(found.position[:, 1] - expected.position[:, 1]).max() < 1e-8
        assert np.abs(found.energy - expected.energy).max() < 1e-7
        assert consistency.energy_defect(found) < 1e-6


def test_relaxed_slides_take_off() -> None:
    """The first step ends with c_N = mu c_T and so c_T = (v - mu g dt) / (1 + mu^2); then a
    parabola, whose height in steps is c_N^2 / 2g + c_N dt / 2."""
    found = consistency.slide("ccp-admm", 1e-3, 1e-9)
    mu, g, dt = consistency.FRICTION, cubes.GRAVITY, 1e-3
    lift = mu * (consistency.SPEED - mu * g * dt) / (1.0 + mu**2)
    rise = found.position[:, 2].max() - found.position[0, 2]
    assert rise == pytest.approx(lift**2 / (2.0 * g) + 0.5 * lift * dt, rel=1e-3)
