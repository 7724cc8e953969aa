"""Chains that start out of their limits, with obstacles beside them that block the way back."""

from __future__ import annotations

import coal
import numpy as np
import pinocchio
import stiction
from numpy.typing import NDArray

LENGTH, RADIUS = 0.2, 0.03


def chain(rng: np.random.Generator) -> tuple[pinocchio.Model, pinocchio.GeometryModel]:
    """3 to 7 links upwards, each lighter than the one before, hinges about any axis."""
    model, shapes = pinocchio.Model(), pinocchio.GeometryModel()
    parent, mass = 0, 2.0
    for i in range(int(rng.integers(3, 8))):
        axis = rng.normal(size=3)
        at = pinocchio.SE3(np.eye(3), np.array([0, 0, LENGTH if i else 1.0]))
        joint = pinocchio.JointModelRevoluteUnaligned(axis / np.linalg.norm(axis))
        parent = model.addJoint(parent, joint, at, f"joint{i}")
        middle = pinocchio.SE3(np.eye(3), np.array([0, 0, LENGTH / 2]))
        inertia = pinocchio.Inertia.FromCylinder(mass, RADIUS, LENGTH)
        model.appendBodyToJoint(parent, inertia, middle)
        shape = coal.Capsule(RADIUS, LENGTH)
        shapes.addGeometryObject(pinocchio.GeometryObject(f"link{i}", parent, middle, shape))
        mass *= rng.uniform(0.1, 0.9)
    return model, shapes


def blocked_chain(seed: int) -> stiction.Scene:
    """Held by servos, 0.01 to 0.8 rad out of some limits, up to 1 mm beside 1 to 6 balls."""
    rng = np.random.default_rng(seed)
    material = stiction.Material(friction=0.8)
    model, shapes = chain(rng)
    scene = stiction.Scene()
    scene.add_robot(stiction.robot_from_pinocchio(model, shapes, material, "c"), np.eye(4), "c")
    p, n = scene.parameters, model.nv
    p.lower[:], p.upper[:] = -2.0, 2.0
    for i in {int(rng.integers(n)), *np.flatnonzero(rng.random(n) < 0.5)}:
        if rng.random() < 0.5:
            p.lower[i] = rng.uniform(0.01, 0.8)
        else:
            p.upper[i] = -rng.uniform(0.01, 0.8)
    for k in range(int(rng.integers(1, 7))):
        radius, angle = rng.uniform(0.02, 0.1), rng.uniform(0, 2 * np.pi)
        reach, X = radius + RADIUS + rng.uniform(0, 1e-3), np.eye(4)
        height = 1.0 + LENGTH * rng.uniform(0, n)
        X[:3, 3] = reach * np.cos(angle), reach * np.sin(angle), height
        scene.add_geometry(f"ball{k}", -1, stiction.Sphere(radius), X, material)
    gain = 10.0 * float(np.sum(p.mass))
    for dof in range(n):
        scene.set_gains(dof, gain, gain / 15)
    return scene


def excess(sim: stiction.Simulator, q: NDArray[np.float64]) -> NDArray[np.float64]:
    """By how much each joint is out of its limits [rad]."""
    lower, upper = np.asarray(sim.parameters.lower), np.asarray(sim.parameters.upper)
    return np.maximum(0.0, np.maximum(lower - q, q - upper))


def test_what_cannot_be_brought_back_rests() -> None:
    jams, blocked, freed, fastest = 0, 0, 0, 0.0
    for seed in range(40):
        sim = stiction.Simulator(blocked_chain(seed))
        state, control = sim.initial_state(), sim.hold()
        first = excess(sim, state.q)
        bad = 0
        for _ in range(200):
            bad += sim.step(state, control).status != "ok"
            fastest = max(fastest, np.abs(state.v).max())
        jams += bad > 10
        last = excess(sim, state.q)
        assert np.all(last[first > 0] < first[first > 0] + 1e-3), seed
        blocked += bool(np.any(last[first > 0] > first[first > 0] - 0.01))
        freed += bool(np.any(last[first > 0] < first[first > 0] - 0.1))
    assert min(blocked, freed) >= 8, (blocked, freed)
    assert jams <= 1, "chain 34 has no solution; one row a limit: 21 of 40 chains"
    assert fastest < 6.0, "one row a limit: 13 rad/s"


def test_no_joint_jumps_a_limit_out_of_reach() -> None:
    """From rest servos would carry light links by radians in one step, past limits that are 0.1 to
    0.5 rad away; a batch has the same bits."""
    rng, jumped = np.random.default_rng(5), 0
    for _ in range(40):
        model, shapes = chain(rng)
        for inertia in model.inertias:
            inertia.mass *= 1e-3
            inertia.inertia = inertia.inertia * 1e-3
        scene = stiction.Scene()
        material = stiction.Material(friction=0.8)
        scene.add_robot(stiction.robot_from_pinocchio(model, shapes, material, "c"), np.eye(4), "c")
        n = model.nv
        scene.parameters.kp[:], scene.parameters.kd[:] = 20.0, 0.01
        target = rng.uniform(-1.0, 1.0, n)
        free = stiction.Simulator(scene, dt=5e-3)
        state, control = free.initial_state(), free.hold()
        control.position_target = target
        free.step(state, control)
        scene.parameters.lower[:] = -rng.uniform(0.1, 0.5, n)
        scene.parameters.upper[:] = rng.uniform(0.1, 0.5, n)
        lower, upper = np.array(scene.parameters.lower), np.array(scene.parameters.upper)
        jumped += bool(np.any((state.q < lower) | (state.q > upper)))
        sim, batch = stiction.Simulator(scene, dt=5e-3), stiction.Batch(scene, 3, dt=5e-3)
        batch.position_target[:] = target
        state = sim.initial_state()
        for _ in range(3):
            report = sim.step(state, control)
            batch.step()
            assert report.status == "ok"
            assert np.all(state.q >= lower - 1e-6) and np.all(state.q <= upper + 1e-6)
            assert np.array_equal(batch.q, np.tile(state.q, (3, 1)))
    assert jumped >= 20
