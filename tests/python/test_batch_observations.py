"""What a Batch tells a controller: forces of contacts, columns of an observation."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
import stiction
from stiction import Batch

FEET = ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]


def driven(lanes: bool = True) -> Batch:
    """Solo-12 that lifts its feet."""
    batch = Batch(stiction.load("solo12"), 7, lanes=lanes, configuration="standing")
    gains = np.zeros(18)
    gains[6:] = 20.0
    batch.assign("kp", gains[None])
    batch.assign("kd", gains[None] / 60.0)
    batch.position_target += np.random.default_rng(1).uniform(-0.3, 0.3, batch.v.shape)
    return batch


def same_bits(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.mark.parametrize("lanes", [True, False])
def test_contact_forces_are_those_of_the_step(lanes: bool) -> None:
    batch = driven(lanes)
    feet = ["FR_FOOT", "ground", "HL_FOOT"]
    seen = set()
    for _ in range(40):
        batch.step(2)
        before = [batch.state(w) for w in range(7)]
        batch.step()
        forces = batch.contact_forces(feet)
        for w in range(7):
            sim = batch.simulator(w)
            sim.step(before[w], batch.control(w))
            expected = [
                sum(
                    np.linalg.norm(c.force_on_b_world)
                    for c in sim.contacts()
                    if name in (c.geometry_a_name, c.geometry_b_name)
                )
                for name in feet
            ]
            assert forces[w] == pytest.approx(expected, abs=1e-4)
            seen.add(forces[w, 0] > 0)
    assert seen == {True, False}
    batch.reset()
    assert (batch.contact_forces(feet) == 0).all()
    with pytest.raises(ValueError, match="given twice"):
        batch.contact_forces([1, 1])
    with pytest.raises(ValueError, match="FOOT"):
        batch.contact_forces(["LEG_FOOT"])


def test_observations_are_columns() -> None:
    batch = driven()
    batch.step(100)
    names = ["contact", "gravity", "v_body", "w_body", "height", "joint_q", "joint_v", "target"]
    seen = batch.observe(names, feet=FEET)
    assert seen.shape == (7, 4 + 3 + 3 + 3 + 1 + 12 + 12 + 18)
    assert same_bits(seen[:, :4], (batch.contact_forces(FEET) > 0).astype(float))
    assert seen[:, :4].any()
    for w in range(7):
        rotation = pinocchio.Quaternion(batch.q[w, 3:7]).toRotationMatrix()
        assert seen[w, 4:7] == pytest.approx(rotation.T @ [0, 0, -1], abs=1e-12)
    assert same_bits(seen[:, 7:13], batch.v[:, :6].copy())
    assert same_bits(seen[:, 13], batch.q[:, 2].copy())
    assert same_bits(seen[:, 14:26], batch.q[:, 7:].copy())
    assert same_bits(seen[:, 26:38], batch.v[:, 6:].copy())
    assert same_bits(seen[:, 38:], batch.position_target.copy())
    out = np.zeros(seen.shape, np.float32)
    assert batch.observe(names, feet=FEET, out=out) is out
    assert out == pytest.approx(seen, abs=1e-6)
    assert same_bits(batch.observe(["q", "v"]), np.hstack((batch.q, batch.v)))
    fixed = Batch(stiction.load("cartpole"), 2)
    assert fixed.observe(["q"]).shape == (2, fixed.scene.nq)
    for call, text in (
        (lambda: batch.observe(["speed"]), "'speed' is no observation; there are: v_body"),
        (lambda: batch.observe(["q", "q"]), "'q' is given twice"),
        (lambda: batch.observe(["contact"]), "needs feet"),
        (lambda: fixed.observe(["gravity"]), "'gravity' needs a free-flyer"),
        (lambda: batch.observe(["q"], out=np.zeros((7, 18))), r"out has shape \(7, 18\), float64"),
        (lambda: batch.observe(["q"], out=np.zeros((7, 19), int)), "int64: must be an array of fl"),
    ):
        with pytest.raises(ValueError, match=text):
            call()  # type: ignore[no-untyped-call]


def test_one_name_is_a_list_of_one() -> None:
    batch = driven()
    assert same_bits(batch.observe("gravity"), batch.observe(["gravity"]))
    assert same_bits(batch.observe("contact", FEET[0]), batch.observe(["contact"], [FEET[0]]))
    assert same_bits(batch.observe("pose", frames=0), batch.observe(["pose"], frames=[0]))
