"""What meets within a step takes its impulse where it meets: impacts, and their derivatives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio
import pytest
import stiction
from surfaces import floor_triangles

FLOORS = ("half-space", "box", "mesh", "height field")
SHAPES: dict[str, Callable[[], stiction.Shape]] = {
    "capsule": lambda: stiction.Capsule(0.03, 0.08),
    "box": lambda: stiction.Box((0.06, 0.05, 0.04)),
}
MASS = 0.2


def add_floor(scene: stiction.Scene, kind: str, material: stiction.Material) -> None:
    X = np.eye(4)
    if kind == "half-space":
        scene.add_ground(material)
        return
    if kind == "box":
        shape = stiction.Box((5, 5, 0.5))
        X[2, 3] = -0.5
    elif kind == "mesh":
        shape = stiction.TriangleMesh(*floor_triangles(12, 0.5))
    else:
        shape = stiction.HeightField(np.zeros((21, 21)), (0.3, 0.3))
    scene.add_geometry("floor", "world", shape, X, material)


def falling(
    kind: str, shape: stiction.Shape, X: np.ndarray, dt: float, gravity: bool, **law: float
) -> stiction.Simulator:
    material = stiction.Material(**law)
    scene = stiction.Scene(name="falling")
    add_floor(scene, kind, material)
    scene.add_body("body", shape, MASS, X, material)
    sim = stiction.Simulator(scene, dt=dt, tolerance=1e-13)
    if not gravity:
        sim.parameters.gravity = np.zeros(3)
    return sim


class Flight:
    """A free body with spin and no gravity, by small turns about its angular velocity."""

    def __init__(self, R: np.ndarray, w: np.ndarray, inertia: np.ndarray) -> None:
        self.R, self.w, self.inertia = R, w, inertia

    def after(self, time: float, turns: int = 20) -> tuple[np.ndarray, np.ndarray]:
        R, h = self.R, time / turns
        momentum = R @ (self.inertia * (R.T @ self.w))

        def spin(R: np.ndarray) -> np.ndarray:
            return R @ ((R.T @ momentum) / self.inertia)

        for _ in range(turns):
            R = pinocchio.exp3(h * spin(pinocchio.exp3(0.5 * h * spin(R)) @ R)) @ R
        return R, spin(R)


def lowest_point(shape: str, R: np.ndarray) -> np.ndarray:
    if shape == "capsule":
        return -0.08 * R[:, 2] * np.sign(R[2, 2]) - [0, 0, 0.03]
    return -R @ (np.array([0.06, 0.05, 0.04]) * np.sign(R[2]))


def stuck(
    r: np.ndarray, R: np.ndarray, v: np.ndarray, w: np.ndarray, inertia: np.ndarray, e: float
) -> tuple:
    """Velocities after an impact at r that ends without slip, at e times the approach."""
    world = R @ np.diag(1.0 / inertia) @ R.T
    G = np.eye(3) / MASS - pinocchio.skew(r) @ world @ pinocchio.skew(r)
    c = v + np.cross(w, r)
    impulse = -np.linalg.solve(G, c + [0, 0, e * c[2]])
    return v + impulse / MASS, w + world @ np.cross(r, impulse), np.hypot(*impulse[:2]) / impulse[2]


@pytest.mark.parametrize("kind", FLOORS)
@pytest.mark.parametrize("shape", SHAPES)
def test_corners_bounce_as_at_the_moment_of_touching(kind: str, shape: str) -> None:
    rng = np.random.default_rng(7)
    dt, errors = 1e-3, []
    solid = SHAPES[shape]()
    unit = stiction.mass_properties(solid, 1.0)
    inertia = np.diag(unit.inertia) * (MASS / unit.mass)
    while len(errors) < 12:
        angles = rng.uniform(0.5, 0.9, 2) if shape == "capsule" else rng.uniform(0.6, 0.8, 2)
        X = np.eye(4)
        X[:3, :3] = pinocchio.rpy.rpyToMatrix(angles[0], angles[1], rng.uniform(0, 6))
        flight = Flight(X[:3, :3], rng.uniform(-2, 2, 3), inertia)
        v = np.array([*rng.uniform(-1, 1, 2), -3.0])
        X[:3, 3] = [
            0.013,
            0.021,
            rng.uniform(0.6, 2.9) * 3 * dt - lowest_point(shape, X[:3, :3])[2],
        ]
        time = 0.0
        for _ in range(8):  # the height of the lowest point is a contraction of v_z t
            time -= (X[2, 3] + v[2] * time + lowest_point(shape, flight.after(time)[0])[2]) / v[2]
        R, w = flight.after(time)
        v_after, w_after, friction = stuck(lowest_point(shape, R), R, v, w, inertia, 0.5)
        if not 0.05 < friction < 1.5:
            continue
        steps = int(time / dt) + 1
        w_after = Flight(R, w_after, inertia).after(steps * dt - time)[1]
        sim = falling(kind, solid, X, dt, False, friction=2.0, restitution=0.5)
        state = sim.initial_state()
        state.v = np.r_[X[:3, :3].T @ v, X[:3, :3].T @ flight.w]
        sim.run(state, steps=steps)
        end = stiction.SceneMotion(sim.scene, state).velocity("body")
        errors.append(
            max(
                np.abs(end[:3] - v_after).max() / np.abs(v_after - v).max(),
                np.abs(end[3:] - w_after).max() / np.abs(w_after - w).max(),
            )
        )
    assert max(errors) < 1e-2, errors


@pytest.mark.parametrize("kind", FLOORS)
def test_contacts_and_wrenches_are_where_the_impulse_acts(kind: str) -> None:
    X = np.eye(4)
    X[:3, 3] = 0.013, 0.021, 0.05 + 4.5e-3
    sim = falling(kind, stiction.Sphere(0.05), X, 2e-3, False, friction=0.3)
    state = sim.initial_state()
    state.v = np.array([1.0, 0.3, -3.0, 4.0, 5.0, 6.0])
    sim.run(state, steps=1)
    (contact,) = sim.contacts()
    assert contact.gap > 0.0
    np.testing.assert_allclose(contact.position[2], contact.gap, atol=1e-12)
    force, moment = sim.wrench_on("body")
    spin = stiction.SceneMotion(sim.scene, state).velocity("body")[3:]
    inertia = 0.4 * MASS * 0.05**2
    assert np.linalg.norm(force) > 0.0
    np.testing.assert_allclose(inertia * (spin - [4.0, 5.0, 6.0]), 2e-3 * moment, atol=1e-9)


def end_of(base: stiction.RolloutTape, other: stiction.RolloutTape) -> np.ndarray:
    """The end of `other` as a tangent at that of `base`."""
    R, S = (pinocchio.Quaternion(t.q[-1, 3:7]).matrix() for t in (base, other))
    shift = R.T @ (other.q[-1, :3] - base.q[-1, :3])
    return np.r_[shift, pinocchio.log3(R.T @ S), other.v[-1] - base.v[-1]]


@pytest.mark.parametrize("kind", FLOORS)
@pytest.mark.parametrize("friction", [0.5, 0.05])
def test_the_tape_through_a_bounce_is_that_of_differences(kind: str, friction: float) -> None:
    X = np.eye(4)
    X[:3, 3] = 0.013, 0.021, 0.1
    sim = falling(kind, stiction.Sphere(0.05), X, 2e-3, True, friction=friction, restitution=0.5)

    def thrown(v: np.ndarray, tape: bool) -> stiction.RolloutTape:
        state = sim.initial_state()
        state.v = v
        return sim.rollout(state, steps=30, record=("q", "v"), tape=tape)

    v = np.array([1.0, 0.4, -2.02, 3.0, -5.0, 2.0])
    base = thrown(v, True)
    W = np.random.default_rng(3).normal(size=(3, 12))
    gradients = [base.adjoint(w, wrt="initial_v") for w in W]
    assert all(g.report.exact for g in gradients)
    differences = np.zeros((3, 6))
    for k in range(6):
        h = 1e-6 * np.eye(6)[k]
        ends = [end_of(base, thrown(v + s * h, False)) for s in (1, -1)]
        differences[:, k] = W @ (ends[0] - ends[1]) / 2e-6
    tape = np.array([g.initial_v for g in gradients])
    np.testing.assert_allclose(tape, differences, atol=1e-6 * np.abs(differences).max())


@pytest.mark.parametrize("kind", FLOORS)
def test_gauss_newton_finds_a_throw(kind: str) -> None:
    X = np.eye(4)
    X[:3, 3] = 0.0, 0.0, 1.0
    sim = falling(kind, stiction.Sphere(0.05), X, 2e-3, True, friction=0.5, restitution=0.7)
    v = np.array([2.0, 0.3, 1.0, 0.0, 0.0, 0.0])
    misses = []
    for _ in range(4):
        state = sim.initial_state()
        state.v = v
        tape = sim.rollout(state, steps=500, record=("q", "v"), tape=True)
        miss = tape.q[-1, :2] - [1.5, 0.4]
        misses.append(np.abs(miss).max())
        R = pinocchio.Quaternion(tape.q[-1, 3:7]).matrix()
        slopes = [tape.adjoint(np.r_[R[i], np.zeros(9)], wrt="initial_v") for i in (0, 1)]
        J = np.array([s.initial_v[:3] for s in slopes])
        v[:3] -= np.linalg.lstsq(J, miss, rcond=None)[0]
    assert misses[0] > 0.1
    assert misses[-1] < 1e-6, misses


@pytest.mark.parametrize("lanes", [True, False])
def test_batches_know_where_landing_feet_take_their_impulse(lanes: bool) -> None:
    feet = ["FL_FOOT", "FR_FOOT", "HL_FOOT", "HR_FOOT"]
    batch = stiction.Batch(stiction.load("solo12"), 2, lanes=lanes, configuration="standing")
    batch.q[:, 2] += [0.0013, 0.0024]
    batch.v[:, 2] = -1.0
    batch.observe(["wrench"], feet)  # from here on it knows where steps begin
    heights = []
    for _ in range(4):
        before = [batch.state(w) for w in range(2)]
        centre = batch.observe(["com"])
        batch.step()
        wrench = batch.observe(["wrench"], feet).reshape(2, 4, 6)
        for w in range(2):
            sim = batch.simulator(w)
            sim.step(before[w], batch.control(w))
            assert before[w].q.tobytes() == batch.state(w).q.tobytes()
            moments = np.zeros((4, 3))
            for contact in sim.contacts():
                foot = feet.index(contact.geometry_b_name.removesuffix("_0"))
                arm = contact.position - centre[w]
                moments[foot] += np.cross(arm, contact.force_on_b_world)
                if np.linalg.norm(contact.force_on_b_world) > 1.0:
                    heights.append(contact.position[2])
            np.testing.assert_allclose(wrench[w, :, 3:], moments, atol=1e-6)
    assert sum(h > 1e-4 for h in heights) >= 4


def foot(pieces: list[tuple[float, float, float, float]], height: float) -> stiction.Simulator:
    """A rod that falls askew on a sole of boxes (x, y, half sizes), all with one bottom."""
    shapes = "".join(
        f'<geom type="box" pos="{x} {y} -.14" size="{a} {b} .01" friction=".6 0 0"/>'
        for x, y, a, b in pieces
    )
    xml = f"""<mujoco><compiler angle="radian"/><option timestep="1e-3"/><worldbody>
    <geom type="plane" size="5 5 .1" friction=".6 0 0"/>
    <body name="leg" pos="0 0 {height}" euler=".0003 .0002 0"><freejoint/>
    <inertial pos=".01 .02 0" mass="2" diaginertia=".04 .05 .01"/>{shapes}</body>
    </worldbody></mujoco>"""
    model = stiction.load_mjcf(xml)
    return stiction.Simulator(model.scene, dt=1e-3, tolerance=1e-12)


QUARTERS = [(x, y, 0.05, 0.03) for x in (-0.05, 0.05) for y in (-0.03, 0.03)]


def test_a_sole_of_boxes_lands_as_one_box() -> None:
    """Points of all its boxes go to where the first one touches: they stay in one plane."""
    rng = np.random.default_rng(5)
    landed = 0
    for _ in range(20):
        height = 0.15 + rng.uniform(5e-5, 1e-3)
        v = np.r_[rng.uniform(-0.1, 0.1, 2), -1.0, rng.uniform(-0.05, 0.05, 3)]
        ends, heights = [], []
        for pieces in ([(0.0, 0.0, 0.1, 0.06)], QUARTERS):
            sim = foot(pieces, height)
            state = sim.initial_state()
            state.v = v
            sim.step(state)
            heights.append([c.position[2] for c in sim.contacts()])
            ends.append(state.v.copy())
        if len(heights[0]) != 4 or min(c for c in heights[0]) < 1e-6:
            continue
        landed += 1
        assert np.ptp(heights[1]) < 1e-4 and len(heights[1]) == 16
        np.testing.assert_allclose(ends[1], ends[0], atol=1e-9)
    assert landed >= 10


@pytest.mark.parametrize("height", [0.1504, 0.1508, 0.15095])
@pytest.mark.parametrize("slides", [False, True])
def test_the_tape_of_a_sole_that_lands_is_that_of_differences(height: float, slides: bool) -> None:
    sim = foot(QUARTERS, height)
    q = sim.initial_state().q.copy()
    v = np.array([*((3.0, -1.0) if slides else (0.05, -0.02)), -1.0, 0.03, -0.02, 0.01])

    def landing(dq: np.ndarray, dv: np.ndarray, tape: bool = False) -> stiction.RolloutTape:
        state = sim.initial_state()
        state.q[:], state.v[:] = stiction.integrate(sim.scene, q, dq), v + dv
        return sim.rollout(state, steps=1, record=("q", "v"), tape=tape)

    none, unit = np.zeros(6), np.eye(6)
    base = landing(none, none, True)
    W = np.random.default_rng(4).normal(size=(3, 12))
    gradients = [base.adjoint(w, wrt=("initial_q", "initial_v")) for w in W]
    tape = np.array([np.r_[g.initial_q, g.initial_v] for g in gradients])
    differences = np.zeros((3, 12))
    for k in range(12):
        ends = [
            landing(h * unit[k], none) if k < 6 else landing(none, h * unit[k - 6])
            for h in (1e-7, -1e-7)
        ]
        differences[:, k] = W @ (end_of(base, ends[0]) - end_of(base, ends[1])) / 2e-7
    scale = np.abs(differences).max(axis=0)
    assert np.all(np.abs(tape - differences) <= 3e-6 * (scale + 1e-3 * scale.max()))


def test_lanes_land_on_soles_of_boxes_with_the_same_bits() -> None:
    batch = stiction.Batch(stiction.load("talos"), 2, configuration="standing")
    sims = [stiction.Simulator(batch.scene) for _ in range(2)]
    batch.q[:, 2] += [0.00055, 0.0012]
    batch.v[:, 2], batch.v[:, 4] = -0.5, 0.002
    states = [batch.state(world) for world in range(2)]
    open_gaps = 0
    for _ in range(20):
        for sim, state in zip(sims, states, strict=True):
            sim.step(state, sim.hold("standing"))
            open_gaps += sum(c.gap > 1e-6 for c in sim.contacts())
        batch.step()
    assert open_gaps >= 16
    for world, state in enumerate(states):
        assert batch.q[world].tobytes() == state.q.tobytes()
        assert batch.v[world].tobytes() == state.v.tobytes()
