"""Figure 13: a floor that gives way, and compliance added to a contact problem."""

from __future__ import annotations

import numpy as np
import pytest
import stiction

pytest.importorskip("matplotlib", reason='figures: pip install ".[study]"')

from stiction_lab.studies.contact_models import compliance, floor, trot


def test_solo12_sinks_by_force_over_stiffness() -> None:
    weight = 9.81 * float(np.sum(stiction.load("solo12").parameters.mass))
    soft = floor.stand(2e3)
    assert soft.force.sum() == pytest.approx(weight, rel=1e-4)
    assert np.allclose(soft.penetration, soft.force / 2e3, rtol=1e-3)
    assert soft.speed < 1e-9  # friction is dry
    rigid = floor.stand(np.inf)
    assert rigid.force.sum() == pytest.approx(weight, rel=1e-4)
    assert rigid.penetration.max() < 1e-6


def test_compliance_of_one_problem_is_a_velocity_per_impulse() -> None:
    rigid = floor.stand(np.inf).problem
    soft = compliance.with_compliance(rigid, normal=0.0, tangential=1e-3)
    found = stiction.solve(soft, tolerance=1e-12)
    c = (rigid.dense() @ found.impulse + rigid.g).reshape(-1, 3)
    impulse = found.impulse.reshape(-1, 3)
    assert np.abs(impulse[:, :2]).max() > 0.0
    assert np.allclose(c[:, :2], -1e-3 * impulse[:, :2], atol=1e-12)
    assert np.abs(c[:, 2]).max() < 1e-10


def test_solo12_shears_by_force_over_stiffness_where_asked_to() -> None:
    dry, sprung = floor.stand(2e3), floor.stand(2e3, tangential=True)
    assert not dry.extension.any() and dry.speed < 1e-9
    assert sprung.extension.min() > 1e-4
    assert np.allclose(sprung.extension, sprung.shear / 2e3, rtol=1e-3)


def test_feet_sway_on_springs_and_stick_on_dry_friction() -> None:
    dry, sprung = (floor.sway(1e3, tangential) for tangential in (False, True))
    assert np.abs(dry.velocity).max() < 1e-8
    assert np.abs(sprung.velocity).max() > 1e-3
    assert sprung.reversals >= 2
    # The pull shears four feet by F / k together, servos and springs in equilibrium at last.
    assert 1e-3 * sprung.velocity.sum() == pytest.approx(floor.PULL / 4e3, rel=0.2)


def test_a_walk_is_judged_by_its_own_motion() -> None:
    """Slip and lift-off are summed from a run whose numbers are known."""
    scene = stiction.load("solo12-trot")
    targets = stiction.trot_targets(scene, 1.4)
    walk = trot._walk(scene, "ncp-newton", targets)
    # Feet that turn sink by 1e-7 m within a step, and come back at a fifth of that a step.
    assert walk.run.converged.all() and walk.lift < 1e-4
    steady = walk.run.time >= 2.0 * trot.GAIT.start
    moved = walk.run.q[-1, 0] - walk.run.q[steady][0, 0]
    assert walk.speed == pytest.approx(moved / (steady.sum() - 1) / 1e-3)
    assert walk.speed > 0.5 * trot.GAIT.speed and walk.slip > 0.0
