"""Gradients of whole rollouts: against differences, of what shape, and what is refused."""

from __future__ import annotations

import numpy as np
import pinocchio
import pytest
import stiction

STEPS = 100


def joints_only(nv: int, seed: int, steps: int = STEPS) -> np.ndarray:
    """dl_dx of a cost of velocities and joints: differences of q need no quaternions then."""
    dl_dx = np.random.default_rng(seed).normal(size=(steps + 1, 2 * nv))
    if nv > 6:
        dl_dx[:, :6] = 0.0
    return dl_dx


class Problem:
    """A rollout with a cost that is linear in its states, as that of others like it."""

    def __init__(self, name: str, size: float, **settings: object) -> None:
        self.sim = stiction.Simulator(stiction.load(name), tolerance=1e-13, **settings)
        self.nv = self.sim.scene.nv
        self.start = self.sim.initial_state()
        if name == "solo12":
            self.sim.run(self.start, steps=40)
        self.taus = size * np.random.default_rng(1).normal(size=(STEPS, self.nv))
        self.dl_dx = joints_only(self.nv, 2)

    def rollout(self, **given: object) -> stiction.RolloutTape:
        return self.sim.rollout(self.start.copy(), self.taus, tape=True, **given)

    def cost(self, taus: np.ndarray, start: stiction.State | None = None) -> float:
        log = self.sim.rollout((start or self.start).copy(), taus)
        q = log.q[:, -self.nv :] if self.nv <= 6 else np.c_[np.zeros((len(log.q), 6)), log.q[:, 7:]]
        return float(
            np.sum(self.dl_dx[:, : self.nv] * q) + np.sum(self.dl_dx[:, self.nv :] * log.v)
        )


def test_report_has_the_least_of_all_steps() -> None:
    scene = stiction.load("solo12")
    sim = stiction.Simulator(scene)
    state, steps = sim.initial_state("standing"), 8
    control = sim.hold("standing")
    up = np.eye(2 * scene.nv)[2]
    tape = sim.rollout(state.copy(), steps=steps, control=control, tape=True)
    report = tape.adjoint(up).report
    each = []
    for _ in range(steps):
        sim.step(state, control)
        each.append(sim.gradient_report())
    margins = [r.smallest_margin for r in each]
    assert report.smallest_margin == min(margins) < max(margins)
    assert report.smallest_margin_step == int(np.argmin(margins))
    assert report.smallest_gap == min(r.smallest_gap for r in each)
    assert f"smallest margin {report.smallest_margin:.2g}" in repr(report)


def central(f, h: float) -> float:
    return (f(h) - f(-h)) / (2.0 * h)


def closest(f, to: float) -> float:
    return min(abs(central(f, h) - to) for h in (1e-4, 1e-5, 1e-6))


@pytest.mark.parametrize(
    ("name", "size", "settings"),
    [("cartpole", 3.0, {}), ("double-pendulum", 1.0, {}), ("solo12", 0.3, {"baumgarte": 1.0})],
)
def test_gradients_agree_with_differences(name: str, size: float, settings: dict) -> None:
    p = Problem(name, size, **settings)
    grad = p.rollout().adjoint(p.dl_dx)
    assert grad.report.two_sided and grad.report.exact and grad.report.steps == STEPS
    rng = np.random.default_rng(3)
    for _ in range(3):
        d = rng.normal(size=p.taus.shape)
        scale = np.abs(d * grad.taus).sum()
        along = float(np.sum(d * grad.taus))
        assert closest(lambda h, d=d: p.cost(p.taus + h * d), along) < 1e-6 * scale
        wrong = grad.taus.copy()
        wrong[50] *= -1.0
        along = float(np.sum(d * wrong))
        assert closest(lambda h, d=d: p.cost(p.taus + h * d), along) > 1e-5 * scale
        v = rng.normal(size=p.nv)

        def moved(h: float, v: np.ndarray = v) -> float:
            start = p.start.copy()
            start.v += h * v
            return p.cost(p.taus, start)

        along = float(v @ grad.initial_v)
        assert closest(moved, along) < 1e-6 * np.abs(v * grad.initial_v).sum()


def test_gradients_by_parameters_and_targets() -> None:
    p = Problem("solo12", 0.3, baumgarte=1.0)
    grad = p.rollout().adjoint(
        p.dl_dx, wrt=("kp", "gravity", "mass", "inertia", "position_targets")
    )
    assert grad.taus is None and grad.initial_q is None and grad.velocity_targets is None
    assert list(grad.parameters) == ["kp", "gravity", "mass", "inertia"]
    bodies = p.sim.scene.num_bodies
    assert [x.shape for x in grad.parameters.values()] == [(p.nv,), (3,), (bodies,), (bodies, 6)]
    taus = p.rollout().adjoint(p.dl_dx, wrt="taus").taus
    np.testing.assert_array_equal(grad.position_targets, taus * p.sim.parameters.kp)

    def heavier(h: float) -> float:
        p.sim.parameters.mass[3] += h
        found = p.cost(p.taus)
        p.sim.parameters.mass[3] -= h
        return found

    along = grad.parameters["mass"][3]
    assert closest(heavier, along) < 1e-6 * np.abs(grad.parameters["mass"]).max()


def test_gradients_by_the_frames_of_closures() -> None:
    p = Problem("four-bar", 0.1)
    grad = p.rollout().adjoint(p.dl_dx, wrt=("closure_X_A", "closure_X_B"))
    for name in ("closure_X_A", "closure_X_B"):
        found = grad.parameters[name]
        assert found.shape == (1, 6)
        before = getattr(p.sim.parameters, name)(0)
        place = getattr(p.sim.parameters, f"set_{name}")

        def cost(h: float, axis: int, before=before, place=place) -> float:
            place(0, before * pinocchio.exp6(h * np.eye(6)[axis]))
            try:
                return p.cost(p.taus)
            finally:
                place(0, before)

        for axis in (0, 2):
            off = closest(lambda h, axis=axis: cost(h, axis), found[0, axis])
            assert off < 1e-5 * abs(found).max()


def test_gradients_by_the_radii_of_feet() -> None:
    p = Problem("solo12", 0.3, baumgarte=1.0)
    found = p.rollout().adjoint(p.dl_dx, wrt="geometry_size").parameters["geometry_size"]
    sizes = p.sim.parameters.geometry_size
    assert found.shape == sizes.shape
    assert not found[sizes == 0.0].any()
    foot = int(np.argmax(abs(found[:, 0])))

    def cost(h: float) -> float:
        sizes[foot, 0] += h
        try:
            return p.cost(p.taus)
        finally:
            sizes[foot, 0] -= h

    assert closest(cost, found[foot, 0]) < 1e-5 * abs(found).max()


def test_a_tape_is_a_rollout() -> None:
    p = Problem("cartpole", 1.0)
    a, b = p.start.copy(), p.start.copy()
    log = p.sim.rollout(a, p.taus, record=["q", "energy"])
    tape = p.sim.rollout(b, p.taus, record=["q", "energy"], tape=True)
    assert isinstance(tape, stiction.Rollout) and not isinstance(log, stiction.RolloutTape)
    assert a == b
    np.testing.assert_array_equal(log.q, tape.q)
    np.testing.assert_array_equal(log.energy, tape.energy)
    assert tape.v is None and tape.steps == STEPS and len(tape.reports) == STEPS
    assert tape.checkpoint_every == 10
    assert 10_000 < tape.bytes < 1_000_000
    few = tape.adjoint(p.dl_dx)
    all_of = p.rollout(checkpoint_every=1)
    assert all_of.bytes > tape.bytes
    np.testing.assert_array_equal(all_of.adjoint(p.dl_dx).taus, few.taus)


def test_a_cost_of_the_end_and_of_torques() -> None:
    p = Problem("cartpole", 1.0)
    p.dl_dx[:-1] = 0.0
    tape = p.rollout()
    last = tape.adjoint(p.dl_dx[-1])
    np.testing.assert_array_equal(tape.adjoint(p.dl_dx).taus, last.taus)
    np.testing.assert_array_equal(tape.adjoint(p.dl_dx, p.taus).taus, last.taus + p.taus)


def pusher(gap: float) -> stiction.Simulator:
    """A ball on a floor that rolls towards another one; only the first one has a torque."""
    scene = stiction.Scene()
    scene.add_ground()
    for k, x in enumerate((0.0, 0.2 + gap)):
        pose = np.eye(4)
        pose[:3, 3] = [x, 0.0, 0.1]
        scene.add_body(f"ball{k}", stiction.Sphere(0.1), 1.0, pose)
    return stiction.Simulator(scene)


@pytest.mark.parametrize("gap", [0.5, 0.0005])
def test_what_touches_nothing_is_named(gap: float) -> None:
    sim = pusher(gap)
    taus = np.zeros((50, 12))
    taus[:, 0] = 5.0
    dl_dx = np.zeros(24)
    dl_dx[6] = 1.0  # where the second ball is
    grad = sim.rollout(sim.initial_state(), taus, tape=True).adjoint(dl_dx)
    assert grad.report.touches_nothing == (gap > 0.1)
    assert np.any(grad.taus[:, 0]) == (gap < 0.1)
    assert ("touches nothing" in repr(grad.report)) == (gap > 0.1)


def test_refusals_name_what_is_wrong() -> None:
    p = Problem("cartpole", 1.0)
    tape = p.rollout()
    with pytest.raises(ValueError, match=r"dl_dx has shape \(3, 4\): must be \(101, 4\) or \(4,\)"):
        tape.adjoint(np.zeros((3, 4)))
    with pytest.raises(ValueError, match=r"dl_dx\[2\] = nan: must be finite"):
        tape.adjoint([0.0, 0.0, np.nan, 0.0])
    with pytest.raises(ValueError, match=r"dl_du has shape \(2,\)"):
        tape.adjoint(p.dl_dx, np.zeros(2))
    with pytest.raises(ValueError, match=r"wrt: 'tau' is unknown; there are: taus, position_targ"):
        tape.adjoint(p.dl_dx, wrt="tau")
    with pytest.raises(TypeError, match=r"wrt\[1\] = 3: must be one of the names: taus, "):
        tape.adjoint(p.dl_dx, wrt=("taus", 3))
    for wrt in (None, 1):
        with pytest.raises(TypeError, match=rf"wrt = {wrt}: must be a name or several of: taus"):
            tape.adjoint(p.dl_dx, wrt=wrt)
    with pytest.raises(ValueError, match=r"step 99: w\[.*\] = .*e\+30[0-9]: .* overflows; scale"):
        tape.adjoint(np.full(4, 1e308))
    with pytest.raises(ValueError, match="checkpoint_every = -1: must be >= 0"):
        p.rollout(checkpoint_every=-1)
    with pytest.raises(ValueError, match="checkpoint_every = 5: must be 0 without a tape"):
        p.sim.rollout(p.start.copy(), p.taus, checkpoint_every=5)
    plain = p.sim.rollout(p.start.copy(), p.taus)
    with pytest.raises(AttributeError, match=r"Rollout has no attribute 'adjoint': record with .*"
                       r"tape=True"):  # fmt: skip
        plain.adjoint(p.dl_dx)
    with pytest.raises(AttributeError, match=r"Rollout has no attribute 'tapes'$"):
        plain.tapes  # noqa: B018
    p.sim.parameters.contact_damping[0] = 3.0
    with pytest.raises(ValueError, match=r"parameters.contact_damping\[0\] was edited"):
        tape.adjoint(p.dl_dx)


@pytest.mark.parametrize(
    ("scene", "settings", "match"),
    [
        ("four-bar", {"project_closures": True}, "rollout.tape: project_closures"),
        ("solo12", {"solver": "lcp-pgs"}, 'adjoint: step 4: derivatives: solver "lcp-pgs"'),
    ],
)
def test_rollouts_without_derivatives_are_refused(scene: str, settings: dict, match: str) -> None:
    sim = stiction.Simulator(stiction.load(scene), **settings)
    with pytest.raises(ValueError, match=match):
        sim.rollout(sim.initial_state(), steps=5, tape=True).adjoint(np.ones(2 * sim.scene.nv))


@pytest.mark.parametrize("integrator", ["implicit-euler", "exponential", "rk4"])
def test_springs_of_contacts_are_carried_along(integrator: str) -> None:
    scene = stiction.Scene()
    soft = stiction.Material(friction=0.5, stiffness=2e4, damping=60.0)
    scene.add_ground(soft)
    pose = np.eye(4)
    pose[2, 3] = 0.0999
    scene.add_body("ball", stiction.Sphere(0.1), 1.0, pose, material=soft)
    sim = stiction.Simulator(scene, integrator=integrator, tolerance=1e-13)
    start = sim.initial_state()
    start.v[0] = 0.1
    sim.run(start, steps=20)
    taus = np.full((10, 6), 0.01)
    dl_dx = np.zeros(12)
    dl_dx[9:] = 1.0  # turning
    grad = sim.rollout(start.copy(), taus, tape=True).adjoint(dl_dx)
    assert grad.springs == ((0, 1, 0, False),) and grad.initial_springs.shape == (1, 3)
    assert grad.report.by_differences == (0 if integrator == "implicit-euler" else 10)
    assert grad.report.exact == (integrator == "implicit-euler") and grad.report.kinks == 0
    assert np.abs(grad.initial_springs).max() > 0.0

    def turning(h: float) -> float:
        moved = start.copy()
        moved.v[4] += h
        sim.rollout(moved, taus)
        return float(moved.v[3:].sum())

    assert closest(turning, grad.initial_v[4]) < 1e-6 * np.abs(grad.initial_v).max()
