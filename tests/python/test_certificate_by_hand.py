"""The engine-neutral certificate on samples whose numbers are known."""

from __future__ import annotations

import numpy as np
import pytest
from stiction.certificate import ContactSample, certify, distance_to_cone


def sample(impulse: object, velocity: object, mu: float = 0.5) -> ContactSample:
    """Contacts on the ground that touch."""
    rows = np.asarray(impulse, dtype=float)
    up = np.tile([0.0, 0.0, 1.0], (len(rows), 1))
    return ContactSample(
        position=0 * up,
        normal=up,
        gap=np.zeros(len(rows)),
        friction=np.full(len(rows), mu),
        impulse=rows,
        velocity=velocity,
    )


@pytest.mark.parametrize(("share", "loaded"), [(1.0, 2), (0.3, 2), (1e-3, 2), (1e-5, 2), (1e-8, 1)])
def test_a_contact_is_loaded_by_a_millionth_of_the_largest(share: float, loaded: int) -> None:
    found = certify(sample([[0, 0, 2.0], [0, 0, 2.0 * share]], [[0, 0, 0], [0.3, 0.4, 0]]), 1e-3)
    assert found is not None and found.loaded == loaded
    assert found.creep == pytest.approx(0.5 if loaded == 2 else 0.0)


def nearest_by_search(x: np.ndarray, mu: float) -> float:
    """Distance of x from points of the cone on a fine grid of heights and radii."""
    height = np.linspace(0.0, 3.0, 1501)[:, None]
    radius = np.linspace(0.0, 1.0, 301)[None, :] * mu * height
    return float(np.min(np.hypot(np.hypot(*x[:2]) - radius, x[2] - height)))


@pytest.mark.parametrize("mu", [0.0, 0.3, 1.0, 2.0])
def test_distance_to_the_cone(mu: float) -> None:
    """Inside, beside and below the apex, where the apex itself is nearest."""
    rng = np.random.default_rng(3)
    points, regions = rng.uniform(-1, 1, (60, 3)), set()
    points[:20, :2] *= 0.1
    for x, found in zip(points, distance_to_cone(points, np.full(60, mu)), strict=True):
        assert found == pytest.approx(nearest_by_search(x, mu), abs=4e-3)
        radius = np.hypot(*x[:2])
        below = mu * radius + x[2] <= 0
        regions.add("below" if below else "inside" if radius <= mu * x[2] else "beside")
        if below:
            assert found == pytest.approx(np.linalg.norm(x), rel=1e-15)
    assert regions >= {"below", "beside"} and (mu == 0.0 or "inside" in regions)
