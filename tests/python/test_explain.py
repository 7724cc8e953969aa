"""explain() names the cause that was planted."""

from __future__ import annotations

import json

import numpy as np
import pytest
import stiction


def box_on_floor(*masses: float, friction: float = 0.5) -> stiction.Scene:
    """Cubes of 0.2 m, one on the other."""
    scene = stiction.Scene(name="boxes")
    material = stiction.Material(friction=friction)
    scene.add_ground(material)
    for k, mass in enumerate(masses):
        pose = np.eye(4)
        pose[2, 3] = 0.1 + 0.2 * k
        scene.add_body(f"box{k}", stiction.Box([0.1, 0.1, 0.1]), mass, pose, material)
    return scene


@pytest.mark.parametrize("base", ["ccp-newton", "ccp-pgs", "ccp-admm"])
def test_a_cube_at_6_metres_per_second_is_lifted_by_the_relaxation(base: str) -> None:
    sim = stiction.Simulator(box_on_floor(1.0))
    state = sim.initial_state()
    state.v[1] = 6.0
    got = sim.explain(state, base=base)
    assert got.cause == "relaxation" and not got.agrees
    # The relaxed law asks for c_N >= mu |c_T|; the regularisation of ccp-newton for 6 % less.
    slack = 0.1 if base == "ccp-newton" else 1e-6
    assert got.difference == pytest.approx(0.5 * np.abs(got.base_velocity[1]), rel=slack)
    assert np.argmax(np.abs(got.base_velocity - got.reference_velocity)) == 2
    assert got.trials[0].explained > 0.99
    assert all(t.explained < 0.5 for t in got.trials[1:-1])
    assert "The cause is the relaxation" in str(got)


def test_a_heavy_box_sinks_into_a_light_one_by_compliance() -> None:
    """1 kg under 1000 kg at rest: the regularisation of ccp-newton gives way."""
    sim = stiction.Simulator(box_on_floor(1.0, 1000.0))
    state = sim.initial_state()
    sim.run(state, None, 5)
    got = sim.explain(state, base="ccp-newton")
    assert got.cause == "compliance"
    assert got.trials[0].explained > 0.9
    assert all(t.explained < 0.75 for t in got.trials[1:-1])


@pytest.mark.parametrize("base", ["ncp-newton", "ccp-newton", "lcp-lemke"])
def test_a_box_on_one_point_tips_for_want_of_a_manifold(base: str) -> None:
    sim = stiction.Simulator(box_on_floor(1.0), points_per_pair=1)
    got = sim.explain(sim.initial_state(), base=base)
    assert got.cause == "manifold"
    assert got.trials[0].explained > 0.9
    assert all(t.explained < 0.5 for t in got.trials[1:-1])


def test_a_solver_that_is_stopped_early_lacks_iterations() -> None:
    sim = stiction.Simulator(box_on_floor(1.0, 10.0, 100.0))
    got = sim.explain(sim.initial_state(), base="ncp-pgs", max_iterations=3)
    assert got.cause in ("iterations", "warm start")
    assert next(t for t in got.trials if t.hypothesis == "iterations").explained > 0.9


def test_no_difference_has_no_cause() -> None:
    sim = stiction.Simulator(box_on_floor(1.0))
    got = sim.explain(sim.initial_state(), base="ncp-newton")
    assert got.agrees and got.cause is None
    assert {t.hypothesis for t in got.trials}.isdisjoint({"relaxation", "compliance"})
    assert "nothing worth a cause" in str(got)


def test_numbers_are_those_of_steps() -> None:
    sim = stiction.Simulator(box_on_floor(1.0, 2.0), solver="ccp-newton")
    state = sim.initial_state()
    state.v[0] = 1.0
    got = sim.explain(state, base="ccp-newton")
    half = stiction.Simulator(sim.scene, solver="ccp-newton", dt=0.5e-3)
    after, twice = state.copy(), state.copy()
    sim.step(after)
    half.run(twice, None, 2)
    assert got.base_velocity.tobytes() == after.v.tobytes()
    trial = next(t for t in got.trials if t.hypothesis == "time step")
    assert trial.velocity.tobytes() == twice.v.tobytes()
    assert trial.difference == np.abs(trial.velocity - got.reference_velocity).max()
    plain = json.loads(json.dumps(got.to_dict()))
    assert plain["cause"] == got.cause and len(plain["trials"]) == len(got.trials)


def test_explain_refuses_unknown_names() -> None:
    sim = stiction.Simulator(box_on_floor(1.0))
    with pytest.raises(ValueError, match="base = 'magic'"):
        sim.explain(sim.initial_state(), base="magic")
    with pytest.raises(TypeError, match="colour"):
        sim.explain(sim.initial_state(), colour=1)  # type: ignore[call-arg]


def test_rows_say_which_rule_gave_their_reference() -> None:
    """A cube half in the ground, a sphere just above it."""
    scene = box_on_floor(1.0)
    pose = np.eye(4)
    pose[:3, 3] = 1.0, 0.0, 0.1005
    scene.add_body("ball", stiction.Sphere(0.1), 1.0, pose)
    sim = stiction.Simulator(scene)
    state = sim.initial_state()
    state.q[2] = 0.05
    got = sim.explain(state, base="ccp-newton")
    kinds = {r.name: r.kind for r in got.references}
    assert kinds == {"ground - box0": "capped", "ground - ball": "speculative"}
    for row in got.references:
        assert row.source == "contact" and row.velocity.shape == (3,)
        if row.kind == "speculative":
            assert row.velocity[2] == pytest.approx(-0.0005 / sim.settings.dt)
        else:
            assert 0.0 < row.velocity[2] < 0.2 * 0.05 / sim.settings.dt
    assert str(got).count("capped, c* = ") == 4
    assert json.loads(json.dumps(got.to_dict()))["references"][0]["kind"] in kinds.values()
    sim.step(state)
    assert [r.kind for r in sim.references()] == [r.kind for r in got.references]
