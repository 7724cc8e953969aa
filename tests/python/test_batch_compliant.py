"""What worlds of compliant integrators observe of their contacts: what a Simulator tells.

Their states keep springs and no impulses, so it cannot come from there.
"""

from __future__ import annotations

import numpy as np
import pytest
import stiction
from numpy.typing import NDArray
from stiction import Batch, Material, Scene, Simulator

COMPLIANT = ["explicit-euler", "exponential", "implicit-euler", "rk4", "symplectic-euler"]
N = 3


def pile(couples: bool) -> Scene:
    """A box on the ground, a ball on the box, a rigid pair of balls beside them."""
    scene = Scene()
    turns = {"torsional_friction": 0.02, "rolling_friction": 0.001} if couples else {}
    soft = Material(friction=0.6, stiffness=2e4, damping=100.0, **turns)
    scene.add_ground(soft)
    for name, shape, mass, at in (
        ("box", stiction.Box([0.2, 0.1, 0.1]), 2.0, (1.0, 2.0, 0.1)),
        ("ball", stiction.Sphere(0.05), 0.5, (1.05, 2.0, 0.25)),
        ("low", stiction.Sphere(0.1), 1.0, (-1.0, 0.0, 0.1)),
        ("high", stiction.Sphere(0.1), 1.0, (-1.0, 0.01, 0.3)),
    ):
        X = np.eye(4)
        X[:3, 3] = at
        scene.add_body(name, shape, mass, X, soft)
    scene.set_pair_material("low", "high", Material(friction=0.3))
    return scene


def about_centres(
    scene: Scene, sim: Simulator, centres: dict[str, NDArray[np.float64]]
) -> NDArray[np.float64]:
    """(geometries, 6) forces and moments of the reports of the last step."""
    names = [g.name for g in scene.geometries]
    out = np.zeros((len(names), 6))
    for c in sim.contacts():
        for name, sign in ((c.geometry_a_name, -1.0), (c.geometry_b_name, 1.0)):
            force = sign * c.force_on_b_world
            moment = sign * c.moment_on_b_world + np.cross(c.position - centres[name], force)
            out[names.index(name)] += np.r_[force, moment]
    return out


@pytest.mark.parametrize("substeps", [1, 3])
@pytest.mark.parametrize("integrator", COMPLIANT)
def test_contacts_are_those_of_a_simulator(integrator: str, substeps: int) -> None:
    scene = pile(couples=True)
    batch = Batch(scene, N, dt=1e-3, integrator=integrator, substeps=substeps, threads=2)
    batch.v[:] = np.random.default_rng(3).uniform(-0.3, 0.3, batch.v.shape)
    names = [g.name for g in scene.geometries]
    seen_names = ["wrench", "force", "contact"]
    assert not batch.observe(seen_names, names).any()  # no step yet
    pushed = turned = 0
    for calls in (1, 4, 2, 9, 1, 30):
        batch.step(calls - 1) if calls > 1 else None
        before = [batch.state(w) for w in range(N)]
        batch.step()
        wrench, force, contact = np.split(
            batch.observe(seen_names, names), [6 * len(names), 9 * len(names)], axis=1
        )
        sizes = batch.contact_forces(names)
        for w in range(N):
            sim = batch.simulator(w)
            centres = {g: np.zeros(3) for g in names}
            for body in scene.body_names:
                centres[body] = np.array(before[w].q[7 * scene.body(body) :][:3])
            sim.step(before[w], batch.control(w))
            expected = about_centres(scene, sim, centres)
            np.testing.assert_allclose(wrench[w].reshape(-1, 6), expected, atol=1e-9)
            np.testing.assert_allclose(force[w].reshape(-1, 3), expected[:, :3], atol=1e-9)
            on = [
                sum(
                    float(np.linalg.norm(c.force_on_b_world))
                    for c in sim.contacts()
                    if g in (c.geometry_a_name, c.geometry_b_name)
                )
                for g in names
            ]
            np.testing.assert_allclose(sizes[w], on, atol=1e-9)
            np.testing.assert_array_equal(contact[w], np.array(on) > 0.0)
            for body in ("box", "low"):
                on_body = sim.wrench_on(body)
                np.testing.assert_allclose(
                    force[w].reshape(-1, 3)[names.index(body)], on_body.force, atol=1e-9
                )
            pushed += np.count_nonzero(np.array(on) > 1.0)
            turned += any(np.any(c.moment_on_b_world) for c in sim.contacts())
    assert pushed > 40
    assert turned > 0


def test_a_world_that_is_put_somewhere_has_no_step_behind_it() -> None:
    scene = pile(couples=False)
    batch = Batch(scene, N, integrator="implicit-euler")
    names = [g.name for g in scene.geometries]
    batch.step(20)
    before = batch.observe(["wrench", "contact"], names)
    assert before.any(axis=1).all()
    batch.reset(np.arange(N) == 1)
    batch.set_state(2, batch.state(0))
    after = batch.observe(["wrench", "contact"], names)
    assert not after[1:].any()
    np.testing.assert_array_equal(after[0], before[0])


def test_a_step_that_is_not_finite_leaves_the_contacts_of_the_whole_one_before() -> None:
    scene = pile(couples=False)
    batch = Batch(scene, 1, integrator="implicit-euler")
    names = [g.name for g in scene.geometries]
    batch.step(5)
    before = batch.observe("force", names)
    batch.v[0, 0] = 1e200
    batch.step()
    assert batch.frozen[0]
    np.testing.assert_array_equal(batch.observe("force", names), before)
