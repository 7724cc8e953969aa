"""The benchmark: its certificate finds planted errors, unequal work gets no ratio."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import numpy as np
import pinocchio
import pytest
import stiction
from stiction.certificate import ContactSample, StepCertificate, certify, summarize

DT = 1e-3


def needs_peer() -> None:
    pytest.importorskip("mujoco", reason="the peer is not installed: pip install mujoco")


# --- the certificate ----------------------------------------------------------------------------


def good_sample(**changes: Any) -> ContactSample:
    """Three contacts that obey the laws exactly: one sticks, one slides, one is open."""
    fields: dict[str, Any] = {
        "position": np.zeros((3, 3)),
        "normal": np.tile([0.0, 0.0, 1.0], (3, 1)),
        "gap": np.array([0.0, 0.0, 0.01]),
        "friction": np.array([0.5, 0.5, 0.5]),
        "impulse": np.array([[0.1, 0.0, 1.0], [-0.5, 0.0, 1.0], [0.0, 0.0, 0.0]]),
        "velocity": np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.0, 0.0, -1.0]]),
    }
    return ContactSample(**{**fields, **changes})


def test_exact_contacts_have_a_clean_certificate() -> None:
    step = certify(good_sample(), DT)
    assert step == StepCertificate(contacts=3, loaded=2, sliding=1)


def planted(field: str, row: int, value: Any) -> StepCertificate:
    """The certificate with one row of one array replaced."""
    array = np.array(getattr(good_sample(), field), dtype=float)
    array[row] = value
    step = certify(good_sample(**{field: array}), DT)
    assert step is not None
    return step


def test_planted_errors_are_found_with_their_size() -> None:
    # A force across a gap of 2 mm: 1 N s x 2e-3 m / 1e-3 s = 2 J.
    assert planted("gap", 0, 2e-3).normal == pytest.approx(2.0)
    assert planted("gap", 0, -3e-4).penetration == pytest.approx(3e-4)
    # Falls through: moves down 5 m/s for a step.
    assert planted("velocity", 0, [0, 0, -5.0]).penetration == pytest.approx(5e-3)
    assert planted("velocity", 0, [0, 0.02, 0]).creep == pytest.approx(0.02)
    # Friction along the motion instead of against it, and at a right angle.
    assert planted("impulse", 1, [0.5, 0, 1.0]).tangential == pytest.approx(1.0)
    assert planted("impulse", 1, [0, 0.5, 1.0]).tangential == pytest.approx(np.sqrt(0.5))
    # Outside the cone: 1 N s of friction where 0.5 are allowed; the nearest point is orthogonal.
    assert planted("impulse", 0, [1.0, 0, 1.0]).cone == pytest.approx(0.5 / np.sqrt(1.25))
    assert planted("impulse", 0, [0, 0, -1.0]).cone == pytest.approx(1.0)  # it pulls


def test_slow_contact_on_the_cone_is_at_rest() -> None:
    """The direction of rounding noise is no direction of sliding."""
    step = planted("velocity", 1, [1e-9, 1e-9, 0])
    assert (
        step.tangential == 0.0
        and step.creep == pytest.approx(np.sqrt(2) * 1e-9)
        and step.sliding == 0
    )


def test_frictionless_contact_may_slide() -> None:
    step = certify(
        good_sample(friction=np.zeros(3), impulse=np.array([[0, 0, 1.0], [0, 0, 1.0], [0, 0, 0]])),
        DT,
    )
    assert step is not None and step.tangential == 0.0 and step.creep == 0.0


def test_restitution_steps_are_left_out_and_counted() -> None:
    steps = [certify(good_sample(), DT), certify(good_sample(restitution=True), DT)]
    summary = summarize(steps)
    assert steps[1] is None and summary.steps == 1 and summary.steps_left_out == 1
    assert summary.contacts == 3.0 and summary.maximum["normal"] == 0.0
    assert json.dumps(summary.as_dict())


def test_no_contacts_and_no_steps() -> None:
    none = np.zeros((0, 3))
    empty = ContactSample(none, none, np.zeros(0), np.zeros(0), none, none)
    assert certify(empty, DT) == StepCertificate()
    assert np.isnan(summarize([]).maximum["normal"])


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("gap", [0.0, np.nan, 0.0], r"gap\[1\] = nan"),
        ("impulse", np.zeros((2, 3)), "impulse has shape"),
        ("normal", np.ones((3, 3)), r"normal\[0\]"),
        ("friction", [0.5, -0.1, 0.5], r"friction\[1\] = -0.1"),
    ],
)
def test_wrong_samples_are_refused(field: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        certify(good_sample(**{field: value}), DT)


def point_velocity(before: Any, after: Any, point: np.ndarray) -> np.ndarray:
    """World velocity (3,) of the point at `point` that moved a body from one pose to the next."""
    turn = before.rotation @ pinocchio.log3(before.rotation.T @ after.rotation) / DT
    shift = (after.translation - before.translation) / DT
    return shift + np.cross(turn, point - before.translation)


def test_velocity_after_the_step_is_the_bodies_own() -> None:
    """J v+ of the certificate against rigid-body kinematics of a sliding, tumbling stack."""
    from stiction_lab.bench.ours import contact_sample

    sim = stiction.Simulator(stiction.load("box-stack(2)"), dt=DT)
    state, control = sim.initial_state(), sim.hold()
    state.v[:6] = [0.5, 0.1, 0.0, 0.3, -0.2, 2.0]
    checked = 0
    for _ in range(50):
        old = sim.body_poses(state)
        sim.step(state, control)
        new = sim.body_poses(state)
        given = np.asarray(contact_sample(sim).velocity)
        for contact, velocity in zip(sim.contacts(), given, strict=True):
            relative = np.zeros(3)
            for body, sign in ((contact.body_b, 1.0), (contact.body_a, -1.0)):
                if body >= 0:
                    moved = point_velocity(old[body], new[body], contact.position)
                    relative += sign * moved
            relative = contact.frame.T @ relative + contact.velocity_change
            np.testing.assert_allclose(velocity, relative, atol=1e-9)
            checked += 1
    assert checked > 100


# --- the statistic ------------------------------------------------------------------------------


def test_statistic_is_the_median_of_the_minima() -> None:
    from stiction_lab.bench.measure import statistic

    elapsed = np.array(
        [[[1.0, 9.0, 3.0], [5.0, 2.0, 8.0]]]
    )  # one world, two repetitions, three chunks
    np.testing.assert_array_equal(statistic(elapsed), [2.0])


def test_noise_is_the_same_every_time() -> None:
    from stiction_lab.bench.measure import white_noise

    noise = white_noise(100, 12, 0.05)
    np.testing.assert_array_equal(noise, white_noise(100, 12, 0.05))
    assert noise.std() == pytest.approx(0.05, rel=0.05)


# --- equal work ---------------------------------------------------------------------------------


def pair() -> tuple[Any, Any, Any]:
    """The solo12 scene, ours and one peer."""
    needs_peer()
    from stiction_lab.bench.catalogue import scene
    from stiction_lab.bench.ours import StictionWorld
    from stiction_lab.bench.peer_models import variants

    chosen = scene("solo12")
    ours = StictionWorld(chosen.load, chosen.dt, chosen.start, chosen.hold)
    return chosen, ours, chosen.build_peer(ours, variants("elliptic")[0])


@pytest.mark.parametrize(
    "name", ["solo12", "cube-slide", "cube-drop", "box-stack-10", "ycb-pile-10"]
)
def test_scenes_are_the_same_work(name: str) -> None:
    needs_peer()
    from stiction_lab.bench.agreement import compare_facts
    from stiction_lab.bench.catalogue import scene
    from stiction_lab.bench.peer_models import variants

    chosen = scene(name)
    ours = chosen.ours()
    for variant in variants("elliptic")[:1] + variants("pyramidal")[:1]:
        peer = chosen.build_peer(ours, variant)
        assert compare_facts(ours.facts(), peer.facts()) == []


def test_unequal_work_gets_no_ratio() -> None:
    from stiction_lab.bench.agreement import compare_facts, require
    from stiction_lab.bench.worlds import BenchError, Facts

    facts = Facts(mass=2.5, nv=18, com_height=0.24, friction=0.9, stiffness=60.0, damping=1.2)
    assert compare_facts(facts, facts) == []
    changes = {
        "mass": 2.6,
        "nv": 19,
        "com_height": 0.25,
        "friction": 0.8,
        "stiffness": 61.0,
        "damping": 1.3,
    }
    for name, value in changes.items():
        found = compare_facts(facts, dataclasses.replace(facts, **{name: value}))
        assert len(found) == 1 and found[0].quantity.startswith(name)
        with pytest.raises(BenchError, match=f"not the same work.*{name}"):
            require("solo12", "peer", found)


def test_contacts_are_compared_all_along() -> None:
    from stiction_lab.bench.agreement import compare_contacts

    ours, loaded = (8.0,) * 4, (4.0,) * 4
    assert compare_contacts(ours, loaded, (8.0, 4.0, 6.0, 5.0), 0.0) == []
    assert compare_contacts(ours, loaded, (8.0, 8.2, 8.0, 8.0), 0.0)
    dropped = compare_contacts(ours, loaded, (8.0, 8.0, 5.0, 1.0), 0.25)
    assert [item.quantity for item in dropped] == ["contacts, quarter 4"]


def test_a_variant_that_lost_its_contacts_gets_no_ratio() -> None:
    """The fastest peer has dropped the ball; the ratio is with the fastest that holds it."""
    needs_peer()
    from stiction_lab.bench.measure import Observation
    from stiction_lab.bench.step import Trial

    def seen(contacts: float) -> Observation:
        summary = summarize([certify(good_sample(), DT)])
        return Observation(summary, 1.0, 1, (contacts,) * 4, (contacts,) * 4, 0.0, 0.0)

    times = {"stiction": 10.0, "cg-elliptic-discrete": 5.0, "pgs-elliptic-discrete": 20.0}
    times["cg-pyramidal-discrete"] = 4.0
    contacts = dict(zip(times, [6.0, 1.0, 7.0, 0.5], strict=True))
    trial = Trial(times, {label: seen(n) for label, n in contacts.items()}, tolerance=0.35)
    document = trial.as_dict()
    assert document["peer"] == "pgs-elliptic-discrete" and document["ratio"] == 0.5
    assert document["pyramidal"] is None and document["ratio_to_pyramidal"] is None
    assert set(document["variants_refused"]) == {"cg-elliptic-discrete", "cg-pyramidal-discrete"}


def test_a_changed_scene_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A foot 1 mm larger in the peer only: the robot stands higher, and there is no ratio."""
    needs_peer()
    from stiction_lab.bench import peer_models
    from stiction_lab.bench.catalogue import scene
    from stiction_lab.bench.step import Effort, bench_step
    from stiction_lab.bench.worlds import BenchError

    monkeypatch.setattr(peer_models, "SOLO12_FOOT_RADIUS", 0.0201)
    with pytest.raises(BenchError, match="com_height"):
        bench_step(scene("solo12"), Effort(0.05, 0.1, 0.05))


def test_engines_agree_on_the_weight_they_carry() -> None:
    """After settling, both engines' normal impulses hold the robot: axes and units are right."""
    needs_peer()
    _, ours, peer = pair()
    weight = ours.facts().mass * 9.81 * DT
    for world in (ours, peer):
        world.settle(1.0)
        world.restart()
        sample = world.observe(np.zeros(12)).sample
        assert np.asarray(sample.impulse)[:, 2].sum() == pytest.approx(weight, rel=0.02), (
            world.label
        )
        assert np.abs(np.asarray(sample.normal)[:, 2]).min() > 0.999
        assert np.asarray(sample.velocity)[:, 2] == pytest.approx(0.0, abs=1e-2)


def test_a_kick_is_the_same_in_both_engines() -> None:
    """Tumbling cubes in the air: each engine's bodies gain the same world velocity, no spin."""
    needs_peer()
    from stiction_lab.bench.catalogue import scene
    from stiction_lab.bench.measure import sideways_kicks
    from stiction_lab.bench.peer_models import variants

    kicks = sideways_kicks(3, 5, 0.3)
    assert [kick.body for kick in kicks] == [0, 1, 2, 0, 1]
    assert all(np.linalg.norm(kick.impulse) == pytest.approx(0.3) for kick in kicks)
    chosen = scene("cube-drop")
    ours = chosen.ours()
    peer = chosen.build_peer(ours, variants("elliptic")[0])
    _, before = ours.loose_bodies()
    ours.kick(dataclasses.replace(kicks[1], body=0))
    peer.kick(kicks[0])
    _, after = ours.loose_bodies()
    np.testing.assert_allclose(after - before, [0.0, -0.3, 0, 0, 0, 0], atol=1e-15)
    np.testing.assert_allclose(peer._data.qvel - before, [0.3, 0, 0, 0, 0, 0], atol=1e-15)


def test_kicked_stacks_have_their_rows() -> None:
    needs_peer()
    from stiction_lab.bench.catalogue import scene
    from stiction_lab.bench.step import Effort, bench_step
    from stiction_lab.bench.tables import all_table, step_tables

    result = bench_step(scene("box-stack-10"), Effort(chunks=0.15, reps=0.2, settle=0.3))
    document = json.loads(json.dumps(result.as_dict()))
    kicks = document["kicks"]
    assert kicks["impulse"] == 0.1 and kicks["ratio"] > 0 and kicks["peer"] in kicks["means_us"]
    assert set(kicks["means_us"]) == {"stiction", *kicks["variants_us"]}
    ours, peer = kicks["certificate_ours"]["maximum"], kicks["certificate_peer"]["maximum"]
    assert ours["creep"] < 1e-5 < peer["creep"]
    assert all_table([document]).row_count == 2
    assert len(step_tables(document).renderables) == 4


def test_another_tolerance_goes_on_from_the_same_state() -> None:
    needs_peer()
    from stiction_lab.bench.catalogue import scene
    from stiction_lab.bench.step import Effort, bench_step
    from stiction_lab.bench.tables import all_table

    stack = dataclasses.replace(scene("box-stack-10"), settle=0.2, compared=1e-10, tolerance=1e-6)
    document = bench_step(stack, Effort(chunks=0.2, reps=0.2)).as_dict()
    other = document["other_tolerances"]["stiction 1e-10"]
    assert document["settings"]["tolerance"] == 1e-6 and other["us"] > 0
    assert 0.0 <= other["residual"] <= 1e-10 and document["residual"] <= 1e-6
    assert other["contacts"] == document["contacts"] == 40.0
    assert document["kicks"]["other_tolerances"].keys() == document["other_tolerances"].keys()
    assert all_table([document]).row_count == 3


# --- the document -------------------------------------------------------------------------------

FIELDS = {
    "ours_us": float,
    "peer_us": float,
    "peer": str,
    "ratio": float,
    "ratio_to_pyramidal": float,
    "certificate_ours": dict,
    "certificate_peer": dict,
    "noise": dict,
    "sweeps": float,
    "residual": float,
    "penetration": float,
    "contacts": float,
    "machine": dict,
}


@pytest.fixture(scope="module")
def solo12_document() -> dict[str, Any]:
    needs_peer()
    from stiction_lab.bench.catalogue import scene
    from stiction_lab.bench.step import Effort, bench_step

    return bench_step(scene("solo12"), Effort(chunks=0.1, reps=0.2, settle=0.5)).as_dict()


def test_document_has_its_fields(solo12_document: dict[str, Any]) -> None:
    document = json.loads(json.dumps(solo12_document))
    for name, kind in FIELDS.items():
        assert isinstance(document[name], kind), name
    assert document["ratio"] == pytest.approx(document["ours_us"] / document["peer_us"])
    assert document["peer"] == min(
        (label for label in document["variants_us"] if "-elliptic-" in label),
        key=document["variants_us"].get,
    )
    assert (
        len(document["variants_us"]) == 12
        and document["contacts"] == document["contacts_peer"] == 4.0
    )
    for certificate in (document["certificate_ours"], document["certificate_peer"]):
        assert certificate["steps"] > 0 and certificate["steps_left_out"] == 0
    assert set(document["machine"]) == {"cpu", "cores", "date", "versions", "load"}
    assert document["noise"]["sigma_rad"] == 0.05 and document["noise"]["ratio"] > 0


def test_ours_is_exact_where_the_peer_is_soft(solo12_document: dict[str, Any]) -> None:
    ours = solo12_document["certificate_ours"]["maximum"]
    peer = solo12_document["certificate_peer"]["maximum"]
    assert solo12_document["residual"] <= 1e-8 or solo12_document["residual_median"] <= 1e-8
    assert ours["creep"] < 1e-6 < peer["creep"]
    assert ours["cone"] < 1e-9 and ours["penetration"] < 1e-4


def test_machine_names_the_processor_only() -> None:
    import socket

    from stiction_lab.bench import machine

    text = json.dumps(machine.describe())
    assert (
        socket.gethostname() not in text
        and machine.slug("AMD EPYC(TM) 7B13 CPU @ 2.4GHz") == "amd-epyc-7b13-2.4ghz"
    )
