"""The certificate, recomputed from what a step reports by code that shares nothing with stiction.

Pinocchio gives mass matrix, bias and Jacobians. From contact points, normals, gaps, friction,
impulses and the velocities before and after, `judge` checks Newton's law of the step (who pushes
whom, how much), Signorini's and Coulomb's, and the reported velocities and gaps. Then reports that
lie in one place are handed to it: each must be found out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import pinocchio
import pytest
import stiction
from numpy.typing import NDArray

Floats = NDArray[np.float64]
DT = 1e-3


@dataclass(frozen=True)
class Contact:
    """What an engine says about one contact point; body -1 is the world."""

    body_a: int
    body_b: int
    point: Floats
    frame: Floats
    gap: float
    mu: float
    impulse: Floats  # on B, contact frame [N s]
    velocity: Floats  # of B relative to A in the middle of the step, contact frame [m/s]
    change: Floats  # of that since the start: less it, J v with J of the start [m/s]


@dataclass(frozen=True)
class Step:
    """One step of one engine: states before and after, everything that acted."""

    model: pinocchio.Model
    q: Floats
    v: Floats
    q_after: Floats  # it moved there with the velocity of the step
    force: Floats  # explicit generalised force without gravity and Coriolis [N m or N]
    implicit: Floats  # diagonal added to the mass matrix
    contacts: list[Contact]


def take_step(
    sim: stiction.Simulator,
    state: stiction.State,
    model: pinocchio.Model,
    control: stiction.Control,
) -> Step:
    """Step the simulator and write down what it says."""
    q, v = state.q.copy(), state.v.copy()
    report = sim.step(state, control)
    assert report.num_rows == 3 * report.num_contacts  # no limits, no dry friction
    p = sim.parameters
    position = sim.scene.dof_positions(q)
    force = control.torque + p.kp * (control.position_target - position - DT * v)
    force += p.kd * (control.velocity_target - v) - p.damping * v
    assert np.all(np.abs(force) < p.effort_limit)
    implicit = p.armature + DT * (p.damping + p.kd) + DT**2 * p.kp
    contacts = [
        Contact(
            c.body_a,
            c.body_b,
            c.position,
            c.frame,
            c.gap,
            c.friction,
            c.impulse,
            c.velocity,
            c.velocity_change,
        )
        for c in sim.contacts()
    ]
    return Step(model, q, v, state.q.copy(), force, implicit, contacts)


def point_jacobian(step: Step, data: pinocchio.Data, body: int, point: Floats) -> Floats:
    """(3, nv) world velocity of the point of a body; joint body + 1 of the model moves it."""
    if body < 0:
        return np.zeros((3, step.model.nv))
    J = pinocchio.getJointJacobian(
        step.model, data, body + 1, pinocchio.ReferenceFrame.LOCAL_WORLD_ALIGNED
    )
    return J[:3] - pinocchio.skew(point - data.oMi[body + 1].translation) @ J[3:]


def frozen_velocity(step: Step) -> tuple[Floats, Floats]:
    """The velocity of the step and its change without forces, both in the axes of its start.

    A free-flyer's origin moves on a straight line. The velocity that a step leaves is another where
    contacts kick a body that turns.
    """
    model, drift = step.model, np.zeros(step.model.nv)
    v_after = pinocchio.difference(model, step.q, step.q_after) / DT
    for joint in range(1, model.njoints):
        if model.joints[joint].shortname() != "JointModelFreeFlyer":
            continue
        i, k = model.joints[joint].idx_v, model.joints[joint].idx_q
        R = pinocchio.Quaternion(step.q[k + 3 : k + 7]).toRotationMatrix()
        v_after[i : i + 3] = R.T @ (step.q_after[k : k + 3] - step.q[k : k + 3]) / DT
        drift[i : i + 3] = DT * np.cross(step.v[i + 3 : i + 6], step.v[i : i + 3])
    return v_after, drift


def judge(step: Step) -> dict[str, float]:
    """Defects, each relative to the scale of the scene; honest steps have all of them small."""
    model, data = step.model, step.model.createData()
    pinocchio.computeJointJacobians(model, data, step.q)
    M = pinocchio.crba(model, data, step.q)
    M = np.triu(M) + np.triu(M, 1).T + np.diag(step.implicit)
    bias = pinocchio.nonLinearEffects(model, data, step.q, step.v)
    weight = sum(inertia.mass for inertia in model.inertias) * 9.81 * DT
    v_after, drift = frozen_velocity(step)
    momentum = M @ (v_after - step.v - drift) - DT * (step.force - bias)
    found = dict.fromkeys(("velocity", "change", "cone", "normal", "friction", "creep"), 0.0)
    for c in step.contacts:
        J = point_jacobian(step, data, c.body_b, c.point)
        J = c.frame.T @ (J - point_jacobian(step, data, c.body_a, c.point))
        momentum -= J.T @ c.impulse
        moved = J @ v_after
        velocity = moved + c.change
        gap = c.gap + DT * velocity[2]
        radius, speed = np.linalg.norm(c.impulse[:2]), np.linalg.norm(velocity[:2])
        limit = c.mu * c.impulse[2]
        defects = {
            "velocity": np.abs(velocity - c.velocity).max(),
            "change": max(0.0, np.abs(c.change).max() - 0.01 * np.abs(moved).max()),
            "cone": max(0.0, radius - limit, -c.impulse[2]) / weight,
            "normal": max(0.0, c.impulse[2]) * max(0.0, gap) / DT / weight,
        }
        if speed > 1e-4:
            miss = np.linalg.norm(c.impulse[:2] + limit * velocity[:2] / speed)
            defects["friction"] = miss / weight
        elif radius < limit * (1 - 1e-6):
            defects["creep"] = speed
        for name, value in defects.items():
            found[name] = max(found[name], float(value))
    found["momentum"] = float(np.abs(momentum).max()) / weight
    return found


LIMITS = {
    "velocity": 1e-9,  # m/s
    "change": 1e-3,  # m/s, beyond 1 % of the velocity
    "cone": 1e-9,
    "normal": 1e-6,
    "friction": 1e-4,  # second order in complementarity: sqrt of the solver's tolerance
    "creep": 1e-6,  # m/s
    "momentum": 1e-8,
}


def flagged(step: Step) -> set[str]:
    return {name for name, value in judge(step).items() if not value <= LIMITS[name]}


# --- scenes -----------------------------------------------------------------------------


def solo() -> Step:
    """Solo-12 sliding on four feet."""
    scene = stiction.load("solo12", friction=0.1)
    sim = stiction.Simulator(scene, dt=DT, tolerance=1e-10)
    model = stiction.pinocchio_model(scene, 0)
    model.armature[:] = 0.0
    control, state = sim.hold("standing"), sim.initial_state("standing")
    sim.run(state, control, 50)
    state.v[:2] = [0.4, 0.2]
    sim.run(state, control, 5)
    return take_step(sim, state, model, control)


def boxes() -> Step:
    """A stack of three boxes, each pushed its own way: contacts between moving bodies."""
    scene = stiction.load("box-stack(3)")
    sim = stiction.Simulator(scene, dt=DT, tolerance=1e-10)
    model = pinocchio.Model()
    p = sim.parameters
    for body, name in enumerate(scene.body_names):
        joint = model.addJoint(0, pinocchio.JointModelFreeFlyer(), pinocchio.SE3.Identity(), name)
        inertia = pinocchio.Inertia(float(p.mass[body]), p.com[body].copy(), p.inertia(body))
        model.appendBodyToJoint(joint, inertia, pinocchio.SE3.Identity())
    state, control = sim.initial_state(), sim.hold()
    sim.run(state, control, 20)
    state.v[[0, 7, 12]] = [0.3, -0.4, 0.5]
    sim.run(state, control, 3)
    return take_step(sim, state, model, control)


@pytest.fixture(scope="module", params=[solo, boxes], ids=["solo12", "boxes"])
def honest(request: pytest.FixtureRequest) -> Step:
    step: Step = request.param()
    return step


def test_an_honest_step_passes(honest: Step) -> None:
    assert flagged(honest) == set(), judge(honest)
    assert len(honest.contacts) >= 4


def test_the_scenes_stick_and_slide(honest: Step) -> None:
    """The tests below prove little where nothing slides or nothing is loaded."""
    speeds = [np.linalg.norm(c.velocity[:2]) for c in honest.contacts]
    assert max(speeds) > 0.05
    assert max(c.impulse[2] for c in honest.contacts) > 0


# --- lies -------------------------------------------------------------------------------


def on_another_body(c: Contact) -> Contact:
    return replace(c, body_b=c.body_b - 1)


def exchanged(c: Contact) -> Contact:
    return replace(c, body_a=c.body_b, body_b=c.body_a)


def flipped(c: Contact) -> Contact:
    return replace(c, impulse=-c.impulse)


def friction_flipped(c: Contact) -> Contact:
    return replace(c, impulse=c.impulse * [-1, -1, 1])


def scaled(c: Contact) -> Contact:
    return replace(c, impulse=1.001 * c.impulse)


def as_a_force(c: Contact) -> Contact:
    return replace(c, impulse=c.impulse / DT)


def world_axes(c: Contact) -> Contact:
    return replace(c, impulse=(c.frame @ c.impulse)[[2, 0, 1]])


def moved(c: Contact) -> Contact:
    return replace(c, point=c.point + [0, 0, 1e-3])


def old_velocity(c: Contact) -> Contact:
    return replace(c, velocity=c.velocity + [0, 1e-6, 0])


def far_apart(c: Contact) -> Contact:
    return replace(c, gap=c.gap + 1e-3)


def slippery(c: Contact) -> Contact:
    return replace(c, mu=0.9 * c.mu)


def rough(c: Contact) -> Contact:
    return replace(c, mu=1.1 * c.mu)


@pytest.mark.parametrize(
    ("lie", "by"),
    [
        (on_another_body, {"momentum", "velocity"}),
        (exchanged, {"momentum", "velocity"}),
        (flipped, {"momentum", "cone"}),
        (friction_flipped, {"momentum", "friction"}),
        (scaled, {"momentum"}),
        (as_a_force, {"momentum"}),
        (world_axes, {"momentum", "cone"}),
        (moved, {"momentum"}),
        (old_velocity, {"velocity"}),
        (far_apart, {"normal"}),
        (slippery, {"cone", "friction"}),
        (rough, {"friction"}),
    ],
)
def test_a_lie_is_found_out(honest: Step, lie: Callable[[Contact], Contact], by: set[str]) -> None:
    # About the sliding contact that carries most.
    sliding = [c for c in honest.contacts if np.linalg.norm(c.velocity[:2]) > 1e-2]
    worst = max(sliding, key=lambda c: float(c.impulse[2]))
    contacts = [lie(c) if c is worst else c for c in honest.contacts]
    found = flagged(replace(honest, contacts=contacts))
    assert by <= found, f"{lie.__name__}: found only {found}"


def test_a_lost_contact_is_found_out(honest: Step) -> None:
    worst = max(honest.contacts, key=lambda c: float(c.impulse[2]))
    contacts = [c for c in honest.contacts if c is not worst]
    assert "momentum" in flagged(replace(honest, contacts=contacts))


def test_a_wrong_velocity_after_is_found_out(honest: Step) -> None:
    moved = pinocchio.difference(honest.model, honest.q, honest.q_after)
    further = pinocchio.integrate(honest.model, honest.q, 1.0001 * moved)
    assert "momentum" in flagged(replace(honest, q_after=further))


def distance_from_cone(y: Floats, slope: float) -> float:
    """Euclidean distance of (t1, t2, n) from {|t| <= slope n}."""
    t, n = float(np.linalg.norm(y[:2])), float(y[2])
    if t <= slope * n:
        return 0.0
    if slope * t <= -n:
        return float(np.hypot(t, n))
    return (t - slope * n) / float(np.hypot(1.0, slope))


def test_the_librarys_residuals_agree() -> None:
    """Residuals of contacts, also of wrong impulses, against their definition in NumPy."""
    sim = stiction.Simulator(stiction.load("solo12"), dt=DT)
    state = sim.initial_state("standing")
    sim.run(state, sim.hold("standing"), 20)
    problem, solved = sim.problem(), sim.solution().impulse
    shifted = solved.copy()
    shifted[[2, 5]] = shifted[[5, 2]] + [0.01, -0.01]
    G, g = problem.dense(), problem.g
    for impulse in (solved, 1.01 * solved, -solved, solved / DT, shifted):
        c = G @ impulse + g
        primal = dual = work = 0.0
        for s in problem.sets:
            rows = slice(s.offset, s.offset + s.dim)
            if s.dim != 3:  # joint limits are open here
                continue
            y = c[rows] + [0.0, 0.0, s.mu * np.linalg.norm(c[rows][:2])]
            primal = max(primal, distance_from_cone(impulse[rows], s.mu))
            dual = max(dual, distance_from_cone(y, 1.0 / s.mu))
            work = max(work, abs(float(impulse[rows] @ y)))
        theirs = stiction.residuals(problem, impulse)
        size = float(np.abs(impulse).max())
        speed = float((np.abs(G) @ np.abs(impulse) + np.abs(g)).max())  # of the terms of c
        assert theirs.primal == pytest.approx(primal, rel=1e-12, abs=1e-14 * size)
        assert theirs.dual == pytest.approx(dual, rel=1e-12, abs=1e-14 * speed)
        assert theirs.complementarity == pytest.approx(work, rel=1e-12, abs=1e-13 * size * speed)
        assert (theirs.relative <= 1e-8) == (impulse is solved)
    assert re.match(r"Residuals\(primal=", repr(stiction.residuals(problem, solved)))
