"""Drake's SAP as a further engine of the step benchmark, where it is installed."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mujoco", reason="the peer is not installed: pip install mujoco")
pytest.importorskip("pydrake", reason="Drake is not installed: pip install drake")

from stiction_lab.bench.agreement import compare_facts
from stiction_lab.bench.catalogue import scene
from stiction_lab.bench.measure import white_noise
from stiction_lab.bench.step import Effort, bench_step
from stiction_lab.bench.tables import step_tables


@pytest.fixture(scope="module")
def worlds() -> tuple[Any, Any]:
    """Ours and Drake's at rest."""
    chosen = scene("solo12")
    ours = chosen.ours()
    drake = chosen.build_others(ours)[0]
    assert compare_facts(ours.facts(), drake.facts()) == []
    for world in (ours, drake):
        world.settle(0.5)
    return ours, drake


def test_it_carries_the_robot(worlds: tuple[Any, Any]) -> None:
    """Normals up, forces on the robot or on the ground, the weight held: axes and units."""
    ours, drake = worlds
    weight = ours.facts().mass * 9.81 * drake.dt
    drake.restart()
    sample = drake.observe(np.zeros(12)).sample
    assert np.abs(sample.normal[:, 2]).min() > 0.999
    assert sample.impulse[:, 2].sum() == pytest.approx(weight, rel=0.02)
    assert np.all(sample.gap < 0) and np.abs(sample.velocity).max() < 1e-2
    np.testing.assert_allclose(sample.position[:, 2], 0.0, atol=2e-3)


def test_noise_of_a_rollout_is_that_of_single_steps(worlds: tuple[Any, Any]) -> None:
    """The same rows, by one call or one by one, end in the same state; restart forgets them."""
    drake = worlds[1]
    noise = white_noise(30, 12, 0.05)

    def positions() -> np.ndarray:
        return np.array(drake._plant.GetPositions(drake._context()))

    drake.restart()
    start = positions()
    for row in noise:
        drake.observe(row)
    stepped = positions()
    drake.prepare_rollout(noise)
    np.testing.assert_array_equal(positions(), start)
    drake.rollout()
    np.testing.assert_allclose(positions(), stepped, atol=1e-12)
    assert np.abs(stepped - start).max() > 1e-3


def test_its_rows_are_in_the_document() -> None:
    result = bench_step(scene("solo12"), Effort(chunks=0.1, reps=0.2, settle=0.5))
    document = json.loads(json.dumps(result.as_dict()))
    assert set(document["other_engines"]) == {"drake-sap", "drake-lagged"}
    for drive in (document, document["noise"]):
        row = drive["other_engines"]["drake-sap"]
        assert row["us"] == drive["variants_us"]["drake-sap"] > 0 and row["contacts"] == 4.0
        assert row["certificate"]["maximum"]["penetration"] > 1e-4
        assert not drive["peer"].startswith("drake")
    assert document["machine"]["versions"].keys() >= {"drake"}
    assert len(step_tables(document).renderables) == 4
