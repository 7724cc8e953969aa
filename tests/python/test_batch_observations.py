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


def test_masses_and_gravity_of_its_own_are_seen() -> None:
    """By `com`, `wrench` and `gravity`, whatever is asked for beside them."""
    batch = driven()
    batch.observe(["wrench"], FEET)  # from here on it knows where steps begin
    batch.step(40)
    before = [batch.state(w) for w in range(7)]
    batch.step()
    plain = batch.observe(["wrench"], FEET).reshape(7, 4, 6)
    rng = np.random.default_rng(4)
    batch.assign("mass_scale", rng.uniform(0.3, 3.0, (7, batch.scene.num_bodies)))
    down = rng.normal(size=(7, 3))
    batch.assign("gravity", down)
    centre = batch.observe(["com"])
    assert same_bits(batch.observe(["q", "com", "pose"], frames="FL_FOOT")[:, 19:22], centre)
    wrench = batch.observe(["wrench"], FEET).reshape(7, 4, 6)
    moved = 0.0
    for w in range(7):
        sim = batch.simulator(w)

        def at(masses, state, sim=sim):
            p = sim.parameters
            places = [
                X.act(np.asarray(c)) for X, c in zip(sim.body_poses(state), p.com, strict=True)
            ]
            return np.average(places, axis=0, weights=masses)

        mass, scene_mass = sim.parameters.mass, batch.scene.parameters.mass
        assert centre[w] == pytest.approx(at(mass, batch.state(w)), abs=1e-12)
        # The same forces about another point.
        arm = at(scene_mass, before[w]) - at(mass, before[w])
        force = plain[w, :, :3]
        assert same_bits(wrench[w, :, :3].copy(), force.copy())
        assert wrench[w, :, 3:] == pytest.approx(plain[w, :, 3:] + np.cross(arm, force), abs=1e-9)
        moved = max(moved, np.abs(wrench[w] - plain[w]).max())
        rotation = pinocchio.Quaternion(batch.q[w, 3:7]).toRotationMatrix()
        seen = rotation @ batch.observe(["gravity"])[w]
        assert seen == pytest.approx(down[w] / np.linalg.norm(down[w]), abs=1e-12)
    assert moved > 1e-3


@pytest.mark.parametrize("lanes", [True, False])
def test_a_failed_step_leaves_what_the_last_whole_one_was(lanes: bool) -> None:
    batch, good = driven(lanes), driven(lanes)
    names = ["force", "wrench", "imu"]
    for b in (batch, good):
        b.observe(names, FEET, imu="base_link")
        b.step(3)
    seen = batch.observe(names, FEET, imu="base_link")
    batch.wrench("base_link")[2, 3:] = 1e308
    for b in (batch, good):
        b.step(2)
    assert batch.frozen.tolist() == [w == 2 for w in range(7)]
    assert batch.certificate[2] == np.inf and (np.delete(batch.certificate, 2) <= 1e-8).all()
    after = batch.observe(names, FEET, imu="base_link")
    assert np.abs(seen[2, :12]).max() > 1.0 and same_bits(after[2], seen[2])
    beside = good.observe(names, FEET, imu="base_link")
    assert same_bits(np.delete(after, 2, 0), np.delete(beside, 2, 0))


@pytest.mark.parametrize("lanes", [True, False])
def test_what_fails_in_a_later_substep_ends_with_the_one_before(lanes: bool) -> None:
    """A turning box whose velocity leaves all bounds in the third substep of a call."""
    scene = stiction.Scene()
    scene.add_body("box", stiction.Box([0.1, 0.2, 0.3]), 1.0)
    names = ["force", "imu", "com"]

    def flown(substeps: int) -> tuple[Batch, np.ndarray]:
        batch = Batch(scene, 3, lanes=lanes, dt=1e-3)
        batch.observe(names, "box", imu="box")
        batch.assign("gravity", 0.0)
        batch.v[:, 3:] = 1.0, 2.0, 3.0
        batch.v[1, :] = 9.75e74, 0, 0, 0, 0, 0
        batch.wrench("box")[1, 0] = 1e76
        batch.step(substeps)
        return batch, batch.observe(names, "box", imu="box")

    (whole, expected), (failed, seen) = flown(2), flown(4)
    assert not whole.frozen.any() and failed.frozen.tolist() == [False, True, False]
    assert same_bits(failed.q[1], whole.q[1]) and same_bits(failed.v[1], whole.v[1])
    assert same_bits(seen[1], expected[1]) and not same_bits(seen[0], expected[0])
    assert np.isfinite(seen).all() and np.abs(seen[1]).max() > 1e70


def test_a_frozen_world_is_not_certified() -> None:
    batch = driven()
    batch.step()
    batch.v[4, 2] = np.nan
    batch.step()
    assert batch.frozen[4] and batch.certificate[4] == np.inf and batch.contacts[4] == 0


def test_gravity_is_a_direction_for_all_worlds_or_one_for_each() -> None:
    batch = driven()
    for given in ([0.0, 0.0, -3.7], [[0.0, 0.0, -3.7]], np.tile([0.0, 0.0, -3.7], (7, 1))):
        batch.assign("gravity", 0.0)
        assert not batch.values("gravity").any()
        batch.assign("gravity", given)
        assert np.array_equal(batch.values("gravity"), np.tile([0.0, 0.0, -3.7], (7, 1)))
