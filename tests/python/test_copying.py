"""copy, deepcopy and pickle of every public compiled class: supported, or refused with what to do
instead, never with the words of the binding library."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
import stiction
from stiction import _stiction

COMPILED = {
    name
    for name in stiction.__all__
    if isinstance(getattr(stiction, name), type)
    and getattr(stiction, name) in (*vars(_stiction).values(), stiction.Simulator)
}
COPIED = {"Control", "ExternalWrench", "Material", "Parameters", "Scene", "State"}
SETTINGS = {"SimulatorSettings", "SolverSettings"}
NOT_COPIED = {"Robot", "Simulator"}
PICKLED = {"ContactMemory", "ContactProblem", "SimulationError", "StictionError"}
PICKLED |= COPIED | SETTINGS
WITHOUT_DICT = {
    "SceneMotion",
    "DistanceCache",
    "Geometry",
    "Parameters",
    "RobotSlice",
    "Scene",
    "Shape",
    "Visual",
}


@pytest.fixture(scope="module")
def samples() -> dict[str, Any]:
    """One of each class, with something in it."""
    scene = stiction.load("solo12")
    scene.add_visual("world", stiction.Sphere(0.1))
    sim = stiction.Simulator(scene)
    state, control = sim.initial_state(), sim.hold()
    control.wrenches = [stiction.ExternalWrench(0, [1, 2, 3])]
    state.q[2] = 0.1
    report = sim.step(state, control)
    ball, at = stiction.Sphere(0.1), np.eye(4)
    at[0, 3] = 1.0
    found = stiction.distance(ball, None, ball, at)
    with pytest.warns(stiction.LoadWarning):
        robot = stiction.load_urdf_string(
            """<robot name="r"><link name="a"><inertial><mass value="1"/>
            <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>
            <sensor_of_unknown_kind/></link></robot>"""
        )
    things: list[Any] = [
        *(scene, sim, sim.parameters, state, control, control.wrenches[0], report),
        *(
            sim.problem(),
            sim.solution(),
            report.residuals,
            sim.uniqueness(),
            stiction.solution_derivatives(sim.problem(), sim.solution()),
            sim.snapshot(),
        ),
        *(sim.problem().sets[0], sim.contacts()[0], sim.wrench_on(0), sim.balance(state, control)),
        *(sim.gradient_report(), sim.collision_counters(), state.contacts[0]),
        sim.rollout(state, steps=2, tape=True).adjoint(np.ones(2 * scene.nv)).report,
        *(sim.settings, stiction.SolverSettings()),
        *(stiction.Material(0.3), ball, found, found.warm_start, robot, robot.messages[0]),
        *(scene.geometries[0], scene.joints[0], scene.robots[0], stiction.scenes()[0]),
        scene.visuals[0],
        stiction.contact_manifold(ball, None, ball, at, margin=1.0)[0],
        stiction.distance_derivatives(ball, None, ball, at),
        stiction.mass_properties(ball, 1.0),
        scene.distances(state)[0],
        stiction.SceneMotion(scene, state),
        stiction.ray_cast(scene, state, [[0, 0, 5.0]], [[0, 0, -1.0]]),
        stiction.StictionError("a"),
        stiction.SimulationError("b"),
    ]
    return {type(thing).__name__: thing for thing in things}


def test_every_compiled_class_is_here(samples: dict[str, Any]) -> None:
    assert set(samples) == COMPILED and len(COMPILED) > 35


@pytest.mark.parametrize("name", sorted(COMPILED))
def test_copies(samples: dict[str, Any], name: str) -> None:
    thing = samples[name]
    for make in (copy.copy, copy.deepcopy):
        if name in NOT_COPIED:
            with pytest.raises(TypeError, match=f"^{name}: cannot be copied or pickled; "):
                make(thing)
        else:
            other = make(thing)
            assert type(other) is type(thing)
            assert (other is not thing) == (name in COPIED | SETTINGS or "Error" in name)


@pytest.mark.parametrize("name", sorted(COMPILED))
def test_pickles(samples: dict[str, Any], name: str) -> None:
    thing = samples[name]
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        if name in PICKLED:
            other = pickle.loads(pickle.dumps(thing, protocol))
            assert type(other) is type(thing) and repr(other) == repr(thing)
            continue
        with pytest.raises(TypeError, match=f"^{name}: cannot be .*pickled; ") as caught:
            pickle.dumps(thing, protocol)
        assert "Boost" not in str(caught.value)
        assert ("to_dict()" in str(caught.value)) == hasattr(thing, "to_dict")


def test_records_are_plain_dicts(samples: dict[str, Any]) -> None:
    """Their to_dict() holds every property, can be pickled and holds nothing compiled."""
    for name in sorted(COMPILED - PICKLED - NOT_COPIED - WITHOUT_DICT):
        thing = samples[name]
        numbers = pickle.loads(pickle.dumps(thing.to_dict()))
        names = {n for n in dir(thing) if not n.startswith("_") and n != "to_dict"}
        assert set(numbers) == names - {"warm_start"} and numbers, name
        for key, value in numbers.items():
            if isinstance(value, (float, np.ndarray)):
                np.testing.assert_array_equal(value, getattr(thing, key))
            else:
                assert not type(value).__module__.startswith("stiction"), (name, key)
    report = samples["StepReport"]
    assert report.to_dict()["residuals"]["relative"] == report.residuals.relative
    snapshot = samples["Snapshot"].to_dict()
    assert snapshot["contacts"][0]["gap"] == samples["Snapshot"].contacts[0].gap


def test_a_pickled_problem_is_solved_to_the_same_bits(samples: dict[str, Any]) -> None:
    problem = samples["ContactProblem"]
    other = pickle.loads(pickle.dumps(problem))
    assert (other.dense() == problem.dense()).all() and (other.g == problem.g).all()
    sets = [(s.kind, s.dim, s.offset, s.mu, s.lower, s.upper) for s in problem.sets]
    assert sets == [(s.kind, s.dim, s.offset, s.mu, s.lower, s.upper) for s in other.sets]
    assert other.num_islands == problem.num_islands
    for solver in ("ncp-newton", "ncp-pgs", "ccp-admm"):
        found = [stiction.solve(p, solver).impulse for p in (problem, other)]
        assert found[0].any() and (found[0] == found[1]).all()


def test_pickled_problems_hold_every_set() -> None:
    cones = [stiction.ContactCone([0.5, 0.3]), stiction.ContactCone(0.5, 0.01)]
    cones.append(stiction.ContactCone(0.5, 0.01, [0.02, 0.03]))
    others = [stiction.NonNegative(), stiction.BoxSet(-1, np.inf), stiction.Free(2)]
    problem = stiction.ContactProblem(np.eye(17), np.arange(17.0), sets=[*cones, *others])
    other = pickle.loads(pickle.dumps(problem))
    for a, b in zip(problem.sets, other.sets, strict=True):
        assert a.to_dict() == b.to_dict()


def test_a_pickled_memory_of_a_contact(samples: dict[str, Any]) -> None:
    memory = samples["ContactMemory"]
    other = pickle.loads(pickle.dumps(memory))
    for name in ("geometry_a", "geometry_b", "feature", "extension", "impulse"):
        assert np.array_equal(getattr(other, name), getattr(memory, name))
    assert memory.impulse.any()
